/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Schemas of recordings: a type for each class of events, and the program that
 * makes rows of them.  Structs are flattened: "heapSpace.start".  A constant
 * with a name (class, method, cause) is a string, a thread its name and its
 * numbers, a stack the number of its innermost frame.
 */
#include "base/array.h"
#include "format/jfr/jfr.h"
#include "model/name.h"
#include "model/role.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES TEL__NAME_MAX
/* Fields of a type. */
#define FIELDS_MAX 250u
/* Documented limit: ops of all types, behind which structs are not shown. */
#define OPS_MAX ((size_t)1 << 18)

/* A type that is made. */
struct maker {
	struct jfr_layout *l;
	struct tel_type *t;                /* NULL: it is measured only */
	uint32_t nfields, nbits, at, bits; /* .bits: where the bits are */
	int failed;                        /* no memory */
};

/* ------------------------------------------------------------- fields */

static void
add_op(struct maker *m, const struct jfr_op *op)
{
	struct jfr_layout *l = m->l;

	if (m->failed || !TEL__RESERVE(l->ops, l->op_room, l->nops + 1))
		m->failed = 1;
	else
		l->ops[l->nops++] = *op;
}

/*
 * How many bytes of a name are kept: as many as have a spelling of the allowed
 * length, in which '$' of Java takes four.
 */
static size_t
jfr_schema_name_length(const char *name)
{
	size_t n = 0, room = NAME_MAX_BYTES;

	for (; name[n] != '\0'; n++) {
		const unsigned char c = (unsigned char)name[n];
		const size_t width = tel__name_is(&c, 1) ||
		        (n > 0 && (c == '.' || (c >= '0' && c <= '9'))) ?
		    1 :
		    4;

		if (width > room)
			break;
		room -= width;
	}
	return n;
}

/* Makes the name of a member, cut to the allowed length. */
static void
jfr_schema_join_names(char *text, const char *prefix, const char *name)
{
	size_t n = strnlen(prefix, NAME_MAX_BYTES), k;

	memcpy(text, prefix, n);
	if (n > 0 && n < NAME_MAX_BYTES)
		text[n++] = '.';
	k = strnlen(name, NAME_MAX_BYTES - n);
	memcpy(text + n, name, k);
	text[n + k] = '\0';
	text[jfr_schema_name_length(text)] = '\0';
}

/* Has a field say what that of the class it is made of does. */
static void
describe(struct maker *m, struct tel_field *field, const struct jfr_field *f)
{
	if (field != NULL && f->doc != NULL &&
	    !tel__type_document(m->t, field, f->doc, strlen(f->doc)))
		m->failed = 1;
}

/* Adds a field that is loaded so; NULL: out of memory, or measured only. */
static struct tel_field *
jfr_schema_add_field(struct maker *m, const char *name,
    enum tel_datatype datatype, enum tel_load load)
{
	m->nfields++;
	if (m->t == NULL || m->failed)
		return NULL;
	char *spelling =
	    tel__name_spell((const unsigned char *)name, strlen(name), 0);
	struct tel_field *f = spelling == NULL ?
	    NULL :
	    tel__type_add(m->t, spelling, datatype, load, m->at);
	free(spelling);
	m->failed |= f == NULL;
	return f;
}

/* Makes a field optional, if the type is not only measured. */
static void
add_bit(struct maker *m, struct tel_field *f, uint16_t *at, uint8_t *bit)
{
	const uint32_t n = m->nbits++;

	*at = (uint16_t)(m->bits + n / 8);
	*bit = (uint8_t)(1u << n % 8);
	if (f != NULL) {
		f->present_at = *at;
		f->present = *bit;
	}
}

static const struct scalar {
	uint8_t kind; /* enum jfr_kind */
	uint8_t code, width;
	enum tel_datatype datatype, as_unsigned;
	enum tel_load load, load_unsigned;
} scalars[] = {
	{ JFR_BOOLEAN, OP_BOOLEAN, 1, TEL_BOOLEAN, TEL_BOOLEAN, TEL_LOAD_U8,
	    TEL_LOAD_U8 },
	{ JFR_BYTE, OP_BYTE, 2, TEL_SIGNED, TEL_UNSIGNED, TEL_LOAD_LE16S,
	    TEL_LOAD_LE16 },
	{ JFR_SHORT, OP_INTEGER, 2, TEL_SIGNED, TEL_UNSIGNED, TEL_LOAD_LE16S,
	    TEL_LOAD_LE16 },
	{ JFR_INT, OP_INTEGER, 4, TEL_SIGNED, TEL_UNSIGNED, TEL_LOAD_LE32S,
	    TEL_LOAD_LE32 },
	{ JFR_LONG, OP_INTEGER, 8, TEL_SIGNED, TEL_UNSIGNED, TEL_LOAD_LE64,
	    TEL_LOAD_LE64 },
	{ JFR_FLOAT, OP_FLOAT, 4, TEL_DOUBLE, TEL_DOUBLE, TEL_LOAD_LEF32,
	    TEL_LOAD_LEF32 },
	{ JFR_DOUBLE, OP_DOUBLE, 8, TEL_DOUBLE, TEL_DOUBLE, TEL_LOAD_LE64,
	    TEL_LOAD_LE64 },
	{ JFR_CHAR, OP_CHAR, 0, TEL_STRING, TEL_STRING, TEL_LOAD_STRING_AT,
	    TEL_LOAD_STRING_AT },
	{ JFR_STRING, OP_STRING, 0, TEL_STRING, TEL_STRING, TEL_LOAD_STRING_AT,
	    TEL_LOAD_STRING_AT },
};

/* Describes a field with a single value.  0: it is a struct, or unknown. */
static int
find_scalar(const struct jfr_layout *l, const struct jfr_field *f,
    struct scalar *out)
{
	const enum jfr_kind kind = f->class == JFR_NONE ?
	    JFR_STRUCT :
	    (enum jfr_kind)l->classes[f->class].kind;

	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < sizeof(scalars) / sizeof(scalars[0]); i++)
		if (scalars[i].kind == kind)
			*out = scalars[i];
	if (f->pool) {
		if (kind < JFR_STRING)
			return 0;
		*out = scalars[8];
		out->code = kind == JFR_THREAD ? OP_THREAD :
		    kind == JFR_STACK          ? OP_STACK :
		                                 OP_NAME;
		return 1;
	}
	if (kind == JFR_STRUCT || kind > JFR_STRING)
		return 0;
	if (f->is_address && kind == JFR_LONG)
		out->datatype = TEL_ADDRESS;
	else if (f->is_unsigned) {
		out->datatype = out->as_unsigned;
		out->load = out->load_unsigned;
		if (out->code == OP_BYTE)
			out->code = OP_UNSIGNED_BYTE;
	}
	if (f->scale != JFR_PLAIN && kind == JFR_LONG) {
		out->code = OP_SCALED;
	} else if (f->scale != JFR_PLAIN &&
	    (kind == JFR_BYTE || kind == JFR_SHORT || kind == JFR_INT)) {
		out->code = OP_NARROW;
		out->width = 8;
		out->load = TEL_LOAD_LE64;
	}
	return 1;
}

/* A thread: its name, and its numbers. */
static void
jfr_schema_add_thread(struct maker *m, const struct jfr_field *f,
    const char *name)
{
	static const char *const numbers[] = { "osThreadId", "javaThreadId" };
	struct jfr_op op = { .code = OP_THREAD, .class = f->class };
	char text[NAME_MAX_BYTES + 1];
	struct tel_field *field;
	uint16_t at = 0;

	op.at = (uint16_t)m->at;
	field = jfr_schema_add_field(m, name, TEL_STRING, TEL_LOAD_STRING_AT);
	describe(m, field, f);
	add_bit(m, field, &op.present_at, &op.present);
	m->at += 4;
	for (unsigned i = 0; i < 2; i++) {
		jfr_schema_join_names(text, name, numbers[i]);
		field =
		    jfr_schema_add_field(m, text, TEL_UNSIGNED, TEL_LOAD_LE64);
		if (i == 0)
			add_bit(m, field, &at, &op.width);
		else if (field != NULL) {
			field->present_at = at;
			field->present = op.width;
		}
		m->at += 8;
	}
	op.count = at;
	add_op(m, &op);
}

/* Adds a field with a single value. */
static void
add_scalar(struct maker *m, uint32_t number, const struct scalar *s,
    const char *name, int optional)
{
	const struct jfr_field *f = &m->l->fields[number];
	struct tel_field *field;
	struct jfr_op op = { .code = s->code,
		.width = s->width,
		.scale = f->scale,
		.class = f->class,
		.field = number };

	if (s->code == OP_THREAD) {
		jfr_schema_add_thread(m, f, name);
		return;
	}
	op.at = (uint16_t)m->at;
	if (s->code == OP_STACK) {
		field =
		    jfr_schema_add_field(m, name, TEL_UNSIGNED, TEL_LOAD_LE32);
		if (field != NULL)
			field->space = TEL_SPACE_STACK;
	} else {
		field = jfr_schema_add_field(m, name, s->datatype, s->load);
	}
	if (field != NULL)
		field->unit = f->unit;
	describe(m, field, f);
	if (optional || s->width == 0)
		add_bit(m, field, &op.present_at, &op.present);
	m->at += s->width != 0 ? s->width : 4;
	add_op(m, &op);
}

/* Adds a list of single values: of a field, or of a member of its structs. */
static void
add_list(struct maker *m, uint32_t list, uint32_t number,
    const struct scalar *s, const char *name, uint32_t member, int optional)
{
	const struct jfr_field *f = &m->l->fields[number];
	struct tel_field *field;
	struct jfr_op op = { .code = OP_LIST,
		.element = s->code,
		.width = s->width,
		.scale = f->scale,
		.class = f->class,
		.field = number,
		.list = list,
		.member = member };

	op.at = (uint16_t)m->at;
	field = jfr_schema_add_field(m, name, TEL_LIST, TEL_LOAD_LIST);
	if (field != NULL) {
		field->element = (uint8_t)s->datatype;
		field->list_load = s->width == 0 ? TEL_LOAD_STRING : s->load;
		field->width = (uint8_t)(8 * s->width);
		field->unit = f->unit;
	}
	describe(m, field, f);
	if (optional)
		add_bit(m, field, &op.present_at, &op.present);
	m->at += 8;
	add_op(m, &op);
}

/* A value that is not kept. */
static void
add_skip(struct maker *m, uint32_t number)
{
	add_op(m, &(struct jfr_op){ .code = OP_SKIP, .field = number });
}

/* ------------------------------------------------------------ structs */

static void add_members(struct maker *m, uint32_t class, const char *prefix,
    int optional, unsigned depth);

/* Names a member: by its struct alone, if that is a simple type. */
static void
name_member(char name[NAME_MAX_BYTES + 1], const struct jfr_class *of,
    const char *prefix, const char *member)
{
	if (of->kind == JFR_NAMED && of->count == 1)
		snprintf(name, NAME_MAX_BYTES + 1, "%s", prefix);
	else
		jfr_schema_join_names(name, prefix, member);
}

/* A list: of values, or for each member of its structs that is one. */
static void
add_lists(struct maker *m, uint32_t number, const char *name, int optional)
{
	const struct jfr_field *f = &m->l->fields[number];
	const struct jfr_class *of =
	    f->class == JFR_NONE ? NULL : &m->l->classes[f->class];
	const size_t from = m->l->nops;
	char text[NAME_MAX_BYTES + 1];
	struct scalar s;

	if (find_scalar(m->l, f, &s) && s.code != OP_STACK) {
		add_list(m, number, number, &s, name, JFR_NONE, optional);
	} else if (of != NULL && !f->pool) {
		for (uint32_t k = 0; k < of->count && m->nfields < FIELDS_MAX;
		     k++) {
			if (m->l->fields[of->first + k].list ||
			    !find_scalar(m->l, &m->l->fields[of->first + k],
			        &s) ||
			    s.code == OP_STACK)
				continue;
			name_member(text, of, name,
			    m->l->fields[of->first + k].name);
			add_list(m, number, of->first + k, &s, text, k,
			    optional);
		}
	}
	if (m->failed)
		return;
	if (m->l->nops == from)
		add_skip(m, number);
	else
		m->l->ops[m->l->nops - 1].last = 1;
}

/* A struct, in place or in a pool. */
static void
add_struct(struct maker *m, uint32_t number, const char *name, int optional,
    unsigned depth)
{
	const struct jfr_field *f = &m->l->fields[number];
	struct jfr_class *of =
	    f->class == JFR_NONE ? NULL : &m->l->classes[f->class];

	/* a struct that is in itself is not shown again */
	if (of == NULL || of->kind == JFR_STACK || of->found ||
	    depth == JFR_DEPTH_MAX || m->nfields > FIELDS_MAX / 2 ||
	    m->l->nops > OPS_MAX) {
		add_skip(m, number);
		return;
	}
	of->found = 1;
	size_t pool = m->l->nops;
	if (f->pool)
		add_op(m,
		    &(struct jfr_op){ .code = OP_POOL, .class = f->class });
	add_members(m, f->class, name, optional || f->pool, depth + 1);
	if (f->pool && !m->failed)
		m->l->ops[pool].count = (uint32_t)(m->l->nops - pool - 1);
	of->found = 0;
}

static void
add_members(struct maker *m, uint32_t class, const char *prefix, int optional,
    unsigned depth)
{
	const struct jfr_class *of = &m->l->classes[class];
	char name[NAME_MAX_BYTES + 1];
	struct scalar s;

	for (uint32_t i = 0; i < of->count && !m->failed; i++) {
		uint32_t number = of->first + i;
		const struct jfr_field *f = &m->l->fields[number];

		name_member(name, of, prefix, f->name);
		if (depth == 0 && i == of->start) {
			add_op(m, &(struct jfr_op){ .code = OP_TIME });
		} else if (m->nfields + 3 > FIELDS_MAX ||
		    f->class == JFR_NONE) {
			add_skip(m, number);
		} else if (f->list) {
			add_lists(m, number, name, optional);
		} else if (find_scalar(m->l, f, &s)) {
			add_scalar(m, number, &s, name, optional);
		} else {
			add_struct(m, number, name, optional, depth);
		}
	}
}

/* Makes the type of events of a class, and its program. */
static int
jfr_schema_add_type(struct tel_schema *s, struct jfr_layout *l, uint32_t class)
{
	struct jfr_class *of = &l->classes[class];
	struct maker m = { .l = l };
	const size_t from = l->nops;

	/* how many fields and bits there are, first */
	add_members(&m, class, "", 0, 0);
	l->nops = from;
	m.bits = 0;
	m.at = m.nbits == 0 ? 1 : (m.nbits + 7) / 8;
	m.nbits = 0;
	char *spelling = tel__name_spell((const unsigned char *)of->name,
	    jfr_schema_name_length(of->name), 0);
	char *kind =
	    tel__name_cut(of->category != NULL ? of->category : "Uncategorized",
	        1);
	if (spelling == NULL || kind == NULL || m.failed)
		m.failed = 1;
	else
		m.t = tel__schema_add(s, spelling, (uint32_t)of->id, kind, 0,
		    m.nfields);
	free(spelling);
	free(kind);
	m.nfields = 0;
	if (m.t == NULL ||
	    (of->doc != NULL &&
	        !tel__type_document(m.t, NULL, of->doc, strlen(of->doc))))
		return 0;
	add_members(&m, class, "", 0, 0);
	of->entry = (uint32_t)from;
	of->nops = (uint32_t)(l->nops - from);
	of->row = m.at < 16 ? 16 : m.at;
	of->type_index = m.t->index;
	m.t->size = of->row;
	return !m.failed;
}

/* -------------------------------------------------------------- roles */

static const struct {
	const char *type;
	enum tel_role role;
	const char *fields; /* of parts */
} roles[] = {
	{ "profiler.Malloc", TEL_ROLE_ALLOC,
	    "address=address size=size thread=eventThread.osThreadId "
	    "stack=stackTrace" },
	{ "profiler.Free", TEL_ROLE_FREE,
	    "address=address thread=eventThread.osThreadId stack=stackTrace" },
	{ "jdk.ObjectAllocationSample", TEL_ROLE_SAMPLE,
	    "weight=weight name=objectClass thread=eventThread.osThreadId "
	    "stack=stackTrace" },
	{ "jdk.ObjectAllocationInNewTLAB", TEL_ROLE_SAMPLE,
	    "weight=tlabSize size=allocationSize name=objectClass "
	    "thread=eventThread.osThreadId stack=stackTrace" },
	{ "jdk.ObjectAllocationOutsideTLAB", TEL_ROLE_SAMPLE,
	    "weight=allocationSize size=allocationSize name=objectClass "
	    "thread=eventThread.osThreadId stack=stackTrace" },
	{ "jdk.ExecutionSample", TEL_ROLE_SAMPLE,
	    "thread=sampledThread.osThreadId stack=stackTrace" },
	{ "jdk.NativeMethodSample", TEL_ROLE_SAMPLE,
	    "thread=sampledThread.osThreadId stack=stackTrace" },
	{ "profiler.WallClockSample", TEL_ROLE_SAMPLE,
	    "weight=samples thread=sampledThread.osThreadId "
	    "stack=stackTrace" },
	{ "jdk.GCPhasePause", TEL_ROLE_PAUSE,
	    "name=name collection=gcId duration=duration" },
	{ "jdk.GarbageCollection", TEL_ROLE_COLLECTION,
	    "name=name collection=gcId duration=sumOfPauses cause=cause" },
	{ "jdk.GCHeapSummary", TEL_ROLE_HEAP,
	    "name=when collection=gcId size=heapUsed "
	    "capacity=heapSpace.committedSize" },
	{ "jdk.CPULoad", TEL_ROLE_GAUGE, "" },
	{ "jdk.G1HeapSummary", TEL_ROLE_GAUGE, "" },
	{ "jdk.MetaspaceSummary", TEL_ROLE_GAUGE, "" },
	{ "jdk.NativeMemoryUsageTotal", TEL_ROLE_GAUGE, "" },
	{ "jdk.PhysicalMemory", TEL_ROLE_GAUGE, "" },
	{ "jdk.ResidentSetSize", TEL_ROLE_GAUGE, "" },
};

static void
jfr_schema_set_roles(struct tel_schema *s)
{
	unsigned i, k;

	for (i = 0; i < s->ntypes; i++) {
		struct tel_type *t = &s->types[i];

		for (k = 0; k < sizeof(roles) / sizeof(roles[0]); k++) {
			if (strcmp(roles[k].type, t->name) != 0)
				continue;
			t->role = (uint8_t)roles[k].role;
			tel__role_set_all(t, roles[k].fields);
		}
	}
}

static int
by_id(const void *a, const void *b)
{
	const struct jfr_class *const *x = a, *const *y = b;

	return (*x)->id < (*y)->id ? -1 : (*x)->id > (*y)->id;
}

tel_status
tel__jfr_compile(struct tel_reader *r, struct jfr_layout *l, unsigned major,
    unsigned minor)
{
	static const struct tel_abi abi = { 8, 8, 8, 0, 0 };
	struct jfr_class **events = calloc(l->nclasses + 1, sizeof(*events));
	struct tel_schema *s = NULL;
	unsigned n = 0, i;
	char version[24];

	if (events == NULL)
		return TEL_ENOMEM;
	for (i = 0; i < l->nclasses; i++)
		if (l->classes[i].is_event && l->classes[i].start != JFR_NONE &&
		    l->classes[i].id <= UINT32_MAX)
			events[n++] = &l->classes[i];
	qsort(events, n, sizeof(struct jfr_class *), by_id);
	snprintf(version, sizeof(version), "%u.%u", major, minor);
	s = tel__schema_make("jfr", version, &abi, 1, n);
	if (s != NULL) {
		s->nested = 1;
		snprintf(s->platform, sizeof(s->platform), "jvm");
	}
	for (i = 0; s != NULL && i < n; i++) {
		events[i]->typed = 1;
		if (jfr_schema_add_type(s, l,
		        (uint32_t)(events[i] - l->classes)))
			continue;
		tel_schema_free(s);
		s = NULL;
	}
	free(events);
	if (s == NULL)
		return TEL_ENOMEM;
	jfr_schema_set_roles(s);
	l->schema = s;
	return tel__reader_adopt(r, s);
}
