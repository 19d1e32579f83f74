/* SPDX-License-Identifier: BSD-2-Clause */
/* A block of the native format while it collects events. */
#include "base/array.h"
#include "format/tel/writer.h"

#include <stdlib.h>

tel_status
tel__out_block_begin(struct out_block *b)
{
	memset(b, 0, sizeof(*b));
	tel__table_init(&b->by_key);
	b->part_of = malloc(NATIVE_EVENTS_MAX * sizeof(*b->part_of));
	b->clocks = malloc(NATIVE_EVENTS_MAX * sizeof(*b->clocks));
	b->gaps = malloc(NATIVE_EVENTS_MAX * sizeof(*b->gaps));
	if (b->part_of != NULL && b->clocks != NULL && b->gaps != NULL)
		return TEL_OK;
	tel__out_block_end(b);
	return TEL_ENOMEM;
}

static void
free_blobs(struct out_blobs *blobs)
{
	tel__buffer_clear(&blobs->bytes);
	free(blobs->sizes);
}

void
tel__out_block_end(struct out_block *b)
{
	for (unsigned i = 0; i < b->part_room; i++) {
		tel__buffer_clear(&b->parts[i].rows);
		free(b->parts[i].sizes);
		free(b->parts[i].ranges);
		free_blobs(&b->parts[i].tail);
		free_blobs(&b->parts[i].raw);
		free_blobs(&b->parts[i].lead);
		free_blobs(&b->parts[i].inline_labels);
	}
	free(b->parts);
	for (unsigned i = 0; i < b->slot_room; i++)
		free(b->slots[i].parts);
	free(b->slots);
	free(b->part_of);
	free(b->clocks);
	free(b->gaps);
	tel__buffer_clear(&b->names);
	tel__table_clear(&b->by_key);
	memset(b, 0, sizeof(*b));
}

void
tel__out_block_clear(struct out_block *b)
{
	tel__table_clear(&b->by_key);
	b->nslots = 0;
	b->nparts = 0;
	b->count = 0;
	b->ngaps = 0;
	b->bytes = 0;
	b->names.used = 0;
	b->nnames = 0;
}

int
tel__out_block_slot(struct out_block *b, struct out_log *log,
    struct out_schema *schema)
{
	const uint64_t key =
	    (uintptr_t)log ^ ((uint64_t)(uintptr_t)schema << 29);
	int fresh;
	struct tel__entry *e = tel__table_put(&b->by_key, key, &fresh);

	if (e == NULL)
		return -1;
	/* two may have one key: those before are looked through */
	for (unsigned n = fresh ? 0 : (unsigned)e->value + 1; n > 0; n--)
		if (b->slots[n - 1].log == log &&
		    b->slots[n - 1].schema == schema)
			return (int)n - 1;
	if (!TEL__RESERVE_ZEROED(b->slots, b->slot_room, b->nslots + 1u))
		return -1;
	struct out_slot *slot = &b->slots[b->nslots];
	unsigned n = schema->native.schema->ntypes;
	if (!TEL__RESERVE(slot->parts, slot->part_room, n))
		return -1;
	if (n > 0)
		memset(slot->parts, 0, n * sizeof(*slot->parts));
	slot->log = log;
	slot->schema = schema;
	slot->index = log->index;
	slot->offset = log->end;
	e->value = b->nslots;
	return (int)b->nslots++;
}

void
tel__out_block_name(struct out_block *b, int slot,
    const struct tel_label *label, enum tel_space space, uint64_t value,
    uint64_t clock)
{
	tel__buffer_put_varint(&b->names, (uint64_t)slot);
	tel__buffer_put_varint(&b->names, space);
	tel__buffer_put_varint(&b->names, value);
	tel__buffer_put_varint(&b->names, clock);
	tel__native_put_string(&b->names, label->string, label->length);
	b->nnames++;
}

/* Finds or makes the part that events like this one belong to. */
static struct out_part *
write_block_find_part(struct out_block *b, unsigned slot,
    const struct tel_event *ev)
{
	static const struct native_plan none = { NULL, 0, 0 };
	struct out_slot *of = &b->slots[slot];
	const struct tel_type *t = ev->type;
	const struct tel_schema *s = of->schema->native.schema;

	/* none of a type that the slot does not have yet */
	unsigned i = t->unknown || of->parts[t->index] > 0 ? 0 : b->nparts;
	for (; i < b->nparts; i++) {
		struct out_part *part = &b->parts[i];

		if (part->slot == slot && part->type == t &&
		    part->inline_use == ev->inline_use)
			return part;
	}
	if (!TEL__RESERVE_ZEROED(b->parts, b->part_room, b->nparts + 1u))
		return NULL;
	struct out_part *part = &b->parts[b->nparts++];
	part->slot = slot;
	part->type = t;
	part->inline_use = (uint8_t)ev->inline_use;
	part->plan = t->unknown ? &none : &of->schema->native.plans[t->index];
	part->stride = (part->plan->fixed + 7) & ~7u;
	part->tails = t->unknown || t->has_string || s->described;
	part->beside = part->tails;
	part->vary = 0;
	part->count = 0;
	part->rows.used = 0;
	part->tail.any = part->raw.any = part->lead.any =
	    part->inline_labels.any = 0;
	part->tail.bytes.used = part->raw.bytes.used = 0;
	part->lead.bytes.used = part->inline_labels.bytes.used = 0;
	if (!t->unknown)
		of->parts[t->index] = b->nparts;
	return part;
}

/* Makes room for more events of a part.  TEL_OK, TEL_ENOMEM. */
static tel_status
write_block_grow(struct out_part *part)
{
	const uint32_t room = part->room == 0 ? 16 : part->room * 2;
	struct out_blobs *blobs[4] = { &part->tail, &part->raw, &part->lead,
		&part->inline_labels };

	if (!TEL__RESIZE(part->sizes, room))
		return TEL_ENOMEM;
	for (unsigned i = 0; i < 4; i++)
		if (!TEL__RESIZE(blobs[i]->sizes, room))
			return TEL_ENOMEM;
	part->room = room;
	return TEL_OK;
}

static void
add_blob(struct out_blobs *blobs, uint32_t i, const unsigned char *p, size_t n)
{
	if (n == 0 && !blobs->any)
		return;
	if (!blobs->any)
		memset(blobs->sizes, 0, i * sizeof(*blobs->sizes));
	blobs->any = 1;
	blobs->sizes[i] = (uint32_t)n;
	tel__buffer_put(&blobs->bytes, p, n);
}

/*
 * The size of the tail: the bytes after the cells, without the zeros at their
 * end.  The string of a built-in format ends at its NUL; the rest is padding.
 */
static size_t
tail_size(const struct out_part *part, int described, const unsigned char *p,
    size_t n)
{
	if (!described && !part->type->unknown) {
		const unsigned char *nul = memchr(p, '\0', n);

		return nul != NULL ? (size_t)(nul - p) : n;
	}
	while (n > 0 && p[n - 1] == '\0')
		n--;
	return n;
}

/* Adds the tail of an event, its inline labels, its lines and lead bytes. */
static void
write_block_add_bytes(struct out_block *b, struct out_part *part,
    const struct tel_event *ev, const unsigned char *lead, size_t lead_size)
{
	const uint32_t fixed = part->plan->fixed, i = part->count;
	const struct tel_schema *s = b->slots[part->slot].schema->native.schema;
	const size_t n = ev->size > fixed ? ev->size - fixed : 0;

	if (part->tails)
		add_blob(&part->tail, i, ev->data + fixed,
		    tail_size(part, s->described, ev->data + fixed, n));
	add_blob(&part->inline_labels, i, ev->inline_labels, ev->inline_size);
	b->bytes += ev->inline_size;
	if (!b->slots[part->slot].log->lines)
		return;
	add_blob(&part->raw, i, ev->raw, ev->raw_size);
	add_blob(&part->lead, i, lead, lead_size);
	b->bytes += ev->raw_size + lead_size;
}

/* Copies the cells of an event: a few words. */
static inline void
copy_cells(unsigned char *row, const struct out_part *part,
    const struct tel_event *ev)
{
	const uint32_t fixed = part->plan->fixed;

	if (ev->size >= part->stride) {
		memcpy(row, ev->data, part->stride);
		return;
	}
	memset(row, 0, part->stride);
	memcpy(row, ev->data, ev->size < fixed ? ev->size : fixed);
}

/* Adds the distance of an event from the one before it in its log. */
static void
add_place(struct out_block *b, struct out_slot *of, const struct tel_event *ev,
    size_t lead_size)
{
	struct out_log *log = of->log;
	const uint64_t at = ev->offset - lead_size;

	uint64_t gap = at - log->end;

	if (log->index == of->index) {
		of->offset = at;
		gap = 0;
	}
	/* without the lines, offsets are those of the events alone */
	if (!log->lines)
		gap = 0;
	b->gaps[b->count] = gap;
	b->ngaps += gap != 0;
	log->end = ev->offset + (ev->raw_size > 0 ? ev->raw_size : ev->size);
	log->index++;
}

tel_status
tel__out_block_add(struct out_block *b, struct out_log *log,
    struct out_schema *schema, const struct tel_event *ev,
    const unsigned char *lead, size_t lead_size)
{
	const struct tel_type *t = ev->type;
	struct out_part *part;
	int slot = (int)b->nslots - 1;
	uint32_t at, size;

	if (slot < 0 || b->slots[slot].log != log ||
	    b->slots[slot].schema != schema)
		slot = tel__out_block_slot(b, log, schema);
	if (slot < 0)
		return TEL_ENOMEM;
	struct out_slot *of = &b->slots[slot];
	at = t->unknown ? 0 : of->parts[t->index];
	if (at > 0 && b->parts[at - 1].inline_use == ev->inline_use)
		part = &b->parts[--at];
	else if ((part = write_block_find_part(b, (unsigned)slot, ev)) != NULL)
		at = (uint32_t)(part - b->parts);
	if (part == NULL ||
	    (part->count == part->room && write_block_grow(part) != TEL_OK))
		return TEL_ENOMEM;
	/* one byte more, so that an empty row has an address */
	if (part->rows.room - part->rows.used <= part->stride &&
	    tel__buffer_room(&part->rows, part->stride + 1u) == NULL)
		return TEL_ENOMEM;
	unsigned char *row = part->rows.bytes + part->rows.used;
	copy_cells(row, part, ev);
	part->rows.used += part->stride;
	if (ev->inline_size > 0 ||
	    (log->lines && (ev->raw_size > 0 || lead_size > 0)))
		part->beside = 1;
	if (part->beside)
		write_block_add_bytes(b, part, ev, lead, lead_size);
	size = ev->size < part->plan->fixed ? part->plan->fixed : ev->size;
	part->sizes[part->count] = size;
	part->vary |= size != part->sizes[0];
	part->count++;
	add_place(b, of, ev, lead_size);
	b->clocks[b->count] = ev->clock;
	b->part_of[b->count] = (uint16_t)at;
	b->count++;
	b->bytes += (ev->size + 7u) & ~7u;
	return TEL_OK;
}

/* Whether another event of a size, which is not large, fits into a part as it is. */
static inline int
fits_as_row(const struct out_part *part, uint32_t size, unsigned inline_use)
{
	return part->inline_use == inline_use &&
	    size - part->stride <= BLOCK_BYTES - 1 &&
	    part->count < part->room &&
	    part->rows.room - part->rows.used > part->stride && !part->beside;
}

/* Adds the distances of n events of a run from one on, as add_place() does. */
static void
add_places(struct out_block *b, struct out_log *log, const struct tel_run *run,
    size_t from, size_t n)
{
	uint64_t *const gaps = b->gaps + b->count, at;

	/* without the lines, offsets are those of the events alone */
	if (!log->lines)
		memset(gaps, 0, n * sizeof(*gaps));
	for (size_t i = 0; i < n && log->lines; i++) {
		at = run->offset + run->at[from + i];
		gaps[i] = at - log->end;
		b->ngaps += gaps[i] != 0;
		log->end = at + run->sizes[from + i];
	}
	log->end =
	    run->offset + run->at[from + n - 1] + run->sizes[from + n - 1];
	log->index += n;
}

size_t
tel__out_block_add_run(struct out_block *b, struct out_log *log,
    const struct out_schema *schema, const struct tel_run *run, size_t from,
    size_t n)
{
	const unsigned inline_use = run->event->inline_use;
	const uint32_t ntypes = schema->native.schema->ntypes;
	const size_t most = BLOCK_EVENTS >> b->smaller;
	const size_t most_bytes = BLOCK_BYTES >> b->smaller;
	uint16_t *part_of = b->part_of + b->count;
	size_t bytes = b->bytes, i;
	uint32_t size, at;

	if (b->nslots == 0 || b->count >= most)
		return 0;
	const struct out_slot *of = &b->slots[b->nslots - 1];
	if (of->log != log || of->schema != schema || log->index == of->index)
		return 0;
	n = n < most - b->count ? n : most - b->count;
	for (i = from; i < from + n && bytes < most_bytes; i++) {
		size = run->sizes[i];
		if (run->types[i] >= ntypes ||
		    (at = of->parts[run->types[i]]) == 0)
			break;
		struct out_part *part = &b->parts[--at];
		if (!fits_as_row(part, size, inline_use))
			break;
		tel_copy_short(part->rows.bytes + part->rows.used, run->data[i],
		    part->stride);
		part->rows.used += part->stride;
		part->sizes[part->count] = size;
		part->vary |= size != part->sizes[0];
		part->count++;
		*part_of++ = (uint16_t)at;
		bytes += (size + 7u) & ~7u;
	}
	n = i - from;
	if (n == 0)
		return 0;
	memcpy(b->clocks + b->count, run->clocks + from,
	    n * sizeof(*b->clocks));
	add_places(b, log, run, from, n);
	b->count += (uint32_t)n;
	b->bytes = bytes;
	return n;
}
