/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Accounting of the native format: streams that are cut, of which others
 * follow, and ends that do not fit.  Nothing of that goes unnoticed, and no event
 * is invented.
 */
#include "native_log.h"

#define PLACES 256

static struct stream whole, second;
static struct result want, want_second;
static struct place places[PLACES];
static unsigned nplaces;

/* The number of the record that is block number k. */
static unsigned
block(unsigned k)
{
	unsigned i;

	for (i = 0; i < nplaces; i++)
		if (places[i].kind == NATIVE_BLOCK && k-- == 0)
			return i;
	abort();
}

static void
read_plain(const struct stream *s, struct result *got)
{
	read_stream(s->data, s->size, (struct how_to_read){ 0 }, got);
}

/* Blocks of two streams with the same places: the start of one is missing. */
static void
test_other_stream(void)
{
	struct place others[PLACES];
	struct stream s = { 0 };
	struct result got = { 0 };
	unsigned n = find_places(&second, others, PLACES), i;

	for (i = 0; i < n && others[i].kind != NATIVE_BLOCK; i++)
		;
	put_stream(&s, whole.data, places[nplaces - 1].at);
	put_stream(&s, second.data + others[i].at, second.size - others[i].at);
	read_plain(&s, &got);
	is_u64(got.events, want.events + want_second.events,
	    "blocks of another stream are events of their own");
	ok(got.damaged > 0 && got.told_maybe,
	    "and the end of the one before is missing");
	free(s.data);
	free(got.hashes);
}

/* A writer was killed, and the next one appended to its file. */
static void
test_cut_and_appended(void)
{
	struct stream s = { 0 };
	struct result got = { 0 };
	uint64_t expected;
	unsigned i, bad = 0, silent = 0;
	size_t cut;

	for (cut = 1; cut < whole.size; cut += 7) {
		s.size = 0;
		put_stream(&s, whole.data, cut);
		put_stream(&s, second.data, second.size);
		read_plain(&s, &got);
		expected = want_second.events;
		for (i = 0; i < nplaces; i++)
			if (places[i].at + places[i].size <= cut)
				expected += places[i].count;
		bad += got.events != expected;
		silent += got.damaged == 0 || !got.told_maybe;
	}
	is_u64(bad, 0, "what was written before a cut is read");
	is_u64(silent, 0, "and a cut is never silent");
	free(s.data);
	free(got.hashes);
}

static void
test_ends(void)
{
	struct stream s = { 0 };
	struct result got = { 0 };
	unsigned char *end;
	unsigned i;

	for (i = 0; i < 5; i++) {
		s.size = 0;
		put_stream(&s, whole.data, whole.size);
		end = s.data + places[nplaces - 1].at;
		/* the length, the index, the events, the hash, the directory */
		end[NATIVE_HEADER + 8 * i] ^= 1;
		tel__native_seal(end, NATIVE_END, 0, end[5], 0);
		read_plain(&s, &got);
		ok(got.events == want.events && got.damaged == 1,
		    "number %u of the end is wrong: %s", i, got.text);
	}
	free(s.data);
	free(got.hashes);
}

static void
test_short_start(void)
{
	struct stream s = { 0 };
	struct result got = { 0 };
	unsigned char start[NATIVE_HEADER + 20];

	memcpy(start, whole.data, sizeof(start));
	tel__native_seal(start, NATIVE_START, 1, 0, 10);
	put_stream(&s, start, NATIVE_HEADER + 10);
	put_stream(&s, whole.data + places[1].at, whole.size - places[1].at);
	read_plain(&s, &got);
	ok(got.events == want.events && got.damaged > 0,
	    "a START record that is too short is damage: %s", got.text);
	free(s.data);
	free(got.hashes);
}

/* Values that are reserved: a newer version of the format has them. */
static void
test_reserved(void)
{
	const struct place *p = &places[block(2)];
	struct stream s = { 0 };
	struct result got = { 0 };
	struct native_record rec;
	unsigned newer = 0, wrong = 0;
	unsigned char *record, kept;
	size_t i;

	put_stream(&s, whole.data, whole.size);
	record = s.data + p->at;
	if (tel__native_look(record, p->size, &rec) != 1)
		abort();
	for (i = NATIVE_HEADER + rec.head_size; i < p->size; i++) {
		kept = record[i];
		record[i] = 0xf5;
		tel__native_seal(record, NATIVE_BLOCK, 0, rec.head_size,
		    rec.body_size);
		end_again(&s);
		read_plain(&s, &got);
		newer += got.unread > 0;
		/* it is of a newer version, damaged, or changed: not both */
		wrong += got.unread > 0 &&
		    (got.damaged > 0 || got.unread != p->count ||
		        got.events != want.events - p->count);
		record[i] = kept;
	}
	ok(newer > 3, "%u bytes are modes of columns that are reserved", newer);
	is_u64(wrong, 0, "which is not damage, and loses that block only");
	free(s.data);
	free(got.hashes);
}

int
main(void)
{
	write_log(&whole, 10);
	write_log(&second, 7);
	nplaces = find_places(&whole, places, PLACES);
	read_plain(&whole, &want);
	read_plain(&second, &want_second);
	ok(want.damaged == 0 && want.events > 100 && block(4) > 0,
	    "%llu events", (unsigned long long)want.events);
	test_other_stream();
	test_cut_and_appended();
	test_ends();
	test_short_start();
	test_reserved();
	free(whole.data);
	free(second.data);
	free(want.hashes);
	free(want_second.hashes);
	return done();
}
