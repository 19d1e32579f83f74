/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A report as one flat table, a value a line: as CSV, by RFC 4180, or as a table
 * of Arrow, where a value is also a number if it can be one.
 */
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "common/page.h"

/* The columns of a line; each is "" unless set. */
struct line {
	const struct report_section *section;
	const char *subject, *item, *figure, *lo, *hi, *group;
};

static struct line
line_of(struct report *r, const struct report_section *s, const char *figure)
{
	struct line l = { s, s->name != NULL ? s->name : "",
		s->item != NULL ? s->item : "", figure, "", "",
		report_group(r, s) };

	return l;
}

/*
 * A text from a log: its bytes as they are, except for a terminal, which they
 * could steer.
 */
static void
report_csv_put_text(struct report *r, const char *text)
{
	size_t room = 4 * strlen(text);
	char *shown = r->options.terminal ? malloc(room + 1) : NULL;

	if (shown != NULL)
		put_csv(r->out, page_escape(shown, room, text));
	else if (!r->options.terminal)
		put_csv(r->out, text);
	else
		r->failed = 1;
	free(shown);
}

static void
report_csv_put_cell(struct report *r, const struct line *l,
    enum report_csv_cell cell, const char *value)
{
	switch (cell) {
	case REPORT_CSV_TIME:
		if (r->time_known)
			putf(r->out, "%" PRIu64, r->time);
		break;
	case REPORT_CSV_SUBJECT: report_csv_put_text(r, l->subject); break;
	case REPORT_CSV_TYPE: put_csv(r->out, l->section->type); break;
	case REPORT_CSV_FIGURE: put_csv(r->out, l->figure); break;
	case REPORT_CSV_LO: put(r->out, l->lo); break;
	case REPORT_CSV_HI: put(r->out, l->hi); break;
	case REPORT_CSV_ITEM: report_csv_put_text(r, l->item); break;
	case REPORT_CSV_VALUE: report_csv_put_text(r, value); break;
	case REPORT_CSV_GROUP: report_csv_put_text(r, l->group); break;
	}
}

/* ---------------------------------------------------------------- Arrow */

/* Puts a text; "" means that there is no value. */
static void
report_csv_put_name(struct report *r, size_t column, const char *text)
{
	if (text[0] != '\0' &&
	    tel_table_put_text(r->table, (int)column, text, strlen(text)) !=
	        TEL_OK)
		r->failed = 1;
}

/* Puts a number, if the text is one. */
static void
report_csv_put_number(struct report *r, size_t column, const char *text)
{
	uint64_t bits;
	double value;
	char *end;

	value = strtod(text, &end);
	if (end == text || *end != '\0')
		return;
	memcpy(&bits, &value, sizeof(bits));
	if (tel_table_put_u64(r->table, (int)column, bits) != TEL_OK)
		r->failed = 1;
}

static void
report_csv_put_row(struct report *r, const struct line *l, const char *value)
{
	size_t i;

	if (r->table == NULL)
		return;
	for (i = 0; i < r->tool->ncsv; i++)
		switch (r->tool->csv[i].cell) {
		case REPORT_CSV_TIME:
			if (r->time_known &&
			    tel_table_put_u64(r->table, (int)i, r->time) !=
			        TEL_OK)
				r->failed = 1;
			break;
		case REPORT_CSV_SUBJECT:
			report_csv_put_name(r, i, l->subject);
			break;
		case REPORT_CSV_TYPE:
			report_csv_put_name(r, i, l->section->type);
			break;
		case REPORT_CSV_FIGURE:
			report_csv_put_name(r, i, l->figure);
			break;
		case REPORT_CSV_LO: report_csv_put_number(r, i, l->lo); break;
		case REPORT_CSV_HI: report_csv_put_number(r, i, l->hi); break;
		case REPORT_CSV_ITEM: report_csv_put_name(r, i, l->item); break;
		case REPORT_CSV_GROUP:
			report_csv_put_name(r, i, l->group);
			break;
		case REPORT_CSV_VALUE:
			report_csv_put_name(r, i, value);
			report_csv_put_number(r, r->tool->ncsv, value);
			break;
		}
	if (tel_table_end_row(r->table) == TEL_ENOMEM)
		r->failed = 1;
}

static tel_column
report_csv_column_of(enum report_csv_cell cell)
{
	switch (cell) {
	case REPORT_CSV_TIME: return TEL_COLUMN_UNSIGNED;
	case REPORT_CSV_LO:
	case REPORT_CSV_HI: return TEL_COLUMN_DOUBLE;
	case REPORT_CSV_VALUE: return TEL_COLUMN_TEXT;
	case REPORT_CSV_SUBJECT:
	case REPORT_CSV_TYPE:
	case REPORT_CSV_FIGURE:
	case REPORT_CSV_ITEM:
	case REPORT_CSV_GROUP: break;
	}
	return TEL_COLUMN_NAME;
}

static void
begin_table(struct report *r)
{
	tel_table *t = tel_table_new(r->out);
	int added = t != NULL && tel_table_set_file(t, r->footer) == TEL_OK;
	size_t i;

	if (added && r->level > 0)
		added = tel_table_set_zstd(t, r->level) == TEL_OK;
	for (i = 0; added && i < r->tool->ncsv; i++)
		added = tel_table_add_column(t, r->tool->csv[i].name,
		            report_csv_column_of(r->tool->csv[i].cell)) >= 0;
	added =
	    added && tel_table_add_column(t, "number", TEL_COLUMN_DOUBLE) >= 0;
	if (added) {
		r->table = t;
		return;
	}
	tel_table_free(t);
	r->failed = 1;
}

/* ----------------------------------------------------------------- both */

static void
report_csv_put_line(struct report *r, const struct line *l, const char *value)
{
	size_t i;

	if (r->format == &report_as_arrow) {
		report_csv_put_row(r, l, value);
		return;
	}
	for (i = 0; i < r->tool->ncsv; i++) {
		put(r->out, i == 0 ? "" : ",");
		report_csv_put_cell(r, l, r->tool->csv[i].cell, value);
	}
	put(r->out, r->tool->csv_end);
}

static void
report_csv_put_value(struct report *r, const struct line *l,
    const struct report_value *v)
{
	struct report_mark mark = report_mark(r);
	char text[FORMAT_TEXT];

	if (v->type == REPORT_REAL)
		report_csv_put_line(r, l, format_exact(v->as.real, text));
	else if (v->type != REPORT_ABSENT && v->type != REPORT_UNKNOWN)
		report_csv_put_line(r, l, report_key(r, v));
	report_release(r, mark);
}

static void
report_csv_put_rows(struct report *r, const struct report_section *s)
{
	struct report_mark mark = report_mark(r);
	const struct report_row *row;
	size_t i;

	for (row = s->rows; row != NULL; row = row->next) {
		struct line l = line_of(r, s, "");

		if (!(row->shown & REPORT_CSV))
			continue;
		for (i = 0; i < s->ncolumns; i++)
			if (s->columns[i].item)
				l.item = report_key(r, &row->cells[i]);
		for (i = 0; i < s->ncolumns; i++) {
			l.figure = s->columns[i].name;
			if (!s->columns[i].item &&
			    report_field_shown(r, &s->columns[i]))
				report_csv_put_value(r, &l, &row->cells[i]);
		}
		report_release(r, mark);
	}
}

static void
report_csv_put_buckets(struct report *r, const struct report_section *s)
{
	const struct report_histogram *h = s->histogram;
	char lo[FORMAT_TEXT], hi[FORMAT_TEXT], count[FORMAT_TEXT];
	struct line l = line_of(r, s, "bucket");
	size_t i;

	l.lo = lo;
	for (i = 0; i < h->n; i++) {
		tel_bucket b;

		if (!r->options.zeros)
			i = h->next(h->of, i);
		if (i >= h->n)
			break;
		b = h->bucket(h->of, i);
		(void)format_edge(b.lo, s->decimals, "", 1, lo);
		(void)format_edge(b.hi, s->decimals, "", 1, hi);
		l.hi = b.open ? "" : hi;
		report_csv_put_line(r, &l,
		    format_count(int128_u64(b.count), 1, count));
	}
}

/* The value of a quantile lies in [lo, hi]: one end may be open. */
static void
put_quantiles(struct report *r, const struct report_section *s)
{
	char name[FORMAT_TEXT], value[FORMAT_TEXT];
	size_t i;

	for (i = 0; i < s->nquantiles; i++) {
		const struct report_quantile *q = &s->quantiles[i];
		struct line l = line_of(r, s, "quantile");

		(void)format_edge(q->is.value, s->decimals, "", 1, value);
		l.item = format_quantile(q->share, name);
		if (q->is.is == TEL_QUANTILE_AT_LEAST)
			l.lo = value;
		else if (q->is.is == TEL_QUANTILE_BELOW)
			l.hi = value;
		report_csv_put_line(r, &l,
		    q->is.is == TEL_QUANTILE_AT_MOST ? value : "");
	}
}

static void
put_bars(struct report *r, const struct report_section *s)
{
	const struct report_bars *bars = s->bars;
	struct line l = line_of(r, s, "bucket");
	size_t i, shown = report_rows(r, bars->n);
	struct report_mark mark = report_mark(r);
	char count[FORMAT_TEXT];
	struct report_bar bar;

	for (i = 0; i < shown; i++) {
		bars->bar(r, bars->of, i, &bar);
		l.item = report_key(r, &bar.label);
		report_csv_put_line(r, &l,
		    format_count(int128_u64(bar.count), 1, count));
		report_release(r, mark);
	}
	l.item = "";
	l.figure = "other";
	if (shown < bars->n)
		report_csv_put_line(r, &l,
		    format_count(report_bars_rest(r, bars), 1, count));
}

static void
report_csv_put_section(struct report *r, const struct report_section *s)
{
	struct line l = line_of(r, s, "");
	size_t i;

	for (i = 0; i < s->nfacts; i++) {
		if (!report_field_shown(r, &s->facts[i].field))
			continue;
		l.figure = s->facts[i].field.name;
		if (s->facts[i].item != NULL)
			l.item = s->facts[i].item;
		report_csv_put_value(r, &l, &s->facts[i].value);
		l.item = s->item != NULL ? s->item : "";
	}
	for (i = 0; i < s->nnotes; i++) {
		l.figure = s->notes[i].name;
		if (s->notes[i].shown & REPORT_CSV)
			report_csv_put_line(r, &l, "1");
	}
	report_csv_put_rows(r, s);
	if (s->histogram != NULL)
		report_csv_put_buckets(r, s);
	put_quantiles(r, s);
	if (s->bars != NULL)
		put_bars(r, s);
}

static void
put_head(struct report *r)
{
	size_t i;

	for (i = 0; i < r->tool->ncsv; i++) {
		put(r->out, i == 0 ? "" : ",");
		put(r->out, r->tool->csv[i].name);
	}
	put(r->out, r->tool->csv_end);
}

const struct report_format report_as_csv = { .name = "csv",
	.is = REPORT_CSV,
	.begin = put_head,
	.section = report_csv_put_section };

const struct report_format report_as_arrow = { .name = "arrow",
	.is = REPORT_CSV,
	.begin = begin_table,
	.section = report_csv_put_section };
