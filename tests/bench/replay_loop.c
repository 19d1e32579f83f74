/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loop that anybody would write to replay a trace: the judge of what
 * telreplay takes itself.
 *
 * replay_loop TRACE RUNS: reads lines "1: malloc 0xADDRESS SIZE" and "1: free
 * 0xADDRESS", and prints the least CPU nanoseconds an operation of so many
 * runs, with an allocator that does nothing and a byte of each page touched.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BLOCKS (1u << 20)
#define PAGE 4096

struct operation {
	uint32_t slot;
	uint32_t size; /* FREED: it is freed */
};
#define FREED UINT32_MAX

static unsigned char block[1 << 16];

static void *
null_malloc(size_t size)
{
	(void)size;
	return block;
}

static void
null_free(void *p)
{
	(void)p;
}

/* What the compiler cannot know. */
static void *(*volatile malloc_function)(size_t) = null_malloc;
static void (*volatile free_function)(void *) = null_free;

static uint64_t
cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void
run(const struct operation *p, const struct operation *end, void **slots)
{
	void *(*allocate)(size_t) = malloc_function;
	void (*release)(void *) = free_function;
	unsigned char *b;
	uint32_t i;

	for (; p < end; p++) {
		if (p->size == FREED) {
			release(slots[p->slot]);
			slots[p->slot] = NULL;
			continue;
		}
		b = allocate(p->size);
		slots[p->slot] = b;
		if (b == NULL)
			abort();
		for (i = 0; i < p->size; i += PAGE)
			((volatile unsigned char *)b)[i] = 1;
	}
}

/* The slot of an address, which is a multiple of a page. */
static uint32_t
slot_of(uint64_t address, int freed)
{
	static uint32_t slots[BLOCKS], fresh = 1, frees, unused[BLOCKS];
	uint32_t *slot = &slots[address / PAGE % BLOCKS], was = *slot;

	if (freed) {
		unused[frees++] = was;
		*slot = 0;
		return was;
	}
	*slot = frees > 0 ? unused[--frees] : fresh++;
	return *slot;
}

int
main(int argc, char **argv)
{
	FILE *trace = argc == 3 ? fopen(argv[1], "r") : NULL;
	struct operation *ops = NULL;
	size_t n = 0, room = 0;
	uint64_t address, size, least = UINT64_MAX, ns;
	static void *slots[BLOCKS];
	char word[16], line[128];
	int i, runs = argc == 3 ? atoi(argv[2]) : 0;

	while (trace != NULL && fgets(line, sizeof(line), trace) != NULL) {
		size = FREED;
		if (sscanf(line, "%*u: %15s 0x%lx %lu", word, &address, &size) <
		    2)
			return 1;
		if (n == room) {
			room = room == 0 ? 1 << 16 : room * 2;
			ops = realloc(ops, room * sizeof(*ops));
			if (ops == NULL)
				return 1;
		}
		ops[n].slot = slot_of(address, word[0] == 'f');
		ops[n++].size = (uint32_t)size;
	}
	for (i = 0; i < runs; i++) {
		ns = cpu_ns();
		run(ops, ops + n, slots);
		ns = cpu_ns() - ns;
		if (ns < least)
			least = ns;
	}
	printf("%.3f\n", n > 0 ? (double)least / (double)n : 0);
	return 0;
}
