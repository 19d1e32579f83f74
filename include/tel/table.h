/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tel/table.h - part of libtel, see tel.h for the general rules.
 *
 * Tables: rows of typed columns, written as Apache Arrow's IPC format.
 */
#ifndef TEL_TEL_TABLE_H
#define TEL_TEL_TABLE_H

#ifndef TEL_EXPERIMENTAL
#error "tel/table.h may still change: define TEL_EXPERIMENTAL"
#endif

#include "tel/output.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tel_table tel_table;

/* The data type of a column.  Every value may be missing. */
typedef enum tel_column {
	TEL_COLUMN_UNSIGNED, /* integers of 64 bits */
	TEL_COLUMN_SIGNED,
	TEL_COLUMN_DOUBLE,
	TEL_COLUMN_BOOLEAN,
	TEL_COLUMN_TEXT, /* UTF-8 */
	TEL_COLUMN_NAME  /* UTF-8, each distinct text stored once */
} tel_column;

/*
 * Makes a table that is written to out, which must outlive it and stays the
 * caller's.  NULL when out of memory.
 */
TEL_SINCE_EXPERIMENTAL TEL_MUST_USE tel_table *tel_table_new(tel_output *out);
/* Frees a table; what it has written is in the output. */
TEL_SINCE_EXPERIMENTAL void tel_table_free(tel_table *t);
/*
 * The setters come before the first row, that of metadata before the first
 * batch is written; afterwards they return TEL_ESTATE and change nothing.
 */
/*
 * Writes the file format (nonzero), which can be read in any order and ends
 * with a footer, or the stream (0, the default).  TEL_OK, TEL_ESTATE.
 */
TEL_SINCE_EXPERIMENTAL tel_status tel_table_set_file(tel_table *t, int on);
/*
 * Compresses what the columns hold with zstd.  level: 1 to 19.
 * TEL_OK, TEL_EINVAL, TEL_ENOMEM, TEL_ESTATE.
 */
TEL_SINCE_EXPERIMENTAL TEL_MUST_USE tel_status tel_table_set_zstd(tel_table *t,
    int level);
/*
 * Adds a key with its value to the metadata of the schema; both are copied.
 * TEL_OK, TEL_ENOMEM, TEL_ESTATE.
 */
TEL_SINCE_EXPERIMENTAL TEL_MUST_USE tel_status
tel_table_set_metadata(tel_table *t, const char *key, const char *value);
/*
 * Adds a column.  name: copied.
 * Returns its number, from 0; -1 when out of memory or behind the first row.
 */
TEL_SINCE_EXPERIMENTAL TEL_MUST_USE int tel_table_add_column(tel_table *t,
    const char *name, tel_column column);
/*
 * Sets the value of a column in the current row, as 64 bits: a boolean is 0 or
 * 1, and a double its bits.  TEL_OK, TEL_ENOMEM, TEL_EINVAL (no such column, or
 * one of text).
 */
TEL_SINCE_EXPERIMENTAL tel_status tel_table_put_u64(tel_table *t, int column,
    uint64_t value);
/*
 * The same for a text of n bytes; bytes that are not UTF-8 become the
 * characters of their numbers.  TEL_OK, TEL_ENOMEM, TEL_EINVAL.
 */
TEL_SINCE_EXPERIMENTAL tel_status tel_table_put_text(tel_table *t, int column,
    const char *text, size_t n);
/*
 * Ends a row: what was not set of it is missing.  Rows are written in batches.
 * TEL_OK, TEL_EIO, TEL_ENOMEM; TEL_ESTATE behind the end of the table.
 */
TEL_SINCE_EXPERIMENTAL TEL_MUST_USE tel_status tel_table_end_row(tel_table *t);
/* Writes all rows so far to the output.  TEL_OK, TEL_EIO, TEL_ENOMEM. */
TEL_SINCE_EXPERIMENTAL TEL_MUST_USE tel_status tel_table_flush(tel_table *t);
/* The same, and the end of the table.  Returns as tel_table_flush(). */
TEL_SINCE_EXPERIMENTAL TEL_MUST_USE tel_status tel_table_finish(tel_table *t);

#ifdef __cplusplus
}
#endif

#endif
