/* SPDX-License-Identifier: BSD-2-Clause */
/* SVG: a report as pictures, one below the other in one document. */
#include "svg.h"

#include <stdio.h>
#include <string.h>
#include "common/page.h"

/* The most bars when --top does not say. */
#define ROWS_DEFAULT 40
/* The margin below a picture. */
#define GAP 28
/* No more lines of facts than this: all that a section can have. */
#define FACTS_MAX 32

/* Fills are the same hues on paper and on dark screens, as light as needed. */
static const struct {
	const char *text;
	unsigned of; /* 0: every page has it */
} styles[] = { { "<style>\n"
	         ".page{fill:#fff}\n"
	         "text{font:12px sans-serif;fill:#222}\n"
	         ".head{font-size:15px;font-weight:bold}\n"
	         ".small{font-size:11px;fill:#555}\n",
	           0 },
	{ ".note{fill:#a32020}\n", SVG_BARS },
	{ ".axis{stroke:#444;stroke-width:1}\n"
	  ".grid{stroke:#ddd;stroke-width:1}\n",
	    0 },
	{ ".bar{fill:#2b6ca3}\n"
	  ".part{fill:#c0761c}\n"
	  ".side{fill:#9aa7b4}\n",
	    SVG_BARS },
	{ ".live{fill:#9aa7b4;fill-opacity:.45}\n"
	  ".curve{fill:none;stroke-width:1.8;stroke-linejoin:round;"
	  "stroke-linecap:round}\n"
	  ".c0{stroke:#2b6ca3}.c1{stroke:#c0761c}.c2{stroke:#3d8b45}\n"
	  ".c3{stroke:#a3324f}.c4{stroke:#7455b5}.c5{stroke:#168a8a}\n"
	  ".c6{stroke:#8a6a2b}.c7{stroke:#c2418f}\n",
	    SVG_CURVES },
	{ "@media screen and (prefers-color-scheme:dark){\n"
	  ".page{fill:#16191d}\n"
	  "text{fill:#e6e6e6}\n"
	  ".small{fill:#a8adb3}\n",
	    0 },
	{ ".note{fill:#ff8f80}\n", SVG_BARS },
	{ ".axis{stroke:#a8adb3}\n"
	  ".grid{stroke:#343a41}\n",
	    0 },
	{ ".bar{fill:#6fb1e8}\n"
	  ".part{fill:#e8ac62}\n"
	  ".side{fill:#6b7683}\n",
	    SVG_BARS },
	{ ".live{fill:#6b7683}\n"
	  ".c0{stroke:#6fb1e8}.c1{stroke:#e8ac62}.c2{stroke:#7ccf86}\n"
	  ".c3{stroke:#ef7f9a}.c4{stroke:#b9a0f0}.c5{stroke:#5fd0d0}\n"
	  ".c6{stroke:#d6b878}.c7{stroke:#f08cc8}\n",
	    SVG_CURVES },
	{ "}\n"
	  "</style>\n",
	    0 } };

/* -------------------------------------------------------------- shapes */

/* About how wide a character is, in ems; rather more, as fonts differ. */
static double
ems_of(const char *text, size_t n)
{
	/* it is escaped */
	if (n == 0)
		return 4 * 0.65;
	if (n > 1)
		return 1.05;
	if (strchr("ijlfrt.,:;'|! /-I[]()", text[0]) != NULL)
		return 0.42;
	if (strchr("mwMW@%", text[0]) != NULL)
		return 1.0;
	if ((text[0] >= 'A' && text[0] <= 'Z') ||
	    strchr("+<>=~^#&", text[0]) != NULL)
		return 0.84;
	return 0.65;
}

/* How many pixels the characters of a class are high. */
static double
svg_size_of(const char *class)
{
	/* bold is wider */
	if (strcmp(class, "head") == 0)
		return 15 * 1.12;
	return strcmp(class, "small") == 0 ? 11 : 12;
}

/* The bytes of a text that fit, at least one character; its characters. */
static size_t
fit(const char *text, const char *class, double room, size_t *characters)
{
	double size = svg_size_of(class), width = 0;
	size_t at = 0, n;

	*characters = 0;
	while (text[at] != '\0') {
		n = page_utf8(text + at);
		width += ems_of(text + at, n) * size;
		if (width > room && at > 0)
			break;
		at += n > 0 ? n : 1;
		++*characters;
	}
	return at;
}

double
svg_text_width(const char *text, const char *class)
{
	double width = 0;
	size_t n;

	for (; *text != '\0'; text += n > 0 ? n : 1) {
		n = page_utf8(text);
		width += ems_of(text, n);
	}
	return width * svg_size_of(class);
}

static void
open_text(tel_output *out, double x, double y, const char *class,
    const char *anchor)
{
	putf(out, "<text x=\"%.1f\" y=\"%.1f\"", x, y);
	if (class[0] != '\0')
		putf(out, " class=\"%s\"", class);
	if (strcmp(anchor, "start") != 0)
		putf(out, " text-anchor=\"%s\"", anchor);
	put(out, ">");
}

static void
put_cut(tel_output *out, const char *text, size_t characters)
{
	size_t shown = put_xml_part(out, text, characters);

	if (text[shown] == '\0')
		return;
	put(out, "\xe2\x80\xa6<title>");
	put_xml(out, text);
	put(out, "</title>");
}

void
svg_text(tel_output *out, double x, double y, const char *class,
    const char *anchor, double room, const char *text)
{
	double dots = svg_size_of(class) * 1.05;
	size_t characters;

	open_text(out, x, y, class, anchor);
	/* the dots need room if there are any */
	if (text[fit(text, class, room, &characters)] != '\0')
		(void)fit(text, class, room > dots ? room - dots : 0,
		    &characters);
	put_cut(out, text, characters);
	put(out, "</text>\n");
}

/*
 * The bytes of the next line, its characters: it ends behind a place where
 * words do if there is one in its second half.
 */
static size_t
next_line(const char *text, const char *class, double room, size_t *characters)
{
	size_t n = fit(text, class, room, characters), i = n, at, size;

	if (text[n] == '\0')
		return n;
	while (i > n / 2 && strchr(" ,;/:=", text[i - 1]) == NULL)
		i--;
	if (i == n / 2)
		return n;
	*characters = 0;
	for (at = 0; at<i; at += size> 0 ? size : 1) {
		size = page_utf8(text + at);
		++*characters;
	}
	return i;
}

unsigned
svg_lines(const char *text, const char *class, double room)
{
	size_t characters;
	unsigned n;

	for (n = 0; *text != '\0' && n < SVG_LINES_MAX; n++)
		text += next_line(text, class, room, &characters);
	return n;
}

unsigned
svg_wrapped(tel_output *out, double x, double y, const char *class,
    const char *anchor, double room, const char *text)
{
	unsigned n = 0, lines = svg_lines(text, class, room);
	size_t characters, bytes;

	for (; n + 1 < lines; n++) {
		bytes = next_line(text, class, room, &characters);
		open_text(out, x, y + n * SVG_LINE, class, anchor);
		(void)put_xml_part(out, text, characters);
		put(out, "</text>\n");
		text += bytes;
	}
	if (*text != '\0')
		svg_text(out, x, y + n * SVG_LINE, class, anchor, room, text);
	return lines;
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

void
svg_upright(tel_output *out, double x, double y, const char *text)
{
	putf(out,
	    "<text class=\"small\" text-anchor=\"middle\" transform=\""
	    "translate(%.1f %.1f) rotate(-90)\">",
	    x, y);
	put_xml(out, text);
	put(out, "</text>\n");
}

/* --------------------------------------------------------------- facts */

/* Facts in lines, as many as fit one. */
struct facts {
	char lines[FACTS_MAX][240];
	unsigned n;
};

static void
add_fact(struct facts *f, const char *text)
{
	size_t used = f->n > 0 ? strlen(f->lines[f->n - 1]) : 0;
	double width = svg_text_width(text, "small") + 20;

	if (f->n > 0)
		width += svg_text_width(f->lines[f->n - 1], "small");
	if (f->n == 0 || width > SVG_INNER) {
		if (f->n == FACTS_MAX)
			return;
		used = 0;
		f->lines[f->n++][0] = '\0';
	}
	(void)snprintf(f->lines[f->n - 1] + used, sizeof(f->lines[0]) - used,
	    "%s%.119s", used > 0 ? " \xc2\xb7 " : "", text);
}

static void
wrap_facts(struct facts *f, struct report *r, const struct report_section *s)
{
	static const char *const signs[] = { "\xe2\x89\xa4", "<",
		"\xe2\x89\xa5" };
	char name[FORMAT_TEXT], value[FORMAT_TEXT];

	f->n = 0;
	for (size_t i = 0; i < s->nfacts; i++) {
		const struct report_field *field = &s->facts[i].field;

		if (report_field_shown(r, field))
			add_fact(f,
			    report_text(r, "%s %s", report_field_label(field),
			        report_show(r, field, &s->facts[i].value)));
	}
	for (size_t i = 0; i < s->nquantiles; i++) {
		const struct report_quantile *q = &s->quantiles[i];

		add_fact(f,
		    report_text(r, "%s %s %s", format_quantile(q->share, name),
		        signs[q->is.is],
		        format_edge(q->is.value, s->decimals, s->unit,
		            r->options.raw, value)));
	}
}

/* ---------------------------------------------------------------- bars */

/* The widest labels, and what figures behind bars need. */
#define LABEL_WIDTH 220
#define FIGURE_WIDTH 150

/* The bars of a picture: measured first, and then put. */
struct bars {
	struct report *report;
	double y;
	double weight, scale;
	double label; /* width of the labels */
	int put;
	double at; /* below the bars so far */
};

static void
svg_bar_row(struct bars *b, const char *label, double value, const char *text,
    const char *class)
{
	double width, y = b->y + b->at;
	unsigned lines = svg_lines(label, "", LABEL_WIDTH);
	tel_output *out = b->report->out;

	b->at += SVG_ROW + (lines > 1 ? (lines - 1) * SVG_LINE : 0);
	if (!b->put) {
		width = svg_text_width(label, "");
		if (width > LABEL_WIDTH)
			width = LABEL_WIDTH;
		if (width > b->label)
			b->label = width;
		if (value > b->scale)
			b->scale = value;
		return;
	}
	double left = SVG_MARGIN + b->label + 8;
	double room = SVG_WIDTH - SVG_MARGIN - FIGURE_WIDTH - left;
	width = b->scale > 0 && value > 0 ? value / b->scale * room : 0;
	svg_wrapped(out, left - 8, y + SVG_ROW - 6, "", "end", LABEL_WIDTH,
	    label);
	svg_bar(out, left, y + 2, width < 1 && value > 0 ? 1 : width,
	    SVG_ROW - 5, class, "");
	svg_text(out, left + width + 6, y + SVG_ROW - 6, "small", "start",
	    FIGURE_WIDTH, text);
}

/* A bar of a count, with its share of all. */
static void
svg_count_row(struct bars *b, const char *label, tel_int128 count,
    const char *class)
{
	char text[FORMAT_TEXT + 32], figure[FORMAT_TEXT];
	double value = tel_int128_double(count);

	(void)snprintf(text, sizeof(text), "%s (%.1f%%)",
	    format_count(count, b->report->options.raw, figure),
	    b->weight > 0 ? value / b->weight * 100 : 0);
	svg_bar_row(b, label, value, text, class);
}

static void
bar_rows(struct bars *b, const struct report_bars *bars)
{
	struct report_mark mark = report_mark(b->report);
	size_t i, shown = report_rows(b->report, bars->n);
	struct report_bar bar;

	b->at = 0;
	for (i = 0; i < shown; i++) {
		bar.text = NULL;
		bars->bar(b->report, bars->of, i, &bar);
		if (bar.text != NULL)
			svg_bar_row(b, report_key(b->report, &bar.label),
			    bar.value, bar.text, "bar");
		else
			svg_count_row(b, report_key(b->report, &bar.label),
			    int128_u64(bar.count), "bar");
		report_release(b->report, mark);
	}
	if (shown < bars->n)
		svg_count_row(b, "<other>", report_bars_rest(b->report, bars),
		    "side");
	if (bars->has_overflow)
		svg_count_row(b, "<overflow>", bars->overflow, "side");
}

static double
svg_bars_height(struct report *r, const struct report_bars *bars)
{
	struct bars b = { .report = r };

	bar_rows(&b, bars);
	return b.at + SVG_LINE;
}

static void
svg_bars(struct report *r, const struct report_bars *bars, double y)
{
	struct bars b = { .report = r,
		.y = y,
		.weight = tel_int128_double(bars->weight) };

	bar_rows(&b, bars);
	b.put = 1;
	bar_rows(&b, bars);
	/* the line that the bars begin at */
	double x = SVG_MARGIN + b.label + 8;
	svg_line(r->out, x, y, x, y + b.at, "axis");
	svg_text(r->out, x, y + b.at + SVG_LINE - 4, "small", "start",
	    SVG_INNER, bars->title);
}

/* ------------------------------------------------------------ sections */

/* The line below its title. */
static const char *
definition_of(const struct report_section *s)
{
	if (s->definition[0] != '\0')
		return s->definition;
	return s->class != NULL ? s->class : "";
}

/* The height of a section except for its plot, and where its texts begin. */
static double
text_height(struct report *r, const struct report_section *s,
    struct facts *facts, double *top)
{
	wrap_facts(facts, r, s);
	double head = SVG_LINE *
	    (svg_lines(report_title(r, s), "head", SVG_INNER) +
	        svg_lines(definition_of(s), "small", SVG_INNER) + 1);
	unsigned lines = facts->n;
	for (size_t i = 0; i < s->nnotes; i++)
		lines += (s->notes[i].shown & REPORT_SVG) != 0;
	/* a note takes the place of facts */
	*top = facts->n > 0 ? head - SVG_LINE / 2 : head - SVG_LINE;
	if (lines == 0 || facts->n == 0)
		lines = 1;
	return *top + SVG_LINE * lines + SVG_LINE / 2;
}

static double
measure_section(struct report *r, const struct report_section *s)
{
	struct facts facts;
	double top, height;

	r->has |= s->chart != NULL ? SVG_CURVES : SVG_BARS;
	if (s->chart != NULL)
		return svg_chart_height(r, s) + GAP;
	height = text_height(r, s, &facts, &top) + GAP;
	if (facts.n == 0)
		height += SVG_LINE / 2;
	if (s->histogram != NULL)
		height += svg_histogram_height();
	if (s->bars != NULL)
		height += svg_bars_height(r, s->bars);
	if (s->range != NULL)
		height += svg_range_height();
	return height;
}

/* Opens a picture, and describes it for screen readers. */
static void
open_picture(struct report *r, const char *title, const char *desc)
{
	put(r->out, "<g role=\"img\">\n<title>");
	put_xml(r->out, title);
	put(r->out, "</title>\n<desc>");
	put_xml(r->out, desc);
	put(r->out, "</desc>\n");
}

static void
svg_put_section(struct report *r, const struct report_section *s)
{
	const char *title = report_title(r, s);
	const char *what = definition_of(s);
	struct facts facts;
	double top, y, plot;

	if (s->chart != NULL) {
		open_picture(r, title, what);
		svg_chart(r, s, r->y);
		put(r->out, "</g>\n");
		r->y += measure_section(r, s);
		return;
	}
	plot = r->y + text_height(r, s, &facts, &top);
	open_picture(r, title, what);
	y = r->y + SVG_LINE;
	y += SVG_LINE *
	    svg_wrapped(r->out, SVG_MARGIN, y, "head", "start", SVG_INNER,
	        title);
	(void)svg_wrapped(r->out, SVG_MARGIN, y, "small", "start", SVG_INNER,
	    what);
	y = r->y + top + SVG_LINE - 4;
	for (size_t i = 0; i < facts.n; i++, y += SVG_LINE)
		svg_text(r->out, SVG_MARGIN, y, "small", "start", SVG_INNER,
		    facts.lines[i]);
	for (size_t i = 0; i < s->nnotes; i++) {
		if (!(s->notes[i].shown & REPORT_SVG))
			continue;
		svg_text(r->out, SVG_MARGIN, y, "note", "start", SVG_INNER,
		    s->notes[i].text);
		y += SVG_LINE;
	}
	if (s->histogram != NULL)
		svg_histogram(r, s, plot);
	if (s->bars != NULL)
		svg_bars(r, s->bars, plot);
	if (s->range != NULL)
		svg_range(r, s, plot);
	put(r->out, "</g>\n");
	r->y += measure_section(r, s);
}

static void
svg_open_page(struct report *r)
{
	int width = (r->has & SVG_CURVES) != 0 ? SVG_CHART_WIDTH : SVG_WIDTH;
	double height = r->height + SVG_MARGIN;
	size_t i, n = sizeof(styles) / sizeof(styles[0]);

	r->y = SVG_MARGIN;
	putf(r->out,
	    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
	    "height=\"%.0f\" viewBox=\"0 0 %d %.0f\">\n"
	    "<title>%s</title>\n",
	    width, height, width, height, r->tool->title);
	for (i = 0; i < n; i++)
		if (styles[i].of == 0 || (styles[i].of & r->has) != 0)
			put(r->out, styles[i].text);
	putf(r->out, "<rect class=\"page\" width=\"%d\" height=\"%.0f\"/>\n",
	    width, height);
}

static void
close_page(struct report *r)
{
	put(r->out, "</svg>\n");
}

const struct report_format report_as_svg = { .name = "svg",
	.is = REPORT_SVG,
	.rows_max = ROWS_DEFAULT,
	.open = svg_open_page,
	.section = svg_put_section,
	.close = close_page,
	.measure = measure_section };
