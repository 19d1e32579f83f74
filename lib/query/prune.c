/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether any event of many can match, of which only the ranges of their
 * values are known: a test whose outcome they do not decide goes both ways.
 */
#include <stdlib.h>

#include "model/clock.h"
#include "query/bind.h"
#include "query/range.h"
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

/*
 * Whether a mask keeps the order of numbers up to a highest one: when it has
 * all of their bits from its lowest one on.
 */
static int
keeps_order(uint64_t mask, uint64_t high)
{
	uint64_t bits = high;

	for (unsigned i = 1; i < 64; i *= 2)
		bits |= bits >> i;
	return ((mask | (mask - 1)) & bits) == bits;
}

static int
span_ways(const struct span_test *t, const struct tel_bound *b)
{
	const uint64_t hi = t->lo + t->span;

	if (!b->known)
		return WAY_BOTH;
	if (b->low == b->high || keeps_order(t->mask, b->high))
		return ways(b->low & t->mask, b->high & t->mask, t->lo, hi);
	return WAY_BOTH;
}

static int
set_ways(const struct set *set, const struct tel_bound *b)
{
	int way, all = WAY_NO;

	if (!b->known)
		return WAY_BOTH;
	for (size_t i = 0; i < set->count; i++) {
		way = ways(b->low, b->high, set->spans[i].lo, set->spans[i].hi);
		if (way == WAY_YES)
			return WAY_YES;
		all |= way;
	}
	return all;
}

/* An op, the facts on the events, and where the op finds ranges of values. */
struct pruner {
	const struct op *op;
	const struct tel_type *type;
	const struct tel_bounds *bounds;
	struct range *v;
};

/* ---------------------------------------------------------------- tests */

static int
any_outcome(struct pruner *p)
{
	(void)p;
	return WAY_BOTH;
}

static const struct tel_bound *
field_bound(const struct pruner *p)
{
	return &p->bounds->fields[p->op->field - p->type->fields];
}

static int
span_field(struct pruner *p)
{
	return span_ways(&p->op->u.span, field_bound(p));
}

/* The ways of a test that is for false, which a missing value fails. */
static int
wanted_ways(const struct op *op, int ways)
{
	return op->want ? ways : (ways & WAY_NO) << 1 | (ways & WAY_YES) >> 1;
}

static int
prune_span_operator(struct pruner *p)
{
	const struct span_test *t = &p->op->u.span;
	const struct range k = range_naturals(t->mask, t->mask);
	const struct range f = tel__range_field(p->op->field, field_bound(p));
	const struct range r =
	    tel__range_arithmetic((enum value_op)p->op->sub, &f, &k);

	if (!r.known || r.missing || r.lo.tag != V_NATURAL ||
	    r.hi.tag != V_NATURAL)
		return WAY_BOTH;
	return wanted_ways(p->op,
	    ways(r.lo.as.u, r.hi.as.u, t->lo, t->lo + t->span));
}

static int
span_clock(struct pruner *p)
{
	const struct tel_bound clock = { 1, p->bounds->first, p->bounds->last };

	return span_ways(&p->op->u.span, &clock);
}

static int
span_index(struct pruner *p)
{
	return span_ways(&p->op->u.span, &p->bounds->index);
}

/* Nanoseconds since the first event, with 2^63 added to be in order. */
static int
span_ns(struct pruner *p)
{
	const uint64_t bias = (uint64_t)1 << 63;
	const struct tel_bounds *b = p->bounds;
	struct tel_bound ns = { 1, bias, bias };

	if (b->clock == NULL)
		return WAY_BOTH;
	ns.low += (uint64_t)tel__clock_ns(b->clock, b->first);
	ns.high += (uint64_t)tel__clock_ns(b->clock, b->last);
	return wanted_ways(p->op, span_ways(&p->op->u.span, &ns));
}

static int
set_field(struct pruner *p)
{
	return set_ways(p->op->u.set, field_bound(p));
}

static int
truth_ways(const struct op *op, unsigned truth)
{
	const unsigned hit = op->want ? MAY_BE_TRUE : MAY_BE_FALSE;

	return (truth & hit ? WAY_YES : 0) | (truth & ~hit ? WAY_NO : 0);
}

static int
test(struct pruner *p)
{
	return truth_ways(p->op, tel__range_truth(p->v));
}

/* The right side of an operator. */
static struct range
right_side(const struct pruner *p)
{
	return p->op->constant ? tel__range_value(&p->op->u.value) : p->v[1];
}

static unsigned
compare_truth(const struct pruner *p)
{
	const struct range b = right_side(p);

	return tel__range_compare((enum value_op)p->op->sub, p->v, &b);
}

static int
test_compare(struct pruner *p)
{
	return truth_ways(p->op, compare_truth(p));
}

/* --------------------------------------------------------------- values */

/* What an op leaves; it goes on. */
static int
prune_leave(struct pruner *p, struct range r)
{
	p->v[0] = r;
	return WAY_NO;
}

static int
leave_truth(struct pruner *p, unsigned truth)
{
	return prune_leave(p, tel__range_verdict(truth));
}

static int
any_value(struct pruner *p)
{
	return prune_leave(p, range_any());
}

static int
constant(struct pruner *p)
{
	return prune_leave(p, tel__range_value(&p->op->u.value));
}

static int
prune_field(struct pruner *p)
{
	return prune_leave(p, tel__range_field(p->op->field, field_bound(p)));
}

static int
builtin(struct pruner *p)
{
	const struct tel_bounds *b = p->bounds;
	const enum builtin what = (enum builtin)p->op->sub;

	if (what == B_CLOCK)
		return prune_leave(p, range_naturals(b->first, b->last));
	if (what == B_INDEX && b->index.known)
		return prune_leave(p,
		    range_naturals(b->index.low, b->index.high));
	if (what != B_TIME || b->clock == NULL)
		return any_value(p);
	return prune_leave(p,
	    (struct range){ 1, 0,
	        value_signed((uint64_t)tel__clock_ns(b->clock, b->first)),
	        value_signed((uint64_t)tel__clock_ns(b->clock, b->last)) });
}

static int
negation(struct pruner *p)
{
	return leave_truth(p, tel__range_not(tel__range_truth(p->v)));
}

static int and (struct pruner * p)
{
	return leave_truth(p,
	    tel__range_and(tel__range_truth(p->v), tel__range_truth(p->v + 1)));
}

static int or (struct pruner * p)
{
	return leave_truth(p,
	    tel__range_or(tel__range_truth(p->v), tel__range_truth(p->v + 1)));
}

static int
prune_arithmetic(struct pruner *p)
{
	const struct range b = right_side(p);

	return prune_leave(p,
	    tel__range_arithmetic((enum value_op)p->op->sub, p->v, &b));
}

static int
prune_compare(struct pruner *p)
{
	return leave_truth(p, compare_truth(p));
}

/* Whether a value may be in a set of natural numbers. */
static int
prune_in_set(struct pruner *p)
{
	const struct range *v = p->v;
	struct tel_bound b = { 1, v->lo.as.u, v->hi.as.u };

	if (!v->known || v->lo.tag != V_NATURAL || v->hi.tag != V_NATURAL)
		return any_value(p);
	int way = set_ways(p->op->u.set, &b);
	return leave_truth(p,
	    (way & WAY_YES ? MAY_BE_TRUE : 0) |
	        (way & WAY_NO ? MAY_BE_FALSE : 0) |
	        (v->missing ? MAY_BE_MISSING : 0));
}

/*
 * The verdict on an item of a list, or on a range of it, joined to that on
 * those before it, which is behind the value.
 */
static int
in_item(struct pruner *p)
{
	const int is_range = p->op->code == OP_IN_RANGE;
	struct range *v = p->v;
	unsigned one = tel__range_compare(is_range ? OPR_GE : OPR_EQ, v, v + 2);

	if (is_range)
		one = tel__range_and(one, tel__range_compare(OPR_LE, v, v + 3));
	v[1] = tel__range_verdict(tel__range_or(tel__range_truth(v + 1), one));
	return WAY_NO;
}

static int
in_end(struct pruner *p)
{
	return prune_leave(p, p->v[1]);
}

/* ------------------------------------------------------------- programs */

/* Which ways an op can go; after a value, both are the same. */
static int
op_outcomes(struct pruner *p)
{
	static int (*const functions[])(struct pruner *) = {
#define OP(code, name, operand, takes, leaves, ranges) ranges,
		TEL__TESTS(OP) TEL__LEAVES(OP) TEL__OPERATORS(OP)
#undef OP
	};

	return functions[p->op->code](p);
}

/*
 * Whether an event of a type, about which something is known, may match: 1 or
 * 0; 1 when out of memory, too.
 */
static int
program_could_match(const struct program *p, const struct tel_type *type,
    const struct tel_bounds *bounds)
{
	struct pruner pruner = { .type = type, .bounds = bounds };
	struct range *stack;
	int way, k, found = 0;

	if (p->entry >= GO_ACCEPT)
		return p->entry == GO_ACCEPT;
	uint8_t *reachable = calloc(p->count, 1);
	stack = calloc((size_t)p->stack + 1, sizeof(*stack));
	if (reachable == NULL || stack == NULL) {
		free(reachable);
		free(stack);
		return 1;
	}
	reachable[p->entry] = 1;
	/* an op goes on behind itself only */
	for (uint32_t i = p->entry; i < p->count && !found; i++) {
		if (!reachable[i])
			continue;
		pruner.op = &p->ops[i];
		pruner.v = stack + pruner.op->at;
		way = op_outcomes(&pruner);
		for (k = 0; k < 2; k++) {
			uint32_t to = k == 0 ? p->ops[i].no : p->ops[i].yes;

			if (!(way & 1 << k) || to == GO_REJECT)
				continue;
			found |= to == GO_ACCEPT;
			if (to < GO_ACCEPT)
				reachable[to] = 1;
		}
	}
	free(reachable);
	free(stack);
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
	int may;

	if ((was == NULL || was->schema != schema) &&
	    tel__binder_switch(b, schema) != TEL_OK)
		return 1;
	p = type != NULL ? binding_program(b->current, type) :
	                   &b->current->programs[b->current->unknown];
	may = program_could_match(p, type, bounds);
	for (i = 0; i < b->count && b->bindings[i] != was; i++)
		continue;
	b->current = i < b->count ? was : NULL;
	return may;
}

void
tel__binder_attach(struct binder *b, struct tel_reader *r)
{
	r->predicate_pushdown.may = may_match;
	r->predicate_pushdown.arg = b;
}
