/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of types, fields and kinds.  A log may call them anything; output,
 * selection and input use a spelling in which bytes that a name of
 * the text format cannot have are \xHH, so no name can break a line or reach
 * a terminal as an escape sequence.
 */
#ifndef TEL_NAME_H
#define TEL_NAME_H

#include <stddef.h>

/* The most bytes of a name, and of its spelling. */
#define TEL__NAME_MAX 255u
#define TEL__NAME_SPELLING (4 * TEL__NAME_MAX)

/*
 * 1 when the n bytes at p are the spelling of a type's or a field's name:
 * letters, digits, '_', '.', characters of UTF-8 from U+00A0 on, and \xHH,
 * with a letter, '_', '\' or such a character first.
 */
int tel__name_is(const unsigned char *p, size_t n);
/* The same of a type alone, which may have colons behind its first byte. */
int tel__name_is_type(const unsigned char *p, size_t n);

/*
 * The spelling of a name, or (words: 1) of a kind, which may have blanks and any
 * other printable character, or (2) of a type, which may have colons; to be
 * freed.  A spelling is its own spelling.
 * NULL when out of memory.
 */
char *tel__name_spell(const unsigned char *p, size_t n, int words);
/* The same of a string, cut behind what TEL__NAME_MAX bytes have room for. */
char *tel__name_cut(const char *name, int words);

#endif
