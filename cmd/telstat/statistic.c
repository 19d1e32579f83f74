/* SPDX-License-Identifier: BSD-2-Clause */
/* The section of a statistic in the report. */
#include "statistic.h"

#include "class.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The numbers of a statistic, in the order in which they are shown. */
static const struct number {
	tel_number which;
	const char *name; /* for programs: "overflow_updates" */
	int valued;       /* it is in the statistic's unit */
	int zero;         /* text shows it even when it is 0 */
} numbers[] = {
	{ TEL_NUMBER_UPDATES, "updates", 0, 1 },
	{ TEL_NUMBER_WEIGHT, "weight", 0, 1 },
	{ TEL_NUMBER_EVENTS, "events", 0, 1 },
	{ TEL_NUMBER_PAIRS, "pairs", 0, 1 },
	{ TEL_NUMBER_SUM, "sum", 1, 1 },
	{ TEL_NUMBER_LAST, "last", 1, 1 },
	{ TEL_NUMBER_MIN, "min", 1, 1 },
	{ TEL_NUMBER_MAX, "max", 1, 1 },
	{ TEL_NUMBER_UNDER, "under", 0, 1 },
	{ TEL_NUMBER_OVER, "over", 0, 1 },
	{ TEL_NUMBER_OUTSIDE, "outside", 0, 1 },
	{ TEL_NUMBER_KEYS, "keys", 0, 1 },
	{ TEL_NUMBER_OVERFLOW, "overflow", 0, 1 },
	{ TEL_NUMBER_OVERFLOW_UPDATES, "overflow_updates", 0, 1 },
	{ TEL_NUMBER_DISTINCT, "distinct", 0, 1 },
	{ TEL_NUMBER_ERROR, "error", 0, 0 },
	{ TEL_NUMBER_OPEN, "open", 0, 1 },
	{ TEL_NUMBER_ORPHAN, "orphan", 0, 1 },
	{ TEL_NUMBER_NESTED, "nested", 0, 0 },
	{ TEL_NUMBER_BACKWARD, "backward", 0, 0 },
	{ TEL_NUMBER_UNTIMED, "untimed", 0, 0 },
	{ TEL_NUMBER_OVER_LIMIT, "over_limit", 0, 0 },
	{ TEL_NUMBER_INVALID, "invalid", 0, 0 },
	{ TEL_NUMBER_LOST, "lost", 0, 0 },
};
#define NNUMBERS (sizeof(numbers) / sizeof(numbers[0]))

tel_int128
statistic_number(const tel_stat *stat, tel_number which)
{
	tel_int128 v = { 0, 0 };

	(void)tel_stat_number(stat, which, &v);
	return v;
}

int
statistic_defined(const tel_stat *stat, tel_number which)
{
	tel_int128 v;

	return tel_stat_number(stat, which, &v);
}

int
statistic_nonzero(const tel_stat *stat, tel_number which)
{
	tel_int128 v = statistic_number(stat, which);

	return v.high != 0 || v.low != 0;
}

int
statistic_has_buckets(const tel_stat *stat)
{
	return tel_stat_bucket_count(stat) > 0;
}

/* A parameter by its name; 0 when there is none. */
static int64_t
parameter(const tel_stat *stat, const char *name)
{
	const char *found;
	int64_t value;

	for (unsigned i = 0; tel_stat_parameter(stat, i, &found, &value); i++)
		if (strcmp(found, name) == 0)
			return value;
	return 0;
}

/* A value of a key or a group, its text kept by the report. */
static struct report_value
statistic_value(struct report *r, const tel_value *v)
{
	char text[64];

	if (v->missing)
		return (struct report_value){ .type = REPORT_UNKNOWN };
	switch (v->datatype) {
	case TEL_UNSIGNED: return report_count(v->as.u64);
	case TEL_SIGNED: return report_int128(int128_i64(v->as.i64));
	case TEL_BOOLEAN: return report_boolean(v->as.u64 != 0);
	case TEL_STRING:
		return report_string(
		    report_text(r, "%.*s", (int)v->length, v->as.string));
	case TEL_SET:
	case TEL_ADDRESS:
	case TEL_POINTER:
	case TEL_LIST:
	case TEL_DOUBLE: break;
	}
	(void)tel_value_text(v, text, sizeof(text));
	return report_string(report_text(r, "%s", text));
}

double
statistic_counted(const tel_stat *stat, int sums)
{
	if (sums && tel_stat_class(stat) == TEL_CLASS_GROWTH)
		return format_scaled(tel_int128_double(statistic_number(stat,
		                         TEL_NUMBER_SUM)),
		    tel_stat_decimals(stat));
	return tel_int128_double(statistic_number(stat,
	    statistic_defined(stat, TEL_NUMBER_WEIGHT) ? TEL_NUMBER_WEIGHT :
	                                                 TEL_NUMBER_UPDATES));
}

const uint32_t *
statistic_quantiles(const struct telstat *t, unsigned *n)
{
	static const uint32_t usual[] = { 500000000, 900000000, 990000000 };

	*n = t->nquantiles > 0 ? t->nquantiles : 3;
	return t->nquantiles > 0 ? t->quantiles : usual;
}

char *
statistic_text(const tel_value *v)
{
	const size_t size = tel_value_text(v, NULL, 0) + 1;
	char *text = malloc(size);

	if (text != NULL)
		(void)tel_value_text(v, text, size);
	return text;
}

const char *
statistic_title(struct report *r, const char *what, const char *unit)
{
	if (unit[0] == '\0')
		return what;
	return report_text(r, "%s (%s)", what,
	    strcmp(unit, "ns") == 0 ? "time" : unit);
}

double
statistic_rate(const struct show *show, double amount)
{
	if (show->at.ns <= 0)
		return 0;
	return amount / show->at.ns * (double)show->options->rate_ns;
}

/* --------------------------------------------------------------- facts */

static void
add_number(struct report *r, unsigned shown, const char *name,
    struct report_value v, const char *unit)
{
	struct report_field f = { .name = name,
		.unit = unit,
		.notation = unit != NULL ? REPORT_WITH_UNIT : REPORT_GROUPED,
		.shown = shown };

	(void)report_fact(r, &f, v);
}

/* A number of the statistic, of which values have its decimals. */
static struct report_value
value_of(const tel_stat *stat, tel_int128 v, int valued)
{
	return report_decimal(v, valued ? tel_stat_decimals(stat) : 0);
}

int
statistic_mean(const tel_stat *stat, double *out)
{
	tel_number of = TEL_NUMBER_UPDATES;
	tel_int128 sum;

	if (statistic_defined(stat, TEL_NUMBER_WEIGHT))
		of = TEL_NUMBER_WEIGHT;
	else if (tel_stat_class(stat) == TEL_CLASS_DUR)
		of = TEL_NUMBER_PAIRS;
	double n = tel_int128_double(statistic_number(stat, of));
	if (n <= 0 || !tel_stat_number(stat, TEL_NUMBER_SUM, &sum) ||
	    tel_stat_wrapped(stat))
		return 0;
	*out =
	    format_scaled(tel_int128_double(sum), tel_stat_decimals(stat)) / n;
	return 1;
}

int
statistic_figure(const tel_stat *stat, double *out)
{
	const struct class_view *view = class_view(stat);
	const unsigned decimals = tel_stat_decimals(stat);
	tel_int128 v;

	switch (view->figure) {
	case FIGURE_NUMBER:
		if (!tel_stat_number(stat, view->number, &v))
			return 0;
		*out = format_scaled(tel_int128_double(v), decimals);
		return 1;
	case FIGURE_DEVIATION:
		if (!tel_stat_variance(stat, out))
			return 0;
		*out = statistic_root(format_scaled(*out, 2 * decimals));
		return 1;
	default: return statistic_mean(stat, out);
	}
}

double
statistic_root(double v)
{
	double root = v < 1 ? 1 : v, next;

	if (!(v > 0))
		return 0;
	/* Newton's method, from above, until rounding stops it */
	while ((next = (root + v / root) / 2) < root)
		root = next;
	return root;
}

const char *
statistic_figure_name(const tel_stat *stat)
{
	const char *name = class_view(stat)->figure_name;

	return name != NULL ? name : "mean";
}

const char *
statistic_figure_unit(const tel_stat *stat)
{
	return class_view(stat)->unitless ? "" : tel_stat_unit(stat);
}

static const char *
mean_name(const tel_stat *stat)
{
	const char *name = class_view(stat)->mean_name;

	return name != NULL ? name : "mean";
}

static enum report_notation
rounding(const tel_stat *stat)
{
	return tel_stat_decimals(stat) > 0 ? REPORT_PRECISE : REPORT_ROUNDED;
}

/* The variance, which is not in a unit that has a name, and its root. */
static void
add_spread(struct report *r, unsigned shown, const tel_stat *stat)
{
	struct report_field f = { .name = "variance",
		.notation = rounding(stat),
		.shown = shown };
	double variance;

	if (!tel_stat_variance(stat, &variance))
		return;
	variance = format_scaled(variance, 2 * tel_stat_decimals(stat));
	(void)report_fact(r, &f, report_real(variance));
	f.name = "stddev";
	f.unit = tel_stat_unit(stat);
	(void)report_fact(r, &f, report_real(statistic_root(variance)));
}

static void
add_mean(struct report *r, unsigned shown, const tel_stat *stat)
{
	struct report_field f = { .name = mean_name(stat),
		.unit = tel_stat_unit(stat),
		.notation = rounding(stat),
		.shown = shown };
	double m;

	if (statistic_mean(stat, &m))
		(void)report_fact(r, &f, report_real(m));
	add_spread(r, shown, stat);
}

/*
 * The rate of its total (growth), its weight or its updates.  A growth is shown
 * as a rate wherever the time is known.
 */
static void
add_rate(struct report *r, const struct show *show, const tel_stat *stat)
{
	const struct telstat *t = show->options;
	struct report_field f = { .name = "rate", .shown = REPORT_DATA };
	char text[FORMAT_TEXT];

	if (!t->rate &&
	    (tel_stat_class(stat) != TEL_CLASS_GROWTH || show->at.ns <= 0))
		return;
	if (show->at.ns <= 0) {
		report_say(r, REPORT_TEXT, "rate", "unknown");
		return;
	}
	double rate = statistic_rate(show, statistic_counted(stat, 1));
	report_say(r, REPORT_TEXT | REPORT_SVG, "rate", "%s/%s",
	    format_double(rate, "", t->raw, text), t->rate_per);
	report_fact(r, &f, report_real(rate))->item = t->rate_per;
	report_say(r, REPORT_JSON, "rate_per", "%s", t->rate_per);
}

/* The total of durations as a share of the time; nested ones count each. */
static void
statistic_add_share(struct report *r, const struct show *show,
    const tel_stat *stat)
{
	const struct report_field f = { .name = "share",
		.notation = REPORT_PERCENT,
		.decimals = 2 };
	const char *unit = tel_stat_unit(stat);

	if (tel_stat_class(stat) == TEL_CLASS_DUR && show->at.ns > 0 &&
	    unit != NULL && strcmp(unit, "ns") == 0 && !tel_stat_wrapped(stat))
		(void)report_fact(r, &f,
		    report_real(tel_int128_double(
		                    statistic_number(stat, TEL_NUMBER_SUM)) /
		        show->at.ns));
}

/* What text calls a number; NULL where it does not show it, or elsewhere. */
static const char *
text_name(const struct number *n, const tel_stat *stat)
{
	const char *weight = class_view(stat)->weight_name;
	const tel_class class = tel_stat_class(stat);

	switch (n->which) {
	case TEL_NUMBER_KEYS:
	case TEL_NUMBER_OVERFLOW:
	case TEL_NUMBER_OVERFLOW_UPDATES: return NULL;
	case TEL_NUMBER_UPDATES: return class == TEL_CLASS_DUR ? NULL : n->name;
	case TEL_NUMBER_LAST:
		return class == TEL_CLASS_DUR ? NULL :
		    is_magnitude(class)       ? "current" :
		                                n->name;
	case TEL_NUMBER_WEIGHT: return weight != NULL ? weight : n->name;
	case TEL_NUMBER_SUM: return is_magnitude(class) ? NULL : "total";
	default: return n->name;
	}
}

/* What came of a tally, "keys 4/4  overflow 9 in 9 updates". */
static void
statistic_add_keys(struct report *r, const tel_stat *stat)
{
	int raw = r->options.raw;
	char a[FORMAT_TEXT], b[FORMAT_TEXT];

	report_say(r, REPORT_TEXT, "keys", "%s/%s",
	    format_count(statistic_number(stat, TEL_NUMBER_KEYS), raw, a),
	    format_count(int128_i64(parameter(stat, "max")), raw, b));
	report_say(r, REPORT_TEXT, "overflow", "%s in %s updates",
	    format_count(statistic_number(stat, TEL_NUMBER_OVERFLOW), raw, a),
	    format_count(statistic_number(stat, TEL_NUMBER_OVERFLOW_UPDATES),
	        raw, b));
}

/* The numbers as text names them, the mean before what lies outside. */
static void
add_text_facts(struct report *r, const tel_stat *stat)
{
	tel_class class = tel_stat_class(stat);
	const char *unit = tel_stat_unit(stat);
	tel_int128 v;

	for (size_t i = 0; i < NNUMBERS; i++) {
		const struct number *n = &numbers[i];
		const char *name = text_name(n, stat);

		if (n->which == TEL_NUMBER_UNDER) {
			/* of a magnitude, only the mean means much */
			if (is_magnitude(class))
				add_number(r, REPORT_TEXT, "total",
				    value_of(stat,
				        statistic_number(stat, TEL_NUMBER_SUM),
				        1),
				    unit);
			add_mean(r, REPORT_TEXT, stat);
		}
		if (name != NULL && tel_stat_number(stat, n->which, &v) &&
		    (n->zero || v.high != 0 || v.low != 0))
			add_number(r, REPORT_TEXT, name,
			    value_of(stat, v, n->valued),
			    n->valued ? unit : NULL);
	}
	if (class == TEL_CLASS_TALLY)
		statistic_add_keys(r, stat);
}

static void
add_facts(struct report *r, const struct show *show, const tel_stat *stat)
{
	tel_int128 v;

	if (report_is(r, REPORT_TEXT))
		add_text_facts(r, stat);
	for (size_t i = 0; i < NNUMBERS && !report_is(r, REPORT_TEXT); i++)
		if (tel_stat_number(stat, numbers[i].which, &v))
			add_number(r,
			    i == 0 || v.high != 0 || v.low != 0 ?
			        REPORT_DATA | REPORT_SVG :
			        REPORT_DATA,
			    numbers[i].name,
			    value_of(stat, v, numbers[i].valued),
			    numbers[i].valued ? tel_stat_unit(stat) : NULL);
	add_mean(r, REPORT_DATA | REPORT_SVG, stat);
	add_rate(r, show, stat);
	statistic_add_share(r, show, stat);
	if (tel_stat_approximate(stat))
		report_note(r, REPORT_ALL, "approximate",
		    tel_stat_class(stat) == TEL_CLASS_MAGDELTA ?
		        "its values depend on the order of the merged parts" :
		        "not exact: merged from parts without room for all "
		        "keys");
	if (tel_stat_wrapped(stat))
		report_note(r, REPORT_ALL, "wrapped",
		    "a number was too large and wrapped round");
}

static void
add_group(struct report *r, struct report_section *s, const tel_stat *stat)
{
	unsigned i, n = tel_stat_group_count(stat);
	tel_value value;

	s->overflow_group = n > 0 && tel_stat_overflow_group(stat);
	for (i = 0; i < n && i < sizeof(s->groups) / sizeof(s->groups[0]);
	     i++) {
		struct report_fact *f = &s->groups[s->ngroups++];

		memset(f, 0, sizeof(*f));
		f->field.name = tel_stat_group_name(stat, i);
		if (tel_stat_group_value(stat, i, &value))
			f->value = statistic_value(r, &value);
	}
}

const char *
statistic_group(struct report *r, const tel_stat *stat)
{
	struct report_section s;

	memset(&s, 0, offsetof(struct report_section, groups));
	add_group(r, &s, stat);
	return report_group(r, &s);
}

/* Nonzero for the classes whose parameters are values. */
static int
has_values(const tel_stat *stat)
{
	return tel_stat_class(stat) == TEL_CLASS_HIST ||
	    tel_stat_class(stat) == TEL_CLASS_SPLIT;
}

static void
add_parameters(struct report_section *s, const tel_stat *stat)
{
	size_t most = sizeof(s->parameters) / sizeof(s->parameters[0]);
	const char *name;
	int64_t value;

	while (s->nparameters < most &&
	    tel_stat_parameter(stat, (unsigned)s->nparameters, &name, &value)) {
		struct report_fact *f = &s->parameters[s->nparameters++];

		f->field.name = name;
		f->value = report_decimal(int128_i64(value),
		    has_values(stat) ? tel_stat_decimals(stat) : 0);
	}
}

/* ------------------------------------------------------------- buckets */

static tel_bucket
statistic_bucket_of(const void *of, size_t i)
{
	tel_bucket b = { 0, 1, 0, 0, 0 };

	(void)tel_stat_bucket(of, i, &b);
	return b;
}

static size_t
next_bucket(const void *of, size_t i)
{
	return tel_stat_next_bucket(of, i);
}

/* What a weight is: that of an update is 1 unless the spec sets another. */
static const char *
weight_title(const tel_stat *stat)
{
	return int128_compare(statistic_number(stat, TEL_NUMBER_WEIGHT),
	           statistic_number(stat, TEL_NUMBER_UPDATES)) == 0 ?
	    "updates" :
	    "weight";
}

static void
fill_histogram(struct report_histogram *h, const tel_stat *stat)
{
	tel_class class = tel_stat_class(stat);
	int64_t lo = parameter(stat, "lo"), hi = parameter(stat, "hi");
	int64_t knee = parameter(stat, "knee");

	memset(h, 0, sizeof(*h));
	h->y_title = weight_title(stat);
	h->of = stat;
	h->n = tel_stat_bucket_count(stat);
	h->bucket = statistic_bucket_of;
	h->next = next_bucket;
	h->weight = statistic_number(stat, TEL_NUMBER_WEIGHT);
	h->sides = statistic_defined(stat, TEL_NUMBER_UNDER);
	h->under = statistic_number(stat, TEL_NUMBER_UNDER);
	h->over = statistic_number(stat, TEL_NUMBER_OVER);
	h->knee = class == TEL_CLASS_SPLIT;
	h->log = class != TEL_CLASS_HIST && class != TEL_CLASS_SPLIT;
	h->hidden = class == TEL_CLASS_QUANTILES;
	h->nsegments = h->knee ? 2 : class == TEL_CLASS_HIST;
	h->segments[0] = (struct report_segment){ lo, h->knee ? knee : hi,
		parameter(stat, h->knee ? "w1" : "w") };
	h->segments[1] =
	    (struct report_segment){ knee, hi, parameter(stat, "w2") };
}

static void
statistic_add_quantiles(struct report_section *s, const struct show *show,
    const tel_stat *stat)
{
	static const uint32_t many[] = { 500000000, 750000000, 900000000,
		950000000, 990000000, 999000000 };
	unsigned n;
	const uint32_t *list = statistic_quantiles(show->options, &n);

	if (show->options->nquantiles == 0 &&
	    tel_stat_class(stat) == TEL_CLASS_QUANTILES) {
		list = many;
		n = sizeof(many) / sizeof(many[0]);
	}
	for (unsigned i = 0; i < n; i++) {
		struct report_quantile *q = &s->quantiles[s->nquantiles];

		q->share = list[i];
		if (tel_stat_quantile(stat, list[i], &q->is))
			s->nquantiles++;
	}
}

/* A key of a tally, as a bar. */
static void
statistic_key_of(struct report *r, const void *of, size_t i,
    struct report_bar *out)
{
	tel_key key;

	memset(out, 0, sizeof(*out));
	if (!tel_stat_key(of, i, &key))
		return;
	out->label = statistic_value(r, &key.value);
	out->count = key.count;
	out->updates = key.updates;
}

/* ------------------------------------------------------ largest values */

const char *
statistic_shown(unsigned i)
{
	static const char *const names[TEL_SHOWN_MAX] = { "key", "key2", "key3",
		"key4", "key5", "key6", "key7", "key8" };

	return names[i];
}

/* The label of one of the largest values: the shown one, or its place. */
static struct report_value
top_label(struct report *r, const tel_top *top)
{
	const char *all = NULL, *one;
	struct report_value v;

	for (unsigned i = 0; i < top->nshown; i++) {
		if (top->shown[i].missing)
			continue;
		v = statistic_value(r, &top->shown[i]);
		one = report_key(r, &v);
		all = all == NULL ? one : report_text(r, "%s, %s", all, one);
	}
	if (all == NULL)
		all = report_text(r, "%s:%llu", top->log,
		    (unsigned long long)top->offset);
	return report_string(all);
}

/* One of the largest values, as a bar. */
static void
top_bar(struct report *r, const void *of, size_t i, struct report_bar *out)
{
	const tel_stat *stat = of;
	char text[FORMAT_TEXT];
	tel_top top;

	memset(out, 0, sizeof(*out));
	if (!tel_stat_top(stat, i, &top))
		return;
	out->label = top_label(r, &top);
	out->value = format_scaled(tel_int128_double(top.value),
	    tel_stat_decimals(stat));
	out->text = report_text(r, "%s",
	    format_double(out->value, tel_stat_unit(stat), r->options.raw,
	        text));
}

static size_t
top_count(const tel_stat *stat)
{
	tel_top top;
	size_t n = 0;

	while (tel_stat_top(stat, n, &top))
		n++;
	return n;
}

/* The longest text of one of the largest values, on a page of 80 columns. */
#define TOP_TEXT_MAX 40

/* The table of the largest values, in the section. */
static void
add_top(struct report *r, const tel_stat *stat)
{
	const size_t n = report_rows(r, top_count(stat));
	struct report_field *f = report_column(r, "rank", "", REPORT_PLAIN, 0);
	const struct report_value unknown = { .type = REPORT_UNKNOWN };
	unsigned columns = 0, j;
	tel_top top;

	for (size_t i = 0; i < n && tel_stat_top(stat, i, &top); i++)
		columns = top.nshown > columns ? top.nshown : columns;
	f->item = 1;
	f = report_column(r, "value", NULL, REPORT_WITH_UNIT, 0);
	f->unit = tel_stat_unit(stat);
	for (j = 0; j < columns; j++) {
		f = report_column(r, statistic_shown(j),
		    tel_stat_shown(stat, j), REPORT_PLAIN, 0);
		f->left = 1;
		f->most = TOP_TEXT_MAX;
	}
	(void)report_column(r, "clock", NULL, REPORT_PLAIN, 0);
	f = report_column(r, "log", NULL, REPORT_PLAIN, 0);
	f->left = 1;
	f->most = TOP_TEXT_MAX;
	(void)report_column(r, "offset", NULL, REPORT_PLAIN, 0);
	for (size_t i = 0; i < n && tel_stat_top(stat, i, &top); i++) {
		report_row(r, REPORT_TEXT | REPORT_DATA);
		report_cell(r, report_count(i + 1));
		report_cell(r, value_of(stat, top.value, 1));
		for (j = 0; j < columns; j++)
			report_cell(r,
			    j < top.nshown ? statistic_value(r, &top.shown[j]) :
			                     unknown);
		report_cell(r, report_count(top.clock));
		report_cell(r, report_string(report_text(r, "%s", top.log)));
		report_cell(r, report_count(top.offset));
	}
}

/* For programs, a section of its own behind that of the statistic. */
static void
statistic_put_top(struct report *r, const tel_stat *stat)
{
	struct report_section *s = report_section(r, REPORT_DATA, "top value");

	s->name = tel_stat_name(stat);
	s->decimals = tel_stat_decimals(stat);
	add_group(r, s, stat);
	add_top(r, stat);
	report_put(r);
}

/* The range of its values, with the mean and the last; of a ratio from 0. */
static int
fill_range(struct report_range *range, const tel_stat *stat)
{
	tel_class class = tel_stat_class(stat);
	tel_int128 min, max, last;
	double m;

	memset(range, 0, sizeof(*range));
	if (!statistic_mean(stat, &m))
		return 0;
	m *= 1 / format_scaled(1, tel_stat_decimals(stat));
	range->marks[range->n++] = (struct report_named){ mean_name(stat), m };
	if (class == TEL_CLASS_RATIO) {
		range->lo = m < 0 ? m : 0;
		range->hi = m < 0 ? 0 : m;
		return 1;
	}
	if (!tel_stat_number(stat, TEL_NUMBER_MIN, &min) ||
	    !tel_stat_number(stat, TEL_NUMBER_MAX, &max))
		return 0;
	if (class == TEL_CLASS_GROWTH)
		range->what = "increment";
	range->lo = tel_int128_double(min);
	range->hi = tel_int128_double(max);
	if (class != TEL_CLASS_DUR &&
	    tel_stat_number(stat, TEL_NUMBER_LAST, &last))
		range->marks[range->n++] = (struct report_named){
			class == TEL_CLASS_GROWTH ? "last" : "current",
			tel_int128_double(last)
		};
	return 1;
}

void
statistic_put(struct report *r, const struct show *show, const tel_stat *stat,
    int apart, const struct report_axes *axes)
{
	tel_class class = tel_stat_class(stat);
	struct report_section *s =
	    report_section(r, REPORT_ALL, tel_class_name(class));
	struct report_bars bars = { weight_title(stat), stat,
		tel_stat_key_count(stat), statistic_key_of,
		statistic_number(stat, TEL_NUMBER_WEIGHT),
		statistic_nonzero(stat, TEL_NUMBER_OVERFLOW_UPDATES),
		statistic_number(stat, TEL_NUMBER_OVERFLOW) };
	const size_t top = top_count(stat);
	struct report_histogram histogram;
	struct report_range range;

	s->apart = apart;
	s->name = tel_stat_name(stat);
	s->class = tel_class_name(class);
	s->definition = tel_stat_definition(stat);
	s->unit = tel_stat_unit(stat);
	s->decimals = tel_stat_decimals(stat);
	s->indent = 2;
	add_group(r, s, stat);
	add_facts(r, show, stat);
	add_parameters(s, stat);
	if (statistic_has_buckets(stat)) {
		fill_histogram(&histogram, stat);
		if (axes != NULL)
			histogram.axes = *axes;
		s->histogram = &histogram;
		statistic_add_quantiles(s, show, stat);
	}
	if (top > 0 && report_is(r, REPORT_SVG)) {
		bars.n = report_rows(r, top);
		bars.bar = top_bar;
	}
	if (top > 0 && report_is(r, REPORT_TEXT))
		add_top(r, stat);
	if (class == TEL_CLASS_TALLY || (top > 0 && report_is(r, REPORT_SVG)))
		s->bars = &bars;
	else if (s->histogram == NULL && fill_range(&range, stat)) {
		range.axis_lo = axes != NULL ? axes->lo : 0;
		range.axis_hi = axes != NULL ? axes->hi : 0;
		s->range = &range;
	}
	report_put(r);
	if (top > 0 && report_is(r, REPORT_DATA))
		statistic_put_top(r, stat);
}
