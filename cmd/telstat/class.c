/* SPDX-License-Identifier: BSD-2-Clause */
/* How the classes are shown, a row for each. */
#include "class.h"

/* clang-format off */
#define NUMBER(name, which) .figure_name = name, .figure = FIGURE_NUMBER, .number = which
#define MAG_FAMILIES .families = { \
	{ "", "gauge", "current value", TEL_NUMBER_LAST, 1 }, \
	{ "_min", "gauge", "least value", TEL_NUMBER_MIN, 1 }, \
	{ "_max", "gauge", "largest value", TEL_NUMBER_MAX, 1 }, \
	{ "_cumulative", "gauge", "sum of values", TEL_NUMBER_SUM, 1 } }

static const struct class_view views[] = {
	[TEL_CLASS_MAG] = { NUMBER("current", TEL_NUMBER_LAST), MAG_FAMILIES },
	[TEL_CLASS_MAGDELTA] = { NUMBER("current", TEL_NUMBER_LAST), MAG_FAMILIES },
	[TEL_CLASS_GROWTH] = { NUMBER("total", TEL_NUMBER_SUM), .families = {
		{ "", "counter", "total", TEL_NUMBER_SUM, 1 },
		{ "_increment_min", "gauge", "least increment", TEL_NUMBER_MIN, 1 },
		{ "_increment_max", "gauge", "largest increment", TEL_NUMBER_MAX, 1 } } },
	/* its sum may fall; whoever watches divides them */
	[TEL_CLASS_RATIO] = { .figure_name = "ratio", .mean_name = "ratio", .weight_name = "by", .bar = 1, .families = {
		{ "", "gauge", "sum of values", TEL_NUMBER_SUM, 1 },
		{ "_by", "counter", "sum of divisors", TEL_NUMBER_WEIGHT, 0 } } },
	[TEL_CLASS_TALLY] = { NUMBER("count", TEL_NUMBER_WEIGHT) },
	[TEL_CLASS_COUNT] = { NUMBER("count", TEL_NUMBER_UPDATES), .unitless = 1, .bar = 1 },
	[TEL_CLASS_SUM] = { NUMBER("total", TEL_NUMBER_SUM), .bar = 1 },
	[TEL_CLASS_MEAN] = { .bar = 1 },
	[TEL_CLASS_MIN] = { NUMBER("minimum", TEL_NUMBER_MIN), .bar = 1 },
	[TEL_CLASS_MAX] = { NUMBER("maximum", TEL_NUMBER_MAX), .bar = 1 },
	[TEL_CLASS_DISTINCT] = { NUMBER("distinct values", TEL_NUMBER_DISTINCT), .unitless = 1, .bar = 1, .families = {
		{ "", "gauge", "distinct values", TEL_NUMBER_DISTINCT, 0 },
		{ "_error", "gauge", "standard error of the distinct values", TEL_NUMBER_ERROR, 0 } } },
	[TEL_CLASS_TOP] = { NUMBER("maximum", TEL_NUMBER_MAX) },
	[TEL_CLASS_VAR] = { .figure_name = "standard deviation", .figure = FIGURE_DEVIATION, .bar = 1 },
};
/* clang-format on */

const struct class_view *
class_view(const tel_stat *stat)
{
	static const struct class_view other;
	const tel_class class = tel_stat_class(stat);

	return (size_t) class < sizeof(views) / sizeof(views[0]) ?
	    &views[class] :
	    &other;
}
