/* SPDX-License-Identifier: BSD-2-Clause */
/* Chunks: reading one, finding its events, and their order of time. */
#include "base/array.h"
#include "base/heap.h"
#include "format/jfr/jfr.h"

#include <stdlib.h>
#include <string.h>

/* Bytes that are copied at once from the window. */
#define PIECE ((size_t)1 << 16)
/* Bits of clocks that events are sorted by at once. */
#define DIGIT 11u
/* Events in a slice of time that are sorted by moving them. */
#define SLICE 4u
/* Moves of an event that cost less than sorting by all bits. */
#define MOVES 16u

static int
is_header(const struct jfr *j, const unsigned char *p)
{
	return memcmp(p, "FLR", 4) == 0 && tel_be16(p + 4) <= j->major_max &&
	    tel_be64(p + 56) != 0;
}

/*
 * HotSpot has a copy of the header in a constant pool, as an array of 68 bytes
 * at the end of the last checkpoint, with the distance of its own start from
 * the end of the chunk. before: the end of the bytes that come before p, of
 * which there are n; they need not be in one piece with p.
 */
static int
chunk_is_copy(const unsigned char *p, const unsigned char *before, size_t n)
{
	const uint64_t size = tel_be64(p + 8) - tel_be64(p + 16);
	const uint64_t lead = size - JFR_HEADER;
	struct jfr_bytes b = { 0 };

	if (n == 0 || before[-1] != JFR_HEADER || lead == 0 ||
	    lead > JFR_HEADER)
		return 0;
	if (n < lead)
		return 1;
	b.p = before - lead;
	b.end = before;
	return jfr_varint(&b) == size && jfr_varint(&b) == 1;
}

/* The first header from p on; NULL: none.  start: of the bytes before p. */
static const unsigned char *
find_header(const struct jfr *j, const unsigned char *start,
    const unsigned char *p, const unsigned char *end)
{
	for (; end - p >= (ptrdiff_t)JFR_HEADER; p++)
		if (is_header(j, p) &&
		    !chunk_is_copy(p, p, (size_t)(p - start)))
			return p;
	return NULL;
}

static void
chunk_read_header(struct jfr_chunk *c, const unsigned char *p)
{
	c->major = tel_be16(p + 4);
	c->minor = tel_be16(p + 6);
	c->size = tel_be64(p + 8);
	c->checkpoint = tel_be64(p + 16);
	c->metadata = tel_be64(p + 24);
	c->start_ns = (int64_t)tel_be64(p + 32);
	c->start_ticks = (int64_t)tel_be64(p + 48);
	c->divisor = (double)tel_be64(p + 56) / 1e9;
	c->state = p[64];
}

void
tel__jfr_chunk_free(struct jfr_chunk *c)
{
	if (c == NULL)
		return;
	if (c->layout != NULL)
		tel__jfr_pools_free(c);
	tel__buffer_clear(&c->texts);
	free(c->events);
	free(c->bytes);
	free(c);
}

/* The next byte to read. */
struct window {
	const unsigned char *p, *end;
	int eof; /* the input ends with these bytes */
};

/* Finds the next n bytes, or as many as there are.  1, or 0: no memory. */
static int
fill_window(struct tel_reader *r, struct jfr *j, size_t n, struct window *w)
{
	struct tel__buffer *b = &j->again;

	if (j->again_at == b->used) {
		tel__reader_fill(r, n);
		*w = (struct window){ r->p, r->end, r->eof };
		return 1;
	}
	/* what was read does not grow with the log */
	if (b->used - j->again_at < n && j->again_at >= b->used / 2) {
		b->used -= j->again_at;
		memmove(b->bytes, b->bytes + j->again_at, b->used);
		j->again_at = 0;
	}
	while (b->used - j->again_at < n) {
		size_t more = n - (b->used - j->again_at);

		tel__reader_fill(r, more < PIECE ? more : PIECE);
		if (r->p == r->end)
			break;
		if (more > (size_t)(r->end - r->p))
			more = (size_t)(r->end - r->p);
		tel__buffer_put(b, r->p, more);
		if (b->failed)
			return 0;
		tel_reader_step(r, more);
	}
	w->p = b->bytes + j->again_at;
	w->end = b->bytes + b->used;
	w->eof = (size_t)(w->end - w->p) < n;
	return 1;
}

static void
step_window(struct tel_reader *r, struct jfr *j, size_t n)
{
	if (j->again_at == j->again.used) {
		tel_reader_step(r, n);
		return;
	}
	j->again_at += n;
	if (j->again_at == j->again.used)
		j->again_at = j->again.used = 0;
}

/* The offset in the log of the next byte to read. */
static uint64_t
window_offset(const struct tel_reader *r, const struct jfr *j)
{
	return r->offset - (j->again.used - j->again_at);
}

/* Gives the bytes behind the first n of a chunk back.  1, or 0: no memory. */
static int
chunk_rewind(struct jfr *j, const struct jfr_chunk *c, uint64_t n,
    uint64_t have)
{
	struct tel__buffer left = j->again;
	const size_t at = j->again_at;

	memset(&j->again, 0, sizeof(j->again));
	tel__buffer_put(&j->again, c->bytes + n, (size_t)(have - n));
	if (left.used > at)
		tel__buffer_put(&j->again, left.bytes + at, left.used - at);
	j->again_at = 0;
	tel__buffer_clear(&left);
	return !j->again.failed;
}

/* Adds n bytes of the window.  1, or 0: no memory. */
static int
take_bytes(struct tel_reader *r, struct jfr *j, struct jfr_chunk *c,
    uint64_t *have, const struct window *w, size_t n)
{
	if (!TEL__RESERVE(c->bytes, c->room, (size_t)*have + n))
		return 0;
	memcpy(c->bytes + *have, w->p, n);
	step_window(r, j, n);
	*have += n;
	return 1;
}

/* Bytes at the end of a chunk that a header may start in. */
static size_t
edge_size(uint64_t have)
{
	return have - 1 < JFR_HEADER - 1 ? (size_t)have - 1 : JFR_HEADER - 1;
}

/*
 * Where a header starts in a chunk, in its last n bytes, that ends behind it; 0:
 * nowhere.
 */
static uint64_t
find_straddling(const struct jfr *j, const struct jfr_chunk *c, uint64_t have,
    const struct window *w, size_t n)
{
	unsigned char edge[3 * JFR_HEADER];
	const uint64_t from = have - n < JFR_HEADER ? 0 : have - n - JFR_HEADER;
	const size_t lead = (size_t)(have - n - from);
	size_t more = (size_t)(w->end - w->p);
	const unsigned char *q;

	if (more > JFR_HEADER - 1)
		more = JFR_HEADER - 1;
	memcpy(edge, c->bytes + from, lead + n);
	memcpy(edge + lead + n, w->p, more);
	q = find_header(j, edge, edge + lead, edge + lead + n + more);
	return q != NULL ? from + (uint64_t)(q - edge) : 0;
}

/*
 * The last chunk may be shorter than the size in its header: another one that
 * starts in it is not a part of it. 1, or 0: no memory.
 */
static int
cut_chunk(struct tel_reader *r, struct jfr *j, const struct jfr_chunk *c,
    uint64_t *have)
{
	const unsigned char *q;
	struct window w;

	if (!fill_window(r, j, JFR_HEADER, &w))
		return 0;
	if (*have == c->size &&
	    (w.p == w.end ||
	        (w.end - w.p >= (ptrdiff_t)JFR_HEADER && is_header(j, w.p) &&
	            !chunk_is_copy(w.p, c->bytes + *have, (size_t)*have))))
		return 1;
	if (*have < 2)
		return 1;
	q = find_header(j, c->bytes, c->bytes + 1, c->bytes + *have);
	uint64_t at = q != NULL ?
	    (uint64_t)(q - c->bytes) :
	    find_straddling(j, c, *have, &w, edge_size(*have));
	if (at == 0)
		return 1;
	if (!chunk_rewind(j, c, at, *have))
		return 0;
	*have = at;
	return 1;
}

/*
 * Events of a chunk that a failed read cuts off are given before the failure is,
 * and whoever asks for the first ones alone has to know of it.
 */
static void
note_failed_read(struct tel_reader *r)
{
	if (r->input_status != TEL_OK && r->input_status != TEL_EDAMAGED)
		r->cut_off = tel__reader_fail(r, r->input_status, "%s",
		    tel__input_error(r->in));
}

/* How many of the bytes of a window are a chunk, which has n in its header. */
static uint64_t
bound_chunk(const struct jfr *j, const struct window *w, uint64_t n)
{
	const size_t there = (size_t)(w->end - w->p);
	const unsigned char *q;

	if (there == n ||
	    (there >= n + JFR_HEADER && is_header(j, w->p + n) &&
	        !chunk_is_copy(w->p + n, w->p + n, (size_t)n)))
		return n;
	q = find_header(j, w->p, w->p + 1, w->end);
	return q != NULL && (uint64_t)(q - w->p) < n ? (uint64_t)(q - w->p) : n;
}

/*
 * Copies a chunk of the size in its header; without a size, all up to the next
 * header. have: bytes that there were.
 */
static tel_status
hold_chunk(struct tel_reader *r, struct jfr *j, struct jfr_chunk *c,
    uint64_t *have)
{
	const int open = c->size < JFR_HEADER;
	uint64_t most = open ? JFR_CHUNK_MAX : c->size;
	const unsigned char *q;
	struct window w;

	*have = 0;
	/* once bytes were given back, not to take and give back all again */
	if (!open && j->again_at < j->again.used) {
		if (!fill_window(r, j, (size_t)most + JFR_HEADER, &w))
			return TEL_ENOMEM;
		most = bound_chunk(j, &w, most);
	}
	while (*have < most) {
		if (!fill_window(r, j, PIECE + JFR_HEADER, &w))
			return TEL_ENOMEM;
		size_t n = (size_t)(w.end - w.p);
		if (n == 0) {
			note_failed_read(r);
			break;
		}
		if (n > PIECE)
			n = PIECE;
		if (n > most - *have)
			n = (size_t)(most - *have);
		/* the next header, if it is within what can be looked at */
		q = open ? find_header(j, w.p, w.p + (*have == 0), w.end) :
		           NULL;
		if (q != NULL && q < w.p + n) {
			n = (size_t)(q - w.p);
			most = *have + n;
		}
		if (!take_bytes(r, j, c, have, &w, n))
			return TEL_ENOMEM;
	}
	if (!open && !cut_chunk(r, j, c, have))
		return TEL_ENOMEM;
	return TEL_OK;
}

/* --------------------------------------------------------- metadata */

/* Where the metadata event is: the header's offset, or the last one. */
static uint64_t
find_metadata(const struct jfr_chunk *c)
{
	struct jfr_bytes b = { c->bytes + JFR_HEADER, c->bytes + c->size, 0 };
	uint64_t found = 0, id;

	if (c->metadata >= JFR_HEADER && c->metadata < c->size) {
		b.p = c->bytes + c->metadata;
		if (jfr_event_size(&b, &id) != 0 && id == 0)
			return c->metadata;
		b = (struct jfr_bytes){ c->bytes + JFR_HEADER,
			c->bytes + c->size, 0 };
	}
	while (b.p < b.end) {
		const unsigned char *start = b.p;
		uint32_t size = jfr_event_size(&b, &id);

		if (size == 0)
			break;
		if (id == 0)
			found = (uint64_t)(start - c->bytes);
		b.p = start + size;
	}
	return found;
}

static int
has_metadata(const struct jfr_layout *l, const struct jfr_bytes *b)
{
	return l != NULL && l->size == (size_t)(b->end - b->p) &&
	    memcmp(l->bytes, b->p, l->size) == 0;
}

/* The layout of a chunk, made if there is none of the same metadata. */
static tel_status
chunk_find_layout(struct tel_reader *r, struct jfr *j, struct jfr_chunk *c,
    const char **why)
{
	const uint64_t at = find_metadata(c);
	struct tel__entry *known;
	struct jfr_bytes b;
	struct jfr_layout *l;
	uint64_t id;
	int fresh;

	*why = "the chunk has no metadata";
	if (at == 0)
		return TEL_EFORMAT;
	b = (struct jfr_bytes){ c->bytes + at, c->bytes + c->size, 0 };
	uint32_t size = jfr_event_size(&b, &id);
	b.end = c->bytes + at + size;
	(void)jfr_varint(&b);
	(void)jfr_varint(&b);
	(void)jfr_varint(&b);
	if (has_metadata(j->layout, &b)) {
		c->layout = j->layout;
		return TEL_OK;
	}
	known = tel__table_put(&j->by_content,
	    tel__hash_bytes(b.p, (size_t)(b.end - b.p), j->frames.seed),
	    &fresh);
	if (known == NULL)
		return TEL_ENOMEM;
	l = (struct jfr_layout *)(uintptr_t)known->value;
	if (has_metadata(l, &b)) {
		c->layout = j->layout = l;
		return TEL_OK;
	}
	l = calloc(1, sizeof(*l));
	if (l == NULL)
		return TEL_ENOMEM;
	tel_status st = tel__jfr_metadata(l, b, why);
	l->size = (size_t)(b.end - b.p);
	l->bytes = malloc(l->size + 1);
	if (l->bytes == NULL)
		st = TEL_ENOMEM;
	else
		memcpy(l->bytes, b.p, l->size);
	if (st == TEL_OK)
		st = tel__jfr_compile(r, l, c->major, c->minor);
	if (st != TEL_OK) {
		tel__jfr_layout_free(l);
		return st;
	}
	l->next = j->layouts;
	j->layouts = j->layout = c->layout = l;
	known->value = (uintptr_t)l;
	return TEL_OK;
}

/* --------------------------------------------------------------- events */

/* The clock of an event of a class, whose fields are b. */
static uint64_t
chunk_read_clock(const struct jfr_chunk *c, const struct jfr_class *of,
    struct jfr_bytes b)
{
	for (uint32_t i = 0; i < of->start; i++)
		tel__jfr_skip(&b, c->layout, of->first + i, 0);
	return jfr_ns(c, jfr_varint(&b));
}

/* Events of a type that are counted only. */
struct counted {
	uint64_t events, bytes;
};

/* What the user counts of the events of a chunk. */
static void
report_counts(struct tel_reader *r, const struct jfr_chunk *c,
    const struct counted *counts, uint64_t first, uint64_t last)
{
	const struct jfr_layout *l = c->layout;
	const struct tel_type *t;
	uint64_t events = 0;

	for (size_t i = 0; i < l->nclasses; i++) {
		if (counts[i].events == 0)
			continue;
		t = &l->schema->types[l->classes[i].type_index];
		r->count_pushdown.count(r->count_pushdown.arg, &r->log, t,
		    counts[i].events, counts[i].bytes);
		r->count[TEL_COUNT_EVENTS] += counts[i].events;
		r->count[TEL_COUNT_BYTES] += counts[i].bytes;
		events += counts[i].events;
	}
	if (events > 0)
		r->count_pushdown.span(r->count_pushdown.arg, &r->log, first,
		    last);
}

/* Walks over the events of a chunk. */
struct walk {
	struct tel_reader *r;
	struct jfr_chunk *c;
	uint8_t *wanted; /* by class: its events are needed one by one */
	struct counted *counts;
	uint64_t first, last;
	uint64_t unknown; /* bytes of events of no type */
};

static tel_status
walk_events(struct walk *w)
{
	struct jfr_chunk *c = w->c;
	struct jfr_bytes b = { c->bytes + JFR_HEADER, c->bytes + c->size, 0 };
	const struct jfr_class *classes = c->layout->classes, *of;
	const unsigned char *start = b.p, *fields;
	uint64_t id, clock;
	uint32_t size, class;
	tel_status st = TEL_OK;

	for (; b.p < b.end; b.p = start + size) {
		start = b.p;
		size = jfr_event_size(&b, &id);
		if (size == 0)
			break;
		if (id <= 1)
			continue;
		class = jfr_class_of(c->layout, id);
		of = class == JFR_NONE ? NULL : &classes[class];
		if (of == NULL || !of->typed) {
			w->unknown += size;
			continue;
		}
		fields = b.p;
		clock = chunk_read_clock(c, of,
		    (struct jfr_bytes){ fields, start + size, 0 });
		if (!w->wanted[class]) {
			w->counts[class].events++;
			w->counts[class].bytes += size;
			w->first = clock < w->first ? clock : w->first;
			w->last = clock > w->last ? clock : w->last;
			continue;
		}
		if (!TEL__RESERVE(c->events, c->event_room, c->nevents + 1))
			return TEL_ENOMEM;
		struct jfr_event *ev = &c->events[c->nevents++];
		ev->clock = clock;
		ev->at = (uint32_t)(start - c->bytes);
		ev->class = (uint16_t) class;
		ev->head = (uint8_t)(fields - start);
	}
	if (w->unknown > 0)
		st = tel__reader_damage(w->r, c->offset, w->unknown,
		    "events of types that the metadata do not have; %llu bytes "
		    "skipped",
		    (unsigned long long)w->unknown);
	if (b.p < b.end && st == TEL_OK)
		st = tel__reader_damage(w->r,
		    c->offset + (uint64_t)(start - c->bytes),
		    (uint64_t)(b.end - start),
		    "an event of an invalid size; the rest of the chunk, %llu "
		    "bytes, is skipped",
		    (unsigned long long)(b.end - start));
	return st;
}

/* Events that are being sorted. */
struct sorting {
	struct jfr_event *from, *to;
	size_t n;
	uint64_t least;  /* of their clocks */
	uint32_t *count; /* room for those of a pass */
};

/* A pass: sorts by so many bits of the clock; equal ones keep their order. */
static void
sort_by_digit(struct sorting *s, unsigned shift, unsigned digit)
{
	const uint64_t least = s->least, mask = ((uint64_t)1 << digit) - 1;
	struct jfr_event *const from = s->from, *const to = s->to;
	uint32_t *const count = s->count, sum = 0, k;
	const size_t n = s->n;

	memset(count, 0, sizeof(*count) << digit);
	for (size_t i = 0; i < n; i++)
		count[(from[i].clock - least) >> shift & mask]++;
	for (size_t i = 0; i <= mask; i++) {
		k = count[i];
		count[i] = sum;
		sum += k;
	}
	for (size_t i = 0; i < n; i++)
		to[count[(from[i].clock - least) >> shift & mask]++] = from[i];
	s->from = to;
	s->to = from;
}

/*
 * Sorts events that are almost in order, by moving them to their places. 1, or
 * 0: there are too many moves.
 */
static int
sort_neighbours(struct jfr_event *events, size_t n)
{
	size_t moves = MOVES * n, i, k;
	struct jfr_event ev;

	for (i = 1; i < n; i++) {
		if (events[i].clock >= events[i - 1].clock)
			continue;
		ev = events[i];
		for (k = i; k > 0 && events[k - 1].clock > ev.clock; k--)
			events[k] = events[k - 1];
		events[k] = ev;
		if (i - k > moves)
			return 0;
		moves -= i - k;
	}
	return 1;
}

/*
 * Sorts events by clock; equal ones keep their order.  One pass leaves some in
 * each slice of time, unless most events came at once.
 */
static int
chunk_sort_events(struct jfr_chunk *c)
{
	struct sorting s = { .from = c->events,
		.n = c->nevents,
		.least = UINT64_MAX };
	unsigned sorted = 1, bits, digit, shift;
	uint64_t most = 0, clock;

	for (size_t i = 0; i < s.n; i++) {
		clock = s.from[i].clock;
		sorted &= clock >= most;
		most = clock > most ? clock : most;
		s.least = clock < s.least ? clock : s.least;
	}
	if (sorted)
		return 1;
	digit = 64 - (unsigned)__builtin_clzll(s.n / SLICE | 1);
	if (digit < DIGIT)
		digit = DIGIT;
	s.to = malloc(s.n * sizeof(*s.to));
	s.count = malloc(sizeof(*s.count) << digit);
	if (s.to != NULL && s.count != NULL) {
		bits = 64 - (unsigned)__builtin_clzll(most - s.least);
		shift = bits > digit ? bits - digit : 0;
		sort_by_digit(&s, shift, digit);
		if (shift > 0 && !sort_neighbours(s.from, s.n))
			for (shift = 0; shift < bits; shift += DIGIT)
				sort_by_digit(&s, shift, DIGIT);
		c->events = s.from;
		c->event_room = s.n;
	}
	sorted = s.to != NULL && s.count != NULL;
	free(s.to);
	free(s.count);
	return (int)sorted;
}

/* Finds the events of a chunk, and what they refer to. */
static tel_status
index_events(struct tel_reader *r, struct jfr *j, struct jfr_chunk *c)
{
	const struct jfr_layout *l = c->layout;
	struct walk w = { .r = r, .c = c, .first = UINT64_MAX };
	tel_status st = TEL_ENOMEM, pools;

	r->log.schema = l->schema;
	w.wanted = calloc(l->nclasses, 1);
	w.counts = calloc(l->nclasses, sizeof(*w.counts));
	if (w.wanted == NULL || w.counts == NULL) {
		free(w.wanted);
		free(w.counts);
		return TEL_ENOMEM;
	}
	for (size_t i = 0; i < l->nclasses; i++)
		w.wanted[i] = !l->classes[i].typed ||
		    r->count_pushdown.wants == NULL ||
		    r->count_pushdown.wants(r->count_pushdown.arg, &r->log,
		        &l->schema->types[l->classes[i].type_index]);
	st = walk_events(&w);
	if (r->count_pushdown.wants != NULL && st == TEL_OK)
		report_counts(r, c, w.counts, w.first, w.last);
	free(w.wanted);
	free(w.counts);
	if (st != TEL_OK || c->nevents == 0)
		return st;
	pools = tel__jfr_pools(c);
	if (pools == TEL_EFORMAT)
		st = tel__reader_damage(r, c->offset, 0,
		    "a constant pool is invalid: names of classes, threads and "
		    "others are missing");
	if (st == TEL_OK && pools != TEL_ENOMEM)
		pools = tel__jfr_stacks(r, j, c);
	if (pools == TEL_ENOMEM || !chunk_sort_events(c))
		return TEL_ENOMEM;
	return st;
}

/* ----------------------------------------------------------------- loading */

/* Steps to the next header: there is none here. */
static tel_status
skip_to_header(struct tel_reader *r, struct jfr *j)
{
	const uint64_t from = window_offset(r, j);
	const unsigned char *q;
	struct window w;

	do {
		if (!fill_window(r, j, PIECE, &w))
			return TEL_ENOMEM;
		q = find_header(j, w.p, w.p, w.end);
		size_t n = q != NULL ? (size_t)(q - w.p) :
		    w.eof            ? (size_t)(w.end - w.p) :
		                       (size_t)(w.end - w.p) - (JFR_HEADER - 1);
		step_window(r, j, n);
	} while (q == NULL && !w.eof);
	uint64_t skipped = window_offset(r, j) - from;
	if (j->unfinished) {
		tel__reader_notice(r, TEL_INFO, from,
		    "%llu bytes behind the last flush are not shown",
		    (unsigned long long)skipped);
		return TEL_OK;
	}
	return tel__reader_damage(r, from, skipped,
	    "no chunk starts here; %llu bytes skipped",
	    (unsigned long long)skipped);
}

/* Reports that a chunk was still written to. */
static void
report_state(struct tel_reader *r, struct jfr *j, const struct jfr_chunk *c,
    int cut)
{
	j->unfinished = c->state != 0 || c->size < JFR_HEADER;
	if (!j->unfinished || cut)
		return;
	tel__reader_notice(r, TEL_WARNING, c->offset,
	    "the recording was not ended: the program was killed, or still "
	    "runs; events are shown up to what was flushed last");
}

/* Takes a chunk whose bytes are held.  TEL_OK, or a failure. */
static tel_status
take_chunk(struct tel_reader *r, struct jfr *j, struct jfr_chunk *c,
    uint64_t have)
{
	struct jfr_chunk **link = &j->chunks;
	const uint64_t offset = c->offset;
	const char *why = NULL;
	tel_status st = TEL_OK;

	report_state(r, j, c, have < c->size);
	if (have < c->size)
		st = tel__reader_damage(r, c->offset, 0,
		    "a chunk ends after %llu of its %llu bytes",
		    (unsigned long long)have, (unsigned long long)c->size);
	c->size = have;
	if (st == TEL_OK) {
		st = chunk_find_layout(r, j, c, &why);
		if (st == TEL_ENOMEM)
			return st;
		if (st == TEL_EFORMAT) {
			tel__jfr_chunk_free(c);
			return tel__reader_damage(r, offset, have,
			    "%s; %llu bytes skipped", why,
			    (unsigned long long)have);
		}
	}
	if (st != TEL_OK) {
		tel__jfr_chunk_free(c);
		return st;
	}
	while (*link != NULL)
		link = &(*link)->next;
	*link = c;
	j->fresh = 1;
	j->held += c->size + JFR_CHUNK_COST;
	return TEL_OK;
}

int
tel__jfr_comes_before(const void *first, const void *second)
{
	const struct jfr_chunk *a = first, *b = second;
	const uint64_t at = a->events[a->done].clock;
	const uint64_t other = b->events[b->done].clock;

	return at != other ? at < other : a->offset < b->offset;
}

tel_status
tel__jfr_index(struct tel_reader *r, struct jfr *j)
{
	struct jfr_chunk **link = &j->chunks, *c;
	tel_status st = TEL_OK;

	if (!j->fresh)
		return TEL_OK;
	while ((c = *link) != NULL && st == TEL_OK) {
		if (!c->indexed) {
			st = index_events(r, j, c);
			if (c->nevents > 0 &&
			    !TEL__RESERVE(j->heap, j->heap_room, j->nheap + 1))
				return TEL_ENOMEM;
			if (c->nevents > 0)
				j->heap[j->nheap++] = c;
		}
		c->indexed = 1;
		if (c->nevents > 0) {
			link = &c->next;
			continue;
		}
		*link = c->next;
		j->held -= c->size + JFR_CHUNK_COST;
		if (j->spare == NULL) {
			j->spare = c->bytes;
			j->spare_room = c->room;
			c->bytes = NULL;
		}
		tel__jfr_chunk_free(c);
	}
	tel__heap_fill(j->heap, j->nheap, tel__jfr_comes_before);
	j->fresh = c != NULL;
	return st;
}

tel_status
tel__jfr_load(struct tel_reader *r, struct jfr *j)
{
	struct jfr_chunk *c;
	struct window w;
	uint64_t have;

	if (!fill_window(r, j, JFR_HEADER, &w))
		return TEL_ENOMEM;
	size_t n = (size_t)(w.end - w.p);
	if (n == 0)
		return TEL_END;
	if (n < JFR_HEADER && !j->unfinished && j->again.used == 0)
		return tel__reader_cut_short(r, "the log ends inside a chunk");
	if (n < JFR_HEADER || !is_header(j, w.p))
		return skip_to_header(r, j);
	c = calloc(1, sizeof(*c));
	if (c == NULL)
		return TEL_ENOMEM;
	chunk_read_header(c, w.p);
	c->offset = window_offset(r, j);
	c->bytes = j->spare;
	c->room = j->spare_room;
	j->spare = NULL;
	j->spare_room = 0;
	if (c->major == 0) {
		tel__jfr_chunk_free(c);
		step_window(r, j, 4);
		return tel__reader_damage(r, window_offset(r, j) - 4, 4,
		    "a chunk of version 0, which is not supported");
	}
	if (c->major > JFR_MAJOR_MAX && !j->newer) {
		j->newer = 1;
		tel__reader_notice(r, TEL_WARNING, c->offset,
		    "the recording has version %u.%u and is read as version %u",
		    c->major, c->minor, JFR_MAJOR_MAX);
	}
	if (c->size > JFR_CHUNK_MAX) {
		c->size = 0;
		tel_status st = tel__reader_damage(r, c->offset, 0,
		    "a chunk of more than 2^30 bytes: read up to the next one");
		if (st != TEL_OK) {
			tel__jfr_chunk_free(c);
			return st;
		}
	}
	tel_status st = hold_chunk(r, j, c, &have);
	if (st != TEL_OK) {
		tel__jfr_chunk_free(c);
		return st;
	}
	if (c->size < JFR_HEADER)
		c->size = 0;
	return take_chunk(r, j, c, have);
}
