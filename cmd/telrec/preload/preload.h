/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of the preloaded library say to each other. */
#ifndef TELREC_PRELOAD_H
#define TELREC_PRELOAD_H

#include <stddef.h>
#include <stdint.h>

/* A function that the library has instead of another of that name. */
#define PUBLIC __attribute__((visibility("default")))

/* Names this thread. */
void ring_put_name(const char *name);
/* Has this thread do now what its first record needs of the system. */
void ring_prepare(void);
/* This thread is about to lose all system calls but a few, or has not. */
void ring_forbid_calls(int on);

/*
 * Looks up the next function of a name, for one that only its own calls need.
 * 0, with errno: there is none.
 */
int hooks_find_next(void **next, const char *name);
/* The functions of the allocator are those that the program has already. */
void hooks_late(void);
/* Has calls of the allocator's functions leave the block in hooks_noticed. */
void hooks_notice(void);
struct hooks_block {
	uintptr_t start;
	size_t bytes;
};
extern __thread struct hooks_block hooks_noticed
    __attribute__((tls_model("initial-exec"), visibility("hidden")));
/*
 * Whether the program has a malloc() of its own that does not call the one of this
 * library.  The block that tells is not recorded, and never freed.
 */
int hooks_are_bypassed(void);
/* An address in the allocator. */
const void *hooks_allocator(void);
/* Record what an allocator does without its functions of C. */
void hooks_note_new(const void *p, size_t alignment, size_t n);
void hooks_note_delete(const void *p);

/* Finds the operators of C++ that the allocator has, and records them. */
void operators_begin(void);

/* Whether this process has the arena of a telrec. */
int process_is_recorded(void);
/* Maps the arena at path.  0: that is not possible. */
int process_attach(const char *path);
/* What telrec_attach() returns. */
enum telrec_attach_result {
	TELREC_ATTACHED,
	TELREC_ATTACH_FAILED,
	TELREC_ATTACH_TWICE,    /* it has an arena */
	TELREC_ATTACH_NO_MEMORY /* it cannot map the arena */
};
/* Starts recording to the arena at path; telrec has the program call it. */
PUBLIC int telrec_attach(const char *path);

#endif
