/* SPDX-License-Identifier: BSD-2-Clause */
/* Array: memory that grows by doubling. */
#ifndef COMMON_ARRAY_H
#define COMMON_ARRAY_H

#include <stddef.h>

/*
 * Makes room in an array for at least need elements.
 * array: the address of the pointer to its first element.
 * room: how many elements there is room for; raised.
 * size: bytes of an element.
 * Returns 0, or -1 when out of memory; the array is then as it was.
 */
int array_grow(void *array, size_t *room, size_t need, size_t size);

#endif
