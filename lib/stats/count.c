/* SPDX-License-Identifier: BSD-2-Clause */
/* Counting an event: what it means to each statistic. */
#include "model/pair.h"
#include "reader/reader.h"
#include "stats/stats.h"

#include <string.h>

#include "stats/class.h"

/* More multiples of the interval than these are not shown one by one. */
#define SNAPSHOTS_MAX 10000u

/* The name of the log that an event is of. */
static void
name_log(const struct tel_event *ev, tel_value *out)
{
	const char *name = ev->log->name;

	memset(out, 0, sizeof(*out));
	out->missing = name == NULL;
	out->datatype = TEL_STRING;
	out->as.string = name;
	out->length = name != NULL ? strlen(name) : 0;
}

/* The group of the event at hand: 1; -1 when a key found no room; 0: failed */
static int
make_tuple(struct tel_stats *s, const struct tel_event *ev)
{
	tel_value v;

	s->tuple_made = 1;
	for (unsigned i = 0; i < s->ngroups; i++) {
		tel_status st = TEL_OK;

		if (s->groups[i].expr == NULL)
			name_log(ev, &v);
		else
			st = tel_expr_eval(s->groups[i].expr, ev, &v);
		if (st == TEL_OK)
			st = tel__key_make(s->strings, &v, &s->tuple[i]);
		if (st == TEL_ELIMIT)
			s->tuple_made = -1;
		else if (st != TEL_OK)
			return s->tuple_made = 0;
	}
	return s->tuple_made;
}

static tel_status
stats_count_find_stat(struct tel_stats *s, struct definition *d,
    const struct tel_event *ev, struct tel_stat **out)
{
	tel_status st;

	if (s->ngroups > 0 && s->tuple_made == 0 && make_tuple(s, ev) == 0)
		return stats_no_memory(s);
	if (s->tuple_made < 0)
		st = tel__definition_find_overflow(d, out);
	else
		st = definition_stat(d, s->tuple, out);
	return st == TEL_OK ? st : stats_no_memory(s);
}

/*
 * The weight of an event: TEL_OK, TEL_END when it is missing, TEL_EINVAL when
 * it is not a weight.
 */
static tel_status
find_weight(struct tel_stats *s, const struct definition *d,
    const struct tel_event *ev, uint64_t *out)
{
	tel_value v;
	tel_int128 w;

	*out = 1;
	if (d->nweights == 0 || d->class->ranked)
		return TEL_OK;
	tel_status st = tel_expr_eval(d->weight[0], ev, &v);
	if (st != TEL_OK)
		return stats_no_memory(s);
	if (v.missing)
		return TEL_END;
	if (tel__stat_number_of(&v, 0, &w) != TEL_OK || !int128_is_u64(w))
		return TEL_EINVAL;
	*out = w.low;
	return TEL_OK;
}

/* Shows an event that does not count to expressions that speak of dt. */
static tel_status
stats_update_dt(struct tel_stats *s, const struct definition *d,
    const struct tel_event *ev)
{
	tel_status st = TEL_OK;
	tel_value v;

	if (d->every && d->value != NULL)
		st = tel_expr_eval(d->value, ev, &v);
	for (unsigned i = 0; i < d->nweights && d->every && st == TEL_OK; i++)
		st = tel_expr_eval(d->weight[i], ev, &v);
	return st == TEL_OK ? st : stats_no_memory(s);
}

/* Updates a statistic with a value that is not missing. */
static tel_status
stats_count_update(struct tel_stats *s, struct definition *d,
    const struct tel_event *ev, const tel_value *v)
{
	const struct stat_class *class = d->class;
	struct tel_stat *stat;
	uint64_t weight;
	tel_int128 w;
	tel_status weighed = find_weight(s, d, ev, &weight);

	if (weighed == TEL_END)
		return TEL_OK;
	if (weighed == TEL_ENOMEM)
		return weighed;
	tel_status st = stats_count_find_stat(s, d, ev, &stat);
	if (st != TEL_OK)
		return st;
	if (weighed != TEL_OK) {
		stat->invalid++;
		return TEL_OK;
	}
	stat->now = ev->clock;
	stat->event = ev;
	if (class->take != NULL) {
		st = class->take(stat, v, weight);
		return st == TEL_OK ? st : stats_no_memory(s);
	}
	/* to be counted, a value need not be a number */
	if (class->bare)
		w = int128_u64(0);
	else if (tel__stat_number_of(v, d->spec.decimals, &w) != TEL_OK) {
		stat->invalid++;
		return stats_update_dt(s, d, ev);
	}
	st = class->update(stat, w, weight);
	return st == TEL_OK ? st : stats_no_memory(s);
}

/* A field that is an integer: no expression has to be asked. */
static tel_status
apply_field(struct tel_stats *s, const struct action *a,
    const struct tel_event *ev)
{
	const struct stat_class *class = a->definition->class;
	const struct tel_field *f = a->load;
	tel_value v = { 0, f->datatype, { 0 }, 0 };
	struct tel_stat *stat;
	tel_int128 w;

	v.as.u64 = f->datatype == TEL_SIGNED ?
	    tel_event_u64(ev, (unsigned)a->field) :
	    tel_load(f, ev->data);
	if (class->take != NULL)
		return stats_count_update(s, a->definition, ev, &v);
	tel_status st = stats_count_find_stat(s, a->definition, ev, &stat);
	if (st != TEL_OK)
		return st;
	w.low = v.as.u64;
	stat->now = ev->clock;
	stat->event = ev;
	w.high = f->datatype == TEL_SIGNED && v.as.i64 < 0 ? -1 : 0;
	st = class->update(stat, w, 1);
	return st == TEL_OK ? st : stats_no_memory(s);
}

static tel_status
apply_value(struct tel_stats *s, const struct action *a,
    const struct tel_event *ev)
{
	tel_value v;

	/* binding reported mistakes of all events of a type */
	if (tel_expr_eval(a->definition->value, ev, &v) != TEL_OK)
		return stats_no_memory(s);
	if (v.missing && !a->unlabelled)
		return stats_update_dt(s, a->definition, ev);
	return stats_count_update(s, a->definition, ev, &v);
}

/* ------------------------------------------------------------- pairs */

static tel_status
stats_find_key(struct tel_stats *s, const struct source *from,
    const struct action *a, const struct tel_event *ev, int end,
    struct pair_key *out)
{
	struct definition *d = a->definition;
	tel_expr *key = d->key[end && d->key[1] != NULL];
	tel_value v = { 1, TEL_UNSIGNED, { 0 }, 0 };
	tel_status st = TEL_OK;
	int known;

	out->log = from->id;
	out->pair = a->pair;
	out->process =
	    a->process >= 0 ? tel_event_u64(ev, (unsigned)a->process) : 0;
	if (a->load != NULL) {
		out->key.bits = tel_load(a->load, ev->data);
		out->key.tag = TEL_UNSIGNED;
		return TEL_OK;
	}
	if (key != NULL) {
		st = tel_expr_eval(key, ev, &v);
	} else if (a->by_role) {
		v.as.u64 = tel__pair_key(ev, &known);
		v.missing = !known;
	}
	if (st != TEL_OK)
		return stats_no_memory(s);
	st = tel__key_make(s->strings, &v, &out->key);
	return st == TEL_ENOMEM ? stats_no_memory(s) : st;
}

/* How long a range was: TEL_OK, TEL_END: not known, TEL_EINVAL: below 0. */
static tel_status
stats_count_length_of(const struct definition *d, const struct tel_event *ev,
    uint64_t start, uint64_t *out)
{
	int64_t ns;

	if (ev->clock < start)
		return TEL_EINVAL;
	*out = ev->clock - start;
	if (d->spec.pairs == PAIRS_TICKS)
		return TEL_OK;
	if (!tel__clock_between(ev->log->clock, start, ev->clock, &ns))
		return TEL_END;
	if (ns < 0)
		return TEL_EINVAL;
	*out = (uint64_t)ns;
	return TEL_OK;
}

/* A range from a start to the event; it goes to the stat of the start. */
static tel_status
act_pair(struct tel_stats *s, struct definition *d, const struct tel_event *ev,
    uint64_t start, struct tel_stat *stat)
{
	const struct stat_class *class = d->class;
	uint64_t length, weight;
	tel_value v = { 0, TEL_UNSIGNED, { 0 }, 0 };

	stat->pairs.open--;
	tel_status st = stats_count_length_of(d, ev, start, &length);
	if (st != TEL_OK) {
		if (st == TEL_END)
			stat->pairs.untimed++;
		else
			stat->pairs.backward++;
		return TEL_OK;
	}
	stat->pairs.pairs++;
	st = find_weight(s, d, ev, &weight);
	if (st == TEL_END || st == TEL_ENOMEM)
		return st == TEL_END ? TEL_OK : st;
	if (st != TEL_OK) {
		stat->invalid++;
		return TEL_OK;
	}
	stat->now = ev->clock;
	stat->event = ev;
	v.as.u64 = length;
	st = class->take != NULL ?
	    class->take(stat, &v, weight) :
	    class->update(stat, int128_u64(length), weight);
	return st == TEL_OK ? st : stats_no_memory(s);
}

static tel_status
act_start(struct tel_stats *s, struct definition *d, const struct pair_key *k,
    const struct tel_event *ev)
{
	struct tel_stat *stat;
	tel_status st = stats_count_find_stat(s, d, ev, &stat);

	if (st != TEL_OK)
		return st;
	stat->pairs.events++;
	switch (tel__pairs_start(&d->open, k, ev->clock, stat)) {
	case PAIR_NESTED: stat->pairs.nested++; /* fallthrough */
	case PAIR_OK: stat->pairs.open++; break;
	case PAIR_NO_MEMORY: return stats_no_memory(s);
	default: stat->pairs.over_limit++; break;
	}
	return TEL_OK;
}

static tel_status
act_end(struct tel_stats *s, struct definition *d, const struct pair_key *k,
    const struct tel_event *ev)
{
	struct tel_stat *stat;
	uint64_t start;
	enum pair_result found = tel__pairs_end(&d->open, k, &start, &stat);

	if (found == PAIR_OK) {
		stat->pairs.events++;
		return act_pair(s, d, ev, start, stat);
	}
	tel_status st = stats_count_find_stat(s, d, ev, &stat);
	if (st != TEL_OK)
		return st;
	stat->pairs.events++;
	if (found == PAIR_NONE)
		stat->pairs.orphan++;
	return TEL_OK;
}

/* From the event that started a range of its key to this one, and from here on. */
static tel_status
act_interval(struct tel_stats *s, struct definition *d,
    const struct pair_key *end, const struct pair_key *k,
    const struct tel_event *ev)
{
	struct tel_stat *stat;
	uint64_t start;
	tel_status st = TEL_OK;

	if (tel__pairs_end(&d->open, end, &start, &stat) == PAIR_OK)
		st = act_pair(s, d, ev, start, stat);
	return st == TEL_OK ? act_start(s, d, k, ev) : st;
}

static tel_status
apply_range(struct tel_stats *s, const struct source *from,
    const struct action *a, const struct tel_event *ev)
{
	struct definition *d = a->definition;
	struct tel_stat *stat;
	struct pair_key k, end;
	tel_status st = stats_find_key(s, from, a, ev, a->what == ACT_END, &k);

	end = k;
	if (a->what == ACT_INTERVAL && d->key[1] != NULL && st == TEL_OK)
		st = stats_find_key(s, from, a, ev, 1, &end);
	if (st == TEL_ELIMIT) {
		/* no room for the key: a start that is not kept, or its end */
		st = stats_count_find_stat(s, d, ev, &stat);
		if (st != TEL_OK)
			return st;
		stat->pairs.events++;
		if (a->what == ACT_START || a->what == ACT_INTERVAL)
			stat->pairs.over_limit++;
		else if (a->what == ACT_END)
			stat->pairs.orphan++;
		return TEL_OK;
	}
	if (st != TEL_OK)
		return st;
	if (a->what == ACT_START)
		return act_start(s, d, &k, ev);
	if (a->what == ACT_END)
		return act_end(s, d, &k, ev);
	if (a->what == ACT_INTERVAL)
		return act_interval(s, d, &end, &k, ev);
	stat = tel__pairs_find(&d->open, &k);
	if (stat == NULL &&
	    (st = stats_count_find_stat(s, d, ev, &stat)) != TEL_OK)
		return st;
	stat->pairs.events++;
	return TEL_OK;
}

/* ------------------------------------------------------------ events */

/* Updates a stat with the fields that it takes together, so far. */
static tel_status
stats_take_fields(struct tel_stats *s, struct definition *d)
{
	const size_t n = d->nvalues;
	struct tel_stat *stat;

	if (n == 0)
		return TEL_OK;
	d->nvalues = 0;
	tel_status st = definition_stat(d, s->tuple, &stat);
	if (st == TEL_OK)
		st = d->class->update_many(stat, d->values, n);
	return st == TEL_OK ? TEL_OK : stats_no_memory(s);
}

static tel_status
stats_apply(struct tel_stats *s, const struct source *from,
    const struct action *a, const struct tel_event *ev)
{
	/* those of earlier events come first */
	if (a->definition->nvalues > 0) {
		tel_status st = stats_take_fields(s, a->definition);

		if (st != TEL_OK)
			return st;
	}
	if (a->test && tel_filter_match(a->definition->filter, ev) <= 0)
		return stats_update_dt(s, a->definition, ev);
	switch (a->what) {
	case APPLY_FIELD: return apply_field(s, a, ev);
	case APPLY_VALUE: return apply_value(s, a, ev);
	default: return apply_range(s, from, a, ev);
	}
}

/* Does what an event of a busy slot means, apart from counting it. */
static tel_status
stats_update(struct tel_stats *s, struct source *from, struct slot *slot,
    const struct tel_event *ev)
{
	if (slot->blocks) {
		tel_status st = tel__stats_count_block(s, from, ev);

		if (st != TEL_OK)
			return st;
	}
	if (slot->record != NULL) {
		tel_status st = s->classes->event(s, slot->record, ev);

		if (st != TEL_OK)
			return st;
	}
	s->tuple_made = 0;
	for (uint32_t i = 0; i < slot->nactions; i++) {
		tel_status st = stats_apply(s, from, &slot->actions[i], ev);

		if (st != TEL_OK)
			return st;
	}
	return TEL_OK;
}

/* Shows a moment, and begins anew if it is differences that are shown. */
static tel_status
stats_count_show(struct tel_stats *s, const tel_snapshot *at)
{
	tel_status st = tel_stats_settle(s);

	if (st == TEL_OK)
		st = s->class_logs != NULL ?
		    s->classes->show(s, at) :
		    s->snapshot(s->snapshot_arg, s, at);
	if (st != TEL_OK || !s->deltas)
		return st;
	tel__stats_zero(s);
	for (size_t i = 0; i < s->nsources; i++) {
		s->sources[i]->counted = 0;
		s->sources[i]->end = 0;
	}
	s->session.first = UINT64_MAX;
	s->session.last = s->session.over = 0;
	return TEL_OK;
}

/* Shows what there is at a multiple of the interval. */
static tel_status
stats_show_multiple(struct tel_stats *s, uint64_t number)
{
	const tel_snapshot at = { number, number * s->interval, s->interval,
		s->interval_ticks, s->sessions };

	s->reached = number;
	return stats_count_show(s, &at);
}

tel_status
tel__stats_show_rest(struct tel_stats *s)
{
	const uint64_t before = s->reached * s->interval;
	const tel_snapshot at = { s->reached + 1, s->elapsed,
		s->elapsed > before ? s->elapsed - before : 0,
		s->interval_ticks, s->timed };

	if (s->timed == s->sessions)
		return TEL_OK;
	s->timed = s->sessions;
	s->reached = s->elapsed = 0;
	return s->deltas && s->report.events > 0 ? stats_count_show(s, &at) :
	                                           TEL_OK;
}

/* Snapshots that are due before an event. */
static tel_status
stats_snapshots(struct tel_stats *s, const struct tel_event *ev)
{
	struct tel_clock *clock = ev->log->clock;
	tel_status st = tel__stats_show_rest(s);
	uint64_t time, number;
	int64_t ns;

	if (st != TEL_OK || clock == NULL)
		return st;
	if (s->interval_ticks) {
		if (ev->clock < tel__clock_origin(clock))
			return TEL_OK;
		time = ev->clock - tel__clock_origin(clock);
	} else {
		if (tel__clock_rate(clock) <= 0 ||
		    (ns = tel__clock_ns(clock, ev->clock)) < 0)
			return TEL_OK;
		time = (uint64_t)ns;
	}
	s->elapsed = time;
	number = time / s->interval;
	if (number <= s->reached)
		return TEL_OK;
	if (number - s->reached > SNAPSHOTS_MAX) {
		st = stats_show_multiple(s, s->reached + 1);
		return st == TEL_OK ? stats_show_multiple(s, number) : st;
	}
	while (s->reached < number && st == TEL_OK)
		st = stats_show_multiple(s, s->reached + 1);
	return st;
}

/* Counts an event of the current source. */
static tel_status
stats_count_event(struct tel_stats *s, struct source *from,
    const struct tel_event *event)
{
	const struct tel_type *t = event->type;

	if (t->index >= from->nslots || from->slots[t->index].type == NULL) {
		tel_status st = tel__stats_bind_type(s, from, t);

		if (st != TEL_OK)
			return st;
	}
	struct slot *slot = &from->slots[t->index];
	slot->events++;
	slot->bytes += tel_event_size(event);
	if (event->clock < from->first && !tel_event_timeless(event))
		from->first = event->clock;
	if (event->clock > from->last)
		from->last = event->clock;
	return slot->work > SLOT_COUNTED ? stats_update(s, from, slot, event) :
	                                   TEL_OK;
}

/*
 * Nonzero when an event is of the current source, and of its schema.  That of the
 * log is the one of what was read last, which may come later.
 */
static int
is_current(const struct tel_stats *s, const struct tel_event *event)
{
	const struct source *from = s->current;

	return from != NULL && from->log == event->log &&
	    from->number == event->log->number &&
	    from->schema == event->type->schema;
}

tel_status
tel_stats_event(tel_stats *s, const tel_event *event)
{
	if (!is_current(s, event)) {
		tel_status st = tel__stats_switch(s, event);

		if (st != TEL_OK)
			return st;
	}
	if (s->remembers && tel_event_remember(event) != TEL_OK)
		return stats_no_memory(s);
	if (s->interval > 0) {
		tel_status st = stats_snapshots(s, event);

		if (st != TEL_OK)
			return st;
	}
	return stats_count_event(s, s->current, event);
}

/* The span of the clocks of a run, all of which are times. */
static void
stats_add_span(struct source *from, const struct tel_run *run)
{
	uint64_t first = from->first, last = from->last;

	for (size_t i = 0; i < run->count; i++) {
		first = run->clocks[i] < first ? run->clocks[i] : first;
		last = run->clocks[i] > last ? run->clocks[i] : last;
	}
	from->first = first;
	from->last = last;
}

/* Adds the fields of an event to those that stats take together. */
static tel_status
stats_count_add_fields(struct tel_stats *s, const struct slot *slot,
    tel_run *run, size_t i)
{
	const struct action *a = slot->actions, *end = a + slot->nactions;
	tel_status st = TEL_OK;

	for (; a < end && st == TEL_OK; a++) {
		struct definition *d = a->definition;

		if (a->test &&
		    tel_filter_match(d->filter, run_event(run, i)) <= 0)
			continue;
		if (d->value_type != a->load->datatype) {
			st = stats_take_fields(s, d);
			d->value_type = a->load->datatype;
		}
		d->values[d->nvalues++] = tel_load(a->load, run->data[i]);
	}
	return st;
}

/* Updates all stats with the fields of a run. */
static tel_status
stats_take_all_fields(struct tel_stats *s)
{
	tel_status st = TEL_OK;

	for (size_t i = 0; i < s->count; i++) {
		if (st == TEL_OK)
			st = stats_take_fields(s, s->definitions[i]);
		s->definitions[i]->nvalues = 0;
	}
	return st;
}

/* Counts events from one on, up to the first of which more is wanted. */
static size_t
count_only(const struct source *from, const struct tel_run *run,
    const uint32_t *sizes, size_t i)
{
	const uint32_t *const types = run->types;
	const size_t count = run->count, n = from->nslots;
	struct slot *const slots = from->slots, *slot;

	for (; i < count && types[i] < n; i++) {
		slot = &slots[types[i]];
		if (slot->work != SLOT_COUNTED)
			break;
		slot->events++;
		slot->bytes += sizes[i];
	}
	return i;
}

tel_status
tel_stats_run(tel_stats *s, tel_run *run)
{
	const int plain = s->interval == 0 && run_is_plain(run);
	const uint32_t *const sizes = run_event_sizes(run);
	const int same = is_current(s, run_view(run, 0));
	tel_status st = TEL_OK, taken;
	size_t i;

	/* all are of the first event's log */
	for (i = 0; i < run->count && st == TEL_OK &&
	     ((i == 0 && !same) || !plain || s->remembers);
	     i++)
		st = tel_stats_event(s, run_event(run, i));
	struct source *from = s->current;
	for (; st == TEL_OK; i++) {
		i = count_only(from, run, sizes, i);
		if (i >= run->count)
			break;
		struct slot *slot = run->types[i] < from->nslots ?
		    &from->slots[run->types[i]] :
		    NULL;
		if (slot == NULL || slot->work == SLOT_NEW) {
			st = stats_count_event(s, from, run_event(run, i));
			continue;
		}
		slot->events++;
		slot->bytes += sizes[i];
		if (slot->work == SLOT_BUSY) {
			st = stats_update(s, from, slot, run_event(run, i));
			continue;
		}
		if (slot->blocks)
			st = tel__stats_count_block_in(s, from, slot, run, i);
		if (slot->work == SLOT_FIELDS && st == TEL_OK)
			st = stats_count_add_fields(s, slot, run, i);
	}
	/* from is set unless the first event ran out of memory */
	if (st == TEL_OK && plain && (same || run->count > 1))
		stats_add_span(from, run);
	taken = stats_take_all_fields(s);
	return st == TEL_OK ? taken : st;
}

/* ---------------------------------------------------------------- bulk */

/*
 * Most events are of types of which only the number is asked for, and a log
 * may give that without building each.
 */

/* The slot of a type in the current source; NULL before its first event. */
static struct slot *
stats_count_find_slot(const struct tel_stats *s, const struct tel_log *log,
    const struct tel_type *t)
{
	const struct source *from = s->current;

	if (from == NULL || from->log != log || from->number != log->number ||
	    from->schema != log->schema || t->index >= from->nslots ||
	    from->slots[t->index].type != t)
		return NULL;
	return &from->slots[t->index];
}

static int
wants_events(void *arg, const struct tel_log *log, const struct tel_type *t)
{
	const struct tel_stats *s = arg;
	const struct slot *slot = stats_count_find_slot(s, log, t);

	return slot == NULL || slot->work > SLOT_COUNTED || s->interval > 0 ||
	    tel_type_is_runtime(t) || s->readers == 0;
}

static void
count_bulk(void *arg, const struct tel_log *log, const struct tel_type *t,
    uint64_t events, uint64_t bytes)
{
	struct slot *slot = stats_count_find_slot(arg, log, t);

	if (slot == NULL)
		return;
	slot->events += events;
	slot->bytes += bytes;
}

static void
span_bulk(void *arg, const struct tel_log *log, uint64_t first, uint64_t last)
{
	const struct tel_stats *s = arg;

	(void)log;
	if (first < s->current->first)
		s->current->first = first;
	if (last > s->current->last)
		s->current->last = last;
}

void
tel_stats_attach(tel_stats *s, tel_reader *r)
{
	r->count_pushdown.wants = wants_events;
	r->count_pushdown.count = count_bulk;
	r->count_pushdown.span = span_bulk;
	r->count_pushdown.arg = s;
}
