/* SPDX-License-Identifier: BSD-2-Clause */
/* What events mean to an allocator, by the roles of their types. */
#include <stddef.h>
#include <string.h>

#include "must.h"
#include "tel.h"

#define HEAD "# teltools text 1\n"
#define NONE \
	(tel_alloc) \
	{ \
		0 \
	}

/* Whether the field that is a part of an event's role holds a value. */
static int
part_is(const tel_event *ev, const tel_alloc *a, const char *part, uint64_t v)
{
	const tel_type *t = tel_event_type(ev);
	int i = tel_type_role_field(t, part);

	if (a->kind == TEL_ALLOC_NONE)
		return tel_type_role(t)[0] == '\0' && i == -1;
	/* sizes of several elements are the product of two fields */
	if (i < 0 || a->kind == TEL_ALLOC_REALLOC)
		return i >= 0 || v == 0;
	return tel_event_u64(ev, (unsigned)i) == v;
}

static int
same(const tel_alloc *a, const tel_alloc *b)
{
	return a->kind == b->kind && a->failed == b->failed &&
	    a->sized == b->sized && a->address == b->address &&
	    a->old == b->old && a->size == b->size && a->count == b->count &&
	    a->alignment == b->alignment && a->thread == b->thread &&
	    a->pool == b->pool && a->buffer == b->buffer &&
	    a->clock == b->clock && a->call == b->call;
}

/*
 * Nonzero when a program whose structure is shorter, or longer, gets what it
 * has room for, zeros behind what the library knows, and nothing beyond.
 */
static int
sizes_agree(const tel_event *ev, const tel_alloc *all)
{
	const size_t older = offsetof(tel_alloc, weight);
	struct {
		tel_alloc op;
		unsigned char more[8], left[8];
	} got;
	static const unsigned char none[8];

	memset(&got, 0xA5, sizeof(got));
	(void)tel_event_alloc(ev, &got.op, older);
	if (!same(&got.op, all) || got.op.weight != 0xA5A5A5A5A5A5A5A5)
		return 0;
	memset(&got, 0xA5, sizeof(got));
	(void)tel_event_alloc(ev, &got.op, sizeof(got.op) + sizeof(got.more));
	return same(&got.op, all) && got.op.weight == all->weight &&
	    memcmp(got.more, none, sizeof(none)) == 0 && got.left[0] == 0xA5;
}

/* Reads the events of a text, at most n.  How many there were. */
static unsigned
read_allocs(const char *text, tel_alloc *out, unsigned n)
{
	tel_reader *r = tel_reader_new();
	const tel_event *ev;
	unsigned i = 0;
	int agree = 1;

	if (r == NULL ||
	    tel_reader_open_memory(r, text, strlen(text), "text") != TEL_OK) {
		ok(0, "a reader");
		tel_reader_free(r);
		return 0;
	}
	while (tel_reader_next(r, &ev) == TEL_OK && i < n) {
		agree &= tel_event_alloc(ev, &out[i], sizeof(out[i])) ==
		    (out[i].kind != TEL_ALLOC_NONE);
		agree &= part_is(ev, &out[i], "size", out[i].size) &&
		    part_is(ev, &out[i], "thread", out[i].thread) &&
		    part_is(ev, &out[i], "pool", out[i].pool);
		agree &= sizes_agree(ev, &out[i]);
		i++;
	}
	ok(agree, "1 is returned for an operation, and 0 for none");
	tel_reader_free(r);
	return i;
}

static void
check(const char *text, const tel_alloc *want, unsigned n, const char *what)
{
	tel_alloc got[16];
	unsigned count = read_allocs(text, got, 16), i;

	for (i = 0; i < count && i < n; i++)
		if (!same(&got[i], &want[i]))
			break;
	if (!ok(i == n && count == n, "%s", what))
		diag("of %u events number %u is not as it should be", count, i);
}

static void
test_mps(void)
{
	static const char text[] = HEAD
	    "# format: mps-1.118.0\n"
	    "0000000000000001 PoolInit pool=0x10 arena=0x1 poolClass=0x2 "
	    "serial=1\n"
	    "0000000000000002 PoolInitMFS pool=0x10 extendBy=1 "
	    "extendSelf=true unitSize=8\n"
	    "0000000000000003 PoolAlloc pool=0x10 pReturn=0x100 size=64\n"
	    "0000000000000004 PoolFree pool=0x10 old=0x100 size=32\n"
	    "0000000000000005 BufferInit buffer=0x20 pool=0x10 "
	    "isMutator=true\n"
	    "0000000000000006 BufferInitSeg buffer=0x20 pool=0x10 "
	    "isMutator=true\n"
	    "0000000000000007 BufferReserve buffer=0x20 init=0x200 size=48\n"
	    "0000000000000008 BufferCommit buffer=0x20 p=0x200 size=48 "
	    "clientClass=0x0\n"
	    "0000000000000009 BufferFinish buffer=0x20\n"
	    "000000000000000a PoolFinish pool=0x10 arena=0x1\n"
	    "000000000000000b ArenaDestroy arena=0x1\n";
	static const tel_alloc want[] = {
		{ .kind = TEL_ALLOC_POOL_CREATE, .pool = 0x10, .clock = 1 },
		{ .kind = TEL_ALLOC_POOL_DESCRIBE, .pool = 0x10, .clock = 2 },
		{ .kind = TEL_ALLOC_MALLOC,
		    .address = 0x100,
		    .size = 64,
		    .pool = 0x10,
		    .clock = 3 },
		{ .kind = TEL_ALLOC_FREE,
		    .sized = 1,
		    .address = 0x100,
		    .size = 32,
		    .pool = 0x10,
		    .clock = 4 },
		{ .kind = TEL_ALLOC_BUFFER_CREATE,
		    .pool = 0x10,
		    .buffer = 0x20,
		    .clock = 5 },
		{ 0 },
		{ .kind = TEL_ALLOC_RESERVE,
		    .address = 0x200,
		    .size = 48,
		    .buffer = 0x20,
		    .clock = 7 },
		{ .kind = TEL_ALLOC_COMMIT,
		    .address = 0x200,
		    .size = 48,
		    .buffer = 0x20,
		    .clock = 8 },
		{ .kind = TEL_ALLOC_BUFFER_DESTROY,
		    .buffer = 0x20,
		    .clock = 9 },
		{ .kind = TEL_ALLOC_POOL_DESTROY, .pool = 0x10, .clock = 10 },
		{ 0 },
	};

	check(text, want, 11, "events of the MPS, 1.118.0");
	check(HEAD "# format: mps-1.115.0\n"
	           "0000000000000001 PoolInitAMC pool=0x10 format=0x1\n"
	           "0000000000000002 PoolFinish pool=0x10\n",
	    (const tel_alloc[]){
	        { .kind = TEL_ALLOC_POOL_CREATE, .pool = 0x10, .clock = 1 },
	        { .kind = TEL_ALLOC_POOL_DESTROY, .pool = 0x10, .clock = 2 } },
	    2, "before 1.116.0 each class says itself that a pool begins");
}

static void
test_text(void)
{
	static const char text[] = HEAD
	    "# format: mine\n"
	    "# type: grab 1 Alloc p:address n:unsigned t:unsigned:32\n"
	    "# type: zero 2 Alloc p:address n:unsigned c:unsigned\n"
	    "# type: line 3 Alloc p:address n:unsigned a:unsigned\n"
	    "# type: grow 4 Alloc p:address q:address n:unsigned c:unsigned\n"
	    "# type: drop 5 Alloc p:address t:unsigned:32\n"
	    "# type: take 6 Alloc id:unsigned n:unsigned\n"
	    "# type: done 7 Alloc t:unsigned\n"
	    "# type: make 8 Alloc p:address n:unsigned\n"
	    "# type: lose 9 Alloc p:address\n"
	    "# type: sink 10 Alloc p:address n:unsigned\n"
	    "# type: part 11 Alloc p:address n:unsigned\n"
	    "# role: grab alloc p n - thread=t\n"
	    "# role: zero alloc p n - count=c\n"
	    "# role: line alloc p n - alignment=a\n"
	    "# role: grow realloc p n - old=q count=c\n"
	    "# role: drop free p thread=t\n"
	    "# role: take alloc address=id size=n\n"
	    "# role: done end-thread thread=t\n"
	    "# role: make new p n\n"
	    "# role: lose delete p\n"
	    "# role: sink delete-sized p n\n"
	    "# role: part free-sized p n\n"
	    "0000000000000001 grab p=0x10 n=5 t=7\n"
	    "0000000000000002 grab p=0x0 n=5 t=7\n"
	    "0000000000000003 zero p=0x20 n=5 c=6\n"
	    "0000000000000004 line p=0x40 n=5 a=64\n"
	    "0000000000000005 grow p=0x50 q=0x10 n=3 c=4\n"
	    "0000000000000006 grow p=0x0 q=0x50 n=3 c=0\n"
	    "0000000000000007 grow p=0x0 q=0x50 n=9223372036854775808 c=2\n"
	    "0000000000000008 drop p=0x10 t=8\n"
	    "0000000000000009 take id=0 n=100\n"
	    "000000000000000a done t=8\n"
	    "000000000000000b make p=0x10 n=3\n"
	    "000000000000000c lose p=0x10\n"
	    "000000000000000d sink p=0x10 n=3\n"
	    "000000000000000e part p=0x10 n=4\n";
	static const tel_alloc want[] = {
		{ .kind = TEL_ALLOC_MALLOC,
		    .address = 0x10,
		    .size = 5,
		    .thread = 7,
		    .clock = 1 },
		{ .kind = TEL_ALLOC_MALLOC,
		    .failed = 1,
		    .size = 5,
		    .thread = 7,
		    .clock = 2 },
		{ .kind = TEL_ALLOC_CALLOC,
		    .address = 0x20,
		    .size = 5,
		    .count = 6,
		    .clock = 3 },
		{ .kind = TEL_ALLOC_ALIGNED,
		    .address = 0x40,
		    .size = 5,
		    .alignment = 64,
		    .clock = 4 },
		{ .kind = TEL_ALLOC_REALLOC,
		    .address = 0x50,
		    .old = 0x10,
		    .size = 12,
		    .clock = 5 },
		{ .kind = TEL_ALLOC_REALLOC, .old = 0x50, .clock = 6 },
		{ .kind = TEL_ALLOC_REALLOC,
		    .failed = 1,
		    .old = 0x50,
		    .size = UINT64_MAX,
		    .clock = 7 },
		{ .kind = TEL_ALLOC_FREE,
		    .address = 0x10,
		    .thread = 8,
		    .clock = 8 },
		{ .kind = TEL_ALLOC_MALLOC,
		    .address = 1,
		    .size = 100,
		    .clock = 9 },
		{ .kind = TEL_ALLOC_THREAD_END, .thread = 8, .clock = 10 },
		{ .kind = TEL_ALLOC_MALLOC,
		    .address = 0x10,
		    .size = 3,
		    .clock = 11,
		    .call = TEL_CALL_CXX },
		{ .kind = TEL_ALLOC_FREE,
		    .address = 0x10,
		    .clock = 12,
		    .call = TEL_CALL_CXX },
		{ .kind = TEL_ALLOC_FREE,
		    .address = 0x10,
		    .sized = 1,
		    .size = 3,
		    .clock = 13,
		    .call = TEL_CALL_CXX_SIZED },
		{ .kind = TEL_ALLOC_FREE,
		    .address = 0x10,
		    .sized = 1,
		    .size = 4,
		    .clock = 14,
		    .call = TEL_CALL_C_SIZED },
	};

	check(text, want, 14, "roles that a text says");
}

/* The age of blocks at the end is that at the last event, whatever it is. */
static void
test_age(void)
{
	static const char text[] = "# teltools text 1\n"
	                           "# type: A 1 K p:pointer size:unsigned\n"
	                           "# role: A alloc p size -\n"
	                           "# type: Other 2 K\n"
	                           "0000000000000001 A p=0x10 size=1\n"
	                           "0000000000000004 A p=0x20 size=2\n"
	                           "0000000000000005 Other\n";
	tel_reader *r = must(tel_reader_new());
	tel_heap *h = must(tel_heap_new());
	const tel_event *ev;
	tel_heap_stack all;

	must_ok(tel_heap_set_min_age(h, 4));
	must_ok(tel_reader_open_memory(r, text, sizeof(text) - 1, "text"));
	while (tel_reader_next(r, &ev) == TEL_OK)
		must_ok(tel_heap_event(h, ev));
	tel_heap_end(h);
	tel_heap_total(h, &all);
	is_u64(all.live_bytes, 1, "bytes that live for 4 ticks at the end");
	tel_heap_free(h);
	tel_reader_free(r);
}

int
main(void)
{
	test_age();
	test_mps();
	test_text();
	return done();
}
