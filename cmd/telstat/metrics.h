/* SPDX-License-Identifier: BSD-2-Clause */
/* Metrics: names for families of metrics that do not clash. */
#ifndef TELSTAT_METRICS_H
#define TELSTAT_METRICS_H

#include "base/table.h"
#include "show.h"

/*
 * A name for a statistic: the prefix, its path in lower case with every run
 * of other than letters and digits as '_', and _2, _3 and so on where one of
 * the names that its families have is taken.
 * names: hashes of those that are taken.
 * unit: what the families of its values end with, as "_bytes"; or "".
 * clash: set to nonzero when that was needed.
 * Returns it, for the caller to free; NULL when out of memory.
 */
char *names_make(struct tel__table *names, const char *prefix, const char *path,
    const char *unit, int *clash);

/* A statistic with its groups, which share families. */
struct metric {
	const struct show *show;
	const char *base; /* of the names of its families */
	size_t first, end;
};

/* Nonzero for the text format of Prometheus, which OpenMetrics came from. */
static inline int
metrics_plain(const struct show *show)
{
	return show->options->format->put == prometheus_put;
}

/* Puts the lines before a family's samples; stat may be NULL. */
void metric_family(const struct metric *m, const char *suffix, const char *type,
    const char *help, const tel_stat *stat);
/* The value of a sample, in units of 10^-decimals, and the line's end. */
void metric_value(tel_output *out, tel_int128 v, unsigned decimals);

/* Puts the totals, and the report if asked for, and takes their names. */
void metrics_totals(const struct show *show, struct tel__table *names);

#endif
