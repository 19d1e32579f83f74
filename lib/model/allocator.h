/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions of allocators, by their names. */
#ifndef TEL__ALLOCATOR_H
#define TEL__ALLOCATOR_H

#include <stddef.h>

/*
 * Nonzero when a function is of an allocator, or of a container or a standard
 * library that asks it, by its own name: not by what it takes or returns.
 */
int tel__is_allocator(const char *name, size_t n);

#endif
