/* SPDX-License-Identifier: BSD-2-Clause */
/* View: what all forms of output ask of a statistic. */
#ifndef TELSTAT_VIEW_H
#define TELSTAT_VIEW_H

#include "common/figure.h"
#include "telstat.h"

/* The names of a statistic's numbers, in the order in which they are shown. */
struct view_number {
	tel_number which;
	const char *name; /* as csv and json have it: "overflow_updates" */
	int valued;       /* it is in the statistic's unit */
	int zero;         /* it is shown even when it is 0 */
};
extern const struct view_number view_numbers[];
extern const size_t view_nnumbers;

/* The names of the totals. */
struct view_total {
	tel_total which;
	const char *name;
	const char *unit;
};
extern const struct view_total view_totals[];
extern const size_t view_ntotals;

/*
 * The name of a statistic and its group, NAME{kind=Pool}.  The caller frees
 * it; NULL when there is no memory.
 */
char *view_name(const tel_stat *stat);
/* The group alone, kind=Pool,pool=0x10; "" when there are no groups. */
char *view_group(const tel_stat *stat);
/* A value as text; the caller frees it. */
char *view_value(const tel_value *value);

/* A number, or 0 when it is not defined. */
tel_int128 view_number(const tel_stat *stat, tel_number which);
/* Nonzero when it is defined and not 0. */
int view_nonzero(const tel_stat *stat, tel_number which);
int view_defined(const tel_stat *stat, tel_number which);
/* The sum over the number of updates, pairs or weight; 0 if there is none. */
int view_mean(const tel_stat *stat, double *out);
/* What that is called. */
const char *view_mean_name(const tel_stat *stat);
/* A parameter by its name; 0 when there is none. */
int64_t view_parameter(const tel_stat *stat, const char *name);
/* A total, or 0 when it is not known. */
tel_int128 view_total(const tel_stats *s, tel_total which);
/* Nonzero when no statistic is to be shown, but the report. */
int view_only_report(const struct show *show);
/* Nonzero when the report is to be shown. */
int view_report(const struct show *show);

/* The class has buckets, whether it has any now or not. */
int view_has_buckets(const tel_stat *stat);

/* The range of buckets to show: from the first in use to the last. */
struct view_span {
	size_t first, last; /* in use; first > last when none is */
	size_t count;       /* of buckets in all */
};
struct view_span view_span(const tel_stat *stat);

/* The quantiles to show for a statistic.  Returns their number. */
unsigned view_quantiles(const struct show *show, const tel_stat *stat,
    const uint32_t **list);

/* A rate over the time of the moment, in the unit of --rate; 0 if unknown. */
double view_rate(const struct show *show, double amount);

/* The rate of a statistic: of its total (growth), its weight or updates. */
double view_stat_rate(const struct show *show, const tel_stat *stat);

/* How many types of the report to show, and keys of a tally: see --top. */
size_t view_type_count(const struct show *show);
size_t view_key_count(const struct show *show, const tel_stat *stat);

#endif
