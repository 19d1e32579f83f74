/* SPDX-License-Identifier: BSD-2-Clause */
/* The start of a packet: its header and context, and where the next one is. */
#ifndef TEL_CTF_PACKET_H
#define TEL_CTF_PACKET_H

#include "format/ctf/ctf.h"

/* Documented limit: bytes of the header and context of a packet. */
#define CTF_PACKET_HEAD_MAX ((size_t)1 << 20)

const char *tel__ctf_file_name(const struct ctf *s, const struct ctf_file *f);

/* Reports errno.  r: NULL, where who writes a copy reads.  TEL_EIO. */
tel_status tel__ctf_read_failed(struct tel_reader *r, const struct ctf *s,
    const struct ctf_file *f);

/*
 * Decodes what n bytes at the start of a packet say.  c: whose .slots are
 * there.  CTF_DONE, with *type and *id set, CTF_MORE or CTF_BAD.
 */
enum ctf_result tel__ctf_decode_head(const struct ctf_trace *t,
    const unsigned char *bytes, size_t n, struct ctf_cursor *c,
    const struct ctf_stream_type **type, uint64_t *id);

/*
 * Reads the start of the packet at f->packet.offset.  TEL_OK; TEL_END with
 * *why: there is none; TEL_EIO, TEL_ENOMEM.
 */
tel_status tel__ctf_read_head(struct tel_reader *r, struct ctf *s,
    const struct ctf_trace *t, struct ctf_file *f, struct ctf_cursor *c,
    const struct ctf_stream_type **type, uint64_t *id, const char **why);

/*
 * Where the next packet starts behind damage at an offset, by its magic number;
 * or the end.
 */
tel_status tel__ctf_find_packet(struct tel_reader *r, struct ctf *s,
    const struct ctf_trace *t, const struct ctf_file *f, uint64_t *offset);

/*
 * Moves a file to the packet at f->packet.offset, or behind damage to the next
 * one.  f->ended is set when there is none.
 */
tel_status tel__ctf_file_packet(struct tel_reader *r, struct ctf *s,
    const struct ctf_trace *t, struct ctf_file *f, struct ctf_cursor *c,
    const struct ctf_stream_type **type, uint64_t *id);

#endif
