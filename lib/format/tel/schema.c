/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Schemas in the native format: a built-in one goes by its name, any other is
 * described, type by type.
 */
#include "base/array.h"
#include "format/tel/wire.h"
#include "model/name.h"
#include "model/role.h"

#include <stdio.h>
#include <stdlib.h>

/* Bits of a description's flags. */
enum {
	BIG = 1,
	ALIGN8 = 2,
	ALIGN_DOUBLE = 4,
	MS_BITS = 8,
	SPLIT_SPACE = 16,
	DESCRIBED = 32,
	UNTIMED = 64,
	BUFFERED = 128,
	NESTED = 256 /* version 1.1.3 */
};

/*
 * Added to the load of a field that has an extension, so that a reader of an
 * earlier version can reject it; and the content of the extension.
 */
#define EXTENDED 32u
enum { OPTIONAL = 1, UNIT = 2, LIST = 4, LABEL = 8 };

/* Sorts and loads by their numbers in a description. */
static const enum tel_datatype datatypes[] = { TEL_UNSIGNED, TEL_SIGNED,
	TEL_SET, TEL_ADDRESS, TEL_POINTER, TEL_BOOLEAN, TEL_DOUBLE, TEL_STRING,
	TEL_LIST };
static const enum tel_load loads[] = { TEL_LOAD_U8, TEL_LOAD_LE16,
	TEL_LOAD_LE32, TEL_LOAD_LE64, TEL_LOAD_BE16, TEL_LOAD_BE32,
	TEL_LOAD_BE64, TEL_LOAD_LE16S, TEL_LOAD_LE32S, TEL_LOAD_BE16S,
	TEL_LOAD_BE32S, TEL_LOAD_BIT, TEL_LOAD_STRING, TEL_LOAD_STRING_AT,
	TEL_LOAD_LEF32, TEL_LOAD_LIST };
#define NDATATYPES (sizeof(datatypes) / sizeof(datatypes[0]))
#define NLOADS (sizeof(loads) / sizeof(loads[0]))

/* ------------------------------------------------------------- writing */

void
tel__native_put_metadata(struct tel__buffer *b, const struct tel__metadata *m)
{
	tel__buffer_put_varint(b, m->count);
	for (size_t i = 0; i < m->count; i++) {
		tel__native_put_string(b, m->entries[i].key,
		    strlen(m->entries[i].key));
		tel__native_put_string(b, m->entries[i].value,
		    strlen(m->entries[i].value));
	}
}

static unsigned
sort_number(enum tel_datatype datatype)
{
	unsigned i = 0;

	while (i < NDATATYPES - 1 && datatypes[i] != datatype)
		i++;
	return i;
}

static unsigned
load_number(enum tel_load load)
{
	unsigned i = 0;

	while (i < NLOADS - 1 && loads[i] != load)
		i++;
	return i;
}

/* All parts of the first version: it had no stacks and weights. */
#define PARTS_MIN 9

/*
 * The content of a field's extension; 0: it has none.  Descriptions of the MPS's
 * schemas do not change: they have no units.
 */
static unsigned
extension_of(const struct tel_type *t, const struct tel_field *f)
{
	return (f->present != 0 ? OPTIONAL : 0u) |
	    (f->unit != TEL_UNIT_NONE && t->schema->described ? UNIT : 0u) |
	    (f->load == TEL_LOAD_LIST ? LIST : 0u) | (f->is_label ? LABEL : 0u);
}

/* The load of a field, with the bit of an extension. */
static unsigned
extended_load(const struct tel_type *t, const struct tel_field *f)
{
	const unsigned load = load_number(f->load);

	return load +
	    (extension_of(t, f) != 0 || f->load == TEL_LOAD_LEF32 ? EXTENDED :
	                                                            0);
}

static void
put_extension(struct tel__buffer *b, const struct tel_type *t,
    const struct tel_field *f)
{
	const unsigned flags = extension_of(t, f);

	tel__buffer_put_varint(b, flags);
	if (f->present != 0) {
		tel__buffer_put_varint(b, f->present_at);
		tel__buffer_put_varint(b, (unsigned)__builtin_ctz(f->present));
	}
	if (flags & UNIT)
		tel__buffer_put_varint(b, f->unit);
	if (f->load == TEL_LOAD_LIST) {
		tel__buffer_put_varint(b,
		    sort_number((enum tel_datatype)f->element));
		tel__buffer_put_varint(b, load_number(f->list_load));
	}
}

static void
describe_type(struct tel__buffer *b, const struct tel_type *t)
{
	tel__native_put_string(b, t->name, t->name_length);
	tel__native_put_text(b, t->kind);
	tel__buffer_put_varint(b, t->kind_number);
	tel__buffer_put_varint(b, t->code);
	tel__buffer_put_varint(b, t->size);
	tel__native_put_text(b, tel__role_name((enum tel_role)t->role));
	if (t->role != TEL_ROLE_NONE) {
		unsigned parts = TEL_ROLE_PARTS;

		while (parts > PARTS_MIN && t->role_field[parts - 1] < 0)
			parts--;
		tel__buffer_put_varint(b, parts);
		for (unsigned i = 0; i < parts; i++)
			tel__buffer_put_varint(b,
			    (uint64_t)(t->role_field[i] + 1));
		tel__buffer_put_varint(b, (uint64_t)((int64_t)t->partner + 1));
	}
	tel__buffer_put_varint(b, t->nfields);
	for (unsigned i = 0; i < t->nfields; i++) {
		const struct tel_field *f = &t->fields[i];

		tel__native_put_string(b, f->name, f->name_length);
		tel__buffer_put_varint(b, sort_number(f->datatype));
		tel__buffer_put_varint(b, extended_load(t, f));
		tel__buffer_put_varint(b, f->width);
		tel__buffer_put_varint(b, f->offset);
		if (f->load == TEL_LOAD_BIT)
			tel__buffer_put_varint(b, f->bit);
		tel__buffer_put_varint(b, f->names == NULL ? f->space : 0u);
		tel__buffer_put_varint(b, (unsigned char)f->letter);
		if (extended_load(t, f) >= EXTENDED)
			put_extension(b, t, f);
	}
}

static unsigned
has_type(const uint8_t *wanted, unsigned type)
{
	return wanted == NULL || wanted[type];
}

void
tel__native_describe(struct tel__buffer *b, const struct tel_schema *s,
    const uint8_t *wanted)
{
	const struct tel_abi *abi = &s->abi;
	unsigned i, skipped = 0, left = 0;

	tel__native_put_text(b, s->version);
	tel__native_put_text(b, s->platform);
	tel__buffer_put_varint(b, abi->word);
	tel__buffer_put_varint(b,
	    (abi->big ? BIG : 0u) | (abi->align8 == 8 ? ALIGN8 : 0u) |
	        (abi->align_double == 8 ? ALIGN_DOUBLE : 0u) |
	        (abi->ms_bits ? MS_BITS : 0u) |
	        (s->split_space ? SPLIT_SPACE : 0u) |
	        (s->described ? DESCRIBED : 0u) | (s->untimed ? UNTIMED : 0u) |
	        (s->buffered ? BUFFERED : 0u) | (s->nested ? NESTED : 0u));
	tel__buffer_put_varint(b, s->header);
	tel__buffer_put_varint(b, s->align);
	tel__buffer_put_varint(b, s->ntypes);
	for (i = 0; i < s->ntypes; i++)
		left += has_type(wanted, i);
	tel__buffer_put_varint(b, left);
	for (i = 0; i < s->ntypes; i++) {
		if (!has_type(wanted, i)) {
			skipped++;
			continue;
		}
		tel__buffer_put_varint(b, skipped);
		skipped = 0;
		describe_type(b, &s->types[i]);
	}
}

void
tel__native_put_docs(struct tel__buffer *b, const struct tel_schema *s,
    const uint8_t *wanted)
{
	const size_t before = b->used;
	const struct tel_field *f;
	unsigned i, said = 0;

	for (i = 0; i < s->ntypes; i++) {
		const struct tel_type *t = &s->types[i];

		if (!has_type(wanted, i))
			continue;
		said |= t->doc != NULL;
		tel__native_put_text(b, t->doc != NULL ? t->doc : "");
		for (f = t->fields; f < t->fields + t->nfields; f++) {
			said |= f->unit_name != NULL || f->doc != NULL;
			tel__native_put_text(b, tel_field_unit(f));
			tel__native_put_text(b, f->doc != NULL ? f->doc : "");
		}
	}
	if (!said)
		b->used = before;
}

/*
 * What the digest covers is what blocks depend on: in a later version a type
 * may have another role.
 */
static void
put_layout(struct tel__buffer *b, const struct tel_type *t)
{
	tel__native_put_string(b, t->name, t->name_length);
	tel__buffer_put_varint(b, t->code);
	tel__buffer_put_varint(b, t->nfields);
	for (unsigned k = 0; k < t->nfields; k++) {
		const struct tel_field *f = &t->fields[k];

		tel__native_put_string(b, f->name, f->name_length);
		tel__buffer_put_varint(b, sort_number(f->datatype));
		tel__buffer_put_varint(b, extended_load(t, f));
		tel__buffer_put_varint(b, f->offset);
		tel__buffer_put_varint(b, f->bit);
	}
}

/* The digest of a buffer; never 0, which is out of memory. */
static uint64_t
digest_of(const struct tel__buffer *b)
{
	return b->failed ?
	    0 :
	    tel__native_check(b->bytes, b->used) | (uint64_t)1 << 32;
}

uint64_t
tel__native_digest(const struct tel_schema *s)
{
	struct tel__buffer b = { NULL, 0, 0, 0 };

	tel__native_put_text(&b, s->name);
	tel__buffer_put_varint(&b, s->header);
	for (unsigned i = 0; i < s->ntypes; i++)
		put_layout(&b, &s->types[i]);
	uint64_t digest = digest_of(&b);
	free(b.bytes);
	return digest;
}

uint64_t
tel__native_digest_described(const struct tel_schema *s)
{
	struct tel__buffer b = { NULL, 0, 0, 0 };

	tel__native_put_text(&b, s->name);
	tel__native_describe(&b, s, NULL);
	uint64_t digest = digest_of(&b);
	free(b.bytes);
	return digest;
}

int
tel__native_matches(const struct tel_schema *s, uint64_t digest)
{
	const uint64_t own = tel__native_digest(s);
	struct tel__buffer b = { NULL, 0, 0, 0 };
	int same = own == digest;

	/* releases of the MPS do not change */
	if (own == 0 || same || !s->described)
		return own == 0 ? -1 : same;
	tel__native_put_text(&b, s->name);
	tel__buffer_put_varint(&b, s->header);
	for (unsigned i = 0; i < s->ntypes && !same && !b.failed; i++) {
		put_layout(&b, &s->types[i]);
		same = digest_of(&b) == digest;
	}
	free(b.bytes);
	return b.failed ? -1 : same;
}

int
tel__native_equal(const struct tel_schema *a, const struct tel_schema *b)
{
	struct tel__buffer x = { NULL, 0, 0, 0 }, y = { NULL, 0, 0, 0 };

	tel__native_describe(&x, a, NULL);
	tel__native_describe(&y, b, NULL);
	int equal = x.failed || y.failed ?
	    -1 :
	    x.used == y.used && memcmp(x.bytes, y.bytes, x.used) == 0;
	free(x.bytes);
	free(y.bytes);
	return equal;
}

/* ----------------------------------------------- derived descriptions */

/* Gives a field another name.  1, or 0 without memory. */
static int
rename_field(struct tel_field *f, const char *name)
{
	const size_t n = strlen(name);
	char *copy = tel__copy_string(name, n);

	if (copy == NULL)
		return 0;
	free((void *)(uintptr_t)f->name);
	f->name = copy;
	f->name_length = (uint16_t)n;
	return 1;
}

int
tel__native_derive(struct tel__buffer *b, const struct tel_schema *s,
    struct tel_schema *base)
{
	/* no version, no platform, and for the rest the least that is valid */
	static const unsigned char head[] = { 0, 0, 8, 0, 0, 1 };

	if (s->ntypes != base->ntypes)
		return 0;
	tel__buffer_put(b, head, sizeof(head));
	tel__buffer_put_varint(b, NATIVE_DERIVED);
	for (unsigned i = 0; i < s->ntypes; i++) {
		if (s->types[i].nfields != base->types[i].nfields)
			return 0;
		for (unsigned k = 0; k < s->types[i].nfields; k++) {
			const struct tel_field *f = &s->types[i].fields[k];
			struct tel_field *of = &base->types[i].fields[k];

			if (strcmp(f->name, of->name) == 0)
				continue;
			if (!rename_field(of, f->name))
				return -1;
			tel__buffer_put_varint(b, i);
			tel__buffer_put_varint(b, k);
			tel__native_put_string(b, f->name, f->name_length);
		}
	}
	int equal = tel__native_equal(s, base);
	return b->failed ? -1 : equal;
}

/* ------------------------------------------------------------- reading */

static uint32_t
native_schema_string(struct native_bytes *b, const unsigned char **p)
{
	uint32_t n = native_number(b, NATIVE_BODY_MAX);

	*p = native_take(b, n);
	return *p != NULL ? n : 0;
}

/*
 * A name in its spelling (words: as that of a kind); NULL when out of memory,
 * or if it is invalid.
 */
static char *
native_schema_name(struct native_bytes *b, int words)
{
	const unsigned char *p;
	size_t n = native_schema_string(b, &p);

	if (b->bad || memchr(p, '\0', n) != NULL) {
		b->bad = 1;
		return NULL;
	}
	if (n > TEL__NAME_MAX) {
		b->bad = b->newer = 1;
		return NULL;
	}
	return tel__name_spell(p, n, words);
}

tel_status
tel__native_metadata(struct native_bytes *b, struct tel__metadata *m)
{
	const unsigned char *key, *value;
	uint32_t n = native_number(b, TEL__METADATA_MAX), key_size, value_size;
	tel_status st = TEL_OK;

	for (; n > 0 && !b->bad && st != TEL_ENOMEM; n--) {
		key_size = native_schema_string(b, &key);
		value_size = native_schema_string(b, &value);
		if (b->bad || m == NULL)
			continue;
		/* an entry that is not valid is left out */
		st = tel__metadata_set(m, (const char *)key, key_size,
		    (const char *)value, value_size);
	}
	return st == TEL_ENOMEM ? st : TEL_OK;
}

/* What of a description comes before its types. */
struct preface {
	char *version, *platform; /* NULL: no memory, or invalid */
	uint32_t word, flags, header, align, ntypes;
};

static void
read_preface(struct native_bytes *b, struct preface *p)
{
	p->version = native_schema_name(b, 1);
	p->platform = native_schema_name(b, 1);
	p->word = native_number(b, 8);
	p->flags = native_number(b, UINT32_MAX);
	p->header = native_number(b, 4096);
	p->align = native_number(b, 4096);
	p->ntypes = native_known(b, NATIVE_DERIVED);
}

static void
free_preface(struct preface *p)
{
	free(p->version);
	free(p->platform);
}

static struct native_bytes
description(const struct native_log *log)
{
	struct native_bytes b = { log->types, log->types + log->types_size, 0,
		0 };

	return b;
}

int
tel__native_is_derived(const struct native_log *log)
{
	struct preface p;

	if (log->types_size == 0)
		return 0;
	struct native_bytes b = description(log);
	read_preface(&b, &p);
	free_preface(&p);
	return !b.bad && p.ntypes == NATIVE_DERIVED;
}

tel_status
tel__native_rename(const struct native_log *log, struct tel_schema *base)
{
	struct native_bytes b = description(log);
	struct preface p;
	tel_status st = TEL_OK;

	read_preface(&b, &p);
	free_preface(&p);
	while (!b.bad && st == TEL_OK && native_left(&b) > 0) {
		uint32_t type = native_number(&b, UINT32_MAX);
		uint32_t field = native_number(&b, UINT32_MAX);
		char *text = native_schema_name(&b, 0);

		if (b.bad || type >= base->ntypes ||
		    field >= base->types[type].nfields)
			st = TEL_EFORMAT;
		else if (text == NULL ||
		    !rename_field(&base->types[type].fields[field], text))
			st = TEL_ENOMEM;
		free(text);
	}
	return b.bad ? TEL_EFORMAT : st;
}

void
tel__native_log(struct native_bytes *b, unsigned median, struct native_log *out)
{
	const unsigned char *digest, *rate, *origin;

	memset(out, 0, sizeof(*out));
	out->number = native_number(b, NATIVE_LOGS_MAX);
	out->index = native_varint(b);
	out->offset = native_varint(b);
	out->schema_size = native_schema_string(b, &out->schema);
	digest = native_take(b, 4);
	uint32_t rate_size = native_schema_string(b, &rate);
	out->types_size = native_schema_string(b, &out->types);
	out->name_size = native_schema_string(b, &out->name);
	out->form_size = native_schema_string(b, &out->form);
	out->preamble_size = native_schema_string(b, &out->preamble);
	if (rate_size != 0 && rate_size != 8)
		b->bad = 1;
	if (median > 0) {
		uint32_t origin_size = native_schema_string(b, &origin);

		if (origin_size != 0 && origin_size != 8)
			b->bad = 1;
		out->metadata = b->p;
		(void)tel__native_metadata(b, NULL);
		out->metadata_size = (uint32_t)(b->p - out->metadata);
		out->has_origin = !b->bad && origin_size == 8;
		if (out->has_origin)
			out->origin = (int64_t)tel_le64(origin);
	}
	if (b->bad)
		return;
	out->digest = tel_le32(digest) | (uint64_t)1 << 32;
	if (rate_size == 8)
		out->rate = tel_bits_double(tel_le64(rate));
}

/* Reads the extension of a field. */
static void
read_extension(struct native_bytes *b, const struct tel_type *t,
    struct tel_field *f)
{
	const uint32_t flags = native_known(b, OPTIONAL | UNIT | LIST | LABEL);

	if (flags & OPTIONAL) {
		f->present_at = (uint16_t)native_number(b, UINT16_MAX);
		f->present = (uint8_t)(1u << native_number(b, 7));
		/* with a header all bytes up to the last field are cells */
		b->bad |= t->schema->header == 0 || !t->schema->described ||
		    f->present_at >= t->size;
	}
	if (flags & UNIT)
		f->unit = (uint8_t)native_known(b, TEL_UNITS - 1);
	f->is_label = (flags & LABEL) != 0;
	b->bad |= f->is_label && f->datatype != TEL_STRING;
	if (flags & LIST) {
		f->element =
		    (uint8_t)datatypes[native_known(b, NDATATYPES - 1)];
		f->list_load = loads[native_known(b, NLOADS - 1)];
		b->bad |= (f->element == TEL_STRING) !=
		        (f->list_load == TEL_LOAD_STRING) ||
		    f->list_load == TEL_LOAD_STRING_AT ||
		    f->list_load == TEL_LOAD_LIST ||
		    f->list_load == TEL_LOAD_BIT || f->element == TEL_LIST;
	}
	b->bad |= (f->load == TEL_LOAD_LIST) != ((flags & LIST) != 0);
}

/* Adds a field to the type.  TEL_OK, TEL_EFORMAT, TEL_ENOMEM. */
static tel_status
native_schema_add_field(struct native_bytes *b, struct tel_type *t)
{
	char *text = native_schema_name(b, 0);
	const enum tel_datatype datatype =
	    datatypes[native_known(b, NDATATYPES - 1)];
	const uint32_t number = native_known(b, EXTENDED + NLOADS - 1);
	const uint32_t extended = number / EXTENDED;
	const enum tel_load load =
	    loads[number % EXTENDED < NLOADS ? number % EXTENDED : 0];
	const uint32_t width = native_number(b, 64);
	const uint32_t offset = native_known(b, UINT16_MAX);
	const uint32_t bit = load == TEL_LOAD_BIT ? native_number(b, 7) : 0;
	const uint32_t space = native_number(b, UINT8_MAX);
	const uint32_t letter = native_number(b, UINT8_MAX);
	const int bytes = load == TEL_LOAD_STRING || load == TEL_LOAD_STRING_AT;
	const int list = load == TEL_LOAD_LIST;

	if (number % EXTENDED >= NLOADS ||
	    (!extended && (list || load == TEL_LOAD_LEF32)))
		b->bad = b->newer = 1;
	if (text == NULL || b->bad || bytes != (datatype == TEL_STRING) ||
	    list != (datatype == TEL_LIST) ||
	    (load == TEL_LOAD_LEF32 && datatype != TEL_DOUBLE) ||
	    (!list && bytes != (width == 0))) {
		free(text);
		return b->bad || text != NULL ? TEL_EFORMAT : TEL_ENOMEM;
	}
	struct tel_field *f = tel__type_add(t, text, datatype, load, offset);
	free(text);
	if (f == NULL)
		return TEL_ENOMEM;
	if (width <= f->width)
		f->width = (uint8_t)width;
	f->bit = (uint8_t)bit;
	f->space = space < TEL_SPACES ? (uint8_t)space : 0;
	f->letter = (char)letter;
	if (extended)
		read_extension(b, t, f);
	if (list && !b->bad)
		f->width = tel__load_width(f->list_load);
	return b->bad ? TEL_EFORMAT : TEL_OK;
}

/* What of a type comes before its fields. */
struct head {
	char *name, *kind;
	uint32_t kind_number, code, size, partner, nfields;
	enum tel_role role;
	uint32_t parts[TEL_ROLE_PARTS]; /* numbers of fields and 1, or 0 */
};

static void
native_read_head(struct native_bytes *b, struct head *h, unsigned ntypes)
{
	const unsigned char *role;

	memset(h, 0, sizeof(*h));
	h->name = native_schema_name(b, 2);
	h->kind = native_schema_name(b, 1);
	h->kind_number = native_number(b, UINT16_MAX);
	h->code = native_number(b, UINT32_MAX);
	h->size = native_number(b, NATIVE_BODY_MAX);
	uint32_t n = native_schema_string(b, &role);
	if (n > 0) {
		h->role = tel__role_find((const char *)role, n);
		n = native_number(b, UINT8_MAX);
		for (uint32_t i = 0; i < n; i++) {
			uint32_t part = native_number(b, UINT8_MAX);

			if (i < TEL_ROLE_PARTS)
				h->parts[i] = part;
		}
		h->partner = native_number(b, ntypes);
	}
	h->nfields = native_known(b, UINT8_MAX);
}

/*
 * Gives t its role, where its fields are what the role needs: readers load
 * them without another look.
 */
static tel_status
native_schema_set_role(struct tel_type *t, const struct head *h)
{
	for (unsigned i = 0; i < TEL_ROLE_PARTS; i++) {
		if (h->parts[i] > t->nfields || h->parts[i] > INT8_MAX)
			return TEL_EFORMAT;
		t->role_field[i] = (int8_t)((int)h->parts[i] - 1);
	}
	if (h->role == TEL_ROLE_INTERN && t->role_field[1] >= 0 &&
	    t->fields[t->role_field[1]].datatype != TEL_STRING)
		return TEL_EFORMAT;
	t->role = (uint8_t)h->role;
	t->partner = (int32_t)h->partner - 1;
	return TEL_OK;
}

static tel_status
native_schema_add_type(struct native_bytes *b, struct tel_schema *s,
    unsigned ntypes)
{
	struct tel_type *t = NULL;
	struct head h;
	tel_status st = TEL_OK;

	native_read_head(b, &h, ntypes);
	if (b->bad)
		st = TEL_EFORMAT;
	else if (h.name == NULL || h.kind == NULL)
		st = TEL_ENOMEM;
	else
		t = tel__schema_add(s, h.name, h.code, h.kind, h.size,
		    h.nfields);
	free(h.name);
	free(h.kind);
	if (st == TEL_OK && t == NULL)
		st = TEL_ENOMEM;
	if (st != TEL_OK)
		return st;
	t->kind_number = (uint16_t)h.kind_number;
	for (uint32_t i = 0; i < h.nfields && st == TEL_OK; i++)
		st = native_schema_add_field(b, t);
	return st == TEL_OK ? native_schema_set_role(t, &h) : st;
}

/* Types that the description does not have still have their numbers. */
static tel_status
native_schema_fill(struct tel_schema *s, unsigned until, uint32_t *room)
{
	char text[24];

	if (until - s->ntypes > *room)
		return TEL_EFORMAT;
	*room -= until - s->ntypes;
	while (s->ntypes < until) {
		snprintf(text, sizeof(text), "Lost%u", s->ntypes);
		if (tel__schema_add(s, text, s->ntypes, "Lost", 0, 0) == NULL)
			return TEL_ENOMEM;
	}
	return TEL_OK;
}

/* Reads units and documentation of a type.  1; 0: no memory. */
static int
read_docs(struct native_bytes *b, struct tel_type *t)
{
	const unsigned char *text;
	struct tel_field *f;
	uint32_t n = native_schema_string(b, &text);
	int kept = tel__type_document(t, NULL, text, n);

	for (f = t->fields; kept && f < t->fields + t->nfields; f++) {
		n = native_schema_string(b, &text);
		kept = tel__field_set_unit(f, text, n);
		n = native_schema_string(b, &text);
		kept = kept && tel__type_document(t, f, text, n);
	}
	return kept;
}

/* Takes the pieces of a type from *room.  0: they are more. */
static int
take_pieces(const struct tel_type *t, uint32_t *room)
{
	const struct tel_field *f;
	uint32_t end = 0;

	for (f = t->fields; f < t->fields + t->nfields; f++) {
		end = f->offset > end ? f->offset : end;
		end = f->present_at > end ? f->present_at : end;
	}
	if (t->schema->header == 0 || !t->schema->described)
		end = 0;
	if (end / NATIVE_PIECE > *room)
		return 0;
	*room -= end / NATIVE_PIECE;
	return 1;
}

/* described: set to 1 for each type that the description has. */
static tel_status
read_types(struct native_bytes *b, struct tel_schema *s, unsigned ntypes,
    unsigned left, uint8_t *described, uint32_t *room)
{
	tel_status st = TEL_OK;
	unsigned i;

	for (; left > 0 && st == TEL_OK; left--) {
		uint32_t skip = native_number(b, ntypes);

		if (b->bad || skip >= ntypes - s->ntypes)
			return TEL_EFORMAT;
		st = native_schema_fill(s, s->ntypes + skip, room);
		described[s->ntypes] = 1;
		if (st == TEL_OK)
			st = native_schema_add_type(b, s, ntypes);
		if (st == TEL_OK &&
		    !take_pieces(&s->types[s->ntypes - 1], room))
			st = TEL_EFORMAT;
	}
	if (b->bad)
		return TEL_EFORMAT;
	if (st == TEL_OK)
		st = native_schema_fill(s, ntypes, room);
	for (i = 0; i < ntypes && st == TEL_OK && native_left(b) > 0; i++)
		if (described[i] && !read_docs(b, &s->types[i]))
			st = TEL_ENOMEM;
	return st;
}

static tel_status
add_types(struct native_bytes *b, struct tel_schema *s, unsigned ntypes,
    int *partial, uint32_t *room)
{
	const uint32_t left = native_number(b, ntypes);
	uint8_t *described = calloc(ntypes + (size_t)1, 1);
	const tel_status st = described == NULL ?
	    TEL_ENOMEM :
	    read_types(b, s, ntypes, left, described, room);

	*partial = left < ntypes;
	free(described);
	return st;
}

/*
 * The name of a schema as it is shown: without blanks, and cut to what fits.
 * 1, or 0 without memory.
 */
static int
spell(const struct native_log *log, char *text, size_t size)
{
	char *spelling = tel__name_spell(log->schema, log->schema_size, 1), *p;

	if (spelling == NULL)
		return 0;
	snprintf(text, size, "%s", spelling);
	free(spelling);
	for (p = text; *p != '\0'; p++)
		if (*p == ' ')
			*p = '_';
	return 1;
}

static struct tel_schema *
native_schema_make(const struct native_log *log, const struct preface *p)
{
	struct tel_abi abi = { 0 };
	struct tel_schema *s;
	char text[48];

	if (p->version == NULL || p->platform == NULL ||
	    !spell(log, text, sizeof(text)))
		return NULL;
	abi.word = (uint8_t)p->word;
	abi.big = (p->flags & BIG) != 0;
	abi.align8 = p->flags & ALIGN8 ? 8 : 4;
	abi.align_double = p->flags & ALIGN_DOUBLE ? 8 : 4;
	abi.ms_bits = (p->flags & MS_BITS) != 0;
	s = tel__schema_make(text, p->version, &abi, p->header, p->ntypes);
	if (s == NULL)
		return NULL;
	snprintf(s->platform, sizeof(s->platform), "%s", p->platform);
	s->align = p->align;
	s->split_space = (p->flags & SPLIT_SPACE) != 0;
	s->described = (p->flags & DESCRIBED) != 0;
	s->untimed = (p->flags & UNTIMED) != 0;
	s->buffered = (p->flags & BUFFERED) != 0;
	s->nested = (p->flags & NESTED) != 0;
	return s;
}

tel_status
tel__native_schema(const struct native_log *log, struct tel_schema **out,
    int *partial, uint32_t *room)
{
	struct native_bytes b = description(log);
	struct tel_schema *s = NULL;
	struct preface p;
	tel_status st;

	read_preface(&b, &p);
	if (!b.bad && p.ntypes > NATIVE_TYPES_MAX)
		b.bad = b.newer = 1;
	if (b.bad || (p.word != 4 && p.word != 8) || p.align == 0 ||
	    log->schema_size >= sizeof(s->name) ||
	    memchr(log->schema, '\0', log->schema_size) != NULL) {
		st = TEL_EFORMAT;
	} else {
		s = native_schema_make(log, &p);
		st = s == NULL ? TEL_ENOMEM :
		                 add_types(&b, s, p.ntypes, partial, room);
	}
	free_preface(&p);
	if (st != TEL_OK)
		tel_schema_free(s);
	else
		*out = s;
	return st == TEL_EFORMAT && b.newer ? TEL_EVERSION : st;
}
