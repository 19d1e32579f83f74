/* SPDX-License-Identifier: BSD-2-Clause */
/* Windows: every event once, in the order that was asked for. */
#include "tap.h"

#include <stdlib.h>

#include "format/mps/mps.h"
#include "model/encode.h"
#include "model/clock.h"
#include "model/event.h"
#include "tel.h"

#define AS "mps-1.118.0/lii6gc"

static uint64_t
next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 20;
}

/*
 * A stream of n events of two types: how(i) gives clock number i.  Every
 * syncs-th event is a point of synchronisation, none when syncs is 0.
 */
static unsigned char *
make(size_t n, uint64_t (*how)(size_t i), size_t syncs, size_t *size)
{
	const struct tel_type *sync, *alloc, *t;
	unsigned char *data, *p;
	tel_schema *s;
	size_t i;

	if (tel_schema_new(AS, &s) != TEL_OK)
		abort();
	sync = tel_schema_find_type(s, "EventClockSync");
	alloc = tel_schema_find_type(s, "PoolAlloc");
	p = data = calloc(n, alloc->size);
	if (data == NULL)
		abort();
	for (i = 0; i < n; i++) {
		t = syncs > 0 && i % syncs == syncs - 1 ? sync : alloc;
		tel__encode_header(s, p, t->code, t->size, how(i));
		if (t == sync)
			tel_encode_field(&t->fields[0], how(i) / 1000, p);
		else
			tel_encode_field(&t->fields[2], i, p);
		p += t->size;
	}
	*size = (size_t)(p - data);
	tel_schema_free(s);
	return data;
}

static uint64_t
scrambled(size_t i)
{
	uint64_t state = i;

	return 1000000 + next_random(&state) % 1000003;
}

static uint64_t
backwards(size_t i)
{
	return (uint64_t)1 << 40 >> 1 << 1 | (0xffffffffu - i);
}

/* In flushes of 100 events, each of them backwards. */
static uint64_t
flushes(size_t i)
{
	size_t flush = i / 100, at = i % 100;

	return 1000000 + flush * 100000 + (at == 99 ? 99000 : 98000 - at * 900);
}

struct tally {
	uint64_t events, sum, disorder, unstable, late;
	tel_status status;
	uint64_t first_clock;
	int64_t first_ns;
};

static struct tally
run_some(const unsigned char *data, size_t size, tel_order order, int allocs)
{
	tel_reader *r = tel_reader_new();
	tel_window *w = NULL;
	const tel_event *ev;
	struct tally t;
	uint64_t clock = 0, index = 0;

	memset(&t, 0, sizeof(t));
	if (r == NULL || tel_reader_set_as(r, AS) != TEL_OK ||
	    tel_reader_open_memory(r, data, size, NULL) != TEL_OK ||
	    tel_window_new(r, order, &w) != TEL_OK ||
	    tel_window_set_allocs(w, allocs) != TEL_OK)
		abort();
	while ((t.status = tel_window_next(w, &ev)) == TEL_OK) {
		if (t.events == 0) {
			t.first_clock = tel_event_clock(ev);
			t.first_ns = tel__clock_ns(ev->log->clock, ev->clock);
		}
		t.events++;
		t.sum += tel_event_index(ev) * 31 + tel_event_u64(ev, 2);
		t.disorder += tel_event_clock(ev) < clock;
		t.unstable +=
		    tel_event_clock(ev) == clock && tel_event_index(ev) < index;
		if (order == TEL_ORDER_LOG && !allocs)
			t.disorder = tel_event_index(ev) != t.events - 1;
		clock = tel_event_clock(ev);
		index = tel_event_index(ev);
	}
	t.late = tel_window_late(w);
	tel_window_free(w);
	tel_reader_free(r);
	return t;
}

static struct tally
run(const unsigned char *data, size_t size, tel_order order)
{
	return run_some(data, size, order, 0);
}

/* The events of a window one by one, and as runs. */
static void
check_runs(const char *what, const unsigned char *data, size_t size,
    tel_order order, int allocs)
{
	tel_reader *readers[2];
	tel_window *windows[2];
	const tel_event *ev, *of_run;
	uint64_t events = 0, runs = 0, differ = 0;
	tel_status st = TEL_OK;
	tel_run *r;
	size_t i;

	for (i = 0; i < 2; i++) {
		readers[i] = tel_reader_new();
		if (readers[i] == NULL ||
		    tel_reader_set_as(readers[i], AS) != TEL_OK ||
		    tel_reader_open_memory(readers[i], data, size, NULL) !=
		        TEL_OK ||
		    tel_window_new(readers[i], order, &windows[i]) != TEL_OK ||
		    tel_window_set_allocs(windows[i], allocs) != TEL_OK)
			abort();
	}
	while ((st = tel_window_run(windows[1], &r)) == TEL_OK) {
		runs++;
		for (i = 0; i < tel_run_count(r); i++, events++) {
			if (tel_window_next(windows[0], &ev) != TEL_OK)
				abort();
			of_run = tel_run_event(r, i);
			differ += tel_event_type(ev) == NULL ||
			    strcmp(ev->type->name, of_run->type->name) != 0 ||
			    ev->clock != of_run->clock ||
			    ev->offset != of_run->offset ||
			    ev->index != of_run->index ||
			    ev->size != of_run->size ||
			    (order == TEL_ORDER_LOG &&
			        tel__clock_ns(ev->log->clock, ev->clock) !=
			            tel__clock_ns(of_run->log->clock,
			                of_run->clock)) ||
			    memcmp(ev->data, of_run->data, ev->size) != 0;
		}
	}
	is_u64(differ, 0, "%s: the events of runs are those one by one", what);
	ok(events > 0 && st == TEL_END &&
	        tel_window_next(windows[0], &ev) == TEL_END,
	    "%s: there are no more", what);
	is_u64(tel_window_late(windows[1]), tel_window_late(windows[0]),
	    "%s: as many are late", what);
	ok(order == TEL_ORDER_TIME || allocs || runs < events / 4,
	    "%s: there are many in a run", what);
	for (i = 0; i < 2; i++) {
		tel_window_free(windows[i]);
		tel_reader_free(readers[i]);
	}
}

/* Events other than allocations are dropped. */
static void
check_allocs(const unsigned char *data, size_t size, tel_order order)
{
	struct tally t = run_some(data, size, order, 1);
	tel_reader *r = tel_reader_new();
	tel_window *w = NULL;
	const tel_event *ev;

	is_u64(t.events, 50000 - 500, "allocations only, order %d", (int)order);
	is_u64(t.disorder, 0, "in order of time");
	if (r == NULL || tel_reader_set_as(r, AS) != TEL_OK ||
	    tel_reader_open_memory(r, data, size, NULL) != TEL_OK ||
	    tel_window_new(r, order, &w) != TEL_OK ||
	    tel_window_next(w, &ev) != TEL_OK)
		abort();
	ok(tel_window_set_allocs(w, 1) == TEL_ESTATE,
	    "not when events were given");
	tel_window_free(w);
	tel_reader_free(r);
}

/* A hash of the selected events; how: selected behind, by event, or by run. */
static uint64_t
hash_selected(const unsigned char *data, size_t size, tel_order order,
    unsigned how, uint64_t *events)
{
	tel_reader *r = tel_reader_new();
	tel_filter *f = tel_filter_new();
	tel_window *w = NULL;
	const tel_event *ev;
	uint64_t hash = 0;
	tel_run *run;
	size_t i, n;

	if (r == NULL || f == NULL || tel_reader_set_as(r, AS) != TEL_OK ||
	    tel_reader_open_memory(r, data, size, NULL) != TEL_OK ||
	    tel_filter_set_expression(f, "size % 3 == 1") != TEL_OK ||
	    tel_filter_bind(f, tel_reader_schema(r)) != TEL_OK ||
	    tel_window_new(r, order, &w) != TEL_OK ||
	    (how > 0 && tel_window_set_filter(w, f) != TEL_OK))
		abort();
	*events = 0;
	while (how == 2 ? tel_window_run(w, &run) == TEL_OK :
	                  tel_window_next(w, &ev) == TEL_OK) {
		n = how == 2 ? tel_run_count(run) : 1;
		for (i = 0; i < n; i++) {
			if (how == 2)
				ev = tel_run_event(run, i);
			else if (how == 0 && tel_filter_match(f, ev) != 1)
				continue;
			hash = hash * 31 + tel_event_index(ev) * 7 +
			    tel_event_clock(ev) + tel_event_u64(ev, 2);
			hash +=
			    (uint64_t)tel__clock_ns(ev->log->clock, ev->clock);
			++*events;
		}
	}
	tel_window_free(w);
	tel_filter_free(f);
	tel_reader_free(r);
	return hash;
}

/* What is selected first, and then sorted, is what is selected of the sorted. */
static void
check_filter(const char *what, const unsigned char *data, size_t size)
{
	static const tel_order orders[] = { TEL_ORDER_LOG, TEL_ORDER_TIME,
		TEL_ORDER_LIVE };
	uint64_t want, events, n;
	unsigned i, how;

	for (i = 0; i < 3; i++) {
		want = hash_selected(data, size, orders[i], 0, &events);
		ok(events > 1000, "%s, order %u: some are selected", what, i);
		for (how = 1; how < 3; how++) {
			is_u64(hash_selected(data, size, orders[i], how, &n),
			    want, "%s, order %u, way %u: the same events", what,
			    i, how);
			is_u64(n, events, "%s: as many", what);
		}
	}
}

/* A filter that needs other events, or that comes too late. */
static void
check_refused(const unsigned char *data, size_t size)
{
	tel_reader *r = tel_reader_new();
	tel_filter *f = tel_filter_new();
	tel_window *w = NULL;
	const tel_event *ev;

	if (r == NULL || f == NULL || tel_reader_set_as(r, AS) != TEL_OK ||
	    tel_reader_open_memory(r, data, size, NULL) != TEL_OK ||
	    tel_window_new(r, TEL_ORDER_LIVE, &w) != TEL_OK ||
	    tel_filter_set_expression(f, "dt > 1") != TEL_OK)
		abort();
	ok(tel_window_set_filter(w, f) == TEL_EINVAL, "not one of others");
	ok(tel_window_set_filter(w, NULL) == TEL_OK, "none");
	if (tel_filter_set_expression(f, "size > 1") != TEL_OK ||
	    tel_window_next(w, &ev) != TEL_OK)
		abort();
	ok(tel_window_set_filter(w, f) == TEL_ESTATE,
	    "no filter when events were given");
	tel_window_free(w);
	tel_filter_free(f);
	tel_reader_free(r);
}

static void
check_sorted(const char *what, uint64_t (*how)(size_t i), size_t n)
{
	size_t size;
	unsigned char *data = make(n, how, 100, &size);
	struct tally in = run(data, size, TEL_ORDER_LOG);
	struct tally out = run(data, size, TEL_ORDER_TIME);

	is_u64(in.events, n, "%s: all %zu events in order of the log", what, n);
	is_u64(in.disorder, 0, "%s: in their order", what);
	is_u64(out.events, n, "%s: all %zu events by time", what, n);
	is_u64(out.sum, in.sum, "%s: the same events", what);
	is_u64(out.disorder, 0, "%s: none before an earlier one", what);
	is_u64(out.unstable, 0, "%s: equal clocks keep their order", what);
	ok(out.status == TEL_END, "%s: ends", what);
	free(data);
}

/* Runs of a log that comes in pieces, in any order: none is lost between them. */
static void
check_fed(const unsigned char *data, size_t size, tel_order order)
{
	tel_reader *r = tel_reader_new();
	uint64_t events = 0, again = 0;
	tel_window *w = NULL;
	tel_status st;
	size_t at = 0, n;
	tel_run *run;

	if (r == NULL || tel_reader_set_as(r, AS) != TEL_OK ||
	    tel_reader_open_feed(r, NULL) != TEL_OK ||
	    tel_window_new(r, order, &w) != TEL_OK)
		abort();
	do {
		n = size - at < 10007 ? size - at : 10007;
		st = tel_reader_feed(r, data + at, n);
		for (at += n; st == TEL_OK;)
			if ((st = tel_window_run(w, &run)) == TEL_OK)
				events += tel_run_count(run);
		again += st == TEL_AGAIN;
	} while (st == TEL_AGAIN && n > 0);
	ok(st == TEL_END && again > 1, "fed, order %d: ended", (int)order);
	is_u64(events, 50000, "fed, order %d: all events", (int)order);
	tel_window_free(w);
	tel_reader_free(r);
}

int
main(void)
{
	size_t size;
	unsigned char *data;
	struct tally t;
	tel_reader *r;
	tel_window *w;

	check_sorted("a few", scrambled, 1000);
	check_sorted("flushes", flushes, 1000);
	/* more than is sorted in memory */
	check_sorted("scrambled", scrambled, 400000);
	check_sorted("backwards", backwards, 400000);
	check_sorted("long flushes", flushes, 400000);

	data = make(50000, flushes, 100, &size);
	t = run(data, size, TEL_ORDER_LIVE);
	is_u64(t.events, 50000, "live: all events");
	is_u64(t.disorder, 0, "live: a flush is sorted");
	is_u64(t.late, 0, "live: none too late");
	check_allocs(data, size, TEL_ORDER_TIME);
	check_allocs(data, size, TEL_ORDER_LIVE);
	check_filter("flushes", data, size);
	check_refused(data, size);
	check_runs("live", data, size, TEL_ORDER_LIVE, 0);
	check_runs("by time", data, size, TEL_ORDER_TIME, 0);
	check_runs("order of the log", data, size, TEL_ORDER_LOG, 0);
	check_runs("allocations", data, size, TEL_ORDER_LIVE, 1);
	check_fed(data, size, TEL_ORDER_LOG);
	check_fed(data, size, TEL_ORDER_LIVE);
	check_fed(data, size, TEL_ORDER_TIME);
	t = run(data, size, TEL_ORDER_LOG);
	is_u64(t.first_clock, 1098000, "the first in order of the log");
	is_u64((uint64_t)t.first_ns, 88200,
	    "seconds count from the earliest event of the first flush");
	free(data);

	data = make(50000, scrambled, 100, &size);
	t = run(data, size, TEL_ORDER_LIVE);
	is_u64(t.events, 50000, "live, scrambled: all events");
	ok(t.late > 0 && t.disorder > 0, "live, scrambled: some are late");
	check_runs("scrambled", data, size, TEL_ORDER_LIVE, 0);
	free(data);

	data = make(50000, backwards, 100, &size);
	check_runs("backwards", data, size, TEL_ORDER_LIVE, 0);
	free(data);

	data = make(200000, flushes, 0, &size);
	t = run(data, size, TEL_ORDER_LOG);
	is_u64(t.events, 200000, "without any point nothing is held for ever");
	free(data);

	setenv("TMPDIR", "/nonexistent", 1);
	data = make(400000, scrambled, 100, &size);
	t = run(data, size, TEL_ORDER_TIME);
	ok(t.status == TEL_EIO, "a temporary file that cannot be made");
	free(data);
	r = tel_reader_new();
	ok(tel_window_new(r, (tel_order)9, &w) == TEL_EINVAL, "no such order");
	tel_reader_free(r);
	return done();
}
