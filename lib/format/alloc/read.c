/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Traces of allocators: lines into events.  An invalid line is damage by
 * itself; in a dialect that shares its output with the traced program, a line
 * that is not its own is not damage.
 */
#include "format/alloc/alloc.h"

#include <stdlib.h>
#include <string.h>

/*
 * Finds the line that starts from bytes behind r->p.  TEL_OK, TEL_END,
 * TEL_ENOMEM.
 */
static tel_status
find_line(struct tel_reader *r, struct al *s, size_t from)
{
	tel_status st;

	tel__al_ahead_leave(s->ahead, r->p, from);
	st = tel__line_find(r, &s->line, from, 0, AL_LINE_MAX);
	s->past.number += st == TEL_OK;
	return st;
}

/* Steps over the line and says what was expected. */
static tel_status
damaged(struct tel_reader *r, struct al *s)
{
	char found[LINE_FOUND];

	tel__line_found(found, s->line.over ? NULL : s->at, s->line.end);
	s->second = 0;
	tel_reader_step(r, s->line.step);
	if (s->line.over)
		return tel__reader_damage(r, s->line.offset,
		    r->offset - s->line.offset,
		    "a line of %llu bytes: at most %u are allowed",
		    (unsigned long long)(r->offset - s->line.offset),
		    AL_LINE_MAX);
	return tel__reader_damage(r, s->line.offset, r->offset - s->line.offset,
	    "a line that is not valid in %s%s: expected %s, found %s",
	    s->d->what, s->line.cut ? ", with no end" : "", s->want, found);
}

/* ---------------------------------------------------------------- events */

/* The label of the caller. */
static void
give_label(struct tel_event *ev, struct al *s, unsigned field)
{
	s->inline_labels[0] = (unsigned char)field;
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
join(struct tel_reader *r, struct al *s)
{
	const struct al_held *h = s->ended;
	size_t size = h->size + s->line.step;

	if (s->joined_room < size) {
		free(s->joined);
		s->joined = malloc(size);
		s->joined_room = s->joined == NULL ? 0 : size;
		if (s->joined == NULL)
			return tel__reader_fail(r, TEL_ENOMEM, "out of memory");
	}
	memcpy(s->joined, h->line, h->size);
	memcpy(s->joined + h->size, r->p, s->line.step);
	r->event.raw = s->joined;
	r->event.raw_size = (uint32_t)size;
	return TEL_OK;
}

/* The clock: what the line says, or else which line it is. */
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

/* What few events have: lines before it, a label, another line, no end. */
static tel_status
emit_rest(struct tel_reader *r, struct al *s)
{
	const struct al_shape *shape = &s->shape[s->kind];
	struct tel_event *ev = &r->event;

	ev->inline_size = 0;
	ev->inline_use = TEL_INLINE_NONE;
	if (s->text_size > 0 && !shape->text)
		give_label(ev, s, shape->nfields - 1u);
	if (s->ended != NULL && join(r, s) != TEL_OK)
		return TEL_ENOMEM;
	if (s->line.cut)
		tel__line_report_cut(r, &s->line);
	return TEL_OK;
}

/* Hands out the event that the line is. */
static inline tel_status
emit(struct tel_reader *r, struct al *s)
{
	const struct al_shape *shape = &s->shape[s->kind];
	struct tel_event *ev = &r->event;
	tel_status st = TEL_OK;

	set_clock(r, s);
	if (s->lead.size > 0 || ev->data == NULL || ev->lead != NULL)
		tel__lead_give(r, &s->lead);
	ev->type = shape->type;
	ev->data = s->data;
	ev->size = al_build(s, shape, s->data);
	ev->clock = s->clock;
	ev->offset = s->line.offset;
	ev->raw = r->p;
	ev->raw_size = (uint32_t)s->line.step;
	if (s->text_size > 0 || s->ended != NULL || s->line.cut ||
	    ev->inline_size > 0)
		st = emit_rest(r, s);
	s->operations++;
	r->consumed = s->line.step;
	tel_reader_step(r, s->line.step);
	return st;
}

/* The trace is over. */
static tel_status
finish(struct tel_reader *r, struct al *s)
{
	tel__lead_end(r, &s->lead);
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
	return TEL_END;
}

/* Keeps the line that begins a call; it was parsed to s->held. */
static void
hold(struct tel_reader *r, struct al *s)
{
	struct al_held *h = &s->held[s->nheld++];

	h->size = (uint16_t)s->line.step;
	memcpy(h->line, r->p, s->line.step);
	tel_reader_step(r, s->line.step);
}

/* The line is the first of two.  As tel__al_next(), or TEL_LOG: go on. */
static tel_status
take_second(struct tel_reader *r, struct al *s)
{
	size_t first = s->line.step;
	tel_status st;

	s->second = 1;
	st = s->line.cut ? TEL_END : find_line(r, s, first);
	if (st != TEL_OK && st != TEL_END)
		return st;
	if (st == TEL_OK && s->line.over) {
		st = damaged(r, s);
		return st == TEL_OK ? TEL_LOG : st;
	}
	if (st == TEL_OK && al_parse(s) == AL_EVENT)
		return emit(r, s);
	/* the next line is read again, as it may be an event of its own */
	s->past.number -= st == TEL_OK;
	s->line.step = first;
	s->line.cut = 0;
	s->line.p = s->line.end = r->p;
	(void)al_wrong(s, s->line.p, "another line that continues it");
	st = damaged(r, s);
	return st == TEL_OK ? TEL_LOG : st;
}

tel_status
tel__al_next(struct tel_reader *r)
{
	struct al *s = r->state;
	tel_status st;

	r->event.index += r->event.data != NULL;
	for (;;) {
		s->line.offset = r->offset;
		s->line.cut = s->line.over = s->second = 0;
		st = find_line(r, s, 0);
		if (st != TEL_OK)
			return st == TEL_END ? finish(r, s) : st;
		switch (al_parse(s)) {
		case AL_EVENT:
			st = emit(r, s);
			if (st == TEL_OK && tel_type_is_followed(r->event.type))
				st = tel__reader_follow(r, &r->event);
			return st;
		case AL_MORE:
			st = take_second(r, s);
			if (st != TEL_LOG)
				return st;
			st = TEL_OK;
			break;
		case AL_SILENT:
			st = tel__lead_keep(r, &s->lead, s->line.step,
			    AL_LEAD_MAX);
			tel_reader_step(r, s->line.step);
			break;
		case AL_NOISE:
			s->noise++;
			s->noise_bytes += s->line.step;
			tel_reader_step(r, s->line.step);
			break;
		case AL_BEGUN: hold(r, s); break;
		case AL_WRONG: st = damaged(r, s); break;
		}
		if (st != TEL_OK)
			return st;
	}
}

/* -------------------------------------------------------- open and close */

tel_status
tel__al_open(struct tel_reader *r, const char *as)
{
	const struct al_dialect *d = r->format->dialect;
	struct al *s = calloc(1, sizeof(*s));

	(void)as;
	r->state = s;
	if (s == NULL)
		return tel__reader_fail(r, TEL_ENOMEM, "out of memory");
	s->d = d;
	s->data = malloc(AL_EVENT_MAX + AL_LINE_MAX + 1);
	s->batch = malloc((size_t)TEL_RUN_MOST * AL_EVENT_MAX);
	s->held = calloc(AL_HELD_MAX, sizeof(*s->held));
	if (s->data == NULL || s->batch == NULL || s->held == NULL ||
	    tel__al_schema(r, s) != TEL_OK)
		return tel__reader_fail(r, TEL_ENOMEM, "out of memory");
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

	if (s == NULL)
		return;
	tel__al_ahead_free(s->ahead);
	tel__lead_close(r, &s->lead);
	free(s->line.copy);
	free(s->held);
	free(s->joined);
	free(s->batch);
	free(s->data);
	free(s);
	r->state = NULL;
}
