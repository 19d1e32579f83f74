/* SPDX-License-Identifier: BSD-2-Clause */
/* The number of events, which -c prints in place of what a tool does. */
#ifndef COMMON_TOTAL_H
#define COMMON_TOTAL_H

#include "settings.h"
#include "streams.h"

/*
 * Reads all operands and prints how many events the settings select: one
 * number, or with --no-merge and several files a line for each.  Returns the
 * number of all.
 */
uint64_t total_run(struct settings *s, struct sink *sink);

/* Nonzero when a line is printed for each file. */
int total_by_file(const struct settings *s);

/* Prints a number; name: of its file, or NULL. */
void total_print(const struct sink *sink, const char *name, uint64_t n);

#endif
