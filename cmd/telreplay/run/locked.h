/* SPDX-License-Identifier: BSD-2-Clause */
/* Locked: a lock around a pool allocator that is not thread-safe. */
#ifndef TELREPLAY_LOCKED_H
#define TELREPLAY_LOCKED_H

#include "tel_pool.h"

/*
 * The same table, with functions that admit one thread at a time.  A process
 * has at most one; it lives as long as the process.
 */
const tel_pool_table *locked_table(const tel_pool_table *real);

#endif
