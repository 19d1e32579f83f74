/* SPDX-License-Identifier: BSD-2-Clause */
/* Trace: from the operands to a program and its facts. */
#include "telreplay/compile/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/read.h"
#include "base/spool.h"
#include "common/message.h"
#include "common/event_loop.h"
#include "common/total.h"
#include "model/live.h"
#include "reader/span.h"
#include "tel/run.h"
#include "telreplay/compile/compiler.h"

/* How much of a file is needed to detect a program. */
#define HEAD 16
/* The rate of the clock is looked up again after so many operations. */
#define RATE_EACH 4096
#define RATE_FIRST 64 /* while it is unknown */
/* The most messages about anomalies, of each kind and of all. */
#define SHOWN_EACH 3
#define SHOWN_MAX 12

/* The facts outlive the compiler or the program they are of: a copy. */
static int
copy_facts(struct trace *trace, const struct facts *facts)
{
	trace->facts = malloc(sizeof(*facts));
	if (trace->facts == NULL)
		return message_no_memory();
	*trace->facts = *facts;
	return 1;
}

static uint64_t
count_damage(const struct facts *f)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < ANOMALIES; i++)
		if (facts_damage(f, (enum anomaly)i))
			n += f->anomalies[i];
	return n;
}

/* Shows the first anomalies, and how many are damage. */
static void
show_anomalies(const struct telreplay *t, const struct facts *f)
{
	unsigned shown[ANOMALIES] = { 0 }, all = 0;
	const uint64_t damage = count_damage(f);

	for (uint64_t i = 0; i < f->anomaly_event_count && all < SHOWN_MAX;
	     i++) {
		const struct anomaly_event *a = &f->anomaly_events[i];

		if (t->settings.quiet ||
		    (!facts_damage(f, a->anomaly) && !t->settings.verbose) ||
		    shown[a->anomaly]++ >= SHOWN_EACH)
			continue;
		message(f->log_names[a->log],
		    "event %" PRIu64 ": %s: 0x%" PRIx64 ", thread %" PRIu64,
		    a->event, anomaly_text(a->anomaly), a->address, a->thread);
		all++;
	}
	if (damage == 0)
		return;
	message_raise(STATUS_DAMAGED);
	if (!t->settings.quiet)
		message(NULL,
		    "%" PRIu64
		    " operations are inconsistent; the report counts them",
		    damage);
}

/* ------------------------------------------------------- compiled programs */

/*
 * Whether it is good, after a message if not; name: what it is of.  p: which has
 * the place of the damage; NULL: its end.
 */
static int
program_is_good(tel_status st, const char *name, const struct program *p)
{
	if (st == TEL_OK)
		return 1;
	if (st == TEL_EDAMAGED && p != NULL)
		return message_fail(STATUS_FAILED, name,
		    "offset %" PRIu64
		    ": a part of the compiled program does not have the "
		    "checksum or the operations that it must have",
		    program_offset(p));
	return message_fail(STATUS_FAILED, name, "%s",
	    st == TEL_EDAMAGED ?
	        "the compiled program is truncated, or damaged at its end" :
	        st == TEL_EIO ? strerror(errno) :
	                        tel_status_text(st));
}

/* Opens the program in .fd; name: for the message. */
static int
open_program(struct trace *trace, const char *name)
{
	return program_is_good(program_open_fd(trace->fd, &trace->program),
	    name, NULL);
}

/* The option that does not fit a program, or NULL. */
static const char *
needs_log(const struct telreplay *t, const struct facts *f)
{
	if (!selection_all(&t->settings.select))
		return "the selection of events";
	if (t->settings.count_only)
		return "-c";
	if (t->settings.order != TEL_ORDER_LOG)
		return "-S";
	if (t->threads_given)
		return "--threads";
	if (t->window_given)
		return "--window";
	if (t->order_given && f->order != t->compiler.order)
		return "--order";
	return t->keep != NULL ? "--program" : NULL;
}

/* Takes .fd as a program.  It may come from anywhere. */
static int
take_program(struct trace *trace, const struct telreplay *t, const char *name)
{
	if (!open_program(trace, name))
		return 0;
	const char *wrong = needs_log(t, program_facts(trace->program));
	if (wrong != NULL)
		return message_fail(STATUS_USAGE, name,
		    "%s applies to logs: a compiled program is fixed", wrong);
	if (!program_is_good(program_check(trace->program), name,
	        trace->program) ||
	    !copy_facts(trace, program_facts(trace->program)))
		return 0;
	const uint64_t damage = count_damage(trace->facts);
	if (t->settings.strict && damage > 0)
		return message_fail(STATUS_FAILED, name,
		    "%" PRIu64 " operations of the log are inconsistent",
		    damage);
	show_anomalies(t, trace->facts);
	return 1;
}

/* Refuses a program among several operands. */
static int
programs_refuse(const struct settings *s)
{
	unsigned char head[HEAD];
	struct stat st;

	for (int i = 0; i < s->noperands; i++) {
		const char *name = s->operands[i];
		if (stat(name, &st) != 0 || !S_ISREG(st.st_mode))
			continue;
		const int fd = open(name, O_RDONLY | O_NOCTTY);
		if (fd < 0)
			continue;
		ptrdiff_t n = tel__read_all(fd, head, HEAD, 0);
		(void)close(fd);
		if (n > 0 && program_probe(head, (size_t)n))
			return message_fail(STATUS_USAGE, name,
			    "a compiled program cannot be combined with other "
			    "files");
	}
	return 1;
}

/*
 * Takes the operand if it is a program.  head: has room for HEAD bytes, which
 * may be given to the readers again.
 * Returns 1 for a program, 0 for something else, -1 after a message.
 */
static int
try_program(struct trace *trace, struct telreplay *t, unsigned char *head)
{
	struct settings *s = &t->settings;
	const char *name = s->noperands > 0 ? s->operands[0] : "-";
	const int input = strcmp(name, "-") == 0;
	struct stat st;

	/*
	 * The reader shows what cannot be opened.  A named pipe is opened by it
	 * alone: its writer would lose what it writes to a first reader.
	 */
	if (s->noperands > 1)
		return programs_refuse(s) ? 0 : -1;
	if ((input ? fstat(0, &st) : stat(name, &st)) != 0 ||
	    (!S_ISREG(st.st_mode) && (!input || isatty(0))))
		return 0;
	const int piped = !S_ISREG(st.st_mode);
	const int fd = input ? dup(0) : open(name, O_RDONLY | O_NOCTTY);
	if (fd < 0)
		return 0;
	ptrdiff_t n = tel__read_all(fd, head, HEAD, piped ? -1 : 0);
	if (n < 0)
		message_errno(name);
	if (n < 0 || piped || !program_probe(head, (size_t)n))
		(void)close(fd);
	else
		trace->fd = fd;
	if (n < 0)
		return -1;
	if (piped) {
		s->ahead = head;
		s->nahead = (size_t)n;
	}
	if (!program_probe(head, (size_t)n))
		return 0;
	if (piped && (!sources_spool_input(s) || (trace->fd = dup(0)) < 0))
		return -1;
	return take_program(trace, t, name) ? 1 : -1;
}

/* -------------------------------------------------------------- compiling */

/* The state of reading the operands. */
struct reading {
	struct telreplay *telreplay;
	struct compiler *compiler;
	const char *name;   /* of the current operand */
	const char *output; /* where the program goes, for messages */
	const tel_reader *reader;
	struct source *const *sources;
	int nsources;
	uint64_t next_look; /* at the rate, after so many operations */
	double rate;        /* ticks a second, 0 while unknown */
	int opened;
	int failed;
};

static void
show_failure(const struct reading *r, tel_status st)
{
	const char *text = compiler_error(r->compiler);

	message_fail(STATUS_FAILED, st == TEL_EIO ? r->output : r->name, "%s",
	    text[0] != '\0' ? text : tel_status_text(st));
}

/* How reading goes on after the compiler was called; a failure is shown. */
static enum outcome
outcome_of(struct reading *r, tel_status st)
{
	if (st == TEL_OK)
		return CONTINUE;
	show_failure(r, st);
	r->failed = 1;
	return END_ALL;
}

static int
trace_begin(void *arg, struct source *const *srcs, int n)
{
	struct reading *r = arg;
	char name[LOG_NAME];

	r->sources = srcs;
	r->nsources = n;
	r->name = srcs[0]->name;
	r->reader = srcs[0]->reader;
	r->opened = 1;
	(void)snprintf(name, sizeof(name), "%s%s",
	    strcmp(r->name, "-") == 0 ? "standard input" : r->name,
	    n > 1 ? " and others" : "");
	return compiler_set_log(r->compiler, name) == TEL_OK;
}

/* Passes on the rate of the clock as soon as it is known. */
static void
look_up_rate(struct reading *r)
{
	double rate = tel_reader_tick_rate(r->reader);

	if (rate > 0 && rate != r->rate &&
	    compiler_set_tick_rate(r->compiler, rate) == TEL_OK)
		r->rate = rate;
}

/* Adds a word, without what would end it. */
static void
add_word(char *text, size_t room, const char *name, const char *value, size_t n)
{
	size_t used = strlen(text), i;

	if (used + strlen(name) + n + 3 > room)
		return;
	used += (size_t)snprintf(text + used, room - used, " %s=", name);
	for (i = 0; i < n; i++)
		text[used++] =
		    (char)(value[i] > ' ' && value[i] < 0x7f ? value[i] : '_');
	text[used] = '\0';
}

/* Adds a field: a number, an address or what it is called. */
static void
trace_add_field(char *text, size_t room, const tel_event *ev, unsigned i)
{
	const tel_field *f = tel_type_field(tel_event_type(ev), i);
	tel_datatype type = tel_field_datatype(f);
	char number[40];
	size_t n = 0;
	const char *value = tel_event_label(ev, i, &n);

	if (value == NULL && type == TEL_STRING)
		value = tel_event_string(ev, i, &n);
	if (value == NULL) {
		if (type == TEL_DOUBLE)
			(void)snprintf(number, sizeof(number), "%.9g",
			    tel_event_double(ev, i));
		else
			(void)snprintf(number, sizeof(number),
			    type == TEL_ADDRESS || type == TEL_POINTER ?
			        "0x%" PRIx64 :
			        "%" PRIu64,
			    tel_event_u64(ev, i));
		value = number;
		n = strlen(number);
	}
	add_word(text, room, tel_field_name(f), value, n);
}

/*
 * The type and the fields of an event that describes a pool; and of what its
 * creation refers to, such as its arena, what describes that.
 */
static enum outcome
trace_describe(struct reading *r, const tel_event *ev, int created)
{
	const tel_type *type = tel_event_type(ev);
	const int part = tel_type_role_field(type, "pool");
	const uint64_t pool = part < 0 ? 0 : tel_event_u64(ev, (unsigned)part);
	char text[POOL_TEXT + 1];
	unsigned i;

	(void)snprintf(text, sizeof(text), "%s", tel_type_name(type));
	for (i = 0; i < tel_type_field_count(type); i++)
		if ((int)i != part)
			trace_add_field(text, sizeof(text), ev, i);
	tel_status st = compiler_describe(r->compiler, pool, text);
	for (i = 0; created && st == TEL_OK && i < tel_type_field_count(type);
	     i++)
		if ((int)i != part &&
		    tel_field_datatype(tel_type_field(type, i)) == TEL_POINTER)
			st = compiler_describe(r->compiler, pool,
			    compiler_description(r->compiler,
			        tel_event_u64(ev, i)));
	return outcome_of(r, st);
}

/* Before operations of a log are compiled. */
static tel_status
trace_enter(struct reading *r, const tel_event *ev)
{
	const uint64_t operations = compiler_operations(r->compiler);
	int fresh;

	if (operations >= r->next_look) {
		look_up_rate(r);
		r->next_look =
		    operations + (r->rate > 0 ? RATE_EACH : RATE_FIRST);
	}
	const tel_status st = compiler_enter(r->compiler, ev->log, &fresh);
	if (st == TEL_OK && fresh && tel__reader_is_part(r->reader, ev->log))
		compiler_set_part(r->compiler);
	return st;
}

/* After the operation of an event was compiled. */
static enum outcome
trace_leave(struct reading *r, const tel_event *ev, tel_status st,
    tel_alloc_kind kind)
{
	return st == TEL_OK && alloc_describes(kind) ?
	    trace_describe(r, ev, kind == TEL_ALLOC_POOL_CREATE) :
	    outcome_of(r, st);
}

static enum outcome
trace_run(void *arg, tel_run *run)
{
	struct reading *r = arg;
	enum outcome outcome = CONTINUE;
	tel_alloc_kind kind;
	size_t i = 0;

	if (run->count > 0)
		outcome = outcome_of(r, trace_enter(r, tel_run_event(run, 0)));
	while (i < run->count && outcome == CONTINUE) {
		tel_status st = compiler_add_run(r->compiler, run, &i, &kind);

		outcome = trace_leave(r, tel_run_event(run, i - 1), st, kind);
	}
	return outcome;
}

static enum outcome
trace_event(void *arg, const tel_event *ev)
{
	struct reading *r = arg;
	tel_alloc op;

	if (!tel_event_alloc(ev, &op, sizeof(op)))
		return CONTINUE;
	tel_alloc_kind kind = op.kind;
	tel_status st = trace_enter(r, ev);
	if (st == TEL_OK)
		st = compiler_add(r->compiler, &op, tel_event_index(ev));
	return trace_leave(r, ev, st, kind);
}

static enum outcome
compile_trace_end(void *arg)
{
	struct reading *r = arg;

	look_up_rate(r);
	/* texts that follow each other are one log, whichever has it */
	for (int i = 0; i < r->nsources; i++)
		if (tel__reader_is_part(r->sources[i]->reader, NULL))
			compiler_set_part(r->compiler);
	compiler_leave(r->compiler);
	return CONTINUE;
}

/* Compiles the operands. */
static int
compile_all(struct reading *r)
{
	struct visitor visitor;

	memset(&visitor, 0, sizeof(visitor));
	visitor.arg = r;
	visitor.begin = trace_begin;
	visitor.event = trace_event;
	visitor.run = trace_run;
	visitor.end = compile_trace_end;
	visitor.allocs = 1;
	visitor.sorts_text = 1;
	visitor.needs_rate =
	    r->telreplay->run.pace > 0 || r->telreplay->run.think_log;
	sources_run(&r->telreplay->settings, &visitor);
	if (r->failed || !r->opened || message_status() == STATUS_USAGE)
		return 0;
	tel_status st = compiler_finish(r->compiler);
	if (st != TEL_OK) {
		show_failure(r, st);
		return 0;
	}
	if (compiler_samples(r->compiler) > 0 && !r->telreplay->settings.quiet)
		message(NULL,
		    "%" PRIu64 " allocations are samples: what they stand for "
		    "is not replayed",
		    compiler_samples(r->compiler));
	if (compiler_operations(r->compiler) > 0)
		return 1;
	message_fail(STATUS_FAILED, r->name,
	    "no event allocates or frees; --alloc and --free declare those "
	    "that do");
	return 0;
}

/* Compiles into an output, or to have the facts alone. */
static int
trace_compile(struct trace *trace, struct telreplay *t, tel_output *out)
{
	struct reading r;
	int good;

	memset(&r, 0, sizeof(r));
	r.telreplay = t;
	r.output = t->keep != NULL ? t->keep : tel__spool_folder();
	r.compiler = compiler_new(out, &t->compiler);
	if (r.compiler == NULL)
		return message_no_memory();
	good = compile_all(&r) && copy_facts(trace, compiler_facts(r.compiler));
	compiler_free(r.compiler);
	if (good)
		show_anomalies(t, trace->facts);
	return good;
}

/* Compiles to the file of --program. */
static int
compile_kept(struct trace *trace, struct telreplay *t)
{
	const char *output = t->settings.output;
	struct sink sink;

	t->settings.output = t->keep;
	int good = output_open(&sink, &t->settings);
	t->settings.output = output;
	if (!good)
		return 0;
	if (sink.terminal) {
		message_fail(STATUS_USAGE, t->keep,
		    "refusing to write a compiled program to a terminal");
		sink_close(&sink);
		return 0;
	}
	good = trace_compile(trace, t, sink.out);
	/* the compiler has shown it already */
	sink.failed |= tel_output_errno(sink.out) != 0;
	good = good && !sink.failed;
	/*
	 * The processes that run it inherit the descriptor.  Opened before the
	 * close, which removes the file if an operand failed.
	 */
	if (good && !t->check) {
		trace->fd =
		    open(sink.file.path != NULL ? sink.file.path : t->keep,
		        O_RDONLY | O_NOCTTY);
		good = trace->fd >= 0 || message_errno(t->keep);
	}
	if (!good)
		sink_discard(&sink);
	sink_close(&sink);
	if (!good || sink.failed || t->check)
		return good && !sink.failed;
	return open_program(trace, t->keep);
}

static int
compile_nameless(struct trace *trace, struct telreplay *t)
{
	tel_output *out = NULL;

	trace->fd = tel__spool_file();
	/* the processes that run it inherit the descriptor */
	if (trace->fd >= 0 && fcntl(trace->fd, F_SETFD, 0) == 0)
		out = tel_output_new_fd(trace->fd);
	if (out == NULL)
		return message_errno(tel__spool_folder());
	int good = trace_compile(trace, t, out);
	tel_output_free(out);
	return good && open_program(trace, "the program");
}

int
trace_open(struct trace *trace, struct telreplay *t)
{
	unsigned char head[HEAD];

	memset(trace, 0, sizeof(*trace));
	trace->fd = -1;
	int found = try_program(trace, t, head);
	if (found != 0)
		return found > 0;
	if (t->keep != NULL)
		return compile_kept(trace, t);
	if (t->check)
		return trace_compile(trace, t, NULL);
	return compile_nameless(trace, t);
}

void
trace_close(struct trace *trace)
{
	program_free(trace->program);
	if (trace->fd >= 0)
		(void)close(trace->fd);
	free(trace->facts);
}

void
trace_count(struct telreplay *t)
{
	unsigned char head[HEAD];
	struct trace trace;
	struct sink sink;

	memset(&trace, 0, sizeof(trace));
	trace.fd = -1;
	if (try_program(&trace, t, head) == 0 &&
	    output_open(&sink, &t->settings)) {
		(void)total_run(&t->settings, &sink);
		sink_close(&sink);
	}
	trace_close(&trace);
}
