/* SPDX-License-Identifier: BSD-2-Clause */
/* The event types of a recording. */
#ifndef TELREC_TYPES_H
#define TELREC_TYPES_H

#include <stdint.h>

/* As places in the list that libtel-emit gets. */
enum type {
	TYPE_MALLOC,
	TYPE_FREE,
	TYPE_CALLOC,
	TYPE_REALLOC,
	TYPE_REALLOCARRAY,
	TYPE_MEMALIGN,
	TYPE_POSIX_MEMALIGN,
	TYPE_ALIGNED_ALLOC,
	TYPE_VALLOC,
	TYPE_PVALLOC,
	TYPE_MMAP,
	TYPE_MUNMAP,
	TYPE_MREMAP,
	TYPE_BRK,
	TYPE_TRACE,
	TYPE_PROCESS,
	TYPE_UNRECORDED,
	TYPE_THREAD_END,
	TYPE_PROCESS_END,
	TYPES
};

/* Fields of a type, at most; the last two are process and thread. */
#define TYPE_FIELDS 8u

/* How many fields a type has besides process and thread, with ARENA_ options.
 */
unsigned types_fields(enum type type, uint32_t options);
/*
 * Registers the types with libtel-emit, for events with times of the clock of
 * this kind, an enum arena_clock.  0, -1.
 */
int types_open(uint32_t options, uint32_t clock);

#endif
