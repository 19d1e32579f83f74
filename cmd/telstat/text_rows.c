/* SPDX-License-Identifier: BSD-2-Clause */
/* Text: the tables with bars, of buckets and of keys. */
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So many empty rows in a row, and more, are folded. */
#define FOLD 4
/* A bar has at least this many columns, and a label at most that many. */
#define BAR_MIN 10
#define LABEL_MAX 280

enum row_is { ROW_BUCKET, ROW_UNDER, ROW_OVER, ROW_FOLD, ROW_KNEE };

/* A row of the table. */
struct row {
	enum row_is is;
	size_t bucket;
};

struct table {
	const struct show *show;
	const tel_stat *stat;
	struct row *rows;
	size_t n, room;
	int failed;
	int widths;   /* buckets differ in width */
	double scale; /* of the longest bar */
	unsigned label_columns, width_columns, count_columns;
};

static void
add_row(struct table *t, enum row_is is, size_t bucket)
{
	if (t->n == t->room) {
		size_t room = t->room == 0 ? 64 : 2 * t->room;
		struct row *rows = realloc(t->rows, room * sizeof(*rows));

		if (rows == NULL) {
			t->failed = 1;
			return;
		}
		t->rows = rows;
		t->room = room;
	}
	t->rows[t->n].is = is;
	t->rows[t->n++].bucket = bucket;
}

static tel_bucket
bucket_of(const struct table *t, size_t i)
{
	tel_bucket b = { 0, 1, 0, 0, 0 };

	(void)tel_stat_bucket(t->stat, i, &b);
	return b;
}

/* Adds empty buckets from first up to end, which are of one range. */
static void
add_empty(struct table *t, size_t first, size_t end)
{
	if (end - first >= FOLD && !t->show->options->zeros) {
		add_row(t, ROW_BUCKET, first);
		add_row(t, ROW_FOLD, 0);
		add_row(t, ROW_BUCKET, end - 1);
		return;
	}
	for (; first < end; first++)
		add_row(t, ROW_BUCKET, first);
}

/* Chooses the rows: of buckets in use, and one on each side of them. */
static void
choose_rows(struct table *t)
{
	struct view_span span = view_span(t->stat);
	int zeros = t->show->options->zeros;
	size_t i = 0, end = 0, next, knee;
	unsigned range;

	if (span.first <= span.last) {
		i = span.first - (span.first > 0);
		end = span.last + 1 < span.count ? span.last + 2 : span.count;
	}
	if (zeros) {
		i = 0;
		end = span.count;
	}
	if (view_nonzero(t->stat, TEL_NUMBER_UNDER))
		add_row(t, ROW_UNDER, 0);
	for (range = bucket_of(t, i).range; i < end && !t->failed; i = next) {
		if (bucket_of(t, i).range != range) {
			range = bucket_of(t, i).range;
			if (tel_stat_class(t->stat) == TEL_CLASS_SPLIT)
				add_row(t, ROW_KNEE, i);
		}
		next = tel_stat_next_bucket(t->stat, i);
		if (next == i) {
			add_row(t, ROW_BUCKET, i);
			next++;
			continue;
		}
		if (next > end)
			next = end;
		for (knee = i; knee < next; knee++)
			if (bucket_of(t, knee).range != range)
				next = knee;
		add_empty(t, i, next);
	}
	if (view_nonzero(t->stat, TEL_NUMBER_OVER))
		add_row(t, ROW_OVER, span.count - 1);
}

/* The width of a bucket; wide ones do not fit 64 bits with a sign. */
static uint64_t
width_of(const tel_bucket *b)
{
	return (uint64_t)b->hi - (uint64_t)b->lo;
}

/* The edges of a row, in brackets; buffer has room for two figures. */
static void
label_row(const struct table *t, const struct row *row, char *buffer)
{
	const char *unit = tel_stat_unit(t->stat);
	int raw = t->show->options->raw;
	tel_bucket b = bucket_of(t, row->bucket);
	char lo[FIGURE_TEXT], hi[FIGURE_TEXT];

	(void)figure_edge(b.lo, unit, raw, lo);
	(void)figure_edge(b.hi, unit, raw, hi);
	buffer[0] = '\0';
	if (row->is == ROW_UNDER)
		(void)snprintf(buffer, LABEL_MAX, "(-inf, %s)", lo);
	else if (row->is == ROW_OVER)
		(void)snprintf(buffer, LABEL_MAX, "[%s, +inf)", hi);
	else if (b.open)
		(void)snprintf(buffer, LABEL_MAX, "[%s, +inf)", lo);
	else if (width_of(&b) == 1)
		(void)snprintf(buffer, LABEL_MAX, "[%s]", lo);
	else
		(void)snprintf(buffer, LABEL_MAX, "[%s, %s)", lo, hi);
}

/* "w=512", for a bucket whose width is not that of all. */
static void
label_width(const struct table *t, const struct row *row, char *buffer)
{
	tel_bucket b = bucket_of(t, row->bucket);

	buffer[0] = '\0';
	if (row->is != ROW_BUCKET || b.open || width_of(&b) > INT64_MAX)
		return;
	memcpy(buffer, "w=", 3);
	(void)figure_edge((int64_t)width_of(&b), tel_stat_unit(t->stat),
	    t->show->options->raw, buffer + 2);
}

static tel_int128
count_row(const struct table *t, const struct row *row)
{
	if (row->is == ROW_UNDER)
		return view_number(t->stat, TEL_NUMBER_UNDER);
	if (row->is == ROW_OVER)
		return view_number(t->stat, TEL_NUMBER_OVER);
	return figure_int128_of(bucket_of(t, row->bucket).count);
}

/* What the bar of a row is of: its count, or the same over its width. */
static double
weigh_row(const struct table *t, const struct row *row)
{
	tel_bucket b = bucket_of(t, row->bucket);
	double count = tel_int128_double(count_row(t, row));

	if (!t->show->options->density)
		return count;
	/* what has no end has no density */
	if (row->is != ROW_BUCKET || b.open)
		return 0;
	return count / (double)width_of(&b);
}

static void
widen(unsigned *columns, const char *text)
{
	size_t n = strlen(text);

	if (n > *columns)
		*columns = (unsigned)n;
}

/* Finds out how wide the columns must be, and the longest bar. */
static void
measure(struct table *t)
{
	char label[LABEL_MAX], figure[FIGURE_TEXT + 2];
	uint64_t width = 0;
	size_t i;

	for (i = 0; i < t->n; i++) {
		const struct row *row = &t->rows[i];
		tel_bucket b = bucket_of(t, row->bucket);

		if (row->is == ROW_FOLD || row->is == ROW_KNEE)
			continue;
		label_row(t, row, label);
		widen(&t->label_columns, label);
		label_width(t, row, figure);
		widen(&t->width_columns, figure);
		widen(&t->count_columns,
		    figure_count(count_row(t, row), t->show->options->raw,
		        figure));
		if (weigh_row(t, row) > t->scale)
			t->scale = weigh_row(t, row);
		if (row->is != ROW_BUCKET || b.open)
			continue;
		t->widths |= width != 0 && width_of(&b) != width;
		width = width_of(&b);
	}
	if (!t->widths)
		t->width_columns = 0;
}

/* The columns that are left for bars when so many are taken. */
static unsigned
bar_columns(const struct show *show, unsigned taken)
{
	/* two more for the ends of the bar */
	return show->width < taken + 2 + BAR_MIN ? BAR_MIN :
	                                           show->width - taken - 2;
}

static void
put_knee(const struct table *t, const struct row *row)
{
	char figure[FIGURE_TEXT];

	putf(t->show->out, "  -- knee %s --\n",
	    figure_edge(bucket_of(t, row->bucket).lo, tel_stat_unit(t->stat),
	        t->show->options->raw, figure));
}

static void
put_rows(const struct table *t)
{
	const struct show *show = t->show;
	unsigned label_columns = t->label_columns < 14 ? 14 : t->label_columns;
	unsigned count_columns = t->count_columns < 7 ? 7 : t->count_columns;
	unsigned taken = 2 + label_columns + 2 + count_columns + 8 + 1;
	unsigned wide = taken + 1 + t->width_columns;
	/* the edges say it as well, where there is no room */
	int widths = t->widths && wide + 2 + BAR_MIN <= show->width;
	unsigned bar = bar_columns(show, widths ? wide : taken);
	double weight =
	    tel_int128_double(view_number(t->stat, TEL_NUMBER_WEIGHT));
	tel_int128 before = { 0, 0 };
	char label[LABEL_MAX], figure[FIGURE_TEXT + 2];
	size_t i;

	for (i = 0; i < t->n; i++) {
		const struct row *row = &t->rows[i];

		if (row->is == ROW_KNEE) {
			put_knee(t, row);
			continue;
		}
		put(show->out, "  ");
		if (row->is == ROW_FOLD) {
			putf(show->out, "%*s*\n", (int)label_columns / 2, "");
			continue;
		}
		label_row(t, row, label);
		text_right(show->out, label, label_columns);
		if (widths) {
			label_width(t, row, figure);
			put(show->out, " ");
			text_left(show->out, figure, t->width_columns);
		}
		put(show->out, "  ");
		text_right(show->out,
		    figure_count(count_row(t, row), show->options->raw, figure),
		    count_columns);
		before = figure_add(before, count_row(t, row));
		/* where some lie is not known, so neither are shares */
		if (view_defined(t->stat, TEL_NUMBER_UNDER) && weight > 0)
			putf(show->out, " %6.1f%% ",
			    tel_int128_double(before) / weight * 100);
		else
			putf(show->out, " %7s ", "");
		text_bar(show, t->scale > 0 ? weigh_row(t, row) / t->scale : 0,
		    bar);
	}
}

void
text_buckets(const struct show *show, const tel_stat *stat)
{
	struct table t;

	if (!view_has_buckets(stat))
		return;
	memset(&t, 0, sizeof(t));
	t.show = show;
	t.stat = stat;
	choose_rows(&t);
	if (t.failed) {
		put(show->out, "  out of memory\n");
	} else {
		measure(&t);
		put_rows(&t);
	}
	free(t.rows);
}

/* ---------------------------------------------------------------- keys */

/* A row of keys: its label, its count and the share of it. */
struct keys {
	const struct show *show;
	double weight, scale;
	unsigned label_columns, count_columns;
	int put; /* nonzero: put rows; 0: measure them */
};

static void
key_row(struct keys *k, const char *text, tel_int128 count)
{
	const struct show *show = k->show;
	size_t room = show->options->raw ? LABEL_MAX - 1 : show->width / 2;
	char label[LABEL_MAX], figure[FIGURE_TEXT];
	double value = tel_int128_double(count);

	if (room > LABEL_MAX - 1)
		room = LABEL_MAX - 1;
	(void)page_escape(label, room, text);
	(void)figure_count(count, show->options->raw, figure);
	if (!k->put) {
		widen(&k->label_columns, label);
		widen(&k->count_columns, figure);
		if (value > k->scale)
			k->scale = value;
		return;
	}
	put(show->out, "  ");
	text_right(show->out, label, k->label_columns);
	put(show->out, "  ");
	text_right(show->out, figure, k->count_columns);
	putf(show->out, " %6.1f%% ",
	    k->weight > 0 ? value / k->weight * 100 : 0);
	text_bar(show, k->scale > 0 ? value / k->scale : 0,
	    bar_columns(show, 2 + k->label_columns + 2 + k->count_columns + 9));
}

static void
all_keys(struct keys *k, const tel_stat *stat)
{
	size_t i, shown = view_key_count(k->show, stat);
	size_t n = tel_stat_key_count(stat);
	tel_int128 other = { 0, 0 };

	for (i = 0; i < n; i++) {
		tel_key key;
		char *text;

		if (!tel_stat_key(stat, i, &key))
			break;
		if (i >= shown) {
			other = figure_add(other, figure_int128_of(key.count));
			continue;
		}
		text = view_value(&key.value);
		key_row(k, text != NULL ? text : "",
		    figure_int128_of(key.count));
		free(text);
	}
	if (shown < n)
		key_row(k, "<other>", other);
	if (view_nonzero(stat, TEL_NUMBER_OVERFLOW_UPDATES))
		key_row(k, "<overflow>",
		    view_number(stat, TEL_NUMBER_OVERFLOW));
}

void
text_keys(const struct show *show, const tel_stat *stat)
{
	struct keys k = { show, 0, 0, 14, 7, 0 };

	if (tel_stat_class(stat) != TEL_CLASS_TALLY)
		return;
	k.weight = tel_int128_double(view_number(stat, TEL_NUMBER_WEIGHT));
	all_keys(&k, stat);
	k.put = 1;
	all_keys(&k, stat);
}
