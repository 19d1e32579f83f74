/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Traces of allocators: lines into events.  A line that makes no sense is
 * damaged alone; in a dialect that shares its lines with the program that is
 * traced, one that is none of its own is no damage.
 */
#include "format/alloc/alloc.h"

#include <stdlib.h>
#include <string.h>

/* Makes a copy of the line that ends with the input, and gives it an end. */
static tel_status
copy_line(struct tel_reader *r, struct al *s, const unsigned char *p, size_t n)
{
	if (s->copy == NULL)
		s->copy = malloc(AL_LINE_MAX + 8);
	if (s->copy == NULL)
		return tel__reader_fail(r, TEL_ENOMEM, "out of memory");
	memcpy(s->copy, p, n);
	memset(s->copy + n, '\n', 8);
	s->p = s->copy;
	s->limit = s->copy + n + 8;
	s->end = s->copy + n;
	s->cut = 1;
	return TEL_OK;
}

/*
 * Finds the line that begins from bytes behind r->p.  TEL_OK, with s->step
 * bytes up to its end; TEL_END; TEL_ENOMEM.
 */
static tel_status
find_line(struct tel_reader *r, struct al *s, size_t from)
{
	const unsigned char *lf;
	size_t seen = from, have;

	for (;;) {
		have = (size_t)(r->end - r->p);
		lf =
		    have > seen ? memchr(r->p + seen, '\n', have - seen) : NULL;
		if (lf != NULL || r->eof)
			break;
		seen = have;
		if (have >= from + AL_LINE_MAX) {
			s->over = 1;
			tel_reader_step(r, have);
			from = seen = 0;
		}
		tel__reader_fill(r, seen + 1);
	}
	if (lf == NULL && have <= from && !s->over)
		return TEL_END;
	s->step = lf != NULL ? (size_t)(lf + 1 - r->p) : have;
	s->over |= s->step - from > AL_LINE_MAX;
	s->number++;
	s->p = r->p + from;
	s->end = lf;
	s->limit = r->end;
	if (lf == NULL)
		return copy_line(r, s, s->p, s->over ? 0 : have - from);
	return TEL_OK;
}

/* Steps over the line and says what was expected. */
static tel_status
damaged(struct tel_reader *r, struct al *s)
{
	char found[32];
	size_t n = 0, i;

	if (!s->over && s->at < s->end) {
		n = (size_t)(s->end - s->at);
		if (n > sizeof(found) - 1)
			n = sizeof(found) - 1;
	}
	for (i = 0; i < n; i++)
		found[i] =
		    (char)(s->at[i] < ' ' || s->at[i] > '~' ? '?' : s->at[i]);
	found[n] = '\0';
	s->second = 0;
	tel_reader_step(r, s->step);
	if (s->over)
		return tel__reader_damage(r, s->offset, r->offset - s->offset,
		    "a line of %llu bytes: %u is the most",
		    (unsigned long long)(r->offset - s->offset), AL_LINE_MAX);
	return tel__reader_damage(r, s->offset, r->offset - s->offset,
	    "a line that is nothing of %s%s: expected %s, found %s%s%s",
	    s->d->what, s->cut ? ", with no end" : "", s->want,
	    n > 0 ? "\"" : "", n > 0 ? found : "the end of the line",
	    n > 0 ? "\"" : "");
}

/* ---------------------------------------------------------- silent lines */

/* Keeps the line for whoever passes the trace on.  TEL_OK, TEL_ENOMEM. */
static tel_status
keep_line(struct tel_reader *r, struct al *s)
{
	size_t size = s->lead_size + s->step;
	unsigned char *bigger;

	if (size > AL_LEAD_MAX)
		return TEL_OK;
	if (size > s->lead_room) {
		bigger = realloc(s->lead, size * 2);
		if (bigger == NULL)
			return tel__reader_fail(r, TEL_ENOMEM, "out of memory");
		s->lead = bigger;
		s->lead_room = size * 2;
	}
	memcpy(s->lead + s->lead_size, r->p, s->step);
	s->lead_size = size;
	return TEL_OK;
}

/* Gives the silent lines to the event behind them; or first, to the log. */
static void
give_lead(struct tel_reader *r, struct al *s)
{
	struct tel_event *ev = &r->event;

	ev->lead = NULL;
	ev->lead_size = 0;
	if (ev->index == 0) {
		s->preamble = s->lead;
		r->log.preamble = s->lead;
		r->log.preamble_size = s->lead_size;
		s->lead = NULL;
		s->lead_room = 0;
	} else if (s->lead_size > 0) {
		ev->lead = s->lead;
		ev->lead_size = (uint32_t)s->lead_size;
	}
	s->lead_size = 0;
}

/* ---------------------------------------------------------------- events */

/* The label of the caller. */
static void
give_label(struct tel_event *ev, struct al *s, unsigned field)
{
	s->notes[0] = (unsigned char)field;
	s->notes[1] = (unsigned char)s->text_size;
	s->notes[2] = (unsigned char)(s->text_size >> 8);
	memcpy(s->notes + 3, s->text, s->text_size);
	ev->notes = s->notes;
	ev->notes_size = (uint32_t)(3 + s->text_size);
	ev->noted = TEL_NOTES_ONLY;
}

/*
 * Puts the bytes of a call that began in another line before those of the
 * line that ends it.  TEL_OK, TEL_ENOMEM.
 */
static tel_status
join(struct tel_reader *r, struct al *s)
{
	const struct al_held *h = s->ended;
	size_t size = h->size + s->step;

	if (s->joined_room < size) {
		free(s->joined);
		s->joined = malloc(size);
		s->joined_room = s->joined == NULL ? 0 : size;
		if (s->joined == NULL)
			return tel__reader_fail(r, TEL_ENOMEM, "out of memory");
	}
	memcpy(s->joined, h->line, h->size);
	memcpy(s->joined + h->size, r->p, s->step);
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
		s->timed = 1;
		s->clock = s->time;
	} else if (!s->timed) {
		s->clock = s->number;
	}
}

/* What few events have: lines before it, a label, another line, no end. */
static tel_status
emit_rest(struct tel_reader *r, struct al *s)
{
	const struct al_shape *shape = &s->shape[s->kind];
	struct tel_event *ev = &r->event;

	ev->notes_size = 0;
	ev->noted = TEL_NOTES_NONE;
	if (s->text_size > 0 && !shape->text)
		give_label(ev, s, shape->nfields - 1u);
	if (s->ended != NULL && join(r, s) != TEL_OK)
		return TEL_ENOMEM;
	if (s->cut)
		tel__reader_notice(r, TEL_WARNING, s->offset,
		    "the last line has no end: it may have been cut off, and "
		    "is read as it stands");
	return TEL_OK;
}

/* Hands out the event that the line is. */
static inline tel_status
emit(struct tel_reader *r, struct al *s)
{
	const struct al_shape *shape = &s->shape[s->kind];
	struct tel_event *ev = &r->event;
	unsigned char *data = s->data;
	uint32_t size = shape->type->size;
	tel_status st = TEL_OK;
	unsigned i;

	set_clock(r, s);
	if (shape->text) {
		memcpy(data + AL_HEADER, s->text, s->text_size);
		data[AL_HEADER + s->text_size] = '\0';
		size += (uint32_t)s->text_size;
	} else {
		for (i = 0; i < shape->nfields; i++)
			tel_store_le64(data + AL_HEADER + 8 * i,
			    s->v[shape->value[i]]);
	}
	tel_store_le64(data, (uint64_t)size << 32 | (unsigned)s->kind);
	tel_store_le64(data + 8, s->clock);
	if (s->lead_size > 0 || ev->data == NULL || ev->lead != NULL)
		give_lead(r, s);
	ev->type = shape->type;
	ev->data = data;
	ev->size = size;
	ev->clock = s->clock;
	ev->offset = s->offset;
	ev->raw = r->p;
	ev->raw_size = (uint32_t)s->step;
	if (s->text_size > 0 || s->ended != NULL || s->cut ||
	    ev->notes_size > 0)
		st = emit_rest(r, s);
	s->operations++;
	tel_reader_step(r, s->step);
	/* the reader counts the event's bytes; here lines are read */
	r->count[TEL_COUNT_BYTES] += s->step - size;
	return st;
}

/* The trace is over. */
static tel_status
finish(struct tel_reader *r, struct al *s)
{
	r->log.tail = s->lead;
	r->log.tail_size = s->lead_size;
	if (s->noise > 0)
		tel__reader_notice(r, TEL_INFO, r->offset,
		    "%llu lines of %llu bytes are no operations of an "
		    "allocator",
		    (unsigned long long)s->noise,
		    (unsigned long long)s->noise_bytes);
	if (s->inner > 0)
		tel__reader_notice(r, TEL_INFO, r->offset,
		    "%llu calls were made by other calls, and left out",
		    (unsigned long long)s->inner);
	if (s->nheld > 0)
		tel__reader_notice(r, TEL_WARNING, r->offset,
		    "%u calls had begun and did not return", s->nheld);
	if (s->promised > 0 && s->promised != s->operations)
		tel__reader_notice(r, TEL_WARNING, r->offset,
		    "the header says %llu operations, but there are %llu",
		    (unsigned long long)s->promised,
		    (unsigned long long)s->operations);
	return TEL_END;
}

/* 1 when the line is blank, begins with '#', or is grep's mark of a gap. */
static inline int
is_silent(const struct al *s)
{
	const unsigned char *p = s->p;

	if (*p > '-')
		return 0;
	while (p < s->end && (*p == ' ' || *p == '\t'))
		p++;
	return p == s->end || *s->p == '#' ||
	    (s->end - p == 2 && memcmp(p, "--", 2) == 0);
}

/* What the line is, and, where it is the first of two, the other one, too. */
static inline enum al_line
parse(struct al *s)
{
	if (s->over)
		return AL_WRONG;
	if (s->end > s->p && s->end[-1] == '\r')
		s->end--;
	s->text_size = 0;
	s->has_time = 0;
	s->ended = NULL;
	if (is_silent(s))
		return AL_SILENT;
	return s->d->parse(s, s->p);
}

/* Keeps the line that begins a call; it was parsed to s->held. */
static void
hold(struct tel_reader *r, struct al *s)
{
	struct al_held *h = &s->held[s->nheld++];

	h->size = (uint16_t)s->step;
	memcpy(h->line, r->p, s->step);
	tel_reader_step(r, s->step);
}

/* The line is the first of two.  As tel__al_next(), or TEL_LOG: go on. */
static tel_status
take_second(struct tel_reader *r, struct al *s)
{
	size_t first = s->step;
	tel_status st;

	s->second = 1;
	st = s->cut ? TEL_END : find_line(r, s, first);
	if (st != TEL_OK && st != TEL_END)
		return st;
	if (st == TEL_OK && s->over) {
		st = damaged(r, s);
		return st == TEL_OK ? TEL_LOG : st;
	}
	if (st == TEL_OK && parse(s) == AL_EVENT)
		return emit(r, s);
	/* the next line is read again, as it may be an event of its own */
	s->number -= st == TEL_OK;
	s->step = first;
	s->cut = 0;
	s->p = s->end = r->p;
	(void)al_wrong(s, s->p, "another line that goes on with it");
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
		s->offset = r->offset;
		s->cut = s->over = s->second = 0;
		st = find_line(r, s, 0);
		if (st != TEL_OK)
			return st == TEL_END ? finish(r, s) : st;
		switch (parse(s)) {
		case AL_EVENT: return emit(r, s);
		case AL_MORE:
			st = take_second(r, s);
			if (st != TEL_LOG)
				return st;
			st = TEL_OK;
			break;
		case AL_SILENT:
			st = keep_line(r, s);
			tel_reader_step(r, s->step);
			break;
		case AL_NOISE:
			s->noise++;
			s->noise_bytes += s->step;
			tel_reader_step(r, s->step);
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
tel__al_open(struct tel_reader *r, const struct al_dialect *d)
{
	struct al *s = calloc(1, sizeof(*s));

	r->state = s;
	if (s == NULL)
		return tel__reader_fail(r, TEL_ENOMEM, "out of memory");
	s->d = d;
	s->data = malloc(AL_HEADER + 8 * AL_FIELDS_MAX + AL_LINE_MAX + 1);
	s->held = calloc(AL_HELD_MAX, sizeof(*s->held));
	if (s->data == NULL || s->held == NULL ||
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
	free(s->copy);
	free(s->held);
	free(s->joined);
	free(s->lead);
	free(s->preamble);
	free(s->data);
	free(s);
	r->state = NULL;
	r->log.preamble = NULL;
	r->log.preamble_size = 0;
	r->log.tail = NULL;
	r->log.tail_size = 0;
}
