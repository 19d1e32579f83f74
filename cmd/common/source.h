/* SPDX-License-Identifier: BSD-2-Clause */
/* Sources: the operands of a tool, opened, with a reader each. */
#ifndef COMMON_SOURCE_H
#define COMMON_SOURCE_H

#include "notices.h"
#include "settings.h"

/* One operand while it is read. */
struct source {
	const char *name; /* for messages; "-" for standard input */
	int fd;
	int part; /* of a file of many, which fd is, from .start on */
	int64_t start;
	int folder;       /* a trace of several files */
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

/* With --verbose, reports the programs of the selection, bound to its schema. */
void source_explain(struct source *src, const struct settings *s);

/* A tel_read_fn of an open source: what was read ahead, and then the rest. */
ptrdiff_t source_read(void *arg, void *buffer, size_t size);
/*
 * Opening: 1, or after a message 0, or -1 where as many files are open as may
 * be; attaching makes the reader of an open
 * source, which shares event types with another, and closing reports damage.
 */
int source_open(struct source *src, const char *operand);
int source_attach(struct source *src, struct settings *s,
    const tel_reader *with);
void source_close(struct source *src);

/* What a reader is to be made with; NULL when that fails. */
tel_reader *source_reader(const struct settings *s, tel_notify_fn *notify,
    void *arg);

/*
 * A reader that reads nothing, which has the event types of all operands that
 * can be read twice, so that a name of any of them is known; NULL: no memory.
 */
tel_reader *source_types(const struct settings *s);

typedef void source_schema_fn(void *arg, const tel_schema *schema);
/*
 * Reads all of an open file that may have several logs, so that the names of
 * each are known.  Takes as long as to count its events.
 * fn: called with the schema of each log that follows one of another; or NULL.
 */
void source_learn(const struct source *src, const struct settings *s,
    source_schema_fn *fn, void *arg);

/* Reports why a reader failed; text is its error. */
void source_failed(const struct source *src, tel_status st, const char *text);

/* Sets -t in percent by the span of the clock over n open sources. */
int sources_span(struct source *const *srcs, int n, struct settings *s);

#endif
