/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages: one line each on standard error, "telcat: FILE: text", in one
 * write, with every byte that is not printable ASCII escaped.  The exit
 * status is kept here too, because most messages raise it.
 */
#ifndef COMMON_MESSAGE_H
#define COMMON_MESSAGE_H

#include <stdint.h>

#include "tel/base.h"

/* How a tool ends: the exit status, the same in every tool. */
enum status {
	STATUS_OK = 0,     /* success: all was read and written */
	STATUS_FAILED = 1, /* something failed: the output is incomplete */
	STATUS_USAGE = 2,  /* usage error: nothing was read */
	STATUS_DAMAGED = 3 /* finished, but damaged input was skipped */
};

/* The worse of two: success, damaged, failed, usage, in this order. */
static inline enum status
status_worse(enum status a, enum status b)
{
	static const unsigned char badness[] = { 0, 2, 3, 1 };

	return badness[a] >= badness[b] ? a : b;
}

/* Sets the program's name, which begins every message. */
void message_begin(const char *program);
const char *message_program(void);

/*
 * Prints a message.  file: its subject, NULL for nothing in particular,
 * "-" for standard input.
 */
__attribute__((format(printf, 2, 3))) void message(const char *file,
    const char *format, ...);

/* As message(), about a place in the file. */
void message_at(const char *file, uint64_t offset, const char *text);

/* As message(), and raises the exit status.  Returns 0, as what has failed does. */
__attribute__((format(printf, 3, 4))) int message_fail(enum status status,
    const char *file, const char *format, ...);

/* The same for a failure that errno has, and for no memory.  Return 0. */
int message_errno(const char *file);
int message_no_memory(void);
/*
 * The same for an argument that the library refused: option gave it, or ""; text
 * is the part that is wrong, or NULL, from a column on, or 0.  Returns 0.
 */
int message_refused(tel_status st, const char *option, const char *text,
    unsigned column, const char *why);

/*
 * Shows a line that the next message or message_transient() takes away;
 * NULL takes it away and shows none.
 */
void message_transient(const char *line);

/* The exit status so far, and the way to make it worse. */
enum status message_status(void);
void message_raise(enum status status);

#endif
