/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rings that are followed, and what their program does between two reads of
 * them: the reader has its bytes from a function, which does that.
 */
#include "shop.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

TEL_EVENTS_DEFINE(SHOP, "shop", 1, 0, 0)

#define RINGS_AT(i) \
	(TEL__EMIT_PAGE_BYTES + ((int64_t)1 << 20) + \
	    (i) * (int64_t)tel__emit_shared.page.ring_stride)

/* The file, as the reader has it; looks begin with the page. */
static struct {
	int fd;
	int64_t at;
	unsigned looks;
	void (*before)(unsigned look, int64_t at); /* it is read at */
	void (*after)(unsigned look, int64_t at);
} file;
static const char *ring_file;
static uint64_t overwritten, unfinished;

static ptrdiff_t
follow_read(void *arg, void *to, size_t n)
{
	const int64_t at = file.at;

	(void)arg;
	/* the page is read again behind the rings: then for its names alone */
	file.looks += at == 0;
	if (file.before != NULL)
		file.before(file.looks, at);
	ssize_t k = pread(file.fd, to, n, (off_t)at);
	file.at += k > 0 ? k : 0;
	if (file.after != NULL)
		file.after(file.looks, at);
	return k;
}

static int64_t
follow_seek(void *arg, int64_t offset, int whence)
{
	(void)arg;
	file.at = whence == SEEK_CUR ? file.at + offset :
	    whence == SEEK_SET       ? offset :
	                               lseek(file.fd, 0, SEEK_END) + offset;
	return file.at;
}

static void
follow_notify(void *arg, tel_severity severity, const char *log,
    uint64_t offset, const char *text)
{
	unsigned long long n;

	(void)arg;
	(void)severity;
	(void)log;
	(void)offset;
	if (sscanf(text, "%llu events were overwritten", &n) == 1)
		overwritten += n;
	if (sscanf(text, "%llu events were being written", &n) == 1)
		unfinished += n;
}

static void
bail_out(const char *what)
{
	printf("Bail out! %s\n", what);
	exit(1);
}

/* Starts telemetry, whose rings a reader follows. */
static tel_reader *
start(unsigned rings)
{
	tel_emit_options o = { .ring_file = ring_file,
		.ring_bytes = 65536,
		.rings = rings,
		.clock = TEL_EMIT_CLOCK_MONOTONIC,
		.flags = TEL_EMIT_NO_THREAD };
	tel_reader *r = tel_reader_new();

	memset(&file, 0, sizeof(file));
	overwritten = unfinished = 0;
	if (tel_emit_open(&o, &tel_list_SHOP) != 0 ||
	    (file.fd = open(ring_file, O_RDONLY | O_CLOEXEC)) < 0)
		bail_out("rings");
	tel_reader_set_notify(r, follow_notify, NULL);
	if (tel_reader_set(r, TEL_READ_FOLLOW, 1) != TEL_OK ||
	    tel_reader_set_seek(r, follow_seek) != TEL_OK)
		bail_out("reader");
	return r;
}

static void
read_all(tel_reader *r, struct shop_log *l)
{
	const tel_event *ev;

	if (tel_reader_open_callback(r, follow_read, NULL, "rings") != TEL_OK)
		bail_out(tel_reader_error(r));
	while (tel_reader_next(r, &ev) == TEL_OK)
		shop_event(l, ev);
	tel_reader_free(r);
	close(file.fd);
}

/* ------------------------------------------------------------------ order */

/* Of two rings, an event of the first one is begun, and finished later. */
static struct tel__emit_open begun;
static unsigned begun_at;

static void
begin(void)
{
	begun = tel__emit_reserve(TEL__KIND_OF_Number, 5,
	    sizeof(struct tel__event_of_Number));
	if (begun.words == NULL)
		begun = tel__emit_slow(begun, TEL__KIND_OF_Number, 5,
		    sizeof(struct tel__event_of_Number));
	memset(begun.words + 2, 0, sizeof(struct tel__event_of_Number) - 16);
}

static void
begin_late(unsigned look, int64_t at)
{
	if (begun_at == 0 && look > 4 && at == RINGS_AT(1)) {
		begin();
		TEL_EVENT2(Take, NULL, 2);
		begun_at = look;
	}
	if (begun_at != 0 && look > begun_at + 8) {
		tel__emit_publish(begun);
		file.before = NULL;
		tel_emit_close();
	}
}

static void
test_order(void)
{
	tel_reader *r = start(8);
	struct shop_log l = { 0 };

	shop_count(1, 0);
	TEL_EVENT2(Take, NULL, 1);
	file.before = begin_late;
	read_all(r, &l);
	is_u64(l.numbers, 2, "an event is begun between looks at two rings");
	is_u64(l.disorder, 0, "it is before a later one of the other ring");
}

static void
be_busy(unsigned look, int64_t at)
{
	if (at != 0)
		return;
	if (begun.words != NULL)
		tel__emit_publish(begun);
	begun.words = NULL;
	if (look == 60) {
		tel_emit_close();
		return;
	}
	TEL_EVENT2(Take, NULL, 2);
	shop_count(1, look);
	begin();
}

/* Of more threads than processors, some are within an event at each look. */
static void
test_busy(void)
{
	tel_reader *r = start(8);
	const tel_event *ev;
	unsigned events = 0;

	shop_count(1, 0);
	file.before = be_busy;
	if (tel_reader_open_callback(r, follow_read, NULL, "rings") != TEL_OK)
		bail_out(tel_reader_error(r));
	while (tel_reader_next(r, &ev) == TEL_OK)
		events += file.looks < 60;
	tel_reader_free(r);
	close(file.fd);
	ok(events > 60, "events of a busy program are not held up: %u", events);
}

static void
leave_begun(unsigned look, int64_t at)
{
	if (look == 7 && at == 0) {
		begin();
		tel_emit_close();
	}
}

static void
test_unfinished(void)
{
	tel_reader *r = start(8);
	struct shop_log l = { 0 };

	shop_count(1, 0);
	file.before = leave_begun;
	read_all(r, &l);
	is_u64(l.numbers, 1, "an event is begun when the program ends");
	is_u64(unfinished, 1, "that is reported");
}

/* ------------------------------------------------------------------- lost */

static uint64_t next_number;

/* Numbers, of which the ring has room for 1,638. */
static void
count_on(unsigned n)
{
	for (; n > 0; n--)
		shop_count(1, next_number++);
}

/* A head counts 2^24 events. */
static unsigned many = 17000000;

static void
overtake(unsigned look, int64_t at)
{
	static unsigned times;

	(void)look;
	/* twice at each look: the header is read again; not yet at the first */
	if (at != RINGS_AT(0))
		return;
	times++;
	if (times == 30)
		tel_emit_close();
	else if (times > 2 && times < 30)
		count_on(times == 15 ? many : times % 4 < 2 ? 10000 : 2000);
}

static void
test_overtaken(void)
{
	tel_reader *r = start(8);
	struct shop_log l = { 0 };

	if (getenv("TEST_SLOW") != NULL)
		many = 20000;
	next_number = 0;
	count_on(10);
	file.after = overtake;
	read_all(r, &l);
	is_u64(l.torn, 0,
	    "a ring is overwritten while it is read: no event is torn");
	is_u64(l.numbers + overwritten, next_number,
	    "each event was shown, or counted");
	ok(l.numbers > 1000, "the last ones were shown: %u",
	    (unsigned)l.numbers);
}

static void *
thread_counts(void *arg)
{
	count_on((unsigned)(uintptr_t)arg);
	return NULL;
}

/* A thread that counts, and ends. */
static void
thread_of(unsigned n)
{
	pthread_t t;

	if (pthread_create(&t, NULL, thread_counts, (void *)(uintptr_t)n) == 0)
		pthread_join(t, NULL);
}

static void
succeed(unsigned look, int64_t at)
{
	if (look == 5 && at == 0) {
		thread_of(5);
		thread_of(7);
		thread_of(3);
	}
	if (look == 12 && at == 0)
		tel_emit_close();
}

/* Of two threads with one ring, one after the other. */
static void
test_successors(void)
{
	tel_reader *r = start(1);
	struct shop_log l = { 0 };

	next_number = 0;
	thread_of(10);
	file.before = succeed;
	read_all(r, &l);
	is_u64(l.numbers + overwritten, next_number,
	    "of threads that had one ring between looks, each event counts");
}

/* A file has its name once all is in it: a reader may wait for that. */
static void
test_name(void)
{
	tel_emit_options o = { .ring_file = ring_file };
	struct stat before, after;
	char other[600];

	if (stat(ring_file, &before) != 0)
		bail_out("stat");
	setenv("TEL_CONTROL", "none of these", 1);
	ok(tel_emit_open(&o, &tel_list_SHOP) != 0, "telemetry that fails");
	unsetenv("TEL_CONTROL");
	ok(stat(ring_file, &after) == 0 && after.st_ino == before.st_ino,
	    "leaves the file of the program before");
	snprintf(other, sizeof(other), "%s.new-%ld", ring_file, (long)getpid());
	ok(access(other, F_OK) != 0, "and no other");
}

/* Programs that make a file of one name at once. */
static void
test_same_name(void)
{
	tel_emit_options o = { .ring_file = ring_file };
	int failed = 0, st;

	fflush(stdout);
	const pid_t child = fork();
	for (int i = 0; i < 300; i++) {
		failed += tel_emit_open(&o, &tel_list_SHOP) != 0;
		tel_emit_close();
	}
	if (child == 0)
		_exit(failed != 0);
	ok(waitpid(child, &st, 0) == child && st == 0 && failed == 0,
	    "two programs with files of the same name both open them");
}

int
main(void)
{
	char old[600];

	ring_file = shop_path("ring");
	snprintf(old, sizeof(old), "%s.old", ring_file);
	test_order();
	test_busy();
	test_unfinished();
	test_overtaken();
	test_successors();
	test_name();
	test_same_name();
	unlink(ring_file);
	unlink(old);
	return done();
}
