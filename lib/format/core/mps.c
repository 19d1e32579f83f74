/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The event buffers of an MPS in the memory of a program (design.mps.telemetry,
 * .debug.buffer): EventBuffer has 4096 bytes for each of 7 kinds, which are
 * filled from the top down; EventLast points to the last event of each.
 * Below that are events that were written out before, the older ones partly
 * overwritten.
 *
 * Symbols of the program say where they are.  Without them, 7 pointers in a
 * row are looked for that can be EventLast: each into its own 4096 bytes, with
 * events from there to their end.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/core/core.h"

#define KINDS 7u
#define BUFFER 4096u
#define ALL ((size_t)KINDS * BUFFER)
/* The longest event: all fields, and a string of 255 bytes. */
#define EVENT_MAX 512u
#define PIECE ((size_t)1 << 16)
/* Rows of pointers that are tried as EventLast: memory may be made of them. */
#define TRIES 64u

/* Where they are. */
struct buffers {
	uint64_t base;        /* of EventBuffer */
	uint64_t last[KINDS]; /* what EventLast has */
	unsigned char bytes[ALL];
};

/* The clock of an event at p. */
static uint64_t
clock_of(const struct core *c, const unsigned char *p)
{
	return core_load(c, p + c->header - 8, 8);
}

/* The size of an event at p, with n bytes to the end; 0: invalid. */
static unsigned
event_size(const struct core *c, const unsigned char *p, size_t n)
{
	if (n < c->header)
		return 0;
	unsigned code = (unsigned)core_load(c, p, 2);
	unsigned size = (unsigned)core_load(c, p + 2, 2);
	return code > 0 && code < 0x200 && size >= c->header &&
	        size % c->word == 0 && size <= EVENT_MAX && size <= n &&
	        clock_of(c, p) != 0 ?
	    size :
	    0;
}

/*
 * Whether events fill the n bytes at p exactly, each older than the one
 * before it.  How many; -1: they do not.
 */
static int
core_mps_count_events(const struct core *c, const unsigned char *p, size_t n)
{
	uint64_t clock = UINT64_MAX;
	int count = 0;

	while (n > 0) {
		unsigned size = event_size(c, p, n);

		if (size == 0 || clock_of(c, p) > clock)
			return -1;
		clock = clock_of(c, p);
		p += size;
		n -= size;
		count++;
	}
	return count;
}

/* Whether base fits what b->last has.  The events in all, or -1. */
static int
try_base(struct buffers *b, struct core *c, uint64_t base)
{
	int count = 0, n;

	if (!tel__core_read(c, base, b->bytes, ALL))
		return -1;
	for (unsigned k = 0; k < KINDS; k++) {
		uint64_t top = base + (uint64_t)(k + 1) * BUFFER;

		if (b->last[k] > top || b->last[k] < top - BUFFER)
			return -1;
		n = core_mps_count_events(c, b->bytes + (b->last[k] - base),
		    (size_t)(top - b->last[k]));
		if (n < 0)
			return -1;
		count += n;
	}
	return count;
}

/* ---------------------------------------------------------------- symbols */

/* Offsets of members in the headers of ELF files, of 32 and of 64 bits. */
static const struct layout {
	unsigned table, count;        /* in the header of the file */
	unsigned entry;               /* the size of a section's header */
	unsigned offset, bytes, link; /* in it */
	unsigned symbol, value;       /* a symbol's size, and in it */
} layouts[2] = {
	{ 32, 48, 40, 16, 20, 24, 16, 4 },
	{ 40, 60, 64, 24, 32, 40, 24, 8 },
};

/*
 * The value of a symbol of an ELF file in memory, of the core's machine;
 * 0: none.
 */
static uint64_t
find_symbol(const struct core *c, const unsigned char *p, size_t n,
    const char *wanted)
{
	const struct layout *l = &layouts[c->word == 8];
	uint64_t table = n >= 64 ? core_word(c, p + l->table) : 0;
	unsigned count = n >= 64 ? (unsigned)core_load(c, p + l->count, 2) : 0;

	if (table > n || count > (n - table) / l->entry)
		return 0;
	for (unsigned i = 0; i < count; i++) {
		const unsigned char *s = p + table + (size_t)l->entry * i;
		unsigned link = (unsigned)core_load(c, s + l->link, 4);
		uint64_t at = core_word(c, s + l->offset);
		uint64_t size = core_word(c, s + l->bytes);

		if ((core_load(c, s + 4, 4) != SHT_SYMTAB &&
		        core_load(c, s + 4, 4) != SHT_DYNSYM) ||
		    link >= count || at > n || size > n - at)
			continue;
		uint64_t strings = core_word(c,
		    p + table + (size_t)l->entry * link + l->offset);
		for (const unsigned char *e = p + at; size >= l->symbol;
		     e += l->symbol, size -= l->symbol) {
			uint64_t name = core_load(c, e, 4);

			if (strings < n && name < n - strings &&
			    strlen(wanted) < n - strings - name &&
			    memcmp(p + strings + name, wanted,
			        strlen(wanted) + 1) == 0 &&
			    core_word(c, e + l->value) != 0)
				return core_word(c, e + l->value);
		}
	}
	return 0;
}

/* Where the program began to run, from the notes of the core; 0: unknown. */
static uint64_t
entry_of(const struct core *c)
{
	size_t n = c->notes_size < PIECE ? (size_t)c->notes_size : PIECE;
	unsigned char *p = malloc(PIECE);
	const unsigned char *data;
	uint64_t entry = 0, size, name;
	size_t at = 0, i;

	if (p == NULL || c->notes >= c->length ||
	    tel__input_seek(c->in, (int64_t)c->notes, SEEK_SET) < 0 ||
	    tel__input_peek(c->in, n, &data, &i) != TEL_OK || i < n)
		n = 0;
	else
		memcpy(p, data, n);
	while (n - at >= 12) {
		name = (core_load(c, p + at, 4) + 3) & ~(uint64_t)3;
		size = core_load(c, p + at + 4, 4);
		if (name > n - at - 12 || size > n - at - 12 - name)
			break;
		if (core_load(c, p + at + 8, 4) == NT_AUXV)
			for (i = 0; i + 2 * c->word <= size; i += 2 * c->word) {
				data = p + at + 12 + name + i;
				if (core_word(c, data) == AT_ENTRY)
					entry = core_word(c, data + c->word);
			}
		size = (size + 3) & ~(uint64_t)3;
		if (size > n - at - 12 - name)
			break;
		at += 12 + (size_t)(name + size);
	}
	free(p);
	return entry;
}

/* Takes the places from the symbols of a program.  1, or 0. */
static int
by_symbols(struct buffers *b, struct core *c, const char *exe)
{
	int fd = open(exe, O_RDONLY | O_CLOEXEC | O_NOCTTY), found = 0;
	uint64_t base = 0, last = 0, entry = entry_of(c), moved = 0;
	unsigned char *p = NULL, pointers[8 * KINDS];
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size >= 64 && st.st_size < (off_t)1 << 31 &&
	    (p = malloc((size_t)st.st_size)) != NULL &&
	    pread(fd, p, (size_t)st.st_size, 0) == st.st_size) {
		base = find_symbol(c, p, (size_t)st.st_size, "EventBuffer");
		last = find_symbol(c, p, (size_t)st.st_size, "EventLast");
		/* a program may run elsewhere than it was linked for */
		if (core_load(c, p + 16, 2) == ET_DYN && entry != 0)
			moved = entry - core_word(c, p + 24);
	}
	if (base != 0 && last != 0 &&
	    tel__core_read(c, last + moved, pointers,
	        (size_t)c->word * KINDS)) {
		for (unsigned k = 0; k < KINDS; k++)
			b->last[k] =
			    core_word(c, pointers + (size_t)c->word * k);
		b->base = base + moved;
		found = try_base(b, c, b->base) >= 0;
	}
	free(p);
	if (fd >= 0)
		close(fd);
	return found;
}

/* ----------------------------------------------------------------- search */

/* Whether 7 pointers at p can be EventLast of some base: *low to *high. */
static int
core_mps_look(const struct core *c, const unsigned char *p, struct buffers *b,
    uint64_t *low, uint64_t *high)
{
	*low = 0;
	*high = UINT64_MAX;
	for (unsigned k = 0; k < KINDS; k++) {
		uint64_t pointer = core_word(c, p + (size_t)c->word * k);

		if (pointer < ALL || pointer % c->word != 0)
			return 0;
		uint64_t most = pointer - (uint64_t)k * BUFFER;
		uint64_t least = most - BUFFER;
		*low = least > *low ? least : *low;
		*high = most < *high ? most : *high;
		if (*low > *high)
			return 0;
		b->last[k] = pointer;
	}
	return 1;
}

/* Tries the bases that are possible.  The events that the best one has. */
static int
best_base(struct buffers *b, struct core *c, uint64_t low, uint64_t high)
{
	int best = 0, count;

	for (uint64_t base = (low + c->word - 1) & ~(uint64_t)(c->word - 1);
	     base <= high; base += c->word) {
		count = try_base(b, c, base);
		if (count > best) {
			best = count;
			b->base = base;
		}
	}
	return best;
}

/* Looks for EventLast in all memory that the program could write. */
static int
by_search(struct buffers *b, struct core *c)
{
	const size_t overlap = (size_t)c->word * KINDS;
	unsigned char *p = malloc(PIECE);
	uint64_t at, low, high;
	size_t n, i;
	unsigned k, tries = 0;
	int found = 0;

	for (k = 0; p != NULL && k < c->count && !found; k++) {
		const struct core_segment *s = &c->segments[k];

		for (at = 0; s->writable && !found && at + overlap <= s->size;
		     at += PIECE - overlap) {
			n = s->size - at < PIECE ? (size_t)(s->size - at) :
			                           PIECE;
			if (c->budget < n ||
			    !tel__core_read(c, s->address + at, p, n))
				break;
			c->budget -= n;
			for (i = 0; !found && i + overlap <= n; i += c->word)
				found = tries < TRIES &&
				    core_mps_look(c, p + i, b, &low, &high) &&
				    tries++ < TRIES &&
				    best_base(b, c, low, high) > 0;
		}
	}
	free(p);
	return p == NULL ? -1 : found && try_base(b, c, b->base) >= 0;
}

/* ----------------------------------------------------------------- events */

/* An event of a buffer: where it is. */
struct place {
	uint64_t clock;
	const unsigned char *p;
	unsigned size;
};

/*
 * Where the events begin that were written out before; limit: none do.  Their
 * clocks are before that of the oldest of the newer ones, at limit, and not so
 * long before that they must be something else.
 */
static const unsigned char *
find_old(const struct core *c, const unsigned char *p,
    const unsigned char *limit, uint64_t newest)
{
	const unsigned char *q;
	unsigned size;

	for (; p < limit; p += c->word) {
		uint64_t clock = newest;

		/* the last of them may be partly overwritten */
		for (q = p; limit - q >= (ptrdiff_t)c->header; q += size) {
			size = event_size(c, q, EVENT_MAX);
			if (size == 0 || clock_of(c, q) > clock ||
			    clock_of(c, q) < newest / 16)
				break;
			clock = clock_of(c, q);
		}
		if (limit - q < (ptrdiff_t)c->header && q > p)
			return p;
	}
	return limit;
}

/* The clock of the newest event that is in use in any buffer. */
static uint64_t
newest_clock(const struct core *c, const struct buffers *b)
{
	uint64_t newest = 0, clock;

	for (unsigned k = 0; k < KINDS; k++) {
		if (b->last[k] == b->base + (uint64_t)(k + 1) * BUFFER)
			continue;
		clock = clock_of(c, b->bytes + (b->last[k] - b->base));
		newest = clock > newest ? clock : newest;
	}
	return newest;
}

static int
core_mps_compare(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	return a->clock < b->clock ? -1 : a->clock > b->clock;
}

/* Puts all events of the buffers into out, the oldest first. */
static int
core_mps_collect(const struct core *c, const struct buffers *b,
    struct tel__buffer *out)
{
	struct place *list = malloc((ALL / 12 + KINDS) * sizeof(*list));
	const unsigned char *p, *top, *last;
	size_t n = 0, i;

	if (list == NULL)
		return -1;
	for (unsigned k = 0; k < KINDS; k++) {
		top = b->bytes + (size_t)(k + 1) * BUFFER;
		last = b->bytes + (b->last[k] - b->base);
		p = find_old(c, top - BUFFER, last, newest_clock(c, b));
		while (p < top) {
			if (p < last && last - p < (ptrdiff_t)c->header)
				p = last;
			list[n].size = event_size(c, p, (size_t)(top - p));
			/* one that reaches into the newer ones is cut */
			if (p < last && list[n].size > (size_t)(last - p)) {
				p = last;
				continue;
			}
			if (list[n].size == 0)
				break;
			list[n].clock = clock_of(c, p);
			list[n].p = p;
			p += list[n++].size;
		}
	}
	qsort(list, n, sizeof(*list), core_mps_compare);
	for (i = 0; i < n; i++)
		tel__buffer_put(out, list[i].p, list[i].size);
	free(list);
	return out->failed ? -1 : n > 0;
}

int
tel__core_mps(struct core *c, const char *exe, struct tel__buffer *out)
{
	struct buffers *b = calloc(1, sizeof(*b));
	int found = 0;

	if (b == NULL)
		return -1;
	if (exe != NULL)
		found = by_symbols(b, c, exe);
	if (found == 0)
		found = by_search(b, c);
	if (found > 0)
		found = core_mps_collect(c, b, out);
	free(b);
	return found;
}
