/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libtel-emit: sockets that come and go, sinks that are waited for, what is
 * recorded, and processes that are made without fork(2).
 */
#define _GNU_SOURCE
#include "shop.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

TEL_EVENTS_DEFINE(SHOP, "shop", 1, 0, 0)

/* The longest that something is waited for: machines may be slow. */
#define PATIENCE 120

static int
start(const char *ring, unsigned flags)
{
	tel_emit_options o = { NULL, 65536, 16, NULL, 0, 0, 0 };

	o.ring_file = ring;
	o.flags = flags;
	if (tel_emit_open(&o, &tel_list_SHOP) != 0) {
		diag("open: %s, %s", strerror(errno), tel_emit_error());
		return -1;
	}
	return tel_control_text("all");
}

/* --------------------------------------------------------------- sockets */

/* A socket that listens at a path, or on a free port of TCP. */
static int
listen_at(const char *path, char *address, size_t size)
{
	struct sockaddr_un local = { .sun_family = AF_UNIX };
	struct sockaddr_in in = { .sin_family = AF_INET };
	socklen_t n = sizeof(in);
	int fd, st;

	if (path != NULL) {
		fd = socket(AF_UNIX, SOCK_STREAM, 0);
		(void)unlink(path);
		snprintf(local.sun_path, sizeof(local.sun_path), "%s", path);
		st = bind(fd, (struct sockaddr *)(void *)&local, sizeof(local));
		snprintf(address, size, "unix:%s", path);
	} else {
		fd = socket(AF_INET, SOCK_STREAM, 0);
		in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		st = bind(fd, (struct sockaddr *)(void *)&in, sizeof(in));
		if (st == 0)
			st =
			    getsockname(fd, (struct sockaddr *)(void *)&in, &n);
		snprintf(address, size, "tcp:127.0.0.1:%u",
		    (unsigned)ntohs(in.sin_port));
	}
	if (st != 0 || listen(fd, 4) != 0)
		diag("%s: %s", address, strerror(errno));
	return fd;
}

/* Flushes until somebody connects to fd. */
static int
await_peer(int fd)
{
	struct pollfd p = { fd, POLLIN, 0 };
	const time_t end = time(NULL) + PATIENCE;

	while (time(NULL) < end) {
		tel_emit_flush();
		if (poll(&p, 1, 10) > 0)
			return accept(fd, NULL, NULL);
	}
	return -1;
}

static uint64_t
sinks_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The descriptor that is opened next. */
static int
sinks_next_fd(void)
{
	int fd = dup(STDERR_FILENO);

	close(fd);
	return fd;
}

/* A sink whose peer comes late, goes, and is followed by another one. */
static void
test_reconnect(const char *path, const char *name)
{
	const char *log = shop_path("log");
	struct shop_log l;
	char address[600];
	tel_emit_sink *s;
	int fd, peer, next = sinks_next_fd();
	uint64_t i = 0, tried;
	time_t end;

	(void)start(NULL, TEL_EMIT_NO_THREAD);
	fd = listen_at(path, address, sizeof(address));
	if (path != NULL) {
		/* it is not there yet */
		close(fd);
		unlink(path);
	}
	tried = sinks_now_ns();
	s = tel_emit_to_socket(address, ~0u, 0);
	ok(s != NULL, "%s: a socket", name);
	shop_count(6, i++);
	tel_emit_flush();
	if (path != NULL) {
		fd = listen_at(path, address, sizeof(address));
		tel_emit_flush();
		ok(poll(&(struct pollfd){ fd, POLLIN, 0 }, 1, 0) == 0 ||
		        sinks_now_ns() - tried >= 250000000,
		    "%s: not tried again at once", name);
	}
	peer = await_peer(fd);
	ok(peer >= 0, "%s: it is tried until there is one", name);
	close(peer);
	/* events until the next peer are lost */
	end = time(NULL) + PATIENCE;
	while (tel_emit_sink_lost(s) < 2 && time(NULL) < end) {
		shop_count(6, i++);
		tel_emit_flush();
	}
	peer = await_peer(fd);
	/* it may have to hear yet that the connection is made */
	while (tel_emit_flush() == 0 && time(NULL) < end) {
		const uint64_t before = tel_emit_sink_lost(s);

		shop_count(6, i++);
		tel_emit_flush();
		if (tel_emit_sink_lost(s) == before)
			break;
	}
	shop_count(6, i++);
	tel_emit_sink_close(s);
	shop_save(peer, log);
	close(peer);
	close(fd);
	tel_emit_close();
	ok(shop_read_file(log, &l) == TEL_END && l.damaged == 0 &&
	        l.numbers > 0,
	    "%s: who comes next gets a stream from its start", name);
	is_u64(l.next[6], i, "%s: to its end", name);
	ok(l.lost > 0, "%s: that says what was lost between: %d", name,
	    (int)l.lost);
	is_u64((uint64_t)sinks_next_fd(), (uint64_t)next, "%s: all is closed",
	    name);
	unlink(log);
	if (path != NULL)
		unlink(path);
}

/* What telcat -u does with the path of a socket, in a child. */
static void
read_socket(const char *path, volatile int *events)
{
	tel_reader *r = tel_reader_new();
	struct shop_log l;
	const tel_event *ev;
	int st = 1;

	memset(&l, 0, sizeof(l));
	if (tel_reader_open_file(r, path) == TEL_OK &&
	    tel_reader_next(r, &ev) == TEL_OK) {
		*events = 1;
		shop_event(&l, ev);
		st = shop_read_on(r, &l) != TEL_END || l.damaged != 0 ||
		    l.missing != 0 || l.numbers < 5;
	}
	_exit(st);
}

static void
test_serve(void)
{
	const char *path = shop_path("sock"), *log = shop_path("log");
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	volatile int *events = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const time_t end = time(NULL) + PATIENCE;
	struct shop_log l;
	uint64_t i = 0;
	int peer, st;
	pid_t child;

	(void)start(NULL, TEL_EMIT_NO_THREAD);
	ok(tel_emit_serve(path, ~0u, TEL_SINK_WAIT) != NULL,
	    "a program can be connected to");
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	peer = socket(AF_UNIX, SOCK_STREAM, 0);
	ok(connect(peer, (struct sockaddr *)(void *)&a, sizeof(a)) == 0,
	    "which somebody does");
	tel_emit_flush();
	for (; i < 10; i++)
		shop_count(6, i);
	tel_emit_flush();
	fflush(stdout);
	child = fork();
	if (child == 0)
		read_socket(path, events);
	while (*events == 0 && time(NULL) < end &&
	    waitpid(child, &st, WNOHANG) == 0) {
		shop_count(6, i++);
		tel_emit_flush();
		usleep(20000); /* the socket takes some 70 of these */
	}
	for (st = 0; st < 5; st++)
		shop_count(6, i++);
	tel_emit_close();
	waitpid(child, &st, 0);
	is_u64((uint64_t)st, 0, "a reader may come later, by the path alone");
	shop_save(peer, log);
	close(peer);
	shop_read_file(log, &l);
	is_u64(l.numbers, i, "the first one has all events");
	is_u64(l.damaged, 0, "and an end");
	unlink(log);
	unlink(path);
	munmap((void *)(uintptr_t)events, 4096);
}

/* ------------------------------------------------------------------ pipes */

struct slow {
	int fd;
	const char *path;
};

static void *
save_slowly(void *arg)
{
	const struct slow *slow = arg;

	usleep(100000);
	shop_save(slow->fd, slow->path);
	return NULL;
}

/* A sink that is waited for loses nothing, however slow its reader is. */
static void
test_wait(void)
{
	struct slow slow = { -1, shop_path("slow") };
	const uint64_t n = 200000;
	struct shop_log l;
	tel_emit_sink *s;
	pthread_t t;
	uint64_t i;
	int fds[2];

	if (pipe(fds) != 0)
		return;
	(void)start(NULL, TEL_EMIT_BLOCK);
	slow.fd = fds[0];
	s = tel_emit_to_fd(fds[1], ~0u, TEL_SINK_WAIT);
	pthread_create(&t, NULL, save_slowly, &slow);
	for (i = 0; i < n; i++)
		TEL_EVENT3(Sale, &i, (unsigned)(i * 2654435761u),
		    "somebody with a name of some length");
	shop_count(1, 0);
	tel_emit_flush();
	is_u64(tel_emit_sink_lost(s), 0, "nothing is lost to a slow reader");
	tel_emit_sink_close(s);
	close(fds[1]);
	pthread_join(t, NULL);
	close(fds[0]);
	tel_emit_close();
	ok(shop_read_file(slow.path, &l) == TEL_END && l.damaged == 0,
	    "its log is whole");
	ok(l.events > n && l.next[1] == 1 && l.lost == 0, "with all events: %d",
	    (int)l.events);
	unlink(slow.path);
}

/* --------------------------------------------------------------- recording */

/* How many numbers are in the rings, by a dump of them. */
static uint64_t
in_rings(void)
{
	const char *path = shop_path("dump");
	FILE *f = fopen(path, "w");
	struct shop_log l;

	tel_emit_dump(fileno(f));
	fclose(f);
	shop_read_file(path, &l);
	unlink(path);
	return l.numbers;
}

static void
test_record(void)
{
	(void)start(NULL, TEL_EMIT_NO_THREAD);
	tel_control_reset(~0u);
	shop_count(1, 0);
	is_u64(in_rings(), 1, "what is off is recorded still");
	is_u64(tel_control_record(1u << TEL_KIND_Order), 0x7FFFFFFF,
	    "all was recorded");
	shop_count(1, 1);
	is_u64(in_rings(), 1, "until it is not to be");
	is_u64(tel_control_record(~0u), 1u << TEL_KIND_Order,
	    "it says what was");
	shop_count(1, 2);
	is_u64(in_rings(), 2, "and is again");
	tel_emit_close();
}

static void
test_lean(void)
{
	char ring[512];
	uint64_t i = 0;

	snprintf(ring, sizeof(ring), "%s", shop_path("lean"));
	setenv("TEL_CONTROL", "Order", 1);
	(void)start(ring, TEL_EMIT_NO_THREAD | TEL_EMIT_LEAN);
	tel_control_reset(~0u);
	shop_count(1, i++);
	is_u64(in_rings(), 0, "lean: what is off is not recorded");
	tel_control_set(1u << TEL_KIND_Count);
	shop_count(1, i++);
	is_u64(in_rings(), 1, "lean: what is on is");
	tel_control_flip(1u << TEL_KIND_Count);
	shop_count(1, i++);
	tel_control_text("Count");
	shop_count(1, i++);
	is_u64(in_rings(), 2, "lean: at once");
	ok(tel_control_other(ring, "-Count") == 0, "lean: by others, too");
	shop_count(1, i++);
	is_u64(in_rings(), 2, "lean: which is seen");
	tel_emit_close();
	unsetenv("TEL_CONTROL");
	unlink(ring);
}

/* --------------------------------------------------------------- processes */

/* A child without the handlers of fork(2): its rings are its parent's. */
static void __attribute__((unused)) test_raw_fork(void)
{
	const char *pattern = shop_path("raw.%p"), *ring = shop_path("ring");
	struct shop_log l;
	char path[512];
	pid_t child;
	uint64_t i;
	int st;

	(void)start(ring, 0);
	(void)tel_emit_to_file(pattern, ~0u, 0);
	shop_count(1, 0);
	fflush(stdout);
	child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (child == 0) {
		tel_emit_after_fork();
		for (i = 0; i < 1000; i++)
			shop_count(2, i);
		tel_emit_close();
		_exit(0);
	}
	waitpid(child, &st, 0);
	shop_count(1, 1);
	tel_emit_close();
	snprintf(path, sizeof(path), "%.*s%ld", (int)strlen(pattern) - 2,
	    pattern, (long)child);
	shop_read_file(path, &l);
	ok(st == 0 && l.numbers == 1000 && l.next[2] == 1000,
	    "a raw clone writes a log of its own");
	unlink(path);
	snprintf(path, sizeof(path), "%.*s%ld", (int)strlen(pattern) - 2,
	    pattern, (long)getpid());
	shop_read_file(path, &l);
	ok(l.numbers == 2 && l.next[1] == 2 && l.missing + l.torn == 0,
	    "and nothing into its parent's");
	unlink(path);
	shop_read_file(ring, &l);
	ok(l.numbers == 2 && l.torn == 0, "nor into its rings");
	unlink(ring);
}

static int
in_same_memory(void *arg)
{
	uint64_t i;

	(void)arg;
	for (i = 0; i < 1000; i++)
		shop_count(3, i);
	return 0;
}

/* One that shares its parent's memory, which waits: as vfork(2) does. */
static void __attribute__((unused)) test_same_memory(void)
{
	static _Alignas(16) char stack[65536];
	const char *path = shop_path("same");
	struct shop_log l;
	pid_t child;
	int st = -1;

	(void)start(NULL, TEL_EMIT_NO_THREAD);
	(void)tel_emit_to_file(path, ~0u, 0);
	shop_count(1, 0);
	child = clone(in_same_memory, stack + sizeof(stack),
	    CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
	if (child > 0)
		waitpid(child, &st, 0);
	shop_count(1, 1);
	tel_emit_close();
	shop_read_file(path, &l);
	ok(st == 0 && l.next[3] == 1000 && l.next[1] == 2 &&
	        l.missing + l.torn + l.lost == 0,
	    "a clone in the same memory emits as its parent");
	unlink(path);
}

int
main(void)
{
	char path[512];

	snprintf(path, sizeof(path), "%s", shop_path("sock"));
	test_reconnect(path, "Unix");
	test_reconnect(NULL, "TCP");
	test_serve();
	test_wait();
	test_record();
	test_lean();
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	/* sanitizers and valgrind do not know of such processes */
	if (getenv("TEST_SLOW") == NULL) {
		test_raw_fork();
		test_same_memory();
	}
#endif
	return done();
}
