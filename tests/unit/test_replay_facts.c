/* SPDX-License-Identifier: BSD-2-Clause */
/* Facts in a file, the progress of a run, and files of the kernel. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/bytes.h"
#include "tap.h"
#include "telreplay/compile/facts.h"
#include "telreplay/run/memory.h"
#include "telreplay/run/run.h"

static unsigned char room[FACTS_MAX + 1];

/* Facts that are at all limits. */
static struct facts *
most(void)
{
	struct facts *f = calloc(1, sizeof(*f));
	uint64_t i;

	f->words = 1000;
	f->threads = FACTS_THREADS;
	f->anomaly_event_count = ANOMALY_EVENTS;
	f->curve_points = CURVE_POINTS;
	f->logs = LOG_NAMES;
	f->peak_log = LOG_NAMES - 1;
	f->order = ORDER_NONE;
	f->tick_rate = 1e300;
	for (i = 0; i < FACTS_THREADS; i++)
		f->lives[i] = (struct thread_life){ i, 2 * i };
	for (i = 0; i < ANOMALY_EVENTS; i++)
		f->anomaly_events[i] =
		    (struct anomaly_event){ (enum anomaly)(i % ANOMALIES),
			    (uint32_t)i % LOG_NAMES, i, 3 * i, 4 * i };
	for (i = 0; i < CURVE_POINTS; i++)
		f->curve[i] =
		    (struct live_point){ i < 500 ? i : 1000, i, 5, i, 6 };
	for (i = 0; i < LOG_NAMES; i++)
		memset(f->log_names[i], 'a' + (int)i, LOG_NAME - 1);
	return f;
}

/* Nonzero if facts can be read again from as many bytes as they take. */
static int
loads(const struct facts *f, size_t less)
{
	struct facts *is = malloc(sizeof(*is));
	size_t size = facts_store(f, room), used = 0;
	int good = facts_load(is, room, size - less, &used) == 0;

	if (good)
		good = used == size && memcmp(is, f, sizeof(*f)) == 0;
	free(is);
	return good;
}

static void
test_limits(void)
{
	static const struct {
		const char *what;
		size_t at;
		uint64_t value;
	} wrong[] = {
#define AT(member) #member, offsetof(struct facts, member)
		{ AT(threads), FACTS_THREADS + 1 },
		{ AT(anomaly_event_count), ANOMALY_EVENTS + 1 },
		{ AT(curve_points), CURVE_POINTS + 1 },
		{ AT(logs), LOG_NAMES + 1 },
		{ AT(logs), 0 },
		{ AT(peak_log), LOG_NAMES },
		{ AT(order), ORDER_NONE + 1 },
		/* more than 1e300, less than 0, and not a number */
		{ AT(tick_rate), 0x7e37e43c8800759d },
		{ AT(tick_rate), 0xbff0000000000000 },
		{ AT(tick_rate), 0x7ff8000000000000 },
		{ AT(words), 999 },
		{ AT(curve[1].done), 3 },
		{ AT(curve[CURVE_POINTS - 1].done), 998 },
	};
	static unsigned char bytes[FACTS_MAX];
	struct facts *f = most(), *is = malloc(sizeof(*is));
	size_t i, size, used, names, events;

	ok(loads(f, 0), "facts at all limits are read again");
	ok(!loads(f, 1), "of one byte less they are not");
	size = facts_store(f, bytes);
	is_u64(size, FACTS_MAX, "they take as many bytes as they may");
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct facts *bad = most();

		/* what is stored has the counts of what is there */
		memcpy(room, bytes, size);
		memcpy((char *)bad + wrong[i].at, &wrong[i].value, 8);
		if (wrong[i].at < FACTS_NUMBERS * 8)
			tel_store_le64(room + wrong[i].at, wrong[i].value);
		else
			(void)facts_store(bad, room);
		ok(facts_load(is, room, size, &used) != 0, "%s of %" PRIu64,
		    wrong[i].what, wrong[i].value);
		free(bad);
	}
	names = size - LOG_NAMES * LOG_NAME;
	events = FACTS_NUMBERS * 8 + FACTS_THREADS * FACTS_LIFE * 8;
	memcpy(room, bytes, size);
	room[names + LOG_NAME - 1] = 'x';
	ok(facts_load(is, room, size, &used) != 0, "a name without its end");
	memcpy(room, bytes, size);
	room[events] = ANOMALIES;
	ok(facts_load(is, room, size, &used) != 0, "an unknown anomaly");
	memcpy(room, bytes, size);
	room[events + 4] = LOG_NAMES;
	ok(facts_load(is, room, size, &used) != 0, "one of no log");
	ok(facts_load(is, bytes, FACTS_NUMBERS * 8 - 1, &used) != 0 &&
	        facts_load(is, bytes, 0, &used) != 0,
	    "less than the numbers");
	memset(f->curve, 0, sizeof(f->curve));
	f->curve_points = 1;
	f->curve[0].done = f->words;
	ok(loads(f, 0), "a point at the last word");
	f->curve[0].done++;
	ok(!loads(f, 0), "none behind it");
	free(f);
	free(is);
}

/* How far two threads are, as far as their words are known. */
static void
test_progress(void)
{
	static const uint64_t words[100];
	static const struct {
		uint32_t phase;
		uint64_t done;
		int first, second; /* words of the threads */
		uint32_t threads;
		uint64_t want;
	} cases[] = { { RUN_CHUNK, 10, 3, 4, 2, 17 },
		{ RUN_PAUSE, 10, 3, 4, 2, 10 }, { RUN_CHUNK, 10, 3, 4, 1, 13 },
		{ RUN_CHUNK, 10, 3, 4, 3, 17 }, { RUN_CHUNK, 0, 0, 0, 2, 0 },
		{ RUN_CHUNK, 10, -5, 4, 2, 14 },
		{ RUN_CHUNK, 90, 9, 9, 2, 100 },
		{ RUN_CHUNK, 90, 9, 1, 2, 100 },
		{ RUN_CHUNK, 90, 9, 0, 2, 99 } };
	struct run_shared_stats *b =
	    aligned_alloc(128, (run_shared_stats_size(3) + 127) & ~(size_t)127);
	struct facts *f = calloc(1, sizeof(*f));
	uint64_t done;
	double share;
	size_t i;

	f->words = 100;
	f->threads = 2;
	memset(b, 0, run_shared_stats_size(3));
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		b->phase = cases[i].phase;
		b->words = cases[i].done;
		b->threads = cases[i].threads;
		b->thread[0].first = b->thread[1].first = words + 10;
		b->thread[0].word = words + 10 + cases[i].first;
		b->thread[1].word = words + 10 + cases[i].second;
		b->thread[2].word = words + 50;
		share = run_progress(b, f, &done);
		ok(done == cases[i].want &&
		        fabs(share - (double)done / 100) < 1e-9,
		    "%" PRIu64 " of 100 words", done);
	}
	b->words = 0;
	b->phase = RUN_PAUSE;
	f->words = 0;
	ok(run_progress(b, f, NULL) == 0, "of none, none is done");
	free(f);
	free(b);
}

static void
test_file(void)
{
	char path[] = "/tmp/memory-XXXXXX", text[8];
	int fd = mkstemp(path), n;
	FILE *f = fdopen(fd, "w");

	ok(!memory_read_file(path, text, sizeof(text)), "an empty file");
	for (n = 1; n < 10; n++) {
		(void)fputc('0' + n, f);
		(void)fflush(f);
		memset(text, 'x', sizeof(text));
		ok(memory_read_file(path, text, sizeof(text)) &&
		        strncmp(text, "123456789", (size_t)(n < 7 ? n : 7)) ==
		            0 &&
		        strlen(text) == (size_t)(n < 7 ? n : 7),
		    "a file of %d bytes", n);
	}
	(void)fclose(f);
	(void)unlink(path);
	ok(!memory_read_file(path, text, sizeof(text)), "a missing file");
	ok(!memory_read_file("/", text, sizeof(text)), "a folder");
}

/* This process, which has as much more as it writes to. */
static void
test_memory(void)
{
	struct sample before, after, other;
	const size_t size = (size_t)16 << 20;
	uint64_t resident, files, more, same;
	size_t i;
	char *p;

	if (!memory_read(0, &before)) {
		ok(1, "memory # SKIP the kernel has no figures");
		return;
	}
	memory_all(&resident, &files);
	p = malloc(size);
	/* compilers leave out what nobody reads */
	for (i = 0; i < size; i += 512)
		*(volatile char *)&p[i] = 1;
	(void)memory_read(0, &after);
	memory_all(&more, &same);
	ok(after.resident >= before.resident + size &&
	        after.resident < before.resident + size + size / 4,
	    "bytes that were written are resident");
	ok(more >= resident + size && same >= files &&
	        same < files + size / 4 && files > 0,
	    "and are not files");
	ok(memory_peak() >= more, "the peak is not less");
	ok(memory_read(getpid(), &other) &&
	        other.resident >= before.resident + size,
	    "as others see it");
	ok(!memory_read(0x7fffffff, &other), "of no process there are none");
	free(p);
}

int
main(void)
{
	test_limits();
	test_progress();
	test_file();
	test_memory();
	return done();
}
