/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Array: a plain pointer with a count and a room that its owner keeps; here
 * is how it gets more room.
 */
#ifndef TEL__ARRAY_H
#define TEL__ARRAY_H

#include <stddef.h>

/*
 * Asks the system for huge pages for an array of so many bytes, if these are
 * many: a table that is read all over would wait for the addresses of small ones
 * as well as for memory.
 */
void tel__array_ask_huge(void *array, size_t bytes);

/*
 * Makes room for need elements at least: array is a pointer to the elements
 * or NULL, room a size_t with how many elements fit.  1, or 0 when out of
 * memory: array and room are then as they were.  The arguments are evaluated
 * more than once.
 */
#define TEL__RESERVE(array, room, need) \
	((need) <= (room) || \
	    tel__array_grow(&(array), &(room), (need), sizeof(*(array))))

/* The same, and elements that are new are all zeros. */
#define TEL__RESERVE_ZEROED(array, room, need) \
	((need) <= (room) || \
	    tel__array_grow_zeroed(&(array), &(room), (need), \
	        sizeof(*(array))))

/* Gives several arrays that share one room a room of exactly n elements. */
#define TEL__RESIZE(array, n) tel__array_resize(&(array), (n), sizeof(*(array)))

/*
 * What the macros call.  array: the address of a pointer to elements of size
 * bytes each.  The room at least doubles, so that adding elements one by one
 * takes linear time.  1 or 0 as above.
 */
int tel__array_grow(void *array, size_t *room, size_t need, size_t size);
int tel__array_grow_zeroed(void *array, size_t *room, size_t need, size_t size);
int tel__array_resize(void *array, size_t n, size_t size);

/* The least room of an array that grows. */
#define TEL__ARRAY_FIRST 8u

/* The room that an array of that room would be grown to. */
static inline size_t
tel__array_next(size_t room, size_t need)
{
	if (need < TEL__ARRAY_FIRST)
		return TEL__ARRAY_FIRST;
	return room > need / 2 && room <= (size_t)-1 / 2 ? 2 * room : need;
}

/*
 * Sets lo, of places from lo to before hi in an order, to the first of which
 * is_before, an expression of mid, is not true; or to what hi was.
 */
#define TEL__BISECT(lo, hi, mid, is_before) \
	while ((lo) < (hi)) { \
		(mid) = (lo) + ((hi) - (lo)) / 2; \
		if (is_before) \
			(lo) = (mid) + 1; \
		else \
			(hi) = (mid); \
	}

/* A copy of n bytes, NUL-terminated; NULL when out of memory. */
char *tel__copy_string(const void *bytes, size_t n);

#endif
