/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converting events: for each type of a log a plan is made once, which bytes
 * go where, and then followed.
 */
#include "format/mps/convert.h"
#include "base/array.h"
#include "model/encode.h"
#include "format/mps/mps.h"

#include <stdlib.h>

/* The plans of the types of one schema. */
struct map {
	struct map *next;
	const struct tel_schema *from;
	struct plan **plans; /* by a type's index; NULL: not made yet */
	size_t nplans;
};

struct convert_log {
	struct map *maps; /* that of the last event first */
};

/* Bytes of the longest event of a schema. */
static size_t
longest(const struct tel_schema *s)
{
	size_t most = 0;

	for (unsigned i = 0; i < s->ntypes; i++)
		if (s->types[i].size > most)
			most = s->types[i].size;
	return most + TEL_STRING_ROOM + s->align;
}

struct convert *
tel__convert_new(const struct tel_schema *to, struct losses *losses)
{
	struct convert *c = calloc(1, sizeof(*c));
	int good = c != NULL;

	for (unsigned i = 0; good && i < ROOMS; i++) {
		c->room[i] = malloc(longest(to));
		good = c->room[i] != NULL;
	}
	if (!good) {
		tel__convert_free(c);
		return NULL;
	}
	c->to = to;
	c->losses = losses;
	return c;
}

void
tel__convert_free(struct convert *c)
{
	if (c == NULL)
		return;
	for (unsigned i = 0; i < ROOMS; i++)
		free(c->room[i]);
	free(c);
}

static void
free_map(struct map *m)
{
	for (size_t i = 0; i < m->nplans; i++)
		tel__plan_free(m->plans[i]);
	free(m->plans);
	free(m);
}

void
tel__convert_log_free(struct convert_log *l)
{
	struct map *m;

	if (l == NULL)
		return;
	while ((m = l->maps) != NULL) {
		l->maps = m->next;
		free_map(m);
	}
	free(l);
}

/*
 * Brings the map of a schema to the front: a text may go from one schema to
 * another and back.
 */
static tel_status
find_map(struct convert_log **log, const struct tel_schema *from)
{
	struct map **link, *m;

	if (*log == NULL)
		*log = calloc(1, sizeof(**log));
	if (*log == NULL)
		return TEL_ENOMEM;
	for (link = &(*log)->maps; (m = *link) != NULL; link = &m->next)
		if (m->from == from)
			break;
	if (m != NULL)
		*link = m->next;
	else
		m = calloc(1, sizeof(*m));
	if (m == NULL)
		return TEL_ENOMEM;
	m->from = from;
	m->next = (*log)->maps;
	(*log)->maps = m;
	return TEL_OK;
}

/* Makes the plan of a type, and room for it. */
static tel_status
make_plan(struct convert *c, struct map *m, const struct tel_type *t)
{
	size_t n =
	    t->index < m->from->ntypes ? m->from->ntypes : (size_t)t->index + 1;

	if (!TEL__RESERVE_ZEROED(m->plans, m->nplans, n))
		return TEL_ENOMEM;
	m->plans[t->index] = tel__plan_new(m->from, t, c->to, c->losses);
	return m->plans[t->index] == NULL ? TEL_ENOMEM : TEL_OK;
}

static inline tel_status
mps_convert_find_plan(struct convert *c, struct convert_log **log,
    const struct tel_event *ev, struct plan **out)
{
	const struct tel_schema *from = ev->type->schema;
	const struct tel_type *t = ev->type;
	tel_status st = TEL_OK;

	if (*log == NULL || (*log)->maps == NULL || (*log)->maps->from != from)
		st = find_map(log, from);
	if (st != TEL_OK)
		return st;
	struct map *m = (*log)->maps;
	if (t->index >= m->nplans || m->plans[t->index] == NULL)
		st = make_plan(c, m, t);
	if (st == TEL_OK)
		*out = m->plans[t->index];
	return st;
}

/* Moves a string.  0 when it is too long. */
static int
move_string(const struct convert *c, const struct plan *p,
    const struct move *move, const struct tel_event *ev, unsigned char *data,
    uint32_t *size)
{
	char *to = (char *)data + move->dst->offset;
	size_t n;
	const char *s = tel_load_string(ev, move->src, &n);

	if (n >= TEL_STRING_ROOM)
		return 0;
	memcpy(to, s, n);
	if (p->what == PLAN_INTERN && tel__mps_match_build_string(to, n))
		n = tel__convert_set_build(c->to, to, n);
	*size = tel__encode_size(c->to, p->to, move->dst, n);
	memset(to + n, 0, *size - move->dst->offset - n);
	return 1;
}

/* Moves a field's value.  0 when it does not fit. */
static inline int
move_value(const struct move *move, const unsigned char *from,
    unsigned char *data)
{
	const struct tel_field *src = move->src, *dst = move->dst;
	uint64_t v = tel_load(src, from), base = tel__plan_rebase(src, dst);

	if (src->datatype == TEL_BOOLEAN)
		v = v != 0;
	if (base != 0)
		v = (v + base) & UINT64_MAX >> (64 - dst->width);
	if ((src->datatype == TEL_SIGNED && v >> 63) ||
	    (dst->datatype == TEL_BOOLEAN && v > 1) || !tel_encode_fits(dst, v))
		return 0;
	tel_encode_field(dst, v, data);
	return 1;
}

/* Follows a plan.  *lost: set when a value did not fit. */
static tel_status
mps_convert_follow(struct convert *c, struct plan *p,
    const struct tel_event *ev, unsigned char *data, uint32_t *size,
    struct loss **lost)
{
	struct move *move = p->moves, *last = move + p->nmoves;

	*size = p->to->size;
	memset(data, 0, *size);
	for (; move < last; move++) {
		int good = 1;

		switch (move->op) {
		case MOVE_BYTES:
			memcpy(data + move->to, ev->data + move->from, move->n);
			break;
		case MOVE_VALUE: good = move_value(move, ev->data, data); break;
		case MOVE_STRING:
			good = move_string(c, p, move, ev, data, size);
			break;
		}
		if (good)
			continue;
		if (move->misfit == NULL)
			move->misfit = tel__losses_row(c->losses,
			    TEL_LOSS_VALUE, ev->type->schema->name,
			    ev->type->name, move->src->name);
		*lost = move->misfit;
		return *lost == NULL ? TEL_ENOMEM : TEL_OK;
	}
	if (p->what == PLAN_INIT)
		tel__convert_set_init(c->to, p->to, data);
	return TEL_OK;
}

/*
 * Where addresses and pointers are labelled as one, two older labels often
 * become one: the second is dropped.
 */
static int
is_again(struct convert *c, const struct plan *p, const struct tel_event *out)
{
	const struct tel_type *t = p->to;
	struct label now = { 0, 0, out->clock, 1 };

	now.at = tel_load(&t->fields[t->role_field[0]], out->data);
	now.id = tel_load(&t->fields[t->role_field[1]], out->data);
	int again = p->what == PLAN_LABEL_AGAIN && c->last.is &&
	    c->last.at == now.at && c->last.id == now.id &&
	    c->last.clock == now.clock;
	c->last = now;
	return again;
}

/* Makes the second label of an address that may be a pointer. */
static void
make_also(struct convert *c, const struct plan *p, const struct tel_event *ev,
    const struct tel_event *first, struct tel_event *out)
{
	unsigned char *data = c->room[1];

	memset(data, 0, p->also->size);
	for (unsigned i = 0; i < 2; i++)
		tel_encode_field(&p->also->fields[p->also->role_field[i]],
		    tel_load(&p->to->fields[p->to->role_field[i]], first->data),
		    data);
	tel__convert_finish(c, p->also, data, p->also->size, ev, out);
}

tel_status
tel__convert_event(struct convert *c, struct convert_log **l,
    const struct tel_event *ev, enum convert_how how, struct tel_event *out,
    unsigned *n, const struct loss **lost)
{
	struct loss *row = NULL;
	struct plan *p;
	uint32_t size;
	tel_status st = mps_convert_find_plan(c, l, ev, &p);

	*n = 0;
	*lost = NULL;
	if (st != TEL_OK)
		return st;
	if (how == CONVERT_ROLES &&
	    (p->to == NULL || !tel_type_is_followed(p->to)))
		return TEL_OK;
	if (p->what == PLAN_RAW) {
		*out = *ev;
		*n = 1;
		return TEL_OK;
	}
	row = p->none;
	if (row == NULL && how == CONVERT_STRICT)
		row = p->strict;
	if (row == NULL) {
		st = mps_convert_follow(c, p, ev, c->room[0], &size, &row);
		if (st != TEL_OK)
			return st;
	}
	if (row != NULL) {
		if (how == CONVERT_COUNT)
			row->events++;
		*lost = row;
		return TEL_OK;
	}
	for (unsigned i = 0; how != CONVERT_ROLES && i < p->nlost; i++)
		p->lost[i]->events++;
	tel__convert_finish(c, p->to, c->room[0], size, ev, out);
	if (p->what == PLAN_LABEL || p->what == PLAN_LABEL_AGAIN) {
		if (is_again(c, p, out))
			return TEL_OK;
	}
	*n = 1;
	if (p->also != NULL) {
		make_also(c, p, ev, out, out + 1);
		*n = 2;
	}
	return TEL_OK;
}
