/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an event costs: nanoseconds of CPU of all threads, without the loop
 * around it.  A row of make bench each; a row that is over its target says so.
 *
 *	bench_emit FOLDER
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "tel_class.h"

#define BENCH_KINDS(KIND, X) KIND(X, Loop, 0, "of a loop")
#define BENCH_EVENTS(EVENT, X) EVENT(X, Turn, 0x0001, 1, Loop, "a turn of it")
#define EVENT_Turn_PARAMS(PARAM, X) \
	PARAM(X, 0, P, pointer, "", "", "") \
	PARAM(X, 1, A, address, "", "", "") \
	PARAM(X, 2, W, number, "", "", "")

TEL_EVENTS(BENCH)
TEL_EVENTS_DEFINE(BENCH, "bench", 1, 0, 0)

#define TURNS 10000000ul
#define RUNS 5
#define THREADS 8

static double loop; /* of an empty turn */

static double
cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

enum { EMPTY, CLOCK, EVENTS, GROWTH, MAGNITUDE, HISTOGRAM, TALLY, TRACE };
static tel_emit_class *class_of[TRACE + 1]; /* by these */

/* The nanoseconds of a turn, of the best of some runs. */
static double
turns(int what)
{
	double best = 1e9, start, each;
	unsigned long i;
	int run;

	for (run = 0; run < RUNS; run++) {
		start = cpu();
		for (i = 0; i < TURNS; i++) {
			if (what == CLOCK)
				(void)tel_emit_clock();
			if (what == EVENTS)
				TEL_EVENT3(Turn, &best, &run, i);
			__asm__ __volatile__("" : : "r"(i) : "memory");
		}
		each = (cpu() - start) / (double)TURNS;
		best = each < best ? each : best;
	}
	return best;
}

static void
row(const char *what, double ns, double target)
{
	printf("%-26s %8.2f %7s", what, ns, "");
	if (target > 0)
		printf(" %7.1f%s", target, ns <= target ? "" : "  over");
	putchar('\n');
}

static int
start(const char *ring, unsigned clock, unsigned flags)
{
	tel_emit_options o = { NULL, 0, 0, NULL, 0, 0, 0 };

	o.ring_file = ring;
	o.clock = clock;
	o.flags = flags;
	o.ring_bytes = (size_t)1 << 20;
	return tel_emit_open(&o, &tel_list_BENCH);
}

static void *
emit(void *arg)
{
	unsigned long i;

	for (i = 0; i < TURNS / THREADS; i++)
		TEL_EVENT3(Turn, arg, &i, i);
	return NULL;
}

/* From many threads at once, into their rings. */
static double
from_threads(void)
{
	pthread_t t[THREADS];
	double begin;
	unsigned i;

	if (start(NULL, 0, 0) != 0)
		return -1;
	begin = cpu();
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, emit, &loop) != 0)
			return -1;
	for (i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	begin = cpu() - begin;
	tel_emit_close();
	return begin / (double)TURNS - loop;
}

/* All the way to a file, from one thread or from many. */
static double
to_file(const char *path, unsigned threads)
{
	pthread_t t[THREADS];
	uint64_t lost;
	unsigned i;
	double begin;

	if (start(NULL, 0, TEL_EMIT_BLOCK) != 0 ||
	    tel_control_text("all") != 0 ||
	    tel_emit_to_file(path, ~0u, 0) == NULL)
		return -1;
	begin = cpu();
	for (i = 0; i < threads; i++)
		if (pthread_create(&t[i], NULL, emit, &loop) != 0)
			return -1;
	for (i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	tel_emit_flush();
	lost = tel_emit_lost();
	tel_emit_close();
	unlink(path);
	if (lost > 0)
		printf("%lu events were lost\n", (unsigned long)lost);
	return (cpu() - begin) / (double)(TURNS / THREADS * threads) - loop;
}

/* A turn that calls a class. */
static void
update(int what, unsigned long i)
{
	tel_emit_class *c = class_of[what];

	switch (what) {
	case GROWTH: tel_class_update_growth(c, i); break;
	case MAGNITUDE: tel_class_update_magnitude(c, (int64_t)i); break;
	case HISTOGRAM:
		tel_class_update_histogram(c, (int64_t)i & 1023, 1);
		break;
	case TALLY: tel_class_update_tally(c, i & 63, 1); break;
	case TRACE: tel_class_log(c, (uint32_t)i, TEL_CLASS_SINGLE); break;
	default: break;
	}
}

/* As turns(), with update(). */
static double
class_turns(int what)
{
	double best = 1e9, start, each;
	unsigned long i;
	int run;

	for (run = 0; run < RUNS; run++) {
		start = cpu();
		for (i = 0; i < TURNS; i++) {
			update(what, i);
			__asm__ __volatile__("" : : "r"(i) : "memory");
		}
		each = (cpu() - start) / (double)TURNS;
		best = each < best ? each : best;
	}
	return best;
}

/* Updates of classes, and an event of one. */
static void
classes(void)
{
	static const char *const names[] = { [GROWTH] = "growth",
		[MAGNITUDE] = "magnitude",
		[HISTOGRAM] = "histogram",
		[TALLY] = "tally",
		[TRACE] = "trace event" };
	const unsigned on = TEL_CLASS_ENABLE;
	const tel_class_options o = { 0, 1, 0 };
	tel_emit_class *const root = TEL_CLASS_ROOT;
	const double empty = class_turns(EMPTY);
	char text[32];
	int i;

	if (start(NULL, 0, 0) != 0 || tel_class_open(&o) != 0)
		return;
	class_of[GROWTH] = tel_class_create_growth(root, "a", "", on);
	class_of[MAGNITUDE] = tel_class_create_magnitude(root, "b", "", on);
	class_of[HISTOGRAM] =
	    tel_class_create_histogram(root, "c", 0, 1024, 16, "", on);
	class_of[TALLY] = tel_class_create_tally(root, "d", 64, on);
	class_of[TRACE] = tel_class_create_trace(root, "e", NULL, on);
	for (i = GROWTH; i <= TRACE; i++) {
		snprintf(text, sizeof(text), "class: %s", names[i]);
		row(text, class_turns(i) - empty, 0);
	}
	tel_emit_close();
}

int
main(int argc, char **argv)
{
	char ring[4096], log[4096];

	if (argc != 2)
		return 2;
	snprintf(ring, sizeof(ring), "%s/bench.ring", argv[1]);
	snprintf(log, sizeof(log), "%s/bench_emit.tel", argv[1]);
	printf("\n%-26s %8s %7s %7s\n", "an event of 3 fields", "CPU ns", "",
	    "target");
	loop = turns(EMPTY);
	row("off", turns(EVENTS) - loop, 0.3);
	if (start(NULL, TEL_EMIT_CLOCK_NONE, 0) != 0)
		return 1;
	row("on, without a clock", turns(EVENTS) - loop, 2.5);
	tel_emit_close();
	if (start(NULL, 0, 0) != 0)
		return 1;
	row("reading the clock alone", turns(CLOCK) - loop, 0);
	row("on, with the clock", turns(EVENTS) - loop, 11);
	tel_emit_close();
	if (start(NULL, 0, TEL_EMIT_COARSE_CLOCK) != 0)
		return 1;
	row("on, coarse clock", turns(EVENTS) - loop, 0);
	tel_emit_close();
	if (start(ring, 0, 0) != 0)
		return 1;
	row("the same, ring in a file", turns(EVENTS) - loop, 11);
	tel_emit_close();
	unlink(ring);
	row("on, 8 threads", from_threads(), 11);
	row("to a file", to_file(log, 1), 20);
	row("to a file, 8 threads", to_file(log, THREADS), 0);
	classes();
	return 0;
}
