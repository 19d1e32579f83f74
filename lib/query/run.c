/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The evaluator of programs: for an event, and for those of a run.  Nothing here
 * allocates, and no op runs twice for an event: all jumps go forward.
 */
#include <string.h>

#include "model/clock.h"
#include "model/labels.h"
#include "model/history.h"
#include "query/program.h"

/* -------------------------------- what an event has besides its fields */

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

/* tel__pattern_match() of a label. */
static int
label_like(struct machine *m, const struct pattern *p, const char *s,
    size_t length)
{
	const uint64_t key =
	    ((uint64_t)(uintptr_t)s >> 3 ^ (uint64_t)(uintptr_t)p >> 4) *
	    UINT64_C(0x9e3779b97f4a7c15);
	struct memo_entry *e = &m->memo.entries[key >> 58];

	if (!m->in_run || e->round != m->memo.round || e->pattern != p ||
	    e->s != s || e->length != length)
		*e = (struct memo_entry){ m->memo.round, p, s, length,
			tel__pattern_match(p, s, length, m->scratch) };
	return e->hit;
}

/* The label of a field, or that it is.  1, or 0: there is none. */
static inline int
find_label(const struct tel_event *ev, const struct tel_field *f,
    struct value *out)
{
	struct tel_label label;

	if (f->is_label) {
		out->tag = V_STRING;
		out->as.s = tel_load_string(ev, f, &out->length);
		return out->length > 0;
	}
	if ((f->names == NULL && !has_labels(ev)) ||
	    !tel_find_label(ev, f,
	        f->load == TEL_LOAD_LE64 ? tel_le64(ev->data + f->offset) :
	                                   tel_load(f, ev->data),
	        &label) ||
	    label.string == NULL)
		return 0;
	*out = value_string(label.string, label.length);
	return 1;
}

/* One label with what a node compares it with, !~ being taken as ~. */
static int
label_fits(struct machine *m, const struct node *n, const struct value *label)
{
	const struct tree *t = m->tree;

	if (n->op == N_MATCH)
		return label_like(m, t->patterns[n->pattern], label->as.s,
		           label->length) > 0;
	if (n->op == N_COMPARE)
		return tel__value_compare(OPR_EQ, label, &t->nodes[n->b].value,
		           0) == TRIBOOL_TRUE;
	for (uint32_t i = 0; i < n->count; i++) {
		const struct item *item = &t->items[n->first + i];

		if (tel__value_compare(item->range ? OPR_GE : OPR_EQ, label,
		        &t->nodes[item->lo].value, 0) == TRIBOOL_TRUE &&
		    (!item->range ||
		        tel__value_compare(OPR_LE, label,
		            &t->nodes[item->hi].value, 0) == TRIBOOL_TRUE))
			return 1;
	}
	return 0;
}

/* Whether a label is what a test of the label of a field wants. */
static inline int
label_test(struct machine *m, const struct op *op, const char *s, size_t length)
{
	const struct label_test *t = &op->u.label;
	const struct value label = value_string(s, length);

	return (t->glob != NULL ? label_like(m, t->glob, s, length) > 0 :
	                          label_fits(m, t->node, &label)) == op->want;
}

/* The result of a comparison, match or list for the labels of all fields. */
static enum tribool
attr_labels(struct machine *m, const struct tel_event *ev, const struct node *n)
{
	enum tribool verdict = TRIBOOL_UNKNOWN;
	struct value label;
	unsigned i;

	for (i = 0; i < ev->type->nfields && verdict != TRIBOOL_TRUE; i++)
		if (find_label(ev, &ev->type->fields[i], &label))
			verdict = label_fits(m, n, &label) ? TRIBOOL_TRUE :
			                                     TRIBOOL_FALSE;
	return negates(n) ? tribool_not(verdict) : verdict;
}

/* The label of a field; NULL: of the first field that has one. */
static struct value
attr_label(const struct tel_event *ev, const struct tel_field *f)
{
	const struct tel_field *end = ev->type->fields + ev->type->nfields;
	struct value label;

	if (f != NULL)
		end = f + 1;
	for (f = f != NULL ? f : ev->type->fields; f < end; f++)
		if (find_label(ev, f, &label))
			return label;
	return value_missing();
}

/* Nanoseconds since the first event.  1, or 0: they are not known. */
static inline int
query_run_time_of(struct machine *m, const struct tel_event *ev, int64_t *ns)
{
	struct tel_clock *clock = ev->log->clock;

	if (m->has_part && ev->clock >= m->part.low &&
	    ev->clock <= m->part.high) {
		*ns = tel__clock_part_ns(&m->part, ev->clock);
		return !tel_event_timeless(ev);
	}
	if (clock == NULL || !(tel__clock_rate(clock) > 0))
		return 0;
	*ns = tel__clock_ns(clock, ev->clock);
	if (m->in_run)
		m->has_part = tel__clock_part(clock, ev->clock, &m->part);
	return !tel_event_timeless(ev);
}

static struct value
attr_builtin(struct machine *m, const struct tel_event *ev, enum builtin b)
{
	int64_t ns;

	switch (b) {
	case B_KIND:
		return value_string(ev->type->kind, strlen(ev->type->kind));
	case B_NAME:
		return value_string(ev->type->name, strlen(ev->type->name));
	case B_CODE: return value_natural(ev->type->code);
	case B_TIME:
		if (!query_run_time_of(m, ev, &ns))
			break;
		return value_signed((uint64_t)ns);
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
attr_duration(struct machine *m, const struct tel_event *ev)
{
	struct tel_event start;
	int64_t ns;

	if (!query_run_time_of(m, ev, &ns) ||
	    !tel__history_start(ev->log->history, &start) ||
	    __builtin_sub_overflow(ns,
	        tel__clock_ns(ev->log->clock, start.clock), &ns))
		return value_missing();
	return value_signed((uint64_t)ns);
}

static struct value
attr_derived(struct machine *m, const struct tel_event *ev, enum derived d)
{
	const struct tel__history *h = ev->log->history;
	uint64_t bytes;
	size_t length;

	switch (d) {
	case D_ALLOCATES:
		return value_natural((uint64_t)tel__history_allocates(h));
	case D_FREES: return value_natural((uint64_t)tel__history_frees(h));
	case D_DURATION: return attr_duration(m, ev);
	case D_BYTES:
		return tel__history_bytes(h, &bytes) ? value_natural(bytes) :
		                                       value_missing();
	case D_LIVE:
		return tel__history_live(h, &bytes) ? value_natural(bytes) :
		                                      value_missing();
	default: break;
	}
	const char *s = tel__history_stack(ev, &length);
	return s == NULL ? value_missing() : value_string(s, length);
}

static void eval_leaf(const struct op *op, struct machine *m,
    const struct tel_event *ev, struct value *v);

/* A leaf of the event that began the one at hand. */
static struct value
attr_of_start(struct machine *m, const struct tel_event *ev,
    const struct op *op)
{
	struct value v = value_missing();
	struct tel_event start;

	if (tel__history_start(ev->log->history, &start) &&
	    start.type->schema == m->schema && start.type->index < m->ntypes)
		eval_leaf(&m->starts[start.type->index * m->tree->nstarts +
		              op->offset],
		    m, &start, &v);
	return v;
}

/* ------------------------------------------------------------ operators */

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
put_tribool(struct value *v, enum tribool t)
{
	v->tag = t == TRIBOOL_UNKNOWN ? V_MISSING : V_NATURAL;
	v->as.u = t == TRIBOOL_TRUE;
}

/* A counter of processors is unsigned. */
static struct value
cpi(const struct tel_event *ev, const struct op *op)
{
	uint64_t n = tel_load(op->field, ev->data);

	if (n == 0)
		return value_missing();
	return value_double(
	    (double)tel_load(op->u.cycles, ev->data) / (double)n);
}

/* The verdict on an item of a list, or on a range, put to those before it. */
static void
eval_item(const struct op *op, struct value *v)
{
	const int is_range = op->code == OP_IN_RANGE;
	enum tribool one = tel__value_compare(is_range ? OPR_GE : OPR_EQ, v,
	    v + 2, op->any_case);

	if (is_range)
		one = tribool_and(one,
		    tel__value_compare(OPR_LE, v, v + 3, op->any_case));
	put_tribool(v + 1, tribool_or(tel__value_truth(v + 1), one));
}

static enum tribool
eval_match(struct machine *m, const struct node *n, const struct value *v)
{
	int hit = v->tag != V_STRING ?
	    -1 :
	    tel__pattern_match(m->tree->patterns[n->pattern], v->as.s,
	        v->length, m->scratch);

	if (hit < 0)
		return TRIBOOL_UNKNOWN;
	return hit != ((n->flags & NODE_NEGATE) != 0) ? TRIBOOL_TRUE :
	                                                TRIBOOL_FALSE;
}

static enum tribool
query_run_in_set(const struct set *set, const struct value *v)
{
	if (v->tag == V_NATURAL)
		return set_has(set, v->as.u) ? TRIBOOL_TRUE : TRIBOOL_FALSE;
	return v->tag == V_NEGATIVE ? TRIBOOL_FALSE : TRIBOOL_UNKNOWN;
}

/*
 * Arithmetic of two natural numbers, for speed: what nearly all of it is.
 * Returns 0, with nothing done, when the result is not as simple.
 */
static inline int
natural_arithmetic(enum value_op op, uint64_t x, uint64_t y, uint64_t *out)
{
	switch (op) {
	case OPR_ADD: return !__builtin_add_overflow(x, y, out);
	case OPR_MUL: return !__builtin_mul_overflow(x, y, out);
	case OPR_SUB: return !__builtin_sub_overflow(x, y, out);
	case OPR_DIV: *out = y == 0 ? 0 : x / y; return y != 0;
	case OPR_MOD: *out = y == 0 ? 0 : x % y; return y != 0;
	case OPR_AND: *out = x & y; return 1;
	case OPR_OR: *out = x | y; return 1;
	case OPR_SHR: *out = y > 63 ? 0 : x >> y; return 1;
	default: return 0;
	}
}

static void
query_run_arithmetic(const struct op *op, struct value *a,
    const struct value *b)
{
	const enum value_op how = (enum value_op)op->sub;
	uint64_t z;

	if (a->tag == V_NATURAL && b->tag == V_NATURAL &&
	    natural_arithmetic(how, a->as.u, b->as.u, &z))
		a->as.u = z;
	else
		*a = tel__value_arithmetic(how, a, b);
}

static enum tribool
query_run_compare(const struct op *op, const struct value *a,
    const struct value *b)
{
	const enum value_op how = (enum value_op)op->sub;

	if (a->tag != V_NATURAL || b->tag != V_NATURAL)
		return tel__value_compare(how, a, b, op->any_case);
	return value_holds(how,
	           a->as.u < b->as.u     ? ORDER_LESS :
	               a->as.u > b->as.u ? ORDER_GREATER :
	                                   ORDER_EQUAL) ?
	    TRIBOOL_TRUE :
	    TRIBOOL_FALSE;
}

/* ------------------------------------------------------------------ ops */

#define BIAS ((uint64_t)1 << 63)

static inline int
span_holds(const struct op *op, uint64_t v)
{
	return (v & op->u.span.mask) - op->u.span.lo <= op->u.span.span;
}

/* The same of a number that may have been missing. */
static inline int
span_is(const struct op *op, uint64_t v)
{
	return (v - op->u.span.lo <= op->u.span.span) == op->want;
}

/* The same of what an operator makes of a field. */
static inline int
span_operator(const struct op *op, const unsigned char *data)
{
	uint64_t x = op->field->load == TEL_LOAD_LE64 ?
	    tel_le64(data + op->offset) :
	    tel_load(op->field, data);

	return natural_arithmetic((enum value_op)op->sub, x, op->u.span.mask,
	           &x) &&
	    span_is(op, x);
}

static int
meets(const void *set, uint64_t first, uint64_t last)
{
	return set_meets(set, first, last);
}

static int
eval_test(const struct op *op, struct machine *m, const struct tel_event *ev)
{
	const struct value *v = m->stack + op->at;
	struct value label;
	int64_t ns;

	switch ((enum op_code)op->code) {
	case OP_SPAN_LE64:
		return span_holds(op, tel_le64(ev->data + op->offset));
	case OP_SPAN_LE32:
		return span_holds(op, tel_le32(ev->data + op->offset));
	case OP_SPAN_FIELD:
		return span_holds(op, tel_load(op->field, ev->data));
	case OP_SPAN_OPERATOR: return span_operator(op, ev->data);
	case OP_SPAN_CLOCK: return span_holds(op, ev->clock);
	case OP_SPAN_TICKS:
		return ev->log->clock != NULL &&
		    span_holds(op,
		        ev->clock - tel__clock_origin(ev->log->clock) + BIAS);
	case OP_SPAN_NS:
		return query_run_time_of(m, ev, &ns) &&
		    span_is(op, (uint64_t)ns + BIAS);
	case OP_SPAN_INDEX: return span_holds(op, ev->index);
	case OP_SPAN_SIZE: return span_holds(op, tel_event_size(ev));
	case OP_SET_FIELD:
		return set_has(op->u.set, tel_load(op->field, ev->data));
	case OP_BLOCK:
		return tel__history_blocks(ev->log->history, meets, op->u.set);
	case OP_TYPE: return tel__select_type(op->u.selection, ev->type);
	case OP_LABEL:
		return find_label(ev, op->field, &label) &&
		    label_test(m, op, label.as.s, label.length);
	case OP_LABELS:
		return attr_labels(m, ev, op->u.node) == (enum tribool)op->want;
	case OP_TEST: return tel__value_truth(v) == (enum tribool)op->want;
	default:
		return query_run_compare(op, v,
		           op->constant ? &op->u.value : v + 1) ==
		    (enum tribool)op->want;
	}
}

/* The value of a field, which the event may lack. */
static struct value
optional_value(const struct tel_event *ev, const struct op *op)
{
	const struct tel_field *f = op->field;
	size_t n;

	if (!tel_present(op->u.decides, ev->data))
		return value_missing();
	if (f->datatype == TEL_STRING) {
		const char *s = tel_load_string(ev, f, &n);

		return value_string(s, n);
	}
	uint64_t v = tel_load(f, ev->data);
	return f->datatype == TEL_DOUBLE ? value_double(tel_bits_double(v)) :
	    f->datatype == TEL_SIGNED    ? value_of_width(v, f->width) :
	                                   value_natural(v);
}

/* How many elements a list has, or bytes a string. */
static struct value
query_run_length_of(const struct tel_event *ev, const struct tel_field *f)
{
	struct tel_list l;
	size_t n;

	if (!tel_present(f, ev->data))
		return value_missing();
	if (f->datatype == TEL_STRING) {
		(void)tel_load_string(ev, f, &n);
		return value_natural(n);
	}
	tel_list_open(ev, f, &l);
	return value_natural(l.count);
}

static struct value
next_element(struct tel_list *l)
{
	const struct tel_field *f = &l->field;
	size_t n;

	if (f->datatype == TEL_STRING) {
		const char *s = tel_list_next_string(l, &n);

		return value_string(s, n);
	}
	uint64_t v = tel_list_next(l);
	return f->datatype == TEL_DOUBLE ? value_double(tel_bits_double(v)) :
	    f->datatype == TEL_SIGNED    ? value_of_width(v, f->width) :
	                                   value_natural(v);
}

/* An element of a list, or whether one is .value. */
static struct value
list_value(const struct tel_event *ev, const struct op *op)
{
	const struct tel_field *f = op->field;
	uint64_t left = op->u.value.as.u;
	struct value v;
	struct tel_list l;

	if (f->datatype != TEL_LIST || !tel_present(f, ev->data))
		return value_missing();
	tel_list_open(ev, f, &l);
	while (l.count > 0) {
		v = next_element(&l);
		if (op->code == OP_CONTAINS &&
		    tel__value_compare(OPR_EQ, &v, &op->u.value, 0) ==
		        TRIBOOL_TRUE)
			return value_natural(1);
		if (op->code == OP_ELEMENT && left-- == 0)
			return v;
	}
	return op->code == OP_CONTAINS ? value_natural(0) : value_missing();
}

static void
eval_leaf(const struct op *op, struct machine *m, const struct tel_event *ev,
    struct value *v)
{
	const char *s;
	size_t length;

	switch ((enum op_code)op->code) {
	case OP_CONST: *v = op->u.value; return;
	case OP_NATURAL_FIELD:
		put_natural(v, tel_load(op->field, ev->data));
		return;
	case OP_SIGNED_FIELD:
		*v = value_of_width(tel_load(op->field, ev->data),
		    op->field->width);
		return;
	case OP_DOUBLE_FIELD:
		*v = value_double(
		    tel_bits_double(tel_load(op->field, ev->data)));
		return;
	case OP_CPI: *v = cpi(ev, op); return;
	case OP_STRING_FIELD:
		s = tel_load_string(ev, op->field, &length);
		*v = value_string(s, length);
		return;
	case OP_OPTIONAL_FIELD: *v = optional_value(ev, op); return;
	case OP_LENGTH: *v = query_run_length_of(ev, op->field); return;
	case OP_ELEMENT:
	case OP_CONTAINS: *v = list_value(ev, op); return;
	case OP_LABEL_FIELD: *v = attr_label(ev, op->field); return;
	case OP_NAME_FIELD:
		*v = attr_label(ev, op->field);
		if (v->tag == V_MISSING)
			*v = value_string("", 0);
		return;
	case OP_FIRST_LABEL: *v = attr_label(ev, NULL); return;
	case OP_LABELS_VALUE:
		put_tribool(v, attr_labels(m, ev, op->u.node));
		return;
	case OP_BUILTIN:
		*v = attr_builtin(m, ev, (enum builtin)op->sub);
		return;
	case OP_DERIVED:
		*v = attr_derived(m, ev, (enum derived)op->sub);
		return;
	default: *v = attr_of_start(m, ev, op); return;
	}
}

/* Takes values from v on, and leaves one there, except the item of a list. */
static void
eval_operator(const struct op *op, struct machine *m, struct value *v)
{
	const struct value *b = op->constant ? &op->u.value : v + 1;

	switch ((enum op_code)op->code) {
	case OP_HAS: put_natural(v, v->tag != V_MISSING); return;
	case OP_NOT: put_tribool(v, tribool_not(tel__value_truth(v))); return;
	case OP_AND:
		put_tribool(v,
		    tribool_and(tel__value_truth(v), tel__value_truth(b)));
		return;
	case OP_OR:
		put_tribool(v,
		    tribool_or(tel__value_truth(v), tel__value_truth(b)));
		return;
	case OP_UNARY: *v = tel__value_unary((enum value_op)op->sub, v); return;
	case OP_ARITHMETIC: query_run_arithmetic(op, v, b); return;
	case OP_COMPARE: put_tribool(v, query_run_compare(op, v, b)); return;
	case OP_MATCH: put_tribool(v, eval_match(m, op->u.node, v)); return;
	case OP_IN_SET: put_tribool(v, query_run_in_set(op->u.set, v)); return;
	case OP_IN_END: *v = *b; return;
	default: eval_item(op, v); return;
	}
}

/* Runs all ops from one on.  Returns GO_ACCEPT or GO_REJECT. */
static inline uint32_t
eval_ops(const struct program *p, uint32_t at, struct machine *m,
    const struct tel_event *ev)
{
	int hit = 0;

	while (at < GO_ACCEPT) {
		const struct op *op = &p->ops[at];

		if (op_is_test(op))
			hit = eval_test(op, m, ev);
		else if (op->code < OP_HAS)
			eval_leaf(op, m, ev, m->stack + op->at);
		else
			eval_operator(op, m, m->stack + op->at);
		at = hit ? op->yes : op->no;
	}
	return at;
}

int
tel__program_match(const struct program *p, struct machine *m,
    const struct tel_event *ev)
{
	return eval_ops(p, p->entry, m, ev) == GO_ACCEPT;
}

/*
 * Runs the quick tests that a program starts with on the bytes of event i of a
 * run.  labels: of the run, or NULL.  Returns where it continues.
 */
static inline uint32_t
eval_quick(const struct program *p, struct machine *m, struct tel_run *run,
    size_t i, const struct tel_labels *labels)
{
	const unsigned char *const data = run->data[i];
	struct tel_label label;
	uint32_t at = p->entry;
	const struct op *op;
	int64_t ns;
	int hit;

	for (; at < GO_ACCEPT; at = hit ? op->yes : op->no) {
		op = &p->ops[at];
		if (op->code == OP_SPAN_LE64) {
			hit = span_holds(op, tel_le64(data + op->offset));
			continue;
		}
		switch ((enum op_code)op->code) {
		case OP_SPAN_LE32:
			hit = span_holds(op, tel_le32(data + op->offset));
			break;
		case OP_SPAN_OPERATOR: hit = span_operator(op, data); break;
		case OP_SPAN_NS:
			hit = query_run_time_of(m, run_view(run, i), &ns) &&
			    span_is(op, (uint64_t)ns + BIAS);
			break;
		case OP_LABEL:
			if (labels == NULL || op->sub >= TEL_SPACES ||
			    op->field->is_label)
				return at;
			hit = tel__labels_find(labels, (enum tel_space)op->sub,
			          tel_load(op->field, data), run->clocks[i],
			          &label) &&
			    label.string != NULL &&
			    label_test(m, op, label.string, label.length);
			break;
		default: return at;
		}
	}
	return at;
}

void
tel__program_filter(const struct program *programs, uint32_t last,
    struct machine *m, struct tel_run *run)
{
	const struct tel_event *ev = run_event(run, 0);
	const struct tel_labels *labels =
	    ev->inline_use == TEL_INLINE_NONE ? ev->log->labels : NULL;
	const size_t count = run->count;
	const uint32_t *const types = run->types;
	uint16_t accepted[TEL_RUN_MAX];
	const struct program *p;
	size_t i, n = 0;

	/* what types decide, without a branch: which come next is random */
	for (i = 0; i < count; i++) {
		uint32_t at = programs[types[i] < last ? types[i] : last].entry;

		if (at < GO_ACCEPT)
			break;
		accepted[n] = (uint16_t)i;
		n += at == GO_ACCEPT;
	}
	m->in_run = 1;
	m->memo.round++;
	for (; i < count; i++) {
		p = &programs[types[i] < last ? types[i] : last];
		uint32_t at = p->entry;
		if (at < GO_ACCEPT)
			at = eval_quick(p, m, run, i, labels);
		if (at < GO_ACCEPT) {
			ev = p->placed ? run_event(run, i) : run_view(run, i);
			at = eval_ops(p, at, m, ev);
		}
		accepted[n] = (uint16_t)i;
		n += at == GO_ACCEPT;
	}
	m->in_run = m->has_part = 0;
	for (i = 0; i < n && n < count; i++)
		run_move(run, i, accepted[i]);
	run->count = n;
}

void
tel__program_value(const struct program *p, struct machine *m,
    const struct tel_event *ev, struct value *out)
{
	(void)eval_ops(p, p->entry, m, ev);
	*out = m->stack[0];
}
