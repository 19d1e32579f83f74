/* SPDX-License-Identifier: BSD-2-Clause */
/* Writing lines as they were read. */
#include "encoder/relay.h"

#include <stdlib.h>
#include "base/digit.h"

void
tel__relay_close(struct tel_writer *w)
{
	const struct relay *relay = w->state;

	free(relay->preamble);
}

/* Writes bytes for a terminal, which is shown no control character. */
static tel_status
put_safely(struct tel_writer *w, const unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char *q = tel_output_room(w->out, 4);

		if (q == NULL)
			return w->out->status;
		if ((p[i] >= ' ' && p[i] <= '~') || p[i] == '\n' ||
		    p[i] == '\t') {
			*q = p[i];
			w->out->used++;
		} else {
			tel_digit_escape(q, p[i]);
			w->out->used += 4;
		}
	}
	return TEL_OK;
}

tel_status
tel__relay_put(struct tel_writer *w, const unsigned char *p, size_t n)
{
	struct relay *relay = w->state;

	/* the last line of an input may have no end */
	if (relay->open_line && tel_output_write(w->out, "\n", 1) != TEL_OK)
		return w->out->status;
	relay->open_line = p[n - 1] != '\n';
	return w->terminal ? put_safely(w, p, n) :
	                     tel_output_write(w->out, p, n);
}

tel_status
tel__relay_check(struct tel_writer *w, const struct tel_event *ev)
{
	if (ev->raw_size > 0)
		return TEL_OK;
	return tel__write_fail(w, TEL_EINVAL,
	    "%s: its events cannot be written as %s, because it lacks the "
	    "original lines: -f tel,lines preserves them",
	    tel__path_end(ev->log->name, 80), w->encoder->what);
}

tel_status
tel__relay_begin(struct tel_writer *w, const struct tel_log *log)
{
	struct relay *relay = w->state;
	size_t n = log->preamble_size;

	if (n == 0)
		return TEL_OK;
	if (relay->preamble != NULL && n == relay->preamble_size &&
	    memcmp(relay->preamble, log->preamble, n) == 0)
		return TEL_OK;
	if (relay->preamble == NULL) {
		relay->preamble = malloc(n);
		if (relay->preamble == NULL)
			return TEL_ENOMEM;
		memcpy(relay->preamble, log->preamble, n);
		relay->preamble_size = n;
	}
	return tel__relay_put(w, log->preamble, n);
}

tel_status
tel__relay_lead(struct tel_writer *w)
{
	size_t n = w->lead_size;

	w->lead_size = 0;
	return n > 0 ? tel__relay_put(w, w->lead, n) : TEL_OK;
}

tel_status
tel__relay_write(struct tel_writer *w, const struct tel_event *ev,
    const struct tel_field *changed)
{
	tel_status st = tel__relay_check(w, ev);

	(void)changed;
	if (st == TEL_OK)
		st = tel__relay_lead(w);
	return st == TEL_OK ? tel__relay_put(w, ev->raw, ev->raw_size) : st;
}

tel_status
tel__relay_gap(struct tel_writer *w)
{
	return tel__relay_put(w, (const unsigned char *)"--\n", 3);
}
