/* SPDX-License-Identifier: BSD-2-Clause */
/* What an event has beside its fields: labels, time, and its builtins. */
#include "query/facts.h"

#include "model/clock.h"
#include "model/labels.h"

#include <string.h>

static const char *
label_of(const struct tel_event *ev, unsigned field, size_t *length)
{
	if (!tel_field_labelled(&ev->type->fields[field]))
		return NULL;
	return tel_event_label(ev, field, length);
}

static int
has_labels(const struct tel_event *ev)
{
	if (ev->notes_size > 0)
		return 1;
	if (ev->noted == TEL_NOTES_ONLY)
		return 0;
	return ev->log->labels != NULL &&
	    tel__labels_count(ev->log->labels) > 0;
}

int
tel__fact_label_glob(const struct tel_event *ev, const struct pattern *glob)
{
	const char *s;
	size_t length;
	unsigned i;

	if (!has_labels(ev))
		return 0;
	for (i = 0; i < ev->type->nfields; i++) {
		s = label_of(ev, i, &length);
		if (s != NULL && tel__pattern_match(glob, s, length, NULL) > 0)
			return 1;
	}
	return 0;
}

/* One label with what a node compares it with, !~ being taken as ~. */
static int
label_fits(const struct machine *m, const struct node *n,
    const struct value *label)
{
	const struct tree *t = m->tree;
	const struct item *item;
	uint32_t i;

	if (n->op == N_MATCH)
		return tel__pattern_match(t->patterns[n->pattern], label->as.s,
		           label->length, m->scratch) > 0;
	if (n->op == N_COMPARE)
		return tel__value_compare(OPR_EQ, label, &t->nodes[n->b].value,
		           0) == TRIT_TRUE;
	for (i = 0; i < n->count; i++) {
		item = &t->items[n->first + i];
		if (tel__value_compare(item->range ? OPR_GE : OPR_EQ, label,
		        &t->nodes[item->lo].value, 0) == TRIT_TRUE &&
		    (!item->range ||
		        tel__value_compare(OPR_LE, label,
		            &t->nodes[item->hi].value, 0) == TRIT_TRUE))
			return 1;
	}
	return 0;
}

enum trit
tel__fact_labels(const struct machine *m, const struct tel_event *ev,
    const struct node *n)
{
	int negate = (n->op == N_COMPARE && n->opr == OPR_NE) ||
	    (n->flags & NODE_NEGATE) != 0;
	enum trit verdict = TRIT_UNKNOWN;
	struct value label;
	const char *s;
	size_t length;
	unsigned i;

	if (!has_labels(ev))
		return TRIT_UNKNOWN;
	for (i = 0; i < ev->type->nfields && verdict != TRIT_TRUE; i++) {
		s = label_of(ev, i, &length);
		if (s == NULL)
			continue;
		label = value_string(s, length);
		verdict = label_fits(m, n, &label) ? TRIT_TRUE : TRIT_FALSE;
	}
	return negate ? trit_not(verdict) : verdict;
}

struct value
tel__fact_first_label(const struct tel_event *ev)
{
	const char *s;
	size_t length;
	unsigned i;

	if (has_labels(ev))
		for (i = 0; i < ev->type->nfields; i++) {
			s = label_of(ev, i, &length);
			if (s != NULL)
				return value_string(s, length);
		}
	return value_missing();
}

struct value
tel__fact_label(const struct tel_event *ev, unsigned field)
{
	size_t length;
	const char *s = has_labels(ev) ? label_of(ev, field, &length) : NULL;

	return s == NULL ? value_missing() : value_string(s, length);
}

int
tel__fact_has_time(const struct tel_event *ev)
{
	return ev->log->clock != NULL && tel__clock_rate(ev->log->clock) > 0 &&
	    !tel_event_timeless(ev);
}

struct value
tel__fact_builtin(const struct machine *m, const struct tel_event *ev,
    enum builtin b)
{
	switch (b) {
	case B_KIND:
		return value_string(ev->type->kind, strlen(ev->type->kind));
	case B_NAME:
		return value_string(ev->type->name, strlen(ev->type->name));
	case B_CODE: return value_natural(ev->type->code);
	case B_TIME:
		if (!tel__fact_has_time(ev))
			break;
		return value_signed(
		    (uint64_t)tel__clock_ns(ev->log->clock, ev->clock));
	case B_CLOCK: return value_natural(ev->clock);
	case B_DT: return m->dt;
	case B_INDEX: return value_natural(ev->index);
	case B_SIZEOF: return value_natural(tel_event_size(ev));
	default: break;
	}
	return value_missing();
}
