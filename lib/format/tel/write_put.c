/* SPDX-License-Identifier: BSD-2-Clause */
/* The records of a native stream, in the order that they are written in. */
#include "format/tel/writer.h"

#include <stdlib.h>

/* Events that name things go into records of so many. */
#define NAMES_EVENTS 4096u
/* Bytes of entries that the index is not longer than. */
#define INDEX_MAX ((size_t)8 << 20)

/* Puts an entry into the index. */
static void
add_entry(struct native_out *n, enum native_kind kind, size_t size,
    const struct native_head *head)
{
	struct tel__buffer *b = &n->index;

	if (b->used > INDEX_MAX)
		return;
	tel__buffer_put_varint(b, kind);
	tel__buffer_put_varint(b, n->length - n->indexed);
	tel__buffer_put_varint(b, size);
	if (head != NULL) {
		tel__buffer_put_varint(b, head->count);
		tel__buffer_put_varint(b, tel__zigzag(head->first - n->clock));
		tel__buffer_put_varint(b, head->last - head->first);
		if (kind == NATIVE_NAMES)
			tel__buffer_put_varint(b, head->lost);
		n->clock = head->first;
	}
	n->indexed = n->length + size;
	n->entries++;
}

/*
 * Writes n->record, whose body is there behind room for the header and the
 * head, and the boundary behind it.
 */
static tel_status
put_record(struct tel_writer *w, enum native_kind kind, int needed,
    const unsigned char *head, size_t head_size, int must)
{
	struct native_out *n = w->state;
	unsigned char *p = n->record.bytes;
	const size_t body = n->record.used - NATIVE_HEADER - NATIVE_HEAD_MAX;
	const size_t size = NATIVE_HEADER + head_size + body;
	struct native_record rec;

	if (n->record.failed) {
		n->record.failed = 0;
		return TEL_ENOMEM;
	}
	if (body > NATIVE_BODY_MAX)
		return tel__write_fail(w, TEL_ELIMIT,
		    "a block of more than %u bytes", NATIVE_BODY_MAX);
	if (must && tel__output_boundary(w->out, 1) != TEL_OK)
		return w->out->status;
	p += NATIVE_HEAD_MAX - head_size;
	if (head_size > 0)
		memcpy(p + NATIVE_HEADER, head, head_size);
	tel__native_seal(p, kind, needed, head_size, body);
	(void)tel__native_look(p, NATIVE_HEADER + head_size, &rec);
	n->hash = tel__native_chain(n->hash, &rec);
	n->length += size;
	if (tel_output_write(w->out, p, size) != TEL_OK)
		return w->out->status;
	return tel__output_boundary(w->out, must);
}

/* Begins a record. */
static struct tel__buffer *
new_record(struct native_out *n)
{
	n->record.used = 0;
	n->record.failed = 0;
	if (tel__buffer_room(&n->record, NATIVE_HEADER + NATIVE_HEAD_MAX) !=
	    NULL)
		n->record.used = NATIVE_HEADER + NATIVE_HEAD_MAX;
	return &n->record;
}

/*
 * The identifier of a stream: the hash of its first events.  So the same
 * input gives the same file, and other events give another stream.
 */
static uint64_t
identify(const struct out_block *b)
{
	const size_t clocks = b->count * sizeof(*b->clocks);
	uint64_t hash;
	unsigned i;

	hash = tel__native_xxh64((const unsigned char *)b->clocks, clocks);
	for (i = 0; i < b->nparts; i++)
		hash = hash * 31 +
		    tel__native_xxh64(b->parts[i].rows.bytes,
		        b->parts[i].rows.used);
	return hash != 0 ? hash : 1;
}

static tel_status
put_start(struct tel_writer *w)
{
	static const char what[] = "teltools " TEL_VERSION;
	static const unsigned char begin[20] = { NATIVE_MAJOR, NATIVE_MEDIAN,
		NATIVE_MINOR, '<' };
	struct native_out *n = w->state;
	unsigned char id[8];
	struct tel__buffer *b;

	n->identifier = identify(&n->block);
	b = new_record(n);
	n->started = 1;
	/* rate, origin and metadata are those of each log */
	tel__buffer_put(b, begin, sizeof(begin));
	tel_store_le64(id, n->identifier);
	tel__buffer_put(b, id, sizeof(id));
	tel__native_put_string(b, what, sizeof(what) - 1);
	tel__buffer_put_varint(b, 0);
	return put_record(w, NATIVE_START, 1, NULL, 0, 0);
}

static tel_status
put_log(struct tel_writer *w, const struct out_slot *slot,
    const uint8_t *wanted)
{
	struct native_out *n = w->state;

	tel__out_log_put(new_record(n), slot->log, slot->schema, slot->index,
	    slot->offset, wanted, 1, 1);
	if (!n->record.failed)
		add_entry(n, NATIVE_LOG, n->record.used - NATIVE_HEAD_MAX,
		    NULL);
	return put_record(w, NATIVE_LOG, 0, NULL, 0, 0);
}

tel_status
tel__native_put_schema(struct tel_writer *w, struct out_log *log,
    struct out_schema *schema)
{
	const struct native_out *n = w->state;
	const struct out_slot slot = { .log = log, .schema = schema };
	tel_status st = TEL_OK;

	if (!n->started)
		st = put_start(w);
	return st == TEL_OK ? put_log(w, &slot, NULL) : st;
}

/*
 * Describes the types of a slot of the block, if that was not done yet.  Of a
 * schema that goes by its name it is done for those that are in use, and when
 * it is worth it.
 */
static tel_status
describe_log(struct tel_writer *w, unsigned i)
{
	struct native_out *out = w->state;
	struct out_block *b = &out->block;
	struct out_slot *slot = &b->slots[i];
	struct out_log *log = slot->log;
	const size_t n = slot->schema->native.schema->ntypes + (size_t)1;
	uint8_t *wanted;
	int same = log->recorded == slot->schema && log->described != NULL;
	tel_status st = TEL_OK;

	if (slot->schema->known &&
	    log->bytes + b->bytes < NATIVE_DESCRIBE_BYTES)
		return TEL_OK;
	if (same && !slot->schema->known)
		return TEL_OK;
	wanted = calloc(n, 1);
	if (wanted == NULL)
		return TEL_ENOMEM;
	if (same)
		memcpy(wanted, log->described, n);
	tel__out_block_types(b, i, wanted);
	if (!same || memcmp(wanted, log->described, n) != 0) {
		st = put_log(w, slot, slot->schema->known ? wanted : NULL);
		log->recorded = slot->schema;
	}
	free(log->described);
	log->described = wanted;
	return st;
}

static tel_status
describe_logs(struct tel_writer *w)
{
	const struct native_out *n = w->state;
	tel_status st = TEL_OK;
	unsigned i;

	for (i = 0; i < n->block.nslots && st == TEL_OK; i++)
		st = describe_log(w, i);
	return st;
}

static void
find_span(const struct out_block *b, struct native_head *head)
{
	uint32_t i;

	if (b->count == 0)
		return;
	head->first = head->last = b->clocks[0];
	for (i = 1; i < b->count; i++) {
		if (b->clocks[i] < head->first)
			head->first = b->clocks[i];
		if (b->clocks[i] > head->last)
			head->last = b->clocks[i];
	}
}

/* Says which events of the stream those of the names record are. */
static void
put_ordinals(struct native_out *n)
{
	uint64_t *spare;

	if (n->names.count == 0)
		return;
	spare = malloc(column_spare(n->names.count));
	if (spare == NULL)
		n->record.failed = 1;
	else
		tel__column_put(&n->record,
		    (const uint64_t *)(const void *)n->ordinals.bytes,
		    n->names.count, 0, spare);
	free(spare);
}

void
tel__native_clear_names(struct native_out *n)
{
	tel__out_block_clear(&n->names);
	n->ordinals.used = 0;
}

static tel_status
put_block(struct tel_writer *w, struct out_block *b, enum native_kind kind)
{
	struct native_out *n = w->state;
	unsigned char bytes[NATIVE_HEAD_MAX];
	struct native_head head;
	size_t size;
	unsigned i;
	tel_status st;

	memset(&head, 0, sizeof(head));
	head.sequence = kind == NATIVE_BLOCK ? n->sequence : n->sequence - 1;
	/* of a names record: the first of the blocks that it is about */
	head.lost = kind == NATIVE_BLOCK ? n->lost : n->named;
	head.stream = (uint32_t)n->identifier;
	head.ordinal = n->ordinal;
	head.count = b->count;
	find_span(b, &head);
	tel__out_block_body(b, new_record(n), head.first);
	if (kind == NATIVE_NAMES)
		put_ordinals(n);
	size = tel__native_put_head(bytes, &head);
	if (!n->record.failed)
		add_entry(n, kind, n->record.used - NATIVE_HEAD_MAX + size,
		    &head);
	st = put_record(w, kind, 0, bytes, size, kind == NATIVE_NAMES);
	if (kind == NATIVE_BLOCK) {
		n->lost = 0;
		n->sequence++;
		n->ordinal += b->count;
		for (i = 0; i < b->nslots; i++) {
			b->slots[i].log->bytes += b->bytes;
			b->slots[i].log->recorded = b->slots[i].schema;
		}
	}
	if (kind == NATIVE_NAMES)
		tel__native_clear_names(n);
	else
		tel__out_block_clear(b);
	return st;
}

tel_status
tel__native_put_names(struct tel_writer *w)
{
	struct native_out *n = w->state;

	tel_status st;

	if (n->named == n->sequence)
		return TEL_OK;
	st = put_block(w, &n->names, NATIVE_NAMES);
	n->named = n->sequence;
	return st;
}

tel_status
tel__native_put_events(struct tel_writer *w)
{
	struct native_out *n = w->state;
	tel_status st = TEL_OK;

	if (n->block.count == 0 && n->lost == 0)
		return TEL_OK;
	if (!n->started)
		st = put_start(w);
	if (st == TEL_OK)
		st = describe_logs(w);
	if (st == TEL_OK)
		st = put_block(w, &n->block, NATIVE_BLOCK);
	if (st == TEL_OK && n->names.count >= NAMES_EVENTS)
		st = tel__native_put_names(w);
	return st;
}

static tel_status
put_index(struct tel_writer *w)
{
	struct native_out *n = w->state;
	unsigned char head[20];
	struct tel__buffer *b = new_record(n), count = { NULL, 0, 0, 0 };
	tel_status st;

	if (tel__output_boundary(w->out, 1) != TEL_OK)
		return w->out->status;
	tel__buffer_put(b, n->index.bytes, n->index.used);
	tel__buffer_put_varint(&count, n->entries);
	tel__buffer_put_varint(&count, n->nlogs);
	if (count.failed || n->index.failed) {
		free(count.bytes);
		return TEL_ENOMEM;
	}
	memcpy(head, count.bytes, count.used);
	st = put_record(w, NATIVE_INDEX, 0, head, count.used, 0);
	free(count.bytes);
	return st;
}

tel_status
tel__native_put_end(struct tel_writer *w)
{
	struct native_out *n = w->state;
	unsigned char head[32];
	uint64_t before;
	tel_status st;

	st = tel__native_put_events(w);
	if (st == TEL_OK && !n->started)
		st = put_start(w);
	if (st != TEL_OK)
		return st;
	before = n->length;
	if (n->sequence >= NATIVE_INDEX_BLOCKS && n->index.used <= INDEX_MAX) {
		st = tel__native_put_names(w);
		before = n->length;
		if (st == TEL_OK)
			st = put_index(w);
	}
	if (st != TEL_OK)
		return st;
	new_record(n);
	tel_store_le64(head, n->length + NATIVE_HEADER + sizeof(head));
	tel_store_le64(head + 8, n->length - before);
	tel_store_le64(head + 16, n->ordinal);
	tel_store_le64(head + 24, n->hash);
	return put_record(w, NATIVE_END, 0, head, sizeof(head), 0);
}
