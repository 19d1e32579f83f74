/* SPDX-License-Identifier: BSD-2-Clause */
/* Blocks that are kept in memory: what comes out is what went in. */
#include <stdlib.h>
#include <string.h>

#include "telrec/columns.c"
#include "telrec/flight.c"
#include "telrec/types.c"
#include "telrec/weights.c"

#include "tap.h"
#include "telrec_without.h"

#define SOURCES 18u /* more than sets of columns */
#define BLOCKS 24u
#define MOST (BLOCKS * 600u)

/* What libtel-emit gets. */
struct event {
	unsigned code;
	uint64_t clock, fields[TYPE_FIELDS];
	const char *label;
};
struct log {
	unsigned count, names;
	uint64_t lost;
	struct event events[MOST];
	char name[BLOCKS * 2 * SOURCES][160];
};
static struct log direct, kept, *now;

static uint64_t
any(void)
{
	static uint64_t seed = 1;

	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return seed >> 11;
}

int
tel_emit_relay(const tel_emit_columns *from)
{
	unsigned at[256] = { 0 }, i, k, n, clock = 0, left;
	const tel_emit_part *part;
	struct event *to;

	now->lost += from->lost;
	for (i = 0; i < from->name_count; i++)
		(void)snprintf(now->name[now->names++], sizeof(now->name[0]),
		    "%u %" PRIu64 " %s", from->names[i].space,
		    (uint64_t)from->names[i].value, from->names[i].name);
	left = from->clock_count > 0 ? from->shared[0] : 0;
	for (i = 0; i < from->count; i++) {
		while (left == 0)
			left = from->shared[++clock];
		left--;
		part = &from->parts[from->order[i]];
		n = at[from->order[i]]++;
		to = &now->events[now->count++];
		memset(to, 0, sizeof(*to));
		to->code = part->code;
		to->clock = from->clocks[clock];
		to->label = part->labels != NULL ? part->labels[n] : NULL;
		for (k = 0; k <
		     types_fields((enum type)(part->code - 1), ARENA_STACKS) +
		         2;
		     k++)
			to->fields[k] =
			    part->columns[k][part->same >> k & 1 ? 0 : n];
	}
	for (i = 0; i < from->part_count; i++)
		if (at[i] != from->parts[i].count)
			now->lost += 1000000;
	return 0;
}

/* Events of any types; numbers of each width. */
static void
add_events(struct columns *to[2], unsigned count, struct source *sources)
{
	static const char *const labels[] = { "one", "two", "three" };
	const unsigned shift = (unsigned)any() % 53;
	const uint64_t base = any() << 11;
	unsigned i, k, which, label, step;
	struct source *from;
	uint64_t value;
	enum type type;
	struct part *part;

	for (i = 0; i < count; i++) {
		which = (unsigned)any() % SOURCES;
		type = (enum type)(any() % TYPES);
		label = (unsigned)any() % 3;
		value = base + (any() >> shift);
		step = any() % 3 == 0 ? (unsigned)any() % 1000 : 0;
		for (k = 0; k < 2; k++) {
			from = &sources[k * SOURCES + which];
			columns_source(to[k], from);
			part = columns_add(to[k], type);
			for (unsigned f = 0; f < part->fields; f++)
				part->columns[f][part->count] = value * (f + 1);
			if (part->labels != NULL)
				part->labels[part->count] = labels[label];
			part->count++;
			columns_clock(to[k], to[k]->last + step,
			    to[k]->count - 1);
		}
	}
}

/* Records events in a ring of so many bytes, and at once. */
static void
record(uint64_t bytes)
{
	static struct source sources[2 * SOURCES];
	struct columns *to[2] = { columns_new(ARENA_STACKS, 0, 0),
		columns_new(ARENA_STACKS, 0, bytes) };
	uint64_t lost = 0;
	unsigned i;

	if (to[0] == NULL || to[1] == NULL)
		return;
	memset(sources, 0, sizeof(sources));
	for (i = 0; i < 2 * SOURCES; i++) {
		sources[i].pid = 100 + i % SOURCES / 5;
		sources[i].tid = 200 + i % SOURCES;
		sources[i].process =
		    "/a/program/that/is/not/recorded/and/of/which/the/path/is/"
		    "longer/than/the/name/of/any/process";
		(void)snprintf(sources[i].name, sizeof(sources[i].name), "t%u",
		    i % SOURCES);
	}
	memset(&direct, 0, sizeof(direct));
	memset(&kept, 0, sizeof(kept));
	for (i = 0; i < BLOCKS; i++) {
		add_events(to, 1 + (unsigned)any() % 600, sources);
		lost += any() % 5;
		now = &direct;
		columns_write(to[0], lost);
		now = &kept;
		columns_write(to[1], lost);
	}
	columns_release(to[1]);
	ok(!to[0]->failed && !to[1]->failed && direct.lost == lost &&
	        to[0]->events == direct.count && to[1]->events == direct.count,
	    "%u events are recorded", direct.count);
	columns_free(to[0]);
	columns_free(to[1]);
}

/*
 * Of the events that were overwritten those are left that later ones need, and
 * the others count as lost.
 */
static void
test_ring(uint64_t bytes)
{
	unsigned i, at = 0, first = MOST, last = 0, missing = 0, bad = 0;

	record(bytes);
	for (i = 0; i < direct.count; i++) {
		if (at < kept.count &&
		    memcmp(&kept.events[at], &direct.events[i],
		        sizeof(kept.events[0])) == 0) {
			if (first == MOST && !is_needed(direct.events[i].code))
				first = i;
			at++;
		} else {
			bad += (unsigned)is_needed(direct.events[i].code);
			missing++;
			last = i;
		}
	}
	ok(at == kept.count && bad == 0 && missing > 0,
	    "of %u events %u are left, with all that are needed", i, at);
	ok(last < first && first < direct.count, "they are the last ones");
	ok(kept.lost == direct.lost + missing, "the others are lost");
}

int
main(void)
{
	uint64_t bytes;

	record(UINT64_MAX);
	ok(kept.count == direct.count && kept.lost == direct.lost &&
	        memcmp(kept.events, direct.events, sizeof(kept.events)) == 0,
	    "with room for all, all are kept");
	ok(kept.names == direct.names && kept.names > SOURCES &&
	        memcmp(kept.name, direct.name, sizeof(kept.name)) == 0,
	    "and their names");
	for (bytes = 1; bytes < 200000; bytes *= 20)
		test_ring(bytes);
	return done();
}
