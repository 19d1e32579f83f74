/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening, closing, clocks, and fork. */
#define _GNU_SOURCE
#include "emit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

struct tel__emit_state tel__emit_state = {
	.classes = PTHREAD_MUTEX_INITIALIZER,
	.drain = PTHREAD_MUTEX_INITIALIZER,
	.lock = PTHREAD_MUTEX_INITIALIZER,
};

/* ---------------------------------------------------------------- clocks */

static uint64_t
read_clock(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t
tel__emit_gettime(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t
tel__emit_now_ns(void)
{
	return read_clock(CLOCK_REALTIME);
}

uint64_t
tel__emit_ticks(void)
{
#if defined(__x86_64__) || defined(__i386__)
	if (PAGE->clock == TEL_EMIT_CLOCK_CPU)
		return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t ticks;

	if (PAGE->clock == TEL_EMIT_CLOCK_CPU) {
		__asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(ticks));
		return ticks;
	}
#endif
	return PAGE->clock == TEL_EMIT_CLOCK_NONE ? 0 : tel__emit_gettime();
}

uint64_t
tel_emit_clock(void)
{
	return tel__emit_ticks();
}

/* By default the processor's counter, where it has one of a constant rate. */
static uint32_t
emit_open_choose_clock(unsigned wanted)
{
	int counter = 0;

	if (wanted == TEL_EMIT_CLOCK_MONOTONIC || wanted == TEL_EMIT_CLOCK_NONE)
		return wanted;
#if defined(__x86_64__) || defined(__i386__)
	unsigned a, b, c, d;

	counter = wanted == TEL_EMIT_CLOCK_CPU ||
	    (__get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1) != 0);
#elif defined(__aarch64__)
	counter = 1;
#endif
	return counter ? TEL_EMIT_CLOCK_CPU : TEL_EMIT_CLOCK_MONOTONIC;
}

/* Reads both clocks at the same instant: the closest of 8 attempts. */
static void
pair_clocks(uint64_t *ticks, uint64_t *ns)
{
	uint64_t best = UINT64_MAX, before, after, now;

	for (int i = 0; i < 8; i++) {
		before = tel__emit_ticks();
		now = tel__emit_now_ns();
		after = tel__emit_ticks();
		if (after - before < best) {
			best = after - before;
			*ticks = before + (after - before) / 2;
			*ns = now;
		}
	}
}

/*
 * A reader of the rings computes the clock's rate from the two pairs in the
 * page.  If another thread is storing one, or has just done so, there is
 * nothing to do.
 */
void
tel__emit_pair(uint64_t ticks)
{
	const uint64_t now = tel__emit_ticks();

	if (now - TEL__NOW(PAGE->last_clock) < ticks ||
	    __atomic_exchange_n(&PAGE->pairing, 1, __ATOMIC_ACQUIRE) != 0)
		return;
	SET(PAGE->last_ns, tel__emit_now_ns());
	__atomic_store_n(&PAGE->last_clock, now, __ATOMIC_RELEASE);
	__atomic_store_n(&PAGE->pairing, 0, __ATOMIC_RELEASE);
}

double
tel__emit_rate(void)
{
	static double rate; /* under the drain's lock */
	static uint64_t of, spread;
	uint64_t ticks = 0, ns = 0;

	if (PAGE->clock != TEL_EMIT_CLOCK_CPU)
		return 1e9;
#if defined(__aarch64__)
	__asm__ __volatile__("mrs %0, cntfrq_el0" : "=r"(ticks));
	return (double)ticks;
#endif
	/* measured until the pairs are a second apart, constant from then on */
	if (of == PAGE->start_clock && spread > 1000000000)
		return rate;
	pair_clocks(&ticks, &ns);
	if (ns > PAGE->start_ns && ticks > PAGE->start_clock) {
		rate = (double)(ticks - PAGE->start_clock) * 1e9 /
		    (double)(ns - PAGE->start_ns);
		spread = ns - PAGE->start_ns;
		of = PAGE->start_clock;
	}
	return rate > 0 ? rate : 1e9;
}

void
tel_clock_sync(void)
{
	tel_emit_value value;

	value.u = tel__emit_now_ns() / 1000;
	(void)tel_emit_values(CODE_CLOCK_SYNC, &value, 1);
}

/* ------------------------------------------------------------------ fork */

static sigset_t fork_signals; /* that were blocked; under the lock */

/*
 * Signals are blocked: a handler in the child must not emit before it has its
 * own rings.
 */
static void
before_fork(void)
{
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	pthread_mutex_lock(&tel__emit_state.classes);
	pthread_mutex_lock(&tel__emit_state.drain);
	pthread_mutex_lock(&tel__emit_state.lock);
	fork_signals = old;
}

static void
after_fork(void)
{
	const sigset_t old = fork_signals;

	pthread_mutex_unlock(&tel__emit_state.lock);
	pthread_mutex_unlock(&tel__emit_state.drain);
	pthread_mutex_unlock(&tel__emit_state.classes);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/*
 * The child has one thread, and no drain thread.  It gets rings of its own,
 * with a copy of the names; if that fails, telemetry is closed.
 */
static void
begin_child(void)
{
	const uint32_t record = PAGE->record, output = PAGE->output;
	const uint64_t start_clock = PAGE->start_clock,
	               start_ns = PAGE->start_ns;
	const size_t used = (size_t)PAGE->names_used;
	char *names;

	if (!tel__emit_state.open)
		return;
	/* from here on the page is the child's own */
	tel__emit_detach();
	PAGE->record = 0;
	names = malloc(used + 1);
	if (names == NULL)
		goto off;
	memcpy(names, (const char *)(uintptr_t)PAGE->region, used);
	tel__emit_drain_close();
	if (tel__emit_state.ring_file != NULL &&
	    strstr(tel__emit_state.ring_file, "%p") == NULL) {
		free(tel__emit_state.ring_file);
		tel__emit_state.ring_file = NULL;
	}
	if (tel__emit_map(&tel__emit_state.options) != 0)
		goto off;
	memcpy((char *)(uintptr_t)PAGE->region, names, used);
	free(names);
	PAGE->names_used = used;
	PAGE->start_clock = start_clock;
	PAGE->start_ns = start_ns;
	tel__emit_drain_open();
	tel__emit_fork_sinks();
	if (tel__emit_state.hooks != NULL)
		tel__emit_state.hooks->child();
	PAGE->output = output;
	PAGE->record = record;
	(void)tel__emit_name_file();
	if (tel__emit_has_sinks() && tel__emit_start_thread() != 0)
		PAGE->drained = 0;
	return;
off:
	free(names);
	atomic_store(&tel__emit_state.open, 0);
	memset(&tel__emit_self, 0, sizeof(tel__emit_self));
}

static void
emit_open_in_child(void)
{
	begin_child();
	after_fork();
}

void
tel_emit_after_fork(void)
{
	static const pthread_mutex_t unlocked = PTHREAD_MUTEX_INITIALIZER;

	if (PAGE->pid == (uint32_t)getpid())
		return;
	/* threads of the parent may have held them */
	tel__emit_state.lock = tel__emit_state.drain = tel__emit_state.classes =
	    unlocked;
	begin_child();
}

/* ------------------------------------------------------------------ open */

static int
emit_open_check_options(const tel_emit_options *given, tel_emit_options *o)
{
	memset(o, 0, sizeof(*o));
	if (given != NULL)
		*o = *given;
	if (o->ring_bytes == 0)
		o->ring_bytes = (size_t)1 << 18;
	if (o->rings == 0)
		o->rings = 128;
	if (o->control_env == NULL)
		o->control_env = "TEL_CONTROL";
	if (o->interval_ms == 0)
		o->interval_ms = 20;
	if (o->ring_bytes < 65536 || o->ring_bytes > (size_t)1 << 30 ||
	    (o->ring_bytes & (o->ring_bytes - 1)) != 0)
		return tel__emit_wrong("the bytes of a ring are not a power "
		                       "of 2 from 2^16 to 2^30");
	if (o->rings > RINGS_MAX || o->clock > TEL_EMIT_CLOCK_NONE ||
	    o->interval_ms > 3600000)
		return tel__emit_wrong("more than 1024 rings, an unknown "
		                       "clock, or an interval above an hour");
	return 0;
}

/* Stores the name of the program, and name and version of the schema. */
static void
name_page(const tel_emit_list *list)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	const char *name = "";

	if (n > 0) {
		path[n] = '\0';
		name = strrchr(path, '/');
		name = name != NULL ? name + 1 : path;
	}
	snprintf(PAGE->program, sizeof(PAGE->program), "%.63s", name);
	snprintf(PAGE->schema, sizeof(PAGE->schema), "emit-%.32s",
	    list != NULL && list->name != NULL ? list->name : "program");
	snprintf(PAGE->schema_version, sizeof(PAGE->schema_version), "%u.%u.%u",
	    list != NULL ? list->major & 0xFFFF : 0,
	    list != NULL ? list->median & 0xFF : 0,
	    list != NULL ? list->minor & 0xFF : 0);
}

void
tel_emit_program(const char *program, uint32_t process)
{
	const char *name = strrchr(program, '/');

	pthread_mutex_lock(&tel__emit_state.drain);
	snprintf(PAGE->program, sizeof(PAGE->program), "%.63s",
	    name != NULL ? name + 1 : program);
	PAGE->pid = process;
	pthread_mutex_unlock(&tel__emit_state.drain);
}

void
tel_emit_metadata(const char *key, const char *value)
{
	struct tel__emit_state *s = &tel__emit_state;
	struct tel__emit_meta *entry;

	pthread_mutex_lock(&s->drain);
	if (s->metadata_count < sizeof(s->metadata) / sizeof(*entry)) {
		entry = &s->metadata[s->metadata_count++];
		snprintf(entry->key, sizeof(entry->key), "%s", key);
		snprintf(entry->value, sizeof(entry->value), "%s", value);
	}
	pthread_mutex_unlock(&s->drain);
}

static int
emit_open_begin(const tel_emit_list *list)
{
	const tel_emit_options *o = &tel__emit_state.options;
	uint32_t kinds = 0;

	memset(PAGE->kinds, 0, sizeof(PAGE->kinds));
	PAGE->record = PAGE->output = 0;
	PAGE->clock = emit_open_choose_clock(o->clock);
	name_page(list);
	if (tel__emit_map(o) != 0)
		return -1;
	pair_clocks(&PAGE->start_clock, &PAGE->start_ns);
	if (PAGE->clock == TEL_EMIT_CLOCK_NONE)
		PAGE->start_clock = tel__emit_gettime();
	PAGE->last_clock = PAGE->start_clock;
	PAGE->last_ns = PAGE->start_ns;
	tel__emit_forget_strings();
	tel__emit_drain_open();
	if (tel__emit_add_list(&tel__emit_own, 0xFFFF) != 0 ||
	    (list != NULL && tel__emit_add_list(list, CODE_LISTS) != 0))
		return -1;
	const char *control = getenv(o->control_env);
	if (control != NULL &&
	    tel__emit_parse_control(PAGE, control, &kinds) != 0)
		return -1;
	tel__emit_set_output(PAGE, kinds);
	__atomic_store_n(&PAGE->record,
	    o->flags & TEL_EMIT_LEAN ? kinds | (uint32_t)1 << TEL_KIND_Stream :
	                               ~(uint32_t)0,
	    __ATOMIC_RELEASE);
	return tel__emit_name_file();
}

int
tel_emit_open(const tel_emit_options *options, const tel_emit_list *list)
{
	static int registered; /* under the lock */
	int st = -1, kept;

	pthread_mutex_lock(&tel__emit_state.drain);
	if (tel__emit_state.open) {
		errno = EBUSY;
	} else if (emit_open_check_options(options, &tel__emit_state.options) ==
	    0) {
		free(tel__emit_state.ring_file);
		tel__emit_state.ring_file =
		    options != NULL && options->ring_file != NULL ?
		    strdup(options->ring_file) :
		    NULL;
		st = emit_open_begin(list);
		kept = errno;
		if (st != 0 && PAGE->magic[0] != 0)
			tel__emit_unmap();
		if (st != 0)
			tel__emit_free_types();
		errno = kept;
	}
	if (st == 0) {
		atomic_store(&tel__emit_state.open, 1);
		if (!registered) {
			registered = 1;
			(void)pthread_atfork(before_fork, after_fork,
			    emit_open_in_child);
			(void)atexit(tel_emit_close);
		}
	}
	pthread_mutex_unlock(&tel__emit_state.drain);
	return st;
}

int
tel_emit_finish(void)
{
	const struct tel__emit_hooks *hooks = tel__emit_state.hooks;
	int error = EBADF;

	if (!tel__emit_state.open)
		return tel__emit_result(error);
	if (hooks != NULL)
		hooks->close();
	/* the thread takes this lock, so it is joined first */
	tel__emit_stop_thread();
	pthread_mutex_lock(&tel__emit_state.drain);
	if (tel__emit_state.open) {
		tel__emit_drain(1);
		SET(PAGE->record, 0);
		tel__emit_drain(1);
		tel__emit_close_sinks();
		error = tel__emit_take_error();
		atomic_store(&tel__emit_state.open, 0);
		tel__emit_unmap();
		tel__emit_state.metadata_count = 0;
		pthread_mutex_lock(&tel__emit_state.lock);
		tel__emit_free_types();
		pthread_mutex_unlock(&tel__emit_state.lock);
	}
	pthread_mutex_unlock(&tel__emit_state.drain);
	return tel__emit_result(error);
}

void
tel_emit_close(void)
{
	const int kept = errno;

	(void)tel_emit_finish();
	errno = kept;
}
