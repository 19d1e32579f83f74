/* SPDX-License-Identifier: BSD-2-Clause */
/* The metadata of a chunk: classes, their fields, and what annotations say. */
#include "base/array.h"
#include "format/jfr/jfr.h"

#include <stdlib.h>
#include <string.h>

/* Documented limits: strings, and how deep elements are in each other. */
#define STRINGS_MAX ((size_t)1 << 20)
#define ELEMENTS_DEPTH 16
#define CATEGORY_MAX 255u

uint64_t
tel__jfr_varint_long(struct jfr_bytes *b)
{
	const unsigned char *p = b->p;
	uint64_t v = 0, last;

	if (b->end - p >= 9) {
		v = tel_le64(p);
		last = ~v & UINT64_C(0x8080808080808080);
		if (last != 0) {
			/* all bits up to the first byte that is the last */
			v &= last ^ (last - 1);
			p += (unsigned)__builtin_ctzll(last) / 8 + 1;
		}
		/* pairs of bytes, then of those, move together */
		v = (v & UINT64_C(0x007f007f007f007f)) |
		    (v & UINT64_C(0x7f007f007f007f00)) >> 1;
		v = (v & UINT64_C(0x00003fff00003fff)) |
		    (v & UINT64_C(0x3fff00003fff0000)) >> 2;
		v = (v & 0xfffffff) | (v >> 32 & 0xfffffff) << 28;
		if (last == 0) {
			v |= (uint64_t)p[8] << 56;
			p += 9;
		}
		b->p = p;
		return v;
	}
	for (unsigned i = 0; p < b->end; i++) {
		v |= (uint64_t)(*p & 0x7f) << 7 * i;
		if (*p++ < 0x80) {
			b->p = p;
			return v;
		}
	}
	b->p = b->end;
	b->bad = 1;
	return 0;
}

/* An element that is read. */
struct element {
	const char *name;
	uint64_t nattributes;
	struct jfr_bytes attributes; /* from the first on */
	uint64_t nchildren;
};

struct parser {
	struct jfr_layout *l;
	struct jfr_bytes b;
	int failed; /* no memory */
	/* the element being read; JFR_NONE */
	struct jfr_class *class;
};

static const char *
string_at(struct parser *p, struct jfr_bytes *b)
{
	const uint64_t i = jfr_varint(b);

	if (i >= p->l->nstrings) {
		b->bad = 1;
		return "";
	}
	return p->l->strings[i] != NULL ? p->l->strings[i] : "";
}

/* Reads the strings of the metadata. */
static void
read_strings(struct parser *p)
{
	const uint64_t n = jfr_varint(&p->b);
	struct jfr_chunk none = { 0 };
	struct tel__buffer text = { 0 };

	if (n > STRINGS_MAX || n > (uint64_t)(p->b.end - p->b.p)) {
		p->b.bad = 1;
		return;
	}
	p->l->strings = calloc((size_t)n + 1, sizeof(*p->l->strings));
	if (p->l->strings == NULL) {
		p->failed = 1;
		return;
	}
	for (size_t i = 0; i < n && !p->b.bad; i++) {
		text.used = 0;
		(void)tel__jfr_string(&none, &p->b, &text);
		p->l->strings[i] = tel__copy_string(text.bytes, text.used);
		p->failed |= text.failed || p->l->strings[i] == NULL;
		p->l->nstrings++;
	}
	tel__buffer_clear(&text);
}

/* Reads the start of an element, up to its children. */
static void
read_element(struct parser *p, struct element *e)
{
	e->name = string_at(p, &p->b);
	e->nattributes = jfr_varint(&p->b);
	e->attributes = p->b;
	for (uint64_t i = 0; i < e->nattributes && !p->b.bad; i++) {
		(void)jfr_varint(&p->b);
		(void)jfr_varint(&p->b);
	}
	e->attributes.end = p->b.p;
	e->nchildren = jfr_varint(&p->b);
	/* each has three bytes at least */
	if (e->nchildren > (uint64_t)(p->b.end - p->b.p) / 3)
		p->b.bad = 1;
}

/* The value of an attribute, or NULL. */
static const char *
attribute(struct parser *p, const struct element *e, const char *key)
{
	struct jfr_bytes b = e->attributes;

	for (uint64_t i = 0; i < e->nattributes && !b.bad; i++) {
		const char *name = string_at(p, &b);
		const char *value = string_at(p, &b);

		if (!b.bad && strcmp(name, key) == 0)
			return value;
	}
	return NULL;
}

static int
jfr_metadata_is_true(const char *value)
{
	return value != NULL && strcmp(value, "true") == 0;
}

/* A number of decimal digits; UINT64_MAX if it is none. */
static uint64_t
jfr_metadata_number(const char *text)
{
	uint64_t v = 0;

	if (text == NULL || *text == '\0')
		return UINT64_MAX;
	for (; *text != '\0'; text++)
		if (*text < '0' || *text > '9' || v > UINT64_MAX / 16)
			return UINT64_MAX;
		else
			v = v * 10 + (uint64_t)(*text - '0');
	return v;
}

static void
jfr_metadata_add_class(struct parser *p, const struct element *e)
{
	struct jfr_layout *l = p->l;
	const char *name = attribute(p, e, "name");
	const char *super = attribute(p, e, "superType");
	const uint64_t id = jfr_metadata_number(attribute(p, e, "id"));
	struct tel__entry *entry;
	int fresh;

	p->class = NULL;
	if (name == NULL || id == UINT64_MAX ||
	    l->nclasses == JFR_CLASSES_MAX) {
		p->b.bad = 1;
		return;
	}
	if (!TEL__RESERVE(l->classes, l->class_room, l->nclasses + 1) ||
	    (entry = tel__table_put(&l->by_id, id, &fresh)) == NULL) {
		p->failed = 1;
		return;
	}
	entry->value = l->nclasses;
	if (id < sizeof(l->direct) / sizeof(l->direct[0]))
		l->direct[id] = (uint16_t)(l->nclasses + 1);
	struct jfr_class *c = &l->classes[l->nclasses++];
	memset(c, 0, sizeof(*c));
	/* "com.oracle.jdk.ThreadSleep" of Oracle's JDK 9 and 10 */
	c->name = strncmp(name, "com.oracle.jdk.", 15) == 0 ? name + 11 : name;
	c->id = id;
	c->first = (uint32_t)l->nfields;
	c->simple =
	    (uint8_t)jfr_metadata_is_true(attribute(p, e, "simpleType"));
	c->is_event = super != NULL && strcmp(super, "jdk.jfr.Event") == 0;
	c->name_field = JFR_NONE;
	c->start = JFR_NONE;
	p->class = c;
}

static void
jfr_metadata_add_field(struct parser *p, const struct element *e)
{
	struct jfr_layout *l = p->l;
	const char *name = attribute(p, e, "name");
	const uint64_t id = jfr_metadata_number(attribute(p, e, "class"));

	if (name == NULL || p->class == NULL ||
	    p->class->count == JFR_FIELDS_MAX) {
		p->b.bad = 1;
		return;
	}
	if (!TEL__RESERVE(l->fields, l->field_room, l->nfields + 1)) {
		p->failed = 1;
		return;
	}
	struct jfr_field *f = &l->fields[l->nfields++];
	memset(f, 0, sizeof(*f));
	f->name = name;
	/* until all classes are known, the id */
	f->class = id < JFR_NONE ? (uint32_t)id : JFR_NONE;
	f->pool =
	    (uint8_t)jfr_metadata_is_true(attribute(p, e, "constantPool"));
	f->list =
	    (uint8_t)(jfr_metadata_number(attribute(p, e, "dimension")) == 1);
	p->class->count++;
}

/* Adds to a unit: an amount of data with a frequency is a rate, in any order. */
static uint8_t
unit_with(uint8_t unit, enum tel_unit more)
{
	const enum tel_unit amount = more == TEL_UNIT_HERTZ ? unit : more;

	if (more != TEL_UNIT_HERTZ && unit != TEL_UNIT_HERTZ)
		return (uint8_t)more;
	return amount == TEL_UNIT_BITS ? TEL_UNIT_BITS_A_SECOND :
	    amount == TEL_UNIT_BYTES   ? TEL_UNIT_BYTES_A_SECOND :
	                                 TEL_UNIT_HERTZ;
}

/* Keeps an annotation that documents something: a description, or a label. */
static void
annotate_doc(const char **doc, const char *name, const char *value)
{
	if (strcmp(name, "jdk.jfr.Description") == 0 ||
	    (strcmp(name, "jdk.jfr.Label") == 0 && *doc == NULL))
		*doc = value;
}

static void
annotate_field(struct jfr_field *f, const char *name, const char *value)
{
	static const struct {
		const char *value;
		uint8_t scale;
	} scales[] = { { "TICKS", JFR_TICKS_SPAN },
		{ "NANOSECONDS", JFR_PLAIN }, { "MICROSECONDS", JFR_THOUSANDS },
		{ "MILLISECONDS", JFR_MILLIONS }, { "SECONDS", JFR_BILLIONS } };
	const int time = strcmp(name, "jdk.jfr.Timestamp") == 0;

	if (time || strcmp(name, "jdk.jfr.Timespan") == 0) {
		f->unit = time ? TEL_UNIT_TIME : TEL_UNIT_NS;
		size_t n = strlen(value);
		/* NANOSECONDS_SINCE_EPOCH */
		if (time && n > 12 &&
		    strcmp(value + n - 12, "_SINCE_EPOCH") == 0)
			n -= 12;
		for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++)
			if (strlen(scales[i].value) == n &&
			    memcmp(scales[i].value, value, n) == 0)
				f->scale = scales[i].scale;
		if (time && f->scale == JFR_TICKS_SPAN)
			f->scale = JFR_TICKS_TIME;
	} else if (strcmp(name, "jdk.jfr.DataAmount") == 0) {
		f->unit = unit_with(f->unit,
		    strcmp(value, "BITS") == 0 ? TEL_UNIT_BITS :
		                                 TEL_UNIT_BYTES);
	} else if (strcmp(name, "jdk.jfr.Percentage") == 0) {
		f->unit = TEL_UNIT_FRACTION;
	} else if (strcmp(name, "jdk.jfr.Frequency") == 0) {
		f->unit = unit_with(f->unit, TEL_UNIT_HERTZ);
	} else if (strcmp(name, "jdk.jfr.MemoryAddress") == 0) {
		f->is_address = 1;
	} else if (strcmp(name, "jdk.jfr.Unsigned") == 0) {
		f->is_unsigned = 1;
	}
}

/* Keeps the category of an event: its values with slashes between. */
static void
set_category(struct parser *p, struct jfr_class *c, const struct element *e)
{
	char text[CATEGORY_MAX + 1], key[16] = "value-0";
	size_t used = 0, n;

	for (unsigned i = 0; i < 10; i++) {
		key[6] = (char)('0' + i);
		const char *value = attribute(p, e, key);
		if (value == NULL && i == 0)
			value = attribute(p, e, "value");
		if (value == NULL)
			break;
		n = strlen(value);
		if (used + n + 1 > CATEGORY_MAX)
			break;
		if (used > 0)
			text[used++] = '/';
		memcpy(text + used, value, n);
		used += n;
	}
	if (used == 0 || c->category != NULL)
		return;
	c->category = tel__copy_string(text, used);
	p->failed |= c->category == NULL;
}

/* The name of a class by its id; NULL. */
static const char *
jfr_metadata_name_of(const struct jfr_layout *l, uint64_t id)
{
	const uint32_t at = jfr_class_of(l, id);

	return at != JFR_NONE ? l->classes[at].name : NULL;
}

/*
 * Reads an element and those in it.  classes: those of classes and fields are
 * kept; else their annotations are, as only then all classes have names.
 */
static void
read_tree(struct parser *p, int classes, struct jfr_class *class,
    struct jfr_field *field, unsigned depth)
{
	struct element e;

	if (depth == ELEMENTS_DEPTH || p->b.bad || p->failed) {
		p->b.bad = 1;
		return;
	}
	read_element(p, &e);
	if (p->b.bad)
		return;
	if (strcmp(e.name, "class") == 0) {
		if (classes) {
			jfr_metadata_add_class(p, &e);
		} else {
			uint32_t at = jfr_class_of(p->l,
			    jfr_metadata_number(attribute(p, &e, "id")));

			class = at != JFR_NONE ? &p->l->classes[at] : NULL;
		}
	} else if (strcmp(e.name, "field") == 0) {
		if (classes) {
			jfr_metadata_add_field(p, &e);
		} else if (class != NULL) {
			const char *name = attribute(p, &e, "name");

			for (size_t k = 0; k < class->count; k++)
				/* the same string, not another as long */
				if (p->l->fields[class->first + k].name == name)
					field = &p->l->fields[class->first + k];
		}
	} else if (strcmp(e.name, "annotation") == 0 && !classes) {
		const char *name = jfr_metadata_name_of(p->l,
		    jfr_metadata_number(attribute(p, &e, "class")));
		const char *value = attribute(p, &e, "value");

		if (name != NULL && value != NULL &&
		    (field != NULL || class != NULL))
			annotate_doc(field != NULL ? &field->doc : &class->doc,
			    name, value);
		if (name != NULL && field != NULL)
			annotate_field(field, name, value != NULL ? value : "");
		else if (name != NULL && class != NULL &&
		    strcmp(name, "jdk.jfr.Category") == 0)
			set_category(p, class, &e);
	}
	for (uint64_t i = 0; i < e.nchildren && !p->b.bad && !p->failed; i++)
		read_tree(p, classes, class, field, depth + 1);
}

static const struct {
	const char *name;
	uint8_t kind;
	const char *field; /* that has the name */
} kinds[] = {
	{ "boolean", JFR_BOOLEAN, NULL },
	{ "byte", JFR_BYTE, NULL },
	{ "short", JFR_SHORT, NULL },
	{ "char", JFR_CHAR, NULL },
	{ "int", JFR_INT, NULL },
	{ "long", JFR_LONG, NULL },
	{ "float", JFR_FLOAT, NULL },
	{ "double", JFR_DOUBLE, NULL },
	{ "java.lang.String", JFR_STRING, NULL },
	{ "java.lang.Class", JFR_NAMED, "name" },
	{ "java.lang.Thread", JFR_THREAD, "javaName" },
	{ "jdk.types.ClassLoader", JFR_LOADER, "name" },
	{ "jdk.types.Method", JFR_METHOD, "name" },
	{ "jdk.types.Module", JFR_NAMED, "name" },
	{ "jdk.types.Package", JFR_NAMED, "name" },
	{ "jdk.types.StackTrace", JFR_STACK, "frames" },
	{ "jdk.types.ThreadGroup", JFR_NAMED, "name" },
};

/* Whether a class has a name of kinds, or the one that Oracle's JDK 9 and 10 had. */
static int
has_type_name(const struct jfr_class *c, const char *name)
{
	static const char before[] = "com.oracle.jfr.", now[] = "jdk.";

	return strcmp(c->name, name) == 0 ||
	    (strncmp(c->name, before, sizeof(before) - 1) == 0 &&
	        strncmp(name, now, sizeof(now) - 1) == 0 &&
	        strcmp(c->name + sizeof(before) - 1, name + sizeof(now) - 1) ==
	            0);
}

/* The kind of a class's values, by its name. */
static void
jfr_metadata_classify(struct jfr_layout *l, struct jfr_class *c)
{
	const char *field = NULL;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!has_type_name(c, kinds[i].name))
			continue;
		/* the primitive ones have no fields */
		if ((kinds[i].field == NULL) != (c->count == 0))
			return;
		c->kind = kinds[i].kind;
		field = kinds[i].field;
	}
	if (c->kind == JFR_STRUCT && c->simple && c->count == 1 &&
	    !c->is_event && !l->fields[c->first].list) {
		c->kind = JFR_NAMED;
		c->name_field = 0;
	}
	for (uint32_t k = 0; k < c->count; k++) {
		if (field != NULL &&
		    strcmp(l->fields[c->first + k].name, field) == 0)
			c->name_field = k;
		if (c->is_event &&
		    strcmp(l->fields[c->first + k].name, "startTime") == 0)
			c->start = k;
	}
	if (field != NULL && c->name_field == JFR_NONE)
		c->kind = JFR_STRUCT;
}

tel_status
tel__jfr_metadata(struct jfr_layout *l, struct jfr_bytes b, const char **why)
{
	struct parser p = { l, b, 0, NULL };

	*why = "the metadata are invalid";
	tel__table_init(&l->by_id);
	read_strings(&p);
	struct jfr_bytes tree = p.b;
	if (!p.b.bad && !p.failed)
		read_tree(&p, 1, NULL, NULL, 0);
	for (size_t i = 0; i < l->nfields; i++)
		l->fields[i].class = jfr_class_of(l, l->fields[i].class);
	for (size_t i = 0; i < l->nclasses; i++)
		jfr_metadata_classify(l, &l->classes[i]);
	l->string_class = JFR_NONE;
	for (size_t i = l->nclasses; i-- > 0;)
		if (l->classes[i].kind == JFR_STRING)
			l->string_class = (uint32_t)i;
	if (!p.b.bad && !p.failed) {
		p.b = tree;
		read_tree(&p, 0, NULL, NULL, 0);
	}
	if (p.failed)
		return TEL_ENOMEM;
	return p.b.bad || l->nclasses == 0 ? TEL_EFORMAT : TEL_OK;
}

void
tel__jfr_layout_free(struct jfr_layout *l)
{
	if (l == NULL)
		return;
	for (size_t i = 0; i < l->nstrings; i++)
		free(l->strings[i]);
	for (size_t i = 0; i < l->nclasses; i++)
		free(l->classes[i].category);
	free(l->strings);
	free(l->classes);
	free(l->fields);
	free(l->ops);
	free(l->bytes);
	tel__table_clear(&l->by_id);
	free(l);
}

void
tel__jfr_skip_class(struct jfr_bytes *b, const struct jfr_layout *l,
    uint32_t class, unsigned depth)
{
	uint64_t n;

	if (class == JFR_NONE || depth > 2 * JFR_DEPTH_MAX) {
		b->bad = 1;
		return;
	}
	const struct jfr_class *c = &l->classes[class];
	switch ((enum jfr_kind)c->kind) {
	case JFR_BOOLEAN:
	case JFR_BYTE: (void)jfr_take(b, 1); return;
	case JFR_SHORT:
	case JFR_CHAR:
	case JFR_INT:
	case JFR_LONG: (void)jfr_varint(b); return;
	case JFR_FLOAT: (void)jfr_take(b, 4); return;
	case JFR_DOUBLE: (void)jfr_take(b, 8); return;
	case JFR_STRING:
		switch (b->p < b->end ? *b->p++ : 255) {
		case 0:
		case 1: return;
		case 2: (void)jfr_varint(b); return;
		case 3:
		case 5:
			n = jfr_varint(b);
			(void)jfr_take(b, n);
			return;
		case 4:
			for (n = jfr_varint(b); n > 0 && !b->bad; n--)
				(void)jfr_varint(b);
			return;
		default: b->bad = 1; return;
		}
	default: break;
	}
	/* at least a byte, so that it takes no longer than there are bytes */
	b->bad |= c->count == 0;
	for (uint32_t i = 0; i < c->count && !b->bad; i++)
		tel__jfr_skip(b, l, c->first + i, depth + 1);
}

void
tel__jfr_skip(struct jfr_bytes *b, const struct jfr_layout *l, uint32_t field,
    unsigned depth)
{
	const struct jfr_field *f = &l->fields[field];
	uint64_t n = f->list ? jfr_varint(b) : 1;

	/* of a class without fields nothing is written */
	if (f->list && n > (uint64_t)(b->end - b->p)) {
		b->bad = 1;
		return;
	}
	for (; n > 0 && !b->bad; n--) {
		if (f->pool)
			(void)jfr_varint(b);
		else
			tel__jfr_skip_class(b, l, f->class, depth);
	}
}
