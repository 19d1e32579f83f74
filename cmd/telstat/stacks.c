/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stacks, or keys, that allocated: what leaked, and how long blocks lived;
 * or the stacks of samples.
 */
#include "runtime.h"
#include "show.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "common/message.h"
#include "statistic.h"

/* Stacks that text shows, and quantiles, unless options say so. */
#define STACKS_SHOWN 10
#define QUANTILES_SHOWN 6

static const char *const titles[] = {
	[TEL_HEAP_ALLOCATED] = "allocated bytes",
	[TEL_HEAP_PEAK] = "bytes live at the peak",
	[TEL_HEAP_LEAKED] = "leaked bytes",
	[TEL_HEAP_COUNT] = "allocations",
};

tel_heap *
stacks_heap(const struct telstat *t)
{
	return t->by_samples && t->runtime != NULL &&
	        t->runtime->samples != NULL ?
	    t->runtime->samples :
	    t->heap;
}

void
stacks_check(const struct telstat *t, const char *name)
{
	/* samples are not shown beside a log of blocks */
	const int samples = t->runtime != NULL && t->runtime->samples != NULL &&
	    tel_heap_recorded(t->runtime->samples);

	if (t->stacks != NULL && !tel_heap_recorded(stacks_heap(t)))
		message(name,
		    tel_heap_count(t->heap) > 0 ?
		        "%s: no selected event records its stack, its caller "
		        "or its pool" :
		        "%s: no selected event allocates%s",
		    t->stacks,
		    t->key == NULL && !samples ? ", or is a sample of a stack" :
		                                 "");
}

/* Samples are never live: unless it was asked for, none of that orders them. */
void
stacks_choose(struct telstat *const *sides, int n)
{
	uint64_t allocations = 0, live = 0, weight = 0;
	int samples = 0;
	tel_heap_stack all;

	if (sides[0]->stacks == NULL)
		return;
	for (int i = 0; i < n; i++) {
		const struct runtime *rt = sides[i]->runtime;

		tel_heap_total(sides[i]->heap, &all);
		allocations += all.allocations;
		live += all.peak_blocks;
		if (rt == NULL || rt->samples == NULL)
			continue;
		samples = 1;
		tel_heap_total(rt->samples, &all);
		weight |= all.allocated_bytes;
	}
	for (int i = 0; i < n; i++) {
		struct telstat *t = sides[i];

		t->by_samples = samples && allocations == 0;
		t->by_weight = t->weight;
		if (t->by_samples && weight == 0)
			t->by_weight = TEL_HEAP_COUNT;
		else if (t->by_samples ?
		        t->weight != TEL_HEAP_COUNT :
		        !t->weight_given && allocations > 0 && live == 0)
			t->by_weight = TEL_HEAP_ALLOCATED;
	}
}

const char *
stacks_weight(const struct telstat *t)
{
	return !t->by_samples              ? titles[t->by_weight] :
	    t->by_weight == TEL_HEAP_COUNT ? "number of samples" :
	                                     "weight of samples";
}

static const char *
title(struct report *r, const struct show *show)
{
	const char *weight = stacks_weight(show->options);

	return show->options->key == NULL ?
	    report_text(r, "Stacks by %s", weight) :
	    report_text(r, "Blocks by %s, in order of %s",
	        show->options->key_text, weight);
}

/* The shares of lifetimes that are shown: the least, quantiles, the most. */
static unsigned
shares_of(const struct show *show, uint32_t list[QUANTILES_SHOWN + 2])
{
	unsigned n;
	const uint32_t *shown = statistic_quantiles(show->options, &n);

	if (n > QUANTILES_SHOWN)
		n = QUANTILES_SHOWN;
	list[0] = 0;
	memcpy(list + 1, shown, n * sizeof(*list));
	list[n + 1] = 1000000000;
	return n + 2;
}

/* A share as a quantile is called: "0.5". */
static const char *
share_name(uint32_t share, char *text)
{
	(void)snprintf(text, FORMAT_TEXT, "%" PRIu32 ".%09" PRIu32,
	    share / 1000000000, share % 1000000000);
	size_t n = strlen(text);
	while (text[n - 1] == '0' && text[n - 2] != '.')
		n--;
	text[n] = '\0';
	return text;
}

/* How many stacks have any weight: the others are not worth a row. */
static size_t
count_stacks(const struct show *show)
{
	const tel_heap *heap = stacks_heap(show->options);
	tel_heap_stack s;
	size_t n = tel_heap_count(heap), lo = 0, mid;

	/* they are sorted */
	TEL__BISECT(lo, n, mid,
	    tel_heap_stack_at(heap, mid, &s) &&
	        tel_heap_weight_of(&s, show->options->by_weight) > 0);
	return lo;
}

/* Sums of bytes, of which one is taken away, may have saturated. */
static void
subtract_bytes(uint64_t *rest, uint64_t bytes)
{
	*rest -= bytes < *rest ? bytes : *rest;
}

/* Takes one off the rest. */
static void
telstat_stacks_subtract(tel_heap_stack *rest, const tel_heap_stack *s)
{
	rest->allocations -= s->allocations;
	subtract_bytes(&rest->allocated_bytes, s->allocated_bytes);
	rest->peak_blocks -= s->peak_blocks;
	subtract_bytes(&rest->peak_bytes, s->peak_bytes);
	rest->leaked_blocks -= s->leaked_blocks;
	subtract_bytes(&rest->leaked_bytes, s->leaked_bytes);
	rest->freed -= s->freed;
	rest->temporary -= s->temporary;
}

/* ----------------------------------------------------------------- text */

static void
say(struct report *r, const struct show *show, const char *what, uint64_t bytes,
    uint64_t blocks)
{
	const int raw = show->options->raw;
	char a[FORMAT_TEXT], b[FORMAT_TEXT];

	report_say(r, REPORT_TEXT, "", "%s %s %s in %s %s", what,
	    format_count(int128_u64(bytes), raw, a),
	    bytes == 1 ? "byte" : "bytes",
	    format_count(int128_u64(blocks), raw, b),
	    blocks == 1 ? "block" : "blocks");
}

/* What the blocks of a stack lived. */
static void
say_lifetimes(struct report *r, const struct show *show, size_t i)
{
	const tel_heap *heap = stacks_heap(show->options);
	const char *unit = tel_heap_ticks(heap) ? "ticks" : "ns";
	const int raw = show->options->raw;
	uint32_t list[QUANTILES_SHOWN + 2];
	unsigned k, n = shares_of(show, list);
	char share[FORMAT_TEXT], text[FORMAT_TEXT];
	const char *line = "", *below = "", *name;
	uint64_t v, step;

	if (!tel_heap_resolution(heap, &step))
		step = 0;
	for (k = 0; k < n; k++) {
		if (!tel_heap_lifetime(heap, i, list[k], &v))
			return;
		name = k == 0  ? "least" :
		    k == n - 1 ? "most" :
		                 share_name(list[k], share);
		/* below the resolution, the largest share alone */
		if (v < step)
			v = step;
		else
			step = 0;
		name =
		    report_text(r, "  %s %s%s%s%s", name, step > 0 ? "< " : "",
		        format_value(int128_u64(v), unit, raw, text),
		        raw ? " " : "", raw ? unit : "");
		if (step > 0)
			below = name;
		else
			line = report_text(r, "%s%s", line, name);
	}
	line = report_text(r, "%s%s", below, line);
	report_line(r, "", "lived%s", line);
}

/* The frames, the innermost first. */
void
stacks_frames(struct report *r, const char *frames)
{
	const char *end = frames + strlen(frames), *p;

	while (end > frames) {
		for (p = end; p > frames && p[-1] != ';'; p--)
			continue;
		report_line(r, "", "%.*s", (int)(end - p), p);
		end = p > frames ? p - 1 : p;
	}
}

static void
say_blocks(struct report *r, const struct show *show, const tel_heap_stack *s)
{
	char text[FORMAT_TEXT];

	/* samples are never live */
	if (s->leaked_blocks > 0 || s->peak_blocks > 0 || s->freed > 0 ||
	    show->options->by_weight != TEL_HEAP_ALLOCATED) {
		say(r, show, "leaked", s->leaked_bytes, s->leaked_blocks);
		say(r, show, "peak", s->peak_bytes, s->peak_blocks);
	}
	say(r, show, "allocated", s->allocated_bytes, s->allocations);
	if (s->temporary > 0)
		report_say(r, REPORT_TEXT, "", "temporary %s",
		    format_count(int128_u64(s->temporary), show->options->raw,
		        text));
}

/* Samples, the weight that they have, and its share. */
static void
say_samples(struct report *r, const struct show *show, const tel_heap_stack *s,
    const tel_heap_stack *all)
{
	const int raw = show->options->raw;
	const double weight = (double)all->allocated_bytes;
	char text[FORMAT_TEXT];

	report_say(r, REPORT_TEXT, "", "%s %s",
	    format_count(int128_u64(s->allocations), raw, text),
	    s->allocations == 1 ? "sample" : "samples");
	if (all->allocated_bytes != all->allocations)
		report_say(r, REPORT_TEXT, "", "weight %s",
		    format_count(int128_u64(s->allocated_bytes), raw, text));
	if (s != all && weight > 0)
		report_say(r, REPORT_TEXT, "", "%.1f%%",
		    (double)s->allocated_bytes / weight * 100);
}

/* all: what a share is of */
static void
telstat_stacks_put_text(struct report *r, const struct show *show, size_t i,
    const char *lead, const tel_heap_stack *s, const tel_heap_stack *all)
{
	struct report_section *section = report_section(r, REPORT_TEXT, "");

	section->apart = 1;
	section->lead = lead;
	section->lead_strong = 1;
	section->indent = 4;
	if (show->options->by_samples)
		say_samples(r, show, s, all);
	else
		say_blocks(r, show, s);
	if (i != SIZE_MAX) {
		say_lifetimes(r, show, i);
		const char *frames =
		    tel_heap_frames(stacks_heap(show->options), i);
		if (frames == NULL)
			r->failed = 1;
		else
			stacks_frames(r, frames);
	}
	report_put(r);
}

/* ----------------------------------------------------------------- data */

static void
telstat_stacks_put_row(struct report *r, const struct show *show, size_t i,
    const char *frames, const tel_heap_stack *s)
{
	const struct report_value none = { .type = REPORT_ABSENT };
	const struct report_figure item = { show->options->key == NULL ?
		    "stack" :
		    "key",
		report_string(frames) };
	struct report_figure figures[8 + QUANTILES_SHOWN + 2] = {
		{ "allocations", report_count(s->allocations) },
		{ "allocated_bytes", report_count(s->allocated_bytes) },
		{ "peak_blocks", report_count(s->peak_blocks) },
		{ "peak_bytes", report_count(s->peak_bytes) },
		{ "leaked_blocks", report_count(s->leaked_blocks) },
		{ "leaked_bytes", report_count(s->leaked_bytes) },
		{ "freed", report_count(s->freed) },
		{ "temporary",
		    answers_samples(show->stats) ? none :
		                                   report_count(s->temporary) },
	};
	struct report_figure *f = figures + 8;
	uint32_t list[QUANTILES_SHOWN + 2];
	unsigned k, n = shares_of(show, list);
	char share[FORMAT_TEXT];
	uint64_t v;

	if (show->options->by_samples) {
		const struct report_figure of_samples[] = {
			{ "samples", report_count(s->allocations) },
			{ "weight", report_count(s->allocated_bytes) },
		};

		report_record(r, REPORT_DATA, item.name, item, of_samples, 2);
		return;
	}
	for (k = 0; k < n; k++, f++) {
		f->name = k == 0 ?
		    "lifetime_min" :
		    k == n - 1 ?
		    "lifetime_max" :
		    report_text(r, "lifetime_%s", share_name(list[k], share));
		if (tel_heap_lifetime(show->options->heap, i, list[k], &v))
			f->value = report_count(v);
	}
	report_record(r, REPORT_DATA, item.name, item, figures, 8 + n);
}

static void
bar(struct report *r, const void *of, size_t i, struct report_bar *out)
{
	const struct show *show = of;
	tel_heap *heap = stacks_heap(show->options);
	const char *frames = show->options->key == NULL ?
	    tel_heap_holder(heap, i) :
	    tel_heap_frames(heap, i);
	const char *p;
	tel_heap_stack s;

	memset(out, 0, sizeof(*out));
	if (frames == NULL || !tel_heap_stack_at(heap, i, &s))
		return;
	p = strrchr(frames, ';');
	out->label =
	    report_string(report_text(r, "%s", p != NULL ? p + 1 : frames));
	out->count = tel_heap_weight_of(&s, show->options->by_weight);
}

static void
telstat_stacks_put_picture(struct report *r, const struct show *show, size_t n,
    const tel_heap_stack *all)
{
	const tel_heap_weight weight = show->options->by_weight;
	struct report_section *section =
	    report_section(r, REPORT_SVG, "stacks");
	struct report_bars bars = { stacks_weight(show->options), show, n, bar,
		int128_u64(tel_heap_weight_of(all, weight)), 0, { 0, 0 } };

	section->title = title(r, show);
	section->definition = show->options->key != NULL ?
	    report_text(r, "%zu keys", n) :
	    report_text(r, "%zu stacks, by the functions that %s", n,
	        show->options->by_samples ? "ran" : "hold the blocks");
	section->bars = &bars;
	report_put(r);
}

/* ------------------------------------------------------------------ all */

static void
put_title(struct report *r, const struct show *show, size_t n, size_t shown,
    const tel_heap_stack *all)
{
	struct report_section *s = report_section(r, REPORT_TEXT, "");
	char count[FORMAT_TEXT];

	s->apart = 1;
	s->lead = report_text(r, "%s:", title(r, show));
	s->lead_strong = 1;
	report_say(r, REPORT_TEXT, "", "%s",
	    shown < n ? report_part(r, shown, n) :
	                format_count(int128_u64(n), r->options.raw, count));
	report_put(r);
	telstat_stacks_put_text(r, show, SIZE_MAX, "all", all, all);
}

void
stacks_put(struct report *r, const struct show *show)
{
	tel_heap *heap = stacks_heap(show->options);
	const int text = report_is(r, REPORT_TEXT);
	tel_heap_stack s, rest, all;

	if (show->options->stacks == NULL || !tel_heap_recorded(heap))
		return;
	if (tel_heap_sort(heap, show->options->by_weight) != TEL_OK) {
		r->failed = 1;
		return;
	}
	tel_heap_total(heap, &all);
	rest = all;
	size_t n = count_stacks(show);
	size_t shown = report_rows(r, n);
	if (text && r->options.top == 0 && shown > STACKS_SHOWN)
		shown = STACKS_SHOWN;
	if (report_is(r, REPORT_SVG)) {
		telstat_stacks_put_picture(r, show, n, &all);
		return;
	}
	if (text)
		put_title(r, show, n, shown, &all);
	for (size_t i = 0; i < shown && tel_heap_stack_at(heap, i, &s); i++) {
		telstat_stacks_subtract(&rest, &s);
		if (text) {
			telstat_stacks_put_text(r, show, i,
			    report_text(r, "%zu.", i + 1), &s, &all);
			continue;
		}
		const char *frames = tel_heap_frames(heap, i);
		if (frames == NULL) {
			r->failed = 1;
			return;
		}
		telstat_stacks_put_row(r, show, i, frames, &s);
	}
	/* also those without weight, so that all add up to the totals */
	if (rest.allocations == 0)
		return;
	if (text)
		telstat_stacks_put_text(r, show, SIZE_MAX, "others", &rest,
		    &all);
	else
		telstat_stacks_put_row(r, show, SIZE_MAX, "<other>", &rest);
}
