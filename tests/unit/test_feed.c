/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A reader that is fed gives the events, notices and statuses of one that
 * reads all at once, in whatever pieces the bytes come.
 */
#include <errno.h>

#include "base/hash.h"
#include "inputs.h"
#include "tel.h"

/* Bytes of a log that are fed one by one: each is a turn of two threads. */
#define SINGLE_BYTES 3000u

static void
is_int(long long got, long long want, const char *what)
{
	ok(got == want, "%s: %lld, wanted %lld", what, got, want);
}

/* What reading came to. */
struct result {
	uint64_t digest; /* of all that it gave */
	unsigned events, logs, notices;
	tel_status status;
};

static void
mix(struct result *res, const void *bytes, size_t n)
{
	res->digest = tel__fnv(res->digest, bytes, n);
}

static void
take_notice(void *arg, tel_severity severity, const char *log, uint64_t offset,
    const char *text)
{
	struct result *res = arg;

	mix(res, &severity, sizeof(severity));
	mix(res, log, strlen(log));
	mix(res, &offset, sizeof(offset));
	mix(res, text, strlen(text));
	res->notices++;
}

static void
take_event(struct result *res, const tel_reader *r, const tel_event *ev)
{
	const tel_type *t = tel_event_type(ev);
	uint64_t numbers[] = { tel_event_clock(ev), tel_event_offset(ev),
		tel_event_index(ev) };
	size_t n;
	const unsigned char *bytes = tel_event_bytes(ev, &n);

	mix(res, tel_type_name(t), strlen(tel_type_name(t)));
	mix(res, numbers, sizeof(numbers));
	mix(res, bytes, n);
	if (res->events % 64 == 0) {
		const char *name = tel_schema_name(tel_reader_schema(r));

		mix(res, name, strlen(name));
	}
	res->events++;
}

/* Takes all events that there are.  TEL_AGAIN, TEL_END or a failure. */
static tel_status
drain(struct result *res, tel_reader *r)
{
	const tel_event *ev;
	tel_status st;

	while ((st = tel_reader_next(r, &ev)) == TEL_OK || st == TEL_LOG) {
		if (st == TEL_OK)
			take_event(res, r, ev);
		else
			mix(res, tel_reader_log_name(r),
			    strlen(tel_reader_log_name(r)));
		res->logs += st == TEL_LOG;
	}
	return st;
}

static tel_reader *
new_reader(struct result *res)
{
	tel_reader *r = tel_reader_new();

	memset(res, 0, sizeof(*res));
	if (r == NULL)
		exit(1);
	tel_reader_set_notify(r, take_notice, res);
	return r;
}

/* What remains to be said of a reader, which is freed. */
static void
finish(struct result *res, tel_reader *r)
{
	uint64_t counts[6];
	unsigned i;

	for (i = 0; i < 6; i++)
		counts[i] = i == TEL_COUNT_INPUT ?
		    0 :
		    tel_reader_count(r, (tel_count)i);
	mix(res, counts, sizeof(counts));
	mix(res, tel_error(r), strlen(tel_error(r)));
	tel_reader_free(r);
}

static struct result
read_whole(const char *name, const void *data, size_t n)
{
	struct result res;
	tel_reader *r = new_reader(&res);

	res.status = tel_reader_open_memory(r, data, n, name);
	if (res.status == TEL_OK)
		res.status = drain(&res, r);
	finish(&res, r);
	return res;
}

/* Feeds pieces of size bytes, or of any size up to 10,000 where it is 0. */
static struct result
read_fed(const char *name, const unsigned char *data, size_t n, size_t size)
{
	struct result res;
	tel_reader *r = new_reader(&res);
	uint32_t x = 1;
	size_t at = 0, step;

	res.status = tel_reader_open_feed(r, name);
	do {
		x = x * 1664525u + 1013904223u;
		step = size > 0 ? size : 1 + (x >> 8) % 10000;
		if (step > n - at)
			step = n - at;
		/* a size of 0 is the end */
		if (res.status < 0 ||
		    tel_reader_feed(r, data + at, step) != TEL_OK)
			break;
		at += step;
		res.status = drain(&res, r);
	} while (res.status == TEL_AGAIN && step > 0);
	finish(&res, r);
	return res;
}

static int
is_same(const char *name, size_t size, const struct result *a,
    const struct result *b)
{
	if (a->digest == b->digest && a->events == b->events &&
	    a->logs == b->logs && a->notices == b->notices &&
	    a->status == b->status)
		return 1;
	diag("%s in pieces of %zu: %u events, %u logs, %u notices, status %d; "
	     "not %u, %u, %u, %d",
	    name, size, b->events, b->logs, b->notices, (int)b->status,
	    a->events, a->logs, a->notices, (int)a->status);
	return 0;
}

/* Whether a file is in a sample of one in n. */
static int
is_sampled(const char *path, unsigned n)
{
	return tel__fnv(0, path, strlen(path)) / 8 % sample_step(n) == 0;
}

static void
check_file(const char *path)
{
	static const size_t sizes[] = { 0, 4096, 7 };
	const int small = is_sampled(path, 16);
	unsigned char *data;
	size_t n, i, few;
	struct result whole, fed;
	int good = 1;

	data = read_file(path, &n);
	if (data == NULL)
		exit(1);
	/* of large files, and of the smallest pieces, a sample */
	if (n > 15000 && !is_sampled(path, 8))
		n = 15000;
	whole = read_whole(path, data, n);
	for (i = 0; i < (small ? 3u : 1u); i++) {
		fed = read_fed(path, data, n, sizes[i]);
		good &= is_same(path, sizes[i], &whole, &fed);
	}
	few = !small ? 50 : SINGLE_BYTES;
	few = n < few ? n : few;
	whole = read_whole(path, data, few);
	fed = read_fed(path, data, few, 1);
	good &= is_same(path, 1, &whole, &fed);
	ok(good, "%s, fed", path);
	free(data);
}

/* --------------------------------------------------------- what may go wrong */

static void
test_states(void)
{
	const tel_event *ev;
	tel_reader *r = tel_reader_new();

	is_int(tel_reader_set(r, (tel_reader_option)(TEL_READ_SIZE + 1), 1),
	    TEL_EINVAL, "no option past the last");
	is_int(tel_reader_feed(r, "x", 1), TEL_ESTATE, "a reader not open");
	is_int(tel_reader_open_feed(r, NULL), TEL_OK, "is opened");
	is_int(tel_reader_open_feed(r, NULL), TEL_ESTATE, "once");
	is_int(tel_reader_set(r, TEL_READ_STRICT, 1), TEL_ESTATE,
	    "options come before");
	is_int(tel_reader_next(r, &ev), TEL_AGAIN, "nothing was fed");
	is_int(tel_reader_next(r, &ev), TEL_AGAIN, "nor since");
	ok(tel_reader_schema(r) == NULL, "no schema yet");
	is_int(tel_reader_feed(r, NULL, 0), TEL_OK, "the end");
	is_int(tel_reader_feed(r, "x", 1), TEL_ESTATE, "is the end");
	is_int(tel_reader_next(r, &ev), TEL_EFORMAT,
	    "an empty input is not a log");
	is_int(tel_reader_next(r, &ev), TEL_EFORMAT, "and stays none");
	tel_reader_free(r);
	r = tel_reader_new();
	is_int(tel_reader_open_feed(r, NULL), TEL_OK, "another");
	tel_reader_free(r);
	r = tel_reader_new();
	if (tel_reader_open_feed(r, NULL) == TEL_OK &&
	    tel_reader_feed(r, "0000", 4) == TEL_OK)
		is_int(tel_reader_next(r, &ev), TEL_AGAIN,
		    "one that is freed in the middle");
	tel_reader_free(r);
}

/* ---------------------------------------------------------------- callbacks */

/* Gives a few bytes every other time. */
struct source {
	const unsigned char *data;
	size_t size, at, read;
	int ready;
};

static ptrdiff_t
source_read(void *arg, void *buffer, size_t size)
{
	struct source *s = arg;

	s->ready = !s->ready;
	if (s->ready) {
		errno = EAGAIN;
		return -1;
	}
	size = size < 1000 ? size : 1000;
	size = size < s->size - s->at ? size : s->size - s->at;
	memcpy(buffer, s->data + s->at, size);
	s->at += size;
	s->read += size;
	return (ptrdiff_t)size;
}

static ptrdiff_t
source_read_on(void *arg, void *buffer, size_t size)
{
	struct source *s = arg;

	s->ready = 1;
	return source_read(s, buffer, size);
}

static int64_t
source_seek(void *arg, int64_t offset, int whence)
{
	struct source *s = arg;

	if (whence == SEEK_CUR)
		offset += (int64_t)s->at;
	else if (whence == SEEK_END)
		offset += (int64_t)s->size;
	if (offset < 0 || offset > (int64_t)s->size)
		return -1;
	s->at = (size_t)offset;
	return offset;
}

static void
test_nonblocking(const char *path)
{
	struct source s = { .at = 0 };
	struct result whole, res;
	const tel_event *ev;
	unsigned again = 0;
	unsigned char *data = read_file(path, &s.size);
	tel_reader *r;

	s.data = data;
	whole = read_whole(path, data, s.size);
	r = new_reader(&res);
	tel_reader_set(r, TEL_READ_NONBLOCKING, 1);
	is_int(tel_reader_open_callback(r, source_read, &s, path), TEL_OK,
	    "a function that does not wait");
	while ((res.status = drain(&res, r)) == TEL_AGAIN)
		again++;
	finish(&res, r);
	ok(is_same(path, 1000, &whole, &res), "all events come");
	ok(again >= s.size / 1000, "between times when there are none");
	r = tel_reader_new();
	s.at = 0;
	s.ready = 0;
	if (tel_reader_open_callback(r, source_read, &s, path) == TEL_OK)
		is_int(tel_reader_next(r, &ev), TEL_EIO,
		    "who does not ask for it has a failure");
	else
		ok(1, "who does not ask for it has a failure");
	tel_reader_free(r);
	free(data);
}

/* ------------------------------------------------------------------- ranges */

static ptrdiff_t
keep_bytes(void *arg, const void *data, size_t size)
{
	struct source *s = arg;
	unsigned char *bigger =
	    realloc((void *)(uintptr_t)s->data, s->size + size);

	if (bigger == NULL)
		exit(1);
	memcpy(bigger + s->size, data, size);
	s->data = bigger;
	s->size += size;
	return (ptrdiff_t)size;
}

/* The log at path as a native one of many blocks; *clock: its last one. */
static struct source
make_native(const char *path, uint64_t *clock)
{
	struct source s = { .data = NULL };
	tel_output *out = tel_output_new_callback(keep_bytes, &s);
	tel_writer *w = tel_writer_new(out);
	tel_reader *r = tel_reader_new();
	const tel_event *ev;
	unsigned events = 0;

	if (out == NULL || w == NULL ||
	    tel_writer_set_target(w, "tel") != TEL_OK ||
	    tel_reader_open_file(r, path) != TEL_OK)
		exit(1);
	while (tel_reader_next(r, &ev) == TEL_OK) {
		*clock = tel_event_clock(ev);
		if (tel_writer_event(w, ev) != TEL_OK ||
		    (++events % 2 == 0 && tel_writer_flush(w) != TEL_OK))
			exit(1);
	}
	if (tel_writer_finish(w) != TEL_OK || tel_output_flush(out) != TEL_OK)
		exit(1);
	tel_writer_free(w);
	tel_output_free(out);
	tel_reader_free(r);
	return s;
}

/* Reads one clock of it.  The bytes that were read. */
static size_t
read_clock(struct source *s, tel_seek_fn *seek, int nonblocking, uint64_t clock,
    unsigned *found)
{
	const tel_event *ev;
	tel_reader *r = tel_reader_new();
	tel_status st;

	s->at = s->read = 0;
	*found = 0;
	tel_reader_set_seek(r, seek);
	tel_reader_set(r, TEL_READ_NONBLOCKING, nonblocking);
	tel_reader_set_range(r, clock, clock);
	st = tel_reader_open_callback(r,
	    nonblocking ? source_read : source_read_on, s, "x.tel");
	while (st == TEL_OK || st == TEL_AGAIN) {
		st = tel_reader_next(r, &ev);
		*found += st == TEL_OK && tel_event_clock(ev) == clock;
	}
	is_int(st, TEL_END, "it is read");
	tel_reader_free(r);
	return s->read;
}

static void
test_ranges(const char *path)
{
	uint64_t clock = 0;
	struct source s = make_native(path, &clock);
	unsigned with = 0, without = 0, fed = 0;
	size_t all, few;

	all = read_clock(&s, NULL, 0, clock, &without);
	few = read_clock(&s, source_seek, 0, clock, &with);
	is_int(with, without, "the same events");
	ok(with > 0 && few < all / 2, "seeking reads %zu of %zu bytes", few,
	    all);
	few = read_clock(&s, source_seek, 1, clock, &fed);
	is_int(fed, without, "the same events without waiting");
	ok(few < all / 2, "reading %zu bytes", few);
	free((void *)(uintptr_t)s.data);
}

/* ------------------------------------------------------------ several logs */

/* Puts a member of an archive of the tar format at p.  Its size. */
static size_t
put_member(unsigned char *p, const char *name, const void *data, size_t n)
{
	unsigned sum = 0, i;

	memset(p, 0, 512);
	snprintf((char *)p, 100, "%s", name);
	memcpy(p + 100, "0000644", 7);
	memcpy(p + 108, "0000000", 7);
	memcpy(p + 116, "0000000", 7);
	snprintf((char *)p + 124, 12, "%011zo", n);
	memcpy(p + 136, "00000000000", 11);
	memset(p + 148, ' ', 8);
	p[156] = '0';
	memcpy(p + 257, "ustar\00000", 8);
	for (i = 0; i < 512; i++)
		sum += p[i];
	snprintf((char *)p + 148, 8, "%06o", sum);
	memcpy(p + 512, data, n);
	n = (n + 511) / 512 * 512;
	return 512 + n;
}

static void
test_logs(void)
{
	static const char first[] = "0000000000000001 m 1 0x10\n",
	                  text[] = "# teltools text 1\n"
	                           "# format: a-log\n"
	                           "# type: Thing 1 Kind n:unsigned\n"
	                           "0000000000000001 Thing n=1\n",
	                  other[] = "# teltools text 1\n"
	                            "# format: b-log\n"
	                            "# type: Stuff 1 Kind n:unsigned\n"
	                            "0000000000000002 Stuff n=2\n";
	unsigned char *tar = calloc(1, 8192);
	const tel_event *ev;
	struct result whole, fed;
	tel_reader *r = tel_reader_new();
	size_t n = 0;

	if (tar == NULL || r == NULL)
		exit(1);
	n += put_member(tar + n, "a", text, sizeof(text) - 1);
	n += put_member(tar + n, "none", first, sizeof(first) - 1);
	n += put_member(tar + n, "b", other, sizeof(other) - 1);
	n += 1024;
	is_int(tel_reader_open_memory(r, tar, n, "t"), TEL_OK, "an archive");
	is_str(tel_schema_name(tel_reader_schema(r)), "a-log", "its first log");
	is_int(tel_reader_next(r, &ev), TEL_OK, "has an event");
	is_str(tel_reader_log_name(r), "t:a", "and a name");
	is_int(tel_reader_next(r, &ev), TEL_LOG, "and ends");
	is_str(tel_schema_name(tel_reader_schema(r)), "b-log",
	    "the schema is that of the next one");
	is_str(tel_reader_log_name(r), "t:b", "and so is the name");
	is_int(tel_reader_next(r, &ev), TEL_OK, "which has an event");
	is_str(tel_type_name(tel_event_type(ev)), "Stuff", "of its own");
	is_int(tel_reader_next(r, &ev), TEL_END, "and is the last");
	tel_reader_free(r);
	r = tel_reader_new();
	if (tel_reader_open_memory(r, tar, n, "t") == TEL_OK &&
	    tel_reader_next(r, &ev) == TEL_OK)
		is_int(tel_reader_next(r, &ev), TEL_LOG, "freed between logs");
	tel_reader_free(r);
	whole = read_whole("t", tar, n);
	fed = read_fed("t", tar, n, 1);
	ok(is_same("t", 1, &whole, &fed), "an archive, fed");
	free(tar);
}

/* Events of logs whose types are known when they are open can be left out. */
static void
test_logs_alone(void)
{
	static const char trace[] = "m 0x10 8\nf 0x10\nm 0x20 16\nf 0x20\n";
	unsigned char *tar = calloc(1, 8192);
	tel_reader *r = tel_reader_new();
	const tel_event *ev;
	unsigned logs = 0;
	size_t n = 0;
	tel_status st;

	if (tar == NULL || r == NULL)
		exit(1);
	n += put_member(tar + n, "a", trace, sizeof(trace) - 1);
	n += put_member(tar + n, "b", trace, sizeof(trace) - 1);
	n += put_member(tar + n, "c", trace, sizeof(trace) - 1);
	n += 1024;
	if (tel_reader_set_as(r, "android") != TEL_OK ||
	    tel_reader_open_memory(r, tar, n, "t") != TEL_OK)
		exit(1);
	tel_reader_set_range(r, UINT64_MAX, 0);
	while ((st = tel_reader_next(r, &ev)) == TEL_LOG)
		logs++;
	ok(logs == 2 && st == TEL_END, "three logs of which no event comes");
	tel_reader_free(r);
	free(tar);
}

/* ------------------------------------------------------- windows and merges */

static void
test_merge(const char *path)
{
	size_t n, at = 0, step;
	unsigned char *data = read_file(path, &n);
	tel_reader *r[2] = { tel_reader_new(), tel_reader_new() };
	tel_merge *m = tel_merge_new();
	struct result whole = read_whole(path, data, n);
	const tel_event *ev;
	unsigned events = 0, again = 0, wrong = 0, i;
	uint64_t last = 0;
	tel_status st;

	is_int(tel_merge_add(m, r[0], (tel_order)9), TEL_EINVAL,
	    "a log in no order is not added");
	for (i = 0; i < 2; i++)
		if (tel_reader_open_feed(r[i], path) != TEL_OK ||
		    tel_merge_add(m, r[i], TEL_ORDER_TIME) != TEL_OK ||
		    tel_merge_set_allocs(m, 1) != TEL_ESTATE)
			exit(1);
	do {
		while ((st = tel_merge_next(m, &ev)) == TEL_OK) {
			events++;
			wrong += tel_event_clock(ev) < last;
			last = tel_event_clock(ev);
		}
		again += st == TEL_AGAIN;
		step = n - at < 100 ? n - at : 100;
		for (i = 0; i < 2 && st == TEL_AGAIN; i++)
			if (tel_reader_feed(r[i], data + at, step) != TEL_OK)
				wrong++;
		at += step;
	} while (st == TEL_AGAIN);
	is_int(st, TEL_END, "a merge of logs that are fed");
	is_int(events, 2 * whole.events, "has all events");
	is_int(wrong, 0, "in order");
	ok(again > 1, "as they come");
	tel_merge_free(m);
	tel_reader_free(r[0]);
	tel_reader_free(r[1]);
	free(data);
}

int
main(void)
{
	static const char log[] =
	    "tests/data/mps/1.118.0-lii6gc-poolncv.log.zst";

	test_states();
	test_nonblocking(log);
	test_ranges("tests/data/mps/1.118.0-lii6gc-awlut.log.zst");
	test_logs();
	test_logs_alone();
	test_merge(log);
	ok(each_file("tests/data", check_file) > 100, "all logs were fed");
	return done();
}
