/* SPDX-License-Identifier: BSD-2-Clause */
/* Names: distinct texts, each kept once, and their numbers. */
#ifndef TEL__NAMES_H
#define TEL__NAMES_H

#include "base/index.h"

struct tel__name {
	char *text; /* with a NUL behind it */
	size_t length;
};

/* All zeros are none. */
struct tel__names {
	struct tel__name *list;
	size_t count, room;
	struct tel__index index;
};

/* Frees what they hold; there are none then. */
void tel__names_clear(struct tel__names *names);
/*
 * The number of a name, which is added if it is new.  TEL__NOWHERE: there are
 * max others, or no memory.
 */
uint32_t tel__names_add(struct tel__names *names, const char *text, size_t n,
    size_t max);

#endif
