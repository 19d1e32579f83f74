/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pairs: which start of a range goes with which end, by the roles of their
 * types.  Statistics and timelines pair alike.
 */
#ifndef TEL_PAIR_H
#define TEL_PAIR_H

#include "model/event.h"

/*
 * The pair of types that a start, an end or a middle belongs to, as the number
 * of the type that ends it; -1: the type is in no pair.
 */
static inline int32_t
tel_pair_of(const struct tel_type *t)
{
	if (t->role == TEL_ROLE_START || t->role == TEL_ROLE_MIDDLE)
		return t->partner;
	if (t->role != TEL_ROLE_FINISH)
		return -1;
	/* an end may be another form of the one that starts name */
	return t->partner >= 0 ? t->partner : (int32_t)t->index;
}

/*
 * What identifies a range among those of its pair of types: the one number
 * that the role names, or a hash of all fields that it names; 0 when it names
 * none.  *known: set to 0 then, else to 1.
 */
uint64_t tel__pair_key(const struct tel_event *ev, int *known);

#endif
