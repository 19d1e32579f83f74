/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gauges of a timeline: what lives, of a log, of a pool or a process in it, and
 * of memory that types take.  In a bucket of time a gauge is shown once.
 */
#ifndef TEL_PRINT_GAUGES_H
#define TEL_PRINT_GAUGES_H

#include "base/bucket.h"
#include "print/timeline.h"

/* No gauge: memory or room ran out, or the log names none. */
#define GAUGE_NONE UINT32_MAX

/* The numbers of the gauges of all of a log, and of what a type takes. */
uint32_t tel__gauge_log(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev);
uint32_t tel__gauge_type(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, const struct timeline_plan *p);
/* That of what it takes for a pool. */
uint32_t tel__gauge_type_pool(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, const struct timeline_plan *p, uint64_t pool);
/* That of the pool, or the process, of an operation. */
uint32_t tel__gauge_part(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, const struct timeline_plan *p,
    const tel_alloc *op);

/* A pool starts, or ends: returns its gauge, or NULL. */
void tel__gauge_start_pool(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, const struct timeline_plan *p,
    const tel_alloc *op);
struct timeline_gauge *tel__gauge_end_pool(struct timeline *tl,
    const struct tel_event *ev, const tel_alloc *op);

/* A gauge may have another value: it is shown, or will be with its bucket. */
void tel__gauge_show(struct tel_printer *pr, struct timeline *tl, size_t gauge,
    uint64_t time);
/* The first value of a gauge in a bucket of time. */
void tel__gauge_hold_first(struct timeline *tl, struct timeline_gauge *g);

/*
 * A gauge has a value, to be shown with others of its bucket: one that is not
 * below that before it, or not above it.
 */
static inline void
gauge_hold_higher(struct timeline *tl, struct timeline_gauge *g)
{
	if (g->shown++ == 0)
		tel__gauge_hold_first(tl, g);
	else if (g->bytes > g->high)
		g->high = g->bytes;
}

static inline void
gauge_hold_lower(struct timeline *tl, struct timeline_gauge *g)
{
	if (g->shown++ == 0)
		tel__gauge_hold_first(tl, g);
	else if (g->bytes < g->low)
		g->low = g->bytes;
}

static inline void
gauge_hold(struct timeline *tl, struct timeline_gauge *g)
{
	if (g->shown > 0 && g->bytes < g->low)
		gauge_hold_lower(tl, g);
	else
		gauge_hold_higher(tl, g);
}

/* More lives, as much as a counter can show. */
static inline void
gauge_add(struct timeline_gauge *g, uint64_t size)
{
	g->bytes += size < INT64_MAX - g->bytes ? size : INT64_MAX - g->bytes;
}

/* Less lives; what was there before the log began is not known. */
static inline void
gauge_subtract(struct timeline_gauge *g, uint64_t size)
{
	g->bytes -= size < g->bytes ? size : g->bytes;
}

/* The key of a pool, or of a process that has none. */
static inline uint64_t
gauge_owner(const tel_alloc *op)
{
	return op->pool ^ op->process * UINT64_C(0x9e3779b97f4a7c15);
}

/* Where a pool of a log is remembered. */
static inline struct timeline_recent *
gauge_recent(struct timeline *tl, uint64_t owner)
{
	/* pools are some words apart, or pages */
	return &tl->recent[(owner >> 4 ^ owner >> 12) & (TIMELINE_RECENT - 1)];
}

/* A value is one of its row. */
static inline void
strip_count(struct timeline_strip *s, uint64_t value, uint64_t times)
{
	if (s->track == NULL)
		return;
	unsigned row = tel__bit_length(value);
	row = row > 63 ? 63 : row;
	s->rows |= UINT64_C(1) << row;
	s->row[row] += times;
}

#endif
