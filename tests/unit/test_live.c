/* SPDX-License-Identifier: BSD-2-Clause */
/* Live blocks: the ends of processes, where logs come together. */
#include "model/live.h"

#include <unistd.h>

#include "tap.h"

#define LOG 0x1234567890abcdefu

static struct {
	unsigned left;
	uint64_t bytes, clock;
} seen;

static tel_status
see(void *arg, enum tel__live_what what, struct tel__live_block *block,
    const tel_alloc *op)
{
	(void)arg;
	if (what != TEL__LIVE_LEFT)
		return TEL_OK;
	seen.left++;
	seen.bytes += block->size;
	seen.clock = op->clock;
	return TEL_OK;
}

static uint64_t now;

/* An operation of a process on its only block, whose size is its number. */
static void
take(struct tel__live *l, tel_alloc_kind kind, uint64_t process, uint64_t log)
{
	const tel_alloc op = { .kind = kind,
		.address = 0x1000,
		.size = process,
		.process = process,
		.clock = ++now };

	if (tel__live_take(l, &op, log) != TEL_OK)
		ok(0, "operation %llu", (unsigned long long)now);
}

static void
test_logs(struct tel__live *l)
{
	take(l, TEL_ALLOC_MALLOC, 1, 0);
	take(l, TEL_ALLOC_MALLOC, 2, 0);
	take(l, TEL_ALLOC_MALLOC, 1, LOG);
	take(l, TEL_ALLOC_PROCESS_END, 1, LOG);
	take(l, TEL_ALLOC_FREE, 2, 0);
	ok(seen.left == 0 && l->bytes == 2,
	    "what a process leaves lives while its log has no other operation");
	take(l, TEL_ALLOC_PROCESS_END, 1, 0);
	take(l, TEL_ALLOC_MALLOC, 3, 0);
	ok(seen.left == 1 && l->bytes == 1 + 3 && seen.clock == now - 1,
	    "it ends with its process in the one log, not in the other");
	take(l, TEL_ALLOC_MALLOC, 4, LOG);
	ok(seen.left == 2 && l->bytes == 3 + 4, "and then in the other");
}

/* Many processes end while many blocks live. */
static void
test_looks(struct tel__live *l)
{
	uint64_t looks;

	take(l, TEL_ALLOC_MALLOC, 5, 0);
	take(l, TEL_ALLOC_MALLOC, 6, 0);
	looks = l->looks;
	l->looks = UINT64_MAX / 2;
	take(l, TEL_ALLOC_PROCESS_END, 5, 0);
	take(l, TEL_ALLOC_PROCESS_END, 6, 0);
	take(l, TEL_ALLOC_MALLOC, 7, 0);
	ok(seen.left == 2 && l->bytes == 3 + 4 + 5 + 6 + 7,
	    "blocks may be looked at so often");
	l->looks = looks;
	take(l, TEL_ALLOC_FREE, 7, 0);
	ok(seen.left == 4 && l->bytes == 3 + 4 && seen.bytes == 1 + 1 + 5 + 6,
	    "what was left meanwhile ends later");
	is_u64(l->looks - looks, l->nblocks, "at one look");
}

/* A number is that of another process before what its first one left has ended. */
static void
test_again(void)
{
	struct tel__live l;
	const unsigned left = seen.left;

	tel__live_init(&l, see, NULL);
	take(&l, TEL_ALLOC_MALLOC, 1, 0);
	take(&l, TEL_ALLOC_MALLOC, 2, 0);
	l.looks = UINT64_MAX / 2;
	take(&l, TEL_ALLOC_PROCESS_END, 1, 0);
	take(&l, TEL_ALLOC_PROCESS_END, 2, 0);
	take(&l, TEL_ALLOC_MALLOC, 2, 0);
	l.looks = 0;
	take(&l, TEL_ALLOC_MALLOC, 3, 0);
	ok(seen.left == left + 1 && l.bytes == 2 + 3,
	    "what the next process of a number has lives");
	tel__live_clear(&l);
}

/* The place of a block that was freed still has the tag of its process. */
static void
test_places(struct tel__live *l)
{
	take(l, TEL_ALLOC_MALLOC, 8, 0);
	take(l, TEL_ALLOC_FREE, 8, 0);
	take(l, TEL_ALLOC_PROCESS_END, 8, 0);
	take(l, TEL_ALLOC_MALLOC, 9, 0);
	ok(seen.left == 4 && l->bytes == 3 + 4 + 9,
	    "a block that was freed ends once");
	take(l, TEL_ALLOC_PROCESS_END, 9, 0);
	take(l, TEL_ALLOC_PROCESS_END, 9, 0);
	take(l, TEL_ALLOC_PROCESS_END, 9, 0);
	ok(seen.left == 5 && l->nended == 1, "and so does a process");
}

/* Nor do those that wait for it cost each operation. */
static void
test_ends(void)
{
	const uint64_t n = 600000;
	struct tel__live l;

	(void)alarm(60);
	tel__live_init(&l, see, NULL);
	for (uint64_t i = 1; i <= n; i++)
		take(&l, TEL_ALLOC_MALLOC, i, 0);
	for (uint64_t i = 1; i <= n; i++)
		take(&l, TEL_ALLOC_PROCESS_END, i, 0);
	is_u64(l.nended <= n, 1, "many processes end one after the other");
	tel__live_clear(&l);
	(void)alarm(0);
}

int
main(void)
{
	struct tel__live l;

	tel__live_init(&l, see, NULL);
	test_logs(&l);
	test_looks(&l);
	test_places(&l);
	tel__live_clear(&l);
	test_ends();
	test_again();
	return done();
}
