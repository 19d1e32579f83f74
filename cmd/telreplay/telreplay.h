/* SPDX-License-Identifier: BSD-2-Clause */
/* telreplay: what its parts share. */
#ifndef TELREPLAY_H
#define TELREPLAY_H

#include "common/settings.h"
#include "common/streams.h"
#include "telreplay/compile/compiler.h"
#include "telreplay/run/allocator.h"
#include "telreplay/report/what_if.h"
#include "telreplay/run/run.h"

/* The most runs of each allocator. */
#define RUNS_MAX 100
#define RUNS_AUTO UINT64_MAX /* .runs: until the comparison is decided */

struct report_format;
struct export_format;

/* Sections of text that --details adds. */
enum details {
	DETAILS_SIZES = 1,
	DETAILS_LIFETIMES = 2,
	DETAILS_THREADS = 4,
	DETAILS_CLASSES = 8,
	DETAILS_SLACK = 16,
	DETAILS_TIME = 32,
	DETAILS_MEMORY = 64,
	DETAILS_MACHINE = 128,
	DETAILS_ANOMALIES = 256,
	DETAILS_ALL = 511
};

/* The options of telreplay beyond the common ones. */
struct telreplay {
	struct settings settings;
	struct allocators allocators;
	const struct report_format *format;
	const struct export_format
	    *export;      /* to write a trace instead, or NULL */
	const char *keep; /* the file for the compiled program, or NULL */
	int check;        /* only report on the trace */
	struct compiler_settings compiler;
	int order_given, window_given, threads_given; /* of it */
	uint64_t runs;    /* 0: as many as a comparison needs */
	unsigned details; /* bits of enum details */
	uint64_t timeout; /* nanoseconds; 0: never */
	int timeout_given;
	uint64_t idle; /* nanoseconds after the last event */
	struct run_options run;
	struct what_if what_if[WHAT_IF_MAX]; /* of --classes */
	size_t nwhat_if;
};

/* Reads the command line.  Returns as settings_parse() does. */
int telreplay_options(struct telreplay *t, int argc, char **argv);

#endif
