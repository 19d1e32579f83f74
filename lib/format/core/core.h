/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Logs out of the core of a program: what it had not written when it died.
 * They become members of an archive, which is then read as any other.
 */
#ifndef TEL_CORE_H
#define TEL_CORE_H

#include "base/buffer.h"
#include "base/bytes.h"
#include "io/input.h"

/* Nonzero when size bytes at p start an ELF core; 20 are enough. */
int tel__core_probe(const unsigned char *p, size_t size);

/*
 * Takes the rings of libtel-emit and the event buffers of an MPS out of the
 * core in in.
 * exe: the program, whose symbols say where the buffers are; or NULL.
 * fd: set to a temporary file with an archive of the logs.
 * Returns TEL_OK; TEL_EFORMAT (no core that is known, or nothing in it),
 * TEL_EIO, TEL_ENOMEM, with *error set to a message.
 */
tel_status tel__core_extract(struct tel_input *in, const char *exe, int *fd,
    const char **error);

/* ----------------------------------------------------------- the inside */

/* A part of the program's memory. */
struct core_segment {
	uint64_t address, size; /* as much as the core has of it */
	uint64_t offset;        /* in the core */
	int writable;
};

struct core {
	struct tel_input *in;
	struct core_segment *segments;
	unsigned count;
	uint64_t notes, notes_size; /* in the core; 0: none */
	uint64_t length;            /* of the core */
	int big;                    /* of the machine: big-endian */
	unsigned word;              /* bytes of a pointer, 4 or 8 */
	unsigned header; /* and of what an event of an MPS begins with */
	/* bytes that may still be looked at: segments may claim the same ones */
	uint64_t budget;
};

/* An integer of n bytes, 2, 4 or 8, as the machine has it. */
static inline uint64_t
core_load(const struct core *c, const unsigned char *p, unsigned n)
{
	switch (n) {
	case 2: return c->big ? tel_be16(p) : tel_le16(p);
	case 4: return c->big ? tel_be32(p) : tel_le32(p);
	default: return c->big ? tel_be64(p) : tel_le64(p);
	}
}

/* A pointer, or another integer of its size. */
static inline uint64_t
core_word(const struct core *c, const unsigned char *p)
{
	return core_load(c, p, c->word);
}

/* Copies memory of the program.  1, or 0: the core has not all of it. */
int tel__core_read(struct core *c, uint64_t address, void *to, size_t n);

/*
 * Finds the event buffers of an MPS, and puts their events into out as a
 * stream, in order of time.  1; 0: there are none; -1: no memory.
 */
int tel__core_mps(struct core *c, const char *exe, struct tel__buffer *out);

#endif
