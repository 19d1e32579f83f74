/* SPDX-License-Identifier: BSD-2-Clause */
/* Show: what was counted, shown at a moment, in an output format. */
#ifndef TELSTAT_SHOW_H
#define TELSTAT_SHOW_H

#include "common/report/report.h"
#include "telstat.h"

/* When a picture of the statistics is taken, and of how long a time. */
struct moment {
	int final;     /* not a snapshot, but all there is */
	int known;     /* .time is: */
	uint64_t time; /* since the first event, in ns or ticks */
	int ticks;
	double ns; /* that rates are over; 0 when not known */
};

/* A total, by its number in tel_total. */
#define TOTALS (TEL_TOTAL_INHERITED + 1)
struct total {
	const char *name;       /* of its data */
	const char *family;     /* in OpenMetrics; NULL: not there */
	int gauge;              /* or it is a counter */
	const char *help;       /* for that */
	const char *text;       /* NULL: not of the line of text, */
	int always;             /* which has it even when it is 0 */
	const char *one, *more; /* of damage; NULL: it is none */
};
extern const struct total totals[TOTALS];

/* Where statistics are shown, and how. */
struct show {
	const struct telstat *options;
	tel_stats *stats;
	tel_output *out;
	struct moment at;
	struct curves *curves; /* of -i with pictures, or NULL */
	struct report report;
};

void show_open(struct show *show, const struct telstat *t,
    const struct sink *sink);
/* Shows the statistics as they are.  TEL_OK, or what has failed. */
tel_status show_moment(struct show *show);
void show_close(struct show *show);

/* A total; 0: it is not known. */
tel_int128 show_total(const struct show *show, tel_total which);

/* Nonzero when what the logs are is to be shown. */
int show_overview(const struct show *show);

/* What the logs are, and the totals; apart: after a blank line of text. */
void overview_put(struct report *r, const struct show *show);
void overview_totals(struct report *r, const struct show *show, int apart);

/* Nonzero when the blocks of the logs were followed. */
int answers_some(const struct show *show);
/* Nonzero when blocks are estimated, by samples of allocations. */
int answers_samples(const tel_stats *stats);
/* Nonzero when there are pools to show. */
int answers_pools(const struct show *show);
/*
 * The innermost frames of a stack, as far as a line has room from a column on.
 */
const char *answers_frames(struct report *r, const char *frames,
    unsigned column);
/* The same of garbage collection and allocation in a runtime. */
int runtime_some(const struct show *show);
/*
 * How long pauses, or collections, took; count 0: there were none.  The unit is
 * "ns", or "ticks"; NULL where it differs between logs, and times say nothing.
 */
struct durations {
	uint64_t count, total, p50, p99, longest;
	const char *unit;
};
/* Those of a runtime.  1, or 0 when out of memory. */
int runtime_durations(const struct show *show, struct durations *pauses,
    struct durations *collections);
void runtime_put(struct report *r, const struct show *show);
/* What the logs allocated. */
void answers_put(struct report *r, const struct show *show);

/* The statistics as pictures, with their curves over time. */
void pictures_put(struct report *r, const struct show *show);

/* Samples of stacks, by type and function. */
void samples_put(struct report *r, tel_heap *heap);

/* The stacks that allocated, or if none did, those of samples. */
void stacks_put(struct report *r, const struct show *show);
/* Finds out which of these n sets of options show, and in which order. */
void stacks_choose(struct telstat *const *sides, int n);
tel_heap *stacks_heap(const struct telstat *t);
/* Reports that a log, NULL for all, has none: zeros look like an answer. */
void stacks_check(const struct telstat *t, const char *name);
/* Lines of text of frames, the innermost first. */
void stacks_frames(struct report *r, const char *frames);
/* Adds to a sum of weights, which may be near 2^64: it saturates. */
static inline void
show_add(uint64_t *sum, uint64_t weight)
{
	if (__builtin_add_overflow(*sum, weight, sum))
		*sum = UINT64_MAX;
}
/* What a weight is called: "leaked bytes". */
const char *stacks_weight(const struct telstat *t);

/* How the stacks of two logs differ. */
void changes_put(struct report *r, const struct show *show, tel_heap *before,
    tel_heap *after);

/* Everything as OpenMetrics 1.0, and in the text format of Prometheus. */
void openmetrics_put(const struct show *show);
void prometheus_put(const struct show *show);

#endif
