/* SPDX-License-Identifier: BSD-2-Clause */
/* Locked: a pool allocator that knows nothing of threads, with a lock. */
#ifndef TELREPLAY_LOCKED_H
#define TELREPLAY_LOCKED_H

#include "tel_pool.h"

/*
 * The same table, with functions that let one thread in at a time.  There can
 * be one in a process.  Lives as long as the process.
 */
const tel_pool_table *locked_table(const tel_pool_table *real);

#endif
