/* SPDX-License-Identifier: BSD-2-Clause */
/* The records that a thread writes into its ring, without a recording. */
#define _GNU_SOURCE
#include "telrec/preload/ring.c"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "tap.h"

/* ---------------------------------------- what the library otherwise has */

struct ring_shared ring_shared;
static struct process own;
struct process *process = &own;
unsigned sandbox;
static int has_rings = 1;
static int is_first; /* the next record is the first of its process */
static uint32_t taken;

int
process_begin(void)
{
	const int first = is_first;

	is_first = 0;
	return first;
}

int
process_take_ring(struct ring_self *s)
{
	struct arena *a = ring_shared.arena;

	if (!has_rings)
		return 0;
	s->ring = &a->rings[taken];
	s->ring->open = 1;
	s->ring->pid = 1;
	s->words = arena_words(a, taken);
	s->id = (uint16_t)++taken;
	return 1;
}

void
process_forget(struct ring_self *s)
{
	process->alive = 1;
	s->ring = NULL;
	s->left = 0;
	s->queued = 0;
}

int
sample_remove(const void *p)
{
	return (uintptr_t)p % 2 == 0;
}

/* --------------------------------------------------------- what was written */

/* A block. */
static void *
at(uintptr_t address)
{
	return (void *)address;
}

static char text[65536];
static uint32_t seen;
static unsigned clocks;
static uint64_t last_clock;
static int is_backwards;

static uint64_t
next_word(const struct ring_self *s)
{
	return s->words[seen++ & (ARENA_RING_WORDS - 1)];
}

/* Appends the records of the ring since the last time to text. */
static void
read_records(void)
{
	const struct ring_self *s = &ring_self;
	size_t used = 0;
	uint64_t word, twelve;
	unsigned n;

	text[0] = '\0';
	clocks = 0;
	while (seen != s->ring->head && used + 200 < sizeof(text)) {
		word = next_word(s);
		twelve = word >> 4 & 0xFFF;
		if ((word & 15) == ARENA_CLOCK) {
			clocks++;
			is_backwards |= word >> 4 < last_clock;
			last_clock = word >> 4;
			continue;
		}
		used += (size_t)snprintf(text + used, 80,
		    "%s%u:%" PRIx64 ":%" PRIx64, used > 0 ? " " : "",
		    (unsigned)(word & 15), word >> 16, twelve);
		switch (word & 15) {
		case ARENA_MALLOC_LONG: n = 1; break;
		case ARENA_VALLOC:
		case ARENA_PVALLOC: n = twelve == ARENA_SIZE_LONG; break;
		case ARENA_CALLOC:
		case ARENA_MEMALIGN:
		case ARENA_POSIX_MEMALIGN:
		case ARENA_ALIGNED_ALLOC: n = twelve == 0 ? 2 : 1; break;
		case ARENA_REALLOC: n = 1 + (twelve == ARENA_SIZE_LONG); break;
		case ARENA_REALLOCARRAY: n = 3; break;
		case ARENA_MORE:
			n = twelve == ARENA_MODULE ?
			    3 + (unsigned)(word >> 16) :
			    twelve == ARENA_THREAD_END ? 0 :
			                                 2;
			break;
		default: n = 0;
		}
		if (ring_shared.options & ARENA_STACKS &&
		    (word & 15) != ARENA_FREE && (word & 15) != ARENA_MORE)
			n++;
		while (n-- > 0)
			used += (size_t)snprintf(text + used, 80, ",%" PRIx64,
			    next_word(s));
	}
	s->ring->tail = s->ring->head;
}

static void
wrote(const char *want, const char *what)
{
	read_records();
	if (!ok(strcmp(text, want) == 0 && !ring_self.ring->open &&
	            !is_backwards,
	        "%s", what))
		diag("'%s', not '%s'", text, want);
}

static void
put(enum arena_op op, uintptr_t address, unsigned twelve)
{
	const uint64_t word = ring_word(op, at(address), twelve);

	ring_put(&word, 1, at(address));
}

/* ------------------------------------------------------------------ tests */

/* A signal handler's records, while its thread writes one of n words. */
static void
test_queue(unsigned n, unsigned count, unsigned fit)
{
	const uint64_t before = ring_self.ring->lost;
	uint64_t words[ARENA_RECORD_MAX] = { 0 };
	char want[4096] = "";
	size_t used = 0;
	unsigned i;

	ring_self.ring->open = 1;
	for (i = 0; i < count; i++) {
		words[0] = ring_word(n == 1 ? ARENA_FREE : ARENA_MALLOC_LONG,
		    at(0x10000 * (i + 1)), 0);
		words[1] = i;
		ring_put(words, n, at(0x10000 * (i + 1)));
		if (i < fit)
			used +=
			    (size_t)snprintf(want + used, sizeof(want) - used,
			        n == 1 ? "%s3:%x:0" : "%s4:%x:0,%x",
			        i > 0 ? " " : "", 0x10000 * (i + 1), i);
	}
	ring_self.ring->open = 0;
	is_u64(ring_self.ring->lost - before, count - fit,
	    "%u records of %u words: others are lost", count, n);
	ring_put_queued(&ring_self);
	wrote(want, "what a signal handler did comes afterwards");
	put(ARENA_FREE, 0x10, 0);
	wrote("3:10:0", "and then others");
}

/* A realloc of old to p, whose page is another ring's if owner is not 0. */
static void
reallocate(uintptr_t old, uintptr_t p, uint16_t owner, const uint64_t *words,
    unsigned n)
{
	uint64_t copy[ARENA_RECORD_MAX];
	int begun;

	memcpy(copy, words, n * sizeof(copy[0]));
	copy[0] |= (uint64_t)p << 16;
	copy[1] = old;
	*ring_owner(at(old)) = ring_self.id;
	*ring_owner(at(p)) = owner;
	begun = ring_begin_realloc(at(old));
	ok(begun, "the ring is open for a realloc");
	ring_end_realloc(begun, copy, n, at(p), at(old));
}

static void
test_realloc(int has_traces)
{
	const unsigned more = has_traces != 0;
	const uint64_t few[] = { ring_word(ARENA_REALLOC, NULL, 0x123), 0,
		0x77 };
	const uint64_t many[] = { ring_word(ARENA_REALLOC, NULL, 0xFFF), 0,
		0x12345, 0x77 };
	const uint64_t array[] = { ring_word(ARENA_REALLOCARRAY, NULL, 0), 0, 3,
		0x500, 0x77 };

	ring_shared.options = has_traces ? ARENA_STACKS : 0;
	put(ARENA_FREE, 0x1000, 0);
	read_records();
	reallocate(0x1000, 0x5000, 0, many, 3 + more);
	wrote(more ? "8:5000:fff,1000,12345,77" : "8:5000:fff,1000,12345",
	    "to a page that nobody has");
	ok(*ring_owner(at(0x5000)) == ring_self.id,
	    "which this thread has now");
	reallocate(0x1000, 0x5000, 99, many, 3 + more);
	wrote(more ? "3:1000:0 4:5000:0,12345,77" : "3:1000:0 4:5000:0,12345",
	    "to another thread's page, it is a free and an allocation");
	ok(clocks == 1, "the latter of which is later");
	ok(*ring_owner(at(0x5000)) == ring_self.id, "the page changes hands");
	reallocate(0x1000, 0x5000, 99, array, 4 + more);
	wrote(more ? "3:1000:0 4:5000:0,f00,77" : "3:1000:0 4:5000:0,f00",
	    "of an array, too");
	if (!has_traces) {
		reallocate(0x1000, 0x5000, 99, few, 2);
		wrote("3:1000:0 4:5000:0,123", "of a short record, too");
		reallocate(0x1000, 0x1010, 1, few, 2);
		wrote("8:1010:123,1000", "within a page it is one");
		ok(clocks == 0, "without a time of its own");
	}
	reallocate(0, 0x5000, 99, many, 3 + more);
	wrote(more ? "8:5000:fff,0,12345,77" : "8:5000:fff,0,12345",
	    "of nothing it is one");
	reallocate(0x1000, 0x1000, 99, many, 3 + more);
	wrote(more ? "8:1000:fff,1000,12345,77" : "8:1000:fff,1000,12345",
	    "in its place it is one");
	*ring_owner(NULL) = 99;
	reallocate(0x1000, 0, 99, many, 3 + more);
	wrote(more ? "8:0:fff,1000,12345,77" : "8:0:fff,1000,12345",
	    "and if it fails");
	/* while this thread writes another record */
	ring_self.ring->open = 1;
	ok(!ring_begin_realloc(at(0x1000)), "in a signal handler it waits");
	ring_end_realloc(0, more ? many : few, more ? 4 : 2, at(0x5000),
	    at(0x1000));
	ring_self.ring->open = 0;
	ring_put_queued(&ring_self);
	wrote(more ? "8:0:fff,0,12345,77" : "8:0:123,0",
	    "its record does, too");
	ring_shared.options = 0;
}

/* The free of a block is recorded already. */
static void
test_skips(void)
{
	const struct ring_skip one = ring_skip_free(at(0x1000));
	struct ring_skip two;

	put(ARENA_FREE, 0x1000, 0);
	put(ARENA_FREE, 0x2000, 0);
	two = ring_skip_free(at(0x3000));
	put(ARENA_FREE, 0x3000, 0);
	put(ARENA_FREE, 0x1000, 0);
	ring_skip_end(&two);
	put(ARENA_FREE, 0x3000, 0);
	put(ARENA_FREE, 0x1000, 0);
	put(ARENA_MALLOC, 0x1000, 5);
	ring_skip_end(&one);
	put(ARENA_FREE, 0x1000, 0);
	wrote("3:2000:0 3:1000:0 3:3000:0 2:1000:5 3:1000:0",
	    "the free of one block is not recorded");
}

/* An allocation within calls that have not returned. */
static void
test_nests(void)
{
	ring_nest();
	put(ARENA_MALLOC, 0x1000, 5);
	ring_nest_end(at(0x1000));
	ok(ring_self.repeated, "the call returns that block");
	put(ARENA_VALLOC, 0x1000, 6);
	wrote("5:1000:6",
	    "of a call that returns another's block, one is left");
	ring_self.repeated = 0;
	ring_nest();
	put(ARENA_MALLOC, 0x1000, 5);
	ring_nest_end(at(0x2000));
	ok(!ring_self.repeated, "the call returns another block");
	wrote("2:1000:5",
	    "of one that does not, the other is recorded at its end");
	put(ARENA_VALLOC, 0x2000, 6);
	wrote("5:2000:6", "and then itself");
	ring_nest();
	ring_nest();
	put(ARENA_MALLOC, 0x1000, 1);
	put(ARENA_MALLOC, 0x2000, 2);
	put(ARENA_FREE, 0x1000, 0);
	ring_nest_end(at(0x3000));
	ring_nest_end(at(0x3000));
	wrote("2:1000:1 2:2000:2 3:1000:0", "what a call frees is in order");
	ring_nest();
	ring_nest_end(NULL);
	ok(!ring_self.repeated, "a call that fails has no block");
}

/* The first record of a process, which was made without a stack. */
static void
test_first(void)
{
	static const struct {
		enum arena_op op;
		unsigned twelve;
		unsigned n;
		uint64_t words[3];
		const char *plain, *with_stack;
	} rows[] = {
		{ ARENA_MALLOC, 5, 0, { 0 }, "2:1000:5", "4:1000:0,5,0" },
		{ ARENA_FREE, 0, 0, { 0 }, "3:1000:0", "3:1000:0" },
		{ ARENA_MALLOC_LONG, 0, 1, { 0x12345 }, "4:1000:0,12345",
		    "4:1000:0,12345,0" },
		{ ARENA_VALLOC, 6, 0, { 0 }, "5:1000:6", "5:1000:fff,6,0" },
		{ ARENA_VALLOC, 0xFFF, 1, { 0x12345 }, "5:1000:fff,12345",
		    "5:1000:fff,12345,0" },
		{ ARENA_PVALLOC, 6, 0, { 0 }, "6:1000:6", "6:1000:fff,6,0" },
		{ ARENA_CALLOC, 0, 2, { 3, 4 }, "7:1000:0,3,4",
		    "7:1000:0,3,4,0" },
		{ ARENA_CALLOC, 1, 1, { 3 }, "7:1000:1,3", "7:1000:1,3,0" },
		{ ARENA_REALLOC, 0x123, 1, { 0 }, "8:1000:123,0",
		    "8:1000:fff,0,123,0" },
		{ ARENA_REALLOC, 0xFFF, 2, { 0, 0x12345 }, "8:1000:fff,0,12345",
		    "8:1000:fff,0,12345,0" },
		{ ARENA_REALLOCARRAY, 0, 3, { 0, 3, 0x500 }, "9:1000:0,0,3,500",
		    "9:1000:0,0,3,500,0" },
		{ ARENA_MEMALIGN, 1, 1, { 64 }, "10:1000:1,40",
		    "10:1000:1,40,0" },
		{ ARENA_CALLOC_ONE, 5, 0, { 0 }, "13:1000:5",
		    "7:1000:1,500000001,0" },
		{ ARENA_MORE, ARENA_THREAD_END, 0, { 0 }, "14:1000:6",
		    "14:1000:6" },
	};
	uint64_t words[ARENA_RECORD_MAX];
	char name[40];

	for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		const unsigned row = (unsigned)i / 2;

		ring_shared.options = i % 2 ? ARENA_STACKS : 0;
		words[0] =
		    ring_word(rows[row].op, at(0x1000), rows[row].twelve);
		memcpy(words + 1, rows[row].words, sizeof(rows[row].words));
		ring_self.left = 0;
		is_first = 1;
		ring_put(words, 1 + rows[row].n, at(0x1000));
		(void)snprintf(name, sizeof(name), "first of a process: %s",
		    rows[row].plain);
		wrote(i % 2 ? rows[row].with_stack : rows[row].plain, name);
	}
	is_first = 1;
	ring_self.left = 0;
	ring_shared.options = ARENA_SAMPLES;
	put(ARENA_MALLOC, 0x2000, 5);
	wrote("", "it is no sample");
	ring_shared.options = 0;
}

/* What the user turns off, and what there is no room for. */
static void
test_off(void)
{
	struct arena *a = ring_shared.arena;

	ring_mute(1);
	put(ARENA_FREE, 0x1000, 0);
	ok(!ring_begin_realloc(at(0x1000)), "no realloc of a muted thread");
	ring_mute(0);
	put(ARENA_FREE, 0x2000, 0);
	wrote("3:2000:0", "a muted thread records nothing");
	a->on = 0;
	a->epoch++;
	put(ARENA_FREE, 0x1000, 0);
	put(ARENA_FREE, 0x1000, 0);
	ok(!ring_begin_realloc(at(0x1000)), "no realloc");
	a->on = 1;
	put(ARENA_FREE, 0x2000, 0);
	wrote("3:2000:0", "nor one when recording has stopped");
	ok(clocks == 1, "which has a time of its own");
	a->epoch++;
	put(ARENA_FREE, 0x2000, 0);
	wrote("3:2000:0", "after a new epoch");
	ok(clocks == 1, "the time is read again");
	put(ARENA_FREE, 0x2000, 0);
	wrote("3:2000:0", "after no new one");
	ok(clocks == 0, "it is not");
	*ring_owner(at(0x2000)) = 99;
	put(ARENA_FREE, 0x2000, 0);
	wrote("3:2000:0", "of another thread's page");
	ok(clocks == 1, "it is read again");
	/* samples: blocks at odd addresses are none */
	ring_shared.options = ARENA_SAMPLES;
	ring_self.left = 0;
	put(ARENA_FREE, 0x2001, 0);
	put(ARENA_FREE, 0x2002, 0);
	wrote("3:2002:0", "of samples alone a free is recorded");
	ring_shared.options = 0;
}

/* Adds the words that a text of n bytes is in, in the processor's order. */
static size_t
add_words(char *want, size_t used, const char *bytes, size_t n)
{
	uint64_t word;

	for (; n > 0; bytes += 8) {
		word = 0;
		memcpy(&word, bytes, n < 8 ? n : 8);
		n -= n < 8 ? n : 8;
		used += (size_t)sprintf(want + used, ",%" PRIx64, word);
	}
	return used;
}

static void
test_others(void)
{
	char path[600], want[1400];
	size_t used;

	ring_put_name("a name that is too long");
	used = (size_t)sprintf(want, "14:0:0");
	(void)add_words(want, used, "a name that is ", 15);
	wrote(want, "15 bytes of a name");
	memset(path, 'p', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	telrec_emit_module(0x1234, 0x5678, path, "!ab");
	used = (size_t)sprintf(want, "14:38:7,1234,5678,0");
	used = add_words(want, used, "!ab pppp", 8);
	(void)add_words(want, used, path, 54 * 8 + 7);
	wrote(want, "a path that is too long ends within the record");
	telrec_emit_module(1, 2, "/a", "");
	used = (size_t)sprintf(want, "14:1:7,1,2,0");
	(void)add_words(want, used, " /a", 3);
	wrote(want, "a module without an identifier");
	telrec_emit_trace(5, 0x999, 4);
	wrote("14:0:5,400000005,999", "a frame");
	ring_put_thread_end();
	wrote("14:0:6", "the end of a thread");
	ok(clocks == 1, "with its time");
}

static void *
drain(void *unused)
{
	struct arena *a = ring_shared.arena;
	unsigned i;

	(void)unused;
	for (i = 0; i < 1000000 && !ARENA_NOW(a->hurry); i++)
		(void)sched_yield();
	__atomic_store_n(&a->rings[0].tail, ARENA_NOW(a->rings[0].head),
	    __ATOMIC_RELEASE);
	return NULL;
}

/* Who looks at the rings may be gone, or slow. */
static void
test_abandoned(void)
{
	struct arena *a = ring_shared.arena;
	uint64_t rounds = 5;

	a->magic = ARENA_MAGIC;
	a->rounds = 6;
	ring_forbid_calls(1);
	ok(!is_abandoned(a, &rounds) && rounds == 6,
	    "a round since the last look");
	ok(is_abandoned(a, &rounds), "none, and it cannot be asked for");
	ring_forbid_calls(0);
	a->drainer = (uint32_t)getpid();
	ok(!is_abandoned(a, &rounds), "none, but telrec is there");
	a->magic = 0;
	ok(is_abandoned(a, &rounds), "none, and its memory is overwritten");
	a->magic = ARENA_MAGIC;
	/* no process has this number */
	a->drainer = 1u << 30;
	ok(is_abandoned(a, &rounds), "none, and telrec is gone");
	sandbox = SANDBOX_NO_WAIT;
	a->drainer = (uint32_t)getpid();
	ok(is_abandoned(a, &rounds), "a filter forbids to ask for it");
	sandbox = 0;
}

/* A ring that is full, with somebody who drains it, and without. */
static void
test_room(void)
{
	struct arena *a = ring_shared.arena;
	const uint32_t before = ring_self.ring->head;
	pthread_t thread;
	unsigned i;

	a->hurry = 0;
	a->drainer = (uint32_t)getpid();
	a->magic = ARENA_MAGIC;
	if (!ok(pthread_create(&thread, NULL, drain, NULL) == 0, "a thread"))
		return;
	for (i = 0; i < ARENA_RING_WORDS; i++)
		put(ARENA_FREE, 0x2000, 0);
	pthread_join(thread, NULL);
	ok(a->hurry != 0, "a full ring wakes telrec");
	ok(ring_self.ring->head - before >= ARENA_RING_WORDS && a->on == 1,
	    "no record is lost");
	ok(ring_self.ring->head - ring_self.ring->tail <= ARENA_RING_WORDS,
	    "none was overwritten");
	/* nobody */
	a->magic = 0;
	for (i = 0; i < ARENA_RING_WORDS; i++)
		put(ARENA_FREE, 0x2000, 0);
	ok(!a->on, "without telrec recording stops");
	ok(ring_self.ring->head - ring_self.ring->tail <= ARENA_RING_WORDS,
	    "none was overwritten");
	a->magic = ARENA_MAGIC;
	a->on = 1;
	seen = ring_self.ring->tail = ring_self.ring->head;
	ring_self.left = 0;
}

int
main(void)
{
	struct arena *a = mmap(NULL, arena_bytes(), PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	ring_shared.owners = calloc(RING_OWNERS, sizeof(uint16_t));
	if (a == MAP_FAILED || ring_shared.owners == NULL)
		return 1;
	put(ARENA_FREE, 0x1000, 0);
	ok(ring_self.ring == NULL, "without a recording there is no ring");
	ring_shared.arena = a;
	a->clock = ARENA_CLOCK_MONOTONIC;
	process->alive = 1;
	a->on = 1;
	a->magic = ARENA_MAGIC;
	a->drainer = (uint32_t)getpid();
	has_rings = 0;
	errno = 4711;
	put(ARENA_FREE, 0x1000, 0);
	ok(ring_self.ring == NULL && errno == 4711 && a->lost == 1 && a->on,
	    "no ring is free");
	ok(a->hurry != 0, "telrec is woken to give some back");
	a->magic = 0;
	put(ARENA_FREE, 0x1000, 0);
	ok(a->lost == 2 && a->on, "a thread waits for a ring once");
	ring_self.ringless = 0;
	put(ARENA_FREE, 0x1000, 0);
	ok(a->lost == 3 && !a->on, "without telrec recording stops");
	a->on = 1;
	a->lost = 0;
	has_rings = 1;
	put(ARENA_MALLOC, 0x1000, 24);
	put(ARENA_FREE, 0x1000, 0);
	wrote("2:1000:18 3:1000:0", "an allocation and a free");
	test_queue(1, 60, 48);
	test_queue(2, 40, 32);
	test_realloc(0);
	test_realloc(1);
	test_skips();
	test_nests();
	test_first();
	test_off();
	test_others();
	test_abandoned();
	test_room();
	put(ARENA_FREE, 0x10, 0);
	wrote("3:10:0", "at the end");
	/* a child has a ring of its own */
	process->alive = 0;
	memset(ring_shared.owners, 0, RING_OWNERS * sizeof(uint16_t));
	seen = 0;
	put(ARENA_FREE, 0x20, 0);
	ok(ring_self.ring == &a->rings[1] && !a->rings[0].open,
	    "the ring of a child is not that of its parent");
	wrote("3:20:0", "and has its records");
	free(ring_shared.owners);
	return done();
}
