/* SPDX-License-Identifier: BSD-2-Clause */
/* Making a plan: the fields of two types by their names. */
#include "format/mps/convert.h"
#include "format/mps/target.h"

#include <stdlib.h>

/*
 * Types and fields that were given another name and mean the same.  What has
 * both a new name and a new meaning (the rate of TraceStart was in segments,
 * its quantumWork is in bytes) is not here.  A land may be something else
 * than a CBS, and a pointer's label is one of an address where these are one.
 */
static const struct {
	const char *old, *new;
	int back; /* and the other way round */
} types[] = {
	{ "CBSInit", "LandInit", 0 },
	{ "LabelPointer", "Label", 0 },
	{ "VMCreate", "VMInit", 1 },
	{ "VMDestroy", "VMFinish", 1 },
	{ "amcScanNailed", "AMCScanNailed", 1 },
	{ "vmArenaExtendDone", "VMArenaExtendDone", 1 },
	{ "vmArenaExtendFail", "VMArenaExtendFail", 1 },
	{ "vmArenaExtendStart", "VMArenaExtendStart", 1 },
};

static const struct {
	const char *type; /* as the target calls it */
	const char *old, *new;
} fields[] = {
	{ "AMCTraceEnd", "align", "grainSize" },
	{ "ChainCondemnAuto", "topCondemnedGenSerial", "topCondemnedGenIndex" },
	{ "Label", "pointer", "address" },
	{ "LandInit", "cbs", "land" },
	{ "TraceCreatePoolGen", "gendesc", "gen" },
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct tel_type *
plan_find_type(const struct tel_schema *to, const char *name)
{
	const struct tel_type *t = tel_schema_find_type(to, name);

	for (size_t i = 0; t == NULL && i < COUNT(types); i++) {
		if (strcmp(name, types[i].old) == 0)
			t = tel_schema_find_type(to, types[i].new);
		else if (types[i].back && strcmp(name, types[i].new) == 0)
			t = tel_schema_find_type(to, types[i].old);
	}
	return t;
}

static int
plan_find_field(const struct tel_type *to, const char *name)
{
	int at = tel_type_find_field(to, name);

	for (size_t i = 0; at < 0 && i < COUNT(fields); i++) {
		if (strcmp(to->name, fields[i].type) != 0)
			continue;
		if (strcmp(name, fields[i].old) == 0)
			at = tel_type_find_field(to, fields[i].new);
		else if (strcmp(name, fields[i].new) == 0)
			at = tel_type_find_field(to, fields[i].old);
	}
	return at;
}

/* Lists, strings, doubles, and all others, which are numbers of some sort. */
static int
plan_class_of(const struct tel_field *f)
{
	return f->datatype == TEL_LIST ? 3 :
	    f->datatype == TEL_STRING  ? 2 :
	                                 f->datatype == TEL_DOUBLE;
}

/* Nonzero when the bytes of a field can stand for themselves. */
static int
is_alike(const struct tel_field *a, const struct tel_field *b)
{
	return a->load == b->load && a->width == b->width &&
	    a->load != TEL_LOAD_BIT && a->width % 8 == 0 &&
	    tel__plan_rebase(a, b) == 0 &&
	    (a->datatype == TEL_BOOLEAN) == (b->datatype == TEL_BOOLEAN) &&
	    a->datatype != TEL_SIGNED;
}

/* Adds the move of a field, to the one before where they are neighbours. */
static void
add_move(struct plan *p, const struct tel_field *src,
    const struct tel_field *dst)
{
	struct move *m = &p->moves[p->nmoves], *before = m - 1;
	uint16_t bytes = (uint16_t)(src->width / 8);

	m->src = src;
	m->dst = dst;
	m->from = src->offset;
	m->to = dst->offset;
	m->n = bytes;
	if (plan_class_of(src) == 2) {
		m->op = MOVE_STRING;
	} else if (!is_alike(src, dst)) {
		m->op = MOVE_VALUE;
	} else {
		m->op = MOVE_BYTES;
		if (p->nmoves > 0 && before->op == MOVE_BYTES &&
		    before->from + before->n == m->from &&
		    before->to + before->n == m->to) {
			before->n = (uint16_t)(before->n + bytes);
			return;
		}
	}
	p->nmoves++;
}

/* Notes a loss of each event.  0 when out of memory. */
static int
add_loss(struct plan *p, struct losses *losses, tel_loss_kind kind,
    const struct tel_schema *from, const struct tel_type *t, const char *field)
{
	struct loss *row =
	    tel__losses_row(losses, kind, from->name, t->name, field);

	if (row == NULL)
		return 0;
	p->lost[p->nlost++] = row;
	if (kind == TEL_LOSS_FIELD && p->strict == NULL)
		p->strict = row;
	return 1;
}

/* Plans the moves.  0 when out of memory. */
static int
plan_fields(struct plan *p, const struct tel_schema *from,
    const struct tel_type *t, struct losses *losses)
{
	unsigned char filled[256] = { 0 };
	int at, good = 1;

	for (unsigned i = 0; good && i < t->nfields; i++) {
		const struct tel_field *f = &t->fields[i];

		at = plan_find_field(p->to, f->name);
		if (at >= 0 && !filled[at] &&
		    plan_class_of(f) == plan_class_of(&p->to->fields[at])) {
			filled[at] = 1;
			add_move(p, f, &p->to->fields[at]);
		} else if (p->what != PLAN_INIT) {
			good = add_loss(p, losses, TEL_LOSS_FIELD, from, t,
			    f->name);
		}
	}
	for (unsigned i = 0; good && i < p->to->nfields; i++)
		if (!filled[i] && p->what != PLAN_INIT)
			good = add_loss(p, losses, TEL_LOSS_EMPTY, from, t,
			    p->to->fields[i].name);
	return good;
}

/* What an event of the type is to the target, beside its fields. */
static void
plan_role(struct plan *p, const struct tel_schema *from,
    const struct tel_type *t, const struct tel_schema *to)
{
	switch ((enum tel_role)p->to->role) {
	case TEL_ROLE_INIT: p->what = PLAN_INIT; break;
	case TEL_ROLE_INTERN: p->what = PLAN_INTERN; break;
	case TEL_ROLE_LABEL:
		if (to->split_space && !from->split_space)
			p->also = tel_schema_find_type(to, "LabelPointer");
		if (!to->split_space && from->split_space)
			p->what = strcmp(t->name, p->to->name) == 0 ?
			    PLAN_LABEL :
			    PLAN_LABEL_AGAIN;
		break;
	default: break;
	}
}

/* Nonzero when a type means the same by its name alone. */
static int
is_meant(const struct tel_type *t, const struct tel_type *to)
{
	for (unsigned i = 0; i < t->nfields; i++) {
		int at = plan_find_field(to, t->fields[i].name);

		if (at >= 0 &&
		    plan_class_of(&t->fields[i]) ==
		        plan_class_of(&to->fields[at]))
			return 1;
	}
	return to->nfields == 0;
}

void
tel__plan_free(struct plan *p)
{
	if (p == NULL)
		return;
	free(p->lost);
	free(p->moves);
	free(p);
}

struct plan *
tel__plan_new(const struct tel_schema *from, const struct tel_type *t,
    const struct tel_schema *to, struct losses *losses)
{
	struct plan *p = calloc(1, sizeof(*p));
	int same = mps_same(from, to);

	if (p == NULL)
		return NULL;
	if (t->unknown && same) {
		p->what = PLAN_RAW;
		p->to = t;
		return p;
	}
	if (!t->unknown)
		p->to = plan_find_type(to, t->name);
	if (p->to != NULL && !same && !is_meant(t, p->to))
		p->to = NULL;
	if (p->to == NULL) {
		p->none = tel__losses_row(losses, TEL_LOSS_TYPE, from->name,
		    t->name, NULL);
		if (p->none != NULL)
			return p;
		tel__plan_free(p);
		return NULL;
	}
	size_t most = (size_t)t->nfields + p->to->nfields + 1;
	p->moves = calloc(most, sizeof(*p->moves));
	p->lost = calloc(most, sizeof(struct loss *));
	if (!same)
		plan_role(p, from, t, to);
	if (p->moves != NULL && p->lost != NULL &&
	    plan_fields(p, from, t, losses))
		return p;
	tel__plan_free(p);
	return NULL;
}
