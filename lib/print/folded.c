/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Folded stacks, as flame graphs are made of: the ranges that were open at
 * once, outermost first, and for how long nothing else was open in them; or
 * the stacks or pools that allocated, and how much.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "print/timeline.h"
#include "tel/heap.h"

/* The most ranges within ranges; deeper ones count for their outer range. */
#define DEPTH_MAX 256
/* The most stacks that are counted apart; all others are one. */
#define STACKS_MAX ((size_t)1 << 18)
/* The most stacks that a range is taken out of, if it has no end. */
#define SHARES_MAX 64
/* The most ranges that may still end after one of their name has started. */
#define PARTED_MAX 256
#define NO_LINE SIZE_MAX

/* What a frame has added to the weight of a line, which has its name there. */
struct share {
	size_t line, at;
	uint64_t weight;
};

struct frame {
	const struct timeline_track *track; /* that it was begun on */
	char *name;
	size_t length;
	struct share *shares; /* with their room, and their number */
	size_t room, nshares;
	int kept; /* too many stacks had it */
};

/* The ranges that are open on a thread, or in a log without threads. */
struct stack {
	const struct timeline_track *context;
	struct frame frames[DEPTH_MAX];
	unsigned depth;
	uint64_t last; /* up to when its time was counted */
	/*
	 * Without threads, a range that gave way to one of its name may be
	 * parallel to that, and end later, or have lost its end.
	 */
	struct frame *parted;
	size_t parted_room, nparted;
};

struct line {
	char *text;
	uint64_t weight;
};

struct folded {
	struct timeline *timeline;
	struct stack **stacks;
	size_t nstacks;
	struct line *lines;
	size_t nlines, room;
	struct tel__table by_text; /* hash of a text to its line, from 1 */
	char *text;                /* that is being made */
	size_t text_room;
	int ranges;     /* there were some */
	tel_heap *heap; /* NULL: no event has allocated */
	int terminal;   /* no byte of a name may steer it */
};

/* The stack of a track; NULL: no memory. */
static struct stack *
stack_of(struct folded *f, const struct timeline_track *t)
{
	const struct timeline_track *context = t;
	size_t id;

	while (context->use != TIMELINE_THREAD && context->parent != NULL)
		context = context->parent;
	id = context->id;
	if (!TEL__RESERVE_ZEROED(f->stacks, f->nstacks, id + 1))
		return NULL;
	if (f->stacks[id] == NULL) {
		f->stacks[id] = calloc(1, sizeof(struct stack));
		if (f->stacks[id] != NULL)
			f->stacks[id]->context = context;
	}
	return f->stacks[id];
}

/* Adds a name to the text at *n: no separator, nothing but text. */
static int
put_frame(struct folded *f, size_t *n, const char *name, size_t length)
{
	unsigned char c;
	size_t i;

	if (!TEL__RESERVE(f->text, f->text_room, *n + length + 2))
		return 0;
	if (*n > 0)
		f->text[(*n)++] = ';';
	for (i = 0; i < length; i++) {
		c = (unsigned char)name[i];
		if (c == ';')
			c = ':';
		f->text[(*n)++] =
		    c < ' ' || c == 0x7f || (c > 0x7f && f->terminal) ? '?' :
		                                                        (char)c;
	}
	f->text[*n] = '\0';
	return 1;
}

/*
 * Adds to the weight of the text that was made, n bytes, whose line is *line;
 * NO_LINE: that of the other stacks.
 */
static int
add_weight(struct folded *f, size_t n, uint64_t weight, size_t *line)
{
	static const char others[] = "<other stacks>";
	uint64_t h;
	struct tel__entry *e;
	int fresh, other = 0;

	h = tel__fnv(TEL__FNV, f->text, n);
	if (f->nlines >= STACKS_MAX &&
	    tel__table_find(&f->by_text, h) == NULL) {
		n = 0;
		if (!put_frame(f, &n, others, sizeof(others) - 1))
			return 0;
		h = tel__fnv(TEL__FNV, others, n);
		other = 1;
	}
	e = tel__table_put(&f->by_text, h, &fresh);
	if (e == NULL)
		return 0;
	if (!fresh) {
		*line = other ? NO_LINE : (size_t)e->value;
		f->lines[e->value].weight += weight;
		return 1;
	}
	if (!TEL__RESERVE(f->lines, f->room, f->nlines + 1))
		return 0;
	f->lines[f->nlines].text = tel__copy_string(f->text, n);
	if (f->lines[f->nlines].text == NULL)
		return 0;
	f->lines[f->nlines].weight = weight;
	*line = other ? NO_LINE : f->nlines;
	e->value = (uint32_t)f->nlines++;
	return 1;
}

/* Makes the text of a stack. */
static int
put_stack(struct folded *f, const struct stack *s, size_t *n)
{
	unsigned i;

	*n = 0;
	if (s->context->use == TIMELINE_THREAD &&
	    !put_frame(f, n, s->context->name, s->context->length))
		return 0;
	for (i = 0; i < s->depth; i++)
		if (!put_frame(f, n, s->frames[i].name, s->frames[i].length))
			return 0;
	return 1;
}

static void
free_frame(struct frame *fr)
{
	free(fr->name);
	free(fr->shares);
}

static void
remove_frame(struct stack *s, unsigned i)
{
	memmove(&s->frames[i], &s->frames[i + 1],
	    (s->depth - i - 1) * sizeof(s->frames[0]));
	s->depth--;
}

static struct share *
find_share(struct frame *fr, size_t line)
{
	size_t i;

	for (i = fr->nshares; i-- > 0;)
		if (fr->shares[i].line == line)
			return &fr->shares[i];
	return NULL;
}

/* Notes that a frame is at a place of a line, and has added to its weight. */
static int
add_share(struct frame *fr, size_t line, size_t at, uint64_t weight)
{
	struct share *share;

	if (fr->kept || line == NO_LINE)
		return 1;
	share = find_share(fr, line);
	if (share != NULL) {
		share->weight += weight;
		return 1;
	}
	if (fr->nshares == SHARES_MAX) {
		fr->kept = 1;
		fr->nshares = 0;
		return 1;
	}
	if (!TEL__RESERVE(fr->shares, fr->room, fr->nshares + 1))
		return 0;
	share = &fr->shares[fr->nshares++];
	share->line = line;
	share->at = at;
	share->weight = weight;
	return 1;
}

/* Counts the time up to now for the open ranges. */
static int
advance(struct folded *f, struct stack *s, uint64_t time)
{
	uint64_t weight = time > s->last ? time - s->last : 0;
	size_t n, line, at = 0;
	unsigned i;

	if (weight > 0)
		s->last = time;
	if (weight == 0 || s->depth == 0)
		return 1;
	if (!put_stack(f, s, &n) || !add_weight(f, n, weight, &line))
		return 0;
	if (s->context->use == TIMELINE_THREAD)
		return 1;
	for (i = 0; i < s->depth; i++) {
		if (!add_share(&s->frames[i], line, at, weight))
			return 0;
		at += s->frames[i].length + 1;
	}
	return 1;
}

static int
has_name(const struct frame *fr, const char *name, size_t n)
{
	return fr->length == n && memcmp(fr->name, name, n) == 0;
}

/* A frame's share of a line is now one of a line without another frame. */
static int
move_share(struct frame *fr, const struct share *from, size_t line,
    const struct frame *out)
{
	const size_t n = out->length + 1;
	struct share *share;
	uint64_t weight;

	/* those of one name were not open at once */
	if (has_name(fr, out->name, out->length) ||
	    (share = find_share(fr, from->line)) == NULL)
		return 1;
	weight = share->weight < from->weight ? share->weight : from->weight;
	share->weight -= weight;
	return add_share(fr, line,
	    share->at > from->at ? share->at - n : share->at, weight);
}

/*
 * Takes a range that has lost its end out of the stacks: nobody knows how long
 * it was, and what else was open was open without it.
 */
static int
take_out(struct folded *f, struct stack *s, const struct frame *fr)
{
	size_t i, j, n, line, behind;
	const char *text;

	for (i = 0; i < fr->nshares; i++) {
		const struct share *from = &fr->shares[i];
		struct line *l = &f->lines[from->line];

		text = l->text;
		n = strlen(text);
		l->weight -=
		    from->weight < l->weight ? from->weight : l->weight;
		if (n == fr->length)
			continue;
		if (!TEL__RESERVE(f->text, f->text_room, n + 1))
			return 0;
		/* with the separator behind it, or before the last one */
		memcpy(f->text, text, from->at);
		behind = from->at + fr->length + 1;
		if (behind < n)
			memcpy(f->text + from->at, text + behind, n - behind);
		n -= fr->length + 1;
		f->text[n] = '\0';
		if (!add_weight(f, n, from->weight, &line))
			return 0;
		for (j = 0; j < s->depth; j++)
			if (!move_share(&s->frames[j], from, line, fr))
				return 0;
		for (j = 0; j < s->nparted; j++)
			if (!move_share(&s->parted[j], from, line, fr))
				return 0;
	}
	return 1;
}

static void
drop_parted(struct stack *s, size_t i)
{
	free_frame(&s->parted[i]);
	memmove(&s->parted[i], &s->parted[i + 1],
	    (s->nparted - i - 1) * sizeof(s->parted[0]));
	s->nparted--;
}

/*
 * Without threads nothing calls itself: a range of the same name has lost its
 * end, as scans of the MPS that return early, or is parallel to this one.
 */
static int
part_same(struct folded *f, struct stack *s, const char *name, size_t n)
{
	unsigned i;

	for (i = s->depth; i-- > 0;) {
		if (!has_name(&s->frames[i], name, n))
			continue;
		if (s->nparted == PARTED_MAX) {
			if (!take_out(f, s, &s->parted[0]))
				return 0;
			drop_parted(s, 0);
		}
		if (!TEL__RESERVE(s->parted, s->parted_room, s->nparted + 1))
			return 0;
		s->parted[s->nparted++] = s->frames[i];
		remove_frame(s, i);
	}
	return 1;
}

static void
begin(struct tel_printer *pr, const struct timeline_track *t, uint64_t time,
    const char *name, size_t n, const struct tel_event *ev)
{
	struct folded *f = pr->state;
	struct stack *s = stack_of(f, t);
	struct frame *frame;
	char *copy;

	(void)ev;
	f->ranges = 1;
	if (s == NULL || !advance(f, s, time)) {
		f->timeline->no_memory = 1;
		return;
	}
	if (s->context->use != TIMELINE_THREAD && !part_same(f, s, name, n)) {
		f->timeline->no_memory = 1;
		return;
	}
	if (s->depth == DEPTH_MAX)
		return;
	copy = tel__copy_string(name, n);
	if (copy == NULL) {
		f->timeline->no_memory = 1;
		return;
	}
	frame = &s->frames[s->depth++];
	memset(frame, 0, sizeof(*frame));
	frame->track = t;
	frame->name = copy;
	frame->length = n;
}

static void
end(struct tel_printer *pr, const struct timeline_track *t, uint64_t time)
{
	struct folded *f = pr->state;
	struct stack *s = stack_of(f, t);
	unsigned i;
	size_t j;

	if (s == NULL || !advance(f, s, time)) {
		f->timeline->no_memory = 1;
		return;
	}
	for (i = s->depth; i-- > 0;) {
		if (s->frames[i].track != t)
			continue;
		free_frame(&s->frames[i]);
		remove_frame(s, i);
		return;
	}
	for (j = s->nparted; j-- > 0;) {
		if (s->parted[j].track != t)
			continue;
		drop_parted(s, j);
		return;
	}
}

static void
span(struct tel_printer *pr, const struct timeline_track *t, uint64_t time,
    uint64_t length, const char *name, size_t n, const struct tel_event *ev,
    int method)
{
	struct folded *f = pr->state;
	struct stack *s = stack_of(f, t);
	const char *label = NULL;
	size_t size = 0, more, line;

	f->ranges = 1;
	if (method >= 0)
		label = tel_event_label(ev, (unsigned)method, &more);
	if (s == NULL || !advance(f, s, time) || !put_stack(f, s, &size) ||
	    !put_frame(f, &size, name, n) ||
	    (label != NULL && !put_frame(f, &size, label, more)) ||
	    !add_weight(f, size, length, &line)) {
		f->timeline->no_memory = 1;
		return;
	}
	if (time + length > s->last)
		s->last = time + length;
}

static void
track(struct tel_printer *pr, const struct timeline_track *t)
{
	(void)pr;
	(void)t;
}

static const struct timeline_ops ops = { track, begin, end, span, NULL, NULL,
	NULL, NULL, NULL };

/*
 * At the end of the log, open ranges end with its last event; but where others
 * of their name have lost their end, so have they.
 */
static int
close_stack(struct folded *f, struct stack *s)
{
	int good = advance(f, s, f->timeline->last);
	size_t i, j;

	for (i = 0; good && i < s->nparted; i++) {
		good = take_out(f, s, &s->parted[i]);
		for (j = s->depth; good && j-- > 0;) {
			struct frame last = s->frames[j];

			if (!has_name(&last, s->parted[i].name,
			        s->parted[i].length))
				continue;
			remove_frame(s, (unsigned)j);
			good = take_out(f, s, &last);
			free_frame(&last);
		}
	}
	while (s->depth > 0)
		free_frame(&s->frames[--s->depth]);
	while (s->nparted > 0)
		free_frame(&s->parted[--s->nparted]);
	free(s->parted);
	free(s);
	return good;
}

static tel_status
close_stacks(struct folded *f)
{
	size_t i;
	int good = 1;

	for (i = 0; i < f->nstacks; i++) {
		if (f->stacks[i] != NULL)
			good &= close_stack(f, f->stacks[i]);
		f->stacks[i] = NULL;
	}
	return good ? TEL_OK : TEL_ENOMEM;
}

static void
release(struct tel_printer *pr)
{
	struct folded *f = pr->state;
	size_t i;

	if (f == NULL)
		return;
	(void)close_stacks(f);
	tel_heap_free(f->heap);
	for (i = 0; i < f->nlines; i++)
		free(f->lines[i].text);
	tel__table_clear(&f->by_text);
	tel__timeline_free(f->timeline);
	free(f->lines);
	free(f->stacks);
	free(f->text);
	free(f);
}

static tel_status
begin_log(struct tel_printer *pr, const struct tel_event *ev, int same)
{
	struct folded *f = pr->state;
	tel_status st;

	(void)ev;
	if (f == NULL) {
		f = calloc(1, sizeof(*f));
		if (f == NULL)
			return TEL_ENOMEM;
		tel__table_init(&f->by_text);
		f->timeline = tel__timeline_new(&ops);
		if (f->timeline == NULL) {
			free(f);
			return TEL_ENOMEM;
		}
		f->terminal = pr->terminal;
		pr->state = f;
		return TEL_OK;
	}
	if (same)
		return TEL_OK;
	if (f->heap != NULL && pr->fresh)
		tel_heap_end(f->heap);
	st = close_stacks(f);
	tel__timeline_begin(f->timeline);
	return st;
}

static tel_status
event(struct tel_printer *pr, const struct tel_event *ev)
{
	struct folded *f = pr->state;

	/* without a weight, allocations count where there are no ranges */
	if (tel_type_is_alloc(ev->type) && (pr->weighted || !f->ranges)) {
		if (f->heap == NULL && (f->heap = tel_heap_new()) == NULL)
			return TEL_ENOMEM;
		if (tel_heap_event(f->heap, ev) != TEL_OK)
			return TEL_ENOMEM;
	}
	return pr->weighted ? TEL_OK : tel__timeline_event(pr, f->timeline, ev);
}

/* Makes a line of each stack that allocated. */
static tel_status
add_heap(struct folded *f, tel_heap_weight weight)
{
	tel_heap_stack s;
	const char *text;
	uint64_t w;
	size_t i, n, line;

	for (i = 0; tel_heap_stack_at(f->heap, i, &s); i++) {
		w = tel_heap_weight_of(&s, weight);
		if (w == 0)
			continue;
		text = tel_heap_frames(f->heap, i);
		if (text == NULL)
			return TEL_ENOMEM;
		n = strlen(text);
		if (!TEL__RESERVE(f->text, f->text_room, n + 1))
			return TEL_ENOMEM;
		for (; n > 0; n--)
			f->text[n - 1] =
			    f->terminal && (unsigned char)text[n - 1] > 0x7f ?
			    '?' :
			    text[n - 1];
		if (!add_weight(f, strlen(text), w, &line))
			return TEL_ENOMEM;
	}
	return TEL_OK;
}

static int
compare(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return strcmp(x->text, y->text);
}

static tel_status
finish(struct tel_printer *pr)
{
	struct folded *f = pr->state;
	char number[32];
	int heap;
	size_t i;

	heap = f != NULL && !f->ranges && f->heap != NULL &&
	    tel_heap_recorded(f->heap);
	if (f == NULL || (!f->ranges && !heap))
		return tel__render_fail(pr, "%s",
		    pr->weighted ?
		        "no selected event records its stack, its caller or "
		        "its pool" :
		        "no selected event is the start or end of a range, or "
		        "records its stack or its pool");
	if (close_stacks(f) != TEL_OK ||
	    (heap && add_heap(f, pr->weight) != TEL_OK))
		return TEL_ENOMEM;
	if (f->nlines > 0)
		qsort(f->lines, f->nlines, sizeof(f->lines[0]), compare);
	for (i = 0; i < f->nlines; i++) {
		if (f->lines[i].weight == 0)
			continue;
		(void)tel_output_write(pr->out, f->lines[i].text,
		    strlen(f->lines[i].text));
		(void)snprintf(number, sizeof(number), " %llu\n",
		    (unsigned long long)f->lines[i].weight);
		(void)tel_output_write(pr->out, number, strlen(number));
	}
	/* the hashes of by_text are of lines that were moved */
	tel__table_clear(&f->by_text);
	tel__table_init(&f->by_text);
	return pr->out->status;
}

const struct tel_renderer tel__renderer_folded = {
	.name = "folded",
	.flags = TEL_PRINTER_TIMELINE | TEL_PRINTER_WHOLE | TEL_PRINTER_WEIGHT,
	.begin_log = begin_log,
	.event = event,
	.finish = finish,
	.release = release,
};
