/* SPDX-License-Identifier: BSD-2-Clause */
/* The report on the trace. */
#include "show.h"

#include <inttypes.h>
#include <string.h>

#include "common/report/lifetimes.h"

#define ROOM 63 /* characters of a line behind its label */

/* Names of operations, by tel_alloc_kind. */
static const char *const operations[ALLOC_KINDS] = { "none", "malloc", "calloc",
	"aligned", "realloc", "free", "reserve", "commit", "pool create",
	"pool destroy", "buffer create", "buffer destroy", "thread end" };

static const char *
contents_count(struct report *r, uint64_t v)
{
	char text[FORMAT_TEXT];

	return report_text(r, "%s", format_count(int128_u64(v), 0, text));
}

static const char *
bytes(struct report *r, uint64_t v)
{
	char text[FORMAT_TEXT];

	return report_text(r, "%s",
	    format_value(int128_u64(v), "bytes", 0, text));
}

/* ----------------------------------------------------- lines and facts */

/* In lines that fit on a terminal. */
static void
put_operations(struct report *r, const struct facts *f)
{
	const char *text = "";
	size_t used = 0, i;

	for (i = 0; i < ALLOC_KINDS; i++) {
		const char *one = report_text(r, "%s %s",
		    contents_count(r, f->operations[i]), operations[i]);
		size_t size = strlen(one) + 2;

		if (f->operations[i] == 0)
			continue;
		text = report_text(r, "%s%s%s", text,
		    used == 0              ? "" :
		        used + size > ROOM ? ",\n" :
		                             ", ",
		    one);
		used = (used + size > ROOM ? 0 : used) + size;
	}
	report_line(r, "operations", "%s", text);
}

static void
put_threads(struct report *r, const struct facts *f)
{
	const char *by = "", *between = "";

	if (f->threads != f->log_threads)
		by = report_text(r, ", run by %s",
		    contents_count(r, f->threads));
	if (f->log_threads > 1)
		between = report_text(r, "; between them %s frees, %s reallocs",
		    contents_count(r, f->crossing_frees),
		    contents_count(r, f->crossing_reallocs));
	report_line(r, "threads", "%s%s%s", contents_count(r, f->log_threads),
	    by, between);
	if (f->by_new + f->by_delete + f->by_sized > 0)
		report_line(r, "of C++",
		    "%s new, %s delete; %s frees are given the size",
		    contents_count(r, f->by_new),
		    contents_count(r, f->by_delete),
		    contents_count(r, f->by_sized));
	if (f->pools + f->buffers + f->parts > 0)
		report_line(r, "pools", "%s, with %s buffers; %s partial frees",
		    contents_count(r, f->pools), contents_count(r, f->buffers),
		    contents_count(r, f->parts));
	if (f->buffers > 0 && f->operations[TEL_ALLOC_COMMIT] == 0)
		report_line(r, "not logged",
		    "blocks of buffers: the log has no commits%s",
		    f->anomalies[ANOMALY_FREE] == 0 ?
		        "" :
		        report_text(r, "; %s frees",
		            contents_count(r, f->anomalies[ANOMALY_FREE])));
}

/* The count of an anomaly, and the first of its kind. */
static void
put_anomaly(struct report *r, const struct facts *f, enum anomaly a)
{
	const char *first = "";
	uint64_t i;

	if (f->anomalies[a] == 0)
		return;
	for (i = 0; i < f->anomaly_event_count; i++)
		if (f->anomaly_events[i].anomaly == a)
			break;
	if (i < f->anomaly_event_count)
		first = report_text(r, "; first: event %" PRIu64 ", 0x%" PRIx64,
		    f->anomaly_events[i].event, f->anomaly_events[i].address);
	report_line(r, facts_damage(f, a) ? "damage" : "anomaly", "%s %s%s",
	    contents_count(r, f->anomalies[a]), anomaly_text(a), first);
}

/* Nonzero if blocks have lifetimes, other than 0 for want of clocks. */
static int
has_times(const struct facts *f)
{
	return f->lifetimes[LIFETIMES - 1] > 0 || f->lifetimes_clock > 0;
}

static void
put_lifetimes(struct report *r, const struct facts *f)
{
	const char *unit = f->tick_rate > 0 ? "ns" : "ticks";
	uint64_t i, ends = 0;

	for (i = 0; i <= 64; i++)
		ends += f->lived_ns[i];
	if (ends > 0 && !has_times(f))
		report_line(r, "lifetimes",
		    "not in time: the log has no clocks");
	else if (ends > 0)
		report_line(r, "lifetimes", "%s",
		    report_lifetimes_text(r, f->lifetimes, f->lifetimes_clock,
		        unit, 0));
}

static void
put_lines(struct report *r, const struct show *show)
{
	const struct facts *f = show->facts;
	int all = show_text(show, DETAILS_ANOMALIES) != 0;
	struct report_section *s =
	    show_section(r, REPORT_TEXT, "trace", "trace");

	s->label_width = 14;
	put_operations(r, f);
	put_threads(r, f);
	report_line(r, "requested", "%s bytes in %s requests of up to %s",
	    bytes(r, f->requested), contents_count(r, f->requests),
	    contents_count(r, f->largest));
	report_line(r, "peak live", "%s bytes in %s blocks, at event %s",
	    bytes(r, f->peak_bytes), contents_count(r, f->peak_of_blocks),
	    contents_count(r, f->peak_event));
	report_line(r, "not freed", "%s bytes in %s blocks",
	    bytes(r, f->live_bytes), contents_count(r, f->live_blocks));
	for (int a = 0; a < ANOMALIES; a++)
		if (all || a == ANOMALY_INHERITED ||
		    facts_damage(f, (enum anomaly)a) ||
		    (f->selected && anomaly_is_damage((enum anomaly)a)))
			put_anomaly(r, f, (enum anomaly)a);
	if (show_text(show, DETAILS_LIFETIMES) != 0)
		put_lifetimes(r, f);
	report_put(r);
}

static void
contents_put_facts(struct report *r, const struct facts *f)
{
	(void)report_section(r, REPORT_DATA, "trace");
	report_data(r, "threads", report_count(f->log_threads));
	report_data(r, "replay_threads", report_count(f->threads));
	report_data(r, "order", report_optional(show_order(f)));
	report_data(r, "operations", report_count(f->compiled));
	report_data(r, "by_new", report_count(f->by_new));
	report_data(r, "by_delete", report_count(f->by_delete));
	report_data(r, "by_sized", report_count(f->by_sized));
	report_data(r, "waits", report_count(f->waits));
	report_data(r, "crossing_frees", report_count(f->crossing_frees));
	report_data(r, "crossing_reallocs", report_count(f->crossing_reallocs));
	report_data(r, "partial_frees", report_count(f->parts));
	report_data(r, "pools", report_count(f->pools));
	report_data(r, "buffers", report_count(f->buffers));
	report_data(r, "requests", report_count(f->requests));
	report_data(r, "requested_bytes", report_count(f->requested));
	report_data(r, "largest_bytes", report_count(f->largest));
	report_data(r, "peak_bytes", report_count(f->peak_bytes));
	report_data(r, "peak_bytes_blocks", report_count(f->peak_of_blocks));
	report_data(r, "peak_blocks", report_count(f->peak_blocks));
	report_data(r, "peak_event", report_count(f->peak_event));
	report_data(r, "live_bytes", report_count(f->live_bytes));
	report_data(r, "live_blocks", report_count(f->live_blocks));
	report_put(r);
}

/* The number of events of a kind. */
static void
contents_put_events(struct report *r, const char *type, const char *item,
    uint64_t n)
{
	if (n == 0)
		return;
	report_section(r, REPORT_DATA, type)->item = item;
	report_data(r, "events", report_count(n));
	report_put(r);
}

static void
put_all_events(struct report *r, const struct facts *f)
{
	for (uint64_t i = 0; i < ALLOC_KINDS; i++)
		contents_put_events(r, "operation", operations[i],
		    f->operations[i]);
	for (uint64_t i = 0; i < ANOMALIES; i++)
		contents_put_events(r,
		    facts_damage(f, (enum anomaly)i) ? "damage" : "anomaly",
		    anomaly_text((enum anomaly)i), f->anomalies[i]);
	for (uint64_t i = 0; i < f->anomaly_event_count; i++) {
		const struct anomaly_event *e = &f->anomaly_events[i];

		report_section(r, REPORT_DATA, "anomaly event")->item =
		    anomaly_text(e->anomaly);
		report_data(r, "log", report_optional(f->log_names[e->log]));
		report_data(r, "event", report_count(e->event));
		report_data(r, "address", report_count(e->address));
		report_data(r, "thread", report_count(e->thread));
		report_put(r);
	}
}

static void
put_live(struct report *r, const struct facts *f)
{
	for (uint64_t i = 0; i < f->curve_points; i++) {
		const struct live_point *p = &f->curve[i];

		(void)show_item(r, "live", NULL, i);
		report_data(r, "done",
		    report_real(show_ratio((double)p->done, (double)f->words)));
		report_data(r, "blocks", report_count(p->blocks));
		report_data(r, "bytes", report_count(p->bytes));
		report_put(r);
	}
}

/* ---------------------------------------------------------- histograms */

/* The range of an element; of times, that up to which it goes. */
static const char *
range(struct report *r, size_t i, int is_time)
{
	uint64_t low = i == 0 ? 0 : (uint64_t)1 << (i - 1);
	char text[FORMAT_TEXT];

	if (is_time)
		return report_text(r, "%s",
		    format_double((double)((uint64_t)1 << (i < 63 ? i : 63)),
		        "ns", 0, text));
	if (i < 2)
		return report_text(r, "%" PRIu64, low);
	return report_text(r, "%s..%s", contents_count(r, low),
	    contents_count(r, low + (low - 1)));
}

/*
 * A histogram: element i counts values from 2^(i-1) to 2^i - 1.
 * left: the same for the blocks never freed, or NULL.
 */
static void
put_histogram(struct report *r, unsigned to, const char *type,
    const char *label, const char *what, const uint64_t *counts,
    const uint64_t *left, int is_time)
{
	struct report_field *f;
	unsigned i, first = 64, last = 0;
	double sum = 0;

	for (i = 0; i <= 64; i++) {
		sum += (double)counts[i];
		if (counts[i] == 0 && (left == NULL || left[i] == 0))
			continue;
		last = i;
		if (first > i)
			first = i;
	}
	(void)show_section(r, sum > 0 ? to : REPORT_DATA, type, NULL);
	f = report_column(r, "item", NULL, REPORT_GROUPED, 0);
	f->item = 1;
	f->shown = REPORT_DATA;
	f = report_column(r, "range", label, REPORT_GROUPED, 26);
	f->left = 1;
	f->shown = REPORT_TEXT;
	(void)report_column(r, what, NULL, REPORT_GROUPED, 14);
	f = report_column(r, "share", NULL, REPORT_PERCENT, 8);
	f->decimals = 2;
	f->shown = REPORT_TEXT;
	if (left != NULL)
		(void)report_column(r, "not_freed", "not freed", REPORT_GROUPED,
		    14);
	for (i = first; i <= last; i++) {
		report_row(r,
		    counts[i] > 0 || (left != NULL && left[i] > 0) ?
		        REPORT_TEXT | REPORT_DATA :
		        REPORT_TEXT);
		report_cell(r,
		    report_string(report_text(r, "%" PRIu64,
		        i == 0 ? 0 : (uint64_t)1 << (i - 1))));
		report_cell(r, report_string(range(r, i, is_time)));
		report_cell(r, report_count(counts[i]));
		report_cell(r, report_real(show_ratio((double)counts[i], sum)));
		if (left != NULL)
			report_cell(r, report_count(left[i]));
	}
	report_put(r);
}

/*
 * Lifetimes in time; in text, those in the range of the clock's resolution and
 * below are one row, since they are unknown.
 */
static void
put_lived(struct report *r, unsigned to, const struct facts *f)
{
	static const char type[] = "lifetime_ns";
	uint64_t shown[65];
	unsigned i, n = tel__bit_length(f->lifetimes_clock);

	memcpy(shown, f->lived_ns, sizeof(shown));
	for (i = 0; i < n; i++) {
		shown[n] += shown[i];
		shown[i] = 0;
	}
	put_histogram(r, to & ~REPORT_TEXT, type, NULL, "blocks", f->lived_ns,
	    NULL, 1);
	if ((to & REPORT_TEXT) != 0)
		put_histogram(r, REPORT_TEXT, type, "lifetimes in time, up to",
		    "blocks", shown, NULL, 1);
}

const char *
show_range(struct report *r, size_t i)
{
	return range(r, i, 0);
}

void
show_trace(struct report *r, const struct show *show)
{
	const unsigned sizes = show_text(show, DETAILS_SIZES) | REPORT_DATA;
	const unsigned lived = show_text(show, DETAILS_LIFETIMES) | REPORT_DATA;
	const struct facts *f = show->facts;

	put_lines(r, show);
	contents_put_facts(r, f);
	put_all_events(r, f);
	put_histogram(r, sizes, "size", "sizes in bytes", "requests", f->sizes,
	    f->leaked, 0);
	show_what_if(r, show);
	put_histogram(r, lived, "lifetime", "lifetimes in operations", "blocks",
	    f->lived, NULL, 0);
	if (f->tick_rate > 0)
		put_lived(r, has_times(f) ? lived : REPORT_DATA, f);
	put_live(r, f);
}
