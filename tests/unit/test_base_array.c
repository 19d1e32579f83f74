/* SPDX-License-Identifier: BSD-2-Clause */
/* Arrays and buffers that grow, with and without memory. */
#include "failing.h"

#include "base/array.c"
#include "base/buffer.c"

#include "tap.h"

static void
test_grow(void)
{
	uint32_t *list = NULL, i;
	size_t room = 0, grown = 0, before;
	int right = 1;

	for (i = 0; i < 100000; i++) {
		before = room;
		if (!TEL__RESERVE(list, room, (size_t)i + 1))
			break;
		grown += room != before;
		list[i] = i;
	}
	ok(i == 100000 && grown <= 15, "100000 elements, room %zu, grown %zu",
	    room, grown);
	while (i-- > 0)
		right &= list[i] == i;
	ok(right, "they are all there");
	before = room;
	ok(TEL__RESERVE(list, room, 5) && room == before,
	    "a room that is large enough stays");
	free(list);
}

static void
test_zeroed(void)
{
	unsigned char *list = NULL;
	size_t room = 0, i;
	int zero = 1;

	ok(TEL__RESERVE_ZEROED(list, room, 8) && room == 8, "eight elements");
	memset(list, 1, 8);
	ok(TEL__RESERVE_ZEROED(list, room, 9) && room == 16, "and more");
	for (i = 0; i < room; i++)
		zero &= list[i] == (i < 8);
	ok(zero, "what is new is zero, what was there stays");
	free(list);
}

static void
test_array_fails(void)
{
	uint64_t *list = NULL, *old;
	size_t room = 0;

	ok(TEL__RESERVE(list, room, 4) && room == 8, "room for eight");
	old = list;
	list[3] = 7;
	failing_after = 0;
	ok(!TEL__RESERVE(list, room, 9) && list == old && room == 8 &&
	        list[3] == 7,
	    "no memory: the array is as it was");
	ok(!TEL__RESERVE_ZEROED(list, room, 9) && list == old && room == 8,
	    "the same for zeroed ones");
	ok(!TEL__RESIZE(list, 5) && list == old, "the same for TEL__RESIZE");
	ok(tel__copy_string("abc", 3) == NULL, "a copy without memory");
	failing_after = UINT32_MAX;
	failing_asked = 0;
	ok(!TEL__RESERVE(list, room, SIZE_MAX / 8 + 1) && failing_asked == 0,
	    "bytes that overflow are not asked for");
	ok(!TEL__RESERVE(list, room, SIZE_MAX) &&
	        !TEL__RESIZE(list, SIZE_MAX) &&
	        !TEL__RESIZE(list, (size_t)PTRDIFF_MAX / 8 + 1) &&
	        failing_asked == 0,
	    "nor are more than a pointer can tell apart");
	ok(list == old && room == 8, "the array is as it was");
	free(list);
}

static void
test_next(void)
{
	ok(tel__array_next(0, 1) == 8 && tel__array_next(8, 9) == 16 &&
	        tel__array_next(8, 16) == 16 && tel__array_next(8, 100) == 100,
	    "rooms double, and are what is needed at least");
	ok(tel__array_next(SIZE_MAX / 2 + 1, SIZE_MAX) == SIZE_MAX &&
	        tel__array_next(SIZE_MAX, SIZE_MAX) == SIZE_MAX,
	    "a room that cannot double is what is needed");
}

static void
test_copy(void)
{
	char *copy = tel__copy_string("a\0bc", 3);

	ok(copy != NULL && memcmp(copy, "a\0b", 4) == 0,
	    "a copy has all bytes and a NUL");
	free(copy);
	copy = tel__copy_string(NULL, 0);
	is_str(copy, "", "a copy of nothing");
	free(copy);
	ok(tel__copy_string("", SIZE_MAX) == NULL, "a copy too large");
}

static void
test_buffer(void)
{
	struct tel__buffer b = { NULL, 0, 0, 0 };
	unsigned i;
	int right = 1;

	tel__buffer_put(&b, NULL, 0);
	ok(b.bytes == NULL && !b.failed, "nothing takes no memory");
	for (i = 0; i < 10000; i++)
		tel__buffer_put(&b, &i, sizeof(i));
	for (i = 0; i < 10000; i++)
		right &= memcmp(b.bytes + i * sizeof(i), &i, sizeof(i)) == 0;
	ok(right && b.used == 10000 * sizeof(i) && !b.failed,
	    "what was put is there");
	tel__buffer_put_varint(&b, 300);
	ok(memcmp(b.bytes + 10000 * sizeof(i), "\254\2", 2) == 0 &&
	        b.used == 10000 * sizeof(i) + 2,
	    "a varint");
	tel__buffer_clear(&b);
	ok(b.bytes == NULL && b.used == 0 && b.room == 0, "cleared");
}

static void
test_buffer_fails(void)
{
	struct tel__buffer b = { NULL, 0, 0, 0 };
	char much[1000] = "";

	tel__buffer_put(&b, "abc", 3);
	failing_after = 0;
	tel__buffer_put(&b, much, sizeof(much));
	ok(b.failed && b.used == 3 && memcmp(b.bytes, "abc", 3) == 0,
	    "no memory: what was there stays");
	failing_after = UINT32_MAX;
	b.failed = 0;
	ok(tel__buffer_room(&b, SIZE_MAX) == NULL && b.failed,
	    "more than there can be");
	b.failed = 0;
	b.used = b.room;
	failing_after = 0;
	tel__buffer_put_varint(&b, 1);
	ok(b.failed && b.used == b.room, "a varint without memory");
	failing_after = UINT32_MAX;
	tel__buffer_clear(&b);
}

int
main(void)
{
	test_grow();
	test_zeroed();
	test_array_fails();
	test_next();
	test_copy();
	test_buffer();
	test_buffer_fails();
	return done();
}
