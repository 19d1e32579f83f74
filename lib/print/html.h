/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A page of HTML that shows a timeline: what its events become, and how that
 * is fitted into a page.
 */
#ifndef TEL_HTML_H
#define TEL_HTML_H

#include "print/collections.h"
#include "print/event_samples.h"
#include "print/holders.h"
#include "print/time_buckets.h"
#include "print/timeline.h"

/* The state of a track of the timeline. */
struct html_state {
	struct sample_copy *open; /* the innermost range */
	uint64_t started;         /* when the last range did */
	unsigned depth, excess;
	long values; /* the series of a counter, and 1; 0: not known */
	long *rows;  /* those of the rows of a heat strip, or NULL */
};

struct html_log {
	char *name, *format;
	char start[40]; /* the wall clock of the first event, or "" */
	uint64_t events, lost;
	struct tel_clock *clock; /* and the reading of its first event */
	uint64_t base;
};

/* The most links; past that, every second one. */
#define HTML_LINKS 16384u

/* From where something was sent to where it was received. */
struct html_link {
	uint64_t from, to; /* times */
	uint32_t source, target, type;
};

/* Places for messages that were sent, and such a one. */
#define HTML_SENT 65536u
struct html_sent {
	uint64_t flow, time;
	uint32_t track;
};

/* Where a series is in the page. */
struct html_place {
	size_t series, block, offset, count;
};

/* The series that the last event of a type was counted in, and 1; or 0. */
struct html_series {
	uint32_t track;
	long count, ranges;
};

/* The facts of a log of events. */
struct html_overview {
	/* of the longest range that has ended, and its type */
	uint64_t range_from, range_length;
	uint32_t range_type;
	/* the longest time without an event */
	uint64_t silence_from, silence_length;
	/* the log and the clock of the last event, and that silence by it */
	const struct tel_log *log;
	uint64_t clock, silence_ticks;
	uint64_t time; /* of the last event of this file */
	uint64_t last; /* of all files */
};

struct html {
	struct timeline *timeline;
	struct event_samples samples;
	struct time_buckets sums;
	struct html_state *states; /* by a track's id */
	size_t nstates;
	struct html_log *logs;
	size_t nlogs, logs_room;
	struct html_series *series; /* by a type's number */
	size_t nseries;
	/* of events in no exact block, by the index of a type of .schema */
	struct timeline_actions actions;
	const struct tel_schema *schema;
	struct html_link *links;
	size_t nlinks, links_room;
	uint64_t all_links, link_stride;
	struct holders holders;
	/* what holders count is shown on; the time of what they count now */
	struct timeline_track *held, *sizes, *lifetimes;
	uint64_t held_time, held_unknown;
	struct collections collections;
	struct html_overview overview;
	struct html_sent *sent;    /* by a hash of .flow */
	const struct tel_log *log; /* of the last event */
	unsigned number;
	size_t at; /* its place in .logs */
	uint64_t events, last;

	/* of the event that is being taken */
	uint32_t type;
	int recorded;
	const struct timeline_track *ended; /* whose range it ended */
	int no_memory;
};

/* A page as it is being put together. */
struct page_fit {
	struct html *html;
	struct tel__buffer *sums; /* gzip; nsums of them */
	size_t nsums, sums_room;
	struct html_place *places;
	size_t nplaces, places_room;
	uint64_t sums_size;
	unsigned level; /* of the sums: 2^level buckets became one */
	int gzip_level;
	struct sample_block longest, rest;
	struct tel__buffer links;   /* gzip; empty: there are none */
	struct tel__buffer holders; /* the same */
	size_t all, use;   /* exact blocks that there are, and that are used */
	size_t name_bytes; /* names are cut to them */
	unsigned live;
	uint64_t most;             /* bytes of the page */
	uint64_t damaged, skipped; /* places in the logs, and bytes there */
	char title[256];
};

/*
 * Puts a page together that is not larger than it may be; gz: its head.  1; 0:
 * out of memory; -1: it does not fit.
 */
int tel__html_draft(struct page_fit *d, struct tel__buffer *gz);
/* Writes it. */
tel_status tel__html_write(struct page_fit *d, struct tel_output *out,
    const struct tel__buffer *gz);
void tel__html_draft_free(struct page_fit *d);

/* What the timeline of a page calls. */
extern const struct timeline_ops tel__html_ops;
/* Counts an event of type h->type on a track. */
void tel__html_count(struct html *h, const struct timeline_track *t,
    uint64_t time);
/* Counts the events that came in a bucket of time by their types. */
void tel__html_settle(struct tel_printer *pr);
/*
 * Ranges that are open end with the log; how long they are is not known.  Those
 * that have lost their ends are as long as nothing.
 */
void tel__html_close_ranges(struct html *h);

/* Puts the head of a page into b, as JSON. */
void tel__html_head(const struct page_fit *d, struct tel__buffer *b);

/* Takes the clocks of events of a log, for the longest time without any. */
void tel__html_silence(struct html *h, const struct tel_log *log,
    const uint64_t *clocks, size_t n);
/* Puts the facts into the head.  timed: 0 if times are numbers of events. */
void tel__html_overview(const struct html *h, int timed, struct tel__buffer *b);

/* The exact block at place i of those that are used, spread evenly. */
static inline const struct sample_block *
html_used_block(const struct page_fit *d, size_t i)
{
	const struct event_samples *x = &d->html->samples;
	size_t at = i * d->all / d->use;

	return at < x->nblocks ? &x->blocks[at] : &d->rest;
}

#endif
