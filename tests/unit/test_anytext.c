/* SPDX-License-Identifier: BSD-2-Clause */
/* Text of types that are not built in: described, or inferred from the lines. */
#include <time.h>

#include "again.h"
#include "format/text/text.h"

#define TEXT "# teltools text 1\n"
#define TYPES \
	"# type: Log.Start 1 \"My \\\"kind\\\"\" level:unsigned:8 text:string" \
	" more:string\n" \
	"# type: Begin 2 Trace key:unsigned:32 d:double\n" \
	"# type: End 3 Trace key:unsigned:32 neg:signed:16 ok:boolean:1\n" \
	"# type: Mem 7 Mem at:address p:pointer:32 set:set:16 " \
	"none:boolean:8\n" \
	"# type: Empty 8 Mem\n"
#define ROLES \
	"# role: Begin start End key\n" \
	"# role: End finish key\n" \
	"# role: Mem alloc at - p\n"
#define HEAD \
	TEXT "# format: foo-1\n# version: 2.1\n# tick rate: " \
	     "1000000000.0\n" TYPES ROLES
#define START \
	"0000000000001000 Log.Start level=255 text=\"a \\\"b\\\"\" " \
	"more=\"\"\n"
#define BEGIN "0000000000001001 Begin key=4294967295 d=0.1\n"
#define END "0000000000001002 End key=1 neg=-32768 ok=true\n"
#define MEM \
	"0000000000001003 Mem at=0xffffffffffffffff[\"x\"] p=0x1[\"y\\n\"] " \
	"set=0xff none=false\n"
#define UNKNOWN "0000000000001004 0x01F4 bytes=0a0b0c\n"
#define EMPTY "FFFFFFFFFFFFFFFF Empty\n"
#define EVENTS START BEGIN END MEM UNKNOWN EMPTY

#define LEARNED \
	TEXT "# format: text\n" \
	     "# type: Log.Start 0 Text level:unsigned text:string " \
	     "more:string\n" \
	     "# type: Begin 1 Text key:unsigned d:double\n" \
	     "# type: End 2 Text key:unsigned neg:signed ok:boolean:1\n" \
	     "# type: Mem 3 Text at:address p:address set:address " \
	     "none:boolean:1\n" \
	     "# type: Empty 4 Text\n"

static void
test_described(void)
{
	prints_as(HEAD EVENTS, NULL, "a described text");
}

static int
by_line(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

/* The lines of text, sorted as "LC_ALL=C sort" does; backwards, too. */
static char *
sorted(const char *text, int backwards)
{
	char *copy = strdup(text), *out = calloc(1, strlen(text) + 1);
	char *lines[64], *p;
	size_t n = 0, i;

	if (copy == NULL || out == NULL)
		exit(1);
	for (p = strtok(copy, "\n"); p != NULL; p = strtok(NULL, "\n"))
		lines[n++] = p;
	qsort(lines, n, sizeof(lines[0]), by_line);
	for (i = 0; i < n; i++) {
		strcat(out, lines[backwards ? n - 1 - i : i]);
		strcat(out, "\n");
	}
	free(copy);
	return out;
}

static void
test_mixes(void)
{
	char *text = sorted(HEAD EVENTS, 0);

	prints_as(text, HEAD EVENTS, "sorted");
	free(text);
	text = sorted(HEAD EVENTS, 1);
	prints_as(text,
	    TEXT
	    "# format: foo-1\n" TYPES ROLES EMPTY UNKNOWN MEM END BEGIN START,
	    "sorted backwards");
	free(text);
	prints_as(HEAD START BEGIN, NULL, "head");
	prints_as(HEAD MEM, NULL, "grep for one");
	prints_as(EVENTS, LEARNED EVENTS, "without a header");
	prints_as(TEXT "# format: foo-1\n# version: 3\n" EMPTY,
	    TEXT "# format: foo-1\n# version: 3\n# type: Empty 0 Text\n" EMPTY,
	    "without types");
	prints_as(TYPES EMPTY, TEXT "# format: text\n" TYPES EMPTY,
	    "types without a format");
	prints_as(HEAD START "# format: foo-1\n" BEGIN, HEAD START BEGIN,
	    "a format that was described before");
	prints_as(HEAD START TEXT "# format: bar\n# tick rate: 1000000000.0\n# "
	                          "type: Empty 1 a b:set\n"
	                          "0000000000000001 Empty b=0x0\n" HEAD END,
	    NULL, "texts that follow each other");
	prints_as(HEAD START TEXT "# format: foo-1\n# tick rate: "
	                          "1000000000.0\n# type: Empty 1 a b:set\n"
	                          "0000000000000001 Empty b=0x0\n",
	    NULL, "of one name, with other types");
	prints_as(HEAD START "# format: foo-1\n# type: Other 1 a b:set\n" START
	                     "0000000000000001 Other b=0x0\n" END,
	    HEAD START START TEXT
	    "# format: foo-1\n# tick rate: 1000000000.0\n"
	    "# type: Other 1 a b:set\n0000000000000001 Other b=0x0\n" HEAD END,
	    "types of one name, merged");
	prints_as(HEAD START "# format: mps-1.117.0/lii6gc\n" CLK
	                     "ArenaDestroy arena=0x1\n" HEAD START,
	    HEAD START TEXT "# format: mps-1.117.0/lii6gc\n# version: 1.6.1\n"
	                    "# platform: lii6gc, 64-bit, little-endian\n"
	                    "# tick rate: 1000000000.0\n" CLK
	                    "ArenaDestroy arena=0x1\n" HEAD START,
	    "and one that is built in");
}

static void
test_learning(void)
{
#define E(f) "0000000000000001 E " f "\n"
#define T(f) TEXT "# format: text\n# type: E 0 Text " f "\n"
	prints_as(E("a=1") E("a=-1"), T("a:signed") E("a=1") E("a=-1"),
	    "signed in one line");
	prints_as(E("a=1") E("a=0.5"), T("a:double") E("a=1") E("a=0.5"),
	    "a double in one line");
	prints_as(E("a=inf b=nan c=nan(0xfff8000000000001) d=-inf e=1e+30"),
	    T("a:double b:double c:double d:double e:double")
	        E("a=inf b=nan c=nan(0xfff8000000000001) d=-inf e=1e+30"),
	    "doubles");
	prints_as(E("a=18446744073709551615 b=-9223372036854775808"),
	    T("a:unsigned b:signed")
	        E("a=18446744073709551615 b=-9223372036854775808"),
	    "limits");
	prints_as(E("a=1 b=0x2") E("b=0x3 a=4"),
	    T("a:unsigned b:address") E("a=1 b=0x2") E("a=4 b=0x3"),
	    "fields in another order");
	prints_as(E("a=1") E("b=1") E("a=\"x\""),
	    T("a:unsigned") "# type: E 1 Text b:unsigned\n"
	                    "# type: E 2 Text a:string\n" E("a=1") E("b=1")
	                        E("a=\"x\""),
	    "one name for three types");
	prints_as(E("a=7[\"seven\"] b=0x1[\"\\\"]\"]"),
	    T("a:unsigned b:address") E("a=7[\"seven\"] b=0x1[\"\\\"]\"]"),
	    "labels");
	prints_as(E("a.b=1"), T("a.b:unsigned") E("a.b=1"), "a point");
	prints_as(CLK "ArenaDestroy arena=0x1\n" E("a=1"),
	    TEXT "# format: mps-1.118.0/lii6gc\n# version: 2.0.0\n"
	         "# platform: lii6gc, 64-bit, little-endian\n" CLK
	         "ArenaDestroy arena=0x1\n",
	    "one line of a release");
}

/* Types that come after the window that is looked at first. */
static void
test_late(void)
{
	char *text, *got;
	size_t n;
	FILE *f = open_memstream(&text, &n);
	struct result res;
	uint64_t count[TEL_COUNT_LOGS + 1];
	struct source src = { NULL, 0, 0, 0, NULL, 0 };
	int i;

	if (f == NULL)
		exit(1);
	for (i = 0; i < 4000; i++)
		fputs(E("a=1"), f);
	for (i = 0; i < 4000; i++)
		fprintf(f, "0000000000000001 E%d b=%d\n", i, i);
	fclose(f);
	src.text = text;
	src.size = strlen(text);
	got = print_source(src, TEL_FORMAT_TEXT, count);
	is_u64(count[TEL_COUNT_EVENTS], 8000, "4,000 types that come late");
	is_u64(count[TEL_COUNT_DAMAGED], 0, "none of them is lost");
	prints_as(got, NULL, "what was learned late");
	free(got);
	/* a pipe that gives a line at a time: each type needs a schema */
	src.piece = 24;
	got = print_source(src, TEL_FORMAT_TEXT, count);
	ok(count[TEL_COUNT_EVENTS] >= 4000 + 500 &&
	        count[TEL_COUNT_EVENTS] + count[TEL_COUNT_DAMAGED] == 8000,
	    "one by one, 500 types are read");
	res = read_as(text, NULL);
	ok(res.count[TEL_COUNT_DAMAGED] == 0 && res.notices != NULL &&
	        strstr(res.notices, "too many event types") == NULL,
	    "no warning without a reason");
	drop(res);
	free(text);
	f = open_memstream(&text, &n);
	if (f == NULL)
		exit(1);
	for (i = 0; i < 4200; i++)
		fprintf(f, "0000000000000001 E%d b=%d\n", i, i);
	fclose(f);
	res = read_as(text, NULL);
	ok(strstr(res.notices, "too many event types in one text") != NULL,
	    "a warning says why");
	drop(res);
	free(got);
	free(text);
}

/* Reads what f, of which *text is made, has; frees it.  Returns the events. */
static uint64_t
count_events(FILE *f, char **text, size_t *n)
{
	struct source src = { NULL, 0, 0, 0, NULL, 0 };
	uint64_t count[TEL_COUNT_LOGS + 1];

	fclose(f);
	src.text = *text;
	src.size = *n;
	free(print_source(src, TEL_FORMAT_TEXT, count));
	free(*text);
	return count[TEL_COUNT_EVENTS];
}

/* Lines that could, but must not, cost as much as all types do. */
static void
test_costly(void)
{
	clock_t begin = clock();
	char *text;
	size_t n;
	unsigned i;
	FILE *f = open_memstream(&text, &n);

	if (f == NULL)
		exit(1);
	for (i = 0; i < 1000; i++)
		fprintf(f, CLK "E%u x=1\n", i);
	for (i = 0; i < 1000; i++)
		fputs(CLK "E1 x=0xg\n" CLK "E1 x=\"\\q\"\n", f);
	is_u64(count_events(f, &text, &n), 1000, "lines of no new type");
	f = open_memstream(&text, &n);
	if (f == NULL)
		exit(1);
	fputs(TEXT "# format: a\n", f);
	for (i = 0; i < 1000; i++)
		fprintf(f, "# type: E%u 0 K x:unsigned:1\n", i);
	for (i = 0; i < 1000; i++)
		fputs("# role: E1 start E999\n", f);
	for (i = 0; i < 1000; i++)
		fputs("# type: E0 0 K x:unsigned:1\n" CLK "E0 x=1\n", f);
	is_u64(count_events(f, &text, &n), 1000, "a type, again and again");
	f = open_memstream(&text, &n);
	if (f == NULL)
		exit(1);
	fputs(TEXT, f);
	for (i = 0; i < 1024; i++)
		fprintf(f, "# format: a%u\n# type: E 0 K\n" CLK "E\n", i);
	for (i = 0; i < 1000; i++)
		fprintf(f, "# type: E%u 0 K x:unsigned:1\n", i);
	for (i = 0; i < 1000; i++)
		fprintf(f, "# type: E%u 0 K x:unsigned:2\n" CLK "E\n", i);
	is_u64(count_events(f, &text, &n), 2024, "types past the limit");
	ok((double)(clock() - begin) / CLOCKS_PER_SEC < 3,
	    "they take little time");
}

static void
is_lost(const char *line, const char *words)
{
	char text[2000];
	struct result res;

	snprintf(text, sizeof(text), "%s%s%s", HEAD, EMPTY, line);
	res = read_as(text, NULL);
	if (!ok(res.count[TEL_COUNT_DAMAGED] == 1 &&
	            strstr(res.notices, words) != NULL,
	        "damage: %s: %.*s", words, (int)strcspn(line, "\n"), line))
		diag("events %s notices %s", res.events, res.notices);
	drop(res);
}

static void
test_damage(void)
{
	is_lost(E("a=1"), "an event in foo-1");
	is_lost(CLK "Begin d=1\n", "the field d");
	is_lost(CLK "Begin key=1\n", "the field d");
	is_lost(CLK "Begin key=1 d=1 d=1\n", "the end of the line");
	is_lost(CLK "Begin key=4294967296 d=1\n", "a smaller number as key");
	is_lost(CLK "Begin key=1 d=x\n", "a floating-point number");
	is_lost(CLK "End key=1 neg=32768 ok=true\n", "a smaller number as neg");
	is_lost(CLK "End key=1 neg=-32769 ok=true\n", "a smaller number as");
	is_lost(CLK "End key=1 neg=1 ok=1\n", "true or false");
	is_lost(CLK "Log.Start level=1 text=\"a more=\"b\"\n",
	    "the field more");
	is_lost(CLK "Log.Start level=1 text=\"a", "the end of the string");
	is_lost(CLK "Log.Start level=1 text=\"\\x00\" more=\"\"\n",
	    "a valid string");
	is_lost(CLK "Log.Start level=1 text=\"\\", "a valid string");
	is_lost(CLK "0x1F4 bytes=\n", "a code of four");
	is_lost(CLK "0x01F4 bytes=0\n", "pairs of digits");
	is_lost(CLK "0x100000000 bytes=\n", "a code of four");
}

#define SPARSE \
	TEXT "# format: sparse\n# type: S 0 K a?:unsigned:32 b:signed" \
	     " c?:list:signed:16 d?:list:string e?:double:32 f?:list:double" \
	     " g?:list:address h?:list:boolean:8 i?:string\n"

/* Fields that may be absent, in any order; lists; floats. */
static void
test_sparse(void)
{
	static const char *const wrong[][2] = {
		{ "S a=1", "the field b" },
		{ "S b=1 b=2", "a field of S" },
		{ "S b=1 z=2", "a field of S" },
		{ "S b=1 a=4294967296", "a smaller number as a" },
		{ "S b=1 c=1", "a list in brackets as c" },
		{ "S b=1 c=[1", "a comma or a bracket in c" },
		{ "S b=1 c=[1;2]", "a comma or a bracket in c" },
		{ "S b=1 c=[1,]", "a decimal number as c" },
		{ "S b=1 c=[32768]", "a smaller number as c" },
		{ "S b=1 d=[\"x]", "the end of the string in d" },
		{ "S b=1 g=[0x1[\"x\"]]", "a comma or a bracket in g" },
		{ "S b=1 h=[yes]", "true or false as h" },
		{ "S b=1 e=1e39", "a smaller number as e" },
	};
	char text[1000];
	struct result res;
	size_t i;

	prints_as(SPARSE CLK "S b=-1\n" CLK "S a=4294967295 b=2 c=[1,-32768]"
	                     " d=[\"x, ]\",\"\"] e=0.1 f=[0.1,-inf,1e+300]"
	                     " g=[0x10,0x0] h=[true,false] i=\"s\"\n" CLK
	                     "S b=0 c=[] d=[] i=\"\"\n",
	    NULL, "absent fields, lists and floats");
	prints_as(TEXT "# format: a\n# type: A 0 K x:double:32 y:signed:8\n"
	               "# type: A 0 K x:signed:40 y:unsigned:8\n" CLK
	               "A x=-1e+300 y=200\n",
	    TEXT "# format: a\n# type: A 0 K x:double y:signed\n" CLK
	         "A x=-1e+300 y=200\n",
	    "fields of types that differ");
	prints_as(SPARSE CLK "S i=\"s\" c=[7] b=3\n",
	    SPARSE CLK "S b=3 c=[7] i=\"s\"\n", "fields in another order");
	prints_as(CLK "L x=[1,2]\n" CLK "L x=[\"a\"]\n",
	    TEXT "# format: text\n# type: L 0 Text x:list:unsigned\n"
	         "# type: L 1 Text x:list:string\n" CLK "L x=[1,2]\n" CLK
	         "L x=[\"a\"]\n",
	    "lists of numbers and of strings are two types");
	prints_as(CLK "E x=[1,2] y=[\"a\",\"b \\\" ]\"] z=[]\n" CLK
	              "E x=[-1] y=[] z=[0.5]\n",
	    TEXT "# format: text\n# type: E 0 Text x:list:signed"
	         " y:list:string z:list:double\n" CLK
	         "E x=[1,2] y=[\"a\",\"b \\\" ]\"] z=[]\n" CLK
	         "E x=[-1] y=[] z=[0.5]\n",
	    "lists in lines without a header");
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(text, sizeof(text), "%s" CLK "S b=1\n" CLK "%s\n",
		    SPARSE, wrong[i][0]);
		res = read_as(text, NULL);
		if (!ok(res.count[TEL_COUNT_DAMAGED] == 1 &&
		            strstr(res.notices, wrong[i][1]) != NULL,
		        "damage: %s", wrong[i][1]))
			diag("events %s notices %s", res.events, res.notices);
		drop(res);
	}
}

/* Invalid lines of a header are comments. */
static void
test_header(void)
{
	prints_as(HEAD
	    "# type: 1x 1 a\n# type: x\n# type: x y z\n"
	    "# type: x 4294967296 z\n# type: x 1 \"z\n# type: x 1  y:set\n"
	    "# type: x 1 z y\n# type: x 1 z y:\n# type: x 1 z y:real\n"
	    "# type: x 1 z y:set:65\n# type: x 1 z y:set:0\n"
	    "# type: x 1 z y:double:16\n# type: x 1 z y:set y:set\n"
	    "# type: x 1 z y:list\n# type: x 1 z y:list:\n"
	    "# type: x 1 z y:list:list\n# type: x 1 z y:list:set:0\n"
	    "# type: x 1 z y??:set\n# type: x 1 z ?:set\n"
	    "# type: x 1 z y?\n# type: x 1 z y:set?\n"
	    "# type: x 1 z\x01\n# type: x 1 \"\\x01\"\n# type: x 1 z y:set:\n"
	    "# role: x start y\n# role: Empty begin\n# role: Empty start\n"
	    "# version: \x1b\n# format: \x1b[31m\n# type:\n# role:\n"
	    "# role: Begin finish d\n" EVENTS,
	    HEAD EVENTS, "invalid header lines");
	prints_as(TEXT "# format: a\n# type: A 4294967295 \"\"\n"
	               "0000000000000001 A\n",
	    NULL, "an empty kind, and a large code");
}

static void
test_pieces(void)
{
	static const char text[] = HEAD EVENTS "x\n" EVENTS "# format: b\n" E(
	    "a=1") E("b=\"1\"") E("a=-1") HEAD EVENTS;
	struct source src = { text, sizeof(text) - 1, 0, 0, NULL, 0 };
	char *want = print_again(text), *got;
	uint64_t count[TEL_COUNT_LOGS + 1];
	size_t n, bad = 0;

	pieces_print_as(src, want, "a text of several");
	free(want);
	for (n = 0; n < sizeof(text) - 1; n++) {
		src.size = n;
		got = print_source(src, TEL_FORMAT_TEXT, count);
		src.piece = 7;
		want = print_source(src, TEL_FORMAT_TEXT, NULL);
		src.piece = 0;
		bad += strcmp(got, want) != 0;
		free(got);
		free(want);
	}
	is_u64(bad, 0, "every prefix, however it comes");
}

static void
test_long_header(void)
{
	char *text;
	size_t n;
	FILE *f = open_memstream(&text, &n);
	int i;

	if (f == NULL)
		exit(1);
	fputs(TEXT "# format: long-1\n# version: 1\n", f);
	for (i = 0; i < 3000; i++)
		fprintf(f, "# type: T%d %d kind%d a:unsigned b:string\n", i, i,
		    i % 7);
	fputs("0000000000000001 T2999 a=1 b=\"\"\n", f);
	fclose(f);
	ok(n > LINES_WINDOW, "a header longer than what is looked at");
	prints_as(text, NULL, "3000 types");
	free(text);
}

static void
test_roles(void)
{
	static const char text[] = HEAD EVENTS;
	tel_reader *r = tel_reader_new();
	const tel_schema *s;
	const tel_type *t;

	if (r == NULL ||
	    tel_reader_open_memory(r, text, sizeof(text) - 1, "x") != TEL_OK)
		exit(1);
	s = tel_reader_schema(r);
	t = tel_schema_find_type(s, "Begin");
	ok(t->role == TEL_ROLE_START && t->role_field[0] == 0 &&
	        t->role_field[1] == -1 && t->partner >= 0 &&
	        strcmp(s->types[t->partner].name, "End") == 0,
	    "a range and what ends it");
	t = tel_schema_find_type(s, "Mem");
	ok(t->role == TEL_ROLE_ALLOC && t->role_field[0] == 0 &&
	        t->role_field[1] == -1 && t->role_field[2] == 1,
	    "an allocation and its fields");
	tel_reader_free(r);
}

int
main(void)
{
	test_described();
	test_mixes();
	test_learning();
	test_late();
	test_costly();
	test_damage();
	test_sparse();
	test_header();
	test_pieces();
	test_long_header();
	test_roles();
	return done();
}
