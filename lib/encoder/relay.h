/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Relaying lines: what the encoders of lines share, which write each line as
 * it was read, and those between events before the event behind them.
 */
#ifndef TEL_RELAY_H
#define TEL_RELAY_H

#include "encoder/encoder.h"

/* The state of such an encoder, or the start of it. */
struct relay {
	int open_line;           /* the last line has no end */
	unsigned char *preamble; /* of the first log that has one */
	size_t preamble_size;
};

/* Writes n bytes, more than none, of lines; a terminal is kept safe. */
tel_status tel__relay_put(struct tel_writer *w, const unsigned char *p,
    size_t n);

/*
 * TEL_OK when the event has its line or record, ev->raw: those that come from
 * a native file may lack it.
 */
tel_status tel__relay_check(struct tel_writer *w, const struct tel_event *ev);

/* These are functions of an encoder. */
/* Relays the header of a log; once when all logs have the same. */
tel_status tel__relay_begin(struct tel_writer *w, const struct tel_log *log);
tel_status tel__relay_write(struct tel_writer *w, const struct tel_event *ev,
    const struct tel_field *changed);
tel_status tel__relay_gap(struct tel_writer *w);
/* Writes the lines that wait for the next event: what ends the output. */
tel_status tel__relay_lead(struct tel_writer *w);
void tel__relay_close(struct tel_writer *w);

#define RELAY \
	.state_size = sizeof(struct relay), .begin = tel__relay_begin, \
	.gap = tel__relay_gap, .finish = tel__relay_lead, \
	.close = tel__relay_close

#endif
