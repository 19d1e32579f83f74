/* SPDX-License-Identifier: BSD-2-Clause */
/* The block that is made, and how libtel-emit gets it. */
#include "telrec/columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "telrec/arena.h"

static void
free_set(struct set *set)
{
	if (set != NULL) {
		free(set->parts[TYPE_TRACE].labels);
		free(set->parts[TYPE_UNRECORDED].labels);
	}
	free(set);
}

/* NULL: out of memory. */
static struct set *
new_set(uint32_t options, int mixed)
{
	unsigned i, k, count = 0;
	struct set *set;

	for (i = 0; i < TYPES; i++)
		count += types_fields((enum type)i, options) + (mixed ? 2 : 0);
	set = calloc(1,
	    sizeof(*set) + (size_t)count * COLUMNS_EVENTS * sizeof(uint64_t));
	if (set == NULL)
		return NULL;
	set->mixed = mixed;
	if (options & ARENA_STACKS) {
		struct part *part = &set->parts[TYPE_TRACE];

		part->labels = calloc(COLUMNS_EVENTS, sizeof(*part->labels));
		if (part->labels == NULL) {
			free(set);
			return NULL;
		}
	}
	count = 0;
	for (i = 0; i < TYPES; i++) {
		struct part *part = &set->parts[i];

		part->fields = types_fields((enum type)i, options);
		part->same = mixed ? 0 : (uint64_t)3 << part->fields;
		part->columns[part->fields] = &set->pid;
		part->columns[part->fields + 1] = &set->tid;
		for (k = 0; k < part->fields + (mixed ? 2 : 0); k++)
			part->columns[k] =
			    set->memory + (size_t)count++ * COLUMNS_EVENTS;
	}
	return set;
}

struct columns *
columns_new(uint32_t options, uint64_t sample, uint64_t kept)
{
	struct columns *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	c->options = options;
	c->limit = UINT64_MAX;
	c->sets[COLUMNS_SETS - 1] = new_set(options, 1);
	if (kept > 0)
		c->flight = flight_new(kept, options);
	if (c->sets[COLUMNS_SETS - 1] == NULL ||
	    (kept > 0 && c->flight == NULL)) {
		columns_free(c);
		return NULL;
	}
	c->number = 1;
	weights_init(&c->weights, options & ARENA_SAMPLES ? sample : 0);
	return c;
}

void
columns_free(struct columns *c)
{
	if (c == NULL)
		return;
	for (unsigned i = 0; i < COLUMNS_SETS; i++)
		free_set(c->sets[i]);
	flight_free(c->flight);
	free(c);
}

/* The names of a source are to be in the block. */
static void
telrec_columns_add_names(struct columns *c, struct source *from)
{
	const unsigned at = c->nnames;

	from->place = COLUMNS_NAMES;
	if (at + 2 > COLUMNS_NAMES)
		return;
	/* a program that is not recorded leaves the thread the name it had */
	if (from->name[0] != '\0') {
		from->place = at;
		memcpy(c->texts[at], from->name, sizeof(from->name));
		c->names[at] = (tel_emit_name){ 2, from->tid, c->texts[at] };
		c->nnames++;
	}
	if (at > 0 && c->named == from->pid)
		return;
	c->named = from->pid;
	c->names[c->nnames++] = (tel_emit_name){ 3, from->pid, from->process };
}

void
columns_rename(struct columns *c, const struct source *from)
{
	if (from->block == c->number && from->place < COLUMNS_NAMES)
		memcpy(c->texts[from->place], from->name, sizeof(from->name));
}

/* The columns for a source that has none in this block. */
static unsigned
telrec_columns_find_set(struct columns *c)
{
	struct set **set = &c->sets[c->nsets];

	if (c->nsets < COLUMNS_SETS - 1 && *set == NULL)
		*set = new_set(c->options, 0);
	return c->nsets < COLUMNS_SETS - 1 && *set != NULL ? c->nsets++ :
	                                                     COLUMNS_SETS - 1;
}

void
columns_source(struct columns *c, struct source *from)
{
	if (from->block != c->number) {
		telrec_columns_add_names(c, from);
		from->set = telrec_columns_find_set(c);
		from->block = c->number;
	}
	c->set = c->sets[from->set];
	c->set->pid = from->pid;
	c->set->tid = from->tid;
}

/* Keeps the first n events of the block. */
static void
telrec_columns_cut(struct columns *c, unsigned n)
{
	unsigned counts[COLUMNS_SETS * TYPES] = { 0 }, i, k = 0, left = n;
	uint8_t places[COLUMNS_SETS * TYPES];

	for (i = 0; i < n; i++)
		counts[c->order[i]]++;
	for (i = 0; i < c->npresent; i++) {
		c->present[i]->count = counts[i];
		if (counts[i] == 0)
			continue;
		places[i] = (uint8_t)k;
		c->present[k] = c->present[i];
		c->types[k++] = c->types[i];
	}
	c->npresent = k;
	for (i = 0; i < n; i++)
		c->order[i] = places[c->order[i]];
	for (i = 0; left > 0; i++) {
		if (c->shared[i] > left)
			c->shared[i] = left;
		left -= c->shared[i];
	}
	c->nclocks = i;
	c->count = n;
}

/* Makes room for the next block. */
static void
start_block(struct columns *c)
{
	c->count = c->npresent = c->nclocks = c->nnames = c->nsets = 0;
	c->number++;
}

void
columns_write(struct columns *c, uint64_t lost)
{
	const uint64_t *columns[COLUMNS_SETS * TYPES][TYPE_FIELDS];
	tel_emit_part parts[COLUMNS_SETS * TYPES];
	tel_emit_columns all = { 0 };

	if (c->count == 0)
		return;
	if (c->count > c->limit - c->events)
		telrec_columns_cut(c, (unsigned)(c->limit - c->events));
	if (c->count == 0) {
		start_block(c);
		return;
	}
	for (unsigned i = 0; i < c->npresent; i++) {
		struct part *part = c->present[i];

		parts[i].code = c->types[i] + 1u;
		parts[i].count = part->count;
		for (unsigned k = 0; k < TYPE_FIELDS; k++)
			columns[i][k] = part->columns[k];
		parts[i].columns = columns[i];
		parts[i].same = part->same;
		parts[i].labels = part->labels;
		parts[i].labelled = 1;
		if (c->types[i] == TYPE_PROCESS ||
		    c->types[i] == TYPE_PROCESS_END)
			c->processes += part->count;
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
	all.lost = lost > c->lost ? lost - c->lost : 0;
	if (!c->failed &&
	    (c->flight != NULL ? flight_add(c->flight, &all) :
	                         tel_emit_relay(&all)) != 0)
		c->failed = errno != 0 ? errno : EIO;
	c->lost += all.lost;
	if (!c->failed)
		c->events += c->count;
	start_block(c);
}

void
columns_release(struct columns *c)
{
	if (c->flight != NULL && !c->failed && flight_write(c->flight) != 0)
		c->failed = errno != 0 ? errno : EIO;
}
