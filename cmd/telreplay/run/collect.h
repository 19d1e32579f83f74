/* SPDX-License-Identifier: BSD-2-Clause */
/* Collect: what a run left in the shared memory, added to a result. */
#ifndef TELREPLAY_COLLECT_H
#define TELREPLAY_COLLECT_H

#include "telreplay/run/benchmark.h"

/* Shows why an allocator failed, and that it is not run again. */
void collect_fail(const struct benchmark *c, struct result *r,
    const struct outcome *out, const char *where);
/* Adds a run to a result, and shows its errors. */
void collect_run(struct benchmark *c, struct result *r, enum job job,
    const struct outcome *out);

#endif
