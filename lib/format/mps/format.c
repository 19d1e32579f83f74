/* SPDX-License-Identifier: BSD-2-Clause */
/* The format "mps": its schemas by name, and the version of a stream. */
#include "format/mps/decoder.h"
#include "format/mps/convert.h"
#include "format/mps/mps.h"
#include "format/mps/score.h"

#include <stdio.h>
#include <stdlib.h>

/* ---------------------------------------------------------------- schemas */

static const char *
mps_schema_name(unsigned i)
{
	return i < tel__mps_nreleases ? tel__mps_releases[i].name : NULL;
}

/* The release whose name is the first n bytes of name, or -1. */
static int
find_release(const char *name, size_t n)
{
	for (unsigned i = 0; i < tel__mps_nreleases; i++)
		if (strlen(tel__mps_releases[i].name) == n &&
		    memcmp(tel__mps_releases[i].name, name, n) == 0)
			return (int)i;
	return -1;
}

tel_status
tel__mps_schema_named(const char *name, struct tel_schema **out)
{
	char platform[8] = "lii6gc";
	size_t n = strcspn(name, "/,");
	int release = find_release(name, n);
	struct tel_abi abi;

	if (release < 0)
		return TEL_EINVAL;
	name += n;
	if (*name == '/') {
		n = strcspn(++name, ",");
		if (n >= sizeof(platform))
			return TEL_EINVAL;
		memcpy(platform, name, n);
		platform[n] = '\0';
		name += n;
	}
	if (!tel__mps_platform_abi(platform, &abi))
		return TEL_EINVAL;
	if (strcmp(name, ",be") == 0)
		abi.big = 1;
	else if (strcmp(name, ",le") == 0)
		abi.big = 0;
	else if (*name != '\0')
		return TEL_EINVAL;
	return tel__mps_schema_new((unsigned)release, platform, &abi, out);
}

/* ---------------------------------------------------------------- version */

/* The value of the field called name, 0 when there is none. */
static uint64_t
mps_field(const struct tel_type *t, const unsigned char *data, const char *name)
{
	int i = tel_type_find_field(t, name);

	return i < 0 ? 0 : tel_load(&t->fields[i], data);
}

int
tel__mps_is_newer(uint64_t major)
{
	return major > tel__mps_releases[tel__mps_nreleases - 1].version[0];
}

tel_status
tel__mps_refuse(struct tel_reader *r, uint64_t major, uint64_t median,
    uint64_t minor)
{
	const uint8_t *newest =
	    tel__mps_releases[tel__mps_nreleases - 1].version;

	return tel__reader_fail(r, TEL_EVERSION,
	    "the stream has version %llu.%llu.%llu; events may differ from "
	    "those of the supported versions, up to %u.x",
	    (unsigned long long)major, (unsigned long long)median,
	    (unsigned long long)minor, newest[0]);
}

/*
 * The version rule of design.mps.telemetry, .sol.version: a minor version
 * adds event types, a median one may change an event, a major one the whole.
 * Events have their sizes, so a stream of a newer median version is read, and
 * counts as damaged: what its events hold is uncertain.
 */
static tel_status
version(struct tel_reader *r, const struct tel_event *ev)
{
	const uint8_t *known =
	    tel__mps_releases[ev->type->schema->release].version;
	uint64_t v[3], unit;

	v[0] = mps_field(ev->type, ev->data, "major");
	v[1] = mps_field(ev->type, ev->data, "median");
	v[2] = mps_field(ev->type, ev->data, "minor");
	unit = mps_field(ev->type, ev->data, "clocksPerSec");
	/* bytes that damage left, with the code and the size of an EventInit */
	const uint64_t width = mps_field(ev->type, ev->data, "wordWidth");
	if (width != 32 && width != 64)
		return tel__reader_damage(r, ev->offset, 0,
		    "an EventInit with words of %llu bits",
		    (unsigned long long)width);
	tel__clock_set_unit(ev->log->clock, unit);
	if (unit > 0)
		r->piece.unit = unit;
	if (v[0] == known[0] && v[1] == known[1] && v[2] == known[2])
		return TEL_OK;
	r->piece.needs_context = 1;
	if (tel__mps_is_newer(v[0]) && !r->force)
		return tel__mps_refuse(r, v[0], v[1], v[2]);
	if (r->notices & NOTICED_VERSION)
		return TEL_OK;
	r->notices |= NOTICED_VERSION;
	if (v[0] == known[0] && v[1] > known[1] && !r->force)
		return tel__reader_damage(r, ev->offset, 0,
		    "the stream has version %llu.%llu.%llu and is read as %s "
		    "(%s); its events may differ, and unknown ones are shown "
		    "by number",
		    (unsigned long long)v[0], (unsigned long long)v[1],
		    (unsigned long long)v[2], ev->type->schema->version,
		    ev->type->schema->name);
	tel__reader_notice(r, TEL_WARNING, ev->offset,
	    "the stream has version %llu.%llu.%llu and is read as %s (%s); "
	    "unknown events are shown by number",
	    (unsigned long long)v[0], (unsigned long long)v[1],
	    (unsigned long long)v[2], ev->type->schema->version,
	    ev->type->schema->name);
	return TEL_OK;
}

/* --------------------------------------- which release a text is printed of */

/* An EventInit: the version of the stream and the width of a word. */
static void
weigh_init(const struct mps_release *release, const struct tel_type *t,
    const unsigned char *data, struct tel_score *e)
{
	if (mps_field(t, data, "major") != release->version[0] ||
	    mps_field(t, data, "median") != release->version[1] ||
	    mps_field(t, data, "minor") != release->version[2]) {
		e->votes--;
		return;
	}
	e->votes++;
	e->version = 1;
	snprintf(e->likely, sizeof(e->likely), "%s",
	    mps_field(t, data, "wordWidth") == 32 ? "lii3gc" : "lii6gc");
}

/*
 * An Intern: its string may be the one that the MPS is built with, as in
 * "@(#)Ravenbrook MPS, product.mps, release/1.117.0, platform.lii6gc, ...".
 */
static void
weigh_intern(const struct mps_release *release, const struct tel_type *t,
    const unsigned char *data, struct tel_score *e)
{
	const struct tel_field *f = &t->fields[t->nfields - 1];
	const char *text = (const char *)data + f->offset, *p;
	char platform[8] = "";
	struct tel_abi abi;

	/* the string ends in a NUL: the line was encoded just now */
	p = strstr(text, "release/1.");
	if (strncmp(text, "@(#)", 4) != 0 || p == NULL)
		return;
	if (strtoul(p + 10, NULL, 10) != release->number) {
		e->votes--;
		return;
	}
	e->votes++;
	e->build = 1;
	p = strstr(text, "platform.");
	if (p == NULL)
		return;
	p += 9;
	size_t n = strcspn(p, ", ");
	if (n >= sizeof(platform))
		return;
	memcpy(platform, p, n);
	if (tel__mps_platform_abi(platform, &abi))
		memcpy(e->platform, platform, sizeof(platform));
}

static void
mps_weigh(unsigned i, const struct tel_type *t, const unsigned char *data,
    struct tel_score *e)
{
	const struct mps_release *release = &tel__mps_releases[i];

	e->odd += tel__mps_odd_values(t, data);
	if (t->role == TEL_ROLE_INIT)
		weigh_init(release, t, data, e);
	else if (t->role == TEL_ROLE_INTERN && t->has_string)
		weigh_intern(release, t, data, e);
}

int
tel__mps_match_build_string(const char *string, size_t length)
{
	static const char word[] = "product.mps, release/";
	const size_t n = sizeof(word) - 1;

	for (; length >= n; string++, length--)
		if (*string == 'p' && memcmp(string, word, n) == 0)
			return 1;
	return 0;
}

const struct tel_format_ops tel__format_mps = {
	.name = "mps",
	.prefix = "mps-",
	.schema_name = mps_schema_name,
	.schema_new = tel__mps_schema_named,
	.score = mps_weigh,
	.version = version,
	.match_build_string = tel__mps_match_build_string,
	.probe = tel__mps_probe,
	.open = tel__mps_open,
	.keeps_schema = 1,
	.next = tel__mps_next,
	.split_at = tel__mps_split_at,
	.decode_batch = tel__mps_decode_batch,
	.cache_free = tel__mps_cache_free,
	.encoder = &tel__mps_encoder,
	.converter = &tel__mps_converter,
};
