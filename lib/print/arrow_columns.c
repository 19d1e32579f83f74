/* SPDX-License-Identifier: BSD-2-Clause */
/* The columns of a table of events: one for each field, by its name. */
#include "print/arrow.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/array.h"

/* The most columns of fields; those beyond are text. */
#define COLUMNS_MAX 4096u

static enum arrow_class
class_of_datatype(enum tel_datatype datatype)
{
	switch (datatype) {
	case TEL_SIGNED: return AS_SIGNED;
	case TEL_DOUBLE: return AS_DOUBLE;
	case TEL_BOOLEAN: return AS_BOOLEAN;
	case TEL_LIST:
	case TEL_STRING: return AS_TEXT;
	case TEL_UNSIGNED:
	case TEL_SET:
	case TEL_ADDRESS:
	case TEL_POINTER: break;
	}
	return AS_UNSIGNED;
}

/* An enum arrow_class; of a list both. */
static unsigned
arrow_class(const struct tel_field *f)
{
	if (f->is_label)
		return AS_NAME;
	return class_of_datatype(tel_field_element(f)) +
	    (f->datatype == TEL_LIST ? AS_LIST : 0u);
}

unsigned
tel__arrow_bytes(const struct tel_field *f)
{
	const enum tel_load load =
	    f->load == TEL_LOAD_LIST ? f->list_load : f->load;
	const unsigned width = tel__load_width(load);

	/* a float is a double, as the load has it */
	return load == TEL_LOAD_LEF32 ? 8 : width < 8 ? 1 : width / 8;
}

static uint64_t
arrow_columns_hash_name(const struct arrow *a, const char *name, size_t n,
    unsigned class)
{
	return tel__hash_bytes(name, n, a->by_name.seed + class);
}

struct arrow_place *
tel__arrow_find(const struct arrow *a, const struct tel_field *f)
{
	const unsigned class = arrow_class(f);
	struct tel__probe at;

	for (uint32_t i = tel__index_first(&a->by_name,
	         arrow_columns_hash_name(a, f->name, f->name_length, class),
	         &at);
	     i != TEL__NOWHERE; i = tel__index_next(&a->by_name, &at))
		if (a->places[i].class == class &&
		    strcmp(a->places[i].name, f->name) == 0)
			return &a->places[i];
	return NULL;
}

/* A hash of a name without case, as SQL compares names. */
static uint64_t
hash_column(const struct arrow *a, const char *name)
{
	uint64_t hash = TEL__FNV ^ a->by_column.seed;

	for (; *name != '\0'; name++)
		hash = tel__fnv_byte(hash,
		    (unsigned char)(*name >= 'A' && *name <= 'Z' ? *name + 32 :
		                                                   *name));
	return hash;
}

/* Nonzero when a column has that name, or one that only looks the same. */
static int
arrow_columns_is_taken(const struct arrow *a, const char *name)
{
	struct tel__probe at;
	uint32_t i;

	for (i = tel__index_first(&a->by_column, hash_column(a, name), &at);
	     i != TEL__NOWHERE; i = tel__index_next(&a->by_column, &at))
		if (strcasecmp(a->table->columns[i].name, name) == 0)
			return 1;
	return 0;
}

int
tel__arrow_add_column(struct arrow *a, const char *name, const char *behind,
    struct table_kind kind)
{
	char text[512];

	(void)snprintf(text, sizeof(text), "%.480s%s", name, behind);
	for (unsigned i = 2; arrow_columns_is_taken(a, text); i++)
		(void)snprintf(text, sizeof(text), "%.480s%s_%u", name, behind,
		    i);
	int column = tel__table_add(a->table, text, strlen(text), kind);
	if (column >= 0 &&
	    !tel__index_add(&a->by_column, hash_column(a, text),
	        (uint32_t)column))
		return -1;
	return column;
}

const struct table_kind tel__arrow_name = { TABLE_UTF8, 4, 0, 0, -1, 0 };

/* The type of a field's column. */
static struct table_kind
arrow_columns_kind_of(const struct arrow *a, const struct tel_field *f)
{
	struct table_kind kind = { TABLE_INTEGER, tel__arrow_bytes(f), 0, 0, -1,
		0 };
	const unsigned class = arrow_class(f);

	switch (class % AS_LIST) {
	case AS_SIGNED: kind.is_signed = 1; break;
	case AS_DOUBLE: kind.type = TABLE_FLOAT; break;
	case AS_BOOLEAN: kind.type = TABLE_BOOLEAN; break;
	case AS_NAME: kind.dictionary = a->labels; /* fall through */
	case AS_TEXT: kind.type = TABLE_UTF8; break;
	default: break;
	}
	if (class >= AS_LIST) {
		kind.element = kind.type;
		kind.type = TABLE_LIST;
	}
	return kind;
}

/* Sets the field of a column.  1, or 0: no memory. */
static int
arrow_columns_describe(struct arrow *a, int column, const struct tel_field *f,
    const char *datatype)
{
	struct table_column *c = &a->table->columns[column];

	c->field = tel__copy_string(f->name, f->name_length);
	c->datatype = datatype;
	return c->field != NULL;
}

/* Adds what a field needs.  1, or 0: no memory. */
static int
arrow_columns_add_field(struct arrow *a, const struct tel_field *f)
{
	struct table_kind kind = arrow_columns_kind_of(a, f);
	struct arrow_place *p = tel__arrow_find(a, f);

	if (p != NULL) {
		struct table_kind *had = &a->table->columns[p->column].kind;

		if (had->bytes < kind.bytes)
			had->bytes = kind.bytes;
	} else {
		if (a->nplaces == COLUMNS_MAX)
			return 1;
		if (!TEL__RESERVE(a->places, a->places_room, a->nplaces + 1))
			return 0;
		p = &a->places[a->nplaces];
		p->class = arrow_class(f);
		p->label = -1;
		p->name = tel__copy_string(f->name, f->name_length);
		if (p->name == NULL)
			return 0;
		a->nplaces++;
		size_t n = f->name_length;
		/* "col.label" beside "col" is called as other labels are */
		if (f->is_label && n > 6)
			p->name[n - 6] = '\0';
		p->column = tel__arrow_add_column(a, p->name,
		    f->is_label && n > 6 ? "_label" : "", kind);
		memcpy(p->name, f->name, n);
		if (p->column < 0 ||
		    !arrow_columns_describe(a, p->column, f,
		        tel_datatype_name(f->datatype)) ||
		    !tel__index_add(&a->by_name,
		        arrow_columns_hash_name(a, f->name, f->name_length,
		            p->class),
		        (uint32_t)(a->nplaces - 1)))
			return 0;
	}
	if (!tel_field_labelled(f) || p->label >= 0)
		return 1;
	kind = tel__arrow_name;
	kind.dictionary = a->labels;
	p->label = tel__arrow_add_column(a, f->name, "_label", kind);
	return p->label >= 0 && arrow_columns_describe(a, p->label, f, "label");
}

/* Adds the fields of a type that are shown.  1, or 0: no memory. */
static int
arrow_columns_add_type(struct tel_printer *pr, const struct tel_type *type)
{
	struct arrow *a = pr->state;
	uint32_t number;

	if (a->type >= 0 &&
	    (!tel__table_name(&a->table->dictionaries[a->types], type->name,
	         type->name_length, &number) ||
	        (a->kind >= 0 &&
	            !tel__table_name(&a->table->dictionaries[a->kinds],
	                type->kind, strlen(type->kind), &number))))
		return 0;
	for (unsigned i = 0; i < render_count(pr, type); i++) {
		int at = render_field(pr, type, i);

		if (at >= 0 && !arrow_columns_add_field(a, &type->fields[at]))
			return 0;
	}
	return 1;
}

tel_status
tel__arrow_add_schema(struct tel_printer *pr, const struct tel_schema *schema,
    const tel_filter *filter)
{
	for (unsigned i = 0; i < schema->ntypes; i++) {
		const struct tel_type *type = &schema->types[i];

		if (pr->columns != NULL ?
		        strcmp(type->name, pr->columns) != 0 :
		        filter != NULL && !tel_filter_type(filter, type))
			continue;
		if (!arrow_columns_add_type(pr, type))
			return TEL_ENOMEM;
	}
	return TEL_OK;
}

/* The column of clocks, or of times. */
static int
add_clock(const struct tel_printer *pr, struct arrow *a)
{
	struct table_kind kind = { TABLE_INTEGER, 8, 1, 0, -1, 0 };

	switch (pr->time) {
	case TEL_TIME_TICKS:
		kind.is_signed = 0;
		return tel__arrow_add_column(a, "clock", "", kind);
	case TEL_TIME_SECONDS: kind.type = TABLE_DURATION; break;
	case TEL_TIME_ISO: kind.type = TABLE_TIMESTAMP; break;
	case TEL_TIME_NS:
	case TEL_TIME_RELATIVE:
	case TEL_TIME_DELTA: break;
	}
	return tel__arrow_add_column(a, "time", "", kind);
}

static ptrdiff_t
arrow_columns_take_text(void *arg, const void *data, size_t size)
{
	struct arrow *a = arg;

	tel__buffer_put(&a->text, data, size);
	return a->text.failed ? -1 : (ptrdiff_t)size;
}

/* Adds the columns that all tables have.  1, or 0: no memory. */
static int
add_common(struct tel_printer *pr, struct arrow *a)
{
	struct table_kind kind = tel__arrow_name;

	a->types = tel__table_add_dictionary(a->table);
	a->kinds = tel__table_add_dictionary(a->table);
	a->labels = tel__table_add_dictionary(a->table);
	a->kind = a->type = -1;
	a->clock = add_clock(pr, a);
	if (a->types < 0 || a->kinds < 0 || a->labels < 0 || a->clock < 0)
		return 0;
	if (pr->columns != NULL)
		return 1;
	kind.required = 1;
	if (pr->names == NULL) {
		kind.dictionary = a->kinds;
		a->kind = tel__arrow_add_column(a, "kind", "", kind);
		if (a->kind < 0)
			return 0;
	}
	kind.dictionary = a->types;
	a->type = tel__arrow_add_column(a, "type", "", kind);
	return a->type >= 0;
}

tel_status
tel__arrow_open(struct tel_printer *pr)
{
	struct arrow *a;

	if (pr->state != NULL)
		return TEL_OK;
	a = calloc(1, sizeof(*a));
	if (a == NULL)
		return TEL_ENOMEM;
	pr->state = a;
	a->other = -1;
	tel__index_init(&a->by_name);
	tel__index_init(&a->by_column);
	a->table = tel_table_new(pr->out);
	a->scratch = tel_output_new_callback(arrow_columns_take_text, a);
	if (a->table == NULL || a->scratch == NULL || !add_common(pr, a))
		return TEL_ENOMEM;
	(void)tel_table_set_file(a->table, pr->footer);
	return pr->level == 0 ? TEL_OK :
	                        tel_table_set_zstd(a->table, pr->level);
}

tel_status
tel__arrow_take_schema(struct tel_printer *pr, const struct tel_schema *schema,
    const tel_filter *filter)
{
	tel_status st = tel__arrow_open(pr);
	struct arrow *a = pr->state;

	if (st != TEL_OK || a->table->started)
		return st;
	a->given = 1;
	return tel__arrow_add_schema(pr, schema, filter);
}
