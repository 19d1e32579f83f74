/* SPDX-License-Identifier: BSD-2-Clause */
/* The index of a native file: what it says, and what it may not say. */
#include <stdlib.h>

#include "format/tel/index.h"
#include "native_log.h"
#include "tap.h"

/* A file that is made: records whose bodies are of no interest. */
struct file {
	unsigned char bytes[1 << 16];
	size_t size;
};

/* Adds a record; gives its size. */
static size_t
put(struct file *f, enum native_kind kind, const void *head, size_t nhead,
    const void *body, size_t nbody)
{
	unsigned char *p = f->bytes + f->size;

	if (nhead > 0)
		memcpy(p + NATIVE_HEADER, head, nhead);
	if (nbody > 0)
		memcpy(p + NATIVE_HEADER + nhead, body, nbody);
	tel__native_seal(p, kind, 0, nhead, nbody);
	f->size += NATIVE_HEADER + nhead + nbody;
	return NATIVE_HEADER + nhead + nbody;
}

static size_t
varint(unsigned char *p, uint64_t v)
{
	size_t n = 0;

	for (; v > 127; v >>= 7)
		p[n++] = (unsigned char)(v | 128);
	p[n++] = (unsigned char)v;
	return n;
}

/* Adds an index record and an end to a stream that begins at begin. */
static void
put_end(struct file *f, size_t begin, uint64_t entries, const void *body,
    size_t nbody)
{
	unsigned char head[24];
	size_t n = varint(head, entries), index;

	n += varint(head + n, 1);
	index = put(f, NATIVE_INDEX, head, n, body, nbody);
	tel_store_le64(head, f->size + NATIVE_HEADER + 24 - begin);
	tel_store_le64(head + 8, index);
	tel_store_le64(head + 16, 0);
	put(f, NATIVE_END, head, 24, NULL, 0);
}

/* Two blocks, the second one earlier, and names of them. */
static void
put_made(struct file *f, uint64_t clock)
{
	const size_t begin = f->size,
	             start = put(f, NATIVE_START, NULL, 0,
	                 "12345678901234567890", 20);
	unsigned char b[256];
	size_t n = 0;

	n += varint(b + n, NATIVE_BLOCK);
	n += varint(b + n, start);
	n += varint(b + n, put(f, NATIVE_BLOCK, NULL, 0, "one", 3));
	n += varint(b + n, 7);
	n += varint(b + n, tel__zigzag(clock));
	n += varint(b + n, 100);
	n += varint(b + n, NATIVE_BLOCK);
	n += varint(b + n, 0);
	n += varint(b + n, put(f, NATIVE_BLOCK, NULL, 0, "two!", 4));
	n += varint(b + n, 5);
	n += varint(b + n, tel__zigzag(0 - (uint64_t)50));
	n += varint(b + n, 20);
	n += varint(b + n, NATIVE_NAMES);
	n += varint(b + n, 0);
	n += varint(b + n, put(f, NATIVE_NAMES, NULL, 0, "names", 5));
	n += varint(b + n, 1);
	n += varint(b + n, 0);
	n += varint(b + n, 0);
	n += varint(b + n, 1);
	put_end(f, begin, 3, b, n);
}

/* Reads the index of size bytes, which are copied to be watched. */
static struct native_index *
read_index(const void *data, size_t size)
{
	unsigned char *copy = malloc(size > 0 ? size : 1);
	struct native_index *x = NULL;
	struct tel_input *in;

	if (copy == NULL)
		abort();
	memcpy(copy, data, size);
	if (tel__input_memory(copy, size, 4096, &in) != TEL_OK ||
	    tel__native_index_read(in, &x) != TEL_OK)
		abort();
	tel__input_free(in);
	free(copy);
	return x;
}

static void
check_good(void)
{
	static struct file f;
	struct native_index *x;
	const struct native_entry *e;
	size_t one;

	put_made(&f, 1000);
	one = f.size;
	x = read_index(f.bytes, f.size);
	if (!ok(x != NULL && x->count == 4, "the index of a stream"))
		return;
	e = x->entries;
	ok(e[0].kind == NATIVE_START && e[0].offset == 0, "its start");
	ok(e[1].kind == NATIVE_BLOCK && e[1].offset == 38 && e[1].size == 21 &&
	        e[1].count == 7 && e[1].first == 1000 && e[1].last == 1100 &&
	        e[1].ordinal == 0 && e[1].sequence == 0 && !e[1].named,
	    "a block that no names are of");
	ok(e[2].offset == 59 && e[2].size == 22 && e[2].first == 950 &&
	        e[2].last == 970 && e[2].ordinal == 7 && e[2].sequence == 1 &&
	        e[2].named,
	    "one that some are of");
	ok(e[3].kind == NATIVE_NAMES && e[3].offset == 81 && e[3].from == 1 &&
	        e[3].ordinal == 12 && e[3].sequence == 2,
	    "the names");
	ok(x->first == 950 && x->last == 1100 && x->least == 2 &&
	        x->events == 12 && x->single && x->end == f.size - 42,
	    "and all of it");
	tel__native_index_free(x);
	put_made(&f, 5000);
	x = read_index(f.bytes, f.size);
	ok(x != NULL && x->count == 8 && !x->single && x->last == 5100 &&
	        x->entries[4].kind == NATIVE_START &&
	        x->entries[4].offset == one &&
	        x->entries[5].offset == one + 38 && x->entries[5].ordinal == 0,
	    "two streams, one behind the other");
	tel__native_index_free(x);
	x = read_index(f.bytes + 1, f.size - 1);
	ok(x == NULL, "not where bytes are missing");
	tel__native_index_free(x);
	x = read_index(f.bytes, 0);
	ok(x == NULL, "nor of nothing");
	tel__native_index_free(x);
}

/* Indexes that are whole and say anything. */
static void
check_bad(void)
{
	static struct file f;
	unsigned char b[300];
	struct native_index *x;
	unsigned round, outside = 0, taken = 0;
	uint32_t seed = 1;
	size_t i, n;

	for (round = 0; round < 200000; round++) {
		f.size = 0;
		put(&f, NATIVE_START, NULL, 0, "12345678901234567890", 20);
		seed = seed * 1664525u + 1013904223u;
		n = (seed >> 8) % (round % 2 ? 12 : sizeof(b));
		for (i = 0; i < n; i++) {
			seed = seed * 1664525u + 1013904223u;
			b[i] =
			    (unsigned char)(seed >> 24 & (round % 3 ? 7 : 255));
		}
		put_end(&f, 0, round % 5 ? n / 6 : seed, b, n);
		x = read_index(f.bytes, f.size);
		taken += x != NULL;
		for (i = 0; x != NULL && i < x->count; i++)
			outside += x->entries[i].offset + x->entries[i].size >
			        f.size ||
			    x->entries[i].last < x->entries[i].first;
		tel__native_index_free(x);
	}
	is_u64(outside, 0, "no index leads out of its file");
	ok(taken > 0, "%u of them could be true", taken);
}

/* Nonzero when all that the directory and the summaries say is true. */
static int
is_true(const struct stream *s)
{
	struct native_index *x = read_index(s->data, s->size);
	struct native_summary sum = { 0 };
	struct tel_input *in;
	size_t i;
	int good;

	if (x == NULL ||
	    tel__input_memory(s->data, s->size, TEL_PEEK_MAX, &in) != TEL_OK)
		return 0;
	good = tel__native_index_check(in, x) == x->count;
	for (i = 0; i < x->count && good; i++)
		if (x->entries[i].kind == NATIVE_SUMMARY)
			good =
			    tel__native_summary_read(in, x, i, &sum) == TEL_OK;
	tel__native_summary_clear(&sum);
	tel__native_index_free(x);
	tel__input_free(in);
	return good;
}

/*
 * Any byte of a directory or a summary that is not true is found, also where
 * the records and the end of the stream were made to fit.
 */
static void
check_records(void)
{
	static struct place places[512];
	static struct stream s;
	const struct place *p;
	struct native_record rec;
	unsigned char *byte;
	unsigned n, i, groups = 0, wrong = 0, bytes = 0;
	size_t k;

	write_log(&s, 4);
	n = find_places(&s, places, 512);
	ok(is_true(&s), "a log of many blocks has a directory, which is true");
	for (i = 0; i < n; i++) {
		p = &places[i];
		groups += p->kind == NATIVE_SUMMARY;
		if (p->kind != NATIVE_SUMMARY && p->kind != NATIVE_DIRECTORY)
			continue;
		if (tel__native_look(s.data + p->at, p->size, &rec) != 1)
			abort();
		/* the numbers of groups and logs claim nothing about records */
		k = NATIVE_HEADER;
		if (p->kind == NATIVE_DIRECTORY)
			k += rec.head_size;
		for (; k < p->size; k++) {
			byte = s.data + p->at + k;
			*byte ^= 1;
			tel__native_seal(s.data + p->at, p->kind, 0,
			    rec.head_size, rec.body_size);
			end_again(&s);
			wrong += (unsigned)is_true(&s);
			bytes++;
			*byte ^= 1;
			tel__native_seal(s.data + p->at, p->kind, 0,
			    rec.head_size, rec.body_size);
		}
	}
	end_again(&s);
	ok(is_true(&s) && groups > 0 && bytes > 1000, "%u bytes of %u groups",
	    bytes, groups);
	is_u64(wrong, 0, "any byte that is wrong is found");
	free(s.data);
}

int
main(void)
{
	check_records();
	check_good();
	check_bad();
	return done();
}
