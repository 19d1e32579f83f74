/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stream: the packets of its files, in order of time, and their events.
 *
 * The files of a stream are parts of one recording, or of snapshots that
 * overlap: the packet that comes next is the earliest of all files, and one
 * that is the same as the one before is left out.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/ctf/packet.h"
#include "base/bytes.h"

/* Sizes of most packets are multiples of it. */
#define PAGE ((uint64_t)4096)

/* ---------------------------------------------------------------- the clock */

/* Nanoseconds since 1970 of a value of a clock. */
static uint64_t
stream_clock_ns(const struct ctf_clock *clock, uint64_t value)
{
	int64_t cycles, seconds, ns;

	if (clock == NULL)
		return value;
	if (__builtin_add_overflow(clock->cycles, value, &cycles))
		cycles = INT64_MAX;
	uint64_t frequency = clock->frequency;
	if (frequency == 1000000000) {
		ns = cycles;
		if (__builtin_mul_overflow(clock->seconds, 1000000000,
		        &seconds) ||
		    __builtin_add_overflow(ns, seconds, &ns))
			return clock->seconds < 0 ? 0 : INT64_MAX;
		return ns < 0 ? 0 : (uint64_t)ns;
	}
	/* rounded down, also before the origin */
	const uint64_t back = cycles < 0 ? 0 - (uint64_t)cycles : 0;
	int64_t whole = (int64_t)((uint64_t)cycles / frequency);
	uint64_t rest = (uint64_t)cycles % frequency;
	if (cycles < 0) {
		whole = -1 - (int64_t)((back - 1) / frequency);
		rest = frequency - 1 - (back - 1) % frequency;
	}
	/* less than a second: so that the product fits */
	while (frequency > UINT64_MAX / 1000000000) {
		frequency >>= 1;
		rest >>= 1;
	}
	rest = rest * 1000000000 / frequency;
	if (__builtin_add_overflow(clock->seconds, whole, &seconds) ||
	    __builtin_mul_overflow(seconds, 1000000000, &ns) ||
	    __builtin_add_overflow(ns, rest, &ns))
		return clock->seconds < 0 ? 0 : INT64_MAX;
	return ns < 0 ? 0 : (uint64_t)ns;
}

/*
 * Reports, once for a log, times that nanoseconds since 1970 cannot be, up to
 * 2262: the events have the nearest one.
 */
static void
stream_report_clock(struct tel_reader *r, struct ctf *s,
    const struct ctf_stream *stream)
{
	const struct ctf_clock *clock = stream->type->clock;

	if (s->clock_reported || clock == NULL ||
	    (stream->ns == 0 && clock->seconds >= 0 && clock->cycles >= 0))
		return;
	s->clock_reported = 1;
	tel__reader_notice(r, TEL_WARNING, r->offset,
	    "%.100s: the clock is %s: all such times are shown as that one",
	    tel__ctf_file_name(s, stream->file),
	    stream->ns == 0 ? "earlier than 1970-01-01 00:00 UTC" :
	                      "later than 2^63 ns after 1970-01-01 00:00 UTC");
}

/* ------------------------------------------------------------------- streams */

static tel_status
add_file(struct ctf_stream *stream, const struct ctf_file *f)
{
	if (!TEL__RESERVE(stream->files, stream->file_room, stream->nfiles + 1))
		return TEL_ENOMEM;
	stream->files[stream->nfiles++] = *f;
	return TEL_OK;
}

/* The stream of a file, from its first packet. */
static tel_status
find_stream(struct tel_reader *r, struct ctf *s, size_t trace,
    const struct ctf_stream_type *type, uint64_t id, const struct ctf_file *f)
{
	/* files are in the order of their names: mostly it is the last one */
	for (size_t i = s->nstreams; i-- > 0 && id != UINT64_MAX;)
		if (s->streams[i].order == trace &&
		    s->streams[i].type == type && s->streams[i].id == id)
			return add_file(&s->streams[i], f);
	if (s->nstreams == CTF_STREAMS_MAX)
		return tel__reader_fail(r, TEL_ELIMIT, "more than %u streams",
		    CTF_STREAMS_MAX);
	if (!TEL__RESERVE(s->streams, s->stream_room, s->nstreams + 1))
		return TEL_ENOMEM;
	struct ctf_stream *stream = &s->streams[s->nstreams];
	memset(stream, 0, sizeof(*stream));
	stream->trace = &s->traces[trace];
	stream->order = trace;
	stream->type = type;
	stream->id = id;
	stream->slots = calloc(CTF_SLOTS_MAX, sizeof(*stream->slots));
	stream->prefix = calloc(1, type->prefix + CTF_SLACK);
	s->nstreams++;
	return stream->slots != NULL && stream->prefix != NULL ?
	    add_file(stream, f) :
	    TEL_ENOMEM;
}

/* The trace whose folder a file is in; that of all its parts. */
static size_t
trace_of(const struct ctf *s, const char *name)
{
	const char *slash = strrchr(name, '/');
	const size_t n = slash != NULL ? (size_t)(slash + 1 - name) : 0;
	size_t i, j;

	for (i = 0; i < s->ntraces; i++)
		if (strlen(s->traces[i].folder) == n &&
		    memcmp(s->traces[i].folder, name, n) == 0)
			break;
	if (i == s->ntraces)
		return i;
	const struct ctf_metadata *m = &s->traces[i].m;
	for (j = 0; j < i; j++)
		if (m->has_uuid && s->traces[j].m.has_uuid &&
		    memcmp(m->uuid, s->traces[j].m.uuid, sizeof(m->uuid)) == 0)
			return j;
	return i;
}

/* Files that are left out of a folder are left out of an archive as well. */
static int
is_hidden(const char *name)
{
	const char *slash = strrchr(name, '/');

	return (slash != NULL ? slash[1] : name[0]) == '.';
}

tel_status
tel__ctf_find_streams(struct tel_reader *r, struct ctf *s)
{
	uint64_t *slots = calloc(CTF_SLOTS_MAX, sizeof(*slots));
	const struct ctf_stream_type *type = NULL;
	tel_status st = slots != NULL ? TEL_OK : TEL_ENOMEM;
	uint64_t id = 0;
	struct ctf_cursor c;
	struct ctf_file f;

	for (size_t i = 0; i < s->set->count && st == TEL_OK; i++) {
		const char *name = s->set->files[i].name;
		size_t trace = trace_of(s, name);

		memset(&f, 0, sizeof(f));
		f.number = i;
		f.size = s->set->files[i].size;
		if (trace == s->ntraces || s->traces[trace].broken ||
		    f.size == 0 || tel__ctf_is_metadata_name(name) ||
		    is_hidden(name))
			continue;
		memset(&c, 0, sizeof(c));
		c.slots = slots;
		st = tel__ctf_file_packet(r, s, &s->traces[trace], &f, &c,
		    &type, &id);
		if (st == TEL_OK && !f.ended)
			st = find_stream(r, s, trace, type, id, &f);
	}
	free(slots);
	return st;
}

/* Nonzero when packet a comes before b. */
static int
stream_comes_before(const struct ctf_packet *a, const struct ctf_packet *b)
{
	return a->begin != b->begin ? a->begin < b->begin :
	                              a->sequence < b->sequence;
}

/* Nonzero when both are the same, of two snapshots. */
static int
same_packet(const struct ctf_packet *a, const struct ctf_packet *b)
{
	const unsigned compared = CTF_ROLE_CLOCK | CTF_ROLE_END_CLOCK;

	return (a->seen & compared) == compared && a->seen == b->seen &&
	    a->begin == b->begin && a->end == b->end && a->size == b->size &&
	    a->content == b->content && a->sequence == b->sequence;
}

/* Nonzero when the packet at an offset has the number behind that of f's. */
static int
is_followed(struct ctf *s, struct ctf_stream *stream, const struct ctf_file *f,
    uint64_t offset)
{
	const struct ctf_stream_type *type;
	struct ctf_cursor ahead = stream->cursor;
	struct ctf_file next = *f;
	const char *why;
	uint64_t id;

	next.packet.offset = offset;
	return tel__ctf_read_head(NULL, s, stream->trace, &next, &ahead, &type,
	           &id, &why) == TEL_OK &&
	    ((next.packet.seen & CTF_ROLE_SEQUENCE) == 0 ||
	        next.packet.sequence == f->packet.sequence + 1);
}

/*
 * Looks for a packet that starts before a packet of that file ends by its size,
 * which then is wrong: *offset is set to where.  TEL_OK, TEL_EIO.
 */
static tel_status
find_earlier(struct tel_reader *r, struct ctf *s, struct ctf_stream *stream,
    const struct ctf_file *f, uint64_t *offset)
{
	const struct ctf_packet *p = &f->packet;
	const uint64_t end = p->offset + p->size / 8;
	uint64_t at = p->offset + (p->content - 1) / 8;

	*offset = end;
	if ((p->seen & CTF_ROLE_MAGIC) == 0)
		return TEL_OK;
	tel_status st = tel__ctf_find_packet(r, s, stream->trace, f, &at);
	if (st == TEL_OK && at < end)
		*offset = at;
	return st;
}

/* Moves a file of a stream behind its packet. */
static tel_status
pass_packet(struct tel_reader *r, struct ctf *s, struct ctf_stream *stream,
    struct ctf_file *f)
{
	const struct ctf_stream_type *type = stream->type;
	const struct ctf_packet before = f->packet;
	struct ctf_cursor ahead = stream->cursor;
	uint64_t id = stream->id, next = before.offset + before.size / 8;

	/*
	 * A packet with much room behind its events, or one whose size is not
	 * that of a buffer, where no other follows it, or the file ends.
	 */
	if ((before.size - before.content >= 8 * PAGE || next % PAGE != 0) &&
	    (next >= f->size || !is_followed(s, stream, f, next))) {
		tel_status st = find_earlier(r, s, stream, f, &next);

		if (st == TEL_OK && next < before.offset + before.size / 8)
			st = tel__reader_damage(r, r->offset, 0,
			    "%.100s: the packet at byte %llu says that it has "
			    "%llu bytes, and another one starts behind %llu",
			    tel__ctf_file_name(s, f),
			    (unsigned long long)before.offset,
			    (unsigned long long)before.size / 8,
			    (unsigned long long)(next - before.offset));
		if (st != TEL_OK)
			return st;
	}
	f->packet.offset = next;
	tel_status st =
	    tel__ctf_file_packet(r, s, stream->trace, f, &ahead, &type, &id);
	if (st == TEL_OK && !f->ended && type != stream->type) {
		f->ended = 1;
		st =
		    tel__reader_damage(r, r->offset, f->size - f->packet.offset,
		        "%.100s: a packet of another stream at byte %llu",
		        tel__ctf_file_name(s, f),
		        (unsigned long long)f->packet.offset);
	}
	return st;
}

/* The integer of the context of packets that has a role; or NULL. */
static const struct ctf_step *
stream_find_role(const struct ctf_stream_type *t, enum ctf_role role)
{
	const struct ctf_step *s = t->packet_context;

	while (s != NULL && (s->roles & role) == 0)
		s = s->next;
	return s;
}

/* The count of discarded events of a packet, less that of the one before. */
static uint64_t
stream_discarded(const struct ctf_stream *stream, const struct ctf_packet *p)
{
	const struct ctf_step *s =
	    stream_find_role(stream->type, CTF_ROLE_DISCARDED);
	uint64_t more = p->discarded - stream->discarded;

	if (p->discarded >= stream->discarded)
		return more;
	/* of fewer bits it overflows, unless it starts again */
	if (s == NULL || s->class->kind == CTF_VARINT)
		return 0;
	const uint64_t mask = UINT64_MAX >> (64 - s->class->size);
	more &= mask;
	return more <= mask / 2 ? more : 0;
}

/* What was lost before a packet, by its numbers. */
static void
stream_count_lost(struct tel_reader *r, const struct ctf *s,
    struct ctf_stream *stream, const struct ctf_packet *p)
{
	if ((p->seen & CTF_ROLE_DISCARDED) != 0) {
		uint64_t missing = stream_discarded(stream, p);

		if (missing > 0) {
			stream->lost += missing;
			tel__reader_notice(r, TEL_INFO, r->offset,
			    "%.100s: %llu events were discarded before the end "
			    "of packet %llu",
			    tel__ctf_file_name(s, stream->file),
			    (unsigned long long)missing,
			    (unsigned long long)p->sequence);
		}
		stream->discarded = p->discarded;
	}
	if ((p->seen & CTF_ROLE_SEQUENCE) == 0)
		return;
	uint64_t missing = p->sequence - stream->sequence - 1;
	if (stream->packets > 0 && p->sequence > stream->sequence &&
	    missing > 0)
		tel__reader_notice(r, TEL_WARNING, r->offset,
		    "%.100s: %llu packet%s missing before packet %llu",
		    tel__ctf_file_name(s, stream->file),
		    (unsigned long long)missing, missing == 1 ? "" : "s",
		    (unsigned long long)p->sequence);
	stream->sequence = p->sequence;
}

/* Nonzero when the context of a packet has all bits of the clock. */
static int
has_whole_clock(const struct ctf_stream_type *t)
{
	const struct ctf_step *s = stream_find_role(t, CTF_ROLE_CLOCK);

	return s != NULL && s->clock != NULL &&
	    (s->class->kind == CTF_VARINT || s->class->size == 64);
}

/*
 * Nonzero when all events of a packet are outside of the selected clocks.  The
 * first one of a stream is read all the same, as times count from its events.
 */
static int
is_outside(const struct tel_reader *r, const struct ctf_stream *stream)
{
	const struct ctf_clock *clock = stream->type->clock;
	const struct ctf_packet *p = &stream->packet;
	const unsigned both = CTF_ROLE_CLOCK | CTF_ROLE_END_CLOCK;

	return r->range.on && stream->packets > 0 && (p->seen & both) == both &&
	    p->end >= p->begin && p->end != 0 &&
	    has_whole_clock(stream->type) &&
	    (stream_clock_ns(clock, p->end) < r->range.first ||
	        stream_clock_ns(clock, p->begin) > r->range.last);
}

/* Keeps what a context gave behind its numbers.  0: out of memory. */
static int
keep_context_texts(struct tel_reader *r, struct ctf *s,
    struct ctf_stream *stream)
{
	const size_t n = s->context.used - CTF_HEAD_MAX;

	stream->texts.used = 0;
	stream->texts_dropped = n > CTF_TEXTS_MAX;
	if (!stream->texts_dropped)
		tel__buffer_put(&stream->texts, s->context.bytes + CTF_HEAD_MAX,
		    n);
	else if (!s->texts_reported)
		tel__reader_notice(r, TEL_WARNING, r->offset,
		    "%.100s: the texts in the context of packets have more "
		    "than %u bytes, and are empty here",
		    tel__ctf_file_name(s, stream->file), CTF_TEXTS_MAX);
	s->texts_reported |= stream->texts_dropped;
	return !stream->texts.failed;
}

/* Begins the next packet of a stream.  TEL_END: there is none. */
static tel_status
next_packet(struct tel_reader *r, struct ctf *s, struct ctf_stream *stream)
{
	const struct ctf_packet before = stream->packet;
	const struct ctf_stream_type *type;
	struct ctf_cursor *c = &stream->cursor;
	struct ctf_file *f;
	const char *why;
	tel_status st;
	uint64_t id;

	for (;;) {
		if (stream->file != NULL) {
			st = pass_packet(r, s, stream, stream->file);
			if (st != TEL_OK)
				return st;
		}
		stream->file = NULL;
		for (size_t i = 0; i < stream->nfiles; i++) {
			f = &stream->files[i];
			if (!f->ended &&
			    (stream->file == NULL ||
			        stream_comes_before(&f->packet,
			            &stream->file->packet)))
				stream->file = f;
		}
		if (stream->file == NULL)
			return TEL_END;
		f = stream->file;
		if (stream->packets == 0 || !same_packet(&f->packet, &before))
			break;
	}
	/* again, for the fields of its context, and what these set */
	c->slots = stream->slots;
	if (stream->trace->m.version == 2)
		c->clock = 0;
	st = tel__ctf_read_head(r, s, stream->trace, f, c, &type, &id, &why);
	if (st != TEL_OK)
		return st == TEL_END ? TEL_EIO : st;
	memcpy(stream->prefix, s->context.bytes, stream->type->prefix);
	if (!keep_context_texts(r, s, stream))
		return TEL_ENOMEM;
	if (f->packet.size > 8 * (f->size - f->packet.offset))
		f->packet.size = 8 * (f->size - f->packet.offset);
	if (f->packet.content > f->packet.size)
		f->packet.content = f->packet.size;
	stream->packet = f->packet;
	stream->origin.stream = stream;
	stream->origin.file = f->number;
	stream->origin.offset = f->packet.offset;
	stream->origin.content = f->packet.content;
	stream_count_lost(r, s, stream, &stream->packet);
	c->at = is_outside(r, stream) ? stream->packet.content :
	                                stream->packet.start;
	stream->packets = 1;
	c->content = stream->packet.content;
	c->start = stream->filled = 0;
	c->bytes = stream->window;
	c->end = c->at;
	c->big = stream->trace->m.big;
	return TEL_OK;
}

/* -------------------------------------------------------------------- events */

/* Has the window start at the next bit; it grows if it did already. */
static tel_status
stream_fill_window(struct tel_reader *r, struct ctf *s,
    struct ctf_stream *stream)
{
	struct ctf_cursor *c = &stream->cursor;
	const uint64_t start = c->at / 8;
	const uint64_t left = (c->content + 7) / 8 - start;
	size_t size = stream->window_size;
	unsigned char *grown;
	ptrdiff_t n;

	if (size < s->window)
		size = s->window;
	if (stream->filled > 0 && c->start == start)
		size *= 2;
	if (size > 2 * CTF_RECORD_MAX)
		return TEL_END;
	if (size != stream->window_size) {
		grown = realloc(stream->window, size + CTF_SLACK);
		if (grown == NULL)
			return TEL_ENOMEM;
		stream->window = grown;
		stream->window_size = size;
	}
	n = tel__fileset_read(s->set, stream->file->number, stream->window,
	    size < left ? size : (size_t)left, stream->packet.offset + start);
	if (n < 0)
		return tel__ctf_read_failed(r, s, stream->file);
	memset(stream->window + n, 0, CTF_SLACK);
	stream->filled = (size_t)n;
	c->bytes = stream->window;
	c->start = start;
	c->end = n > 0 ? 8 * (start + (uint64_t)n) : c->at;
	if (c->end >= c->content)
		c->end = c->content;
	else if ((uint64_t)n == left || (size_t)n < size)
		/* the file has become shorter */
		c->content = c->end;
	return TEL_OK;
}

/* The rest of a packet is lost. */
static tel_status
skip_packet(struct tel_reader *r, const struct ctf *s,
    struct ctf_stream *stream, const char *why)
{
	struct ctf_cursor *c = &stream->cursor;
	const uint64_t at = stream->packet.offset + c->at / 8;
	const uint64_t left =
	    c->content > c->at ? (c->content - c->at + 7) / 8 : 0;

	c->at = c->content;
	stream->event = NULL;
	return tel__reader_damage(r, r->offset, left,
	    "%.100s: %s at byte %llu; the packet's other %llu bytes are "
	    "skipped",
	    tel__ctf_file_name(s, stream->file), why, (unsigned long long)at,
	    (unsigned long long)left);
}

static const struct ctf_event_type *
find_event(const struct ctf_stream_type *t, uint64_t id)
{
	size_t low = 0, high = t->nevents, middle;

	/* mostly they are numbered from 0 */
	if (id < t->nevents && t->events[id].id == id)
		return &t->events[id];
	TEL__BISECT(low, high, middle, t->events[middle].id < id);
	return low < t->nevents && t->events[low].id == id ? &t->events[low] :
	                                                     NULL;
}

enum ctf_result
tel__ctf_stream_execute(struct tel_reader *r, struct ctf *s,
    struct ctf_stream *stream, const struct ctf_step *steps, tel_status *st)
{
	struct ctf_cursor *c = &stream->cursor;
	const uint64_t at = c->at, clock = c->clock;
	const uint64_t copied = c->copy != NULL ? c->copy->at : 0;
	struct tel__buffer *const records = c->out;
	const size_t used = records != NULL ? records->used : 0;

	for (;;) {
		enum ctf_result result = tel__ctf_execute(c, steps);

		if (result == CTF_DONE)
			return result;
		c->at = at;
		c->clock = clock;
		if (result != CTF_MORE)
			return result;
		*st = stream_fill_window(r, s, stream);
		if (*st == TEL_END) {
			c->why = "an event of more than 16 MiB";
			return CTF_BAD;
		}
		if (*st != TEL_OK)
			return CTF_MEMORY;
		if (records != NULL)
			records->used = used;
		if (c->copy != NULL)
			tel__ctf_bits_back(c->copy, copied);
	}
}

/*
 * Takes a header of the usual kind.  0: it is another, or not in the window;
 * the cursor stays.
 */
static inline int
take_short_header(struct ctf_stream *stream, uint64_t *id)
{
	const struct ctf_short_header *h = &stream->type->header;
	struct ctf_cursor *c = &stream->cursor;
	const uint64_t at = (c->at + h->align - 1) & ~(uint64_t)(h->align - 1);
	const unsigned bits = h->id_bits + (unsigned)h->clock_bits;
	unsigned shift = at % 8;

	if (bits == 0 || at + bits > c->end)
		return 0;
	const unsigned char *p = c->bytes + (at / 8 - c->start);
	uint64_t v = tel_le64(p) >> shift;
	*id = v & (((uint64_t)1 << h->id_bits) - 1);
	if (*id < h->low || *id > h->high)
		return 0;
	if (shift + bits <= 64) {
		v >>= h->id_bits;
	} else {
		p += (shift + h->id_bits) / 8;
		shift = (shift + h->id_bits) % 8;
		if (shift + h->clock_bits > 64)
			return 0;
		v = tel_le64(p) >> shift;
	}
	ctf_set_clock(c, v, h->clock_bits);
	c->slots[h->id_slot] = *id;
	c->slots[h->clock_slot] = v & (UINT64_MAX >> (64 - h->clock_bits));
	c->at = at + bits;
	return 1;
}

tel_status
tel__ctf_stream_next(struct tel_reader *r, struct ctf *s,
    struct ctf_stream *stream)
{
	struct ctf_cursor *c = &stream->cursor;
	tel_status st = TEL_OK;
	uint64_t before, id;

	stream->event = NULL;
	for (;;) {
		while (stream->file == NULL || c->at >= c->content) {
			st = next_packet(r, s, stream);
			if (st != TEL_OK)
				return st;
		}
		before = c->at;
		stream->origin.start = before;
		if (take_short_header(stream, &id) &&
		    (stream->event = find_event(stream->type, id)) != NULL)
			break;
		c->at = before;
		c->seen &= ~(unsigned)CTF_ROLE_EVENT_CLASS;
		enum ctf_result result = tel__ctf_stream_execute(r, s, stream,
		    stream->type->event_header, &st);
		if (result == CTF_MEMORY)
			return st != TEL_OK ? st : TEL_ENOMEM;
		if (result == CTF_DONE) {
			stream->event = find_event(stream->type,
			    ctf_role(c, CTF_ROLE_EVENT_CLASS, 0));
			if (stream->event == NULL &&
			    (c->seen & CTF_ROLE_EVENT_CLASS) == 0 &&
			    stream->type->nevents == 1)
				stream->event = stream->type->events;
			c->why = "an event of a type that the metadata lack";
		}
		if (stream->event != NULL)
			break;
		c->at = before;
		st = skip_packet(r, s, stream, c->why);
		if (st != TEL_OK)
			return st;
	}
	stream->ns = stream_clock_ns(stream->type->clock, c->clock);
	if (__builtin_expect(stream->ns - 1 >= INT64_MAX - 1, 0))
		stream_report_clock(r, s, stream);
	stream->origin.clock = c->clock;
	stream->origin.type = stream->event;
	return TEL_OK;
}

/* Nonzero when the event is but bytes that are copied, in the window. */
static inline int
stream_is_copied(const struct ctf_event_type *e, const struct ctf_cursor *c)
{
	return e->copied > 0 && c->at % 8 == 0 &&
	    c->at + 8 * (uint64_t)e->copied <= c->end;
}

uint32_t
tel__ctf_stream_pass(struct ctf_stream *stream)
{
	const struct ctf_event_type *e = stream->event;
	struct ctf_cursor *c = &stream->cursor;

	if (!stream_is_copied(e, c))
		return 0;
	c->at += 8 * (uint64_t)e->copied;
	return e->head + (uint32_t)stream->texts.used;
}

/* Copies n bytes, which CTF_SLACK others may follow in both places. */
static inline void
stream_copy(unsigned char *to, const unsigned char *from, size_t n)
{
	/* of a fixed size, as a copy of few bytes takes longer */
	if (n <= CTF_SLACK)
		memcpy(to, from, CTF_SLACK);
	else
		tel_copy_short(to, from, n);
}

/* Puts the texts of the packet's context behind the head of a record. */
static void
add_context_texts(struct ctf *s, const struct ctf_stream *stream, size_t record)
{
	const struct ctf_event_type *e = stream->event;

	for (unsigned i = 0; i < e->type->nfields; i++) {
		const struct tel_field *f = &e->type->fields[i];
		unsigned char *cell = s->records.bytes + record + f->offset;

		if (f->offset >= stream->type->prefix ||
		    (f->datatype != TEL_STRING && f->datatype != TEL_LIST) ||
		    tel_le32(cell) == 0)
			continue;
		/* one outside of the record is empty */
		tel_store_le32(cell,
		    stream->texts_dropped ?
		        UINT32_MAX :
		        tel_le32(cell) - CTF_HEAD_MAX + e->head);
	}
	tel__buffer_put(&s->records, stream->texts.bytes, stream->texts.used);
}

tel_status
tel__ctf_stream_take(struct tel_reader *r, struct ctf *s,
    struct ctf_stream *stream)
{
	const struct ctf_event_type *e = stream->event;
	struct ctf_cursor *c = &stream->cursor;
	const size_t before = s->records.used;
	const size_t record =
	    before + (s->origins ? sizeof(stream->origin) : 0);
	enum ctf_result result;
	tel_status st = TEL_OK;
	unsigned char *to = tel__buffer_room(&s->records,
	    record - before + (size_t)e->head + stream->texts.used + CTF_SLACK);

	if (to == NULL)
		return TEL_ENOMEM;
	if (s->origins) {
		memcpy(to, &stream->origin, sizeof(stream->origin));
		to += sizeof(stream->origin);
		s->records.used = record;
	}
	stream_copy(to, stream->prefix, stream->type->prefix);
	if (e->has_choice)
		memset(to + stream->type->prefix, 0,
		    e->head - stream->type->prefix);
	c->out = &s->records;
	c->record = record;
	s->records.used += e->head;
	const int copied = stream_is_copied(e, c);
	if (copied) {
		stream_copy(to + e->copy_to, c->bytes + (c->at / 8 - c->start),
		    e->copied);
		c->at += 8 * (uint64_t)e->copied;
	}
	if (stream->texts.used > 0 || stream->texts_dropped)
		add_context_texts(s, stream, record);
	if (copied)
		return TEL_OK;
	result = tel__ctf_stream_execute(r, s, stream, e->steps, &st);
	if (result == CTF_DONE && c->at > stream->origin.start)
		return TEL_OK;
	s->records.used = before;
	if (result == CTF_DONE)
		c->why = "an event of no bits";
	if (result == CTF_MEMORY)
		return st != TEL_OK ? st : TEL_ENOMEM;
	st = skip_packet(r, s, stream, c->why);
	return st == TEL_OK ? TEL_AGAIN : st;
}
