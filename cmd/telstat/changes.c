/* SPDX-License-Identifier: BSD-2-Clause */
/* telstat diff --stacks, --blocks: what the stacks, or keys, had and have. */
#include "show.h"

#include <stdlib.h>
#include <string.h>

/* Stacks that text shows, unless options say so. */
#define CHANGES_SHOWN 10

/* A stack, before and after. */
struct change {
	char *name;
	uint64_t bytes[2], blocks[2];
};

struct changes {
	struct change *list;
	size_t count;
};

static int
compare_names(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static uint64_t
size_of_change(const struct change *c)
{
	return c->bytes[0] > c->bytes[1] ? c->bytes[0] - c->bytes[1] :
	                                   c->bytes[1] - c->bytes[0];
}

/* The largest change first. */
static int
compare_changes(const void *a, const void *b)
{
	const uint64_t x = size_of_change(a), y = size_of_change(b);

	return x != y ? (x < y) - (x > y) : compare_names(a, b);
}

/* How many blocks have the weight. */
static uint64_t
blocks_of(const tel_heap_stack *s, tel_heap_weight weight)
{
	return weight == TEL_HEAP_LEAKED ? s->leaked_blocks :
	    weight == TEL_HEAP_PEAK      ? s->peak_blocks :
	                                   s->allocations;
}

/* Adds the stacks of a side.  Returns 1, or 0 when out of memory. */
static int
add_side(struct changes *c, tel_heap *heap, int side, tel_heap_weight weight)
{
	size_t i, n = tel_heap_count(heap);
	struct change *longer =
	    realloc(c->list, (c->count + n + 1) * sizeof(*longer));
	tel_heap_stack s;

	if (longer == NULL)
		return 0;
	c->list = longer;
	for (i = 0; i < n && tel_heap_stack_at(heap, i, &s); i++) {
		const char *frames = tel_heap_frames(heap, i);
		struct change *new = &c->list[c->count];

		memset(new, 0, sizeof(*new));
		new->name = frames != NULL ? strdup(frames) : NULL;
		if (new->name == NULL)
			return 0;
		new->bytes[side] = weight == TEL_HEAP_COUNT ?
		    s.allocated_bytes :
		    tel_heap_weight_of(&s, weight);
		new->blocks[side] = blocks_of(&s, weight);
		c->count++;
	}
	return 1;
}

/* Adds what has the same name, and drops what has no bytes on either side. */
static void
changes_join_names(struct changes *c)
{
	struct change *to = NULL;
	size_t i, n = 0;

	qsort(c->list, c->count, sizeof(*c->list), compare_names);
	for (i = 0; i < c->count; i++) {
		struct change from = c->list[i];

		if (n > 0 && strcmp(to->name, from.name) == 0) {
			for (int k = 0; k < 2; k++) {
				show_add(&to->bytes[k], from.bytes[k]);
				to->blocks[k] += from.blocks[k];
			}
			free(from.name);
			continue;
		}
		to = &c->list[n++];
		*to = from;
	}
	c->count = n;
	qsort(c->list, n, sizeof(*c->list), compare_changes);
}

/* Nonzero when there is anything to show of it. */
static int
changes_is_empty(const struct change *c)
{
	return (c->bytes[0] | c->bytes[1] | c->blocks[0] | c->blocks[1]) == 0;
}

static tel_int128
difference(uint64_t before, uint64_t after)
{
	tel_int128 v = { .low = after - before,
		.high = after < before ? -1 : 0 };

	return v;
}

/* The change as text: "+1,234" or "-1,234". */
static const char *
show_change(struct report *r, uint64_t before, uint64_t after, int raw)
{
	char text[FORMAT_TEXT];
	const uint64_t size = after < before ? before - after : after - before;

	(void)format_count(int128_u64(size), raw, text);
	return report_text(r, "%s%s",
	    after < before     ? "-" :
	        after > before ? "+" :
	                         "",
	    text);
}

static void
changes_put_text(struct report *r, const struct show *show, const char *lead,
    const struct change *c, int frames)
{
	struct report_section *s = report_section(r, REPORT_TEXT, "");
	const int raw = show->options->raw;
	const int samples = show->options->by_samples;
	char a[FORMAT_TEXT], b[FORMAT_TEXT];

	s->apart = 1;
	s->lead = lead;
	s->lead_strong = 1;
	s->indent = 4;
	report_line(r, "", "%s %s: %s before, %s after",
	    show_change(r, c->bytes[0], c->bytes[1], raw),
	    samples ? "weight" : "bytes",
	    format_count(int128_u64(c->bytes[0]), raw, a),
	    format_count(int128_u64(c->bytes[1]), raw, b));
	report_line(r, "", "%s %s: %s before, %s after",
	    show_change(r, c->blocks[0], c->blocks[1], raw),
	    samples ? "samples" : "blocks",
	    format_count(int128_u64(c->blocks[0]), raw, a),
	    format_count(int128_u64(c->blocks[1]), raw, b));
	if (frames)
		stacks_frames(r, c->name);
	report_put(r);
}

static void
changes_put_row(struct report *r, const struct show *show,
    const struct change *c)
{
	const char *of = show->options->key == NULL ? "stack" : "key";
	const struct report_figure item = { of, report_string(c->name) };
	const int samples = show->options->by_samples;
	const char *bytes = samples ? "weight" : "bytes";
	const char *blocks = samples ? "samples" : "blocks";
	const struct report_figure figures[] = {
		{ report_text(r, "before_%s", bytes),
		    report_count(c->bytes[0]) },
		{ report_text(r, "after_%s", bytes),
		    report_count(c->bytes[1]) },
		{ report_text(r, "change_%s", bytes),
		    report_int128(difference(c->bytes[0], c->bytes[1])) },
		{ report_text(r, "before_%s", blocks),
		    report_count(c->blocks[0]) },
		{ report_text(r, "after_%s", blocks),
		    report_count(c->blocks[1]) },
		{ report_text(r, "change_%s", blocks),
		    report_int128(difference(c->blocks[0], c->blocks[1])) },
	};

	report_record(r, REPORT_DATA, of, item, figures,
	    sizeof(figures) / sizeof(figures[0]));
}

static void
put_all(struct report *r, const struct show *show, const struct changes *c)
{
	const int text = report_is(r, REPORT_TEXT);
	size_t i, shown = report_rows(r, c->count);
	struct change all = { NULL, { 0, 0 }, { 0, 0 } };

	if (text && r->options.top == 0 && shown > CHANGES_SHOWN)
		shown = CHANGES_SHOWN;
	for (i = 0; i < c->count; i++)
		for (int k = 0; k < 2; k++) {
			show_add(&all.bytes[k], c->list[i].bytes[k]);
			all.blocks[k] += c->list[i].blocks[k];
		}
	if (text) {
		report_section(r, REPORT_TEXT, "")->lead = report_text(r,
		    "Changes of %s by %s:", stacks_weight(show->options),
		    show->options->key == NULL ? "stack" :
		                                 show->options->key_text);
		r->section.lead_strong = 1;
		report_line(r, "", "%s", report_part(r, shown, c->count));
		report_put(r);
		changes_put_text(r, show, "all", &all, 0);
	}
	for (i = 0; i < shown && !changes_is_empty(&c->list[i]); i++)
		if (text)
			changes_put_text(r, show, report_text(r, "%zu.", i + 1),
			    &c->list[i], 1);
		else
			changes_put_row(r, show, &c->list[i]);
}

void
changes_put(struct report *r, const struct show *show, tel_heap *before,
    tel_heap *after)
{
	const tel_heap_weight weight = show->options->by_weight;
	struct changes c = { NULL, 0 };

	if (add_side(&c, before, 0, weight) && add_side(&c, after, 1, weight)) {
		changes_join_names(&c);
		put_all(r, show, &c);
	} else {
		r->failed = 1;
	}
	while (c.count > 0)
		free(c.list[--c.count].name);
	free(c.list);
}
