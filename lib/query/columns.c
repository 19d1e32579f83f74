/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Columns of events with a heap of their bytes.  A flush of a log is a few
 * pieces, each in order of time or against it, so what is sorted is merged from
 * such pieces.
 */
#include "query/columns.h"

#include <stdlib.h>

#include "base/array.h"

/* Bytes between the events of a run that are copied with them. */
#define GAPS_MOST 1024u

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
	free(c->merged);
	free(c->ends);
	memset(c, 0, sizeof(*c));
}

/* --------------------------------------------------------------- adding */

/* Nonzero when the places of the events of a run can be counted from ours. */
static int
is_near(const struct tel_columns *c, const struct tel_run *run)
{
	/* a run is far smaller than what is left then */
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
	        (c->schema == run->first->schema && is_near(c, run)));
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
compact(struct tel_columns *c)
{
	const size_t n = tel_columns_count(c);
	struct tel_columns to = *c;
	size_t i, row;

	to.types = to.sizes = to.at = to.numbers = to.starts = NULL;
	to.room = to.used = 0;
	to.bytes = malloc(c->size);
	if (to.bytes == NULL || !reserve_rows(&to, n)) {
		free_rows(&to);
		return 0;
	}
	memmove(c->keys, c->keys + c->first, n * sizeof(*c->keys));
	for (i = 0; i < n; i++) {
		row = c->keys[i].row;
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
 * if all are copied as they are; *all: how many those are then, with what is
 * between them.  Returns how many bytes the events have.
 */
static size_t
add_keys(struct tel_columns *c, const struct tel_run *run, size_t n,
    size_t *all)
{
	const unsigned char *const first = run->data[0], *at = first;
	struct tel_columns_key *key = c->keys + c->count;
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
	*all = ordered && (size_t)(at - first) - sum <= GAPS_MOST ?
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
	size_t i;

	/* as much never waits */
	if (sum + GAPS_MOST > UINT32_MAX - c->used ||
	    !TEL__RESERVE(c->bytes, c->size, c->used + sum + GAPS_MOST))
		return 0;
	if (all != SIZE_MAX) {
		memcpy(c->bytes + c->used, run->data[0], all);
		c->used += all;
		return 1;
	}
	for (i = 0; i < n; i++) {
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
	size_t i;

	if (more == 0) {
		memcpy(to, from, n * sizeof(*to));
		return;
	}
	for (i = 0; i < n; i++)
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
	} else if (c->first >= left && !compact(c)) {
		return TEL_ENOMEM;
	}
	row = c->rows;
	if (!TEL__RESERVE(c->keys, c->keys_room, c->count + n) ||
	    !reserve_rows(c, row + n))
		return TEL_ENOMEM;
	sum = add_keys(c, run, n, &all);
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

/*
 * Finds the pieces of n keys that are in order, turns those around that are in
 * opposite order, and returns how many there are; 0: no memory.
 */
static size_t
find_pieces(struct tel_columns *c, struct tel_columns_key *k, size_t n)
{
	struct tel_columns_key key;
	size_t i, j, low, high, pieces = 0;

	for (i = 0; i < n; i = j) {
		j = i + 1;
		if (j < n && k[j].clock < k[i].clock) {
			while (j < n && k[j].clock < k[j - 1].clock)
				j++;
			for (low = i, high = j; low + 1 < high; low++) {
				key = k[--high];
				k[high] = k[low];
				k[low] = key;
			}
		}
		while (j < n && k[j].clock >= k[j - 1].clock)
			j++;
		if (!TEL__RESERVE(c->ends, c->ends_room, pieces + 1))
			return 0;
		c->ends[pieces++] = j;
	}
	return pieces;
}

/* Merges a piece that ends at middle with the one after it. */
static void
merge(const struct tel_columns_key *from, struct tel_columns_key *to,
    size_t start, size_t middle, size_t end)
{
	const struct tel_columns_key *a = from + start, *b = from + middle;
	const struct tel_columns_key *const a_end = b,
	                                    *const b_end = from + end;
	int later;

	to += start;
	while (a < a_end && b < b_end) {
		/* which is next is random, so that a branch would cost more */
		later = b->clock < a->clock;
		*to++ = *(later ? b : a);
		b += later;
		a += !later;
	}
	memcpy(to, a, (size_t)(a_end - a) * sizeof(*a));
	to += a_end - a;
	memcpy(to, b, (size_t)(b_end - b) * sizeof(*b));
}

/* Merges pairs of pieces, until there is one; returns where it is. */
static const struct tel_columns_key *
merge_all(struct tel_columns *c, struct tel_columns_key *from,
    struct tel_columns_key *to, size_t pieces)
{
	struct tel_columns_key *other;
	size_t i, n, start, middle, end;

	while (pieces > 1) {
		for (i = n = start = 0; i < pieces; i += 2, start = end) {
			middle = c->ends[i];
			end = i + 1 < pieces ? c->ends[i + 1] : middle;
			merge(from, to, start, middle, end);
			c->ends[n++] = end;
		}
		pieces = n;
		other = from;
		from = to;
		to = other;
	}
	return from;
}

tel_status
tel__columns_sort(struct tel_columns *c)
{
	const size_t n = tel_columns_count(c);
	struct tel_columns_key *keys = c->keys + c->first;
	const struct tel_columns_key *sorted;
	size_t pieces = find_pieces(c, keys, n);

	if (pieces == 0 && n > 0)
		return TEL_ENOMEM;
	if (pieces <= 1)
		return TEL_OK;
	if (!TEL__RESERVE(c->merged, c->merged_room, n))
		return TEL_ENOMEM;
	sorted = merge_all(c, keys, c->merged, pieces);
	if (sorted != keys)
		memcpy(keys, sorted, n * sizeof(*keys));
	return TEL_OK;
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
	const struct tel_columns_key *key;

	if (c->first == c->count)
		return NULL;
	key = &c->keys[c->first++];
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
	const struct tel_columns_key *key = c->keys + c->first;
	size_t i, row;

	n = n < TEL_RUN_MOST ? n : TEL_RUN_MOST;
	for (i = 0; i < n; i++) {
		row = key[i].row;
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
