/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Page: one HTML file with a script that shows data, and the data: a head in
 * JSON and blocks of bytes, as base64 of gzip in elements that do not run.
 * Pages of logs and of reports have scripts of their own.
 */
#ifndef TEL_PAGE_H
#define TEL_PAGE_H

#include "base/buffer.h"
#include "io/output.h"

/* The level of gzip, and that of pages that would take long otherwise. */
#define PAGE_LEVEL 6
#define PAGE_LEVEL_FAST 2
/* Bytes that do. */
#define PAGE_MUCH ((size_t)2 << 20)

/* The parts that lib/print/page has, made by its embed.sh. */
struct page_part {
	const unsigned char *bytes;
	size_t size;
};
extern const struct page_part tel__page_style, tel__page_shell;
/* A script, and the content policy with the digests of it and of the style. */
struct page_kind {
	struct page_part script;
	const char *policy;
};
extern const struct page_kind tel__page_timeline, tel__page_report;

/* A block, which is gzip already. */
struct page_block {
	const unsigned char *bytes;
	size_t size;
};

/* Writes the page of a log.  title: any bytes.  head: JSON, as gzip.  What
 * failed is in out. */
void tel__page_write(struct tel_output *out, const char *title,
    const struct tel__buffer *head, const struct page_block *blocks, size_t n);

/* Bytes of a page with a head of that size, as gzip, and no blocks. */
uint64_t tel__page_size(const char *title, size_t head);

/* Bytes that block number i adds. */
uint64_t tel__page_block_size(size_t i, size_t size);

/* Of n bytes of text, at most so many: whole characters, if it is UTF-8. */
size_t tel__page_cut(const char *s, size_t n, size_t most);

/* ---------------------------------------------------------------- JSON */

/* Adds text as it is. */
void tel__json_put(struct tel__buffer *b, const char *text);
/* Adds an item of a list, or its start, with a comma unless it is first. */
__attribute__((format(printf, 2, 3))) void tel__json_item(struct tel__buffer *b,
    const char *format, ...);
/* Adds a key and its value, with a comma before them unless they are first. */
void tel__json_pair(struct tel__buffer *b, const char *key, uint64_t v);
void tel__json_text(struct tel__buffer *b, const char *key, const char *s,
    size_t n);
void tel__json_word(struct tel__buffer *b, const char *key, const char *word);
/* The same of true, null, or the bracket that opens a list or an object. */
void tel__json_raw(struct tel__buffer *b, const char *key, const char *text);

#endif
