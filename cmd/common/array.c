/* SPDX-License-Identifier: BSD-2-Clause */
/* Growth of an array. */
#include "array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 64

int
array_grow(void *array, size_t *room, size_t need, size_t size)
{
	size_t n = *room == 0 ? FIRST_ROOM : *room;
	void *grown;

	if (need <= *room)
		return 0;
	while (n < need)
		if (__builtin_mul_overflow(n, (size_t)2, &n))
			return -1;
	if (n > SIZE_MAX / size)
		return -1;
	/* a pointer of any type, which no cast may alias */
	memcpy(&grown, array, sizeof(grown));
	grown = realloc(grown, n * size);
	if (grown == NULL)
		return -1;
	memcpy(array, &grown, sizeof(grown));
	*room = n;
	return 0;
}
