/* SPDX-License-Identifier: BSD-2-Clause */
/* The one loop over the events of all operands, merged or not. */
#include "event_loop.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/read.h"
#include "base/spool.h"
#include "format.h"
#include "message.h"
#include "model/live.h"
#include "progress.h"
#include "reader/span.h"
#include "tel/run.h"

/* Less than this unread, and the next event may have to be waited for. */
#define NEARLY_NOTHING 1024

/* Events of a pipe are held so long for earlier ones that come later. */
#define DELAY_MS 100

/* So much that was read of a pipe is written before more is read. */
#define HELD_MAX 8192

/*
 * Where half of the descriptors are in use, files up to this that are to be
 * merged are copied to one, so that any number can be.
 */
#define SPOOLED_MAX ((uint64_t)1 << 20)

/* Where events come from, and where they go. */
struct event_loop {
	struct settings *settings;
	const struct visitor *visitor;
	struct source **sources; /* one, or those that are merged */
	int nsources;
	tel_window *window; /* of a single source, or NULL */
	tel_order order;    /* of .window: TIME or LIVE; LOG: as they come */
	tel_merge *merge;   /* of several, or NULL */
	struct progress progress;
	uint64_t opened;   /* sources so far */
	int open;          /* names of the selection may come later */
	int whole;         /* all events are selected */
	int runs;          /* they are read as runs */
	int settled;       /* no later event is that from which time counts */
	tel_reader *types; /* reads nothing: all share event types with it */
	int spool;         /* has copies of small files; -1: there are none */
	uint64_t spooled;  /* its size */
};

static struct done
count_done(const struct event_loop *p)
{
	struct done done = { 0, 0 };

	for (int i = 0; i < p->nsources; i++) {
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

	if (src->regular)
		return tel_reader_pending(src->reader) == 0;
	if (tel_reader_pending(src->reader) >= NEARLY_NOTHING)
		return 0;
	uint64_t bytes = tel_reader_count(src->reader, TEL_COUNT_BYTES);
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
	if (p->merge != NULL)
		return tel_merge_next(p->merge, &b->first);
	if (!p->runs)
		return p->window != NULL ?
		    tel_window_next(p->window, &b->first) :
		    tel_reader_next(p->sources[0]->reader, &b->first);
	tel_status st = p->window != NULL ?
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

	if (p->merge != NULL) {
		text = tel_merge_error(p->merge);
		for (int i = 0; i < p->nsources; i++)
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
	if (p->merge != NULL && tel_merge_failed(p->merge) != NULL) {
		report_failure(p, TEL_EIO);
		return;
	}
	for (int i = 0; i < p->nsources; i++) {
		const tel_reader *r = p->sources[i]->reader;
		tel_status st = tel_reader_failed(r);

		if (st != TEL_OK)
			source_failed(p->sources[i], st, tel_reader_error(r));
	}
}

/* -t in seconds needs a clock rate, which some logs lack. */
static int
knows_seconds(const struct event_loop *p, const tel_event *ev)
{
	if (!p->settings->select.seconds || tel_event_tick_rate(ev) > 0)
		return 1;
	return message_fail(STATUS_FAILED,
	    p->nsources == 1 ? p->sources[0]->name : NULL,
	    "-t: %s does not record the rate of its clock",
	    p->nsources == 1 ? "the log" : "one of the logs");
}

/* Passes an event on, if it is selected. */
static enum outcome
loop_visit(const struct event_loop *p, const tel_event *ev)
{
	struct settings *s = p->settings;

	if (p->whole)
		return p->visitor->event(p->visitor->arg, ev);
	int wanted = selection_match(&s->select, ev);
	if (wanted <= 0)
		return wanted == 0 ? CONTINUE : END_ALL;
	enum outcome outcome = p->visitor->event(p->visitor->arg, ev);
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
	/* what a reader learns of the clock depends on all before it */
	if (p->visitor->needs_rate || p->visitor->remembers)
		return;
	for (int i = 0; i < p->nsources; i++)
		selection_narrow(&p->settings->select, p->sources[i]->reader,
		    ev);
}

/* Has events left out that nobody has a use for. */
static void
loop_attach(const struct event_loop *p)
{
	const struct settings *s = p->settings;

	/* what another format makes of events may depend on any of them */
	if (p->visitor->needs_rate || p->visitor->remembers ||
	    (s->writes && s->format != NULL && !format_native(s->format)))
		return;
	for (int i = 0; i < p->nsources; i++)
		selection_attach(&s->select, p->sources[i]->reader, s->writes,
		    p->settled);
}

/* Nonzero when events of the source may be waited for; rings are followed. */
static int
may_wait(const struct event_loop *p, const struct source *src)
{
	return !src->regular ||
	    (p->settings->unbuffered &&
	        strcmp(tel_reader_format(src->reader), "rings") == 0);
}

/* Nonzero when no source has to be waited for. */
static int
none_waits(const struct event_loop *p)
{
	for (int i = 0; i < p->nsources; i++)
		if (may_wait(p, p->sources[i]))
			return 0;
	return 1;
}

/* The source that is read for the next event, if that may be waited for. */
static struct source *
waited_for(const struct event_loop *p)
{
	const tel_reader *r = p->merge == NULL ? p->sources[0]->reader :
	                                         tel_merge_reading(p->merge);
	for (int i = 0; i < p->nsources; i++)
		if (p->sources[i]->reader == r)
			return may_wait(p, p->sources[i]) ? p->sources[i] :
			                                    NULL;
	return NULL;
}

/* The loop over the events. */
static enum outcome
loop_events(struct event_loop *p)
{
	const struct visitor *v = p->visitor;
	size_t until = PROGRESS_EVENTS, n;
	enum outcome outcome = CONTINUE;
	const int waits = v->idle != NULL && !none_waits(p);
	struct batch b = { NULL, NULL };
	int first = 1;

	if (!p->settings->all_events && selection_full(&p->settings->select))
		return END_ALL;
	loop_narrow(p, NULL);
	loop_attach(p);
	while (outcome == CONTINUE) {
		struct source *src = waits ? waited_for(p) : NULL;

		if (src != NULL && would_wait(src))
			v->idle(v->arg);
		tel_status st = next_batch(p, &b);
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
		if (!knows_seconds(p, b.first))
			return NEXT_FILE;
		if (first)
			loop_narrow(p, b.first);
		first = 0;
		if (v->remembers && tel_event_remember(b.first) != TEL_OK) {
			(void)message_no_memory();
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
	else if (p->window != NULL && p->order != TEL_ORDER_LOG)
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
	const struct selection *select = &p->settings->select;
	enum outcome outcome = CONTINUE;
	uint64_t size = 0;

	for (int i = 0; i < p->nsources; i++)
		size += p->sources[i]->size;
	p->whole = p->settings->all_events || selection_all(select);
	/* --skip and -n count events one by one */
	p->runs = v->run != NULL && p->merge == NULL && !v->remembers &&
	    (p->whole || (select->skip == 0 && select->count == UINT64_MAX));
	progress_begin(&p->progress, p->settings, size);
	if (v->begin == NULL || v->begin(v->arg, p->sources, p->nsources)) {
		outcome = loop_events(p);
		if (v->end != NULL && v->end(v->arg) == END_ALL)
			outcome = END_ALL;
	}
	report_late(p);
	progress_end(&p->progress, count_done(p));
	return outcome;
}

int
event_loop_reorders(const struct settings *s, const tel_reader *r, int always)
{
	if (!tel_schema_ordered(tel_reader_schema(r)))
		return always || selection_uses_order(&s->select);
	/* lines that are still being written are not waited for */
	return !s->unbuffered && s->select.filtering &&
	    tel_filter_uses(s->select.filter, TEL_USE_ORDER) &&
	    tel__reader_is_text(r);
}

/*
 * The order of the source's events.  Where a format writes its buffers out of
 * order, a window puts them in order.
 */
static tel_order
order_of(const struct event_loop *p, const struct source *src)
{
	const struct settings *s = p->settings;
	const struct visitor *v = p->visitor;
	const tel_schema *schema = tel_reader_schema(src->reader);

	if (s->order != TEL_ORDER_LOG || s->file_order ||
	    !(event_loop_reorders(s, src->reader, 1) ||
	        (v->sorts_text && tel__reader_is_text(src->reader))))
		return s->order;
	return v->any_order && !selection_uses_order(&s->select) &&
	        (v->needs_order == NULL || !v->needs_order(v->arg, schema)) ?
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

/* True if nobody uses events that are not selected. */
static int
selects_first(const struct event_loop *p)
{
	return !p->settings->all_events && !p->visitor->remembers;
}

/* Adds a source to the merge, which is made.  Returns 1, or 0 after a message. */
static int
loop_add(struct event_loop *p, const struct source *src)
{
	tel_order order = order_of(p, src);

	if (p->merge == NULL) {
		p->merge = tel_merge_new();
		if (p->merge == NULL)
			return message_no_memory();
		/* no log yet: it cannot fail */
		(void)tel_merge_set_allocs(p->merge, only_allocs(p));
	}
	tel_status st = tel_merge_add(p->merge, src->reader,
	    order == TEL_ORDER_LOG ? TEL_ORDER_LIVE : order);
	if (st != TEL_OK)
		source_failed(src, st, tel_reader_error(src->reader));
	return st != TEL_ENOMEM;
}

/* Reads sources that are open and were added, as one. */
static enum outcome
run_merged(struct event_loop *p)
{
	enum outcome outcome = loop_run(p);

	tel_merge_free(p->merge);
	p->merge = NULL;
	return outcome;
}

/* Nonzero when later events may set the rate: those of any log of a .tel. */
static int
rate_may_come(const tel_reader *r)
{
	return strcmp(tel_reader_format(r), "tel") == 0 ||
	    (tel_reader_tick_rate(r) <= 0 && tel_reader_schema(r)->sets_clock);
}

/*
 * Nonzero when somebody waits for the events of a pipe whose order is almost that
 * of time.
 */
static int
shows_live(const struct event_loop *p)
{
	const struct source *src = p->sources[0];
	const tel_schema *schema = tel_reader_schema(src->reader);

	return (p->visitor->idle != NULL || p->visitor->shows) &&
	    !src->regular && tel_schema_ordered(schema) && !schema->sets_clock;
}

/* Reads one source that is open. */
static enum outcome
run_single(struct event_loop *p)
{
	struct settings *s = p->settings;
	enum outcome outcome = CONTINUE;
	tel_order order = order_of(p, p->sources[0]);
	tel_status st = TEL_OK;

	p->order = order;
	if (order != TEL_ORDER_LOG || p->visitor->needs_rate ||
	    (p->visitor->waits_for_rate &&
	        rate_may_come(p->sources[0]->reader)) ||
	    selection_needs_rate(&s->select) ||
	    (selection_uses_first(&s->select) && !s->file_order &&
	        !tel_schema_ordered(tel_reader_schema(p->sources[0]->reader))))
		st = tel_window_new(p->sources[0]->reader, order, &p->window);
	if (st == TEL_OK && p->window != NULL && only_allocs(p))
		st = tel_window_set_allocs(p->window, 1);
	/* one that depends on other events selects what the window gives */
	if (st == TEL_OK && p->window != NULL && s->select.filtering &&
	    selects_first(p))
		(void)tel_window_set_filter(p->window, s->select.filter);
	if (st == TEL_OK && p->window != NULL && shows_live(p))
		tel__window_set_delay(p->window, DELAY_MS);
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
 * The source that was opened last is an archive, or one of several, which are
 * merged: the first two are added together, each later one before the next is
 * opened.
 */
static int
loop_join(struct event_loop *p)
{
	const int n = p->nsources;
	struct source *const last = p->sources[n - 1];

	if (n == 1)
		return p->settings->no_merge ||
		    !tel_reader_archive(last->reader) || loop_add(p, last);
	return (n > 2 || p->merge != NULL || loop_add(p, p->sources[0])) &&
	    loop_add(p, last);
}

/*
 * Binds the selection to the sources, which are open: one may lack names that
 * another has.  Returns 1, or 0 after a message.
 */
static int
bind_all(struct event_loop *p)
{
	struct settings *s = p->settings;
	const tel_schema *schema;

	for (int i = 0; i < p->nsources; i++) {
		schema = tel_reader_schema(p->sources[i]->reader);
		if (s->select.filtering &&
		    tel_filter_bind(s->select.filter, schema) != TEL_OK) {
			source_learn(p->sources[i], s, NULL, NULL);
			if (!selection_bind(&s->select, schema))
				return 0;
		}
		source_explain(p->sources[i], s);
		p->open |= schema->open;
	}
	return 1;
}

/* Reports names that were not checked, as more types might have come. */
static void
check_late_names(const struct event_loop *p)
{
	for (int i = 0; i < p->nsources; i++)
		(void)selection_bind(&p->settings->select,
		    tel_reader_schema(p->sources[i]->reader));
}

/*
 * Copies the rest of a file to another.  n: its size is added.  0, or the errno
 * of a write, or that of a read, negative.
 */
static int
copy_rest(int from, int to, uint64_t *n)
{
	char buffer[65536];
	ptrdiff_t got = 1;
	int failed = 0;

	while (failed == 0 && got > 0) {
		got = tel__read_some(from, buffer, sizeof(buffer), -1);
		if (got > 0) {
			failed = tel__spool_write(to, buffer, (size_t)got);
			*n += (uint64_t)got;
		} else if (got < 0) {
			failed = -errno;
		}
	}
	return failed;
}

/* Nonzero for a small file, if half of the descriptors are in use. */
static int
is_one_too_many(const struct event_loop *p, const struct source *src)
{
	const long limit = sysconf(_SC_OPEN_MAX);

	return limit > 0 && src->fd >= limit / 2 && src->regular &&
	    src->size <= SPOOLED_MAX && !p->settings->unbuffered;
}

/* Copies a file that is open to that of many.  1, or -1 after a message. */
static int
spool_source(struct event_loop *p, struct source *src)
{
	const uint64_t start = p->spooled;
	int failed = 0;

	if (p->spool < 0 && (p->spool = tel__spool_file()) < 0)
		failed = errno;
	if (failed == 0)
		failed = copy_rest(src->fd, p->spool, &p->spooled);
	if (failed < 0)
		message_fail(STATUS_FAILED, src->name, "%s", strerror(-failed));
	else if (failed > 0)
		message_fail(STATUS_FAILED, src->name, "copying it to %s: %s",
		    tel__spool_folder(), strerror(failed));
	if (failed != 0)
		return -1;
	(void)close(src->fd);
	src->fd = p->spool;
	src->part = 1;
	src->start = (int64_t)start;
	src->size = p->spooled - start;
	return 1;
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
	int i, opened = 1;

	p->sources = list;
	p->nsources = p->open = 0;
	for (i = 0; i < n && opened >= 0; i++) {
		opened = source_open(&srcs[i], operands[i]);
		if (opened > 0 && is_one_too_many(p, &srcs[i]))
			opened = spool_source(p, &srcs[i]);
		if (opened > 0)
			list[p->nsources++] = &srcs[i];
	}
	/* not some of what was to be merged */
	if (opened < 0)
		return END_ALL;
	n = sources_span(list, p->nsources, s) ? p->nsources : 0;
	p->nsources = 0;
	for (i = 0; i < n && outcome == CONTINUE; i++) {
		if (!source_attach(list[i], s, p->types))
			continue;
		list[i]->number = ++p->opened;
		list[p->nsources++] = list[i];
		if (!loop_join(p))
			outcome = NEXT_FILE;
	}
	if (outcome == CONTINUE && !bind_all(p))
		outcome = END_ALL;
	if (outcome == CONTINUE && p->nsources > 0)
		outcome = p->merge != NULL ? run_merged(p) : run_single(p);
	if (outcome == CONTINUE && p->open)
		check_late_names(p);
	tel_merge_free(p->merge);
	p->merge = NULL;
	return outcome;
}

enum outcome
source_run(struct settings *s, const struct visitor *v, char *operand,
    tel_reader *types)
{
	struct source src, *list[1];
	struct event_loop p = { 0 };

	memset(&src, 0, sizeof(src));
	p.settings = s;
	p.visitor = v;
	p.types = types;
	src.fd = p.spool = -1;
	enum outcome outcome = run_operands(&p, &src, list, &operand, 1);
	source_close(&src);
	return outcome;
}

/* Reads all operands, after sources_find_last(). */
static void
run_all(struct settings *s, const struct visitor *v)
{
	static char standard_input[] = "-";
	char *none[] = { standard_input };
	char **operands = s->noperands > 0 ? s->operands : none;
	int n = s->noperands > 0 ? s->noperands : 1, step, i, j;
	struct source *srcs = calloc((size_t)n, sizeof(*srcs));
	struct source **list = calloc((size_t)n, sizeof(*list));
	enum outcome outcome = CONTINUE;
	struct event_loop p = { 0 };

	p.settings = s;
	p.visitor = v;
	p.spool = -1;
	if (n > 1)
		p.types = s->no_merge ? source_types(s) :
		                        source_reader(s, NULL, NULL);
	step = s->no_merge ? 1 : n;
	if (srcs == NULL || list == NULL) {
		(void)message_no_memory();
		step = n = 0;
	}
	for (i = 0; i < n && outcome != END_ALL; i += step) {
		for (j = 0; j < step; j++)
			srcs[j].fd = -1;
		outcome = run_operands(&p, srcs, list, operands + i, step);
		for (j = 0; j < step; j++)
			source_close(&srcs[j]);
	}
	tel_reader_free(p.types);
	if (p.spool >= 0)
		(void)close(p.spool);
	free(srcs);
	free(list);
}

/* ------------------------------------------------------ the last N events */

enum outcome
visit_count(void *arg, const tel_event *ev)
{
	uint64_t *n = arg;

	(void)ev;
	++*n;
	return CONTINUE;
}

enum outcome
visit_count_run(void *arg, tel_run *run)
{
	uint64_t *n = arg;

	*n += tel_run_count(run);
	return CONTINUE;
}

/* Copies all of standard input to a file, which takes its place; as copy_rest(). */
static int
copy_input(const struct settings *s, int to)
{
	int failed = tel__spool_write(to, s->ahead, s->nahead);
	uint64_t n = 0;

	if (failed == 0)
		failed = copy_rest(STDIN_FILENO, to, &n);
	if (failed == 0 &&
	    (lseek(to, 0, SEEK_SET) != 0 ||
	        dup2(to, STDIN_FILENO) != STDIN_FILENO))
		failed = errno;
	return failed;
}

int
sources_spool_input(struct settings *s)
{
	int fd = tel__spool_file(), failed;

	if (fd < 0)
		return message_fail(STATUS_FAILED, tel__spool_folder(),
		    "no temporary file for standard input: %s",
		    strerror(errno));
	failed = copy_input(s, fd);
	if (failed < 0)
		message_fail(STATUS_FAILED, "-", "%s", strerror(-failed));
	else if (failed > 0)
		message_fail(STATUS_FAILED, "-", "copying it to %s: %s",
		    tel__spool_folder(), strerror(failed));
	else
		s->nahead = 0;
	(void)close(fd);
	return failed == 0;
}

/*
 * Makes sure that all operands can be read twice.  input: set to the place of
 * standard input, or -1 when it is not read.
 * Returns 1, or 0 after a message.
 */
static int
make_seekable(struct settings *s, off_t *input)
{
	int i, good = 1;
	struct source src;

	*input = -1;
	for (i = 0; good && i < s->noperands + (s->noperands == 0); i++) {
		const char *name = s->noperands > 0 ? s->operands[i] : "-";

		memset(&src, 0, sizeof(src));
		if (strcmp(name, "-") == 0) {
			*input = lseek(STDIN_FILENO, 0, SEEK_CUR);
			good = *input >= 0 || sources_spool_input(s);
			*input = *input < 0 ? 0 : *input;
		} else if (source_open(&src, name) <= 0) {
			good = 0;
		} else {
			good = src.regular || src.folder;
			source_close(&src);
			if (!good)
				message_fail(STATUS_USAGE, name,
				    "-n: the last events of a pipe can be "
				    "found in standard input only");
		}
	}
	return good;
}

/*
 * Counts the selected events from a clock on, if a later one is given.  The
 * real pass reports damage of the logs.
 */
static int
count_selected(const struct settings *s, uint64_t from, uint64_t to,
    off_t input, uint64_t *n)
{
	struct settings copy = *s;
	const struct visitor v = { .arg = n,
		.event = visit_count,
		.run = visit_count_run,
		.any_order = 1 };

	copy.select.filter = tel_filter_copy(s->select.filter);
	if (copy.select.filter == NULL)
		return message_no_memory();
	copy.select.skip = copy.select.last = 0;
	copy.select.count = UINT64_MAX;
	copy.select.whole = 0;
	copy.quiet = 1;
	copy.verbose = copy.progress = copy.unbuffered = 0;
	copy.all_events = copy.writes = 0;
	if (to > 0) {
		tel_filter_set_clock(copy.select.filter, from, to);
		copy.select.filtering = 1;
	}
	*n = 0;
	run_all(&copy, &v);
	tel_filter_free(copy.select.filter);
	if (input < 0 || lseek(STDIN_FILENO, input, SEEK_SET) == input)
		return message_status() != STATUS_FAILED &&
		    message_status() != STATUS_USAGE;
	return message_errno("-");
}

/* The span of the only operand, if it has an index: 1, and else 0. */
static int
indexed_span(const struct settings *s, struct tel_clock_span *span)
{
	struct source src = { 0 };
	int found = 0;

	if (s->noperands != 1 || strcmp(s->operands[0], "-") == 0 ||
	    s->select.filtering || s->file_order || s->select.skip > 0 ||
	    source_open(&src, s->operands[0]) <= 0)
		return 0;
	src.reader = src.regular ? source_reader(s, NULL, NULL) : NULL;
	if (src.reader != NULL)
		found = tel_reader_open_fd(src.reader, src.fd, src.name) ==
		        TEL_OK &&
		    tel__reader_span(src.reader, span) == TEL_OK;
	tel_reader_free(src.reader);
	src.reader = NULL;
	source_close(&src);
	return found;
}

int
sources_find_last(struct settings *s)
{
	const uint64_t last = s->select.last;
	struct tel_clock_span span;
	uint64_t from = 0, n = 0;
	struct selection *sel = &s->select;
	off_t input;

	if (last == 0)
		return 1;
	if (!make_seekable(s, &input))
		return 0;
	/* of a file with an index, longer and longer ends are read */
	if (indexed_span(s, &span) && span.first < span.last)
		for (unsigned shift = 12; shift > 0 && n < last; shift -= 3) {
			from = span.last - ((span.last - span.first) >> shift);
			if (from <= span.sorted &&
			    !count_selected(s, from, span.last, input, &n))
				return 0;
		}
	if (n >= last) {
		tel_filter_set_clock(sel->filter, from, span.last);
		sel->filtering = 1;
	} else if (!count_selected(s, 0, 0, input, &n)) {
		return 0;
	}
	if (n > last && n - last > sel->skip)
		sel->skip = n - last;
	/* damage at the end is found and reported */
	sel->count = UINT64_MAX;
	sel->last = 0;
	return 1;
}

void
sources_run(struct settings *s, const struct visitor *v)
{
	if (sources_find_last(s))
		run_all(s, v);
}
