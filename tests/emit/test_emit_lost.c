/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libtel-emit counts what it loses: written and lost are what was emitted,
 * whoever overwrites what, and whatever a full disk takes.
 */
#define _GNU_SOURCE
#include "shop.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

TEL_EVENTS_DEFINE(SHOP, "shop", 1, 0, 0)

#define WHOLE (getenv("TEST_WHOLE") != NULL)
#define SLOW (getenv("TEST_SLOW") != NULL)
#define THREADS_MAX 64u

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

static uint64_t per_thread;

static void *
count_up(void *arg)
{
	const uint32_t who = (uint32_t)(uintptr_t)arg;
	uint64_t i;

	for (i = 0; i < per_thread; i++)
		shop_count(who, i);
	return NULL;
}

/* The drain is slower than the threads, which overwrite their rings. */
static void
test_threads(const tel_emit_options *o, unsigned n, uint64_t each)
{
	const char *path = shop_path("threads");
	pthread_t t[THREADS_MAX];
	struct shop_log l;
	uint64_t lost;
	uintptr_t i;

	per_thread = each;
	start(o);
	tel_emit_to_file(path, ~0u, 0);
	for (i = 0; i < n; i++)
		pthread_create(&t[i], NULL, count_up, (void *)i);
	for (i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	tel_emit_close();
	lost = tel_emit_lost();
	shop_read_file(path, &l);
	ok(l.numbers + lost == n * each && l.lost == lost && l.torn == 0,
	    "%u threads%s: %llu written, %llu lost, of %llu", n,
	    o == NULL ? ", default options" : "", (unsigned long long)l.numbers,
	    (unsigned long long)lost, (unsigned long long)(n * each));
	unlink(path);
}

/* The count of a ring has 24 bits; more are overwritten at once. */
static void
test_wraps(void)
{
	tel_emit_options o = { NULL, 65536, 0, NULL, 0, TEL_EMIT_NO_THREAD, 0 };
	static unsigned char memory[1 << 20];
	const uint64_t n = ((uint64_t)1 << 24) + 100000;
	struct shop_log l;
	tel_emit_sink *s;
	uint64_t i;

	start(&o);
	s = tel_emit_to_memory(memory, sizeof(memory), ~0u);
	for (i = 0; i < n; i++)
		TEL_EVENT0(Shut);
	shop_count(1, 0);
	tel_emit_flush();
	shop_read_memory(memory, tel_emit_memory_used(s), &l);
	/* with the event of the flush, the time of day */
	is_u64(l.events - 2 + tel_emit_lost(), n, "2^24 events and more");
	tel_emit_close();
}

/* Events that were begun, and never completed: as by a thread that ended. */
static void
test_incomplete(void)
{
	tel_emit_options o = { NULL, 65536, 0, NULL, 0, TEL_EMIT_NO_THREAD, 0 };
	static unsigned char memory[65536];
	static const unsigned holes[] = { 1, 2, 7, 100 };
	struct shop_log l;
	tel_emit_sink *s;
	unsigned i, k;
	uint64_t n;

	for (i = 0; i < sizeof(holes) / sizeof(*holes); i++) {
		start(&o);
		s = tel_emit_to_memory(memory, sizeof(memory), ~0u);
		for (n = 0; n < 10; n++)
			shop_count(1, n);
		for (k = 0; k < holes[i]; k++)
			(void)tel__emit_reserve(TEL_KIND_Count, 5, 40);
		for (; n < 20; n++)
			shop_count(1, n);
		tel_emit_flush();
		shop_read_memory(memory, tel_emit_memory_used(s), &l);
		is_u64(l.numbers, 10, "incomplete events are waited for");
		for (k = 0; k < 300 && tel_emit_lost() == 0; k++)
			tel_emit_flush();
		shop_read_memory(memory, tel_emit_memory_used(s), &l);
		is_u64(l.numbers, 20, "but not for ever");
		tel_emit_close();
		is_u64(tel_emit_lost(), holes[i], "%u of them are lost",
		    holes[i]);
	}
}

/* An event of a type that is not registered is in no log. */
static void
test_unregistered(void)
{
	tel_emit_options o = { NULL, 65536, 0, NULL, 0, TEL_EMIT_NO_THREAD, 0 };
	const char *path = shop_path("none");
	struct tel__emit_open open;
	struct shop_log l;

	start(&o);
	tel_emit_to_file(path, ~0u, 0);
	shop_count(1, 0);
	open = tel__emit_reserve(TEL_KIND_Count, 0x77, 40);
	/* a clock that takes a call */
	if (open.words == NULL)
		open = tel__emit_slow(open, TEL_KIND_Count, 0x77, 40);
	tel__emit_publish(open);
	tel_emit_close();
	shop_read_file(path, &l);
	ok(tel_emit_lost() == 1 && l.lost == 1 && l.numbers == 1,
	    "an event of an unknown type counts as lost");
	unlink(path);
}

/* ----------------------------------------------------------------- kills */

static volatile uint64_t *begun, *finished; /* by each thread; shared */
static volatile uint64_t *accounted; /* at least these are in the log; shared */

static void *
count_on(void *arg)
{
	const uint32_t who = (uint32_t)(uintptr_t)arg;
	uint64_t i;

	for (i = 0;; i++) {
		begun[who] = i + 1;
		shop_count(who, i);
		__atomic_store_n(&finished[who], i + 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/*
 * The first thread flushes as well.  What a drain has found lost is in a block
 * of the next one at the latest, if that has events.
 */
static void
count_and_flush(unsigned threads)
{
	uint64_t i, before = 0, sum;
	unsigned k;

	for (i = 0;; i++) {
		if (i % 1000 == 999) {
			for (k = 0, sum = 0; k < threads; k++)
				sum += __atomic_load_n(&finished[k],
				    __ATOMIC_RELAXED);
			if (tel_emit_flush() != 0)
				_exit(1);
			*accounted = before;
			before = sum;
		}
		begun[0] = i + 1;
		shop_count(0, i);
		finished[0] = i + 1;
	}
}

/*
 * A program is killed: its log does not claim losses that did not happen, and
 * claims all of those before the last drains.
 */
static void
test_kill(unsigned threads)
{
	tel_emit_options o = { NULL, 65536, 0, NULL, 0, 0, 1 };
	const char *path = shop_path("killed");
	uint64_t most = 0;
	struct shop_log l;
	pthread_t t;
	uintptr_t i;
	pid_t pid;

	memset((void *)(uintptr_t)begun, 0, 4096);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		start(&o);
		tel_emit_to_file(path, ~0u, 0);
		for (i = 1; i < threads; i++)
			pthread_create(&t, NULL, count_on, (void *)i);
		count_and_flush(threads);
	}
	while (finished[threads - 1] < 50000 || *accounted < 20000)
		usleep(1000);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	for (i = 0; i < threads; i++)
		most += begun[i];
	shop_read_file(path, &l);
	ok(l.torn == 0 && l.numbers + l.lost <= most &&
	        l.numbers + l.lost >= *accounted,
	    "killed with %u threads: %llu written, %llu lost, of %llu to %llu",
	    threads, (unsigned long long)l.numbers, (unsigned long long)l.lost,
	    (unsigned long long)*accounted, (unsigned long long)most);
	unlink(path);
}

/* --------------------------------------------------------- full disks */

/* What a program sees whose file may not grow beyond 20,000 bytes, or is full. */
static void
fill_disk(const char *path, int fd)
{
	const struct rlimit limit = { 20000, 20000 };
	tel_emit_options o = { NULL, 0, 0, NULL, 0, TEL_EMIT_BLOCK, 0 };
	uint64_t result[4] = { 0, 0, 0, 0 }, i;

	setrlimit(RLIMIT_FSIZE, &limit);
	start(&o);
	tel_emit_to_file(path, ~0u, TEL_SINK_WAIT);
	for (i = 0; i < 20000; i++) {
		shop_count(2, i);
		if (i % 256 == 0 && tel_emit_flush() != 0)
			result[0] = (uint64_t)errno;
	}
	if (tel_emit_flush() != 0)
		result[0] = (uint64_t)errno;
	shop_count(2, i);
	result[1] = tel_emit_finish() != 0 ? (uint64_t)errno : 0;
	result[2] = tel_emit_lost();
	errno = 0;
	result[3] = tel_emit_finish() != 0 ? (uint64_t)errno : 0;
	if (write(fd, result, sizeof(result)) != (ssize_t)sizeof(result))
		_exit(1);
	_exit(0);
}

static void
test_full_disk(const char *path, int error)
{
	uint64_t result[4] = { 9, 9, 9, 9 };
	struct shop_log l;
	pid_t pid;
	int fds[2];

	if (pipe(fds) != 0)
		return;
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		fill_disk(path, fds[1]);
	close(fds[1]);
	is_u64((uint64_t)read(fds[0], result, sizeof(result)), sizeof(result),
	    "a disk becomes full");
	close(fds[0]);
	waitpid(pid, NULL, 0);
	is_u64(result[0], (uint64_t)error, "a flush fails");
	is_u64(result[1], (uint64_t)error, "and so does the end");
	is_u64(result[3], EBADF, "which is there once");
	memset(&l, 0, sizeof(l));
	if (error == EFBIG)
		shop_read_file(path, &l);
	/* with the times of day, which the drain emits once a second */
	ok((l.numbers > 0) == (error == EFBIG) && l.torn == 0 &&
	        l.events + result[2] > 20001 && l.events + result[2] < 20120,
	    "%llu are written, and %llu lost still after the end",
	    (unsigned long long)l.numbers, (unsigned long long)result[2]);
}

static int
refuse(void *arg, const void *bytes, size_t size)
{
	(void)bytes;
	(void)size;
	return *(int *)arg;
}

/* What fails is returned once, by the next call that returns something. */
static void
test_errors(void)
{
	tel_emit_options o = { NULL, 65536, 0, NULL, 0, TEL_EMIT_NO_THREAD, 0 };
	unsigned char memory[64];
	int refuses = -1, fds[2];
	tel_emit_sink *s, *t;

	if (pipe(fds) != 0)
		return;
	start(&o);
	s = tel_emit_to_function(refuse, &refuses, ~0u);
	shop_count(1, 0);
	ok(tel_emit_flush() != 0 && errno == EIO, "a function fails");
	refuses = 0;
	shop_count(1, 1);
	ok(tel_emit_flush() == 0, "and does not");
	refuses = -1;
	shop_count(1, 2);
	ok(tel_emit_sink_finish(s) != 0 && errno == EIO, "a sink's end fails");
	ok(tel_emit_flush() == 0, "which was returned");
	t = tel_emit_to_memory(memory, sizeof(memory), ~0u);
	shop_count(1, 3);
	tel_emit_sink_close(t);
	ok(tel_emit_flush() != 0 && errno == ENOBUFS,
	    "what a void end does not return, the next flush does");
	close(fds[0]);
	(void)tel_emit_to_fd(fds[1], ~0u, 0);
	shop_count(1, 4);
	ok(tel_emit_flush() != 0 && errno == EPIPE, "no reader");
	ok(tel_emit_sink_finish(NULL) != 0 && errno == EBADF, "no sink");
	shop_count(1, 5);
	ok(tel_emit_finish() != 0 && errno == EPIPE, "at the end");
	/* with the times of day, which the drain emits once a second */
	ok(tel_emit_lost() > 5 && tel_emit_lost() < 125,
	    "all losses of all sinks: %d", (int)tel_emit_lost());
	tel_emit_close();
	close(fds[1]);
}

/* What a sink was given; each time, a thread without a ring emits. */
static struct {
	unsigned char bytes[65536];
	size_t used;
} given;

static int
lose_more(void *arg, const void *bytes, size_t size)
{
	pthread_t t;

	(void)arg;
	if (size > sizeof(given.bytes) - given.used ||
	    pthread_create(&t, NULL, count_up, NULL) != 0)
		return -1;
	pthread_join(t, NULL);
	memcpy(given.bytes + given.used, bytes, size);
	given.used += size;
	return 0;
}

/* Those that are lost while a block is written are in the next one. */
static void
test_meanwhile(void)
{
	tel_emit_options o = { NULL, 65536, 1, NULL, 0, TEL_EMIT_NO_THREAD, 0 };
	struct shop_log l;
	tel_emit_sink *s;

	per_thread = 7;
	start(&o);
	s = tel_emit_to_function(lose_more, NULL, ~0u);
	for (uint64_t i = 0; i < 3; i++) {
		shop_count(1, i);
		tel_emit_flush();
	}
	per_thread = 0;
	tel_emit_sink_close(s);
	uint64_t lost = tel_emit_lost();
	tel_emit_close();
	shop_read_memory(given.bytes, given.used, &l);
	ok(l.numbers == 3 && l.lost == lost && lost > 20,
	    "%llu lost while others were written, %llu in the log",
	    (unsigned long long)lost, (unsigned long long)l.lost);
}

/* --------------------------------------------------------------- forgery */

/* The rings can be written by others; counts remain possible ones. */
static void
forge(struct tel__emit_ring *ring, unsigned how)
{
	struct tel__emit_page *page = &tel__emit_shared.page;
	unsigned i;

	switch (how) {
	case 0: ring->head ^= (uint64_t)0xFFFFFF << 40; break;
	case 1: ring->head -= (uint64_t)1 << 30; break;
	case 2: ring->events = UINT64_MAX; break;
	case 3: ring->events = (uint64_t)1 << 63; break;
	case 4:
		ring->start_events = UINT64_MAX;
		ring->claim++;
		break;
	case 5:
		for (i = 0; i < TEL__RING_MARKS; i++)
			ring->marks[i] = ring->head ^ (uint64_t)0xABCDEF << 40;
		ring->head += 0x20000;
		break;
	case 6: ring->kind = UINT32_MAX; break;
	case 7:
		ring->start -= (uint64_t)1 << 40;
		ring->claim += 2;
		break;
	case 8: memset(page->dropped, 0xFF, sizeof(page->dropped)); break;
	case 9: page->ring_stride = page->ring_bytes = UINT64_MAX; break;
	case 10: page->rings_used = page->ring_count = UINT32_MAX; break;
	case 11: ring->mask = UINT64_MAX; break;
	default:
		memset((char *)ring + TEL__RING_HEADER, 0xFF, 65536);
		ring->head += 200;
	}
}

static void
test_forged(void)
{
	tel_emit_options o = { NULL, 65536, 4, NULL, 0, TEL_EMIT_NO_THREAD, 0 };
	static unsigned char memory[65536];
	uint64_t before, took;
	struct timespec t;
	struct shop_log l;
	tel_emit_sink *s;
	unsigned how;
	int i;

	for (how = 0; how <= 12; how++) {
		clock_gettime(CLOCK_MONOTONIC, &t);
		took = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
		start(&o);
		s = tel_emit_to_memory(memory, sizeof(memory), ~0u);
		for (i = 0; i < 100; i++)
			shop_count(1, (uint64_t)i);
		tel_emit_flush();
		forge(tel__emit_self.ring[TEL_KIND_Count], how);
		for (i = 0; i < 3; i++)
			tel_emit_flush();
		before = tel_emit_lost();
		shop_read_memory(memory, tel_emit_memory_used(s), &l);
		tel__emit_self.ring[TEL_KIND_Count]->mask = 8191;
		tel_emit_close();
		clock_gettime(CLOCK_MONOTONIC, &t);
		took = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec -
		    took;
		/* an event takes more than a nanosecond; there are 4 rings */
		ok(l.lost <= before && before <= tel_emit_lost() &&
		        tel_emit_lost() / 4 <= took && l.numbers <= 301,
		    "forged rings, %u: %llu lost", how,
		    (unsigned long long)tel_emit_lost());
	}
}

int
main(void)
{
	static const unsigned threads[] = { 1, 2, 3, 4, 8, 16, 64 };
	tel_emit_options small = { NULL, 65536, 0, NULL, 0, 0, 1 };
	const char *path = shop_path("full");
	const uint64_t all = WHOLE ? 6400000 : SLOW ? 64000 : 960000;
	unsigned i;

	begun = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (begun == MAP_FAILED)
		return 1;
	finished = begun + 256;
	accounted = begun + 511;
	for (i = 0; i < sizeof(threads) / sizeof(*threads); i++) {
		test_threads(&small, threads[i], all / threads[i]);
		test_threads(NULL, threads[i], all / threads[i]);
	}
	if (!SLOW)
		test_wraps();
	test_incomplete();
	test_unregistered();
	for (i = 1; i <= 64; i *= 4)
		test_kill(i);
	test_full_disk(path, EFBIG);
	unlink(path);
	test_full_disk("/dev/full", ENOSPC);
	test_errors();
	test_meanwhile();
	test_forged();
	return done();
}
