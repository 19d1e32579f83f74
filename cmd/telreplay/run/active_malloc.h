/* SPDX-License-Identifier: BSD-2-Clause */
/* Served: which library serves malloc in this process. */
#ifndef TELREPLAY_ACTIVE_MALLOC_H
#define TELREPLAY_ACTIVE_MALLOC_H

#include "telreplay/run/shared.h"

/*
 * Finds the functions of malloc, or of a plug-in, and writes the name of their
 * library to the shared memory.  a: set to the functions; missing ones to NULL,
 * or to ones made from malloc.
 */
void active_malloc_find(struct shared *sh, struct alloc_functions *a);

#endif
