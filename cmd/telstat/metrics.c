/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of metrics. */
#include "metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/*
 * The suffixes of a statistic's name in the names of its families and of their
 * samples, whatever its class is: a name is free when it is with each
 * of these.
 */
static const char *const suffixes[] = { "", "_total", "_created", "_bucket",
	"_count", "_sum", "_info", "_gcount", "_gsum", "_min", "_max",
	"_cumulative", "_updates", "_updates_total", "_increment_min",
	"_increment_max", "_overflow", "_overflow_total", "_hits",
	"_hits_total", "_seconds", "_seconds_count", "_seconds_sum",
	"_seconds_bucket", "_seconds_total", "_min_seconds", "_max_seconds",
	"_cumulative_seconds", "_increment_min_seconds",
	"_increment_max_seconds", "_ticks", "_ticks_count", "_ticks_sum",
	"_events", "_events_total", "_open", "_approximate", "_wrapped",
	"_invalid", "_invalid_total", "_stddev", "_stddev_seconds",
	"_stddev_ticks", "_stddev_bytes", "_variance" };

#define NSUFFIXES (sizeof(suffixes) / sizeof(suffixes[0]))

/* The hash of a name with suffix i. */
static uint64_t
metrics_hash(uint64_t base, size_t i)
{
	return tel__fnv(base, suffixes[i], strlen(suffixes[i]));
}

/* Takes the name with each suffix, unless one is taken.  1, 0; -1: no memory. */
static int
metrics_take(struct tel__table *names, const char *name)
{
	const uint64_t base = tel__fnv(TEL__FNV, name, strlen(name));
	int fresh;

	for (size_t i = 0; i < NSUFFIXES; i++)
		if (tel__table_find(names, metrics_hash(base, i)) != NULL)
			return 0;
	for (size_t i = 0; i < NSUFFIXES; i++)
		if (tel__table_put(names, metrics_hash(base, i), &fresh) ==
		    NULL)
			return -1;
	return 1;
}

char *
names_make(struct tel__table *names, const char *prefix, const char *path,
    int *clash)
{
	size_t room = strlen(prefix) + strlen(path) + 64, used;
	char *base = malloc(room);
	int taken;

	*clash = 0;
	if (base == NULL)
		return NULL;
	used = strlen(strcpy(base, prefix));
	for (; *path != '\0'; path++) {
		char c = *path;

		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
			base[used++] = c;
		else if (used > 0 && base[used - 1] != '_')
			base[used++] = '_';
	}
	/* a name does not begin with a digit, nor is it empty */
	if (used == 0 || (base[0] >= '0' && base[0] <= '9')) {
		memmove(base + 1, base, used);
		base[0] = '_';
		used++;
	}
	base[used] = '\0';
	for (unsigned n = 2; (taken = metrics_take(names, base)) == 0; n++) {
		*clash = 1;
		(void)snprintf(base + used, room - used, "_%u", n);
	}
	if (taken > 0)
		return base;
	free(base);
	return NULL;
}
