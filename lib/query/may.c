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

/* The most values on the stack; of deeper programs all events may match. */
#define DEPTH_MOST 16u

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
	unsigned i;

	for (i = 1; i < 64; i *= 2)
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

/* The values of an op and those before it. */
struct values {
	const struct tel_type *type;
	const struct tel_bounds *bounds;
	struct range stack[DEPTH_MOST];
	unsigned depth;
};

static int
truth_ways(unsigned truth, int want)
{
	const unsigned hit = want ? MAY_BE_TRUE : MAY_BE_FALSE;

	return (truth & hit ? WAY_YES : 0) | (truth & ~hit ? WAY_NO : 0);
}

/* Which ways a test of values can go, which takes them from the stack. */
static int
value_ways(struct values *v, const struct op *op)
{
	const enum value_op how = (enum value_op)op->sub;
	const struct range *top = &v->stack[--v->depth];
	struct range k;
	unsigned truth;

	if (op->code == OP_TEST) {
		truth = tel__range_truth(top);
	} else if (op->code == OP_TEST_COMPARE_K) {
		k = tel__range_value(&op->u.value);
		truth = tel__range_compare(how, top, &k);
	} else {
		truth = tel__range_compare(how, &v->stack[--v->depth], top);
	}
	return truth_ways(truth, op->want);
}

/* Nanoseconds since the first event, with 2^63 added to be in order. */
static int
time_ways(const struct span_test *t, const struct tel_bounds *bounds)
{
	const uint64_t bias = (uint64_t)1 << 63;
	struct tel_bound ns = { 1, bias, bias };

	if (bounds->clock == NULL)
		return WAY_BOTH;
	ns.low += (uint64_t)tel__clock_ns(bounds->clock, bounds->first);
	ns.high += (uint64_t)tel__clock_ns(bounds->clock, bounds->last);
	return span_ways(t, &ns);
}

/* Which ways an op can go that is a test; 0: it is none. */
static int
op_ways(struct values *v, const struct op *op)
{
	const struct tel_bounds *bounds = v->bounds;
	const struct tel_bound clock = { 1, bounds->first, bounds->last };
	size_t field;

	switch ((enum op_code)op->code) {
	case OP_SPAN_LE64:
	case OP_SPAN_LE32:
	case OP_SPAN_FIELD:
		return span_ways(&op->u.span, &bounds->fields[op->field]);
	case OP_SPAN_CLOCK: return span_ways(&op->u.span, &clock);
	case OP_SPAN_INDEX: return span_ways(&op->u.span, &bounds->index);
	case OP_SPAN_NS: return time_ways(&op->u.span, bounds);
	case OP_SET_FIELD:
		field = (size_t)(op->u.set_test.field - v->type->fields);
		return set_ways(op->u.set_test.set, &bounds->fields[field]);
	case OP_SPAN_TICKS:
	case OP_SPAN_SIZE:
	case OP_TYPE:
	case OP_LABEL_GLOB:
	case OP_LABELS: return WAY_BOTH;
	case OP_TEST:
	case OP_TEST_COMPARE:
	case OP_TEST_COMPARE_K: return value_ways(v, op);
	default: return 0;
	}
}

static struct range
builtin_range(const struct tel_bounds *bounds, enum builtin b)
{
	struct range r = range_any();

	if (b == B_CLOCK)
		return range_naturals(bounds->first, bounds->last);
	if (b == B_INDEX && bounds->index.known)
		return range_naturals(bounds->index.low, bounds->index.high);
	if (b != B_TIME || bounds->clock == NULL)
		return r;
	r.known = 1;
	r.missing = 0;
	r.lo =
	    value_signed((uint64_t)tel__clock_ns(bounds->clock, bounds->first));
	r.hi =
	    value_signed((uint64_t)tel__clock_ns(bounds->clock, bounds->last));
	return r;
}

/* The value of an op that takes none from the stack. */
static struct range
leaf_range(const struct values *v, const struct op *op)
{
	switch ((enum op_code)op->code) {
	case OP_CONST: return tel__range_value(&op->u.value);
	case OP_NATURAL_FIELD:
	case OP_SIGNED_FIELD:
	case OP_DOUBLE_FIELD:
		return tel__range_field(op->u.field,
		    &v->bounds->fields[op->field]);
	case OP_BUILTIN: return builtin_range(v->bounds, (enum builtin)op->sub);
	default: return range_any();
	}
}

/* Whether a value may be in a set of natural numbers. */
static struct range
set_range(const struct set *set, const struct range *v)
{
	struct tel_bound b = { 0, 0, 0 };
	int way;

	if (!v->known || v->lo.tag != V_NATURAL || v->hi.tag != V_NATURAL)
		return range_any();
	b.known = 1;
	b.low = v->lo.as.u;
	b.high = v->hi.as.u;
	way = set_ways(set, &b);
	return tel__range_verdict((way & WAY_YES ? MAY_BE_TRUE : 0) |
	    (way & WAY_NO ? MAY_BE_FALSE : 0) |
	    (v->missing ? MAY_BE_MISSING : 0));
}

/* The value of one that takes a and b, or b alone. */
static struct range
operator_range(const struct op *op, const struct range *a,
    const struct range *b)
{
	const enum value_op how = (enum value_op)op->sub;
	struct range k;

	switch ((enum op_code)op->code) {
	case OP_ARITHMETIC: return tel__range_arithmetic(how, a, b);
	case OP_ARITHMETIC_K:
		k = tel__range_value(&op->u.value);
		return tel__range_arithmetic(how, b, &k);
	case OP_COMPARE:
		return tel__range_verdict(tel__range_compare(how, a, b));
	case OP_COMPARE_K:
		k = tel__range_value(&op->u.value);
		return tel__range_verdict(tel__range_compare(how, b, &k));
	case OP_NOT:
		return tel__range_verdict(tel__range_not(tel__range_truth(b)));
	case OP_AND:
		return tel__range_verdict(
		    tel__range_and(tel__range_truth(a), tel__range_truth(b)));
	case OP_OR:
		return tel__range_verdict(
		    tel__range_or(tel__range_truth(a), tel__range_truth(b)));
	case OP_IN_END: return *b;
	case OP_IN_SET: return set_range(op->u.set, b);
	default: return range_any();
	}
}

/*
 * The verdict on an item of a list, or on a range of it, joined to that on
 * those before it; end: behind the value, the verdict, and the item.
 */
static struct range
list_range(const struct op *op, const struct range *end)
{
	const int is_range = op->code == OP_IN_RANGE;
	const struct range *lo = end - 1 - is_range, *hi = end - 1;
	const struct range *verdict = lo - 1, *v = lo - 2;
	unsigned one = tel__range_compare(is_range ? OPR_GE : OPR_EQ, v, lo);

	if (is_range)
		one = tel__range_and(one, tel__range_compare(OPR_LE, v, hi));
	return tel__range_verdict(
	    tel__range_or(tel__range_truth(verdict), one));
}

/* How many values an op takes from the stack. */
static unsigned
values_taken(const struct op *op)
{
	switch ((enum op_code)op->code) {
	case OP_HAS:
	case OP_NOT:
	case OP_UNARY:
	case OP_ARITHMETIC_K:
	case OP_COMPARE_K:
	case OP_MATCH:
	case OP_IN_SET: return 1;
	case OP_AND:
	case OP_OR:
	case OP_ARITHMETIC:
	case OP_COMPARE:
	case OP_IN_END: return 2;
	/* a list leaves the value, and its verdict */
	case OP_IN_ITEM: return 2;
	case OP_IN_RANGE: return 3;
	default: return 0;
	}
}

/* Runs any op but a test; 0: too many values. */
static int
move_ranges(struct values *v, const struct op *op)
{
	const unsigned taken = values_taken(op);
	struct range *end = &v->stack[v->depth], result;

	if (taken == 0 && v->depth == DEPTH_MOST)
		return 0;
	if (taken == 0)
		result = leaf_range(v, op);
	else if (op->code == OP_IN_ITEM || op->code == OP_IN_RANGE)
		result = list_range(op, end);
	else
		result =
		    operator_range(op, taken > 1 ? end - 2 : end - 1, end - 1);
	v->depth -= taken;
	v->stack[v->depth++] = result;
	return 1;
}

int
tel__program_may(const struct program *p, const struct tel_type *type,
    const struct tel_bounds *bounds)
{
	struct values v = { .type = type, .bounds = bounds };
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
		way = op_ways(&v, &p->ops[i]);
		to[0] = p->ops[i].no;
		to[1] = p->ops[i].yes;
		if (way == 0) {
			found = !move_ranges(&v, &p->ops[i]);
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
