/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libtel-emit where programs are not nice: threads that come and go, signals,
 * forks, full disks.
 */
#define _GNU_SOURCE
#include "shop.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

TEL_EVENTS_DEFINE(SHOP, "shop", 1, 0, 0)

#define SLOW (getenv("TEST_SLOW") != NULL)
#define WHOLE (getenv("TEST_WHOLE") != NULL)

static int
start(const tel_emit_options *o)
{
	if (tel_emit_open(o, &tel_list_SHOP) != 0) {
		diag("open: %s, %s", strerror(errno), tel_emit_error());
		return -1;
	}
	return tel_control_text("all");
}

/* --------------------------------------------------------------- threads */

static uint64_t per_thread = 200000;

static void *
count_up(void *arg)
{
	uint32_t who = (uint32_t)(uintptr_t)arg;
	uint64_t i;

	for (i = 0; i < per_thread; i++)
		shop_count(who, i);
	return NULL;
}

static void
test_threads(void)
{
	tel_emit_options o = { NULL, 0, 0, NULL, 0, TEL_EMIT_BLOCK, 0 };
	const char *path = shop_path("threads");
	struct shop_log l;
	pthread_t t[8];
	uintptr_t i;

	per_thread = WHOLE ? 200000 : SLOW ? 5000 : 40000;
	start(&o);
	tel_emit_to_file(path, ~0u, 0);
	for (i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, count_up, (void *)i);
	for (i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
	tel_emit_close();
	ok(shop_read_file(path, &l) == TEL_END && l.damaged == 0,
	    "eight threads, and a log without damage");
	is_u64(l.numbers, 8 * per_thread, "all events of all threads");
	is_u64(l.torn + l.missing + l.lost, 0, "whole, and in a row");
	/* a thread may be stopped between its clock and its event */
	ok(l.disorder < l.numbers / 100, "in order of time but for %d",
	    (int)l.disorder);
	unlink(path);
}

static void
test_many_threads(void)
{
	tel_emit_options o = { NULL, 65536, 8, NULL, 0, TEL_EMIT_BLOCK, 1 };
	const char *path = shop_path("many");
	struct shop_log l;
	uint64_t lost;
	pthread_t t;
	int i, n = SLOW ? 10 : 100;

	per_thread = 500;
	start(&o);
	tel_emit_to_file(path, ~0u, 0);
	for (i = 0; i < n; i++) {
		pthread_create(&t, NULL, count_up, (void *)(uintptr_t)(i % 64));
		pthread_join(t, NULL);
		if (i % 4 == 3)
			tel_emit_flush();
	}
	lost = tel_emit_lost();
	tel_emit_close();
	shop_read_file(path, &l);
	is_u64(l.torn, 0, "threads that come and go share few rings");
	is_u64(l.numbers + lost, (uint64_t)n * per_thread,
	    "nothing is lost without being counted: %d", (int)lost);
	is_u64(lost, 0, "and rings of threads that ended are used again");
	unlink(path);
}

/* All rings are those of ended threads, long before they are drained. */
static void
test_no_ring(void)
{
	tel_emit_options o = { .ring_bytes = 65536,
		.rings = 4,
		.interval_ms = 3600000 };
	uint64_t lost = 0, before = 1;
	unsigned i;
	pthread_t t;

	per_thread = 1;
	start(&o);
	tel_emit_to_file("/dev/null", ~0u, 0);
	for (i = 0; i < 1000 && (lost == 0 || lost > before); i++) {
		before = tel_emit_lost();
		pthread_create(&t, NULL, count_up, (void *)(uintptr_t)(i % 64));
		pthread_join(t, NULL);
		lost = tel_emit_lost();
		usleep(lost > 0 ? 10000 : 0);
	}
	ok(lost > 0 && lost == before,
	    "a thread without a ring has those of others drained: %u threads",
	    i);
	tel_emit_close();
}

enum { NAMED = 200 };

static void *
count_named(void *arg)
{
	const unsigned i = (unsigned)(uintptr_t)arg;
	char name[16];

	snprintf(name, sizeof(name), "%s %u",
	    i < NAMED ? "one of many" : "main", i);
	tel_thread_name(name);
	shop_count(0, i);
	tel_emit_flush();
	return NULL;
}

/* Threads that come and go, and one that has many names: each block has few. */
static void
test_thread_names(void)
{
	tel_emit_options o = { .flags = TEL_EMIT_NO_THREAD };
	const char *path = shop_path("names"), *label;
	tel_reader *r = tel_reader_new();
	unsigned i, right = 0;
	const tel_event *ev;
	char name[16];
	size_t length;
	pthread_t t;

	start(&o);
	tel_emit_to_file(path, ~0u, 0);
	for (i = 0; i < 2 * NAMED; i++) {
		if (i >= NAMED) {
			count_named((void *)(uintptr_t)i);
		} else if (pthread_create(&t, NULL, count_named,
		               (void *)(uintptr_t)i) == 0) {
			pthread_join(t, NULL);
		}
	}
	tel_emit_close();
	if (tel_reader_open_file(r, path) != TEL_OK)
		diag("%s", tel_reader_error(r));
	while ((ev = shop_next(r, "Number")) != NULL) {
		i = (unsigned)tel_event_u64(ev, 1);
		snprintf(name, sizeof(name), "%s %u",
		    i < NAMED ? "one of many" : "main", i);
		label = tel_event_label(ev, 3, &length);
		right += label != NULL && length == strlen(name) &&
		    memcmp(label, name, length) == 0;
	}
	is_u64(right, 2 * NAMED, "events have the names of their threads");
	ok(tel_reader_count(r, TEL_COUNT_INPUT) / (2 * NAMED) < 1500,
	    "blocks have no names of other threads: %d bytes",
	    (int)(tel_reader_count(r, TEL_COUNT_INPUT) / (2 * NAMED)));
	tel_reader_free(r);
	unlink(path);
}

/* --------------------------------------------------------------- signals */

static volatile uint64_t in_signal, in_program;

static void
on_alarm(int number)
{
	(void)number;
	shop_count(1, in_signal++);
	TEL_EVENT3(Sale, NULL, 1, "from a signal handler");
}

static void
test_signals(void)
{
	tel_emit_options o = { NULL, 0, 0, NULL, 0, TEL_EMIT_BLOCK, 0 };
	const char *path = shop_path("signals");
	const struct itimerval often = { { 0, 50 }, { 0, 50 } };
	const struct itimerval never = { { 0, 0 }, { 0, 0 } };
	struct sigaction action;
	struct shop_log l;
	time_t end;

	memset(&action, 0, sizeof(action));
	action.sa_handler = on_alarm;
	action.sa_flags = SA_RESTART;
	start(&o);
	tel_emit_to_file(path, ~0u, 0);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	end = time(NULL) + 60;
	while (in_signal < (WHOLE       ? 20000 :
	                           SLOW ? 100 :
	                                  2000) &&
	    time(NULL) < end) {
		int i;

		for (i = 0; i < 1000; i++)
			shop_count(0, in_program++);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	tel_emit_close();
	ok(shop_read_file(path, &l) == TEL_END && in_signal >= 100,
	    "a storm of signals");
	is_u64(l.next[0], in_program, "all events of the program");
	is_u64(l.next[1], in_signal, "all %d of the handler", (int)in_signal);
	is_u64(l.torn + l.missing + l.lost + l.damaged, 0, "each whole");
	unlink(path);
}

static void
test_control_signal(void)
{
	start(NULL);
	tel_control_text("Stock");
	tel_control_signal(SIGUSR2);
	raise(SIGUSR2);
	is_u64(tel_control_read(), 0x7FFFFFFF, "a signal turns all on");
	raise(SIGUSR2);
	is_u64(tel_control_read(), 2, "and back");
	tel_emit_close();
	signal(SIGUSR2, SIG_DFL);
}

/* ----------------------------------------------------------------- forks */

static void
test_forks(void)
{
	const char *pattern = shop_path("fork.%p");
	tel_emit_options o = { NULL, 65536, 16, NULL, 0, 0, 1 };
	struct shop_log l;
	char path[512];
	pid_t children[40];
	pthread_t t[2];
	uintptr_t k;
	int i, n = WHOLE ? 40 : SLOW ? 4 : 12, st, whole = 0;

#ifdef __SANITIZE_THREAD__
	/* it does not support threads in a child of several threads */
	o.flags = TEL_EMIT_NO_THREAD;
#endif
	per_thread = SLOW ? 2000 : 20000;
	start(&o);
	tel_emit_to_file(pattern, ~0u, 0);
	for (k = 0; k < 2; k++)
		pthread_create(&t[k], NULL, count_up, (void *)(k + 1));
	for (i = 0; i < n; i++) {
		shop_count(0, (uint64_t)i);
		children[i] = fork();
		if (children[i] == 0) {
			for (k = 0; k < 100; k++)
				shop_count(9, k);
			tel_emit_close();
			_exit(0);
		}
	}
	for (k = 0; k < 2; k++)
		pthread_join(t[k], NULL);
	for (i = 0; i < n; i++) {
		waitpid(children[i], &st, 0);
		snprintf(path, sizeof(path), "%.*s%ld",
		    (int)strlen(pattern) - 2, pattern, (long)children[i]);
		if (st == 0 && shop_read_file(path, &l) == TEL_END &&
		    l.numbers == 100 && l.missing + l.torn + l.damaged == 0)
			whole++;
		unlink(path);
	}
	is_u64((uint64_t)whole, (uint64_t)n,
	    "each child writes a log of its own");
	tel_emit_close();
	snprintf(path, sizeof(path), "%.*s%ld", (int)strlen(pattern) - 2,
	    pattern, (long)getpid());
	shop_read_file(path, &l);
	ok(l.next[0] == (uint64_t)n && l.next[9] == 0 && l.torn == 0,
	    "and nothing into its parent's");
	unlink(path);
}

static void
test_fork_ring(void)
{
	const char *path = shop_path("ring");
	tel_emit_options o = { NULL, 65536, 16, NULL, 0, TEL_EMIT_NO_THREAD,
		0 };
	static unsigned char memory[65536];
	struct shop_log l;
	tel_emit_sink *s;
	pid_t child;
	int st;

	o.ring_file = path;
	start(&o);
	s = tel_emit_to_memory(memory, sizeof(memory), ~0u);
	shop_count(1, 0);
	child = fork();
	if (child == 0) {
		int i;

		for (i = 0; i < 100000; i++)
			shop_count(7, (uint64_t)i);
		_exit(0);
	}
	waitpid(child, &st, 0);
	shop_count(1, 1);
	tel_emit_flush();
	shop_read_memory(memory, tel_emit_memory_used(s), &l);
	ok(l.numbers == 2 && l.next[1] == 2 && l.lost == 0,
	    "a child writes into no ring of its parent");
	ok(tel_control_other(path, "+Stock") == 0,
	    "nor into the page that others control it by");
	tel_emit_close();
	unlink(path);
}

static sigset_t forks_with;

static void
before_fork(void)
{
	pthread_sigmask(SIG_SETMASK, NULL, &forks_with);
}

/* A handler in a child must not emit before it has rings of its own. */
static void
test_fork_signals(void)
{
	unsigned blocked = 0, left = 0;
	sigset_t now;
	int st;

	start(NULL);
	const pid_t child = fork();
	pthread_sigmask(SIG_SETMASK, NULL, &now);
	for (int i = 1; i < SIGSYS; i++) {
		blocked += sigismember(&forks_with, i) == 1;
		left += sigismember(&now, i) == 1;
	}
	if (child == 0)
		_exit(left > 0);
	waitpid(child, &st, 0);
	/* all but SIGKILL and SIGSTOP */
	is_u64(blocked, SIGSYS - 3, "signals are blocked for a fork");
	ok(left == 0 && st == 0, "and neither before nor behind it");
	tel_emit_close();
}

/* A ring file takes the place of another file, but never of a device. */
static void
test_ring_device(void)
{
	tel_emit_options o = { NULL, 65536, 16, NULL, 0, TEL_EMIT_NO_THREAD,
		0 };
	const char *path = shop_path("pipe");
	struct tel__emit_page page;
	struct stat st;
	int fd;

	ok(mkfifo(path, 0600) == 0, "a pipe is made");
	o.ring_file = path;
	errno = 0;
	ok(tel_emit_open(&o, &tel_list_SHOP) != 0 && errno == EEXIST,
	    "a ring file that is a pipe is refused");
	ok(stat(path, &st) == 0 && S_ISFIFO(st.st_mode), "and remains");
	unlink(path);
	/* others map the file, too */
	ok(tel_emit_open(&o, &tel_list_SHOP) == 0 &&
	        tel_control_text("all") == 0,
	    "a ring file");
	fd = open(path, O_RDONLY);
	ok(pread(fd, &page, sizeof(page), 0) == (ssize_t)sizeof(page) &&
	        page.record != 0,
	    "its page says what is recorded");
	tel_emit_close();
	ok(pread(fd, &page, sizeof(page), 0) == (ssize_t)sizeof(page) &&
	        page.record == 0,
	    "and, once it is closed, that nothing is");
	close(fd);
	unlink(path);
}

/* ---------------------------------------------------------- disks, pipes */

static void
test_full_disk(void)
{
	struct rlimit limit = { 20000, 20000 };
	const char *path = shop_path("full");
	tel_emit_sink *s, *full;
	struct shop_log l;
	pid_t child;
	int st, i;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		/* a file may not grow: EFBIG, and SIGXFSZ */
		setrlimit(RLIMIT_FSIZE, &limit);
		start(NULL);
		s = tel_emit_to_file(path, ~0u, 0);
		for (i = 0; i < 300000; i++) {
			shop_count(2, (uint64_t)i);
			if (i % 5000 == 0)
				tel_emit_flush();
		}
		tel_emit_flush();
		_exit(tel_emit_sink_lost(s) > 0 ? 0 : 3);
	}
	waitpid(child, &st, 0);
	is_u64((uint64_t)st, 0, "a full disk kills nobody, and is counted");
	shop_read_file(path, &l);
	ok(l.numbers > 0 && l.torn == 0, "what was written before is whole");
	unlink(path);
	start(NULL);
	full = tel_emit_to_file("/dev/full", ~0u, 0);
	for (i = 0; i < 1000; i++)
		shop_count(2, (uint64_t)i);
	tel_emit_flush();
	ok(tel_emit_sink_lost(full) >= 1000, "/dev/full: all is lost");
	tel_emit_close();
}

static void
test_pipes(void)
{
	tel_emit_options o = { NULL, 0, 0, NULL, 0, TEL_EMIT_NO_THREAD, 0 };
	const char *path = shop_path("pipe");
	struct shop_log l;
	tel_emit_sink *s;
	const time_t begun = time(NULL);
	uint64_t known, seconds;
	int fds[2], i, k;

	start(&o);
	if (pipe(fds) != 0)
		return;
	s = tel_emit_to_fd(fds[1], ~0u, 0);
	/* nobody reads; a pipe takes 64 KiB, and a sink holds 1 MiB */
	for (k = 0; k < 400; k++) {
		for (i = 0; i < 1000; i++)
			shop_count(4, (uint64_t)(k * 1000 + i));
		tel_emit_flush();
	}
	ok(tel_emit_sink_lost(s) > 0, "a pipe that nobody reads blocks nobody");
	if (fork() == 0) {
		close(fds[1]);
		shop_save(fds[0], path);
		_exit(0);
	}
	close(fds[0]);
	for (i = 0; i < 3000 && k < 1000; i++) {
		tel_emit_flush();
		usleep(100);
	}
	shop_count(4, 400000);
	tel_emit_sink_close(s);
	close(fds[1]);
	wait(NULL);
	shop_read_file(path, &l);
	/* of events of the clock, one a second, some may be among them */
	known = l.numbers + l.lost;
	seconds = (uint64_t)(time(NULL) - begun) + 1;
	ok(known >= 400001 && known <= 400001 + seconds,
	    "what it lost is counted in place");
	is_u64(l.torn + l.damaged, 0, "and the rest is whole");
	unlink(path);
	/* a pipe without a reader: no SIGPIPE */
	if (pipe(fds) != 0)
		return;
	s = tel_emit_to_fd(fds[1], ~0u, 0);
	close(fds[0]);
	shop_count(4, 0);
	tel_emit_flush();
	ok(tel_emit_sink_lost(s) > 0,
	    "a pipe whose reader is gone kills nobody");
	tel_emit_close();
	close(fds[1]);
}

int
main(void)
{
	/* called behind that of the library, which is registered later */
	pthread_atfork(before_fork, NULL, NULL);
	test_threads();
	test_many_threads();
	test_no_ring();
	test_thread_names();
	test_signals();
	test_control_signal();
	/* in a child, its allocator may be locked by a thread of the parent */
#ifdef __SANITIZE_ADDRESS__
	(void)test_forks;
#else
	test_forks();
#endif
	test_fork_ring();
	test_fork_signals();
	test_ring_device();
	test_full_disk();
	test_pipes();
	return done();
}
