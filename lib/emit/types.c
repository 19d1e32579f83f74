/* SPDX-License-Identifier: BSD-2-Clause */
/* Registering event types: checks, layout, descriptions; values of events. */
#include "emit.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tel__emit_types tel__emit_types;

/*
 * The text of each thread's last error is not in its static storage, of which
 * there is so little that a program could load one such library only.
 */
#define WRONG_SIZE 160
static pthread_key_t emit_error_key;
static int emit_error_known;

/* Loads are those of little-endian machines; others have 3 more. */
static const struct tel__emit_letter letters[] = {
	{ "P", POINTER, sizeof(void *) == 8 ? 3 : 2, sizeof(void *) },
	{ "A", ADDRESS, sizeof(void *) == 8 ? 3 : 2, sizeof(void *) },
	{ "W", UNSIGNED, sizeof(void *) == 8 ? 3 : 2, sizeof(void *) },
	{ "U", UNSIGNED, 2, 4 },
	{ "S", STRING, 12, 0 },
	{ "T", STRING, 13, 4 },
	{ "D", DOUBLE, 3, 8 },
	{ "B", BOOLEAN, 0, 1 },
	{ "U8", UNSIGNED, 0, 1 },
	{ "U16", UNSIGNED, 1, 2 },
	{ "U32", UNSIGNED, 2, 4 },
	{ "U64", UNSIGNED, 3, 8 },
	{ "I16", SIGNED, 7, 2 },
	{ "I32", SIGNED, 8, 4 },
	{ "I64", SIGNED, 3, 8 },
};
#define NLETTERS (sizeof(letters) / sizeof(letters[0]))

/* The types of metadata. */
static const tel_emit_param intern_params[] = {
	{ "U64", "stringId", "", "the string's number", "intern:0", 0 },
	{ "S", "string", "", "its bytes", "intern:1", 0 },
};
static const tel_emit_param label_params[] = {
	{ "A", "address", "", "what is labelled", "label:0", 0 },
	{ "W", "stringId", "", "the number of the label", "label:1", 0 },
};
static const tel_emit_param labelp_params[] = {
	{ "P", "pointer", "", "what is labelled", "labelp:0", 0 },
	{ "W", "stringId", "", "the number of the label", "labelp:1", 0 },
};
static const tel_emit_param sync_params[] = {
	{ "U64", "clock", "us", "since 1970", "sync:0", 0 },
};
static const tel_emit_type own_types[] = {
	{ "Intern", CODE_INTERN, 1, TEL_KIND_Stream, "gives a string a number",
	    intern_params, 2 },
	{ "Label", CODE_LABEL, 1, TEL_KIND_User, "labels an address",
	    label_params, 2 },
	{ "LabelPointer", CODE_LABEL_POINTER, 1, TEL_KIND_User,
	    "labels a pointer", labelp_params, 2 },
	{ "ClockSync", CODE_CLOCK_SYNC, 1, TEL_KIND_Stream,
	    "the time of day on the events' clock", sync_params, 1 },
};
static const tel_emit_kind own_kinds[] = {
	{ "User", TEL_KIND_User, "labels" },
	{ "Stream", TEL_KIND_Stream, "what a log says of itself" },
};
const tel_emit_list tel__emit_own = { "own", 1, 0, 0, own_kinds, 2, own_types,
	sizeof(own_types) / sizeof(own_types[0]) };

static void
emit_error_make(void)
{
	emit_error_known = pthread_key_create(&emit_error_key, free) == 0;
}

/* A program that loads the library often has few keys. */
__attribute__((destructor)) static void
emit_error_end(void)
{
	if (!emit_error_known)
		return;
	free(pthread_getspecific(emit_error_key));
	(void)pthread_setspecific(emit_error_key, NULL);
	emit_error_known = 0;
	(void)pthread_key_delete(emit_error_key);
}

/* The text of this thread; NULL when out of memory. */
static char *
emit_error_text(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	char *text = NULL;

	(void)pthread_once(&once, emit_error_make);
	if (emit_error_known &&
	    (text = pthread_getspecific(emit_error_key)) == NULL &&
	    (text = calloc(1, WRONG_SIZE)) != NULL &&
	    pthread_setspecific(emit_error_key, text) != 0) {
		free(text);
		text = NULL;
	}
	return text;
}

const char *
tel_emit_error(void)
{
	const char *text = emit_error_text();

	return text != NULL ? text : "";
}

int
tel__emit_result(int error)
{
	errno = error;
	return error == 0 ? 0 : -1;
}

int
tel__emit_wrong(const char *format, ...)
{
	char *text = emit_error_text();
	va_list args;

	va_start(args, format);
	if (text != NULL)
		vsnprintf(text, WRONG_SIZE, format, args);
	va_end(args);
	return tel__emit_result(EINVAL);
}

/* ---------------------------------------------------------------- making */

static void
emit_types_free(struct tel__emit_typed *t)
{
	if (t == NULL)
		return;
	free(t->texts_kept);
	free(t->fields);
	free(t->described.bytes);
	free(t);
}

void
tel__emit_free_types(void)
{
	struct tel__emit_types *all = &tel__emit_types;
	unsigned i, n = all->count;

	all->count = 0;
	memset(all->by_code, 0, sizeof(all->by_code));
	for (i = 0; i < n; i++)
		emit_types_free(all->list[i]);
	for (i = 0; i < TEL_EMIT_KINDS; i++) {
		free(all->kinds[i]);
		all->kinds[i] = NULL;
	}
}

static const struct tel__emit_letter *
find_letter(const char *name)
{
	for (unsigned i = 0; i < NLETTERS; i++)
		if (strcmp(letters[i].name, name) == 0)
			return &letters[i];
	return NULL;
}

/* Names are parsed by the tools: they are words. */
static int
emit_types_is_word(const char *s)
{
	size_t i;

	if (s == NULL || !(isalpha((unsigned char)*s) || *s == '_'))
		return 0;
	for (i = 0; s[i] != '\0'; i++)
		if (!isalnum((unsigned char)s[i]) && s[i] != '_')
			return 0;
	return i < 256;
}

/* The length of a text, which may be NULL, and its NUL. */
static size_t
text_size(const char *s)
{
	return s != NULL ? strlen(s) + 1 : 1;
}

/* Copies a text to *at, and moves *at behind it. */
static const char *
keep_text(char **at, const char *s)
{
	const size_t n = text_size(s);
	char *kept = *at;

	if (s != NULL)
		memcpy(kept, s, n);
	*at += n;
	return kept;
}

/* Places of parts in a role. */
enum { PART_THREAD = 7, PART_PROCESS = 8 };

/*
 * Makes field i of t a part of a role, such as "alloc:size"; or only the number
 * of a process or a thread, ":process", which has the label of that.
 */
static int
emit_types_set_role(struct tel__emit_typed *t, unsigned i, const char *role)
{
	static const char *const roles[] = { "alloc", "free", "realloc",
		"reserve", "commit", "create-pool", "destroy-pool",
		"create-buffer", "destroy-buffer", "end-thread", "end-process",
		"describe-pool", "new", "delete", "delete-sized", "free-sized",
		"sync", "intern", "label", "labelp", "frame", "start", "finish",
		"middle" };
	/* of those: before the first, of an allocator; from the second, ranges */
	enum { OPERATIONS = 16, RANGES = 21 };
	static const char *const parts[] = { "address", "size", "pool", "old",
		"count", "alignment", "buffer", "thread", "process", "stack",
		"weight" };
	const char *part = role + strcspn(role, ":");
	const size_t n = (size_t)(part - role);
	unsigned k, p = 0;

	if (strcmp(role, ":thread") == 0 || strcmp(role, ":process") == 0) {
		t->fields[i].space = role[1] == 't' ? 2 : 3;
		return 0;
	}
	for (k = 0; k < sizeof(roles) / sizeof(roles[0]); k++)
		if (strlen(roles[k]) == n && memcmp(roles[k], role, n) == 0)
			break;
	if (k == sizeof(roles) / sizeof(roles[0]))
		return tel__emit_wrong("%s: unknown role '%s'", t->name, role);
	if (t->role != NULL && t->role != roles[k])
		return tel__emit_wrong("%s: roles %s and %s", t->name, t->role,
		    roles[k]);
	t->role = roles[k];
	t->operates = k < OPERATIONS;
	part += *part == ':';
	/* in roles of ranges, each part is a part of their key */
	if (k >= RANGES) {
		while (p < TEL__EMIT_PARTS && t->parts[p] != 0)
			p++;
	} else if (isdigit((unsigned char)*part)) {
		p = (unsigned)(*part - '0');
	} else {
		while (p < TEL__EMIT_PARTS && strcmp(parts[p], part) != 0)
			p++;
	}
	if (p >= TEL__EMIT_PARTS)
		return tel__emit_wrong("%s: unknown part '%s'", t->name, role);
	if (p == PART_THREAD || p == PART_PROCESS)
		t->fields[i].space = p == PART_THREAD ? 2 : 3;
	t->parts[p] = (unsigned char)(i + 1);
	return 0;
}

/* Whether a role is followed by the type that ends the ranges. */
static int
names_partner(const char *role)
{
	return strncmp(role, "start", 5) == 0 ||
	    strncmp(role, "middle", 6) == 0;
}

/* Finds the type that ends the ranges of t. */
static int
find_partner(struct tel__emit_typed *t, const tel_emit_type *from)
{
	unsigned i, k;

	t->partner = -1;
	if (t->role == NULL || !names_partner(t->role))
		return 0;
	for (i = 0; i < from->count; i++) {
		const char *name = from->params[i].role;

		name = name != NULL ? strchr(name, ':') : NULL;
		for (k = 0; name != NULL && k < tel__emit_types.count; k++)
			if (strcmp(tel__emit_types.list[k]->name, name + 1) ==
			    0)
				t->partner = (int)k;
	}
	return t->partner >= 0 ?
	    0 :
	    tel__emit_wrong("%s: no such type as ends it", t->name);
}

/* Appends a field; the caller gives it its texts. */
static int
emit_types_add_field(struct tel__emit_typed *t, const tel_emit_param *param,
    unsigned i, unsigned count)
{
	struct tel__emit_field *f = &t->fields[t->nfields++];
	const struct tel__emit_letter *letter =
	    param->letter != NULL ? find_letter(param->letter) : NULL;

	if (letter == NULL)
		return tel__emit_wrong("%s: parameter %u has an unknown letter",
		    t->name, i);
	if (!emit_types_is_word(param->name))
		return tel__emit_wrong("%s: parameter %u has no valid name",
		    t->name, i);
	if (letter->width == 0 && (i + 1 != count || t->texts > 0))
		return tel__emit_wrong("%s: a string must be last", t->name);
	f->letter = letter;
	unsigned width = letter->width != 0 ? letter->width : 1;
	f->offset = param->offset != 0 ? param->offset :
	                                 (t->fixed + width - 1) & ~(width - 1);
	if (f->offset < t->fixed || f->offset + width > TEL_EMIT_EVENT_MAX / 2)
		return tel__emit_wrong("%s: parameter %u is misplaced", t->name,
		    i);
	t->fixed = f->offset + letter->width;
	if (letter->width == 0)
		t->string = (int)i;
	else if (letter->data_type == STRING)
		t->texts++;
	if (param->role != NULL && param->role[0] != '\0')
		return emit_types_set_role(t, i, param->role);
	return 0;
}

/* Allocates a type with room for its fields and texts. */
static struct tel__emit_typed *
new_type(const tel_emit_type *from)
{
	static const char thread[] = "thread\0\0the thread of the event";
	struct tel__emit_typed *t = calloc(1, sizeof(*t));
	size_t size = text_size(from->name) + text_size(from->doc);

	for (unsigned i = 0; i < from->count; i++)
		size += text_size(from->params[i].name) +
		    text_size(from->params[i].unit) +
		    text_size(from->params[i].doc);
	if (t == NULL)
		return NULL;
	char *at = t->texts_kept = calloc(1, size);
	t->fields = calloc(from->count + 1u, sizeof(*t->fields));
	if (at == NULL || t->fields == NULL) {
		emit_types_free(t);
		return NULL;
	}
	t->name = keep_text(&at, from->name);
	t->doc = keep_text(&at, from->doc);
	for (unsigned i = 0; i < from->count; i++) {
		struct tel__emit_field *f = &t->fields[i];

		f->name = keep_text(&at, from->params[i].name);
		f->unit = keep_text(&at, from->params[i].unit);
		f->doc = keep_text(&at, from->params[i].doc);
	}
	/* the thread takes the place of the clock once an event is drained */
	struct tel__emit_field *f = &t->fields[from->count];
	f->name = thread;
	f->unit = thread + 7;
	f->doc = thread + 8;
	f->letter = find_letter("U32");
	f->offset = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 8 : 12;
	f->space = 2;
	return t;
}

static int
emit_make_type(const tel_emit_type *from, struct tel__emit_typed **out)
{
	struct tel__emit_typed *t = new_type(from);
	int st = 0, named = 0;

	*out = t;
	if (t == NULL)
		return -1;
	t->code = from->code;
	t->kind = from->kind;
	t->string = -1;
	t->fixed = 16;
	for (unsigned i = 0; st == 0 && i < from->count; i++) {
		st = emit_types_add_field(t, &from->params[i], i, from->count);
		named |= strcmp(t->fields[i].name, "thread") == 0;
	}
	t->size = (t->fixed + (t->string >= 0) + t->texts + 7) & ~7u;
	/* a parameter named thread replaces it */
	t->nfields += !named;
	if (!named && t->operates && t->parts[PART_THREAD] == 0)
		t->parts[PART_THREAD] = (unsigned char)t->nfields;
	return st == 0 ? find_partner(t, from) : st;
}

/* ------------------------------------------------------------- registering */

static int
check_type(const tel_emit_type *type)
{
	if (!emit_types_is_word(type->name))
		return tel__emit_wrong("a type has no valid name");
	if (type->kind >= TEL_EMIT_KINDS || type->count > 64 ||
	    (type->count > 0 && type->params == NULL))
		return tel__emit_wrong("%s: wrong kind, or more than 64 "
		                       "parameters",
		    type->name);
	if (type->code == 0 || type->code > 0xFFFF)
		return tel__emit_wrong("%s: the code is not 1 to 65535",
		    type->name);
	const struct tel__emit_typed *t = tel__emit_find(type->code);
	if (t != NULL)
		return tel__emit_wrong("code 0x%04X is that of %s and of %s",
		    type->code, t->name, type->name);
	for (unsigned i = 0; i < tel__emit_types.count; i++)
		if (strcmp(tel__emit_types.list[i]->name, type->name) == 0)
			return tel__emit_wrong("two types are named %s",
			    type->name);
	return 0;
}

static int
emit_types_add(const tel_emit_type *type)
{
	struct tel__emit_types *all = &tel__emit_types;
	struct tel__emit_typed *t = NULL;
	unsigned n = all->count;
	int st = check_type(type);

	if (st == 0 && n == TYPES_MAX)
		st = tel__emit_result(ENOSPC);
	if (st == 0)
		st = emit_make_type(type, &t);
	if (st == 0) {
		tel__emit_describe(t);
		st = t->described.failed ?
		    -1 :
		    tel__emit_add_entry(ENTRY_TYPE, t->code, t->described.bytes,
		        t->described.used);
	}
	if (st != 0) {
		emit_types_free(t);
		return -1;
	}
	all->list[n] = t;
	all->count = n + 1;
	__atomic_store_n(&all->by_code[t->code], (uint16_t)(n + 1),
	    __ATOMIC_RELEASE);
	return 0;
}

static int
emit_add_kind(const tel_emit_kind *kind)
{
	if (!emit_types_is_word(kind->name) || kind->number >= TEL_EMIT_KINDS)
		return tel__emit_wrong("a kind has no valid name or number");
	char **name = &tel__emit_types.kinds[kind->number];
	if (*name != NULL && strcmp(*name, kind->name) != 0)
		return tel__emit_wrong("kind %u is %s and %s", kind->number,
		    *name, kind->name);
	if (*name == NULL)
		*name = strdup(kind->name);
	if (*name == NULL)
		return -1;
	snprintf(PAGE->kinds[kind->number], sizeof(PAGE->kinds[0]), "%s",
	    kind->name);
	return 0;
}

/*
 * Adds the types that start ranges, or the others first: a type that starts
 * ranges refers to the one that ends them.
 */
static int
emit_add_types(const tel_emit_list *list, unsigned most, int starts)
{
	int is_start, st = 0;

	for (unsigned i = 0; st == 0 && i < list->type_count; i++) {
		const tel_emit_type *type = &list->types[i];

		is_start = 0;
		for (unsigned k = 0; k < type->count; k++)
			is_start |= type->params[k].role != NULL &&
			    names_partner(type->params[k].role);
		if (is_start != starts)
			continue;
		if (type->code > most)
			return tel__emit_wrong("%s: the code is above 0x%04X",
			    type->name, most);
		if (tel__emit_types.kinds[type->kind & 31] == NULL)
			return tel__emit_wrong("%s: unknown kind", type->name);
		st = emit_types_add(type);
	}
	return st;
}

int
tel__emit_add_list(const tel_emit_list *list, unsigned most)
{
	int st = 0;

	for (unsigned i = 0; st == 0 && i < list->kind_count; i++)
		st = emit_add_kind(&list->kinds[i]);
	if (st == 0)
		st = emit_add_types(list, most, 0);
	if (st == 0)
		st = emit_add_types(list, most, 1);
	tel__emit_types.digest = tel__emit_digest();
	return st;
}

int
tel_emit_register(const tel_emit_list *list)
{
	if (!tel__emit_state.open)
		return tel__emit_result(EBADF);
	pthread_mutex_lock(&tel__emit_state.lock);
	int st = tel__emit_add_list(list, CODE_LISTS);
	pthread_mutex_unlock(&tel__emit_state.lock);
	return st;
}

/* ---------------------------------------------------------- at run time */

/* The registered type with that name, code and parameters, or NULL. */
static const struct tel__emit_typed *
same_type(const tel_emit_type *type)
{
	unsigned i, k;

	for (i = 0; i < tel__emit_types.count; i++) {
		const struct tel__emit_typed *t = tel__emit_types.list[i];

		if (type->name == NULL || strcmp(t->name, type->name) != 0 ||
		    type->count > t->nfields || type->count + 1 < t->nfields ||
		    (type->code != 0 && type->code != t->code))
			continue;
		for (k = 0; k < type->count; k++)
			if (strcmp(t->fields[k].name, type->params[k].name) !=
			        0 ||
			    strcmp(t->fields[k].letter->name,
			        type->params[k].letter) != 0)
				break;
		if (k == type->count)
			return t;
	}
	return NULL;
}

int
tel_emit_declare(const tel_emit_type *type)
{
	tel_emit_type with = *type;
	int st = 0;

	if (!tel__emit_state.open)
		return tel__emit_result(EBADF);
	pthread_mutex_lock(&tel__emit_state.lock);
	const struct tel__emit_typed *t = same_type(type);
	if (t == NULL) {
		if (with.code == 0)
			for (with.code = 0xC000; with.code < TEL_MPS_CODES;
			     with.code++)
				if (tel__emit_find(with.code) == NULL)
					break;
		if (with.kind >= TEL_EMIT_KINDS ||
		    tel__emit_types.kinds[with.kind] == NULL)
			st = tel__emit_wrong("%s: unknown kind", with.name);
		else
			st = emit_types_add(&with);
		tel__emit_types.digest = tel__emit_digest();
		t = tel__emit_find(with.code & 0xFFFF);
	}
	pthread_mutex_unlock(&tel__emit_state.lock);
	return st == 0 ? (int)t->code : -1;
}

static void
emit_types_store(char *to, const struct tel__emit_letter *letter,
    tel_emit_value value)
{
	uint64_t v = value.u;

	if (letter->data_type == BOOLEAN)
		v = v != 0;
	if (letter->data_type == POINTER || letter->data_type == ADDRESS)
		v = (uintptr_t)value.p;
	uint32_t v4 = (uint32_t)v;
	uint16_t v2 = (uint16_t)v;
	switch (letter->width) {
	case 8: memcpy(to, &v, 8); break;
	case 4: memcpy(to, &v4, 4); break;
	case 2: memcpy(to, &v2, 2); break;
	default: *to = (char)v;
	}
}

/* Appends the strings of letter T, each with a NUL.  Returns their end. */
static size_t
store_texts(const struct tel__emit_typed *t, const tel_emit_value *values,
    unsigned count, char *event)
{
	size_t at = t->fixed, n, room;
	unsigned i, left = t->texts;

	for (i = 0; i < count && left > 0; i++) {
		if (t->fields[i].letter->load != LOAD_TEXT)
			continue;
		room = TEL_EMIT_EVENT_MAX - at - left--;
		n = tel__emit_length(values[i].s);
		n = n < room ? n : room;
		tel_store_le32((unsigned char *)event + t->fields[i].offset,
		    (uint32_t)at);
		if (n > 0)
			memcpy(event + at, values[i].s, n);
		event[at + n] = '\0';
		at += n + 1;
	}
	return at;
}

size_t
tel__emit_build(const struct tel__emit_typed *t, const tel_emit_value *values,
    unsigned count, uint64_t *event)
{
	char *bytes = (char *)event;
	size_t end = t->fixed, length;

	memset(bytes, 0, t->fixed);
	for (unsigned i = 0; i < count; i++) {
		const struct tel__emit_field *f = &t->fields[i];

		if (f->letter->data_type != STRING)
			emit_types_store(bytes + f->offset, f->letter,
			    values[i]);
	}
	if (t->texts > 0) {
		end = store_texts(t, values, count, bytes);
	} else if (t->string >= 0) {
		length = tel__emit_length(values[t->string].s);
		if (length > 0)
			memcpy(bytes + end, values[t->string].s, length);
		bytes[end + length] = '\0';
		end += length + 1;
	}
	memset(bytes + end, 0, (8 - end % 8) % 8);
	return (end + 7) & ~(size_t)7;
}

int
tel_emit_values(unsigned code, const tel_emit_value *values, unsigned count)
{
	const struct tel__emit_typed *t =
	    code <= 0xFFFF ? tel__emit_find(code) : NULL;
	uint64_t event[TEL_EMIT_EVENT_MAX / 8];

	if (t == NULL || count > t->nfields || count + 1 < t->nfields)
		return tel__emit_wrong("no type of %u parameters has the code "
		                       "0x%04X",
		    count, code);
	if (!(PAGE->record >> t->kind & 1))
		return 0;
	size_t bytes = tel__emit_build(t, values, count, event);
	struct tel__emit_open open = tel__emit_begin(t->kind, code, bytes);
	if (open.words == NULL)
		return 0;
	for (size_t i = 2; i < bytes / 8; i++)
		__atomic_store_n(&open.words[i], event[i], __ATOMIC_RELAXED);
	tel__emit_publish(open);
	return 0;
}

size_t
tel__emit_length(const char *s)
{
	return s == NULL ? 0 : strnlen(s, TEL_STRING_MAX);
}

void
tel__emit_string(char *to, const char *s, size_t n)
{
	size_t i, end = (size_t)(-(uintptr_t)(to + n + 1) & 7) + n + 1;

	for (i = 0; i < end; i++)
		__atomic_store_n(to + i, i < n ? s[i] : '\0', __ATOMIC_RELAXED);
}
