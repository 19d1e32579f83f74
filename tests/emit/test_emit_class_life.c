/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Classes of libtel-emit where threads, signals and processes come together:
 * totals are exact all the same.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "class_log.h"

#define SLOW (getenv("TEST_SLOW") != NULL)

/* --------------------------------------------------------------- threads */

static uint64_t per_thread = 20000;

struct shared {
	tel_emit_class *g, *m, *h, *t, *x, *s, *e;
	pthread_barrier_t together;
};

static void
update_all(const struct shared *c, uint64_t i)
{
	char text[16];

	tel_class_update_growth(c->g, i % 7);
	tel_class_update_magnitude_delta(c->m, i % 2 == 0 ? 3 : -3);
	tel_class_update_histogram(c->h, (int64_t)(i % 12) - 1, 2);
	tel_class_update_tally(c->t, i % 10, 1);
	snprintf(text, sizeof(text), "k%u", (unsigned)(i % 5));
	tel_class_update_tally_text(c->x, text, 1);
	tel_class_log(c->s, 5, TEL_CLASS_START);
	tel_class_log(c->s, 5, TEL_CLASS_END);
}

static void *
count_up(void *arg)
{
	struct shared *c = arg;
	uint64_t i;

	pthread_barrier_wait(&c->together);
	for (i = 0; i < per_thread; i++)
		update_all(c, i);
	/* all threads are there at once, each with a seat of its own, or none */
	pthread_barrier_wait(&c->together);
	return NULL;
}

static void
create_all(struct shared *c)
{
	c->g = tel_class_create_growth(root, "g", "", ON);
	c->m = tel_class_create_magnitude(root, "m", "", ON);
	c->h = tel_class_create_histogram(root, "h", 0, 10, 1, "", ON);
	c->t = tel_class_create_tally(root, "t", 8, ON);
	c->x = tel_class_create_tally(root, "x", 8, ON | TEL_CLASS_TEXT);
	c->s = tel_class_create_trace(root, "s", "", ON | TEL_CLASS_SUMMARY);
}

/* What n times update_all() for i below per_thread come to. */
static void
check_all(const struct read_log *l, uint64_t n)
{
	const int64_t all = (int64_t)(n * per_thread);
	uint64_t i, sum = 0, edge = 0;

	for (i = 0; i < per_thread; i++) {
		sum += i % 7;
		edge += i % 12 == 0;
	}
	IS(*l, "g", UPDATES, all);
	IS(*l, "g", SUM, (int64_t)(n * sum));
	IS(*l, "g", MIN, 0);
	IS(*l, "g", MAX, 6);
	IS(*l, "m", UPDATES, all);
	IS(*l, "m", LAST, 0);
	IS(*l, "h", UPDATES, all);
	IS(*l, "h", WEIGHT, 2 * all);
	IS(*l, "h", UNDER, (int64_t)(2 * n * edge));
	IS(*l, "t", UPDATES, all);
	IS(*l, "t", WEIGHT, all);
	IS(*l, "t", KEYS, 8);
	IS(*l, "x", UPDATES, all);
	IS(*l, "x", WEIGHT, all);
	IS(*l, "x", KEYS, 5);
	ok(key(l, "x", "k1") == n * (per_thread / 5), "x: a key");
	IS(*l, "s", EVENTS, 2 * all);
	ok(number(l, "s", TEL_NUMBER_PAIRS) +
	            number(l, "s", TEL_NUMBER_ORPHAN) ==
	        all,
	    "s: each end counts");
}

static void
test_threads(const char *what, unsigned n, size_t memory, uint64_t each)
{
	const tel_class_options o = { 5, 0, memory };
	const char *path = path_of("threads");
	pthread_t *t = calloc(n, sizeof(*t));
	struct read_log l;
	struct shared c;
	unsigned i;

	per_thread = each;
	start(NULL, path, &o);
	create_all(&c);
	pthread_barrier_init(&c.together, NULL, n);
	for (i = 0; i < n; i++)
		if (pthread_create(&t[i], NULL, count_up, &c) != 0) {
			diag("no thread %u", i);
			exit(1);
		}
	for (i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	tel_emit_close();
	l = read_log(path);
	diag("%s", what);
	check_all(&l, n);
	free_log(&l);
	pthread_barrier_destroy(&c.together);
	unlink(path);
	free(t);
}

static void *
count_once(void *arg)
{
	update_all(arg, 1);
	return NULL;
}

/* Threads that come and go leave what they counted. */
static void
test_short_threads(void)
{
	const char *path = path_of("short");
	struct read_log l;
	struct shared c;
	pthread_t t;
	int i;

	start(NULL, path, &on_demand);
	create_all(&c);
	for (i = 0; i < 300; i++) {
		if (pthread_create(&t, NULL, count_once, &c) != 0)
			break;
		pthread_join(t, NULL);
	}
	tel_emit_close();
	l = read_log(path);
	IS(l, "g", SUM, i);
	IS(l, "m", SUM, (int64_t)-3 * i * (i + 1) / 2);
	IS(l, "t", WEIGHT, i);
	free_log(&l);
	unlink(path);
}

static tel_emit_class *in_handler;

static void
handle(int sig)
{
	(void)sig;
	tel_class_update_growth(in_handler, 1);
}

/* An update in a signal handler, while the thread is in one. */
static void
test_signals(void)
{
	const char *path = path_of("signals");
	struct sigaction act = { .sa_handler = handle };
	struct read_log l;
	struct shared c;
	sigset_t one;
	timer_t timer;
	struct sigevent how = { .sigev_notify = SIGEV_SIGNAL,
		.sigev_signo = SIGALRM };
	const struct itimerspec often = { { 0, 50000 }, { 0, 50000 } };
	const struct itimerspec never = { { 0, 0 }, { 0, 0 } };
	uint64_t i, own = 0;
	int timed;

	start(NULL, path, &on_demand);
	create_all(&c);
	in_handler = c.g;
	sigemptyset(&one);
	sigaddset(&one, SIGALRM);
	sigaction(SIGALRM, &act, NULL);
	timed = timer_create(CLOCK_MONOTONIC, &how, &timer) == 0;
	if (timed)
		timer_settime(timer, 0, &often, NULL);
	for (i = 0; i < 200000; i++) {
		tel_class_update_growth(c.g, 2);
		own += 2;
		if (i % 1000 == 0)
			raise(SIGALRM);
	}
	if (timed) {
		timer_settime(timer, 0, &never, NULL);
		timer_delete(timer);
	}
	tel_emit_close();
	l = read_log(path);
	ok(number(&l, "g", TEL_NUMBER_SUM) >= (int64_t)own + 200 &&
	        number(&l, "g", TEL_NUMBER_SUM) - (int64_t)own ==
	            number(&l, "g", TEL_NUMBER_UPDATES) - 200000,
	    "%lld updates in handlers, none lost",
	    (long long)number(&l, "g", TEL_NUMBER_UPDATES) - 200000);
	free_log(&l);
	unlink(path);
}

/* ------------------------------------------------------ enable, dispose */

static void
test_enable(void)
{
	const char *path = path_of("enable");
	tel_emit_class *a, *ab, *g, *h, *t;
	struct read_log l;

	start(NULL, path, &on_demand);
	a = tel_class_create_path(root, "A");
	ab = tel_class_create_path(a, "B");
	g = tel_class_create_growth(ab, "g", "", ON);
	h = tel_class_create_growth(ab, "h", "", TEL_CLASS_DISABLE);
	t = tel_class_create_trace(a, "t", "", ON);
	tel_class_update_growth(g, 1);
	tel_class_update_growth(h, 1000); /* off */
	tel_class_log(t, 1, 0);
	ok(tel_class_disable(a) == 0 && tel_class_disable(a) == 0,
	    "a path is disabled, and again");
	tel_class_update_growth(g, 1000);
	tel_class_log(t, 2, 0);
	(void)tel_class_create_growth(a, "new", "", ON);
	tel_class_update_growth(tel_class_create_growth(a, "new", "", ON),
	    1000);
	ok(tel_class_enable(h) == 0, "one below it is enabled");
	tel_class_update_growth(h, 1000); /* still off */
	ok(tel_class_enable(a) == 0, "and the path");
	tel_class_update_growth(g, 10);
	tel_class_update_growth(h, 10);
	tel_class_update_growth(tel_class_create_growth(a, "new", "", 0), 10);
	tel_class_log(t, 3, 0);
	ok(tel_class_disable(root) == 0, "the root is disabled");
	tel_class_update_growth(g, 1000);
	ok(tel_class_enable(root) == 0, "and enabled");
	tel_class_update_growth(g, 100);
	ok(tel_class_disable(g) == 0, "what was counted before it is off");
	ok(tel_class_enable(NULL) != 0 && errno == EINVAL, "no class");
	tel_emit_close();
	l = read_log(path);
	IS(l, "A:B:g", SUM, 111);
	IS(l, "A:B:h", SUM, 10);
	IS(l, "A:new", SUM, 10);
	ok(l.traces == 2 &&
	        strcmp(l.text, "Trace|A:t|1||\nTrace|A:t|3||\n") == 0,
	    "trace events of a class that is on");
	free_log(&l);
	unlink(path);
}

static void *
count_until(void *arg)
{
	struct shared *c = arg;
	uint64_t i;

	for (i = 0; !__atomic_load_n(&c->e, __ATOMIC_ACQUIRE); i++)
		update_all(c, i);
	for (i = 0; i < 1000; i++)
		update_all(c, i);
	return NULL;
}

static void
test_dispose(void)
{
	const char *path = path_of("dispose");
	struct shared c;
	struct read_log l;
	pthread_t t[4];
	tel_emit_class *p, *again;
	int i;

	start(NULL, path, &on_demand);
	p = tel_class_create_path(root, "P");
	memset(&c, 0, sizeof(c));
	c.g = tel_class_create_growth(p, "g", "", ON);
	c.m = tel_class_create_magnitude(p, "m", "", ON);
	c.h = tel_class_create_histogram(p, "h", 0, 10, 1, "", ON);
	c.t = tel_class_create_tally(p, "t", 8, ON);
	c.x = tel_class_create_tally(p, "x", 8, ON | TEL_CLASS_TEXT);
	c.s = tel_class_create_trace(p, "s", "", ON);
	for (i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, count_until, &c);
	tel_class_update_growth(c.g, 1000000);
	tel_class_dispose(p);
	__atomic_store_n(&c.e, c.g, __ATOMIC_RELEASE);
	for (i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	ok(tel_class_enable(c.g) != 0 && errno == ENOENT, "it is ended");
	ok(tel_class_disable(p) != 0 && errno == ENOENT, "and so is the path");
	FAILS(tel_class_create_growth(p, "x", "", ON), ENOENT);
	tel_class_dispose(p);
	tel_class_dispose(c.g);
	tel_class_dispose(NULL);
	tel_class_dispose(root);
	again = tel_class_create_magnitude(root, "P:g", "", ON);
	ok(again != NULL && again != c.g, "another one is at its place");
	tel_class_update_magnitude(again, -5);
	tel_class_update_growth(c.g, 1);
	tel_emit_close();
	l = read_log(path);
	ok(number(&l, "P:g", TEL_NUMBER_SUM) >= 1000000,
	    "what was counted before is there");
	IS(l, "P:g#2", LAST, -5);
	IS(l, "P:g#2", UPDATES, 1);
	ok(l.damaged.low == 0, "no damage");
	free_log(&l);
	unlink(path);
}

struct race {
	pthread_barrier_t together;
	tel_emit_class *got[16][40];
	int who;
};

static void *
create_same(void *arg)
{
	struct race *r = arg;
	int i, who = __atomic_fetch_add(&r->who, 1, __ATOMIC_RELAXED);
	char name[32];

	pthread_barrier_wait(&r->together);
	for (i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "p%d:q:g%d", i % 3, i);
		r->got[who][i] = tel_class_create_growth(root, name, "", ON);
		tel_class_update_growth(r->got[who][i], 1);
	}
	return NULL;
}

static void
test_race(void)
{
	static struct race r;
	const char *path = path_of("race");
	struct read_log l;
	pthread_t t[16];
	int i, k, same = 1;

	/* opening is part of it */
	if (tel_emit_open(NULL, NULL) != 0 ||
	    tel_emit_to_file(path, ~0u, 0) == NULL)
		diag("open: %s", strerror(errno));
	pthread_barrier_init(&r.together, NULL, 16);
	for (i = 0; i < 16; i++)
		pthread_create(&t[i], NULL, create_same, &r);
	for (i = 0; i < 16; i++)
		pthread_join(t[i], NULL);
	for (i = 0; i < 16; i++)
		for (k = 0; k < 40; k++)
			same &=
			    r.got[i][k] != NULL && r.got[i][k] == r.got[0][k];
	ok(same, "16 threads get the same 40 classes");
	tel_emit_close();
	l = read_log(path);
	ok(l.definitions == 46, "each is defined once (%d)",
	    (int)l.definitions);
	for (i = 0; i < 40; i++) {
		char name[32];

		snprintf(name, sizeof(name), "p%d:q:g%d", i % 3, i);
		if (number(&l, name, TEL_NUMBER_SUM) != 16)
			break;
	}
	ok(i == 40, "and has all updates");
	free_log(&l);
	pthread_barrier_destroy(&r.together);
	unlink(path);
}

/* ------------------------------------------------------------- snapshots */

static const struct timespec moment = { 0, 5000000 };

/* Snapshots by the thread: until the log has some, however long that takes. */
static void
test_thread(const char *path, const tel_class_options *options, uint64_t want)
{
	struct stat file;
	uint64_t n = 0;

	start(NULL, path, options);
	tel_emit_class *g = tel_class_create_growth(root, "g", "", ON);
	for (int i = 0; i < 20000 && n < want; i++) {
		tel_class_update_growth(g, 1);
		nanosleep(&moment, NULL);
		if (stat(path, &file) != 0 || file.st_size == 0)
			continue;
		struct read_log l = read_log(path);
		n = l.snapshots;
		free_log(&l);
	}
	ok(n >= want, "snapshots come by themselves");
	tel_emit_close();
}

static void
test_snapshots(void)
{
	const tel_class_options often = { 1, 0, 0 }, by_default = { 0, 0, 0 };
	const char *path = path_of("snapshots");
	tel_emit_options o = { NULL, 0, 0, NULL, 0, TEL_EMIT_NO_THREAD, 0 };
	tel_emit_class *g, *h;
	struct read_log l;
	int i;

	test_thread(path, &often, 3);
	/* each second */
	test_thread(path, &by_default, 1);
	/* when they are asked for, of a part */
	start(NULL, path, &on_demand);
	g = tel_class_create_growth(root, "A:g", "", ON);
	h = tel_class_create_growth(root, "B:h", "", ON);
	tel_class_update_growth(g, 1);
	tel_class_update_growth(h, 1);
	for (i = 0; i < 5; i++)
		tel_class_snapshot(tel_class_create_path(root, "A"));
	ok(tel_class_snapshot(NULL) != 0 && errno == EINVAL, "of no class");
	tel_emit_flush();
	l = read_log(path);
	ok(l.snapshots == 5, "5 that were asked for (%d)", (int)l.snapshots);
	IS(l, "A:g", SUM, 1);
	IS(l, "B:h", UPDATES, 0);
	free_log(&l);
	tel_emit_close();
	l = read_log(path);
	ok(l.snapshots == 7, "and one of all at the end (%d)",
	    (int)l.snapshots);
	free_log(&l);
	/* without a thread, those that are due come with a flush */
	start(&o, path, &often);
	g = tel_class_create_growth(root, "g", "", ON);
	for (i = 0; i < 3; i++) {
		tel_class_update_growth(g, 1);
		nanosleep(&moment, NULL);
		tel_emit_flush();
	}
	l = read_log(path);
	ok(l.snapshots == 3, "without a thread by flush (%d)",
	    (int)l.snapshots);
	free_log(&l);
	tel_emit_close();
	/* a sink that comes later has the definitions */
	start(NULL, NULL, &on_demand);
	g = tel_class_create_growth(root, "g", "", ON);
	tel_class_update_growth(g, 5);
	tel_emit_flush();
	tel_emit_to_file(path, ~0u, 0);
	tel_emit_to_file(path_of("traces"), TEL_CLASS_KIND_TRACE, 0);
	tel_class_log(tel_class_create_trace(root, "t", "", ON), 1, 0);
	tel_emit_close();
	l = read_log(path);
	IS(l, "g", SUM, 5);
	ok(l.traces == 1, "a late sink has all");
	free_log(&l);
	l = read_log(path_of("traces"));
	ok(l.traces == 1 && l.snapshots == 0 && l.definitions == 0,
	    "one of traces has these alone");
	free_log(&l);
	unlink(path_of("traces"));
	unlink(path);
}

/* ------------------------------------------------------------ processes */

static void
test_fork(void)
{
	tel_emit_options o = { NULL, 0, 0, NULL, 0, 0, 0 };
	const char *path = path_of("fork.%p");
	char name[520], child_name[560];
	struct read_log l;
	struct shared c;
	pid_t child;
	int status = -1;

	snprintf(name, sizeof(name), "%s", path_of("fork."));
#ifdef __SANITIZE_THREAD__
	o.flags = TEL_EMIT_NO_THREAD; /* it has no thread in a child */
#endif
	start(&o, path, &on_demand);
	create_all(&c);
	tel_class_update_growth(c.g, 100);
	tel_class_update_magnitude(c.m, 50);
	tel_class_log(c.s, 1, TEL_CLASS_START);
	child = fork();
	if (child == 0) {
		tel_class_update_growth(c.g, 7);
		tel_class_update_magnitude_delta(c.m, 1);
		tel_class_log(c.s, 1, TEL_CLASS_END);
		tel_class_update_growth(tel_class_create_growth(root, "child",
		                            "", ON),
		    3);
		tel_emit_close();
		_exit(0);
	}
	waitpid(child, &status, 0);
	ok(status == 0, "a child ends");
	tel_class_update_growth(c.g, 10);
	tel_emit_close();
	snprintf(child_name, sizeof(child_name), "%s%ld", name, (long)child);
	l = read_log(child_name);
	IS(l, "g", SUM, 7);
	IS(l, "m", LAST, 51);
	IS(l, "m", UPDATES, 1);
	IS(l, "s", ORPHAN, 1);
	IS(l, "child", SUM, 3);
	free_log(&l);
	unlink(child_name);
	snprintf(child_name, sizeof(child_name), "%s%ld", name, (long)getpid());
	l = read_log(child_name);
	IS(l, "g", SUM, 110);
	IS(l, "s", OPEN, 1);
	ok(find(&l, "child") == NULL, "the child's class is its own");
	free_log(&l);
	unlink(child_name);
}

/* What was snapshotted is in the file of the rings, whatever happens then. */
static void
test_killed(void)
{
	const char *path = path_of("ring");
	tel_emit_options o = { path, 0, 0, NULL, 0, 0, 0 };
	int ready[2], i, rounds = SLOW ? 3 : 10, good = 1, status;
	struct read_log l;
	struct shared c;
	char byte;
	pid_t child;

	for (i = 0; i < rounds; i++) {
		if (pipe(ready) != 0)
			return;
		child = fork();
		if (child == 0) {
			start(&o, NULL, &on_demand);
			create_all(&c);
			tel_class_update_growth(c.g, 41 + (uint64_t)i);
			tel_class_update_tally_text(c.x, "key", 5);
			tel_class_snapshot(root);
			(void)!write(ready[1], "x", 1);
			for (;;)
				tel_class_update_growth(c.g, 0);
		}
		close(ready[1]);
		(void)!read(ready[0], &byte, 1);
		close(ready[0]);
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
		l = read_log(path);
		good &= number(&l, "g", TEL_NUMBER_SUM) == 41 + i &&
		    key(&l, "x", "key") == 5 && l.damaged.low == 0;
		free_log(&l);
	}
	ok(good, "%d killed programs left their snapshots", rounds);
	unlink(path);
	unlink(path_of("ring.old"));
}

/* A log that several runs have appended to. */
static void
test_append(void)
{
	const char *path = path_of("append");
	struct read_log l;
	int i;

	unlink(path);
	for (i = 1; i <= 3; i++) {
		if (tel_emit_open(NULL, NULL) != 0 ||
		    tel_emit_to_file(path, ~0u, TEL_SINK_APPEND) == NULL)
			diag("open: %s", strerror(errno));
		/* other classes have the same numbers */
		if (i == 2)
			(void)tel_class_create_path(root, "other");
		tel_class_update_growth(tel_class_create_growth(root, "g", "",
		                            ON),
		    (uint64_t)i);
		tel_class_close();
		/* once more in one run */
		tel_class_update_growth(tel_class_create_growth(root, "g", "",
		                            ON),
		    10);
		tel_emit_close();
	}
	l = read_log(path);
	IS(l, "g", SUM, 1 + 2 + 3 + 30);
	ok(l.damaged.low == 0, "no damage");
	free_log(&l);
	unlink(path);
}

int
main(void)
{
	test_threads("8 threads", 8, 0, SLOW ? 1200 : 18000);
	test_threads("more threads than seats", 100, 0, SLOW ? 60 : 600);
	test_threads("no memory for parts", 6, 4096, SLOW ? 600 : 6000);
	test_short_threads();
	test_signals();
	test_enable();
	test_dispose();
	test_race();
	test_snapshots();
	test_fork();
	test_killed();
	test_append();
	return done();
}
