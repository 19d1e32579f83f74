/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of numbers and the index of arrays, against a plain model. */
#include "failing.h"

#include "base/index.c"
#undef FIRST_SIZE
#define grow table_grow
#define put table_put
#include "base/table.c"
#undef grow
#undef put

#include "base/array.h"
#include "tap.h"

#include <stdio.h>
#include <unistd.h>

#define KEYS 1000u
#define STEPS 200000u

static uint32_t state = 1;

static uint32_t
draw(uint32_t below)
{
	state = state * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)state * below >> 32);
}

/* Keys in steps, as addresses come, and the key 0. */
static uint64_t
key_of(uint32_t i)
{
	return (uint64_t)i << 12;
}

/* Whether a table says of all keys what the model does; 0 stands for no value. */
static int
agree(const struct tel__table *t, const uint64_t *model)
{
	const struct tel__entry *e;
	size_t count = 0;
	uint32_t i;

	for (i = 0; i < KEYS; i++) {
		e = tel__table_find(t, key_of(i));
		if ((e == NULL) != (model[i] == 0) ||
		    (e != NULL && e->value != model[i]))
			return 0;
		count += model[i] != 0;
	}
	return count == t->count && tel__table_find(t, key_of(KEYS)) == NULL &&
	    tel__table_find(t, UINT64_MAX) == NULL;
}

static void
test_table(void)
{
	static uint64_t model[KEYS];
	struct tel__table t;
	struct tel__entry *e;
	int fresh, right = 1;
	uint32_t i, n;

	tel__table_init(&t);
	ok(tel__table_find(&t, 0) == NULL && tel__table_find(&t, 1) == NULL,
	    "an empty table has no keys");
	for (n = 0; n < STEPS; n++) {
		/* up, down, and up again */
		i = draw(n < STEPS / 2 ? KEYS : 20);
		if (draw(3) > 0) {
			e = tel__table_put(&t, key_of(i), &fresh);
			right &= e != NULL && fresh == (model[i] == 0) &&
			    e->value == model[i];
			if (e != NULL)
				e->value = model[i] = (uint64_t)n << 20 | 1;
		} else if ((e = tel__table_find(&t, key_of(i))) != NULL) {
			tel__table_remove(&t, e);
			model[i] = 0;
		}
		if (n % 4096 == 0)
			right &= agree(&t, model);
	}
	ok(right && agree(&t, model), "a table is what was put in and removed");
	tel__table_clear(&t);
	ok(t.count == 0 && tel__table_find(&t, 0) == NULL, "cleared");
	e = tel__table_put(&t, 0, &fresh);
	ok(e != NULL && fresh && e->value == 0, "and used again");
	tel__table_clear(&t);
}

static void
test_table_fails(void)
{
	static uint64_t model[KEYS];
	struct tel__table t;
	struct tel__entry *e;
	uint32_t i;
	int fresh;

	tel__table_init(&t);
	failing_after = 0;
	ok(tel__table_put(&t, 0, &fresh) == NULL && t.count == 0,
	    "the first entry without memory");
	failing_after = 2;
	for (i = 0; i < KEYS; i++) {
		e = tel__table_put(&t, key_of(i), &fresh);
		if (e == NULL)
			break;
		e->value = model[i] = i + 1;
	}
	ok(i > 0 && i < KEYS, "there is memory for %u", i);
	ok(agree(&t, model), "and they are all there");
	failing_after = UINT32_MAX;
	e = tel__table_put(&t, key_of(i), &fresh);
	ok(e != NULL && fresh, "with memory it goes on");
	if (e != NULL)
		e->value = model[i] = 5;
	ok(agree(&t, model), "with nothing lost");
	tel__table_clear(&t);
}

/* The names that are indexed; few hashes, so that many collide. */
static uint32_t names[KEYS];
static unsigned hashes = 64;

static uint64_t
hash_of(const struct tel__index *x, uint32_t name)
{
	return tel__hash(name % hashes, x->seed);
}

static uint32_t
find(const struct tel__index *x, uint32_t name, struct tel__probe *at)
{
	uint32_t i;

	for (i = tel__index_first(x, hash_of(x, name), at); i != TEL__NOWHERE;
	     i = tel__index_next(x, at))
		if (names[i] == name)
			break;
	return i;
}

static int
index_agrees(const struct tel__index *x, const unsigned char *model)
{
	struct tel__probe at;
	size_t count = 0;
	uint32_t i;

	for (i = 0; i < KEYS; i++) {
		if (find(x, names[i], &at) != (model[i] ? i : TEL__NOWHERE))
			return 0;
		count += model[i];
	}
	return count == x->count && find(x, 1, &at) == TEL__NOWHERE;
}

static void
test_index(void)
{
	unsigned char model[KEYS] = { 0 };
	struct tel__probe at;
	struct tel__index x;
	int right = 1;
	uint32_t i, n;

	for (i = 0; i < KEYS; i++)
		names[i] = i * 7919 + 2;
	tel__index_init(&x);
	ok(find(&x, names[0], &at) == TEL__NOWHERE,
	    "an empty index has no elements");
	for (n = 0; n < STEPS / 4; n++) {
		i = draw(n < STEPS / 8 ? KEYS : 20);
		if (!model[i]) {
			right &= tel__index_add(&x, hash_of(&x, names[i]), i);
			model[i] = 1;
		} else if (find(&x, names[i], &at) == i) {
			tel__index_remove(&x, &at);
			model[i] = 0;
		}
		if (n % 4096 == 0)
			right &= index_agrees(&x, model);
	}
	ok(right && index_agrees(&x, model),
	    "an index is what was added and removed");
	tel__index_clear(&x);
	ok(x.count == 0 && find(&x, names[0], &at) == TEL__NOWHERE, "cleared");
	ok(tel__index_add(&x, 7, 3) && x.count == 1, "and used again");
	ok(!tel__index_add(&x, 7, TEL__NOWHERE), "a place that is none");
	tel__index_clear(&x);
}

static void
test_index_fails(void)
{
	static unsigned char model[KEYS];
	struct tel__index x;
	uint32_t i;

	tel__index_init(&x);
	failing_after = 0;
	ok(!tel__index_add(&x, 1, 1) && x.count == 0,
	    "the first element without memory");
	failing_after = 3;
	for (i = 0; i < KEYS; i++) {
		if (!tel__index_add(&x, hash_of(&x, names[i]), i))
			break;
		model[i] = 1;
	}
	ok(i > 0 && i < KEYS, "there is memory for %u", i);
	ok(index_agrees(&x, model), "and they are all there");
	failing_after = UINT32_MAX;
	model[i] = 1;
	ok(tel__index_add(&x, hash_of(&x, names[i]), i) &&
	        index_agrees(&x, model),
	    "with memory it goes on, with nothing lost");
	tel__index_clear(&x);
}

static void
test_hashes(void)
{
	static const unsigned char text[20] = "0123456789abcdefghi";
	unsigned char moved[24];
	uint64_t h;
	size_t n;
	int same = 1, other = 1;

	/* the reference values of FNV-1a */
	is_u64(tel__fnv(TEL__FNV, "", 0), UINT64_C(0xcbf29ce484222325),
	    "FNV-1a of nothing");
	is_u64(tel__fnv(TEL__FNV, "foobar", 6), UINT64_C(0x85944171f73967e8),
	    "FNV-1a of foobar");
	is_u64(tel__fnv(tel__fnv(TEL__FNV, "foo", 3), "bar", 3),
	    UINT64_C(0x85944171f73967e8), "FNV-1a of its parts");
	for (n = 0; n < sizeof(text); n++) {
		memcpy(moved + 3, text, sizeof(text));
		h = tel__hash_bytes(text, n, 1);
		same &= h == tel__hash_bytes(moved + 3, n, 1);
		other &= h != tel__hash_bytes(text, n, 2) &&
		    h != tel__hash_bytes(text, n + 1, 1);
	}
	ok(same, "the hash of bytes depends on nothing else");
	ok(other, "but on all of them and the seed");
	ok(tel__hash_bytes("\0", 1, 0) != tel__hash_bytes("\0\0", 2, 0),
	    "and on how many there are");
}

/* 1 if one mapping of ours that has huge pages holds n bytes at p; -1: unknown. */
static int
is_huge(const void *p, size_t n)
{
	const uintptr_t from = (uintptr_t)p;
	unsigned long start = 0, end = 0, a, b;
	char line[4096];
	int huge = -1;
	FILE *f = access("/sys/kernel/mm/transparent_hugepage", F_OK) == 0 ?
	    fopen("/proc/self/smaps", "r") :
	    NULL;

	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		if (sscanf(line, "%lx-%lx ", &a, &b) == 2) {
			start = a;
			end = b;
		} else if (strncmp(line, "VmFlags:", 8) == 0 && start <= from &&
		    from < end) {
			huge = from + n <= end && strstr(line, " hg") != NULL;
		}
	}
	if (f != NULL)
		fclose(f);
	return huge;
}

static void
test_huge(void)
{
	struct tel__table t;
	struct tel__entry *e;
	uint64_t *list = NULL, i, last = 1u << 20;
	size_t room = 0;
	int right = 1, fresh;

	tel__table_init(&t);
	for (i = 0; i < last; i++) {
		right &= TEL__RESERVE(list, room, (size_t)i + 1);
		e = tel__table_put(&t, i, &fresh);
		list[i] = e->value = i;
	}
	for (i = 0; i < last; i++)
		right &= list[i] == i && tel__table_find(&t, i)->value == i;
	ok(right, "a table and an array of a million");
	ok(is_huge(list, room * sizeof(*list)) != 0 &&
	        is_huge(t.entries, (t.mask + 2) * sizeof(*t.entries)) != 0,
	    "which have huge pages where there are any");
	ok(is_huge(&last, sizeof(last)) <= 0, "others have none");
	tel__table_clear(&t);
	free(list);
}

int
main(void)
{
	test_table();
	test_table_fails();
	test_index();
	test_index_fails();
	hashes = 1u << 30;
	test_index();
	test_hashes();
	test_huge();
	return done();
}
