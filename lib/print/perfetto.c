/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trace for Perfetto: a protobuf message of packets, of which this uses
 * TrackDescriptor, TrackEvent and InternedData.  All are of one sequence.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/names.h"
#include "base/varint.h"
#include "print/protobuf.h"
#include "print/timeline.h"
#include "render/list.h"

/* The most names that are interned; others are written in full each time. */
#define NAMES_MAX 65536u

/* Numbers of fields, in the messages as they are called in the .proto files */
enum {
	TRACE_PACKET = 1,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_TRACK_DESCRIPTOR = 60,
	INTERNED_CATEGORIES = 1,
	INTERNED_EVENT_NAMES = 2,
	INTERNED_ANNOTATION_NAMES = 3,
	INTERNED_FIELDS = 4, /* the highest, and 1 */
	INTERNED_IID = 1,
	INTERNED_NAME = 2,
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	PROCESS_PID = 1,
	PROCESS_NAME = 6,
	COUNTER_UNIT = 3,
	EVENT_CATEGORY_IIDS = 3,
	EVENT_ANNOTATIONS = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK = 11,
	EVENT_CATEGORIES = 22,
	EVENT_NAME = 23,
	EVENT_COUNTER = 30,
	EVENT_FLOWS = 47,
	EVENT_FLOWS_THAT_END = 48,
	EVENT_CORRELATION = 52,
	ANNOTATION_NAME_IID = 1,
	ANNOTATION_BOOL = 2,
	ANNOTATION_UINT = 3,
	ANNOTATION_INT = 4,
	ANNOTATION_DOUBLE = 5,
	ANNOTATION_STRING = 6,
	ANNOTATION_POINTER = 7,
	ANNOTATION_NAME = 10
};

enum { STATE_CLEARED = 1, NEEDS_STATE = 2 };
enum { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER = 4 };
enum { UNIT_COUNT = 2, UNIT_BYTES = 3 };

struct perfetto {
	struct timeline *timeline;
	struct tel__buffer packet, event, annotation, interned, part;
	struct tel__names names[INTERNED_FIELDS]; /* each is its iid - 1 */
	int begun; /* the first packet was written */
};

/* Writes the packet that was made. */
static void
perfetto_write_packet(struct tel_printer *pr, struct perfetto *f)
{
	struct tel__buffer *m = &f->packet;
	unsigned char tag[2 * TEL__VARINT_MAX], *end;

	tel__protobuf_varint(m, PACKET_SEQUENCE, 1);
	tel__protobuf_varint(m, PACKET_SEQUENCE_FLAGS,
	    f->begun ? NEEDS_STATE : STATE_CLEARED | NEEDS_STATE);
	f->begun = 1;
	if (m->failed) {
		f->timeline->no_memory = 1;
	} else {
		end = tel__varint_put(tag, TRACE_PACKET << 3 | 2);
		end = tel__varint_put(end, m->used);
		(void)tel_output_write(pr->out, tag, (size_t)(end - tag));
		(void)tel_output_write(pr->out, m->bytes, m->used);
	}
	m->used = 0;
	m->failed = 0;
}

/*
 * The iid of a name, which this packet defines when it is new; 0: no room for
 * it.  Each field of InternedData has numbers of its own.
 */
static uint64_t
perfetto_intern(struct perfetto *f, unsigned field, const char *name, size_t n)
{
	struct tel__names *names = &f->names[field];
	const size_t known = names->count;
	const uint32_t i = tel__names_add(names, name, n, NAMES_MAX);

	if (i == TEL__NOWHERE) {
		f->timeline->no_memory |= known < NAMES_MAX;
		return 0;
	}
	if (names->count > known) {
		tel__protobuf_varint(&f->part, INTERNED_IID, i + UINT64_C(1));
		tel__protobuf_text(&f->part, INTERNED_NAME, name, n);
		tel__protobuf_message(&f->interned, field, &f->part);
	}
	return i + UINT64_C(1);
}

/* A name, by its number or as it is. */
static void
perfetto_put_name(struct perfetto *f, struct tel__buffer *m, unsigned interned,
    unsigned by_iid, unsigned as_text, const char *name, size_t n)
{
	uint64_t iid = perfetto_intern(f, interned, name, n);

	if (iid != 0)
		tel__protobuf_varint(m, by_iid, iid);
	else
		tel__protobuf_text(m, as_text, name, n);
}

/* A value and the label that it has. */
static void
put_labelled(struct tel__buffer *m, const struct tel_field *field, uint64_t v,
    const char *label, size_t n)
{
	char text[TIMELINE_NAME + 40];

	if (n > TIMELINE_NAME)
		n = TIMELINE_NAME;
	if (field->datatype == TEL_SIGNED)
		n = (size_t)snprintf(text, sizeof(text), "%.*s (%lld)", (int)n,
		    label, (long long)v);
	else
		n = (size_t)snprintf(text, sizeof(text), "%.*s (0x%llx)",
		    (int)n, label, (unsigned long long)v);
	tel__protobuf_text(m, ANNOTATION_STRING, text, n);
}

static void
perfetto_put_fields(struct tel_printer *pr, const struct tel_event *ev)
{
	struct perfetto *f = pr->state;
	const struct tel_type *t = ev->type;
	struct tel__buffer *one = &f->annotation;

	for (unsigned i = 0; i < t->nfields; i++) {
		const struct tel_field *field = &t->fields[i];
		uint64_t v = tel_event_u64(ev, i);
		size_t n;

		if (field->is_label || !tel_event_has(ev, i))
			continue;
		perfetto_put_name(f, one, INTERNED_ANNOTATION_NAMES,
		    ANNOTATION_NAME_IID, ANNOTATION_NAME, field->name,
		    field->name_length);
		const char *s = tel_event_label(ev, i, &n);
		if (s != NULL) {
			put_labelled(one, field, v, s, n);
		} else {
			switch (field->datatype) {
			case TEL_STRING:
				s = tel_event_string(ev, i, &n);
				tel__protobuf_text(one, ANNOTATION_STRING, s,
				    n);
				break;
			case TEL_DOUBLE:
				tel__protobuf_fixed64(one, ANNOTATION_DOUBLE,
				    v);
				break;
			case TEL_BOOLEAN:
				tel__protobuf_varint(one, ANNOTATION_BOOL, v);
				break;
			case TEL_SIGNED:
				tel__protobuf_varint(one, ANNOTATION_INT, v);
				break;
			case TEL_ADDRESS:
			case TEL_POINTER:
				tel__protobuf_varint(one, ANNOTATION_POINTER,
				    v);
				break;
			case TEL_LIST:
				pr->list.used = 0;
				tel__render_list(&pr->list, ev, field, 0);
				tel__protobuf_text(one, ANNOTATION_STRING,
				    (const char *)pr->list.bytes,
				    pr->list.used);
				break;
			case TEL_UNSIGNED:
			case TEL_SET:
				tel__protobuf_varint(one, ANNOTATION_UINT, v);
				break;
			}
		}
		tel__protobuf_message(&f->event, EVENT_ANNOTATIONS, one);
	}
}

/* Writes a packet with the event that was begun in f->event. */
static void
perfetto_write_event(struct tel_printer *pr, struct perfetto *f, uint64_t time)
{
	tel__protobuf_varint(&f->packet, PACKET_TIMESTAMP, time);
	if (f->interned.used > 0 || f->interned.failed)
		tel__protobuf_message(&f->packet, PACKET_INTERNED_DATA,
		    &f->interned);
	tel__protobuf_message(&f->packet, PACKET_TRACK_EVENT, &f->event);
	f->event.failed = f->annotation.failed = f->interned.failed =
	    f->part.failed = 0;
	perfetto_write_packet(pr, f);
}

static void
perfetto_put_event(struct tel_printer *pr, const struct timeline_track *t,
    uint64_t time, unsigned what, const char *name, size_t n,
    const struct tel_event *ev)
{
	struct perfetto *f = pr->state;
	struct tel__buffer *m = &f->event;
	uint64_t iid;

	tel__protobuf_varint(m, EVENT_TYPE, what);
	tel__protobuf_varint(m, EVENT_TRACK, t->id);
	if (name != NULL)
		perfetto_put_name(f, m, INTERNED_EVENT_NAMES, EVENT_NAME_IID,
		    EVENT_NAME, name, n);
	if (ev != NULL) {
		perfetto_put_name(f, m, INTERNED_CATEGORIES,
		    EVENT_CATEGORY_IIDS, EVENT_CATEGORIES, ev->type->kind,
		    strlen(ev->type->kind));
		perfetto_put_fields(pr, ev);
		/* what has one number has one colour: events of a type */
		iid = perfetto_intern(f, INTERNED_EVENT_NAMES, ev->type->name,
		    ev->type->name_length);
		if (iid != 0)
			tel__protobuf_varint(m, EVENT_CORRELATION, iid);
	}
	if (ev != NULL && f->timeline->flow != 0)
		tel__protobuf_fixed64(m,
		    f->timeline->receives ? EVENT_FLOWS_THAT_END : EVENT_FLOWS,
		    f->timeline->flow);
	perfetto_write_event(pr, f, time);
}

static void
perfetto_track(struct tel_printer *pr, const struct timeline_track *t)
{
	struct perfetto *f = pr->state;
	struct tel__buffer *m = &f->event, *part = &f->part;

	tel__protobuf_varint(m, TRACK_UUID, t->id);
	tel__protobuf_text(m, TRACK_NAME, t->name, t->length);
	if (t->parent != NULL) {
		tel__protobuf_varint(m, TRACK_PARENT, t->parent->id);
	} else {
		tel__protobuf_varint(part, PROCESS_PID, t->id);
		tel__protobuf_text(part, PROCESS_NAME, t->name, t->length);
		tel__protobuf_message(m, TRACK_PROCESS, part);
	}
	if (t->use == TIMELINE_COUNT || t->use == TIMELINE_BYTES) {
		tel__protobuf_varint(part, COUNTER_UNIT,
		    t->use == TIMELINE_BYTES ? UNIT_BYTES : UNIT_COUNT);
		tel__protobuf_message(m, TRACK_COUNTER, part);
	}
	tel__protobuf_message(&f->packet, PACKET_TRACK_DESCRIPTOR, m);
	perfetto_write_packet(pr, f);
}

static void
perfetto_begin(struct tel_printer *pr, const struct timeline_track *t,
    uint64_t time, const char *name, size_t n, const struct tel_event *ev)
{
	perfetto_put_event(pr, t, time, SLICE_BEGIN, name, n, ev);
}

static void
perfetto_end(struct tel_printer *pr, const struct timeline_track *t,
    uint64_t time)
{
	perfetto_put_event(pr, t, time, SLICE_END, NULL, 0, NULL);
}

static void
perfetto_span(struct tel_printer *pr, const struct timeline_track *t,
    uint64_t time, uint64_t length, const char *name, size_t n,
    const struct tel_event *ev, int method)
{
	(void)method;
	perfetto_begin(pr, t, time, name, n, ev);
	perfetto_end(pr, t, time + length);
}

static void
perfetto_instant(struct tel_printer *pr, const struct timeline_track *t,
    uint64_t time, const char *name, size_t n, const struct tel_event *ev)
{
	perfetto_put_event(pr, t, time, INSTANT, name, n, ev);
}

static void
perfetto_counter(struct tel_printer *pr, const struct timeline_track *t,
    uint64_t time, int64_t value)
{
	struct perfetto *f = pr->state;

	tel__protobuf_varint(&f->event, EVENT_COUNTER, (uint64_t)value);
	perfetto_put_event(pr, t, time, COUNTER, NULL, 0, NULL);
}

static const struct timeline_ops ops = { perfetto_track, perfetto_begin,
	perfetto_end, perfetto_span, perfetto_instant, perfetto_counter,
	.state_size = sizeof(struct perfetto) };

static void
perfetto_release(struct tel_printer *pr)
{
	struct perfetto *f = pr->state;

	tel__timeline_free(f->timeline);
	for (unsigned i = 0; i < INTERNED_FIELDS; i++)
		tel__names_clear(&f->names[i]);
	tel__buffer_clear(&f->packet);
	tel__buffer_clear(&f->event);
	tel__buffer_clear(&f->annotation);
	tel__buffer_clear(&f->interned);
	tel__buffer_clear(&f->part);
}

const struct tel_renderer tel__renderer_perfetto = {
	.name = "perfetto",
	.flags = TEL_PRINTER_TIMELINE | TEL_PRINTER_WHOLE | TEL_PRINTER_BINARY,
	.dialect = &ops,
	.begin_log = tel__timeline_begin_log,
	.event = tel__timeline_print,
	.release = perfetto_release,
};
