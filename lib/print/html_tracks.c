/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a page of HTML shows on the tracks of its timeline: counts, ranges,
 * values of counters, and links from where something was sent to where it was
 * received.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/bucket.h"
#include "print/html.h"

/* Ranges within each other on one track; deeper ones are instants. */
#define OPEN_MAX 64u

static struct html_state *
state_of(struct html *h, const struct timeline_track *t)
{
	if (!TEL__RESERVE_ZEROED(h->states, h->nstates, t->id + 1u)) {
		h->no_memory = 1;
		return NULL;
	}
	return &h->states[t->id];
}

/* The series of a type on a track, NULL: no memory. */
static struct html_series *
series_of(struct html *h, uint32_t type, uint32_t track)
{
	if (!TEL__RESERVE_ZEROED(h->series, h->nseries, type + 1u)) {
		h->no_memory = 1;
		return NULL;
	}
	struct html_series *s = &h->series[type];
	if (s->track != track) {
		s->track = track;
		s->count = s->ranges = 0;
	}
	return s;
}

/* The number of a series. */
static long
find_series(struct html *h, uint32_t track, int32_t type,
    enum buckets_kind kind)
{
	const struct bucket_key key = { track, type, -1, kind };

	return tel__buckets_series(&h->sums, &key, TIME_BUCKETS_SERIES);
}

/*
 * The number of the series of a type on a track; where there are too many, on
 * that of its log.
 */
static long
find_count(struct html *h, uint32_t track, uint32_t type)
{
	struct bucket_key key = { track, (int32_t)type, -1,
		TIME_BUCKETS_COUNT };
	const struct timeline_track *t = h->timeline->tracks[track - 1];
	long n = tel__buckets_series(&h->sums, &key, TIME_BUCKETS_SERIES);

	while (t->parent != NULL)
		t = t->parent;
	key.track = t->id;
	return n >= 0 ? n :
	                tel__buckets_series(&h->sums, &key,
	                    (size_t)2 * TIME_BUCKETS_SERIES);
}

void
tel__html_count(struct html *h, const struct timeline_track *t, uint64_t time)
{
	struct html_series *s = series_of(h, h->type, t->id);

	if (s == NULL)
		return;
	if (s->count == 0)
		s->count = find_count(h, t->id, h->type) + 1;
	tel__buckets_count(&h->sums, s->count - 1, time, 1);
}

static void
count_range(struct html *h, uint32_t track, uint32_t type, uint64_t from,
    uint64_t to)
{
	struct html_series *s = series_of(h, type, track);

	if (to - from > h->overview.range_length) {
		h->overview.range_from = from;
		h->overview.range_length = to - from;
		h->overview.range_type = type;
	}
	if (s == NULL)
		return;
	if (s->ranges == 0)
		s->ranges =
		    find_series(h, track, (int32_t)type, TIME_BUCKETS_RANGES) +
		    1;
	if (s->ranges > 0)
		tel__buckets_range(&h->sums, s->ranges - 1, from, to);
	else
		tel__buckets_count(&h->sums, find_count(h, track, type), from,
		    1);
}

/* Every second link is left out when there are too many. */
static void
thin_links(struct html *h)
{
	size_t i;

	for (i = 0; 2 * i < h->nlinks; i++)
		h->links[i] = h->links[2 * i];
	h->nlinks = i;
	h->link_stride *= 2;
}

static void
add_link(struct html *h, const struct html_sent *sent,
    const struct timeline_track *t, uint64_t time)
{
	if (h->link_stride == 0)
		h->link_stride = 1;
	if (h->all_links++ % h->link_stride != 0)
		return;
	if (h->nlinks >= HTML_LINKS)
		thin_links(h);
	if (!TEL__RESERVE(h->links, h->links_room, h->nlinks + 1)) {
		h->no_memory = 1;
		return;
	}
	h->links[h->nlinks++] =
	    (struct html_link){ sent->time, time, sent->track, t->id, h->type };
}

/*
 * The event sends or receives a message.  Of messages on their way, few share
 * a place; one that was sent later has it.
 */
static void
track_follow(struct html *h, const struct timeline_track *t, uint64_t time)
{
	const uint64_t flow = h->timeline->flow;

	if (h->sent == NULL &&
	    (h->sent = calloc(HTML_SENT, sizeof(*h->sent))) == NULL) {
		h->no_memory = 1;
		return;
	}
	struct html_sent *sent = &h->sent[tel__hash(flow, 0) % HTML_SENT];
	if (!h->timeline->receives)
		*sent = (struct html_sent){ flow, time, t->id };
	else if (sent->flow == flow)
		add_link(h, sent, t, time);
}

static void
track_instant(struct tel_printer *pr, const struct timeline_track *t,
    uint64_t time, const char *name, size_t n, const struct tel_event *ev)
{
	struct html *h = pr->state;

	/* the name of its type goes without saying */
	if (n == ev->type->name_length && memcmp(name, ev->type->name, n) == 0)
		name = NULL;
	h->recorded = 1;
	if (h->timeline->flow != 0)
		track_follow(h, t, time);
	tel__html_count(h, t, time);
	tel__samples_put(&h->samples, ev, h->type, t->id, time, 0, name, n);
}

static void
track_begin(struct tel_printer *pr, const struct timeline_track *t,
    uint64_t time, const char *name, size_t n, const struct tel_event *ev)
{
	struct html *h = pr->state;
	struct html_state *s = state_of(h, t);
	struct sample_copy *c;

	if (s == NULL)
		return;
	if (s->depth >= OPEN_MAX) {
		s->excess++;
		return;
	}
	c = tel__samples_copy(&h->samples, ev, h->type, t->id, time, name, n);
	if (c == NULL)
		return;
	h->recorded = 1;
	c->outer = s->open;
	s->open = c;
	s->started = time;
	s->depth++;
}

/* Ends the innermost range of a track. */
static void
close_range(struct html *h, struct html_state *s, uint64_t time)
{
	struct sample_copy *c = s->open;

	s->open = c->outer;
	s->depth--;
	if (time < c->from)
		time = c->from;
	if (time > h->last)
		h->last = time;
	count_range(h, c->track, c->type, c->from, time);
	tel__samples_put_copy(&h->samples, c, time);
}

static void
track_end(struct tel_printer *pr, const struct timeline_track *t, uint64_t time)
{
	struct html *h = pr->state;
	struct html_state *s = state_of(h, t);

	h->ended = t;
	if (s == NULL)
		return;
	if (s->excess > 0)
		s->excess--;
	else if (s->open != NULL)
		close_range(h, s, time);
}

static void
track_span(struct tel_printer *pr, const struct timeline_track *t,
    uint64_t time, uint64_t length, const char *name, size_t n,
    const struct tel_event *ev, int method)
{
	struct html *h = pr->state;

	(void)method;
	if (length > UINT64_MAX / 4 - time)
		length = 0;
	if (time + length > h->last)
		h->last = time + length;
	/*
	 * A period of a processor is shown on the track of its thread, too: as
	 * sums without a type, so that no event is counted twice.
	 */
	if (h->recorded) {
		tel__buckets_range(&h->sums,
		    find_series(h, t->id, -1, TIME_BUCKETS_RANGES), time,
		    time + length);
		return;
	}
	h->recorded = 1;
	count_range(h, t->id, h->type, time, time + length);
	tel__samples_put(&h->samples, ev, h->type, t->id, time, length + 1,
	    name, n);
}

static void
track_counter(struct tel_printer *pr, const struct timeline_track *t,
    uint64_t time, int64_t value)
{
	struct html *h = pr->state;
	struct html_state *s = state_of(h, t);

	if (s == NULL)
		return;
	if (s->values == 0)
		s->values = find_series(h, t->id, -1,
		                t->use == TIMELINE_RATE ? TIME_BUCKETS_RATE :
		                                          TIME_BUCKETS_VALUES) +
		    1;
	tel__buckets_value(&h->sums, s->values - 1, time, value);
}

static void
track_values(struct tel_printer *pr, const struct timeline_track *t,
    uint64_t time, uint64_t n, int64_t low, int64_t high, int64_t last)
{
	struct html *h = pr->state;
	struct html_state *s = state_of(h, t);

	if (s == NULL)
		return;
	if (s->values == 0)
		s->values = find_series(h, t->id, -1, TIME_BUCKETS_VALUES) + 1;
	tel__buckets_values(&h->sums, s->values - 1, time, n, low, high, last);
}

void
tel__html_settle(struct tel_printer *pr)
{
	struct html *h = pr->state;
	struct timeline_actions *to = &h->actions;

	while (to->nrecent > 0) {
		struct timeline_action *a = &to->all[to->recent[--to->nrecent]];

		h->samples.types[a->type].count += a->news;
		tel__buckets_count(&h->sums, a->series - 1, h->timeline->bucket,
		    a->news);
		a->news = 0;
	}
	if (h->timeline != NULL)
		tel__timeline_settle(pr, h->timeline);
}

/* Values of a power of two are a row; those below 1 are the lowest. */
static void
track_heat(struct tel_printer *pr, const struct timeline_track *t,
    uint64_t time, int64_t value, uint64_t times)
{
	struct html *h = pr->state;
	struct html_state *s = state_of(h, t);
	struct bucket_key key = { t->id, -1, 0, TIME_BUCKETS_COUNT };

	if (s == NULL)
		return;
	if (value > 0)
		key.row = (int)tel__bit_length((uint64_t)value);
	if (s->rows == NULL &&
	    (s->rows = calloc(64, sizeof(*s->rows))) == NULL) {
		h->no_memory = 1;
		return;
	}
	if (s->rows[key.row] == 0)
		s->rows[key.row] =
		    tel__buckets_series(&h->sums, &key, TIME_BUCKETS_SERIES) +
		    1;
	tel__buckets_count(&h->sums, s->rows[key.row] - 1, time, times);
}

const struct timeline_ops tel__html_ops = { NULL, track_begin, track_end,
	track_span, track_instant, track_counter, track_heat, track_values,
	tel__html_settle, 0 };

/*
 * Nonzero when open ranges of a track's lanes have lost their ends, as folded.c
 * has it: without threads nothing calls itself, but another one started since.
 */
static int
have_lost_ends(struct html *h, const struct timeline_track *t)
{
	const struct timeline_track *l;
	const struct html_state *s;
	const struct sample_copy *c;
	uint64_t last = 0;

	for (l = t->parent; l != NULL; l = l->parent)
		if (l->use == TIMELINE_THREAD)
			return 0;
	for (l = t; l != NULL; l = l->lane)
		if ((s = state_of(h, l)) != NULL && s->started > last)
			last = s->started;
	for (l = t; l != NULL; l = l->lane)
		for (s = state_of(h, l), c = s == NULL ? NULL : s->open;
		     c != NULL; c = c->outer)
			if (c->from < last)
				return 1;
	return 0;
}

void
tel__html_close_ranges(struct html *h)
{
	const struct html_overview known = h->overview;
	const struct timeline *tl = h->timeline;
	struct html_state *s;

	for (size_t i = 0; tl != NULL && i < tl->ntracks; i++) {
		if (tl->tracks[i]->use != TIMELINE_RANGES ||
		    !have_lost_ends(h, tl->tracks[i]))
			continue;
		for (const struct timeline_track *l = tl->tracks[i]; l != NULL;
		     l = l->lane)
			while ((s = state_of(h, l)) != NULL && s->open != NULL)
				close_range(h, s, s->open->from);
	}
	for (size_t i = 0; i < h->nstates; i++) {
		while (h->states[i].open != NULL)
			close_range(h, &h->states[i], h->timeline->last);
		h->states[i].excess = 0;
	}
	h->overview = known;
}
