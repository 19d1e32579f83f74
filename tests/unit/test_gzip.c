/* SPDX-License-Identifier: BSD-2-Clause */
/* What is checked of gzip: the trailer, and whether there are more members. */
#include "io/gzip.c"

#include "tap.h"

static unsigned
below(unsigned n)
{
	static uint64_t seed = 1;

	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

/* The checksum, bit by bit. */
static uint32_t
slow_crc(const unsigned char *data, size_t size)
{
	uint32_t c = UINT32_MAX;
	unsigned k;
	size_t i;

	for (i = 0; i < size; i++) {
		c ^= data[i];
		for (k = 0; k < 8; k++)
			c = c & 1 ? c >> 1 ^ 0xedb88320 : c >> 1;
	}
	return ~c;
}

static void
put_le32(unsigned char *to, uint32_t v)
{
	unsigned i;

	for (i = 0; i < 4; i++)
		to[i] = (unsigned char)(v >> 8 * i);
}

/* The same in pieces of any size. */
static tel_status
check(const unsigned char *in, size_t nin, const unsigned char *out,
    size_t nout, uint64_t used)
{
	struct tel_gzip g;
	struct tel_fault fault;
	size_t n;

	tel__gzip_init(&g);
	for (; nin > 0; in += n, nin -= n) {
		n = 1 + below(nin < 40 ? (unsigned)nin : 40);
		tel__gzip_in(&g, in, n);
	}
	for (; nout > 0; out += n, nout -= n) {
		n = 1 + below(nout < 40 ? (unsigned)nout : 40);
		tel__gzip_out(&g, out, n);
	}
	return tel__gzip_end(&g, used, &fault);
}

#define IN 300u
static unsigned char in[IN], out[600];

/* One member of any content, whose trailer is right or not. */
static void
test_trailer(void)
{
	unsigned i, bad = 0;
	size_t n;

	for (i = 0; i < 600; i++) {
		n = i % sizeof(out);
		memset(in, 0, sizeof(in));
		put_le32(in + IN - 8, slow_crc(out, n));
		put_le32(in + IN - 4, (uint32_t)n);
		bad += check(in, IN, out, n, IN) != TEL_END;
		in[IN - 1 - below(8)] ^= (unsigned char)(1u << below(8));
		bad += check(in, IN, out, n, IN) != TEL_EDAMAGED;
		/* zeros may follow */
		bad += check(in, IN, out, n, IN - 1) != TEL_END;
	}
	ok(bad == 0, "trailers of contents of any length: %u", bad);
}

/* Members behind the first one: the length is that of the last. */
static void
test_members(void)
{
	static const struct {
		unsigned at, from, to; /* a byte of a header, and its values */
	} bytes[] = { { 0, 0x1f, 0x1f }, { 1, 0x8b, 0x8b }, { 2, 8, 8 },
		{ 3, 0, 0x1f }, { 9, 0, 13 }, { 9, 255, 255 } };
	unsigned i, value, at, want, bad = 0;

	for (i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++)
		for (value = 0; value < 256; value++) {
			/* a member is at least as long as its trailer and header */
			at = TEL_GZIP_TRAILER + below(IN - TEL_GZIP_TAIL);
			memset(in, 0, sizeof(in));
			memcpy(in + at, "\037\213\010", 3);
			in[at + bytes[i].at] = (unsigned char)value;
			want = value >= bytes[i].from && value <= bytes[i].to;
			if (bytes[i].at == 9)
				want = value < 14 || value == 255;
			bad += (check(in, IN, out, 77, IN) == TEL_END) != want;
		}
	ok(bad == 0, "headers of more members, at any place: %u", bad);
	memset(in, 0, sizeof(in));
	memcpy(in, "\037\213\010", 3);
	ok(check(in, IN, out, 77, IN) == TEL_EDAMAGED,
	    "the first one is that of the first member");
}

/* Members of any content, of which one is damaged, or none. */
static void
test_damaged_members(void)
{
	unsigned i, k, members, damaged, bad = 0;
	size_t n, nin, nout;
	tel_status want;

	for (i = 0; i < 2000; i++) {
		members = 2 + below(8);
		damaged = below(2 * members);
		want = damaged < members ? TEL_EDAMAGED : TEL_END;
		memset(in, 0, sizeof(in));
		for (k = 0, nin = nout = 0; k < members; k++) {
			n = below(60);
			memcpy(in + nin, "\037\213\010", 3);
			nin += TEL_GZIP_HEADER + 2 + TEL_GZIP_TRAILER;
			put_le32(in + nin - 8,
			    slow_crc(out + nout, n) ^ (k == damaged));
			put_le32(in + nin - 4, (uint32_t)n);
			nout += n;
		}
		bad += check(in, nin, out, nout, nin) != want;
	}
	ok(bad == 0, "members of which one is damaged, or none: %u", bad);
}

int
main(void)
{
	unsigned i;

	for (i = 0; i < sizeof(out); i++)
		out[i] = (unsigned char)below(256);
	test_trailer();
	test_members();
	test_damaged_members();
	return done();
}
