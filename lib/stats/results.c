/* SPDX-License-Identifier: BSD-2-Clause */
/* What the public functions return of a set of statistics. */
#include "base/getter.h"
#include "stats/stats.h"

#include "stats/class.h"

/* ------------------------------------------------------------- report */

static int
results_tell(tel_int128 v, int known, tel_int128 *out)
{
	if (known)
		*out = v;
	return known;
}

static int
tell_u64(uint64_t v, tel_int128 *out)
{
	return results_tell(int128_u64(v), 1, out);
}

static tel_int128
results_minus(tel_int128 a, tel_int128 b)
{
	(void)int128_add(&a, tel__int128_negate(b));
	return a;
}

/* The totals of allocation. */
static int
tell_blocks(const struct report *r, tel_total which, tel_int128 *out)
{
	const int known = r->has_allocs;
	const int ended = r->ended.high != 0 || r->ended.low != 0;

	switch (which) {
	case TEL_TOTAL_ALLOCS:
		return results_tell(int128_u64(r->allocs), known, out);
	case TEL_TOTAL_ALLOC_BYTES:
		return results_tell(r->alloc_bytes, known, out);
	case TEL_TOTAL_FREES:
		return results_tell(int128_u64(r->frees), known, out);
	case TEL_TOTAL_FREE_BYTES:
		return results_tell(r->free_bytes, known, out);
	case TEL_TOTAL_LIVE:
		return results_tell(results_minus(results_minus(int128_u64(
		                                                    r->allocs),
		                                      int128_u64(r->frees)),
		                        r->ended),
		    known, out);
	case TEL_TOTAL_LIVE_BYTES:
		return results_tell(results_minus(results_minus(r->alloc_bytes,
		                                      r->free_bytes),
		                        r->ended_bytes),
		    known, out);
	case TEL_TOTAL_SAMPLES:
		return results_tell(int128_u64(r->samples), r->samples > 0,
		    out);
	case TEL_TOTAL_STRAYS:
		return results_tell(int128_u64(r->strays), r->strays > 0, out);
	case TEL_TOTAL_INHERITED:
		return results_tell(int128_u64(r->inherited), r->inherited > 0,
		    out);
	case TEL_TOTAL_ENDED: return results_tell(r->ended, ended, out);
	case TEL_TOTAL_ENDED_BYTES:
		return results_tell(r->ended_bytes, ended, out);
	default: return 0;
	}
}

int
tel_stats_total(const tel_stats *s, tel_total which, tel_int128 *out)
{
	const struct report *r = &s->shown;
	int any = r->first <= r->last;

	switch (which) {
	case TEL_TOTAL_LOGS: return tell_u64(r->logs, out);
	case TEL_TOTAL_EVENTS: return tell_u64(r->events, out);
	case TEL_TOTAL_BYTES: return tell_u64(r->bytes, out);
	case TEL_TOTAL_FIRST:
		return results_tell(int128_u64(r->first), any, out);
	case TEL_TOTAL_LAST: return results_tell(int128_u64(r->last), any, out);
	case TEL_TOTAL_TICKS: return results_tell(r->ticks, 1, out);
	case TEL_TOTAL_NS:
		return results_tell(r->ns, any && r->untimed == 0, out);
	case TEL_TOTAL_INPUT: return tell_u64(r->input, out);
	case TEL_TOTAL_DAMAGED: return tell_u64(r->damaged, out);
	case TEL_TOTAL_SKIPPED: return tell_u64(r->skipped, out);
	case TEL_TOTAL_REPAIRED: return tell_u64(r->repaired, out);
	case TEL_TOTAL_UNKNOWN: return tell_u64(r->unknown, out);
	case TEL_TOTAL_LOST: return tell_u64(r->lost, out);
	case TEL_TOTAL_CUT: return tell_u64(r->cut, out);
	case TEL_TOTAL_INCOMPLETE:
		return results_tell(int128_u64(r->incomplete),
		    r->incomplete > 0, out);
	default: return s->blocks && tell_blocks(r, which, out);
	}
}

TEL__GETTER(size_t, tel_stats_origin_count, tel_stats, shown.norigins)

int
tel_stats_origin(const tel_stats *s, size_t i, tel_origin *out)
{
	if (i >= s->shown.norigins)
		return 0;
	const struct origin *o = &s->shown.origins[i];
	out->schema = o->schema;
	out->version = o->version;
	out->format = o->format;
	out->logs = o->logs;
	out->events = o->events;
	return 1;
}

int
tel_stats_pool(const tel_stats *s, size_t i, tel_pool_use *out)
{
	if (i >= s->shown.npools)
		return 0;
	const struct pool *p = &s->shown.pools[i];
	out->label = p->label != NULL ? p->label : "";
	out->kind = p->kind != NULL ? p->kind : "";
	out->address = p->address;
	out->allocations = p->allocs;
	out->allocated_bytes = p->bytes;
	out->live_blocks = p->live_blocks;
	out->live_bytes = p->live_bytes;
	out->peak_bytes = p->peak_bytes;
	return 1;
}

size_t
tel_stats_part_count(const tel_stats *s, tel_part_by by)
{
	return by == TEL_PART_TYPE ? s->shown.ntypes : s->shown.nkinds;
}

int
tel_stats_part(const tel_stats *s, tel_part_by by, size_t i, tel_part *out)
{
	if (i >= tel_stats_part_count(s, by))
		return 0;
	*out = by == TEL_PART_TYPE ? s->shown.types[i] : s->shown.kinds[i];
	return 1;
}

/* ---------------------------------------------------------- statistic */

TEL__GETTER(size_t, tel_stats_count, tel_stats, listed)

int
tel_stats_defined(const tel_stats *s)
{
	return s->count > 0;
}

const tel_stat *
tel_stats_get(const tel_stats *s, size_t i)
{
	return i < s->listed ? s->list[i] : NULL;
}

TEL__GETTER(tel_class, tel_stat_class, tel_stat, definition->spec.class)
TEL__GETTER(const char *, tel_stat_name, tel_stat, definition->spec.name)
TEL__GETTER(const char *, tel_stat_definition, tel_stat, definition->text)
TEL__GETTER(const char *, tel_stat_unit, tel_stat, definition->unit)
TEL__GETTER(unsigned, tel_stat_decimals, tel_stat, definition->spec.decimals)

int
tel_stat_parameter(const tel_stat *stat, unsigned i, const char **name,
    int64_t *value)
{
	const struct spec *p = &stat->definition->spec;

	const struct stat_class *class = tel__stat_class(p->class);

	if (i >= class->nparameters)
		return 0;
	*name = class->parameters[i];
	*value = p->parameters[i];
	return 1;
}

TEL__GETTER(unsigned, tel_stat_group_count, tel_stat, definition->ngroups)

const char *
tel_stat_group_name(const tel_stat *stat, unsigned i)
{
	const struct definition *d = stat->definition;

	return i < d->ngroups ? d->group_names[i] : NULL;
}

int
tel_stat_group_value(const tel_stat *stat, unsigned i, tel_value *out)
{
	static const struct key missing = { 0, KEY_MISSING };
	const struct definition *d = stat->definition;

	if (i >= d->ngroups)
		return 0;
	tel__key_value(d->strings,
	    stat->is_overflow ? &missing : &stat->group[i], out);
	return 1;
}

TEL__GETTER(int, tel_stat_overflow_group, tel_stat, is_overflow)

int
tel_stat_wrapped(const tel_stat *stat)
{
	return (stat->flags & STAT_WRAPPED) != 0;
}

int
tel_stat_approximate(const tel_stat *stat)
{
	return (stat->flags & STAT_APPROXIMATE) != 0;
}

int
tel_stat_number(const tel_stat *stat, tel_number which, tel_int128 *out)
{
	const struct spec *p = &stat->definition->spec;
	const struct stat_class *class = tel__stat_class(p->class);
	const struct stat_number *n = class->numbers;

	if (which == TEL_NUMBER_KEYS)
		return results_tell(int128_u64(stat->tally.count),
		    p->class == TEL_CLASS_TALLY, out);
	if (which == TEL_NUMBER_UPDATES && class->pairs)
		which = TEL_NUMBER_EVENTS;
	if (which >= TEL_NUMBER_EVENTS && which <= TEL_NUMBER_OVER_LIMIT)
		return (p->pairs != PAIRS_NONE || class->pairs) &&
		    tel__stat_get_number(stat, which, out);
	while (n->name != NULL && n->which != which)
		n++;
	return (n->name != NULL || which == TEL_NUMBER_UPDATES ||
	           which == TEL_NUMBER_INVALID || which == TEL_NUMBER_LOST) &&
	    tel__stat_get_number(stat, which, out);
}

int
tel_stat_variance(const tel_stat *stat, double *out)
{
	const struct stat_class *class = stat->definition->class;

	if (!class->squared ||
	    (stat->flags & (STAT_NO_SUM | STAT_NO_SQUARES | STAT_WRAPPED)) != 0)
		return 0;
	return tel__squares_variance(&stat->squares, stat->sum,
	    stat_values(stat, class), out);
}

/* ------------------------------------------------------------ buckets */

TEL__GETTER(size_t, tel_stat_bucket_count, tel_stat,
    definition->spec.layout.count)

int
tel_stat_bucket(const tel_stat *stat, size_t i, tel_bucket *out)
{
	const struct layout *l = &stat->definition->spec.layout;

	if (i >= l->count)
		return 0;
	tel__layout_edges(l, (uint32_t)i, out);
	out->count = tel__stat_bucket(stat, (uint32_t)i);
	return 1;
}

size_t
tel_stat_next_bucket(const tel_stat *stat, size_t i)
{
	const struct layout *l = &stat->definition->spec.layout;

	while (i < l->count && tel__stat_bucket(stat, (uint32_t)i) == 0)
		i++;
	return i < l->count ? i : l->count;
}

/* ceil(share of the weight), and 1 at least. */
static uint64_t
rank_of(uint64_t weight, uint32_t billionths)
{
	uint64_t whole = weight / 1000000000 * billionths;
	uint64_t part = weight % 1000000000 * billionths;

	whole += part / 1000000000 + (part % 1000000000 != 0);
	return whole > 0 ? whole : 1;
}

/* The largest value that bucket i can hold of what the stat has seen. */
static void
upper_edge(const tel_stat *stat, uint32_t i, tel_quantile *out)
{
	tel_bucket b;
	int known = (stat->flags & STAT_EXTREMES) && int128_is_i64(stat->max);

	tel__layout_edges(&stat->definition->spec.layout, i, &b);
	out->is = b.open ? TEL_QUANTILE_AT_LEAST : TEL_QUANTILE_AT_MOST;
	out->value = b.open ? b.lo : b.hi - 1;
	if (known && (b.open || (int64_t)stat->max.low < out->value)) {
		out->is = TEL_QUANTILE_AT_MOST;
		out->value = (int64_t)stat->max.low;
	}
}

int
tel_stat_quantile(const tel_stat *stat, uint32_t billionths, tel_quantile *out)
{
	const struct layout *l = &stat->definition->spec.layout;
	uint64_t rank, sum = stat->under;

	if (l->count == 0 || stat->weight == 0 || billionths > 1000000000 ||
	    (stat->flags & (STAT_OUTSIDE | STAT_WRAPPED)))
		return 0;
	rank = rank_of(stat->weight, billionths);
	if (rank <= sum) {
		out->is = TEL_QUANTILE_BELOW;
		out->value = l->ranges[0].lo;
		return 1;
	}
	for (uint32_t i = 0; i < l->count; i++) {
		sum += tel__stat_bucket(stat, i);
		if (rank <= sum) {
			upper_edge(stat, i, out);
			return 1;
		}
	}
	out->is = TEL_QUANTILE_AT_LEAST;
	out->value =
	    l->ranges != NULL ? l->ranges[l->nranges - 1].hi : INT64_MAX;
	return 1;
}

/* --------------------------------------------------------------- keys */

tel_status
tel_stats_sort_keys(tel_stats *s, tel_key_order order)
{
	tel_status st = TEL_OK;

	if ((unsigned)order > TEL_KEYS_FIRST)
		return stats_fail(s, TEL_EINVAL, "unknown order");
	for (size_t i = 0; i < s->listed && st == TEL_OK; i++)
		st = tel__tally_sort(&s->list[i]->tally, s->strings, order);
	return st == TEL_OK ? st : stats_no_memory(s);
}

TEL__GETTER(size_t, tel_stat_key_count, tel_stat, tally.count)

int
tel_stat_key(const tel_stat *stat, size_t i, tel_key *out)
{
	const struct tally *t = &stat->tally;

	if (i >= t->count)
		return 0;
	if (t->order != NULL)
		i = t->order[i];
	struct key k = tally_key(t, (uint32_t)i);
	tel__key_value(stat->definition->strings, &k, &out->value);
	out->count = t->counts[i];
	out->updates = t->updates[i];
	return 1;
}

int
tel_stat_top(const tel_stat *stat, size_t i, tel_top *out)
{
	if (i >= stat->top.count)
		return 0;
	*out = *stat->top.list[i];
	return 1;
}

const char *
tel_stat_shown(const tel_stat *stat, unsigned i)
{
	const struct definition *d = stat->definition;

	return d->class->ranked && i < d->nweights ? d->weights[i].text : NULL;
}

int
tel_stats_metadata(const tel_stats *s, size_t i, const char **key,
    const char **value)
{
	if (i >= s->metadata.count)
		return 0;
	*key = s->metadata.entries[i].key;
	*value = s->metadata.entries[i].value;
	return 1;
}
