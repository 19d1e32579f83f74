/* SPDX-License-Identifier: BSD-2-Clause */
/* JSON: a report as objects, one a line: of each section, or of each row. */
#include "report.h"

#include "common/page.h"

/* The last integer that each reader of JSON takes as it is. */
#define EXACT ((int64_t)1 << 53)

/* A number; as a string where a double would spoil it. */
static void
report_json_put_decimal(struct report *r, tel_int128 v, unsigned decimals)
{
	char text[FORMAT_TEXT];
	int plain = int128_is_i64(v) && (int64_t)v.low <= EXACT &&
	    (int64_t)v.low >= -EXACT;

	putf(r->out, "%s%s%s", plain ? "" : "\"",
	    format_decimal(v, decimals, 1, text), plain ? "" : "\"");
}

static void
put_integer(struct report *r, tel_int128 v)
{
	report_json_put_decimal(r, v, 0);
}

/* A value; an unknown one is null. */
static void
report_json_put_value(struct report *r, const struct report_value *v)
{
	char text[FORMAT_TEXT];

	switch (v->type) {
	case REPORT_ABSENT:
	case REPORT_UNKNOWN: put(r->out, "null"); break;
	case REPORT_INTEGER:
		report_json_put_decimal(r, v->as.integer, v->decimals);
		break;
	case REPORT_REAL: put(r->out, format_exact(v->as.real, text)); break;
	case REPORT_BOOLEAN:
		put(r->out, v->as.boolean ? "true" : "false");
		break;
	case REPORT_STRING:
	case REPORT_REMARK: put_json(r->out, v->as.string); break;
	}
}

static void
report_json_put_name(struct report *r, const char *before, const char *name)
{
	put(r->out, before);
	put_json(r->out, name);
	put(r->out, ":");
}

static void
report_json_put_string(struct report *r, const char *name, const char *text)
{
	report_json_put_name(r, ",", name);
	put_json(r->out, text);
}

static void
put_edge(struct report *r, const char *before, const char *name, int64_t v,
    unsigned decimals)
{
	report_json_put_name(r, before, name);
	report_json_put_decimal(r, int128_i64(v), decimals);
}

static void
put_count(struct report *r, const char *name, tel_int128 v)
{
	report_json_put_name(r, ",", name);
	put_integer(r, v);
}

/* A member that is a figure; an unknown one is left out. */
static void
put_figure(struct report *r, const struct report_field *f,
    const struct report_value *v)
{
	if (!report_field_shown(r, f) || v->type == REPORT_ABSENT ||
	    v->type == REPORT_UNKNOWN)
		return;
	report_json_put_name(r, ",", f->name);
	report_json_put_value(r, v);
}

/* What each object begins with. */
static void
report_json_open_object(struct report *r, const struct report_section *s)
{
	put(r->out, "{");
	if (r->tool->json_time) {
		put(r->out, "\"t\":");
		if (r->time_known)
			put_integer(r, int128_u64(r->time));
		else
			put(r->out, "null");
		put(r->out, ",");
	}
	put(r->out, "\"type\":");
	put_json(r->out, s->type);
	if (s->name != NULL)
		report_json_put_string(r, r->tool->json_subject, s->name);
	if (s->item != NULL)
		report_json_put_string(r, s->item_name, s->item);
}

static void
put_groups(struct report *r, const struct report_section *s)
{
	if (s->overflow_group)
		report_json_put_string(r, "group", "<overflow>");
	for (size_t i = 0; i < s->ngroups && !s->overflow_group; i++) {
		put(r->out, i == 0 ? ",\"group\":{" : "");
		report_json_put_name(r, i == 0 ? "" : ",",
		    s->groups[i].field.name);
		report_json_put_value(r, &s->groups[i].value);
		put(r->out, i + 1 == s->ngroups ? "}" : "");
	}
}

static void
report_json_put_rows(struct report *r, const struct report_section *s)
{
	const struct report_row *row;

	for (row = s->rows; row != NULL; row = row->next) {
		if (!(row->shown & REPORT_JSON))
			continue;
		report_json_open_object(r, s);
		put_groups(r, s);
		for (size_t i = 0; i < s->ncolumns; i++)
			put_figure(r, &s->columns[i], &row->cells[i]);
		put(r->out, "}\n");
	}
}

static void
put_parameters(struct report *r, const struct report_section *s)
{
	size_t i;

	for (i = 0; i < s->nparameters; i++) {
		put(r->out, i == 0 ? ",\"parameters\":{" : "");
		report_json_put_name(r, i == 0 ? "" : ",",
		    s->parameters[i].field.name);
		report_json_put_value(r, &s->parameters[i].value);
	}
	put(r->out, i > 0 ? "}" : "");
}

static void
report_json_put_histogram(struct report *r, const struct report_section *s)
{
	const struct report_histogram *h = s->histogram;
	const char *before = "{";
	size_t i;

	for (i = 0; i < h->nsegments; i++) {
		put(r->out, i == 0 ? ",\"segments\":[" : ",");
		put_edge(r, "{", "lo", h->segments[i].lo, s->decimals);
		put_edge(r, ",", "hi", h->segments[i].hi, s->decimals);
		put_edge(r, ",", "width", h->segments[i].width, s->decimals);
		put(r->out, "}");
	}
	put(r->out, i > 0 ? "],\"buckets\":[" : ",\"buckets\":[");
	for (i = 0; i < h->n; i++, before = ",{") {
		if (!r->options.zeros)
			i = h->next(h->of, i);
		if (i >= h->n)
			break;
		tel_bucket b = h->bucket(h->of, i);
		put_edge(r, before, "lo", b.lo, s->decimals);
		if (!b.open)
			put_edge(r, ",", "hi", b.hi, s->decimals);
		put_count(r, "count", int128_u64(b.count));
		put(r->out, "}");
	}
	put(r->out, "]");
}

static void
report_json_put_quantiles(struct report *r, const struct report_section *s)
{
	static const char *const names[] = { "at_most", "below", "at_least" };
	char text[FORMAT_TEXT];

	put(r->out, ",\"quantiles\":[");
	for (size_t i = 0; i < s->nquantiles; i++) {
		const struct report_quantile *q = &s->quantiles[i];

		putf(r->out, "%s{\"q\":%s", i == 0 ? "" : ",",
		    format_exact((double)q->share / 1e9, text));
		put_edge(r, ",", names[q->is.is], q->is.value, s->decimals);
		put(r->out, "}");
	}
	put(r->out, "]");
}

static void
report_json_put_bars(struct report *r, const struct report_bars *bars)
{
	size_t i, shown = report_rows(r, bars->n);
	struct report_mark mark = report_mark(r);
	struct report_bar bar;

	put(r->out, ",\"buckets\":[");
	for (i = 0; i < shown; i++) {
		bars->bar(r, bars->of, i, &bar);
		report_json_put_name(r, i == 0 ? "{" : ",{", "key");
		report_json_put_value(r, &bar.label);
		put_count(r, "count", int128_u64(bar.count));
		put_count(r, "updates", int128_u64(bar.updates));
		put(r->out, "}");
		report_release(r, mark);
	}
	put(r->out, "]");
	if (shown < bars->n)
		put_count(r, "other", report_bars_rest(r, bars));
}

static void
report_json_put_section(struct report *r, const struct report_section *s)
{
	if (s->ncolumns > 0) {
		report_json_put_rows(r, s);
		return;
	}
	report_json_open_object(r, s);
	put_groups(r, s);
	if (s->definition[0] != '\0')
		report_json_put_string(r, "definition", s->definition);
	if (s->unit[0] != '\0')
		report_json_put_string(r, "unit", s->unit);
	for (size_t i = 0; i < s->nfacts; i++)
		put_figure(r, &s->facts[i].field, &s->facts[i].value);
	for (size_t i = 0; i < s->nnotes; i++)
		if (s->notes[i].shown & REPORT_JSON) {
			report_json_put_name(r, ",", s->notes[i].name);
			put(r->out, "true");
		}
	put_parameters(r, s);
	if (s->histogram != NULL) {
		report_json_put_histogram(r, s);
		report_json_put_quantiles(r, s);
	}
	if (s->bars != NULL)
		report_json_put_bars(r, s->bars);
	put(r->out, "}\n");
}

const struct report_format report_as_json = { .name = "json",
	.is = REPORT_JSON,
	.section = report_json_put_section };
