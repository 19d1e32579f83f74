/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A library to preload, before an allocator: writes the anonymous memory of the
 * process, in bytes and net of what it has at its start, as a line at the end of
 * the file that MEMORY_FILE names: at its end, at its peak, and when all of its
 * blocks have been freed after that, which a replay does for a process that is
 * not the last one.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ------------------------------------------------------------- live blocks */

#define SLOT_BITS 19
#define SLOTS ((size_t)1 << SLOT_BITS)
#define GONE ((void *)1)

/* Those of the allocator; all are set when .free is. */
static struct {
	void *(*malloc)(size_t);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	void *(*memalign)(size_t, size_t);
	void (*free)(void *);
} real;
static void **live; /* addresses, hashed */
static atomic_flag busy = ATOMIC_FLAG_INIT;

/* The first call comes before there is a second thread. */
static int
real_found(void)
{
	static int looking;

	if (real.free != NULL || looking)
		return real.free != NULL;
	looking = 1;
	live = mmap(NULL, SLOTS * sizeof(*live), PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	*(void **)&real.malloc = dlsym(RTLD_NEXT, "malloc");
	*(void **)&real.calloc = dlsym(RTLD_NEXT, "calloc");
	*(void **)&real.realloc = dlsym(RTLD_NEXT, "realloc");
	*(void **)&real.memalign = dlsym(RTLD_NEXT, "memalign");
	*(void **)&real.free = dlsym(RTLD_NEXT, "free");
	if (live == MAP_FAILED || real.free == NULL)
		abort();
	return 1;
}

/* The slot of a block, or one for it. */
static void **
slot_of(const void *block)
{
	size_t i =
	    (size_t)((uintptr_t)block / 16 * UINT64_C(0x9e3779b97f4a7c15) >>
	        (64 - SLOT_BITS));
	void **gone = NULL;

	for (size_t n = 0; live[i] != NULL && n < SLOTS; n++) {
		if (live[i] == block)
			return &live[i];
		if (live[i] == GONE)
			gone = &live[i];
		i = (i + 1) % SLOTS;
	}
	if (gone == NULL && live[i] != NULL)
		abort();
	return gone != NULL ? gone : &live[i];
}

static void *
add(void *block)
{
	if (block == NULL)
		return NULL;
	while (atomic_flag_test_and_set(&busy))
		;
	*slot_of(block) = block;
	atomic_flag_clear(&busy);
	return block;
}

/* Before another thread may have the address. */
static void
drop(const void *block)
{
	if (block == NULL)
		return;
	while (atomic_flag_test_and_set(&busy))
		;
	void **slot = slot_of(block);
	if (*slot == block)
		*slot = GONE;
	atomic_flag_clear(&busy);
}

/* What dlsym() allocates. */
static void *
early(size_t size)
{
	static _Alignas(16) char bytes[4096];
	static size_t used;

	size = (size + 15) & ~(size_t)15;
	if (size > sizeof(bytes) - used)
		abort();
	used += size;
	return bytes + used - size;
}

void *
malloc(size_t size)
{
	return real_found() ? add(real.malloc(size)) : early(size);
}

void *
calloc(size_t n, size_t size)
{
	return real_found() ? add(real.calloc(n, size)) : early(n * size);
}

void *
realloc(void *old, size_t size)
{
	if (!real_found())
		abort();
	drop(old);
	void *block = real.realloc(old, size);
	return add(block != NULL || size == 0 ? block : old) == block ? block :
	                                                                NULL;
}

void *
memalign(size_t alignment, size_t size)
{
	return real_found() ? add(real.memalign(alignment, size)) : NULL;
}

void *
aligned_alloc(size_t alignment, size_t size)
{
	return memalign(alignment, size);
}

int
posix_memalign(void **out, size_t alignment, size_t size)
{
	*out = memalign(alignment, size);
	return *out != NULL ? 0 : ENOMEM;
}

void
free(void *block)
{
	if (!real_found())
		return;
	drop(block);
	real.free(block);
}

/* ------------------------------------------------------------------ memory */

/* The number in kB of a line of a file. */
static long
find_line(const char *path, const char *name)
{
	char text[8192], *at;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		(void)close(fd);
	text[n > 0 ? n : 0] = '\0';
	at = strstr(text, name);
	return at == NULL ? 0 : strtol(at + strlen(name), NULL, 10);
}

static long at_start;

static long
anonymous(void)
{
	return find_line("/proc/self/smaps_rollup", "\nAnonymous:") +
	    find_line("/proc/self/smaps_rollup", "\nPss_Shmem:");
}

/* The last handler: only the output of streams would follow. */
static void
end(int status, void *unused)
{
	const char *path = getenv("MEMORY_FILE");
	const long now = anonymous();
	const long most = find_line("/proc/self/status", "\nVmHWM:") -
	    find_line("/proc/self/status", "\nRssFile:");
	char line[96];
	int fd, n;

	(void)unused;
	if (path == NULL)
		return;
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	(void)fflush(NULL);
	for (size_t i = 0; i < SLOTS; i++)
		if (live[i] != NULL && live[i] != GONE)
			real.free(live[i]);
	/* nothing else may run: all libraries have lost their blocks */
	n = snprintf(line, sizeof(line), "%ld %ld %ld\n",
	    (now - at_start) * 1024,
	    ((most > now ? most : now) - at_start) * 1024,
	    (anonymous() - at_start) * 1024);
	_exit(write(fd, line, (size_t)n) == n ? status : 1);
}

__attribute__((constructor)) static void
start(void)
{
	if (!real_found() || on_exit(end, NULL) != 0)
		abort();
	at_start = anonymous();
}
