/* SPDX-License-Identifier: BSD-2-Clause */
/* The inside of a conversion. */
#ifndef TEL_CONVERT_INSIDE_H
#define TEL_CONVERT_INSIDE_H

#include "write/convert.h"

/* Those that are converted, and one that is made. */
#define ROOMS (CONVERT_MOST + 1)

/* A label that was converted. */
struct label {
	uint64_t at, id, clock;
	int is;
};

struct convert {
	const struct tel_schema *to;
	struct losses *losses;
	unsigned char *room[ROOMS]; /* an event each */
	struct label last;
};

/* Makes the event at data, of type t, complete, at the time of another. */
void tel__convert_finish(const struct convert *c, const struct tel_type *t,
    unsigned char *data, uint32_t size, const struct tel_event *from,
    struct tel_event *out);

/* Has an EventInit at data say what the target is. */
void tel__convert_set_init(const struct tel_schema *to,
    const struct tel_type *t, unsigned char *data);

/*
 * A string, with room for TEL_STRING_ROOM bytes, that names the release and
 * platform it was built for: names those of the target.  Its new length.
 */
size_t tel__convert_set_build(const struct tel_schema *to, char *s, size_t n);

#endif
