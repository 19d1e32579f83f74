/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading the directory, or the index, that ends a stream: from the end of the
 * file, stream by stream, as each has its own length.
 */
#include "format/tel/index.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "io/source.h"

/* The record that ends a stream: its header and a head of one of these sizes. */
#define END_HEAD 48u
#define END_HEAD_1_1_0 32u
#define END_HEAD_1_0 24u
#define END_SIZE (NATIVE_HEADER + END_HEAD)
/* Where the body of START has the second number of the version. */
#define NATIVE_MEDIAN_AT 1u
/* The limit of an index: some 100 MB. */
#define ENTRIES_MAX ((size_t)1 << 21)
#define STREAMS_MAX 4096
/* No entry is shorter. */
#define ENTRY_MIN 3u
#define GROUP_MIN 18u

/* A stream's entries while they are gathered, the last stream first. */
struct gather {
	struct native_entry *entries;
	size_t count, room;
	struct native_group *groups;
	size_t ngroups, group_room;
	uint64_t false_at;
	uint64_t end;  /* of the streams that are not read yet */
	uint64_t logs; /* in those that are */
	uint64_t last; /* where the last END record is */
};

/* The contents of an END record. */
struct ending {
	uint64_t begin;       /* start of the stream */
	uint64_t at;          /* where the record is that has the index, */
	size_t size;          /* and its bytes */
	int directory;        /* it is a directory */
	uint64_t hash;        /* of the records, */
	uint64_t groups_hash; /* and of groups */
};

/* Finds the index by an END record.  1, or 0 if the stream has none. */
static int
find_index(const struct gather *g, const struct native_record *rec,
    struct ending *e)
{
	const size_t end = native_size(rec);
	const uint64_t length = tel_le64(rec->head);
	uint64_t n = tel_le64(rec->head + 8);

	e->directory =
	    rec->head_size >= END_HEAD && tel_le64(rec->head + 32) > 0;
	if (rec->head_size >= END_HEAD) {
		e->hash = tel_le64(rec->head + 24);
		e->groups_hash = tel_le64(rec->head + 40);
	}
	if (e->directory)
		n = tel_le64(rec->head + 32);
	if (length > g->end || length < end || n > length - end || n == 0 ||
	    n > NATIVE_HEADER + NATIVE_HEAD_MAX + NATIVE_BODY_MAX)
		return 0;
	e->begin = g->end - length;
	e->at = g->end - end - n;
	e->size = (size_t)n;
	return 1;
}

/* Reads the record that ends a stream before g->end.  1, or 0. */
static int
read_end(struct tel_input *in, struct gather *g, struct ending *e)
{
	static const size_t sizes[] = { END_SIZE,
		NATIVE_HEADER + END_HEAD_1_1_0, NATIVE_HEADER + END_HEAD_1_0 };
	unsigned char bytes[END_SIZE];
	struct native_record rec;

	memset(e, 0, sizeof(*e));
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		size_t end = sizes[i];

		if (g->end < end ||
		    !tel__input_copy(in, g->end - end, bytes, end) ||
		    tel__native_look(bytes, end, &rec) != 1 ||
		    rec.kind != NATIVE_END || native_size(&rec) != end)
			continue;
		if (g->count == 0)
			g->last = g->end - end;
		return find_index(g, &rec, e);
	}
	return 0;
}

static struct native_entry *
new_entry(struct gather *g)
{
	if (!TEL__RESERVE(g->entries, g->room, g->count + 1))
		return NULL;
	memset(&g->entries[g->count], 0, sizeof(*g->entries));
	return &g->entries[g->count++];
}

/*
 * Starts a stream: *n is set to how many entries of at least so many bytes
 * follow in rec, which is whole.  TEL_OK, TEL_EFORMAT, TEL_ENOMEM.
 */
static tel_status
start_stream(struct gather *g, const struct native_record *rec,
    const struct ending *end, size_t least, uint64_t *n)
{
	struct native_bytes head = { rec->head, rec->head + rec->head_size, 0,
		0 };

	*n = native_varint(&head);
	uint64_t logs = native_varint(&head);
	/* with one for the stream */
	if (head.bad || *n > rec->body_size / least ||
	    g->count >= ENTRIES_MAX || *n >= ENTRIES_MAX - g->count)
		return TEL_EFORMAT;
	g->logs += logs <= NATIVE_LOGS_MAX ? logs : NATIVE_LOGS_MAX;
	struct native_entry *e = new_entry(g);
	if (e == NULL)
		return TEL_ENOMEM;
	e->kind = NATIVE_START;
	e->offset = end->begin;
	return TEL_OK;
}

/*
 * Takes the entries of a stream from its index record, which is whole.
 * TEL_OK, TEL_EFORMAT, TEL_ENOMEM.
 */
static tel_status
take_entries(struct gather *g, const struct native_record *rec,
    const struct ending *end)
{
	struct native_bytes b = { native_body(rec),
		native_body(rec) + rec->body_size, 0, 0 };
	uint64_t n, at = end->begin, clock = 0, gap, size;
	uint64_t ordinal = 0, sequence = 0;
	struct native_entry *e;
	const tel_status st = start_stream(g, rec, end, ENTRY_MIN, &n);

	if (st != TEL_OK)
		return st;
	for (; n > 0; n--) {
		e = new_entry(g);
		if (e == NULL)
			return TEL_ENOMEM;
		e->kind = (uint8_t)native_number(&b, UINT8_MAX);
		gap = native_varint(&b);
		size = native_varint(&b);
		if (b.bad || gap > end->at - at || size > end->at - at - gap ||
		    size > NATIVE_HEADER + NATIVE_HEAD_MAX + NATIVE_BODY_MAX)
			return TEL_EFORMAT;
		e->offset = at + gap;
		e->size = (uint32_t)size;
		at = e->offset + size;
		e->ordinal = ordinal;
		e->sequence = sequence;
		if (e->kind == NATIVE_LOG)
			continue;
		if (e->kind != NATIVE_BLOCK && e->kind != NATIVE_NAMES) {
			g->count--;
			continue;
		}
		e->count = native_number(&b, NATIVE_EVENTS_MAX);
		clock += tel__unzigzag(native_varint(&b));
		e->first = clock;
		if (__builtin_add_overflow(clock, native_varint(&b), &e->last))
			return TEL_EFORMAT;
		if (e->kind == NATIVE_BLOCK) {
			e->blocks = 1;
			ordinal += e->count;
			sequence++;
		} else {
			e->from = native_varint(&b);
		}
	}
	return b.bad || native_left(&b) > 0 ? TEL_EFORMAT : TEL_OK;
}

/* Takes a group of the directory.  0: it is invalid. */
static int
take_group(struct native_bytes *b, uint64_t *clock, struct native_group *g)
{
	const uint32_t most = NATIVE_HEADER + NATIVE_HEAD_MAX + NATIVE_BODY_MAX;

	memset(g, 0, sizeof(*g));
	g->flags = native_varint(b);
	g->bytes = native_varint(b);
	g->summary_size = native_number(b, most);
	g->names_size = native_number(b, most);
	g->all_size = native_number(b, most);
	if (g->all_size > 0)
		g->all_from = native_varint(b);
	g->blocks = native_number(b, NATIVE_GROUP);
	g->events = native_varint(b);
	*clock += tel__unzigzag(native_varint(b));
	g->first = *clock;
	g->last = g->first + native_varint(b);
	g->lost = native_varint(b);
	const unsigned char *hash = native_take(b, 8);
	if (hash != NULL)
		g->hash = tel_le64(hash);
	return !b->bad && g->last >= g->first &&
	    g->events <= (uint64_t)g->blocks * NATIVE_EVENTS_MAX &&
	    g->bytes >= (uint64_t)g->names_size + g->all_size;
}

static struct native_entry *
new_group(struct gather *g)
{
	struct native_entry *e = new_entry(g);

	if (e == NULL || g->ngroups == UINT32_MAX ||
	    !TEL__RESERVE(g->groups, g->group_room, g->ngroups + 1))
		return NULL;
	e->kind = NATIVE_SUMMARY;
	e->size = (uint32_t)g->ngroups++;
	return e;
}

/*
 * Takes the groups of a stream from its directory, which is whole.
 * TEL_OK, TEL_EFORMAT, TEL_ENOMEM.
 */
static tel_status
take_groups(struct gather *g, const struct native_record *rec,
    const struct ending *end)
{
	struct native_bytes b = { native_body(rec),
		native_body(rec) + rec->body_size, 0, 0 };
	uint64_t n, at = end->begin, clock = 0, hash = 0, ordinal = 0,
	            place = 0;
	const tel_status st = start_stream(g, rec, end, GROUP_MIN, &n);

	if (st != TEL_OK || n == 0)
		return st != TEL_OK ? st : TEL_EFORMAT;
	for (; n > 0; n--) {
		struct native_entry *e = new_group(g);

		if (e == NULL)
			return TEL_ENOMEM;
		struct native_group *of = &g->groups[e->size];
		if (!take_group(&b, &clock, of) || of->bytes > end->at - at ||
		    of->summary_size > end->at - at - of->bytes)
			return TEL_EFORMAT;
		e->offset = at;
		e->ordinal = ordinal;
		e->sequence = place;
		e->count = of->events;
		e->blocks = of->blocks;
		e->first = of->first;
		e->last = of->last;
		e->lost = of->lost;
		e->named = !(of->flags & ~(uint64_t)NATIVE_GROUP_LOGS);
		at += of->bytes + of->summary_size;
		ordinal += of->events;
		place += of->blocks;
		hash = tel__native_group_chain(hash, of);
	}
	/* the last group's hash, and this record's, make that of the stream */
	if (b.bad || at != end->at)
		return TEL_EFORMAT;
	if (hash != end->groups_hash ||
	    tel__native_chain(g->groups[g->ngroups - 1].hash, rec) != end->hash)
		g->false_at = end->at;
	return TEL_OK;
}

/*
 * Reads the index of the last stream before g->end, which moves to where that
 * begins.  TEL_OK, TEL_EFORMAT, TEL_ENOMEM.
 */
static tel_status
read_stream(struct tel_input *in, struct gather *g)
{
	const size_t had = g->count;
	struct native_record rec;
	struct native_entry keep;
	struct ending end;
	tel_status st = TEL_EFORMAT;
	size_t i, n;

	if (!read_end(in, g, &end))
		return TEL_EFORMAT;
	unsigned char *bytes = malloc(end.size);
	if (bytes == NULL)
		return TEL_ENOMEM;
	if (tel__input_copy(in, end.at, bytes, end.size) &&
	    tel__native_look(bytes, end.size, &rec) == 1 &&
	    rec.kind == (end.directory ? NATIVE_DIRECTORY : NATIVE_INDEX) &&
	    native_size(&rec) == end.size && tel__native_whole(&rec))
		st = end.directory ? take_groups(g, &rec, &end) :
		                     take_entries(g, &rec, &end);
	free(bytes);
	if (st != TEL_OK)
		return st;
	g->end = end.begin;
	/* backwards for now, as the streams come that way */
	for (i = had, n = g->count - 1; i < n; i++, n--) {
		keep = g->entries[i];
		g->entries[i] = g->entries[n];
		g->entries[n] = keep;
	}
	return TEL_OK;
}

/* Marks the blocks that names records behind them are about. */
static void
mark_named(struct native_index *x)
{
	uint64_t from = UINT64_MAX;

	for (size_t i = x->count; i-- > 0;) {
		struct native_entry *e = &x->entries[i];

		if (e->kind == NATIVE_START)
			from = UINT64_MAX;
		else if (e->kind == NATIVE_NAMES)
			from = e->from;
		else if (e->kind == NATIVE_BLOCK)
			e->named = e->sequence >= from;
	}
}

/* Facts on all entries. */
static void
sum_up(struct native_index *x)
{
	uint64_t blocks = 0;

	x->sorted = UINT64_MAX;
	x->first = UINT64_MAX;
	x->least = x->count;
	for (size_t i = 0; i < x->count; i++) {
		struct native_entry *e = &x->entries[i];

		e->before = x->events;
		e->earlier = blocks;
		if (e->kind == NATIVE_START && i > 0) {
			x->sole = 0;
			x->sorted = 0;
		}
		blocks += e->blocks;
		if (e->blocks == 0 || e->count == 0)
			continue;
		x->events += e->count;
		if (e->first < x->first || x->least == x->count) {
			x->first = e->first;
			x->least = i;
		}
		if (e->last > x->last)
			x->last = e->last;
		else if (e->last < x->last && e->last < x->sorted)
			x->sorted = e->last;
	}
	if (x->events == 0)
		x->first = x->last = 0;
}

static struct native_index *
native_index_arrange(struct gather *g)
{
	struct native_index *x = calloc(1, sizeof(*x));

	if (x == NULL)
		return NULL;
	x->entries = malloc(g->count * sizeof(*x->entries));
	if (x->entries == NULL) {
		free(x);
		return NULL;
	}
	x->groups = g->groups;
	g->groups = NULL;
	x->false_at = g->false_at;
	x->count = g->count;
	x->end = g->last;
	x->single = g->logs <= 1;
	x->sole = x->single;
	for (size_t i = 0; i < g->count; i++)
		x->entries[i] = g->entries[g->count - 1 - i];
	mark_named(x);
	sum_up(x);
	return x;
}

tel_status
tel__native_index_read(struct tel_input *in, struct native_index **out)
{
	const int64_t end = tel__input_seek(in, 0, SEEK_END);
	struct gather g = { .end = end > 0 ? (uint64_t)end : 0,
		.false_at = UINT64_MAX };
	tel_status st = end > 0 ? TEL_OK : TEL_EFORMAT;

	*out = NULL;
	for (int streams = 0; st == TEL_OK && g.end > 0; streams++)
		st = streams < STREAMS_MAX ? read_stream(in, &g) : TEL_EFORMAT;
	if (st == TEL_OK) {
		*out = native_index_arrange(&g);
		if (*out == NULL)
			st = TEL_ENOMEM;
	}
	free(g.entries);
	free(g.groups);
	return st == TEL_ENOMEM ? st : TEL_OK;
}

void
tel__native_index_free(struct native_index *x)
{
	if (x == NULL)
		return;
	free(x->entries);
	free(x->groups);
	free(x);
}

/* A record's header, and a head that is not unusually long. */
#define HEAD_USUAL ((size_t)64)
/* Up to so many bytes it does not matter what a check costs. */
#define CHECK_ALWAYS ((uint64_t)1 << 20)

/* Reads the start of a record: 1 when it is one of the entry's kind. */
static int
native_index_look_at(const struct tel_input *in, const struct native_entry *e,
    unsigned char *bytes, struct native_record *rec)
{
	size_t most = NATIVE_HEADER + NATIVE_HEAD_MAX, size;
	int look;

	/* a start record has no entry of its own, but is not shorter */
	if (e->kind == NATIVE_START)
		most = NATIVE_HEADER + NATIVE_MEDIAN_AT + 1;
	else if (e->size < most)
		most = e->size;
	if (most < NATIVE_HEADER)
		return 0;
	size = most < HEAD_USUAL ? most : HEAD_USUAL;
	do {
		if (!tel__input_read_at(in, e->offset, bytes, size))
			return 0;
		look = tel__native_look(bytes, size, rec);
		if (look >= 0 || size == most)
			break;
		size = most;
	} while (1);
	return look == 1 && rec->kind == e->kind;
}

/* Whether a record matches its entry. */
static int
is_true(const struct native_entry *e, const struct native_record *rec,
    unsigned median)
{
	struct native_head head;

	if (native_size(rec) != e->size ||
	    !tel__native_head(rec, median, &head))
		return 0;
	if (head.count != e->count || head.first != e->first ||
	    head.last != e->last)
		return 0;
	return e->kind == NATIVE_NAMES ?
	    head.lost == e->from :
	    head.sequence == e->sequence && head.ordinal == e->ordinal;
}

size_t
tel__native_index_check(const struct tel_input *in,
    const struct native_index *x)
{
	unsigned char bytes[NATIVE_HEADER + NATIVE_HEAD_MAX];
	struct native_record rec;
	unsigned median = NATIVE_MEDIAN;
	size_t i;

	for (i = 0; i < x->count && x->false_at != UINT64_MAX; i++)
		if (x->entries[i].offset >= x->false_at)
			break;
	if (x->false_at != UINT64_MAX)
		return i > 0 ? i - 1 : 0;
	if (x->count == 0 || !tel__input_read_at(in, 0, bytes, 1))
		return x->count;
	/* of a large file of tiny blocks the heads are most of it */
	if (x->end > CHECK_ALWAYS && x->count > x->end / 4 / HEAD_USUAL)
		return x->count;
	for (i = 0; i < x->count; i++) {
		const struct native_entry *e = &x->entries[i];

		if (e->kind != NATIVE_START && e->kind != NATIVE_BLOCK &&
		    e->kind != NATIVE_NAMES)
			continue;
		if (!native_index_look_at(in, e, bytes, &rec))
			return i;
		if (e->kind == NATIVE_START)
			median = native_body(&rec)[NATIVE_MEDIAN_AT];
		else if (!is_true(e, &rec, median))
			return i;
	}
	return x->count;
}
