/* SPDX-License-Identifier: BSD-2-Clause */
/* Growth of a table, and deletion. */
#include "base/table.h"

#include <stdlib.h>

#include "base/array.h"

#define FIRST_BITS 6

void
tel__table_init(struct tel__table *t)
{
	memset(t, 0, sizeof(*t));
	t->factor = tel__hash_seed(t) | 1;
}

void
tel__table_clear(struct tel__table *t)
{
	free(t->entries);
	t->entries = NULL;
	t->mask = t->count = 0;
}

int
tel__table_grow(struct tel__table *t)
{
	struct tel__table old = *t;
	size_t size =
	    old.entries == NULL ? (size_t)1 << FIRST_BITS : (old.mask + 1) * 2;

	if (size >= PTRDIFF_MAX / sizeof(*t->entries))
		return 0;
	t->entries = calloc(size + 1, sizeof(*t->entries));
	if (t->entries == NULL) {
		t->entries = old.entries;
		return 0;
	}
	tel__array_ask_huge(t->entries, (size + 1) * sizeof(*t->entries));
	t->mask = size - 1;
	t->shift = old.entries == NULL ? 64 - FIRST_BITS : old.shift - 1;
	for (size_t i = 0; old.entries != NULL && i <= old.mask; i++)
		if (old.entries[i].key != 0)
			*tel__table_seek(t, old.entries[i].key) =
			    old.entries[i];
	if (old.entries != NULL)
		t->entries[size] = old.entries[old.mask + 1];
	free(old.entries);
	return 1;
}

void
tel__table_remove(struct tel__table *t, struct tel__entry *e)
{
	size_t hole = (size_t)(e - t->entries), i = hole, home;

	while (hole <= t->mask) {
		i = (i + 1) & t->mask;
		if (t->entries[i].key == 0)
			break;
		home = tel__table_home(t, t->entries[i].key);
		/* an entry may go to the hole if that is not before its home */
		if (((i - home) & t->mask) >= ((i - hole) & t->mask)) {
			t->entries[hole] = t->entries[i];
			hole = i;
		}
	}
	t->entries[hole].key = 0;
	t->count--;
}
