/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of metrics. */
#include "metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/*
 * What families add to a statistic's name, before its unit, and samples to that
 * of a family, whatever the class is: a name is free when it is with each of
 * these.
 */
static const char *const families[] = { "", "_min", "_max", "_cumulative",
	"_increment_min", "_increment_max", "_by", "_error", "_top", "_hits",
	"_overflow", "_events", "_open", "_updates", "_stddev", "_variance",
	"_approximate", "_wrapped" };
static const char *const samples[] = { "", "_total", "_created", "_bucket",
	"_count", "_sum", "_info", "_gcount", "_gsum" };

#define NSAMPLES (sizeof(samples) / sizeof(samples[0]))
/* With a unit and without one. */
#define NNAMES (sizeof(families) / sizeof(families[0]) * 2 * NSAMPLES)

/* The hash of name i that begins with one of the hash base. */
static uint64_t
metrics_hash(uint64_t base, const char *unit, size_t i)
{
	const char *const parts[] = { families[i / NSAMPLES / 2],
		i / NSAMPLES % 2 == 0 ? "" : unit, samples[i % NSAMPLES] };

	for (size_t k = 0; k < 3; k++)
		base = tel__fnv(base, parts[k], strlen(parts[k]));
	return base;
}

/* Takes all names, unless one is taken.  1, 0; -1: no memory. */
static int
metrics_take(struct tel__table *names, const char *name, const char *unit)
{
	const uint64_t base = tel__fnv(TEL__FNV, name, strlen(name));
	int fresh;

	for (size_t i = 0; i < NNAMES; i++)
		if (tel__table_find(names, metrics_hash(base, unit, i)) != NULL)
			return 0;
	for (size_t i = 0; i < NNAMES; i++)
		if (tel__table_put(names, metrics_hash(base, unit, i),
		        &fresh) == NULL)
			return -1;
	return 1;
}

char *
names_make(struct tel__table *names, const char *prefix, const char *path,
    const char *unit, int *clash)
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
	for (unsigned n = 2; (taken = metrics_take(names, base, unit)) == 0;
	     n++) {
		*clash = 1;
		(void)snprintf(base + used, room - used, "_%u", n);
	}
	if (taken > 0)
		return base;
	free(base);
	return NULL;
}
