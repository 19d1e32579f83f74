/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Strings of a log as the output formats write them.  Each function writes the
 * n bytes at s to p, where there must be room for TEL_ESCAPE_ROOM(n) bytes, and
 * returns where it ended.  The quotes around are the caller's, except for CSV
 * and SQL, where they depend on the bytes.
 */
#ifndef TEL_ESCAPE_H
#define TEL_ESCAPE_H

#include <stddef.h>

/* A byte becomes at most six ("\u0000"), a string in SQL gets 17 more. */
#define TEL_ESCAPE_ROOM(n) ((size_t)(n)*6 + 32)

/*
 * Telcat's text: \" \\ \n \t \r, and \xHH for bytes that are not printable
 * ASCII. doubled: each quote is written twice, for a text inside a CSV field.
 */
unsigned char *tel__escape_text(unsigned char *p, const char *s, size_t n,
    int doubled);

/*
 * The MPS's tools: \" and \\.  safe: also \xHH for bytes that are not
 * printable ASCII.
 */
unsigned char *tel__escape_quoted(unsigned char *p, const char *s, size_t n,
    int safe);

/*
 * JSON (RFC 8259).  Well-formed UTF-8 stays as it is; any other byte over
 * 0x7f becomes the character of its number, \u0080 to \u00ff.  safe: what
 * steers a terminal (tel__utf8_steers()) is escaped too.
 */
unsigned char *tel__escape_json(unsigned char *p, const char *s, size_t n,
    int safe);

/*
 * UTF-8: the NUL of modified UTF-8, which has two bytes, as one; any other byte
 * that is not UTF-8 as the character of its number.
 */
unsigned char *tel__escape_utf8(unsigned char *p, const char *s, size_t n);

/*
 * A CSV field (RFC 4180), in quotes where it needs them.  safe: the bytes
 * are first escaped as in telcat's text.
 */
unsigned char *tel__escape_csv(unsigned char *p, const char *s, size_t n,
    int safe);

/*
 * The same for "name=" and the bytes, all in one field.  The name needs no
 * quotes, and room of its own; none is written when it is empty.
 */
unsigned char *tel__escape_cell(unsigned char *p, const char *name,
    size_t name_length, const char *s, size_t n, int safe);

/*
 * An expression of SQL with these bytes as its value: a literal, or, with what
 * steers a terminal (control characters, of which the sqlite3 shell loses a CR before an LF, and
 * those that change the direction of text) or without well-formed UTF-8, a cast of the bytes in hexadecimal.
 */
unsigned char *tel__escape_sql(unsigned char *p, const char *s, size_t n);

/* Two lower-case hexadecimal digits a byte. */
unsigned char *tel__escape_hex(unsigned char *p, const unsigned char *s,
    size_t n);

#endif
