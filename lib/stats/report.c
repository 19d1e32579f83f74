/* SPDX-License-Identifier: BSD-2-Clause */
/* The report: a table of types, one of origins, and totals. */
#include "stats/report.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "stats/fields.h"

void
tel__report_init(struct report *r)
{
	memset(r, 0, sizeof(*r));
	r->first = UINT64_MAX;
	tel__index_init(&r->index);
}

void
tel__report_clear(struct report *r)
{
	for (uint32_t i = 0; i < r->nparts; i++) {
		free(r->parts[i].name);
		free(r->parts[i].kind);
	}
	for (uint32_t i = 0; i < r->norigins; i++) {
		free(r->origins[i].schema);
		free(r->origins[i].version);
		free(r->origins[i].format);
	}
	for (uint32_t i = 0; i < r->npools; i++) {
		free(r->pools[i].label);
		free(r->pools[i].kind);
	}
	free(r->pools);
	free(r->parts);
	tel__index_clear(&r->index);
	free(r->types);
	free(r->kinds);
	tel__report_init(r);
}

static uint64_t
hash_part(const struct report *r, const char *name, const char *kind)
{
	return tel__hash_bytes(name, strlen(name),
	    tel__hash_bytes(kind, strlen(kind), r->index.seed));
}

static uint32_t
stats_report_find(const struct report *r, const char *name, const char *kind)
{
	struct tel__probe at;
	uint32_t i;

	for (i = tel__index_first(&r->index, hash_part(r, name, kind), &at);
	     i != TEL__NOWHERE; i = tel__index_next(&r->index, &at)) {
		const struct part *p = &r->parts[i];

		if (strcmp(p->name, name) == 0 && strcmp(p->kind, kind) == 0)
			break;
	}
	return i;
}

tel_status
tel__report_part(struct report *r, const char *name, const char *kind,
    uint32_t code, uint32_t *out)
{
	*out = stats_report_find(r, name, kind);
	if (*out == TEL__NOWHERE && r->nparts >= PARTS_MAX) {
		name = kind = "...";
		code = 0;
		*out = stats_report_find(r, name, kind);
	}
	if (*out != TEL__NOWHERE)
		return TEL_OK;
	if (!TEL__RESERVE(r->parts, r->room, (size_t)r->nparts + 1))
		return TEL_ENOMEM;
	struct part *p = &r->parts[r->nparts];
	memset(p, 0, sizeof(*p));
	p->name = strdup(name);
	p->kind = strdup(kind);
	if (p->name == NULL || p->kind == NULL ||
	    !tel__index_add(&r->index, hash_part(r, name, kind), r->nparts)) {
		free(p->name);
		free(p->kind);
		return TEL_ENOMEM;
	}
	p->code = code;
	*out = r->nparts++;
	return TEL_OK;
}

tel_status
tel__report_origin(struct report *r, const char *schema, const char *version,
    const char *format, unsigned *out)
{
	unsigned i;

	if (r->norigins >= ORIGINS_MAX)
		for (i = 0; i < ORIGINS_MAX; i++)
			if (strcmp(r->origins[i].schema, schema) == 0 &&
			    strcmp(r->origins[i].version, version) == 0 &&
			    strcmp(r->origins[i].format, format) == 0)
				break;
	if (r->norigins >= ORIGINS_MAX && i == ORIGINS_MAX)
		schema = version = format = "...";
	for (i = 0; i < r->norigins; i++) {
		struct origin *o = &r->origins[i];

		if (strcmp(o->schema, schema) == 0 &&
		    strcmp(o->version, version) == 0 &&
		    strcmp(o->format, format) == 0) {
			*out = i;
			return TEL_OK;
		}
	}
	struct origin *o = &r->origins[r->norigins];
	memset(o, 0, sizeof(*o));
	o->schema = strdup(schema);
	o->version = strdup(version);
	o->format = strdup(format);
	if (o->schema == NULL || o->version == NULL || o->format == NULL) {
		free(o->schema);
		free(o->version);
		free(o->format);
		return TEL_ENOMEM;
	}
	*out = r->norigins++;
	return TEL_OK;
}

void
tel__report_span(struct report *r, uint64_t first, uint64_t last, int64_t ns)
{
	if (first < r->first)
		r->first = first;
	if (last > r->last)
		r->last = last;
	(void)int128_add(&r->ticks, int128_u64(last - first));
	/* what does not fit is an absurd rate, and no time */
	if (ns >= 0)
		(void)int128_add(&r->ns, int128_u64((uint64_t)ns));
	else
		r->untimed++;
}

static int
compare_parts(const void *a, const void *b)
{
	const tel_part *p = a, *q = b;

	if (p->events != q->events)
		return p->events > q->events ? -1 : 1;
	int c = strcmp(p->name, q->name);
	return c != 0 ? c : strcmp(p->kind, q->kind);
}

/* Adds up the kinds; those beyond the most are one, called "...". */
static tel_status
stats_report_add_kinds(struct report *r)
{
	tel_part *kinds;
	uint32_t i, j, n = 0;

	kinds = calloc(KINDS_MAX + 1, sizeof(*kinds));
	if (kinds == NULL)
		return TEL_ENOMEM;
	for (i = 0; i < r->ntypes; i++) {
		const tel_part *p = &r->types[i];

		for (j = 0; j < n && j < KINDS_MAX; j++)
			if (strcmp(kinds[j].name, p->kind) == 0)
				break;
		if (j == n) {
			kinds[n].name = n < KINDS_MAX ? p->kind : "...";
			kinds[n].kind = kinds[n].name;
			n++;
		}
		kinds[j].events += p->events;
		kinds[j].bytes += p->bytes;
	}
	qsort(kinds, n, sizeof(*kinds), compare_parts);
	free(r->kinds);
	r->kinds = kinds;
	r->nkinds = n;
	return TEL_OK;
}

tel_status
tel__report_sort(struct report *r)
{
	tel_part *types = malloc(((size_t)r->nparts + 1) * sizeof(*types));
	uint32_t n = 0;

	if (types == NULL)
		return TEL_ENOMEM;
	for (uint32_t i = 0; i < r->nparts; i++) {
		const struct part *p = &r->parts[i];

		if (p->events > 0)
			types[n++] = (tel_part){ p->name, p->kind, p->code,
				p->events, p->bytes };
	}
	qsort(types, n, sizeof(*types), compare_parts);
	free(r->types);
	r->types = types;
	r->ntypes = n;
	return stats_report_add_kinds(r);
}

void
tel__report_zero(struct report *r)
{
	memset(r, 0, offsetof(struct report, has_allocs));
	r->first = UINT64_MAX;
	for (uint32_t i = 0; i < r->nparts; i++)
		r->parts[i].events = r->parts[i].bytes = 0;
	for (uint32_t i = 0; i < r->norigins; i++)
		r->origins[i].logs = r->origins[i].events = 0;
	for (uint32_t i = 0; i < r->npools; i++) {
		r->pools[i].allocs = 0;
		r->pools[i].bytes = int128_u64(0);
		r->pools[i].peak_bytes = r->pools[i].live_bytes;
	}
}

static void
report_add_counts(struct report *r, const struct report *from,
    const struct count_field *f)
{
	for (; f->name != NULL; f++)
		*field_count(f, r) +=
		    *(const uint64_t *)((const char *)from + f->at);
}

static void
merge_totals(struct report *r, const struct report *from)
{
	report_add_counts(r, from, tel__report_head);
	report_add_counts(r, from, tel__report_tail);
	if (from->first < r->first)
		r->first = from->first;
	if (from->last > r->last)
		r->last = from->last;
	(void)int128_add(&r->ticks, from->ticks);
	(void)int128_add(&r->ns, from->ns);
	r->allocs += from->allocs;
	r->frees += from->frees;
	r->has_allocs |= from->has_allocs;
	(void)int128_add(&r->alloc_bytes, from->alloc_bytes);
	(void)int128_add(&r->free_bytes, from->free_bytes);
	(void)int128_add(&r->ended, from->ended);
	(void)int128_add(&r->ended_bytes, from->ended_bytes);
}

/* A pool of one report is none of another one's. */
static tel_status
merge_pools(struct report *r, const struct report *from)
{
	struct pool *to;

	for (uint32_t i = 0; i < from->npools; i++) {
		const struct pool *p = &from->pools[i];

		if (!TEL__RESERVE_ZEROED(r->pools, r->pool_room,
		        (size_t)r->npools + 1))
			return TEL_ENOMEM;
		if (r->npools <= POOLS_MAX)
			r->npools++;
		to = &r->pools[r->npools - 1];
		to->allocs += p->allocs;
		to->live_blocks += p->live_blocks;
		to->live_bytes += p->live_bytes;
		to->peak_bytes += p->peak_bytes;
		(void)int128_add(&to->bytes, p->bytes);
		if (r->npools > POOLS_MAX)
			continue;
		to->address = p->address;
		to->ended = p->ended;
		if ((p->label != NULL &&
		        (to->label = strdup(p->label)) == NULL) ||
		    (p->kind != NULL && (to->kind = strdup(p->kind)) == NULL))
			return TEL_ENOMEM;
	}
	return TEL_OK;
}

tel_status
tel__report_merge(struct report *r, const struct report *from)
{
	tel_status st;
	uint32_t i, at;
	unsigned j, to;

	for (i = 0; i < from->nparts; i++) {
		const struct part *p = &from->parts[i];

		st = tel__report_part(r, p->name, p->kind, p->code, &at);
		if (st != TEL_OK)
			return st;
		r->parts[at].events += p->events;
		r->parts[at].bytes += p->bytes;
	}
	for (j = 0; j < from->norigins; j++) {
		const struct origin *o = &from->origins[j];

		st = tel__report_origin(r, o->schema, o->version, o->format,
		    &to);
		if (st != TEL_OK)
			return st;
		r->origins[to].logs += o->logs;
		r->origins[to].events += o->events;
	}
	merge_totals(r, from);
	return merge_pools(r, from);
}
