/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Program: the steps that turn the bits of an event, or of the start of a
 * packet, into the record that the rest of the library sees.  A record has a
 * head, in which each field has a place, and behind it the bytes of strings
 * and lists.
 */
#ifndef TEL_CTF_PROGRAM_H
#define TEL_CTF_PROGRAM_H

#include "base/buffer.h"
#include "format/ctf/class.h"
#include "model/schema.h"

/* Bytes of a record before its first field. */
#define CTF_HEADER 1u
#define CTF_NOWHERE UINT32_MAX
/* Documented limits: lengths and selectors of a packet, and of an event. */
#define CTF_SLOTS_MAX 1024u
/* Bytes of the record of an event. */
#define CTF_RECORD_MAX ((size_t)16 << 20)
/* Fields of a type, of which a schema has no more. */
#define CTF_FIELDS_MAX 255u
/* The head of a record: these fields of 8 bytes, and presence in one half. */
#define CTF_HEAD_MAX 8192u

enum ctf_step_kind {
	STEP_ALIGN,  /* to .size bits */
	STEP_COPY,   /* .size bytes, whose first is at a byte's start */
	STEP_NUMBER, /* an integer or a float */
	STEP_STRING, /* up to a NUL */
	STEP_BYTES,  /* of a length: a text or a blob */
	STEP_LIST,   /* of numbers, to a list */
	STEP_ARRAY,  /* .body for each element, in a text */
	STEP_STRUCT, /* .body, in a text */
	STEP_TEXT,   /* .body, which is shown as JSON in a string */
	STEP_CHOICE  /* the body of the option that the selector chooses */
};

struct ctf_step;

struct ctf_option {
	struct ctf_range range; /* of the selector */
	struct ctf_step *body;
	uint32_t present_at; /* of the bit that is set if it was chosen */
	uint8_t present;
	struct ctf_option *next;
};

struct ctf_step {
	enum ctf_step_kind kind;
	uint8_t is_signed; /* of the selector of a CHOICE */
	uint8_t width;     /* of a number in the record, in bits */
	uint16_t slot;     /* where a number is kept for others; 0: nowhere */
	uint16_t from;     /* of the length or the selector; 0: class->length */
	uint32_t size;
	uint32_t to;          /* in the head; CTF_NOWHERE: it is not shown */
	uint32_t label_to;    /* of the label of an enum; CTF_NOWHERE: none */
	uint32_t labelled_at; /* of the bit that is set if it has one */
	uint8_t labelled;
	unsigned roles;
	uint8_t optional;   /* CHOICE: a value without an option is nothing */
	uint8_t is_aligned; /* NUMBER: it starts at the start of a byte */
	const struct ctf_clock *clock; /* that it sets */
	const struct ctf_class *class;
	struct ctf_step *body, *next;
	struct ctf_option *options;
};

/* A field of a record. */
struct ctf_leaf {
	const char *name;
	enum tel_datatype datatype, element;
	enum tel_load load; /* of an element, in a list */
	uint32_t offset, present_at;
	uint8_t present, is_label, from_context;
	struct ctf_leaf *next; /* the one before */
};

/* Steps that are compiled, one scope after the other. */
struct ctf_compiler {
	struct ctf_metadata *m;
	struct ctf_error *error;
	const struct ctf_clock
	    *clock; /* CTF 2: the default one of the stream */
	struct ctf_place *roots[CTF_SCOPES];
	struct ctf_place *at; /* the structure that is compiled */
	enum ctf_scope scope;
	unsigned nslots; /* in use; the next one is this */
	unsigned depth;
	int aligned; /* the position is the start of a byte */
	int in_text; /* values become text */
	uint32_t head;
	uint32_t present_at; /* the byte of presence with free bits */
	unsigned present;    /* bits of it in use; 8: none is free */
	uint32_t option_at;  /* presence of the option that is compiled */
	uint8_t option;
	int has_choice;
	struct ctf_leaf *leaves; /* the last one first */
	unsigned nleaves;
	unsigned dropped; /* fields that there was no room for */
};

void tel__ctf_compile_start(struct ctf_compiler *c, struct ctf_metadata *m,
    struct ctf_error *error);

/*
 * Appends the steps of a scope to *last, which is moved.  shown: its fields are
 * in the record.  1, or 0 with *c->error set.
 */
int tel__ctf_compile(struct ctf_compiler *c, enum ctf_scope scope,
    const struct ctf_class *class, int shown, struct ctf_step ***last);

/* Joins what can be copied at once, when no path is to be found any more. */
void tel__ctf_join_copies(struct ctf_step *steps, int big);

#endif
