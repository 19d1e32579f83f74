/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inst streams: the parts of a line, and what writing and reading share.
 * tel-inst(5) describes the format.
 */
#ifndef TEL_STATS_INST_H
#define TEL_STATS_INST_H

#include "stats/stats.h"
#include "stats/text.h"

/* Writers keep lines shorter, readers take longer ones. */
#define INST_LINE_MAX 65535u
#define INST_FIELDS_MAX 64u

struct inst_field {
	const char *name; /* NUL-terminated; "" for a value without a name */
	char *value;      /* decoded, NUL-terminated */
	size_t length;    /* of the value, which may hold no NUL */
	int quoted;
};

struct inst_line {
	uint64_t clock;
	const char *code;
	struct inst_field fields[INST_FIELDS_MAX];
	unsigned count;
};

/*
 * Takes a line to pieces, in place: bytes is changed and NUL-terminated, and
 * has room for that behind size.  Returns NULL, or what is wrong.
 */
const char *tel__inst_split(char *bytes, size_t size, struct inst_line *out);

/* The field of a name, or NULL. */
const struct inst_field *tel__inst_find(const struct inst_line *l,
    const char *name);
/*
 * A number of a field: 1 with *out set, 0 when there is no such field, -1
 * when it is no such number.
 */
int tel__inst_u64(const struct inst_line *l, const char *name, uint64_t *out);
int tel__inst_int128(const struct inst_line *l, const char *name,
    tel_int128 *out);

/* Reads an unsigned number, decimal or 0x.  1, or 0. */
int tel__inst_parse_u64(const char *text, uint64_t *out);

/*
 * Puts bytes as a string in quotes.  What is no UTF-8 becomes \udcXX, a
 * surrogate that stands for byte XX, so that it reads back.
 */
void tel__inst_put_string(struct text *t, const char *bytes, size_t length);

/* Names of the classes and data types in a stream. */
const char *tel__inst_class_name(enum tel_class c);
int tel__inst_find_class(const char *name, enum tel_class *out);
int tel__inst_find_datatype(const char *name, enum tel_datatype *out);

#endif
