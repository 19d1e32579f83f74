/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/function.h"

#include <ctype.h>
#include <string.h>

static const char operator_word[] = "operator";
#define OPERATOR_LENGTH (sizeof(operator_word) - 1)

/* Whether byte i compares or shifts, as in "(a)<(b)" and "(a) << (b)". */
static int
is_operation(const char *s, size_t i, size_t n)
{
	const size_t from = i - (i > 0 && s[i - 1] == '<');
	const size_t to = i + 1 + (i + 1 < n && strchr("<=", s[i + 1]) != NULL);

	return from > 0 && to < n &&
	    ((s[from - 1] == ')' && s[to] == '(') ||
	        (s[from - 1] == ' ' && s[to] == ' '));
}

/* The end of the list of a bracket that n bytes begin with; 0: it has none. */
static size_t
list_end(const char *s, size_t n)
{
	const char open = s[0], close = open == '(' ? ')' : '>';
	size_t depth = 0, within = 0;

	for (size_t i = 0; i < n; i++)
		/* an operation with '>' is in parentheses there */
		if (open == '<' && s[i] == '(')
			within++;
		else if (within > 0)
			within -= s[i] == ')';
		else if (s[i] == open &&
		    !(open == '<' && is_operation(s, i, n)))
			depth++;
		else if (s[i] == close && (i == 0 || s[i - 1] != '-') &&
		    --depth == 0)
			return i + 1;
	return 0;
}

/* Whether n bytes end with the word "operator". */
static int
ends_with_operator(const char *name, size_t n)
{
	return n >= OPERATOR_LENGTH &&
	    memcmp(name + n - OPERATOR_LENGTH, operator_word,
	        OPERATOR_LENGTH) == 0;
}

/* Whether what a bracket starts behind "::" is a name, and no list of Rust. */
static int
is_bracketed_name(const char *s, size_t n)
{
	static const char *const names[] = { "<lambda", "<unnamed",
		"<anonymous", "<init>", "<clinit>" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (n >= strlen(names[i]) &&
		    memcmp(s, names[i], strlen(names[i])) == 0)
			return 1;
	return 0;
}

/*
 * Whether the bracket that m bytes at s begin with, behind n bytes of a name,
 * starts a list of parameters or arguments, and is not in the name, as in
 * "operator()", "<init>" and "(*T)".
 */
static int
is_before_list(const char *name, size_t n, const char *s, size_t m)
{
	size_t word = n;

	/* no operator has more signs: <=> */
	while (word > 0 && n - word < 3 &&
	    ispunct((unsigned char)name[word - 1]) && name[word - 1] != '_')
		word--;
	if (ends_with_operator(name, word))
		return *s == '(' && word < n;
	if (*s == '<' && n > 2 && memcmp(name + n - 2, "::", 2) == 0)
		return !is_bracketed_name(s, m);
	return n > 0 &&
	    (isalnum((unsigned char)name[n - 1]) ||
	        memchr("_>)]'", name[n - 1], 5) != NULL);
}

size_t
tel__function_shorten(const char *name, size_t n, char *out, size_t room)
{
	size_t length = 0, end;

	for (size_t i = 0; i < n && length < room; i += end) {
		end = 1;
		if ((name[i] != '(' && name[i] != '<') ||
		    !is_before_list(out, length, name + i, n - i))
			out[length++] = name[i];
		else {
			/* of Rust: "f::<T>" */
			if (length > 0 && out[length - 1] == ':')
				length -= 2;
			if ((end = list_end(name + i, n - i)) == 0)
				break;
		}
	}
	return length;
}

const char *
tel__function_start(const char *name, size_t n)
{
	size_t depth = 0, start = 0;

	for (size_t i = 0; i < n; i++) {
		const char c = name[i];

		if (c == '(' || c == '<' || c == '{' || c == '[')
			depth++;
		else if (depth > 0 &&
		    (c == ')' || (c == '>' && name[i - 1] != '-') || c == '}' ||
		        c == ']'))
			depth--;
		if (c != ' ' || depth > 0)
			continue;
		/* "operator new", "f const &", "f [clone .cold]" */
		if (ends_with_operator(name, i) || i + 1 == n ||
		    name[i + 1] == '&' || name[i + 1] == '[' ||
		    (n - i >= 6 && memcmp(name + i, " const", 6) == 0 &&
		        (n - i == 6 || name[i + 6] == ' ')))
			break;
		start = i + 1;
	}
	return name + start;
}
