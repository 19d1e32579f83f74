/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recordings of Java Flight Recorder: events in order of time.  The chunk whose
 * events come next is read while the one behind it is held as well, as an event
 * that lasts long may have started before its chunk.
 */
#include "base/heap.h"
#include "format/jfr/jfr.h"

#include <stdlib.h>

/* Bytes of rows that are made at once. */
#define ROWS ((size_t)1 << 18)

static int
jfr_probe(struct tel_reader *r)
{
	tel__reader_fill(r, JFR_HEADER);
	return r->end - r->p >= 6 && memcmp(r->p, "FLR", 4) == 0 ? 100 : 0;
}

static void
jfr_close(struct tel_reader *r)
{
	struct jfr *j = r->state;
	struct jfr_layout *l;
	struct jfr_chunk *c;

	r->log.records = 0;
	while ((c = j->chunks) != NULL) {
		j->chunks = c->next;
		tel__jfr_chunk_free(c);
	}
	tel__jfr_chunk_free(j->ended);
	while ((l = j->layouts) != NULL) {
		j->layouts = l->next;
		tel__jfr_layout_free(l);
	}
	tel__table_clear(&j->by_content);
	free(j->heap);
	tel__index_clear(&j->frames);
	tel__buffer_clear(&j->name);
	tel__buffer_clear(&j->again);
	free(j->rows);
	free(j->spare);
}

/*
 * Reads ahead until a chunk behind the first is held, and some bytes.  Whoever
 * counts events does not need their order.
 */
static tel_status
fill_chunks(struct tel_reader *r, struct jfr *j)
{
	tel_status st = tel__jfr_index(r, j);

	while (!j->over && st == TEL_OK &&
	    (j->chunks == NULL ||
	        (r->count_pushdown.wants == NULL &&
	            (j->chunks->next == NULL || j->held < JFR_HELD)))) {
		st = tel__jfr_load(r, j);
		if (st == TEL_END) {
			j->over = 1;
			st = TEL_OK;
		}
		if (st == TEL_OK)
			st = tel__jfr_index(r, j);
	}
	return st;
}

static tel_status
jfr_open(struct tel_reader *r)
{
	struct jfr *j = r->state;

	tel__reader_fill(r, JFR_HEADER);
	if (r->end - r->p < (ptrdiff_t)JFR_HEADER ||
	    memcmp(r->p, "FLR", 4) != 0)
		return tel__reader_fail(r, TEL_EFORMAT,
		    "not a recording: it has no header of a chunk");
	unsigned major = tel_be16(r->p + 4);
	if (major == 0 || (major > JFR_MAJOR_MAX && !r->force))
		return tel__reader_fail(r, TEL_EVERSION,
		    "the recording has version %u.%u; versions 1 and 2 are "
		    "supported",
		    major, (unsigned)tel_be16(r->p + 6));
	j->major_max = r->force ? UINT16_MAX : JFR_MAJOR_MAX;
	tel__index_init(&j->frames);
	tel__table_init(&j->by_content);
	j->rows = malloc(ROWS);
	j->row_room = ROWS;
	if (j->rows == NULL)
		return TEL_ENOMEM;
	r->log.records = 1;
	tel__clock_set_rate(r->log.clock, 1e9);
	tel__clock_set_epoch(r->log.clock, 0);
	/* the first chunk has the schema */
	tel_status st = TEL_OK;
	while (st == TEL_OK && !j->over && j->layouts == NULL) {
		st = tel__jfr_load(r, j);
		j->over = st == TEL_END;
	}
	if (j->layouts != NULL || st < 0)
		return st == TEL_END ? TEL_OK : st;
	return tel__reader_fail(r, TEL_EFORMAT,
	    "not a recording: no chunk has valid metadata");
}

static void
jfr_opened(struct tel_reader *r, struct tel__buffer *to)
{
	const struct jfr *j = r->state;

	for (const struct jfr_chunk *c = j->chunks; c != NULL; c = c->next)
		tel__buffer_put(to, c->bytes, (size_t)c->size);
	if (j->again.used > j->again_at)
		tel__buffer_put(to, j->again.bytes + j->again_at,
		    j->again.used - j->again_at);
}

/*
 * The chunk whose event is the next one; *until: the clock up to which its
 * events come before those of others.  Of the same time, those of the first
 * chunk come first, however many are taken at once.
 */
static struct jfr_chunk *
next_chunk(const struct jfr *j, uint64_t *until)
{
	const struct jfr_chunk *second = j->nheap > 1 ? j->heap[1] : NULL;
	struct jfr_chunk *best = j->nheap > 0 ? j->heap[0] : NULL;

	if (j->nheap > 2 && tel__jfr_comes_before(j->heap[2], second))
		second = j->heap[2];
	*until = second == NULL ? UINT64_MAX :
	                          second->events[second->done].clock -
	        (second->offset < best->offset);
	return best;
}

/*
 * The chunk of the next event has given some.  If it has no more, it is kept
 * until the next ones are asked for.
 */
static void
pass_events(struct jfr *j, struct jfr_chunk *c)
{
	struct jfr_chunk **link = &j->chunks;

	if (c->done == c->nevents) {
		while (*link != c)
			link = &(*link)->next;
		*link = c->next;
		j->held -= c->size + JFR_CHUNK_COST;
		j->ended = c;
		j->heap[0] = j->heap[--j->nheap];
	}
	if (j->nheap > 0)
		tel__heap_sink(j->heap, j->nheap, 0, tel__jfr_comes_before);
}

/* Reports invalid values of the event that was just made. */
static tel_status
report_event(struct tel_reader *r, struct jfr *j, uint64_t offset)
{
	const char *why = j->why;

	j->why = NULL;
	return tel__reader_damage(r, offset, 0,
	    "%s; some of its fields are missing", why);
}

static void
place_event(struct tel_reader *r, const struct jfr_chunk *c,
    const struct jfr_event *ev, const unsigned char *data, uint32_t size,
    uint32_t raw_size)
{
	struct tel_event *out = &r->event;

	out->type =
	    &c->layout->schema->types[c->layout->classes[ev->class].type_index];
	out->data = data;
	out->size = size;
	out->clock = ev->clock;
	out->offset = c->offset + ev->at;
	out->raw = c->bytes + ev->at;
	out->raw_size = raw_size;
	out->log = &r->log;
	r->consumed = out->raw_size;
}

static tel_status
jfr_next(struct tel_reader *r)
{
	struct jfr *j = r->state;
	uint64_t until;
	uint32_t size = 0, raw_size = 0;

	r->event.index += r->event.data != NULL;
	if (j->ended != NULL && j->spare == NULL) {
		j->spare = j->ended->bytes;
		j->spare_room = j->ended->room;
		j->ended->bytes = NULL;
	}
	tel__jfr_chunk_free(j->ended);
	j->ended = NULL;
	tel_status st = fill_chunks(r, j);
	if (st != TEL_OK)
		return st;
	struct jfr_chunk *c = next_chunk(j, &until);
	if (c == NULL) {
		if (j->late > 0)
			tel__reader_notice(r, TEL_INFO, r->offset,
			    "%llu events started before chunks that were over: "
			    "they are out of order; -S sorts them",
			    (unsigned long long)j->late);
		j->late = 0;
		return TEL_END;
	}
	struct jfr_event *ev = &c->events[c->done];
	j->used = 0;
	st = tel__jfr_row(j, c, ev, &size, &raw_size);
	if (st != TEL_OK)
		return TEL_ENOMEM;
	j->late += ev->clock < j->latest;
	j->latest = ev->clock;
	r->log.schema = c->layout->schema;
	place_event(r, c, ev, j->rows, size, raw_size);
	c->done++;
	pass_events(j, c);
	return j->why != NULL ? report_event(r, j, r->event.offset) : TEL_OK;
}

static void
jfr_decode_batch(struct tel_reader *r)
{
	struct jfr *j = r->state;
	struct tel_batch *f = r->batch;
	uint64_t until;
	uint32_t n = 1, size, raw_size;
	struct jfr_chunk *c = next_chunk(j, &until);

	/* the first event is of this chunk as well */
	if (c == NULL || r->event.offset - c->offset >= c->size ||
	    j->ended != NULL)
		return;
	/* places are counted from the start of the chunk */
	f->offset = c->offset;
	f->at[0] = (uint32_t)(r->event.offset - c->offset);
	f->raw = c->bytes;
	f->raw_sizes[0] = r->event.raw_size;
	for (; n < TEL_RUN_MAX && c->done < c->nevents; n++) {
		const struct jfr_event *ev = &c->events[c->done];
		size_t used = j->used;

		if (ev->clock > until ||
		    tel__jfr_row(j, c, ev, &size, &raw_size) != TEL_OK)
			break;
		if (j->why != NULL) {
			/* next() reports it */
			j->used = used;
			j->why = NULL;
			break;
		}
		f->data[n] = j->rows + used;
		f->sizes[n] = size;
		f->at[n] = ev->at;
		f->raw_sizes[n] = raw_size;
		f->clocks[n] = ev->clock;
		f->types[n] = c->layout->classes[ev->class].type_index;
		j->latest = ev->clock;
		c->done++;
	}
	f->count = n;
	pass_events(j, c);
}

/* A virtual machine has allocated before a profiler can start. */
static int
jfr_starts_late(const struct tel_log *log)
{
	return log != NULL;
}

const struct tel_format_ops tel__format_jfr = {
	.name = "jfr",
	.starts_late = jfr_starts_late,
	.probe = jfr_probe,
	.state_size = sizeof(struct jfr),
	.open = jfr_open,
	.opened = jfr_opened,
	.next = jfr_next,
	.decode_batch = jfr_decode_batch,
	.close = jfr_close,
	.written_as = "tel",
};
