/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The native format, tel(5): from an input to records, one of which holds
 * many events.  A record that is damaged is left out, and the next one that
 * is whole says what was in it.
 */
#include "format/tel/reader.h"

#include <stdlib.h>

/* What is searched at a time. */
#define SEARCH ((size_t)1 << 16)

/* The place of the first record in n bytes at p; NULL when there is none. */
static const unsigned char *
find_record(const unsigned char *p, size_t n, int eof)
{
	const unsigned char *end = p + n;
	struct native_record rec;
	int look;

	for (; p < end; p++) {
		p = memchr(p, NATIVE_MARKER[0], (size_t)(end - p));
		if (p == NULL)
			return NULL;
		look = tel__native_look(p, (size_t)(end - p), &rec);
		if (look == 1 || (look < 0 && !eof))
			return p;
	}
	return NULL;
}

static int
tel_probe(struct tel_reader *r)
{
	struct native_record rec;
	int look;

	tel__reader_fill(r, 1);
	look = tel__native_look(r->p, (size_t)(r->end - r->p), &rec);
	if (look < 0) {
		/* as it may be one, it is waited for */
		tel__reader_fill(r, NATIVE_LOOK);
		look = tel__native_look(r->p, (size_t)(r->end - r->p), &rec);
	}
	return look == 1 ? 100 : 0;
}

/* To look for a record takes much of the log: a live one is waited for. */
static int
tel_probe_damaged(struct tel_reader *r)
{
	const unsigned char *p;

	tel__reader_fill(r, TEL_PROBE_SIZE);
	p = find_record(r->p, (size_t)(r->end - r->p), 1);
	return p != NULL ? 95 : 0;
}

/* -------------------------------------------------------------- damage */

/* Notes that bytes from r->p on are skipped, or only that something is wrong.
 */
static void
note(struct tel_reader *r, struct native *s, const char *why, size_t skipped)
{
	if (s->why == NULL) {
		s->why = why;
		s->from = r->offset;
		s->skipped = 0;
	}
	s->skipped += skipped;
	tel_reader_step(r, skipped);
}

/* Notes the events of a block of which the head could be read. */
static void
note_head(struct native *s, const struct native_record *rec)
{
	struct native_head head;

	if (rec->kind != NATIVE_BLOCK || !tel__native_head(rec, &head))
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
 * Tells of the damage that was noted.  missing: the events that are not
 * there, as what comes after it says; UINT64_MAX: nothing does.  next: the
 * least clock there; UINT64_MAX: no event comes.
 */
static tel_status
tell(struct tel_reader *r, struct native *s, uint64_t missing, uint64_t next)
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

/* Skips to the next record whose header is whole, or to the end. */
static void
search(struct tel_reader *r, struct native *s, const char *why, size_t skip)
{
	const unsigned char *p;
	size_t n;

	note(r, s, why, skip);
	for (;;) {
		tel__reader_fill(r, SEARCH);
		n = (size_t)(r->end - r->p);
		p = find_record(r->p, n, r->eof);
		if (p != NULL && p == r->p) {
			/* it may be half of one: then there is no more */
			tel__reader_fill(r, NATIVE_LOOK);
			return;
		}
		note(r, s, why, p != NULL ? (size_t)(p - r->p) : n);
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
	size_t done = 0, n, room;
	unsigned char *copy;

	if (size <= TEL_PEEK_MAX - NATIVE_BEHIND) {
		tel__reader_fill(r, size);
		if ((size_t)(r->end - r->p) < size)
			return 0;
		/* what comes behind it is not waited for */
		if ((size_t)(r->end - r->p) >= size + NATIVE_BEHIND) {
			rec->head = r->p + NATIVE_HEADER;
			s->size = size;
			return 1;
		}
	}
	for (;;) {
		tel__reader_fill(r, 1);
		n = (size_t)(r->end - r->p);
		n = n < size - done ? n : size - done;
		if (done + n + NATIVE_BEHIND > s->copy_room) {
			room = 2 * (done + n) + NATIVE_BEHIND;
			copy = realloc(s->copy, room);
			if (copy == NULL)
				return -1;
			s->copy = copy;
			s->copy_room = room;
		}
		if (n > 0)
			memcpy(s->copy + done, r->p, n);
		done += n;
		/* of a short one nothing is gone until all is there */
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

void
tel__native_done(struct tel_reader *r, struct native *s)
{
	if (s->size > 0)
		tel_reader_step(r, s->size);
	s->size = 0;
}

static tel_status
take_start(struct tel_reader *r, struct native *s,
    const struct native_record *rec)
{
	struct native_bytes b = { native_body(rec), NULL, 0 };
	const unsigned char *version;

	b.end = b.p + rec->body_size;
	version = native_take(&b, 20);
	if (version == NULL)
		return TEL_OK;
	if (version[0] > NATIVE_MAJOR && !r->force)
		return tel__reader_fail(r, TEL_EVERSION,
		    "the stream is of version %u.%u.%u of the native format; "
		    "up to %u.x is known",
		    version[0], version[1], version[2], NATIVE_MAJOR);
	if (version[0] != NATIVE_MAJOR || version[1] > NATIVE_MEDIAN)
		tel__reader_notice(r, TEL_WARNING, r->offset,
		    "the stream is of version %u.%u.%u of the native format "
		    "and is read as %u.%u.%u",
		    version[0], version[1], version[2], NATIVE_MAJOR,
		    NATIVE_MEDIAN, NATIVE_MINOR);
	tel__native_begin_stream(s);
	return TEL_OK;
}

/* A block that follows what was read so far, or does not. */
static tel_status
check_order(struct tel_reader *r, struct native *s,
    const struct native_head *head)
{
	uint64_t missing = 0;
	int gap = head->sequence != s->sequence || head->ordinal != s->ordinal;
	tel_status st = TEL_OK;

	if (head->ordinal > s->ordinal)
		missing = head->ordinal - s->ordinal;
	if (gap || s->why != NULL)
		st = tell(r, s, missing, head->first);
	s->sequence = head->sequence + 1;
	s->ordinal = head->ordinal + head->count;
	if (head->last > s->last)
		s->last = head->last;
	if (head->lost > 0)
		tel__reader_notice(r, TEL_WARNING, r->offset,
		    "%llu events were lost before they came into the log",
		    (unsigned long long)head->lost);
	return st;
}

/* The end of a stream says how many events it has. */
static tel_status
take_end(struct tel_reader *r, struct native *s,
    const struct native_record *rec)
{
	uint64_t events;

	s->ended = 1;
	if (rec->head_size < 24)
		return TEL_OK;
	events = tel_le64(rec->head + 16);
	if (events == s->ordinal && s->why == NULL)
		return TEL_OK;
	events = events > s->ordinal ? events - s->ordinal : 0;
	return tell(r, s, events, UINT64_MAX);
}

/*
 * Takes a record that is whole.  TEL_LOG: it is a block with events to be
 * handed out; TEL_OK: go on; or a failure.
 */
static tel_status
take(struct tel_reader *r, struct native *s, const struct native_record *rec)
{
	struct native_head head;
	tel_status st;

	s->ended = 0;
	switch (rec->kind) {
	case NATIVE_START: return take_start(r, s, rec);
	case NATIVE_LOG: return tel__native_take_log(r, s, rec);
	case NATIVE_END: return take_end(r, s, rec);
	case NATIVE_BLOCK: break;
	default:
		if (!rec->needed || r->force)
			return TEL_OK;
		return tel__reader_fail(r, TEL_EVERSION,
		    "a record of kind %u, which the rest depends on, is not "
		    "known",
		    rec->kind);
	}
	if (!tel__native_head(rec, &head))
		return TEL_EFORMAT;
	/* the begin of another stream is gone */
	if (head.sequence < s->sequence)
		tel__native_begin_stream(s);
	s->ordinals = NULL;
	st = tel__native_take_block(r, s, rec);
	if (st != TEL_OK)
		return st;
	st = check_order(r, s, &head);
	return st == TEL_OK && head.count > 0 ? TEL_LOG : st;
}

/* The input has ended. */
static tel_status
end(struct tel_reader *r, struct native *s)
{
	tel_status st = TEL_OK;

	if (s->why != NULL)
		st = tell(r, s, UINT64_MAX, 0);
	else if (s->begun && !s->ended && r->input_status != TEL_OK)
		/* the reader tells why; it may go on behind that */
		tel__reader_notice(r, TEL_WARNING, r->offset,
		    "the stream breaks off: events after clock %016llx may be "
		    "lost",
		    (unsigned long long)s->last);
	else if (s->begun && !s->ended)
		st = tel__reader_damage(r, r->offset, 0,
		    "the stream has no end: its writer was stopped, or it was "
		    "cut off; events after clock %016llx may be lost",
		    (unsigned long long)s->last);
	s->begun = 0;
	return st == TEL_OK ? TEL_END : st;
}

tel_status
tel__native_next_block(struct tel_reader *r, struct native *s)
{
	struct native_record rec;
	tel_status st;
	int look;

	for (;;) {
		tel__native_done(r, s);
		if (r->range.on) {
			st = tel__native_range_step(r, s);
			if (st != TEL_OK)
				return st == TEL_LOG ? TEL_OK : st;
		}
		tel__reader_fill(r, NATIVE_LOOK);
		if (r->p == r->end)
			return end(r, s);
		s->begun = 1;
		look = tel__native_look(r->p, (size_t)(r->end - r->p), &rec);
		if (look == 0) {
			search(r, s, "what stands here is no record", 1);
			continue;
		}
		if (look < 0) {
			search(r, s, "the log ends inside a record", 1);
			continue;
		}
		look = tel__native_gather(r, s, &rec);
		if (look < 0)
			return tel__reader_fail(r, TEL_ENOMEM, "out of memory");
		if (look == 0) {
			rec.head = r->p + NATIVE_HEADER;
			if ((size_t)(r->end - r->p) >=
			    NATIVE_HEADER + (size_t)rec.head_size)
				note_head(s, &rec);
			search(r, s, "the log ends inside a record",
			    r->p < r->end);
			continue;
		}
		st = tel__native_whole(&rec) ? take(r, s, &rec) : TEL_EFORMAT;
		if (st == TEL_LOG)
			return TEL_OK;
		if (st == TEL_ENOMEM)
			return tel__reader_fail(r, st, "out of memory");
		if (st == TEL_EFORMAT) {
			note_head(s, &rec);
			look = s->size > 0;
			s->size = 0;
			search(r, s, "a record is damaged", (size_t)look);
			/* a copy was stepped over */
			if (!look)
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

	if (s == NULL)
		return;
	tel__native_free_logs(r, s);
	tel__native_range_free(s->range);
	tel__native_block_free(s->block);
	free(s->copy);
	free(s);
	r->log.origin = NULL;
	r->state = NULL;
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

/* The first block says what the log is, if no record before it does. */
static tel_status
tel_open(struct tel_reader *r, const char *as)
{
	struct native *s = calloc(1, sizeof(*s));
	tel_status st;

	(void)as;
	r->state = s;
	r->log.form = r->format->name;
	if (s != NULL)
		s->block = tel__native_block_new();
	if (s == NULL || s->block == NULL) {
		if (s != NULL)
			free(s);
		r->state = NULL;
		return tel__reader_fail(r, TEL_ENOMEM, "out of memory");
	}
	st = tel__native_next_block(r, s);
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
	.open = tel_open,
	.next = tel__native_next,
	.span = tel__native_span,
	.close = tel_close,
};
