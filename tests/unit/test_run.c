/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loop of telreplay, with allocators that check what they are asked,
 * that fail, and that are wrong.
 */
#include "telreplay/run/run_inside.h"

#include <unistd.h>
#include "program_make.h"
#include "tap.h"

/* after tap.h, which has a parameter of the name of an allocator */
#include "run_allocators.h"

#define STEPS 10000

/* ------------------------------------------------------------- programs */

static struct program *
make(const tel_alloc *ops, size_t n, const struct making *m, struct bytes *b,
    struct facts *f)
{
	struct program *p;

	b->size = 0;
	if (program_make(ops, n, m, b, f) != TEL_OK ||
	    program_open_memory(b->data, b->size, &p) != TEL_OK)
		abort();
	return p;
}

static void
random_trace(tel_alloc *ops, size_t n, unsigned threads)
{
	struct heap *h = calloc(1, sizeof(*h));
	size_t i, block;

	h->random = 4711;
	for (i = 0; i < n; i++) {
		ops[i] = heap_step(h, threads, &block);
		ops[i].clock = i;
		if (ops[i].size > 20000)
			ops[i].size = 20000;
	}
	free(h);
}

static struct run_shared_stats *
run(struct program *p, const struct alloc_functions *a,
    const struct run_options *o, const char **wrong)
{
	size_t size =
	    run_shared_stats_size((unsigned)program_facts(p)->threads);
	struct run_shared_stats *b;

	b = aligned_alloc(4096, (size + 4095) & ~(size_t)4095);
	memset(b, 0, size);
	*wrong = run_program(p, a, o, b);
	return b;
}

static char phases[64];

static void
note_phase(void *arg, enum run_phase phase)
{
	size_t n = strlen(phases);

	(void)arg;
	if (n + 1 < sizeof(phases))
		phases[n] = "RCPDF"[phase];
}

/* ---------------------------------------------------------------- tests */

static void
test_good(tel_alloc *ops)
{
	static const struct {
		unsigned threads;
		size_t chunk;
		enum program_order order;
		struct run_options o;
	} cases[] = {
		{ 1, 0, 0, { .touch = RUN_TOUCH_NONE, .repeat = 1 } },
		{ 1, 1024, 0, { .touch = RUN_TOUCH_PAGE, .repeat = 3 } },
		{ 1, 0, 0, { .verify = 1, .sample = 7, .repeat = 2 } },
		{ 4, 1024, 0, { .touch = RUN_TOUCH_ALL, .repeat = 1 } },
		{ 4, 0, 0,
		    { .touch = RUN_TOUCH_FIRST, .sample = 1, .repeat = 1 } },
		{ 6, 2048, 0, { .verify = 1, .sample = 3, .repeat = 2 } },
		{ 3, 4096, ORDER_TOTAL, { .verify = 1, .repeat = 1 } },
		{ 3, 2048, ORDER_NONE, { .verify = 1, .repeat = 1 } },
	};
	struct bytes b = { 0 };
	struct making m = { 0 };
	struct run_shared_stats *board;
	uint64_t done, sampled, chunk, words, threads;
	uint32_t position;
	struct program *p;
	const char *wrong;
	struct facts f;
	size_t i, k;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		random_trace(ops, STEPS, cases[i].threads);
		m.chunk = cases[i].chunk;
		m.order = cases[i].order;
		p = make(ops, STEPS, &m, &b, &f);
		board = run(p, &good, &cases[i].o, &wrong);
		done = sampled = threads = 0;
		for (k = 0; k < RUN_KINDS; k++) {
			done += board->operations[k];
			sampled += board->latency[k].count;
		}
		for (k = 0; k < board->threads; k++)
			threads += board->thread[k].times.operations;
		ok(wrong == NULL && board->errors == 0 &&
		        board->failures == 0 && good_wrong == 0,
		    "run %zu finds nothing wrong", i);
		ok(done == STEPS * cases[i].o.repeat && threads == done &&
		        board->repeats == cases[i].o.repeat,
		    "all is run");
		is_u64(good_live, 0, "and freed in the end");
		if (cases[i].o.sample == 0)
			is_u64(sampled, 0, "nothing is timed");
		else
			ok(sampled > done / cases[i].o.sample / 3 &&
			        sampled <= done,
			    "%d of %d are timed", (int)sampled, (int)done);
		run_position(board, 0, &chunk, &position);
		ok(chunk == f.chunks - 1 &&
		        run_progress(board, &f, &words) == 1 &&
		        words == f.words && board->cpu_ns > 0 &&
		        board->wall_ns > 0,
		    "it reports its progress");
		free(board);
		program_free(p);
	}
	free(b.data);
}

/* One operation in so many is timed, on average; of one in 1 each. */
static void
test_samples(tel_alloc *ops)
{
	static const unsigned each[] = { 1, 2, 3, 8, 25 };
	struct run_options o = { .repeat = 1 };
	struct making m = { .chunk = 1024 };
	struct run_shared_stats *board;
	struct bytes b = { 0 };
	uint64_t sampled, k;
	const char *wrong;
	struct program *p;
	struct facts f;
	size_t i;

	random_trace(ops, STEPS, 1);
	p = make(ops, STEPS, &m, &b, &f);
	for (i = 0; i < sizeof(each) / sizeof(each[0]); i++) {
		o.sample = each[i];
		board = run(p, &good, &o, &wrong);
		for (sampled = 0, k = 0; k < RUN_KINDS; k++)
			sampled += board->latency[k].count;
		ok(sampled * each[i] > STEPS / 10 * 9 &&
		        sampled * each[i] < STEPS / 10 * 11 &&
		        (each[i] > 1 || sampled == STEPS),
		    "of one operation in %u, %d are timed", each[i],
		    (int)sampled);
		free(board);
	}
	program_free(p);
	free(b.data);
}

static void
test_failing(tel_alloc *ops)
{
	struct run_options o = { .verify = 1, .repeat = 1 };
	struct bytes b = { 0 };
	struct making m = { 0 };
	struct run_shared_stats *board;
	const char *wrong;
	struct program *p;
	struct facts f;
	int verify;

	random_trace(ops, STEPS, 3);
	p = make(ops, STEPS, &m, &b, &f);
	fail_every = 40;
	for (verify = 0; verify < 2; verify++) {
		o.verify = verify;
		o.touch = RUN_TOUCH_ALL;
		good_fails = 0;
		board = run(p, &good, &o, &wrong);
		ok(wrong == NULL && board->failures > 50 &&
		        board->failures <= good_fails,
		    "%d failed allocations are counted", (int)board->failures);
		ok(board->errors == 0 && good_wrong == 0 && good_live == 0,
		    "and nothing else goes wrong");
		is_u64(board->wrong[RUN_NULL].count, board->failures,
		    "all are of one kind");
		free(board);
	}
	fail_every = 0;
	program_free(p);
	free(b.data);
}

static void
test_bad(void)
{
	static const tel_alloc ops[] = {
		{ .kind = TEL_ALLOC_MALLOC, .address = 1, .size = 100 },
		{ .kind = TEL_ALLOC_MALLOC, .address = 2, .size = 10 },
		{ .kind = TEL_ALLOC_CALLOC,
		    .address = 3,
		    .size = 30,
		    .count = 2 },
		{ .kind = TEL_ALLOC_ALIGNED,
		    .address = 4,
		    .size = 8,
		    .alignment = 512 },
		{ .kind = TEL_ALLOC_FREE, .address = 1 },
		{ .kind = TEL_ALLOC_REALLOC,
		    .address = 2,
		    .old = 2,
		    .size = 9 },
	};
	static const struct {
		enum run_wrong what;
		uint64_t event, offset;
	} want[] = {
		{ RUN_NOT_ZERO, 2, 30 },
		{ RUN_ALIGNMENT, 3, 512 },
		{ RUN_OVERLAP, 4, 64 },
		{ RUN_CONTENT, 5, 5 },
	};
	struct run_options o = { .verify = 1, .repeat = 1 };
	struct bytes b = { 0 };
	struct making m = { 0 };
	struct run_shared_stats *board;
	const char *wrong, *log;
	const struct run_error *e;
	struct program *p;
	uint64_t event;
	struct facts f;
	size_t i;

	p = make(ops, sizeof(ops) / sizeof(ops[0]), &m, &b, &f);
	board = run(p, &bad, &o, &wrong);
	is_u64(board->errors, 4, "an allocator that is wrong");
	for (i = 0; i < 4; i++) {
		e = &board->wrong[want[i].what];
		event = 99;
		ok(program_origin(p, e->chunk, e->thread, e->position, &log,
		       &event) == TEL_OK &&
		        e->count == 1 && event == want[i].event &&
		        e->offset == want[i].offset,
		    "error %zu names its event", i);
	}
	free(board);
	program_free(p);
	free(b.data);
}

static void
test_phases(tel_alloc *ops)
{
	struct run_options o = { .repeat = 2, .phase = note_phase };
	struct bytes b = { 0 };
	struct making m = { .chunk = 1024, .rate = 1e6 };
	struct run_shared_stats *board;
	const char *wrong;
	struct program *p;
	uint64_t i, wall;
	struct facts f;

	random_trace(ops, 1500, 2);
	/* thirty milliseconds, by a clock of microseconds */
	for (i = 0; i < 1500; i++)
		ops[i].clock = 7000 + i * 20;
	p = make(ops, 1500, &m, &b, &f);
	board = run(p, &good, &o, &wrong);
	is_str(phases, "RCPCPDFCPCPDF", "phases come in order");
	free(board);
	o.pace = 1;
	o.repeat = 1;
	wall = run_now();
	board = run(p, &good, &o, &wrong);
	wall = run_now() - wall;
	ok(wrong == NULL && wall > 29000000, "a pace is kept");
	free(board);
	program_free(p);
	m.rate = 0;
	p = make(ops, 1500, &m, &b, &f);
	board = run(p, &good, &o, &wrong);
	ok(wrong != NULL, "not without a clock: %s", wrong);
	free(board);
	program_free(p);
	free(b.data);
}

static pthread_key_t exits_key;
static _Atomic unsigned births, exits, alive, alive_most;

static void
note_exit(void *value)
{
	(void)value;
	atomic_fetch_add(&exits, 1);
	atomic_fetch_sub(&alive, 1);
}

/* Notes the threads that allocate, and that end. */
static void *
born_malloc(size_t size)
{
	unsigned n;

	if (pthread_getspecific(exits_key) == NULL) {
		atomic_fetch_add(&births, 1);
		n = atomic_fetch_add(&alive, 1) + 1;
		if (n > atomic_load(&alive_most))
			atomic_store(&alive_most, n);
		(void)pthread_setspecific(exits_key, &exits);
	}
	return good_malloc(size);
}

static unsigned exits_recorded;

/* When the last event was run. */
static void
note_all_done(void *arg, enum run_phase phase)
{
	(void)arg;
	if (phase == RUN_ALL_DONE)
		exits_recorded += atomic_exchange(&exits, 0);
}

/*
 * 300 threads, of which one ends before the next but one is born; the end of
 * the last two is not recorded.
 */
static void
test_births(tel_alloc *ops)
{
	struct alloc_functions a = good;
	struct run_options o = { .repeat = 2, .phase = note_all_done };
	struct bytes b = { 0 };
	struct making m = { .chunk = 1024 };
	struct run_shared_stats *board;
	const char *wrong;
	struct program *p;
	struct facts f;
	size_t i, n = 0;

	memset(ops, 0, 1800 * sizeof(*ops));
	for (i = 0; i < 300; i++) {
		ops[n].kind = TEL_ALLOC_MALLOC;
		ops[n].size = 100;
		ops[n].thread = i + 1;
		ops[n++].address = 16 * i + 16;
		if (i < 3)
			continue;
		ops[n].kind = TEL_ALLOC_FREE;
		ops[n].thread = i - 2 + 1;
		ops[n++].address = 16 * (i - 2) + 16;
		ops[n].kind = TEL_ALLOC_THREAD_END;
		ops[n++].thread = i - 2 + 1;
	}
	a.malloc = born_malloc;
	(void)pthread_key_create(&exits_key, note_exit);
	p = make(ops, n, &m, &b, &f);
	board = run(p, &a, &o, &wrong);
	/* the main thread neither ends nor starts again */
	exits += exits_recorded;
	ok(wrong == NULL && births == 599 && exits == 598,
	    "%u threads are born in two runs, %u end", births, exits);
	/* the two that remain of the first run end before the second one */
	is_u64(exits_recorded, 297 + 2 + 297,
	    "those whose end is recorded have ended at the last event");
	ok(f.threads == 4 && alive_most <= 5, "%u are alive at a time",
	    alive_most);
	ok(board->thread[1].state == RUN_ENDED, "and end with their last word");
	(void)pthread_key_delete(exits_key);
	free(board);
	program_free(p);
	free(b.data);
}

/*
 * Threads whose first operation, the free of an unknown address, takes no word:
 * most of them have none in the chunk in which they start.  They end, and a
 * free of NULL follows, as the C library has it.
 */
static void
test_births_without_words(tel_alloc *ops)
{
	struct alloc_functions a = good;
	struct run_options o = { .repeat = 20 };
	struct making m = { .chunk = 1024, .share = -1 };
	struct run_shared_stats *board;
	struct bytes b = { 0 };
	const char *wrong;
	struct program *p;
	struct facts f;
	size_t i, n = 0;

	memset(ops, 0, STEPS * sizeof(*ops));
	for (i = 0; n + 6 < STEPS; i++) {
		ops[n].kind = TEL_ALLOC_MALLOC;
		ops[n].address = 16 * i + 16;
		ops[n++].size = 8;
		if (i % 400 == 100 || i % 400 == 300) {
			ops[n].kind = TEL_ALLOC_FREE;
			ops[n].thread = i / 400 + 1;
			ops[n++].address = i % 400 == 100 ? 1 : 16 * i + 16;
		}
		if (i % 400 != 300)
			continue;
		ops[n].kind = TEL_ALLOC_THREAD_END;
		ops[n].thread = i / 400 + 1;
		n++;
		ops[n].kind = TEL_ALLOC_FREE;
		ops[n++].thread = i / 400 + 1;
	}
	p = make(ops, n, &m, &b, &f);
	/* a hang ends it */
	(void)alarm(60);
	board = run(p, &a, &o, &wrong);
	(void)alarm(0);
	ok(wrong == NULL && f.threads == 2 && f.log_threads == 1 + i / 400 + 1,
	    "%u threads start without words", (unsigned)(i / 400));
	is_u64(f.anomalies[ANOMALY_FREE_NULL], i / 400,
	    "and those that have ended do not start again to free NULL");
	free(board);
	program_free(p);
	free(b.data);
}

#define IN(k, p, a, n) \
	{ \
		.kind = TEL_ALLOC_##k, .pool = p, .address = a, .size = n \
	}
#define AT(k, b, p) \
	{ \
		.kind = TEL_ALLOC_##k, .buffer = b, .pool = p \
	}
#define AP(k, b, a, n) \
	{ \
		.kind = TEL_ALLOC_##k, .buffer = b, .address = a, .size = n \
	}

static void
test_pools(tel_alloc *ops)
{
	static const tel_alloc trace[] = {
		IN(MALLOC, 0, 16, 0),
		IN(POOL_CREATE, 5, 0, 0),
		IN(MALLOC, 5, 32, 100),
		AT(BUFFER_CREATE, 6, 5),
		AP(RESERVE, 6, 64, 8),
		AP(COMMIT, 6, 64, 8),
		IN(CALLOC, 7, 128, 9),
		IN(MALLOC, 5, 160, 48),
		IN(MALLOC, 0, 256, 48),
		{ .kind = TEL_ALLOC_FREE,
		    .address = 176,
		    .sized = 1,
		    .size = 32 },
		{ .kind = TEL_ALLOC_REALLOC,
		    .old = 32,
		    .address = 512,
		    .size = 300 },
		{ .kind = TEL_ALLOC_FREE, .address = 64 },
		{ .kind = TEL_ALLOC_FREE, .address = 160 },
		AP(COMMIT, 6, 640, 24),
		IN(POOL_DESTROY, 5, 0, 0),
		IN(MALLOC, 7, 640, 24),
	};
	static const tel_pool_table *tables[] = { &pool_all, &pool_least };
	struct alloc_functions a = { .state = pools };
	struct run_options o = { .repeat = 2, .touch = RUN_TOUCH_ALL };
	struct bytes b = { 0 };
	struct making m = { 0 };
	tel_pool_table parts = pool_all;
	struct run_shared_stats *board;
	const char *wrong;
	struct program *p;
	struct facts f;
	unsigned i;

	for (i = 0; i < 6; i++) {
		a.pool = tables[i % 2];
		o.verify = i >= 4;
		o.sample = i / 2 == 1;
		pools_made = 0;
		memset((void *)pools, 0, sizeof(pools));
		pools[0].alive = 1; /* where state is the pool */
		p = make(trace, sizeof(trace) / sizeof(trace[0]), &m, &b, &f);
		board = run(p, &a, &o, &wrong);
		ok(wrong == NULL && pools_wrong == 0 && board->errors == 0 &&
		        board->failures == 0,
		    "pools are asked what they should be");
		is_u64(pools_made, i % 2 == 0 ? 6 : 0, "pools are made");
		ok(!pools[1].alive && pools[0].blocks == 0,
		    "and nothing is left");
		free(board);
		program_free(p);
	}
	parts.free_part = pool_free_part;
	parts.free = pool_free_part;
	a.pool = &parts;
	pools_made = 0;
	pools_wrong = 0;
	o.repeat = 1;
	p = make(trace, sizeof(trace) / sizeof(trace[0]), &m, &b, &f);
	free(run(p, &a, &o, &wrong));
	ok(pools_parts == 8, "%u frees, a part among them", pools_parts);
	program_free(p);
	/* threads on one pool: it is malloc() below, which takes them */
	a.pool = &pool_least;
	random_trace(ops, 4000, 3);
	p = make(ops, 4000, &m, &b, &f);
	o.verify = 1;
	board = run(p, &a, &o, &wrong);
	ok(wrong == NULL && board->errors == 0, "threads share a pool");
	while (test_blocks != NULL) {
		struct test_block *block = test_blocks;

		test_blocks = block->next;
		free(block);
	}
	free(board);
	program_free(p);
	free(b.data);
}

static void
test_latency(void)
{
	static uint32_t by_size[RUN_COARSE];
	uint64_t n;
	static struct run_latency l, sum;
	uint64_t i;

	for (i = 1; i <= 1000; i++)
		run_note(&l, by_size, i);
	run_latency_add(&sum, &l);
	ok(run_quantile(&sum, 0.5) > 490 && run_quantile(&sum, 0.5) < 510 &&
	        run_quantile(&sum, 0.99) > 970 &&
	        run_quantile(&sum, 0.99) <= 1000 &&
	        run_quantile(&sum, 1) == 1000 && run_quantile(&sum, 0) < 2,
	    "quantiles");
	is_u64((uint64_t)(run_coarse_median(by_size, &n) / 32), 15,
	    "a quarter of a power of 2 is as near as the median by size is");
	is_u64(n, 1000, "of all");
	run_note(&l, by_size, UINT64_MAX);
	ok(run_quantile(&l, 1) > 1.8e19, "of what took for ever");
	memset(&l, 0, sizeof(l));
	ok(run_quantile(&l, 0.5) == 0, "and of nothing");
}

/* The steps before each allocation of a thread. */
static struct worker *thinker;
static uint64_t thought[8];

static void *
think_malloc(size_t size)
{
	thought[size] = thinker->think;
	return NULL;
}

/*
 * Before each word a thread computes for its share of the time from the last
 * recorded time to the next: at most for 1 ms, and not if no time passed.
 */
static void
test_think(void)
{
	enum { WORDS = 8, TIMES = 4 };
	/* mostly 0; long ones are computed */
	static const int steps[20] = { -1, 1, 3, 7, 11, 90, 1900000 };
	const struct alloc_functions a = { .malloc = think_malloc };
	const struct run_options o = { .think_log = 1, .think_rate = 0.5 };
	struct run_shared_stats stats = { 0 };
	static struct run_thread thread;
	struct run r = { .shared_stats = &stats, .options = &o, .slow = 1 };
	uint64_t words[WORDS], times[2 * TIMES], random = 1;
	unsigned wrong = 0;

	r.tick_ns = 2;
	for (unsigned n = 0; n < 200; n++) {
		void *slots[WORDS] = { 0 };
		unsigned k = 0;
		struct worker w = { .run = &r,
			.shared_stats = &thread,
			.a = &a,
			.slots = slots,
			.first = words,
			.next = words,
			.end = words + WORDS,
			.times = times,
			.times_end = times + sizeof(times) / sizeof(*times) };

		thinker = &w;
		for (uint64_t i = 0; i < WORDS; i++)
			words[i] = WORD_MALLOC | i << WORD_SIZE_SHIFT |
			    i << WORD_SLOT_SHIFT;
		for (unsigned i = 0; i < TIMES; i++) {
			random = random * 6364136223846793005u + 1;
			times[2 * i] = (i > 0 ? times[2 * i - 2] + 1 : 0) +
			    (random >> 60) % 3;
			times[2 * i + 1] = (i > 0 ? times[2 * i - 1] : 100) +
			    (uint64_t)steps[(random >> 33) % 20];
		}
		run_paced(&w);
		for (uint64_t i = 0; i < WORDS; i++) {
			double ns = 0;

			while (k < TIMES && times[2 * k] <= i)
				k++;
			if (k > 0 && k < TIMES &&
			    times[2 * k + 1] > times[2 * k - 1])
				ns = (double)(times[2 * k + 1] -
				         times[2 * k - 1]) *
				    2 /
				    (double)(times[2 * k] - times[2 * k - 2]);
			if (ns > 1e6)
				ns = 1e6;
			wrong += thought[i] != (uint64_t)(ns / 2);
		}
	}
	is_u64(wrong, 0, "words are computed for as long as the log has it");
}

int
main(void)
{
	tel_alloc *ops = calloc(STEPS, sizeof(*ops));

	test_good(ops);
	test_samples(ops);
	test_failing(ops);
	test_bad();
	test_phases(ops);
	test_births(ops);
	test_births_without_words(ops);
	test_pools(ops);
	test_latency();
	test_think();
	free(ops);
	return done();
}
