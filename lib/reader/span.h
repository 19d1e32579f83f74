/* SPDX-License-Identifier: BSD-2-Clause */
/* The clocks of a log, and their order, as far as known without reading it. */
#ifndef TEL_SPAN_H
#define TEL_SPAN_H

#include "tel/reader.h"

struct tel_clock_span {
	uint64_t first, last; /* the least and the greatest */
	/*
	 * Of a clock up to this one: no block whose clocks are all less is
	 * behind one that has a clock as great.  0 where logs follow each other.
	 */
	uint64_t sorted;
};

/* As tel_reader_span(). */
tel_status tel__reader_span(struct tel_reader *r, struct tel_clock_span *span);

/* Nonzero when its events are lines of text, which may be in any order. */
int tel__reader_is_text(const struct tel_reader *r);

#endif
