/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spawn: a process for each run, which has the allocator from its start, and
 * which may crash, hang or write messages without end.
 */
#ifndef TELREPLAY_SPAWN_H
#define TELREPLAY_SPAWN_H

#include "telreplay/run/allocator.h"
#include "telreplay/run/shared.h"

/* How a run ended. */
enum ending {
	ENDED_WELL,
	ENDED_CRASHED, /* by a signal */
	ENDED_HUNG,    /* no progress; it was killed */
	ENDED_EXIT,    /* the process ended itself */
	ENDED_WRONG    /* it could not run: see .why */
};

struct outcome {
	enum ending ending;
	int signal;     /* of a crash */
	int status;     /* of an exit */
	char why[512];  /* its reason, or "" */
	char said[512]; /* the last line on its standard error, or "" */
	int calls_known;
	uint64_t calls[CALLS];
};

/*
 * Samples of a process's memory by time, from outside: neither its threads nor
 * its allocator are held up.  When they are too many, every second one goes.
 */
struct observer {
	struct sample samples[SAMPLES_MAX];
	size_t n;
	uint64_t next, interval; /* nanoseconds */
};

/* The memory that is shared with the processes. */
struct stage {
	struct shared *shared;
	size_t size;
	int fd;
	int said; /* a file for their standard error */
	struct observer observer;
};

/* Maps it for a number of threads.  Returns 1, or 0 after a message. */
int stage_open(struct stage *stage, size_t threads);
void stage_close(struct stage *stage);
/* Zeroes it, except for the magic. */
void stage_clear(struct stage *stage);

struct spawn {
	uint64_t timeout; /* without progress, in nanoseconds; 0: never */
	/* Called every 50 ms while it runs; may be NULL. */
	void (*look)(void *arg, struct shared *sh);
	void *arg;
	const struct facts *facts; /* of a program to observe, or NULL */
};

/*
 * Runs a process with the allocator on the request in the stage, and waits for
 * its end.  Returns 1, or 0 after a message when no process can be started.
 */
int spawn_run(const struct spawn *spawn, const struct allocator *c,
    struct stage *stage, struct outcome *out);

#endif
