/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writing a set of statistics as an inst stream: tel-inst(5).  What telstat
 * adds to the format are fields, and records of codes R and W, that other
 * readers pass over.
 */
#include "stats/inst.h"

#include <string.h>

struct writer {
	struct tel_stats *s;
	tel_output *out;
	struct text line;
	uint64_t clock;
	tel_status status;
};

static void
begin(struct writer *w, const char *code)
{
	w->line.count = 0;
	tel__text_clock(&w->line, w->clock);
	tel__text_char(&w->line, ' ');
	tel__text_string(&w->line, code);
}

static void
finish(struct writer *w)
{
	tel__text_char(&w->line, '\n');
	if (w->line.failed && w->status == TEL_OK)
		w->status = TEL_ENOMEM;
	if (w->status == TEL_OK)
		w->status =
		    tel_output_write(w->out, w->line.bytes, w->line.count);
}

static void
name(struct writer *w, const char *field)
{
	tel__text_char(&w->line, ' ');
	tel__text_string(&w->line, field);
	tel__text_char(&w->line, '=');
}

static void
put_u64(struct writer *w, const char *field, uint64_t v)
{
	name(w, field);
	tel__text_u64(&w->line, v);
}

static void
put_int128(struct writer *w, const char *field, tel_int128 v)
{
	char text[TEL_INT128_TEXT];

	name(w, field);
	tel__text_string(&w->line, tel_int128_text(v, text));
}

static void
put_string(struct writer *w, const char *field, const char *s)
{
	if (s == NULL)
		return;
	name(w, field);
	tel__inst_put_string(&w->line, s, strlen(s));
}

static void
put_some(struct writer *w, const char *field, uint64_t v)
{
	if (v > 0)
		put_u64(w, field, v);
}

/* A key: its value, and its data type where the value does not tell. */
static void
put_key(struct writer *w, const char *field, const char *sort_field,
    const struct key *k)
{
	tel_value v;

	tel__key_value(w->s->strings, k, &v);
	name(w, field);
	if (v.missing) {
		tel__text_char(&w->line, '0');
		name(w, sort_field);
		tel__text_string(&w->line, "missing");
		return;
	}
	if (v.datatype == TEL_STRING) {
		tel__inst_put_string(&w->line, v.as.string, v.length);
		return;
	}
	if (v.datatype == TEL_SIGNED)
		tel__text_i64(&w->line, v.as.i64);
	else
		tel__text_u64(&w->line, v.as.u64);
	if (v.datatype != TEL_UNSIGNED) {
		name(w, sort_field);
		tel__text_string(&w->line, tel_datatype_name(v.datatype));
	}
}

/* ------------------------------------------------------------- report */

static void
put_path(struct writer *w, uint32_t id, uint32_t parent, const char *type,
    const char *path_name)
{
	begin(w, "C");
	put_u64(w, "id", id);
	put_u64(w, "parent", parent);
	name(w, "type");
	tel__text_string(&w->line, type);
	put_string(w, "name", path_name);
}

static void
write_report(struct writer *w)
{
	const struct report *r = &w->s->shown;
	const struct origin *o;
	unsigned i;

	begin(w, "R");
	put_u64(w, "logs", r->logs);
	put_u64(w, "events", r->events);
	put_u64(w, "bytes", r->bytes);
	if (r->first <= r->last) {
		put_u64(w, "first", r->first);
		put_u64(w, "last", r->last);
	}
	put_int128(w, "ticks", r->ticks);
	put_int128(w, "ns", r->ns);
	put_some(w, "untimed", r->untimed);
	put_u64(w, "input", r->input);
	put_some(w, "damaged", r->damaged);
	put_some(w, "skipped", r->skipped);
	put_some(w, "repaired", r->repaired);
	put_some(w, "unknown", r->unknown);
	put_some(w, "lost", r->lost);
	put_some(w, "cut", r->cut);
	finish(w);
	for (i = 0; i < r->norigins; i++) {
		o = &r->origins[i];
		begin(w, "W");
		put_string(w, "schema", o->schema);
		put_string(w, "version", o->version);
		put_string(w, "form", o->form);
		put_u64(w, "logs", o->logs);
		put_u64(w, "events", o->events);
		finish(w);
	}
}

static void
write_types(struct writer *w)
{
	const struct report *r = &w->s->shown;
	struct inst_state *inst = &w->s->inst;
	const struct part *p;
	uint32_t i;

	if (inst->types == 0) {
		inst->types = ++inst->ids;
		put_path(w, inst->types, inst->root, "tally", "events");
		put_u64(w, "max", PARTS_MAX);
		put_string(w, "report", "types");
		finish(w);
	}
	begin(w, "S");
	put_u64(w, "c", inst->types);
	put_u64(w, "n", r->events);
	put_u64(w, "ovf", 0);
	put_u64(w, "ovfn", 0);
	finish(w);
	for (i = 0; i < r->nparts; i++) {
		p = &r->parts[i];
		begin(w, "SB");
		put_u64(w, "c", inst->types);
		put_string(w, "k", p->name);
		put_u64(w, "v", p->events);
		put_string(w, "kind", p->kind);
		put_u64(w, "code", p->code);
		put_u64(w, "bytes", p->bytes);
		finish(w);
	}
}

static void
write_blocks(struct writer *w, uint32_t *id, const char *of, uint64_t n,
    tel_int128 bytes)
{
	if (*id == 0) {
		*id = ++w->s->inst.ids;
		put_path(w, *id, w->s->inst.root, "growth", of);
		put_string(w, "unit", "bytes");
		put_string(w, "report", of);
		finish(w);
	}
	begin(w, "S");
	put_u64(w, "c", *id);
	put_u64(w, "n", n);
	put_int128(w, "total", bytes);
	finish(w);
}

/* --------------------------------------------------------- statistics */

/* stat NULL: of no group, to say what there is to have any. */
static void
put_groups(struct writer *w, const struct definition *d,
    const struct tel_stat *stat)
{
	char field[3][8];
	unsigned i;

	for (i = 0; i < d->ngroups; i++) {
		memcpy(field[0], "gk0", 4);
		memcpy(field[1], "gv0", 4);
		memcpy(field[2], "gs0", 4);
		field[0][2] = field[1][2] = field[2][2] = (char)('1' + i);
		put_string(w, field[0], d->group_names[i]);
		if (stat != NULL && !stat->is_overflow)
			put_key(w, field[1], field[2], &stat->group[i]);
	}
	if (stat == NULL || stat->is_overflow)
		put_string(w, "grp", stat == NULL ? "none" : "overflow");
}

/* The name of the class, which is one component and not another's. */
static void
put_class_name(struct writer *w, const struct definition *d, uint32_t id)
{
	struct text t = { NULL, 0, 0, 0 };
	const char *p;

	if (d->ngroups == 0 && strchr(d->spec.name, ':') == NULL) {
		put_string(w, "name", d->spec.name);
		return;
	}
	for (p = d->spec.name; *p != '\0'; p++)
		tel__text_char(&t, *p == ':' ? '/' : *p);
	tel__text_string(&t, " {");
	tel__text_u64(&t, id);
	tel__text_char(&t, '}');
	if (t.failed)
		w->line.failed = 1;
	else
		put_string(w, "name", t.bytes);
	tel__text_clear(&t);
	put_string(w, "of", d->spec.name);
}

/* Defines the class of a stat, or of a definition.  Returns its number. */
static uint32_t
write_class(struct writer *w, const struct definition *d,
    const struct tel_stat *stat)
{
	const struct spec *p = &d->spec;
	uint32_t id = ++w->s->inst.ids;
	unsigned i;

	begin(w, "C");
	put_u64(w, "id", id);
	put_u64(w, "parent", 0);
	name(w, "type");
	tel__text_string(&w->line, tel__inst_class_name(p->class));
	put_class_name(w, d, id);
	for (i = 0; i < tel__class_parameters(p->class); i++) {
		name(w, tel__class_parameter_name(p->class, i));
		tel__text_i64(&w->line, p->parameters[i]);
	}
	if (p->delta)
		put_u64(w, "delta", 1);
	if (*d->unit != '\0')
		put_string(w, "unit", d->unit);
	put_string(w, "expr", p->value.text);
	put_string(w, "weight", p->weight.text);
	put_string(w, "if", p->condition.text);
	if (p->pairs != PAIRS_NONE)
		put_string(w, "pairs", p->pairs == PAIRS_NS ? "dur" : "ticks");
	put_string(w, "start", p->start.text);
	put_string(w, "end", p->end.text);
	put_string(w, "key", p->key.text);
	put_string(w, "middle", p->middle.text);
	put_groups(w, d, stat);
	finish(w);
	return id;
}

static void
put_pairs(struct writer *w, const struct tel_stat *stat)
{
	const struct pair_counts *p = &stat->pairs;

	put_u64(w, "pairs", p->pairs);
	put_u64(w, "open", p->open);
	put_u64(w, "orphan", p->orphan);
	put_some(w, "nested", p->nested);
	put_some(w, "backward", p->backward);
	put_some(w, "untimed", p->untimed);
	put_some(w, "crowded", p->crowded);
}

static void
put_extremes(struct writer *w, const struct tel_stat *stat)
{
	if (!(stat->flags & STAT_EXTREMES))
		return;
	put_int128(w, "min", stat->min);
	put_int128(w, "max", stat->max);
}

/* Weights of buckets that have any, on as many lines as they need. */
static void
put_buckets(struct writer *w, const struct tel_stat *stat)
{
	uint32_t count = stat->definition->spec.layout.count, i;
	const char *separator = "";
	uint64_t v;

	name(w, "b");
	for (i = 0; i < count; i++) {
		v = tel__stat_bucket(stat, i);
		if (v == 0)
			continue;
		if (w->line.count > INST_LINE_MAX - 64) {
			finish(w);
			begin(w, "SB");
			put_u64(w, "c", stat->inst);
			name(w, "b");
			separator = "";
		}
		tel__text_string(&w->line, separator);
		tel__text_u64(&w->line, i);
		tel__text_char(&w->line, ':');
		tel__text_u64(&w->line, v);
		separator = ",";
	}
}

static void
put_numbers(struct writer *w, const struct tel_stat *stat)
{
	int summed = !(stat->flags & STAT_NO_SUM);
	int last = stat->flags & STAT_LAST;

	switch (stat->definition->spec.class) {
	case TEL_CLASS_MAG:
		if (last)
			put_int128(w, "cur", stat->last);
		put_extremes(w, stat);
		if (summed)
			put_int128(w, "sum", stat->sum);
		break;
	case TEL_CLASS_GROWTH:
	case TEL_CLASS_DUR:
		if (summed)
			put_int128(w, "total", stat->sum);
		if (last)
			put_int128(w, "last", stat->last);
		put_extremes(w, stat);
		break;
	case TEL_CLASS_RATIO:
		put_u64(w, "w", stat->weight);
		if (summed)
			put_int128(w, "total", stat->sum);
		break;
	case TEL_CLASS_TALLY:
		put_u64(w, "w", stat->weight);
		put_u64(w, "ovf", stat->tally.overflow);
		put_u64(w, "ovfn", stat->tally.overflow_updates);
		break;
	default:
		put_u64(w, "w", stat->weight);
		if (summed)
			put_int128(w, "sum", stat->sum);
		put_extremes(w, stat);
		if (stat->flags & STAT_OUTSIDE) {
			put_u64(w, "ovf",
			    stat->outside + stat->under + stat->over);
		} else {
			put_u64(w, "under", stat->under);
			put_u64(w, "over", stat->over);
		}
		break;
	}
}

static void
write_keys(struct writer *w, const struct tel_stat *stat)
{
	const struct tally *t = &stat->tally;
	struct key k;
	uint32_t i;

	for (i = 0; i < t->count && w->status == TEL_OK; i++) {
		k = tally_key(t, i);
		begin(w, "SB");
		put_u64(w, "c", stat->inst);
		put_key(w, "k", "s", &k);
		put_u64(w, "v", t->counts[i]);
		put_u64(w, "n", t->updates[i]);
		finish(w);
	}
}

static void
write_stat(struct writer *w, struct tel_stat *stat)
{
	const struct spec *p = &stat->definition->spec;

	if (stat->inst == 0)
		stat->inst = write_class(w, stat->definition, stat);
	begin(w, "S");
	put_u64(w, "c", stat->inst);
	put_u64(w, "n",
	    p->class == TEL_CLASS_DUR ? stat->pairs.events : stat->updates);
	if (p->class == TEL_CLASS_DUR || p->pairs != PAIRS_NONE)
		put_pairs(w, stat);
	if (p->class != TEL_CLASS_DUR && p->pairs != PAIRS_NONE)
		put_u64(w, "events", stat->pairs.events);
	put_numbers(w, stat);
	put_some(w, "inv", stat->invalid);
	put_some(w, "lost", stat->lost);
	if (stat->flags & STAT_WRAPPED)
		put_u64(w, "wrap", 1);
	if (stat->flags & STAT_APPROXIMATE)
		put_u64(w, "approx", 1);
	if (p->layout.count > 0)
		put_buckets(w, stat);
	finish(w);
	write_keys(w, stat);
}

static void
write_header(struct writer *w)
{
	const struct report *r = &w->s->shown;
	struct inst_state *inst = &w->s->inst;
	double ns = tel_int128_double(r->ns);
	uint64_t hz = 0;
	size_t i;

	inst->begun = 1;
	/* hertz of the clock; of ours alone, as no duration depends on it */
	if (r->untimed == 0 && ns > 0 &&
	    tel_int128_double(r->ticks) / ns * 1e9 < 1e18)
		hz = (uint64_t)(tel_int128_double(r->ticks) / ns * 1e9 + 0.5);
	begin(w, "H");
	tel__text_string(&w->line, " inst 1 0 0");
	put_u64(w, "hz", hz);
	put_string(w, "writer", "teltools " TEL_VERSION);
	finish(w);
	inst->root = ++inst->ids;
	put_path(w, inst->root, 0, "path", "telstat report");
	finish(w);
	/* in their order, whichever of them comes to have a group first */
	for (i = 0; i < w->s->count; i++)
		if (w->s->definitions[i]->ngroups > 0)
			(void)write_class(w, w->s->definitions[i], NULL);
}

tel_status
tel_stats_write_inst(tel_stats *s, tel_output *out, int last)
{
	struct writer w = { .s = s, .out = out };
	const struct report *r = &s->shown;
	size_t i;

	if (s->inst.ended)
		return stats_fail(s, TEL_ESTATE, "the stream was ended");
	if (s->deltas)
		return stats_fail(s, TEL_ESTATE,
		    "snapshots in an inst stream are no differences");
	w.status = tel_stats_settle(s);
	if (w.status != TEL_OK)
		return w.status;
	w.clock = r->first <= r->last ? r->first : 0;
	if (!s->inst.begun)
		write_header(&w);
	w.clock = r->first <= r->last ? r->last : 0;
	write_report(&w);
	write_types(&w);
	if (r->has_allocs) {
		write_blocks(&w, &s->inst.allocs, "allocated", r->allocs,
		    r->alloc_bytes);
		write_blocks(&w, &s->inst.frees, "freed", r->frees,
		    r->free_bytes);
	}
	for (i = 0; i < s->listed && w.status == TEL_OK; i++)
		write_stat(&w, s->list[i]);
	if (last) {
		begin(&w, "Z");
		finish(&w);
		s->inst.ended = 1;
	}
	tel__text_clear(&w.line);
	if (w.status != TEL_OK)
		return stats_fail(s, w.status, "%s", tel_status_text(w.status));
	return TEL_OK;
}
