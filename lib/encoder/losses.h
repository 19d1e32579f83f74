/* SPDX-License-Identifier: BSD-2-Clause */
/* Losses: what a format that is written has no place for, counted by name. */
#ifndef TEL_LOSSES_H
#define TEL_LOSSES_H

#include "tel/writer.h"

/* More of them are one, called "...". */
#define LOSSES_MAX 4096

/* One loss; its strings are its own. */
struct loss {
	tel_loss_kind kind;
	char *schema;
	char *type;
	char *field;
	uint64_t events;
};

struct losses {
	struct loss **rows;
	size_t count, room;
	const char *to; /* the name of the target */
};

/*
 * The row of that kind and those names, made if new; its address is stable.
 * field: NULL for none.  NULL when out of memory.
 */
struct loss *tel__losses_row(struct losses *l, tel_loss_kind kind,
    const char *schema, const char *type, const char *field);

void tel__losses_free(struct losses *l);

#endif
