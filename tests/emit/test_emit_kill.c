/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libtel-emit after death: a program is killed at random instants, and its
 * rings hold every event that it had finished.
 */
#define _GNU_SOURCE
#include "shop.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

TEL_EVENTS_DEFINE(SHOP, "shop", 1, 0, 0)

/* How many of n trials: all where TEST_WHOLE is set, fewer where it is not. */
static int
some_of(int n)
{
	return getenv("TEST_WHOLE") != NULL ? n :
	    getenv("TEST_SLOW") != NULL     ? n / 15 :
	                                      n / 5;
}

/* What the child has finished, by who counts; shared with it. */
static volatile uint64_t *finished;
static uint64_t in_signal;

static void
on_alarm(int number)
{
	(void)number;
	/* where in the ring it is: among the numbers of its thread */
	finished[8 + in_signal % 8] = finished[0];
	shop_count(2, in_signal);
	finished[2] = ++in_signal;
}

static void *
count_on(void *arg)
{
	uint32_t who = (uint32_t)(uintptr_t)arg;
	uint64_t i;

	for (i = 0;; i++) {
		shop_count(who, i);
		finished[who] = i + 1;
		/* events of different sizes */
		if (i % 7 == 0)
			TEL_EVENT2(Echo, i, &"seven and seven"[i % 13]);
	}
	return NULL;
}

static void
child(const char *ring, int sink)
{
	const struct itimerval often = { { 0, 100 }, { 0, 100 } };
	tel_emit_options o = { NULL, 65536, 8, NULL, 0, 0, 1 };
	struct sigaction action;
	sigset_t alarm;
	pthread_t t;

	memset(&action, 0, sizeof(action));
	action.sa_handler = on_alarm;
	o.ring_file = ring;
	if (tel_emit_open(&o, &tel_list_SHOP) != 0)
		_exit(1);
	if (sink) {
		tel_control_text("all");
		tel_emit_to_file("/dev/null", ~0u, 0);
	}
	finished[63] = 1;
	/* all signals to one thread: its handlers nest in its own events */
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm, NULL);
	pthread_create(&t, NULL, count_on, (void *)1);
	pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	count_on(NULL);
}

/* A number of microseconds: most of them soon. */
static unsigned
some_time(void)
{
	unsigned r = (unsigned)rand();

	return r % 3 == 0 ? r % 20000 : r % 1500;
}

/* Kills a child, and looks at what it left.  1: all is there. */
static int
kill_one(const char *ring, int how, uint64_t *events)
{
	struct shop_log l;
	uint64_t kept;
	pid_t pid;
	unsigned who;

	memset((void *)(uintptr_t)finished, 0, 512);
	unlink(ring);
	pid = fork();
	if (pid == 0) {
		child(ring, how & 1);
		_exit(2);
	}
	while (finished[63] == 0 && waitpid(pid, NULL, WNOHANG) == 0)
		usleep(50);
	usleep(some_time());
	kill(pid, how & 2 ? SIGABRT : SIGKILL);
	waitpid(pid, NULL, 0);
	if (shop_read_file(ring, &l) != TEL_END)
		return 0;
	*events += l.numbers;
	/*
	 * The last event of a handler may have been overwritten since, but not
	 * if the event that its thread had finished just before is there.
	 */
	if (l.next[2] < finished[2] &&
	    l.first[0] < finished[8 + (finished[2] - 1) % 8]) {
		diag("handler: %d in the ring, %d finished", (int)l.next[2],
		    (int)finished[2]);
		return 0;
	}
	for (who = 0; who < 2; who++)
		if (l.next[who] < finished[who] ||
		    l.next[who] > finished[who] + 1) {
			diag("%u: %d in the ring, %d finished", who,
			    (int)l.next[who], (int)finished[who]);
			return 0;
		}
	/* when events have been overwritten, most of a ring is there */
	for (who = 0; who < 2; who++) {
		kept = l.next[who] - l.first[who];
		if (who == 0)
			kept += l.next[2] - l.first[2];
		if (l.first[who] != 0 && kept < 1200) {
			diag("%u: only %d to %d in the ring", who,
			    (int)l.first[who], (int)l.next[who]);
			return 0;
		}
	}
	if (l.torn + l.missing_of[0] + l.missing_of[1] + l.damaged > 0) {
		diag("torn %d, missing %d, damaged %d", (int)l.torn,
		    (int)l.missing, (int)l.damaged);
		return 0;
	}
	return 1;
}

static void
test_kill(void)
{
	const char *ring = shop_path("ring");
	int i, good = 0, n = some_of(300);
	uint64_t events = 0;

	srand((unsigned)time(NULL));
	for (i = 0; i < n; i++)
		good += kill_one(ring, i, &events);
	is_u64((uint64_t)good, (uint64_t)n,
	    "killed %d times: nothing torn, nothing lost, of %llu events", n,
	    (unsigned long long)events);
	unlink(ring);
}

/* What a program wrote before an end of its own making. */
static void
test_ends(void)
{
	static const char *const names[] = { "_exit", "abort", "a crash",
		"exec" };
	const char *ring = shop_path("end");
	struct shop_log l;
	pid_t pid;
	int how, i;

	for (how = 0; how < 4; how++) {
		pid = fork();
		if (pid == 0) {
			tel_emit_options o = { NULL, 65536, 8, NULL, 0, 0, 0 };

			o.ring_file = ring;
			tel_emit_open(&o, &tel_list_SHOP);
			for (i = 0; i < 1000; i++)
				shop_count(3, (uint64_t)i);
			if (how == 0)
				_exit(0);
			signal(SIGABRT, SIG_DFL);
			signal(SIGSEGV, SIG_DFL);
			if (how == 1)
				abort();
			if (how == 2)
				raise(SIGSEGV);
			execlp("true", "true", (char *)NULL);
			_exit(1);
		}
		waitpid(pid, NULL, 0);
		shop_read_file(ring, &l);
		ok(l.numbers == 1000 && l.missing + l.torn == 0,
		    "%s leaves all events in the rings", names[how]);
	}
	unlink(ring);
	ring = shop_path("end.old");
	ok(shop_read_file(ring, &l) == TEL_END && l.numbers == 1000,
	    "the rings of the program before have another name");
	unlink(ring);
}

/* Reads a file of rings while its program writes it. */
static void
test_live(void)
{
	const char *ring = shop_path("live");
	struct shop_log l;
	uint64_t torn = 0, missing = 0, events = 0;
	pid_t pid;
	int i;

	memset((void *)(uintptr_t)finished, 0, 512);
	pid = fork();
	if (pid == 0) {
		child(ring, 0);
		_exit(2);
	}
	while (finished[63] == 0)
		usleep(100);
	usleep(2000);
	/* on a busy machine, the program may not have run yet */
	for (i = some_of(50); i > 0 || (events == 0 && i > -9999); i--) {
		if (shop_read_file(ring, &l) != TEL_END)
			torn++;
		torn += l.torn + l.damaged;
		missing += l.missing_of[0] + l.missing_of[1];
		events += l.numbers;
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	unlink(ring);
	ok(torn == 0 && events > 0,
	    "rings of a program that runs: %d events, none torn", (int)events);
	is_u64(missing, 0, "and all in a row");
}

/* A file of rings of which some bytes are others. */
static void
test_damage(void)
{
	const char *ring = shop_path("damage");
	tel_emit_options o = { NULL, 65536, 8, NULL, 0, TEL_EMIT_NO_THREAD, 0 };
	size_t size = 65536 + 1048576 + 69888, i, at;
	unsigned char *whole = malloc(size), *damaged = malloc(size);
	struct shop_log l;
	int n, k, events = 0, refused = 0;
	FILE *f;

	o.ring_file = ring;
	tel_emit_open(&o, &tel_list_SHOP);
	tel_thread_name("one");
	tel_intern("string");
	for (i = 0; i < 4000; i++)
		TEL_EVENT2(Echo, i, &"text and text"[i % 10]);
	tel_emit_close();
	f = fopen(ring, "r");
	size = fread(whole, 1, size, f);
	fclose(f);
	unlink(ring);
	for (n = some_of(300); n > 0; n--) {
		memcpy(damaged, whole, size);
		for (k = 0; k < 8; k++) {
			/* page, names, ring: where there is something */
			at = (size_t)rand();
			at = k < 2 ? at % 2048 :
			    k < 5  ? 65536 + at % 2500 :
			             65536 + 1048576 + at % 2000;
			damaged[at] = (unsigned char)rand();
		}
		if (shop_read_memory(damaged,
		        n % 9 == 0 ? (size_t)rand() % size : size,
		        &l) == TEL_END)
			events += (int)l.events;
		else
			refused++;
	}
	ok(events > 0 && refused > 0,
	    "damaged rings: %d events, and %d refused", events, refused);
	free(whole);
	free(damaged);
}

/* Events that a program had not finished, next to each other and apart. */
static void
test_unfinished(void)
{
	const char *ring = shop_path("unfinished");
	tel_emit_options o = { NULL, 65536, 1, NULL, 0, TEL_EMIT_NO_THREAD, 0 };
	const size_t events = 65536 + 1048576 + 256, size = events + 69632;
	unsigned char *bytes = malloc(size);
	struct shop_log l;
	size_t at = events;
	uint64_t word;
	FILE *f;
	int i;

	o.ring_file = ring;
	tel_emit_open(&o, &tel_list_SHOP);
	for (i = 0; i < 20; i++)
		shop_count(1, (uint64_t)i);
	tel_emit_close();
	f = fopen(ring, "r");
	ok(fread(bytes, 1, size, f) == size, "a ring");
	fclose(f);
	unlink(ring);
	for (i = 0; i < 20; i++) {
		memcpy(&word, bytes + at, 8);
		if (i == 3 || i == 4 || i == 9 || i == 19)
			word &= ~(uint64_t)TEL__EVENT_WHOLE;
		memcpy(bytes + at, &word, 8);
		at += 8 * (word >> 16 & 0xfff);
	}
	ok(shop_read_memory(bytes, size, &l) == TEL_END && l.numbers == 16 &&
	        l.missing == 3 && l.torn == 0,
	    "those that were finished");
	is_u64(l.unfinished, 3, "those next to each other are one");
	free(bytes);
}

/* Another process changes what is on. */
static void
test_other(void)
{
	const char *ring = shop_path("other");
	tel_emit_options o = { NULL, 0, 0, NULL, 0, TEL_EMIT_NO_THREAD, 0 };
	char parent[32];
	pid_t pid;
	int st;

	o.ring_file = ring;
	tel_emit_open(&o, &tel_list_SHOP);
	tel_control_text("Stock");
	snprintf(parent, sizeof(parent), "%ld", (long)getpid());
	pid = fork();
	if (pid == 0)
		_exit(tel_control_other(ring, "+Order -Stock") != 0);
	waitpid(pid, &st, 0);
	ok(st == 0 && tel_control_read() == 1, "by the file of the rings");
	pid = fork();
	if (pid == 0)
		_exit(tel_control_other(parent, "Count") != 0);
	waitpid(pid, &st, 0);
	ok(st == 0 && tel_control_read() == 4, "by the number of the process");
	ok(tel_control_other("/dev/null", "all") != 0 && errno == ENOENT,
	    "a file that is none");
	ok(tel_control_other(ring, "bogus") != 0 && errno == EINVAL,
	    "a kind that is none");
	tel_emit_close();
	unlink(ring);
}

/* What a crash handler prints, and to whom it hands on. */
static void
mine(int number)
{
	(void)number;
	_exit(42);
}

static void
test_crash(void)
{
	const char *text = shop_path("text");
	char line[256] = "";
	struct shop_log l;
	FILE *f;
	pid_t pid;
	int st, how, i;

	for (how = 0; how < 3; how++) {
		fflush(stdout);
		pid = fork();
		if (pid == 0) {
			f = freopen(text, "w", stderr);
			tel_emit_open(NULL, &tel_list_SHOP);
			signal(SIGSEGV, how == 1 ? mine : SIG_DFL);
			signal(SIGABRT, SIG_DFL);
			if (tel_emit_on_crash(2, 5) != 0)
				_exit(1);
			for (i = 0; i < 100; i++)
				shop_count(1, (uint64_t)i);
			TEL_EVENT3(Sale, NULL, 7, "quo\"ted");
			TEL_EVENT10(All, NULL, NULL, 1, 2, -0.1, 1, 3, 4, -5,
			    -6);
			TEL_ASSERT(how < 2 && f != NULL);
			raise(SIGSEGV);
			_exit(0);
		}
		waitpid(pid, &st, 0);
		if (how == 0)
			ok(WIFSIGNALED(st) && WTERMSIG(st) == SIGSEGV,
			    "a crash is a crash still");
		else if (how == 1)
			ok(WIFEXITED(st) && WEXITSTATUS(st) == 42,
			    "the handler before it is called");
		else
			ok(WIFSIGNALED(st) && WTERMSIG(st) == SIGABRT,
			    "an assertion aborts");
		if (how == 2) {
			f = fopen(text, "r");
			ok(f != NULL && fgets(line, sizeof(line), f) != NULL &&
			        strstr(line, "assertion failed") != NULL,
			    "and says so: %s", line);
			if (f != NULL)
				fclose(f);
			continue;
		}
		st = shop_read_file(text, &l);
		ok(st == TEL_END && l.events == 5,
		    "a backtrace is a log of 5 events: %d", (int)l.events);
		ok(l.numbers == 3 && l.next[1] == 100 && l.torn == 0,
		    "the last ones");
	}
	unlink(text);
}

static void
test_dump(void)
{
	const char *text = shop_path("dump");
	tel_emit_options o = { NULL, 65536, 8, NULL, 0, TEL_EMIT_NO_THREAD, 0 };
	struct shop_log l;
	FILE *f = fopen(text, "w");
	int i, n;

	tel_emit_open(&o, &tel_list_SHOP);
	for (i = 0; i < 10000; i++)
		shop_count(5, (uint64_t)i);
	TEL_EVENT0(Shut);
	n = tel_emit_dump(fileno(f));
	fclose(f);
	shop_read_file(text, &l);
	ok(l.events == (uint64_t)n && l.next[5] == 10000 &&
	        l.missing + l.torn == 0,
	    "a dump has all that is in the rings: %d", n);
	is_u64((uint64_t)tel_backtrace(-1, 3), 3, "a descriptor that is none");
	tel_emit_close();
	is_u64((uint64_t)tel_backtrace(2, 3), 0, "nothing when it is closed");
	unlink(text);
}

/* The next event that is not one of the clock. */
static const tel_event *
next_own(tel_reader *r)
{
	const tel_event *ev = NULL;

	while (tel_reader_next(r, &ev) == TEL_OK)
		if (strstr("All Sale Echo", tel_type_name(tel_event_type(ev))))
			return ev;
	return NULL;
}

static int
is_same_event(const tel_event *a, const tel_event *b)
{
	const tel_type *t = tel_event_type(a), *u = tel_event_type(b);
	const char *text, *other;
	unsigned i, n = tel_type_field_count(t);
	size_t length, size;

	if (strcmp(tel_type_name(t), tel_type_name(u)) != 0 ||
	    tel_type_field_count(u) != n)
		return 0;
	for (i = 0; i < n; i++) {
		text = tel_event_string(a, i, &length);
		other = tel_event_string(b, i, &size);
		if (tel_event_u64(a, i) != tel_event_u64(b, i) ||
		    (text == NULL) != (other == NULL) ||
		    (text != NULL &&
		        (length != size || memcmp(text, other, size) != 0))) {
			diag("%s, field %u: %" PRIx64 " and %" PRIx64,
			    tel_type_name(t), i, tel_event_u64(a, i),
			    tel_event_u64(b, i));
			return 0;
		}
	}
	return 1;
}

/* A dump has the values that a log has. */
static void
test_values(void)
{
	static const double doubles[] = { 0, 1, -1, 0.5, -0.1, 1.5, 10, 0.1,
		9.5, 1e14, 999999999999999, 1e15, 1e16, 1e17, 123456789.125,
		0.30000000000000004, 9.999999999999999, 99999999999999.98, 1e-5,
		1e22, 1e100, 1e-100, 1.7976931348623157e308,
		2.2250738585072014e-308, 5e-324, INFINITY, -INFINITY };
	static unsigned char log[1 << 16];
	const char *path = shop_path("values");
	tel_emit_options o = { NULL, 65536, 8, NULL, 0, TEL_EMIT_NO_THREAD, 0 };
	tel_reader *left = tel_reader_new(), *right = tel_reader_new();
	FILE *f = fopen(path, "w");
	const tel_event *a, *b;
	tel_emit_sink *sink;
	char text[16] = "";
	unsigned i, n = 0, wrong = 0;

	tel_emit_open(&o, &tel_list_SHOP);
	tel_control_text("all");
	sink = tel_emit_to_memory(log, sizeof(log), ~0u);
	for (i = 0; i < sizeof(doubles) / sizeof(doubles[0]); i++) {
		const uint64_t v = UINT64_MAX >> 2 * i;

		TEL_EVENT10(All, (void *)(uintptr_t)v, NULL, (size_t)v,
		    (unsigned)v, doubles[i], i % 2, (uint8_t)v, (uint16_t)v,
		    (int16_t)(i % 3 ? v : 32768 + i), (int64_t)(v + i % 2));
	}
	for (i = 1; i < 256; i++) {
		snprintf(text, sizeof(text), "a%cb%s", (char)i,
		    i % 2 ? "\"" : "");
		TEL_EVENT2(Echo, i, text);
	}
	tel_emit_flush();
	tel_emit_dump(fileno(f));
	fclose(f);
	if (tel_reader_open_memory(left, log, tel_emit_memory_used(sink),
	        "log") != TEL_OK ||
	    tel_reader_open_file(right, path) != TEL_OK)
		abort();
	while ((a = next_own(left)) != NULL) {
		b = next_own(right);
		wrong += b == NULL || !is_same_event(a, b);
		n++;
	}
	ok(n == i - 1 + sizeof(doubles) / sizeof(doubles[0]) && wrong == 0 &&
	        next_own(right) == NULL,
	    "values of a dump: %u of %u are wrong", wrong, n);
	tel_emit_close();
	tel_reader_free(left);
	tel_reader_free(right);
	unlink(path);
}

int
main(void)
{
	finished = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (finished == MAP_FAILED)
		return 1;
	test_ends();
	test_live();
	test_kill();
	test_damage();
	test_unfinished();
	test_other();
	test_crash();
	test_dump();
	test_values();
	return done();
}
