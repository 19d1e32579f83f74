/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The constant pools of a chunk: values by class and key, the texts that stand
 * for them, and stacks, which become frames of the log.
 */
#include "base/utf8.h"
#include "format/jfr/jfr.h"
#include "render/number.h"

#include <stdlib.h>
#include <string.h>

/* Documented limit: bytes of names of a chunk. */
#define TEXTS_MAX ((size_t)1 << 28)

/* ------------------------------------------------------------- strings */

static void
put_character(struct tel__buffer *out, uint32_t c)
{
	unsigned char *p = tel__buffer_room(out, TEL__UTF8_MAX);

	if (p == NULL)
		return;
	/* no string of an event has a NUL: as modified UTF-8 has it */
	if (c == 0) {
		*p++ = 0xc0;
		*p++ = 0x80;
	} else {
		p = tel__utf8_put(p, c);
	}
	out->used = (size_t)(p - out->bytes);
}

static void
put_utf16(struct tel__buffer *out, struct jfr_bytes *b)
{
	uint64_t n = jfr_varint(b);
	uint32_t high = 0, c;

	for (; n > 0 && !b->bad; n--) {
		c = (uint32_t)jfr_varint(b) & 0xffff;
		if (high != 0 && c >= 0xdc00 && c < 0xe000) {
			put_character(out, tel__utf16_pair(high, c));
			high = 0;
			continue;
		}
		if (high != 0)
			put_character(out, high);
		high = c >= 0xd800 && c < 0xdc00 ? c : 0;
		if (high == 0)
			put_character(out, c);
	}
	if (high != 0)
		put_character(out, high);
}

/*
 * UTF-8, of which surrogates may be apart, three bytes each: together they are
 * one character.
 */
static void
jfr_pools_put_utf8(struct tel__buffer *out, const unsigned char *s, size_t n)
{
	size_t i, from = 0;

	for (i = 0; i < n; i++) {
		if (s[i] == 0) {
			tel__buffer_put(out, s + from, i - from);
			put_character(out, 0);
			from = i + 1;
		}
		if (s[i] != 0xed || n - i < 6 || (s[i + 1] & 0xf0) != 0xa0 ||
		    s[i + 3] != 0xed || (s[i + 4] & 0xf0) != 0xb0 ||
		    (s[i + 2] & 0xc0) != 0x80 || (s[i + 5] & 0xc0) != 0x80)
			continue;
		uint32_t high = (s[i + 1] & 0x0fu) << 6 | (s[i + 2] & 0x3fu);
		uint32_t low = (s[i + 4] & 0x0fu) << 6 | (s[i + 5] & 0x3fu);
		tel__buffer_put(out, s + from, i - from);
		put_character(out, tel__utf16_pair(high, low));
		i += 5;
		from = i + 1;
	}
	tel__buffer_put(out, s + from, n - from);
}

/*
 * Adds the text of a string.  1; 0: it is null, or could not be read.
 */
int
tel__jfr_string(struct jfr_chunk *c, struct jfr_bytes *b,
    struct tel__buffer *out)
{
	const struct jfr_value *v;
	const unsigned char *s;
	uint64_t n, i;

	switch (b->p < b->end ? *b->p++ : 255) {
	case 0: return 0;
	case 1: return 1;
	case 2:
		n = jfr_varint(b);
		v = c->layout == NULL ?
		    NULL :
		    tel__jfr_name(c, c->layout->string_class, n);
		if (v == NULL)
			return 0;
		tel__buffer_put(out, c->texts.bytes + v->name, v->size);
		return 1;
	case 3:
		n = jfr_varint(b);
		s = jfr_take(b, n);
		if (s != NULL)
			jfr_pools_put_utf8(out, s, (size_t)n);
		return s != NULL;
	case 4: put_utf16(out, b); return !b->bad;
	case 5:
		n = jfr_varint(b);
		s = jfr_take(b, n);
		for (i = 0; s != NULL && i < n; i++)
			put_character(out, s[i]);
		return s != NULL;
	default: b->bad = 1; return 0;
	}
}

/* --------------------------------------------------------------- pools */

static inline size_t
home_of(const struct jfr_pool *pool, uint64_t key)
{
	return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) &
	    pool->mask;
}

struct jfr_value *
tel__jfr_find(const struct jfr_chunk *c, uint32_t class, uint64_t key)
{
	if (class == JFR_NONE || c->pools == NULL)
		return NULL;
	const struct jfr_pool *pool = &c->pools[class];
	if (pool->count == 0)
		return NULL;
	for (size_t i = home_of(pool, key); pool->values[i].at != 0;
	     i = (i + 1) & pool->mask)
		if (pool->values[i].key == key)
			return &pool->values[i];
	return NULL;
}

static int
jfr_pools_grow(struct jfr_pool *pool)
{
	const struct jfr_pool old = *pool;
	size_t i, k;

	pool->mask = old.values == NULL ? 15 : old.mask * 2 + 1;
	pool->values = calloc(pool->mask + 1, sizeof(*pool->values));
	if (pool->values == NULL) {
		*pool = old;
		return 0;
	}
	for (i = 0; old.values != NULL && i <= old.mask; i++) {
		if (old.values[i].at == 0)
			continue;
		for (k = home_of(pool, old.values[i].key);
		     pool->values[k].at != 0; k = (k + 1) & pool->mask)
			continue;
		pool->values[k] = old.values[i];
	}
	free(old.values);
	return 1;
}

/* Adds a value, unless its key is known.  1, or 0: no memory. */
static int
jfr_pools_add_value(struct jfr_pool *pool, uint64_t key, uint32_t at)
{
	size_t i;

	if (pool->count * 2 >= pool->mask && !jfr_pools_grow(pool))
		return 0;
	for (i = home_of(pool, key); pool->values[i].at != 0;
	     i = (i + 1) & pool->mask)
		if (pool->values[i].key == key)
			return 1;
	pool->values[i].key = key;
	pool->values[i].at = at;
	pool->count++;
	return 1;
}

/* Reads the pools of a checkpoint.  TEL_OK, TEL_EFORMAT, TEL_ENOMEM. */
static tel_status
read_pools(struct jfr_chunk *c, struct jfr_bytes *b)
{
	for (uint64_t pools = jfr_varint(b); pools > 0 && !b->bad; pools--) {
		uint32_t class = jfr_class_of(c->layout, jfr_varint(b));
		uint64_t n = jfr_varint(b);

		if (class == JFR_NONE && n > 0)
			return TEL_EFORMAT;
		for (; n > 0 && !b->bad; n--) {
			uint64_t key = jfr_varint(b);

			const uint32_t at = (uint32_t)(b->p - c->bytes);

			tel__jfr_skip_class(b, c->layout, class, 0);
			if (!b->bad &&
			    !jfr_pools_add_value(&c->pools[class], key, at))
				return TEL_ENOMEM;
		}
	}
	return b->bad ? TEL_EFORMAT : TEL_OK;
}

tel_status
tel__jfr_pools(struct jfr_chunk *c)
{
	uint64_t at = c->checkpoint, end = c->size, id, delta;
	tel_status st = TEL_OK, failed;
	struct jfr_bytes b;

	c->pools = calloc(c->layout->nclasses, sizeof(*c->pools));
	if (c->pools == NULL)
		return TEL_ENOMEM;
	/* the one before ends where this starts, so no byte is read twice */
	while (at >= JFR_HEADER && at < end) {
		b = (struct jfr_bytes){ c->bytes + at, c->bytes + end, 0 };
		uint32_t size = jfr_event_size(&b, &id);
		if (size == 0 || id != 1)
			return TEL_EFORMAT;
		b.end = c->bytes + at + size;
		(void)jfr_varint(&b);
		(void)jfr_varint(&b);
		delta = jfr_varint(&b);
		(void)jfr_take(&b, 1);
		failed = read_pools(c, &b);
		if (failed == TEL_ENOMEM)
			return failed;
		if (failed != TEL_OK)
			st = failed;
		if (delta == 0)
			return st;
		if ((int64_t)delta > 0 || 0 - delta > at)
			return TEL_EFORMAT;
		end = at;
		at += delta;
	}
	return at == 0 ? st : TEL_EFORMAT;
}

void
tel__jfr_pools_free(struct jfr_chunk *c)
{
	for (size_t i = 0; c->pools != NULL && i < c->layout->nclasses; i++)
		free(c->pools[i].values);
	free(c->pools);
	c->pools = NULL;
	tel__buffer_clear(&c->texts);
}

/* --------------------------------------------------------------- names */

/* The cursor at a field, from the class's first on, of a value. */
static struct jfr_bytes
jfr_pools_field_at(const struct jfr_chunk *c, const struct jfr_value *v,
    const struct jfr_class *class, uint32_t field)
{
	struct jfr_bytes b = { c->bytes + v->at, c->bytes + c->size, 0 };

	for (uint32_t i = 0; i < field; i++)
		tel__jfr_skip(&b, c->layout, class->first + i, 0);
	return b;
}

static uint32_t
jfr_pools_find_field(const struct jfr_layout *l, const struct jfr_class *class,
    const char *name)
{
	for (uint32_t i = 0; i < class->count; i++)
		if (strcmp(l->fields[class->first + i].name, name) == 0)
			return i;
	return JFR_NONE;
}

/* Adds the text of a field of a value.  1; 0: it has none. */
static int
jfr_pools_put_field(struct jfr_chunk *c, const struct jfr_value *v,
    const struct jfr_class *class, const char *name, struct tel__buffer *out)
{
	const uint32_t field = jfr_pools_find_field(c->layout, class, name);
	const struct jfr_value *named;

	if (field == JFR_NONE)
		return 0;
	const struct jfr_field *f = &c->layout->fields[class->first + field];
	if (f->class == JFR_NONE || f->list)
		return 0;
	struct jfr_bytes b = jfr_pools_field_at(c, v, class, field);
	if (!f->pool)
		return c->layout->classes[f->class].kind == JFR_STRING &&
		    tel__jfr_string(c, &b, out);
	named = tel__jfr_name(c, f->class, jfr_varint(&b));
	if (named != NULL)
		tel__buffer_put(out, c->texts.bytes + named->name, named->size);
	return named != NULL;
}

/* Adds "Class.method" and the descriptor. */
static int
put_method(struct jfr_chunk *c, const struct jfr_value *v,
    const struct jfr_class *class, struct tel__buffer *out)
{
	(void)jfr_pools_put_field(c, v, class, "type", out);
	if (out->used > 0)
		tel__buffer_put(out, ".", 1);
	(void)jfr_pools_put_field(c, v, class, "name", out);
	(void)jfr_pools_put_field(c, v, class, "descriptor", out);
	return out->used > 0;
}

static int
jfr_pools_put_value(struct jfr_chunk *c, const struct jfr_value *v,
    const struct jfr_class *class, struct tel__buffer *out)
{
	struct jfr_bytes b;

	switch ((enum jfr_kind) class->kind) {
	case JFR_STRING:
		b = jfr_pools_field_at(c, v, class, 0);
		return tel__jfr_string(c, &b, out);
	case JFR_METHOD: return put_method(c, v, class, out);
	case JFR_LOADER:
		return jfr_pools_put_field(c, v, class, "name", out) ||
		    jfr_pools_put_field(c, v, class, "type", out);
	case JFR_THREAD:
		return jfr_pools_put_field(c, v, class, "javaName", out) ||
		    jfr_pools_put_field(c, v, class, "osName", out);
	case JFR_NAMED:
		return jfr_pools_put_field(c, v, class,
		    c->layout->fields[class->first + class->name_field].name,
		    out);
	default: return 0;
	}
}

const struct jfr_value *
tel__jfr_name(struct jfr_chunk *c, uint32_t class, uint64_t key)
{
	struct jfr_value *v = tel__jfr_find(c, class, key);
	struct tel__buffer out = { 0 };
	int good;

	if (v == NULL || v->state == STATE_NULL || v->state == STATE_READING)
		return NULL;
	if (v->state == STATE_NAMED)
		return v;
	if (c->depth == JFR_DEPTH_MAX)
		return NULL;
	/* it may refer to itself */
	v->state = STATE_READING;
	c->depth++;
	good = jfr_pools_put_value(c, v, &c->layout->classes[class], &out) &&
	    c->texts.used + out.used < TEXTS_MAX;
	c->depth--;
	v->state = good ? STATE_NAMED : STATE_NULL;
	v->name = (uint32_t)c->texts.used;
	v->size = good ? (uint32_t)out.used : 0;
	if (good) {
		tel__buffer_put(&c->texts, out.bytes, out.used);
		tel__buffer_put(&c->texts, "", 1);
	}
	c->texts.failed |= out.failed;
	tel__buffer_clear(&out);
	return good && !c->texts.failed ? v : NULL;
}

/* -------------------------------------------------------------- stacks */

/* Where the fields of frames and methods are. */
struct places {
	const struct jfr_class *stack, *frame, *method;
	uint32_t frames, method_field, line, type, name;
};

static int
find_places(const struct jfr_layout *l, uint32_t stack, struct places *p)
{
	p->stack = &l->classes[stack];
	p->frames = p->stack->name_field;
	const struct jfr_field *f = &l->fields[p->stack->first + p->frames];
	if (!f->list || f->pool || f->class == JFR_NONE)
		return 0;
	p->frame = &l->classes[f->class];
	p->method_field = jfr_pools_find_field(l, p->frame, "method");
	p->line = jfr_pools_find_field(l, p->frame, "lineNumber");
	if (p->method_field == JFR_NONE)
		return 0;
	f = &l->fields[p->frame->first + p->method_field];
	if (!f->pool || f->class == JFR_NONE ||
	    l->classes[f->class].kind != JFR_METHOD)
		return 0;
	p->method = &l->classes[f->class];
	p->type = jfr_pools_find_field(l, p->method, "type");
	p->name = p->method->name_field;
	return 1;
}

/* The text of a field of a method, a class or a symbol; NULL. */
static const struct jfr_value *
method_part(struct jfr_chunk *c, const struct jfr_value *v,
    const struct jfr_class *class, uint32_t field)
{
	if (field == JFR_NONE)
		return NULL;
	const struct jfr_field *f = &c->layout->fields[class->first + field];
	if (!f->pool || f->list)
		return NULL;
	struct jfr_bytes b = jfr_pools_field_at(c, v, class, field);
	return tel__jfr_name(c, f->class, jfr_varint(&b));
}

static void
jfr_pools_put_part(struct jfr_chunk *c, struct tel__buffer *out,
    const struct jfr_value *part)
{
	if (part != NULL)
		tel__buffer_put(out, c->texts.bytes + part->name, part->size);
}

/* Makes "Class.method:line" of a frame. */
static void
jfr_pools_name_frame(struct jfr *j, struct jfr_chunk *c, const struct places *p,
    uint64_t key, int32_t line)
{
	const uint32_t class = (uint32_t)(p->method - c->layout->classes);
	const struct jfr_value *v = tel__jfr_find(c, class, key);
	unsigned char digits[TEL_PUT_MAX];

	j->name.used = 0;
	if (v == NULL) {
		tel__buffer_put(&j->name, "<unknown>", 9);
		return;
	}
	const struct jfr_value *type = method_part(c, v, p->method, p->type);
	jfr_pools_put_part(c, &j->name, type);
	if (type != NULL && type->size > 0)
		tel__buffer_put(&j->name, ".", 1);
	jfr_pools_put_part(c, &j->name, method_part(c, v, p->method, p->name));
	if (line > 0) {
		tel__buffer_put(&j->name, ":", 1);
		tel__buffer_put(&j->name, digits,
		    (size_t)(tel_put_decimal(digits, (uint64_t)line) - digits));
	}
}

/* Adds the frames of a stack, from the outermost, which comes last. */
static tel_status
add_stack(struct tel_reader *r, struct jfr *j, struct jfr_chunk *c,
    const struct places *p, struct jfr_value *v)
{
	struct jfr_bytes b = jfr_pools_field_at(c, v, p->stack, p->frames);
	uint64_t n = jfr_varint(&b), i, parent = 0, key;
	struct frame_at {
		uint64_t key;
		int32_t line;
	} * frames;
	struct tel_frame frame = { 0, 0, NULL, 0 };
	tel_status st = TEL_OK;

	v->state = STATE_NULL;
	if (n == 0 || b.bad || n > (uint64_t)(b.end - b.p))
		return TEL_OK;
	frames = calloc((size_t)n, sizeof(*frames));
	if (frames == NULL)
		return TEL_ENOMEM;
	for (i = 0; i < n && !b.bad; i++) {
		for (uint32_t k = 0; k < p->frame->count && !b.bad; k++) {
			key = k == p->method_field || k == p->line ?
			    jfr_varint(&b) :
			    0;
			if (k == p->method_field)
				frames[i].key = key;
			else if (k == p->line)
				frames[i].line = (int32_t)(uint32_t)key;
			else
				tel__jfr_skip(&b, c->layout,
				    p->frame->first + k, 0);
		}
	}
	for (i = b.bad ? 0 : n; i > 0 && st == TEL_OK; i--) {
		jfr_pools_name_frame(j, c, p, frames[i - 1].key,
		    frames[i - 1].line);
		frame.parent = parent;
		frame.name = (const char *)j->name.bytes;
		frame.length = j->name.used;
		st = j->name.failed || c->texts.failed ?
		    TEL_ENOMEM :
		    tel__labels_intern_frame(r->log.labels, &j->frames, &frame,
		        &parent);
	}
	free(frames);
	/* the number of a frame is at most that of frames that are held */
	v->name = st == TEL_OK ? (uint32_t)parent : 0;
	v->state = v->name != 0 ? STATE_NAMED : STATE_NULL;
	if (st == TEL_ELIMIT)
		tel__reader_limit(r, c->offset, "frames of stacks");
	return st == TEL_ELIMIT ? TEL_OK : st;
}

tel_status
tel__jfr_stacks(struct tel_reader *r, struct jfr *j, struct jfr_chunk *c)
{
	struct jfr_pool *pool;
	struct places p;
	tel_status st = TEL_OK;

	for (uint32_t k = 0; k < c->layout->nclasses && st == TEL_OK; k++) {
		pool = &c->pools[k];
		if (c->layout->classes[k].kind != JFR_STACK ||
		    pool->count == 0 || !find_places(c->layout, k, &p))
			continue;
		for (size_t i = 0; i <= pool->mask && st == TEL_OK; i++)
			if (pool->values[i].at != 0)
				st = add_stack(r, j, c, &p, &pool->values[i]);
	}
	return st;
}
