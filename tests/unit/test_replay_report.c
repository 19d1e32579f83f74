/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What telreplay makes of what its processes leave in the shared memory: figures
 * and reports of runs that are made up here, as tests/data/telreplay has them.
 * With TEST_GOLDEN=write they are written anew: read the difference.
 */
#include <ctype.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/message.h"
#include "golden.h"
#include "program_make.h"
#include "telreplay/report/show.h"
#include "telreplay/run/collect.h"
#include "telreplay/run/run_inside.h"

#define THREADS 9
#define BLOCKS 100

static char folder[] = "/tmp/telreplay-XXXXXX";
static char output[64], messages[64];

/* ----------------------------------------------------------- what is made */

struct made {
	struct telreplay t;
	struct trace trace;
	struct facts facts;
	struct benchmark c;
	struct bytes program;
};

/* Threads take turns with blocks, of which the last one is left. */
static void
make_program(struct made *m, unsigned threads)
{
	struct making how = { .rate = 1e9, .share = -1 };
	static tel_alloc ops[2 * BLOCKS - 1];
	uint64_t i, n = 2 * BLOCKS - 1;

	memset(ops, 0, sizeof(ops));
	for (i = 0; i < n; i++) {
		ops[i].kind = i < BLOCKS ? TEL_ALLOC_MALLOC : TEL_ALLOC_FREE;
		ops[i].thread = 70 + i % BLOCKS % threads;
		ops[i].address = 16 + 16 * (i % BLOCKS);
		ops[i].size = i < BLOCKS ? 100 + i : 0;
		ops[i].clock = 10 * i;
	}
	if (program_make(ops, (size_t)n, &how, &m->program, &m->facts) !=
	        TEL_OK ||
	    program_open_memory(m->program.data, m->program.size,
	        &m->trace.program) != TEL_OK)
		abort();
	m->trace.facts = &m->facts;
	m->trace.fd = -1;
}

/* Allocators, and a null one whose cost is telreplay's own. */
static struct made *
make_up(const char *const *names, size_t n, unsigned threads)
{
	struct made *m = calloc(1, sizeof(*m));
	struct stage *stage = &m->c.stage;
	struct result *r;
	size_t i;

	make_program(m, threads);
	m->t.run.touch = RUN_TOUCH_PAGE;
	m->t.run.sample = 4;
	m->t.run.repeat = 1;
	m->t.details = DETAILS_ALL;
	m->t.idle = 100000000;
	m->t.allocators.n = n;
	m->c.telreplay = &m->t;
	m->c.trace = &m->trace;
	m->c.n = n;
	m->c.pairs = n * (n - 1) / 2;
	m->c.results = calloc(n, sizeof(*m->c.results));
	m->c.own = calloc(2, sizeof(*m->c.own));
	m->c.verdicts =
	    calloc(METRICS * m->c.pairs + 1, sizeof(*m->c.verdicts));
	m->c.own[0].allocator = &m->c.null[0];
	m->c.null[0].name = strdup("null");
	m->c.nown = 1;
	for (i = 0; i < n; i++) {
		r = &m->c.results[i];
		r->allocator = &m->t.allocators.list[i];
		r->allocator->name = strdup(names[i]);
		r->allocator->parameters = "";
		r->own = &m->c.own[0];
		r->threads = calloc(threads, sizeof(*r->threads));
		(void)snprintf(r->path, sizeof(r->path), "/lib/%zu.so", i);
	}
	stage->size = SHARED_BOARD + run_shared_stats_size(threads);
	stage->shared = aligned_alloc(4096, (stage->size | 4095) + 1);
	return m;
}

static void
made_free(struct made *m)
{
	size_t i;

	for (i = 0; i < m->c.n; i++) {
		free(m->c.results[i].allocator->name);
		free(m->c.results[i].threads);
	}
	free(m->c.null[0].name);
	free(m->c.results);
	free(m->c.own);
	free(m->c.verdicts);
	free(m->c.stage.shared);
	program_free(m->trace.program);
	free(m->program.data);
	free(m);
}

/* --------------------------------------------------------- what a run left */

static struct sample
sample(uint64_t ms, uint64_t done, uint64_t live, uint64_t kib, uint32_t phase)
{
	return (struct sample){ .ns = ms * 1000000,
		.done = done,
		.live = live,
		.resident = kib << 10,
		.huge = kib << 8,
		.lazy = kib << 4,
		.room = live + live / 4,
		.known = 1,
		.phase = phase };
}

/* Operations, and some latencies of each kind. */
static void
leave_times(struct run_shared_stats *b, uint64_t scale)
{
	uint64_t i;
	size_t k;

	b->tick_ns = 0.5;
	b->empty_ticks = 6;
	b->noise_ticks = 120;
	for (k = 0; k < RUN_KINDS; k++) {
		/* none by new, and no delete is timed */
		b->operations[k] = k == RUN_NEW ? 0 : 100 * (k + 1);
		for (i = 0; i < 3 * (k + 1) && k < RUN_NEW; i++)
			run_note(&b->latency[k],
			    k == RUN_FREE ? b->size_time[7].freed :
			                    b->size_time[k + 5].allocated,
			    40 + 9 * scale * (k + 1) * i);
	}
}

static void
leave_threads(struct run_shared_stats *b, uint64_t scale, unsigned threads)
{
	unsigned i;

	b->threads = threads;
	for (i = 0; i < threads; i++) {
		b->thread[i].times.operations = 1000 + 100 * i;
		b->thread[i].times.cpu_ns = 30000 * scale + i;
		b->thread[i].times.wait_ns = 500 * i;
		b->thread[i].times.wall_ns = 50000 * scale;
		b->thread[i].times.late_ns = 7 * i;
		b->thread[i].times.blocked = i;
	}
}

static void
leave_sizes(struct shared *sh, uint64_t scale)
{
	struct run_shared_stats *b = shared_run_stats(sh);
	size_t i;

	for (i = 5; i < 9; i++) {
		b->slack[i].blocks = 10 * i;
		b->slack[i].asked = (10 * i) << (i - 1);
		b->slack[i].given = ((10 + scale) * i) << (i - 1);
		b->asked += b->slack[i].asked;
		b->given += b->slack[i].given;
		sh->residency.size[i].blocks = i;
		sh->residency.size[i].asked = i << (i - 1);
		sh->residency.size[i].pages = 2 * i;
		sh->residency.size[i].resident = i * 8192;
	}
	sh->residency.known = 1;
	sh->at_peak = sample(3, 7, 4000, 64 + 200 * scale, PHASE_RUNNING);
}

/* A run that ended well. */
static struct shared *
leave(struct made *m, uint64_t scale, uint64_t round)
{
	static const unsigned char order[] = { 3, 0, 2, 1, 5 };
	struct shared *sh = m->c.stage.shared;
	struct run_shared_stats *b = shared_run_stats(sh);
	uint64_t words = m->facts.words, i;

	stage_clear(&m->c.stage);
	atomic_store(&sh->phase, PHASE_DONE);
	leave_times(b, scale);
	leave_threads(b, scale, (unsigned)m->facts.threads);
	leave_sizes(sh, scale);
	b->repeats = 1;
	b->cpu_ns = 100000 * scale + 9000 * order[round];
	b->wall_ns = 200000 * scale + 7000 * order[round];
	b->live_peak = m->facts.peak_bytes;
	sh->process_ns = b->cpu_ns + 5000 * scale;
	sh->baseline = sample(0, 0, 0, 64, PHASE_RUNNING);
	sh->end = sample(20, words, 199, 64 + 100 * scale + round, PHASE_IDLE);
	sh->peak = (200 * scale + order[round]) << 10;
	sh->minor_faults = 10 * scale + round;
	sh->major_faults = scale;
	for (i = 0; i < COUNTERS; i++) {
		sh->counts[i] = 1100 * (i + 1) * scale + order[round];
		sh->counted[i] = i != COUNTER_TLB_STORES;
	}
	return sh;
}

/* The same of a run whose memory was watched. */
static struct shared *
leave_watched(struct made *m, uint64_t scale)
{
	struct shared *sh = leave(m, scale, 0);
	struct observer *o = &m->c.stage.observer;
	uint64_t words = m->facts.words * m->t.run.repeat, i;

	sh->end.done = words;
	/* some are seen late */
	for (i = scale == 3 ? 7 : 0; i < 12; i++)
		o->samples[o->n++] = sample(1 + 2 * i, words * i / 11, 50 * i,
		    64 + scale * (i < 8 ? 25 * i : 200 - i), PHASE_RUNNING);
	o->samples[o->n++] =
	    sample(70, words, 199, 64 + 90 * scale, PHASE_IDLE);
	o->samples[o->n++] =
	    sample(121, words, 199, 64 + 80 * scale, PHASE_ENDING);
	o->samples[o->n++] =
	    sample(172, words, 0, 64 + 20 * scale, PHASE_FREED);
	sh->idle = sample(120, words, 199, 64 + 85 * scale, PHASE_IDLE);
	sh->freed = sample(122, words, 0, 64 + 30 * scale, PHASE_FREED);
	sh->freed_idle = sample(222, words, 0, 64 + 10 * scale, PHASE_FREED);
	sh->has_room = 1;
	return sh;
}

/* ---------------------------------------------------------------- reports */

/* A row, or a line of text, of what the machine is. */
static int
is_machine(const char *line)
{
	static const char *const starts[] = { "machine,,,kernel,",
		"machine,,,processor", "machine,,,huge_pages,", "  kernel  ",
		"  processors  ", "  huge pages  " };
	size_t i;

	for (i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (strncmp(line, starts[i], strlen(starts[i])) == 0)
			return 1;
	return 0;
}

/* Leaves nine digits behind each point: processors round the last ones. */
static void
shorten(char *line)
{
	size_t digits = 0, i;
	char *to = line;
	int behind = 0;

	for (i = 0; line[i] != '\0'; i++) {
		digits = isdigit((unsigned char)line[i]) ? digits + 1 : 0;
		behind = line[i] == '.' || (behind && digits > 0);
		if (!behind || digits <= 9)
			*to++ = line[i];
	}
	*to = '\0';
}

/* Leaves of a line what is the same on each machine, if anything. */
static int
is_portable(char *line)
{
	if (is_machine(line))
		return 0;
	shorten(line);
	return 1;
}

static void
is_reported(struct made *m, const char *name, const char *form, int ran)
{
	struct show show = { &m->t, &m->facts, ran ? &m->c : NULL };
	char golden[64];

	m->t.format = show_format(form);
	m->t.settings.output = output;
	(void)unlink(output);
	show_report(&show);
	(void)snprintf(golden, sizeof(golden), "%s.%s", name, form);
	is_golden(golden, output, is_portable);
}

/* ------------------------------------------------------------------ cases */

/* Runs one watched run, and rounds of timed ones; the null one takes a fifth. */
static void
collect_all(struct made *m, const unsigned char *scales, unsigned rounds)
{
	struct outcome well = { .calls_known = 1 };
	uint64_t round;
	size_t i;

	for (i = 0; i < CALLS; i++)
		well.calls[i] = 3 * i;
	for (i = 0; i < m->c.n; i++) {
		(void)leave_watched(m, scales[i]);
		collect_run(&m->c, &m->c.results[i], JOB_WATCH, &well);
	}
	for (round = 0; round < rounds; round++) {
		(void)leave(m, 1, round);
		shared_run_stats(m->c.stage.shared)->cpu_ns /= 5;
		collect_run(&m->c, &m->c.own[0], JOB_TIME, &well);
		for (i = 0; i < m->c.n; i++) {
			if (m->c.results[i].failed)
				continue;
			(void)leave(m, scales[i], round);
			collect_run(&m->c, &m->c.results[i], JOB_TIME, &well);
		}
	}
	m->c.rounds = rounds;
	benchmark_judge(&m->c);
}

/* Three, of which two are alike and one takes more of all. */
static void
test_three(void)
{
	static const char *const names[] = { "glibc", "class",
		"a\033long-name-of-one" };
	static const unsigned char scales[] = { 2, 2, 5 };
	static char parameters[] = "x=1";
	struct made *m = make_up(names, 3, 2);
	struct result *r = m->c.results;

	m->facts.by_new = 3;
	m->facts.by_sized = 1;
	r[0].has_delete = 0;
	memcpy(r[0].settings, "A=1\0B=2", 8);
	r[1].allocator->builtin = BUILTIN_CLASS;
	(void)strcpy(r[1].called, "class");
	(void)strcpy(r[1].path, "built in");
	r[2].plugin = 1;
	r[2].allocator->parameters = parameters;
	(void)strcpy(r[2].called, "pool");
	(void)strcpy(r[2].release, "2.0");
	memset(r[2].path, 'p', 90);
	collect_all(m, scales, 4);
	is_reported(m, "three", "text", 1);
	is_reported(m, "three", "svg", 1);
	made_free(m);
}

/* Two that differ, with all figures. */
static void
test_two(void)
{
	static const char *const names[] = { "glibc", "other" };
	static const unsigned char scales[] = { 2, 7 };
	struct made *m = make_up(names, 2, 2);
	struct result *r = &m->c.results[1];
	size_t i;

	r->has_delete = r->has_sized = 1;
	(void)strcpy(r->release, "1.0");
	collect_all(m, scales, 5);
	r->failed = 1;
	r->left_out = 2;
	r->failures = 3;
	r->errors = 4;
	(void)strcpy(r->why, "no reason");
	is_reported(m, "two", "csv", 1);
	/* a figure that is so wide that the last ratios have no room */
	for (i = 0; i < r->nruns; i++)
		r->runs[i].cpu = 2.18e11;
	benchmark_judge(&m->c);
	m->t.details = 0;
	is_reported(m, "wide", "text", 1);
	/* one that failed before a timed run */
	m->c.n = 1;
	m->c.results[0].nruns = 0;
	benchmark_judge(&m->c);
	is_reported(m, "untimed", "csv", 1);
	m->c.n = 2;
	made_free(m);
}

/* Figures of which some runs have nothing, and the medians of others. */
static void
test_nothing(void)
{
	static const char *const names[] = { "some", "half" };
	static const unsigned char scales[] = { 2, 2 };
	static const double p99[] = { 7, 5, 9, 800, 6 };
	struct made *m = make_up(names, 2, 2);
	struct result *r = m->c.results;
	const struct verdict *v;

	collect_all(m, scales, 5);
	for (size_t i = 0; i < 5; i++)
		r[1].runs[i].p99 = p99[i];
	/* 10 runs: those of the one have as much, or nothing and twice as much */
	for (size_t i = 0; i < 10; i++) {
		r[0].runs[i] = r[0].runs[i % 5];
		r[1].runs[i] = r[1].runs[i % 5];
		r[0].runs[i].end = 4096;
		r[1].runs[i].end = i % 2 * 8192;
		r[0].runs[i].cpu = r[1].runs[i].cpu;
	}
	for (size_t i = 0; i < 6; i++)
		r[1].runs[i].cpu = 0;
	r[0].nruns = r[1].nruns = 10;
	benchmark_judge(&m->c);
	v = benchmark_verdict(&m->c, METRIC_END, 1, 0);
	ok(v->known && !v->different && !v->equal && v->low == 0,
	    "a half with nothing and one with twice as much is no difference");
	ok(r[1].figures[METRIC_COST].median < 0 &&
	        benchmark_verdict(&m->c, METRIC_COST, 1, 0)->ratio == 0,
	    "a time that is mostly lost in telreplay's own has no ratio");
	ok(r[1].figures[METRIC_P99].median == 7 &&
	        r[1].figures[METRIC_P99].most == 800,
	    "p99 is the median of the runs, which its ratio is of");
	made_free(m);
}

/* Seven with nine threads, of which one fails and one cannot be watched. */
static void
test_seven(void)
{
	static const char *const names[] = { "a", "b", "c", "d", "e", "f",
		"g" };
	static const unsigned char scales[] = { 3, 3, 4, 5, 6, 7, 8 };
	struct outcome crash = { .ending = ENDED_CRASHED, .signal = 11 };
	struct made *m = make_up(names, 7, THREADS);
	struct result *r = m->c.results;

	m->t.run.pace = 2;
	m->t.run.think_ns = 50;
	m->t.run.think_log = 1;
	m->t.run.verify = 1;
	m->t.run.touch = RUN_TOUCH_SHARE;
	m->t.run.touch_share = 0.25;
	m->t.run.touch_again = 1;
	m->t.run.repeat = 60;
	m->t.runs = RUNS_AUTO;
	m->facts.lives[0].hosted = 2;
	m->facts.lives[1].id = 100000;
	m->facts.lives[2].id = 99999;
	(void)leave(m, 1, 0);
	memset(crash.said, 'y', sizeof(crash.said) - 1);
	collect_fail(&m->c, &r[3], &crash, "at event 1");
	(void)leave(m, 1, 0);
	r[4].left_out = 5;
	(void)strcpy(r[5].said, "careful");
	collect_all(m, scales, 2);
	/* its samples are not shown, and make no curve longer */
	r[6].watched = 0;
	r[6].samples[r[6].nsamples - 1].ns *= 100;
	r[6].calls_known = 0;
	r[6].nruns = 0;
	is_reported(m, "seven", "text", 1);
	is_reported(m, "seven", "svg", 1);
	m->t.details = 0;
	m->t.run.repeat = 300;
	is_reported(m, "seven-short", "text", 1);
	made_free(m);
}

/* A trace alone, that has what others have not. */
static void
test_trace(void)
{
	static const char *const names[] = { "none" };
	struct made *m = make_up(names, 1, 2);
	struct facts *f = &m->facts;
	size_t i;

	is_reported(m, "plain", "svg", 0);
	for (i = 0; i < ALLOC_KINDS; i++)
		f->operations[i] = 1000000 * i * i;
	f->operations[TEL_ALLOC_COMMIT] = 0;
	for (i = 0; i < ANOMALIES; i++)
		f->anomalies[i] = i == ANOMALY_RACE ? 0 : i + 1;
	f->anomaly_event_count = 2;
	f->anomaly_events[0] =
	    (struct anomaly_event){ ANOMALY_DOUBLE, 0, 7, 4096, 71 };
	f->anomaly_events[1] =
	    (struct anomaly_event){ ANOMALY_SIZE, 0, 8, 8192, 72 };
	f->by_delete = 2;
	f->pools = 3;
	f->buffers = 4;
	f->parts = 5;
	f->log_threads = 2000;
	f->tick_rate = 0;
	m->t.details = DETAILS_LIFETIMES;
	is_reported(m, "odd", "text", 0);
	is_reported(m, "odd", "csv", 0);
	f->selected = 1;
	f->operations[TEL_ALLOC_COMMIT] = 1;
	f->log_threads = f->threads = 1;
	f->by_delete = 0;
	memset(f->lifetimes, 0, sizeof(f->lifetimes));
	f->lifetimes_clock = 0;
	is_reported(m, "part", "text", 0);
	made_free(m);
}

/* Threads and where they are: W works, S waits, I has no words, E has ended. */
static void
leave_threads_at(struct run_shared_stats *b, const char *states)
{
	static const uint64_t words[1000];
	unsigned i;

	for (i = 0; states[i] != '\0'; i++) {
		atomic_store(&b->thread[i].state,
		    (uint32_t)(strchr("EIWS", states[i]) - "EIWS"));
		atomic_store(&b->thread[i].first, words);
		atomic_store(&b->thread[i].word, words + 1 + i);
	}
	b->threads = i;
}

static const struct {
	struct outcome out;
	unsigned phase, struck;
	const char *states;
} ends[] = {
	{ { .ending = ENDED_CRASHED, .signal = 11 }, PHASE_RUNNING, 2, "WW" },
	{ { .ending = ENDED_CRASHED, .signal = 6, .said = "no" }, PHASE_RUNNING,
	    3, "SWWW" },
	{ { .ending = ENDED_CRASHED, .signal = 7 }, PHASE_RUNNING, 0, "W" },
	{ { .ending = ENDED_HUNG }, PHASE_RUNNING, 0, "WWSEI" },
	{ { .ending = ENDED_HUNG, .said = "oh" }, PHASE_RUNNING, 0, "WWWW" },
	{ { .ending = ENDED_HUNG }, PHASE_RUNNING, 0, "WIWWWWSE" },
	{ { .ending = ENDED_HUNG }, PHASE_RUNNING, 0, "SS" },
	{ { .ending = ENDED_HUNG }, PHASE_RUNNING, 5, "SIWS" },
	{ { .ending = ENDED_EXIT, .status = 7 }, PHASE_RUNNING, 9,
	    "WWWWWWWWW" },
	{ { .ending = ENDED_EXIT, .status = 1 }, PHASE_RUNNING, 9,
	    "WWWWWWWWWW" },
	{ { .ending = ENDED_EXIT, .status = 1, .said = "x" }, PHASE_READY, 1,
	    "WW" },
	{ { .ending = ENDED_EXIT, .status = 1 }, PHASE_IDLE, 1, "WW" },
	{ { .ending = ENDED_CRASHED, .signal = 4 }, PHASE_ENDING, 1, "WW" },
	{ { .ending = ENDED_CRASHED, .signal = 4 }, PHASE_FREED, 1, "WW" },
	{ { .ending = ENDED_WRONG, .why = "no pool" }, PHASE_READY, 0, "W" },
	{ { .ending = ENDED_WRONG, .why = "no pool" }, PHASE_RUNNING, 1, "W" },
	{ { .ending = ENDED_WRONG, .why = "no pool" }, PHASE_FREED, 1, "W" },
};

/* What is said of each end, of errors, and of allocators that work. */
static void
show_ends(struct made *m)
{
	static const uint64_t peaks[] = { 0, 105, 106 };
	struct run_shared_stats *b = shared_run_stats(m->c.stage.shared);
	struct result *r = m->c.results;
	struct outcome well = { .said = "hello" };
	unsigned i;

	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		(void)leave(m, 1, 0);
		atomic_store(&m->c.stage.shared->phase, ends[i].phase);
		atomic_store(&m->c.stage.shared->struck, ends[i].struck);
		leave_threads_at(b, ends[i].states);
		collect_run(&m->c, r, i % 2 ? JOB_TIME : JOB_WATCH,
		    &ends[i].out);
	}
	for (i = 0; i < RUN_WRONGS; i++) {
		(void)leave(m, 1, 0);
		b->errors = 3;
		b->failures = 2;
		b->wrong[i] = (struct run_error){ 0, i % 3, 2 * i, i / 2 + 1, 5,
			4096, 8192 };
		if (i == RUN_ALIGNMENT)
			b->wrong[i].position = UINT32_MAX;
		r->errors = r->failures = 0;
		collect_run(&m->c, r, JOB_TIME, &well);
		/* those of the first run are shown */
		collect_run(&m->c, r, JOB_TIME, &well);
		message(NULL, "%" PRIu64 " errors, %" PRIu64 " failures: %s",
		    r->errors, r->failures, r->why);
	}
	for (i = 0; i < 8; i++) {
		/* a few bytes more are not reported */
		const uint64_t unit = i == 5 ? 1 : 100000;

		(void)leave(m, 1, 0);
		m->t.settings.quiet = i == 6;
		m->facts.order = i < 4 ? ORDER_EDGES : ORDER_NONE;
		m->facts.peak_bytes = i == 3 ? 0 : 100 * unit;
		b->live_peak = peaks[i % 3] * unit;
		if (i == 7)
			b->live_peak = 200 * unit;
		collect_run(&m->c, r, JOB_WATCH, &well);
	}
}

static void
test_messages(void)
{
	static const char *const names[] = { "broken" };
	struct made *m = make_up(names, 1, THREADS);
	int saved = dup(2);

	if (freopen(messages, "w", stderr) == NULL)
		abort();
	show_ends(m);
	(void)fflush(stderr);
	if (dup2(saved, 2) < 0 || close(saved) != 0)
		abort();
	is_golden("messages.text", messages, is_portable);
	made_free(m);
}

int
main(void)
{
	message_begin("telreplay");
	if (mkdtemp(folder) == NULL) {
		diag("no folder");
		return 1;
	}
	(void)snprintf(output, sizeof(output), "%s/report", folder);
	(void)snprintf(messages, sizeof(messages), "%s/messages", folder);
	test_two();
	test_three();
	test_nothing();
	test_trace();
	/* from here on the exit status is that of a failure */
	test_seven();
	test_messages();
	(void)unlink(output);
	(void)unlink(messages);
	if (rmdir(folder) != 0)
		diag("%s is left", folder);
	return done();
}
