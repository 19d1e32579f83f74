/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records of the native format: their headers, and the checks that they are
 * complete.
 */
#include "wire/record.h"

#include "base/varint.h"
#include "base/bytes.h"

/*
 * XXH64, by Yann Collet, as its specification describes it: the checksum of
 * zstd frames, which a few bytes in a cycle go through.
 */
#define P1 0x9E3779B185EBCA87u
#define P2 0xC2B2AE3D27D4EB4Fu
#define P3 0x165667B19E3779F9u
#define P4 0x85EBCA77C2B2AE63u
#define P5 0x27D4EB2F165667C5u

static inline uint64_t
turn(uint64_t v, unsigned n)
{
	return v << n | v >> (64 - n);
}

static inline uint64_t
wire_record_take(uint64_t acc, uint64_t lane)
{
	return turn(acc + lane * P2, 31) * P1;
}

static inline uint64_t
wire_record_merge(uint64_t h, uint64_t acc)
{
	return (h ^ wire_record_take(0, acc)) * P1 + P4;
}

uint64_t
tel__native_xxh64(const void *bytes, size_t n)
{
	const unsigned char *p = bytes, *const end = p + n;
	uint64_t h = P5, a = P1 + P2, b = P2, c = 0, d = 0 - P1;

	if (n >= 32) {
		for (; end - p >= 32; p += 32) {
			a = wire_record_take(a, tel_le64(p));
			b = wire_record_take(b, tel_le64(p + 8));
			c = wire_record_take(c, tel_le64(p + 16));
			d = wire_record_take(d, tel_le64(p + 24));
		}
		h = turn(a, 1) + turn(b, 7) + turn(c, 12) + turn(d, 18);
		h = wire_record_merge(
		    wire_record_merge(wire_record_merge(wire_record_merge(h, a),
		                          b),
		        c),
		    d);
	}
	h += n;
	for (; end - p >= 8; p += 8)
		h = turn(h ^ wire_record_take(0, tel_le64(p)), 27) * P1 + P4;
	if (end - p >= 4) {
		h = turn(h ^ tel_le32(p) * P1, 23) * P2 + P3;
		p += 4;
	}
	for (; p < end; p++)
		h = turn(h ^ *p * P5, 11) * P1;
	h = (h ^ h >> 33) * P2;
	h = (h ^ h >> 29) * P3;
	return h ^ h >> 32;
}

uint32_t
tel__native_check(const void *p, size_t n)
{
	return (uint32_t)tel__native_xxh64(p, n);
}

/* The check of a header and a head: of all their bytes but the check. */
static uint32_t
header_check(const unsigned char *p, size_t head)
{
	unsigned char bytes[NATIVE_HEADER + NATIVE_HEAD_MAX];

	memcpy(bytes, p, 14);
	memcpy(bytes + 14, p + NATIVE_HEADER, head);
	return tel__native_check(bytes, 14 + head);
}

static void
read_header(const unsigned char *p, struct native_record *rec)
{
	rec->kind = p[4] & (NATIVE_NEEDED - 1);
	rec->needed = p[4] >= NATIVE_NEEDED;
	rec->head_size = p[5];
	rec->body_size = tel_le32(p + 6);
	rec->check = tel_le32(p + 10);
	rec->head = p + NATIVE_HEADER;
}

int
tel__native_look(const unsigned char *p, size_t n, struct native_record *rec)
{
	size_t have = n < 4 ? n : 4;

	if (memcmp(p, NATIVE_MARKER, have) != 0)
		return 0;
	if (n < NATIVE_HEADER)
		return -1;
	read_header(p, rec);
	if (rec->body_size > NATIVE_BODY_MAX)
		return 0;
	if (n < NATIVE_HEADER + rec->head_size)
		return -1;
	return header_check(p, rec->head_size) == tel_le32(p + 14);
}

int
tel__native_whole(const struct native_record *rec)
{
	return tel__native_check(native_body(rec), rec->body_size) ==
	    rec->check;
}

uint64_t
tel__native_chain(uint64_t hash, const struct native_record *rec)
{
	unsigned char bytes[12];

	tel_store_le64(bytes, hash);
	memcpy(bytes + 8, rec->head - 4, 4);
	return tel__native_xxh64(bytes, sizeof(bytes));
}

void
tel__native_recall(unsigned char *p, struct native_record *rec)
{
	read_header(p, rec);
	tel_store(p + 14, header_check(p, rec->head_size), 4, 0);
}

void
tel__native_seal(unsigned char *p, enum native_kind kind, int needed,
    size_t head, size_t body)
{
	memcpy(p, NATIVE_MARKER, 4);
	p[4] = (unsigned char)((unsigned)kind | (needed ? NATIVE_NEEDED : 0));
	p[5] = (unsigned char)head;
	tel_store(p + 6, body, 4, 0);
	tel_store(p + 10, tel__native_check(p + NATIVE_HEADER + head, body), 4,
	    0);
	tel_store(p + 14, header_check(p, head), 4, 0);
}

size_t
tel__native_put_head(unsigned char *p, const struct native_head *h)
{
	const uint64_t values[8] = { h->sequence, h->ordinal, h->count,
		h->first, h->last - h->first, h->lost, h->stream, h->source };
	unsigned char *q = p;

	for (unsigned i = 0; i < 8; i++)
		q = tel__varint_put(q, values[i]);
	if (h->source & NATIVE_PROCESS)
		q = tel__varint_put(q, h->process);
	if (h->source & NATIVE_THREAD)
		q = tel__varint_put(q, h->thread);
	if (h->source & NATIVE_CPU)
		q = tel__varint_put(q, h->cpu);
	return (size_t)(q - p);
}

void
tel__native_put_fixed(struct tel__buffer *b, uint64_t v, unsigned n)
{
	unsigned char bytes[8];

	tel_store_le64(bytes, v);
	tel__buffer_put(b, bytes, n);
}

void
tel__native_put_string(struct tel__buffer *b, const void *p, size_t n)
{
	tel__buffer_put_varint(b, n);
	tel__buffer_put(b, p, n);
}

void
tel__native_put_text(struct tel__buffer *b, const char *s)
{
	tel__native_put_string(b, s, strlen(s));
}
