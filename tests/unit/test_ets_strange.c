/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ETS logs that are not as they should be: what the writer is known to do
 * wrong, damage, and events that nothing describes.
 */
#include "ets_read.h"

#define SWITCH(clock, to) "event " #clock " 5 4 3 0 20 3 " #to "\n"
#define SWITCHED(clock, to) \
#clock " Thread/SwitchTo instruction=5 cpu=0 tid=4 pid=3 DestTID=" #to \
	       "\n"

/* A log whose events are these, and what is reported of damage. */
static void
check(const char *words, const char *events, const char *notices,
    uint64_t repaired, const char *what)
{
	static const size_t sizes[] = { 0, 1, 7 };
	struct result res;
	char *end;
	unsigned i;

	for (i = 0; i < 3; i++) {
		res = read_words(words,
		    (struct how){ .as = "ets", .piece = sizes[i] });
		same(res.events, events, what);
		end = strstr(res.notices, "I");
		if (end != NULL)
			*end = '\0';
		same(res.notices, notices, "  messages");
		is_u64(res.count[TEL_COUNT_REPAIRED], repaired, "  repaired");
		drop(res);
	}
}

/* A process without a name has the length of the one before, and no text. */
static void
test_no_name(void)
{
	static const char one[] = "0 SysInfo/ProcessInfo instruction=0 cpu=0 "
	                          "tid=0 pid=0 Id=1 Name='kernel'\n"
	                          "0 SysInfo/ProcessInfo instruction=0 cpu=0 "
	                          "tid=0 pid=0 Id=2 Name=''\n";
	char events[1000];

	snprintf(events, sizeof(events),
	    "%s0 SysInfo/ThreadInfo instruction=0 cpu=0 tid=0 pid=0 Id=9 "
	    "Pid=2\n"
	    "0 SysInfo/ProcessInfo instruction=0 cpu=0 tid=0 pid=0 Id=3 "
	    "Name='tty'\n"
	    "1000 Thread/SwitchTo instruction=5 cpu=0 tid=4 pid=3[tty] "
	    "DestTID=9\n",
	    one);
	check("process 1 kernel\nprocess 2\nlength 6\nthread 9 2\n"
	      "process 3 tty\n" SWITCH(1000, 9),
	    events, "D54 a text whose recorded length is 6 bytes has 0\n", 1,
	    "a process without a name");
	snprintf(events, sizeof(events), "%s" SWITCHED(1000, 9), one);
	check("process 1 kernel\nprocess 2\nlength 6\n" SWITCH(1000, 9), events,
	    "D54 a text whose recorded length is 6 bytes has 0\n", 1,
	    "the last of SysInfo");
	check("process 1 kernel\nprocess 2\nlength 6\n", one,
	    "D54 a text whose recorded length is 6 bytes has 0\n", 1,
	    "the last of all");
	check("process 1 kernel\nprocess 2\nlength 200\nthread 9 2\n",
	    "0 SysInfo/ProcessInfo instruction=0 cpu=0 tid=0 pid=0 Id=1 "
	    "Name='kernel'\n"
	    "0 SysInfo/ProcessInfo instruction=0 cpu=0 tid=0 pid=0 Id=2 "
	    "Name=''\n"
	    "0 SysInfo/ThreadInfo instruction=0 cpu=0 tid=0 pid=0 Id=9 "
	    "Pid=2\n",
	    "D54 a text whose recorded length is 200 bytes has 0\n", 1,
	    "one that would reach behind the end");
	/* a name of one byte that was in fact not there, and three that are */
	check("process 1 k\nprocess 2\nlength 1\nprocess 3\nlength 1\n"
	      "process 4 x\n",
	    "0 SysInfo/ProcessInfo instruction=0 cpu=0 tid=0 pid=0 Id=1 "
	    "Name='k'\n"
	    "0 SysInfo/ProcessInfo instruction=0 cpu=0 tid=0 pid=0 Id=2 "
	    "Name=''\n"
	    "0 SysInfo/ProcessInfo instruction=0 cpu=0 tid=0 pid=0 Id=3 "
	    "Name=''\n"
	    "0 SysInfo/ProcessInfo instruction=0 cpu=0 tid=0 pid=0 Id=4 "
	    "Name='x'\n",
	    "D49 a text whose recorded length is 1 bytes has 0\n"
	    "D97 a text whose recorded length is 1 bytes has 0\n",
	    2, "two in a row, of a short length");
}

static void
test_damage(void)
{
	check(SWITCH(1000, 1) SWITCH(1001, 2) "fill 21 z\n" SWITCH(1002, 3)
	          SWITCH(1003, 4) SWITCH(1004, 5),
	    SWITCHED(1000, 1) SWITCHED(1001, 2) SWITCHED(1002, 3)
	        SWITCHED(1003, 4) SWITCHED(1004, 5),
	    "D96 invalid record; 21 bytes skipped\n", 0,
	    "what was inserted is skipped, and no more");
	check(SWITCH(1000, 1) SWITCH(1001, 2) "cut 20\n" SWITCH(1002, 3)
	          SWITCH(1003, 4) SWITCH(1004, 5),
	    SWITCHED(1000, 1) SWITCHED(1001, 1002) SWITCHED(1003, 4)
	        SWITCHED(1004, 5),
	    "D96 invalid record; 28 bytes skipped\n", 0,
	    "what was cut out costs one event and what it touches");
	check(SWITCH(1000,
	          1) "event 1001 5 4 3 0 5 1 | abcdef\nlength 5\n" SWITCH(1002,
	          3) SWITCH(1003, 4) SWITCH(1004, 5),
	    SWITCHED(1000,
	        1) "1001 Shell/Command instruction=5 cpu=0 tid=4 pid=3 "
	           "Text='abcdef'\n" SWITCHED(1002, 3) SWITCHED(1003, 4)
	               SWITCHED(1004, 5),
	    "D48 a text whose recorded length is 5 bytes has 6\n", 1,
	    "a length that is wrong is put right");
	check(SWITCH(1000,
	          1) "event 1001 5 4 3 0 5 1 | abcdef\nlength 0\n" SWITCH(1002,
	          3) SWITCH(1003, 4) SWITCH(1004, 5),
	    SWITCHED(1000,
	        1) "1001 Shell/Command instruction=5 cpu=0 tid=4 pid=3 "
	           "Text=''\n" SWITCHED(1002, 3) SWITCHED(1003, 4)
	               SWITCHED(1004, 5),
	    "D96 invalid record; 6 bytes skipped\n", 0,
	    "without a length the text is lost, and nothing else");
	check(SWITCH(1000, 1) SWITCH(1001, 2) "cut 1\n", SWITCHED(1000, 1),
	    "D48 the log ends inside a record; its first 47 bytes are left "
	    "out\n",
	    0, "the last record is cut off");
}

static void
test_strict(void)
{
	struct result res =
	    read_words(SWITCH(1000, 1) "fill 21 z\n" SWITCH(1002, 3)
	                   SWITCH(1003, 4) SWITCH(1004, 5),
	        (struct how){ .as = "ets", .strict = 1 });

	is_u64((uint64_t)res.status, (uint64_t)TEL_EDAMAGED, "strict reading");
	is_u64(res.count[TEL_COUNT_EVENTS], 1, "stops there");
	drop(res);
}

/* As the reader shows an event that nothing describes. */
#define UNDESCRIBED(clock, provider, type, version, a, b, c, d, e, text) \
#clock " Unknown/Undescribed instruction=5 cpu=0 tid=4 pid=3 " \
	       "provider=" #provider " type=" #type " version=" #version \
	       " arg0=" #a " arg1=" #b " arg2=" #c " arg3=" #d " arg4=" #e \
	       " text='" #text "'\n"

/*
 * Most events may be of types that nothing describes, with large numbers too,
 * from the first on, and none of them costs another one.
 */
static void
test_mostly_unknown(void)
{
	static const struct {
		unsigned version, provider, type;
		const char *text;
	} kinds[] = { { 1, 20, 3, "" }, { 0, 40, 1, " | some text" },
		{ 700, 5000, 1, "" }, { 2, 300, 9, " | more text" } };
	char *words = calloc(1, 1 << 20), *p = words;
	struct result res;
	unsigned i, k;

	for (i = 0; i < 2000; i++) {
		k = (i * 7 + i / 10) % 4;
		if (i % 10 == 9)
			p += sprintf(p, "event %u 5 4 3 0 20 3 2\n", 1000 + i);
		else
			p += sprintf(p, "version %u %u 5 4 3 0 %u %u 77%s\n",
			    kinds[k].version, 1000 + i, kinds[k].provider,
			    kinds[k].type, kinds[k].text);
	}
	res = read_words(words, (struct how){ .as = "ets" });
	is_u64(res.count[TEL_COUNT_EVENTS], 2000, "nine of ten are unknown");
	is_u64(res.count[TEL_COUNT_UNKNOWN], 1800, "  and counted");
	is_u64(res.count[TEL_COUNT_SKIPPED], 0, "  nothing is skipped");
	drop(res);
	free(words);
}

/* Events that nothing describes are events, and their numbers are reported. */
static void
test_unknown(void)
{
	struct result res;
	char *words = calloc(1, 1 << 20), *p = words;
	unsigned i;

	check(SWITCH(1000,
	          1) "event 1001 5 4 3 0 40 7 1 2 3 4 5 | text\n"
	             "event 1002 5 4 3 0 20 11 6\n" SWITCH(1002,
	                 5) "version 3 1003 5 4 3 0 20 3 1\n" SWITCH(1004, 2),
	    SWITCHED(1000, 1) UNDESCRIBED(1001, 40, 7, 0, 1, 2, 3, 4, 5, text)
	        UNDESCRIBED(1002, 20, 11, 0, 6, 0, 0, 0, 0, ) SWITCHED(1002, 5)
	            UNDESCRIBED(1003, 20, 3, 3, 1, 0, 0, 0, 0, )
	                SWITCHED(1004, 2),
	    "", 0, "unknown providers, types and versions");
	res = read_words(SWITCH(1000,
	                     1) "event 1001 5 4 3 0 40 7\n"
	                        "event 1002 5 4 3 0 40 7\n"
	                        "event 1003 5 4 3 0 20 11\n" SWITCH(1004, 2),
	    (struct how){ .as = "ets" });
	has(res.notices,
	    "5 events, 0 dropped as far as the log shows, 3 unknown\n"
	    "I240 unknown (provider, version, type): ('20', 0, 11) 1\n"
	    "I240 unknown (provider, version, type): ('40', 0, 7) 2\n",
	    "which they are, and how many each");
	is_u64(res.count[TEL_COUNT_UNKNOWN], 3, "all of them");
	drop(res);
	/* more than are distinguished */
	p += sprintf(p, SWITCH(999, 1));
	for (i = 0; i < 5000; i++)
		p += sprintf(p, "event %u 5 4 3 0 41 %u\n", 1000 + i, i);
	res = read_words(words, (struct how){ .as = "ets" });
	is_u64(res.count[TEL_COUNT_EVENTS], 5001, "5000 unknown types");
	has(res.events, UNDESCRIBED(5999, 41, 4999, 0, 0, 0, 0, 0, 0, ),
	    "the last of which is as the first");
	has(res.notices, "unknown, of further types: 904\n", "reported");
	drop(res);
	free(words);
}

/* An event that lacks bytes for its fields is of no known type. */
static void
test_short(void)
{
	char *path = make_file("20 Thread\n#type SwitchTo 3\n{\n"
	                       "A, ItemLongLong\nB, ItemLongLong\n"
	                       "C, ItemLongLong\n}\n");
	struct result res = read_words("event 1000 5 4 3 0 20 3 1\n"
	                               "event 1001 5 4 3 0 20 3 1 | wxyz\n",
	    (struct how){ .describe = { path } });

	same(res.events,
	    UNDESCRIBED(1000, 20, 3, 0, 1, 0, 0, 0,
	        0, ) "1001 Thread/SwitchTo instruction=5 cpu=0 tid=4 pid=3 A=1 "
	             "B=0 "
	             "C=8825217397305638912\n",
	    "fields that a record has not, and fields in a text");
	drop(res);
	remove_file(path);
}

int
main(void)
{
	test_no_name();
	test_damage();
	test_strict();
	test_unknown();
	test_mostly_unknown();
	test_short();
	return done();
}
