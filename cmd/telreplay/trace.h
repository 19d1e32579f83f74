/* SPDX-License-Identifier: BSD-2-Clause */
/* Trace: what the operands hold, compiled to a program. */
#ifndef TELREPLAY_TRACE_H
#define TELREPLAY_TRACE_H

#include "telreplay.h"

struct trace {
	tel_facts *facts;
	tel_program *program; /* NULL when it is not to be run */
	int fd;               /* of the program, or -1 */
};

/*
 * Reads the operands: logs, or a program that was kept.  Tells what is odd.
 * Returns 1, or 0 after a message; the trace is closed in both cases by
 * trace_close().
 */
int trace_open(struct trace *trace, struct telreplay *t);
void trace_close(struct trace *trace);

/* The parts of it. */

/* How much of a file says whether it is a program. */
#define TRACE_HEAD 16

/*
 * Takes the operand if it is a program.  head: has room for TRACE_HEAD bytes,
 * which may be given to the readers again.
 * Returns 1 when it was one, 0 when it is none, -1 after a message.
 */
int trace_try(struct trace *trace, struct telreplay *t, unsigned char *head);
/* Copies the facts.  Returns 1, or 0 after a message. */
int trace_facts(struct trace *trace, const tel_facts *facts);
/* A file without a name, for a program that nobody keeps; -1 after a message. */
int trace_nameless(void);
/* Opens the program in .fd.  Returns 1, or 0 after a message about name. */
int trace_program(struct trace *trace, const char *name);

#endif
