/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A page of HTML that shows a timeline: sums over buckets of time of all
 * events, and as many exact ones as fit into its size.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "io/deflate.h"
#include "print/exact.h"
#include "print/page.h"
#include "print/pyramid.h"
#include "print/timeline.h"
#include "render/number.h"

/* Ranges within each other on one track; deeper ones are instants. */
#define OPEN_MAX 64u
/* The most logs that are listed. */
#define LOGS_MAX 256u
/* Bytes of the series of a block. */
#define SERIES_BYTES ((size_t)256 << 10)
/* What sums may take of the room, in percent, and the longest ranges. */
#define SUMS_SHARE 40
#define LONGEST_SHARE 10
/* The page's bytes for each track. */
#define TRACK_BYTES 512

/* What is known of a track of the timeline. */
struct state {
	struct exact_copy *open; /* the innermost range */
	unsigned depth, excess;
};

struct log {
	char *name, *format;
	char start[40]; /* the wall clock of the first event, or "" */
	uint64_t events, lost;
};

/* A block of the page that is being made. */
struct part {
	struct tel__buffer bytes;
};

/* Where a series is in the page. */
struct place {
	size_t series, block, offset, count;
};

struct html {
	struct timeline *timeline;
	struct exact exact;
	struct pyramid sums;
	struct state *states; /* by a track's id */
	size_t nstates;
	struct log *logs;
	size_t nlogs, logs_room;
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
struct draft {
	struct html *html;
	struct tel__buffer *sums; /* gzip; nsums of them */
	size_t nsums, sums_room;
	struct place *places;
	size_t nplaces, places_room;
	uint64_t sums_size;
	unsigned level;
	struct exact_block longest, rest;
	size_t all, use;   /* exact blocks that there are, and that are used */
	size_t name_bytes; /* names are cut to them */
	unsigned live;
	uint64_t most; /* bytes of the page */
	char title[256];
};

/* --------------------------------------------------------------- events */

static struct state *
state_of(struct html *h, const struct timeline_track *t)
{
	if (!TEL__RESERVE_ZEROED(h->states, h->nstates, t->id + 1u)) {
		h->no_memory = 1;
		return NULL;
	}
	return &h->states[t->id];
}

static void
count(struct html *h, const struct timeline_track *t, uint64_t time)
{
	const struct pyramid_key key = { t->id, (int32_t)h->type, -1,
		PYRAMID_COUNT };

	tel__pyramid_count(&h->sums, tel__pyramid_series(&h->sums, &key), time);
}

static void
count_range(struct html *h, uint32_t track, int32_t type, uint64_t from,
    uint64_t to)
{
	const struct pyramid_key key = { track, type, -1, PYRAMID_RANGES };

	tel__pyramid_range(&h->sums, tel__pyramid_series(&h->sums, &key), from,
	    to);
}

static void
track(struct tel_printer *pr, const struct timeline_track *t)
{
	(void)pr;
	(void)t;
}

static void
instant(struct tel_printer *pr, const struct timeline_track *t, uint64_t time,
    const char *name, size_t n, const struct tel_event *ev)
{
	struct html *h = pr->state;

	/* the name of its type goes without saying */
	if (n == ev->type->name_length && memcmp(name, ev->type->name, n) == 0)
		name = NULL;
	h->recorded = 1;
	count(h, t, time);
	tel__exact_put(&h->exact, ev, h->type, t->id, time, 0, name, n);
}

static void
begin(struct tel_printer *pr, const struct timeline_track *t, uint64_t time,
    const char *name, size_t n, const struct tel_event *ev)
{
	struct html *h = pr->state;
	struct state *s = state_of(h, t);
	struct exact_copy *c;

	if (s == NULL)
		return;
	if (s->depth >= OPEN_MAX) {
		s->excess++;
		return;
	}
	c = tel__exact_copy(&h->exact, ev, h->type, t->id, time, name, n);
	if (c == NULL)
		return;
	h->recorded = 1;
	c->outer = s->open;
	s->open = c;
	s->depth++;
}

/* Ends the innermost range of a track. */
static void
close_range(struct html *h, struct state *s, uint64_t time)
{
	struct exact_copy *c = s->open;

	s->open = c->outer;
	s->depth--;
	if (time < c->from)
		time = c->from;
	if (time > h->last)
		h->last = time;
	count_range(h, c->track, (int32_t)c->type, c->from, time);
	tel__exact_put_copy(&h->exact, c, time);
}

static void
end(struct tel_printer *pr, const struct timeline_track *t, uint64_t time)
{
	struct html *h = pr->state;
	struct state *s = state_of(h, t);

	h->ended = t;
	if (s == NULL)
		return;
	if (s->excess > 0)
		s->excess--;
	else if (s->open != NULL)
		close_range(h, s, time);
}

static void
span(struct tel_printer *pr, const struct timeline_track *t, uint64_t time,
    uint64_t length, const char *name, size_t n, const struct tel_event *ev,
    int method)
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
		count_range(h, t->id, -1, time, time + length);
		return;
	}
	h->recorded = 1;
	count_range(h, t->id, (int32_t)h->type, time, time + length);
	tel__exact_put(&h->exact, ev, h->type, t->id, time, length + 1, name,
	    n);
}

static void
counter(struct tel_printer *pr, const struct timeline_track *t, uint64_t time,
    int64_t value)
{
	struct html *h = pr->state;
	const struct pyramid_key key = { t->id, -1, -1, PYRAMID_VALUES };

	tel__pyramid_value(&h->sums, tel__pyramid_series(&h->sums, &key), time,
	    value);
}

static const struct timeline_ops ops = { track, begin, end, span, instant,
	counter };

/* Ranges that are open end with the log. */
static void
close_ranges(struct html *h)
{
	size_t i;

	for (i = 0; i < h->nstates; i++) {
		while (h->states[i].open != NULL)
			close_range(h, &h->states[i], h->timeline->last);
		h->states[i].excess = 0;
	}
}

/* ----------------------------------------------------------------- logs */

/* The log of an event that is not that of the event before. */
static tel_status
set_log(struct html *h, const struct tel_event *ev)
{
	const struct tel_log *log = ev->log;
	unsigned char *end;
	struct log *l;
	int64_t ns;
	size_t i;

	h->log = log;
	h->number = log->number;
	for (i = 0; i < h->nlogs; i++)
		if (strcmp(h->logs[i].name, log->name) == 0)
			break;
	h->at = i < LOGS_MAX ? i : LOGS_MAX - 1;
	if (h->at < h->nlogs)
		return TEL_OK;
	if (!TEL__RESERVE(h->logs, h->logs_room, i + 1))
		return TEL_ENOMEM;
	l = &h->logs[i];
	memset(l, 0, sizeof(*l));
	l->name = strdup(log->name);
	l->format = strdup(log->format);
	h->nlogs++;
	if (tel__clock_wall(log->clock, ev->clock, &ns)) {
		end = tel__put_iso((unsigned char *)l->start, ns);
		*end = '\0';
	}
	return l->name == NULL || l->format == NULL ? TEL_ENOMEM : TEL_OK;
}

static tel_status
begin_log(struct tel_printer *pr, const struct tel_event *ev, int same)
{
	struct html *h = pr->state;
	const char *why;

	(void)ev;
	if (h == NULL) {
		h = calloc(1, sizeof(*h));
		if (h == NULL)
			return TEL_ENOMEM;
		if (!tel__gzip_load(&why)) {
			free(h);
			return tel__render_fail(pr,
			    "libarchive is needed to compress a page: %s", why);
		}
		pr->state = h;
		tel__exact_init(&h->exact, pr->max_size / 10 * 9);
		tel__pyramid_init(&h->sums);
		h->timeline = tel__timeline_new(&ops);
		if (h->timeline == NULL)
			return TEL_ENOMEM;
		if (pr->max_size / TRACK_BYTES < h->timeline->most)
			h->timeline->most =
			    (size_t)(pr->max_size / TRACK_BYTES);
	} else if (!same) {
		close_ranges(h);
		tel__timeline_begin(h->timeline);
		tel__exact_forget(&h->exact);
		h->log = NULL;
	}
	return TEL_OK;
}

/* An event of which the timeline shows nothing by itself. */
static void
put_other(struct tel_printer *pr, struct html *h, const struct tel_event *ev)
{
	const struct timeline_track *t = h->ended;
	const struct timeline_plan *p;

	if (t == NULL) {
		p = tel__timeline_plan(h->timeline, ev->type->schema, ev->type);
		t = p == NULL ? NULL :
		                tel__timeline_context(pr, h->timeline, ev, p);
	}
	if (t == NULL)
		h->no_memory = 1;
	else
		instant(pr, t, h->timeline->now, ev->type->name,
		    ev->type->name_length, ev);
}

static tel_status
event(struct tel_printer *pr, const struct tel_event *ev)
{
	struct html *h = pr->state;
	tel_status st;

	if (ev->log != h->log || ev->log->number != h->number) {
		st = set_log(h, ev);
		if (st != TEL_OK)
			return st;
	}
	h->type = tel__exact_type(&h->exact, ev->type);
	if (h->exact.no_memory)
		return TEL_ENOMEM;
	h->exact.types[h->type].count++;
	h->logs[h->at].events++;
	h->logs[h->at].lost = ev->log->lost;
	h->events++;
	h->recorded = 0;
	h->ended = NULL;
	st = tel__timeline_event(pr, h->timeline, ev);
	if (st == TEL_OK && !h->recorded)
		put_other(pr, h, ev);
	if (h->timeline->now > h->last)
		h->last = h->timeline->now;
	if (st == TEL_OK &&
	    (h->no_memory || h->exact.no_memory || h->sums.no_memory))
		st = TEL_ENOMEM;
	return st;
}

/* ----------------------------------------------------------------- sums */

/* Forgets the blocks with sums. */
static void
clear_sums(struct draft *d)
{
	size_t i;

	for (i = 0; i < d->nsums; i++)
		tel__buffer_clear(&d->sums[i]);
	d->nsums = d->nplaces = 0;
	d->sums_size = 0;
}

/* Makes a block of bytes, which are emptied. */
static int
add_sums(struct draft *d, struct tel__buffer *bytes)
{
	int good;

	if (!TEL__RESERVE_ZEROED(d->sums, d->sums_room, d->nsums + 1))
		return 0;
	memset(&d->sums[d->nsums], 0, sizeof(d->sums[0]));
	good = !bytes->failed &&
	    tel__gzip_put(&d->sums[d->nsums], bytes->bytes, bytes->used,
	        PAGE_LEVEL);
	d->sums_size += tel__page_block_size(d->nsums, d->sums[d->nsums].used);
	d->nsums++;
	bytes->used = 0;
	return good;
}

/* Makes blocks of all series, 2^level buckets being one. */
static int
make_sums(struct draft *d)
{
	const struct pyramid *p = &d->html->sums;
	struct tel__buffer bytes = { 0 };
	struct place *place;
	size_t i;
	int good = 1;

	clear_sums(d);
	for (i = 0; i < p->nseries && good; i++) {
		good = TEL__RESERVE(d->places, d->places_room, d->nplaces + 1);
		if (!good)
			break;
		place = &d->places[d->nplaces++];
		place->series = i;
		place->block = d->nsums;
		place->offset = bytes.used;
		place->count = tel__pyramid_put(p, i, d->level, &bytes);
		if (bytes.used >= SERIES_BYTES)
			good = add_sums(d, &bytes);
	}
	if (good && bytes.used > 0)
		good = add_sums(d, &bytes);
	tel__buffer_clear(&bytes);
	return good;
}

/* ----------------------------------------------------------------- head */

/* Bytes of a name that are shown, a whole number of characters. */
static size_t
cut(const char *s, size_t n, size_t most)
{
	if (n <= most)
		return n;
	for (n = most; n > 0 && ((unsigned char)s[n] & 0xc0) == 0x80; n--)
		;
	return n;
}

static void
put_name(const struct draft *d, struct tel__buffer *b, const char *key,
    const char *s)
{
	tel__json_text(b, key, s, cut(s, strlen(s), d->name_bytes));
}

static void
put_logs(const struct draft *d, struct tel__buffer *b)
{
	const struct html *h = d->html;
	size_t i;

	tel__json_key(b, "logs");
	tel__json_put(b, "[");
	for (i = 0; i < h->nlogs; i++) {
		const struct log *l = &h->logs[i];

		tel__json_put(b, i == 0 ? "{" : ",{");
		put_name(d, b, "name", l->name);
		put_name(d, b, "format", l->format);
		tel__json_key(b, "start");
		if (l->start[0] == '\0')
			tel__json_put(b, "null");
		else
			tel__json_string(b, l->start, strlen(l->start));
		tel__json_pair(b, "events", l->events);
		tel__json_pair(b, "lost", l->lost);
		tel__json_put(b, "}");
	}
	tel__json_put(b, "]");
}

static const char *
datatype(const struct tel_field *f)
{
	switch (f->datatype) {
	case TEL_SIGNED: return "int";
	case TEL_UNSIGNED: return "uint";
	case TEL_ADDRESS:
	case TEL_POINTER:
	case TEL_SET: return "hex";
	case TEL_BOOLEAN: return "bool";
	case TEL_DOUBLE: return "double";
	case TEL_STRING: break;
	}
	return "string";
}

static void
put_types(const struct draft *d, struct tel__buffer *b)
{
	const struct exact *x = &d->html->exact;
	size_t i;
	unsigned f;

	tel__json_key(b, "types");
	tel__json_put(b, "[");
	for (i = 0; i < x->ntypes; i++) {
		const struct exact_type *t = &x->types[i];

		tel__json_put(b, i == 0 ? "{" : ",{");
		put_name(d, b, "name", t->name);
		put_name(d, b, "kind", t->kind);
		if (t->doc != NULL)
			put_name(d, b, "description", t->doc);
		tel__json_pair(b, "n", t->count);
		tel__json_key(b, "fields");
		tel__json_put(b, "[");
		for (f = 0; f < t->nfields; f++) {
			tel__json_put(b, f == 0 ? "{" : ",{");
			put_name(d, b, "name", t->fields[f].name);
			put_name(d, b, "type", datatype(&t->fields[f].field));
			if (t->fields[f].labels) {
				tel__json_key(b, "labels");
				tel__json_put(b, "true");
			}
			tel__json_put(b, "}");
		}
		tel__json_put(b, "]}");
	}
	tel__json_put(b, "]");
}

static const char *
use_of(const struct timeline_track *t)
{
	switch (t->use) {
	case TIMELINE_PROCESS: return "log";
	case TIMELINE_THREAD:
		return strncmp(t->name, "cpu ", 4) == 0 ? "cpu" : "thread";
	case TIMELINE_KIND: return "kind";
	case TIMELINE_RANGES: return "ranges";
	case TIMELINE_COUNT: return "count";
	case TIMELINE_BYTES: break;
	}
	return "bytes";
}

/* A track and those below it: parents come first, and are shown so. */
static void
put_track(const struct draft *d, struct tel__buffer *b,
    const struct timeline_track *t)
{
	tel__json_put(b, b->bytes[b->used - 1] == '[' ? "{" : ",{");
	tel__json_pair(b, "id", t->id);
	tel__json_pair(b, "parent", t->parent == NULL ? 0 : t->parent->id);
	put_name(d, b, "use", use_of(t));
	put_name(d, b, "name", t->name);
	tel__json_put(b, "}");
}

static void
put_tracks(const struct draft *d, struct tel__buffer *b)
{
	const struct timeline *tl = d->html->timeline;
	size_t i;

	tel__json_key(b, "tracks");
	tel__json_put(b, "[");
	for (i = 0; tl != NULL && i < tl->ntracks; i++)
		if (b->used > 0)
			put_track(d, b, tl->tracks[i]);
	tel__json_put(b, "]");
}

static void
put_series(const struct draft *d, struct tel__buffer *b)
{
	const struct pyramid *p = &d->html->sums;
	const unsigned shift = p->shift + d->level;
	unsigned c;
	size_t i;

	tel__json_key(b, "series");
	tel__json_put(b, "[");
	for (i = 0; i < d->nplaces; i++) {
		const struct place *place = &d->places[i];
		const struct pyramid_key *key = &p->series[place->series].key;

		tel__json_put(b, i == 0 ? "{" : ",{");
		tel__json_pair(b, "track", key->track);
		tel__json_key(b, "type");
		if (key->type < 0)
			tel__json_put(b, "-1");
		else
			tel__json_number(b, (uint64_t)key->type);
		tel__json_pair(b, "block", place->block);
		tel__json_pair(b, "offset", place->offset);
		tel__json_pair(b, "width", UINT64_C(1) << (shift & 63));
		tel__json_pair(b, "n", (p->last >> (shift & 63)) + 1);
		tel__json_pair(b, "k", place->count);
		if (key->row >= 0)
			tel__json_pair(b, "row", (uint64_t)key->row);
		tel__json_key(b, "columns");
		tel__json_put(b, "[");
		for (c = 0; c < tel__pyramid_columns(key->kind); c++) {
			tel__json_put(b, c == 0 ? "\"" : ",\"");
			tel__json_put(b, tel__pyramid_column(key->kind, c));
			tel__json_put(b, "\"");
		}
		tel__json_put(b, "]}");
	}
	tel__json_put(b, "]");
}

/* The exact block at place i of those that are used, spread evenly. */
static const struct exact_block *
used_block(const struct draft *d, size_t i)
{
	const struct exact *x = &d->html->exact;
	size_t at = i * d->all / d->use;

	return at < x->nblocks ? &x->blocks[at] : &d->rest;
}

static void
put_block(struct tel__buffer *b, size_t number, const struct exact_block *e,
    int is_longest)
{
	tel__json_put(b,
	    b->used > 0 && b->bytes[b->used - 1] == '[' ? "{" : ",{");
	tel__json_pair(b, "block", number);
	tel__json_pair(b, "from", e->from);
	tel__json_pair(b, "to", e->to);
	tel__json_pair(b, "start", e->low);
	tel__json_pair(b, "hi", e->high);
	tel__json_pair(b, "events", e->events);
	if (is_longest) {
		tel__json_key(b, "long");
		tel__json_put(b, "true");
	}
	tel__json_put(b, "}");
}

/* Events in the blocks that are used. */
static uint64_t
exact_events(const struct draft *d)
{
	uint64_t n = d->longest.events;
	size_t i;

	for (i = 0; i < d->use; i++)
		n += used_block(d, i)->events;
	return n;
}

static void
put_blocks(const struct draft *d, struct tel__buffer *b)
{
	size_t i, number = d->nsums;

	tel__json_key(b, "blocks");
	tel__json_put(b, "[");
	for (i = 0; i < d->use; i++)
		put_block(b, number++, used_block(d, i), 0);
	if (d->longest.bytes != NULL)
		put_block(b, number, &d->longest, 1);
	tel__json_put(b, "]");
}

/*
 * What times are.  Where a log has no clock, they are the numbers of events or
 * lines, so that there are few for each event; ticks are many.
 */
static const char *
unit_of(const struct html *h)
{
	if (h->timeline == NULL || !h->timeline->ticks)
		return "ns";
	return h->last / 4 <= h->events ? "events" : "ticks";
}

/* What the page says of itself. */
static void
put_note(const struct draft *d, struct tel__buffer *b)
{
	const struct html *h = d->html;
	uint64_t exact = exact_events(d);
	char text[256];

	if (exact >= h->events)
		(void)snprintf(text, sizeof(text),
		    "All %llu events are in this page.",
		    (unsigned long long)h->events);
	else
		(void)snprintf(text, sizeof(text),
		    "%llu of %llu events are in this page, spread evenly over "
		    "the log, and the longest ranges; all others as sums over "
		    "%llu %s.",
		    (unsigned long long)exact, (unsigned long long)h->events,
		    1ull << ((h->sums.shift + d->level) & 63), unit_of(h));
	tel__json_text(b, "note", text, strlen(text));
}

static void
make_head(const struct draft *d, struct tel__buffer *b)
{
	const struct html *h = d->html;

	tel__json_put(b, "{");
	tel__json_pair(b, "version", 1);
	tel__json_text(b, "generator", "telcat " TEL_VERSION,
	    strlen("telcat " TEL_VERSION));
	tel__json_text(b, "page", "timeline", 8);
	tel__json_text(b, "title", d->title, strlen(d->title));
	tel__json_pair(b, "live", d->live);
	tel__json_pair(b, "size", d->most);
	tel__json_pair(b, "span", h->last);
	tel__json_text(b, "unit", unit_of(h), strlen(unit_of(h)));
	tel__json_pair(b, "events", h->events);
	tel__json_pair(b, "exact", exact_events(d));
	put_note(d, b);
	put_logs(d, b);
	put_types(d, b);
	put_tracks(d, b);
	put_series(d, b);
	put_blocks(d, b);
	tel__json_key(b, "links");
	tel__json_put(b, "[]}");
}

/* ----------------------------------------------------------------- page */

/* Nonzero when the block with that number is used. */
static int
is_used(void *arg, uint64_t number)
{
	const struct draft *d = arg;
	size_t low = 0, high = d->use, i;

	while (low < high) {
		i = low + (high - low) / 2;
		if (used_block(d, i)->number < number)
			low = i + 1;
		else
			high = i;
	}
	return low < d->use && used_block(d, low)->number == number;
}

static uint64_t
blocks_size(const struct draft *d)
{
	uint64_t size = d->sums_size;
	size_t i;

	for (i = 0; i < d->use; i++)
		size +=
		    tel__page_block_size(d->nsums + i, used_block(d, i)->size);
	if (d->longest.bytes != NULL)
		size += tel__page_block_size(d->nsums + i, d->longest.size);
	return size;
}

/* Uses as many exact blocks as fit into room. */
static void
choose(struct draft *d, uint64_t room)
{
	size_t low = 0, high = d->all;

	d->use = d->all;
	if (blocks_size(d) <= room)
		return;
	/* sizes differ little, so it is nearly monotonic */
	while (low < high) {
		d->use = low + (high - low + 1) / 2;
		if (blocks_size(d) <= room)
			low = d->use;
		else
			high = d->use - 1;
	}
	d->use = low;
}

/* Makes the block with the longest ranges, of those that are not elsewhere. */
static int
make_longest(struct draft *d, uint64_t room)
{
	struct exact *x = &d->html->exact;
	size_t n = x->nlongest;

	for (;; n /= 2) {
		free(d->longest.bytes);
		memset(&d->longest, 0, sizeof(d->longest));
		if (n == 0 ||
		    !tel__exact_longest(x, n, is_used, d, &d->longest))
			return !x->no_memory;
		if (tel__page_block_size(0, d->longest.size) <= room)
			return 1;
	}
}

/*
 * Puts a page together that is not larger than it may be, and its head.  1; 0
 * when out of memory; -1: it does not fit.
 */
static int
put_together(struct draft *d, struct tel__buffer *gz)
{
	static const size_t name_bytes[] = { 512, 64, 24, 8, 0 };
	struct tel__buffer head = { 0 };
	uint64_t room, fixed, slack = 512;
	unsigned i = 0;
	int good;

	fixed = tel__page_size(d->title, 0);
	for (;;) {
		if (fixed + 1024 > d->most)
			return -1;
		room = d->most - fixed;
		for (;; d->level++) {
			if (!make_sums(d))
				return 0;
			if (d->sums_size <= room * SUMS_SHARE / 100 ||
			    d->level >= 16)
				break;
		}
		d->name_bytes = name_bytes[i];
		choose(d, room > slack ? room - slack : 0);
		if (!make_longest(d, room * LONGEST_SHARE / 100))
			return 0;
		if (d->longest.bytes != NULL)
			choose(d, room > slack ? room - slack : 0);
		head.used = gz->used = 0;
		make_head(d, &head);
		good = !head.failed &&
		    tel__gzip_put(gz, head.bytes, head.used, PAGE_LEVEL);
		tel__buffer_clear(&head);
		if (!good)
			return 0;
		if (tel__page_size(d->title, gz->used) + blocks_size(d) <=
		    d->most)
			return 1;
		/* the head needs more room than was left for it */
		if (gz->used * 4 / 3 + 64 > room / 4 &&
		    i + 1 < sizeof(name_bytes) / sizeof(name_bytes[0]))
			i++;
		else if (slack >= room)
			return -1;
		slack = slack * 2 > (uint64_t)gz->used * 3 / 2 ?
		    slack * 2 :
		    (uint64_t)gz->used * 3 / 2;
	}
}

/* The names of the logs. */
static void
make_title(struct draft *d)
{
	const struct html *h = d->html;
	size_t i, used = 0;

	(void)snprintf(d->title, sizeof(d->title), "%s", "no events");
	for (i = 0; i < h->nlogs && used < sizeof(d->title); i++)
		used +=
		    (size_t)snprintf(d->title + used, sizeof(d->title) - used,
		        "%s%s", i == 0 ? "" : ", ", h->logs[i].name);
}

/* Writes the blocks in the order of their numbers. */
static tel_status
write_page(struct draft *d, struct tel_output *out,
    const struct tel__buffer *head)
{
	struct page_block *blocks;
	size_t i, n = 0;

	blocks = malloc((d->nsums + d->use + 2) * sizeof(*blocks));
	if (blocks == NULL)
		return TEL_ENOMEM;
	for (i = 0; i < d->nsums; i++, n++) {
		blocks[n].bytes = d->sums[i].bytes;
		blocks[n].size = d->sums[i].used;
	}
	for (i = 0; i < d->use; i++, n++) {
		blocks[n].bytes = used_block(d, i)->bytes;
		blocks[n].size = used_block(d, i)->size;
	}
	if (d->longest.bytes != NULL) {
		blocks[n].bytes = d->longest.bytes;
		blocks[n++].size = d->longest.size;
	}
	tel__page_write(out, d->title, head, blocks, n);
	free(blocks);
	return out->status;
}

static void
free_draft(struct draft *d)
{
	clear_sums(d);
	free(d->sums);
	free(d->places);
	free(d->longest.bytes);
	free(d->rest.bytes);
}

/* Writes a page of the events so far. */
static tel_status
put_page(struct tel_printer *pr, struct tel_output *out, unsigned seconds)
{
	struct html none = { 0 };
	struct tel__buffer head = { 0 };
	struct draft d;
	const char *why;
	tel_status st;
	int good;

	if (!tel__gzip_load(&why))
		return tel__render_fail(pr,
		    "libarchive is needed to compress a page: %s", why);

	memset(&d, 0, sizeof(d));
	d.html = pr->state != NULL ? pr->state : &none;
	d.most = pr->max_size;
	d.live = seconds;
	make_title(&d);
	d.all = d.html->exact.nblocks;
	if (tel__exact_rest(&d.html->exact, &d.rest))
		d.all++;
	good = put_together(&d, &head);
	if (good > 0)
		st = write_page(&d, out, &head);
	else if (good == 0)
		st = TEL_ENOMEM;
	else
		st = tel__render_fail(pr, "the page needs more than %llu bytes",
		    (unsigned long long)d.most);
	tel__buffer_clear(&head);
	free_draft(&d);
	return st;
}

static tel_status
finish(struct tel_printer *pr)
{
	struct html *h = pr->state;

	if (h != NULL)
		close_ranges(h);
	return put_page(pr, pr->out, 0);
}

static tel_status
snapshot(struct tel_printer *pr, struct tel_output *out, unsigned seconds)
{
	if (seconds == 0 && pr->state != NULL)
		close_ranges(pr->state);
	return put_page(pr, out, seconds);
}

static void
release(struct tel_printer *pr)
{
	struct html *h = pr->state;
	struct exact_copy *c;
	size_t i;

	if (h == NULL)
		return;
	for (i = 0; i < h->nstates; i++)
		while ((c = h->states[i].open) != NULL) {
			h->states[i].open = c->outer;
			free(c);
		}
	for (i = 0; i < h->nlogs; i++) {
		free(h->logs[i].name);
		free(h->logs[i].format);
	}
	free(h->states);
	free(h->logs);
	tel__timeline_free(h->timeline);
	tel__exact_clear(&h->exact);
	tel__pyramid_clear(&h->sums);
	free(h);
}

const struct tel_renderer tel__renderer_html = {
	.name = "html",
	.flags = TEL_PRINTER_TIMELINE | TEL_PRINTER_WHOLE | TEL_PRINTER_PAGE |
	    TEL_PRINTER_BINARY,
	.begin_log = begin_log,
	.event = event,
	.finish = finish,
	.snapshot = snapshot,
	.release = release,
};
