/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sources: the operands of a tool, opened and read, one after the other or
 * merged by time.  The loop over files and events is here, once for all
 * tools.
 */
#ifndef COMMON_SOURCE_H
#define COMMON_SOURCE_H

#include "progress.h"
#include "settings.h"

/* How many places of damage are reported one by one. */
#define NOTICES_DAMAGE_MAX 10

/* What a reader reports of a log, passed on to the user. */
struct notices {
	int quiet;
	int verbose;
	unsigned damage; /* how many places were reported */
};

/* One operand while it is read. */
struct source {
	const char *name; /* for messages; "-" for standard input */
	int fd;
	int regular;      /* a file that can be read twice */
	uint64_t flushed; /* bytes of events that were flushed, of a pipe */
	uint64_t size;    /* of a regular file; else 0 */
	int64_t changed;  /* when it was; seconds since 1970 */
	uint64_t number;  /* counts the operands that could be opened */
	tel_reader *reader;
	const unsigned char *ahead; /* what was read of it before, */
	size_t nahead;              /* and is still to be read again */
	struct notices notices;
};

/* How the loop goes on. */
enum outcome {
	GO_ON,
	END_ONE, /* leave the rest of this source out */
	END_ALL  /* and what comes after it */
};

/* What a tool does with its input.  Each may be NULL, but for event(). */
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
	/*
	 * Events are needed in order of time, even where the log has another
	 * order.
	 */
	int in_order;
	/* Only events of allocations are used. */
	int allocs;
};

/*
 * Reads all operands.  Failures are reported and raise the exit status;
 * an operand that cannot be read does not keep the next from being read.
 */
void sources_run(struct settings *s, const struct visitor *visitor);

/* Reads one operand, as sources_run() does each with settings.no_merge. */
enum outcome source_run(struct settings *s, const struct visitor *visitor,
    char *operand);

/*
 * The parts of it.  Opening: 1, or 0 after a message; attaching makes the
 * reader of an open source, and closing reports damage.
 */
int source_open(struct source *src, const char *operand);
int source_attach(struct source *src, struct settings *s);
void source_close(struct source *src);

/* What a reader is to be made with; NULL when that fails. */
tel_reader *source_reader(const struct settings *s, tel_notify_fn *notify,
    void *arg);

/* Before the first notice of a source; and a notice, passed on to the user. */
void notices_begin(struct notices *n, const struct settings *s);
void notices_take(struct notices *n, tel_severity severity, const char *log,
    uint64_t offset, const char *text);

/* Reports why a reader failed; text is its error. */
void source_failed(const struct source *src, tel_status st, const char *text);

/* Sets -t in percent by the span of the clock over n open sources. */
int sources_span(struct source *const *srcs, int n, struct settings *s);

#endif
