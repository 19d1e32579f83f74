/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Saving a set of statistics as an inst log: tel-inst(5).  What telstat adds
 * to the format are fields, and records of codes R and W, that other readers
 * pass over.
 */
#include <stdio.h>
#include <string.h>

#include "format/inst/write.h"
#include "stats/fields.h"
#include "stats/class.h"
#include "stats/stats.h"

struct saver {
	struct tel_stats *s;
	struct inst_writer w;
};

static void
put_some(struct inst_writer *w, const char *field, uint64_t v)
{
	if (v > 0)
		tel__inst_put_count(w, field, v);
}

/* Counts of a struct, those that are 0 only where that is written, too. */
static void
put_counts(struct inst_writer *w, const struct count_field *f, const void *of)
{
	uint64_t v;

	for (; f->name != NULL; f++) {
		memcpy(&v, (const char *)of + f->at, sizeof(v));
		if (f->always || v > 0)
			tel__inst_put_count(w, f->name, v);
	}
}

/* A key: its value, and its data type where the value does not tell. */
static void
save_put_value(struct inst_writer *w, const char *field, const char *type_field,
    const tel_value *value)
{
	if (value->missing) {
		tel__inst_put_count(w, field, 0);
		tel__inst_put_word(w, type_field, "missing");
		return;
	}
	if (value->datatype == TEL_STRING) {
		tel__inst_put_name(w, field);
		tel__inst_put_quoted(w, value->as.string, value->length);
		return;
	}
	tel__inst_put_number(w, field,
	    value->datatype == TEL_SIGNED ? int128_i64(value->as.i64) :
	                                    int128_u64(value->as.u64));
	if (value->datatype != TEL_UNSIGNED)
		tel__inst_put_word(w, type_field,
		    tel_datatype_name(value->datatype));
}

static void
put_key(struct saver *v, const char *field, const char *type_field,
    const struct key *k)
{
	tel_value value;

	tel__key_value(v->s->strings, k, &value);
	save_put_value(&v->w, field, type_field, &value);
}

/* ------------------------------------------------------------- report */

static void
save_put_class(struct inst_writer *w, uint32_t id, uint32_t parent,
    const char *type)
{
	tel__inst_put_record(w, "C");
	tel__inst_put_count(w, "id", id);
	tel__inst_put_count(w, "parent", parent);
	tel__inst_put_word(w, "type", type);
}

static void
save_report(struct saver *v)
{
	const struct report *r = &v->s->shown;
	struct inst_writer *w = &v->w;

	tel__inst_put_record(w, "R");
	put_counts(w, tel__report_head, r);
	if (r->first <= r->last) {
		tel__inst_put_count(w, "first", r->first);
		tel__inst_put_count(w, "last", r->last);
	}
	tel__inst_put_number(w, "ticks", r->ticks);
	tel__inst_put_number(w, "ns", r->ns);
	put_counts(w, tel__report_tail, r);
	if (r->ended.high != 0 || r->ended.low != 0) {
		tel__inst_put_number(w, "ended", r->ended);
		tel__inst_put_number(w, "ended_bytes", r->ended_bytes);
	}
	tel__inst_put_end(w);
	for (unsigned i = 0; i < r->norigins; i++) {
		const struct origin *o = &r->origins[i];

		tel__inst_put_record(w, "W");
		tel__inst_put_string(w, "schema", o->schema);
		tel__inst_put_string(w, "version", o->version);
		tel__inst_put_string(w, "form", o->format);
		tel__inst_put_count(w, "logs", o->logs);
		tel__inst_put_count(w, "events", o->events);
		tel__inst_put_end(w);
	}
}

static void
save_types(struct saver *v)
{
	const struct report *r = &v->s->shown;
	struct inst_state *inst = &v->s->inst;
	struct inst_writer *w = &v->w;

	if (inst->types == 0) {
		inst->types = ++inst->ids;
		save_put_class(w, inst->types, inst->root, "tally");
		tel__inst_put_string(w, "name", "events");
		tel__inst_put_count(w, "max", PARTS_MAX);
		tel__inst_put_string(w, "report", "types");
		tel__inst_put_end(w);
	}
	tel__inst_put_record(w, "S");
	tel__inst_put_count(w, "c", inst->types);
	tel__inst_put_count(w, "n", r->events);
	tel__inst_put_count(w, "ovf", 0);
	tel__inst_put_count(w, "ovfn", 0);
	tel__inst_put_end(w);
	for (uint32_t i = 0; i < r->nparts; i++) {
		const struct part *p = &r->parts[i];

		tel__inst_put_record(w, "SB");
		tel__inst_put_count(w, "c", inst->types);
		tel__inst_put_string(w, "k", p->name);
		tel__inst_put_count(w, "v", p->events);
		tel__inst_put_string(w, "kind", p->kind);
		tel__inst_put_count(w, "code", p->code);
		tel__inst_put_count(w, "bytes", p->bytes);
		tel__inst_put_end(w);
	}
}

static void
save_blocks(struct saver *v, uint32_t *id, const char *of, uint64_t n,
    tel_int128 bytes)
{
	struct inst_writer *w = &v->w;

	if (*id == 0) {
		*id = ++v->s->inst.ids;
		save_put_class(w, *id, v->s->inst.root, "growth");
		tel__inst_put_string(w, "name", of);
		tel__inst_put_string(w, "unit", "bytes");
		tel__inst_put_string(w, "report", of);
		tel__inst_put_end(w);
	}
	tel__inst_put_record(w, "S");
	tel__inst_put_count(w, "c", *id);
	tel__inst_put_count(w, "n", n);
	tel__inst_put_number(w, "total", bytes);
	tel__inst_put_end(w);
}

/* --------------------------------------------------------- statistics */

/* stat NULL: of no group, to say what there is to have any. */
static void
save_put_groups(struct saver *v, const struct definition *d,
    const struct tel_stat *stat)
{
	char name[4] = "gk1", value[4] = "gv1", type[4] = "gs1";

	for (unsigned i = 0; i < d->ngroups; i++) {
		name[2] = value[2] = type[2] = (char)('1' + i);
		tel__inst_put_string(&v->w, name, d->group_names[i]);
		if (stat != NULL && !stat->is_overflow)
			put_key(v, value, type, &stat->group[i]);
	}
	if (d->ngroups > 0 && stat == NULL)
		tel__inst_put_string(&v->w, "grp", "none");
	else if (stat != NULL && stat->is_overflow)
		tel__inst_put_string(&v->w, "grp", "overflow");
}

/* The name of the class: one component, and of no other class. */
static void
put_class_name(struct inst_writer *w, const struct definition *d, uint32_t id)
{
	struct tel__buffer name = { NULL, 0, 0, 0 };
	char suffix[16];

	if (d->ngroups == 0 && strchr(d->spec.name, ':') == NULL) {
		tel__inst_put_string(w, "name", d->spec.name);
		return;
	}
	for (const char *p = d->spec.name; *p != '\0'; p++)
		tel__buffer_put(&name, *p == ':' ? "/" : p, 1);
	snprintf(suffix, sizeof(suffix), " {%u}", (unsigned)id);
	tel__buffer_put(&name, suffix, strlen(suffix) + 1);
	if (name.failed)
		w->line.failed = 1;
	else
		tel__inst_put_string(w, "name", (char *)name.bytes);
	tel__buffer_clear(&name);
	tel__inst_put_string(w, "of", d->spec.name);
}

/* Defines the class of a stat, or of a definition.  Returns its id. */
static uint32_t
save_class(struct saver *v, const struct definition *d,
    const struct tel_stat *stat)
{
	const struct spec *p = &d->spec;
	const struct stat_class *class = tel__stat_class(p->class);
	struct inst_writer *w = &v->w;
	uint32_t id = ++v->s->inst.ids;

	save_put_class(w, id, 0, class->inst);
	put_class_name(w, d, id);
	for (unsigned i = 0; i < class->nparameters; i++)
		tel__inst_put_number(w, class->parameters[i],
		    int128_i64(p->parameters[i]));
	if (class->running)
		tel__inst_put_count(w, "delta", 1);
	put_some(w, "dec", p->decimals);
	if (*d->unit != '\0')
		tel__inst_put_string(w, "unit", d->unit);
	for (unsigned i = 0; i < PIECES; i++) {
		if (i == PIECE_START && p->pairs != PAIRS_NONE)
			tel__inst_put_string(w, "pairs",
			    tel__pair_words[p->pairs]);
		tel__inst_put_string(w, tel__piece_fields[i],
		    p->pieces[i].text);
	}
	save_put_groups(v, d, stat);
	tel__inst_put_end(w);
	return id;
}

/*
 * Weights of buckets, or ranks of registers, that have any, on as many lines as
 * they need.
 */
static void
save_put_buckets(struct inst_writer *w, const struct tel_stat *stat)
{
	const uint8_t *sketch = stat->sketch;
	uint32_t count =
	    sketch != NULL ? SKETCH_SIZE : stat->definition->spec.layout.count;
	const char *separator = "";
	uint64_t weight;

	tel__inst_put_name(w, "b");
	for (uint32_t i = 0; i < count; i++) {
		weight = sketch != NULL ? sketch[i] : tel__stat_bucket(stat, i);
		if (weight == 0)
			continue;
		if (w->line.used > INST_WRITE_MAX - 64) {
			tel__inst_put_end(w);
			tel__inst_put_record(w, "SB");
			tel__inst_put_count(w, "c", stat->inst);
			tel__inst_put_name(w, "b");
			separator = "";
		}
		tel__inst_put_text(w, separator);
		tel__inst_put_u64(w, i);
		tel__inst_put_text(w, ":");
		tel__inst_put_u64(w, weight);
		separator = ",";
	}
}

/* The sum of squares, as many words as it needs. */
static void
put_squares(struct inst_writer *w, const struct tel_stat *stat)
{
	const uint64_t *words = stat->squares.words;

	if (!stat->definition->class->squared ||
	    (stat->flags & STAT_NO_SQUARES))
		return;
	tel__inst_put_count(w, "sq", words[0]);
	if ((words[1] | words[2]) != 0)
		tel__inst_put_count(w, "sqm", words[1]);
	put_some(w, "sqh", words[2]);
}

/* The numbers of the class that are known. */
static void
save_put_numbers(struct inst_writer *w, const struct tel_stat *stat)
{
	const struct stat_number *n = stat->definition->class->numbers;
	tel_int128 v;

	for (; n->name != NULL; n++) {
		if (!tel_stat_number(stat, n->which, &v))
			continue;
		/* of two counts, which is one when it is read */
		if (n->which == TEL_NUMBER_OUTSIDE)
			v.high = 0;
		tel__inst_put_number(w, n->name, v);
	}
}

/* The keys; those without counts in order, which parts then do not change. */
static void
save_keys(struct saver *v, struct tel_stat *stat)
{
	const int counted = !stat->definition->class->sketched;
	struct tally *t = &stat->tally;
	struct key k;

	if (!counted &&
	    tel__tally_sort(t, v->s->strings, TEL_KEYS_VALUE) != TEL_OK)
		v->w.status = TEL_ENOMEM;
	for (uint32_t i = 0; i < t->count && v->w.status == TEL_OK; i++) {
		uint32_t at = counted || t->order == NULL ? i : t->order[i];

		k = tally_key(t, at);
		tel__inst_put_record(&v->w, "SB");
		tel__inst_put_count(&v->w, "c", stat->inst);
		put_key(v, "k", "s", &k);
		tel__inst_put_count(&v->w, "v", counted ? t->counts[at] : 1);
		if (counted)
			tel__inst_put_count(&v->w, "n", t->updates[at]);
		tel__inst_put_end(&v->w);
	}
}

/* The largest values of a stat. */
static void
save_top(struct inst_writer *w, const struct tel_stat *stat)
{
	const tel_top *top;

	for (uint32_t i = 0; i < stat->top.count && w->status == TEL_OK; i++) {
		top = stat->top.list[i];
		tel__inst_put_record(w, "SB");
		tel__inst_put_count(w, "c", stat->inst);
		tel__inst_put_number(w, "v", top->value);
		tel__inst_put_count(w, "at", top->clock);
		tel__inst_put_count(w, "pos", top->offset);
		tel__inst_put_string(w, "log", top->log);
		for (unsigned j = 0; j < top->nshown; j++)
			if (!top->shown[j].missing)
				save_put_value(w, tel__shown_fields[j][0],
				    tel__shown_fields[j][1], &top->shown[j]);
		tel__inst_put_end(w);
	}
}

static void
save_stat(struct saver *v, struct tel_stat *stat)
{
	const struct spec *p = &stat->definition->spec;
	const struct stat_class *class = tel__stat_class(p->class);
	struct inst_writer *w = &v->w;

	if (stat->inst == 0)
		stat->inst = save_class(v, stat->definition, stat);
	tel__inst_put_record(w, "S");
	tel__inst_put_count(w, "c", stat->inst);
	tel__inst_put_count(w, "n",
	    class->pairs ? stat->pairs.events : stat->updates);
	if (class->pairs || p->pairs != PAIRS_NONE)
		put_counts(w, tel__pair_fields, stat);
	if (!class->pairs && p->pairs != PAIRS_NONE)
		tel__inst_put_count(w, "events", stat->pairs.events);
	save_put_numbers(w, stat);
	put_squares(w, stat);
	if (stat->flags & STAT_LAST && stat->last_clock != w->clock &&
	    !class->running)
		tel__inst_put_count(w, "at", stat->last_clock);
	put_counts(w, tel__stat_fields, stat);
	if (stat->flags & STAT_WRAPPED)
		tel__inst_put_count(w, "wrap", 1);
	if (stat->flags & STAT_APPROXIMATE)
		tel__inst_put_count(w, "approx", 1);
	if (p->layout.count > 0 || stat->sketch != NULL)
		save_put_buckets(w, stat);
	tel__inst_put_end(w);
	save_keys(v, stat);
	save_top(w, stat);
}

/*
 * Defines classes so that the statistics come in their order when they are
 * read again, whichever of them comes to have a group first.
 */
static void
save_definitions(struct saver *v)
{
	const struct tel_stats *s = v->s;
	int grouped = 0;

	for (size_t i = 0; i < s->count; i++)
		grouped |= s->definitions[i]->ngroups > 0;
	for (size_t i = 0; i < s->count && grouped; i++) {
		const struct definition *d = s->definitions[i];

		if (d->ngroups > 0)
			(void)save_class(v, d, NULL);
		else if (d->count > 0 && d->stats[0]->inst == 0)
			d->stats[0]->inst = save_class(v, d, d->stats[0]);
	}
}

static void
save_header(struct saver *v)
{
	const struct report *r = &v->s->shown;
	struct inst_state *inst = &v->s->inst;
	double ns = tel_int128_double(r->ns);
	struct inst_writer *w = &v->w;
	uint64_t hz = 0;

	inst->begun = 1;
	/* hertz of the clock; of ours alone, as no duration depends on it */
	if (r->untimed == 0 && ns > 0 &&
	    tel_int128_double(r->ticks) / ns * 1e9 < 1e18)
		hz = (uint64_t)(tel_int128_double(r->ticks) / ns * 1e9 + 0.5);
	tel__inst_put_record(w, "H");
	tel__inst_put_text(w, " inst 1 0 0");
	tel__inst_put_count(w, "hz", hz);
	tel__inst_put_string(w, "writer", "teltools " TEL_VERSION);
	tel__inst_put_end(w);
	inst->root = ++inst->ids;
	save_put_class(w, inst->root, 0, "path");
	tel__inst_put_string(w, "name", "telstat report");
	tel__inst_put_end(w);
	save_definitions(v);
}

tel_status
tel_stats_write_inst(tel_stats *s, tel_output *out, int last)
{
	struct saver v = { .s = s, .w = { .out = out } };
	const struct report *r = &s->shown;

	if (s->inst.ended)
		return stats_fail(s, TEL_ESTATE, "the stream was ended");
	if (s->deltas)
		return stats_fail(s, TEL_ESTATE,
		    "an inst stream cannot hold differences");
	tel_status st = tel_stats_settle(s);
	if (st != TEL_OK)
		return st;
	v.w.clock = r->first <= r->last ? r->first : 0;
	if (!s->inst.begun)
		save_header(&v);
	v.w.clock = r->first <= r->last ? r->last : 0;
	save_report(&v);
	save_types(&v);
	if (r->has_allocs) {
		save_blocks(&v, &s->inst.allocs, "allocated", r->allocs,
		    r->alloc_bytes);
		save_blocks(&v, &s->inst.frees, "freed", r->frees,
		    r->free_bytes);
	}
	for (size_t i = 0; i < s->listed && v.w.status == TEL_OK; i++)
		save_stat(&v, s->list[i]);
	if (last) {
		tel__inst_put_record(&v.w, "Z");
		tel__inst_put_end(&v.w);
		s->inst.ended = 1;
	}
	tel__buffer_clear(&v.w.line);
	if (v.w.status != TEL_OK)
		return stats_fail(s, v.w.status, "%s",
		    tel_status_text(v.w.status));
	return TEL_OK;
}
