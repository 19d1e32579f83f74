/* SPDX-License-Identifier: BSD-2-Clause */
/* Backtraces of allocations. */
#ifndef TELREC_STACK_H
#define TELREC_STACK_H

#include <stdint.h>

enum telrec_unwind {
	TELREC_UNWIND_NONE,
	TELREC_UNWIND_FRAMES, /* by frame pointers */
	TELREC_UNWIND_TABLES  /* by tables, with libunwind */
};

/* Called once, before telrec_stack(). */
void telrec_stack_begin(enum telrec_unwind how);
/* The number of the caller's backtrace; 0: there is none. */
uint32_t telrec_stack(void);
/* For pthread_atfork(3). */
void telrec_stack_before_fork(void);
void telrec_stack_after_fork(void);
void telrec_stack_in_child(void);

#endif
