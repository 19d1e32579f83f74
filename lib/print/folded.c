/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Folded stacks, as flame graphs are made of: the ranges that were open at
 * once, outermost first, and for how long nothing else was open in them; or
 * the stacks or pools that allocated, and how much.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "model/stacks.h"
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

/* What a frame has added to the weight of a stack. */
struct share {
	uint32_t node;
	uint64_t weight;
};

struct frame {
	const struct timeline_track *track; /* that it was begun on */
	uint32_t name;                      /* its number in the tree */
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
	struct tel__stacks tree;
	uint64_t *weights; /* of its nodes */
	size_t weight_room;
	size_t nweights; /* stacks that have, or had, one */
	struct line *lines;
	size_t nlines, room;
	tel_heap *samples; /* of stacks; NULL: there were none */
	int ranges;        /* there were some */
	tel_heap *heap;    /* NULL: no event has allocated */
	int terminal;      /* no byte of a name may steer it */
};

/* The stack of a track; NULL: no memory. */
static struct stack *
stack_of(struct folded *f, const struct timeline_track *t)
{
	const struct timeline_track *context = t;

	while (context->use != TIMELINE_THREAD && context->parent != NULL)
		context = context->parent;
	size_t id = context->id;
	if (!TEL__RESERVE_ZEROED(f->stacks, f->nstacks, id + 1))
		return NULL;
	if (f->stacks[id] == NULL) {
		f->stacks[id] = calloc(1, sizeof(struct stack));
		if (f->stacks[id] != NULL)
			f->stacks[id]->context = context;
	}
	return f->stacks[id];
}

/* Adds to the weight of a stack.  Its node, or that of the others; 0: no memory. */
static uint32_t
add_weight(struct folded *f, uint32_t node, uint64_t weight)
{
	if (node == 0 ||
	    !TEL__RESERVE_ZEROED(f->weights, f->weight_room, f->tree.nnodes))
		return 0;
	/* its user's number is 1 from its first weight on */
	if (*tel__stacks_user(&f->tree, node) == 0) {
		if (f->nweights >= STACKS_MAX) {
			node = tel__stacks_others(&f->tree);
			if (node == 0 ||
			    !TEL__RESERVE_ZEROED(f->weights, f->weight_room,
			        f->tree.nnodes))
				return 0;
		} else {
			f->nweights++;
			*tel__stacks_user(&f->tree, node) = 1;
		}
	}
	if (__builtin_add_overflow(f->weights[node], weight, &f->weights[node]))
		f->weights[node] = UINT64_MAX;
	return node;
}

/* Finds the node of a stack.  1, or 0: no memory. */
static int
find_node(struct folded *f, const struct stack *s, uint32_t *node)
{
	*node = 0;
	if (s->context->use == TIMELINE_THREAD &&
	    (*node = tel__stacks_name(&f->tree, 0, s->context->name,
	         s->context->length)) == 0)
		return 0;
	for (unsigned i = 0; i < s->depth; i++)
		if ((*node = tel__stacks_child(&f->tree, *node,
		         s->frames[i].name)) == 0)
			return 0;
	return 1;
}

static void
free_frame(struct frame *fr)
{
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
find_share(struct frame *fr, uint32_t node)
{
	for (size_t i = fr->nshares; i-- > 0;)
		if (fr->shares[i].node == node)
			return &fr->shares[i];
	return NULL;
}

/* Notes that a frame has added to the weight of a stack. */
static int
add_share(struct frame *fr, uint32_t node, uint64_t weight)
{
	if (fr->kept)
		return 1;
	struct share *share = find_share(fr, node);
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
	fr->shares[fr->nshares].node = node;
	fr->shares[fr->nshares++].weight = weight;
	return 1;
}

/* Counts the time up to now for the open ranges. */
static int
folded_advance(struct folded *f, struct stack *s, uint64_t time)
{
	uint64_t weight = time > s->last ? time - s->last : 0;
	uint32_t node, of;

	if (weight > 0)
		s->last = time;
	if (weight == 0 || s->depth == 0)
		return 1;
	if (!find_node(f, s, &node) || (of = add_weight(f, node, weight)) == 0)
		return 0;
	/* nothing is taken out of the other stacks */
	if (s->context->use == TIMELINE_THREAD || of != node)
		return 1;
	for (unsigned i = 0; i < s->depth; i++)
		if (!add_share(&s->frames[i], node, weight))
			return 0;
	return 1;
}

/* A frame's share of a stack is now one of a stack without another frame. */
static int
move_share(struct frame *fr, const struct share *from, uint32_t node,
    const struct frame *out)
{
	struct share *share;
	uint64_t weight;

	/* those of one name were not open at once */
	if (fr->name == out->name ||
	    (share = find_share(fr, from->node)) == NULL)
		return 1;
	weight = share->weight < from->weight ? share->weight : from->weight;
	share->weight -= weight;
	return node == 0 || add_share(fr, node, weight);
}

/* Finds the node of a stack without a frame; 0: nothing is left, or *good is. */
static uint32_t
find_without(struct folded *f, uint32_t node, uint32_t name, int *good)
{
	uint32_t names[DEPTH_MAX + 1], left = 0;
	unsigned n = 0;

	for (; node != 0 && n <= DEPTH_MAX; node = f->tree.nodes[node].parent)
		if (f->tree.nodes[node].name + 1 != name)
			names[n++] = f->tree.nodes[node].name + 1;
	while (n > 0 && *good) {
		left = tel__stacks_child(&f->tree, left, names[--n]);
		*good = left != 0;
	}
	return left;
}

/*
 * Takes a range that has lost its end out of the stacks: nobody knows how long
 * it was, and what else was open was open without it.
 */
static int
take_out(struct folded *f, struct stack *s, const struct frame *fr)
{
	int good = 1;

	for (size_t i = 0; i < fr->nshares && good; i++) {
		const struct share *from = &fr->shares[i];

		f->weights[from->node] -=
		    from->weight < f->weights[from->node] ?
		    from->weight :
		    f->weights[from->node];
		uint32_t node = find_without(f, from->node, fr->name, &good);
		if (node == 0)
			continue;
		uint32_t of = add_weight(f, node, from->weight);
		good = of != 0;
		if (of != node)
			node = 0;
		for (size_t j = 0; j < s->depth && good; j++)
			good = move_share(&s->frames[j], from, node, fr);
		for (size_t j = 0; j < s->nparted && good; j++)
			good = move_share(&s->parted[j], from, node, fr);
	}
	return good;
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
part_same(struct folded *f, struct stack *s, uint32_t name)
{
	for (unsigned i = s->depth; i-- > 0;) {
		if (s->frames[i].name != name)
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
folded_begin(struct tel_printer *pr, const struct timeline_track *t,
    uint64_t time, const char *name, size_t n, const struct tel_event *ev)
{
	struct folded *f = pr->state;
	struct stack *s = stack_of(f, t);
	const uint32_t number = tel__stacks_intern(&f->tree, name, n);

	(void)ev;
	f->ranges = 1;
	if (s == NULL || number == 0 || !folded_advance(f, s, time) ||
	    (s->context->use != TIMELINE_THREAD && !part_same(f, s, number))) {
		f->timeline->no_memory = 1;
		return;
	}
	if (s->depth == DEPTH_MAX)
		return;
	struct frame *frame = &s->frames[s->depth++];
	memset(frame, 0, sizeof(*frame));
	frame->track = t;
	frame->name = number;
}

static void
folded_end(struct tel_printer *pr, const struct timeline_track *t,
    uint64_t time)
{
	struct folded *f = pr->state;
	struct stack *s = stack_of(f, t);

	if (s == NULL || !folded_advance(f, s, time)) {
		f->timeline->no_memory = 1;
		return;
	}
	for (unsigned i = s->depth; i-- > 0;) {
		if (s->frames[i].track != t)
			continue;
		free_frame(&s->frames[i]);
		remove_frame(s, i);
		return;
	}
	for (size_t j = s->nparted; j-- > 0;) {
		if (s->parted[j].track != t)
			continue;
		drop_parted(s, j);
		return;
	}
}

/* Goes on from a node with the stack that an event has itself, if it has one. */
static int
add_own_stack(struct folded *f, const struct tel_event *ev, uint32_t *node)
{
	const int field = tel__stacks_field(ev->type);
	struct tel__stacks *tree = &f->tree;
	struct tel__stack_log *log;
	uint32_t own;
	size_t n = 0;

	if (field < 0 || tel_event_u64(ev, (unsigned)field) == 0)
		return 1;
	log = tel__stacks_log(tree, ev->log);
	if (log == NULL || (own = tel__stacks_find(tree, log, ev, 0)) == 0)
		return 0;
	for (; own != 0; own = tree->nodes[own].parent) {
		if (!TEL__RESERVE(tree->path, tree->path_room, n + 1))
			return 0;
		tree->path[n++] = tree->nodes[own].name + (size_t)1;
	}
	while (n > 0)
		if ((*node = tel__stacks_child(tree, *node,
		         (uint32_t)tree->path[--n])) == 0)
			return 0;
	return 1;
}

static void
folded_span(struct tel_printer *pr, const struct timeline_track *t,
    uint64_t time, uint64_t length, const char *name, size_t n,
    const struct tel_event *ev, int method)
{
	struct folded *f = pr->state;
	struct stack *s = stack_of(f, t);
	const char *label = NULL;
	uint32_t node;
	size_t more;

	f->ranges = 1;
	if (method >= 0)
		label = tel_event_label(ev, (unsigned)method, &more);
	if (s == NULL || !folded_advance(f, s, time) ||
	    !find_node(f, s, &node) || !add_own_stack(f, ev, &node) ||
	    (node = tel__stacks_name(&f->tree, node, name, n)) == 0 ||
	    (label != NULL &&
	        (node = tel__stacks_name(&f->tree, node, label, more)) == 0) ||
	    add_weight(f, node, length) == 0) {
		f->timeline->no_memory = 1;
		return;
	}
	if (time + length > s->last)
		s->last = time + length;
}

static const struct timeline_ops ops = { .begin = folded_begin,
	.end = folded_end,
	.span = folded_span };

/*
 * At the end of the log, open ranges end with its last event; but where others
 * of their name have lost their end, so have they.
 */
static int
close_stack(struct folded *f, struct stack *s)
{
	int good = folded_advance(f, s, f->timeline->last);

	for (size_t i = 0; good && i < s->nparted; i++) {
		good = take_out(f, s, &s->parted[i]);
		for (size_t j = s->depth; good && j-- > 0;) {
			struct frame last = s->frames[j];

			if (last.name != s->parted[i].name)
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
	int good = 1;

	for (size_t i = 0; i < f->nstacks; i++) {
		if (f->stacks[i] != NULL)
			good &= close_stack(f, f->stacks[i]);
		f->stacks[i] = NULL;
	}
	return good ? TEL_OK : TEL_ENOMEM;
}

static void
clear_lines(struct folded *f)
{
	while (f->nlines > 0)
		free(f->lines[--f->nlines].text);
}

static void
folded_release(struct tel_printer *pr)
{
	struct folded *f = pr->state;

	(void)close_stacks(f);
	tel_heap_free(f->heap);
	tel_heap_free(f->samples);
	clear_lines(f);
	tel__stacks_clear(&f->tree);
	tel__timeline_free(f->timeline);
	free(f->lines);
	free(f->weights);
	free(f->stacks);
}

static tel_status
folded_begin_log(struct tel_printer *pr, const struct tel_event *ev)
{
	struct folded *f = pr->state;

	(void)ev;
	if (f == NULL) {
		f = calloc(1, sizeof(*f));
		if (f == NULL)
			return TEL_ENOMEM;
		f->timeline = tel__timeline_new(&ops);
		if (f->timeline == NULL || !tel__stacks_init(&f->tree)) {
			tel__timeline_free(f->timeline);
			free(f);
			return TEL_ENOMEM;
		}
		f->terminal = pr->terminal;
		pr->state = f;
		return TEL_OK;
	}
	if (pr->continues)
		return TEL_OK;
	/* the readers of the logs before are gone */
	if (f->heap != NULL && pr->fresh)
		tel_heap_end(f->heap);
	if (pr->fresh)
		tel__stacks_end(&f->tree);
	if (f->samples != NULL && pr->fresh)
		tel_heap_end(f->samples);
	tel_status st = close_stacks(f);
	tel__timeline_begin(f->timeline);
	return st;
}

/* Adds a sample to its stack: its weight, or 1. */
static tel_status
add_sample(struct folded *f, const struct tel_event *ev)
{
	if (f->samples == NULL) {
		f->samples = tel_heap_new();
		if (f->samples == NULL)
			return TEL_ENOMEM;
		(void)tel_heap_set_samples(f->samples, 1);
	}
	return tel_heap_event(f->samples, ev);
}

static tel_status
folded_event(struct tel_printer *pr, const struct tel_event *ev)
{
	struct folded *f = pr->state;

	if (ev->type->role == TEL_ROLE_SAMPLE && !pr->weighted)
		return add_sample(f, ev);
	/* without a weight, allocations count where there are no ranges */
	if (tel_type_is_alloc(ev->type) && (pr->weighted || !f->ranges)) {
		if (f->heap == NULL && (f->heap = tel_heap_new()) == NULL)
			return TEL_ENOMEM;
		if (tel_heap_event(f->heap, ev) != TEL_OK)
			return TEL_ENOMEM;
	}
	return pr->weighted ? TEL_OK : tel__timeline_event(pr, f->timeline, ev);
}

/* Adds a line; text NULL: no memory.  1, or 0. */
static int
add_line(struct folded *f, const char *text, uint64_t weight)
{
	if (text == NULL || !TEL__RESERVE(f->lines, f->room, f->nlines + 1))
		return 0;
	struct line *line = &f->lines[f->nlines];
	line->text = strdup(text);
	line->weight = weight;
	if (line->text == NULL)
		return 0;
	for (char *c = line->text; f->terminal && *c != '\0'; c++)
		if ((unsigned char)*c > 0x7f)
			*c = '?';
	f->nlines++;
	return 1;
}

/* Makes a line of each stack that has a weight. */
static int
add_lines(struct folded *f, int heap, tel_heap_weight weight)
{
	tel_heap_stack s;

	for (size_t i = 0; i < f->tree.nnodes && i < f->weight_room; i++)
		if (f->weights[i] > 0 &&
		    !add_line(f, tel__stacks_text(&f->tree, (uint32_t)i),
		        f->weights[i]))
			return 0;
	for (size_t i = 0; heap && tel_heap_stack_at(f->heap, i, &s); i++) {
		uint64_t w = tel_heap_weight_of(&s, weight);

		if (w > 0 && !add_line(f, tel_heap_frames(f->heap, i), w))
			return 0;
	}
	return 1;
}

/* Makes a line of each stack of samples. */
static int
add_samples(struct folded *f)
{
	tel_heap_stack s;

	for (size_t i = 0; tel_heap_stack_at(f->samples, i, &s); i++)
		if (!add_line(f, tel_heap_frames(f->samples, i),
		        s.allocated_bytes))
			return 0;
	return 1;
}

static int
folded_compare(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return strcmp(x->text, y->text);
}

static tel_status
folded_finish(struct tel_printer *pr)
{
	struct folded *f = pr->state;
	char number[32];
	struct line *line;
	size_t i;
	int heap = f != NULL && !f->ranges && f->heap != NULL &&
	    tel_heap_recorded(f->heap);

	if (f == NULL || (!f->ranges && !heap && f->samples == NULL))
		return tel__render_fail(pr, "%s",
		    pr->weighted ?
		        "no selected event records its stack, its caller or "
		        "its pool" :
		        "no selected event is the start or end of a range, or "
		        "records its stack or its pool");
	if (close_stacks(f) != TEL_OK || !add_lines(f, heap, pr->weight))
		return TEL_ENOMEM;
	/* a profile is of its samples, and not of what lasts as well */
	if (f->samples != NULL && !heap) {
		clear_lines(f);
		if (!add_samples(f))
			return TEL_ENOMEM;
	}
	if (f->nlines > 0)
		qsort(f->lines, f->nlines, sizeof(f->lines[0]), folded_compare);
	for (line = f->lines, i = 0; i < f->nlines; line++, i++) {
		/* names that differ may be written alike */
		if (i + 1 < f->nlines && folded_compare(line, line + 1) == 0) {
			if (__builtin_add_overflow(line[1].weight, line->weight,
			        &line[1].weight))
				line[1].weight = UINT64_MAX;
		} else {
			(void)tel_output_write(pr->out, line->text,
			    strlen(line->text));
			(void)snprintf(number, sizeof(number), " %llu\n",
			    (unsigned long long)line->weight);
			(void)tel_output_write(pr->out, number, strlen(number));
		}
	}
	return pr->out->status;
}

const struct tel_renderer tel__renderer_folded = {
	.name = "folded",
	.flags = TEL_PRINTER_TIMELINE | TEL_PRINTER_WHOLE | TEL_PRINTER_WEIGHT,
	.begin_log = folded_begin_log,
	.event = folded_event,
	.finish = folded_finish,
	.release = folded_release,
};
