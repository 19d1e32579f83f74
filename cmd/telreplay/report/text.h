/* SPDX-License-Identifier: BSD-2-Clause */
/* The two halves of the form "text". */
#ifndef TELREPLAY_REPORT_TEXT_H
#define TELREPLAY_REPORT_TEXT_H

#include "telreplay/run/calls.h"
#include "report.h"

/* What the trace holds. */
void report_text_trace(const struct report *r);

#endif
