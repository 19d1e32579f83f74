/* SPDX-License-Identifier: BSD-2-Clause */
/* Events that are held for later. */
#include "write/held.h"

#include <stdlib.h>

/* The most bytes that an event may take on the average. */
#define HELD_AVERAGE 256

void
tel__held_begin(struct held_pool *p, size_t max)
{
	p->bytes = 0;
	p->most = max * HELD_AVERAGE;
}

tel_status
tel__held_new(struct held_pool *p, const struct tel_event *ev,
    struct held **out)
{
	size_t size =
	    sizeof(struct held) + ev->size + ev->inline_size + ev->raw_size;
	struct held *h;

	if (size > p->most - p->bytes)
		return TEL_ELIMIT;
	h = malloc(size);
	if (h == NULL)
		return TEL_ENOMEM;
	h->ev = *ev;
	/* the lines before it have gone their own way */
	h->ev.lead_size = 0;
	h->size = size;
	tel_event_copy(h->bytes, &h->ev);
	tel_event_place(&h->ev, h->bytes);
	p->bytes += size;
	*out = h;
	return TEL_OK;
}

void
tel__held_drop(struct held_pool *p, struct held **h)
{
	if (*h != NULL)
		p->bytes -= (*h)->size;
	free(*h);
	*h = NULL;
}
