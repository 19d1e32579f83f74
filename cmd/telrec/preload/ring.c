/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writing records into the ring of this thread.  It uses no locks, no heap and
 * no descriptors: a process may close all of them, change its root, and forbid
 * itself system calls.
 */
#define _GNU_SOURCE
#include "telrec/preload/ring.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "telrec/preload/clock.h"
#include "telrec/preload/preload.h"
#include "telrec/preload/process.h"
#include "telrec/preload/sample.h"
#include "telrec/preload/sandbox.h"

__thread struct ring_self ring_self;

/* A thread reads the clock after so many words. */
#define CLOCK_WORDS 128
/* Room that is left in a ring for what comes between two looks at it. */
#define MARGIN 256u
/* Pauses of a thread that waits for telrec, before it calls the system. */
#define SPINS 100u
/* So many times as many for one that may not call it. */
#define SPINS_FORBIDDEN 100u
/* Pauses of a thread that waits for a ring: some 0.5 s. */
#define RING_WAITS 5000u

/* -------------------------------------------------------------- records */

static void
pause_once(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#endif
}

/* Whether telrec still is there; it looks at the rings all the time. */
static int
is_drained(const struct arena *a)
{
	return ARENA_NOW(a->magic) == ARENA_MAGIC && !process->hidden &&
	    (kill((pid_t)a->drainer, 0) == 0 || errno != ESRCH);
}

static inline uint32_t
words_used(const struct arena_ring *ring)
{
	return ring->head - __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
}

static inline int
preload_ring_has_room(const struct arena_ring *ring)
{
	return ARENA_RING_WORDS - words_used(ring) >= MARGIN;
}

/*
 * Wakes telrec, which sleeps for as long as it takes to fill half a ring at the
 * rate that it saw last.
 */
static void
wake_telrec(void)
{
	struct arena *a = ring_shared.arena;

	if (ring_calls_forbidden() || ARENA_NOW(a->hurry) ||
	    __atomic_exchange_n(&a->hurry, 1, __ATOMIC_SEQ_CST))
		return;
#ifdef SYS_futex
	(void)syscall(SYS_futex, &a->hurry, FUTEX_WAKE, 1, NULL, NULL, 0);
#endif
}

/* Whether telrec has made no round since the last look, and has ended. */
static int
is_abandoned(const struct arena *a, uint64_t *rounds)
{
	const uint64_t before = *rounds;

	*rounds = __atomic_load_n(&a->rounds, __ATOMIC_RELAXED);
	return *rounds == before && (ring_calls_forbidden() || !is_drained(a));
}

/* Waits for room in the ring.  0: nobody drains it any more. */
static int
wait_for_room(struct ring_self *s)
{
	/* as the kernel has it, whatever time_t is */
	const long moment[2] = { 0, 50000 };
	struct arena *a = ring_shared.arena;
	struct arena_ring *ring = s->ring;
	uint64_t rounds = __atomic_load_n(&a->rounds, __ATOMIC_RELAXED);
	unsigned spins = 0, sleeps = 0;
	/* some minutes, if it cannot be asked whether telrec has ended */
	const unsigned patience = process->hidden ? 1u << 21 : 4096;

	if (!RING_LIKELY(words_used(ring) < ARENA_RING_HURRY))
		wake_telrec();
	while (!preload_ring_has_room(ring)) {
		if (!ARENA_NOW(a->on))
			return 0;
		if (++spins % SPINS != 0) {
			pause_once();
			continue;
		}
		if (!ring_calls_forbidden())
			/* nanosleep(2) would be a point of cancellation */
			(void)syscall(SYS_nanosleep, moment, NULL);
		else if (spins / SPINS % SPINS_FORBIDDEN != 0)
			continue;
		if (++sleeps % patience == 0 && is_abandoned(a, &rounds)) {
			/* if telrec is there, it reports that */
			__atomic_fetch_add(&a->lost, 1, __ATOMIC_RELAXED);
			ARENA_SET(a->on, 0);
			return 0;
		}
	}
	return 1;
}

/*
 * Takes a ring.  Those of threads that have ended come back within 0.2 s: so a
 * thread waits for one, once, as all of them may run.  0: an event is lost.
 */
static int
ring_take(struct ring_self *s)
{
	const long moment[2] = { 0, 50000 };
	struct arena *a = ring_shared.arena;
	uint64_t rounds = __atomic_load_n(&a->rounds, __ATOMIC_RELAXED);
	unsigned left = s->ringless || ring_calls_forbidden() ||
	        sandbox & SANDBOX_NO_START ?
	    0 :
	    RING_WAITS;
	int taken;

	while (
	    !(taken = process_take_ring(s)) && left > 0 && ARENA_NOW(a->on)) {
		wake_telrec();
		(void)syscall(SYS_nanosleep, moment, NULL);
		if (--left == 0 && !process->hidden && is_abandoned(a, &rounds))
			ARENA_SET(a->on, 0);
	}
	s->ringless = !taken;
	if (!taken)
		__atomic_fetch_add(&a->lost, 1, __ATOMIC_RELAXED);
	return taken;
}

/* Writes the time into a ring that is open, and has room; not a lesser one. */
static void
put_clock(struct ring_self *s, uint64_t ticks)
{
	if (s->strict || ticks < s->ring->ticks)
		ticks = s->ring->ticks;
	uint64_t word = ticks << 4 | ARENA_CLOCK;
	ring_append(s, &word, 1);
	__atomic_store_n(&s->ring->ticks, ticks, __ATOMIC_RELEASE);
}

void
ring_put_clock(struct ring_self *s)
{
	put_clock(s, s->strict ? 0 : ring_clock_early());
}

/*
 * Opens the ring with room for records, and the clock read.  0: nothing is to
 * be recorded.
 */
static int
open_ring(struct ring_self *s)
{
	struct arena *a = ring_shared.arena;

	if (s->ring == NULL && !ring_take(s))
		return 0;
	do {
		/* a ring that is open holds up telrec */
		__atomic_store_n(&s->ring->open, 0, __ATOMIC_RELEASE);
		if (!wait_for_room(s)) {
			s->left = 0;
			return 0;
		}
		ARENA_SET(s->ring->open, 1);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
	} while (!preload_ring_has_room(s->ring));
	uint32_t epoch = __atomic_load_n(&a->epoch, __ATOMIC_ACQUIRE);
	/* the clock that is read for a new epoch must not be too early */
	put_clock(s,
	    s->strict             ? 0 :
	        epoch == s->epoch ? ring_clock_early() :
	                            ring_clock());
	s->epoch = epoch;
	/* ring_put_slow() looks at each free whether it is to be recorded */
	s->left = ring_shared.options & ARENA_SAMPLES || s->skipped != NULL ||
	        s->nested != 0 ?
	    0 :
	    CLOCK_WORDS;
	return 1;
}

static int
is_recording(const struct ring_self *s)
{
	return ring_shared.arena != NULL && !s->muted &&
	    ARENA_NOW(ring_shared.arena->on);
}

void
ring_mute(int on)
{
	ring_self.muted = on != 0;
	/* so that each record finds no room, and looks at this */
	ring_self.left = 0;
}

/* Records that come while one of the same thread is written. */
static void
preload_ring_put_queue(struct ring_self *s, const uint64_t *words, unsigned n)
{
	const uint32_t at = s->queued;

	if (n + 1 > RING_QUEUE - at) {
		s->ring->lost++;
		return;
	}
	s->queue[at] = n;
	memcpy(s->queue + at + 1, words, n * sizeof(words[0]));
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	s->queued = at + n + 1;
}

int
ring_refresh(struct ring_self *s, const void *p)
{
	const int kept = errno;
	uint16_t *owner;

	if (!process->alive) {
		/* the ring is that of the parent, which goes on */
		__atomic_store_n(&s->ring->open, 0, __ATOMIC_RELEASE);
		process_forget(s);
		if (!open_ring(s))
			goto off;
	}
	if (!ARENA_NOW(ring_shared.arena->on)) {
		__atomic_store_n(&s->ring->open, 0, __ATOMIC_RELEASE);
		s->left = 0;
		goto off;
	}
	s->epoch = __atomic_load_n(&ring_shared.arena->epoch, __ATOMIC_ACQUIRE);
	owner = ring_owner(p);
	if (ARENA_NOW(*owner) != s->id)
		(void)__atomic_exchange_n(owner, s->id, __ATOMIC_SEQ_CST);
	put_clock(s, s->strict ? 0 : ring_clock());
	errno = kept;
	return 1;
off:
	errno = kept;
	return 0;
}

/*
 * Handlers that interrupt this add to the queue while the ring is open.  Each
 * record has a clock of its own: its page may be another ring's by now.
 */
void
ring_put_queued(struct ring_self *s)
{
	const int kept = errno;
	uint32_t at, n, end;

	while (s->queued != 0 && open_ring(s)) {
		at = 0;
		do {
			for (; at < s->queued; at += n + 1) {
				n = (uint32_t)s->queue[at];
				const void *p = (const void
				        *)(uintptr_t)(s->queue[at + 1] >> 16);
				if (!ring_refresh(s, p)) {
					s->queued = 0;
					errno = kept;
					return;
				}
				ring_append(s, s->queue + at + 1, n);
			}
			end = at;
		} while (!__atomic_compare_exchange_n(&s->queued, &end, 0, 0,
		    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
		__atomic_store_n(&s->ring->open, 0, __ATOMIC_RELEASE);
	}
	errno = kept;
}

/*
 * The first record of a process is made before the options are known: adds the
 * words that they ask for.  Returns how many there are then.
 */
static unsigned
add_missing(uint64_t *out, const uint64_t *words, unsigned n)
{
	const unsigned op = words[0] & 15, size = words[0] >> 4 & 0xFFF;

	memcpy(out, words, n * sizeof(words[0]));
	if ((ring_shared.options & ARENA_STACKS) == 0 || op < ARENA_MALLOC ||
	    op == ARENA_FREE || op >= ARENA_MORE)
		return n;
	if (op == ARENA_MALLOC) {
		out[0] = words[0] >> 16 << 16 | ARENA_MALLOC_LONG;
		out[n++] = size;
	}
	if (op == ARENA_CALLOC_ONE) {
		out[0] = words[0] >> 16 << 16 | 1 << 4 | ARENA_CALLOC;
		out[n++] = (uint64_t)size << 32 | 1;
	} else if ((op == ARENA_VALLOC || op == ARENA_PVALLOC ||
	               op == ARENA_REALLOC) &&
	    size != ARENA_SIZE_LONG) {
		out[0] |= (uint64_t)ARENA_SIZE_LONG << 4;
		out[n++] = size;
	}
	out[n++] = 0;
	return n;
}

/* Records the allocation that was held. */
static void
ring_release(struct ring_self *s)
{
	uint64_t words[ARENA_RECORD_MAX];
	const uint32_t n = s->held_words;
	const void *p = s->held_block;

	if (n == 0 || s->holding)
		return;
	memcpy(words, s->held, n * sizeof(words[0]));
	s->held_words = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	ring_put_sample(words, n, p);
}

/* Holds an allocation back.  0: this is in a signal handler that came then. */
static int
ring_hold(struct ring_self *s, const uint64_t *words, unsigned n, const void *p)
{
	if (s->holding)
		return 0;
	s->holding = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	memcpy(s->held, words, n * sizeof(words[0]));
	s->held_block = p;
	s->held_words = n;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	s->holding = 0;
	return 1;
}

void
ring_nest(void)
{
	ring_self.nested++;
	/* so that ring_put_slow() sees each record */
	ring_self.left = 0;
}

void
ring_nest_end(const void *p)
{
	struct ring_self *s = &ring_self;

	s->nested--;
	s->repeated |= p != NULL && s->inner == p;
	if (s->held_words != 0 && s->held_block == p)
		s->held_words = 0;
	else
		ring_release(s);
}

void
ring_put_slow(const uint64_t *words, unsigned n, const void *p)
{
	uint64_t full[ARENA_RECORD_MAX];
	const unsigned op = words[0] & 15;

	if (op != ARENA_FREE && op != ARENA_MORE)
		ring_self.inner = p;
	if (process_begin()) {
		n = add_missing(full, words, n);
		words = full;
		/* not among the samples, as few allocations are */
		if (ring_shared.options & ARENA_SAMPLES && op != ARENA_MORE)
			return;
	}
	if (op == ARENA_FREE && p == ring_self.skipped && p != NULL)
		return;
	if (op == ARENA_FREE && ring_shared.options & ARENA_SAMPLES &&
	    !sample_remove(p))
		return;
	ring_release(&ring_self);
	if (ring_self.nested == 0 || op == ARENA_FREE || op == ARENA_MORE ||
	    !ring_hold(&ring_self, words, n, p))
		ring_put_sample(words, n, p);
}

void
ring_put_sample(const uint64_t *words, unsigned n, const void *p)
{
	struct ring_self *s = &ring_self;
	const int kept = errno;

	if (!is_recording(s))
		return;
	if (!process->alive)
		process_forget(s);
	if (s->ring != NULL && ARENA_NOW(s->ring->open)) {
		preload_ring_put_queue(s, words, n);
		return;
	}
	if (!open_ring(s)) {
		errno = kept;
		return;
	}
	if (ARENA_NOW(*ring_owner(p)) == s->id || ring_refresh(s, p)) {
		ring_append(s, words, n);
		ring_close(s);
	}
	errno = kept;
}

void
ring_try_more(enum ring_tried tried, uint64_t word, const void *p)
{
	struct ring_self *s = &ring_self;

	if (tried == RING_NOT_OPEN) {
		ring_put_slow(&word, 1, p);
	} else if (tried == RING_QUEUED) {
		ring_put_queued(s);
	} else if (ring_refresh(s, p)) {
		ring_append(s, &word, 1);
		ring_close(s);
	}
}

struct ring_skip
ring_skip_free(const void *p)
{
	struct ring_self *s = &ring_self;
	const struct ring_skip skip = { s->skipped, s->ring, s->left };

	s->skipped = p;
	/* so that ring_put_slow() sees each record */
	s->left = 0;
	return skip;
}

void
ring_skip_end(const struct ring_skip *skip)
{
	struct ring_self *s = &ring_self;

	s->skipped = skip->before;
	/* a ring has room for more than this */
	if (s->left == 0 && s->ring == skip->ring && s->skipped == NULL)
		s->left = skip->left;
}

/* --------------------------------------------------------------- realloc */

/* A ring that has no room, or is in use, or is not the child's own. */
static __attribute__((noinline)) int
begin_slow(struct ring_self *s, const void *old)
{
	const int kept = errno;

	if (!is_recording(s))
		return 0;
	if (!process->alive)
		process_forget(s);
	ring_release(s);
	if (s->ring != NULL && ARENA_NOW(s->ring->open))
		return 0;
	int begun = open_ring(s);
	if (begun &&
	    (s->epoch != ARENA_NOW(ring_shared.arena->epoch) ||
	        ARENA_NOW(*ring_owner(old)) != s->id))
		begun = ring_refresh(s, old);
	errno = kept;
	return begun;
}

/*
 * While the block moves, another thread may get the memory that it leaves, and
 * record that first.  So the record has the time from before the call; telrec
 * waits for it, as the ring is open.  But the new memory may be what another
 * thread has freed meanwhile, if the owner of its page is another: the record
 * then becomes two, a free with the time from before, and an allocation.
 */
int
ring_begin_realloc(const void *old)
{
	struct ring_self *s = &ring_self;

	if (!RING_LIKELY(s->left >= (int32_t)ARENA_RECORD_MAX &&
	        !ARENA_NOW(s->ring->open)))
		return begin_slow(s, old);
	ARENA_SET(s->ring->open, 1);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	ring_be_exact(s);
	return RING_LIKELY(s->epoch == ARENA_NOW(ring_shared.arena->epoch) &&
	           ARENA_NOW(*ring_owner(old)) == s->id) ||
	    ring_refresh(s, old);
}

/* Makes this thread the owner of a page that has none.  0: it has another. */
static int
take_page(const struct ring_self *s, const void *p)
{
	uint16_t *owner = ring_owner(p), none = 0;

	return ARENA_NOW(*owner) == s->id ||
	    __atomic_compare_exchange_n(owner, &none, s->id, 0,
	        __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

void
ring_end_realloc(int begun, const uint64_t *words, unsigned n, const void *p,
    const void *old)
{
	struct ring_self *s = &ring_self;
	uint64_t two[2 + ARENA_RECORD_MAX];

	if (!begun) {
		ring_put(words, n, p);
		return;
	}
	if (RING_LIKELY(s->epoch == ARENA_NOW(ring_shared.arena->epoch) &&
	        ARENA_NOW(*ring_owner(p)) == s->id)) {
		ring_append(s, words, n);
		ring_close(s);
		return;
	}
	if (!RING_LIKELY(
	        p == old || old == NULL || p == NULL || take_page(s, p))) {
		/* the free has the time of the ring: no later one */
		two[0] = ring_word(ARENA_FREE, old, 0);
		ring_append(s, two, 1);
		if (!ring_refresh(s, p))
			return;
		two[0] = ring_word(ARENA_MALLOC_LONG, p, 0);
		/* the size, and the trace if there is one */
		memcpy(two + 1, words + 2, (n - 2) * sizeof(two[0]));
		if (n == 2) {
			two[1] = words[0] >> 4 & ARENA_SIZE_LONG;
			n = 3;
		}
		if ((words[0] & 15) == ARENA_REALLOCARRAY) {
			two[1] = words[2] * words[3];
			memmove(two + 2, words + 4, (n - 4) * sizeof(two[0]));
			n--;
		}
		ring_append(s, two, n - 1);
		ring_close(s);
		return;
	}
	/* a block that moves must not get a later time */
	if ((p == old || old == NULL || p == NULL) && !ring_refresh(s, p))
		return;
	ring_append(s, words, n);
	ring_close(s);
}

/* ------------------------------------------------------- other records */

void
telrec_fresh_clock(void)
{
	/* the next record finds no room, and another epoch than it saw */
	ring_self.left = 0;
	ring_self.epoch--;
}

/* A record about no block. */
static void
preload_ring_put_other(const uint64_t *words, unsigned n)
{
	ring_put(words, n, NULL);
}

void
telrec_emit_trace(uint32_t number, uint64_t ip, uint32_t parent)
{
	const uint64_t words[3] = { ring_word(ARENA_MORE, NULL, ARENA_TRACE),
		(uint64_t)parent << 32 | number, ip };

	preload_ring_put_other(words, 3);
}

void
telrec_emit_module(uint64_t start, uint64_t bias, const char *path,
    const char *build)
{
	uint64_t words[4 + ARENA_TEXT_WORDS];
	char *text = (char *)(words + 4);
	size_t most = ARENA_TEXT_WORDS * 8 - 1, used = strnlen(build, 64);

	memset(words, 0, sizeof(words));
	memcpy(text, build, used);
	text[used++] = ' ';
	most = strnlen(path, most - used);
	memcpy(text + used, path, most);
	unsigned n = (unsigned)(used + most) / 8 + 1;
	words[0] = (uint64_t)n << 16 | ARENA_MODULE << 4 | ARENA_MORE;
	words[1] = start;
	words[2] = bias;
	words[3] = 0;
	preload_ring_put_other(words, 4 + n);
}

void
ring_put_name(const char *name)
{
	uint64_t words[3] = { ring_word(ARENA_MORE, NULL, ARENA_NAME), 0, 0 };

	memcpy(words + 1, name, strnlen(name, 15));
	preload_ring_put_other(words, 3);
}

void
ring_put_thread_end(void)
{
	const uint64_t word = ring_word(ARENA_MORE, NULL, ARENA_THREAD_END);

	telrec_fresh_clock();
	preload_ring_put_other(&word, 1);
}

int
ring_calls_forbidden(void)
{
	return ring_self.strict || (sandbox & SANDBOX_NO_WAIT) != 0;
}

void
ring_prepare(void)
{
	struct ring_self *s = &ring_self;

	if (ring_shared.arena == NULL)
		return;
	if (!process->alive)
		process_forget(s);
	if (s->ring == NULL && process_take_ring(s))
		__atomic_store_n(&s->ring->open, 0, __ATOMIC_RELEASE);
}

void
ring_forbid_calls(int on)
{
	ring_self.strict = on != 0;
}
