/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Suggestions: the distance of two names is the number of letters to insert,
 * drop, change or exchange with a neighbour (optimal string alignment),
 * whatever their case.
 */
#include "query/suggest.h"
#include "query/value.h"
#include "tel/base.h"

#include <stdio.h>
#include <string.h>

/* Longer names are not compared. */
#define LENGTH_MAX 48

static unsigned
suggest_least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static unsigned
distance(const char *a, size_t n, const char *b, size_t m)
{
	unsigned rows[3][LENGTH_MAX + 1];
	unsigned *row = rows[0], *above = rows[1], *second = rows[2], *spare;

	for (size_t j = 0; j <= m; j++)
		above[j] = (unsigned)j;
	for (size_t i = 1; i <= n; i++) {
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			unsigned change = lower(a[i - 1]) != lower(b[j - 1]);

			row[j] =
			    suggest_least(suggest_least(row[j - 1], above[j]) +
			            1,
			        above[j - 1] + change);
			if (i > 1 && j > 1 &&
			    lower(a[i - 1]) == lower(b[j - 2]) &&
			    lower(a[i - 2]) == lower(b[j - 1]))
				row[j] =
				    suggest_least(row[j], second[j - 2] + 1);
		}
		spare = second;
		second = above;
		above = row;
		row = spare;
	}
	return above[m];
}

void
tel__suggest_start(struct suggestion *n, const char *want, size_t length)
{
	memset(n, 0, sizeof(*n));
	n->want = want;
	n->length = length;
}

void
tel__suggest_offer(struct suggestion *n, const char *name)
{
	size_t length = strlen(name), shorter, i;
	unsigned d, at;

	if (n->length > LENGTH_MAX || length > LENGTH_MAX)
		return;
	d = distance(n->want, n->length, name, length);
	shorter = length < n->length ? length : n->length;
	for (i = 0; i < shorter && lower(n->want[i]) == lower(name[i]); i++)
		;
	/* a prefix is close, however long the rest is */
	if (i == shorter && i >= 3)
		d = suggest_least(d, 2);
	if (d > (n->length + 2) / 3)
		return;
	for (at = 0; at < 3; at++)
		if (n->best[at] != NULL && strcmp(n->best[at], name) == 0)
			return;
	for (at = 0; at < 3; at++)
		if (n->best[at] == NULL || d < n->distance[at])
			break;
	if (at == 3)
		return;
	for (i = 2; i > at; i--) {
		n->best[i] = n->best[i - 1];
		n->distance[i] = n->distance[i - 1];
	}
	n->best[at] = name;
	n->distance[at] = d;
}

const char *
tel__suggest_text(const struct suggestion *n, char *buffer, size_t size)
{
	int count = 0;

	/* only those about as close as the closest are suggested */
	while (count < 3 && n->best[count] != NULL &&
	    n->distance[count] <= n->distance[0] + 1)
		count++;
	buffer[0] = '\0';
	if (count == 3)
		snprintf(buffer, size, "; did you mean '%s', '%s' or '%s'?",
		    n->best[0], n->best[1], n->best[2]);
	else if (count == 2)
		snprintf(buffer, size, "; did you mean '%s' or '%s'?",
		    n->best[0], n->best[1]);
	else if (count == 1)
		snprintf(buffer, size, "; did you mean '%s'?", n->best[0]);
	return buffer;
}

const char *
tel_suggest(const char *unknown, const char *const *names, size_t n,
    char *buffer, size_t size)
{
	struct suggestion near;

	tel__suggest_start(&near, unknown, strlen(unknown));
	for (size_t i = 0; i < n; i++)
		tel__suggest_offer(&near, names[i]);
	return tel__suggest_text(&near, buffer, size);
}
