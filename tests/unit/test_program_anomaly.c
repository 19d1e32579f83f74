/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Traces with something wrong: what is counted, what is made of them, and
 * what a strict compiler says.  And pools, buffers, and blocks in parts.
 */
#include "program_make.h"
#include "tap.h"

#define M(t, a, n) \
	{ \
		.kind = TEL_ALLOC_MALLOC, .thread = t, .address = a, .size = n \
	}
#define F(t, a) \
	{ \
		.kind = TEL_ALLOC_FREE, .thread = t, .address = a \
	}
#define P(t, a, n) \
	{ \
		.kind = TEL_ALLOC_FREE, .thread = t, .address = a, .size = n, \
		.sized = 1 \
	}
#define R(t, o, a, n) \
	{ \
		.kind = TEL_ALLOC_REALLOC, .thread = t, .old = o, \
		.address = a, .size = n \
	}
#define NO(t, n) \
	{ \
		.kind = TEL_ALLOC_MALLOC, .thread = t, .size = n, .failed = 1 \
	}
#define C(n, m) \
	{ \
		.kind = TEL_ALLOC_CALLOC, .address = 16, .count = n, .size = m \
	}
#define POOL(k, p) \
	{ \
		.kind = TEL_ALLOC_POOL_##k, .pool = p \
	}
#define BUFFER(k, b, p) \
	{ \
		.kind = TEL_ALLOC_BUFFER_##k, .buffer = b, .pool = p \
	}
#define IN(p, a, n) \
	{ \
		.kind = TEL_ALLOC_MALLOC, .pool = p, .address = a, .size = n \
	}
#define AP(k, b, a, n) \
	{ \
		.kind = TEL_ALLOC_##k, .buffer = b, .address = a, .size = n \
	}
#define END(t) \
	{ \
		.kind = TEL_ALLOC_THREAD_END, .thread = t \
	}
#define ANOMALY(k) (1u << ANOMALY_##k)

/* How many words of a program allocate, resize and free. */
struct words {
	unsigned made, resized, freed, parts, pools;
};

static struct words
words_of(const struct bytes *b, int *good)
{
	struct words n = { 0, 0, 0, 0, 0 };
	struct program_thread threads[8];
	uint64_t *room, w, chunk;
	struct program *p;
	uint32_t i;
	unsigned l;

	*good = 0;
	if (program_open_memory(b->data, b->size, &p) != TEL_OK)
		return n;
	room = malloc((size_t)program_facts(p)->largest_chunk * 8 + 8);
	*good = program_check(p) == TEL_OK;
	for (chunk = 0; chunk < program_facts(p)->chunks; chunk++) {
		if (program_load(p, chunk, room, threads) != TEL_OK)
			*good = 0;
		for (l = 0; *good && l < program_facts(p)->threads; l++)
			for (i = 0; i < threads[l].word_count; i++) {
				w = threads[l].words[i];
				n.made += (w & 7) == WORD_MALLOC ||
				    (w & 7) == WORD_CALLOC;
				n.resized += (w & 7) == WORD_REALLOC;
				n.freed += (w & 7) == WORD_FREE;
				if ((w & 7) != WORD_EXTENDED)
					continue;
				n.made += WORD_SIZE(w) == EXTENDED_ALIGNED ||
				    WORD_SIZE(w) == EXTENDED_CALLOC;
				n.parts += WORD_SIZE(w) == EXTENDED_FREE_PART;
				n.freed +=
				    WORD_SIZE(w) == EXTENDED_FREE_WITH_POOL;
				n.pools +=
				    WORD_SIZE(w) == EXTENDED_POOL_CREATE ||
				    WORD_SIZE(w) == EXTENDED_BUFFER_CREATE;
				i += WORD_SIZE(w) & 7;
			}
	}
	free(room);
	program_free(p);
	return n;
}

struct anomaly_case {
	const char *what;
	tel_alloc ops[10];  /* up to one of kind NONE */
	unsigned anomalies; /* the kinds that are there, each once */
	unsigned live;      /* blocks at the end */
	uint64_t event;     /* of the first anomaly */
	struct words words;
};

static const struct anomaly_case cases[] = {
	{ "a good trace", { M(0, 16, 1), F(0, 16) }, 0, 0, 0,
	    { 1, 0, 1, 0, 0 } },
	{ "a free of NULL", { F(0, 0) }, ANOMALY(FREE_NULL), 0, 0, { 0 } },
	{ "a failed allocation", { M(0, 16, 1), NO(0, 9) }, ANOMALY(FAILED), 1,
	    1, { 1, 0, 0, 0, 0 } },
	{ "realloc of NULL", { R(0, 0, 16, 9), F(0, 16) },
	    ANOMALY(REALLOC_NULL), 0, 0, { 1, 0, 1, 0, 0 } },
	{ "realloc to nothing, which frees", { M(0, 16, 9), R(0, 16, 0, 0) },
	    ANOMALY(REALLOC_ZERO), 0, 1, { 1, 0, 1, 0, 0 } },
	{ "realloc to nothing, which does not",
	    { M(0, 16, 9), R(0, 16, 32, 0), F(0, 32) }, ANOMALY(REALLOC_ZERO),
	    0, 1, { 1, 1, 1, 0, 0 } },
	{ "a failed realloc", { M(0, 16, 9), R(0, 16, 0, 99), F(0, 16) },
	    ANOMALY(FAILED), 0, 1, { 1, 0, 1, 0, 0 } },
	{ "a free of nothing", { M(0, 16, 1), F(0, 32), F(0, 16) },
	    ANOMALY(FREE), 0, 1, { 1, 0, 1, 0, 0 } },
	{ "one of two threads", { M(0, 16, 1), F(1, 32), F(0, 16) },
	    ANOMALY(FREE), 0, 1, { 1, 0, 1, 0, 0 } },
	{ "a second free", { M(0, 16, 1), F(0, 16), F(0, 16) }, ANOMALY(FREE),
	    0, 2, { 1, 0, 1, 0, 0 } },
	{ "a realloc of nothing", { R(0, 16, 32, 7), F(0, 32) },
	    ANOMALY(REALLOC), 0, 0, { 1, 0, 1, 0, 0 } },
	{ "a lost free", { M(0, 16, 1), M(0, 16, 2), F(0, 16) },
	    ANOMALY(DOUBLE), 0, 1, { 2, 0, 2, 0, 0 } },
	{ "a lost free, among threads",
	    { M(0, 16, 1), M(1, 16, 2), F(1, 16), F(0, 32) },
	    ANOMALY(DOUBLE) | ANOMALY(FREE), 0, 1, { 2, 0, 2, 0, 0 } },
	{ "a lost free, then the end", { M(0, 16, 1), M(1, 16, 2) },
	    ANOMALY(DOUBLE), 1, 1, { 2, 0, 1, 0, 0 } },
	{ "a free that is late",
	    { M(0, 16, 1), M(1, 16, 2), F(0, 16), F(1, 16) }, ANOMALY(RACE), 0,
	    2, { 2, 0, 2, 0, 0 } },
	{ "a free that is early",
	    { M(2, 99, 1), F(0, 16), M(1, 16, 2), M(1, 16, 3), F(1, 16),
	        F(2, 99) },
	    ANOMALY(RACE), 0, 1, { 3, 0, 3, 0, 0 } },
	{ "one that only looks so",
	    { M(2, 99, 1), F(0, 16), M(1, 16, 2), F(1, 16), F(2, 99) },
	    ANOMALY(FREE), 0, 1, { 2, 0, 2, 0, 0 } },
	{ "realloc over a live block",
	    { M(0, 16, 1), M(0, 32, 2), R(0, 16, 32, 3), F(0, 32) },
	    ANOMALY(DOUBLE), 0, 2, { 2, 1, 2, 0, 0 } },
	{ "calloc of too much", { C(UINT64_MAX / 2, 4) }, ANOMALY(ARGUMENT), 0,
	    0, { 0 } },
	{ "a free of too much", { M(0, 16, 8), P(0, 16, 9) }, ANOMALY(SIZE), 0,
	    1, { 1, 0, 1, 0, 0 } },
	{ "a block in parts, from its front",
	    { M(0, 160, 48), P(0, 160, 16), P(0, 176, 16), P(0, 192, 16) }, 0,
	    0, 0, { 1, 0, 0, 3, 0 } },
	{ "from its end, and freed by its address",
	    { M(0, 160, 48), P(0, 192, 16), P(0, 176, 16), F(0, 160) }, 0, 0, 0,
	    { 1, 0, 0, 3, 0 } },
	{ "from both, by two threads, then resized",
	    { M(0, 160, 48), P(1, 160, 8), P(0, 200, 8), R(1, 168, 160, 99),
	        F(0, 160) },
	    0, 0, 0, { 2, 0, 1, 3, 0 } },
	{ "a part that is not there", { M(0, 160, 48), P(0, 176, 16) },
	    ANOMALY(FREE), 1, 1, { 1, 0, 0, 0, 0 } },
	{ "a pool and what lives in it",
	    { POOL(CREATE, 5), IN(5, 16, 1), IN(5, 32, 1), F(0, 16),
	        POOL(DESTROY, 5) },
	    0, 0, 0, { 2, 0, 2, 0, 1 } },
	{ "a pool from before", { IN(5, 16, 1), IN(5, 32, 1), F(0, 16) },
	    ANOMALY(POOL), 1, 0, { 2, 0, 1, 0, 1 } },
	{ "a part in a pool",
	    { POOL(CREATE, 5), IN(5, 160, 48), P(0, 160, 16),
	        POOL(DESTROY, 5) },
	    0, 0, 0, { 1, 0, 1, 1, 1 } },
	{ "an allocation point",
	    { POOL(CREATE, 5), BUFFER(CREATE, 6, 5), AP(RESERVE, 6, 16, 8),
	        AP(COMMIT, 6, 16, 8), AP(RESERVE, 6, 32, 8),
	        BUFFER(DESTROY, 6, 0), F(0, 16), POOL(DESTROY, 5) },
	    ANOMALY(RESERVED), 0, 5, { 1, 0, 1, 0, 2 } },
	{ "what a collector reclaims",
	    { POOL(CREATE, 5), BUFFER(CREATE, 6, 5), AP(COMMIT, 6, 16, 8),
	        AP(COMMIT, 6, 16, 8), POOL(DESTROY, 5) },
	    ANOMALY(RECLAIMED), 0, 3, { 2, 0, 2, 0, 2 } },
	{ "a pool that is created again",
	    { POOL(CREATE, 5), IN(5, 16, 1), POOL(CREATE, 5), IN(5, 16, 1) }, 0,
	    1, 0, { 2, 0, 1, 0, 2 } },
	{ "threads that end", { M(1, 16, 1), END(1), M(2, 32, 1), END(3) }, 0,
	    2, 0, { 2, 0, 0, 0, 0 } },
};

static void
test_case(const struct anomaly_case *k)
{
	struct making m = { 0 };
	struct bytes b = { 0 };
	struct words w;
	struct facts f;
	unsigned anomalies = 0, i, n = 0, damage = 0;
	tel_status st;
	int good;

	while (n < 10 && k->ops[n].kind != TEL_ALLOC_NONE)
		n++;
	st = program_make(k->ops, n, &m, &b, &f);
	for (i = 0; i < ANOMALIES; i++) {
		anomalies |= f.anomalies[i] == 1 ? 1u << i :
		    f.anomalies[i] == 0          ? 0 :
		                                   1u << 31;
		damage |=
		    anomaly_is_damage((enum anomaly)i) && f.anomalies[i] > 0;
	}
	w = words_of(&b, &good);
	ok(st == TEL_OK && good && anomalies == k->anomalies &&
	        f.live_blocks == k->live &&
	        (anomalies == 0 || f.anomaly_events[0].event == k->event) &&
	        memcmp(&w, &k->words, sizeof(w)) == 0,
	    "%s", k->what);
	if (anomalies != k->anomalies || memcmp(&w, &k->words, sizeof(w)) != 0)
		diag("anomalies %x, live %d, at %d, words %u %u %u %u %u",
		    anomalies, (int)f.live_blocks,
		    (int)f.anomaly_events[0].event, w.made, w.resized, w.freed,
		    w.parts, w.pools);
	m.strict = 1;
	b.size = 0;
	st = program_make(k->ops, n, &m, &b, &f);
	ok(st == (damage ? TEL_EDAMAGED : TEL_OK), "... read strictly");
	free(b.data);
}

/* A race lasts 4096 operations at most. */
static void
test_window(void)
{
	struct making m = { 0 };
	struct bytes b = { 0 };
	tel_alloc *ops = calloc(12000, sizeof(*ops));
	size_t n = 0, i, late, round;
	struct facts f;

	for (round = 0; round < 2; round++) {
		late = round == 0 ? 4000 : 5000;
		n = 0;
		b.size = 0;
		ops[n++] = (tel_alloc)M(0, 16, 1);
		ops[n++] = (tel_alloc)M(1, 16, 1);
		for (i = 0; i < late; i++)
			ops[n++] = i % 2 == 0 ? (tel_alloc)M(0, 32, 1) :
			                        (tel_alloc)F(0, 32);
		ops[n++] = (tel_alloc)F(0, 16);
		ops[n++] = (tel_alloc)F(1, 16);
		(void)program_make(ops, n, &m, &b, &f);
		if (round == 0)
			ok(f.anomalies[ANOMALY_RACE] == 1 &&
			        f.anomalies[ANOMALY_DOUBLE] == 0,
			    "a free may be late");
		else
			ok(f.anomalies[ANOMALY_RACE] == 0 &&
			        f.anomalies[ANOMALY_DOUBLE] == 1 &&
			        f.anomalies[ANOMALY_FREE] == 1,
			    "but not too late");
	}
	free(ops);
	free(b.data);
}

/* Very many of each: only the first are kept, and memory stays bounded. */
static void
test_many(void)
{
	struct making m = { 0 };
	struct bytes b = { 0 };
	size_t n = 30000, i;
	tel_alloc *ops = calloc(n, sizeof(*ops));
	struct facts f;
	int good;

	for (i = 0; i < n; i++)
		ops[i] = i % 3 == 0 ? (tel_alloc)F(i % 2, 16 * i + 16) :
		    i % 3 == 1      ? (tel_alloc)M(i % 5, 24, 1) :
		                      (tel_alloc)R(1, 16 * i, 16 * i + 1, 9);
	ok(program_make(ops, n, &m, &b, &f) == TEL_OK, "a hopeless trace");
	(void)words_of(&b, &good);
	ok(good && f.anomalies[ANOMALY_FREE] == n / 3 &&
	        f.anomalies[ANOMALY_REALLOC] == n / 3 &&
	        f.anomalies[ANOMALY_DOUBLE] == n / 3 - 1,
	    "all of it is counted");
	ok(f.anomaly_event_count == 30 && f.anomaly_events[0].event == 0 &&
	        f.anomaly_events[0].thread == 0 &&
	        f.anomaly_events[0].address == 16,
	    "the first ten of a kind are kept");
	for (i = 0; i < n; i++)
		ops[i] = (tel_alloc)M(i, 16 * i + 16, 1);
	b.size = 0;
	ok(program_make(ops, n, &m, &b, &f) == TEL_OK, "as many threads");
	ok(f.log_threads == n && f.threads == 256, "share the threads");
	free(ops);
	free(b.data);
}

static void
test_limits(void)
{
	tel_alloc ops[4] = { M(0, 16, 1), M(0, 32, 1), M(0, 48, 1), F(0, 16) };
	struct compiler_settings set = compiler_defaults;
	struct compiler *c;
	int i;

	set.max_live = 2;
	c = compiler_new(NULL, &set);
	ok(compiler_set_tick_rate(c, -1) == TEL_EINVAL,
	    "a rate below 0 is refused");
	for (i = 0; i < 2; i++)
		ok(compiler_add(c, &ops[i], 0) == TEL_OK, "kept");
	ok(compiler_add(c, &ops[2], 0) == TEL_ELIMIT, "passed");
	ok(strstr(compiler_error(c), "more than 2 blocks") != NULL, "%s",
	    compiler_error(c));
	ok(compiler_add(c, &ops[3], 0) == TEL_ESTATE &&
	        compiler_finish(c) == TEL_ESTATE,
	    "that was the end");
	compiler_free(c);
	c = compiler_new(NULL, &set);
	ok(compiler_finish(c) == TEL_OK && compiler_facts(c)->chunks == 0 &&
	        compiler_finish(c) == TEL_ESTATE,
	    "nothing is a program too");
	compiler_free(c);
	compiler_free(NULL);
	program_free(NULL);
}

int
main(void)
{
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		test_case(&cases[i]);
	test_window();
	test_many();
	test_limits();
	return done();
}
