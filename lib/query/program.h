/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Program: an expression and a selection compiled for the events of one type,
 * without the parts that the type alone decides.  An op is a test, which
 * continues at .yes or at .no, or it moves values on a small stack and
 * continues at the next op.
 */
#ifndef TEL_QUERY_PROGRAM_H
#define TEL_QUERY_PROGRAM_H

#include "query/select.h"
#include "query/tree.h"

struct tel_bounds;

/* Where a test that decides the verdict goes. */
#define GO_REJECT UINT32_MAX
#define GO_ACCEPT (UINT32_MAX - 1)

enum op_code {
	/* tests of an integer: x & mask is lo, or more by up to span */
	OP_SPAN_LE64,
	OP_SPAN_LE32,
	OP_SPAN_FIELD, /* any other load */
	OP_SPAN_CLOCK,
	OP_SPAN_TICKS, /* ticks since the first event, plus 2^63 */
	OP_SPAN_NS,    /* nanoseconds since then, plus 2^63 */
	OP_SPAN_INDEX,
	OP_SPAN_SIZE,
	/* other tests */
	OP_SET_FIELD,      /* a field, in .set */
	OP_TYPE,           /* the type's names, with .selection */
	OP_LABEL_GLOB,     /* any label, with .pattern */
	OP_LABELS,         /* .node, of any label, is .want */
	OP_TEST,           /* the value popped is .want */
	OP_TEST_COMPARE,   /* the result of OP_COMPARE is .want */
	OP_TEST_COMPARE_K, /* the same, with .value on the right */
	OP_RESULT,         /* not a test: the value popped is the answer */
	/* values */
	OP_CONST,
	OP_NATURAL_FIELD,
	OP_SIGNED_FIELD,
	OP_DOUBLE_FIELD,
	OP_STRING_FIELD,
	OP_CPI, /* .field cycles for each instruction, in .u.field */
	OP_LABEL_FIELD,
	OP_BUILTIN,     /* .sub: enum builtin */
	OP_DERIVED,     /* .sub: enum derived */
	OP_START,       /* of the event that began it; .offset: which one */
	OP_FIRST_LABEL, /* of the first field that has one */
	OP_LABELS_VALUE,
	OP_HAS,
	OP_NOT,
	OP_AND,
	OP_OR,
	OP_UNARY,        /* .sub: enum value_op */
	OP_ARITHMETIC,   /* .sub: enum value_op */
	OP_COMPARE,      /* .sub: enum value_op; .flag: in any case */
	OP_ARITHMETIC_K, /* with .value on the right */
	OP_COMPARE_K,
	OP_MATCH,  /* .node */
	OP_IN_SET, /* .set */
	/* a list: the value, then TRIT_FALSE, then for each item ... */
	OP_IN_ITEM,  /* value, verdict, item: value, verdict */
	OP_IN_RANGE, /* value, verdict, lo, hi: value, verdict */
	OP_IN_END    /* value, verdict: verdict */
};

struct op {
	uint8_t code;
	int8_t sub;
	uint8_t flag;
	uint8_t field;   /* its number in the type */
	uint8_t want;    /* 1 or 0: a test is for true, or for false */
	uint16_t offset; /* of the field */
	uint32_t yes, no;
	union {
		struct span_test {
			uint64_t mask, lo, span;
		} span;
		struct value value;
		const struct tel_field *field;
		const struct node *node;
		const struct set *set;
		const struct pattern *pattern;
		const struct selection *selection;
		struct set_test {
			const struct tel_field *field;
			const struct set *set;
		} set_test;
	} u;
};

/* What a type decides. */
enum verdict { VERDICT_NEVER, VERDICT_ALWAYS, VERDICT_RUN };

struct program {
	uint8_t verdict;  /* enum verdict */
	uint8_t datatype; /* enum tel_datatype of an integer that comes out */
	uint8_t masks;    /* tel__masks_fit() */
	uint8_t list;     /* of masks.c: 1 + where the run's events are, or 0 */
	uint32_t entry;   /* the first op */
	uint32_t count;   /* of ops */
	struct op *ops;
};

/*
 * Which strings of labels matched, while the labels of a log do not change: most
 * events have one of few.
 */
#define MEMO_SIZE 64u
struct memo {
	uint64_t round; /* entries of others do not hold */
	struct memo_entry {
		uint64_t round;
		const void *test; /* a node or a pattern */
		const char *s;
		size_t length;
		int hit;
	} entries[MEMO_SIZE];
};

/* What running takes. */
struct machine {
	const struct tree *tree;
	struct value *stack; /* room for root's .stack values */
	char *scratch;       /* for regular expressions; NULL without any */
	struct value dt;     /* time since the event before */
	/* what OP_START runs, tree.nstarts for each type; of a schema */
	const struct op *starts;
	const struct tel_schema *schema;
	uint32_t ntypes;   /* of it, when it was bound */
	struct memo *memo; /* NULL: nothing is remembered */
};

/* The compiler: room that is used again for each type. */
struct compiler {
	const struct tree *tree;           /* may be NULL: no expression */
	const struct selection *selection; /* may be NULL */
	int invert;
	const struct tel_type *type; /* NULL: any unknown type */
	struct fold *folds;          /* one a node */
	int *fields;                 /* one a symbol: its number, or -1 */
	struct op *ops;              /* last one first */
	uint32_t count;
	size_t room;
	int failed; /* out of memory */
};

/* The value of a node for one type. */
struct fold {
	int known; /* value is what it is for every event of the type */
	struct value value;
	int t, f; /* the truth and its contrary: 1 always, 0 never, -1 */
	unsigned classes;
};

/* TEL_OK or TEL_ENOMEM.  What comes before .type is set by then. */
tel_status tel__compiler_begin(struct compiler *c);
void tel__compiler_end(struct compiler *c);

/*
 * Makes the program of a type, NULL for all unknown types: for whether an event
 * matches, or for the value of the expression.  TEL_OK, TEL_ENOMEM.
 */
tel_status tel__compile_filter(struct compiler *c, const struct tel_type *type,
    struct program *out);
tel_status tel__compile_value(struct compiler *c, const struct tel_type *type,
    struct program *out);
/*
 * Makes what OP_START runs, c->tree->nstarts ops, for events of a type.
 * TEL_OK, TEL_ENOMEM.
 */
tel_status tel__compile_starts(struct compiler *c, const struct tel_type *type,
    struct op *out);
void tel__program_clear(struct program *p);

/* Folds every node for c->type. */
void tel__fold_nodes(struct compiler *c);

/* Runs a program that is not decided: 1 or 0. */
int tel__program_match(const struct program *p, struct machine *m,
    const struct tel_event *ev);

/*
 * Whether an event of a type, about which something is known, may match: 1 or
 * 0; 1 when out of memory, too.
 */
int tel__program_may(const struct program *p, const struct tel_type *type,
    const struct tel_bounds *bounds);

/* The same of one op: a test of no values, or one that takes none. */
int tel__program_test(const struct op *op, const struct machine *m,
    const struct tel_event *ev);
void tel__program_leaf(const struct op *op, const struct machine *m,
    const struct tel_event *ev, struct value *out);
/* Whether a label is what OP_LABEL_GLOB or OP_LABELS wants, !~ taken as ~. */
int tel__program_fits(const struct op *op, const struct machine *m,
    const char *s, size_t length);
/* Whether OP_LABELS is true where no label is what it has. */
int tel__program_negates(const struct node *n);
/* OP_MATCH of a string; label: it is one. */
struct value tel__program_like(const struct machine *m, const struct node *n,
    const struct value *v, int label);

/* Runs a program of a value. */
void tel__program_value(const struct program *p, struct machine *m,
    const struct tel_event *ev, struct value *out);

#endif
