/* SPDX-License-Identifier: BSD-2-Clause */
/* Generations: events by time, summed up by generation. */
#include "model/generations.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/int128.h"
#include "base/table.h"
#include "model/labels.h"
#include "model/schema.h"

/* --------------------------------------------------------------- events */

/* A number that is a part of the role.  0: the event has none. */
static int
generation_load(const struct tel_event *ev, enum tel_role_part part,
    uint64_t *out)
{
	const int i = ev->type->role_field[part];

	*out = 0;
	if (i < 0 || !tel_event_has(ev, (unsigned)i) ||
	    ev->type->fields[i].datatype == TEL_DOUBLE)
		return 0;
	*out = tel_load(&ev->type->fields[i], ev->data);
	return 1;
}

/* A share from 0 to 1; negative: the event has none. */
static double
generation_mortality(const struct tel_event *ev)
{
	const int i = ev->type->role_field[TEL_PART_MORTALITY];

	if (i < 0 || !tel_event_has(ev, (unsigned)i) ||
	    ev->type->fields[i].datatype != TEL_DOUBLE)
		return -1;
	double v = tel_event_double(ev, (unsigned)i);
	return v >= 0 && v <= 1 ? v : -1;
}

/* Sets the name of an event.  1; 0: no memory. */
static int
generation_set_name(struct tel__generations *g, struct tel__generation_event *e,
    const char *text, size_t n)
{
	/* TEL__NOWHERE and 1 is 0 */
	e->name = (uint16_t)(tel__names_add(&g->names, text, n,
	                         TEL__GENERATION_NAMES_MAX) +
	    1);
	return e->name > 0 || g->names.count == TEL__GENERATION_NAMES_MAX;
}

tel_status
tel__generations_event(struct tel__generations *g, const struct tel_event *ev,
    uint32_t log, uint64_t shown)
{
	const int of = ev->type->role_field[TEL_PART_ADDRESS];
	struct tel_label label;

	if (of < 0 || !tel_event_has(ev, (unsigned)of))
		return TEL_OK;
	if (g->nevents == TEL__GENERATIONS_MAX) {
		g->left_out++;
		return TEL_OK;
	}
	if (!TEL__RESERVE(g->events, g->events_room, g->nevents + 1))
		return TEL_ENOMEM;
	struct tel__generation_event *e = &g->events[g->nevents];
	memset(e, 0, sizeof(*e));
	e->shown = shown;
	e->at = (struct tel__moment){ ev->clock, log, (uint32_t)g->nevents++ };
	(void)generation_load(ev, TEL_PART_ADDRESS, &e->key);
	e->has_serial =
	    (uint8_t)generation_load(ev, TEL_PART_SERIAL, &e->serial);
	e->has_condemned =
	    (uint8_t)generation_load(ev, TEL_PART_SIZE, &e->condemned);
	(void)generation_load(ev, TEL_PART_MOVED, &e->moved);
	(void)generation_load(ev, TEL_PART_KEPT, &e->kept);
	e->mortality = generation_mortality(ev);
	g->ncondemned += e->has_condemned;
	e->space =
	    (uint8_t)tel_field_space(ev->type->schema, &ev->type->fields[of]);
	e->number = ev->log->number;
	/* the log may not have reached the label yet */
	if (!tel_find_label(ev, &ev->type->fields[of], e->key, &label) ||
	    label.string == NULL)
		e->from = ev->log;
	else if (!generation_set_name(g, e, label.string, label.length))
		return TEL_ENOMEM;
	return TEL_OK;
}

/* Looks for the label of an event in its log.  1; 0: no memory. */
static int
generation_label(struct tel__generations *g, struct tel__generation_event *e)
{
	struct tel_label label;

	if (e->from == NULL || e->from->number != e->number ||
	    e->from->labels == NULL ||
	    !tel__labels_find(e->from->labels, (enum tel_space)e->space, e->key,
	        e->at.clock, &label) ||
	    label.string == NULL)
		return 1;
	e->from = NULL;
	return generation_set_name(g, e, label.string, label.length);
}

void
tel__generations_label(struct tel__generations *g)
{
	struct tel__generation_event *e;

	for (e = g->events; e < g->events + g->nevents; e++) {
		(void)generation_label(g, e);
		e->from = NULL;
	}
	g->log = NULL;
}

int
tel__generations_add(struct tel__generations *g,
    const struct tel__generations *next, size_t i, uint32_t log, int part)
{
	if (g->nevents == TEL__GENERATIONS_MAX ||
	    !TEL__RESERVE(g->events, g->events_room, g->nevents + 1))
		return 0;
	struct tel__generation_event *e = &g->events[g->nevents];
	*e = next->events[i];
	e->at.log = log;
	e->at.sequence = (uint32_t)g->nevents++;
	g->ncondemned += e->has_condemned;
	if (e->name > 0) {
		const struct tel__name *name = &next->names.list[e->name - 1];

		return generation_set_name(g, e, name->text, name->length);
	}
	if (!generation_label(g, e))
		return 0;
	if (part && e->from != NULL) {
		e->from = g->log;
		e->number = g->log == NULL ? 0 : g->log->number;
	}
	return 1;
}

/* ----------------------------------------------------------------- rows */

int
tel__moment_order(const void *a, const void *b)
{
	const struct tel__moment *x = a, *y = b;

	if (x->log != y->log)
		return x->log < y->log ? -1 : 1;
	if (x->clock != y->clock)
		return x->clock < y->clock ? -1 : 1;
	return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

/*
 * Nonzero when an event is of another generation than the one at its address:
 * it has another serial number, or, where they have none, another expected
 * mortality than collections have left, as nothing else changes it.  One that
 * has a serial number first, and no mortality, is the end.
 */
static int
generation_differs(const struct tel__generation *row,
    const struct tel__generation_event *e)
{
	if (e->has_serial)
		return row->has_serial ? row->serial != e->serial :
		                         e->mortality >= 0;
	return !row->has_serial && !e->has_condemned && e->mortality >= 0 &&
	    row->predicted >= 0 &&
	    (e->mortality < row->predicted || e->mortality > row->predicted);
}

/* The generation of an event.  NULL: no memory. */
static struct tel__generation *
generation_of(struct tel__generations *g, struct tel__table *places,
    const struct tel__generation_event *e)
{
	struct tel__entry *at;
	int fresh;

	at = tel__table_put(places, tel__hash(e->key, e->at.log), &fresh);
	if (at == NULL)
		return NULL;
	struct tel__generation *row = fresh ? NULL : &g->rows[at->value];
	if (row != NULL && !generation_differs(row, e))
		return row;
	if (!TEL__RESERVE(g->rows, g->rows_room, g->nrows + 1))
		return NULL;
	at->value = g->nrows;
	row = &g->rows[g->nrows++];
	memset(row, 0, sizeof(*row));
	row->key = e->key;
	row->died = row->predicted = -1;
	return row;
}

static void
generation_sum(struct tel__generation *row)
{
	tel_int128 left = row->condemned;

	if (row->collections == 0)
		return;
	(void)int128_add(&left, tel__int128_negate(row->survived));
	if (left.high >= 0)
		row->reclaimed = left;
	if (row->condemned.high != 0 || row->condemned.low != 0)
		row->died = tel_int128_double(row->reclaimed) /
		    tel_int128_double(row->condemned);
}

int
tel__generations_make(struct tel__generations *g)
{
	struct tel__generation_event *e;
	struct tel__generation *row;
	struct tel__table places;
	int good = 1;

	g->nrows = 0;
	if (g->nevents == 0)
		return 1;
	qsort(g->events, g->nevents, sizeof(*g->events), tel__moment_order);
	tel__table_init(&places);
	for (e = g->events; e < g->events + g->nevents; e++) {
		row = generation_of(g, &places, e);
		good = row != NULL;
		if (!good)
			break;
		*(row->last > 0 ? &g->events[row->last - 1].next :
		                  &row->first) = (uint32_t)(e - g->events) + 1;
		row->last = (uint32_t)(e - g->events) + 1;
		e->next = 0;
		if (e->has_serial) {
			row->serial = e->serial;
			row->has_serial = 1;
		}
		if (e->name > 0)
			row->name = g->names.list[e->name - 1].text;
		if (e->mortality >= 0)
			row->predicted = e->mortality;
		if (!e->has_condemned)
			continue;
		row->collections++;
		(void)int128_add(&row->condemned, int128_u64(e->condemned));
		(void)int128_add(&row->survived, int128_u64(e->moved));
		(void)int128_add(&row->survived, int128_u64(e->kept));
	}
	tel__table_clear(&places);
	for (size_t i = 0; i < g->nrows; i++)
		generation_sum(&g->rows[i]);
	return good;
}

const char *
tel__generation_name(const struct tel__generation *row,
    char text[TEL__GENERATION_TEXT])
{
	if (row->name != NULL)
		return row->name;
	(void)snprintf(text, TEL__GENERATION_TEXT,
	    row->has_serial ? "generation %" PRIu64 : "0x%" PRIx64,
	    row->has_serial ? row->serial : row->key);
	return text;
}

void
tel__generations_clear(struct tel__generations *g)
{
	tel__names_clear(&g->names);
	free(g->events);
	free(g->rows);
	memset(g, 0, sizeof(*g));
}
