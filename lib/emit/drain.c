/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Draining: merges the events of all rings by their clocks, and passes them to
 * the sinks.
 *
 * Writers do not wait for it.  It copies a run of events, and then checks the
 * head: if the writer may have overwritten the run, it is dropped and counted
 * as lost, and the drain continues at a later sixteenth of the ring.
 */
#define _GNU_SOURCE
#include "emit.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* An event still incomplete after so many drains is skipped. */
#define PATIENCE 200u

/* The position in each ring. */
static struct cursor {
	struct tel__emit_walk walk;
	uint32_t claim;
	unsigned stuck;
	uint64_t total;        /* events of the ring before walk.end */
	uint64_t events;       /* and before walk.at: copied, or lost */
	uint64_t lost;         /* of them, not yet in the sums */
	uint64_t counted;      /* of all, in the sums */
	const uint64_t *event; /* the next one, or NULL */
	unsigned words;
	uint64_t clock;
} cursors[RINGS_MAX];

static struct {
	uint64_t words[BATCH_WORDS + 4]; /* events are copied by fours */
	uint64_t clock[BATCH_EVENTS];
	uint32_t at[BATCH_EVENTS];
	uint16_t type[BATCH_EVENTS];
} memory;
static struct tel__emit_batch batch = { .words = memory.words,
	.clock = memory.clock,
	.at = memory.at,
	.type = memory.type };
static uint64_t lost[TEL_EMIT_KINDS]; /* overwritten before they were copied */
static uint16_t active[RINGS_MAX];    /* rings that have events */
static unsigned nactive;
static uint64_t last_sync;
static uint64_t opened; /* when, by tel__emit_gettime() */

/* As in linux/futex.h, which C libraries other than glibc may lack. */
#define FUTEX_WAIT_PRIVATE 128
#define FUTEX_WAKE_PRIVATE 129

/* It sleeps by a futex: descriptors may be closed by the program. */
static struct {
	pthread_t thread;
	int running;
	_Atomic int stop;
	_Atomic uint32_t woken;
} drainer;

__thread int tel__emit_draining;

uint64_t
tel__emit_lost_of(unsigned kind)
{
	return lost[kind] + tel__emit_dropped(kind);
}

void
tel__emit_drain_open(void)
{
	memset(cursors, 0, sizeof(cursors));
	memset(lost, 0, sizeof(lost));
	last_sync = 0;
	opened = tel__emit_gettime();
	tel__emit_forget_sinks();
}

/* --------------------------------------------------------------- cursors */

static uint64_t
emit_drain_head_of(const struct tel__emit_ring *ring)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
}

/* Events up to the 64-bit number now, and at position at, have been lost. */
static void
lose_until(struct cursor *c, uint64_t now, uint64_t at)
{
	const uint64_t missing = now - c->events;

	/* it is less only if another process has changed the ring */
	if (missing >> 63 == 0)
		c->lost += missing;
	c->events = now;
	c->walk.at = (now & 0xFFFFFF) << 40 | (at & POSITION);
}

/*
 * Tells the ring's writer where the cursor is, and adds lost events to the
 * sums.  An event takes more than a
 * nanosecond: more of them cannot be true, as another process may have changed
 * the ring.
 */
static void
emit_drain_settle(struct cursor *c)
{
	struct tel__emit_ring *ring = tel__emit_ring((unsigned)(c - cursors));
	const uint32_t kind = TEL__NOW(ring->kind) % TEL_EMIT_KINDS;

	__atomic_store_n(&ring->tail, c->walk.at, __ATOMIC_RELEASE);
	if (c->lost == 0)
		return;
	uint64_t most = tel__emit_gettime() - opened;
	most = most > c->counted ? most - c->counted : 0;
	c->lost = c->lost < most ? c->lost : most;
	c->counted += c->lost;
	if (TEL__NOW(PAGE->output) >> kind & 1)
		lost[kind] += c->lost;
	c->lost = 0;
}

/* The head, and the number of events before it. */
static uint64_t
total_of(const struct tel__emit_ring *ring, uint64_t *total)
{
	uint64_t near = __atomic_load_n(&ring->events, __ATOMIC_ACQUIRE);
	uint64_t before, head;
	unsigned tries = 0;

	/* both of one moment, between which there are few events */
	do {
		before = near;
		head = emit_drain_head_of(ring);
		near = __atomic_load_n(&ring->events, __ATOMIC_ACQUIRE);
	} while (near != before && ++tries < 100);
	*total = tel__ring_events_at(before, head);
	return head;
}

/* Skips overwritten events and those about to be. */
static void
catch_up(struct cursor *c)
{
	const uint64_t size = c->walk.mask + 1, many = (uint64_t)1 << 24;
	uint64_t head, at, now, rest;

	head = total_of(c->walk.ring, &now);
	if (((head - c->walk.at) & POSITION) > size - size / 16) {
		at = tel__emit_oldest(c->walk.ring, head, size / 8);
		now -= ((head >> 40) - (at >> 40)) & (many - 1);
		/*
		 * A ring of more than 2^25 words may have more than 2^24
		 * events: at its end it is known how many were lost.
		 */
		for (rest = (size - 1) >> 25;
		     rest > 0 && now - c->events >= many; rest--)
			now -= many;
		lose_until(c, now, at);
	}
	if (((c->walk.end - c->walk.at) & POSITION) > size) {
		c->walk.end = c->walk.at;
		c->total = c->events;
	}
}

/*
 * At the end of the ring, those not found are lost: they are incomplete, or
 * have been skipped.
 */
static void
reconcile(struct cursor *c)
{
	if (((c->walk.end - c->walk.at) & POSITION) == 0 &&
	    c->events != c->total)
		lose_until(c, c->total, c->walk.end);
}

/*
 * Returns the cursor of ring i, with the present end of the ring; NULL: unused.
 */
static struct cursor *
open_cursor(unsigned i)
{
	struct cursor *c = &cursors[i];
	const struct tel__emit_ring *ring = tel__emit_ring(i);
	const uint32_t claim = __atomic_load_n(&ring->claim, __ATOMIC_ACQUIRE);

	if (claim == 0)
		return NULL;
	if (c->claim != claim || c->walk.ring != ring) {
		c->walk.ring = ring;
		c->walk.mask = tel__emit_ring_words() - 1;
		c->walk.at = TEL__NOW(ring->start);
		c->claim = claim;
		c->stuck = 0;
		c->events = TEL__NOW(ring->start_events);
	}
	c->walk.end = total_of(ring, &c->total);
	return c;
}

void
tel__emit_skip_lost(void)
{
	unsigned i, n = tel__emit_ring_count();
	struct cursor *c;

	for (i = 0; i < n; i++)
		if ((c = open_cursor(i)) != NULL) {
			catch_up(c);
			c->lost = 0;
		}
}

/* Finds the next event.  0: there is none, or it is incomplete. */
static int
emit_drain_look(struct cursor *c, int all)
{
	c->event = tel__emit_here(&c->walk, &c->words);
	if (c->event == NULL && ((c->walk.end - c->walk.at) & POSITION) > 0) {
		catch_up(c);
		c->event = tel__emit_here(&c->walk, &c->words);
		if (c->event == NULL && (all || ++c->stuck > PATIENCE) &&
		    tel__emit_search(&c->walk))
			c->event = tel__emit_here(&c->walk, &c->words);
	}
	if (c->event == NULL) {
		reconcile(c);
		return 0;
	}
	c->stuck = 0;
	c->clock = __atomic_load_n(&c->event[1], __ATOMIC_RELAXED);
	return 1;
}

/* --------------------------------------------------------------- copying */

/*
 * The state of the copying loop.  It is not in the batch, so that the compiler
 * can keep it in registers.
 */
struct run {
	struct tel__emit_walk walk;
	uint64_t *words; /* where the next event goes */
	uint64_t thread, none;
	unsigned count;      /* of events in the batch */
	unsigned code, type; /* of the last event; the index plus 1, or 0 */
	int one_type;
	unsigned unknown; /* events that were on, of no registered type */
};

/* Copies an event if its kind was on and its type is registered. */
static inline void
emit_drain_copy_event(struct run *run, const uint64_t *event, unsigned words,
    uint64_t clock)
{
	const unsigned first =
	    (unsigned)__atomic_load_n(&event[0], __ATOMIC_RELAXED);
	uint64_t *to = run->words;

	if ((first & 0xFFFF) != run->code) {
		run->code = first & 0xFFFF;
		run->type = __atomic_load_n(&tel__emit_types.by_code[run->code],
		    __ATOMIC_ACQUIRE);
		if (run->type != 0 && run->count > 0)
			run->one_type &= run->type - 1 == memory.type[0];
	}
	if (!(first & TEL__EVENT_OUT) || run->type == 0) {
		run->unknown += (first & TEL__EVENT_OUT) != 0;
		return;
	}
	to[0] = words;
	to[1] = run->thread;
	/* there is room after the last event, in a ring too */
	for (size_t i = 2; i < words; i += 4) {
		to[i] = TEL__NOW(event[i]);
		to[i + 1] = TEL__NOW(event[i + 1]);
		to[i + 2] = TEL__NOW(event[i + 2]);
		to[i + 3] = TEL__NOW(event[i + 3]);
	}
	memory.clock[run->count] = clock != 0 ? clock : run->none;
	memory.at[run->count] = (uint32_t)(to - memory.words);
	memory.type[run->count] = (uint16_t)(run->type - 1);
	run->words = to + words;
	run->count++;
}

/* Moves a cursor behind events that were copied. */
static void
emit_drain_follow(struct cursor *c, const struct tel__emit_walk *walk)
{
	c->events += ((walk->at >> 40) - c->events) & 0xFFFFFF;
	c->walk = *walk;
}

/*
 * Copies events of a ring whose clocks are at most limit.  0: the ring has no
 * more events now.
 */
static int
copy_run(struct cursor *c, uint64_t limit, uint64_t none, int all)
{
	struct tel__emit_ring *ring = tel__emit_ring((unsigned)(c - cursors));
	const uint64_t start = c->walk.at, events = c->events;
	const unsigned count = batch.count;
	const size_t room = BATCH_WORDS - TEL_EMIT_EVENT_MAX / 8 - batch.used,
	             most = (size_t)c->walk.mask / 8;
	const uint64_t *end =
	    batch.words + batch.used + (most < room ? most : room);
	struct run run = { c->walk, batch.words + batch.used,
		(uint64_t)TEL__NOW(ring->thread) << 32, none, count, 0, 0,
		batch.one_type, 0 };
	const uint64_t *event = c->event;
	unsigned words = c->words;
	uint64_t clock = c->clock;
	int more = 1;

	while (run.count < BATCH_EVENTS && run.words <= end) {
		emit_drain_copy_event(&run, event, words, clock);
		run.walk.at += TEL__RING_ONE + words;
		/* usually the next event is complete */
		event = tel__emit_here(&run.walk, &words);
		if (event == NULL) {
			emit_drain_follow(c, &run.walk);
			more = emit_drain_look(c, all);
			run.walk = c->walk;
			event = c->event;
			words = c->words;
			if (!more)
				break;
		}
		clock = __atomic_load_n(&event[1], __ATOMIC_RELAXED);
		if (clock > limit)
			break;
	}
	emit_drain_follow(c, &run.walk);
	c->event = event;
	c->words = words;
	c->clock = clock;
	if (((emit_drain_head_of(ring) - start) & POSITION) >
	    c->walk.mask + 1) {
		/* none of them counts, nor what was lost between them */
		c->walk.at = start;
		c->events = events;
		c->lost = 0;
		catch_up(c);
		more = emit_drain_look(c, all);
	} else {
		c->lost += run.unknown;
		batch.count = run.count;
		batch.used = (size_t)(run.words - batch.words);
		batch.one_type = run.one_type;
	}
	emit_drain_settle(c);
	if (batch.count > count)
		batch.one_thread &=
		    batch.words[1] == batch.words[batch.at[count] + 1];
	return more;
}

void
tel__emit_count_types(struct tel__emit_batch *b)
{
	/* types are never removed: those of the events are included */
	pthread_mutex_lock(&tel__emit_state.lock);
	b->types = tel__emit_types.count;
	b->digest = tel__emit_types.digest;
	pthread_mutex_unlock(&tel__emit_state.lock);
}

/* Fills the batch, in order of clocks up to the horizon. */
static void
emit_drain_collect(uint64_t horizon, uint64_t none, int all)
{
	batch.count = 0;
	batch.used = 0;
	batch.one_type = batch.one_thread = 1;
	while (nactive > 0 && batch.count < BATCH_EVENTS &&
	    BATCH_WORDS - batch.used >= TEL_EMIT_EVENT_MAX / 8) {
		unsigned best = 0;
		uint64_t limit = horizon;

		for (unsigned i = 1; i < nactive; i++) {
			const uint64_t clock = cursors[active[i]].clock;

			if (clock < cursors[active[best]].clock) {
				if (cursors[active[best]].clock < limit)
					limit = cursors[active[best]].clock;
				best = i;
			} else if (clock < limit) {
				limit = clock;
			}
		}
		unsigned k = active[best];
		if (cursors[k].clock > horizon ||
		    !copy_run(&cursors[k], limit, none, all))
			active[best] = active[--nactive];
	}
	tel__emit_count_types(&batch);
}

/* Emits the time of day once a second. */
static void
sync_clock(void)
{
	const uint64_t now = tel__emit_gettime();

	if (last_sync != 0 && now - last_sync < 1000000000)
		return;
	last_sync = now;
	tel_clock_sync();
}

/* From all rings to the sinks, of which there are some. */
static void
emit_drain_rings(int all)
{
	const uint64_t none = tel__emit_gettime();

	sync_clock();
	unsigned n = tel__emit_ring_count();
	/* events emitted from here on have clocks after the horizon */
	tel__emit_expire_clocks();
	uint64_t horizon = all ? UINT64_MAX : tel__emit_ticks();
	if (PAGE->clock == TEL_EMIT_CLOCK_NONE)
		horizon = UINT64_MAX;
	nactive = 0;
	for (unsigned i = 0; i < n; i++) {
		struct cursor *c = open_cursor(i);

		if (c == NULL)
			continue;
		catch_up(c);
		if (emit_drain_look(c, all))
			active[nactive++] = (uint16_t)i;
		emit_drain_settle(c);
	}
	do {
		emit_drain_collect(horizon, none, all);
		tel__emit_feed(&batch);
	} while (batch.count > 0);
}

void
tel__emit_drain(int all)
{
	tel__emit_draining = 1;
	tel__emit_pair(0);
	tel__emit_tend_sinks();
	if (tel__emit_has_sinks())
		emit_drain_rings(all);
	tel__emit_draining = 0;
}

uint64_t
tel_emit_lost(void)
{
	pthread_mutex_lock(&tel__emit_state.drain);
	uint64_t sum = tel__emit_sinks_lost();
	for (unsigned i = 0; i < TEL_EMIT_KINDS; i++)
		sum += tel__emit_lost_of(i);
	pthread_mutex_unlock(&tel__emit_state.drain);
	return sum;
}

/* ---------------------------------------------------------------- thread */

void
tel__emit_wake(void)
{
	if (!atomic_exchange(&drainer.woken, 1))
		(void)syscall(SYS_futex, &drainer.woken, FUTEX_WAKE_PRIVATE, 1,
		    NULL, NULL, 0);
}

/* Sleeps until the next drain. */
static void
emit_drain_sleep(void)
{
	const unsigned ms = tel__emit_state.options.interval_ms;
	/* as the kernel has it, whatever time_t is */
	const long time[2] = { (long)(ms / 1000), (long)(ms % 1000) * 1000000 };

	(void)syscall(SYS_futex, &drainer.woken, FUTEX_WAIT_PRIVATE, 0, time,
	    NULL, 0);
	atomic_store(&drainer.woken, 0);
}

static void
emit_drain_tick(void)
{
	const struct tel__emit_hooks *hooks = tel__emit_state.hooks;

	if (hooks != NULL)
		hooks->tick();
}

int
tel_emit_flush(void)
{
	if (!tel__emit_state.open)
		return tel__emit_result(EBADF);
	if (tel__emit_state.options.flags & TEL_EMIT_NO_THREAD)
		emit_drain_tick();
	pthread_mutex_lock(&tel__emit_state.drain);
	tel__emit_drain(0);
	int error = tel__emit_take_error();
	pthread_mutex_unlock(&tel__emit_state.drain);
	return tel__emit_result(error);
}

static void *
drain_again(void *unused)
{
	(void)unused;
	while (!drainer.stop) {
		emit_drain_sleep();
		if (!drainer.stop)
			emit_drain_tick();
		pthread_mutex_lock(&tel__emit_state.drain);
		if (!drainer.stop)
			tel__emit_drain(0);
		pthread_mutex_unlock(&tel__emit_state.drain);
	}
	return NULL;
}

int
tel__emit_start_thread(void)
{
	sigset_t all, old;

	if (drainer.running ||
	    tel__emit_state.options.flags & TEL_EMIT_NO_THREAD)
		return 0;
	atomic_store(&drainer.stop, 0);
	atomic_store(&drainer.woken, 0);
	/* the thread takes no signals */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	int failed = pthread_create(&drainer.thread, NULL, drain_again, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	drainer.running = failed == 0;
	return tel__emit_result(failed);
}

void
tel__emit_stop_thread(void)
{
	if (drainer.running) {
		atomic_store(&drainer.stop, 1);
		atomic_store(&drainer.woken, 0);
		tel__emit_wake();
		pthread_join(drainer.thread, NULL);
		drainer.running = 0;
	}
}

void
tel__emit_drain_close(void)
{
	/* in a child the thread does not exist */
	drainer.running = 0;
}
