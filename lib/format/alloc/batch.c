/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events of lines that are found together.  Such a line is an event and nothing
 * else: it has no label, and changes nothing but the past and the clock.
 */
#include <string.h>

#include "format/alloc/alloc.h"

/* Nonzero when the last event has nothing that those behind it have not. */
static int
may_lead(const struct tel_reader *r, const struct al *s)
{
	const struct tel_event *ev = &r->event;

	return ev->lead_size == 0 && ev->inline_size == 0 &&
	    !ev->type->has_string && s->ended == NULL && !s->line.truncated &&
	    s->nheld == 0;
}

/* Nonzero when the line of s is such an event. */
static inline int
parse_plain(struct al *s)
{
	const struct al_shape *shape = &s->shape[0];

	/* a line that defines something is parsed once */
	if (s->definitions != NULL && memchr("+-cR", *s->line.p, 4) == NULL)
		return 0;
	if (al_parse(s) != AL_EVENT || s->text_size > 0 || s->ended != NULL ||
	    (s->has_time && !s->timed))
		return 0;
	shape += s->kind;
	return !shape->text && !tel_type_is_followed(shape->type);
}

uint32_t
tel__al_fill(struct al *s, const unsigned char *first, const unsigned char *p,
    const unsigned char *end, const struct al_columns *c, uint32_t n)
{
	unsigned char *bytes = c->bytes;
	struct al_parser_state past;

	s->clockless = n;
	for (; n < TEL_RUN_MAX && p < end; n++) {
		const unsigned char *lf = memchr(p, '\n', (size_t)(end - p));

		if (lf == NULL || lf - p >= (ptrdiff_t)AL_LINE_MAX)
			break;
		s->line.p = p;
		s->line.end = lf > p && lf[-1] == '\r' ? lf - 1 : lf;
		s->line.step = (size_t)(lf + 1 - p);
		past = s->past;
		s->past.number++;
		if (!parse_plain(s)) {
			s->past = past;
			break;
		}
		const struct al_shape *shape = &s->shape[s->kind];
		if (s->has_time)
			s->clock = s->time;
		else if (s->clockless == n)
			s->clockless++;
		if (!s->timed)
			s->clock = s->past.number;
		c->data[n] = bytes;
		c->at[n] = (uint32_t)(p - first);
		c->raw_sizes[n] = (uint32_t)s->line.step;
		c->types[n] = shape->type->index;
		c->clocks[n] = s->clock;
		c->sizes[n] = al_build(s, shape, bytes);
		bytes += c->sizes[n];
		p = lf + 1;
	}
	return n;
}

void
tel__al_decode_batch(struct tel_reader *r)
{
	struct al *s = r->state;
	struct tel_batch *f = r->batch;
	const struct al_columns columns = { f->data, f->clocks, f->at,
		f->raw_sizes, f->types, f->sizes, s->batch };
	const unsigned char *const first = r->p - r->consumed, *end;

	if (!may_lead(r, s))
		return;
	s->second = 0;
	f->in_window = 1;
	f->raw = first;
	f->raw_sizes[0] = (uint32_t)r->consumed;
	end = tel__al_ahead_take(r, s, first);
	if (end != NULL) {
		s->line.limit = r->end;
		f->count = tel__al_fill(s, first, r->p, end, &columns, 1);
	}
	s->operations += f->count - 1;
}
