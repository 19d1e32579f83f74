/* SPDX-License-Identifier: BSD-2-Clause */
/* Export: a trace as text that other replayers read. */
#ifndef TELREPLAY_EXPORT_H
#define TELREPLAY_EXPORT_H

#include "telreplay/compile/trace.h"

struct export_format;

/* The format of a name: android, mtrace or rep; NULL if unknown. */
const struct export_format *export_format(const char *name);

/*
 * Writes the trace to where the options say, in the format that they name.
 * Failures are reported.
 */
void export_trace(const struct telreplay *t, const struct trace *trace);

#endif
