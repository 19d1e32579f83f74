/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The inside of a reader: what the formats share.  A format finds events in
 * the window of input that the reader keeps, r->p to r->end.
 */
#ifndef TEL_READER_H
#define TEL_READER_H

#include "io/input.h"
#include "model/clock.h"
#include "model/event.h"
#include "model/labels.h"

struct tel_reader;
struct reader_role;

/*
 * Who counts events and looks at few of them.  A form may tell of those that
 * are not wanted all at once, and leave them out.
 */
struct tel_tally {
	/* NULL: all events are wanted */
	int (*wants)(void *arg, const struct tel_log *log,
	    const struct tel_type *type);
	/* There are so many of a type, of so many bytes. */
	void (*count)(void *arg, const struct tel_log *log,
	    const struct tel_type *type, uint64_t events, uint64_t bytes);
	/* Their clocks are among these. */
	void (*span)(void *arg, const struct tel_log *log, uint64_t first,
	    uint64_t last);
	void *arg;
};

/* A wire format. */
struct tel_form {
	const char *name; /* "mps" */
	/*
	 * How sure it is that the window is of this format: 0 not at all, 100
	 * quite; r->eof tells whether there is more than the window.
	 */
	int (*probe)(struct tel_reader *r);
	/*
	 * Begins a log: sets r->log.schema and r->state.  as: the name that
	 * was given for the schema, NULL to infer it.
	 * TEL_OK, TEL_EFORMAT, TEL_EINVAL, TEL_EVERSION, TEL_ENOMEM.
	 */
	tel_status (*open)(struct tel_reader *r, const char *as);
	/* The next event into r->event.  TEL_OK, TEL_END or a failure. */
	tel_status (*next)(struct tel_reader *r);
	/* Frees r->state. */
	void (*close)(struct tel_reader *r);
};

extern const struct tel_form tel__form_tel;
extern const struct tel_form tel__form_tel_damaged;
extern const struct tel_form tel__form_mps;
extern const struct tel_form tel__form_text;
extern const struct tel_form tel__form_cnv;
extern const struct tel_form tel__form_inst;
extern const struct tel_form tel__form_hpm;
/* traces of allocators: allocline.h */
extern const struct tel_form tel__form_android, tel__form_heaptrack,
    tel__form_kdump, tel__form_logalloc, tel__form_ltrace, tel__form_mtrace,
    tel__form_rep, tel__form_valgrind;
extern const struct tel_form tel__form_ets;

/* Gives the types of a schema the roles that the user said, once. */
void tel__reader_give_roles(struct tel_reader *r, struct tel_schema *schema);
/* Tells which types no log had. */
void tel__reader_tell_roles(struct tel_reader *r);
void tel__reader_free_roles(struct tel_reader *r);

/* Nonzero when there is a form of that name. */
int tel__form_known(const char *name);

/* Bits of notices: the version is another, labels are left out. */
#define READER_TOLD_VERSION 1u
#define READER_TOLD_LIMIT 2u

/* How much of a log is looked at to tell what it is. */
#define TEL_PROBE_SIZE ((size_t)1 << 16)

struct tel_reader {
	/* where the next event begins, and what there is of the input */
	const unsigned char *p;
	const unsigned char *end;
	uint64_t offset; /* of p in the log */
	size_t back;     /* bytes before p that stay where the window moves */
	int eof;         /* nothing comes after end */
	int sure;        /* the best that another form's probe has said */
	struct tel_event event;
	const struct tel_form *form;
	void *state; /* the form's own */
	struct tel_log log;
	uint64_t count[TEL_COUNT_LOGS + 1];

	struct tel_input *in;
	size_t peeked;           /* bytes of the last peek, from its begin */
	tel_status input_status; /* why eof came early; else TEL_OK */
	enum { READER_NEW, READER_LOG, READER_BETWEEN, READER_DONE } at;
	tel_status failed;
	char *name;        /* of the operand */
	char *member_name; /* "operand:member", or NULL */
	int fd_owned;

	/* options */
	char *as;
	int force;
	int strict;
	size_t max_labels;
	size_t read_size;
	char **descriptions; /* files that describe events, in order */
	size_t ndescriptions;
	char **contracts; /* files that name the messages of contracts */
	size_t ncontracts;
	char *meta;       /* the file that goes with a trace, or NULL */
	double tick_rate; /* hertz, or 0: as the log says */
	tel_notify_fn *notify;
	void *notify_arg;
	struct reader_role *roles; /* that the user gives to types */
	const struct tel_schema
	    *given; /* the last schema that was given them */

	/* the clocks that are wanted; what is outside may be left out */
	struct {
		int on;
		int early; /* it was set before the first event was read */
		uint64_t first, last;
	} range;
	/* Set by a form that can tell the log's clocks without reading it. */
	tel_status (
	    *span)(struct tel_reader *r, uint64_t *first, uint64_t *last);

	struct tel_tally tally;
	int timeless;             /* no event of the log had a time yet */
	unsigned notices;         /* bits: what was told once already */
	struct tel_reader *split; /* members that were taken out, in a list */
	struct tel_reader *next_split;
	struct tel_schema **schemas; /* all that were made, freed at the end */
	size_t nschemas;
	/* what tel__mps_infer.c tried; the logs of an archive share them */
	struct tel_schema **tried;
	size_t ntried;
	struct tel_schema *named;  /* made of as, for all logs */
	struct tel_reader *parent; /* the reader that this was taken out of */
	char error[256];
};

/*
 * Makes the window hold at least min bytes (at most TEL_PEEK_MAX) or all
 * that is left, with r->eof set.  r->p moves to another address; what it
 * points at stays the same.  It never fails: damage below ends the input,
 * and tel_reader_next() tells of it when the end is reached.
 */
void tel__reader_fill(struct tel_reader *r, size_t min);

/* Where r->p is in the input, uncompressed. */
uint64_t tel__reader_place(const struct tel_reader *r);

/*
 * Moves to another place of the input, and empties the window; r->offset is
 * set to it.  1; or 0, and nothing is changed, when the input cannot seek.
 */
int tel__reader_jump(struct tel_reader *r, uint64_t place);

/* Steps over n bytes of the window. */
static inline void
tel_reader_step(struct tel_reader *r, size_t n)
{
	r->p += n;
	r->offset += n;
}

/*
 * Takes the member of an archive that the reader stands at the begin of out
 * into a reader of its own, which reads a copy in a temporary file, and goes
 * on to the next one.  *out belongs to r, whose counts have its counts in
 * them, and is freed with it.
 * Returns TEL_OK; TEL_END: the member was the last one; a failure.
 */
tel_status tel__reader_split(struct tel_reader *r, struct tel_reader **out);

/*
 * What splitting needs of the reader: opening fd, which then is its own, and
 * going on to the next member that is a log (TEL_OK, TEL_END, or a failure).
 */
tel_status tel__reader_open_kept(struct tel_reader *r, int fd,
    const char *name);
tel_status tel__reader_next_member(struct tel_reader *r);

/* Tells the user, if he wants to hear.  format: a printf format of ours. */
__attribute__((format(printf, 4, 5))) void
tel__reader_notice(struct tel_reader *r, tel_severity severity, uint64_t offset,
    const char *format, ...);

/* Sets the text of tel_reader_error() and returns status. */
__attribute__((format(printf, 3, 4))) tel_status
tel__reader_fail(struct tel_reader *r, tel_status status, const char *format,
    ...);

/*
 * Says that the log was damaged at offset: counts it, tells it, and returns
 * TEL_OK, or TEL_EDAMAGED when reading is strict.  skipped: the bytes lost.
 */
__attribute__((format(printf, 4, 5))) tel_status
tel__reader_damage(struct tel_reader *r, uint64_t offset, uint64_t skipped,
    const char *format, ...);

/*
 * Follows an event whose type has a role: strings, labels, the clock, the
 * version.  TEL_OK, TEL_EVERSION, TEL_ENOMEM.
 */
tel_status tel__reader_follow(struct tel_reader *r, const struct tel_event *ev);

/*
 * Hands the schema to the reader, which frees it in the end, and makes it
 * that of the log.  TEL_OK, TEL_ENOMEM (the schema is freed).
 */
tel_status tel__reader_adopt(struct tel_reader *r, struct tel_schema *schema);

#endif
