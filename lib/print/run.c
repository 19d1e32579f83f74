/* SPDX-License-Identifier: BSD-2-Clause */
/* Running print programs: the loop that every event goes through. */
#include "print/escape.h"
#include "print/number.h"
#include "print/printer.h"

/* The largest integer up to which a double holds every one. */
#define EXACT_MAX ((uint64_t)1 << 53)

/*
 * Keeps what was written up to p and gives room for n bytes and all that the
 * program still writes; NULL when the output failed.
 */
static unsigned char *
more_room(struct tel_printer *pr, const struct print_program *g,
    unsigned char *p, size_t n)
{
	pr->out->used = (size_t)(p - pr->out->buffer);
	return tel_output_room(pr->out, n + g->room);
}

static unsigned char *
put_exact(unsigned char *p, uint64_t v, int negative)
{
	uint64_t magnitude = negative && v >> 63 ? 0 - v : v;
	int quotes = magnitude > EXACT_MAX;

	if (quotes)
		*p++ = '"';
	p = negative ? tel_put_signed(p, v) : tel_put_decimal(p, v);
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

/* The code of the event's type in at least four digits. */
static unsigned char *
put_code(unsigned char *p, uint32_t code, unsigned char pad)
{
	uint32_t top;

	for (top = 0x1000; top > 1 && code < top; top >>= 4)
		*p++ = pad;
	return tel_put_hex(p, code, TEL_UPPER);
}

static unsigned char *
put_time(struct tel_printer *pr, const struct tel_event *ev, unsigned char *p,
    int json)
{
	uint64_t since;

	/* what has no time is where the log begins */
	if (tel_event_timeless(ev) && pr->time != TEL_TIME_TICKS)
		return pr->time == TEL_TIME_SECONDS ? tel__put_seconds(p, 0) :
		                                      tel_put_decimal(p, 0);
	switch (pr->time) {
	case TEL_TIME_SECONDS:
		return tel__put_seconds(p,
		    tel__clock_ns(ev->log->clock, ev->clock));
	case TEL_TIME_NS:
		since = (uint64_t)tel__clock_ns(ev->log->clock, ev->clock);
		return json ? put_exact(p, since, 1) : tel_put_signed(p, since);
	case TEL_TIME_RELATIVE:
		since = tel__clock_origin(ev->log->clock);
		break;
	case TEL_TIME_DELTA:
		since = pr->has_previous ? pr->previous : ev->clock;
		if (since == 0 && ev->log->schema->untimed)
			since = ev->clock;
		break;
	case TEL_TIME_TICKS:
	case TEL_TIME_ISO:
	default: return tel_put_hex16(p, ev->clock, TEL_UPPER);
	}
	/* a difference of 64 bits and a sign: one bit more than fits */
	if (ev->clock < since) {
		since -= ev->clock;
		if (json && since > EXACT_MAX) {
			*p++ = '"';
			*p++ = '-';
			p = tel_put_decimal(p, since);
			*p++ = '"';
			return p;
		}
		*p++ = '-';
		return tel_put_decimal(p, since);
	}
	since = ev->clock - since;
	return json ? put_exact(p, since, 0) : tel_put_decimal(p, since);
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
put_number(struct tel_printer *pr, const struct print_step *s,
    const struct tel_event *ev, uint64_t v, unsigned char *p)
{
	switch ((enum print_op)s->op) {
	case PRINT_EXACT_SIGNED:
		return put_exact(p, sign_extend(v, s->mask), 1);
	case PRINT_EXACT: return put_exact(p, v, 0);
	case PRINT_ONES:
		v = v == 0 ? 0 :
		             UINT64_MAX >> (64 - 8 * ev->log->schema->abi.word);
		return tel_put_hex(p, v, TEL_UPPER);
	case PRINT_DOUBLE: return tel__put_double(p, v);
	case PRINT_DOUBLE_10: return tel__put_double_10(p, v);
	case PRINT_DOUBLE_3: return tel__put_double_3(p, v);
	case PRINT_DOUBLE_JSON: return put_json_double(p, v);
	case PRINT_DOUBLE_SQL: return put_sql_double(p, v);
	case PRINT_CLOCK8:
		v = ev->clock < UINT32_MAX ? ev->clock : UINT32_MAX;
		return tel_put_hex8(p, (uint32_t)v, TEL_UPPER);
	case PRINT_CLOCK_EXACT: return put_exact(p, ev->clock, 0);
	case PRINT_CLOCK_DECIMAL: return tel_put_decimal(p, ev->clock);
	case PRINT_CLOCK_SIGNED: return tel_put_signed(p, ev->clock);
	case PRINT_TIME: return put_time(pr, ev, p, 0);
	case PRINT_TIME_JSON: return put_time(pr, ev, p, 1);
	case PRINT_CODE_ZERO: return put_code(p, ev->type->code, '0');
	case PRINT_CODE_BLANK: return put_code(p, ev->type->code, ' ');
	case PRINT_CODE: return tel_put_decimal(p, ev->type->code);
	default: return p;
	}
}

/* The labels that were found in the event, by the names of their fields. */
static unsigned char *
put_labels(struct tel_printer *pr, const struct print_program *g,
    unsigned char *p)
{
	static const char begin[] = ",\"labels\":{\"";
	const struct tel_field *f;
	const struct tel_label *label;
	unsigned i;

	for (i = 0; i < pr->nfound; i++) {
		f = &g->type->fields[pr->found[i].field];
		label = &pr->found[i].label;
		p = more_room(pr, g, p,
		    TEL_ESCAPE_ROOM(f->name_length) +
		        TEL_ESCAPE_ROOM(label->length));
		if (p == NULL)
			return NULL;
		memcpy(p, i == 0 ? begin : ",\"", i == 0 ? 12 : 2);
		p += i == 0 ? 12 : 2;
		p = tel__escape_json(p, f->name, f->name_length, 0);
		memcpy(p, "\":\"", 3);
		p = tel__escape_json(p + 3, label->string, label->length,
		    pr->terminal);
		*p++ = '"';
	}
	if (pr->nfound > 0)
		*p++ = '}';
	return p;
}

/* What has no bound: asks for room of its own.  NULL: the output failed. */
static unsigned char *
put_long(struct tel_printer *pr, const struct print_program *g,
    const struct print_step *s, const struct tel_event *ev, unsigned char *p)
{
	uint32_t header = ev->log->schema->header;
	/* a type that is not known has no fields */
	const struct tel_field *f = NULL;
	const char *string = (const char *)ev->data + header;
	size_t n = ev->size > header ? ev->size - header : 0;

	if (s->op == PRINT_LABELS)
		return put_labels(pr, g, p);
	if (s->op != PRINT_BYTES) {
		f = &ev->type->fields[s->field];
		string = tel_load_string(ev, f, &n);
	}
	p = more_room(pr, g, p,
	    TEL_ESCAPE_ROOM(n) +
	        (s->op == PRINT_STRING_CELL ? f->name_length : 0u));
	if (p == NULL)
		return NULL;
	switch ((enum print_op)s->op) {
	case PRINT_STRING_CELL:
		return tel__escape_cell(p, f->name, f->name_length, string, n,
		    pr->terminal);
	case PRINT_STRING_TEXT: return tel__escape_text(p, string, n, 0);
	case PRINT_STRING_DOUBLED: return tel__escape_text(p, string, n, 1);
	case PRINT_STRING_CSV:
		return tel__escape_csv(p, string, n, pr->terminal);
	case PRINT_STRING_JSON:
		return tel__escape_json(p, string, n, pr->terminal);
	case PRINT_STRING_MPS:
		return tel__escape_mps(p, string, n, pr->terminal);
	case PRINT_STRING_SQL: return tel__escape_sql(p, string, n);
	default: return tel__escape_hex(p, (const unsigned char *)string, n);
	}
}

/* A label of bytes that stand for themselves, p having room for it. */
static inline unsigned char *
put_plain_label(const struct tel_label *label, int doubled, unsigned char *p)
{
	size_t i;

	memcpy(p, "[\"\"", 4);
	p += doubled ? 3 : 2;
	for (i = 0; i < label->length; i += TEL_LABEL_PIECE)
		memcpy(p + i, label->string + i, TEL_LABEL_PIECE);
	p += label->length;
	memcpy(p, doubled ? "\"\"]" : "\"]", 3);
	return p + (doubled ? 3 : 2);
}

/* A label in brackets, in one of the ways that do not wait. */
static unsigned char *
put_label(struct tel_printer *pr, const struct print_program *g,
    const struct tel_label *label, unsigned char *p)
{
	int mps = g->labels == LABELS_MPS || g->labels == LABELS_MPS_OLD;
	int doubled = g->labels == LABELS_DOUBLED;

	p = more_room(pr, g, p, TEL_ESCAPE_ROOM(label->length) + 32);
	if (p == NULL)
		return NULL;
	if (label->plain && !pr->color)
		return put_plain_label(label, doubled, p);
	if (label->string == NULL) {
		memcpy(p, "[unknown label ", 15);
		p += 15;
		p = g->labels == LABELS_MPS_OLD ?
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
	    tel__escape_mps(p, label->string, label->length, pr->terminal) :
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

/*
 * Looks for the label of the address v and shows it.  NULL: the output
 * failed, or *stop was set because the program stops at labels.
 */
static unsigned char *
put_label_of(struct tel_printer *pr, const struct print_program *g,
    const struct print_step *s, const struct tel_event *ev, uint64_t v,
    unsigned char *p, int *stop)
{
	enum tel_space space = (enum tel_space)(s->space - 1);
	uint64_t clock = g->labels == LABELS_MPS_OLD ? UINT64_MAX : ev->clock;
	struct tel_label label;

	if (g->labels == LABELS_MPS || g->labels == LABELS_MPS_OLD) {
		if (!tel__labels_find(ev->log->labels, space, v, clock, &label))
			return p;
		return put_label(pr, g, &label, p);
	}
	if (!tel_find_label_at(ev, s->field, space, v, &label))
		return p;
	if (label.string == NULL)
		return p;
	switch ((enum print_labels)g->labels) {
	case LABELS_STOP: *stop = 1; return NULL;
	case LABELS_COLLECT:
		if (pr->nfound < sizeof(pr->found) / sizeof(pr->found[0])) {
			pr->found[pr->nfound].field = s->field;
			pr->found[pr->nfound].label = label;
			pr->nfound++;
		}
		return p;
	default: return put_label(pr, g, &label, p);
	}
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

tel_status
tel__print_run(struct tel_printer *pr, const struct print_program *g,
    const struct tel_event *ev)
{
	const int labelled =
	    ev->notes_size != 0 || tel__labels_count(ev->log->labels) != 0;
	const unsigned char *data = ev->data, *q;
	unsigned char *p = tel_output_room(pr->out, g->room);
	const struct print_step *s;
	unsigned char copy[32] = { 0 };
	int stop = 0;
	uint64_t v;

	if (p == NULL)
		return pr->out->status;
	if (g->narrow) {
		memcpy(copy, data, ev->size < 16 ? ev->size : 16);
		data = copy;
	}
	pr->nfound = 0;
	for (s = g->steps; s->op != PRINT_END; s++) {
		/* fixed sizes, as a copy of few bytes takes longer */
		memcpy(p, s->literal, 16);
		if (s->length > 16)
			memcpy(p + 16, s->literal + 16, PRINT_LITERAL - 16);
		p += s->length;
		q = data + s->offset;
		v = (s->big ? tel_be64(q) : tel_le64(q)) >> s->shift & s->mask;
		switch ((enum print_op)s->op) {
		case PRINT_HEX: p = tel_put_hex(p, v, TEL_LOWER); break;
		case PRINT_UPPER: p = tel_put_hex(p, v, TEL_UPPER); break;
		case PRINT_UPPER16: p = tel_put_hex16(p, v, TEL_UPPER); break;
		case PRINT_UPPER8:
			p = tel_put_hex8(p, (uint32_t)v, TEL_UPPER);
			break;
		case PRINT_CLOCK:
			p = tel_put_hex16(p, ev->clock, TEL_UPPER);
			break;
		case PRINT_DECIMAL: p = tel_put_decimal(p, v); break;
		case PRINT_SIGNED:
			p = tel_put_signed(p, sign_extend(v, s->mask));
			break;
		case PRINT_BOOLEAN:
			p = put_boolean(p, v, "true", "false");
			break;
		case PRINT_TITLE: p = put_boolean(p, v, "True", "False"); break;
		case PRINT_NOTHING: break;
		default:
			p = s->op >= PRINT_BYTES ? put_long(pr, g, s, ev, p) :
			                           put_number(pr, s, ev, v, p);
			if (p == NULL)
				return pr->out->status;
		}
		if (labelled && s->space != SPACE_NONE) {
			p = put_label_of(pr, g, s, ev, v, p, &stop);
			if (p == NULL)
				return stop ? TEL_END : pr->out->status;
		}
	}
	memcpy(p, s->literal, PRINT_LITERAL);
	p += s->length;
	pr->out->used = (size_t)(p - pr->out->buffer);
	pr->previous = ev->clock;
	pr->has_previous = 1;
	return TEL_OK;
}
