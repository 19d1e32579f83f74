/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which blocks of a file in the native format a filter leaves out, and which
 * clocks it leaves: none that has an event that matches, and not fewer than
 * their ranges of values permit, as each block that is read costs time.
 */
#include <stdio.h>
#include <stdlib.h>

#include "filter_random.h"
#include "must.h"

#define MAX_BLOCKS 600u
/* Blocks at the start, which are always read. */
#define LEAD 80u
#define RATE "# tick rate: 1000000000.0\n"

/*
 * A file, in which the field "block" of an event is the number of its block;
 * those that are always read have 0.
 */
struct file {
	unsigned char *data;
	size_t size;
	unsigned blocks;
};

/* Events of each block. */
struct counts {
	unsigned read[MAX_BLOCKS];    /* that the reader returns */
	unsigned matches[MAX_BLOCKS]; /* of these */
};

static ptrdiff_t
put(void *arg, const void *data, size_t size)
{
	struct file *f = arg;

	f->data = realloc(f->data, f->size + size + 1);
	if (f->data == NULL)
		return -1;
	memcpy(f->data + f->size, data, size);
	f->size += size;
	return (ptrdiff_t)size;
}

static tel_reader *
open_file(const void *data, size_t size, const char *as)
{
	tel_reader *r = must(tel_reader_new());

	must_ok(tel_reader_set_as(r, as));
	must_ok(tel_reader_open_memory(r, data, size, "log"));
	return r;
}

static unsigned
block_of(const tel_event *ev)
{
	const int at = tel_type_find_field(tel_event_type(ev), "block");

	return at < 0 ? 0 : (unsigned)tel_event_u64(ev, (unsigned)at);
}

/* Makes a file of a text. */
static void
make_file(struct file *to, const char *text, size_t size)
{
	tel_reader *r = open_file(text, size, "text");
	tel_output *out = must(tel_output_new_callback(put, to));
	tel_writer *w = must(tel_writer_new(out));
	const tel_event *ev;
	tel_status st;

	memset(to, 0, sizeof(*to));
	must_ok(tel_writer_set_target(w, "tel"));
	while ((st = tel_reader_next(r, &ev)) == TEL_OK) {
		if (block_of(ev) == 0 || block_of(ev) >= to->blocks) {
			must_ok(tel_writer_flush(w));
			to->blocks = block_of(ev) + 1;
		}
		must_ok(tel_writer_event(w, ev));
	}
	if (st != TEL_END || tel_reader_count(r, TEL_COUNT_DAMAGED) > 0 ||
	    to->blocks > MAX_BLOCKS)
		diag("%s", tel_reader_error(r)), exit(1);
	must_ok(tel_writer_end_file(w, r));
	must_ok(tel_writer_finish(w));
	must_ok(tel_output_finish(out));
	tel_writer_free(w);
	tel_output_free(out);
	tel_reader_free(r);
}

/* Nonzero when the filter can be asked of the file. */
static int
count(const struct file *file, tel_filter *f, int attach, struct counts *out)
{
	tel_reader *r = open_file(file->data, file->size, "tel");
	int good = tel_filter_bind(f, tel_reader_schema(r)) == TEL_OK;
	const tel_event *ev;
	unsigned block;

	memset(out, 0, sizeof(*out));
	if (attach)
		tel_filter_attach(f, r, 0);
	while (good && tel_reader_next(r, &ev) == TEL_OK) {
		block = block_of(ev);
		out->read[block]++;
		out->matches[block] += tel_filter_match(f, ev) == 1;
	}
	good &= tel_reader_count(r, TEL_COUNT_DAMAGED) == 0;
	tel_reader_free(r);
	return good;
}

/*
 * Adds up the blocks that are read, and those of them in which none matches.
 * 0: one that has events that match is not read.  An expression that is not
 * valid reads nothing.
 */
static int
skips(const struct file *file, const char *text, const char *time, int invert,
    unsigned *read, unsigned *extra)
{
	tel_filter *f = must(tel_filter_new()), *all = must(tel_filter_new());
	static struct counts got, want;
	unsigned i;
	int good = 1;

	tel_filter_set_invert(f, invert);
	tel_filter_set_invert(all, invert);
	if (time != NULL) {
		must_ok(tel_filter_set_time(f, time));
		must_ok(tel_filter_set_time(all, time));
	}
	if (tel_filter_set_expression(f, text) == TEL_OK &&
	    tel_filter_set_expression(all, text) == TEL_OK &&
	    count(file, all, 0, &want) && count(file, f, 1, &got)) {
		for (i = 1; i < file->blocks; i++) {
			good &= got.matches[i] == want.matches[i];
			*read += got.read[i] > 0;
			*extra += got.read[i] > 0 && want.matches[i] == 0;
		}
	}
	if (!good)
		diag("%s%s: events are left out", invert ? "not " : "", text);
	tel_filter_free(f);
	tel_filter_free(all);
	return good;
}

/* A text with types, and the events of the blocks that are always read. */
static FILE *
begin_text(const char *header, char **text, size_t *size)
{
	FILE *out = must(open_memstream(text, size));
	unsigned i;

	fprintf(out,
	    "# teltools text 1\n# format: made-1\n%s"
	    "# type: Lead 9 Test\n",
	    header);
	for (i = 0; i < LEAD; i++)
		fprintf(out, "%016X Lead\n", 1000 + i);
	return out;
}

static void
end_text(FILE *out, char **text, const size_t *size, struct file *file)
{
	fclose(out);
	make_file(file, *text, *size);
	free(*text);
}

/* ------------------------------------------------- ranges that are known */

#define RANGES 21u /* of the numbers 0 to 5 */

/*
 * A block for each two ranges of numbers, which has events with each two
 * numbers of them.
 */
static void
make_pairs(struct file *file)
{
	static const unsigned char ends[RANGES][2] = { { 0, 0 }, { 0, 1 },
		{ 0, 2 }, { 0, 3 }, { 0, 4 }, { 0, 5 }, { 1, 1 }, { 1, 2 },
		{ 1, 3 }, { 1, 4 }, { 1, 5 }, { 2, 2 }, { 2, 3 }, { 2, 4 },
		{ 2, 5 }, { 3, 3 }, { 3, 4 }, { 3, 5 }, { 4, 4 }, { 4, 5 },
		{ 5, 5 } };
	unsigned i, x, y;
	char *text;
	size_t size;
	FILE *out = begin_text(RATE
	    "# type: Pair 1 Test block:unsigned a:unsigned b:unsigned "
	    "s:string\n",
	    &text, &size);

	for (i = 0; i < RANGES * RANGES; i++)
		for (x = ends[i / RANGES][0]; x <= ends[i / RANGES][1]; x++)
			for (y = ends[i % RANGES][0]; y <= ends[i % RANGES][1];
			     y++)
				fprintf(out,
				    "%016X Pair block=%u a=%u b=%u s=\"t\"\n",
				    2000 + i, i + 1, x, y);
	end_text(out, &text, &size, file);
}

struct row {
	const char *text;
	unsigned max; /* blocks that are read in vain */
};

/* A comparison with each of the first numbers, or the expression by itself. */
static void
check_row(const struct file *file, const struct row *row, unsigned numbers)
{
	char text[100];
	unsigned k, read = 0, extra = 0;
	int good = 1;

	for (k = 0; k < numbers; k++) {
		snprintf(text, sizeof(text), "%s %u", row->text, k);
		good &= skips(file, text, NULL, 0, &read, &extra);
	}
	if (numbers == 0)
		good = skips(file, row->text, NULL, 0, &read, &extra);
	ok(good && read > 0 && extra <= row->max,
	    "%s: %u blocks, of which %u in vain", row->text, read, extra);
}

static void
test_pairs(void)
{
	static const struct row compared[] = {
		{ "a + b <", 0 },
		{ "a + b >", 0 },
		{ "a - b <", 0 },
		{ "b - a >=", 0 },
		{ "a * b <=", 0 },
		{ "a * b >", 0 },
		{ "a / b <", 415 },
		{ "a / b >", 1162 },
		{ "a % b <", 367 },
		{ "a % b >", 1394 },
		{ "(a & b) <", 38 },
		{ "(a & b) >", 70 },
		{ "a >> b <", 0 },
		{ "a >> b >", 0 },
		{ "a + 3 <", 0 },
		{ "3 - a >=", 0 },
		{ "a * 3 >", 0 },
		{ "a / 2 ==", 0 },
		{ "a % 3 >=", 84 },
		{ "(a & 4) ==", 504 },
		{ "(a & 5) ==", 2730 },
		{ "a >> 1 ==", 0 },
	},
	                        alone[] = {
		{ "a == b", 0 },
		{ "a != b", 0 },
		{ "a < b", 0 },
		{ "a <= b", 0 },
		{ "a > b", 0 },
		{ "a >= b", 0 },
		{ "!(a == b)", 0 },
		{ "a", 0 },
		{ "!a", 0 },
		{ "a - b", 0 },
		{ "!(a - b)", 0 },
		{ "(a < b) + 0 == 1", 0 },
		{ "(a < b) + 0 == 0", 0 },
		{ "(a < b) + (b < 3) > 1", 60 },
		{ "!(a < 3 && b < 3)", 0 },
		{ "(a in (2, 4..5)) + 0 == 1", 0 },
		{ "(a in (b, 4..b)) + 0 == 1", 0 },
		{ "a < 3 || s == 'x'", 126 },
		{ "(a < 3 || has(s)) + 0 == 1", 0 },
		{ "time < 1100ns", 0 },
		{ "clock > 2300 && clock < 2310", 0 },
		{ "index < 100", 0 },
	};
	struct file file;
	unsigned i;

	make_pairs(&file);
	for (i = 0; i < sizeof(compared) / sizeof(compared[0]); i++)
		check_row(&file, &compared[i], 12);
	for (i = 0; i < sizeof(alone) / sizeof(alone[0]); i++)
		check_row(&file, &alone[i], 0);
	free(file.data);
}

/* ------------------------------------------------------------- datatypes */

/* A block with two values of a type, and what it is read for. */
static const struct {
	const char *type, *low, *high, *text;
	int read;
} fields[] = {
	{ "U", "3", "7", "v < 3", 0 },
	{ "U", "3", "7", "v > 7", 0 },
	{ "U", "3", "7", "v == 5", 1 },
	{ "A", "0x3", "0x3", "v != 3", 0 },
	{ "S8", "3", "7", "v < 3", 0 },
	{ "S8", "3", "7", "v > 7", 0 },
	{ "S8", "0", "127", "v < 0", 0 },
	{ "S8", "0", "127", "v == 5", 1 },
	{ "S8", "-128", "-1", "v >= 0", 0 },
	{ "S8", "-128", "-1", "v < -128", 0 },
	{ "S8", "-128", "-1", "v == -2", 1 },
	{ "S8", "127", "-128", "v == 0", 1 },
	{ "S8", "0", "-1", "v == 5", 1 },
	{ "S64", "-5", "-1", "v < -5", 0 },
	{ "S64", "-5", "-1", "v > -1", 0 },
	{ "S64", "-5", "-1", "v == -3", 1 },
	{ "D", "0.5", "2.0", "v < 0.5", 0 },
	{ "D", "0.5", "2.0", "v > 2", 0 },
	{ "D", "0.5", "2.0", "v == 1", 1 },
	{ "D", "0.0", "inf", "v < 0", 0 },
	{ "D", "0.0", "inf", "v == 1", 1 },
	{ "D", "0.0", "nan", "v < 0", 1 },
	/* the bits of negative numbers are in reverse */
	{ "D", "-0.5", "-2.0", "v < -2", 0 },
	{ "D", "-0.5", "-2.0", "v > -0.5", 0 },
	{ "D", "-0.5", "-2.0", "v == -1", 1 },
	{ "D", "-0.5", "-inf", "v > -0.5", 0 },
	{ "D", "-0.5", "-inf", "v == -7", 1 },
	{ "D", "-0.5", "-nan", "v > -0.5", 1 },
	{ "D", "0.5", "-2.0", "v == 9", 1 },
	{ "T", "\"3\"", "\"7\"", "v == '5'", 1 },
};

static void
test_fields(void)
{
	static struct counts got;
	struct file file;
	tel_filter *f;
	unsigned i;
	char *text;
	size_t size;
	FILE *out = begin_text("# type: U 1 Test block:unsigned v:unsigned\n"
	                       "# type: A 2 Test block:unsigned v:address\n"
	                       "# type: S8 3 Test block:unsigned v:signed:8\n"
	                       "# type: S64 4 Test block:unsigned v:signed\n"
	                       "# type: D 5 Test block:unsigned v:double\n"
	                       "# type: T 6 Test block:unsigned v:string\n",
	    &text, &size);

	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		fprintf(out, "%016X %s block=%u v=%s\n%016X %s block=%u v=%s\n",
		    2000 + i, fields[i].type, i + 1, fields[i].low, 2000 + i,
		    fields[i].type, i + 1, fields[i].high);
	end_text(out, &text, &size, &file);
	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		f = must(tel_filter_new());
		ok(tel_filter_set_expression(f, fields[i].text) == TEL_OK &&
		        count(&file, f, 1, &got) &&
		        (got.read[i + 1] > 0) == fields[i].read,
		    "%s of %s and %s, %s: %s", fields[i].type, fields[i].low,
		    fields[i].high, fields[i].text,
		    fields[i].read ? "read" : "left out");
		tel_filter_free(f);
	}
	free(file.data);
}

/* ---------------------------------------------------- random expressions */

#define GROUPS 400u

/* Types with names that random expressions have. */
static const struct {
	const char *name, *datatype;
} columns[2][8] = {
	{ { "size", "unsigned" }, { "pool", "address" },
	    { "start", "unsigned:16" }, { "foundation", "unsigned:8" },
	    { "white", "unsigned:1" }, { "quantumWork", "unsigned" },
	    { "mortality", "double" }, { "base", "unsigned:32" } },
	{ { "size", "signed:8" }, { "start", "signed" },
	    { "pool", "unsigned:32" }, { "white", "unsigned" },
	    { "quantumWork", "signed:32" }, { "workWasDone", "unsigned:1" },
	    { "mortality", "unsigned:16" }, { "cpu", "double" } },
};

/* A value of each group, for tests of its bits. */
struct sample {
	const char *name;
	uint64_t value;
} samples[GROUPS];

static void
put_value(FILE *out, const char *datatype, uint64_t v)
{
	const char *colon = strchr(datatype, ':');
	const unsigned width = colon == NULL ? 64 : (unsigned)atoi(colon + 1);

	if (datatype[0] == 'd')
		fprintf(out, "%.2f", (double)(v % 2000) * 0.25 - 200);
	else if (datatype[0] == 's')
		fprintf(out, "%" PRId64,
		    (int64_t)(v << (64 - width)) >> (64 - width));
	else if (datatype[0] == 'a')
		fprintf(out, "0x%" PRIx64, v);
	else
		fprintf(out, "%" PRIu64, v << (64 - width) >> (64 - width));
}

/* Groups of events of one type, of which each field has values near each other. */
static void
make_groups(struct file *file)
{
	unsigned i, k, f, type, n;
	uint64_t near[8], v;
	char *text;
	size_t size;
	FILE *out;
	char header[1024] = RATE;

	for (type = 0; type < 2; type++) {
		n = (unsigned)strlen(header);
		n += (unsigned)snprintf(header + n, sizeof(header) - n,
		    "# type: T%u %u Test block:unsigned", type, type);
		for (f = 0; f < 8; f++)
			n += (unsigned)snprintf(header + n, sizeof(header) - n,
			    " %s:%s", columns[type][f].name,
			    columns[type][f].datatype);
		snprintf(header + n, sizeof(header) - n, " string:string\n");
	}
	out = begin_text(header, &text, &size);
	for (i = 0; i < GROUPS; i++) {
		type = pick(2);
		for (f = 0; f < 8; f++)
			near[f] = draw_number();
		for (k = 1 + pick(5); k > 0; k--) {
			fprintf(out, "%016X T%u block=%u", 1000 + pick(9000),
			    type, i + 1);
			for (f = 0; f < 8; f++) {
				v = near[f] + pick(3);
				fprintf(out, " %s=", columns[type][f].name);
				put_value(out, columns[type][f].datatype, v);
				if (f == i % 8)
					samples[i] = (struct sample){
						columns[type][f].name, v
					};
			}
			fprintf(out, " string=\"%s\"\n",
			    pick(2) ? "heap" : "seg");
		}
	}
	end_text(out, &text, &size, file);
}

/* Bits of a field that an event has. */
static void
say_bits(struct text *t)
{
	const struct sample *sample = &samples[pick(GROUPS)];
	const uint64_t mask =
	    pick(2) ? draw_number() : UINT64_MAX << pick(20) >> pick(40);
	char text[100];

	snprintf(text, sizeof(text), "(%s & 0x%" PRIx64 ") == 0x%" PRIx64,
	    sample->name, mask, sample->value & mask);
	say(t, text);
}

/* Where an event is in its log, compared with a number. */
static void
say_place(struct text *t)
{
	static const struct {
		const char *before, *after;
	} tests[] = { { "index < ", "" }, { "", " <= index" },
		{ "index == ", "" }, { "index / 10 == ", "" },
		{ "!(index > ", ")" }, { "index in (", ", 150..160)" },
		{ "time < ", "ns" }, { "time >= ", "ns" },
		{ "time in (", "ns..9us, 7us)" }, { "time - 100 > ", "" },
		{ "index & 15 == ", "" }, { "clock - 1000 > ", "" } };
	const unsigned count = 1 + pick(2);
	char number[16];
	unsigned i, k;

	for (i = 0; i < count; i++) {
		if (i > 0)
			say(t, pick(2) ? " && " : " || ");
		k = pick((unsigned)(sizeof(tests) / sizeof(tests[0])));
		snprintf(number, sizeof(number), "%u",
		    pick(pick(2) ? 200 : 9000));
		say(t, tests[k].before);
		say(t, number);
		say(t, tests[k].after);
	}
}

static void
say_any(struct text *t)
{
	say_condition(t, 3);
}

static void
say_naturals(struct text *t)
{
	say_natural(t, 3);
}

/*
 * The bounds leave room for the expressions of compilers that evaluate operands
 * in another order.
 */
static void
test_random(void)
{
	static const struct {
		void (*say)(struct text *);
		const char *what;
		unsigned max;
	} rows[] = {
		{ say_arithmetic, "arithmetic", 3900 },
		{ say_bits, "bits", 3600 },
		{ say_place, "time and number", 2600 },
		{ say_naturals, "natural numbers", 2000 },
		{ say_any, "any conditions", 4500 },
	};
	struct file file;
	struct text text;
	unsigned i, k, read, extra, good;
	const unsigned rounds = getenv("TEST_SLOW") != NULL ? 5 : 50;

	make_groups(&file);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		read = extra = good = 0;
		for (k = 0; k < rounds; k++) {
			text.n = 0;
			rows[i].say(&text);
			good += (unsigned)skips(&file, text.s,
			    pick(8) ? NULL : "500ns,4000ns", (int)pick(2),
			    &read, &extra);
		}
		ok(good == rounds && read > 0 && extra <= rows[i].max,
		    "%s: %u blocks, of which %u in vain", rows[i].what, read,
		    extra);
	}
	free(file.data);
}

/* ---------------------------------------------------------------- clocks */

/* The clocks that a filter leaves; ev: NULL or the first event. */
static void
check_clocks(const char *time, const tel_event *ev, int want, uint64_t first,
    uint64_t last)
{
	tel_filter *f = must(tel_filter_new());
	uint64_t from = 1, to = 2;
	int got;

	must_ok(tel_filter_set_time(f, time));
	got = tel_filter_clocks(f, ev, &from, &to);
	ok(got == want && (!want || (from == first && to == last)),
	    "%s%s: %d, %" PRIx64 " to %" PRIx64, time,
	    ev != NULL ? " from an event on" : "", got, from, to);
	tel_filter_set_invert(f, 1);
	ok(!tel_filter_clocks(f, ev, &from, &to), "all but these: no range");
	tel_filter_free(f);
}

static const tel_event *
first_event(const char *text, tel_reader **r)
{
	const tel_event *ev;

	*r = open_file(text, strlen(text), "text");
	must_ok(tel_reader_next(*r, &ev));
	return ev;
}

static void
test_clocks(void)
{
	tel_filter *f = must(tel_filter_new());
	const tel_event *ev;
	tel_reader *r;
	uint64_t from, to;

	ev = first_event("# teltools text 1\n# format: made-1\n"
	                 "# type: A 1 Test\n00000000000003E8 A\n",
	    &r);
	ok(!tel_filter_clocks(f, ev, &from, &to), "without a range");
	check_clocks("0x10,0x20", NULL, 1, 0x10, 0x20);
	check_clocks("0x10,0x20", ev, 1, 0x10, 0x20);
	check_clocks("0000000000000010,", NULL, 1, 0x10, UINT64_MAX);
	check_clocks(",0x20", NULL, 1, 0, 0x20);
	check_clocks("0x20,0x20", NULL, 1, 0x20, 0x20);
	check_clocks(",", ev, 0, 0, 0);
	check_clocks("10,20", NULL, 0, 0, 0);
	check_clocks("10,20", ev, 1, 1010, 1020);
	check_clocks("-10,20", ev, 1, 990, 1020);
	check_clocks("-2000,20", ev, 1, 0, 1020);
	check_clocks("10,0x2000", NULL, 1, 0, 0x2000);
	check_clocks("10,0x2000", ev, 1, 1010, 0x2000);
	check_clocks("1s,2s", ev, 0, 0, 0);
	check_clocks("1s,0x2000", ev, 1, 0, 0x2000);
	tel_reader_free(r);
	ev = first_event("# teltools text 1\n# format: made-1\n"
	                 "# type: A 1 Test\nFFFFFFFFFFFFFFFA A\n",
	    &r);
	check_clocks("2,20", ev, 1, UINT64_MAX - 3, UINT64_MAX);
	tel_reader_free(r);
	tel_filter_set_clock(f, 5, 6);
	ok(tel_filter_clocks(f, NULL, &from, &to) && from == 5 && to == 6,
	    "a range that was set by clocks");
	must_ok(tel_filter_set_expression(f, "dt > 5"));
	ok(!tel_filter_clocks(f, NULL, &from, &to),
	    "the time since the event before needs that one");
	tel_filter_free(f);
}

int
main(void)
{
	test_clocks();
	test_pairs();
	test_fields();
	test_random();
	return done();
}
