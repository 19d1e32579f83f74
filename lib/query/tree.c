/* SPDX-License-Identifier: BSD-2-Clause */
/* Trees, and the sets, names and messages that go with them. */
#include "base/digit.h"
#include "query/counter.h"
#include "query/tree.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const derived[D_COUNT] = { [D_ALLOCATES] = "allocates",
	[D_BYTES] = "bytes",
	[D_DURATION] = "duration",
	[D_FREES] = "frees",
	[D_LIVE] = "live",
	[D_STACK] = "stack" };
static const char *const builtins[B_COUNT] = { "kind", "name", "code", "time",
	"clock", "dt", "index", "cpu", "tid", "pid", "sizeof", "label" };

const char *
tel__builtin_name(enum builtin b)
{
	return builtins[b];
}

tel_status
tel__fail_set(struct fail *f, tel_status status, const char *text,
    unsigned column, const char *format, ...)
{
	va_list ap;

	f->text = text;
	f->column = column;
	va_start(ap, format);
	vsnprintf(f->message, sizeof(f->message), format, ap);
	va_end(ap);
	/* words of the user's may hold anything */
	tel__printable(f->message, sizeof(f->message));
	return status;
}

static int
span_order(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->lo != y->lo)
		return x->lo < y->lo ? -1 : 1;
	return 0;
}

struct set *
tel__set_new(struct span *spans, size_t count)
{
	struct set *s = malloc(sizeof(*s) + count * sizeof(s->spans[0]));
	struct span *last;

	if (s == NULL)
		return NULL;
	if (count > 1)
		qsort(spans, count, sizeof(spans[0]), span_order);
	s->count = 0;
	for (size_t i = 0; i < count; i++) {
		if (spans[i].lo > spans[i].hi)
			continue;
		last = s->count > 0 ? &s->spans[s->count - 1] : NULL;
		if (last != NULL &&
		    (last->hi == UINT64_MAX || spans[i].lo <= last->hi + 1)) {
			if (spans[i].hi > last->hi)
				last->hi = spans[i].hi;
			continue;
		}
		s->spans[s->count++] = spans[i];
	}
	return s;
}

void
tel__tree_free(struct tree *t)
{
	if (t == NULL)
		return;
	for (uint32_t i = 0; i < t->npatterns; i++) {
		tel__pattern_clear(t->patterns[i]);
		free(t->patterns[i]);
	}
	for (uint32_t i = 0; i < t->nnodes; i++)
		free(t->nodes[i].set);
	free(t->patterns);
	free(t->items);
	free(t->symbols);
	free(t->nodes);
	free(t->words);
	free(t->text);
	free(t);
}

const char *
tel__derived_name(enum derived d)
{
	return derived[d];
}

enum derived
tel__derived_find(const char *name)
{
	unsigned d = 0;

	while (d < D_COUNT && strcmp(derived[d], name) != 0)
		d++;
	return (enum derived)d;
}

static int
node_is_label(const struct node *n)
{
	return n->op == N_LABEL || n->op == N_LABELS ||
	    (n->op == N_DERIVED && n->builtin == D_STACK);
}

static int
node_is_counted(const struct node *n)
{
	return n->op == N_BUILTIN &&
	    (n->builtin == B_TIME || n->builtin == B_DT ||
	        n->builtin == B_INDEX);
}

int
tel__tree_uses(const struct tree *t, tel_use use)
{
	if (t == NULL)
		return 0;
	if (use == TEL_USE_RATE)
		return t->uses_rate;
	if (use == TEL_USE_ORDER)
		return t->uses_before;
	if (use != TEL_USE_LABELS && use != TEL_USE_OTHERS)
		return t->uses_history;
	for (uint32_t i = 0; i < t->nnodes; i++)
		if (node_is_label(&t->nodes[i]) ||
		    (use == TEL_USE_OTHERS && node_is_counted(&t->nodes[i])))
			return 1;
	return use == TEL_USE_OTHERS && (t->uses_before || t->uses_rate);
}

int
tel__symbol_find(const struct symbol *s, const struct tel_type *type)
{
	const int at = tel__counter_find(type, s->name);

	/* of a stack the field has but the number of its frame */
	if (s->use == USE_DERIVED && at >= 0 &&
	    type->fields[at].space == TEL_SPACE_STACK)
		return COUNTER_NONE;
	return at +
	    ((s->use == USE_LABEL || s->use == USE_TEXT) && at >= 0 &&
	        at + 1 < type->nfields && type->fields[at + 1].is_label);
}
