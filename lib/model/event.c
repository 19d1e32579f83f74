/* SPDX-License-Identifier: BSD-2-Clause */
/* The accessors of an event. */
#include "model/event.h"

#include "base/getter.h"
#include "model/clock.h"

TEL__GETTER(const tel_type *, tel_event_type, tel_event, type)
TEL__GETTER(uint64_t, tel_event_clock, tel_event, clock)

int
tel_event_timed(const tel_event *event)
{
	return !tel_event_timeless(event);
}

double
tel_event_tick_rate(const tel_event *event)
{
	return tel__clock_rate(event->log->clock);
}

TEL__GETTER(uint64_t, tel_event_offset, tel_event, offset)
TEL__GETTER(uint64_t, tel_event_index, tel_event, index)

const void *
tel_event_bytes(const tel_event *event, size_t *size)
{
	if (size != NULL)
		*size = tel_event_size(event);
	return event->log->records ? event->raw : event->data;
}

uint64_t
tel_event_u64(const tel_event *event, unsigned i)
{
	if (i >= event->type->nfields)
		return 0;
	return tel_load(&event->type->fields[i], event->data);
}

double
tel_event_double(const tel_event *event, unsigned i)
{
	if (i >= event->type->nfields)
		return 0;
	const struct tel_field *f = &event->type->fields[i];
	uint64_t v = tel_load(f, event->data);
	if (f->datatype == TEL_DOUBLE)
		return tel_bits_double(v);
	if (f->datatype == TEL_SIGNED)
		return v >> 63 ? -(double)(0 - v) : (double)v;
	return (double)v;
}

const char *
tel_event_string(const tel_event *event, unsigned i, size_t *length)
{
	*length = 0;
	if (i >= event->type->nfields ||
	    event->type->fields[i].datatype != TEL_STRING)
		return NULL;
	return tel_load_string(event, &event->type->fields[i], length);
}

int
tel_event_has(const tel_event *event, unsigned i)
{
	return i < event->type->nfields &&
	    tel_present(&event->type->fields[i], event->data);
}

/* Moves to element k of the list in field i.  0: there is none. */
static int
find_element(const tel_event *event, unsigned i, size_t k, struct tel_list *l)
{
	size_t n;

	if (i >= event->type->nfields ||
	    event->type->fields[i].datatype != TEL_LIST)
		return 0;
	tel_list_open(event, &event->type->fields[i], l);
	if (k >= l->count)
		return 0;
	for (; k > 0; k--)
		if (l->field.datatype == TEL_STRING)
			(void)tel_list_next_string(l, &n);
		else
			(void)tel_list_next(l);
	return 1;
}

size_t
tel_event_length(const tel_event *event, unsigned i)
{
	struct tel_list l;

	return find_element(event, i, 0, &l) ? l.count : 0;
}

uint64_t
tel_event_element(const tel_event *event, unsigned i, size_t k)
{
	struct tel_list l;

	return find_element(event, i, k, &l) && l.field.datatype != TEL_STRING ?
	    tel_list_next(&l) :
	    0;
}

const char *
tel_event_element_string(const tel_event *event, unsigned i, size_t k,
    size_t *length)
{
	struct tel_list l;

	*length = 0;
	return find_element(event, i, k, &l) && l.field.datatype == TEL_STRING ?
	    tel_list_next_string(&l, length) :
	    NULL;
}

const char *
tel_event_label(const tel_event *event, unsigned i, size_t *length)
{
	struct tel_label label;

	*length = 0;
	if (i >= event->type->nfields)
		return NULL;
	const struct tel_field *f = &event->type->fields[i];
	if (i + 1 < event->type->nfields && f[1].is_label) {
		label.string = tel_load_string(event, f + 1, length);
		return *length > 0 ? label.string : NULL;
	}
	if (!tel_find_label(event, f, tel_load(f, event->data), &label))
		return NULL;
	*length = label.length;
	return label.string;
}

int
tel__find_inline(const struct tel_event *ev, unsigned i, struct tel_label *out)
{
	const unsigned char *p = ev->inline_labels, *end = p + ev->inline_size;

	while (p < end) {
		size_t n = tel_le16(p + 1);

		if (p[0] == i) {
			out->id = 0;
			out->string = (const char *)p + 3;
			out->length = n;
			out->plain = 0;
			return 1;
		}
		p += 3 + n;
	}
	return 0;
}
