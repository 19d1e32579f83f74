/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A database of logs, as a script or as a file: the statements that make it, in
 * the order in which they are needed.
 */
#ifndef TEL_DATABASE_H
#define TEL_DATABASE_H

#include "base/buffer.h"
#include "render/renderer.h"

struct database;

/* Where the statements go. */
struct database_sink {
	size_t size; /* of its struct database and what follows it */
	/*
	 * Opens it; adds statements before those of the transaction; may be
	 * NULL.
	 */
	tel_status (*open)(struct tel_printer *pr);
	/* Runs the statements, or writes them; the buffer is empty then. */
	tel_status (*run)(struct tel_printer *pr, struct tel__buffer *text);
	/* The tables of a log are there; may be NULL. */
	tel_status (*ready)(struct tel_printer *pr);
	/* Makes the next slot; d->text has the insertion up to its values. */
	tel_status (
	    *prepare)(struct tel_printer *pr, const struct tel_type *type);
	/* Writes the rows that wait; may be NULL. */
	tel_status (*flush)(struct tel_printer *pr);
	/* Frees what slots have. */
	void (*clear)(struct database *d);
};

/* The state of a printer of a database: the start of a larger one. */
struct database {
	struct tel__buffer text;    /* statements that are made */
	struct tel__buffer indexes; /* those that come last */
	char *indexed;   /* by places in the option: a table has it */
	size_t nslots;   /* of programs */
	uint64_t events; /* of this log */
	int log_open;
	int unknown_made;  /* the table of unknown types */
	tel_status failed; /* nothing can be added any more; or TEL_OK */
};

/*
 * The begin_log and finish of a renderer whose dialect is a database_sink;
 * TEL_EINVAL, TEL_EIO, TEL_ENOMEM.
 * The insertion of rows has as values those of the fields in order, the time,
 * the number of the event and the serial of the log; of unknown types, the code
 * and the bytes as fields.
 */
tel_status tel__database_begin_log(struct tel_printer *pr,
    const struct tel_event *ev);
tel_status tel__database_finish(struct tel_printer *pr);

/* Counts an event, and finds its program, which has a slot, from 1 on. */
tel_status tel__database_event(struct tel_printer *pr,
    const struct tel_event *ev, struct render_program **out);

/* Frees what the shared part of the state refers to. */
void tel__database_clear(struct database *d);

/* Fields of the table of a type; NULL: of unknown types. */
static inline unsigned
database_fields(const struct tel_type *type)
{
	return type == NULL ? 2 : type->nfields;
}

#endif
