/* SPDX-License-Identifier: BSD-2-Clause */
/* The queue of jobs: their order, their room, its end, waiting. */
#include <stdatomic.h>
#include <time.h>

#include "base/queue.h"
#include "tap.h"

enum { ROOM = 6, JOBS = 2000 };

/* What the jobs of a test do. */
struct test {
	uint64_t result[ROOM]; /* by the place of a job */
	uint64_t last;         /* after this one there is none */
	atomic_ullong started, taken;
	atomic_int crowded, strange, waits, go;
	unsigned threads;
};

static void
nap(long us)
{
	const struct timespec t = { 0, us * 1000 };

	nanosleep(&t, NULL);
}

static int
square(void *arg, unsigned thread, uint64_t job)
{
	struct test *t = arg;

	if (job >= atomic_load(&t->taken) + ROOM)
		atomic_store(&t->crowded, 1);
	if (thread > t->threads)
		atomic_store(&t->strange, 1);
	atomic_fetch_add(&t->started, 1);
	while (atomic_load(&t->waits) && !atomic_load(&t->go))
		nap(100);
	if (job % 7 == 0)
		nap(20);
	t->result[job % ROOM] = job * job;
	return job != t->last;
}

/* Takes all jobs in order; returns how many had their result. */
static uint64_t
take_all(struct tel__queue *q, struct test *t, uint64_t from, int help)
{
	uint64_t job = from;

	for (;; job++) {
		while (help && tel__queue_wait(q, job, 0) == TEL__QUEUE_NONE &&
		    tel__queue_run(q))
			continue;
		if (tel__queue_wait(q, job, -1) == TEL__QUEUE_NONE ||
		    t->result[job % ROOM] != job * job)
			return job - from;
		atomic_store(&t->taken, job + 1);
		tel__queue_take(q, job + 1);
	}
}

static void
test_order(unsigned threads, int help)
{
	struct test t = { .last = UINT64_MAX, .threads = threads };
	struct tel__queue *q = tel__queue_new(ROOM, threads, square, &t);

	(void)tel__queue_submit(q, JOBS, 0);
	is_u64(tel__queue_start(q, threads), threads, "%u threads", threads);
	is_u64(take_all(q, &t, 0, help), JOBS, "all results, in order");
	ok(!atomic_load(&t.crowded), "no job starts before there is room");
	ok(!atomic_load(&t.strange), "on the threads that there are");
	is_u64(atomic_load(&t.started), JOBS, "each job once");
	tel__queue_free(q);
}

static void
test_end(void)
{
	struct test t = { .last = 99, .threads = 1 };
	struct tel__queue *q = tel__queue_new(ROOM, 2, square, &t);
	uint64_t next;

	ok(!tel__queue_run(q), "no job before one is submitted");
	(void)tel__queue_start(q, 1);
	(void)tel__queue_submit(q, UINT64_MAX, 1);
	is_u64(take_all(q, &t, 0, 0), 100, "a job may be the last");
	t.last = UINT64_MAX;
	(void)tel__queue_submit(q, UINT64_MAX, 1);
	while (atomic_load(&t.started) < 104)
		nap(100);
	next = tel__queue_pause(q);
	nap(1000);
	is_u64(atomic_load(&t.started), next, "after a pause none is started");
	is_u64(take_all(q, &t, 100, 0), next - 100, "those that were are done");
	t.last = next + 50;
	(void)tel__queue_submit(q, UINT64_MAX, 1);
	is_u64(take_all(q, &t, next, 0), 51, "and then it goes on");
	tel__queue_free(q);
}

static void
test_waiting(void)
{
	struct test t = { .last = UINT64_MAX, .threads = 1, .waits = 1 };
	struct tel__queue *q = tel__queue_new(ROOM, 1, square, &t);

	(void)tel__queue_submit(q, 100, 0);
	(void)tel__queue_start(q, 1);
	ok(tel__queue_wait(q, 0, 0) == TEL__QUEUE_NONE, "not done yet");
	ok(tel__queue_wait(q, 0, 20) == TEL__QUEUE_NONE, "nor in 20 ms");
	/* the first job is not wanted; those before 50 are never started */
	atomic_store(&t.taken, 50);
	tel__queue_take(q, 50);
	atomic_store(&t.go, 1);
	ok(tel__queue_wait(q, 50, -1) != TEL__QUEUE_NONE, "a later one is");
	ok(tel__queue_wait(q, 50, -1) == TEL__QUEUE_DONE, "and was");
	is_u64(take_all(q, &t, 50, 0), 50, "so are those behind it");
	is_u64(atomic_load(&t.started), 51, "and none between");
	ok(tel__queue_wait(q, 100, -1) == TEL__QUEUE_NONE, "no such job");
	tel__queue_free(q);
}

static void
test_alone(void)
{
	struct test t = { .last = UINT64_MAX };
	struct tel__queue *q = tel__queue_new(ROOM, 1, square, &t);

	(void)tel__queue_submit(q, JOBS, 1);
	is_u64(take_all(q, &t, 0, 1), JOBS, "the owner's thread is enough");
	tel__queue_free(q);
	tel__queue_free(NULL);
}

int
main(void)
{
	test_order(1, 0);
	test_order(4, 0);
	test_order(3, 1);
	test_end();
	test_waiting();
	test_alone();
	return done();
}
