/* SPDX-License-Identifier: BSD-2-Clause */
/* Writing events in another format of logs, through a writer. */
#include "telcat.h"

#include "common/message.h"
#include "tel/run.h"

struct run {
	struct telcat *telcat;
	struct sink *sink;
	tel_writer *writer;
	const tel_reader *reader;
	const char *name; /* of the source, for messages */
	int failed;       /* what was written is not all */
	int refused;      /* the output is a terminal */
	int flush;        /* after each event */
};

/* Reports why writing failed.  Returns how to go on. */
static enum outcome
convert_report_error(struct run *run, tel_status st)
{
	const char *why = tel_writer_error(run->writer);

	run->failed = 1;
	if (tel_output_errno(run->sink->out) != 0) {
		sink_failed(run->sink);
		return END_ALL;
	}
	if (st == TEL_ENOMEM || why[0] == '\0')
		why = tel_status_text(st);
	/* the writer's message about a log names it */
	message_fail(STATUS_FAILED, st == TEL_EINVAL ? NULL : run->name, "%s",
	    why);
	return st == TEL_EINVAL && !run->telcat->settings.strict ? NEXT_FILE :
	                                                           END_ALL;
}

static int
convert_begin(void *arg, struct source *const *srcs, int n)
{
	struct run *run = arg;

	(void)n;
	run->name = srcs[0]->name;
	run->reader = srcs[0]->reader;
	/* a block of the native format is written when there is no more input */
	run->flush = run->telcat->settings.unbuffered &&
	    !format_native(run->telcat->settings.format);
	run->refused = !format_check(run->writer, run->sink, srcs[0]);
	return !run->refused;
}

static enum outcome
convert_event(void *arg, const tel_event *ev)
{
	struct run *run = arg;
	struct settings *s = &run->telcat->settings;
	tel_status st;
	int wanted = settings_full(s) ? 0 : settings_wanted(s, ev);

	if (wanted < 0)
		return END_ALL;
	st = wanted ? tel_writer_event(run->writer, ev) :
	              tel_writer_pass(run->writer, ev);
	if (st == TEL_OK && wanted && run->flush)
		st = tel_writer_flush(run->writer);
	if (st != TEL_OK)
		return convert_report_error(run, st);
	if (wanted && run->flush)
		sink_flushed(run->sink);
	return settings_full(s) ? END_ALL : CONTINUE;
}

static enum outcome
convert_run_events(void *arg, tel_run *events)
{
	struct run *run = arg;
	const struct selection *s = &run->telcat->settings.select;
	enum outcome outcome = CONTINUE;
	tel_status st;
	size_t i;

	if (selection_all(s) && !run->flush) {
		st = tel_writer_run(run->writer, events);
		return st == TEL_OK ? CONTINUE : convert_report_error(run, st);
	}
	for (i = 0; i < tel_run_count(events) && outcome == CONTINUE; i++)
		outcome = convert_event(arg, tel_run_event(events, i));
	return outcome;
}

static enum outcome
convert_end(void *arg)
{
	struct run *run = arg;
	tel_status st = tel_writer_end_file(run->writer, run->reader);

	return st == TEL_OK ? CONTINUE : convert_report_error(run, st);
}

static void
convert_idle(void *arg)
{
	struct run *run = arg;

	/* a failure is kept, and reported after the next event */
	if (tel_writer_flush(run->writer) != TEL_OK)
		sink_failed(run->sink);
	sink_flushed(run->sink);
}

void
telcat_write(struct telcat *t, struct sink *sink)
{
	struct visitor visitor = { 0 };
	struct run run = { 0 };
	tel_status st;

	run.telcat = t;
	run.sink = sink;
	/* then nothing of events that are passed over is needed for another */
	run.writer = format_writer(&t->settings, sink,
	    format_native(t->settings.format) &&
	        selection_all(&t->settings.select));
	if (run.writer == NULL)
		return;
	visitor.arg = &run;
	visitor.begin = convert_begin;
	visitor.event = convert_event;
	visitor.run = convert_run_events;
	visitor.end = convert_end;
	visitor.idle = convert_idle;
	visitor.any_order = selection_all(&t->settings.select);
	if (!settings_full(&t->settings))
		sources_run(&t->settings, &visitor);
	if (!run.failed && !run.refused && !sink->failed) {
		st = tel_writer_finish(run.writer);
		if (st != TEL_OK)
			(void)convert_report_error(&run, st);
	}
	format_losses(run.writer, &t->settings);
	tel_writer_free(run.writer);
}
