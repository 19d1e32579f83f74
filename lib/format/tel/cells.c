/* SPDX-License-Identifier: BSD-2-Clause */
/* Which bytes of an event are columns of a block: tel(5), "Columns". */
#include "base/array.h"
#include "format/tel/wire.h"

#include <stdlib.h>

static int
is_big(enum tel_load load)
{
	return load == TEL_LOAD_BE16 || load == TEL_LOAD_BE32 ||
	    load == TEL_LOAD_BE64 || load == TEL_LOAD_BE16S ||
	    load == TEL_LOAD_BE32S;
}

/* The bytes that are loaded: a field may say that fewer bits count. */
static uint8_t
width_of(enum tel_load load)
{
	switch (load) {
	case TEL_LOAD_LE64:
	case TEL_LOAD_BE64: return 8;
	case TEL_LOAD_LE32:
	case TEL_LOAD_BE32:
	case TEL_LOAD_LE32S:
	case TEL_LOAD_BE32S:
	case TEL_LOAD_LEF32:
	case TEL_LOAD_LIST:
	case TEL_LOAD_STRING_AT: return 4;
	case TEL_LOAD_LE16:
	case TEL_LOAD_BE16:
	case TEL_LOAD_LE16S:
	case TEL_LOAD_BE16S: return 2;
	case TEL_LOAD_U8:
	case TEL_LOAD_BIT:
	case TEL_LOAD_STRING: break;
	}
	return 1;
}

/* The cell of a byte of bits, if there is one already. */
static struct native_cell *
find_bits(struct native_plan *plan, uint32_t offset)
{
	for (unsigned i = 0; i < plan->ncells; i++)
		if (plan->cells[i].offset == offset &&
		    plan->cells[i].mask != 0xff)
			return &plan->cells[i];
	return NULL;
}

static void
cells_add(struct native_plan *plan, const struct tel_field *f)
{
	struct native_cell *c;

	c = f->load == TEL_LOAD_BIT ? find_bits(plan, f->offset) : NULL;
	if (c != NULL) {
		c->mask |= (uint8_t)(1u << f->bit);
		return;
	}
	c = &plan->cells[plan->ncells++];
	c->offset = f->offset;
	c->width = width_of(f->load);
	c->big = (uint8_t)is_big(f->load);
	c->place = f->load == TEL_LOAD_STRING_AT || f->load == TEL_LOAD_LIST;
	c->mask = (uint8_t)(f->load == TEL_LOAD_BIT ? 1u << f->bit : 0xff);
	c->class = f->datatype == TEL_ADDRESS || f->datatype == TEL_POINTER ?
	    NATIVE_ADDRESSES :
	    NATIVE_NUMBERS;
	if (f->load == TEL_LOAD_LIST) {
		/* and how many elements it has */
		c[1] = c[0];
		c[1].offset = c->offset + 4u;
		c[1].place = 0;
		c++;
		plan->ncells++;
	}
	if (plan->fixed < c->offset + c->width)
		plan->fixed = c->offset + c->width;
	if (f->present != 0 && plan->fixed <= f->present_at)
		plan->fixed = f->present_at + 1u;
}

/* The widest cell for the bytes from offset at to end that none covers. */
static uint8_t
widest(uint32_t at, uint32_t end)
{
	uint8_t width = 8;

	while (at % width != 0 || at + width > end)
		width /= 2;
	return width;
}

/* Where a header counts, the bytes that no field has are cells, too. */
static tel_status
add_rest(struct native_plan *plan)
{
	unsigned char *covered = calloc(plan->fixed + 1u, 1);
	uint32_t at, end;

	/* of the bytes between two cells, 6 at most are not 8 aligned ones */
	if (covered == NULL ||
	    !TEL__RESIZE(plan->cells,
	        7 * (plan->ncells + 1u) + plan->fixed / 8)) {
		free(covered);
		return TEL_ENOMEM;
	}
	for (unsigned i = 0; i < plan->ncells; i++) {
		plan->cells[i].mask = 0xff;
		memset(covered + plan->cells[i].offset, 1,
		    plan->cells[i].width);
	}
	for (at = 0; at < plan->fixed; at = end) {
		for (end = at + 1; end < plan->fixed; end++)
			if (covered[end] != covered[at])
				break;
		while (!covered[at] && at < end) {
			struct native_cell *c = &plan->cells[plan->ncells++];

			c->offset = at;
			c->width = widest(at, end);
			c->big = 0;
			c->place = 0;
			c->mask = 0xff;
			c->class = NATIVE_NUMBERS;
			at += c->width;
		}
	}
	free(covered);
	return TEL_OK;
}

/*
 * A string without an explicit place starts after the fields before it,
 * and the bytes between a field and it are zero.
 */
static struct native_plan
cells_plan(const struct tel_schema *s, const struct tel_type *t)
{
	struct native_plan plan = { NULL, 0, 0 };

	if (t->unknown)
		return plan;
	plan.fixed = s->header;
	plan.cells = calloc(2u * t->nfields + 1, sizeof(*plan.cells));
	if (plan.cells == NULL)
		return plan;
	for (unsigned i = 0; i < t->nfields; i++)
		if (t->fields[i].load != TEL_LOAD_STRING)
			cells_add(&plan, &t->fields[i]);
	if (s->described && s->header > 0 && add_rest(&plan) != TEL_OK) {
		free(plan.cells);
		plan.cells = NULL;
	}
	return plan;
}

tel_status
tel__native_schema_begin(struct native_schema *ns, struct tel_schema *schema,
    uint64_t digest)
{
	ns->schema = schema;
	ns->digest = digest;
	ns->plans = calloc(schema->ntypes + 1u, sizeof(*ns->plans));
	if (ns->plans == NULL)
		return TEL_ENOMEM;
	for (unsigned i = 0; i < schema->ntypes; i++) {
		ns->plans[i] = cells_plan(schema, &schema->types[i]);
		if (ns->plans[i].cells == NULL) {
			tel__native_schema_end(ns);
			return TEL_ENOMEM;
		}
	}
	return TEL_OK;
}

void
tel__native_schema_end(struct native_schema *ns)
{
	if (ns->plans != NULL)
		for (unsigned i = 0; i < ns->schema->ntypes; i++)
			free(ns->plans[i].cells);
	free(ns->plans);
	ns->plans = NULL;
}
