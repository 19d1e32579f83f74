/* SPDX-License-Identifier: BSD-2-Clause */
/* The head of a timeline's page: the contents of the page, as JSON. */
#include <inttypes.h>
#include <stdio.h>

#include "print/html.h"

/* Types that have a hue of their own. */
#define HUES 6u

static void
put_name(const struct page_fit *d, struct tel__buffer *b, const char *key,
    const char *s)
{
	tel__json_text(b, key, s, tel__page_cut(s, strlen(s), d->name_bytes));
}

static void
html_head_put_logs(const struct page_fit *d, struct tel__buffer *b)
{
	const struct html *h = d->html;

	tel__json_raw(b, "logs", "[");
	for (size_t i = 0; i < h->nlogs; i++) {
		const struct html_log *l = &h->logs[i];

		tel__json_item(b, "{");
		put_name(d, b, "name", l->name);
		put_name(d, b, "format", l->format);
		if (l->start[0] == '\0')
			tel__json_raw(b, "start", "null");
		else
			tel__json_word(b, "start", l->start);
		tel__json_pair(b, "events", l->events);
		tel__json_pair(b, "lost", l->lost);
		tel__json_put(b, "}");
	}
	tel__json_put(b, "]");
}

static uint64_t
ns_since_start(const struct html_log *l, uint64_t clock)
{
	int64_t ns;

	if (!tel__clock_between(l->clock, l->base, clock, &ns))
		ns = (int64_t)(clock - l->base);
	return ns < 0 ? 0 : (uint64_t)ns;
}

/* Where logs are damaged, in time. */
static void
html_head_put_damage(const struct html *h, struct tel__buffer *b)
{
	tel__json_raw(b, "damage", "[");
	for (size_t i = 0; i < h->nlogs; i++) {
		const struct html_log *l = &h->logs[i];
		size_t n = 0;
		const struct tel__clock_gap *gaps =
		    l->clock == NULL ? NULL : tel__clock_gaps(l->clock, &n);

		for (size_t k = 0; k < n; k++)
			tel__json_item(b, "[%" PRIu64 ",%" PRIu64 "]",
			    ns_since_start(l, gaps[k].from),
			    ns_since_start(l, gaps[k].to));
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
	case TEL_LIST:
	case TEL_STRING: break;
	}
	return "string";
}

/* The most frequent types, as many as there are hues, the first ones first. */
static size_t
rank_types(const struct event_samples *x, size_t ranks[HUES])
{
	size_t i, j, n = 0;

	for (i = 0; i < x->ntypes; i++) {
		for (j = n;
		     j > 0 && x->types[ranks[j - 1]].count < x->types[i].count;
		     j--)
			if (j < HUES)
				ranks[j] = ranks[j - 1];
		if (j < HUES && x->types[i].count > 0) {
			ranks[j] = i;
			n += n < HUES;
		}
	}
	return n;
}

/* The fields with the block and the stack of an event, or with a frame. */
static void
html_put_parts(const struct page_fit *d, struct tel__buffer *b,
    const struct sample_type *t)
{
	static const char *const block[TEL_ROLE_PARTS] = {
		[TEL_PART_ADDRESS] = "address",
		[TEL_PART_OLD] = "old",
		[TEL_PART_PROCESS] = "process",
		[TEL_PART_STACK] = "stack",
	};
	static const char *const frame[TEL_ROLE_PARTS] = { "number", "ip",
		"parent", [TEL_PART_PROCESS] = "process" };

	if (t->role == NULL)
		return;
	const char *const *parts =
	    strcmp(t->role, "frame") == 0 ? frame : block;
	tel__json_word(b, "role", t->role);
	for (size_t i = 0; i < TEL_ROLE_PARTS; i++)
		if (parts[i] != NULL && t->parts[i] >= 0)
			put_name(d, b, parts[i], t->fields[t->parts[i]].name);
}

static void
put_types(const struct page_fit *d, struct tel__buffer *b)
{
	const struct event_samples *x = &d->html->samples;
	size_t ranks[HUES], i, hue;
	const size_t nranks = rank_types(x, ranks);

	tel__json_raw(b, "types", "[");
	for (i = 0; i < x->ntypes; i++) {
		const struct sample_type *t = &x->types[i];

		tel__json_item(b, "{");
		put_name(d, b, "name", t->name);
		put_name(d, b, "kind", t->kind);
		if (*t->doc != '\0')
			put_name(d, b, "description", t->doc);
		html_put_parts(d, b, t);
		tel__json_pair(b, "code", t->code);
		tel__json_pair(b, "n", t->count);
		for (hue = 0; hue < nranks; hue++)
			if (ranks[hue] == i)
				tel__json_pair(b, "hue", hue);
		tel__json_raw(b, "fields", "[");
		for (unsigned f = 0; f < t->nfields; f++) {
			tel__json_item(b, "{");
			put_name(d, b, "name", t->fields[f].name);
			tel__json_word(b, "type",
			    datatype(&t->fields[f].field));
			if (t->fields[f].unit != NULL)
				tel__json_word(b, "unit", t->fields[f].unit);
			if (t->fields[f].labels)
				tel__json_raw(b, "labels", "true");
			if (tel_field_optional(&t->fields[f].field))
				tel__json_raw(b, "optional", "true");
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
	case TIMELINE_COUNT:
	case TIMELINE_RATE: return "count";
	case TIMELINE_HEAT: return "heat";
	case TIMELINE_BYTES: break;
	}
	return "bytes";
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

/* What a track has of memory, and of which pool or process. */
static void
html_head_put_memory(const struct page_fit *d, struct tel__buffer *b,
    const struct timeline_track *t)
{
	static const char *const names[] = { NULL, "live", "held", "mapped",
		"sizes", "lifetimes" };

	if (t->memory == TIMELINE_NO_MEMORY)
		return;
	tel__json_word(b, "memory", names[t->memory]);
	if (t->memory == TIMELINE_SIZES)
		tel__json_word(b, "unit", "bytes");
	if (t->memory == TIMELINE_LIFETIMES &&
	    strcmp(unit_of(d->html), "ns") == 0)
		tel__json_word(b, "unit", "ns");
	if (t->owner_at > 0 && t->owner_at < t->length)
		put_name(d, b, "owner", t->name + t->owner_at);
}

/* A track and those below it: parents come first, and are shown so. */
static void
put_track(const struct page_fit *d, struct tel__buffer *b,
    const struct timeline_track *t)
{
	tel__json_item(b, "{");
	tel__json_pair(b, "id", t->id);
	tel__json_pair(b, "parent", t->parent == NULL ? 0 : t->parent->id);
	tel__json_word(b, "use", use_of(t));
	put_name(d, b, "name", t->name);
	if (t->use == TIMELINE_RATE)
		tel__json_word(b, "unit", "/s");
	else if (t->unit != NULL && t->unit[0] != '\0')
		tel__json_word(b, "unit", t->unit);
	html_head_put_memory(d, b, t);
	if (t->cycles)
		tel__json_raw(b, "cycles", "true");
	tel__json_put(b, "}");
}

static void
put_tracks(const struct page_fit *d, struct tel__buffer *b)
{
	const struct timeline *tl = d->html->timeline;

	tel__json_raw(b, "tracks", "[");
	for (size_t i = 0; tl != NULL && i < tl->ntracks; i++)
		put_track(d, b, tl->tracks[i]);
	tel__json_put(b, "]");
}

static void
put_series(const struct page_fit *d, struct tel__buffer *b)
{
	const struct time_buckets *p = &d->html->sums;
	const unsigned shift = p->shift + d->level;

	tel__json_raw(b, "series", "[");
	for (size_t i = 0; i < d->nplaces; i++) {
		const struct html_place *place = &d->places[i];
		const struct bucket_key *key = &p->series[place->series].key;

		tel__json_item(b, "{");
		tel__json_pair(b, "track", key->track);
		tel__json_item(b, "\"type\":%" PRId32, key->type);
		tel__json_pair(b, "block", place->block);
		tel__json_pair(b, "offset", place->offset);
		tel__json_pair(b, "width", UINT64_C(1) << (shift & 63));
		tel__json_pair(b, "n", (p->last >> (shift & 63)) + 1);
		tel__json_pair(b, "k", place->count);
		if (key->row >= 0)
			tel__json_pair(b, "row", (uint64_t)key->row);
		tel__json_raw(b, "columns", "[");
		for (unsigned c = 0; c < tel__buckets_columns(key->kind); c++)
			tel__json_item(b, "\"%s\"",
			    tel__buckets_column(key->kind, c));
		tel__json_put(b, "]}");
	}
	tel__json_put(b, "]");
}

static void
html_head_put_block(struct tel__buffer *b, size_t number,
    const struct sample_block *e, int is_longest)
{
	tel__json_item(b, "{");
	tel__json_pair(b, "block", number);
	tel__json_pair(b, "from", e->from);
	tel__json_pair(b, "to", e->to);
	tel__json_pair(b, "start", e->low);
	tel__json_pair(b, "hi", e->high);
	tel__json_pair(b, "events", e->events);
	if (is_longest)
		tel__json_raw(b, "long", "true");
	tel__json_put(b, "}");
}

/* Events in the blocks that are used. */
static uint64_t
exact_events(const struct page_fit *d)
{
	uint64_t n = d->longest.events;

	for (size_t i = 0; i < d->use; i++)
		n += html_used_block(d, i)->events;
	return n;
}

static void
put_blocks(const struct page_fit *d, struct tel__buffer *b)
{
	size_t i, number = d->nsums;

	tel__json_raw(b, "blocks", "[");
	for (i = 0; i < d->use; i++)
		html_head_put_block(b, number++, html_used_block(d, i), 0);
	if (d->longest.bytes != NULL)
		html_head_put_block(b, number, &d->longest, 1);
	tel__json_put(b, "]");
}

/* From where to where events are missing: starts of ranges, and ends. */
static void
html_head_put_gaps(const struct page_fit *d, struct tel__buffer *b)
{
	const struct event_samples *x = &d->html->samples;
	struct sample_gap gap = SAMPLES_NO_GAP;
	size_t i, used = 0;

	tel__json_raw(b, "gaps", "[");
	for (i = 0; i <= d->all; i++) {
		const struct sample_block *e = i < x->nblocks ? &x->blocks[i] :
		    i < d->all                                ? &d->rest :
		                                                NULL;

		/* the gap behind the other blocks is that of the rest */
		if (e != NULL)
			samples_widen(&gap, e->gap.from, e->gap.to);
		else if (d->all == x->nblocks)
			samples_widen(&gap, x->gap.from, x->gap.to);
		if (e != NULL &&
		    (used == d->use || e != html_used_block(d, used))) {
			samples_widen(&gap, e->low, e->to);
			continue;
		}
		used += e != NULL;
		if (gap.from <= gap.to)
			tel__json_item(b, "[%" PRIu64 ",%" PRIu64 "]", gap.from,
			    gap.to);
		gap = SAMPLES_NO_GAP;
	}
	tel__json_put(b, "]");
}

static void
put_links(const struct page_fit *d, struct tel__buffer *b)
{
	tel__json_raw(b, "links", "[");
	if (d->links.used > 0) {
		tel__json_put(b, "{");
		tel__json_pair(b, "block",
		    d->nsums + d->use + (d->longest.bytes != NULL));
		tel__json_pair(b, "n", d->html->nlinks);
		tel__json_put(b, "}");
	}
	tel__json_put(b, "]");
}

static void
put_holders(const struct page_fit *d, struct tel__buffer *b)
{
	if (d->holders.used == 0)
		return;
	tel__json_raw(b, "memory", "{");
	tel__json_pair(b, "block",
	    d->nsums + d->use + (d->longest.bytes != NULL) +
	        (d->links.used > 0));
	tel__holders_head(&d->html->holders, b);
	tel__json_put(b, "}");
}

/* Metadata of the page. */
static void
put_note(const struct page_fit *d, struct tel__buffer *b)
{
	const struct html *h = d->html;
	uint64_t exact = exact_events(d);
	char text[256];

	if (exact >= h->events)
		(void)snprintf(text, sizeof(text),
		    "%llu of %llu events are in this page.",
		    (unsigned long long)exact, (unsigned long long)h->events);
	else
		(void)snprintf(text, sizeof(text),
		    "%llu of %llu events are in this page, spread evenly over "
		    "the log, and the longest ranges; all others as sums over "
		    "%llu %s.",
		    (unsigned long long)exact, (unsigned long long)h->events,
		    1ull << ((h->sums.shift + d->level) & 63), unit_of(h));
	tel__json_word(b, "note", text);
}

void
tel__html_head(const struct page_fit *d, struct tel__buffer *b)
{
	const struct html *h = d->html;

	tel__json_put(b, "{");
	tel__json_pair(b, "version", 1);
	tel__json_word(b, "generator", "telcat " TEL_VERSION);
	tel__json_word(b, "page", "timeline");
	tel__json_word(b, "title", d->title);
	tel__json_pair(b, "live", d->live);
	tel__json_pair(b, "size", d->most);
	tel__json_pair(b, "span", h->last);
	tel__json_word(b, "unit", unit_of(h));
	tel__json_pair(b, "events", h->events);
	tel__json_pair(b, "exact", exact_events(d));
	tel__json_pair(b, "damaged", d->damaged);
	tel__json_pair(b, "skipped", d->skipped);
	html_head_put_damage(h, b);
	put_note(d, b);
	html_head_put_logs(d, b);
	put_types(d, b);
	put_tracks(d, b);
	put_series(d, b);
	put_blocks(d, b);
	html_head_put_gaps(d, b);
	put_links(d, b);
	put_holders(d, b);
	tel__html_overview(h, strcmp(unit_of(h), "events") != 0, b);
	b->failed |= !tel__collections_head(&d->html->collections, &h->samples,
	    d->most, b);
	tel__json_put(b, "}");
}
