/* SPDX-License-Identifier: BSD-2-Clause */
/* Served: which library serves malloc in this process. */
#ifndef TELREPLAY_SERVED_H
#define TELREPLAY_SERVED_H

#include "telreplay/run/shared.h"

/*
 * Finds the functions of malloc, or of a plug-in, and writes the name of their
 * library to the shared memory.  a: set to the functions; missing ones to NULL,
 * or to ones made from malloc.
 */
void served_find(struct shared *sh, struct allocator *a);

#endif
