/* SPDX-License-Identifier: BSD-2-Clause */
/* The facts of a page of events: the longest range, the longest silence. */
#include <inttypes.h>

#include "print/html.h"

/* There was no event from one time to another. */
static void
silence_add(struct html_overview *o, uint64_t from, uint64_t to)
{
	if (to > from && to - from > o->silence_length) {
		o->silence_length = to - from;
		o->silence_from = from;
	}
}

/*
 * A rate of a clock changes little: of one log, only times that are longer by
 * its clock are converted.
 */
void
tel__html_silence(struct html *h, const struct tel_log *log,
    const uint64_t *clocks, size_t n)
{
	struct html_overview *o = &h->overview;
	uint64_t ends[2], times[2];

	if (tel__timeline_times(h->timeline, log, clocks, 1, times) != 1)
		return;
	if (log != o->log) {
		if (o->log != NULL)
			silence_add(o, o->time, times[0]);
		o->log = log;
		o->clock = clocks[0];
		o->silence_ticks = 0;
	}
	for (size_t i = 0; i < n; i++) {
		if (clocks[i] <= o->clock)
			continue;
		ends[0] = o->clock;
		ends[1] = o->clock = clocks[i];
		if (ends[1] - ends[0] <= o->silence_ticks ||
		    tel__timeline_times(h->timeline, log, ends, 2, times) != 2)
			continue;
		o->silence_ticks = ends[1] - ends[0];
		silence_add(o, times[0], times[1]);
	}
	if (tel__timeline_times(h->timeline, log, &o->clock, 1, times) == 1 &&
	    times[0] > o->time)
		o->time = times[0];
	if (o->time > o->last)
		o->last = o->time;
}

void
tel__html_overview(const struct html *h, int timed, struct tel__buffer *b)
{
	const struct html_overview *o = &h->overview;

	tel__json_raw(b, "overview", "{");
	tel__json_pair(b, "span", o->last);
	if (o->range_length > 0)
		tel__json_item(b,
		    "\"longest\":[%" PRIu64 ",%" PRIu64 ",%" PRIu32 "]",
		    o->range_from, o->range_length, o->range_type);
	if (o->silence_length > 0 && timed)
		tel__json_item(b, "\"silence\":[%" PRIu64 ",%" PRIu64 "]",
		    o->silence_from, o->silence_length);
	tel__json_put(b, "}");
}
