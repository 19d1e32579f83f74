/* SPDX-License-Identifier: BSD-2-Clause */
/* Files with a table of frames: seeking, going on behind damage, bad tables. */
#include <zstd.h>

#include "base/bytes.h"
#include "io/output.h"
#include "io/seekable.h"
#include "io/source.h"
#include "sources.h"

#define FRAME ((size_t)50000)
#define FRAMES ((SIZE + FRAME - 1) / FRAME)

/* A file that is made, and where its frames are. */
struct made {
	unsigned char *data;
	size_t size;
	size_t frame[FRAMES + 1];
};

/* Puts little-endian words at the end. */
static void
put32(struct made *m, uint32_t v)
{
	tel_store(m->data + m->size, v, 4, 0);
	m->size += 4;
}

static void
put_frame(struct made *m, const unsigned char *bytes, size_t size)
{
	ZSTD_CCtx *context = ZSTD_createCCtx();
	size_t n;

	ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
	n = ZSTD_compress2(context, m->data + m->size,
	    ZSTD_compressBound(FRAME), bytes, size);
	if (ZSTD_isError(n))
		abort();
	m->size += n;
	ZSTD_freeCCtx(context);
}

/* The table of the frames, as the format has it, by its description. */
static void
put_table(struct made *m, int checksums)
{
	uint32_t each = checksums ? 12 : 8;
	size_t i, n;

	put32(m, 0x184d2a5e);
	put32(m, (uint32_t)FRAMES * each + 9);
	for (i = 0; i < FRAMES; i++) {
		put32(m, (uint32_t)(m->frame[i + 1] - m->frame[i]));
		n = i + 1 < FRAMES ? FRAME : SIZE - i * FRAME;
		put32(m, (uint32_t)n);
		if (checksums)
			put32(m, 0x12345678);
	}
	put32(m, (uint32_t)FRAMES);
	m->data[m->size++] = checksums ? 0x80 : 0;
	put32(m, 0x8f92eab1);
}

static struct made
make_file(const unsigned char *bytes, int table, int checksums)
{
	struct made m = { malloc(4 * SIZE), 0, { 0 } };
	size_t i;

	if (m.data == NULL)
		abort();
	for (i = 0; i < FRAMES; i++) {
		put_frame(&m, bytes + i * FRAME,
		    i + 1 < FRAMES ? FRAME : SIZE - i * FRAME);
		m.frame[i + 1] = m.size;
	}
	if (table)
		put_table(&m, checksums);
	return m;
}

static struct tel_input *
open_made(const void *data, size_t size, size_t read_size)
{
	struct tel_input *in;

	if (tel__input_memory(data, size, read_size, &in) != TEL_OK ||
	    tel__input_unpack(in, &in) != TEL_OK)
		abort();
	return in;
}

/* The bytes from a position on are those of want. */
static int
good_at(struct tel_input *in, const unsigned char *want, uint64_t size,
    uint64_t at)
{
	const unsigned char *data;
	size_t avail, n;

	if (tel__input_seek(in, (int64_t)at, SEEK_SET) != (int64_t)at ||
	    tel__input_offset(in) != at ||
	    tel__input_peek(in, 70000, &data, &avail) != TEL_OK)
		return 0;
	n = size - at < 70000 ? (size_t)(size - at) : 70000;
	if (avail < n || memcmp(data, want + at, n) != 0)
		return 0;
	tel__input_consume(in, n);
	return tel__input_offset(in) == at + n;
}

static void
check_seek(const struct made *m, const unsigned char *bytes, const char *what)
{
	static const size_t sizes[] = { 1, 4096, TEL_PEEK_MAX };
	struct tel_input *in;
	uint64_t at;
	uint32_t x = 1;
	size_t i, bad;
	int k;

	for (i = 0; i < 3; i++) {
		in = open_made(m->data, m->size, sizes[i]);
		bad = 0;
		for (k = 0; k < 60; k++) {
			x = x * 1664525u + 1013904223u;
			at = k % 4 == 0 ? (x >> 8) % FRAMES * FRAME :
			                  (x >> 4) % SIZE;
			bad += !good_at(in, bytes, SIZE, at);
		}
		bad += !good_at(in, bytes, SIZE, SIZE - 1);
		bad += !good_at(in, bytes, SIZE, SIZE);
		bad += !good_at(in, bytes, SIZE, 0);
		is_u64(bad, 0, "%s, reads of %zu: found by position", what,
		    sizes[i]);
		ok(tel__input_seek(in, -7, SEEK_END) == (int64_t)SIZE - 7 &&
		        tel__input_seek(in, (int64_t)SIZE + 1, SEEK_SET) ==
		            -1 &&
		        tel__input_seek(in, -1, SEEK_SET) == -1 &&
		        tel__input_seek(in, -(int64_t)SIZE - 1, SEEK_END) ==
		            -1 &&
		        tel__input_seek(in, INT64_MIN, SEEK_END) == -1 &&
		        tel__input_offset(in) == SIZE - 7,
		    "from the end, and not past the ends");
		tel__input_free(in);
	}
}

/*
 * Reads to the end, going on behind damage.  Counts in *lost what is reported
 * as lost; the rest must be right at its place.
 */
static int
read_past(struct tel_input *in, const unsigned char *want, int places,
    uint64_t *lost, size_t *good, int *damaged)
{
	const unsigned char *data;
	uint64_t at, n;
	size_t avail;
	tel_status st;
	int wrong = 0;

	*lost = *good = 0;
	*damaged = 0;
	for (;;) {
		st = tel__input_peek(in, 1, &data, &avail);
		at = tel__input_offset(in);
		if (avail == 0) {
			if (st == TEL_OK)
				return wrong;
			if (st != TEL_EDAMAGED)
				return 100;
			++*damaged;
			if (tel__input_resume(in, &n) != TEL_OK)
				return wrong;
			*lost += n;
			continue;
		}
		if (places &&
		    (at + avail > SIZE || memcmp(data, want + at, avail) != 0))
			wrong++;
		*good += avail;
		tel__input_consume(in, avail);
	}
}

static void
check_damage(const unsigned char *bytes)
{
	struct made m = make_file(bytes, 1, 0), plain = make_file(bytes, 0, 0);
	size_t at, good, bad = 0, tried = 0;
	struct tel_input *in;
	unsigned char *copy;
	uint64_t lost;
	int damaged;

	for (at = 4999; at < m.frame[FRAMES]; at += 4999) {
		m.data[at] ^= 0x10;
		plain.data[at] ^= 0x10;
		in = open_made(m.data, m.size, at % 2 ? 4096 : TEL_PEEK_MAX);
		/* the content of a frame without its checksum may be wrong */
		read_past(in, bytes, 0, &lost, &good, &damaged);
		bad += good + lost != SIZE || damaged > 1 || lost > FRAME;
		tel__input_free(in);
		in = open_made(plain.data, plain.size, 4096);
		read_past(in, bytes, 0, &lost, &good, &damaged);
		bad += damaged == 0 || lost != 0 || good + FRAME < SIZE;
		tel__input_free(in);
		tried++;
		m.data[at] ^= 0x10;
		plain.data[at] ^= 0x10;
	}
	is_u64(bad, 0, "a byte changed in %zu places costs one frame", tried);
	/* a range that is cut out of a file without a table */
	copy = malloc(plain.size);
	if (copy == NULL)
		abort();
	bad = tried = 0;
	for (at = 1000; at + 30000 < plain.size; at += 17777) {
		memcpy(copy, plain.data, at);
		memcpy(copy + at, plain.data + at + 30000,
		    plain.size - at - 30000);
		in = open_made(copy, plain.size - 30000, 4096);
		read_past(in, bytes, 0, &lost, &good, &damaged);
		bad += damaged != 1 || good + 3 * FRAME < SIZE;
		tel__input_free(in);
		tried++;
	}
	is_u64(bad, 0, "a range cut out in %zu places costs its frames", tried);
	/* what is known to be lost, and the right bytes behind it */
	memset(m.data + m.frame[3], 0xff, 4);
	in = open_made(m.data, m.size, 4096);
	is_u64((uint64_t)read_past(in, bytes, 1, &lost, &good, &damaged), 0,
	    "what follows damage has its place");
	is_u64(lost, FRAME, "bytes that are lost");
	tel__input_free(in);
	free(copy);
	free(m.data);
	free(plain.data);
}

/* Whether data is taken to be in frames that are known. */
static int
has_table(const void *data, size_t size)
{
	struct tel_frames *frames;
	struct tel_input *in;
	int has;

	if (tel__input_memory(data, size, 4096, &in) != TEL_OK ||
	    tel__frames_find(in, &frames) != TEL_OK)
		abort();
	has = frames != NULL;
	free(frames);
	tel__input_free(in);
	return has;
}

static void
check_hostile(const unsigned char *bytes)
{
	struct made m = make_file(bytes, 1, 0);
	size_t table = m.frame[FRAMES], at, bad = 0, size = m.size;
	unsigned char keep, *both;
	unsigned bit;

	ok(has_table(m.data, m.size), "the table is found");
	for (at = table; at < m.size; at++) {
		for (bit = 0; bit < 8; bit++) {
			/* sizes of content are known to the frames only */
			if (at >= table + 8 && at < m.size - 9 &&
			    (at - table) % 8 >= 4)
				continue;
			/* two bits of the flags may be anything */
			if (at == m.size - 5 && bit < 2)
				continue;
			m.data[at] ^= (unsigned char)(1u << bit);
			bad += (size_t)has_table(m.data, m.size);
			m.data[at] ^= (unsigned char)(1u << bit);
		}
	}
	is_u64(bad, 0, "a table with a flipped bit is none");
	for (bad = 0, at = 1; at < size; at += at < 200 ? 1 : 991)
		bad += (size_t)has_table(m.data, size - at);
	is_u64(bad, 0, "a file that is cut has no table");
	for (bad = 0, at = 1; at < size; at += at < 200 ? 1 : 991)
		bad += (size_t)has_table(m.data + at, size - at);
	is_u64(bad, 0, "nor one without its start");
	ok(!has_table(m.data + table, size - table), "nor a table alone");
	keep = m.data[size - 9];
	memset(m.data + size - 9, 0xff, 4);
	ok(!has_table(m.data, size), "nor one that claims 2^32 - 1");
	memset(m.data + size - 9, 0, 4);
	ok(!has_table(m.data, size), "nor one that claims none");
	m.data[size - 9] = keep;
	both = malloc(2 * size + 1);
	if (both == NULL)
		abort();
	memcpy(both, m.data, size);
	memcpy(both + size, m.data, size);
	ok(has_table(both, 2 * size), "two files, one behind the other");
	memcpy(both + size + 1, m.data, size);
	both[size] = 0;
	ok(!has_table(both, 2 * size + 1), "not with something between");
	free(both);
	free(m.data);
}

/* Content sizes that the frames do not have lead nowhere bad. */
static void
check_lies(const unsigned char *bytes)
{
	struct made m = make_file(bytes, 1, 0);
	struct tel_input *in;
	size_t i, good;
	uint64_t lost;
	int damaged;

	for (i = 1; i < FRAMES; i++)
		tel_store(m.data + m.frame[FRAMES] + 12 + 8 * i,
		    i % 3 == 0     ? 0 :
		        i % 3 == 1 ? 0xffffffff :
		                     FRAME - 1,
		    4, 0);
	in = open_made(m.data, m.size, 4096);
	for (i = 0; i < 40; i++) {
		tel__input_seek(in, (int64_t)(i * 0x3333333), SEEK_SET);
		read_past(in, bytes, 0, &lost, &good, &damaged);
	}
	tel__input_seek(in, 0, SEEK_SET);
	read_past(in, bytes, 0, &lost, &good, &damaged);
	is_u64(good, SIZE, "all is read, whatever the table says of content");
	tel__input_free(in);
	free(m.data);
}

/* What an output writes, in frames that end where the writer allows. */
static ptrdiff_t
keep_bytes(void *arg, const void *data, size_t size)
{
	struct made *m = arg;

	memcpy(m->data + m->size, data, size);
	m->size += size;
	return (ptrdiff_t)size;
}

static void
check_output(const unsigned char *bytes)
{
	struct made m = { malloc(4 * SIZE), 0, { 0 } };
	tel_output *out = tel_output_new_callback(keep_bytes, &m);
	size_t at, n, flushed, i;
	struct tel_frames *f;
	struct tel_input *in;
	tel_status st = TEL_OK;

	if (m.data == NULL || out == NULL)
		abort();
	ok(tel_output_set_zstd(out, 0) == TEL_EINVAL &&
	        tel_output_set_zstd(out, 20) == TEL_EINVAL &&
	        tel_output_set_zstd(out, 1) == TEL_OK &&
	        tel_output_set_zstd(out, 1) == TEL_ESTATE,
	    "levels");
	for (at = i = 0; at < SIZE; at += n, i++) {
		n = SIZE - at < 3001 ? SIZE - at : 3001;
		tel_output_write(out, bytes + at, n);
		if (i == 10) {
			st = tel_output_flush(out);
			flushed = ZSTD_getFrameContentSize(m.data, m.size) !=
			    ZSTD_CONTENTSIZE_ERROR;
			ok(st == TEL_OK && flushed && m.size > 100,
			    "a flush writes what there is");
		}
		if (i % 20 == 0 && tel__output_boundary(out, 1) != TEL_OK)
			abort();
		if (tel__output_boundary(out, 0) != TEL_OK)
			abort();
	}
	is_u64(tel_output_bytes(out), SIZE, "bytes that were put in");
	ok(tel_output_finish(out) == TEL_OK && tel_output_finish(out) == TEL_OK,
	    "finished, and again");
	tel_output_free(out);
	if (tel__input_memory(m.data, m.size, 4096, &in) != TEL_OK ||
	    tel__frames_find(in, &f) != TEL_OK)
		abort();
	tel__input_free(in);
	if (ok(f != NULL && f->count == (i + 18) / 20 + 1,
	        "frames end where they must")) {
		is_u64(f->frame[1].content, 3001, "the first one, too");
		is_u64(f->frame[f->count].content, SIZE, "all is in them");
	}
	free(f);
	check_seek(&m, bytes, "output");
	free(m.data);
}

int
main(void)
{
	unsigned char *bytes = make_bytes(SIZE, 1);
	struct made m;
	int checksums;

	for (checksums = 0; checksums < 2; checksums++) {
		m = make_file(bytes, 1, checksums);
		if (checksums)
			check_sources("with a table", m.data, m.size, bytes,
			    SIZE);
		check_seek(&m, bytes, checksums ? "with checksums" : "plain");
		free(m.data);
	}
	check_damage(bytes);
	check_hostile(bytes);
	check_lies(bytes);
	check_output(bytes);
	free(bytes);
	return done();
}
