/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Traces of allocators come to the same with a thread that parses lines ahead
 * as without: events, their lines, notices and counts, of whole traces and of
 * damaged ones.
 */
#include <stdlib.h>

#include "base/hash.h"
#include "format/alloc/alloc.h"
#include "inputs.h"
#include "model/event.h"
#include "must.h"

#define LINES 30000u

/* What the lines of a trace are like. */
enum trace {
	NUMBERED,    /* without times: the number of the line is the clock */
	TIMED,       /* with times, which some lines do not have */
	LATE,        /* the first times come late */
	PAIRS,       /* two lines are one event, and lines have labels */
	PLAIN_PAIRS, /* the same without labels */
	CALLS,
	MIXED,   /* with lines of the traced program */
	FRAMES,  /* with backtraces, of which later lines have the numbers */
	IN_TURN, /* differences of times, and calls that return later */
	TRACES
};

struct result {
	uint64_t digest;
	unsigned events, notices;
	int threads; /* a thread was there */
	tel_status status;
};

/* Writes line i of a trace. */
static void
put_line(FILE *f, enum trace trace, unsigned i)
{
	const unsigned at = 0x1000 + i % 977 * 16, size = i * 7919u % 5000;

	switch (trace) {
	case NUMBERED:
		fprintf(f, "%u: malloc 0x%x %u\n", i % 7, at, size);
		break;
	case TIMED:
		if (i > 0 && i / 100 % 9 == 3)
			fprintf(f, "7: free 0x%x\n", at);
		else
			fprintf(f, "7: malloc 0x%x %u %u %u\n", at, size,
			    100 * i, 100 * i + size % 90);
		break;
	case LATE:
		fprintf(f, "7: malloc 0x%x %u", at, size);
		if (i > LINES / 2)
			fprintf(f, " %u %u", 100 * i, 100 * i + 9);
		fputc('\n', f);
		break;
	case PAIRS:
	case PLAIN_PAIRS:
		if (i % 33 == 0)
			fprintf(f, "%s< 0x%x\n",
			    trace == PAIRS ? "@ ./a:(f+0x1)[0x7] " : "", at);
		fprintf(f, "%s%c 0x%x 0x%x\n",
		    trace == PAIRS ? "@ ./a:(f+0x1)[0x7] " : "",
		    i % 33 == 0 ? '>' : '+', at, size);
		break;
	case CALLS:
		fprintf(f, "1 2 malloc(%u)=0x%x%s\n", size, at,
		    i % 11 == 0 ? "\r" : "");
		break;
	case MIXED:
		if (i % 700 < 4)
			fputs("the program says something\n", f);
		fprintf(f, "--123-- malloc(%u) = 0x%x\n", size, at);
		break;
	case FRAMES:
		if (i == 0)
			fputs("v 10500 3\n", f);
		if (i % 500 < 3)
			fprintf(f, "t %x 0\n", at);
		else if (i % 90 == 0)
			fprintf(f, "c %x\n", i);
		else
			fprintf(f, "+ %x 1 %x\n", size, at);
		break;
	default:
		if (i % 600 == 7)
			fprintf(f, "%u 0.0%03u malloc(7 <unfinished ...>\n",
			    i % 2 + 1, i % 1000);
		else if (i % 600 == 9)
			fprintf(f, "%u 0.0%03u <... malloc resumed> ) = 0x%x\n",
			    i % 2 + 1, i % 1000, at);
		else
			fprintf(f, "%u 0.0%03u malloc(%u) = 0x%x\n", i % 2 + 1,
			    i % 1000, size, at);
	}
	if (i % 1613 == 5 && trace != MIXED && trace != IN_TURN)
		fputs("# a line without an event\n", f);
}

/* The trace in memory, which the caller frees. */
static char *
make_trace(enum trace trace, size_t *size)
{
	char *text;
	FILE *f = must(open_memstream(&text, size));
	unsigned i;

	for (i = 0; i < LINES; i++)
		put_line(f, trace, i);
	fclose(f);
	return text;
}

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
	const uint64_t numbers[] = { ev->clock, ev->offset, ev->index };
	const char *label;
	unsigned i;
	size_t n;

	mix(res, numbers, sizeof(numbers));
	mix(res, ev->data, ev->size);
	if (ev->raw_size > 0)
		mix(res, ev->raw, ev->raw_size);
	if (ev->lead_size > 0)
		mix(res, ev->lead, ev->lead_size);
	for (i = 0; i < ev->type->nfields; i++) {
		label = tel_event_label(ev, i, &n);
		if (label != NULL)
			mix(res, label, n);
	}
	res->events++;
}

/*
 * Reads a trace; alone: without a thread; most: the events of a run; file: it is
 * read from there, so that the window moves; or -1.
 */
static struct result
read_trace(const char *text, size_t size, int alone, size_t most, int file)
{
	struct result res = { 0 };
	tel_reader *r = must(tel_reader_new());
	const struct al *s;
	uint64_t count;
	tel_run *run;
	size_t i;

	must_ok(tel_reader_set_notify(r, take_notice, &res));
	must_ok(tel_reader_set(r, TEL_READ_THREADS, (unsigned)alone));
	if (file < 0)
		res.status = tel_reader_open_memory(r, text, size, "trace");
	else if (tel_reader_set(r, TEL_READ_SIZE, 100000) == TEL_OK &&
	    lseek(file, 0, SEEK_SET) == 0)
		res.status = tel_reader_open_fd(r, file, "trace");
	else
		abort();
	while (res.status == TEL_OK) {
		res.status = tel_reader_run(r, most, &run);
		if (res.status != TEL_OK)
			break;
		for (i = 0; i < tel_run_count(run); i++)
			take_event(&res, tel_run_event(run, i));
		s = r->state;
		res.threads |= s != NULL && s->ahead != NULL;
	}
	for (i = 0; i < 6; i++) {
		count = tel_reader_count(r, (tel_count)i);
		mix(&res, &count, sizeof(count));
	}
	tel_reader_free(r);
	return res;
}

/* Changes a trace in one of several ways; returns its new size. */
static size_t
damage(char *text, size_t size, unsigned how)
{
	uint32_t x = how + 1;
	size_t at;
	unsigned i;

	for (i = 0; i < how * 40; i++) {
		x = x * 1664525u + 1013904223u;
		at = (x >> 4) % (size - 100);
		if (how == 1)
			text[at] = (char)(x >> 24);
		else if (how == 2)
			memmove(text + at, text + at + 9, size - at - 9);
		else
			memset(text + at, i % 2 == 0 ? '\n' : 'x', 90);
	}
	/* the last line has no end */
	return how == 0 ? size : size - 3;
}

static void
check_trace(enum trace trace)
{
	static const char *const names[TRACES] = { "numbers of lines", "times",
		"late times", "labelled pairs of lines", "pairs of lines",
		"calls", "other output", "backtraces", "lines in turn" };
	static const size_t most[] = { SIZE_MAX, 1, 100, SIZE_MAX };
	struct result want, got;
	FILE *file;
	char *text;
	unsigned how, i;
	size_t size;

	for (how = 0; how < 4; how++) {
		text = make_trace(trace, &size);
		size = damage(text, size, how);
		file = must(tmpfile());
		if (fwrite(text, 1, size, file) != size || fflush(file) != 0)
			abort();
		want = read_trace(text, size, 1, SIZE_MAX, -1);
		ok(!want.threads, "%s: no thread", names[trace]);
		for (i = 0; i < 4; i++) {
			got = read_trace(text, size, 0, most[i],
			    i == 3 ? fileno(file) : -1);
			ok(got.digest == want.digest &&
			        got.events == want.events &&
			        got.notices == want.notices &&
			        got.status == want.status &&
			        got.status == TEL_END,
			    "%s, damage %u: %u events, %u notices",
			    names[trace], how, want.events, want.notices);
			ok(got.threads == (trace != IN_TURN && trace != PAIRS),
			    "%s: with a thread, or not", names[trace]);
		}
		fclose(file);
		free(text);
	}
}

static void
test_option(void)
{
	tel_reader *r = must(tel_reader_new());

	ok(tel_reader_set(r, TEL_READ_THREADS, 2) == TEL_EINVAL, "2 threads");
	ok(tel_reader_set(r, TEL_READ_THREADS, 1) == TEL_OK, "1 thread");
	ok(tel_reader_set(r, TEL_READ_THREADS, 0) == TEL_OK, "the default");
	must_ok(tel_reader_open_memory(r, "7: free 0x10\n", 13, "trace"));
	ok(tel_reader_set(r, TEL_READ_THREADS, 1) == TEL_ESTATE, "too late");
	tel_reader_free(r);
}

int
main(void)
{
	unsigned trace;

	test_option();
	for (trace = 0; trace < TRACES; trace++)
		check_trace((enum trace)trace);
	return done();
}
