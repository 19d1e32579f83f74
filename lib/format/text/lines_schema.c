/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which release a text was printed from: what a header says, or else the
 * release that most lines fit, with a preference for what the log itself
 * says of its version and build.
 */
#include "format/text/anytext.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/mps/mps.h"

const struct tel_type *
tel__lines_find(const struct lines_map *m, const unsigned char *name, size_t n,
    uint32_t hash)
{
	const struct tel_type *t;
	uint32_t i;

	for (i = hash % LINES_SLOTS; m->slot[i] != 0;
	     i = (i + 1) % LINES_SLOTS) {
		t = &m->schema->types[m->slot[i] - 1];
		if (t->name_length == n && memcmp(t->name, name, n) == 0)
			return t;
	}
	return NULL;
}

/* Fills the table of names.  TEL_OK, TEL_ELIMIT: too many types. */
static tel_status
set_map(struct lines_map *m, struct tel_schema *schema)
{
	uint32_t i, at, hash;
	const char *p;

	m->schema = schema;
	memset(m->slot, 0, sizeof(m->slot));
	if (schema->ntypes > LINES_SLOTS / 2)
		return TEL_ELIMIT;
	for (i = 0; i < schema->ntypes; i++) {
		hash = LINES_HASH;
		for (p = schema->types[i].name; *p != '\0'; p++)
			hash = lines_hash(hash, (unsigned char)*p);
		at = hash % LINES_SLOTS;
		while (m->slot[at] != 0)
			at = (at + 1) % LINES_SLOTS;
		m->slot[at] = (uint16_t)(i + 1);
	}
	return TEL_OK;
}

tel_status
tel__lines_use(struct tel_reader *r, struct lines *s, const char *name)
{
	tel_schema *schema;
	tel_status st;
	size_t i;

	st = tel_schema_new(name, &schema);
	if (st != TEL_OK)
		return st;
	/* what its types are, the text has to say */
	if (schema->described) {
		tel_schema_free(schema);
		return TEL_EINVAL;
	}
	if (s->any != NULL)
		s->any->on = s->any->fresh = 0;
	/* few schemas, however often a text goes from one to another */
	for (i = 0; i < r->nschemas; i++)
		if (!r->schemas[i]->described &&
		    strcmp(r->schemas[i]->name, schema->name) == 0)
			break;
	if (i < r->nschemas) {
		tel_schema_free(schema);
		r->log.schema = r->schemas[i];
	} else {
		if (s->switches == LINES_SCHEMAS_MAX) {
			tel_schema_free(schema);
			return TEL_ELIMIT;
		}
		s->switches++;
		st = tel__reader_adopt(r, schema);
		if (st != TEL_OK)
			return st;
	}
	return set_map(&s->map, r->log.schema);
}

void
tel__lines_free_candidates(struct lines *s)
{
	unsigned i;

	for (i = 0; s->candidates != NULL && i < tel__mps_nreleases; i++)
		tel_schema_free(s->candidates[i].map.schema);
	free(s->candidates);
	s->candidates = NULL;
}

/* Sees to a candidate for each release, with words of 64 bits. */
static tel_status
make_candidates(struct lines *s)
{
	tel_schema *schema;
	tel_status st = TEL_OK;
	unsigned i;

	if (s->candidates != NULL)
		return TEL_OK;
	s->candidates = calloc(tel__mps_nreleases, sizeof(*s->candidates));
	if (s->candidates == NULL)
		return TEL_ENOMEM;
	for (i = 0; i < tel__mps_nreleases && st == TEL_OK; i++) {
		st = tel_schema_new(tel__mps_releases[i].name, &schema);
		if (st == TEL_OK)
			st = set_map(&s->candidates[i].map, schema);
	}
	return st;
}

/* What a log says of itself, as far as the lines looked at tell. */
struct evidence {
	uint64_t word;    /* in bits; 0: not said */
	char platform[8]; /* empty: not said */
	int sure;         /* version and build are known */
	int said;         /* a header names a format that is not built in */
	int learned;      /* lines that look like events */
};

/* The value of a field by its name in the event of s; 0: no such field. */
static uint64_t
field(const struct lines *s, const char *name)
{
	int i = tel_type_find_field(s->type, name);

	return i < 0 ? 0 : tel_load(&s->type->fields[i], s->data);
}

/* An EventInit: the version of the stream and the width of a word. */
static void
weigh_init(const struct lines *s, struct lines_candidate *c,
    const struct mps_release *release, struct evidence *e)
{
	if (field(s, "major") != release->version[0] ||
	    field(s, "median") != release->version[1] ||
	    field(s, "minor") != release->version[2]) {
		c->votes--;
		return;
	}
	c->votes++;
	c->named_version = 1;
	e->word = field(s, "wordWidth");
}

/*
 * An Intern: its string may be the one that the MPS is built with, as in
 * "@(#)Ravenbrook MPS, product.mps, release/1.117.0, platform.lii6gc, ...".
 */
static void
weigh_intern(const struct lines *s, struct lines_candidate *c,
    const struct mps_release *release, struct evidence *e)
{
	const struct tel_field *f = &s->type->fields[s->type->nfields - 1];
	const char *text = (const char *)s->data + f->offset, *p;
	char platform[8] = "";
	struct tel_abi abi;
	size_t n;

	/* the string ends in a NUL: the line was encoded just now */
	p = strstr(text, "release/1.");
	if (strncmp(text, "@(#)", 4) != 0 || p == NULL)
		return;
	if (strtoul(p + 10, NULL, 10) != release->number) {
		c->votes--;
		return;
	}
	c->votes++;
	c->named_build = 1;
	p = strstr(text, "platform.");
	if (p == NULL)
		return;
	p += 9;
	n = strcspn(p, ", ");
	if (n >= sizeof(platform))
		return;
	memcpy(platform, p, n);
	if (tel__mps_platform_abi(platform, &abi))
		memcpy(e->platform, platform, sizeof(platform));
}

/* Tries a line on every candidate. */
static tel_status
weigh(struct lines *s, struct evidence *e)
{
	struct lines_candidate *c;
	tel_status st = make_candidates(s);
	unsigned i;

	for (i = 0; st == TEL_OK && i < tel__mps_nreleases; i++) {
		c = &s->candidates[i];
		if (!s->syntax->parse(s, &c->map) || s->type == NULL)
			continue;
		c->fits++;
		if (s->type->role == TEL_ROLE_INIT)
			weigh_init(s, c, &tel__mps_releases[i], e);
		else if (s->type->role == TEL_ROLE_INTERN &&
		    s->type->has_string)
			weigh_intern(s, c, &tel__mps_releases[i], e);
		if (c->named_version && c->named_build)
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
consider(struct lines *s, struct evidence *e)
{
	tel_status st = e->said ? TEL_OK : weigh(s, e);
	int learned = 0;

	if (st == TEL_OK && s->syntax->named)
		learned = tel__any_learn(s);
	e->learned += learned;
	return learned < 0 ? TEL_ENOMEM : st;
}

/* Looks at one line.  TEL_END: it settles the question. */
static tel_status
look_at(struct lines *s, struct tel_reader *r, struct evidence *e)
{
	char name[64];
	tel_status st;
	int good = 0;

	if (s->end > s->line && s->end[-1] == '\r')
		s->end--;
	if (s->line == s->end)
		return TEL_OK;
	if (*s->line != '#')
		return e->said && s->any->said.ntypes > 0 ? TEL_END :
		                                            consider(s, e);
	if (s->syntax->header == NULL)
		return TEL_OK;
	if (tel__lines_format(s->line, s->end, name, sizeof(name))) {
		st = tel__lines_use(r, s, name);
		if (st == TEL_OK || st == TEL_ENOMEM) {
			e->said = e->learned = 0;
			return st == TEL_OK ? TEL_END : st;
		}
		if (strncmp(name, "mps-", 4) != 0)
			good = tel__any_format(s, name);
	} else {
		good = tel__any_header(s, s->line, s->end);
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
look(struct tel_reader *r, struct lines *s, struct evidence *e)
{
	size_t at = 0, seen = 0, most, have;
	const unsigned char *lf;
	tel_status st = TEL_OK;

	while (st == TEL_OK && !e->sure) {
		/* a header may be long */
		most = e->said && !e->learned ? LINES_MAX : LINES_WINDOW;
		have = (size_t)(r->end - r->p);
		if (have > most)
			have = most;
		lf =
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
			st = tel__lines_copy(r, s, r->p + at, have - at);
			at = have;
		} else {
			s->line = r->p + at;
			s->end = lf;
			at = (size_t)(lf + 1 - r->p);
		}
		seen = at;
		if (st == TEL_OK)
			st = look_at(s, r, e);
	}
	return st;
}

/* The candidate that is the most likely; the newest among equals. */
static unsigned
best_candidate(const struct lines *s)
{
	const struct lines_candidate *c = s->candidates;
	unsigned best = 0, i;

	for (i = 1; i < tel__mps_nreleases; i++)
		if (c[i].votes > c[best].votes ||
		    (c[i].votes == c[best].votes && c[i].fits >= c[best].fits))
			best = i;
	return best;
}

/* Settles on what most lines fit. */
static tel_status
infer(struct tel_reader *r, struct lines *s, const struct evidence *e)
{
	const struct lines_candidate *c;
	const char *platform = e->platform;
	tel_status st = make_candidates(s);
	unsigned best;
	char name[64];

	if (st != TEL_OK)
		return st;
	best = best_candidate(s);
	c = &s->candidates[best];
	if (platform[0] == '\0')
		platform = e->word == 32 ? "lii3gc" : "lii6gc";
	snprintf(name, sizeof(name), "%s/%s", tel__mps_releases[best].name,
	    platform);
	st = tel__lines_use(r, s, name);
	if (st != TEL_OK)
		return st;
	s->inferred = !c->named_build;
	tel__reader_notice(r, TEL_INFO, r->offset, "read as %s: %s",
	    r->log.schema->name,
	    c->votes > 0    ? "the log says so" :
	        c->fits > 0 ? "no release is named, and most lines fit this" :
	                      "no release is named, and this is the newest");
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
		    "read as %s: no header says what its event types are, so "
		    "the lines do",
		    r->log.schema->name);
	return st;
}

tel_status
tel__lines_choose(struct tel_reader *r, struct lines *s, const char *as)
{
	struct evidence e = { 0, "", 0, 0, 0 };
	tel_status st;

	if (as != NULL) {
		s->fixed = 1;
		st = tel__lines_use(r, s, as);
	} else {
		st = look(r, s, &e);
		if ((st == TEL_OK || st == TEL_END) && is_any(s, &e))
			st = choose_any(r, s);
		else if (st == TEL_OK)
			st = infer(r, s, &e);
		else if (st == TEL_END)
			st = TEL_OK; /* a header said it */
		if (!s->inferred || !s->syntax->named ||
		    (s->any != NULL && s->any->on))
			tel__lines_free_candidates(s);
	}
	if (st == TEL_ENOMEM)
		return tel__reader_fail(r, st, "out of memory");
	if (st != TEL_OK)
		return tel__reader_fail(r, st, "no such format: %s",
		    as != NULL ? as : "");
	return TEL_OK;
}

tel_status
tel__lines_adapt(struct tel_reader *r, struct lines *s)
{
	char name[64];
	unsigned now = s->map.schema->release, i;
	tel_status st;

	for (i = tel__mps_nreleases; i-- > 0;) {
		if (i == now ||
		    s->candidates[i].votes < s->candidates[now].votes ||
		    !s->syntax->parse(s, &s->candidates[i].map) ||
		    s->type == NULL)
			continue;
		snprintf(name, sizeof(name), "%s/%s", tel__mps_releases[i].name,
		    s->map.schema->platform);
		st = tel__lines_use(r, s, name);
		if (st == TEL_ENOMEM)
			return tel__reader_fail(r, st, "out of memory");
		if (st != TEL_OK || !s->syntax->parse(s, &s->map))
			break;
		tel__reader_notice(r, TEL_INFO, s->offset,
		    "read as %s from here on: the lines fit that",
		    r->log.schema->name);
		return TEL_OK;
	}
	/* once more for what is to be said of it */
	(void)s->syntax->parse(s, &s->map);
	return TEL_END;
}
