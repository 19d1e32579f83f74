/* SPDX-License-Identifier: BSD-2-Clause */
/* From the operands to a program and its facts. */
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "common/message.h"
#include "common/source.h"

/* After so many operations the clock's rate is asked for again. */
#define RATE_EACH 4096
/* How many odd operations are told, of each sort and of all. */
#define TOLD_EACH 3
#define TOLD_MAX 12

/* The operands on their way into the compiler. */
struct reading {
	struct telreplay *telreplay;
	tel_compiler *compiler;
	const char *name; /* of what is read */
	const tel_reader *reader;
	uint64_t operations;
	double rate; /* ticks a second, 0 as long as that is not known */
	int opened;
	int failed;
};

static void
tell_compiler(const struct reading *r, tel_status st)
{
	const char *text = tel_compiler_error(r->compiler);

	message_fail(STATUS_FAILED, r->name, "%s",
	    text[0] != '\0' ? text : tel_status_text(st));
}

static int
begin(void *arg, struct source *const *srcs, int n)
{
	struct reading *r = arg;
	char name[TEL_LOG_NAME];

	r->name = srcs[0]->name;
	r->reader = srcs[0]->reader;
	r->opened = 1;
	(void)snprintf(name, sizeof(name), "%s%s",
	    strcmp(r->name, "-") == 0 ? "standard input" : r->name,
	    n > 1 ? " and others" : "");
	return tel_compiler_set_log(r->compiler, name) == TEL_OK;
}

/* How fast the clock goes, as soon as that is known. */
static void
ask_rate(struct reading *r)
{
	double rate = tel_reader_tick_rate(r->reader);

	if (rate > 0 && rate != r->rate &&
	    tel_compiler_set_tick_rate(r->compiler, rate) == TEL_OK)
		r->rate = rate;
}

static enum outcome
event(void *arg, const tel_event *ev)
{
	struct reading *r = arg;
	tel_alloc op;
	tel_status st;

	if (!tel_event_alloc(ev, &op))
		return GO_ON;
	if (r->operations++ % RATE_EACH == 0)
		ask_rate(r);
	st = tel_compiler_add(r->compiler, &op, tel_event_index(ev));
	if (st == TEL_OK)
		return GO_ON;
	tell_compiler(r, st);
	r->failed = 1;
	return END_ALL;
}

static enum outcome
end(void *arg)
{
	struct reading *r = arg;

	if (!r->failed)
		ask_rate(r);
	return r->failed ? END_ALL : GO_ON;
}

/* Names the first odd operations, and counts those that are damage. */
static void
tell_odd(const struct telreplay *t, const tel_facts *f)
{
	unsigned told[TEL_ODD_KINDS] = { 0 }, all = 0;
	uint64_t damage = 0, i;

	for (i = 0; i < TEL_ODD_KINDS; i++)
		if (tel_odd_damage((tel_odd)i))
			damage += f->odd[i];
	for (i = 0; i < f->odd_kept && all < TOLD_MAX; i++) {
		const tel_odd_one *o = &f->odd_ones[i];

		if (t->settings.quiet ||
		    (!tel_odd_damage(o->odd) && !t->settings.verbose) ||
		    told[o->odd]++ >= TOLD_EACH)
			continue;
		message(f->log_names[o->log],
		    "event %" PRIu64 ": %s: 0x%" PRIx64 ", thread %" PRIu64,
		    o->event, tel_odd_text(o->odd), o->address, o->thread);
		all++;
	}
	if (damage == 0)
		return;
	message_raise(STATUS_DAMAGED);
	if (!t->settings.quiet)
		message(NULL,
		    "%" PRIu64 " operations are wrong or miss something; "
		    "the report counts them",
		    damage);
}

/* Runs the operands through the compiler. */
static int
compile_all(struct reading *r)
{
	struct visitor visitor;
	tel_status st;

	memset(&visitor, 0, sizeof(visitor));
	visitor.arg = r;
	visitor.begin = begin;
	visitor.event = event;
	visitor.end = end;
	visitor.in_order = 1;
	visitor.allocs = 1;
	visitor.needs_rate = r->telreplay->run.pace > 0;
	sources_run(&r->telreplay->settings, &visitor);
	if (r->failed || !r->opened || message_status() == STATUS_USAGE)
		return 0;
	st = tel_compiler_finish(r->compiler);
	if (st != TEL_OK) {
		tell_compiler(r, st);
		return 0;
	}
	if (r->operations > 0)
		return 1;
	message_fail(STATUS_FAILED, r->name,
	    "no event of it allocates or frees: --alloc and --free say which "
	    "do");
	return 0;
}

static int
set_up(const struct telreplay *t, tel_compiler *c)
{
	tel_status st = tel_compiler_set_order(c, t->order);

	if (st == TEL_OK && t->lanes > 0)
		st = tel_compiler_set_lanes(c, (unsigned)t->lanes);
	if (st == TEL_OK && t->max_live > 0)
		st = tel_compiler_set_max_live(c, t->max_live);
	if (st == TEL_OK)
		st = tel_compiler_set_strict(c, t->settings.strict);
	if (st == TEL_OK)
		return 1;
	message_fail(STATUS_FAILED, NULL, "%s", tel_status_text(st));
	return 0;
}

int
trace_facts(struct trace *trace, const tel_facts *facts)
{
	trace->facts = malloc(sizeof(*facts));
	if (trace->facts == NULL) {
		message_fail(STATUS_FAILED, NULL, "%s",
		    tel_status_text(TEL_ENOMEM));
		return 0;
	}
	*trace->facts = *facts;
	return 1;
}

/* Compiles into an output, or to have the facts alone. */
static int
compile(struct trace *trace, struct telreplay *t, tel_output *out)
{
	struct reading r;
	int good;

	memset(&r, 0, sizeof(r));
	r.telreplay = t;
	r.compiler = tel_compiler_new(out);
	if (r.compiler == NULL) {
		message_fail(STATUS_FAILED, NULL, "%s",
		    tel_status_text(TEL_ENOMEM));
		return 0;
	}
	good = set_up(t, r.compiler) && compile_all(&r) &&
	    trace_facts(trace, tel_compiler_facts(r.compiler));
	tel_compiler_free(r.compiler);
	if (good)
		tell_odd(t, trace->facts);
	return good;
}

/* Compiles to a file that is kept. */
static int
compile_kept(struct trace *trace, struct telreplay *t)
{
	struct sink sink;
	int good;

	t->settings.output = t->keep;
	good = sink_open(&sink, &t->settings);
	t->settings.output = NULL;
	if (!good)
		return 0;
	if (sink.terminal) {
		message_fail(STATUS_USAGE, t->keep,
		    "a program is nothing for a terminal");
		sink_close(&sink);
		return 0;
	}
	good = compile(trace, t, sink.out);
	/* the compiler has told of it */
	sink.failed |= tel_output_errno(sink.out) != 0;
	good = good && !sink.failed;
	sink_close(&sink);
	if (!good || sink.failed || t->check)
		return good && !sink.failed;
	/* processes inherit it */
	trace->fd = open(t->keep, O_RDONLY | O_NOCTTY);
	if (trace->fd >= 0)
		return trace_program(trace, t->keep);
	message_fail(STATUS_FAILED, t->keep, "%s", strerror(errno));
	return 0;
}

static int
compile_nameless(struct trace *trace, struct telreplay *t)
{
	tel_output *out;
	int good;

	trace->fd = trace_nameless();
	if (trace->fd < 0)
		return 0;
	out = tel_output_new_fd(trace->fd);
	if (out == NULL) {
		message_fail(STATUS_FAILED, NULL, "%s",
		    tel_status_text(TEL_ENOMEM));
		return 0;
	}
	good = compile(trace, t, out);
	tel_output_free(out);
	return good && trace_program(trace, "the program");
}

int
trace_open(struct trace *trace, struct telreplay *t)
{
	unsigned char head[TRACE_HEAD];
	int found;

	memset(trace, 0, sizeof(*trace));
	trace->fd = -1;
	found = trace_try(trace, t, head);
	if (found != 0)
		return found > 0;
	if (t->keep != NULL)
		return compile_kept(trace, t);
	if (t->check)
		return compile(trace, t, NULL);
	return compile_nameless(trace, t);
}

void
trace_close(struct trace *trace)
{
	tel_program_free(trace->program);
	if (trace->fd >= 0)
		(void)close(trace->fd);
	free(trace->facts);
}
