/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MPS streams: events one after the other.  An event that fits its type is
 * returned as it is.  Others are examined closely, so that damage loses as
 * little as possible: a wrong size is corrected where the type has it, an
 * unknown code is shown by its number, and invalid bytes are skipped up to the
 * next event.
 *
 * Nearly all events are of types of one size that say nothing of the log.  They
 * are found by the first word of their headers, in a table of such words.
 */
#include "format/mps/decoder.h"
#include "format/mps/frame.h"
#include "reader/reader.h"

#include <stdlib.h>

/*
 * How many events in a row prove that the stream continues there.  By chance
 * one fits about once in 10^6 places, as its code implies its size.
 */
#define RESYNC_MIN 3
/* And how many for a piece to start there: if it is wrong it is read twice. */
#define SPLIT_MIN 16
/* Bytes that surely hold such a chain, except for the longest strings. */
#define AHEAD ((size_t)2048)
/* Bytes looked at in one piece when the stream is lost. */
#define SEARCH ((size_t)1 << 16)

static tel_status
mps_emit(struct tel_reader *r, const struct tel_type *t, uint32_t size)
{
	const struct tel_schema *s = r->log.schema;
	struct tel_event *ev = &r->event;

	ev->type = t;
	ev->data = r->p;
	ev->size = size;
	ev->clock = mps_clock(r->p, s->header, s->abi.big);
	ev->offset = r->offset;
	r->consumed = size;
	tel_reader_step(r, size);
	r->back = size <= AHEAD ? size : 0;
	if (tel_type_is_followed(t))
		return tel__reader_follow(r, ev);
	return TEL_OK;
}

/*
 * Hands out an event that fits no type, as one of an unknown type.  A code
 * that is known has another size in a newer version only.
 */
static tel_status
emit_unknown(struct tel_reader *r, uint32_t code, uint32_t size)
{
	const struct tel_type *known = mps_type(r->log.schema, code);
	struct tel_type *t = tel__schema_unknown(r->log.schema, code);
	tel_status st = TEL_OK;

	if (t == NULL)
		return TEL_ENOMEM;
	r->count[TEL_COUNT_UNKNOWN]++;
	r->piece.needs_context |= known != NULL;
	if (known != NULL && !(r->notices & NOTICED_VERSION))
		st = tel__reader_damage(r, r->offset, 0,
		    "an event of %u bytes cannot be of type %s", size,
		    known->name);
	return st == TEL_OK ? mps_emit(r, t, size) : st;
}

/*
 * The end of n bytes from q on, or of the input.  More may be in the window,
 * but a decision must not depend on how the input was read.
 */
static const unsigned char *
mps_end_of(const struct tel_reader *r, const unsigned char *q, size_t n)
{
	return (size_t)(r->end - q) > n ? q + n : r->end;
}

/* Whether events follow each other from q on. */
static int
mps_is_sync(const struct tel_reader *r, const unsigned char *q)
{
	const struct tel_schema *s = r->log.schema;
	const unsigned char *end = mps_end_of(r, q, AHEAD);

	return tel__mps_look(s, q, end) != 0 &&
	    tel__mps_chain(s, q, end, RESYNC_MIN) &&
	    tel__mps_clock_likely(s, q, end);
}

/*
 * Where bytes are missing inside an event, what was handed out in its size
 * holds the start of what follows.  Goes back there; 0: there is none.
 */
static int
step_back(struct tel_reader *r)
{
	tel__reader_fill(r, AHEAD);
	const unsigned char *q = r->p - r->back;
	r->back = 0;
	while (++q < r->p) {
		if (!mps_is_sync(r, q))
			continue;
		tel_reader_rewind_by(r, (size_t)(r->p - q));
		return 1;
	}
	return 0;
}

/* The event at r->p has a wrong size; that of its type is right. */
static tel_status
repair(struct tel_reader *r, const struct tel_type *t, uint32_t size,
    uint32_t expected)
{
	r->count[TEL_COUNT_REPAIRED]++;
	tel_status st = tel__reader_damage(r, r->offset, 0,
	    "an event of type %s has a recorded size of %u bytes; its size is "
	    "%u",
	    t->name, size, expected);
	return st == TEL_OK ? mps_emit(r, t, expected) : st;
}

/* Nonzero when an event of size bytes at r->p would have events after it. */
static int
followed_by_valid(struct tel_reader *r, uint32_t size, int n)
{
	tel__reader_fill(r, size + AHEAD);
	return size <= (size_t)(r->end - r->p) &&
	    tel__mps_chain(r->log.schema, r->p + size,
	        mps_end_of(r, r->p, size + AHEAD), n);
}

/*
 * Nonzero when size bytes at r->p may be one event.  By chance a wrong size
 * leads to where an event begins, and then there are others on the way.
 */
static int
is_plausible(const struct tel_reader *r, uint32_t size)
{
	return !tel__mps_inside(r->log.schema, r->p, size,
	    mps_end_of(r, r->p, size + AHEAD), RESYNC_MIN);
}

/* Which of two sizes leads from r->p to where the stream continues. */
enum trusted { TRUST_NEITHER, TRUST_HEADER, TRUST_TYPE };

/*
 * Of the size in the header and the one that the type has, expected:
 *
 *	events follow the header's   ... the type's      trusted
 *	no                           no                  neither
 *	yes                          no                  the header's
 *	no                           yes                 the type's
 *	yes                          yes, and shorter    the type's
 *	yes                          yes, and longer     the header's
 *
 * Where both lead to events, the longer one would swallow some.  One event is
 * enough behind the header's size if the type's leads nowhere.
 */
static enum trusted
trusted_size(struct tel_reader *r, uint32_t size, uint32_t expected)
{
	const struct tel_schema *s = r->log.schema;
	const int by_type = expected != 0 && expected != size &&
	    followed_by_valid(r, expected, RESYNC_MIN);
	const int by_header = size >= s->header && size % s->align == 0 &&
	    (followed_by_valid(r, size, RESYNC_MIN) ||
	        (!by_type && followed_by_valid(r, size, 1))) &&
	    is_plausible(r, size);

	if (by_type && (!by_header || expected < size))
		return TRUST_TYPE;
	return by_header ? TRUST_HEADER : TRUST_NEITHER;
}

/*
 * An event that does not fit.  Sets *again when nothing was handed out and
 * the caller must decode anew at r->p.
 */
static tel_status
recover(struct tel_reader *r, int *again)
{
	const struct tel_schema *s = r->log.schema;
	uint32_t code, size, expected;

	tel__reader_fill(r, AHEAD);
	if (r->p == r->end)
		return TEL_END;
	if ((size_t)(r->end - r->p) < s->header)
		return tel__reader_cut_short(r, "the log ends inside an event");
	code = mps_code(r->p, s->abi.big);
	size = mps_size(r->p, s->abi.big);
	const struct tel_type *t = mps_type(s, code);
	expected = tel__mps_true_size(s, r->p, mps_end_of(r, r->p, AHEAD));
	switch (trusted_size(r, size, expected)) {
	case TRUST_TYPE: return repair(r, t, size, expected);
	case TRUST_HEADER: return emit_unknown(r, code, size);
	case TRUST_NEITHER: break;
	}
	if (t != NULL && tel_size_fits(s, t, size) &&
	    size > (size_t)(r->end - r->p))
		return tel__reader_cut_short(r, "the log ends inside an event");
	if (t == NULL && size >= s->header && size % s->align == 0) {
		tel__reader_fill(r, size + SEARCH);
		if (size <= (size_t)(r->end - r->p) && is_plausible(r, size) &&
		    tel__mps_unknown_chain(s, r->p + size,
		        mps_end_of(r, r->p, size + SEARCH)))
			return emit_unknown(r, code, size);
	}
	*again = 1;
	if (step_back(r))
		return tel__reader_damage(r, r->offset, 0,
		    "the previous event is truncated");
	return tel__reader_resync(r, AHEAD, s->header, mps_is_sync,
	    t == NULL ? "invalid event" : "an event's size is wrong");
}

/*
 * Nonzero unless a string shows that the event has another size.  A word of
 * padding more or less than in the known releases is accepted.
 */
static int
string_fits(const struct tel_schema *s, const struct tel_type *t,
    const unsigned char *p, uint32_t size)
{
	if (!t->has_string)
		return 1;
	uint32_t expected = tel__mps_true_size(s, p, p + size);
	return expected != 0 && size + s->align >= expected &&
	    size <= expected + s->align;
}

int
tel__mps_split_at(struct tel_reader *r, uint64_t from, uint64_t to)
{
	const struct tel_schema *s = r->log.schema;
	const struct tel_type *t;
	const unsigned char *q;

	if (!tel__reader_jump(r, from))
		return 0;
	for (;;) {
		tel__reader_fill(r, SEARCH);
		for (q = r->p; (size_t)(r->end - q) >= s->header; q++) {
			if (r->offset + (size_t)(q - r->p) >= to)
				return 0;
			if (!r->eof && (size_t)(r->end - q) < AHEAD)
				break;
			uint32_t size = tel__mps_look(s, q, r->end);
			if (size <= 1 || size > (size_t)(r->end - q) ||
			    !tel__mps_chain(s, q, r->end, SPLIT_MIN))
				continue;
			/* it has to be returned as it is */
			t = mps_type(s, mps_code(q, s->abi.big));
			if (!string_fits(s, t, q, size))
				continue;
			tel_reader_step(r, (size_t)(q - r->p));
			return 1;
		}
		tel_reader_step(r, (size_t)(q - r->p));
		if (r->eof)
			return 0;
	}
}

/* The next event, for one byte order: the compiler makes a copy for each. */
static inline tel_status
mps_next(struct tel_reader *r, int big)
{
	const struct tel_schema *s = r->log.schema;
	const struct tel_type *t;
	int again;

	if (__builtin_expect(tel__reader_at_limit(r), 0))
		return TEL_END;
	r->event.index += r->event.data != NULL;
	if (r->batch->count > 1)
		r->back = r->batch->sizes[r->batch->count - 1];
	for (;;) {
		if ((size_t)(r->end - r->p) < s->header)
			tel__reader_fill(r, s->header);
		if ((size_t)(r->end - r->p) >= s->header) {
			t = mps_type(s, mps_code(r->p, big));
			uint32_t size = mps_size(r->p, big);
			if (t != NULL && tel_size_fits(s, t, size)) {
				if ((size_t)(r->end - r->p) < size)
					tel__reader_fill(r, size);
				if ((size_t)(r->end - r->p) >= size &&
				    string_fits(s, t, r->p, size))
					return mps_emit(r, t, size);
			}
		}
		again = 0;
		tel_status st = recover(r, &again);
		if (!again || st != TEL_OK)
			return st;
	}
}

tel_status
tel__mps_next(struct tel_reader *r)
{
	return r->log.schema->abi.big ? mps_next(r, 1) : mps_next(r, 0);
}

/* ------------------------------------------------------- events in a row */

/* How the header of an event of a type of one size begins. */
struct frame {
	uint32_t word;  /* the code, and above it the size */
	uint32_t index; /* of the type */
};

/* The state of the decoder: the types of one size, by code. */
struct frames {
	const struct tel_schema *schema;
	/*
	 * Of codes.  A code that is not of such a type, or beyond the table,
	 * finds a word that is none of its own.
	 */
	uint32_t mask;
	struct frame frame[];
};

/* Nonzero when the clock and the fields are all there is to an event of t. */
static int
mps_is_simple(const struct tel_type *t)
{
	return !t->has_string && !tel_type_is_followed(t) && t->size <= AHEAD &&
	    t->size >= t->schema->header;
}

/* Makes the table for the schema of the log; NULL when out of memory. */
static struct frames *
make_frames(const struct tel_schema *s)
{
	struct frames *f;
	size_t n = 1;
	uint32_t code;

	while (n < s->ncodes && n <= UINT16_MAX)
		n *= 2;
	f = calloc(1, sizeof(*f) + n * sizeof(f->frame[0]));
	if (f == NULL)
		return NULL;
	f->schema = s;
	f->mask = (uint32_t)n - 1;
	for (code = 0; code < n; code++)
		f->frame[code].word = ~code;
	for (code = 0; code < s->ncodes && code <= UINT16_MAX; code++) {
		const struct tel_type *t = s->by_code[code];

		if (t == NULL || !mps_is_simple(t))
			continue;
		f->frame[code].word = code | t->size << 16;
		f->frame[code].index = t->index;
	}
	return f;
}

/* Finds events in a row, for one byte order, as mps_next() does. */
static inline void
mps_decode_batch(struct tel_reader *r, const struct frames *frames, int big)
{
	struct tel_batch *f = r->batch;
	const struct frame *const frame = frames->frame;
	const uint32_t mask = frames->mask, header = frames->schema->header;
	const unsigned char *const first = r->event.data;
	const unsigned char *p = r->p;
	size_t left = (size_t)(r->end - p);
	/* where a piece ends: no event starts there or later */
	const unsigned char *const limit =
	    r->limit - r->offset < left ? p + (r->limit - r->offset) : r->end;
	uint32_t word, at, size, n;

	for (n = 1; n < TEL_RUN_MAX && left >= header && p < limit; n++) {
		/* in little-endian order both are one word */
		word =
		    big ? mps_code(p, 1) | mps_size(p, 1) << 16 : tel_le32(p);
		at = word & mask;
		size = word >> 16;
		if (frame[at].word != word || size > left)
			break;
		f->data[n] = p;
		f->at[n] = (uint32_t)(p - first);
		f->sizes[n] = size;
		f->types[n] = frame[at].index;
		f->clocks[n] = mps_clock(p, header, big);
		p += size;
		left -= size;
	}
	f->count = n;
}

void
tel__mps_decode_batch(struct tel_reader *r)
{
	const struct tel_schema *s = r->log.schema;
	struct frames *frames = r->state;

	if (frames == NULL || frames->schema != s) {
		free(frames);
		r->state = frames = make_frames(s);
		/* without the table events are found one by one */
		if (frames == NULL)
			return;
	}
	r->batch->in_window = 1;
	if (tel__reader_at_limit(r))
		return;
	if (s->abi.big)
		mps_decode_batch(r, frames, 1);
	else
		mps_decode_batch(r, frames, 0);
}
