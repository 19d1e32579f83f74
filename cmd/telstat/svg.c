/* SPDX-License-Identifier: BSD-2-Clause */
/* The form "svg": pictures, one below the other in one document. */
#include "svg.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The height of a heading, and what is left free below a picture. */
#define HEAD (3 * SVG_LINE)
#define GAP 28

/* No more lines of facts than this. */
#define FACTS_MAX 8

/* Fills are the same hues on paper and on dark screens, as light as needed. */
static const char style[] = "<style>\n"
                            ".page{fill:#fff}\n"
                            "text{font:12px sans-serif;fill:#222}\n"
                            ".head{font-size:15px;font-weight:bold}\n"
                            ".small{font-size:11px;fill:#555}\n"
                            ".note{fill:#a32020}\n"
                            ".axis{stroke:#444;stroke-width:1}\n"
                            ".grid{stroke:#ddd;stroke-width:1}\n"
                            ".bar{fill:#2b6ca3}\n"
                            ".part{fill:#c0761c}\n"
                            ".side{fill:#9aa7b4}\n"
                            "@media screen and (prefers-color-scheme:dark){\n"
                            ".page{fill:#16191d}\n"
                            "text{fill:#e6e6e6}\n"
                            ".small{fill:#a8adb3}\n"
                            ".note{fill:#ff8f80}\n"
                            ".axis{stroke:#a8adb3}\n"
                            ".grid{stroke:#343a41}\n"
                            ".bar{fill:#6fb1e8}\n"
                            ".part{fill:#e8ac62}\n"
                            ".side{fill:#6b7683}\n"
                            "}\n"
                            "</style>\n";

void
svg_text(tel_output *out, double x, double y, const char *class,
    const char *anchor, double room, const char *text)
{
	size_t most = (size_t)(room / SVG_CHAR), shown;

	if (most < 4)
		most = 4;
	putf(out, "<text x=\"%.1f\" y=\"%.1f\"", x, y);
	if (class[0] != '\0')
		putf(out, " class=\"%s\"", class);
	if (strcmp(anchor, "start") != 0)
		putf(out, " text-anchor=\"%s\"", anchor);
	put(out, ">");
	shown = put_xml_part(out, text, most);
	if (text[shown] != '\0') {
		put(out, "\xe2\x80\xa6<title>");
		put_xml(out, text);
		put(out, "</title>");
	}
	put(out, "</text>\n");
}

void
svg_bar(tel_output *out, double x, double y, double w, double h,
    const char *class, const char *tip)
{
	putf(out,
	    "<rect class=\"%s\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" "
	    "height=\"%.2f\">",
	    class, x, y, w, h);
	if (tip[0] != '\0') {
		put(out, "<title>");
		put_xml(out, tip);
		put(out, "</title>");
	}
	put(out, "</rect>\n");
}

void
svg_line(tel_output *out, double x1, double y1, double x2, double y2,
    const char *class)
{
	putf(out,
	    "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" "
	    "y2=\"%.1f\"/>\n",
	    class, x1, y1, x2, y2);
}

/* Lines of facts in the making; their text is our own. */
struct facts {
	char lines[FACTS_MAX][160];
	unsigned n;
};

__attribute__((format(printf, 2, 3))) static void
add_fact(struct facts *f, const char *format, ...)
{
	/* small letters, and dots of two bytes */
	size_t most = (size_t)(SVG_INNER / SVG_CHAR * 1.1), used;
	char text[120];
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	used = f->n > 0 ? strlen(f->lines[f->n - 1]) : 0;
	if (f->n == 0 || used + 3 + strlen(text) > most) {
		if (f->n == FACTS_MAX)
			return;
		used = 0;
		f->lines[f->n++][0] = '\0';
	}
	(void)snprintf(f->lines[f->n - 1] + used, sizeof(f->lines[0]) - used,
	    "%s%s", used > 0 ? " \xc2\xb7 " : "", text);
}

static void
add_quantiles(struct facts *f, const struct show *show, const tel_stat *stat)
{
	static const char *const signs[] = { "\xe2\x89\xa4", "<",
		"\xe2\x89\xa5" };
	const uint32_t *list;
	unsigned i, n = view_quantiles(show, stat, &list);
	char name[FIGURE_TEXT], value[FIGURE_TEXT];
	tel_quantile q;

	for (i = 0; i < n; i++)
		if (tel_stat_quantile(stat, list[i], &q))
			add_fact(f, "%s %s %s", figure_quantile(list[i], name),
			    signs[q.is],
			    figure_edge(q.value, tel_stat_unit(stat),
			        show->options->raw, value));
}

unsigned
svg_facts(const struct show *show, const tel_stat *stat, tel_output *out,
    double y)
{
	const char *unit = tel_stat_unit(stat);
	int raw = show->options->raw;
	char text[FIGURE_TEXT];
	struct facts f;
	double mean;
	size_t i;

	f.n = 0;
	for (i = 0; i < view_nnumbers; i++) {
		const struct view_number *n = &view_numbers[i];
		tel_int128 v;

		if (!tel_stat_number(stat, n->which, &v) ||
		    (v.low == 0 && v.high == 0 && i > 0))
			continue;
		add_fact(&f, "%s %s", n->name,
		    n->valued ? figure_value(v, unit, raw, text) :
		                figure_count(v, raw, text));
	}
	if (view_mean(stat, &mean))
		add_fact(&f, "%s %s", view_mean_name(stat),
		    figure_double(mean, unit, raw, text));
	if (show->options->rate && show->at.ns > 0)
		add_fact(&f, "rate %s/%s",
		    figure_double(view_stat_rate(show, stat), "", raw, text),
		    show->options->rate_per);
	if (view_has_buckets(stat))
		add_quantiles(&f, show, stat);
	for (i = 0; i < f.n && out != NULL; i++)
		svg_text(out, SVG_MARGIN, y + (double)(i + 1) * SVG_LINE - 4,
		    "small", "start", 10 * SVG_INNER, f.lines[i]);
	return f.n;
}

/* How high the picture of a statistic is, without its heading. */
static double
body_height(const struct show *show, const tel_stat *stat)
{
	if (view_has_buckets(stat))
		return svg_histogram_height();
	if (tel_stat_class(stat) == TEL_CLASS_TALLY)
		return svg_keys_height(show, stat);
	return 0;
}

static double
stat_height(const struct show *show, const tel_stat *stat)
{
	double notes =
	    (tel_stat_approximate(stat) != 0) + (tel_stat_wrapped(stat) != 0);

	return HEAD + SVG_LINE * (svg_facts(show, stat, NULL, 0) + notes) +
	    body_height(show, stat) + GAP;
}

/* Opens a picture, which those who hear a page are told of as well. */
static void
open_picture(const struct show *show, const char *title, const char *desc)
{
	put(show->out, "<g role=\"img\">\n<title>");
	put_xml(show->out, title);
	put(show->out, "</title>\n<desc>");
	put_xml(show->out, desc);
	put(show->out, "</desc>\n");
}

static double
put_note(const struct show *show, double y, const char *text)
{
	svg_text(show->out, SVG_MARGIN, y + SVG_LINE - 4, "note", "start",
	    SVG_INNER, text);
	return y + SVG_LINE;
}

static void
put_stat(const struct show *show, const tel_stat *stat, double y)
{
	char *name = view_name(stat);
	const char *title = name != NULL ? name : tel_stat_name(stat);
	const char *what = tel_stat_definition(stat);

	if (what[0] == '\0')
		what = tel_class_name(tel_stat_class(stat));
	open_picture(show, title, what);
	svg_text(show->out, SVG_MARGIN, y + SVG_LINE, "head", "start",
	    SVG_INNER, title);
	svg_text(show->out, SVG_MARGIN, y + 2 * SVG_LINE, "small", "start",
	    SVG_INNER, what);
	y += HEAD - SVG_LINE / 2;
	y += SVG_LINE * svg_facts(show, stat, show->out, y);
	if (tel_stat_approximate(stat))
		y = put_note(show, y,
		    "not exact: merged from parts without room for all keys");
	if (tel_stat_wrapped(stat))
		y = put_note(show, y,
		    "a number was too large and wrapped round");
	y += SVG_LINE / 2;
	if (view_has_buckets(stat))
		svg_histogram(show, stat, y);
	else if (tel_stat_class(stat) == TEL_CLASS_TALLY)
		svg_keys(show, stat, y);
	put(show->out, "</g>\n");
	free(name);
}

/* A line on what was read: who wrote it, how much, and for how long. */
static void
describe(const struct show *show, char *text, size_t size)
{
	const tel_stats *s = show->stats;
	char events[FIGURE_TEXT], bytes[FIGURE_TEXT], span[FIGURE_TEXT];
	int raw = show->options->raw;
	char schema[64] = "";
	tel_origin o;
	tel_int128 ns;

	if (tel_stats_origin(s, 0, &o))
		(void)page_escape(schema, sizeof(schema) - 1, o.schema);
	span[0] = '\0';
	if (tel_stats_total(s, TEL_TOTAL_NS, &ns))
		(void)figure_value(ns, "ns", raw, span);
	(void)snprintf(text, size, "%s%s%s%s events, %s bytes%s%s", schema,
	    tel_stats_origin_count(s) > 1 ? " and others" : "",
	    schema[0] != '\0' ? ": " : "",
	    figure_count(view_total(s, TEL_TOTAL_EVENTS), raw, events),
	    figure_count(view_total(s, TEL_TOTAL_BYTES), raw, bytes),
	    span[0] != '\0' ? " in " : "", span);
}

/* What was lost or damaged, "" when nothing was. */
static void
describe_damage(const struct show *show, char *text, size_t size)
{
	const tel_stats *s = show->stats;
	char places[FIGURE_TEXT], skipped[FIGURE_TEXT], lost[FIGURE_TEXT];
	int raw = show->options->raw;

	text[0] = '\0';
	if (view_total(s, TEL_TOTAL_DAMAGED).low == 0 &&
	    view_total(s, TEL_TOTAL_LOST).low == 0 &&
	    view_total(s, TEL_TOTAL_CUT).low == 0)
		return;
	(void)snprintf(text, size,
	    "%s damaged places, %s bytes skipped, %s records lost%s",
	    figure_count(view_total(s, TEL_TOTAL_DAMAGED), raw, places),
	    figure_count(view_total(s, TEL_TOTAL_SKIPPED), raw, skipped),
	    figure_count(view_total(s, TEL_TOTAL_LOST), raw, lost),
	    view_total(s, TEL_TOTAL_CUT).low != 0 ? ", parts truncated" : "");
}

static void
put_report(const struct show *show, double y)
{
	char text[FIGURE_TEXT * 4], damage[FIGURE_TEXT * 4];

	describe(show, text, sizeof(text));
	describe_damage(show, damage, sizeof(damage));
	open_picture(show, "Events by type", text);
	svg_text(show->out, SVG_MARGIN, y + SVG_LINE, "head", "start",
	    SVG_INNER, "Events by type");
	svg_text(show->out, SVG_MARGIN, y + 2 * SVG_LINE, "small", "start",
	    SVG_INNER, text);
	if (damage[0] != '\0')
		(void)put_note(show, y + 2 * SVG_LINE, damage);
	svg_types(show, y + HEAD + SVG_LINE / 2);
	put(show->out, "</g>\n");
}

static void
show_moment(const struct show *show)
{
	size_t i, n = tel_stats_count(show->stats);
	int report = view_report(show);
	double height = SVG_MARGIN, y = SVG_MARGIN;
	double report_height = HEAD + svg_types_height(show) + GAP;

	if (report)
		height += report_height;
	for (i = 0; i < n; i++)
		height += stat_height(show, tel_stats_get(show->stats, i));
	putf(show->out,
	    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
	    "height=\"%.0f\" viewBox=\"0 0 %d %.0f\">\n"
	    "<title>telstat</title>\n",
	    SVG_WIDTH, height, SVG_WIDTH, height);
	put(show->out, style);
	putf(show->out, "<rect class=\"page\" width=\"%d\" height=\"%.0f\"/>\n",
	    SVG_WIDTH, height);
	if (report) {
		put_report(show, y);
		y += report_height;
	}
	for (i = 0; i < n; i++) {
		const tel_stat *stat = tel_stats_get(show->stats, i);

		put_stat(show, stat, y);
		y += stat_height(show, stat);
	}
	put(show->out, "</svg>\n");
}

const struct form form_svg = { "svg", 1, NULL, show_moment, NULL };
