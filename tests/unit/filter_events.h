/* SPDX-License-Identifier: BSD-2-Clause */
/* Events made by hand, for tests of filters. */
#ifndef FILTER_EVENTS_H
#define FILTER_EVENTS_H

#include <stdlib.h>

#include "model/encode.h"
#include "model/clock.h"
#include "model/event.h"
#include "model/history.h"
#include "model/labels.h"
#include "must.h"
#include "tap.h"
#include "tel.h"

#define EVENTS 8

/*
 * The events, in this order.  The clock runs at 1 GHz from 1000.
 *
 *	0 PoolAlloc at 1000: pool=0x7f00["heap"] pReturn=0x10040 size=65536
 *	1 PoolAlloc at 2000: pool=0x7f80 pReturn=0x20000 size=100
 *	2 SegAlloc at 1500: arena=0x1000["arena 1"] seg=0x5000 base=0x10000
 *	  size=4096 pool=0x7f00["heap"]
 *	3 TraceStart at 5000: trace=0x3000 mortality=0.5 finishingTime=nan
 *	  condemned=10 notCondemned=0 foundation=2^64-1 white=0x5
 *	  quantumWork=0
 *	4 Intern at 6000: stringId=7 string="heap \"A\"\n\xff"
 *	5 EventClockSync at 7000: clock=123456
 *	6 an event of the unknown type 0x01F4 at 8000, kind Unknown
 *	7 ArenaPoll at 9000: arena=0x1000["arena 1"] start=42 workWasDone=1
 */
struct events {
	tel_schema *schema;
	struct tel_log log;
	unsigned char data[EVENTS][128];
	struct tel_event event[EVENTS];
};

static inline void
make_event(struct events *e, unsigned i, const struct tel_type *type,
    uint64_t clock, const uint64_t *values, const char *string)
{
	struct tel_event *ev = &e->event[i];
	unsigned f;

	tel__encode_header(e->schema, e->data[i], type->code,
	    sizeof(e->data[i]), clock);
	for (f = 0; f < type->nfields; f++)
		if (type->fields[f].datatype == TEL_STRING)
			memcpy(e->data[i] + type->fields[f].offset, string,
			    strlen(string) + 1);
		else
			tel_encode_field(&type->fields[f], values[f],
			    e->data[i]);
	ev->type = type;
	ev->data = e->data[i];
	ev->clock = clock;
	ev->offset = i * sizeof(e->data[i]);
	ev->index = i;
	ev->log = &e->log;
	ev->size = sizeof(e->data[i]);
}

static inline void
make_labels(struct events *e)
{
	struct tel_labels *l = e->log.labels;

	must_ok(tel__labels_intern(l, 1, "heap", 4));
	must_ok(tel__labels_intern(l, 2, "arena 1", 7));
	must_ok(tel__labels_add(l, TEL_SPACE_ADDRESS, 0x7f00, 0, 1));
	must_ok(tel__labels_add(l, TEL_SPACE_ADDRESS, 0x1000, 0, 2));
}

static inline void
make_events(struct events *e)
{
	static const char *const names[] = { "PoolAlloc", "PoolAlloc",
		"SegAlloc", "TraceStart", "Intern", "EventClockSync", NULL,
		"ArenaPoll" };
	static const uint64_t clocks[] = { 1000, 2000, 1500, 5000, 6000, 7000,
		8000, 9000 };
	static const uint64_t values[EVENTS][8] = {
		{ 0x7f00, 0x10040, 65536 },
		{ 0x7f80, 0x20000, 100 },
		{ 0x1000, 0x5000, 0x10000, 4096, 0x7f00 },
		{ 0x3000, 0x3fe0000000000000, 0x7ff8000000000000, 10, 0,
		    UINT64_MAX, 5, 0 },
		{ 7 },
		{ 123456 },
		{ 0 },
		{ 0x1000, 42, 1 },
	};
	const struct tel_type *t;
	unsigned i;

	memset(e, 0, sizeof(*e));
	must_ok(tel_schema_new("mps-1.117.0/lii6gc", &e->schema));
	e->log.name = "test.log";
	e->log.format = "mps";
	e->log.schema = e->schema;
	e->log.labels = must(tel__labels_new(100));
	e->log.clock = must(tel__clock_new());
	tel__clock_set_rate(e->log.clock, 1e9);
	tel__clock_set_origin(e->log.clock, clocks[0]);
	make_labels(e);
	for (i = 0; i < EVENTS; i++) {
		t = names[i] == NULL ?
		    tel__schema_unknown(e->schema, 0x1f4) :
		    tel_schema_find_type(e->schema, names[i]);
		if (t == NULL) {
			diag("there is no type %u", i);
			exit(1);
		}
		make_event(e, i, t, clocks[i], values[i], "heap \"A\"\n\xff");
	}
}

static inline void
free_events(struct events *e)
{
	tel__history_free(e->log.history);
	tel__labels_free(e->log.labels);
	tel__clock_free(e->log.clock);
	tel_schema_free(e->schema);
}

#endif
