/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of the tables in which formats have their built-in event types: a type
 * as text, laid out by the rules of the platform that wrote the events.
 */
#ifndef TEL_ROW_H
#define TEL_ROW_H

#include "model/schema.h"

struct tel_type_row {
	uint32_t code;
	const char *name;
	const char *kind;
	/*
	 * "LETTER:NAME ...", in their order.  As the ABI of the schema has it:
	 *	P A  a pointer, an address	W Z  a word, a set of bits
	 *	U    an unsigned int		D    a double
	 *	B    a boolean: a bit-field, or a byte (schema->byte_bool)
	 *	S    a string up to the end of the event
	 * and whatever the ABI, little-endian:
	 *	a u i z  an address, unsigned, signed, a set; 64 bits
	 *	l h c    signed of 32, unsigned of 16 and of 8 bits
	 *	s o      a set, a boolean; 8 bits
	 *	b        a boolean, the next bit of a byte
	 *	t        a string anywhere, its place in 64 bits
	 * Fields follow each other as the members of a C struct; "@N" behind
	 * a name puts one at byte N, and those behind it go on from there.
	 * "=TEXT" behind a name is for the format itself.
	 */
	const char *fields;
	/*
	 * "" or "ROLE(FIELD,PART=FIELD,...)", as model/role.h has them; the
	 * start of a range is followed by a blank and the type that ends it, and
	 * by "pause" or "collection" if it is one of a garbage collector.
	 */
	const char *role;
};

/*
 * Adds the type of a row, and room for extra fields that tel__type_add() will
 * add.  NULL when out of memory, or if the row is invalid.
 */
struct tel_type *tel__schema_add_row(struct tel_schema *s,
    const struct tel_type_row *row, unsigned extra);

/*
 * Finds the type that ends the ranges that the type of a row starts; for when
 * all types were added.
 */
void tel__schema_pair_row(struct tel_schema *s, const struct tel_type_row *row);

/* Where the next field of an event is placed. */
struct tel_placement {
	const struct tel_schema *schema;
	uint32_t offset; /* past the part that was taken */
	uint32_t bits;   /* taken of the last byte or unit of bit-fields */
};

/* Adds the next field, of a letter; NULL as above. */
struct tel_field *tel__type_place(struct tel_type *t, struct tel_placement *at,
    char letter, const char *name);
/* The size of events whose fields end there. */
uint32_t tel__place_end(const struct tel_placement *at,
    const struct tel_type *t);

#endif
