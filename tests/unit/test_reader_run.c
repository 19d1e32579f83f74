/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs give the events, labels, notices, counts and statuses that
 * tel_reader_next() gives, for each shipped log, damaged ones, and what the
 * native format makes of them.  With reads of one byte no events are found
 * together, which is what the others are compared with.
 */

#include "base/hash.h"
#include "inputs.h"
#include "model/event.h"
#include "model/live.h"
#include "tel.h"

/* The bytes of a log that are read again and again. */
#define PART 20000u
/* Damaged variants of each log. */
#define VARIANTS 6u

struct bytes {
	unsigned char *data;
	size_t size, room;
};

/* What reading came to. */
struct result {
	uint64_t digest; /* of all that it gave */
	unsigned events, notices, runs;
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

	(void)log;
	mix(res, &severity, sizeof(severity));
	mix(res, &offset, sizeof(offset));
	mix(res, text, strlen(text));
	res->notices++;
}

static void
take_event(struct result *res, const tel_event *ev)
{
	const tel_type *t = tel_event_type(ev);
	uint64_t numbers[] = { tel_event_clock(ev), tel_event_offset(ev),
		tel_event_index(ev) };
	const char *label;
	unsigned i;
	size_t n;
	const void *bytes = tel_event_bytes(ev, &n);

	mix(res, tel_type_name(t), strlen(tel_type_name(t)));
	mix(res, numbers, sizeof(numbers));
	mix(res, bytes, n);
	if (ev->raw_size > 0)
		mix(res, ev->raw, ev->raw_size);
	for (i = 0; i < tel_type_field_count(t); i++) {
		label = tel_event_label(ev, i, &n);
		if (label != NULL)
			mix(res, label, n);
	}
	res->events++;
}

static int
is_same_operation(const tel_alloc *a, const tel_alloc *b)
{
	return a->kind == b->kind && a->failed == b->failed &&
	    a->sized == b->sized && a->address == b->address &&
	    a->old == b->old && a->size == b->size && a->count == b->count &&
	    a->alignment == b->alignment && a->thread == b->thread &&
	    a->process == b->process && a->pool == b->pool &&
	    a->buffer == b->buffer && a->clock == b->clock &&
	    a->call == b->call && a->weight == b->weight;
}

/* A run says of each event what the event says of itself. */
static int
is_consistent(tel_run *run)
{
	struct tel__live_plans plans;
	tel_alloc one, two;
	const tel_event *ev = tel_run_event(run, 0);
	uint64_t values[4096];
	const tel_type *t = tel_event_type(ev);
	size_t i, n;
	int good = tel_run_count(run) > 0 && tel_run_event(run, 4096) == NULL;

	memset(plans.of, 0xff, sizeof(plans.of));
	for (i = 0; i < tel_run_count(run); i++) {
		ev = tel_run_event(run, i);
		t = tel_event_type(ev);
		n = (size_t)tel__live_operation(&plans, run, i, &one);
		good &= (int)n == tel_event_alloc(ev, &two, sizeof(two)) &&
		    (n == 0 || is_same_operation(&one, &two));
		good &= t == tel_run_type(run, i);
		good &= tel_event_clock(ev) == tel_run_clocks(run)[i];
	}
	if (good && tel_type_field_count(t) > 0) {
		n = tel_run_column(run, t, 0, values);
		good &= n > 0 && values[n - 1] == tel_event_u64(ev, 0);
	}
	return good;
}

/* How a log is read. */
enum how { NEXT, RUNS, MIXED, HOWS };

/* Takes all events there are.  TEL_AGAIN, TEL_END or a failure. */
static tel_status
drain(struct result *res, tel_reader *r, enum how how, uint32_t *x)
{
	const tel_event *ev;
	tel_status st;
	tel_run *run;
	size_t i;

	do {
		*x = *x * 1664525u + 1013904223u;
		if (how == NEXT || (how == MIXED && *x >> 28 == 0)) {
			st = tel_reader_next(r, &ev);
			if (st == TEL_OK)
				take_event(res, ev);
		} else {
			st = tel_reader_run(r,
			    how == RUNS ? SIZE_MAX : 1 + (*x >> 8) % 30, &run);
			if (st == TEL_OK && !is_consistent(run))
				mix(res, "inconsistent", 12);
			for (i = 0; st == TEL_OK && i < tel_run_count(run); i++)
				take_event(res, tel_run_event(run, i));
			res->runs += st == TEL_OK;
		}
		if (st == TEL_LOG)
			mix(res, "log", 3);
	} while (st == TEL_OK || st == TEL_LOG);
	return st;
}

static void
finish(struct result *res, tel_reader *r)
{
	uint64_t counts[10];
	double rate = tel_reader_tick_rate(r);
	unsigned i;

	for (i = 0; i < 10; i++)
		counts[i] = i == TEL_COUNT_INPUT ?
		    0 :
		    tel_reader_count(r, (tel_count)i);
	mix(res, counts, sizeof(counts));
	mix(res, &rate, sizeof(rate));
	mix(res, tel_error(r), strlen(tel_error(r)));
	tel_reader_free(r);
}

static tel_reader *
new_reader(struct result *res, size_t read_size)
{
	tel_reader *r = tel_reader_new();

	memset(res, 0, sizeof(*res));
	if (r == NULL ||
	    tel_reader_set(r, TEL_READ_SIZE, (int64_t)read_size) != TEL_OK)
		exit(1);
	tel_reader_set_notify(r, take_notice, res);
	return r;
}

/* fed: in pieces of up to so many bytes; 0: it is all there at once. */
static struct result
read_log(const unsigned char *data, size_t n, enum how how, size_t read_size,
    size_t fed)
{
	struct result res;
	tel_reader *r = new_reader(&res, read_size);
	uint32_t x = 1;
	size_t at = 0, step;

	if (fed == 0) {
		res.status = tel_reader_open_memory(r, data, n, "log");
		if (res.status == TEL_OK)
			res.status = drain(&res, r, how, &x);
		finish(&res, r);
		return res;
	}
	res.status = tel_reader_open_feed(r, "log");
	do {
		x = x * 1664525u + 1013904223u;
		step = 1 + (x >> 8) % fed;
		if (step > n - at)
			step = n - at;
		if (res.status < 0 ||
		    tel_reader_feed(r, data + at, step) != TEL_OK)
			break;
		at += step;
		res.status = drain(&res, r, how, &x);
	} while (res.status == TEL_AGAIN && step > 0);
	finish(&res, r);
	return res;
}

static int
is_same(const char *name, const char *what, const struct result *a,
    const struct result *b)
{
	if (a->digest == b->digest && a->events == b->events &&
	    a->notices == b->notices && a->status == b->status)
		return 1;
	diag("%s, %s: %u events, %u notices, status %d; not %u, %u, %d", name,
	    what, b->events, b->notices, (int)b->status, a->events, a->notices,
	    (int)a->status);
	return 0;
}

/*
 * Reads a log in all ways.  whole: in reads of one size only, as where damage
 * of the native format is reported depends on it.
 */
static int
check_log(const char *name, const unsigned char *data, size_t n, int whole)
{
	struct result want = read_log(data, n, NEXT, whole ? 262144 : 1, 0);
	struct result got;
	int good = 1;

	got = read_log(data, n, NEXT, 262144, 0);
	good &= is_same(name, "one by one", &want, &got);
	got = read_log(data, n, RUNS, 262144, 0);
	good &= is_same(name, "as runs", &want, &got);
	got = read_log(data, n, MIXED, 262144, 0);
	good &= is_same(name, "both by turns", &want, &got);
	if (whole)
		return good;
	got = read_log(data, n, RUNS, 777, 0);
	good &= is_same(name, "in small reads", &want, &got);
	got = read_log(data, n, MIXED, 4096, 3000);
	good &= is_same(name, "fed", &want, &got);
	return good;
}

/* Damages a log in one of several ways. */
static size_t
damage(unsigned char *data, size_t n, unsigned how)
{
	uint32_t x = how * 2654435761u + 12345;
	size_t i, at;

	if (n < 1000)
		return n / (how + 1);
	for (i = 0; i < 1 + how; i++) {
		x = x * 1664525u + 1013904223u;
		at = 300 + (x >> 4) % (n - 600);
		switch (how % 3) {
		case 0: data[at] = (unsigned char)(x >> 24); break;
		case 1: memset(data + at, 0, 37); break;
		default:
			memmove(data + at, data + at + 13, n - at - 13);
			n -= 13;
			break;
		}
	}
	return n;
}

static void
check_damaged(const char *name, const struct bytes *log, int whole)
{
	static unsigned first; /* of the sample: another one for each log */
	const unsigned step = sample_step(VARIANTS);
	unsigned char copy[PART];
	size_t n = log->size < PART ? log->size : PART;
	unsigned i;
	int good = 1;

	for (i = 0; i < VARIANTS; i++) {
		if ((i + first) % step != 0)
			continue;
		if (n > 0)
			memcpy(copy, log->data, n);
		good &= check_log(name, copy, damage(copy, n, i), whole);
	}
	first++;
	ok(good, "%s, damaged", name);
}

/* -------------------------------------------------------------------- logs */

/* A tel_write_fn. */
static ptrdiff_t
take_bytes(void *arg, const void *data, size_t size)
{
	struct bytes *b = arg;

	if (b->size + size > b->room) {
		b->room = (b->size + size) * 2;
		b->data = realloc(b->data, b->room);
		if (b->data == NULL)
			abort();
	}
	memcpy(b->data + b->size, data, size);
	b->size += size;
	return (ptrdiff_t)size;
}

/* What is in a file, which may be compressed. */
static struct bytes
unpack(const unsigned char *data, size_t size)
{
	struct bytes b = { NULL, 0, 0 };
	struct tel_input *raw, *in;
	const unsigned char *p;
	size_t n;

	if (tel__input_memory(data, size, 0, &raw) != TEL_OK ||
	    tel__input_unpack(raw, &in) != TEL_OK)
		abort();
	while (tel__input_peek(in, 1, &p, &n) == TEL_OK && n > 0) {
		(void)take_bytes(&b, p, n);
		tel__input_consume(in, n);
	}
	tel__input_free(in);
	return b;
}

/* The log as another format. */
static struct bytes
convert(const struct bytes *log, const char *target)
{
	struct bytes b = { NULL, 0, 0 };
	tel_output *out = tel_output_new_callback(take_bytes, &b);
	tel_writer *w = tel_writer_new(out);
	tel_reader *r = tel_reader_new();
	const tel_event *ev;
	tel_status st;

	if (out == NULL || w == NULL || r == NULL)
		abort();
	st = tel_writer_set_target(w, target);
	if (st == TEL_OK)
		st = tel_reader_open_memory(r, log->data, log->size, "log");
	while (st == TEL_OK && (st = tel_reader_next(r, &ev)) == TEL_OK)
		st = tel_writer_event(w, ev);
	if (st == TEL_END && tel_writer_end_file(w, r) == TEL_OK &&
	    tel_writer_finish(w) == TEL_OK)
		st = tel_output_flush(out);
	if (st != TEL_OK)
		b.size = 0;
	tel_writer_free(w);
	tel_reader_free(r);
	tel_output_free(out);
	return b;
}

static void
check_file(const char *path)
{
	unsigned char *data;
	struct bytes log, tel;
	size_t n;

	data = read_file(path, &n);
	if (data == NULL)
		exit(1);
	log = unpack(data, n);
	free(data);
	n = log.size < 10 * PART ? log.size : 10 * PART;
	ok(check_log(path, log.data, n, 0), "%s", path);
	log.size = n;
	check_damaged(path, &log, 0);
	tel = convert(&log, "tel");
	if (tel.size > 0) {
		ok(check_log(path, tel.data, tel.size, 0), "%s, as .tel", path);
		check_damaged(path, &tel, 1);
	}
	free(tel.data);
	free(log.data);
}

/* ------------------------------------------------------------ what is found */

/*
 * A log that is there at once comes in runs of many events; so does what it is
 * written as.  target: NULL, or that.
 */
static void
test_length(const char *path, const char *target)
{
	size_t n;
	unsigned char *data = read_file(path, &n);
	struct bytes log = unpack(data, n), made = log;
	struct result res;

	if (target != NULL)
		made = convert(&log, target);
	res = read_log(made.data, made.size, RUNS, 262144, 0);
	ok(res.events > 100 && res.runs * 10 < res.events,
	    "%s, %s: %u runs of %u events", path,
	    target != NULL ? target : "as it is", res.runs, res.events);
	if (target != NULL)
		free(made.data);
	free(log.data);
	free(data);
}

static void
test_states(void)
{
	tel_reader *r = tel_reader_new();
	tel_run *run;

	ok(tel_reader_run(r, 0, &run) == TEL_EINVAL, "a run of 0 events");
	ok(tel_reader_run(r, 1, &run) == TEL_ESTATE, "a reader not open");
	ok(tel_reader_open_feed(r, NULL) == TEL_OK, "one that is fed");
	ok(tel_reader_run(r, 1, &run) == TEL_AGAIN, "nothing was fed");
	ok(tel_reader_feed(r, NULL, 0) == TEL_OK, "the end");
	ok(tel_reader_run(r, 1, &run) == TEL_EFORMAT,
	    "an empty input is not a log");
	tel_reader_free(r);
}

/* Dropping and filtering leave the others as they are. */
static void
test_changes(const char *path)
{
	size_t n, i, wrong = 0, left = 0, want = 0;
	unsigned char *data = read_file(path, &n);
	struct bytes log = unpack(data, n);
	tel_filter *filter = tel_filter_new();
	tel_reader *a = tel_reader_new(), *b = tel_reader_new();
	const tel_event *ev;
	tel_run *run;

	if (tel_reader_open_memory(a, log.data, log.size, "a") != TEL_OK ||
	    tel_reader_open_memory(b, log.data, log.size, "b") != TEL_OK ||
	    tel_filter_set_expression(filter,
	        "index % 3 == 1 || kind == Seg") != TEL_OK)
		abort();
	while (tel_reader_run(a, 100, &run) == TEL_OK) {
		tel_run_drop(run, 2);
		if (tel_filter_run(filter, run) != TEL_OK)
			abort();
		left += tel_run_count(run);
		for (i = 0; i < tel_run_count(run); i++) {
			const tel_event *one = tel_run_event(run, i);

			/* all that come before it are read until it comes */
			do {
				if (tel_reader_next(b, &ev) != TEL_OK)
					abort();
			} while (tel_event_index(ev) < tel_event_index(one));
			wrong += tel_event_index(ev) != tel_event_index(one) ||
			    tel_event_offset(ev) != tel_event_offset(one) ||
			    tel_event_clock(ev) != tel_event_clock(one) ||
			    tel_event_type(ev) == NULL ||
			    tel_filter_match(filter, one) != 1;
		}
	}
	tel_reader_free(b);
	b = tel_reader_new();
	if (tel_reader_open_memory(b, log.data, log.size, "b") != TEL_OK)
		abort();
	while (tel_reader_next(b, &ev) == TEL_OK)
		want += tel_filter_match(filter, ev) == 1;
	ok(wrong == 0 && left > 0 && left < want,
	    "%zu events, less those dropped of %zu, %zu wrong", left, want,
	    wrong);
	tel_filter_free(filter);
	tel_reader_free(a);
	tel_reader_free(b);
	free(data);
	free(log.data);
}

/* The number of events of a part of a file, and the reader's status. */
static size_t
count_part(int fd, int64_t start, int64_t size, tel_status *st)
{
	tel_reader *r = tel_reader_new();
	const tel_event *ev;
	size_t n = 0;

	*st = tel_reader_open_part(r, fd, start, size, "part");
	while (*st == TEL_OK)
		if ((*st = tel_reader_next(r, &ev)) == TEL_OK)
			n++;
	tel_reader_free(r);
	return n;
}

/* Logs that are parts of one file, one compressed, with other bytes around. */
static void
test_parts(const char *path)
{
	size_t n, packed, plain;
	unsigned char *data = read_file(path, &n);
	struct bytes log = unpack(data, n);
	FILE *file = tmpfile();
	tel_status st;

	if (file == NULL || fwrite("junk", 1, 4, file) != 4 ||
	    fwrite(data, 1, n, file) != n ||
	    fwrite(log.data, 1, log.size, file) != log.size ||
	    fwrite("junk", 1, 4, file) != 4 || fflush(file) != 0)
		abort();
	packed = count_part(fileno(file), 4, (int64_t)n, &st);
	ok(st == TEL_END, "a compressed part ends");
	plain =
	    count_part(fileno(file), 4 + (int64_t)n, (int64_t)log.size, &st);
	ok(st == TEL_END, "a part ends");
	ok(plain == packed && plain > 100, "both have %zu events", plain);
	(void)count_part(fileno(file), -1, 4, &st);
	ok(st == TEL_EINVAL, "no part starts before the file");
	(void)count_part(fileno(file), 4, INT64_MAX, &st);
	ok(st == TEL_EINVAL, "none ends behind all files");
	(void)count_part(fileno(file), 4, 0, &st);
	ok(st == TEL_EFORMAT, "an empty part is no log");
	fclose(file);
	free(data);
	free(log.data);
}

int
main(void)
{
	static const char log[] = "tests/data/mps/1.118.0-lii6gc-amcss.log.zst";

	test_states();
	test_length(log, NULL);
	test_length(log, "tel");
	test_length(log, "mps:1.118.0/lii6gc,be");
	test_length("tests/data/mps/1.118.0-lii3gc-amcss.log.zst", NULL);
	test_length("tests/data/alloc/surfaceflinger.android.zst", NULL);
	test_length("tests/data/jfr/g1-17.jfr.zst", NULL);
	test_changes(log);
	test_parts(log);
	ok(each_file("tests/data", check_file) > 50, "there are logs");
	return done();
}
