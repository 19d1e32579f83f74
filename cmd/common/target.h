/* SPDX-License-Identifier: BSD-2-Clause */
/* Targets: the formats of -f that a writer writes, instead of a printer. */
#ifndef COMMON_TARGET_H
#define COMMON_TARGET_H

#include "source.h"
#include "streams.h"

/* Nonzero when name is such a format. */
int target_known(const char *name);

/*
 * Says that -f knows no such name.  others: those that it knows; of a name that
 * is meant for the MPS it is the releases that are told, or the platforms.
 */
void target_unknown(const char *name, const char *others);

/*
 * Makes a writer to the sink, with the target of the settings, if they have
 * one.  NULL after a message.
 */
tel_writer *target_open(const struct settings *s, const struct sink *sink,
    int bare);

/*
 * Nonzero when what is written of the source may go to the sink; else a
 * message says why not.
 */
int target_check(const tel_writer *w, const struct settings *s,
    const struct sink *sink, const struct source *src);

/*
 * Tells what the target had no place for, unless the settings want quiet.
 */
void target_losses(const tel_writer *w, const struct settings *s);

#endif
