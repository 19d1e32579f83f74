/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading a range of time of a native file: blocks that the index says have
 * nothing to do with it are left out.  The events in them that name things
 * come from the names records instead, in the order of the log: so everything
 * is named, timed and counted as if all had been read.
 */
#include "base/array.h"
#include "format/tel/index.h"
#include "format/tel/reader.h"

#include <stdlib.h>

/*
 * What is read in any case, as the first events say from where ticks count:
 * as many events, or blocks, as a window holds that puts them in order.
 */
#define LEAD_EVENTS 65536u
#define LEAD_BLOCKS 80u
/* A way so short is not worth a seek, after which all is read anew. */
#define NEAR ((uint64_t)1 << 18)

struct native_range {
	struct native_index *index; /* NULL: there is none */
	size_t next;                /* the entry that comes next */
	size_t lead;                /* entries that are read in any case */
	/* blocks that are left out, and what of them is to be told */
	int skipping;
	uint64_t from, to;             /* the ordinals of their events */
	uint64_t from_block, to_block; /* and their numbers */
	size_t names;                  /* the entry to look for names from */
	uint64_t *ordinals;
	size_t room;
};

void
tel__native_range_free(struct native_range *g)
{
	if (g == NULL)
		return;
	tel__native_index_free(g->index);
	free(g->ordinals);
	free(g);
}

/* Looks for the index.  TEL_OK; or TEL_ENOMEM. */
static tel_status
begin(struct tel_reader *r, struct native *s)
{
	struct native_range *g = calloc(1, sizeof(*g));
	const uint64_t place = tel__reader_place(r), offset = r->offset;
	uint64_t events = 0, blocks = 0, at;
	size_t bad;
	tel_status st;

	if (g == NULL)
		return tel__reader_fail(r, TEL_ENOMEM, "out of memory");
	s->range = g;
	/* what cannot seek has no end to look at */
	if (!tel__reader_jump(r, place))
		return TEL_OK;
	st = tel__native_index_read(r->in, &g->index);
	if (!tel__reader_jump(r, place))
		return tel__reader_fail(r, TEL_EIO, "cannot seek");
	r->offset = offset;
	if (st != TEL_OK)
		return tel__reader_fail(r, st, "out of memory");
	if (g->index == NULL)
		return TEL_OK;
	bad = tel__native_index_check(r->in, g->index);
	if (bad < g->index->count) {
		at = g->index->entries[bad].offset;
		tel__native_index_free(g->index);
		g->index = NULL;
		return tel__reader_damage(r, at, 0,
		    "the index does not agree with the record here: the "
		    "whole stream is read");
	}
	for (; g->lead < g->index->count && events < LEAD_EVENTS &&
	     blocks < LEAD_BLOCKS;
	     g->lead++) {
		events += g->index->entries[g->lead].count;
		blocks++;
	}
	return TEL_OK;
}

/* The block at hand, if any, stays where it is. */
static tel_status
need_index(struct tel_reader *r, struct native *s)
{
	tel_status st = TEL_OK;

	if (s->range == NULL) {
		st = begin(r, s);
		if (s->range != NULL && s->range->index != NULL &&
		    tel__reader_place(r) > s->range->index->end) {
			tel__native_index_free(s->range->index);
			s->range->index = NULL;
		}
	}
	return st;
}

tel_status
tel__native_span(struct tel_reader *r, uint64_t *first, uint64_t *last)
{
	struct native *s = r->state;
	const struct native_index *x;
	tel_status st;

	if (r->count[TEL_COUNT_EVENTS] > 0)
		return TEL_END;
	if (s->range == NULL && s->size > 0) {
		/* the window, which the block is in, will be another one */
		s->size = 0;
		s->sequence = s->block->head.sequence;
		s->ordinal = s->block->head.ordinal;
		s->block->head.count = 0;
	}
	st = need_index(r, s);
	if (st != TEL_OK)
		return st;
	x = s->range->index;
	if (x == NULL || x->events == 0)
		return TEL_END;
	*first = x->first;
	*last = x->last;
	return TEL_OK;
}

/* Nonzero when an entry is a block that need not be read. */
static int
is_skipped(const struct tel_reader *r, const struct native_range *g, size_t i)
{
	const struct native_entry *e = &g->index->entries[i];

	return e->kind == NATIVE_BLOCK && e->named && e->count > 0 &&
	    i >= g->lead && i != g->index->least &&
	    (e->last < r->range.first || e->first > r->range.last);
}

/* Goes to a place of the file, if that is another one. */
static void
go_to(struct tel_reader *r, uint64_t to)
{
	uint64_t place = tel__reader_place(r), n;

	if (to < place || to - place > NEAR) {
		(void)tel__reader_jump(r, to);
		return;
	}
	while (place < to) {
		tel__reader_fill(r, 1);
		n = (uint64_t)(r->end - r->p);
		if (n == 0)
			return;
		n = n < to - place ? n : to - place;
		tel_reader_step(r, (size_t)n);
		place += n;
	}
}

/* Room for the ordinals of n events, and some more. */
static int
has_room(struct native_range *g, size_t n)
{
	return TEL__RESERVE(g->ordinals, g->room, n + 4);
}

/*
 * Takes the names record of an entry.  TEL_LOG; TEL_OK when it is damaged,
 * which was told; or a failure.
 */
static tel_status
take_names(struct tel_reader *r, struct native *s, const struct native_entry *e)
{
	struct native_range *g = s->range;
	struct native_record rec;
	size_t n;
	tel_status st = TEL_EFORMAT;

	go_to(r, e->offset);
	tel__reader_fill(r, NATIVE_LOOK);
	if (tel__native_look(r->p, (size_t)(r->end - r->p), &rec) == 1 &&
	    rec.kind == NATIVE_NAMES && tel__native_gather(r, s, &rec) == 1 &&
	    tel__native_whole(&rec))
		st = tel__native_take_block(r, s, &rec);
	n = st == TEL_OK ? (size_t)s->block->head.count : 0;
	if (st == TEL_OK && !has_room(g, n))
		st = TEL_ENOMEM;
	if (st == TEL_OK && n > 0 &&
	    !tel__native_column(&s->block->rest, n, 0, g->ordinals))
		st = TEL_EFORMAT;
	if (st == TEL_OK) {
		s->ordinals = g->ordinals;
		s->names_from = g->from;
		s->names_to = g->to;
		return TEL_LOG;
	}
	s->block->head.count = 0;
	s->at = 0;
	if (st == TEL_EFORMAT)
		return tel__reader_damage(r, e->offset, 0,
		    "a record of names is damaged: labels may be missing");
	return st == TEL_ENOMEM ? tel__reader_fail(r, st, "out of memory") : st;
}

/*
 * The next names record that is about blocks that are left out; NULL when
 * there are no more.
 */
static const struct native_entry *
next_names(struct native_range *g)
{
	const struct native_entry *e;

	while (g->names < g->index->count) {
		e = &g->index->entries[g->names++];
		if (e->kind == NATIVE_START)
			break;
		if (e->kind != NATIVE_NAMES || e->sequence <= g->from_block)
			continue;
		if (e->from >= g->to_block)
			break;
		return e;
	}
	g->names = g->index->count;
	return NULL;
}

/* Leaves the block of an entry out. */
static void
skip(struct native_range *g, const struct native_entry *e)
{
	if (!g->skipping) {
		g->skipping = 1;
		g->from = e->ordinal;
		g->from_block = e->sequence;
		g->names = g->next + 1;
	}
	g->to = e->ordinal + e->count;
	g->to_block = e->sequence + 1;
}

tel_status
tel__native_range_step(struct tel_reader *r, struct native *s)
{
	struct native_range *g;
	const struct native_entry *e, *names;
	const struct native_index *x;
	tel_status st = need_index(r, s);

	if (st != TEL_OK)
		return st;
	g = s->range;
	x = g->index;
	/* half of the clocks and no more, so that ticks can be compared */
	if (x == NULL || s->why != NULL || x->last - x->first > INT64_MAX ||
	    (!r->range.early && !x->single))
		return TEL_OK;
	while (!g->skipping && g->next < x->count &&
	    x->entries[g->next].offset < tel__reader_place(r))
		g->next++;
	for (; g->next < x->count; g->next++) {
		e = &x->entries[g->next];
		if (is_skipped(r, g, g->next))
			skip(g, e);
		else if (e->kind != NATIVE_NAMES)
			break;
	}
	e = g->next < x->count ? &x->entries[g->next] : NULL;
	/* a log is told before its names are */
	while (g->skipping && (e == NULL || e->kind != NATIVE_LOG)) {
		names = next_names(g);
		if (names == NULL) {
			g->skipping = 0;
			s->sequence = g->to_block;
			s->ordinal = g->to;
			break;
		}
		st = take_names(r, s, names);
		if (st != TEL_OK)
			return st;
	}
	/* the end of the stream before it is left out with its last blocks */
	if (e != NULL && e->kind == NATIVE_START &&
	    tel__reader_place(r) < e->offset)
		s->in_stream = s->started = s->identified = 0;
	if (e != NULL)
		go_to(r, e->offset);
	else if (tel__reader_place(r) < x->end)
		go_to(r, x->end);
	g->next += e != NULL;
	return TEL_OK;
}
