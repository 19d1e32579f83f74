/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rounds over all rings, whose records are merged by their times. arena.h
 * explains when a record may be taken.
 */
#define _GNU_SOURCE
#include "telrec/drain.h"
#include "telrec/columns.h"
#include "telrec/rings.h"
#include "telrec/unrecorded.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/process.h"
#include "common/progress.h"
#include "tel_emit.h"

/* Rounds that a ring may be open with the same time, before it is ignored. */
#define PATIENCE_NS UINT64_C(2000000000)
/* A store of another processor is visible after that at the latest. */
#define SETTLE_NS 20000
#define CLOCK_SLACK 1000u
/* For each of the processes that it is asked of whether they run. */
#define ASK_NS UINT64_C(100000)
/* The bits of a process in its number; those above are runs. */
#define PID_MASK ((1u << 22) - 1)
/* Processes, each a child of the next, whose ends may be ordered. */
#define GENERATIONS 8
/* Pauses between rounds; in the longest one, a live reader waits. */
#define PAUSE_MIN UINT64_C(20000)
#define PAUSE_MAX UINT64_C(10000000)

/* A process whose end has not been written, as the program that it is. */
struct running {
	uint32_t slot;  /* of the image */
	uint64_t ended; /* it had ended then; 0: it runs */
	int hidden;     /* its number is one of another namespace */
	int asked;      /* whether it has ended, since it came */
	int reaped;     /* by telrec: its parent ended before it */
};

struct drain {
	struct arena *a;
	struct columns *columns;
	struct telrec_symbols *symbols; /* or NULL */
	struct cursor cursors[ARENA_RINGS];
	uint16_t active[ARENA_RINGS], written[ARENA_RINGS];
	unsigned nactive, nwritten;
	uint64_t bumped; /* when the epoch was changed last */
	uint64_t settled_ns;
	uint64_t looked_ns, between_ns; /* the last round, the one before it */
	uint64_t pause_ns;
	uint64_t stuck_at, stuck_since; /* the time that does not pass */
	uint64_t started_ns;
	/* lost events: of rings that were given back, and accepted counts */
	uint64_t lost, unplaced_lost, ring_lost[ARENA_RINGS];
	int overwritten; /* by a program: what no library writes */
	uint32_t rings;  /* used, ever */
	/* processes */
	uint32_t *numbers; /* of images, as the field pid has them */
	/* copies, as a program may change its own at any time */
	char (*names)[ARENA_NAME_MAX + 1];
	char (*paths)[sizeof(((struct arena_exec *)NULL)->path)];
	uint8_t *runs; /* programs that a process executed */
	struct running *running;
	uint32_t nrunning;
	uint64_t asked_ns; /* when it was asked last which of them run, */
	uint64_t asked;    /* as a clock; all before that one is written: */
	uint64_t merged;
};

struct drain *
drain_new(struct arena *a, uint64_t limit, uint64_t kept,
    struct telrec_symbols *symbols)
{
	struct drain *d = calloc(1, sizeof(*d));

	if (d == NULL)
		return NULL;
	d->a = a;
	d->symbols = symbols;
	d->started_ns = progress_now();
	d->numbers = calloc(ARENA_IMAGES, sizeof(*d->numbers));
	d->names = calloc(ARENA_IMAGES, sizeof(*d->names));
	d->paths = calloc(ARENA_EXECS, sizeof(*d->paths));
	d->runs = calloc(1u << 22, 1);
	d->running = calloc(ARENA_IMAGES, sizeof(*d->running));
	d->columns = columns_new(a->options, a->sample, kept);
	if (d->numbers == NULL || d->names == NULL || d->paths == NULL ||
	    d->runs == NULL || d->running == NULL || d->columns == NULL) {
		drain_free(d);
		return NULL;
	}
	d->columns->limit = limit;
	for (uint32_t i = 0; i < ARENA_RINGS; i++) {
		d->cursors[i].ring = &a->rings[i];
		d->cursors[i].words = arena_words(a, i);
	}
	return d;
}

void
drain_free(struct drain *d)
{
	if (d == NULL)
		return;
	free(d->numbers);
	free(d->names);
	free(d->paths);
	free(d->runs);
	free(d->running);
	columns_free(d->columns);
	free(d);
}

uint64_t
drain_events(const struct drain *d)
{
	const struct columns *c = d->columns;

	/* of a process with modules alone, nothing was recorded */
	return c->events > c->processes || c->events >= c->limit ? c->events :
	                                                           0;
}

int
drain_release(struct drain *d)
{
	columns_write(d->columns, drain_lost(d));
	columns_release(d->columns);
	errno = d->columns->failed;
	return d->columns->failed ? -1 : 0;
}

void
drain_stop(struct drain *d)
{
	d->columns->limit = d->columns->events + d->columns->count;
}

uint32_t
drain_processes(const struct drain *d)
{
	return ARENA_NOW(d->a->images_used) - ARENA_NOW(d->a->images_skipped);
}

/*
 * Accepts a count of lost events that only grows, by one event each nanosecond
 * at most.  A program that scribbles over the arena writes any other.
 */
static uint64_t
accept_lost(struct drain *d, uint64_t *accepted, uint64_t count)
{
	if (count == *accepted)
		return count;
	if (count > *accepted && count <= progress_now() - d->started_ns)
		*accepted = count;
	else
		d->overwritten = 1;
	return *accepted;
}

/* How many rings there are: their number grows only. */
static uint32_t
count_rings(struct drain *d)
{
	uint32_t used = ARENA_NOW(d->a->rings_used);

	if (used > ARENA_RINGS)
		used = ARENA_RINGS;
	if (used < d->rings)
		d->overwritten = 1;
	else
		d->rings = used;
	return d->rings;
}

uint64_t
drain_lost(struct drain *d)
{
	struct arena *a = d->a;
	uint64_t lost =
	    d->lost + accept_lost(d, &d->unplaced_lost, ARENA_NOW(a->lost));
	uint32_t i, used = count_rings(d);

	for (i = 0; i < used; i++)
		lost += accept_lost(d, &d->ring_lost[i],
		    ARENA_NOW(a->rings[i].lost));
	return lost;
}

int
drain_overwritten(const struct drain *d)
{
	return d->overwritten;
}

/* ---------------------------------------------------------------- rounds */

/* Adds the end of the process, or of the program that it was, in a slot. */
static void
add_process_end(struct drain *d, uint32_t slot, uint64_t clock)
{
	struct columns *to = d->columns;
	struct source from = { .pid = d->numbers[slot],
		.tid = d->numbers[slot] & PID_MASK,
		.process = d->names[slot] };

	if (to->count + 2 >= COLUMNS_EVENTS)
		columns_write(to, drain_lost(d));
	columns_source(to, &from);
	columns_add(to, TYPE_PROCESS_END)->count++;
	columns_clock(to, clock, to->count - 1);
}

/* A program starts in a slot, at a time: that which the process was has ended. */
static void
start_image(struct drain *d, uint32_t slot, uint32_t pid, int hidden,
    uint64_t clock)
{
	uint32_t i = 0;

	while (i < d->nrunning && d->running[i].slot != slot &&
	    ((d->numbers[d->running[i].slot] & PID_MASK) != pid || hidden ||
	        d->running[i].hidden))
		i++;
	if (i < d->nrunning)
		add_process_end(d, d->running[i].slot, clock);
	else if (i < ARENA_IMAGES)
		d->running[d->nrunning++] = (struct running){ 0 };
	if (i < ARENA_IMAGES) {
		d->running[i].slot = slot;
		d->running[i].hidden = hidden;
	}
	d->numbers[slot] = pid | (uint32_t)(d->runs[pid]++) << 22;
}

/* Nonzero when there is no such process; one whose parent did not ask is there. */
static int
is_gone(uint32_t pid)
{
	return kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

/* When the threads of a process last read the clock, which none do later. */
static uint64_t
last_record(struct drain *d, uint32_t pid)
{
	const uint32_t used = count_rings(d);
	uint64_t last = 0, ticks;

	for (uint32_t i = 0; i < used; i++) {
		const struct arena_ring *ring = &d->a->rings[i];

		if ((ARENA_NOW(ring->pid) & PID_MASK) != pid)
			continue;
		ticks = __atomic_load_n(&ring->ticks, __ATOMIC_ACQUIRE);
		last = ticks > last ? ticks : last;
	}
	return last;
}

static struct running *
find_running(struct drain *d, uint32_t pid)
{
	for (uint32_t i = 0; i < d->nrunning; i++)
		if (!d->running[i].hidden &&
		    (d->numbers[d->running[i].slot] & PID_MASK) == pid)
			return &d->running[i];
	return NULL;
}

void
drain_reaped(struct drain *d, uint32_t pid)
{
	struct running *r = find_running(d, pid);

	if (r != NULL)
		r->reaped = 1;
}

/*
 * Of processes that have ended since they were asked for last, a child ends
 * before its parent, which reaped it, or after it if telrec did.  Passes: as many
 * generations may end at a time.
 */
static void
order_ended(struct drain *d)
{
	int moved = 1;

	for (int pass = 0; moved && pass < GENERATIONS; pass++) {
		moved = 0;
		for (uint32_t i = 0; i < d->nrunning; i++) {
			struct running *r = &d->running[i], *parent;

			if (r->ended == 0 || r->hidden)
				continue;
			parent = find_running(d, d->a->images[r->slot].parent);
			if (parent == NULL || parent->ended == 0)
				continue;
			struct running *last = r->reaped ? r : parent;
			const uint64_t first =
			    r->reaped ? parent->ended : r->ended;
			if (last->ended > first)
				continue;
			last->ended = first + 1;
			if (d->asked < last->ended)
				d->asked = last->ended;
			moved = 1;
		}
	}
}

/*
 * Notes which processes have ended since they were asked for last: behind all
 * that they recorded, but not before what has been written.
 */
static void
note_ended(struct drain *d, int (*has_ended)(uint32_t pid))
{
	const uint64_t now = tel_emit_clock(),
	               first = d->asked > d->merged ? d->asked : d->merged;

	for (uint32_t i = 0; i < d->nrunning; i++) {
		struct running *r = &d->running[i];
		const uint32_t pid = d->numbers[r->slot] & PID_MASK;

		r->asked = 1;
		if (r->ended != 0 ||
		    (r->hidden ? has_ended == is_gone : !has_ended(pid)))
			continue;
		const uint64_t last = last_record(d, pid) + 1;
		r->ended = last < now ? last : now;
		if (r->ended < first)
			r->ended = first;
	}
	d->asked = now;
	order_ended(d);
}

/* The number of the process of a ring, as the field pid has it. */
static void
set_process(struct drain *d, struct cursor *c, const struct arena_ring *ring)
{
	const uint32_t slot = ARENA_NOW(ring->image) % ARENA_IMAGES;
	const struct arena_image *image = &d->a->images[slot];
	const uint32_t pid = ARENA_NOW(ring->pid) & PID_MASK;
	struct columns *to = d->columns;

	c->is_new = 0;
	c->source.block = 0;
	c->source.tid = ring->tid;
	c->source.process = d->names[slot];
	memcpy(c->source.name, ring->name, sizeof(c->source.name));
	c->source.name[sizeof(c->source.name) - 1] = '\0';
	if (d->numbers[slot] == 0 || (d->numbers[slot] & PID_MASK) != pid) {
		start_image(d, slot, pid, ARENA_NOW(ring->hidden) != 0,
		    c->clock);
		memcpy(d->names[slot], image->name, ARENA_NAME_MAX);
		c->source.pid = d->numbers[slot];
		columns_source(to, &c->source);
		struct part *part = columns_add(to, TYPE_PROCESS);
		part->columns[0][part->count++] = image->parent;
		columns_clock(to, c->clock, to->count - 1);
	}
	c->source.pid = d->numbers[slot];
}

/*
 * Looks at ring i.  Returns its bound: a record that it gets from now on is
 * not of an earlier time.
 */
static uint64_t
telrec_drain_look(struct drain *d, uint32_t i, uint64_t bumped)
{
	struct arena_ring *ring = &d->a->rings[i];
	struct cursor *c = &d->cursors[i];
	const uint32_t state = __atomic_load_n(&ring->state, __ATOMIC_ACQUIRE);
	uint64_t bound = bumped;

	if (state != ARENA_RING_USED && state != ARENA_RING_ENDED)
		return bound;
	if (state == ARENA_RING_USED &&
	    __atomic_load_n(&ring->open, __ATOMIC_ACQUIRE)) {
		bound = __atomic_load_n(&ring->ticks, __ATOMIC_ACQUIRE);
		bound = bound < bumped ? bound : bumped;
	}
	c->seen = c->end;
	c->end = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
	/* the program has written over it */
	if (c->end - c->at > ARENA_RING_WORDS) {
		d->overwritten = 1;
		c->at = c->end;
		__atomic_store_n(&ring->tail, c->at, __ATOMIC_RELEASE);
	}
	if (c->end != c->seen)
		d->written[d->nwritten++] = (uint16_t)i;
	if (c->at == c->end && state == ARENA_RING_ENDED) {
		d->lost +=
		    accept_lost(d, &d->ring_lost[i], ARENA_NOW(ring->lost));
		d->ring_lost[i] = 0;
		ARENA_SET(ring->lost, 0);
		__atomic_store_n(&ring->state, ARENA_RING_FREE,
		    __ATOMIC_RELEASE);
		return bumped;
	}
	if (c->at != c->end)
		d->active[d->nactive++] = (uint16_t)i;
	return bound;
}

/* How long until a ring may be full, if its thread goes on as it did. */
static uint64_t
fill_time(const struct drain *d, uint32_t i)
{
	const struct cursor *c = &d->cursors[i];
	const uint64_t words = c->end - c->seen,
	               room = ARENA_RING_WORDS - (c->end - c->at);

	return words == 0 ? UINT64_MAX : d->between_ns * room / words;
}

/*
 * Each round costs some 10 us, whatever it finds: so there are as few as the
 * rings have room for.  Only rings that were written since the last one count.
 */
static void
plan_pause(struct drain *d)
{
	uint64_t least = PAUSE_MAX / 3 * 5, time;

	for (unsigned i = 0; i < d->nwritten; i++) {
		time = fill_time(d, d->written[i]);
		least = time < least ? time : least;
	}
	d->pause_ns = least / 5 * 3;
	if (d->pause_ns < PAUSE_MIN)
		d->pause_ns = PAUSE_MIN;
}

/* Merges the records of the active rings that are below the horizon. */
static void
telrec_drain_merge(struct drain *d, uint64_t horizon)
{
	for (unsigned i = 0; i < d->nactive; i++) {
		struct cursor *c = &d->cursors[d->active[i]];
		uint32_t claim = ARENA_NOW(d->a->rings[d->active[i]].claim);

		if (c->claim != claim || c->source.process == NULL) {
			/* a record begins with a clock */
			c->claim = claim;
			c->clock =
			    arena_words(d->a,
			        d->active[i])[c->at & (ARENA_RING_WORDS - 1)] >>
			    4;
			c->is_new = 1;
		}
	}
	while (d->nactive > 0) {
		struct cursor *best = NULL;
		uint64_t limit = horizon;
		unsigned k = 0;

		for (unsigned i = 0; i < d->nactive; i++) {
			struct cursor *c = &d->cursors[d->active[i]];

			if (best == NULL || c->clock < best->clock) {
				if (best != NULL && best->clock < limit)
					limit = best->clock;
				best = c;
				k = i;
			} else if (c->clock < limit) {
				limit = c->clock;
			}
		}
		if (best->clock >= horizon)
			break;
		if (limit <= best->clock)
			limit = best->clock + 1;
		if (best->is_new) {
			if (d->columns->count + 2 >= COLUMNS_EVENTS)
				columns_write(d->columns, drain_lost(d));
			set_process(d, best, &d->a->rings[best - d->cursors]);
		}
		rings_take(d->columns, best, limit, d->symbols);
		/* what it has behind the horizon is taken for the next one */
		if (best->at == best->end)
			d->active[k] = d->active[--d->nactive];
		if (d->columns->count >= COLUMNS_EVENTS - 1)
			columns_write(d->columns, drain_lost(d));
	}
}

/* The process that ended first, before the horizon; or NULL. */
static struct running *
first_ended(const struct drain *d, uint64_t horizon)
{
	struct running *first = NULL;

	for (uint32_t i = 0; i < d->nrunning; i++) {
		struct running *r = &d->running[i];

		if (r->ended != 0 && r->ended <= horizon &&
		    (first == NULL || r->ended < first->ended))
			first = r;
	}
	return first;
}

/* Whether a process has a child that came since processes were asked for. */
static int
has_new_child(const struct drain *d, const struct running *r)
{
	const uint32_t pid = d->numbers[r->slot] & PID_MASK;
	uint32_t i = 0;

	while (i < d->nrunning &&
	    (d->running[i].asked || d->running[i].hidden ||
	        d->a->images[d->running[i].slot].parent != pid))
		i++;
	return i < d->nrunning;
}

/* The same, with the ends of processes. */
static void
merge_with_ends(struct drain *d, uint64_t horizon)
{
	struct running *r;

	while ((r = first_ended(d, horizon)) != NULL) {
		/* it may come to be another program before that */
		telrec_drain_merge(d, r->ended);
		d->merged = r->ended;
		/* which may have ended before it */
		if (!r->hidden && has_new_child(d, r))
			note_ended(d, is_gone);
		if (r->ended > d->merged)
			continue;
		add_process_end(d, r->slot, r->ended);
		*r = d->running[--d->nrunning];
	}
	telrec_drain_merge(d, horizon);
	d->merged = horizon;
}

/* All records before this time have arrived. */
static uint64_t
find_horizon(struct drain *d, uint64_t bumped)
{
	uint32_t i, used = count_rings(d);
	uint64_t horizon = bumped, bound;

	d->nactive = d->nwritten = 0;
	for (i = 0; i < used; i++) {
		bound = telrec_drain_look(d, i, bumped);
		horizon = bound < horizon ? bound : horizon;
	}
	return horizon;
}

long
drain_round(struct drain *d, int flush)
{
	const uint64_t before = d->columns->events + d->columns->count,
	               bumped = d->bumped;
	const struct timespec settle = { 0, SETTLE_NS };
	uint64_t horizon, now = progress_now();

	if (now - d->settled_ns < SETTLE_NS) {
		nanosleep(&settle, NULL);
		now = progress_now();
	}
	d->between_ns = now - d->looked_ns;
	d->looked_ns = now;
	ARENA_SET(d->a->hurry, 0);
	if (now - d->asked_ns > ASK_NS * d->nrunning) {
		d->asked_ns = now;
		note_ended(d, is_gone);
	}
	horizon = find_horizon(d, bumped);
	/* a thread that was stopped, or waits for another one, holds all up */
	if (horizon != d->stuck_at || horizon == bumped) {
		d->stuck_at = horizon;
		d->stuck_since = now;
	} else if (now - d->stuck_since > PATIENCE_NS) {
		horizon = bumped;
	}
	merge_with_ends(d, horizon);
	plan_pause(d);
	if (flush)
		columns_write(d->columns, drain_lost(d));
	__atomic_fetch_add(&d->a->rounds, 1, __ATOMIC_RELAXED);
	/*
	 * Whoever sees the new epoch reads a later clock than this one; the
	 * processor may do the two in another order, within some ticks.
	 */
	d->bumped = tel_emit_clock() - CLOCK_SLACK;
	__atomic_fetch_add(&d->a->epoch, 1, __ATOMIC_SEQ_CST);
	d->settled_ns = progress_now();
	if (d->columns->failed) {
		errno = d->columns->failed;
		return -1;
	}
	now = d->columns->events + d->columns->count;
	/* fewer, if a limit has discarded some */
	return now > before ? (long)(now - before) : 0;
}

void
drain_wait(const struct drain *d)
{
	const struct timespec moment = { 0, (long)d->pause_ns };

#ifdef SYS_futex
	if (sizeof(moment.tv_sec) == sizeof(long))
		(void)syscall(SYS_futex, &d->a->hurry, FUTEX_WAIT, 0, &moment,
		    NULL, 0);
	else
#endif
		(void)nanosleep(&moment, NULL);
}

/* Adds an event for a program that was executed, but not recorded. */
static void
add_unrecorded(struct drain *d, uint32_t i, unsigned number)
{
	const struct arena_exec *e = &d->a->execs[i];
	const uint32_t pid = ARENA_NOW(e->pid) & PID_MASK;
	char *path = d->paths[i];
	struct columns *to = d->columns;
	struct source from = { 0 };
	const char *text;
	const enum unrecorded_reason why = unrecorded_find(e, path, &text);

	if (to->count + 2 >= COLUMNS_EVENTS)
		columns_write(to, drain_lost(d));
	from.pid = pid | (uint32_t)(d->runs[pid]++) << 22;
	from.tid = pid;
	from.process = path;
	columns_source(to, &from);
	struct part *part = columns_add(to, TYPE_UNRECORDED);
	if (part->labels == NULL)
		part->labels = calloc(COLUMNS_EVENTS, sizeof(*part->labels));
	/* of the second field, which is an address so that it can have one */
	if (part->labels != NULL)
		part->labels[part->count] = path;
	part->columns[0][part->count] = why;
	part->columns[1][part->count++] = number;
	columns_clock(to, tel_emit_clock(), to->count - 1);
}

int
drain_finish(struct drain *d)
{
	unsigned number = 0;

	(void)find_horizon(d, UINT64_MAX);
	note_ended(d, drain_process_ended);
	merge_with_ends(d, UINT64_MAX);
	for (uint32_t i = 0; i < ARENA_EXECS; i++)
		if (unrecorded_is_missing(&d->a->execs[i]) &&
		    d->columns->events + d->columns->count > 0)
			add_unrecorded(d, i, ++number);
	return drain_release(d);
}

/* ----------------------------------------------------------------- death */

int
drain_process_ended(uint32_t pid)
{
	return is_gone(pid) || tel__process_ended(pid) > 0;
}

static int
thread_ended(uint32_t pid, uint32_t tid)
{
#ifdef SYS_tgkill
	return syscall(SYS_tgkill, (long)pid, (long)tid, 0L) != 0 &&
	    errno == ESRCH;
#else
	(void)pid;
	(void)tid;
	return 0;
#endif
}

unsigned
drain_tend(struct drain *d)
{
	uint32_t i, used = count_rings(d), pid = 0, state;
	struct arena_ring *ring;
	unsigned alive = 0;
	int ended = 0;

	for (i = 0; i < used; i++) {
		ring = &d->a->rings[i];
		struct cursor *c = &d->cursors[i];
		state = __atomic_load_n(&ring->state, __ATOMIC_ACQUIRE);
		if (state == ARENA_RING_FREE)
			continue;
		alive++;
		/* one that is written has a thread */
		if (state != ARENA_RING_USED || ARENA_NOW(ring->hidden) ||
		    c->idle != ARENA_NOW(ring->head)) {
			c->idle = ARENA_NOW(ring->head);
			continue;
		}
		if (ring->pid != pid) {
			pid = ring->pid;
			ended = drain_process_ended(pid);
		}
		if (ended || thread_ended(pid, ring->tid))
			__atomic_compare_exchange_n(&ring->state, &state,
			    ARENA_RING_ENDED, 0, __ATOMIC_SEQ_CST,
			    __ATOMIC_RELAXED);
	}
	return alive;
}
