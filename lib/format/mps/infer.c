/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stream has no file header, so who wrote it is found out from its first
 * events, in this order of trust: the build string (it names release and
 * platform), EventInit (it gives the stream's version and the word), and at
 * last which release and platform make sense of the most bytes.
 */
#include "format/mps/infer.h"
#include "format/mps/score.h"
#include "format/mps/identify.h"

#include <stdlib.h>
#include <string.h>

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
	st = tel__mps_schema_new(release, platform, abi, &s);
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
		st = tel__mps_schema_new(chosen->release, chosen->platform,
		    &chosen->abi, &chosen);
		return st == TEL_OK ? tel__reader_adopt(r, chosen) : st;
	}
	r->log.schema = chosen;
	if (tel_reader_archive(r))
		return TEL_OK;
	forget_tried(r, chosen);
	return tel__reader_adopt(r, chosen);
}

/* Nonzero when EventInit rules a platform out. */
static int
other_layout(const struct mps_told *g, const struct tel_abi *abi)
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
try_all(struct tel_reader *r, size_t n, const struct mps_told *g,
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
	for (i = 0; i < MPS_LAYOUTS; i++) {
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
		for (release = tel__mps_nreleases; release-- > 0;) {
			if (g->release >= 0 ?
			        release != (unsigned)g->release :
			        !tel__mps_release_fits(g, release))
				continue;
			st = try_schema(r, release, platform, &abi, &s);
			if (st != TEL_OK)
				return st;
			tel__mps_make_sense(s, r->p, n, eof, &sense);
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

/*
 * The schema that fits, or NULL.  sure: set to nonzero when the stream
 * itself says what it is.
 */
static tel_status
infer(struct tel_reader *r, struct mps_told *g, struct tel_schema **out,
    int *sure)
{
	struct tel_schema *best = NULL;
	struct mps_sense sense;
	struct tel_abi abi;
	tel_status st;
	size_t n = tel__mps_gather(r, g);

	*out = NULL;
	*sure = g->init || g->built;
	if (n < 16 || (tel__mps_no_stream(r->p, n) && r->as == NULL))
		return TEL_OK;
	/* a string alone says nothing of a platform that is not known */
	if (g->built && !tel__mps_platform_abi(g->platform, &abi))
		g->platform[0] = '\0';
	st = try_all(r, n, g, &best, &sense);
	if (st == TEL_OK && best == NULL && n < MPS_TOLD_SIZE) {
		/* it begins with damage */
		tel__reader_fill(r, MPS_TOLD_SIZE);
		n = (size_t)(r->end - r->p);
		if (n > MPS_TOLD_SIZE)
			n = MPS_TOLD_SIZE;
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
tel__mps_infer_score(struct tel_reader *r)
{
	struct tel_schema *schema = NULL;
	struct mps_told g;
	int sure = 0, score = 0;

	if (infer(r, &g, &schema, &sure) == TEL_OK && schema != NULL)
		score = sure ? 100 : 60;
	/* the log may be read in another form, or with what it was said to be */
	forget_tried(r, NULL);
	return score;
}

tel_status
tel__mps_infer(struct tel_reader *r)
{
	unsigned newest = tel__mps_releases[tel__mps_nreleases - 1].version[0];
	struct tel_schema *schema = NULL;
	struct mps_told g;
	int sure = 0;
	tel_status st;

	st = infer(r, &g, &schema, &sure);
	if (st != TEL_OK)
		return tel__reader_fail(r, st, "%s", tel_status_text(st));
	if (schema == NULL)
		return tel__reader_fail(r, TEL_EFORMAT,
		    "no events of an MPS release that is known");
	if (g.init && g.version[0] > newest && !r->force)
		return tel__reader_fail(r, TEL_EVERSION,
		    "the stream is of version %u.%u.%u; up to %u.x is known",
		    g.version[0], g.version[1], g.version[2], newest);
	st = settle(r, schema);
	if (st != TEL_OK)
		return tel__reader_fail(r, st, "out of memory");
	if (!sure)
		tel__reader_notice(r, TEL_WARNING, r->offset,
		    "nothing says what wrote the stream; it is read as %s, "
		    "which fits best",
		    r->log.schema->name);
	return TEL_OK;
}
