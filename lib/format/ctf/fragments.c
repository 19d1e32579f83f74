/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The metadata of CTF 2: fragments of JSON (CTF2-SPEC-2.0, sections 4 and 5).
 * Each is a record separator, an object and a line feed (RFC 7464).  Traces of
 * the draft CTF2-SPECRC-7.0 are read, too: clocks have a name but no id,
 * enumerations are classes of their own, and a location is one array.
 */
#include "format/ctf/class.h"
#include "format/ctf/json.h"

#include <stdio.h>
#include <string.h>

#define SEPARATOR '\x1e'
/* Documented limits. */
#define STEPS_MAX 64u
#define ALIASES_MAX 4096u

struct alias {
	const char *name;
	const struct ctf_class *class;
	struct alias *next;
};

struct ctf2 {
	struct ctf_metadata *m;
	struct ctf_error *error;
	unsigned fragment;     /* number of the one that is read, from 1 */
	struct alias *aliases; /* the last one first */
	unsigned naliases, nstreams;
	unsigned nested; /* classes around the one that is read */
	struct ctf_event_class **last_event;
	struct ctf_attribute **last_attribute;
};

static const struct ctf_class *ctf2_class(struct ctf2 *t, const struct json *v);

static int
ctf2_fail(struct ctf2 *t, const char *what, const char *name)
{
	if (t->error->text[0] == '\0')
		tel__ctf_error(t->error, t->fragment, "%s%.60s", what,
		    name != NULL ? name : "");
	return 0;
}

static void *
ctf2_alloc(struct ctf2 *t, size_t n)
{
	void *p = tel__arena_alloc(&t->m->arena, n);

	if (p == NULL)
		ctf2_fail(t, "out of memory", "");
	return p;
}

/* ------------------------------------------------------------- properties */

static const char *
get_text(const struct json *v, const char *name)
{
	const struct json *m = tel__json_member(v, name);

	return m != NULL && m->kind == JSON_STRING ? m->text : NULL;
}

static uint64_t
get_number(const struct json *v, const char *name, uint64_t otherwise)
{
	const struct json *m = tel__json_member(v, name);

	return m != NULL && m->kind == JSON_INTEGER ? m->number : otherwise;
}

static int
is_text(const struct json *v, const char *text)
{
	return v != NULL && v->kind == JSON_STRING &&
	    strcmp(v->text, text) == 0;
}

/* A number from least to most that must be there. */
static int
need_number(struct ctf2 *t, const struct json *v, const char *name,
    uint64_t least, uint64_t most, uint64_t *out)
{
	const struct json *m = tel__json_member(v, name);

	if (m == NULL || m->kind != JSON_INTEGER || m->negative ||
	    m->number < least || m->number > most)
		return ctf2_fail(t, "a missing or invalid ", name);
	*out = m->number;
	return 1;
}

static int
get_align(struct ctf2 *t, const struct json *v, const char *name,
    uint32_t *align)
{
	uint64_t n = get_number(v, name, 1);

	if (n == 0 || n > 1u << 20 || (n & (n - 1)) != 0)
		return ctf2_fail(t, "no power of two: ", name);
	*align = (uint32_t)n;
	return 1;
}

/* [[low, high], ...] behind *last.  0: failed. */
static int
get_ranges(struct ctf2 *t, const struct json *v, const char *name,
    const struct ctf_label ***last)
{
	struct ctf_label *l;

	if (v == NULL || v->kind != JSON_ARRAY)
		return ctf2_fail(t, "invalid ranges", "");
	for (const struct json *r = v->first; r != NULL; r = r->next) {
		if (r->kind != JSON_ARRAY || r->count != 2 ||
		    r->first->kind != JSON_INTEGER ||
		    r->first->next->kind != JSON_INTEGER)
			return ctf2_fail(t, "an invalid range", "");
		l = ctf2_alloc(t, sizeof(*l));
		if (l == NULL)
			return 0;
		l->name = name;
		l->range.low = r->first->number;
		l->range.high = r->first->next->number;
		**last = l;
		*last = &l->next;
	}
	return 1;
}

/* {"name": ranges, ...}. */
static int
get_labels(struct ctf2 *t, const struct json *v, const struct ctf_label **out)
{
	const struct ctf_label **last = out;
	const struct json *m;

	for (m = v != NULL ? v->first : NULL; m != NULL; m = m->next)
		if (!get_ranges(t, m, m->name != NULL ? m->name : "", &last))
			return 0;
	return 1;
}

static int
get_path(struct ctf2 *t, const struct json *v, struct ctf_path *path)
{
	static const struct {
		const char *name;
		enum ctf_scope scope;
	} origins[] = { { "packet-header", CTF_PACKET_HEADER },
		{ "packet-context", CTF_PACKET_CONTEXT },
		{ "event-record-header", CTF_EVENT_HEADER },
		{ "event-record-common-context", CTF_COMMON_CONTEXT },
		{ "event-record-specific-context", CTF_SPECIFIC_CONTEXT },
		{ "event-record-payload", CTF_PAYLOAD } };
	const char *origin = get_text(v, "origin"), **steps;
	const struct json *list = tel__json_member(v, "path"), *m = NULL;
	size_t i = 0, n = sizeof(origins) / sizeof(origins[0]);

	if (v != NULL && v->kind == JSON_ARRAY) {
		list = v;
		m = v->first;
		origin = m != NULL && m->kind == JSON_STRING ? m->text : "";
	}
	path->scope = CTF_RELATIVE;
	if (origin != NULL) {
		while (i < n && strcmp(origins[i].name, origin) != 0)
			i++;
		if (i == n)
			return ctf2_fail(t, "an unknown origin: ", origin);
		path->scope = origins[i].scope;
	}
	if (list == NULL || list->kind != JSON_ARRAY ||
	    list->count <= (m != NULL) || list->count > STEPS_MAX)
		return ctf2_fail(t, "an invalid path of a field", "");
	path->steps = steps = ctf2_alloc(t, list->count * sizeof(*steps));
	if (steps == NULL)
		return 0;
	for (m = m != NULL ? m->next : list->first; m != NULL; m = m->next) {
		if (m->kind != JSON_STRING &&
		    (m->kind != JSON_NULL || m->next == NULL))
			return ctf2_fail(t, "an invalid path of a field", "");
		steps[path->count++] = m->kind == JSON_STRING ? m->text : NULL;
	}
	return 1;
}

static int
get_roles(struct ctf2 *t, const struct json *v, unsigned *roles)
{
	static const struct {
		const char *name;
		unsigned role;
	} table[] = { { "packet-magic-number", CTF_ROLE_MAGIC },
		{ "metadata-stream-uuid", CTF_ROLE_UUID },
		{ "data-stream-class-id", CTF_ROLE_STREAM_CLASS },
		{ "data-stream-id", CTF_ROLE_STREAM },
		{ "packet-total-length", CTF_ROLE_PACKET_SIZE },
		{ "packet-content-length", CTF_ROLE_CONTENT_SIZE },
		{ "default-clock-timestamp", CTF_ROLE_CLOCK },
		{ "packet-end-default-clock-timestamp", CTF_ROLE_END_CLOCK },
		{ "discarded-event-record-counter-snapshot",
		    CTF_ROLE_DISCARDED },
		{ "packet-sequence-number", CTF_ROLE_SEQUENCE },
		{ "event-record-class-id", CTF_ROLE_EVENT_CLASS } };
	const struct json *list = tel__json_member(v, "roles"), *m;
	size_t i, n = sizeof(table) / sizeof(table[0]);

	if (list != NULL && list->kind != JSON_ARRAY)
		return ctf2_fail(t, "invalid roles", "");
	for (m = list != NULL ? list->first : NULL; m != NULL; m = m->next) {
		for (i = 0; i < n && !is_text(m, table[i].name); i++)
			continue;
		if (i == n)
			return ctf2_fail(t, "an unknown role", "");
		*roles |= table[i].role;
	}
	return 1;
}

/* ---------------------------------------------------------------- classes */

/* What numbers of a fixed length have in common. */
static int
get_fixed(struct ctf2 *t, const struct json *v, struct ctf_class *c)
{
	const uint64_t most = c->kind == CTF_FLOAT ? 4096 : 64;
	const struct json *order = tel__json_member(v, "byte-order");
	const struct json *bits = tel__json_member(v, "bit-order");
	uint64_t length;

	if (!need_number(t, v, "length", 1, most, &length) ||
	    !get_align(t, v, "alignment", &c->align))
		return 0;
	c->size = (uint16_t)length;
	c->order = is_text(order, "big-endian") ? CTF_BIG : CTF_LITTLE;
	if (c->order != CTF_BIG && !is_text(order, "little-endian"))
		return ctf2_fail(t, "a missing or invalid byte-order", "");
	c->reversed = bits != NULL &&
	    !is_text(bits,
	        c->order == CTF_BIG ? "last-to-first" : "first-to-last");
	return 1;
}

static int
get_integer(struct ctf2 *t, const struct json *v, struct ctf_class *c)
{
	const struct json *labels = tel__json_member(v, "mappings");

	c->base = (uint8_t)get_number(v, "preferred-display-base", 10);
	if (c->base != 2 && c->base != 8 && c->base != 16)
		c->base = 10;
	c->is_enum = labels != NULL;
	return get_labels(t, labels, &c->labels) && get_roles(t, v, &c->roles);
}

static int
get_encoding(struct ctf2 *t, const struct json *v, struct ctf_class *c)
{
	static const struct {
		const char *name;
		uint8_t unit, big;
	} table[] = { { "utf-8", 8, 0 }, { "utf-16le", 16, 0 },
		{ "utf-16be", 16, 1 }, { "utf-32le", 32, 0 },
		{ "utf-32be", 32, 1 } };
	const char *name = get_text(v, "encoding");
	size_t i, n = sizeof(table) / sizeof(table[0]);

	for (i = 0; name != NULL && i < n; i++)
		if (strcmp(table[i].name, name) == 0)
			break;
	if (name != NULL && i == n)
		return ctf2_fail(t, "an unknown encoding: ", name);
	i = name != NULL ? i : 0;
	c->encoding = table[i].unit;
	c->big_units = table[i].big;
	c->is_text = 1;
	c->align = 8;
	return 1;
}

/* A length in the class, or where it is. */
static int
get_length(struct ctf2 *t, const struct json *v, struct ctf_class *c)
{
	const struct json *at = tel__json_member(v, "length-field-location");

	if (at != NULL)
		return get_path(t, at, &c->path);
	return need_number(t, v, "length", 0, UINT64_MAX, &c->length);
}

static int
get_members(struct ctf2 *t, const struct json *list, struct ctf_class *c)
{
	struct ctf_member **last = &c->members;
	const struct ctf_label **ranges;
	const struct json *m;

	if (list != NULL && list->kind != JSON_ARRAY)
		return ctf2_fail(t, "invalid members", "");
	for (m = list != NULL ? list->first : NULL; m != NULL; m = m->next) {
		*last = ctf2_alloc(t, sizeof(**last));
		if (*last == NULL)
			return 0;
		(*last)->name = get_text(m, "name");
		if ((*last)->name == NULL && c->kind == CTF_STRUCT)
			return ctf2_fail(t, "a member without a name", "");
		(*last)->class =
		    ctf2_class(t, tel__json_member(m, "field-class"));
		if ((*last)->class == NULL)
			return 0;
		if (c->kind == CTF_STRUCT && (*last)->class->align > c->align)
			c->align = (*last)->class->align;
		ranges = &(*last)->ranges;
		if (c->kind == CTF_VARIANT &&
		    !get_ranges(t, tel__json_member(m, "selector-field-ranges"),
		        "", &ranges))
			return 0;
		last = &(*last)->next;
	}
	return 1;
}

static int
get_element(struct ctf2 *t, const struct json *v, struct ctf_class *c)
{
	c->element = ctf2_class(t, tel__json_member(v, "element-field-class"));
	if (c->element == NULL ||
	    !get_align(t, v, "minimum-alignment", &c->align))
		return 0;
	if (c->element->align > c->align)
		c->align = c->element->align;
	return get_length(t, v, c);
}

static int
get_optional(struct ctf2 *t, const struct json *v, struct ctf_class *c)
{
	const struct json *r = tel__json_member(v, "selector-field-ranges");
	const struct ctf_label **last = &c->ranges;

	c->element = ctf2_class(t, tel__json_member(v, "field-class"));
	return c->element != NULL &&
	    get_path(t, tel__json_member(v, "selector-field-location"),
	        &c->path) &&
	    (r == NULL || get_ranges(t, r, "", &last));
}

static int
get_struct(struct ctf2 *t, const struct json *v, struct ctf_class *c)
{
	return get_align(t, v, "minimum-alignment", &c->align) &&
	    get_members(t, tel__json_member(v, "member-classes"), c);
}

static int
get_variant(struct ctf2 *t, const struct json *v, struct ctf_class *c)
{
	return get_members(t, tel__json_member(v, "options"), c) &&
	    get_path(t, tel__json_member(v, "selector-field-location"),
	        &c->path);
}

static int
get_bits(struct ctf2 *t, const struct json *v, struct ctf_class *c)
{
	c->base = 16;
	return get_fixed(t, v, c);
}

static int
get_fixed_integer(struct ctf2 *t, const struct json *v, struct ctf_class *c)
{
	return get_fixed(t, v, c) && get_integer(t, v, c);
}

static int
get_varint(struct ctf2 *t, const struct json *v, struct ctf_class *c)
{
	c->align = 8;
	return get_integer(t, v, c);
}

static int
get_sized_string(struct ctf2 *t, const struct json *v, struct ctf_class *c)
{
	return get_encoding(t, v, c) && get_length(t, v, c);
}

static int
get_blob(struct ctf2 *t, const struct json *v, struct ctf_class *c)
{
	c->align = 8;
	return get_length(t, v, c) && get_roles(t, v, &c->roles);
}

static const struct {
	const char *name;
	enum ctf_kind kind;
	int (*get)(struct ctf2 *t, const struct json *v, struct ctf_class *c);
	uint8_t is_signed, is_boolean;
} types[] = {
	{ "fixed-length-bit-array", CTF_INTEGER, get_bits, 0, 0 },
	{ "fixed-length-bit-map", CTF_INTEGER, get_bits, 0, 0 },
	{ "fixed-length-boolean", CTF_INTEGER, get_fixed, 0, 1 },
	{ "fixed-length-unsigned-integer", CTF_INTEGER, get_fixed_integer, 0,
	    0 },
	{ "fixed-length-signed-integer", CTF_INTEGER, get_fixed_integer, 1, 0 },
	{ "fixed-length-unsigned-enumeration", CTF_INTEGER, get_fixed_integer,
	    0, 0 },
	{ "fixed-length-signed-enumeration", CTF_INTEGER, get_fixed_integer, 1,
	    0 },
	{ "fixed-length-floating-point-number", CTF_FLOAT, get_fixed, 0, 0 },
	{ "variable-length-unsigned-integer", CTF_VARINT, get_varint, 0, 0 },
	{ "variable-length-signed-integer", CTF_VARINT, get_varint, 1, 0 },
	{ "variable-length-unsigned-enumeration", CTF_VARINT, get_varint, 0,
	    0 },
	{ "variable-length-signed-enumeration", CTF_VARINT, get_varint, 1, 0 },
	{ "null-terminated-string", CTF_STRING, get_encoding, 0, 0 },
	{ "static-length-string", CTF_BYTES, get_sized_string, 0, 0 },
	{ "dynamic-length-string", CTF_BYTES, get_sized_string, 0, 0 },
	{ "static-length-blob", CTF_BYTES, get_blob, 0, 0 },
	{ "dynamic-length-blob", CTF_BYTES, get_blob, 0, 0 },
	{ "structure", CTF_STRUCT, get_struct, 0, 0 },
	{ "static-length-array", CTF_ARRAY, get_element, 0, 0 },
	{ "dynamic-length-array", CTF_ARRAY, get_element, 0, 0 },
	{ "optional", CTF_OPTIONAL, get_optional, 0, 0 },
	{ "variant", CTF_VARIANT, get_variant, 0, 0 },
};

static const struct ctf_class *
ctf2_class(struct ctf2 *t, const struct json *v)
{
	const size_t n = sizeof(types) / sizeof(types[0]);
	const struct alias *a = t->aliases;
	size_t i = 0;

	if (v != NULL && v->kind == JSON_STRING) {
		while (a != NULL && strcmp(a->name, v->text) != 0)
			a = a->next;
		if (a == NULL)
			ctf2_fail(t, "an unknown alias: ", v->text);
		return a != NULL ? a->class : NULL;
	}
	const char *name = get_text(v, "type");
	while (name != NULL && i < n && strcmp(types[i].name, name) != 0)
		i++;
	if (name == NULL || i == n || t->nested == CTF_DEPTH_MAX) {
		ctf2_fail(t,
		    name == NULL ? "a missing field class" :
		        i == n   ? "an unknown field class: " :
		                   "field classes that are nested too deep",
		    name != NULL && i == n ? name : "");
		return NULL;
	}
	struct ctf_class *c = tel__ctf_class(t->m, types[i].kind);
	if (c == NULL) {
		ctf2_fail(t, "out of memory", "");
		return NULL;
	}
	c->is_signed = types[i].is_signed;
	c->is_boolean = types[i].is_boolean;
	t->nested++;
	int good = types[i].get(t, v, c);
	t->nested--;
	return good ? c : NULL;
}

/* A structure that a fragment has, if it has it. */
static int
get_scope(struct ctf2 *t, const struct json *v, const char *name,
    const struct ctf_class **out)
{
	const struct json *m = tel__json_member(v, name);

	if (m == NULL)
		return 1;
	*out = ctf2_class(t, m);
	if (*out != NULL && (*out)->kind != CTF_STRUCT)
		return ctf2_fail(t, "no structure: ", name);
	return *out != NULL;
}

/* -------------------------------------------------------------- fragments */

static int
take_preamble(struct ctf2 *t, const struct json *v)
{
	const struct json *uuid = tel__json_member(v, "uuid"), *m;
	const struct json *extensions = tel__json_member(v, "extensions");
	unsigned i = 0;

	if (get_number(v, "version", 0) != 2)
		return ctf2_fail(t, "another version of CTF than 2", "");
	if (extensions != NULL && extensions->first != NULL)
		return ctf2_fail(t, "an unknown extension: ",
		    extensions->first->first != NULL ?
		        extensions->first->first->name :
		        extensions->first->name);
	if (uuid == NULL || uuid->kind != JSON_ARRAY || uuid->count != 16)
		return uuid == NULL || ctf2_fail(t, "an invalid uuid", "");
	for (m = uuid->first; m != NULL; m = m->next)
		t->m->uuid[i++] = (unsigned char)m->number;
	t->m->has_uuid = 1;
	return 1;
}

static int
take_alias(struct ctf2 *t, const struct json *v)
{
	struct alias *a = ctf2_alloc(t, sizeof(*a));

	if (a == NULL)
		return 0;
	if (++t->naliases > ALIASES_MAX)
		return ctf2_fail(t, "too many aliases of field classes", "");
	a->name = get_text(v, "name");
	if (a->name == NULL)
		return ctf2_fail(t, "an alias without a name", "");
	a->class = ctf2_class(t, tel__json_member(v, "field-class"));
	a->next = t->aliases;
	t->aliases = a;
	return a->class != NULL;
}

static int
take_trace(struct ctf2 *t, const struct json *v)
{
	const struct json *env = tel__json_member(v, "environment"), *m;
	struct ctf_attribute *a;
	char number[24];

	for (m = env != NULL ? env->first : NULL; m != NULL; m = m->next) {
		if (m->kind != JSON_INTEGER && m->kind != JSON_STRING)
			continue;
		a = ctf2_alloc(t, sizeof(*a));
		if (a == NULL)
			return 0;
		snprintf(number, sizeof(number), m->negative ? "%lld" : "%llu",
		    (long long)m->number);
		a->name = m->name != NULL ? m->name : "";
		a->value = m->kind == JSON_STRING ?
		    m->text :
		    tel__arena_string(&t->m->arena, number, strlen(number));
		if (a->value == NULL)
			return ctf2_fail(t, "out of memory", "");
		*t->last_attribute = a;
		t->last_attribute = &a->next;
	}
	return get_scope(t, v, "packet-header-field-class",
	    &t->m->packet_header);
}

static int
take_clock(struct ctf2 *t, const struct json *v)
{
	const struct json *offset = tel__json_member(v, "offset-from-origin");
	struct ctf_clock *c = ctf2_alloc(t, sizeof(*c));

	if (c == NULL ||
	    !need_number(t, v, "frequency", 1, UINT64_MAX, &c->frequency))
		return 0;
	c->name = get_text(v, "id");
	if (c->name == NULL)
		c->name = get_text(v, "name");
	if (c->name == NULL)
		return ctf2_fail(t, "a clock without an id", "");
	c->seconds = (int64_t)get_number(offset, "seconds", 0);
	c->cycles = (int64_t)get_number(offset, "cycles", 0);
	c->next = t->m->clocks;
	t->m->clocks = c;
	return 1;
}

static int
take_stream(struct ctf2 *t, const struct json *v)
{
	struct ctf_stream_class **last = &t->m->streams, *s;
	const char *clock = get_text(v, "default-clock-class-id");

	if (clock == NULL)
		clock = get_text(v, "default-clock-class-name");
	s = ctf2_alloc(t, sizeof(*s));
	if (s == NULL)
		return 0;
	if (++t->nstreams > CTF_STREAM_CLASSES_MAX)
		return ctf2_fail(t, "too many classes of data streams", "");
	s->id = get_number(v, "id", 0);
	s->has_id = 1;
	for (; *last != NULL; last = &(*last)->next)
		if ((*last)->id == s->id)
			return ctf2_fail(t, "two data streams of one id", "");
	*last = s;
	if (clock != NULL) {
		s->clock = t->m->clocks;
		while (s->clock != NULL && strcmp(s->clock->name, clock) != 0)
			s->clock = s->clock->next;
		if (s->clock == NULL)
			return ctf2_fail(t, "an unknown clock: ", clock);
	}
	return get_scope(t, v, "packet-context-field-class",
	           &s->packet_context) &&
	    get_scope(t, v, "event-record-header-field-class",
	        &s->event_header) &&
	    get_scope(t, v, "event-record-common-context-field-class",
	        &s->event_context);
}

static int
take_event(struct ctf2 *t, const struct json *v)
{
	struct ctf_event_class *e = ctf2_alloc(t, sizeof(*e));

	if (e == NULL)
		return 0;
	e->id = get_number(v, "id", 0);
	e->stream_id = get_number(v, "data-stream-class-id", 0);
	e->name = get_text(v, "name");
	if (!get_scope(t, v, "specific-context-field-class", &e->context) ||
	    !get_scope(t, v, "payload-field-class", &e->payload))
		return 0;
	*t->last_event = e;
	t->last_event = &e->next;
	t->m->nevents++;
	return 1;
}

static int
take_fragment(struct ctf2 *t, const struct json *v)
{
	static const struct {
		const char *name;
		int (*take)(struct ctf2 *t, const struct json *v);
	} table[] = { { "preamble", take_preamble },
		{ "field-class-alias", take_alias },
		{ "trace-class", take_trace }, { "clock-class", take_clock },
		{ "data-stream-class", take_stream },
		{ "event-record-class", take_event } };
	const char *type = get_text(v, "type");
	size_t i, n = sizeof(table) / sizeof(table[0]);

	for (i = 0; type != NULL && i < n; i++)
		if (strcmp(table[i].name, type) == 0) {
			if ((t->fragment == 1) != (i == 0))
				return ctf2_fail(t,
				    "the preamble is not the first fragment",
				    "");
			return table[i].take(t, v);
		}
	return ctf2_fail(t, "an unknown fragment: ", type != NULL ? type : "");
}

int
tel__ctf_fragments(struct ctf_metadata *m, const char *text, size_t size,
    struct ctf_error *e)
{
	const char *p = text, *const end = text + size, *why;
	const struct json *v;
	struct ctf2 t = { 0 };

	t.m = m;
	t.error = e;
	t.last_event = &m->events;
	t.last_attribute = &m->environment;
	m->version = 2;
	e->text[0] = '\0';
	for (;;) {
		while (p < end &&
		    (*p == SEPARATOR || *p == '\n' || *p == '\r' || *p == ' ' ||
		        *p == '\t' || *p == '\0'))
			p++;
		if (p == end)
			return 1;
		t.fragment++;
		v = tel__json_parse(&m->arena, &p, end, &why);
		if (v == NULL)
			return ctf2_fail(&t, "invalid JSON: ", why);
		if (!take_fragment(&t, v))
			return 0;
	}
}
