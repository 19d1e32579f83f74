/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rings of libtel-emit: a file that a program had mapped, or memory out
 * of a core of it.  include/tel_emit.h has the layout, lib/emit/ring.c says
 * how it is written.  All of it is read before the first event, as the events
 * of many rings have to be sorted.  A reader that follows a program looks at
 * them again and again, and sorts what is new each time.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buffer.h"
#include "format/tel/wire.h"
#include "reader/reader.h"
#include "tel_emit.h"

static const char magic[8] = "\361telring";

/* Bounds of what is believed. */
#define RINGS_MAX 4096u
#define RING_BYTES_MAX ((uint64_t)1 << 30)
#define NAMES_MAX ((uint64_t)1 << 28)
#define POSITION (TEL__RING_ONE - 1)

/* An entry of the names, as names.c writes it. */
struct entry {
	uint32_t bytes, what;
	uint64_t value, clock, length;
};
enum { ENTRY_TYPE = 1, ENTRY_STRING, ENTRY_THREAD, ENTRY_EVENT = 5 };

/* An event that was found. */
struct found {
	uint64_t clock;
	uint64_t order; /* of events of the same clock */
	size_t at;      /* in the rows */
	uint32_t size;
	uint32_t code;
};

/* How far a ring was read, for what follows. */
struct seen {
	uint32_t claim; /* whose it was; 0: nobody's */
	unsigned stuck; /* looks that found the next event unfinished */
	uint64_t head;  /* as the ring had it */
	uint64_t at;    /* a head: the next event */
};
/* Looks until an unfinished event is given up: 10 seconds of them. */
#define PATIENCE 200u
#define PAUSE_NS 50000000

struct rings {
	struct tel__emit_page page;
	int swapped; /* the program ran on a machine of the other byte order */
	struct tel__buffer names, ring;
	struct tel__buffer rows; /* the events, each from 8 bytes on */
	struct tel__buffer list; /* of struct found */
	int loaded;
	size_t next;    /* of the list */
	size_t taken;   /* bytes of names whose events were taken */
	uint64_t index; /* of its event, in all */
	uint64_t torn;  /* events that were not whole */
	uint64_t lost;  /* that were overwritten between two looks */
	uint64_t offset;
	const struct tel_type **types; /* by code; 65536 */
	size_t described;              /* types in the schema */
	size_t named;                  /* names that were taken */
	uint64_t threads;              /* and those of threads among them */
	struct seen *seen;             /* of each ring; NULL: not followed */
	int ended;                     /* the program has ended */
};

static int
rings_probe(struct tel_reader *r)
{
	size_t n;

	tel__reader_fill(r, 1);
	n = (size_t)(r->end - r->p);
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
	struct rings *s = r->state;

	if (s == NULL)
		return;
	tel__buffer_clear(&s->names);
	tel__buffer_clear(&s->ring);
	tel__buffer_clear(&s->rows);
	tel__buffer_clear(&s->list);
	free(s->types);
	free(s->seen);
	free(s);
	r->state = NULL;
}

/* -------------------------------------------------------------- loading */

/* Takes n bytes of the input into b, or those that there are. */
static int
load(struct tel_reader *r, struct tel__buffer *b, uint64_t n)
{
	size_t piece;

	while (n > 0) {
		tel__reader_fill(r, 1);
		piece = (size_t)(r->end - r->p);
		piece = piece < n ? piece : (size_t)n;
		if (piece == 0)
			return 0;
		if (b != NULL)
			tel__buffer_put(b, r->p, piece);
		tel_reader_step(r, piece);
		n -= piece;
	}
	return b == NULL || !b->failed;
}

static void
swap4(uint32_t *v)
{
	*v = __builtin_bswap32(*v);
}

static void
swap8(uint64_t *v)
{
	*v = __builtin_bswap64(*v);
}

/* The page at p, in the byte order of this machine. */
static void
read_page(struct rings *s, const unsigned char *p)
{
	struct tel__emit_page *page = &s->page;
	uint32_t *const fours[] = { &page->version, &page->page_bytes,
		&page->names_bytes, &page->ring_count, &page->pid,
		&page->byte_order, &page->record, &page->clock,
		&page->rings_used, &page->word };
	uint64_t *const eights[] = { &page->ring_bytes, &page->ring_stride,
		&page->start_clock, &page->start_ns, &page->last_clock,
		&page->last_ns, &page->names_used };
	size_t i;

	memcpy(page, p, sizeof(*page));
	s->swapped = page->byte_order == 0x04030201;
	for (i = 0; s->swapped && i < sizeof(fours) / sizeof(fours[0]); i++)
		swap4(fours[i]);
	for (i = 0; s->swapped && i < sizeof(eights) / sizeof(eights[0]); i++)
		swap8(eights[i]);
}

/* The header of a ring, at p. */
static struct tel__emit_ring
read_ring(const struct rings *s, const unsigned char *p)
{
	struct tel__emit_ring ring;
	unsigned i;

	memcpy(&ring, p, sizeof(ring));
	if (!s->swapped)
		return ring;
	swap8(&ring.head);
	swap4(&ring.thread);
	swap4(&ring.claim);
	swap8(&ring.start);
	for (i = 0; i < TEL__RING_MARKS; i++)
		swap8(&ring.marks[i]);
	return ring;
}

/* An integer of 8 bytes. */
static uint64_t
read8(const struct rings *s, const unsigned char *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return s->swapped ? __builtin_bswap64(v) : v;
}

/* What .tel has in place of the size and the clock of an event: its thread. */
static void
put_head(const struct rings *s, unsigned char *to, uint32_t thread)
{
	uint64_t word = (uint64_t)thread << 32;

	if (s->swapped)
		swap8(&word);
	memset(to, 0, 8);
	memcpy(to + 8, &word, 8);
}

/* Whether the page makes sense. */
static int
check_page(const struct tel__emit_page *p)
{
	return p->version == 1 && p->byte_order == 0x01020304 &&
	    p->page_bytes == TEL__EMIT_PAGE_BYTES &&
	    p->names_bytes <= NAMES_MAX && p->names_used <= p->names_bytes &&
	    p->ring_count <= RINGS_MAX && p->ring_bytes >= 65536 &&
	    p->ring_bytes <= RING_BYTES_MAX &&
	    (p->ring_bytes & (p->ring_bytes - 1)) == 0 &&
	    p->ring_stride >=
	    p->ring_bytes + TEL__RING_HEADER + TEL_EMIT_EVENT_MAX &&
	    p->ring_stride <= 2 * RING_BYTES_MAX &&
	    (p->word == 4 || p->word == 8) &&
	    memchr(p->schema, '\0', sizeof(p->schema)) != NULL &&
	    memchr(p->schema_version, '\0', sizeof(p->schema_version)) != NULL;
}

/*
 * Looks at the page, and at the names as far as they can be seen.  Nothing is
 * stepped over: a member of an archive may be copied before it is read.
 */
static tel_status
look_at_page(struct tel_reader *r, struct rings *s)
{
	const size_t before = TEL__EMIT_PAGE_BYTES;
	size_t n;

	tel__reader_fill(r, before);
	n = (size_t)(r->end - r->p);
	if (n >= before)
		read_page(s, r->p);
	if (n < before || !check_page(&s->page))
		return tel__reader_fail(r, TEL_EFORMAT,
		    "the rings of libtel-emit are of another version, or "
		    "damaged");
	n = TEL_PEEK_MAX - before;
	n = s->page.names_used < n ? (size_t)s->page.names_used : n;
	tel__reader_fill(r, before + n);
	if ((size_t)(r->end - r->p) < before + n)
		n = (size_t)(r->end - r->p) - before;
	tel__buffer_put(&s->names, r->p + before, n);
	return s->names.failed ? TEL_ENOMEM : TEL_OK;
}

/* Reads the page and all names. */
static tel_status
load_page(struct tel_reader *r, struct rings *s)
{
	s->names.used = 0;
	if (load(r, NULL, TEL__EMIT_PAGE_BYTES) &&
	    load(r, &s->names, s->page.names_used) &&
	    load(r, NULL, s->page.names_bytes - s->page.names_used))
		return TEL_OK;
	return s->names.failed ?
	    TEL_ENOMEM :
	    tel__reader_damage(r, r->offset, 0,
	        "the rings are truncated inside their names");
}

/* The entry at *at, which is then the next one's; 0: no more. */
static int
next_entry(const struct rings *s, size_t *at, struct entry *entry)
{
	const size_t left = s->names.used - *at;

	if (left < sizeof(*entry))
		return 0;
	memcpy(entry, s->names.bytes + *at, sizeof(*entry));
	if (s->swapped) {
		swap4(&entry->bytes);
		swap4(&entry->what);
		swap8(&entry->value);
		swap8(&entry->clock);
		swap8(&entry->length);
	}
	if (entry->bytes < sizeof(*entry) || entry->bytes > left ||
	    entry->length > entry->bytes - sizeof(*entry))
		return 0;
	*at += entry->bytes;
	return 1;
}

static void
put_string(struct tel__buffer *b, const char *s)
{
	tel__buffer_put_varint(b, strlen(s));
	tel__buffer_put(b, s, strlen(s));
}

/* Makes the schema of the types among the names, as tel(5) describes them. */
static tel_status
make_schema(struct tel_reader *r, struct rings *s)
{
	const unsigned big =
	    (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != s->swapped;
	struct tel__buffer types = { NULL, 0, 0, 0 };
	struct native_log log;
	struct tel_schema *schema;
	size_t at, count = 0;
	struct entry entry;
	tel_status st;
	int partial;

	for (at = 0; next_entry(s, &at, &entry);)
		count += entry.what == ENTRY_TYPE;
	s->described = count;
	put_string(&types, s->page.schema_version);
	put_string(&types, "");
	tel__buffer_put_varint(&types, s->page.word);
	tel__buffer_put_varint(&types, big | 2 | 4 | 16 | 32);
	tel__buffer_put_varint(&types, 0);
	tel__buffer_put_varint(&types, 8);
	tel__buffer_put_varint(&types, count);
	tel__buffer_put_varint(&types, count);
	for (at = 0; next_entry(s, &at, &entry);) {
		if (entry.what != ENTRY_TYPE)
			continue;
		tel__buffer_put_varint(&types, 0);
		tel__buffer_put(&types,
		    s->names.bytes + at - entry.bytes + sizeof(entry),
		    (size_t)entry.length);
	}
	memset(&log, 0, sizeof(log));
	log.schema = (const unsigned char *)s->page.schema;
	log.schema_size = (uint32_t)strlen(s->page.schema);
	log.types = types.bytes;
	log.types_size = (uint32_t)types.used;
	st = types.failed ? TEL_ENOMEM :
	                    tel__native_schema(&log, &schema, &partial);
	tel__buffer_clear(&types);
	if (st == TEL_OK)
		st = tel__reader_adopt(r, schema);
	if (st == TEL_EFORMAT)
		return tel__reader_fail(r, st,
		    "the types in the rings are invalid");
	return st;
}

/* Takes the strings, and the names of threads. */
static tel_status
take_names(struct tel_reader *r, struct rings *s)
{
	const uint64_t own = (uint64_t)1 << 63;
	tel_status st = TEL_OK;
	struct entry entry;
	const char *text;

	while (st == TEL_OK && next_entry(s, &s->named, &entry)) {
		text = (const char *)s->names.bytes + s->named - entry.bytes +
		    sizeof(entry);
		if (entry.what == ENTRY_STRING)
			st = tel__labels_intern(r->log.labels, entry.value,
			    text, (size_t)entry.length);
		if (entry.what != ENTRY_THREAD)
			continue;
		st = tel__labels_intern(r->log.labels, own + s->threads, text,
		    (size_t)entry.length);
		if (st == TEL_OK)
			st = tel__labels_add(r->log.labels, TEL_SPACE_THREAD,
			    entry.value, entry.clock, own + s->threads++);
	}
	if (st == TEL_ELIMIT)
		tel__reader_limit(r, 0, "strings or labels");
	return st == TEL_ELIMIT ? TEL_OK : st;
}

/* --------------------------------------------------------------- events */

static uint64_t
word(const struct rings *s, uint64_t position)
{
	return read8(s,
	    s->ring.bytes + TEL__RING_HEADER +
	        8 * (position & (s->page.ring_bytes / 8 - 1)));
}

/*
 * The words of the event at a position; 0: none is whole there.  Behind the
 * words of a ring there is room for an event that begins among them.
 */
static unsigned
whole(const struct rings *s, uint64_t position, uint64_t end)
{
	const uint64_t first = word(s, position);
	const unsigned words = first >> 16 & 0xfff;

	return (first & TEL__EVENT_WHOLE) != 0 &&
	        first >> 32 ==
	            (uint32_t)((uint32_t)position * TEL__EVENT_TAG) &&
	        words >= 2 && words <= TEL_EMIT_EVENT_MAX / 8 &&
	        words <= ((end - position) & POSITION) ?
	    words :
	    0;
}

static void
add_event(struct rings *s, const struct tel__emit_ring *ring, uint64_t position,
    unsigned words, uint64_t order)
{
	unsigned char *to = tel__buffer_room(&s->rows, 8 * words);
	struct found found;
	const unsigned char *from = s->ring.bytes + TEL__RING_HEADER +
	    8 * (position & (s->page.ring_bytes / 8 - 1));
	uint64_t first = word(s, position);

	if (to == NULL)
		return;
	memcpy(to, from, 8 * words);
	found.clock = read8(s, to + 8);
	found.order = order;
	found.at = s->rows.used;
	found.size = 8 * words;
	found.code = first & 0xffff;
	put_head(s, to, ring->thread);
	s->rows.used += 8 * words;
	tel__buffer_put(&s->list, &found, sizeof(found));
}

/* The code of the type Intern: lib/emit/emit.h. */
#define CODE_INTERN 0xFF01u

/*
 * Takes the events among the names, which every stream has, but once: those of
 * strings, and others as they are.
 */
static void
take_entries(struct rings *s)
{
	static const unsigned char zeros[8];
	unsigned char head[16];
	struct found found;
	struct entry entry;
	uint64_t order = 0;
	const unsigned char *bytes;

	while (next_entry(s, &s->taken, &entry)) {
		bytes = s->names.bytes + s->taken - entry.bytes + sizeof(entry);
		if ((entry.what != ENTRY_EVENT && entry.what != ENTRY_STRING) ||
		    entry.length > TEL_EMIT_EVENT_MAX ||
		    (entry.what == ENTRY_EVENT && entry.length % 8 != 0))
			continue;
		found.clock = entry.clock;
		found.order = order++;
		found.at = s->rows.used;
		found.code = entry.what == ENTRY_EVENT ? entry.value & 0xffff :
		                                         CODE_INTERN;
		put_head(s, head,
		    entry.what == ENTRY_EVENT ? (uint32_t)(entry.value >> 32) :
		                                0);
		tel__buffer_put(&s->rows, head, sizeof(head));
		if (entry.what == ENTRY_STRING) {
			if (s->swapped)
				swap8(&entry.value);
			tel__buffer_put(&s->rows, &entry.value, 8);
		}
		tel__buffer_put(&s->rows, bytes, (size_t)entry.length);
		if (entry.what == ENTRY_STRING)
			tel__buffer_put(&s->rows, zeros, 8 - entry.length % 8);
		found.size = (uint32_t)(s->rows.used - found.at);
		tel__buffer_put(&s->list, &found, sizeof(found));
	}
}

/*
 * Where the oldest events that are still there begin.  head: as it was when
 * all of the ring had been read.
 */
static uint64_t
oldest(const struct rings *s, const struct tel__emit_ring *ring, uint64_t head)
{
	const uint64_t most = s->page.ring_bytes / 8;
	uint64_t best = head;
	unsigned i;

	if (((head - ring->start) & POSITION) <= most)
		return ring->start;
	for (i = 0; i < TEL__RING_MARKS; i++)
		if (ring->marks[i] != 0 &&
		    ((head - ring->marks[i]) & POSITION) <= most &&
		    ((head - ring->marks[i]) & POSITION) >
		        ((head - best) & POSITION))
			best = ring->marks[i];
	return best;
}

/*
 * Where the events begin that are new: behind those of the last look, unless
 * these were overwritten, or are another thread's.
 */
static uint64_t
begin_at(struct rings *s, struct seen *seen, const struct tel__emit_ring *ring,
    uint64_t head)
{
	const uint64_t at = oldest(s, ring, head), end = ring->head;

	if (seen == NULL)
		return at;
	if (seen->claim != ring->claim)
		seen->stuck = 0;
	else if (((end - seen->at) & POSITION) <= ((end - at) & POSITION))
		return seen->at;
	else
		s->lost += ((at >> 40) - (seen->at >> 40)) & 0xFFFFFF;
	return at;
}

/* Takes the events of ring number i, which is in s->ring. */
static void
take_ring(struct rings *s, const struct tel__emit_ring *ring, uint64_t head,
    unsigned i)
{
	struct seen *seen = s->seen != NULL ? &s->seen[i] : NULL;
	const uint64_t end = ring->head & POSITION;
	uint64_t at = begin_at(s, seen, ring, head);
	uint64_t order = (i + (uint64_t)1) << 40;
	unsigned words;
	int torn = 0;

	/* the program went on, and wrote over all that was read */
	if (((end - at) & POSITION) > s->page.ring_bytes / 8)
		return;
	while ((at & POSITION) != end) {
		words = whole(s, at & POSITION, end);
		if (words == 0 && seen != NULL && !s->ended && !torn &&
		    seen->stuck++ < PATIENCE)
			break;
		if (words == 0) {
			/* an event that was never finished: any size */
			at += torn ? 0 : TEL__RING_ONE;
			s->torn += !torn;
			torn = 1;
			at++;
			continue;
		}
		torn = 0;
		if (seen != NULL)
			seen->stuck = 0;
		add_event(s, ring, at & POSITION, words, order++);
		at += TEL__RING_ONE + words;
	}
	if (seen == NULL)
		return;
	seen->claim = ring->claim;
	seen->at = at;
	/* what is unfinished is looked at again */
	seen->head = (at & POSITION) == end ? ring->head : 0;
}

/* The head of ring i as it is now, in a file that may still be written. */
static uint64_t
head_now(struct tel_reader *r, const struct rings *s, unsigned i, uint64_t head)
{
	const uint64_t here = tel__reader_place(r);
	const uint64_t place = TEL__EMIT_PAGE_BYTES + s->page.names_bytes +
	    i * s->page.ring_stride;

	if (!tel__reader_jump(r, place))
		return head;
	tel__reader_fill(r, 8);
	if (r->end - r->p >= 8)
		head = read8(s, r->p);
	(void)tel__reader_jump(r, here);
	return head;
}

static tel_status
load_rings(struct tel_reader *r, struct rings *s)
{
	const uint64_t bytes =
	    TEL__RING_HEADER + s->page.ring_bytes + TEL_EMIT_EVENT_MAX;
	unsigned i, n = s->page.rings_used;
	struct tel__emit_ring ring;

	n = n < s->page.ring_count ? n : s->page.ring_count;
	for (i = 0; i < n; i++) {
		s->ring.used = 0;
		if (!load(r, &s->ring, bytes))
			return s->ring.failed ?
			    TEL_ENOMEM :
			    tel__reader_damage(r, r->offset, 0,
			        "the file ends inside ring %u of %u", i, n);
		ring = read_ring(s, s->ring.bytes);
		if (ring.claim != 0)
			take_ring(s, &ring, head_now(r, s, i, ring.head), i);
		if (!load(r, NULL, s->page.ring_stride - bytes) && i + 1 < n)
			break;
	}
	return s->rows.failed || s->list.failed ? TEL_ENOMEM : TEL_OK;
}

static int
compare(const void *left, const void *right)
{
	const struct found *a = left, *b = right;

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
index_types(const struct tel_reader *r, struct rings *s)
{
	const struct tel_schema *schema = r->log.schema;
	unsigned i;

	for (i = 0; i < schema->ntypes; i++)
		if (schema->types[i].code < 65536)
			s->types[schema->types[i].code] = &schema->types[i];
}

static void
sort_events(struct rings *s)
{
	if (s->list.used > 0)
		qsort(s->list.bytes, s->list.used / sizeof(struct found),
		    sizeof(struct found), compare);
}

/* Reads all of it, before the first event. */
static tel_status
load_all(struct tel_reader *r, struct rings *s)
{
	const int more = s->page.names_used > s->names.used;
	tel_status st = load_page(r, s);

	s->loaded = 1;
	if (st == TEL_OK && more)
		st = make_schema(r, s);
	if (st == TEL_OK)
		st = take_names(r, s);
	if (st == TEL_OK) {
		take_entries(s);
		st = load_rings(r, s);
	}
	/* what is behind the rings was never used */
	while (st == TEL_OK && load(r, NULL, TEL_PROBE_SIZE))
		;
	if (st == TEL_ENOMEM)
		return tel__reader_fail(r, st, "out of memory");
	if (st != TEL_OK)
		return st;
	index_types(r, s);
	sort_events(s);
	if (s->torn > 0)
		tel__reader_notice(r, TEL_INFO, 0,
		    "%llu events were being written when the program stopped",
		    (unsigned long long)s->torn);
	return TEL_OK;
}

/* -------------------------------------------------------------- following */

/* Whether a process has ended; where it cannot be seen, it has. */
static int
has_ended(uint32_t pid)
{
	char path[40], text[600];
	const char *state;
	size_t n = 0;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%lu/stat",
	    (unsigned long)pid);
	f = fopen(path, "re");
	if (f != NULL) {
		n = fread(text, 1, sizeof(text) - 1, f);
		fclose(f);
	}
	text[n] = '\0';
	/* the name of the program is in parentheses, and may have some */
	state = strrchr(text, ')');
	return state == NULL || state[1] == '\0' || state[2] == 'Z' ||
	    state[2] == 'X';
}

/* Reads what has been added to the names, among it types. */
static tel_status
follow_names(struct tel_reader *r, struct rings *s)
{
	const uint64_t used = s->names.used;
	struct entry entry;
	size_t at = 0, types = 0;
	tel_status st = TEL_OK;

	if (s->page.names_used > used &&
	    (!tel__reader_jump(r, TEL__EMIT_PAGE_BYTES + used) ||
	        !load(r, &s->names, s->page.names_used - used)))
		return s->names.failed ? TEL_ENOMEM : TEL_EIO;
	while (next_entry(s, &at, &entry))
		types += entry.what == ENTRY_TYPE;
	take_entries(s);
	if (types != s->described && (st = make_schema(r, s)) == TEL_OK)
		index_types(r, s);
	return st == TEL_OK ? take_names(r, s) : st;
}

/* Takes what is new in ring i. */
static tel_status
follow_ring(struct tel_reader *r, struct rings *s, unsigned i)
{
	const uint64_t bytes =
	    TEL__RING_HEADER + s->page.ring_bytes + TEL_EMIT_EVENT_MAX;
	const uint64_t place = TEL__EMIT_PAGE_BYTES + s->page.names_bytes +
	    i * s->page.ring_stride;
	struct tel__emit_ring ring;

	if (!tel__reader_jump(r, place))
		return TEL_EIO;
	tel__reader_fill(r, sizeof(ring));
	if ((size_t)(r->end - r->p) < sizeof(ring))
		return TEL_OK; /* it is not in the file yet */
	ring = read_ring(s, r->p);
	if (ring.claim == 0 ||
	    (s->seen[i].claim == ring.claim && s->seen[i].head == ring.head))
		return TEL_OK;
	s->ring.used = 0;
	if (!load(r, &s->ring, bytes))
		return s->ring.failed ? TEL_ENOMEM : TEL_OK;
	ring = read_ring(s, s->ring.bytes);
	take_ring(s, &ring, head_now(r, s, i, ring.head), i);
	return s->rows.failed || s->list.failed ? TEL_ENOMEM : TEL_OK;
}

/* Looks at all rings once. */
static tel_status
look_again(struct tel_reader *r, struct rings *s)
{
	const struct tel__emit_page before = s->page;
	const struct tel__emit_page *page = &s->page;
	tel_status st;
	unsigned i;

	if (!tel__reader_jump(r, 0))
		return TEL_EIO;
	tel__reader_fill(r, sizeof(*page));
	if ((size_t)(r->end - r->p) < sizeof(*page))
		return TEL_EIO;
	read_page(s, r->p);
	if (!check_page(page) || page->ring_count != before.ring_count ||
	    page->ring_bytes != before.ring_bytes ||
	    page->ring_stride != before.ring_stride)
		return TEL_EIO;
	/* before the rings are read: there is nothing new in them after that */
	s->ended = page->record == 0 || has_ended(page->pid);
	set_rate(r, page);
	st = follow_names(r, s);
	for (i = 0;
	     st == TEL_OK && i < page->ring_count && i < page->rings_used; i++)
		st = follow_ring(r, s, i);
	sort_events(s);
	return st;
}

/* Waits until there are new events, or the program has ended. */
static tel_status
follow(struct tel_reader *r, struct rings *s)
{
	const struct timespec pause = { 0, PAUSE_NS };
	tel_status st = TEL_OK;

	if (!s->loaded)
		index_types(r, s);
	while (st == TEL_OK && !s->ended) {
		if (s->loaded)
			nanosleep(&pause, NULL);
		s->loaded = 1;
		s->rows.used = s->list.used = s->next = 0;
		st = look_again(r, s);
		if (s->list.used > 0)
			break;
	}
	if (st == TEL_ENOMEM)
		return tel__reader_fail(r, st, "out of memory");
	if (st == TEL_EIO)
		return tel__reader_fail(r, st, "the rings have changed");
	if (st == TEL_OK && s->lost > 0) {
		r->count[TEL_COUNT_LOST] += s->lost;
		r->log.lost += s->lost;
		tel__reader_notice(r, TEL_INFO, 0,
		    "%llu events were overwritten before they were read",
		    (unsigned long long)s->lost);
		s->lost = 0;
	}
	return st;
}

static tel_status
rings_open(struct tel_reader *r, const char *as)
{
	struct rings *s = calloc(1, sizeof(*s));
	tel_status st = TEL_ENOMEM;

	(void)as;
	r->state = s;
	if (s != NULL)
		s->types = calloc(65536, sizeof(const struct tel_type *));
	if (s != NULL && s->types != NULL)
		st = look_at_page(r, s);
	if (st == TEL_OK)
		st = make_schema(r, s);
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
	if (st != TEL_OK)
		rings_close(r);
	return st;
}

static tel_status
rings_next(struct tel_reader *r)
{
	struct rings *s = r->state;
	struct tel_event *ev = &r->event;
	struct found found;
	tel_status st;

	if (s->seen != NULL && s->next >= s->list.used / sizeof(found)) {
		if ((st = follow(r, s)) != TEL_OK)
			return st;
	} else if (!s->loaded && (st = load_all(r, s)) != TEL_OK) {
		return st;
	}
	if (s->next >= s->list.used / sizeof(found))
		return TEL_END;
	memcpy(&found, s->list.bytes + s->next * sizeof(found), sizeof(found));
	ev->type = s->types[found.code];
	if (ev->type == NULL || found.size < ev->type->size)
		ev->type = tel__schema_unknown(r->log.schema, found.code);
	if (ev->type == NULL)
		return tel__reader_fail(r, TEL_ENOMEM, "out of memory");
	ev->data = s->rows.bytes + found.at;
	ev->size = found.size;
	ev->clock = found.clock;
	ev->offset = s->offset;
	ev->index = s->index++;
	s->next++;
	s->offset += found.size;
	r->consumed = found.size;
	return tel_type_is_followed(ev->type) ? tel__reader_follow(r, ev) :
	                                        TEL_OK;
}

const struct tel_format_ops tel__format_rings = {
	.name = "rings",
	.probe = rings_probe,
	.open = rings_open,
	.next = rings_next,
	.close = rings_close,
};
