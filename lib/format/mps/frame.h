/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames: where events of an MPS stream begin and end.  A header is a code
 * and the size of the whole event (16 bits each), and the clock, which are
 * the last 8 bytes of the header.
 */
#ifndef TEL_MPS_FRAME_H
#define TEL_MPS_FRAME_H

#include "base/bytes.h"
#include "model/encode.h"

static inline uint32_t
mps_code(const unsigned char *p, int big)
{
	return big ? tel_be16(p) : tel_le16(p);
}

static inline uint32_t
mps_size(const unsigned char *p, int big)
{
	return big ? tel_be16(p + 2) : tel_le16(p + 2);
}

static inline uint64_t
mps_clock(const unsigned char *p, uint32_t header, int big)
{
	return big ? tel_be64(p + header - 8) : tel_le64(p + header - 8);
}

/* The type that code has in the schema, or NULL. */
static inline const struct tel_type *
mps_type(const struct tel_schema *s, uint32_t code)
{
	return code < s->ncodes ? s->by_code[code] : NULL;
}

/*
 * The event at p, in input up to end: its size when its header is there and
 * fits a type; 0 when it fits none; 1 when less than a header is left, which is
 * undecided.
 */
uint32_t tel__mps_look(const struct tel_schema *s, const unsigned char *p,
    const unsigned char *end);

/*
 * Nonzero when from p on there are n events one after the other that fit
 * their types, or fewer up to the very end.
 */
int tel__mps_chain(const struct tel_schema *s, const unsigned char *p,
    const unsigned char *end, int n);

/*
 * Nonzero when from p on there are events of codes that are not known, whose
 * sizes make sense, and then, or at the very end, ones that fit.
 */
int tel__mps_unknown_chain(const struct tel_schema *s, const unsigned char *p,
    const unsigned char *end);

/*
 * Nonzero when inside the length bytes at p there begin n events that fit
 * their types and end before end: then those bytes are not one event.
 */
int tel__mps_inside(const struct tel_schema *s, const unsigned char *p,
    uint32_t length, const unsigned char *end, int n);

/*
 * Nonzero when the clocks of the event at p and of that after it are of one
 * magnitude, or when there is no such event before end.  Bytes that look
 * like an event by chance seldom do in this.
 */
int tel__mps_clock_likely(const struct tel_schema *s, const unsigned char *p,
    const unsigned char *end);

/*
 * The size that the event at p would have by its type, whatever size its header
 * has: for a string up to its NUL.  0 when its code is not known.
 */
uint32_t tel__mps_true_size(const struct tel_schema *s, const unsigned char *p,
    const unsigned char *end);

#endif
