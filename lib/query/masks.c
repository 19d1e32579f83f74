/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a program over all events of a run that are of its type, op by op: the
 * dispatch of an op is paid once for all of them, and its loop has no branches.
 * Which events reach an op is a mask; a test divides it between the two ops
 * that it may go on at.  An op is computed for all events, also for those that
 * do not reach it, as to choose them takes longer.
 *
 * Values are vectors of one class.  An event of which one has no place in it is
 * run by itself, so that both ways come to the same.  What is dear, such as
 * finding labels, is done for the events that reach it.
 */
#include "query/masks.h"

#include <stdlib.h>
#include <string.h>

#include "model/clock.h"
#include "model/event.h"
#include "model/labels.h"
#include "query/vectors.h"

/* Programs that are longer, or go deeper, are run event by event. */
#define OPS_MOST 32u
#define DEPTH_MOST 6u
/* Fewer events are not worth it, nor are more programs for a run. */
#define EVENTS_LEAST 4u
#define LISTS_MOST 16u

/* An event of a run is a byte. */
_Static_assert(TEL_RUN_MOST <= 256, "more than a byte counts");
#define WORDS (TEL_RUN_MOST / sizeof(uint64_t))
#define BIAS ((uint64_t)1 << 63)

/* A byte for each event, 1 or 0. */
struct mask {
	uint64_t words[WORDS];
};

struct masks {
	unsigned char matches[TEL_RUN_MOST]; /* of the run */
	/* the events of a program: their numbers in the run */
	const unsigned char *events;
	size_t count;
	size_t words; /* of a mask, that they take */
	struct tel_run *run;
	const struct tel_type *type;
	struct list {
		struct program *program;
		size_t count;
		unsigned char events[TEL_RUN_MOST];
	} lists[LISTS_MOST];
	unsigned nlists;
	struct machine *machine;
	uint64_t plain[TEL_RUN_MOST]; /* values of a test without a stack */
	struct vector stack[DEPTH_MOST];
	unsigned depth;
	struct vector constant;
	struct verdicts verdicts, others;
	struct lanes lanes;
	struct mask reached[OPS_MOST];
	struct mask accepted;
	struct mask unsure; /* a value has no place in its class, */
	struct mask doubts; /* in the op that is run */
	struct memo memo;
};

struct masks *
tel__masks_new(void)
{
	return calloc(1, sizeof(struct masks));
}

void
tel__masks_free(struct masks *c)
{
	free(c);
}

/* ------------------------------------------------- what can be vectors */

/* How an op changes the depth of the stack; 1 with *change set, or 0. */
static int
find_change(const struct op *op, int *change)
{
	*change = 0;
	switch ((enum op_code)op->code) {
	case OP_SPAN_LE64:
	case OP_SPAN_LE32:
	case OP_SPAN_FIELD:
	case OP_SPAN_CLOCK:
	case OP_SPAN_TICKS:
	case OP_SPAN_NS:
	case OP_SPAN_INDEX:
	case OP_SPAN_SIZE:
	case OP_SET_FIELD:
	case OP_LABEL_GLOB:
	case OP_LABELS:
	case OP_HAS:
	case OP_NOT:
	case OP_UNARY:
	case OP_ARITHMETIC_K:
	case OP_COMPARE_K:
	case OP_MATCH:
	case OP_IN_SET: return 1;
	case OP_CONST:
	case OP_NATURAL_FIELD:
	case OP_SIGNED_FIELD:
	case OP_DOUBLE_FIELD:
	case OP_STRING_FIELD:
	case OP_CPI:
	case OP_LABEL_FIELD:
	case OP_BUILTIN:
	case OP_FIRST_LABEL:
	case OP_LABELS_VALUE: *change = 1; return 1;
	case OP_TEST:
	case OP_TEST_COMPARE_K:
	case OP_AND:
	case OP_OR:
	case OP_ARITHMETIC:
	case OP_COMPARE:
	case OP_IN_ITEM:
	case OP_IN_END: *change = -1; return 1;
	case OP_TEST_COMPARE:
	case OP_IN_RANGE: *change = -2; return 1;
	default: return 0;
	}
}

int
tel__masks_fit(const struct program *p)
{
	int depth = 0, change;
	uint32_t i;

	if (p->verdict != VERDICT_RUN || p->count > OPS_MOST)
		return 0;
	for (i = p->entry; i < p->count; i++) {
		if (!find_change(&p->ops[i], &change))
			return 0;
		depth += change;
		if (depth < 0 || depth > (int)DEPTH_MOST)
			return 0;
	}
	return depth == 0;
}

/* --------------------------------------------------------------- masks */

static int
is_empty(const struct masks *c, const struct mask *m)
{
	uint64_t any = 0;
	size_t i;

	for (i = 0; i < c->words; i++)
		any |= m->words[i];
	return any == 0;
}

/* Adds those of a mask. */
static void
add_mask(const struct masks *c, struct mask *to, const struct mask *m)
{
	size_t i;

	for (i = 0; i < c->words; i++)
		to->words[i] |= m->words[i];
}

/* Sends those that an op has divided on to where it goes. */
static void
send(struct masks *c, uint32_t to, const struct mask *m)
{
	if (to == GO_ACCEPT)
		add_mask(c, &c->accepted, m);
	else if (to != GO_REJECT)
		add_mask(c, &c->reached[to], m);
}

/* Divides those that reached a test by what it came to. */
static void
divide(struct masks *c, const struct op *op, const struct mask *reached,
    const struct mask *hit)
{
	struct mask yes, no;
	size_t i;

	for (i = 0; i < c->words; i++) {
		yes.words[i] = reached->words[i] & hit->words[i];
		no.words[i] = reached->words[i] & ~hit->words[i];
	}
	send(c, op->yes, &yes);
	send(c, op->no, &no);
}

/* -------------------------------------------------------------- columns */

static void
load_field(const struct masks *c, const struct tel_field *f, uint64_t *out)
{
	/* locals: what is stored could be all that pointers lead to */
	const unsigned char **const data = c->run->data;
	const unsigned char *const events = c->events;
	const size_t n = c->count;
	size_t i;

	if (f->load == TEL_LOAD_LE64)
		for (i = 0; i < n; i++)
			out[i] = tel_le64(data[events[i]] + f->offset);
	else
		for (i = 0; i < n; i++)
			out[i] = tel_load(f, data[events[i]]);
}

/* Clocks since one. */
static void
load_clocks(const struct masks *c, uint64_t since, uint64_t *out)
{
	size_t i;

	for (i = 0; i < c->count; i++)
		out[i] = c->run->clocks[c->events[i]] - since;
}

static void
load_indexes(const struct masks *c, uint64_t *out)
{
	size_t i;

	for (i = 0; i < c->count; i++)
		out[i] = c->run->index + c->run->numbers[c->events[i]];
}

/*
 * Nanoseconds since the first event, and which are missing.  Returns 0 if the
 * log has no rate, so all are.
 */
static int
load_times(const struct masks *c, uint64_t *out, unsigned char *missing)
{
	struct tel_clock *clock = c->run->event->log->clock;
	const int untimed = c->run->first->schema->untimed;
	struct tel__clock_part part;
	int parted = 0;
	uint64_t ticks;
	size_t i;

	if (clock == NULL || !(tel__clock_rate(clock) > 0)) {
		memset(missing, 1, c->count);
		memset(out, 0, c->count * sizeof(*out));
		return 0;
	}
	for (i = 0; i < c->count; i++) {
		ticks = c->run->clocks[c->events[i]];
		if (!parted || ticks < part.low || ticks > part.high)
			parted = tel__clock_part(clock, ticks, &part);
		out[i] = (uint64_t)(parted ? tel__clock_part_ns(&part, ticks) :
		                             tel__clock_ns(clock, ticks));
		missing[i] = untimed && ticks == 0;
	}
	return 1;
}

/* --------------------------------------------------------------- tests */

static void
test_spans(const struct span_test *t, const uint64_t *v, size_t n,
    unsigned char *hit)
{
	const uint64_t mask = t->mask, lo = t->lo, span = t->span;
	size_t i;

	for (i = 0; i < n; i++)
		hit[i] = (v[i] & mask) - lo <= span;
}

/* The same of a field, which is nearly always of one of two kinds. */
static void
test_field(struct masks *c, const struct op *op, unsigned char *hit)
{
	const uint64_t mask = op->u.span.mask, lo = op->u.span.lo;
	const uint64_t span = op->u.span.span;
	const unsigned char **const data = c->run->data;
	const unsigned char *const events = c->events;
	const size_t at = op->offset, n = c->count;
	size_t i;

	if (op->code == OP_SPAN_LE64) {
		for (i = 0; i < n; i++)
			hit[i] = (tel_le64(data[events[i]] + at) & mask) - lo <=
			    span;
	} else if (op->code == OP_SPAN_LE32) {
		for (i = 0; i < n; i++)
			hit[i] = (tel_le32(data[events[i]] + at) & mask) - lo <=
			    span;
	} else {
		load_field(c, &c->type->fields[op->field], c->plain);
		test_spans(&op->u.span, c->plain, c->count, hit);
	}
}

static void
test_set(const struct set *set, const uint64_t *v, size_t n, unsigned char *hit)
{
	size_t i;

	for (i = 0; i < n; i++)
		hit[i] = set_has(set, v[i]) != 0;
}

/* The same of what an event has beside its fields. */
static void
test_place(struct masks *c, const struct op *op, unsigned char *hit)
{
	const struct tel_clock *clock = c->run->event->log->clock;
	unsigned char *missing = c->others.missing;
	uint64_t *v = c->plain;
	size_t i;

	if (op->code == OP_SPAN_TICKS && clock == NULL) {
		memset(hit, 0, c->count);
		return;
	}
	if (op->code == OP_SPAN_INDEX)
		load_indexes(c, v);
	else if (op->code == OP_SPAN_NS)
		(void)load_times(c, v, missing);
	else
		load_clocks(c,
		    op->code == OP_SPAN_TICKS ?
		        tel__clock_origin(clock) - BIAS :
		        0,
		    v);
	for (i = 0; op->code == OP_SPAN_NS && i < c->count; i++)
		v[i] += BIAS;
	test_spans(&op->u.span, v, c->count, hit);
	for (i = 0; op->code == OP_SPAN_NS && i < c->count; i++)
		hit[i] &= !missing[i];
}

/* ---------------------------------------------------------------- labels */

/* Whether labels of a run are those of its log, and no event has its own. */
static int
has_common_labels(const struct masks *c)
{
	const struct tel_event *ev = c->run->event;

	return ev->inline_use == TEL_INLINE_NONE && ev->inline_size == 0 &&
	    ev->log->labels != NULL;
}

/* The label of a value that a field of event i has.  1, or 0. */
static int
find_label(const struct masks *c, const struct tel_field *f, size_t i,
    uint64_t value, struct tel_label *out)
{
	return tel__labels_find(c->run->event->log->labels,
	           tel_field_space(c->type->schema, f), value,
	           c->run->clocks[c->events[i]], out) &&
	    out->string != NULL;
}

/*
 * A test of the labels of all fields: true with the first one that fits, false
 * if there are others only, and unknown without any.
 */
static void
test_labels(struct masks *c, const struct op *op, const unsigned char *reached,
    unsigned char *hit)
{
	const struct tel_labels *labels = c->run->event->log->labels;
	const int glob = op->code == OP_LABEL_GLOB;
	unsigned char *any = c->others.hit;
	const struct tel_field *f;
	struct tel_label label;
	unsigned k;
	size_t i;

	memset(hit, 0, c->count);
	memset(any, 0, c->count);
	for (k = 0; k < c->type->nfields && tel__labels_count(labels) > 0;
	     k++) {
		f = &c->type->fields[k];
		if (!tel_field_labelled(f))
			continue;
		load_field(c, f, c->plain);
		for (i = 0; i < c->count; i++) {
			if (!reached[i] || hit[i] ||
			    !find_label(c, f, i, c->plain[i], &label))
				continue;
			any[i] = 1;
			hit[i] = (unsigned char)tel__program_fits(op,
			    c->machine, label.string, label.length);
		}
	}
	for (i = 0; !glob && i < c->count; i++)
		hit[i] = any[i] &
		    ((hit[i] != tel__program_negates(op->u.node)) == op->want);
}

/* The labels of a field. */
static void
load_labels(struct masks *c, unsigned field, const unsigned char *reached,
    struct vector *to)
{
	const struct tel_field *f = &c->type->fields[field];
	struct tel_label label;
	size_t i;

	load_field(c, f, to->v);
	to->holes = 1;
	for (i = 0; i < c->count; i++) {
		to->missing[i] =
		    !reached[i] || !find_label(c, f, i, to->v[i], &label);
		to->s[i] = to->missing[i] ? "" : label.string;
		to->v[i] = to->missing[i] ? 0 : label.length;
	}
}

/* A test of each event that has reached it. */
static void
test_each(struct masks *c, const struct op *op, const unsigned char *reached,
    unsigned char *hit)
{
	size_t i;

	if (op->code != OP_SPAN_SIZE && has_common_labels(c)) {
		test_labels(c, op, reached, hit);
		return;
	}
	memset(hit, 0, c->count);
	for (i = 0; i < c->count; i++)
		if (reached[i])
			hit[i] = tel__program_test(op, c->machine,
			             run_event(c->run, c->events[i])) != 0;
}

/* Whether the values on top of the stack are what a test wants. */
static void
test_value(struct masks *c, const struct op *op, unsigned char *hit)
{
	struct vector *top = &c->stack[--c->depth];
	struct verdicts *got = &c->verdicts;
	size_t i;

	if (op->code == OP_TEST) {
		tel__vector_truth(top, c->count);
		for (i = 0; i < c->count; i++)
			hit[i] = top->v[i] == op->want;
		for (i = 0; top->holes && i < c->count; i++)
			hit[i] &= !top->missing[i];
		return;
	}
	if (op->code == OP_TEST_COMPARE_K && top->class == VECTOR_NATURAL &&
	    top->step == 1 && !top->holes && op->u.value.tag == V_NATURAL) {
		tel__vector_compare_naturals((enum value_op)op->sub, top->v,
		    &op->u.value.as.u, 0, c->count, hit);
		for (i = 0; !op->want && i < c->count; i++)
			hit[i] = !hit[i];
		return;
	}
	if (op->code == OP_TEST_COMPARE_K) {
		tel__vector_constant(&c->constant, &op->u.value, c->count);
		tel__vector_compare(&c->lanes, (enum value_op)op->sub, op->flag,
		    top, &c->constant, got);
	} else {
		tel__vector_compare(&c->lanes, (enum value_op)op->sub, op->flag,
		    &c->stack[--c->depth], top, got);
	}
	for (i = 0; i < c->count; i++)
		hit[i] = got->hit[i] == op->want;
	for (i = 0; got->holes && i < c->count; i++)
		hit[i] &= !got->missing[i];
}

/* Runs a test; 0 when the op is none. */
static int
run_test(struct masks *c, const struct op *op, const unsigned char *reached,
    unsigned char *hit)
{
	switch ((enum op_code)op->code) {
	case OP_SPAN_LE64:
	case OP_SPAN_LE32:
	case OP_SPAN_FIELD: test_field(c, op, hit); return 1;
	case OP_SPAN_CLOCK:
	case OP_SPAN_TICKS:
	case OP_SPAN_NS:
	case OP_SPAN_INDEX: test_place(c, op, hit); return 1;
	case OP_SET_FIELD:
		load_field(c, op->u.set_test.field, c->plain);
		test_set(op->u.set_test.set, c->plain, c->count, hit);
		return 1;
	case OP_SPAN_SIZE:
	case OP_LABEL_GLOB:
	case OP_LABELS: test_each(c, op, reached, hit); return 1;
	case OP_TEST:
	case OP_TEST_COMPARE:
	case OP_TEST_COMPARE_K: test_value(c, op, hit); return 1;
	default: return 0;
	}
}

/* -------------------------------------------------------------- values */

/* The class of what an op puts on the stack. */
static enum vector_class
leaf_class(const struct op *op)
{
	switch ((enum op_code)op->code) {
	case OP_STRING_FIELD:
	case OP_LABEL_FIELD:
	case OP_FIRST_LABEL: return VECTOR_STRING;
	case OP_SIGNED_FIELD: return VECTOR_SIGNED;
	case OP_DOUBLE_FIELD:
	case OP_CPI: return VECTOR_DOUBLE;
	case OP_BUILTIN:
		if (op->sub == B_KIND || op->sub == B_NAME)
			return VECTOR_STRING;
		return op->sub == B_TIME ? VECTOR_SIGNED : VECTOR_NATURAL;
	default: return VECTOR_NATURAL;
	}
}

/* A value of each event that needs it. */
static void
run_each(struct masks *c, const struct op *op, const unsigned char *reached,
    struct vector *to)
{
	static const struct value none = { V_STRING, { 0 }, 0 };
	struct value v;
	size_t i;

	for (i = 0; i < c->count; i++) {
		v = none;
		if (reached[i])
			tel__program_leaf(op, c->machine,
			    run_event(c->run, c->events[i]), &v);
		tel__vector_put(to, i, &v);
	}
}

/* Copies the sign of numbers of a width to all bits above it. */
static void
extend(uint64_t *v, unsigned width, size_t n)
{
	const uint64_t sign = (uint64_t)1 << (width - 1);
	size_t i;

	for (i = 0; width < 64 && i < n; i++)
		v[i] = ((v[i] & (sign | (sign - 1))) ^ sign) - sign;
}

static void
run_leaf(struct masks *c, const struct op *op, const unsigned char *reached)
{
	struct vector *to = &c->stack[c->depth++];

	if (op->code == OP_CONST) {
		tel__vector_constant(to, &op->u.value, c->count);
		return;
	}
	to->class = (uint8_t)leaf_class(op);
	to->step = 1;
	to->holes = 0;
	if (op->code == OP_NATURAL_FIELD || op->code == OP_DOUBLE_FIELD) {
		load_field(c, op->u.field, to->v);
	} else if (op->code == OP_SIGNED_FIELD) {
		load_field(c, op->u.field, to->v);
		extend(to->v, op->u.field->width, c->count);
	} else if (op->code == OP_BUILTIN && op->sub == B_TIME) {
		(void)load_times(c, to->v, to->missing);
		to->holes = 1;
	} else if (op->code == OP_BUILTIN && op->sub == B_CLOCK) {
		load_clocks(c, 0, to->v);
	} else if (op->code == OP_BUILTIN && op->sub == B_INDEX) {
		load_indexes(c, to->v);
	} else if (op->code == OP_LABEL_FIELD && has_common_labels(c) &&
	    tel_field_labelled(&c->type->fields[op->field])) {
		load_labels(c, op->field, reached, to);
	} else {
		run_each(c, op, reached, to);
	}
}

/* Strings with a pattern; those of labels repeat. */
static void
match(struct masks *c, const struct op *op, const unsigned char *reached,
    struct vector *a)
{
	const struct op *leaf = op - 1;
	const int label =
	    leaf->code == OP_LABEL_FIELD || leaf->code == OP_FIRST_LABEL;
	struct value v;
	size_t i;

	if (a->class != VECTOR_STRING) {
		tel__vector_constant(a, &(struct value){ V_MISSING, { 0 }, 0 },
		    c->count);
		return;
	}
	tel__vector_spread(a, c->count);
	for (i = 0; i < c->count; i++) {
		if (!reached[i] || (a->holes && a->missing[i])) {
			a->v[i] = 0;
			continue;
		}
		v = value_string(a->s[i], (size_t)a->v[i]);
		v = tel__program_like(c->machine, op->u.node, &v, label);
		a->v[i] = v.as.u;
		if (v.tag == V_MISSING && !a->holes) {
			a->holes = 1;
			memset(a->missing, 0, c->count);
		}
		if (a->holes)
			a->missing[i] = v.tag == V_MISSING;
	}
	a->class = VECTOR_NATURAL;
}

/* Whether numbers are in a set; of those below 0 none is. */
static void
find_in_set(struct masks *c, const struct op *op, struct vector *a)
{
	unsigned char *hit = c->verdicts.hit;
	size_t i;

	tel__vector_spread(a, c->count);
	test_set(op->u.set, a->v, c->count, hit);
	for (i = 0; i < c->count; i++) {
		if (a->class == VECTOR_SIGNED)
			hit[i] &= a->v[i] < BIAS;
		a->v[i] = hit[i];
	}
	a->class = VECTOR_NATURAL;
}

/* The verdict on an item of a list, or on a range of it, put to the others. */
static void
find_in_list(struct masks *c, const struct op *op)
{
	const int is_range = op->code == OP_IN_RANGE;
	struct vector *lo = &c->stack[c->depth - 1 - (unsigned)is_range];

	tel__vector_compare(&c->lanes, is_range ? OPR_GE : OPR_EQ, op->flag,
	    lo - 2, lo, &c->verdicts);
	if (is_range) {
		tel__vector_compare(&c->lanes, OPR_LE, op->flag, lo - 2, lo + 1,
		    &c->others);
		tel__verdicts_and(&c->verdicts, &c->others, c->count);
	}
	tel__vector_or(lo - 1, &c->verdicts, c->count);
	c->depth -= 1u + (unsigned)is_range;
}

/* What is missing becomes 0, and all else 1. */
static void
find_any(struct vector *a, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		a->v[i] = a->holes ? !a->missing[i] : 1;
	a->class = VECTOR_NATURAL;
	a->step = 1;
	a->holes = 0;
}

/* Runs an op that takes one value from the stack and leaves one. */
static void
run_unary(struct masks *c, const struct op *op, const unsigned char *reached)
{
	struct vector *a = &c->stack[c->depth - 1];
	size_t i;

	switch ((enum op_code)op->code) {
	case OP_ARITHMETIC_K:
		tel__vector_constant(&c->constant, &op->u.value, c->count);
		tel__vector_arithmetic(&c->lanes, (enum value_op)op->sub, a,
		    &c->constant);
		break;
	case OP_COMPARE_K:
		tel__vector_constant(&c->constant, &op->u.value, c->count);
		tel__vector_compare(&c->lanes, (enum value_op)op->sub, op->flag,
		    a, &c->constant, &c->verdicts);
		tel__vector_verdicts(a, &c->verdicts, c->count);
		break;
	case OP_MATCH: match(c, op, reached, a); break;
	case OP_IN_SET: find_in_set(c, op, a); break;
	case OP_HAS: find_any(a, c->count); break;
	case OP_UNARY:
		tel__vector_unary(&c->lanes, (enum value_op)op->sub, a);
		break;
	default:
		tel__vector_truth(a, c->count);
		for (i = 0; i < c->count; i++)
			a->v[i] = !a->v[i];
		break;
	}
}

/* Runs an op that takes several. */
static void
run_operator(struct masks *c, const struct op *op, const unsigned char *reached)
{
	const enum value_op how = (enum value_op)op->sub;
	struct vector *b = &c->stack[c->depth - 1], *a = b - 1;

	switch ((enum op_code)op->code) {
	case OP_ARITHMETIC: tel__vector_arithmetic(&c->lanes, how, a, b); break;
	case OP_COMPARE:
		tel__vector_compare(&c->lanes, how, op->flag, a, b,
		    &c->verdicts);
		tel__vector_verdicts(a, &c->verdicts, c->count);
		break;
	case OP_AND:
	case OP_OR: tel__vector_join(a, b, op->code == OP_AND, c->count); break;
	case OP_IN_END: *a = *b; break;
	case OP_IN_ITEM:
	case OP_IN_RANGE: find_in_list(c, op); return;
	default: run_unary(c, op, reached); return;
	}
	c->depth--;
}

/* Runs any op but a test. */
static void
run_value(struct masks *c, const struct op *op, const unsigned char *reached)
{
	switch ((enum op_code)op->code) {
	case OP_CONST:
	case OP_NATURAL_FIELD:
	case OP_SIGNED_FIELD:
	case OP_DOUBLE_FIELD:
	case OP_STRING_FIELD:
	case OP_CPI:
	case OP_LABEL_FIELD:
	case OP_BUILTIN:
	case OP_FIRST_LABEL:
	case OP_LABELS_VALUE: run_leaf(c, op, reached); break;
	default: run_operator(c, op, reached); break;
	}
}

/* --------------------------------------------------------------- events */

/* Which events an op could not tell of. */
static void
note_doubts(struct masks *c, const struct mask *reached)
{
	size_t i;

	for (i = 0; i < c->words; i++) {
		c->unsure.words[i] |= c->doubts.words[i] & reached->words[i];
		c->doubts.words[i] = 0;
	}
	c->lanes.any = 0;
}

/* Runs a program on the events that were gathered. */
static void
run_program(struct masks *c, const struct program *p)
{
	const unsigned char *reached;
	struct mask hit;
	const struct op *op;
	uint32_t i;

	for (i = p->entry; i < p->count; i++)
		memset(c->reached[i].words, 0, c->words * sizeof(uint64_t));
	memset(c->accepted.words, 0, c->words * sizeof(uint64_t));
	memset(c->unsure.words, 0, c->words * sizeof(uint64_t));
	memset(c->reached[p->entry].words, 1, c->count);
	c->depth = 0;
	c->lanes.n = c->count;
	c->lanes.any = 0;
	c->lanes.unsure = (unsigned char *)c->doubts.words;
	for (i = p->entry; i < p->count; i++) {
		if (is_empty(c, &c->reached[i]))
			continue;
		op = &p->ops[i];
		reached = (const unsigned char *)c->reached[i].words;
		if (run_test(c, op, reached, (unsigned char *)hit.words)) {
			divide(c, op, &c->reached[i], &hit);
		} else {
			run_value(c, op, reached);
			send(c, i + 1, &c->reached[i]);
		}
		if (c->lanes.any)
			note_doubts(c, &c->reached[i]);
	}
}

/* Runs a program on the events of a list one by one; only: those of a mask. */
static void
match_each(struct masks *c, const struct program *p, const unsigned char *only,
    struct machine *m, struct tel_run *run)
{
	size_t i;
	unsigned n;

	for (i = 0; i < c->count; i++) {
		n = c->events[i];
		if (only == NULL || only[i])
			c->matches[n] = (unsigned char)tel__program_match(p, m,
			    run_event(run, n));
	}
}

/* Sets which events of a list match. */
static void
match_list(struct masks *c, const struct list *list, struct machine *m,
    struct tel_run *run)
{
	const struct program *p = list->program;
	const unsigned char *accepted;
	size_t i;

	c->machine = m;
	c->run = run;
	c->events = list->events;
	c->count = list->count;
	c->words = (c->count + sizeof(uint64_t) - 1) / sizeof(uint64_t);
	c->type = run_type(run, list->events[0]);
	if (c->count < EVENTS_LEAST) {
		match_each(c, p, NULL, m, run);
		return;
	}
	run_program(c, p);
	accepted = (const unsigned char *)c->accepted.words;
	for (i = 0; i < list->count; i++)
		c->matches[list->events[i]] = accepted[i];
	if (!is_empty(c, &c->unsure))
		match_each(c, p, (const unsigned char *)c->unsure.words, m,
		    run);
}

/* Starts the list of a program; NULL: its events are run one by one. */
static struct list *
begin_list(struct masks *c, struct program *p)
{
	struct list *list = &c->lists[c->nlists];

	if (!p->masks || c->nlists == LISTS_MOST)
		return NULL;
	p->list = (uint8_t)++c->nlists;
	list->program = p;
	list->count = 0;
	return list;
}

/* Puts each event of a run on the list of its program, or decides it. */
static void
sort_events(struct masks *c, struct program *programs, uint32_t last,
    struct machine *m, struct tel_run *run)
{
	const uint32_t *const types = run->types;
	const size_t count = run->count;
	struct program *p;
	struct list *list;
	size_t i;

	for (i = 0; i < count; i++) {
		p = &programs[types[i] < last ? types[i] : last];
		if (p->verdict == VERDICT_NEVER)
			continue;
		if (p->verdict == VERDICT_ALWAYS) {
			c->matches[i] = 1;
			continue;
		}
		list = p->list != 0 ? &c->lists[p->list - 1] : begin_list(c, p);
		if (list != NULL)
			list->events[list->count++] = (unsigned char)i;
		else
			c->matches[i] = (unsigned char)tel__program_match(p, m,
			    run_event(run, i));
	}
}

/* Whether none of the next 8 events matches: of many expressions few do. */
static int
is_zero(const unsigned char *matches)
{
	uint64_t word;

	memcpy(&word, matches, sizeof(word));
	return word == 0;
}

/* Leaves the events of a run that match. */
static void
leave_matches(const struct masks *c, struct tel_run *run)
{
	const size_t count = run->count;
	size_t i = 0, n = 0;

	while (i < count) {
		if (i % sizeof(uint64_t) == 0 && is_zero(c->matches + i)) {
			i += sizeof(uint64_t);
			continue;
		}
		if (c->matches[i]) {
			if (n != i)
				run_move(run, n, i);
			n++;
		}
		i++;
	}
	run->count = n;
}

void
tel__masks_filter(struct masks *c, struct program *programs, uint32_t last,
    struct machine *m, struct tel_run *run)
{
	unsigned i;

	memset(c->matches, 0, sizeof(c->matches));
	c->nlists = 0;
	/* what changes the labels of a log is the first of its run */
	c->memo.round++;
	m->memo = &c->memo;
	sort_events(c, programs, last, m, run);
	for (i = 0; i < c->nlists; i++) {
		match_list(c, &c->lists[i], m, run);
		c->lists[i].program->list = 0;
	}
	m->memo = NULL;
	leave_matches(c, run);
}
