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

void
tel__columns_free(struct tel_columns *c)
{
	free(c->events);
	free(c->bytes);
	free(c->keys);
	free(c->sorted);
	free(c->ends);
	memset(c, 0, sizeof(*c));
}

/* --------------------------------------------------------------- adding */

int
tel__columns_may(const struct tel_columns *c, const struct tel_run *run)
{
	return run_is_plain(run) && run->event->raw_size == 0 &&
	    !run->first->unknown &&
	    run->first->index < run->first->schema->ntypes &&
	    (tel_columns_count(c) == 0 || c->schema == run->first->schema);
}

/* Moves what is held to the start of the buffers.  0: no memory. */
static int
compact(struct tel_columns *c)
{
	const size_t n = tel_columns_count(c);
	unsigned char *bytes;
	size_t i, used = 0;

	if (n == 0) {
		c->first = c->count = c->used = 0;
		return 1;
	}
	bytes = malloc(c->size);
	if (bytes == NULL)
		return 0;
	memmove(c->events, c->events + c->first, n * sizeof(*c->events));
	for (i = 0; i < n; i++) {
		memcpy(bytes + used, c->bytes + c->events[i].data,
		    c->events[i].size);
		c->events[i].data = used;
		used += c->events[i].size;
	}
	free(c->bytes);
	c->bytes = bytes;
	c->used = used;
	c->first = 0;
	c->count = n;
	return 1;
}

/* The bytes from the first to the last of n events, if they are in order. */
static size_t
extent_of(const struct tel_run *run, size_t n, size_t sum)
{
	const unsigned char *at = run->data[0];
	size_t i;

	for (i = 0; i < n; i++) {
		if (run->data[i] < at)
			return SIZE_MAX;
		at = run->data[i] + run->sizes[i];
	}
	return (size_t)(at - run->data[0]) - sum > GAPS_MOST ?
	    SIZE_MAX :
	    (size_t)(at - run->data[0]);
}

tel_status
tel__columns_add(struct tel_columns *c, struct tel_run *run, size_t n)
{
	size_t i, sum = 0, extent;
	struct tel_columns_event *e;

	for (i = 0; i < n; i++)
		sum += run->sizes[i];
	extent = extent_of(run, n, sum);
	if (c->first > 0 && c->first >= tel_columns_count(c) && !compact(c))
		return TEL_ENOMEM;
	if (!TEL__RESERVE(c->events, c->room, c->count + n) ||
	    !TEL__RESERVE(c->bytes, c->size,
	        c->used + (extent != SIZE_MAX ? extent : sum)))
		return TEL_ENOMEM;
	if (extent != SIZE_MAX && n > 0)
		memcpy(c->bytes + c->used, run->data[0], extent);
	for (i = 0; i < n; i++) {
		e = &c->events[c->count++];
		e->clock = run->clocks[i];
		e->offset = run->offset + run->at[i];
		e->index = run->index + run->numbers[i];
		e->type = run->types[i];
		e->size = run->sizes[i];
		e->data = c->used;
		if (extent != SIZE_MAX) {
			e->data += (size_t)(run->data[i] - run->data[0]);
		} else {
			memcpy(c->bytes + c->used, run->data[i], e->size);
			c->used += e->size;
		}
	}
	c->used += extent != SIZE_MAX ? extent : 0;
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
	const struct tel_columns_key *keys;
	struct tel_columns_event *sorted;
	size_t i, pieces;

	if (!TEL__RESERVE(c->keys, c->keys_room, 2 * n))
		return TEL_ENOMEM;
	for (i = 0; i < n; i++) {
		c->keys[i].clock = c->events[c->first + i].clock;
		c->keys[i].at = c->first + i;
	}
	pieces = find_pieces(c, c->keys, n);
	if (pieces == 0 && n > 0)
		return TEL_ENOMEM;
	keys = merge_all(c, c->keys, c->keys + n, pieces);
	if (!TEL__RESERVE(c->sorted, c->sorted_room, n))
		return TEL_ENOMEM;
	for (i = 0; i < n; i++)
		c->sorted[i] = c->events[keys[i].at];
	sorted = c->sorted;
	c->sorted = c->events;
	c->events = sorted;
	i = c->sorted_room;
	c->sorted_room = c->room;
	c->room = i;
	c->first = 0;
	c->count = n;
	return TEL_OK;
}

size_t
tel__columns_until(const struct tel_columns *c, uint64_t clock)
{
	size_t i = c->first;

	if (clock == UINT64_MAX)
		return tel_columns_count(c);
	while (i < c->count && c->events[i].clock <= clock)
		i++;
	return i - c->first;
}

/* --------------------------------------------------------------- taking */

const struct tel_event *
tel__columns_take(struct tel_columns *c)
{
	const struct tel_columns_event *e;

	if (c->first == c->count)
		return NULL;
	e = &c->events[c->first++];
	c->event.type = &c->schema->types[e->type];
	c->event.data = c->bytes + e->data;
	c->event.clock = e->clock;
	c->event.size = e->size;
	c->event.offset = e->offset;
	c->event.index = e->index;
	return &c->event;
}

struct tel_run *
tel__columns_run(struct tel_columns *c, size_t n)
{
	const struct tel_columns_event *e = c->events + c->first;
	uint64_t offset = UINT64_MAX, index = UINT64_MAX;
	size_t i;

	n = n < TEL_RUN_MOST ? n : TEL_RUN_MOST;
	for (i = 0; i < n; i++) {
		offset = e[i].offset < offset ? e[i].offset : offset;
		index = e[i].index < index ? e[i].index : index;
	}
	if (e->offset - offset > UINT32_MAX || e->index - index > UINT32_MAX) {
		offset = e->offset;
		index = e->index;
		n = 1;
	}
	for (i = 0; i < n; i++, e++) {
		/* what is farther away is of another run */
		if (e->offset - offset > UINT32_MAX ||
		    e->index - index > UINT32_MAX)
			break;
		c->data[i] = c->bytes + e->data;
		c->clocks[i] = e->clock;
		c->types[i] = e->type;
		c->sizes[i] = e->size;
		c->at[i] = (uint32_t)(e->offset - offset);
		c->numbers[i] = (uint32_t)(e->index - index);
	}
	c->first += i;
	c->run = (struct tel_run){ .data = c->data,
		.clocks = c->clocks,
		.types = c->types,
		.sizes = c->sizes,
		.at = c->at,
		.numbers = c->numbers,
		.count = i,
		.offset = offset,
		.index = index,
		.first = &c->schema->types[c->types[0]],
		.event = &c->event };
	(void)run_event(&c->run, 0);
	return &c->run;
}
