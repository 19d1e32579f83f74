/* SPDX-License-Identifier: BSD-2-Clause */
/* Growth of arrays, with checks for overflow. */
#define _DEFAULT_SOURCE /* for madvise() */

#include "base/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Bytes of one of several such pages. */
#define HUGE_MIN ((size_t)1 << 22)

void
tel__array_ask_huge(void *array, size_t bytes)
{
#ifdef MADV_HUGEPAGE
	const long page = bytes < HUGE_MIN ? 0 : sysconf(_SC_PAGESIZE);
	size_t head;

	if (page <= 0)
		return;
	/*
	 * All pages that it touches: to move it, realloc() needs one mapping.
	 * It fails where a system has no such pages, or gives them to none.
	 */
	head = (uintptr_t)array % (size_t)page;
	(void)madvise((unsigned char *)array - head, bytes + head,
	    MADV_HUGEPAGE);
#else
	(void)array;
	(void)bytes;
#endif
}

int
tel__array_resize(void *array, size_t n, size_t size)
{
	size_t bytes;
	void *old, *new;

	/* the difference of two pointers into the array must fit, too */
	if (__builtin_mul_overflow(n, size, &bytes) || bytes > PTRDIFF_MAX)
		return 0;
	/* by memcpy(), as the pointer may be of any type */
	memcpy(&old, array, sizeof(old));
	new = realloc(old, bytes > 0 ? bytes : 1);
	if (new == NULL)
		return 0;
	tel__array_ask_huge(new, bytes);
	memcpy(array, &new, sizeof(new));
	return 1;
}

int
tel__array_grow(void *array, size_t *room, size_t need, size_t size)
{
	size_t next = tel__array_next(*room, need);

	if (need <= *room)
		return 1;
	if (!tel__array_resize(array, next, size)) {
		/*
		 * twice the room may be too much where the room needed is not
		 */
		next = need;
		if (!tel__array_resize(array, next, size))
			return 0;
	}
	*room = next;
	return 1;
}

int
tel__array_grow_zeroed(void *array, size_t *room, size_t need, size_t size)
{
	size_t old = *room;
	unsigned char *p;

	if (!tel__array_grow(array, room, need, size))
		return 0;
	memcpy(&p, array, sizeof(p));
	if (*room > old)
		memset(p + old * size, 0, (*room - old) * size);
	return 1;
}

char *
tel__copy_string(const void *bytes, size_t n)
{
	char *copy = n < PTRDIFF_MAX ? malloc(n + 1) : NULL;

	if (copy == NULL)
		return NULL;
	if (n > 0)
		memcpy(copy, bytes, n);
	copy[n] = '\0';
	return copy;
}
