/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pieces of a stream: blocks that are read by a reader of their own.  What the
 * reader has to know of the records before is in the directory, or in their
 * headers, over which it goes from one to the next, and in the records of types,
 * which it reads.  The reader of the piece before has read all of them, and has
 * to end in the same state.
 */
#include "format/tel/index.h"
#include "format/tel/reader.h"

#include <stdlib.h>

#include "io/source.h"

/* Steps over a record of which the head is there.  1; or 0: it means more. */
static int
pass_record(struct native *s, const struct native_record *rec)
{
	struct native_head head;

	switch (rec->kind) {
	case NATIVE_START:
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

/* Takes a record of types, which blocks behind it may have.  1 or 0. */
static int
take_types(struct tel_reader *r, struct native *s,
    const struct native_record *rec, uint64_t at)
{
	const size_t size = native_size(rec);
	unsigned char *bytes = malloc(size);
	struct native_record whole;
	int taken = bytes != NULL &&
	    tel__input_read_at(r->in, at, bytes, size) &&
	    tel__native_look(bytes, size, &whole) == 1 &&
	    native_size(&whole) == size && tel__native_whole(&whole) &&
	    tel__native_take_log(r, s, &whole) == TEL_OK &&
	    s->sources->next == NULL;

	free(bytes);
	return taken;
}

/*
 * Steps over the group of records that is next, by its entry in the directory;
 * its types, if it has any, have to be read. 1; or 0: there is none.
 */
static int
pass_group(struct native *s, const struct native_index *x, size_t *next,
    uint64_t *at, uint64_t from)
{
	const struct native_entry *e = NULL;

	while (*next < x->count) {
		e = &x->entries[*next];
		if (e->kind == NATIVE_SUMMARY && e->offset >= *at)
			break;
		++*next;
	}
	if (*next == x->count || e->offset > *at)
		return 0;
	const struct native_group *g = &x->groups[e->size];
	if ((g->flags & NATIVE_GROUP_LOGS) != 0 || g->summary_size == 0 ||
	    g->bytes + g->summary_size > from - *at)
		return 0;
	s->sequence = e->sequence + e->blocks;
	s->ordinal = e->ordinal + e->count;
	if (e->last > s->last)
		s->last = e->last;
	s->hash = g->hash;
	s->index_kind = NATIVE_SUMMARY;
	s->index_size = g->summary_size;
	*at += g->bytes + g->summary_size;
	return 1;
}

/* Steps over records from *at up to the first that is not before from. */
static int
cut_walk(struct tel_reader *r, struct native *s, const struct native_index *x,
    uint64_t *at, uint64_t from)
{
	unsigned char head[NATIVE_LOOK];
	struct native_record rec;
	size_t next = 0;

	while (*at < from) {
		if (x != NULL && pass_group(s, x, &next, at, from))
			continue;
		if (!tel__input_read_at(r->in, *at, head, sizeof(head)) ||
		    tel__native_look(head, sizeof(head), &rec) != 1 ||
		    (rec.kind == NATIVE_LOG && !take_types(r, s, &rec, *at)) ||
		    !pass_record(s, &rec) ||
		    __builtin_add_overflow(*at, (uint64_t)native_size(&rec),
		        at))
			return 0;
	}
	return 1;
}

int
tel__native_split_at(struct tel_reader *r, uint64_t from, uint64_t to)
{
	struct native *s = r->state;
	struct native_index *x;
	uint64_t at = r->offset + s->size;

	if (!s->in_stream || !s->started || !s->identified || s->ngaps > 0 ||
	    s->why != NULL || s->sources == NULL || s->sources->next != NULL ||
	    s->block->head.source != 0)
		return 0;
	if (tel__native_index_read(r->in, &x) != TEL_OK)
		return 0;
	int walked = cut_walk(r, s, x, &at, from);
	tel__native_index_free(x);
	if (!walked)
		return 0;
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
tel__native_mark(const struct tel_reader *r, struct tel_decoder_state *mark)
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
