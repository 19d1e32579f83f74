/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The statements that make a database of logs, for a script and for a writer
 * of the file.  Each is added to a buffer, which keeps note of a failure.
 */
#ifndef TEL_DATABASE_H
#define TEL_DATABASE_H

#include "base/buffer.h"
#include "render/renderer.h"

/* Starts the transaction. */
void tel__database_start(struct tel__buffer *b);

/*
 * Starts a file, whose logs are left out if it is loaded already.  size,
 * changed: its size and its time of change, or 0 and 0.
 */
void tel__database_start_file(struct tel__buffer *b, uint64_t size,
    int64_t changed);

/* Starts a log: temp.tel_log then has its row, unless it is loaded already. */
void tel__database_start_log(struct tel__buffer *b, const char *name,
    uint64_t size, int64_t changed);

/*
 * Makes the tables of a schema, where they are not there yet; fails where they
 * are there with other columns.
 */
void tel__database_schema(struct tel__buffer *b,
    const struct tel_schema *schema);

/* Makes the table of events of unknown types. */
void tel__database_unknown(struct tel__buffer *b);

/*
 * An insertion up to its values, which are those of the fields in order, the
 * time, the number of the event and the serial of the log.  type: NULL for
 * unknown types, with the code and the bytes as fields.
 */
void tel__database_insert(struct tel__buffer *b, const struct tel_type *type);

/*
 * Makes the indexes that the printer was asked for.  TEL_OK; TEL_EINVAL: no
 * table has such a column.
 */
tel_status tel__database_indexes(struct tel_printer *pr, struct tel__buffer *b,
    const struct tel_schema *schema);

/* Ends a log of so many events. */
void tel__database_end_log(struct tel__buffer *b, uint64_t events);

/* Ends all. */
void tel__database_finish(struct tel__buffer *b);

/* The column of a field, to be freed; NULL when out of memory. */
char *tel__database_column(const struct tel_type *type, unsigned field);

#endif
