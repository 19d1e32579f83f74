/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Returning the events of a native block, one after the other; those that are
 * only counted are reported all at once.
 */
#include "format/tel/reader.h"

/* The most bytes of a log from the first event of a run to the last. */
#define RUN_BYTES ((uint64_t)1 << 31)

static inline void
give_blobs(const struct native_blobs *blobs, uint32_t i,
    const unsigned char **at, uint32_t *size)
{
	*at = NULL;
	*size = 0;
	if (blobs->at != NULL && blobs->sizes[i] > 0) {
		*at = blobs->at[i];
		*size = blobs->sizes[i];
	}
}

/* The first event of a log in the block has its position. */
static void
begin_slot(struct native *s, unsigned i)
{
	struct native_slot *slot = &s->slots[i];

	slot->begun = 1;
	slot->source->index = s->block->logs[i].index;
	slot->source->end = s->block->logs[i].offset;
	slot->source->log->schema = slot->schema->native.schema;
}

/* Makes ev the next event of row. */
static inline void
give_row(struct native_row *row, uint64_t clock, struct tel_event *ev)
{
	unsigned char *p = row->row;

	ev->type = row->type;
	ev->data = p;
	ev->clock = clock;
	ev->size = row->size;
	ev->inline_use = row->inline_use;
	if (row->sizes != NULL) {
		ev->size = *row->sizes++;
		row->stride = row->counted ? 0 : (ev->size + 7) & ~7u;
	}
	row->row = p + row->stride;
	if (row->clock_at > 0 && row->big)
		tel_store(p + row->clock_at, clock, 8, 1);
	else if (row->clock_at > 0)
		tel_store_le64(p + row->clock_at, clock);
}

/* Bytes beside the event's own, and logs that alternate. */
static void
give_more(struct native *s, struct native_row *row, struct tel_event *ev)
{
	struct native_part *part = row->part;
	struct native_slot *slot = &s->slots[part->log];

	if (slot->source->log->schema != slot->schema->native.schema)
		slot->source->log->schema = slot->schema->native.schema;
	give_blobs(&part->raw, part->next, &ev->raw, &ev->raw_size);
	give_blobs(&part->lead, part->next, &ev->lead, &ev->lead_size);
	give_blobs(&part->inline_labels, part->next, &ev->inline_labels,
	    &ev->inline_size);
	/* a line without inline labels has a place for them */
	if (ev->inline_labels == NULL)
		ev->inline_labels = ev->data;
	part->next++;
}

/* The next event of a block of one log, without bytes beside its own. */
static inline tel_status
give_simple(struct tel_reader *r, struct native *s)
{
	const struct native_block *b = s->block;
	const uint32_t i = s->at++;
	struct native_row *row = &s->rows[b->part_of[i]];
	struct native_source *source = s->slots[0].source;
	struct tel_event *ev = &r->event;

	give_row(row, b->clocks[i], ev);
	r->consumed = ev->size;
	ev->index = source->index++;
	ev->offset = source->end;
	source->end += ev->size;
	return row->followed ? tel__reader_follow(r, ev) : TEL_OK;
}

/* The next event of any block.  There is one. */
static tel_status
native_events_give(struct tel_reader *r, struct native *s)
{
	const struct native_block *b = s->block;
	const uint32_t i = s->at++;
	struct native_row *row = &s->rows[b->part_of[i]];
	struct native_slot *slot = &s->slots[row->part->log];
	struct native_source *source = slot->source;
	struct tel_event *ev = &r->event;

	if (!slot->begun)
		begin_slot(s, row->part->log);
	give_row(row, b->clocks[i], ev);
	ev->log = source->log;
	r->consumed = ev->size;
	ev->index = source->index++;
	give_more(s, row, ev);
	ev->offset = source->end + ev->lead_size;
	if (b->gaps != NULL)
		ev->offset += b->gaps[i];
	source->end = ev->offset + (ev->raw_size > 0 ? ev->raw_size : ev->size);
	/* the first one has set what the others have in common */
	s->simple = s->plain && !s->counting && s->ordinals == NULL ?
	    (uint32_t)b->head.count :
	    0;
	return row->followed ? tel__reader_follow(r, ev) : TEL_OK;
}

/*
 * Adds events of a block of one log to those that were found, except for those
 * that were counted, up to one that must be alone.
 */
static void
add_rows(struct native *s, struct tel_batch *f, unsigned inline_use)
{
	const struct native_block *b = s->block;
	const uint32_t events = (uint32_t)b->head.count;
	struct native_source *source = s->slots[0].source;
	/* not in memory that the compiler must take for bytes of an event */
	uint64_t at = source->end - f->offset,
	         number = source->index - f->index;
	uint32_t i = s->at, n = f->count;
	struct native_row *row;
	struct tel_event ev;

	for (; i < events && n < TEL_RUN_MAX; i++) {
		for (row = &s->rows[b->part_of[i]];
		     row->counted && i + 1 < events;
		     row = &s->rows[b->part_of[++i]]) {
			at += row->sizes != NULL ? *row->sizes++ : row->size;
			number++;
		}
		if (row->alone || row->inline_use != inline_use ||
		    at > RUN_BYTES)
			break;
		give_row(row, b->clocks[i], &ev);
		f->data[n] = ev.data;
		f->clocks[n] = ev.clock;
		f->types[n] = row->index;
		f->sizes[n] = ev.size;
		f->at[n] = (uint32_t)at;
		f->numbers[n++] = (uint32_t)number++;
		at += ev.size;
	}
	s->at = i;
	f->count = n;
	source->end = f->offset + at;
	source->index = f->index + number;
}

/* 1 if the next event of a NAMES record is to be returned. */
static int
is_returned(const struct native *s)
{
	return s->ordinals[s->at] >= s->names_from &&
	    s->ordinals[s->at] < s->names_to;
}

/* Steps over the next event. */
static void
native_events_pass(struct native *s)
{
	const struct native_block *b = s->block;
	const uint32_t i = s->at++;
	struct native_row *row = &s->rows[b->part_of[i]];
	struct tel_event ev;

	if (!s->slots[row->part->log].begun)
		begin_slot(s, row->part->log);
	/* what comes after it is not the first event of a log */
	s->slots[row->part->log].source->index++;
	give_row(row, b->clocks[i], &ev);
	row->part->next++;
}

/* ------------------------------------------------------------ counting */

/* Nonzero when events of a type are to be handed out. */
static int
is_wanted(const struct tel_reader *r, const struct native *s,
    const struct tel_type *t)
{
	static const struct tel_bound unknown[UINT8_MAX];
	const struct tel_predicate_pushdown *chooser = &r->predicate_pushdown;
	const struct tel_bounds bounds = { .first = s->block->head.first,
		.last = s->block->head.last,
		.fields = unknown };

	return tel_type_is_followed(t) ||
	    (chooser->may != NULL ?
	            chooser->may(chooser->arg, t->schema, t, &bounds) :
	            r->count_pushdown.wants(r->count_pushdown.arg,
	                s->slots[0].source->log, t));
}

void
tel__native_choose_counted(struct tel_reader *r, struct native *s,
    enum native_kind kind)
{
	const struct tel_predicate_pushdown *chooser = &r->predicate_pushdown;
	const struct native_block *b = s->block;

	s->counting = 0;
	/* with its first event a log begins */
	if ((r->count_pushdown.wants != NULL) == (chooser->may != NULL) ||
	    kind != NATIVE_BLOCK ||
	    (r->range.on && !tel_reader_wants_none(r)) || b->nlogs != 1 ||
	    b->logs[0].index == 0 || b->head.count == 0)
		return;
	const struct tel_schema *schema = s->slots[0].schema->native.schema;
	/* unless one log is copied, others between may decide the order */
	if (schema->untimed ||
	    (chooser->may != NULL &&
	        (chooser->timed || !chooser->whole || tel_reader_shares(r) ||
	            !tel__native_may_drop(r, schema))))
		return;
	for (unsigned i = 0; i < b->nparts; i++) {
		struct native_part *part = &b->parts[i];

		if (part->unknown ||
		    part->flags & (NATIVE_RAW | NATIVE_LEAD | NATIVE_NOTES))
			continue;
		part->counted = !is_wanted(r, s, &schema->types[part->type]);
		s->counting |= part->counted;
	}
	s->counted = 0;
}

/*
 * Reports the events that are only counted.  The last one of the block is
 * returned in any case: a caller should not wait for ever.
 */
static void
tell_counts(struct tel_reader *r, struct native *s)
{
	const struct native_block *b = s->block;
	const unsigned last = b->part_of[b->head.count - 1];

	s->counted = 1;
	for (unsigned i = 0; i < b->nparts; i++) {
		const struct native_part *part = &b->parts[i];

		if (!part->counted)
			continue;
		uint64_t events = part->count;
		uint64_t bytes = part->bytes;
		if (i == last) {
			events--;
			bytes -= part->sizes != NULL ?
			    part->sizes[part->count - 1] :
			    part->size;
		}
		r->count[TEL_COUNT_EVENTS] += events;
		r->count[TEL_COUNT_BYTES] += bytes;
		if (r->count_pushdown.wants != NULL)
			r->count_pushdown.count(r->count_pushdown.arg,
			    s->slots[0].source->log, s->rows[i].type, events,
			    bytes);
	}
	if (r->count_pushdown.wants == NULL)
		return;
	r->count_pushdown.span(r->count_pushdown.arg, s->slots[0].source->log,
	    b->head.first, b->head.last);
}

/* Steps over events that were counted. */
static void
pass_counted(struct native *s)
{
	const struct native_block *b = s->block;
	struct native_source *source = s->slots[0].source;
	uint32_t i = s->at;

	if (!s->slots[0].begun)
		begin_slot(s, 0);
	for (; i + 1 < b->head.count; i++) {
		struct native_row *row = &s->rows[b->part_of[i]];

		if (!row->counted)
			break;
		if (b->gaps != NULL)
			source->end += b->gaps[i];
		source->end += row->sizes != NULL ? *row->sizes++ : row->size;
		source->index++;
	}
	s->at = i;
}

tel_status
tel__native_next(struct tel_reader *r)
{
	struct native *s = r->state;

	for (;;) {
		if (__builtin_expect(s->at < s->simple, 1))
			return give_simple(r, s);
		if (s->at >= s->block->head.count) {
			tel_status st = tel__native_next_block(r, s);

			if (st != TEL_OK)
				return st;
		} else if (s->ordinals != NULL && !is_returned(s)) {
			native_events_pass(s);
		} else {
			if (s->counting && !s->counted)
				tell_counts(r, s);
			if (s->counting)
				pass_counted(s);
			return native_events_give(r, s);
		}
	}
}

void
tel__native_decode_batch(struct tel_reader *r)
{
	struct native *s = r->state;

	if (!s->plain || s->ordinals != NULL)
		return;
	r->batch->renumbered = s->counting;
	add_rows(s, r->batch, r->event.inline_use);
}
