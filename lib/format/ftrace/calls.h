/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of perf trace.  Of a call that it shows in two, as others came between, the
 * second one gets the arguments of the first.
 */
#ifndef TEL_FTRACE_CALLS_H
#define TEL_FTRACE_CALLS_H

#include "format/ftrace/ftrace.h"

/*
 * The most threads that are in a call, and the longest call that is joined, to a
 * line that is as long as others may be.
 */
#define FT_CALLS_MAX 16384u
#define FT_CALL_MAX 4096u

struct ft_calls {
	struct tel__table by_thread; /* places in calls */
	struct ft_begun {
		char *text; /* "NAME(ARGUMENTS)" */
		size_t n, room;
	} * calls;
	size_t ncalls, room;
	char line[FT_LINE_MAX + 1]; /* the one that was joined */
};

/*
 * Takes a line of perf trace apart.  1, or 0: it is something else, and l has
 * fields that are not its own.
 */
int tel__ft_traced(struct ft_line *l, const char *p, const char *end);
/* What c had is not freed. */
void tel__ft_calls_init(struct ft_calls *c);
/* Forgets all calls; frees what c holds. */
void tel__ft_calls_clear(struct ft_calls *c);
/*
 * Notes the first line of a call; takes the second one, from p to end, apart as if the
 * call were one line.  TEL_OK, TEL_ENOMEM.
 */
tel_status tel__ft_calls_join(struct ft_calls *c, struct ft_line *l,
    const unsigned char *p, const unsigned char *end);

#endif
