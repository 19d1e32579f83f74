/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which release a text was printed from: that of a header, or else the release
 * that most lines fit, preferably the one of the log's own version and build
 * events.
 */
#include "base/array.h"
#include "format/text/anytext.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct tel_type *
tel__lines_find(const struct lines_map *m, const unsigned char *name, size_t n,
    uint64_t *at)
{
	uint32_t i;

	while ((i = m->slot[*at & m->mask]) != 0) {
		++*at;
		const struct tel_type *t = &m->schema->types[i - 1];
		if (t->name_length == n && memcmp(t->name, name, n) == 0)
			return t;
	}
	return NULL;
}

tel_status
tel__lines_map(struct lines_map *m, struct tel_schema *schema)
{
	uint32_t size = 16, *slot, i;

	while (size < schema->ntypes * 2)
		size *= 2;
	slot = calloc(size, sizeof(*slot));
	if (slot == NULL)
		return TEL_ENOMEM;
	free(m->slot);
	m->slot = slot;
	m->schema = schema;
	m->mask = size - 1;
	for (i = 0; i < schema->ntypes; i++) {
		uint64_t at = tel__fnv(TEL__FNV, schema->types[i].name,
		    schema->types[i].name_length);

		while (m->slot[at & m->mask] != 0)
			at++;
		m->slot[at & m->mask] = i + 1;
	}
	return TEL_OK;
}

/* A built-in schema that another text was of, by its name; or NULL. */
static struct tel_schema *
text_schema_find(const struct tel_shared *shared, const char *name)
{
	/* thousands of logs may each describe their own */
	for (size_t i = 0; i < shared->nbuiltin; i++)
		if (!shared->schemas[i]->described &&
		    strcmp(shared->schemas[i]->name, name) == 0)
			return shared->schemas[i];
	return NULL;
}

/* Finds or makes a built-in schema. */
static tel_status
text_schema_get(struct tel_reader *r, struct lines *s, const char *name)
{
	tel_schema *schema, *old;

	r->log.schema = text_schema_find(r->shared, name);
	if (r->log.schema != NULL)
		return TEL_OK;
	tel_status st = tel__format_schema(r->formats, name, &schema);
	if (st != TEL_OK)
		return st;
	/* what its types are, the text has to say */
	if (schema->described) {
		tel_schema_free(schema);
		return TEL_EINVAL;
	}
	/* it may have another name than that which it was asked for by */
	old = text_schema_find(r->shared, schema->name);
	if (old != NULL || s->switches == LINES_SCHEMAS_MAX) {
		tel_schema_free(schema);
		r->log.schema = old;
		return old != NULL ? TEL_OK : TEL_ELIMIT;
	}
	s->switches++;
	return tel__reader_adopt(r, schema);
}

tel_status
tel__lines_use(struct tel_reader *r, struct lines *s, const char *name)
{
	tel_schema *before = r->log.schema;
	/* few, however often a text goes from one to another */
	tel_status st = text_schema_get(r, s, name);

	if (st != TEL_OK) {
		r->log.schema = before;
		return st;
	}
	if (s->any != NULL)
		s->any->on = s->any->fresh = 0;
	return tel__lines_map(&s->map, r->log.schema);
}

void
tel__lines_free_candidates(struct lines *s)
{
	free(s->candidates);
	s->candidates = NULL;
	s->ncandidates = 0;
	s->candidate_room = 0;
}

void
tel__lines_cache_free(void *kept)
{
	struct lines_kept *k = kept;

	while (k->count > 0) {
		tel_schema_free(k->maps[--k->count]->schema);
		free(k->maps[k->count]->slot);
		free(k->maps[k->count]);
	}
	free(k->maps);
}

/* The map of candidate i, of that name; made for the first log. */
static tel_status
keep_map(struct lines_kept *k, unsigned i, const struct tel_format_ops *f,
    const char *name, const struct lines_map **out)
{
	struct lines_map *map;

	if (i == k->count) {
		if (!TEL__RESERVE(k->maps, k->room, i + (size_t)1) ||
		    (map = calloc(1, sizeof(*map))) == NULL)
			return TEL_ENOMEM;
		tel_status st = f->schema_new(name, &map->schema);
		if (st == TEL_OK)
			st = tel__lines_map(map, map->schema);
		if (st != TEL_OK) {
			tel_schema_free(map->schema);
			free(map);
			return st;
		}
		k->maps[k->count++] = map;
	}
	*out = k->maps[i];
	return TEL_OK;
}

/* Adds the candidates of a format. */
static tel_status
add_candidates(struct lines *s, struct lines_kept *k,
    const struct tel_format_ops *f)
{
	struct lines_candidate *c;
	const char *name;
	tel_status st = TEL_OK;
	unsigned i, n;

	for (n = 0; f->schema_name(n) != NULL; n++)
		continue;
	if (!TEL__RESERVE(s->candidates, s->candidate_room,
	        s->ncandidates + (size_t)n))
		return TEL_ENOMEM;
	for (i = 0; st == TEL_OK && (name = f->schema_name(i)) != NULL; i++) {
		c = &s->candidates[s->ncandidates];
		memset(c, 0, sizeof(*c));
		c->format = f;
		c->number = i;
		st = keep_map(k, s->ncandidates++, f, name, &c->map);
	}
	return st;
}

/* Makes the candidates, as their formats have them if nothing more is said. */
static tel_status
make_candidates(struct tel_reader *r, struct lines *s)
{
	struct lines_kept *kept;
	tel_status st = TEL_OK;

	if (s->candidates != NULL)
		return TEL_OK;
	kept = tel__reader_keep(r, r->format, sizeof(*kept));
	if (kept == NULL)
		return TEL_ENOMEM;
	for (unsigned i = 0; st == TEL_OK && i < r->formats->count; i++) {
		const struct tel_format_ops *f = r->formats->rows[i].format;

		if (f->score != NULL)
			st = add_candidates(s, kept, f);
	}
	return st;
}

/* The log's own version and build, from the lines that were read. */
struct evidence {
	char platform[8]; /* empty: not said */
	char likely[8];   /* what it is if nothing more is said */
	int sure;         /* version and build are known */
	int said;         /* a header names a format that is not built in */
	int learned;      /* lines that look like events */
};

/* Tries a line on every candidate. */
static tel_status
text_schema_weigh(struct tel_reader *r, struct lines *s, struct evidence *e)
{
	struct lines_candidate *c;
	tel_status st = make_candidates(r, s);

	for (unsigned i = 0; st == TEL_OK && i < s->ncandidates; i++) {
		c = &s->candidates[i];
		if (!s->syntax->parse(s, c->map) || s->type == NULL)
			continue;
		c->fits++;
		tel_codes_add(&c->seen, s->type->code);
		c->e.platform[0] = c->e.likely[0] = '\0';
		c->format->score(c->number, s->type, s->data, &c->e);
		/* what comes later overrides */
		if (c->e.platform[0] != '\0')
			memcpy(e->platform, c->e.platform, sizeof(e->platform));
		if (c->e.likely[0] != '\0')
			memcpy(e->likely, c->e.likely, sizeof(e->likely));
		if (c->e.version && c->e.build)
			e->sure = 1;
	}
	return st;
}

int
tel__lines_format(const unsigned char *p, const unsigned char *end, char *name,
    size_t size)
{
	static const char key[] = "# format: ";
	size_t n = (size_t)(end - p), skip = sizeof(key) - 1;

	if (n <= skip || n - skip >= size || memcmp(p, key, skip) != 0 ||
	    memchr(p, '\0', n) != NULL)
		return 0;
	memcpy(name, p + skip, n - skip);
	name[n - skip] = '\0';
	return 1;
}

/* Tries a line on every candidate, and as one of a type not known. */
static tel_status
consider(struct tel_reader *r, struct lines *s, struct evidence *e)
{
	tel_status st = e->said ? TEL_OK : text_schema_weigh(r, s, e);
	int learned = 0;

	if (st == TEL_OK && s->syntax->named)
		learned = tel__any_learn(s);
	e->learned += learned > 0;
	return learned < 0 ? TEL_ENOMEM : st;
}

/* Looks at one line.  TEL_END: it settles the question. */
static tel_status
text_schema_look_at(struct lines *s, struct tel_reader *r, struct evidence *e)
{
	char name[64];
	int good = 0;

	if (s->line.end > s->line.p && s->line.end[-1] == '\r')
		s->line.end--;
	if (s->line.p == s->line.end)
		return TEL_OK;
	if (*s->line.p != '#')
		return e->said && s->any->said.ntypes > 0 ? TEL_END :
		                                            consider(r, s, e);
	if (s->syntax->header == NULL)
		return TEL_OK;
	if (tel__lines_format(s->line.p, s->line.end, name, sizeof(name))) {
		tel_status st = tel__lines_use(r, s, name);

		if (st == TEL_OK || st == TEL_ENOMEM) {
			e->said = e->learned = 0;
			return st == TEL_OK ? TEL_END : st;
		}
		if (tel__format_of_schema(r->formats, name) == NULL)
			good = tel__any_format(s, name);
	} else {
		good = tel__any_header(s, s->line.p, s->line.end);
	}
	if (good > 0)
		e->said = 1;
	return good < 0 ? TEL_ENOMEM : TEL_OK;
}

/*
 * Looks at lines until the question is settled, LINES_WINDOW bytes at most.
 * The input is waited for, but only as long as it matters.
 */
static tel_status
text_schema_look(struct tel_reader *r, struct lines *s, struct evidence *e)
{
	size_t at = 0, seen = 0, most, have;
	tel_status st = TEL_OK;

	while (st == TEL_OK && !e->sure) {
		/* a header may be long */
		most = !s->syntax->named || (e->said && !e->learned) ?
		    LINES_MAX :
		    LINES_WINDOW;
		have = (size_t)(r->end - r->p);
		if (have > most)
			have = most;
		const unsigned char *lf =
		    have > seen ? memchr(r->p + seen, '\n', have - seen) : NULL;
		if (lf == NULL && have < most && !r->eof) {
			seen = have;
			tel__reader_fill(r, have + 1);
			continue;
		}
		if (lf == NULL && (have == most || have == at))
			break;
		if (lf == NULL) {
			/* a last line that has no end */
			st = tel__line_copy(r, &s->line, r->p + at, have - at);
			at = have;
		} else {
			s->line.p = r->p + at;
			s->line.end = lf;
			at = (size_t)(lf + 1 - r->p);
		}
		seen = at;
		if (st == TEL_OK)
			st = text_schema_look_at(s, r, e);
	}
	return st;
}

/* Whether a, which is newer than b, is as likely as that or more. */
static int
text_schema_is_likelier(const struct lines_candidate *a,
    const struct lines_candidate *b)
{
	if (a->e.votes != b->e.votes)
		return a->e.votes > b->e.votes;
	if (a->fits != b->fits)
		return a->fits > b->fits;
	return a->e.odd <= b->e.odd;
}

/* The candidate that is the most likely; the newest among equals. */
static unsigned
best_candidate(const struct lines *s)
{
	const struct lines_candidate *c = s->candidates;
	unsigned best = 0, i;

	for (i = 1; i < s->ncandidates; i++)
		if (text_schema_is_likelier(&c[i], &c[best]))
			best = i;
	return best;
}

/*
 * The lines of mpseventcnv name nothing, and several releases may fit those
 * that were looked at.  Reports which names differ between them.
 */
static void
tell_others(struct tel_reader *r, const struct lines *s, unsigned best)
{
	const struct lines_candidate *c = s->candidates;
	char others[160] = "";

	for (unsigned i = s->ncandidates; i-- > 0;)
		if (i != best && c[i].fits == c[best].fits &&
		    c[i].e.votes == c[best].e.votes)
			tel__schema_other_names(c[best].map->schema,
			    c[i].map->schema, &c[best].seen, others,
			    sizeof(others));
	tel__reader_notice(r, TEL_WARNING, r->offset,
	    "the stream does not identify its writer; read as %s, which fits "
	    "best%s",
	    r->log.schema->name, others);
}

/* Settles on what most lines fit. */
static tel_status
text_schema_infer(struct tel_reader *r, struct lines *s,
    const struct evidence *e)
{
	const char *platform = e->platform;
	tel_status st = make_candidates(r, s);
	char name[64];

	if (st != TEL_OK)
		return st;
	unsigned best = best_candidate(s);
	const struct lines_candidate *c = &s->candidates[best];
	if (platform[0] == '\0')
		platform = e->likely;
	if (platform[0] == '\0' && s->narrow)
		platform = "lii3gc";
	snprintf(name, sizeof(name), "%s%s%s",
	    c->format->schema_name(c->number), platform[0] != '\0' ? "/" : "",
	    platform);
	st = tel__lines_use(r, s, name);
	if (st != TEL_OK)
		return st;
	s->inferred = !c->e.build;
	if (!s->syntax->named && c->e.votes <= 0 && c->fits > 0) {
		tell_others(r, s, best);
		return TEL_OK;
	}
	tel__reader_notice(r, TEL_INFO, r->offset, "read as %s: %s",
	    r->log.schema->name,
	    c->e.votes > 0 ?
	        "the log names it" :
	        c->fits > 0 ?
	        "the log names no release, and this fits most lines" :
	        "the log names no release, and this is the newest");
	return TEL_OK;
}

/* Whether the text is of no built-in release. */
static int
is_any(const struct lines *s, const struct evidence *e)
{
	return e->said ||
	    (e->learned > 0 && s->candidates != NULL && !e->sure &&
	        s->candidates[best_candidate(s)].fits == 0);
}

static tel_status
choose_any(struct tel_reader *r, struct lines *s)
{
	tel_status st = tel__any_settle(r, s);

	if (st == TEL_OK && s->inferred)
		tel__reader_notice(r, TEL_INFO, r->offset,
		    "read as %s: event types are inferred from the lines, as "
		    "no header defines them",
		    r->log.schema->name);
	return st;
}

tel_status
tel__lines_choose(struct tel_reader *r, struct lines *s)
{
	struct evidence e = { .sure = 0 };
	tel_status st;

	if (r->as_schema != NULL) {
		s->fixed = 1;
		st = tel__lines_use(r, s, r->as_schema);
	} else {
		st = text_schema_look(r, s, &e);
		if ((st == TEL_OK || st == TEL_END) && is_any(s, &e))
			st = choose_any(r, s);
		else if (st == TEL_OK)
			st = text_schema_infer(r, s, &e);
		else if (st == TEL_END)
			st = TEL_OK; /* a header said it */
		if (!s->inferred || (s->any != NULL && s->any->on))
			tel__lines_free_candidates(s);
	}
	if (st == TEL_ENOMEM)
		return st;
	if (st != TEL_OK)
		return tel__reader_fail(r, st, "no such format: %s",
		    s->fixed ? r->as_schema : "");
	return TEL_OK;
}

/* The candidate that the schema in force is one of. */
static unsigned
current_candidate(const struct tel_reader *r, const struct lines *s)
{
	const struct tel_schema *now = s->map.schema;
	unsigned i;

	for (i = 0; i + 1 < s->ncandidates; i++)
		if (s->candidates[i].number == now->release &&
		    s->candidates[i].format ==
		        tel__format_of_schema(r->formats, now->name))
			break;
	return i;
}

tel_status
tel__lines_adapt(struct tel_reader *r, struct lines *s)
{
	const unsigned now = current_candidate(r, s);
	char name[64];

	for (unsigned i = s->ncandidates; i-- > 0;) {
		const struct lines_candidate *c = &s->candidates[i];

		if (i == now || c->e.votes < s->candidates[now].e.votes ||
		    (!s->syntax->named && c->fits < s->candidates[now].fits) ||
		    !s->syntax->parse(s, c->map) || s->type == NULL)
			continue;
		snprintf(name, sizeof(name), "%s/%s",
		    c->format->schema_name(c->number), s->map.schema->platform);
		tel_status st = tel__lines_use(r, s, name);
		if (st == TEL_ENOMEM)
			return st;
		if (st != TEL_OK || !s->syntax->parse(s, &s->map))
			break;
		tel__reader_notice(r, TEL_INFO, s->line.offset,
		    "read as %s from here on: it fits the lines",
		    r->log.schema->name);
		return TEL_OK;
	}
	/* once more for its message */
	(void)s->syntax->parse(s, &s->map);
	return TEL_END;
}
