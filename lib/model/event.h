/* SPDX-License-Identifier: BSD-2-Clause */
/* Event: a view of one event's bytes in the input buffer. */
#ifndef TEL_EVENT_H
#define TEL_EVENT_H

#include "base/bytes.h"
#include "model/labels.h"
#include "model/schema.h"

struct tel_clock;
struct tel__history;
struct tel__metadata;

/* What the events of one log have in common.  Owned by the reader. */
struct tel_log {
	const char *name;   /* as messages call it */
	const char *format; /* "mps", "text", "cnv" */
	/* In a native stream, the format of the log that it was made from; or NULL. */
	const char *origin;
	struct tel_schema *schema;
	struct tel_labels *labels;
	struct tel_clock *clock;
	const struct tel__metadata *metadata; /* or NULL */
	/* Events lost where they were recorded, before the current one. */
	uint64_t lost;
	/*
	 * A digest of what the run of a program recorded, where it left several
	 * logs: the clocks of two runs have nothing in common.  0: not known.
	 */
	uint64_t run;
	int merged;         /* with the other members of an archive */
	uint64_t run_place; /* and one of the name of its file */
	unsigned number;    /* counts the logs of a reader, from 0 */
	uint64_t id;        /* random: a later log may get the same address */
	int records;        /* the .raw of an event is its bytes, not a line */
	/*
	 * The bytes before the first event: in a text the lines without an
	 * event, in other logs a header.
	 */
	const unsigned char *preamble;
	size_t preamble_size;
	/* Those behind the last one, once the text has ended. */
	const unsigned char *tail;
	size_t tail_size;
	/*
	 * What events are being read from, for the encoder of the same format,
	 * which may copy it; or NULL.
	 */
	const void *encoded;
	/* The same of a log of several files; or NULL. */
	const void *files;
	/* What expressions know of the events before; NULL until one asks. */
	struct tel__history *history;
};

struct tel_event {
	const struct tel_type *type;
	const unsigned char *data; /* the whole event, header included */
	uint64_t clock;            /* ticks */
	uint64_t offset;           /* of the first byte in the log */
	uint64_t index;            /* ordinal in the log, from 0 */
	struct tel_log *log;
	uint32_t size; /* bytes at data; no field lies beyond */
	/*
	 * Inline labels: those that a text shows after the addresses of its
	 * lines.  Each is the number of the field, the length of the label (2
	 * bytes, little-endian) and its bytes.
	 */
	uint32_t inline_size;
	const unsigned char *inline_labels;
	enum tel_inline {
		TEL_INLINE_NONE, /* not a text with inline labels */
		TEL_INLINE_ONLY, /* the log's own labels do not count */
		/* Re-sorted text: the label table first, then inline labels. */
		TEL_INLINE_FIRST
	} inline_use;
	/*
	 * Where .data is not a view of the log: the event as the log has it, in
	 * a text its line or lines, in other logs the record; and the bytes
	 * without an event between it and the event before.  Else NULL.
	 */
	uint32_t raw_size;
	uint32_t lead_size;
	const unsigned char *raw;
	const unsigned char *lead;
};

/* Nonzero when the event has no time: its clock is 0, which means unknown. */
static inline int
tel_event_timeless(const struct tel_event *ev)
{
	return ev->clock == 0 && ev->type->schema->untimed;
}

/* How many bytes an event refers to in all. */
static inline size_t
tel_event_extent(const struct tel_event *ev)
{
	return (size_t)ev->size + ev->inline_size + ev->raw_size +
	    ev->lead_size;
}

/* How many bytes of a binary log an event takes; of a text, of a stream. */
static inline uint32_t
tel_event_size(const struct tel_event *ev)
{
	return ev->log->records ? ev->raw_size : ev->size;
}

/* Has ev refer to a copy of its bytes at p, as tel_event_copy() made it. */
static inline void
tel_event_place(struct tel_event *ev, const unsigned char *p)
{
	ev->data = p;
	ev->inline_labels = ev->data + ev->size;
	ev->raw = ev->raw_size > 0 ? ev->inline_labels + ev->inline_size : NULL;
	ev->lead = ev->lead_size > 0 ? ev->raw + ev->raw_size : NULL;
}

/* Copies all bytes that ev refers to, one after the other, to p. */
static inline void
tel_event_copy(unsigned char *p, const struct tel_event *ev)
{
	memcpy(p, ev->data, ev->size);
	p += ev->size;
	if (ev->inline_size > 0)
		memcpy(p, ev->inline_labels, ev->inline_size);
	p += ev->inline_size;
	if (ev->raw_size > 0)
		memcpy(p, ev->raw, ev->raw_size);
	p += ev->raw_size;
	if (ev->lead_size > 0)
		memcpy(p, ev->lead, ev->lead_size);
}

/* Finds the label that a line of text shows at field number i. */
int tel__find_inline(const struct tel_event *ev, unsigned i,
    struct tel_label *out);

/*
 * The field's value as 64 bits.  The field lies within the event: readers
 * give an event a type only when its size fits.
 */
static inline uint64_t
tel_load(const struct tel_field *f, const unsigned char *data)
{
	const unsigned char *p = data + f->offset;

	switch (f->load) {
	case TEL_LOAD_LE64: return tel_le64(p);
	case TEL_LOAD_LE32: return tel_le32(p);
	case TEL_LOAD_U8: return p[0];
	case TEL_LOAD_BIT: return (p[0] >> f->bit) & 1;
	case TEL_LOAD_BE64: return tel_be64(p);
	case TEL_LOAD_BE32: return tel_be32(p);
	case TEL_LOAD_LE16: return tel_le16(p);
	case TEL_LOAD_BE16: return tel_be16(p);
	case TEL_LOAD_LE16S: return (uint64_t)(int16_t)tel_le16(p);
	case TEL_LOAD_LE32S: return (uint64_t)(int32_t)tel_le32(p);
	case TEL_LOAD_BE16S: return (uint64_t)(int16_t)tel_be16(p);
	case TEL_LOAD_BE32S: return (uint64_t)(int32_t)tel_be32(p);
	case TEL_LOAD_LEF32: return tel_float_bits(tel_le32(p));
	case TEL_LOAD_LIST: return tel_le32(p + 4);
	case TEL_LOAD_STRING:
	case TEL_LOAD_STRING_AT: break;
	}
	return 0;
}

/* The same where most fields are 64 bits, little-endian: worth a test. */
static inline uint64_t
tel__load_mostly(const struct tel_field *f, const unsigned char *data)
{
	if (__builtin_expect(f->load == TEL_LOAD_LE64, 1))
		return tel_le64(data + f->offset);
	return tel_load(f, data);
}

/* Nonzero when the event has field f, which its type has. */
static inline int
tel_present(const struct tel_field *f, const unsigned char *data)
{
	return f->present == 0 || (data[f->present_at] & f->present) != 0;
}

/* Finds the name of a value of an enum. */
static inline int
tel_find_name(const struct tel_names *n, uint64_t value, struct tel_label *out)
{
	if (value - n->first >= n->count)
		return 0;
	out->id = value;
	out->string = n->names[value - n->first];
	out->length = strlen(out->string);
	out->plain = 1;
	return 1;
}

/* Finds the label in force in a space for value, in field number i. */
static inline int
tel_find_label_at(const struct tel_event *ev, unsigned i, enum tel_space space,
    uint64_t value, struct tel_label *out)
{
	if (space == TEL_SPACE_ENUM)
		return tel_find_name(ev->type->fields[i].names, value, out);
	if (ev->inline_use == TEL_INLINE_ONLY)
		return tel__find_inline(ev, i, out);
	if (tel__labels_find(ev->log->labels, space, value, ev->clock, out) &&
	    (out->string != NULL || ev->inline_use == TEL_INLINE_NONE))
		return 1;
	return ev->inline_use == TEL_INLINE_FIRST &&
	    tel__find_inline(ev, i, out);
}

/* Where the labels of f are, if tel_field_labelled(f). */
static inline enum tel_space
tel_field_space(const struct tel_schema *s, const struct tel_field *f)
{
	if (f->space != 0)
		return (enum tel_space)f->space;
	return f->datatype == TEL_POINTER && s->split_space ?
	    TEL_SPACE_POINTER :
	    TEL_SPACE_ADDRESS;
}

/* Finds the label in force for the value of f. */
static inline int
tel_find_label(const struct tel_event *ev, const struct tel_field *f,
    uint64_t value, struct tel_label *out)
{
	if (!tel_field_labelled(f))
		return 0;
	return tel_find_label_at(ev, (unsigned)(f - ev->type->fields),
	    tel_field_space(ev->type->schema, f), value, out);
}

/*
 * The bytes of the string field f and their number, the NUL left out; none of a
 * field that the event lacks, whose place may be anywhere.
 */
static inline const char *
tel_load_string(const struct tel_event *ev, const struct tel_field *f,
    size_t *length)
{
	uint32_t at = f->load == TEL_LOAD_STRING_AT ?
	    tel_le32(ev->data + f->offset) :
	    f->offset;
	size_t room =
	    ev->size > at && tel_present(f, ev->data) ? ev->size - at : 0;
	const char *p = (const char *)ev->data + (room > 0 ? at : 0);
	const char *nul = room > 0 ? memchr(p, 0, room) : NULL;

	*length = nul != NULL ? (size_t)(nul - p) : room;
	return p;
}

/* The elements of a list; those that are not within the event are left out. */
struct tel_list {
	const unsigned char *p, *end; /* of the rest */
	size_t count;                 /* elements that are left */
	struct tel_field field;       /* of an element, at offset 0 */
};

static inline void
tel_list_open(const struct tel_event *ev, const struct tel_field *f,
    struct tel_list *out)
{
	const uint32_t at = tel_le32(ev->data + f->offset);
	const size_t room = ev->size > at ? ev->size - at : 0;
	const size_t width = f->width > 8 ? f->width / 8u : 1;

	out->p = ev->data + (room > 0 ? at : 0);
	out->end = out->p + room;
	out->count = tel_le32(ev->data + f->offset + 4);
	/* a string has at least its NUL */
	if (out->count > room / width)
		out->count = room / width;
	out->field = *f;
	out->field.datatype = (enum tel_datatype)f->element;
	out->field.load = f->list_load;
	out->field.offset = 0;
}

/* The next of .count elements: a number, or a string of *length bytes. */
static inline uint64_t
tel_list_next(struct tel_list *l)
{
	const uint64_t v = tel_load(&l->field, l->p);

	l->p += l->field.width > 8 ? l->field.width / 8u : 1;
	l->count--;
	return v;
}

static inline const char *
tel_list_next_string(struct tel_list *l, size_t *length)
{
	const char *s = (const char *)l->p;
	const size_t room = (size_t)(l->end - l->p);
	const char *nul = room > 0 ? memchr(s, 0, room) : NULL;

	*length = nul != NULL ? (size_t)(nul - s) : room;
	l->p += *length + (nul != NULL);
	l->count--;
	return s;
}

#endif
