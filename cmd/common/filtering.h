/* SPDX-License-Identifier: BSD-2-Clause */
/* Filtering: selected events to a writer or a printer. */
#ifndef COMMON_FILTERING_H
#define COMMON_FILTERING_H

#include "format.h"
#include "sample.h"

struct filtering {
	struct settings *settings;
	struct format format; /* .shown: print events as telcat does */
	struct sample sample;
	int context; /* show events around the selected ones */
	uint64_t before, after;
	int any;         /* only the number tells whether there is one */
	int bare;        /* omit the labels that the events need */
	int by_time;     /* selected events need not keep the log's order */
	int all_or_none; /* an event that fails leaves the output unfinished */
};

/*
 * Reads the operands and writes the selected events; the settings have
 * all_events.  --skip and -n count those of the sample.  Returns their number.
 */
uint64_t filtering_run(struct filtering *f, struct sink *sink);

#endif
