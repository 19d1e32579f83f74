/* SPDX-License-Identifier: BSD-2-Clause */
/* What is odd about a trace: counted, and the first of each kept. */
#include "alloc/compiler.h"

#define KEPT_OF_A_KIND 10

_Static_assert(TEL_ODD_KINDS == TEL_ODD_ARGUMENT + 1, "all are counted");

const char *
tel_odd_text(tel_odd odd)
{
	switch (odd) {
	case TEL_ODD_FREE_NULL: return "free of NULL";
	case TEL_ODD_REALLOC_NULL: return "realloc of NULL";
	case TEL_ODD_REALLOC_ZERO: return "realloc to no bytes";
	case TEL_ODD_FAILED: return "allocation that failed";
	case TEL_ODD_RESERVED: return "reservation without a commit";
	case TEL_ODD_RECLAIMED: return "commit over a block not freed";
	case TEL_ODD_POOL: return "pool or buffer without its creation";
	case TEL_ODD_FREE: return "free of an unknown address";
	case TEL_ODD_REALLOC: return "realloc of an unknown address";
	case TEL_ODD_DOUBLE: return "allocation of a live address";
	case TEL_ODD_RACE: return "free in the wrong place";
	case TEL_ODD_SIZE: return "free of more than the block";
	case TEL_ODD_ARGUMENT: return "impossible size";
	}
	return "unknown oddity";
}

int
tel_odd_damage(tel_odd odd)
{
	return odd >= TEL_ODD_FREE;
}

tel_odd_one
tel_odd_now(const struct tel_compiler *c, tel_odd odd, uint64_t address)
{
	tel_odd_one one = { odd, (uint32_t)c->log, c->event,
		address == 0 ? 0 : address ^ c->tag, c->thread ^ c->tag };

	return one;
}

tel_status
tel_odd_add(struct tel_compiler *c, const tel_odd_one *one)
{
	tel_facts *f = &c->facts;

	f->odd[one->odd]++;
	if (c->odd_of[one->odd] < KEPT_OF_A_KIND &&
	    f->odd_kept < TEL_ODD_KEPT) {
		c->odd_of[one->odd]++;
		f->odd_ones[f->odd_kept++] = *one;
	}
	if (c->strict && tel_odd_damage(one->odd))
		return tel_compiler_fail(c, TEL_EDAMAGED,
		    "event %llu: %s, 0x%llx", (unsigned long long)one->event,
		    tel_odd_text(one->odd), (unsigned long long)one->address);
	return TEL_OK;
}

tel_status
tel_odd_count(struct tel_compiler *c, tel_odd odd, uint64_t address)
{
	tel_odd_one one = tel_odd_now(c, odd, address);

	return tel_odd_add(c, &one);
}
