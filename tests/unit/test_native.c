/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The native format: damage loses only the events of the affected blocks, and
 * reports them.
 */
#include "native_log.h"

#define LOG NATIVE_LOG_FILE
#define PLACES 256

static struct stream whole; /* the log, in small blocks */
static struct result want;  /* what is in it */
static struct place places[PLACES];
static unsigned nplaces;

/* The hashes of the log as it was before. */
static void
read_log(struct result *res)
{
	tel_reader *r = tel_reader_new();
	const tel_event *ev;

	if (r == NULL || tel_reader_open_file(r, LOG) != TEL_OK)
		abort();
	while (tel_reader_next(r, &ev) == TEL_OK) {
		res->hashes = realloc(res->hashes,
		    (size_t)(res->events + 1) * sizeof(*res->hashes));
		if (res->hashes == NULL)
			abort();
		res->hashes[res->events++] = hash_event(ev);
	}
	tel_reader_free(r);
}

/*
 * 1 when what was read is what was written but for the events of the blocks
 * that have bytes from a up to b, and as many were reported.
 */
static int
lost_only(const struct result *got, size_t a, size_t b)
{
	uint64_t at = 0, lost = 0, i;
	unsigned k;

	for (k = 0; k < nplaces; k++) {
		const struct place *p = &places[k];

		if (p->at < b && p->at + p->size > a) {
			lost += p->count;
			continue;
		}
		for (i = 0; i < p->count; i++, at++)
			if (at >= got->events ||
			    got->hashes[at] != want.hashes[p->first + i])
				return 0;
	}
	return at == got->events &&
	    (got->told_lost == lost || (lost > 0 && got->told_maybe));
}

static void
test_round_trip(void)
{
	static const size_t sizes[] = { 1, 2, 17, 4096 };
	struct result before = { 0 }, got = { 0 };
	unsigned i;

	read_log(&before);
	is_u64(want.events, before.events, "all events are there");
	ok(want.damaged == 0 && want.ended == TEL_END, "nothing is damaged");
	ok(memcmp(want.hashes, before.hashes,
	       (size_t)before.events * sizeof(*before.hashes)) == 0,
	    "and they are what they were");
	for (i = 0; i < 4; i++) {
		read_stream(whole.data, whole.size,
		    (struct how_to_read){ .read_size = sizes[i] }, &got);
		ok(got.events == want.events && got.damaged == 0 &&
		        memcmp(got.hashes, want.hashes,
		            (size_t)got.events * sizeof(*got.hashes)) == 0,
		    "the same in reads of %zu", sizes[i]);
	}
	free(before.hashes);
	free(got.hashes);
}

static void
test_flips(void)
{
	static const unsigned char masks[] = { 0x01, 0x80, 0xff };
	const int slow = getenv("TEST_SLOW") != NULL;
	struct result got = { 0 };
	unsigned bad = 0, silent = 0, m;
	size_t i;

	for (m = 0; m < 3; m++) {
		/* in a sample each byte is changed by one of the masks */
		for (i = m; i < whole.size; i += slow ? 97 : sample_step(3)) {
			whole.data[i] ^= masks[m];
			read_stream(whole.data, whole.size,
			    (struct how_to_read){ 0 }, &got);
			whole.data[i] ^= masks[m];
			if (!lost_only(&got, i, i + 1) && bad++ < 5)
				diag("byte %zu of %zu: %s", i, whole.size,
				    got.text);
			silent += got.damaged == 0;
		}
	}
	is_u64(bad, 0, "a byte that is changed costs its block alone");
	is_u64(silent, 0, "and none is changed without a word");
	read_stream(whole.data, whole.size, (struct how_to_read){ .strict = 1 },
	    &got);
	ok(got.ended == TEL_END, "what is whole can be read strictly");
	whole.data[whole.size / 2] ^= 1;
	read_stream(whole.data, whole.size, (struct how_to_read){ .strict = 1 },
	    &got);
	whole.data[whole.size / 2] ^= 1;
	ok(got.ended == TEL_EDAMAGED, "what is not cannot");
	free(got.hashes);
}

static void
test_prefixes(void)
{
	const int slow = getenv("TEST_SLOW") != NULL;
	struct result got = { 0 };
	unsigned bad = 0, silent = 0;
	size_t n;

	for (n = 1; n < whole.size; n += slow ? 97 : sample_step(3)) {
		unsigned char *copy = malloc(n);

		/* a copy, so that a checker of memory sees its end */
		if (copy == NULL)
			abort();
		memcpy(copy, whole.data, n);
		read_stream(copy, n, (struct how_to_read){ 0 }, &got);
		free(copy);
		if (!lost_only(&got, n, whole.size) && bad++ < 5)
			diag("%zu bytes of %zu: %s", n, whole.size, got.text);
		silent += got.damaged == 0;
	}
	is_u64(bad, 0, "a stream that is cut has all its whole blocks");
	is_u64(silent, 0, "and the cut is reported");
	free(got.hashes);
}

static uint32_t
next_random(uint32_t *x)
{
	*x = *x * 1664525u + 1013904223u;
	return *x >> 8;
}

static void
test_cuts(void)
{
	const unsigned cuts =
	    getenv("TEST_SLOW") != NULL ? 50 : 2000 / sample_step(3);
	struct result got = { 0 };
	unsigned char *copy = malloc(whole.size);
	unsigned bad = 0, i;
	uint32_t x = 1;

	if (copy == NULL)
		abort();
	for (i = 0; i < cuts; i++) {
		size_t a = next_random(&x) % whole.size;
		size_t n = 1 + next_random(&x) % (i % 2 ? 100 : 2000);

		/* every fourth begins where a record does */
		if (i % 4 == 0)
			a = places[next_random(&x) % nplaces].at;
		if (n > whole.size - a)
			n = whole.size - a;
		memcpy(copy, whole.data, a);
		memcpy(copy + a, whole.data + a + n, whole.size - a - n);
		read_stream(copy, whole.size - n, (struct how_to_read){ 0 },
		    &got);
		/* bytes that are alike at both ends may be either's */
		while (a + n < whole.size && whole.data[a] == whole.data[a + n])
			a++;
		while (!lost_only(&got, a, a + n) && a > 0 &&
		    whole.data[a - 1] == whole.data[a + n - 1])
			a--;
		if (!lost_only(&got, a, a + n) && bad++ < 5)
			diag("%zu bytes at %zu of %zu: %s", n, a, whole.size,
			    got.text);
	}
	is_u64(bad, 0, "what is cut out loses only the affected blocks");
	free(copy);
	free(got.hashes);
}

/* Puts a record of that kind between those of the stream, at place k. */
static void
insert(struct stream *to, unsigned k, unsigned kind, int needed)
{
	unsigned char rec[NATIVE_HEADER + 3 + 5];

	memcpy(rec + NATIVE_HEADER, "abcdefgh", 8);
	tel__native_seal(rec, (enum native_kind)kind, needed, 3, 5);
	to->size = 0;
	put_stream(to, whole.data, places[k].at);
	put_stream(to, rec, sizeof(rec));
	put_stream(to, whole.data + places[k].at, whole.size - places[k].at);
	end_again(to);
}

/* Sets a byte of the version in START. */
static void
set_version(struct stream *s, unsigned at, unsigned value)
{
	s->data[NATIVE_HEADER + at] = (unsigned char)value;
	tel__native_seal(s->data, NATIVE_START, 1, 0,
	    places[0].size - NATIVE_HEADER);
	end_again(s);
}

static void
test_later_versions(void)
{
	struct stream other = { 0 };
	struct result got = { 0 };
	unsigned bad = 0, k;

	for (k = 1; k < nplaces; k++) {
		/* a directory is just before the end */
		if (places[k - 1].kind == NATIVE_DIRECTORY)
			continue;
		insert(&other, k, 99, 0);
		read_stream(other.data, other.size, (struct how_to_read){ 0 },
		    &got);
		bad += got.events != want.events || got.damaged != 0;
	}
	is_u64(bad, 0, "records that are not known are stepped over");
	insert(&other, 3, 99, 1);
	read_stream(other.data, other.size, (struct how_to_read){ 0 }, &got);
	ok(got.ended == TEL_EVERSION, "but not those that are needed");
	insert(&other, 3, 0, 1);
	read_stream(other.data, other.size, (struct how_to_read){ 0 }, &got);
	ok(got.ended == TEL_EVERSION, "nor one of the kind 0");
	insert(&other, 3, 99, 1);
	read_stream(other.data, other.size, (struct how_to_read){ .force = 1 },
	    &got);
	is_u64(got.events, want.events, "unless that is asked for");

	other.size = 0;
	put_stream(&other, whole.data, whole.size);
	set_version(&other, 2, 200);
	read_stream(other.data, other.size, (struct how_to_read){ 0 }, &got);
	ok(got.events == want.events && got.damaged == 0 &&
	        strstr(got.text, "version 1.1.200") != NULL,
	    "a newer minor version is read, with a warning");
	set_version(&other, 1, 200);
	read_stream(other.data, other.size, (struct how_to_read){ 0 }, &got);
	ok(got.opened == TEL_EVERSION && got.events == 0,
	    "a newer median version is refused");
	read_stream(other.data, other.size, (struct how_to_read){ .force = 1 },
	    &got);
	is_u64(got.events, want.events, "and read when that is asked for");
	set_version(&other, 1, NATIVE_MEDIAN);
	set_version(&other, 0, 2);
	read_stream(other.data, other.size, (struct how_to_read){ 0 }, &got);
	ok(got.opened == TEL_EVERSION, "a newer major version is refused");
	read_stream(other.data, other.size, (struct how_to_read){ .force = 1 },
	    &got);
	is_u64(got.events, want.events, "and read when that is asked for");
	set_version(&other, 0, NATIVE_MAJOR);
	set_version(&other, 3, 0xC3);
	read_stream(other.data, other.size, (struct how_to_read){ 0 }, &got);
	ok(got.opened == TEL_EVERSION, "another byte order is refused");
	free(other.data);
	free(got.hashes);
}

static void
test_one_after_the_other(void)
{
	struct stream both = { 0 }, second = { 0 };
	struct result got = { 0 };
	uint64_t n;

	put_stream(&both, whole.data, whole.size);
	put_stream(&both, whole.data, whole.size);
	read_stream(both.data, both.size, (struct how_to_read){ 0 }, &got);
	is_u64(got.events, 2 * want.events, "two streams are a log");
	ok(got.damaged == 0, "that is whole");
	is_u64(got.logs, 2, "of two logs");
	ok(memcmp(got.hashes + want.events, want.hashes,
	       (size_t)want.events * sizeof(*want.hashes)) == 0,
	    "the second one is as the first");
	/* the end of the first, and the start of the second, are gone */
	write_log(&second, 7);
	both.size = 0;
	put_stream(&both, whole.data, whole.size - 10);
	put_stream(&both, second.data + 30, second.size - 30);
	read_stream(second.data, second.size, (struct how_to_read){ 0 }, &got);
	n = got.events;
	read_stream(both.data, both.size, (struct how_to_read){ 0 }, &got);
	is_u64(got.events, want.events + n, "whatever is between them");
	ok(got.damaged > 0, "which is reported");
	free(second.data);
	free(both.data);
	free(got.hashes);
}

static void
test_checks(void)
{
	static const unsigned char text[] =
	    "Nobody inspects the spammish repetition";

	/* the test vectors of XXH64 */
	ok(tel__native_xxh64(text, 0) == 0xEF46DB3751D8E999u,
	    "XXH64 of nothing");
	ok(tel__native_xxh64((const unsigned char *)"abc", 3) ==
	        0x44BC2CF5AD770999u,
	    "XXH64 of 3 bytes");
	ok(tel__native_xxh64(text, sizeof(text) - 1) == 0xFBCEA83C8A378BF1u,
	    "XXH64 of 39 bytes");
}

int
main(void)
{
	write_log(&whole, 10);
	nplaces = find_places(&whole, places, PLACES);
	read_stream(whole.data, whole.size, (struct how_to_read){ 0 }, &want);
	ok(nplaces > 12 && want.events > 100,
	    "%u records, %llu events, %zu bytes", nplaces,
	    (unsigned long long)want.events, whole.size);
	test_checks();
	test_round_trip();
	test_flips();
	test_prefixes();
	test_cuts();
	test_later_versions();
	test_one_after_the_other();
	free(whole.data);
	free(want.hashes);
	return done();
}
