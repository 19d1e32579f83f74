/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state while events become rows of a table in Apache Arrow's format: which
 * column a field has, and how the events of a type get into theirs.
 */
#ifndef TEL_ARROW_H
#define TEL_ARROW_H

#include "print/table.h"
#include "render/renderer.h"
#include "tel/filter.h"

/* Data types that share a column: any others of one name have their own. */
enum arrow_class {
	AS_UNSIGNED,
	AS_SIGNED,
	AS_DOUBLE,
	AS_BOOLEAN,
	AS_TEXT,
	AS_NAME, /* of an enum's value */
	AS_LIST  /* and the class of its elements */
};

/* A column that a field has. */
struct arrow_place {
	char *name;     /* of the field */
	unsigned class; /* arrow_class() */
	int column;
	int label; /* the column of its labels, or -1 */
};

/* How a field of a type gets into its column. */
struct arrow_cell {
	const struct tel_field *field;
	struct table_column *column;
	struct table_column *label; /* or NULL */
	enum tel_space space;
	uint32_t offset; /* of the field */
	int extend;      /* its sign */
	int simple;      /* eight bytes in both, in the order of Arrow */
};

/* How the events of a type become rows. */
struct arrow_plan {
	struct arrow_cell *cells;
	unsigned n;
	uint32_t type, kind; /* numbers of their names */
	int labelled;        /* a field may have labels */
	int enums;           /* one of them is of names that the schema has */
	int one_by_one;      /* it has text */
	uint64_t batch;      /* the one whose columns it has touched */
	int other;           /* some of it has no column */
};

struct arrow {
	tel_table *table;
	struct arrow_plan *plans; /* by the slots of programs */
	size_t nplans, plans_room;
	struct arrow_place *places;
	size_t nplaces, places_room;
	struct tel__index by_name;   /* of places: by name and class */
	struct tel__index by_column; /* of columns: by name without case */
	int given; /* schemas were added before the first event */
	int clock, type, kind, other; /* columns, or -1 */
	int types, kinds, labels;     /* dictionaries */
	struct tel_output *scratch;   /* where programs render to */
	struct tel__buffer text;      /* what they rendered */
	/* metadata of the first log */
	char format[32], schema[48], version[16];
	double rate;
	int64_t epoch;
	int has_epoch;
};

/* Bytes of a field in an event. */
unsigned tel__arrow_bytes(const struct tel_field *f);

/* The place of fields with that name and class, or NULL. */
struct arrow_place *tel__arrow_find(const struct arrow *a,
    const struct tel_field *f);

/* A column of text. */
extern const struct table_kind tel__arrow_name;

/*
 * Adds a column: of a name that is taken with a number behind it.  Its number,
 * or -1: no memory.
 */
int tel__arrow_add_column(struct arrow *a, const char *name, const char *behind,
    struct table_kind kind);

/* Adds the fields of all types of a schema that a filter may select. */
tel_status tel__arrow_add_schema(struct tel_printer *pr,
    const struct tel_schema *schema, const tel_filter *filter);

/* The same, before the first event. */
tel_status tel__arrow_take_schema(struct tel_printer *pr,
    const struct tel_schema *schema, const tel_filter *filter);

/* Makes pr->state.  TEL_OK, TEL_ENOMEM. */
tel_status tel__arrow_open(struct tel_printer *pr);

#endif
