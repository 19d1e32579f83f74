/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events as rows of a table, in Apache Arrow's format.  A field is a column by
 * its name, whatever the type of the event; what has no column, as a later log
 * may have other fields, is text in the column "other".
 */
#include "print/arrow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "model/metadata.h"
#include "model/run.h"
#include "render/number.h"

/* So many events of one type are put column by column. */
#define SEVERAL 4u

/* Events of one type. */
struct rows {
	const unsigned char *const *data;
	const uint64_t *clocks;
	size_t n;
	struct tel_run *run; /* or NULL: it is one event, */
	size_t first;        /* else those of the run from here */
	const struct tel_event *ev;
};

/* ---------------------------------------------------------------- logs */

/* Copies the metadata of a log, which may end before the table starts. */
static void
take_log(struct arrow *a, const struct tel_log *log)
{
	(void)snprintf(a->format, sizeof(a->format), "%s",
	    log->origin != NULL ? log->origin : log->format);
	(void)snprintf(a->schema, sizeof(a->schema), "%s", log->schema->name);
	(void)snprintf(a->version, sizeof(a->version), "%s",
	    log->schema->version);
	a->rate = tel__clock_rate(log->clock);
	a->has_epoch = tel__clock_epoch(log->clock, &a->epoch);
}

/* Adds the log's own metadata, as "log." and its key. */
static tel_status
arrow_take_metadata(struct arrow *a, const struct tel__metadata *m)
{
	tel_status st = TEL_OK;
	char key[TEL__METADATA_KEY + 8];

	for (size_t i = 0; m != NULL && i < m->count && st == TEL_OK; i++) {
		(void)snprintf(key, sizeof(key), "log.%s", m->entries[i].key);
		st = tel_table_set_metadata(a->table, key, m->entries[i].value);
	}
	return st;
}

/* Fixes the columns.  TEL_OK, TEL_ENOMEM. */
static tel_status
start_table(struct tel_printer *pr)
{
	struct arrow *a = pr->state;

	if (a->table->started)
		return TEL_OK;
	if (pr->columns == NULL) {
		a->other =
		    tel__arrow_add_column(a, "other", "", tel__arrow_name);
		if (a->other < 0)
			return TEL_ENOMEM;
	}
	return tel__table_start(a->table);
}

/* Nonzero when a field has a column with room for its values. */
static int
arrow_fits(const struct arrow *a, const struct tel_field *f)
{
	const struct arrow_place *p = tel__arrow_find(a, f);

	return p != NULL &&
	    a->table->columns[p->column].kind.bytes >= tel__arrow_bytes(f) &&
	    (p->label >= 0 || !tel_field_labelled(f));
}

/* A table of one type cannot have other columns in a later log. */
static tel_status
arrow_check_type(struct tel_printer *pr, const struct tel_schema *schema)
{
	const struct tel_type *type = tel_schema_find_type(schema, pr->columns);

	if (type == NULL)
		return tel__render_fail(pr,
		    "the log has no event type with the name requested for "
		    "columns");
	for (unsigned i = 0; i < render_count(pr, type); i++) {
		int at = render_field(pr, type, i);

		if (at >= 0 && !arrow_fits(pr->state, &type->fields[at]))
			return tel__render_fail(pr,
			    "field '%.64s' has no column: the log before has "
			    "another type of that name",
			    type->fields[at].name);
	}
	return TEL_OK;
}

static tel_status
arrow_begin_log(struct tel_printer *pr, const struct tel_event *ev)
{
	tel_status st = tel__arrow_open(pr);
	struct arrow *a = pr->state;
	int first = st == TEL_OK && !a->table->started;

	if (first && !a->given)
		st = tel__arrow_add_schema(pr, ev->type->schema, NULL);
	if (first && st == TEL_OK) {
		take_log(a, ev->log);
		st = arrow_take_metadata(a, ev->log->metadata);
	}
	if (st == TEL_OK && pr->columns != NULL)
		st = arrow_check_type(pr, ev->type->schema);
	if (st == TEL_OK)
		st = start_table(pr);
	/* the programs that had slots are gone */
	if (st == TEL_OK && pr->fresh) {
		for (size_t i = 0; i < a->nplans; i++)
			free(a->plans[i].cells);
		a->nplans = 0;
	}
	return st;
}

/* Sets the metadata of the schema, before it is written. */
static tel_status
arrow_set_metadata(struct tel_printer *pr, struct arrow *a)
{
	char rate[TEL_PUT_MAX] = "", epoch[24] = "";
	const char *const pairs[] = { "tel.format", a->format, "tel.schema",
		a->schema, "tel.version", a->version, "tel.clock.unit",
		pr->time == TEL_TIME_TICKS || pr->time == TEL_TIME_RELATIVE ||
		        pr->time == TEL_TIME_DELTA ?
		    "tick" :
		    "ns",
		"tel.clock.hz", rate, "tel.clock.epoch-ns", epoch };
	tel_status st = TEL_OK;

	if (a->rate > 0)
		*tel__put_general((unsigned char *)rate, 17, a->rate) = '\0';
	if (a->has_epoch)
		(void)snprintf(epoch, sizeof(epoch), "%" PRId64, a->epoch);
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]) && st == TEL_OK;
	     i += 2)
		if (pairs[i + 1][0] != '\0')
			st = tel_table_set_metadata(a->table, pairs[i],
			    pairs[i + 1]);
	return st;
}

/* Writes the rows so far. */
static tel_status
write_rows(struct tel_printer *pr)
{
	struct arrow *a = pr->state;
	tel_status st = TEL_OK;

	if (!a->table->written)
		st = arrow_set_metadata(pr, a);
	return st == TEL_OK ? tel__table_write(a->table) : st;
}

/* --------------------------------------------------------------- plans */

/* Renders the fields of a type that have no column. */
static struct render_program *
arrow_compile(struct tel_printer *pr, const struct tel_type *type)
{
	struct arrow *a = pr->state;
	const char *first = "";
	struct render_builder b;

	tel__render_start(&b, type, LABELS_TEXT);
	if (type == NULL) {
		tel__render_text_fields(pr, &b, NULL, "", 0);
		return tel__render_end(&b);
	}
	for (unsigned i = 0; i < render_count(pr, type); i++) {
		int at = render_field(pr, type, i);

		if (at < 0 || arrow_fits(a, &type->fields[at]))
			continue;
		tel__render_add(&b, first);
		tel__render_text_field(pr, &b, type, (unsigned)at, 0);
		first = " ";
	}
	return tel__render_end(&b);
}

/* Plans the cells of a type.  1, or 0: no memory. */
static int
plan_cells(struct tel_printer *pr, const struct tel_type *type,
    struct arrow_plan *plan)
{
	struct arrow *a = pr->state;
	const unsigned n = render_count(pr, type);

	plan->cells = calloc(n + 1u, sizeof(*plan->cells));
	if (plan->cells == NULL)
		return 0;
	for (unsigned i = 0; i < n; i++) {
		int at = render_field(pr, type, i);

		if (at < 0)
			continue;
		const struct tel_field *f = &type->fields[at];
		if (!arrow_fits(a, f)) {
			plan->other = 1;
			continue;
		}
		const struct arrow_place *p = tel__arrow_find(a, f);
		struct arrow_cell *c = &plan->cells[plan->n++];
		c->field = f;
		c->offset = f->offset;
		c->column = &a->table->columns[p->column];
		c->extend = p->class == AS_SIGNED &&
		    tel__arrow_bytes(f) < c->column->kind.bytes;
		c->simple = f->load == TEL_LOAD_LE64 && f->present == 0 &&
		    c->column->kind.bytes == 8 &&
		    c->column->kind.type != TABLE_BOOLEAN;
		plan->one_by_one |= p->class >= AS_TEXT;
		if (!tel_field_labelled(f))
			continue;
		plan->labelled = 1;
		plan->enums |= f->space == TEL_SPACE_ENUM;
		c->label = &a->table->columns[p->label];
		c->space = tel_field_space(type->schema, f);
	}
	return 1;
}

/* Makes the plan for events of a type, whose program is g.  1, or 0. */
static int
arrow_make_plan(struct tel_printer *pr, struct render_program *g)
{
	struct arrow *a = pr->state;
	const struct tel_type *type = g->type;

	if (!TEL__RESERVE(a->plans, a->plans_room, a->nplans + 1))
		return 0;
	struct arrow_plan *plan = &a->plans[a->nplans];
	memset(plan, 0, sizeof(*plan));
	if (type == NULL) {
		plan->other = a->other >= 0;
	} else if (!plan_cells(pr, type, plan)) {
		return 0;
	}
	plan->one_by_one |= plan->other || type == NULL;
	a->nplans++;
	g->slot = (uint32_t)a->nplans;
	return type == NULL || a->type < 0 ||
	    (tel__table_name(&a->table->dictionaries[a->types], type->name,
	         type->name_length, &plan->type) &&
	        tel__table_name(&a->table->dictionaries[a->kinds], type->kind,
	            strlen(type->kind), &plan->kind));
}

/* The plan for events of a type, made if need be; NULL: no memory. */
static struct arrow_plan *
find_plan(struct tel_printer *pr, const struct tel_type *type)
{
	struct render_program *g = render_program_for(pr, type);
	struct arrow *a = pr->state;

	if (g == NULL || (g->slot == 0 && !arrow_make_plan(pr, g)))
		return NULL;
	return &a->plans[g->slot - 1];
}

/* -------------------------------------------------------------- values */

static inline const struct tel_event *
event_of(const struct rows *r, size_t i)
{
	return r->run == NULL ? r->ev : run_view(r->run, r->first + i);
}

/*
 * Copies the values of a field.  Inlined for the usual way to load, of which
 * the compiler makes a loop without a branch.
 */
static inline __attribute__((always_inline)) void
copy_as(unsigned char *to, const struct rows *r, const struct tel_field *f,
    enum tel_load load, unsigned bytes)
{
	const struct tel_field as = { .load = load,
		.offset = f->offset,
		.bit = f->bit };
	const unsigned char *const *const data = r->data;
	const size_t n = r->n;

	for (size_t i = 0; i < n; i++) {
		uint64_t v = tel_load(&as, data[i]);

		switch (bytes) {
		case 8: tel_store_le64(to + 8 * i, v); break;
		case 4: tel_store_le32(to + 4 * i, (uint32_t)v); break;
		case 2: tel_store(to + 2 * i, v, 2, 0); break;
		default: to[i] = (unsigned char)v;
		}
	}
}

static void
arrow_copy_numbers(unsigned char *to, const struct rows *r,
    const struct arrow_cell *c)
{
	const struct tel_field *f = c->field;

	if (f->load == TEL_LOAD_LE64)
		copy_as(to, r, f, TEL_LOAD_LE64, 8);
	else
		copy_as(to, r, f, f->load, c->column->kind.bytes);
}

/* The same for numbers whose sign is to be extended. */
static void
copy_signed(unsigned char *to, const struct rows *r, const struct arrow_cell *c)
{
	const unsigned bytes = c->column->kind.bytes;
	const uint64_t sign = (uint64_t)1
	    << (8 * tel__arrow_bytes(c->field) - 1);

	for (size_t i = 0; i < r->n; i++)
		tel_store(to + bytes * i,
		    ((tel_load(c->field, r->data[i]) & (2 * sign - 1)) ^ sign) -
		        sign,
		    bytes, 0);
}

static void
arrow_copy_bits(unsigned char *to, const struct rows *r,
    const struct tel_field *f, size_t row)
{
	for (size_t i = 0; i < r->n; i++, row++)
		if (tel_load(f, r->data[i]) != 0)
			to[row / 8] |= (unsigned char)(1u << row % 8);
}

/* Puts a text into a column of the row of one event.  1, or 0: no memory. */
static int
arrow_put_text(struct arrow *a, const struct table_column *c, const char *text,
    size_t n)
{
	return tel_table_put_text(a->table, (int)(c - a->table->columns), text,
	           n) == TEL_OK;
}

/* Puts the label of a field's value.  1, or 0: no memory. */
static int
arrow_put_label(struct arrow *a, const struct arrow_cell *c,
    const struct tel_event *ev, uint64_t value, size_t row)
{
	struct tel_label label;
	uint32_t number;

	if (!tel_find_label_at(ev, (unsigned)(c->field - ev->type->fields),
	        c->space, value, &label) ||
	    label.string == NULL)
		return 1;
	unsigned char *to = table_values(a->table, c->label, row, 1);
	if (to == NULL ||
	    !tel__table_name(&a->table->dictionaries[a->labels], label.string,
	        label.length, &number))
		return 0;
	tel_store_le32(to + 4 * row, number);
	return 1;
}

/* Puts the labels of a field's values.  1, or 0: no memory. */
static int
arrow_put_labels(struct arrow *a, const struct rows *r,
    const struct arrow_cell *c)
{
	for (size_t i = 0; i < r->n; i++)
		if (!arrow_put_label(a, c, event_of(r, i),
		        tel_load(c->field, r->data[i]), a->table->rows + i))
			return 0;
	return 1;
}

static int
arrow_put_list(struct arrow *a, const struct rows *r,
    const struct arrow_cell *c)
{
	int done = tel__table_start_list(a->table, c->column);
	struct tel_list l;
	size_t n;

	tel_list_open(event_of(r, 0), c->field, &l);
	while (done && l.count > 0)
		if (l.field.datatype == TEL_STRING) {
			const char *text = tel_list_next_string(&l, &n);

			done =
			    tel__table_add_text(a->table, c->column, text, n);
		} else {
			done = tel__table_add_number(a->table, c->column,
			    tel_list_next(&l));
		}
	return done;
}

/* Puts a string.  1, or 0: no memory. */
static int
arrow_put_string(struct arrow *a, const struct rows *r,
    const struct arrow_cell *c)
{
	size_t n;
	const char *text = tel_load_string(event_of(r, 0), c->field, &n);

	return arrow_put_text(a, c->column, text, n);
}

/* Puts the values of a field, from a row on.  1, or 0: no memory. */
static int
put_numbers(struct arrow *a, const struct rows *r, const struct arrow_cell *c,
    size_t row)
{
	unsigned char *to = table_values(a->table, c->column, row, r->n);

	if (to == NULL)
		return 0;
	if (c->column->kind.type == TABLE_BOOLEAN)
		arrow_copy_bits(to, r, c->field, row);
	else if (c->extend)
		copy_signed(to + row * c->column->kind.bytes, r, c);
	else
		arrow_copy_numbers(to + row * c->column->kind.bytes, r, c);
	return 1;
}

/* Puts the values of a field where it is present.  1, or 0: no memory. */
static int
put_cell(struct arrow *a, const struct rows *r, const struct arrow_cell *c)
{
	const size_t row = a->table->rows;
	struct rows one = *r;

	if (c->field->datatype == TEL_STRING || c->field->datatype == TEL_LIST)
		return !tel_present(c->field, r->data[0]) ||
		    (c->field->datatype == TEL_LIST ?
		            arrow_put_list(a, r, c) :
		            arrow_put_string(a, r, c));
	if (c->field->present == 0)
		return put_numbers(a, r, c, row);
	one.n = 1;
	for (size_t i = 0; i < r->n; i++) {
		one.data = r->data + i;
		if (tel_present(c->field, r->data[i]) &&
		    !put_numbers(a, &one, c, row + i))
			return 0;
	}
	return 1;
}

/* The difference of two clocks.  1; 0 when it does not fit. */
static int
arrow_difference(uint64_t clock, uint64_t since, int64_t *out)
{
	*out = (int64_t)(clock - since);
	return (*out >= 0) == (clock >= since);
}

/* The time of an event as it is shown.  1, or 0 when it has none. */
static int
arrow_find_time(const struct tel_printer *pr, const struct tel_event *ev,
    int64_t *out)
{
	struct tel_clock *clock = ev->log->clock;

	*out = (int64_t)ev->clock;
	if (tel_event_timeless(ev))
		return 0;
	switch (pr->time) {
	case TEL_TIME_TICKS: return 1;
	case TEL_TIME_SECONDS:
	case TEL_TIME_NS: *out = tel__clock_ns(clock, ev->clock); return 1;
	case TEL_TIME_RELATIVE:
		return arrow_difference(ev->clock, tel__clock_origin(clock),
		    out);
	case TEL_TIME_DELTA:
		return arrow_difference(ev->clock,
		    pr->has_previous ? pr->previous : ev->clock, out);
	case TEL_TIME_ISO: return tel__clock_wall(clock, ev->clock, out);
	}
	return 0;
}

/* Puts the time, or the clock, of each event.  1, or 0: no memory. */
static int
put_times(struct tel_printer *pr, const struct rows *r)
{
	struct arrow *a = pr->state;
	struct table_column *c = &a->table->columns[a->clock];
	const size_t row = a->table->rows;
	int64_t time;

	if (pr->time == TEL_TIME_TICKS && !pr->schema->untimed) {
		unsigned char *to = table_values(a->table, c, row, r->n);

		for (size_t i = 0; to != NULL && i < r->n; i++)
			tel_store_le64(to + 8 * (row + i), r->clocks[i]);
		return to != NULL;
	}
	for (size_t i = 0; i < r->n; i++) {
		const struct tel_event *ev = event_of(r, i);
		int has = arrow_find_time(pr, ev, &time);

		pr->previous = ev->clock;
		pr->has_previous = 1;
		if (!has)
			continue;
		unsigned char *to = table_values(a->table, c, row + i, 1);
		if (to == NULL)
			return 0;
		tel_store_le64(to + 8 * (row + i), (uint64_t)time);
	}
	return 1;
}

/* Puts the same name in each row.  1, or 0: no memory. */
static inline int
arrow_put_name(struct arrow *a, int column, uint32_t number, size_t n)
{
	if (column < 0)
		return 1;
	struct table_column *c = &a->table->columns[column];
	if (!c->touched && !tel__table_touch(a->table, c))
		return 0;
	/* it is required, so no bits say that it is there */
	unsigned char *to = c->values + 4 * a->table->rows;
	for (size_t i = 0; i < n; i++)
		tel_store_le32(to + 4 * i, number);
	return 1;
}

/* Puts what names the type.  1, or 0: no memory. */
static int
put_type(struct arrow *a, const struct rows *r, const struct arrow_plan *plan,
    const struct tel_type *type)
{
	uint32_t number = plan->type, kind = plan->kind;
	char name[16];

	if (a->type >= 0 && type->unknown) {
		(void)snprintf(name, sizeof(name), "0x%04" PRIX32, type->code);
		if (!tel__table_name(&a->table->dictionaries[a->types], name,
		        strlen(name), &number) ||
		    !tel__table_name(&a->table->dictionaries[a->kinds],
		        "Unknown", 7, &kind))
			return 0;
	}
	return arrow_put_name(a, a->type, number, r->n) &&
	    arrow_put_name(a, a->kind, kind, r->n);
}

/* Puts what has no column, as text. */
static tel_status
arrow_put_other(struct tel_printer *pr, const struct tel_event *ev)
{
	struct render_program *g = render_program_for(pr, ev->type);
	struct arrow *a = pr->state;
	struct tel_output *out = pr->out;

	if (g == NULL)
		return TEL_ENOMEM;
	a->text.used = 0;
	pr->out = a->scratch;
	tel_status st = tel__render_run(pr, g, ev);
	if (st == TEL_OK)
		st = tel__output_spill(a->scratch);
	pr->out = out;
	if (st != TEL_OK || a->text.used == 0)
		return st;
	return arrow_put_text(a, &a->table->columns[a->other],
	           (const char *)a->text.bytes, a->text.used) ?
	    TEL_OK :
	    TEL_ENOMEM;
}

/* Puts events of one type, for which the batch has room. */
static tel_status
put_rows(struct tel_printer *pr, const struct rows *r,
    const struct arrow_plan *plan, const struct tel_type *type, int labelled)
{
	struct arrow *a = pr->state;
	tel_status st = TEL_OK;

	if (!put_times(pr, r) || !put_type(a, r, plan, type))
		return TEL_ENOMEM;
	for (unsigned i = 0; i < plan->n; i++)
		if (!put_cell(a, r, &plan->cells[i]) ||
		    ((labelled || plan->enums) &&
		        plan->cells[i].label != NULL &&
		        !arrow_put_labels(a, r, &plan->cells[i])))
			return TEL_ENOMEM;
	if (plan->other)
		st = arrow_put_other(pr, event_of(r, 0));
	a->table->rows += r->n;
	return st;
}

static int
is_shown(const struct tel_printer *pr, const struct tel_type *type)
{
	return pr->columns == NULL ||
	    (!type->unknown && strcmp(type->name, pr->columns) == 0);
}

/* Has room for a row, and the rate of the clock. */
static tel_status
make_room(struct tel_printer *pr, const struct tel_log *log)
{
	struct arrow *a = pr->state;

	if (!a->table->written)
		a->rate = tel__clock_rate(log->clock);
	if (a->table->rows < a->table->most && !a->table->full)
		return TEL_OK;
	return write_rows(pr);
}

static tel_status
arrow_event(struct tel_printer *pr, const struct tel_event *ev)
{
	const struct rows r = { &ev->data, &ev->clock, 1, NULL, 0, ev };

	if (!is_shown(pr, ev->type))
		return TEL_OK;
	tel_status st = make_room(pr, ev->log);
	if (st != TEL_OK)
		return st;
	const struct arrow_plan *plan = find_plan(pr, ev->type);
	if (plan == NULL)
		return TEL_ENOMEM;
	return put_rows(pr, &r, plan, ev->type,
	    ev->inline_size != 0 || tel__labels_count(ev->log->labels) != 0);
}

/* Gives all columns of a plan, and the common ones, memory.  1, or 0. */
static int
touch_all(struct arrow *a, struct arrow_plan *plan)
{
	struct tel_table *t = a->table;

	for (unsigned i = 0; i < plan->n; i++) {
		struct table_column *c = plan->cells[i].column;

		if (!c->touched && !tel__table_touch(t, c))
			return 0;
	}
	struct table_column *c = &t->columns[a->clock];
	if (!c->touched && !tel__table_touch(t, c))
		return 0;
	plan->batch = t->batch;
	return 1;
}

/*
 * Puts an event of a type without text in the row: what put_rows() does, for
 * types that change from event to event.  1, or 0: no memory.
 */
static inline int
put_one(struct arrow *a, struct arrow_plan *plan, const struct rows *r,
    int labelled)
{
	const size_t row = a->table->rows;
	const unsigned char bit = (unsigned char)(1u << row % 8);
	const unsigned char *data = r->data[0];
	const struct tel_event *ev = NULL;
	const struct arrow_cell *c = plan->cells, *end = c + plan->n;
	uint64_t v;

	if (plan->batch != a->table->batch && !touch_all(a, plan))
		return 0;
	if ((labelled && plan->labelled) || plan->enums)
		ev = event_of(r, 0);
	struct table_column *column = &a->table->columns[a->clock];
	tel_store_le64(column->values + 8 * row, r->clocks[0]);
	column->valid[row / 8] |= bit;
	if (!arrow_put_name(a, a->type, plan->type, 1) ||
	    !arrow_put_name(a, a->kind, plan->kind, 1))
		return 0;
	for (; c < end; c++) {
		column = c->column;
		if (!c->simple) {
			if (!put_cell(a, r, c))
				return 0;
			v = ev != NULL ? tel_load(c->field, data) : 0;
		} else {
			v = tel_le64(data + c->offset);
			tel_store_le64(column->values + 8 * row, v);
			column->valid[row / 8] |= bit;
		}
		if (ev != NULL && c->label != NULL &&
		    !arrow_put_label(a, c, ev, v, row))
			return 0;
	}
	return 1;
}

/*
 * How many events from number i on are of one type, with a plan for several at
 * once, and have room: 0 when an event is better put by itself.
 */
static size_t
count_rows(const struct arrow *a, const struct tel_run *run, size_t i)
{
	const size_t room = a->table->most - a->table->rows;
	const size_t most = run->count - i < room ? run->count - i : room;
	const uint32_t type = run->types[i];
	size_t n = 1;

	if (most < SEVERAL || run->types[i + SEVERAL - 1] != type)
		return 0;
	while (n < most && run->types[i + n] == type)
		n++;
	return n < SEVERAL ? 0 : n;
}

static tel_status
take_run(struct tel_printer *pr, struct tel_run *run)
{
	const struct tel_event *any = run->event;
	const int labelled =
	    any->inline_size != 0 || tel__labels_count(any->log->labels) != 0;
	const int plain = pr->time == TEL_TIME_TICKS && !pr->schema->untimed;
	struct arrow *a = pr->state;
	tel_status st = TEL_OK;
	struct rows r;

	for (size_t i = 0; i < run->count && st == TEL_OK; i += r.n) {
		st = make_room(pr, any->log);
		if (st != TEL_OK)
			return st;
		struct arrow_plan *plan = find_plan(pr, run_type(run, i));
		if (plan == NULL)
			return TEL_ENOMEM;
		r = (struct rows){ run->data + i, run->clocks + i, 1, run, i,
			NULL };
		if (pr->columns != NULL && !is_shown(pr, run_type(run, i)))
			continue;
		if (!plan->one_by_one)
			r.n = count_rows(a, run, i);
		if (r.n > 0 || !plain) {
			r.n += r.n == 0;
			st = put_rows(pr, &r, plan, run_type(run, i), labelled);
			continue;
		}
		r.n = 1;
		if (!put_one(a, plan, &r, labelled))
			return TEL_ENOMEM;
		a->table->rows++;
	}
	return st;
}

static tel_status
arrow_flush(struct tel_printer *pr)
{
	struct arrow *a = pr->state;

	return a == NULL || a->table->rows == 0 ? TEL_OK : write_rows(pr);
}

static tel_status
arrow_finish(struct tel_printer *pr)
{
	tel_status st = tel__arrow_open(pr);
	struct arrow *a = pr->state;

	if (st == TEL_OK)
		st = start_table(pr);
	if (st == TEL_OK && !a->table->finished)
		st = write_rows(pr);
	return st == TEL_OK ? tel_table_finish(a->table) : st;
}

static void
arrow_release(struct tel_printer *pr)
{
	struct arrow *a = pr->state;

	for (size_t i = 0; i < a->nplans; i++)
		free(a->plans[i].cells);
	free(a->plans);
	for (size_t i = 0; i < a->nplaces; i++)
		free(a->places[i].name);
	free(a->places);
	tel__index_clear(&a->by_name);
	tel__index_clear(&a->by_column);
	tel_table_free(a->table);
	tel_output_free(a->scratch);
	tel__buffer_clear(&a->text);
}

const struct tel_renderer tel__renderer_arrow = {
	.name = "arrow",
	.flags = TEL_PRINTER_FIELDS | TEL_PRINTER_COLUMNS | TEL_PRINTER_BINARY |
	    TEL_PRINTER_TABLE,
	.schema = tel__arrow_take_schema,
	.begin_log = arrow_begin_log,
	.compile = arrow_compile,
	.event = arrow_event,
	.run = take_run,
	.flush = arrow_flush,
	.finish = arrow_finish,
	.release = arrow_release,
};
