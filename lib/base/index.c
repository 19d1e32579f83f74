/* SPDX-License-Identifier: BSD-2-Clause */
/* Growth of an index, and deletion. */
#include "base/index.h"

#include <stdlib.h>

#include "base/array.h"

#define FIRST_SIZE 16u
/* Homes are hashes of 32 bits. */
#define INDEX_SIZE_MAX ((uint64_t)1 << 32)

void
tel__index_init(struct tel__index *x)
{
	memset(x, 0, sizeof(*x));
	x->seed = tel__hash_seed(x);
}

void
tel__index_clear(struct tel__index *x)
{
	free(x->slots);
	x->slots = NULL;
	x->mask = x->count = 0;
}

/* Puts a slot where it belongs; one is free. */
static void
base_index_put(struct tel__index *x, struct tel__index_slot slot)
{
	size_t i = slot.hash & x->mask;

	while (x->slots[i].number != 0)
		i = (i + 1) & x->mask;
	x->slots[i] = slot;
}

static int
base_index_grow(struct tel__index *x)
{
	struct tel__index old = *x;
	uint64_t size =
	    old.slots == NULL ? FIRST_SIZE : ((uint64_t)old.mask + 1) * 2;

	if (size > INDEX_SIZE_MAX || size > PTRDIFF_MAX / sizeof(*x->slots))
		return 0;
	x->slots = calloc((size_t)size, sizeof(*x->slots));
	if (x->slots == NULL) {
		x->slots = old.slots;
		return 0;
	}
	tel__array_ask_huge(x->slots, (size_t)size * sizeof(*x->slots));
	x->mask = (size_t)size - 1;
	for (size_t i = 0; old.slots != NULL && i <= old.mask; i++)
		if (old.slots[i].number != 0)
			base_index_put(x, old.slots[i]);
	free(old.slots);
	return 1;
}

int
tel__index_add(struct tel__index *x, uint64_t hash, uint32_t i)
{
	if (i == TEL__NOWHERE ||
	    (x->count * 2 >= x->mask && !base_index_grow(x)))
		return 0;
	base_index_put(x, (struct tel__index_slot){ (uint32_t)hash, i + 1 });
	x->count++;
	return 1;
}

void
tel__index_remove(struct tel__index *x, const struct tel__probe *at)
{
	size_t hole = at->slot, i = hole, home;

	for (;;) {
		i = (i + 1) & x->mask;
		if (x->slots[i].number == 0)
			break;
		home = x->slots[i].hash & x->mask;
		/* a slot may go to the hole if that is not before its home */
		if (((i - home) & x->mask) >= ((i - hole) & x->mask)) {
			x->slots[hole] = x->slots[i];
			hole = i;
		}
	}
	x->slots[hole].number = 0;
	x->count--;
}
