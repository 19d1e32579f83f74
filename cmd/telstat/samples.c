/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the report has of samples of stacks: the functions in which most of them
 * were taken, for each type of samples.
 */
#include "runtime.h"
#include "show.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Types, those with the most samples, and functions of each. */
#define TYPES_SHOWN 3
#define FUNCTIONS_SHOWN 5
/* As many as a heap has frames. */
#define FUNCTIONS_MAX ((size_t)1 << 24)
/* The columns before a function, in text. */
#define COLUMN 33

/* Samples in a function itself, and in what it called as well. */
struct function {
	uint64_t self, self_weight, total, total_weight;
	size_t seen; /* the last stack that has it, and 1 */
	const char *name;
};

/* The samples of a type. */
struct type {
	uint64_t samples, weight, stacks;
	size_t last; /* of its stacks */
};

struct tally {
	tel_heap *heap;
	struct tel__names types;
	struct type *type;
	size_t type_room;
	struct tel__names names;
	struct function *functions;
	size_t room;
};

/* The length of a function's name in a frame: of Java without the line. */
static size_t
function_length(const char *frame, size_t n)
{
	size_t end = n;

	while (end > 0 && frame[end - 1] >= '0' && frame[end - 1] <= '9')
		end--;
	return end == n || end < 2 || frame[end - 1] != ':' ||
	        memchr(frame, ':', end - 1) != NULL ||
	        memchr(frame, ' ', end - 1) != NULL ||
	        memchr(frame, '.', end - 1) == NULL ?
	    n :
	    end - 1;
}

/* Adds stack i to its functions, to each of them once.  1, or 0: no memory. */
static int
add_functions(struct tally *t, size_t i, const char *type,
    const tel_heap_stack *s)
{
	const char *frame = tel_heap_frames(t->heap, i);
	const size_t first = strlen(type);

	if (frame == NULL)
		return 0;
	if (tel_heap_several(t->heap) && strlen(frame) > first)
		frame += first + 1;
	for (size_t n;; frame += n + 1) {
		n = strcspn(frame, ";");
		uint32_t k = tel__names_add(&t->names, frame,
		    function_length(frame, n), FUNCTIONS_MAX);
		if (k == TEL__NOWHERE ||
		    !TEL__RESERVE_ZEROED(t->functions, t->room, k + (size_t)1))
			return 0;
		struct function *f = &t->functions[k];
		if (f->seen != i + 1) {
			f->seen = i + 1;
			f->total += s->allocations;
			show_add(&f->total_weight, s->allocated_bytes);
		}
		if (frame[n] == '\0') {
			f->self += s->allocations;
			show_add(&f->self_weight, s->allocated_bytes);
			return 1;
		}
	}
}

static int
compare_functions(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->self_weight != y->self_weight)
		return x->self_weight < y->self_weight ? 1 : -1;
	/* those without a weight */
	if (x->self != y->self)
		return x->self < y->self ? 1 : -1;
	if (x->total_weight != y->total_weight)
		return x->total_weight < y->total_weight ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* Adds up the functions of a type, the largest first.  1, or 0: no memory. */
static int
tally_functions(struct tally *t, const char *type)
{
	tel_heap_stack s;

	tel__names_clear(&t->names);
	free(t->functions);
	t->functions = NULL;
	t->room = 0;
	for (size_t i = 0; tel_heap_stack_at(t->heap, i, &s); i++)
		if (strcmp(tel_heap_type(t->heap, i), type) == 0 &&
		    !add_functions(t, i, type, &s))
			return 0;
	for (size_t k = 0; k < t->names.count; k++)
		t->functions[k].name = t->names.list[k].text;
	qsort(t->functions, t->names.count, sizeof(*t->functions),
	    compare_functions);
	return 1;
}

/* Adds up the types.  1, or 0: no memory. */
static int
tally_types(struct tally *t)
{
	tel_heap_stack s;

	for (size_t i = 0; tel_heap_stack_at(t->heap, i, &s); i++) {
		const char *name = tel_heap_type(t->heap, i);
		uint32_t k = tel__names_add(&t->types, name, strlen(name),
		    FUNCTIONS_MAX);

		if (k == TEL__NOWHERE ||
		    !TEL__RESERVE_ZEROED(t->type, t->type_room, k + (size_t)1))
			return 0;
		t->type[k].samples += s.allocations;
		show_add(&t->type[k].weight, s.allocated_bytes);
		t->type[k].stacks++;
		t->type[k].last = i;
	}
	return 1;
}

/* Nonzero when no sample of the type has a stack. */
static int
has_none(const struct tally *t, const struct type *type)
{
	static const char none[] = "<none>";
	const size_t n = sizeof(none) - 1;
	const char *frames =
	    type->stacks == 1 ? tel_heap_frames(t->heap, type->last) : NULL;

	return frames != NULL && strlen(frames) >= n &&
	    strcmp(frames + strlen(frames) - n, none) == 0;
}

static void
samples_put_function(struct report *r, const struct function *f,
    const char *event, const struct type *all)
{
	const double weight = all->weight > 0 ? (double)all->weight : 1;

	report_row(r, REPORT_TEXT | REPORT_JSON);
	report_cell(r, report_string(event));
	report_cell(r, report_count(f->self));
	report_cell(r, report_count(f->self_weight));
	report_cell(r, report_real((double)f->self_weight / weight));
	report_cell(r, report_count(f->total));
	report_cell(r, report_count(f->total_weight));
	report_cell(r, report_real((double)f->total_weight / weight));
	report_cell(r,
	    report_string(report_is(r, REPORT_TEXT) ?
	            answers_frames(r, f->name, COLUMN) :
	            f->name));
}

static void
samples_put_type(struct report *r, const struct tally *t, const char *event,
    const struct type *all)
{
	const size_t n = t->names.count;
	size_t shown = r->options.top > 0 ? report_rows(r, n) : FUNCTIONS_SHOWN;
	struct report_section *s =
	    report_section(r, REPORT_TEXT | REPORT_JSON, "samples");
	char count[FORMAT_TEXT];

	s->apart = 1;
	s->lead = "samples";
	s->indent = 8;
	s->item = event;
	s->item_name = "event";
	report_say(r, REPORT_TEXT, "", "%s of %s",
	    format_count(int128_u64(all->samples), r->options.raw, count),
	    event);
	report_data(r, "samples", report_count(all->samples));
	const struct report_field stacks = { .name = "stacks" };
	(void)report_fact(r, &stacks, report_count(all->stacks));
	const struct report_field weight = { .name = "weight",
		.shown = REPORT_JSON |
		    (all->weight != all->samples ? REPORT_TEXT : 0) };
	(void)report_fact(r, &weight, report_count(all->weight));
	report_put(r);

	while (shown > n || (shown > 0 && t->functions[shown - 1].self == 0))
		shown--;
	report_section(r, REPORT_TEXT | REPORT_JSON, "sampled_function")
	    ->apart = 1;
	report_column(r, "event", NULL, REPORT_GROUPED, 0)->shown = REPORT_JSON;
	(void)report_column(r, "self_samples", "self", REPORT_GROUPED, 0);
	report_column(r, "self_weight", NULL, REPORT_GROUPED, 0)->shown =
	    REPORT_JSON;
	report_column(r, "self_share", "share", REPORT_PERCENT, 0)->decimals =
	    1;
	(void)report_column(r, "total_samples", "total", REPORT_GROUPED, 0);
	report_column(r, "total_weight", NULL, REPORT_GROUPED, 0)->shown =
	    REPORT_JSON;
	report_column(r, "total_share", "share", REPORT_PERCENT, 0)->decimals =
	    1;
	report_column(r, "function",
	    report_text(r, "function (%s; see --stacks)",
	        report_part(r, shown, n)),
	    REPORT_GROUPED, 0)
	    ->left = 1;
	for (size_t i = 0; i < shown; i++)
		samples_put_function(r, &t->functions[i], event, all);
	report_put(r);
}

void
samples_put(struct report *r, tel_heap *heap)
{
	struct tally t = { .heap = heap };
	int good = tally_types(&t);

	for (size_t k = 0; good && k < t.types.count; k++)
		if (has_none(&t, &t.type[k]))
			t.type[k].samples = 0;
	for (unsigned n = 0; good && n < TYPES_SHOWN; n++) {
		size_t most = 0;

		for (size_t k = 0; k < t.types.count; k++)
			if (t.type[k].samples > t.type[most].samples)
				most = k;
		if (most >= t.types.count || t.type[most].samples == 0)
			break;
		const char *event = t.types.list[most].text;
		good = tally_functions(&t, event);
		if (good)
			samples_put_type(r, &t, event, &t.type[most]);
		t.type[most].samples = 0;
	}
	r->failed |= !good;
	tel__names_clear(&t.types);
	tel__names_clear(&t.names);
	free(t.type);
	free(t.functions);
}
