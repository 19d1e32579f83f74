/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads that do jobs in order, some ahead of the one that is taken next. */
#define _GNU_SOURCE /* for sched_getaffinity() */
#include "jobs.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct jobs {
	pthread_mutex_t lock;
	pthread_cond_t change;
	job_fn *fn;
	void *arg;
	size_t count, ahead;
	size_t next;  /* the first that was not started */
	size_t taken; /* so many were taken */
	int stop;
	uint64_t events, input; /* what the jobs have done */
	unsigned char *done;    /* of each job */
	pthread_t *threads;
	unsigned nthreads;
};

unsigned
jobs_cores(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);
#ifdef __linux__
	cpu_set_t set;

	/* a container, or taskset, may allow fewer than there are */
	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		n = CPU_COUNT(&set);
#endif

	return n < 1 ? 1 : n > 1024 ? 1024 : (unsigned)n;
}

static void *
work(void *arg)
{
	struct jobs *j = arg;
	size_t job;

	pthread_mutex_lock(&j->lock);
	for (;;) {
		while (!j->stop && j->next < j->count &&
		    j->next - j->taken >= j->ahead)
			pthread_cond_wait(&j->change, &j->lock);
		if (j->stop || j->next == j->count)
			break;
		job = j->next++;
		pthread_mutex_unlock(&j->lock);
		j->fn(j->arg, j, job);
		pthread_mutex_lock(&j->lock);
		j->done[job] = 1;
		pthread_cond_broadcast(&j->change);
	}
	pthread_mutex_unlock(&j->lock);
	return NULL;
}

static void
jobs_free(struct jobs *j)
{
	pthread_cond_destroy(&j->change);
	pthread_mutex_destroy(&j->lock);
	free(j->threads);
	free(j->done);
	free(j);
}

/* Starts as many threads as can be started; they take no signals. */
static void
start(struct jobs *j, unsigned threads)
{
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	while (j->nthreads < threads &&
	    pthread_create(&j->threads[j->nthreads], NULL, work, j) == 0)
		j->nthreads++;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

struct jobs *
jobs_begin(unsigned threads, size_t n, size_t ahead, job_fn *fn, void *arg)
{
	struct jobs *j = calloc(1, sizeof(*j));

	if (j == NULL)
		return NULL;
	if (pthread_mutex_init(&j->lock, NULL) != 0) {
		free(j);
		return NULL;
	}
	if (pthread_cond_init(&j->change, NULL) != 0) {
		pthread_mutex_destroy(&j->lock);
		free(j);
		return NULL;
	}
	j->fn = fn;
	j->arg = arg;
	j->count = n;
	j->ahead = ahead;
	j->done = calloc(n + 1, 1);
	j->threads = calloc(threads, sizeof(*j->threads));
	if (j->done != NULL && j->threads != NULL)
		start(j, threads);
	if (j->nthreads > 0)
		return j;
	jobs_free(j);
	return NULL;
}

/* A tenth of a second from now. */
static struct timespec
soon(void)
{
	struct timespec ts = { 0, 0 };

	(void)clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_nsec += 100000000;
	if (ts.tv_nsec >= 1000000000) {
		ts.tv_nsec -= 1000000000;
		ts.tv_sec++;
	}
	return ts;
}

int
jobs_take(struct jobs *j, size_t job, int impatient)
{
	struct timespec until = { 0, 0 };
	int waits = 0, done;

	if (impatient)
		until = soon();
	pthread_mutex_lock(&j->lock);
	/* what comes before it is not waited for any more */
	if (job > j->taken) {
		j->taken = job;
		pthread_cond_broadcast(&j->change);
	}
	while (!j->done[job] && waits == 0)
		waits = impatient ?
		    pthread_cond_timedwait(&j->change, &j->lock, &until) :
		    pthread_cond_wait(&j->change, &j->lock);
	done = j->done[job];
	if (done && job + 1 > j->taken) {
		j->taken = job + 1;
		pthread_cond_broadcast(&j->change);
	}
	pthread_mutex_unlock(&j->lock);
	return done;
}

void
jobs_add(struct jobs *j, uint64_t events, uint64_t input)
{
	pthread_mutex_lock(&j->lock);
	j->events += events;
	j->input += input;
	pthread_mutex_unlock(&j->lock);
}

void
jobs_added(struct jobs *j, uint64_t *events, uint64_t *input)
{
	pthread_mutex_lock(&j->lock);
	*events = j->events;
	*input = j->input;
	pthread_mutex_unlock(&j->lock);
}

void
jobs_end(struct jobs *j)
{
	unsigned i;

	if (j == NULL)
		return;
	pthread_mutex_lock(&j->lock);
	j->stop = 1;
	pthread_cond_broadcast(&j->change);
	pthread_mutex_unlock(&j->lock);
	for (i = 0; i < j->nthreads; i++)
		(void)pthread_join(j->threads[i], NULL);
	jobs_free(j);
}
