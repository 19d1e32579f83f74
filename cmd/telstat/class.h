/* SPDX-License-Identifier: BSD-2-Clause */
/* Class: how the statistics of a class are shown. */
#ifndef TELSTAT_CLASS_H
#define TELSTAT_CLASS_H

#include "tel.h"

/* A family of metrics: a number of each group. */
struct class_family {
	const char *suffix; /* behind the name of the statistic */
	const char *type, *help;
	tel_number which;
	int valued; /* it is in the unit of the values */
};
#define CLASS_FAMILIES_MAX 4

/* Members that are not set are those of a class with a sum, or with buckets. */
struct class_view {
	/* the one number of it, in charts and curves */
	const char *figure_name;
	enum {
		FIGURE_MEAN,
		FIGURE_NUMBER,
		FIGURE_DEVIATION /* the root of the variance */
	} figure;
	tel_number number; /* FIGURE_NUMBER */
	int unitless;      /* the figure is not in the unit of the values */
	int bar;           /* nothing can be drawn of a group but its figure */
	const char *mean_name;
	const char *weight_name; /* NULL: as programs call it */
	/* families that there are even without a value; .type ends them */
	struct class_family families[CLASS_FAMILIES_MAX];
};

const struct class_view *class_view(const tel_stat *stat);

#endif
