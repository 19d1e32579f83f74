/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions that map memory into the program, each of which is recorded. */
#define _GNU_SOURCE
/* so that mmap and mmap64 are two functions */
#undef _FILE_OFFSET_BITS
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "telrec/preload/preload.h"
#include "telrec/preload/ring.h"

/* Records a change of the mappings, if the user asked for them. */
static void
note_map(enum arena_more more, const uint64_t *values, unsigned n)
{
	uint64_t words[ARENA_RECORD_MAX];

	if ((ring_shared.options & ARENA_MAPS) == 0)
		return;
	words[0] = ring_word(ARENA_MORE, NULL, more);
	memcpy(words + 1, values, n * sizeof(words[0]));
	ring_put(words, n + 1, (const void *)(uintptr_t)values[0]);
}

static void *
note_mmap(void *p, size_t n)
{
	const uint64_t values[] = { (uintptr_t)p, n };

	if (p != MAP_FAILED)
		note_map(ARENA_MMAP, values, 2);
	return p;
}

PUBLIC void *
mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
	static void *(*next)(void *, size_t, int, int, int, off_t);

	if (!hooks_find_next((void **)&next, "mmap"))
		return MAP_FAILED;
	return note_mmap(next(at, n, protection, flags, fd, offset), n);
}

PUBLIC void *
mmap64(void *at, size_t n, int protection, int flags, int fd, off64_t offset)
{
	static void *(*next)(void *, size_t, int, int, int, off64_t);

	if (!hooks_find_next((void **)&next, "mmap64"))
		return MAP_FAILED;
	return note_mmap(next(at, n, protection, flags, fd, offset), n);
}

PUBLIC int
munmap(void *p, size_t n)
{
	static int (*next)(void *, size_t);
	const uint64_t values[] = { (uintptr_t)p, n };

	if (!hooks_find_next((void **)&next, "munmap"))
		return -1;
	note_map(ARENA_MUNMAP, values, 2);
	return next(p, n);
}

PUBLIC void *
mremap(void *old, size_t old_size, size_t n, int flags, ...)
{
	static void *(*next)(void *, size_t, size_t, int, ...);
	uint64_t values[4];
	void *p, *at = NULL;
	va_list list;

	if (!hooks_find_next((void **)&next, "mremap"))
		return MAP_FAILED;
	va_start(list, flags);
	if (flags & MREMAP_FIXED)
		at = va_arg(list, void *);
	va_end(list);
	p = next(old, old_size, n, flags, at);
	values[0] = (uintptr_t)p;
	values[1] = (uintptr_t)old;
	values[2] = old_size;
	values[3] = n;
	if (p != MAP_FAILED)
		note_map(ARENA_MREMAP, values, 4);
	return p;
}

PUBLIC void *
sbrk(intptr_t increment)
{
	static void *(*next)(intptr_t);
	uint64_t values[2];

	if (!hooks_find_next((void **)&next, "sbrk"))
		return MAP_FAILED;
	void *p = next(increment);
	values[0] = (uintptr_t)p + (uintptr_t)increment;
	values[1] = (uint64_t)(int64_t)increment;
	if (p != MAP_FAILED && increment != 0)
		note_map(ARENA_BRK, values, 2);
	return p;
}

PUBLIC int
brk(void *end)
{
	static int (*next)(void *);
	static void *(*where)(intptr_t);
	uint64_t values[2];

	if (!hooks_find_next((void **)&where, "sbrk") ||
	    !hooks_find_next((void **)&next, "brk"))
		return -1;
	void *before = where(0);
	int failed = next(end);
	values[0] = (uintptr_t)end;
	values[1] = (uint64_t)(int64_t)((intptr_t)end - (intptr_t)before);
	if (!failed && before != end)
		note_map(ARENA_BRK, values, 2);
	return failed;
}
