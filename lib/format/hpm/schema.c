/* SPDX-License-Identifier: BSD-2-Clause */
/* The event types of an HPM trace; the counters are named by its meta file. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "format/hpm/hpm.h"

/* Fields that a counter event has before the counters. */
#define FIELDS_BEFORE 13

/* For fields of records with methods. */
#define WITH_MIDS 9

/* A field in a layout of our own. */
struct row {
	const char *name;
	enum tel_datatype datatype;
	enum tel_load load;
	uint16_t offset;
	uint8_t bit;
	uint8_t space;
	uint8_t since; /* the version that has it, or WITH_MIDS */
};

static const struct row counter_rows[] = {
	{ "cpu", TEL_UNSIGNED, TEL_LOAD_LE16, HPM_AT_CPU, 0, 0, 1 },
	{ "tid", TEL_SIGNED, TEL_LOAD_LE64, HPM_AT_TID, 0, TEL_SPACE_THREAD,
	    1 },
	{ "slot", TEL_SIGNED, TEL_LOAD_LE32S, HPM_AT_SLOT, 0, 0, 1 },
	{ "yielded", TEL_BOOLEAN, TEL_LOAD_BIT, HPM_AT_BITS, 0, 0, 1 },
	{ "switched", TEL_BOOLEAN, TEL_LOAD_BIT, HPM_AT_BITS, 1, 0, 2 },
	{ "buffer", TEL_UNSIGNED, TEL_LOAD_U8, HPM_AT_BUFFER, 0, 0, 1 },
	{ "flags", TEL_SET, TEL_LOAD_U8, HPM_AT_FLAGS, 0, 0, 1 },
	{ "end", TEL_UNSIGNED, TEL_LOAD_LE64, HPM_AT_END, 0, 0, 1 },
	{ "duration", TEL_SIGNED, TEL_LOAD_LE64, HPM_AT_DURATION, 0, 0, 1 },
	{ "gap", TEL_SIGNED, TEL_LOAD_LE64, HPM_AT_GAP, 0, 0, 1 },
	{ "caller", TEL_SIGNED, TEL_LOAD_LE32S, HPM_AT_CALLER, 0,
	    TEL_SPACE_METHOD, WITH_MIDS },
	{ "callee", TEL_SIGNED, TEL_LOAD_LE32S, HPM_AT_CALLEE, 0,
	    TEL_SPACE_METHOD, WITH_MIDS },
};

static const struct row marker_rows[] = {
	{ "cpu", TEL_UNSIGNED, TEL_LOAD_LE16, HPM_AT_CPU, 0, 0, 1 },
	{ "run", TEL_SIGNED, TEL_LOAD_LE32S, HPM_AT_RUN, 0, 0, 1 },
	{ "app", TEL_STRING, TEL_LOAD_STRING, HPM_AT_APP, 0, 0, 1 },
};

static const struct row status_row = { "status", TEL_SIGNED, TEL_LOAD_LE32S,
	HPM_AT_RUN, 0, 0, 1 };

static int
add(struct tel_type *t, const struct row *row)
{
	struct tel_field *f =
	    tel__type_add(t, row->name, row->datatype, row->load, row->offset);

	if (f == NULL)
		return 0;
	f->bit = row->bit;
	f->space = row->space;
	return 1;
}

/*
 * Nonzero when a field of that name is there.  The case of letters does not
 * tell names apart: columns in SQL are so, and have two names of their own.
 */
static int
is_taken(const struct tel_type *t, const char *name)
{
	unsigned i;

	if (strcasecmp(name, "time") == 0 ||
	    strcasecmp(name, "log_serial") == 0)
		return 1;
	for (i = 0; i < t->nfields; i++)
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
	size_t length;
	char *p;

	snprintf(name, size, "%s%s",
	    event[0] >= '0' && event[0] <= '9' ? "_" : "", event);
	for (p = name; *p != '\0'; p++)
		if (!(*p >= 'a' && *p <= 'z') && !(*p >= 'A' && *p <= 'Z') &&
		    !(*p >= '0' && *p <= '9') && *p != '_' &&
		    !(*p == '.' && p > name))
			*p = '_';
	if (*name == '\0')
		snprintf(name, size, "counter%u", i);
	length = strlen(name);
	for (; is_taken(t, name); n++)
		snprintf(name + length, size - length, "_%u", n);
}

static int
add_counter(struct tel_schema *s, const struct hpm_meta *meta)
{
	const struct hpm_layout *l = &meta->layout;
	size_t n = sizeof(counter_rows) / sizeof(counter_rows[0]), i;
	char name[HPM_EVENT_NAME_MAX + 32];
	struct tel_type *t;

	t = tel__schema_add(s, "Counter", HPM_COUNTER, "Counter",
	    HPM_AT_COUNTERS + 8 * l->counters, FIELDS_BEFORE + l->counters);
	if (t == NULL)
		return 0;
	for (i = 0; i < n; i++) {
		if (counter_rows[i].since == WITH_MIDS ?
		        !l->mids :
		        counter_rows[i].since > l->version)
			continue;
		if (!add(t, &counter_rows[i]))
			return 0;
	}
	for (i = 1; i <= l->counters; i++) {
		name_counter(t, meta->events[i], (unsigned)i, name,
		    sizeof(name));
		if (tel__type_add(t, name, TEL_UNSIGNED,
		        l->big ? TEL_LOAD_BE64 : TEL_LOAD_LE64,
		        (uint32_t)(HPM_AT_COUNTERS + 8 * (i - 1))) == NULL)
			return 0;
	}
	return 1;
}

/* A marker; one of a run has its number. */
static int
add_marker(struct tel_schema *s, const char *name, enum hpm_record code)
{
	struct tel_type *t;

	t = tel__schema_add(s, name, code, "Marker", HPM_AT_APP, 3);
	if (t == NULL)
		return 0;
	/* each processor has markers of its own */
	t->role_field[0] = 0;
	t->role = code == HPM_APP_START || code == HPM_RUN_START ?
	    TEL_ROLE_START :
	    TEL_ROLE_FINISH;
	if (t->role == TEL_ROLE_START)
		t->partner = (int32_t)t->index + 1;
	return add(t, &marker_rows[0]) &&
	    (code < HPM_RUN_START || add(t, &marker_rows[1])) &&
	    add(t, &marker_rows[2]);
}

static int
add_exit(struct tel_schema *s)
{
	struct tel_type *t;

	t = tel__schema_add(s, "Exit", HPM_EXIT, "Exit", HPM_AT_APP, 2);
	return t != NULL && add(t, &marker_rows[0]) && add(t, &status_row);
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

/* Says which fields make a counter event the period of a thread. */
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
	s->periods.unsure = HPM_FLAGS_UNSURE;
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
	struct tel_schema *s;
	char name[48], version[16];

	/* what is laid out in another way is of another name */
	snprintf(name, sizeof(name), "hpm-%u.%u%s/%s", (unsigned)l->version,
	    l->counters, l->version > 1 && !l->mids ? "-nomids" : "", platform);
	snprintf(version, sizeof(version), "%u", (unsigned)l->version);
	s = tel__schema_make(name, version, &abi, 0, 6);
	if (s == NULL)
		return NULL;
	snprintf(s->platform, sizeof(s->platform), "%s", platform);
	if (add_counter(s, meta) && add_marker(s, "AppStart", HPM_APP_START) &&
	    add_marker(s, "AppComplete", HPM_APP_COMPLETE) &&
	    add_marker(s, "RunStart", HPM_RUN_START) &&
	    add_marker(s, "RunComplete", HPM_RUN_COMPLETE) && add_exit(s)) {
		say_periods(s);
		return s;
	}
	tel_schema_free(s);
	return NULL;
}

struct tel_schema *
tel__hpm_schema_new(void)
{
	static const struct hpm_meta meta = {
		.layout = { .version = 3, .big = 1, .mids = 1, .counters = 8 }
	};

	return tel__hpm_schema_make(&meta);
}
