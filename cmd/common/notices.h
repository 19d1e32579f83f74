/* SPDX-License-Identifier: BSD-2-Clause */
/* Notices: what a reader reports of a log, passed on to the user. */
#ifndef COMMON_NOTICES_H
#define COMMON_NOTICES_H

#include "settings.h"

/* How many places of damage are reported one by one. */
#define NOTICES_DAMAGE_MAX 10

struct notices {
	int quiet;
	int verbose;
	unsigned damage; /* how many places were reported */
};

/* Before the first notice of a source. */
void notices_begin(struct notices *n, const struct settings *s);

/* A tel_notify_fn of a struct notices: passes a notice on. */
void notices_take(void *notices, tel_severity severity, const char *log,
    uint64_t offset, const char *text);

/*
 * Sums up the damage of a file that has been read, and raises the exit status
 * for it.
 */
void notices_end(const struct notices *n, const char *file,
    const tel_reader *r);

#endif
