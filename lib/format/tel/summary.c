/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading the summary of a group of blocks: their heads, and what values their
 * events have.
 */
#include <stdlib.h>

#include "base/array.h"
#include "format/tel/index.h"
#include "reader/reader.h"

uint64_t
tel__native_group_chain(uint64_t hash, const struct native_group *g)
{
	const uint64_t values[] = { hash, g->bytes, g->summary_size,
		g->names_size, g->all_size, g->all_from, g->blocks, g->events,
		g->first, g->last, g->lost, g->flags, g->hash };
	unsigned char bytes[sizeof(values)];

	for (unsigned i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		tel_store_le64(bytes + 8 * (size_t)i, values[i]);
	return tel__native_xxh64(bytes, sizeof(bytes));
}

void
tel__native_summary_clear(struct native_summary *s)
{
	free(s->entries);
	free(s->bytes);
	memset(s, 0, sizeof(*s));
}

/* What the records that a summary repeats come to. */
struct sum {
	const struct native_entry *group;
	uint64_t hash;
	uint64_t bytes, events, first, last, lost;
	uint32_t blocks;
};

/* Takes a block.  0: it is not where it should be. */
static int
summary_take_block(struct sum *sum, const struct native_record *rec,
    struct native_entry *e)
{
	struct native_head head;

	if (!tel__native_head(rec, NATIVE_MEDIAN, &head) ||
	    head.sequence != sum->group->sequence + sum->blocks ||
	    head.ordinal != sum->group->ordinal + sum->events)
		return 0;
	e->first = head.first;
	e->last = head.last;
	e->count = head.count;
	e->lost = head.lost;
	e->source = head.source;
	e->blocks = 1;
	if (head.count > 0) {
		if (sum->events == 0 || head.first < sum->first)
			sum->first = head.first;
		if (sum->events == 0 || head.last > sum->last)
			sum->last = head.last;
	}
	sum->blocks++;
	sum->events += head.count;
	sum->lost += head.lost;
	return 1;
}

/* Takes the header and the head of a record.  TEL_OK, _EFORMAT, _ENOMEM. */
static tel_status
summary_take_record(struct native_summary *s, struct native_bytes *b,
    struct sum *sum)
{
	unsigned char p[NATIVE_HEADER + NATIVE_HEAD_MAX];
	const unsigned char *header = native_take(b, NATIVE_COPIED), *head;
	struct native_record rec;

	head = header != NULL ? native_take(b, header[1]) : NULL;
	if (head == NULL)
		return TEL_EFORMAT;
	memcpy(p, NATIVE_MARKER, 4);
	memcpy(p + 4, header, NATIVE_COPIED);
	memcpy(p + NATIVE_HEADER, head, header[1]);
	tel__native_recall(p, &rec);
	sum->hash = tel__native_chain(sum->hash, &rec);
	if (!TEL__RESERVE_ZEROED(s->entries, s->room, s->count + 1))
		return TEL_ENOMEM;
	struct native_entry *e = &s->entries[s->count];
	memset(e, 0, sizeof(*e));
	e->kind = rec.kind;
	e->offset = sum->group->offset + sum->bytes;
	e->size = (uint32_t)native_size(&rec);
	e->ordinal = sum->group->ordinal + sum->events;
	e->sequence = sum->group->sequence + sum->blocks;
	e->before = sum->group->before + sum->events;
	e->earlier = sum->group->earlier + sum->blocks;
	e->named = sum->group->named;
	sum->bytes += native_size(&rec);
	if (rec.kind == NATIVE_BLOCK && !summary_take_block(sum, &rec, e))
		return TEL_EFORMAT;
	s->count += rec.kind == NATIVE_BLOCK || rec.kind == NATIVE_LOG;
	return TEL_OK;
}

/* Takes all records of the group.  TEL_OK, TEL_EFORMAT, TEL_ENOMEM. */
static tel_status
take_records(const struct native_index *x, size_t i, struct native_summary *s,
    const struct native_record *rec)
{
	const struct native_entry *e = &x->entries[i];
	const struct native_group *g = &x->groups[e->size];
	struct sum sum = { .group = e };
	uint64_t n = native_varint(&s->rest);
	tel_status st = TEL_OK;

	if (i > 0 && x->entries[i - 1].kind == NATIVE_SUMMARY)
		sum.hash = x->groups[x->entries[i - 1].size].hash;
	s->count = 0;
	for (; n > 0 && st == TEL_OK; n--)
		st = summary_take_record(s, &s->rest, &sum);
	if (st != TEL_OK)
		return st;
	sum.hash = tel__native_chain(sum.hash, rec);
	return !s->rest.bad && sum.hash == g->hash && sum.bytes == g->bytes &&
	        sum.blocks == g->blocks && sum.events == g->events &&
	        sum.first == g->first && sum.last == g->last &&
	        sum.lost == g->lost ?
	    TEL_OK :
	    TEL_EFORMAT;
}

tel_status
tel__native_summary_read(struct tel_input *in, const struct native_index *x,
    size_t i, struct native_summary *s)
{
	const struct native_entry *e = &x->entries[i];
	const struct native_group *g = &x->groups[e->size];
	const size_t size = g->summary_size;
	struct native_record rec;
	struct native_bytes head = { 0 };

	if (!TEL__RESERVE(s->bytes, s->byte_room, size + NATIVE_BEHIND))
		return TEL_ENOMEM;
	if (!tel__input_copy(in, e->offset + g->bytes, s->bytes, size) ||
	    tel__native_look(s->bytes, size, &rec) != 1 ||
	    rec.kind != NATIVE_SUMMARY || native_size(&rec) != size ||
	    !tel__native_whole(&rec))
		return TEL_EFORMAT;
	memset(s->bytes + size, 0, NATIVE_BEHIND);
	head.p = rec.head;
	head.end = rec.head + rec.head_size;
	memset(&s->rest, 0, sizeof(s->rest));
	s->rest.p = native_body(&rec);
	s->rest.end = s->rest.p + rec.body_size;
	if (native_varint(&head) != e->sequence ||
	    native_varint(&head) != e->blocks ||
	    native_varint(&head) != e->ordinal ||
	    native_varint(&head) != e->count)
		return TEL_EFORMAT;
	(void)native_varint(&head); /* the stream, which the hash knows */
	s->incomplete = native_varint(&head) != 0;
	return head.bad ? TEL_EFORMAT : take_records(x, i, s, &rec);
}

/* ------------------------------------------------------------- choosing */

/* The events of a type in the blocks of a group. */
struct stat {
	const struct native_schema *schema; /* NULL: not known here */
	uint32_t type;                      /* or the code of an unknown one */
	int unknown;
	unsigned ncells;
	uint64_t counts[NATIVE_GROUP + 4];
};

/* The state of choosing blocks. */
struct choice {
	const struct native_summary *summary;
	struct native_sole sole;
	unsigned nblocks;
	const struct native_schema *schemas[NATIVE_SUMMARY_SCHEMAS];
	struct native_bytes b;
	struct stat stat;
	uint64_t counts[NATIVE_GROUP]; /* of all types */
	struct tel_bound cells[NATIVE_GROUP * 256];
	struct tel_bound fields[256];
};

static int
read_schemas(struct choice *c, tel__native_find_fn *find, void *arg)
{
	const uint32_t n = native_number(&c->b, NATIVE_SUMMARY_SCHEMAS);

	for (uint32_t i = 0; i < n && !c->b.bad; i++) {
		uint32_t size = native_number(&c->b, 47);
		const unsigned char *name = native_take(&c->b, size);
		const unsigned char *digest = native_take(&c->b, 4);

		if (digest != NULL)
			c->schemas[i] = find(arg, name, size,
			    tel_le32(digest) | (uint64_t)1 << 32);
		/* its events may set the clock */
		if (c->schemas[i] == NULL)
			c->sole.clock = NULL;
	}
	return !c->b.bad;
}

/* The ranges of one cell: those of blocks that have events of the type. */
static int
read_cell(struct choice *c, unsigned blocks, unsigned cell)
{
	uint64_t low[NATIVE_GROUP + 4], span[NATIVE_GROUP + 4];
	struct tel_bound *to = &c->cells[(size_t)cell * NATIVE_GROUP];
	unsigned i, n = 0;

	if (!tel__native_column(&c->b, blocks, 0, low) ||
	    !tel__native_column(&c->b, blocks, 0, span))
		return 0;
	for (i = 0; i < c->nblocks; i++) {
		if (c->stat.counts[i] == 0)
			continue;
		to[i].low = low[n];
		to[i].high = low[n] + span[n];
		to[i].known = to[i].high >= to[i].low;
		n++;
	}
	return 1;
}

static int
read_stat(struct choice *c)
{
	struct stat *s = &c->stat;
	const uint32_t schema =
	    native_number(&c->b, NATIVE_SUMMARY_SCHEMAS - 1);
	const uint64_t type = native_varint(&c->b);
	unsigned i, blocks = 0;

	s->schema = c->schemas[schema];
	s->unknown = (int)(type & 1);
	s->type = (uint32_t)(type >> 1);
	if (type >> 33 != 0 ||
	    !tel__native_column(&c->b, c->nblocks, 0, s->counts))
		return 0;
	for (i = 0; i < c->nblocks; i++) {
		blocks += s->counts[i] > 0;
		c->counts[i] += s->counts[i];
	}
	s->ncells = native_number(&c->b, 512);
	if (s->ncells > 256 || (s->ncells > 0 && blocks == 0))
		return 0;
	for (i = 0; i < s->ncells; i++)
		if (!read_cell(c, blocks, i))
			return 0;
	return !c->b.bad;
}

/* Makes bounds of a cell those of a field whose sign is extended. */
static void
summary_extend(struct tel_bound *b, unsigned width)
{
	const uint64_t sign = (uint64_t)1 << (8 * width - 1);

	/* numbers of both signs have no bounds as unsigned ones */
	if ((b->low & sign) != (b->high & sign))
		b->known = 0;
	b->low = (b->low ^ sign) - sign;
	b->high = (b->high ^ sign) - sign;
}

static int
is_extended(enum tel_load load)
{
	return load == TEL_LOAD_LE16S || load == TEL_LOAD_LE32S ||
	    load == TEL_LOAD_BE16S || load == TEL_LOAD_BE32S;
}

/* The bounds of a field of which the cells are known. */
static struct tel_bound
bound_of(const struct choice *c, const struct native_plan *plan,
    const struct tel_field *f, unsigned block)
{
	struct tel_bound bound = { 0, 0, 0 };

	/* an absent value is 0 in a cell, and a cell has the bits of a float */
	if (f->datatype == TEL_STRING || f->datatype == TEL_LIST ||
	    f->load == TEL_LOAD_LEF32 || f->present != 0)
		return bound;
	for (unsigned k = 0; k < plan->ncells; k++) {
		const struct native_cell *cell = &plan->cells[k];

		if (cell->offset != f->offset || cell->place)
			continue;
		bound = c->cells[(size_t)k * NATIVE_GROUP + block];
		if (is_extended(f->load))
			summary_extend(&bound, cell->width);
		if (f->load != TEL_LOAD_BIT)
			break;
		/* a bit is known where all of its byte is */
		bound.known &= bound.low == bound.high;
		bound.low = bound.high = bound.low >> f->bit & 1;
		break;
	}
	return bound;
}

/* Whether events of the type that was read last may be wanted in a block. */
static int
may(struct choice *c, const struct tel_predicate_pushdown *chooser,
    unsigned block)
{
	const struct native_entry *e = &c->summary->entries[0];
	struct tel_bounds bounds = { .fields = c->fields };
	const struct stat *s = &c->stat;
	const struct tel_type *t = NULL;
	unsigned i, n = 0;

	for (; e->kind != NATIVE_BLOCK || n++ < block; e++)
		continue;
	bounds.first = e->first;
	bounds.last = e->last;
	/* an event at tick 0 may be one without a time */
	if (e->first > 0)
		bounds.clock = c->sole.clock;
	bounds.index.low = c->sole.base + e->ordinal;
	bounds.index.high = bounds.index.low + e->count - 1;
	bounds.index.known =
	    c->sole.counted && bounds.index.low <= bounds.index.high;
	/*
	 * A source adds fields to the type, of which the summary has no cells.
	 * No known writer makes both, so such a block is always read.
	 */
	if (s->schema == NULL || e->source != 0)
		return 1;
	if (!s->unknown && s->type >= s->schema->schema->ntypes)
		return 1;
	if (!s->unknown) {
		t = &s->schema->schema->types[s->type];
		for (i = 0; i < t->nfields; i++)
			c->fields[i] =
			    s->ncells == s->schema->plans[s->type].ncells ?
			    bound_of(c, &s->schema->plans[s->type],
			        &t->fields[i], block) :
			    (struct tel_bound){ 0, 0, 0 };
	}
	return chooser->may(chooser->arg, s->schema->schema, t, &bounds);
}

static int
summary_choose(struct choice *c, const struct tel_predicate_pushdown *chooser,
    uint8_t *wanted)
{
	const uint32_t n = native_number(&c->b, NATIVE_SUMMARY_TYPES);
	const struct native_entry *e = c->summary->entries;

	memset(wanted, 0, c->nblocks);
	for (uint32_t i = 0; i < n; i++) {
		if (!read_stat(c))
			return 0;
		for (unsigned k = 0; k < c->nblocks; k++)
			if (c->stat.counts[k] > 0 && !wanted[k])
				wanted[k] = (uint8_t)may(c, chooser, k);
	}
	/* the counts must add up to all events of each block */
	for (unsigned k = 0; k < c->nblocks; e++)
		if (e->kind == NATIVE_BLOCK && c->counts[k++] != e->count)
			return 0;
	return !c->b.bad;
}

void
tel__native_summary_choose(const struct native_summary *s, unsigned nblocks,
    const struct tel_predicate_pushdown *chooser,
    const struct native_sole *sole, tel__native_find_fn *find, void *arg,
    uint8_t *wanted)
{
	struct choice *c = calloc(1, sizeof(*c));

	if (c != NULL && !s->incomplete) {
		c->summary = s;
		c->sole = *sole;
		c->nblocks = nblocks;
		c->b = s->rest;
		if (read_schemas(c, find, arg) &&
		    summary_choose(c, chooser, wanted)) {
			free(c);
			return;
		}
	}
	/* without memory, too, all blocks are read */
	free(c);
	memset(wanted, 1, nblocks);
}
