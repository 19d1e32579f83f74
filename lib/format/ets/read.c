/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Singularity ETS logs: the records of MonNet, tel-ets(5).
 *
 * A log consists only of adjacent records, so the start of one follows from the
 * texts of all before it.  Invalid bytes are skipped, up to several records in
 * a row; a text whose length does not lead to a record gets the length that
 * does.
 */
#include <stdlib.h>
#include <string.h>

#include "format/ets/ets.h"

/*
 * Records in a row that show that the log continues there: of described types,
 * with clocks near those before.  With one of both alone it takes more.
 */
#define RESYNC_MIN 3

static tel_status
ets_finish(struct tel_reader *r, struct ets *h)
{
	tel__ets_report(r, h);
	return TEL_END;
}

/* Whether records follow each other from q on. */
static int
ets_is_sync(const struct tel_reader *r, const unsigned char *q)
{
	const struct ets *h = r->state;
	const size_t n = (size_t)(r->end - q);

	if (n < ETS_ENTRY || !ets_is_sane(q))
		return 0;
	return tel__ets_chain(h, q, n, r->eof, h->clock, RESYNC_MIN, 0) ||
	    (h->clock != 0 &&
	        (tel__ets_chain(h, q, n, r->eof, h->clock, ETS_LONG_CHAIN, 1) ||
	            tel__ets_chain(h, q, n, 0, 0, ETS_LONG_CHAIN, 0)));
}

/* The rest of the input is the start of a record. */
static tel_status
cut_short(struct tel_reader *r, struct ets *h)
{
	tel_status st =
	    tel__reader_cut_short(r, "the log ends inside a record");

	return st == TEL_END ? ets_finish(r, h) : st;
}

/* Gives out the record of size bytes at r->p as of what nothing describes. */
static tel_status
give_unknown(struct tel_reader *r, struct ets *h, size_t size)
{
	struct tel_event *ev = &r->event;

	ev->type = h->undescribed;
	ev->data = r->p;
	ev->size = (uint32_t)size;
	return tel__ets_count_unknown(r, h, r->p);
}

/*
 * Keeps the clock that others are compared with: a damaged one must not make
 * all later records look wrong, so that one far away needs another near it.
 */
static inline void
keep_clock(struct ets *h, uint64_t clock)
{
	if (__builtin_expect(h->clock == 0 || ets_is_near(clock, h->clock) ||
	            (h->far != 0 && ets_is_near(clock, h->far)),
	        1)) {
		h->clock = clock;
		h->far = 0;
	} else {
		h->far = clock;
	}
}

/* Gives out the record of size bytes at r->p, which has another layout. */
static tel_status
give_anew(struct tel_reader *r, struct ets *h, const struct ets_type *t,
    size_t size)
{
	struct tel_event *ev = &r->event;

	ev->type = t->type;
	ev->data = h->data;
	ev->size = tel__ets_decode(h, t, r->p, size);
	return ev->size == 0 ? give_unknown(r, h, size) : TEL_OK;
}

/* Gives out the record of type t, or NULL, with a text of text bytes at r->p. */
static inline tel_status
ets_give(struct tel_reader *r, struct ets *h, const struct ets_type *t,
    unsigned text)
{
	const unsigned char *p = r->p;
	size_t size = ETS_ENTRY + text;
	struct tel_event *ev = &r->event;
	tel_status st = TEL_OK;

	ev->clock = tel_le64(p);
	ev->offset = r->offset;
	ev->data = p;
	ev->size = (uint32_t)size;
	ev->inline_size = 0;
	ev->inline_use = TEL_INLINE_NONE;
	if (t == NULL || size < t->least) {
		st = give_unknown(r, h, size);
	} else if (t->block != NULL) {
		st = give_anew(r, h, t, size);
	} else {
		ev->type = t->type;
		if (t->message >= 0)
			st = tel__ets_name_message(r, h, p, t->message);
	}
	if (r->log.records) {
		ev->raw = p;
		ev->raw_size = (uint32_t)size;
	}
	r->consumed = size;
	if (ev->clock != 0)
		keep_clock(h, ev->clock);
	else if (st == TEL_OK)
		st = tel__ets_follow(r, h, p, text);
	tel_reader_step(r, size);
	return st;
}

/*
 * The length of the text behind the entry at r->p, whose length is stated
 * in the entry; -1: the log ends before.  The stated length is right if a record
 * is behind it.
 */
static int
ets_measure(struct tel_reader *r, struct ets *h, unsigned stated)
{
	int text;

	tel__reader_fill(r, ETS_ENTRY + stated + ETS_ENTRY);
	text = tel__ets_text_length(h, r->p, (size_t)(r->end - r->p), r->eof,
	    ETS_ASK_NEXT);
	if (text >= 0)
		return text;
	tel__reader_fill(r, ETS_ASK_SIZE);
	text = tel__ets_text_length(h, r->p, (size_t)(r->end - r->p), r->eof,
	    ETS_ASK_ALL);
	/* damage behind it is found when its turn comes */
	if (text < 0 && ETS_ENTRY + stated <= (size_t)(r->end - r->p))
		text = (int)stated;
	return text;
}

/* The record at r->p, whose entry has the length of a text. */
static tel_status
give_text(struct tel_reader *r, struct ets *h)
{
	uint32_t length = tel_le32(r->p + ETS_AT_TEXT);
	unsigned stated = ets_text(r->p);
	tel_status st = TEL_OK;

	if (stated == 0) {
		if (length >= ETS_TEXT_CHANGED)
			h->lost[ETS_TEXT_OVERWRITTEN - length]++;
		return ets_give(r, h, ets_find(h, r->p), 0);
	}
	int text = ets_measure(r, h, stated);
	if (text < 0)
		return cut_short(r, h);
	if ((unsigned)text != stated) {
		r->count[TEL_COUNT_REPAIRED]++;
		st = tel__reader_damage(r, r->offset, 0,
		    "a text whose recorded length is %u bytes has %d", stated,
		    text);
	}
	if (st != TEL_OK)
		return st;
	tel__ets_find_text(r, h, r->p, (unsigned)text);
	const struct ets_type *t = ets_find(h, r->p);
	/* a string that is laid out anew ends as its item type does */
	if (t == NULL || t->block == NULL)
		h->nuls += memchr(r->p + ETS_ENTRY, 0, (size_t)text) != NULL;
	return ets_give(r, h, t, (unsigned)text);
}

/* Whether the entry at r->p, of type t, or NULL, is one. */
static inline int
is_record(struct tel_reader *r, struct ets *h, const struct ets_type *t)
{
	if (!ets_is_sane(r->p))
		return 0;
	if (__builtin_expect(t != NULL, 1))
		return 1;
	tel__reader_fill(r,
	    ets_has_small_numbers(r->p) ?
	        ETS_ENTRY + ets_text(r->p) + ETS_ENTRY :
	        ETS_AHEAD);
	return tel__ets_is_record(h, r->p, (size_t)(r->end - r->p), r->eof,
	    h->clock);
}

tel_status
tel__ets_next(struct tel_reader *r)
{
	struct ets *h = r->state;
	const struct ets_type *t;

	r->event.index += r->event.data != NULL;
	for (;;) {
		if ((size_t)(r->end - r->p) < ETS_ENTRY) {
			tel__reader_fill(r, ETS_ENTRY);
			if (r->p == r->end)
				return ets_finish(r, h);
			if ((size_t)(r->end - r->p) < ETS_ENTRY)
				return cut_short(r, h);
		}
		t = ets_find(h, r->p);
		if (__builtin_expect(is_record(r, h, t), 1))
			break;
		tel_status st = tel__reader_resync(r, ETS_AHEAD, 1, ets_is_sync,
		    "invalid record");
		if (st != TEL_OK)
			return st;
	}
	if (tel_le32(r->p + ETS_AT_TEXT) == 0)
		return ets_give(r, h, t, 0);
	return give_text(r, h);
}

/*
 * The size of the record at p, which is in the window with its text and the entry
 * behind it; 0: it has to be looked at by itself.
 */
static inline uint32_t
ets_whole_size(struct tel_reader *r, struct ets *h, const unsigned char *p)
{
	const size_t n = (size_t)(r->end - p);
	const unsigned text = ets_text(p);

	if (tel_le32(p + ETS_AT_TEXT) == 0)
		return ETS_ENTRY;
	if (text == 0 || n < ETS_ENTRY + text + ETS_ENTRY ||
	    ets_key_at(p) == ETS_COMMAND ||
	    tel__ets_text_length(h, p, n, r->eof, ETS_ASK_NEXT) != (int)text)
		return 0;
	return ETS_ENTRY + text;
}

/*
 * Records that are events in place: of described types, whose clocks are near the
 * one before.
 */
void
tel__ets_decode_batch(struct tel_reader *r)
{
	struct ets *h = r->state;
	struct tel_batch *f = r->batch;
	const struct tel_event *ev = &r->event;
	const unsigned char *const first = r->p - r->consumed;
	const unsigned char *p = r->p;
	uint32_t n, size;

	f->in_window = 1;
	if (ev->inline_use != TEL_INLINE_NONE || h->far != 0)
		return;
	if (r->log.records) {
		f->raw = first;
		f->raw_sizes[0] = (uint32_t)r->consumed;
	}
	for (n = 1; n < TEL_RUN_MAX && r->end - p >= ETS_ENTRY; n++) {
		const struct ets_type *t = ets_find(h, p);
		uint64_t clock = tel_le64(p);

		if (t == NULL || t->block != NULL || t->message >= 0 ||
		    clock == 0 || !ets_is_near(clock, h->clock) ||
		    !ets_is_sane(p) ||
		    (size = ets_whole_size(r, h, p)) < t->least || size == 0)
			break;
		if (size > ETS_ENTRY) {
			tel__ets_find_text(r, h, p, size - ETS_ENTRY);
			h->nuls +=
			    memchr(p + ETS_ENTRY, 0, size - ETS_ENTRY) != NULL;
		}
		h->clock = clock;
		f->data[n] = p;
		f->at[n] = (uint32_t)(p - first);
		f->sizes[n] = f->raw_sizes[n] = size;
		f->types[n] = t->type->index;
		f->clocks[n] = clock;
		p += size;
	}
	f->count = n;
}

void
tel__ets_free(struct ets *h)
{
	if (h == NULL)
		return;
	tel__tmf_free(&h->tmf);
	tel_schema_free(h->schema);
	free(h->types);
	free(h->unknown);
	free(h->notes);
	free(h);
}

void
tel__ets_close(struct tel_reader *r)
{
	tel__ets_free(r->state);
	r->state = NULL;
	r->log.records = 0;
}
