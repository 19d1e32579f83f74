/* SPDX-License-Identifier: BSD-2-Clause */
/* Text: what the parts of this form share. */
#ifndef TELSTAT_TEXT_H
#define TELSTAT_TEXT_H

#include "common/page.h"
#include "view.h"

/* A line of "name value" pairs, broken where the page ends. */
struct items {
	const struct show *show;
	unsigned column;
	int first;       /* no pair stands on it yet */
	unsigned indent; /* of lines after the first */
};

/* Begins such a line with a word, which may be "". */
void items_begin(struct items *items, const struct show *show, unsigned indent,
    const char *word);
__attribute__((format(printf, 2, 3))) void items_add(struct items *items,
    const char *format, ...);
void items_end(struct items *items);

/* Puts text to the right of so many columns, or to the left of them. */
void text_right(tel_output *out, const char *text, unsigned columns);
void text_left(tel_output *out, const char *text, unsigned columns);

/* Emphasis, where the page has colours. */
void text_bold(const struct show *show, int on);

/* A bar of share (0 to 1) of so many columns. */
void text_bar(const struct show *show, double share, unsigned columns);

/* The table of buckets, that of keys, and the report. */
void text_buckets(const struct show *show, const tel_stat *stat);
void text_keys(const struct show *show, const tel_stat *stat);
void text_report(const struct show *show);

#endif
