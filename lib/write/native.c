/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writing the native format, tel(5): of any log, and of several at once.
 * Events are held back until they make a block, or someone waits for them.
 */
#include "write/native_out.h"

#include <stdlib.h>

#include "formats/reader.h"

/* When a block has so many events, or bytes of them, it is written. */
#define BLOCK_EVENTS 16384u
#define BLOCK_BYTES ((size_t)1 << 17)
/* Parts of a block, which are events of one type. */
#define BLOCK_PARTS 16384u
/* Events that name things go into records of so many. */
#define NAMES_EVENTS 4096u
/* A log of fewer bytes does not describe the types of a built-in format. */
#define DESCRIBE_BYTES 65536u
/* With fewer blocks there is nothing to be found faster. */
#define INDEX_BLOCKS 8u
/* Bytes of entries that the index is not longer than. */
#define INDEX_MAX ((size_t)8 << 20)

struct native_out {
	struct out_block block;
	struct out_block names; /* copies of events that name things */
	struct out_log *logs;
	struct out_schema *schemas;
	struct out_log *last_log; /* of the last event */
	struct out_schema *last_schema;
	uint32_t nlogs;
	struct native_buffer record;
	int started;
	uint64_t sequence; /* blocks written */
	uint64_t ordinal;  /* events in them */
	uint64_t length;   /* bytes of the stream */
	struct native_buffer index;
	uint64_t entries;
	uint64_t indexed; /* bytes of the stream before the next entry */
	uint64_t clock;   /* first of the last entry with one */
	uint64_t named;   /* blocks that a names record is about, or none */
};

static void
free_schema(struct out_schema *s)
{
	native_schema_end(&s->native);
	free(s);
}

static void
free_schemas(struct native_out *n)
{
	struct out_schema *s;

	while ((s = n->schemas) != NULL) {
		n->schemas = s->next;
		free_schema(s);
	}
	n->last_schema = NULL;
}

void
native_out_free(struct native_out *n)
{
	struct out_log *log;

	if (n == NULL)
		return;
	out_block_end(&n->block);
	out_block_end(&n->names);
	free_schemas(n);
	while ((log = n->logs) != NULL) {
		n->logs = log->next;
		tel_labels_free(log->labels);
		free(log->name);
		free(log->described);
		free(log);
	}
	free(n->record.p);
	free(n->index.p);
	free(n);
}

static tel_status
begin(struct tel_writer *w)
{
	struct native_out *n = calloc(1, sizeof(*n));

	if (n == NULL)
		return TEL_ENOMEM;
	w->native = n;
	if (out_block_begin(&n->block) != TEL_OK ||
	    out_block_begin(&n->names) != TEL_OK)
		return TEL_ENOMEM;
	return TEL_OK;
}

/* ------------------------------------------------------------- records */

/* Puts an entry into the index. */
static void
add_entry(struct native_out *n, enum native_kind kind, size_t size,
    const struct native_head *head)
{
	struct native_buffer *b = &n->index;

	if (b->used > INDEX_MAX)
		return;
	native_put_varint(b, kind);
	native_put_varint(b, n->length - n->indexed);
	native_put_varint(b, size);
	if (head != NULL) {
		native_put_varint(b, head->count);
		native_put_varint(b, native_zigzag(head->first - n->clock));
		native_put_varint(b, head->last - head->first);
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
	struct native_out *n = w->native;
	unsigned char *p = n->record.p;
	const size_t body = n->record.used - NATIVE_HEADER - NATIVE_HEAD_MAX;
	const size_t size = NATIVE_HEADER + head_size + body;

	if (n->record.failed) {
		n->record.failed = 0;
		return TEL_ENOMEM;
	}
	if (body > NATIVE_BODY_MAX)
		return write_fail(w, TEL_ELIMIT,
		    "a block of more than %u bytes", NATIVE_BODY_MAX);
	if (must && tel_output_boundary(w->out, 1) != TEL_OK)
		return w->out->status;
	p += NATIVE_HEAD_MAX - head_size;
	if (head_size > 0)
		memcpy(p + NATIVE_HEADER, head, head_size);
	native_seal(p, kind, needed, head_size, body);
	n->length += size;
	if (tel_output_write(w->out, p, size) != TEL_OK)
		return w->out->status;
	return tel_output_boundary(w->out, must);
}

/* Begins a record. */
static struct native_buffer *
new_record(struct native_out *n)
{
	n->record.used = 0;
	n->record.failed = 0;
	if (native_room(&n->record, NATIVE_HEADER + NATIVE_HEAD_MAX) != NULL)
		n->record.used = NATIVE_HEADER + NATIVE_HEAD_MAX;
	return &n->record;
}

static tel_status
put_start(struct tel_writer *w)
{
	static const char what[] = "teltools " TEL_VERSION;
	static const unsigned char begin[20] = { NATIVE_MAJOR, NATIVE_MEDIAN,
		NATIVE_MINOR, '<' };
	struct native_buffer *b = new_record(w->native);

	w->native->started = 1;
	/* the rate is said of each log; no log of ours says the date */
	native_put(b, begin, sizeof(begin));
	native_put_string(b, what, sizeof(what) - 1);
	return put_record(w, NATIVE_START, 1, NULL, 0, 0);
}

static tel_status
put_log(struct tel_writer *w, const struct out_slot *slot,
    const uint8_t *wanted)
{
	struct native_out *n = w->native;

	out_log_put(new_record(n), slot->log, slot->schema, slot->index,
	    slot->offset, wanted, 1, 1);
	if (!n->record.failed)
		add_entry(n, NATIVE_LOG, n->record.used - NATIVE_HEAD_MAX,
		    NULL);
	return put_record(w, NATIVE_LOG, 0, NULL, 0, 0);
}

/*
 * Describes the types of a slot of the block, if that was not done yet.  Of a
 * schema that goes by its name it is done for those that are in use, and when
 * it is worth it.
 */
static tel_status
tell_log(struct tel_writer *w, unsigned i)
{
	struct out_block *b = &w->native->block;
	struct out_slot *slot = &b->slots[i];
	struct out_log *log = slot->log;
	const size_t n = slot->schema->native.schema->ntypes + (size_t)1;
	uint8_t *wanted;
	int same = log->told == slot->schema && log->described != NULL;
	tel_status st = TEL_OK;

	if (slot->schema->known && log->bytes + b->bytes < DESCRIBE_BYTES)
		return TEL_OK;
	if (same && !slot->schema->known)
		return TEL_OK;
	wanted = calloc(n, 1);
	if (wanted == NULL)
		return TEL_ENOMEM;
	if (same)
		memcpy(wanted, log->described, n);
	out_block_types(b, i, wanted);
	if (!same || memcmp(wanted, log->described, n) != 0) {
		st = put_log(w, slot, slot->schema->known ? wanted : NULL);
		log->told = slot->schema;
	}
	free(log->described);
	log->described = wanted;
	return st;
}

static tel_status
tell_logs(struct tel_writer *w)
{
	tel_status st = TEL_OK;
	unsigned i;

	for (i = 0; i < w->native->block.nslots && st == TEL_OK; i++)
		st = tell_log(w, i);
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

static tel_status
put_block(struct tel_writer *w, struct out_block *b, enum native_kind kind)
{
	struct native_out *n = w->native;
	unsigned char bytes[NATIVE_HEAD_MAX];
	struct native_head head;
	size_t size;
	unsigned i;
	tel_status st;

	memset(&head, 0, sizeof(head));
	head.sequence = kind == NATIVE_BLOCK ? n->sequence : n->sequence - 1;
	/* of a names record: the first of the blocks that it is about */
	head.lost = kind == NATIVE_BLOCK ? 0 : n->named;
	head.ordinal = n->ordinal;
	head.count = b->count;
	find_span(b, &head);
	out_block_body(b, new_record(n), head.first);
	size = native_put_head(bytes, &head);
	if (!n->record.failed)
		add_entry(n, kind, n->record.used - NATIVE_HEAD_MAX + size,
		    &head);
	st = put_record(w, kind, 0, bytes, size, kind == NATIVE_NAMES);
	if (kind == NATIVE_BLOCK) {
		n->sequence++;
		n->ordinal += b->count;
		for (i = 0; i < b->nslots; i++) {
			b->slots[i].log->bytes += b->bytes;
			b->slots[i].log->told = b->slots[i].schema;
		}
	}
	out_block_clear(b);
	return st;
}

static tel_status
put_names(struct tel_writer *w)
{
	struct native_out *n = w->native;

	tel_status st;

	if (n->named == n->sequence)
		return TEL_OK;
	st = put_block(w, &n->names, NATIVE_NAMES);
	n->named = n->sequence;
	return st;
}

/* Writes the events that are held back. */
static tel_status
put_events(struct tel_writer *w)
{
	struct native_out *n = w->native;
	tel_status st = TEL_OK;

	if (n->block.count == 0)
		return TEL_OK;
	if (!n->started)
		st = put_start(w);
	if (st == TEL_OK)
		st = tell_logs(w);
	if (st == TEL_OK)
		st = put_block(w, &n->block, NATIVE_BLOCK);
	if (st == TEL_OK && n->names.count >= NAMES_EVENTS)
		st = put_names(w);
	return st;
}

/* -------------------------------------------------------------- events */

/* 1 when a schema of that name is built in, and is the same. */
static int
is_known(const struct tel_schema *s, uint64_t digest)
{
	tel_schema *built_in;
	int same;

	if (s->described || tel_schema_new(s->name, &built_in) != TEL_OK)
		return 0;
	same = native_digest(built_in) == digest;
	tel_schema_free(built_in);
	return same;
}

static tel_status
find_schema(struct native_out *n, struct tel_schema *schema)
{
	struct out_schema *s;
	uint64_t digest;

	for (s = n->schemas; s != NULL; s = s->next)
		if (s->native.schema == schema)
			break;
	if (s == NULL) {
		s = calloc(1, sizeof(*s));
		if (s == NULL)
			return TEL_ENOMEM;
		digest = native_digest(schema);
		if (digest == 0 ||
		    native_schema_begin(&s->native, schema, digest) != TEL_OK) {
			free(s);
			return TEL_ENOMEM;
		}
		s->known = is_known(schema, digest);
		s->next = n->schemas;
		n->schemas = s;
	}
	n->last_schema = s;
	return TEL_OK;
}

/* A log begins that was not seen yet. */
static tel_status
add_log(struct native_out *n, const struct tel_log *of, size_t max_labels)
{
	struct out_log *log = calloc(1, sizeof(*log));

	if (log == NULL)
		return TEL_ENOMEM;
	log->labels = tel_labels_new(max_labels);
	log->name = strdup(of->name);
	if (log->labels == NULL || log->name == NULL) {
		tel_labels_free(log->labels);
		free(log->name);
		free(log);
		return TEL_ENOMEM;
	}
	log->name_size = strlen(log->name);
	log->of = of;
	log->of_number = of->number;
	log->number = n->nlogs++;
	log->next = n->logs;
	n->logs = log;
	n->last_log = log;
	return TEL_OK;
}

static tel_status
find_log(struct tel_writer *w, const struct tel_log *of)
{
	struct native_out *n = w->native;
	struct out_log *log;
	tel_status st;

	for (log = n->logs; log != NULL; log = log->next) {
		if (log->of != of)
			continue;
		if (log->of_number == of->number) {
			n->last_log = log;
			return TEL_OK;
		}
		/* what it says of itself is gone: it was another member */
		st = put_events(w);
		if (st != TEL_OK)
			return st;
		log->of = NULL;
	}
	if (n->nlogs > NATIVE_LOGS_MAX)
		return write_fail(w, TEL_ELIMIT, "more than %u logs",
		    NATIVE_LOGS_MAX);
	return add_log(n, of, w->max_labels);
}

/* Notes a label in what becomes a block, and a names record. */
static void
add_name(struct native_out *n, int slot, struct out_block *b,
    const struct tel_label *label, enum tel_space space, uint64_t value,
    uint64_t clock)
{
	(void)n;
	native_put_varint(&b->names, (uint64_t)slot);
	native_put_varint(&b->names, space);
	native_put_varint(&b->names, value);
	native_put_varint(&b->names, clock);
	native_put_string(&b->names, label->string, label->length);
	b->nnames++;
}

/*
 * A value has a label that no event of the log told: it came from another
 * file, or the format has its own way.
 */
static tel_status
tell_label(struct native_out *n, const struct tel_event *ev,
    const struct tel_field *f)
{
	const enum tel_space space = tel_field_space(ev->log->schema, f);
	const uint64_t value = tel_load(f, ev->data);
	struct out_log *log = n->last_log;
	struct out_block *blocks[2] = { &n->block, &n->names };
	struct tel_label label, known;
	uint64_t clock = ev->clock;
	tel_status st;
	int i, slot;

	if (!tel_labels_find(ev->log->labels, space, value, clock, &label) ||
	    label.string == NULL)
		return TEL_OK;
	if (tel_labels_find(log->labels, space, value, clock, &known) &&
	    known.string != NULL && known.length == label.length &&
	    memcmp(known.string, label.string, label.length) == 0)
		return TEL_OK;
	/* most are in force from the begin */
	if (tel_labels_find(ev->log->labels, space, value, 0, &known) &&
	    known.id == label.id)
		clock = 0;
	st = tel_labels_intern(log->labels, log->strings, label.string,
	    label.length);
	if (st == TEL_OK)
		st = tel_labels_add(log->labels, space, value, clock,
		    log->strings++);
	if (st != TEL_OK)
		return st == TEL_ELIMIT ? TEL_OK : st;
	for (i = 0; i < 2; i++) {
		slot = out_block_slot(blocks[i], log, n->last_schema);
		if (slot < 0)
			return TEL_ENOMEM;
		add_name(n, slot, blocks[i], &label, space, value, clock);
	}
	return n->block.names.failed || n->names.names.failed ? TEL_ENOMEM :
	                                                        TEL_OK;
}

/* 1 when the labels of a log come from its events alone. */
static int
names_itself(const struct tel_schema *s)
{
	return !s->described;
}

static tel_status
tell_labels(struct native_out *n, const struct tel_event *ev)
{
	const struct tel_type *t = ev->type;
	tel_status st = TEL_OK;
	unsigned i;

	for (i = 0; i < t->nfields && st == TEL_OK; i++)
		if (tel_field_labelled(&t->fields[i]))
			st = tell_label(n, ev, &t->fields[i]);
	return st;
}

static tel_status
native_write(struct tel_writer *w, const struct tel_event *ev, int changed)
{
	struct native_out *n = w->native;
	const size_t lead = w->lead_size;
	tel_status st = TEL_OK;

	(void)changed;
	w->lead_size = 0;
	if (n == NULL) {
		st = begin(w);
		n = w->native;
	}
	if (st == TEL_OK &&
	    (n->last_log == NULL || n->last_log->of != ev->log ||
	        n->last_log->of_number != ev->log->number))
		st = find_log(w, ev->log);
	if (st == TEL_OK &&
	    (n->last_schema == NULL ||
	        n->last_schema->native.schema != ev->log->schema))
		st = find_schema(n, ev->log->schema);
	if (st == TEL_OK && tel_labels_count(ev->log->labels) > 0 &&
	    !names_itself(ev->log->schema))
		st = tell_labels(n, ev);
	if (st == TEL_OK && tel_type_is_followed(ev->type)) {
		const uint64_t index = n->last_log->index;
		const uint64_t end = n->last_log->end;

		st = out_block_add(&n->names, n->last_log, n->last_schema, ev,
		    NULL, 0);
		n->last_log->index = index;
		n->last_log->end = end;
	}
	if (st == TEL_OK)
		st = out_block_add(&n->block, n->last_log, n->last_schema, ev,
		    w->lead, lead);
	if (st == TEL_OK &&
	    (n->block.count >= BLOCK_EVENTS || n->block.bytes >= BLOCK_BYTES ||
	        n->block.nparts >= BLOCK_PARTS))
		st = put_events(w);
	return st;
}

/* What an inst log needs is needed when it becomes one again. */
static int
native_needed(const struct tel_event *ev)
{
	const char *form =
	    ev->log->origin != NULL ? ev->log->origin : ev->log->form;

	return strcmp(form, write_form_inst.name) == 0 &&
	    write_form_inst.needed(ev);
}

static int
native_takes(const struct tel_log *log)
{
	(void)log;
	return 1;
}

static tel_status
native_flush(struct tel_writer *w)
{
	return w->native != NULL ? put_events(w) : TEL_OK;
}

/* The logs of a file, and what was made of their schemas, go away. */
static tel_status
native_end_file(struct tel_writer *w)
{
	struct native_out *n = w->native;
	struct out_log *log;
	tel_status st;

	if (n == NULL)
		return TEL_OK;
	st = put_events(w);
	if (st == TEL_OK && n->sequence >= INDEX_BLOCKS)
		st = put_names(w);
	/* a few blocks are soon read, and their names with them */
	out_block_clear(&n->names);
	n->named = n->sequence;
	for (log = n->logs; log != NULL; log = log->next) {
		log->of = NULL;
		log->told = NULL;
		free(log->described);
		log->described = NULL;
	}
	n->last_log = NULL;
	free_schemas(n);
	return st;
}

static tel_status
put_index(struct tel_writer *w)
{
	struct native_out *n = w->native;
	unsigned char head[10];
	struct native_buffer *b = new_record(n), count = { NULL, 0, 0, 0 };
	tel_status st;

	if (tel_output_boundary(w->out, 1) != TEL_OK)
		return w->out->status;
	native_put(b, n->index.p, n->index.used);
	native_put_varint(&count, n->entries);
	if (count.failed || n->index.failed) {
		free(count.p);
		return TEL_ENOMEM;
	}
	memcpy(head, count.p, count.used);
	st = put_record(w, NATIVE_INDEX, 0, head, count.used, 0);
	free(count.p);
	return st;
}

static tel_status
native_finish(struct tel_writer *w)
{
	struct native_out *n;
	unsigned char head[24];
	uint64_t before;
	tel_status st = TEL_OK;

	if (w->native == NULL)
		st = begin(w);
	n = w->native;
	if (st == TEL_OK)
		st = put_events(w);
	if (st == TEL_OK && !n->started)
		st = put_start(w);
	if (st != TEL_OK)
		return st;
	before = n->length;
	if (n->sequence >= INDEX_BLOCKS && n->index.used <= INDEX_MAX) {
		st = put_names(w);
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
	st = put_record(w, NATIVE_END, 0, head, sizeof(head), 0);
	native_out_free(n);
	w->native = NULL;
	return st;
}

const struct write_form write_form_tel = {
	.name = "tel",
	.what = "a log in the native format",
	.binary = 1,
	.target = 1,
	.takes = native_takes,
	.write = native_write,
	.flush = native_flush,
	.end_file = native_end_file,
	.finish = native_finish,
	.needed = native_needed,
};
