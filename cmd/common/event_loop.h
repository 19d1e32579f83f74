/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loop over events: reads the operands of a tool, one after the other or merged by
 * time, and hands their events to the tool.
 */
#ifndef COMMON_EVENT_LOOP_H
#define COMMON_EVENT_LOOP_H

#include "progress.h"
#include "source.h"

/* How the loop goes on. */
enum outcome {
	CONTINUE,
	NEXT_FILE, /* leave the rest of this source out */
	END_ALL    /* and what comes after it */
};

/* What a tool does with its input.  Each may be NULL, except for event(). */
struct visitor {
	void *arg;
	/*
	 * A source was opened, or n that are merged.  They stay where they
	 * are until end().  Returns 1, or 0 to leave them out.
	 */
	int (*begin)(void *arg, struct source *const *sources, int n);
	/* An event that the settings select, or any: settings.all_events. */
	enum outcome (*event)(void *arg, const tel_event *ev);
	/*
	 * All events of a run, as event() takes each; NULL: they come one by
	 * one, as they do where they are merged, sorted or numbered.
	 */
	enum outcome (*run)(void *arg, tel_run *run);
	/* A source is at its end; of those merged, all of them. */
	enum outcome (*end)(void *arg);
	/* PROGRESS_EVENTS events were read; done: so far. */
	void (*step)(void *arg, struct done done);
	/*
	 * Nothing may come for a while: called before a read that could wait.
	 */
	void (*idle)(void *arg);
	/* The library's idea of time is needed from the first event on. */
	int needs_rate;
	/* The same, but events that are not selected may be left out. */
	int waits_for_rate;
	/* Each is remembered before it is selected: tel_event_remember(). */
	int remembers;
	/*
	 * The order of events does not matter, or is that of the log; unless
	 * the selection depends on it, they are not put in order of time.
	 */
	int any_order;
	/* Whether that is not so for logs of a schema; or NULL. */
	int (*needs_order)(const void *arg, const tel_schema *schema);
	/* Text is put in order, too: its lines may be in any. */
	int sorts_text;
	/* results are shown while they are read, also where there is no .idle */
	int shows;
	/* Only events of allocations are used. */
	int allocs;
};

/*
 * Reads all operands.  Failures are reported and raise the exit status;
 * an operand that cannot be read does not keep the next from being read.
 */
void sources_run(struct settings *s, const struct visitor *visitor);

/*
 * Nonzero when a window puts the events of a log in order of time: those of a
 * format that writes its buffers out of order, if always is set or the
 * selection depends on the order; those of text, if a condition does.
 */
int event_loop_reorders(const struct settings *s, const tel_reader *r,
    int always);

/*
 * With -n -N, replaces it by a number of events to skip, for which the operands
 * are read once more; a pipe is copied to a file before.  sources_run() calls
 * it.  Returns 1, or 0 after a message.
 */
int sources_find_last(struct settings *s);

/*
 * Puts a file without a name in the place of standard input, so that it can be
 * read again.  Returns 1, or 0 after a message.
 */
int sources_spool_input(struct settings *s);

/* Of a visitor whose .arg begins with a uint64_t: add to that. */
enum outcome visit_count(void *arg, const tel_event *ev);
enum outcome visit_count_run(void *arg, tel_run *run);

/*
 * Reads one operand, as sources_run() does each with settings.no_merge.  types:
 * source_types(), or NULL.
 */
enum outcome source_run(struct settings *s, const struct visitor *visitor,
    char *operand, tel_reader *types);

#endif
