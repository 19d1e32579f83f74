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

/* The cells of a line; each is "" unless set. */
struct line {
	const char *cells[REPORT_CSV_GROUP + 1];
};

/* What cells hold, and whether it is from a log. */
static const struct {
	tel_column column;
	int logged;
} kinds[] = { [REPORT_CSV_TIME] = { TEL_COLUMN_UNSIGNED, 0 },
	[REPORT_CSV_SUBJECT] = { TEL_COLUMN_NAME, 1 },
	[REPORT_CSV_TYPE] = { TEL_COLUMN_NAME, 0 },
	[REPORT_CSV_FIGURE] = { TEL_COLUMN_NAME, 0 },
	[REPORT_CSV_LO] = { TEL_COLUMN_DOUBLE, 0 },
	[REPORT_CSV_HI] = { TEL_COLUMN_DOUBLE, 0 },
	[REPORT_CSV_ITEM] = { TEL_COLUMN_NAME, 1 },
	[REPORT_CSV_VALUE] = { TEL_COLUMN_TEXT, 1 },
	[REPORT_CSV_GROUP] = { TEL_COLUMN_NAME, 1 } };

static struct line
line_of(struct report *r, const struct report_section *s, const char *figure)
{
	struct line l = { { [REPORT_CSV_TIME] = "",
	    [REPORT_CSV_SUBJECT] = s->name != NULL ? s->name : "",
	    [REPORT_CSV_TYPE] = s->type,
	    [REPORT_CSV_FIGURE] = figure,
	    [REPORT_CSV_LO] = "",
	    [REPORT_CSV_HI] = "",
	    [REPORT_CSV_ITEM] = s->item != NULL ? s->item : "",
	    [REPORT_CSV_VALUE] = "",
	    [REPORT_CSV_GROUP] = report_group(r, s) } };

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
report_csv_put_cells(struct report *r, const struct line *l)
{
	for (size_t i = 0; i < r->tool->ncsv; i++) {
		enum report_csv_cell cell = r->tool->csv[i].cell;

		put(r->out, i == 0 ? "" : ",");
		if (kinds[cell].logged)
			report_csv_put_text(r, l->cells[cell]);
		else if (cell != REPORT_CSV_TIME)
			put_csv(r->out, l->cells[cell]);
		else if (r->time_known)
			putf(r->out, "%" PRIu64, r->time);
	}
	put(r->out, r->tool->csv_end);
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
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end != '\0')
		return;
	memcpy(&bits, &value, sizeof(bits));
	if (tel_table_put_u64(r->table, (int)column, bits) != TEL_OK)
		r->failed = 1;
}

static void
report_csv_put_row(struct report *r, const struct line *l)
{
	if (r->table == NULL)
		return;
	for (size_t i = 0; i < r->tool->ncsv; i++) {
		enum report_csv_cell cell = r->tool->csv[i].cell;

		if (kinds[cell].column == TEL_COLUMN_DOUBLE)
			report_csv_put_number(r, i, l->cells[cell]);
		else if (cell != REPORT_CSV_TIME)
			report_csv_put_name(r, i, l->cells[cell]);
		else if (r->time_known &&
		    tel_table_put_u64(r->table, (int)i, r->time) != TEL_OK)
			r->failed = 1;
	}
	report_csv_put_number(r, r->tool->ncsv, l->cells[REPORT_CSV_VALUE]);
	if (tel_table_end_row(r->table) == TEL_ENOMEM)
		r->failed = 1;
}

static void
begin_table(struct report *r)
{
	tel_table *t = tel_table_new(r->out);
	int added = t != NULL && tel_table_set_file(t, r->footer) == TEL_OK;

	if (added && r->level > 0)
		added = tel_table_set_zstd(t, r->level) == TEL_OK;
	for (size_t i = 0; added && i < r->tool->ncsv; i++)
		added = tel_table_add_column(t, r->tool->csv[i].name,
		            kinds[r->tool->csv[i].cell].column) >= 0;
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
report_csv_put_line(struct report *r, struct line *l, const char *value)
{
	l->cells[REPORT_CSV_VALUE] = value;
	if (r->format == &report_as_arrow)
		report_csv_put_row(r, l);
	else
		report_csv_put_cells(r, l);
}

static void
report_csv_put_value(struct report *r, struct line *l,
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

	for (row = s->rows; row != NULL; row = row->next) {
		struct line l = line_of(r, s, "");

		if (!(row->shown & REPORT_CSV))
			continue;
		for (size_t i = 0; i < s->ncolumns; i++)
			if (s->columns[i].item)
				l.cells[REPORT_CSV_ITEM] =
				    report_key(r, &row->cells[i]);
		for (size_t i = 0; i < s->ncolumns; i++) {
			l.cells[REPORT_CSV_FIGURE] = s->columns[i].name;
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

	l.cells[REPORT_CSV_LO] = lo;
	for (size_t i = 0; i < h->n; i++) {
		if (!r->options.zeros)
			i = h->next(h->of, i);
		if (i >= h->n)
			break;
		tel_bucket b = h->bucket(h->of, i);
		(void)format_edge(b.lo, s->decimals, "", 1, lo);
		(void)format_edge(b.hi, s->decimals, "", 1, hi);
		l.cells[REPORT_CSV_HI] = b.open ? "" : hi;
		report_csv_put_line(r, &l,
		    format_count(int128_u64(b.count), 1, count));
	}
}

/* The value of a quantile lies in [lo, hi]: one end may be open. */
static void
put_quantiles(struct report *r, const struct report_section *s)
{
	char name[FORMAT_TEXT], value[FORMAT_TEXT];

	for (size_t i = 0; i < s->nquantiles; i++) {
		const struct report_quantile *q = &s->quantiles[i];
		struct line l = line_of(r, s, "quantile");

		(void)format_edge(q->is.value, s->decimals, "", 1, value);
		l.cells[REPORT_CSV_ITEM] = format_quantile(q->share, name);
		if (q->is.is == TEL_QUANTILE_AT_LEAST)
			l.cells[REPORT_CSV_LO] = value;
		else if (q->is.is == TEL_QUANTILE_BELOW)
			l.cells[REPORT_CSV_HI] = value;
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
		l.cells[REPORT_CSV_ITEM] = report_key(r, &bar.label);
		report_csv_put_line(r, &l,
		    format_count(int128_u64(bar.count), 1, count));
		report_release(r, mark);
	}
	l.cells[REPORT_CSV_ITEM] = "";
	l.cells[REPORT_CSV_FIGURE] = "other";
	if (shown < bars->n)
		report_csv_put_line(r, &l,
		    format_count(report_bars_rest(r, bars), 1, count));
}

static void
report_csv_put_section(struct report *r, const struct report_section *s)
{
	struct line l = line_of(r, s, "");

	for (size_t i = 0; i < s->nfacts; i++) {
		if (!report_field_shown(r, &s->facts[i].field))
			continue;
		l.cells[REPORT_CSV_FIGURE] = s->facts[i].field.name;
		if (s->facts[i].item != NULL)
			l.cells[REPORT_CSV_ITEM] = s->facts[i].item;
		report_csv_put_value(r, &l, &s->facts[i].value);
		l.cells[REPORT_CSV_ITEM] = s->item != NULL ? s->item : "";
	}
	for (size_t i = 0; i < s->nnotes; i++) {
		l.cells[REPORT_CSV_FIGURE] = s->notes[i].name;
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
	for (size_t i = 0; i < r->tool->ncsv; i++) {
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
