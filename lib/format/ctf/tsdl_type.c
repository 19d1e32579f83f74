/* SPDX-License-Identifier: BSD-2-Clause */
/* The types of TSDL, and the scopes of their names. */
#include "format/ctf/tsdl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* ----------------------------------------------------------------- scopes */

int
tel__tsdl_open_scope(struct tsdl *t)
{
	if (t->depth == sizeof(t->scopes) / sizeof(t->scopes[0]))
		return tel__ctf_error(t->error, t->token.line,
		    "types are nested more than %u deep", CTF_DEPTH_MAX);
	t->scopes[t->depth++] = ++t->nscopes;
	return 1;
}

static uint64_t
alias_hash(const struct tsdl *t, unsigned scope, const char *name)
{
	return tel__hash_bytes(name, strlen(name),
	    t->index.seed + scope * UINT64_C(0x9e3779b97f4a7c15));
}

/* Names a class in the innermost scope. */
static int
tsdl_define(struct tsdl *t, const char *name, const struct ctf_class *class)
{
	unsigned scope = t->scopes[t->depth - 1];

	if (t->naliases == t->alias_room) {
		size_t room = t->alias_room * 2 + 64;
		struct alias *grown = room <= UINT32_MAX ?
		    realloc(t->aliases, room * sizeof(*grown)) :
		    NULL;

		if (grown == NULL)
			return tel__tsdl_no_memory(t);
		t->aliases = grown;
		t->alias_room = room;
	}
	t->aliases[t->naliases].name = name;
	t->aliases[t->naliases].class = class;
	t->aliases[t->naliases].scope = scope;
	if (!tel__index_add(&t->index, alias_hash(t, scope, name),
	        (uint32_t)t->naliases))
		return tel__tsdl_no_memory(t);
	t->naliases++;
	return 1;
}

static const struct ctf_class *
tsdl_find(const struct tsdl *t, const char *name)
{
	struct tel__probe at;
	unsigned i = t->depth;

	while (i-- > 0) {
		uint32_t n = tel__index_first(&t->index,
		    alias_hash(t, t->scopes[i], name), &at);

		for (; n != TEL__NOWHERE; n = tel__index_next(&t->index, &at)) {
			const struct alias *a = &t->aliases[n];

			if (a->scope == t->scopes[i] &&
			    strcmp(a->name, name) == 0)
				return a->class;
		}
	}
	return NULL;
}

/* ------------------------------------------------------------------ paths */

/* "trace.packet.header." and its like: how a path from a scope begins. */
static const struct {
	const char *text;
	enum ctf_scope scope;
} absolute[] = { { "trace.packet.header.", CTF_PACKET_HEADER },
	{ "stream.packet.context.", CTF_PACKET_CONTEXT },
	{ "stream.event.header.", CTF_EVENT_HEADER },
	{ "stream.event.context.", CTF_COMMON_CONTEXT },
	{ "event.context.", CTF_SPECIFIC_CONTEXT },
	{ "event.fields.", CTF_PAYLOAD } };

/* The name of a field, less the underscore that keeps it from the keywords. */
static const char *
field_name(const char *name)
{
	return name != NULL && name[0] == '_' && name[1] != '\0' ? name + 1 :
	                                                           name;
}

static int
tsdl_path(struct tsdl *t, struct ctf_path *path)
{
	const char *text = tel__tsdl_dotted(t), *dot;
	const char **steps;

	if (text == NULL)
		return 0;
	memset(path, 0, sizeof(*path));
	path->scope = CTF_RELATIVE;
	for (size_t i = 0; i < sizeof(absolute) / sizeof(absolute[0]); i++) {
		size_t n = strlen(absolute[i].text);

		if (strncmp(text, absolute[i].text, n) == 0) {
			path->scope = absolute[i].scope;
			text += n;
			break;
		}
	}
	steps = tel__arena_alloc(&t->m->arena, STEPS_MAX * sizeof(*steps));
	if (steps == NULL)
		return tel__tsdl_no_memory(t);
	path->steps = steps;
	for (; text != NULL; text = dot != NULL ? dot + 1 : NULL) {
		dot = strchr(text, '.');
		size_t n = dot != NULL ? (size_t)(dot - text) : strlen(text);
		if (path->count == STEPS_MAX)
			return tel__ctf_error(t->error, t->token.line,
			    "a path has more than %u names", STEPS_MAX);
		steps[path->count] = field_name(tel__tsdl_copy(t, text, n));
		if (steps[path->count++] == NULL)
			return 0;
	}
	return 1;
}

/* --------------------------------------------------------------- classes */

/* A class, all of its kind's own members unset. */
static struct ctf_class *
tsdl_class(struct tsdl *t, enum ctf_kind kind)
{
	struct ctf_class *c = tel__ctf_class(t->m, kind);

	if (c == NULL)
		tel__tsdl_no_memory(t);
	return c;
}

static const struct ctf_class *
tsdl_invalid(struct tsdl *t, const char *why)
{
	tel__ctf_error(t->error, t->token.line, "%s", why);
	return NULL;
}

static const struct ctf_class *
tsdl_scalar(struct tsdl *t, enum ctf_kind kind)
{
	struct ctf_class *c = tsdl_class(t, kind);
	uint64_t digits[2] = { 0, 0 };
	struct attribute a;

	if (c == NULL)
		return NULL;
	c->align = kind == CTF_INTEGER ? 0 : 8;
	if (tel__tsdl_accept(t, '{')) {
		while (!tel__tsdl_accept(t, '}'))
			if ((a.name = tel__tsdl_name(t)) == NULL ||
			    !tel__tsdl_value(t, &a) ||
			    !tel__tsdl_set(t, c, &a, digits))
				return NULL;
	} else if (kind != CTF_STRING) {
		tel__tsdl_fail(t, "'{'");
		return NULL;
	}
	if (kind == CTF_INTEGER && c->size == 0)
		return tsdl_invalid(t, "an integer without a size");
	if (kind == CTF_INTEGER && c->align == 0)
		c->align = c->size % 8 == 0 ? 8 : 1;
	if (kind == CTF_INTEGER && c->size > 64) {
		/* larger than a number here: its bytes, as they are */
		if (c->align < 8 || c->clock != NULL)
			return tsdl_invalid(t,
			    "an integer of more than 64 bits, which are not "
			    "bytes");
		c->kind = CTF_BYTES;
		c->length = c->size / 8u;
		c->is_text = 0;
	}
	if (kind == CTF_FLOAT) {
		if (digits[0] > 64 || digits[1] > 128 ||
		    digits[0] + digits[1] == 0 ||
		    (digits[0] + digits[1]) % 8 != 0)
			return tsdl_invalid(t,
			    "invalid exp_dig or mant_dig; expected 8 and 24, "
			    "or 11 and 53");
		c->size = (uint16_t)(digits[0] + digits[1]);
	}
	return c;
}

/* ------------------------------------------------- structures, variants */

/* The class of a declarator: its arrays around the class. */
static const struct ctf_class *
declarator_class(struct tsdl *t, const struct declarator *d,
    const struct ctf_class *c)
{
	unsigned i = d->nsizes;

	while (c != NULL && i-- > 0)
		c = tel__ctf_array(t->m, c, d->sizes[i].length,
		    &d->sizes[i].path);
	if (c == NULL)
		tel__tsdl_no_memory(t);
	return c;
}

/* Takes the fields up to '}'.  0: failed. */
static int
tsdl_fields(struct tsdl *t, struct ctf_class *c)
{
	struct ctf_member **last = &c->members;
	const struct ctf_class *type, *of;
	struct declarator d;
	int matched;

	if (!tel__tsdl_open_scope(t))
		return 0;
	while (!tel__tsdl_accept(t, '}')) {
		if (!tel__tsdl_declaration(t, &matched))
			return 0;
		if (matched)
			continue;
		type = tel__tsdl_type(t);
		if (type == NULL)
			return 0;
		do {
			if (!tel__tsdl_declarator(t, &d))
				return 0;
			of = declarator_class(t, &d, type);
			if (of == NULL)
				return 0;
			if (d.name == NULL)
				return tel__tsdl_fail(t, "the name of a field");
			*last = tel__arena_alloc(&t->m->arena, sizeof(**last));
			if (*last == NULL)
				return tel__tsdl_no_memory(t);
			(*last)->name = field_name(d.name);
			(*last)->class = of;
			last = &(*last)->next;
			if (c->kind == CTF_STRUCT && of->align > c->align)
				c->align = of->align;
		} while (tel__tsdl_accept(t, ','));
		if (!tel__tsdl_expect(t, ';'))
			return 0;
	}
	t->depth--;
	return 1;
}

/* Takes a name: "struct NAME" and its like, for the table of names. */
static const char *
tsdl_tagged(struct tsdl *t, const char *what)
{
	const char *name = tel__tsdl_name(t);

	if (name == NULL)
		return NULL;
	size_t n = strlen(what) + strlen(name) + 2;
	char *text = tel__arena_alloc(&t->m->arena, n);
	if (text == NULL) {
		tel__tsdl_no_memory(t);
		return NULL;
	}
	snprintf(text, n, "%s %s", what, name);
	return text;
}

/* The class called "struct NAME", which was given before. */
static const struct ctf_class *
tsdl_use(struct tsdl *t, const char *tagged)
{
	const struct ctf_class *c = tsdl_find(t, tagged);

	if (c == NULL)
		tel__ctf_error(t->error, t->token.line, "unknown type %.80s",
		    tagged);
	return c;
}

static const struct ctf_class *
tsdl_struct(struct tsdl *t)
{
	const char *tagged = NULL;

	if (!tel__tsdl_at(t, '{')) {
		tagged = tsdl_tagged(t, "struct");
		if (tagged == NULL)
			return NULL;
		if (!tel__tsdl_at(t, '{'))
			return tsdl_use(t, tagged);
	}
	tel__tsdl_advance(t);
	struct ctf_class *c = tsdl_class(t, CTF_STRUCT);
	if (c == NULL)
		return NULL;
	if (!tsdl_fields(t, c))
		return NULL;
	if (tel__tsdl_accept_word(t, "align")) {
		struct attribute a = { "align", NULL, 0 };
		uint32_t least = 1;

		if (!tel__tsdl_expect(t, '(') ||
		    !tel__tsdl_integer(t, &a.number) ||
		    !tel__tsdl_expect(t, ')') ||
		    !tel__tsdl_align(t, &a, &least))
			return NULL;
		if (least > c->align)
			c->align = least;
	}
	if (tagged != NULL && !tsdl_define(t, tagged, c))
		return NULL;
	return c;
}

static const struct ctf_class *
tsdl_variant(struct tsdl *t)
{
	const struct ctf_class *known = NULL;
	const char *tagged = NULL;
	struct ctf_path path = { CTF_RELATIVE, 0, NULL };

	if (t->token.kind == TOKEN_WORD) {
		tagged = tsdl_tagged(t, "variant");
		if (tagged == NULL)
			return NULL;
	}
	if (tel__tsdl_accept(t, '<') &&
	    (!tsdl_path(t, &path) || !tel__tsdl_expect(t, '>')))
		return NULL;
	if (!tel__tsdl_at(t, '{') && tagged != NULL) {
		known = tsdl_use(t, tagged);
		if (known == NULL || path.count == 0)
			return known;
	}
	struct ctf_class *c = tsdl_class(t, CTF_VARIANT);
	if (c == NULL)
		return NULL;
	if (known != NULL) {
		*c = *known;
		c->path = path;
		return c;
	}
	c->path = path;
	if (!tel__tsdl_expect(t, '{') || !tsdl_fields(t, c) ||
	    (tagged != NULL && !tsdl_define(t, tagged, c)))
		return NULL;
	return c;
}

/* Takes the labels up to '}'.  0: failed. */
static int
tsdl_labels(struct tsdl *t, struct ctf_class *c)
{
	const struct ctf_label **last = &c->labels;
	struct ctf_label *l;
	uint64_t next = 0;

	while (!tel__tsdl_accept(t, '}')) {
		l = tel__arena_alloc(&t->m->arena, sizeof(*l));
		if (l == NULL)
			return tel__tsdl_no_memory(t);
		l->name = tel__tsdl_name(t);
		if (l->name == NULL)
			return 0;
		l->range.low = l->range.high = next;
		if (tel__tsdl_accept(t, '=')) {
			if (!tel__tsdl_integer(t, &l->range.low))
				return 0;
			l->range.high = l->range.low;
			if (t->token.kind == TOKEN_ELLIPSIS) {
				tel__tsdl_advance(t);
				if (!tel__tsdl_integer(t, &l->range.high))
					return 0;
			}
		}
		next = l->range.high + 1;
		*last = l;
		last = &l->next;
		if (!tel__tsdl_accept(t, ',') && !tel__tsdl_at(t, '}'))
			return tel__tsdl_fail(t, "',' or '}'");
	}
	return 1;
}

/* Nonzero for the labels that stand for a boolean, which 1.8 lacks. */
static int
is_boolean(const struct ctf_label *l)
{
	return l != NULL && l->next != NULL && l->next->next == NULL &&
	    strcmp(l->name, "false") == 0 && l->range.low == 0 &&
	    l->range.high == 0 && strcmp(l->next->name, "true") == 0 &&
	    l->next->range.low == 1 && l->next->range.high == 1;
}

static const struct ctf_class *
tsdl_enum(struct tsdl *t)
{
	const char *tagged = NULL;

	if (t->token.kind == TOKEN_WORD) {
		tagged = tsdl_tagged(t, "enum");
		if (tagged == NULL)
			return NULL;
		if (!tel__tsdl_at(t, ':') && !tel__tsdl_at(t, '{'))
			return tsdl_use(t, tagged);
	}
	const struct ctf_class *container =
	    tel__tsdl_accept(t, ':') ? tel__tsdl_type(t) : tsdl_use(t, "int");
	if (container == NULL)
		return NULL;
	if (container->kind != CTF_INTEGER)
		return tsdl_invalid(t,
		    "the container of an enum is not an integer");
	struct ctf_class *c = tsdl_class(t, CTF_INTEGER);
	if (c == NULL)
		return NULL;
	*c = *container;
	c->is_enum = 1;
	c->labels = NULL;
	if (!tel__tsdl_expect(t, '{') || !tsdl_labels(t, c))
		return NULL;
	if (is_boolean(c->labels)) {
		c->is_boolean = 1;
		c->is_enum = 0;
	}
	if ((tagged != NULL && !tsdl_define(t, tagged, c)))
		return NULL;
	return c;
}

/* ------------------------------------------------------------------ types */

static int
is_c_word(const struct ctf_token *k)
{
	static const char *const words[] = { "unsigned", "signed", "long",
		"short", "int", "char", "float", "double", "void", "_Bool",
		"_Complex", "_Imaginary" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (tel__tsdl_is(k, words[i]))
			return 1;
	return 0;
}

/* Words of C, or one name: what an alias has named before. */
static const struct ctf_class *
tsdl_alias(struct tsdl *t)
{
	char text[256];
	size_t used = 0;
	int words = is_c_word(&t->token);

	do {
		if (tel__tsdl_accept_word(t, "const"))
			continue;
		if (used + t->token.length + 2 > sizeof(text))
			break;
		if (used > 0)
			text[used++] = ' ';
		memcpy(text + used, t->token.text, t->token.length);
		used += t->token.length;
		tel__tsdl_advance(t);
	} while (words &&
	    (is_c_word(&t->token) || tel__tsdl_is(&t->token, "const")));
	text[used] = '\0';
	return tsdl_use(t, text);
}

/* A type specifier.  NULL: failed. */
const struct ctf_class *
tel__tsdl_type(struct tsdl *t)
{
	const struct ctf_class *c;

	if (t->nested == CTF_DEPTH_MAX) {
		tel__ctf_error(t->error, t->token.line,
		    "types are nested more than %u deep", CTF_DEPTH_MAX);
		return NULL;
	}
	while (tel__tsdl_accept_word(t, "const"))
		continue;
	if (t->token.kind != TOKEN_WORD) {
		tel__tsdl_fail(t, "a type");
		return NULL;
	}
	t->nested++;
	if (tel__tsdl_accept_word(t, "integer"))
		c = tsdl_scalar(t, CTF_INTEGER);
	else if (tel__tsdl_accept_word(t, "floating_point"))
		c = tsdl_scalar(t, CTF_FLOAT);
	else if (tel__tsdl_accept_word(t, "string"))
		c = tsdl_scalar(t, CTF_STRING);
	else if (tel__tsdl_accept_word(t, "struct"))
		c = tsdl_struct(t);
	else if (tel__tsdl_accept_word(t, "variant"))
		c = tsdl_variant(t);
	else if (tel__tsdl_accept_word(t, "enum"))
		c = tsdl_enum(t);
	else
		c = tsdl_alias(t);
	t->nested--;
	while (c != NULL && tel__tsdl_accept_word(t, "const"))
		continue;
	return c;
}

int
tel__tsdl_declarator(struct tsdl *t, struct declarator *d)
{
	memset(d, 0, sizeof(*d));
	while (tel__tsdl_accept(t, '*') || tel__tsdl_accept_word(t, "const"))
		continue;
	if (t->token.kind == TOKEN_WORD)
		d->name = tel__tsdl_name(t);
	while (t->error->text[0] == '\0' && tel__tsdl_accept(t, '[')) {
		if (d->nsizes == STEPS_MAX)
			return tel__ctf_error(t->error, t->token.line,
			    "an array of more than %u dimensions", STEPS_MAX);
		if (t->token.kind == TOKEN_WORD) {
			if (!tsdl_path(t, &d->sizes[d->nsizes].path))
				return 0;
		} else if (!tel__tsdl_integer(t, &d->sizes[d->nsizes].length)) {
			return 0;
		}
		d->nsizes++;
		if (!tel__tsdl_expect(t, ']'))
			return 0;
	}
	return t->error->text[0] == '\0';
}

/* ---------------------------------------------------------------- aliases */

/* "typealias TYPE := words, words;" behind its first word. */
static int
tsdl_typealias(struct tsdl *t)
{
	const struct ctf_class *c = tel__tsdl_type(t);
	struct declarator d;
	char text[256];

	if (c == NULL || !tel__tsdl_declarator(t, &d))
		return 0;
	c = declarator_class(t, &d, c);
	if (c == NULL)
		return 0;
	if (t->token.kind != TOKEN_ASSIGN_TYPE)
		return tel__tsdl_fail(t, "':='");
	do {
		tel__tsdl_advance(t);
		size_t used = 0;
		while (t->token.kind == TOKEN_WORD || tel__tsdl_at(t, '*')) {
			const char *word =
			    tel__tsdl_at(t, '*') ? "*" : t->token.text;
			size_t n = tel__tsdl_at(t, '*') ? 1 : t->token.length;

			if (used + n + 2 > sizeof(text))
				return tel__tsdl_fail(t, "a shorter name");
			if (!tel__tsdl_is(&t->token, "const")) {
				if (used > 0)
					text[used++] = ' ';
				memcpy(text + used, word, n);
				used += n;
			}
			tel__tsdl_advance(t);
		}
		if (used == 0)
			return tel__tsdl_fail(t, "the name of a type");
		const char *name = tel__tsdl_copy(t, text, used);
		if (name == NULL || !tsdl_define(t, name, c))
			return 0;
	} while (tel__tsdl_at(t, ','));
	return tel__tsdl_expect(t, ';');
}

/* The declarators of a typedef of c. */
int
tel__tsdl_typedefs(struct tsdl *t, const struct ctf_class *c)
{
	struct declarator d;

	do {
		if (!tel__tsdl_declarator(t, &d))
			return 0;
		if (d.name == NULL)
			return tel__tsdl_fail(t, "the name of a type");
		const struct ctf_class *of = declarator_class(t, &d, c);
		if (of == NULL || !tsdl_define(t, d.name, of))
			return 0;
	} while (tel__tsdl_accept(t, ','));
	return tel__tsdl_expect(t, ';');
}

/* Takes an alias, if one comes: *matched.  0: failed. */
int
tel__tsdl_declaration(struct tsdl *t, int *matched)
{
	*matched = 1;
	if (tel__tsdl_accept_word(t, "typealias"))
		return tsdl_typealias(t);
	if (tel__tsdl_accept_word(t, "typedef")) {
		const struct ctf_class *c = tel__tsdl_type(t);

		return c != NULL && tel__tsdl_typedefs(t, c);
	}
	*matched = 0;
	return 1;
}
