/* SPDX-License-Identifier: BSD-2-Clause */
/* Trace: what the operands hold, compiled to a program. */
#ifndef TELREPLAY_TRACE_H
#define TELREPLAY_TRACE_H

#include "telreplay/telreplay.h"

struct trace {
	struct facts *facts;
	struct program *program; /* NULL when it is not to be run */
	int fd;                  /* of the program, or -1 */
};

/*
 * Reads the operands, logs or a compiled program, and shows their anomalies.
 * Returns 1, or 0 after a message; the trace is closed in both cases by
 * trace_close().
 */
int trace_open(struct trace *trace, struct telreplay *t);
void trace_close(struct trace *trace);

/* Prints the number of selected events in the operands, for -c. */
void trace_count(struct telreplay *t);

#endif
