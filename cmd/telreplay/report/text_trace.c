/* SPDX-License-Identifier: BSD-2-Clause */
/* The form "text": what the trace itself holds. */
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "common/report/figure.h"
#include "common/page.h"

#define ROOM 63 /* characters beside the names of lines */

static const char *
count(uint64_t v, char *text)
{
	return figure_count(figure_int128_of(v), 0, text);
}

static const char *
bytes(uint64_t v, char *text)
{
	return figure_value(figure_int128_of(v), "bytes", 0, text);
}

/* In lines that a terminal has room for. */
static void
put_operations(const struct report *r)
{
	const struct facts *f = r->facts;
	char text[FIGURE_TEXT], one[2 * FIGURE_TEXT];
	size_t used = 0, size;
	int i;

	put(r->out, "  operations    ");
	for (i = 0; i < ALLOC_KINDS; i++) {
		if (f->operations[i] == 0)
			continue;
		(void)snprintf(one, sizeof(one), "%s %s",
		    count(f->operations[i], text), report_operations[i]);
		size = strlen(one) + 2;
		if (used > 0 && used + size > ROOM) {
			put(r->out, ",\n                ");
			used = 0;
		}
		putf(r->out, "%s%s", used > 0 ? ", " : "", one);
		used += size;
	}
	put(r->out, "\n");
}

static void
put_line(const struct report *r, const char *name, uint64_t total,
    uint64_t blocks, const char *more)
{
	char a[FIGURE_TEXT], b[FIGURE_TEXT];

	putf(r->out, "  %-14s%s bytes in %s blocks%s\n", name, bytes(total, a),
	    count(blocks, b), more);
}

static void
put_threads(const struct report *r)
{
	const struct facts *f = r->facts;
	char a[FIGURE_TEXT], b[FIGURE_TEXT], d[FIGURE_TEXT];

	putf(r->out, "  threads       %s", count(f->log_threads, a));
	if (f->threads != f->log_threads)
		putf(r->out, ", run by %s", count(f->threads, a));
	put(r->out, "\n");
	if (f->log_threads > 1)
		putf(r->out,
		    "  between them  %s frees and %s reallocs, %s waits\n",
		    count(f->crossing_frees, a), count(f->crossing_reallocs, b),
		    count(f->waits, d));
	if (f->pools + f->buffers + f->parts > 0)
		putf(r->out,
		    "  pools         %s, with %s buffers; %s partial frees\n",
		    count(f->pools, a), count(f->buffers, b),
		    count(f->parts, d));
	if (f->buffers > 0 && f->operations[TEL_ALLOC_COMMIT] == 0)
		put(r->out,
		    "  not told      what the buffers gave out: there are no "
		    "commits\n");
}

/* The count of an odd thing, and the first of its kind. */
static void
put_odd(const struct report *r)
{
	const struct facts *f = r->facts;
	char text[FIGURE_TEXT];
	uint64_t j;
	int i;

	for (i = 0; i < ANOMALIES; i++) {
		if (f->anomalies[i] == 0)
			continue;
		putf(r->out, "  %-14s%s %s",
		    anomaly_is_damage((enum anomaly)i) ? "wrong" : "odd",
		    count(f->anomalies[i], text),
		    anomaly_text((enum anomaly)i));
		for (j = 0; j < f->anomaly_event_count; j++)
			if (f->anomaly_events[j].anomaly == (enum anomaly)i)
				break;
		if (j < f->anomaly_event_count)
			putf(r->out, "; first: event %" PRIu64 ", 0x%" PRIx64,
			    f->anomaly_events[j].event,
			    f->anomaly_events[j].address);
		put(r->out, "\n");
	}
}

/* The range of a histogram's element. */
static const char *
range(unsigned i, char *text)
{
	char a[FIGURE_TEXT], b[FIGURE_TEXT];
	uint64_t low = i == 0 ? 0 : (uint64_t)1 << (i - 1);

	if (i < 2)
		(void)snprintf(text, 2 * FIGURE_TEXT, "%" PRIu64, low);
	else
		(void)snprintf(text, 2 * FIGURE_TEXT, "%s..%s", count(low, a),
		    count(low + (low - 1), b));
	return text;
}

static uint64_t
sum(const uint64_t *histogram)
{
	uint64_t total = 0;
	unsigned i;

	for (i = 0; i <= 64; i++)
		total += histogram[i];
	return total;
}

static void
put_sizes(const struct report *r)
{
	const struct facts *f = r->facts;
	double all = (double)sum(f->sizes);
	char text[2 * FIGURE_TEXT], a[FIGURE_TEXT], b[FIGURE_TEXT];
	unsigned i;

	if (all == 0)
		return;
	putf(r->out, "\n%-28s%14s%8s%14s\n", "sizes in bytes", "requests",
	    "share", "not freed");
	for (i = report_first(f->sizes); i <= report_last(f->sizes); i++)
		putf(r->out, "  %-26s%14s%7.2f%%%14s\n", range(i, text),
		    count(f->sizes[i], a), (double)f->sizes[i] / all * 100,
		    count(f->leaked[i], b));
}

static void
put_lifetimes(const struct report *r)
{
	const struct facts *f = r->facts;
	double all = (double)sum(f->lived);
	char text[2 * FIGURE_TEXT], a[FIGURE_TEXT];
	unsigned i;

	if (all == 0)
		return;
	putf(r->out, "\n%-28s%14s%8s\n", "lifetimes in operations", "blocks",
	    "share");
	for (i = report_first(f->lived); i <= report_last(f->lived); i++)
		putf(r->out, "  %-26s%14s%7.2f%%\n", range(i, text),
		    count(f->lived[i], a), (double)f->lived[i] / all * 100);
}

/* The same in time, where the log tells it. */
static void
put_times(const struct report *r)
{
	const struct facts *f = r->facts;
	double all = (double)sum(f->lived_ticks);
	char a[FIGURE_TEXT], b[FIGURE_TEXT];
	unsigned i;

	if (all == 0 || f->tick_rate <= 0 || f->first_clock == f->last_clock)
		return;
	putf(r->out, "\n%-28s%14s%8s\n", "lifetimes in time, up to", "blocks",
	    "share");
	for (i = report_first(f->lived_ticks); i <= report_last(f->lived_ticks);
	     i++) {
		double ns = (double)((uint64_t)1 << (i < 63 ? i : 63)) * 1e9 /
		    f->tick_rate;

		putf(r->out, "  %-26s%14s%7.2f%%\n",
		    figure_double(ns, "ns", 0, b), count(f->lived_ticks[i], a),
		    (double)f->lived_ticks[i] / all * 100);
	}
}

void
report_text_trace(const struct report *r)
{
	const struct facts *f = r->facts;
	char text[FIGURE_TEXT], a[FIGURE_TEXT], b[FIGURE_TEXT];
	char more[2 * FIGURE_TEXT];

	put(r->out, "trace\n");
	put_operations(r);
	put_threads(r);
	putf(r->out, "  %-14s%s bytes in %s requests\n", "asked for",
	    bytes(f->requested, a), count(f->requests, b));
	putf(r->out, "  %-14s%s bytes\n", "the largest",
	    bytes(f->largest, text));
	(void)snprintf(more, sizeof(more), ", at event %s",
	    count(f->peak_event, text));
	put_line(r, "live at most", f->peak_bytes, f->peak_of_blocks, more);
	put_line(r, "not freed", f->live_bytes, f->live_blocks, "");
	put_odd(r);
	put_sizes(r);
	put_lifetimes(r);
	put_times(r);
}
