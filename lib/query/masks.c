/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a program over all events of a run that are of its type, op by op: the
 * dispatch of an op is paid once for all of them, and its loop has no branches.
 * Which events reach an op is a mask; a test divides it between the two ops
 * that it may go on at.  An op is computed for all events, also for those that
 * do not reach it, as to choose them takes longer.
 *
 * Columns hold natural numbers.  An event of which a number is anything else
 * is run by itself, so that both ways come to the same.
 */
#include "query/masks.h"

#include <stdlib.h>
#include <string.h>

#include "model/clock.h"

/* Programs that are longer, or go deeper, are run event by event. */
#define OPS_MOST 32u
#define DEPTH_MOST 4u
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
	const struct tel_run *run;
	const struct tel_type *type;
	struct list {
		struct program *program;
		size_t count;
		unsigned char events[TEL_RUN_MOST];
	} lists[LISTS_MOST];
	unsigned nlists;
	/* the values of each op of the stack */
	uint64_t stack[DEPTH_MOST][TEL_RUN_MOST];
	unsigned depth;
	struct mask reached[OPS_MOST];
	struct mask accepted;
	struct mask unsure; /* a number was not natural */
};

struct masks *
tel__masks_new(void)
{
	return malloc(sizeof(struct masks));
}

void
tel__masks_free(struct masks *c)
{
	free(c);
}

/* ------------------------------------------------- what can be columns */

/* Whether a constant is natural. */
static int
is_natural(const struct op *op)
{
	return op->u.value.tag == V_NATURAL;
}

/* Whether arithmetic of two natural numbers is a simple loop. */
static int
is_simple(const struct op *op)
{
	switch ((enum value_op)op->sub) {
	case OPR_ADD:
	case OPR_SUB:
	case OPR_MUL:
	case OPR_AND:
	case OPR_OR: return 1;
	default: return 0;
	}
}

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
	case OP_SPAN_INDEX:
	case OP_SET_FIELD:
	case OP_IN_SET:
	case OP_NOT: return 1;
	case OP_TEST: *change = -1; return 1;
	case OP_TEST_COMPARE: *change = -2; return 1;
	case OP_TEST_COMPARE_K: *change = -1; return is_natural(op);
	case OP_CONST: *change = 1; return is_natural(op);
	case OP_NATURAL_FIELD: *change = 1; return 1;
	case OP_AND:
	case OP_OR:
	case OP_COMPARE: *change = -1; return 1;
	case OP_ARITHMETIC: *change = -1; return is_simple(op);
	case OP_ARITHMETIC_K: return is_simple(op) && is_natural(op);
	case OP_COMPARE_K: return is_natural(op);
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

/* What a span test looks at, of a value other than a field. */
static void
load_other(const struct masks *c, enum op_code code, uint64_t *out)
{
	const struct tel_run *run = c->run;
	uint64_t first = 0;
	size_t i;

	if (code == OP_SPAN_INDEX) {
		for (i = 0; i < c->count; i++)
			out[i] = run->index + run->numbers[c->events[i]];
		return;
	}
	if (code == OP_SPAN_TICKS)
		first = tel__clock_origin(run->event->log->clock) - BIAS;
	for (i = 0; i < c->count; i++)
		out[i] = run->clocks[c->events[i]] - first;
}

static void
compare(enum value_op how, const uint64_t *a, const uint64_t *b, size_t step,
    size_t n, unsigned char *out)
{
	size_t i;

	switch (how) {
	case OPR_EQ:
		for (i = 0; i < n; i++)
			out[i] = a[i] == b[i * step];
		break;
	case OPR_NE:
		for (i = 0; i < n; i++)
			out[i] = a[i] != b[i * step];
		break;
	case OPR_LT:
		for (i = 0; i < n; i++)
			out[i] = a[i] < b[i * step];
		break;
	case OPR_LE:
		for (i = 0; i < n; i++)
			out[i] = a[i] <= b[i * step];
		break;
	case OPR_GT:
		for (i = 0; i < n; i++)
			out[i] = a[i] > b[i * step];
		break;
	default:
		for (i = 0; i < n; i++)
			out[i] = a[i] >= b[i * step];
		break;
	}
}

/* a becomes a and b, by an operator; unsure: set unless that is natural. */
static void
combine(enum value_op how, uint64_t *a, const uint64_t *b, size_t step,
    size_t n, unsigned char *unsure)
{
	size_t i;

	switch (how) {
	case OPR_ADD:
		for (i = 0; i < n; i++)
			unsure[i] |=
			    __builtin_add_overflow(a[i], b[i * step], &a[i]);
		break;
	case OPR_SUB:
		for (i = 0; i < n; i++)
			unsure[i] |=
			    __builtin_sub_overflow(a[i], b[i * step], &a[i]);
		break;
	case OPR_MUL:
		for (i = 0; i < n; i++)
			unsure[i] |=
			    __builtin_mul_overflow(a[i], b[i * step], &a[i]);
		break;
	case OPR_AND:
		for (i = 0; i < n; i++)
			a[i] &= b[i * step];
		break;
	default:
		for (i = 0; i < n; i++)
			a[i] |= b[i * step];
		break;
	}
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
		load_field(c, &c->type->fields[op->field], c->stack[0]);
		test_spans(&op->u.span, c->stack[0], c->count, hit);
	}
}

static void
test_set(const struct set *set, const uint64_t *v, size_t n, unsigned char *hit)
{
	size_t i;

	for (i = 0; i < n; i++)
		hit[i] = set_has(set, v[i]) != 0;
}

/* Whether the values on top of the stack are what a test wants. */
static void
test_value(struct masks *c, const struct op *op, unsigned char *hit)
{
	static const uint64_t zero;
	const enum value_op how = (enum value_op)op->sub;
	const uint64_t *top = c->stack[--c->depth];
	size_t i;

	if (op->code == OP_TEST)
		compare(OPR_NE, top, &zero, 0, c->count, hit);
	else if (op->code == OP_TEST_COMPARE_K)
		compare(how, top, &op->u.value.as.u, 0, c->count, hit);
	else
		compare(how, c->stack[--c->depth], top, 1, c->count, hit);
	for (i = 0; i < c->count; i++)
		hit[i] = hit[i] == op->want;
}

/* Runs a test; 0 when the op is none. */
static int
run_test(struct masks *c, const struct op *op, unsigned char *hit)
{
	uint64_t *v = c->stack[0];

	switch ((enum op_code)op->code) {
	case OP_SPAN_LE64:
	case OP_SPAN_LE32:
	case OP_SPAN_FIELD: test_field(c, op, hit); return 1;
	case OP_SPAN_CLOCK:
	case OP_SPAN_TICKS:
	case OP_SPAN_INDEX:
		if (op->code == OP_SPAN_TICKS &&
		    c->run->event->log->clock == NULL) {
			memset(hit, 0, c->count);
			return 1;
		}
		load_other(c, (enum op_code)op->code, v);
		test_spans(&op->u.span, v, c->count, hit);
		return 1;
	case OP_SET_FIELD:
		load_field(c, op->u.set_test.field, v);
		test_set(op->u.set_test.set, v, c->count, hit);
		return 1;
	case OP_TEST:
	case OP_TEST_COMPARE:
	case OP_TEST_COMPARE_K: test_value(c, op, hit); return 1;
	default: return 0;
	}
}

/* -------------------------------------------------------------- values */

/* Puts a verdict for each event where a value was. */
static void
put_verdicts(uint64_t *to, const unsigned char *hit, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		to[i] = hit[i];
}

/* Truth values, of both of which 0 is false. */
static void
join(int both, uint64_t *a, const uint64_t *b, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		a[i] = both ? (a[i] != 0) & (b[i] != 0) : (a[i] | b[i]) != 0;
}

static void
run_leaf(struct masks *c, const struct op *op)
{
	uint64_t *to = c->stack[c->depth++];
	size_t i;

	if (op->code == OP_NATURAL_FIELD) {
		load_field(c, op->u.field, to);
		return;
	}
	for (i = 0; i < c->count; i++)
		to[i] = op->u.value.as.u;
}

/* Runs an op that takes values from the stack and leaves one. */
static void
run_operator(struct masks *c, const struct op *op)
{
	const enum value_op how = (enum value_op)op->sub;
	const uint64_t *k = &op->u.value.as.u;
	uint64_t *b = c->stack[c->depth - 1];
	uint64_t *a = c->depth > 1 ? c->stack[c->depth - 2] : b;
	unsigned char *unsure = (unsigned char *)c->unsure.words;
	unsigned char hit[TEL_RUN_MOST];
	size_t i;

	switch ((enum op_code)op->code) {
	case OP_ARITHMETIC_K: combine(how, b, k, 0, c->count, unsure); return;
	case OP_COMPARE_K:
		compare(how, b, k, 0, c->count, hit);
		put_verdicts(b, hit, c->count);
		return;
	case OP_IN_SET:
		test_set(op->u.set, b, c->count, hit);
		put_verdicts(b, hit, c->count);
		return;
	case OP_NOT:
		for (i = 0; i < c->count; i++)
			b[i] = b[i] == 0;
		return;
	case OP_ARITHMETIC: combine(how, a, b, 1, c->count, unsure); break;
	case OP_COMPARE:
		compare(how, a, b, 1, c->count, hit);
		put_verdicts(a, hit, c->count);
		break;
	default: join(op->code == OP_AND, a, b, c->count); break;
	}
	c->depth--;
}

/* --------------------------------------------------------------- events */

/* Runs a program on the events that were gathered. */
static void
run_program(struct masks *c, const struct program *p)
{
	struct mask hit;
	const struct op *op;
	uint32_t i;

	for (i = p->entry; i < p->count; i++)
		memset(c->reached[i].words, 0, c->words * sizeof(uint64_t));
	memset(c->accepted.words, 0, c->words * sizeof(uint64_t));
	memset(c->unsure.words, 0, c->words * sizeof(uint64_t));
	memset(c->reached[p->entry].words, 1, c->count);
	c->depth = 0;
	for (i = p->entry; i < p->count; i++) {
		if (is_empty(c, &c->reached[i]))
			continue;
		op = &p->ops[i];
		if (run_test(c, op, (unsigned char *)hit.words)) {
			divide(c, op, &c->reached[i], &hit);
			continue;
		}
		if (op->code == OP_CONST || op->code == OP_NATURAL_FIELD)
			run_leaf(c, op);
		else
			run_operator(c, op);
		send(c, i + 1, &c->reached[i]);
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
	sort_events(c, programs, last, m, run);
	for (i = 0; i < c->nlists; i++) {
		match_list(c, &c->lists[i], m, run);
		c->lists[i].program->list = 0;
	}
	leave_matches(c, run);
}
