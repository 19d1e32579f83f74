/* SPDX-License-Identifier: BSD-2-Clause */
/* Roles by name, as the table of MPS events, texts and users write them. */
#ifndef TEL_ROLE_H
#define TEL_ROLE_H

#include "model/event.h"
#include "tel/event.h"

/* The name of a role, for example "alloc"; "" for TEL_ROLE_NONE. */
const char *tel__role_name(enum tel_role role);
/* The role whose name is the n bytes at name; TEL_ROLE_NONE: no such role. */
enum tel_role tel__role_find(const char *name, size_t n);

/* The name of a part of an operation of an allocator, "address". */
const char *tel__part_name(enum tel_role_part part);
/* The part whose name is the n bytes at name ("ptr" is "address"); or -1. */
int tel__part_find(const char *name, size_t n);

/*
 * Reads n bytes that name the field of t for a part of its role: "FIELD", for
 * part number i, or "PART=FIELD"; "-" leaves the part without a field.  Returns
 * 1, or 0 when there is no such part or field.
 */
int tel__role_set(struct tel_type *t, unsigned i, const char *text, size_t n);

/* tel_event_alloc() of a structure of this release, and its parts. */
int tel__alloc_load(const struct tel_type *t, const unsigned char *data,
    uint64_t clock, tel_alloc *out);
static inline int
tel__event_alloc(const struct tel_event *event, tel_alloc *out)
{
	return tel__alloc_load(event->type, event->data, event->clock, out);
}
/*
 * The address, and the process, of the block that an event of an operation
 * frees, resizes or allocates; 0: none.
 */
uint64_t tel__alloc_block(const struct tel_type *t, const unsigned char *data,
    uint64_t *process);
/*
 * How many blocks of a size an allocation stands for: 1 unless it is a sample.
 * rest: 0 at first, then what rounding has left over.
 */
uint64_t tel__alloc_blocks(const tel_alloc *a, uint64_t size, uint32_t *rest);

#endif
