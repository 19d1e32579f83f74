/* SPDX-License-Identifier: BSD-2-Clause */
/* telfilter: what its parts share. */
#ifndef TELFILTER_H
#define TELFILTER_H

#include "common/format.h"
#include "common/settings.h"
#include "common/event_loop.h"
#include "common/streams.h"
#include "sample.h"

/* The options of telfilter, beyond the common ones. */
struct telfilter {
	struct settings settings;
	struct sample sample;
	uint64_t skip; /* --skip and -n, which count sampled events */
	uint64_t count;
	int context; /* show events around the selected ones */
	uint64_t before, after;
	int any; /* only the status tells whether there is one */
	int bare;
	struct format format; /* .shown: print events as telcat does */
};

/* Reads the command line.  Returns as settings_parse() does. */
int telfilter_options(struct telfilter *t, int argc, char **argv);

/* Reads the operands and writes the selected events.  Returns their number. */
uint64_t telfilter_run(struct telfilter *t, struct sink *sink);

#endif
