/* SPDX-License-Identifier: BSD-2-Clause */
/* Updates, trace events and snapshots of the classes of an inst log. */
#include <stdlib.h>
#include <string.h>

#include "stats/load.h"
#include "stats/class.h"

/* ------------------------------------------------------------- events */

tel_status
tel__load_update(struct loader *l, struct loaded *to, const char **why)
{
	struct tel_stat *stat = to->stat;
	uint64_t weight = 1;
	tel_value key;
	tel_int128 v;

	if (stat == NULL)
		return load_invalid(why, "the update is not for this class");
	if (tel__load_u64(l, "n", &weight) < 0)
		return load_invalid(why, "the weight is not a count");
	const struct stat_class *class = to->definition->class;
	stat->now = l->line->clock;
	stat->event = l->event;
	if (class->take != NULL)
		return tel__load_value(l, "v", "s", &key) ?
		    class->take(stat, &key, weight) :
		    load_invalid(why, "the key is invalid");
	if (tel__load_int128(l, "v", &v) <= 0 ||
	    (!int128_is_i64(v) && !int128_is_u64(v)))
		return load_invalid(why,
		    "the value is not a number of 64 bits");
	/* a magdelta adds by itself */
	if (l->record->type == T_UPDATE_ADD && !class->running)
		stat_wrap(stat, int128_add(&v, stat->last));
	return class->update(stat, v, weight);
}

/*
 * The end of a range: its time in microseconds, as such classes have it.  What
 * remains of each goes into the total, so that many short ones are not lost.
 */
static void
load_values_end_range(const struct loader *l, struct loaded *to,
    struct tel_stat *stat, uint64_t start)
{
	int64_t ns;

	stat->pairs.open--;
	if (l->line->clock < start) {
		stat->pairs.backward++;
		return;
	}
	if (!tel__clock_between(l->event->log->clock, start, l->line->clock,
	        &ns) ||
	    ns < 0) {
		stat->pairs.untimed++;
		return;
	}
	stat->pairs.pairs++;
	stat->now = l->line->clock;
	(void)stat->definition->class->update(stat, int128_i64(ns / 1000), 1);
	/* a part of a microsecond has no square */
	if (ns % 1000 != 0)
		stat->flags |= STAT_NO_SQUARES;
	to->rest_ns += (uint64_t)ns % 1000;
	stat_wrap(stat, int128_add(&stat->sum, int128_u64(to->rest_ns / 1000)));
	to->rest_ns %= 1000;
}

tel_status
tel__load_trace(struct loader *l, struct loaded *to)
{
	struct pair_key k = { { 0, TEL_UNSIGNED }, 0, 0, 0 };
	struct tel_stat *stat = to->stat;
	uint64_t start;

	k.key.bits = tel__inst_unsigned(l->line, I_TAG);
	if (stat == NULL || !stat->definition->class->pairs)
		return TEL_OK;
	stat->pairs.events++;
	switch (tel__inst_unsigned(l->line, I_P)) {
	case 1:
		switch (tel__pairs_start(&to->definition->open, &k,
		    l->line->clock, stat)) {
		case PAIR_NESTED: stat->pairs.nested++; /* fallthrough */
		case PAIR_OK: stat->pairs.open++; break;
		case PAIR_NO_MEMORY: return TEL_ENOMEM;
		default: stat->pairs.over_limit++; break;
		}
		break;
	case 2:
		switch (
		    tel__pairs_end(&to->definition->open, &k, &start, &stat)) {
		case PAIR_OK: load_values_end_range(l, to, stat, start); break;
		case PAIR_NONE: to->stat->pairs.orphan++; break;
		default: break;
		}
		break;
	default: break;
	}
	return TEL_OK;
}

/* ---------------------------------------------------------- snapshots */

/* Adds to a bucket, or sets a register.  0: there is none such. */
static int
load_count(struct tel_stat *s, uint64_t i, uint64_t count, tel_status *st)
{
	if (!s->definition->class->sketched) {
		if (i >= s->definition->spec.layout.count)
			return 0;
		*st = tel__stat_add_bucket(s, (uint32_t)i, count);
		return 1;
	}
	if (i >= SKETCH_SIZE || count == 0 || count > SKETCH_RANK_MAX)
		return 0;
	uint8_t *sketch = tel__stat_sketch(s);
	*st = sketch != NULL ? TEL_OK : TEL_ENOMEM;
	if (sketch != NULL && sketch[i] < count)
		sketch[i] = (uint8_t)count;
	return 1;
}

/* Reads "i:count,i:count" into the buckets. */
static tel_status
read_buckets(struct tel_stat *stat, const struct inst_value *v,
    const char **why)
{
	const unsigned char *p = v->p, *end = p + v->n;
	struct inst_value number[2];
	tel_status st = TEL_OK;
	tel_int128 n[2];

	while (p < end) {
		for (unsigned i = 0; i < 2; i++) {
			memset(&number[i], 0, sizeof(number[i]));
			number[i].p = p;
			while (p < end && *p != ',' && *p != ':')
				p++;
			number[i].n = (uint32_t)(p - number[i].p);
			if (!tel__inst_int128(&number[i], &n[i]) ||
			    !int128_is_u64(n[i]) ||
			    (i == 0 && (p == end || *p != ':')) ||
			    (i == 1 && p < end && *p != ','))
				return load_invalid(why,
				    "buckets are not number:count");
			p += p < end;
		}
		if (!load_count(stat, n[0].low, n[1].low, &st))
			return load_invalid(why, "unknown bucket");
		if (st != TEL_OK)
			return st;
	}
	return TEL_OK;
}

/* The numbers of the class; 0 when one is not a number that fits. */
static int
read_numbers(const struct loader *l, struct tel_stat *s)
{
	const struct stat_class *class = s->definition->class;
	const struct stat_number *n;
	unsigned has = 0, found = 0, min = 1, max = 2, is;
	tel_int128 v;

	for (n = class->numbers; n->name != NULL; n++) {
		if (n->which == TEL_NUMBER_SUM)
			s->flags |= STAT_NO_SUM;
		int known = tel__load_int128(l, n->name, &v);
		if (known < 0 ||
		    (known > 0 && !tel__stat_set_number(s, n->which, v)))
			return 0;
		is = n->which == TEL_NUMBER_MIN ? min :
		    n->which == TEL_NUMBER_MAX  ? max :
		                                  0;
		has |= is;
		found |= known > 0 ? is : 0;
	}
	/* powers of two have no end: nothing lies outside of them */
	if (s->definition->spec.layout.ranges == NULL &&
	    (s->under != 0 || s->over != 0))
		return 0;
	if (has != 0 && found == has)
		s->flags |= STAT_EXTREMES;
	/* a class of one has it in the place of both */
	if (has == min)
		s->max = s->min;
	else if (has == max)
		s->min = s->max;
	if (!class->running) {
		s->last_clock = l->line->clock;
		if (tel__load_u64(l, "at", &s->last_clock) < 0)
			return 0;
	}
	/* not every writer gives the weight; the keys will add theirs */
	if (class->take != NULL)
		s->weight = s->tally.overflow;
	return 1;
}

/* The sum of squares, if the writer gives it; 0 when a word does not fit. */
static int
read_squares(const struct loader *l, struct tel_stat *s)
{
	uint64_t *words = s->squares.words;
	int found = tel__load_u64(l, "sq", &words[0]);

	if (found == 0 && s->updates > 0)
		s->flags |= STAT_NO_SQUARES;
	return found >= 0 && tel__load_u64(l, "sqm", &words[1]) >= 0 &&
	    tel__load_u64(l, "sqh", &words[2]) >= 0;
}

static tel_status
load_values_read_stat(const struct loader *l, struct tel_stat *s,
    const char **why)
{
	uint64_t wrapped = 0, approximate = 0;

	if (tel__load_u64(l, "n", &s->updates) < 0 ||
	    tel__load_u64(l, "events", &s->pairs.events) < 0 ||
	    tel__load_u64(l, "wrap", &wrapped) < 0 ||
	    tel__load_u64(l, "approx", &approximate) < 0 ||
	    !tel__load_counts(l, tel__stat_fields, s) ||
	    !tel__load_counts(l, tel__pair_fields, s) || !read_numbers(l, s) ||
	    !read_squares(l, s))
		return load_invalid(why,
		    "a number of the snapshot does not fit");
	if (s->definition->class->pairs) {
		s->pairs.events = s->updates;
		s->updates = 0;
	}
	if (wrapped)
		s->flags |= STAT_WRAPPED;
	if (approximate)
		s->flags |= STAT_APPROXIMATE;
	if (!inst_has(l->line, I_B))
		return TEL_OK;
	return read_buckets(s, &l->line->values[I_B], why);
}

static tel_status
snapshot_blocks(struct loader *l, int allocs, const char **why)
{
	struct report *to = &l->part->report;

	to->has_allocs = 1;
	if (tel__load_u64(l, "n", allocs ? &to->allocs : &to->frees) < 0 ||
	    tel__load_int128(l, "total",
	        allocs ? &to->alloc_bytes : &to->free_bytes) < 0)
		return load_invalid(why,
		    "a number of the snapshot does not fit");
	return TEL_OK;
}

tel_status
tel__load_snapshot(struct loader *l, struct loaded *to, const char **why)
{
	struct report *report = &l->part->report;

	switch (to->kind) {
	case LOADED_TYPES:
		for (uint32_t i = 0; i < report->nparts; i++)
			report->parts[i].events = report->parts[i].bytes = 0;
		return TEL_OK;
	case LOADED_ALLOCS:
	case LOADED_FREES:
		return snapshot_blocks(l, to->kind == LOADED_ALLOCS, why);
	default: break;
	}
	if (to->stat == NULL)
		return load_invalid(why, "the class has no snapshots");
	tel__stat_reset(to->stat);
	to->fresh = 1;
	tel_status st = load_values_read_stat(l, to->stat, why);
	if (st == TEL_EDAMAGED)
		tel__stat_reset(to->stat);
	return st;
}

/* A type of the report. */
static tel_status
bucket_of_types(struct loader *l, const char **why)
{
	struct report *report = &l->part->report;
	uint64_t events = 0, bytes = 0, code = 0;
	char *name = NULL, *kind = NULL;
	uint32_t at;

	if (tel__load_u64(l, "v", &events) < 0 ||
	    tel__load_u64(l, "bytes", &bytes) < 0 ||
	    tel__load_u64(l, "code", &code) < 0 || code > UINT32_MAX)
		return load_invalid(why, "a number of the type does not fit");
	tel_status st = tel__load_string(l, "k", &name);
	if (st == TEL_OK)
		st = tel__load_string(l, "kind", &kind);
	if (st == TEL_OK && (name == NULL || kind == NULL))
		st = TEL_EDAMAGED;
	if (st == TEL_OK)
		st = tel__report_part(report, name, kind, (uint32_t)code, &at);
	free(name);
	free(kind);
	if (st == TEL_EDAMAGED)
		return load_invalid(why, "the type has no name or no kind");
	if (st != TEL_OK)
		return st;
	report->parts[at].events += events;
	report->parts[at].bytes += bytes;
	return TEL_OK;
}

/*
 * The values shown beside a value, more than the class has if need be: events
 * of an inst log do not have its expressions.  TEL_OK, TEL_EDAMAGED,
 * TEL_ENOMEM.
 */
static tel_status
load_shown(struct loader *l, const struct definition *d, struct top_shown *to)
{
	const struct inst_value *found;
	tel_status st = TEL_OK;
	tel_value v;

	for (unsigned i = 0; i < TEL_SHOWN_MAX && st == TEL_OK; i++) {
		v = (tel_value){ .missing = 1 };
		found = tel__inst_find(l->line, tel__shown_fields[i][0]);
		if (found == NULL && i >= d->nweights)
			break;
		if (found != NULL &&
		    !tel__load_value(l, tel__shown_fields[i][0],
		        tel__shown_fields[i][1], &v))
			return TEL_EDAMAGED;
		st = tel__top_show(to, &v);
	}
	return st;
}

/* One of the largest values. */
static tel_status
load_top(struct loader *l, struct tel_stat *stat, const char **why)
{
	const struct definition *d = stat->definition;
	struct top_shown shown = { .count = 0 };
	tel_top top = { .shown = shown.values };
	char *log;
	tel_status st = tel__load_string(l, "log", &log);

	if (st == TEL_ENOMEM)
		return st;
	top.log = log;
	if (log == NULL || !d->class->ranked ||
	    tel__load_int128(l, "v", &top.value) <= 0 ||
	    tel__load_u64(l, "at", &top.clock) <= 0 ||
	    tel__load_u64(l, "pos", &top.offset) <= 0)
		st = TEL_EDAMAGED;
	else
		st = load_shown(l, d, &shown);
	top.nshown = shown.count;
	if (st == TEL_OK)
		st = tel__stat_add_top(stat, &top);
	else if (st == TEL_EDAMAGED)
		st = load_invalid(why, "the value or its place is invalid");
	tel__top_shown_clear(&shown);
	free(log);
	return st;
}

tel_status
tel__load_bucket(struct loader *l, struct loaded *to, const char **why)
{
	uint64_t v = 0, updates = 0;
	int wrapped = 0;
	tel_value value;
	struct key k;

	if (to->kind == LOADED_TYPES)
		return bucket_of_types(l, why);
	if (to->stat == NULL)
		return load_invalid(why, "the class has no buckets");
	if (l->record->type == T_TOP_VALUE)
		return load_top(l, to->stat, why);
	if (l->record->type == T_BUCKETS)
		return read_buckets(to->stat, &l->line->values[I_B], why);
	if (tel__load_u64(l, "v", &v) < 0 ||
	    tel__load_u64(l, "n", &updates) < 0)
		return load_invalid(why, "the weight of a key is not a count");
	if (!tel__load_value(l, "k", "s", &value))
		return load_invalid(why, "the key is invalid");
	if (to->definition->class->sketched)
		return tel__stat_add_distinct(to->stat, &value);
	tel_status st = tel__key_make(l->part->strings, &value, &k);
	if (st == TEL_ENOMEM)
		return st;
	if (st == TEL_ELIMIT)
		tel__tally_overflow(&to->stat->tally, v, updates, &wrapped);
	else
		st = tel__tally_add(&to->stat->tally, &k, v, updates, &wrapped);
	if (st == TEL_ENOMEM)
		return st;
	stat_wrap(to->stat, wrapped | count_add(&to->stat->weight, v));
	return TEL_OK;
}
