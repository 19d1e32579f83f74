/* SPDX-License-Identifier: BSD-2-Clause */
/* The event types of inst logs, and how an event is made of a line. */
#include "format/inst/inst.h"

#include <string.h>

#define HEADER 16u

#define OF_CLASS \
	{ "path", TEL_STRING, FROM_PATH }, \
	{ \
		"class", TEL_UNSIGNED, FROM_CLASS \
	}
#define DEFINES \
	{ "path", TEL_STRING, FROM_PATH }, \
	    { "class", TEL_UNSIGNED, FROM_CLASS }, \
	    { "id", TEL_UNSIGNED, I_ID }, { "enabled", TEL_BOOLEAN, I_EN }, \
	    { "unit", TEL_STRING, I_UNIT }, \
	{ \
		"help", TEL_STRING, I_HELP \
	}
#define ON \
	{ "cpu", TEL_UNSIGNED, I_CPU }, \
	{ \
		"tid", TEL_UNSIGNED, I_TID \
	}
#define TAG \
	{ \
		"tag", TEL_UNSIGNED, I_TAG \
	}
#define RANGE \
	{ \
		"range", TEL_SET, FROM_RANGE \
	}
#define TEXT \
	{ \
		"text", TEL_STRING, FROM_TEXT \
	}

/* clang-format off */
const struct inst_type_def tel__inst_types[T_TYPES] = {
	[T_HEADER] = { "Header", "Log", {
		{ "major", TEL_UNSIGNED, FROM_MAJOR },
		{ "median", TEL_UNSIGNED, FROM_MEDIAN },
		{ "minor", TEL_UNSIGNED, FROM_MINOR },
		{ "hz", TEL_UNSIGNED, I_HZ }, { "wall", TEL_STRING, I_WALL },
		{ "proc", TEL_STRING, I_PROC }, { "pid", TEL_UNSIGNED, I_PID },
		{ "host", TEL_STRING, I_HOST }, { "tz", TEL_STRING, I_TZ } } },
	[T_SYNC] = { "Sync", "Log", { { "wall", TEL_STRING, I_WALL } } },
	[T_LOST] = { "Lost", "Log", { OF_CLASS,
		{ "count", TEL_UNSIGNED, I_N },
		{ "from", TEL_UNSIGNED, I_FROM },
		{ "to", TEL_UNSIGNED, I_TO } } },
	[T_FINISH] = { "Finish", "Log", { { "count", TEL_UNSIGNED, I_N } } },
	[T_REPORT] = { "Report", "Log", {
		{ "record", TEL_STRING, FROM_RECORD } } },
	[T_ORIGIN] = { "Origin", "Log", {
		{ "record", TEL_STRING, FROM_RECORD } } },
	[T_OTHER] = { "Other", "Log", {
		{ "record", TEL_STRING, FROM_RECORD } } },
	[T_IGNORED] = { "Ignored", "Log", { OF_CLASS,
		{ "reason", TEL_STRING, FROM_REASON },
		{ "record", TEL_STRING, FROM_RECORD } } },
	[T_DESCRIPTOR] = { "Descriptor", "Class", {
		{ "id", TEL_UNSIGNED, I_ID }, { "format", TEL_STRING, I_FMT },
		{ "names", TEL_STRING, I_NAMES },
		{ "types", TEL_STRING, I_TYPES } } },

	[T_PATH] = { "PathClass", "Class", { DEFINES } },
	[T_TRACE_CLASS] = { "TraceClass", "Class", { DEFINES,
		{ "component", TEL_STRING, I_COMP } } },
	[T_SUMMARY] = { "SummaryClass", "Class", { DEFINES,
		{ "component", TEL_STRING, I_COMP } } },
	[T_MAGNITUDE] = { "MagnitudeClass", "Class", { DEFINES } },
	[T_GROWTH] = { "GrowthClass", "Class", { DEFINES } },
	[T_HISTOGRAM] = { "HistogramClass", "Class", { DEFINES,
		{ "lo", TEL_SIGNED, I_LO }, { "hi", TEL_SIGNED, I_HI },
		{ "w", TEL_UNSIGNED, I_W } } },
	[T_SPLIT] = { "SplitClass", "Class", { DEFINES,
		{ "lo", TEL_SIGNED, I_LO }, { "w1", TEL_UNSIGNED, I_W1 },
		{ "knee", TEL_SIGNED, I_KNEE }, { "hi", TEL_SIGNED, I_HI },
		{ "w2", TEL_UNSIGNED, I_W2 } } },
	[T_TALLY] = { "TallyClass", "Class", { DEFINES,
		{ "max", TEL_UNSIGNED, I_MAX } } },
	[T_LOG2] = { "Log2Class", "Class", { DEFINES,
		{ "k", TEL_UNSIGNED, I_K } } },
	[T_LOGLIN] = { "LoglinClass", "Class", { DEFINES,
		{ "factor", TEL_UNSIGNED, I_FACTOR },
		{ "low", TEL_SIGNED, I_LOW }, { "high", TEL_SIGNED, I_HIGH },
		{ "steps", TEL_UNSIGNED, I_STEPS } } },
	[T_QUANTILES] = { "QuantilesClass", "Class", { DEFINES,
		{ "bits", TEL_UNSIGNED, I_BITS } } },
	[T_UNKNOWN_CLASS] = { "OtherClass", "Class", { DEFINES,
		{ "type", TEL_STRING, I_TYPE } } },
	[T_ENABLE] = { "Enable", "Class", { OF_CLASS } },
	[T_DISABLE] = { "Disable", "Class", { OF_CLASS } },
	[T_DISPOSE] = { "Dispose", "Class", { OF_CLASS } },

	[T_TRACE] = { "Trace", "Trace", { OF_CLASS, TAG, TEXT } },
	[T_START] = { "Start", "Trace", { OF_CLASS, TAG, RANGE, TEXT } },
	[T_END] = { "End", "Trace", { OF_CLASS, TAG, RANGE, TEXT } },
	[T_MIDDLE] = { "Middle", "Trace", { OF_CLASS, TAG, RANGE, TEXT } },
	[T_TRACE_ON] = { "TraceOn", "Trace", { OF_CLASS, TAG, ON, TEXT } },
	[T_START_ON] = { "StartOn", "Trace", { OF_CLASS, TAG, RANGE, ON,
		TEXT } },
	[T_END_ON] = { "EndOn", "Trace", { OF_CLASS, TAG, RANGE, ON, TEXT } },
	[T_MIDDLE_ON] = { "MiddleOn", "Trace", { OF_CLASS, TAG, RANGE, ON,
		TEXT } },

	[T_UPDATE_SET] = { "UpdateSet", "Update", { OF_CLASS,
		{ "value", TEL_SIGNED, I_V }, TAG } },
	[T_UPDATE_ADD] = { "UpdateAdd", "Update", { OF_CLASS,
		{ "value", TEL_SIGNED, I_V }, TAG } },
	[T_UPDATE_GROWTH] = { "UpdateGrowth", "Update", { OF_CLASS,
		{ "value", TEL_UNSIGNED, I_V }, TAG } },
	[T_UPDATE_HISTOGRAM] = { "UpdateHistogram", "Update", { OF_CLASS,
		{ "value", TEL_SIGNED, I_V }, { "weight", TEL_UNSIGNED, I_N },
		TAG } },
	[T_UPDATE_TALLY] = { "UpdateTally", "Update", { OF_CLASS,
		{ "key", TEL_STRING, I_V }, { "weight", TEL_UNSIGNED, I_N },
		TAG } },

	[T_SNAP_MAGNITUDE] = { "Magnitude", "Snapshot", { OF_CLASS,
		{ "updates", TEL_UNSIGNED, I_N },
		{ "current", TEL_SIGNED, I_CUR }, { "min", TEL_SIGNED, I_MIN },
		{ "max", TEL_SIGNED, I_MAX }, { "sum", TEL_SIGNED, I_SUM } } },
	[T_SNAP_GROWTH] = { "Growth", "Snapshot", { OF_CLASS,
		{ "updates", TEL_UNSIGNED, I_N },
		{ "total", TEL_UNSIGNED, I_TOTAL },
		{ "last", TEL_UNSIGNED, I_LAST },
		{ "min", TEL_UNSIGNED, I_MIN },
		{ "max", TEL_UNSIGNED, I_MAX } } },
	[T_SNAP_SUMMARY] = { "Summary", "Snapshot", { OF_CLASS,
		{ "events", TEL_UNSIGNED, I_N },
		{ "pairs", TEL_UNSIGNED, I_PAIRS },
		{ "total", TEL_UNSIGNED, I_TOTAL },
		{ "last", TEL_UNSIGNED, I_LAST },
		{ "min", TEL_UNSIGNED, I_MIN }, { "max", TEL_UNSIGNED, I_MAX },
		{ "open", TEL_UNSIGNED, I_OPEN },
		{ "orphan", TEL_UNSIGNED, I_ORPHAN } } },
	[T_SNAP_HISTOGRAM] = { "Histogram", "Snapshot", { OF_CLASS,
		{ "updates", TEL_UNSIGNED, I_N },
		{ "weight", TEL_UNSIGNED, I_W }, { "sum", TEL_SIGNED, I_SUM },
		{ "under", TEL_UNSIGNED, I_UNDER },
		{ "over", TEL_UNSIGNED, I_OVER },
		{ "overflow", TEL_UNSIGNED, FROM_OUTSIDE },
		{ "buckets", TEL_STRING, I_B } } },
	[T_SNAP_TALLY] = { "Tally", "Snapshot", { OF_CLASS,
		{ "updates", TEL_UNSIGNED, I_N },
		{ "overflow", TEL_UNSIGNED, I_OVF },
		{ "overflow_updates", TEL_UNSIGNED, I_OVFN } } },
	[T_BUCKETS] = { "Buckets", "Snapshot", { OF_CLASS,
		{ "buckets", TEL_STRING, I_B } } },
	[T_BUCKET] = { "Bucket", "Snapshot", { OF_CLASS,
		{ "key", TEL_STRING, I_K }, { "count", TEL_UNSIGNED, I_V } } },

	[T_RATIO_CLASS] = { "RatioClass", "Class", { DEFINES } },
	[T_SNAP_RATIO] = { "Ratio", "Snapshot", { OF_CLASS,
		{ "updates", TEL_UNSIGNED, I_N },
		{ "weight", TEL_UNSIGNED, I_W },
		{ "total", TEL_SIGNED, I_TOTAL } } },
};
/* clang-format on */

static unsigned
count_fields(const struct inst_type_def *d)
{
	unsigned n = 0;

	while (n < INST_FIELDS && d->fields[n].name != NULL)
		n++;
	return n;
}

static int
add_type(struct tel_schema *schema, unsigned i)
{
	const struct inst_type_def *d = &tel__inst_types[i];
	unsigned n = count_fields(d), j;
	const struct inst_field_def *f;
	struct tel_field *field;
	struct tel_type *t;

	t = tel__schema_add(schema, d->name, i + 1, d->kind, HEADER + 8 * n, n);
	for (j = 0; t != NULL && j < n; j++) {
		f = &d->fields[j];
		field =
		    tel__type_add(t, f->name, (enum tel_datatype)f->datatype,
		        f->datatype == TEL_STRING      ? TEL_LOAD_STRING_AT :
		            f->datatype == TEL_BOOLEAN ? TEL_LOAD_U8 :
		                                         TEL_LOAD_LE64,
		        HEADER + 8 * j);
		if (field == NULL)
			return 0;
		if (f->datatype == TEL_BOOLEAN)
			field->width = 1;
	}
	return t != NULL;
}

static void
set_range(struct tel_schema *schema, enum inst_type start, enum inst_type end)
{
	struct tel_type *t = &schema->types[start], *u = &schema->types[end];

	t->role = TEL_ROLE_START;
	t->partner = (int32_t)end;
	t->role_field[0] = (int8_t)tel_type_find_field(t, "range");
	u->role = TEL_ROLE_FINISH;
	u->role_field[0] = (int8_t)tel_type_find_field(u, "range");
}

struct tel_schema *
tel__inst_schema(void)
{
	static const struct tel_abi abi = { 8, 8, 8, 0, 0 };
	struct tel_schema *s =
	    tel__schema_make("inst-1", "1.0.0", &abi, HEADER, T_TYPES);
	unsigned i;

	for (i = 0; s != NULL && i < T_TYPES; i++) {
		if (!add_type(s, i)) {
			tel_schema_free(s);
			s = NULL;
		}
	}
	if (s != NULL) {
		set_range(s, T_START, T_END);
		set_range(s, T_START_ON, T_END_ON);
	}
	return s;
}

/* ------------------------------------------------------------- events */

/* The number in a field, as far as 64 bits hold it; 0 where it is missing. */
static const char *
number(struct tel_reader *r, struct inst *s, const struct inst_field_def *f,
    uint64_t *out)
{
	enum inst_key key = (enum inst_key)f->from;
	uint64_t most = UINT64_MAX;
	struct inst_number n;

	*out =
	    key == I_N && s->type >= T_UPDATE_SET && s->type <= T_UPDATE_TALLY;
	if (f->datatype == TEL_BOOLEAN)
		*out = 1;
	if (!inst_has(&s->line, key))
		return NULL;
	if (s->line.values[key].decimal && f->datatype == TEL_UNSIGNED) {
		*out = s->line.values[key].number;
		return NULL;
	}
	if (!tel__inst_integer(&s->line.values[key], &n))
		return f->name;
	if (n.negative && f->datatype == TEL_UNSIGNED && key != I_TAG)
		return f->name;
	if (f->datatype == TEL_BOOLEAN)
		n.magnitude = n.magnitude != 0;
	if (f->datatype == TEL_SIGNED)
		most = INT64_MAX + (uint64_t)n.negative;
	if (n.over || n.magnitude > most) {
		if (!(s->told & 1))
			tel__reader_notice(r, TEL_WARNING, s->offset,
			    "a number is too large for the field %s of %s, "
			    "and is shown as the largest",
			    f->name, tel__inst_types[s->type].name);
		s->told |= 1;
		n.magnitude = most;
	}
	*out = n.negative ? 0 - n.magnitude : n.magnitude;
	return NULL;
}

/* What a field is that is no part of the line. */
static uint64_t
derived(const struct inst *s, enum inst_from from)
{
	switch (from) {
	case FROM_CLASS: return s->class_id;
	case FROM_RANGE:
		return s->class_id << 32 ^ tel__inst_unsigned(&s->line, I_TAG);
	case FROM_MAJOR: return s->version[0];
	case FROM_MEDIAN: return s->version[1];
	case FROM_MINOR: return s->version[2];
	case FROM_OUTSIDE:
		if (inst_has(&s->line, I_OVF))
			return tel__inst_unsigned(&s->line, I_OVF);
		return tel__inst_unsigned(&s->line, I_UNDER) +
		    tel__inst_unsigned(&s->line, I_OVER);
	case FROM_PATH:
	case FROM_TEXT:
	case FROM_REASON:
	case FROM_RECORD: break;
	}
	return 0;
}

/* The text of a trace event. */
static unsigned char *
put_text(const struct inst *s, unsigned char *out)
{
	const struct inst_line *l = &s->line;
	static const struct inst_descriptor none = { NULL, 0, 1 };
	const struct inst_descriptor *d = &none;
	const struct tel__entry *e;

	if (inst_has(l, I_S))
		return tel__inst_decode(&l->values[I_S], out);
	if (inst_has(l, I_D)) {
		e = tel__table_find(&s->descriptor_ids,
		    tel__inst_unsigned(l, I_D));
		if (e != NULL)
			d = &s->descriptors[e->value];
	} else if (l->nargs == 0) {
		return out;
	}
	return tel__inst_format(d, l, s->c_locale, out);
}

/* A string at out, without a NUL; NULL when an escape is wrong. */
static unsigned char *
put_string(const struct inst *s, unsigned from, unsigned char *out)
{
	const struct inst_line *l = &s->line;
	size_t n;

	switch (from) {
	case FROM_PATH:
		memcpy(out, s->path, s->path_length);
		return out + s->path_length;
	case FROM_TEXT: return put_text(s, out);
	case FROM_REASON:
		n = strlen(s->reason);
		memcpy(out, s->reason, n);
		return out + n;
	case FROM_RECORD:
		n = (size_t)(l->end - l->record);
		memcpy(out, l->record, n);
		return out + n;
	default: break;
	}
	if (!inst_has(l, (enum inst_key)from))
		return out;
	return tel__inst_decode(&l->values[from], out);
}

const char *
tel__inst_build(struct tel_reader *r, struct inst *s, uint32_t *size)
{
	const struct tel_type *t = &r->log.schema->types[s->type];
	const struct inst_type_def *d = &tel__inst_types[s->type];
	const struct inst_field_def *f = d->fields;
	unsigned char *p = s->data + HEADER, *out = s->data + t->size;
	const char *why;
	unsigned i;
	uint64_t v;

	for (i = 0; i < t->nfields; i++, f++, p += 8) {
		if (f->datatype == TEL_STRING) {
			tel_store_le64(p, (uint64_t)(out - s->data));
			out = put_string(s, f->from, out);
			if (out == NULL)
				return f->name;
			*out++ = '\0';
			continue;
		}
		if (f->from < I_KEYS) {
			why = number(r, s, f, &v);
			if (why != NULL)
				return why;
		} else {
			v = derived(s, (enum inst_from)f->from);
		}
		tel_store_le64(p, v);
	}
	*size = (uint32_t)(out - s->data);
	tel_store_le64(s->data, (uint64_t)*size << 32 | t->code);
	tel_store_le64(s->data + 8, s->line.clock);
	return NULL;
}
