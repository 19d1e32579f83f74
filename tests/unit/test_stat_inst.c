/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Statistics as an inst stream: parts of logs, written and read again, come
 * to what the logs do in one go; text comes to what binary events do; and
 * invalid records of a stream are skipped.
 */
#include "stat_log.h"

static const char *const specs[] = {
	"sizes=split(size,0,16,1024,65536,1024) if name == \"PoolAlloc\"",
	"who=tally(pool,32,size)",
	"names=tally(name,1000)",
	"strings=tally(field(\"string\"),1000)",
	"pause=hist(dur(),0,10ms,100us)",
	"d=dur()",
	"q=quantiles(size)",
	"n=growth(1) if kind == Object",
	"l=log2(size-300,2)",
	"ll=loglin(size,10,0,6,20)",
	"m=mag(size)",
	"md=magdelta(size-100)",
	"doubles=tally(size/3.0,4000)",
};

static tel_stats *
make_set(const char *groups)
{
	tel_stats *s = must(tel_stats_new());
	size_t i;

	for (i = 0; i < sizeof(specs) / sizeof(specs[0]); i++)
		if (tel_stats_add(s, specs[i]) != TEL_OK)
			ok(0, "%s: %s", specs[i], tel_stats_error(s));
	must_ok(tel_stats_set_groups(s, groups));
	return s;
}

static void
count_reader(tel_stats *s, tel_reader *r)
{
	const tel_event *ev;
	tel_window *w;
	tel_status st;

	must_ok(tel_window_new(r, TEL_ORDER_TIME, &w));
	st = tel_stats_begin(s, r);
	if (st != TEL_OK) {
		diag("%s", tel_stats_error(s));
		ok(0, "the log has all names");
	}
	while ((st = tel_window_next(w, &ev)) == TEL_OK)
		must_ok(tel_stats_event(s, ev));
	must_ok(tel_stats_end(s, r));
	tel_window_free(w);
}

static void
count_file(tel_stats *s, const char *name)
{
	tel_reader *r = must(tel_reader_new());
	const char *top = getenv("TEL_TOP");
	char path[512];

	snprintf(path, sizeof(path), "%s/tests/data/mps/%s.log.zst",
	    top == NULL ? "." : top, name);
	must_ok(tel_reader_open_file(r, path));
	count_reader(s, r);
	tel_reader_free(r);
}

/* Drops the mark of statistics whose values depend on the order of parts. */
static unsigned
drop_marks(char *text)
{
	static const char mark[] = " approx=1";
	const size_t n = sizeof(mark) - 1;
	unsigned count = 0;
	char *p;

	while ((p = strstr(text, mark)) != NULL) {
		memmove(p, p + n, strlen(p + n) + 1);
		count++;
	}
	return count;
}

/* Two logs, in one go and in parts. */
static void
test_parts(const char *a, const char *b, const char *groups)
{
	tel_stats *whole = make_set(groups), *s = make_set(groups);
	char *want, *parts[2], *got;
	unsigned marks[2];

	count_file(whole, a);
	count_file(whole, b);
	want = write_inst(whole, 1);
	count_file(s, a);
	parts[0] = write_inst(s, 1);
	tel_stats_free(s);
	s = make_set(groups);
	count_file(s, b);
	parts[1] = write_inst(s, 1);
	tel_stats_free(s);

	s = must(tel_stats_new());
	ok(read_inst(s, parts[0], strlen(parts[0])) == TEL_OK &&
	        read_inst(s, parts[1], strlen(parts[1])) == TEL_OK,
	    "%s, %s: the parts are read", a, b);
	got = write_inst(s, 1);
	marks[0] = drop_marks(got);
	ok(strcmp(got, want) == 0, "%s, %s: as in one go, by %s", a, b,
	    groups == NULL ? "no group" : groups);
	free(got);
	tel_stats_free(s);

	/* the same by tel_stats_merge(), into one that counted itself */
	s = make_set(groups);
	count_file(s, a);
	{
		tel_stats *later = make_set(groups);

		count_file(later, b);
		must_ok(tel_stats_merge(s, later));
		tel_stats_free(later);
	}
	got = write_inst(s, 1);
	marks[1] = drop_marks(got);
	ok(strcmp(got, want) == 0, "%s, %s: merged", a, b);
	/* one of all: no group, or those that both logs have */
	ok(marks[0] == marks[1] && (groups != NULL || marks[0] == 1),
	    "%s, %s: %u sums depend on the order", a, b, marks[0]);
	free(got);
	tel_stats_free(s);
	tel_stats_free(whole);
	free(want);
	free(parts[0]);
	free(parts[1]);
}

/* The lines of statistics and of types, without those of the whole logs. */
static char *
only_snapshots(const char *text)
{
	char *out = must(malloc(strlen(text) + 1)), *to = out;
	const char *end;

	for (; *text != '\0'; text = end + 1) {
		end = strchr(text, '\n');
		if (strncmp(text + 16, " S", 2) == 0) {
			memcpy(to, text, (size_t)(end - text) + 1);
			to += end - text + 1;
		}
	}
	*to = '\0';
	return out;
}

static void
test_text(const char *name)
{
	tel_stats *s = make_set("kind"), *t = make_set("kind");
	tel_reader *r = must(tel_reader_new());
	struct sink sink = { NULL, 0 };
	tel_output *out = must(tel_output_new_callback(take_bytes, &sink));
	tel_printer *p = must(tel_printer_new(out, TEL_FORMAT_TEXT));
	const tel_event *ev;
	char path[512], *want, *got, *a, *b;
	const char *top = getenv("TEL_TOP");

	count_file(s, name);
	snprintf(path, sizeof(path), "%s/tests/data/mps/%s.log.zst",
	    top == NULL ? "." : top, name);
	must_ok(tel_reader_open_file(r, path));
	while (tel_reader_next(r, &ev) == TEL_OK)
		must_ok(tel_printer_event(p, ev));
	must_ok(tel_printer_finish(p));
	must_ok(tel_output_flush(out));
	tel_printer_free(p);
	tel_output_free(out);
	tel_reader_free(r);

	r = must(tel_reader_new());
	must_ok(tel_reader_open_memory(r, sink.bytes, sink.count, "text"));
	count_reader(t, r);
	tel_reader_free(r);
	a = write_inst(s, 1);
	b = write_inst(t, 1);
	want = only_snapshots(a);
	got = only_snapshots(b);
	is_str(got, want, "%s: text tells what the log does", name);
	free(want);
	free(got);
	free(a);
	free(b);
	free(sink.bytes);
	tel_stats_free(s);
	tel_stats_free(t);
}

#define HEAD "0000000000000000 H inst 1 0 0 hz=1000000000\n"
#define T "0000000000000001 "

/* A definition of another kind under the same name. */
static void
test_conflict(void)
{
	static const char *const others[] = { "x=hist(size,0,64,4)",
		"x=hist(size,0,64,8) if kind == Pool", "x=hist(code,0,64,8)",
		"x=hist(size,0,64,8,size)", "x=log2(size)", "x=mag(size)",
		"x=hist(dur(),0,64,8)" };
	tel_stats *a, *b;
	size_t i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		a = begin_one("x=hist(size,0,64,8)");
		b = begin_one(others[i]);
		ok(tel_stats_merge(a, b) == TEL_EINVAL &&
		        strstr(tel_stats_error(a),
		            "two statistics are named x") != NULL,
		    "not the same: %s", tel_stats_error(a));
		tel_stats_free(a);
		tel_stats_free(b);
	}
	a = begin_one("x=mag(size)");
	b = begin_one("x=mag(size)");
	must_ok(tel_stats_set_groups(b, "kind"));
	ok(tel_stats_merge(a, b) == TEL_EINVAL, "not the same: groups");
	tel_stats_free(a);
	tel_stats_free(b);
}

/* Exact where it can be, and reported where it cannot. */
static void
test_approximate(void)
{
	static const struct {
		const char *a, *b;
		int approximate;
	} rows[] = {
		{ "k=1 v=1 n=1", "k=2 v=1 n=1", 0 },
		{ "k=1 v=1 n=1", "k=1 v=1 n=1", 0 },
		{ "k=1 v=1 n=1\n" T "SB c=1 k=2 v=1 n=1",
		    "k=2 v=1 n=1\n" T "SB c=1 k=3 v=1 n=1", 1 },
	};
	char text[1024];
	tel_stats *s;
	size_t i;
	int n;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		s = must(tel_stats_new());
		n = snprintf(text, sizeof(text),
		    HEAD T "C id=1 type=tally max=2 name=t\n" T
		           "S c=1 n=2 w=2 ovf=0 ovfn=0\n" T "SB c=1 %s\n" T
		           "Z\n" HEAD T "C id=1 type=tally max=2 name=t\n" T
		           "S c=1 n=2 w=2 ovf=0 ovfn=0\n" T "SB c=1 %s\n" T
		           "Z\n",
		    rows[i].a, rows[i].b);
		must_ok(read_inst(s, text, (size_t)n));
		is_u64((uint64_t)tel_stat_approximate(tel_stats_get(s, 0)),
		    (uint64_t)rows[i].approximate, "tallies: row %zu", i);
		tel_stats_free(s);
	}
	s = must(tel_stats_new());
	must_ok(read_inst(s, text, strlen(text)));
	is_number(s, 0, TEL_NUMBER_OVERFLOW_UPDATES, "1",
	    "tallies: the key that does not fit is overflow");
	tel_stats_free(s);
}

static void
test_wrapped(void)
{
	tel_stats *s = must(tel_stats_new());
	const char *text = HEAD T "C id=1 type=hist lo=0 hi=9 w=3 name=h\n" T
	                          "U c=1 op=hist v=1 n=18446744073709551615\n" T
	                          "U c=1 op=hist v=1 n=1\n" T "Z\n";
	char *out;

	must_ok(read_inst(s, text, strlen(text)));
	ok(tel_stat_wrapped(tel_stats_get(s, 0)), "a count that wrapped");
	is_number(s, 0, TEL_NUMBER_SUM, "18446744073709551616",
	    "the sum did not");
	out = write_inst(s, 1);
	tel_stats_free(s);
	s = must(tel_stats_new());
	must_ok(read_inst(s, out, strlen(out)));
	ok(tel_stat_wrapped(tel_stats_get(s, 0)), "reported from then on");
	free(out);
	tel_stats_free(s);
}

/* A later snapshot takes the place of an earlier one. */
static void
test_again(void)
{
	tel_stats *s = begin_one("m=mag(size)"), *t = must(tel_stats_new());
	struct stat_log l;
	char *first, *second, *both;

	stat_log_begin(&l);
	must_ok(tel_stats_begin(s, NULL));
	feed(s, &l, "PoolAlloc", 1000, 0, 0, 5);
	first = write_inst(s, 0);
	feed(s, &l, "PoolAlloc", 1100, 0, 0, 7);
	must_ok(tel_stats_end(s, NULL));
	second = write_inst(s, 1);
	both = must(malloc(strlen(first) + strlen(second) + 1));
	strcpy(both, first);
	strcat(both, second);
	ok(strstr(second, " C ") == NULL, "what is defined stays so");
	must_ok(read_inst(t, both, strlen(both)));
	is_number(t, 0, TEL_NUMBER_SUM, "12", "the last snapshot counts");
	is_total(t, TEL_TOTAL_EVENTS, "2", "of the report, too");
	is_total(t, TEL_TOTAL_TICKS, "100", "and of its span");
	ok(tel_stats_write_inst(s, NULL, 1) == TEL_ESTATE,
	    "nothing comes after the end");
	free(first);
	free(second);
	free(both);
	tel_stats_free(s);
	tel_stats_free(t);
	stat_log_end(&l);
}

/* Strings of any bytes, keys of any data type. */
static void
test_strings(void)
{
	static const char text[] = HEAD T
	    "C id=1 type=tally max=20 name=\"a b\"\n" T
	    "S c=1 n=9 w=9 ovf=0 ovfn=0\n" T "SB c=1 k=\"\" v=1\n" T
	    "SB c=1 k=\"\\u00e9\\ud83d\\ude00\" v=2\n" T
	    "SB c=1 k=\"\\udcff\\udc80\" v=3\n" T
	    "SB c=1 k=\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0001\" v=4\n" T
	    "SB c=1 k=-5 v=5\n" T "SB c=1 k=0x7f00 s=address v=6\n" T
	    "SB c=1 k=18446744073709551615 v=7\n" T
	    "SB c=1 k=0 s=missing v=8\n" T "SB c=1 k=\"5\" v=9\n" T "Z\n";
	static const char *const want[] = { "", "\303\251\360\237\230\200",
		"\377\200", "\"\\/\b\f\n\r\t\001", "-5", "0x7f00",
		"18446744073709551615", "-", "5" };
	tel_stats *s = must(tel_stats_new());
	char *out, buffer[64];
	unsigned turn, i;
	tel_key k;

	must_ok(read_inst(s, text, sizeof(text) - 1));
	for (turn = 0; turn < 2; turn++) {
		for (i = 0; i < 9; i++) {
			buffer[0] = '\0';
			if (tel_stat_key(tel_stats_get(s, 0), i, &k))
				tel_value_text(&k.value, buffer,
				    sizeof(buffer));
			is_str(buffer, want[i], "key %u, turn %u", i, turn);
			is_u64(k.count, i + 1, "its count");
		}
		out = write_inst(s, 1);
		tel_stats_free(s);
		s = must(tel_stats_new());
		must_ok(read_inst(s, out, strlen(out)));
		free(out);
	}
	must_ok(tel_stats_sort_keys(s, TEL_KEYS_VALUE));
	ok(tel_stat_key(tel_stats_get(s, 0), 0, &k) && k.value.missing &&
	        tel_stat_key(tel_stats_get(s, 0), 1, &k) &&
	        k.value.as.i64 == -5 &&
	        tel_stat_key(tel_stats_get(s, 0), 8, &k) &&
	        k.value.length == 2 && k.count == 3,
	    "keys by value");
	must_ok(tel_stats_sort_keys(s, TEL_KEYS_COUNT_UP));
	ok(tel_stat_key(tel_stats_get(s, 0), 8, &k) && k.count == 9,
	    "keys by count, the smallest first");
	tel_stats_free(s);
}

static void
test_nonsense(void)
{
	static const char *const lines[] = { "x", "0000000000000001",
		"0000000000000001 ", T, T "C", T "C id=0 type=mag name=x",
		T "C id=2 type=mag", T "C id=2 type=mug name=x",
		T "C id=1 type=mag name=again",
		T "C id=2 type=mag name=\"a::b\"",
		T "C id=2 parent=1 type=mag name=below",
		T "C id=2 parent=9 type=mag name=below",
		T "C id=2 type=hist lo=0 hi=0 w=1 name=h",
		T "C id=2 type=hist lo=0 hi=5 name=h",
		T "C id=2 type=hist lo=0 hi=70000 w=1 name=h",
		T "C id=2 type=mag name=\"open",
		T "C id=2 type=mag name=\"\\q\"",
		T "C id=2 type=mag name=\"\\ud800\"", T "U c=9 op=abs v=1",
		T "U c=1 op=inc v=1", T "U c=1 op=abs", T "U c=1 op=abs v=x",
		T "U c=1 op=abs v=99999999999999999999", T "S c=1 n=x",
		T "S c=9", T "SB c=1 k=1 v=1", T "E c=1 p=4", T "X c=1 op=no",
		T "L", T "SB c=1 b=1:1", T "H other 1 0 0", T "H inst x" };
	char text[512];
	tel_stats *s;
	size_t i;
	int n;

	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		s = must(tel_stats_new());
		n = snprintf(text, sizeof(text),
		    HEAD T "C id=1 type=mag name=m\n" T
		           "U c=1 op=abs v=1\n%s\n" T "U c=1 op=abs v=2\n" T
		           "Z\n",
		    lines[i]);
		ok(read_inst(s, text, (size_t)n) == TEL_EDAMAGED,
		    "nonsense: %s", lines[i]);
		is_number(s, 0, TEL_NUMBER_SUM, "3", "the rest is counted");
		is_total(s, TEL_TOTAL_DAMAGED, "1", "the line is reported");
		tel_stats_free(s);
	}
	s = must(tel_stats_new());
	ok(read_inst(s, "", 0) == TEL_EFORMAT, "an empty stream");
	ok(read_inst(s, "hello\n", 6) == TEL_EFORMAT, "no stream at all");
	ok(read_inst(s, "0000000000000000 H inst 2 0 0\n", 30) == TEL_EVERSION,
	    "a newer version");
	tel_stats_free(s);
	ok(tel_inst_probe(HEAD, strlen(HEAD)) == TEL_INST_LOG,
	    "probe: an inst stream");
	ok(tel_inst_probe("# a\n" HEAD, strlen(HEAD) + 4) == TEL_INST_LOG,
	    "probe: a comment before it");
	ok(!tel_inst_probe("0000061B51636E8B EventInit", 26), "probe: text");
	ok(!tel_inst_probe(HEAD, 10) && !tel_inst_probe("", 0), "probe: short");
}

/* All values have a bucket: a snapshot with some below is not counted. */
static void
test_outside(void)
{
	static const char text[] =
	    HEAD T "C id=1 type=log2 k=0 name=l\n" T
	           "S c=1 n=1 w=1 sum=1 under=7 over=0 sq=1 b=64:1\n" T "Z\n";
	tel_stats *s = must(tel_stats_new());
	tel_quantile q;

	ok(read_inst(s, text, sizeof(text) - 1) == TEL_EDAMAGED,
	    "powers of two: nothing lies below");
	is_number(s, 0, TEL_NUMBER_UNDER, "0", "the snapshot is not counted");
	ok(!tel_stat_quantile(tel_stats_get(s, 0), 500000000, &q),
	    "it has no quantiles");
	tel_stats_free(s);
}

/* Records of a report: numbers may be missing, names may not. */
static void
test_report(void)
{
	static const struct {
		const char *line;
		int good;
	} rows[] = {
		{ "W schema=\"a\" version=\"1\" form=\"b\"", 1 },
		{ "W version=\"1\" form=\"b\" logs=1", 0 },
		{ "W schema=\"a\" form=\"b\" logs=1", 0 },
		{ "W schema=\"a\" version=\"1\" logs=1", 0 },
		{ "W schema=\"a\" version=\"1\" form=\"b\" logs=-1", 0 },
		{ "SB c=2 k=\"A\" kind=\"K\" v=1", 1 },
		{ "SB c=2 k=\"A\" kind=\"K\" v=1 code=4294967295", 1 },
		{ "SB c=2 k=\"A\" kind=\"K\" v=1 code=4294967296", 0 },
		{ "SB c=2 k=\"A\" kind=\"K\" bytes=-1", 0 },
		{ "SB c=2 k=\"A\" v=1", 0 },
		{ "SB c=2 v=1 kind=\"K\"", 0 },
	};
	char text[512];
	tel_stats *s;
	size_t i;
	int n;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		s = must(tel_stats_new());
		n = snprintf(text, sizeof(text),
		    "0000000000000000 H inst 1 0 0 writer=\"teltools 0\"\n" T
		    "C id=1 type=path name=\"telstat report\"\n" T
		    "R logs=1 events=1\n" T
		    "C id=2 parent=1 type=tally name=events max=9 "
		    "report=\"types\"\n" T "S c=2 n=1\n" T "%s\n" T "Z\n",
		    rows[i].line);
		is_u64((uint64_t)read_inst(s, text, (size_t)n),
		    (uint64_t)(rows[i].good ? TEL_OK : TEL_EDAMAGED),
		    "report: %s", rows[i].line);
		is_total(s, TEL_TOTAL_DAMAGED, rows[i].good ? "0" : "1",
		    "the line is reported");
		tel_stats_free(s);
	}
}

/* What has groups is written although no event has made one yet. */
static void
test_empty_groups(void)
{
	tel_stats *s = must(tel_stats_new());
	char *out;

	must_ok(tel_stats_add(s, "m=mag(size)"));
	must_ok(tel_stats_set_groups(s, "kind"));
	must_ok(tel_stats_begin(s, NULL));
	must_ok(tel_stats_end(s, NULL));
	out = write_inst(s, 1);
	ok(strstr(out, " type=mag ") != NULL, "the class is defined");
	free(out);
	tel_stats_free(s);
}

int
main(void)
{
	test_parts("1.118.0-lii6gc-amcss", "1.116.0-lii3gc-amcss", NULL);
	test_parts("1.118.0-lii6gc-amcss", "1.112.0-lii3gc-amcss", "kind");
	test_parts("1.117.0-lii6gc-poolncv", "1.117.0-lii6gc-amcss-seg-trace",
	    "name,pool");
	test_parts("1.114.0-lii6ll-finalcv", "1.114.0-lii6ll-finalcv", "label");
	test_text("1.118.0-lii6gc-amcss");
	test_text("1.113.0-lii3gc-amcss");
	test_conflict();
	test_approximate();
	test_wrapped();
	test_again();
	test_strings();
	test_nonsense();
	test_outside();
	test_report();
	test_empty_groups();
	return done();
}
