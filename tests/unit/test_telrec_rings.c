/* SPDX-License-Identifier: BSD-2-Clause */
/* Records of rings that a program has overwritten: telrec reads what is there. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "telrec/columns.c"
#include "telrec/flight.c"
#include "telrec/rings.c"
#include "telrec/types.c"
#include "telrec/weights.c"

#include "tap.h"
#include "telrec_without.h"

/* What libtel-emit does with them. */
int
tel_emit_relay(const tel_emit_columns *events)
{
	(void)events;
	return 0;
}

static uint64_t words[ARENA_RING_WORDS];
static struct arena_ring ring;

/* Takes n words from place at on; how many events they are. */
static unsigned
take(struct columns *to, uint32_t at, uint32_t n)
{
	struct cursor c;
	const unsigned before = to->count;

	memset(&c, 0, sizeof(c));
	c.ring = &ring;
	c.words = words;
	c.at = at;
	c.end = at + n;
	c.source.process = "test";
	(void)rings_take(to, &c, UINT64_MAX, NULL);
	ok(c.at == c.end && ring.tail == c.end,
	    "%u words from %u on are read to their end", n, at);
	return to->count - before;
}

static void
set_word(uint32_t at, uint64_t word)
{
	words[at & (ARENA_RING_WORDS - 1)] = word;
}

/* All columns of a set are in its memory, and none is in another one. */
static void
test_columns(uint32_t options, int mixed)
{
	struct set *set = new_set(options, mixed);
	const struct part *part;
	unsigned i, k, n, count = 0, bad = 0;
	uint8_t used[TYPES * TYPE_FIELDS] = { 0 };
	size_t at;

	for (i = 0; i < TYPES; i++)
		count += types_fields((enum type)i, options) + (mixed ? 2 : 0);
	for (i = 0; i < TYPES; i++) {
		part = &set->parts[i];
		n = part->fields + (mixed ? 2 : 0);
		bad += part->fields != types_fields((enum type)i, options);
		bad += (part->labels != NULL) !=
		    (i == TYPE_TRACE && options & ARENA_STACKS);
		for (k = 0; k < part->fields + 2; k++) {
			at = (uintptr_t)part->columns[k] -
			    (uintptr_t)set->memory;
			at /= COLUMNS_EVENTS * sizeof(set->memory[0]);
			bad += (part->same >> k & 1) != (k >= n);
			bad += k < n ? at >= count || used[at]++ > 0 :
			               part->columns[k] !=
			        (k > part->fields ? &set->tid : &set->pid);
		}
	}
	ok(bad == 0, "columns of options %u, mixed %d: %u are elsewhere",
	    (unsigned)options, mixed, bad);
	free_set(set);
}

int
main(void)
{
	struct columns *to = columns_new(0, 0, 0);
	uint64_t seed = 1;
	uint32_t i, k;

	if (to == NULL)
		return 1;
	for (i = 0; i < 8; i++)
		test_columns((i & 1 ? ARENA_STACKS : 0) |
		        (i & 2 ? ARENA_SAMPLES : 0),
		    i >> 2 & 1);
	/* without the test for the end this goes round until the count wraps */
	(void)alarm(60);
	set_word(0, UINT64_C(1) << 4 | ARENA_CLOCK);
	set_word(1, UINT64_C(0x1000) << 16 | 24 << 4 | ARENA_MALLOC);
	set_word(2, UINT64_C(0x1000) << 16 | ARENA_FREE);
	ok(take(to, 0, 3) == 2, "two events");
	set_word(2, UINT64_C(0x2000) << 16 | ARENA_REALLOCARRAY);
	ok(take(to, 0, 3) == 2, "one that seems to end later");
	set_word(2, UINT64_C(0xFFFFFF) << 16 | ARENA_MODULE << 4 | ARENA_MORE);
	ok(take(to, 0, 3) == 1, "a module that seems to end much later");
	/* where the count of words wraps, and the ring does */
	set_word(UINT32_MAX - 1, UINT64_C(1) << 4 | ARENA_CLOCK);
	set_word(UINT32_MAX, UINT64_C(0x1000) << 16 | 24 << 4 | ARENA_MALLOC);
	set_word(0, UINT64_C(0x2000) << 16 | ARENA_CALLOC);
	ok(take(to, UINT32_MAX - 1, 3) == 2, "at the end of the ring");
	/* anything */
	for (i = 0; i < 200; i++) {
		for (k = 0; k < ARENA_RING_WORDS; k++) {
			seed =
			    seed * 6364136223846793005u + 1442695040888963407u;
			words[k] = seed >> 30;
		}
		(void)take(to, i * 1000, 1 + (uint32_t)(seed >> 40) % 2000);
		columns_write(to, 0);
	}
	ok(!to->failed, "no failure");
	columns_free(to);
	return done();
}
