/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tree: an expression as it was written, before any schema is known.  Nodes
 * lie in an array, operands before what they belong to, so that a pass over
 * all is a loop and needs no stack.
 */
#ifndef TEL_QUERY_TREE_H
#define TEL_QUERY_TREE_H

#include "model/event.h"
#include "query/pattern.h"
#include "query/token.h"

/* Documented limits. */
#define TEXT_MAX ((size_t)1 << 16)
#define DEPTH_MAX 200u
#define NODES_MAX 4096u
#define LIST_MAX 1024u

/* What went wrong last, and where. */
struct fail {
	const char *text; /* the text that the column counts in */
	unsigned column;  /* from 1; 0: no place in particular */
	char message[320];
};

/* Sets it and returns status. */
__attribute__((format(printf, 5, 6))) tel_status tel__fail_set(struct fail *f,
    tel_status status, const char *text, unsigned column, const char *format,
    ...);

enum node_op {
	N_CONST,
	N_FIELD,    /* .symbol */
	N_BUILTIN,  /* .builtin */
	N_LABEL,    /* the label of .symbol's value */
	N_LABELS,   /* bare: any label of the event */
	N_DERIVED,  /* .builtin, an enum derived; a field .symbol comes first */
	N_START,    /* a of the event that began it; .first: counts these */
	N_LENGTH,   /* how many elements, or bytes, .symbol has */
	N_ELEMENT,  /* number .first of the list .symbol */
	N_CONTAINS, /* whether the list .symbol has .value */
	N_HAS,
	N_NOT,
	N_UNARY,      /* .opr */
	N_ARITHMETIC, /* .opr */
	N_COMPARE,    /* .opr */
	N_MATCH,      /* a with .pattern */
	N_AND,
	N_OR,
	N_IN /* a among items .first to .first + .count - 1 */
};

enum builtin {
	B_KIND,
	B_NAME,
	B_CODE,
	B_TIME,
	B_CLOCK,
	B_DT,
	B_INDEX,
	B_CPU,
	B_TID,
	B_PID,
	B_SIZEOF,
	B_LABEL,
	B_COUNT
};

/* What roles and the events before say of an event. */
enum derived {
	D_ALLOCATES,
	D_BYTES,
	D_DURATION,
	D_FREES,
	D_LIVE,
	D_STACK,
	D_COUNT
};

/* Bits of node.flags. */
enum {
	NODE_PAREN = 1,      /* written in parentheses */
	NODE_ANY_CASE = 2,   /* a comparison with kind */
	NODE_NEGATE = 4,     /* !~ and !* */
	NODE_KIND_WORD = 8,  /* a bare word: the name of a kind */
	NODE_TYPE_WORD = 16, /* a bare word: the name of a type */
	NODE_BARE = 32,      /* a bare name: perhaps a word */
	NODE_KNOWN = 64,     /* a word that some schema had */
	NODE_HAS = 128       /* in has(), which takes lists, too */
};

struct node {
	uint8_t op;
	uint8_t opr; /* enum value_op */
	uint8_t builtin;
	uint8_t flags;
	uint8_t classes; /* what it may be worth, for the schema bound last */
	uint32_t column;
	uint32_t a, b; /* operands */
	uint32_t first, count;
	uint32_t symbol;
	uint32_t pattern;
	struct set *set; /* N_IN: all items, if they are plain integers */
	struct value value;
};

/* Whether a test of labels is true where no label is what it has. */
static inline int
negates(const struct node *n)
{
	return (n->op == N_COMPARE && n->opr == OPR_NE) ||
	    (n->flags & NODE_NEGATE) != 0;
}

/* As what the value of a field is used. */
enum symbol_use {
	USE_VALUE,
	USE_LABEL,  /* in label(): some type must have one */
	USE_TEXT,   /* beside a string: of an enum, its label */
	USE_DERIVED /* a field in place of a derived value */
};

/* Nonzero when f may have labels, or is the label of an enum. */
static inline int
node_labelled(const struct tel_field *f)
{
	return tel_field_labelled(f) || f->is_label;
}

/* The name of a field. */
struct symbol {
	const char *name;
	uint32_t column;
	uint8_t checked;  /* written bare: some type must have it, */
	uint8_t known;    /* and had it */
	uint8_t use;      /* enum symbol_use */
	uint8_t classes;  /* in all schemas so far; of a list its elements' */
	uint8_t whole;    /* the same; of a list C_LIST */
	uint8_t labelled; /* it has a label in one of them */
};

/* Nonzero when the name of a value of f is meant. */
static inline int
symbol_is_name(const struct symbol *s, const struct tel_field *f)
{
	return s->use == USE_TEXT && f->names != NULL;
}

/* An item of the list of in: one value or, with .range, two. */
struct item {
	uint32_t lo, hi;
	int range;
};

/* A set of integers, as spans in order that do not touch. */
struct set {
	size_t count;
	struct span {
		uint64_t lo, hi;
	} spans[];
};

/* Makes a set of spans (which are put in order); NULL: no memory. */
struct set *tel__set_new(struct span *spans, size_t count);

/* Whether it has a number from first to last, both included. */
static inline int
set_meets(const struct set *s, uint64_t first, uint64_t last)
{
	size_t lo = 0, hi = s->count, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (s->spans[mid].hi < first)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < s->count && s->spans[lo].lo <= last;
}

static inline int
set_has(const struct set *s, uint64_t v)
{
	return set_meets(s, v, v);
}

struct tree {
	char *text;  /* our copy */
	char *words; /* names and strings of it */
	struct node *nodes;
	uint32_t nnodes;
	size_t node_room;
	uint32_t root;
	struct symbol *symbols;
	uint32_t nsymbols;
	size_t symbol_room;
	struct item *items;
	uint32_t nitems;
	size_t item_room;
	struct pattern **patterns;
	uint32_t npatterns;
	size_t pattern_room;
	int uses_before;  /* events before: it has to see all of them */
	int uses_history; /* how they belong together: history.h */
	int uses_rate;    /* what a tick lasts: time, dt or duration */
	int uses_regex;
	uint32_t nstarts; /* nodes that are N_START */
};

/*
 * Makes a tree of text.  type_is_name: "type" is the type of an event, not a
 * field.  TEL_OK; TEL_EINVAL and TEL_ELIMIT with fail set; TEL_ENOMEM.
 */
tel_status tel__tree_parse(const char *text, int type_is_name,
    struct fail *fail, struct tree **out);
void tel__tree_free(struct tree *t);

/* Nonzero when there is a tree, and its value depends on that. */
int tel__tree_uses(const struct tree *t, tel_use use);

/*
 * The number of a symbol's field in a type, as tel__counter_find(); where the
 * label of an enum is used, that of the label.
 */
int tel__symbol_find(const struct symbol *s, const struct tel_type *type);

/* What a name derives; D_COUNT: nothing. */
enum derived tel__derived_find(const char *name);

/* The name of a builtin. */
const char *tel__builtin_name(enum builtin b);
const char *tel__derived_name(enum derived d);

/*
 * Checks the names of the tree and the classes of its parts against a
 * schema.  A name may be that of a schema that was checked before, or that is
 * read together with it.  TEL_OK, TEL_EINVAL with fail set.
 */
tel_status tel__tree_check(struct tree *t, const struct tel_schema *schema,
    struct fail *fail);

#endif
