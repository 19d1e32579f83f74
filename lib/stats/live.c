/* SPDX-License-Identifier: BSD-2-Clause */
/* A table of addresses: open addressing, at most half full. */
#include "stats/live.h"

#include <stdlib.h>

struct block {
	uint64_t address; /* 0: none; NULL is no block */
	uint64_t size;
};

struct live {
	struct block *blocks;
	size_t mask, count;
	uint64_t seed;
};

struct live *
tel__live_new(void)
{
	struct live *l = calloc(1, sizeof(*l));

	if (l == NULL)
		return NULL;
	l->mask = 1023;
	l->blocks = calloc(l->mask + 1, sizeof(*l->blocks));
	if (l->blocks == NULL) {
		free(l);
		return NULL;
	}
	/* nobody who writes a log knows which addresses meet */
	l->seed = (uint64_t)(uintptr_t)l * 0x9e3779b97f4a7c15u;
	return l;
}

void
tel__live_free(struct live *l)
{
	if (l != NULL)
		free(l->blocks);
	free(l);
}

static size_t
home(const struct live *l, uint64_t address)
{
	uint64_t x = (address ^ l->seed) * 0x9e3779b97f4a7c15u;

	return (size_t)(x ^ x >> 32) & l->mask;
}

/* Where the address is, or would be. */
static struct block *
find(const struct live *l, uint64_t address)
{
	size_t i = home(l, address);

	while (l->blocks[i].address != 0 && l->blocks[i].address != address)
		i = (i + 1) & l->mask;
	return &l->blocks[i];
}

static int
grow(struct live *l)
{
	struct block *old = l->blocks;
	size_t i, size = l->mask + 1;

	l->blocks = calloc(size * 2, sizeof(*l->blocks));
	if (l->blocks == NULL) {
		l->blocks = old;
		return 0;
	}
	l->mask = size * 2 - 1;
	for (i = 0; i < size; i++)
		if (old[i].address != 0)
			*find(l, old[i].address) = old[i];
	free(old);
	return 1;
}

tel_status
tel__live_add(struct live *l, uint64_t address, uint64_t size)
{
	struct block *b = find(l, address);

	if (b->address == 0) {
		if (l->count == LIVE_MAX)
			return TEL_OK;
		if (l->count * 2 > l->mask) {
			if (!grow(l))
				return TEL_ENOMEM;
			b = find(l, address);
		}
		l->count++;
		b->address = address;
	}
	b->size = size;
	return TEL_OK;
}

int
tel__live_take(struct live *l, uint64_t address, uint64_t *size)
{
	struct block *b = find(l, address);
	size_t gap = (size_t)(b - l->blocks), i = gap;

	if (b->address == 0)
		return 0;
	*size = b->size;
	l->count--;
	/* those behind it move up, unless they would come before their home */
	for (;;) {
		i = (i + 1) & l->mask;
		if (l->blocks[i].address == 0)
			break;
		if (((i - home(l, l->blocks[i].address)) & l->mask) >=
		    ((i - gap) & l->mask)) {
			l->blocks[gap] = l->blocks[i];
			gap = i;
		}
	}
	l->blocks[gap].address = 0;
	return 1;
}
