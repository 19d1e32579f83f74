/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stream has no file header, so who wrote it is found out from its first
 * events, in this order of trust: the build string (it names release and
 * platform), EventInit (it gives the stream's version and the word), and at
 * last which release and platform explain the most bytes.
 */
#include "base/array.h"
#include "format/mps/decoder.h"
#include "format/mps/score.h"
#include "format/mps/identify.h"

#include <stdlib.h>
#include <string.h>

/*
 * How odd an event is at most, on average, of a stream that no event identifies:
 * those of logs come to less than 1.  To 40 come those of the other byte order,
 * read one byte early, where the zero before an event makes its code right.
 */
#define ODD_MAX 8u

/*
 * Schemas that were made, once for all the logs of an archive, of which there
 * may be thousands.
 */
struct kept {
	struct tel_schema **schemas;
	size_t count, room;
	struct tel_schema *named; /* that the user named: the reader's */
	struct tel_schema *found; /* what the probe found; NULL: not asked */
	struct mps_identity identity;
	int sure;
	char others[160]; /* what has another name in releases that fit, too */
};

static void
infer_clear(struct kept *k, const struct tel_schema *but)
{
	for (size_t i = 0; i < k->count; i++)
		if (k->schemas[i] != but)
			tel_schema_free(k->schemas[i]);
	free(k->schemas);
	k->schemas = NULL;
	k->count = 0;
}

void
tel__mps_cache_free(void *kept)
{
	infer_clear(kept, NULL);
}

static struct kept *
infer_keep(struct tel_reader *r)
{
	return tel__reader_keep(r, &tel__format_mps, sizeof(struct kept));
}

/* The schema of a release and a platform. */
static tel_status
try_schema(struct kept *k, unsigned release, const char *platform,
    const struct tel_abi *abi, struct tel_schema **out)
{
	struct tel_schema *s;

	for (size_t i = 0; i < k->count; i++) {
		s = k->schemas[i];
		if (s->release == release && s->abi.big == abi->big &&
		    strcmp(s->platform, platform) == 0) {
			*out = s;
			return TEL_OK;
		}
	}
	if (!TEL__RESERVE(k->schemas, k->room, k->count + 1))
		return TEL_ENOMEM;
	tel_status st = tel__mps_schema_new(release, platform, abi, &s);
	if (st == TEL_OK)
		*out = k->schemas[k->count++] = s;
	return st;
}

/* Nonzero when other logs may be of the schemas that were made. */
static int
infer_has_others(const struct tel_reader *r)
{
	return tel__reader_is_archive(r) || tel_reader_shares(r);
}

/* Makes one that was tried that of the log. */
static tel_status
infer_settle(struct tel_reader *r, struct kept *k, struct tel_schema *chosen)
{
	if (!infer_has_others(r)) {
		infer_clear(k, chosen);
		return tel__reader_adopt(r, chosen);
	}
	tel__reader_set_schema(r, chosen);
	return TEL_OK;
}

/* Nonzero when EventInit rules a platform out. */
static int
other_layout(const struct mps_identity *g, const struct tel_abi *abi)
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
try_all(struct tel_reader *r, struct kept *k, size_t n,
    const struct mps_identity *g, struct tel_schema **best,
    struct mps_score *most)
{
	int eof = r->eof && n == (size_t)(r->end - r->p);
	struct tel_schema *s;
	struct tel_abi abi;
	struct mps_score score;
	tel_status st;

	*best = NULL;
	memset(most, 0, sizeof(*most));
	for (size_t i = 0; i < MPS_LAYOUTS; i++) {
		const char *platform = tel__mps_layouts[i].platform;

		if (g->platform[0] != '\0') {
			/* there are the two byte orders to try */
			if (i > 0 &&
			    tel__mps_layouts[i].big ==
			        tel__mps_layouts[i - 1].big)
				continue;
			platform = g->platform;
		}
		(void)tel__mps_platform_abi(platform, &abi);
		abi.big = (uint8_t)tel__mps_layouts[i].big;
		if (other_layout(g, &abi))
			continue;
		for (unsigned release = tel__mps_nreleases; release-- > 0;) {
			if (g->release >= 0 ?
			        release != (unsigned)g->release :
			        !tel__mps_release_fits(g, release))
				continue;
			st = try_schema(k, release, platform, &abi, &s);
			if (st != TEL_OK)
				return st;
			tel__mps_score(s, r->p, n, eof, &score);
			if (score.fitting > most->fitting ||
			    (score.fitting == most->fitting &&
			        score.fitting > 0 && score.odd < most->odd)) {
				*best = s;
				*most = score;
			}
		}
	}
	return TEL_OK;
}

/*
 * Several releases may fit what was looked at.  Reports which names of what the
 * n bytes hold differ between them, in k->others.
 */
static void
compare_others(struct tel_reader *r, struct kept *k, size_t n,
    const struct tel_schema *best, const struct mps_score *most)
{
	int eof = r->eof && n == (size_t)(r->end - r->p);
	struct mps_score score;

	for (size_t i = 0; i < k->count; i++) {
		const struct tel_schema *s = k->schemas[i];

		if (s == best || s->abi.big != best->abi.big ||
		    strcmp(s->platform, best->platform) != 0)
			continue;
		tel__mps_score(s, r->p, n, eof, &score);
		if (score.fitting == most->fitting &&
		    score.events == most->events)
			tel__schema_other_names(best, s, &most->seen, k->others,
			    sizeof(k->others));
	}
}

/*
 * The schema that fits, or NULL. k->sure: the stream itself has its version and
 * platform.
 */
static tel_status
infer(struct tel_reader *r, struct kept *k, struct tel_schema **out)
{
	struct mps_identity *g = &k->identity;
	struct tel_schema *best = NULL;
	struct mps_score score;
	struct tel_abi abi;
	size_t n = tel__mps_gather(r, g);

	*out = NULL;
	k->others[0] = '\0';
	k->sure = g->init || g->built_at > 0;
	if (n < 16 || (tel__mps_no_stream(r->p, n) && r->as == NULL))
		return TEL_OK;
	/* a string alone does not tell unknown platforms apart */
	if (g->built_at > 0 && !tel__mps_platform_abi(g->platform, &abi))
		g->platform[0] = '\0';
	tel_status st = try_all(r, k, n, g, &best, &score);
	if (st == TEL_OK && best == NULL && n < MPS_IDENTIFY_SIZE) {
		/* it begins with damage */
		tel__reader_fill(r, MPS_IDENTIFY_SIZE);
		n = (size_t)(r->end - r->p);
		if (n > MPS_IDENTIFY_SIZE)
			n = MPS_IDENTIFY_SIZE;
		st = try_all(r, k, n, g, &best, &score);
	}
	if (st == TEL_OK && best == NULL && g->init) {
		/* the build string is of another machine */
		g->platform[0] = '\0';
		st = try_all(r, k, n, g, &best, &score);
	}
	if (st == TEL_OK && best != NULL &&
	    (k->sure || r->as != NULL ||
	        (score.fitting >= n - n / 2 && score.events > 0 &&
	            score.odd / ODD_MAX <= score.events)))
		*out = best;
	if (*out != NULL && !k->sure)
		compare_others(r, k, n, best, &score);
	return st;
}

int
tel__mps_probe(struct tel_reader *r)
{
	struct kept *k = infer_keep(r);

	if (k == NULL)
		return 0;
	if (infer(r, k, &k->found) == TEL_OK && k->found != NULL)
		return k->sure ? 100 : 60;
	if (!infer_has_others(r))
		infer_clear(k, NULL);
	return 0;
}

/* The stream at hand, of which nothing is said. */
static tel_status
open_any(struct tel_reader *r, struct kept *k)
{
	const struct mps_identity *g = &k->identity;
	struct tel_schema *schema = k->found;
	tel_status st = TEL_OK;

	k->found = NULL;
	if (schema == NULL)
		st = infer(r, k, &schema);
	if (st != TEL_OK)
		return tel__reader_fail(r, st, "%s", tel_status_text(st));
	if (schema == NULL)
		return tel__reader_fail(r, TEL_EFORMAT,
		    "no events of a known MPS release");
	if (g->init && !r->force && tel__mps_is_newer(g->version[0]))
		return tel__mps_refuse(r, g->version[0], g->version[1],
		    g->version[2]);
	st = infer_settle(r, k, schema);
	if (st != TEL_OK)
		return tel__reader_fail(r, st, "out of memory");
	if (!k->sure)
		tel__reader_notice(r, TEL_WARNING, r->offset,
		    "the stream does not identify its writer; read as %s, "
		    "which fits best%s",
		    r->log.schema->name, k->others);
	return TEL_OK;
}

tel_status
tel__mps_open(struct tel_reader *r)
{
	struct kept *k = infer_keep(r);
	struct tel_schema *schema;

	if (k == NULL)
		return TEL_ENOMEM;
	if (r->as_schema == NULL)
		return open_any(r, k);
	r->log.schema = k->named;
	if (r->log.schema != NULL)
		return TEL_OK;
	tel_status st = tel__mps_schema_named(r->as_schema, &schema);
	if (st == TEL_EINVAL)
		return tel__reader_fail(r, st, "no such format: %s",
		    r->as_schema);
	if (st == TEL_OK)
		st = tel__reader_adopt(r, schema);
	if (st != TEL_OK)
		return tel__reader_fail(r, st, "out of memory");
	k->named = schema;
	return TEL_OK;
}
