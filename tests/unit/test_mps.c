/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MPS streams: which release and platform wrote one, also of platforms that are
 * not at hand, made by converting a real stream event by event.
 */
#include "mps_stream.h"

#include <glob.h>
#include <inttypes.h>
#include <stdlib.h>

#include "format/mps/mps.h"
#include "model/encode.h"
#include "format/mps/frame.h"
#include "format/tel/wire.h"
#include "model/event.h"
#include "tel.h"

/* The log written as a machine of another schema would have written it. */
static struct bytes
convert(const struct bytes *from, const char *as, const char *to)
{
	struct bytes out = { NULL, 0, 0 };
	unsigned char buffer[1024];
	const tel_event *ev;
	tel_schema *schema;
	tel_reader *r = tel_reader_new();

	if (r == NULL || tel_schema_new(to, &schema) != TEL_OK ||
	    tel_reader_set_as(r, as) != TEL_OK ||
	    tel_reader_open_memory(r, from->data, from->size, NULL) != TEL_OK)
		abort();
	while (tel_reader_next(r, &ev) == TEL_OK) {
		const struct tel_type *t = mps_type(schema, ev->type->code);
		uint32_t size = t->size;
		size_t n = 0;
		unsigned i;

		memset(buffer, 0, sizeof(buffer));
		for (i = 0; i < t->nfields; i++) {
			const struct tel_field *f = &t->fields[i];
			const char *s = tel_event_string(ev, i, &n);
			uint64_t v = tel_event_u64(ev, i);

			if (s == NULL) {
				/* EventInit tells the width of a word */
				if (strcmp(f->name, "wordWidth") == 0)
					v = schema->abi.word * 8u;
				tel_encode_field(f, v, buffer);
				continue;
			}
			memcpy(buffer + f->offset, s, n);
			size = tel__encode_size(schema, t, f, n);
		}
		tel__encode_header(schema, buffer, t->code, size, ev->clock);
		append(&out, buffer, size);
	}
	tel_reader_free(r);
	tel_schema_free(schema);
	return out;
}

/* Each layout reads as the stream that it was converted from. */
static void
test_layouts(void)
{
	static const struct {
		const char *log;
		const char *to;
		const char *inferred; /* what the stream itself tells */
	} rows[] = {
		{ "1.111.0-lii6gc-poolncv", "mps-1.111.0/lii6gc,be",
		    "mps-1.111.0/lii6gc,be" },
		{ "1.113.0-lii6gc-poolncv", "mps-1.113.0/lii6gc,be",
		    "mps-1.113.0/lii6gc,be" },
		{ "1.118.0-lii6gc-poolncv", "mps-1.118.0/lii6gc,be",
		    "mps-1.118.0/lii6gc,be" },
		{ "1.113.0-lii3gc-amcss", "mps-1.113.0/lii3gc,be",
		    "mps-1.113.0/lii3gc,be" },
		{ "1.113.0-lii3gc-amcss", "mps-1.113.0/w3i3mv",
		    "mps-1.113.0/w3i3mv" },
		{ "1.117.0-lii3gc-amcss", "mps-1.117.0/w3i3mv",
		    "mps-1.117.0/w3i3mv" },
		{ "1.118.0-lii3gc-amcss", "mps-1.118.0/w3i3mv",
		    "mps-1.118.0/w3i3mv" },
		{ "1.118.0-lii3gc-amcss", "mps-1.118.0/w3i3mv,be",
		    "mps-1.118.0/w3i3mv,be" },
	};
	size_t i, j;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bytes log = load(rows[i].log);
		struct bytes made = convert(&log, NULL, rows[i].to);
		struct reading want =
		    read_all(log.data, log.size, NULL, 1 << 18, 0);
		struct reading got;

		/* the build string names a platform: make it the new one */
		for (j = 0; j + 15 < made.size; j++)
			if (memcmp(made.data + j, "platform.", 9) == 0)
				memcpy(made.data + j + 9,
				    strchr(rows[i].to, '/') + 1, 6);
		for (j = 0; j + 15 < log.size; j++)
			if (memcmp(log.data + j, "platform.", 9) == 0)
				memcpy(log.data + j + 9,
				    strchr(rows[i].to, '/') + 1, 6);
		want = read_all(log.data, log.size,
		    i < 3                     ? NULL :
		        rows[i].log[4] == '3' ? "mps-1.113.0/lii3gc" :
		        rows[i].log[4] == '7' ? "mps-1.117.0/lii3gc" :
		                                "mps-1.118.0/lii3gc",
		    1 << 18, 0);
		got = read_all(made.data, made.size, rows[i].to, 1 << 18, 0);
		is_u64(got.events, want.events, "%s: events", rows[i].to);
		is_u64(got.hash, want.hash, "%s: values", rows[i].to);
		is_u64(got.damaged, 0, "%s: no damage", rows[i].to);
		got = read_all(made.data, made.size, NULL, 1 << 18, 0);
		is_str(got.schema, rows[i].inferred, "%s: inferred",
		    rows[i].to);
		is_u64(got.hash, want.hash, "%s: values as inferred",
		    rows[i].to);
		free(log.data);
		free(made.data);
	}
}

/* Names of releases and platforms: the word, and how 64 bits are aligned. */
static void
test_platforms(void)
{
	static const struct {
		const char *name;
		unsigned word, align8; /* 0: none of that name */
	} rows[] = {
		{ "1.118.0/lii6gc", 8, 8 },
		{ "1.111.0/fri6ll", 8, 8 },
		{ "1.118.0/xca6ll", 8, 8 },
		{ "1.118.0/w3i6mv", 8, 8 },
		{ "1.118.0/w3i3mv", 4, 8 },
		{ "1.118.0/lii3gc", 4, 4 },
		{ "1.118.0/fri3gc", 4, 4 },
		{ "1.118.0/xci3ll", 4, 4 },
		{ "1.118.0/ani3ll", 4, 4 },
		{ "1.118.0/liarll", 4, 8 },
		{ "1.118.0/lia6ll", 8, 8 },
		{ "1.118.0/lia6", 8, 8 },
		{ "1.118.0/lii6gcx", 8, 8 },
		{ "1.118.0", 8, 8 },
		{ "1.118.0/lii", 0, 0 },
		{ "1.118.0/lii6gcxx", 0, 0 },
		{ "1.118.0/soi6gc", 0, 0 },
		{ "1.118.0/lix6gc", 0, 0 },
		{ "1.118.0/liixgc", 0, 0 },
		{ "1.118.0/lippgc", 0, 0 },
		{ "1.118.0/", 0, 0 },
		{ "1.110.0/lii6gc", 0, 0 },
		{ "1.119.0/lii6gc", 0, 0 },
	};
	char name[32];
	tel_schema *s;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(name, sizeof(name), "mps-%s", rows[i].name);
		s = NULL;
		ok((tel_schema_new(name, &s) == TEL_OK) == (rows[i].word > 0),
		    "%s", name);
		if (s != NULL)
			ok(s->abi.word == rows[i].word &&
			        s->abi.align8 == rows[i].align8,
			    "its integers");
		tel_schema_free(s);
	}
}

/*
 * Units of fields; and digests, by which .tel files from before there were units
 * find their schema.
 */
static void
test_units(void)
{
	static const struct {
		const char *schema, *type, *field, *unit;
	} rows[] = {
		{ "mps-1.118.0", "TraceStart", "condemned", "bytes" },
		{ "mps-1.118.0", "TraceStart", "mortality", "fraction" },
		{ "mps-1.118.0", "TraceStart", "quantumWork", "" },
		{ "mps-1.118.0", "TraceStatReclaim", "reclaimCount", "" },
		{ "mps-1.118.0", "PauseTimeSet", "pauseTime", "" },
		{ "mps-1.118.0", "ArenaSetSpare", "spare", "fraction" },
		{ "mps-1.118.0", "VMInit", "limit", "" },
		{ "mps-1.117.0", "BufferEmpty", "spare", "bytes" },
		{ "mps-1.117.0", "CommitLimitSet", "limit", "bytes" },
		{ "mps-1.113.0", "TraceStartPoolGen", "capacity", "" },
	};
	static const struct {
		const char *schema;
		uint64_t digest;
	} digests[] = {
		{ "mps-1.111.0/lii6gc", 0x138382e66 },
		{ "mps-1.118.0/lii6gc", 0x1250262f9 },
	};
	const tel_type *t;
	tel_schema *s;
	size_t i;
	int field;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (tel_schema_new(rows[i].schema, &s) != TEL_OK)
			abort();
		t = tel_schema_find_type(s, rows[i].type);
		field = t == NULL ? -1 : tel_type_find_field(t, rows[i].field);
		is_str(field < 0 ?
		        "none" :
		        tel_field_unit(tel_type_field(t, (unsigned)field)),
		    rows[i].unit, "%s %s of %s", rows[i].type, rows[i].field,
		    rows[i].schema);
		tel_schema_free(s);
	}
	for (i = 0; i < sizeof(digests) / sizeof(digests[0]); i++) {
		if (tel_schema_new(digests[i].schema, &s) != TEL_OK)
			abort();
		is_u64(tel__native_digest(s), digests[i].digest,
		    "the digest of %s", digests[i].schema);
		tel_schema_free(s);
	}
}

/* Streams that say nothing of who wrote them. */
static void
test_inference(void)
{
	static const char *const rows[][2] = {
		{ "1.118.0-lii6gc-mpmss-object-only", "mps-1.118.0/lii6gc" },
		{ "1.117.0-lii6gc-amcss-seg-trace", "mps-1.117.0/lii6gc" },
	};
	struct reading got;
	struct bytes log, made;
	size_t i;

	for (i = 0; i < 2; i++) {
		log = load(rows[i][0]);
		got = read_all(log.data, log.size, NULL, 1 << 18, 0);
		is_str(got.schema, rows[i][1], "%s", rows[i][0]);
		is_u64(got.warnings, 1, "%s: says what was chosen", rows[i][0]);
		is_u64(got.damaged + got.unknown, 0, "%s: all fits",
		    rows[i][0]);
		made = convert(&log, rows[i][1],
		    i == 0 ? "mps-1.118.0/lii6gc,be" : "mps-1.117.0/w3i3mv");
		got = read_all(made.data, made.size, NULL, 1 << 18, 0);
		is_str(got.schema,
		    i == 0 ? "mps-1.118.0/lii6gc,be" : "mps-1.117.0/w3i3mv",
		    "%s converted", rows[i][0]);
		free(made.data);
		free(log.data);
	}
	/* 1.112 and 1.113 differ in one event's layout only */
	log = load("1.112.0-lii6gc-poolncv");
	got = read_all(log.data, log.size, NULL, 1 << 18, 0);
	is_str(got.schema, "mps-1.112.0/lii6gc", "1.1.6 of 1.112");
	free(log.data);
	log = load("1.113.0-lii6gc-poolncv");
	got = read_all(log.data, log.size, NULL, 1 << 18, 0);
	is_str(got.schema, "mps-1.113.0/lii6gc", "1.1.6 of 1.113");
	free(log.data);
}

/* The same event in the text of mpseventcnv. */
static size_t
make_line(const struct tel_type *t, unsigned n, uint64_t clock, char *out,
    size_t room)
{
	int length = snprintf(out, room, "%016" PRIX64 " %4X", clock, t->code);
	unsigned i;

	for (i = 0; i < t->nfields; i++)
		length += snprintf(out + length, room - (size_t)length,
		    " %" PRIX64, likely_value(t->schema, &t->fields[i], n + i));
	length += snprintf(out + length, room - (size_t)length, "\n");
	return (size_t)length;
}

static unsigned
is_found(const void *data, size_t size, const struct tel_type *t)
{
	return strcmp(read_all(data, size, NULL, 1 << 18, 0).type, t->name) ==
	    0;
}

/*
 * Pieces of streams and of texts, of one or two types each: how many are read
 * as what they are, where events of the other release have the same code and
 * size, or as many fields.  The newest event is first, as in a buffer.
 */
static void
test_pieces(void)
{
	static const struct {
		const char *schema;
		unsigned read[5]
		             [3]; /* by kind of values: alone, pairs, texts */
	} rows[] = {
		{ "mps-1.117.0/lii6gc",
		    { { 6, 9, 8 }, { 5, 6, 7 }, { 7, 9, 7 }, { 5, 8, 6 },
		        { 6, 6, 7 } } },
		{ "mps-1.118.0/lii6gc",
		    { { 8, 7, 8 }, { 8, 8, 9 }, { 9, 9, 9 }, { 9, 8, 9 },
		        { 7, 8, 7 } } },
		{ "mps-1.117.0/lii3gc",
		    { { 6, 9, 0 }, { 6, 8, 0 }, { 7, 10, 0 }, { 5, 7, 0 },
		        { 8, 8, 0 } } },
		{ "mps-1.118.0/lii3gc",
		    { { 8, 6, 0 }, { 10, 6, 0 }, { 9, 6, 0 }, { 9, 6, 0 },
		        { 8, 9, 0 } } },
	};
	static const char *const forms[] = { "one type", "two types", "texts" };
	const struct tel_type *t, *other, *last;
	unsigned char data[4 * 256];
	char text[1024];
	tel_schema *s[4];
	size_t size;
	unsigned i, j, k, n;

	for (i = 0; i < 4; i++)
		if (tel_schema_new(rows[i].schema, &s[i]) != TEL_OK)
			abort();
	for (n = 0; n < 20; n++) {
		unsigned got[3] = { 0 };

		i = n / 5;
		k = n % 5;
		for (j = 0, last = NULL; j < s[i]->ntypes; j++) {
			t = &s[i]->types[j];
			other = mps_type(s[i ^ 1], t->code);
			if (other == NULL || t->has_string || t->size > 256)
				continue;
			if (other->nfields == t->nfields && i < 2) {
				size = make_line(t, k, 9, text, sizeof(text));
				got[2] += is_found(text, size, t);
			}
			if (other->size != t->size)
				continue;
			size = make_event(t, k, 1000, data);
			size += make_event(t, k, 999, data + size);
			got[0] += is_found(data, size, t);
			if (last != NULL) {
				size += make_event(last, k, 998, data + size);
				size += make_event(last, k, 997, data + size);
				got[1] += is_found(data, size, t);
			}
			last = t;
		}
		for (j = 0; j < 3; j++)
			is_u64(got[j], rows[i].read[k][j],
			    "%s of %s, values %u", forms[j], rows[i].schema, k);
	}
	for (i = 0; i < 4; i++)
		tel_schema_free(s[i]);
}

/* Replaces bytes wherever they are. */
static void
replace(struct bytes *log, const char *from, const char *to)
{
	const size_t n = strlen(from);
	size_t i;

	for (i = 0; i + n <= log->size; i++)
		if (memcmp(log->data + i, from, n) == 0)
			memcpy(log->data + i, to, n);
}

/* Every log is of the release and the platform of its build string. */
static void
test_identity(void)
{
	struct bytes log, other;
	struct reading got;
	char name[64], want[64];
	unsigned n = 0;
	glob_t logs;
	size_t i;

	if (glob("tests/data/mps/*.log.zst", 0, NULL, &logs) != 0)
		abort();
	for (i = 0; i < logs.gl_pathc; i++) {
		snprintf(name, sizeof(name), "%.*s",
		    (int)strlen(logs.gl_pathv[i] + 15) - 8,
		    logs.gl_pathv[i] + 15);
		/* these have no start */
		if (strstr(name, "object-only") || strstr(name, "seg-trace"))
			continue;
		log = load(name);
		replace(&log, "platform.li", "platform.xc");
		snprintf(want, sizeof(want), "mps-%.7s/xc%.4s", name,
		    name + 10);
		got = read_all(log.data, log.size, NULL, 1 << 18, 0);
		is_str(got.schema, want, "%s on another system", name);
		/* two releases have the version 1.1.6, and two 1.6.1 */
		replace(&log, "release/1.", "relapse/1.");
		got = read_all(log.data, log.size, NULL, 1 << 18, 0);
		ok(strncmp(got.schema, want, 8) == 0 &&
		        got.schema[8] - want[8] <= 1 &&
		        strncmp(got.schema + 11, "/lii", 4) == 0 &&
		        got.schema[15] == want[15] && got.warnings == 0,
		    "%s by EventInit: %s", name, got.schema);
		free(log.data);
	}
	globfree(&logs);
	/* a build string behind the flush that has EventInit does not count */
	log = load("1.118.0-lii6gc-poolncv");
	other = load("1.118.0-lii6gc-poolncv");
	replace(&log, "release/1.", "relapse/1.");
	replace(&other, "platform.li", "platform.xc");
	while (other.data[find_event(&other, n)] != 0x21)
		n++; /* to the first Intern */
	append(&log, other.data + find_event(&other, n),
	    find_event(&other, n + 1) - find_event(&other, n));
	got = read_all(log.data, log.size, NULL, 1 << 18, 0);
	is_str(got.schema, "mps-1.118.0/lii6gc",
	    "a build string that is later");
	/* nor does a string before it that is not one */
	log.size = 0;
	append(&log, other.data + find_event(&other, n),
	    find_event(&other, n + 1) - find_event(&other, n));
	replace(&log, "platform.", "platfurm.");
	append(&log, other.data, other.size);
	got = read_all(log.data, log.size, NULL, 1 << 18, 0);
	is_str(got.schema, "mps-1.118.0/xci6gc", "a string like one before it");
	free(log.data);
	free(other.data);
}

/* EventInit identifies the writer, if its values can be, and within its flush. */
static void
test_init(void)
{
	struct bytes log = load("1.118.0-lii6gc-poolncv");
	struct bytes early = { NULL, 0, 0 }, late = { NULL, 0, 0 };
	const struct reading whole =
	    read_all(log.data, log.size, NULL, 1 << 18, 0);
	const uint64_t length = tel_le32(log.data + 32);
	const size_t zeros = log.size / 16 * 8;
	struct reading got;
	unsigned n = 0;

	/* it has the longest name; a word of 64 bits */
	replace(&log, "release/1.", "relapse/1.");
	for (n = 254; n < 257; n++) {
		tel_store(log.data + 32, n, 4, 0);
		got = read_all(log.data, log.size, NULL, 1 << 18, 0);
		is_u64(got.warnings, n > 255, "names of %u bytes", n);
	}
	tel_store(log.data + 32, length, 4, 0);
	replace(&log, "relapse/1.", "release/1.");
	/* a point of synchronisation before it does not end its flush */
	replace(&log, "platform.li", "platform.xc");
	for (n = 0; log.data[find_event(&log, n)] != 0x1c;)
		n++;
	append(&early, log.data + find_event(&log, n),
	    find_event(&log, n + 1) - find_event(&log, n));
	append(&early, log.data, log.size);
	got = read_all(early.data, early.size, NULL, 1 << 18, 0);
	is_str(got.schema, "mps-1.118.0/xci6gc", "a point, then EventInit");
	/* what is damaged may be longer than what comes before its end */
	late.data = calloc(1, zeros);
	if (late.data == NULL)
		abort();
	late.size = late.room = zeros;
	append(&late, log.data, log.size);
	got = read_all(late.data, late.size, NULL, 1 << 18, 0);
	is_str(got.schema, "mps-1.118.0/xci6gc", "zeros, then a log");
	is_u64(got.events, whole.events, "of which nothing is lost");
	free(early.data);
	free(late.data);
	free(log.data);
}

/* Sizes that are wrong among the events that identify the writer. */
static void
test_starts(void)
{
	static const char *const names[] = { "1.114.0-lii6gc-poolncv",
		"1.118.0-lii3gc-amcss" };
	static const unsigned sizes[] = { 0, 4, 24, 33, 4096, 0xffff };
	unsigned i, n, k;

	for (i = 0; i < 2; i++) {
		struct bytes log = load(names[i]);
		struct reading whole =
		    read_all(log.data, log.size, NULL, 1 << 18, 0);
		uint64_t other = 0, lost = 0;

		for (n = 1; n < 30; n++)
			for (k = 0; k < 6; k++) {
				unsigned char *p =
				    log.data + find_event(&log, n);
				const unsigned size = tel_le16(p + 2);
				struct reading got;

				tel_store(p + 2, sizes[k], 2, 0);
				got = read_all(log.data, log.size, NULL,
				    1 << 18, 0);
				tel_store(p + 2, size, 2, 0);
				other += strcmp(got.schema, whole.schema) != 0;
				lost += whole.events - got.events > 1;
			}
		is_u64(other, 0, "%s: identified in spite of a wrong size",
		    names[i]);
		is_u64(lost, 0, "and one event is lost at most");
		free(log.data);
	}
}

/* Types and fields have descriptions, in any case of letters. */
static void
test_docs(void)
{
	static const char *const names[] = { "mps-1.118.0/lii6gc",
		"mps-1.111.0/lii6gc" };
	const tel_type *t;
	unsigned i, j, none;
	tel_schema *s;

	for (i = 0; i < 2; i++) {
		if (tel_schema_new(names[i], &s) != TEL_OK)
			abort();
		for (j = none = 0; j < tel_schema_type_count(s); j++)
			none += tel_type_doc(tel_schema_type(s, j))[0] == '\0';
		is_u64(none, 0, "%s: types without a description", names[i]);
		t = tel_schema_find_type(s, "Intern");
		is_str(tel_type_doc(t), "a string gets a number", "Intern");
		is_str(tel_type_field_doc(t, 1), "the interned string",
		    "its string");
		tel_schema_free(s);
	}
}

/* What newer versions say. */
static void
test_versions(void)
{
	struct bytes log = load("1.118.0-lii6gc-poolncv");
	struct bytes made = { NULL, 0, 0 };
	unsigned char unknown[32] = { 0 };
	struct reading whole = read_all(log.data, log.size, NULL, 1 << 18, 0);
	struct reading got;

	/* EventInit is the first event: major, median, minor */
	log.data[16 + 8] = 1;
	got = read_all(log.data, log.size, NULL, 1 << 18, 0);
	is_u64(got.events, whole.events, "a newer minor version is read");
	is_u64(got.warnings, 1, "and said once");
	log.data[16] = 3;
	got = read_all(log.data, log.size, NULL, 1 << 18, 0);
	ok(got.status == TEL_EVERSION, "a newer major version is refused");
	got = read_all(log.data, log.size, NULL, 1 << 18, 1);
	is_u64(got.events, whole.events, "but for force");
	log.data[16] = 2;
	/* codes of the future: two in a row, and one at the end */
	tel_store(unknown, 0x1f4, 2, 0);
	tel_store(unknown + 2, sizeof(unknown), 2, 0);
	append(&made, log.data, 48);
	append(&made, unknown, sizeof(unknown));
	append(&made, unknown, sizeof(unknown));
	append(&made, log.data + 48, log.size - 48);
	append(&made, unknown, sizeof(unknown));
	got = read_all(made.data, made.size, NULL, 1 << 18, 0);
	is_u64(got.unknown, 3, "unknown codes are handed out");
	is_u64(got.events, whole.events + 3, "and nothing is lost for them");
	is_u64(got.damaged, 0, "nor is that damage");
	free(made.data);
	free(log.data);
}

int
main(void)
{
	test_platforms();
	test_layouts();
	test_units();
	test_inference();
	test_pieces();
	test_identity();
	test_init();
	test_starts();
	test_docs();
	test_versions();
	return done();
}
