/* SPDX-License-Identifier: BSD-2-Clause */
/* Which symbol an address is in, by a look at each of them. */
#include "telrec/symtab.c"

#include "tap.h"

#define SYMBOLS 120u

static unsigned
below(unsigned n)
{
	static uint64_t seed = 1;

	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

/* Whether an address is in a. */
static int
covers(const struct symbol *a, uint64_t address)
{
	return a->start <= address && address - a->start < a->size;
}

/* Whether a is preferred to b, which was added before it. */
static int
preferred(const struct symbol *a, const struct symbol *b)
{
	if (a->local != b->local)
		return b->local;
	if (a->start != b->start)
		return a->start > b->start;
	if (a->strength != b->strength)
		return a->strength > b->strength;
	return a->size < b->size;
}

/* Whether all symbols up to an address end before the last label up to it. */
static int
is_labelled(const struct symbol *all, unsigned n, uint64_t address)
{
	const struct symbol *label = NULL;
	unsigned i;

	for (i = 0; i < n; i++)
		if (all[i].size == 0 && all[i].start <= address &&
		    (label == NULL || all[i].start > label->start))
			label = &all[i];
	for (i = 0; label != NULL && i < n; i++)
		if (all[i].size > 0 && all[i].start <= address &&
		    all[i].start + all[i].size > label->start)
			return 0;
	return label != NULL;
}

/* Addresses of a file with n symbols that differ from what a look finds. */
static unsigned
compare(unsigned n)
{
	static const char names[SYMBOLS];
	struct symbol all[SYMBOLS];
	const struct symbol *best;
	struct symtab t = { 0 };
	unsigned i, bad = 0;
	uint64_t address;
	const char *got;
	int labelled;

	memset(all, 0, sizeof(all));
	for (i = 0; i < n; i++) {
		all[i].start = below(200);
		all[i].size = below(4) == 0 ? 0 : 1 + below(i % 9 ? 12 : 90);
		all[i].name = &names[i];
		all[i].local = below(2) != 0;
		all[i].strength = (uint8_t)(1 + below(2));
		bad += !symtab_add(&t, &all[i]);
	}
	symtab_sort(&t);
	for (address = 0; address < 300; address++) {
		best = NULL;
		for (i = 0; i < n; i++)
			if (covers(&all[i], address) &&
			    (best == NULL || preferred(&all[i], best)))
				best = &all[i];
		got = symtab_find(&t, address, &labelled);
		bad += got != (best != NULL ? best->name : NULL);
		bad +=
		    labelled != (best == NULL && is_labelled(all, n, address));
	}
	symtab_clear(&t);
	return bad;
}

int
main(void)
{
	static const struct symbol last = { .start = UINT64_MAX - 1,
		.size = 9,
		.name = "last" };
	struct symtab t = { 0 };
	unsigned i, bad = 0;
	int labelled;

	for (i = 0; i < 200; i++)
		bad += compare(i < SYMBOLS ? i : 3 + i % 9);
	ok(bad == 0, "symbols by address: %u differ", bad);
	ok(symtab_add(&t, &last), "one that goes beyond all addresses");
	symtab_sort(&t);
	ok(symtab_find(&t, UINT64_MAX - 1, &labelled) == last.name,
	    "is found where it starts");
	ok(symtab_find(&t, UINT64_MAX - 2, &labelled) == NULL && !labelled,
	    "and not before");
	symtab_clear(&t);
	return done();
}
