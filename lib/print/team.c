/* SPDX-License-Identifier: BSD-2-Clause */
/* Batches of events, and the threads that render them. */
#include "print/team.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/array.h"

/* Bytes of events, and events, in a batch. */
#define BATCH_BYTES ((size_t)1 << 16)
#define BATCH_EVENTS 2048u

/* Events that are rendered by one thread. */
struct batch {
	struct tel_log log; /* of all of them; with the labels of the thread */
	struct tel_event *events;
	unsigned count;
	unsigned char *bytes; /* what they refer to, one after the other */
	size_t used, room;
	unsigned char *text; /* what they come to */
	size_t length, text_room;
	tel_status status;
	int done;
};

struct worker {
	struct render_team *team;
	struct tel_printer printer; /* with programs of its own */
	struct tel_labels *labels;  /* a view of those of the log */
	unsigned epoch;             /* of what the printer was made from */
	pthread_t thread;
};

struct render_team {
	struct tel_printer *owner;
	struct tel_labels *guarded; /* calls before it changes; or NULL */
	struct tel_printer model;   /* the owner, as it was for this log */
	const struct tel_log *log;
	unsigned epoch; /* counts the models */
	tel_status status;

	pthread_mutex_t lock;
	pthread_cond_t change;
	int stop;
	/* places in the ring, which count on: that is filled now, */
	uint64_t filled;
	uint64_t next;    /* is rendered next, */
	uint64_t written; /* and is written next */
	struct batch *ring;
	unsigned nring;
	struct worker *workers;
	unsigned nworkers, running;
};

static struct batch *
place(const struct render_team *t, uint64_t number)
{
	return &t->ring[number % t->nring];
}

/* ---------------------------------------------------------------- rendering */

/* A tel_write_fn: appends to the text of the batch. */
static ptrdiff_t
append(void *arg, const void *data, size_t size)
{
	struct batch *b = arg;

	if (!TEL__RESERVE(b->text, b->text_room, b->length + size))
		return -1;
	memcpy(b->text + b->length, data, size);
	b->length += size;
	return (ptrdiff_t)size;
}

/* Makes the printer of a thread what the owner is for this log. */
static tel_status
adopt_model(struct worker *w)
{
	const struct render_team *t = w->team;
	struct tel_output *out = w->printer.out;

	if (w->epoch == t->epoch)
		return TEL_OK;
	tel__render_free_caches(&w->printer);
	w->printer = t->model;
	w->printer.out = out;
	w->printer.cache = w->printer.caches = NULL;
	w->epoch = t->epoch;
	return tel__render_set_schema(&w->printer, t->model.schema);
}

static tel_status
render(struct worker *w, struct batch *b)
{
	const unsigned char *p = b->bytes;
	tel_status st = adopt_model(w);
	struct tel_event *ev;
	unsigned i;

	tel__labels_view(w->labels, b->log.labels);
	b->log.labels = w->labels;
	w->printer.out->arg = b;
	b->length = 0;
	for (i = 0; i < b->count && st == TEL_OK; i++) {
		ev = &b->events[i];
		tel_event_place(ev, p);
		ev->log = &b->log;
		st = tel__render_event(&w->printer, ev);
		p += tel_event_extent(ev);
	}
	if (st == TEL_OK)
		st = tel__output_spill(w->printer.out);
	/* it cannot fail but for memory */
	return st == TEL_OK ? st : TEL_ENOMEM;
}

static void *
work(void *arg)
{
	struct worker *w = arg;
	struct render_team *t = w->team;
	struct batch *b;
	tel_status st;

	pthread_mutex_lock(&t->lock);
	for (;;) {
		while (!t->stop && t->next == t->filled)
			pthread_cond_wait(&t->change, &t->lock);
		if (t->stop)
			break;
		b = place(t, t->next++);
		pthread_mutex_unlock(&t->lock);
		st = render(w, b);
		pthread_mutex_lock(&t->lock);
		b->status = st;
		b->done = 1;
		pthread_cond_broadcast(&t->change);
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

/* Starts the threads, as many as can be; they take no signals. */
static void
start(struct render_team *t)
{
	sigset_t all, old;
	unsigned i;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	for (i = 0; i < t->nworkers; i++)
		if (pthread_create(&t->workers[i].thread, NULL, work,
		        &t->workers[i]) != 0)
			break;
	t->running = i;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* ---------------------------------------------------- on the caller's thread */

/* Writes the oldest batch, once it is rendered. */
static void
write_oldest(struct render_team *t)
{
	struct batch *b = place(t, t->written);

	pthread_mutex_lock(&t->lock);
	while (!b->done)
		pthread_cond_wait(&t->change, &t->lock);
	pthread_mutex_unlock(&t->lock);
	if (t->status == TEL_OK)
		t->status = b->status;
	if (t->status == TEL_OK)
		t->status = tel_output_write(t->owner->out, b->text, b->length);
	b->count = 0;
	b->used = 0;
	b->done = 0;
	t->written++;
}

/*
 * Hands the batch that is filled to the threads, or renders it here when there
 * are none: small outputs do not start any.
 */
static void
submit(struct render_team *t)
{
	struct batch *b = place(t, t->filled);

	if (b->count == 0)
		return;
	pthread_mutex_lock(&t->lock);
	t->filled++;
	if (t->running > 0)
		pthread_cond_broadcast(&t->change);
	else
		t->next++;
	pthread_mutex_unlock(&t->lock);
	if (t->running == 0) {
		b->status = render(&t->workers[0], b);
		b->done = 1;
	}
	while (t->filled - t->written >= t->nring)
		write_oldest(t);
}

/* Waits until all events are rendered. */
static void
settle(struct render_team *t)
{
	uint64_t i;

	submit(t);
	pthread_mutex_lock(&t->lock);
	for (i = t->written; i < t->filled; i++)
		while (!place(t, i)->done)
			pthread_cond_wait(&t->change, &t->lock);
	pthread_mutex_unlock(&t->lock);
}

/* Labels are about to change, or to go. */
static void
on_change(void *arg, int gone)
{
	struct render_team *t = arg;

	settle(t);
	if (gone)
		t->guarded = NULL;
}

tel_status
tel__team_flush(struct render_team *t)
{
	submit(t);
	while (t->written < t->filled)
		write_oldest(t);
	return t->status;
}

tel_status
tel__team_set_log(struct render_team *t, const struct tel_log *log)
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
	return TEL_OK;
}

tel_status
tel__team_event(struct render_team *t, const struct tel_event *ev)
{
	const size_t size = tel_event_extent(ev);
	struct batch *b = place(t, t->filled);

	if (b->count == BATCH_EVENTS ||
	    (b->count > 0 && b->used + size > BATCH_BYTES)) {
		if (t->running == 0)
			start(t);
		submit(t);
		if (t->status != TEL_OK)
			return t->status;
		b = place(t, t->filled);
	}
	if (b->events == NULL) {
		b->events = malloc(BATCH_EVENTS * sizeof(*b->events));
		if (b->events == NULL)
			return t->status = TEL_ENOMEM;
	}
	if (!TEL__RESERVE(b->bytes, b->room, b->used + size))
		return t->status = TEL_ENOMEM;
	if (b->count == 0)
		b->log = *t->log;
	tel_event_copy(b->bytes + b->used, ev);
	b->used += size;
	b->events[b->count++] = *ev;
	return TEL_OK;
}

struct render_team *
tel__team_new(struct tel_printer *pr, unsigned threads)
{
	struct render_team *t = calloc(1, sizeof(*t));
	unsigned i;
	int made;

	if (t == NULL)
		return NULL;
	if (pthread_mutex_init(&t->lock, NULL) != 0) {
		free(t);
		return NULL;
	}
	if (pthread_cond_init(&t->change, NULL) != 0) {
		pthread_mutex_destroy(&t->lock);
		free(t);
		return NULL;
	}
	t->owner = pr;
	t->nring = 2 * threads + 2;
	t->nworkers = threads;
	t->ring = calloc(t->nring, sizeof(*t->ring));
	t->workers = calloc(threads, sizeof(*t->workers));
	made = t->ring != NULL && t->workers != NULL;
	for (i = 0; i < threads && made; i++) {
		t->workers[i].team = t;
		t->workers[i].labels = tel__labels_view_new();
		t->workers[i].printer.out =
		    tel_output_new_callback(append, NULL);
		made = t->workers[i].labels != NULL &&
		    t->workers[i].printer.out != NULL;
	}
	if (made)
		return t;
	tel__team_free(t);
	return NULL;
}

void
tel__team_free(struct render_team *t)
{
	unsigned i;

	if (t == NULL)
		return;
	if (t->guarded != NULL)
		tel__labels_guard(t->guarded, NULL, NULL);
	pthread_mutex_lock(&t->lock);
	t->stop = 1;
	pthread_cond_broadcast(&t->change);
	pthread_mutex_unlock(&t->lock);
	for (i = 0; i < t->running; i++)
		(void)pthread_join(t->workers[i].thread, NULL);
	for (i = 0; t->workers != NULL && i < t->nworkers; i++) {
		tel__render_free_caches(&t->workers[i].printer);
		tel_output_free(t->workers[i].printer.out);
		tel__labels_view_free(t->workers[i].labels);
	}
	for (i = 0; t->ring != NULL && i < t->nring; i++) {
		free(t->ring[i].events);
		free(t->ring[i].bytes);
		free(t->ring[i].text);
	}
	pthread_cond_destroy(&t->change);
	pthread_mutex_destroy(&t->lock);
	free(t->ring);
	free(t->workers);
	free(t);
}
