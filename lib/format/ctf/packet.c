/* SPDX-License-Identifier: BSD-2-Clause */
/* The start of a packet: its header and context, and where the next one is. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/ctf/packet.h"
#include "base/bytes.h"
#include "base/path.h"

/* The start of a packet that is read at first. */
#define HEAD_FIRST ((size_t)512)
/* Bytes that are read at first, and then, where a packet is looked for. */
#define SEARCHED_FIRST ((size_t)256)
#define SEARCHED ((size_t)16384)

const char *
tel__ctf_file_name(const struct ctf *s, const struct ctf_file *f)
{
	return s->set->files[f->number].name;
}

tel_status
tel__ctf_read_failed(struct tel_reader *r, const struct ctf *s,
    const struct ctf_file *f)
{
	if (r == NULL)
		return TEL_EIO;
	return tel__reader_fail(r, TEL_EIO, "%s: %s",
	    tel__path_end(tel__ctf_file_name(s, f), 100), strerror(errno));
}

static const struct ctf_stream_type *
packet_stream_type(const struct ctf_trace *t, uint64_t id)
{
	for (size_t i = 0; i < t->nstreams; i++)
		if (t->streams[i].class->id == id)
			return &t->streams[i];
	/* a single one needs no number */
	return t->nstreams == 1 && !t->streams[0].class->has_id ?
	    &t->streams[0] :
	    NULL;
}

enum ctf_result
tel__ctf_decode_head(const struct ctf_trace *t, const unsigned char *bytes,
    size_t n, struct ctf_cursor *c, const struct ctf_stream_type **type,
    uint64_t *id)
{
	c->bytes = bytes;
	c->start = c->at = 0;
	c->end = 8 * (uint64_t)n;
	c->content = UINT64_MAX;
	c->big = t->m.big;
	c->seen = 0;
	c->uuid = NULL;
	enum ctf_result result = tel__ctf_execute(c, t->packet_header);
	if (result != CTF_DONE)
		return result;
	uint64_t magic = ctf_role(c, CTF_ROLE_MAGIC, CTF_PACKET_MAGIC);
	if (magic != CTF_PACKET_MAGIC) {
		c->why = "no magic number of a packet";
		return CTF_BAD;
	}
	c->foreign = c->uuid != NULL && t->m.has_uuid &&
	    memcmp(c->uuid, t->m.uuid, sizeof(t->m.uuid)) != 0;
	if (c->foreign && !t->any_uuid) {
		c->why = "a packet of a trace with another UUID";
		return CTF_BAD;
	}
	*type = packet_stream_type(t, ctf_role(c, CTF_ROLE_STREAM_CLASS, 0));
	*id = ctf_role(c, CTF_ROLE_STREAM, UINT64_MAX);
	if (*type == NULL) {
		c->why = "a packet of a stream that the metadata lack";
		return CTF_BAD;
	}
	return tel__ctf_execute(c, (*type)->packet_context);
}

/* What the context said, as a packet that starts at an offset of a file. */
static const char *
check_head(const struct ctf_cursor *c, const struct ctf_file *f,
    struct ctf_packet *p)
{
	const uint64_t rest = 8 * (f->size - p->offset);

	p->start = c->at;
	p->seen = c->seen;
	p->size = ctf_role(c, CTF_ROLE_PACKET_SIZE,
	    ctf_role(c, CTF_ROLE_CONTENT_SIZE, rest));
	p->content = ctf_role(c, CTF_ROLE_CONTENT_SIZE, p->size);
	p->begin = ctf_role(c, CTF_ROLE_CLOCK, 0);
	p->end = ctf_role(c, CTF_ROLE_END_CLOCK, 0);
	p->discarded = ctf_role(c, CTF_ROLE_DISCARDED, 0);
	p->sequence = ctf_role(c, CTF_ROLE_SEQUENCE, 0);
	if (p->size % 8 != 0 || p->size < p->start)
		return "invalid size of a packet";
	if (p->content > p->size || p->content < p->start)
		return "invalid size of a packet's content";
	return NULL;
}

/* Nonzero when the rest of a file is zeros. */
static int
is_padding(struct ctf *s, const struct ctf_file *f, uint64_t from)
{
	unsigned char bytes[4096];
	ptrdiff_t n, i;

	for (; from < f->size; from += (uint64_t)n) {
		n = tel__fileset_read(s->set, f->number, bytes, sizeof(bytes),
		    from);
		if (n <= 0)
			return 0;
		for (i = 0; i < n; i++)
			if (bytes[i] != 0)
				return 0;
	}
	return 1;
}

tel_status
tel__ctf_read_head(struct tel_reader *r, struct ctf *s,
    const struct ctf_trace *t, struct ctf_file *f, struct ctf_cursor *c,
    const struct ctf_stream_type **type, uint64_t *id, const char **why)
{
	enum ctf_result result = CTF_MORE;
	tel_status st = TEL_OK;
	size_t n = HEAD_FIRST;
	ptrdiff_t got = 0;

	while (result == CTF_MORE && st == TEL_OK) {
		unsigned char *bytes = calloc(1, n + CTF_SLACK);

		if (bytes == NULL)
			return TEL_ENOMEM;
		got = tel__fileset_read(s->set, f->number, bytes, n,
		    f->packet.offset);
		if (got < 0) {
			st = tel__ctf_read_failed(r, s, f);
		} else {
			/* what the context gives to events goes here */
			s->context.used = 0;
			c->out = &s->context;
			c->record = 0;
			if (tel__buffer_room(&s->context, CTF_HEAD_MAX) ==
			    NULL) {
				st = TEL_ENOMEM;
			} else {
				memset(s->context.bytes, 0, CTF_HEAD_MAX);
				s->context.used = CTF_HEAD_MAX;
			}
			result = st == TEL_OK ? tel__ctf_decode_head(t, bytes,
			                            (size_t)got, c, type, id) :
			                        CTF_MEMORY;
		}
		free(bytes);
		if (result == CTF_MORE &&
		    ((size_t)got < n || n == CTF_PACKET_HEAD_MAX)) {
			c->why = "the start of a packet, and no more";
			result = CTF_BAD;
		}
		n *= 2;
	}
	if (st != TEL_OK)
		return st;
	if (result == CTF_MEMORY)
		return TEL_ENOMEM;
	*why = result == CTF_DONE ? check_head(c, f, &f->packet) : c->why;
	if (*why == NULL && c->foreign && !s->foreign_reported && r != NULL) {
		s->foreign_reported = 1;
		tel__reader_notice(r, TEL_WARNING, r->offset,
		    "%.100s: packets of a trace with another UUID are read",
		    tel__ctf_file_name(s, f));
	}
	return *why == NULL ? TEL_OK : TEL_END;
}

tel_status
tel__ctf_find_packet(struct tel_reader *r, struct ctf *s,
    const struct ctf_trace *t, const struct ctf_file *f, uint64_t *offset)
{
	unsigned char bytes[SEARCHED];
	size_t n = SEARCHED_FIRST;

	for (++*offset; *offset < f->size; n = SEARCHED) {
		ptrdiff_t got =
		    tel__fileset_read(s->set, f->number, bytes, n, *offset);

		if (got < 0)
			return tel__ctf_read_failed(r, s, f);
		for (ptrdiff_t i = 0; i + 4 <= got; i++)
			if ((t->m.big ?
			            tel_be32(bytes + i) :
			            tel_le32(bytes + i)) == CTF_PACKET_MAGIC) {
				*offset += (uint64_t)i;
				return TEL_OK;
			}
		if (got < 4)
			break;
		*offset += (uint64_t)got - 3;
	}
	*offset = f->size;
	return TEL_OK;
}

tel_status
tel__ctf_file_packet(struct tel_reader *r, struct ctf *s,
    const struct ctf_trace *t, struct ctf_file *f, struct ctf_cursor *c,
    const struct ctf_stream_type **type, uint64_t *id)
{
	const char *why;

	for (;;) {
		if (f->packet.offset >= f->size) {
			f->ended = 1;
			return TEL_OK;
		}
		why = NULL;
		tel_status st =
		    tel__ctf_read_head(r, s, t, f, c, type, id, &why);
		uint64_t rest = 8 * (f->size - f->packet.offset);
		if (st == TEL_OK && f->packet.size <= rest)
			return TEL_OK;
		if (st == TEL_OK) {
			st = tel__reader_damage(r, r->offset, 0,
			    "%.100s: the packet at byte %llu is cut short",
			    tel__ctf_file_name(s, f),
			    (unsigned long long)f->packet.offset);
			f->packet.size = rest;
			if (f->packet.content > rest)
				f->packet.content = rest;
			return st;
		}
		if (st != TEL_END)
			return st;
		uint64_t from = f->packet.offset;
		if (is_padding(s, f, from)) {
			f->ended = 1;
			return TEL_OK;
		}
		st = tel__ctf_find_packet(r, s, t, f, &f->packet.offset);
		if (st == TEL_OK)
			st = tel__reader_damage(r, r->offset,
			    f->packet.offset - from,
			    "%.100s: %s at byte %llu; %llu bytes skipped",
			    tel__ctf_file_name(s, f), why,
			    (unsigned long long)from,
			    (unsigned long long)(f->packet.offset - from));
		if (st != TEL_OK)
			return st;
	}
}
