/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writer of inst logs: the fields of a record one after the other.  What goes
 * wrong is noted once, so that a row of calls can be checked at its end.
 */
#ifndef TEL_INST_WRITE_H
#define TEL_INST_WRITE_H

#include "base/buffer.h"
#include "tel.h"

/* Longer lists of buckets go on in a record of their own. */
#define INST_WRITE_MAX 65535u

struct inst_writer {
	tel_output *out;
	uint64_t clock; /* of the records to come */
	struct tel__buffer line;
	tel_status status; /* the first failure */
};

/* Starts a record, which ends with tel__inst_put_end(). */
void tel__inst_put_record(struct inst_writer *w, const char *code);
void tel__inst_put_end(struct inst_writer *w);

/* Puts bytes as they are; they are part of a word. */
void tel__inst_put_text(struct inst_writer *w, const char *text);
void tel__inst_put_u64(struct inst_writer *w, uint64_t v);
/* Puts " FIELD=", which a value follows. */
void tel__inst_put_name(struct inst_writer *w, const char *field);
/*
 * Puts a string in quotes.  Bytes that are not UTF-8 become \udcXX, a surrogate
 * for byte XX, so that they read back.
 */
void tel__inst_put_quoted(struct inst_writer *w, const char *bytes, size_t n);

/* A field: a word, a number, a string (none where it is NULL). */
void tel__inst_put_word(struct inst_writer *w, const char *field,
    const char *word);
void tel__inst_put_count(struct inst_writer *w, const char *field, uint64_t v);
void tel__inst_put_number(struct inst_writer *w, const char *field,
    tel_int128 v);
void tel__inst_put_string(struct inst_writer *w, const char *field,
    const char *s);

#endif
