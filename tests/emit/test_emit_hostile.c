/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libtel-emit in programs that close what is not theirs, cancel threads, fork
 * at any time, and fill disks.  What may hang or crash runs in a child.
 */
#define _GNU_SOURCE
#include "shop.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "tel_class.h"

TEL_EVENTS_DEFINE(SHOP, "shop", 1, 0, 0)

static void
hostile_start(unsigned flags)
{
	tel_emit_options o = { 0 };

	o.flags = flags;
	if (tel_emit_open(&o, &tel_list_SHOP) != 0 ||
	    tel_control_text("all") != 0)
		diag("open: %s", strerror(errno));
}

/* The status of a function in a child, which has some seconds. */
static int
in_child(int (*function)(void))
{
	int st = -1;

	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		(void)alarm(20);
		_exit(function());
	}
	waitpid(child, &st, 0);
	return st;
}

/* ----------------------------------------------------------- descriptors */

static uint64_t
cpu_us(void)
{
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	return (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) *
	    1000000 +
	    (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

/* Closes all descriptors; other files get their numbers. */
static int
close_all(void)
{
	struct stat st;
	char path[8][600];
	int changed = 0, failed = 0;

	hostile_start(0);
	(void)tel_emit_to_file(shop_path("closed"), ~0u, 0);
	shop_count(1, 0);
	tel_emit_flush();
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
	uint64_t before = cpu_us();
	usleep(300000);
	failed |= cpu_us() - before > 150000;
	for (int i = 0; i < 8; i++) {
		snprintf(path[i], sizeof(path[i]), "%s%d", shop_path("user"),
		    i);
		failed |= open(path[i], O_RDWR | O_CREAT | O_TRUNC, 0600) < 0;
	}
	errno = 0;
	for (uint64_t i = 0; i < 100000; i++) {
		shop_count(1, i + 1);
		changed |= errno;
	}
	failed |= (changed != 0) << 1;
	failed |= (tel_emit_flush() == 0) << 2;
	tel_emit_close();
	for (int i = 0; i < 8; i++) {
		failed |= (stat(path[i], &st) != 0 || st.st_size != 0) << 3;
		failed |= (fcntl(3 + i, F_GETFD) < 0) << 4;
		unlink(path[i]);
	}
	unlink(shop_path("closed"));
	return failed;
}

/* ---------------------------------------------------------------- sinks */

#define RELAYED TEL_EMIT_COLUMNS_MAX
static uint64_t values[RELAYED], clocks[RELAYED];
static uint32_t shared[RELAYED];
static uint8_t order[RELAYED];

/* A block of numbers, which are never written in few bytes. */
static void
relay(int code)
{
	static uint64_t thread = 1, state = 1;
	const uint64_t *columns[] = { values, &thread };
	const tel_emit_part part = { (unsigned)code, RELAYED, 2, columns, NULL,
		0 };
	const tel_emit_columns all = { RELAYED, 1, 0, &part, RELAYED, order,
		clocks, shared, NULL, 0 };

	for (unsigned i = 0; i < RELAYED; i++) {
		values[i] = state = state * 6364136223846793005u + 1;
		clocks[i] = tel_emit_clock();
		shared[i] = 1;
	}
	(void)tel_emit_relay(&all);
}

/* The peer of a full socket goes; the next one gets a whole stream. */
static void
test_peer_goes(void)
{
	static const tel_emit_param param = { "U64", "v", "", "", "", 0 };
	const tel_emit_type type = { "Given", 0, 1, 0, "", &param, 1 };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *log = shop_path("peer");
	struct shop_log l;
	char name[200];
	int fd, peer, again, code;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s",
	    shop_path("s"));
	snprintf(name, sizeof(name), "unix:%s", address.sun_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(fd, (const struct sockaddr *)(const void *)&address,
	        sizeof(address)) != 0 ||
	    listen(fd, 4) != 0)
		return;
	for (again = 0; again < 2; again++) {
		hostile_start(TEL_EMIT_NO_THREAD);
		code = tel_emit_declare(&type);
		tel_emit_sink *s = tel_emit_to_socket(name, ~0u, 0);
		peer = accept(fd, NULL, NULL);
		/* it holds some blocks, or as many as it may */
		for (int i = 0; again ? tel_emit_sink_lost(s) == 0 : i < 6; i++)
			relay(code);
		close(peer);
		relay(code);
		relay(code);
		usleep(300000);
		tel_emit_flush();
		peer = accept(fd, NULL, NULL);
		tel_emit_flush();
		shop_count(6, 0);
		tel_emit_close();
		shop_save(peer, log);
		close(peer);
		int st = shop_read_file(log, &l);
		ok(st == TEL_END && l.damaged == 0 && l.numbers == 1,
		    "a new peer gets a whole stream: %d, %d", (int)l.damaged,
		    (int)l.numbers);
		unlink(log);
	}
	close(fd);
	unlink(address.sun_path);
}

static void
on_tick(int number)
{
	(void)number;
}

static void *
read_slowly(void *arg)
{
	static char bytes[4096];
	const int fd = *(int *)arg;

	usleep(200000);
	do
		usleep(1000);
	while (read(fd, bytes, sizeof(bytes)) > 0);
	return NULL;
}

/* A profiler's signals do not end the wait for a sink. */
static void
test_wait_signals(void)
{
	const struct itimerval often = { { 0, 500 }, { 0, 500 } };
	const struct itimerval never = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = on_tick,
		.sa_flags = SA_RESTART };
	sigset_t alarms;
	pthread_t t;
	int fds[2];

	if (pipe(fds) != 0)
		return;
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarms, NULL);
	pthread_create(&t, NULL, read_slowly, &fds[0]);
	pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
	hostile_start(TEL_EMIT_NO_THREAD);
	(void)tel_emit_to_fd(fds[1], ~0u, TEL_SINK_WAIT);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (uint64_t i = 0; i < 400000; i++) {
		shop_count(1, i);
		if (i % 2000 == 1999)
			tel_emit_flush();
	}
	int st = tel_emit_finish();
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_DFL);
	close(fds[1]);
	pthread_join(t, NULL);
	close(fds[0]);
	ok(st == 0 && tel_emit_lost() == 0,
	    "a sink is waited for whatever signals come");
}

static void
test_serve_file(void)
{
	const char *path = shop_path("precious");
	int fd = open(path, O_WRONLY | O_CREAT, 0600);

	close(fd);
	hostile_start(TEL_EMIT_NO_THREAD);
	ok(tel_emit_serve(path, ~0u, 0) == NULL && errno == EADDRINUSE &&
	        access(path, F_OK) == 0,
	    "a file is not replaced by a socket");
	tel_emit_close();
	unlink(path);
}

/* A function that emits more events than a ring has room for. */
static int
emit_more(void *arg, const void *bytes, size_t size)
{
	(void)arg;
	(void)bytes;
	(void)size;
	for (uint64_t i = 0; i < 20000; i++)
		shop_count(1, i);
	return 0;
}

static int
block_self(void)
{
	hostile_start(TEL_EMIT_BLOCK);
	(void)tel_emit_to_function(emit_more, NULL, ~0u);
	shop_count(2, 0);
	tel_emit_flush();
	return 0;
}

/* ------------------------------------------------------- forks, threads */

static int
close_parents(void)
{
	hostile_start(0);
	tel_emit_sink *s = tel_emit_to_file(shop_path("parent"), ~0u, 0);
	int st = -1;
	pid_t child = fork();
	if (child == 0) {
		shop_count(1, 0);
		int failed = tel_emit_sink_kinds(s, 1) == 0 ||
		    tel_emit_sink_lost(s) != 0 || tel_emit_memory_used(s) != 0;
		tel_emit_sink_close(s);
		_exit(failed || tel_emit_sink_finish(s) == 0 || errno != EBADF);
	}
	waitpid(child, &st, 0);
	shop_count(1, 0);
	st |= tel_emit_sink_finish(s);
	unlink(shop_path("parent"));
	return st != 0;
}

static sem_t entered, leave;

static int
wait_once(void *arg, const void *bytes, size_t size)
{
	static int once;

	(void)arg;
	(void)bytes;
	(void)size;
	if (!once++) {
		sem_post(&entered);
		sem_wait(&leave);
	}
	return 0;
}

static void *
dispose(void *c)
{
	tel_class_dispose(c);
	return NULL;
}

/* A process made without fork(3), while another thread has all locks. */
static int
fork_raw(void)
{
	tel_class_options options = { 0 };
	pthread_t t;
	int st = -1;

	hostile_start(TEL_EMIT_NO_THREAD);
	options.on_demand = 1;
	(void)tel_class_open(&options);
	tel_emit_class *c =
	    tel_class_create_growth(TEL_CLASS_ROOT, "a", "", TEL_CLASS_ENABLE);
	sem_init(&entered, 0, 0);
	sem_init(&leave, 0, 0);
	(void)tel_emit_to_function(wait_once, NULL, ~0u);
	pthread_create(&t, NULL, dispose, c);
	sem_wait(&entered);
	pid_t child = (pid_t)syscall(SYS_fork);
	if (child == 0) {
		(void)alarm(5);
		tel_emit_after_fork();
		_exit(tel_class_snapshot(TEL_CLASS_ROOT) != 0);
	}
	waitpid(child, &st, 0);
	sem_post(&leave);
	pthread_join(t, NULL);
	return st != 0;
}

static void *
flush_often(void *arg)
{
	for (uint64_t i = 0;; i++) {
		shop_count(1, i);
		tel_emit_flush();
		pthread_testcancel();
	}
	return arg;
}

static int
cancel(void)
{
	static char bytes[65536];
	pthread_t t;
	int fds[2];

	if (pipe(fds) != 0 || fcntl(fds[1], F_SETFL, O_NONBLOCK) != 0)
		return 1;
	while (write(fds[1], bytes, sizeof(bytes)) > 0)
		;
	hostile_start(0);
	(void)tel_emit_to_fd(fds[1], ~0u, TEL_SINK_WAIT);
	pthread_create(&t, NULL, flush_often, NULL);
	usleep(100000);
	pthread_cancel(t);
	pthread_join(t, NULL);
	close(fds[0]);
	tel_emit_close();
	return 0;
}

/* --------------------------------------------------------------- control */

static int
install_twice(void)
{
	hostile_start(0);
	tel_control_text("Stock");
	tel_control_signal(SIGUSR2);
	tel_control_signal(SIGUSR1);
	tel_control_signal(SIGUSR2);
	raise(SIGUSR2);
	return tel_control_read() != 0x7FFFFFFF;
}

static void
test_long_name(void)
{
	static const tel_emit_kind kind = { "AKindWithANameOfMoreThan23Bytes",
		9, "" };
	const tel_emit_list list = { "long", 1, 0, 0, &kind, 1, NULL, 0 };

	hostile_start(TEL_EMIT_NO_THREAD);
	(void)tel_emit_register(&list);
	ok(tel_control_text(kind.name) == 0 && tel_control_read() == 1u << 9,
	    "a kind with a long name has that name");
	tel_emit_close();
}

/* ----------------------------------------------------------------- disks */

static char disk[512]; /* a folder, which a child fills */

/* Rings in a file system that is full for a while.  77: there is none. */
static int
fill_disk(void)
{
	tel_emit_options o = { 0 };
	static char bytes[4096];
	char ring[600], fill[600];

	snprintf(ring, sizeof(ring), "%s/ring", disk);
	snprintf(fill, sizeof(fill), "%s/fill", disk);
	if (mkdir(disk, 0700) != 0 || unshare(CLONE_NEWNS) != 0 ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("none", disk, "tmpfs", 0, "size=3m") != 0)
		return 77;
	o.ring_file = ring;
	o.rings = 4;
	o.flags = TEL_EMIT_NO_THREAD;
	if (tel_emit_open(&o, &tel_list_SHOP) != 0 ||
	    tel_control_text("all") != 0)
		return 1;
	(void)tel_emit_to_function(emit_more, NULL, 0);
	int fd = open(fill, O_CREAT | O_WRONLY, 0600);
	while (write(fd, bytes, sizeof(bytes)) > 0)
		;
	for (uint64_t i = 0; i < 20000; i++)
		shop_count(1, i);
	tel_emit_flush();
	(void)tel_backtrace(fd, 4);
	uint64_t lost = tel_emit_lost();
	if (ftruncate(fd, 0) != 0 || lost == 0)
		return 2;
	/* a thread tries again after 1000 events */
	for (uint64_t i = 0; i < 4000; i++)
		shop_count(1, i);
	return tel_emit_lost() - lost > 1001 ? 3 : 0;
}

int
main(void)
{
	int st;

#ifndef __SANITIZE_ADDRESS__
	is_u64((uint64_t)in_child(close_all), 0,
	    "a program that closes all descriptors keeps its files");
#else
	(void)close_all;
#endif
	test_peer_goes();
	test_wait_signals();
	test_serve_file();
	is_u64((uint64_t)in_child(block_self), 0,
	    "a sink that emits does not wait for itself");
	is_u64((uint64_t)in_child(close_parents), 0,
	    "a child has no sinks of its parent");
	is_u64((uint64_t)in_child(fork_raw), 0,
	    "a process made at any time has its own locks");
	is_u64((uint64_t)in_child(cancel), 0,
	    "a thread is not cancelled with a lock");
	is_u64((uint64_t)in_child(install_twice), 0,
	    "a signal that is named twice");
	test_long_name();
	snprintf(disk, sizeof(disk), "%s", shop_path("disk"));
	st = in_child(fill_disk);
	ok(st == 0 || st == 77 << 8, "a full disk, and room again: %x", st);
	(void)rmdir(disk);
	return done();
}
