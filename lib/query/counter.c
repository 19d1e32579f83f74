/* SPDX-License-Identifier: BSD-2-Clause */
/* Fields by what they are: counters of processors, processors, threads. */
#include "query/counter.h"

#include <string.h>

/*
 * Counters of POWER processors and of PAPI.  Some POWER processors put the
 * group of the event behind its name.
 */
static const char *const cycles[] = { "PM_CYC", "PAPI_TOT_CYC", NULL };
static const char *const instructions[] = { "PM_INST_CMPL", "PAPI_TOT_INS",
	NULL };

/* The first field that has one of these names, or one that starts so. */
static int
counter_find(const struct tel_type *t, const char *const *names)
{
	int i, at = COUNTER_NONE;

	for (; *names != NULL; names++) {
		at = tel_type_find_field(t, *names);
		for (i = 0; at < 0 && i < t->nfields; i++)
			if (strncmp(t->fields[i].name, *names,
			        strlen(*names)) == 0)
				at = i;
		if (at >= 0)
			break;
	}
	return at;
}

/*
 * The field that is the processor, thread or process of any event.  LTTng's
 * programs have the numbers of a container, and JFR those of the system.
 */
static int
counter_find_where(const struct tel_type *t, const char *name)
{
	static const char *const fields[][2] = { { "cpu", "cpu_id" },
		{ "tid", "vtid" }, { "tid", "eventThread.osThreadId" },
		{ "tid", "sampledThread.osThreadId" }, { "pid", "vpid" } };
	int at = tel_type_find_field(t, name);

	for (size_t i = 0; at < 0 && i < sizeof(fields) / sizeof(fields[0]);
	     i++)
		if (strcmp(fields[i][0], name) == 0)
			at = tel_type_find_field(t, fields[i][1]);
	return at;
}

/* The field of a part of the role; of other events the one called name. */
static int
counter_find_part(const struct tel_type *t, enum tel_role_part part,
    const char *name)
{
	if (tel_type_is_alloc(t) && t->role_field[part] >= 0)
		return t->role_field[part];
	return counter_find_where(t, name);
}

int
tel__counter_find(const struct tel_type *t, const char *name)
{
	int at = counter_find_where(t, name);

	if (at >= 0)
		return at;
	if (strcmp(name, "thread") == 0)
		return counter_find_part(t, TEL_PART_THREAD, "tid");
	if (strcmp(name, "process") == 0)
		return counter_find_part(t, TEL_PART_PROCESS, "pid");
	if (strcmp(name, "cycles") == 0)
		return counter_find(t, cycles);
	if (strcmp(name, "instructions") == 0)
		return counter_find(t, instructions);
	if (strcmp(name, "cpi") == 0 && counter_find(t, cycles) >= 0 &&
	    counter_find(t, instructions) >= 0)
		return COUNTER_CPI;
	return COUNTER_NONE;
}
