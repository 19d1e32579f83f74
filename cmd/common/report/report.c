/* SPDX-License-Identifier: BSD-2-Clause */
/* The model of a report: its sections, their texts, and values as text. */
#include "report.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------- values */

struct report_value
report_int128(tel_int128 v)
{
	return report_decimal(v, 0);
}

struct report_value
report_decimal(tel_int128 v, unsigned decimals)
{
	return (
	    struct report_value){ REPORT_INTEGER, decimals, { .integer = v } };
}

struct report_value
report_count(uint64_t v)
{
	return report_int128(int128_u64(v));
}

struct report_value
report_real(double v)
{
	return (struct report_value){ REPORT_REAL, 0, { .real = v } };
}

struct report_value
report_boolean(int v)
{
	return (struct report_value){ REPORT_BOOLEAN, 0, { .boolean = v } };
}

struct report_value
report_string(const char *text)
{
	return (struct report_value){ REPORT_STRING, 0, { .string = text } };
}

struct report_value
report_optional(const char *text)
{
	struct report_value v = report_string(text);

	if (text[0] == '\0')
		v.type = REPORT_ABSENT;
	return v;
}

/* --------------------------------------------------------------- texts */

#define ARENA_SIZE 8192

/* Texts of a section: pieces of memory, the newest first. */
struct report_arena {
	struct report_arena *older;
	size_t used, size;
	_Alignas(max_align_t) char bytes[];
};

struct report_mark
report_mark(const struct report *r)
{
	struct report_mark mark = { r->arena, 0 };

	if (r->arena != NULL)
		mark.used = r->arena->used;
	return mark;
}

void
report_release(struct report *r, struct report_mark mark)
{
	while (r->arena != mark.arena) {
		struct report_arena *older = r->arena->older;

		/* one is kept for the rows to come */
		if (older == mark.arena && r->arena->size == ARENA_SIZE) {
			r->arena->used = 0;
			return;
		}
		free(r->arena);
		r->arena = older;
	}
	if (r->arena != NULL)
		r->arena->used = mark.used;
}

/* Memory of a section, for any type. */
static void *
report_allocate(struct report *r, size_t size)
{
	const size_t unit = _Alignof(max_align_t);
	struct report_arena *a = r->arena;

	size = (size + unit - 1) / unit * unit;
	if (a == NULL || size > a->size - a->used) {
		size_t room = size > ARENA_SIZE ? size : ARENA_SIZE;

		a = malloc(sizeof(*a) + room);
		if (a == NULL) {
			r->failed = 1;
			return NULL;
		}
		a->older = r->arena;
		a->used = 0;
		a->size = room;
		r->arena = a;
	}
	char *at = a->bytes + a->used;
	a->used += size;
	return at;
}

__attribute__((format(printf, 2, 0))) static const char *
format_text(struct report *r, const char *format, va_list ap)
{
	size_t room = r->arena != NULL ? r->arena->size - r->arena->used : 0;
	char *free_room = room > 0 ? r->arena->bytes + r->arena->used : NULL;
	va_list again;

	/* most texts fit, and are formatted once */
	va_copy(again, ap);
	int n = vsnprintf(free_room, room, format, again);
	va_end(again);
	char *text = n < 0 ? NULL : report_allocate(r, (size_t)n + 1);
	if (text != NULL && text != free_room)
		(void)vsnprintf(text, (size_t)n + 1, format, ap);
	return text != NULL ? text : "";
}

const char *
report_text(struct report *r, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	const char *text = format_text(r, format, ap);
	va_end(ap);
	return text;
}

const char *
report_part(struct report *r, size_t shown, size_t n)
{
	char part[FORMAT_TEXT], all[FORMAT_TEXT];

	return report_text(r, "%s of %s",
	    format_count(int128_u64(shown), r->options.raw, part),
	    format_count(int128_u64(n), r->options.raw, all));
}

/* ------------------------------------------------------------ sections */

int
report_is(const struct report *r, unsigned outputs)
{
	return (r->format->is & outputs) != 0;
}

size_t
report_rows(const struct report *r, size_t n)
{
	uint64_t top = r->options.top;

	if (top == 0)
		top = r->format->rows_max;
	return top > 0 && top < n ? (size_t)top : n;
}

struct report_section *
report_section(struct report *r, unsigned shown, const char *type)
{
	struct report_section *s = &r->section;

	/* the lists behind it are as long as their counts say */
	memset(s, 0, offsetof(struct report_section, groups));
	s->shown = shown;
	s->type = type;
	s->last_line = &s->lines;
	s->last_row = &s->rows;
	s->item_name = "item";
	s->definition = "";
	s->unit = "";
	s->lead = "";
	return s;
}

void
report_put(struct report *r)
{
	const struct report_mark none = { NULL, 0 };
	const struct report_section *s = &r->section;

	if (r->measuring && report_is(r, s->shown))
		r->height += r->format->measure(r, s);
	else if (report_is(r, s->shown))
		r->format->section(r, s);
	report_release(r, none);
}

struct report_fact *
report_fact(struct report *r, const struct report_field *field,
    struct report_value value)
{
	struct report_section *s = &r->section;
	struct report_fact *f = &s->facts[s->nfacts];

	/* the last one is written over rather than what follows the list */
	if (s->nfacts + 1 < REPORT_FACTS_MAX)
		s->nfacts++;
	f->field = *field;
	f->value = value;
	f->item = NULL;
	return f;
}

void
report_note(struct report *r, unsigned shown, const char *name,
    const char *text)
{
	struct report_section *s = &r->section;

	if (s->nnotes < REPORT_NOTES_MAX)
		s->notes[s->nnotes++] =
		    (struct report_note){ name, text, shown };
}

void
report_data(struct report *r, const char *name, struct report_value value)
{
	struct report_field f = { .name = name, .shown = REPORT_DATA };

	(void)report_fact(r, &f, value);
}

void
report_say(struct report *r, unsigned shown, const char *label,
    const char *format, ...)
{
	struct report_field f = { .name = label, .shown = shown };
	va_list ap;

	va_start(ap, format);
	(void)report_fact(r, &f, report_string(format_text(r, format, ap)));
	va_end(ap);
}

void
report_line(struct report *r, const char *label, const char *format, ...)
{
	struct report_section *s = &r->section;
	struct report_line *line = report_allocate(r, sizeof(*line));
	va_list ap;

	if (line == NULL)
		return;
	va_start(ap, format);
	line->label = report_text(r, "%s", label);
	line->text = format_text(r, format, ap);
	line->next = NULL;
	va_end(ap);
	*s->last_line = line;
	s->last_line = &line->next;
}

struct report_field *
report_column(struct report *r, const char *name, const char *label,
    enum report_notation notation, unsigned width)
{
	struct report_section *s = &r->section;
	struct report_field *f = &s->columns[s->ncolumns];

	if (s->ncolumns + 1 < REPORT_COLUMNS_MAX)
		s->ncolumns++;
	memset(f, 0, sizeof(*f));
	f->name = name;
	f->label = label;
	f->notation = notation;
	f->width = width;
	return f;
}

void
report_row(struct report *r, unsigned shown)
{
	struct report_section *s = &r->section;
	size_t size = s->ncolumns * sizeof(s->row->cells[0]);

	s->row = report_allocate(r, sizeof(*s->row) + size);
	if (s->row == NULL)
		return;
	memset(s->row, 0, sizeof(*s->row) + size);
	s->row->shown = shown;
	*s->last_row = s->row;
	s->last_row = &s->row->next;
}

void
report_cell(struct report *r, struct report_value value)
{
	struct report_row *row = r->section.row;

	if (row != NULL && row->n < r->section.ncolumns)
		row->cells[row->n++] = value;
}

void
report_record(struct report *r, unsigned shown, const char *type,
    struct report_figure item, const struct report_figure *figures, size_t n)
{
	(void)report_section(r, shown, type);
	report_column(r, item.name, NULL, REPORT_PLAIN, 0)->item = 1;
	for (size_t i = 0; i < n; i++)
		(void)report_column(r, figures[i].name, NULL, REPORT_PLAIN, 0);
	report_row(r, shown);
	report_cell(r, item.value);
	for (size_t i = 0; i < n; i++)
		report_cell(r, figures[i].value);
	report_put(r);
}

void
report_write(struct report *r, void (*fill)(struct report *r, void *arg),
    void *arg)
{
	const struct report_format *f = r->format;

	if (!r->begun && f->begin != NULL)
		f->begin(r);
	r->begun = 1;
	if (f->measure != NULL) {
		r->measuring = 1;
		r->height = 0;
		fill(r, arg);
		r->measuring = 0;
	}
	if (f->open != NULL)
		f->open(r);
	fill(r, arg);
	if (f->close != NULL)
		f->close(r);
}

void
report_flush(struct report *r)
{
	if (r->table != NULL && tel_table_flush(r->table) == TEL_ENOMEM)
		r->failed = 1;
}

void
report_free(struct report *r)
{
	if (r->begun && r->format->end != NULL)
		r->format->end(r);
	if (r->table != NULL && tel_table_finish(r->table) == TEL_ENOMEM)
		r->failed = 1;
	tel_table_free(r->table);
	r->table = NULL;
	while (r->arena != NULL) {
		struct report_arena *older = r->arena->older;

		free(r->arena);
		r->arena = older;
	}
}

/* ------------------------------------------------------ values as text */

int
report_field_shown(const struct report *r, const struct report_field *f)
{
	return f->shown == 0 || report_is(r, f->shown);
}

const char *
report_field_label(const struct report_field *f)
{
	return f->label != NULL ? f->label : f->name;
}

static const char *
show_real(struct report *r, const struct report_field *f, double v, char *text)
{
	int raw = r->options.raw;

	switch (f->notation) {
	case REPORT_FIXED: return format_fixed(v, f->decimals, raw, text);
	case REPORT_PRECISE:
		if (raw)
			break;
		(void)snprintf(text, FORMAT_TEXT, "%.6g", v);
		return text;
	case REPORT_PERCENT:
		(void)snprintf(text, FORMAT_TEXT, "%.*f%%", f->decimals,
		    v * 100);
		return text;
	case REPORT_SIZE:
		if (format_size(v, text)[0] == '\0')
			(void)snprintf(text, FORMAT_TEXT, "%.0f B", v);
		return text;
	case REPORT_SHORT:
		(void)snprintf(text, FORMAT_TEXT, "%.*f", v < 1000, v);
		return text;
	case REPORT_GROUPED:
	case REPORT_WITH_UNIT:
	case REPORT_ROUNDED:
	case REPORT_PLAIN: break;
	}
	return format_double(v, f->unit != NULL ? f->unit : "", raw, text);
}

/* A number with decimals; of units, only words mean the same of parts. */
static const char *
show_decimal(struct report *r, const struct report_field *f,
    const struct report_value *v)
{
	int raw = r->options.raw || f->notation == REPORT_PLAIN;
	const char *unit = f->unit != NULL && !raw ? f->unit : "";
	char text[FORMAT_TEXT];

	(void)format_decimal(v->as.integer, v->decimals, raw, text);
	return report_text(r, "%s%s%s", text, unit[0] != '\0' ? " " : "", unit);
}

const char *
report_show(struct report *r, const struct report_field *f,
    const struct report_value *v)
{
	char text[FORMAT_TEXT];
	int raw = r->options.raw;

	switch (v->type) {
	case REPORT_ABSENT: return "";
	case REPORT_UNKNOWN: return "-";
	case REPORT_BOOLEAN: return v->as.boolean ? "true" : "false";
	case REPORT_STRING:
	case REPORT_REMARK: return v->as.string;
	case REPORT_REAL:
		return report_text(r, "%s", show_real(r, f, v->as.real, text));
	case REPORT_INTEGER: break;
	}
	if (v->decimals > 0)
		return show_decimal(r, f, v);
	if (f->notation == REPORT_WITH_UNIT)
		(void)format_value(v->as.integer,
		    f->unit != NULL ? f->unit : "", raw, text);
	else if (f->notation == REPORT_GROUPED || f->notation == REPORT_PLAIN)
		(void)format_count(v->as.integer,
		    raw || f->notation == REPORT_PLAIN, text);
	else
		(void)show_real(r, f, tel_int128_double(v->as.integer), text);
	return report_text(r, "%s", text);
}

const char *
report_key(struct report *r, const struct report_value *v)
{
	static const struct report_field plain = { .notation = REPORT_PLAIN };

	return report_show(r, &plain, v);
}

const char *
report_group(struct report *r, const struct report_section *s)
{
	const char *text = "";

	if (s->overflow_group)
		return "<overflow>";
	for (size_t i = 0; i < s->ngroups; i++)
		text = report_text(r, "%s%s%s=%s", text, i == 0 ? "" : ",",
		    s->groups[i].field.name,
		    report_key(r, &s->groups[i].value));
	return text;
}

const char *
report_title(struct report *r, const struct report_section *s)
{
	if (s->title != NULL)
		return s->title;
	if (s->ngroups == 0)
		return s->name != NULL ? s->name : "";
	return report_text(r, "%s{%s}", s->name, report_group(r, s));
}

tel_int128
report_bars_rest(struct report *r, const struct report_bars *bars)
{
	size_t i = report_rows(r, bars->n);
	struct report_mark mark = report_mark(r);
	tel_int128 rest = { 0, 0 };
	struct report_bar bar;

	for (; i < bars->n; i++) {
		bars->bar(r, bars->of, i, &bar);
		(void)int128_add(&rest, int128_u64(bar.count));
		report_release(r, mark);
	}
	return rest;
}
