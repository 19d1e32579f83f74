/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The summary of a group of blocks: copies of the heads of its records, and
 * what values its events have, so that a reader knows which blocks it can
 * leave out before it reads any.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "format/tel/writer.h"

static void
free_stats(struct out_group *g)
{
	for (size_t i = 0; i < g->nstats; i++)
		free(g->stats[i].ranges);
	g->nstats = 0;
	tel__table_clear(&g->table);
}

void
tel__out_group_free(struct out_group *g)
{
	free_stats(g);
	free(g->stats);
	free(g->schemas);
	tel__buffer_clear(&g->records);
}

void
tel__out_group_clear(struct out_group *g, uint64_t place, uint64_t ordinal)
{
	free_stats(g);
	memset(&g->is, 0, sizeof(g->is));
	g->place = place;
	g->ordinal = ordinal;
	g->records.used = 0;
	g->nrecords = 0;
	g->ncells = 0;
	g->nschemas = 0;
	g->incomplete = 0;
}

void
tel__out_group_forget(struct out_group *g)
{
	for (size_t i = 0; i < g->nschemas; i++)
		g->schemas[i].of = NULL;
}

void
tel__out_group_record(struct out_group *g, const unsigned char *p,
    const struct native_record *rec)
{
	tel__buffer_put(&g->records, p + 4, NATIVE_COPIED);
	tel__buffer_put(&g->records, rec->head, rec->head_size);
	g->nrecords++;
	g->is.bytes += native_size(rec);
	if (rec->kind == NATIVE_LOG)
		g->is.flags |= NATIVE_GROUP_LOGS;
}

/* ------------------------------------------------------------- gathering */

/* The place of a schema; NATIVE_SUMMARY_SCHEMAS: there are too many. */
static tel_status
write_summary_find_schema(struct out_group *g, const struct out_schema *s,
    uint32_t *place)
{
	size_t i;

	for (i = 0; i < g->nschemas && g->schemas[i].of != s; i++)
		continue;
	*place = (uint32_t)i;
	if (i < g->nschemas || i == NATIVE_SUMMARY_SCHEMAS)
		return TEL_OK;
	if (!TEL__RESERVE(g->schemas, g->schema_room, i + 1))
		return TEL_ENOMEM;
	struct out_named_schema *named = &g->schemas[g->nschemas++];
	named->of = s;
	named->digest = s->native.digest;
	(void)snprintf(named->name, sizeof(named->name), "%s",
	    s->native.schema->name);
	return TEL_OK;
}

/* The counts of a type so far; *out NULL: there are too many types. */
static tel_status
write_summary_find_stat(struct out_group *g, uint32_t schema, uint64_t type,
    unsigned ncells, struct out_stat **out)
{
	struct tel__entry *e;
	int fresh;

	*out = NULL;
	if (!TEL__RESERVE(g->stats, g->stat_room, g->nstats + 1) ||
	    (e = tel__table_put(&g->table, (uint64_t)schema << 34 | type,
	         &fresh)) == NULL)
		return TEL_ENOMEM;
	if (!fresh) {
		*out = e->value < g->nstats ? &g->stats[e->value] : NULL;
		return TEL_OK;
	}
	e->value = g->nstats;
	if (g->nstats == NATIVE_SUMMARY_TYPES) {
		e->value = SIZE_MAX;
		return TEL_OK;
	}
	struct out_stat *stat = &g->stats[g->nstats];
	memset(stat, 0, sizeof(*stat));
	stat->schema = schema;
	stat->type = type;
	if (ncells <= NATIVE_SUMMARY_CELLS - g->ncells) {
		stat->ranges = calloc((size_t)ncells * NATIVE_GROUP + 1,
		    sizeof(*stat->ranges));
		if (stat->ranges == NULL)
			return TEL_ENOMEM;
		stat->ncells = ncells;
		g->ncells += ncells;
	}
	g->nstats++;
	*out = stat;
	return TEL_OK;
}

/* The events of a part, which may be of a type that another one is of, too. */
static void
add_part(struct out_stat *stat, const struct out_part *part, unsigned block)
{
	const struct tel__column_range *from = part->ranges;
	struct tel__column_range *to;

	for (unsigned k = 0; k < stat->ncells; k++) {
		to = &stat->ranges[(size_t)k * NATIVE_GROUP + block];
		if (stat->counts[block] == 0 || from[k].low < to->low)
			to->low = from[k].low;
		if (from[k].high > to->high)
			to->high = from[k].high;
	}
	stat->counts[block] += part->count;
}

tel_status
tel__out_group_block(struct out_group *g, const struct out_block *b,
    const struct native_head *head)
{
	struct out_stat *stat;
	const unsigned block = g->is.blocks++;
	uint64_t type;
	uint32_t schema;

	if (head->count > 0) {
		if (g->is.events == 0 || head->first < g->is.first)
			g->is.first = head->first;
		if (g->is.events == 0 || head->last > g->is.last)
			g->is.last = head->last;
	}
	g->is.events += head->count;
	g->is.lost += head->lost;
	for (unsigned i = 0; i < b->nparts; i++) {
		const struct out_part *part = &b->parts[i];

		if (write_summary_find_schema(g, b->slots[part->slot].schema,
		        &schema) != TEL_OK)
			return TEL_ENOMEM;
		type = (uint64_t)(part->type->unknown ? part->type->code :
		                                        part->type->index)
		        << 1 |
		    part->type->unknown;
		stat = NULL;
		if (schema < NATIVE_SUMMARY_SCHEMAS &&
		    write_summary_find_stat(g, schema, type, part->plan->ncells,
		        &stat) != TEL_OK)
			return TEL_ENOMEM;
		if (stat == NULL)
			g->incomplete = 1;
		else
			add_part(stat, part, block);
	}
	return TEL_OK;
}

/* --------------------------------------------------------------- writing */

static void
put_stat(const struct out_stat *stat, unsigned nblocks, struct tel__buffer *b)
{
	uint64_t low[NATIVE_GROUP], span[NATIVE_GROUP];
	const struct tel__column_range *range;
	unsigned i, k, n;

	tel__buffer_put_varint(b, stat->schema);
	tel__buffer_put_varint(b, stat->type);
	for (i = 0; i < nblocks; i++)
		low[i] = stat->counts[i];
	tel__column_put(b, low, nblocks);
	tel__buffer_put_varint(b, stat->ncells);
	for (k = 0; k < stat->ncells; k++) {
		for (i = n = 0; i < nblocks; i++) {
			if (stat->counts[i] == 0)
				continue;
			range = &stat->ranges[(size_t)k * NATIVE_GROUP + i];
			low[n] = range->low;
			span[n++] = range->high - range->low;
		}
		tel__column_put(b, low, n);
		tel__column_put(b, span, n);
	}
}

size_t
tel__out_group_put(struct out_group *g, uint32_t stream, unsigned char *head,
    struct tel__buffer *body)
{
	const uint64_t values[] = { g->place, g->is.blocks, g->ordinal,
		g->is.events, stream, (uint64_t)g->incomplete };
	unsigned char *p = head;

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		p = tel__varint_put(p, values[i]);
	tel__buffer_put_varint(body, g->nrecords);
	tel__buffer_put(body, g->records.bytes, g->records.used);
	tel__buffer_put_varint(body, g->nschemas);
	for (size_t i = 0; i < g->nschemas; i++) {
		tel__native_put_string(body, g->schemas[i].name,
		    strlen(g->schemas[i].name));
		tel__native_put_fixed(body, g->schemas[i].digest, 4);
	}
	tel__buffer_put_varint(body, g->nstats);
	for (size_t i = 0; i < g->nstats; i++)
		put_stat(&g->stats[i], g->is.blocks, body);
	body->failed |= g->records.failed;
	return (size_t)(p - head);
}

void
tel__out_group_entry(struct tel__buffer *b, const struct native_group *g,
    uint64_t before)
{
	tel__buffer_put_varint(b, g->flags);
	tel__buffer_put_varint(b, g->bytes);
	tel__buffer_put_varint(b, g->summary_size);
	tel__buffer_put_varint(b, g->names_size);
	tel__buffer_put_varint(b, g->all_size);
	if (g->all_size > 0)
		tel__buffer_put_varint(b, g->all_from);
	tel__buffer_put_varint(b, g->blocks);
	tel__buffer_put_varint(b, g->events);
	tel__buffer_put_varint(b, tel__zigzag(g->first - before));
	tel__buffer_put_varint(b, g->last - g->first);
	tel__buffer_put_varint(b, g->lost);
	tel__native_put_fixed(b, g->hash, 8);
}
