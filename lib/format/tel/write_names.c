/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names, clocks and versions that are in force after all blocks so far:
 * copies of the events that say so, without those that later ones supersede.
 * A cumulative names record has them, for readers that skip all of it.
 */
#include "format/tel/writer.h"

#include <stdlib.h>

#include "base/array.h"

/*
 * The most events that are kept, and bytes: what one record may have, where
 * each event is rounded up to 8 bytes.
 */
#define IN_FORCE_MAX 32768u
#define IN_FORCE_BYTES (NATIVE_ROWS_MAX - 8 * (size_t)IN_FORCE_MAX)

/* What an event defines; a later event with an equal key replaces it. */
struct out_key {
	const struct out_log *log;
	uint64_t value; /* an address, the number of a string, ticks */
	uint8_t role;
	uint8_t place; /* of a clock: the first, the second, the last */
};

/* An event that is in force. */
struct out_in_force {
	struct out_key key;
	struct out_schema *schema;
	struct out_log *log;
	uint64_t ordinal;
	struct tel_event ev;
	unsigned char *bytes;
};

/* A name that no event defines. */
struct out_named {
	struct out_log *log;
	struct out_schema *schema;
	enum tel_space space;
	uint64_t value, clock;
	size_t at, size; /* of the string in .strings */
};

struct out_names {
	struct out_in_force *list;
	size_t count, room;
	struct tel__table table; /* of hashes of keys, to places in the list */
	struct out_named *named;
	size_t nnamed, named_room;
	struct tel__buffer strings;
	size_t bytes; /* of the copies */
	int given_up; /* there were too many */
};

struct out_names *
tel__out_names_new(void)
{
	struct out_names *all = calloc(1, sizeof(*all));

	if (all != NULL)
		tel__table_init(&all->table);
	return all;
}

void
tel__out_names_clear(struct out_names *all)
{
	for (size_t i = 0; i < all->count; i++)
		free(all->list[i].bytes);
	all->count = all->nnamed = all->bytes = 0;
	all->strings.used = 0;
	all->given_up = 0;
	tel__table_clear(&all->table);
}

void
tel__out_names_free(struct out_names *all)
{
	if (all == NULL)
		return;
	tel__out_names_clear(all);
	free(all->list);
	free(all->named);
	tel__buffer_clear(&all->strings);
	free(all);
}

static uint64_t
hash_key(const struct out_key *key)
{
	unsigned char bytes[24];

	tel_store_le64(bytes, key->log->number);
	tel_store_le64(bytes + 8, key->value);
	tel_store_le64(bytes + 16, (uint64_t)key->role << 8 | key->place);
	return tel__native_xxh64(bytes, sizeof(bytes));
}

/*
 * The event in force of a key, made when there is none (then its bytes are
 * NULL).  NULL: no memory, or there are too many, which is noted.
 */
static struct out_in_force *
write_names_find(struct out_names *all, const struct out_key *key)
{
	struct tel__entry *e;
	int fresh;

	if (!TEL__RESERVE(all->list, all->room, all->count + 1))
		return NULL;
	e = tel__table_put(&all->table, hash_key(key), &fresh);
	if (e == NULL)
		return NULL;
	if (!fresh) {
		struct out_in_force *f = &all->list[e->value];

		/* equal hashes of different keys are forged: give up */
		if (f->key.log == key->log && f->key.value == key->value &&
		    f->key.role == key->role && f->key.place == key->place)
			return f;
		all->given_up = 1;
		return NULL;
	}
	e->value = all->count;
	struct out_in_force *f = &all->list[all->count++];
	memset(f, 0, sizeof(*f));
	f->key = *key;
	return f;
}

/* Puts the event where another one of its key was. */
static tel_status
write_names_put(struct out_names *all, struct out_in_force *f,
    struct out_log *log, struct out_schema *schema, const struct tel_event *ev,
    uint64_t ordinal)
{
	struct tel_event copy = *ev;

	copy.raw_size = copy.lead_size = 0;
	size_t size = (size_t)copy.size + copy.inline_size;
	unsigned char *bytes = malloc(size + 1);
	if (bytes == NULL)
		return TEL_ENOMEM;
	tel_event_copy(bytes, &copy);
	tel_event_place(&copy, bytes);
	if (f->bytes != NULL)
		all->bytes -= (size_t)f->ev.size + f->ev.inline_size;
	free(f->bytes);
	f->bytes = bytes;
	f->ev = copy;
	f->log = log;
	f->schema = schema;
	f->ordinal = ordinal;
	all->bytes += size;
	if (all->count > IN_FORCE_MAX || all->bytes > IN_FORCE_BYTES)
		all->given_up = 1;
	return TEL_OK;
}

/*
 * The first two points of a clock give its rate, and the last one the time: a
 * range after all of them needs no other.
 */
static tel_status
add_sync(struct out_names *all, struct out_log *log, struct out_schema *schema,
    const struct tel_event *ev, uint64_t ordinal)
{
	struct out_key key = { log, 0, TEL_ROLE_SYNC, 0 };

	for (; key.place < 2; key.place++) {
		struct out_in_force *f = write_names_find(all, &key);

		if (f == NULL || f->bytes == NULL)
			return f == NULL ?
			    TEL_ENOMEM :
			    write_names_put(all, f, log, schema, ev, ordinal);
	}
	struct out_in_force *f = write_names_find(all, &key);
	if (f == NULL)
		return TEL_ENOMEM;
	return f->bytes == NULL || ev->clock >= f->ev.clock ?
	    write_names_put(all, f, log, schema, ev, ordinal) :
	    TEL_OK;
}

/* A string, or a label: which it is one of. */
static tel_status
write_names_add_value(struct out_names *all, struct out_log *log,
    struct out_schema *schema, const struct tel_event *ev, uint64_t ordinal)
{
	const struct tel_type *t = ev->type;
	struct out_key key = { log, 0, t->role, 0 };

	if (!tel_type_is_name(t))
		return TEL_OK;
	key.value = tel_load(&t->fields[t->role_field[0]], ev->data);
	struct out_in_force *f = write_names_find(all, &key);
	if (f == NULL)
		return TEL_ENOMEM;
	/* a label is in force by its clock, a string by its place */
	return f->bytes == NULL || t->role == TEL_ROLE_INTERN ||
	        ev->clock >= f->ev.clock ?
	    write_names_put(all, f, log, schema, ev, ordinal) :
	    TEL_OK;
}

tel_status
tel__out_names_add(struct out_names *all, struct out_log *log,
    struct out_schema *schema, const struct tel_event *ev, uint64_t ordinal)
{
	struct out_key key = { log, 0, ev->type->role, 0 };
	struct out_in_force *f;
	tel_status st;

	if (all->given_up)
		return TEL_OK;
	switch ((enum tel_role)ev->type->role) {
	case TEL_ROLE_SYNC: st = add_sync(all, log, schema, ev, ordinal); break;
	case TEL_ROLE_INIT:
	case TEL_ROLE_FRAME: /* none supersedes another */
		key.value = tel__native_xxh64(ev->data, ev->size);
		f = write_names_find(all, &key);
		st = f == NULL ?
		    TEL_ENOMEM :
		    f->bytes == NULL ?
		    write_names_put(all, f, log, schema, ev, ordinal) :
		    TEL_OK;
		break;
	default:
		st = write_names_add_value(all, log, schema, ev, ordinal);
		break;
	}
	return all->given_up ? TEL_OK : st;
}

tel_status
tel__out_names_tell(struct out_names *all, struct out_log *log,
    struct out_schema *schema, const struct tel_label *label,
    enum tel_space space, uint64_t value, uint64_t clock)
{
	if (all->given_up)
		return TEL_OK;
	if (!TEL__RESERVE(all->named, all->named_room, all->nnamed + 1))
		return TEL_ENOMEM;
	struct out_named *named = &all->named[all->nnamed++];
	named->log = log;
	named->schema = schema;
	named->space = space;
	named->value = value;
	named->clock = clock;
	named->at = all->strings.used;
	named->size = label->length;
	tel__buffer_put(&all->strings, label->string, label->length);
	all->bytes += sizeof(*named) + label->length;
	if (all->bytes > IN_FORCE_BYTES)
		all->given_up = 1;
	return all->strings.failed ? TEL_ENOMEM : TEL_OK;
}

int
tel__out_names_any(const struct out_names *all)
{
	return !all->given_up && all->count + all->nnamed > 0;
}

static int
write_names_compare(const void *a, const void *b)
{
	const struct out_in_force *const *x = a, *const *y = b;

	return (*x)->ordinal < (*y)->ordinal ? -1 :
	                                       (*x)->ordinal > (*y)->ordinal;
}

/* Puts the events into a block in the order of the log. */
static tel_status
put_events(const struct out_names *all, struct out_in_force **order,
    struct out_block *b, struct tel__buffer *ordinals)
{
	struct out_in_force *f;
	tel_status st = TEL_OK;
	size_t i, n = 0;

	for (i = 0; i < all->count; i++)
		if (all->list[i].bytes != NULL)
			order[n++] = &all->list[i];
	qsort(order, n, sizeof(struct out_in_force *), write_names_compare);
	for (i = 0; i < n && st == TEL_OK; i++) {
		f = order[i];
		/* they are not events of the log once more */
		uint64_t index = f->log->index;
		uint64_t end = f->log->end;
		st = tel__out_block_add(b, f->log, f->schema, &f->ev, NULL, 0);
		f->log->index = index;
		f->log->end = end;
		tel__buffer_put(ordinals, &f->ordinal, sizeof(f->ordinal));
	}
	return ordinals->failed ? TEL_ENOMEM : st;
}

tel_status
tel__out_names_block(const struct out_names *all, struct out_block *b,
    struct tel__buffer *ordinals)
{
	struct out_in_force **order =
	    malloc((all->count + 1) * sizeof(struct out_in_force *));
	struct tel_label label = { 0 };

	if (order == NULL)
		return TEL_ENOMEM;
	tel_status st = put_events(all, order, b, ordinals);
	free(order);
	for (size_t i = 0; i < all->nnamed && st == TEL_OK; i++) {
		const struct out_named *named = &all->named[i];
		int slot = tel__out_block_slot(b, named->log, named->schema);

		if (slot < 0)
			return TEL_ENOMEM;
		label.string = (const char *)all->strings.bytes + named->at;
		label.length = named->size;
		tel__out_block_name(b, slot, &label, named->space, named->value,
		    named->clock);
		st = b->names.failed ? TEL_ENOMEM : TEL_OK;
	}
	return st;
}
