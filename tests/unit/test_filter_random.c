/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Filters: random expressions.  What the compiler makes of one, type by type,
 * must come to what walking its tree comes to, and the laws of logic that
 * hold for three values must hold.
 */
#include "filter_events.h"

#include "filter_random.h"
#include "made_run.h"
#include "query/tree.h"

#define ROUNDS (2000 / sample_step(4))

/* ------------------------------------------- the tree, walked naively */

struct walk {
	const struct tree *tree;
	const struct tel_event *ev;
	struct value dt;
	char scratch[SUBJECT_MAX + 1];
};

static struct value walk(struct walk *w, uint32_t node);

static struct value
walk_field(const struct walk *w, const char *name)
{
	int at = tel_type_find_field(w->ev->type, name);
	const char *s;
	size_t length;

	if (at < 0)
		return value_missing();
	switch (w->ev->type->fields[at].datatype) {
	case TEL_STRING:
		s = tel_event_string(w->ev, (unsigned)at, &length);
		return value_string(s, length);
	case TEL_DOUBLE:
		return value_double(tel_event_double(w->ev, (unsigned)at));
	default: return value_natural(tel_event_u64(w->ev, (unsigned)at));
	}
}

static struct value
walk_label(const struct walk *w, int at)
{
	size_t length;
	const char *s =
	    at < 0 ? NULL : tel_event_label(w->ev, (unsigned)at, &length);

	return s == NULL ? value_missing() : value_string(s, length);
}

static struct value
walk_builtin(const struct walk *w, enum builtin b)
{
	const struct tel_event *ev = w->ev;

	switch (b) {
	case B_KIND:
		return value_string(ev->type->kind, strlen(ev->type->kind));
	case B_NAME:
		return value_string(ev->type->name, strlen(ev->type->name));
	case B_CODE: return value_natural(ev->type->code);
	case B_TIME: return value_signed(ev->clock - 1000);
	case B_CLOCK: return value_natural(ev->clock);
	case B_DT: return w->dt;
	case B_INDEX: return value_natural(ev->index);
	case B_SIZEOF: return value_natural(ev->size);
	default: return value_missing();
	}
}

/* A comparison, match or list of a value that is there or not. */
static enum tribool
walk_test(struct walk *w, const struct node *n, const struct value *a)
{
	const struct tree *t = w->tree;
	int any_case = (n->flags & NODE_ANY_CASE) != 0;
	enum tribool verdict = TRIBOOL_FALSE, one;
	struct value b;
	uint32_t i;

	if (n->op == N_COMPARE) {
		b = walk(w, n->b);
		return tel__value_compare((enum value_op)n->opr, a, &b,
		    any_case);
	}
	if (n->op == N_MATCH) {
		if (a->tag != V_STRING)
			return TRIBOOL_UNKNOWN;
		one = tel__pattern_match(t->patterns[n->pattern], a->as.s,
		          a->length, w->scratch) > 0 ?
		    TRIBOOL_TRUE :
		    TRIBOOL_FALSE;
		return (n->flags & NODE_NEGATE) != 0 ? tribool_not(one) : one;
	}
	for (i = 0; i < n->count; i++) {
		b = walk(w, t->items[n->first + i].lo);
		if (t->items[n->first + i].range) {
			one = tel__value_compare(OPR_GE, a, &b, any_case);
			b = walk(w, t->items[n->first + i].hi);
			one = tribool_and(one,
			    tel__value_compare(OPR_LE, a, &b, any_case));
		} else {
			one = tel__value_compare(OPR_EQ, a, &b, any_case);
		}
		verdict = tribool_or(verdict, one);
	}
	return verdict;
}

static struct value
walk_tests(struct walk *w, const struct node *n)
{
	int none = (n->op == N_COMPARE && n->opr == OPR_NE) ||
	    (n->flags & NODE_NEGATE) != 0;
	enum tribool verdict = TRIBOOL_UNKNOWN, one;
	struct value a;
	unsigned i;

	if (w->tree->nodes[n->a].op != N_LABELS) {
		a = walk(w, n->a);
		return value_tribool(walk_test(w, n, &a));
	}
	for (i = 0; i < w->ev->type->nfields; i++) {
		a = walk_label(w, (int)i);
		if (a.tag == V_MISSING)
			continue;
		one = walk_test(w, n, &a);
		if (verdict == TRIBOOL_UNKNOWN)
			verdict = one;
		else
			verdict = none ? tribool_and(verdict, one) :
			                 tribool_or(verdict, one);
	}
	return value_tribool(verdict);
}

static struct value
walk(struct walk *w, uint32_t node)
{
	const struct tree *t = w->tree;
	const struct node *n = &t->nodes[node];
	struct value a, b;
	unsigned i;

	switch ((enum node_op)n->op) {
	case N_CONST: return n->value;
	case N_FIELD: return walk_field(w, t->symbols[n->symbol].name);
	case N_BUILTIN: return walk_builtin(w, (enum builtin)n->builtin);
	case N_LABEL:
		return walk_label(w,
		    tel_type_find_field(w->ev->type,
		        t->symbols[n->symbol].name));
	case N_LABELS:
		a = value_missing();
		for (i = 0; i < w->ev->type->nfields; i++)
			if (a.tag == V_MISSING)
				a = walk_label(w, (int)i);
		return a;
	case N_COMPARE:
	case N_MATCH:
	case N_IN: return walk_tests(w, n);
	default: break;
	}
	a = walk(w, n->a);
	if (n->op == N_HAS)
		return value_natural(a.tag != V_MISSING);
	if (n->op == N_NOT)
		return value_tribool(tribool_not(tel__value_truth(&a)));
	if (n->op == N_UNARY)
		return tel__value_unary((enum value_op)n->opr, &a);
	b = walk(w, n->b);
	if (n->op == N_ARITHMETIC)
		return tel__value_arithmetic((enum value_op)n->opr, &a, &b);
	return value_tribool(n->op == N_AND ?
	        tribool_and(tel__value_truth(&a), tel__value_truth(&b)) :
	        tribool_or(tel__value_truth(&a), tel__value_truth(&b)));
}

/* ---------------------------------------------------------- the checks */

/* The verdict on each event, as three-valued text: 1, 0 or ?. */
static int
judge(const struct events *e, const char *text, char *out)
{
	struct text negation = { "", 0 };
	tel_filter *yes = must(tel_filter_new());
	tel_filter *no = must(tel_filter_new());
	unsigned i;
	int good, y, n;

	say(&negation, "!(");
	say(&negation, text);
	say(&negation, ")");
	good = tel_filter_set_expression(yes, text) == TEL_OK &&
	    tel_filter_set_expression(no, negation.s) == TEL_OK &&
	    tel_filter_bind(yes, e->schema) == TEL_OK &&
	    tel_filter_bind(no, e->schema) == TEL_OK;
	/* both are asked of every event, as dt wants it */
	for (i = 0; good && i < EVENTS; i++) {
		y = tel_filter_match(yes, &e->event[i]);
		n = tel_filter_match(no, &e->event[i]);
		out[i] = y == 1 ? '1' : n == 1 ? '0' : '?';
	}
	if (!good)
		diag("%s: %s", text, tel_filter_error(yes));
	out[EVENTS] = '\0';
	tel_filter_free(yes);
	tel_filter_free(no);
	return good;
}

static int
judge_by_tree(const struct events *e, const char *text, char *out)
{
	static struct walk w;
	struct tree *tree;
	struct fail fail;
	struct value v;
	enum tribool t;
	unsigned i;

	if (tel__tree_parse(text, 0, &fail, &tree) != TEL_OK)
		return 0;
	if (tel__tree_check(tree, e->schema, &fail) != TEL_OK) {
		tel__tree_free(tree);
		return 0;
	}
	w.tree = tree;
	for (i = 0; i < EVENTS; i++) {
		w.ev = &e->event[i];
		w.dt = i == 0 ?
		    value_missing() :
		    value_signed(w.ev->clock - e->event[i - 1].clock);
		v = walk(&w, tree->root);
		t = tel__value_truth(&v);
		out[i] = t == TRIBOOL_TRUE ? '1' :
		    t == TRIBOOL_FALSE     ? '0' :
		                             '?';
	}
	out[EVENTS] = '\0';
	tel__tree_free(tree);
	return 1;
}

/* What && and || make of two verdicts. */
static void
join(const char *a, const char *b, char zero, char *out)
{
	char one = zero == '0' ? '1' : '0';
	unsigned i;

	for (i = 0; i < EVENTS; i++)
		out[i] = a[i] == zero || b[i] == zero ? zero :
		    a[i] == one && b[i] == one        ? one :
		                                        '?';
	out[EVENTS] = '\0';
}

static int
same(const struct events *e, const char *text, const char *want)
{
	char got[EVENTS + 1];

	if (!judge(e, text, got))
		return 0;
	if (strcmp(got, want) != 0) {
		diag("%s: %s, expected %s", text, got, want);
		return 0;
	}
	return 1;
}

/* The laws about p and q, given their verdicts. */
static int
check_laws(const struct events *e, const struct text *p, const struct text *q,
    const char *vp, const char *vq)
{
	char want[EVENTS + 1];
	static char text[sizeof(p->s) * 2 + 64];

	join(vp, vq, '0', want);
	snprintf(text, sizeof(text), "(%s) && (%s)", p->s, q->s);
	if (!same(e, text, want))
		return 0;
	snprintf(text, sizeof(text), "!(!(%s) || !(%s))", p->s, q->s);
	if (!same(e, text, want))
		return 0;
	snprintf(text, sizeof(text), "((%s) && (%s)) + 0", p->s, q->s);
	if (!same(e, text, want))
		return 0;
	join(vp, vq, '1', want);
	snprintf(text, sizeof(text), "(%s) || (%s)", p->s, q->s);
	if (!same(e, text, want))
		return 0;
	snprintf(text, sizeof(text), "!(!(%s) && !(%s))", p->s, q->s);
	return same(e, text, want);
}

/* The complement has exactly what the filter has not. */
static int
check_invert(const struct events *e, const char *text, const char *verdicts)
{
	tel_filter *f = must(tel_filter_new());
	int good = tel_filter_set_expression(f, text) == TEL_OK, want;
	unsigned i;

	tel_filter_set_invert(f, 1);
	for (i = 0; good && i < EVENTS; i++) {
		want = verdicts[i] != '1';
		good = tel_filter_match(f, &e->event[i]) == want;
	}
	tel_filter_free(f);
	return good;
}

/* A run of events of all types or of few of them, with any values. */
static void
make_run(struct made_run *m, const struct events *e)
{
	const unsigned most = 1 + pick(TEL_RUN_MAX);
	const unsigned types = pick(2) ? EVENTS : 2;
	const struct tel_event *ev;
	struct tel_event one;
	unsigned i, f;

	made_run_begin(m);
	/* one of an unknown type must be the first */
	ev = &e->event[pick(EVENTS)];
	for (i = 0; i < most; i++) {
		one = *ev;
		one.clock = 1000 + pick(9000);
		made_run_add(m, &one);
		for (f = 0; f < one.type->nfields; f++)
			if (one.type->fields[f].datatype != TEL_STRING &&
			    pick(8))
				tel_encode_field(&one.type->fields[f],
				    draw_number(), made_run_bytes(m));
		do {
			ev = &e->event[pick(types)];
		} while (ev->type->unknown);
	}
}

/* Filtering a run leaves the events that match one by one. */
static int
check_run(const struct events *e, const char *text, struct made_run *m,
    unsigned *left)
{
	tel_filter *all = must(tel_filter_new()), *one = must(tel_filter_new());
	unsigned char match[TEL_RUN_MAX];
	const char *time;
	size_t i, n = 0, count;
	int good;

	make_run(m, e);
	count = m->run.count;
	good = tel_filter_set_expression(all, text) == TEL_OK &&
	    tel_filter_set_expression(one, text) == TEL_OK &&
	    tel_filter_bind(all, e->schema) == TEL_OK &&
	    tel_filter_bind(one, e->schema) == TEL_OK;
	if (pick(4) == 0) {
		time = pick(2) ? "500,4000" : "500ns,4000ns";
		must_ok(tel_filter_set_time(one, time));
		must_ok(tel_filter_set_time(all, time));
	}
	if (pick(8) == 0) {
		must_ok(tel_filter_add_label(one, "*a*"));
		must_ok(tel_filter_add_label(all, "*a*"));
	}
	tel_filter_set_invert(all, (int)(count & 1));
	tel_filter_set_invert(one, (int)(count & 1));
	for (i = 0; i < count; i++)
		match[i] = tel_filter_match(one, run_event(&m->run, i)) == 1;
	good &= tel_filter_run(all, &m->run) == TEL_OK;
	for (i = 0; i < count; i++) {
		if (!match[i])
			continue;
		good &= n < m->run.count && m->run.numbers[n] == i &&
		    m->run.data[n] == m->bytes[i];
		n++;
	}
	good &= n == m->run.count;
	*left += (unsigned)n;
	if (!good)
		diag("%s: %s: %zu of %zu events, expected %zu", text,
		    tel_filter_error(all), m->run.count, count, n);
	tel_filter_free(all);
	tel_filter_free(one);
	return good;
}

/* Whether each operator takes what it is given: doubles have no bits. */
static int
is_valid(const struct events *e, const char *text)
{
	tel_filter *f = must(tel_filter_new());
	const int valid = tel_filter_set_expression(f, text) == TEL_OK &&
	    tel_filter_bind(f, e->schema) == TEL_OK;

	tel_filter_free(f);
	return valid;
}

static void
test_runs(const struct events *e)
{
	static struct made_run made;
	unsigned i, any = 0, few = 0, arithmetic = 0, natural = 0, left = 0;
	struct text p;

	for (i = 0; i < ROUNDS; i++) {
		p.n = 0;
		say_condition(&p, 4);
		any += (unsigned)check_run(e, p.s, &made, &left);
		p.n = 0;
		say_condition(&p, 1 + (int)pick(2));
		few += (unsigned)check_run(e, p.s, &made, &left);
		do {
			p.n = 0;
			say_arithmetic(&p);
			say(&p, pick(2) ? " && " : " || ");
			say_strings(&p);
		} while (!is_valid(e, p.s));
		arithmetic += (unsigned)check_run(e, p.s, &made, &left);
		p.n = 0;
		say_natural(&p, 5);
		natural += (unsigned)check_run(e, p.s, &made, &left);
	}
	is_u64(any, ROUNDS, "runs are filtered as their events are");
	is_u64(few, ROUNDS, "by simple conditions, too");
	is_u64(arithmetic, ROUNDS, "and by arithmetic and strings");
	is_u64(natural, ROUNDS, "also where all is columns");
	ok(left > ROUNDS * 20, "%u events matched", left);
}

int
main(void)
{
	struct text p, q;
	char vp[EVENTS + 1], vq[EVENTS + 1], tree[EVENTS + 1];
	unsigned i, walked = 0, laws = 0, inverted = 0, seen[256] = { 0 };
	struct events e;
	size_t j;

	make_events(&e);
	for (i = 0; i < ROUNDS; i++) {
		p.n = q.n = 0;
		say_condition(&p, 5);
		say_condition(&q, 3);
		if (!judge(&e, p.s, vp) || !judge(&e, q.s, vq))
			break;
		if (!judge_by_tree(&e, p.s, tree))
			break;
		if (strcmp(vp, tree) == 0)
			walked++;
		else
			diag("%s: %s, expected %s", p.s, vp, tree);
		laws += (unsigned)check_laws(&e, &p, &q, vp, vq);
		inverted += (unsigned)check_invert(&e, p.s, vp);
		for (j = 0; j < EVENTS; j++)
			seen[(unsigned char)vp[j]]++;
	}
	is_u64(i, ROUNDS, "random expressions compile");
	is_u64(walked, ROUNDS, "programs come to what their trees do");
	is_u64(laws, ROUNDS, "&& and || of two, and De Morgan's laws");
	is_u64(inverted, ROUNDS, "the complement of a filter");
	ok(seen['1'] > ROUNDS && seen['0'] > ROUNDS && seen['?'] > ROUNDS,
	    "all verdicts are met: %u true, %u false, %u unknown", seen['1'],
	    seen['0'], seen['?']);
	test_runs(&e);
	free_events(&e);
	return done();
}
