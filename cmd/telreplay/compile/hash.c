/* SPDX-License-Identifier: BSD-2-Clause */
/* Growth of a table, and deletion. */
#include "telreplay/compile/hash.h"

#include <stdlib.h>
#include <time.h>

#define FIRST_BITS 10

void
hash_init(struct hash *t)
{
	struct timespec now = { 0, 0 };

	clock_gettime(CLOCK_MONOTONIC, &now);
	t->entries = NULL;
	t->mask = 0;
	t->count = 0;
	t->shift = 0;
	t->factor = ((uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec ^
	                (uint64_t)(uintptr_t)t) *
	        UINT64_C(0x9e3779b97f4a7c15) |
	    1;
}

void
hash_close(struct hash *t)
{
	free(t->entries);
	t->entries = NULL;
	t->mask = t->count = 0;
}

int
hash_grow(struct hash *t)
{
	struct hash old = *t;
	size_t size, i;

	size =
	    old.entries == NULL ? (size_t)1 << FIRST_BITS : (old.mask + 1) * 2;
	if (size > SIZE_MAX / 2 / sizeof(*t->entries))
		return -1;
	t->entries = calloc(size, sizeof(*t->entries));
	if (t->entries == NULL) {
		t->entries = old.entries;
		return -1;
	}
	t->mask = size - 1;
	t->shift = old.entries == NULL ? 64 - FIRST_BITS : old.shift - 1;
	for (i = 0; old.entries != NULL && i <= old.mask; i++)
		if (old.entries[i].key != 0)
			*hash_seek(t, old.entries[i].key) = old.entries[i];
	free(old.entries);
	return 0;
}

void
hash_remove(struct hash *t, struct hash_entry *e)
{
	size_t hole = (size_t)(e - t->entries), i = hole, home;

	for (;;) {
		i = (i + 1) & t->mask;
		if (t->entries[i].key == 0)
			break;
		home = hash_home(t, t->entries[i].key);
		/* an entry may go to the hole if that is not before its home */
		if (((i - home) & t->mask) >= ((i - hole) & t->mask)) {
			t->entries[hole] = t->entries[i];
			hole = i;
		}
	}
	t->entries[hole].key = 0;
	t->count--;
}
