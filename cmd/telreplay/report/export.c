/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trace as text that other replayers read: memory_replay of Android, mtrace
 * of the GNU C library, and the malloc labs of CS:APP.
 *
 * It is written from the compiled program, not from the log: there,
 * inconsistencies of the log, at which these replayers stop, are repaired.
 * Blocks have numbers in a program; addresses are computed from these.
 */
#include "export.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/message.h"

/* The address of number n, from 0, of a format that has addresses. */
#define ADDRESS(n) (((n) + 1) << 12)
#define LINE 160

/* An operation on a block, as it is written. */
struct line {
	char what; /* m: malloc, c: calloc, a: aligned, r: realloc, f: free */
	uint64_t thread;
	uint64_t block;
	uint64_t size, alignment;
};

struct export
{
	const struct export_format *format;
	const struct facts *facts;
	tel_output *out;  /* NULL while lines are counted */
	uint64_t *blocks; /* by slot: the number of the block */
	uint64_t count;   /* of blocks: the next number */
	uint64_t operations;
	uint64_t *last;   /* by thread: of its operations the last one, or 0 */
	uint64_t parts;   /* partial frees, which are left out */
	uint64_t aligned; /* whose alignment is left out */
	int resizes;      /* there are reallocs */
	int thread_ids;   /* those of the log can be written */
	int failed;
};

struct export_format {
	const char *name;
	int keeps_alignment;
	int distinct; /* each block has a number of its own */
	void (*head)(struct export *e);
	void (*line)(struct export *e, const struct line *op);
	void (*thread_end)(struct export *e, uint64_t thread); /* or NULL */
	void (*tail)(struct export *e);                        /* or NULL */
};

__attribute__((format(printf, 2, 3))) static void
export_put(struct export *e, const char *format, ...)
{
	char text[LINE];
	va_list ap;
	int n;

	if (e->out == NULL)
		return;
	va_start(ap, format);
	n = vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	e->failed |= n < 0 || (size_t)n >= sizeof(text) ||
	    tel_output_write(e->out, text, (size_t)n) != TEL_OK;
}

/* ------------------------------------------------------------- formats */

static void
android_line(struct export *e, const struct line *op)
{
	const uint64_t at = ADDRESS(op->block);
	const char *name = op->what == 'm' ? "malloc" :
	    op->what == 'c'                ? "calloc" :
	    op->what == 'a'                ? "memalign" :
	    op->what == 'r'                ? "realloc" :
	                                     "free";

	export_put(e, "%" PRIu64 ": %s 0x%" PRIx64, op->thread, name, at);
	if (op->what == 'c')
		export_put(e, " 1");
	else if (op->what == 'a')
		export_put(e, " %" PRIu64, op->alignment);
	else if (op->what == 'r')
		export_put(e, " 0x%" PRIx64, at);
	if (op->what != 'f')
		export_put(e, " %" PRIu64, op->size);
	export_put(e, "\n");
}

static void
android_thread_end(struct export *e, uint64_t thread)
{
	export_put(e, "%" PRIu64 ": thread_done 0x0\n", thread);
}

static void
mtrace_head(struct export *e)
{
	export_put(e, "= Start\n");
}

static void
mtrace_line(struct export *e, const struct line *op)
{
	uint64_t at = ADDRESS(op->block);

	if (op->what == 'f')
		export_put(e, "- 0x%" PRIx64 "\n", at);
	else if (op->what == 'r')
		export_put(e,
		    "< 0x%" PRIx64 "\n> 0x%" PRIx64 " 0x%" PRIx64 "\n", at, at,
		    op->size);
	else
		export_put(e, "+ 0x%" PRIx64 " 0x%" PRIx64 "\n", at, op->size);
}

static void
mtrace_tail(struct export *e)
{
	export_put(e, "= End\n");
}

/* Suggested heap size, blocks, operations, and the weight in a score. */
static void
rep_head(struct export *e)
{
	export_put(e, "%" PRIu64 "\n%" PRIu64 "\n%" PRIu64 "\n1\n",
	    e->facts->peak_bytes, e->count, e->operations);
}

static void
rep_line(struct export *e, const struct line *op)
{
	/* malloc of a lab returns NULL for no bytes, which fails the trace */
	uint64_t size = op->size > 0 ? op->size : 1;

	if (op->what == 'f')
		export_put(e, "f %" PRIu64 "\n", op->block);
	else
		export_put(e, "%c %" PRIu64 " %" PRIu64 "\n",
		    op->what == 'r' ? 'r' : 'a', op->block, size);
}

static const struct export_format formats[] = {
	{ "android", 1, 0, NULL, android_line, android_thread_end, NULL },
	{ "mtrace", 0, 0, mtrace_head, mtrace_line, NULL, mtrace_tail },
	{ "rep", 0, 1, rep_head, rep_line, NULL, NULL },
};

const struct export_format *
export_format(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (strcmp(name, formats[i].name) == 0)
			return &formats[i];
	return NULL;
}

/* ----------------------------------------------------------- operations */

/* What a word does to a block; 0 for nothing. */
static char
what_of(const uint64_t *word)
{
	static const char letters[RUN_KINDS + 1] = "mcarfmf";
	const struct operation *op = word_operation(*word);

	if (op->effect == EFFECT_FREE_PART && word[3] == 0)
		return 'p';
	return letters[op->kind];
}

/*
 * The number of a thread in the format: that of the log if replayers accept it,
 * which is so for 1 to 2^31 - 1.
 */
static uint64_t
thread_of(const struct export *e, unsigned thread)
{
	return e->thread_ids ? e->facts->lives[thread].id :
	                       (uint64_t)thread + 1;
}

static void
export_visit(void *arg, unsigned thread, const uint64_t *word)
{
	struct export *e = arg;
	uint32_t slot = WORD_SLOT(*word);
	struct line op = { .what = what_of(word),
		.thread = thread_of(e, thread) };

	e->parts += op.what == 'p';
	if (op.what == 0 || op.what == 'p')
		return;
	if (op.what != 'f' && op.what != 'r' && e->format->distinct) {
		/*
		 * The driver of the labs fills a block with the last byte of
		 * its number, and compares that with a signed char after a
		 * realloc: numbers from 128 to 255, 384 to 511 ... would fail.
		 */
		if ((e->count & 0x80) != 0 && e->resizes)
			e->count += 0x80;
		e->blocks[slot] = e->count++;
	}
	op.block = e->format->distinct ? e->blocks[slot] : slot;
	op.size = word_size(word);
	if (op.what == 'a')
		op.alignment = word[2];
	e->aligned += op.what == 'a' && !e->format->keeps_alignment;
	e->operations++;
	e->format->line(e, &op);
	if (e->out == NULL)
		e->last[thread] = e->operations;
	else if (e->last[thread] == e->operations &&
	    e->format->thread_end != NULL)
		e->format->thread_end(e, op.thread);
}

/* Nonzero when the numbers of the log's threads can be written. */
static int
ids_fit(const struct facts *f)
{
	uint64_t i;

	for (i = 0; i < f->threads; i++)
		if (f->lives[i].id == 0 || f->lives[i].id > INT32_MAX)
			return 0;
	return 1;
}

/* Goes through the program, writing lines or counting them. */
static int
export_walk(struct export *e, struct program *p, tel_output *out)
{
	tel_status st;

	if (out != NULL && e->format->head != NULL) {
		e->out = out;
		e->format->head(e);
	}
	e->out = out;
	e->count = e->operations = e->parts = e->aligned = 0;
	st = program_walk(p, export_visit, e);
	if (st == TEL_OK && e->format->tail != NULL)
		e->format->tail(e);
	if (st != TEL_OK)
		message_fail(STATUS_FAILED, NULL, "%s", tel_status_text(st));
	return st == TEL_OK && !e->failed;
}

static void
show_losses(const struct telreplay *t, const struct export *e)
{
	if (t->settings.quiet)
		return;
	if (e->parts > 0)
		message(NULL,
		    "%" PRIu64 " partial frees are skipped: %s has none",
		    e->parts, e->format->name);
	if (e->aligned > 0)
		message(NULL, "%" PRIu64 " alignments are skipped: %s has none",
		    e->aligned, e->format->name);
}

void
export_trace(const struct telreplay *t, const struct trace *trace)
{
	struct export e = { .format = t->export, .facts = trace->facts };
	struct sink sink;

	if (!output_open(&sink, &t->settings))
		return;
	e.thread_ids = ids_fit(e.facts);
	e.resizes = e.facts->operations[TEL_ALLOC_REALLOC] > 0;
	e.blocks = calloc((size_t)e.facts->slots + 1, sizeof(*e.blocks));
	e.last = calloc((size_t)e.facts->threads + 1, sizeof(*e.last));
	if (e.blocks == NULL || e.last == NULL)
		(void)message_no_memory();
	/* the header has the number of lines: count them first */
	else if (export_walk(&e, trace->program, NULL) &&
	    export_walk(&e, trace->program, sink.out))
		show_losses(t, &e);
	free(e.blocks);
	free(e.last);
	sink_close(&sink);
}
