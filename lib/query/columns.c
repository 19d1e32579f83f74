/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Columns of events with a heap of their bytes.
 */
#include "query/columns.h"

#include <stdlib.h>

#include "base/array.h"

/* Bytes between the events of a run that are copied with them. */
#define GAPS_MAX 1024u

static void
free_rows(struct tel_columns *c)
{
	free(c->types);
	free(c->sizes);
	free(c->at);
	free(c->numbers);
	free(c->starts);
	free(c->bytes);
}

void
tel__columns_free(struct tel_columns *c)
{
	free_rows(c);
	free(c->keys);
	tel__sorter_clear(&c->sorter);
	memset(c, 0, sizeof(*c));
}

/* --------------------------------------------------------------- adding */

/* Nonzero when the places of the events of a run can be counted from ours. */
static int
is_near(const struct tel_columns *c, const struct tel_run *run)
{
	/* a run is far smaller than the rest then */
	return run->offset >= c->offset && run->index >= c->index &&
	    run->offset - c->offset < UINT32_MAX / 2 &&
	    run->index - c->index < UINT32_MAX / 2;
}

int
tel__columns_may(const struct tel_columns *c, const struct tel_run *run)
{
	return run_is_plain(run) && run->event->raw_size == 0 &&
	    !run->first->unknown &&
	    run->first->index < run->first->schema->ntypes &&
	    (tel_columns_count(c) == 0 ||
	        (c->event.log == run->event->log &&
	            c->schema == run->first->schema && is_near(c, run)));
}

/* Room for n rows.  0: no memory. */
static int
reserve_rows(struct tel_columns *c, size_t n)
{
	const size_t room = tel__array_next(c->room, n);

	if (n <= c->room)
		return 1;
	if (!TEL__RESIZE(c->types, room) || !TEL__RESIZE(c->sizes, room) ||
	    !TEL__RESIZE(c->at, room) || !TEL__RESIZE(c->numbers, room) ||
	    !TEL__RESIZE(c->starts, room))
		return 0;
	c->room = room;
	return 1;
}

/* Forgets what was added and is not held any more.  0: no memory. */
static int
query_columns_compact(struct tel_columns *c)
{
	const size_t n = tel_columns_count(c);
	struct tel_columns to = *c;

	to.types = to.sizes = to.at = to.numbers = to.starts = NULL;
	to.room = to.used = 0;
	to.bytes = malloc(c->size);
	if (to.bytes == NULL || !reserve_rows(&to, n)) {
		free_rows(&to);
		return 0;
	}
	memmove(c->keys, c->keys + c->first, n * sizeof(*c->keys));
	for (size_t i = 0; i < n; i++) {
		size_t row = c->keys[i].row;

		c->keys[i].row = i;
		to.types[i] = c->types[row];
		to.sizes[i] = c->sizes[row];
		to.at[i] = c->at[row];
		to.numbers[i] = c->numbers[row];
		to.starts[i] = (uint32_t)to.used;
		memcpy(to.bytes + to.used, c->bytes + c->starts[row],
		    c->sizes[row]);
		to.used += c->sizes[row];
	}
	free_rows(c);
	*c = to;
	c->first = 0;
	c->count = c->rows = n;
	return 1;
}

/*
 * Adds n events of a run behind the rows: their keys, and where their bytes go
 * if all are copied as they are; *all: how many those are then, with the bytes
 * between them.  Returns how many bytes the events have.
 */
static size_t
query_columns_add_keys(struct tel_columns *c, const struct tel_run *run,
    size_t n, size_t *all)
{
	const unsigned char *const first = run->data[0], *at = first;
	struct tel__sort_key *key = c->keys + c->count;
	uint32_t *starts = c->starts + c->rows;
	size_t i, sum = 0;
	int ordered = 1;

	for (i = 0; i < n; i++) {
		ordered &= run->data[i] >= at;
		at = run->data[i] + run->sizes[i];
		sum += run->sizes[i];
		starts[i] =
		    (uint32_t)(c->used + (size_t)(run->data[i] - first));
		key[i].clock = run->clocks[i];
		key[i].row = c->rows + i;
	}
	*all = ordered && (size_t)(at - first) - sum <= GAPS_MAX ?
	    (size_t)(at - first) :
	    SIZE_MAX;
	return sum;
}

/* Copies their bytes.  0: no memory. */
static int
copy_bytes(struct tel_columns *c, const struct tel_run *run, size_t n,
    size_t all, size_t sum)
{
	uint32_t *starts = c->starts + c->rows;

	/* as much never waits */
	if (sum + GAPS_MAX > UINT32_MAX - c->used ||
	    !TEL__RESERVE(c->bytes, c->size, c->used + sum + GAPS_MAX))
		return 0;
	if (all != SIZE_MAX) {
		memcpy(c->bytes + c->used, run->data[0], all);
		c->used += all;
		return 1;
	}
	for (size_t i = 0; i < n; i++) {
		starts[i] = (uint32_t)c->used;
		memcpy(c->bytes + c->used, run->data[i], run->sizes[i]);
		c->used += run->sizes[i];
	}
	return 1;
}

/* Copies numbers, each of them so much more. */
static void
copy_numbers(uint32_t *to, const uint32_t *from, size_t n, uint64_t more)
{
	if (more == 0) {
		memcpy(to, from, n * sizeof(*to));
		return;
	}
	for (size_t i = 0; i < n; i++)
		to[i] = from[i] + (uint32_t)more;
}

tel_status
tel__columns_add(struct tel_columns *c, struct tel_run *run, size_t n)
{
	const size_t left = tel_columns_count(c);
	size_t row, sum, all;

	if (n == 0)
		return TEL_OK;
	if (left == 0) {
		c->first = c->count = c->rows = c->used = 0;
		c->offset = run->offset;
		c->index = run->index;
	} else if (c->first >= left && !query_columns_compact(c)) {
		return TEL_ENOMEM;
	}
	row = c->rows;
	if (!TEL__RESERVE(c->keys, c->keys_room, c->count + n) ||
	    !reserve_rows(c, row + n))
		return TEL_ENOMEM;
	sum = query_columns_add_keys(c, run, n, &all);
	if (!copy_bytes(c, run, n, all, sum))
		return TEL_ENOMEM;
	memcpy(c->types + row, run->types, n * sizeof(*c->types));
	memcpy(c->sizes + row, run->sizes, n * sizeof(*c->sizes));
	copy_numbers(c->at + row, run->at, n, run->offset - c->offset);
	copy_numbers(c->numbers + row, run->numbers, n, run->index - c->index);
	c->rows += n;
	c->count += n;
	c->schema = run->first->schema;
	c->event = *run->event;
	return TEL_OK;
}

/* -------------------------------------------------------------- sorting */

tel_status
tel__columns_sort(struct tel_columns *c)
{
	return tel__sort_keys(&c->sorter, c->keys + c->first,
	           tel_columns_count(c)) ?
	    TEL_OK :
	    TEL_ENOMEM;
}

size_t
tel__columns_until(const struct tel_columns *c, uint64_t clock)
{
	size_t i = c->first;

	if (clock == UINT64_MAX)
		return tel_columns_count(c);
	while (i < c->count && c->keys[i].clock <= clock)
		i++;
	return i - c->first;
}

/* --------------------------------------------------------------- taking */

const struct tel_event *
tel__columns_take(struct tel_columns *c)
{
	if (c->first == c->count)
		return NULL;
	const struct tel__sort_key *key = &c->keys[c->first++];
	c->event.type = &c->schema->types[c->types[key->row]];
	c->event.data = c->bytes + c->starts[key->row];
	c->event.clock = key->clock;
	c->event.size = c->sizes[key->row];
	c->event.offset = c->offset + c->at[key->row];
	c->event.index = c->index + c->numbers[key->row];
	return &c->event;
}

struct tel_run *
tel__columns_run(struct tel_columns *c, size_t n)
{
	const struct tel__sort_key *key = c->keys + c->first;

	n = n < TEL_RUN_MAX ? n : TEL_RUN_MAX;
	for (size_t i = 0; i < n; i++) {
		size_t row = key[i].row;

		c->run_clocks[i] = key[i].clock;
		c->run_data[i] = c->bytes + c->starts[row];
		c->run_types[i] = c->types[row];
		c->run_sizes[i] = c->sizes[row];
		c->run_at[i] = c->at[row];
		c->run_numbers[i] = c->numbers[row];
	}
	c->first += n;
	c->run = (struct tel_run){ .data = c->run_data,
		.clocks = c->run_clocks,
		.types = c->run_types,
		.sizes = c->run_sizes,
		.at = c->run_at,
		.numbers = c->run_numbers,
		.count = n,
		.offset = c->offset,
		.index = c->index,
		.first = &c->schema->types[c->run_types[0]],
		.event = &c->event };
	(void)run_event(&c->run, 0);
	return &c->run;
}
