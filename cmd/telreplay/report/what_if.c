/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the blocks that were live near the peak would take, if sizes were
 * rounded up to other classes.
 */
#include "what_if.h"

#include <inttypes.h>
#include <string.h>
#include "common/message.h"
#include "common/number.h"
#include "show.h"

/* The least distance of classes: allocators align blocks to it. */
#define GRANULE 16
/* Larger blocks than those of a list have pages of their own. */
#define PAGE 4096
#define WHAT_IF_SIZE_MAX ((uint64_t)1 << 40)

/*
 * Allocators, as they document their classes: jemalloc(3) has a table of them,
 * mimalloc and glibc comments in their sources.  Blocks of glibc have a size in
 * front of them.
 */
static const struct what_if named[] = {
	{ .text = "jemalloc", .each = 4, .least = 8 },
	{ .text = "mimalloc", .each = 4, .least = 8 },
	{ .text = "glibc", .least = 32, .header = sizeof(size_t) },
};

static int
parse_named(const char *text, struct what_if *out)
{
	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
		if (strcmp(text, named[i].text) == 0) {
			*out = named[i];
			return 1;
		}
	return 0;
}

/* Reads the next size of a list.  Returns where it ends, or NULL. */
static const char *
parse_size(const char *text, struct what_if *out)
{
	size_t n = strcspn(text, ",");
	char one[32];
	uint64_t size;

	if (n >= sizeof(one) || out->n == WHAT_IF_SIZES)
		return NULL;
	memcpy(one, text, n);
	one[n] = '\0';
	if (!number_parse(one, &size) || size == 0 || size > WHAT_IF_SIZE_MAX ||
	    (out->n > 0 && size <= out->sizes[out->n - 1]))
		return NULL;
	out->sizes[out->n++] = size;
	text += n;
	return *text == ',' ? text + 1 : text;
}

int
what_if_parse(const char *text, struct what_if *out)
{
	const char *p = text;

	memset(out, 0, sizeof(*out));
	if (parse_named(text, out))
		return 1;
	out->text = text;
	while (p != NULL && *p != '\0' && strcmp(p, "...") != 0)
		p = parse_size(p, out);
	if (p != NULL && *p != '\0' && out->n >= 2)
		out->step = out->sizes[out->n - 1] - out->sizes[out->n - 2];
	if (p != NULL && out->n > 0 && (*p == '\0' || out->step > 0) &&
	    text[strlen(text) - 1] != ',')
		return 1;
	return message_fail(STATUS_USAGE, NULL,
	    "--classes: expected jemalloc, mimalloc, glibc or up to %d sizes "
	    "in "
	    "ascending order, such as 16,32,48,..., found '%s'",
	    WHAT_IF_SIZES, text);
}

static uint64_t
multiple(uint64_t size, uint64_t of)
{
	return (size + of - 1) / of * of;
}

/* With w->each classes for each power of 2. */
static uint64_t
round_each(uint64_t size, const struct what_if *w)
{
	uint64_t low = GRANULE, step;

	if (size <= w->least)
		return w->least;
	if (size <= low)
		return low;
	while (low * 2 < size)
		low *= 2;
	step = low / w->each < GRANULE ? GRANULE : low / w->each;
	return multiple(size, step);
}

/* A size, rounded up to a class. */
static uint64_t
what_if_round(const struct what_if *w, uint64_t size)
{
	if (w->each > 0)
		return round_each(size, w);
	if (w->n == 0) {
		size = multiple(size + w->header, GRANULE);
		return size > w->least ? size : w->least;
	}
	for (size_t i = 0; i < w->n; i++)
		if (size <= w->sizes[i])
			return w->sizes[i];
	if (w->step == 0)
		return multiple(size, PAGE);
	return w->sizes[w->n - 1] +
	    multiple(size - w->sizes[w->n - 1], w->step);
}

/*
 * The bytes of all blocks, and how many sizes they have.  Sizes are counted in
 * ranges: all are as large as the largest of one, or, to have the least bytes,
 * as the smallest.
 */
static uint64_t
what_if_bytes(const struct facts *f, const struct what_if *w, int least,
    uint64_t *used)
{
	uint64_t bytes = 0, last = 0, size;

	*used = 0;
	for (unsigned i = 0; i < SIZE_CLASSES; i++) {
		if (f->class_blocks[i] == 0)
			continue;
		size = what_if_round(w,
		    least && i > 0 ? size_class_max(i - 1) + 1 :
		                     size_class_max(i));
		*used += size != last;
		last = size;
		bytes += f->class_blocks[i] * size;
	}
	return bytes;
}

/* Where a class ends within a range, that makes more than the 6 % of a range. */
static void
what_if_note(struct report *r, const struct facts *f, const struct what_if *w)
{
	char text[FORMAT_TEXT];
	uint64_t used, bytes = what_if_bytes(f, w, 0, &used);
	uint64_t least = what_if_bytes(f, w, 1, &used);

	if (least < bytes - bytes / 16)
		report_note(r, REPORT_TEXT, NULL,
		    report_text(r,
		        "%.24s: from %s bytes on, as sizes are counted in "
		        "ranges",
		        w->text,
		        format_value(int128_u64(least), "bytes", 0, text)));
}

static void
what_if_add_row(struct report *r, const struct facts *f,
    const struct what_if *w, const char *item)
{
	uint64_t used, bytes = what_if_bytes(f, w, 0, &used);

	report_row(r, REPORT_ALL);
	report_cell(r, report_string(item));
	report_cell(r, report_string(w->text));
	report_cell(r, report_count(used));
	report_cell(r, report_count(bytes));
	report_cell(r,
	    report_real(
	        bytes > 0 ? 1 - (double)f->class_asked / (double)bytes : 0));
}

static void
open_table(struct report *r, const struct show *show)
{
	unsigned text = show->telreplay->nwhat_if > 0 ?
	    REPORT_TEXT :
	    show_text(show, DETAILS_CLASSES);
	struct report_section *s = show_section(r, text | REPORT_DATA,
	    "what_if", "blocks near the peak, if rounded up to size classes");
	struct report_field *c =
	    report_column(r, "item", NULL, REPORT_GROUPED, 0);

	if (show->facts->peak_bytes == 0)
		s->shown = REPORT_DATA;
	c->item = 1;
	c->shown = REPORT_DATA;
	c = report_column(r, "classes", "", REPORT_GROUPED, 26);
	c->left = 1;
	c->most = 24;
	c->shown = REPORT_TEXT;
	(void)report_column(r, "used", "sizes", REPORT_GROUPED, 14);
	(void)report_column(r, "bytes", NULL, REPORT_SIZE, 14);
	report_column(r, "slack", NULL, REPORT_PERCENT, 10)->decimals = 1;
}

void
show_what_if(struct report *r, const struct show *show)
{
	const struct telreplay *t = show->telreplay;
	struct what_if w;

	open_table(r, show);
	memset(&w, 0, sizeof(w));
	w.least = GRANULE;
	for (uint64_t each = 1; each <= 16; each *= 2) {
		w.each = each;
		w.text = each == 1 ?
		    "powers of 2" :
		    report_text(r, "%" PRIu64 " for each power", each);
		what_if_add_row(r, show->facts, &w,
		    report_text(r, "%" PRIu64, each));
	}
	for (size_t i = 0; i < t->nwhat_if; i++) {
		what_if_add_row(r, show->facts, &t->what_if[i],
		    t->what_if[i].text);
		what_if_note(r, show->facts, &t->what_if[i]);
	}
	report_put(r);
}
