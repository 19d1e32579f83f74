/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Texts as a whole: which release they are read as, texts that were sorted,
 * cut and put together, and that it does not matter how they come in.
 */
#include "lines.h"

#define HEAD "# teltools text 1\n# format: mps-1.117.0/lii6gc\n"
#define DESTROY CLK "ArenaDestroy arena=0x1\n"

/* An EventInit and the build string of a release, as mpseventcnv has them. */
#define INIT(version, word) CLK "  74 " version " 86 13 " word " F4240\n"
#define BUILD(release, platform) \
	CLK "  1A 1 \"@(#)Ravenbrook MPS, product.mps, release/" release \
	    ", platform." platform ", variety.hot\"\n"

/* The text is read as form and schema, and one notice holds the words. */
static void
schema_is(const char *text, const char *form, const char *schema,
    const char *words)
{
	tel_reader *r = tel_reader_new();
	const tel_event *ev;
	char *notices;
	size_t n;
	FILE *f = open_memstream(&notices, &n);

	if (r == NULL || f == NULL)
		exit(1);
	tel_reader_set_notify(r, take_notice, f);
	if (tel_reader_open_memory(r, text, strlen(text), "x") != TEL_OK) {
		ok(0, "opened: %.60s", text);
	} else {
		while (tel_reader_next(r, &ev) == TEL_OK)
			continue;
		fclose(f);
		f = NULL;
		is_str(tel_schema_name(tel_reader_schema(r)), schema,
		    "schema of %.*s", (int)strcspn(text, "\n"), text);
		is_str(tel_reader_format(r), form, "its form");
		if (!ok(strstr(notices, words) != NULL, "says: %s", words))
			diag("%s", notices);
	}
	if (f != NULL)
		fclose(f);
	free(notices);
	tel_reader_free(r);
}

static void
test_schema(void)
{
	schema_is(INIT("1 6 1", "40") BUILD("1.116.0", "lii6ll"), "cnv",
	    "mps-1.116.0/lii6ll", "the log names it");
	schema_is(BUILD("1.116.2", "w3i3mv") INIT("1 6 1", "20"), "cnv",
	    "mps-1.116.0/w3i3mv", "the log names it");
	schema_is(INIT("1 1 6", "20"), "cnv", "mps-1.113.0/lii3gc",
	    "the log names it");
	schema_is(INIT("1 1 6", "40") CLK "  44 1 2 3 1 4\n", "cnv",
	    "mps-1.113.0/lii6gc", "the log names it");
	schema_is(INIT("1 1 6", "40") CLK "  44 1 2 3 4\n", "cnv",
	    "mps-1.112.0/lii6gc", "the log names it");
	schema_is(BUILD("1.112.0", "lii6gc") INIT("1 1 6", "40"), "cnv",
	    "mps-1.112.0/lii6gc", "the log names it");
	schema_is(BUILD("1.114.0", "nonsense") INIT("1 4 0", "40"), "cnv",
	    "mps-1.114.0/lii6gc", "the log names it");
	schema_is(CLK "  15 1\n", "cnv", "mps-1.118.0/lii6gc",
	    "which fits best");
	schema_is(CLK "  66 1 2 3\n" CLK "  15 1 2 3\n", "cnv",
	    "mps-1.117.0/lii6gc", "which fits best");
	schema_is(HEAD DESTROY, "text", "mps-1.117.0/lii6gc", "");
	schema_is(DESTROY "# format: mps-1.112.0/w3i3mv\n", "text",
	    "mps-1.112.0/w3i3mv", "");
	schema_is(DESTROY, "text", "mps-1.118.0/lii6gc", "fits most lines");
	schema_is(CLK "PoolFinish pool=0x1\n", "text", "mps-1.117.0/lii6gc",
	    "fits most lines");
	schema_is(CLK "SegMerge segLo=0x1 segHi=0x1 "
	              "withReservoirPermit=false\n",
	    "text", "mps-1.114.0/lii6gc", "fits most lines");
	schema_is("# teltools text 2\n" DESTROY, "text", "mps-1.118.0/lii6gc",
	    "another version than 1");
	schema_is("# format: mps-9.9/lii6gc\n" DESTROY, "text",
	    "mps-1.118.0/lii6gc", "mps-9.9/lii6gc: not a known format");
	schema_is("=0x1 size=3\n" DESTROY, "text", "mps-1.118.0/lii6gc",
	    "a clock of 16");
	schema_is(CLK " 1F4\n" CLK "1F40\n", "cnv", "mps-1.118.0/lii6gc",
	    "no release");
	schema_is(CLK "1F40\n", "cnv", "mps-1.118.0/lii6gc", "");
}

/* Many lines of one type, then a line of a type that is of no such release. */
static void
test_adapt(void)
{
	char *text;
	size_t n;
	FILE *f = open_memstream(&text, &n);
	int i;

	if (f == NULL)
		exit(1);
	for (i = 0; i < 4000; i++)
		fputs(DESTROY, f);
	fputs(CLK "PoolFinish pool=0x1\n" DESTROY, f);
	fputs(CLK "SegMerge segLo=0x1 segHi=0x1\n", f);
	fclose(f);
	schema_is(text, "text", "mps-1.117.0/lii6gc",
	    "read as mps-1.117.0/lii6gc from here on");
	free(text);
	schema_is("# format: mps-1.118.0\n" CLK "PoolFinish pool=0x1\n", "text",
	    "mps-1.118.0/lii6gc", "the field arena");
}

static void
test_sequences(void)
{
	events_are(DESTROY HEAD CLK "PoolFinish pool=0x7\n"
	                            "# format: mps-1.118.0/lii3gc\n" CLK
	                            "PoolFinish pool=0x7 arena=0x8\n" DESTROY,
	    NULL,
	    CLK "ArenaDestroy 1\n" CLK "PoolFinish 7\n" CLK
	        "PoolFinish 7 8\n" CLK "ArenaDestroy 1\n",
	    "texts that follow each other");
	events_are("# format: mps-1.118.0/lii6gc\n" CLK
	           "PoolFinish pool=0x7\n" DESTROY,
	    "mps-1.117.0/lii6gc", CLK "PoolFinish 7\n" CLK "ArenaDestroy 1\n",
	    "what the user says goes before a header");
	events_are(CLK "  1A 5 \"one\ntwo \\\" \r\nthree\"\n" CLK "  12 9\n",
	    "mps-1.117.0",
	    CLK "Intern 5 6f6e650a74776f2022200d0a7468726565\n" CLK
	        "ArenaDestroy 9\n",
	    "a string of three lines");
	events_are(CLK "  1A 5 \"one\n" CLK "  12 9\n" CLK "  1A 6 \"two\"\n",
	    "mps-1.117.0", CLK "ArenaDestroy 9\n" CLK "Intern 6 74776f\n",
	    "a torn string does not swallow an event");
	/* the line that is not joined was moved away from the one reported */
	schema_is(BUILD("1.117.0", "lii6gc") CLK "  1A 5 \"one\n" CLK "  12 9",
	    "cnv", "mps-1.117.0/lii6gc",
	    "the end of the string in string, found the end of the line");
	events_are(CLK "  1A 5 \"one\n\"\n" CLK "  1A 5 \"one", "mps-1.117.0",
	    CLK "Intern 5 6f6e650a\n", "a string with no end");
	events_are(CLK "  44 1 2 3 FFFFFFFFFFFFFFFF 4\n" CLK
	               "  44 1 2 3 FFFFFFFF 4\n" CLK "  44 1 2 3 0 4\n",
	    "mps-1.113.0",
	    CLK "PoolInitMFS 1 2 3 1 4\n" CLK "PoolInitMFS 1 2 3 1 4\n" CLK
	        "PoolInitMFS 1 2 3 0 4\n",
	    "true as all ones");
	events_are(CLK " 1F4\r\n" CLK "ABCD\n" CLK "  12 1\r\n", "mps-1.117.0",
	    CLK "0x01F4\n" CLK "0xABCD\n" CLK "ArenaDestroy 1\n",
	    "codes that are not known");
	events_are(CLK "  12 100000000\n" CLK "  12 FFFFFFFF\n",
	    "mps-1.117.0/lii3gc", CLK "ArenaDestroy ffffffff\n",
	    "a value too large for the word");
	events_are(CLK "  12\n" CLK "  12 1 2\n" CLK "  12  1\n" CLK
	               "  12 G\n" CLK " 1F4 0\n" CLK "   12 1\n" CLK
	               "12   1\n" CLK "  9 1 2 3 4 5\n" CLK "  12 1\n",
	    "mps-1.117.0", CLK "ArenaDestroy 1\n", "lines that do not fit");
}

/* A line as long as the limit is read, and one byte more is damage. */
static void
test_long(void)
{
	static const char start[] = CLK "ArenaDestroy arena=0x";
	size_t max = TEL_PEEK_MAX, n = max + 1 + sizeof(DESTROY), i;
	char *text = malloc(n + 1);
	struct source src = { text, n - 1, 0, 0, "mps-1.117.0", 0 };
	struct result res;

	if (text == NULL)
		exit(1);
	for (i = 0; i < 4; i++) {
		size_t length = max + i / 2;

		memset(text, '0', length);
		memcpy(text, start, sizeof(start) - 1);
		memcpy(text + length - 2, "1\n", 2);
		strcpy(text + length, DESTROY);
		src.size = strlen(text);
		src.piece = i % 2 == 0 ? 0 : 999;
		res = read_source(src);
		is_u64(res.count[TEL_COUNT_EVENTS], i < 2 ? 2 : 1,
		    "a line of %zu bytes", length);
		is_u64(res.count[TEL_COUNT_SKIPPED], i < 2 ? 0 : length,
		    "its bytes are %s", i < 2 ? "read" : "skipped");
		drop(res);
	}
	free(text);
}

static const char sample[] =
    HEAD "# tick rate: 2500000000.5\n\n" CLK
         "Intern stringId=1 string=\"a \\\"b\\\"\"\r\n" CLK
         "Label address=0x7f stringId=1\n"
         "this is damage\n" CLK
         "PoolAlloc pool=0x7f[\"a \\\"b\\\"\"] pReturn=0x8000 size=12345\n" CLK
         "MeterValues meter=0x1 total=0.1 meanSquared=1e300 count=1 max=2 "
         "min=3\n"
         "# format: mps-1.118.0/lii3gc,be\n" CLK
         "PoolInitMFS pool=0x1 extendBy=2 extendSelf=true unitSize=3\n" CLK
         "0x01F4 bytes=00112233\n" CLK "ArenaDestroy arena=\n";

static const char cnv_sample[] = INIT("1 6 1", "40") CLK
    "  1A 1 \"a\nb\"\n" CLK "  1A 1 \"c\n" CLK
    "  1A 1 \"d\ne\nf\" 1\n" BUILD("1.116.0", "lii6gc") CLK
    " 1F4\n\n" CLK "   9 1 1.5 2E+300 1 2 3\n" CLK "  12 1\n";

static void
test_pieces(const char *text, const char *what)
{
	static const size_t pieces[] = { 1, 2, 7, 4096 };
	struct source src = { text, strlen(text), 0, 0, NULL, 0 };
	struct result whole = read_source(src), res;
	size_t i;

	ok(whole.status == TEL_END, "%s is read to its end", what);
	for (i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		src.piece = pieces[i];
		res = read_source(src);
		same(res.events, whole.events, what);
		is_str(res.notices, whole.notices, "%s, read %zu at a time",
		    what, pieces[i]);
		drop(res);
	}
	drop(whole);
}

/*
 * Of every prefix: each byte is read, skipped, or of a line without an
 * event; the events before the last line are those of the whole.
 */
static void
test_prefixes(const char *text, const char *what)
{
	size_t n = strlen(text), i, same_events, bad = 0;
	struct source src = { NULL, n, 0, 0, NULL, 0 };
	struct result whole, res;
	char *copy = malloc(n + 1);

	if (copy == NULL)
		exit(1);
	memcpy(copy, text, n + 1);
	src.text = copy;
	whole = read_source(src);
	for (i = 0; i <= n; i++) {
		/* a block of its own, so that reading beyond it shows */
		char *prefix = malloc(i + 1);

		if (prefix == NULL)
			exit(1);
		memcpy(prefix, text, i);
		src.text = prefix;
		src.size = i;
		res = read_source(src);
		if (res.status != TEL_END && res.status != TEL_EFORMAT)
			bad++;
		for (same_events = 0; res.events[same_events] != '\0' &&
		     res.events[same_events] == whole.events[same_events];)
			same_events++;
		/* at most one event, the last one, is another */
		if (res.events[same_events] != '\0' &&
		    strchr(res.events + same_events, '\n')[1] != '\0')
			bad++;
		if (res.count[TEL_COUNT_BYTES] + res.count[TEL_COUNT_SKIPPED] >
		    i)
			bad++;
		drop(res);
		free(prefix);
	}
	is_u64(bad, 0, "every prefix of %s", what);
	drop(whole);
	free(copy);
}

/* Gives what there is, and fails the test when it is asked for more. */
static ptrdiff_t
give_live(void *arg, void *buffer, size_t size)
{
	struct source *s = arg;

	if (s->at == s->size) {
		s->strict++;
		return 0;
	}
	return give(arg, buffer, size);
}

/* The last event of the text is handed out before the input goes on. */
static void
test_live(const char *text, int events, const char *what)
{
	struct source src = { text, strlen(text), 0, 0, NULL, 0 };
	tel_reader *r = tel_reader_new();
	const tel_event *ev;
	int i;

	if (r == NULL)
		exit(1);
	ok(tel_reader_open_callback(r, give_live, &src, "x") == TEL_OK,
	    "%s opens", what);
	for (i = 0; i < events; i++)
		if (tel_reader_next(r, &ev) != TEL_OK)
			break;
	is_u64((uint64_t)i, (uint64_t)events, "its events are there");
	is_u64((uint64_t)src.strict, 0, "nothing more was asked for");
	tel_reader_free(r);
}

static void
test_strict(void)
{
	struct source src = { HEAD DESTROY "oops\n" DESTROY, 0, 0, 0, NULL, 1 };
	struct result res;

	src.size = strlen(src.text);
	res = read_source(src);
	ok(res.status == TEL_EDAMAGED, "strict reading stops at damage");
	is_str(res.events, CLK "ArenaDestroy 1\n",
	    "what was before it is read");
	drop(res);
	src.text = CLK "EventInit major=3 median=0 minor=0 maxCode=1 "
	               "maxNameLen=1 wordWidth=64 clocksPerSec=1\n";
	src.size = strlen(src.text);
	res = read_source(src);
	ok(res.status == TEL_EVERSION, "a newer major version stops");
	drop(res);
}

static void
test_rate(void)
{
	tel_reader *r = tel_reader_new();
	const tel_event *ev;
	static const char text[] = HEAD "# tick rate: 2500000000.5\n" DESTROY;

	if (r == NULL)
		exit(1);
	ok(tel_reader_open_memory(r, text, strlen(text), NULL) == TEL_OK &&
	        tel_reader_next(r, &ev) == TEL_OK &&
	        tel_reader_tick_rate(r) == 2500000000.5,
	    "the tick rate in a header");
	is_u64(tel_event_offset(ev), strlen(text) - strlen(DESTROY),
	    "an event's offset is that of its line");
	is_u64(tel_reader_count(r, TEL_COUNT_BYTES), strlen(DESTROY),
	    "an event's bytes are those of its line");
	tel_reader_free(r);
}

/* Other input must not be taken for text. */
static void
test_other(void)
{
	static const struct {
		const char *text;
		size_t size;
	} others[] = {
#define BYTES(s) { s, sizeof(s) - 1 }
		BYTES("\0\0\0"),
		BYTES("root:x:0:0:root:/root:/bin/bash\n"),
		BYTES("0000061B51636E8B"),
		BYTES("0000061B51636E8B "),
		BYTES("0000061B51636E8B\n"),
		BYTES("0000061B51636E8B 0074 eventInit  major:1 \n"),
		BYTES("# a comment\n"),
		BYTES("\n\n\n\n\n\n\n\n\n\n" DESTROY),
		BYTES("one\n\1\n" DESTROY),
#undef BYTES
	};
	struct source src = { NULL, 0, 0, 0, NULL, 0 };
	struct result res;
	size_t i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		src.text = others[i].text;
		src.size = others[i].size;
		for (src.piece = 0; src.piece < 2; src.piece++) {
			res = read_source(src);
			ok(res.status == TEL_EFORMAT, "no text, %zu", i);
			drop(res);
		}
	}
}

int
main(void)
{
	test_schema();
	test_adapt();
	test_sequences();
	test_long();
	test_pieces(sample, "text");
	test_pieces(cnv_sample, "cnv");
	test_prefixes(sample, "text");
	test_prefixes(cnv_sample, "cnv");
	test_live(HEAD DESTROY, 1, "a live text");
	test_live(HEAD DESTROY "# x\n" DESTROY, 2, "a live text of two");
	test_live(BUILD("1.116.0", "lii6gc") INIT("1 6 1", "40"), 2,
	    "a live cnv");
	test_strict();
	test_rate();
	test_other();
	return done();
}
