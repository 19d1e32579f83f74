/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Program: an expression and a selection compiled for the events of one type,
 * without the parts that the type alone decides.  An op is a test, which
 * continues at .yes or at .no, or it takes values from a small stack, where
 * each has its place, leaves some, and continues at the next op.
 */
#ifndef TEL_QUERY_PROGRAM_H
#define TEL_QUERY_PROGRAM_H

#include "model/clock.h"
#include "model/run.h"
#include "query/ops.h"
#include "query/select.h"
#include "query/tree.h"

/* Where a test that decides the verdict goes. */
#define GO_REJECT UINT32_MAX
#define GO_ACCEPT (UINT32_MAX - 1)

struct op {
	uint8_t code;     /* enum op_code */
	uint8_t sub;      /* enum value_op, enum builtin or enum derived */
	uint8_t any_case; /* of a comparison */
	uint8_t constant; /* .value is the right side of an operator */
	uint8_t want;     /* 1 or 0: a test is for true, or for false */
	uint16_t offset;  /* of the field */
	uint32_t at;      /* where its first value is, and what it leaves */
	uint32_t yes, no; /* where it continues; both alike after a value */
	const struct tel_field *field;
	union {
		struct span_test {
			uint64_t mask; /* or the right side of .sub */
			uint64_t lo, span;
		} span;
		struct value value;
		const struct tel_field *cycles; /* of OP_CPI */
		/* of OP_OPTIONAL_FIELD: that the event has if it has a value */
		const struct tel_field *decides;
		const struct node *node;
		const struct set *set;
		const struct selection *selection;
		struct label_test {
			/* a node that compares with constants, or a glob */
			const struct node *node;
			const struct pattern *glob;
		} label;
	} u;
};

struct program {
	uint8_t datatype; /* enum tel_datatype of an integer that comes out */
	uint8_t placed;   /* needs the place of events in the log */
	uint32_t entry;   /* the first op; or what the type decides */
	uint32_t count;   /* of ops */
	uint32_t stack;   /* values that it holds at once */
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
		const struct pattern *pattern;
		const char *s;
		size_t length;
		int hit;
	} entries[MEMO_SIZE];
};

/* What running takes. */
struct machine {
	const struct tree *tree;
	struct value *stack; /* room for those of the programs that are bound */
	size_t stack_room;
	char *scratch;   /* for regular expressions; NULL without any */
	struct value dt; /* time since the event before */
	/* what OP_START runs, tree.nstarts for each type; of a schema */
	const struct op *starts;
	const struct tel_schema *schema;
	uint32_t ntypes; /* of it, when it was bound */
	/*
	 * State for the time while the events of a run are filtered, which have
	 * the labels and the clock that the log has before the first of them.
	 */
	int in_run, has_part;
	struct tel__clock_part part;
	struct memo memo;
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

/* Takes and leaves of an op, the operator with a constant one less. */
static inline unsigned
op_takes(const struct op *op)
{
	static const uint8_t takes[] = {
#define OP(code, name, operand, takes, leaves, ranges) takes,
		TEL__TESTS(OP) TEL__LEAVES(OP) TEL__OPERATORS(OP)
#undef OP
	};

	return (unsigned)takes[op->code] - op->constant;
}

static inline int
op_is_test(const struct op *op)
{
	return op->code < OP_CONST;
}

/* Whether an event matches: 1 or 0. */
int tel__program_match(const struct program *p, struct machine *m,
    const struct tel_event *ev);
/*
 * Leaves the events of a run that match, by the programs of their types, of
 * which the last one is that of unknown types.
 */
void tel__program_filter(const struct program *programs, uint32_t last,
    struct machine *m, struct tel_run *run);
/* Runs a program of a value. */
void tel__program_value(const struct program *p, struct machine *m,
    const struct tel_event *ev, struct value *out);

/*
 * Writes op i of a program, from its first one on, into buffer, of size bytes, as
 * snprintf().  Returns its length; 0: there is no such op.
 */
size_t tel__program_text(const struct program *p, size_t i, char *buffer,
    size_t size);

#endif
