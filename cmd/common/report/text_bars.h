/* SPDX-License-Identifier: BSD-2-Clause */
/* Text: rows with bars. */
#ifndef COMMON_REPORT_TEXT_BARS_H
#define COMMON_REPORT_TEXT_BARS_H

#include "report.h"

/* The rows of a section's histogram, and those of its bars. */
void text_histogram(struct report *r, const struct report_section *s);
void text_bars(struct report *r, const struct report_section *s);

#endif
