/* SPDX-License-Identifier: BSD-2-Clause */
/* MPS streams: events decoded, repaired and stepped over. */
#include "mps_stream.h"

/* The fields of Windows' and of big-endian bit-fields, by hand. */
static void
test_bits(void)
{
	static const struct {
		const char *schema;
		const char *type;
		const char *field;
		unsigned offset, bit, size;
	} rows[] = {
		/* P pool, P arena, W, W, W, B slotHigh B arenaHigh B firstFit */
		{ "mps-1.111.0/lii6gc", "PoolInitMVFF", "slotHigh", 56, 0, 64 },
		{ "mps-1.111.0/lii6gc", "PoolInitMVFF", "firstFit", 56, 2, 64 },
		{ "mps-1.111.0/lii6gc,be", "PoolInitMVFF", "slotHigh", 56, 7,
		    64 },
		{ "mps-1.111.0/lii3gc", "PoolInitMVFF", "arenaHigh", 32, 1,
		    36 },
		{ "mps-1.111.0/w3i3mv", "PoolInitMVFF", "arenaHigh", 36, 1,
		    40 },
		/* P buffer, P pool, B isMutator, U rank */
		{ "mps-1.112.0/lii6gc", "BufferInitRank", "isMutator", 32, 0,
		    40 },
		{ "mps-1.112.0/w3i6mv", "BufferInitRank", "isMutator", 32, 0,
		    40 },
		{ "mps-1.112.0/lii6gc", "BufferInitRank", "rank", 36, 0, 40 },
		{ "mps-1.118.0/lii3gc", "ArenaSetEmergency", "emergency", 16, 0,
		    20 },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct tel_type *t;
		const struct tel_field *f;
		tel_schema *s;
		int n;

		if (tel_schema_new(rows[i].schema, &s) != TEL_OK)
			abort();
		t = tel_schema_find_type(s, rows[i].type);
		n = t != NULL ? tel_type_find_field(t, rows[i].field) : -1;
		if (!ok(n >= 0, "%s has %s.%s", rows[i].schema, rows[i].type,
		        rows[i].field)) {
			tel_schema_free(s);
			continue;
		}
		f = &t->fields[n];
		is_u64(f->offset, rows[i].offset, "%s %s offset",
		    rows[i].schema, rows[i].field);
		is_u64(f->bit, rows[i].bit, "%s %s bit", rows[i].schema,
		    rows[i].field);
		is_u64(t->size, rows[i].size, "%s %s size", rows[i].schema,
		    rows[i].type);
		tel_schema_free(s);
	}
}

/* A stream is one if half of its bytes are events. */
static void
test_halves(void)
{
	unsigned char data[512];
	tel_schema *s;
	size_t size = 0, n;
	unsigned i;

	if (tel_schema_new("mps-1.118.0/lii6gc", &s) != TEL_OK)
		abort();
	for (i = 0; i < 5; i++)
		size += make_event(tel_schema_find_type(s, "PoolAlloc"), 2,
		    1000 - i, data + size);
	memset(data + size, 0xff, sizeof(data) - size);
	for (n = 2 * size - 8; n <= 2 * size + 8; n += 8)
		is_str(read_all(data, n, NULL, 1 << 18, 0).schema,
		    n > 2 * size ? "" : "mps-1.118.0/lii6gc",
		    "%zu bytes of events of %zu", size, n);
	tel_schema_free(s);
}

/* Every prefix decodes up to the cut; every size of reads gives the same. */
static void
test_cuts(void)
{
	struct bytes log = load("1.118.0-lii6gc-poolncv");
	struct reading whole = read_all(log.data, log.size, NULL, 1 << 18, 0);
	static const size_t sizes[] = { 1, 2, 7, 4096 };
	uint64_t wrong = 0, lost = 0;
	size_t i;

	for (i = 0; i < 4; i++) {
		struct reading got =
		    read_all(log.data, log.size, NULL, sizes[i], 0);

		is_u64(got.hash, whole.hash, "reads of %zu bytes", sizes[i]);
		is_u64(got.events, whole.events, "events in them");
	}
	for (i = 48; i < log.size; i += sample_step(3)) {
		struct reading got = read_all(log.data, i, NULL, 1 << 18, 0);

		wrong += got.status != TEL_END || got.events > whole.events;
		/* a cut is reported, unless it lies between two events */
		lost += got.damaged > 1 || got.repaired + got.unknown > 0 ||
		    (got.damaged == 0 && got.skipped > 0);
	}
	is_u64(wrong, 0, "every prefix ends as a log does");
	is_u64(lost, 0, "a cut is one place of damage, at the end");
	for (i = 0; i < 48; i++) {
		struct reading got = read_all(log.data, i, NULL, 1 << 18, 0);

		wrong += got.status != TEL_EFORMAT && got.status != TEL_END;
	}
	is_u64(wrong, 0, "less than an event is not a log");
	free(log.data);
}

/* What each flipped bit of codes and sizes may cost. */
static void
test_flips(void)
{
	struct bytes log = load("1.118.0-lii6gc-poolncv");
	struct reading whole = read_all(log.data, log.size, NULL, 1 << 18, 0);
	const char *as = "mps-1.118.0/lii6gc";
	unsigned n, bit, events = (unsigned)whole.events;
	uint64_t worst_size = 0, worst_code = 0, silent = 0;

	for (n = 3; n < events; n++) {
		unsigned char *p = log.data + find_event(&log, n);

		/* each bit of every third event */
		for (bit = n % sample_step(3); bit < 32;
		     bit += sample_step(3)) {
			struct reading got;
			uint64_t lost;

			p[bit / 8] = (unsigned char)(p[bit / 8] ^ 1 << bit % 8);
			got = read_all(log.data, log.size, as, 1 << 18, 0);
			p[bit / 8] = (unsigned char)(p[bit / 8] ^ 1 << bit % 8);
			lost = whole.events - got.events;
			if (got.events > whole.events)
				lost = 1000;
			if (bit >= 16 && lost > worst_size)
				worst_size = lost;
			if (bit < 16 && lost > worst_code)
				worst_code = lost;
			if (bit >= 16 && got.damaged == 0 && got.unknown == 0)
				silent++;
		}
	}
	ok(worst_size <= 1, "a flipped size costs one event at most (%u)",
	    (unsigned)worst_size);
	ok(worst_code <= 1, "a flipped code costs one event at most (%u)",
	    (unsigned)worst_code);
	/* a string with a word of padding more or less is not damage */
	ok(silent < 64, "flipped sizes are noticed (%u not)", (unsigned)silent);
	free(log.data);
}

/* A hole in the middle, of zeros, of ones and of nothing. */
static void
test_holes(void)
{
	struct bytes log = load("1.117.0-lii6gc-amcss-seg-trace");
	const char *as = "mps-1.117.0/lii6gc";
	struct reading whole = read_all(log.data, log.size, as, 1 << 18, 0);
	size_t hole = 4096, at = log.size / 2 + 5;
	struct reading got;
	int i;

	for (i = 0; i < 3; i++) {
		struct bytes copy = { NULL, 0, 0 };

		append(&copy, log.data, log.size);
		if (i < 2)
			memset(copy.data + at, i == 0 ? 0 : 0xff, hole);
		else {
			memmove(copy.data + at, copy.data + at + hole,
			    copy.size - at - hole);
			copy.size -= hole;
		}
		got = read_all(copy.data, copy.size, as, 1 << 18, 0);
		is_u64((uint64_t)got.status, TEL_END, "hole %d: goes on", i);
		/* events are 24 bytes or longer */
		ok(whole.events - got.events <= hole / 24 + 2,
		    "hole %d: costs what was in it", i);
		ok(got.damaged >= 1, "hole %d: is reported", i);
		ok(got.skipped <= hole + 256, "hole %d: %u bytes skipped", i,
		    (unsigned)got.skipped);
		free(copy.data);
	}
	free(log.data);
}

/* Behind a hole, an event is one if its clock is near to the next one's. */
static void
test_clocks(void)
{
	static const struct {
		uint64_t first, next;
		unsigned events;
	} rows[] = {
		{ 80, 10, 9 },
		{ 88, 10, 8 },
		{ 10, 87, 9 },
		{ 10, 88, 8 },
		{ 0, 0, 9 },
	};
	const struct tel_type *t;
	unsigned char data[1024];
	tel_schema *s;
	size_t size;
	unsigned i, j;

	if (tel_schema_new("mps-1.118.0/lii6gc", &s) != TEL_OK)
		abort();
	t = tel_schema_find_type(s, "PoolAlloc");
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (j = 0, size = 0; j < 9; j++) {
			if (j == 4) {
				memset(data + size, 0xff, 32);
				size += 32;
			}
			size += make_event(t, 2,
			    j == 4 ? rows[i].first : rows[i].next, data + size);
		}
		is_u64(read_all(data, size, "mps-1.118.0/lii6gc", 1 << 18, 0)
		           .events,
		    rows[i].events, "clocks %u, %u", (unsigned)rows[i].first,
		    (unsigned)rows[i].next);
	}
	tel_schema_free(s);
}

int
main(void)
{
	test_bits();
	test_halves();
	test_cuts();
	test_flips();
	test_holes();
	test_clocks();
	return done();
}
