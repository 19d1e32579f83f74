/* SPDX-License-Identifier: BSD-2-Clause */
/* A binary heap in an array of pointers: the first goes before all others. */
#ifndef TEL__HEAP_H
#define TEL__HEAP_H

#include <stddef.h>

typedef int tel__heap_before(const void *a, const void *b);

/* Moves the item at i down to its place, of n items. */
static inline void
tel__heap_sink(void **heap, size_t n, size_t i, tel__heap_before *before)
{
	void *item = heap[i];
	size_t child;

	while ((child = 2 * i + 1) < n) {
		if (child + 1 < n && before(heap[child + 1], heap[child]))
			child++;
		if (!before(heap[child], item))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = item;
}

/* Puts n items in any order into that of a heap. */
static inline void
tel__heap_fill(void **heap, size_t n, tel__heap_before *before)
{
	for (size_t i = n / 2; i-- > 0;)
		tel__heap_sink(heap, n, i, before);
}

#endif
