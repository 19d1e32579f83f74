/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A library to preload whose Nth allocation fails.  FAIL_AT says which one; 0
 * or no number only counts.  FAIL_COUNT names a file of eight bytes that holds
 * how many there were so far, however the process ends.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static void *(*real_malloc)(size_t);
static void *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t);
static void (*real_free)(void *);
static atomic_ulong own, *count = &own;
static unsigned long fail_at;
static int ready;

/* What dlsym() allocates before the real functions are known. */
static _Alignas(16) char early[8192];
static size_t early_used;

static void *
take_early(size_t size)
{
	void *p = early + early_used;

	early_used += (size + 15) & ~(size_t)15;
	if (early_used > sizeof(early))
		abort();
	return p;
}

/* Libraries may allocate before any constructor of this one would run. */
static void
begin(void)
{
	static int begun;
	const char *at = getenv("FAIL_AT"), *name = getenv("FAIL_COUNT");
	void *p = MAP_FAILED;
	int fd;

	if (begun)
		return;
	begun = 1;
	*(void **)&real_malloc = dlsym(RTLD_NEXT, "malloc");
	*(void **)&real_calloc = dlsym(RTLD_NEXT, "calloc");
	*(void **)&real_free = dlsym(RTLD_NEXT, "free");
	*(void **)&real_realloc = dlsym(RTLD_NEXT, "realloc");
	fd = name != NULL ? open(name, O_RDWR | O_CLOEXEC) : -1;
	if (fd >= 0)
		p = mmap(NULL, sizeof(*count), PROT_READ | PROT_WRITE,
		    MAP_SHARED, fd, 0);
	if (p != MAP_FAILED)
		count = p;
	if (fd >= 0)
		close(fd);
	fail_at = at != NULL ? strtoul(at, NULL, 10) : 0;
}

/* main() runs from here on: what libraries allocate for themselves is over. */
__attribute__((constructor)) static void
start(void)
{
	begin();
	ready = 1;
}

/*
 * Whether an allocation fails.  Without memory for a filter or a text, libarchive
 * crashes or ends the process: its internal functions, which have no symbols,
 * get theirs.
 */
static int
fails(const void *caller)
{
	Dl_info at;

	if (!ready || ++*count != fail_at ||
	    (dladdr(caller, &at) != 0 && at.dli_sname == NULL &&
	        strstr(at.dli_fname, "libarchive") != NULL))
		return 0;
	errno = ENOMEM;
	return 1;
}

void *
malloc(size_t size)
{
	begin();
	if (real_malloc == NULL)
		return take_early(size);
	return fails(__builtin_return_address(0)) ? NULL : real_malloc(size);
}

void *
calloc(size_t n, size_t size)
{
	begin();
	if (real_calloc == NULL)
		return take_early(n * size);
	return fails(__builtin_return_address(0)) ? NULL : real_calloc(n, size);
}

void *
realloc(void *p, size_t size)
{
	begin();
	return fails(__builtin_return_address(0)) ? NULL :
	                                            real_realloc(p, size);
}

void
free(void *p)
{
	if ((char *)p >= early && (char *)p < early + sizeof(early))
		return;
	real_free(p);
}
