/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The native format, tel(5): from an input to records, one of which holds many
 * events.  A damaged record is skipped, and the next valid one tells how many
 * events were lost.
 */
#include "base/array.h"
#include "format/tel/reader.h"

#include <math.h>
#include <stdlib.h>

/* How many bytes are searched at a time. */
#define SEARCH ((size_t)1 << 16)
/* So many bytes of damaged records may be hashed whatever comes of it. */
#define VAIN ((uint64_t)1 << 26)

/* The place of the first record in n bytes at p; NULL when there is none. */
static const unsigned char *
find_record(const unsigned char *p, size_t n, int eof)
{
	const unsigned char *end = p + n;
	struct native_record rec;

	for (; p < end; p++) {
		p = memchr(p, NATIVE_MARKER[0], (size_t)(end - p));
		if (p == NULL)
			return NULL;
		int look = tel__native_look(p, (size_t)(end - p), &rec);
		if (look == 1 || (look < 0 && !eof))
			return p;
	}
	return NULL;
}

static int
tel_probe(struct tel_reader *r)
{
	struct native_record rec;

	tel__reader_fill(r, 1);
	int look = tel__native_look(r->p, (size_t)(r->end - r->p), &rec);
	if (look < 0) {
		/* it may be a record: wait for the rest of its header */
		tel__reader_fill(r, NATIVE_LOOK);
		look = tel__native_look(r->p, (size_t)(r->end - r->p), &rec);
	}
	return look == 1 ? 100 : 0;
}

/* To look for a record takes much of the log: a live one is waited for. */
static int
tel_probe_damaged(struct tel_reader *r)
{
	tel__reader_fill(r, TEL_PROBE_SIZE);
	const unsigned char *p = find_record(r->p, (size_t)(r->end - r->p), 1);
	return p != NULL ? 95 : 0;
}

/* -------------------------------------------------------------- damage */

/* Notes that bytes from r->p on are skipped, or only that something is wrong.
 */
static void
native_note(struct tel_reader *r, struct native *s, const char *why,
    size_t skipped)
{
	if (s->why == NULL) {
		s->why = why;
		s->from = r->offset;
		s->skipped = 0;
	}
	s->skipped += skipped;
	tel_reader_step(r, skipped);
}

/* Notes the events of a damaged block whose head is valid. */
static void
note_head(struct native *s, const struct native_record *rec)
{
	struct native_head head;

	if (rec->kind != NATIVE_BLOCK ||
	    !tel__native_head(rec, s->median, &head))
		return;
	if (s->known == 0) {
		s->first_lost = head.first;
		s->last_lost = head.last;
	}
	if (head.first < s->first_lost)
		s->first_lost = head.first;
	if (head.last > s->last_lost)
		s->last_lost = head.last;
	s->known += head.count;
}

/*
 * Reports the damage that was noted.  missing: the number of missing events,
 * by the head of a later record; UINT64_MAX: unknown.  next: the least clock
 * there; UINT64_MAX: no event follows.
 */
static tel_status
native_tell(struct tel_reader *r, struct native *s, uint64_t missing,
    uint64_t next)
{
	const char *why = s->why != NULL ? s->why : "records are missing";
	const uint64_t from = s->why != NULL ? s->from : r->offset;
	const uint64_t skipped = s->why != NULL ? s->skipped : 0;
	const unsigned long long bytes = (unsigned long long)skipped;
	const uint64_t known = s->known;
	const char *more =
	    missing == UINT64_MAX ? ", and what may have come after them" : "";
	uint64_t first = s->last, last = next;

	s->why = NULL;
	s->known = 0;
	/* the input may go on: what comes then counts these events again */
	s->reported = missing == UINT64_MAX ? s->reported + known : 0;
	if (missing == UINT64_MAX && known == 0)
		return tel__reader_damage(r, from, skipped,
		    "%s: events after clock %016llx may be lost; %llu bytes "
		    "skipped",
		    why, (unsigned long long)s->last, bytes);
	if (missing == 0)
		return tel__reader_damage(r, from, skipped,
		    "%s: no event is lost; %llu bytes skipped", why, bytes);
	if (missing == UINT64_MAX || missing == known) {
		missing = known;
		first = s->first_lost;
		last = s->last_lost;
	}
	if (last == UINT64_MAX)
		return tel__reader_damage(r, from, skipped,
		    "%s: %llu events lost, after clock %016llx; %llu bytes "
		    "skipped",
		    why, (unsigned long long)missing, (unsigned long long)first,
		    bytes);
	return tel__reader_damage(r, from, skipped,
	    "%s: %llu events lost, between clocks %016llx and %016llx%s; %llu "
	    "bytes skipped",
	    why, (unsigned long long)missing, (unsigned long long)first,
	    (unsigned long long)last, more, bytes);
}

/* Reports that a stream differs from what its END record states. */
static tel_status
tell_end(struct tel_reader *r, uint64_t at, const char *what)
{
	return tel__reader_damage(r, at, 0, "%s", what);
}

/* While the log is opened, the window keeps all for a copy: tel__reader_split(). */
static void
native_keep_opened(struct tel_reader *r, const struct native *s)
{
	if (!s->opening)
		return;
	r->back = r->peeked - (size_t)(r->end - r->p);
	if (r->back > TEL_PEEK_MAX - SEARCH)
		r->back = 0;
}

/*
 * How much of a damaged record, of which the header is whole, is skipped before
 * the search for another one: nothing but its first byte, as its length may be
 * wrong.  But headers in a row that each state a long body would have those hashed
 * again and again, so that it is all of it once that takes longer than the rest.
 */
static size_t
native_skip_damaged(struct tel_reader *r, struct native *s,
    const struct native_record *rec)
{
	const size_t size = s->size;

	s->size = 0;
	s->vain += native_size(rec);
	return size > 0 && s->vain < VAIN + 16 * r->offset ? 1 : size;
}

/* Skips to the next record whose header is whole, or to the end. */
static void
native_search(struct tel_reader *r, struct native *s, const char *why,
    size_t skip)
{
	native_note(r, s, why, skip);
	for (;;) {
		native_keep_opened(r, s);
		tel__reader_fill(r, SEARCH);
		size_t n = (size_t)(r->end - r->p);
		const unsigned char *p = find_record(r->p, n, r->eof);
		if (p != NULL && p == r->p) {
			/* it may be truncated: then the input ends here */
			tel__reader_fill(r, NATIVE_LOOK);
			return;
		}
		native_note(r, s, why, p != NULL ? (size_t)(p - r->p) : n);
		if (p == NULL && r->eof)
			return;
	}
}

/* ------------------------------------------------------------- records */

int
tel__native_gather(struct tel_reader *r, struct native *s,
    struct native_record *rec)
{
	const size_t size = native_size(rec), head = rec->head_size;
	size_t done = 0, n;

	if (size + r->back <= TEL_PEEK_MAX - NATIVE_BEHIND) {
		tel__reader_fill(r, size);
		if ((size_t)(r->end - r->p) < size)
			return 0;
		/* do not wait for bytes after the record */
		if ((size_t)(r->end - r->p) >= size + NATIVE_BEHIND) {
			rec->head = r->p + NATIVE_HEADER;
			s->size = size;
			return 1;
		}
	}
	r->back = 0;
	for (;;) {
		tel__reader_fill(r, 1);
		n = (size_t)(r->end - r->p);
		n = n < size - done ? n : size - done;
		if (!TEL__RESERVE(s->copy, s->copy_room,
		        done + n + NATIVE_BEHIND))
			return -1;
		if (n > 0)
			memcpy(s->copy + done, r->p, n);
		done += n;
		/* keep a short record in the window until it is complete */
		if (done == size)
			break;
		if (n == 0)
			return 0;
		tel_reader_step(r, n);
	}
	memset(s->copy + done, 0, NATIVE_BEHIND);
	tel_reader_step(r, n);
	rec->head = s->copy + NATIVE_HEADER;
	rec->head_size = (uint32_t)head;
	s->size = 0;
	return 1;
}

/* Steps over the record that was looked at. */
static void
native_done(struct tel_reader *r, struct native *s)
{
	if (s->size > 0)
		tel_reader_step(r, s->size);
	s->size = 0;
}

/* A stream ends without an END record. */
static tel_status
report_cut(struct tel_reader *r, struct native *s)
{
	s->in_stream = 0;
	if (s->why == NULL)
		native_note(r, s,
		    "the stream has no end: its writer was killed, or it is "
		    "truncated",
		    0);
	return native_tell(r, s, UINT64_MAX, 0);
}

/* Reads the rest of START, after the name of the program. */
static tel_status
take_identity(struct native *s, struct native_bytes *b)
{
	const unsigned char *id = native_take(b, 8);

	if (id == NULL)
		return TEL_EFORMAT;
	s->identified = 1;
	s->identifier = tel_le32(id);
	(void)native_take(b, native_number(b, NATIVE_BODY_MAX));
	if (tel__native_metadata(b, &s->metadata) != TEL_OK)
		return TEL_ENOMEM;
	return b->bad ? TEL_EFORMAT : TEL_OK;
}

/* A newer minor version adds what this reader ignores, and that is reported. */
static tel_status
check_version(struct tel_reader *r, const unsigned char *v, uint64_t at)
{
	if (r->force)
		return TEL_OK;
	if (v[0] != NATIVE_MAJOR || v[1] > NATIVE_MEDIAN)
		return tel__reader_fail(r, TEL_EVERSION,
		    "the stream has version %u.%u.%u of the native format; "
		    "versions up to %u.%u are supported",
		    v[0], v[1], v[2], NATIVE_MAJOR, NATIVE_MEDIAN);
	if (v[3] != '<')
		return tel__reader_fail(r, TEL_EVERSION,
		    "the byte order of the stream, %02x, is not known", v[3]);
	if (v[1] == NATIVE_MEDIAN && v[2] > NATIVE_MINOR &&
	    (r->notices & NOTICED_VERSION) == 0) {
		r->notices |= NOTICED_VERSION;
		tel__reader_notice(r, TEL_WARNING, at,
		    "the stream has version %u.%u.%u of the native format; "
		    "what is newer than version %u.%u.%u is ignored",
		    v[0], v[1], v[2], NATIVE_MAJOR, NATIVE_MEDIAN,
		    NATIVE_MINOR);
	}
	return TEL_OK;
}

static tel_status
take_start(struct tel_reader *r, struct native *s,
    const struct native_record *rec, uint64_t at)
{
	struct native_bytes b = { native_body(rec), NULL, 0, 0 };
	tel_status st = TEL_OK;

	if (s->in_stream || s->why != NULL)
		st = report_cut(r, s);
	if (st != TEL_OK)
		return st;
	b.end = b.p + rec->body_size;
	const unsigned char *p = native_take(&b, 20);
	if (p == NULL)
		return TEL_EFORMAT;
	st = check_version(r, p, at);
	if (st != TEL_OK)
		return st;
	tel__native_begin_stream(s);
	s->in_stream = s->started = s->whole = 1;
	s->start = at;
	s->hash = 0;
	s->median = p[1] < NATIVE_MEDIAN ? p[1] : NATIVE_MEDIAN;
	double rate = tel_bits_double(tel_le64(p + 4));
	s->rate = rate > 0 && isfinite(rate) ? rate : 0;
	s->origin = (int64_t)tel_le64(p + 12);
	s->has_origin = s->origin != 0;
	if (s->median > 0)
		return take_identity(s, &b);
	(void)native_take(&b, native_number(&b, NATIVE_BODY_MAX));
	return b.bad ? TEL_EFORMAT : TEL_OK;
}

/* --------------------------------------------------------------- places */

/* Notes that the blocks from one place to another are missing. */
static void
add_gap(struct native *s, uint64_t from, uint64_t to)
{
	if (s->ngaps == NATIVE_GAPS) {
		/* the oldest is forgotten: what comes late is a duplicate */
		memmove(s->gaps, s->gaps + 1,
		    (NATIVE_GAPS - 1) * sizeof(s->gaps[0]));
		s->ngaps--;
	}
	s->gaps[s->ngaps].from = from;
	s->gaps[s->ngaps++].to = to;
}

/* Removes a block from the missing ones.  1, or 0 if it was not missing. */
static int
fill_gap(struct native *s, uint64_t place)
{
	for (unsigned i = 0; i < s->ngaps; i++) {
		struct native_gap *gap = &s->gaps[i];

		if (place < gap->from || place >= gap->to)
			continue;
		uint64_t to = gap->to;
		gap->to = place;
		if (place + 1 < to)
			add_gap(s, place + 1, to);
		return 1;
	}
	return 0;
}

/* What a block is among those that were read. */
enum order { NEXT, LATE, AGAIN };

/* Where a block has its place, and whether it is of the current stream. */
static tel_status
find_place(struct tel_reader *r, struct native *s,
    const struct native_head *head, enum order *order)
{
	tel_status st = TEL_OK;

	*order = NEXT;
	if (s->median == 0) {
		/* without identifiers: the START of another stream is lost */
		if (head->sequence < s->sequence)
			tel__native_begin_stream(s);
		return TEL_OK;
	}
	if (s->identified && head->stream != s->identifier) {
		if (s->in_stream)
			st = report_cut(r, s);
		tel__native_begin_stream(s);
		s->started = 0;
		if (st != TEL_OK)
			return st;
	}
	if (!s->identified) {
		s->identified = 1;
		s->identifier = head->stream;
		/* the file starts in the middle of a stream */
		if (s->why == NULL)
			native_note(r, s, "the start of the stream is missing",
			    0);
	}
	if (head->sequence < s->sequence)
		*order = fill_gap(s, head->sequence) ? LATE : AGAIN;
	return TEL_OK;
}

/* A block that was read already. */
static tel_status
report_again(struct tel_reader *r, const struct native_record *rec,
    const struct native_head *head)
{
	return tel__reader_damage(r, r->offset, native_size(rec),
	    "block %llu occurs twice: its %llu events are skipped",
	    (unsigned long long)head->sequence,
	    (unsigned long long)head->count);
}

/*
 * Events that are missing before one with a number in the stream, without those
 * that were reported when the input was found damaged.
 */
static uint64_t
count_missing(struct native *s, uint64_t ordinal)
{
	const uint64_t missing =
	    ordinal > s->ordinal ? ordinal - s->ordinal : 0;
	const uint64_t reported = s->reported;

	s->reported = 0;
	return missing > reported ? missing - reported : 0;
}

/* A block follows those that were read so far, or does not. */
static tel_status
check_order(struct tel_reader *r, struct native *s,
    const struct native_head *head, enum order order)
{
	const int reported = s->reported > 0;
	tel_status st = TEL_OK;

	if (order == LATE)
		return tel__reader_damage(r, r->offset, 0,
		    "block %llu is not in its place: its %llu events were "
		    "reported as lost",
		    (unsigned long long)head->sequence,
		    (unsigned long long)head->count);
	uint64_t missing = count_missing(s, head->ordinal);
	if (missing > 0 || s->why != NULL ||
	    (!reported &&
	        (head->sequence != s->sequence || head->ordinal != s->ordinal)))
		st = native_tell(r, s, missing, head->first);
	if (head->sequence > s->sequence)
		add_gap(s, s->sequence, head->sequence);
	s->sequence = head->sequence + 1;
	s->ordinal = head->ordinal + head->count;
	if (head->last > s->last)
		s->last = head->last;
	return st;
}

void
tel__native_count_lost(struct tel_reader *r, struct native *s, uint64_t lost,
    uint64_t at)
{
	if (lost == 0)
		return;
	r->count[TEL_COUNT_LOST] += lost;
	if (s->block->nlogs > 0)
		s->slots[0].source->log->lost += lost;
	else
		r->log.lost += lost;
	tel__reader_notice(r, TEL_INFO, at,
	    "%llu events were lost when the log was recorded",
	    (unsigned long long)lost);
}

/* A block that uses what only a newer version of the format has. */
static tel_status
skip_newer(struct tel_reader *r, const struct native_head *head)
{
	r->count[TEL_COUNT_UNREAD] += head->count;
	if (r->strict)
		return tel__reader_fail(r, TEL_EVERSION,
		    "block %llu needs a newer version of the format",
		    (unsigned long long)head->sequence);
	tel__reader_notice(r, TEL_WARNING, r->offset,
	    "block %llu needs a newer version of the format: its %llu events "
	    "are not read",
	    (unsigned long long)head->sequence,
	    (unsigned long long)head->count);
	return TEL_OK;
}

/* Compares the number of a block's first event with those of other blocks. */
static void
note_base(struct native *s)
{
	const struct native_block *b = s->block;

	if (b->head.count == 0 || s->based == BASE_VARIES)
		return;
	uint64_t base = b->logs[0].index - b->head.ordinal;
	if (b->nlogs != 1 || (s->based == BASE_SAME && base != s->base))
		s->based = BASE_VARIES;
	else
		s->based = BASE_SAME;
	s->base = base;
}

/* The block is not the one that events are from any more. */
static void
withdraw(struct native *s)
{
	if (s->offered != NULL)
		s->offered->encoded = NULL;
	s->offered = NULL;
}

/* Offers the block to a writer, which may copy it if it gets all events. */
static void
offer(const struct tel_reader *r, struct native *s)
{
	/* one with events that no one selects is not copied, but ends a block */
	if (!s->plain || (s->counting && r->count_pushdown.wants != NULL) ||
	    s->median != NATIVE_MEDIAN || s->block->head.source != 0 ||
	    s->block->nnames > 0)
		return;
	s->encoded.block = s->block;
	s->encoded.schema = s->slots[0].schema->native.schema;
	s->offered = s->slots[0].source->log;
	s->offered->encoded = &s->encoded;
}

/*
 * Takes a block that is whole, at an offset.  TEL_LOG: it has events to be handed out;
 * TEL_OK: go on; TEL_EFORMAT: it is invalid; or a failure.
 */
static tel_status
take_block(struct tel_reader *r, struct native *s,
    const struct native_record *rec, uint64_t at)
{
	struct native_head head;
	enum order order;

	if (!tel__native_head(rec, s->median, &head))
		return TEL_EFORMAT;
	tel_status st = find_place(r, s, &head, &order);
	if (st != TEL_OK)
		return st;
	s->in_stream = 1;
	if (order == AGAIN)
		return report_again(r, rec, &head);
	s->ordinals = NULL;
	st = tel__native_take_block(r, s, rec);
	if (st == TEL_EVERSION) {
		st = check_order(r, s, &head, order);
		return st == TEL_OK ? skip_newer(r, &head) : st;
	}
	if (st != TEL_OK)
		return st;
	st = check_order(r, s, &head, order);
	if (st != TEL_OK)
		return st;
	note_base(s);
	tel__native_count_lost(r, s, head.lost, at);
	if (head.count == 0)
		return TEL_OK;
	offer(r, s);
	return TEL_LOG;
}

/* The end of a stream has its length, its events and the size of its index. */
static tel_status
take_end(struct tel_reader *r, struct native *s,
    const struct native_record *rec, uint64_t at)
{
	uint64_t events, missing, length = at - s->start + native_size(rec);
	const uint64_t index =
	    s->index_kind == NATIVE_INDEX ? s->index_size : 0;
	const uint64_t directory =
	    s->index_kind == NATIVE_DIRECTORY ? s->index_size : 0;
	const int partly = tel__native_range_used(s);
	tel_status st = TEL_OK;

	s->in_stream = 0;
	if (rec->head_size < (s->median > 0 ? 32u : 24u))
		return TEL_EFORMAT;
	events = tel_le64(rec->head + 16);
	missing = count_missing(s, events);
	if (missing > 0 || s->why != NULL || events < s->ordinal) {
		st = native_tell(r, s, missing, UINT64_MAX);
	} else if (s->started && !partly &&
	    (tel_le64(rec->head) != length ||
	        tel_le64(rec->head + 8) != index ||
	        (rec->head_size >= 48 &&
	            tel_le64(rec->head + 32) != directory))) {
		st = tell_end(r, at,
		    "the end of the stream states another length of it, or of "
		    "its index");
	} else if (s->median > 0 && s->started && s->whole && !partly &&
	    tel_le64(rec->head + 24) != s->hash) {
		st = tell_end(r, at,
		    "the end of the stream states another hash: records were "
		    "changed, lost or swapped");
	}
	s->started = 0;
	s->identified = 0;
	return st;
}

/*
 * Takes a record that is whole, at an offset.  As take_block().
 */
static tel_status
tel_read_take(struct tel_reader *r, struct native *s,
    const struct native_record *rec, uint64_t at)
{
	switch (rec->kind) {
	case NATIVE_START: return take_start(r, s, rec, at);
	case NATIVE_LOG: return tel__native_take_log(r, s, rec);
	case NATIVE_BLOCK: return take_block(r, s, rec, at);
	case NATIVE_END: return take_end(r, s, rec, at);
	default:
		if (!rec->needed || r->force)
			return TEL_OK;
		return tel__reader_fail(r, TEL_EVERSION,
		    "a record of kind %u, which the rest depends on, needs a "
		    "newer version of the format",
		    rec->kind);
	}
}

/* The input has ended. */
static tel_status
native_end(struct tel_reader *r, struct native *s)
{
	tel_status st = TEL_OK;

	if (s->in_stream && s->why == NULL && r->input_status != TEL_OK)
		/* the reader reports why, and may continue after it */
		tel__reader_notice(r, TEL_WARNING, r->offset,
		    "the stream breaks off: events after clock %016llx may be "
		    "lost",
		    (unsigned long long)s->last);
	else if (s->in_stream)
		st = report_cut(r, s);
	else if (s->why != NULL)
		st = native_tell(r, s, UINT64_MAX, 0);
	return st == TEL_OK ? TEL_END : st;
}

tel_status
tel__native_next_block(struct tel_reader *r, struct native *s)
{
	struct native_record rec;
	tel_status st;
	int look;

	withdraw(s);
	for (;;) {
		native_done(r, s);
		native_keep_opened(r, s);
		if (tel__reader_at_limit(r))
			return TEL_END;
		if (r->range.on || r->predicate_pushdown.may != NULL) {
			st = tel__native_range_step(r, s);
			if (st != TEL_OK)
				return st == TEL_LOG ? TEL_OK : st;
		}
		tel__reader_fill(r, NATIVE_LOOK);
		if (r->p == r->end)
			return native_end(r, s);
		uint64_t at = r->offset;
		look = tel__native_look(r->p, (size_t)(r->end - r->p), &rec);
		if (look == 0) {
			native_search(r, s, "invalid record", 1);
			continue;
		}
		if (look < 0) {
			native_search(r, s, "the log ends inside a record", 1);
			continue;
		}
		look = tel__native_gather(r, s, &rec);
		if (look < 0)
			return TEL_ENOMEM;
		if (look == 0) {
			rec.head = r->p + NATIVE_HEADER;
			if ((size_t)(r->end - r->p) >=
			    NATIVE_HEADER + (size_t)rec.head_size)
				note_head(s, &rec);
			native_search(r, s, "the log ends inside a record",
			    r->p < r->end);
			continue;
		}
		st = tel__native_whole(&rec) ? tel_read_take(r, s, &rec, at) :
		                               TEL_EFORMAT;
		if (rec.kind != NATIVE_START && rec.kind != NATIVE_END)
			s->whole &= st != TEL_EFORMAT;
		if (rec.kind != NATIVE_END)
			s->hash = tel__native_chain(s->hash, &rec);
		s->index_kind = rec.kind;
		s->index_size = native_size(&rec);
		if (st == TEL_LOG)
			return TEL_OK;
		if (st == TEL_ENOMEM)
			return st;
		if (st == TEL_EFORMAT) {
			note_head(s, &rec);
			const size_t skip = native_skip_damaged(r, s, &rec);
			native_search(r, s, "a record is damaged", skip);
			/* a copy was stepped over */
			if (skip == 0)
				s->skipped += native_size(&rec);
		} else if (st != TEL_OK) {
			return st;
		}
	}
}

/* ---------------------------------------------------------------- form */

static void
tel_close(struct tel_reader *r)
{
	struct native *s = r->state;

	tel__native_free_logs(r, s);
	tel__native_range_free(s->range);
	tel__native_block_free(s->block);
	free(s->copy);
	r->log.origin = NULL;
	r->log.encoded = NULL;
}

/* The schema of a stream without a log. */
static tel_status
no_schema(struct tel_reader *r)
{
	static const struct tel_abi abi = { 8, 8, 8, 0, 0 };
	struct tel_schema *schema =
	    tel__schema_make("tel-1", "1.0.0", &abi, 0, 0);

	return schema != NULL ? tel__reader_adopt(r, schema) : TEL_ENOMEM;
}

/* The first block identifies the log, if no record before it does. */
static tel_status
tel_open(struct tel_reader *r)
{
	struct native *s = r->state;

	s->median = NATIVE_MEDIAN;
	s->unpaid = NATIVE_UNPAID;
	r->log.format = r->format->name;
	s->block = tel__native_block_new();
	if (s->block == NULL)
		return TEL_ENOMEM;
	s->opening = tel__reader_is_archive(r);
	tel_status st = tel__native_next_block(r, s);
	s->opening = 0;
	r->back = 0;
	if (st == TEL_END)
		st = TEL_OK;
	if (st == TEL_OK && r->log.schema == NULL && s->block->head.count > 0)
		r->log.schema = s->slots[0].schema->native.schema;
	if (st == TEL_OK && r->log.schema == NULL)
		st = no_schema(r);
	return st;
}

const struct tel_format_ops tel__format_tel = {
	.name = "tel",
	.probe = tel_probe,
	.probe_damaged = tel_probe_damaged,
	.state_size = sizeof(struct native),
	.open = tel_open,
	.next = tel__native_next,
	.decode_batch = tel__native_decode_batch,
	.split_at = tel__native_split_at,
	.decoder_state = tel__native_mark,
	.span = tel__native_span,
	.close = tel_close,
	.encoder = &tel__native_encoder,
};
