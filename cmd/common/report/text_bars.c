/* SPDX-License-Identifier: BSD-2-Clause */
/* Text: rows with bars, of the buckets of a histogram and of counts. */
#include "text_bars.h"

#include <stdio.h>
#include <string.h>
#include "common/page.h"

/* So many empty rows in a row, and more, are folded. */
#define FOLD 4
/* A bar has at least this many columns, and a label at most that many. */
#define BAR_MIN 10
#define LABEL_MAX 1000

/* The columns that are left for bars when so many are taken. */
static unsigned
bar_columns(const struct report *r, unsigned taken)
{
	/* two more for the ends of the bar */
	return r->options.width < taken + 2 + BAR_MIN ?
	    BAR_MIN :
	    r->options.width - taken - 2;
}

/* A bar of share (0 to 1) of so many columns. */
static void
text_bars_put_bar(const struct report *r, double share, unsigned columns)
{
	/* U+2588 to U+258F, from a whole block to an eighth of one */
	static const char *const parts[] = { "", "\xe2\x96\x8f", "\xe2\x96\x8e",
		"\xe2\x96\x8d", "\xe2\x96\x8c", "\xe2\x96\x8b", "\xe2\x96\x8a",
		"\xe2\x96\x89" };
	unsigned steps, full, used;

	if (!(share > 0))
		share = 0;
	if (share > 1)
		share = 1;
	put(r->out, "|");
	if (r->options.utf8) {
		steps = (unsigned)(share * columns * 8 + 0.5);
		/* a count over 0 must not look like 0 */
		if (steps == 0 && share > 0)
			steps = 1;
		full = steps / 8;
		put_many(r->out, "\xe2\x96\x88", full);
		put(r->out, parts[steps % 8]);
		used = full + (steps % 8 != 0);
	} else {
		used = (unsigned)(share * columns + 0.5);
		put_many(r->out, "@", used);
	}
	putf(r->out, "%*s|\n", (int)(columns - used), "");
}

/* Rows with bars, of a histogram or of keys: measured, and then put. */
struct rows {
	struct report *report;
	const struct report_section *section;
	const struct report_histogram *histogram;
	double weight, scale;         /* of all, and of the longest bar */
	unsigned label, width, count; /* columns */
	unsigned bar;
	int widths;        /* buckets differ in width */
	uint64_t last;     /* the width of the bucket before */
	tel_int128 before; /* the sum so far */
	int put;
};

static void
text_bars_widen(unsigned *columns, const char *text)
{
	size_t n = strlen(text);

	if (n > *columns)
		*columns = (unsigned)n;
}

static int
is_nonzero(tel_int128 v)
{
	return v.high != 0 || v.low != 0;
}

enum row_is { ROW_BUCKET, ROW_UNDER, ROW_OVER };

/* The width of a bucket; wide ones do not fit 64 bits with a sign. */
static uint64_t
bucket_width(const tel_bucket *b)
{
	return (uint64_t)b->hi - (uint64_t)b->lo;
}

/* The edges of a row, in brackets. */
static void
label_row(const struct rows *t, enum row_is is, const tel_bucket *b,
    char *buffer)
{
	const char *unit = t->section->unit;
	unsigned decimals = t->section->decimals;
	int raw = t->report->options.raw;
	char lo[FORMAT_TEXT], hi[FORMAT_TEXT];

	(void)format_edge(b->lo, decimals, unit, raw, lo);
	(void)format_edge(b->hi, decimals, unit, raw, hi);
	if (is == ROW_UNDER)
		(void)snprintf(buffer, LABEL_MAX, "(-inf, %s)", lo);
	else if (is == ROW_OVER)
		(void)snprintf(buffer, LABEL_MAX, "[%s, +inf)", hi);
	else if (b->open)
		(void)snprintf(buffer, LABEL_MAX, "[%s, +inf)", lo);
	else if (bucket_width(b) == 1)
		(void)snprintf(buffer, LABEL_MAX, "[%s]", lo);
	else
		(void)snprintf(buffer, LABEL_MAX, "[%s, %s)", lo, hi);
}

/* "w=512", for a bucket whose width is not that of all. */
static void
label_width(const struct rows *t, enum row_is is, const tel_bucket *b,
    char *buffer)
{
	buffer[0] = '\0';
	if (is != ROW_BUCKET || b->open || bucket_width(b) > INT64_MAX)
		return;
	memcpy(buffer, "w=", 3);
	(void)format_edge((int64_t)bucket_width(b), t->section->decimals,
	    t->section->unit, t->report->options.raw, buffer + 2);
}

/* What the bar of a row is of: its count, or the same over its width. */
static double
weigh_row(const struct rows *t, enum row_is is, const tel_bucket *b,
    tel_int128 count)
{
	if (!t->report->options.density)
		return tel_int128_double(count);
	/* what has no end has no density */
	if (is != ROW_BUCKET || b->open)
		return 0;
	return tel_int128_double(count) / (double)bucket_width(b);
}

/*
 * Measures or puts a row.  width: of its bucket, or ""; share: of the weight,
 * below 0 when it is not known; size: what the length of the bar is of.
 */
static void
text_bars_put_row(struct rows *t, const char *label, const char *width,
    tel_int128 count, double share, double size)
{
	tel_output *out = t->report->out;
	char figure[FORMAT_TEXT];

	(void)format_count(count, t->report->options.raw, figure);
	if (!t->put) {
		text_bars_widen(&t->label, label);
		text_bars_widen(&t->width, width);
		text_bars_widen(&t->count, figure);
		if (size > t->scale)
			t->scale = size;
		return;
	}
	putf(out, "  %*s", (int)t->label, label);
	if (t->widths)
		putf(out, " %-*s", (int)t->width, width);
	putf(out, "  %*s", (int)t->count, figure);
	if (share >= 0)
		putf(out, " %6.1f%% ", share * 100);
	else
		putf(out, " %7s ", "");
	text_bars_put_bar(t->report, t->scale > 0 ? size / t->scale : 0,
	    t->bar);
}

static void
bucket_row(struct rows *t, enum row_is is, size_t i)
{
	const struct report_histogram *h = t->histogram;
	tel_bucket b = h->bucket(h->of, i);
	tel_int128 count = is == ROW_UNDER ? h->under :
	    is == ROW_OVER                 ? h->over :
	                                     int128_u64(b.count);
	char label[LABEL_MAX], width[FORMAT_TEXT + 2];
	double share = -1;

	if (!t->put && is == ROW_BUCKET && !b.open) {
		t->widths |= t->last != 0 && bucket_width(&b) != t->last;
		t->last = bucket_width(&b);
	}
	if (t->put)
		(void)int128_add(&t->before, count);
	/* where some lie is not known, so neither are shares */
	if (h->sides && t->weight > 0)
		share = tel_int128_double(t->before) / t->weight;
	label_row(t, is, &b, label);
	label_width(t, is, &b, width);
	text_bars_put_row(t, label, width, count, share,
	    weigh_row(t, is, &b, count));
}

/* Empty buckets from first up to end, which are of one range. */
static void
empty_rows(struct rows *t, size_t first, size_t end)
{
	if (end - first >= FOLD && !t->report->options.zeros) {
		bucket_row(t, ROW_BUCKET, first);
		if (t->put)
			putf(t->report->out, "  %*s*\n", (int)t->label / 2, "");
		bucket_row(t, ROW_BUCKET, end - 1);
		return;
	}
	for (; first < end; first++)
		bucket_row(t, ROW_BUCKET, first);
}

static void
knee_row(const struct rows *t, size_t i)
{
	const struct report_histogram *h = t->histogram;
	char figure[FORMAT_TEXT];

	if (t->put && h->knee)
		putf(t->report->out, "  -- knee %s --\n",
		    format_edge(h->bucket(h->of, i).lo, t->section->decimals,
		        t->section->unit, t->report->options.raw, figure));
}

/* The rows: of buckets in use, and one on each side of them. */
static void
bucket_rows(struct rows *t)
{
	const struct report_histogram *h = t->histogram;
	size_t i = h->next(h->of, 0), end = 0, next, knee;

	for (next = i; next < h->n; next = h->next(h->of, next + 1))
		end = next + 1 < h->n ? next + 2 : h->n;
	i = i < h->n && i > 0 ? i - 1 : 0;
	if (t->report->options.zeros) {
		i = 0;
		end = h->n;
	}
	if (is_nonzero(h->under))
		bucket_row(t, ROW_UNDER, 0);
	for (unsigned range = h->bucket(h->of, i).range; i < end; i = next) {
		if (h->bucket(h->of, i).range != range) {
			range = h->bucket(h->of, i).range;
			knee_row(t, i);
		}
		next = h->next(h->of, i);
		if (next == i) {
			bucket_row(t, ROW_BUCKET, i);
			next++;
			continue;
		}
		if (next > end)
			next = end;
		for (knee = i; knee < next; knee++)
			if (h->bucket(h->of, knee).range != range)
				next = knee;
		empty_rows(t, i, next);
	}
	if (is_nonzero(h->over))
		bucket_row(t, ROW_OVER, h->n - 1);
}

void
text_histogram(struct report *r, const struct report_section *s)
{
	struct rows t = { 0 };

	t.report = r;
	t.section = s;
	t.histogram = s->histogram;
	t.weight = tel_int128_double(s->histogram->weight);
	t.label = 14;
	t.count = 7;
	bucket_rows(&t);
	unsigned taken = 2 + t.label + 2 + t.count + 8 + 1;
	unsigned wide = taken + 1 + t.width;
	/* the edges say it as well, where there is no room */
	t.widths = t.widths && wide + 2 + BAR_MIN <= r->options.width;
	t.bar = bar_columns(r, t.widths ? wide : taken);
	t.put = 1;
	bucket_rows(&t);
}

static void
bar_row(struct rows *t, const char *text, tel_int128 count)
{
	const struct report_options *o = &t->report->options;
	size_t room = o->raw ? LABEL_MAX - 1 : o->width / 2;
	double value = tel_int128_double(count);
	char label[LABEL_MAX];

	(void)page_shorten(label, room < LABEL_MAX ? room : LABEL_MAX - 1,
	    text);
	text_bars_put_row(t, label, "", count,
	    t->weight > 0 ? value / t->weight : 0, value);
}

static void
text_bars_bar_rows(struct rows *t, const struct report_bars *bars)
{
	struct report_mark mark = report_mark(t->report);
	size_t i, shown = report_rows(t->report, bars->n);
	struct report_bar bar;

	for (i = 0; i < shown; i++) {
		bars->bar(t->report, bars->of, i, &bar);
		bar_row(t, report_key(t->report, &bar.label),
		    int128_u64(bar.count));
		report_release(t->report, mark);
	}
	if (shown < bars->n)
		bar_row(t, "<other>", report_bars_rest(t->report, bars));
	if (bars->has_overflow)
		bar_row(t, "<overflow>", bars->overflow);
}

void
text_bars(struct report *r, const struct report_section *s)
{
	struct rows t = { 0 };

	t.report = r;
	t.weight = tel_int128_double(s->bars->weight);
	t.label = 14;
	t.count = 7;
	text_bars_bar_rows(&t, s->bars);
	t.bar = bar_columns(r, 2 + t.label + 2 + t.count + 9);
	t.put = 1;
	text_bars_bar_rows(&t, s->bars);
}
