/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs programs.  Nothing here allocates, and no op runs twice for an event:
 * all jumps go forward.
 */
#include <string.h>

#include "model/clock.h"
#include "model/labels.h"
#include "model/history.h"
#include "query/program.h"

/* -------------------------------- what an event has besides its fields */

static const char *
label_of(const struct tel_event *ev, unsigned field, size_t *length)
{
	if (!tel_field_labelled(&ev->type->fields[field]))
		return NULL;
	return tel_event_label(ev, field, length);
}

static int
has_labels(const struct tel_event *ev)
{
	if (ev->inline_size > 0)
		return 1;
	if (ev->inline_use == TEL_INLINE_ONLY)
		return 0;
	return ev->log->labels != NULL &&
	    tel__labels_count(ev->log->labels) > 0;
}

/*
 * The entry of the memo for a test of a label; .test is set if it is known.
 * NULL: there is no memo.
 */
static struct memo_entry *
memo_find(const struct machine *m, const void *test, const char *s,
    size_t length)
{
	const uint64_t key =
	    ((uint64_t)(uintptr_t)s >> 3 ^ (uint64_t)(uintptr_t)test >> 4) *
	    UINT64_C(0x9e3779b97f4a7c15);
	struct memo_entry *e;

	if (m->memo == NULL)
		return NULL;
	e = &m->memo->entries[key >> 58];
	if (e->round == m->memo->round && e->test == test && e->s == s &&
	    e->length == length)
		return e;
	e->round = m->memo->round;
	e->test = NULL;
	e->s = s;
	e->length = length;
	return e;
}

/* tel__pattern_match() of a label. */
static int
label_like(const struct machine *m, const struct pattern *p, const char *s,
    size_t length)
{
	struct memo_entry *e = memo_find(m, p, s, length);
	int hit;

	if (e != NULL && e->test != NULL)
		return e->hit;
	hit = tel__pattern_match(p, s, length, m->scratch);
	if (e != NULL) {
		e->hit = hit;
		e->test = p;
	}
	return hit;
}

/* Whether the label of any field matches a glob. */
static int
fact_label_glob(const struct machine *m, const struct tel_event *ev,
    const struct pattern *glob)
{
	const char *s;
	size_t length;
	unsigned i;

	if (!has_labels(ev))
		return 0;
	for (i = 0; i < ev->type->nfields; i++) {
		s = label_of(ev, i, &length);
		if (s != NULL && label_like(m, glob, s, length) > 0)
			return 1;
	}
	return 0;
}

/* One label with what a node compares it with, !~ being taken as ~. */
static int
label_fits(const struct machine *m, const struct node *n,
    const struct value *label)
{
	const struct tree *t = m->tree;
	const struct item *item;
	uint32_t i;

	if (n->op == N_MATCH)
		return label_like(m, t->patterns[n->pattern], label->as.s,
		           label->length) > 0;
	if (n->op == N_COMPARE)
		return tel__value_compare(OPR_EQ, label, &t->nodes[n->b].value,
		           0) == TRIT_TRUE;
	for (i = 0; i < n->count; i++) {
		item = &t->items[n->first + i];
		if (tel__value_compare(item->range ? OPR_GE : OPR_EQ, label,
		        &t->nodes[item->lo].value, 0) == TRIT_TRUE &&
		    (!item->range ||
		        tel__value_compare(OPR_LE, label,
		            &t->nodes[item->hi].value, 0) == TRIT_TRUE))
			return 1;
	}
	return 0;
}

int
tel__program_negates(const struct node *n)
{
	return (n->op == N_COMPARE && n->opr == OPR_NE) ||
	    (n->flags & NODE_NEGATE) != 0;
}

int
tel__program_fits(const struct op *op, const struct machine *m, const char *s,
    size_t length)
{
	const struct value label = value_string(s, length);

	if (op->code == OP_LABEL_GLOB)
		return label_like(m, op->u.pattern, s, length) > 0;
	return label_fits(m, op->u.node, &label);
}

/* The result of a comparison, match or list for the labels of all fields. */
static enum trit
fact_labels(const struct machine *m, const struct tel_event *ev,
    const struct node *n)
{
	enum trit verdict = TRIT_UNKNOWN;
	struct value label;
	const char *s;
	size_t length;
	unsigned i;

	if (!has_labels(ev))
		return TRIT_UNKNOWN;
	for (i = 0; i < ev->type->nfields && verdict != TRIT_TRUE; i++) {
		s = label_of(ev, i, &length);
		if (s == NULL)
			continue;
		label = value_string(s, length);
		verdict = label_fits(m, n, &label) ? TRIT_TRUE : TRIT_FALSE;
	}
	return tel__program_negates(n) ? trit_not(verdict) : verdict;
}

/* The label of the first field that has one. */
static struct value
fact_first_label(const struct tel_event *ev)
{
	const char *s;
	size_t length;
	unsigned i;

	if (has_labels(ev))
		for (i = 0; i < ev->type->nfields; i++) {
			s = label_of(ev, i, &length);
			if (s != NULL)
				return value_string(s, length);
		}
	return value_missing();
}

static struct value
fact_label(const struct tel_event *ev, unsigned field)
{
	size_t length;
	const char *s = has_labels(ev) ? label_of(ev, field, &length) : NULL;

	return s == NULL ? value_missing() : value_string(s, length);
}

/* Whether nanoseconds are known. */
static int
fact_has_time(const struct tel_event *ev)
{
	return ev->log->clock != NULL && tel__clock_rate(ev->log->clock) > 0 &&
	    !tel_event_timeless(ev);
}

static struct value
fact_builtin(const struct machine *m, const struct tel_event *ev,
    enum builtin b)
{
	switch (b) {
	case B_KIND:
		return value_string(ev->type->kind, strlen(ev->type->kind));
	case B_NAME:
		return value_string(ev->type->name, strlen(ev->type->name));
	case B_CODE: return value_natural(ev->type->code);
	case B_TIME:
		if (!fact_has_time(ev))
			break;
		return value_signed(
		    (uint64_t)tel__clock_ns(ev->log->clock, ev->clock));
	case B_CLOCK: return value_natural(ev->clock);
	case B_DT: return m->dt;
	case B_INDEX: return value_natural(ev->index);
	case B_SIZEOF: return value_natural(tel_event_size(ev));
	default: break;
	}
	return value_missing();
}

/* Nanoseconds since the event that began it. */
static struct value
fact_duration(const struct tel_event *ev)
{
	struct tel_clock *clock = ev->log->clock;
	struct tel_event start;
	int64_t ns;

	if (!fact_has_time(ev) ||
	    !tel__history_start(ev->log->history, &start) ||
	    __builtin_sub_overflow(tel__clock_ns(clock, ev->clock),
	        tel__clock_ns(clock, start.clock), &ns))
		return value_missing();
	return value_signed((uint64_t)ns);
}

static struct value
fact_derived(const struct tel_event *ev, enum derived d)
{
	const struct tel__history *h = ev->log->history;
	uint64_t bytes;
	const char *s;
	size_t length;

	switch (d) {
	case D_ALLOCATES:
		return value_natural((uint64_t)tel__history_allocates(h));
	case D_FREES: return value_natural((uint64_t)tel__history_frees(h));
	case D_DURATION: return fact_duration(ev);
	case D_BYTES:
		return tel__history_bytes(h, &bytes) ? value_natural(bytes) :
		                                       value_missing();
	case D_LIVE:
		return tel__history_live(h, &bytes) ? value_natural(bytes) :
		                                      value_missing();
	default: break;
	}
	s = tel__history_stack(ev, &length);
	return s == NULL ? value_missing() : value_string(s, length);
}

/* A leaf of the event that began the one at hand. */
static struct value
fact_of_start(const struct machine *m, const struct tel_event *ev,
    const struct op *op)
{
	struct value v = value_missing();
	struct tel_event start;

	if (tel__history_start(ev->log->history, &start) &&
	    start.type->schema == m->schema && start.type->index < m->ntypes)
		tel__program_leaf(
		    &m->starts[start.type->index * m->tree->nstarts +
		        op->offset],
		    m, &start, &v);
	return v;
}

/* ------------------------------------------------------------ machine */

#define BIAS ((uint64_t)1 << 63)

/*
 * These set a value in place, member by member: one that is built elsewhere
 * and copied as a whole is read before its parts have been stored, which
 * makes a processor wait.
 */
static inline void
put_natural(struct value *v, uint64_t u)
{
	v->tag = V_NATURAL;
	v->as.u = u;
}

static inline void
put_trit(struct value *v, enum trit t)
{
	v->tag = t == TRIT_UNKNOWN ? V_MISSING : V_NATURAL;
	v->as.u = t == TRIT_TRUE;
}

/* A counter of processors is unsigned. */
static struct value
cycles_each(const struct tel_event *ev, const struct op *op)
{
	uint64_t n = tel_load(op->u.field, ev->data);

	if (n == 0)
		return value_missing();
	return value_double(
	    (double)tel_load(&ev->type->fields[op->field], ev->data) /
	    (double)n);
}

/* The verdict on one item of a list, put to those before it. */
static struct value *
list_item(const struct op *op, struct value *sp)
{
	struct value *hi = sp - 1, *lo = op->code == OP_IN_RANGE ? hi - 1 : hi;
	struct value *verdict = lo - 1, *v = lo - 2;
	enum trit one;

	one = tel__value_compare(op->code == OP_IN_RANGE ? OPR_GE : OPR_EQ, v,
	    lo, op->flag);
	if (op->code == OP_IN_RANGE)
		one =
		    trit_and(one, tel__value_compare(OPR_LE, v, hi, op->flag));
	put_trit(verdict, trit_or(tel__value_truth(verdict), one));
	return lo;
}

struct value
tel__program_like(const struct machine *m, const struct node *n,
    const struct value *v, int label)
{
	const struct pattern *p = m->tree->patterns[n->pattern];
	int hit = -1;

	if (v->tag == V_STRING && label)
		hit = label_like(m, p, v->as.s, v->length);
	else if (v->tag == V_STRING)
		hit = tel__pattern_match(p, v->as.s, v->length, m->scratch);
	if (hit < 0)
		return value_missing();
	return value_natural(
	    (uint64_t)(hit != ((n->flags & NODE_NEGATE) != 0)));
}

static struct value
in_set(const struct set *set, const struct value *v)
{
	if (v->tag == V_NATURAL)
		return value_natural((uint64_t)set_has(set, v->as.u));
	return v->tag == V_NEGATIVE ? value_natural(0) : value_missing();
}

/*
 * Arithmetic of two natural numbers, for speed: what nearly all of it is.
 * Returns 0, with nothing done, when the result is not as simple.
 */
static int
natural_arithmetic(enum value_op op, struct value *a, const struct value *b)
{
	uint64_t x = a->as.u, y = b->as.u, z;
	int over = 0;

	if (a->tag != V_NATURAL || b->tag != V_NATURAL)
		return 0;
	switch (op) {
	case OPR_ADD: over = __builtin_add_overflow(x, y, &z); break;
	case OPR_MUL: over = __builtin_mul_overflow(x, y, &z); break;
	case OPR_SUB: over = __builtin_sub_overflow(x, y, &z); break;
	case OPR_AND: z = x & y; break;
	case OPR_OR: z = x | y; break;
	default: return 0;
	}
	if (over)
		return 0;
	a->as.u = z;
	return 1;
}

static enum trit
natural_compare(enum value_op op, uint64_t x, uint64_t y)
{
	int holds;

	switch (op) {
	case OPR_EQ: holds = x == y; break;
	case OPR_NE: holds = x != y; break;
	case OPR_LT: holds = x < y; break;
	case OPR_LE: holds = x <= y; break;
	case OPR_GT: holds = x > y; break;
	default: holds = x >= y; break;
	}
	return holds ? TRIT_TRUE : TRIT_FALSE;
}

static void
arithmetic(const struct op *op, struct value *a, const struct value *b)
{
	enum value_op how = (enum value_op)op->sub;

	if (!natural_arithmetic(how, a, b))
		*a = tel__value_arithmetic(how, a, b);
}

static enum trit
compare(const struct op *op, const struct value *a, const struct value *b)
{
	enum value_op how = (enum value_op)op->sub;

	if (a->tag == V_NATURAL && b->tag == V_NATURAL)
		return natural_compare(how, a->as.u, b->as.u);
	return tel__value_compare(how, a, b, op->flag);
}

/* Ops that take values from the stack and leave one. */
static struct value *
operate(const struct op *op, const struct machine *m, struct value *sp)
{
	struct value *a = sp - 2, *b = sp - 1;

	switch ((enum op_code)op->code) {
	case OP_HAS: put_natural(b, b->tag != V_MISSING); return sp;
	case OP_NOT: put_trit(b, trit_not(tel__value_truth(b))); return sp;
	case OP_UNARY:
		*b = tel__value_unary((enum value_op)op->sub, b);
		return sp;
	case OP_MATCH: *b = tel__program_like(m, op->u.node, b, 0); return sp;
	case OP_IN_SET: *b = in_set(op->u.set, b); return sp;
	case OP_AND:
		put_trit(a, trit_and(tel__value_truth(a), tel__value_truth(b)));
		return b;
	case OP_OR:
		put_trit(a, trit_or(tel__value_truth(a), tel__value_truth(b)));
		return b;
	case OP_ARITHMETIC: arithmetic(op, a, b); return b;
	case OP_ARITHMETIC_K: arithmetic(op, b, &op->u.value); return sp;
	case OP_COMPARE_K: put_trit(b, compare(op, b, &op->u.value)); return sp;
	case OP_COMPARE: put_trit(a, compare(op, a, b)); return b;
	case OP_IN_END: *a = *b; return b;
	default: return list_item(op, sp);
	}
}

/* Any op but a test.  Returns the new top of the stack. */
static struct value *
move(const struct op *op, const struct machine *m, const struct tel_event *ev,
    struct value *sp)
{
	const char *s;
	size_t length;

	switch ((enum op_code)op->code) {
	case OP_CONST: *sp++ = op->u.value; break;
	case OP_NATURAL_FIELD:
		put_natural(sp++, tel_load(op->u.field, ev->data));
		break;
	case OP_SIGNED_FIELD:
		*sp++ = value_of_width(tel_load(op->u.field, ev->data),
		    op->u.field->width);
		break;
	case OP_DOUBLE_FIELD:
		*sp++ = value_double(tel_event_double(ev, op->field));
		break;
	case OP_CPI: *sp++ = cycles_each(ev, op); break;
	case OP_STRING_FIELD:
		s = tel_load_string(ev, op->u.field, &length);
		*sp++ = value_string(s, length);
		break;
	case OP_LABEL_FIELD: *sp++ = fact_label(ev, op->field); break;
	case OP_FIRST_LABEL: *sp++ = fact_first_label(ev); break;
	case OP_LABELS_VALUE:
		*sp++ = value_trit(fact_labels(m, ev, op->u.node));
		break;
	case OP_BUILTIN:
		*sp++ = fact_builtin(m, ev, (enum builtin)op->sub);
		break;
	case OP_DERIVED: *sp++ = fact_derived(ev, (enum derived)op->sub); break;
	case OP_START: *sp++ = fact_of_start(m, ev, op); break;
	default: return operate(op, m, sp);
	}
	return sp;
}

static int
span_holds(const struct op *op, uint64_t v)
{
	return (v & op->u.span.mask) - op->u.span.lo <= op->u.span.span;
}

/* Tests that are seldom met. */
int
tel__program_test(const struct op *op, const struct machine *m,
    const struct tel_event *ev)
{
	switch ((enum op_code)op->code) {
	case OP_SPAN_TICKS:
		return ev->log->clock != NULL &&
		    span_holds(op,
		        ev->clock - tel__clock_origin(ev->log->clock) + BIAS);
	case OP_SPAN_NS:
		return fact_has_time(ev) &&
		    span_holds(op,
		        (uint64_t)tel__clock_ns(ev->log->clock, ev->clock) +
		            BIAS);
	case OP_SPAN_INDEX: return span_holds(op, ev->index);
	case OP_SPAN_SIZE: return span_holds(op, tel_event_size(ev));
	case OP_TYPE: return tel__select_type(op->u.selection, ev->type);
	case OP_LABEL_GLOB: return fact_label_glob(m, ev, op->u.pattern);
	default: return fact_labels(m, ev, op->u.node) == (enum trit)op->want;
	}
}

int
tel__program_match(const struct program *p, struct machine *m,
    const struct tel_event *ev)
{
	const struct op *op;
	struct value *sp = m->stack;
	uint32_t at = p->entry;
	int hit;

	for (;;) {
		op = &p->ops[at];
		switch ((enum op_code)op->code) {
		case OP_SPAN_LE64:
			hit = span_holds(op, tel_le64(ev->data + op->offset));
			break;
		case OP_SPAN_LE32:
			hit = span_holds(op, tel_le32(ev->data + op->offset));
			break;
		case OP_SPAN_FIELD:
			hit = span_holds(op, tel_event_u64(ev, op->field));
			break;
		case OP_SPAN_CLOCK: hit = span_holds(op, ev->clock); break;
		case OP_SET_FIELD:
			hit = set_has(op->u.set_test.set,
			    tel_load(op->u.set_test.field, ev->data));
			break;
		case OP_TEST:
			sp--;
			hit = tel__value_truth(sp) == (enum trit)op->want;
			break;
		case OP_TEST_COMPARE:
			sp -= 2;
			hit = compare(op, sp, sp + 1) == (enum trit)op->want;
			break;
		case OP_TEST_COMPARE_K:
			sp--;
			hit = compare(op, sp, &op->u.value) ==
			    (enum trit)op->want;
			break;
		case OP_SPAN_TICKS:
		case OP_SPAN_NS:
		case OP_SPAN_INDEX:
		case OP_SPAN_SIZE:
		case OP_TYPE:
		case OP_LABEL_GLOB:
		case OP_LABELS: hit = tel__program_test(op, m, ev); break;
		default:
			sp = move(op, m, ev, sp);
			at++;
			continue;
		}
		at = hit ? op->yes : op->no;
		if (at >= GO_ACCEPT)
			return at == GO_ACCEPT;
	}
}

void
tel__program_leaf(const struct op *op, const struct machine *m,
    const struct tel_event *ev, struct value *out)
{
	(void)move(op, m, ev, out);
}

void
tel__program_value(const struct program *p, struct machine *m,
    const struct tel_event *ev, struct value *out)
{
	const struct op *op = &p->ops[p->entry];
	struct value *sp = m->stack;

	for (; op->code != OP_RESULT; op++)
		sp = move(op, m, ev, sp);
	*out = sp[-1];
}
