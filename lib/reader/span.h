/* SPDX-License-Identifier: BSD-2-Clause */
/* What part of a program's run a log is of, its clocks, and their order. */
#ifndef TEL_SPAN_H
#define TEL_SPAN_H

#include "tel/reader.h"

struct tel_log;

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

/*
 * Has a window give events of a pipe so many milliseconds after they came, also
 * while the pipe pauses; before the first one.
 */
void tel__window_set_delay(struct tel_window *w, int ms);

/*
 * Nonzero when blocks from before a log of the reader may be freed in it: its
 * metadata has that it is a part, or its format records what runs already.
 * log: NULL: that of the last event.
 */
int tel__reader_is_part(const struct tel_reader *r, const struct tel_log *log);

#endif
