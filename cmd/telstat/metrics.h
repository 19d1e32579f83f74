/* SPDX-License-Identifier: BSD-2-Clause */
/* Metrics: names for families of metrics that do not clash. */
#ifndef TELSTAT_METRICS_H
#define TELSTAT_METRICS_H

#include "telstat.h"

/* The names that are taken. */
struct names {
	char **slots; /* a hash table, open addressing */
	size_t size, used;
};

void names_free(struct names *names);

/*
 * A name for a statistic: the prefix, its path in lower case with every run
 * of other than letters and digits as '_', and _2, _3 and so on where one of
 * the names that its families have is taken.
 * clash: set to nonzero when that was so.
 * Returns it, for the caller to free; NULL when there is no memory.
 */
char *names_make(struct names *names, const char *prefix, const char *path,
    int *clash);

/* A statistic with its groups, which share families. */
struct metric {
	const struct show *show;
	const char *base; /* of the names of its families */
	size_t first, end;
};

/*
 * The name of a sample and its labels, but for the closing brace: that, and
 * the value, come by metric_close().  suffix is the family's, kind that of
 * the sample: "_total".
 */
void metric_open(const struct metric *m, const tel_stat *stat,
    const char *suffix, const char *kind);
void metric_close(const struct metric *m, tel_int128 v);
/* The value itself, and the line's end; seconds: v is in ns. */
void metric_value(tel_output *out, tel_int128 v, int seconds);
/* A sample of one number, when that is defined. */
void metric_number(const struct metric *m, const tel_stat *stat,
    const char *suffix, const char *kind, tel_number which);
/* A family of one number of each group. */
void metric_numbers(const struct metric *m, const char *suffix,
    const char *type, const char *help, tel_number which);
/* What stands before the samples of a family; unit and stat may be NULL. */
void metric_family(const struct metric *m, const char *suffix, const char *type,
    const char *unit, const char *help, const tel_stat *stat);

/* The families of a statistic with buckets. */
void metric_buckets(const struct metric *m);

/* Puts the totals, and the report if asked for, and takes their names. */
void metrics_totals(const struct show *show, struct names *names);

#endif
