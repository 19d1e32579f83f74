/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events on a stream itself (EventInit, build string), and others that no log
 * has.
 */
#include "format/mps/convert.h"
#include "format/mps/mps.h"
#include "model/encode.h"

#include <stdio.h>

/* Sets the value of a field of the target by its name, if it has one. */
static void
make_set(const struct tel_type *t, unsigned char *data, const char *name,
    uint64_t v)
{
	int i = tel_type_find_field(t, name);

	if (i >= 0 && tel_encode_fits(&t->fields[i], v))
		tel_encode_field(&t->fields[i], v, data);
}

void
tel__convert_set_init(const struct tel_schema *to, const struct tel_type *t,
    unsigned char *data)
{
	const struct mps_release *rel = &tel__mps_releases[to->release];

	make_set(t, data, "major", rel->version[0]);
	make_set(t, data, "median", rel->version[1]);
	make_set(t, data, "minor", rel->version[2]);
	make_set(t, data, "maxCode", rel->max_code);
	make_set(t, data, "maxNameLen", MPS_MAX_NAME);
	make_set(t, data, "wordWidth", (uint64_t)to->abi.word * 8);
}

/* The number of the release of a schema, "1.117.0"; n: its length. */
static const char *
make_release_of(const struct tel_schema *to, size_t *n)
{
	const char *name = tel__mps_releases[to->release].name + strlen("mps-");

	*n = strlen(name);
	return name;
}

/* Replaces what follows a word, up to a delimiter, by text. */
static size_t
make_replace(char *s, size_t n, const char *word, const char *text,
    size_t length)
{
	size_t w = strlen(word), i, end;

	for (i = 0; i + w <= n; i++)
		if (memcmp(s + i, word, w) == 0)
			break;
	if (i + w > n)
		return n;
	for (end = i += w; end < n && s[end] != ',' && s[end] != ' '; end++)
		;
	if (n - (end - i) + length >= TEL_STRING_ROOM)
		return n;
	memmove(s + i + length, s + end, n - end);
	memcpy(s + i, text, length);
	return n - (end - i) + length;
}

/*
 * Whether the string names a release of the same two first numbers, such as
 * 1.113.1 where 1.113.0 is written: it stays what it is.
 */
static int
is_patch_of(const char *s, size_t n, const char *release, size_t length)
{
	static const char word[] = "release/";
	size_t w = sizeof(word) - 1, i;

	while (length > 0 && release[length - 1] != '.')
		length--;
	for (i = 0; i + w + length <= n; i++)
		if (memcmp(s + i, word, w) == 0)
			return memcmp(s + i + w, release, length) == 0;
	return 0;
}

size_t
tel__convert_set_build(const struct tel_schema *to, char *s, size_t n)
{
	size_t length;
	const char *release = make_release_of(to, &length);

	if (!is_patch_of(s, n, release, length))
		n = make_replace(s, n, "release/", release, length);
	return make_replace(s, n, "platform.", to->platform,
	    strlen(to->platform));
}

void
tel__convert_finish(const struct convert *c, const struct tel_type *t,
    unsigned char *data, uint32_t size, const struct tel_event *from,
    struct tel_event *out)
{
	tel__encode_header(c->to, data, t->code, size, from->clock);
	memset(out, 0, sizeof(*out));
	out->type = t;
	out->data = data;
	out->size = size;
	out->clock = from->clock;
	out->offset = from->offset;
	out->index = from->index;
}

/* The type of the target that has a role; NULL when none has. */
static const struct tel_type *
make_type_of(const struct tel_schema *s, enum tel_role role)
{
	for (unsigned i = 0; i < s->ntypes; i++)
		if (s->types[i].role == role)
			return &s->types[i];
	return NULL;
}

void
tel__convert_make_init(struct convert *c, uint64_t clock,
    uint64_t clocks_per_sec, struct tel_event *out)
{
	const struct tel_type *t = make_type_of(c->to, TEL_ROLE_INIT);
	struct tel_event at = { .clock = clock };
	unsigned char *data = c->room[CONVERT_MAX];

	memset(data, 0, t->size);
	make_set(t, data, "clocksPerSec", clocks_per_sec);
	tel__convert_set_init(c->to, t, data);
	tel__convert_finish(c, t, data, t->size, &at, out);
}

void
tel__convert_make_string(struct convert *c, uint64_t clock, uint64_t id,
    const char *text, size_t n, struct tel_event *out)
{
	const struct tel_type *t = make_type_of(c->to, TEL_ROLE_INTERN);
	const struct tel_field *string = &t->fields[t->role_field[1]];
	struct tel_event at = { .clock = clock };
	unsigned char *data = c->room[CONVERT_MAX];
	uint32_t size = tel__encode_size(c->to, t, string, n);

	memset(data, 0, size);
	tel_encode_field(&t->fields[t->role_field[0]], id, data);
	memcpy(data + string->offset, text, n);
	tel__convert_finish(c, t, data, size, &at, out);
}

int
tel__convert_make_label(struct convert *c, uint64_t clock, int pointer,
    uint64_t at, uint64_t id, struct tel_event *out)
{
	const struct tel_type *t = make_type_of(c->to,
	    pointer && c->to->split_space ? TEL_ROLE_LABEL_P : TEL_ROLE_LABEL);
	struct tel_event from = { .clock = clock };
	unsigned char *data = c->room[CONVERT_MAX];

	if (!tel_encode_fits(&t->fields[t->role_field[0]], at))
		return 0;
	memset(data, 0, t->size);
	tel_encode_field(&t->fields[t->role_field[0]], at, data);
	tel_encode_field(&t->fields[t->role_field[1]], id, data);
	tel__convert_finish(c, t, data, t->size, &from, out);
	return 1;
}

void
tel__convert_make_build(struct convert *c, uint64_t clock, uint64_t id,
    struct tel_event *out)
{
	char text[TEL_STRING_ROOM];
	size_t n;
	const char *release = make_release_of(c->to, &n);

	n = (size_t)snprintf(text, sizeof(text),
	    "@(#)Ravenbrook MPS, product.mps, release/%s, platform.%s, "
	    "written by teltools %s",
	    release, c->to->platform, tel_version());
	tel__convert_make_string(c, clock, id, text, n, out);
}
