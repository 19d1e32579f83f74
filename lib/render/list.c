/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists, and the frames of stacks, as text. */
#include "render/list.h"

#include "render/escape.h"
#include "render/number.h"

/* The most frames of a stack that are shown. */
#define FRAMES_MAX 4096
/* The largest integer up to which a double holds every one. */
#define EXACT_MAX ((uint64_t)1 << 53)

void
tel__render_string(struct tel__buffer *b, const char *s, size_t n, int json)
{
	unsigned char *p = tel__buffer_room(b, TEL_ESCAPE_ROOM(n) + 2);

	if (p == NULL)
		return;
	*p++ = '"';
	p = json ? tel__escape_json(p, s, n, 1) : tel__escape_text(p, s, n, 0);
	*p++ = '"';
	b->used = (size_t)(p - b->bytes);
}

static unsigned char *
list_put_real(const struct tel_field *f, uint64_t v, unsigned char *p)
{
	return f->load == TEL_LOAD_LEF32 ?
	    tel__put_float(p, tel_bits_double(v)) :
	    tel__put_double(p, v);
}

void
tel__render_number(struct tel__buffer *b, const struct tel_field *f, uint64_t v,
    int json)
{
	unsigned char *const start = tel__buffer_room(b, TEL_PUT_MAX + 8);
	unsigned char *p = start;
	int quotes = 0;

	if (p == NULL)
		return;
	switch (f->datatype) {
	case TEL_SET:
	case TEL_ADDRESS:
	case TEL_POINTER: quotes = json; break;
	case TEL_SIGNED:
		quotes = json && (v >> 63 ? 0 - v : v) > EXACT_MAX;
		break;
	case TEL_DOUBLE: quotes = json && (v >> 52 & 0x7ff) == 0x7ff; break;
	default: quotes = json && v > EXACT_MAX; break;
	}
	if (quotes)
		*p++ = '"';
	switch (f->datatype) {
	case TEL_SET:
	case TEL_ADDRESS:
	case TEL_POINTER:
		*p++ = '0';
		*p++ = 'x';
		p = tel_put_hex(p, v, TEL_LOWER);
		break;
	case TEL_SIGNED: p = tel_put_signed(p, v); break;
	case TEL_DOUBLE: p = list_put_real(f, v, p); break;
	case TEL_BOOLEAN:
		memcpy(p, v != 0 ? "true" : "false", 5);
		p += v != 0 ? 4 : 5;
		break;
	default: p = tel_put_decimal(p, v); break;
	}
	if (quotes)
		*p++ = '"';
	b->used += (size_t)(p - start);
}

void
tel__render_list(struct tel__buffer *b, const struct tel_event *ev,
    const struct tel_field *f, int json)
{
	const char *between = "[", *s;
	struct tel_list l;
	size_t n;

	tel_list_open(ev, f, &l);
	while (l.count > 0) {
		tel__buffer_put(b, between, 1);
		between = ",";
		if (l.field.datatype == TEL_STRING) {
			s = tel_list_next_string(&l, &n);
			tel__render_string(b, s, n, json);
		} else {
			tel__render_number(b, &l.field, tel_list_next(&l),
			    json);
		}
	}
	tel__buffer_put(b, "[]", *between == '[' ? 2 : 0);
	tel__buffer_put(b, "]", *between == '[' ? 0 : 1);
}

void
tel__render_stack(struct tel__buffer *b, const struct tel_event *ev,
    uint64_t frame)
{
	const struct tel_labels *labels = ev->log->labels;
	const struct tel_frame *f;
	const char *between = "[";
	unsigned depth = 0;
	size_t place;

	for (; depth < FRAMES_MAX &&
	     tel__labels_find_frame(labels, 0, frame, &place);
	     frame = f->parent, depth++) {
		f = tel__labels_frame(labels, place);
		tel__buffer_put(b, between, 1);
		between = ",";
		tel__render_string(b, f->name != NULL ? f->name : "", f->length,
		    1);
	}
	tel__buffer_put(b, "]", depth > 0);
}
