/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Columns: copies of events that are their bytes alone, taken and returned as
 * runs, in the order they came or sorted by time.
 */
#ifndef TEL_COLUMNS_H
#define TEL_COLUMNS_H

#include "base/sort.h"
#include "model/run.h"

struct tel_columns {
	/* those held are from first to count */
	struct tel__sort_key *keys;
	size_t first, count, keys_room;
	/* all that was added, as it came */
	uint32_t *types, *sizes;
	uint32_t *at, *numbers; /* from .offset and .index on */
	uint32_t *starts;       /* of its bytes */
	size_t rows, room;
	uint64_t offset, index;
	unsigned char *bytes;
	size_t used, size;
	const struct tel_schema *schema;
	struct tel__sorter sorter;
	/* the run that was returned last */
	struct tel_run run;
	struct tel_event event;
	const unsigned char *run_data[TEL_RUN_MAX];
	uint64_t run_clocks[TEL_RUN_MAX];
	uint32_t run_types[TEL_RUN_MAX], run_sizes[TEL_RUN_MAX];
	uint32_t run_at[TEL_RUN_MAX], run_numbers[TEL_RUN_MAX];
};

void tel__columns_free(struct tel_columns *c);

/* How many events are held. */
static inline size_t
tel_columns_count(const struct tel_columns *c)
{
	return c->count - c->first;
}

/* Bytes that they take. */
static inline size_t
tel_columns_size(const struct tel_columns *c)
{
	return c->used + c->rows * 5 * sizeof(*c->types) +
	    c->count * sizeof(*c->keys);
}

/* Nonzero when the events of a run can be held beside those that are. */
int tel__columns_may(const struct tel_columns *c, const struct tel_run *run);

/* Copies the first n events of a run.  TEL_OK, TEL_ENOMEM. */
tel_status tel__columns_add(struct tel_columns *c, struct tel_run *run,
    size_t n);

/* Sorts the events by clock; those with equal clocks keep their order. */
tel_status tel__columns_sort(struct tel_columns *c);

/* How many events at the front have at most that clock, if they are sorted. */
size_t tel__columns_until(const struct tel_columns *c, uint64_t clock);

/*
 * The first event, which leaves; its bytes are valid until events are added.
 * NULL: there is none.
 */
const struct tel_event *tel__columns_take(struct tel_columns *c);

/*
 * The same of as many as a run holds, of the first n, which is at least 1; the
 * run is valid until the next call.
 */
struct tel_run *tel__columns_run(struct tel_columns *c, size_t n);

#endif
