/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hash table from addresses to numbers.  Open addressing, at most half full; a
 * deletion moves later entries back, so that there are no tombstones.
 *
 * The library has such a table, too, in lib/base/table.h, which is private to
 * it: commands use public headers only.  This one has no key 0, as NULL is not
 * a block, and its callers can prefetch keys.
 */
#ifndef TELREPLAY_HASH_H
#define TELREPLAY_HASH_H

#include <stddef.h>
#include <stdint.h>

struct hash_entry {
	uint64_t key; /* 0: none */
	uint32_t value;
};

struct hash {
	struct hash_entry *entries; /* NULL until something is put in */
	size_t mask;
	size_t count;
	unsigned shift;
	/* Odd, and another one each time: no log can know what collides. */
	uint64_t factor;
};

/* An empty table. */
void hash_init(struct hash *t);
void hash_close(struct hash *t);

/*
 * Room for one more entry.  0, or -1 when out of memory; the table is then as
 * it was.
 */
int hash_grow(struct hash *t);

/* Takes out an entry, which moves others. */
void hash_remove(struct hash *t, struct hash_entry *e);

/*
 * Where a key belongs.  Addresses come in steps, which one multiplication
 * alone would crowd into a few places for some factors.
 */
static inline size_t
hash_home(const struct hash *t, uint64_t key)
{
	uint64_t h = key * t->factor;

	h = (h ^ h >> 32) * UINT64_C(0x9e3779b97f4a7c15);
	return (size_t)(h >> t->shift);
}

/* The entry of a key that is not 0, or the empty one where it would be. */
static inline struct hash_entry *
hash_seek(const struct hash *t, uint64_t key)
{
	size_t i = hash_home(t, key);

	while (t->entries[i].key != key && t->entries[i].key != 0)
		i = (i + 1) & t->mask;
	return &t->entries[i];
}

/* The entry of a key, or NULL. */
static inline struct hash_entry *
hash_find(const struct hash *t, uint64_t key)
{
	struct hash_entry *e;

	if (t->count == 0 || key == 0)
		return NULL;
	e = hash_seek(t, key);
	return e->key == 0 ? NULL : e;
}

/*
 * The entry of a nonzero key, which is added if missing.  fresh: set to whether
 * it was added.  NULL when out of memory.
 */
static inline struct hash_entry *
hash_put(struct hash *t, uint64_t key, int *fresh)
{
	struct hash_entry *e;

	if (t->count * 2 >= t->mask && hash_grow(t) != 0)
		return NULL;
	e = hash_seek(t, key);
	*fresh = e->key == 0;
	if (*fresh) {
		e->key = key;
		t->count++;
	}
	return e;
}

#endif
