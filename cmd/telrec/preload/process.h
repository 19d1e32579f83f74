/* SPDX-License-Identifier: BSD-2-Clause */
/* This process in the arena: its start, its number, rings for its threads. */
#ifndef TELREC_PROCESS_H
#define TELREC_PROCESS_H

#include <stdint.h>

#include "telrec/preload/ring.h"

/* What a forked child finds as 0: memory that the kernel wipes. */
struct process {
	uint32_t alive;
	uint32_t image; /* and 1 */
	uint32_t pid;
	uint32_t hidden; /* it cannot see telrec: a namespace of its own */
};
extern struct process *process;

/*
 * Opens the arena, unless that was tried before.  1: this is the first call.
 */
int process_begin(void);
/* Opens the arena at a path, or as another program handed it on.  -1 */
int execute_open_arena(const char *path);
/* The library of the program that the process executes has started. */
void execute_started(struct arena *a, uint32_t pid);
/* Notes that this program, a process, has an allocator that is not recorded. */
void execute_note_allocator(struct arena *a, uint32_t pid);
/* Finds the functions that execute programs. */
void execute_find(void);
/* Gives this thread a ring.  0: there is none. */
int process_take_ring(struct ring_self *s);
/* The first of this child's own memory: its parent's ring is not its own. */
void process_forget(struct ring_self *s);
/* The number of this process among those of the arena. */
uint32_t process_image(void);

#endif
