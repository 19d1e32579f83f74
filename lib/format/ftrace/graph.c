/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls of the kernel's function_graph tracer: threads, their calls, times. */
#include "format/ftrace/graph.h"

#include <stdlib.h>

#include "base/array.h"

/* The most threads whose calls are known, and processors whose times are. */
#define THREADS_MAX 65536u
#define CPUS_MAX 65536u
/* The key of a processor's thread that no line has named. */
#define UNNAMED (UINT64_C(1) << 62)

struct ft_graph_call {
	uint64_t frame; /* the number of its stack; 0: not known */
	uint64_t start;
	uint64_t inner; /* ns of the calls that it made */
};

struct ft_graph_thread {
	struct ft_graph_call *calls; /* that have not ended, by depth */
	size_t room;
	unsigned depth; /* of which there are so many */
};

struct ft_graph_cpu {
	uint64_t clock; /* the sum of durations */
	int named;      /* a switch named its thread: */
	char tid[24], comm[FT_LABEL_MAX];
	size_t ntid, ncomm;
};

void
tel__ft_graph_init(struct ft_graph *g)
{
	memset(g, 0, sizeof(*g));
	tel__table_init(&g->by_thread);
	tel__table_init(&g->by_cpu);
}

void
tel__ft_graph_lose(struct ft_graph *g)
{
	while (g->nthreads > 0)
		free(g->threads[--g->nthreads].calls);
	tel__table_clear(&g->by_thread);
	tel__table_init(&g->by_thread);
}

void
tel__ft_graph_clear(struct ft_graph *g)
{
	tel__ft_graph_lose(g);
	tel__table_clear(&g->by_cpu);
	free(g->threads);
	free(g->cpus);
	tel__ft_graph_init(g);
}

/* The processor of a line; NULL: out of memory. */
static struct ft_graph_cpu *
find_processor(struct ft_graph *g, const struct ft_line *l)
{
	const struct ft_field *cpu = tel__ft_field(l, "cpu");
	const uint64_t key = cpu != NULL ? cpu->number : UNNAMED;
	struct tel__entry *e = tel__table_find(&g->by_cpu, key);
	int fresh;

	if (e != NULL || g->ncpus == CPUS_MAX)
		return &g->cpus[e != NULL ? e->value : 0];
	if (!TEL__RESERVE_ZEROED(g->cpus, g->cpu_room, g->ncpus + 1) ||
	    (e = tel__table_put(&g->by_cpu, key, &fresh)) == NULL)
		return NULL;
	e->value = g->ncpus++;
	return &g->cpus[e->value];
}

/*
 * The thread of a line: by its number, but those of idle processors share one,
 * or by its processor.  NULL: out of memory.
 */
static struct ft_graph_thread *
graph_find_thread(struct ft_graph *g, const struct ft_line *l)
{
	const struct ft_field *tid = tel__ft_field(l, "tid");
	const struct ft_field *cpu = tel__ft_field(l, "cpu");
	uint64_t key = UNNAMED + (cpu != NULL ? cpu->number : 0);
	int fresh;

	if (tid != NULL && tid->number != 0)
		key = tid->number;
	struct tel__entry *e = tel__table_find(&g->by_thread, key);
	if (e != NULL)
		return &g->threads[e->value];
	/* most threads have ended, and left no call */
	if (g->nthreads == THREADS_MAX)
		tel__ft_graph_lose(g);
	if (!TEL__RESERVE(g->threads, g->room, g->nthreads + 1) ||
	    (e = tel__table_put(&g->by_thread, key, &fresh)) == NULL)
		return NULL;
	e->value = g->nthreads++;
	g->threads[e->value] = (struct ft_graph_thread){ NULL, 0, 0 };
	return &g->threads[e->value];
}

/* Copies a part of a line.  Its length in the copy. */
static size_t
copy_text(char *to, const struct ft_text *from, size_t most)
{
	const size_t n = from->n < most ? from->n : most;

	memcpy(to, from->p, n);
	return n;
}

/* The calls of a processor before its first switch are of the thread it names. */
static void
graph_name_first(struct ft_graph *g, const struct ft_line *l)
{
	struct tel__entry *e =
	    tel__table_find(&g->by_thread, UNNAMED + l->graph.cpu);
	int fresh;

	if (e == NULL || l->graph.from == 0)
		return;
	const uint64_t place = e->value;
	tel__table_remove(&g->by_thread, e);
	e = tel__table_put(&g->by_thread, l->graph.from, &fresh);
	if (e != NULL && fresh)
		e->value = place;
}

tel_status
tel__ft_graph_thread(struct ft_graph *g, struct ft_line *l)
{
	const int has_tid = tel__ft_field(l, "tid") != NULL;
	struct ft_graph_cpu *c;

	if (l->graph.is != FT_SWITCH && (has_tid || g->ncpus == 0))
		return TEL_OK;
	c = find_processor(g, l);
	if (c == NULL)
		return TEL_ENOMEM;
	if (l->graph.is == FT_SWITCH) {
		if (!c->named)
			graph_name_first(g, l);
		c->named = 1;
		c->ntid = copy_text(c->tid, &l->graph.tid, sizeof(c->tid) - 1);
		c->ncomm = copy_text(c->comm, &l->graph.comm, sizeof(c->comm));
	} else if (c->named &&
	    tel__ft_add_field(l, "tid", 3, c->tid, c->tid + c->ntid)) {
		tel__ft_add_label(l, &l->fields[l->nfields - 1],
		    (struct ft_text){ c->comm, c->ncomm });
	}
	return TEL_OK;
}

/* Adds to the time of a processor, which cannot overflow. */
static void
graph_advance(struct ft_graph_cpu *c, uint64_t from, uint64_t ns)
{
	uint64_t to;

	if (!__builtin_add_overflow(from, ns, &to) && to > c->clock)
		c->clock = to;
}

/* The calls of a thread up to a depth, whose last one is the result. */
static struct ft_graph_call *
graph_reach(struct ft_graph_thread *t, unsigned depth)
{
	if (!TEL__RESERVE(t->calls, t->room, depth + 1u))
		return NULL;
	for (; t->depth <= depth; t->depth++)
		memset(&t->calls[t->depth], 0, sizeof(t->calls[0]));
	return &t->calls[depth];
}

/* Ends calls from a depth on whose ends are not in the log. */
static void
graph_leave(struct ft_graph_thread *t, unsigned depth)
{
	while (t->depth > depth) {
		t->depth--;
		/* what they called is of the call around them */
		if (t->depth > 0)
			t->calls[t->depth - 1].inner +=
			    t->calls[t->depth].inner;
	}
}

/* Adds the time of a call at a depth to the call around it.  1, or 0: no memory. */
static int
graph_add_inner(struct ft_graph_thread *t, unsigned depth, uint64_t ns)
{
	struct ft_graph_call *around;

	graph_leave(t, depth);
	if (depth == 0)
		return 1;
	around = graph_reach(t, depth - 1);
	if (around != NULL)
		around->inner += ns;
	return around != NULL;
}

/* The innermost call around one of a depth, whose function is known; or NULL. */
static struct ft_graph_call *
graph_caller(const struct ft_graph_thread *t, unsigned depth)
{
	if (depth > t->depth)
		depth = t->depth;
	while (depth > 0 && t->calls[depth - 1].frame == 0)
		depth--;
	return depth > 0 ? &t->calls[depth - 1] : NULL;
}

/* The number of the stack of a function in a call; 0: it cannot be added. */
static tel_status
graph_intern(struct tel_reader *r, struct tel__index *seen,
    const struct ft_graph_call *caller, const struct ft_text *func,
    uint64_t *stack)
{
	const struct tel_frame frame = { 0, caller != NULL ? caller->frame : 0,
		func->p, func->n };
	tel_status st =
	    tel__labels_intern_frame(r->log.labels, seen, &frame, stack);

	if (st == TEL_ELIMIT) {
		*stack = 0;
		tel__reader_limit(r, r->offset, "frames of stacks");
		return TEL_OK;
	}
	return st;
}

/* Completes the line that ends a call: function, stack, own time. */
static tel_status
graph_return(struct ft_graph_thread *t, struct tel_reader *r,
    struct tel__index *seen, struct ft_line *l, struct ft_graph_cpu *c,
    uint64_t *stack)
{
	struct ft_field *func = &l->fields[l->graph.func];
	const unsigned depth = l->graph.depth;
	struct ft_graph_call *call, *caller;
	const struct tel_frame *frame = NULL;
	uint64_t ns = l->graph.duration, start = 0;
	int known = 1;

	graph_leave(t, depth + 1);
	call = graph_reach(t, depth);
	if (call == NULL)
		return TEL_ENOMEM;
	if (call->frame > 0)
		frame = tel__labels_frame(r->log.labels, call->frame - 1);
	caller = graph_caller(t, depth);
	/* the kernel names it where that was not the last one to be called */
	if (func->value.n > 0 &&
	    (frame == NULL || frame->length != func->value.n ||
	        memcmp(frame->name, func->value.p, func->value.n) != 0)) {
		if (graph_intern(r, seen, caller, &func->value, stack) !=
		    TEL_OK)
			return TEL_ENOMEM;
		known = 0;
	} else if (frame != NULL) {
		func->value.p = frame->name;
		func->value.n = frame->length;
		*stack = call->frame;
		if (l->graph.summed)
			graph_advance(c, call->start, ns);
	} else {
		known = 0;
	}
	if (l->graph.summed)
		l->clock = c->clock;
	/* it may have started before the log */
	start = known ? call->start : l->clock > ns ? l->clock - ns : 0;
	if (l->graph.start < l->nfields)
		l->fields[l->graph.start].number = start;
	if (l->graph.self < l->nfields)
		l->fields[l->graph.self].number =
		    ns > call->inner ? ns - call->inner : 0;
	call->inner = 0;
	return graph_add_inner(t, depth, ns) ? TEL_OK : TEL_ENOMEM;
}

tel_status
tel__ft_graph_take(struct ft_graph *g, struct tel_reader *r,
    struct tel__index *seen, struct ft_line *l, uint64_t *stack)
{
	struct ft_graph_cpu *c = find_processor(g, l);
	struct ft_graph_thread *t = graph_find_thread(g, l);
	struct ft_graph_call *call, *caller;
	tel_status st;

	*stack = 0;
	if (c == NULL || t == NULL)
		return TEL_ENOMEM;
	if (l->graph.summed)
		l->clock = c->clock;
	/* functions are not known below that */
	if (l->graph.is == FT_INSIDE || l->graph.depth >= FT_GRAPH_DEPTH_MAX)
		return TEL_OK;
	if (l->graph.is == FT_RETURN)
		return graph_return(t, r, seen, l, c, stack);
	caller = graph_caller(t, l->graph.depth);
	st = graph_intern(r, seen, caller, &l->fields[l->graph.func].value,
	    stack);
	if (st != TEL_OK)
		return st;
	if (l->graph.is == FT_LEAF) {
		if (l->graph.start < l->nfields)
			l->fields[l->graph.start].number = l->clock;
		if (l->graph.summed)
			graph_advance(c, l->clock, l->graph.duration);
		return graph_add_inner(t, l->graph.depth, l->graph.duration) ?
		    TEL_OK :
		    TEL_ENOMEM;
	}
	graph_leave(t, l->graph.depth);
	call = graph_reach(t, l->graph.depth);
	if (call == NULL)
		return TEL_ENOMEM;
	*call = (struct ft_graph_call){ *stack, l->clock, 0 };
	return TEL_OK;
}
