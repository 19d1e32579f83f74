/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Print programs: how the events of one type are printed in one format,
 * worked out once, when the type's first event comes.
 *
 * A program is an array of steps, each some literal bytes and then a value.
 * Everything that depends only on the type - names, separators, where a
 * field lies, how it is shown - is in the steps, so that printing an event
 * is copying literals and numbers.
 */
#ifndef TEL_PROGRAM_H
#define TEL_PROGRAM_H

#include "model/event.h"

struct tel_printer;

/* What a step prints behind its literal. */
enum print_op {
	/* numbers */
	PRINT_HEX,     /* lower-case hexadecimal */
	PRINT_UPPER,   /* upper-case */
	PRINT_UPPER16, /* upper-case, 16 digits */
	PRINT_UPPER8,  /* upper-case, 8 digits */
	PRINT_DECIMAL,
	PRINT_SIGNED,
	PRINT_BOOLEAN, /* true, false */
	PRINT_TITLE,   /* True, False */
	PRINT_CLOCK,   /* the event's clock, 16 upper-case digits */
	PRINT_NOTHING,
	PRINT_END, /* nothing, and the program ends */
	/* what is rare, or slow anyway */
	PRINT_ONES,  /* upper-case; anything but 0 is all ones */
	PRINT_EXACT, /* decimal, in quotes when over 2^53 */
	PRINT_EXACT_SIGNED,
	PRINT_DOUBLE,
	PRINT_DOUBLE_10, /* %.10G */
	PRINT_DOUBLE_3,  /* %#8.3g of that */
	PRINT_DOUBLE_JSON,
	PRINT_DOUBLE_SQL,
	PRINT_CLOCK8,      /* the clock in 8 digits, at most FFFFFFFF */
	PRINT_CLOCK_EXACT, /* the clock as PRINT_EXACT */
	PRINT_CLOCK_DECIMAL,
	PRINT_CLOCK_SIGNED, /* the clock's bits as a signed integer */
	PRINT_TIME,         /* the time in the form that was asked for */
	PRINT_TIME_JSON,    /* the same; a big integer in quotes */
	PRINT_CODE_ZERO,    /* the type's code, %04X */
	PRINT_CODE_BLANK,   /* %4X */
	PRINT_CODE,         /* in decimal */
	/* what has no bound known beforehand */
	PRINT_BYTES, /* what is behind the header, in hexadecimal */
	PRINT_STRING_TEXT,
	PRINT_STRING_DOUBLED, /* as text, but every quote twice */
	PRINT_STRING_CSV,
	PRINT_STRING_CELL, /* "name=string" as one field of CSV */
	PRINT_STRING_JSON,
	PRINT_STRING_MPS,
	PRINT_STRING_SQL,
	PRINT_LABELS /* JSON's object of the labels that were found */
};

/* How a label stands beside its address. */
enum print_labels {
	LABELS_TEXT,    /* ["..."] */
	LABELS_DOUBLED, /* [""...""] */
	LABELS_STOP,    /* not at all: the row needs another program */
	LABELS_COLLECT, /* later, by PRINT_LABELS */
	LABELS_MPS,     /* ["..."], or the number of a string not known */
	LABELS_MPS_OLD  /* whatever its clock, the number in decimal */
};

/* Which space a field's label is looked for in: its enum tel_space plus 1. */
enum print_space { SPACE_NONE, SPACE_ADDRESS, SPACE_POINTER };

#define PRINT_LITERAL 40

/*
 * A value is loaded as the eight bytes at .offset, shifted and masked: one
 * way for integers of any width, for bits and for doubles.
 */
struct print_step {
	unsigned char literal[PRINT_LITERAL];
	uint64_t mask;
	uint32_t offset;
	uint8_t length; /* of the literal */
	uint8_t op;     /* enum print_op */
	uint8_t shift;
	uint8_t big;   /* the eight bytes are big-endian */
	uint8_t space; /* enum print_space */
	uint8_t field; /* its number in the type */
};

struct print_program {
	const struct tel_type *type; /* NULL: for all unknown types */
	size_t room;    /* more than all steps write that ask for none */
	uint8_t labels; /* enum print_labels */
	uint8_t narrow; /* events may be shorter than what is loaded */
	unsigned nsteps;
	struct print_step *steps;
};

/* A program that is being made. */
struct print_builder {
	struct print_program *program;
	unsigned char *literal; /* what comes before the next value */
	size_t length;
	size_t size;
	unsigned room; /* steps there is room for */
	int failed;    /* there was no memory */
};

/* Begins a program for events of type; NULL for those of unknown types. */
void tel__print_begin(struct print_builder *b, const struct tel_type *type,
    enum print_labels labels);

/* Adds n literal bytes. */
void tel__print_bytes(struct print_builder *b, const void *bytes, size_t n);

/* Adds a literal string. */
void tel__print_literal(struct print_builder *b, const char *s);

/* Room for n more literal bytes, whose number b->length then has added. */
unsigned char *tel__print_room(struct print_builder *b, size_t n);

/* Adds a step that prints what is no field. */
void tel__print_op(struct print_builder *b, enum print_op op);

/* Adds a step that prints field i of the type. */
void tel__print_field(struct print_builder *b, enum print_op op, unsigned i,
    enum print_space space);

/* Ends the program and returns it; NULL when there was no memory. */
struct print_program *tel__print_end(struct print_builder *b);

void tel__print_program_free(struct print_program *g);

/*
 * Prints an event.  TEL_OK; TEL_EIO; TEL_ENOMEM; TEL_END: nothing was
 * printed because a label was found and the program stops at labels.
 */
tel_status tel__print_run(struct tel_printer *pr, const struct print_program *g,
    const struct tel_event *ev);

#endif
