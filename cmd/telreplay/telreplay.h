/* SPDX-License-Identifier: BSD-2-Clause */
/* telreplay: what its parts share. */
#ifndef TELREPLAY_H
#define TELREPLAY_H

#include "telreplay/run/candidate.h"
#include "common/settings.h"
#include "common/streams.h"
#include "telreplay/run/run.h"
#include "tel.h"

/* The most runs of each allocator. */
#define RUNS_MAX 100

struct form;

/* What telreplay was asked for, beyond the common options. */
struct telreplay {
	struct settings settings;
	struct candidates candidates;
	const struct form *form;
	const char *keep; /* where the program goes, or NULL */
	int check;        /* only say what the trace holds */
	int order_given;
	enum program_order order;
	uint64_t threads;  /* 0: as the library has it */
	uint64_t max_live; /* 0: as the library has it */
	uint64_t runs;
	uint64_t timeout; /* nanoseconds; 0: never */
	int timeout_given;
	struct run_options run;
};

/* Reads the command line.  Returns as settings_parse() does. */
int telreplay_options(struct telreplay *t, int argc, char **argv);

#endif
