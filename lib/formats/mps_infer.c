/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stream has no file header, so who wrote it is found out from its first
 * events, in this order of trust: the build string (it names release and
 * platform), EventInit (it gives the stream's version and the word), and at
 * last which release and platform make sense of the most bytes.
 */
#include "formats/mps_infer.h"
#include "formats/mps_frame.h"
#include "formats/mps_sense.h"
#include "formats/mps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Codes of EventInit and EventClockSync: to 1.117, and from 1.118 on. */
#define INIT_OLD 0x74
#define INIT_NEW 0x1d
#define SYNC_OLD 0x75
#define SYNC_NEW 0x1c

/*
 * How much of a log is looked at when it does not say who wrote it: some
 * thousand events, as releases differ in few that are rare.
 */
#define TOLD_SIZE TEL_PEEK_MAX

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
	size_t built_at;  /* where that ends */
	size_t init_at;   /* where that begins */
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
 * platform.lii6gc, variety...".  What is before from was looked at.
 */
static void
find_build(const unsigned char *p, size_t from, size_t n, struct guess *g)
{
	const unsigned char *begin = p, *end = p + n, *q;
	unsigned number = 0;
	size_t i;

	/* one that was not whole then began not far before */
	from = from > 128 ? from - 128 : 0;
	p = find(p + from, n - from, "release/1.");
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
	g->built_at = (size_t)(q - begin);
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
find_init(const unsigned char *p, size_t from, size_t n, struct guess *g)
{
	struct tel_abi abi;
	size_t i, at;

	from = from > 64 ? (from - 64) / 8 * 8 : 0;
	for (i = 0; i < NCANDIDATES; i++) {
		(void)mps_platform_abi(candidates[i].platform, &abi);
		abi.big = (uint8_t)candidates[i].big;
		for (at = from; n >= 48 && at <= n - 48; at += abi.word)
			if (is_init(p + at, &abi, g)) {
				g->init_at = at;
				return;
			}
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

/*
 * Nonzero when the bytes cannot be a stream: it has zeros in its headers.
 * Text is told from fewer, so that a live one is not waited for.
 */
static int
no_stream(const unsigned char *p, size_t n)
{
	size_t i;

	if (n < 16 || memchr(p, 0, n < 64 ? n : 64) != NULL)
		return 0;
	for (i = 0; i < 16; i++)
		if ((p[i] < ' ' && p[i] != '\t' && p[i] != '\n') || p[i] > '~')
			break;
	return i == 16 || n >= 64;
}

/*
 * The schema of a release and a platform, made once for all the logs of an
 * archive, of which there may be thousands.  It belongs to its reader.
 */
static tel_status
try_schema(struct tel_reader *r, unsigned release, const char *platform,
    const struct tel_abi *abi, struct tel_schema **out)
{
	struct tel_schema **list, *s;
	tel_status st;
	size_t i;

	if (r->parent != NULL)
		r = r->parent;
	for (i = 0; i < r->ntried; i++) {
		s = r->tried[i];
		if (s->release == release && s->abi.big == abi->big &&
		    strcmp(s->platform, platform) == 0) {
			*out = s;
			return TEL_OK;
		}
	}
	list = realloc(r->tried, (r->ntried + 1) * sizeof(*list));
	if (list == NULL)
		return TEL_ENOMEM;
	r->tried = list;
	st = mps_schema_new(release, platform, abi, &s);
	if (st == TEL_OK)
		*out = list[r->ntried++] = s;
	return st;
}

/*
 * Frees what was tried for a log that is no archive's, but for the one that
 * is given, if any.
 */
static void
forget_tried(struct tel_reader *r, const struct tel_schema *kept)
{
	size_t i;

	if (r->parent != NULL || tel_reader_archive(r))
		return;
	for (i = 0; i < r->ntried; i++)
		if (r->tried[i] != kept)
			tel_schema_free(r->tried[i]);
	free(r->tried);
	r->tried = NULL;
	r->ntried = 0;
}

/*
 * Makes one that was tried that of the log.  A member that is read beside
 * others has one of its own.
 */
static tel_status
settle(struct tel_reader *r, struct tel_schema *chosen)
{
	tel_status st;

	if (r->parent != NULL) {
		st = mps_schema_new(chosen->release, chosen->platform,
		    &chosen->abi, &chosen);
		return st == TEL_OK ? tel_reader_adopt(r, chosen) : st;
	}
	r->log.schema = chosen;
	if (tel_reader_archive(r))
		return TEL_OK;
	forget_tried(r, chosen);
	return tel_reader_adopt(r, chosen);
}

/* Nonzero when EventInit rules a platform out. */
static int
other_layout(const struct guess *g, const struct tel_abi *abi)
{
	return g->init &&
	    (abi->word != g->abi.word || abi->align8 != g->abi.align8 ||
	        abi->big != g->abi.big);
}

/*
 * Tries all releases and platforms that g does not rule out on the first n
 * bytes.  *best: NULL when none is left.
 */
static tel_status
try_all(struct tel_reader *r, size_t n, const struct guess *g,
    struct tel_schema **best, struct mps_sense *most)
{
	int eof = r->eof && n == (size_t)(r->end - r->p);
	struct tel_schema *s;
	struct tel_abi abi;
	struct mps_sense sense;
	unsigned release;
	tel_status st;
	size_t i;

	*best = NULL;
	memset(most, 0, sizeof(*most));
	for (i = 0; i < NCANDIDATES; i++) {
		const char *platform = candidates[i].platform;

		if (g->platform[0] != '\0') {
			/* there are the two byte orders to try */
			if (i > 0 && candidates[i].big == candidates[i - 1].big)
				continue;
			platform = g->platform;
		}
		(void)mps_platform_abi(platform, &abi);
		abi.big = (uint8_t)candidates[i].big;
		if (other_layout(g, &abi))
			continue;
		for (release = mps_nreleases; release-- > 0;) {
			if (g->release >= 0 ? release != (unsigned)g->release :
			                      !release_fits(g, release))
				continue;
			st = try_schema(r, release, platform, &abi, &s);
			if (st != TEL_OK)
				return st;
			mps_make_sense(s, r->p, n, eof, &sense);
			if (sense.fitting > most->fitting ||
			    (sense.fitting == most->fitting &&
			        sense.fitting > 0 && sense.odd < most->odd)) {
				*best = s;
				*most = sense;
			}
		}
	}
	return TEL_OK;
}

/* How many releases fit what EventInit said. */
static unsigned
fitting_releases(const struct guess *g)
{
	unsigned i, n = 0;

	for (i = 0; i < mps_nreleases; i++)
		n += release_fits(g, i) != 0;
	return n;
}

/*
 * Where the flush with EventInit ends, if it does in the first n bytes; else
 * 0.  A point of synchronisation ends it; in 1.111 one begins it, and it has
 * but one kind of events.
 */
static size_t
flush_end(const unsigned char *p, size_t n, const struct guess *g)
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
 * How many of the first n bytes tell who wrote them; 0 when it takes more.
 * What comes later does not count, as the answer must not depend on how the
 * bytes came.
 */
static size_t
told_by(const unsigned char *p, size_t n, struct guess *g)
{
	struct tel_abi abi;
	size_t end = 0;

	if (g->init && fitting_releases(g) == 1)
		end = flush_end(p, n, g);
	if (g->built && g->release >= 0 && (end == 0 || g->built_at <= end) &&
	    mps_platform_abi(g->platform, &abi))
		return g->built_at;
	if (end > 0 && g->built_at > end) {
		g->built = 0;
		g->release = -1;
		g->platform[0] = '\0';
	}
	return end;
}

/*
 * Looks at more and more of the log until it says who wrote it.  A pipe is
 * not waited for longer than that takes.  Returns how many bytes tell.
 */
static size_t
gather(struct tel_reader *r, struct guess *g)
{
	size_t n, from = 0, end;

	memset(g, 0, sizeof(*g));
	g->release = -1;
	tel_reader_fill(r, 1);
	for (;;) {
		n = (size_t)(r->end - r->p);
		if (n > TOLD_SIZE)
			n = TOLD_SIZE;
		if (no_stream(r->p, n))
			return n;
		if (!g->built)
			find_build(r->p, from, n, g);
		if (!g->init)
			find_init(r->p, from, n, g);
		from = n;
		end = told_by(r->p, n, g);
		if (end > 0)
			return end;
		if (r->eof || n == TOLD_SIZE)
			return n;
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
	struct mps_sense sense;
	struct tel_abi abi;
	tel_status st;
	size_t n = gather(r, g);

	*out = NULL;
	*sure = g->init || g->built;
	if (n < 16 || (no_stream(r->p, n) && r->as == NULL))
		return TEL_OK;
	/* a string alone says nothing of a platform that is not known */
	if (g->built && !mps_platform_abi(g->platform, &abi))
		g->platform[0] = '\0';
	st = try_all(r, n, g, &best, &sense);
	if (st == TEL_OK && best == NULL && n < TOLD_SIZE) {
		/* it begins with damage */
		tel_reader_fill(r, TOLD_SIZE);
		n = (size_t)(r->end - r->p);
		if (n > TOLD_SIZE)
			n = TOLD_SIZE;
		st = try_all(r, n, g, &best, &sense);
	}
	if (st == TEL_OK && best == NULL && g->init) {
		/* the build string is of another machine */
		g->platform[0] = '\0';
		st = try_all(r, n, g, &best, &sense);
	}
	if (st == TEL_OK && best != NULL &&
	    (*sure || (sense.fitting >= n - n / 2 && sense.events > 0) ||
	        r->as != NULL))
		*out = best;
	return st;
}

int
mps_infer_score(struct tel_reader *r)
{
	struct tel_schema *schema = NULL;
	struct guess g;
	int sure = 0;

	if (infer(r, &g, &schema, &sure) != TEL_OK || schema == NULL) {
		forget_tried(r, NULL);
		return 0;
	}
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
	if (g.init && g.version[0] > newest && !r->force)
		return tel_reader_fail(r, TEL_EVERSION,
		    "the stream is of version %u.%u.%u; up to %u.x is known",
		    g.version[0], g.version[1], g.version[2], newest);
	st = settle(r, schema);
	if (st != TEL_OK)
		return tel_reader_fail(r, st, "out of memory");
	if (!sure)
		tel_reader_notice(r, TEL_WARNING, r->offset,
		    "nothing says what wrote the stream; it is read as %s, "
		    "which fits best",
		    r->log.schema->name);
	return TEL_OK;
}
