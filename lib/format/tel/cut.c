/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pieces of a stream: blocks that are read by a reader of their own.  What the
 * reader has to know of the records before is in their headers, over which it
 * goes from one to the next; the reader of the piece before has read them
 * completely, and has to end in the same state.
 */
#include "format/tel/reader.h"
#include "io/source.h"

/* Steps over a record of which the head is there.  1; or 0: it means more. */
static int
pass_record(struct native *s, const struct native_record *rec)
{
	struct native_head head;

	switch (rec->kind) {
	case NATIVE_START:
	case NATIVE_LOG:
	case NATIVE_END: return 0;
	case NATIVE_BLOCK:
		if (!tel__native_head(rec, s->median, &head) ||
		    head.sequence != s->sequence ||
		    head.ordinal != s->ordinal || head.source != 0 ||
		    (s->median > 0 && head.stream != s->identifier))
			return 0;
		s->sequence++;
		s->ordinal += head.count;
		if (head.last > s->last)
			s->last = head.last;
		break;
	default:
		if (rec->needed)
			return 0;
		break;
	}
	s->hash = tel__native_chain(s->hash, rec);
	s->index_kind = rec->kind;
	s->index_size = native_size(rec);
	return 1;
}

int
tel__native_cut(struct tel_reader *r, uint64_t from, uint64_t to)
{
	struct native *s = r->state;
	unsigned char head[NATIVE_LOOK];
	struct native_record rec;
	uint64_t at = r->offset + s->size;

	if (!s->in_stream || !s->started || !s->identified || s->ngaps > 0 ||
	    s->why != NULL || s->sources == NULL || s->sources->next != NULL ||
	    s->block->head.source != 0)
		return 0;
	while (at < from) {
		if (!tel__input_read_at(r->in, at, head, sizeof(head)) ||
		    tel__native_look(head, sizeof(head), &rec) != 1 ||
		    !pass_record(s, &rec) ||
		    __builtin_add_overflow(at, (uint64_t)native_size(&rec),
		        &at))
			return 0;
	}
	if (at >= to || !tel__reader_jump(r, at))
		return 0;
	/* the block that is handed out has no more events */
	s->size = 0;
	s->at = (uint32_t)s->block->head.count;
	s->simple = 0;
	s->counting = 0;
	return 1;
}

void
tel__native_mark(const struct tel_reader *r, struct tel_mark *mark)
{
	const struct native *s = r->state;

	mark->state[0] = s->sequence;
	mark->state[1] = s->ordinal;
	mark->state[2] = s->last;
	mark->state[3] = s->hash;
	mark->state[4] = s->start;
	mark->state[5] = s->index_size;
	mark->state[6] = s->index_kind;
	mark->state[7] = (uint64_t)s->whole | (uint64_t)(s->ngaps > 0) << 1 |
	    (uint64_t)(s->why != NULL) << 2 | (uint64_t)s->in_stream << 3 |
	    (uint64_t)s->started << 4 | (uint64_t)s->identified << 5;
}
