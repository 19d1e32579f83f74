/* SPDX-License-Identifier: BSD-2-Clause */
/* Streams: the standard ones, and where a tool's output goes. */
#ifndef COMMON_STREAMS_H
#define COMMON_STREAMS_H

#include <sys/types.h>
#include "settings.h"

/* The output of a tool. */
struct sink {
	tel_output *out;
	const struct settings *settings;
	const char *name; /* for messages; "standard output" */
	int fd;
	int named;        /* by -o */
	int terminal;     /* nonzero when a person looks at it */
	unsigned columns; /* of the terminal; 0: unknown */
	int color;        /* nonzero when it may be coloured */
	int failed;       /* nonzero when that has been reported */
	pid_t pager;      /* 0: none */
	char *made;       /* of a file that is replaced, the new one; or NULL */
};

/*
 * To be called first: makes sure that the descriptors 0 to 2 are open, so
 * that no file is taken for one of them.  A use of one that was closed fails.
 */
void streams_begin(void);

/* Checks what was printed by stdio on standard output. */
void streams_end(void);

/*
 * Opens the output that the settings ask for.  An output that is one of the
 * input files is refused, before it is touched.
 * Returns 1, or 0 after a message.
 */
int sink_open(struct sink *sink, const struct settings *s);

/*
 * With settings->replace, the output is a new file, FILE.new-PID, and these two
 * take turns: sink_replace() gives it, complete, the name of the output, so
 * that no reader sees less than all of one; sink_again() begins the next one.
 * What was not replaced when the sink is closed is removed, and the output
 * stays as it was.  Both return 1, or 0 after a message.
 */
int sink_replace(struct sink *sink);
int sink_again(struct sink *sink);

/*
 * For tables of Arrow: nonzero when the output is a file that is to have a
 * footer, which a stream has not: one of -o, unless its name ends in .arrows.
 */
int sink_footer(const struct sink *sink);

/*
 * Refuses to write binary output to a terminal, unless -o names it.  Returns 1,
 * or 0 after a message.
 */
int sink_check_binary(const struct sink *sink, const char *input);

/* Reports why writing failed, once, unless the reader of a pipe has gone. */
void sink_failed(struct sink *sink);

/* Flushes and closes, and reports a failure. */
void sink_close(struct sink *sink);

#endif
