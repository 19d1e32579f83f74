/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks a tree against a schema: the names that were written bare must be
 * there, and no part may be of a class that does not fit its operator.  A field
 * may be of one class in one type and of another in the next: what counts is
 * what it may be.  Classes 0: no type has it, so it fits anywhere.
 */
#include "query/counter.h"
#include "query/suggest.h"
#include "query/tree.h"

#include <string.h>

struct check {
	struct tree *tree;
	const struct tel_schema *schema;
	struct fail *fail;
};

static unsigned
check_class_of_datatype(enum tel_datatype datatype)
{
	if (datatype == TEL_STRING)
		return C_STRING;
	return datatype == TEL_DOUBLE ? C_DOUBLE : C_INTEGER;
}

/* Whether the symbol is compared with a string, and thus may be one. */
static int
is_beside_string(const struct tree *t, const struct symbol *s)
{
	for (uint32_t i = 0; i < t->nnodes; i++) {
		const struct node *n = &t->nodes[i];

		if (n->op != N_COMPARE)
			continue;
		const struct node *a = &t->nodes[n->a], *b = &t->nodes[n->b];
		if (b->op == N_FIELD && &t->symbols[b->symbol] == s &&
		    (a->op == N_LABEL || a->op == N_LABELS ||
		        (a->op == N_FIELD &&
		            t->symbols[a->symbol].classes == C_STRING)))
			return 1;
	}
	return 0;
}

/* Names that other tools have. */
static const char *const synonyms[][2] = { { "event", "name" },
	{ "ts", "clock" }, { "comm", "label(tid)" } };

static tel_status
check_unknown_field(struct check *c, const struct symbol *s)
{
	const struct tel_schema *schema = c->schema;
	struct suggestion near;
	char text[200];

	if (s->use != USE_LABEL && is_beside_string(c->tree, s))
		return tel__fail_set(c->fail, TEL_EINVAL, c->tree->text,
		    s->column,
		    "no event type has a field '%.64s'; a string is in "
		    "quotes: \"%.64s\"",
		    s->name, s->name);
	tel__suggest_start(&near, s->name, strlen(s->name));
	for (unsigned i = 0; s->use != USE_LABEL && i < B_COUNT; i++)
		tel__suggest_offer(&near, tel__builtin_name((enum builtin)i));
	for (unsigned i = 0; i < schema->ntypes; i++)
		for (unsigned j = 0; j < schema->types[i].nfields; j++)
			tel__suggest_offer(&near,
			    schema->types[i].fields[j].name);
	for (unsigned i = 0;
	     s->use != USE_LABEL && i < sizeof(synonyms) / sizeof(synonyms[0]);
	     i++)
		if (strcmp(synonyms[i][0], s->name) == 0 &&
		    (near.best[0] == NULL || near.distance[0] > 1))
			near = (struct suggestion){ .best[0] = synonyms[i][1] };
	return tel__fail_set(c->fail, TEL_EINVAL, c->tree->text, s->column,
	    "no event type has a field '%.64s'%s", s->name,
	    tel__suggest_text(&near, text, sizeof(text)));
}

/* A tel__type_fn of a symbol. */
static int
has_symbol(const struct tel_type *type, const void *symbol)
{
	const int at = tel__symbol_find(symbol, type);

	return at >= 0 || at == COUNTER_CPI;
}

/* Adds what the symbol may be in events of a type: a tel__type_fn that is 0. */
static int
check_add_classes(const struct tel_type *type, const void *symbol)
{
	struct symbol *const *to = symbol;
	struct symbol *s = *to;
	const int at = tel__symbol_find(s, type);

	if (at == COUNTER_CPI) {
		s->classes |= C_DOUBLE;
		s->whole |= C_DOUBLE;
	}
	if (at < 0)
		return 0;
	const struct tel_field *f = &type->fields[at];
	const unsigned class = check_class_of_datatype(
	    symbol_is_name(s, f) ? TEL_STRING : tel_field_element(f));
	s->classes |= (uint8_t) class;
	s->whole |= (uint8_t)(f->datatype == TEL_LIST ? C_LIST : class);
	s->labelled |= node_labelled(f) != 0;
	return 0;
}

static tel_status
check_symbol(struct check *c, struct symbol *s)
{
	/* what it was in logs before is kept: each event has its own */
	for (unsigned i = 0; i < c->schema->ntypes; i++)
		(void)check_add_classes(&c->schema->types[i], &s);
	if (s->checked && !s->known) {
		const int any = tel__schema_any(c->schema, has_symbol, s);
		s->known = any > 0;
		if (any == 0)
			return check_unknown_field(c, s);
	}
	if (s->use == USE_LABEL && s->classes != 0 && !s->labelled)
		return tel__fail_set(c->fail, TEL_EINVAL, c->tree->text,
		    s->column,
		    "the field '%.64s' is neither an address nor an enum, so "
		    "it has no label",
		    s->name);
	return TEL_OK;
}

/* A tel__type_fn of a word. */
static int
has_kind(const struct tel_type *type, const void *word)
{
	const struct value kind = value_string(type->kind, strlen(type->kind));

	return tel__value_compare(OPR_EQ, word, &kind, 1) == TRIBOOL_TRUE;
}

/* A tel__type_fn of a word. */
static int
has_name(const struct tel_type *type, const void *word)
{
	const struct value *name = word;

	return strcmp(type->name, name->as.s) == 0;
}

/* A bare word compared with kind or name. */
static tel_status
check_word(struct check *c, struct node *n)
{
	/* the kind of events of unknown types is in no schema's table */
	static const struct tel_type unknown = { .kind = "Unknown" };
	const struct tel_schema *schema = c->schema;
	int kind = (n->flags & NODE_KIND_WORD) != 0;
	const char *word = n->value.as.s;
	struct suggestion near;
	char text[200];

	if ((n->flags & NODE_KNOWN) != 0 ||
	    (kind && has_kind(&unknown, &n->value)))
		return TEL_OK;
	const int any =
	    tel__schema_any(schema, kind ? has_kind : has_name, &n->value);
	n->flags |= any > 0 ? NODE_KNOWN : 0;
	if (any != 0)
		return TEL_OK;
	tel__suggest_start(&near, word, n->value.length);
	for (unsigned i = 0; i < schema->ntypes; i++)
		tel__suggest_offer(&near,
		    kind ? schema->types[i].kind : schema->types[i].name);
	return tel__fail_set(c->fail, TEL_EINVAL, c->tree->text, n->column,
	    "unknown %s '%.64s'%s", kind ? "kind" : "event type", word,
	    tel__suggest_text(&near, text, sizeof(text)));
}

static const char *
class_name(unsigned classes)
{
	if (classes == C_STRING)
		return "a string";
	if (classes == C_DOUBLE)
		return "a double";
	if (classes == C_INTEGER)
		return "an integer";
	return (classes & C_STRING) == 0 ? "a number" : "a string or number";
}

/* Fails unless the operand may be of one of the classes wanted. */
static tel_status
want_class(struct check *c, uint32_t operand, unsigned wanted, const char *who)
{
	const struct node *n = &c->tree->nodes[operand];

	if (n->classes == 0 || (n->classes & wanted) != 0)
		return TEL_OK;
	return tel__fail_set(c->fail, TEL_EINVAL, c->tree->text, n->column,
	    "%s takes %s, and this is %s", who, class_name(wanted),
	    class_name(n->classes));
}

/* Fails unless the two may be of classes that compare. */
static tel_status
want_alike(struct check *c, const struct node *at, uint32_t a, uint32_t b)
{
	unsigned x = c->tree->nodes[a].classes, y = c->tree->nodes[b].classes;

	if (x == 0 || y == 0 || ((x & C_NUMBER) && (y & C_NUMBER)) ||
	    ((x & C_STRING) && (y & C_STRING)))
		return TEL_OK;
	return tel__fail_set(c->fail, TEL_EINVAL, c->tree->text, at->column,
	    "cannot compare %s with %s", class_name(x), class_name(y));
}

/* A bare label means any label: only some comparisons are defined. */
static tel_status
check_labels(struct check *c, const struct node *n, uint32_t with)
{
	const struct tree *t = c->tree;
	const struct node *label = &t->nodes[n->a];

	if (t->nodes[with].op == N_LABELS)
		label = &t->nodes[with];
	if (label->op != N_LABELS)
		return TEL_OK;
	if (t->nodes[n->a].op == N_LABELS && t->nodes[with].op == N_CONST &&
	    (n->op == N_IN || n->opr == OPR_EQ || n->opr == OPR_NE))
		return TEL_OK;
	return tel__fail_set(c->fail, TEL_EINVAL, t->text, label->column,
	    "'label' without a field can only be compared by == != ~ !~ =* !* "
	    "in with strings; name a field, label(f)");
}

static tel_status
check_in(struct check *c, struct node *n)
{
	const struct item *items = c->tree->items + n->first;
	tel_status st = TEL_OK;

	n->classes = C_INTEGER;
	for (uint32_t i = 0; i < n->count && st == TEL_OK; i++) {
		st = want_alike(c, &c->tree->nodes[items[i].lo], n->a,
		    items[i].lo);
		if (st == TEL_OK)
			st = want_alike(c, &c->tree->nodes[items[i].hi], n->a,
			    items[i].hi);
		if (st == TEL_OK)
			st = check_labels(c, n, items[i].lo);
		if (st == TEL_OK)
			st = check_labels(c, n, items[i].hi);
	}
	return st;
}

static tel_status
check_arithmetic(struct check *c, struct node *n)
{
	static const char *const signs[] = { "'+'", "'-'", "'*'", "'/'", "'%'",
		"'&'", "'|'", "'^'", "'<<'", "'>>'", "'-'", "'~'" };
	const struct node *nodes = c->tree->nodes;
	int integers = n->opr >= OPR_MOD && n->opr != OPR_NEGATE;
	unsigned wanted = integers ? C_INTEGER : C_NUMBER, both;
	tel_status st = want_class(c, n->a, wanted, signs[n->opr]);

	if (st == TEL_OK && n->op == N_ARITHMETIC)
		st = want_class(c, n->b, wanted, signs[n->opr]);
	both = nodes[n->a].classes;
	if (n->op == N_ARITHMETIC)
		both |= nodes[n->b].classes;
	n->classes = integers ? C_INTEGER : (uint8_t)(both & C_NUMBER);
	return st;
}

/* A list has no value of its own, unless another type has a number there. */
static tel_status
check_own_value(struct check *c, struct node *n)
{
	const struct symbol *s = &c->tree->symbols[n->symbol];

	n->classes = s->whole & (uint8_t)~C_LIST;
	if (s->whole != C_LIST || (n->flags & NODE_HAS) != 0)
		return TEL_OK;
	return tel__fail_set(c->fail, TEL_EINVAL, c->tree->text, n->column,
	    "'%.64s' is a list; use len(%.64s), an element such as %.64s[0], "
	    "or in",
	    s->name, s->name, s->name);
}

static tel_status
check_length(struct check *c, const struct node *n)
{
	const struct symbol *s = &c->tree->symbols[n->symbol];

	if (s->whole == 0 || (s->whole & (C_LIST | C_STRING)) != 0)
		return TEL_OK;
	return tel__fail_set(c->fail, TEL_EINVAL, c->tree->text, n->column,
	    "len() takes a list or a string, and '%.64s' is %s", s->name,
	    class_name(s->whole));
}

/* A type without a list there is never selected, so all of them are a mistake. */
static tel_status
check_list(struct check *c, const struct node *n)
{
	const struct symbol *s = &c->tree->symbols[n->symbol];

	if (s->whole == 0 || (s->whole & C_LIST) != 0)
		return TEL_OK;
	return tel__fail_set(c->fail, TEL_EINVAL, c->tree->text, n->column,
	    "'%.64s' is %s, not a list", s->name, class_name(s->whole));
}

static unsigned
class_of_builtin(enum builtin b)
{
	return b == B_KIND || b == B_NAME ? C_STRING : C_INTEGER;
}

static tel_status
check_node(struct check *c, struct node *n)
{
	static const unsigned tags[] = { 0, C_INTEGER, C_INTEGER, C_DOUBLE,
		C_STRING };
	tel_status st;

	n->classes = C_INTEGER;
	switch ((enum node_op)n->op) {
	case N_CONST:
		n->classes = (uint8_t)tags[n->value.tag];
		if ((n->flags & (NODE_KIND_WORD | NODE_TYPE_WORD)) != 0)
			return check_word(c, n);
		break;
	case N_FIELD: return check_own_value(c, n);
	case N_LENGTH: return check_length(c, n);
	case N_ELEMENT:
		n->classes = c->tree->symbols[n->symbol].classes;
		return check_list(c, n);
	case N_CONTAINS: return check_list(c, n);
	case N_BUILTIN:
		n->classes =
		    (uint8_t)class_of_builtin((enum builtin)n->builtin);
		break;
	case N_LABEL:
	case N_LABELS: n->classes = C_STRING; break;
	case N_DERIVED:
		n->classes = c->tree->symbols[n->symbol].classes |
		    (n->builtin == D_STACK ? C_STRING : C_INTEGER);
		break;
	case N_START: n->classes = c->tree->nodes[n->a].classes; break;
	case N_HAS: break;
	case N_NOT: return want_class(c, n->a, C_NUMBER, "'!'");
	case N_UNARY:
	case N_ARITHMETIC: return check_arithmetic(c, n);
	case N_COMPARE:
		st = check_labels(c, n, n->b);
		return st != TEL_OK ? st : want_alike(c, n, n->a, n->b);
	case N_MATCH: return want_class(c, n->a, C_STRING, "a pattern");
	case N_AND:
	case N_OR:
		st = want_class(c, n->a, C_NUMBER,
		    n->op == N_AND ? "'&&'" : "'||'");
		return st != TEL_OK ? st :
		                      want_class(c, n->b, C_NUMBER,
		                          n->op == N_AND ? "'&&'" : "'||'");
	case N_IN: return check_in(c, n);
	}
	return TEL_OK;
}

static tel_status
check_tree(struct check *c)
{
	struct tree *t = c->tree;
	tel_status st = TEL_OK;

	for (uint32_t i = 0; i < t->nsymbols && st == TEL_OK; i++)
		st = check_symbol(c, &t->symbols[i]);
	for (uint32_t i = 0; i < t->nnodes && st == TEL_OK; i++)
		st = check_node(c, &t->nodes[i]);
	return st;
}

tel_status
tel__tree_check(struct tree *t, const struct tel_schema *schema,
    struct fail *fail)
{
	struct check c = { t, schema, fail };
	tel_status st = check_tree(&c);

	if (st == TEL_OK)
		return st;
	/* it may fit one of the logs that are read together */
	for (uint32_t i = 0; i < t->nsymbols; i++) {
		struct symbol *s = &t->symbols[i];

		(void)tel__schema_any(schema, check_add_classes, &s);
	}
	return check_tree(&c);
}
