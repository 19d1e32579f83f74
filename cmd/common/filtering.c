/* SPDX-License-Identifier: BSD-2-Clause */
/* Filtering: each event to the writer, or the printer, or nowhere. */
#include "filtering.h"

#include <string.h>
#include "event_loop.h"
#include "message.h"
#include "total.h"
#include "tel/run.h"

/* The size of the cache of types, by their addresses. */
#define SLOTS 256

/* Facts on all events of a type. */
struct known {
	const tel_type *type;
	int wanted; /* as selection_match(), or -1: it depends */
	int idle;   /* not selected, and not needed by the writer */
};

struct run {
	struct filtering *filtering;
	struct settings *settings;
	struct sink *sink;
	tel_writer *writer;   /* NULL: events are shown, or counted */
	unsigned warned;      /* a source was asked for its format */
	tel_printer *printer; /* NULL: they are written, or counted */
	tel_context *context; /* NULL: only the selected events, as they come */
	int restores;         /* it has the order of the log */
	const char *name;     /* of the source, for messages */
	const tel_reader *reader;
	uint64_t skip;     /* so many selected events, */
	uint64_t skipped;  /* of which these were */
	uint64_t count;    /* the most to find */
	uint64_t found;    /* in all sources */
	uint64_t before;   /* in those before this one */
	int ordered;       /* it matters which event comes when */
	int flush;         /* after each event */
	uint64_t clock;    /* of the last event, with context */
	uint64_t backward; /* events of context that are earlier than it */
	int shown;         /* there is such an event */
	int full;          /* the limit of -n is reached */
	int failed;
	int refused; /* the last log must not be written to a terminal */
	struct known known[SLOTS];
};

/* Drops the events of a log that ends, of those that are held. */
static void
drop_context(struct run *run)
{
	const tel_event *ev;
	tel_place where;

	if (run->context == NULL)
		return;
	tel_context_finish(run->context);
	while (tel_context_next(run->context, &ev, &where) == TEL_OK)
		;
}

/* Reports why writing or showing failed.  Returns how to go on. */
static enum outcome
filtering_report_error(struct run *run, tel_status st)
{
	const char *why = "";

	drop_context(run);
	if (run->writer != NULL)
		why = tel_writer_error(run->writer);
	else if (run->printer != NULL)
		why = tel_printer_error(run->printer);
	sink_report(run->sink,
	    st == TEL_EINVAL && run->writer != NULL ? NULL : run->name, st,
	    why);
	run->failed |= run->filtering->all_or_none || run->sink->failed;
	return st == TEL_EINVAL && !run->settings->strict &&
	        !run->sink->failed ?
	    NEXT_FILE :
	    END_ALL;
}

/*
 * Copies keep the order of the log, also where events are selected in order of
 * time.  Returns 1, or 0 after a message.
 */
static int
restore_order(struct run *run, const struct source *src, int n)
{
	struct settings *s = run->settings;

	if (run->writer == NULL || run->filtering->context ||
	    run->filtering->by_time || n > 1 || s->order != TEL_ORDER_LOG ||
	    s->file_order || !event_loop_reorders(s, src->reader, s->ordered) ||
	    (!s->no_merge && tel_reader_archive(src->reader)))
		return 1;
	if (run->context == NULL)
		run->context = tel_context_new_log_order();
	run->restores = run->context != NULL;
	/* none may be left out by the reader */
	s->select.whole = 1;
	if (run->restores)
		return 1;
	return message_no_memory();
}

static int
filtering_begin(void *arg, struct source *const *srcs, int n)
{
	const struct source *src = srcs[0];
	struct run *run = arg;

	memset(run->known, 0, sizeof(run->known));
	run->name = src->name;
	run->reader = src->reader;
	run->before = run->found;
	/* a block of the native format is written when there is no more input */
	run->flush = !format_native(run->settings->format) &&
	    (run->settings->unbuffered || run->sink->terminal);
	run->refused =
	    run->writer != NULL && !format_check(run->writer, run->sink, src);
	if (run->refused || !restore_order(run, src, n))
		return 0;
	if (run->writer != NULL && !run->settings->quiet &&
	    run->warned++ == 0 &&
	    tel_writer_binary(run->writer, src->reader) > 1)
		message(src->name,
		    "its format is not written; the output is in the native "
		    "format, .tel");
	if (run->printer != NULL)
		tel_printer_set_file(run->printer, n == 1 ? src->size : 0,
		    n == 1 ? src->changed : 0);
	return 1;
}

static inline struct known *
filtering_slot_of(struct run *run, const tel_type *type)
{
	uint64_t place = (uint64_t)(uintptr_t)type;

	return &run->known[(place * 0x9e3779b97f4a7c15u >> 32) % SLOTS];
}

/* Learns what can be known of a type. */
static void
filtering_learn(struct run *run, const tel_type *type, struct known *known)
{
	const struct selection *s = &run->settings->select;

	known->type = type;
	known->wanted = s->filtering ? tel_filter_type(s->filter, type) : 1;
	known->idle = known->wanted == 0 && run->context == NULL &&
	    (run->writer == NULL || !tel_writer_needs(run->writer, type));
}

/* 1 when the event is selected, 0 when not, -1 after a message. */
static inline int
filtering_is_wanted(struct run *run, const tel_event *ev, const tel_type *type,
    struct known *known)
{
	if (run->full)
		return 0;
	int wanted = known->type == type ? known->wanted : -1;
	if (wanted < 0)
		wanted = selection_match(&run->settings->select, ev);
	/* its schema is bound now */
	if (known->type != type)
		filtering_learn(run, type, known);
	if (wanted <= 0 || !sample_take(&run->filtering->sample))
		return wanted < 0 ? -1 : 0;
	if (run->skipped < run->skip) {
		run->skipped++;
		return 0;
	}
	run->full = ++run->found >= run->count;
	return 1;
}

/* Flushes what was written, for a reader that waits for it. */
static tel_status
filtering_flush(struct run *run)
{
	tel_status st;

	if (run->writer != NULL)
		st = tel_writer_flush(run->writer);
	else if (run->printer != NULL)
		st = tel_printer_flush(run->printer);
	else
		st = tel_output_flush(run->sink->out);
	if (st == TEL_OK)
		sink_flushed(run->sink);
	return st;
}

/* Counts events of context that are earlier than the one before them. */
static void
filtering_check_order(struct run *run, const tel_event *ev, tel_place where)
{
	uint64_t clock = tel_event_clock(ev);

	if (where == TEL_PLACE_OUT || !tel_event_timed(ev))
		return;
	if (where == TEL_PLACE_IN && run->shown && clock < run->clock)
		run->backward++;
	run->clock = clock;
	run->shown = 1;
}

/* Puts an event where it belongs. */
static tel_status
filtering_place(struct run *run, const tel_event *ev, tel_place where)
{
	tel_status st = TEL_OK;

	if (run->context != NULL && !run->restores)
		filtering_check_order(run, ev, where);
	if (where == TEL_PLACE_GAP && run->writer != NULL)
		st = tel_writer_gap(run->writer);
	if (st == TEL_OK && run->writer != NULL)
		st = where == TEL_PLACE_OUT ? tel_writer_pass(run->writer, ev) :
		                              tel_writer_event(run->writer, ev);
	else if (run->printer != NULL && where != TEL_PLACE_OUT)
		st = tel_printer_event(run->printer, ev);
	if (st == TEL_OK && run->flush && where != TEL_PLACE_OUT)
		st = filtering_flush(run);
	return st;
}

/* Puts all events where they belong of which that is known. */
static tel_status
place_known(struct run *run)
{
	const tel_event *ev;
	tel_status st = TEL_OK;
	tel_place where;

	while (st == TEL_OK &&
	    tel_context_next(run->context, &ev, &where) == TEL_OK)
		st = filtering_place(run, ev, where);
	return st;
}

static enum outcome
filtering_event(void *arg, const tel_event *ev)
{
	struct run *run = arg;
	const tel_type *type = tel_event_type(ev);
	struct known *known = filtering_slot_of(run, type);
	tel_status st;

	if (known->idle && known->type == type)
		return CONTINUE;
	int wanted = filtering_is_wanted(run, ev, type, known);
	if (wanted < 0)
		return END_ALL;
	if (run->context == NULL && run->writer != NULL && !run->flush) {
		st = wanted ? tel_writer_event(run->writer, ev) :
		              tel_writer_pass(run->writer, ev);
	} else if (run->context == NULL) {
		st = filtering_place(run, ev,
		    wanted ? TEL_PLACE_IN : TEL_PLACE_OUT);
	} else {
		st = tel_context_event(run->context, ev, wanted);
		if (st == TEL_OK)
			st = place_known(run);
	}
	if (st != TEL_OK)
		return filtering_report_error(run, st);
	if (!run->full)
		return CONTINUE;
	return run->context != NULL && tel_context_pending(run->context) ?
	    CONTINUE :
	    END_ALL;
}

/* Nonzero when all events are written. */
static int
takes_all(const struct run *run)
{
	return run->context == NULL && run->writer != NULL && !run->flush &&
	    selection_all(&run->settings->select) && run->skip == 0 &&
	    run->count == UINT64_MAX && sample_all(&run->filtering->sample);
}

/*
 * Nonzero when it does not matter which event of a run comes when, except for
 * the first: the others say nothing of the log.
 */
static int
takes_runs(const struct run *run, const tel_run *events)
{
	const size_t last = tel_run_count(events) - 1;

	return run->context == NULL && !run->ordered && !run->flush &&
	    (run->writer == NULL ||
	        !tel_writer_needs(run->writer, tel_run_type(events, last)));
}

static enum outcome
filtering_run_events(void *arg, tel_run *events)
{
	struct run *run = arg;
	const size_t n = tel_run_count(events);
	size_t i, singly = !takes_all(run);
	enum outcome outcome = CONTINUE;
	tel_status st = TEL_OK;

	for (i = 0; i < singly && outcome == CONTINUE; i++) {
		outcome = filtering_event(arg, tel_run_event(events, i));
		if (i == 0 && !takes_runs(run, events))
			singly = n;
	}
	if (outcome != CONTINUE || singly == n)
		return outcome;
	tel_run_drop(events, singly);
	if (!selection_run(&run->settings->select, events))
		return END_ALL;
	run->found += tel_run_count(events);
	if (run->writer != NULL)
		st = tel_writer_run(run->writer, events);
	else if (run->printer != NULL)
		st = tel_printer_run(run->printer, events);
	return st == TEL_OK ? CONTINUE : filtering_report_error(run, st);
}

static enum outcome
filtering_end(void *arg)
{
	struct run *run = arg;
	const struct settings *s = run->settings;
	tel_status st = TEL_OK;

	if (run->context != NULL && !run->failed) {
		tel_context_finish(run->context);
		st = place_known(run);
	}
	if (run->backward > 0 && !s->quiet)
		message(run->name,
		    "the log is not in order of time, so neither is the "
		    "context; -S sorts the log");
	run->backward = 0;
	run->shown = 0;
	if (st == TEL_OK && run->writer != NULL)
		st = tel_writer_end_file(run->writer, run->reader);
	if (s->count_only && !run->filtering->any && total_by_file(s))
		total_print(run->sink, run->name, run->found - run->before);
	return st == TEL_OK ? CONTINUE : filtering_report_error(run, st);
}

static void
filtering_idle(void *arg)
{
	struct run *run = arg;

	/* a failure is kept, and reported after the next event */
	if (filtering_flush(run) != TEL_OK)
		sink_failed(run->sink);
}

/* Makes what the events go to.  Returns 1, or 0 after a message. */
static int
filtering_set_up(struct run *run)
{
	const struct filtering *f = run->filtering;
	const struct settings *s = f->settings;
	tel_status st = TEL_OK;

	if (f->any || s->count_only)
		return 1;
	if (f->format.shown != NULL) {
		run->printer = tel_printer_new(run->sink->out, TEL_FORMAT_TEXT);
		st = run->printer == NULL ?
		    TEL_ENOMEM :
		    tel_printer_set_format(run->printer, f->format.shown);
		if (st == TEL_OK)
			st = tel_printer_set(run->printer, TEL_PRINT_TERMINAL,
			    run->sink->terminal);
		if (st == TEL_OK && !s->unbuffered && !run->sink->terminal)
			st = tel_printer_set(run->printer, TEL_PRINT_THREADS,
			    settings_printers(s));
	} else {
		run->writer = format_writer(s, run->sink, f->bare);
		if (run->writer == NULL)
			return 0;
	}
	if (st == TEL_OK && f->context) {
		run->context =
		    tel_context_new((size_t)f->before, (size_t)f->after);
		if (run->context == NULL)
			st = TEL_ENOMEM;
	}
	if (st != TEL_OK)
		message_fail(STATUS_FAILED, NULL, "%s", tel_status_text(st));
	return st == TEL_OK;
}

/* What comes after the last event. */
static void
filtering_finish(struct run *run)
{
	const struct settings *s = run->settings;
	tel_status st = TEL_OK;

	if (s->count_only && !run->filtering->any && !total_by_file(s) &&
	    message_status() != STATUS_USAGE)
		total_print(run->sink, NULL, run->found);
	if (run->failed || run->refused || run->sink->failed)
		return;
	/* a folder gets its name now, but not from a failed run */
	if (s->folder != NULL && message_status() == STATUS_FAILED)
		return;
	if (run->writer != NULL)
		st = tel_writer_finish(run->writer);
	else if (run->printer != NULL)
		st = tel_printer_finish(run->printer);
	if (st != TEL_OK)
		(void)filtering_report_error(run, st);
}

uint64_t
filtering_run(struct filtering *f, struct sink *sink)
{
	struct settings *s = f->settings;
	struct selection *select = &s->select;
	struct run run = { .filtering = f, .settings = s, .sink = sink };
	struct visitor visitor = { .arg = &run,
		.begin = filtering_begin,
		.event = filtering_event,
		.run = filtering_run_events,
		.end = filtering_end,
		.idle = filtering_idle };

	if (s->count_only && !s->ordered)
		return total_run(s, sink);
	if (filtering_set_up(&run)) {
		run.ordered = f->by_time ? !selection_all(select) : s->ordered;
		visitor.any_order = !run.ordered &&
		    (run.writer != NULL ||
		        (f->format.flags & TEL_PRINTER_LOG_ORDER) != 0);
		run.full = select->count == 0;
		if (!run.full && sources_find_last(s)) {
			/* a sample is taken first, so these are counted here */
			run.skip = select->skip;
			run.count = f->any ? 1 : select->count;
			select->skip = 0;
			select->count = UINT64_MAX;
			sources_run(s, &visitor);
		}
		filtering_finish(&run);
	}
	tel_context_free(run.context);
	if (run.writer != NULL)
		format_losses(run.writer, s);
	tel_writer_free(run.writer);
	tel_printer_free(run.printer);
	return run.found;
}
