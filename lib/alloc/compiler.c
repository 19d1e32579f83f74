/* SPDX-License-Identifier: BSD-2-Clause */
/* The compiler: operations in, a program and the facts of a trace out. */
#include "alloc/compiler.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define TAG_SHIFT 48
#define POINT_STEP 64 /* operations between points, until there are many */

tel_compiler *
tel_compiler_new(tel_output *out)
{
	struct tel_compiler *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	c->out = out;
	c->lanes_max = 256;
	c->max_live = UINT64_C(1) << 26;
	c->chunk_words = (size_t)1 << 20;
	c->point_left = c->point_step = POINT_STEP;
	c->facts.logs = 1;
	memcpy(c->facts.log_names[0], "-", 2);
	tel_table_init(&c->table);
	tel_table_init(&c->threads);
	tel_table_init(&c->processes);
	tel_table_init(&c->ends);
	tel_table_init(&c->parts_by_slot);
	tel_table_init(&c->suspects_by_address);
	tel_emit_rate(c);
	if (tel_pools_open(c) != 0) {
		tel_compiler_free(c);
		return NULL;
	}
	return c;
}

void
tel_compiler_free(tel_compiler *c)
{
	if (c == NULL)
		return;
	tel_table_close(&c->table);
	tel_table_close(&c->processes);
	tel_table_close(&c->ends);
	tel_table_close(&c->parts_by_slot);
	tel_table_close(&c->suspects_by_address);
	tel_pools_close(c);
	tel_lanes_close(c);
	free(c->blocks);
	free(c->parts);
	free(c->suspects);
	free(c->index);
	free(c);
}

tel_status
tel_compiler_fail(struct tel_compiler *c, tel_status st, const char *format,
    ...)
{
	va_list ap;

	if (c->failed != TEL_OK)
		return c->failed;
	c->failed = st;
	va_start(ap, format);
	vsnprintf(c->error, sizeof(c->error), format, ap);
	va_end(ap);
	return st;
}

tel_status
tel_compiler_no_memory(struct tel_compiler *c)
{
	return tel_compiler_fail(c, TEL_ENOMEM, "out of memory");
}

tel_status
tel_compiler_set_order(tel_compiler *c, tel_lane_order order)
{
	if (c->begun)
		return TEL_ESTATE;
	if (order > TEL_LANES_NONE)
		return TEL_EINVAL;
	c->order = order;
	return TEL_OK;
}

tel_status
tel_compiler_set_lanes(tel_compiler *c, unsigned lanes)
{
	if (c->begun)
		return TEL_ESTATE;
	if (lanes < 1 || lanes > PROGRAM_LANES)
		return TEL_EINVAL;
	c->lanes_max = lanes;
	return TEL_OK;
}

tel_status
tel_compiler_set_strict(tel_compiler *c, int on)
{
	if (c->begun)
		return TEL_ESTATE;
	c->strict = on;
	return TEL_OK;
}

tel_status
tel_compiler_set_max_live(tel_compiler *c, uint64_t blocks)
{
	if (c->begun)
		return TEL_ESTATE;
	if (blocks < 1 || blocks > UINT64_C(1) << 31)
		return TEL_EINVAL;
	c->max_live = blocks;
	return TEL_OK;
}

tel_status
tel_compiler_set_chunk(tel_compiler *c, size_t words)
{
	if (c->begun)
		return TEL_ESTATE;
	if (words < (size_t)1 << 10 || words > (size_t)1 << 27)
		return TEL_EINVAL;
	c->chunk_words = words;
	return TEL_OK;
}

tel_status
tel_compiler_set_tick_rate(tel_compiler *c, double hertz)
{
	if (c->ended)
		return TEL_ESTATE;
	if (!(hertz >= 0) || hertz > 1e300)
		return TEL_EINVAL;
	c->facts.tick_rate = hertz;
	tel_emit_rate(c);
	return TEL_OK;
}

tel_status
tel_compiler_set_log(tel_compiler *c, const char *name)
{
	tel_facts *f = &c->facts;
	char text[TEL_LOG_NAME];
	uint64_t i;
	size_t n;

	if (c->ended)
		return TEL_ESTATE;
	n = strlen(name);
	if (n >= sizeof(text))
		n = sizeof(text) - 1;
	memset(text, 0, sizeof(text));
	memcpy(text, name, n);
	if (!c->named) {
		c->named = 1;
		memcpy(f->log_names[0], text, sizeof(text));
		return TEL_OK;
	}
	for (i = 0; i < f->logs; i++)
		if (memcmp(f->log_names[i], text, sizeof(text)) == 0)
			break;
	if (i == TEL_LOG_NAMES)
		i--;
	else if (i == f->logs)
		memcpy(f->log_names[f->logs++], text, sizeof(text));
	c->log = i;
	return TEL_OK;
}

const tel_facts *
tel_compiler_facts(const tel_compiler *c)
{
	return &c->facts;
}

const char *
tel_compiler_error(const tel_compiler *c)
{
	return c->error;
}

/* ------------------------------------------------------------ operations */

/* Every second point goes when there are too many. */
static void
curve_thin(struct tel_compiler *c)
{
	tel_live *p = c->facts.curve;
	uint64_t i, n = c->facts.curve_points;

	for (i = 0; i + 1 < n; i += 2) {
		p[i / 2] = p[i + 1];
		if (p[i].peak > p[i / 2].peak)
			p[i / 2].peak = p[i].peak;
	}
	c->facts.curve_points = n / 2;
	c->point_step *= 2;
}

static void
curve_point(struct tel_compiler *c)
{
	tel_live *p;

	/* one place is kept for the last point */
	if (c->facts.curve_points >= TEL_CURVE_POINTS - 1)
		curve_thin(c);
	p = &c->facts.curve[c->facts.curve_points++];
	p->done = c->facts.words + c->used;
	p->clock = c->clock;
	p->blocks = c->live_blocks;
	p->bytes = c->live_bytes;
	p->peak = c->point_peak;
	c->point_peak = c->live_bytes;
	c->point_left = c->point_step;
}

static tel_status
begin(struct tel_compiler *c, const tel_alloc *op)
{
	c->begun = 1;
	c->lanes = calloc(c->lanes_max, sizeof(*c->lanes));
	if (c->lanes == NULL)
		return tel_compiler_no_memory(c);
	if (op != NULL)
		c->facts.first_clock = op->clock;
	c->facts.order = c->order;
	return tel_program_begin(c);
}

/*
 * Each process has its own addresses and threads.  Those of the first are as
 * they stand; the others have the number of their process in bits that no
 * address of a program has set.
 */
static int
process_enter(struct tel_compiler *c, uint64_t process)
{
	struct tel_entry *e;
	int fresh;

	e = tel_table_put(&c->processes,
	    process + 1 == 0 ? process : process + 1, &fresh);
	if (e == NULL)
		return -1;
	if (fresh)
		e->value = (uint32_t)c->processes.count - 1;
	c->process = process;
	c->tag = (uint64_t)e->value << TAG_SHIFT;
	return 0;
}

static void
tag(const struct tel_compiler *c, uint64_t *address)
{
	if (*address != 0)
		*address ^= c->tag;
}

tel_status
tel_compiler_add(tel_compiler *c, const tel_alloc *op, uint64_t event)
{
	tel_alloc tagged;
	struct lane *l;
	tel_status st;

	if (c->failed != TEL_OK || c->ended)
		return TEL_ESTATE;
	if (!c->begun && (st = begin(c, op)) != TEL_OK)
		return st;
	if ((unsigned)op->kind >= TEL_ALLOC_KINDS)
		return TEL_OK;
	if ((op->process != c->process || c->processes.count == 0) &&
	    process_enter(c, op->process) != 0)
		return tel_compiler_no_memory(c);
	if (c->tag != 0) {
		tagged = *op;
		tagged.thread ^= c->tag;
		tag(c, &tagged.address);
		tag(c, &tagged.old);
		tag(c, &tagged.pool);
		tag(c, &tagged.buffer);
		op = &tagged;
	}
	c->event = event;
	c->thread = op->thread;
	c->clock = op->clock;
	c->now++;
	c->facts.operations[op->kind]++;
	l = c->last_lane;
	if (l == NULL || c->last_thread != op->thread)
		l = tel_lane_find(c, op->thread);
	if (l == NULL)
		return tel_compiler_no_memory(c);
	if (c->suspects_used > 0 && (st = tel_suspects_expire(c, 0)) != TEL_OK)
		return st;
	st = tel_compile(c, l, op);
	/* a failure deeper down may have been told already */
	if (st != TEL_OK || (st = c->failed) != TEL_OK)
		return st;
	if (--c->point_left == 0)
		curve_point(c);
	if (c->used >= c->chunk_words)
		return tel_chunk_end(c);
	return TEL_OK;
}

tel_status
tel_compiler_finish(tel_compiler *c)
{
	tel_status st = TEL_OK;

	if (c->failed != TEL_OK || c->ended)
		return TEL_ESTATE;
	if (!c->begun)
		st = begin(c, NULL);
	if (st == TEL_OK)
		st = tel_suspects_expire(c, 1);
	if (st == TEL_OK)
		st = tel_pools_finish(c);
	if (st != TEL_OK)
		return st;
	if (c->facts.lanes == 0)
		c->facts.lanes = 1;
	c->facts.last_clock = c->clock;
	curve_point(c);
	tel_blocks_finish(c);
	if ((st = tel_chunk_end(c)) != TEL_OK)
		return st;
	c->ended = 1;
	return tel_program_end(c);
}
