/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The decoder of CTF: it merges the events of all streams.  A heap has the
 * streams by the clock of their next event; as long as that of the first
 * stream is before that of the second, its events are one run.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/ctf/ctf.h"
#include "base/bytes.h"
#include "base/heap.h"

/* Bytes of the windows of all streams, and of one. */
#define WINDOWS_SIZE ((size_t)8 << 20)
#define WINDOW_MIN ((size_t)4096)
#define WINDOW_MAX ((size_t)1 << 18)
/* Records of a run, in bytes, after which it ends. */
#define RUN_BYTES ((size_t)1 << 18)
/* Events that are counted before a run ends. */
#define PASSED_MAX ((uint64_t)1 << 16)

/* --------------------------------------------------------------------- open */

int
tel__ctf_claims(const struct tel_fileset *set)
{
	for (size_t i = 0; i < set->count; i++)
		if (tel__ctf_is_metadata_name(set->files[i].name))
			return 1;
	return 0;
}

/* Whether the window is a file of a trace. */
int
tel__ctf_probe(struct tel_reader *r)
{
	tel__reader_fill(r, 64);
	if (r->end - r->p < 4)
		return 0;
	if (tel_le32(r->p) == CTF_PACKET_MAGIC ||
	    tel_be32(r->p) == CTF_PACKET_MAGIC)
		return 100;
	return tel__ctf_is_metadata(r->p, (size_t)(r->end - r->p)) ? 95 : 0;
}

/* The set of the folder that a file is in, by its path. */
static tel_status
ctf_open_beside(struct tel_reader *r)
{
	const char *slash = strrchr(r->name, '/');
	const size_t n = slash != NULL ? (size_t)(slash + 1 - r->name) : 0;
	struct tel_fault fault;
	char *path = malloc(n + sizeof("metadata"));
	tel_status st;
	int fd = -1;

	if (path == NULL)
		return TEL_ENOMEM;
	memcpy(path, r->name, n);
	memcpy(path + n, "metadata", sizeof("metadata"));
	/* a program that confines itself may not open a folder without it */
	if (access(path, R_OK) == 0) {
		memcpy(path + n, n == 0 ? "." : "", n == 0 ? 2 : 1);
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	if (fd < 0)
		st = tel__reader_fail(r, TEL_EIO,
		    "a file of a CTF trace; %s: %s", path, strerror(errno));
	free(path);
	if (fd < 0)
		return st;
	st = tel__fileset_open_folder(fd, 0, &r->set, &fault);
	return st == TEL_OK ? st : tel__reader_fail(r, st, "%s", fault.text);
}

/* The set of the rest of the archive that a file is in. */
static tel_status
open_members(struct tel_reader *r)
{
	const char *name = r->log.name + strlen(r->name) + 1;
	struct tel_fault fault;
	tel_status st;

	if (r->set == NULL && (r->set = tel__fileset_new()) == NULL)
		return TEL_ENOMEM;
	for (;;) {
		st = tel__fileset_add(r->set, r->in, name, &fault);
		if (st == TEL_EDAMAGED)
			st = tel__reader_damage(r, 0, 0, "%s: %s", name,
			    fault.text);
		else if (st != TEL_OK)
			(void)tel__reader_fail(r, st, "%s", fault.text);
		if (st != TEL_OK)
			return st;
		st = tel__input_next_member(r->in, &name);
		if (st == TEL_END)
			break;
		if (st == TEL_EDAMAGED)
			st = tel__reader_damage(r, 0, 0, "%s",
			    tel__input_error(r->in));
		else if (st != TEL_OK)
			(void)tel__reader_fail(r, st, "%s",
			    tel__input_error(r->in));
		if (st != TEL_OK)
			return st;
	}
	/* the log is all of the archive, not the member that it was found by */
	r->log.name = r->name;
	tel__fileset_sort(r->set);
	/* a copy of the log shares the set, and does not find this again */
	memcpy(r->count_before, r->count, sizeof(r->count));
	r->told_before = r->told;
	return TEL_OK;
}

/* Has r->set have the files of the trace. */
static tel_status
ctf_open_set(struct tel_reader *r)
{
	if (tel__reader_is_archive(r))
		return open_members(r);
	return r->set != NULL ? TEL_OK : ctf_open_beside(r);
}

static int comes_before(const void *first, const void *second);

/* Has every stream read the header of its first event. */
static tel_status
start_streams(struct tel_reader *r, struct ctf *s)
{
	s->heap = calloc(s->nstreams + 1, sizeof(void *));
	if (s->heap == NULL)
		return TEL_ENOMEM;
	s->window = WINDOWS_SIZE / (s->nstreams + 1);
	if (s->window < WINDOW_MIN)
		s->window = WINDOW_MIN;
	if (s->window > WINDOW_MAX)
		s->window = WINDOW_MAX;
	for (size_t i = 0; i < s->nstreams; i++) {
		tel_status st = tel__ctf_stream_next(r, s, &s->streams[i]);

		if (st == TEL_OK)
			s->heap[s->nheap++] = &s->streams[i];
		else if (st == TEL_END)
			s->lost += s->streams[i].lost;
		else
			return st;
	}
	tel__heap_fill(s->heap, s->nheap, comes_before);
	return TEL_OK;
}

tel_status
tel__ctf_open(struct tel_reader *r)
{
	struct ctf *s = r->state;

	tel__index_init(&s->index);
	s->origins = r->origins;
	r->log.files = s;
	tel_status st = ctf_open_set(r);
	s->set = r->set;
	if (st == TEL_OK)
		st = tel__ctf_load(r, s);
	if (s->schema != NULL) {
		tel_status adopted = tel__reader_adopt(r, s->schema);

		if (adopted != TEL_OK)
			return adopted;
	}
	if (st == TEL_OK)
		st = tel__ctf_find_streams(r, s);
	if (st == TEL_ENOMEM)
		return st;
	/* of an archive there is nothing left that could be another log */
	if (st == TEL_EFORMAT && tel__reader_is_archive(r))
		st = TEL_EDAMAGED;
	if (st != TEL_OK)
		return st;
	tel__clock_set_rate(r->log.clock, 1e9);
	tel__clock_set_epoch(r->log.clock, 0);
	r->p = r->end = NULL;
	r->eof = 1;
	return TEL_OK;
}

void
tel__ctf_close(struct tel_reader *r)
{
	tel__ctf_free(r->state);
	r->log.files = NULL;
}

/* ---------------------------------------------------------------------- heap */

static int
comes_before(const void *first, const void *second)
{
	const struct ctf_stream *a = first, *b = second;

	if (a->ns != b->ns)
		return a->ns < b->ns;
	/* by trace, class and number of the stream: their order in memory */
	return a < b;
}

/* -------------------------------------------------------------------- events */

/* Moves the first stream to its next event, and puts it where it belongs. */
static tel_status
ctf_advance(struct tel_reader *r, struct ctf *s)
{
	struct ctf_stream *stream = s->heap[0];
	tel_status st = tel__ctf_stream_next(r, s, stream);

	if (st == TEL_END) {
		s->lost += stream->lost;
		stream->lost = 0;
		s->heap[0] = s->heap[--s->nheap];
		st = TEL_OK;
	}
	if (st == TEL_OK && s->unsorted && !s->any_order)
		tel__heap_fill(s->heap, s->nheap, comes_before);
	else if (st == TEL_OK && s->nheap > 0 && !s->any_order)
		tel__heap_sink(s->heap, s->nheap, 0, comes_before);
	s->unsorted = s->any_order;
	return st;
}

/* Nonzero when all events are only counted: then one stream may be read first. */
static int
ctf_any_order(const struct tel_reader *r)
{
	const struct tel_count_pushdown *counts = &r->count_pushdown;
	const struct tel_schema *schema = r->log.schema;

	if (counts->wants == NULL || r->range.on)
		return 0;
	for (unsigned i = 0; i < schema->ntypes; i++)
		if (counts->wants(counts->arg, &r->log, &schema->types[i]))
			return 0;
	return 1;
}

/*
 * The record of the next event, which is of the first stream, behind those that
 * are there.  TEL_OK, TEL_END, or a failure.
 */
static tel_status
ctf_take_record(struct tel_reader *r, struct ctf *s)
{
	tel_status st = TEL_OK;

	while (st == TEL_OK) {
		if (s->taken)
			st = ctf_advance(r, s);
		s->taken = 0;
		if (st != TEL_OK || s->nheap == 0)
			break;
		st = tel__ctf_stream_take(r, s, s->heap[0]);
		s->taken = 1;
		if (st == TEL_OK)
			return TEL_OK;
		if (st == TEL_AGAIN)
			st = TEL_OK;
	}
	if (st == TEL_ENOMEM)
		return st;
	return st == TEL_OK ? TEL_END : st;
}

static void
ctf_count_lost(struct tel_reader *r, uint64_t *lost)
{
	r->log.lost += *lost;
	r->count[TEL_COUNT_LOST] += *lost;
	*lost = 0;
}

tel_status
tel__ctf_next(struct tel_reader *r)
{
	struct ctf *s = r->state;
	struct tel_event *ev = &r->event;
	tel_status st = s->failed;

	ev->index += (ev->data != NULL) + s->passed;
	s->passed = 0;
	if (!s->started) {
		s->started = 1;
		st = start_streams(r, s);
	}
	s->any_order = ctf_any_order(r);
	s->records.used = 0;
	if (st == TEL_OK)
		st = ctf_take_record(r, s);
	/* what streams that have ended lost behind their last event */
	ctf_count_lost(r, &s->lost);
	if (st != TEL_OK)
		return st;
	struct ctf_stream *stream = s->heap[0];
	ctf_count_lost(r, &stream->lost);
	ev->type = stream->event->type;
	ev->clock = stream->ns;
	ev->offset = r->offset;
	ev->raw = s->origins ? s->records.bytes : NULL;
	ev->raw_size = s->origins ? sizeof(struct ctf_origin) : 0;
	ev->data = s->records.bytes + ev->raw_size;
	ev->size = (uint32_t)s->records.used - ev->raw_size;
	r->consumed = ev->size;
	r->offset += s->records.used;
	return TEL_OK;
}

/* Counts the next event where nothing else is asked for.  Returns 1, or 0. */
static int
ctf_count_event(struct tel_reader *r, struct ctf *s, struct ctf_stream *stream)
{
	const struct tel_count_pushdown *counts = &r->count_pushdown;
	const uint32_t size =
	    s->any_order && !s->origins ? tel__ctf_stream_pass(stream) : 0;

	if (size == 0)
		return 0;
	counts->count(counts->arg, &r->log, stream->event->type, 1, size);
	counts->span(counts->arg, &r->log, stream->ns, stream->ns);
	r->count[TEL_COUNT_EVENTS]++;
	r->count[TEL_COUNT_BYTES] += size;
	s->passed++;
	return 1;
}

void
tel__ctf_decode_batch(struct tel_reader *r)
{
	struct ctf *s = r->state;
	struct tel_batch *f = r->batch;
	const uint32_t skip = r->event.raw_size;
	uint32_t n = f->count, from, i;

	f->raw_sizes[0] = skip;
	while (n < TEL_RUN_MAX && s->records.used < RUN_BYTES &&
	    s->passed < PASSED_MAX) {
		if (s->taken) {
			s->taken = 0;
			s->failed = ctf_advance(r, s);
			if (s->failed != TEL_OK)
				break;
		}
		/* losses are counted before the first event of a run */
		if (s->nheap == 0 ||
		    ((struct ctf_stream *)s->heap[0])->lost > 0 || s->lost > 0)
			break;
		from = (uint32_t)s->records.used;
		const struct ctf_stream *stream = s->heap[0];
		s->taken = 1;
		if (ctf_count_event(r, s, s->heap[0]))
			continue;
		tel_status st = tel__ctf_stream_take(r, s, s->heap[0]);
		if (st == TEL_AGAIN)
			continue;
		if (st != TEL_OK) {
			s->failed = st;
			break;
		}
		f->at[n] = from;
		f->raw_sizes[n] = skip;
		f->sizes[n] = (uint32_t)s->records.used - from - skip;
		f->types[n] = stream->event->type->index;
		f->clocks[n] = stream->ns;
		n++;
	}
	f->count = n;
	r->offset = f->offset + s->records.used;
	f->raw = s->origins ? s->records.bytes : NULL;
	r->event.raw = f->raw;
	r->event.data = s->records.bytes + skip;
	for (i = 0; i < n; i++)
		f->data[i] = s->records.bytes + f->at[i] + skip;
}
