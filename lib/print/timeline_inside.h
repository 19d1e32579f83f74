/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the timeline know of each other. */
#ifndef TEL_TIMELINE_INSIDE_H
#define TEL_TIMELINE_INSIDE_H

#include "print/timeline.h"

/* Bytes of the name that a type and the one that ends it share. */
#define TIMELINE_SHARED 96

/* Notes of a type, what it is on a timeline. */
struct timeline_plan {
	enum { PLAN_INSTANT, PLAN_START, PLAN_FINISH, PLAN_SPAN, PLAN_NONE } is;
	const char *name; /* of the type, or what a start and its end share */
	size_t length;
	int alone;       /* START: its string is name enough */
	int string;      /* a field that is (part of) the name, or -1 */
	int cpu, thread; /* fields of the context, or -1 */
	int duration;    /* SPAN: ticks */
	int method;      /* SPAN: a field with the name of a method, or -1 */
	int start;       /* FINISH: the first type that it ends, or -1 */
	int other;       /* START: the next type with the same end, or -1 */
	/* memory that it takes (1) or gives back (-1), or 0 */
	int memory;
	int key;          /* what says which memory, or -1: it is always told */
	int base;         /* from where, or -1 */
	int size, limit;  /* how much, or up to where, or -1 */
	char counter[40]; /* what it is called, "Seg bytes" */
	char shared[TIMELINE_SHARED];
};

/* The plan of a type, made when it is new; NULL: no memory. */
const struct timeline_plan *tel__timeline_plan(struct timeline *tl,
    const struct tel_schema *s, const struct tel_type *type);
void tel__timeline_plans_free(struct timeline *tl);

/* A track of its own, even when there is one of that name; NULL: no memory. */
struct timeline_track *tel__timeline_make_track(struct tel_printer *pr,
    struct timeline *tl, struct timeline_track *parent, enum timeline_use use,
    const char *name, size_t n);

/* The track of a log; NULL: no memory. */
struct timeline_track *tel__timeline_process(struct tel_printer *pr,
    struct timeline *tl, const struct tel_log *log);

/* The track of the thread, the processor or the kind of an event, or NULL. */
struct timeline_track *tel__timeline_context(struct tel_printer *pr,
    struct timeline *tl, const struct tel_event *ev,
    const struct timeline_plan *p);

/*
 * Nanoseconds since the first event, of a clock of the log of ev; ticks where
 * the rate is not known.
 */
uint64_t tel__timeline_time(struct timeline *tl, const struct tel_event *ev,
    uint64_t clock);

/*
 * The name of a range or an instant, n bytes, in buffer (TIMELINE_NAME bytes)
 * where it is made: that of its type, and the string or the label that tells
 * it from others.
 */
const char *tel__timeline_name(const struct tel_event *ev,
    const struct timeline_plan *p, char *buffer, size_t *n);

/* Events that begin a range, end it, or are one. */
void tel__timeline_start(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, const struct timeline_plan *p, uint64_t time);
void tel__timeline_finish(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, const struct timeline_plan *p, uint64_t time);
void tel__timeline_span(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, const struct timeline_plan *p, uint64_t time);

/* What a range of known length counted: its fields behind its length. */
void tel__timeline_count_fields(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, const struct timeline_plan *p,
    struct timeline_track *context, uint64_t time);

/*
 * Counts the bytes that live.  Nonzero when an event was no more than that,
 * and is not to be shown by itself.
 */
int tel__timeline_allocate(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, uint64_t time);

/* Counts what a type takes and another one gives back. */
void tel__timeline_take(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, const struct timeline_plan *p, uint64_t time);

/* Forgets all that lives. */
void tel__timeline_count_clear(struct timeline *tl);

#endif
