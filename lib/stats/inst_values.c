/* SPDX-License-Identifier: BSD-2-Clause */
/* Updates, trace events and snapshots of an inst stream. */
#include "stats/inst_read.h"

#include <string.h>

static tel_status
bad(const char **why, const char *text)
{
	*why = text;
	return TEL_EDAMAGED;
}

struct node *
tel__inst_node(struct inst_reader *r, const struct inst_line *l,
    const char **why)
{
	struct node *n = NULL;
	uint64_t id;

	if (tel__inst_u64(l, "c", &id) > 0)
		n = tel__tree_by_id(&r->tree, id);
	if (n == NULL)
		*why = "it is of no class that was defined";
	return n;
}

/* ------------------------------------------------------------- events */

/* Whether an update of this kind is for the class. */
static int
op_fits(const char *op, enum tel_class c)
{
	if (strcmp(op, "abs") == 0 || strcmp(op, "delta") == 0)
		return c == TEL_CLASS_MAG;
	if (strcmp(op, "inc") == 0)
		return c == TEL_CLASS_GROWTH;
	if (strcmp(op, "tally") == 0)
		return c == TEL_CLASS_TALLY;
	return strcmp(op, "hist") == 0 &&
	    (c == TEL_CLASS_HIST || c == TEL_CLASS_SPLIT ||
	        c == TEL_CLASS_LOG2 || c == TEL_CLASS_LOGLIN ||
	        c == TEL_CLASS_QUANTILES);
}

tel_status
tel__inst_update(struct inst_reader *r, const struct inst_line *l,
    const char **why)
{
	const struct inst_field *op = tel__inst_find(l, "op");
	const struct node *n = tel__inst_node(r, l, why);
	uint64_t weight = 1;
	struct key k;
	tel_int128 v;
	tel_status st;

	if (n == NULL)
		return TEL_EDAMAGED;
	if (op == NULL || n->stat == NULL || !op_fits(op->value, n->class))
		return bad(why, "the update is not for this class");
	if (tel__inst_u64(l, "n", &weight) < 0)
		return bad(why, "the weight is no number");
	if (n->class == TEL_CLASS_TALLY) {
		st = tel__inst_key(r, l, "v", "s", &k);
		if (st == TEL_EDAMAGED)
			return bad(why, "the value is missing");
		if (tel__tree_is_on(&r->tree, n) && st != TEL_ENOMEM)
			tel__stat_update_key(n->stat, st == TEL_OK ? &k : NULL,
			    weight);
		return st == TEL_ENOMEM ? st : TEL_OK;
	}
	if (tel__inst_int128(l, "v", &v) <= 0 ||
	    (!int128_is_i64(v) && !int128_is_u64(v)))
		return bad(why, "the value is no number");
	if (!tel__tree_is_on(&r->tree, n))
		return TEL_OK;
	/* a class of magdelta adds by itself */
	if (strcmp(op->value, "delta") == 0 && !n->definition->spec.delta)
		stat_wrap(n->stat, int128_add(&v, n->stat->last));
	return tel__stat_update(n->stat, v, weight);
}

/* The end of a range: its time in microseconds, as such classes have it. */
static void
end_range(struct inst_reader *r, const struct inst_line *l,
    struct tel_stat *stat, uint64_t start)
{
	uint64_t ticks = l->clock - start;

	stat->pairs.open--;
	if (l->clock < start) {
		stat->pairs.backward++;
		return;
	}
	if (r->hz == 0) {
		stat->pairs.untimed++;
		return;
	}
	stat->pairs.pairs++;
	(void)tel__stat_update(stat,
	    int128_u64((uint64_t)((double)ticks * 1e6 / (double)r->hz)), 1);
}

tel_status
tel__inst_trace(struct inst_reader *r, const struct inst_line *l,
    const char **why)
{
	const struct node *n = tel__inst_node(r, l, why);
	struct open_key k = { { 0, TEL_UNSIGNED }, 0, 0 };
	uint64_t phase = 0, start;
	struct tel_stat *stat;

	if (n == NULL)
		return TEL_EDAMAGED;
	if (tel__inst_u64(l, "p", &phase) < 0 || phase > 3 ||
	    tel__inst_u64(l, "tag", &k.key.bits) < 0)
		return bad(why, "the phase or the tag is no number");
	if (n->class != TEL_CLASS_DUR || n->stat == NULL ||
	    !tel__tree_is_on(&r->tree, n))
		return TEL_OK;
	n->stat->pairs.events++;
	if (phase == 1) {
		switch (tel__open_start(&n->definition->open, &k, l->clock,
		    n->stat)) {
		case OPEN_NESTED: n->stat->pairs.nested++; /* fallthrough */
		case OPEN_OK: n->stat->pairs.open++; break;
		case OPEN_NO_MEMORY: return TEL_ENOMEM;
		default: n->stat->pairs.crowded++; break;
		}
	} else if (phase == 2) {
		switch (
		    tel__open_end(&n->definition->open, &k, &start, &stat)) {
		case OPEN_OK: end_range(r, l, stat, start); break;
		case OPEN_NONE: n->stat->pairs.orphan++; break;
		default: break;
		}
	}
	return TEL_OK;
}

/* ---------------------------------------------------------- snapshots */

/* Reads "i:count,i:count" into the buckets. */
static tel_status
read_buckets(struct tel_stat *stat, char *text, const char **why)
{
	uint32_t count = stat->definition->spec.layout.count;
	char *colon, *comma;
	uint64_t i, v;

	while (text != NULL && *text != '\0') {
		comma = strchr(text, ',');
		if (comma != NULL)
			*comma++ = '\0';
		colon = strchr(text, ':');
		if (colon == NULL)
			return bad(why, "a bucket has no count");
		*colon = '\0';
		if (!tel__inst_parse_u64(text, &i) ||
		    !tel__inst_parse_u64(colon + 1, &v) || i >= count)
			return bad(why, "there is no such bucket");
		if (tel__stat_add_bucket(stat, (uint32_t)i, v) != TEL_OK)
			return TEL_ENOMEM;
		text = comma;
	}
	return TEL_OK;
}

/* Reads counts that may be left out; 0 when one is no number. */
static int
read_counts(const struct inst_line *l, const char *const *names,
    uint64_t *const *to, unsigned count)
{
	unsigned i;

	for (i = 0; i < count; i++)
		if (tel__inst_u64(l, names[i], to[i]) < 0)
			return 0;
	return 1;
}

static int
read_pairs(const struct inst_line *l, struct tel_stat *s)
{
	static const char *const names[] = { "pairs", "open", "orphan",
		"nested", "backward", "untimed", "crowded", "events" };
	uint64_t *to[8];

	to[0] = &s->pairs.pairs;
	to[1] = &s->pairs.open;
	to[2] = &s->pairs.orphan;
	to[3] = &s->pairs.nested;
	to[4] = &s->pairs.backward;
	to[5] = &s->pairs.untimed;
	to[6] = &s->pairs.crowded;
	to[7] = &s->pairs.events;
	return read_counts(l, names, to, 8);
}

/* The sum, the last value and the extremes, under their names. */
static int
read_values(const struct inst_line *l, struct tel_stat *s)
{
	enum tel_class c = s->definition->spec.class;
	int total =
	    c == TEL_CLASS_GROWTH || c == TEL_CLASS_DUR || c == TEL_CLASS_RATIO;
	int sum, last, min, max;

	sum = tel__inst_int128(l, total ? "total" : "sum", &s->sum);
	last =
	    tel__inst_int128(l, c == TEL_CLASS_MAG ? "cur" : "last", &s->last);
	min = tel__inst_int128(l, "min", &s->min);
	max = tel__inst_int128(l, "max", &s->max);
	if (sum < 0 || last < 0 || min < 0 || max < 0)
		return 0;
	if (sum == 0)
		s->flags |= STAT_NO_SUM;
	if (last > 0)
		s->flags |= STAT_LAST;
	if (min > 0 && max > 0)
		s->flags |= STAT_EXTREMES;
	return 1;
}

static int
read_outside(const struct inst_line *l, struct tel_stat *s)
{
	int outside;

	if (s->definition->spec.class == TEL_CLASS_TALLY) {
		if (tel__inst_u64(l, "ovf", &s->tally.overflow) < 0 ||
		    tel__inst_u64(l, "ovfn", &s->tally.overflow_updates) < 0)
			return 0;
		/* not every writer tells it; the keys will add theirs */
		s->weight = s->tally.overflow;
		return 1;
	}
	outside = tel__inst_u64(l, "ovf", &s->outside);
	if (outside > 0)
		s->flags |= STAT_OUTSIDE;
	return outside >= 0;
}

static tel_status
read_stat(const struct inst_line *l, struct tel_stat *s, const char **why)
{
	static const char *const names[] = { "n", "w", "under", "over", "inv",
		"lost" };
	const struct inst_field *buckets = tel__inst_find(l, "b");
	uint64_t wrapped = 0, approximate = 0;
	uint64_t *to[6];

	to[0] = &s->updates;
	to[1] = &s->weight;
	to[2] = &s->under;
	to[3] = &s->over;
	to[4] = &s->invalid;
	to[5] = &s->lost;
	if (!read_counts(l, names, to, 6) || !read_pairs(l, s) ||
	    !read_values(l, s) || !read_outside(l, s) ||
	    tel__inst_u64(l, "wrap", &wrapped) < 0 ||
	    tel__inst_u64(l, "approx", &approximate) < 0)
		return bad(why, "a number of the snapshot is none");
	if (s->definition->spec.class == TEL_CLASS_DUR) {
		s->pairs.events = s->updates;
		s->updates = 0;
	}
	if (wrapped)
		s->flags |= STAT_WRAPPED;
	if (approximate)
		s->flags |= STAT_APPROXIMATE;
	if (buckets == NULL)
		return TEL_OK;
	return read_buckets(s, buckets->value, why);
}

/* A snapshot whose numbers are none must not take the place of a good one. */
static int
numbers_are_good(const struct inst_line *l)
{
	static const char *const names[] = { "n", "w", "sum", "total", "last",
		"cur", "min", "max", "under", "over", "ovf", "ovfn", "pairs",
		"open", "orphan" };
	tel_int128 v;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (tel__inst_int128(l, names[i], &v) < 0)
			return 0;
	return 1;
}

/* A snapshot takes the place of what was counted before. */
static void
empty(struct tel_stat *s)
{
	struct tally *t = &s->tally;
	uint32_t max = t->max;
	struct budget *budget = t->budget;

	tel__stat_zero(s);
	s->flags = 0;
	s->pairs.open = 0;
	if (budget != NULL) {
		tel__tally_clear(t);
		tel__tally_init(t, max, budget);
	}
}

static tel_status
snapshot_blocks(struct inst_reader *r, const struct inst_line *l,
    enum node_kind kind, const char **why)
{
	struct report *to = &r->part->report;
	int allocs = kind == NODE_ALLOCS;

	to->has_allocs = 1;
	if (tel__inst_u64(l, "n", allocs ? &to->allocs : &to->frees) < 0 ||
	    tel__inst_int128(l, "total",
	        allocs ? &to->alloc_bytes : &to->free_bytes) < 0)
		return bad(why, "a number of the snapshot is none");
	return TEL_OK;
}

tel_status
tel__inst_snapshot(struct inst_reader *r, const struct inst_line *l,
    const char **why)
{
	struct node *n = tel__inst_node(r, l, why);
	struct report *report = &r->part->report;
	uint32_t i;

	if (n == NULL)
		return TEL_EDAMAGED;
	if (n->kind == NODE_TYPES) {
		for (i = 0; i < report->nparts; i++)
			report->parts[i].events = report->parts[i].bytes = 0;
		return TEL_OK;
	}
	if (n->kind == NODE_ALLOCS || n->kind == NODE_FREES)
		return snapshot_blocks(r, l, n->kind, why);
	if (n->stat == NULL)
		return bad(why, "a path has no snapshot");
	if (!numbers_are_good(l))
		return bad(why, "a number of the snapshot is none");
	empty(n->stat);
	return read_stat(l, n->stat, why);
}

/* A type of the report. */
static tel_status
bucket_of_types(struct inst_reader *r, const struct inst_line *l,
    const char **why)
{
	struct report *report = &r->part->report;
	const struct inst_field *name = tel__inst_find(l, "k");
	const struct inst_field *kind = tel__inst_find(l, "kind");
	uint64_t events = 0, bytes = 0, code = 0;
	uint32_t at;

	if (name == NULL || kind == NULL ||
	    tel__inst_u64(l, "v", &events) < 0 ||
	    tel__inst_u64(l, "bytes", &bytes) < 0 ||
	    tel__inst_u64(l, "code", &code) < 0 || code > UINT32_MAX)
		return bad(why, "a number of the type is none");
	if (tel__report_part(report, name->value, kind->value, (uint32_t)code,
	        &at) != TEL_OK)
		return TEL_ENOMEM;
	report->parts[at].events += events;
	report->parts[at].bytes += bytes;
	return TEL_OK;
}

tel_status
tel__inst_bucket(struct inst_reader *r, const struct inst_line *l,
    const char **why)
{
	struct node *n = tel__inst_node(r, l, why);
	const struct inst_field *buckets = tel__inst_find(l, "b");
	uint64_t v = 0, updates = 0;
	int wrapped = 0;
	tel_status st;
	struct key k;

	if (n == NULL)
		return TEL_EDAMAGED;
	if (n->kind == NODE_TYPES)
		return bucket_of_types(r, l, why);
	if (n->stat == NULL)
		return bad(why, "it is of a class without buckets");
	if (n->class != TEL_CLASS_TALLY) {
		if (buckets == NULL)
			return bad(why, "it is of a class without keys");
		return read_buckets(n->stat, buckets->value, why);
	}
	if (tel__inst_u64(l, "v", &v) < 0 ||
	    tel__inst_u64(l, "n", &updates) < 0)
		return bad(why, "the count is no number");
	st = tel__inst_key(r, l, "k", "s", &k);
	if (st == TEL_EDAMAGED)
		return bad(why, "the key is missing");
	if (st == TEL_ENOMEM)
		return st;
	if (st == TEL_ELIMIT)
		tel__tally_overflow(&n->stat->tally, v, updates, &wrapped);
	else
		(void)tel__tally_add(&n->stat->tally, &k, v, updates, &wrapped);
	stat_wrap(n->stat, wrapped | count_add(&n->stat->weight, v));
	return TEL_OK;
}

/* ------------------------------------------------------------- report */

tel_status
tel__inst_report(struct inst_reader *r, const struct inst_line *l,
    const char **why)
{
	static const char *const names[] = { "logs", "events", "bytes",
		"untimed", "input", "damaged", "skipped", "repaired", "unknown",
		"lost", "cut", "first", "last" };
	struct report *to = &r->part->report;
	uint64_t *counts[13];
	unsigned i;

	counts[0] = &to->logs;
	counts[1] = &to->events;
	counts[2] = &to->bytes;
	counts[3] = &to->untimed;
	counts[4] = &to->input;
	counts[5] = &to->damaged;
	counts[6] = &to->skipped;
	counts[7] = &to->repaired;
	counts[8] = &to->unknown;
	counts[9] = &to->lost;
	counts[10] = &to->cut;
	counts[11] = &to->first;
	counts[12] = &to->last;
	for (i = 0; i < 11; i++)
		*counts[i] = 0;
	if (!read_counts(l, names, counts, 13) ||
	    tel__inst_int128(l, "ticks", &to->ticks) < 0 ||
	    tel__inst_int128(l, "ns", &to->ns) < 0)
		return bad(why, "a number of the report is none");
	for (i = 0; i < to->norigins; i++)
		to->origins[i].logs = to->origins[i].events = 0;
	return TEL_OK;
}

tel_status
tel__inst_origin(struct inst_reader *r, const struct inst_line *l,
    const char **why)
{
	struct report *to = &r->part->report;
	const struct inst_field *schema = tel__inst_find(l, "schema");
	const struct inst_field *version = tel__inst_find(l, "version");
	const struct inst_field *form = tel__inst_find(l, "form");
	uint64_t logs = 0, events = 0;
	unsigned at;

	if (schema == NULL || version == NULL || form == NULL ||
	    tel__inst_u64(l, "logs", &logs) < 0 ||
	    tel__inst_u64(l, "events", &events) < 0)
		return bad(why, "what wrote the log is not told");
	if (tel__report_origin(to, schema->value, version->value, form->value,
	        &at) != TEL_OK)
		return TEL_ENOMEM;
	to->origins[at].logs += logs;
	to->origins[at].events += events;
	return TEL_OK;
}
