/* SPDX-License-Identifier: BSD-2-Clause */
/* Inst logs: records, the rules of classes, damage, detection. */
#include <math.h>

#include "again.h"
#include "format/inst/inst.h"

#define H "0000000000000001 H inst 1 0 0 hz=1000\n"
#define T "0000000000000002 "
#define Z "0000000000000003 Z\n"

static char *
read_file(const char *name, size_t *size)
{
	FILE *f = fopen(name, "rb");
	char *text = calloc(1, 1 << 16);

	if (f == NULL || text == NULL)
		exit(1);
	*size = fread(text, 1, (1 << 16) - 1, f);
	fclose(f);
	return text;
}

/* The events of a session of these records, without its first and last. */
static char *
events_of(const char *records, struct result *res)
{
	size_t n = strlen(records) + sizeof(H Z);
	char *text = malloc(n), *p, *all;

	if (text == NULL)
		exit(1);
	snprintf(text, n, "%s%s%s", H, records, Z);
	*res = read_as(text, NULL);
	all = print_again(text);
	free(text);
	/* header lines, and the event of H */
	p = strstr(all, "0000000000000001 Header");
	p = strchr(p != NULL ? p : all, '\n') + 1;
	text = strdup(p);
	free(all);
	p = strstr(text, "0000000000000003 Finish");
	if (p != NULL)
		*p = '\0';
	return text;
}

/* Records give these events, and so many messages. */
static void
give_events(const char *records, const char *want, const char *words,
    const char *what)
{
	struct result res;
	char *got = events_of(records, &res);

	same(got, want, what);
	if (!ok(*words == '\0' ? res.notices[0] == '\0' :
	                         strstr(res.notices, words) != NULL,
	        "%s: says: %s", what, words))
		diag("%s", res.notices);
	free(got);
	drop(res);
}

#define PM \
	T "C id=1 parent=0 type=path name=P\n" T \
	  "C id=2 parent=1 type=mag name=M\n"
#define PM_EVENTS \
	T "PathClass path=\"P\" class=1 id=1 enabled=true unit=\"\" " \
	  "help=\"\"\n" T \
	  "MagnitudeClass path=\"P:M\" class=2 id=2 enabled=true unit=\"\" " \
	  "help=\"\"\n"
#define SET(c, v) T "U c=" c " op=abs v=" v "\n"
#define SET_EVENT(v) T "UpdateSet path=\"P:M\" class=2 value=" v " tag=0\n"
#define X(c, op) T "X c=" c " op=" op "\n"
#define IGNORED(path, class, reason, record) \
	T "Ignored path=\"" path \
	  "\" class=" class " reason=\"" reason "\" record=\"" record "\"\n"

static void
test_rules(void)
{
	/* the enable mask, identity and disposal, one after the other */
	give_events(PM SET("2", "1") X("1", "disable") SET("2", "2")
	                X("2", "disable") X("1", "enable") SET("2", "3")
	                    X("2", "enable") SET("2", "4") T
	    "C id=3 parent=1 type=mag name=M\n" SET("3", "5") T
	    "C id=4 parent=1 type=growth name=M\n" X("1", "dispose")
	        SET("2", "6"),
	    PM_EVENTS SET_EVENT("1") T
	    "Disable path=\"P\" class=1\n" IGNORED("P:M", "2",
	        "the class is disabled", "U c=2 op=abs v=2") T
	    "Disable path=\"P:M\" class=2\n" T
	    "Enable path=\"P\" class=1\n" IGNORED("P:M", "2",
	        "the class is disabled", "U c=2 op=abs v=3") T
	    "Enable path=\"P:M\" class=2\n" SET_EVENT("4") T
	    "MagnitudeClass path=\"P:M\" class=2 id=3 enabled=true unit=\"\" "
	    "help=\"\"\n" SET_EVENT("5")
	        IGNORED("P:M", "2", "a class of another type exists",
	            "C id=4 parent=1 type=growth name=M") T
	    "Dispose path=\"P\" class=1\n" IGNORED("P:M", "2",
	        "the class was disposed of", "U c=2 op=abs v=6"),
	    "the class 4 cannot be defined: ", "the rules of classes");
	give_events(PM X("0", "disable") SET("2", "1") X("0", "enable")
	                SET("2", "2") X("0", "dispose"),
	    PM_EVENTS T "Disable path=\"\" class=0\n" IGNORED("P:M", "2",
	        "the class is disabled", "U c=2 op=abs v=1") T
	    "Enable path=\"\" class=0\n" SET_EVENT("2") IGNORED("", "0",
	        "the root cannot be disposed of", "X c=0 op=dispose"),
	    "", "the root");
	give_events(PM X("2", "dispose") T "C id=5 parent=1 type=mag name=M\n"
	                                   "0000000000000002 U c=5 op=delta "
	                                   "v=-1 tag=-1\n",
	    PM_EVENTS T
	    "Dispose path=\"P:M\" class=2\n" T
	    "MagnitudeClass path=\"P:M\" class=5 id=5 enabled=true unit=\"\" "
	    "help=\"\"\n" T "UpdateAdd path=\"P:M\" class=5 value=-1 "
	    "tag=18446744073709551615\n",
	    "", "a class where one was disposed of");
	give_events(PM T "E c=2\n" T "U c=1 op=hist v=1\n" T "S c=1 n=1\n" T
	                 "SB c=2 k=1 v=1\n",
	    PM_EVENTS IGNORED("P:M", "2", "the class is not a trace class",
	        "E c=2") IGNORED("P", "1", "the class is of another type",
	        "U c=1 op=hist v=1") IGNORED("P", "1",
	        "the class is not a statistic", "S c=1 n=1") IGNORED("P:M", "2",
	        "the class is of another type", "SB c=2 k=1 v=1"),
	    "", "records for classes of other types");
	give_events(T "E c=7 tag=1 p=2\n" T "S c=8 n=1 cur=2 min=2 max=2 "
	              "sum=2\n",
	    T "End path=\"\" class=7 tag=1 range=0x700000001 component=\"\" "
	      "text=\"\"\n" T
	      "Magnitude path=\"\" class=8 updates=1 current=2 min=2 max=2 "
	      "sum=2\n",
	    "the class 7 is not defined", "classes that are not defined");
}

static void
test_definitions(void)
{
	static const struct {
		const char *record, *reason;
	} wrong[] = {
		{ "C id=3 parent=2 type=mag name=x",
		    "its parent is not a path" },
		{ "C id=3 parent=1 type=mag name=", "its name is empty" },
		{ "C id=3 parent=1 type=mag name=a::b",
		    "its name has an empty component" },
		{ "C id=3 parent=1 type=hist lo=1 hi=1 w=1 name=h",
		    "its parameters are invalid" },
		{ "C id=3 parent=1 type=hist lo=1 hi=2 w=0 name=h",
		    "its parameters are invalid" },
		{ "C id=3 parent=1 type=hist lo=1 hi=2 name=h",
		    "its parameters are invalid" },
		{ "C id=3 parent=1 type=split lo=0 w1=1 knee=0 hi=2 w2=1 "
		  "name=h",
		    "its parameters are invalid" },
		{ "C id=3 parent=1 type=tally max=0 name=h",
		    "its parameters are invalid" },
		{ "C id=2 parent=1 type=mag name=other", "the id is in use" },
		{ "C id=3 parent=1 type=path name=M",
		    "a class of another type exists" },
	};
	char records[600], want[900], path[8];
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(records, sizeof(records), PM T "%s\n",
		    wrong[i].record);
		snprintf(path, sizeof(path), "%s",
		    i == sizeof(wrong) / sizeof(wrong[0]) - 1 ? "P:M" : "");
		snprintf(want, sizeof(want),
		    PM_EVENTS IGNORED("%s", "%c", "%s", "%s"), path,
		    *path != '\0' ? '2' : wrong[i].record[5], wrong[i].reason,
		    wrong[i].record);
		give_events(records, want, "class", wrong[i].reason);
	}
	give_events(PM T "C id=2 parent=1 type=mag name=M en=0\n" SET("2", "1"),
	    PM_EVENTS T "MagnitudeClass path=\"P:M\" class=2 id=2 "
	                "enabled=false unit=\"\" help=\"\"\n" SET_EVENT("1"),
	    "with differences, which are ignored", "a definition that differs");
	give_events(T "C id=3 parent=9 type=mag name=M\n",
	    T "MagnitudeClass path=\"?:M\" class=3 id=3 enabled=true unit=\"\" "
	      "help=\"\"\n",
	    "", "a parent that is not defined");
}

static void
test_damage(void)
{
	static const char *const lines[][2] = {
		{ "x\n", "a clock of 16" },
		{ "000000000000000g E c=1\n", "a clock of 16" },
		{ "0000000000000001  E c=1\n", "a code of capital" },
		{ "0000000000000001 e c=1\n", "a code of capital" },
		{ T "E\n", "c=" },
		{ T "E c=x\n", "numbers for c=" },
		{ T "C id=1 parent=x type=path name=a\n", "numbers for" },
		{ T "E c=1 \n", "a value after a blank" },
		{ T "E c=1 p=4\n", "0 to 3 as p=" },
		{ T "E c=1 s=\"a\n", "the end of the string" },
		{ T "E c=1 s=a\"b\n", "a value" },
		{ T "E c=1 s=\"a\"b\n", "a blank between" },
		{ T "E c=1 s=\"\\q\"\n", "text" },
		{ T "E c=1 s=\"\\ud800\"\n", "text" },
		{ T "E c=1 s=\"\\u0000\"\n", "text" },
		{ T "E c=1 tag=x\n", "numbers for c=, tag=" },
		{ T "U c=1 op=abs\n", "c=, op= and v=" },
		{ T "U c=1 op=what v=1\n", "abs, delta, inc" },
		{ T "U c=1 op=inc v=-1\n", "value" },
		{ T "X c=1 op=off\n", "enable, disable" },
		{ T "C id=0 type=path name=a\n", "id=, type=" },
		{ T "C id=1 name=a\n", "id=, type=" },
		{ T "D id=1\n", "id= and fmt=" },
		{ T "D id=1 fmt=\"\\q\"\n", "a valid string" },
		{ T "S c=1\n", "c= and n=" },
		{ T "SB c=1\n", "c=, k= and v=" },
		{ T "L from=1\n", "n=" },
		{ T "H inst 1 0\n", "inst and a version" },
		{ T "H inst 1 0 x\n", "inst and a version" },
	};
	struct result res;
	char text[300];
	size_t i;

	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		snprintf(text, sizeof(text), "%s%s%s", H, lines[i][0],
		    strstr(lines[i][0], " H ") != NULL ? "" : Z);
		res = read_as(text, "inst");
		if (!ok(strstr(res.notices, lines[i][1]) != NULL &&
		            (res.count[TEL_COUNT_DAMAGED] > 0) &&
		            res.status == TEL_END,
		        "damage: %s", lines[i][1]))
			diag("%s%s%s", text, res.events, res.notices);
		drop(res);
	}
	res = read_as(H T "E c=1 p=1", NULL);
	ok(strstr(res.notices, "the log is truncated") != NULL &&
	        strstr(res.notices, "the last line has no line end") != NULL &&
	        res.count[TEL_COUNT_EVENTS] == 2,
	    "a log that is cut off");
	drop(res);
	res = read_as(H H Z, NULL);
	is_u64(res.count[TEL_COUNT_DAMAGED], 1, "a session without an end");
	drop(res);
	res = read_as("0000000000000001 H inst 2 0 0\n", NULL);
	ok(res.status == TEL_EVERSION, "a newer major version");
	drop(res);
	res = read_as("0000000000000001 H inst 1 1 0\n" Z, NULL);
	ok(res.status == TEL_END &&
	        strstr(res.notices, "is read as 1.0.0") != NULL,
	    "a newer median version");
	drop(res);
}

/* A descriptor makes this of these values. */
static void
makes(const char *format, const char *values, const char *want)
{
	char records[6000], *got, *p;
	struct result res;

	snprintf(records, sizeof(records),
	    T "C id=1 type=trace name=t\n" T "D id=1 fmt=\"%s\"\n" T
	      "E c=1 d=1%s%s\n",
	    format, *values != '\0' ? " " : "", values);
	got = events_of(records, &res);
	p = strstr(got, "Trace path=");
	p = p != NULL ? strstr(p, "text=\"") : NULL;
	if (p != NULL) {
		p += 6;
		*strrchr(p, '"') = '\0';
	}
	is_str(p, want, "%.40s of %.40s", format, values);
	free(got);
	drop(res);
}

static void
test_descriptors(void)
{
	static const struct {
		const char *format, *value;
		long long number;
	} integers[] = { { "%d", "42", 42 }, { "%5d|", "42", 42 },
		{ "%-5d|", "42", 42 }, { "%05d", "-42", -42 },
		{ "%+d", "42", 42 }, { "% d", "42", 42 },
		{ "%.5d", "-42", -42 }, { "%8.5d", "-42", -42 },
		{ "%08.5d", "42", 42 }, { "%.0d", "0", 0 }, { "%+.0i", "0", 0 },
		{ "%u", "7", 7 }, { "%o", "64", 64 }, { "%#o", "64", 64 },
		{ "%#o", "0", 0 }, { "%#.0o", "0", 0 }, { "%x", "255", 255 },
		{ "%#X", "0xff", 255 }, { "%#x", "0", 0 },
		{ "%#08x", "255", 255 }, { "%-#8x|", "255", 255 },
		{ "%016X", "-1", -1 } };
	static const struct {
		const char *format, *value;
		double number;
	} doubles[] = { { "%f", "1.5", 1.5 }, { "%9.2f|", "-1.5", -1.5 },
		{ "%-9.2f|", "1.5", 1.5 }, { "%+09.2f", "1.5", 1.5 },
		{ "%e", "12345.678", 12345.678 }, { "%g", "1e-7", 1e-7 },
		{ "%#g", "1", 1 }, { "%#.0e", "3", 3 }, { "%#.0f", "3", 3 },
		{ "%a", "1", 1 }, { "%.2a", "3.5", 3.5 }, { "%08f", "-1", -1 },
		{ "%f", "3", 3 }, { "%E", "12345.678", 12345.678 },
		{ "%12.3G|", "1e-7", 1e-7 }, { "%A", "-3.5", -3.5 },
		{ "%F", "-inf", -INFINITY } };
	char want[200], format[40];
	size_t i, n;

	for (i = 0; i < sizeof(integers) / sizeof(integers[0]); i++) {
		/* the reference, with the width of our numbers */
		n = strcspn(integers[i].format, "dioxXu");
		snprintf(format, sizeof(format), "%.*sll%s", (int)n,
		    integers[i].format, integers[i].format + n);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(want, sizeof(want), format, integers[i].number);
		makes(integers[i].format, integers[i].value, want);
	}
	for (i = 0; i < sizeof(doubles) / sizeof(doubles[0]); i++) {
		snprintf(want, sizeof(want), doubles[i].format,
		    doubles[i].number);
#pragma GCC diagnostic pop
		makes(doubles[i].format, doubles[i].value, want);
	}
}

static void
test_descriptor_edges(void)
{
	makes("%%|%c|%s", "65 x", "%|A|x");
	makes("%5s|%-5s|%.2s|%8.3s|", "\"a b\" \"a b\" abc abcdef",
	    "  a b|a b  |ab|     abc|");
	makes("%08lX %hhd %lld %zu %jd %td", "2 300 4 5 6 7",
	    "00000002 300 4 5 6 7");
	makes("%p", "255", "0xff");
	makes("%d:%d", "1 2 3", "1:2 [3]");
	makes("%d:%d", "1", "[1]");
	makes("%d", "\"x\"", "[x]");
	makes("%d", "x", "[x]");
	makes("%d", "99999999999999999999", "[99999999999999999999]");
	makes("%c", "0", "[0]");
	makes("%c", "\"ab\"", "[ab]");
	makes("%f", "x", "[x]");
	makes("%n", "1", "[1]");
	makes("%*d", "1 2", "[1, 2]");
	makes("%4096d", "1", "[1]");
	makes("%.4096d", "1", "[1]");
	makes("%y", "1", "[1]");
	makes("%", "1", "[1]");
	makes("%lld %5", "1", "[1]");
	makes("plain", "", "plain");
	makes("%4095d%4095d%4095d%4095d%4095d%4095d%4095d%4095d%4095d%4095d"
	      "%4095d%4095d%4095d%4095d%4095d%4095d%4095d",
	    "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17",
	    "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]");
	makes("%s", "\"\\u0041\\u00e9\\u20ac\\ud83d\\ude00\\udcff\\n\"",
	    "A\\xc3\\xa9\\xe2\\x82\\xac\\xf0\\x9f\\x98\\x80\\xff\\n");
}

static void
test_limits(void)
{
	char *text = malloc(400000), *p = text;
	struct source src = { text, 0, 0, 0, NULL, 0 };
	struct result res;
	size_t i;

	if (text == NULL)
		exit(1);
	for (i = 0; i < 4; i++) {
		p = text + sprintf(text, "%s", H);
		p += sprintf(p, T "E c=1 s=");
		memset(p, 'a', (size_t)65535 - 26 + i / 2);
		p += (size_t)65535 - 26 + i / 2;
		p += sprintf(p, "\n%s", Z);
		src.size = (size_t)(p - text);
		src.piece = i % 2 == 0 ? 0 : 999;
		res = read_source(src);
		is_u64(res.count[TEL_COUNT_EVENTS], i < 2 ? 3 : 2,
		    "a line of %zu bytes", 65535 + i / 2);
		is_u64(res.count[TEL_COUNT_SKIPPED], i < 2 ? 0 : 65536,
		    "bytes skipped");
		drop(res);
	}
	src.piece = 0;
	p = text + sprintf(text, "%s", H);
	p += sprintf(p, T "E c=1");
	for (i = 0; i < INST_ARGS_MAX + 1; i++)
		p += sprintf(p, " 1");
	p += sprintf(p, "\n%s", Z);
	res = read_as(text, NULL);
	is_u64(res.count[TEL_COUNT_DAMAGED], 1, "too many values");
	drop(res);
	/* paths that grow until they are too long */
	p = text + sprintf(text, "%s", H);
	for (i = 1; i < 50; i++) {
		p += sprintf(p, T "C id=%zu parent=%zu type=path name=", i,
		    i - 1);
		memset(p, 'n', 100);
		p += 100;
		p += sprintf(p, "\n");
	}
	sprintf(p, "%s", Z);
	res = read_as(text, NULL);
	ok(strstr(res.notices, "its path is too long") != NULL &&
	        strstr(res.notices, "its parent could not") != NULL,
	    "paths that are too long");
	drop(res);
	free(text);
}

/* Formats of values are kept up to 16 MiB. */
static void
test_formats(void)
{
	char *text = malloc(280 * 60040 + 400), *p;
	tel_reader *r = tel_reader_new();
	const tel_event *ev;
	unsigned formats = 0, ignored = 0;

	if (text == NULL || r == NULL)
		exit(1);
	p = text + sprintf(text, "%s", H);
	for (unsigned i = 1; i <= 280; i++) {
		p += sprintf(p, T "D id=%u fmt=\"", i);
		memset(p, 'f', 60000);
		p += 60000;
		p += sprintf(p, "\"\n");
	}
	if (tel_reader_open_memory(r, text, (size_t)(p - text), "x") != TEL_OK)
		exit(1);
	while (tel_reader_next(r, &ev) == TEL_OK) {
		formats += strcmp(ev->type->name, "Descriptor") == 0;
		ignored += strcmp(ev->type->name, "Ignored") == 0;
	}
	ok(formats == 279 && ignored == 1, "%u formats of 60,000 bytes",
	    formats);
	tel_reader_free(r);
	free(text);
}

static void
test_pieces(const char *text, size_t size, const char *golden)
{
	struct source src = { text, size, 0, 0, NULL, 0 };
	char *got = print_source(src, TEL_FORMAT_TEXT, NULL), *want;
	size_t n, bad = 0;

	same(got, golden, "the session as it should be");
	pieces_print_as(src, got, "a session");
	prints_as(got, NULL, "its text");
	free(got);
	for (n = 0; n<size; n += n> 3000 ? 7 : 1) {
		src.size = n;
		got = print_source(src, TEL_FORMAT_TEXT, NULL);
		src.piece = 7;
		want = print_source(src, TEL_FORMAT_TEXT, NULL);
		src.piece = 0;
		bad += strcmp(got, want) != 0;
		free(got);
		free(want);
	}
	is_u64(bad, 0, "every prefix, however it comes");
}

/* Which form a log is taken for. */
static void
form_is(const char *text, const char *form)
{
	struct result res = read_as(text, NULL);

	is_str(res.form, form, "the form of %.*s", (int)strcspn(text, "\n"),
	    text);
	drop(res);
}

static void
test_detection(void)
{
	form_is(H Z, "inst");
	form_is("# a comment\n\n" H Z, "inst");
	form_is(T "E c=1 tag=2\n", "inst");
	form_is("ag=3 p=1\n" T "U c=1 op=inc v=1\n", "inst");
	form_is(T "Ev c=1 tag=2\n", "text");
	form_is("# teltools text 1\n" T "E c=1 tag=2\n", "text");
	form_is(T "PoolFinish pool=0x1\n", "text");
	form_is("0000000000000001   15 1\n", "cnv");
	form_is("0000000000000001 H inst\n", "");
	form_is("hello\nworld\n" H, "");
	form_is("\x01\x45LF\n" H, "");
}

int
main(void)
{
	size_t size, n;
	char *text = read_file("tests/data/inst/hfs.txt", &size);
	char *golden = read_file("tests/data/inst/hfs.out", &n);

	test_rules();
	test_definitions();
	test_damage();
	test_descriptors();
	test_descriptor_edges();
	test_limits();
	test_formats();
	test_pieces(text, size, golden);
	test_detection();
	free(text);
	free(golden);
	return done();
}
