/* SPDX-License-Identifier: BSD-2-Clause */
/* Text that grows as it is put together. */
#ifndef TEL_STATS_TEXT_H
#define TEL_STATS_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct text {
	char *bytes; /* NUL-terminated once anything was put */
	size_t count, room;
	int failed; /* out of memory; what comes after is left out */
};

void tel__text_put(struct text *t, const char *bytes, size_t count);
void tel__text_string(struct text *t, const char *s);
void tel__text_char(struct text *t, char c);
void tel__text_u64(struct text *t, uint64_t v);
void tel__text_i64(struct text *t, int64_t v);
/* 16 upper-case hexadecimal digits. */
void tel__text_clock(struct text *t, uint64_t v);
void tel__text_clear(struct text *t);

/* The first n bytes of s as a string; NULL when there is no memory. */
char *tel__text_copy(const char *s, size_t n);

#endif
