/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The form "svg": the memory of all allocators over the run, in one picture,
 * above the area of what is live.
 */
#include "report.h"

#include <stdio.h>
#include <string.h>
#include "common/report/figure.h"
#include "common/page.h"
#include "common/report/scale.h"

#define WIDTH 800
#define LEFT 84
#define RIGHT (WIDTH - 24)
#define TOP 64
#define BOTTOM 404
#define LINE 18
/* Marks on the axes. */
#define MARKS 6
/* Hues are used again after so many, with another dash. */
#define HUES 8

static const char style[] =
    "<style>\n"
    ".page{fill:#fff}\n"
    "text{font:12px sans-serif;fill:#222}\n"
    ".head{font-size:15px;font-weight:bold}\n"
    ".small{font-size:11px;fill:#555}\n"
    ".axis{stroke:#444;stroke-width:1}\n"
    ".grid{stroke:#ddd;stroke-width:1}\n"
    ".live{fill:#9aa7b4;fill-opacity:.45}\n"
    ".curve{fill:none;stroke-width:1.8;stroke-linejoin:round}\n"
    ".c0{stroke:#2b6ca3}.c1{stroke:#c0761c}.c2{stroke:#3d8b45}\n"
    ".c3{stroke:#a3324f}.c4{stroke:#7455b5}.c5{stroke:#168a8a}\n"
    ".c6{stroke:#8a6a2b}.c7{stroke:#c2418f}\n"
    "@media screen and (prefers-color-scheme:dark){\n"
    ".page{fill:#16191d}\n"
    "text{fill:#e6e6e6}\n"
    ".small{fill:#a8adb3}\n"
    ".axis{stroke:#a8adb3}\n"
    ".grid{stroke:#343a41}\n"
    ".live{fill:#6b7683}\n"
    ".c0{stroke:#6fb1e8}.c1{stroke:#e8ac62}.c2{stroke:#7ccf86}\n"
    ".c3{stroke:#ef7f9a}.c4{stroke:#b9a0f0}.c5{stroke:#5fd0d0}\n"
    ".c6{stroke:#d6b878}.c7{stroke:#f08cc8}\n"
    "}\n"
    "</style>\n";

struct picture {
	const struct report *report;
	tel_output *out;
	struct scale x, y;
};

static void
put_text(const struct picture *p, double x, double y, const char *class,
    const char *anchor, const char *text)
{
	putf(p->out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"", x, y,
	    anchor);
	if (class[0] != '\0')
		putf(p->out, " class=\"%s\"", class);
	put(p->out, ">");
	put_xml(p->out, text);
	put(p->out, "</text>\n");
}

static void
put_line(const struct picture *p, double x1, double y1, double x2, double y2,
    const char *class)
{
	putf(p->out,
	    "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" "
	    "y2=\"%.1f\"/>\n",
	    class, x1, y1, x2, y2);
}

/* Bytes on a mark, which are a power of 2 or its multiple. */
static const char *
mark(double bytes, char *text)
{
	return figure_edge((int64_t)bytes, "bytes", 0, text);
}

static void
put_axes(const struct picture *p)
{
	char text[FIGURE_TEXT];
	struct ticks ticks;
	unsigned i;

	scale_ticks(&p->y, "bytes", MARKS, &ticks);
	for (i = 0; i < ticks.n; i++) {
		double y = scale_at(&p->y, ticks.at[i]);

		put_line(p, LEFT, y, RIGHT, y, "grid");
		put_text(p, LEFT - 6, y + 4, "small", "end",
		    mark(ticks.at[i], text));
	}
	for (i = 0; i <= 10; i += 2) {
		double x = scale_at(&p->x, (double)i / 10);

		put_line(p, x, BOTTOM, x, BOTTOM + 4, "axis");
		(void)snprintf(text, sizeof(text), "%u%%", i * 10);
		put_text(p, x, BOTTOM + 18, "small", "middle", text);
	}
	put_line(p, LEFT, BOTTOM, RIGHT, BOTTOM, "axis");
	put_line(p, LEFT, TOP, LEFT, BOTTOM, "axis");
	put_text(p, (LEFT + RIGHT) / 2.0, BOTTOM + 36, "small", "middle",
	    "share of the operations done");
}

/* What is live, at most up to each point: an area, once for each repeat. */
static void
put_live(const struct picture *p)
{
	const struct facts *f = p->report->facts;
	unsigned times = p->report->telreplay->run.repeat, n;
	uint64_t i;

	/* more than this cannot be told apart */
	if (times > 50 || p->report->contest == NULL)
		times = p->report->contest == NULL ? 1 : 50;
	putf(p->out, "<path class=\"live\" d=\"M%.1f %.1f", p->x.from,
	    p->y.from);
	for (n = 0; n < times; n++)
		for (i = 0; i < f->curve_points; i++) {
			double share = report_ratio((double)f->curve[i].done,
			    (double)f->words);

			putf(p->out, "L%.1f %.1f",
			    scale_at(&p->x, (n + share) / times),
			    scale_at(&p->y, (double)f->curve[i].peak));
		}
	putf(p->out, "L%.1f %.1fZ\"><title>live</title></path>\n", p->x.to,
	    p->y.from);
}

static void
put_class(const struct picture *p, size_t i)
{
	putf(p->out, "class=\"curve c%zu\"", i % HUES);
	if (i >= HUES)
		putf(p->out, " stroke-dasharray=\"%zu 3\"", 2 + 3 * (i / HUES));
}

static void
put_curve(const struct picture *p, size_t number)
{
	const struct result *s = &p->report->contest->results[number];
	double words =
	    (double)p->report->facts->words * p->report->telreplay->run.repeat;
	size_t i;

	put(p->out, "<polyline ");
	put_class(p, number);
	putf(p->out, " points=\"%.1f,%.1f", p->x.from, p->y.from);
	for (i = 0; i < s->nsamples; i++)
		putf(p->out, " %.1f,%.1f",
		    scale_at(&p->x,
		        report_ratio((double)s->samples[i].done, words)),
		    scale_at(&p->y,
		        (double)result_resident(s, &s->samples[i])));
	putf(p->out, " %.1f,%.1f", p->x.to,
	    scale_at(&p->y, (double)result_resident(s, &s->end)));
	put(p->out, "\"><title>");
	put_xml(p->out, s->candidate->name);
	put(p->out, "</title></polyline>\n");
}

/* A line of the legend. */
static void
put_entry(const struct picture *p, double y, size_t number, const char *name,
    double peak, double kept)
{
	char text[3 * FIGURE_TEXT], a[FIGURE_TEXT], b[FIGURE_TEXT];

	(void)figure_size(peak, a);
	(void)figure_size(kept, b);
	(void)snprintf(text, sizeof(text), "%.60s: peak %s%s%s", name,
	    a[0] != '\0' ? a : "less than 1 KiB",
	    number == SIZE_MAX ? "" : ", when all is freed ",
	    number == SIZE_MAX ? "" :
	        b[0] != '\0'   ? b :
	                         "nothing");
	if (number == SIZE_MAX) {
		putf(p->out,
		    "<rect class=\"live\" x=\"%d\" y=\"%.1f\" width=\"26\" "
		    "height=\"10\"/>\n",
		    LEFT, y - 9);
	} else {
		put(p->out, "<path ");
		put_class(p, number);
		putf(p->out, " d=\"M%d %.1fh26\"/>\n", LEFT, y - 4);
	}
	put_text(p, LEFT + 34, y, "", "start", text);
}

static void
put_legend(const struct picture *p)
{
	const struct contest *c = p->report->contest;
	double y = BOTTOM + 62;
	size_t i;

	put_entry(p, y, SIZE_MAX, "live blocks, as asked for",
	    (double)p->report->facts->peak_bytes, 0);
	for (i = 0; c != NULL && i < c->n; i++) {
		const struct result *s = &c->results[i];

		if (!s->watched)
			continue;
		y += LINE;
		put_entry(p, y, i, s->candidate->name, (double)s->peak,
		    (double)result_resident(s, &s->freed));
	}
}

static double
highest(const struct report *r)
{
	double most = (double)r->facts->peak_bytes;
	size_t i;

	for (i = 0; r->contest != NULL && i < r->contest->n; i++)
		if ((double)r->contest->results[i].peak > most)
			most = (double)r->contest->results[i].peak;
	return most > 1 ? most : 1;
}

static void
show(const struct report *r)
{
	const struct contest *c = r->contest;
	size_t i, n = c != NULL ? c->n : 0;
	int height = BOTTOM + 80 + (int)n * LINE;
	struct picture p = { r, r->out, { 0, 1, LEFT, RIGHT, 0 },
		{ 0, highest(r) * 1.05, BOTTOM, TOP, 0 } };
	const char *title = c != NULL ? "Resident memory of each allocator" :
	                                "Live memory of the trace";

	putf(r->out,
	    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
	    "height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\">\n"
	    "<title>%s</title>\n",
	    WIDTH, height, WIDTH, height, title);
	put(r->out, style);
	putf(r->out, "<rect class=\"page\" width=\"%d\" height=\"%d\"/>\n",
	    WIDTH, height);
	put_text(&p, LEFT, 26, "head", "start", title);
	put_text(&p, LEFT, 44, "small", "start",
	    c != NULL ? "bytes above those before the first operation" :
	                "bytes that were asked for and not yet freed");
	put_axes(&p);
	put_live(&p);
	for (i = 0; i < n; i++)
		if (c->results[i].watched)
			put_curve(&p, i);
	put_legend(&p);
	put(r->out, "</svg>\n");
}

const struct form form_svg = { "svg", show };
