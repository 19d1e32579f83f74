/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The event types of classes, and snapshots, which add up the parts of all
 * threads.  Types and fields are those of tel-inst(5), so that tools handle
 * them as they do those of inst logs.
 */
#define _GNU_SOURCE
#include "class.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- types */

#define OF_CLASS "T:path U64:class"
#define DEFINES OF_CLASS " U64:id B:enabled T:unit T:help"
#define FIELDS_MAX 12u

static const struct row {
	const char *name, *fields, *doc;
	unsigned kind;
} rows[E_TYPES] = {
	[E_HEADER] = { "Header",
	    "U64:major U64:median U64:minor U64:hz T:wall T:proc U64:pid "
	    "T:host T:tz",
	    "a session begins", TEL_KIND_Stream },
	[E_LOST] = { "Lost", OF_CLASS " U64:count U64:from U64:to",
	    "starts for which there was no place", TEL_KIND_Stream },
	[E_DEFINES + CLASS_PATH] = { "PathClass", DEFINES, "defines a path",
	    KIND_CLASS },
	[E_DEFINES + CLASS_TRACE] = { "TraceClass", DEFINES " T:component",
	    "defines a class of trace events", KIND_CLASS },
	[E_DEFINES + CLASS_SUMMARY] = { "SummaryClass", DEFINES " T:component",
	    "defines a summary of ranges", KIND_CLASS },
	[E_DEFINES + CLASS_MAGNITUDE] = { "MagnitudeClass", DEFINES,
	    "defines a magnitude", KIND_CLASS },
	[E_DEFINES + CLASS_GROWTH] = { "GrowthClass", DEFINES,
	    "defines a growth", KIND_CLASS },
	[E_DEFINES + CLASS_HISTOGRAM] = { "HistogramClass",
	    DEFINES " I64:lo I64:hi U64:w", "defines a histogram", KIND_CLASS },
	[E_DEFINES + CLASS_SPLIT] = { "SplitClass",
	    DEFINES " I64:lo U64:w1 I64:knee I64:hi U64:w2",
	    "defines a split histogram", KIND_CLASS },
	[E_DEFINES + CLASS_TALLY] = { "TallyClass", DEFINES " U64:max",
	    "defines a tally", KIND_CLASS },
	[E_ENABLE] = { "Enabled", OF_CLASS, "a class is enabled", KIND_CLASS },
	[E_DISABLE] = { "Disabled", OF_CLASS, "a class is disabled",
	    KIND_CLASS },
	[E_DISPOSE] = { "Dispose", OF_CLASS, "a class is ended", KIND_CLASS },
	[E_PHASE + TEL_CLASS_SINGLE] = { "Trace",
	    OF_CLASS " U64:tag T:component T:text", "an event", KIND_TRACE },
	[E_PHASE + TEL_CLASS_START] = { "Start",
	    OF_CLASS " U64:tag U64:range=start:End T:component T:text",
	    "the start of a range", KIND_TRACE },
	[E_PHASE + TEL_CLASS_END] = { "End",
	    OF_CLASS " U64:tag U64:range=finish T:component T:text",
	    "the end of a range", KIND_TRACE },
	[E_PHASE + TEL_CLASS_MIDDLE] = { "Middle",
	    OF_CLASS " U64:tag U64:range=middle:End T:component T:text",
	    "an event within a range", KIND_TRACE },
	[E_MAGNITUDE] = { "Magnitude",
	    OF_CLASS " U64:updates I64:current I64:min I64:max I64:sum",
	    "a snapshot of a magnitude", KIND_SNAPSHOT },
	[E_GROWTH] = { "Growth",
	    OF_CLASS " U64:updates U64:total U64:last U64:min U64:max",
	    "a snapshot of a growth", KIND_SNAPSHOT },
	[E_SUMMARY] = { "Summary",
	    OF_CLASS " U64:events U64:pairs U64:total U64:last U64:min U64:max "
	             "U64:open U64:orphan",
	    "a snapshot of a summary of ranges", KIND_SNAPSHOT },
	[E_HISTOGRAM] = { "Histogram",
	    OF_CLASS " U64:updates U64:weight I64:sum U64:under U64:over "
	             "U64:overflow T:buckets",
	    "a snapshot of a histogram", KIND_SNAPSHOT },
	[E_TALLY] = { "Tally",
	    OF_CLASS " U64:updates U64:overflow U64:overflow_updates",
	    "a snapshot of a tally", KIND_SNAPSHOT },
	[E_BUCKET] = { "Bucket", OF_CLASS " T:key U64:count",
	    "a key of the tally before", KIND_SNAPSHOT },
	[E_BUCKETS] = { "Buckets", OF_CLASS " T:buckets",
	    "more buckets of the histogram before", KIND_SNAPSHOT },
};

/* Parses the fields of a row into parameters, which refer to text. */
static unsigned
read_fields(char *text, tel_emit_param *params)
{
	char *field, *rest = NULL, *name, *role;
	unsigned n = 0;

	for (field = strtok_r(text, " ", &rest); field != NULL;
	     field = strtok_r(NULL, " ", &rest), n++) {
		memset(&params[n], 0, sizeof(params[n]));
		name = strchr(field, ':');
		*name++ = '\0';
		role = strchr(name, '=');
		if (role != NULL)
			*role++ = '\0';
		params[n].letter = field;
		params[n].name = name;
		params[n].unit = params[n].doc = "";
		params[n].role = role != NULL ? role : "";
	}
	return n;
}

int
tel__class_add_types(void)
{
	static const tel_emit_kind kinds[] = {
		{ "Class", KIND_CLASS, "classes" },
		{ "Trace", KIND_TRACE, "trace events of classes" },
		{ "Snapshot", KIND_SNAPSHOT, "statistics of classes" },
	};
	tel_emit_param params[E_TYPES][FIELDS_MAX];
	char text[E_TYPES][160];
	tel_emit_type types[E_TYPES];
	tel_emit_list list = { "class", 1, 0, 0, kinds, 3, types, E_TYPES };

	if (tel__class_typed(E_HEADER) != NULL)
		return 0;
	for (unsigned i = 0; i < E_TYPES; i++) {
		snprintf(text[i], sizeof(text[i]), "%s", rows[i].fields);
		types[i].name = rows[i].name;
		types[i].code = CODE_CLASS + i;
		types[i].always = 1;
		types[i].kind = rows[i].kind;
		types[i].doc = rows[i].doc;
		types[i].params = params[i];
		types[i].count = read_fields(text[i], params[i]);
	}
	pthread_mutex_lock(&tel__emit_state.lock);
	int st = tel__emit_add_list(&list, 0xFFFF);
	pthread_mutex_unlock(&tel__emit_state.lock);
	return st;
}

const struct tel__emit_typed *
tel__class_typed(unsigned event)
{
	return tel__emit_find(CODE_CLASS + event);
}

/* -------------------------------------------------------------- writing */

/* The number of values: all fields except the thread. */
static unsigned
count_of(const struct tel__emit_typed *t)
{
	return t->nfields - 1;
}

int
tel__class_add_event(unsigned event, const tel_emit_value *values)
{
	const struct tel__emit_typed *t = tel__class_typed(event);
	uint64_t bytes[TEL_EMIT_EVENT_MAX / 8];
	const uint64_t thread = tel__emit_thread_id();
	size_t n = tel__emit_build(t, values, count_of(t), bytes);
	int st;

	pthread_mutex_lock(&tel__emit_state.lock);
	st = tel__emit_add_entry(ENTRY_EVENT, thread << 32 | t->code, bytes + 2,
	    n - 16);
	pthread_mutex_unlock(&tel__emit_state.lock);
	return st;
}

int
tel__class_define(const tel_emit_class *c)
{
	tel_emit_value v[FIELDS_MAX];
	unsigned n = 6;

	v[0].s = c->path;
	v[1].u = v[2].u = c->index + 1;
	v[3].u = c->own;
	v[4].s = c->unit;
	v[5].s = "";
	switch (c->type) {
	case CLASS_TRACE:
	case CLASS_SUMMARY: v[n].s = c->component; break;
	case CLASS_HISTOGRAM:
		v[n++].i = c->lo;
		v[n++].i = c->hi;
		v[n].u = c->width[0];
		break;
	case CLASS_SPLIT:
		v[n++].i = c->lo;
		v[n++].u = c->width[0];
		v[n++].i = c->knee;
		v[n++].i = c->hi;
		v[n].u = c->width[1];
		break;
	case CLASS_TALLY: v[n].u = c->max; break;
	default: break;
	}
	return tel__class_add_event(E_DEFINES + c->type, v);
}

/*
 * Emits an event of a class.  Drains now and then: a large snapshot must not
 * overwrite itself in the ring.
 */
static void
snapshot_emit(const tel_emit_class *c, unsigned event, tel_emit_value *v)
{
	static size_t since; /* bytes since the last drain; under the lock */
	const struct tel__emit_typed *t = tel__class_typed(event);

	v[0].s = c->path;
	v[1].u = c->index + 1;
	(void)tel_emit_values(t->code, v, count_of(t));
	since += t->size + c->path_length + TEL_STRING_MAX / 4;
	if (since < PAGE->ring_bytes / 8)
		return;
	since = 0;
	tel__class_drain();
}

void
tel__class_write_change(const tel_emit_class *c, unsigned event)
{
	tel_emit_value v[2];

	if (c->path[0] != '\0')
		snapshot_emit(c, event, v);
}

/* ---------------------------------------------------------- adding up */

/* Adds a part to the sum; the last value is that of a part that changed. */
static void
snapshot_add_part(const tel_emit_class *c, uint64_t *part, uint64_t *sum)
{
	const uint64_t bias =
	    c->type == CLASS_MAGNITUDE ? (uint64_t)INT64_MIN : 0;
	const uint64_t updates = TEL__NOW(part[W_UPDATES]);

	if (updates == 0)
		return;
	if (updates != part[W_SEEN] || sum[W_UPDATES] == 0)
		sum[W_LAST] = TEL__NOW(part[W_LAST]);
	part[W_SEEN] = updates;
	uint64_t v = TEL__NOW(part[W_MIN]);
	if (v + bias < sum[W_MIN] + bias)
		sum[W_MIN] = v;
	v = TEL__NOW(part[W_MAX]);
	if (v + bias > sum[W_MAX] + bias)
		sum[W_MAX] = v;
	sum[W_UPDATES] += updates;
	sum[W_SUM] += TEL__NOW(part[W_SUM]);
	for (unsigned i = W_A; i < W_HEAD; i++)
		sum[i] += TEL__NOW(part[i]);
}

static unsigned
seat_count(void)
{
	const uint32_t n = tel__classes.seats_used;

	return n < SEATS ? n : SEATS;
}

/* The sum of all parts, without buckets. */
static void
add_up(const tel_emit_class *c, uint64_t *sum)
{
	unsigned i, n = seat_count();
	uint64_t *part;

	tel__class_part_init(c, sum, W_HEAD);
	snapshot_add_part(c, c->shared, sum);
	for (i = 0; i < n; i++)
		if ((part = tel__class_part(c, i)) != NULL)
			snapshot_add_part(c, part, sum);
}

/* The count of a bucket, or of a key. */
static uint64_t
snapshot_bucket(const tel_emit_class *c, uint32_t word)
{
	unsigned i, n = seat_count();
	uint64_t sum = TEL__NOW(c->shared[word]);
	const uint64_t *part;

	for (i = 0; i < n; i++)
		if ((part = tel__class_part(c, i)) != NULL)
			sum += TEL__NOW(part[word]);
	return sum;
}

/* ------------------------------------------------------------ snapshots */

/* Formats the non-empty buckets from *word on, until text is full. */
static uint64_t
snapshot_put_buckets(const tel_emit_class *c, uint32_t *word, char *text,
    size_t room)
{
	uint64_t weight = 0, count;
	size_t used = 0;

	text[0] = '\0';
	for (; *word < c->words && used + 48 < room; ++*word) {
		count = snapshot_bucket(c, *word);
		weight += count;
		if (count > 0)
			used += (size_t)snprintf(text + used, room - used,
			    "%s%u:%llu", used > 0 ? "," : "", *word - W_HEAD,
			    (unsigned long long)count);
	}
	return weight;
}

/* The weight is the sum of the buckets read, which may change meanwhile. */
static void
write_histogram(const tel_emit_class *c, const uint64_t *sum)
{
	char(*texts)[TEL_STRING_MAX], *text;
	uint64_t weight = sum[W_A] + sum[W_B];
	/* the longest entry of a bucket is 27 bytes, of 976 that fit */
	const size_t most = (c->words - W_HEAD) / 36 + 2;
	uint32_t word = W_HEAD;
	tel_emit_value v[9];
	size_t i, n = 0;

	texts = malloc(most * sizeof(*texts));
	if (texts == NULL)
		return;
	do
		weight +=
		    snapshot_put_buckets(c, &word, texts[n++], sizeof(*texts));
	while (word < c->words && n < most);
	v[2].u = sum[W_UPDATES];
	v[3].u = weight;
	v[4].i = (int64_t)sum[W_SUM];
	v[5].u = sum[W_A];
	v[6].u = sum[W_B];
	v[7].u = sum[W_A] + sum[W_B];
	v[8].s = texts[0];
	snapshot_emit(c, E_HISTOGRAM, v);
	for (i = 1; i < n; i++) {
		text = texts[i];
		v[2].s = text;
		if (text[0] != '\0')
			snapshot_emit(c, E_BUCKETS, v);
	}
	free(texts);
}

static void
write_tally(const tel_emit_class *c, const uint64_t *sum)
{
	tel_emit_value v[5];
	uint64_t key, count;
	char number[24];

	v[2].u = sum[W_UPDATES];
	v[3].u = sum[W_A];
	v[4].u = sum[W_B];
	snapshot_emit(c, E_TALLY, v);
	for (uint32_t i = 0; i <= c->mask + 1; i++) {
		key = __atomic_load_n(&c->keys[i], __ATOMIC_ACQUIRE);
		count = key == TALLY_FREE ? 0 : snapshot_bucket(c, W_HEAD + i);
		if (count == 0)
			continue;
		snprintf(number, sizeof(number), "%llu",
		    (unsigned long long)(i > c->mask ? TALLY_FREE : key));
		v[2].s = c->text ? (const char *)(uintptr_t)key : number;
		v[3].u = count;
		snapshot_emit(c, E_BUCKET, v);
	}
}

/* Ticks as nanoseconds. */
static uint64_t
as_ns(uint64_t ticks)
{
	const double rate =
	    PAGE->clock == TEL_EMIT_CLOCK_NONE ? 1e9 : tel__emit_rate();

	return (uint64_t)((double)ticks * 1e9 / rate + 0.5);
}

static void
write_summary(tel_emit_class *c, const uint64_t *sum)
{
	const uint64_t over_limit = sum[W_OVER_LIMIT] - c->over_limit;
	const int any = sum[W_A] > 0;
	tel_emit_value v[10];

	/* the rate is under the lock of the drain */
	pthread_mutex_lock(&tel__emit_state.drain);
	v[4].u = as_ns(sum[W_SUM]);
	v[5].u = any ? as_ns(sum[W_LAST]) : 0;
	v[6].u = any ? as_ns(sum[W_MIN]) : 0;
	v[7].u = as_ns(sum[W_MAX]);
	pthread_mutex_unlock(&tel__emit_state.drain);
	v[2].u = sum[W_UPDATES];
	v[3].u = sum[W_A];
	v[8].u = sum[W_STARTS] > sum[W_A] ? sum[W_STARTS] - sum[W_A] : 0;
	v[9].u = sum[W_B];
	snapshot_emit(c, E_SUMMARY, v);
	if (over_limit == 0)
		return;
	c->over_limit = sum[W_OVER_LIMIT];
	v[2].u = over_limit;
	v[3].u = v[4].u = 0;
	snapshot_emit(c, E_LOST, v);
}

static void
write_class(tel_emit_class *c, const uint64_t *sum)
{
	tel_emit_value v[7];

	switch (c->type) {
	case CLASS_MAGNITUDE:
		v[2].u = sum[W_UPDATES];
		v[3].i = TEL__NOW(c->current);
		v[4].i = (int64_t)sum[W_MIN];
		v[5].i = (int64_t)sum[W_MAX];
		v[6].i = (int64_t)sum[W_SUM];
		snapshot_emit(c, E_MAGNITUDE, v);
		break;
	case CLASS_GROWTH:
		v[2].u = sum[W_UPDATES];
		v[3].u = sum[W_SUM];
		v[4].u = sum[W_LAST];
		v[5].u = sum[W_MIN];
		v[6].u = sum[W_MAX];
		snapshot_emit(c, E_GROWTH, v);
		break;
	case CLASS_SUMMARY: write_summary(c, sum); break;
	case CLASS_TALLY: write_tally(c, sum); break;
	default: write_histogram(c, sum);
	}
}

/* Whether a class is top, or below it. */
static int
snapshot_is_below(const tel_emit_class *c, const tel_emit_class *top)
{
	while (c != NULL && c != top)
		c = c->parent;
	return c == top;
}

void
tel__class_write(const tel_emit_class *top, int which)
{
	const struct tel__classes *all = &tel__classes;
	uint64_t sum[W_HEAD];
	tel_emit_class *c;

	for (uint32_t i = 0; i < all->count; i++) {
		c = all->list[i];
		if (c->shared == NULL || !snapshot_is_below(c, top) ||
		    (!(which & WRITE_OFF) && !TEL__NOW(c->on)))
			continue;
		add_up(c, sum);
		if (sum[W_UPDATES] == 0 ||
		    (which & WRITE_CHANGED && sum[W_UPDATES] == c->written))
			continue;
		c->written = sum[W_UPDATES];
		write_class(c, sum);
	}
}
