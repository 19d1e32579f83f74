/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program with an MPS in it, as far as its event buffers go: it fills them
 * with the events of a log of MPS 1.118, as that does, and aborts.
 *
 *	dies_mps LOG [EVENTS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tel.h"

#define KINDS 7
#define SIZE ((size_t)4096)

/* As event.c of the MPS has them. */
char EventBuffer[KINDS][4096];
char *EventLast[KINDS];
static char *written[KINDS];

static void
flush(void)
{
	int k;

	for (k = 0; k < KINDS; k++)
		EventLast[k] = written[k] = EventBuffer[k] + SIZE;
}

/* An event of the log. */
struct copy {
	uint64_t clock;
	size_t order, size;
	unsigned kind;
	void *bytes;
};

static int
compare(const void *left, const void *right)
{
	const struct copy *a = left, *b = right;

	if (a->clock != b->clock)
		return a->clock < b->clock ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* Does what the MPS does with an event. */
static void
emit(const struct copy *c)
{
	if (c->size > (size_t)(EventLast[c->kind] - EventBuffer[c->kind]))
		flush();
	EventLast[c->kind] -= c->size;
	memcpy(EventLast[c->kind], c->bytes, c->size);
}

int
main(int argc, char **argv)
{
	size_t most = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000000;
	static struct copy list[100000];
	tel_reader *r = tel_reader_new();
	const tel_event *ev;
	const void *bytes;
	size_t n = 0, i;

	if (r == NULL || argc < 2 || tel_reader_open_file(r, argv[1]) != TEL_OK)
		return 1;
	for (; n < 100000 && tel_reader_next(r, &ev) == TEL_OK; n++) {
		bytes = tel_event_bytes(ev, &list[n].size);
		list[n].kind = tel_type_kind_number(tel_event_type(ev));
		list[n].clock = tel_event_clock(ev);
		list[n].order = n;
		list[n].bytes = malloc(list[n].size);
		if (list[n].bytes == NULL)
			return 1;
		memcpy(list[n].bytes, bytes, list[n].size);
	}
	qsort(list, n, sizeof(*list), compare);
	flush();
	for (i = 0; i < n && i < most; i++)
		emit(&list[i]);
	printf("%p %p\n", (void *)EventBuffer, (void *)written[0]);
	fflush(stdout);
	abort();
}
