/* SPDX-License-Identifier: BSD-2-Clause */
/* Scopes: an index of units, and for each that is looked into, of functions. */
#include "telrec/scopes.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Levels of namespaces, types, functions and blocks in each other, at most. */
#define DEPTH_MAX 200
/* Spans of a list, at most: a damaged file may have one of all for each. */
#define SPANS_MAX ((size_t)1 << 22)

/* Adds the code of a unit or a function.  1, or 0 without room. */
static int
spans_add(struct spans *s, const struct libdw *f, Dwarf_Die *die, size_t unit)
{
	struct span span = { 0, 0, *die, unit };
	uint64_t base;
	ptrdiff_t at = 0;

	while ((at = f->dwarf_ranges(die, at, &base, &span.start, &span.end)) >
	    0) {
		/* code that the linker left out is at 0 */
		if (span.start == 0 || span.start >= span.end)
			continue;
		if (s->count == SPANS_MAX ||
		    !TEL__RESERVE(s->list, s->room, s->count + 1))
			return 0;
		s->list[s->count++] = span;
	}
	return 1;
}

/* By address; of several functions at one, the first in the file is last. */
static int
spans_order(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->die.address < y->die.address) -
	    (x->die.address > y->die.address);
}

static void
spans_sort(struct spans *s)
{
	if (s->count > 0)
		qsort(s->list, s->count, sizeof(s->list[0]), spans_order);
}

/* What an address is in; NULL: nothing. */
static struct span *
spans_find(const struct spans *s, uint64_t pc)
{
	size_t lo = 0, hi = s->count, mid;

	TEL__BISECT(lo, hi, mid, s->list[mid].start <= pc);
	return lo > 0 && pc < s->list[lo - 1].end ? &s->list[lo - 1] : NULL;
}

/* Indexes the units, as far as there is room. */
static void
index_units(struct scopes *s, const struct libdw *f, Dwfl_Module *module)
{
	Dwarf_Die *die = NULL;

	while ((die = f->dwfl_module_nextcu(module, die, &s->bias)) != NULL) {
		if (!TEL__RESERVE_ZEROED(s->units, s->room, s->nunits + 1) ||
		    !spans_add(&s->spans, f, die, s->nunits))
			return;
		s->units[s->nunits].at = die->address;
		s->units[s->nunits++].die = *die;
	}
}

static int
may_hold_functions(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_module ||
	    tag == DW_TAG_class_type || tag == DW_TAG_structure_type ||
	    tag == DW_TAG_union_type || tag == DW_TAG_subprogram ||
	    tag == DW_TAG_lexical_block;
}

/* C++, C++03, 11, 14, 17 and 20 are DW_LANG_ of their own. */
int
scopes_is_cxx(const struct libdw *f, Dwarf_Die *unit)
{
	static const unsigned char codes[] = { 0x04, 0x19, 0x1a, 0x21, 0x2b,
		0x2c };
	const int language = f->dwarf_srclang(unit);

	return language > 0 && language < 256 &&
	    memchr(codes, language, sizeof(codes)) != NULL;
}

/* Adds one that may hold functions; its place, or outer without room. */
static size_t
add_holder(struct unit *u, const Dwarf_Die *die, size_t outer)
{
	if (u->nholders == SPANS_MAX ||
	    !TEL__RESERVE(u->holders, u->holder_room, u->nholders + 1))
		return outer;
	u->holders[u->nholders] = (struct holder){ *die, outer };
	return u->nholders++;
}

size_t
scopes_outer(const struct unit *u, const Dwarf_Die *function)
{
	size_t lo = 0, hi = u->nholders, mid;

	TEL__BISECT(lo, hi, mid,
	    u->holders[mid].die.address <= function->address);
	return lo > 0 && u->holders[lo - 1].die.address == function->address ?
	    u->holders[lo - 1].outer :
	    NO_HOLDER;
}

/* What functions are looked for in: a unit, or a part of it. */
struct place {
	size_t unit; /* its number */
	unsigned depth;
	int is_cxx;
	size_t outer; /* holder */
};

/*
 * Indexes the functions in a place.  last: where the one is that was looked at
 * last; in a damaged file the next one may be in another that was looked into.
 * 1, or 0 likewise.
 */
static int
index_functions(struct unit *u, const struct libdw *f, Dwarf_Die *parent,
    struct place place, void **last)
{
	const size_t outer = place.outer;
	Dwarf_Die die;

	if (place.depth++ == DEPTH_MAX || f->dwarf_child(parent, &die) != 0)
		return 1;
	do {
		int tag = f->dwarf_tag(&die);

		if (die.address <= *last)
			return 1;
		*last = die.address;
		if (tag == DW_TAG_subprogram &&
		    !spans_add(&u->functions, f, &die, place.unit))
			return 0;
		if (!may_hold_functions(tag))
			continue;
		place.outer = place.is_cxx && tag != DW_TAG_lexical_block ?
		    add_holder(u, &die, outer) :
		    outer;
		if (!index_functions(u, f, &die, place, last))
			return 0;
	} while (f->dwarf_siblingof(&die, &die) == 0);
	return 1;
}

/*
 * Indexes the functions of a unit, once.  They and its lines may be in a file
 * of their own, .dwo, which is opened now.
 */
static void
index_unit(struct unit *u, const struct libdw *f, size_t number)
{
	Dwarf_Die die = { 0 };
	void *last = NULL;

	if (u->indexed)
		return;
	if (f->dwarf_cu_info(u->die.unit, NULL, NULL, NULL, &die, NULL, NULL,
	        NULL) == 0 &&
	    die.unit != NULL)
		u->die = die;
	(void)index_functions(u, f, &u->die,
	    (struct place){ number, 0, scopes_is_cxx(f, &u->die), NO_HOLDER },
	    &last);
	spans_sort(&u->functions);
	u->indexed = 1;
}

const struct unit *
scopes_unit_of(struct scopes *s, const struct libdw *f, const struct unit *in,
    const Dwarf_Die *function)
{
	size_t lo = 0, hi = s->nunits, mid;

	if (function->unit == in->die.unit)
		return in;
	TEL__BISECT(lo, hi, mid, s->units[mid].at <= function->address);
	if (lo == 0 || s->units[lo - 1].die.unit != function->unit)
		return in;
	index_unit(&s->units[lo - 1], f, lo - 1);
	return &s->units[lo - 1];
}

/* Finds the function or block in another that an address is in.  1, or 0. */
static int
find_inner(const struct libdw *f, Dwarf_Die *die, uint64_t pc)
{
	Dwarf_Die inner;

	if (f->dwarf_child(die, &inner) != 0)
		return 0;
	do {
		int tag = f->dwarf_tag(&inner);

		if ((tag == DW_TAG_inlined_subroutine ||
		        tag == DW_TAG_lexical_block) &&
		    f->dwarf_haspc(&inner, pc) > 0) {
			*die = inner;
			return 1;
		}
	} while (f->dwarf_siblingof(&inner, &inner) == 0);
	return 0;
}

void
scopes_find(struct scopes *s, const struct libdw *f, Dwfl_Module *module,
    uint64_t address, struct scope *scope)
{
	if (!s->indexed) {
		index_units(s, f, module);
		spans_sort(&s->spans);
	}
	s->indexed = 1;
	scope->pc = address - s->bias;
	scope->count = 0;
	const struct span *span = spans_find(&s->spans, scope->pc);
	struct unit *unit = span == NULL ? NULL : &s->units[span->unit];
	if (unit != NULL)
		index_unit(unit, f, span->unit);
	scope->in = unit;
	scope->unit = unit == NULL ? NULL : &unit->die;
	struct span *function =
	    unit == NULL ? NULL : spans_find(&unit->functions, scope->pc);
	if (function == NULL)
		return;
	Dwarf_Die die = function->die;
	do {
		if (f->dwarf_tag(&die) != DW_TAG_lexical_block)
			scope->functions[scope->count++] = die;
	} while (scope->count < SCOPES_MAX && find_inner(f, &die, scope->pc));
}

void
scopes_clear(struct scopes *s)
{
	for (size_t i = 0; i < s->nunits; i++) {
		free(s->units[i].functions.list);
		free(s->units[i].holders);
	}
	free(s->units);
	free(s->spans.list);
}
