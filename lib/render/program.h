/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Render programs: how the events of one type are printed in one format, worked
 * out once, when the type's first event comes.  A program is an array of steps,
 * each some literal bytes and then a value.  Everything that depends only on
 * the type - names, separators, where a field lies, how it is shown - is in the
 * steps, so that printing an event is copying literals and numbers.
 */
#ifndef TEL_PROGRAM_H
#define TEL_PROGRAM_H

#include "base/buffer.h"
#include "model/event.h"

struct tel_printer;

/* What a step prints behind its literal. */
enum render_op {
	/* numbers */
	RENDER_HEX,     /* lower-case hexadecimal */
	RENDER_UPPER,   /* upper-case */
	RENDER_UPPER16, /* upper-case, 16 digits */
	RENDER_UPPER8,  /* upper-case, 8 digits */
	RENDER_DECIMAL,
	RENDER_SIGNED,
	RENDER_BOOLEAN, /* true, false */
	RENDER_TITLE,   /* True, False */
	RENDER_CLOCK,   /* the event's clock, 16 upper-case digits */
	RENDER_NOTHING,
	/* where a field is absent: .text instead of the next .value steps */
	RENDER_IF,
	RENDER_END, /* nothing, and the program ends */
	/* ops that are rare, or slow anyway */
	RENDER_ONES,  /* upper-case; anything but 0 is all ones */
	RENDER_EXACT, /* decimal, in quotes when over 2^53 */
	RENDER_EXACT_SIGNED,
	RENDER_DOUBLE,
	RENDER_DOUBLE_10, /* %.10G */
	RENDER_DOUBLE_3,  /* %#8.3g of that */
	RENDER_DOUBLE_JSON,
	RENDER_DOUBLE_SQL,
	RENDER_FLOAT, /* the 32 bits of a float */
	RENDER_FLOAT_JSON,
	RENDER_FLOAT_SQL,
	RENDER_CLOCK8,      /* the clock in 8 digits, at most FFFFFFFF */
	RENDER_CLOCK_EXACT, /* the clock as RENDER_EXACT */
	RENDER_CLOCK_DECIMAL,
	RENDER_CLOCK_SIGNED, /* the clock's bits as a signed integer */
	RENDER_TIME,         /* the time in the form that was asked for */
	RENDER_TIME_JSON,    /* the same; a big integer in quotes */
	RENDER_CODE_ZERO,    /* the type's code, %04X */
	RENDER_CODE_BLANK,   /* %4X */
	RENDER_CODE,         /* in decimal */
	RENDER_COUNT,        /* the printer's .count */
	/* what has no bound known beforehand */
	RENDER_BYTES, /* the bytes after the header, in hexadecimal */
	RENDER_STRING_TEXT,
	RENDER_STRING_DOUBLED, /* as text, but every quote twice */
	RENDER_STRING_CSV,
	RENDER_STRING_CELL, /* "name=string" as one field of CSV */
	RENDER_STRING_JSON,
	RENDER_STRING_QUOTED,
	RENDER_STRING_SQL,
	/* of a name of the printer, .field, that is an expression */
	RENDER_VALUE_TEXT, /* " name=value", or nothing */
	RENDER_VALUE_CSV,
	RENDER_VALUE_JSON,
	RENDER_LABELS, /* JSON's object of the labels that were found */
	/* lists, in brackets */
	RENDER_LIST_TEXT,
	RENDER_LIST_DOUBLED, /* with every quote twice */
	RENDER_LIST_CSV,
	RENDER_LIST_JSON,
	RENDER_LIST_SQL, /* as JSON */
	/* the frames of a stack, as JSON, in CSV, in SQL */
	RENDER_STACK_JSON,
	RENDER_STACK_CSV,
	RENDER_STACK_SQL
};

/* How the label of an address is printed. */
enum render_labels {
	LABELS_TEXT,     /* ["..."] */
	LABELS_DOUBLED,  /* [""...""], between quotes */
	LABELS_COLLECT,  /* later, by RENDER_LABELS */
	LABELS_NUMBERED, /* ["..."], or the number of a string not known */
	LABELS_TIMELESS  /* whatever its clock, the number in decimal */
};

/* Which space a field's label is looked for in: its enum tel_space plus 1. */
enum render_space {
	SPACE_NONE,
	SPACE_ADDRESS,
	SPACE_POINTER,
	SPACE_STACK = TEL_SPACE_STACK + 1,
	SPACE_ENUM = TEL_SPACE_ENUM + 1
};

#define RENDER_LITERAL 40

/*
 * A value is loaded as the eight bytes at .offset, shifted and masked: one
 * way for integers of any width, for bits and for doubles.
 */
struct render_step {
	unsigned char literal[RENDER_LITERAL];
	uint64_t mask;
	uint32_t offset;
	uint8_t length; /* of the literal */
	uint8_t op;     /* enum render_op */
	uint8_t shift;
	uint8_t big;   /* the eight bytes are big-endian */
	uint8_t space; /* enum render_space */
	uint8_t field; /* its number in the type */
	uint8_t tail;  /* a byte behind what has no bound; 0: none */
	/*
	 * The value before, in hexadecimal or decimal, as many events of a type
	 * share some
	 */
	uint8_t digits;
	unsigned char text[16];
	uint32_t low; /* in decimal, the last eight digits of .value */
	uint64_t value;
};

struct render_program {
	const struct tel_type *type; /* NULL: for all unknown types */
	size_t room; /* more than all steps write that ask for none */
	/*
	 * Bytes from the first comma of a row to its fields, around which there
	 * are quotes if these have labels; 0: there are none in any case.
	 */
	size_t lead;
	uint8_t labels; /* enum render_labels */
	uint8_t narrow; /* events may be shorter than the loads */
	unsigned nsteps;
	uint32_t slot; /* a number of the renderer's own; 0: none yet */
	struct render_step *steps;
};

/* A program that is being made. */
struct render_builder {
	struct render_program *program;
	struct tel__buffer literal; /* what comes before the next value */
	size_t room;                /* steps there is room for */
	/* place of a RENDER_IF and 1, of the last one that ended, or 0 */
	unsigned condition, ended;
	int failed; /* out of memory */
};

/* Begins a program for events of type; NULL for those of unknown types. */
void tel__render_start(struct render_builder *b, const struct tel_type *type,
    enum render_labels labels);

/* Adds n literal bytes. */
void tel__render_add_bytes(struct render_builder *b, const void *bytes,
    size_t n);

/* Adds a literal string. */
void tel__render_add(struct render_builder *b, const char *s);

/* Adds a step that does not print a field. */
void tel__render_add_op(struct render_builder *b, enum render_op op);

/* Adds a step that prints field i of the type. */
void tel__render_add_field(struct render_builder *b, enum render_op op,
    unsigned i, enum render_space space);

/* Adds a step that prints a name of the printer, of which .field is the number. */
void tel__render_add_name(struct render_builder *b, enum render_op op,
    unsigned name);

/*
 * Steps added from here to tel__render_end_if() are of field i of the type:
 * where that is absent, alt, 16 bytes at most, is printed instead.
 */
void tel__render_add_if(struct render_builder *b, unsigned i, const char *alt);
void tel__render_end_if(struct render_builder *b);

/* Ends the program and returns it; NULL when out of memory. */
struct render_program *tel__render_end(struct render_builder *b);

void tel__render_free(struct render_program *g);

/* Prints an event.  TEL_OK; TEL_EIO; TEL_ENOMEM. */
tel_status tel__render_run(struct tel_printer *pr,
    const struct render_program *g, const struct tel_event *ev);

#endif
