/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process that runs an allocator.  Its standard streams belong to the
 * allocator: results go into the shared memory.
 */
/* for SA_ONSTACK, which is XSI */
#define _XOPEN_SOURCE 700
#include "telreplay/run/child.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "telreplay/run/calls.h"
#include "telreplay/run/counters.h"
#include "telreplay/run/memory.h"
#include "telreplay/run/builtin.h"
#include "telreplay/run/active_malloc.h"
#include "telreplay/run/allocator.h"

struct child {
	struct shared *shared;
	struct program *program;
	struct alloc_functions allocator;
	void (*end)(void *state); /* of a pool allocator, once it is started */
	struct rusage before;
	uint64_t process_ns; /* when the clock was started */
	uint64_t resident;   /* all resident memory at the start */
	uint64_t files;      /* of it, files */
	int begun;
	struct counters counters;
};

__attribute__((noreturn)) static void
give_up(struct shared *sh, const char *what, const char *why)
{
	(void)snprintf(sh->wrong, sizeof(sh->wrong), "%s%s%s", what,
	    why[0] != '\0' ? ": " : "", why);
	_exit(0);
}

/* The memory that the parent shares, or NULL. */
static struct shared *
find_shared(void)
{
	const char *text = getenv(SHARED_VARIABLE);
	struct shared *sh;
	struct stat st;

	if (text == NULL)
		return NULL;
	int fd = atoi(text);
	if (fd < 3 || fstat(fd, &st) != 0 || st.st_size < (off_t)sizeof(*sh))
		return NULL;
	sh = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED,
	    fd, 0);
	if (sh == MAP_FAILED || sh->magic != SHARED_MAGIC)
		return NULL;
	(void)unsetenv(SHARED_VARIABLE);
	return sh;
}

/* A signal handler has no argument for it. */
static struct shared *struck;

/* A crash: records its thread; the signal then ends the process. */
static void
take_signal(int number)
{
	unsigned none = 0;

	(void)atomic_compare_exchange_strong(&struck->struck, &none,
	    run_thread_here() + 1);
	(void)raise(number);
}

static void
catch_signals(struct shared *sh)
{
	static const int numbers[] = { SIGSEGV, SIGBUS, SIGABRT, SIGILL,
		SIGFPE };
	/* a full stack has no room for it: each thread has another one */
	struct sigaction action = { .sa_handler = take_signal,
		.sa_flags = SA_ONSTACK | (int)SA_RESETHAND };

	struck = sh;
	(void)sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		(void)sigaction(numbers[i], &action, NULL);
}

/* All statistics are resident before anything is measured. */
static void
touch_stats(struct shared *sh)
{
	const volatile unsigned char *p = (const unsigned char *)sh;
	size_t n = SHARED_BOARD +
	    run_shared_stats_size((unsigned)shared_run_stats(sh)->threads),
	       i;

	for (i = 0; i < n; i += 4096)
		(void)p[i];
}

static void
child_sample(const struct child *c, struct sample *out)
{
	struct shared *sh = c->shared;

	out->ns = run_clock(CLOCK_MONOTONIC) - sh->started;
	out->phase = atomic_load(&sh->phase);
	out->done = program_facts(c->program)->words * sh->options.repeat;
	memory_sample(0, sh, out);
}

/* Does nothing for a while: an allocator may return memory by then. */
static void
rest(const struct child *c, enum phase phase, struct sample *after)
{
	struct shared *sh = c->shared;
	struct timespec left;

	if (sh->job != JOB_WATCH || sh->idle_ns == 0)
		return;
	atomic_store(&sh->phase, phase);
	left.tv_sec = (time_t)(sh->idle_ns / 1000000000);
	left.tv_nsec = (long)(sh->idle_ns % 1000000000);
	while (nanosleep(&left, &left) != 0 && errno == EINTR)
		;
	child_sample(c, after);
}

/* Before the clock runs. */
static void
child_begin(struct child *c)
{
	struct shared *sh = c->shared;

	if (c->begun)
		return;
	c->begun = 1;
	touch_stats(sh);
	sh->started = run_clock(CLOCK_MONOTONIC);
	child_sample(c, &sh->baseline);
	(void)memory_forget_peak();
	memory_all(&c->resident, &c->files);
	(void)getrusage(RUSAGE_SELF, &c->before);
	atomic_store(&sh->phase, PHASE_RUNNING);
}

/* When the last event was run. */
static void
child_end(struct child *c)
{
	struct shared *sh = c->shared;
	struct rusage now;
	uint64_t resident, files, peak;

	(void)getrusage(RUSAGE_SELF, &now);
	peak = memory_peak();
	sh->minor_faults = (uint64_t)(now.ru_minflt - c->before.ru_minflt);
	sh->major_faults = (uint64_t)(now.ru_majflt - c->before.ru_majflt);
	child_sample(c, &sh->end);
	memory_all(&resident, &files);
	/* files only grow */
	if (peak > c->resident + (files - c->files))
		sh->peak = peak - c->resident - (files - c->files);
}

static void
read_counters(const struct child *c)
{
	struct shared *sh = c->shared;

	for (unsigned i = 0; i < COUNTERS; i++)
		sh->counted[i] = (uint32_t)counters_read(&c->counters,
		    (enum counter)i, &sh->counts[i]);
}

/* Nonzero while the program is run for the last time. */
static int
is_last(const struct shared *sh, const struct run_shared_stats *b)
{
	return atomic_load(&b->repeats) + 1 >= sh->options.repeat;
}

static void
take_phase(void *arg, enum run_phase phase)
{
	struct child *c = arg;

	if (phase == RUN_READY) {
		child_begin(c);
	} else if (phase == RUN_CHUNK) {
		counters_run(&c->counters, 1);
		/* an allocator may have threads of its own */
		c->process_ns = run_clock(CLOCK_PROCESS_CPUTIME_ID);
		atomic_store(&c->shared->phase, PHASE_RUNNING);
	} else if (phase == RUN_PAUSE) {
		c->shared->process_ns +=
		    run_clock(CLOCK_PROCESS_CPUTIME_ID) - c->process_ns;
		counters_run(&c->counters, 0);
	} else if (phase == RUN_PEAK) {
		child_sample(c, &c->shared->at_peak);
		c->shared->at_peak.done =
		    run_words_done(shared_run_stats(c->shared),
		        program_facts(c->program), c->shared->options.repeat);
	} else if (phase == RUN_ALL_DONE) {
		child_end(c);
		read_counters(c);
		if (is_last(c->shared, shared_run_stats(c->shared)))
			rest(c, PHASE_IDLE, &c->shared->idle);
		atomic_store(&c->shared->phase, PHASE_ENDING);
	} else if (phase == RUN_ALL_FREED) {
		atomic_store(&c->shared->phase, PHASE_FREED);
		if (c->shared->job == JOB_WATCH)
			child_sample(c, &c->shared->freed);
		if (is_last(c->shared, shared_run_stats(c->shared)))
			rest(c, PHASE_FREED, &c->shared->freed_idle);
	} else {
		atomic_store(&c->shared->struck, run_thread_here() + 1);
		if (phase == RUN_NO_POOL)
			give_up(c->shared,
			    "a pool or buffer could not be created", "");
		give_up(c->shared, "a thread could not be started",
		    strerror(errno));
	}
}

/* For pool allocators that must not be called by two threads at once. */
static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;

/* Starts a pool allocator, or takes the functions of malloc. */
static void
child_prepare(struct child *c)
{
	struct shared *sh = c->shared;
	const struct facts *facts = program_facts(c->program);
	tel_pool_trace trace = { facts->largest, facts->peak_bytes,
		facts->peak_blocks, facts->threads, facts->pools };
	const tel_pool_table *table = c->allocator.pool;
	const char *wrong = NULL;

	if (table != NULL && table->start != NULL)
		wrong =
		    table->start(sh->parameters, &trace, &c->allocator.state);
	if (wrong != NULL)
		give_up(sh, wrong, "");
	if (table != NULL)
		c->end = table->end;
	if (table != NULL && (table->flags & TEL_POOL_THREADS) == 0 &&
	    facts->threads > 1)
		c->allocator.lock = &pool_lock;
	if (sh->builtin == BUILTIN_NULL_MALLOC)
		builtin_null_functions(&c->allocator);
	sh->has_room = c->allocator.pool != NULL || c->allocator.usable != NULL;
}

static void
child_run(struct child *c)
{
	struct shared *sh = c->shared;
	tel_status st = program_open_fd(sh->program, &c->program);
	struct run_options options = sh->options;

	if (st != TEL_OK)
		give_up(sh, "the program", tel_status_text(st));
	/* an allocator that handles faults does so before this handler */
	catch_signals(sh);
	child_prepare(c);
	if (sh->traced && !calls_stop())
		sh->traced = 0;
	options.count_live = sh->job == JOB_WATCH;
	if (sh->job == JOB_WATCH)
		options.residency = &sh->residency;
	options.phase = take_phase;
	options.arg = c;
	counters_open(&c->counters);
	atomic_store(&sh->phase, PHASE_READY);
	const char *wrong = run_program(c->program, &c->allocator, &options,
	    shared_run_stats(sh));
	if (wrong != NULL)
		give_up(sh, wrong, "");
	if (c->allocator.pool != NULL && c->end != NULL)
		c->end(c->allocator.state);
}

/* Finds the allocator of this process. */
static void
find_allocator(struct child *c)
{
	struct shared *sh = c->shared;
	const tel_pool_table *table = builtin_number(sh->builtin);

	if (table == NULL) {
		active_malloc_find(sh, &c->allocator);
		return;
	}
	c->allocator.pool = table;
	(void)snprintf(sh->name, sizeof(sh->name), "%s", table->name);
	(void)snprintf(sh->path, sizeof(sh->path), "built in");
}

void
child_main(void)
{
	struct child child;

	memset(&child, 0, sizeof(child));
	child.shared = find_shared();
	if (child.shared == NULL)
		return;
	find_allocator(&child);
	if (child.allocator.pool == NULL)
		allocator_settings(child.shared->settings,
		    sizeof(child.shared->settings));
	if (child.shared->wrong[0] == '\0' && child.shared->job != JOB_PROBE)
		child_run(&child);
	atomic_store(&child.shared->phase, PHASE_DONE);
	/* skip exit handlers of allocators and sanitizers */
	_exit(0);
}
