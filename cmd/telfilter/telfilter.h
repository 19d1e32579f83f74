/* SPDX-License-Identifier: BSD-2-Clause */
/* telfilter: what its parts share. */
#ifndef TELFILTER_H
#define TELFILTER_H

#include "common/filtering.h"

struct telfilter {
	struct settings settings;
	struct filtering filtering;
};

/* Reads the command line.  Returns as settings_parse() does. */
int telfilter_options(struct telfilter *t, int argc, char **argv);

#endif
