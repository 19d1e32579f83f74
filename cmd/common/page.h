/* SPDX-License-Identifier: BSD-2-Clause */
/* Page: bytes put into an output, with what each form must escape. */
#ifndef COMMON_PAGE_H
#define COMMON_PAGE_H

#include "tel/output.h"

/* Failures stay in the output, and are reported when it is closed. */
void put(tel_output *out, const char *text);
void put_many(tel_output *out, const char *text, size_t times);
/* n bytes for a terminal: each that is not printable ASCII as \xHH. */
void put_ascii(tel_output *out, const char *text, size_t n);
/* Up to 1 KB at a time. */
__attribute__((format(printf, 2, 3))) void putf(tel_output *out,
    const char *format, ...);

/* A string of JSON, in quotes.  Bytes that are not UTF-8 become \u00XX. */
void put_json(tel_output *out, const char *text);
/* A field of RFC 4180, in quotes where it needs them. */
void put_csv(tel_output *out, const char *text);
/* Text of XML; what XML cannot hold becomes \xHH. */
void put_xml(tel_output *out, const char *text);
/* The same of so many characters at most; returns how many bytes they are. */
size_t put_xml_part(tel_output *out, const char *text, size_t most);
/*
 * The value of a label of OpenMetrics, without its quotes, or a text behind
 * # HELP.  Bytes that are not UTF-8 become \xHH.
 */
void put_label(tel_output *out, const char *text);
/* A text behind # HELP of the text format of Prometheus, which keeps quotes. */
void put_help(tel_output *out, const char *text);

/*
 * Copies text for a terminal: every byte that is not printable ASCII as \xHH.
 * What takes more than columns is cut, and ends in "...".
 * Returns buffer, which has room for columns + 1 bytes.
 */
char *page_escape(char *buffer, size_t columns, const char *text);
/*
 * The same of a name, whose end tells as much as its start: the dots are in the
 * middle, before two thirds of its columns, unless there are less than 16.
 */
char *page_shorten(char *buffer, size_t columns, const char *text);

/*
 * The length in bytes of the UTF-8 character at the start of text; 0 when it is
 * invalid.
 */
size_t page_utf8(const char *text);

#endif
