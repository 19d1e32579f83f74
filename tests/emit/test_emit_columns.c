/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libtel-emit: events that are given as columns, which take one of the modes of
 * tel(5), are read as they were given.
 */
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "tel.h"
#include "tel_emit.h"

enum { CODE = 7, MOST = TEL_EMIT_COLUMNS_MAX };

/* The log. */
static unsigned char *bytes;
static size_t used, room;

static int
take_bytes(void *arg, const void *p, size_t n)
{
	(void)arg;
	if (n > room - used) {
		room = 2 * (used + n);
		bytes = realloc(bytes, room);
		if (bytes == NULL)
			return -1;
	}
	memcpy(bytes + used, p, n);
	used += n;
	return 0;
}

static uint64_t state = 1;

static uint64_t
next(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state >> 20;
}

enum shape {
	SAME,
	LINE,
	FIXED,     /* of random values of some bytes */
	ODD,       /* the same, with low bits in common */
	VARIED,    /* of any length */
	RARE,      /* short ones, and a few that are long */
	STEPS,     /* short steps up and down */
	FAR_STEPS, /* the same, and a few long ones */
	CLUSTERS,  /* two places, far from each other */
	FEW,       /* distinct values: a table */
	MANY,      /* nearly too many for a table */
	LATE,      /* a table, by the values at the front */
	EXTREMES,
	DRAWN, /* as the test draws it */
	SHAPES
};

/* What a column of the shape DRAWN is like. */
static struct drawn {
	uint64_t base, mask, far;
	unsigned shift;  /* of the values */
	unsigned one_of; /* so many there is a far one; 0: none is */
	int steps, negative;
	unsigned few; /* distinct values, or 0 */
} drawn;

static struct drawn
draw(void)
{
	struct drawn d;

	d.shift = (unsigned)(next() % 40);
	d.mask = UINT64_MAX >> (next() % 63 + 1);
	d.base = next() % 3 == 0 ? next() << (next() % 64) : next() % 5000;
	d.far = next() << (next() % 64);
	d.one_of = next() % 2 == 0 ? (unsigned)(next() % 2000) : 0;
	d.steps = next() % 3 == 0;
	d.negative = next() % 2 == 0;
	d.few = next() % 4 == 0 ? (unsigned)(next() % 300) : 0;
	return d;
}

static uint64_t
drawn_value(uint64_t r, uint64_t before)
{
	/* next() has 44 bits */
	uint64_t v = r ^ next() << 32;

	if (drawn.few > 0)
		v = v % drawn.few * UINT64_C(0x9e3779b97f4a7c15);
	v = (v & drawn.mask) << drawn.shift;
	if (drawn.one_of > 0 && r % drawn.one_of == 0)
		v ^= drawn.far;
	if (drawn.negative && r & 1)
		v = 0 - v;
	return v + (drawn.steps ? before : drawn.base);
}

static uint64_t
value(enum shape shape, unsigned i, unsigned n, uint64_t before)
{
	const uint64_t r = next();

	switch (shape) {
	case SAME: return 0x123456789;
	case LINE: return 5000 - 48 * (uint64_t)i;
	case FIXED: return 0x7f0000000000 + 16 * (r & 0xFFFF);
	case ODD: return 0x7f0000000010 + 32 * (r & 0xFFFF);
	case VARIED: return r >> (r & 31) << (r >> 5 & 15);
	case RARE: return r % 100 != 0 ? r % 200 : r << 13;
	case STEPS: return before + (r & 0xFF) * 64 - 128 * 64;
	case FAR_STEPS:
		return r % 50 != 0 ? before + (r & 0x7F) : before - (r << 8);
	case CLUSTERS:
		return (r & 1 ? 0x7fff00000000 : 0x555500000000) + (r & 0xFFF0);
	case FEW: return (r % 11) * 1000003;
	case MANY: return (r % 250) * (r % 250) * 77777;
	case LATE: return i < n / 2 ? r % 9 * 4096 : r;
	case DRAWN: return drawn_value(r, before);
	default:
		return r % 3 == 0 ? UINT64_MAX :
		    r % 3 == 1    ? 0 :
		                    (uint64_t)1 << 63;
	}
}

static uint64_t columns[2][MOST];

static int
relay(unsigned n)
{
	static uint8_t order[MOST];
	static uint32_t shared[1];
	static const uint64_t threads[2] = { 11, 12 };
	const uint64_t clocks[1] = { tel_emit_clock() };
	const uint64_t *first[3], *second[3];
	const unsigned half = n / 2;
	tel_emit_part parts[2] = { { .code = CODE,
		                       .count = n - half,
		                       .same = 4,
		                       .columns = first },
		{ .code = CODE, .count = half, .same = 4, .columns = second } };
	tel_emit_columns all = { 0 };
	unsigned i;

	/* two parts of one type: the events of two threads, by turns */
	for (i = 0; i < 2; i++) {
		first[i] = columns[i];
		second[i] = columns[i] + (n - half);
	}
	first[2] = &threads[0];
	second[2] = &threads[1];
	for (i = 0; i < n; i++)
		order[i] = i & 1;
	shared[0] = n;
	all.count = n;
	all.parts = parts;
	all.part_count = half > 0 ? 2 : 1;
	all.order = order;
	all.clocks = clocks;
	all.shared = shared;
	all.clock_count = 1;
	return tel_emit_relay(&all);
}

/* A stream of events of a type with code CODE. */
static void
emit(const tel_emit_list *list, unsigned n)
{
	const tel_emit_options options = { .flags = TEL_EMIT_NO_THREAD };

	if (tel_emit_open(&options, list) != 0 ||
	    tel_emit_to_function(take_bytes, NULL, ~0u) == NULL ||
	    relay(n) != 0)
		diag("emit: %s", tel_emit_error());
	tel_emit_close();
}

/* Whether the log has the events, from event i on. */
static int
compare(tel_reader *r, unsigned n)
{
	const tel_event *ev;
	unsigned i, at;

	for (i = 0; i < n; i++) {
		do
			if (tel_reader_next(r, &ev) != TEL_OK)
				return 0;
		while (tel_type_code(tel_event_type(ev)) != CODE);
		at = i / 2 + (i & 1 ? n - n / 2 : 0);
		if (tel_event_u64(ev, 0) != columns[0][at] ||
		    tel_event_u64(ev, 1) != columns[1][at] ||
		    tel_event_u64(ev, 2) != 11 + (i & 1)) {
			diag("event %u of %u", i, n);
			return 0;
		}
	}
	return 1;
}

static int
test(enum shape shape, unsigned n)
{
	static const tel_emit_param params[] = { { "A", "a", "", "", "", 0 },
		{ "U64", "n", "", "", "", 0 },
		{ "U32", "thread", "", "", "alloc:thread", 0 } };
	static const tel_emit_kind kinds[] = { { "Number", 0, "" } };
	static const tel_emit_type types[] = { { "pair", CODE, 1, 0, "", params,
	    3 } };
	static const tel_emit_list list = { "columns", 1, 0, 0, kinds, 1, types,
		1 };
	tel_reader *r;
	unsigned i, k;
	int same;

	for (k = 0; k < 2; k++)
		for (i = 0; i < n; i++) {
			columns[k][i] = value(shape, i, n,
			    i > 0 ? columns[k][i - 1] : 0x7f0000000000);
			/* the first one is of addresses */
			if (k == 0)
				columns[k][i] = (uintptr_t)columns[k][i];
		}
	used = 0;
	emit(&list, n);
	r = tel_reader_new();
	same = tel_reader_open_memory(r, bytes, used, "columns") == TEL_OK &&
	    compare(r, n);
	tel_reader_free(r);
	return same;
}

/*
 * Streams in one file whose types have the same name, but differ in one part: the
 * name of its kind, a role.
 */
static void
test_alike(void)
{
	static const struct {
		const char *kind, *role;
	} parts[] = { { "Number", "" }, { "Other", "" },
		{ "Other", "free:address" } };
	tel_reader *r = tel_reader_new();
	const tel_event *ev;
	const tel_type *t;
	tel_alloc alloc;
	unsigned i, right = 0;

	memset(columns, 0, sizeof(columns));
	used = 0;
	for (i = 0; i < 3; i++) {
		const tel_emit_param params[] = { { "A", "a", "", "",
			                              parts[i].role, 0 },
			{ "U64", "n", "", "", "", 0 },
			{ "U32", "thread", "", "", "", 0 } };
		const tel_emit_kind kind = { parts[i].kind, 0, "" };
		const tel_emit_type type = { "pair", CODE, 1, 0, "", params,
			3 };
		const tel_emit_list list = { "alike", 1, 0, 0, &kind, 1, &type,
			1 };

		emit(&list, 1);
	}
	if (tel_reader_open_memory(r, bytes, used, "alike") != TEL_OK)
		diag("%s", tel_reader_error(r));
	for (i = 0; i < 3 && tel_reader_next(r, &ev) == TEL_OK;) {
		t = tel_event_type(ev);
		if (tel_type_code(t) != CODE)
			continue;
		right += strcmp(tel_type_kind(t), parts[i].kind) == 0 &&
		    tel_event_alloc(ev, &alloc, sizeof(alloc)) ==
		        (parts[i].role[0] != '\0');
		i++;
	}
	is_u64(right, 3, "events of types that are alike have their own");
	tel_reader_free(r);
}

/* A thread that each of many blocks names, and that has another name at last. */
static void
test_names(void)
{
	const tel_emit_param params[] = { { "U64", "n", "", "", "", 0 },
		{ "U32", "thread", "", "", ":thread", 0 } };
	const tel_emit_kind kind = { "Number", 0, "" };
	const tel_emit_type type = { "one", CODE, 0, 0, "", params, 2 };
	const tel_emit_list list = { "names", 1, 0, 0, &kind, 1, &type, 1 };
	const tel_emit_options options = { .flags = TEL_EMIT_NO_THREAD };
	enum { BLOCKS = 17000 };
	uint64_t n = 0, thread = 7, clock = 0;
	const uint64_t *all[2] = { &n, &thread };
	tel_emit_part part = { .code = CODE, .count = 1, .columns = all };
	tel_emit_name name = { 2, 7, "first" };
	const unsigned char order = 0;
	const uint32_t one = 1;
	tel_reader *r = tel_reader_new();
	const tel_event *ev;
	unsigned right = 0;
	const char *label;
	size_t length;
	int good = 1;

	used = 0;
	good &= tel_emit_open(&options, &list) == 0 &&
	    tel_emit_to_function(take_bytes, NULL, ~0u) != NULL;
	for (; n < BLOCKS && good; n++) {
		const tel_emit_columns columns_of_one = { .count = 1,
			.part_count = 1,
			.parts = &part,
			.order = &order,
			.clock_count = 1,
			.clocks = &clock,
			.shared = &one,
			.name_count = 1,
			.names = &name };

		clock = tel_emit_clock();
		name.name = n + 1 < BLOCKS ? "first" : "last";
		good &= tel_emit_relay(&columns_of_one) == 0;
	}
	tel_emit_close();
	good &= tel_reader_open_memory(r, bytes, used, "names") == TEL_OK;
	while (good && tel_reader_next(r, &ev) == TEL_OK) {
		if (tel_type_code(tel_event_type(ev)) != CODE)
			continue;
		label = tel_event_label(ev, 1, &length);
		name.name =
		    tel_event_u64(ev, 0) + 1 < BLOCKS ? "first" : "last";
		right += label != NULL && length == strlen(name.name) &&
		    memcmp(label, name.name, length) == 0;
	}
	is_u64(right, BLOCKS, "events have the name of their thread");
	tel_reader_free(r);
}

int
main(void)
{
	static const unsigned counts[] = { 1, 2, 3, 4, 5, 127, 128, 129, 513,
		1024, 1030, 5001, MOST };
	enum shape shape;
	const char *rounds = getenv("TEST_ROUNDS");
	unsigned i, n;
	int same;

	for (shape = 0; shape < DRAWN; shape++) {
		same = 1;
		for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
			same &= test(shape, counts[i]);
		ok(same, "columns of shape %d", (int)shape);
	}
	same = 1;
	n = rounds != NULL ? (unsigned)strtoul(rounds, NULL, 10) : 300;
	for (i = 0; i < n && same; i++) {
		drawn = draw();
		same = test(DRAWN,
		    i % 10 == 0 ? MOST : 1 + (unsigned)(next() % 1500));
	}
	ok(same, "%u columns of drawn shapes", i);
	test_alike();
	test_names();
	free(bytes);
	return done();
}
