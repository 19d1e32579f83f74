/* SPDX-License-Identifier: BSD-2-Clause */
#include "format/ctf/decode.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/utf8.h"
#include "base/bytes.h"
#include "render/escape.h"
#include "render/number.h"

/* What becomes of values: fields, JSON, or the strings of a list. */
enum { AS_FIELD, AS_JSON, AS_ELEMENT };

static enum ctf_result ctf_decode_execute(struct ctf_cursor *c,
    const struct ctf_step *s, int text);

static const char too_large[] = "an event of more than 16 MiB";

static enum ctf_result
bad(struct ctf_cursor *c, const char *why)
{
	c->why = why;
	return CTF_BAD;
}

/* What it means that n more bits are not in the window. */
static enum ctf_result
missing(struct ctf_cursor *c, uint64_t n)
{
	if (n > c->content - c->at)
		return bad(c, "a field ends behind the packet's content");
	return CTF_MORE;
}

static inline int
has_bits(const struct ctf_cursor *c, uint64_t n)
{
	return c->at <= c->end && n <= c->end - c->at;
}

/* Where the next bit is; an empty window has no bytes. */
static inline const unsigned char *
ctf_decode_byte_at(const struct ctf_cursor *c)
{
	return c->at < c->end ? c->bytes + (c->at / 8 - c->start) : NULL;
}

/* ------------------------------------------------------------------ copies */

static unsigned
get_bit(const unsigned char *p, uint64_t at, int big)
{
	return (unsigned)p[at / 8] >> (big ? 7 - at % 8 : at % 8) & 1u;
}

static void
set_bit(unsigned char *p, uint64_t at, int big, unsigned bit)
{
	const unsigned shift = (unsigned)(big ? 7 - at % 8 : at % 8);

	p[at / 8] =
	    (unsigned char)((p[at / 8] & ~(1u << shift)) | bit << shift);
}

/* Room up to a bit.  1, or 0: no memory. */
static int
copy_room(struct ctf_bits *out, uint64_t end)
{
	const size_t need = (size_t)(end / 8 + 1);

	if (!out->failed && !TEL__RESERVE_ZEROED(out->bytes, out->room, need))
		out->failed = 1;
	return !out->failed;
}

/* Writes the next n bits, before they are stepped over. */
static void
copy_bits(struct ctf_cursor *c, uint64_t n, int big)
{
	struct ctf_bits *out = c->copy;
	const unsigned char *p = n > 0 ? ctf_decode_byte_at(c) : NULL;

	if (n == 0 || !copy_room(out, out->at + n))
		return;
	if (c->at % 8 == 0 && out->at % 8 == 0 && n % 8 == 0)
		memcpy(out->bytes + out->at / 8, p, (size_t)(n / 8));
	else
		for (uint64_t i = 0; i < n; i++)
			set_bit(out->bytes, out->at + i, big,
			    get_bit(p, c->at % 8 + i, big));
	out->at += n;
}

/* Steps over the next n bits, which are there. */
static inline void
ctf_decode_step_over(struct ctf_cursor *c, uint64_t n)
{
	if (c->copy != NULL)
		copy_bits(c, n, 0);
	c->at += n;
}

static inline void
step_align(struct ctf_cursor *c, uint32_t bits)
{
	struct ctf_bits *out = c->copy;

	c->at = (c->at + bits - 1) & ~(uint64_t)(bits - 1);
	if (out == NULL)
		return;
	uint64_t at = (out->at + bits - 1) & ~(uint64_t)(bits - 1);
	if (copy_room(out, at))
		out->at = at;
}

void
tel__ctf_bits_back(struct ctf_bits *out, uint64_t at)
{
	const size_t from = (size_t)(at / 8);

	if (out->at <= at)
		return;
	memset(out->bytes + from + 1, 0, (size_t)(out->at / 8) - from);
	out->at = at;
}

static uint64_t
reverse_bits(uint64_t v, unsigned n)
{
	uint64_t reversed = 0;

	for (unsigned i = 0; i < n; i++)
		reversed |= (v >> i & 1) << (n - 1 - i);
	return reversed;
}

void
tel__ctf_put_bits(struct ctf_bits *out, uint64_t at,
    const struct ctf_class *class, int native_big, uint64_t v)
{
	const int big = class->order == CTF_BIG ||
	    (class->order == CTF_NATIVE && native_big);

	if (!copy_room(out, at + class->size))
		return;
	if (class->kind == CTF_VARINT) {
		/* in as many bytes as the number there has */
		unsigned char *p = out->bytes + at / 8;

		for (; *p >> 7 != 0; v >>= 7)
			*p++ = (unsigned char)(0x80 | v);
		*p = v & 0x7f;
		return;
	}
	if (class->reversed)
		v = reverse_bits(v, class->size);
	for (unsigned i = 0; i < class->size; i++)
		set_bit(out->bytes, at + (big ? class->size - 1u - i : i), big,
		    v >> i & 1);
}

/* ----------------------------------------------------------------- numbers */

/* n bits from the next one on, 1 to 64, which are in the window. */
static uint64_t
load_bits(const struct ctf_cursor *c, unsigned n, int big)
{
	const unsigned char *p = ctf_decode_byte_at(c);
	const unsigned shift = (unsigned)(c->at % 8);
	const int longer = shift + n > 64;

	if (big) {
		uint64_t v = tel_be64(p) << shift;

		if (longer)
			v |= (uint64_t)p[8] >> (8 - shift);
		return v >> (64 - n);
	}
	uint64_t v = tel_le64(p) >> shift;
	if (longer)
		v |= (uint64_t)p[8] << (64 - shift);
	return n < 64 ? v & (((uint64_t)1 << n) - 1) : v;
}

/* The bits of a number of up to 64 bits. */
static uint64_t
load_fixed(const struct ctf_cursor *c, const struct ctf_class *class, int big)
{
	const uint64_t v = load_bits(c, class->size, big);

	return class->reversed ? reverse_bits(v, class->size) : v;
}

/* IEEE 754 of another size than 32 and 64 bits, as a double. */
static double
load_float(const struct ctf_cursor *c, const struct ctf_class *class, int big)
{
	const unsigned n = class->size;
	const unsigned exponent_bits = n == 16 ? 5 :
	    n == 80 || n == 96 || n == 128     ? 15 :
	                                         11;
	struct ctf_cursor part = *c;
	uint64_t top, exponent, fraction;
	double value;

	/* the sign, the exponent and the first bits of the fraction */
	if (n <= 64) {
		top = load_fixed(c, class, big) << (64 - n);
	} else {
		part.at = big ? c->at : c->at + n - 64;
		top = load_bits(&part, 64, big);
	}
	exponent = top << 1 >> (64 - exponent_bits);
	/* that of 80 bits has its integer bit */
	fraction = top << (1 + exponent_bits + (n == 80));
	if (exponent == ((uint64_t)1 << exponent_bits) - 1)
		value = fraction != 0 ? (double)NAN : (double)INFINITY;
	else
		value =
		    ldexp((double)(fraction >> 12) * 0x1p-52 + (exponent != 0),
		        (int)exponent - (1 << (exponent_bits - 1)) + 1 +
		            (exponent == 0));
	return top >> 63 ? -value : value;
}

/* LEB128.  CTF_DONE with *value and *bits set. */
static enum ctf_result
load_varint(struct ctf_cursor *c, int is_signed, uint64_t *value,
    unsigned *bits)
{
	const unsigned char *p = ctf_decode_byte_at(c);
	unsigned n = 0;

	*value = 0;
	*bits = 0;
	do {
		if (!has_bits(c, 8 * ((uint64_t)n + 1)))
			return missing(c, 8 * ((uint64_t)n + 1));
		if (*bits < 64)
			*value |= (uint64_t)(p[n] & 0x7f) << *bits;
		if (n == 10)
			return bad(c, "an integer of more than 64 bits");
		*bits += 7;
	} while (p[n++] >> 7 != 0);
	if (is_signed && *bits < 64 && (*value >> (*bits - 1) & 1) != 0)
		*value |= UINT64_MAX << *bits;
	ctf_decode_step_over(c, 8 * (uint64_t)n);
	return CTF_DONE;
}

/* Takes a number; floats are the bits of a double. */
static enum ctf_result
ctf_decode_take_number(struct ctf_cursor *c, const struct ctf_step *s,
    uint64_t *value)
{
	const struct ctf_class *class = s->class;
	const int big =
	    class->order == CTF_BIG || (class->order == CTF_NATIVE && c->big);
	unsigned bits = class->size, role;
	enum ctf_result result;
	const uint64_t to = c->copy != NULL ? c->copy->at : 0;

	if (c->copy != NULL && class->kind != CTF_VARINT && has_bits(c, bits))
		copy_bits(c, bits, big);
	if (class->kind == CTF_VARINT) {
		result = load_varint(c, class->is_signed, value, &bits);
		if (result != CTF_DONE)
			return result;
	} else if (!has_bits(c, bits)) {
		return missing(c, bits);
	} else if (class->kind == CTF_FLOAT) {
		*value = bits == 64 ?
		    load_fixed(c, class, big) :
		    bits == 32 ?
		    tel_float_bits((uint32_t)load_fixed(c, class, big)) :
		    tel_double_bits(load_float(c, class, big));
		c->at += bits;
		return CTF_DONE;
	} else {
		*value = load_fixed(c, class, big);
		c->at += bits;
		if (class->is_boolean)
			*value = *value != 0;
		if (class->is_signed && bits < 64 &&
		    (*value >> (bits - 1) & 1) != 0)
			*value |= UINT64_MAX << bits;
	}
	if (s->clock != NULL)
		ctf_set_clock(c, *value, bits);
	if (s->slot != 0)
		c->slots[s->slot] = *value;
	for (role = 0; s->roles >> role != 0; role++)
		if ((s->roles >> role & 1) != 0) {
			c->roles[role] = *value;
			c->seen |= 1u << role;
			if (c->copy != NULL) {
				c->copy->role_at[role] = to;
				c->copy->role_class[role] = class;
			}
		}
	return CTF_DONE;
}

/* -------------------------------------------------------------- the record */

static unsigned char *
cell(const struct ctf_cursor *c, uint32_t to)
{
	return c->out->bytes + c->record + to;
}

static void
ctf_decode_put_number(unsigned char *to, uint64_t v, unsigned bits)
{
	for (unsigned i = 0; i < bits; i += 8)
		*to++ = (unsigned char)(v >> i);
}

/* Room for n bytes behind the record; NULL, and c->full is set: none. */
static unsigned char *
ctf_decode_more_room(struct ctf_cursor *c, size_t n)
{
	unsigned char *to = NULL;

	if (n > CTF_RECORD_MAX || c->out->used - c->record > CTF_RECORD_MAX - n)
		c->full = bad(c, too_large);
	else if (c->full == CTF_DONE &&
	    (to = tel__buffer_room(c->out, n + 1)) == NULL)
		c->full = CTF_MEMORY;
	return to;
}

/* Sets a cell to the place of what comes next behind the record. */
static void
point_cell(struct ctf_cursor *c, uint32_t to)
{
	if (to != CTF_NOWHERE)
		ctf_decode_put_number(cell(c, to), c->out->used - c->record,
		    32);
}

static void
ctf_decode_add_bytes(struct ctf_cursor *c, const void *p, size_t n)
{
	unsigned char *to = ctf_decode_more_room(c, n);

	if (to == NULL)
		return;
	if (n > 0)
		memcpy(to, p, n);
	c->out->used += n;
}

static void
add_text(struct ctf_cursor *c, const char *text)
{
	ctf_decode_add_bytes(c, text, strlen(text));
}

/* Adds bytes as a JSON string. */
static void
ctf_decode_add_quoted(struct ctf_cursor *c, const unsigned char *p, size_t n)
{
	char escape[8];

	add_text(c, "\"");
	for (size_t i = 0; i < n; i++)
		if (p[i] < 0x20 || p[i] == '"' || p[i] == '\\' ||
		    p[i] == 0x7f) {
			snprintf(escape, sizeof(escape), "\\u%04x", p[i]);
			add_text(c, escape);
		} else {
			ctf_decode_add_bytes(c, p + i, 1);
		}
	add_text(c, "\"");
}

/* The names of a value of an enum, with commas between them. */
static void
add_labels(struct ctf_cursor *c, const struct ctf_class *class, uint64_t v)
{
	const struct ctf_label *l;
	const char *between = "";

	for (l = class->labels; l != NULL; l = l->next) {
		if (!ctf_is_within(&l->range, v, class->is_signed))
			continue;
		add_text(c, between);
		add_text(c, l->name);
		between = ",";
	}
}

static void
add_json_number(struct ctf_cursor *c, const struct ctf_class *class, uint64_t v)
{
	char text[TEL_PUT_MAX];

	if (class->kind == CTF_FLOAT && !isfinite(tel_bits_double(v))) {
		add_text(c, "null");
	} else if (class->is_enum &&
	    tel__ctf_in_range(class->labels, v, class->is_signed)) {
		add_text(c, "\"");
		add_labels(c, class, v);
		add_text(c, "\"");
	} else if (class->is_boolean) {
		add_text(c, v != 0 ? "true" : "false");
	} else {
		if (class->kind == CTF_FLOAT)
			*tel__put_general((unsigned char *)text, 17,
			    tel_bits_double(v)) = '\0';
		else
			snprintf(text, sizeof(text),
			    class->is_signed ? "%" PRId64 : "%" PRIu64, v);
		add_text(c, text);
	}
}

/* ------------------------------------------------------------------- steps */

static enum ctf_result
step_number(struct ctf_cursor *c, const struct ctf_step *s, int text)
{
	uint64_t v = 0;
	enum ctf_result result = ctf_decode_take_number(c, s, &v);

	if (result != CTF_DONE)
		return result;
	if (text) {
		add_json_number(c, s->class, v);
		return c->full;
	}
	if (s->to != CTF_NOWHERE)
		ctf_decode_put_number(cell(c, s->to),
		    s->class->kind == CTF_FLOAT && s->width == 32 ?
		        tel_bits_float(v) :
		        v,
		    s->width);
	if (s->label_to == CTF_NOWHERE)
		return CTF_DONE;
	size_t start = c->out->used;
	add_labels(c, s->class, v);
	if (c->out->used == start)
		return c->full;
	ctf_decode_put_number(cell(c, s->label_to), start - c->record, 32);
	*cell(c, s->labelled_at) |= s->labelled;
	ctf_decode_add_bytes(c, "", 1);
	return c->full;
}

/* Where a text of n bytes ends, in units of the encoding. */
static size_t
find_nul(const unsigned char *p, size_t n, unsigned unit)
{
	size_t i;

	if (unit == 1) {
		const unsigned char *nul = n > 0 ? memchr(p, 0, n) : NULL;

		return nul != NULL ? (size_t)(nul - p) : n;
	}
	for (i = 0; n - i >= unit; i += unit)
		if (p[i] == 0 && p[i + 1] == 0 &&
		    (unit == 2 || (p[i + 2] == 0 && p[i + 3] == 0)))
			break;
	return i;
}

/* Adds UTF-16 or UTF-32 as UTF-8. */
static void
add_units(struct ctf_cursor *c, const struct ctf_class *class,
    const unsigned char *p, size_t n)
{
	const size_t unit = class->encoding / 8u;
	const int big = class->big_units;
	unsigned char utf8[TEL__UTF8_MAX];
	uint32_t u, low;

	for (size_t i = 0; n - i >= unit; i += unit) {
		u = unit == 4 ? (big ? tel_be32(p + i) : tel_le32(p + i)) :
		                (big ? tel_be16(p + i) : tel_le16(p + i));
		if (unit == 2 && u >= 0xd800 && u < 0xdc00 && n - i >= 4) {
			low = big ? tel_be16(p + i + 2) : tel_le16(p + i + 2);
			if (low >= 0xdc00 && low < 0xe000) {
				u = tel__utf16_pair(u, low);
				i += 2;
			}
		}
		if (u > 0x10ffff || (u >= 0xd800 && u < 0xe000))
			u = 0xfffd;
		ctf_decode_add_bytes(c, utf8,
		    (size_t)(tel__utf8_put(utf8, u) - utf8));
	}
}

/* Adds bytes in hexadecimal. */
static void
add_hex(struct ctf_cursor *c, const unsigned char *p, size_t n)
{
	unsigned char *to =
	    ctf_decode_more_room(c, n < SIZE_MAX / 2 ? 2 * n : SIZE_MAX);

	if (to != NULL)
		c->out->used += (size_t)(tel__escape_hex(to, p, n) - to);
}

/* Puts n bytes of a text or a blob where the step has it. */
static enum ctf_result
put_bytes(struct ctf_cursor *c, const struct ctf_step *s,
    const unsigned char *p, size_t n, int as)
{
	const struct ctf_class *class = s->class;
	const int blob = class->kind == CTF_BYTES && !class->is_text;

	if (blob && (class->roles & CTF_ROLE_UUID) != 0 && n == 16)
		c->uuid = p;
	if (as == AS_FIELD && s->to == CTF_NOWHERE)
		return CTF_DONE;
	if (as == AS_FIELD)
		point_cell(c, s->to);
	if (as == AS_JSON && !blob && class->encoding == 8) {
		ctf_decode_add_quoted(c, p, n);
		return c->full;
	}
	if (as == AS_JSON)
		add_text(c, "\"");
	if (blob)
		add_hex(c, p, n);
	else if (class->encoding == 8)
		ctf_decode_add_bytes(c, p, n);
	else
		add_units(c, class, p, n);
	ctf_decode_add_bytes(c, as == AS_JSON ? "\"" : "", 1);
	return c->full;
}

static enum ctf_result
step_string(struct ctf_cursor *c, const struct ctf_step *s, int as)
{
	const size_t unit = s->class->encoding / 8u;
	const unsigned char *p = ctf_decode_byte_at(c);
	const size_t room =
	    c->at <= c->end ? (size_t)((c->end - c->at) / 8) : 0;
	const size_t n = find_nul(p, room, (unsigned)unit);

	if (room - n < unit)
		return c->end == c->content ?
		    bad(c, "a string without an end") :
		    CTF_MORE;
	ctf_decode_step_over(c, 8 * (uint64_t)(n + unit));
	return put_bytes(c, s, p, n, as);
}

/* How many elements there are: in the class, or where a number said it. */
static uint64_t
ctf_decode_length_of(const struct ctf_cursor *c, const struct ctf_step *s)
{
	return s->from != 0 ? c->slots[s->from] : s->class->length;
}

/* Nonzero behind an element of no bits, when there were too many of these. */
static int
is_stuck(struct ctf_cursor *c, uint64_t before)
{
	if (c->at > before || c->empty++ < 1u << 16)
		return 0;
	c->why = "an array of too many empty elements";
	return 1;
}

static enum ctf_result
step_bytes(struct ctf_cursor *c, const struct ctf_step *s, int as)
{
	const uint64_t n = ctf_decode_length_of(c, s);
	const unsigned char *p = ctf_decode_byte_at(c);
	const struct ctf_class *class = s->class;

	if (n > UINT64_MAX / 8 || !has_bits(c, 8 * n))
		return missing(c, n > UINT64_MAX / 8 ? UINT64_MAX : 8 * n);
	ctf_decode_step_over(c, 8 * n);
	return put_bytes(c, s, p,
	    class->is_text ? find_nul(p, (size_t)n, class->encoding / 8u) :
	                     (size_t)n,
	    as);
}

/* A list of numbers or strings. */
static enum ctf_result
step_list(struct ctf_cursor *c, const struct ctf_step *s)
{
	const uint64_t n = ctf_decode_length_of(c, s);
	const struct ctf_step *body = s->body;
	const int element = s->to != CTF_NOWHERE ? AS_ELEMENT : AS_FIELD;
	enum ctf_result result = CTF_DONE;
	uint64_t i, v = 0;

	/* an element has at least one bit */
	if (n > c->content - c->at)
		return missing(c, n);
	if (s->to != CTF_NOWHERE) {
		point_cell(c, s->to);
		ctf_decode_put_number(cell(c, s->to + 4), n, 32);
	}
	for (i = 0; i < n && result == CTF_DONE; i++) {
		for (body = s->body; body->kind == STEP_ALIGN;
		     body = body->next)
			step_align(c, body->size);
		if (body->kind != STEP_NUMBER) {
			const uint64_t before = c->at;

			result = body->kind == STEP_STRING ?
			    step_string(c, body, element) :
			    step_bytes(c, body, element);
			if (result == CTF_DONE && is_stuck(c, before))
				return CTF_BAD;
			continue;
		}
		result = ctf_decode_take_number(c, body, &v);
		if (result != CTF_DONE || s->to == CTF_NOWHERE)
			continue;
		unsigned char *to = ctf_decode_more_room(c, s->width / 8u);
		if (to == NULL)
			return c->full;
		ctf_decode_put_number(to,
		    body->class->kind == CTF_FLOAT && s->width == 32 ?
		        tel_bits_float(v) :
		        v,
		    s->width);
		c->out->used += s->width / 8u;
	}
	return result;
}

static enum ctf_result
step_array(struct ctf_cursor *c, const struct ctf_step *s, int text)
{
	const uint64_t n = ctf_decode_length_of(c, s);
	enum ctf_result result = CTF_DONE;

	if (text)
		add_text(c, "[");
	if (n > c->content - c->at && n > 1u << 16)
		return missing(c, n);
	for (uint64_t i = 0; i < n && result == CTF_DONE; i++) {
		uint64_t before = c->at;

		if (text && i > 0)
			add_text(c, ",");
		result = ctf_decode_execute(c, s->body, text);
		if (result == CTF_DONE && is_stuck(c, before))
			return CTF_BAD;
	}
	if (text)
		add_text(c, "]");
	return result == CTF_DONE ? c->full : result;
}

/* The members of a structure, as JSON. */
static enum ctf_result
step_struct(struct ctf_cursor *c, const struct ctf_step *s, int text)
{
	const struct ctf_member *m = s->class->members;
	enum ctf_result result = CTF_DONE;
	const struct ctf_step *b;
	const char *between = "";

	if (!text)
		return ctf_decode_execute(c, s->body, 0);
	add_text(c, "{");
	for (b = s->body; b != NULL && result == CTF_DONE; b = b->next) {
		struct ctf_step one = *b;

		one.next = NULL;
		if (b->kind != STEP_ALIGN && m != NULL) {
			add_text(c, between);
			ctf_decode_add_quoted(c, (const unsigned char *)m->name,
			    strlen(m->name));
			add_text(c, ":");
			between = ",";
			m = m->next;
		}
		result = ctf_decode_execute(c, &one, 1);
	}
	add_text(c, "}");
	return result == CTF_DONE ? c->full : result;
}

static enum ctf_result
step_choice(struct ctf_cursor *c, const struct ctf_step *s, int text)
{
	const struct ctf_option *o = s->options;

	while (o != NULL &&
	    !ctf_is_within(&o->range, c->slots[s->from], s->is_signed))
		o = o->next;
	if (o == NULL && !s->optional)
		return bad(c, "a variant without an option for its selector");
	if (o == NULL && text)
		add_text(c, "null");
	if (o == NULL)
		return c->full;
	if (!text && o->present != 0)
		*cell(c, o->present_at) |= o->present;
	return ctf_decode_execute(c, o->body, text);
}

static enum ctf_result
step_text(struct ctf_cursor *c, const struct ctf_step *s)
{
	if (s->to == CTF_NOWHERE)
		return ctf_decode_execute(c, s->body, 0);
	point_cell(c, s->to);
	enum ctf_result result = ctf_decode_execute(c, s->body, 1);
	ctf_decode_add_bytes(c, "", 1);
	return result == CTF_DONE ? c->full : result;
}

static enum ctf_result
ctf_decode_execute(struct ctf_cursor *c, const struct ctf_step *s, int text)
{
	enum ctf_result result = c->full;

	for (; s != NULL && result == CTF_DONE; s = s->next)
		switch (s->kind) {
		case STEP_ALIGN:
			step_align(c, s->size);
			if (c->at > c->content)
				return bad(c,
				    "a field starts behind the packet's "
				    "content");
			break;
		case STEP_COPY:
			if (!has_bits(c, 8 * (uint64_t)s->size))
				return missing(c, 8 * (uint64_t)s->size);
			memcpy(cell(c, s->to), ctf_decode_byte_at(c), s->size);
			ctf_decode_step_over(c, 8 * (uint64_t)s->size);
			break;
		case STEP_NUMBER: result = step_number(c, s, text); break;
		case STEP_STRING: result = step_string(c, s, text); break;
		case STEP_BYTES: result = step_bytes(c, s, text); break;
		case STEP_LIST: result = step_list(c, s); break;
		case STEP_ARRAY: result = step_array(c, s, text); break;
		case STEP_STRUCT: result = step_struct(c, s, text); break;
		case STEP_TEXT: result = step_text(c, s); break;
		case STEP_CHOICE: result = step_choice(c, s, text); break;
		}
	return result;
}

enum ctf_result
tel__ctf_execute(struct ctf_cursor *c, const struct ctf_step *steps)
{
	c->why = NULL;
	c->full = CTF_DONE;
	c->empty = 0;
	return ctf_decode_execute(c, steps, 0);
}
