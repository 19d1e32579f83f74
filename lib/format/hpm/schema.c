/* SPDX-License-Identifier: BSD-2-Clause */
/* The event types of an HPM trace; the counters are named by its meta file. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "format/hpm/hpm.h"
#include "base/digit.h"
#include "model/row.h"

/*
 * Counter events: their fields in a layout of our own, enum hpm_at, and the
 * version that has them.
 */
static const struct {
	const char *field;
	unsigned since; /* the version; WITH_MIDS: where methods are recorded */
} counter_fields[] = {
#define WITH_MIDS 9
	{ "h:cpu@0", 1 },
	{ "i:tid@8", 1 },
	{ "l:slot@4", 1 },
	{ "b:yielded@3", 1 },
	{ "b:switched", 2 },
	{ "c:buffer@2", 1 },
	{ "s:flags@48", 1 },
	{ "u:end@16", 1 },
	{ "i:duration@24", 1 },
	{ "i:gap@32", 1 },
	{ "l:caller@40", WITH_MIDS },
	{ "l:callee@44", WITH_MIDS },
};

/* Each processor has markers of its own; one of a run has its number. */
static const struct tel_type_row marker_rows[] = {
	{ HPM_APP_START, "AppStart", "Marker", "h:cpu S:app@8",
	    "start(cpu) AppComplete" },
	{ HPM_APP_COMPLETE, "AppComplete", "Marker", "h:cpu S:app@8",
	    "finish(cpu)" },
	{ HPM_RUN_START, "RunStart", "Marker", "h:cpu l:run S:app",
	    "start(cpu) RunComplete" },
	{ HPM_RUN_COMPLETE, "RunComplete", "Marker", "h:cpu l:run S:app",
	    "finish(cpu)" },
	{ HPM_EXIT, "Exit", "Exit", "h:cpu l:status", "" },
};
#define NMARKERS (sizeof(marker_rows) / sizeof(marker_rows[0]))

/*
 * Nonzero when a field of that name is there.  Names are compared without case,
 * as those of columns in SQL, which have two names of their own.
 */
static int
hpm_schema_is_taken(const struct tel_type *t, const char *name)
{
	if (strcasecmp(name, "time") == 0 ||
	    strcasecmp(name, "log_serial") == 0)
		return 1;
	for (unsigned i = 0; i < t->nfields; i++)
		if (strcasecmp(t->fields[i].name, name) == 0)
			return 1;
	return 0;
}

/*
 * The name of counter number i as an identifier that no field of t has:
 * "PM_LSU0 BUSY" becomes PM_LSU0_BUSY, the second of two gets its number.
 */
static void
name_counter(const struct tel_type *t, const char *event, unsigned i,
    char *name, size_t size)
{
	unsigned n = i;

	snprintf(name, size, "%s%s", tel_is_digit(event[0]) ? "_" : "", event);
	for (char *p = name; *p != '\0'; p++)
		if (!tel_is_word(*p) && !(*p == '.' && p > name))
			*p = '_';
	if (*name == '\0')
		snprintf(name, size, "counter%u", i);
	size_t length = strlen(name);
	for (; hpm_schema_is_taken(t, name); n++)
		snprintf(name + length, size - length, "_%u", n);
}

/* The fields that the layout has, as a row has them. */
static void
counter_row(const struct hpm_layout *l, char *fields)
{
	size_t i;

	*fields = '\0';
	for (i = 0; i < sizeof(counter_fields) / sizeof(counter_fields[0]);
	     i++) {
		if (counter_fields[i].since == WITH_MIDS ?
		        !l->mids :
		        counter_fields[i].since > l->version)
			continue;
		strcat(fields, " ");
		strcat(fields, counter_fields[i].field);
	}
}

static int
add_counter(struct tel_schema *s, const struct hpm_meta *meta)
{
	const struct hpm_layout *l = &meta->layout;
	char name[HPM_EVENT_NAME_MAX + 32], fields[256];
	struct tel_type_row row = { HPM_COUNTER, "Counter", "Counter",
		fields + 1, "" };
	struct tel_type *t;

	counter_row(l, fields);
	t = tel__schema_add_row(s, &row, (unsigned)l->counters);
	if (t == NULL)
		return 0;
	t->size = (uint32_t)(HPM_AT_COUNTERS + 8 * l->counters);
	for (unsigned i = 0; i < t->nfields; i++) {
		if (strcmp(t->fields[i].name, "tid") == 0)
			t->fields[i].space = TEL_SPACE_THREAD;
		else if (t->fields[i].offset == HPM_AT_CALLER ||
		    t->fields[i].offset == HPM_AT_CALLEE)
			t->fields[i].space = TEL_SPACE_METHOD;
	}
	for (unsigned i = 1; i <= l->counters; i++) {
		name_counter(t, meta->events[i], i, name, sizeof(name));
		if (tel__type_add(t, name, TEL_UNSIGNED,
		        l->big ? TEL_LOAD_BE64 : TEL_LOAD_LE64,
		        (uint32_t)(HPM_AT_COUNTERS + 8 * (i - 1))) == NULL)
			return 0;
	}
	return 1;
}

static int
add_markers(struct tel_schema *s)
{
	for (size_t i = 0; i < NMARKERS; i++) {
		struct tel_type *t = tel__schema_add_row(s, &marker_rows[i], 0);

		if (t == NULL)
			return 0;
		t->size = HPM_AT_APP;
	}
	for (size_t i = 0; i < NMARKERS; i++)
		tel__schema_pair_row(s, &marker_rows[i]);
	return 1;
}

/* The number of the field of t that is at that place of the table of rows. */
static uint8_t
field_at(const struct tel_type *t, enum hpm_at at)
{
	uint8_t i = 0;

	while (t->fields[i].offset != (uint16_t)at)
		i++;
	return i;
}

/* Sets the fields that make a counter event the period of a thread. */
static void
say_periods(struct tel_schema *s)
{
	const struct tel_type *t = &s->types[0];

	s->periods.type = t;
	s->periods.thread = field_at(t, HPM_AT_TID);
	s->periods.cpu = field_at(t, HPM_AT_CPU);
	s->periods.end = field_at(t, HPM_AT_END);
	s->periods.flags = field_at(t, HPM_AT_FLAGS);
	s->periods.twice = HPM_FLAG_TWICE;
	s->periods.uncertain = HPM_FLAGS_UNSURE;
}

/* Each layout has a name of its own. */
static void
name_schema(const struct hpm_layout *l, char *name, size_t size)
{
	snprintf(name, size, "hpm-%u.%u%s/%s", (unsigned)l->version,
	    l->counters, l->version > 1 && !l->mids ? "-nomids" : "",
	    l->big ? "ppc" : "x86");
}

struct tel_schema *
tel__hpm_schema_make(const struct hpm_meta *meta)
{
	const struct hpm_layout *l = &meta->layout;
	const char *platform = l->big ? "ppc" : "x86";
	struct tel_abi abi = { .word = 4,
		.align8 = 4,
		.align_double = 4,
		.big = (uint8_t)l->big };
	char name[48], version[16];

	name_schema(l, name, sizeof(name));
	snprintf(version, sizeof(version), "%u", (unsigned)l->version);
	struct tel_schema *s = tel__schema_make(name, version, &abi, 0, 6);
	if (s == NULL)
		return NULL;
	snprintf(s->platform, sizeof(s->platform), "%s", platform);
	if (add_counter(s, meta) && add_markers(s)) {
		say_periods(s);
		s->stable = 1;
		return s;
	}
	tel_schema_free(s);
	return NULL;
}

/* The layout that a schema is of, by its name.  1, or 0 if there is none. */
static int
find_layout(const char *wanted, struct hpm_layout *l)
{
	char name[48];
	unsigned i;

	for (i = 0; i < 4 * HPM_VERSION_MAX * HPM_COUNTERS_NAMED; i++) {
		l->big = (i & 1) == 0;
		l->mids = (i & 2) == 0;
		l->version = i / 4 % HPM_VERSION_MAX + 1;
		l->counters = i / (4 * HPM_VERSION_MAX) + 1;
		if (l->version == 1 && l->mids)
			continue;
		name_schema(l, name, sizeof(name));
		if (strcmp(name, wanted) == 0)
			return 1;
	}
	return 0;
}

/*
 * These schemas are stable.  A file in the native format refers to one by its
 * name, and has the names of the counters.
 */
tel_status
tel__hpm_schema_new(const char *name, struct tel_schema **out)
{
	/* counters without names are called counter1, counter2, ... */
	struct hpm_meta meta = {
		.layout = { .version = 3, .big = 1, .mids = 1, .counters = 8 }
	};

	if (name != NULL && !find_layout(name, &meta.layout))
		return TEL_EINVAL;
	struct tel_schema *s = tel__hpm_schema_make(&meta);
	if (s == NULL)
		return TEL_ENOMEM;
	*out = s;
	return TEL_OK;
}
