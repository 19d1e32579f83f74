/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The merge of rings against a model of the threads that write them: which
 * events each round writes, in which order, of which thread and process.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "telrec/columns.c"
#include "telrec/drain.c"
#include "telrec/flight.c"
#include "telrec/rings.c"
#include "telrec/types.c"
#include "telrec/weights.c"

#include "tap.h"
#include "telrec_without.h"

#define MAX_RINGS 20u
#define MAX_EVENTS 20000u
#define ROUND_NS 1000000u

/* What a thread has written. */
static struct event {
	uint64_t clock, size;
	uint32_t tid, pid;
	int code, written;
} events[MAX_EVENTS];
static unsigned nevents;

static struct arena *a;
static uint64_t seed, now_ns, clock_now, last_clock, ended_at, lost;
static uint32_t last_of_thread[1u << 16];
static unsigned nwritten, nprocesses, nwrong, tids;

/* ----------------------------------------------- what telrec otherwise has */

uint64_t
progress_now(void)
{
	return now_ns;
}

uint64_t
tel_emit_clock(void)
{
	return clock_now + CLOCK_SLACK;
}

int
unrecorded_is_missing(const struct arena_exec *e)
{
	(void)e;
	return 0;
}

enum unrecorded_reason
unrecorded_find(const struct arena_exec *e, char *path, const char **text)
{
	(void)e;
	(void)path;
	(void)text;
	return UNRECORDED_OTHER;
}

/* ------------------------------------------------------- what is written */

static void
wrong(const char *what, uint64_t i)
{
	if (nwrong++ < 10)
		diag("event %" PRIu64 ": %s", i, what);
}

static uint64_t
value(const tel_emit_part *part, unsigned column, unsigned i)
{
	return part->columns[column][part->same >> column & 1 ? 0 : i];
}

/* The block names a thread or process as the test does. */
static int
has_name(const tel_emit_columns *c, unsigned space, uint64_t number)
{
	char want[16];
	unsigned i;

	snprintf(want, sizeof(want), "%c%u", space == 2 ? 't' : 'p',
	    (unsigned)number);
	for (i = 0; i < c->name_count; i++)
		if (c->names[i].space == space && c->names[i].value == number)
			return strcmp(c->names[i].name, want) == 0;
	return 0;
}

static void
check_event(const tel_emit_columns *c, const tel_emit_part *part, unsigned i,
    uint64_t clock)
{
	const unsigned fields = types_fields((enum type)(part->code - 1), 0);
	const uint64_t pid = value(part, fields, i),
	               tid = value(part, fields + 1, i),
	               number = value(part, 0, i);
	struct event *e;

	if (clock < last_clock)
		wrong("is before the one before it", number);
	last_clock = clock;
	if (part->code == TYPE_PROCESS + 1) {
		nprocesses++;
		if (number != pid + 1000)
			wrong("has another parent", number);
		return;
	}
	if (part->code == TYPE_PROCESS_END + 1) {
		ended_at = clock;
		return;
	}
	if (number >= nevents) {
		wrong("was not written by a thread", number);
		return;
	}
	e = &events[number];
	if (e->written++ || (int)part->code != e->code || clock != e->clock ||
	    pid != e->pid || tid != e->tid ||
	    (fields > 1 && value(part, 1, i) != e->size))
		wrong("is another one", number);
	if (!has_name(c, 2, tid) || !has_name(c, 3, pid))
		wrong("has no name", number);
	if (last_of_thread[tid] > number)
		wrong("is after a later one of its thread", number);
	last_of_thread[tid] = (uint32_t)number;
	nwritten++;
}

int
tel_emit_relay(const tel_emit_columns *c)
{
	unsigned counts[COLUMNS_SETS * TYPES] = { 0 }, i, at = 0, used = 0;

	for (i = 0; i < c->count; i++) {
		while (at < c->clock_count && used == c->shared[at]) {
			at++;
			used = 0;
		}
		used++;
		check_event(c, &c->parts[c->order[i]], counts[c->order[i]]++,
		    c->clocks[at]);
	}
	lost += c->lost;
	return 0;
}

/* ------------------------------------------------------------ the threads */

static uint32_t
below(uint32_t n)
{
	seed = seed * UINT64_C(6364136223846793005) +
	    UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % n;
}

static void
put(uint32_t i, uint64_t word)
{
	const uint32_t head = a->rings[i].head;

	arena_words(a, i)[head & (ARENA_RING_WORDS - 1)] = word;
	a->rings[i].head = head + 1;
}

/* A thread of one of three processes takes a ring. */
static void
claim(uint32_t i)
{
	struct arena_ring *ring = &a->rings[i];

	ring->image = ++tids % 3;
	ring->pid = 50 + ring->image;
	ring->tid = tids;
	ring->claim++;
	ring->ticks = clock_now;
	snprintf(ring->name, sizeof(ring->name), "t%u", tids);
	ring->state = ARENA_RING_USED;
}

/* Records at the time of the ring, which is closed then. */
static void
put_records(uint32_t i)
{
	struct arena_ring *ring = &a->rings[i];
	struct event *e;
	uint64_t word;
	unsigned n;

	for (n = below(4); n > 0 && nevents < MAX_EVENTS; n--) {
		e = &events[nevents];
		*e = (struct event){ .clock = ring->ticks,
			.tid = ring->tid,
			.pid = ring->pid };
		word = (uint64_t)nevents++ << 16;
		if (below(2) == 0) {
			e->code = TYPE_FREE + 1;
			put(i, word | ARENA_FREE);
			continue;
		}
		e->code = TYPE_MALLOC + 1;
		e->size = below(2) == 0 ? below(ARENA_SIZE_LONG) : below(99999);
		if (e->size < ARENA_SIZE_LONG) {
			put(i, word | e->size << 4 | ARENA_MALLOC);
		} else {
			put(i, word | ARENA_MALLOC_LONG);
			put(i, e->size);
		}
	}
	ring->open = 0;
}

/* A thread does something; some stop in the midst of it. */
static void
act(uint32_t i)
{
	struct arena_ring *ring = &a->rings[i];

	if (ring->state == ARENA_RING_ENDED)
		return;
	if (ring->state == ARENA_RING_FREE)
		claim(i);
	if (!ring->open) {
		clock_now += below(3);
		ring->open = 1;
		ring->ticks = clock_now;
		put(i, clock_now << 4 | ARENA_CLOCK);
		if (below(16) == 0)
			return;
	}
	put_records(i);
	if (below(64) == 0) {
		ring->lost += below(3);
		ring->state = ARENA_RING_ENDED;
	}
}

/* ------------------------------------------------------------- the rounds */

/* The events that a round may write: those before this time. */
static unsigned
count_before(uint64_t horizon)
{
	unsigned i, n = 0;

	for (i = 0; i < nevents; i++)
		n += events[i].clock < horizon;
	return n;
}

static uint64_t
horizon_of(const struct drain *d, uint32_t nrings)
{
	uint64_t horizon = d->bumped;
	uint32_t i;

	for (i = 0; i < nrings; i++)
		if (a->rings[i].open && a->rings[i].ticks < horizon)
			horizon = a->rings[i].ticks;
	return horizon;
}

static struct drain *
start(uint32_t nrings, uint64_t first)
{
	struct drain *d;
	uint32_t i;

	a = mmap(NULL, (size_t)arena_bytes(), PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (a == MAP_FAILED)
		exit(1);
	a->rings_used = nrings;
	for (i = 0; i < 3; i++) {
		a->images[i].parent = 1050 + i;
		snprintf(a->images[i].name, sizeof(a->images[i].name), "p%u",
		    50 + i);
	}
	now_ns = 1;
	d = drain_new(a, UINT64_MAX, 0, NULL);
	if (d == NULL)
		exit(1);
	/* where the count of words wraps, too */
	for (i = 0; i < nrings; i++) {
		a->rings[i].head = a->rings[i].tail = i % 2 ? 0u - i : 0;
		d->cursors[i].at = d->cursors[i].end = a->rings[i].head;
	}
	seed = first;
	clock_now = 5000;
	nevents = nwritten = nprocesses = nwrong = tids = 0;
	lost = last_clock = 0;
	memset(last_of_thread, 0, sizeof(last_of_thread));
	return d;
}

static void
finish(struct drain *d)
{
	drain_free(d);
	munmap(a, (size_t)arena_bytes());
}

static void
test_rounds(uint32_t nrings, uint64_t first)
{
	struct drain *d = start(nrings, first);
	uint64_t horizon, all_lost = 0;
	unsigned round, i, early = 0, overdue = 0;
	long n, total = 0;

	for (round = 0; round < 300; round++) {
		for (i = below(60); i > 0; i--)
			act(below(nrings));
		horizon = horizon_of(d, nrings);
		now_ns += ROUND_NS;
		n = drain_round(d, 1);
		total += n;
		early += nwritten > count_before(horizon);
		overdue += nwritten < count_before(horizon);
		if (n < 0 || total != (long)(nwritten + nprocesses))
			nwrong++;
		clock_now += below(2);
	}
	ok(early == 0 && overdue == 0,
	    "%u rings: a round writes what is before its time: %u, %u", nrings,
	    early, overdue);
	for (i = 0; i < nrings; i++)
		all_lost += a->rings[i].lost;
	ok(drain_lost(d) == d->lost + all_lost, "losses of rings that ended");
	n = drain_finish(d);
	ok(n == 0 && nwritten == nevents, "%u of %u events are written",
	    nwritten, nevents);
	ok(nwrong == 0 && nprocesses == 3 && !drain_overwritten(d) &&
	        drain_events(d) == nwritten + 3,
	    "each is what a thread wrote, in order of time");
	ok(lost == drain_lost(d) && lost > 0, "%" PRIu64 " lost events", lost);
	finish(d);
}

/* A thread that is stopped in the midst of a record holds up the others. */
static void
test_stopped(void)
{
	struct drain *d = start(2, 7);
	unsigned i;

	claim(0);
	claim(1);
	put(0, clock_now << 4 | ARENA_CLOCK);
	a->rings[0].ticks = clock_now++;
	a->rings[0].open = 1;
	put(1, clock_now << 4 | ARENA_CLOCK);
	a->rings[1].ticks = clock_now++;
	while (nevents < 5)
		put_records(1);
	for (i = 0; i < 20; i++) {
		now_ns += PATIENCE_NS / 20;
		(void)drain_round(d, 1);
	}
	ok(nwritten == 0, "nothing is written for a time");
	for (i = 0; i < 3; i++) {
		now_ns += PATIENCE_NS / 20;
		(void)drain_round(d, 1);
	}
	ok(nwritten == nevents && nwrong == 0, "then what the others wrote is");
	/* a ring with more words than it has room for */
	a->rings[1].head += ARENA_RING_WORDS + 1;
	now_ns += ROUND_NS;
	(void)drain_round(d, 1);
	ok(drain_overwritten(d) && a->rings[1].tail == a->rings[1].head,
	    "a ring that the program has overwritten is left out");
	finish(d);
}

/* Rings of threads and processes that have ended, and of others. */
static void
test_ends(void)
{
	struct drain *d = start(5, 9);
	const uint32_t self = (uint32_t)getpid();
	const pid_t ended = fork();
	unsigned i;

	if (ended == 0)
		_exit(0);
	/* it is not waited for: its number is that of no other */
	while (!drain_process_ended((uint32_t)ended))
		(void)sched_yield();
	for (i = 0; i < 4; i++)
		claim(i);
	a->rings[0].pid = a->rings[0].tid = self;
	a->rings[1].pid = a->rings[1].tid = (uint32_t)ended;
	a->rings[2].pid = self;
	a->rings[2].tid = 1u << 30;
	a->rings[3].pid = a->rings[3].tid = (uint32_t)ended;
	for (i = 0; i < 4; i++)
		a->rings[i].head = 7;
	ok(drain_tend(d) == 4, "four rings are in use");
	ok(a->rings[1].state == ARENA_RING_USED,
	    "one that was written since the last look has a thread");
	a->rings[3].head = 8;
	(void)drain_tend(d);
	ok(a->rings[0].state == ARENA_RING_USED, "of a thread that runs");
	ok(a->rings[1].state == ARENA_RING_ENDED,
	    "of a process that has ended");
	ok(a->rings[2].state == ARENA_RING_ENDED, "of a thread that has");
	ok(a->rings[3].state == ARENA_RING_USED, "one that was written");
	(void)drain_tend(d);
	ok(a->rings[3].state == ARENA_RING_ENDED, "and then is not");
	a->rings[3].state = ARENA_RING_FREE;
	ok(drain_tend(d) == 3, "three rings are in use");
	(void)waitpid(ended, NULL, 0);
	for (i = 0; i < 4; i++)
		a->rings[i].head = a->rings[i].tail;
	finish(d);
}

/* A thread of a process, with a record of its own time. */
static void
put_at(uint32_t i, uint64_t clock)
{
	struct arena_ring *ring = &a->rings[i];

	ring->ticks = clock;
	put(i, clock << 4 | ARENA_CLOCK);
	events[nevents] = (struct event){ .clock = clock,
		.tid = ring->tid,
		.pid = ring->pid,
		.code = TYPE_FREE + 1 };
	put(i, (uint64_t)nevents++ << 16 | ARENA_FREE);
}

/* A thread of process number of two takes a ring. */
static void
claim_of(uint32_t i, unsigned number, uint32_t pid)
{
	claim(i);
	a->rings[i].image = number;
	a->rings[i].pid = pid;
	a->images[number].parent = pid + 1000;
	snprintf(a->images[number].name, sizeof(a->images[number].name), "p%u",
	    pid);
}

/*
 * The end of a process is between the records of another one, behind those of a
 * thread that started since the round before.
 */
static void
test_gone(void)
{
	struct drain *d = start(2, 5);
	const pid_t gone = fork();
	const uint32_t self = (uint32_t)getpid();
	unsigned i, round;

	if (gone == 0)
		_exit(0);
	(void)waitpid(gone, NULL, 0);
	claim_of(0, 0, self);
	claim_of(1, 1, (uint32_t)gone);
	put_at(0, clock_now);
	put_at(1, clock_now);
	for (round = 0; round < 4; round++) {
		clock_now += 10 * (uint64_t)CLOCK_SLACK;
		if (round == 2) {
			claim_of(2, 1, (uint32_t)gone);
			a->rings_used = 3;
			for (i = 0; i < 4; i++)
				put_at(i % 3, clock_now - 40 + i * 10);
		}
		now_ns += ROUND_NS;
		(void)drain_round(d, 1);
	}
	ok(nwritten == nevents && nwrong == 0,
	    "what others do after the end of a process is written");
	ok(ended_at == events[4].clock + 1,
	    "the end is behind its last record");
	finish(d);
}

/* The next round comes before a ring is full, if threads go on as before. */
static void
test_pause(void)
{
	struct drain *d;
	uint64_t full;
	uint32_t n, k;

	for (n = 0; n < ARENA_RING_WORDS; n += ARENA_RING_WORDS / 8) {
		d = start(1, 1);
		claim(0);
		for (k = 0; k < ARENA_RING_WORDS / 2; k++)
			put(0, clock_now << 4 | ARENA_CLOCK);
		for (clock_now++, k = 0; k < 3; k++) {
			now_ns += ROUND_NS;
			(void)drain_round(d, 1);
		}
		/* the records come too late for this round to take them */
		for (k = 0; k < n; k++)
			put(0, (clock_now + 1) << 4 | ARENA_CLOCK);
		now_ns += ROUND_NS;
		(void)drain_round(d, 1);
		full = n == 0 ? UINT64_MAX :
		                (uint64_t)ROUND_NS * (ARENA_RING_WORDS - n) / n;
		ok(d->pause_ns < full && d->pause_ns <= PAUSE_MAX &&
		        (d->pause_ns > full / 2 || d->pause_ns > PAUSE_MAX / 2),
		    "%u words a round: %" PRIu64 " ns", n, d->pause_ns);
		finish(d);
	}
}

int
main(void)
{
	/* a loop that does not end fails */
	(void)alarm(20);
	test_rounds(1, 1);
	test_rounds(2, 2);
	test_rounds(5, 3);
	/* more than have columns of their own */
	test_rounds(MAX_RINGS, 4);
	test_stopped();
	test_pause();
	test_ends();
	test_gone();
	return done();
}
