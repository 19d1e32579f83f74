/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading the operands into the statistics, and showing what they come to. */
#include "show.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/counting.h"
#include "common/message.h"
#include "reader/span.h"
#include "statistic.h"
#include "trace.h"

/* The share of the memory for statistics that a thread's copy may use. */
#define COPIES 8

struct count {
	struct telstat *telstat;
	struct sink *sink;
	struct show show;
	struct source *const *sources; /* those that are read now */
	int nsources;
	uint64_t last; /* time of the snapshot before; 0: in a log before */
	int counted;   /* something could be read */
	int whole;     /* each log comes by itself, with all its events */
	struct ahead ahead;
	enum status inherited; /* what those ended with that counted parts */
	int failed;
};

/* Shows the statistics as they are.  TEL_OK, or what has failed. */
static tel_status
show_now(struct count *c)
{
	const int replace = c->telstat->settings.replace;

	if (replace && !sink_again(c->sink))
		return TEL_EIO;
	c->show.out = c->sink->out;
	tel_status st = show_moment(&c->show);
	if (st == TEL_OK && replace)
		return sink_replace(c->sink) ? TEL_OK : TEL_EIO;
	if (st == TEL_OK && tel_output_flush(c->sink->out) != TEL_OK) {
		sink_failed(c->sink);
		return TEL_EIO;
	}
	sink_flushed(c->sink);
	return st;
}

/* A tel_snapshot_fn. */
static tel_status
telstat_count_snapshot(void *arg, tel_stats *s, const tel_snapshot *at)
{
	struct count *c = arg;
	tel_stats *stats = c->show.stats;
	struct moment *m = &c->show.at;
	tel_int128 span;

	/* one that is shorter is the last of its log */
	c->last = at->interval < c->telstat->interval ? 0 : at->time;
	m->final = 0;
	TEL_EVENT1(Snapshot, at->number);
	m->known = 1;
	m->time = at->time;
	m->ticks = at->ticks;
	m->ns = 0;
	if (!at->ticks)
		m->ns = c->telstat->deltas ? (double)at->interval :
		                             (double)at->time;
	/* what was counted is that of the logs before, too */
	if (m->ns > 0 && !c->telstat->deltas && at->log > 0 &&
	    tel_stats_total(s, TEL_TOTAL_NS, &span))
		m->ns = tel_int128_double(span);
	/* of an inst log, a set of what was counted by then */
	c->show.stats = s;
	stacks_choose(&c->telstat, 1);
	tel_status st = show_now(c);
	c->show.stats = stats;
	return st;
}

/* What there is at the end. */
static void
show_final(struct count *c)
{
	struct moment *m = &c->show.at;
	uint64_t elapsed;
	tel_int128 span;

	memset(m, 0, sizeof(*m));
	m->final = 1;
	m->ticks = c->telstat->interval > 0 && c->telstat->ticks;
	if (tel_stats_total(c->show.stats, TEL_TOTAL_NS, &span))
		m->ns = tel_int128_double(span);
	if (tel_stats_total(c->show.stats,
	        m->ticks ? TEL_TOTAL_TICKS : TEL_TOTAL_NS, &span) &&
	    span.high == 0) {
		m->known = 1;
		m->time = span.low;
	}
	/* the first events may not have been selected */
	if (c->telstat->interval > 0 &&
	    tel_stats_elapsed(c->show.stats, &elapsed)) {
		m->known = 1;
		m->time = elapsed;
	}
	/* with deltas, the totals are those of the last interval */
	if (c->telstat->deltas && c->last > 0) {
		m->time = m->time < c->last ? c->last : m->time;
		m->ns = m->ticks ? 0 : (double)(m->time - c->last);
	}
	tel_status st = show_now(c);
	if (st != TEL_OK && !c->sink->failed)
		message_fail(STATUS_FAILED, NULL, "%s", tel_status_text(st));
}

/* --file-order may count other values than the order of time. */
static void
warn_of_order(const struct count *c, const struct source *src)
{
	const struct settings *s = &c->telstat->settings;

	if (s->file_order && !s->quiet &&
	    !tel_schema_ordered(tel_reader_schema(src->reader)) &&
	    (tel_stats_uses(c->show.stats, TEL_USE_LABELS) ||
	        tel_stats_uses(c->show.stats, TEL_USE_ORDER) ||
	        selection_uses_order(&s->select)))
		message(src->name,
		    "labels, durations and differences depend on the order of "
		    "events, which --file-order has not put in order of time");
}

static int
telstat_count_begin(void *arg, struct source *const *srcs, int n)
{
	struct count *c = arg;

	c->sources = srcs;
	c->nsources = n;
	/* what no log has was reported for the first */
	if (c->failed)
		return 0;
	for (int i = 0; i < n; i++) {
		const tel_schema *schema = tel_reader_schema(srcs[i]->reader);

		if (!answers_begin(c->telstat, schema) ||
		    (i == 0 && !each_add(c->telstat, schema))) {
			c->failed = 1;
			return 0;
		}
	}
	(void)tel_stats_set_heap(c->show.stats, c->telstat->heap,
	    c->telstat->stacks != NULL || c->telstat->runtime == NULL);
	for (int i = 0; i < n; i++) {
		warn_of_order(c, srcs[i]);
		tel_status st = tel_stats_begin(c->show.stats, srcs[i]->reader);
		if (st == TEL_EINVAL) {
			source_learn(srcs[i], &c->telstat->settings, NULL,
			    NULL);
			st = tel_stats_begin(c->show.stats, srcs[i]->reader);
		}
		if (st == TEL_OK)
			continue;
		telstat_report_error(c->telstat, st, NULL);
		c->failed = 1;
		return 0;
	}
	if (c->whole && n == 1 && c->telstat->heap == NULL)
		tel_stats_attach(c->show.stats, srcs[0]->reader);
	for (int i = 0; i < n; i++)
		TEL_EVENT3(FileStart, (uint32_t)srcs[i]->number, srcs[i]->size,
		    srcs[i]->name);
	c->counted = 1;
	return 1;
}

static void
telstat_count_step(void *arg, struct done done)
{
	(void)arg;
	TEL_EVENT2(Block, done.events, done.input);
}

/* How to go on after counting. */
static enum outcome
telstat_count_counted(struct count *c, tel_status st)
{
	if (__builtin_expect(st == TEL_OK, 1))
		return CONTINUE;
	c->failed = 1;
	/* what has no text is of the heap, which may have a key */
	if ((st == TEL_EINVAL || st == TEL_ELIMIT) &&
	    tel_stats_error(c->show.stats)[0] == '\0')
		telstat_report_key_error(c->telstat, st);
	else if (!c->sink->failed)
		telstat_report_error(c->telstat, st, NULL);
	return END_ALL;
}

static enum outcome
telstat_count_event(void *arg, const tel_event *ev)
{
	struct count *c = arg;
	struct telstat *t = c->telstat;
	tel_status st = tel_stats_event(c->show.stats, ev);

	if (st == TEL_OK && !runtime_look(t, ev, c->nsources))
		st = TEL_ENOMEM;
	if (st == TEL_OK && t->runtime != NULL &&
	    runtime_wants(t->runtime, tel_event_type(ev)))
		st = runtime_event(t->runtime, ev);
	return telstat_count_counted(c, st);
}

static enum outcome
telstat_count_run(void *arg, tel_run *events)
{
	struct count *c = arg;
	tel_status st = tel_stats_run(c->show.stats, events);

	if (st == TEL_OK &&
	    !runtime_look(c->telstat, tel_run_event(events, 0), c->nsources))
		st = TEL_ENOMEM;
	if (st == TEL_OK)
		st = runtime_run(c->telstat->runtime, events);
	return telstat_count_counted(c, st);
}

static enum outcome
telstat_count_end(void *arg)
{
	struct count *c = arg;

	for (int i = 0; i < c->nsources; i++) {
		const tel_reader *r = c->sources[i]->reader;

		const tel_status st = tel_stats_end(c->show.stats, r);
		if (st != TEL_OK)
			telstat_report_error(c->telstat, st, NULL);
		TEL_EVENT4(FileEnd, (uint32_t)c->sources[i]->number,
		    tel_reader_count(r, TEL_COUNT_EVENTS),
		    tel_reader_count(r, TEL_COUNT_INPUT),
		    tel_reader_count(r, TEL_COUNT_DAMAGED));
	}
	if (c->telstat->heap != NULL)
		tel_heap_end(c->telstat->heap);
	runtime_end(c->telstat->runtime);
	return c->failed ? END_ALL : CONTINUE;
}

/* Reports how the reading of an inst stream has ended. */
static void
inst_report_error(struct count *c, const char *name, tel_status st)
{
	const char *why = tel_stats_error(c->show.stats);

	size_t length = strlen(name);

	if (st == TEL_OK)
		return;
	if (why[0] == '\0')
		why = st == TEL_EIO ? strerror(errno) : tel_status_text(st);
	/* the library's message has the name as well */
	if (strncmp(why, name, length) == 0 &&
	    strncmp(why + length, ": ", 2) == 0)
		why += length + 2;
	if (st != TEL_EDAMAGED || c->telstat->settings.strict) {
		message_fail(STATUS_FAILED, name, "%s%s", why,
		    st == TEL_EVERSION ? " (--force reads on)" : "");
		return;
	}
	message_raise(STATUS_DAMAGED);
	if (!c->telstat->settings.quiet)
		message(name, "%s", why);
}

/* A tel_notify_fn. */
static void
warn(void *arg, tel_severity severity, const char *log, uint64_t offset,
    const char *text)
{
	const struct count *c = arg;

	(void)offset;
	if (severity == TEL_DAMAGE)
		message_raise(STATUS_DAMAGED);
	if (severity == TEL_WARNING && !c->telstat->settings.quiet)
		message(log, "%s", text);
}

/* What the parts report that were added, besides their counts. */
struct losses {
	uint64_t damaged, skipped, cut, incomplete;
};

static struct losses
losses_of(const struct show *show)
{
	return (struct losses){ show_total(show, TEL_TOTAL_DAMAGED).low,
		show_total(show, TEL_TOTAL_SKIPPED).low,
		show_total(show, TEL_TOTAL_CUT).low,
		show_total(show, TEL_TOTAL_INCOMPLETE).low };
}

/*
 * An operand that was counted elsewhere ends this run as it has ended that one:
 * the status of which an engine may have ignored.  whole: the operand itself is
 * not damaged.
 */
static void
inherit(struct count *c, const char *name, struct losses before, int whole)
{
	const struct losses now = losses_of(&c->show);
	const uint64_t damaged = now.damaged - before.damaged;
	const uint64_t incomplete = now.incomplete - before.incomplete;
	const int quiet = c->telstat->settings.quiet;

	if (incomplete > 0) {
		c->inherited = status_worse(c->inherited, STATUS_FAILED);
		message(name,
		    "incomplete: %" PRIu64 " of the runs that counted it "
		    "could not read all of their input",
		    incomplete);
	}
	if (damaged == 0 && now.cut == before.cut)
		return;
	c->inherited = status_worse(c->inherited, STATUS_DAMAGED);
	if (damaged > 0 && whole && !quiet)
		message(name,
		    "counted of damaged logs: %" PRIu64 " damaged place%s, "
		    "%" PRIu64 " bytes skipped",
		    damaged, damaged == 1 ? "" : "s",
		    now.skipped - before.skipped);
}

static void
read_inst(struct count *c, const char *operand)
{
	struct losses before = losses_of(&c->show);
	struct source src = { 0 };
	tel_status st;

	if (source_open(&src, operand) <= 0)
		return;
	if (strcmp(operand, "-") == 0 && c->ahead.size > 0) {
		src.ahead = c->ahead.bytes;
		src.nahead = c->ahead.size;
		c->ahead.size = 0;
		st = tel_stats_read_inst(c->show.stats, source_read, &src,
		    operand);
	} else
		st = tel_stats_read_inst_fd(c->show.stats, src.fd, operand);
	c->counted |= st == TEL_OK || st == TEL_EDAMAGED;
	inst_report_error(c, operand, st);
	if (st == TEL_OK || st == TEL_EDAMAGED)
		inherit(c, operand, before, st == TEL_OK);
	source_close(&src);
}

/* Nonzero when it matters to a statistic which event comes before which. */
static int
needs_order(const struct telstat *t)
{
	size_t i, n = tel_stats_count(t->stats);

	if (t->settings.order != TEL_ORDER_LOG || t->settings.nroles > 0 ||
	    t->each_order || tel_stats_uses(t->stats, TEL_USE_ORDER) ||
	    tel_stats_uses(t->stats, TEL_USE_OTHERS))
		return 1;
	/* the value that was set last is that of the latest time */
	for (i = 0; i < n; i++)
		if (is_magnitude(tel_stat_class(tel_stats_get(t->stats, i))))
			return 1;
	return 0;
}

/* Nonzero when the selection or a time make it matter how logs are merged. */
static int
needs_merge(const struct telstat *t)
{
	const struct selection *sel = &t->settings.select;

	return selection_uses_order(sel) || selection_uses_first(sel) ||
	    selection_needs_rate(sel) ||
	    tel_stats_uses(t->stats, TEL_USE_RATE) || t->each_rate;
}

/* A table of types has nothing of blocks, nor has text of statistics. */
static int
follows_blocks(const struct telstat *t)
{
	return !t->types &&
	    (!t->given || t->report || t->format->report != &report_as_text);
}

/* Blocks are followed in order of time. */
static int
has_new_blocks(const void *arg, const tel_schema *schema)
{
	const struct count *c = arg;

	return follows_blocks(c->telstat) && answers_have_blocks(schema);
}

/*
 * Whether a log in any order was counted in the order of its file, and blocks
 * were freed that it does not allocate, or allocated again that it has not freed.
 */
static int
counts_out_of_order(const struct count *c, const tel_stats *s,
    const tel_reader *r)
{
	tel_int128 n;

	return (tel__reader_is_text(r) ||
	           !tel_schema_ordered(tel_reader_schema(r))) &&
	    has_new_blocks(c, tel_reader_schema(r)) &&
	    (tel_stats_total(s, TEL_TOTAL_STRAYS, &n) ||
	        tel_stats_total(s, TEL_TOTAL_ENDED, &n));
}

/* ----------------------------------------------------- on several threads */

/* A counter: a set of its own. */
struct counter {
	tel_stats *stats;
	struct runtime *runtime; /* or NULL */
};

static void
counter_free(void *arg)
{
	struct counter *counter = arg;

	tel_stats_free(counter->stats);
	runtime_free(counter->runtime);
	free(counter);
}

static void *
telstat_counter_open(void *arg, tel_reader *r)
{
	const struct count *c = arg;
	struct counter *counter = calloc(1, sizeof(*counter));

	if (counter == NULL)
		return NULL;
	counter->stats = tel_stats_copy(c->show.stats, COPIES);
	if (c->telstat->answers)
		counter->runtime = runtime_new();
	if (counter->stats == NULL ||
	    (c->telstat->answers && counter->runtime == NULL) ||
	    tel_stats_begin(counter->stats, r) != TEL_OK) {
		counter_free(counter);
		return NULL;
	}
	if (c->whole)
		tel_stats_attach(counter->stats, r);
	return counter;
}

static int
telstat_counter_run(void *arg, tel_run *events)
{
	const struct counter *counter = arg;

	return tel_stats_run(counter->stats, events) == TEL_OK &&
	    runtime_run(counter->runtime, events) == TEL_OK;
}

static int
telstat_counter_join(void *arg, const void *next)
{
	const struct counter *counter = arg, *from = next;

	return (counter->runtime == NULL ||
	           runtime_join(counter->runtime, from->runtime, 1)) &&
	    tel_stats_join(counter->stats, from->stats) == TEL_OK;
}

static enum counted
telstat_counter_take(void *arg, void *taken, struct source *src)
{
	struct count *c = arg;
	struct telstat *t = c->telstat;
	const struct counter *counter = taken;
	tel_status st = tel_stats_end(counter->stats, src->reader);

	if (st != TEL_OK)
		return COUNT_AGAIN;
	if (!answers_begin(t, tel_reader_schema(src->reader))) {
		c->failed = 1;
		return COUNT_STOP;
	}
	/* what a log before or this one adds, as one thread would */
	if (t->heap != NULL ||
	    (t->runtime != NULL && !runtime_joins(counter->runtime)) ||
	    counts_out_of_order(c, counter->stats, src->reader))
		return COUNT_AGAIN;
	st = tel_stats_join(c->show.stats, counter->stats);
	if (st == TEL_ELIMIT)
		return COUNT_AGAIN;
	if (t->runtime != NULL) {
		if (st == TEL_OK &&
		    !runtime_join(t->runtime, counter->runtime, 0))
			st = TEL_ENOMEM;
		runtime_end(t->runtime);
	}
	c->counted = 1;
	if (st == TEL_OK)
		return COUNT_NEXT;
	telstat_report_error(c->telstat, st, NULL);
	c->failed = 1;
	return COUNT_STOP;
}

/* Reads the logs, if possible by several threads. */
static void
read_side_by_side(struct count *c, const struct visitor *v)
{
	const struct telstat *t = c->telstat;
	struct settings *s = &c->telstat->settings;
	struct counting counting = { c, 0, telstat_counter_open,
		telstat_counter_run, counter_free, telstat_counter_join,
		telstat_counter_take };

	/* one log must not need to know of another */
	if (!s->no_merge || s->order != TEL_ORDER_LOG || v->needs_rate ||
	    needs_merge(t) || t->each != NULL || t->self_trace != NULL ||
	    (t->runtime != NULL && !runtime_joins(t->runtime))) {
		sources_run(s, v);
		return;
	}
	counting.no_pieces = tel_stats_uses(c->show.stats, TEL_USE_OTHERS) ||
	    (s->select.filtering &&
	        tel_filter_uses(s->select.filter, TEL_USE_OTHERS));
	counting_run(s, v, &counting);
}

static void
read_logs(struct count *c)
{
	struct settings *s = &c->telstat->settings;
	const int ordered = needs_order(c->telstat);
	struct visitor visitor = { 0 };

	answers_look(c->telstat);
	visitor.arg = c;
	visitor.begin = telstat_count_begin;
	visitor.event = telstat_count_event;
	visitor.run = telstat_count_run;
	visitor.end = telstat_count_end;
	visitor.step = telstat_count_step;
	visitor.needs_rate = tel_stats_uses(c->show.stats, TEL_USE_RATE) ||
	    c->telstat->each_rate;
	/* lifetimes are in the rate that is known when a block ends */
	visitor.waits_for_rate =
	    c->telstat->heap != NULL && c->telstat->sets_rate;
	visitor.remembers = tel_stats_uses(c->show.stats, TEL_USE_HISTORY) ||
	    (c->telstat->key != NULL &&
	        tel_expr_uses(c->telstat->key, TEL_USE_HISTORY));
	visitor.any_order = !ordered && c->telstat->heap == NULL;
	visitor.needs_order = has_new_blocks;
	visitor.sorts_text = 1;
	visitor.shows = c->telstat->interval > 0;
	/* small disorder of any log, such as that of its threads */
	if (ordered && s->order == TEL_ORDER_LOG && !s->file_order)
		s->order = TEL_ORDER_LIVE;
	if (visitor.any_order && !needs_merge(c->telstat))
		s->no_merge = c->whole = 1;
	c->whole &= !s->select.filtering;
	read_side_by_side(c, &visitor);
}

/*
 * Reads the operands: the logs, and then what other runs have counted, which
 * is moved to the end of the list.
 */
static void
read_all(struct count *c)
{
	struct settings *s = &c->telstat->settings;
	static char standard_input[] = "-";
	char *none[] = { standard_input };
	char **operands = s->noperands > 0 ? s->operands : none;
	int n = s->noperands > 0 ? s->noperands : 1, logs = 0, i, insts = 0;
	char **list = calloc((size_t)n, sizeof(*list));

	if (list == NULL) {
		(void)message_no_memory();
		return;
	}
	for (i = 0; i < n; i++) {
		int adds = telstat_adds(c->telstat, operands[i], &c->ahead);

		if (adds > 0)
			list[n - ++insts] = operands[i];
		else if (adds == 0)
			list[logs++] = operands[i];
	}
	s->operands = list;
	s->noperands = logs;
	s->ahead = c->ahead.bytes;
	s->nahead = logs > 0 ? c->ahead.size : 0;
	if (c->telstat->as_inst)
		s->as = "inst";
	if (logs > 0)
		read_logs(c);
	for (i = n; i > n - insts && !c->sink->failed; i--)
		read_inst(c, list[i - 1]);
	free(list);
	free(c->ahead.bytes);
	s->operands = NULL;
	s->noperands = 0;
}

/* Options that are times need the clock rate, which some logs lack. */
static void
check_rate(const struct count *c)
{
	const struct telstat *t = c->telstat;
	tel_int128 ns, events;

	if (t->interval > 0 && !t->ticks &&
	    tel_stats_total(t->stats, TEL_TOTAL_EVENTS, &events) &&
	    events.low > 0 && !tel_stats_total(t->stats, TEL_TOTAL_NS, &ns))
		message_fail(STATUS_FAILED, NULL,
		    "-i: the log does not record the rate of its clock");
	if (t->min_age > 0 && tel_heap_ticks(t->heap))
		message_fail(STATUS_FAILED, NULL,
		    "--min-age: the log does not record the rate of its clock");
}

/* Reports blocks whose times or stacks the logs do not have. */
static void
check_blocks(const struct count *c)
{
	const tel_heap *heap = c->telstat->heap;
	const uint64_t untracked = heap == NULL ? 0 : tel_heap_untracked(heap);
	tel_heap_stack all = { 0 };
	uint64_t time;

	if (heap != NULL)
		tel_heap_total(heap, &all);
	if (all.peak_bytes > 0 && !tel_heap_peak_time(heap, &time) &&
	    !c->telstat->settings.quiet)
		message(NULL,
		    "no lifetimes and no time of the peak: not all logs record "
		    "the rate of their clock; set --tb-hz");
	stacks_check(c->telstat, NULL);
	if (untracked > 0)
		message(NULL,
		    "too many live blocks: %" PRIu64 " are not followed: the "
		    "report has them as live to the end, but no peak, stack or "
		    "lifetime has",
		    untracked);
}

/*
 * Reports why starts and ends form no pairs.  The groups of a statistic, which come
 * one after the other, are one here.
 */
static void
check_pairs(const struct telstat *t)
{
	const size_t n = tel_stats_count(t->stats);
	uint64_t pairs, open, orphan, other;
	size_t i = 0;

	while (i < n && !t->settings.quiet && !t->deltas) {
		pairs = open = orphan = other = 0;
		const char *name = tel_stat_name(tel_stats_get(t->stats, i));
		for (; i < n; i++) {
			const tel_stat *stat = tel_stats_get(t->stats, i);

			if (strcmp(tel_stat_name(stat), name) != 0)
				break;
			pairs += statistic_number(stat, TEL_NUMBER_PAIRS).low;
			open += statistic_number(stat, TEL_NUMBER_OPEN).low;
			orphan += statistic_number(stat, TEL_NUMBER_ORPHAN).low;
			other +=
			    statistic_number(stat, TEL_NUMBER_BACKWARD).low +
			    statistic_number(stat, TEL_NUMBER_UNTIMED).low +
			    statistic_number(stat, TEL_NUMBER_OVER_LIMIT).low;
		}
		if (pairs + other > 0 || open + orphan == 0)
			continue;
		if (open > 0 && orphan > 0)
			message(NULL,
			    "%s: no pairs: the key of none of %" PRIu64
			    " end%s is that of a start before it (%" PRIu64
			    " start%s)",
			    name, orphan, &"s"[orphan == 1], open,
			    &"s"[open == 1]);
		else
			message(NULL,
			    "%s: no pairs: %" PRIu64 " %s%s, but no %s was "
			    "selected; -e, -w and 'if' apply to both, which "
			    "have the same key and are of one log",
			    name, open + orphan, open > 0 ? "start" : "end",
			    &"s"[open + orphan == 1],
			    open > 0 ? "end" : "start");
	}
}

/* Reads everything.  Returns 1 when there is something to show. */
static int
read_counts(struct count *c, struct telstat *t, struct sink *sink)
{
	memset(c, 0, sizeof(*c));
	c->telstat = t;
	c->sink = sink;
	show_open(&c->show, t, sink);
	if ((t->format->report == &report_as_arrow ||
	        t->format->report == &report_as_html) &&
	    !sink_check_binary(sink, NULL))
		return 0;
	if (t->interval > 0 &&
	    (tel_stats_set_interval(t->stats, t->interval, t->ticks,
	         telstat_count_snapshot, c) != TEL_OK ||
	        tel_stats_set(t->stats, TEL_STATS_DELTAS, t->deltas) !=
	            TEL_OK)) {
		telstat_report_error(t, TEL_ESTATE, NULL);
		return 0;
	}
	if (!telstat_wants_events(t) &&
	    tel_stats_set(t->stats, TEL_STATS_CLASSES, 1) != TEL_OK)
		return 0;
	tel_stats_set_notify(t->stats, warn, c);
	tel_stats_set(t->stats, TEL_STATS_FORCE, t->settings.force);
	TEL_EVENT2(PhaseStart, PHASE_READ, "read");
	read_all(c);
	TEL_EVENT1(PhaseEnd, PHASE_READ);
	/* a mistake in what was asked for has no answer, nor has nothing */
	return !sink->failed && message_status() != STATUS_USAGE &&
	    (c->counted || t->format->parts);
}

/* Ends the counting: marks the counts if they are incomplete. */
static void
finish_counts(const struct count *c)
{
	if (message_status() == STATUS_FAILED)
		tel_stats_set_incomplete(c->show.stats);
	message_raise(c->inherited);
}

int
telstat_count(struct telstat *t, struct sink *sink)
{
	struct count c;
	int counted = read_counts(&c, t, sink);

	finish_counts(&c);
	show_close(&c.show);
	return counted;
}

void
telstat_run(struct telstat *t, struct sink *sink)
{
	struct count c;

	t->answers = answers_wanted(t);
	if (!follows_blocks(t))
		(void)tel_stats_set(t->stats, TEL_STATS_BLOCKS, 0);
	if (read_counts(&c, t, sink)) {
		check_rate(&c);
		stacks_choose(&c.telstat, 1);
		check_blocks(&c);
		check_pairs(t);
		finish_counts(&c);
		TEL_EVENT2(PhaseStart, PHASE_SHOW, "show");
		show_final(&c);
		TEL_EVENT1(PhaseEnd, PHASE_SHOW);
		if (t->format->parts)
			sink_tells_failure(sink);
	}
	show_close(&c.show);
}
