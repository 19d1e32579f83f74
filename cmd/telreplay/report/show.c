/* SPDX-License-Identifier: BSD-2-Clause */
/* The report of telreplay: its parts in order, in an output format. */
#include "show.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "common/message.h"
#include "common/page.h"

static const struct report_format *const formats[] = { &report_as_text,
	&report_as_csv, &report_as_json, &report_as_svg, &report_as_html };

static const struct report_csv_column csv_columns[] = {
	{ "type", REPORT_CSV_TYPE },
	{ "allocator", REPORT_CSV_SUBJECT },
	{ "item", REPORT_CSV_ITEM },
	{ "figure", REPORT_CSV_FIGURE },
	{ "value", REPORT_CSV_VALUE },
};

static const struct report_tool tool = { .title = "telreplay",
	.csv = csv_columns,
	.ncsv = sizeof(csv_columns) / sizeof(csv_columns[0]),
	.csv_end = "\n",
	.json_subject = "allocator" };

const struct report_format *
show_format(const char *name)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (strcmp(name, formats[i]->name) == 0)
			return formats[i];
	return NULL;
}

double
show_ratio(double a, double b)
{
	return b > 0 ? a / b : 0;
}

struct report_value
show_real(double v)
{
	static const struct report_value unknown = { .type = REPORT_UNKNOWN };

	return isnan(v) ? unknown : report_real(v);
}

void
show_cells(struct report *r, const double *values, size_t n)
{
	for (; n > 0; n--)
		report_cell(r, show_real(*values++));
}

void
show_beside(struct report *r, const struct result *results, size_t n,
    enum report_notation notation)
{
	char text[16];

	for (; n > 0; n--, results++)
		report_column(r,
		    report_text(r, "%s",
		        page_escape(text, 9, results->allocator->name)),
		    NULL, notation, 10)
		    ->decimals = 1;
}

unsigned
show_text(const struct show *show, unsigned sections)
{
	return (show->telreplay->details & sections) != 0 ? REPORT_TEXT : 0;
}

const char *
show_order(const struct facts *f)
{
	switch (f->order) {
	case ORDER_EDGES: return "edges";
	case ORDER_TOTAL: return "total";
	case ORDER_NONE: return "none";
	default: return "";
	}
}

struct report_section *
show_section(struct report *r, unsigned to, const char *type, const char *title)
{
	struct report_section *s = report_section(r, to, type);

	s->title = title;
	s->apart = 1;
	s->indent = 2;
	return s;
}

struct report_section *
show_item(struct report *r, const char *type, const struct result *s,
    uint64_t i)
{
	struct report_section *section = report_section(r, REPORT_DATA, type);

	section->name = s != NULL ? s->allocator->name : NULL;
	section->item = report_text(r, "%" PRIu64, i);
	return section;
}

/*
 * Text compares all allocators, figure by figure; for programs one comes after
 * the other.
 */
static void
report_show_fill(struct report *r, void *arg)
{
	const struct show *show = arg;
	const struct benchmark *c = show->benchmark;

	if (report_is(r, REPORT_SVG)) {
		show_chart(r, show);
		show_size_bars(r, show);
		return;
	}
	if (c != NULL)
		show_comparison(r, show);
	if (c != NULL && report_is(r, REPORT_TEXT))
		show_allocators(r, show);
	show_trace(r, show);
	if (c == NULL)
		return;
	show_machine(r, show);
	if (report_is(r, REPORT_TEXT))
		show_compared(r, show);
	for (size_t i = 0; i < c->n && report_is(r, REPORT_DATA); i++)
		show_allocator(r, show, &c->results[i]);
}

/* Nonzero if it is the report that tells why the run fails. */
static int
has_failures(const struct benchmark *c)
{
	for (size_t i = 0; c != NULL && i < c->n; i++)
		if (c->results[i].why[0] != '\0')
			return 1;
	return 0;
}

void
show_report(const struct show *show)
{
	struct show copy = *show;
	struct report report;
	struct sink sink;

	if (!output_open(&sink, &show->telreplay->settings))
		return;
	memset(&report, 0, sizeof(report));
	report.format = show->telreplay->format;
	report.tool = &tool;
	report.out = sink.out;
	report.operands = show->telreplay->settings.operands;
	report.noperands = show->telreplay->settings.noperands;
	report.options.width = 80;
	report.options.terminal = sink.terminal;
	report_write(&report, report_show_fill, &copy);
	report_free(&report);
	if (report.failed)
		(void)message_no_memory();
	else if (has_failures(show->benchmark))
		sink_tells_failure(&sink);
	sink_close(&sink);
}
