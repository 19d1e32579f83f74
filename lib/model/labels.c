/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two kinds of hash tables with open addressing: number to string, and
 * address to the labels it had, in order of their clocks.
 */
#include "model/labels.h"

#include <stdlib.h>
#include <string.h>

/*
 * Labels of one address are kept in an array, so that a log that labels one
 * address over and over, backwards, would take quadratic time.
 */
#define PER_ADDRESS_MAX ((size_t)1 << 14)
/* On the average a string may have so many bytes. */
#define STRING_AVERAGE 64

struct mark {
	uint64_t clock;
	uint64_t id;
};

/* A place of a table; free while used is 0. */
struct slot {
	uint64_t key;
	union {
		char *string;
		struct mark *marks;
	} u;
	uint32_t count; /* bytes of the string; marks of the address */
	uint32_t room;  /* marks there is room for; of a string, it is plain */
	uint32_t used;
};

struct table {
	struct slot *slots;
	size_t size; /* a power of two, or 0 */
	size_t used;
};

/*
 * What was found last for addresses with the same low bits, and only of those
 * that have one label: a log names the same few again and again.
 */
#define RECENT 64u

struct recent {
	uint64_t address;
	uint64_t from; /* the label's clock */
	struct tel_label label;
	uint32_t space;   /* and 1; 0: nothing is here */
	uint32_t changes; /* of the table by then */
};

struct tel_labels {
	struct recent *recent; /* RECENT of them */
	uint32_t changes;      /* of any sort, so far */
	struct table strings;
	struct table spaces[TEL_SPACES];
	size_t labels; /* in all spaces */
	size_t bytes;  /* of all strings */
	size_t max;
	uint64_t seed; /* so that a log cannot choose what collides */
};

struct tel_labels *
tel__labels_new(size_t max)
{
	struct tel_labels *l = calloc(1, sizeof(*l));

	if (l != NULL) {
		l->recent = calloc(RECENT, sizeof(*l->recent));
		if (l->recent == NULL) {
			free(l);
			return NULL;
		}
		l->max = max;
		l->seed = (uint64_t)(uintptr_t)l * 0x9e3779b97f4a7c15u;
	}
	return l;
}

void
tel__labels_free(struct tel_labels *l)
{
	size_t i, j;

	if (l == NULL)
		return;
	free(l->recent);
	for (i = 0; i < l->strings.size; i++)
		free(l->strings.slots[i].u.string);
	free(l->strings.slots);
	for (j = 0; j < TEL_SPACES; j++) {
		for (i = 0; i < l->spaces[j].size; i++)
			free(l->spaces[j].slots[i].u.marks);
		free(l->spaces[j].slots);
	}
	free(l);
}

/* The finishing step of MurmurHash3, which is in the public domain. */
static size_t
hash(const struct tel_labels *l, uint64_t key)
{
	key ^= l->seed;
	key ^= key >> 33;
	key *= 0xff51afd7ed558ccdu;
	key ^= key >> 33;
	key *= 0xc4ceb9fe1a85ec53u;
	key ^= key >> 33;
	return (size_t)key;
}

/* The slot that key has, or the free one that it would take. */
static struct slot *
probe(const struct tel_labels *l, const struct table *t, uint64_t key)
{
	size_t i = hash(l, key) & (t->size - 1);

	while (t->slots[i].used && t->slots[i].key != key)
		i = (i + 1) & (t->size - 1);
	return &t->slots[i];
}

/* Makes room for one key more, keeping the table at most half full. */
static tel_status
reserve(const struct tel_labels *l, struct table *t)
{
	struct table bigger;
	size_t i;

	if (t->used * 2 < t->size)
		return TEL_OK;
	bigger.size = t->size == 0 ? 64 : t->size * 2;
	bigger.used = t->used;
	bigger.slots = calloc(bigger.size, sizeof(*bigger.slots));
	if (bigger.slots == NULL)
		return TEL_ENOMEM;
	for (i = 0; i < t->size; i++)
		if (t->slots[i].used)
			*probe(l, &bigger, t->slots[i].key) = t->slots[i];
	free(t->slots);
	*t = bigger;
	return TEL_OK;
}

/* Nonzero when a string is what tel_label.plain says. */
static int
is_plain(const char *string, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
		if (string[i] < 0x20 || string[i] > 0x7e || string[i] == '"' ||
		    string[i] == '\\')
			return 0;
	return 1;
}

tel_status
tel__labels_intern(struct tel_labels *l, uint64_t id, const char *string,
    size_t length)
{
	struct slot *slot;
	char *copy;
	tel_status st;

	if (length > UINT32_MAX || length > l->max * STRING_AVERAGE - l->bytes)
		return TEL_ELIMIT;
	if ((st = reserve(l, &l->strings)) != TEL_OK)
		return st;
	slot = probe(l, &l->strings, id);
	if (slot->used && slot->count == length &&
	    memcmp(slot->u.string, string, length) == 0)
		return TEL_OK;
	if (!slot->used && l->strings.used >= l->max)
		return TEL_ELIMIT;
	/* room for whole pieces, and for a NUL */
	copy = calloc(1, (length | (TEL_LABEL_PIECE - 1)) + 1);
	if (copy == NULL)
		return TEL_ENOMEM;
	memcpy(copy, string, length);
	l->changes++;
	if (slot->used) {
		l->bytes -= slot->count;
		free(slot->u.string);
	} else {
		slot->used = 1;
		slot->key = id;
		l->strings.used++;
	}
	slot->u.string = copy;
	slot->count = (uint32_t)length;
	slot->room = (uint32_t)is_plain(string, length);
	l->bytes += length;
	return TEL_OK;
}

/* The number of marks that are not later than clock. */
static size_t
marks_until(const struct slot *slot, uint64_t clock)
{
	size_t lo = 0, hi = slot->count, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (slot->u.marks[mid].clock <= clock)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

tel_status
tel__labels_add(struct tel_labels *l, enum tel_space space, uint64_t address,
    uint64_t clock, uint64_t id)
{
	struct table *t = &l->spaces[space];
	struct slot *slot;
	struct mark *marks;
	size_t at, room;
	tel_status st;

	if ((st = reserve(l, t)) != TEL_OK)
		return st;
	slot = probe(l, t, address);
	at = slot->used ? marks_until(slot, clock) : 0;
	/* a log that holds the same events twice labels nothing anew */
	if (at > 0 && slot->u.marks[at - 1].clock == clock &&
	    slot->u.marks[at - 1].id == id)
		return TEL_OK;
	if (l->labels >= l->max || slot->count >= PER_ADDRESS_MAX)
		return TEL_ELIMIT;
	if (slot->count == slot->room) {
		room = slot->room == 0 ? 1 : slot->room * (size_t)2;
		marks = realloc(slot->u.marks, room * sizeof(*marks));
		if (marks == NULL)
			return TEL_ENOMEM;
		slot->u.marks = marks;
		slot->room = (uint32_t)room;
	}
	l->changes++;
	marks = slot->u.marks;
	memmove(marks + at + 1, marks + at,
	    (slot->count - at) * sizeof(*marks));
	marks[at].clock = clock;
	marks[at].id = id;
	slot->count++;
	l->labels++;
	if (!slot->used) {
		slot->used = 1;
		slot->key = address;
		t->used++;
	}
	return TEL_OK;
}

size_t
tel__labels_count(const struct tel_labels *l)
{
	return l->labels;
}

int
tel__labels_find(const struct tel_labels *l, enum tel_space space,
    uint64_t address, uint64_t clock, struct tel_label *out)
{
	const struct table *t = &l->spaces[space];
	struct recent *seen = &l->recent[address % RECENT];
	const struct slot *slot;
	size_t n;

	if (t->used == 0)
		return 0;
	if (seen->address == address && seen->space == space + 1u &&
	    seen->changes == l->changes && clock >= seen->from) {
		*out = seen->label;
		return 1;
	}
	slot = probe(l, t, address);
	if (!slot->used || (n = marks_until(slot, clock)) == 0)
		return 0;
	out->id = slot->u.marks[n - 1].id;
	out->string = NULL;
	out->length = 0;
	out->plain = 0;
	seen->space = slot->count == 1 ? space + 1u : 0;
	seen->from = slot->u.marks[0].clock;
	if (l->strings.used > 0) {
		slot = probe(l, &l->strings, out->id);
		if (slot->used) {
			out->string = slot->u.string;
			out->length = slot->count;
			out->plain = (int)slot->room;
		}
	}
	seen->address = address;
	seen->label = *out;
	seen->changes = l->changes;
	return 1;
}
