/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of metrics. */
#include "metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void
names_free(struct names *names)
{
	size_t i;

	for (i = 0; i < names->size; i++)
		free(names->slots[i]);
	free(names->slots);
	memset(names, 0, sizeof(*names));
}

/* FNV-1a, 64 bits. */
static uint64_t
hash(const char *text)
{
	uint64_t h = 0xcbf29ce484222325;

	for (; *text != '\0'; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3;
	return h;
}

/* The slot that has the name, or where it would be. */
static size_t
metrics_find(const struct names *names, const char *text)
{
	size_t at = (size_t)hash(text) & (names->size - 1);

	while (names->slots[at] != NULL && strcmp(names->slots[at], text) != 0)
		at = (at + 1) & (names->size - 1);
	return at;
}

/* Makes room for so many more, and leaves half of the table empty. */
static int
metrics_reserve(struct names *names, size_t more)
{
	struct names larger = { NULL, 256, names->used };
	size_t i;

	while (larger.size / 2 < names->used + more)
		larger.size *= 2;
	if (larger.size <= names->size)
		return 1;
	larger.slots = calloc(larger.size, sizeof(*larger.slots));
	if (larger.slots == NULL)
		return 0;
	for (i = 0; i < names->size; i++)
		if (names->slots[i] != NULL)
			larger.slots[metrics_find(&larger, names->slots[i])] =
			    names->slots[i];
	free(names->slots);
	*names = larger;
	return 1;
}

/* Nonzero when the name is free with each suffix, for which it has room. */
static int
is_free(const struct names *names, char *base)
{
	size_t length = strlen(base), i;
	int good = 1;

	for (i = 0; good && i < NSUFFIXES; i++) {
		(void)strcpy(base + length, suffixes[i]);
		good = names->slots[metrics_find(names, base)] == NULL;
	}
	base[length] = '\0';
	return good;
}

/* Takes the name with each suffix; all of them are free. */
static int
metrics_take(struct names *names, const char *base)
{
	size_t i;

	for (i = 0; i < NSUFFIXES; i++) {
		char *text = malloc(strlen(base) + 32);

		if (text == NULL)
			return 0;
		(void)strcat(strcpy(text, base), suffixes[i]);
		names->slots[metrics_find(names, text)] = text;
		names->used++;
	}
	return 1;
}

static int
metrics_is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

char *
names_make(struct names *names, const char *prefix, const char *path,
    int *clash)
{
	size_t room = strlen(prefix) + strlen(path) + 64, used;
	char *base = malloc(room);
	unsigned n;

	*clash = 0;
	if (base == NULL || !metrics_reserve(names, NSUFFIXES))
		goto fail;
	used = strlen(strcpy(base, prefix));
	for (; *path != '\0'; path++) {
		char c = *path;

		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		if (metrics_is_word(c))
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
	for (n = 2; !is_free(names, base); n++) {
		*clash = 1;
		(void)snprintf(base + used, room - used, "_%u", n);
	}
	if (metrics_take(names, base))
		return base;
fail:
	free(base);
	return NULL;
}
