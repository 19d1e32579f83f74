/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * JSON (RFC 8259), as a tree.  The libraries of Debian either lack integers of
 * 64 bits without a sign (jansson), or clamp those that are too large
 * (json-c); and metadata of CTF 2 are the only JSON that is read.
 */
#ifndef TEL_CTF_JSON_H
#define TEL_CTF_JSON_H

#include <stdint.h>

#include "base/arena.h"

enum json_kind {
	JSON_NULL,
	JSON_FALSE,
	JSON_TRUE,
	JSON_INTEGER,
	JSON_REAL, /* or an integer of more than 64 bits: its value is not kept */
	JSON_STRING,
	JSON_ARRAY,
	JSON_OBJECT
};

struct json {
	enum json_kind kind;
	int negative; /* INTEGER: .number is its two's complement */
	uint64_t number;
	const char *text;   /* STRING, UTF-8, NUL-terminated */
	struct json *first; /* of an array or an object */
	unsigned count;     /* of its elements */
	const char *name;   /* of a member of an object */
	struct json *next;  /* in the array or object around */
};

/* Documented limit: of values in values. */
#define JSON_DEPTH_MAX 128u

/*
 * Parses one value, and blanks around it, at *p up to end.  *p is set behind
 * it, or to where it is invalid, with *why.  NULL: invalid, or out of memory.
 */
struct json *tel__json_parse(struct tel__arena *arena, const char **p,
    const char *end, const char **why);

/* The member of an object of that name, the last one; or NULL. */
const struct json *tel__json_member(const struct json *object,
    const char *name);

#endif
