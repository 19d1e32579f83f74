/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Table: numbers that stand for addresses.  Open addressing, at most half
 * full; a deletion moves what follows back, so that nothing is left behind.
 */
#ifndef TEL_TABLE_H
#define TEL_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct tel_entry {
	uint64_t key; /* 0: none */
	uint32_t value;
};

struct tel_table {
	struct tel_entry *entries; /* NULL until something is put in */
	size_t mask;
	size_t count;
	unsigned shift;
	/* Odd, and another one each time: no log can know what collides. */
	uint64_t factor;
};

/* An empty table. */
void tel_table_init(struct tel_table *t);
void tel_table_close(struct tel_table *t);

/*
 * Room for one more entry.  0, or -1 when there is no memory; the table is
 * then as it was.
 */
int tel_table_grow(struct tel_table *t);

/* Takes out an entry, which moves others. */
void tel_table_remove(struct tel_table *t, struct tel_entry *e);

/*
 * Where a key belongs.  Addresses come in steps, which one multiplication
 * alone would crowd into a few places for some factors.
 */
static inline size_t
tel_table_home(const struct tel_table *t, uint64_t key)
{
	uint64_t h = key * t->factor;

	h = (h ^ h >> 32) * UINT64_C(0x9e3779b97f4a7c15);
	return (size_t)(h >> t->shift);
}

/* The entry of a key that is not 0, or the empty one where it would be. */
static inline struct tel_entry *
tel_table_seek(const struct tel_table *t, uint64_t key)
{
	size_t i = tel_table_home(t, key);

	while (t->entries[i].key != key && t->entries[i].key != 0)
		i = (i + 1) & t->mask;
	return &t->entries[i];
}

/* The entry of a key, or NULL. */
static inline struct tel_entry *
tel_table_find(const struct tel_table *t, uint64_t key)
{
	struct tel_entry *e;

	if (t->count == 0 || key == 0)
		return NULL;
	e = tel_table_seek(t, key);
	return e->key == 0 ? NULL : e;
}

/*
 * The entry of a key that is not 0, which is put in when it is not there.
 * fresh: set to whether it was.  NULL when there is no memory.
 */
static inline struct tel_entry *
tel_table_put(struct tel_table *t, uint64_t key, int *fresh)
{
	struct tel_entry *e;

	if (t->count * 2 >= t->mask && tel_table_grow(t) != 0)
		return NULL;
	e = tel_table_seek(t, key);
	*fresh = e->key == 0;
	if (*fresh) {
		e->key = key;
		t->count++;
	}
	return e;
}

#endif
