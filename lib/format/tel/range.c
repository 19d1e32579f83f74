/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading a range of time of a native file: blocks that are outside of it by
 * the index are skipped.  The events in them that name things
 * come from the names records instead, in the order of the log: so everything
 * is named, timed and counted as if all had been read.
 */
#include "base/array.h"
#include "format/tel/index.h"
#include "format/tel/reader.h"
#include "io/source.h"
#include "encoder/encoder.h"

#include <stdlib.h>

/*
 * The part that is always read, as ticks count from the first event:
 * as many events, or blocks, as a window holds that puts them in order.
 */
#define LEAD_EVENTS 65536u
#define LEAD_BLOCKS 80u
/* Bytes up to which reading on is cheaper than a seek and a new window. */
#define NEAR ((uint64_t)1 << 18)

#define NONE SIZE_MAX

struct native_range {
	struct native_index *index; /* NULL: the file has no usable one */
	int direct;                 /* the input can be read at any place */
	int moved;                  /* its own place is lost, */
	uint64_t place, offset;     /* and was this */
	size_t next;                /* the next entry */
	/* the group that it is, where its blocks are looked at */
	struct native_summary sub;
	size_t sub_of;   /* the entry; or NONE */
	size_t sub_next; /* the next block or log */
	int chosen;      /* .wanted is set */
	uint8_t wanted[NATIVE_GROUP];
	/* blocks that are left out, and what of them is to be reported */
	int skipping;
	uint64_t since;    /* from this place on; UINT64_MAX: none */
	uint64_t from, to; /* the ordinals of their events */
	uint64_t from_block, to_block; /* and their numbers */
	uint64_t least;                /* their least clock */
	uint64_t lost;                 /* events lost before them */
	size_t names;                  /* the entry to look for names from */
	size_t logs;                   /* and that up to which logs are known */
	size_t all; /* the one with a record of all that is in force, or NONE */
	uint64_t *ordinals;
	size_t room;
};

void
tel__native_range_free(struct native_range *g)
{
	if (g == NULL)
		return;
	tel__native_index_free(g->index);
	tel__native_summary_clear(&g->sub);
	free(g->ordinals);
	free(g);
}

int
tel__native_range_used(const struct native *s)
{
	return s->range != NULL && s->range->index != NULL;
}

/* The index is wrong: from here on it is ignored. */
static tel_status
give_up(struct tel_reader *r, struct native_range *g, uint64_t at)
{
	tel__native_index_free(g->index);
	g->index = NULL;
	g->skipping = 0;
	return tel__reader_damage(r, at, 0,
	    "the index does not agree with the record here: the whole stream "
	    "is read");
}

/* Looks for the index.  TEL_OK; or TEL_ENOMEM. */
static tel_status
native_range_begin(struct tel_reader *r, struct native *s)
{
	struct native_range *g = calloc(1, sizeof(*g));
	const uint64_t place = tel__reader_place(r), offset = r->offset;
	unsigned char first;

	if (g == NULL)
		return TEL_ENOMEM;
	s->range = g;
	g->sub_of = NONE;
	g->since = UINT64_MAX;
	g->direct = tel__input_read_at(r->in, 0, &first, 1);
	/* what cannot seek has no end to look at */
	if (!tel__reader_jump(r, place))
		return TEL_OK;
	tel_status st = tel__native_index_read(r->in, &g->index);
	if (!tel__reader_jump(r, place))
		return tel__reader_fail(r, TEL_EIO, "cannot seek");
	r->offset = offset;
	if (st != TEL_OK)
		return tel__reader_fail(r, st, "out of memory");
	if (g->index == NULL)
		return TEL_OK;
	size_t bad = tel__native_index_check(r->in, g->index);
	if (bad < g->index->count) {
		uint64_t at = g->index->entries[bad].offset;

		return give_up(r, g, at);
	}
	return TEL_OK;
}

/* The current block, if any, remains valid. */
static tel_status
need_index(struct tel_reader *r, struct native *s)
{
	tel_status st = TEL_OK;

	if (s->range == NULL) {
		st = native_range_begin(r, s);
		if (s->range != NULL && s->range->index != NULL &&
		    tel__reader_place(r) > s->range->index->end) {
			tel__native_index_free(s->range->index);
			s->range->index = NULL;
		}
	}
	return st;
}

tel_status
tel__native_span(struct tel_reader *r, struct tel_clock_span *span)
{
	struct native *s = r->state;

	if (r->count[TEL_COUNT_EVENTS] > 0)
		return TEL_END;
	if (s->range == NULL && s->size > 0) {
		/* the window, which the block is in, will be another one */
		s->size = 0;
		s->sequence = s->block->head.sequence;
		s->ordinal = s->block->head.ordinal;
		s->block->head.count = 0;
	}
	tel_status st = need_index(r, s);
	if (st != TEL_OK)
		return st;
	const struct native_index *x = s->range->index;
	if (x == NULL || x->events == 0)
		return TEL_END;
	span->first = x->first;
	span->last = x->last;
	span->sorted = x->sorted;
	return TEL_OK;
}

/* -------------------------------------------------------------- places */

static uint64_t
place_of(const struct tel_reader *r, const struct native_range *g)
{
	return g->moved ? g->place : tel__reader_place(r);
}

/* Saves the place of the input before it is read elsewhere. */
static void
native_range_leave(const struct tel_reader *r, struct native_range *g)
{
	if (g->direct || g->moved)
		return;
	g->place = tel__reader_place(r);
	g->offset = r->offset;
	g->moved = 1;
}

/* Moves the input to a place of the file. */
static void
go_to(struct tel_reader *r, struct native_range *g, uint64_t to)
{
	if (g->moved) {
		g->moved = 0;
		uint64_t n = to - g->place + g->offset;
		if (tel__reader_jump(r, to))
			r->offset = n;
		return;
	}
	uint64_t place = tel__reader_place(r);
	if (to < place || to - place > NEAR) {
		(void)tel__reader_jump(r, to);
		return;
	}
	while (place < to) {
		tel__reader_fill(r, 1);
		uint64_t n = (uint64_t)(r->end - r->p);
		if (n == 0)
			return;
		n = n < to - place ? n : to - place;
		tel_reader_step(r, (size_t)n);
		place += n;
	}
}

/* ------------------------------------------------------------- entries */

/* Nonzero if blocks can be skipped by their clocks. */
static int
by_clock(const struct tel_reader *r, const struct native_index *x)
{
	/* at most half of all clocks, so that differences compare as signed */
	return r->range.on && x->last - x->first <= INT64_MAX &&
	    (r->range.early || x->single);
}

/* The next record or group, or NULL. */
static const struct native_entry *
current(struct native_range *g)
{
	if (g->sub_of != NONE && g->sub_of == g->next) {
		if (g->sub_next < g->sub.count)
			return &g->sub.entries[g->sub_next];
		g->sub_of = NONE;
		g->next++;
	}
	return g->next < g->index->count ? &g->index->entries[g->next] : NULL;
}

static void
native_range_advance(struct native_range *g)
{
	if (g->sub_of != NONE && g->sub_of == g->next)
		g->sub_next++;
	else
		g->next++;
}

/* The end of a record or group in the file. */
static uint64_t
end_of(const struct native_range *g, const struct native_entry *e)
{
	if (e->kind != NATIVE_SUMMARY)
		return e->offset + 1;
	const struct native_group *of = &g->index->groups[e->size];
	return e->offset + of->bytes + of->summary_size;
}

int
tel__native_may_drop(const struct tel_reader *r, const struct tel_schema *s)
{
	const struct tel_format_ops *f;

	if (!r->predicate_pushdown.whole)
		return 1;
	/* the encoder may need all events, such as for lines between them */
	f = tel__format_of_schema(r->formats, s->name);
	return f != NULL && f->encoder != NULL &&
	    f->encoder->flags & ENCODER_BARE_EVENTS;
}

/* Finds a schema of the stream by the name and digest in a summary. */
static const struct native_schema *
native_range_find_schema(void *arg, const unsigned char *name, size_t size,
    uint64_t digest)
{
	const struct tel_reader *r = arg;
	const struct native_found *found =
	    tel__native_find_schema(r->state, name, size, digest);

	return found != NULL && tel__native_may_drop(r, found->native.schema) ?
	    &found->native :
	    NULL;
}

/* Nonzero if a log of the stream may have such events. */
static int
clocks_are_set(const struct native *s)
{
	const struct native_found *found;

	for (found = s->schemas; found != NULL; found = found->next)
		if (tel__schema_sets_clock(found->native.schema))
			return 1;
	return 0;
}

/*
 * The clock of the only log, if it has a rate and no events that change it: then
 * a time does not depend on which events were read.
 */
static struct tel_clock *
steady_clock(const struct tel_reader *r, const struct native *s)
{
	const struct native_source *source = s->sources;

	/* time counts from the first event that has one */
	if (!s->range->index->sole || r->count[TEL_COUNT_EVENTS] == 0 ||
	    r->timeless || source == NULL || source->next != NULL)
		return NULL;
	struct tel_clock *clock = source->log->clock;
	return !clocks_are_set(s) && tel__clock_points(clock) == 0 &&
	        tel__clock_rate(clock) > 0 ?
	    clock :
	    NULL;
}

/* Chooses the blocks of the group that are read. */
static void
native_range_choose(struct tel_reader *r, const struct native *s)
{
	struct native_range *g = s->range;
	const struct native_entry *e = &g->index->entries[g->sub_of];
	const struct native_sole sole = { .counted = g->index->sole &&
		    s->based == BASE_SAME,
		.base = s->base,
		.clock = steady_clock(r, s) };

	g->chosen = 1;
	/* which events match may depend on how many were read before */
	if (r->predicate_pushdown.timed && sole.clock == NULL)
		return;
	tel__native_summary_choose(&g->sub, e->blocks, &r->predicate_pushdown,
	    &sole, native_range_find_schema, r, g->wanted);
}

/* Nonzero if the blocks of an entry need not be read. */
static int
is_skipped(struct tel_reader *r, const struct native *s,
    const struct native_entry *e)
{
	struct native_range *g = s->range;
	const struct native_index *x = g->index;
	const int outside = by_clock(r, x) &&
	    (e->last < r->range.first || e->first > r->range.last);

	/* the first block of a log is needed to know that */
	if (tel_reader_wants_none(r))
		return e->blocks > 0 && s->sources != NULL &&
		    s->sources->end > 0 &&
		    (e->kind != NATIVE_SUMMARY ||
		        !(x->groups[e->size].flags & NATIVE_GROUP_LOGS));
	if (e->blocks == 0 || !e->named || e->count == 0 ||
	    (e->before < LEAD_EVENTS && e->earlier < LEAD_BLOCKS))
		return 0;
	if (g->next == x->least && (g->sub_of == NONE || e->first == x->first))
		return 0;
	if (e->kind == NATIVE_SUMMARY)
		return outside &&
		    !(x->groups[e->size].flags & NATIVE_GROUP_LOGS);
	if (g->sub_of == NONE || outside)
		return outside;
	/* not before, as the first events say how others count */
	if (r->predicate_pushdown.may != NULL && !g->chosen)
		native_range_choose(r, s);
	return !g->wanted[e->sequence - x->entries[g->next].sequence];
}

/* Reads the summary of the next group.  TEL_END: it is false. */
static tel_status
native_range_expand(struct tel_reader *r, struct native *s)
{
	struct native_range *g = s->range;
	const struct native_entry *e = &g->index->entries[g->next];
	const uint64_t at = e->offset + g->index->groups[e->size].bytes;
	tel_status st;

	native_range_leave(r, g);
	st = tel__native_summary_read(r->in, g->index, g->next, &g->sub);
	if (st == TEL_ENOMEM)
		return st;
	if (st != TEL_OK) {
		st = give_up(r, g, at);
		return st == TEL_OK ? TEL_END : st;
	}
	g->sub_of = g->next;
	g->sub_next = 0;
	g->chosen = 0;
	memset(g->wanted, 1, sizeof(g->wanted));
	return TEL_OK;
}

/* Reserves room for the ordinals of n events and the decoder's excess. */
static int
has_room(struct native_range *g, size_t n)
{
	return TEL__RESERVE(g->ordinals, g->room, n + 4);
}

/* A record in the file. */
struct place {
	uint64_t offset;
	uint32_t size; /* 0: as in its header */
};

/* Reads a record, in one piece.  1; 0: it is damaged; -1: no memory. */
static int
read_record(struct tel_reader *r, struct native *s, struct place at,
    enum native_kind kind, struct native_record *rec)
{
	int got;

	if (at.size == 0 || !s->range->direct) {
		native_range_leave(r, s->range);
		go_to(r, s->range, at.offset);
		tel__reader_fill(r, NATIVE_LOOK);
		got = tel__native_look(r->p, (size_t)(r->end - r->p), rec) == 1;
		if (got && rec->kind == kind)
			got = tel__native_gather(r, s, rec);
	} else {
		if (!TEL__RESERVE(s->copy, s->copy_room,
		        at.size + (size_t)NATIVE_BEHIND))
			return -1;
		s->size = 0;
		got = tel__input_read_at(r->in, at.offset, s->copy, at.size) &&
		    tel__native_look(s->copy, at.size, rec) == 1 &&
		    native_size(rec) == at.size;
		memset(s->copy + at.size, 0, NATIVE_BEHIND);
	}
	if (got <= 0)
		return got;
	return rec->kind == kind && tel__native_whole(rec);
}

/*
 * Takes the logs that begin between the blocks that are left out and the names
 * record that is next, which may be about them, too.
 */
static tel_status
take_logs(struct tel_reader *r, struct native *s)
{
	struct native_range *g = s->range;
	const size_t names = g->names - 1;
	const size_t next = g->logs > g->next ? g->logs : g->next;
	const int grouped = g->sub_of == names;
	const struct native_entry *e =
	    grouped ? g->sub.entries : g->index->entries;
	const size_t end = grouped ? g->sub.count : names;
	struct native_record rec;
	tel_status st = TEL_OK;

	for (size_t i = grouped ? g->sub_next : next; i < end; i++) {
		const struct place at = { e[i].offset, e[i].size };

		if (e[i].kind != NATIVE_LOG)
			continue;
		int got = read_record(r, s, at, NATIVE_LOG, &rec);
		if (got > 0)
			st = tel__native_take_log(r, s, &rec);
		if (got < 0 || st == TEL_ENOMEM)
			return tel__reader_fail(r, TEL_ENOMEM, "out of memory");
		if (st != TEL_OK && st != TEL_EFORMAT)
			return st;
	}
	if (!grouped && end > next)
		g->logs = end;
	return TEL_OK;
}

/*
 * Takes a names record.  TEL_LOG; TEL_OK when it is damaged, which was
 * reported; or a failure.
 */
static tel_status
take_names(struct tel_reader *r, struct native *s, struct place at)
{
	struct native_range *g = s->range;
	struct native_record rec;
	tel_status st = take_logs(r, s);

	if (st != TEL_OK)
		return st;
	const int got = read_record(r, s, at, NATIVE_NAMES, &rec);
	st = got < 0 ? TEL_ENOMEM : TEL_EFORMAT;

	if (got == 1)
		st = tel__native_take_block(r, s, &rec);
	size_t n = st == TEL_OK ? (size_t)s->block->head.count : 0;
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
		return tel__reader_damage(r, at.offset, 0,
		    "a names record is damaged; labels may be missing");
	return st == TEL_ENOMEM ? tel__reader_fail(r, st, "out of memory") : st;
}

/*
 * Chooses a record of all that is in force after some of the blocks that are
 * left out.  As it lacks what was superseded, all that it is about has to be
 * earlier than the range; or nothing of the stream is read any more, and the
 * time of what was read does not depend on the first point behind it.
 */
static void
choose_all(const struct tel_reader *r, const struct native *s, int last)
{
	struct native_range *g = s->range;
	const struct native_index *x = g->index;
	uint64_t latest = 0;
	size_t i = g->names;

	g->all = NONE;
	if (!r->skip_names || !by_clock(r, x))
		return;
	last &= g->least > r->range.last && !clocks_are_set(s);
	while (i > 0 && x->entries[i - 1].kind != NATIVE_START)
		i--;
	for (; i < x->count && x->entries[i].kind == NATIVE_SUMMARY; i++) {
		const struct native_entry *e = &x->entries[i];
		const struct native_group *of = &x->groups[e->size];

		if (e->sequence + e->blocks > g->to_block)
			return;
		latest = e->last > latest ? e->last : latest;
		if (i >= g->names && of->all_size > 0 &&
		    (last || latest < r->range.first))
			g->all = i;
	}
}

/* The next names record that is about blocks that are left out.  1, or 0. */
static int
next_names(struct native_range *g, struct place *at)
{
	const struct native_index *x = g->index;

	for (; g->names < x->count; g->names++) {
		const struct native_entry *e = &x->entries[g->names];

		if (e->kind == NATIVE_START)
			break;
		if (e->kind == NATIVE_NAMES) {
			if (e->sequence <= g->from_block)
				continue;
			if (e->from >= g->to_block)
				break;
			at->offset = e->offset;
			at->size = e->size;
			g->names++;
			return 1;
		}
		if (e->kind != NATIVE_SUMMARY ||
		    e->sequence + e->blocks <= g->from_block)
			continue;
		if (e->sequence >= g->to_block)
			break;
		if (g->all != NONE &&
		    e->sequence >= x->groups[x->entries[g->all].size].all_from)
			g->names = g->all;
		e = &x->entries[g->names];
		const struct native_group *of = &x->groups[e->size];
		at->size = g->all == g->names ? of->all_size : of->names_size;
		at->offset = e->offset + of->bytes - of->names_size -
		    (g->all == g->names ? of->all_size : 0);
		if (at->size == 0)
			continue;
		if (g->all == g->names)
			g->all = NONE;
		g->names++;
		return 1;
	}
	g->names = x->count;
	return 0;
}

/* Leaves the blocks of an entry out. */
static void
skip(const struct tel_reader *r, struct native_range *g,
    const struct native_entry *e)
{
	if (!g->skipping) {
		g->skipping = 1;
		g->since = place_of(r, g);
		g->from = e->ordinal;
		g->from_block = e->sequence;
		g->least = UINT64_MAX;
		g->lost = 0;
		/* with an index of 1.1.0, names follow the blocks */
		g->names = g->next;
		g->all = NONE;
	}
	g->to = e->ordinal + e->count;
	g->to_block = e->sequence + e->blocks;
	g->lost += e->lost;
	if (e->first < g->least)
		g->least = e->first;
}

/*
 * Passes what need not be read.  TEL_OK: current() is to be read; TEL_END:
 * the index is not true; or a failure.
 */
static tel_status
native_range_pass(struct tel_reader *r, struct native *s)
{
	struct native_range *g = s->range;
	const struct native_entry *e;

	while (!g->skipping && (e = current(g)) != NULL &&
	    end_of(g, e) <= place_of(r, g))
		native_range_advance(g);
	while ((e = current(g)) != NULL) {
		if (is_skipped(r, s, e)) {
			skip(r, g, e);
		} else if (e->kind == NATIVE_SUMMARY) {
			tel_status st = native_range_expand(r, s);

			if (st != TEL_OK)
				return st;
			/* what of it was read */
			while (!g->skipping && g->sub_next < g->sub.count &&
			    g->sub.entries[g->sub_next].offset < place_of(r, g))
				g->sub_next++;
			continue;
		} else if (e->kind != NATIVE_NAMES) {
			break;
		}
		native_range_advance(g);
	}
	return TEL_OK;
}

/* Ends the names of skipped blocks: the next block is the expected one. */
static void
end_skipping(struct tel_reader *r, struct native *s)
{
	struct native_range *g = s->range;

	g->skipping = 0;
	g->since = UINT64_MAX;
	s->sequence = g->to_block;
	s->ordinal = g->to;
	tel__native_count_lost(r, s, g->lost, r->offset);
}

tel_status
tel__native_range_step(struct tel_reader *r, struct native *s)
{
	struct place at;
	tel_status st = need_index(r, s);

	if (st != TEL_OK)
		return st;
	struct native_range *g = s->range;
	const struct native_index *x = g->index;
	if (x == NULL || s->why != NULL ||
	    (!by_clock(r, x) && r->predicate_pushdown.may == NULL))
		return TEL_OK;
	st = native_range_pass(r, s);
	if (st != TEL_OK) {
		/* the hash lacks records that were passed by */
		s->whole = 0;
		/* logs in between may have been read */
		if (g->since < UINT64_MAX || g->moved)
			go_to(r, g,
			    g->since < UINT64_MAX ? g->since : g->place);
		return st == TEL_END ? TEL_OK : st;
	}
	const struct native_entry *e = current(g);
	/* a log is described before its names are */
	const int named = g->skipping && (e == NULL || e->kind != NATIVE_LOG);
	if (named && g->all == NONE)
		choose_all(r, s, e == NULL || e->kind == NATIVE_START);
	while (named && g->skipping) {
		if (tel_reader_wants_none(r) || !next_names(g, &at)) {
			end_skipping(r, s);
			break;
		}
		st = take_names(r, s, at);
		if (st != TEL_OK)
			return st;
	}
	/* the end of the stream before it is left out with its last blocks */
	if (e != NULL && e->kind == NATIVE_START && place_of(r, g) < e->offset)
		s->in_stream = s->started = s->identified = 0;
	if (e != NULL)
		go_to(r, g, e->offset);
	else if (place_of(r, g) < x->end)
		go_to(r, g, x->end);
	else if (g->moved)
		go_to(r, g, g->place);
	if (e != NULL)
		native_range_advance(g);
	return TEL_OK;
}
