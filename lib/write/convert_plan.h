/* SPDX-License-Identifier: BSD-2-Clause */
/* Plans: how events of one type become events of a target's. */
#ifndef TEL_CONVERT_PLAN_H
#define TEL_CONVERT_PLAN_H

#include "model/schema.h"
#include "write/losses.h"

enum move_op {
	MOVE_BYTES, /* n bytes, as they are */
	MOVE_VALUE, /* a value, which may not fit */
	MOVE_STRING
};

struct move {
	enum move_op op;
	uint16_t from, to, n;
	const struct tel_field *src, *dst;
	struct loss *misfit; /* what to count when it does not fit; or NULL */
};

struct plan {
	const struct tel_type *to;   /* NULL: there is no place */
	const struct tel_type *also; /* a second event is made; or NULL */
	enum {
		PLAN_FIELDS,     /* move the fields */
		PLAN_RAW,        /* the event as it is */
		PLAN_INIT,       /* and say what the target is */
		PLAN_INTERN,     /* likewise, if the string does */
		PLAN_LABEL,      /* remember it */
		PLAN_LABEL_AGAIN /* leave it out when it is remembered */
	} what;
	struct loss *none;   /* what to count where there is no place */
	struct loss *strict; /* one of lost[] that loses something; or NULL */
	struct loss **lost;  /* what to count for each event */
	unsigned nlost;
	unsigned nmoves;
	struct move *moves;
};

/* A plan for events of type t of from.  NULL when there is no memory. */
struct plan *tel__plan_new(const struct tel_schema *from,
    const struct tel_type *t, const struct tel_schema *to,
    struct losses *losses);
void tel__plan_free(struct plan *p);

#endif
