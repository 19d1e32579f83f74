/* SPDX-License-Identifier: BSD-2-Clause */
/* The records of a native stream, in the order that they are written in. */
#include "format/tel/writer.h"

#include <stdlib.h>

#include "model/clock.h"

/* Events that define names in a group; then it ends. */
#define NAMES_EVENTS 4096u
/* The same of bytes of names. */
#define NAMES_BYTES ((size_t)1 << 20)
/* The longest directory that is written. */
#define DIRECTORY_MAX ((size_t)8 << 20)

/*
 * Writes n->record, which has the body after room for the header and the head,
 * and marks the boundary after it.
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
	if (kind != NATIVE_SUMMARY)
		tel__out_group_record(&n->group, p, &rec);
	if (tel_output_write(w->out, p, size) != TEL_OK)
		return w->out->status;
	return tel__output_boundary(w->out, must);
}

/* Starts a record: room for its header and head. */
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

	/* the bytes of little-endian numbers */
	for (uint32_t i = 0; i < b->count; i++)
		tel_store_le64((unsigned char *)&b->clocks[i], b->clocks[i]);
	hash = tel__native_xxh64((const unsigned char *)b->clocks, clocks);
	for (uint32_t i = 0; i < b->count; i++)
		b->clocks[i] = tel_le64((const unsigned char *)&b->clocks[i]);
	for (unsigned i = 0; i < b->nparts; i++)
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

	if (tel__output_mark(w->out, NATIVE_MARKER, 4) != TEL_OK)
		return w->out->status;
	n->identifier = identify(&n->block);
	struct tel__buffer *b = new_record(n);
	n->started = 1;
	/* rate, origin and metadata are those of each log */
	tel__buffer_put(b, begin, sizeof(begin));
	tel__native_put_fixed(b, n->identifier, 8);
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
	int same = log->recorded == slot->schema && log->described != NULL;
	tel_status st = TEL_OK;

	if (slot->schema->known &&
	    log->bytes + b->bytes < NATIVE_DESCRIBE_BYTES)
		return TEL_OK;
	if (same && !slot->schema->known)
		return TEL_OK;
	uint8_t *wanted = calloc(n, 1);
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

	for (unsigned i = 0; i < n->block.nslots && st == TEL_OK; i++)
		st = describe_log(w, i);
	return st;
}

static void
find_span(const struct out_block *b, struct native_head *head)
{
	if (b->count == 0)
		return;
	struct tel__column_range range = tel__column_range(b->clocks, b->count);
	head->first = range.low;
	head->last = range.high;
}

/* A log may state its wall clock, or another one, after its first block. */
static void
look_at_epoch(struct out_log *log)
{
	int64_t epoch = 0;
	int has = log->of != NULL && log->of->clock != NULL &&
	    tel__clock_epoch(log->of->clock, &epoch);

	log->renew = has && (!log->has_epoch || log->epoch != epoch);
	if (log->renew) {
		log->has_epoch = 1;
		log->epoch = epoch;
	}
}

/* Writes the collected events as a block. */
static tel_status
put_block(struct tel_writer *w)
{
	struct native_out *n = w->state;
	struct out_block *b = &n->block;
	unsigned char bytes[NATIVE_HEAD_MAX];
	struct native_head head = { 0 };

	head.sequence = n->sequence;
	head.lost = n->lost;
	head.stream = (uint32_t)n->identifier;
	head.ordinal = n->ordinal;
	head.count = b->count;
	find_span(b, &head);
	for (unsigned i = 0; i < b->nslots; i++)
		look_at_epoch(b->slots[i].log);
	tel__out_block_body(b, new_record(n), head.first);
	for (unsigned i = 0; i < b->nslots; i++)
		b->slots[i].log->renew = 0;
	size_t size = tel__native_put_head(bytes, &head);
	tel_status st = put_record(w, NATIVE_BLOCK, 0, bytes, size, 0);
	if (st == TEL_OK)
		st = tel__out_group_block(&n->group, b, &head);
	n->lost = 0;
	n->sequence++;
	n->ordinal += b->count;
	for (unsigned i = 0; i < b->nslots; i++) {
		b->slots[i].log->bytes += b->bytes;
		b->slots[i].log->recorded = b->slots[i].schema;
	}
	b->smaller -= b->smaller > 0;
	tel__out_block_clear(b);
	return st;
}

/*
 * Writes a names record that is about the blocks since one.  *size: set to its
 * bytes.
 */
static tel_status
write_put_put_names(struct tel_writer *w, struct out_block *b,
    const struct tel__buffer *ordinals, uint64_t from, uint32_t *size)
{
	struct native_out *n = w->state;
	const uint64_t before = n->length;
	unsigned char bytes[NATIVE_HEAD_MAX];
	struct native_head head = { 0 };

	head.sequence = n->sequence - 1;
	head.lost = from;
	head.stream = (uint32_t)n->identifier;
	head.ordinal = n->ordinal;
	head.count = b->count;
	find_span(b, &head);
	tel__out_block_body(b, new_record(n), head.first);
	if (ordinals->used > 0)
		tel__column_put(&n->record,
		    (const uint64_t *)(const void *)ordinals->bytes,
		    ordinals->used / sizeof(uint64_t));
	tel_status st = put_record(w, NATIVE_NAMES, 0, bytes,
	    tel__native_put_head(bytes, &head), 1);
	*size = (uint32_t)(n->length - before);
	return st;
}

/*
 * Writes all that is in force, when as many bytes of names were written since
 * that was done last: all such records together are not longer than the rest.
 */
static tel_status
put_in_force(struct tel_writer *w)
{
	struct native_out *n = w->state;
	tel_status st;

	if (n->all_from == n->group.place || n->all_since < n->all_size ||
	    n->all_since == 0 || !tel__out_names_any(n->in_force))
		return TEL_OK;
	st = tel__out_names_block(n->in_force, &n->all, &n->all_ordinals);
	if (st == TEL_OK)
		st = write_put_put_names(w, &n->all, &n->all_ordinals,
		    n->all_from, &n->group.is.all_size);
	n->group.is.all_from = n->all_from;
	tel__out_block_clear(&n->all);
	n->all_ordinals.used = 0;
	n->all_size = n->group.is.all_size;
	n->all_since = 0;
	return st;
}

/* Writes the summary of the group, and its entry of the directory. */
static tel_status
put_summary(struct tel_writer *w)
{
	struct native_out *n = w->state;
	struct out_group *g = &n->group;
	const uint64_t before = n->length;
	unsigned char head[NATIVE_HEAD_MAX];
	size_t size =
	    tel__out_group_put(g, (uint32_t)n->identifier, head, new_record(n));
	tel_status st = put_record(w, NATIVE_SUMMARY, 0, head, size, 1);

	g->is.summary_size = (uint32_t)(n->length - before);
	g->is.hash = n->hash;
	n->groups_hash = tel__native_group_chain(n->groups_hash, &g->is);
	n->groups++;
	if (n->directory.used <= DIRECTORY_MAX)
		tel__out_group_entry(&n->directory, &g->is, n->clock);
	n->clock = g->is.first;
	tel__out_group_clear(g, n->sequence, n->ordinal);
	return st;
}

tel_status
tel__native_put_group(struct tel_writer *w)
{
	struct native_out *n = w->state;
	tel_status st = put_in_force(w);

	if (st == TEL_OK && n->names.count + n->names.nnames > 0)
		st = write_put_put_names(w, &n->names, &n->ordinals,
		    n->group.place, &n->group.is.names_size);
	n->all_since += n->group.is.names_size;
	tel__out_block_clear(&n->names);
	n->ordinals.used = 0;
	return st == TEL_OK ? put_summary(w) : st;
}

void
tel__native_clear_names(struct native_out *n)
{
	if (n->names.count + n->names.nnames > 0)
		n->group.is.flags |= NATIVE_GROUP_UNNAMED;
	tel__out_block_clear(&n->names);
	n->ordinals.used = 0;
	tel__out_names_clear(n->in_force);
	/* the next group starts with the names in force again */
	n->all_from = n->group.is.blocks > 0 ? UINT64_MAX : n->sequence;
	n->all_size = n->all_since = 0;
	tel__out_group_forget(&n->group);
}

tel_status
tel__native_put_events(struct tel_writer *w)
{
	struct native_out *n = w->state;
	const struct out_block *names = &n->names;
	tel_status st = TEL_OK;

	if (n->block.count == 0 && n->lost == 0)
		return TEL_OK;
	if (!n->started)
		st = put_start(w);
	if (st == TEL_OK)
		st = describe_logs(w);
	if (st == TEL_OK)
		st = put_block(w);
	if (st == TEL_OK &&
	    (n->group.is.blocks == NATIVE_GROUP ||
	        names->count >= NAMES_EVENTS ||
	        names->bytes + names->names.used >= NAMES_BYTES))
		st = tel__native_put_group(w);
	return st;
}

static tel_status
put_directory(struct tel_writer *w)
{
	struct native_out *n = w->state;
	unsigned char head[3 * TEL__VARINT_MAX], *p = head;
	struct tel__buffer *b = new_record(n);

	p = tel__varint_put(p, n->groups);
	p = tel__varint_put(p, n->nlogs);
	p = tel__varint_put(p, (uint32_t)n->identifier);
	tel__buffer_put(b, n->directory.bytes, n->directory.used);
	b->failed |= n->directory.failed;
	return put_record(w, NATIVE_DIRECTORY, 0, head, (size_t)(p - head), 1);
}

tel_status
tel__native_put_end(struct tel_writer *w)
{
	struct native_out *n = w->state;
	unsigned char head[48];
	tel_status st = tel__native_put_events(w);

	if (st == TEL_OK && !n->started)
		st = put_start(w);
	if (st == TEL_OK && n->group.is.blocks > 0 &&
	    (n->groups > 0 || n->sequence >= NATIVE_INDEX_BLOCKS))
		st = tel__native_put_group(w);
	uint64_t before = n->length;
	if (st == TEL_OK && n->groups > 0 && n->directory.used <= DIRECTORY_MAX)
		st = put_directory(w);
	if (st != TEL_OK)
		return st;
	new_record(n);
	/* a stream without groups has the end of version 1.1.0 */
	tel_store_le64(head,
	    n->length + NATIVE_HEADER + (n->groups > 0 ? 48 : 32));
	tel_store_le64(head + 8, 0);
	tel_store_le64(head + 16, n->ordinal);
	tel_store_le64(head + 24, n->hash);
	tel_store_le64(head + 32, n->length - before);
	tel_store_le64(head + 40, n->groups_hash);
	return put_record(w, NATIVE_END, 0, head, n->groups > 0 ? 48 : 32, 0);
}
