/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread that parses lines ahead of the reader.  It is given the later lines
 * of the window, and has batches of their events ready when the reader gets
 * there; meanwhile the reader parses those before, and whoever asked for the
 * events works on them.  What the thread cannot know, the number of a line and
 * the clock of the event before, the reader adds.  Lines that are not an event
 * and nothing else the thread leaves out, and the reader takes them itself.
 *
 * The window does not move until the thread is done with it.
 */
#define _GNU_SOURCE /* for memrchr() */
#include <stdlib.h>
#include <string.h>

#include "base/queue.h"
#include "format/alloc/alloc.h"

/* No thread is used for a trace, or a rest of the window, that is shorter. */
#define TRACE_MIN ((uint64_t)1 << 17)
#define WINDOW_MIN ((size_t)1 << 16)
/* Batches that may be ready; where all are, it sleeps until half are taken. */
#define BATCHES 16u
/* The part of the window that the reader parses itself, in sixteenths. */
#define PART_MIN 1u
#define PART_MAX 8u

/* Events of lines without a gap; the reader parses the first one itself. */
struct batch {
	const unsigned char *start; /* of the first line */
	uint32_t count;
	uint32_t clockless; /* the first of them that say no time */
	const unsigned char *data[TEL_RUN_MAX];
	uint64_t clocks[TEL_RUN_MAX];
	uint32_t at[TEL_RUN_MAX];
	uint32_t raw_sizes[TEL_RUN_MAX];
	uint32_t types[TEL_RUN_MAX];
	uint32_t sizes[TEL_RUN_MAX];
	unsigned char bytes[TEL_RUN_MAX * AL_EVENT_MAX];
};

struct al_ahead {
	struct tel__queue *queue; /* a job fills a batch */
	/* those of the job that is done */
	struct al state;
	const unsigned char *next, *end;
	/* the reader's alone */
	const unsigned char *from; /* where the part of the thread starts */
	int active;                /* there is one */
	uint64_t first;            /* the next batch */
	int taken;                 /* its events are in use */
	int late;                  /* the reader had to wait for a batch */
	unsigned part;
	struct batch batches[BATCHES];
};

/* ---------------------------------------------------------- on the thread */

/* Fills a batch with lines from p on.  Returns where the next ones start. */
static const unsigned char *
al_ahead_fill(struct al_ahead *a, struct batch *b, const unsigned char *p)
{
	const struct al_columns columns = { b->data, b->clocks, b->at,
		b->raw_sizes, b->types, b->sizes, b->bytes };

	b->start = p;
	b->count = tel__al_fill(&a->state, p, p, a->end, &columns, 0);
	b->clockless = a->state.clockless;
	if (b->count == 0) {
		const unsigned char *lf = memchr(p, '\n', (size_t)(a->end - p));

		return lf != NULL ? lf + 1 : a->end;
	}
	uint32_t last = b->count - 1;
	return p + b->at[last] + b->raw_sizes[last];
}

/* Parses lines that the thread was given, a tel__queue_fn. */
static int
parse_lines(void *arg, unsigned thread, uint64_t number)
{
	struct al_ahead *a = arg;
	struct batch *b = &a->batches[number % BATCHES];

	(void)thread;
	do
		a->next = al_ahead_fill(a, b, a->next);
	while (b->count == 0 && a->next < a->end);
	return a->next < a->end;
}

/* ---------------------------------------------------------- on the reader's */

/* Starts the thread.  NULL: it cannot be had. */
static struct al_ahead *
al_ahead_start_thread(void)
{
	struct al_ahead *a = malloc(sizeof(*a));

	if (a == NULL)
		return NULL;
	/* not the batches, which are much */
	memset(a, 0, offsetof(struct al_ahead, batches));
	a->part = PART_MIN;
	a->queue = tel__queue_new(BATCHES, BATCHES / 2, parse_lines, a);
	if (a->queue != NULL && tel__queue_start(a->queue, 1) > 0)
		return a;
	tel__queue_free(a->queue);
	free(a);
	return NULL;
}

/* Gives the later lines of the window to the thread, if that pays. */
static void
al_ahead_begin(struct tel_reader *r, struct al *s)
{
	size_t left = (size_t)(r->end - r->p);

	if (s->d->stateful || r->threads == 1 || r->feed != NULL ||
	    r->nonblocking || r->offset < TRACE_MIN || left < WINDOW_MIN)
		return;
	if (s->ahead == NULL)
		s->ahead = al_ahead_start_thread();
	struct al_ahead *a = s->ahead;
	if (a == NULL) {
		/* without a thread it goes as well */
		r->threads = 1;
		return;
	}
	const unsigned char *end = memrchr(r->p, '\n', left);
	const unsigned char *from = memchr(r->p + left / 16 * a->part, '\n',
	    left - left / 16 * a->part);
	if (end == NULL || from == NULL || from >= end)
		return;
	if (a->late && a->part < PART_MAX)
		a->part++;
	else if (!a->late && a->part > PART_MIN)
		a->part--;
	a->late = 0;
	a->active = 1;
	a->state = *s;
	a->state.line.limit = r->end;
	a->from = a->next = from + 1;
	a->end = end + 1;
	(void)tel__queue_submit(a->queue, UINT64_MAX, 1);
}

/* The first batch is not needed any more. */
static void
al_ahead_drop(struct al_ahead *a)
{
	tel__queue_take(a->queue, ++a->first);
	a->taken = 0;
}

/* The first batch that starts at p or later, or NULL: none comes. */
static struct batch *
wait_batch(struct al_ahead *a, const unsigned char *p)
{
	enum tel__queue_result result;

	if (a->taken)
		al_ahead_drop(a);
	while ((result = tel__queue_wait(a->queue, a->first, -1)) !=
	    TEL__QUEUE_NONE) {
		a->late |= result == TEL__QUEUE_WAITED;
		struct batch *b = &a->batches[a->first % BATCHES];
		if (b->count > 0 && b->start >= p) {
			a->taken = b->start == p;
			return b;
		}
		al_ahead_drop(a);
	}
	return NULL;
}

/* Adds the events of a batch, except the first, to those that were found. */
static void
al_ahead_take(struct tel_batch *f, struct al *s, struct batch *b)
{
	const uint32_t n = b->count, clockless = s->timed ? b->clockless : n;
	uint64_t clock = s->clock;

	for (uint32_t i = 1; i < clockless; i++) {
		clock += !s->timed;
		b->clocks[i] = clock;
		tel_store_le64(b->bytes + (b->data[i] - b->bytes) + 8, clock);
	}
	memcpy(f->data, b->data, n * sizeof(f->data[0]));
	memcpy(f->clocks, b->clocks, n * sizeof(f->clocks[0]));
	memcpy(f->at, b->at, n * sizeof(f->at[0]));
	memcpy(f->raw_sizes, b->raw_sizes, n * sizeof(f->raw_sizes[0]));
	memcpy(f->types, b->types, n * sizeof(f->types[0]));
	memcpy(f->sizes, b->sizes, n * sizeof(f->sizes[0]));
	f->count = n;
	s->clock = n > 1 ? b->clocks[n - 1] : clock;
	s->past.number += n - 1;
}

const unsigned char *
tel__al_ahead_take(struct tel_reader *r, struct al *s,
    const unsigned char *first)
{
	struct tel_batch *f = r->batch;
	const unsigned char *data = f->data[0];
	const uint64_t clock = f->clocks[0];

	if (s->ahead == NULL || !s->ahead->active)
		al_ahead_begin(r, s);
	if (s->ahead == NULL || !s->ahead->active)
		return r->end;
	if (first < s->ahead->from)
		return s->ahead->from;
	struct batch *b = wait_batch(s->ahead, first);
	if (b == NULL)
		return r->end;
	if (b->start > first)
		return b->start;
	al_ahead_take(f, s, b);
	f->data[0] = data;
	f->clocks[0] = clock;
	return NULL;
}

void
tel__al_ahead_leave(struct al_ahead *a, const unsigned char *p, size_t from)
{
	if (a == NULL || !a->active ||
	    (p < a->end && from < (size_t)(a->end - p)))
		return;
	a->first = tel__queue_pause(a->queue);
	tel__queue_take(a->queue, a->first);
	a->active = a->taken = 0;
}

void
tel__al_ahead_free(struct al_ahead *a)
{
	if (a == NULL)
		return;
	tel__al_ahead_leave(a, a->end, 0);
	tel__queue_free(a->queue);
	free(a);
}
