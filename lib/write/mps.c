/* SPDX-License-Identifier: BSD-2-Clause */
/* Writing an MPS stream: events are written as they were read. */
#include "format/mps/frame.h"
#include "write/writer.h"

/* Copies a few words: a call of memcpy() would take longer than that. */
static inline void
copy(unsigned char *to, const unsigned char *from, size_t n)
{
	size_t i;

	if (n % 8 != 0 || n > 64) {
		memcpy(to, from, n);
		return;
	}
	for (i = 0; i < n; i += 8)
		memcpy(to + i, from + i, 8);
}

tel_status
tel__write_mps_event(struct tel_writer *w, const struct tel_event *ev,
    int changed)
{
	const int big = ev->log->schema->abi.big;
	unsigned char *p = tel_output_room(w->out, ev->size);

	(void)changed;
	if (p == NULL)
		return w->out->status;
	copy(p, ev->data, ev->size);
	/* the reader may know better than the event how long it is */
	if (mps_size(p, big) != ev->size)
		tel_store(p + 2, ev->size, 2, big);
	w->out->used += ev->size;
	return TEL_OK;
}

const struct write_form tel__write_form_mps = {
	.name = "mps",
	.what = "an MPS stream",
	.one_schema = 1,
	.one_numbering = 1,
	.binary = 1,
	.write = tel__write_mps_event,
};
