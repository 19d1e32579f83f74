/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The records of all rings are merged by their times, and go into columns,
 * which libtel-emit writes as a block.  arena.h says why a record may be taken.
 */
#define _GNU_SOURCE
#include "telrec/drain.h"
#include "telrec/symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tel_emit.h"

#define EVENTS TEL_EMIT_COLUMNS_MAX
/* Rounds that a ring may be open with the same time, before it is ignored. */
#define PATIENCE_NS UINT64_C(2000000000)
/* A store of another processor is visible after that at the latest. */
#define SETTLE_NS 20000
#define NAMES_MAX 4096u
#define CLOCK_SLACK 1000u

/* ------------------------------------------------------------------ types */

/* The event types, as places in the list that libtel-emit gets. */
enum type {
	TYPE_MALLOC,
	TYPE_FREE,
	TYPE_CALLOC,
	TYPE_REALLOC,
	TYPE_REALLOCARRAY,
	TYPE_MEMALIGN,
	TYPE_POSIX_MEMALIGN,
	TYPE_ALIGNED_ALLOC,
	TYPE_VALLOC,
	TYPE_PVALLOC,
	TYPE_MMAP,
	TYPE_MUNMAP,
	TYPE_MREMAP,
	TYPE_BRK,
	TYPE_TRACE,
	TYPE_PROCESS,
	TYPES
};

enum { KIND_ALLOC, KIND_MAP, KIND_TRACE, KIND_PROCESS, KINDS };
static const tel_emit_kind kinds[KINDS] = {
	{ "Alloc", KIND_ALLOC, "calls of the allocator" },
	{ "Map", KIND_MAP, "mappings, and the break" },
	{ "Trace", KIND_TRACE, "backtraces" },
	{ "Process", KIND_PROCESS, "processes" },
};

/* Fields of all types, at most; the last two are process and thread. */
#define FIELDS 8u

/* A type: its own fields as "letter name role", and whether it allocates. */
struct row {
	const char *name;
	unsigned kind;
	int allocates;
	const char *doc;
	struct field {
		const char *letter, *name, *part, *doc;
	} fields[5];
};

#define ADDRESS \
	{ \
		"A", "address", "address", "of the block" \
	}
#define OLD \
	{ \
		"A", "old", "old", "the block that it replaces" \
	}
#define SIZE \
	{ \
		"W", "size", "size", "in bytes" \
	}
#define COUNT \
	{ \
		"W", "count", "count", "elements of that size" \
	}
#define ALIGNMENT \
	{ \
		"W", "alignment", "alignment", "in bytes" \
	}
#define PLACE \
	{ \
		"A", "address", "", "of the mapping" \
	}

static const struct row rows[TYPES] = {
	[TYPE_MALLOC] = { "malloc", KIND_ALLOC, 1, "", { ADDRESS, SIZE } },
	[TYPE_FREE] = { "free", KIND_ALLOC, 0, "", { ADDRESS } },
	[TYPE_CALLOC] = { "calloc", KIND_ALLOC, 1, "",
	    { ADDRESS, COUNT, SIZE } },
	[TYPE_REALLOC] = { "realloc", KIND_ALLOC, 1, "",
	    { ADDRESS, OLD, SIZE } },
	[TYPE_REALLOCARRAY] = { "reallocarray", KIND_ALLOC, 1, "",
	    { ADDRESS, OLD, COUNT, SIZE } },
	[TYPE_MEMALIGN] = { "memalign", KIND_ALLOC, 1, "",
	    { ADDRESS, ALIGNMENT, SIZE } },
	[TYPE_POSIX_MEMALIGN] = { "posix_memalign", KIND_ALLOC, 1, "",
	    { ADDRESS, ALIGNMENT, SIZE } },
	[TYPE_ALIGNED_ALLOC] = { "aligned_alloc", KIND_ALLOC, 1, "",
	    { ADDRESS, ALIGNMENT, SIZE } },
	[TYPE_VALLOC] = { "valloc", KIND_ALLOC, 1, "", { ADDRESS, SIZE } },
	[TYPE_PVALLOC] = { "pvalloc", KIND_ALLOC, 1, "", { ADDRESS, SIZE } },
	[TYPE_MMAP] = { "mmap", KIND_MAP, 0, "",
	    { PLACE, { "W", "size", "", "in bytes" } } },
	[TYPE_MUNMAP] = { "munmap", KIND_MAP, 0, "",
	    { PLACE, { "W", "size", "", "in bytes" } } },
	[TYPE_MREMAP] = { "mremap", KIND_MAP, 0, "",
	    { PLACE, { "A", "old", "", "where it was" },
	        { "W", "old_size", "", "in bytes" },
	        { "W", "size", "", "in bytes" } } },
	[TYPE_BRK] = { "brk", KIND_MAP, 0, "the break was moved",
	    { { "A", "address", "", "the break" },
	        { "I64", "increment", "", "in bytes" } } },
	[TYPE_TRACE] = { "trace", KIND_TRACE, 0, "a frame of backtraces",
	    { { "U32", "number", "0", "of the backtrace, from 1" },
	        { "A", "ip", "1", "the instruction" },
	        { "U32", "parent", "2", "the backtrace of its caller" } } },
	[TYPE_PROCESS] = { "process", KIND_PROCESS, 0,
	    "a process, or a program that it executes",
	    { { "U32", "parent", "", "the process that started it" } } },
};

static const char *
role_of(enum type type)
{
	if (type == TYPE_FREE)
		return "free";
	if (type == TYPE_TRACE)
		return "frame";
	if (type == TYPE_REALLOC || type == TYPE_REALLOCARRAY)
		return "realloc";
	return rows[type].allocates ? "alloc" : NULL;
}

/* What the list for libtel-emit points to. */
static tel_emit_param params[TYPES][FIELDS];
static char roles[TYPES][FIELDS][32];

/* Adds a field to a type. */
static void
add_param(tel_emit_type *to, enum type type, const struct field *field)
{
	tel_emit_param *param = &params[type][to->count];
	const char *role = role_of(type);

	param->letter = field->letter;
	param->name = field->name;
	param->unit = "";
	param->doc = field->doc;
	param->role = "";
	if (role != NULL && field->part[0] != '\0') {
		snprintf(roles[type][to->count], sizeof(roles[type][0]),
		    "%s:%s", role, field->part);
		param->role = roles[type][to->count];
	}
	to->count++;
}

/* Describes the types of a recording with these options. */
static void
describe(uint32_t options, tel_emit_type *list)
{
	static const struct field weight = { "U64", "weight", "",
		"blocks that this sample represents, times 2^16" };
	static const struct field trace = { "U32", "trace", "stack",
		"the backtrace" };
	static const struct field pid = { "U32", "pid", "process",
		"the process" };
	static const struct field thread = { "U32", "thread", "thread",
		"the thread" };
	const struct field *field;
	enum type type;

	for (type = 0; type < TYPES; type++) {
		list[type].name = rows[type].name;
		list[type].code = type + 1u;
		list[type].always = 1;
		list[type].kind = rows[type].kind;
		list[type].doc = rows[type].doc;
		list[type].params = params[type];
		list[type].count = 0;
		for (field = rows[type].fields; field->name != NULL; field++)
			add_param(&list[type], type, field);
		if (rows[type].allocates && options & ARENA_WEIGHTS)
			add_param(&list[type], type, &weight);
		if (rows[type].allocates && options & ARENA_STACKS)
			add_param(&list[type], type, &trace);
		add_param(&list[type], type, &pid);
		add_param(&list[type], type, &thread);
	}
}

int
drain_open_log(const struct arena *a)
{
	tel_emit_type types[TYPES];
	const tel_emit_list list = { "alloc", 1, 0, 0, kinds, KINDS, types,
		TYPES };
	tel_emit_options options;

	memset(&options, 0, sizeof(options));
	options.flags = TEL_EMIT_NO_THREAD;
	options.control_env = "TELREC_CONTROL";
	options.rings = 4;
	options.ring_bytes = 65536;
	options.clock = a->clock == ARENA_CLOCK_CPU ? TEL_EMIT_CLOCK_CPU :
	                                              TEL_EMIT_CLOCK_MONOTONIC;
	describe(a->options, types);
	return tel_emit_open(&options, &list);
}

/* ------------------------------------------------------------------ state */

/* How far a ring is drained. */
struct cursor {
	uint32_t at, end; /* words */
	uint64_t clock;   /* of the next record */
	uint32_t claim;
	uint32_t pid, tid; /* as fields have them */
	uint32_t idle;     /* where it was when drain_tend() looked */
	int is_new;        /* its thread has no event yet */
	int in_block;      /* it has events in the block that is made */
	char name[16];
};

/* The events of a type in the block that is made. */
struct part {
	unsigned count, place, fields;
	uint64_t *columns[FIELDS];
};

struct drain {
	struct arena *a;
	struct telrec_symbols *symbols; /* or NULL */
	struct cursor cursors[ARENA_RINGS];
	uint16_t active[ARENA_RINGS];
	unsigned nactive;
	uint64_t bumped; /* when the epoch was changed last */
	uint64_t settled_ns;
	uint64_t stuck_at, stuck_since; /* the time that does not pass */
	uint64_t last;                  /* time written */
	/* the block */
	struct part parts[TYPES];
	enum type present[TYPES];
	unsigned npresent, count, nclocks;
	uint8_t order[EVENTS];
	uint64_t clocks[EVENTS];
	uint32_t shared[EVENTS];
	struct cursor *source; /* of all events so far, if not mixed */
	int mixed;
	int failed;
	uint64_t events, lost, lost_told;
	/* processes */
	uint32_t images;
	uint32_t *numbers;  /* of images, as the field pid has them */
	uint8_t *runs;      /* programs that a process executed */
	uint64_t memory[1]; /* columns */
};

static uint64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

struct drain *
drain_new(struct arena *a)
{
	const size_t columns = (size_t)TYPES * FIELDS * EVENTS;
	struct drain *d = calloc(1, sizeof(*d) + columns * sizeof(uint64_t));
	const struct field *field;
	unsigned i, k;

	if (d == NULL)
		return NULL;
	d->a = a;
	d->numbers = calloc(ARENA_IMAGES, sizeof(*d->numbers));
	d->runs = calloc(1u << 22, 1);
	if (d->numbers == NULL || d->runs == NULL) {
		drain_free(d);
		return NULL;
	}
	for (i = 0; i < TYPES; i++) {
		for (field = rows[i].fields; field->name != NULL; field++)
			d->parts[i].fields++;
		if (rows[i].allocates && a->options & ARENA_WEIGHTS)
			d->parts[i].fields++;
		if (rows[i].allocates && a->options & ARENA_STACKS)
			d->parts[i].fields++;
		for (k = 0; k < FIELDS; k++)
			d->parts[i].columns[k] =
			    d->memory + ((size_t)i * FIELDS + k) * EVENTS;
	}
	return d;
}

void
drain_free(struct drain *d)
{
	if (d == NULL)
		return;
	free(d->numbers);
	free(d->runs);
	free(d);
}

uint64_t
drain_events(const struct drain *d)
{
	return d->events;
}

void
drain_set_symbols(struct drain *d, struct telrec_symbols *s)
{
	d->symbols = s;
}

uint32_t
drain_processes(const struct drain *d)
{
	return ARENA_NOW(d->a->images_used);
}

uint64_t
drain_lost(const struct drain *d)
{
	uint64_t lost = d->lost + ARENA_NOW(d->a->lost);
	uint32_t i;

	for (i = 0; i < ARENA_RINGS && i < ARENA_NOW(d->a->rings_used); i++)
		lost += ARENA_NOW(d->a->rings[i].lost);
	return lost;
}

/* ------------------------------------------------------------- the block */

/* The names of the threads and processes that have events in the block. */
static unsigned
list_names(struct drain *d, tel_emit_name *names)
{
	uint32_t i, used = ARENA_NOW(d->a->rings_used);
	struct cursor *c;
	uint32_t pid = 0;
	unsigned n = 0;

	for (i = 0; i < used && i < ARENA_RINGS && n + 2 <= NAMES_MAX; i++) {
		c = &d->cursors[i];
		if (!c->in_block)
			continue;
		c->in_block = 0;
		names[n++] = (tel_emit_name){ 2, c->tid, c->name };
		if (c->pid == pid)
			continue;
		pid = c->pid;
		names[n++] = (tel_emit_name){
			3, c->pid,
			d->a->images[d->a->rings[i].image % ARENA_IMAGES].name
		};
	}
	return n;
}

/* Writes the block. */
static void
write_block(struct drain *d)
{
	static tel_emit_name names[NAMES_MAX];
	const uint64_t *columns[TYPES][FIELDS];
	tel_emit_part parts[TYPES];
	tel_emit_columns all = { 0 };
	struct part *part;
	unsigned i, k;

	if (d->count == 0)
		return;
	for (i = 0; i < d->npresent; i++) {
		part = &d->parts[d->present[i]];
		for (k = 0; k < part->fields + 2; k++)
			columns[i][k] = part->columns[k];
		parts[i].code = d->present[i] + 1u;
		parts[i].count = part->count;
		parts[i].columns = columns[i];
		parts[i].same = 0;
		if (!d->mixed) {
			part->columns[k - 2][0] = d->source->pid;
			part->columns[k - 1][0] = d->source->tid;
			parts[i].same = (uint64_t)3 << (k - 2);
		}
		part->count = 0;
	}
	all.count = d->count;
	all.part_count = d->npresent;
	all.parts = parts;
	all.order = d->order;
	all.clocks = d->clocks;
	all.shared = d->shared;
	all.clock_count = d->nclocks;
	all.names = names;
	all.name_count = list_names(d, names);
	all.lost = drain_lost(d) - d->lost_told;
	if (!d->failed && tel_emit_relay(&all) != 0)
		d->failed = errno != 0 ? errno : EIO;
	d->lost_told += all.lost;
	if (!d->failed)
		d->events += d->count;
	d->count = d->npresent = d->nclocks = 0;
	d->mixed = 0;
	d->source = NULL;
}

/* A ring has events in the block: their source need no longer be the same. */
static void
set_source(struct drain *d, struct cursor *c)
{
	struct part *part;
	unsigned i, k;

	c->in_block = 1;
	if (d->source == NULL)
		d->source = c;
	if (d->mixed || (d->source->pid == c->pid && d->source->tid == c->tid))
		return;
	for (i = 0; i < d->npresent; i++) {
		part = &d->parts[d->present[i]];
		for (k = 0; k < part->count; k++) {
			part->columns[part->fields][k] = d->source->pid;
			part->columns[part->fields + 1][k] = d->source->tid;
		}
	}
	d->mixed = 1;
}

/* The columns of a type, to which an event is added. */
static inline struct part *
add_event(struct drain *d, enum type type, const struct cursor *c)
{
	struct part *part = &d->parts[type];

	if (part->count == 0) {
		part->place = d->npresent;
		d->present[d->npresent++] = type;
	}
	if (d->mixed) {
		part->columns[part->fields][part->count] = c->pid;
		part->columns[part->fields + 1][part->count] = c->tid;
	}
	d->order[d->count++] = (uint8_t)part->place;
	return part;
}

/* Events from there on have this time. */
static void
set_clock(struct drain *d, uint64_t clock, unsigned first)
{
	const uint32_t n = d->count - first;

	if (n == 0)
		return;
	if (clock < d->last)
		clock = d->last;
	d->last = clock;
	if (d->nclocks > 0 && d->clocks[d->nclocks - 1] == clock) {
		d->shared[d->nclocks - 1] += n;
		return;
	}
	d->clocks[d->nclocks] = clock;
	d->shared[d->nclocks++] = n;
}

/* -------------------------------------------------------------- records */

/* What follows the first words of a record that allocates. */
static uint32_t
take_more(const struct part *part, unsigned own, const uint64_t *words,
    uint32_t at)
{
	const uint32_t mask = ARENA_RING_WORDS - 1;

	while (own < part->fields)
		part->columns[own++][part->count] = words[at++ & mask];
	return at;
}

/* A record other than those of malloc and free; where the next one is. */
static uint32_t
take_other(struct drain *d, struct cursor *c, const uint64_t *words,
    uint32_t at)
{
	static const uint8_t types[16] = { [ARENA_VALLOC] = TYPE_VALLOC,
		[ARENA_PVALLOC] = TYPE_PVALLOC,
		[ARENA_CALLOC] = TYPE_CALLOC,
		[ARENA_REALLOC] = TYPE_REALLOC,
		[ARENA_REALLOCARRAY] = TYPE_REALLOCARRAY,
		[ARENA_MEMALIGN] = TYPE_MEMALIGN,
		[ARENA_POSIX_MEMALIGN] = TYPE_POSIX_MEMALIGN,
		[ARENA_ALIGNED_ALLOC] = TYPE_ALIGNED_ALLOC };
	const uint32_t mask = ARENA_RING_WORDS - 1;
	const uint64_t word = words[at++ & mask];
	const enum arena_op op = word & 15;
	const unsigned twelve = word >> 4 & 0xFFF;
	struct part *part = add_event(d, types[op], c);
	const unsigned n = part->count;
	uint64_t **to = part->columns, second;
	unsigned own = 3, i;

	to[0][n] = word >> 16;
	switch (op) {
	case ARENA_VALLOC:
	case ARENA_PVALLOC:
		to[1][n] =
		    twelve != ARENA_SIZE_LONG ? twelve : words[at++ & mask];
		own = 2;
		break;
	case ARENA_REALLOCARRAY:
		own = 4;
		/* fall through */
	case ARENA_REALLOC:
		for (i = 1; i < own; i++)
			to[i][n] = words[at++ & mask];
		break;
	default:
		second = words[at++ & mask];
		to[1][n] = twelve ? second & 0xFFFFFFFF : second;
		to[2][n] = twelve ? second >> 32 : words[at++ & mask];
	}
	at = take_more(part, own, words, at);
	part->count++;
	return at;
}

/* A module, whose words are at and on, and n words of text behind them. */
static void
take_module(struct drain *d, const struct cursor *c, const uint64_t *words,
    uint32_t at, uint32_t n)
{
	const uint32_t mask = ARENA_RING_WORDS - 1;
	const uint64_t start = words[at & mask], bias = words[(at + 1) & mask];
	char text[ARENA_TEXT_WORDS * 8 + 1], *path;
	uint32_t i;

	if (d->symbols == NULL || n > ARENA_TEXT_WORDS)
		return;
	for (i = 0; i < n; i++)
		memcpy(text + 8 * i, &words[(at + 3 + i) & mask], 8);
	text[8 * n] = '\0';
	path = strchr(text, ' ');
	if (path == NULL)
		return;
	*path++ = '\0';
	/* without memory, its frames have no names */
	(void)telrec_symbols_module(d->symbols, c->pid, c->clock, start, bias,
	    path, text);
}

/* A record that is not of an allocator; where the next one is. */
static uint32_t
take_extra(struct drain *d, struct cursor *c, const uint64_t *words,
    uint32_t at)
{
	static const uint8_t types[] = { [ARENA_MMAP] = TYPE_MMAP,
		[ARENA_MUNMAP] = TYPE_MUNMAP,
		[ARENA_MREMAP] = TYPE_MREMAP,
		[ARENA_BRK] = TYPE_BRK,
		[ARENA_TRACE] = TYPE_TRACE };
	const uint32_t mask = ARENA_RING_WORDS - 1;
	const uint64_t word = words[at++ & mask];
	const enum arena_more more = word >> 4 & 0xFFF;
	struct part *part;
	unsigned i;

	if (more == ARENA_NAME) {
		memcpy(c->name, &words[at++ & mask], 8);
		memcpy(c->name + 8, &words[at++ & mask], 8);
		c->name[15] = '\0';
		return at;
	}
	if (more == ARENA_MODULE) {
		take_module(d, c, words, at, (uint32_t)(word >> 16));
		return at + 3 + (uint32_t)(word >> 16);
	}
	if (more > ARENA_TRACE)
		return at;
	part = add_event(d, types[more], c);
	if (more == ARENA_TRACE) {
		part->columns[0][part->count] = words[at & mask] & 0xFFFFFFFF;
		part->columns[2][part->count] = words[at++ & mask] >> 32;
		part->columns[1][part->count] = words[at++ & mask];
	} else {
		for (i = 0; i < part->fields; i++)
			part->columns[i][part->count] = words[at++ & mask];
	}
	part->count++;
	return at;
}

/* Makes the event of an image that is new. */
static void
add_process(struct drain *d, struct cursor *c, const struct arena_image *image)
{
	struct part *part = add_event(d, TYPE_PROCESS, c);

	part->columns[0][part->count++] = image->parent;
}

/*
 * Takes the calls of malloc and free from at on, up to another record; most
 * records are.  Where that is.
 */
static uint32_t
take_usual(struct drain *d, const struct cursor *c, const uint64_t *words,
    uint32_t at)
{
	const uint32_t mask = ARENA_RING_WORDS - 1, end = c->end;
	struct part *allocs = &d->parts[TYPE_MALLOC],
	            *frees = &d->parts[TYPE_FREE];
	uint64_t *const addresses = allocs->columns[0],
	                *const sizes = allocs->columns[1],
	                *const freed = frees->columns[0];
	const uint8_t places[2] = { (uint8_t)allocs->place,
		(uint8_t)frees->place };
	unsigned n = allocs->count, m = frees->count, count = d->count;
	uint64_t word;

	/* they have places, and their sources are in no columns */
	while (at != end && count < EVENTS - 1) {
		word = words[at & mask];
		if ((word & 15) == ARENA_FREE) {
			freed[m++] = word >> 16;
			d->order[count++] = places[1];
		} else if ((word & 15) == ARENA_MALLOC &&
		    (word >> 4 & 0xFFF) != ARENA_SIZE_LONG) {
			addresses[n] = word >> 16;
			sizes[n++] = word >> 4 & 0xFFF;
			d->order[count++] = places[0];
		} else {
			break;
		}
		at++;
	}
	allocs->count = n;
	frees->count = m;
	d->count = count;
	return at;
}

/* One record of malloc; where the next one is. */
static uint32_t
take_malloc(struct drain *d, struct cursor *c, const uint64_t *words,
    uint32_t at)
{
	const uint32_t mask = ARENA_RING_WORDS - 1;
	struct part *part = add_event(d, TYPE_MALLOC, c);
	const uint64_t word = words[at++ & mask];
	uint64_t size = word >> 4 & 0xFFF;

	part->columns[0][part->count] = word >> 16;
	if (size == ARENA_SIZE_LONG)
		size = words[at++ & mask];
	part->columns[1][part->count] = size;
	at = take_more(part, 2, words, at);
	part->count++;
	return at;
}

/*
 * Takes the records of a ring whose times are below limit.  0: there are no
 * more of them now.
 */
static int
take_records(struct drain *d, struct cursor *c, uint64_t limit)
{
	const uint32_t mask = ARENA_RING_WORDS - 1, end = c->end;
	const uint64_t *words = arena_words(d->a, (uint32_t)(c - d->cursors));
	const struct part *allocs = &d->parts[TYPE_MALLOC];
	unsigned first = d->count;
	uint32_t at = c->at;
	struct part *part;
	uint64_t word;

	set_source(d, c);
	/* a record that the program has overwritten may seem to end later */
	while ((int32_t)(end - at) > 0 && d->count < EVENTS - 1) {
		word = words[at & mask];
		switch (word & 15) {
		case ARENA_CLOCK:
			set_clock(d, c->clock, first);
			first = d->count;
			c->clock = word >> 4;
			if (c->clock >= limit)
				goto out;
			at++;
			/* the plain ones, until the next clock */
			if (!d->mixed && allocs->fields == 2 &&
			    allocs->count > 0 && d->parts[TYPE_FREE].count > 0)
				at = take_usual(d, c, words, at);
			break;
		case ARENA_FREE:
			part = add_event(d, TYPE_FREE, c);
			part->columns[0][part->count++] = word >> 16;
			at++;
			break;
		case ARENA_MALLOC: at = take_malloc(d, c, words, at); break;
		case ARENA_MORE: at = take_extra(d, c, words, at); break;
		case 0: at = end; break;
		default: at = take_other(d, c, words, at);
		}
	}
out:
	set_clock(d, c->clock, first);
	if ((int32_t)(end - at) < 0)
		at = end;
	c->at = at;
	__atomic_store_n(&d->a->rings[c - d->cursors].tail, at,
	    __ATOMIC_RELEASE);
	return at != end && c->clock < limit;
}

/* ---------------------------------------------------------------- rounds */

/* The number of the process of a ring, as the field pid has it. */
static void
set_process(struct drain *d, struct cursor *c, const struct arena_ring *ring)
{
	const uint32_t slot = ring->image % ARENA_IMAGES;
	const struct arena_image *image = &d->a->images[slot];
	const uint32_t pid = ring->pid & ((1u << 22) - 1);

	c->is_new = 0;
	c->tid = ring->tid;
	memcpy(c->name, ring->name, sizeof(c->name));
	if (d->numbers[slot] == 0 ||
	    (d->numbers[slot] & ((1u << 22) - 1)) != pid) {
		d->numbers[slot] = pid | (uint32_t)(d->runs[pid]++) << 22;
		c->pid = d->numbers[slot];
		set_source(d, c);
		add_process(d, c, image);
		set_clock(d, c->clock, d->count - 1);
	}
	c->pid = d->numbers[slot];
}

/*
 * Looks at ring i.  Returns its bound: a record that it gets from now on is
 * not of an earlier time.
 */
static uint64_t
look(struct drain *d, uint32_t i, uint64_t bumped)
{
	struct arena_ring *ring = &d->a->rings[i];
	struct cursor *c = &d->cursors[i];
	const uint32_t state = __atomic_load_n(&ring->state, __ATOMIC_ACQUIRE);
	uint64_t bound = bumped;

	if (state != ARENA_RING_USED && state != ARENA_RING_ENDED)
		return bound;
	if (state == ARENA_RING_USED &&
	    __atomic_load_n(&ring->open, __ATOMIC_ACQUIRE)) {
		bound = __atomic_load_n(&ring->ticks, __ATOMIC_ACQUIRE);
		bound = bound < bumped ? bound : bumped;
	}
	c->end = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
	if (c->at == c->end && state == ARENA_RING_ENDED) {
		d->lost += ring->lost;
		ring->lost = 0;
		ring->open = 0;
		__atomic_store_n(&ring->state, ARENA_RING_FREE,
		    __ATOMIC_RELEASE);
		return bumped;
	}
	if (c->at != c->end)
		d->active[d->nactive++] = (uint16_t)i;
	return bound;
}

/* Merges the records of the active rings that are below the horizon. */
static void
merge(struct drain *d, uint64_t horizon)
{
	struct cursor *c, *best;
	unsigned i, k;
	uint64_t limit;

	for (i = 0; i < d->nactive; i++) {
		c = &d->cursors[d->active[i]];
		if (c->claim != d->a->rings[d->active[i]].claim) {
			/* a record begins with a clock */
			c->claim = d->a->rings[d->active[i]].claim;
			c->clock =
			    arena_words(d->a,
			        d->active[i])[c->at & (ARENA_RING_WORDS - 1)] >>
			    4;
			c->is_new = 1;
		}
	}
	while (d->nactive > 0) {
		best = NULL;
		limit = horizon;
		k = 0;
		for (i = 0; i < d->nactive; i++) {
			c = &d->cursors[d->active[i]];
			if (best == NULL || c->clock < best->clock) {
				if (best != NULL && best->clock < limit)
					limit = best->clock;
				best = c;
				k = i;
			} else if (c->clock < limit) {
				limit = c->clock;
			}
		}
		if (best->clock >= horizon)
			break;
		if (limit <= best->clock)
			limit = best->clock + 1;
		if (best->is_new) {
			if (d->count + 2 >= EVENTS)
				write_block(d);
			set_process(d, best, &d->a->rings[best - d->cursors]);
		}
		if (!take_records(d, best, limit) &&
		    (best->at == best->end || best->clock >= horizon))
			d->active[k] = d->active[--d->nactive];
		if (d->count >= EVENTS - 1)
			write_block(d);
	}
}

/* All records before this time have arrived. */
static uint64_t
find_horizon(struct drain *d, uint64_t bumped)
{
	uint32_t i, used = ARENA_NOW(d->a->rings_used);
	uint64_t horizon = bumped, bound;

	d->nactive = 0;
	for (i = 0; i < used && i < ARENA_RINGS; i++) {
		bound = look(d, i, bumped);
		horizon = bound < horizon ? bound : horizon;
	}
	return horizon;
}

long
drain_round(struct drain *d, int flush)
{
	const uint64_t before = d->events + d->count, bumped = d->bumped;
	const struct timespec settle = { 0, SETTLE_NS };
	uint64_t horizon, now = now_ns();

	if (now - d->settled_ns < SETTLE_NS) {
		nanosleep(&settle, NULL);
		now = now_ns();
	}
	horizon = find_horizon(d, bumped);
	/* a thread that was stopped, or waits for another one, holds all up */
	if (horizon != d->stuck_at || horizon == bumped) {
		d->stuck_at = horizon;
		d->stuck_since = now;
	} else if (now - d->stuck_since > PATIENCE_NS) {
		horizon = bumped;
	}
	merge(d, horizon);
	if (flush)
		write_block(d);
	__atomic_fetch_add(&d->a->rounds, 1, __ATOMIC_RELAXED);
	/*
	 * Whoever sees the new epoch reads a later clock than this one; the
	 * processor may do the two in another order, within some ticks.
	 */
	d->bumped = tel_emit_clock() - CLOCK_SLACK;
	__atomic_fetch_add(&d->a->epoch, 1, __ATOMIC_SEQ_CST);
	d->settled_ns = now_ns();
	if (d->failed) {
		errno = d->failed;
		return -1;
	}
	return (long)(d->events + d->count - before);
}

int
drain_finish(struct drain *d)
{
	(void)find_horizon(d, UINT64_MAX);
	merge(d, UINT64_MAX);
	write_block(d);
	errno = d->failed;
	return d->failed ? -1 : 0;
}

/* ----------------------------------------------------------------- death */

/* Whether a process has ended, or is a zombie. */
static int
process_ended(uint32_t pid)
{
	char path[40], text[512];
	const char *end;
	ssize_t n;
	int fd;

	if (kill((pid_t)pid, 0) != 0 && errno == ESRCH)
		return 1;
	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return 1;
	text[n] = '\0';
	end = strrchr(text, ')');
	return end != NULL && end[1] == ' ' && (end[2] == 'Z' || end[2] == 'X');
}

static int
thread_ended(uint32_t pid, uint32_t tid)
{
#ifdef SYS_tgkill
	return syscall(SYS_tgkill, (long)pid, (long)tid, 0L) != 0 &&
	    errno == ESRCH;
#else
	(void)pid;
	(void)tid;
	return 0;
#endif
}

unsigned
drain_tend(struct drain *d)
{
	uint32_t i, used = ARENA_NOW(d->a->rings_used), pid = 0, state;
	struct arena_ring *ring;
	struct cursor *c;
	unsigned alive = 0;
	int ended = 0;

	for (i = 0; i < used && i < ARENA_RINGS; i++) {
		ring = &d->a->rings[i];
		c = &d->cursors[i];
		state = __atomic_load_n(&ring->state, __ATOMIC_ACQUIRE);
		if (state == ARENA_RING_FREE)
			continue;
		alive++;
		/* one that is written has a thread */
		if (state != ARENA_RING_USED ||
		    c->idle != ARENA_NOW(ring->head)) {
			c->idle = ARENA_NOW(ring->head);
			continue;
		}
		if (ring->pid != pid) {
			pid = ring->pid;
			ended = process_ended(pid);
		}
		if (ended || thread_ended(pid, ring->tid))
			__atomic_compare_exchange_n(&ring->state, &state,
			    ARENA_RING_ENDED, 0, __ATOMIC_SEQ_CST,
			    __ATOMIC_RELAXED);
	}
	return alive;
}
