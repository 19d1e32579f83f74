/* SPDX-License-Identifier: BSD-2-Clause */
/* Showing events: a printer for each source, and the output behind it. */
#include "telcat.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "common/message.h"
#include "tel/run.h"

struct show {
	struct telcat *telcat;
	struct sink *sink;
	tel_printer *printer;
	tel_output *unused;            /* of the printer of live pages */
	const char *name;              /* of the source, for messages */
	int failed;                    /* the printer gave up on a source */
	int shown;                     /* it has printed something */
	int opened;                    /* a source could be read */
	tel_status added;              /* columns, or why not */
	int news;                      /* that the last page does not have */
	unsigned taken;                /* events */
	int64_t page;                  /* when it was written, in ms */
	int flush;                     /* after each event */
	struct source *const *sources; /* those that are read now */
	int nsources;
	uint64_t damaged; /* places in those that were read before, */
	uint64_t skipped; /* and bytes */
};

/* Has columns for the fields of a schema: a source_schema_fn. */
static void
show_schema(void *arg, const tel_schema *schema)
{
	struct show *show = arg;
	struct selection *select = &show->telcat->settings.select;

	if (show->added == TEL_OK && schema != NULL &&
	    selection_bind(select, schema))
		show->added = tel_printer_add_schema(show->printer, schema,
		    select->filtering ? select->filter : NULL);
}

/*
 * Has columns for the fields of all sources that are read now.  What may have
 * several logs is read once before: CSV has no place for fields without a column.
 */
static tel_status
add_schemas(struct show *show)
{
	show->added = TEL_OK;
	for (int i = 0; i < show->nsources; i++) {
		const struct source *src = show->sources[i];

		if (show->telcat->wide || tel_reader_archive(src->reader))
			source_learn(src, &show->telcat->settings, show_schema,
			    show);
		show_schema(show, tel_reader_schema(src->reader));
	}
	return show->added;
}

/* Sets the printer up; TEL_OK, or why not. */
static tel_status
set_up(const struct telcat *t, const struct sink *sink, tel_printer *p)
{
	const char *type = selection_only_type(&t->settings.select);
	tel_status st = tel_printer_set(p, TEL_PRINT_HEADER, !t->no_header);

	if (st == TEL_OK && t->settings.time_given)
		st = tel_printer_set(p, TEL_PRINT_TIME, t->settings.time);
	if (st == TEL_OK)
		st = tel_printer_set(p, TEL_PRINT_COLOR, sink->color);
	if (st == TEL_OK)
		st = tel_printer_set(p, TEL_PRINT_TERMINAL, sink->terminal);
	if (st == TEL_OK && t->index != NULL)
		st = tel_printer_set_index(p, t->index);
	if (st == TEL_OK && (t->format.flags & TEL_PRINTER_TABLE) != 0)
		st = tel_printer_set(p, TEL_PRINT_FOOTER, sink_footer(sink));
	if (st == TEL_OK && t->level > 0)
		st = tel_printer_set(p, TEL_PRINT_ZSTD, t->level);
	if (st == TEL_OK && t->database != NULL)
		st = tel_printer_set_database(p, t->database);
	if (st == TEL_OK && t->weighted)
		st = tel_printer_set_weight(p, t->weight);
	if (st == TEL_OK && t->max_size != 0)
		st = tel_printer_set(p, TEL_PRINT_MAX_SIZE,
		    (int64_t)t->max_size);
	if (st == TEL_OK && t->allocators != NULL)
		st = tel_printer_set_allocators(p, t->allocators);
	if (st == TEL_OK && t->wide)
		return tel_printer_set(p, TEL_PRINT_WIDE, 1);
	if (st == TEL_OK && t->fields != NULL)
		st = tel_printer_set_fields(p, t->fields);
	else if (st == TEL_OK && type != NULL &&
	    (t->format.flags & TEL_PRINTER_COLUMNS) != 0)
		st = tel_printer_set_columns(p, type);
	return st;
}

tel_status
telcat_printer(const struct telcat *t, const struct sink *sink, tel_output *to,
    tel_printer **out)
{
	*out = tel_printer_new(to, TEL_FORMAT_TEXT);
	if (*out == NULL)
		return TEL_ENOMEM;
	tel_status st = tel_printer_set_format(*out, t->format.shown);
	return st == TEL_OK ? set_up(t, sink, *out) : st;
}

/* Reports why printing failed. */
static void
telcat_show_report_error(struct show *show, tel_status st)
{
	show->failed = 1;
	sink_report(show->sink, show->name, st,
	    show->printer != NULL ? tel_printer_error(show->printer) : "");
	if (st == TEL_EINVAL && show->printer != NULL &&
	    tel_printer_misnamed(show->printer))
		message_raise(STATUS_USAGE);
}

static int
telcat_show_begin(void *arg, struct source *const *srcs, int n)
{
	struct show *show = arg;
	tel_status st = TEL_OK;

	show->name = srcs[0]->name;
	show->opened = 1;
	show->sources = srcs;
	show->nsources = n;
	if ((show->telcat->format.flags & TEL_PRINTER_BINARY) != 0 &&
	    !sink_check_binary(show->sink, show->name)) {
		show->failed = 1;
		return 0;
	}
	tel_printer_set_file(show->printer, n == 1 ? srcs[0]->size : 0,
	    n == 1 ? srcs[0]->changed : 0);
	if (show->telcat->wide ||
	    (show->telcat->format.flags & TEL_PRINTER_TABLE) != 0) {
		st = add_schemas(show);
		if (st != TEL_OK)
			telcat_show_report_error(show, st);
	}
	return st == TEL_OK;
}

/* ---------------------------------------------------------------- pages */

static int64_t
now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* How long it is until the next page, in ms; not positive: it is due. */
static int64_t
until_page(const struct show *show)
{
	return show->page + (int64_t)show->telcat->seconds * 1000 - now_ms();
}

/* Tells the printer of the damage so far; ended: the sources are read. */
static void
tell_damage(struct show *show, int ended)
{
	uint64_t places = show->damaged, bytes = show->skipped;

	for (int i = 0; i < show->nsources; i++) {
		const tel_reader *r = show->sources[i]->reader;

		places += tel_reader_count(r, TEL_COUNT_DAMAGED);
		bytes += tel_reader_count(r, TEL_COUNT_SKIPPED);
	}
	tel_printer_set_damage(show->printer, places, bytes);
	if (ended) {
		show->damaged = places;
		show->skipped = bytes;
		show->nsources = 0;
	}
}

/* Replaces the page by one of the events so far. */
static void
telcat_show_put_page(struct show *show, unsigned seconds)
{
	struct sink *sink = show->sink;

	if (sink->failed || !sink_again(sink))
		return;
	tell_damage(show, 0);
	tel_status st = tel_printer_snapshot(show->printer, sink->out, seconds);
	if (st != TEL_OK)
		telcat_show_report_error(show, st);
	else
		(void)sink_replace(sink);
	/* no more often than that takes */
	show->page = now_ms();
	show->news = 0;
}

/*
 * Nothing comes at present.  Events that no page has are not to wait for the
 * next ones: if there are none until a page is due, it is written.
 */
static void
idle_page(struct show *show)
{
	struct pollfd *fds;
	nfds_t n = 0;
	int i, got = 0;

	if (!show->news || show->failed)
		return;
	int64_t wait = until_page(show);
	fds = calloc((size_t)show->nsources + 1, sizeof(*fds));
	for (i = 0; fds != NULL && i < show->nsources; i++) {
		if (show->sources[i]->regular)
			continue;
		fds[n].fd = show->sources[i]->fd;
		fds[n++].events = POLLIN;
	}
	/* a ring is not waited for here, as it would be overwritten */
	if (wait > 0)
		got = n > 0 ? poll(fds, n, (int)wait) : 1;
	free(fds);
	if (got == 0)
		telcat_show_put_page(show, show->telcat->seconds);
}

/* Events were printed: a page of them may be due. */
static void
note_events(struct show *show)
{
	if (show->telcat->seconds == 0)
		return;
	show->news = 1;
	if (until_page(show) <= 0)
		telcat_show_put_page(show, show->telcat->seconds);
}

/* --------------------------------------------------------------- events */

static enum outcome
telcat_show_event(void *arg, const tel_event *ev)
{
	struct show *show = arg;
	tel_status st = tel_printer_event(show->printer, ev);

	if (st != TEL_OK) {
		/* of merged logs, one without times */
		for (int i = show->nsources - 1;
		     i >= 0 && tel_event_tick_rate(ev) == 0; i--)
			if (tel_reader_tick_rate(show->sources[i]->reader) == 0)
				show->name = show->sources[i]->name;
		telcat_show_report_error(show, st);
		return show->sink->failed ? END_ALL : NEXT_FILE;
	}
	show->shown = 1;
	/* the time is asked for now and then */
	if (show->telcat->seconds != 0 && ((++show->taken & 255) == 0))
		note_events(show);
	else
		show->news = 1;
	if (show->sink->failed)
		return END_ALL;
	if (!show->flush)
		return CONTINUE;
	if (tel_printer_flush(show->printer) != TEL_OK) {
		sink_failed(show->sink);
		return END_ALL;
	}
	sink_flushed(show->sink);
	return CONTINUE;
}

static enum outcome
telcat_show_run(void *arg, tel_run *events)
{
	struct show *show = arg;
	/* the first one may be of a log that cannot be shown */
	size_t i, singly = show->flush ? tel_run_count(events) : !show->shown;
	enum outcome outcome = CONTINUE;

	for (i = 0; i < singly && outcome == CONTINUE; i++)
		outcome = telcat_show_event(arg, tel_run_event(events, i));
	if (outcome != CONTINUE || show->flush)
		return outcome;
	tel_run_drop(events, singly);
	tel_status st = tel_printer_run(show->printer, events);
	if (st == TEL_OK) {
		note_events(show);
		return show->sink->failed ? END_ALL : CONTINUE;
	}
	telcat_show_report_error(show, st);
	return show->sink->failed ? END_ALL : NEXT_FILE;
}

/* Warns if ticks were shown as nanoseconds because the rate is unknown. */
static enum outcome
telcat_show_end(void *arg)
{
	struct show *show = arg;
	int is_timeline =
	    (show->telcat->format.flags & TEL_PRINTER_TIMELINE) != 0 &&
	    !show->telcat->weighted;

	for (int i = 0; i < show->nsources && is_timeline && show->shown &&
	     !show->telcat->settings.quiet;
	     i++)
		if (tel_reader_tick_rate(show->sources[i]->reader) == 0) {
			message(show->sources[i]->name,
			    "the log does not record the rate of its clock: "
			    "assuming 1 tick = 1 ns; set --tb-hz");
			break;
		}
	tell_damage(show, 1);
	return CONTINUE;
}

static void
telcat_show_idle(void *arg)
{
	struct show *show = arg;

	if (show->telcat->seconds != 0) {
		idle_page(show);
		return;
	}
	/* a failure is kept, and reported after the next event */
	if (tel_printer_flush(show->printer) != TEL_OK)
		sink_failed(show->sink);
	sink_flushed(show->sink);
}

/* Makes the printer.  Returns 1, or 0 after a message. */
static int
open_printer(struct show *show)
{
	const struct telcat *t = show->telcat;
	tel_output *to = show->sink->out;
	tel_status st = TEL_ENOMEM;

	/* pages go to one output after the other, and to none in between */
	if (t->seconds != 0)
		to = show->unused = tel_output_new_fd(1);
	if (to != NULL)
		st = telcat_printer(t, show->sink, to, &show->printer);
	if (st == TEL_OK && !show->flush)
		st = tel_printer_set(show->printer, TEL_PRINT_THREADS,
		    settings_printers(&t->settings));
	if (st == TEL_OK)
		return 1;
	/* the other options were checked before */
	if (st == TEL_EINVAL)
		return message_fail(STATUS_USAGE, NULL, "-F: %s",
		    tel_printer_error(show->printer));
	telcat_show_report_error(show, st);
	return 0;
}

/* Prints what ends the output. */
static void
end_output(struct show *show)
{
	if (show->telcat->seconds == 0) {
		tel_status st = tel_printer_finish(show->printer);

		if (st != TEL_OK)
			telcat_show_report_error(show, st);
	} else {
		telcat_show_put_page(show, 0);
	}
}

void
telcat_show(struct telcat *t, struct sink *sink)
{
	struct show show = { 0 };
	struct visitor visitor;

	show.telcat = t;
	show.sink = sink;
	show.flush = t->settings.unbuffered || sink->terminal;
	if (open_printer(&show)) {
		memset(&visitor, 0, sizeof(visitor));
		visitor.arg = &show;
		visitor.begin = telcat_show_begin;
		visitor.event = telcat_show_event;
		visitor.run = telcat_show_run;
		visitor.end = telcat_show_end;
		visitor.idle = telcat_show_idle;
		visitor.any_order =
		    (t->format.flags & TEL_PRINTER_LOG_ORDER) != 0;
		/* blocks and ranges are followed in it, except by --live and -u */
		visitor.sorts_text = t->seconds == 0 &&
		    !t->settings.unbuffered &&
		    ((t->format.flags & TEL_PRINTER_TIMELINE) != 0 ||
		        tel_printer_uses(show.printer, TEL_USE_ORDER));
		visitor.needs_rate = t->settings.time == TEL_TIME_SECONDS ||
		    t->settings.time == TEL_TIME_NS ||
		    tel_printer_uses(show.printer, TEL_USE_RATE);
		/* unless what there is has to be shown at once */
		visitor.waits_for_rate =
		    (t->format.flags & TEL_PRINTER_PAGE) != 0 &&
		    t->seconds == 0 && !t->settings.unbuffered;
		visitor.remembers =
		    tel_printer_uses(show.printer, TEL_USE_HISTORY);
		sources_run(&t->settings, &visitor);
		/*
		 * A log without events has a header; no log has none.  A
		 * database gets its name now, but not from a failed run.
		 */
		if (!sink->failed &&
		    (show.shown || (show.opened && !show.failed)) &&
		    (t->database == NULL || message_status() != STATUS_FAILED))
			end_output(&show);
	}
	tel_printer_free(show.printer);
	tel_output_free(show.unused);
}
