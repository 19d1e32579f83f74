/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rows of events: at fixed offsets the bits of present fields, and the
 * fields; behind them strings and the elements of lists.
 */
#include "base/array.h"
#include "base/utf8.h"
#include "format/jfr/jfr.h"

#include <string.h>

/* Bytes behind a row that may be read. */
#define BEHIND 16u

struct row {
	struct jfr *j;
	struct jfr_chunk *c;
	unsigned char *data;
	size_t size; /* so far */
	int full;    /* there was no room, or no memory */
	int first;   /* no other event has its row there */
};

/* Makes room for a row of so many bytes, in all.  1, or 0: row->full is set. */
static int
jfr_program_grow_rows(struct row *row, size_t need)
{
	struct jfr *j = row->j;

	row->full = 1;
	/* the rows of other events must not move */
	if (!row->first || need > UINT32_MAX / 2)
		return 0;
	if (!TEL__RESERVE(j->rows, j->row_room, need)) {
		row->c->texts.failed = 1;
		return 0;
	}
	row->full = 0;
	row->data = j->rows + j->used;
	return 1;
}

/* Room for n bytes behind the row; NULL: there is none. */
static inline unsigned char *
jfr_program_add_bytes(struct row *row, size_t n)
{
	const size_t need = row->j->used + row->size + n + BEHIND;

	if (row->full ||
	    (need > row->j->row_room && !jfr_program_grow_rows(row, need)))
		return NULL;
	unsigned char *p = row->data + row->size;
	row->size += n;
	return p;
}

/* Adds a string and a NUL. */
static inline void
jfr_program_put_text(struct row *row, const struct jfr_op *op, const void *s,
    size_t n)
{
	const size_t at = row->size;
	unsigned char *p = jfr_program_add_bytes(row, n + 1);

	if (p == NULL)
		return;
	if (n > 0)
		memcpy(p, s, n);
	p[n] = 0;
	tel_store_le32(row->data + op->at, (uint32_t)at);
	row->data[op->present_at] |= op->present;
}

static void
jfr_program_put_string(struct row *row, const struct jfr_op *op,
    struct jfr_bytes *b)
{
	struct tel__buffer *text = &row->j->name;
	size_t n, i;

	/* most are short and ASCII */
	if (b->end - b->p > 2 && *b->p == 5 && b->p[1] < 0x80 &&
	    b->end - b->p >= 2 + b->p[1]) {
		n = b->p[1];
		const unsigned char *s = b->p + 2;
		for (i = 0; i < n && s[i] < 0x80 && s[i] != 0; i++)
			continue;
		if (i == n) {
			b->p = s + n;
			jfr_program_put_text(row, op, s, n);
			return;
		}
	}
	text->used = 0;
	if (tel__jfr_string(row->c, b, text))
		jfr_program_put_text(row, op, text->bytes, text->used);
	row->c->texts.failed |= text->failed;
}

static void
jfr_program_put_name(struct row *row, const struct jfr_op *op, uint64_t key)
{
	const struct jfr_value *v = tel__jfr_name(row->c, op->class, key);

	if (v != NULL)
		jfr_program_put_text(row, op, row->c->texts.bytes + v->name,
		    v->size);
}

static size_t
encode_char(unsigned char *text, uint64_t c)
{
	if ((c & 0xffff) == 0) {
		memcpy(text, "\300\200", 2);
		return 2;
	}
	return (size_t)(tel__utf8_put(text, (uint32_t)c & 0xffff) - text);
}

/* The numbers and the name of a thread. */
static const struct jfr_thread *
jfr_program_find_thread(struct jfr_chunk *c, uint32_t class, uint64_t key)
{
	struct jfr_thread *t = &c->threads[key % JFR_THREADS];
	const struct jfr_class *of = &c->layout->classes[class];
	struct jfr_bytes b;

	/* 0 has none in a pool of threads */
	if (t->key == key && key != 0)
		return t;
	const struct jfr_value *v = tel__jfr_find(c, class, key);
	if (v == NULL)
		return NULL;
	t->key = key;
	t->os = t->java = 0;
	t->name = tel__jfr_name(c, class, key);
	b = (struct jfr_bytes){ c->bytes + v->at, c->bytes + c->size, 0 };
	for (uint32_t i = 0; i < of->count && !b.bad; i++) {
		const char *name = c->layout->fields[of->first + i].name;

		if (strcmp(name, "osThreadId") == 0)
			t->os = jfr_varint(&b);
		else if (strcmp(name, "javaThreadId") == 0)
			t->java = jfr_varint(&b);
		else
			tel__jfr_skip(&b, c->layout, of->first + i, 0);
	}
	return t;
}

/* Its name, and behind that its two numbers. */
static void
put_thread(struct row *row, const struct jfr_op *op, uint64_t key)
{
	const struct jfr_thread *t =
	    jfr_program_find_thread(row->c, op->class, key);

	if (t == NULL)
		return;
	tel_store_le64(row->data + op->at + 4, t->os);
	tel_store_le64(row->data + op->at + 12, t->java);
	row->data[op->count] |= op->width;
	if (t->name != NULL)
		jfr_program_put_text(row, op,
		    row->c->texts.bytes + t->name->name, t->name->size);
}

static int64_t
jfr_program_multiply(uint64_t v, int64_t by)
{
	int64_t product;

	if (__builtin_mul_overflow((int64_t)v, by, &product))
		return v >> 63 ? INT64_MIN : INT64_MAX;
	return product;
}

/* A number in the unit that fields have.  The ends stand for "for ever". */
static uint64_t
jfr_program_convert(const struct jfr_chunk *c, unsigned scale, uint64_t v)
{
	const int ends = (int64_t)v == INT64_MIN || (int64_t)v == INT64_MAX;

	switch (scale) {
	case JFR_TICKS_SPAN:
		if (ends || (c->divisor > 1 - 1e-9 && c->divisor < 1 + 1e-9))
			return v;
		return (uint64_t)jfr_span(c, (int64_t)v);
	case JFR_TICKS_TIME: return ends ? v : jfr_ns(c, v);
	case JFR_THOUSANDS: return (uint64_t)jfr_program_multiply(v, 1000);
	case JFR_MILLIONS: return (uint64_t)jfr_program_multiply(v, 1000000);
	case JFR_BILLIONS: return (uint64_t)jfr_program_multiply(v, 1000000000);
	default: return v;
	}
}

/* An integer of fewer bytes than a long. */
static uint64_t
jfr_program_take_narrow(const struct row *row, const struct jfr_op *op,
    struct jfr_bytes *b)
{
	const struct jfr_layout *l = row->c->layout;
	const unsigned kind = l->classes[op->class].kind;
	const uint64_t v = kind == JFR_BYTE ? jfr_byte(b) : jfr_varint(b);

	if (l->fields[op->field].is_unsigned)
		return kind == JFR_INT ? (uint32_t)v : (uint16_t)v;
	return kind == JFR_INT ? (uint64_t)(int32_t)v :
	    kind == JFR_SHORT  ? (uint64_t)(int16_t)v :
	                         (uint64_t)(int8_t)v;
}

/* A float or a double, whose bytes are big-endian. */
static void
put_real(unsigned char *to, struct jfr_bytes *b, unsigned width)
{
	const unsigned char *p = jfr_take(b, width);

	if (p != NULL)
		tel_store(to, width == 4 ? tel_be32(p) : tel_be64(p), width, 0);
}

static void jfr_program_run(struct row *row, struct jfr_bytes *b,
    const struct jfr_op *op, const struct jfr_op *end);

/* An element of a list: of op->code, at most 8 bytes, or a string. */
static void
put_element(struct row *row, const struct jfr_op *op, struct jfr_bytes *b)
{
	const struct jfr_field *f = &row->c->layout->fields[op->field];
	const struct jfr_value *v = NULL;
	unsigned char text[TEL__UTF8_MAX], *p;
	struct tel__buffer *s = &row->j->name;
	uint64_t n = 0;

	s->used = 0;
	switch ((enum jfr_code)op->element) {
	case OP_FLOAT:
	case OP_DOUBLE:
		p = jfr_program_add_bytes(row, op->width);
		if (p != NULL)
			put_real(p, b, op->width);
		return;
	case OP_BOOLEAN: n = jfr_byte(b) != 0; break;
	case OP_BYTE: n = (uint64_t)(int8_t)jfr_byte(b); break;
	case OP_UNSIGNED_BYTE: n = jfr_byte(b); break;
	case OP_INTEGER: n = jfr_varint(b); break;
	case OP_SCALED:
		n = jfr_program_convert(row->c, op->scale, jfr_varint(b));
		break;
	case OP_NARROW:
		n = jfr_program_convert(row->c, op->scale,
		    jfr_program_take_narrow(row, op, b));
		break;
	case OP_CHAR:
		tel__buffer_put(s, text, encode_char(text, jfr_varint(b)));
		break;
	case OP_STRING: (void)tel__jfr_string(row->c, b, s); break;
	case OP_NAME:
	case OP_THREAD:
		if (f->pool)
			v = tel__jfr_name(row->c, op->class, jfr_varint(b));
		if (v != NULL)
			tel__buffer_put(s, row->c->texts.bytes + v->name,
			    v->size);
		break;
	default: b->bad = 1; return;
	}
	row->c->texts.failed |= s->failed;
	p = jfr_program_add_bytes(row,
	    op->width == 0 ? s->used + 1 : op->width);
	if (p == NULL)
		return;
	if (op->width != 0) {
		tel_store(p, n, op->width, 0);
		return;
	}
	if (s->used > 0)
		memcpy(p, s->bytes, s->used);
	p[s->used] = 0;
}

/*
 * A list, or the list of a member of the structs in it: each member goes over
 * all of them.
 */
static void
jfr_program_put_list(struct row *row, const struct jfr_op *op,
    struct jfr_bytes *b)
{
	const struct jfr_layout *l = row->c->layout;
	struct jfr_bytes all = *b;
	const uint64_t n = jfr_varint(&all);
	const struct jfr_class *of = NULL;
	const size_t at = row->size;
	uint32_t k;

	if (n > (uint64_t)(all.end - all.p)) {
		b->bad = 1;
		return;
	}
	if (op->member != JFR_NONE)
		of = &l->classes[l->fields[op->list].class];
	for (uint64_t i = 0; i < n && !all.bad && !row->full; i++) {
		for (k = 0; of != NULL && k < op->member; k++)
			tel__jfr_skip(&all, l, of->first + k, 0);
		put_element(row, op, &all);
		for (k = op->member + 1; of != NULL && k < of->count; k++)
			tel__jfr_skip(&all, l, of->first + k, 0);
	}
	if (all.bad) {
		b->bad = 1;
		row->size = at;
		return;
	}
	tel_store_le32(row->data + op->at, (uint32_t)at);
	tel_store_le32(row->data + op->at + 4, (uint32_t)n);
	if (op->last)
		*b = all;
}

static void
jfr_program_put_stack(struct row *row, const struct jfr_op *op, uint64_t key)
{
	const struct jfr_value *v = tel__jfr_find(row->c, op->class, key);

	if (v == NULL || v->state != STATE_NAMED)
		return;
	tel_store_le32(row->data + op->at, v->name);
	row->data[op->present_at] |= op->present;
}

/* The ops behind this one, for a value in a pool. */
static void
run_pool(struct row *row, const struct jfr_op *op, uint64_t key)
{
	const struct jfr_chunk *c = row->c;
	const struct jfr_value *v = tel__jfr_find(c, op->class, key);
	struct jfr_bytes b;

	if (v == NULL)
		return;
	b = (struct jfr_bytes){ c->bytes + v->at, c->bytes + c->size, 0 };
	jfr_program_run(row, &b, op + 1, op + 1 + op->count);
}

static void
jfr_program_run(struct row *row, struct jfr_bytes *b, const struct jfr_op *op,
    const struct jfr_op *end)
{
	unsigned char text[TEL__UTF8_MAX];
	uint64_t v;

	for (; op < end && !b->bad; op++) {
		switch ((enum jfr_code)op->code) {
		case OP_TIME: jfr_skip_varint(b); continue;
		case OP_SKIP:
			tel__jfr_skip(b, row->c->layout, op->field, 0);
			continue;
		case OP_BOOLEAN: row->data[op->at] = jfr_byte(b) != 0; break;
		case OP_BYTE:
			tel_store(row->data + op->at,
			    (uint64_t)(int8_t)jfr_byte(b), 2, 0);
			break;
		case OP_UNSIGNED_BYTE:
			tel_store(row->data + op->at, jfr_byte(b), 2, 0);
			break;
		case OP_INTEGER:
			v = jfr_varint(b);
			if (op->width == 8)
				tel_store_le64(row->data + op->at, v);
			else if (op->width == 4)
				tel_store_le32(row->data + op->at, (uint32_t)v);
			else
				tel_store(row->data + op->at, v, 2, 0);
			break;
		case OP_SCALED:
			v = jfr_program_convert(row->c, op->scale,
			    jfr_varint(b));
			tel_store_le64(row->data + op->at, v);
			break;
		case OP_NARROW:
			v = jfr_program_convert(row->c, op->scale,
			    jfr_program_take_narrow(row, op, b));
			tel_store_le64(row->data + op->at, v);
			break;
		case OP_FLOAT:
		case OP_DOUBLE:
			put_real(row->data + op->at, b, op->width);
			break;
		case OP_CHAR:
			v = encode_char(text, jfr_varint(b));
			jfr_program_put_text(row, op, text, (size_t)v);
			continue;
		case OP_STRING: jfr_program_put_string(row, op, b); continue;
		case OP_NAME:
			jfr_program_put_name(row, op, jfr_varint(b));
			continue;
		case OP_THREAD: put_thread(row, op, jfr_varint(b)); continue;
		case OP_STACK:
			jfr_program_put_stack(row, op, jfr_varint(b));
			continue;
		case OP_LIST: jfr_program_put_list(row, op, b); break;
		case OP_POOL:
			run_pool(row, op, jfr_varint(b));
			op += op->count;
			continue;
		}
		row->data[op->present_at] |= op->present;
	}
}

tel_status
tel__jfr_row(struct jfr *j, struct jfr_chunk *c, const struct jfr_event *ev,
    uint32_t *size, uint32_t *raw_size)
{
	const struct jfr_class *of = &c->layout->classes[ev->class];
	struct jfr_bytes b = { c->bytes + ev->at, c->bytes + c->size, 0 };
	struct row row = { .j = j, .c = c, .first = j->used == 0 };
	const struct jfr_op *op = &c->layout->ops[of->entry];
	/* the size was checked when the event was found */
	const uint32_t n = (uint32_t)jfr_varint(&b);

	b.p = c->bytes + ev->at + ev->head;
	b.end = c->bytes + ev->at + n;
	row.data = j->rows + j->used;
	if (jfr_program_add_bytes(&row, of->row) == NULL)
		return c->texts.failed ? TEL_ENOMEM : TEL_END;
	memset(row.data, 0, of->row);
	jfr_program_run(&row, &b, op, op + of->nops);
	if (c->texts.failed || (row.full && row.first))
		return TEL_ENOMEM;
	if (row.full)
		return TEL_END;
	j->why = b.bad  ? "an event whose fields do not end within it" :
	    b.p < b.end ? "an event that is longer than its fields" :
	                  NULL;
	*size = (uint32_t)row.size;
	*raw_size = n;
	/* the next one on a multiple of 8 */
	j->used += (row.size + BEHIND + 7) & ~(size_t)7;
	return TEL_OK;
}
