/* SPDX-License-Identifier: BSD-2-Clause */
/* Collect: what a run left in the shared memory, added to a result. */
#ifndef TELREPLAY_COLLECT_H
#define TELREPLAY_COLLECT_H

#include "telreplay/run/contest.h"

/* Takes a run, and tells what went wrong in it. */
void collect_run(struct contest *c, struct result *r, enum job job,
    const struct outcome *out);

#endif
