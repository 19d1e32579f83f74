/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Masks: programs over the events of a run, type by type.  A field is loaded
 * of all events, compared, and the masks that come out are combined.
 */
#ifndef TEL_QUERY_MASKS_H
#define TEL_QUERY_MASKS_H

#include "model/run.h"
#include "query/program.h"

/* The room that it takes; NULL when out of memory. */
struct masks *tel__masks_new(void);
void tel__masks_free(struct masks *c);

/* Nonzero when all ops of a program can be run over the events of a run. */
int tel__masks_fit(const struct program *p);

/*
 * Leaves the events of a run that match, by the programs of their types, of
 * which the last one is that of unknown types.  The run has at most
 * TEL_RUN_MOST events.
 */
void tel__masks_filter(struct masks *c, struct program *programs, uint32_t last,
    struct machine *m, struct tel_run *run);

#endif
