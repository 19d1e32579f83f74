/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Jikes RVM HPM traces: the records of one virtual processor, tel-hpm(5).
 *
 * Only its type and its processor show whether a record is valid.  A record of
 * another processor than the file's is accepted only when others follow it, and
 * invalid bytes are skipped up to several records in a row.
 */
#include <stdlib.h>
#include <string.h>

#include "format/hpm/hpm.h"

/* Bytes that surely hold such a chain. */
#define AHEAD (HPM_CHAIN * (size_t)(HPM_STRING_MAX + 12))

static int
is_counter(const struct hpm *h, const unsigned char *p)
{
	return hpm_load32(p, h->layout.big) % 16 == HPM_COUNTER;
}

/*
 * When the next period of a processor starts, of those whose records are near,
 * or 0.  How many bytes were read already must not matter.
 */
static uint64_t
find_start(const struct tel_reader *r, const struct hpm *h, unsigned cpu)
{
	const struct hpm_layout *l = &h->layout;
	const unsigned char *p = r->p;
	size_t n = (size_t)(r->end - p);

	for (n = n < AHEAD ? n : AHEAD;;) {
		size_t size = tel__hpm_look(l, p, n);

		if (size == 0 || size > n)
			return 0;
		if (is_counter(h, p) && tel__hpm_cpu(l, p) == cpu &&
		    tel__hpm_start(l, p) != 0)
			return tel__hpm_start(l, p);
		p += size;
		n -= size;
	}
}

/* What comes before the first period of a processor has the clock of that. */
static void
set_first_clock(struct tel_reader *r, struct hpm *h, unsigned cpu)
{
	struct hpm_processor *p = &h->each[cpu % HPM_PROCESSORS];

	if (!p->begun && p->clock == 0) {
		tel__reader_fill(r, AHEAD);
		p->clock = find_start(r, h, cpu);
	}
}

/*
 * The records that follow are of that processor, of which there are several in
 * the trace.
 */
static tel_status
switch_to(struct tel_reader *r, struct hpm *h, unsigned cpu, size_t size)
{
	if (h->each == NULL) {
		h->each = calloc(HPM_PROCESSORS, sizeof(*h->each));
		if (h->each == NULL)
			return TEL_ENOMEM;
		if (h->one.begun) {
			h->each[h->cpu % HPM_PROCESSORS] = h->one;
			h->seen = 1;
		}
	}
	tel_reader_step(r, size);
	h->cpu = (int)cpu;
	set_first_clock(r, h, cpu);
	return TEL_OK;
}

/* Steps over padding, which holds nothing but zeros. */
static tel_status
skip_padding(struct tel_reader *r, struct hpm *h, size_t size)
{
	int cpu = tel__hpm_switch(&h->layout, r->p);
	uint64_t from = r->offset;
	size_t i;

	if (cpu >= 0)
		return switch_to(r, h, (unsigned)cpu, size);

	for (i = 8; i < size && r->p[i] == 0; i++)
		continue;
	/* no writer made more than one in a row */
	if (i == size) {
		memcpy(h->lead, r->p, size);
		h->lead_size = (uint32_t)size;
	}
	tel_reader_step(r, size);
	if (i == size)
		return TEL_OK;
	return tel__reader_damage(r, from, size - 8,
	    "padding that is not zero; %zu bytes skipped", size - 8);
}

/* Whether records follow each other from q on. */
static int
is_sync(const struct tel_reader *r, const unsigned char *q)
{
	const struct hpm *h = r->state;

	return tel__hpm_chain(&h->layout, q, (size_t)(r->end - q), r->eof,
	    h->each != NULL ? -1 : h->cpu);
}

static const char *const flag_texts[8] = { "have no start time",
	"end before they start", "follow a gap",
	"start before the previous record", "start with the previous record",
	"are of a thread that also ran on another processor",
	"are of another processor than the file",
	"are of thread 1 or of the primordial thread" };

/* Periods to tell from what most of them have. */
#define SPEEDS_MIN 32

/*
 * Reports periods with less than half of the cycles for a tick that the middle
 * one has: the processor did something else meanwhile.
 */
static void
report_speeds(struct tel_reader *r, const struct hpm_speeds *s)
{
	uint64_t all = 0, below = 0, slow = 0;
	unsigned i, middle = 0;

	for (i = 0; i < HPM_SPEEDS; i++)
		all += s->count[i];
	while (middle < HPM_SPEEDS && (below += s->count[middle]) * 2 < all)
		middle++;
	for (i = 0; i + 8 < middle; i++)
		slow += s->count[i];
	if (all >= SPEEDS_MIN && slow > 0)
		tel__reader_notice(r, TEL_WARNING, r->offset,
		    "clock and cycles disagree: %llu of %llu periods have less "
		    "than half of the usual cycles for their time; something "
		    "else ran on the processor",
		    (unsigned long long)slow, (unsigned long long)all);
}

/* The trace has ended: what was strange about it. */
static tel_status
hpm_read_finish(struct tel_reader *r, struct hpm *h)
{
	r->log.tail = h->lead;
	r->log.tail_size = h->lead_size;
	for (unsigned i = 0; i < 8; i++)
		if (h->flagged[i] > 0)
			tel__reader_notice(r, TEL_INFO, r->offset,
			    "%llu records %s: their flags have 0x%x",
			    (unsigned long long)h->flagged[i], flag_texts[i],
			    1u << i);
	report_speeds(r, &h->speeds);
	if (h->exited == 0)
		tel__reader_notice(r, TEL_WARNING, r->offset,
		    "the trace has no exit record: it was cut or filtered, or "
		    "the virtual machine was killed, or is still running");
	else if (h->exited < h->seen)
		tel__reader_notice(r, TEL_WARNING, r->offset,
		    "the trace has %u processors and %u exit records: the "
		    "virtual machine did not end by itself",
		    h->seen, h->exited);
	return TEL_END;
}

/* The rest of the input is the start of a record. */
static tel_status
hpm_cut_short(struct tel_reader *r, struct hpm *h)
{
	tel_status st =
	    tel__reader_cut_short(r, "the trace ends inside a record");

	return st == TEL_END ? hpm_read_finish(r, h) : st;
}

/* Nonzero unless the record at r->p is one by chance. */
static int
is_believable(struct tel_reader *r, struct hpm *h, size_t size)
{
	if (!is_counter(h, r->p) || h->cpu < 0 || h->each != NULL ||
	    tel__hpm_cpu(&h->layout, r->p) == (unsigned)h->cpu)
		return 1;
	tel__reader_fill(r, size + AHEAD);
	if (size == (size_t)(r->end - r->p))
		return 1;
	return tel__hpm_chain(&h->layout, r->p + size,
	    (size_t)(r->end - r->p) - size, r->eof, -1);
}

tel_status
tel__hpm_next(struct tel_reader *r)
{
	struct hpm *h = r->state;
	tel_status st;

	r->event.index += r->event.data != NULL;
	if (!h->reported && (st = tel__hpm_report(r, h)) != TEL_OK)
		return st;
	if (hpm_is_plain_counter(h, r->p, r->end)) {
		tel__hpm_give_counter(r, h);
		return TEL_OK;
	}
	for (;;) {
		if ((size_t)(r->end - r->p) < h->size)
			tel__reader_fill(r, 4);
		size_t avail = (size_t)(r->end - r->p);
		if (avail == 0)
			return hpm_read_finish(r, h);
		size_t size = tel__hpm_look(&h->layout, r->p, avail);
		while (size > avail && !r->eof) {
			tel__reader_fill(r,
			    size == HPM_MORE ? avail + 1 : size);
			avail = (size_t)(r->end - r->p);
			size = tel__hpm_look(&h->layout, r->p, avail);
		}
		if (size > avail)
			return hpm_cut_short(r, h);
		if (size == 0) {
			st = tel__reader_resync(r, AHEAD, 1, is_sync,
			    "invalid record");
		} else if (!is_believable(r, h, size)) {
			st = tel__reader_resync(r, AHEAD, 1, is_sync,
			    "an isolated record of another processor");
		} else if (is_counter(h, r->p)) {
			if (h->each != NULL)
				set_first_clock(r, h,
				    tel__hpm_cpu(&h->layout, r->p));
			tel__hpm_give_counter(r, h);
			return TEL_OK;
		} else if (hpm_load32(r->p, h->layout.big) == HPM_PADDING) {
			st = skip_padding(r, h, size);
		} else {
			tel__hpm_give_other(r, h, size);
			return TEL_OK;
		}
		if (st != TEL_OK)
			return st;
	}
}

void
tel__hpm_close(struct tel_reader *r)
{
	struct hpm *h = r->state;

	r->log.records = 0;
	r->log.run = 0;
	free(h->meta_path);
	free(h->refused);
	free(h->each);
	free(h->rows);
}
