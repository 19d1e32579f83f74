/* SPDX-License-Identifier: BSD-2-Clause */
/* Batches of events, and the threads that render them. */
#include "print/render_pool.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/queue.h"

/* Bytes of events, and events, in a batch. */
#define BATCH_BYTES ((size_t)1 << 16)
#define BATCH_EVENTS 2048u
/* Batches before the threads start: a short log is rendered without them. */
#define BATCHES_ALONE 32u

/* What renderers need of an event: no place in the log, no raw bytes. */
struct item {
	uint64_t clock;
	const struct tel_type *type;
	uint32_t at; /* of its bytes, in those of the batch */
	uint32_t size;
	uint32_t inline_size; /* of the inline labels behind them */
	uint32_t inline_use;
};

/* Events that are rendered by one thread. */
struct batch {
	struct tel_log log; /* of all of them; with the labels of the thread */
	struct item *items;
	unsigned count;
	unsigned char *bytes; /* what they refer to, one after the other */
	size_t used, room;
	tel_output *text; /* what they come to */
	tel_status status;
};

/* What a thread renders with. */
struct worker {
	struct tel_printer printer; /* with programs of its own */
	struct tel_labels *labels;  /* a view of those of the log */
	unsigned epoch;             /* of what the printer was made from */
	unsigned tables;            /* of what the view was made of */
};

struct render_pool {
	struct tel_printer *owner;
	struct tel_labels *guarded; /* calls before it changes; or NULL */
	struct tel_printer model;   /* the owner, as it was for this log */
	const struct tel_log *log;
	unsigned epoch;  /* counts the models */
	unsigned tables; /* counts the labels of logs */
	tel_status status;

	struct tel__queue *queue; /* a job renders a batch */
	/* numbers of batches: of that which is filled now, */
	uint64_t filled;
	uint64_t written; /* and of that which is written next */
	struct batch *ring;
	unsigned nring;
	struct worker *workers; /* the first is the caller's thread */
	unsigned nworkers, running;
};

static struct batch *
render_pool_place(const struct render_pool *t, uint64_t number)
{
	return &t->ring[number % t->nring];
}

/* ---------------------------------------------------------------- rendering */

/* Makes the printer of a thread what the owner is for this log. */
static tel_status
adopt_model(const struct render_pool *t, struct worker *w)
{
	if (w->epoch == t->epoch)
		return TEL_OK;
	tel__render_free_caches(&w->printer);
	tel__buffer_clear(&w->printer.list);
	w->printer = t->model;
	memset(&w->printer.list, 0, sizeof(w->printer.list));
	w->printer.cache = w->printer.caches = NULL;
	tel__table_init(&w->printer.by_schema);
	tel_status st = tel__render_set_schema(&w->printer, t->model.schema);
	if (st == TEL_OK)
		w->epoch = t->epoch;
	return st;
}

/* A tel__queue_fn. */
static int
render(void *arg, unsigned thread, uint64_t number)
{
	struct render_pool *t = arg;
	struct worker *w = &t->workers[thread];
	struct batch *b = render_pool_place(t, number);
	const struct item *i, *const end = b->items + b->count;
	tel_status st = adopt_model(t, w);
	struct tel_event ev = { 0 };

	tel__labels_view(w->labels, b->log.labels, w->tables != t->tables);
	w->tables = t->tables;
	b->log.labels = w->labels;
	w->printer.out = b->text;
	ev.log = &b->log;
	for (i = b->items; i < end && st == TEL_OK; i++) {
		ev.type = i->type;
		ev.clock = i->clock;
		ev.data = b->bytes + i->at;
		ev.size = i->size;
		ev.inline_labels = ev.data + i->size;
		ev.inline_size = i->inline_size;
		ev.inline_use = i->inline_use;
		st = render_event(&w->printer, &ev);
	}
	/* it cannot fail except for memory */
	b->status = st == TEL_OK ? st : TEL_ENOMEM;
	return 1;
}

/* ---------------------------------------------------- on the caller's thread */

/*
 * Waits until a batch is rendered.  Meanwhile, this thread renders what no
 * other one has started with.
 */
static void
render_pool_await(struct render_pool *t, uint64_t number)
{
	while (tel__queue_wait(t->queue, number, 0) == TEL__QUEUE_NONE &&
	    tel__queue_run(t->queue))
		continue;
	(void)tel__queue_wait(t->queue, number, -1);
}

/* Writes the oldest batch, once it is rendered. */
static void
write_oldest(struct render_pool *t)
{
	struct batch *b = render_pool_place(t, t->written);

	render_pool_await(t, t->written);
	if (t->status == TEL_OK)
		t->status = b->status;
	if (t->status == TEL_OK)
		t->status = tel_output_write(t->owner->out, b->text->buffer,
		    b->text->used);
	b->text->used = 0;
	b->count = 0;
	b->used = 0;
	tel__queue_take(t->queue, ++t->written);
}

/*
 * Hands the batch that is filled to the threads; wakes one, or none.  Where
 * enough wait for them, this thread renders one: while it does, each of the
 * others ends one and starts with another, and has one more until this thread
 * has filled the next.
 */
static void
submit(struct render_pool *t, int wake)
{
	if (render_pool_place(t, t->filled)->count == 0)
		return;
	if (tel__queue_submit(t->queue, ++t->filled, wake) >
	    2 * (uint64_t)t->running)
		(void)tel__queue_run(t->queue);
	while (t->filled - t->written >= t->nring)
		write_oldest(t);
}

/* Waits until all events are rendered. */
static void
render_pool_settle(struct render_pool *t)
{
	/* the last batch has few events: no thread has to wake up for it */
	submit(t, 0);
	for (uint64_t i = t->written; i < t->filled; i++)
		render_pool_await(t, i);
}

/* Labels are about to change, or to go. */
static void
on_change(void *arg, int gone)
{
	struct render_pool *t = arg;

	render_pool_settle(t);
	if (gone) {
		t->guarded = NULL;
		t->tables++;
	}
}

tel_status
tel__render_pool_flush(struct render_pool *t)
{
	if (t == NULL)
		return TEL_OK;
	submit(t, 0);
	while (t->written < t->filled)
		write_oldest(t);
	return t->status;
}

tel_status
tel__render_pool_set_log(struct render_pool *t, const struct tel_log *log)
{
	if (t->guarded != NULL)
		tel__labels_guard(t->guarded, NULL, NULL);
	t->guarded = NULL;
	if (!tel__labels_guard(log->labels, on_change, t))
		return TEL_ELIMIT;
	t->guarded = log->labels;
	t->log = log;
	t->model = *t->owner;
	t->epoch++;
	t->tables++;
	return TEL_OK;
}

/* The batch that is filled, with room for an event of size bytes; or NULL. */
static struct batch *
room_for(struct render_pool *t, size_t size)
{
	struct batch *b = render_pool_place(t, t->filled);

	if (b->count == BATCH_EVENTS ||
	    (b->count > 0 && b->used + size > BATCH_BYTES)) {
		if (t->running == 0 && t->filled >= BATCHES_ALONE)
			t->running =
			    tel__queue_start(t->queue, t->nworkers - 1);
		submit(t, 1);
		if (t->status != TEL_OK)
			return NULL;
		b = render_pool_place(t, t->filled);
	}
	if (b->items == NULL)
		b->items = malloc(BATCH_EVENTS * sizeof(*b->items));
	if (b->items == NULL ||
	    !TEL__RESERVE(b->bytes, b->room,
	        size < BATCH_BYTES ? BATCH_BYTES : size)) {
		t->status = TEL_ENOMEM;
		return NULL;
	}
	if (b->count == 0)
		b->log = *t->log;
	return b;
}

tel_status
tel__render_pool_event(struct render_pool *t, const struct tel_event *ev)
{
	const size_t size = (size_t)ev->size + ev->inline_size;
	struct batch *b = room_for(t, size);

	if (b == NULL)
		return t->status;
	struct item *item = &b->items[b->count++];
	item->clock = ev->clock;
	item->type = ev->type;
	item->at = (uint32_t)b->used;
	item->size = ev->size;
	item->inline_size = ev->inline_size;
	item->inline_use = ev->inline_use;
	memcpy(b->bytes + b->used, ev->data, ev->size);
	if (ev->inline_size > 0)
		memcpy(b->bytes + b->used + ev->size, ev->inline_labels,
		    ev->inline_size);
	b->used += size;
	return TEL_OK;
}

/*
 * Adds events of a run, from event i on, as long as their bytes follow one
 * another and fit.  Returns how many.
 */
static size_t
render_pool_add_row(struct batch *b, const struct tel_run *run, size_t i)
{
	const unsigned char *const data = run->data[i], *end = data;
	const size_t first = i, room = BATCH_BYTES - b->used;
	const size_t most = run->count - i < BATCH_EVENTS - b->count ?
	    run->count :
	    i + (BATCH_EVENTS - b->count);
	struct item *item = &b->items[b->count];

	for (; i < most && run->data[i] == end; i++, item++) {
		if ((size_t)(end - data) + run->sizes[i] > room)
			break;
		item->clock = run->clocks[i];
		item->type = run_type(run, i);
		item->at = (uint32_t)(b->used + (size_t)(end - data));
		item->size = run->sizes[i];
		item->inline_size = 0;
		item->inline_use = run->event->inline_use;
		end += run->sizes[i];
	}
	memcpy(b->bytes + b->used, data, (size_t)(end - data));
	b->used += (size_t)(end - data);
	b->count += (unsigned)(i - first);
	return i - first;
}

tel_status
tel__render_pool_run(struct render_pool *t, struct tel_run *run)
{
	size_t i = 0, n;

	while (i < run->count) {
		struct batch *b = room_for(t, run->sizes[i]);

		if (b == NULL)
			return t->status;
		n = render_pool_add_row(b, run, i);
		/* an event that is larger than a batch */
		if (n == 0 &&
		    tel__render_pool_event(t, run_view(run, i)) != TEL_OK)
			return t->status;
		i += n > 0 ? n : 1;
	}
	return TEL_OK;
}

struct render_pool *
tel__render_pool_new(struct tel_printer *pr, unsigned threads)
{
	struct render_pool *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return NULL;
	t->owner = pr;
	t->nring = 2 * threads + 2;
	t->nworkers = threads;
	t->ring = calloc(t->nring, sizeof(*t->ring));
	t->workers = calloc(threads, sizeof(*t->workers));
	t->queue = tel__queue_new(t->nring, 1, render, t);
	int made = t->ring != NULL && t->workers != NULL && t->queue != NULL;
	for (unsigned i = 0; i < threads && made; i++) {
		t->workers[i].labels = tel__labels_view_new();
		made = t->workers[i].labels != NULL;
	}
	for (unsigned i = 0; i < t->nring && made; i++) {
		t->ring[i].text = tel__output_new_memory();
		made = t->ring[i].text != NULL;
	}
	if (made)
		return t;
	tel__render_pool_free(t);
	return NULL;
}

void
tel__render_pool_free(struct render_pool *t)
{
	if (t == NULL)
		return;
	if (t->guarded != NULL)
		tel__labels_guard(t->guarded, NULL, NULL);
	tel__queue_free(t->queue);
	for (unsigned i = 0; t->workers != NULL && i < t->nworkers; i++) {
		tel__render_free_caches(&t->workers[i].printer);
		tel__buffer_clear(&t->workers[i].printer.list);
		tel__labels_view_free(t->workers[i].labels);
	}
	for (unsigned i = 0; t->ring != NULL && i < t->nring; i++) {
		free(t->ring[i].items);
		free(t->ring[i].bytes);
		tel_output_free(t->ring[i].text);
	}
	free(t->ring);
	free(t->workers);
	free(t);
}
