/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * This process in the arena: how recording starts, which ring a thread has, and
 * what becomes of both in a child.
 */
#define _GNU_SOURCE
#include "telrec/preload/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "telrec/preload/clock.h"
#include "telrec/preload/preload.h"
#include "telrec/preload/sample.h"
#include "telrec/preload/sandbox.h"
#include "telrec/preload/stack.h"

struct ring_shared ring_shared;
struct process *process;
static struct process unwiped; /* where the kernel cannot wipe memory */
static pthread_key_t key;
static int has_key;
static int has_begun; /* with or without an arena */
static int has_image; /* this program, also before it was forked */

static uint32_t
thread_id(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

/* Whether a process that runs has an image, for all that is known. */
static int
process_has_image(const struct arena_image *image)
{
	const uint32_t pid = ARENA_NOW(image->pid) & ~ARENA_IMAGE_EXECUTED;

	return pid != 0 && !ring_calls_forbidden() &&
	    (kill((pid_t)pid, 0) == 0 || errno != ESRCH);
}

/* Takes a number whose image is new, or was that of a process that has ended. */
static uint32_t
process_take_image(struct arena *a)
{
	uint32_t number, left = ARENA_IMAGES;

	do
		number =
		    __atomic_fetch_add(&a->images_used, 1, __ATOMIC_RELAXED);
	while (number >= ARENA_IMAGES &&
	    process_has_image(&a->images[number % ARENA_IMAGES]) && --left > 0);
	__atomic_fetch_add(&a->images_skipped, ARENA_IMAGES - left,
	    __ATOMIC_RELAXED);
	return number;
}

/* The number of this process among those of the arena. */
static uint32_t
image_of(struct arena *a)
{
	const char *name = program_invocation_short_name;
	uint32_t number, i;

	if (process->image != 0 && process->pid == (uint32_t)getpid())
		return process->image - 1;
	number = process_take_image(a);
	struct arena_image *image = &a->images[number % ARENA_IMAGES];
	image->parent = (uint32_t)getppid();
	memset(image->name, 0, sizeof(image->name));
	if (name != NULL)
		strncpy(image->name, name, ARENA_NAME_MAX);
	process->pid = (uint32_t)getpid();
	/* telrec is there, as a process starts */
	process->hidden = !ring_calls_forbidden() &&
	    kill((pid_t)a->drainer, 0) != 0 && errno == ESRCH;
	/*
	 * of a program that this one executed instead of itself; another
	 * namespace may have the number, too
	 */
	for (i = 0; i < ARENA_NOW(a->rings_used) && i < ARENA_RINGS; i++)
		if (ARENA_NOW(a->rings[i].pid) == process->pid &&
		    !process->hidden && !ARENA_NOW(a->rings[i].hidden) &&
		    ARENA_NOW(a->rings[i].state) == ARENA_RING_USED)
			__atomic_store_n(&a->rings[i].state, ARENA_RING_ENDED,
			    __ATOMIC_RELEASE);
	__atomic_store_n(&image->pid,
	    process->pid | (has_image ? 0 : ARENA_IMAGE_EXECUTED),
	    __ATOMIC_SEQ_CST);
	if (!has_image)
		execute_started(a, process->pid);
	has_image = 1;
	process->image = number + 1;
	return number;
}

uint32_t
process_image(void)
{
	return image_of(ring_shared.arena);
}

/* Takes a free ring.  NULL: there is none. */
static struct arena_ring *
process_claim(struct arena *a)
{
	uint32_t i, used = ARENA_NOW(a->rings_used), state;

	for (i = 0; i < ARENA_RINGS; i++) {
		if (ARENA_NOW(a->rings[i].state) != ARENA_RING_FREE)
			continue;
		state = ARENA_RING_FREE;
		/* telrec looks at the rings up to this one */
		while (used < i + 1 &&
		    !__atomic_compare_exchange_n(&a->rings_used, &used, i + 1,
		        0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
			;
		if (__atomic_compare_exchange_n(&a->rings[i].state, &state,
		        ARENA_RING_CLAIMED, 0, __ATOMIC_SEQ_CST,
		        __ATOMIC_RELAXED))
			return &a->rings[i];
	}
	return NULL;
}

int
process_take_ring(struct ring_self *s)
{
	struct arena *a = ring_shared.arena;
	struct arena_ring *ring;

	/* it asks the system for its number, and others */
	ring = sandbox & SANDBOX_NO_START ? NULL : process_claim(a);
	if (ring == NULL)
		return 0;
	uint32_t image = image_of(a);
	ring->open = 1;
	ring->pid = process->pid;
	ring->tid = thread_id();
	ring->hidden = process->hidden;
	ring->image = image;
	ring->claim++;
	memset(ring->name, 0, sizeof(ring->name));
	/* not prctl(), whose hook may free what dlsym() had, and come here */
	(void)syscall(SYS_prctl, PR_GET_NAME, ring->name, 0, 0, 0);
	ARENA_SET(ring->ticks, ring_clock());
	s->id = (uint16_t)(ring - a->rings + 1);
	s->words = arena_words(a, (uint32_t)(ring - a->rings));
	s->queued = 0;
	s->ring = ring;
	__atomic_store_n(&ring->state, ARENA_RING_USED, __ATOMIC_SEQ_CST);
	if (has_key)
		(void)pthread_setspecific(key, s);
	return 1;
}

/* What else the thread does until its end goes into another ring. */
static void
process_leave_ring(struct ring_self *s)
{
	struct arena_ring *ring = s->ring;

	s->left = 0;
	s->ring = NULL;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (ring != NULL && process->alive)
		__atomic_store_n(&ring->state, ARENA_RING_ENDED,
		    __ATOMIC_RELEASE);
}

/* A thread ends: pthread_key_create(3) has it called. */
static void
thread_ends(void *arg)
{
	struct ring_self *s = arg;

	/* what destructors of other keys free comes before the end */
	if (++s->ends < PTHREAD_DESTRUCTOR_ITERATIONS &&
	    pthread_setspecific(key, s) == 0)
		return;
	if (s->ring != NULL)
		ring_put_thread_end();
	process_leave_ring(s);
}

void
process_forget(struct ring_self *s)
{
	process->alive = 1;
	process->image = 0;
	process->hidden = 0;
	s->ring = NULL;
	s->left = 0;
	s->queued = 0;
	s->random = 0;
	s->ringless = 0;
}

/* -------------------------------------------------------------- the start */

static void
in_child(void)
{
	process_forget(&ring_self);
	telrec_stack_in_child();
}

/* Maps the arena.  NULL: there is none. */
static struct arena *
map_arena(const char *path)
{
	const size_t bytes = (size_t)arena_bytes();
	int fd = execute_open_arena(path);
	struct arena *a;

	if (fd < 0)
		return NULL;
	off_t end = lseek(fd, 0, SEEK_END);
	a = end == (off_t)bytes ? mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	                              MAP_SHARED | MAP_NORESERVE, fd, 0) :
	                          MAP_FAILED;
	close(fd);
	if (a != MAP_FAILED && a->magic != ARENA_MAGIC) {
		munmap(a, bytes);
		a = MAP_FAILED;
	}
	return a == MAP_FAILED ? NULL : a;
}

/* Memory that is 0 in a forked child, if the kernel can. */
static void *
map_wiped(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
#ifdef MADV_WIPEONFORK
	(void)madvise(p, bytes, MADV_WIPEONFORK);
#endif
	return p;
}

/* Uses the arena at path, if it can be mapped. */
static void
open_arena(const char *path)
{
	const int kept = errno;

	has_begun = 1;
	ring_shared.owners = map_wiped(RING_OWNERS * sizeof(uint16_t));
	process = map_wiped(sizeof(*process));
	if (process == NULL)
		process = &unwiped;
	struct arena *a = ring_shared.owners != NULL ? map_arena(path) : NULL;
	if (a != NULL && a->options & ARENA_SAMPLES && !sample_begin()) {
		__atomic_fetch_add(&a->lost, 1, __ATOMIC_RELAXED);
		a = NULL;
	}
	if (a != NULL) {
		process->alive = 1;
		ring_shared.options = a->options;
		__atomic_store_n(&ring_shared.arena, a, __ATOMIC_RELEASE);
		operators_begin();
	}
	errno = kept;
}

/*
 * Called with the first allocation, which may come before any constructor, and
 * even before the environment is there.
 */
int
process_begin(void)
{
	if (has_begun)
		return 0;
	const char *path = getenv(ARENA_ENV);
	if (path != NULL)
		open_arena(path);
	return 1;
}

/* What a process does once. */
static void
process_prepare(void)
{
	execute_find();
	has_key = pthread_key_create(&key, thread_ends) == 0;
	(void)pthread_atfork(telrec_stack_before_fork, telrec_stack_after_fork,
	    in_child);
	if (has_key && ring_self.ring != NULL)
		(void)pthread_setspecific(key, &ring_self);
	(void)image_of(ring_shared.arena);
	if (hooks_are_bypassed())
		execute_note_allocator(ring_shared.arena, process->pid);
	if (ring_shared.options & ARENA_STACKS)
		telrec_stack_begin(
		    (enum telrec_unwind)ring_shared.arena->unwind);
}

__attribute__((constructor)) static void
construct(void)
{
	(void)process_begin();
	has_begun = 1;
	if (ring_shared.arena != NULL)
		process_prepare();
}

/* telrec sees when other processes end, and takes their rings back. */
__attribute__((destructor)) static void
destruct(void)
{
	if (ring_shared.arena != NULL && process->alive && process->hidden)
		process_leave_ring(&ring_self);
}

int
process_is_recorded(void)
{
	return ring_shared.arena != NULL;
}

int
process_attach(const char *path)
{
	open_arena(path);
	if (ring_shared.arena == NULL)
		return 0;
	process_prepare();
	return 1;
}
