/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stream has no file header, so who wrote it is found out from its first
 * events, in this order of trust: the build string (it names release and
 * platform), EventInit (it gives the stream's version and the word), and at
 * last which release and platform make sense of the most bytes.
 */
#include "formats/mps_infer.h"
#include "formats/mps_frame.h"
#include "formats/mps.h"

#include <stdio.h>
#include <string.h>

/* EventInit's codes: to 1.117, and from 1.118 on. */
#define INIT_OLD 0x74
#define INIT_NEW 0x1d

/* The layouts of streams without any word of their platform. */
static const struct candidate {
	const char *platform;
	int big;
} candidates[] = {
	{ "lii6gc", 0 },
	{ "lii3gc", 0 },
	{ "w3i3mv", 0 },
	{ "lii6gc", 1 },
	{ "lii3gc", 1 },
	{ "w3i3mv", 1 },
};
#define NCANDIDATES (sizeof(candidates) / sizeof(candidates[0]))

/* What is known of the writer so far. */
struct guess {
	int release;      /* index, or -1 */
	char platform[8]; /* "" when not known */
	int built;        /* the build string was found */
	int init;         /* EventInit was found */
	uint32_t version[3];
	struct tel_abi abi; /* of the EventInit found */
	int score;
};

/* The release called 1.NNN, or -1. */
static int
release_number(unsigned number)
{
	unsigned i;

	for (i = 0; i < mps_nreleases; i++)
		if (mps_releases[i].number == number)
			return (int)i;
	return -1;
}

/* Finds text in n bytes at p. */
static const unsigned char *
find(const unsigned char *p, size_t n, const char *text)
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
 * The build string: "@(#)Ravenbrook MPS, product.mps, release/1.113.0,
 * platform.lii6gc, variety...".
 */
static void
find_build(const unsigned char *p, size_t n, struct guess *g)
{
	const unsigned char *end = p + n, *q;
	unsigned number = 0;
	size_t i;

	p = find(p, n, "release/1.");
	if (p == NULL)
		return;
	for (p += 10; p < end && *p >= '0' && *p <= '9' && number < 1000; p++)
		number = number * 10 + (*p - '0');
	n = (size_t)(end - p);
	q = find(p, n < 64 ? n : 64, "platform.");
	if (q == NULL || end - q < 17)
		return;
	for (i = 0, q += 9; i < 7 && *q >= '0' && *q <= 'z'; i++)
		g->platform[i] = (char)*q++;
	g->platform[i] = '\0';
	g->release = release_number(100 + number % 100);
	if (number != 100 + number % 100)
		g->release = -1;
	g->built = 1;
}

/* Whether an EventInit as abi lays it out begins at p; fills g. */
static int
is_init(const unsigned char *p, const struct tel_abi *abi, struct guess *g)
{
	uint32_t header = abi->word == 4 && abi->align8 == 4 ? 12 : 16;
	uint32_t size = header + 6 * 4 + abi->word, v[6];
	uint32_t code = mps_code(p, abi->big);
	int i;

	size = (size + abi->align8 - 1) / abi->align8 * abi->align8;
	if ((code != INIT_OLD && code != INIT_NEW) ||
	    mps_size(p, abi->big) != size)
		return 0;
	for (i = 0; i < 6; i++)
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
find_init(const unsigned char *p, size_t n, struct guess *g)
{
	struct tel_abi abi;
	size_t i, at;

	for (i = 0; i < NCANDIDATES; i++) {
		(void)mps_platform_abi(candidates[i].platform, &abi);
		abi.big = (uint8_t)candidates[i].big;
		for (at = 0; n >= 48 && at <= n - 48; at += abi.word)
			if (is_init(p + at, &abi, g))
				return;
	}
}

/*
 * Nonzero when the release fits what EventInit said, or when it said
 * nothing.  A version between those known is read as the one before it.
 */
static int
release_fits(const struct guess *g, unsigned release)
{
	const uint8_t *v = mps_releases[release].version;
	const uint8_t *later = NULL;
	unsigned i;
	uint32_t want, have, next;

	if (!g->init)
		return 1;
	for (i = release + 1; i < mps_nreleases && later == NULL; i++)
		if (memcmp(mps_releases[i].version, v, 3) != 0)
			later = mps_releases[i].version;
	want = g->version[0] << 16 | (g->version[1] & 255) << 8 |
	    (g->version[2] & 255);
	have = (uint32_t)v[0] << 16 | (uint32_t)v[1] << 8 | v[2];
	if (later == NULL)
		return want >= have;
	next = (uint32_t)later[0] << 16 | (uint32_t)later[1] << 8 | later[2];
	return want < next && (want >= have || release == 0);
}

/* Nonzero when the bytes cannot be a stream: it has zeros in its headers. */
static int
no_zeros(const unsigned char *p, size_t n)
{
	return memchr(p, 0, n < 64 ? n : 64) == NULL;
}

/* How well a schema makes sense of a stretch of a stream. */
struct sense {
	size_t fitting; /* bytes in events that fit their types */
	size_t events;
	size_t odd; /* values and orders that are not to be expected */
};

/*
 * A pointer or address points somewhere; a number seldom looks like that.
 * Events of one kind come in runs, as each kind has a buffer of its own.
 */
static size_t
oddness(const struct tel_schema *s, const struct tel_type *t,
    const unsigned char *p, const struct tel_type *before)
{
	uint64_t v, low = 0x1000, high = (uint64_t)1 << 47;
	size_t odd = 0;
	unsigned i;

	for (i = 0; i < t->nfields; i++) {
		const struct tel_field *f = &t->fields[i];

		v = tel_load(f, p);
		if (f->sort == TEL_POINTER || f->sort == TEL_ADDRESS)
			odd += v != 0 && (v < low || v >= high);
		else if (f->sort == TEL_BOOLEAN || f->letter == 'U')
			odd += v > 0xffff;
		else if (f->sort == TEL_UNSIGNED && s->abi.word == 8)
			odd += v >> 32 != 0 && v < high;
	}
	if (before != NULL && before->kind_number != t->kind_number)
		odd++;
	return odd;
}

static void
make_sense(const struct tel_schema *s, const unsigned char *p, size_t n,
    int eof, struct sense *out)
{
	const unsigned char *end = p + n;
	const struct tel_type *t, *before = NULL;
	size_t lost = 0;
	uint32_t size;

	memset(out, 0, sizeof(*out));
	while ((size_t)(end - p) >= s->header && lost <= n / 2) {
		size = mps_look(s, p, end);
		if (size > (size_t)(end - p)) {
			/* the last one is cut by the window or the log */
			out->fitting += (size_t)(end - p);
			out->events += eof ? 0 : 1;
			return;
		}
		if (size <= 1 || (lost > 0 && !mps_chain(s, p, end, 2))) {
			p += s->align;
			lost += s->align;
			continue;
		}
		t = mps_type(s, mps_code(p, s->abi.big));
		out->odd += oddness(s, t, p, before);
		before = t;
		out->fitting += size;
		out->events++;
		p += size;
	}
}

/* Tries all releases and platforms that g does not rule out. */
static tel_status
try_all(struct tel_reader *r, const struct guess *g, struct tel_schema **best,
    struct sense *most)
{
	size_t n = (size_t)(r->end - r->p), i;
	struct tel_schema *s;
	struct tel_abi abi;
	struct sense sense;
	unsigned release;
	tel_status st;

	memset(most, 0, sizeof(*most));
	for (i = 0; i < NCANDIDATES; i++) {
		const char *platform = candidates[i].platform;

		if (g->platform[0] != '\0')
			platform = g->platform;
		(void)mps_platform_abi(platform, &abi);
		abi.big = (uint8_t)candidates[i].big;
		for (release = mps_nreleases; release-- > 0;) {
			if (g->release >= 0 ? release != (unsigned)g->release :
			                      !release_fits(g, release))
				continue;
			st = mps_schema_new(release, platform, &abi, &s);
			if (st != TEL_OK)
				return st;
			make_sense(s, r->p, n, r->eof, &sense);
			if (sense.fitting > most->fitting ||
			    (sense.fitting == most->fitting &&
			        sense.fitting > 0 && sense.odd < most->odd)) {
				tel_schema_free(*best);
				*best = s;
				*most = sense;
			} else {
				tel_schema_free(s);
			}
		}
	}
	return TEL_OK;
}

/*
 * Looks at more and more of the log until it says who wrote it.  A pipe is
 * not waited for longer than that takes.
 */
static void
gather(struct tel_reader *r, struct guess *g)
{
	unsigned i, fitting;
	size_t n;

	memset(g, 0, sizeof(*g));
	g->release = -1;
	tel_reader_fill(r, 1);
	for (;;) {
		n = (size_t)(r->end - r->p);
		if (n >= 16 && no_zeros(r->p, n))
			return;
		if (n > TEL_PROBE_SIZE)
			n = TEL_PROBE_SIZE;
		find_build(r->p, n, g);
		find_init(r->p, n, g);
		for (i = fitting = 0; g->init && i < mps_nreleases; i++)
			fitting += release_fits(g, i) != 0;
		if ((g->built && g->release >= 0) || fitting == 1 || r->eof ||
		    n == TEL_PROBE_SIZE)
			return;
		tel_reader_fill(r, n + 1);
	}
}

/*
 * The schema that fits, or NULL.  sure: set to nonzero when the stream
 * itself says what it is.
 */
static tel_status
infer(struct tel_reader *r, struct guess *g, struct tel_schema **out, int *sure)
{
	struct tel_schema *best = NULL;
	struct sense sense;
	struct tel_abi abi;
	tel_status st;
	size_t n;

	gather(r, g);
	*out = NULL;
	n = (size_t)(r->end - r->p);
	if (n < 16 || (no_zeros(r->p, n) && r->as == NULL))
		return TEL_OK;
	/* a string alone says nothing of a platform that is not known */
	if (g->built && !mps_platform_abi(g->platform, &abi))
		g->platform[0] = '\0';
	st = try_all(r, g, &best, &sense);
	*sure = g->init || g->built;
	if (st == TEL_OK && best != NULL &&
	    (*sure || (sense.fitting >= n - n / 2 && sense.events > 0) ||
	        r->as != NULL)) {
		*out = best;
		return TEL_OK;
	}
	tel_schema_free(best);
	return st;
}

int
mps_infer_score(struct tel_reader *r)
{
	struct tel_schema *schema = NULL;
	struct guess g;
	int sure = 0;

	if (infer(r, &g, &schema, &sure) != TEL_OK || schema == NULL)
		return 0;
	tel_schema_free(schema);
	return sure ? 100 : 60;
}

tel_status
mps_infer(struct tel_reader *r)
{
	unsigned newest = mps_releases[mps_nreleases - 1].version[0];
	struct tel_schema *schema = NULL;
	struct guess g;
	int sure = 0;
	tel_status st;

	st = infer(r, &g, &schema, &sure);
	if (st != TEL_OK)
		return tel_reader_fail(r, st, "%s", tel_status_text(st));
	if (schema == NULL)
		return tel_reader_fail(r, TEL_EFORMAT,
		    "no events of an MPS release that is known");
	if (g.init && g.version[0] > newest && !r->force) {
		tel_schema_free(schema);
		return tel_reader_fail(r, TEL_EVERSION,
		    "the stream is of version %u.%u.%u; up to %u.x is known",
		    g.version[0], g.version[1], g.version[2], newest);
	}
	st = tel_reader_adopt(r, schema);
	if (st != TEL_OK)
		return tel_reader_fail(r, st, "out of memory");
	if (!sure)
		tel_reader_notice(r, TEL_WARNING, r->offset,
		    "nothing says what wrote the stream; it is read as %s, "
		    "which fits best",
		    r->log.schema->name);
	return TEL_OK;
}
