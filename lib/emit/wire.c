/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The .tel encoder: records, descriptions of types, and blocks, as tel(5)
 * describes them.  Only this file and column.c know the format.
 */
#define _GNU_SOURCE
#include "emit.h"
#include "wire/column.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LABEL_MAX 65535u
/* Names of threads are used before the labels of events. */
#define LABELS_LAST 128u

static void
put_column(struct tel__buffer *b, const uint64_t *v, size_t n, uint64_t before)
{
	tel__column_encode(b, v, n, before, TEL__COLUMN_FAST, NULL);
}

/* --------------------------------------------------------------- records */

/* Starts a record, with its head.  Returns its offset in b. */
static size_t
record_begin(struct tel__buffer *b, const void *head, size_t head_size)
{
	const size_t at = b->used;

	if (tel__buffer_room(b, NATIVE_HEADER + head_size) != NULL)
		b->used += NATIVE_HEADER;
	tel__buffer_put(b, head, head_size);
	return at;
}

/* Ends a record: fills in its header. */
static void
record_end(struct tel__emit_stream *s, struct tel__buffer *b, size_t at,
    enum native_kind kind, size_t head_size)
{
	struct native_record rec;

	if (b->failed)
		return;
	tel__native_seal(b->bytes + at, kind, 1, head_size,
	    b->used - at - NATIVE_HEADER - head_size);
	rec.head = b->bytes + at + NATIVE_HEADER;
	s->hash = tel__native_chain(s->hash, &rec);
	s->length += b->used - at;
}

/* A unique number for a stream. */
static uint64_t
new_id(void)
{
	static uint64_t count; /* under the drain's lock */
	const uint64_t seeds[4] = { tel__emit_now_ns(), tel__emit_ticks(),
		PAGE->pid, ++count };

	return tel__native_xxh64(seeds, sizeof(seeds));
}

static void
wire_put_metadata(struct tel__buffer *b)
{
	const struct tel__emit_state *state = &tel__emit_state;
	char host[256] = "", pid[16];

	if (gethostname(host, sizeof(host) - 1) != 0)
		host[0] = '\0';
	snprintf(pid, sizeof(pid), "%u", (unsigned)PAGE->pid);
	tel__buffer_put_varint(b, 3 + state->metadata_count);
	tel__native_put_text(b, "host");
	tel__native_put_text(b, host);
	tel__native_put_text(b, "command");
	tel__native_put_text(b, PAGE->program);
	tel__native_put_text(b, "pid");
	tel__native_put_text(b, pid);
	for (unsigned i = 0; i < state->metadata_count; i++) {
		tel__native_put_text(b, state->metadata[i].key);
		tel__native_put_text(b, state->metadata[i].value);
	}
}

static void
wire_put_start(struct tel__emit_stream *s, struct tel__buffer *b)
{
	const struct tel__emit_page *page = PAGE;
	const double rate = tel__emit_rate();
	const size_t at = record_begin(b, NULL, 0);

	s->id = new_id();
	tel__buffer_put(b, "\1\1\0\x3C", 4);
	tel__native_put_fixed(b, tel_double_bits(rate), 8);
	/* nanoseconds from 1970 to tick 0 */
	tel__native_put_fixed(b,
	    page->start_ns - (uint64_t)((double)page->start_clock / rate * 1e9),
	    8);
	tel__native_put_fixed(b, s->id, 8);
	tel__native_put_text(b, "libtel-emit");
	wire_put_metadata(b);
	record_end(s, b, at, NATIVE_START, 0);
	s->started = 1;
}

void
tel__emit_put_end(struct tel__emit_stream *s, struct tel__buffer *b)
{
	unsigned char head[32] = { 0 };

	tel_store_le64(head, s->length + NATIVE_HEADER + sizeof(head));
	tel_store_le64(head + 16, s->events);
	tel_store_le64(head + 24, s->hash);
	record_end(s, b, record_begin(b, head, sizeof(head)), NATIVE_END,
	    sizeof(head));
}

/* ----------------------------------------------------------- descriptions */

static unsigned
wire_load_number(const struct tel__emit_letter *letter)
{
	const unsigned load = letter->load;

	if (!(__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) || load == 0 ||
	    load >= 12)
		return load;
	return load <= 3 ? load + 3 : load + 2;
}

void
tel__emit_describe(struct tel__emit_typed *t)
{
	struct tel__buffer *b = &t->described;

	tel__native_put_text(b, t->name);
	tel__native_put_text(b, tel__emit_types.kinds[t->kind]);
	tel__buffer_put_varint(b, t->kind);
	tel__buffer_put_varint(b, t->code);
	tel__buffer_put_varint(b, t->size);
	tel__native_put_text(b, t->role != NULL ? t->role : "");
	if (t->role != NULL) {
		unsigned parts = TEL__EMIT_PARTS;

		while (parts > TEL__EMIT_PARTS_MIN && t->parts[parts - 1] == 0)
			parts--;
		tel__buffer_put_varint(b, parts);
		for (unsigned i = 0; i < parts; i++)
			tel__buffer_put_varint(b, t->parts[i]);
		tel__buffer_put_varint(b, (uint64_t)(t->partner + 1));
	}
	tel__buffer_put_varint(b, t->nfields);
	for (unsigned i = 0; i < t->nfields; i++) {
		const struct tel__emit_field *f = &t->fields[i];

		tel__native_put_text(b, f->name);
		tel__buffer_put_varint(b, f->letter->data_type);
		tel__buffer_put_varint(b, wire_load_number(f->letter));
		tel__buffer_put_varint(b,
		    f->letter->data_type == STRING ? 0 : f->letter->width * 8u);
		tel__buffer_put_varint(b, f->offset);
		tel__buffer_put_varint(b, f->space);
		tel__buffer_put_varint(b,
		    f->letter->load == LOAD_TEXT ?
		        'S' :
		        f->letter->name[1] == '\0' ?
		        (unsigned char)f->letter->name[0] :
		        0);
	}
}

/* Units and documentation, which follow what version 1.0.0 reads. */
static void
put_docs(struct tel__buffer *b, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		const struct tel__emit_typed *t = tel__emit_types.list[i];

		tel__native_put_text(b, t->doc);
		for (unsigned k = 0; k < t->nfields; k++) {
			tel__native_put_text(b, t->fields[k].unit);
			tel__native_put_text(b, t->fields[k].doc);
		}
	}
}

/* Describes the first count types, or those in wanted. */
static void
wire_put_types(struct tel__buffer *b, unsigned count, const uint8_t *wanted)
{
	const int big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	const struct tel__buffer *described;
	unsigned i, skipped = 0, left = 0;

	tel__native_put_text(b, PAGE->schema_version);
	tel__native_put_text(b, "");
	tel__buffer_put_varint(b, sizeof(void *));
	tel__buffer_put_varint(b, (big ? 1u : 0u) | 2 | 4 | 16 | 32);
	tel__buffer_put_varint(b, 0);
	tel__buffer_put_varint(b, 8);
	tel__buffer_put_varint(b, count);
	for (i = 0; i < count; i++)
		left += wanted == NULL || wanted[i];
	tel__buffer_put_varint(b, left);
	for (i = 0; i < count; i++) {
		if (wanted != NULL && !wanted[i]) {
			skipped++;
			continue;
		}
		tel__buffer_put_varint(b, skipped);
		skipped = 0;
		described = &tel__emit_types.list[i]->described;
		tel__buffer_put(b, described->bytes, described->used);
	}
	if (wanted == NULL)
		put_docs(b, count);
}

uint32_t
tel__emit_digest(void)
{
	struct tel__buffer b = { NULL, 0, 0, 0 };

	tel__native_put_text(&b, PAGE->schema);
	wire_put_types(&b, tel__emit_types.count, NULL);
	uint32_t digest = (uint32_t)tel__native_xxh64(b.bytes, b.used);
	free(b.bytes);
	return digest;
}

/* A log, as in a LOG record and in a block. */
static void
wire_put_log(const struct tel__emit_stream *s, struct tel__buffer *b,
    uint32_t digest, unsigned count, const uint8_t *wanted)
{
	struct tel__buffer types = { NULL, 0, 0, 0 };

	wire_put_types(&types, count, wanted);
	tel__buffer_put_varint(b, 0);
	tel__buffer_put_varint(b, s->events);
	tel__buffer_put_varint(b, s->offset);
	tel__native_put_text(b, PAGE->schema);
	tel__native_put_fixed(b, digest, 4);
	tel__buffer_put_varint(b, 8);
	tel__native_put_fixed(b, tel_double_bits(tel__emit_rate()), 8);
	tel__native_put_string(b, types.bytes, types.used);
	tel__native_put_text(b, PAGE->program);
	/* format, preamble, origin, metadata: the last two are in START */
	tel__buffer_put(b, "\0\0\0\0", 4);
	b->failed |= types.failed;
	free(types.bytes);
}

/* ---------------------------------------------------------------- blocks */

/* The events of a type in a block. */
struct part {
	unsigned type, count;
	uint32_t *rows; /* where each event starts in batch->words */
	int tails;      /* events have bytes after their cells */
	int vary;       /* and are of different sizes */
};

/* A thread of events in a block; or several, which have one place. */
#define THREAD_BITS 10
struct thread {
	uint64_t number, name; /* that in force at the start of the block */
	int taken, others;
};

/* Working memory of a block; under the drain's lock. */
static struct {
	struct thread threads[1u << THREAD_BITS];
	struct part parts[TYPES_MAX];
	uint8_t wanted[TYPES_MAX];     /* types of its events */
	uint16_t part_of[TYPES_MAX];   /* the part of a type, plus 1 */
	uint32_t rows[BATCH_EVENTS];   /* of the first part, the second ... */
	uint64_t column[BATCH_EVENTS]; /* the column that is being encoded */
} block;

/* Collects the values of a field into block.column. */
static void
wire_gather(const struct tel__emit_batch *batch, const struct part *part,
    const struct tel__emit_field *f)
{
	const unsigned char *base =
	    (const unsigned char *)batch->words + f->offset;
	const uint32_t *rows = part->rows;
	const unsigned width = f->letter->width, n = part->count;
	uint64_t *v = block.column;

	if (f->letter->load == LOAD_TEXT)
		for (unsigned i = 0; i < n; i++)
			v[i] = tel_le32(base + 8 * (size_t)rows[i]);
	else if (width == 8)
		for (unsigned i = 0; i < n; i++)
			v[i] = tel__emit_load(base + 8 * (size_t)rows[i], 8);
	else if (width == 4)
		for (unsigned i = 0; i < n; i++)
			v[i] = tel__emit_load(base + 8 * (size_t)rows[i], 4);
	else
		for (unsigned i = 0; i < n; i++)
			v[i] =
			    tel__emit_load(base + 8 * (size_t)rows[i], width);
}

static unsigned
row_size(const struct tel__emit_batch *batch, uint32_t row)
{
	return (unsigned)(batch->words[row] & 0xfff) * 8;
}

/* The strings of a part, without the zeros at their end. */
static void
wire_put_strings(struct tel__buffer *b, const struct tel__emit_batch *batch,
    const struct part *part, unsigned offset)
{
	const char *first =
	    (const char *)(batch->words + part->rows[0]) + offset;
	const char *start, *end;
	uint64_t *v = block.column;
	unsigned i, distinct = 1;

	for (i = 0; i < part->count; i++) {
		start = (const char *)(batch->words + part->rows[i]);
		end = start + row_size(batch, part->rows[i]);
		start += offset;
		while (end > start && end[-1] == '\0')
			end--;
		v[i] = (uint64_t)(end - start);
		if (v[i] != v[0] || memcmp(start, first, (size_t)v[i]) != 0)
			distinct = part->count;
	}
	tel__buffer_put_varint(b, distinct);
	put_column(b, v, distinct, 0);
	for (i = 0; i < distinct; i++)
		tel__buffer_put(b,
		    (const char *)(batch->words + part->rows[i]) + offset,
		    (size_t)v[i]);
}

/* The n values of a field, which start near the last one of its class. */
static void
wire_put_field(struct tel__buffer *b, const struct tel__emit_field *f,
    const uint64_t *v, unsigned n, uint64_t before[NATIVE_CLASSES])
{
	const enum native_class class =
	    f->letter->data_type == ADDRESS || f->letter->data_type == POINTER ?
	    NATIVE_ADDRESSES :
	    NATIVE_NUMBERS;

	put_column(b, v, n, before[class]);
	before[class] = v[n - 1];
}

static void
wire_put_part(struct tel__buffer *b, const struct tel__emit_batch *batch,
    const struct part *part, uint64_t *before)
{
	const struct tel__emit_typed *t = tel__emit_types.list[part->type];
	const struct tel__emit_field *f;
	uint64_t *column = block.column;

	if (part->vary) {
		for (unsigned i = 0; i < part->count; i++)
			column[i] = row_size(batch, part->rows[i]);
		put_column(b, column, part->count, 0);
	} else {
		tel__buffer_put_varint(b, row_size(batch, part->rows[0]));
	}
	for (f = t->fields; f < t->fields + t->nfields; f++) {
		if (f->letter->width == 0)
			continue;
		unsigned n = part->count;
		if (f->offset == 12 && batch->one_thread) {
			n = 1;
			column[0] = batch->words[part->rows[0] + 1] >> 32;
		} else {
			wire_gather(batch, part, f);
		}
		wire_put_field(b, f, column, n, before);
	}
	if (part->tails)
		wire_put_strings(b, batch, part, t->fixed);
}

/* Nonzero when the events of a part have different sizes. */
static int
varies(const struct tel__emit_batch *batch, const struct part *part)
{
	for (unsigned i = 1; part->tails && i < part->count; i++)
		if (row_size(batch, part->rows[i]) !=
		    row_size(batch, part->rows[0]))
			return 1;
	return 0;
}

/*
 * Sorts the events into parts, one for each type; if there are several, the
 * index of each event's part is in block.column.  Returns the number of parts.
 */
static unsigned
make_parts(const struct tel__emit_batch *batch)
{
	unsigned i, n = 0;
	uint32_t *rows = block.rows;
	const struct tel__emit_typed *t;

	memset(block.wanted, 0, batch->types);
	if (batch->one_type && batch->count > 0)
		block.parts[n++] = (struct part){ batch->type[0], batch->count,
			batch->at, 0, 0 };
	else
		for (i = 0; i < batch->count; i++) {
			uint16_t *part_of = &block.part_of[batch->type[i]];

			if (*part_of == 0) {
				block.parts[n++] =
				    (struct part){ batch->type[i], 0, NULL, 0,
					    0 };
				*part_of = (uint16_t)n;
			}
			block.column[i] = *part_of - 1u;
			block.parts[*part_of - 1].count++;
		}
	for (struct part *part = block.parts; part < block.parts + n; part++) {
		t = tel__emit_types.list[part->type];
		part->tails = t->string >= 0 || t->texts > 0;
		block.wanted[part->type] = 1;
		block.part_of[part->type] = 0;
		if (part->rows != NULL)
			continue;
		part->rows = rows;
		rows += part->count;
		part->count = 0;
	}
	for (i = 0; rows > block.rows && i < batch->count; i++) {
		struct part *part = &block.parts[block.column[i]];

		part->rows[part->count++] = batch->at[i];
	}
	for (struct part *part = block.parts; part < block.parts + n; part++)
		part->vary = varies(batch, part);
	return n;
}

static void
wire_put_name(struct tel__buffer *b, unsigned space, uint64_t value,
    uint64_t clock, const void *name, size_t length)
{
	tel__buffer_put_varint(b, 0);
	tel__buffer_put_varint(b, space);
	tel__buffer_put_varint(b, value);
	tel__buffer_put_varint(b, clock);
	tel__native_put_string(b, name, length);
}

/* The place of a thread among those of a block. */
static struct thread *
wire_thread(uint64_t number)
{
	return &block.threads[(uint32_t)number * 0x9e3779b1u >>
	    (32 - THREAD_BITS)];
}

/* Notes the threads of the events.  1: a field may have any others. */
static int
wire_find_threads(const struct tel__emit_batch *batch, unsigned parts)
{
	const unsigned n =
	    batch->one_thread && batch->count > 0 ? 1 : batch->count;
	const struct tel__emit_typed *t;

	for (unsigned i = 0; i < parts; i++) {
		t = tel__emit_types.list[block.parts[i].type];
		for (unsigned k = 0; k < t->nfields; k++)
			if (t->fields[k].space == 2 &&
			    t->fields[k].offset >= 16)
				return 1;
	}
	memset(block.threads, 0, sizeof(block.threads));
	for (unsigned i = 0; i < n; i++) {
		const uint64_t number = batch->words[batch->at[i] + 1] >> 32;
		struct thread *thread = wire_thread(number);

		thread->others |= thread->taken && thread->number != number;
		thread->taken = 1;
		thread->number = number;
	}
	return 0;
}

/*
 * The names of the threads of a block, from its first clock on: it must be
 * readable alone, and threads that have ended may be very many.
 */
static void
wire_put_names(struct tel__buffer *b, const struct tel__emit_batch *batch,
    unsigned parts, uint64_t low)
{
	struct tel__buffer list = { NULL, 0, 0, 0 };
	const struct tel__ring_entry *entry;
	const int all = wire_find_threads(batch, parts);
	struct thread *thread;
	unsigned count = 0;
	uint64_t at, here;

	for (at = here = 0; (entry = tel__emit_next_entry(&at)) != NULL;
	     here = at) {
		thread = wire_thread(entry->value);
		if (entry->what == ENTRY_THREAD && entry->clock <= low &&
		    thread->number == entry->value)
			thread->name = here;
	}
	for (at = here = 0; (entry = tel__emit_next_entry(&at)) != NULL;
	     here = at) {
		thread = wire_thread(entry->value);
		if (entry->what != ENTRY_THREAD ||
		    (!all && !thread->others &&
		        (!thread->taken || thread->number != entry->value ||
		            here < thread->name)))
			continue;
		wire_put_name(&list, 2, entry->value, entry->clock, entry + 1,
		    (size_t)entry->length);
		count++;
	}
	tel__buffer_put_varint(b, count);
	tel__buffer_put(b, list.bytes, list.used);
	b->failed |= list.failed;
	free(list.bytes);
}

/* The labels of a part: those of all events, one after the other. */
static void
wire_put_labels(struct tel__buffer *b, const tel_emit_part *part)
{
	unsigned char head[3] = { (unsigned char)part->labelled, 0, 0 };
	uint64_t *sizes = block.column;

	for (unsigned i = 0; i < part->count; i++) {
		size_t n = part->labels[i] != NULL ?
		    strnlen(part->labels[i], LABEL_MAX) :
		    0;

		sizes[i] = n > 0 ? n + sizeof(head) : 0;
	}
	tel__buffer_put_varint(b, part->count);
	put_column(b, sizes, part->count, 0);
	for (unsigned i = 0; i < part->count; i++) {
		if (sizes[i] == 0)
			continue;
		size_t n = (size_t)sizes[i] - sizeof(head);
		head[1] = (unsigned char)n;
		head[2] = (unsigned char)(n >> 8);
		tel__buffer_put(b, head, sizeof(head));
		tel__buffer_put(b, part->labels[i], n);
	}
}

/* A part that is given by columns. */
static void
put_given(struct tel__buffer *b, const tel_emit_part *part, uint64_t *before)
{
	const struct tel__emit_typed *t = tel__emit_find(part->code);

	tel__buffer_put_varint(b, t->size);
	for (unsigned i = 0; i < t->nfields; i++) {
		const struct tel__emit_field *f = &t->fields[i];
		unsigned n = part->same >> i & 1 ? 1 : part->count;

		wire_put_field(b, f, part->columns[i], n, before);
	}
	if (part->labels != NULL)
		wire_put_labels(b, part);
}

/* As wire_put_events(), of columns. */
static uint64_t
put_columns(const struct tel__emit_stream *s, struct tel__buffer *b,
    const struct tel__emit_batch *batch, uint64_t low)
{
	const tel_emit_columns *c = batch->columns;
	uint64_t before[2] = { 0, 0 }, bytes = 0;

	memset(block.wanted, 0, batch->types);
	for (unsigned i = 0; i < c->part_count; i++)
		block.wanted[tel__emit_types.by_code[c->parts[i].code] - 1] = 1;
	tel__buffer_put_varint(b, 1);
	wire_put_log(s, b, s->digest, batch->types, block.wanted);
	tel__buffer_put_varint(b, c->part_count);
	for (unsigned i = 0; i < c->part_count; i++) {
		unsigned type = tel__emit_types.by_code[c->parts[i].code] - 1u;

		tel__buffer_put_varint(b,
		    type * 2u + (c->parts[i].labels != NULL));
		if (c->parts[i].labels != NULL)
			tel__buffer_put_varint(b, NATIVE_NOTES | LABELS_LAST);
		bytes += (uint64_t)c->parts[i].count *
		    tel__emit_types.list[type]->size;
	}
	tel__buffer_put_varint(b, c->name_count);
	for (unsigned i = 0; i < c->name_count; i++)
		wire_put_name(b, c->names[i].space, c->names[i].value, low,
		    c->names[i].name, strlen(c->names[i].name));
	if (c->part_count > 1)
		tel__column_put_places(b, c->order, c->count, c->part_count);
	tel__column_put_shared(b, c->clocks, c->shared, c->clock_count, low);
	tel__buffer_put_varint(b, 0);
	for (unsigned i = 0; i < c->part_count; i++)
		put_given(b, &c->parts[i], before);
	return bytes;
}

/*
 * The body of a block.  low: its first clock.  Returns the bytes of its events.
 */
static uint64_t
wire_put_events(const struct tel__emit_stream *s, struct tel__buffer *b,
    const struct tel__emit_batch *batch, uint64_t low)
{
	const unsigned n = make_parts(batch);
	uint64_t before[2] = { 0, 0 }, bytes = 0;
	const struct part *part;

	tel__buffer_put_varint(b, 1);
	wire_put_log(s, b, s->digest, batch->types, block.wanted);
	tel__buffer_put_varint(b, n);
	for (part = block.parts; part < block.parts + n; part++) {
		tel__buffer_put_varint(b, part->type * 2u + 1);
		tel__buffer_put_varint(b,
		    (part->vary ? NATIVE_VARY : 0) |
		        (part->tails ? NATIVE_TAILS : 0));
	}
	wire_put_names(b, batch, n, low);
	if (n == 0)
		return 0;
	if (n > 1)
		put_column(b, block.column, batch->count, 0);
	put_column(b, batch->clock, batch->count, low);
	tel__buffer_put_varint(b, 0);
	for (part = block.parts; part < block.parts + n; part++) {
		wire_put_part(b, batch, part, before);
		if (!part->vary)
			bytes += (uint64_t)part->count *
			    row_size(batch, part->rows[0]);
		for (unsigned i = 0; part->vary && i < part->count; i++)
			bytes += row_size(batch, part->rows[i]);
	}
	return bytes;
}

void
tel__emit_put_block(struct tel__emit_stream *s, struct tel__buffer *b,
    const struct tel__emit_batch *batch, uint64_t lost)
{
	const size_t clocks =
	    batch->columns != NULL ? batch->columns->clock_count : batch->count;
	unsigned char bytes[NATIVE_HEAD_MAX];
	struct tel__column_range range = { 0, 0 };
	/* no process, thread or processor: the thread is a field of events */
	struct native_head head = { 0 };
	uint64_t size;

	if (!s->started)
		wire_put_start(s, b);
	if (s->digest != batch->digest || s->sequence == 0) {
		size_t at = record_begin(b, NULL, 0);

		wire_put_log(s, b, batch->digest, batch->types, NULL);
		record_end(s, b, at, NATIVE_LOG, 0);
		s->digest = batch->digest;
	}
	if (batch->count > 0)
		range = tel__column_range(batch->clock, clocks);
	head.sequence = s->sequence;
	head.ordinal = s->events;
	head.count = batch->count;
	head.first = range.low;
	head.last = range.high;
	head.lost = lost;
	head.stream = (uint32_t)s->id;
	size_t head_size = tel__native_put_head(bytes, &head);
	size_t at = record_begin(b, bytes, head_size);
	size = batch->columns != NULL ? put_columns(s, b, batch, range.low) :
	                                wire_put_events(s, b, batch, range.low);
	record_end(s, b, at, NATIVE_BLOCK, head_size);
	if (b->failed)
		return;
	s->sequence++;
	s->events += batch->count;
	s->offset += size;
}
