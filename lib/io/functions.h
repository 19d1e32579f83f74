/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions of a library that is loaded when it is first needed, for the
 * one file that uses it and has defined FUNCTIONS(X), the list of them.
 */
#include <stddef.h>
#ifndef TEL_ARCHIVE_LINKED
#include "base/library.h"
#endif

struct functions {
#define MEMBER(name) __typeof__(name) *name;
	FUNCTIONS(MEMBER)
#undef MEMBER
};

/*
 * Finds them; the library stays in memory from the first time on.  1; 0 with
 * *why set, valid until this thread calls again.
 */
static int
functions_load(struct functions *f, const char *file, const char **why)
{
#ifdef TEL_ARCHIVE_LINKED
#define LINKED(name) .name = name,
	static const struct functions linked = { FUNCTIONS(LINKED) };
#undef LINKED
	(void)file;
	(void)why;
	*f = linked;
	return 1;
#else
#define LOADED(name) { #name, offsetof(struct functions, name) },
	static const struct tel__library_function functions[] = { FUNCTIONS(
	    LOADED) };
#undef LOADED

	return tel__library_load(file, functions,
	           sizeof(functions) / sizeof(functions[0]), f, why) != NULL;
#endif
}
