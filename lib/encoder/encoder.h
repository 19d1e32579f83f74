/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What encoders share: the inside of a writer.  An encoder writes events in
 * one format; the writer chooses it, and this layer decides what it is given.
 */
#ifndef TEL_ENCODER_H
#define TEL_ENCODER_H

#include "base/path.h"
#include "base/table.h"
#include "encoder/losses.h"
#include "encoder/numbering.h"
#include "encoder/tracker.h"
#include "io/output.h"
#include "model/metadata.h"
#include "model/event.h"
#include "reader/format.h"

/* What holds for an encoder. */
#define ENCODER_BINARY 0x01u        /* not to be shown on a terminal */
#define ENCODER_TARGET 0x02u        /* may be asked for by the format's name */
#define ENCODER_ANY 0x04u           /* takes events of any format */
#define ENCODER_ONE_SCHEMA 0x08u    /* all events of the output are of one */
#define ENCODER_ONE_NUMBERING 0x10u /* a string's number means one thing */
#define ENCODER_LEAD_FOLLOWS \
	0x20u /* bytes between events belong to the former */
#define ENCODER_BARE_EVENTS 0x40u /* writes nothing but bytes of events */
#define ENCODER_CONTEXT 0x80u     /* its needed events are kept in any format */
#define ENCODER_VERBATIM 0x100u   /* writes ev->raw, which may be missing */

struct write_log;

struct tel_encoder_ops {
	const char *what; /* the format in messages: "an MPS stream" */
	unsigned flags;
	size_t
	    state_size; /* of w->state, zeros at first; 0: it makes its own */
	/* TEL_OK when it may be asked for by that name; or NULL. */
	tel_status (*target)(const char *name);
	/* The first log has come; may be NULL. */
	tel_status (*open)(struct tel_writer *w, const struct tel_log *log);
	/* A log starts: w->current; may be NULL. */
	tel_status (*begin)(struct tel_writer *w, const struct tel_log *log);
	/*
	 * Writes an event.  changed: the field whose value is not that of the
	 * bytes that were read, which ev->raw still has; NULL: none.
	 */
	tel_status (*write)(struct tel_writer *w, const struct tel_event *ev,
	    const struct tel_field *changed);
	/*
	 * Writes n events of a run, as write() would; or NULL.  They are bytes
	 * alone, of the log and the schema of the event written before.
	 */
	tel_status (*write_run)(struct tel_writer *w, struct tel_run *run,
	    size_t from, size_t n);
	/*
	 * Makes events of its own of the event ev, of any format, and passes
	 * each on to tel__write_wanted() or tel__write_unwanted(); or NULL.
	 */
	tel_status (*convert)(struct tel_writer *w, const struct tel_event *ev,
	    int wanted);
	/* Marks a gap between groups of events; may be NULL. */
	tel_status (*gap)(struct tel_writer *w);
	/* Writes what it holds back, for who waits for it; may be NULL. */
	tel_status (*flush)(struct tel_writer *w);
	/* The logs so far will not be there any more; may be NULL. */
	tel_status (*end_file)(struct tel_writer *w);
	/* Describes a schema, even one without events; or NULL. */
	tel_status (*describe)(struct tel_writer *w, struct tel_schema *schema);
	/* What ends the output, where there may have been no log; or NULL. */
	tel_status (*finish)(struct tel_writer *w);
	/* Nonzero when other events need this one; may be NULL. */
	int (*needed)(const struct tel_event *ev);
	/* A log has ended: frees its state; may be NULL. */
	void (*close_log)(struct write_log *l);
	/* Frees what w->state refers to; may be NULL. */
	void (*close)(struct tel_writer *w);
};

/* A log that is written. */
struct write_log {
	struct write_log *next;
	const struct tel_log *log;
	unsigned number; /* log->number when it started */
	unsigned serial; /* counts the logs of the writer */
	struct tel_writer *writer;
	struct tracker *tracker; /* NULL: only selected events */
	struct tel__table ids;   /* its strings: number to place */
	int written;             /* the last event was, and not passed over */
	void *state;             /* the encoder's own */
};

struct tel_writer {
	tel_output *sink; /* that the user gave */
	tel_output *out;  /* that, or a buffer before it */
	const struct tel_formats *formats;
	const struct tel_encoder_ops *encoder; /* NULL before the first event */
	const struct tel_encoder_ops *target;  /* asked for; or NULL */
	/* that of the encoder, which each event asks for */
	tel_status (*convert)(struct tel_writer *w, const struct tel_event *ev,
	    int wanted);
	const struct tel_encoder_ops *context; /* that of ENCODER_CONTEXT */
	char *target_name;
	char *folder; /* that a trace of several files is written to; or NULL */
	void *state;  /* the encoder's own */
	struct write_log *logs;
	struct tel__table by_log; /* of their logs' addresses to theirs */
	struct write_log *current;
	unsigned nlogs; /* started so far */
	size_t max_labels;
	struct tel__metadata metadata; /* set over that of each log */
	int bare;
	int part; /* see TEL_WRITE_PART */
	int terminal;
	int strict;
	struct numbering numbering;
	struct losses losses;
	char *first_log;    /* the name of the first log, for messages */
	char schema[48];    /* the name of the one schema that is written, */
	struct tel_abi abi; /* and its ABI */

	unsigned char *lead; /* bytes between the last event and the next */
	size_t lead_size, lead_room;
	int lead_lost; /* some of them were too many */
	int no_memory; /* an event was not taken: nothing more is written */
	int finished;

	char error[256];
};

/*
 * Writes an event of the current log, and before it what it needs; keeps of
 * one what others may need.
 */
tel_status tel__write_wanted(struct tel_writer *w, const struct tel_event *ev);
tel_status tel__write_unwanted(struct tel_writer *w,
    const struct tel_event *ev);

/*
 * Writes an event of a log now; arg is a struct write_log.  Events with the
 * version may be left out, and the numbers of strings changed.
 */
tracker_put_fn tel__write_put;

/* Nonzero when the string, of a log of that schema, is its build string. */
int tel__write_is_build(const struct tel_writer *w,
    const struct tel_schema *schema, const char *string, size_t n);

/* The format that the log has, or had before it was written as another. */
const struct tel_format_ops *tel__write_origin(const struct tel_writer *w,
    const struct tel_log *log);

/* Sets the text of tel_writer_error() and returns status. */
__attribute__((format(printf, 3, 4))) tel_status
tel__write_fail(struct tel_writer *w, tel_status status, const char *format,
    ...);

#endif
