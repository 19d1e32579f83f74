/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions that the library has instead of those of the allocator.  Each
 * calls the next one of its name, in libc or in another preloaded allocator,
 * and records the call: a free before it, an allocation after it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "telrec/preload/bind.h"
#include "telrec/preload/preload.h"
#include "telrec/preload/ring.h"
#include "telrec/preload/sample.h"
#include "telrec/preload/sandbox.h"
#include "telrec/preload/stack.h"

#define LIKELY(x) __builtin_expect(!!(x), 1)

/* ------------------------------------------------------- the allocator */

/*
 * Memory for what dlsym(3) allocates while the allocator is looked up.  It is
 * never freed.
 */
static union {
	char bytes[16384];
	long double aligned;
} early;
static size_t early_used;

static int
is_early(const void *p)
{
	return (uintptr_t)p - (uintptr_t)early.bytes < sizeof(early.bytes);
}

static void *
early_alloc(size_t n)
{
	const size_t bytes = (n + 31) & ~(size_t)15;
	size_t at = __atomic_fetch_add(&early_used, bytes, __ATOMIC_RELAXED);

	if (n > sizeof(early.bytes) || at + bytes > sizeof(early.bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	/* the size, for realloc */
	memcpy(early.bytes + at, &n, sizeof(n));
	return early.bytes + at + 16;
}

static void *first_malloc(size_t n);
static void *first_calloc(size_t count, size_t n);
static void *first_realloc(void *old, size_t n);
static void first_free(void *p);

/* The functions of the allocator. */
static struct allocator {
	void *(*malloc)(size_t);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	void (*free)(void *);
	void *(*memalign)(size_t, size_t);
	int (*posix_memalign)(void **, size_t, size_t);
	void *(*aligned_alloc)(size_t, size_t);
	void *(*valloc)(size_t);
	void *(*pvalloc)(size_t);
} real = { first_malloc, first_calloc, first_realloc, first_free, NULL, NULL,
	NULL, NULL, NULL };

static long (*real_syscall)(long, ...);

/* The same, where those of real only notice that they are called. */
static struct allocator noticed;
static int is_noticing;
/* Some of them call others by their names, as a program would. */
static int is_nesting;
__thread struct hooks_block hooks_noticed;

/* volatile: dlsym() is declared as if it never called this file */
static __thread volatile int finding __attribute__((tls_model("initial-exec")));

/* Set when the library was loaded behind the functions that it calls. */
static int is_late;

static void *
hooks_find(const char *name)
{
	return is_late ? bind_definition(name) : dlsym(RTLD_NEXT, name);
}

static void
hooks_nest(void)
{
	if (is_nesting)
		ring_nest();
}

static void *
preload_hooks_notice(void *p, size_t n)
{
	if (is_nesting)
		ring_nest_end(p);
	hooks_noticed.start = (uintptr_t)p;
	hooks_noticed.bytes = n;
	return p;
}

static void *
notice_malloc(size_t n)
{
	hooks_nest();
	return preload_hooks_notice(noticed.malloc(n), n);
}

static void *
notice_calloc(size_t count, size_t n)
{
	hooks_nest();
	return preload_hooks_notice(noticed.calloc(count, n), count * n);
}

static void *
notice_memalign(size_t alignment, size_t n)
{
	hooks_nest();
	return preload_hooks_notice(noticed.memalign(alignment, n), n);
}

static int
notice_posix_memalign(void **p, size_t alignment, size_t n)
{
	hooks_nest();
	int failed = noticed.posix_memalign(p, alignment, n);
	(void)preload_hooks_notice(failed ? NULL : *p, n);
	return failed;
}

static void *
notice_aligned_alloc(size_t alignment, size_t n)
{
	hooks_nest();
	return preload_hooks_notice(noticed.aligned_alloc(alignment, n), n);
}

static void *
notice_valloc(size_t n)
{
	hooks_nest();
	return preload_hooks_notice(noticed.valloc(n), n);
}

static void *
notice_pvalloc(size_t n)
{
	hooks_nest();
	return preload_hooks_notice(noticed.pvalloc(n), n);
}

/* Only for an allocator that nests: it may free the old block by free(). */
static void *
nest_realloc(void *old, size_t n)
{
	const struct ring_skip skip = ring_skip_free(old);

	ring_nest();
	void *p = noticed.realloc(old, n);
	ring_nest_end(p);
	ring_skip_end(&skip);
	return p;
}

/*
 * Whether an allocator other than the C library's nests, by some calls.  A block
 * of posix_memalign() is not freed, as that may be the C library's.
 */
static int
hooks_detect_nesting(void)
{
	static int is_known;
	Dl_info libc, own;
	void *p;

	if (is_known || is_late || *(void **)&real_syscall == NULL)
		return 0;
	is_known = 1;
	if (dladdr(*(void **)&real_syscall, &libc) == 0 ||
	    dladdr(*(void **)&noticed.malloc, &own) == 0 ||
	    libc.dli_fbase == own.dli_fbase)
		return 0;
	is_nesting = 1;
	noticed.free(nest_realloc(notice_malloc(1), 64));
	noticed.free(notice_calloc(1, 1));
	if (noticed.posix_memalign != NULL)
		(void)notice_posix_memalign(&p, 2 * sizeof(p), 1);
	is_nesting = ring_self.repeated;
	return is_nesting;
}

/* Finds all of them; those that need others to be found come last. */
static void
find_all(void)
{
	struct allocator a;

	finding++;
	*(void **)&a.malloc = hooks_find("malloc");
	*(void **)&a.calloc = hooks_find("calloc");
	*(void **)&a.realloc = hooks_find("realloc");
	*(void **)&a.free = hooks_find("free");
	*(void **)&a.memalign = hooks_find("memalign");
	*(void **)&a.posix_memalign = hooks_find("posix_memalign");
	*(void **)&a.aligned_alloc = hooks_find("aligned_alloc");
	*(void **)&a.valloc = hooks_find("valloc");
	*(void **)&a.pvalloc = hooks_find("pvalloc");
	*(void **)&real_syscall = hooks_find("syscall");
	finding--;
	noticed = a;
	if (is_nesting)
		a.realloc = nest_realloc;
	if (is_noticing || is_nesting) {
		a.malloc = notice_malloc;
		a.calloc = notice_calloc;
		a.memalign = notice_memalign;
		a.posix_memalign = notice_posix_memalign;
		a.aligned_alloc = notice_aligned_alloc;
		a.valloc = notice_valloc;
		a.pvalloc = notice_pvalloc;
	}
	real.memalign = a.memalign;
	real.posix_memalign = a.posix_memalign;
	real.aligned_alloc = a.aligned_alloc;
	real.valloc = a.valloc;
	real.pvalloc = a.pvalloc;
	real.calloc = a.calloc;
	real.realloc = a.realloc;
	real.free = a.free;
	real.malloc = a.malloc;
	if (hooks_detect_nesting())
		find_all();
}

/* The block that hooks_are_bypassed() takes, lest it is called a leak. */
static void *volatile bypassing;

int
hooks_are_bypassed(void)
{
	const int repeated = ring_self.repeated;
	Dl_info program, own;
	void *(*first)(size_t);

	*(void **)&first = dlsym(RTLD_DEFAULT, "malloc");
	if (is_late || dladdr(*(void **)&first, &program) == 0 ||
	    dladdr(&early, &own) == 0 || program.dli_fbase == own.dli_fbase)
		return 0;
	/* it may be that of a program, and call the next one: which is here */
	ring_self.inner = NULL;
	ring_nest();
	bypassing = first(1);
	int bypassed = bypassing != NULL && ring_self.inner == NULL;
	ring_nest_end(ring_self.inner);
	ring_self.repeated = repeated;
	return bypassed;
}

void
hooks_notice(void)
{
	is_noticing = 1;
	find_all();
}

const void *
hooks_allocator(void)
{
	if (real.malloc == first_malloc)
		find_all();
	return *(void **)&noticed.malloc;
}

static void *
first_malloc(size_t n)
{
	if (finding)
		return early_alloc(n);
	find_all();
	return real.malloc(n);
}

static void *
first_calloc(size_t count, size_t n)
{
	size_t bytes;

	if (finding) {
		if (__builtin_mul_overflow(count, n, &bytes)) {
			errno = ENOMEM;
			return NULL;
		}
		return early_alloc(bytes);
	}
	find_all();
	return real.calloc(count, n);
}

static void *
first_realloc(void *old, size_t n)
{
	if (finding)
		return old == NULL ? early_alloc(n) : NULL;
	find_all();
	return real.realloc(old, n);
}

static void
first_free(void *p)
{
	if (finding)
		return;
	find_all();
	real.free(p);
}

int
hooks_find_next(void **next, const char *name)
{
	if (*next == NULL)
		*next = hooks_find(name);
	if (*next == NULL)
		errno = ENOSYS;
	return *next != NULL;
}

/* Makes sure that a function was looked up that is rarely called. */
static void
have(const void *function)
{
	if (function == NULL)
		find_all();
}

/* ------------------------------------------------------------ recording */

/* Whether a record of a call is as short as it can be. */
static inline int
hooks_is_plain(void)
{
	return (ring_shared.options & (ARENA_STACKS | ARENA_SAMPLES)) == 0;
}

/* Appends what the options ask for to a record of n words. */
static unsigned
add_more(uint64_t *words, unsigned n)
{
	if (ring_shared.options & ARENA_STACKS)
		words[n++] = telrec_stack();
	return n;
}

/* Remembers a block that is a sample.  0: the table is full. */
static int
hooks_add_sample(const void *p)
{
	if (p == NULL || sample_add(p))
		return 1;
	__atomic_fetch_add(&ring_shared.arena->lost, 1, __ATOMIC_RELAXED);
	return 0;
}

/*
 * Records an allocation with options: words has room for what they add, and
 * bytes is how many there are in the block.
 */
static void
note_more(uint64_t *words, unsigned n, const void *p, size_t bytes)
{
	if ((ring_shared.options & ARENA_SAMPLES) == 0)
		ring_put(words, add_more(words, n), p);
	else if (ring_self.nested != 0)
		ring_self.inner = p;
	else if (sample_take(bytes) && hooks_add_sample(p))
		ring_put_sample(words, add_more(words, n), p);
}

static void
note_size(enum arena_op op, const void *p, size_t size)
{
	uint64_t words[ARENA_RECORD_MAX];

	if (LIKELY(hooks_is_plain()) && size < ARENA_SIZE_LONG) {
		words[0] = ring_word(op, p, (unsigned)size);
		ring_put(words, 1, p);
		return;
	}
	if (op == ARENA_MALLOC)
		op = ARENA_MALLOC_LONG;
	words[0] = ring_word(op, p, ARENA_SIZE_LONG);
	words[1] = size;
	if (LIKELY(hooks_is_plain()))
		ring_put(words, 2, p);
	else
		note_more(words, 2, p, size);
}

static void
note_two(enum arena_op op, const void *p, size_t a, size_t b)
{
	uint64_t words[ARENA_RECORD_MAX];
	unsigned n = 2;

	words[0] = ring_word(op, p, 1);
	words[1] = (uint64_t)b << 32 | (uint32_t)a;
	if ((uint64_t)a >> 32 != 0 || (uint64_t)b >> 32 != 0) {
		words[0] = ring_word(op, p, 0);
		words[1] = a;
		words[2] = b;
		n = 3;
	}
	if (LIKELY(hooks_is_plain()))
		ring_put(words, n, p);
	else
		note_more(words, n, p, op == ARENA_CALLOC ? a * b : b);
}

/*
 * Most calls are written by ring_try().  The others go on in functions that
 * return as the hook does: so it saves no registers for them.
 */
static __attribute__((noinline)) void *
malloc_more(enum ring_tried tried, uint64_t word, void *p)
{
	ring_try_more(tried, word, p);
	return p;
}

static __attribute__((noinline)) void *
malloc_other(size_t n, void *p)
{
	note_size(ARENA_MALLOC, p, n);
	return p;
}

void
hooks_note_new(const void *p, size_t alignment, size_t n)
{
	if (alignment == 0)
		note_size(ARENA_MALLOC, p, n);
	else
		note_two(ARENA_ALIGNED_ALLOC, p, alignment, n);
}

void
hooks_note_delete(const void *p)
{
	const uint64_t word = ring_word(ARENA_FREE, p, 0);

	ring_put(&word, 1, p);
}

PUBLIC void *
malloc(size_t n)
{
	void *p = real.malloc(n);

	if (!LIKELY(n < ARENA_SIZE_LONG && hooks_is_plain()))
		return malloc_other(n, p);
	uint64_t word = ring_word(ARENA_MALLOC, p, (unsigned)n);
	enum ring_tried tried = ring_try(word, p);
	return LIKELY(tried == RING_WRITTEN) ? p : malloc_more(tried, word, p);
}

static __attribute__((noinline)) void
free_more(enum ring_tried tried, uint64_t word, void *p)
{
	ring_try_more(tried, word, p);
	real.free(p);
}

PUBLIC void
free(void *p)
{
	const uint64_t word = ring_word(ARENA_FREE, p, 0);

	if (!LIKELY(!is_early(p)))
		return;
	enum ring_tried tried = ring_try(word, p);
	if (LIKELY(tried == RING_WRITTEN))
		real.free(p);
	else
		free_more(tried, word, p);
}

static __attribute__((noinline)) void *
calloc_other(size_t count, size_t n, void *p)
{
	note_two(ARENA_CALLOC, p, count, n);
	return p;
}

PUBLIC void *
calloc(size_t count, size_t n)
{
	void *p = real.calloc(count, n);

	if (!(count == 1 && LIKELY(n < ARENA_SIZE_LONG && hooks_is_plain())))
		return calloc_other(count, n, p);
	uint64_t word = ring_word(ARENA_CALLOC_ONE, p, (unsigned)n);
	enum ring_tried tried = ring_try(word, p);
	return LIKELY(tried == RING_WRITTEN) ? p : malloc_more(tried, word, p);
}

/* A block of ours moves to the allocator. */
static void *
leave_early(const void *old, size_t n)
{
	void *p = malloc(n);
	size_t size;

	memcpy(&size, (const char *)old - 16, sizeof(size));
	if (p != NULL)
		memcpy(p, old, size < n ? size : n);
	return p;
}

/*
 * A realloc while only samples are recorded: words is its record, of n words,
 * whose second one is old.  The new block is a sample or not, whatever the old
 * one was.
 */
static void *
realloc_sample(uint64_t *words, unsigned n, void *old, size_t bytes)
{
	const int taken = (bytes > 0 || old == NULL) && sample_take(bytes),
	          was = sample_remove(old);
	uint64_t word = ring_word(ARENA_FREE, old, 0);
	int begun = 0;

	if (taken)
		n = add_more(words, n);
	if (was && !taken)
		/* if the call fails, the block is forgotten */
		ring_put_sample(&word, 1, old);
	else if (was)
		begun = ring_begin_realloc(old);
	void *p = real.realloc(old, bytes);
	if (!taken)
		return p;
	if (!hooks_add_sample(p != NULL || !was ? p : old)) {
		if (was)
			ring_end_realloc(begun, &word, 1, old, old);
		return p;
	}
	words[0] |= (uint64_t)(uintptr_t)p << 16;
	if (was) {
		ring_end_realloc(begun, words, n, p, old);
	} else {
		words[1] = 0;
		ring_put_sample(words, n, p);
	}
	return p;
}

/* Reallocates, with a record of n words and what the options ask for. */
static inline void *
realloc_recorded(uint64_t *words, unsigned n, void *old, size_t bytes)
{
	if (!LIKELY(hooks_is_plain())) {
		if (ring_shared.options & ARENA_SAMPLES)
			return realloc_sample(words, n, old, bytes);
		n = add_more(words, n);
	}
	int begun = ring_begin_realloc(old);
	void *p = real.realloc(old, bytes);
	words[0] |= (uint64_t)(uintptr_t)p << 16;
	ring_end_realloc(begun, words, n, p, old);
	return p;
}

PUBLIC void *
realloc(void *old, size_t n)
{
	uint64_t words[ARENA_RECORD_MAX];
	unsigned count = 3;

	if (!LIKELY(!is_early(old)))
		return leave_early(old, n);
	words[0] = ring_word(ARENA_REALLOC, NULL, ARENA_SIZE_LONG);
	words[1] = (uintptr_t)old;
	words[2] = n;
	if (LIKELY(hooks_is_plain() && n < ARENA_SIZE_LONG)) {
		words[0] = ring_word(ARENA_REALLOC, NULL, (unsigned)n);
		count = 2;
	}
	return realloc_recorded(words, count, old, n);
}

PUBLIC void *
reallocarray(void *old, size_t count, size_t n)
{
	uint64_t words[ARENA_RECORD_MAX];
	unsigned length = 4;
	size_t bytes;

	words[0] = ring_word(ARENA_REALLOCARRAY, NULL, 0);
	words[1] = (uintptr_t)old;
	words[2] = count;
	words[3] = n;
	/* that of glibc calls realloc, which would be recorded, too */
	if (__builtin_mul_overflow(count, n, &bytes) || is_early(old)) {
		errno = ENOMEM;
		note_more(words, length, NULL, 0);
		return NULL;
	}
	return realloc_recorded(words, length, old, bytes);
}

PUBLIC void *
memalign(size_t alignment, size_t n)
{
	have(*(void **)&real.memalign);
	void *p = real.memalign(alignment, n);
	note_two(ARENA_MEMALIGN, p, alignment, n);
	return p;
}

PUBLIC void *
aligned_alloc(size_t alignment, size_t n)
{
	have(*(void **)&real.aligned_alloc);
	void *p = real.aligned_alloc(alignment, n);
	note_two(ARENA_ALIGNED_ALLOC, p, alignment, n);
	return p;
}

PUBLIC int
posix_memalign(void **p, size_t alignment, size_t n)
{
	have(*(void **)&real.posix_memalign);
	int failed = real.posix_memalign(p, alignment, n);
	note_two(ARENA_POSIX_MEMALIGN, failed ? NULL : *p, alignment, n);
	return failed;
}

PUBLIC void *
valloc(size_t n)
{
	have(*(void **)&real.valloc);
	void *p = real.valloc(n);
	note_size(ARENA_VALLOC, p, n);
	return p;
}

PUBLIC void *
pvalloc(size_t n)
{
	have(*(void **)&real.pvalloc);
	void *p = real.pvalloc(n);
	note_size(ARENA_PVALLOC, p, n);
	return p;
}

/* --------------------------------------------------------- other functions */

PUBLIC int
pthread_setname_np(pthread_t thread, const char *name)
{
	static int (*next)(pthread_t, const char *);

	if (!hooks_find_next((void **)&next, "pthread_setname_np"))
		return ENOSYS;
	int failed = next(thread, name);
	if (failed == 0 && pthread_equal(thread, pthread_self()))
		ring_put_name(name);
	return failed;
}

/*
 * Before this thread has a filter of system calls.  Returns what it may do now.
 * A program that is executed then is not recorded if that takes calls which
 * would end it: it does not find the arena.
 */
static unsigned
before_filter(const void *filter)
{
	ring_prepare();
	unsigned before = sandbox_learn(filter);
	if (sandbox & SANDBOX_NO_START)
		unsetenv(ARENA_ENV);
	return before;
}

/* Four arguments, whatever the option: as libc passes them on. */
PUBLIC int
prctl(int option, ...)
{
	static int (*next)(int, ...);
	unsigned before = 0;
	unsigned long a[4];
	va_list list;

	if (!hooks_find_next((void **)&next, "prctl"))
		return -1;
	va_start(list, option);
	for (int i = 0; i < 4; i++)
		a[i] = va_arg(list, unsigned long);
	va_end(list);
	if (option != PR_SET_SECCOMP) {
		int result = next(option, a[0], a[1], a[2], a[3]);
		if (option == PR_SET_NAME && result == 0)
			ring_put_name((const char *)(uintptr_t)a[0]);
		return result;
	}
	if (a[0] == SECCOMP_MODE_STRICT) {
		ring_prepare();
		/* from then on even the clock is forbidden */
		ring_forbid_calls(1);
	} else {
		before = before_filter((const void *)(uintptr_t)a[1]);
	}
	int failed = next(option, a[0], a[1], a[2], a[3]);
	if (failed && a[0] == SECCOMP_MODE_STRICT)
		ring_forbid_calls(0);
	else if (failed)
		sandbox = before;
	return failed;
}

/* Six arguments, whatever the call: as libc passes them on. */
PUBLIC long
syscall(long number, ...)
{
	unsigned before = 0;
	int i, is_filter;
	va_list list;
	long a[6], result;

	if (real_syscall == NULL)
		find_all();
	va_start(list, number);
	for (i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	is_filter = number == SYS_seccomp && a[0] == SECCOMP_SET_MODE_FILTER;
	if (is_filter)
		before = before_filter((const void *)a[2]);
	result = real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (is_filter && result != 0)
		sandbox = before;
	return result;
}

/* ----------------------------------------------------------- attaching */

void
hooks_late(void)
{
	is_late = 1;
	find_all();
}
