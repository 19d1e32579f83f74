/* SPDX-License-Identifier: BSD-2-Clause */
/* The memory that a block is decoded into, which the next one uses again. */
#include "format/tel/memory.h"

#include <stdlib.h>

struct native_memory {
	unsigned char *p;
	size_t used, room;
	struct chunk {
		struct chunk *next;
		uint64_t pad;
	} * old;      /* pieces that were too small */
	size_t total; /* of all pieces */
};

/* Frees the pieces that were too small. */
static void
forget(struct native_memory *m)
{
	struct chunk *c;

	while ((c = m->old) != NULL) {
		m->old = c->next;
		free(c);
	}
}

struct native_memory *
tel__native_memory_new(void)
{
	return calloc(1, sizeof(struct native_memory));
}

void
tel__native_memory_free(struct native_memory *m)
{
	if (m == NULL)
		return;
	forget(m);
	free(m->p);
	free(m);
}

int
tel__native_memory_reset(struct native_memory *m)
{
	if (m->old != NULL) {
		forget(m);
		free(m->p);
		m->room = 0;
		m->p = malloc(m->total);
		if (m->p == NULL)
			return 0;
		m->room = m->total;
	}
	m->total = m->room;
	/* pieces begin with their link */
	m->used = m->room > 0 ? sizeof(struct chunk) : 0;
	return 1;
}

void *
tel__native_give(struct native_memory *m, size_t n, size_t size)
{
	const size_t want = (n * size + 15) & ~(size_t)15;
	struct chunk *c;

	if (m->p == NULL || want > m->room - m->used) {
		/* the head of a piece links it to those before it */
		size_t room = want + m->total + 4096;
		unsigned char *p = malloc(room);
		if (p == NULL)
			return NULL;
		if (m->p != NULL) {
			c = (struct chunk *)(void *)m->p;
			c->next = m->old;
			m->old = c;
		}
		m->p = p;
		m->room = room;
		m->total += room;
		m->used = sizeof(*c);
	}
	unsigned char *p = m->p + m->used;
	m->used += want;
	return p;
}
