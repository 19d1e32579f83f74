/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * External merge sort (Knuth, The Art of Computer Programming, vol.  3, 5.4):
 * the runs share one file, each being a range of it; merging picks the earliest
 * head by a heap of runs.  Only this process reads the file, so events are
 * written as they are in memory.
 */
#include "query/runs.h"
#include "base/array.h"
#include "base/getter.h"
#include "base/heap.h"
#include "io/output.h"
#include "io/spool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Memory that all runs' buffers take together, and one at the least. */
#define BUFFERS ((size_t)4 << 20)
#define BUFFER_MIN ((size_t)4096)

struct run {
	uint64_t begin; /* the part of the file that is not read yet */
	uint64_t end;
	uint64_t last; /* clock of the last event written */
	unsigned char *buffer;
	size_t size;
	size_t used; /* bytes in the buffer */
	size_t at;   /* where the head event starts */
	struct tel_event head;
};

struct tel_runs {
	int fd;
	int error;
	struct run *runs;
	size_t count;
	size_t room;
	void **heap; /* runs with a head, the earliest first */
	size_t heaped;
	struct run *given;      /* its head was handed out */
	struct tel_output *out; /* to the file */
};

struct tel_runs *
tel__runs_new(void)
{
	struct tel_runs *r = calloc(1, sizeof(*r));

	if (r != NULL)
		r->fd = -1;
	return r;
}

void
tel__runs_free(struct tel_runs *r)
{
	if (r == NULL)
		return;
	for (size_t i = 0; i < r->count; i++)
		free(r->runs[i].buffer);
	free(r->runs);
	free(r->heap);
	tel_output_free(r->out);
	if (r->fd >= 0)
		close(r->fd);
	free(r);
}

TEL__GETTER(int, tel__runs_errno, struct tel_runs, error)

static tel_status
runs_fail(struct tel_runs *r, tel_status status)
{
	r->error = errno;
	return status;
}

static tel_status
runs_write_failed(struct tel_runs *r)
{
	r->error = tel_output_errno(r->out);
	return TEL_EIO;
}

static tel_status
runs_open_file(struct tel_runs *r)
{
	r->fd = tel__spool_file();
	if (r->fd < 0)
		return runs_fail(r, TEL_EIO);
	r->out = tel_output_new_fd(r->fd);
	return r->out != NULL ? TEL_OK : runs_fail(r, TEL_ENOMEM);
}

/* The run to which events from clock on are appended. */
static struct run *
run_for(struct tel_runs *r, uint64_t clock)
{
	if (r->count > 0 && r->runs[r->count - 1].last <= clock)
		return &r->runs[r->count - 1];
	if (!TEL__RESERVE_ZEROED(r->runs, r->room, r->count + 1))
		return NULL;
	struct run *run = &r->runs[r->count++];
	run->begin = run->end = tel_output_bytes(r->out);
	return run;
}

tel_status
tel__runs_write(struct tel_runs *r, struct tel_store *s)
{
	const struct tel_event *ev = tel__store_take(s);
	tel_status st;

	if (ev == NULL)
		return TEL_OK;
	if (r->fd < 0 && (st = runs_open_file(r)) != TEL_OK)
		return st;
	struct run *run = run_for(r, ev->clock);
	if (run == NULL)
		return runs_fail(r, TEL_ENOMEM);
	for (; ev != NULL; ev = tel__store_take(s)) {
		run->last = ev->clock;
		/* the first failure of the output stays */
		tel_output_write(r->out, ev, sizeof(*ev));
		tel_output_write(r->out, ev->data, ev->size);
		tel_output_write(r->out, ev->inline_labels, ev->inline_size);
		tel_output_write(r->out, ev->raw, ev->raw_size);
		st = tel_output_write(r->out, ev->lead, ev->lead_size);
		if (st != TEL_OK)
			return runs_write_failed(r);
	}
	run->end = tel_output_bytes(r->out);
	return TEL_OK;
}

/* Reads more of a run, so that its buffer holds at least need bytes. */
static tel_status
runs_refill(struct tel_runs *r, struct run *run, size_t need)
{
	memmove(run->buffer, run->buffer + run->at, run->used - run->at);
	run->used -= run->at;
	run->at = 0;
	if (!TEL__RESERVE(run->buffer, run->size, need))
		return runs_fail(r, TEL_ENOMEM);
	while (run->used < need) {
		size_t want = run->size - run->used;

		if (want > run->end - run->begin)
			want = (size_t)(run->end - run->begin);
		ssize_t n = pread(r->fd, run->buffer + run->used, want,
		    (off_t)run->begin);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return runs_fail(r, TEL_EIO);
		run->begin += (uint64_t)n;
		run->used += (size_t)n;
	}
	return TEL_OK;
}

/* Makes the next event of a run its head.  TEL_END when there is none. */
static tel_status
runs_advance(struct tel_runs *r, struct run *run)
{
	size_t header = sizeof(run->head), whole;
	tel_status st;

	if (run->used == run->at && run->begin == run->end)
		return TEL_END;
	if (run->used - run->at < header &&
	    (st = runs_refill(r, run, header)) != TEL_OK)
		return st;
	memcpy(&run->head, run->buffer + run->at, header);
	whole = header + tel_event_extent(&run->head);
	if (run->used - run->at < whole &&
	    (st = runs_refill(r, run, whole)) != TEL_OK)
		return st;
	tel_event_place(&run->head, run->buffer + run->at + header);
	run->at += whole;
	return TEL_OK;
}

/* Runs were written one after the other, so the earlier run goes first. */
static int
runs_before(const void *first, const void *second)
{
	const struct run *a = first, *b = second;

	if (a->head.clock != b->head.clock)
		return a->head.clock < b->head.clock;
	return a < b;
}

tel_status
tel__runs_rewind(struct tel_runs *r)
{
	if (r->count == 0)
		return TEL_OK;
	if (tel_output_flush(r->out) != TEL_OK)
		return runs_write_failed(r);
	r->heap = malloc(r->count * sizeof(void *));
	if (r->heap == NULL)
		return runs_fail(r, TEL_ENOMEM);
	size_t size = BUFFERS / r->count;
	if (size < BUFFER_MIN)
		size = BUFFER_MIN;
	for (size_t i = 0; i < r->count; i++) {
		r->runs[i].buffer = malloc(size);
		if (r->runs[i].buffer == NULL)
			return runs_fail(r, TEL_ENOMEM);
		r->runs[i].size = size;
		tel_status st = runs_advance(r, &r->runs[i]);
		if (st != TEL_OK)
			return st;
		r->heap[r->heaped++] = &r->runs[i];
	}
	tel__heap_fill(r->heap, r->heaped, runs_before);
	return TEL_OK;
}

tel_status
tel__runs_next(struct tel_runs *r, const struct tel_event **ev)
{
	if (r->given != NULL) {
		tel_status st = runs_advance(r, r->given);

		r->given = NULL;
		if (st == TEL_END)
			r->heap[0] = r->heap[--r->heaped];
		else if (st != TEL_OK)
			return st;
		if (r->heaped > 0)
			tel__heap_sink(r->heap, r->heaped, 0, runs_before);
	}
	if (r->heaped == 0)
		return TEL_END;
	r->given = r->heap[0];
	*ev = &r->given->head;
	return TEL_OK;
}
