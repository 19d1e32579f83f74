/* SPDX-License-Identifier: BSD-2-Clause */
/* The form "text": statistics for people. */
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
items_begin(struct items *items, const struct show *show, unsigned indent,
    const char *word)
{
	items->show = show;
	items->indent = indent;
	items->column = (unsigned)strlen(word);
	items->first = 1;
	put(show->out, word);
}

void
items_add(struct items *items, const char *format, ...)
{
	tel_output *out = items->show->out;
	char text[512];
	unsigned length, gap;
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	length = (unsigned)strlen(text);
	gap = items->first ? 1 : 2;
	items->first = 0;
	if (items->column > items->indent &&
	    items->column + gap + length > items->show->width) {
		put(out, "\n");
		items->column = 0;
	}
	if (items->column == 0)
		putf(out, "%*s", (int)items->indent, "");
	else
		putf(out, "%*s", (int)gap, "");
	items->column += (items->column == 0 ? items->indent : gap) + length;
	put(out, text);
}

void
items_end(struct items *items)
{
	put(items->show->out, "\n");
}

void
text_right(tel_output *out, const char *text, unsigned columns)
{
	putf(out, "%*s", (int)columns, text);
}

void
text_left(tel_output *out, const char *text, unsigned columns)
{
	putf(out, "%-*s", (int)columns, text);
}

void
text_bold(const struct show *show, int on)
{
	if (show->color)
		put(show->out, on ? "\033[1m" : "\033[0m");
}

void
text_bar(const struct show *show, double share, unsigned columns)
{
	/* U+2588 to U+258F, from a whole block to an eighth of one */
	static const char *const parts[] = { "", "\xe2\x96\x8f", "\xe2\x96\x8e",
		"\xe2\x96\x8d", "\xe2\x96\x8c", "\xe2\x96\x8b", "\xe2\x96\x8a",
		"\xe2\x96\x89" };
	unsigned steps, full, used;

	if (!(share > 0))
		share = 0;
	if (share > 1)
		share = 1;
	put(show->out, "|");
	if (show->options->utf8) {
		steps = (unsigned)(share * columns * 8 + 0.5);
		/* what is there must not look as if it were not */
		if (steps == 0 && share > 0)
			steps = 1;
		full = steps / 8;
		put_many(show->out, "\xe2\x96\x88", full);
		put(show->out, parts[steps % 8]);
		used = full + (steps % 8 != 0);
	} else {
		used = (unsigned)(share * columns + 0.5);
		put_many(show->out, "@", used);
	}
	putf(show->out, "%*s|\n", (int)(columns - used), "");
}

/* A line of text, escaped, cut at the end of the page. */
static void
put_line(const struct show *show, const char *indent, const char *text)
{
	char line[1024];
	size_t room = show->width - strlen(indent);

	if (show->options->raw || room >= sizeof(line))
		room = sizeof(line) - 1;
	put(show->out, indent);
	put(show->out, page_escape(line, room, text));
	put(show->out, "\n");
}

static void
put_heading(const struct show *show, const tel_stat *stat)
{
	const char *unit = tel_stat_unit(stat);
	char *name = view_name(stat);
	char line[1024], shown[32];

	text_bold(show, 1);
	put(show->out,
	    page_escape(line, sizeof(line) - 1,
	        name != NULL ? name : tel_stat_name(stat)));
	free(name);
	text_bold(show, 0);
	putf(show->out, "  (%s)", tel_class_name(tel_stat_class(stat)));
	if (unit[0] != '\0')
		putf(show->out, "  %s", page_escape(shown, 24, unit));
	put(show->out, "\n");
	if (tel_stat_definition(stat)[0] != '\0')
		put_line(show, "  ", tel_stat_definition(stat));
}

/* What each class shows first, in order; OPEN and what follows come later. */
static int
is_shown(tel_class class, const struct view_number *n)
{
	if (n->which == TEL_NUMBER_KEYS || n->which == TEL_NUMBER_OVERFLOW ||
	    n->which == TEL_NUMBER_OVERFLOW_UPDATES)
		return 0;
	if (class == TEL_CLASS_MAG)
		return n->which != TEL_NUMBER_SUM;
	if (class == TEL_CLASS_DUR)
		return n->which != TEL_NUMBER_UPDATES &&
		    n->which != TEL_NUMBER_LAST;
	return 1;
}

static const char *
name_of(tel_class class, const struct view_number *n)
{
	if (n->which == TEL_NUMBER_LAST && class == TEL_CLASS_MAG)
		return "current";
	if (n->which == TEL_NUMBER_WEIGHT && class == TEL_CLASS_RATIO)
		return "by";
	return n->which == TEL_NUMBER_SUM ? "total" : n->name;
}

/* What came of a tally, "keys 4/4  overflow 9 in 9 updates". */
static void
add_keys(struct items *items, const tel_stat *stat)
{
	int raw = items->show->options->raw;
	char a[FIGURE_TEXT], b[FIGURE_TEXT];

	items_add(items, "keys %s/%s",
	    figure_count(view_number(stat, TEL_NUMBER_KEYS), raw, a),
	    figure_count(figure_int128_signed(view_parameter(stat, "max")), raw,
	        b));
	items_add(items, "overflow %s in %s updates",
	    figure_count(view_number(stat, TEL_NUMBER_OVERFLOW), raw, a),
	    figure_count(view_number(stat, TEL_NUMBER_OVERFLOW_UPDATES), raw,
	        b));
}

static void
add_rate(struct items *items, const tel_stat *stat)
{
	const struct telstat *t = items->show->options;
	char text[FIGURE_TEXT];

	if (!t->rate)
		return;
	if (items->show->at.ns <= 0)
		items_add(items, "rate unknown");
	else
		items_add(items, "rate %s/%s",
		    figure_double(view_stat_rate(items->show, stat), "", t->raw,
		        text),
		    t->rate_per);
}

/* The total of a magnitude means little but for its mean. */
static void
add_mean(struct items *items, const tel_stat *stat)
{
	const char *unit = tel_stat_unit(stat);
	int raw = items->show->options->raw;
	char text[FIGURE_TEXT];
	double mean;

	if (tel_stat_class(stat) == TEL_CLASS_MAG)
		items_add(items, "total %s",
		    figure_value(view_number(stat, TEL_NUMBER_SUM), unit, raw,
		        text));
	if (view_mean(stat, &mean))
		items_add(items, "%s %s", view_mean_name(stat),
		    figure_double(mean, unit, raw, text));
}

static void
put_numbers(const struct show *show, const tel_stat *stat)
{
	tel_class class = tel_stat_class(stat);
	const char *unit = tel_stat_unit(stat);
	int raw = show->options->raw;
	char text[FIGURE_TEXT];
	struct items items;
	size_t i;

	items_begin(&items, show, 2, "");
	for (i = 0; i < view_nnumbers; i++) {
		const struct view_number *n = &view_numbers[i];
		tel_int128 v;

		if (n->which == TEL_NUMBER_UNDER)
			add_mean(&items, stat);
		if (!is_shown(class, n) || !tel_stat_number(stat, n->which, &v))
			continue;
		if (!n->zero && v.high == 0 && v.low == 0)
			continue;
		items_add(&items, "%s %s", name_of(class, n),
		    n->valued ? figure_value(v, unit, raw, text) :
		                figure_count(v, raw, text));
	}
	if (class == TEL_CLASS_TALLY)
		add_keys(&items, stat);
	add_rate(&items, stat);
	items_end(&items);
	if (tel_stat_wrapped(stat))
		put_line(show, "  ",
		    "a number was too large and wrapped round");
	if (tel_stat_approximate(stat))
		put_line(show, "  ",
		    "not exact: merged from parts without room for all keys");
}

static void
put_quantiles(const struct show *show, const tel_stat *stat)
{
	const char *unit = tel_stat_unit(stat);
	const uint32_t *list;
	unsigned i, n = view_quantiles(show, stat, &list);
	char name[FIGURE_TEXT], value[FIGURE_TEXT];
	struct items items;
	int begun = 0;

	for (i = 0; i < n; i++) {
		tel_quantile q;

		if (!tel_stat_quantile(stat, list[i], &q))
			continue;
		if (!begun)
			items_begin(&items, show, 2, "");
		begun = 1;
		(void)figure_edge(q.value, unit, show->options->raw, value);
		items_add(&items, "%s %s %s", figure_quantile(list[i], name),
		    q.is == TEL_QUANTILE_AT_MOST   ? "<=" :
		        q.is == TEL_QUANTILE_BELOW ? "<" :
		                                     ">=",
		    value);
	}
	if (begun)
		items_end(&items);
}

static void
put_totals(const struct show *show)
{
	static const struct {
		tel_total which;
		const char *name;
		int always;
	} rows[] = { { TEL_TOTAL_LOGS, "logs", 1 },
		{ TEL_TOTAL_EVENTS, "events", 1 },
		{ TEL_TOTAL_BYTES, "bytes", 1 }, { TEL_TOTAL_LOST, "lost", 1 },
		{ TEL_TOTAL_UNKNOWN, "unknown", 1 },
		{ TEL_TOTAL_DAMAGED, "damaged", 1 },
		{ TEL_TOTAL_SKIPPED, "bytes skipped", 0 },
		{ TEL_TOTAL_REPAIRED, "repaired", 0 },
		{ TEL_TOTAL_CUT, "truncated", 0 } };
	char text[FIGURE_TEXT];
	struct items items;
	size_t i;

	items_begin(&items, show, 8, "Totals:");
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		tel_int128 v = view_total(show->stats, rows[i].which);

		if (rows[i].always || v.low != 0)
			items_add(&items, "%s %s", rows[i].name,
			    figure_count(v, show->options->raw, text));
	}
	items_end(&items);
}

/* Says which snapshot follows. */
static void
put_moment(const struct show *show)
{
	const struct moment *at = &show->at;
	char text[FIGURE_TEXT];

	if (show->options->interval == 0)
		return;
	text_bold(show, 1);
	put(show->out, at->final ? "== end" : "== at ");
	if (at->final && at->known)
		put(show->out, ", ");
	if (at->known)
		put(show->out,
		    figure_value(figure_int128_of(at->time),
		        at->ticks ? "ticks" : "ns", show->options->raw, text));
	put(show->out,
	    show->options->deltas ? ", since the one before ==" : " ==");
	text_bold(show, 0);
	put(show->out, "\n");
}

static void
show_moment(const struct show *show)
{
	size_t i, n = tel_stats_count(show->stats);

	put_moment(show);
	if (view_report(show))
		text_report(show);
	for (i = 0; i < n; i++) {
		const tel_stat *stat = tel_stats_get(show->stats, i);

		put_heading(show, stat);
		put_numbers(show, stat);
		if (tel_stat_class(stat) != TEL_CLASS_QUANTILES)
			text_buckets(show, stat);
		text_keys(show, stat);
		if (view_has_buckets(stat))
			put_quantiles(show, stat);
	}
	put_totals(show);
	if (!show->at.final)
		put(show->out, "\n");
}

const struct form form_text = { "text", 0, NULL, show_moment, NULL };
