/* SPDX-License-Identifier: BSD-2-Clause */
/* Showing events: a printer for each source, and the output behind it. */
#include "telcat.h"

#include <string.h>
#include "common/message.h"

struct show {
	struct telcat *telcat;
	struct sink *sink;
	tel_printer *printer;
	const char *name;              /* of the source, for messages */
	int failed;                    /* the printer gave up on a source */
	int shown;                     /* it has printed something */
	int opened;                    /* a source could be read */
	int flush;                     /* after each event */
	struct source *const *sources; /* those that are read now */
	int nsources;
};

/* Has columns for the fields of all sources that are read now. */
static tel_status
add_schemas(struct show *show)
{
	struct selection *select = &show->telcat->settings.select;
	const tel_schema *schema;
	tel_status st = TEL_OK;
	int i;

	for (i = 0; i < show->nsources && st == TEL_OK; i++) {
		schema = tel_reader_schema(show->sources[i]->reader);
		if (schema != NULL && selection_bind(select, schema))
			st = tel_printer_add_schema(show->printer, schema,
			    select->filtering ? select->filter : NULL);
	}
	return st;
}

/* Sets the printer up; TEL_OK, or why not. */
static tel_status
set_up(const struct show *show, tel_printer *p)
{
	const struct telcat *t = show->telcat;
	const char *type = selection_only_type(&t->settings.select);
	tel_status st;

	st = tel_printer_set_header(p, !t->no_header);
	if (st == TEL_OK && t->settings.time_given)
		st = tel_printer_set_time(p, t->settings.time);
	if (st == TEL_OK)
		st = tel_printer_set_color(p, show->sink->color);
	if (st == TEL_OK)
		st = tel_printer_set_terminal(p, show->sink->terminal);
	if (st == TEL_OK && !show->flush)
		st =
		    tel_printer_set_threads(p, settings_printers(&t->settings));
	if (st == TEL_OK && t->index != NULL)
		st = tel_printer_set_index(p, t->index);
	if (st == TEL_OK && (t->format.flags & TEL_PRINTER_TABLE) != 0)
		st = tel_printer_set_footer(p, sink_footer(show->sink));
	if (st == TEL_OK && t->level > 0)
		st = tel_printer_set_zstd(p, t->level);
	if (st == TEL_OK && t->database != NULL)
		st = tel_printer_set_database(p, t->database);
	if (st == TEL_OK && t->weighted)
		st = tel_printer_set_weight(p, t->weight);
	if (st == TEL_OK && t->max_size != 0)
		st = tel_printer_set_max_size(p, t->max_size);
	if (st == TEL_OK && t->fields != NULL)
		st = tel_printer_set_fields(p, t->fields);
	else if (st == TEL_OK && type != NULL &&
	    (t->format.flags & TEL_PRINTER_COLUMNS) != 0)
		st = tel_printer_set_columns(p, type);
	return st;
}

/* Reports why printing failed. */
static void
tell(struct show *show, tel_status st)
{
	const char *name = show->name;

	show->failed = 1;
	if (tel_output_errno(show->sink->out) != 0)
		sink_failed(show->sink);
	else if (st == TEL_EINVAL && show->printer != NULL &&
	    tel_printer_error(show->printer)[0] != '\0')
		message_fail(STATUS_FAILED, name, "%s",
		    tel_printer_error(show->printer));
	else
		message_fail(STATUS_FAILED, name, "%s", tel_status_text(st));
}

static int
begin(void *arg, struct source *const *srcs, int n)
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
	if ((show->telcat->format.flags & TEL_PRINTER_TABLE) != 0) {
		st = add_schemas(show);
		if (st != TEL_OK)
			tell(show, st);
	}
	return st == TEL_OK;
}

static enum outcome
event(void *arg, const tel_event *ev)
{
	struct show *show = arg;
	tel_status st = tel_printer_event(show->printer, ev);

	if (st != TEL_OK) {
		tell(show, st);
		return show->sink->failed ? END_ALL : END_ONE;
	}
	show->shown = 1;
	if (!show->flush || tel_printer_flush(show->printer) == TEL_OK)
		return GO_ON;
	sink_failed(show->sink);
	return END_ALL;
}

static enum outcome
run(void *arg, tel_run *events)
{
	struct show *show = arg;
	/* the first one may be of a log that cannot be shown */
	enum outcome outcome = event(arg, tel_run_event(events, 0));
	tel_status st;
	size_t i;

	for (i = 1; show->flush && i < tel_run_count(events); i++)
		if (outcome == GO_ON)
			outcome = event(arg, tel_run_event(events, i));
	if (outcome != GO_ON || show->flush)
		return outcome;
	tel_run_drop(events, 1);
	st = tel_printer_run(show->printer, events);
	if (st == TEL_OK)
		return GO_ON;
	tell(show, st);
	return show->sink->failed ? END_ALL : END_ONE;
}

/* Warns if ticks were shown as nanoseconds because the rate is unknown. */
static enum outcome
end(void *arg)
{
	struct show *show = arg;
	int is_timeline =
	    (show->telcat->format.flags & TEL_PRINTER_TIMELINE) != 0 &&
	    !show->telcat->weighted;
	int i;

	for (i = 0; i < show->nsources && is_timeline && show->shown &&
	     !show->telcat->settings.quiet;
	     i++)
		if (tel_reader_tick_rate(show->sources[i]->reader) == 0) {
			message(show->sources[i]->name,
			    "the log does not record the rate of its clock: "
			    "assuming 1 tick = 1 ns; set --tb-hz");
			break;
		}
	return GO_ON;
}

static void
idle(void *arg)
{
	struct show *show = arg;

	/* a failure is kept, and reported after the next event */
	if (tel_printer_flush(show->printer) != TEL_OK)
		sink_failed(show->sink);
}

/* Makes the printer.  Returns 1, or 0 after a message. */
static int
open_printer(struct show *show)
{
	tel_status st = TEL_ENOMEM;

	show->printer = tel_printer_new(show->sink->out, TEL_FORMAT_TEXT);
	if (show->printer != NULL)
		st = tel_printer_set_format(show->printer,
		    show->telcat->format.shown);
	if (st == TEL_OK)
		st = set_up(show, show->printer);
	if (st == TEL_OK)
		return 1;
	tell(show, st);
	return 0;
}

void
telcat_show(struct telcat *t, struct sink *sink)
{
	struct show show;
	struct visitor visitor;
	tel_status st;

	memset(&show, 0, sizeof(show));
	show.telcat = t;
	show.sink = sink;
	show.flush = t->settings.unbuffered || sink->terminal;
	if (open_printer(&show)) {
		memset(&visitor, 0, sizeof(visitor));
		visitor.arg = &show;
		visitor.begin = begin;
		visitor.event = event;
		visitor.run = run;
		visitor.end = end;
		visitor.idle = idle;
		visitor.needs_rate = t->settings.time == TEL_TIME_SECONDS ||
		    t->settings.time == TEL_TIME_NS;
		sources_run(&t->settings, &visitor);
		/* a log without events has a header; no log has none */
		if (!sink->failed &&
		    (show.shown || (show.opened && !show.failed))) {
			st = tel_printer_finish(show.printer);
			if (st != TEL_OK)
				tell(&show, st);
		}
	}
	tel_printer_free(show.printer);
}
