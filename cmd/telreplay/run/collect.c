/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The results of a run.  The memory belongs to another process, which may have
 * failed in any way: every number in it is checked.
 */
#include "telreplay/run/collect.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include "common/message.h"

/*
 * The ratio of live bytes, of the run to the log, that is reported, and how many
 * bytes it is at least: both are 2.5 windows.
 */
#define LIVE_RATIO 1.05
#define LIVE_BYTES (WINDOW_MIN * 2.5)
/* The most threads that are named if it is unknown which one failed. */
#define THREADS_SHOWN 4

/* An operation for messages: the event it comes from. */
static void
name_place(const struct benchmark *c, uint64_t chunk, uint32_t thread,
    uint32_t position, char *text, size_t size)
{
	const char *log;
	uint64_t event;

	if (program_origin(c->trace->program, chunk, thread, position, &log,
	        &event) == TEL_OK)
		(void)snprintf(text, size, "event %" PRIu64 " of %s", event,
		    log);
	else
		(void)snprintf(text, size,
		    "operation %" PRIu32 " of thread %" PRIu32, position,
		    thread);
}

static uint32_t
threads_of(const struct benchmark *c)
{
	uint32_t threads = shared_run_stats(c->stage.shared)->threads;

	return threads <= c->trace->facts->threads ? threads : 0;
}

/* What threads did when the run ended. */
struct doing {
	unsigned working, waiting, over;
};

static struct doing
count_doing(const struct benchmark *c, uint32_t threads)
{
	struct doing d = { 0, 0, 0 };

	for (uint32_t i = 0; i < threads; i++) {
		uint32_t state = atomic_load(
		    &shared_run_stats(c->stage.shared)->thread[i].state);

		d.working += state == RUN_WORKING;
		d.waiting += state == RUN_WAITING;
		d.over += state == RUN_ENDED || state == RUN_IDLE;
	}
	return d;
}

static void
collect_append(char *text, size_t size, const char *more)
{
	size_t used = strlen(text);

	(void)snprintf(text + used, size - used, "%s", more);
}

/*
 * Where threads were in the allocator, when the failing one is unknown.  Those
 * that wait for others or have no words left are counted only.
 */
static void
name_threads(const struct benchmark *c, uint32_t threads, char *text,
    size_t size)
{
	const struct run_shared_stats *b = shared_run_stats(c->stage.shared);
	struct doing d = count_doing(c, threads);
	uint32_t i, position, shown = 0;
	char place[300], name[256];
	uint64_t chunk;

	text[0] = '\0';
	if (d.working == 0)
		collect_append(text, size, "with no thread in the allocator");
	for (i = 0; i < threads && shown < THREADS_SHOWN; i++) {
		if (atomic_load(&b->thread[i].state) != RUN_WORKING)
			continue;
		run_position(b, i, &chunk, &position);
		name_place(c, chunk, i, position, name, sizeof(name));
		(void)snprintf(place, sizeof(place), "%s %s",
		    shown++ > 0 ? "," : "at", name);
		collect_append(text, size, place);
	}
	if (d.working > THREADS_SHOWN)
		collect_append(text, size, " ...");
	if (d.waiting + d.over == 0)
		return;
	(void)snprintf(place, sizeof(place),
	    " (%u wait for other threads, %u finished)", d.waiting, d.over);
	collect_append(text, size, place);
}

/* Where the run was when it ended: in the failing thread if that is known. */
static void
name_end(const struct benchmark *c, char *text, size_t size)
{
	struct shared *sh = c->stage.shared;
	unsigned phase = atomic_load(&sh->phase);
	uint32_t struck = atomic_load(&sh->struck), threads = threads_of(c);
	uint32_t position;
	uint64_t chunk;
	char place[256];

	text[0] = '\0';
	if (phase < PHASE_RUNNING || threads == 0) {
		(void)snprintf(text, size, "before the first event");
		return;
	}
	if (phase > PHASE_RUNNING) {
		(void)snprintf(text, size, "after the last event%s",
		    phase == PHASE_ENDING ? ", when what was left was freed" :
		                            "");
		return;
	}
	if (struck == 0 || struck > threads) {
		name_threads(c, threads, text, size);
		return;
	}
	run_position(shared_run_stats(sh), struck - 1, &chunk, &position);
	name_place(c, chunk, struck - 1, position, place, sizeof(place));
	(void)snprintf(text, size, "at %s", place);
}

void
collect_fail(const struct benchmark *c, struct result *r,
    const struct outcome *out, const char *where)
{
	const char *colon = out->said[0] != '\0' ? ": " : "";
	unsigned phase = atomic_load(&c->stage.shared->phase);

	r->failed = 1;
	switch (out->ending) {
	case ENDED_CRASHED:
		(void)snprintf(r->why, sizeof(r->why), "%s %s: %s%s%s",
		    out->signal == SIGKILL ? "was killed" : "crashed", where,
		    out->signal == SIGKILL ? "memory may have run out" :
		                             strsignal(out->signal),
		    colon, out->said);
		break;
	case ENDED_HUNG:
		(void)snprintf(r->why, sizeof(r->why), "hung %s%s%s", where,
		    colon, out->said);
		break;
	case ENDED_EXIT:
		(void)snprintf(r->why, sizeof(r->why),
		    "ended the process %s, with status %d%s%s", where,
		    out->status, colon, out->said);
		break;
	case ENDED_WRONG:
		/* it may end without a run, or before a thread has run */
		if (phase < PHASE_RUNNING || phase == PHASE_DONE ||
		    atomic_load(&c->stage.shared->struck) == 0)
			where = "";
		(void)snprintf(r->why, sizeof(r->why), "%s%s%s", out->why,
		    where[0] != '\0' ? " " : "", where);
		break;
	case ENDED_WELL: break;
	}
	message_fail(STATUS_FAILED, r->allocator->name, "%s", r->why);
}

static const char *
wrong_text(uint32_t what)
{
	switch (what) {
	case RUN_CONTENT: return "a block does not hold what was written";
	case RUN_NOT_ZERO: return "memory of calloc is not zero";
	case RUN_OVERLAP: return "blocks overlap";
	case RUN_POOL:
		return "a pool or buffer could not be created, or a block not "
		       "committed";
	default: return "unknown failure";
	}
}

/* An error, with the size or alignment that was asked for. */
static void
wrong_describe(char *text, size_t size, uint32_t what,
    const struct run_error *e)
{
	char other[64] = "";

	if (what == RUN_OVERLAP)
		(void)snprintf(other, sizeof(other),
		    ", in the block 0x%" PRIx64, e->other);
	if (what == RUN_NULL)
		(void)snprintf(text, size,
		    "returned NULL for %" PRIu64 " bytes", e->offset);
	else if (what == RUN_ALIGNMENT)
		(void)snprintf(text, size,
		    "a block is not aligned to %" PRIu64
		    " bytes (block 0x%" PRIx64 ")",
		    e->offset, e->address);
	else
		(void)snprintf(text, size,
		    "%s (block 0x%" PRIx64 ", offset %" PRIu64 "%s)",
		    wrong_text(what), e->address, e->offset, other);
}

/* Shows an error, and how many more there are of its kind. */
static void
show_error(const struct benchmark *c, const struct result *r, uint32_t what,
    const struct run_error *e)
{
	char place[256] = "the end", text[256], more[64] = "";

	if (e->position != UINT32_MAX)
		name_place(c, e->chunk, e->thread, e->position, place,
		    sizeof(place));
	wrong_describe(text, sizeof(text), what, e);
	if (e->count > 1)
		(void)snprintf(more, sizeof(more), "; %" PRIu32 " more like it",
		    e->count - 1);
	message_fail(STATUS_FAILED, r->allocator->name, "at %s: %s%s", place,
	    text, more);
}

/* Shows the errors that the run itself detected. */
static void
show_errors(const struct benchmark *c, const struct result *r)
{
	const struct run_shared_stats *b = shared_run_stats(c->stage.shared);

	for (uint32_t i = 0; i < RUN_WRONGS; i++)
		if (b->wrong[i].count > 0)
			show_error(c, r, i, &b->wrong[i]);
}

static void
take_latency(struct result *r, const struct run_shared_stats *b)
{
	r->tick_ns = b->tick_ns;
	r->empty_ns = (double)b->empty_ticks * b->tick_ns;
	r->noise_ns = (double)b->noise_ticks * b->tick_ns;
	for (size_t i = 0; i < RUN_KINDS; i++) {
		r->operations[i] = b->operations[i];
		run_latency_add(&r->latency[i], &b->latency[i]);
	}
	run_size_time_add(r->size_time, b->size_time);
}

static void
take_timing(const struct benchmark *c, struct result *r)
{
	struct shared *sh = c->stage.shared;
	const struct run_shared_stats *b = shared_run_stats(sh);
	struct timing *t = &r->runs[r->nruns++];
	uint64_t waits = 0;
	uint32_t i, threads = threads_of(c);

	for (i = 0; i < RUN_KINDS; i++)
		t->operations += b->operations[i];
	for (i = 0; i < threads; i++) {
		waits += b->thread[i].times.wait_ns;
		if (r->threads != NULL)
			r->threads[i] = b->thread[i].times;
	}
	t->cpu = (double)b->cpu_ns - (double)waits;
	if (t->cpu < 0)
		t->cpu = 0;
	t->wall = (double)b->wall_ns;
	/* at least the time of the threads of the program */
	t->process = (double)sh->process_ns - (double)waits;
	if (t->process < t->cpu)
		t->process = t->cpu;
	t->p99 = result_p99_of(b->latency, b->tick_ns);
	t->remembers = sh->baseline.known && sh->end.known;
	t->end = sample_above(&sh->end, &sh->baseline);
	t->peak = sh->peak > t->end ? sh->peak : t->end;
	t->minor_faults = sh->minor_faults;
	t->major_faults = sh->major_faults;
	for (i = 0; i < COUNTERS; i++) {
		t->counts[i] = sh->counts[i];
		t->counted[i] = sh->counted[i] != 0;
	}
	take_latency(r, b);
}

/* Puts one of the process's own samples where it belongs in time. */
static void
take_sample(struct result *r, const struct sample *s)
{
	size_t i = r->nsamples;

	if (!s->known)
		return;
	for (; i > 0 && r->samples[i - 1].ns > s->ns; i--)
		r->samples[i] = r->samples[i - 1];
	r->samples[i] = *s;
	r->nsamples++;
}

static void
take_memory(struct result *r, struct shared *sh, const struct observer *o,
    const struct outcome *out)
{
	/* 0 where the kernel has no figures */
	r->watched = sh->baseline.known != 0;
	r->baseline = sh->baseline;
	r->end = sh->end;
	r->idle = sh->idle;
	r->freed = sh->freed;
	r->freed_idle = sh->freed_idle;
	r->peak = sh->peak;
	r->live_peak = shared_run_stats(sh)->live_peak;
	r->left_out = shared_run_stats(sh)->left_out /
	    (shared_run_stats(sh)->repeats > 0 ? shared_run_stats(sh)->repeats :
	                                         1);
	r->has_room = sh->has_room != 0;
	r->asked = shared_run_stats(sh)->asked;
	r->given = shared_run_stats(sh)->given;
	r->nsamples = o->n;
	memcpy(r->samples, o->samples, o->n * sizeof(o->samples[0]));
	/* a run, or its peak, may be over before it is observed */
	take_sample(r, &sh->at_peak);
	take_sample(r, &r->end);
	take_sample(r, &r->idle);
	take_sample(r, &r->freed);
	take_sample(r, &r->freed_idle);
	memcpy(r->slack, shared_run_stats(sh)->slack, sizeof(r->slack));
	r->at_peak = sh->at_peak;
	r->residency = sh->residency;
	for (size_t i = 0; i < r->nsamples; i++)
		if (result_resident(r, &r->samples[i]) > r->peak)
			r->peak = result_resident(r, &r->samples[i]);
	r->calls_known = out->calls_known;
	memcpy(r->calls, out->calls, sizeof(r->calls));
}

/* Adds the errors of a run, and shows those of the first one that has some. */
static void
take_errors(const struct benchmark *c, struct result *r)
{
	const struct run_shared_stats *b = shared_run_stats(c->stage.shared);
	uint64_t failures = b->failures, errors = b->errors;

	if (r->failures + r->errors == 0 && failures + errors > 0)
		show_errors(c, r);
	r->failures += failures;
	r->errors += errors;
	if (failures + errors > 0)
		(void)snprintf(r->why, sizeof(r->why),
		    "%" PRIu64 " errors, %" PRIu64 " failed allocations",
		    r->errors, r->failures);
}

/* A warning of an allocator that works, such as one about its settings. */
static void
take_said(const struct benchmark *c, struct result *r,
    const struct outcome *out)
{
	(void)snprintf(r->said, sizeof(r->said), "%s", out->said);
	if (!c->telreplay->settings.quiet)
		message(r->allocator->name, "%s", r->said);
}

/* Warns if threads ran so far ahead that the memory is not representative. */
static void
check_live(const struct benchmark *c, const struct result *r)
{
	double ratio, log = (double)c->trace->facts->peak_bytes;

	ratio = log > 0 ? (double)r->live_peak / log : 1;
	if (ratio <= LIVE_RATIO || c->telreplay->settings.quiet ||
	    (double)r->live_peak <= log + LIVE_BYTES)
		return;
	message(r->allocator->name,
	    "threads ran ahead: %.2f times the live bytes of the log at the "
	    "peak; %s bounds that",
	    ratio,
	    c->trace->facts->order == ORDER_NONE ? "--order edges" :
	                                           "--window");
}

void
collect_run(struct benchmark *c, struct result *r, enum job job,
    const struct outcome *out)
{
	struct shared *sh = c->stage.shared;
	char where[700];

	if (out->ending != ENDED_WELL) {
		/* errors found before the failure are reported, too */
		take_errors(c, r);
		name_end(c, where, sizeof(where));
		collect_fail(c, r, out, where);
		return;
	}
	if (job == JOB_WATCH && out->said[0] != '\0')
		take_said(c, r, out);
	if (job == JOB_WATCH) {
		take_memory(r, sh, &c->stage.observer, out);
		check_live(c, r);
	} else
		take_timing(c, r);
	take_errors(c, r);
}
