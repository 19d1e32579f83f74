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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/message.h"

/* The address of number n, from 0, of a format that has addresses. */
#define ADDRESS(n) (((n) + 1) << 12)

/* An operation on a block, as it is written. */
struct line {
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
};

/*
 * A format's lines, with letters for numbers: %t the thread; %b the block; %s
 * the size, %n one of at least 1, %g the alignment; %p the peak of live bytes,
 * %c the count of blocks, %o that of operations; %a the address and %x the size
 * in hexadecimal.
 */
struct export_format {
	const char *name;
	const char *lines[RUN_KINDS];
	const char *head, *tail, *thread_end;
	int keeps_alignment;
	int distinct; /* each block has a number of its own */
};

static void
export_put(struct export *e, const char *line, const struct line *op)
{
	static const char letters[] = "tbsngpcoax";
	const uint64_t values[] = { op->thread, op->block, op->size,
		op->size > 0 ? op->size : 1, op->alignment,
		e->facts->peak_bytes, e->count, e->operations,
		ADDRESS(op->block), op->size };
	char text[24];
	size_t n, i;

	if (e->out == NULL || line == NULL)
		return;
	for (; *line != '\0'; line += n) {
		n = strcspn(line, "%");
		tel_output_write(e->out, line, n);
		if (line[n] == '\0')
			continue;
		i = (size_t)(strchr(letters, line[n + 1]) - letters);
		(void)snprintf(text, sizeof(text),
		    i < 8 ? "%" PRIu64 : "0x%" PRIx64, values[i]);
		tel_output_write(e->out, text, strlen(text));
		n += 2;
	}
}

/* ------------------------------------------------------------- formats */

#define LINES(malloc, calloc, aligned, realloc, free) \
	{ \
		malloc, calloc, aligned, realloc, free, malloc, free \
	}

static const struct export_format formats[] = {
	{ .name = "android",
	    .lines = LINES("%t: malloc %a %s\n", "%t: calloc %a 1 %s\n",
	        "%t: memalign %a %g %s\n", "%t: realloc %a %a %s\n",
	        "%t: free %a\n"),
	    .thread_end = "%t: thread_done 0x0\n",
	    .keeps_alignment = 1 },
	{ .name = "mtrace",
	    .lines = LINES("+ %a %x\n", "+ %a %x\n", "+ %a %x\n",
	        "< %a\n> %a %x\n", "- %a\n"),
	    .head = "= Start\n",
	    .tail = "= End\n" },
	/*
	 * First a suggested heap size, blocks, operations, and the weight in a
	 * score.  malloc of a lab returns NULL for no bytes, which fails it.
	 */
	{ .name = "rep",
	    .lines = LINES("a %b %n\n", "a %b %n\n", "a %b %n\n", "r %b %n\n",
	        "f %b\n"),
	    .head = "%p\n%c\n%o\n1\n",
	    .distinct = 1 },
};

const struct export_format *
export_format(const char *name)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (strcmp(name, formats[i].name) == 0)
			return &formats[i];
	return NULL;
}

/* ----------------------------------------------------------- operations */

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
	const struct operation *what = word_operation(*word);
	struct export *e = arg;
	uint32_t slot = WORD_SLOT(*word);
	struct line op = { .thread = thread_of(e, thread) };

	if (what->effect == EFFECT_FREE_PART && word[3] == 0) {
		e->parts++;
		return;
	}
	if (what->kind == RUN_KINDS)
		return;
	if (what->effect == EFFECT_ALLOCATE && e->format->distinct) {
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
	if (what->kind == RUN_ALIGNED) {
		op.alignment = word[2];
		e->aligned += !e->format->keeps_alignment;
	}
	e->operations++;
	export_put(e, e->format->lines[what->kind], &op);
	if (e->out == NULL)
		e->last[thread] = e->operations;
	else if (e->last[thread] == e->operations)
		export_put(e, e->format->thread_end, &op);
}

/*
 * Nonzero when the numbers of the log's threads can be written: those of other
 * processes or logs may be the same.
 */
static int
ids_fit(const struct facts *f)
{
	for (uint64_t i = 0; i < f->threads; i++) {
		if (f->lives[i].id == 0 || f->lives[i].id > INT32_MAX)
			return 0;
		for (uint64_t k = 0; k < i; k++)
			if (f->lives[k].id == f->lives[i].id)
				return 0;
	}
	return 1;
}

/* Goes through the program, writing lines or counting them. */
static int
export_walk(struct export *e, struct program *p, tel_output *out)
{
	const struct line none = { 0 };

	e->out = out;
	export_put(e, e->format->head, &none);
	e->count = e->operations = e->parts = e->aligned = 0;
	tel_status st = program_walk(p, export_visit, e);
	export_put(e, e->format->tail, &none);
	if (st != TEL_OK)
		message_fail(STATUS_FAILED, NULL, "%s", tel_status_text(st));
	return st == TEL_OK;
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
