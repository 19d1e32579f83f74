/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A format: all that the rest of the library knows of one.  Its folder,
 * lib/format/NAME/, defines a struct tel_format_ops; a line of
 * lib/format/registry.c adds it to the table.
 *
 * Readers and writers get the table by a pointer, so that code below the
 * formats can ask for one by its name without naming any.
 */
#ifndef TEL_FORMAT_H
#define TEL_FORMAT_H

#include "model/event.h"
#include "reader/span.h"

struct tel__buffer;
struct tel_reader;
struct tel_encoder_ops;
struct tel_score;
struct tel_fileset;

/* The state of a decoder between two events, as far as it matters there. */
struct tel_decoder_state {
	uint64_t state[8];
};

struct tel_format_ops {
	const char *name; /* as tel_reader_set_as() and -f have it */
	/* for the format's own functions: formats may share these */
	const void *dialect;

	/* ------------------------------------------- built-in schemas */

	/*
	 * How the names of its schemas begin, "mps-"; NULL: it has none, or
	 * one that is called as the format is.
	 */
	const char *prefix;
	/*
	 * The name of schema number i, or NULL past the last one.  NULL: the
	 * only one is made by the name of the format.
	 */
	const char *(*schema_name)(unsigned i);
	/*
	 * Makes a schema by the name of the format, or by that of the schema.
	 * TEL_OK, TEL_EINVAL (no such name), TEL_ENOMEM.
	 */
	tel_status (*schema_new)(const char *name, struct tel_schema **out);
	/*
	 * Weighs an event of a text that does not say what it was printed
	 * from, read as of schema number i.
	 */
	void (*score)(unsigned i, const struct tel_type *t,
	    const unsigned char *data, struct tel_score *e);
	/*
	 * Follows an event with the version of a log of one of its schemas.
	 * TEL_OK, TEL_EVERSION.
	 */
	tel_status (*version)(struct tel_reader *r, const struct tel_event *ev);

	/*
	 * Nonzero for a log that starts while what it records runs: it frees
	 * blocks that it does not allocate.  May be NULL.
	 */
	int (*starts_late)(const struct tel_log *log);
	/* Nonzero: its logs describe types when they have an event of them. */
	int late_types;

	/* Nonzero for the build string of the log's program. */
	int (*match_build_string)(const char *string, size_t n);

	/* ---------------------------------------------------- decoder */

	/*
	 * The score that the window is of this format: 0 impossible, 100
	 * certain; r->eof is zero if there is more than the window.  NULL: it
	 * is read only by its name.
	 */
	int (*probe)(struct tel_reader *r);
	/*
	 * Nonzero when files are one log of the format: open() finds them in
	 * r->set, or has r->set have all that are left of an archive.  NULL:
	 * its logs are single files.
	 */
	int (*claims)(const struct tel_fileset *set);
	/* As probe(), for a damaged start: asked when no format was sure. */
	int (*probe_damaged)(struct tel_reader *r);
	/* Bytes of r->state; 0: open() makes it, if there is one. */
	size_t state_size;
	/*
	 * Starts a log: sets r->log.schema, to that of the name r->as_schema
	 * if there is one.  r->state is all zeros.
	 * TEL_OK, TEL_EFORMAT, TEL_EINVAL, TEL_EVERSION, TEL_ENOMEM.
	 */
	tel_status (*open)(struct tel_reader *r);
	/* Nonzero: no event of a log changes the schema that open() has set. */
	int keeps_schema;
	/*
	 * Appends the bytes that open() has stepped over, as they are in the
	 * log, except those that are damaged.  NULL: open() leaves all there.
	 */
	void (*opened)(struct tel_reader *r, struct tel__buffer *to);
	/*
	 * The next event into r->event, and into r->consumed the bytes of
	 * input that it was.  TEL_OK, TEL_END or a failure.
	 */
	tel_status (*next)(struct tel_reader *r);
	/*
	 * After next() has returned an event: finds those behind it in
	 * r->batch that can be had without input, damage or a change of the
	 * log's names, clock or version; none need be found.  May be NULL.
	 */
	void (*decode_batch)(struct tel_reader *r);
	/*
	 * The clocks of a log of which no event was read.  TEL_OK, TEL_END (not
	 * known), TEL_ENOMEM.  May be NULL.
	 */
	tel_status (*span)(struct tel_reader *r, struct tel_clock_span *span);
	/*
	 * Moves to the first place from one offset to another where events can
	 * be read without those before.  1; or 0 when there is none.  May be
	 * NULL: logs of the format are not read in pieces.
	 */
	int (*split_at)(struct tel_reader *r, uint64_t from, uint64_t to);
	/*
	 * What else than the place makes a difference for what comes; NULL:
	 * nothing.
	 */
	void (*decoder_state)(const struct tel_reader *r,
	    struct tel_decoder_state *mark);
	/*
	 * The bytes of the events that were read ahead of next().  NULL: they
	 * are in the input.
	 */
	uint64_t (*pending)(const struct tel_reader *r);
	/* Frees what r->state refers to, before that; may be NULL. */
	void (*close)(struct tel_reader *r);
	/* Frees what it keeps with tel__reader_keep(); may be NULL. */
	void (*cache_free)(void *kept);

	/* ---------------------------------------------------- encoder */

	/* Writes its own events; NULL: it is not written. */
	const struct tel_encoder_ops *encoder;
	/* The format that its events are written in, if it has none; or NULL. */
	const char *written_as;
	/* Writes the events of any format when it is asked for; or NULL. */
	const struct tel_encoder_ops *converter;
};

/*
 * Evidence for the schema with which a format weighs an event, and the rest of
 * the name by that event.
 */
struct tel_score {
	int votes;   /* events that name it, less those that deny it */
	size_t odd;  /* values that are seldom seen; the fewer, the likelier */
	int version; /* an event names its version, */
	int build;   /* and one what it was built as */
	char platform[8]; /* the platform; empty: not said */
	char likely[8];   /* the default of it; or empty */
};

/* When a format is asked whether it knows an input: earlier ones are cheap. */
enum tel_stage {
	STAGE_MAGIC,   /* the first bytes decide */
	STAGE_EVENTS,  /* many events have to be looked at */
	STAGE_LINES,   /* the first lines decide */
	STAGE_FALLBACK /* asked what the others said, r->best_score */
};
#define STAGES 4

struct tel_format_row {
	const struct tel_format_ops *format;
	enum tel_stage stage;
};

/* All formats there are. */
struct tel_formats {
	const struct tel_format_row *rows;
	unsigned count;
};

/* The format of that name; NULL: unknown. */
const struct tel_format_ops *tel__format_find(const struct tel_formats *all,
    const char *name);
/* The format whose schemas have names like this one; NULL: none has. */
const struct tel_format_ops *
tel__format_of_schema(const struct tel_formats *all, const char *schema);
/* Makes a built-in schema.  TEL_OK, TEL_EINVAL (no such name), TEL_ENOMEM. */
tel_status tel__format_schema(const struct tel_formats *all, const char *name,
    struct tel_schema **out);

#endif
