/* SPDX-License-Identifier: BSD-2-Clause */
/* telrec: what its parts share. */
#ifndef TELREC_H
#define TELREC_H

#include <stdint.h>

/* What telrec is to do. */
struct telrec {
	const char *control;   /* --control: the program, or NULL */
	const char *symbols;   /* --symbols: a log to be written with names */
	const char *output;    /* -o; NULL: the default */
	const char *allocator; /* -a: a library to preload, or NULL */
	int compress;          /* -z: the level, or 0 */
	int stacks;            /* -g: an enum telrec_unwind, or 0 */
	int exact;             /* --times=exact: the clock for each event */
	int maps;              /* --maps: also mmap and others */
	int paused;            /* --paused: record only after SIGUSR1 */
	int64_t delay;         /* --delay: nanoseconds until it is recorded */
	int64_t duration;      /* --for: nanoseconds; 0: to the end */
	uint64_t sample;       /* -s: bytes between two samples; 0: all */
	uint64_t process;      /* -p: to be attached to; 0: none */
	uint64_t ring;         /* --ring: keep so many bytes; 0: all */
	uint64_t size;         /* --size: of the log; 0: any */
	uint64_t limit;        /* -n: events of the log; 0: any */
	int quiet;             /* -q: only failures are reported */
	char **operands;
	int noperands;
};

/*
 * Reads the command line.  Returns 1; 0 when telrec is to end with
 * message_status(): after a mistake, --help or --version.
 */
int telrec_options(struct telrec *t, int argc, char **argv);

/* Shows or changes the kinds that a program writes. */
void telrec_control(const struct telrec *t);

/* Runs a program and records it.  The exit status. */
int telrec_run(const struct telrec *t);

#endif
