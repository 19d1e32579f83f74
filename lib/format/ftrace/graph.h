/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calls of the kernel's function_graph tracer.  A line that ends a call has
 * its duration alone: what was called, from where, and how much of the time was
 * spent in calls of its own follow from the lines before it of the same thread.
 */
#ifndef TEL_FTRACE_GRAPH_H
#define TEL_FTRACE_GRAPH_H

#include "format/ftrace/ftrace.h"

struct ft_graph {
	struct tel__table by_thread; /* places + 1 in threads */
	struct ft_graph_thread *threads;
	size_t nthreads, room;
	struct tel__table by_cpu; /* places + 1 in cpus */
	struct ft_graph_cpu *cpus;
	size_t ncpus, cpu_room;
};

void tel__ft_graph_init(struct ft_graph *g);
/* Forgets all calls, threads and times; frees what g holds. */
void tel__ft_graph_clear(struct ft_graph *g);
/* Forgets the calls that have not ended, as events were lost. */
void tel__ft_graph_lose(struct ft_graph *g);
/*
 * Adds the thread to a line that lacks it, or notes it, if the line is that of a
 * switch.  TEL_OK, TEL_ENOMEM.
 */
tel_status tel__ft_graph_thread(struct ft_graph *g, struct ft_line *l);
/*
 * Completes the line of a graph: its clock, if it has no time, function and own
 * time.  seen: the frames of the reader.  TEL_OK and the number of its stack;
 * TEL_ENOMEM.
 */
tel_status tel__ft_graph_take(struct ft_graph *g, struct tel_reader *r,
    struct tel__index *seen, struct ft_line *l, uint64_t *stack);

#endif
