/* SPDX-License-Identifier: BSD-2-Clause */
/* An interrupt while telstat reads what another program writes. */
#ifndef TELSTAT_INTERRUPT_H
#define TELSTAT_INTERRUPT_H

#include "common/settings.h"

/*
 * Where a log is from a pipe, the first interrupt does not end the process: the
 * program that writes the log is to end, and so the log.  After the output was
 * opened.
 */
void interrupt_hold(const struct settings *s);

/* Ends the process, once all is written, as the interrupt would have. */
void interrupt_end(void);

#endif
