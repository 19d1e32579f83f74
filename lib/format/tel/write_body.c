/* SPDX-License-Identifier: BSD-2-Clause */
/* Encodes the collected events as the body of a block, tel(5). */
#include "format/tel/writer.h"

#include <stdlib.h>

#include "base/array.h"
#include "model/clock.h"

/* The wall clock and the metadata of a log. */
static void
put_identity(struct tel__buffer *b, const struct tel_log *of,
    const struct tel__metadata *set)
{
	struct tel__metadata all = { 0 };
	unsigned char eight[8];
	int64_t epoch;

	if (of != NULL && of->clock != NULL &&
	    tel__clock_epoch(of->clock, &epoch)) {
		tel_store_le64(eight, (uint64_t)epoch);
		tel__native_put_string(b, eight, 8);
	} else {
		tel__native_put_string(b, NULL, 0);
	}
	if (of != NULL && of->metadata != NULL &&
	    tel__metadata_add(&all, of->metadata) == TEL_ENOMEM)
		b->failed = 1;
	if (of != NULL && tel__metadata_add(&all, set) == TEL_ENOMEM)
		b->failed = 1;
	tel__native_put_metadata(b, &all);
	tel__metadata_clear(&all);
}

void
tel__out_log_put(struct tel__buffer *b, const struct out_log *log,
    const struct out_schema *schema, uint64_t index, uint64_t offset,
    const uint8_t *wanted, int describe, int full)
{
	const struct tel_schema *s = schema->native.schema;
	struct tel__buffer types = { NULL, 0, 0, 0 };
	const struct tel_log *of = log->of;
	const char *format;
	unsigned char eight[8];
	double rate = 0;

	tel__buffer_put_varint(b, log->number);
	tel__buffer_put_varint(b, index);
	tel__buffer_put_varint(b, offset);
	tel__native_put_string(b, s->name, strlen(s->name));
	tel__native_put_fixed(b, schema->native.digest, 4);
	/* synchronisation points give a better rate */
	if (of != NULL && of->clock != NULL &&
	    (log->part || tel__clock_points(of->clock) < 2))
		rate = tel__clock_rate(of->clock);
	tel_store_le64(eight, tel_double_bits(rate));
	tel__native_put_string(b, eight, rate > 0 ? 8 : 0);
	if (describe && schema->derived.used > 0)
		tel__buffer_put(&types, schema->derived.bytes,
		    schema->derived.used);
	else if (describe)
		tel__native_describe(&types, s, wanted);
	if (full && describe && schema->derived.used == 0)
		tel__native_put_docs(&types, s, wanted);
	tel__native_put_string(b, types.bytes, types.used);
	b->failed |= types.failed;
	free(types.bytes);
	if (full && of != NULL) {
		tel__native_put_string(b, log->name, log->name_size);
		format = of->origin != NULL ? of->origin : of->format;
		tel__native_put_string(b, format, strlen(format));
		tel__native_put_string(b, of->preamble,
		    log->lines ? of->preamble_size : 0);
	} else {
		tel__buffer_put(b, "\0\0\0", 3);
	}
	put_identity(b, full || log->renew ? of : NULL, log->metadata);
}

void
tel__out_block_types(const struct out_block *b, unsigned slot, uint8_t *wanted)
{
	const struct out_slot *s = &b->slots[slot];

	for (unsigned i = 0; i < s->schema->native.schema->ntypes; i++)
		if (s->parts[i] > 0)
			wanted[i] = 1;
}

/* The logs of the block, with the types that it has events of. */
static void
put_logs(const struct out_block *b, struct tel__buffer *body)
{
	uint8_t *wanted;

	tel__buffer_put_varint(body, b->nslots);
	for (unsigned i = 0; i < b->nslots; i++) {
		const struct out_slot *slot = &b->slots[i];

		wanted = calloc(slot->schema->native.schema->ntypes + 1u, 1);
		if (wanted == NULL) {
			body->failed = 1;
			return;
		}
		tel__out_block_types(b, i, wanted);
		int describe = !slot->schema->known &&
		    slot->log->bytes + b->bytes >= NATIVE_DESCRIBE_BYTES;
		tel__out_log_put(body, slot->log, slot->schema, slot->index,
		    slot->offset, wanted, describe,
		    slot->log->recorded == NULL);
		free(wanted);
	}
}

static void
put_parts(const struct out_block *b, struct tel__buffer *body)
{
	tel__buffer_put_varint(body, b->nparts);
	for (unsigned i = 0; i < b->nparts; i++) {
		const struct out_part *part = &b->parts[i];
		unsigned flags = part->inline_use * (unsigned)NATIVE_INLINE;

		if (part->type->unknown)
			flags |= NATIVE_UNKNOWN;
		if (part->vary)
			flags |= NATIVE_VARY;
		if (part->tail.any)
			flags |= NATIVE_TAILS;
		if (part->raw.any)
			flags |= NATIVE_RAW;
		if (part->lead.any)
			flags |= NATIVE_LEAD;
		if (part->inline_labels.any)
			flags |= NATIVE_NOTES;
		if (b->nslots > 1)
			tel__buffer_put_varint(body, part->slot);
		uint64_t type =
		    part->type->unknown ? part->type->code : part->type->index;
		tel__buffer_put_varint(body, type << 1 | (flags != 0));
		if (flags != 0)
			tel__buffer_put_varint(body, flags);
	}
}

static inline uint64_t
write_body_load(const unsigned char *p, unsigned width, int big)
{
	switch (width) {
	case 8: return big ? tel_be64(p) : tel_le64(p);
	case 4: return big ? tel_be32(p) : tel_le32(p);
	case 2: return big ? tel_be16(p) : tel_le16(p);
	default: return p[0];
	}
}

static void
put_cells(struct tel__buffer *body, struct out_part *part, uint64_t *before,
    uint64_t *v)
{
	const struct native_cell *c = part->plan->cells;
	uint32_t i;

	if (!TEL__RESERVE(part->ranges, part->range_room,
	        part->plan->ncells + 1u)) {
		body->failed = 1;
		return;
	}
	for (unsigned k = 0; k < part->plan->ncells; k++, c++) {
		const unsigned char *p = part->rows.bytes + c->offset;

		if (c->width == 8 && !c->big)
			for (i = 0; i < part->count; i++, p += part->stride)
				v[i] = tel_le64(p);
		else if (c->mask != 0xff)
			for (i = 0; i < part->count; i++, p += part->stride)
				v[i] = p[0] & c->mask;
		else
			for (i = 0; i < part->count; i++, p += part->stride)
				v[i] = write_body_load(p, c->width, c->big);
		tel__column_encode(body, v, part->count, before[c->class],
		    TEL__COLUMN_SMALLEST, &part->ranges[k]);
		before[c->class] = v[part->count - 1];
	}
}

/* Numbers the distinct byte strings of events.  Returns how many differ. */
static uint32_t
find_equal(const struct out_blobs *blobs, uint32_t count, const size_t *at,
    uint32_t *same, uint32_t *slots, uint32_t mask)
{
	uint32_t i, k, distinct = 0;

	for (i = 0; i < count; i++) {
		const unsigned char *p = blobs->bytes.bytes + at[i];
		const uint32_t n = blobs->sizes[i];

		k = (uint32_t)(tel__native_xxh64(p, n) >> 32) & mask;
		for (; slots[k] != 0; k = (k + 1) & mask) {
			const uint32_t j = slots[k] - 1;

			if (blobs->sizes[j] == n &&
			    memcmp(blobs->bytes.bytes + at[j], p, n) == 0)
				break;
		}
		if (slots[k] == 0) {
			slots[k] = i + 1;
			same[i] = distinct++;
		} else {
			same[i] = same[slots[k] - 1];
		}
	}
	return distinct;
}

static void
put_blobs(struct tel__buffer *body, const struct out_blobs *blobs,
    uint32_t count, uint64_t *v)
{
	uint32_t mask = 15, distinct, i, k, *slots, *same;
	size_t *at, sum = 0;

	while (mask < 2 * count)
		mask = mask * 2 + 1;
	at = malloc(count * sizeof(*at));
	same = malloc(count * sizeof(*same));
	slots = calloc(mask + 1u, sizeof(*slots));
	if (at == NULL || same == NULL || slots == NULL) {
		body->failed = 1;
	} else {
		for (i = 0; i < count; sum += blobs->sizes[i++])
			at[i] = sum;
		distinct = find_equal(blobs, count, at, same, slots, mask);
		tel__buffer_put_varint(body, distinct);
		for (i = k = 0; i < count; i++)
			if (same[i] == k)
				v[k++] = blobs->sizes[i];
		tel__column_put(body, v, distinct);
		for (i = 0; i < count; i++)
			v[i] = same[i];
		if (distinct > 1 && distinct < count)
			tel__column_put(body, v, count);
		for (i = k = 0; i < count; i++)
			if (same[i] == k) {
				tel__buffer_put(body,
				    blobs->bytes.bytes + at[i],
				    blobs->sizes[i]);
				k++;
			}
	}
	free(at);
	free(same);
	free(slots);
}

static void
write_body_put_part(struct tel__buffer *body, struct out_part *part,
    uint64_t *before, uint64_t *v)
{
	if (part->vary) {
		for (uint32_t i = 0; i < part->count; i++)
			v[i] = part->sizes[i];
		tel__column_put(body, v, part->count);
	} else {
		tel__buffer_put_varint(body, part->sizes[0]);
	}
	put_cells(body, part, before, v);
	if (part->tail.any)
		put_blobs(body, &part->tail, part->count, v);
	if (part->raw.any)
		put_blobs(body, &part->raw, part->count, v);
	if (part->lead.any)
		put_blobs(body, &part->lead, part->count, v);
	if (part->inline_labels.any)
		put_blobs(body, &part->inline_labels, part->count, v);
}

/*
 * The offsets of events in their logs, unless they come in another order: that
 * would take more than it is worth.
 */
static void
put_gaps(const struct out_block *b, struct tel__buffer *body)
{
	const size_t begin = body->used;

	tel__buffer_put_varint(body, b->ngaps > 0);
	if (b->ngaps == 0)
		return;
	tel__column_put(body, b->gaps, b->count);
	if (!body->failed && body->used - begin > b->count / 4 + 64) {
		body->used = begin;
		tel__buffer_put_varint(body, 0);
	}
}

/* ----------------------------------------------------- blocks that were read */

int
tel__out_block_fills(const struct native_block *from)
{
	size_t bytes = 0;

	for (unsigned i = 0; i < from->nparts; i++)
		bytes += (size_t)from->parts[i].count * from->parts[i].stride;
	return from->head.count >= BLOCK_EVENTS || bytes >= BLOCK_BYTES;
}

/* Whether the events of a part are those of one that was read, in its bytes. */
static int
is_same_part(const struct out_part *part, const struct native_part *from)
{
	return !part->type->unknown && !from->unknown && !from->counted &&
	    part->type->index == from->type &&
	    part->inline_use == from->inline_use && !part->vary &&
	    !part->tail.any && !part->raw.any && !part->lead.any &&
	    !part->inline_labels.any &&
	    from->flags % (unsigned)NATIVE_INLINE == 0 && from->sizes == NULL &&
	    part->count == from->count && part->sizes[0] == from->size &&
	    part->stride == from->stride &&
	    (part->rows.used == 0 ||
	        memcmp(part->rows.bytes, from->rows, part->rows.used) == 0);
}

/*
 * The block that the events were read from, if they are all of its events: it
 * would be encoded as it was.  Else NULL.
 */
static const struct native_block *
find_same(const struct out_block *b)
{
	const struct native_encoded *encoded;

	if (b->nslots != 1 || b->nnames > 0 || b->ngaps > 0 || b->count == 0 ||
	    b->slots[0].log->of == NULL ||
	    (encoded = b->slots[0].log->of->encoded) == NULL)
		return NULL;
	const struct native_block *from = encoded->block;
	if (encoded->schema != b->slots[0].schema->native.schema ||
	    from->head.count != b->count || from->nparts != b->nparts ||
	    memcmp(from->clocks, b->clocks, b->count * sizeof(*b->clocks)) !=
	        0 ||
	    memcmp(from->part_of, b->part_of, b->count * sizeof(*b->part_of)) !=
	        0)
		return NULL;
	for (unsigned i = 0; i < b->nparts; i++)
		if (!is_same_part(&b->parts[i], &from->parts[i]))
			return NULL;
	return from;
}

/* The least and the greatest value of each cell, which encoding would find. */
static void
find_ranges(struct tel__buffer *body, struct out_part *part)
{
	const struct native_cell *c = part->plan->cells;

	if (!TEL__RESERVE(part->ranges, part->range_room,
	        part->plan->ncells + 1u)) {
		body->failed = 1;
		return;
	}
	for (unsigned k = 0; k < part->plan->ncells; k++, c++) {
		struct tel__column_range *range = &part->ranges[k];

		range->low = UINT64_MAX;
		range->high = 0;
		const unsigned char *p = part->rows.bytes + c->offset;
		for (uint32_t i = 0; i < part->count; i++, p += part->stride) {
			uint64_t v = write_body_load(p, c->width, c->big) &
			    (c->mask != 0xff ? c->mask : UINT64_MAX);

			range->low = v < range->low ? v : range->low;
			range->high = v > range->high ? v : range->high;
		}
	}
}

void
tel__out_block_body(struct out_block *b, struct tel__buffer *body,
    uint64_t first)
{
	uint64_t before[NATIVE_CLASSES] = { 0 }, *v;
	const struct native_block *same = find_same(b);

	put_logs(b, body);
	if (same != NULL) {
		tel__buffer_put(body, same->body,
		    (size_t)(same->rest.p - same->body));
		for (unsigned k = 0; k < b->nparts; k++)
			find_ranges(body, &b->parts[k]);
		return;
	}
	put_parts(b, body);
	tel__buffer_put_varint(body, b->nnames);
	tel__buffer_put(body, b->names.bytes, b->names.used);
	if (b->count == 0)
		return;
	v = malloc(b->count * sizeof(*v));
	if (v == NULL) {
		body->failed = 1;
	} else {
		for (uint32_t i = 0; i < b->count; i++)
			v[i] = b->part_of[i];
		if (b->nparts > 1)
			tel__column_put(body, v, b->count);
		tel__column_encode(body, b->clocks, b->count, first,
		    TEL__COLUMN_CLOCKS, NULL);
		put_gaps(b, body);
		for (unsigned k = 0; k < b->nparts; k++)
			write_body_put_part(body, &b->parts[k], before, v);
	}
	free(v);
}
