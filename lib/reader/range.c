/* SPDX-License-Identifier: BSD-2-Clause */
/* The time of a log that is wanted, and reading it elsewhere than in order. */
#include <stdio.h>

#include "reader/reader.h"

void
tel_reader_set_range(tel_reader *r, uint64_t first, uint64_t last)
{
	/* one that counts from the first event of a log is set later */
	if (!r->range.on || r->range.first != first || r->range.last != last)
		r->range.early = r->count[TEL_COUNT_EVENTS] == 0;
	r->range.on = 1;
	r->range.first = first;
	r->range.last = last;
}

tel_status
tel_reader_span(tel_reader *r, uint64_t *first, uint64_t *last)
{
	if (r->at != READER_LOG)
		return TEL_ESTATE;
	return r->span != NULL ? r->span(r, first, last) : TEL_END;
}

uint64_t
tel__reader_place(const struct tel_reader *r)
{
	return tel__input_offset(r->in) + r->peeked - (size_t)(r->end - r->p);
}

int
tel__reader_jump(struct tel_reader *r, uint64_t place)
{
	if (place > INT64_MAX ||
	    tel__input_seek(r->in, (int64_t)place, SEEK_SET) < 0)
		return 0;
	r->p = r->end = NULL;
	r->peeked = r->back = 0;
	r->offset = place;
	r->eof = 0;
	r->input_status = TEL_OK;
	return 1;
}
