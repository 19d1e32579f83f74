/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether any event of many can match, of which only the ranges of their
 * values are known: a test whose outcome they do not decide goes both ways.
 */
#include <stdlib.h>

#include "query/bind.h"
#include "reader/reader.h"

/* Which ways a test can go. */
enum { WAY_NO = 1, WAY_YES = 2, WAY_BOTH = 3 };

/* A value from low to high, which is to be from lo to hi. */
static int
ways(uint64_t low, uint64_t high, uint64_t lo, uint64_t hi)
{
	if (low >= lo && high <= hi)
		return WAY_YES;
	return high < lo || low > hi ? WAY_NO : WAY_BOTH;
}

static int
span_ways(const struct span_test *t, const struct tel_bound *b)
{
	const uint64_t hi = t->lo + t->span;

	if (!b->known)
		return WAY_BOTH;
	if (b->low == b->high)
		return ways(b->low & t->mask, b->low & t->mask, t->lo, hi);
	return t->mask == UINT64_MAX ? ways(b->low, b->high, t->lo, hi) :
	                               WAY_BOTH;
}

static int
set_ways(const struct set *set, const struct tel_bound *b)
{
	int way, all = WAY_NO;
	size_t i;

	if (!b->known)
		return WAY_BOTH;
	for (i = 0; i < set->count; i++) {
		way = ways(b->low, b->high, set->spans[i].lo, set->spans[i].hi);
		if (way == WAY_YES)
			return WAY_YES;
		all |= way;
	}
	return all;
}

/* Which ways an op can go that is a test; 0: it is none. */
static int
op_ways(const struct op *op, const struct tel_type *type,
    const struct tel_bounds *bounds)
{
	const struct tel_bound clock = { 1, bounds->first, bounds->last };
	size_t field;

	switch ((enum op_code)op->code) {
	case OP_SPAN_LE64:
	case OP_SPAN_LE32:
	case OP_SPAN_FIELD:
		return span_ways(&op->u.span, &bounds->fields[op->field]);
	case OP_SPAN_CLOCK: return span_ways(&op->u.span, &clock);
	case OP_SET_FIELD:
		field = (size_t)(op->u.set_test.field - type->fields);
		return set_ways(op->u.set_test.set, &bounds->fields[field]);
	case OP_SPAN_TICKS:
	case OP_SPAN_NS:
	case OP_SPAN_INDEX:
	case OP_SPAN_SIZE:
	case OP_TYPE:
	case OP_LABEL_GLOB:
	case OP_LABELS:
	case OP_TEST:
	case OP_TEST_COMPARE:
	case OP_TEST_COMPARE_K: return WAY_BOTH;
	default: return 0;
	}
}

int
tel__program_may(const struct program *p, const struct tel_type *type,
    const struct tel_bounds *bounds)
{
	uint8_t *reached;
	uint32_t to[2], i;
	int way, k, found = 0;

	if (p->verdict != VERDICT_RUN)
		return p->verdict == VERDICT_ALWAYS;
	reached = calloc(p->count, 1);
	if (reached == NULL)
		return 1;
	reached[p->entry] = 1;
	/* an op goes on behind itself only */
	for (i = p->entry; i < p->count && !found; i++) {
		if (!reached[i])
			continue;
		way = op_ways(&p->ops[i], type, bounds);
		to[0] = p->ops[i].no;
		to[1] = p->ops[i].yes;
		if (way == 0) {
			way = WAY_NO;
			to[0] = i + 1;
		}
		for (k = 0; k < 2; k++) {
			if (!(way & 1 << k) || to[k] == GO_REJECT)
				continue;
			found |= to[k] == GO_ACCEPT || to[k] <= i ||
			    to[k] >= p->count;
			if (!found)
				reached[to[k]] = 1;
		}
	}
	free(reached);
	return found;
}

/* Whether events of a type may match; binding may fail: then all do. */
static int
may_match(void *arg, const struct tel_schema *schema,
    const struct tel_type *type, const struct tel_bounds *bounds)
{
	struct binder *b = arg;
	struct binding *const was = b->current;
	const struct program *p;
	unsigned i;
	int may = 1;

	if (was == NULL || was->schema != schema) {
		if (tel__binder_switch(b, schema) != TEL_OK) {
			b->current = NULL;
			return 1;
		}
	}
	p = type != NULL ? binding_program(b->current, type) :
	                   &b->current->programs[b->current->unknown];
	may = tel__program_may(p, type, bounds);
	for (i = 0; i < b->count && b->bindings[i] != was; i++)
		continue;
	b->current = i < b->count ? was : NULL;
	return may;
}

void
tel__binder_attach(struct binder *b, struct tel_reader *r)
{
	r->chooser.may = may_match;
	r->chooser.arg = b;
}
