/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decoding a block: the events of each type are built one after the other,
 * column by column, in the layout that their schema has.
 */
#include "format/tel/memory.h"

#include <stdlib.h>

int
tel__native_head(const struct native_record *rec, unsigned median,
    struct native_head *out)
{
	struct native_bytes b = { rec->head, rec->head + rec->head_size, 0, 0 };
	struct native_head h = { 0 };

	h.sequence = native_varint(&b);
	h.ordinal = native_varint(&b);
	h.count = native_varint(&b);
	h.first = native_varint(&b);
	uint64_t span = native_varint(&b);
	h.last = h.first + span;
	h.lost = native_varint(&b);
	if (median > 0) {
		h.stream = native_number(&b, UINT32_MAX);
		h.source = (uint8_t)(native_varint(&b) & 7);
	} else if (native_left(&b) > 0) {
		h.source = NATIVE_PROCESS | NATIVE_THREAD | NATIVE_CPU;
	}
	if (h.source & NATIVE_PROCESS)
		h.process = native_varint(&b);
	if (h.source & NATIVE_THREAD)
		h.thread = native_varint(&b);
	if (h.source & NATIVE_CPU)
		h.cpu = native_varint(&b);
	if (b.bad || h.last < h.first || h.count > NATIVE_EVENTS_MAX)
		return 0;
	*out = h;
	return 1;
}

struct native_block *
tel__native_block_new(void)
{
	struct native_block *b = calloc(1, sizeof(*b));

	if (b == NULL)
		return NULL;
	b->memory = tel__native_memory_new();
	if (b->memory == NULL) {
		free(b);
		return NULL;
	}
	return b;
}

void
tel__native_block_free(struct native_block *b)
{
	if (b == NULL)
		return;
	tel__native_memory_free(b->memory);
	free(b);
}

/* What an invalid block is: damage, or of a newer version of the format. */
static tel_status
verdict(const struct native_block *b, tel_status st)
{
	return st == TEL_EFORMAT && b->rest.newer ? TEL_EVERSION : st;
}

tel_status
tel__native_block_open(struct native_block *b, const struct native_record *rec,
    unsigned median)
{
	struct native_memory *m = b->memory;
	struct native_bytes *in = &b->rest;

	if (!tel__native_memory_reset(m))
		return TEL_ENOMEM;
	memset(b, 0, sizeof(*b));
	b->memory = m;
	in->p = native_body(rec);
	in->end = in->p + rec->body_size;
	if (!tel__native_head(rec, median, &b->head))
		return TEL_EFORMAT;
	b->nlogs = native_number(in, NATIVE_LOGS_MAX);
	/* a log takes more than 8 bytes */
	if (b->nlogs > native_left(in) / 8)
		return TEL_EFORMAT;
	b->logs = tel__native_give(m, b->nlogs, sizeof(*b->logs));
	if (b->logs == NULL)
		return TEL_ENOMEM;
	for (unsigned i = 0; i < b->nlogs; i++)
		tel__native_log(in, median, &b->logs[i]);
	return in->bad ? verdict(b, TEL_EFORMAT) : TEL_OK;
}

static tel_status
read_parts(struct native_block *b, const struct native_schema *const *schemas)
{
	struct native_bytes *in = &b->rest;

	b->nparts = native_number(in, UINT16_MAX);
	if (b->nparts > native_left(in))
		return TEL_EFORMAT;
	b->parts = tel__native_give(b->memory, b->nparts, sizeof(*b->parts));
	if (b->parts == NULL)
		return TEL_ENOMEM;
	memset(b->parts, 0, b->nparts * sizeof(*b->parts));
	for (unsigned i = 0; i < b->nparts; i++) {
		struct native_part *part = &b->parts[i];

		if (b->nlogs > 1)
			part->log = native_number(in, UINT16_MAX);
		uint64_t type = native_varint(in);
		if (type & 1)
			part->flags = native_known(in, UINT8_MAX);
		if (part->flags / NATIVE_INLINE > TEL_INLINE_FIRST)
			in->newer = 1;
		part->unknown = (part->flags & NATIVE_UNKNOWN) != 0;
		part->inline_use = (uint8_t)(part->flags / NATIVE_INLINE);
		part->type = (uint32_t)(type >> 1);
		if (in->bad || type >> 33 != 0 || part->log >= b->nlogs ||
		    part->inline_use > TEL_INLINE_FIRST ||
		    (!part->unknown &&
		        part->type >= schemas[part->log]->schema->ntypes))
			return TEL_EFORMAT;
	}
	return TEL_OK;
}

static tel_status
block_read_names(struct native_block *b)
{
	struct native_bytes *in = &b->rest;

	b->nnames = native_number(in, NATIVE_BODY_MAX);
	if (b->nnames > native_left(in) / 5)
		return TEL_EFORMAT;
	b->names = tel__native_give(b->memory, b->nnames, sizeof(*b->names));
	if (b->names == NULL)
		return TEL_ENOMEM;
	for (uint32_t i = 0; i < b->nnames; i++) {
		struct native_name *name = &b->names[i];

		name->log = native_number(in, UINT16_MAX);
		const uint64_t space = native_varint(in);
		name->space =
		    space < TEL_SPACES ? (uint8_t)space : (uint8_t)TEL_SPACES;
		name->value = native_varint(in);
		name->clock = native_varint(in);
		name->size = native_number(in, NATIVE_BODY_MAX);
		name->string = native_take(in, name->size);
		if (in->bad || name->log >= b->nlogs)
			return TEL_EFORMAT;
	}
	return TEL_OK;
}

/* Which part each event is of. */
static tel_status
read_order(struct native_block *b)
{
	const size_t n = (size_t)b->head.count;
	uint64_t *v = b->clocks;
	uint32_t *counts;
	size_t i;

	if (b->nparts == 0)
		return TEL_EFORMAT;
	b->part_of = tel__native_give(b->memory, n, sizeof(*b->part_of));
	if (b->part_of != NULL && b->nparts == 1) {
		memset(b->part_of, 0, n * sizeof(*b->part_of));
		b->parts[0].count = (uint32_t)n;
		return TEL_OK;
	}
	counts = tel__native_give(b->memory, b->nparts, sizeof(*counts));
	if (b->part_of == NULL || counts == NULL)
		return TEL_ENOMEM;
	memset(counts, 0, b->nparts * sizeof(*counts));
	if (!tel__native_column(&b->rest, n, 0, v))
		return TEL_EFORMAT;
	for (i = 0; i < n; i++) {
		if (v[i] >= b->nparts)
			return TEL_EFORMAT;
		b->part_of[i] = (uint16_t)v[i];
	}
	/* two sums, as one would wait for itself */
	for (i = 0; i + 1 < n; i += 2) {
		counts[v[i]]++;
		b->parts[v[i + 1]].count++;
	}
	if (i < n)
		counts[v[i]]++;
	for (unsigned k = 0; k < b->nparts; k++) {
		b->parts[k].count += counts[k];
		if (b->parts[k].count == 0)
			return TEL_EFORMAT;
	}
	return TEL_OK;
}

/* Byte strings: a table of them, and numbers into it. */
static tel_status
read_blobs(struct native_block *b, uint32_t count, uint64_t *v,
    struct native_blobs *out)
{
	struct native_bytes *in = &b->rest;
	const uint32_t distinct = native_number(in, count);
	const unsigned char **at;
	uint32_t *sizes, i;

	if (distinct == 0)
		return TEL_EFORMAT;
	at = tel__native_give(b->memory, count, 2 * sizeof(*at));
	sizes = tel__native_give(b->memory, count, 2 * sizeof(*sizes));
	if (at == NULL || sizes == NULL)
		return TEL_ENOMEM;
	if (!tel__native_column(in, distinct, 0, v))
		return TEL_EFORMAT;
	for (i = 0; i < distinct; i++)
		sizes[i] =
		    v[i] <= NATIVE_BODY_MAX ? (uint32_t)v[i] : UINT32_MAX;
	if (distinct > 1 && distinct < count &&
	    !tel__native_column(in, count, 0, v))
		return TEL_EFORMAT;
	for (i = 0; i < distinct; i++)
		at[i] = native_take(in, sizes[i]);
	if (in->bad)
		return TEL_EFORMAT;
	out->at = at;
	out->sizes = sizes;
	if (distinct == count)
		return TEL_OK;
	out->at += count;
	out->sizes += count;
	for (i = 0; i < count; i++) {
		const uint64_t k = distinct > 1 ? v[i] : 0;

		if (k >= distinct)
			return TEL_EFORMAT;
		out->at[i] = at[k];
		out->sizes[i] = sizes[k];
	}
	return TEL_OK;
}

/* The sizes of a part's events.  rows: set to the bytes of their rows. */
static tel_status
read_sizes(struct native_block *b, struct native_part *part, uint32_t fixed,
    uint32_t front, uint64_t *v, uint64_t *rows)
{
	if (!(part->flags & NATIVE_VARY)) {
		part->size = native_number(&b->rest, NATIVE_ROWS_MAX) + front;
		part->stride = (part->size + 7) & ~7u;
		*rows = (uint64_t)part->stride * part->count;
		part->bytes = (uint64_t)part->size * part->count;
		return b->rest.bad || part->size < fixed ? TEL_EFORMAT : TEL_OK;
	}
	part->sizes =
	    tel__native_give(b->memory, part->count, sizeof(*part->sizes));
	if (part->sizes == NULL)
		return TEL_ENOMEM;
	if (!tel__native_column(&b->rest, part->count, 0, v))
		return TEL_EFORMAT;
	*rows = 0;
	for (uint32_t i = 0; i < part->count; i++) {
		v[i] += front;
		if (v[i] < fixed || v[i] > NATIVE_ROWS_MAX)
			return TEL_EFORMAT;
		part->sizes[i] = (uint32_t)v[i];
		part->bytes += v[i];
		*rows += (v[i] + 7) & ~(uint64_t)7;
	}
	return TEL_OK;
}

/* What of an event is the same in all of its type and size. */
static void
begin_row(const struct native_block *b, const struct tel_schema *s,
    const struct native_part *part, uint32_t size, unsigned char *row)
{
	const struct tel_type *t = &s->types[part->type];
	const int big = s->abi.big;

	memset(row, 0, size);
	if (b->head.source != 0)
		tel__native_source_put(&b->head, row);
	if (part->unknown || s->header < 12 || s->described)
		return;
	tel_store(row, t->code, 2, big);
	tel_store(row + 2, size, 2, big);
}

static void
begin_rows(const struct native_block *b, const struct tel_schema *s,
    const struct native_part *part, size_t size)
{
	unsigned char *row = part->rows;
	size_t done, n;

	if (part->sizes != NULL) {
		for (uint32_t i = 0; i < part->count; i++) {
			begin_row(b, s, part, part->sizes[i], row);
			row += (part->sizes[i] + 7) & ~7u;
		}
		return;
	}
	if (size == 0)
		return;
	begin_row(b, s, part, part->stride, row);
	if (!part->unknown && s->header >= 12 && !s->described)
		tel_store(row + 2, part->size, 2, s->abi.big);
	for (done = part->stride; done < size; done += n) {
		n = size - done < done ? size - done : done;
		memcpy(row + done, row, n);
	}
}

/* Stores values as the cells of rows that are stride bytes apart. */
static void
scatter(const struct native_cell *c, const uint64_t *v, uint32_t count,
    unsigned char *to, uint32_t stride)
{
	if (c->width == 8 && !c->big) {
		for (uint32_t i = 0; i < count; i++, to += stride)
			tel_store_le64(to, v[i]);
	} else if (c->width == 4 && !c->big) {
		for (uint32_t i = 0; i < count; i++, to += stride) {
			to[0] = (unsigned char)v[i];
			to[1] = (unsigned char)(v[i] >> 8);
			to[2] = (unsigned char)(v[i] >> 16);
			to[3] = (unsigned char)(v[i] >> 24);
		}
	} else {
		for (uint32_t i = 0; i < count; i++, to += stride)
			tel_store(to, v[i], c->width, c->big);
	}
}

static tel_status
read_cells(struct native_block *b, const struct native_part *part,
    const struct native_plan *plan, uint32_t front, uint64_t *before,
    uint64_t *v)
{
	const struct native_cell *c = plan->cells;
	unsigned char *row;
	uint32_t i;

	for (unsigned k = 0; k < plan->ncells; k++, c++) {
		if (!tel__native_column(&b->rest, part->count, before[c->class],
		        v))
			return TEL_EFORMAT;
		before[c->class] = v[part->count - 1];
		if (c->place && front > 0)
			for (i = 0; i < part->count; i++)
				v[i] += v[i] != 0 ? front : 0;
		if (part->sizes == NULL) {
			scatter(c, v, part->count, part->rows + c->offset,
			    part->stride);
			continue;
		}
		for (i = 0, row = part->rows; i < part->count; i++) {
			scatter(c, v + i, 1, row + c->offset, 0);
			row += (part->sizes[i] + 7) & ~7u;
		}
	}
	return TEL_OK;
}

static tel_status
read_tails(struct native_block *b, const struct native_part *part,
    uint32_t fixed, uint64_t *v)
{
	struct native_blobs tails;
	unsigned char *row = part->rows;
	tel_status st = read_blobs(b, part->count, v, &tails);
	uint32_t i, size;

	for (i = 0; st == TEL_OK && i < part->count; i++) {
		size = part->sizes != NULL ? part->sizes[i] : part->size;
		if (tails.sizes[i] > size - fixed)
			return TEL_EFORMAT;
		memcpy(row + fixed, tails.at[i], tails.sizes[i]);
		row += (size + 7) & ~7u;
	}
	return st;
}

/* Steps over what events are made of, except for what columns begin near. */
static tel_status
pass_part(struct native_block *b, struct native_part *part,
    const struct native_plan *plan, uint64_t *before, uint64_t *v)
{
	struct native_blobs tails;
	uint32_t most = part->size, i;

	for (i = 0; part->sizes != NULL && i < part->count; i++)
		most = part->sizes[i] > most ? part->sizes[i] : most;
	part->rows = tel__native_give(b->memory, most + 8u, 1);
	if (part->rows == NULL)
		return TEL_ENOMEM;
	memset(part->rows, 0, most + 8u);
	for (unsigned k = 0; k < plan->ncells; k++)
		if (!tel__native_column_last(&b->rest, part->count,
		        before[plan->cells[k].class], v,
		        &before[plan->cells[k].class]))
			return TEL_EFORMAT;
	if (part->flags & NATIVE_TAILS)
		return read_blobs(b, part->count, v, &tails);
	return TEL_OK;
}

static tel_status
read_part(struct native_block *b, struct native_part *part,
    const struct native_schema *ns, uint64_t *before, uint64_t *v, size_t *room)
{
	const uint32_t front = tel__native_source_size(ns->source);
	const struct native_plan none = { NULL, 0, front };
	const struct native_plan *plan =
	    part->unknown ? &none : &ns->plans[part->type];
	uint64_t rows;
	tel_status st = read_sizes(b, part, plan->fixed, front, v, &rows);

	if (st != TEL_OK)
		return st;
	if (rows > *room)
		return TEL_EFORMAT;
	*room -= (size_t)rows;
	if (part->counted)
		return pass_part(b, part, plan, before, v);
	part->rows = tel__native_give(b->memory, (size_t)rows + 8, 1);
	if (part->rows == NULL)
		return TEL_ENOMEM;
	begin_rows(b, ns->schema, part, (size_t)rows);
	st = read_cells(b, part, plan, front, before, v);
	if (st == TEL_OK && part->flags & NATIVE_TAILS)
		st = read_tails(b, part, plan->fixed, v);
	if (st == TEL_OK && part->flags & NATIVE_RAW)
		st = read_blobs(b, part->count, v, &part->raw);
	if (st == TEL_OK && part->flags & NATIVE_LEAD)
		st = read_blobs(b, part->count, v, &part->lead);
	if (st == TEL_OK && part->flags & NATIVE_NOTES)
		st = read_blobs(b, part->count, v, &part->inline_labels);
	return st;
}

tel_status
tel__native_block_parts(struct native_block *b,
    const struct native_schema *const *schemas)
{
	b->body = b->rest.p;
	tel_status st = read_parts(b, schemas);
	if (st == TEL_OK)
		st = block_read_names(b);
	if (st != TEL_OK || b->head.count == 0)
		return verdict(b, st);
	b->clocks = tel__native_give(b->memory, (size_t)b->head.count + 4,
	    sizeof(*b->clocks));
	return b->clocks != NULL ? verdict(b, read_order(b)) : TEL_ENOMEM;
}

static tel_status
native_block_decode(struct native_block *b,
    const struct native_schema *const *schemas)
{
	const size_t n = (size_t)b->head.count;
	uint64_t before[NATIVE_CLASSES] = { 0 }, *v;
	size_t room = NATIVE_ROWS_MAX;
	tel_status st = TEL_OK;

	if (n == 0)
		return TEL_OK;
	v = tel__native_give(b->memory, n + 4, sizeof(*v));
	if (v == NULL)
		return TEL_ENOMEM;
	if (!tel__native_column(&b->rest, n, b->head.first, b->clocks))
		return TEL_EFORMAT;
	if (native_number(&b->rest, 1) == 1) {
		b->gaps = tel__native_give(b->memory, n + 4, sizeof(*b->gaps));
		if (b->gaps == NULL)
			return TEL_ENOMEM;
		if (!tel__native_column(&b->rest, n, 0, b->gaps))
			return TEL_EFORMAT;
	}
	for (unsigned i = 0; i < b->nparts && st == TEL_OK; i++)
		st = read_part(b, &b->parts[i], schemas[b->parts[i].log],
		    before, v, &room);
	if (st == TEL_OK && b->rest.bad)
		return TEL_EFORMAT;
	return st;
}

tel_status
tel__native_block_decode(struct native_block *b,
    const struct native_schema *const *schemas)
{
	return verdict(b, native_block_decode(b, schemas));
}
