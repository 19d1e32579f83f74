/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counting a native stream: events that nobody looks at are counted by the
 * block, and nothing that is counted or handed out differs.
 */
#include "native_log.h"

#define LOG "tests/data/mps/1.111.0-lii6gc-amcss.log.zst"
#define ROOM 65536

/* An event as a read of all of them gives it. */
struct seen {
	uint64_t hash, clock, offset;
	const char *name; /* of its type */
};

static struct seen seen[ROOM];
static uint64_t nseen;
static char names[ROOM][32];

/* The log in blocks of so many events; kinds: those it keeps, or NULL. */
static void
write_kinds(struct stream *to, unsigned every, const char *kinds)
{
	tel_output *out = tel_output_new_callback(put_stream, to);
	tel_writer *w = tel_writer_new(out);
	tel_reader *r = tel_reader_new();
	tel_filter *f = tel_filter_new();
	const tel_event *ev;
	uint64_t n = 0;

	if (out == NULL || w == NULL || r == NULL || f == NULL ||
	    tel_writer_set_target(w, "tel") != TEL_OK ||
	    tel_reader_open_file(r, LOG) != TEL_OK ||
	    (kinds != NULL && tel_filter_set_kinds(f, kinds) != TEL_OK) ||
	    tel_filter_bind(f, tel_reader_schema(r)) != TEL_OK)
		abort();
	while (tel_reader_next(r, &ev) == TEL_OK) {
		if (tel_filter_match(f, ev) <= 0)
			continue;
		if (tel_writer_event(w, ev) != TEL_OK)
			abort();
		if (++n % every == 0 && tel_writer_flush(w) != TEL_OK)
			abort();
	}
	if (tel_writer_end_file(w, r) != TEL_OK ||
	    tel_writer_finish(w) != TEL_OK || tel_output_finish(out) != TEL_OK)
		abort();
	tel_filter_free(f);
	tel_writer_free(w);
	tel_output_free(out);
	tel_reader_free(r);
}

/* What came of a read. */
struct counts {
	uint64_t given;  /* events that were handed out */
	uint64_t wrong;  /* and were not what they are */
	uint64_t events; /* as the reader says */
	uint64_t damaged;
	tel_stats *stats;
};

/* Remembers an event, or compares it with what was. */
static void
look_at(struct counts *c, const tel_event *ev, int take, const char *whole)
{
	const char *name = tel_type_name(tel_event_type(ev));
	struct seen *s = &seen[ev->index];

	if (ev->index >= ROOM)
		abort();
	if (!take) {
		snprintf(names[ev->index], sizeof(names[0]), "%s", name);
		*s = (struct seen){ hash_event(ev), ev->clock, ev->offset,
			names[ev->index] };
		nseen = ev->index + 1;
		return;
	}
	c->wrong += s->clock != ev->clock || s->offset != ev->offset ||
	    strcmp(s->name, name) != 0 ||
	    (strcmp(name, whole) == 0 && hash_event(ev) != s->hash);
}

/* take: events may be left out.  whole: a type all of which are looked at. */
static struct counts
count(const struct stream *s, const char *spec, size_t read_size, int take,
    const char *whole)
{
	struct counts c = { 0 };
	tel_reader *r = tel_reader_new();
	const tel_event *ev;

	c.stats = tel_stats_new();
	if (r == NULL || c.stats == NULL ||
	    (spec != NULL && tel_stats_add(c.stats, spec) != TEL_OK) ||
	    tel_reader_set(r, TEL_READ_SIZE, (int64_t)read_size) != TEL_OK ||
	    tel_reader_open_memory(r, s->data, s->size, "s") != TEL_OK ||
	    tel_stats_begin(c.stats, r) != TEL_OK)
		abort();
	if (take)
		tel_stats_attach(c.stats, r);
	while (tel_reader_next(r, &ev) == TEL_OK) {
		look_at(&c, ev, take, whole);
		c.given++;
		if (tel_stats_event(c.stats, ev) != TEL_OK)
			abort();
	}
	if (tel_stats_end(c.stats, r) != TEL_OK)
		abort();
	c.events = tel_reader_count(r, TEL_COUNT_EVENTS);
	c.damaged = tel_reader_count(r, TEL_COUNT_DAMAGED);
	tel_reader_free(r);
	return c;
}

/* 1 when two sets have counted the same. */
static int
is_same(const tel_stats *a, const tel_stats *b)
{
	tel_int128 x, y;
	tel_part p, q;
	size_t i;
	int k;

	for (k = TEL_TOTAL_LOGS; k <= TEL_TOTAL_INHERITED; k++) {
		int known = tel_stats_total(a, (tel_total)k, &x);

		if (known != tel_stats_total(b, (tel_total)k, &y) ||
		    (known && (x.low != y.low || x.high != y.high))) {
			diag("total %d differs", k);
			return 0;
		}
	}
	if (tel_stats_part_count(a, TEL_PART_TYPE) !=
	    tel_stats_part_count(b, TEL_PART_TYPE))
		return 0;
	for (i = 0; i < tel_stats_part_count(a, TEL_PART_TYPE); i++)
		if (!tel_stats_part(a, TEL_PART_TYPE, i, &p) ||
		    !tel_stats_part(b, TEL_PART_TYPE, i, &q) ||
		    strcmp(p.name, q.name) != 0 || p.events != q.events ||
		    p.bytes != q.bytes) {
			diag("%s differs", p.name);
			return 0;
		}
	return 1;
}

static void
compare(const struct stream *s, const char *spec, const char *whole,
    size_t read_size, int damaged, const char *what)
{
	struct counts all = count(s, spec, read_size, 0, whole);
	struct counts some = count(s, spec, read_size, 1, whole);

	ok(is_same(all.stats, some.stats), "%s: the same is counted", what);
	ok(all.events == some.events && all.damaged == some.damaged &&
	        (all.damaged > 0) == damaged,
	    "%s: the reader says the same", what);
	is_u64(some.wrong, 0, "%s: what is given is as it is", what);
	ok(some.given < all.given / 3 * 2, "%s: most are not given: %u of %u",
	    what, (unsigned)some.given, (unsigned)all.given);
	tel_stats_free(all.stats);
	tel_stats_free(some.stats);
}

static void
test_damage(struct stream *s)
{
	static struct place places[1024];
	unsigned n = find_places(s, places, 1024);

	/* in the middle: what comes before and behind it is counted */
	s->data[places[n / 2].at + places[n / 2].size - 3] ^= 1;
	compare(s, NULL, "", 262144, 1, "damaged");
}

/* What every event is asked for, every event is given for. */
static void
test_all_wanted(const struct stream *s)
{
	struct counts c = count(s, "a=tally(code,4k)", 262144, 1, "");

	is_u64(c.given, c.events, "all are given where all are looked at");
	tel_stats_free(c.stats);
}

int
main(void)
{
	struct stream small = { 0 }, large = { 0 }, gaps = { 0 };

	write_kinds(&small, 100, NULL);
	write_kinds(&large, 1u << 30, NULL);
	write_kinds(&gaps, 500, "Object,Seg,Ref");
	compare(&large, NULL, "", 262144, 0, "large blocks");
	compare(&small, NULL, "", 1, 0, "small blocks");
	compare(&small, "p=tally(size,4k) if name == SegAlloc", "SegAlloc",
	    262144, 0, "a type that is looked at");
	compare(&gaps, NULL, "", 262144, 0, "a part of a log");
	test_all_wanted(&small);
	test_damage(&small);
	free(small.data);
	free(large.data);
	free(gaps.data);
	return done();
}
