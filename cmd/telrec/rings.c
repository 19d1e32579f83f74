/* SPDX-License-Identifier: BSD-2-Clause */
/* Decoding the records of rings; arena.h describes them. */
#include "telrec/rings.h"

#include <string.h>
#include <unistd.h>

/*
 * The fields after the own ones of a record that allocates so many bytes.  The
 * weight is not in the record.
 */
static uint32_t
take_more(struct columns *to, const struct part *part, unsigned own,
    uint64_t bytes, const uint64_t *words, uint32_t at)
{
	const uint32_t mask = ARENA_RING_WORDS - 1;

	if (to->weights.mean > 0)
		part->columns[own++][part->count] =
		    weights_of(&to->weights, bytes);
	while (own < part->fields)
		part->columns[own++][part->count] = words[at++ & mask];
	return at;
}

/*
 * A record other than those of malloc and free, whose first word is before at;
 * where the next one is.  The word is read once, as a program may change it.
 */
static uint32_t
take_other(struct columns *to, uint64_t word, const uint64_t *words,
    uint32_t at)
{
	static const uint8_t types[16] = { [ARENA_VALLOC] = TYPE_VALLOC,
		[ARENA_PVALLOC] = TYPE_PVALLOC,
		[ARENA_CALLOC] = TYPE_CALLOC,
		[ARENA_CALLOC_ONE] = TYPE_CALLOC,
		[ARENA_REALLOC] = TYPE_REALLOC,
		[ARENA_REALLOCARRAY] = TYPE_REALLOCARRAY,
		[ARENA_MEMALIGN] = TYPE_MEMALIGN,
		[ARENA_POSIX_MEMALIGN] = TYPE_POSIX_MEMALIGN,
		[ARENA_ALIGNED_ALLOC] = TYPE_ALIGNED_ALLOC };
	const uint32_t mask = ARENA_RING_WORDS - 1;
	const enum arena_op op = word & 15;
	const unsigned twelve = word >> 4 & 0xFFF;
	struct part *part = columns_add(to, types[op]);
	const unsigned n = part->count;
	uint64_t **fields = part->columns, second, bytes;
	unsigned own = 3, i;

	fields[0][n] = word >> 16;
	switch (op) {
	case ARENA_VALLOC:
	case ARENA_PVALLOC:
		fields[1][n] = (uint64_t)sysconf(_SC_PAGESIZE);
		fields[2][n] =
		    twelve != ARENA_SIZE_LONG ? twelve : words[at++ & mask];
		break;
	case ARENA_REALLOCARRAY:
		own = 4;
		for (i = 1; i < own; i++)
			fields[i][n] = words[at++ & mask];
		break;
	case ARENA_REALLOC:
		fields[1][n] = words[at++ & mask];
		fields[2][n] =
		    twelve != ARENA_SIZE_LONG ? twelve : words[at++ & mask];
		break;
	case ARENA_CALLOC_ONE:
		fields[1][n] = 1;
		fields[2][n] = twelve;
		break;
	default:
		second = words[at++ & mask];
		fields[1][n] = twelve ? second & 0xFFFFFFFF : second;
		fields[2][n] = twelve ? second >> 32 : words[at++ & mask];
	}
	bytes = fields[own - 1][n];
	if (op == ARENA_CALLOC)
		bytes *= fields[1][n];
	else if (op == ARENA_REALLOCARRAY)
		bytes *= fields[2][n];
	at = take_more(to, part, own, bytes, words, at);
	part->count++;
	return at;
}

/* A module, whose words are at and on, and n words of text behind them. */
static void
telrec_rings_take_module(struct telrec_symbols *symbols, const struct cursor *c,
    const uint64_t *words, uint32_t at, uint32_t n)
{
	const uint32_t mask = ARENA_RING_WORDS - 1;
	const uint64_t start = words[at & mask], bias = words[(at + 1) & mask];
	char text[ARENA_TEXT_WORDS * 8 + 1], *path;

	if (symbols == NULL || n > ARENA_TEXT_WORDS)
		return;
	for (uint32_t i = 0; i < n; i++)
		memcpy(text + 8 * i, &words[(at + 3 + i) & mask], 8);
	text[8 * n] = '\0';
	path = strchr(text, ' ');
	if (path == NULL)
		return;
	*path++ = '\0';
	/* without memory, its frames have no names */
	(void)telrec_symbols_module(symbols, c->source.pid, c->clock, start,
	    bias, path, text);
}

/* A record that is not of an allocator; where the next one is. */
static uint32_t
take_extra(struct columns *to, struct cursor *c, uint64_t word,
    const uint64_t *words, uint32_t at, struct telrec_symbols *symbols)
{
	static const uint8_t types[] = { [ARENA_MMAP] = TYPE_MMAP,
		[ARENA_MUNMAP] = TYPE_MUNMAP,
		[ARENA_MREMAP] = TYPE_MREMAP,
		[ARENA_BRK] = TYPE_BRK,
		[ARENA_TRACE] = TYPE_TRACE,
		[ARENA_THREAD_END] = TYPE_THREAD_END };
	const uint32_t mask = ARENA_RING_WORDS - 1;
	const enum arena_more more = word >> 4 & 0xFFF;

	if (more == ARENA_NAME) {
		memcpy(c->source.name, &words[at++ & mask], 8);
		memcpy(c->source.name + 8, &words[at++ & mask], 8);
		c->source.name[15] = '\0';
		columns_rename(to, &c->source);
		return at;
	}
	if (more == ARENA_MODULE) {
		telrec_rings_take_module(symbols, c, words, at,
		    (uint32_t)(word >> 16));
		return at + 3 + (uint32_t)(word >> 16);
	}
	if (more > ARENA_THREAD_END)
		return at;
	struct part *part = columns_add(to, types[more]);
	if (more == ARENA_TRACE) {
		if (part->labels != NULL && symbols != NULL)
			part->labels[part->count] = telrec_symbols_name(symbols,
			    c->source.pid, c->clock, words[(at + 1) & mask]);
		part->columns[0][part->count] = words[at & mask] & 0xFFFFFFFF;
		part->columns[2][part->count] = words[at++ & mask] >> 32;
		part->columns[1][part->count] = words[at++ & mask];
	} else {
		for (unsigned i = 0; i < part->fields; i++)
			part->columns[i][part->count] = words[at++ & mask];
	}
	part->count++;
	return at;
}

static inline uint32_t
telrec_rings_least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

#define LIKELY(x) __builtin_expect(!!(x), 1)

/*
 * A record of calloc or realloc at p, if there are some in the block; where the
 * next one is.
 */
static __attribute__((noinline)) const uint64_t *
take_three(struct part *parts, const uint64_t *p, uint8_t *order)
{
	static const uint8_t types[16] = { [ARENA_CALLOC] = TYPE_CALLOC,
		[ARENA_CALLOC_ONE] = TYPE_CALLOC,
		[ARENA_REALLOC] = TYPE_REALLOC };
	const uint64_t word = ARENA_NOW(p[0]), op = word & 15;
	struct part *part = &parts[types[op]];
	const unsigned n = part->count, twelve = word >> 4 & 0xFFF;
	uint64_t *const *fields = part->columns;

	if (types[op] == 0 || n == 0)
		return p;
	*order = (uint8_t)part->place;
	part->count++;
	fields[0][n] = word >> 16;
	if (op == ARENA_CALLOC_ONE) {
		fields[1][n] = 1;
		fields[2][n] = twelve;
		return p + 1;
	}
	uint64_t second = ARENA_NOW(p[1]);
	fields[1][n] = second;
	if (op == ARENA_REALLOC) {
		fields[2][n] = twelve != ARENA_SIZE_LONG ? twelve : p[2];
		return p + 2 + (twelve == ARENA_SIZE_LONG);
	}
	if (twelve == 0) {
		fields[2][n] = p[2];
		return p + 3;
	}
	fields[1][n] = (uint32_t)second;
	fields[2][n] = second >> 32;
	return p + 2;
}

/*
 * Takes the calls of malloc and free from p on, as many as there is room for, up
 * to a record whose bits in mask are not op.  How many they are.
 *
 * Which of the two a record is cannot be predicted: it is stored as both, and
 * counted as one.  So the number of frees follows from that of allocations.
 */
static inline __attribute__((always_inline)) size_t
take_two(struct part *parts, const uint64_t *p, size_t room, uint8_t *order,
    uint64_t mask, uint64_t op)
{
	struct part *allocs = &parts[TYPE_MALLOC], *frees = &parts[TYPE_FREE];
	/* the columns of a set follow each other: so one register is enough */
	uint64_t *const addresses = allocs->columns[0],
	                *const sizes = addresses + COLUMNS_EVENTS,
	                *const freed = sizes + COLUMNS_EVENTS;
	const size_t before = allocs->count + frees->count;
	uint64_t *const after = freed + before;
	const uint8_t places[2] = { (uint8_t)frees->place,
		(uint8_t)allocs->place };
	size_t i, n = allocs->count, is_alloc;

	for (i = 0; i < room; i++) {
		uint64_t word = ARENA_NOW(p[i]);

		if (!LIKELY((word & mask) == op))
			break;
		is_alloc = ~word & 1;
		after[(ptrdiff_t)(i - n)] = addresses[n] = word >> 16;
		sizes[n] = (uint16_t)word >> 4;
		order[i] = places[is_alloc];
		n += is_alloc;
	}
	frees->count = (unsigned)(before + i - n);
	allocs->count = (unsigned)n;
	return i;
}

/*
 * Takes the calls of malloc, free, calloc and realloc from at on, up to another
 * record, or the first one of its type in the block; most are of the first two.
 * Where that is.
 */
static __attribute__((noinline)) uint32_t
take_usual(struct columns *to, const struct cursor *c, const uint64_t *words,
    uint32_t at)
{
	const uint32_t from = at & (ARENA_RING_WORDS - 1);
	struct part *parts = to->set->parts;
	const unsigned n = parts[TYPE_MALLOC].count, m = parts[TYPE_FREE].count;
	/* up to the end of the records, of the block, or of the ring */
	const uint32_t most =
	    telrec_rings_least(telrec_rings_least(c->end - at,
	                           COLUMNS_EVENTS - 1 - to->count),
	        ARENA_RING_WORDS - from);
	const uint64_t *p = words + from, *const end = p + most, *next;
	uint8_t *order = to->order + to->count;
	size_t room, taken;

	for (;;) {
		room = (size_t)(end - p);
		/* those that have a place */
		if (LIKELY(n > 0 && m > 0))
			taken =
			    take_two(parts, p, room, order, 14, ARENA_MALLOC);
		else if (n > 0 || m > 0)
			taken = take_two(parts, p, room, order, 15,
			    n > 0 ? ARENA_MALLOC : ARENA_FREE);
		else
			taken = 0;
		order += taken;
		p += taken;
		/* no record of the others is longer */
		next = end - p < 3 ? p : take_three(parts, p, order);
		if (next == p)
			break;
		order++;
		p = next;
	}
	to->count = (unsigned)(order - to->order);
	return at + (uint32_t)(p - words) - from;
}

/* One record of malloc; where the next one is. */
static uint32_t
take_malloc(struct columns *to, uint64_t word, const uint64_t *words,
    uint32_t at)
{
	const uint32_t mask = ARENA_RING_WORDS - 1;
	struct part *part = columns_add(to, TYPE_MALLOC);
	uint64_t size = word >> 4 & 0xFFF;

	part->columns[0][part->count] = word >> 16;
	if ((word & 15) == ARENA_MALLOC_LONG)
		size = words[at++ & mask];
	part->columns[1][part->count] = size;
	at = take_more(to, part, 2, size, words, at);
	part->count++;
	return at;
}

void
rings_take(struct columns *to, struct cursor *c, uint64_t limit,
    struct telrec_symbols *symbols)
{
	const uint32_t mask = ARENA_RING_WORDS - 1, end = c->end;
	const uint64_t *words = c->words;
	const struct part *parts;
	unsigned first = to->count;
	uint32_t at = c->at;
	struct part *part;
	uint64_t word;

	columns_source(to, &c->source);
	parts = to->set->parts;
	/* a record that the program has overwritten may seem to end later */
	while ((int32_t)(end - at) > 0 && to->count < COLUMNS_EVENTS - 1) {
		/* the plain ones, until another one */
		if (!to->set->mixed && parts[TYPE_MALLOC].fields == 2)
			at = take_usual(to, c, words, at);
		if (at == end || to->count >= COLUMNS_EVENTS - 1)
			break;
		word = ARENA_NOW(words[at & mask]);
		at++;
		switch (word & 15) {
		case ARENA_CLOCK:
			columns_clock(to, c->clock, first);
			first = to->count;
			c->clock = word >> 4;
			if (c->clock >= limit) {
				at--;
				goto out;
			}
			break;
		case ARENA_FREE:
			part = columns_add(to, TYPE_FREE);
			part->columns[0][part->count++] = word >> 16;
			break;
		case ARENA_MALLOC:
		case ARENA_MALLOC_LONG:
			at = take_malloc(to, word, words, at);
			break;
		case ARENA_MORE:
			at = take_extra(to, c, word, words, at, symbols);
			break;
		case 0:
		case ARENA_MORE + 1:
			/* nothing that the library writes */
			at = end;
			break;
		default: at = take_other(to, word, words, at);
		}
	}
out:
	columns_clock(to, c->clock, first);
	if ((int32_t)(end - at) < 0)
		at = end;
	c->at = at;
	__atomic_store_n(&c->ring->tail, at, __ATOMIC_RELEASE);
}
