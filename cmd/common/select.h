/* SPDX-License-Identifier: BSD-2-Clause */
/* Selection: which events of a log are selected, by -k -e -t -w --skip -n. */
#ifndef COMMON_SELECT_H
#define COMMON_SELECT_H

#include "tel/filter.h"

struct selection {
	tel_filter *filter;
	int filtering;     /* anything was set in the filter */
	char *types;       /* all arguments of -e as one list, or NULL, */
	char *kinds;       /* and of -k */
	char *where;       /* those of -w, joined by && */
	const char *since; /* of --since and --until */
	const char *until;
	uint64_t skip;
	uint64_t count;   /* the most events to select */
	uint64_t last;    /* of all that are selected, only so many; or 0 */
	uint64_t matched; /* over all logs */
	int ranged;       /* -t was given */
	int seconds;      /* -t is in seconds, or parts of one */
	int counted;      /* -t counts from the first event */
	int percent;      /* -t is a share of the log's span: */
	uint64_t from;    /* in parts of 10^9 */
	uint64_t to;
	int whole; /* the tool uses events that are not selected */
};

/* Makes a selection of everything.  Returns 1, or 0 after a message. */
int selection_begin(struct selection *s);
void selection_free(struct selection *s);

/*
 * Takes an option: id is 'k', 'e', 't' or 'w', OPTION_SINCE or OPTION_UNTIL.
 * -k and -e given again add to their lists, and -w narrows the selection.
 * Returns 1, or 0 after a message.
 */
int selection_option(struct selection *s, int id, const char *text);

/*
 * Takes a range of all logs, as -t does; log: an operand that gives it.  Returns
 * 1, or 0 after a message.
 */
int selection_logs(struct selection *s, const char *log, const char *range);

/* Adds a range of one of the logs.  Returns 1, or 0 after a message. */
int selection_log(struct selection *s, const char *log, const char *range);

/*
 * Reports why a call on the selection's filter failed; option is NULL when it
 * was not setting one.
 */
void selection_report_error(const struct selection *s, tel_status st,
    const char *option);

/* The only selected type, if given by its exact name; else NULL. */
const char *selection_only_type(const struct selection *s);

/* Nonzero when all events are selected. */
int selection_all(const struct selection *s);

/* Nonzero when events may be left out before selected ones. */
int selection_is_part(const struct selection *s);

/*
 * Prepares for events of a schema: names that are missing are mistakes.
 * Returns 1, or 0 after a message.
 */
int selection_bind(struct selection *s, const tel_schema *schema);

/* For -t in percent: the log's clock goes from first to last. */
void selection_span(struct selection *s, uint64_t first, uint64_t last);

/*
 * Nonzero when events before decide on an event: by labels, by what it ends, or
 * as the start of one that is selected.
 */
int selection_uses_order(const struct selection *s);

/* Nonzero when the first event of all decides on others, by its time. */
int selection_uses_first(const struct selection *s);

/* Nonzero when the answer needs the clock's rate. */
int selection_needs_rate(const struct selection *s);

/*
 * Limits a reader to the selected time, so that it need not read all of the
 * log.  ev: an event of it, NULL when there was none yet.
 */
void selection_narrow(const struct selection *s, tel_reader *r,
    const tel_event *ev);

/*
 * Lets a reader leave out events that are not selected.  whole: a writer sees
 * them as well.  settled: which event time counts from is known when as many
 * were read as a window holds.
 */
void selection_attach(const struct selection *s, tel_reader *r, int whole,
    int settled);

/* 1 when the event is selected, 0 when not, -1 after a message. */
int selection_match(struct selection *s, const tel_event *ev);

/* Leaves the selected events of a run.  1, or 0 after a message. */
int selection_run(struct selection *s, tel_run *run);

/*
 * Nonzero when events of the type, of the schema that was bound, may be
 * selected.
 */
int selection_type(const struct selection *s, const tel_type *type);

/* Nonzero when as many events were selected as the user requested. */
int selection_full(const struct selection *s);

#endif
