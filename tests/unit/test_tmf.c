/* SPDX-License-Identifier: BSD-2-Clause */
/* Descriptions of events: what TMF may look like, and what it may not. */
#include "ets_read.h"

/* Reads one event of provider 40, type 1, as text describes it. */
static struct result
describe(const char *text, const char *words)
{
	char *path = make_file(text);
	struct result res = read_words(words,
	    (struct how){ .as = "ets", .describe = { path } });

	remove_file(path);
	return res;
}

/* The fields of the event behind its context. */
static void
gives(const char *text, const char *words, const char *fields, const char *what)
{
	struct result res = describe(text, words);
	const char *got = strstr(res.events, " pid=3");

	if (res.status != TEL_END)
		diag("%s", res.error);
	same(got != NULL ? got + 6 : res.events, fields, what);
	drop(res);
}

#define EVENT "event 1000 5 4 3 0 40 1 1 2 3 4 5"

static void
test_oddities(void)
{
	gives("\xef\xbb\xbf// a comment\r\n40 Mine  \r\n#version 0\r\n\r\n"
	      "#type One 1 // what it is\n#type Two 2\n\n{\r\n  A ,\tItemLong  "
	      "\r\n\n// nothing\nB,ItemULong\n}\n",
	    EVENT "\n", " A=1 B=2\n", "ends of lines, comments, blanks");
	gives("40 Mine\n#type One 1\n{\n{\nA, ItemLong\n}\n", EVENT "\n",
	    " A=1\n", "two { in a row");
	gives("40 Mine\n#type One 1\n{\n{\nA, ItemLong\n}\n}\n", EVENT "\n",
	    " A=1\n", "two { and two }");
	gives("40 Mine\n{\nX, ItemLong\n}\n#type One 1\n{\nA, ItemLong\n}",
	    EVENT "\n", " A=1\n", "a block without a type, no last line end");
	gives("40 Mine\n#type One 1\n{\nA, ItemLong\n}\n41 Other\n"
	      "#type One 1\n{\n}\n40 Mine\n#type One 1\n{\nB, ItemLong\n}\n",
	    EVENT "\n", " B=1\n", "a provider again; what comes last holds");
	gives(
	    "40 Mine\n#type One 1\n{\nDummy, ItemULong\nDummy, ItemShort\n"
	    "Dummy, ItemChar\nDummy, ItemUChar\nA, ItemLong\nA, ItemLong\n}\n",
	    EVENT "\n", " A=3 A_2=4\n", "Dummy, and a name twice");
	gives("40 Mine\n#type One 1\n{\ncpu, ItemLong\n1st-x, ItemLong\n"
	      ".y, ItemLong\n}\n",
	    EVENT "\n", " cpu_2=1 _1st_x=2 _y=3\n", "names become names");
}

static void
test_items(void)
{
	gives("40 M\n#type One 1\n{\na, ItemChar\nb, ItemUChar\nc, ItemShort\n"
	      "d, ItemUShort\ne, ItemPort\nf, ItemULongLong\n}\n",
	    "event 1000 5 4 3 0 40 1 0xfffefdfc 0x0201fb80 7 8\n",
	    " a=-4 b=253 c=-2 d=64384 e=258 f=34359738375\n", "integers");
	gives("40 M\n#type One 1\n{\na, ItemULongX\nb, ItemPtr\n"
	      "c, ItemLongLongX\n}\n",
	    EVENT "\n", " a=1 b=2 c=17179869187\n", "what is hexadecimal");
	gives("40 M\n#type One 1\n{\na, ItemLongLong\nb, ItemDouble\n}\n",
	    "event 1000 5 4 3 0 40 1 -1 -1 0 0x3ff80000\n", " a=-1 b=1.5\n",
	    "long ones");
	gives("40 M\n#type One 1\n{\na, ItemIPAddr\nb, ItemGuid\n}\n",
	    "event 1000 5 4 3 0 40 1 0x0163630a 0x9e814aad 0x11d23204 "
	    "0xa0829a9a 0x39eb1368\n",
	    " a='10.99.99.1' b='9e814aad-3204-11d2-9a9a-82a06813eb39'\n",
	    "addresses and GUIDs");
	gives("40 M\n#type One 1\n{\na, ItemString\n}\n",
	    "event 1000 5 4 3 0 40 1 0x64636261\n", " a='abcd'\n",
	    "a string in the words");
	gives("40 M\n#type One 1\n{\na, ItemString\nb, ItemUChar\n"
	      "c, ItemString\n}\n",
	    "event 1000 5 4 3 0 40 1 0x07006261 0x64636261 0x68676665 "
	    "0x6c6b6a69 0x706f6e6d | qrs\n",
	    " a='ab' b=7 c='abcdefghijklmnopqrs'\n",
	    "strings in a row, the last of which is all that is left");
	gives("40 M\n#type One 1\n{\na, ItemPString\nb, ItemPWString\n"
	      "c, ItemWString\n}\n",
	    "event 1000 5 4 3 0 40 1 0x61620002 0xd83d0004 0x00e4de00 0 0\n",
	    " a='ba' b='\xf0\x9f\x98\x80' c='\xc3\xa4'\n",
	    "counted and wide strings");
	gives("40 M\n#type One 1\n{\nl, ItemPString\n}\n",
	    "event 1000 5 4 3 0 40 1 0x6261ffff 0x64636261 0x64636261 "
	    "0x64636261 0x64636261\n",
	    " l='ababcdabcdabcdabcd'\n", "a length that is too large");
	gives("40 M\n#type One 1\n{\na, ItemWString\nb, ItemUChar\n}\n",
	    "event 1000 5 4 3 0 40 1 0xdc00d800 0xd8000041 0 0 0\n",
	    " a='\xf0\x90\x80\x80"
	    "A\xef\xbf\xbd' b=0\n",
	    "half of a pair");
}

/* Wrong texts, with what is said of them. */
static void
test_wrong(void)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{ "x\n",
		    ":1: expected a provider's number and name, #version, "
		    "#type or {, found 'x'" },
		{ "#type A 1\n", ":1: a #type before any provider" },
		{ "1 A\n#type B\n{\n}\n",
		    ":2: #type and a name need a number up to 65535, found "
		    "''" },
		{ "1 A\n#type B 65536\n{\n}\n",
		    ":2: #type and a name need a number up to 65535, found "
		    "'65536'" },
		{ "1 A\n#type B 99999999999999999999\n{\n}\n", ":2: " },
		{ "1 A\n#version x\n", ":2: #version needs a number" },
		{ "1 A\n#other\n",
		    ":2: expected #version or #type, found '#other'" },
		{ "1 A\n#type B 1\n2 C\n",
		    ":3: expected a line with only { for the type of line 2, "
		    "found '2'" },
		{ "1 A\n#type B 1\n{ X, ItemLong }\n",
		    ":3: expected a line with only { for the type of line 2, "
		    "found '{'" },
		{ "1 A\n#type B 1\n",
		    ":2: it ends before the block of the "
		    "type of line 2" },
		{ "1 A\n#type B 1\n{\n",
		    ":3: it ends before the } of the "
		    "block of line 2" },
		{ "1 A\n}\n", ":2: a } without a {" },
		{ "1 A\n{\nx\n}\n",
		    ":3: expected a field as NAME, ITEM or a }, "
		    "found 'x'" },
		{ "1 A\n{\nx, ItemNothing\n}\n",
		    ":3: unknown item type 'ItemNothing'" },
		{ "1 A\n{\n, ItemLong\n}\n", ":3: a field without a name" },
		{ "1 A\n{\na, ItemLong\n{\n}\n",
		    ":4: a { inside the block of line 2" },
		{ "1 A\n\001\n", ":2: not a text" },
		{ "1 A\n#type \033[31m x\n", ":2: not a text" },
	};
	struct result res;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		res = describe(cases[i].text, EVENT "\n");
		ok(res.status == TEL_EINVAL &&
		        strstr(res.error, cases[i].error) != NULL,
		    "wrong: %zu", i);
		if (res.status != TEL_EINVAL ||
		    strstr(res.error, cases[i].error) == NULL)
			diag("%d %s", res.status, res.error);
		drop(res);
	}
	res = read_words(EVENT "\n",
	    (struct how){ .as = "ets", .describe = { "/nowhere/at.all" } });
	is_u64((uint64_t)res.status, (uint64_t)TEL_EIO, "no such file");
	has(res.error, "/nowhere/at.all: No such file", "reported");
	drop(res);
}

/* Beyond a bound is an error; at the bound is not. */
static void
test_bounds(void)
{
	char *text = calloc(1, 1 << 20), *p = text;
	struct result res;
	unsigned i;

	p += sprintf(p, "40 M\n#type One 1\n{\n");
	for (i = 0; i < 201; i++)
		p += sprintf(p, "f%u, ItemUChar\n", i);
	p += sprintf(p, "}\n");
	res = describe(text, EVENT "\n");
	is_u64((uint64_t)res.status, (uint64_t)TEL_ELIMIT, "too many fields");
	has(res.error, ":204: more than 200 fields", "where they are");
	drop(res);
	p = text;
	p += sprintf(p, "40 M\n");
	for (i = 0; i < 5000; i++)
		p += sprintf(p, "#type T%u %u\n", i, i);
	sprintf(p, "{\n}\n");
	res = describe(text, EVENT "\n");
	is_u64((uint64_t)res.status, (uint64_t)TEL_ELIMIT, "too many types");
	has(res.error, "4096 of events", "how many may be");
	drop(res);
	p = text;
	p += sprintf(p, "40 M\n#type ");
	memset(p, 'x', 100);
	sprintf(p + 100, " 1\n{\n}\n");
	res = describe(text, EVENT "\n");
	is_u64((uint64_t)res.status, (uint64_t)TEL_END, "a long name");
	drop(res);
	sprintf(p + 100, "x 1\n{\n}\n");
	res = describe(text, EVENT "\n");
	is_u64((uint64_t)res.status, (uint64_t)TEL_ELIMIT, "a longer one");
	drop(res);
	free(text);
}

/*
 * Versions of a type are types of their own, whose codes are the highest but
 * those of other types.
 */
static void
test_versions(void)
{
	char *path = make_file("20 Thread\n#version 3\n#type SwitchTo 3\n{\n"
	                       "New, ItemLong\n}\n#version 4\n#type Later 3\n"
	                       "{\n}\n65535 Last\n#version 0\n"
	                       "#type Most 65534\n{\n}\n");
	struct result res = read_words("event 1000 5 4 3 0 20 3 1\n"
	                               "version 3 1001 5 4 3 0 20 3 2\n"
	                               "version 4 1002 5 4 3 0 20 3 2\n"
	                               "event 1003 5 4 3 0 20 3 3\n",
	    (struct how){ .describe = { path } });

	same(res.events,
	    "1000 Thread/Thread_SwitchTo instruction=5 cpu=0 tid=4 pid=3 "
	    "DestTID=1\n"
	    "1001 Thread/Thread_SwitchTo_2 instruction=5 cpu=0 tid=4 pid=3 "
	    "New=2\n"
	    "1002 Thread/Later instruction=5 cpu=0 tid=4 pid=3\n"
	    "1003 Thread/Thread_SwitchTo instruction=5 cpu=0 tid=4 pid=3 "
	    "DestTID=3\n",
	    "versions");
	drop(res);
	remove_file(path);
}

/* Contracts by their full name, and by that without its namespace. */
static void
test_messages(void)
{
	static const char text[] =
	    "0A.XContract A.XContract\n#type Far 1\n{\n}\n"
	    "0XContract XContract\n#type Near 1\n#type Last -2\n{\n}\n"
	    "0B.YContract B.YContract\n#type Only 1\n{\n}\n"
	    "0ZContract ZContract\n{\n}\n";
	struct tmf t = { 0 };
	char error[200];

	ok(tel__tmf_parse(&t, text, strlen(text), "x", error, sizeof(error)) ==
	        TEL_OK,
	    "contracts");
	tel__tmf_finish(&t);
	is_str(tel__tmf_message(&t, "XContract.Imp", 13, 1), "Near",
	    "by its name");
	is_str(tel__tmf_message(&t, "XContract.Exp", 13, -2), "Last",
	    "below 0");
	is_str(tel__tmf_message(&t, "A.XContract", 11, 1), "Far",
	    "in a namespace");
	is_str(tel__tmf_message(&t, "YContract.Imp", 13, 1), "Only",
	    "without it");
	is_str(tel__tmf_message(&t, "Contract", 8, 1), NULL, "part of a name");
	is_str(tel__tmf_message(&t, "ZContract", 9, 1), NULL, "no messages");
	is_str(tel__tmf_message(&t, "XContract", 9, 7), NULL,
	    "no such message");
	is_str(tel__tmf_message(&t, ".Imp", 4, 7), NULL, "no name");
	tel__tmf_free(&t);
}

/* The name of a file may have any bytes. */
static void
test_name(void)
{
	struct tmf t = { 0 };
	char error[200];

	ok(tel__tmf_parse(&t, "{", 1, "a\033[7mb", error, sizeof(error)) !=
	            TEL_OK &&
	        strchr(error, '\033') == NULL && strstr(error, "[7mb:1: "),
	    "what a terminal would obey is not in an error");
	tel__tmf_free(&t);
}

int
main(void)
{
	test_oddities();
	test_items();
	test_wrong();
	test_bounds();
	test_versions();
	test_messages();
	test_name();
	return done();
}
