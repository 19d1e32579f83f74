/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pieces of a log that are read by readers of their own.  A piece starts where
 * its format guesses that events start.  It counts only if the reader of the
 * piece before arrives there, in the same state; otherwise that one goes on.
 */
#include "format/reader.h"
#include "io/source.h"

#include <string.h>

/* Where piece i of n starts. */
static uint64_t
border(uint64_t size, unsigned i, unsigned n)
{
	/* without passing 64 bits on the way */
	return size / n * i + size % n * i / n;
}

/* Where the pieces up to piece i end; the last one has no end. */
static uint64_t
limit_of(struct tel_reader *r, unsigned i, uint64_t size)
{
	return i + 1 < r->piece.count ? border(size, i + 1, r->piece.count) :
	                                UINT64_MAX;
}

/* The size of the content, or -1 when the log is not read in pieces. */
static int64_t
pieces_size_of(const struct tel_reader *r)
{
	if (r->format->split_at == NULL || r->follow || r->feed != NULL ||
	    r->parent != NULL || tel__reader_is_archive(r) || r->range.on ||
	    r->predicate_pushdown.may != NULL)
		return -1;
	return tel__input_extent(r->in);
}

/* The state of the decoder. */
static struct tel_decoder_state
mark_of(const struct tel_reader *r)
{
	struct tel_decoder_state mark = { { 0 } };

	if (r->format->decoder_state != NULL)
		r->format->decoder_state(r, &mark);
	return mark;
}

/* The reader has no event. */
static tel_status
pieces_leave(struct tel_reader *r)
{
	if (r->piece.number > 0)
		r->at = READER_DONE;
	r->piece.start = UINT64_MAX;
	return TEL_END;
}

/*
 * Leaves out all before the piece, except for the first event of the log, from
 * which the time of the others is counted.
 */
static tel_status
pieces_start(struct tel_reader *r, uint64_t from, uint64_t to)
{
	tel_notify_fn *notify = r->notify;
	const struct tel_event *ev;
	uint64_t logs = r->count[TEL_COUNT_LOGS];

	r->notify = NULL;
	tel_status st = tel_reader_next(r, &ev);
	if (st == TEL_OK &&
	    (r->timeless || r->log.number > 0 ||
	        !r->format->split_at(r, from, to)))
		st = TEL_END;
	r->notify = notify;
	if (st != TEL_OK)
		return st < 0 ? st : pieces_leave(r);
	memset(r->count, 0, sizeof(r->count));
	r->count[TEL_COUNT_LOGS] = logs;
	r->piece.needs_context = 0;
	r->piece.unit = 0;
	r->piece.start = r->offset;
	r->piece.before = mark_of(r);
	return TEL_OK;
}

tel_status
tel_reader_set_piece(tel_reader *r, unsigned piece, unsigned n)
{
	tel_status st = TEL_OK;

	if (r->at != READER_LOG || r->count[TEL_COUNT_EVENTS] > 0)
		return TEL_ESTATE;
	if (piece >= n)
		return TEL_EINVAL;
	r->piece.number = piece;
	r->piece.count = n;
	int64_t size = pieces_size_of(r);
	if (size < 0)
		return pieces_leave(r);
	/* the pieces have a thread each: what it read ahead would be for others */
	if (n > 1)
		tel__input_alone(r->in);
	if (piece > 0)
		st = pieces_start(r, border((uint64_t)size, piece, n),
		    limit_of(r, piece, (uint64_t)size));
	r->limit = limit_of(r, piece, (uint64_t)size);
	return st;
}

/* Nonzero when the log has ended with the pieces that were joined so far. */
static int
pieces_has_ended(const struct tel_reader *first)
{
	return first->piece.reached == 0 ? !tel__reader_at_limit(first) :
	                                   first->piece.last;
}

/* Nonzero when a piece starts where those before it have ended. */
static int
continues(const struct tel_reader *first, const struct tel_reader *piece)
{
	const int alone = first->piece.reached == 0;
	const uint64_t end = alone ? first->offset : first->piece.reached;
	const struct tel_decoder_state mark =
	    alone ? mark_of(first) : first->piece.after;

	return end == piece->piece.start &&
	    memcmp(&mark, &piece->piece.before, sizeof(mark)) == 0 &&
	    (!piece->piece.needs_context || piece->piece.has_context);
}

/* Moves the counts of a piece to the first one. */
static void
take_counts(struct tel_reader *first, struct tel_reader *piece)
{
	for (unsigned i = 0; i <= TEL_COUNT_UNREAD; i++)
		if (i != TEL_COUNT_LOGS)
			first->count[i] += piece->count[i];
	memset(piece->count, 0, sizeof(piece->count));
}

tel_status
tel_reader_join(tel_reader *first, tel_reader *piece)
{
	struct tel_label_use use = first->piece.labels;

	if (first->piece.count == 0 || piece->piece.count == 0 ||
	    piece->piece.number == 0 || first->piece.number > 0 ||
	    piece->at != READER_DONE || piece->failed != TEL_OK)
		return TEL_ESTATE;
	if (pieces_has_ended(first) || !continues(first, piece))
		return TEL_END;
	if (first->piece.reached == 0)
		(void)tel__labels_use(first->log.labels, &use);
	if (!tel__labels_use(piece->log.labels, &use))
		return TEL_ELIMIT;
	tel_status st = tel__clock_join(first->log.clock, piece->log.clock);
	if (st != TEL_OK)
		return st;
	tel__clock_set_unit(first->log.clock, piece->piece.unit);
	take_counts(first, piece);
	first->notices |= piece->notices;
	first->piece.labels = use;
	first->piece.reached = piece->offset;
	first->piece.after = mark_of(piece);
	first->piece.last = !tel__reader_at_limit(piece);
	first->piece.input = (uint64_t)first->file.size;
	return TEL_OK;
}

tel_status
tel_reader_extend(tel_reader *first, tel_reader *last, unsigned piece)
{
	int64_t size = tel__input_extent(last->in);

	if (last->at != READER_DONE || last->piece.count == 0 || size < 0)
		return TEL_ESTATE;
	if (last->failed != TEL_OK || !tel__reader_at_limit(last))
		return TEL_END;
	last->limit = limit_of(last, piece, (uint64_t)size);
	last->notices |= first->notices;
	tel__clock_set_unit(last->log.clock, tel__clock_unit(first->log.clock));
	last->piece.start = last->offset;
	last->piece.before = mark_of(last);
	last->piece.has_context = 1;
	last->piece.unit = 0;
	last->at = READER_LOG;
	return TEL_OK;
}
