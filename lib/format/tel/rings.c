/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rings of libtel-emit: a file that a program had mapped, or memory out of
 * a core of it. include/tel_emit.h has the layout, lib/emit/ring.c writes it.
 * All of it is read before the first event, as the events of many rings have to
 * be sorted.  A reader that follows a program looks at them again and again,
 * and sorts the new events each time.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/process.h"
#include "format/tel/rings.h"

static const char magic[8] = "\361telring";

/* Between two looks at rings that a program writes. */
#define PAUSE_NS 50000000

static int
rings_probe(struct tel_reader *r)
{
	tel__reader_fill(r, 1);
	size_t n = (size_t)(r->end - r->p);
	if (n < sizeof(magic) && n > 0 && r->p[0] == (unsigned char)magic[0]) {
		tel__reader_fill(r, sizeof(magic));
		n = (size_t)(r->end - r->p);
	}
	return n >= sizeof(magic) && memcmp(r->p, magic, sizeof(magic)) == 0 ?
	    100 :
	    0;
}

static void
rings_close(struct tel_reader *r)
{
	struct tel__rings *s = r->state;

	tel__buffer_clear(&s->names);
	tel__buffer_clear(&s->ring);
	tel__buffer_clear(&s->rows);
	tel__buffer_clear(&s->kept);
	tel__buffer_clear(&s->list);
	free(s->types);
	free(s->seen);
}

/* -------------------------------------------------------------- loading */

/* The header of ring i as it is now, in a file that may still be written. */
static struct tel__emit_ring
ring_now(struct tel_reader *r, const struct tel__rings *s, unsigned i,
    const struct tel__emit_ring *before)
{
	const uint64_t here = tel__reader_place(r);
	const uint64_t place = TEL__EMIT_PAGE_BYTES + s->page.names_bytes +
	    i * s->page.ring_stride;
	struct tel__emit_ring ring = *before;

	if (!tel__reader_jump(r, place))
		return ring;
	tel__reader_fill(r, sizeof(ring));
	if ((size_t)(r->end - r->p) >= sizeof(ring))
		ring = tel__rings_read_ring(s, r->p);
	(void)tel__reader_jump(r, here);
	return ring;
}

static tel_status
load_rings(struct tel_reader *r, struct tel__rings *s)
{
	const uint64_t bytes =
	    TEL__RING_HEADER + s->page.ring_bytes + TEL_EMIT_EVENT_MAX;
	unsigned i, n = s->page.rings_used;
	struct tel__emit_ring ring, now;

	n = n < s->page.ring_count ? n : s->page.ring_count;
	for (i = 0; i < n; i++) {
		s->ring.used = 0;
		if (!tel__rings_load(r, &s->ring, bytes))
			return s->ring.failed ?
			    TEL_ENOMEM :
			    tel__reader_damage(r, r->offset, 0,
			        "the file ends inside ring %u of %u", i, n);
		ring = tel__rings_read_ring(s, s->ring.bytes);
		now = ring_now(r, s, i, &ring);
		if (ring.claim != 0)
			tel__rings_take(s, &ring, &now, i);
		if (!tel__rings_load(r, NULL, s->page.ring_stride - bytes) &&
		    i + 1 < n)
			break;
	}
	return s->rows.failed || s->list.failed ? TEL_ENOMEM : TEL_OK;
}

static int
native_rings_compare(const void *left, const void *right)
{
	const struct tel__rings_found *a = left, *b = right;

	if (a->clock != b->clock)
		return a->clock < b->clock ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* What the clock's rate is, from two readings of it. */
static void
set_rate(struct tel_reader *r, const struct tel__emit_page *p)
{
	double rate = 1e9;

	if (r->tick_rate > 0)
		return;
	if (p->clock == TEL_EMIT_CLOCK_CPU)
		rate =
		    p->last_clock > p->start_clock && p->last_ns > p->start_ns ?
		    (double)(p->last_clock - p->start_clock) * 1e9 /
		        (double)(p->last_ns - p->start_ns) :
		    0;
	if (rate > 0)
		tel__clock_set_rate(r->log.clock, rate);
}

/* Has the types of the schema by their codes. */
static void
index_types(const struct tel_reader *r, struct tel__rings *s)
{
	const struct tel_schema *schema = r->log.schema;

	for (unsigned i = 0; i < schema->ntypes; i++)
		if (schema->types[i].code < 65536)
			s->types[schema->types[i].code] = &schema->types[i];
}

static void
sort_events(struct tel__rings *s)
{
	if (s->list.used > 0)
		qsort(s->list.bytes,
		    s->list.used / sizeof(struct tel__rings_found),
		    sizeof(struct tel__rings_found), native_rings_compare);
}

/* Reads the page again, and what has been added to the names. */
static tel_status
follow_page(struct tel_reader *r, struct tel__rings *s)
{
	const struct tel__emit_page before = s->page;
	const struct tel__emit_page *page = &s->page;
	const uint64_t used = s->names.used;

	if (!tel__reader_jump(r, 0))
		return TEL_EIO;
	tel__reader_fill(r, sizeof(*page));
	if ((size_t)(r->end - r->p) < sizeof(*page))
		return TEL_EIO;
	tel__rings_read_page(s, r->p);
	if (!tel__rings_check_page(page) ||
	    page->ring_count != before.ring_count ||
	    page->ring_bytes != before.ring_bytes ||
	    page->ring_stride != before.ring_stride)
		return TEL_EIO;
	if (page->names_used > used &&
	    (!tel__reader_jump(r, TEL__EMIT_PAGE_BYTES + used) ||
	        !tel__rings_load(r, &s->names, page->names_used - used)))
		return s->names.failed ? TEL_ENOMEM : TEL_EIO;
	return TEL_OK;
}

/* Takes the types, strings and threads that have been added. */
static tel_status
follow_names(struct tel_reader *r, struct tel__rings *s)
{
	struct tel__ring_entry entry;
	size_t at = 0, types = 0;
	tel_status st = TEL_OK;

	while (tel__rings_next_entry(s, &at, &entry))
		types += entry.what == ENTRY_TYPE;
	if (types != s->described &&
	    (st = tel__rings_make_schema(r, s)) == TEL_OK)
		index_types(r, s);
	return st == TEL_OK ? tel__rings_take_names(r, s) : st;
}

/* ------------------------------------------------------------ all at once */

/* The names again, in a file that a program may have added to meanwhile. */
static void
load_names_again(struct tel_reader *r, struct tel__rings *s)
{
	const uint64_t here = tel__reader_place(r);
	const struct tel__emit_page page = s->page;

	if (follow_page(r, s) != TEL_OK)
		s->page = page;
	(void)tel__reader_jump(r, here);
}

static void
report_torn(struct tel_reader *r, struct tel__rings *s)
{
	if (s->torn > 0)
		tel__reader_notice(r, TEL_INFO, 0,
		    "%llu events were being written when the program stopped",
		    (unsigned long long)s->torn);
	s->torn = 0;
}

/* Reads all of it, before the first event. */
static tel_status
load_all(struct tel_reader *r, struct tel__rings *s)
{
	tel_status st = tel__rings_load_page(r, s);

	s->loaded = 1;
	if (st == TEL_OK) {
		tel__rings_take_entries(s);
		st = load_rings(r, s);
	}
	/* memory behind the rings was never used */
	while (st == TEL_OK && tel__rings_load(r, NULL, TEL_PROBE_SIZE))
		;
	if (st == TEL_OK) {
		load_names_again(r, s);
		st = follow_names(r, s);
	}
	if (st != TEL_OK)
		return st;
	index_types(r, s);
	sort_events(s);
	s->ready = s->list.used / sizeof(struct tel__rings_found);
	report_torn(r, s);
	return TEL_OK;
}

/* -------------------------------------------------------------- following */

/* Takes the new events of ring i. */
static tel_status
follow_ring(struct tel_reader *r, struct tel__rings *s, unsigned i)
{
	const uint64_t bytes =
	    TEL__RING_HEADER + s->page.ring_bytes + TEL_EMIT_EVENT_MAX;
	const uint64_t place = TEL__EMIT_PAGE_BYTES + s->page.names_bytes +
	    i * s->page.ring_stride;
	struct tel__emit_ring ring, now;

	if (!tel__reader_jump(r, place))
		return TEL_EIO;
	tel__reader_fill(r, sizeof(ring));
	if ((size_t)(r->end - r->p) < sizeof(ring))
		return TEL_OK; /* it is not in the file yet */
	ring = tel__rings_read_ring(s, r->p);
	if (ring.claim == 0 ||
	    (s->seen[i].claim == ring.claim && s->seen[i].head == ring.head))
		return TEL_OK;
	s->ring.used = 0;
	if (!tel__rings_load(r, &s->ring, bytes))
		return s->ring.failed ? TEL_ENOMEM : TEL_OK;
	now = ring_now(r, s, i, &ring);
	tel__rings_take(s, &ring, &now, i);
	return s->rows.failed || s->list.failed ? TEL_ENOMEM : TEL_OK;
}

static struct tel__rings_found
listed(const struct tel__rings *s, size_t i)
{
	struct tel__rings_found found;

	memcpy(&found, s->list.bytes + i * sizeof(found), sizeof(found));
	return found;
}

/* Leaves in the list what has not been handed out. */
static void
keep_later(struct tel__rings *s)
{
	const size_t n = s->list.used / sizeof(struct tel__rings_found);
	const struct tel__buffer rows = s->rows;

	s->list.used = s->kept.used = 0;
	for (size_t i = s->next; i < n; i++) {
		struct tel__rings_found found = listed(s, i);
		const size_t at = found.at;
		found.at = s->kept.used;
		tel__buffer_put(&s->kept, rows.bytes + at, found.size);
		tel__buffer_put(&s->list, &found, sizeof(found));
	}
	s->rows = s->kept;
	s->kept = rows;
	s->next = 0;
}

/*
 * Has the events handed out up to the newest one of the look before: rings are
 * read one after the other, so events newer than that can have others before
 * them that this look missed.  Those that an unfinished event may be before wait,
 * too: of more threads than processors, some are stopped in the middle of one.
 */
static void
set_ready(struct tel__rings *s)
{
	const size_t n = s->list.used / sizeof(struct tel__rings_found);
	const uint64_t horizon = s->newest < s->bound ? s->newest : s->bound;

	s->ready = n;
	if (s->ended)
		return;
	if (s->horizon < horizon)
		s->horizon = horizon;
	while (s->ready > 0 && listed(s, s->ready - 1).clock > s->horizon)
		s->ready--;
	if (n > 0)
		s->newest = listed(s, n - 1).clock;
}

/* Looks at all rings once. */
static tel_status
rings_poll(struct tel_reader *r, struct tel__rings *s)
{
	const struct tel__emit_page *page = &s->page;
	tel_status st = follow_page(r, s);

	if (st != TEL_OK)
		return st;
	keep_later(s);
	s->bound = UINT64_MAX;
	/* before the rings are read: there is nothing new in them after that */
	s->ended = page->record == 0 || tel__process_ended(page->pid) != 0;
	set_rate(r, page);
	/* later ones would precede events of rings that were not seen yet */
	tel__rings_take_entries(s);
	for (unsigned i = 0;
	     st == TEL_OK && i < page->ring_count && i < page->rings_used; i++)
		st = follow_ring(r, s, i);
	/* again: events that came meanwhile may need names that came, too */
	if (st == TEL_OK)
		st = follow_page(r, s);
	if (st == TEL_OK)
		st = follow_names(r, s);
	sort_events(s);
	set_ready(s);
	s->looked = 1;
	return st;
}

/* Waits until there are new events, or the program has ended. */
static tel_status
native_rings_follow(struct tel_reader *r, struct tel__rings *s)
{
	const struct timespec pause = { 0, PAUSE_NS };
	tel_status st = TEL_OK;

	if (!s->loaded)
		index_types(r, s);
	while (st == TEL_OK && !s->ended) {
		if (s->loaded)
			nanosleep(&pause, NULL);
		s->loaded = 1;
		st = rings_poll(r, s);
		if (s->next < s->ready)
			break;
	}
	if (st != TEL_OK && st != TEL_EIO)
		return st;
	if (st == TEL_EIO) {
		s->changed = s->ended = 1;
		set_ready(s);
	}
	if (s->changed && s->next >= s->ready)
		return tel__reader_fail(r, TEL_EIO, "the rings have changed");
	if (s->lost > 0) {
		r->count[TEL_COUNT_LOST] += s->lost;
		r->log.lost += s->lost;
		tel__reader_notice(r, TEL_INFO, 0,
		    "%llu events were overwritten before they were read",
		    (unsigned long long)s->lost);
		s->lost = 0;
	}
	if (s->ended)
		report_torn(r, s);
	return TEL_OK;
}

static tel_status
rings_open(struct tel_reader *r)
{
	struct tel__rings *s = r->state;
	tel_status st = TEL_ENOMEM;

	s->types = calloc(65536, sizeof(const struct tel_type *));
	if (s->types != NULL)
		st = tel__rings_look(r, s);
	if (st == TEL_OK)
		st = tel__rings_make_schema(r, s);
	if (st == TEL_OK)
		set_rate(r, &s->page);
	/* what cannot be read again is read once */
	if (st == TEL_OK && r->follow &&
	    tel__reader_jump(r, tel__reader_place(r))) {
		s->seen = calloc(s->page.ring_count + 1, sizeof(*s->seen));
		st = s->seen != NULL ? TEL_OK : TEL_ENOMEM;
	}
	if (st == TEL_ENOMEM)
		tel__reader_fail(r, st, "out of memory");
	return st;
}

static tel_status
rings_next(struct tel_reader *r)
{
	struct tel__rings *s = r->state;
	struct tel_event *ev = &r->event;
	struct tel__rings_found found;
	tel_status st;

	if (s->seen != NULL && s->next >= s->ready) {
		if ((st = native_rings_follow(r, s)) != TEL_OK)
			return st;
	} else if (!s->loaded && (st = load_all(r, s)) != TEL_OK) {
		return st;
	}
	if (s->next >= s->ready)
		return TEL_END;
	found = listed(s, s->next++);
	ev->type = s->types[found.code];
	if (ev->type == NULL || found.size < ev->type->size)
		ev->type = tel__schema_unknown(r->log.schema, found.code);
	if (ev->type == NULL)
		return TEL_ENOMEM;
	ev->data = s->rows.bytes + found.at;
	ev->size = found.size;
	ev->clock = found.clock;
	ev->offset = s->offset;
	ev->index = s->index++;
	s->offset += found.size;
	r->consumed = found.size;
	return tel_type_is_followed(ev->type) ? tel__reader_follow(r, ev) :
	                                        TEL_OK;
}

static uint64_t
rings_pending(const struct tel_reader *r)
{
	const struct tel__rings *s = r->state;

	return 16 * (s->ready - s->next); /* each has at least so many bytes */
}

const struct tel_format_ops tel__format_rings = {
	.name = "rings",
	.probe = rings_probe,
	.state_size = sizeof(struct tel__rings),
	.open = rings_open,
	.next = rings_next,
	.written_as = "tel",
	.pending = rings_pending,
	.close = rings_close,
};
