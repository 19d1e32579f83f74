/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Blocks that live, by address, with their sizes: for logs whose frees do not
 * say how much they free.
 */
#ifndef TEL_STATS_LIVE_H
#define TEL_STATS_LIVE_H

#include "tel.h"

/* Documented limit: the blocks of a log of which the sizes are known. */
#define LIVE_MAX ((size_t)1 << 22)

struct live;

/* NULL when there is no memory. */
struct live *tel__live_new(void);
void tel__live_free(struct live *l);

/*
 * A block begins to live; one that lived at its address is forgotten.
 * TEL_OK, also when there are too many; TEL_ENOMEM.
 */
tel_status tel__live_add(struct live *l, uint64_t address, uint64_t size);
/* A block ends.  1 with its size, or 0 when it is not known. */
int tel__live_take(struct live *l, uint64_t address, uint64_t *size);

#endif
