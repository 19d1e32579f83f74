/* SPDX-License-Identifier: BSD-2-Clause */
/* The threads of a queue, and who waits for whom. */
#include "base/queue.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "base/array.h"

struct worker {
	struct tel__queue *queue;
	pthread_t thread;
	unsigned number;
};

struct tel__queue {
	tel__queue_fn *fn;
	void *arg;
	size_t room, wake;
	struct worker **workers;
	size_t worker_room;
	unsigned nworkers;

	pthread_mutex_t lock;
	pthread_cond_t work; /* a job can be started, or none ever */
	pthread_cond_t done; /* what the owner waits for was done */
	int stop;
	int starved;         /* a thread waits for room */
	unsigned busy;       /* jobs that are being done */
	uint64_t taken;      /* jobs before this one were */
	uint64_t next;       /* is started next */
	uint64_t end;        /* is not started yet */
	uint64_t awaited;    /* by the owner, plus 1; or 0 */
	uint64_t finished[]; /* the last job of each place that was, plus 1 */
};

struct tel__queue *
tel__queue_new(size_t room, size_t wake, tel__queue_fn *fn, void *arg)
{
	struct tel__queue *q =
	    calloc(1, sizeof(*q) + room * sizeof(q->finished[0]));

	if (q == NULL)
		return NULL;
	q->fn = fn;
	q->arg = arg;
	q->room = room;
	q->wake = wake;
	if (pthread_mutex_init(&q->lock, NULL) != 0)
		goto fail;
	if (pthread_cond_init(&q->work, NULL) != 0)
		goto fail_lock;
	if (pthread_cond_init(&q->done, NULL) == 0)
		return q;
	pthread_cond_destroy(&q->work);
fail_lock:
	pthread_mutex_destroy(&q->lock);
fail:
	free(q);
	return NULL;
}

/* Whether a job can be started; under the lock. */
static int
has_next(const struct tel__queue *q)
{
	return q->next < q->end && q->next - q->taken < q->room;
}

/*
 * Does the next job; under the lock.  Returns whether the owner is to know that
 * it was done.
 */
static int
do_next(struct tel__queue *q, unsigned thread)
{
	const uint64_t job = q->next++;
	uint64_t *finished = &q->finished[job % q->room];

	q->busy++;
	pthread_mutex_unlock(&q->lock);
	int more = q->fn(q->arg, thread, job);
	pthread_mutex_lock(&q->lock);
	q->busy--;
	/* one that is not wanted may end after a later one of its place */
	if (*finished <= job)
		*finished = job + 1;
	if (!more)
		q->end = q->next;
	return q->awaited == job + 1 ||
	    (q->awaited > 0 && (!more || q->busy == 0));
}

static void *
work(void *arg)
{
	const struct worker *w = arg;
	struct tel__queue *q = w->queue;

	pthread_mutex_lock(&q->lock);
	for (;;) {
		while (!q->stop && !has_next(q)) {
			q->starved |= q->next < q->end;
			pthread_cond_wait(&q->work, &q->lock);
		}
		if (q->stop)
			break;
		if (do_next(q, w->number)) {
			/* who wakes up is not to wait for the lock */
			pthread_mutex_unlock(&q->lock);
			pthread_cond_signal(&q->done);
			pthread_mutex_lock(&q->lock);
		}
	}
	pthread_mutex_unlock(&q->lock);
	return NULL;
}

unsigned
tel__queue_start(struct tel__queue *q, unsigned threads)
{
	sigset_t all, old;
	struct worker *w;

	if (q->nworkers >= threads ||
	    !TEL__RESERVE(q->workers, q->worker_room, threads))
		return q->nworkers;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	while (q->nworkers < threads && (w = malloc(sizeof(*w))) != NULL) {
		w->queue = q;
		w->number = q->nworkers + 1;
		if (pthread_create(&w->thread, NULL, work, w) != 0) {
			free(w);
			break;
		}
		q->workers[q->nworkers++] = w;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return q->nworkers;
}

void
tel__queue_free(struct tel__queue *q)
{
	if (q == NULL)
		return;
	pthread_mutex_lock(&q->lock);
	q->stop = 1;
	pthread_cond_broadcast(&q->work);
	pthread_mutex_unlock(&q->lock);
	for (unsigned i = 0; i < q->nworkers; i++) {
		(void)pthread_join(q->workers[i]->thread, NULL);
		free(q->workers[i]);
	}
	free(q->workers);
	pthread_cond_destroy(&q->done);
	pthread_cond_destroy(&q->work);
	pthread_mutex_destroy(&q->lock);
	free(q);
}

uint64_t
tel__queue_submit(struct tel__queue *q, uint64_t end, int wake)
{
	pthread_mutex_lock(&q->lock);
	q->end = end;
	uint64_t waiting = q->end - q->next;
	pthread_mutex_unlock(&q->lock);
	/* a thread that wakes up finds more than one */
	if (wake && waiting > 1)
		pthread_cond_signal(&q->work);
	return waiting;
}

int
tel__queue_run(struct tel__queue *q)
{
	pthread_mutex_lock(&q->lock);
	int has = has_next(q);
	if (has)
		(void)do_next(q, 0);
	pthread_mutex_unlock(&q->lock);
	return has;
}

static struct timespec
time_in(int ms)
{
	struct timespec ts = { 0, 0 };

	(void)clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_sec += ms / 1000;
	ts.tv_nsec += ms % 1000 * 1000000L;
	if (ts.tv_nsec >= 1000000000) {
		ts.tv_nsec -= 1000000000;
		ts.tv_sec++;
	}
	return ts;
}

enum tel__queue_result
tel__queue_wait(struct tel__queue *q, uint64_t job, int ms)
{
	const uint64_t *finished = &q->finished[job % q->room];
	enum tel__queue_result result = TEL__QUEUE_DONE;
	const struct timespec until =
	    ms > 0 ? time_in(ms) : (struct timespec){ 0, 0 };
	int failed = 0;

	pthread_mutex_lock(&q->lock);
	q->awaited = job + 1;
	while (*finished != job + 1 && job < q->end && ms != 0 && failed == 0) {
		result = TEL__QUEUE_WAITED;
		failed = ms < 0 ?
		    pthread_cond_wait(&q->done, &q->lock) :
		    pthread_cond_timedwait(&q->done, &q->lock, &until);
	}
	q->awaited = 0;
	if (*finished != job + 1)
		result = TEL__QUEUE_NONE;
	pthread_mutex_unlock(&q->lock);
	return result;
}

int
tel__queue_ended(struct tel__queue *q, uint64_t job)
{
	pthread_mutex_lock(&q->lock);
	const int ended = job >= q->end;
	pthread_mutex_unlock(&q->lock);
	return ended;
}

void
tel__queue_take(struct tel__queue *q, uint64_t end)
{
	pthread_mutex_lock(&q->lock);
	if (end > q->taken)
		q->taken = end;
	/* one that is not wanted is not started */
	if (q->next < q->taken)
		q->next = q->taken;
	const int wake =
	    q->starved && q->room - (q->next - q->taken) >= q->wake;
	if (wake)
		q->starved = 0;
	pthread_mutex_unlock(&q->lock);
	if (wake)
		pthread_cond_broadcast(&q->work);
}

uint64_t
tel__queue_pause(struct tel__queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->end = q->next;
	q->awaited = UINT64_MAX;
	while (q->busy > 0)
		pthread_cond_wait(&q->done, &q->lock);
	q->awaited = 0;
	uint64_t next = q->end = q->next;
	pthread_mutex_unlock(&q->lock);
	return next;
}
