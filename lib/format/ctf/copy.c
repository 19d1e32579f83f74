/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The encoder of CTF: traces are filtered to traces.  Metadata are copied byte
 * for byte, and of each stream the packets with selected events, whose bits are
 * copied field by field, as their alignment may be another in the new packet.
 *
 * A new packet has the context of the old one, with its own sizes and sequence
 * number.  One more begins where the clock has made a leap that the low bits in
 * the headers of events do not show.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "encoder/encoder.h"
#include "format/ctf/packet.h"
#include "format/ctf/folder.h"
#include "io/spool.h"

/* A packet ends behind so many bytes, where it has a size. */
#define PACKET_SIZE ((uint64_t)1 << 20)
/* Empty packets before one, whose clocks lead to that of its first event. */
#define BRIDGE_MAX 65536u
/* An entry of the index, of version 1.1 (lttng-index.h). */
#define INDEX_MAGIC UINT32_C(0xc1f1dcc1)
#define INDEX_ENTRY 72u

/* A stream that is written. */
struct copy {
	const struct ctf_stream *of;
	struct ctf_stream source; /* that reads the old packet */
	struct ctf_file file;
	struct ctf_bits bits;           /* of the new packet */
	int started;                    /* there is one */
	uint64_t clock;                 /* of its last event */
	uint64_t known;                 /* as of all packets before it */
	uint64_t begin, end, discarded; /* by its header */
	uint64_t first;                 /* the bit of its first event */
	uint64_t sequence, written;
	int fd, index;
};

struct copier {
	struct ctf_folder folder;
	const struct ctf
	    *log; /* NULL before the first, and when it has ended */
	struct copy *copies;
	size_t ncopies, room;
	struct tel__buffer record; /* of an event, which nobody looks at */
};

static tel_status
copy_fail(struct tel_writer *w, const char *why)
{
	return tel__write_fail(w, TEL_EIO, "%s: %s",
	    tel__path_end(w->folder, 100), why);
}

static tel_status
write_all(struct tel_writer *w, int fd, const void *bytes, size_t n)
{
	const int failed = tel__spool_write(fd, bytes, n);

	return failed == 0 ? TEL_OK : copy_fail(w, strerror(failed));
}

/* ---------------------------------------------------------------- metadata */

/* Copies a file of the set. */
static tel_status
copy_file(struct tel_writer *w, struct copier *e, struct tel_fileset *set,
    size_t i)
{
	int fd = tel__ctf_folder_file(&e->folder, set->files[i].name);
	unsigned char bytes[8192];
	uint64_t at = 0;
	tel_status st = TEL_OK;
	ptrdiff_t n = 1;

	if (fd < 0)
		return copy_fail(w, strerror(errno));
	while (st == TEL_OK && n > 0) {
		n = tel__fileset_read(set, i, bytes, sizeof(bytes), at);
		if (n < 0)
			st = copy_fail(w, strerror(errno));
		else
			st = write_all(w, fd, bytes, (size_t)n);
		at += (uint64_t)(n > 0 ? n : 0);
	}
	if (close(fd) != 0 && st == TEL_OK)
		st = copy_fail(w, strerror(errno));
	return st;
}

/* Nonzero when a file has the metadata of a trace, for all of its parts. */
static int
is_used(const struct ctf *s, const char *name)
{
	const size_t n = strlen(name) - strlen("metadata");

	for (size_t i = 0; i < s->ntraces; i++) {
		const struct ctf_trace *t = &s->traces[i];

		if (t->broken || strlen(t->folder) != n ||
		    memcmp(t->folder, name, n) != 0)
			continue;
		for (size_t j = 0; j < i; j++)
			if (t->m.has_uuid && s->traces[j].m.has_uuid &&
			    memcmp(t->m.uuid, s->traces[j].m.uuid, 16) == 0)
				return 0;
		return 1;
	}
	return 0;
}

/* ----------------------------------------------------------------- packets */

/* Sets the packet's own size and clock, where it has fields for these. */
static void
patch(struct copy *c, enum ctf_role role, uint64_t v)
{
	const unsigned i = (unsigned)__builtin_ctz((unsigned)role);

	if (c->bits.role_class[i] != NULL)
		tel__ctf_put_bits(&c->bits, c->bits.role_at[i],
		    c->bits.role_class[i], c->source.cursor.big, v);
}

static int
has_role(const struct copy *c, enum ctf_role role)
{
	return c->bits.role_class[__builtin_ctz((unsigned)role)] != NULL;
}

static void
store_be64(unsigned char *p, uint64_t v)
{
	for (unsigned i = 0; i < 8; i++)
		p[i] = (unsigned char)(v >> (56 - 8 * i));
}

/* Adds the packet to the index. */
static tel_status
write_entry(struct tel_writer *w, const struct copy *c, uint64_t size,
    uint64_t content)
{
	const uint64_t values[INDEX_ENTRY / 8] = { c->written, size, content,
		c->begin, c->end, c->discarded, c->of->type->class->id,
		c->of->id == UINT64_MAX ? 0 : c->of->id, c->sequence };
	unsigned char entry[INDEX_ENTRY];

	for (unsigned i = 0; i < INDEX_ENTRY / 8; i++)
		store_be64(entry + 8 * i, values[i]);
	return write_all(w, c->index, entry, sizeof(entry));
}

/* Writes the packet. */
static tel_status
end_packet(struct tel_writer *w, struct copy *c)
{
	const uint64_t content = c->bits.at;
	const size_t bytes = (size_t)((content + 7) / 8);

	if (!c->started)
		return TEL_OK;
	c->started = 0;
	patch(c, CTF_ROLE_CONTENT_SIZE, content);
	patch(c, CTF_ROLE_PACKET_SIZE, 8 * (uint64_t)bytes);
	patch(c, CTF_ROLE_SEQUENCE, c->sequence);
	patch(c, CTF_ROLE_CLOCK, c->begin);
	patch(c, CTF_ROLE_END_CLOCK, c->end);
	if (c->bits.failed)
		return TEL_ENOMEM;
	tel_status st = write_all(w, c->fd, c->bits.bytes, bytes);
	if (st == TEL_OK && c->index >= 0)
		st = write_entry(w, c, 8 * (uint64_t)bytes, content);
	c->written += bytes;
	c->sequence++;
	return st;
}

/* Reads the start of the old packet anew, which is copied. */
static tel_status
copy_head(struct tel_writer *w, struct copy *c)
{
	const struct ctf_stream_type *type;
	struct ctf_cursor *in = &c->source.cursor;
	struct tel_fileset *set = ((struct copier *)w->state)->log->set;
	enum ctf_result result = CTF_MORE;
	struct tel__buffer *out = &((struct copier *)w->state)->record;
	size_t n = 512;
	uint64_t id;

	while (result == CTF_MORE && n <= CTF_PACKET_HEAD_MAX) {
		unsigned char *bytes = calloc(1, n + CTF_SLACK);

		out->used = 0;
		if (bytes == NULL ||
		    tel__buffer_room(out, CTF_HEAD_MAX) == NULL) {
			free(bytes);
			return TEL_ENOMEM;
		}
		ptrdiff_t got = tel__fileset_read(set, c->file.number, bytes, n,
		    c->source.packet.offset);
		if (c->bits.bytes != NULL)
			memset(c->bits.bytes, 0, c->bits.room);
		c->bits.at = 0;
		if (c->of->trace->m.version == 2)
			in->clock = 0;
		in->copy = &c->bits;
		in->out = out;
		in->record = 0;
		out->used = CTF_HEAD_MAX;
		result = got < 0 ? CTF_BAD :
		                   tel__ctf_decode_head(c->of->trace, bytes,
		                       (size_t)got, in, &type, &id);
		free(bytes);
		n *= 2;
	}
	in->out = NULL;
	return result == CTF_DONE ? TEL_OK :
	                            copy_fail(w, "a packet has changed");
}

/* Bits of the clock that the context of a packet has. */
static unsigned
clock_bits(const struct copy *c)
{
	const struct ctf_class *clock =
	    c->bits.role_class[__builtin_ctz((unsigned)CTF_ROLE_CLOCK)];

	return clock != NULL && clock->kind != CTF_VARINT ? clock->size : 64;
}

/* Begins a packet like the one that an event is from. */
static tel_status
begin_packet(struct tel_writer *w, struct copy *c,
    const struct ctf_origin *origin, int again)
{
	struct ctf_cursor *in = &c->source.cursor;

	if (c->started)
		c->known = in->clock;
	tel_status st = end_packet(w, c);
	if (st != TEL_OK)
		return st;
	in->clock = c->known;
	c->file.number = origin->file;
	c->source.packet.offset = origin->offset;
	c->source.packet.content = origin->content;
	st = copy_head(w, c);
	if (st != TEL_OK)
		return st;
	c->begin = again ? origin->clock : ctf_role(in, CTF_ROLE_CLOCK, 0);
	if (again) {
		in->clock = c->of->trace->m.version == 2 ? 0 : c->known;
		ctf_set_clock(in, c->begin, clock_bits(c));
	}
	c->end = ctf_role(in, CTF_ROLE_END_CLOCK, 0);
	c->discarded = ctf_role(in, CTF_ROLE_DISCARDED, c->discarded);
	if (c->written == 0 && c->sequence == 0)
		c->sequence = ctf_role(in, CTF_ROLE_SEQUENCE, 0);
	c->clock = c->begin;
	c->first = c->bits.at;
	c->started = 1;
	in->content = origin->content;
	in->bytes = c->source.window;
	in->start = in->end = c->source.filled = 0;
	return TEL_OK;
}

/* --------------------------------------------------------------------- files */

/* Makes the files of a stream: the stream itself, and its index. */
static tel_status
open_files(struct tel_writer *w, struct copier *e, struct copy *c)
{
	static const unsigned char version[12] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 0,
		0, INDEX_ENTRY };
	const char *name = e->log->set->files[c->of->files[0].number].name;
	const char *slash = strrchr(name, '/');
	const int folder = slash != NULL ? (int)(slash + 1 - name) : 0;
	unsigned char head[16];

	c->fd = tel__ctf_folder_file(&e->folder, name);
	if (c->fd < 0)
		return copy_fail(w, strerror(errno));
	/* packets without a size have no use for one */
	if (c->of->type->packet_context == NULL)
		return TEL_OK;
	size_t n = strlen(name) + 16;
	char *index = malloc(n);
	if (index == NULL)
		return TEL_ENOMEM;
	snprintf(index, n, "%.*sindex/%s.idx", folder, name, name + folder);
	c->index = tel__ctf_folder_file(&e->folder, index);
	free(index);
	if (c->index < 0)
		return copy_fail(w, strerror(errno));
	store_be64(head, (uint64_t)INDEX_MAGIC << 32);
	memcpy(head + 4, version, sizeof(version));
	return write_all(w, c->index, head, sizeof(head));
}

/* The copy of a stream.  NULL with *st set. */
static struct copy *
find_copy(struct tel_writer *w, const struct ctf_stream *of, tel_status *st)
{
	struct copier *e = w->state;

	for (size_t i = e->ncopies; i-- > 0;)
		if (e->copies[i].of == of)
			return &e->copies[i];
	*st = TEL_ENOMEM;
	if (!TEL__RESERVE_ZEROED(e->copies, e->room, e->ncopies + 1))
		return NULL;
	struct copy *c = &e->copies[e->ncopies];
	c->of = of;
	c->fd = c->index = -1;
	c->source.trace = of->trace;
	c->source.type = of->type;
	c->source.slots = calloc(CTF_SLOTS_MAX, sizeof(*c->source.slots));
	e->ncopies++;
	if (c->source.slots == NULL)
		return NULL;
	c->source.cursor.slots = c->source.slots;
	*st = open_files(w, e, c);
	return *st == TEL_OK ? c : NULL;
}

/* -------------------------------------------------------------------- events */

/* Nonzero when the context of a packet can have the clock of any event. */
static int
can_begin(const struct copy *c)
{
	const struct ctf_class *clock =
	    c->bits.role_class[__builtin_ctz((unsigned)CTF_ROLE_CLOCK)];

	return has_role(c, CTF_ROLE_CONTENT_SIZE) &&
	    ((clock != NULL && clock->kind != CTF_VARINT &&
	         (clock->clock != NULL || c->of->trace->m.version == 2)) ||
	        c->of->type->header.clock_bits == 64);
}

/* Begins another packet with an event. */
static tel_status
split_packet(struct tel_writer *w, struct copy *c,
    const struct ctf_origin *origin)
{
	/* this one is up to the last event */
	if (c->bits.at > c->first)
		c->end = c->clock;
	else
		c->started = 0;
	return begin_packet(w, c, origin, 1);
}

/*
 * Writes empty packets before one that was begun with an event, if the bits of
 * the clock in its context do not show how much later it is: a reader of
 * version 1.8 adds an overflow to the clock in each.
 */
static tel_status
bridge_clock(struct tel_writer *w, struct copy *c, uint64_t clock)
{
	struct ctf_cursor *in = &c->source.cursor;
	const uint64_t end = c->end, step = UINT64_MAX >> (64 - clock_bits(c));
	tel_status st = TEL_OK;

	if (in->clock == clock || c->of->trace->m.version == 2 ||
	    clock < c->known || (clock - c->known) / step > BRIDGE_MAX)
		return TEL_OK;
	while (clock - c->known > step && st == TEL_OK) {
		c->known += step;
		c->begin = c->end = c->known;
		st = end_packet(w, c);
		c->started = 1;
	}
	c->begin = in->clock = clock;
	c->end = end;
	return st;
}

/* Copies the bits that steps go over, from a bit of the old packet on. */
static tel_status
copy_steps(struct tel_writer *w, struct copy *c, uint64_t at, uint32_t head,
    const struct ctf_step *steps)
{
	struct copier *e = w->state;
	struct ctf_cursor *in = &c->source.cursor;
	enum ctf_result result;
	tel_status st = TEL_OK;

	in->at = at;
	/* the copies move where another one is made */
	c->source.file = &c->file;
	/* the window may be of another part of the packet */
	if (in->at / 8 < in->start || in->at >= in->end) {
		in->start = in->end = 0;
		c->source.filled = 0;
	}
	e->record.used = 0;
	if (tel__buffer_room(&e->record, head + 1) == NULL)
		return TEL_ENOMEM;
	memset(e->record.bytes, 0, head);
	e->record.used = head;
	in->out = &e->record;
	in->record = 0;
	in->copy = &c->bits;
	result = tel__ctf_stream_execute(NULL, (struct ctf *)(uintptr_t)e->log,
	    &c->source, steps, &st);
	in->out = NULL;
	if (c->bits.failed || (result == CTF_MEMORY && st == TEL_ENOMEM))
		return TEL_ENOMEM;
	return result == CTF_DONE ? TEL_OK :
	                            copy_fail(w, "an event has changed");
}

static tel_status
ctf_write(struct tel_writer *w, const struct tel_event *ev,
    const struct tel_field *changed)
{
	struct ctf_origin origin;
	struct copier *e = w->state;
	tel_status st = TEL_OK;

	(void)changed;
	if (ev->raw_size != sizeof(origin) || e->log == NULL)
		return tel__write_fail(w, TEL_EINVAL,
		    "%s: a trace is filtered from its folder to -o FOLDER; "
		    "-f tel writes a file",
		    tel__path_end(ev->log->name, 80));
	memcpy(&origin, ev->raw, sizeof(origin));
	struct copy *c = find_copy(w, origin.stream, &st);
	if (c == NULL)
		return st;
	if (!c->started || c->file.number != origin.file ||
	    c->source.packet.offset != origin.offset)
		st = begin_packet(w, c, &origin, 0);
	if (st == TEL_OK && c->bits.at > 8 * PACKET_SIZE && can_begin(c))
		st = split_packet(w, c, &origin);
	const uint64_t before = c->bits.at, clock = c->source.cursor.clock;
	const struct ctf_step *header = c->of->type->event_header;
	if (st == TEL_OK)
		st = copy_steps(w, c, origin.start, 0, header);
	/* behind events that are left out it may give another clock */
	if (st == TEL_OK && c->source.cursor.clock != origin.clock &&
	    can_begin(c)) {
		tel__ctf_bits_back(&c->bits, before);
		c->source.cursor.clock = clock;
		st = split_packet(w, c, &origin);
		if (st == TEL_OK)
			st = bridge_clock(w, c, origin.clock);
		if (st == TEL_OK)
			st = copy_steps(w, c, origin.start, 0, header);
	}
	if (st == TEL_OK && c->source.cursor.clock != origin.clock)
		return tel__write_fail(w, TEL_EINVAL,
		    "%s: the bits of an event's clock do not show the time "
		    "since the event before it; -f tel writes a file",
		    tel__path_end(w->folder, 100));
	c->clock = origin.clock;
	return st == TEL_OK ? copy_steps(w, c, c->source.cursor.at,
	                          origin.type->head, origin.type->steps) :
	                      st;
}

/* ---------------------------------------------------------------------- logs */

static tel_status
ctf_open(struct tel_writer *w, const struct tel_log *log)
{
	struct copier *e = w->state;

	if (w->folder == NULL)
		return tel__write_fail(w, TEL_EINVAL,
		    "%s: a trace is filtered from its folder to -o FOLDER; "
		    "-f tel writes a file",
		    tel__path_end(log->name, 80));
	if (!tel__ctf_folder_open(&e->folder, w->folder,
	        (unsigned)tel__hash_seed(e)))
		return copy_fail(w, strerror(errno));
	return TEL_OK;
}

static tel_status
ctf_begin(struct tel_writer *w, const struct tel_log *log)
{
	struct copier *e = w->state;
	const struct ctf *s = log->files;
	tel_status st = TEL_OK;

	if (e->log != NULL || e->ncopies > 0)
		return tel__write_fail(w, TEL_EINVAL,
		    "%s: two traces are not written to one folder; use a "
		    "folder that has both",
		    tel__path_end(log->name, 80));
	e->log = s;
	for (size_t i = 0; i < s->set->count && st == TEL_OK; i++)
		if (tel__ctf_is_metadata_name(s->set->files[i].name) &&
		    is_used(s, s->set->files[i].name))
			st = copy_file(w, e, s->set, i);
	return st;
}

/* Writes what was lost behind the last event of each stream. */
static tel_status
write_losses(struct tel_writer *w, struct copier *e)
{
	struct ctf_origin origin;
	tel_status st = TEL_OK;

	for (size_t i = 0; i < e->log->nstreams && st == TEL_OK; i++) {
		const struct ctf_stream *stream = &e->log->streams[i];

		if (stream->discarded == 0)
			continue;
		struct copy *c = find_copy(w, stream, &st);
		if (c == NULL)
			return st;
		if (c->discarded == stream->discarded)
			continue;
		origin = stream->origin;
		st = begin_packet(w, c, &origin, 0);
	}
	return st;
}

static tel_status
ctf_end_file(struct tel_writer *w)
{
	struct copier *e = w->state;

	if (e == NULL || e->log == NULL)
		return TEL_OK;
	tel_status st = write_losses(w, e);
	for (size_t i = 0; i < e->ncopies && st == TEL_OK; i++)
		st = end_packet(w, &e->copies[i]);
	e->log = NULL;
	return st;
}

static tel_status
ctf_finish(struct tel_writer *w)
{
	struct copier *e = w->state;
	tel_status st = ctf_end_file(w);

	if (e == NULL || st != TEL_OK)
		return st;
	return tel__ctf_folder_finish(&e->folder) ?
	    TEL_OK :
	    copy_fail(w, strerror(errno));
}

static void
ctf_close(struct tel_writer *w)
{
	struct copier *e = w->state;

	for (size_t i = 0; i < e->ncopies; i++) {
		struct copy *c = &e->copies[i];

		if (c->fd >= 0)
			close(c->fd);
		if (c->index >= 0)
			close(c->index);
		free(c->source.slots);
		free(c->source.window);
		free(c->bits.bytes);
	}
	free(e->copies);
	tel__buffer_clear(&e->record);
	tel__ctf_folder_close(&e->folder);
}

const struct tel_encoder_ops tel__ctf_encoder = {
	.what = "a CTF trace",
	.flags = ENCODER_BINARY,
	.state_size = sizeof(struct copier),
	.open = ctf_open,
	.begin = ctf_begin,
	.write = ctf_write,
	.end_file = ctf_end_file,
	.finish = ctf_finish,
	.close = ctf_close,
};
