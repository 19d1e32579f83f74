/* SPDX-License-Identifier: BSD-2-Clause */
/* Symbols by address: sorted, with the greatest end of those up to each. */
#include "telrec/symtab.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

int
symtab_add(struct symtab *t, const struct symbol *symbol)
{
	if (symbol->size == 0) {
		if (!TEL__RESERVE(t->labels, t->label_room, t->nlabels + 1))
			return 0;
		t->labels[t->nlabels++] = symbol->start;
		return 1;
	}
	if (t->count == UINT32_MAX ||
	    !TEL__RESERVE(t->list, t->room, t->count + 1))
		return 0;
	t->list[t->count] = *symbol;
	t->list[t->count].number = (uint32_t)t->count;
	t->globals += !symbol->local;
	t->count++;
	return 1;
}

/* Of those at one address, the one that is taken is last. */
static int
symtab_compare(const void *va, const void *vb)
{
	const struct symbol *a = va, *b = vb;

	if (a->local != b->local)
		return a->local - b->local;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->strength != b->strength)
		return a->strength - b->strength;
	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	return a->number > b->number ? -1 : 1;
}

static int
compare_labels(const void *va, const void *vb)
{
	const uint64_t *a = va, *b = vb;

	return *a < *b ? -1 : *a > *b;
}

static uint64_t
symbol_end(const struct symbol *s)
{
	return s->size < UINT64_MAX - s->start ? s->start + s->size :
	                                         UINT64_MAX;
}

void
symtab_sort(struct symtab *t)
{
	uint64_t most = 0;

	if (t->count > 0)
		qsort(t->list, t->count, sizeof(*t->list), symtab_compare);
	if (t->nlabels > 0)
		qsort(t->labels, t->nlabels, sizeof(*t->labels),
		    compare_labels);
	for (size_t i = 0; i < t->count; i++) {
		if (i == t->globals)
			most = 0;
		if (symbol_end(&t->list[i]) > most)
			most = symbol_end(&t->list[i]);
		t->list[i].most = most;
	}
}

/*
 * The last symbol of a group that an address is in.  most: made the end of those
 * that start up to the address, if that is greater.
 */
static const struct symbol *
find_in(const struct symbol *list, size_t count, uint64_t address,
    uint64_t *most)
{
	size_t lo = 0, hi = count, mid;

	TEL__BISECT(lo, hi, mid, list[mid].start <= address);
	if (lo > 0 && list[lo - 1].most > *most)
		*most = list[lo - 1].most;
	for (; lo > 0 && list[lo - 1].most > address; lo--)
		if (address - list[lo - 1].start < list[lo - 1].size)
			return &list[lo - 1];
	return NULL;
}

const char *
symtab_find(const struct symtab *t, uint64_t address, int *labelled)
{
	uint64_t most = 0;
	const struct symbol *s = find_in(t->list, t->globals, address, &most);
	size_t lo = 0, hi = t->nlabels, mid;

	*labelled = 0;
	if (s == NULL)
		s = find_in(t->list + t->globals, t->count - t->globals,
		    address, &most);
	if (s != NULL)
		return s->name;
	TEL__BISECT(lo, hi, mid, t->labels[mid] <= address);
	/* a symbol that ends behind a label excludes it */
	*labelled = lo > 0 && t->labels[lo - 1] >= most;
	return NULL;
}

void
symtab_clear(struct symtab *t)
{
	free(t->list);
	free(t->labels);
	memset(t, 0, sizeof(*t));
}
