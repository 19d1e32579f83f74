/* SPDX-License-Identifier: BSD-2-Clause */
/* Making print programs. */
#include "print/program.h"

#include <stdlib.h>
#include <string.h>

#include "print/number.h"

/* Events of this many bytes or more can be loaded from in place. */
#define WIDE 16

void
tel__print_begin(struct print_builder *b, const struct tel_type *type,
    enum print_labels labels)
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

unsigned char *
tel__print_room(struct print_builder *b, size_t n)
{
	unsigned char *p;

	if (b->failed)
		return NULL;
	if (b->size - b->length < n) {
		p = realloc(b->literal, b->length + n + 128);
		if (p == NULL) {
			b->failed = 1;
			return NULL;
		}
		b->literal = p;
		b->size = b->length + n + 128;
	}
	return b->literal + b->length;
}

void
tel__print_bytes(struct print_builder *b, const void *bytes, size_t n)
{
	unsigned char *p = tel__print_room(b, n);

	if (p == NULL)
		return;
	memcpy(p, bytes, n);
	b->length += n;
}

void
tel__print_literal(struct print_builder *b, const char *s)
{
	tel__print_bytes(b, s, strlen(s));
}

static struct print_step *
add_step(struct print_builder *b)
{
	struct print_program *g = b->program;
	struct print_step *steps;

	if (b->failed)
		return NULL;
	if (g->nsteps == b->room) {
		b->room = b->room == 0 ? 8 : b->room * 2;
		steps = realloc(g->steps, b->room * sizeof(*steps));
		if (steps == NULL) {
			b->failed = 1;
			return NULL;
		}
		g->steps = steps;
	}
	g->room += PRINT_LITERAL + TEL_PUT_MAX;
	memset(&g->steps[g->nsteps], 0, sizeof(*g->steps));
	return &g->steps[g->nsteps++];
}

/* Adds a step with the literal so far, in steps of its own if it is long. */
static struct print_step *
close_literal(struct print_builder *b, enum print_op op)
{
	struct print_step *s;
	size_t done = 0, n;

	for (;;) {
		n = b->length - done;
		s = add_step(b);
		if (s == NULL)
			return NULL;
		if (n > PRINT_LITERAL)
			n = PRINT_LITERAL;
		if (n > 0)
			memcpy(s->literal, b->literal + done, n);
		s->length = (uint8_t)n;
		s->op = PRINT_NOTHING;
		done += n;
		if (done == b->length)
			break;
	}
	b->length = 0;
	s->op = (uint8_t)op;
	return s;
}

void
tel__print_op(struct print_builder *b, enum print_op op)
{
	(void)close_literal(b, op);
}

/*
 * The eight bytes to load end with the field's last byte, so that they lie
 * within the event: its header is before them.  The few fields for which
 * that is not so begin them; short events are copied to where more follows.
 */
static void
place_window(struct print_step *s, const struct tel_field *f, int narrow)
{
	unsigned bytes = 1, before, after;
	int big = 0;

	switch (f->load) {
	case TEL_LOAD_BE16S:
	case TEL_LOAD_BE16: big = 1; /* fallthrough */
	case TEL_LOAD_LE16S:
	case TEL_LOAD_LE16: bytes = 2; break;
	case TEL_LOAD_BE32S:
	case TEL_LOAD_BE32: big = 1; /* fallthrough */
	case TEL_LOAD_LE32S:
	case TEL_LOAD_LE32: bytes = 4; break;
	case TEL_LOAD_BE64: big = 1; /* fallthrough */
	case TEL_LOAD_LE64: bytes = 8; break;
	case TEL_LOAD_STRING:
	case TEL_LOAD_STRING_AT: return;
	case TEL_LOAD_U8:
	case TEL_LOAD_BIT: break;
	}
	before = narrow || f->offset + bytes < 8 ? 0 : 8 - bytes;
	after = 8 - bytes - before;
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
tel__print_field(struct print_builder *b, enum print_op op, unsigned i,
    enum print_space space)
{
	struct print_step *s = close_literal(b, op);

	if (s == NULL)
		return;
	place_window(s, &b->program->type->fields[i], b->program->narrow);
	s->field = (uint8_t)i;
	s->space = (uint8_t)space;
}

struct print_program *
tel__print_end(struct print_builder *b)
{
	(void)close_literal(b, PRINT_END);
	free(b->literal);
	if (b->failed) {
		tel__print_program_free(b->program);
		return NULL;
	}
	return b->program;
}

void
tel__print_program_free(struct print_program *g)
{
	if (g != NULL)
		free(g->steps);
	free(g);
}
