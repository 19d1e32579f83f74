/* SPDX-License-Identifier: BSD-2-Clause */
/* Render programs: making them, and the loop that every event goes through. */
#include "render/program.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "render/escape.h"
#include "render/list.h"
#include "render/number.h"
#include "render/renderer.h"

/* Events of this many bytes or more can be loaded from in place. */
#define WIDE 16

void
tel__render_start(struct render_builder *b, const struct tel_type *type,
    enum render_labels labels)
{
	memset(b, 0, sizeof(*b));
	b->program = calloc(1, sizeof(*b->program));
	if (b->program == NULL) {
		b->failed = 1;
		return;
	}
	b->program->type = type;
	b->program->labels = (uint8_t)labels;
	b->program->narrow = type == NULL || type->size < WIDE;
}

void
tel__render_add_bytes(struct render_builder *b, const void *bytes, size_t n)
{
	tel__buffer_put(&b->literal, bytes, n);
}

void
tel__render_add(struct render_builder *b, const char *s)
{
	tel__render_add_bytes(b, s, strlen(s));
}

static struct render_step *
render_program_add_step(struct render_builder *b)
{
	struct render_program *g = b->program;

	if (b->failed)
		return NULL;
	if (!TEL__RESERVE(g->steps, b->room, g->nsteps + 1)) {
		b->failed = 1;
		return NULL;
	}
	g->room += RENDER_LITERAL + TEL_PUT_MAX;
	memset(&g->steps[g->nsteps], 0, sizeof(*g->steps));
	g->steps[g->nsteps].text[0] = '0';
	g->steps[g->nsteps].digits = 1;
	return &g->steps[g->nsteps++];
}

/* Adds a step with the literal so far, in steps of its own if it is long. */
static struct render_step *
close_literal(struct render_builder *b, enum render_op op)
{
	struct render_step *s;
	size_t done = 0, n;

	for (;;) {
		n = b->literal.used - done;
		s = render_program_add_step(b);
		if (s == NULL)
			return NULL;
		if (n > RENDER_LITERAL)
			n = RENDER_LITERAL;
		if (n > 0)
			memcpy(s->literal, b->literal.bytes + done, n);
		s->length = (uint8_t)n;
		s->op = RENDER_NOTHING;
		done += n;
		if (done == b->literal.used)
			break;
	}
	b->literal.used = 0;
	s->op = (uint8_t)op;
	return s;
}

void
tel__render_add_op(struct render_builder *b, enum render_op op)
{
	(void)close_literal(b, op);
}

/*
 * The eight bytes to load end with the field's last byte: the header before the
 * first field keeps them within the event.  A field closer to the start is at
 * their start; short events are copied to where more bytes follow.
 */
static void
place_window(struct render_step *s, const struct tel_field *f, int narrow)
{
	const int big = f->load == TEL_LOAD_BE16 || f->load == TEL_LOAD_BE16S ||
	    f->load == TEL_LOAD_BE32 || f->load == TEL_LOAD_BE32S ||
	    f->load == TEL_LOAD_BE64;
	const unsigned width = tel__load_width(f->load);
	const unsigned bytes = width < 8 ? 1 : width / 8;

	/* strings and lists */
	if (width == 0)
		return;
	unsigned before = narrow || f->offset + bytes < 8 ? 0 : 8 - bytes;
	unsigned after = 8 - bytes - before;
	s->offset = f->offset - before;
	s->big = (uint8_t)big;
	s->shift = (uint8_t)(8 * (big ? after : before));
	s->mask = bytes == 8 ? UINT64_MAX : ((uint64_t)1 << 8 * bytes) - 1;
	if (f->load == TEL_LOAD_BIT) {
		s->shift = (uint8_t)(s->shift + f->bit);
		s->mask = 1;
	}
}

void
tel__render_add_field(struct render_builder *b, enum render_op op, unsigned i,
    enum render_space space)
{
	struct render_step *s = close_literal(b, op);

	if (s == NULL)
		return;
	place_window(s, &b->program->type->fields[i], b->program->narrow);
	s->field = (uint8_t)i;
	s->space = (uint8_t)space;
}

void
tel__render_add_name(struct render_builder *b, enum render_op op, unsigned name)
{
	struct render_step *s = close_literal(b, op);

	if (s != NULL)
		s->field = (uint8_t)name;
}

void
tel__render_add_if(struct render_builder *b, unsigned i, const char *alt)
{
	const struct tel_type *type =
	    b->program != NULL ? b->program->type : NULL;
	struct tel_field bit = { .load = TEL_LOAD_U8 };
	struct render_step *s, *before;
	size_t n = strlen(alt);

	if (type == NULL || type->fields[i].present == 0)
		return;
	s = close_literal(b, RENDER_IF);
	if (s == NULL)
		return;
	bit.offset = type->fields[i].present_at;
	place_window(s, &bit, b->program->narrow);
	s->mask = type->fields[i].present;
	s->digits = (uint8_t)(n < sizeof(s->text) ? n : sizeof(s->text));
	memcpy(s->text, alt, s->digits);
	b->condition = b->program->nsteps;
	/* fields that are absent together have one condition */
	before = b->ended > 0 ? &b->program->steps[b->ended - 1] : NULL;
	if (before != NULL && before + before->value + 1 == s && n == 0 &&
	    before->digits == 0 && s->length == 0 && before->mask == s->mask &&
	    before->offset == s->offset && before->shift == s->shift) {
		b->program->nsteps--;
		b->condition = b->ended;
	}
}

void
tel__render_end_if(struct render_builder *b)
{
	if (b->failed || b->condition == 0)
		return;
	struct render_step *last = &b->program->steps[b->program->nsteps - 1];
	if (b->literal.used == 1 && last->op >= RENDER_BYTES &&
	    last->space == SPACE_NONE && last->tail == 0) {
		/* a quote */
		last->tail = b->literal.bytes[0];
		b->literal.used = 0;
	}
	if (b->literal.used > 0)
		(void)close_literal(b, RENDER_NOTHING);
	if (!b->failed)
		b->program->steps[b->condition - 1].value =
		    b->program->nsteps - b->condition;
	b->ended = b->condition;
	b->condition = 0;
}

struct render_program *
tel__render_end(struct render_builder *b)
{
	(void)close_literal(b, RENDER_END);
	b->failed |= b->literal.failed;
	tel__buffer_clear(&b->literal);
	if (b->failed) {
		tel__render_free(b->program);
		return NULL;
	}
	/* there may be programs of very many types; it stays larger if not */
	(void)TEL__RESIZE(b->program->steps, b->program->nsteps);
	return b->program;
}

void
tel__render_free(struct render_program *g)
{
	if (g != NULL)
		free(g->steps);
	free(g);
}

/* ------------------------------------------------------------- running */

/* The largest integer up to which a double holds every one. */
#define EXACT_MAX ((uint64_t)1 << 53)

/*
 * Keeps what was written up to p and gives room for n bytes and all that the
 * program still writes; NULL when the output failed.
 */
static unsigned char *
more_room(struct tel_printer *pr, const struct render_program *g,
    unsigned char *p, size_t n)
{
	pr->out->used = (size_t)(p - pr->out->buffer);
	return tel_output_room(pr->out, n + g->room);
}

#define EIGHT_DIGITS ((uint64_t)100000000)

/*
 * Prints v in decimal, and keeps up to 16 digits.  They are made twice, as a
 * copy would wait for what was just stored.
 */
__attribute__((noinline)) static unsigned char *
put_new_decimal(struct render_step *s, unsigned char *p, uint64_t v)
{
	if (v < EIGHT_DIGITS * EIGHT_DIGITS) {
		s->digits = (uint8_t)(tel_put_decimal(s->text, v) - s->text);
		s->value = v;
		s->low = (uint32_t)(v % EIGHT_DIGITS);
	}
	return tel_put_decimal(p, v);
}

/*
 * Prints v in decimal: many large values are that of the event before, or
 * begin like it.
 */
static inline unsigned char *
render_program_put_decimal(struct render_step *s, unsigned char *p, uint64_t v)
{
	const uint64_t low = v - (s->value - s->low);

	if (v < EIGHT_DIGITS)
		return tel_put_decimal(p, v);
	if (v == s->value) {
		memcpy(p, s->text, sizeof(s->text));
		return p + s->digits;
	}
	if (low >= EIGHT_DIGITS)
		return put_new_decimal(s, p, v);
	memcpy(p, s->text, 8);
	tel_put_all_eight(s->text + s->digits - 8, (uint32_t)low);
	s->value = v;
	s->low = (uint32_t)low;
	return tel_put_all_eight(p + s->digits - 8, (uint32_t)low);
}

static inline unsigned char *
put_signed(struct render_step *s, unsigned char *p, uint64_t v)
{
	if (v >> 63) {
		*p++ = '-';
		v = 0 - v;
	}
	return render_program_put_decimal(s, p, v);
}

static unsigned char *
put_exact(struct render_step *s, unsigned char *p, uint64_t v, int negative)
{
	uint64_t magnitude = negative && v >> 63 ? 0 - v : v;
	int quotes = magnitude > EXACT_MAX;

	if (quotes)
		*p++ = '"';
	p = negative ? put_signed(s, p, v) :
	               render_program_put_decimal(s, p, v);
	if (quotes)
		*p++ = '"';
	return p;
}

static unsigned char *
put_json_double(unsigned char *p, uint64_t bits)
{
	if ((bits >> 52 & 0x7ff) != 0x7ff)
		return tel__put_double(p, bits);
	if (bits << 12 != 0) {
		memcpy(p, "\"nan\"", 5);
		return p + 5;
	}
	*p++ = '"';
	p = tel__put_double(p, bits);
	*p++ = '"';
	return p;
}

/* SQLite has no NaN, and reads an infinity from a number that overflows. */
static unsigned char *
put_sql_double(unsigned char *p, uint64_t bits)
{
	if ((bits >> 52 & 0x7ff) != 0x7ff)
		return tel__put_double(p, bits);
	if (bits << 12 != 0) {
		memcpy(p, "NULL", 4);
		return p + 4;
	}
	if (bits >> 63)
		*p++ = '-';
	memcpy(p, "9e999", 5);
	return p + 5;
}

/* A float; put selects how NaN and infinity are shown. */
static unsigned char *
put_float(unsigned char *p, uint64_t bits,
    unsigned char *(*put)(unsigned char *p, uint64_t bits))
{
	const uint64_t d = tel_float_bits((uint32_t)bits);

	return (d >> 52 & 0x7ff) == 0x7ff ?
	    put(p, d) :
	    tel__put_float(p, tel_bits_double(d));
}

/* The code of the event's type in at least four digits. */
static unsigned char *
put_code(unsigned char *p, uint32_t code, unsigned char pad)
{
	for (uint32_t top = 0x1000; top > 1 && code < top; top >>= 4)
		*p++ = pad;
	return tel_put_hex(p, code, TEL_UPPER);
}

/* The wall clock; where it is beyond what can be shown, ticks. */
static unsigned char *
put_wall(struct render_step *s, const struct tel_event *ev, unsigned char *p,
    int json)
{
	int64_t ns;

	if (!tel__clock_wall(ev->log->clock, ev->clock, &ns))
		return json ? put_exact(s, p, ev->clock, 0) :
		              tel_put_hex16(p, ev->clock, TEL_UPPER);
	if (json)
		*p++ = '"';
	p = tel__put_iso(p, ns);
	if (json)
		*p++ = '"';
	return p;
}

static unsigned char *
render_program_put_time(struct tel_printer *pr, struct render_step *s,
    const struct tel_event *ev, unsigned char *p, int json)
{
	uint64_t since;

	/* events without a time are at the start of the log */
	if (tel_event_timeless(ev) && pr->time != TEL_TIME_TICKS)
		return pr->time == TEL_TIME_SECONDS ? tel__put_seconds(p, 0) :
		                                      tel_put_decimal(p, 0);
	switch (pr->time) {
	case TEL_TIME_SECONDS:
		return tel__put_seconds(p,
		    tel__clock_ns(ev->log->clock, ev->clock));
	case TEL_TIME_NS:
		since = (uint64_t)tel__clock_ns(ev->log->clock, ev->clock);
		return json ? put_exact(s, p, since, 1) :
		              put_signed(s, p, since);
	case TEL_TIME_RELATIVE:
		since = tel__clock_origin(ev->log->clock);
		break;
	case TEL_TIME_DELTA:
		since = pr->has_previous ? pr->previous : ev->clock;
		if (since == 0 && ev->type->schema->untimed)
			since = ev->clock;
		break;
	case TEL_TIME_ISO: return put_wall(s, ev, p, json);
	case TEL_TIME_TICKS:
	default: return tel_put_hex16(p, ev->clock, TEL_UPPER);
	}
	/* a difference of 64 bits and a sign: one bit more than fits */
	if (ev->clock < since) {
		since -= ev->clock;
		if (json && since > EXACT_MAX) {
			*p++ = '"';
			*p++ = '-';
			p = render_program_put_decimal(s, p, since);
			*p++ = '"';
			return p;
		}
		*p++ = '-';
		return render_program_put_decimal(s, p, since);
	}
	since = ev->clock - since;
	return json ? put_exact(s, p, since, 0) :
	              render_program_put_decimal(s, p, since);
}

/* The number whose bits under the mask are v, as 64 bits. */
static inline uint64_t
sign_extend(uint64_t v, uint64_t mask)
{
	uint64_t sign = (mask >> 1) + 1;

	return (v ^ sign) - sign;
}

/* A number that is seldom printed, or takes long anyway. */
static unsigned char *
render_program_put_number(struct tel_printer *pr, struct render_step *s,
    const struct tel_event *ev, uint64_t v, unsigned char *p)
{
	switch ((enum render_op)s->op) {
	case RENDER_EXACT_SIGNED:
		return put_exact(s, p, sign_extend(v, s->mask), 1);
	case RENDER_EXACT: return put_exact(s, p, v, 0);
	case RENDER_ONES:
		v = v == 0 ?
		    0 :
		    UINT64_MAX >> (64 - 8 * ev->type->schema->abi.word);
		return tel_put_hex(p, v, TEL_UPPER);
	case RENDER_DOUBLE: return tel__put_double(p, v);
	case RENDER_DOUBLE_10: return tel__put_double_10(p, v);
	case RENDER_DOUBLE_3: return tel__put_double_3(p, v);
	case RENDER_DOUBLE_JSON: return put_json_double(p, v);
	case RENDER_DOUBLE_SQL: return put_sql_double(p, v);
	case RENDER_FLOAT: return put_float(p, v, tel__put_double);
	case RENDER_FLOAT_JSON: return put_float(p, v, put_json_double);
	case RENDER_FLOAT_SQL:
		return put_sql_double(p, tel_float_bits((uint32_t)v));
	case RENDER_CLOCK8:
		v = ev->clock < UINT32_MAX ? ev->clock : UINT32_MAX;
		return tel_put_hex8(p, (uint32_t)v, TEL_UPPER);
	case RENDER_TIME: return render_program_put_time(pr, s, ev, p, 0);
	case RENDER_TIME_JSON: return render_program_put_time(pr, s, ev, p, 1);
	case RENDER_CODE_ZERO: return put_code(p, ev->type->code, '0');
	case RENDER_CODE_BLANK: return put_code(p, ev->type->code, ' ');
	case RENDER_CODE: return tel_put_decimal(p, ev->type->code);
	case RENDER_COUNT: return render_program_put_decimal(s, p, pr->count);
	default: return p;
	}
}

/* The labels that were found in the event, at least one, by their fields. */
__attribute__((noinline)) static unsigned char *
render_program_put_labels(struct tel_printer *pr,
    const struct render_program *g, unsigned char *p)
{
	static const char begin[] = ",\"labels\":{\"";
	const struct tel_field *f;

	for (unsigned i = 0; i < pr->nfound; i++) {
		f = &g->type->fields[pr->found[i].field];
		const struct tel_label *label = &pr->found[i].label;
		p = more_room(pr, g, p,
		    TEL_ESCAPE_ROOM(f->name_length) +
		        TEL_ESCAPE_ROOM(label->length));
		if (p == NULL)
			return NULL;
		memcpy(p, i == 0 ? begin : ",\"", i == 0 ? 12 : 2);
		p += i == 0 ? 12 : 2;
		p = tel__escape_json(p, f->name, f->name_length, 1);
		memcpy(p, "\":\"", 3);
		p = tel__escape_json(p + 3, label->string, label->length,
		    pr->terminal);
		*p++ = '"';
	}
	*p++ = '}';
	return p;
}

/* Prints a list, or a stack.  NULL: the output failed. */
static unsigned char *
render_program_put_list(struct tel_printer *pr, const struct render_program *g,
    const struct render_step *s, const struct tel_event *ev, unsigned char *p)
{
	const struct tel_field *f = &ev->type->fields[s->field];
	struct tel__buffer *b = &pr->list;

	b->used = 0;
	if (s->op >= RENDER_STACK_JSON)
		tel__render_stack(b, ev, tel_load(f, ev->data));
	else
		tel__render_list(b, ev, f,
		    s->op == RENDER_LIST_JSON || s->op == RENDER_LIST_SQL);
	if (b->failed) {
		pr->out->status = TEL_ENOMEM;
		return NULL;
	}
	size_t n = b->used;
	const char *text = (const char *)b->bytes;
	p = more_room(pr, g, p, TEL_ESCAPE_ROOM(n));
	if (p == NULL)
		return NULL;
	if (n == 0 && s->op != RENDER_STACK_CSV) {
		memcpy(p, "null", 4);
		return p + 4;
	}
	if (s->op == RENDER_LIST_CSV || s->op == RENDER_STACK_CSV)
		return tel__escape_csv(p, text, n, 0);
	if (s->op == RENDER_LIST_SQL || s->op == RENDER_STACK_SQL)
		return tel__escape_sql(p, text, n);
	if (s->op != RENDER_LIST_DOUBLED) {
		memcpy(p, text, n);
		return p + n;
	}
	for (; n > 0; n--, text++) {
		*p++ = (unsigned char)*text;
		if (*text == '"')
			*p++ = '"';
	}
	return p;
}

/* Prints the value of an expression.  NULL: it, or the output, failed. */
static unsigned char *
render_program_put_value(struct tel_printer *pr, const struct render_program *g,
    const struct render_step *s, const struct tel_event *ev, unsigned char *p)
{
	const tel_status st =
	    pr->put_value(pr, (enum render_op)s->op, s->field, ev);

	if (st != TEL_OK)
		pr->out->status = st;
	else
		p = more_room(pr, g, p, pr->list.used);
	if (st != TEL_OK || p == NULL)
		return NULL;
	if (pr->list.used > 0)
		memcpy(p, pr->list.bytes, pr->list.used);
	return p + pr->list.used;
}

/*
 * Prints a value without a bound, for which it makes room.  NULL: the output
 * failed.
 */
static unsigned char *
put_long(struct tel_printer *pr, const struct render_program *g,
    const struct render_step *s, const struct tel_event *ev, unsigned char *p)
{
	uint32_t header = ev->type->schema->header;
	/* a type that is not known has no fields */
	const struct tel_field *f = NULL;
	const char *string = (const char *)ev->data + header;
	size_t n = ev->size > header ? ev->size - header : 0;

	if (s->op >= RENDER_LIST_TEXT)
		return render_program_put_list(pr, g, s, ev, p);
	if (s->op >= RENDER_VALUE_TEXT && s->op <= RENDER_VALUE_JSON)
		return render_program_put_value(pr, g, s, ev, p);
	if (s->op != RENDER_BYTES) {
		f = &ev->type->fields[s->field];
		string = tel_load_string(ev, f, &n);
	}
	p = more_room(pr, g, p,
	    TEL_ESCAPE_ROOM(n) +
	        (s->op == RENDER_STRING_CELL ? f->name_length : 0u));
	if (p == NULL)
		return NULL;
	switch ((enum render_op)s->op) {
	case RENDER_STRING_CELL:
		return tel__escape_cell(p, f->name, f->name_length, string, n,
		    pr->terminal);
	case RENDER_STRING_TEXT: return tel__escape_text(p, string, n, 0);
	case RENDER_STRING_DOUBLED: return tel__escape_text(p, string, n, 1);
	case RENDER_STRING_CSV:
		return tel__escape_csv(p, string, n, pr->terminal);
	case RENDER_STRING_JSON:
		return tel__escape_json(p, string, n, pr->terminal);
	case RENDER_STRING_QUOTED:
		return tel__escape_quoted(p, string, n, pr->terminal);
	case RENDER_STRING_SQL: return tel__escape_sql(p, string, n);
	default: return tel__escape_hex(p, (const unsigned char *)string, n);
	}
}

/* A label without bytes to escape; p has room for it. */
static inline unsigned char *
put_plain_label(const struct tel_label *label, int doubled, unsigned char *p)
{
	memcpy(p, "[\"\"", 4);
	p += doubled ? 3 : 2;
	for (size_t i = 0; i < label->length; i += TEL_LABEL_PIECE)
		memcpy(p + i, label->string + i, TEL_LABEL_PIECE);
	p += label->length;
	memcpy(p, doubled ? "\"\"]" : "\"]", 3);
	return p + (doubled ? 3 : 2);
}

/* A label in brackets, in one of the ways that do not wait. */
static unsigned char *
render_program_put_label(struct tel_printer *pr, const struct render_program *g,
    const struct tel_label *label, unsigned char *p)
{
	int mps = g->labels == LABELS_NUMBERED || g->labels == LABELS_TIMELESS;
	int doubled = g->labels == LABELS_DOUBLED;

	p = more_room(pr, g, p, TEL_ESCAPE_ROOM(label->length) + 32);
	if (p == NULL)
		return NULL;
	if (label->plain && !pr->color)
		return put_plain_label(label, doubled, p);
	if (label->string == NULL) {
		memcpy(p, "[unknown label ", 15);
		p += 15;
		p = g->labels == LABELS_TIMELESS ?
		    tel_put_decimal(p, label->id) :
		    tel_put_hex(p, label->id, TEL_UPPER);
		*p++ = ']';
		return p;
	}
	if (pr->color) {
		memcpy(p, "\033[32m", 5);
		p += 5;
	}
	memcpy(p, "[\"\"", 3);
	p += doubled ? 3 : 2;
	p = mps ?
	    tel__escape_quoted(p, label->string, label->length, pr->terminal) :
	    tel__escape_text(p, label->string, label->length, doubled);
	memcpy(p, "\"\"", 2);
	p += doubled ? 2 : 1;
	*p++ = ']';
	if (pr->color) {
		memcpy(p, "\033[0m", 4);
		p += 4;
	}
	return p;
}

/* Puts a quote before the fields of the row, as there is a label. */
static unsigned char *
quote_fields(struct tel_printer *pr, const struct render_program *g,
    unsigned char *p)
{
	unsigned char *fields = pr->row;

	while (*fields != ',')
		fields++;
	fields += g->lead;
	memmove(fields + 1, fields, (size_t)(p - fields));
	*fields = '"';
	pr->quoted = 1;
	return p + 1;
}

/* Looks for the label of the address v and shows it.  NULL: the output failed. */
__attribute__((noinline)) static unsigned char *
put_label_of(struct tel_printer *pr, const struct render_program *g,
    const struct render_step *s, const struct tel_event *ev, uint64_t v,
    unsigned char *p)
{
	enum tel_space space = (enum tel_space)(s->space - 1);
	uint64_t clock = g->labels == LABELS_TIMELESS ? UINT64_MAX : ev->clock;
	struct tel_label label;

	if (g->labels == LABELS_NUMBERED || g->labels == LABELS_TIMELESS) {
		if (!tel__labels_find(ev->log->labels, space, v, clock, &label))
			return p;
		return render_program_put_label(pr, g, &label, p);
	}
	if (!tel_find_label_at(ev, s->field, space, v, &label))
		return p;
	if (label.string == NULL)
		return p;
	if (g->labels != LABELS_COLLECT) {
		if (g->lead > 0 && !pr->quoted)
			p = quote_fields(pr, g, p);
		return render_program_put_label(pr, g, &label, p);
	}
	if (pr->nfound < sizeof(pr->found) / sizeof(pr->found[0])) {
		pr->found[pr->nfound].field = s->field;
		pr->found[pr->nfound].label = label;
		pr->nfound++;
	}
	return p;
}

/* "true" or "false", the first letter as given. */
static inline unsigned char *
put_boolean(unsigned char *p, uint64_t v, const char *yes, const char *no)
{
	if (v != 0) {
		memcpy(p, yes, 4);
		return p + 4;
	}
	memcpy(p, no, 5);
	return p + 5;
}

/* Prints v in hexadecimal and keeps that, as put_new_decimal() does. */
__attribute__((noinline)) static unsigned char *
put_new_hex(struct render_step *s, unsigned char *p, uint64_t v)
{
	s->digits = (uint8_t)(tel_put_hex(s->text, v, TEL_LOWER) - s->text);
	s->value = v;
	return tel_put_hex(p, v, TEL_LOWER);
}

/*
 * Prints v in hexadecimal: many values are that of the event before, and most
 * addresses begin like it.
 */
static inline unsigned char *
render_program_put_hex(struct render_step *s, unsigned char *p, uint64_t v)
{
	if (v == s->value) {
		memcpy(p, s->text, sizeof(s->text));
		return p + s->digits;
	}
	if (s->digits <= 8 || (v ^ s->value) >> 32 != 0)
		return put_new_hex(s, p, v);
	memcpy(p, s->text, 8);
	tel_put_hex8(s->text + s->digits - 8, (uint32_t)v, TEL_LOWER);
	s->value = v;
	return tel_put_hex8(p + s->digits - 8, (uint32_t)v, TEL_LOWER);
}

/* Prints a clock: the upper half of most is that of the one before. */
static inline unsigned char *
render_program_put_clock(struct tel_printer *pr, unsigned char *p,
    uint64_t clock)
{
	const uint32_t high = (uint32_t)(clock >> 32);

	if (high != pr->clock_high) {
		tel_put_hex8(pr->clock_text, high, TEL_UPPER);
		pr->clock_high = high;
	}
	memcpy(p, pr->clock_text, 8);
	return tel_put_hex8(p + 8, (uint32_t)clock, TEL_UPPER);
}

__attribute__((noinline)) static void
put_clock_digits(struct tel_printer *pr, uint64_t clock)
{
	const uint64_t high = clock / EIGHT_DIGITS;

	pr->clock_base = high * EIGHT_DIGITS;
	pr->nclock_digits = (unsigned)(tel_put_decimal(pr->clock_digits, high) -
	    pr->clock_digits);
}

/* The same in decimal: all but its last digits are those of the one before. */
__attribute__((noinline)) static unsigned char *
put_clock_decimal(struct tel_printer *pr, struct render_step *s,
    unsigned char *p, uint64_t clock)
{
	if (clock < EIGHT_DIGITS)
		return tel_put_decimal(p, clock);
	if (clock > EXACT_MAX && s->op != RENDER_CLOCK_DECIMAL)
		return s->op == RENDER_CLOCK_EXACT ? put_exact(s, p, clock, 0) :
		                                     put_signed(s, p, clock);
	if (clock - pr->clock_base >= EIGHT_DIGITS)
		put_clock_digits(pr, clock);
	memcpy(p, pr->clock_digits, sizeof(pr->clock_digits));
	return tel_put_all_eight(p + pr->nclock_digits,
	    (uint32_t)(clock - pr->clock_base));
}

tel_status
tel__render_run(struct tel_printer *pr, const struct render_program *g,
    const struct tel_event *ev)
{
	const struct tel_labels *labels = ev->log->labels;
	const unsigned char *data = ev->data, *q;
	unsigned char *p = tel_output_room(pr->out, g->room);
	struct render_step *s;
	uint64_t v;

	if (p == NULL)
		return pr->out->status;
	if (g->narrow) {
		memset(pr->narrow, 0, sizeof(pr->narrow));
		memcpy(pr->narrow, data, ev->size < 16 ? ev->size : 16);
		data = pr->narrow;
	}
	pr->nfound = 0;
	pr->row = p;
	for (s = g->steps; s->op != RENDER_END; s++) {
		/* fixed sizes, as a copy of few bytes takes longer */
		memcpy(p, s->literal, 16);
		if (s->length > 16)
			memcpy(p + 16, s->literal + 16, RENDER_LITERAL - 16);
		p += s->length;
		q = data + s->offset;
		v = (s->big ? tel_be64(q) : tel_le64(q)) >> s->shift & s->mask;
		switch ((enum render_op)s->op) {
		case RENDER_HEX: p = render_program_put_hex(s, p, v); break;
		case RENDER_UPPER: p = tel_put_hex(p, v, TEL_UPPER); break;
		case RENDER_UPPER16: p = tel_put_hex16(p, v, TEL_UPPER); break;
		case RENDER_UPPER8:
			p = tel_put_hex8(p, (uint32_t)v, TEL_UPPER);
			break;
		case RENDER_CLOCK:
			p = render_program_put_clock(pr, p, ev->clock);
			break;
		case RENDER_CLOCK_EXACT:
		case RENDER_CLOCK_DECIMAL:
		case RENDER_CLOCK_SIGNED:
			p = put_clock_decimal(pr, s, p, ev->clock);
			break;
		case RENDER_DECIMAL:
			p = render_program_put_decimal(s, p, v);
			break;
		case RENDER_SIGNED:
			p = put_signed(s, p, sign_extend(v, s->mask));
			break;
		case RENDER_BOOLEAN:
			p = put_boolean(p, v, "true", "false");
			break;
		case RENDER_TITLE:
			p = put_boolean(p, v, "True", "False");
			break;
		case RENDER_NOTHING: break;
		case RENDER_LABELS:
			if (pr->nfound > 0)
				p = render_program_put_labels(pr, g, p);
			if (p == NULL)
				return pr->out->status;
			break;
		case RENDER_IF:
			if (v != 0)
				break;
			memcpy(p, s->text, sizeof(s->text));
			p += s->digits;
			s += s->value;
			continue;
		default:
			p = s->op >= RENDER_BYTES ?
			    put_long(pr, g, s, ev, p) :
			    render_program_put_number(pr, s, ev, v, p);
			if (p == NULL)
				return pr->out->status;
			*p = s->tail;
			p += s->tail != 0;
		}
		if (s->space != SPACE_NONE &&
		    (s->space >= SPACE_STACK || ev->inline_size != 0 ||
		        tel__labels_could_have(labels, v))) {
			p = put_label_of(pr, g, s, ev, v, p);
			if (p == NULL)
				return pr->out->status;
		}
	}
	if (__builtin_expect(pr->quoted, 0)) {
		*p++ = '"';
		pr->quoted = 0;
	}
	memcpy(p, s->literal, RENDER_LITERAL);
	p += s->length;
	pr->out->used = (size_t)(p - pr->out->buffer);
	pr->previous = ev->clock;
	pr->has_previous = 1;
	return TEL_OK;
}
