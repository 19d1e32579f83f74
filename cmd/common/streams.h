/* SPDX-License-Identifier: BSD-2-Clause */
/* Streams: the standard ones, and where a tool's output goes. */
#ifndef COMMON_STREAMS_H
#define COMMON_STREAMS_H

#include <sys/types.h>
#include "new_file.h"
#include "settings.h"

/* The output of a tool. */
struct sink {
	tel_output *out;
	const struct settings *settings;
	const char *name; /* for messages; "standard output" */
	int fd;
	int named;         /* by -o */
	int terminal;      /* nonzero when a person looks at it */
	unsigned columns;  /* of the terminal; 0: unknown */
	int color;         /* nonzero when it may be coloured */
	int failed;        /* nonzero when that has been reported */
	pid_t pager;       /* 0: none */
	int discarded;     /* the file of -o is not to get its name */
	int tells_failure; /* see sink_tells_failure() */
	struct new_file file;
};

/*
 * To be called first: makes sure that the descriptors 0 to 2 are open, so
 * that no file is taken for one of them.  A use of one that was closed fails.
 * It raises the limit of open files, too.
 */
void streams_begin(void);

/* For a child that becomes another program: it gets the limit as it was. */
void streams_leave(void);

/* Checks what was printed by stdio on standard output. */
void streams_end(void);

/*
 * Opens the output that the settings ask for.  An output that is one of the
 * input files is refused, before it is touched.
 * Returns 1, or 0 after a message.
 */
int output_open(struct sink *sink, const struct settings *s);
/*
 * Refuses an output, by its path or, unless fd is negative, its descriptor, that
 * is an input as well.  Returns 1, or 0 after a message.
 */
int output_check(const char *path, int fd, const struct settings *s);
/* Nonzero if the path is that of the output, a device excepted. */
int output_is(const char *path, const struct settings *s);

/*
 * A file of -o is a new one beside it, and gets its name when the sink is
 * closed, if nothing has failed; else it is removed, and the output stays as it
 * was.  sink_publish() gives it its name now, for who reads it while it grows;
 * with -u so does sink_flushed(), to be called when something was flushed.  What
 * has its name stays, whatever fails.  sink_discard(): it is not to get it.
 * sink_tells_failure(): the output itself tells that reading failed, and gets its
 * name also then, if there is no file of that name.
 * sink_publish() returns 1, or 0 after a message.
 */
int sink_publish(struct sink *sink);
void sink_flushed(struct sink *sink);
void sink_discard(struct sink *sink);
void sink_tells_failure(struct sink *sink);

/*
 * With settings->replace, these two take turns: sink_replace() gives the new
 * file, complete, the name of the output, so that no reader sees less than all
 * of one; sink_again() begins the next one.  Both return 1, or 0 after a message.
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
/*
 * The same of what a printer or a writer to the sink has failed with: the output
 * itself; else why, of a file, or NULL, with the status where why is "".
 */
void sink_report(struct sink *sink, const char *file, tel_status st,
    const char *why);

/* Flushes and closes, and reports a failure. */
void sink_close(struct sink *sink);

#endif
