/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From the rows of a table to event types.  An event is a C struct of its
 * writer's, so the rules that the compiler had for members, bit-fields and
 * padding say where each field lies.
 */
#include "model/row.h"

#include <stdlib.h>
#include <string.h>

#include "model/role.h"

/* How wide a field is: as the ABI has a word or a double, or in bytes. */
enum { WORD = -1, DOUBLE = -2, BIT = -3, END = 0 };

static const struct letter {
	char letter;
	uint8_t datatype;
	int8_t size;
	uint8_t load; /* of what the ABI has no say in */
} letters[] = {
	{ 'P', TEL_POINTER, WORD, 0 },
	{ 'A', TEL_ADDRESS, WORD, 0 },
	{ 'W', TEL_UNSIGNED, WORD, 0 },
	{ 'Z', TEL_SET, WORD, 0 },
	{ 'U', TEL_UNSIGNED, 4, 0 },
	{ 'D', TEL_DOUBLE, DOUBLE, 0 },
	{ 'B', TEL_BOOLEAN, BIT, 0 },
	{ 'S', TEL_STRING, END, TEL_LOAD_STRING },
	{ 'a', TEL_ADDRESS, 8, TEL_LOAD_LE64 },
	{ 'u', TEL_UNSIGNED, 8, TEL_LOAD_LE64 },
	{ 'i', TEL_SIGNED, 8, TEL_LOAD_LE64 },
	{ 'z', TEL_SET, 8, TEL_LOAD_LE64 },
	{ 'l', TEL_SIGNED, 4, TEL_LOAD_LE32S },
	{ 'h', TEL_UNSIGNED, 2, TEL_LOAD_LE16 },
	{ 'c', TEL_UNSIGNED, 1, TEL_LOAD_U8 },
	{ 's', TEL_SET, 1, TEL_LOAD_U8 },
	{ 'o', TEL_BOOLEAN, 1, TEL_LOAD_U8 },
	{ 'b', TEL_BOOLEAN, BIT, TEL_LOAD_BIT },
	{ 't', TEL_STRING, 8, TEL_LOAD_STRING_AT },
};

static const struct letter *
row_find_letter(char letter)
{
	for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
		if (letters[i].letter == letter)
			return &letters[i];
	return NULL;
}

static uint32_t
round_up(uint32_t n, uint32_t align)
{
	return (n + align - 1) / align * align;
}

/* A member of so many bytes; returns where it is. */
static uint32_t
row_place(struct tel_placement *at, uint32_t size, uint32_t align)
{
	uint32_t offset = round_up(at->offset, align);

	at->offset = offset + size;
	at->bits = 0;
	return offset;
}

/*
 * One-bit fields.  System V: consecutive ones share bytes, and the first
 * starts at the next free byte.  Microsoft: they share an int of their own.
 * Either way the first one is the least significant bit on a little-endian
 * machine and the most significant on a big-endian one.
 */
static uint32_t
place_bit(struct tel_placement *at, int ms_bits, int big, uint8_t *bit)
{
	uint32_t unit = ms_bits ? 4 : 1, offset;

	if (at->bits == 0 || at->bits == unit * 8) {
		at->offset = round_up(at->offset, unit) + unit;
		at->bits = 0;
	}
	offset = at->offset - unit + at->bits / 8;
	*bit = (uint8_t)(big ? 7 - at->bits % 8 : at->bits % 8);
	at->bits++;
	return offset;
}

struct tel_field *
tel__type_place(struct tel_type *t, struct tel_placement *at, char letter,
    const char *name)
{
	const struct tel_schema *schema = at->schema;
	const struct tel_abi *abi = &schema->abi;
	const struct letter *l = row_find_letter(letter);
	uint32_t size, align, offset;
	struct tel_field *f;
	uint8_t bit = 0;

	if (l == NULL)
		return NULL;
	enum tel_load load = (enum tel_load)l->load;
	if (l->size == BIT && !(letter == 'B' && schema->byte_bool)) {
		load = TEL_LOAD_BIT;
		offset = letter == 'B' ?
		    place_bit(at, abi->ms_bits, abi->big, &bit) :
		    place_bit(at, 0, 0, &bit);
	} else {
		size = l->size == WORD ? abi->word :
		    l->size == DOUBLE  ? 8 :
		    l->size == BIT     ? 1 :
		                         (uint32_t)l->size;
		align = l->size == DOUBLE ? abi->align_double :
		    size == 0             ? 1 :
		                            size;
		offset = row_place(at, size, align);
		/* an upper-case letter: in the byte order of the writer */
		if (load == 0 && size == 8)
			load = abi->big ? TEL_LOAD_BE64 : TEL_LOAD_LE64;
		else if (load == 0 && size == 4)
			load = abi->big ? TEL_LOAD_BE32 : TEL_LOAD_LE32;
	}
	f = tel__type_add(t, name, (enum tel_datatype)l->datatype, load,
	    offset);
	if (f == NULL)
		return NULL;
	f->bit = bit;
	if (letter == 'o')
		f->width = 1;
	if (letter >= 'A' && letter <= 'Z')
		f->letter = letter == 'Z' ? 'W' : letter;
	return f;
}

uint32_t
tel__place_end(const struct tel_placement *at, const struct tel_type *t)
{
	const struct tel_schema *s = at->schema;
	uint32_t end = at->offset;

	/* a string has its NUL; without one the struct is padded first */
	if (t->nfields > 0 && t->fields[t->nfields - 1].load == TEL_LOAD_STRING)
		end++;
	else
		end = round_up(end, s->abi.align8);
	return round_up(end, s->align);
}

/* Adds the field whose text is the n bytes at text.  1, or 0. */
static int
row_add_field(struct tel_type *t, struct tel_placement *at, const char *text,
    size_t n)
{
	char name[64];
	size_t length = 2 + strcspn(text + 2, "@= ");

	if (length > n || length - 2 >= sizeof(name))
		return 0;
	memcpy(name, text + 2, length - 2);
	name[length - 2] = '\0';
	if (text[length] == '@') {
		at->offset = (uint32_t)strtoul(text + length + 1, NULL, 10);
		at->bits = 0;
	}
	return tel__type_place(t, at, *text, name) != NULL;
}

static void
row_set_role(struct tel_type *t, const char *text)
{
	size_t n = strcspn(text, "( ");

	t->role = (uint8_t)tel__role_find(text, n);
	text += n;
	for (unsigned i = 0; *text == '(' || *text == ','; i++) {
		text++;
		n = strcspn(text, ",)");
		(void)tel__role_set(t, i, text, n);
		text += n;
	}
}

struct tel_type *
tel__schema_add_row(struct tel_schema *s, const struct tel_type_row *row,
    unsigned extra)
{
	struct tel_placement at = { s, s->header, 0 };
	unsigned count = extra;
	struct tel_type *t;

	for (const char *p = row->fields; (p = strchr(p, ':')) != NULL; p++)
		count++;
	t = tel__schema_add(s, row->name, row->code, row->kind, 0, count);
	if (t == NULL)
		return NULL;
	for (const char *p = row->fields; *p != '\0'; p += strspn(p, " ")) {
		size_t n = strcspn(p, " ");

		if (!row_add_field(t, &at, p, n))
			return NULL;
		p += n;
	}
	t->size = tel__place_end(&at, t);
	row_set_role(t, row->role);
	return t;
}

void
tel__schema_pair_row(struct tel_schema *s, const struct tel_type_row *row)
{
	const char *name = strchr(row->role, ' ');
	unsigned start, end;

	if (name == NULL)
		return;
	name++;
	size_t n = strcspn(name, " ");
	for (start = 0; start < s->ntypes; start++)
		if (s->types[start].code == row->code)
			break;
	for (end = 0; end < s->ntypes && start < s->ntypes; end++) {
		if (strncmp(s->types[end].name, name, n) != 0 ||
		    s->types[end].name[n] != '\0')
			continue;
		s->types[start].partner = (int32_t)end;
		if (name[n] == ' ')
			s->types[start].range = s->types[end].range =
			    name[n + 1] == 'p' ? TEL_ROLE_PAUSE :
			                         TEL_ROLE_COLLECTION;
	}
}
