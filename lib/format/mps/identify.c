/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The build string names release and platform, and EventInit gives the
 * stream's version and the word.  Both are in the first flush of a stream
 * that has them.
 */
#include "format/mps/identify.h"
#include "format/mps/frame.h"

#include <string.h>

/* Codes of EventInit and EventClockSync: to 1.117, and from 1.118 on. */
#define INIT_OLD 0x74
#define INIT_NEW 0x1d
#define SYNC_OLD 0x75
#define SYNC_NEW 0x1c

const struct mps_layout tel__mps_layouts[MPS_LAYOUTS] = {
	{ "lii6gc", 0 },
	{ "lii3gc", 0 },
	{ "w3i3mv", 0 },
	{ "lii6gc", 1 },
	{ "lii3gc", 1 },
	{ "w3i3mv", 1 },
};

/* The release called 1.NNN, or -1. */
static int
release_number(unsigned number)
{
	for (unsigned i = 0; i < tel__mps_nreleases; i++)
		if (tel__mps_releases[i].number == number)
			return (int)i;
	return -1;
}

/* Finds text in n bytes at p. */
static const unsigned char *
identify_find(const unsigned char *p, size_t n, const char *text)
{
	size_t length = strlen(text);
	const unsigned char *q;

	while (
	    n >= length && (q = memchr(p, text[0], n - length + 1)) != NULL) {
		if (memcmp(q, text, length) == 0)
			return q;
		n -= (size_t)(q + 1 - p);
		p = q + 1;
	}
	return NULL;
}

/*
 * The first build string that is whole: "@(#)Ravenbrook MPS, product.mps,
 * release/1.113.0, platform.lii6gc, variety...".  Bytes before from were
 * examined.
 */
static void
identify_find_build(const unsigned char *p, size_t from, size_t n,
    struct mps_identity *g)
{
	const unsigned char *begin = p, *end = p + n, *q;
	unsigned number;
	size_t i;

	/* one that was not whole then began not far before */
	p += from > 128 ? from - 128 : 0;
	do {
		p = identify_find(p, (size_t)(end - p), "release/1.");
		if (p == NULL)
			return;
		for (p += 10, number = 0;
		     p < end && *p >= '0' && *p <= '9' && number < 1000; p++)
			number = number * 10 + (*p - '0');
		n = (size_t)(end - p);
		q = identify_find(p, n < 64 ? n : 64, "platform.");
	} while (q == NULL || end - q < 17);
	for (i = 0, q += 9; i < 7 && *q >= '0' && *q <= 'z'; i++)
		g->platform[i] = (char)*q++;
	g->platform[i] = '\0';
	g->release = release_number(100 + number % 100);
	if (number != 100 + number % 100)
		g->release = -1;
	g->built_at = (size_t)(q - begin);
}

/* Whether an EventInit as abi lays it out begins at p; fills g. */
static int
is_init(const unsigned char *p, const struct tel_abi *abi,
    struct mps_identity *g)
{
	uint32_t header = abi->word == 4 && abi->align8 == 4 ? 12 : 16;
	uint32_t size = header + 6 * 4 + abi->word, v[6];
	uint32_t code = mps_code(p, abi->big);

	size = (size + abi->align8 - 1) / abi->align8 * abi->align8;
	if ((code != INIT_OLD && code != INIT_NEW) ||
	    mps_size(p, abi->big) != size)
		return 0;
	for (int i = 0; i < 6; i++)
		v[i] = abi->big ? tel_be32(p + header + 4 * i) :
		                  tel_le32(p + header + 4 * i);
	/* major, then maxNameLen and wordWidth */
	if (v[0] < 1 || v[0] > 255 || v[4] < 1 || v[4] > 255 ||
	    v[5] != abi->word * 8u)
		return 0;
	memcpy(g->version, v, sizeof(g->version));
	g->abi = *abi;
	g->init = 1;
	return 1;
}

static void
find_init(const unsigned char *p, size_t from, size_t n, struct mps_identity *g)
{
	struct tel_abi abi;

	from = from > 64 ? (from - 64) / 8 * 8 : 0;
	for (size_t i = 0; i < MPS_LAYOUTS; i++) {
		(void)tel__mps_platform_abi(tel__mps_layouts[i].platform, &abi);
		abi.big = (uint8_t)tel__mps_layouts[i].big;
		for (size_t at = from; n >= 48 && at <= n - 48; at += abi.word)
			if (is_init(p + at, &abi, g)) {
				g->init_at = at;
				return;
			}
	}
}

int
tel__mps_release_fits(const struct mps_identity *g, unsigned release)
{
	const uint8_t *v = tel__mps_releases[release].version;
	const uint8_t *later = NULL;
	unsigned i;
	uint32_t want, have, next;

	if (!g->init)
		return 1;
	for (i = release + 1; i < tel__mps_nreleases && later == NULL; i++)
		if (memcmp(tel__mps_releases[i].version, v, 3) != 0)
			later = tel__mps_releases[i].version;
	want = g->version[0] << 16 | (g->version[1] & 255) << 8 |
	    (g->version[2] & 255);
	have = (uint32_t)v[0] << 16 | (uint32_t)v[1] << 8 | v[2];
	if (later == NULL)
		return want >= have;
	next = (uint32_t)later[0] << 16 | (uint32_t)later[1] << 8 | later[2];
	return want < next && (want >= have || release == 0);
}

int
tel__mps_no_stream(const unsigned char *p, size_t n)
{
	return n >= 64 && memchr(p, 0, 64) == NULL;
}

/* How many releases fit what EventInit said. */
static unsigned
fitting_releases(const struct mps_identity *g)
{
	unsigned i, n = 0;

	for (i = 0; i < tel__mps_nreleases; i++)
		n += tel__mps_release_fits(g, i) != 0;
	return n;
}

/*
 * Where the flush with EventInit ends, if it does in the first n bytes; else
 * 0.  A point of synchronisation ends it; in 1.111 one begins it, and it has
 * but one kind of events.
 */
static size_t
flush_end(const unsigned char *p, size_t n, const struct mps_identity *g)
{
	uint32_t header = g->abi.word == 4 && g->abi.align8 == 4 ? 12 : 16;
	uint32_t sync = g->version[0] > 1 ? SYNC_NEW : SYNC_OLD, code, size;
	int old = g->version[0] == 1 && g->version[1] == 1 && g->version[2] < 6;
	int left = old ? MPS_KINDS + 1 : 1;
	size_t at = 0;

	while (n - at >= header) {
		code = mps_code(p + at, g->abi.big);
		size = mps_size(p + at, g->abi.big);
		if (size < header || size % g->abi.word != 0 || size > n - at)
			break;
		at += size;
		if (code == sync && at > g->init_at && --left == 0)
			return at;
	}
	return 0;
}

/*
 * How many of the first n bytes identify the writer; 0 when it takes more.
 * What comes later does not count, as the answer must not depend on how the
 * bytes came.
 */
static size_t
told_by(const unsigned char *p, size_t n, struct mps_identity *g)
{
	struct tel_abi abi;
	size_t end = 0;

	if (g->init && fitting_releases(g) == 1)
		end = flush_end(p, n, g);
	if (g->built_at > 0 && g->release >= 0 &&
	    (end == 0 || g->built_at <= end) &&
	    tel__mps_platform_abi(g->platform, &abi))
		return g->built_at;
	if (end > 0 && g->built_at > end) {
		g->built_at = 0;
		g->release = -1;
		g->platform[0] = '\0';
	}
	return end;
}

size_t
tel__mps_gather(struct tel_reader *r, struct mps_identity *g)
{
	size_t n, from = 0, end;

	memset(g, 0, sizeof(*g));
	g->release = -1;
	tel__reader_fill(r, 1);
	for (;;) {
		n = (size_t)(r->end - r->p);
		if (n > MPS_IDENTIFY_SIZE)
			n = MPS_IDENTIFY_SIZE;
		if (tel__mps_no_stream(r->p, n))
			return n;
		if (g->built_at == 0)
			identify_find_build(r->p, from, n, g);
		if (!g->init)
			find_init(r->p, from, n, g);
		from = n;
		end = told_by(r->p, n, g);
		if (end > 0)
			return end;
		if (r->eof || n == MPS_IDENTIFY_SIZE)
			return n;
		tel__reader_fill(r, n + 1);
	}
}
