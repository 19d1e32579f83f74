/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Traces of allocators: lines into events.  An invalid line is damage by
 * itself; in a dialect that shares its output with the traced program, a line
 * that is not its own is not damage.
 */
#include "base/array.h"
#include "format/alloc/alloc.h"

#include <stdlib.h>
#include <string.h>

/* What comes before a line is looked for, from bytes behind r->p. */
static void
before_line(struct tel_reader *r, struct al *s, size_t from)
{
	tel__al_ahead_leave(s->ahead, r->p, from);
	s->past.number++;
}

/* ---------------------------------------------------------------- events */

/* The label of the caller. */
static void
give_label(struct tel_event *ev, struct al *s, uint8_t field)
{
	s->inline_labels[0] = field;
	s->inline_labels[1] = (unsigned char)s->text_size;
	s->inline_labels[2] = (unsigned char)(s->text_size >> 8);
	memcpy(s->inline_labels + 3, s->text, s->text_size);
	ev->inline_labels = s->inline_labels;
	ev->inline_size = (uint32_t)(3 + s->text_size);
	ev->inline_use = TEL_INLINE_ONLY;
}

/*
 * Puts the bytes of a call that began in another line before those of the
 * line that ends it.  TEL_OK, TEL_ENOMEM.
 */
static tel_status
al_join(struct tel_reader *r, struct al *s)
{
	const struct al_pending_call *h = s->ended;
	size_t size = h->size + s->line.step;

	if (!TEL__RESERVE(s->joined, s->joined_room, size))
		return TEL_ENOMEM;
	memcpy(s->joined, h->line, h->size);
	memcpy(s->joined + h->size, r->p, s->line.step);
	s->line.raw = s->joined;
	s->line.raw_size = size;
	return TEL_OK;
}

/* The clock: the line's own time, or else its number. */
static void
set_clock(struct tel_reader *r, struct al *s)
{
	if (s->has_time) {
		if (!s->timed)
			tel__clock_set_rate(r->log.clock,
			    r->tick_rate > 0 ? r->tick_rate : 1e9);
		/* such times are nanoseconds from 1970 */
		if (!s->timed && s->absolute)
			tel__clock_set_epoch(r->log.clock, 0);
		s->timed = 1;
		s->clock = s->time;
	} else if (!s->timed) {
		s->clock = s->past.number;
	}
}

/* Makes the event that the line is. */
static inline enum tel_line_is
make_event(struct tel_reader *r, struct al *s)
{
	const struct al_shape *shape = &s->shape[s->kind];
	struct tel_event *ev = &r->event;

	set_clock(r, s);
	ev->type = shape->type;
	ev->data = s->data;
	ev->size = al_build(s, shape, s->data);
	ev->clock = s->clock;
	ev->inline_size = 0;
	ev->inline_use = TEL_INLINE_NONE;
	if (s->text_size > 0 && !shape->text)
		give_label(ev, s, shape->label);
	if (s->ended != NULL && al_join(r, s) != TEL_OK)
		return line_failed(&s->line, TEL_ENOMEM);
	s->operations++;
	return LINE_EVENT;
}

/* The trace is over. */
static tel_status
al_finish(struct tel_reader *r)
{
	const struct al *s = r->state;

	if (s->noise > 0)
		tel__reader_notice(r, TEL_INFO, r->offset,
		    "%llu lines of %llu bytes are not operations of an "
		    "allocator",
		    (unsigned long long)s->noise,
		    (unsigned long long)s->noise_bytes);
	if (s->past.inner > 0)
		tel__reader_notice(r, TEL_INFO, r->offset,
		    "%llu calls were made by other calls, and ignored",
		    (unsigned long long)s->past.inner);
	if (s->nheld > 0)
		tel__reader_notice(r, TEL_WARNING, r->offset,
		    "%u calls did not return", s->nheld);
	if (s->past.promised > 0 && s->past.promised != s->operations)
		tel__reader_notice(r, TEL_WARNING, r->offset,
		    "the header says %llu operations, but there are %llu",
		    (unsigned long long)s->past.promised,
		    (unsigned long long)s->operations);
	return TEL_OK;
}

/* Keeps the line that begins a call; it was parsed to s->held. */
static void
al_hold(struct tel_reader *r, struct al *s)
{
	struct al_pending_call *h = &s->held[s->nheld++];

	h->size = (uint16_t)s->line.step;
	memcpy(h->line, r->p, s->line.step);
}

/* The line is the first of two. */
static enum tel_line_is
take_second(struct tel_reader *r, struct al *s)
{
	const size_t first = s->line.step;
	const int last = s->line.truncated;
	tel_status st = TEL_END;

	s->second = 1;
	if (!last) {
		before_line(r, s, first);
		st = tel__line_find(r, &s->line, first, 0, s->line.most);
	}
	if (st != TEL_OK && st != TEL_END)
		return line_failed(&s->line, st);
	if (st == TEL_OK && s->line.over)
		return LINE_INVALID;
	if (st == TEL_OK && al_parse(s) == AL_EVENT)
		return make_event(r, s);
	/* the next line is read again, as it may be an event of its own */
	s->past.number -= !last;
	s->line.step = first;
	s->line.truncated = 0;
	s->line.p = s->line.end = r->p;
	return line_wrong(&s->line, r->p, "another line that continues it",
	    NULL);
}

static void
al_before(struct tel_reader *r)
{
	struct al *s = r->state;

	before_line(r, s, 0);
	s->second = 0;
}

static enum tel_line_is
al_parse_line(struct tel_reader *r, struct tel_line *l)
{
	struct al *s = r->state;

	switch (al_parse(s)) {
	case AL_EVENT: return make_event(r, s);
	case AL_MORE: return take_second(r, s);
	case AL_COMMENT: return LINE_COMMENT;
	case AL_OTHER_OUTPUT:
		s->noise++;
		s->noise_bytes += l->step;
		break;
	case AL_BEGUN: al_hold(r, s); break;
	case AL_WRONG: return LINE_INVALID;
	case AL_NO_MEMORY: return line_failed(l, TEL_ENOMEM);
	}
	return LINE_SKIPPED;
}

tel_status
tel__al_next(struct tel_reader *r)
{
	static const struct tel_line_decoder decoder = { .before = al_before,
		.parse = al_parse_line,
		.end = al_finish };
	struct al *s = r->state;

	return tel__line_next(r, &s->line, &decoder);
}

/* -------------------------------------------------------- open and close */

tel_status
tel__al_open(struct tel_reader *r)
{
	const struct al_dialect *d = r->format->dialect;
	struct al *s = r->state;

	s->d = d;
	s->line.most = AL_LINE_MAX;
	s->line.lead_most = AL_LEAD_MAX;
	s->line.invalid = "a line that is not valid in ";
	s->line.in = d->what;
	s->data = malloc(AL_EVENT_MAX + AL_LINE_MAX + 1);
	s->batch = malloc((size_t)TEL_RUN_MAX * AL_EVENT_MAX);
	s->held = calloc(AL_HELD_MAX, sizeof(*s->held));
	if (d->defines)
		s->definitions = tel__al_definitions_new();
	if (s->data == NULL || s->batch == NULL || s->held == NULL ||
	    (d->defines && s->definitions == NULL) ||
	    tel__al_schema(r, s) != TEL_OK)
		return TEL_ENOMEM;
	if (d->timed) {
		s->timed = 1;
		tel__clock_set_rate(r->log.clock,
		    r->tick_rate > 0 ? r->tick_rate : 1e9);
	}
	return TEL_OK;
}

void
tel__al_close(struct tel_reader *r)
{
	struct al *s = r->state;

	tel__al_ahead_free(s->ahead);
	tel__al_definitions_free(s->definitions);
	tel__line_close(&s->line);
	free(s->held);
	free(s->joined);
	free(s->batch);
	free(s->data);
}
