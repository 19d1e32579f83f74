/* SPDX-License-Identifier: BSD-2-Clause */
/* Roles by name, as the table of MPS events, texts and users write them. */
#ifndef TEL_ROLE_H
#define TEL_ROLE_H

#include <string.h>

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

/* Sets those of the parts "PART=FIELD ..." whose fields t has. */
void tel__role_set_all(struct tel_type *t, const char *text);

/* tel_event_alloc() of a structure of this release, and its parts. */
int tel__alloc_load(const struct tel_type *t, const unsigned char *data,
    uint64_t clock, tel_alloc *out);
static inline int
tel__event_alloc(const struct tel_event *event, tel_alloc *out)
{
	return tel__alloc_load(event->type, event->data, event->clock, out);
}

/*
 * How events of a type become operations, while the type is as it is: what all
 * of them have in common, and which members are numbers of the event.
 */
#define TEL__ALLOC_LOADS 7u
struct tel__alloc_plan {
	const struct tel_type *type; /* NULL: of none */
	unsigned loads;              /* 0: only tel__alloc_load() can tell */
	unsigned wide;               /* of them, the first ones: of 64 bits */
	struct {
		uint16_t from, to; /* offsets: of the event, of tel_alloc */
	} load[TEL__ALLOC_LOADS];
	unsigned numbered; /* blocks have numbers from 0 on for addresses */
	int allocates;     /* it has failed where it has no address */
	tel_alloc common;
};
/* Makes the plan for a type from one of its events. */
void tel__alloc_plan(struct tel__alloc_plan *p, const struct tel_type *t,
    const unsigned char *data);
/* As tel__alloc_load() for an event of the plan's type. */
static inline int
tel__alloc_load_by(const struct tel__alloc_plan *p, const unsigned char *data,
    uint64_t clock, tel_alloc *out)
{
	if (p->loads == 0)
		return tel__alloc_load(p->type, data, clock, out);
	unsigned i = 0;
	*out = p->common;
	for (; i < p->wide; i++)
		memcpy((char *)out + p->load[i].to,
		    &(uint64_t){ tel_le64(data + p->load[i].from) }, 8);
	for (; i < p->loads; i++)
		memcpy((char *)out + p->load[i].to,
		    &(uint64_t){ tel_le32(data + p->load[i].from) }, 8);
	out->address += p->numbered;
	out->failed = p->allocates && out->address == 0;
	out->clock = clock;
	return 1;
}

/*
 * The address, and the process, of the block that an event of an operation
 * frees, resizes or allocates; 0: none.
 */
uint64_t tel__alloc_block(const struct tel_type *t, const unsigned char *data,
    uint64_t *process);
/*
 * How many blocks of a size an allocation that is a sample stands for.
 * rest: 0 at first, then what rounding has left over.
 */
uint64_t tel__alloc_blocks(const tel_alloc *a, uint64_t size, uint32_t *rest);

#endif
