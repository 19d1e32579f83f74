/* SPDX-License-Identifier: BSD-2-Clause */
/* The inside of a writer: what the formats share. */
#ifndef TEL_WRITER_H
#define TEL_WRITER_H

#include "io/output.h"
#include "model/event.h"
#include "write/convert.h"
#include "write/ids.h"
#include "write/keep.h"
#include "tel.h"

struct native_out;

/* A format that is written. */
struct write_form {
	const char *name;  /* as tel_reader_form() has it */
	const char *what;  /* the same for messages */
	int one_schema;    /* all events of the output are of one schema */
	int one_numbering; /* a string's number means one thing */
	int binary;        /* nothing for a terminal */
	int target;        /* may be asked for by its name */
	/*
	 * Nonzero when events of a log can be written; NULL: when the log is
	 * of the same form.
	 */
	int (*takes)(const struct tel_log *log);
	int lead_follows; /* what has no event belongs to the one before it */
	/* A log begins; may be NULL. */
	tel_status (*begin)(struct tel_writer *w, const struct tel_log *log);
	/*
	 * Writes an event as it stands.  changed: its bytes are not those
	 * that were read, so its line does not tell them.
	 */
	tel_status (*write)(struct tel_writer *w, const struct tel_event *ev,
	    int changed);
	/* What stands between groups of events; may be NULL. */
	tel_status (*gap)(struct tel_writer *w);
	/* Writes what it holds back, for who waits for it; may be NULL. */
	tel_status (*flush)(struct tel_writer *w);
	/* The logs so far will not be there any more; may be NULL. */
	tel_status (*end_file)(struct tel_writer *w);
	/* What ends the output; may be NULL. */
	tel_status (*finish)(struct tel_writer *w);
	/* Nonzero when other events need this one; may be NULL. */
	int (*needed)(const struct tel_event *ev);
};

extern const struct write_form tel__write_form_tel;
extern const struct write_form tel__write_form_mps;
extern const struct write_form tel__write_form_release; /* of an MPS release */
extern const struct write_form tel__write_form_text;
extern const struct write_form tel__write_form_cnv;
extern const struct write_form tel__write_form_inst;
extern const struct write_form tel__write_form_hpm;
/* traces of allocators, as lines that stood in one */
#define WRITE_FORMS_ALLOC 8
extern const struct write_form tel__write_forms_alloc[WRITE_FORMS_ALLOC];
extern const struct write_form tel__write_form_ets;

/* A log that is written. */
struct write_log {
	struct write_log *next;
	const struct tel_log *log; /* NULL once it has ended */
	unsigned number;           /* log->number when it began */
	unsigned serial;           /* counts the logs of the writer */
	struct tel_writer *writer;
	struct keep *keep;      /* NULL: nothing but what is wanted */
	struct tel_labels *ids; /* its strings: number to place */
	int written;            /* the last event was, and not passed over */
	/* where events are converted: what is known, and what they are of */
	struct convert_log *convert;
	struct tel_log converted;
};

/* What waits until it is known whether a stream says what it is. */
struct write_hold {
	tel_output *out; /* where it will go; NULL: nothing waits */
	uint64_t first;  /* the earliest clock in it */
	uint64_t unit;   /* clocks a second of the first log */
	int syncs;       /* that are still to come */
	int begun;       /* by an event other than a sync */
	int init, build; /* the stream said so */
	int made;        /* it was said for it */
};

struct tel_writer {
	struct tel_output *out;
	const struct write_form *form;   /* NULL before the first event */
	const struct write_form *target; /* asked for; NULL: as it came */
	struct write_log *logs;
	struct write_log *current;
	unsigned nlogs; /* begun so far */
	size_t max_labels;
	int bare;
	int terminal;
	struct ids ids;
	char *first_log; /* the name of the first log, for messages */
	char schema[48]; /* the schema written: its name */
	struct tel_abi abi;
	/* where events are converted */
	char *release;           /* what was asked for: "mps:2.0.0" */
	struct tel_schema *to;   /* what it is */
	struct convert *convert; /* NULL: they are not */
	struct losses losses;
	struct write_hold hold;
	struct noted *noted; /* labels that were made; NULL: none yet */
	int strict;
	unsigned char init[64]; /* the fields of the first EventInit */
	size_t init_size;       /* 0 before it */
	unsigned char *changed; /* an event with another number in it */

	/* the forms of lines */
	unsigned char *lead; /* lines that stand before the next event */
	size_t lead_size, lead_room;
	int lead_lost;           /* some of them were too many */
	unsigned char *preamble; /* of the first log */
	size_t preamble_size;
	int has_only;  /* the form holds one log, which is number .only */
	unsigned only; /* its serial */
	const struct tel_schema *named; /* that schema is the name of */
	int open_line;                  /* the last line has no end */
	struct tel_printer *printer;    /* for lines with changed numbers */

	struct native_out *native; /* what the native format holds back */

	char error[256];
};

void tel__native_out_free(struct native_out *n);

/*
 * Writes an event of a log now; arg is a struct write_log.  In names.c: what
 * tells the version may be left out, and the number of a string be another.
 */
keep_put_fn tel__write_put;

/*
 * Writes an event of the current log, and before it what it needs; keeps of
 * one what others may need.
 */
tel_status tel__write_wanted(struct tel_writer *w, const struct tel_event *ev);
tel_status tel__write_unwanted(struct tel_writer *w,
    const struct tel_event *ev);

/* In mps.c: writes an event as it stands. */
tel_status tel__write_mps_event(struct tel_writer *w,
    const struct tel_event *ev, int changed);

/*
 * In release.c, where an MPS release is written whatever came.  Begins with a
 * log; as the writer's functions, for an event of the current log; and the
 * end.
 */
tel_status tel__release_begin(struct tel_writer *w, const struct tel_log *log);
tel_status tel__release_event(struct tel_writer *w, const struct tel_event *ev,
    int wanted);
void tel__release_free(struct tel_writer *w);

/*
 * In noted.c: where a text shows labels that no event gives, makes those that
 * the event ev, of the current log, shows.
 */
tel_status tel__noted_before(struct tel_writer *w, const struct tel_event *ev);
void tel__noted_free(struct noted *n);
/* A number for a string that is made. */
tel_status tel__noted_number(struct tel_writer *w, const char *text, size_t n,
    uint64_t *id);

/*
 * The first log says what is written, unless that was asked for.  TEL_OK,
 * TEL_EINVAL, TEL_ENOMEM.
 */
tel_status tel__write_begin_stream(struct tel_writer *w,
    const struct tel_log *log);

/* Whether another log can go into the same stream: TEL_OK or TEL_EINVAL. */
tel_status tel__write_check_stream(struct tel_writer *w,
    const struct tel_log *log);

/* Sets the text of tel_writer_error() and returns status. */
__attribute__((format(printf, 3, 4))) tel_status
tel__write_fail(struct tel_writer *w, tel_status status, const char *format,
    ...);

#endif
