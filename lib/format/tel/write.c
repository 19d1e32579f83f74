/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writing the native format, tel(5): of any log, and of several at once.
 * Events are held back until they make a block, or someone waits for them.
 */
#include "format/tel/writer.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/clock.h"

static void
free_schema(struct out_schema *s)
{
	tel__native_schema_end(&s->native);
	tel__buffer_clear(&s->derived);
	free(s);
}

static void
free_schemas(struct native_out *n)
{
	struct out_schema *s;

	while ((s = n->schemas) != NULL) {
		n->schemas = s->next;
		free_schema(s);
	}
	tel__table_clear(&n->by_schema);
	n->last_schema = NULL;
}

/* A log has ended: frees what its blocks say of it besides its events. */
static void
end_out_log(struct out_log *log)
{
	log->of = NULL;
	free((char *)(uintptr_t)log->kept.origin);
	free((char *)(uintptr_t)log->kept.preamble);
	tel__clock_free(log->kept.clock);
	memset(&log->kept, 0, sizeof(log->kept));
	tel__metadata_clear(&log->own);
}

static void
free_out_log(struct out_log *log)
{
	end_out_log(log);
	tel__labels_free(log->labels);
	free(log->name);
	free(log->described);
	free(log);
}

static void
free_out(struct native_out *n)
{
	struct out_log *log;

	if (n == NULL)
		return;
	tel__out_block_end(&n->block);
	tel__out_block_end(&n->names);
	tel__out_block_end(&n->all);
	tel__out_names_free(n->in_force);
	tel__out_group_free(&n->group);
	free_schemas(n);
	tel__table_clear(&n->by_log);
	while ((log = n->logs) != NULL) {
		n->logs = log->next;
		free_out_log(log);
	}
	free(n->record.bytes);
	free(n->directory.bytes);
	free(n->ordinals.bytes);
	free(n->all_ordinals.bytes);
	free(n);
}

static tel_status
native_write_begin(struct tel_writer *w)
{
	struct native_out *n = calloc(1, sizeof(*n));

	if (n == NULL)
		return TEL_ENOMEM;
	w->state = n;
	tel__table_init(&n->by_log);
	tel__table_init(&n->by_schema);
	n->in_force = tel__out_names_new();
	if (n->in_force == NULL || tel__out_block_begin(&n->block) != TEL_OK ||
	    tel__out_block_begin(&n->names) != TEL_OK ||
	    tel__out_block_begin(&n->all) != TEL_OK)
		return TEL_ENOMEM;
	n->block.smaller = BLOCK_HALVINGS;
	return TEL_OK;
}

static void
native_close(struct tel_writer *w)
{
	free_out(w->state);
	w->state = NULL;
}

static tel_status
native_finish(struct tel_writer *w)
{
	tel_status st = w->state == NULL ? native_write_begin(w) : TEL_OK;

	if (st == TEL_OK)
		st = tel__native_put_end(w);
	if (st == TEL_OK)
		native_close(w);
	return st;
}

/* -------------------------------------------------------------- events */

/*
 * Compares a schema with the built-in one of that name.  It may be the same,
 * or have other names of fields, as the counters of HPM.  For releases of the
 * MPS the layouts are compared alone, and roles that users gave are not
 * written.
 */
static tel_status
find_built_in(const struct tel_writer *w, struct out_schema *o)
{
	const struct tel_schema *s = o->native.schema;
	tel_schema *built_in;
	int same;
	tel_status st = tel__format_schema(w->formats, s->name, &built_in);

	if (st != TEL_OK)
		return st == TEL_ENOMEM ? st : TEL_OK;
	if (s->described && !built_in->stable) {
		same = 0;
	} else if (s->described) {
		same = tel__native_equal(s, built_in);
		if (same == 0) {
			same = tel__native_derive(&o->derived, s, built_in);
			if (same != 1)
				tel__buffer_clear(&o->derived);
			same = same < 0 ? -1 : 0;
		}
	} else {
		same = tel__native_matches(built_in, o->native.digest);
	}
	tel_schema_free(built_in);
	o->known = same == 1;
	return same < 0 ? TEL_ENOMEM : TEL_OK;
}

/* How the stream refers to a schema. */
static tel_status
write_identify(const struct tel_writer *w, struct out_schema *s)
{
	uint64_t *digest = &s->native.digest;
	tel_status st = *digest == 0 ? TEL_ENOMEM : find_built_in(w, s);

	if (st == TEL_OK && !s->known && s->derived.used == 0)
		*digest = tel__native_digest_described(s->native.schema);
	return *digest == 0 ? TEL_ENOMEM : st;
}

static tel_status
native_write_find_schema(struct tel_writer *w, struct tel_schema *schema)
{
	struct native_out *n = w->state;
	struct tel__entry *e;
	int fresh;

	e = tel__table_put(&n->by_schema, (uintptr_t)schema, &fresh);
	if (e == NULL)
		return TEL_ENOMEM;
	struct out_schema *s = (struct out_schema *)(uintptr_t)e->value;
	if (s == NULL) {
		s = calloc(1, sizeof(*s));
		if (s == NULL)
			return TEL_ENOMEM;
		if (tel__native_schema_begin(&s->native, schema,
		        tel__native_digest(schema)) != TEL_OK) {
			free(s);
			return TEL_ENOMEM;
		}
		if (write_identify(w, s) != TEL_OK) {
			free_schema(s);
			return TEL_ENOMEM;
		}
		s->next = n->schemas;
		n->schemas = s;
		e->value = (uintptr_t)s;
	}
	n->last_schema = s;
	return TEL_OK;
}

/* The name that asks for the lines and records of the source as well. */
static const char with_lines[] = "tel,lines";

/*
 * Whether lines and records are kept as they were: of a text they are most of
 * the file.  A file that has them keeps them when it is filtered.
 */
static int
keeps_lines(const struct tel_writer *w, const struct tel_log *of)
{
	const struct tel_format_ops *f = tel__write_origin(w, of);

	return w->target_name == NULL ||
	    strcmp(w->target_name, with_lines) == 0 || f == NULL ||
	    f->encoder == NULL || !(f->encoder->flags & ENCODER_VERBATIM);
}

/* The log that is written of one that a reader has, or NULL. */
static struct out_log *
native_find_log(const struct native_out *n, const struct tel_log *of)
{
	const struct tel__entry *e = tel__table_find(&n->by_log, (uintptr_t)of);

	return e != NULL ? (struct out_log *)(uintptr_t)e->value : NULL;
}

/* Copies what blocks say of a log besides its events. */
static tel_status
keep_log(struct out_log *log, const struct tel_log *of)
{
	tel_status st = TEL_OK;

	log->kept.format = of->format;
	log->kept.metadata = &log->own;
	log->kept.clock = tel__clock_share(of->clock);
	if (of->metadata != NULL)
		st = tel__metadata_add(&log->own, of->metadata);
	if (of->origin != NULL)
		log->kept.origin = strdup(of->origin);
	if (log->lines && of->preamble_size > 0) {
		log->kept.preamble =
		    (unsigned char *)tel__copy_string(of->preamble,
		        of->preamble_size);
		log->kept.preamble_size = of->preamble_size;
	}
	log->name = strdup(of->name);
	return st == TEL_ENOMEM || log->name == NULL ||
	        (of->origin != NULL && log->kept.origin == NULL) ||
	        (log->kept.preamble_size > 0 && log->kept.preamble == NULL) ?
	    TEL_ENOMEM :
	    TEL_OK;
}

/* Adds a log that was not seen yet. */
static tel_status
add_log(struct tel_writer *w, const struct tel_log *of)
{
	struct tel__entry *e;
	int fresh;
	struct native_out *n = w->state;
	struct out_log *log = calloc(1, sizeof(*log));

	if (log == NULL)
		return TEL_ENOMEM;
	log->lines = keeps_lines(w, of);
	log->part = w->part;
	e = tel__table_put(&n->by_log, (uintptr_t)of, &fresh);
	if (keep_log(log, of) != TEL_OK || e == NULL) {
		free_out_log(log);
		return TEL_ENOMEM;
	}
	log->name_size = strlen(log->name);
	log->metadata = &w->metadata;
	log->of = of;
	log->of_number = of->number;
	log->number = n->nlogs++;
	e->value = (uintptr_t)log;
	log->next = n->logs;
	n->logs = log;
	n->last_log = log;
	return TEL_OK;
}

/*
 * Nonzero when a log that begins has a time of its own, and all logs before it
 * have ended: the logs of a stream count from the first event of all.  before is
 * the log that was in its place, or NULL.
 */
static int
has_own_time(const struct native_out *n, const struct out_log *before,
    const struct tel_log *of)
{
	if (before == NULL)
		return n->logs != NULL && n->by_log.count == 0;
	return n->by_log.count == 1 && before->kept.clock != NULL &&
	    tel__clock_origin(before->kept.clock) !=
	    tel__clock_origin(of->clock);
}

static tel_status
find_log(struct tel_writer *w, const struct tel_log *of)
{
	struct native_out *n = w->state;
	struct out_log *log = native_find_log(n, of);
	tel_status st = TEL_OK;

	if (log != NULL && log->of_number == of->number) {
		n->last_log = log;
		return TEL_OK;
	}
	const int anew = has_own_time(n, log, of);
	if (log != NULL && log->of != NULL) {
		/* the struct is that of the next member: this log has ended */
		log->of = &log->kept;
		st = tel__native_put_events(w);
		end_out_log(log);
	}
	if (st == TEL_OK && anew) {
		st = native_finish(w);
		if (st == TEL_OK)
			st = native_write_begin(w);
		n = w->state;
	}
	if (st != TEL_OK)
		return st;
	if (n->nlogs > NATIVE_LOGS_MAX)
		return tel__write_fail(w, TEL_ELIMIT,
		    "a .tel stream has at most %u logs", NATIVE_LOGS_MAX);
	return add_log(w, of);
}

/* Puts a name that no event defines. */
static tel_status
native_write_put_name(struct native_out *n, const struct tel_label *label,
    enum tel_space space, uint64_t value, uint64_t clock)
{
	struct out_block *blocks[2] = { &n->block, &n->names };
	struct out_log *log = n->last_log;

	for (int i = 0; i < 2; i++) {
		int slot = tel__out_block_slot(blocks[i], log, n->last_schema);

		if (slot < 0)
			return TEL_ENOMEM;
		tel__out_block_name(blocks[i], slot, label, space, value,
		    clock);
	}
	return n->block.names.failed || n->names.names.failed ?
	    TEL_ENOMEM :
	    tel__out_names_tell(n->in_force, log, n->last_schema, label, space,
	        value, clock);
}

/*
 * Puts the frames of a stack that were not put yet.  The name of one is the
 * number of its caller's, a varint, and its own name.
 */
static tel_status
put_stack(struct native_out *n, const struct tel_event *ev, uint64_t id)
{
	struct tel_labels *from = ev->log->labels, *to = n->last_log->labels;
	struct tel__buffer text = { 0 };
	struct tel_label label = { 0 };
	tel_status st = TEL_OK;
	size_t place;

	while (st == TEL_OK && tel__labels_find_frame(from, 0, id, &place) &&
	    !tel__labels_find_frame(to, 0, id, &label.length)) {
		const struct tel_frame *frame = tel__labels_frame(from, place);

		text.used = 0;
		tel__buffer_put_varint(&text, frame->parent);
		tel__buffer_put(&text, frame->name, frame->length);
		label.string = (const char *)text.bytes;
		label.length = text.used;
		st = text.failed ? TEL_ENOMEM :
		                   tel__labels_add_frame(to, 0, id, frame);
		if (st == TEL_OK)
			st = native_write_put_name(n, &label, TEL_SPACE_STACK,
			    id, 0);
		id = frame->parent;
	}
	tel__buffer_clear(&text);
	return st == TEL_ELIMIT ? TEL_OK : st;
}

/*
 * A value has a label that no event of the log gave it: it came from another
 * file, or the format has its own way.
 */
static tel_status
native_write_put_label(struct native_out *n, const struct tel_event *ev,
    const struct tel_field *f)
{
	const enum tel_space space = tel_field_space(ev->type->schema, f);
	const uint64_t value = tel_load(f, ev->data);
	struct out_log *log = n->last_log;
	struct tel_label label, known;
	uint64_t clock = ev->clock;
	tel_status st;

	if (space == TEL_SPACE_STACK)
		return put_stack(n, ev, value);
	if (!tel__labels_find(ev->log->labels, space, value, clock, &label) ||
	    label.string == NULL)
		return TEL_OK;
	if (tel__labels_find(log->labels, space, value, clock, &known) &&
	    known.string != NULL && known.length == label.length &&
	    memcmp(known.string, label.string, label.length) == 0)
		return TEL_OK;
	/*
	 * Most names are in force from the start of the log; in a part, an
	 * event may come before the one that gives its value a name.
	 */
	if (!log->part &&
	    tel__labels_find(ev->log->labels, space, value, 0, &known) &&
	    known.id == label.id)
		clock = 0;
	st = tel__labels_intern(log->labels, log->strings, label.string,
	    label.length);
	if (st == TEL_OK)
		st = tel__labels_add(log->labels, space, value, clock,
		    log->strings++);
	if (st != TEL_OK)
		return st == TEL_ELIMIT ? TEL_OK : st;
	return native_write_put_name(n, &label, space, value, clock);
}

/* 1 if only events define the labels of a log. */
static int
names_itself(const struct tel_schema *s)
{
	return !s->described;
}

static tel_status
native_write_put_labels(struct tel_writer *w, const struct tel_event *ev)
{
	struct native_out *n = w->state;
	const struct tel_type *t = ev->type;
	tel_status st = TEL_OK;

	/* many logs have none */
	if (n->last_log->labels == NULL)
		n->last_log->labels = tel__labels_new(w->max_labels);
	if (n->last_log->labels == NULL)
		return TEL_ENOMEM;
	for (unsigned i = 0; i < t->nfields && st == TEL_OK; i++)
		if (tel_field_from_log(&t->fields[i]))
			st = native_write_put_label(n, ev, &t->fields[i]);
	return st;
}

/* Events were lost before the next one: start a block, which counts them. */
static tel_status
report_lost(struct tel_writer *w, const struct tel_log *of)
{
	struct native_out *n = w->state;
	tel_status st = tel__native_put_events(w);

	n->lost += of->lost - n->last_log->lost;
	n->last_log->lost = of->lost;
	return st;
}

/* 1 if the last event was of the same log and schema, and none was lost. */
static inline int
is_same(const struct native_out *n, const struct tel_event *ev)
{
	const struct out_log *log = n->last_log;

	return log != NULL && log->of == ev->log &&
	    log->of_number == ev->log->number && log->lost == ev->log->lost &&
	    n->last_schema != NULL &&
	    n->last_schema->native.schema == ev->type->schema;
}

/* Finds the log and the schema of an event. */
static tel_status
native_write_settle(struct tel_writer *w, const struct tel_event *ev)
{
	struct native_out *n = w->state;
	tel_status st = TEL_OK;

	if (n == NULL) {
		st = native_write_begin(w);
		n = w->state;
	}
	if (st == TEL_OK &&
	    (n->last_log == NULL || n->last_log->of != ev->log ||
	        n->last_log->of_number != ev->log->number))
		st = find_log(w, ev->log);
	n = w->state;
	if (st == TEL_OK &&
	    (n->last_schema == NULL ||
	        n->last_schema->native.schema != ev->type->schema))
		st = native_write_find_schema(w, ev->type->schema);
	if (st == TEL_OK && n->last_log->lost != ev->log->lost)
		st = report_lost(w, ev->log);
	return st;
}

/* Copies an event that defines a name or a clock for the NAMES record. */
static tel_status
add_followed(struct native_out *n, const struct tel_event *ev)
{
	const uint64_t index = n->last_log->index;
	const uint64_t end = n->last_log->end;
	const uint64_t ordinal = n->ordinal + n->block.count;
	tel_status st = tel__out_block_add(&n->names, n->last_log,
	    n->last_schema, ev, NULL, 0);

	tel__buffer_put(&n->ordinals, &ordinal, sizeof(ordinal));
	n->last_log->index = index;
	n->last_log->end = end;
	if (n->ordinals.failed)
		return TEL_ENOMEM;
	return st == TEL_OK ? tel__out_names_add(n->in_force, n->last_log,
	                          n->last_schema, ev, ordinal) :
	                      st;
}

/*
 * So many events in a row end a block where the one ends that they are from, so
 * that those behind it can be copied if all of their events are written, too.
 */
#define ROW_MIN 512u

/* Starts a block where one of the log starts that may be copied. */
static tel_status
native_write_align(struct tel_writer *w, const struct tel_event *ev)
{
	struct native_out *n = w->state;
	const struct native_encoded *from = ev->log->encoded;

	if (from == NULL || from->block->logs[0].index != ev->index ||
	    !tel__out_block_fills(from->block))
		return TEL_OK;
	if (n->block.count == 0)
		n->block.smaller = 0;
	else if (n->next == ev->index && n->row >= ROW_MIN)
		return tel__native_put_events(w);
	return TEL_OK;
}

/* Counts n events in a row from one on. */
static void
count_row(struct native_out *out, uint64_t index, size_t n)
{
	out->row = index == out->next && out->row < UINT32_MAX / 2 ?
	    out->row + (uint32_t)n :
	    (uint32_t)n;
	out->next = index + n;
}

/* A large event is alone in its block, and so is a name in its names record. */
static tel_status
native_write_make_room(struct tel_writer *w, const struct tel_event *ev)
{
	const struct native_out *n = w->state;

	if (ev->size > NATIVE_ROWS_MAX)
		return tel__write_fail(w, TEL_ELIMIT,
		    "an event of more than %zu bytes", NATIVE_ROWS_MAX);
	tel_status st = tel__native_put_events(w);
	if (st == TEL_OK && tel_type_is_followed(ev->type) &&
	    n->names.count > 0)
		st = tel__native_put_group(w);
	return st;
}

static tel_status
native_write(struct tel_writer *w, const struct tel_event *ev,
    const struct tel_field *changed)
{
	struct native_out *n = w->state;
	const size_t lead = w->lead_size;
	tel_status st = TEL_OK;

	(void)changed;
	w->lead_size = 0;
	if (n == NULL || !is_same(n, ev)) {
		st = native_write_settle(w, ev);
		n = w->state;
		if (st != TEL_OK)
			return st;
	}
	if (ev->log->encoded != NULL)
		st = native_write_align(w, ev);
	if (st == TEL_OK && ev->size > BLOCK_BYTES)
		st = native_write_make_room(w, ev);
	count_row(n, ev->index, 1);
	if (st == TEL_OK && (w->part || !names_itself(ev->type->schema)) &&
	    tel__labels_count(ev->log->labels) > 0)
		st = native_write_put_labels(w, ev);
	if (tel_type_is_followed(ev->type) && st == TEL_OK)
		st = add_followed(n, ev);
	if (st == TEL_OK)
		st = tel__out_block_add(&n->block, n->last_log, n->last_schema,
		    ev, w->lead, lead);
	if (st == TEL_OK && out_block_full(&n->block))
		st = tel__native_put_events(w);
	return st;
}

/* The same of events of a run. */
static void
count_run(struct native_out *out, const struct tel_run *run, size_t from,
    size_t n)
{
	const uint64_t last = run->numbers[from + n - 1];
	size_t i = from;

	/* those behind the last gap, if there is one */
	if (last - run->numbers[from] != n - 1)
		for (i = from + n - 1;
		     run->numbers[i - 1] + 1 == run->numbers[i];)
			i--;
	count_row(out, run->index + run->numbers[i], from + n - i);
}

/* How many of n events of a run come before the block that may be copied. */
static size_t
before_block(const struct tel_run *run, size_t from, size_t n)
{
	const struct native_encoded *encoded = run->event->log->encoded;
	size_t i;

	if (encoded == NULL)
		return n;
	uint64_t first = encoded->block->logs[0].index - run->index;
	if (first < run->numbers[from] || first > run->numbers[from + n - 1])
		return n;
	for (i = 0; i < n && run->numbers[from + i] != first; i++)
		continue;
	return i;
}

static tel_status
native_write_run(struct tel_writer *w, struct tel_run *run, size_t from,
    size_t n)
{
	struct native_out *out = w->state;
	const struct tel_event *ev = run_event(run, from);
	const int labels = (w->part || !names_itself(run->first->schema)) &&
	    tel__labels_count(ev->log->labels) > 0;
	tel_status st = TEL_OK;

	while (n > 0 && st == TEL_OK) {
		size_t done = labels || !is_same(out, ev) ?
		    0 :
		    tel__out_block_add_run(&out->block, out->last_log,
		        out->last_schema, run, from,
		        before_block(run, from, n));

		if (done == 0) {
			st = native_write(w, run_event(run, from), NULL);
			out = w->state;
			done = 1;
		} else {
			count_run(out, run, from, done);
			if (out_block_full(&out->block))
				st = tel__native_put_events(w);
		}
		from += done;
		n -= done;
	}
	return st;
}

static tel_status
native_describe(struct tel_writer *w, struct tel_schema *schema)
{
	struct out_log log = { 0 };
	tel_status st = w->state == NULL ? native_write_begin(w) :
	                                   tel__native_put_events(w);
	struct native_out *n = w->state;

	if (st == TEL_OK && n->nlogs > NATIVE_LOGS_MAX)
		return tel__write_fail(w, TEL_ELIMIT,
		    "a .tel stream has at most %u logs", NATIVE_LOGS_MAX);
	if (st == TEL_OK)
		st = native_write_find_schema(w, schema);
	if (st != TEL_OK)
		return st;
	log.number = n->nlogs++;
	st = tel__native_put_schema(w, &log, n->last_schema);
	/* events of another schema may be in its place later */
	tel__native_clear_names(n);
	free_schemas(n);
	return st;
}

static tel_status
native_flush(struct tel_writer *w)
{
	return w->state != NULL ? tel__native_put_events(w) : TEL_OK;
}

static int
has_lost(const struct tel_writer *w)
{
	for (const struct write_log *l = w->logs; l != NULL; l = l->next)
		if (l->log->lost > 0)
			return 1;
	return 0;
}

/* Counts the events lost after the last event of each log that was written. */
static void
count_lost(struct tel_writer *w)
{
	struct native_out *n = w->state;

	for (const struct write_log *l = w->logs; l != NULL; l = l->next) {
		struct out_log *log = native_find_log(n, l->log);

		if (log != NULL && log->of_number != l->number)
			log = NULL;
		n->lost += l->log->lost - (log != NULL ? log->lost : 0);
		if (log != NULL)
			log->lost = l->log->lost;
	}
}

/* Ends the logs of a file; their schemas are about to be freed. */
static tel_status
native_end_file(struct tel_writer *w)
{
	struct native_out *n = w->state;
	tel_status st;

	if (n == NULL && has_lost(w) && (st = native_write_begin(w)) != TEL_OK)
		return st;
	n = w->state;
	if (n == NULL)
		return TEL_OK;
	count_lost(w);
	st = tel__native_put_events(w);
	if (st == TEL_OK && n->group.is.blocks >= NATIVE_INDEX_BLOCKS)
		st = tel__native_put_group(w);
	tel__native_clear_names(n);
	for (struct out_log *log = n->logs; log != NULL; log = log->next) {
		end_out_log(log);
		log->recorded = NULL;
		free(log->described);
		log->described = NULL;
	}
	tel__table_clear(&n->by_log);
	n->last_log = NULL;
	free_schemas(n);
	return st;
}

static tel_status
native_target(const char *name)
{
	return strcmp(name, with_lines) == 0 ? TEL_OK : TEL_EINVAL;
}

const struct tel_encoder_ops tel__native_encoder = {
	.what = "a log in the native format",
	.target = native_target,
	.flags = ENCODER_BINARY | ENCODER_TARGET | ENCODER_ANY,
	.write = native_write,
	.write_run = native_write_run,
	.flush = native_flush,
	.end_file = native_end_file,
	.describe = native_describe,
	.finish = native_finish,
	.close = native_close,
};
