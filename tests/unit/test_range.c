/* SPDX-License-Identifier: BSD-2-Clause */
/* Which clocks a filter leaves: those of all events that it matches. */
#include "model/clock.h"
#include "model/event.h"
#include "tap.h"
#include "tel.h"

static struct tel_log log_of_events;

/* What the filter says of a range; event: NULL or any. */
static void
check(const char *time, const tel_event *ev, int want, uint64_t first,
    uint64_t last)
{
	tel_filter *f = tel_filter_new();
	uint64_t from = 1, to = 2;
	int got;

	if (f == NULL || tel_filter_set_time(f, time) != TEL_OK) {
		ok(0, "%s can be set", time);
		return;
	}
	got = tel_filter_clocks(f, ev, &from, &to);
	ok(got == want && (!want || (from == first && to == last)),
	    "%s%s: %d, %" PRIx64 " to %" PRIx64, time,
	    ev != NULL ? " from an event on" : "", got, from, to);
	tel_filter_set_invert(f, 1);
	ok(!tel_filter_clocks(f, ev, &from, &to), "all but these: no range");
	tel_filter_free(f);
}

int
main(void)
{
	struct tel_event ev;
	tel_filter *f = tel_filter_new();
	uint64_t from, to;

	memset(&ev, 0, sizeof(ev));
	ev.log = &log_of_events;
	log_of_events.clock = tel__clock_new();
	if (log_of_events.clock == NULL || f == NULL)
		return 1;
	tel__clock_set_origin(log_of_events.clock, 1000);
	ok(!tel_filter_clocks(f, &ev, &from, &to), "without a range");
	check("0x10,0x20", NULL, 1, 0x10, 0x20);
	check("0x10,0x20", &ev, 1, 0x10, 0x20);
	check("0000000000000010,", NULL, 1, 0x10, UINT64_MAX);
	check(",0x20", NULL, 1, 0, 0x20);
	check("0x20,0x20", NULL, 1, 0x20, 0x20);
	check(",", &ev, 0, 0, 0);
	check("10,20", NULL, 0, 0, 0);
	check("10,20", &ev, 1, 1010, 1020);
	check("-10,20", &ev, 1, 990, 1020);
	check("-2000,20", &ev, 1, 0, 1020);
	check("10,0x2000", NULL, 1, 0, 0x2000);
	check("10,0x2000", &ev, 1, 1010, 0x2000);
	check("1s,2s", &ev, 0, 0, 0);
	check("1s,0x2000", &ev, 1, 0, 0x2000);
	tel__clock_set_origin(log_of_events.clock, UINT64_MAX - 5);
	check("2,20", &ev, 1, UINT64_MAX - 3, UINT64_MAX);
	tel_filter_set_clock(f, 5, 6);
	ok(tel_filter_clocks(f, NULL, &from, &to) && from == 5 && to == 6,
	    "a range that was set by clocks");
	if (tel_filter_set_expression(f, "dt > 5") != TEL_OK)
		return 1;
	ok(!tel_filter_clocks(f, NULL, &from, &to),
	    "the time since the event before needs that one");
	tel_filter_free(f);
	tel__clock_free(log_of_events.clock);
	return done();
}
