/* SPDX-License-Identifier: BSD-2-Clause */
/* The one loop over the events of all operands, merged or not. */
#include "event_loop.h"

#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include "format.h"
#include "message.h"
#include "progress.h"
#include "tel/run.h"

/* Less than this unread, and the next event may have to be waited for. */
#define NEARLY_NOTHING 1024

/* So much that was read of a pipe is written before more is read. */
#define HELD_MAX 8192

/* Where events come from, and where they go. */
struct event_loop {
	struct settings *settings;
	const struct visitor *visitor;
	struct source **sources; /* one, or those that are merged */
	int nsources;
	tel_window *window; /* of a single source, or NULL */
	tel_merge *merge;   /* of several, or NULL */
	struct progress progress;
	uint64_t opened; /* sources so far */
	int whole;       /* all events are selected */
	int runs;        /* they are read as runs */
	int settled;     /* no later event is that from which time counts */
};

static struct done
count_done(const struct event_loop *p)
{
	struct done done = { 0, 0 };
	int i;

	for (i = 0; i < p->nsources; i++) {
		const tel_reader *r = p->sources[i]->reader;

		done.events += tel_reader_count(r, TEL_COUNT_EVENTS);
		done.input += tel_reader_count(r, TEL_COUNT_INPUT);
	}
	return done;
}

/*
 * Nonzero when the next event would have to be waited for; or when it has to be
 * read, and much that was read before it may not be written yet: whoever kills
 * the program then loses no more than was read at once.
 */
static int
would_wait(struct source *src)
{
	struct pollfd p = { .fd = src->fd, .events = POLLIN };
	uint64_t bytes;

	if (tel_reader_pending(src->reader) >= NEARLY_NOTHING)
		return 0;
	bytes = tel_reader_count(src->reader, TEL_COUNT_BYTES);
	if (bytes - src->flushed < HELD_MAX && poll(&p, 1, 0) != 0)
		return 0;
	src->flushed = bytes;
	return 1;
}

/* What was read at once: an event, and those that came with it if any did. */
struct batch {
	const tel_event *first;
	tel_run *run; /* NULL: only the one */
};

static tel_status
next_batch(const struct event_loop *p, struct batch *b)
{
	tel_status st;

	if (p->merge != NULL)
		return tel_merge_next(p->merge, &b->first);
	if (!p->runs)
		return p->window != NULL ?
		    tel_window_next(p->window, &b->first) :
		    tel_reader_next(p->sources[0]->reader, &b->first);
	st = p->window != NULL ?
	    tel_window_run(p->window, &b->run) :
	    tel_reader_run(p->sources[0]->reader, SIZE_MAX, &b->run);
	if (st == TEL_OK)
		b->first = tel_run_event(b->run, 0);
	return st;
}

static void
report_failure(const struct event_loop *p, tel_status st)
{
	const struct source *src = p->sources[0];
	const char *text;
	int i;

	if (p->merge != NULL) {
		text = tel_merge_error(p->merge);
		for (i = 0; i < p->nsources; i++)
			if (p->sources[i]->reader == tel_merge_failed(p->merge))
				src = p->sources[i];
	} else if (p->window != NULL) {
		text = tel_window_error(p->window);
	} else {
		text = tel_reader_error(src->reader);
	}
	source_failed(src, st, text);
}

/*
 * Reports a failure that had not been reached at the last selected event: had
 * all been read, it might have been another.
 */
static void
report_held_back(const struct event_loop *p)
{
	const tel_reader *r;
	tel_status st;
	int i;

	if (p->merge != NULL && tel_merge_failed(p->merge) != NULL) {
		report_failure(p, TEL_EIO);
		return;
	}
	for (i = 0; i < p->nsources; i++) {
		r = p->sources[i]->reader;
		st = tel_reader_failed(r);
		if (st != TEL_OK)
			source_failed(p->sources[i], st, tel_reader_error(r));
	}
}

/* -t in seconds needs a clock rate, which some logs lack. */
static int
knows_seconds(const struct event_loop *p)
{
	const struct source *src = p->sources[0];

	if (!p->settings->select.seconds ||
	    tel_reader_tick_rate(src->reader) > 0)
		return 1;
	message_fail(STATUS_FAILED, src->name,
	    "-t: the log does not record the rate of its clock");
	return 0;
}

/* Passes an event on, if it is selected. */
static enum outcome
loop_visit(const struct event_loop *p, const tel_event *ev)
{
	struct settings *s = p->settings;
	enum outcome outcome;
	int wanted;

	if (p->whole)
		return p->visitor->event(p->visitor->arg, ev);
	wanted = selection_match(&s->select, ev);
	if (wanted <= 0)
		return wanted == 0 ? CONTINUE : END_ALL;
	outcome = p->visitor->event(p->visitor->arg, ev);
	return selection_full(&s->select) ? END_ALL : outcome;
}

/* The same for the events of a run. */
static enum outcome
visit_run(const struct event_loop *p, tel_run *run)
{
	if (!p->whole && !selection_run(&p->settings->select, run))
		return END_ALL;
	return tel_run_count(run) == 0 ? CONTINUE :
	                                 p->visitor->run(p->visitor->arg, run);
}

/* Limits reading of the log to the selected time. */
static void
loop_narrow(const struct event_loop *p, const tel_event *ev)
{
	int i;

	/* what a reader learns of the clock depends on all before it */
	if (p->visitor->needs_rate || p->visitor->remembers)
		return;
	for (i = 0; i < p->nsources; i++)
		selection_narrow(&p->settings->select, p->sources[i]->reader,
		    ev);
}

/* Has events left out that nobody has a use for. */
static void
loop_attach(const struct event_loop *p)
{
	const struct settings *s = p->settings;
	int i;

	/* what another format makes of events may depend on any of them */
	if (p->visitor->needs_rate || p->visitor->remembers ||
	    (s->writes && s->format != NULL && !format_native(s->format)))
		return;
	for (i = 0; i < p->nsources; i++)
		selection_attach(&s->select, p->sources[i]->reader, s->writes,
		    p->settled);
}

/* Nonzero when no source has to be waited for. */
static int
all_regular(const struct event_loop *p)
{
	int i;

	for (i = 0; i < p->nsources; i++)
		if (!p->sources[i]->regular)
			return 0;
	return 1;
}

/* The source that is read for the next event, if that may be waited for. */
static struct source *
waited_for(const struct event_loop *p)
{
	const tel_reader *r;
	int i;

	if (p->merge == NULL)
		return p->sources[0]->regular ? NULL : p->sources[0];
	r = tel_merge_reading(p->merge);
	for (i = 0; i < p->nsources; i++)
		if (p->sources[i]->reader == r)
			return p->sources[i]->regular ? NULL : p->sources[i];
	return NULL;
}

/* The loop over the events. */
static enum outcome
pump(struct event_loop *p)
{
	const struct visitor *v = p->visitor;
	size_t until = PROGRESS_EVENTS, n;
	enum outcome outcome = CONTINUE;
	const int waits = v->idle != NULL && !all_regular(p);
	struct source *src;
	struct batch b = { NULL, NULL };
	tel_status st;
	int first = 1;

	if (!p->settings->all_events && selection_full(&p->settings->select))
		return END_ALL;
	loop_narrow(p, NULL);
	loop_attach(p);
	while (outcome == CONTINUE) {
		src = waits ? waited_for(p) : NULL;
		if (src != NULL && would_wait(src))
			v->idle(v->arg);
		st = next_batch(p, &b);
		if (st == TEL_LOG)
			continue;
		if (st != TEL_OK) {
			if (st != TEL_END)
				report_failure(p, st);
			break;
		}
		n = b.run != NULL ? tel_run_count(b.run) : 1;
		until -= n < until ? n : until;
		if (until == 0) {
			until = PROGRESS_EVENTS;
			if (v->step != NULL)
				v->step(v->arg, count_done(p));
			if (progress_due(&p->progress))
				progress_show(&p->progress, count_done(p));
		}
		if (first && !knows_seconds(p))
			return NEXT_FILE;
		if (first)
			loop_narrow(p, b.first);
		first = 0;
		if (v->remembers && tel_event_remember(b.first) != TEL_OK) {
			message_fail(STATUS_FAILED, NULL, "%s",
			    tel_status_text(TEL_ENOMEM));
			return END_ALL;
		}
		outcome = n > 1 ? visit_run(p, b.run) : loop_visit(p, b.first);
	}
	if (outcome != CONTINUE)
		report_held_back(p);
	return outcome;
}

/* Reports events that a live window gave out of order. */
static void
report_late(const struct event_loop *p)
{
	uint64_t late = 0;

	if (p->merge != NULL)
		late = tel_merge_late(p->merge);
	else if (p->window != NULL)
		late = tel_window_late(p->window);
	if (late > 0 && !p->settings->quiet)
		message(p->nsources == 1 ? p->sources[0]->name : NULL,
		    "%" PRIu64 " events are shown after later ones, which -S "
		    "puts in order",
		    late);
}

/* The loop, with what comes before and after it. */
static enum outcome
loop_run(struct event_loop *p)
{
	const struct visitor *v = p->visitor;
	enum outcome outcome = CONTINUE;
	uint64_t size = 0;
	int i;

	for (i = 0; i < p->nsources; i++)
		size += p->sources[i]->size;
	p->whole =
	    p->settings->all_events || selection_all(&p->settings->select);
	p->runs = v->run != NULL && p->merge == NULL && !v->remembers &&
	    (p->whole || selection_by_runs(&p->settings->select));
	progress_begin(&p->progress, p->settings, size);
	if (v->begin == NULL || v->begin(v->arg, p->sources, p->nsources)) {
		outcome = pump(p);
		if (v->end != NULL && v->end(v->arg) == END_ALL)
			outcome = END_ALL;
	}
	report_late(p);
	progress_end(&p->progress, count_done(p));
	return outcome;
}

/*
 * The order of the source's events.  Where a format writes its buffers out of
 * order, a window puts them in order.
 */
static tel_order
order_of(const struct event_loop *p, const struct source *src)
{
	const struct settings *s = p->settings;

	if (s->order != TEL_ORDER_LOG || s->file_order ||
	    tel_schema_ordered(tel_reader_schema(src->reader)))
		return s->order;
	return p->visitor->any_order && !selection_uses_order(&s->select) ?
	    TEL_ORDER_LOG :
	    TEL_ORDER_LIVE;
}

/*
 * True if events that are not allocations may be dropped early: a selection
 * may depend on them.
 */
static int
only_allocs(const struct event_loop *p)
{
	return p->visitor->allocs && selection_all(&p->settings->select);
}

/* Adds the sources to a merge.  Returns 1, or 0 after a message. */
static int
add_all(struct event_loop *p)
{
	tel_order order;
	tel_status st;
	int i;

	p->merge = tel_merge_new();
	if (p->merge == NULL) {
		message_fail(STATUS_FAILED, NULL, "%s",
		    tel_status_text(TEL_ENOMEM));
		return 0;
	}
	/* no log yet: it cannot fail */
	(void)tel_merge_set_allocs(p->merge, only_allocs(p));
	for (i = 0; i < p->nsources; i++) {
		order = order_of(p, p->sources[i]);
		if (order == TEL_ORDER_LOG)
			order = TEL_ORDER_LIVE;
		st = tel_merge_add(p->merge, p->sources[i]->reader, order);
		if (st == TEL_OK)
			continue;
		source_failed(p->sources[i], st,
		    tel_reader_error(p->sources[i]->reader));
		if (st == TEL_ENOMEM)
			return 0;
	}
	return 1;
}

/* Reads sources that are open, as one. */
static enum outcome
run_merged(struct event_loop *p)
{
	enum outcome outcome = CONTINUE;

	if (add_all(p))
		outcome = loop_run(p);
	tel_merge_free(p->merge);
	p->merge = NULL;
	return outcome;
}

/* Reads one source that is open. */
static enum outcome
run_single(struct event_loop *p)
{
	struct settings *s = p->settings;
	enum outcome outcome = CONTINUE;
	tel_order order = order_of(p, p->sources[0]);
	tel_status st = TEL_OK;

	if (!s->no_merge && tel_reader_archive(p->sources[0]->reader))
		return run_merged(p);
	if (order != TEL_ORDER_LOG || p->visitor->needs_rate ||
	    selection_needs_rate(&s->select))
		st = tel_window_new(p->sources[0]->reader, order, &p->window);
	if (st == TEL_OK && p->window != NULL && only_allocs(p))
		st = tel_window_set_allocs(p->window, 1);
	p->settled = order == TEL_ORDER_LOG && !only_allocs(p);
	if (st == TEL_OK)
		outcome = loop_run(p);
	else
		source_failed(p->sources[0], st, NULL);
	tel_window_free(p->window);
	p->window = NULL;
	p->settled = 0;
	return outcome;
}

/*
 * Opens n operands and reads them, as one where there are several.  list has
 * room for a pointer to each; a source does not move, as its reader knows
 * where it is.
 */
static enum outcome
run_operands(struct event_loop *p, struct source *srcs, struct source **list,
    char *const *operands, int n)
{
	struct settings *s = p->settings;
	enum outcome outcome = CONTINUE;
	int i;

	p->sources = list;
	p->nsources = 0;
	for (i = 0; i < n; i++)
		if (source_open(&srcs[i], operands[i]))
			list[p->nsources++] = &srcs[i];
	n = sources_span(list, p->nsources, s) ? p->nsources : 0;
	p->nsources = 0;
	for (i = 0; i < n && outcome == CONTINUE; i++) {
		if (!source_attach(list[i], s))
			continue;
		list[i]->number = ++p->opened;
		if (!selection_bind(&s->select,
		        tel_reader_schema(list[i]->reader))) {
			outcome = END_ALL;
			continue;
		}
		source_explain(list[i], s);
		list[p->nsources++] = list[i];
	}
	if (outcome == CONTINUE && p->nsources > 0)
		outcome = p->nsources == 1 ? run_single(p) : run_merged(p);
	return outcome;
}

enum outcome
source_run(struct settings *s, const struct visitor *v, char *operand)
{
	struct source src, *list[1];
	enum outcome outcome;
	struct event_loop p;

	memset(&p, 0, sizeof(p));
	memset(&src, 0, sizeof(src));
	p.settings = s;
	p.visitor = v;
	src.fd = -1;
	outcome = run_operands(&p, &src, list, &operand, 1);
	source_close(&src);
	return outcome;
}

void
sources_run(struct settings *s, const struct visitor *v)
{
	static char standard_input[] = "-";
	char *none[] = { standard_input };
	char **operands = s->noperands > 0 ? s->operands : none;
	int n = s->noperands > 0 ? s->noperands : 1, step, i, j;
	struct source *srcs = calloc((size_t)n, sizeof(*srcs));
	struct source **list = calloc((size_t)n, sizeof(*list));
	enum outcome outcome = CONTINUE;
	struct event_loop p;

	memset(&p, 0, sizeof(p));
	p.settings = s;
	p.visitor = v;
	step = s->no_merge ? 1 : n;
	if (srcs == NULL || list == NULL) {
		message_fail(STATUS_FAILED, NULL, "%s",
		    tel_status_text(TEL_ENOMEM));
		step = n = 0;
	}
	for (i = 0; i < n && outcome != END_ALL; i += step) {
		for (j = 0; j < step; j++)
			srcs[j].fd = -1;
		outcome = run_operands(&p, srcs, list, operands + i, step);
		for (j = 0; j < step; j++)
			source_close(&srcs[j]);
	}
	free(srcs);
	free(list);
}
