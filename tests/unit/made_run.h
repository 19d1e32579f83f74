/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs whose events are made by hand. */
#ifndef MADE_RUN_H
#define MADE_RUN_H

#include <stdint.h>
#include <string.h>

#include "model/run.h"

#define MADE_SIZE 128u /* bytes of an event */

struct made_run {
	struct tel_run run;
	unsigned char bytes[TEL_RUN_MAX][MADE_SIZE];
	const unsigned char *data[TEL_RUN_MAX];
	uint64_t clocks[TEL_RUN_MAX];
	uint32_t types[TEL_RUN_MAX], sizes[TEL_RUN_MAX], at[TEL_RUN_MAX],
	    numbers[TEL_RUN_MAX];
	struct tel_event event; /* that the run returns */
};

/* No event yet. */
static inline void
made_run_begin(struct made_run *m)
{
	m->run = (struct tel_run){ .data = m->data,
		.clocks = m->clocks,
		.types = m->types,
		.sizes = m->sizes,
		.at = m->at,
		.numbers = m->numbers,
		.event = &m->event };
}

/* Adds a copy of the first bytes of an event, which is of the same log. */
static inline void
made_run_add(struct made_run *m, const struct tel_event *ev)
{
	const uint32_t i = (uint32_t)m->run.count++;

	memcpy(m->bytes[i], ev->data, MADE_SIZE);
	m->data[i] = m->bytes[i];
	m->clocks[i] = ev->clock;
	m->types[i] = ev->type->index;
	m->sizes[i] = MADE_SIZE;
	m->at[i] = i * MADE_SIZE;
	m->numbers[i] = i;
	if (i > 0)
		return;
	m->run.first = ev->type;
	m->event = *ev;
}

/* The bytes of the event that was added last. */
static inline unsigned char *
made_run_bytes(struct made_run *m)
{
	return m->bytes[m->run.count - 1];
}

#endif
