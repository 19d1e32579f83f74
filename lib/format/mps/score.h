/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether the events that a schema finds in bytes are likely ones. */
#ifndef TEL_MPS_SCORE_H
#define TEL_MPS_SCORE_H

#include "model/schema.h"

/* How well a schema explains a stretch of a stream. */
struct mps_score {
	size_t fitting; /* bytes in events that fit their types */
	size_t events;
	size_t odd; /* the less, the more likely */
	struct tel_codes seen;
};

/*
 * How odd the values of an event are whose bytes were made of a text: bytes
 * between the fields are ignored.
 */
size_t tel__mps_odd_values(const struct tel_type *t, const unsigned char *data);

/*
 * Looks at n bytes at p, where an event begins.  eof: the log ends there.
 */
void tel__mps_score(const struct tel_schema *s, const unsigned char *p,
    size_t n, int eof, struct mps_score *out);

#endif
