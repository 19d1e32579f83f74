/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which labels an event shows is decided as whoever reads the stream that is
 * written will: by the labels before it, and its clock.  A stream may also
 * be sorted before it is read, and in the log a label may be behind an
 * event that is later than it, as the MPS writes the newest of a buffer
 * first.  So for all addresses that were written the latest clock is kept, in
 * a table that takes some addresses for one: a label that may be in force for
 * one of them is written at once.
 */
#include "encoder/tracker.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/table.h"

/* Places in the table of addresses: they fit a processor's first cache. */
#define STAMP_BITS 11
#define STAMPS ((size_t)1 << STAMP_BITS)
/* The bit of a stamp that is set if a label is held for such an address. */
#define MARK ((uint64_t)1 << 63)

/* A copy of an event. */
struct held {
	struct tel_event ev;
	size_t size;
	unsigned char bytes[];
};

/* Copies of events, up to a number of bytes. */
struct copies {
	size_t bytes; /* that are held */
	size_t most;
};

/* A field that may have labels. */
struct labelled_field {
	const struct tel_field *field;
	enum tel_load load;
	uint16_t offset;
};

/* Those of a type: from first to before last. */
struct labelled_range {
	uint32_t first, last;
	int followed; /* tel_type_is_followed() of the type */
};

struct labelled {
	const struct tel_schema *schema; /* NULL: none yet */
	struct labelled_range *ranges;   /* by a type's index */
	struct labelled_field *all;
	int le64; /* all of them are loaded by TEL_LOAD_LE64 */
};

struct string {
	struct held *held; /* NULL: written, or not seen yet */
	char *text;        /* NULL: not seen yet */
	size_t length;
	int used; /* a label with its number was written */
};

struct label {
	struct held *held; /* NULL: written */
	uint64_t id;       /* of the string */
	uint64_t clock;
	size_t slot;
};

struct tracker {
	tracker_put_fn *put;
	tracker_build_fn *is_build;
	void *arg;
	struct copies held;       /* the events that are held */
	struct tel_labels *names; /* "id" is a place in labels */
	struct label *labels;
	size_t nlabels, label_room;
	struct tel__table ids; /* string numbers to places in strings */
	size_t max;            /* strings */
	struct string *strings;
	size_t nstrings, string_room;

	struct labelled labelled; /* of the schema of the last event */

	/* 1 + the latest clock, of 63 bits, 0 for none; and MARK */
	uint64_t stamps[STAMPS];
	uint32_t marks[STAMPS]; /* labels that are held for these addresses */
};

/* ------------------------------------------------------ copies of events */

/*
 * The most bytes that an event may take on the average, and what a copy takes
 * besides those of the event: the same on each machine, so that neither copies
 * nor output depend on the size of a pointer.
 */
#define HELD_AVERAGE 256
#define HELD_BESIDES 104
_Static_assert(sizeof(struct held) <= HELD_BESIDES, "more than is counted");

static void
begin_copies(struct copies *p, size_t max)
{
	p->bytes = 0;
	p->most = max * HELD_AVERAGE;
}

static tel_status
tracker_copy_event(struct copies *p, const struct tel_event *ev,
    struct held **out)
{
	const size_t bytes = ev->size + ev->inline_size + ev->raw_size;
	const size_t size = HELD_BESIDES + bytes;
	struct held *h;

	if (size > p->most - p->bytes)
		return TEL_ELIMIT;
	h = malloc(sizeof(*h) + bytes);
	if (h == NULL)
		return TEL_ENOMEM;
	h->ev = *ev;
	/* the lines before it were written separately */
	h->ev.lead_size = 0;
	h->size = size;
	tel_event_copy(h->bytes, &h->ev);
	tel_event_place(&h->ev, h->bytes);
	p->bytes += size;
	*out = h;
	return TEL_OK;
}

static void
drop_copy(struct copies *p, struct held **h)
{
	if (*h != NULL)
		p->bytes -= (*h)->size;
	free(*h);
	*h = NULL;
}

/* ---------------------------------------------------- fields with labels */

static void
free_labelled(struct labelled *out)
{
	free(out->ranges);
	free(out->all);
	memset(out, 0, sizeof(*out));
}

static tel_status
find_labelled(struct labelled *out, const struct tel_schema *s)
{
	struct labelled_range *ranges;
	struct labelled_field *all;
	uint32_t n = 0;
	unsigned i, j;

	for (i = 0; i < s->ntypes; i++)
		n += s->types[i].nfields;
	ranges = calloc((size_t)s->ntypes + 1, sizeof(*ranges));
	all = calloc((size_t)n + 1, sizeof(*all));
	free_labelled(out);
	out->ranges = ranges;
	out->all = all;
	if (ranges == NULL || all == NULL)
		return TEL_ENOMEM;
	out->le64 = 1;
	for (n = 0, i = 0; i < s->ntypes; i++) {
		const struct tel_type *t = &s->types[i];

		ranges[t->index].first = n;
		ranges[t->index].followed = tel_type_is_followed(t);
		for (j = 0; j < t->nfields; j++) {
			const struct tel_field *f = &t->fields[j];

			if (!tel_field_from_log(f))
				continue;
			all[n].field = f;
			all[n].load = f->load;
			out->le64 &= f->load == TEL_LOAD_LE64;
			all[n++].offset = f->offset;
		}
		ranges[t->index].last = n;
	}
	out->schema = s;
	return TEL_OK;
}

/* --------------------------------------------------------------- tracking */

struct tracker *
tel__tracker_new(size_t max, tracker_put_fn *put, tracker_build_fn *is_build,
    void *arg)
{
	struct tracker *k = calloc(1, sizeof(*k));

	if (k == NULL)
		return NULL;
	k->put = put;
	k->is_build = is_build;
	k->arg = arg;
	begin_copies(&k->held, max);
	k->names = tel__labels_new(max);
	k->max = max;
	tel__table_init(&k->ids);
	if (k->names != NULL)
		return k;
	tel__tracker_free(k);
	return NULL;
}

void
tel__tracker_free(struct tracker *k)
{
	if (k == NULL)
		return;
	for (size_t i = 0; i < k->nlabels; i++)
		free(k->labels[i].held);
	for (size_t i = 0; i < k->nstrings; i++) {
		free(k->strings[i].held);
		free(k->strings[i].text);
	}
	free(k->labels);
	free(k->strings);
	tel__labels_free(k->names);
	tel__table_clear(&k->ids);
	free_labelled(&k->labelled);
	free(k);
}

/* The last step of Fibonacci hashing (Knuth, vol. 3, 6.4). */
static inline size_t
slot_of(uint64_t address)
{
	return (size_t)(address * 0x9e3779b97f4a7c15u >> (64 - STAMP_BITS));
}

/* What a clock is in a stamp. */
static inline uint64_t
stamp_of(uint64_t clock)
{
	return clock < MARK - 1 ? clock + 1 : MARK - 1;
}

/* Writes the events that are held. */
static tel_status
tracker_put_held(struct tracker *k, struct held **h)
{
	tel_status st = TEL_OK;

	if (*h != NULL)
		st = k->put(k->arg, &(*h)->ev);
	drop_copy(&k->held, h);
	return st;
}

/* The string number id, made when it is new.  TEL_OK, _ELIMIT, _ENOMEM. */
static tel_status
string_of(struct tracker *k, uint64_t id, struct string **out)
{
	struct tel__entry *e = tel__table_find(&k->ids, id);
	int fresh;

	if (e == NULL) {
		if (k->nstrings >= k->max)
			return TEL_ELIMIT;
		if (!TEL__RESERVE(k->strings, k->string_room,
		        k->nstrings + 1) ||
		    (e = tel__table_put(&k->ids, id, &fresh)) == NULL)
			return TEL_ENOMEM;
		memset(&k->strings[k->nstrings], 0, sizeof(*k->strings));
		e->value = k->nstrings++;
	}
	*out = &k->strings[e->value];
	return TEL_OK;
}

/* A label with the string number id is written: the string before it. */
static tel_status
use_string(struct tracker *k, uint64_t id)
{
	struct string *s;
	tel_status st = string_of(k, id, &s);

	if (st != TEL_OK)
		return st == TEL_ELIMIT ? TEL_OK : st;
	s->used = 1;
	return tracker_put_held(k, &s->held);
}

/* One label less is held for an address. */
static void
unmark(struct tracker *k, const struct label *l)
{
	if (--k->marks[l->slot] == 0)
		k->stamps[l->slot] &= ~MARK;
}

static tel_status
tracker_put_label(struct tracker *k, struct label *l)
{
	if (l->held == NULL)
		return TEL_OK;
	unmark(k, l);
	tel_status st = use_string(k, l->id);
	if (st != TEL_OK) {
		drop_copy(&k->held, &l->held);
		return st;
	}
	return tracker_put_held(k, &l->held);
}

/* Notes a string.  TEL_END: it is to be written now. */
static tel_status
tracker_take_string(struct tracker *k, const struct tel_event *ev, int wanted)
{
	const struct tel_type *t = ev->type;
	struct string *s;
	const char *text;
	size_t n;
	tel_status st;

	text = tel_load_string(ev, &t->fields[t->role_field[1]], &n);
	wanted |= k->is_build(k->arg, ev->type->schema, text, n);
	st = string_of(k, tel_load(&t->fields[t->role_field[0]], ev->data), &s);
	if (st == TEL_ELIMIT)
		return TEL_END;
	if (st != TEL_OK)
		return st;
	if (s->text != NULL && s->length == n &&
	    memcmp(s->text, text, n) == 0) {
		/* a second one like it adds nothing */
		if (wanted)
			drop_copy(&k->held, &s->held);
		return wanted ? TEL_END : TEL_OK;
	}
	char *copy = tel__copy_string(text, n);
	if (copy == NULL)
		return TEL_ENOMEM;
	free(s->text);
	s->text = copy;
	s->length = n;
	drop_copy(&k->held, &s->held);
	if (wanted || s->used)
		return TEL_END;
	st = tracker_copy_event(&k->held, ev, &s->held);
	return st == TEL_ELIMIT ? TEL_END : st;
}

/* A label that was written before. */
static tel_status
again(struct tracker *k, struct label *l, int wanted)
{
	if (!wanted)
		return TEL_OK;
	if (l->held != NULL)
		unmark(k, l);
	drop_copy(&k->held, &l->held);
	return TEL_END;
}

/* Notes a label.  TEL_END: it is to be written now. */
static tel_status
take_label(struct tracker *k, const struct tel_event *ev, int wanted)
{
	const struct tel_type *t = ev->type;
	enum tel_space space =
	    t->role == TEL_ROLE_LABEL_P ? TEL_SPACE_POINTER : TEL_SPACE_ADDRESS;
	uint64_t at = tel_load(&t->fields[t->role_field[0]], ev->data);
	uint64_t id = tel_load(&t->fields[t->role_field[1]], ev->data);
	struct tel_label found;
	struct label *l;
	tel_status st;

	if (tel__labels_find(k->names, space, at, ev->clock, &found)) {
		l = &k->labels[found.id];
		if (l->id == id && l->clock == ev->clock)
			return again(k, l, wanted);
	}
	if (!TEL__RESERVE(k->labels, k->label_room, k->nlabels + 1))
		return TEL_ENOMEM;
	st = tel__labels_add(k->names, space, at, ev->clock, k->nlabels);
	if (st != TEL_OK)
		return st == TEL_ELIMIT ? TEL_END : st;
	l = &k->labels[k->nlabels++];
	l->held = NULL;
	l->id = id;
	l->clock = ev->clock;
	l->slot = slot_of(at);
	if (wanted || (k->stamps[l->slot] & ~MARK) >= stamp_of(ev->clock))
		return TEL_END;
	st = tracker_copy_event(&k->held, ev, &l->held);
	if (st != TEL_OK)
		return st == TEL_ELIMIT ? TEL_END : st;
	k->marks[l->slot]++;
	k->stamps[l->slot] |= MARK;
	return TEL_OK;
}

/* Writes the label that is in force for the value of f, if it is held. */
static tel_status
tracker_need(struct tracker *k, const struct tel_event *ev,
    const struct tel_field *f, uint64_t value)
{
	struct tel_label found;

	if (!tel__labels_find(k->names, tel_field_space(k->labelled.schema, f),
	        value, ev->clock, &found))
		return TEL_OK;
	return tracker_put_label(k, &k->labels[found.id]);
}

/* An event that is a string or a label. */
static tel_status
tracker_take(struct tracker *k, const struct tel_event *ev, int wanted)
{
	const struct tel_type *t = ev->type;

	if (t->role == TEL_ROLE_INTERN)
		return tracker_take_string(k, ev, wanted);
	tel_status st = take_label(k, ev, wanted);
	if (st == TEL_END) {
		st = use_string(k,
		    tel_load(&t->fields[t->role_field[1]], ev->data));
		if (st == TEL_OK)
			st = TEL_END;
	}
	return st;
}

tel_status
tel__tracker_before(struct tracker *k, const struct tel_event *ev)
{
	const struct tel_type *t = ev->type;
	const uint64_t stamp = stamp_of(ev->clock);
	const struct labelled_field *f, *last;

	if (t->unknown)
		return TEL_OK;
	if (k->labelled.schema != ev->type->schema &&
	    find_labelled(&k->labelled, ev->type->schema) != TEL_OK)
		return TEL_ENOMEM;
	if (tel_type_is_name(t)) {
		tel_status st = tracker_take(k, ev, 1);

		if (st != TEL_END)
			return st;
	}
	f = k->labelled.all + k->labelled.ranges[t->index].first;
	last = k->labelled.all + k->labelled.ranges[t->index].last;
	for (; f < last; f++) {
		/* nearly all are like this */
		const uint64_t value = f->load == TEL_LOAD_LE64 ?
		    tel_le64(ev->data + f->offset) :
		    tel_load(f->field, ev->data);
		uint64_t *slot = &k->stamps[slot_of(value)];

		if ((*slot & ~MARK) < stamp)
			*slot = stamp | (*slot & MARK);
		if ((*slot & MARK) == 0)
			continue;
		tel_status st = tracker_need(k, ev, f->field, value);
		if (st != TEL_OK)
			return st;
	}
	return TEL_OK;
}

/*
 * Notes the addresses of an event.  0: a label of one is held.  le64: all fields
 * are of 64 bits in little-endian order, which the compiler makes a copy for.
 */
static inline int
note_addresses(struct tracker *k, const struct labelled_range *range,
    const unsigned char *data, uint64_t stamp, int le64)
{
	const struct labelled_field *f = k->labelled.all + range->first;
	const struct labelled_field *last = k->labelled.all + range->last;

	for (; f < last; f++) {
		uint64_t value = le64 ? tel_le64(data + f->offset) :
		                        tel_load(f->field, data);
		uint64_t *slot = &k->stamps[slot_of(value)];

		/* one that is marked is greater than any stamp */
		if (*slot < stamp)
			*slot = stamp;
		else if ((*slot & MARK) != 0)
			return 0;
	}
	return 1;
}

static inline size_t
tracker_note_run(struct tracker *k, const struct tel_run *run, size_t from,
    int le64)
{
	const struct labelled_range *const ranges = k->labelled.ranges;
	const unsigned char *const *const data = run->data;
	const uint32_t *const types = run->types;
	const uint64_t *const clocks = run->clocks;
	const size_t n = run->count, ntypes = run->first->schema->ntypes;
	size_t i;

	for (i = from; i < n; i++)
		if (types[i] >= ntypes || ranges[types[i]].followed ||
		    !note_addresses(k, &ranges[types[i]], data[i],
		        stamp_of(clocks[i]), le64))
			break;
	return i - from;
}

size_t
tel__tracker_take(struct tracker *k, const struct tel_run *run, size_t from)
{
	if (k->labelled.schema != run->first->schema)
		return 0;
	return k->labelled.le64 ? tracker_note_run(k, run, from, 1) :
	                          tracker_note_run(k, run, from, 0);
}

tel_status
tel__tracker_pass(struct tracker *k, const struct tel_event *ev)
{
	const struct tel_type *t = ev->type;

	/* no event shows by itself which frames later ones need */
	if (t->role == TEL_ROLE_INIT || t->role == TEL_ROLE_SYNC ||
	    t->role == TEL_ROLE_FRAME)
		return k->put(k->arg, ev);
	if (!tel_type_is_name(t))
		return TEL_OK;
	tel_status st = tracker_take(k, ev, 0);
	return st == TEL_END ? k->put(k->arg, ev) : st;
}
