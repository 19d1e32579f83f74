/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Schemas of MPS streams, from the table of events and a platform's ABI: an
 * event is a C struct of the writer's, so the rules that its compiler had
 * for members, bit-fields and padding say where each field lies.
 */
#include "format/mps/mps.h"
#include "model/role.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where the next member of the struct may begin. */
struct layout {
	const struct tel_abi *abi;
	uint32_t offset; /* in bytes, past what is taken */
	uint32_t bits;   /* of the last byte or unit taken by bit-fields */
};

static uint32_t
round_up(uint32_t n, uint32_t align)
{
	return (n + align - 1) / align * align;
}

static void
place(struct layout *l, struct tel_field *f, uint32_t size, uint32_t align)
{
	l->offset = round_up(l->offset, align);
	l->bits = 0;
	f->offset = (uint16_t)l->offset;
	f->width = (uint8_t)(size * 8);
	l->offset += size;
}

/*
 * One-bit fields.  System V: consecutive ones share bytes, and the first
 * begins at the next free byte.  Microsoft: they share an int of their own.
 * Either way the first one is the least significant bit on a little-endian
 * machine and the most significant on a big-endian one.
 */
static void
place_bit(struct layout *l, struct tel_field *f)
{
	uint32_t unit = l->abi->ms_bits ? 4 : 1;

	if (l->bits == 0 || l->bits == unit * 8) {
		l->offset = round_up(l->offset, unit) + unit;
		l->bits = 0;
	}
	f->offset = (uint16_t)(l->offset - unit + l->bits / 8);
	f->bit = (uint8_t)(l->abi->big ? 7 - l->bits % 8 : l->bits % 8);
	f->width = 1;
	f->load = TEL_LOAD_BIT;
	l->bits++;
}

/* Gives f its data type and its place.  0 when the letter is none. */
static int
place_field(struct layout *l, struct tel_field *f, char letter, int byte_bool)
{
	const struct tel_abi *abi = l->abi;

	f->letter = letter == 'Z' ? 'W' : letter;
	switch (letter) {
	case 'P': f->datatype = TEL_POINTER; break;
	case 'A': f->datatype = TEL_ADDRESS; break;
	case 'W':
	case 'U': f->datatype = TEL_UNSIGNED; break;
	case 'Z': f->datatype = TEL_SET; break;
	case 'D': f->datatype = TEL_DOUBLE; break;
	case 'B': f->datatype = TEL_BOOLEAN; break;
	case 'S': f->datatype = TEL_STRING; break;
	default: return 0;
	}
	if (letter == 'S') {
		place(l, f, 0, 1);
		f->load = TEL_LOAD_STRING;
	} else if (letter == 'B' && byte_bool) {
		place(l, f, 1, 1);
		f->load = TEL_LOAD_U8;
	} else if (letter == 'B') {
		place_bit(l, f);
	} else if (letter == 'D') {
		place(l, f, 8, abi->align_double);
		f->load = abi->big ? TEL_LOAD_BE64 : TEL_LOAD_LE64;
	} else if (letter == 'U' || abi->word == 4) {
		place(l, f, 4, 4);
		f->load = abi->big ? TEL_LOAD_BE32 : TEL_LOAD_LE32;
	} else {
		place(l, f, 8, 8);
		f->load = abi->big ? TEL_LOAD_BE64 : TEL_LOAD_LE64;
	}
	return 1;
}

/* Copies the first n bytes of s as a string. */
static char *
copy(const char *s, size_t n)
{
	char *p = malloc(n + 1);

	if (p != NULL) {
		memcpy(p, s, n);
		p[n] = '\0';
	}
	return p;
}

/*
 * A role reads "name(field,part=field,...)"; a start also names, after a
 * blank, the type that ends it.
 */
static void
set_role(struct tel_type *t, const char *text)
{
	size_t n = strcspn(text, "( ");
	unsigned arg;

	t->role = (uint8_t)tel__role_find(text, n);
	text += n;
	for (arg = 0; *text == '(' || *text == ','; arg++) {
		text++;
		n = strcspn(text, ",)");
		(void)tel__role_set(t, arg, text, n);
		text += n;
	}
}

/* Fills t from a row.  0 when there is no memory. */
static int
make_type(struct tel_type *t, const struct mps_row *row, int byte_bool,
    const struct tel_schema *schema)
{
	struct layout l = { &schema->abi, schema->header, 0 };
	const char *s;
	size_t n;

	t->code = row->code;
	t->kind = tel__mps_kinds[row->kind].name;
	t->kind_number = row->kind;
	t->unused = !row->used;
	t->name_length = (uint16_t)strlen(row->name);
	t->name = copy(row->name, t->name_length);
	t->partner = -1;
	memset(t->role_field, -1, sizeof(t->role_field));
	/* "P:a W:b": a field is at least four characters, with its blank */
	t->fields = calloc(strlen(row->fields) / 3 + 1, sizeof(*t->fields));
	if (t->name == NULL || t->fields == NULL)
		return 0;
	for (s = row->fields; *s != '\0'; s += strspn(s, " ")) {
		struct tel_field *f = &t->fields[t->nfields];

		n = strcspn(s, " ");
		f->name = copy(s + 2, n - 2);
		f->name_length = (uint16_t)(n - 2);
		if (f->name == NULL || !place_field(&l, f, *s, byte_bool))
			return 0;
		t->nfields++;
		t->has_string = f->datatype == TEL_STRING;
		s += n;
	}
	if (t->has_string)
		t->size = round_up(l.offset + 1, schema->align);
	else
		t->size = round_up(round_up(l.offset, schema->abi.align8),
		    schema->align);
	set_role(t, row->role);
	return 1;
}

/* Finds the type that ends each start: its name is after the role. */
static void
pair_types(struct tel_schema *s, unsigned release)
{
	unsigned number = tel__mps_releases[release].number, i, j;

	for (i = 0; i < tel__mps_nrows; i++) {
		const struct mps_row *row = &tel__mps_rows[i];
		const char *end = strchr(row->role, ' ');

		if (end == NULL || row->first > number || row->last < number)
			continue;
		for (j = 0; j < s->ntypes; j++)
			if (strcmp(s->types[j].name, end + 1) == 0)
				s->by_code[row->code]->partner = (int32_t)j;
	}
}

/* Rows of a release come in order of codes; the table need not. */
static int
by_code(const void *a, const void *b)
{
	const struct tel_type *x = a, *y = b;

	return (x->code > y->code) - (x->code < y->code);
}

static tel_status
make_types(struct tel_schema *s, unsigned release)
{
	const struct mps_release *rel = &tel__mps_releases[release];
	unsigned i;

	s->types = calloc(tel__mps_nrows, sizeof(*s->types));
	if (s->types == NULL)
		return TEL_ENOMEM;
	for (i = 0; i < tel__mps_nrows; i++) {
		const struct mps_row *row = &tel__mps_rows[i];

		if (row->first > rel->number || row->last < rel->number)
			continue;
		s->ntypes++;
		if (!make_type(&s->types[s->ntypes - 1], row, rel->byte_bool,
		        s))
			return TEL_ENOMEM;
		if (row->code >= s->ncodes)
			s->ncodes = row->code + 1u;
	}
	qsort(s->types, s->ntypes, sizeof(*s->types), by_code);
	s->by_code = calloc(s->ncodes, sizeof(*s->by_code));
	if (s->by_code == NULL)
		return TEL_ENOMEM;
	for (i = 0; i < s->ntypes; i++) {
		s->types[i].index = i;
		s->by_code[s->types[i].code] = &s->types[i];
	}
	pair_types(s, release);
	return TEL_OK;
}

tel_status
tel__mps_schema_new(unsigned release, const char *platform,
    const struct tel_abi *abi, struct tel_schema **out)
{
	const struct mps_release *rel = &tel__mps_releases[release];
	struct tel_schema *s = calloc(1, sizeof(*s));
	struct tel_abi natural = { 0 };
	tel_status st;

	if (s == NULL)
		return TEL_ENOMEM;
	s->abi = *abi;
	s->release = release;
	s->header = abi->word == 4 && abi->align8 == 4 ? 12 : 16;
	s->align = abi->word;
	s->split_space = rel->split_space;
	s->registry = tel__mps_kinds;
	s->nregistry = MPS_KINDS;
	/* each flush of its buffers is written newest first */
	s->buffered = 1;
	/* 1.111 flushes one kind at a time, after a sync point */
	s->sync_first = release == 0;
	(void)tel__mps_platform_abi(platform, &natural);
	snprintf(s->platform, sizeof(s->platform), "%s", platform);
	snprintf(s->name, sizeof(s->name), "%s/%s%s", rel->name, s->platform,
	    abi->big == natural.big ? "" : (abi->big ? ",be" : ",le"));
	snprintf(s->version, sizeof(s->version), "%u.%u.%u", rel->version[0],
	    rel->version[1], rel->version[2]);
	st = make_types(s, release);
	if (st != TEL_OK) {
		tel_schema_free(s);
		return st;
	}
	*out = s;
	return TEL_OK;
}

/*
 * A platform's name is two letters each for operating system, architecture
 * and compiler: the MPS manual, "Platforms".
 */
int
tel__mps_platform_abi(const char *platform, struct tel_abi *out)
{
	static const char *const systems[] = { "li", "fr", "xc", "w3", "an" };
	struct tel_abi abi = { 8, 8, 8, 0, 0 };
	size_t i;

	if (strlen(platform) < 4 || strlen(platform) > 7)
		return 0;
	for (i = 0; i < sizeof(systems) / sizeof(systems[0]); i++)
		if (memcmp(platform, systems[i], 2) == 0)
			break;
	if (i == sizeof(systems) / sizeof(systems[0]))
		return 0;
	abi.ms_bits = memcmp(platform, "w3", 2) == 0;
	if (memcmp(platform + 2, "i3", 2) == 0) {
		abi.word = 4;
		if (!abi.ms_bits)
			abi.align8 = abi.align_double = 4;
	} else if (memcmp(platform + 2, "ar", 2) == 0) {
		abi.word = 4; /* 32-bit ARM aligns 64 bits to 8 bytes */
	} else if (memcmp(platform + 2, "i6", 2) != 0 &&
	    memcmp(platform + 2, "a6", 2) != 0) {
		return 0;
	}
	*out = abi;
	return 1;
}
