/* SPDX-License-Identifier: BSD-2-Clause */
/* Giving numbers to the strings of several logs. */
#include "encoder/numbering.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void
tel__numbering_begin(struct numbering *ids, size_t max)
{
	ids->max = max;
	tel__table_init(&ids->taken);
}

void
tel__numbering_free(struct numbering *ids)
{
	for (size_t i = 0; i < ids->count; i++)
		free(ids->strings[i].text);
	free(ids->strings);
	tel__table_clear(&ids->taken);
	free(ids->changed);
	memset(ids, 0, sizeof(*ids));
}

/* The string that has a number; NULL when none has. */
static struct id_string *
numbering_find(const struct numbering *ids, const struct tel__table *map,
    uint64_t id)
{
	const struct tel__entry *e = tel__table_find(map, id);

	return e == NULL ? NULL : &ids->strings[e->value];
}

/* A number that no string has, or 0. */
static uint64_t
free_number(const struct numbering *ids, uint64_t limit)
{
	if (ids->largest < limit)
		return ids->largest + 1;
	for (uint64_t id = 1; id < limit && id <= ids->count + 1; id++)
		if (numbering_find(ids, &ids->taken, id) == NULL)
			return id;
	return 0;
}

/* Puts a string at that place into a table.  TEL_OK, _ELIMIT, _ENOMEM. */
static tel_status
numbering_put(const struct numbering *ids, struct tel__table *t, uint64_t id,
    size_t place)
{
	int fresh;

	if (t->count >= ids->max && tel__table_find(t, id) == NULL)
		return TEL_ELIMIT;
	struct tel__entry *e = tel__table_put(t, id, &fresh);
	if (e == NULL)
		return TEL_ENOMEM;
	e->value = place;
	return TEL_OK;
}

/* Takes a number for a string that is yet to be set. */
static tel_status
numbering_add(struct numbering *ids, uint64_t id, struct id_string **out)
{
	if (!TEL__RESERVE(ids->strings, ids->room, ids->count + 1))
		return TEL_ENOMEM;
	tel_status st = numbering_put(ids, &ids->taken, id, ids->count);
	if (st != TEL_OK)
		return st;
	*out = &ids->strings[ids->count++];
	memset(*out, 0, sizeof(**out));
	(*out)->id = id;
	if (id > ids->largest)
		ids->largest = id;
	return TEL_OK;
}

static tel_status
numbering_set_text(struct id_string *s, const char *text, size_t length)
{
	char *copy = tel__copy_string(text, length);

	if (copy == NULL)
		return TEL_ENOMEM;
	free(s->text);
	s->text = copy;
	s->length = length;
	return TEL_OK;
}

static int
numbering_is_text(const struct id_string *s, const char *text, size_t length)
{
	return text != NULL && s->text != NULL && s->length == length &&
	    memcmp(s->text, text, length) == 0;
}

tel_status
tel__numbering_map(struct numbering *ids, struct tel__table *map,
    uint64_t limit, uint64_t id, const char *text, size_t length, uint64_t *out,
    int *same)
{
	struct id_string *s = numbering_find(ids, map, id);
	int known = s != NULL;
	tel_status st;

	*out = id;
	*same = 0;
	if (known && text == NULL) {
		*out = s->id;
		return TEL_OK;
	}
	if (s == NULL)
		s = numbering_find(ids, &ids->taken, id);
	if (s != NULL)
		*same = numbering_is_text(s, text, length);
	/* a number that is the log's alone may be given to another string */
	if (s != NULL && !*same && (!known || s->shared)) {
		id = free_number(ids, limit);
		if (id == 0)
			return TEL_ELIMIT;
		s = NULL;
		known = 0;
	}
	if (s == NULL) {
		st = numbering_add(ids, id, &s);
		if (st != TEL_OK)
			return st;
	} else if (!known) {
		s->shared = 1;
	}
	if (!known) {
		st = numbering_put(ids, map, *out, (size_t)(s - ids->strings));
		if (st != TEL_OK)
			return st;
	}
	*out = s->id;
	return text != NULL && !*same ? numbering_set_text(s, text, length) :
	                                TEL_OK;
}
