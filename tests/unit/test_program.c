/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs against a simple model of what their traces mean: each thread has
 * the operations of its thread, in order, with their sizes and events; and in
 * whatever order the threads are run that their waits allow, each operation
 * finds in its slot the block that it was about.
 */
#include "program_make.h"
#include "tap.h"
#include "telreplay/compile/program_file.h"

#define STEPS 2400
#define THREADS 8
#define NONE UINT64_MAX

/* What the model knows of each event. */
struct expected {
	tel_alloc op;
	uint64_t before; /* the event that made the block as it was, or NONE */
	uint64_t bytes, blocks; /* live after it */
};

struct trace {
	struct expected e[STEPS];
	tel_alloc ops[STEPS];
	uint64_t bytes, blocks, peak, most; /* live, and at most */
};

static void
trace_make(struct trace *t, uint64_t seed, unsigned threads)
{
	struct heap *h = calloc(1, sizeof(*h));
	uint64_t made[HEAP_BLOCKS], size[HEAP_BLOCKS] = { 0 };
	size_t block, i;

	if (h == NULL)
		abort();
	h->random = seed;
	h->next = 4096;
	memset(made, 0xff, sizeof(made));
	memset(t, 0, sizeof(*t));
	for (i = 0; i < STEPS; i++) {
		t->ops[i] = heap_step(h, threads, &block);
		t->ops[i].clock = 1000 + 3 * i;
		t->e[i].op = t->ops[i];
		t->e[i].before = made[block];
		t->bytes -= size[block];
		t->blocks -= made[block] != NONE;
		made[block] = h->address[block] == 0 ? NONE : i;
		size[block] = h->address[block] == 0 ? 0 : h->size[block];
		t->bytes += size[block];
		t->blocks += made[block] != NONE;
		t->e[i].bytes = t->bytes;
		t->e[i].blocks = t->blocks;
		if (t->bytes > t->peak)
			t->peak = t->bytes;
		if (t->blocks > t->most)
			t->most = t->blocks;
	}
	free(h);
}

/* Whether each point of the curve has what was live, and at most since the last. */
static int
curve_is_right(const struct trace *t, const struct facts *f)
{
	const struct expected *e = t->e;
	const struct live_point *p;
	uint64_t k, peak = 0;

	for (k = 0; k < f->curve_points; k++) {
		p = &f->curve[k];
		do {
			peak = e->bytes > peak ? e->bytes : peak;
		} while (e->op.clock != p->clock && ++e < t->e + STEPS);
		if (e == t->e + STEPS || p->bytes != e->bytes ||
		    p->blocks != e->blocks || p->peak != peak)
			return 0;
		peak = e->bytes;
	}
	return e == t->e + STEPS - 1;
}

/* A run of a program in one of the orders that it allows. */
struct player {
	struct program *p;
	const struct facts *f;
	const struct trace *t;
	uint64_t *slots; /* the event that made what is there, or NONE */
	uint64_t *room;
	struct program_thread threads[THREADS];
	uint32_t at[THREADS];
	uint64_t last[THREADS]; /* event, of the thread */
	uint64_t latest;        /* of any */
	uint64_t chunk;
	uint64_t random;
	unsigned char running[THREADS];
	uint32_t window[THREADS]; /* that it is in, or 0 */
	uint64_t live, peak;      /* bytes */
	unsigned log_threads;
	int greedy; /* each thread goes as far as it gets */
	uint64_t wrong, done, unordered;
};

static uint64_t
block_size(const tel_alloc *op)
{
	return op->size * (op->kind == TEL_ALLOC_CALLOC ? op->count : 1);
}

static void
play_word(struct player *p, unsigned thread, const uint64_t *words)
{
	uint64_t *slot = &p->slots[WORD_SLOT(*words)];
	const struct expected *e;
	uint64_t event = NONE, size;
	const char *log = NULL;
	enum word kind = (enum word)(*words & WORD_KIND);
	tel_status st;
	int frees;

	st =
	    program_origin(p->p, p->chunk, thread, p->at[thread], &log, &event);
	if (st != TEL_OK || event >= STEPS || strcmp(log, "made.log") != 0) {
		p->wrong++;
		return;
	}
	e = &p->t->e[event];
	size = block_size(&e->op);
	frees = kind == WORD_FREE ||
	    (kind == WORD_EXTENDED && WORD_SIZE(*words) == EXTENDED_FREE);
	if (frees != (e->op.kind == TEL_ALLOC_FREE) || *slot != e->before ||
	    (!frees && word_size(words) != size))
		p->wrong++;
	/* of its thread, and in order */
	if (p->f->order != ORDER_NONE && p->f->threads == p->log_threads &&
	    p->last[thread] != NONE &&
	    (p->t->e[p->last[thread]].op.thread != e->op.thread ||
	        event <= p->last[thread]))
		p->wrong++;
	if (p->latest != NONE && event < p->latest)
		p->unordered++;
	p->last[thread] = event;
	p->latest = event;
	if (*slot != NONE)
		p->live -= block_size(&p->t->e[*slot].op);
	if (!frees)
		p->live += size;
	if (p->live > p->peak)
		p->peak = p->live;
	*slot = frees ? NONE : event;
	p->done++;
}

/* Nonzero when nobody is in a window before this one, or has it before him. */
static int
is_past(const struct player *p, uint32_t window)
{
	uint64_t w;
	uint32_t k;
	unsigned i;

	for (i = 0; i < p->f->threads; i++) {
		if (p->window[i] != 0 && p->window[i] < window &&
		    p->at[i] < p->threads[i].word_count)
			return 0;
		for (k = p->at[i]; k < p->threads[i].word_count;
		     k += 1 + word_operands(w)) {
			w = p->threads[i].words[k];
			if (word_is_window(w) && WORD_SLOT(w) < window)
				return 0;
		}
	}
	return 1;
}

static int
play_control(struct player *p, unsigned thread, uint64_t word)
{
	uint32_t number = WORD_SLOT(word);

	if (word_is_window(word)) {
		if (p->window[thread] != 0) {
			p->window[thread] = 0;
			return 1;
		}
		if (number > 1 && !is_past(p, number - 1))
			return 0;
		p->window[thread] = number;
	} else if (word_is_end(word)) {
		p->window[thread] = 0;
		p->running[thread] = 0;
	} else {
		if (p->running[number])
			p->wrong++;
		p->running[number] = 1;
	}
	p->at[thread]++;
	return 1;
}

/* Lets a thread run one word; 0 when it has to wait. */
static int
play_step(struct player *p, unsigned thread)
{
	const uint64_t *words = p->threads[thread].words + p->at[thread];
	uint32_t other = WORD_SLOT(*words);

	if (!p->running[thread])
		return 0;
	if ((*words & WORD_KIND) == WORD_CONTROL)
		return play_control(p, thread, *words);
	if ((*words & WORD_KIND) == WORD_WAIT) {
		if (p->at[other] <= WORD_SIZE(*words))
			return 0;
		p->at[thread]++;
		return 1;
	}
	play_word(p, thread, words);
	p->at[thread] += 1 + word_operands(*words);
	return 1;
}

static void
play_chunk(struct player *p)
{
	unsigned thread = 0, i, waiting = 0;

	memset(p->at, 0, sizeof(p->at));
	memset(p->window, 0, sizeof(p->window));
	while (waiting < p->f->threads) {
		p->random = p->random * UINT64_C(6364136223846793005) + 1;
		if (p->greedy == 0 && (p->random >> 40) % 16 == 0)
			thread = (unsigned)(p->random >> 50) %
			    (unsigned)p->f->threads;
		/* as far as it gets now and then, or a word */
		for (i = 0; i < p->f->threads; i++, thread++) {
			thread %= (unsigned)p->f->threads;
			if (p->at[thread] < p->threads[thread].word_count &&
			    play_step(p, thread))
				break;
		}
		waiting = i;
	}
	for (i = 0; i < p->f->threads; i++)
		if (p->at[i] != p->threads[i].word_count)
			p->wrong++;
}

static void
play(struct player *p, const struct bytes *b, const struct trace *t,
    uint64_t seed, unsigned threads)
{
	uint64_t i;

	int greedy = p->greedy;

	memset(p, 0, sizeof(*p));
	p->greedy = greedy;
	if (program_open_memory(b->data, b->size, &p->p) != TEL_OK) {
		p->wrong = 1;
		return;
	}
	p->f = program_facts(p->p);
	p->t = t;
	p->random = seed;
	p->log_threads = threads;
	p->latest = NONE;
	p->running[0] = 1;
	memset(p->last, 0xff, sizeof(p->last));
	p->slots = malloc((size_t)p->f->slots * 8);
	p->room = malloc((size_t)p->f->largest_chunk * 8);
	if (p->slots == NULL || p->room == NULL || p->f->threads > THREADS)
		abort();
	memset(p->slots, 0xff, (size_t)p->f->slots * 8);
	for (i = 0; i < p->f->chunks && p->wrong == 0; i++) {
		p->chunk = i;
		if (program_load(p->p, i, p->room, p->threads) != TEL_OK)
			p->wrong++;
		else
			play_chunk(p);
	}
	if (program_check(p->p) != TEL_OK)
		p->wrong++;
	free(p->slots);
	free(p->room);
}

static void
test_orders(struct trace *t)
{
	static const struct {
		unsigned log_threads, threads;
		enum program_order order;
		size_t chunk;
	} cases[] = {
		{ 1, 0, ORDER_EDGES, 0 },
		{ 2, 0, ORDER_EDGES, 0 },
		{ 3, 0, ORDER_EDGES, 1024 },
		{ 7, 0, ORDER_EDGES, 2048 },
		{ 5, 2, ORDER_EDGES, 1024 },
		{ 4, 0, ORDER_TOTAL, 1024 },
		{ 4, 0, ORDER_TOTAL, 0 },
		{ 4, 1, ORDER_EDGES, 0 },
		{ 4, 0, ORDER_NONE, 1024 },
		{ 4, 0, ORDER_NONE, 0 },
	};
	struct making m = { .rate = 1e6 };
	struct bytes b = { 0 };
	struct player p = { 0 };
	struct facts f;
	size_t i;
	uint64_t seed;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		m.order = cases[i].order;
		m.threads = cases[i].threads;
		m.chunk = cases[i].chunk;
		trace_make(t, 77 + i, cases[i].log_threads);
		b.size = 0;
		ok(program_make(t->ops, STEPS, &m, &b, &f) == TEL_OK,
		    "trace %zu is compiled", i);
		for (seed = 1; seed <= 2; seed++) {
			play(&p, &b, t, seed, cases[i].log_threads);
			ok(p.wrong == 0 && p.done == STEPS,
			    "each operation finds its block, run %d",
			    (int)seed);
			program_free(p.p);
		}
		if (m.order == ORDER_TOTAL || m.threads == 1)
			is_u64(p.unordered, 0, "the log's order is kept");
		if (m.order == ORDER_NONE)
			is_u64(f.waits, 0, "nobody waits");
		else if (f.threads > 1)
			ok(f.waits > 0 && p.unordered + f.order > 0,
			    "%d waits, %d implied", (int)f.waits,
			    (int)f.implied);
		ok(f.live_bytes == t->bytes && f.live_blocks == t->blocks &&
		        f.peak_bytes == t->peak && f.peak_blocks == t->most,
		    "what is live is known");
		ok(f.compiled == STEPS &&
		        f.log_threads == cases[i].log_threads &&
		        f.live_bytes == f.curve[f.curve_points - 1].bytes,
		    "and how much there is");
		ok(f.curve_points >= STEPS / 64 && curve_is_right(t, &f),
		    "at each of %d points", (int)f.curve_points);
	}
	free(b.data);
}

/*
 * One thread allocates, another one frees: at most 1000 blocks are live.  They
 * take turns, or each does so many before the other does.
 */
static void
queue_make(struct trace *t, size_t batch)
{
	size_t i, made = 0, freed = 0;
	tel_alloc *op;

	memset(t, 0, sizeof(*t));
	for (i = 0; i < STEPS; i++) {
		op = &t->ops[i];
		op->clock = i;
		op->thread =
		    made - freed >= 1000 || (i % 7 > 3 && made > freed);
		if (batch > 0)
			op->thread = i / batch % 2;
		op->kind = op->thread ? TEL_ALLOC_FREE : TEL_ALLOC_MALLOC;
		op->size = op->thread ? 0 : 100;
		op->address = 16 + 16 * (op->thread ? freed++ : made++);
		t->e[i].op = *op;
		t->e[i].before = NONE;
	}
	for (i = 0; i < STEPS; i++)
		if (t->ops[i].thread == 1)
			for (made = 0; made < i; made++)
				if (t->ops[made].address == t->ops[i].address)
					t->e[i].before = made;
}

/* Runs threads as far ahead of each other as a program lets them. */
static void
test_window(struct trace *t)
{
	static const struct {
		double share;
		uint64_t operations;
		size_t batch;
		double least, most; /* of the log's peak */
	} cases[] = {
		{ -1, 0, 0, 1.5, 100 },
		{ 0, 0, 0, 0.99, 1.05 },
		{ 0.25, 0, 0, 1.05, 1.6 },
		{ 0, 20, 0, 0.99, 1.05 },
		{ -1, 0, 500, 1.5, 100 },
		{ 0, 0, 500, 0.99, 1.05 },
		{ 0, 20, 500, 0.99, 1.05 },
	};
	struct making m = { .chunk = 1 << 20 };
	struct bytes b = { 0 };
	struct player p;
	struct facts f;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		queue_make(t, cases[i].batch);
		m.share = cases[i].share;
		m.operations = cases[i].operations;
		b.size = 0;
		ok(program_make(t->ops, STEPS, &m, &b, &f) == TEL_OK,
		    "window %zu", i);
		p.greedy = 1;
		play(&p, &b, t, 0, 2);
		ok(p.wrong == 0 && p.done == STEPS &&
		        (double)p.peak >=
		            cases[i].least * (double)f.peak_bytes &&
		        (double)p.peak <= cases[i].most * (double)f.peak_bytes,
		    "%d bytes live at most, in the log %d", (int)p.peak,
		    (int)f.peak_bytes);
		program_free(p.p);
	}
	free(b.data);
}

/* Threads run where the log has them, and no longer. */
static void
test_lives(void)
{
	struct making m = { .chunk = 1024 };
	struct bytes b = { 0 };
	size_t n = 9000, i;
	tel_alloc *ops = calloc(n, sizeof(*ops));
	struct program *p = NULL;
	struct facts f;

	if (ops == NULL)
		abort();
	/* one after the other, of three operations; the main one between */
	for (i = 0; i < n; i++) {
		ops[i].thread = i % 4 == 0 ? 0 : 1 + i / 4;
		ops[i].kind = i % 4 == 3 ? TEL_ALLOC_THREAD_END :
		    i % 4 == 2           ? TEL_ALLOC_FREE :
		                           TEL_ALLOC_MALLOC;
		ops[i].address = 16 + 16 * (i - (i % 4 == 2));
		ops[i].size = i % 4 == 2 ? 0 : 10;
	}
	ok(program_make(ops, n, &m, &b, &f) == TEL_OK &&
	        program_open_memory(b.data, b.size, &p) == TEL_OK,
	    "2,250 threads are compiled");
	ok(f.log_threads == 2251 && f.threads == 2 &&
	        program_check(p) == TEL_OK,
	    "two run at a time");
	ok(f.lives[0].hosted == 1 && f.lives[1].hosted == 2250 &&
	        f.lives[1].id == 1,
	    "one of them in the place of all others");
	program_free(p);
	free(ops);
	free(b.data);
}

/*
 * Every part of a program is guarded: no byte may change, none may miss.  A
 * sample of them, of all bits, unless TEST_WHOLE is set.
 */
static void
test_damage(struct trace *t)
{
	size_t step = getenv("TEST_WHOLE") != NULL ? 1 : 13;
	struct making m = { .chunk = 1024 };
	struct bytes b = { 0 };
	size_t i, good = 0, n = 1100;
	struct program *p;
	struct facts f;
	tel_status st;

	trace_make(t, 5, 3);
	ok(program_make(t->ops, n, &m, &b, &f) == TEL_OK, "compiled");
	ok(f.chunks > 1, "in several chunks");
	for (i = 0; i < b.size; i += i < 64 ? 1 : step)
		if (program_open_memory(b.data, i, &p) == TEL_OK) {
			good++;
			program_free(p);
		}
	is_u64(good, 0, "no prefix is a program");
	for (i = 0, good = 0; i < b.size; i += i < 64 ? 1 : step) {
		b.data[i] ^= (unsigned char)(1u << i % 8);
		st = program_open_memory(b.data, b.size, &p);
		if (st == TEL_OK) {
			st = program_check(p);
			program_free(p);
		}
		good += st == TEL_OK;
		b.data[i] ^= (unsigned char)(1u << i % 8);
	}
	is_u64(good, 0, "nor is one with a bit flipped");
	ok(program_probe(b.data, 8) && !program_probe("12345678", 8) &&
	        !program_probe(b.data, 7),
	    "a program is known by its first bytes");
	b.data[8]++;
	ok(program_open_memory(b.data, b.size, &p) == TEL_EVERSION,
	    "another version is refused");
	free(b.data);
}

/* The chunk at p, of size bytes, gets the checksum of what is in it. */
static void
store_sum(unsigned char *p, size_t size)
{
	tel_store_le64(p + size - 8, program_sum(0, p, size - 8));
}

/* A wait for what no run publishes: the size of an operation, as if it were one. */
static void
test_wait(void)
{
	const uint64_t large = (UINT64_C(1) << 28) + WORD_PUBLISH;
	const tel_alloc ops[] = {
		{ .kind = TEL_ALLOC_MALLOC, .address = 8, .size = 1 },
		{ .kind = TEL_ALLOC_FREE, .address = 8, .thread = 1 },
		{ .kind = TEL_ALLOC_MALLOC, .address = 16, .size = large },
		{ .kind = TEL_ALLOC_FREE, .address = 16, .thread = 1 },
	};
	struct making m = { 0 };
	struct bytes b = { 0 };
	struct program *p;
	struct facts f;
	size_t i, size;

	ok(program_make(ops, 4, &m, &b, &f) == TEL_OK && f.chunks == 1,
	    "a free waits for an allocation");
	size = (size_t)tel_le64(b.data + b.size - PROGRAM_TRAILER) -
	    PROGRAM_HEADER;
	for (i = PROGRAM_HEADER + 40; i + 8 < PROGRAM_HEADER + size; i += 8) {
		uint64_t word = tel_le64(b.data + i);

		if ((word & WORD_KIND) == WORD_EXTENDED &&
		    tel_le64(b.data + i + 8) == large &&
		    (word & WORD_PUBLISH) != 0)
			tel_store_le64(b.data + i, word - WORD_PUBLISH);
		if ((word & WORD_KIND) == WORD_WAIT)
			tel_store_le64(b.data + i,
			    word + (1u << WORD_SIZE_SHIFT));
	}
	store_sum(b.data + PROGRAM_HEADER, size);
	ok(program_open_memory(b.data, b.size, &p) == TEL_OK, "changed");
	ok(program_check(p) == TEL_EDAMAGED, "it would wait for ever");
	program_free(p);
	free(b.data);
}

int
main(void)
{
	struct trace *t = malloc(sizeof(*t));

	if (t == NULL)
		return 1;
	test_orders(t);
	test_window(t);
	test_lives();
	test_damage(t);
	test_wait();
	free(t);
	return done();
}
