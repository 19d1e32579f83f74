/* SPDX-License-Identifier: BSD-2-Clause */
/* Executing the steps of a program on the bits of a packet. */
#ifndef TEL_CTF_DECODE_H
#define TEL_CTF_DECODE_H

#include "format/ctf/program.h"

/* The most that is read behind the end of a window; these bytes are there. */
#define CTF_SLACK 16u

enum ctf_result {
	CTF_DONE,
	CTF_MORE, /* the window ends before */
	CTF_BAD,  /* the bytes are invalid: .why */
	CTF_MEMORY
};

#define CTF_ROLES 11u

/* Bits that are written, as they are read. */
struct ctf_bits {
	unsigned char *bytes; /* those behind .at are 0 */
	size_t room;
	uint64_t at; /* the next bit */
	int failed;  /* there was no memory: later bits are dropped */
	/* where numbers with a role are, and of which class */
	uint64_t role_at[CTF_ROLES];
	const struct ctf_class *role_class[CTF_ROLES];
};

/* Forgets the bits from one on. */
void tel__ctf_bits_back(struct ctf_bits *out, uint64_t at);
/* Writes v at a place, as an integer of that class, which is there. */
void tel__ctf_put_bits(struct ctf_bits *out, uint64_t at,
    const struct ctf_class *class, int big, uint64_t v);

/* Where the bits are, and what they have said. */
struct ctf_cursor {
	/* the window: byte 0 of it is byte .start of the packet */
	const unsigned char *bytes;
	uint64_t start;
	uint64_t at;      /* the next bit, from the start of the packet */
	uint64_t end;     /* of the bits in the window, or of the content */
	uint64_t content; /* the end of the content */
	int big;
	uint64_t clock;
	uint64_t *slots; /* CTF_SLOTS_MAX of them */
	/* what had a role, by the number of its bit */
	uint64_t roles[CTF_ROLES];
	unsigned seen;             /* bits of those that came */
	const unsigned char *uuid; /* where one was, */
	int foreign;               /* other than that of the metadata */
	struct tel__buffer *out;   /* records */
	size_t record;             /* where in it this one is */
	const char *why;
	unsigned empty;        /* elements of arrays that had no bits */
	enum ctf_result full;  /* what kept bytes out of the record; CTF_DONE */
	struct ctf_bits *copy; /* decoded values are written there; or NULL */
};

/* The value of a role, or another one if it did not come. */
static inline uint64_t
ctf_role(const struct ctf_cursor *c, enum ctf_role role, uint64_t otherwise)
{
	return (c->seen & (unsigned)role) != 0 ?
	    c->roles[__builtin_ctz((unsigned)role)] :
	    otherwise;
}

/*
 * A value of a clock's integer of so many bits: the other bits stay, unless
 * these had an overflow.
 */
static inline void
ctf_set_clock(struct ctf_cursor *c, uint64_t v, unsigned bits)
{
	const uint64_t mask =
	    bits < 64 ? ((uint64_t)1 << bits) - 1 : UINT64_MAX;

	if (bits < 64 && (v & mask) < (c->clock & mask))
		c->clock += mask + 1;
	c->clock = (c->clock & ~mask) | (v & mask);
}

/*
 * Executes steps.  In the record at c->record, whose head is there, the fields
 * get their values, and strings and lists come behind it.
 */
enum ctf_result tel__ctf_execute(struct ctf_cursor *c,
    const struct ctf_step *steps);

#endif
