/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --each: a spec in whose name there is '@' is one for each field of the log
 * that the globs match, and '@' is the field.
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "common/message.h"
#include "telstat.h"

/* Words that mean something else in an expression than a field. */
static const char *const words[] = { "kind", "name", "code", "time", "clock",
	"dt", "index", "cpu", "tid", "pid", "sizeof", "label", "field", "has",
	"true", "false", "in" };

/* A copy of spec, to be freed, with the field in the place of each '@'. */
static char *
each_expand(const char *spec, const char *field)
{
	size_t length = strlen(field), n = 0, i;
	const char *name_end = strchr(spec, '=');
	/* a member of a struct called start, not of what began an event */
	const char *dot = strncmp(field, "start.", 6) == 0 ? "." : "";
	char *text, *p;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(field, words[i]) == 0)
			dot = ".";
	for (const char *s = spec; *s != '\0'; s++)
		n += *s == '@' ? length + 1 : 1;
	p = text = malloc(n + 1);
	if (text == NULL)
		return NULL;
	for (const char *s = spec; *s != '\0'; s++) {
		if (*s != '@') {
			*p++ = *s;
			continue;
		}
		if (s > name_end && *dot != '\0')
			*p++ = *dot;
		memcpy(p, field, length);
		p += length;
	}
	*p = '\0';
	return text;
}

int
each_spec(const char *spec)
{
	const char *at = strchr(spec, '@'), *equals = strchr(spec, '=');

	return at != NULL && equals != NULL && at < equals;
}

/* Nonzero when the name is one that a glob of a list matches. */
static int
matches(const char *globs, const char *name)
{
	char glob[256];

	for (;;) {
		size_t n = strcspn(globs, ",");

		if (n < sizeof(glob)) {
			memcpy(glob, globs, n);
			glob[n] = '\0';
			if (fnmatch(glob, name, 0) == 0)
				return 1;
		}
		if (globs[n] == '\0')
			return 0;
		globs += n + 1;
	}
}

/* Nonzero when a type before number t, or this one before field f, has it. */
static int
is_known(const tel_schema *s, unsigned t, unsigned f, const char *name)
{
	for (unsigned i = 0; i <= t; i++) {
		int at = tel_type_find_field(tel_schema_type(s, i), name);

		if (at >= 0 && (i < t || (unsigned)at < f))
			return 1;
	}
	return 0;
}

static tel_status
add_each(struct telstat *t, const char *field)
{
	tel_status st = TEL_OK;

	for (size_t i = 0; i < t->neach_specs && st == TEL_OK; i++) {
		char *text = each_expand(t->each_specs[i], field);

		st = text == NULL ? TEL_ENOMEM : tel_stats_add(t->stats, text);
		free(text);
	}
	if (st != TEL_OK)
		telstat_report_error(t, st, "-s");
	return st;
}

int
each_add(struct telstat *t, const tel_schema *s)
{
	unsigned i, j, n = 0;

	if (t->each == NULL || t->each_done)
		return 1;
	t->each_done = 1;
	for (i = 0; i < tel_schema_type_count(s); i++) {
		const tel_type *type = tel_schema_type(s, i);

		for (j = 0; j < tel_type_field_count(type); j++) {
			const tel_field *f = tel_type_field(type, j);
			const char *name = tel_field_name(f);

			if (tel_field_datatype(f) == TEL_STRING ||
			    tel_field_datatype(f) == TEL_LIST ||
			    !matches(t->each, name) || is_known(s, i, j, name))
				continue;
			n++;
			if (add_each(t, name) != TEL_OK)
				return 0;
		}
	}
	if (n > 0)
		return 1;
	return message_fail(STATUS_USAGE, NULL,
	    "--each: no numeric field of the log matches '%s'", t->each);
}

int
each_take(struct telstat *t, const char *spec)
{
	if (t->neach_specs == sizeof(t->each_specs) / sizeof(t->each_specs[0]))
		return message_fail(STATUS_USAGE, NULL,
		    "-s: more than %zu specs with '@'", t->neach_specs);
	/* its mistakes are found at once, with a number that any log has */
	tel_stats *trial = tel_stats_new();
	char *text = each_expand(spec, "index");
	tel_status st = trial == NULL || text == NULL ?
	    TEL_ENOMEM :
	    tel_stats_add(trial, text);
	if (st == TEL_ENOMEM)
		message_fail(STATUS_FAILED, NULL, "%s", tel_status_text(st));
	else if (st != TEL_OK)
		message_fail(STATUS_USAGE, NULL, "-s: '%s': %s", spec,
		    tel_stats_error(trial));
	if (st == TEL_OK) {
		t->each_specs[t->neach_specs++] = spec;
		t->each_order |= tel_stats_uses(trial, TEL_USE_ORDER);
		t->each_rate |= tel_stats_uses(trial, TEL_USE_RATE);
		for (size_t i = 0; i < tel_stats_count(trial); i++)
			t->each_order |= is_magnitude(
			    tel_stat_class(tel_stats_get(trial, i)));
	}
	tel_stats_free(trial);
	free(text);
	return st == TEL_OK;
}
