/* SPDX-License-Identifier: BSD-2-Clause */
/* Text: a report for people, on a terminal. */
#include "text_bars.h"

#include <string.h>
#include "common/page.h"

/* Emphasis, where the page has colours. */
static void
put_bold(const struct report *r, int on)
{
	if (r->options.color)
		put(r->out, on ? "\033[1m" : "\033[0m");
}

/* A line of text, escaped, cut at the end of the page. */
static void
report_text_put_line(const struct report *r, const char *text)
{
	char line[1024];
	size_t room = r->options.width - 2;

	if (r->options.raw || room >= sizeof(line))
		room = sizeof(line) - 1;
	putf(r->out, "  %s\n", page_escape(line, room, text));
}

static void
put_heading(struct report *r, const struct report_section *s)
{
	const char *title = report_title(r, s);
	char line[1024];

	if (s->apart && tel_output_bytes(r->out) > 0)
		put(r->out, "\n");
	if (title[0] == '\0')
		return;
	put_bold(r, 1);
	put(r->out, page_escape(line, sizeof(line) - 1, title));
	put_bold(r, 0);
	if (s->class != NULL)
		putf(r->out, "  (%s)", s->class);
	if (s->unit[0] != '\0')
		putf(r->out, "  %s", page_escape(line, 24, s->unit));
	put(r->out, "\n");
	if (s->definition[0] != '\0')
		report_text_put_line(r, s->definition);
}

/* A value as it is shown, escaped and cut. */
static const char *
report_text_value_text(struct report *r, const struct report_field *f,
    const struct report_value *v)
{
	const char *text = report_show(r, f, v);
	unsigned most = f->most;
	char line[1024];

	if (v->type != REPORT_STRING)
		return text;
	/* it is that of a page of 80 columns */
	if (r->options.width > 80)
		most = most * r->options.width / 80;
	if (most == 0 || most >= sizeof(line) || r->options.raw)
		most = sizeof(line) - 1;
	return report_text(r, "%s", page_shorten(line, most, text));
}

/* --------------------------------------------------------------- facts */

/* A line of facts, broken where the page ends. */
struct facts {
	struct report *report;
	unsigned column, gap, indent;
};

static void
put_fact(struct facts *f, const char *label, const char *value)
{
	tel_output *out = f->report->out;
	const char *between = label[0] != '\0' ? " " : "";
	unsigned length =
	    (unsigned)(strlen(label) + strlen(between) + strlen(value));

	if (f->column > f->indent &&
	    f->column + f->gap + length > f->report->options.width) {
		put(out, "\n");
		f->column = 0;
	}
	if (f->column == 0)
		f->gap = f->indent;
	put_many(out, " ", f->gap);
	put(out, label);
	put(out, between);
	put(out, value);
	f->column += f->gap + length;
	f->gap = 2;
}

static void
report_text_put_facts(struct report *r, const struct report_section *s)
{
	struct facts f = { r, (unsigned)strlen(s->lead), 1, s->indent };
	char lead[512];
	size_t i, n = 0;

	(void)page_escape(lead, sizeof(lead) - 1, s->lead);
	if (s->lead_strong) {
		put_bold(r, 1);
		put(r->out, lead);
		put_bold(r, 0);
		f.column = (unsigned)strlen(lead);
		f.gap = 2;
	} else {
		put(r->out, lead);
	}
	for (i = 0; i < s->nfacts; i++) {
		const struct report_field *field = &s->facts[i].field;
		const char *label = report_field_label(field);

		if (!report_field_shown(r, field))
			continue;
		put_fact(&f, label,
		    report_text_value_text(r, field, &s->facts[i].value));
		n++;
	}
	if (n > 0 || s->lead[0] != '\0')
		put(r->out, "\n");
}

static void
report_text_put_quantiles(struct report *r, const struct report_section *s)
{
	static const char *const signs[] = { "<=", "<", ">=" };
	struct facts f = { r, 0, 1, 2 };
	char name[FORMAT_TEXT], value[FORMAT_TEXT];
	size_t i;

	for (i = 0; i < s->nquantiles; i++) {
		const struct report_quantile *q = &s->quantiles[i];

		(void)format_edge(q->is.value, s->decimals, s->unit,
		    r->options.raw, value);
		put_fact(&f, format_quantile(q->share, name),
		    report_text(r, "%s %s", signs[q->is.is], value));
	}
	if (i > 0)
		put(r->out, "\n");
}

static void
report_text_put_lines(struct report *r, const struct report_section *s)
{
	unsigned before = s->indent + s->label_width;
	const struct report_line *line;
	size_t n;

	for (line = s->lines; line != NULL; line = line->next) {
		const char *text = line->text;

		putf(r->out, "%*s%-*s", (int)s->indent, "", (int)s->label_width,
		    line->label);
		for (; *text != '\0'; text += n) {
			n = strcspn(text, "\n");
			put_ascii(r->out, text, n);
			if (text[n] == '\n')
				putf(r->out, "\n%*s", (int)before, "");
			n += text[n] == '\n';
		}
		put(r->out, "\n");
	}
}

/* -------------------------------------------------------------- tables */

struct table {
	struct report *report;
	const struct report_section *section;
	unsigned widths[REPORT_COLUMNS_MAX];     /* 0: it is not shown */
	unsigned char known[REPORT_COLUMNS_MAX]; /* a cell has a value */
	int put; /* nonzero: put rows; 0: measure them */
};

/* Columns of a fixed width have their gap in it. */
static unsigned
report_text_width_of(const struct report_field *f, const char *text)
{
	unsigned length = (unsigned)strlen(text);

	if (f->width == 0)
		return length;
	return length + 1 > f->width ? length + 1 : f->width;
}

static void
measure_row(struct table *t, const char *const *texts)
{
	for (size_t i = 0; i < t->section->ncolumns; i++) {
		const struct report_field *f = &t->section->columns[i];

		if (texts[i] == NULL || !report_field_shown(t->report, f))
			continue;
		unsigned width = report_text_width_of(f, texts[i]);
		if (width > t->widths[i])
			t->widths[i] = width;
	}
}

/* A row, up to its last cell; texts are NULL where there is none. */
static void
report_text_put_row(struct table *t, unsigned indent, const char *const *texts,
    const char *remark)
{
	tel_output *out = t->report->out;
	size_t i, end = t->section->ncolumns;
	int first = 1;

	while (end > 0 && (texts[end - 1] == NULL || texts[end - 1][0] == '\0'))
		end--;
	putf(out, "%*s", (int)indent, "");
	for (i = 0; i < end; i++) {
		const struct report_field *f = &t->section->columns[i];
		int width = (int)t->widths[i];

		if (width == 0)
			continue;
		if (!first && f->width == 0)
			put(out, "  ");
		/* what has the margin for its own begins there */
		if (first && indent == 0)
			width += (int)t->section->indent;
		first = 0;
		/* nothing is padded at the end of a line */
		if (f->left && i + 1 == end && remark == NULL)
			width = 0;
		putf(out, "%*s", f->left ? -width : width,
		    texts[i] != NULL ? texts[i] : "");
	}
	if (remark != NULL)
		putf(out, "  %s", remark);
	put(out, "\n");
}

static void
each_row(struct table *t)
{
	const struct report_section *s = t->section;
	struct report_mark mark = report_mark(t->report);
	const char *texts[REPORT_COLUMNS_MAX], *remark;
	const struct report_row *row;

	for (row = s->rows; row != NULL; row = row->next) {
		if (!(row->shown & REPORT_TEXT))
			continue;
		remark = NULL;
		for (size_t i = 0; i < s->ncolumns; i++) {
			const struct report_value *v = &row->cells[i];

			texts[i] = NULL;
			if (v->type == REPORT_REMARK)
				remark = v->as.string;
			else if (v->type != REPORT_ABSENT)
				texts[i] = report_text_value_text(t->report,
				    &s->columns[i], v);
			t->known[i] |= v->type != REPORT_ABSENT &&
			    v->type != REPORT_UNKNOWN;
		}
		if (t->put)
			report_text_put_row(t, s->indent, texts, remark);
		else
			measure_row(t, texts);
		report_release(t->report, mark);
	}
}

/* Leaves out the least needed columns when the page is too narrow. */
static void
report_text_narrow(struct table *t)
{
	const struct report_field *columns = t->section->columns;
	unsigned used = t->section->indent;
	size_t i, n = t->section->ncolumns;

	for (i = 0; i < n; i++)
		if (t->widths[i] > 0)
			used += t->widths[i] + (columns[i].width == 0 ? 2 : 0);
	for (int spare = 9; spare > 0; spare--)
		for (i = 0; i < n && used > t->report->options.width + 2; i++) {
			if (columns[i].spare != spare)
				continue;
			if (t->widths[i] > 0)
				used -= t->widths[i] + 2;
			t->widths[i] = 0;
		}
}

static void
put_table(struct report *r, const struct report_section *s)
{
	const char *heads[REPORT_COLUMNS_MAX];
	struct table t = { 0 };

	t.report = r;
	t.section = s;
	for (size_t i = 0; i < s->ncolumns; i++)
		heads[i] = report_field_label(&s->columns[i]);
	measure_row(&t, heads);
	each_row(&t);
	for (size_t i = 0; s->sparse && s->rows != NULL && i < s->ncolumns; i++)
		if (!t.known[i])
			t.widths[i] = 0;
	if (!r->options.raw)
		report_text_narrow(&t);
	put_bold(r, 1);
	report_text_put_row(&t, 0, heads, NULL);
	put_bold(r, 0);
	t.put = 1;
	each_row(&t);
}

/* ------------------------------------------------------------ sections */

/* Nonzero for a table without a row of text. */
static int
is_empty(const struct report_section *s)
{
	const struct report_row *row = s->rows;

	while (row != NULL && !(row->shown & REPORT_TEXT))
		row = row->next;
	return s->ncolumns > 0 && row == NULL;
}

static void
report_text_put_section(struct report *r, const struct report_section *s)
{
	if (s->sparse && is_empty(s))
		return;
	put_heading(r, s);
	report_text_put_facts(r, s);
	report_text_put_lines(r, s);
	if (s->ncolumns > 0)
		put_table(r, s);
	for (size_t i = 0; i < s->nnotes; i++)
		if (s->notes[i].shown & REPORT_TEXT)
			report_text_put_line(r, s->notes[i].text);
	if (s->histogram != NULL && !s->histogram->hidden)
		text_histogram(r, s);
	if (s->bars != NULL)
		text_bars(r, s);
	report_text_put_quantiles(r, s);
}

const struct report_format report_as_text = { .name = "text",
	.is = REPORT_TEXT,
	.section = report_text_put_section };
