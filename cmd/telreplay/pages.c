/* SPDX-License-Identifier: BSD-2-Clause */
/* Pages from the kernel, for all that must not go through malloc. */
/* for MAP_ANONYMOUS and MAP_NORESERVE, which POSIX.1-2008 lacks */
#define _DEFAULT_SOURCE
#include "pools.h"

#include <stdint.h>
#include <sys/mman.h>

static void *
map(size_t size, int flags)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

void *
pages_map(size_t size)
{
	return map(size, MAP_PRIVATE);
}

void *
pages_map_shared(size_t size)
{
	return map(size, MAP_SHARED);
}

void *
pages_map_aligned(size_t size, size_t align)
{
	unsigned char *p, *at;
	size_t whole, before;

	if (__builtin_add_overflow(size, align, &whole))
		return NULL;
	p = pages_map(whole);
	if (p == NULL)
		return NULL;
	before = (size_t)(-(uintptr_t)p & (align - 1));
	at = p + before;
	pages_unmap(p, before);
	pages_unmap(at + size, align - before);
	return at;
}

void
pages_unmap(void *pages, size_t size)
{
	if (pages != NULL && size > 0)
		(void)munmap(pages, size);
}
