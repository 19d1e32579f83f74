/* SPDX-License-Identifier: BSD-2-Clause */
/* The block that is made, and how libtel-emit gets it. */
#include "telrec/columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "telrec/arena.h"

struct columns *
columns_new(uint32_t options, uint64_t sample)
{
	const size_t cells = (size_t)TYPES * TYPE_FIELDS * COLUMNS_EVENTS;
	struct columns *c = calloc(1, sizeof(*c) + cells * sizeof(uint64_t));
	unsigned i, k;

	if (c == NULL)
		return NULL;
	for (i = 0; i < TYPES; i++) {
		c->parts[i].fields = types_fields((enum type)i, options);
		for (k = 0; k < TYPE_FIELDS; k++)
			c->parts[i].columns[k] = c->memory +
			    ((size_t)i * TYPE_FIELDS + k) * COLUMNS_EVENTS;
	}
	c->number = 1;
	weights_init(&c->weights, options & ARENA_SAMPLES ? sample : 0);
	return c;
}

void
columns_free(struct columns *c)
{
	free(c);
}

/* The names of a source are to be in the block. */
static void
add_names(struct columns *c, struct source *from)
{
	const unsigned at = c->nnames;

	if (at + 2 > COLUMNS_NAMES)
		return;
	from->block = c->number;
	from->place = at;
	memcpy(c->texts[at], from->name, sizeof(from->name));
	c->names[at] = (tel_emit_name){ 2, from->tid, c->texts[at] };
	c->nnames++;
	if (c->nnames > 1 && c->named == from->pid)
		return;
	c->named = from->pid;
	c->names[c->nnames++] = (tel_emit_name){ 3, from->pid, from->process };
}

void
columns_rename(struct columns *c, const struct source *from)
{
	if (from->block == c->number)
		memcpy(c->texts[from->place], from->name, sizeof(from->name));
}

void
columns_source(struct columns *c, struct source *from)
{
	struct part *part;
	unsigned i, k;

	if (from->block != c->number)
		add_names(c, from);
	if (c->count > 0 && !c->mixed &&
	    (c->pid != from->pid || c->tid != from->tid)) {
		for (i = 0; i < c->npresent; i++) {
			part = &c->parts[c->present[i]];
			for (k = 0; k < part->count; k++) {
				part->columns[part->fields][k] = c->pid;
				part->columns[part->fields + 1][k] = c->tid;
			}
		}
		c->mixed = 1;
	}
	c->pid = from->pid;
	c->tid = from->tid;
}

void
columns_write(struct columns *c, uint64_t lost)
{
	const uint64_t *columns[TYPES][TYPE_FIELDS];
	tel_emit_part parts[TYPES];
	tel_emit_columns all = { 0 };
	struct part *part;
	unsigned i, k;

	if (c->count == 0)
		return;
	for (i = 0; i < c->npresent; i++) {
		part = &c->parts[c->present[i]];
		for (k = 0; k < part->fields + 2; k++)
			columns[i][k] = part->columns[k];
		parts[i].code = c->present[i] + 1u;
		parts[i].count = part->count;
		parts[i].columns = columns[i];
		parts[i].same = 0;
		if (!c->mixed) {
			part->columns[k - 2][0] = c->pid;
			part->columns[k - 1][0] = c->tid;
			parts[i].same = (uint64_t)3 << (k - 2);
		}
		part->count = 0;
	}
	all.count = c->count;
	all.part_count = c->npresent;
	all.parts = parts;
	all.order = c->order;
	all.clocks = c->clocks;
	all.shared = c->shared;
	all.clock_count = c->nclocks;
	all.names = c->names;
	all.name_count = c->nnames;
	all.lost = lost - c->lost;
	if (!c->failed && tel_emit_relay(&all) != 0)
		c->failed = errno != 0 ? errno : EIO;
	c->lost = lost;
	if (!c->failed)
		c->events += c->count;
	c->count = c->npresent = c->nclocks = c->nnames = 0;
	c->mixed = 0;
	c->number++;
}
