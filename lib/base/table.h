/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Table: a hash table from numbers to numbers, such as from addresses to
 * sizes.  Open addressing, at most half full; a deletion moves what follows
 * back, so that nothing is left behind.
 */
#ifndef TEL__TABLE_H
#define TEL__TABLE_H

#include "base/hash.h"

struct tel__entry {
	uint64_t key; /* 0 in a place that is free */
	uint64_t value;
};

struct tel__table {
	/* mask + 2, the last one of the key 0; NULL until something is put in */
	struct tel__entry *entries;
	size_t mask;
	size_t count;
	unsigned shift;
	/* Odd, and another one each time: no log can know what collides. */
	uint64_t factor;
};

/* An empty table. */
void tel__table_init(struct tel__table *t);
/* Frees what it holds; it is empty then. */
void tel__table_clear(struct tel__table *t);

/*
 * Doubles the room.  1, or 0 when out of memory; the table is then as it was.
 */
int tel__table_grow(struct tel__table *t);

/* Takes out an entry, which moves others. */
void tel__table_remove(struct tel__table *t, struct tel__entry *e);

/*
 * Where a key belongs.  Addresses come in steps, which one multiplication
 * alone would crowd into a few places for some factors.
 */
static inline size_t
tel__table_home(const struct tel__table *t, uint64_t key)
{
	uint64_t h = key * t->factor;

	h = (h ^ h >> 32) * UINT64_C(0x9e3779b97f4a7c15);
	return (size_t)(h >> t->shift);
}

/* The entry of a key that is not 0, or the free one where it would be. */
static inline struct tel__entry *
tel__table_seek(const struct tel__table *t, uint64_t key)
{
	size_t i = tel__table_home(t, key);

	while (t->entries[i].key != key && t->entries[i].key != 0)
		i = (i + 1) & t->mask;
	return &t->entries[i];
}

/* The entry of a key, or NULL. */
static inline struct tel__entry *
tel__table_find(const struct tel__table *t, uint64_t key)
{
	struct tel__entry *e;

	if (t->count == 0)
		return NULL;
	e = key == 0 ? &t->entries[t->mask + 1] : tel__table_seek(t, key);
	return e->key == 0 ? NULL : e;
}

/*
 * The entry of a key, which is added with the value 0 if missing; fresh is set
 * to whether it was added.  NULL when out of memory.
 */
static inline struct tel__entry *
tel__table_put(struct tel__table *t, uint64_t key, int *fresh)
{
	struct tel__entry *e;

	if (t->count * 2 >= t->mask && !tel__table_grow(t))
		return NULL;
	e = key == 0 ? &t->entries[t->mask + 1] : tel__table_seek(t, key);
	*fresh = e->key == 0;
	if (*fresh) {
		/* anything but 0 marks the entry of the key 0 as in use */
		e->key = key == 0 ? 1 : key;
		e->value = 0;
		t->count++;
	}
	return e;
}

#endif
