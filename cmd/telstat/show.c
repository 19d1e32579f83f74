/* SPDX-License-Identifier: BSD-2-Clause */
/* The output formats, and what each shows at a moment. */
#include "show.h"

#include <stdlib.h>
#include <string.h>
#include "common/message.h"
#include "curves.h"
#include "statistic.h"

/* Columns of a page that is not a terminal, the least and the most of one. */
#define WIDTH_DEFAULT 80
#define WIDTH_MIN 40
#define WIDTH_SANE 160

static const struct report_csv_column csv_columns[] = {
	{ "time", REPORT_CSV_TIME },
	{ "class", REPORT_CSV_SUBJECT },
	{ "type", REPORT_CSV_TYPE },
	{ "stat", REPORT_CSV_FIGURE },
	{ "lo", REPORT_CSV_LO },
	{ "hi", REPORT_CSV_HI },
	{ "key", REPORT_CSV_ITEM },
	{ "value", REPORT_CSV_VALUE },
	{ "group", REPORT_CSV_GROUP },
};

static const struct report_tool tool = { .title = "telstat",
	.csv = csv_columns,
	.ncsv = sizeof(csv_columns) / sizeof(csv_columns[0]),
	.csv_end = "\n",
	.json_subject = "name",
	.json_time = 1 };

/* Records that telstat reads again; the library has them. */
static void
inst_put(const struct show *show)
{
	tel_status st =
	    tel_stats_write_inst(show->stats, show->out, show->at.final);

	if (st != TEL_OK && st != TEL_EIO)
		message_fail(STATUS_FAILED, NULL, "%s", tel_status_text(st));
}

const struct output_format output_formats[] = {
	{ "text", SHOWS_ALL, 0, &report_as_text, NULL },
	{ "csv", SHOWS_ALL, 0, &report_as_csv, NULL },
	{ "json", SHOWS_ALL, 0, &report_as_json, NULL },
	{ "arrow", SHOWS_ALL, 0, &report_as_arrow, NULL },
	{ "openmetrics", SHOWS_LAST, 0, NULL, openmetrics_put },
	{ "prometheus", SHOWS_LAST, 0, NULL, prometheus_put },
	{ "svg", SHOWS_CURVES, 0, &report_as_svg, NULL },
	{ "html", SHOWS_ALL, 0, &report_as_html, NULL },
	{ "inst", SHOWS_ALL, 1, NULL, inst_put },
};
const size_t output_nformats =
    sizeof(output_formats) / sizeof(output_formats[0]);

/* How wide the page is. */
static unsigned
page_width(const struct telstat *t, const struct sink *sink)
{
	const char *columns = getenv("COLUMNS");
	unsigned long width = 0;

	if (t->width > 0)
		return (unsigned)t->width;
	if (!sink->terminal)
		return WIDTH_DEFAULT;
	if (columns != NULL)
		width = strtoul(columns, NULL, 10);
	if (width == 0)
		width = sink->columns;
	if (width < WIDTH_MIN)
		return WIDTH_DEFAULT;
	return width > WIDTH_SANE ? WIDTH_SANE : (unsigned)width;
}

void
show_open(struct show *show, const struct telstat *t, const struct sink *sink)
{
	struct report *r = &show->report;

	memset(show, 0, sizeof(*show));
	show->options = t;
	show->stats = t->stats;
	show->out = sink->out;
	r->format = t->format->report;
	r->tool = &tool;
	r->out = sink->out;
	r->footer = sink_footer(sink);
	r->level = t->level;
	r->operands = t->settings.operands;
	r->noperands = t->settings.noperands;
	r->options.raw = t->raw;
	r->options.utf8 = t->utf8;
	r->options.zeros = t->zeros;
	r->options.density = t->density;
	r->options.log = t->log;
	r->options.terminal = sink->terminal;
	r->options.color = sink->color;
	r->options.width = page_width(t, sink);
	r->options.top = t->top;
}

void
show_close(struct show *show)
{
	const int failed = show->report.failed;

	report_free(&show->report);
	curves_free(show->curves);
	/* a table has an end, which may be too much as well */
	if (show->report.failed && !failed)
		(void)message_no_memory();
}

tel_int128
show_total(const struct show *show, tel_total which)
{
	tel_int128 v = { 0, 0 };

	(void)tel_stats_total(show->stats, which, &v);
	return v;
}

int
show_overview(const struct show *show)
{
	const struct telstat *t = show->options;

	/* of -s and -g, there may be no group, also in parts */
	return t->report || (!t->given && !tel_stats_defined(show->stats));
}

/* The title of the snapshot that follows. */
static void
put_moment(struct report *r, const struct show *show)
{
	const struct moment *at = &show->at;
	struct report_section *s = report_section(r, REPORT_TEXT, "");
	char time[FORMAT_TEXT] = "";

	if (show->options->interval == 0)
		return;
	if (at->known)
		(void)format_value(int128_u64(at->time),
		    at->ticks ? "ticks" : "ns", show->options->raw, time);
	s->title = report_text(r, "== %s%s%s%s", at->final ? "end" : "at ",
	    at->final && at->known ? ", " : "", time,
	    show->options->deltas ? ", since the one before ==" : " ==");
	report_put(r);
}

/* All sections of the report at a moment. */
static void
telstat_show_fill(struct report *r, void *arg)
{
	const struct show *show = arg;
	size_t i, n = tel_stats_count(show->stats);
	int overview = show_overview(show);

	put_moment(r, show);
	if (overview)
		overview_put(r, show);
	if (report_is(r, REPORT_SVG))
		pictures_put(r, show);
	for (i = 0; i < n && !report_is(r, REPORT_SVG); i++)
		statistic_put(r, show, tel_stats_get(show->stats, i),
		    overview && i == 0, NULL);
	stacks_put(r, show);
	overview_totals(r, show, overview && n == 0);
	if (!show->at.final) {
		report_section(r, REPORT_TEXT, "")->apart = 1;
		report_put(r);
	}
}

tel_status
show_moment(struct show *show)
{
	struct report *r = &show->report;
	tel_status st = tel_stats_sort_keys(show->stats, show->options->order);

	if (st != TEL_OK)
		return st;
	/* pictures are one page, at the end, with the snapshots as curves */
	if (show->options->interval > 0 &&
	    show->options->format->snapshots == SHOWS_CURVES) {
		if (show->curves == NULL)
			show->curves = curves_new();
		if (show->curves == NULL || !curves_add(show->curves, show))
			return TEL_ENOMEM;
		if (!show->at.final)
			return TEL_OK;
	}
	r->time_known = show->at.known;
	r->time = show->at.time;
	if (show->options->format->report != NULL)
		report_write(r, telstat_show_fill, show);
	else
		show->options->format->put(show);
	if (!show->at.final)
		report_flush(r);
	return r->failed ? TEL_ENOMEM : TEL_OK;
}
