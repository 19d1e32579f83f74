/* SPDX-License-Identifier: BSD-2-Clause */
/* What the trace itself holds. */
#include "show.h"

#include <inttypes.h>
#include <string.h>

#define ROOM 63 /* characters of a line behind its label */

/* Names of operations, by tel_alloc_kind. */
static const char *const operations[ALLOC_KINDS] = { "none", "malloc", "calloc",
	"aligned", "realloc", "free", "reserve", "commit", "pool create",
	"pool destroy", "buffer create", "buffer destroy", "thread end" };

static const char *
count(struct report *r, uint64_t v)
{
	char text[FIGURE_TEXT];

	return report_text(r, "%s", figure_count(figure_int128_of(v), 0, text));
}

static const char *
bytes(struct report *r, uint64_t v)
{
	char text[FIGURE_TEXT];

	return report_text(r, "%s",
	    figure_value(figure_int128_of(v), "bytes", 0, text));
}

/* ----------------------------------------------------- lines and facts */

/* In lines that a terminal has room for. */
static void
put_operations(struct report *r, const struct facts *f)
{
	const char *text = "";
	size_t used = 0, i;

	for (i = 0; i < ALLOC_KINDS; i++) {
		const char *one = report_text(r, "%s %s",
		    count(r, f->operations[i]), operations[i]);
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
	if (f->threads != f->log_threads)
		report_line(r, "threads", "%s, run by %s",
		    count(r, f->log_threads), count(r, f->threads));
	else
		report_line(r, "threads", "%s", count(r, f->threads));
	if (f->log_threads > 1)
		report_line(r, "between them",
		    "%s frees and %s reallocs, %s waits",
		    count(r, f->crossing_frees), count(r, f->crossing_reallocs),
		    count(r, f->waits));
	if (f->pools + f->buffers + f->parts > 0)
		report_line(r, "pools", "%s, with %s buffers; %s partial frees",
		    count(r, f->pools), count(r, f->buffers),
		    count(r, f->parts));
	if (f->buffers > 0 && f->operations[TEL_ALLOC_COMMIT] == 0)
		report_line(r, "not told",
		    "what the buffers gave out: there are no commits");
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
	report_line(r, anomaly_is_damage(a) ? "wrong" : "odd", "%s %s%s",
	    count(r, f->anomalies[a]), anomaly_text(a), first);
}

static void
put_lines(struct report *r, const struct facts *f)
{
	struct report_section *s = report_section(r, REPORT_TEXT, "trace");
	int a;

	s->title = "trace";
	s->indent = 2;
	s->label_width = 14;
	put_operations(r, f);
	put_threads(r, f);
	report_line(r, "asked for", "%s bytes in %s requests",
	    bytes(r, f->requested), count(r, f->requests));
	report_line(r, "the largest", "%s bytes", bytes(r, f->largest));
	report_line(r, "live at most", "%s bytes in %s blocks, at event %s",
	    bytes(r, f->peak_bytes), count(r, f->peak_of_blocks),
	    count(r, f->peak_event));
	report_line(r, "not freed", "%s bytes in %s blocks",
	    bytes(r, f->live_bytes), count(r, f->live_blocks));
	for (a = 0; a < ANOMALIES; a++)
		put_anomaly(r, f, (enum anomaly)a);
	report_put(r);
}

static void
put_facts(struct report *r, const struct facts *f)
{
	const struct {
		const char *name;
		struct report_value value;
	} rows[] = { { "threads", report_count(f->log_threads) },
		{ "lanes", report_count(f->threads) },
		{ "order", report_optional(show_order(f)) },
		{ "operations", report_count(f->compiled) },
		{ "waits", report_count(f->waits) },
		{ "crossing_frees", report_count(f->crossing_frees) },
		{ "crossing_reallocs", report_count(f->crossing_reallocs) },
		{ "partial_frees", report_count(f->parts) },
		{ "pools", report_count(f->pools) },
		{ "buffers", report_count(f->buffers) },
		{ "requests", report_count(f->requests) },
		{ "requested_bytes", report_count(f->requested) },
		{ "largest_bytes", report_count(f->largest) },
		{ "peak_bytes", report_count(f->peak_bytes) },
		{ "peak_bytes_blocks", report_count(f->peak_of_blocks) },
		{ "peak_blocks", report_count(f->peak_blocks) },
		{ "peak_event", report_count(f->peak_event) },
		{ "live_bytes", report_count(f->live_bytes) },
		{ "live_blocks", report_count(f->live_blocks) } };
	size_t i;

	(void)report_section(r, REPORT_DATA, "trace");
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		(void)report_fact(r,
		    &(struct report_field){ .name = rows[i].name },
		    rows[i].value);
	report_put(r);
}

/* ----------------------------------------------------- tables of events */

static unsigned
operation_row(struct report *r, const void *of, size_t i,
    struct report_value *cells)
{
	const struct facts *f = of;

	(void)r;
	cells[0] = report_string(operations[i]);
	cells[1] = report_count(f->operations[i]);
	return f->operations[i] > 0 ? REPORT_DATA : 0;
}

static unsigned
anomaly_row(struct report *r, const void *of, size_t i,
    struct report_value *cells)
{
	const struct facts *f = of;

	(void)r;
	cells[0] = report_string(anomaly_text((enum anomaly)i));
	cells[1] = report_count(f->anomalies[i]);
	return f->anomalies[i] > 0 ? REPORT_DATA : 0;
}

/* Those that are damage come behind those that are not. */
static unsigned
damage_row(struct report *r, const void *of, size_t i,
    struct report_value *cells)
{
	return anomaly_row(r, of, ANOMALY_FREE + i, cells);
}

static unsigned
anomaly_event_row(struct report *r, const void *of, size_t i,
    struct report_value *cells)
{
	const struct facts *f = of;
	const struct anomaly_event *e = &f->anomaly_events[i];

	(void)r;
	cells[0] = report_string(anomaly_text(e->anomaly));
	cells[1] = report_optional(f->log_names[e->log]);
	cells[2] = report_count(e->event);
	cells[3] = report_count(e->address);
	cells[4] = report_count(e->thread);
	return REPORT_DATA;
}

static unsigned
live_row(struct report *r, const void *of, size_t i, struct report_value *cells)
{
	const struct facts *f = of;
	const struct live_point *p = &f->curve[i];

	cells[0] = report_string(report_text(r, "%zu", i));
	cells[1] = report_real(show_ratio((double)p->done, (double)f->words));
	cells[2] = report_count(p->blocks);
	cells[3] = report_count(p->bytes);
	return REPORT_DATA;
}

static void
put_rows(struct report *r, const char *type, const struct report_table *table)
{
	report_section(r, REPORT_DATA, type)->table = table;
	report_put(r);
}

static void
put_events(struct report *r, const struct facts *f)
{
	static const struct report_field columns[] = {
		{ .name = "item", .item = 1 }, { .name = "events" }
	};
	static const struct report_field event[] = {
		{ .name = "item", .item = 1 }, { .name = "log" },
		{ .name = "event" }, { .name = "address" }, { .name = "thread" }
	};
	const struct report_table kinds = { columns, 2, ALLOC_KINDS, f,
		operation_row, 0 };
	const struct report_table odd = { columns, 2, ANOMALY_FREE, f,
		anomaly_row, 0 };
	const struct report_table wrong = { columns, 2,
		ANOMALIES - ANOMALY_FREE, f, damage_row, 0 };
	const struct report_table events = { event, 5,
		(size_t)f->anomaly_event_count, f, anomaly_event_row, 0 };

	put_rows(r, "operation", &kinds);
	put_rows(r, "odd", &odd);
	put_rows(r, "wrong", &wrong);
	put_rows(r, "odd event", &events);
}

/* ---------------------------------------------------------- histograms */

/* A histogram: element i counts what is from 2^(i-1) to 2^i - 1. */
struct powers {
	const uint64_t *counts, *left;
	double sum;
	unsigned first, last; /* in use */
	double tick_rate;     /* 0: the values are not ticks */
	int text;             /* there is a table of text */
};

/* The range of an element; of ticks, the time up to which it goes. */
static const char *
range(struct report *r, const struct powers *p, size_t i)
{
	uint64_t low = i == 0 ? 0 : (uint64_t)1 << (i - 1);
	char text[FIGURE_TEXT];

	if (p->tick_rate > 0)
		return report_text(r, "%s",
		    figure_double((double)((uint64_t)1 << (i < 63 ? i : 63)) *
		            1e9 / p->tick_rate,
		        "ns", 0, text));
	if (i < 2)
		return report_text(r, "%" PRIu64, low);
	return report_text(r, "%s..%s", count(r, low),
	    count(r, low + (low - 1)));
}

static unsigned
power_row(struct report *r, const void *of, size_t i,
    struct report_value *cells)
{
	const struct powers *p = of;
	unsigned to = p->counts[i] > 0 ? REPORT_DATA : 0;

	if (p->text && i >= p->first && i <= p->last)
		to |= REPORT_TEXT;
	cells[0] = report_string(
	    report_text(r, "%" PRIu64, i == 0 ? 0 : (uint64_t)1 << (i - 1)));
	cells[1] = report_string(range(r, p, i));
	cells[2] = report_count(p->counts[i]);
	cells[3] = report_real(show_ratio((double)p->counts[i], p->sum));
	if (p->left != NULL)
		cells[4] = report_count(p->left[i]);
	return to;
}

static void
put_histogram(struct report *r, const char *type, const char *label,
    const char *what, struct powers *p)
{
	const struct report_field columns[] = {
		{ .name = "item", .item = 1, .shown = REPORT_DATA },
		{ .name = "range",
		    .label = label,
		    .left = 1,
		    .width = 26,
		    .shown = REPORT_TEXT },
		{ .name = what, .width = 14 },
		{ .name = "share",
		    .notation = REPORT_PERCENT,
		    .decimals = 2,
		    .width = 8,
		    .shown = REPORT_TEXT },
		{ .name = "not_freed", .label = "not freed", .width = 14 },
	};
	const struct report_table table = { columns, p->left != NULL ? 5 : 4,
		65, p, power_row, 2 };
	struct report_section *s;
	unsigned i;

	p->first = 64;
	for (i = 0; i <= 64; i++) {
		p->sum += (double)p->counts[i];
		if (p->counts[i] == 0)
			continue;
		p->last = i;
		if (p->first > i)
			p->first = i;
	}
	p->text = p->text && p->sum > 0;
	s = report_section(r, p->text ? REPORT_TEXT | REPORT_DATA : REPORT_DATA,
	    type);
	s->apart = 1;
	s->table = &table;
	report_put(r);
}

void
show_trace(struct report *r, const struct show *show)
{
	static const struct report_field columns[] = {
		{ .name = "item", .item = 1 },
		{ .name = "done" },
		{ .name = "blocks" },
		{ .name = "bytes" },
	};
	const struct facts *f = show->facts;
	const struct report_table live = { columns, 4, (size_t)f->curve_points,
		f, live_row, 0 };
	struct powers sizes = { .counts = f->sizes,
		.left = f->leaked,
		.text = 1 };
	struct powers lived = { .counts = f->lived, .text = 1 };
	struct powers ticks = { .counts = f->lived_ticks,
		.tick_rate = f->tick_rate,
		.text = f->first_clock != f->last_clock };

	put_lines(r, f);
	put_facts(r, f);
	put_events(r, f);
	put_histogram(r, "size", "sizes in bytes", "requests", &sizes);
	put_histogram(r, "lifetime", "lifetimes in operations", "blocks",
	    &lived);
	if (f->tick_rate > 0)
		put_histogram(r, "lifetime_ticks", "lifetimes in time, up to",
		    "blocks", &ticks);
	put_rows(r, "live", &live);
}
