/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Blocks of events in memory, each packed: of a column, the least value and
 * the differences from it in as few bytes as the largest one needs.
 */
#include "telrec/flight.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/bytes.h"
#include "base/varint.h"
#include "telrec/types.h"

/* Parts of a block, at most: the place of one is a byte. */
#define PARTS 256u

/* A block; its bytes follow. */
struct block {
	struct block *next;
	size_t bytes;
	uint64_t lost;
	unsigned count, part_count, clock_count, name_count;
};

struct list {
	struct block *first, *last;
};

struct flight {
	uint64_t limit, used;
	uint32_t options;
	struct list kept; /* of old blocks: what later ones need */
	struct list recent;
	uint64_t overwritten;      /* events */
	struct tel__buffer packed; /* the block that is made */
	uint64_t *cells;           /* of the block that is read */
	size_t cells_used;
	uint8_t order[TEL_EMIT_COLUMNS_MAX];
	uint64_t clocks[TEL_EMIT_COLUMNS_MAX];
	uint32_t shared[TEL_EMIT_COLUMNS_MAX];
	const char *labels[TEL_EMIT_COLUMNS_MAX];
	uint64_t wide[TEL_EMIT_COLUMNS_MAX]; /* others, as a column */
};

struct flight *
flight_new(uint64_t bytes, uint32_t options)
{
	struct flight *f = calloc(1, sizeof(*f));

	if (f == NULL)
		return NULL;
	f->limit = bytes;
	f->options = options;
	/* each event has its fields and a clock, and columns may be of one */
	f->cells = malloc((TYPE_FIELDS + 2) * (TEL_EMIT_COLUMNS_MAX + PARTS) *
	    sizeof(*f->cells));
	if (f->cells == NULL) {
		free(f);
		return NULL;
	}
	return f;
}

static void
flight_free_list(struct list *list)
{
	struct block *b;

	while ((b = list->first) != NULL) {
		list->first = b->next;
		free(b);
	}
	list->last = NULL;
}

void
flight_free(struct flight *f)
{
	if (f == NULL)
		return;
	flight_free_list(&f->kept);
	flight_free_list(&f->recent);
	tel__buffer_clear(&f->packed);
	free(f->cells);
	free(f);
}

/* --------------------------------------------------------------- packing */

static void
flight_put_column(struct tel__buffer *b, const uint64_t *values, unsigned n)
{
	uint64_t least = UINT64_MAX, most = 0;
	unsigned char width, *to;

	for (unsigned i = 0; i < n; i++) {
		least = values[i] < least ? values[i] : least;
		most = values[i] > most ? values[i] : most;
	}
	for (width = 0; n > 0 && width < 8; width++)
		if ((most - least) >> (8 * width) == 0)
			break;
	tel__buffer_put_varint(b, least);
	tel__buffer_put(b, &width, 1);
	to = tel__buffer_room(b, (size_t)n * width + 1);
	if (to == NULL)
		return;
	for (unsigned i = 0; i < n; i++, to += width)
		tel_store(to, values[i] - least, width, 0);
	b->used += (size_t)n * width;
}

static void
flight_put_names(struct tel__buffer *b, const tel_emit_columns *from)
{
	for (unsigned i = 0; i < from->name_count; i++) {
		const char *name = from->names[i].name;

		tel__buffer_put_varint(b, from->names[i].space);
		tel__buffer_put_varint(b, from->names[i].value);
		tel__buffer_put(b, name, strlen(name) + 1);
	}
}

static void
flight_put_part(struct flight *f, const tel_emit_part *part)
{
	const unsigned fields =
	    types_fields((enum type)(part->code - 1), f->options);
	struct tel__buffer *b = &f->packed;

	tel__buffer_put_varint(b, part->code);
	tel__buffer_put_varint(b, part->count);
	tel__buffer_put_varint(b, part->same);
	for (unsigned i = 0; i < fields + 2; i++)
		flight_put_column(b, part->columns[i],
		    part->same >> i & 1 ? 1 : part->count);
	tel__buffer_put_varint(b, part->labels != NULL);
	if (part->labels == NULL)
		return;
	/* they are kept elsewhere as long as the recording */
	for (unsigned i = 0; i < part->count; i++)
		f->wide[i] = (uintptr_t)part->labels[i];
	flight_put_column(b, f->wide, part->count);
}

/* Packs a block and appends it to a list.  0: out of memory. */
static int
flight_pack(struct flight *f, struct list *list, const tel_emit_columns *from)
{
	struct tel__buffer *b = &f->packed;
	struct block *block;

	b->used = 0;
	flight_put_names(b, from);
	tel__buffer_put(b, from->order, from->count);
	flight_put_column(b, from->clocks, from->clock_count);
	for (unsigned i = 0; i < from->clock_count; i++)
		f->wide[i] = from->shared[i];
	flight_put_column(b, f->wide, from->clock_count);
	for (unsigned i = 0; i < from->part_count; i++)
		flight_put_part(f, &from->parts[i]);
	block = b->failed ? NULL : malloc(sizeof(*block) + b->used);
	if (block == NULL)
		return 0;
	*block = (struct block){ NULL, sizeof(*block) + b->used, from->lost,
		from->count, from->part_count, from->clock_count,
		from->name_count };
	memcpy(block + 1, b->bytes, b->used);
	if (list->last != NULL)
		list->last->next = block;
	else
		list->first = block;
	list->last = block;
	return 1;
}

/* ------------------------------------------------------------- unpacking */

/* A block as libtel-emit takes it. */
struct unpacked {
	tel_emit_columns all;
	tel_emit_part parts[PARTS];
	const uint64_t *columns[PARTS][TYPE_FIELDS];
	tel_emit_name names[];
};

static uint64_t
flight_take_number(const unsigned char **at)
{
	uint64_t v = 0;

	*at = tel__varint_get(*at, *at + TEL__VARINT_MAX, &v);
	return v;
}

static uint64_t *
take_column(struct flight *f, const unsigned char **at, unsigned n)
{
	uint64_t *to = f->cells + f->cells_used, v;
	const uint64_t least = flight_take_number(at);
	const unsigned width = *(*at)++;

	for (unsigned i = 0; i < n; i++, *at += width) {
		v = 0;
		for (unsigned k = 0; k < width; k++)
			v |= (uint64_t)(*at)[k] << (8 * k);
		to[i] = v + least;
	}
	f->cells_used += n;
	return to;
}

/* The labels of a part, from place to of those of the block on. */
static void
take_labels(struct flight *f, const unsigned char **at, tel_emit_part *part,
    unsigned to)
{
	part->labels = NULL;
	part->labelled = 1;
	if (!flight_take_number(at))
		return;
	const uint64_t *pointers = take_column(f, at, part->count);
	for (unsigned i = 0; i < part->count; i++)
		f->labels[to + i] = (const char *)(uintptr_t)pointers[i];
	part->labels = f->labels + to;
}

/* Its columns are valid until the next one.  NULL: out of memory. */
static struct unpacked *
unpack(struct flight *f, const struct block *block)
{
	const unsigned char *at = (const unsigned char *)(block + 1);
	struct unpacked *u =
	    malloc(sizeof(*u) + block->name_count * sizeof(u->names[0]));
	unsigned i, k, fields, events = 0;

	if (u == NULL)
		return NULL;
	f->cells_used = 0;
	u->all = (tel_emit_columns){ .count = block->count,
		.part_count = block->part_count,
		.name_count = block->name_count,
		.parts = u->parts,
		.clock_count = block->clock_count,
		.names = u->names,
		.lost = block->lost };
	for (i = 0; i < block->name_count; i++) {
		u->names[i].space = (unsigned)flight_take_number(&at);
		u->names[i].value = flight_take_number(&at);
		u->names[i].name = (const char *)at;
		at += strlen(u->names[i].name) + 1;
	}
	u->all.order = at;
	at += block->count;
	u->all.clocks = take_column(f, &at, block->clock_count);
	uint64_t *values = take_column(f, &at, block->clock_count);
	for (i = 0; i < block->clock_count; i++)
		f->shared[i] = (uint32_t)values[i];
	u->all.shared = f->shared;
	for (i = 0; i < block->part_count; i++) {
		tel_emit_part *part = &u->parts[i];

		part->code = (unsigned)flight_take_number(&at);
		part->count = (unsigned)flight_take_number(&at);
		part->same = flight_take_number(&at);
		part->columns = u->columns[i];
		fields = types_fields((enum type)(part->code - 1), f->options);
		for (k = 0; k < fields + 2; k++)
			u->columns[i][k] = take_column(f, &at,
			    part->same >> k & 1 ? 1 : part->count);
		take_labels(f, &at, part, events);
		events += part->count;
	}
	return u;
}

/* ----------------------------------------------------------------- recorder */

/* Whether later blocks need the events of a type. */
static int
is_needed(unsigned code)
{
	return code == TYPE_TRACE + 1u || code == TYPE_PROCESS + 1u;
}

/* Leaves of a block what later ones need. */
static void
reduce(struct flight *f, struct unpacked *u)
{
	unsigned place[PARTS], i, k, end, parts = 0, events = 0, n = 0, left;

	for (i = 0; i < u->all.part_count; i++) {
		place[i] = PARTS;
		if (is_needed(u->parts[i].code)) {
			place[i] = parts;
			u->parts[parts++] = u->parts[i];
		}
	}
	for (i = 0, k = 0; i < u->all.clock_count; i++) {
		left = 0;
		for (end = k + u->all.shared[i]; k < end; k++) {
			if (place[u->all.order[k]] == PARTS)
				continue;
			f->order[events++] = (uint8_t)place[u->all.order[k]];
			left++;
		}
		if (left == 0)
			continue;
		/* not behind events still to be read */
		f->clocks[n] = u->all.clocks[i];
		f->shared[n++] = left;
	}
	u->all.count = events;
	u->all.part_count = parts;
	u->all.clock_count = n;
	u->all.order = f->order;
	u->all.clocks = f->clocks;
	u->all.shared = f->shared;
}

/* Drops the oldest block.  0: out of memory. */
static int
flight_drop(struct flight *f)
{
	struct block *oldest = f->recent.first;
	struct unpacked *u = unpack(f, oldest);

	if (u == NULL)
		return 0;
	reduce(f, u);
	f->overwritten += oldest->count - u->all.count + oldest->lost;
	u->all.lost = 0;
	int st = u->all.count == 0 || flight_pack(f, &f->kept, &u->all);
	free(u);
	if (!st)
		return 0;
	f->recent.first = oldest->next;
	if (oldest->next == NULL)
		f->recent.last = NULL;
	f->used -= oldest->bytes;
	free(oldest);
	return 1;
}

int
flight_add(struct flight *f, const tel_emit_columns *block)
{
	if (!flight_pack(f, &f->recent, block))
		return -1;
	f->used += f->recent.last->bytes;
	while (f->used > f->limit && f->recent.first != f->recent.last)
		if (!flight_drop(f))
			return -1;
	return 0;
}

static int
write_list(struct flight *f, struct list *list)
{
	struct unpacked *u;
	struct block *b;
	int failed = 0;

	while (!failed && (b = list->first) != NULL) {
		u = unpack(f, b);
		if (u == NULL) {
			errno = ENOMEM;
			return -1;
		}
		u->all.lost += f->overwritten;
		f->overwritten = 0;
		failed = tel_emit_relay(&u->all);
		free(u);
		list->first = b->next;
		free(b);
	}
	if (list->first == NULL)
		list->last = NULL;
	return failed;
}

int
flight_write(struct flight *f)
{
	const int failed = write_list(f, &f->kept) || write_list(f, &f->recent);

	f->used = 0;
	return failed ? -1 : 0;
}
