/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/allocator.h"

#include <string.h>

#include "base/function.h"

/* Bytes of a name that are looked at. */
#define NAME_MAX_BYTES 4096

static int
starts_with(const char *s, const char *start)
{
	return strncmp(s, start, strlen(start)) == 0;
}

/* Whether a path begins as those of the crates of Rust's library do. */
static int
is_of_rust(const char *path)
{
	return starts_with(path, "core::") || starts_with(path, "alloc::") ||
	    starts_with(path, "std::") || *path == '<';
}

/* Whether a method is of the JDK: "java/util/HashMap.resize", or with dots. */
static int
is_of_jdk(const char *name)
{
	static const char *const packages[] = { "java", "jdk", "sun" };

	for (size_t i = 0; i < sizeof(packages) / sizeof(packages[0]); i++) {
		const size_t n = strlen(packages[i]);

		if (starts_with(name, packages[i]) &&
		    (name[n] == '/' || name[n] == '.'))
			return 1;
	}
	return 0;
}

static int
has_part(const char *name)
{
	static const char *const parts[] = { "alloc", "Alloc", "memalign",
		"operator new", "_Znw", "_Zna", "std::", "__gnu_cxx", "strdup",
		"strndup", "::grow", "::resize", "::reserve", "::push_back",
		"::emplace", "hashbrown::", "core::array::", "core::clone::",
		"core::fmt::", "core::iter::", "core::ops::", "core::option::",
		"core::result::", "core::slice::", "core::str::" };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strstr(name, parts[i]) != NULL)
			return 1;
	return 0;
}

/*
 * Whether a method of a trait of Rust's library is the library's own for types
 * of any crate: the trait implements it, as "collect" of iterators, which few
 * crates do again, or no crate implements the trait.
 */
static int
is_provided(const char *trait, const char *method)
{
	if (starts_with(trait, "core::iter::traits::iterator::"))
		return strcmp(method, "::next") != 0 &&
		    !starts_with(method, "::next::");
	if (starts_with(trait, "std::io::"))
		return starts_with(method, "::read_") ||
		    starts_with(method, "::write_");
	return *trait == '<' || starts_with(trait, "core::convert::Into") ||
	    (starts_with(trait, "alloc::") &&
	        !starts_with(trait, "alloc::task::"));
}

/* Whether a type is of the language: no crate adds methods of its own to it. */
static int
is_of_language(const char *type)
{
	type += *type == '&';
	type += starts_with(type, "mut ") ? 4 : 0;
	return strstr(type, "::") == NULL || strchr("[(*", *type) != NULL ||
	    starts_with(type, "fn(");
}

/*
 * The same of "<TYPE>::NAME" or "<TYPE as TRAIT>::NAME" of Rust, where a crate
 * implements its own traits, and those of others for its own types.
 */
static int
rust_is_allocator(char *type)
{
	size_t depth = 1, i;
	char *trait = NULL;

	for (i = 1; type[i] != '\0' && depth > 0; i++) {
		if (type[i] == '<')
			depth++;
		else if (type[i] == '>' && type[i - 1] != '-')
			depth--;
		else if (depth == 1 && trait == NULL &&
		    strncmp(type + i, " as ", 4) == 0) {
			trait = type + i + 4;
			type[i] = '\0';
		}
	}
	/* "<unknown>", and "<lambda>::f" of C++, do not begin with a type */
	if (depth > 0 || strncmp(type + i, "::", 2) != 0 ||
	    strncmp(type, "<lambda", 7) == 0)
		return 0;
	const char *own = type + i;
	if (has_part(own))
		return 1;
	type[i - 1] = '\0';
	if (trait != NULL) {
		if (!is_of_rust(trait))
			return 0;
		if (is_provided(trait, own))
			return 1;
	}
	return is_of_language(++type) || is_of_rust(type) || has_part(type);
}

int
tel__is_allocator(const char *name, size_t n)
{
	char text[NAME_MAX_BYTES + 1];
	char *own;

	n = tel__function_shorten(name, n, text, NAME_MAX_BYTES);
	text[n] = '\0';
	own = text + (tel__function_start(text, n) - text);
	if (*own == '<')
		return rust_is_allocator(own);
	/* behind it is the type that a value is converted to */
	char *operator= strstr(own, "operator ");
	if (operator!= NULL && !starts_with(operator, "operator new"))
		*operator= '\0';
	return is_of_jdk(own) || has_part(own);
}
