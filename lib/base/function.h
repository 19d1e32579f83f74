/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of functions, as demanglers and Java write them. */
#ifndef TEL__FUNCTION_H
#define TEL__FUNCTION_H

#include <stddef.h>

/*
 * Writes the n bytes at name to out without lists of parameters and of template
 * arguments, as much as fits into room bytes; a list without an end is that of a
 * name that was cut.  out may be name.  Returns the length.
 */
size_t tel__function_shorten(const char *name, size_t n, char *out,
    size_t room);

/* The start of such a name behind the type that the function returns. */
const char *tel__function_start(const char *name, size_t n);

#endif
