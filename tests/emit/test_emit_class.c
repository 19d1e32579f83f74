/* SPDX-License-Identifier: BSD-2-Clause */
/* Classes of libtel-emit: what a program counts and records is in the log. */
#define _GNU_SOURCE
#include <time.h>

#include "class_log.h"

/* -------------------------------------------------------------- creating */

static void
test_create(void)
{
	tel_emit_class *a, *b, *leaf;
	char name[1100];

	FAILS(tel_class_create_path(root, "x"), EBADF);
	ok(tel_class_open(NULL) != 0 && errno == EBADF, "not open: no classes");
	start(NULL, NULL, &on_demand);
	ok(tel_class_open(NULL) != 0 && errno == EBUSY, "they open once");
	a = tel_class_create_path(root, "A");
	leaf = tel_class_create_growth(root, "A:B:leaf", "", ON);
	ok(a != NULL && leaf != NULL, "a path, and a growth below");
	b = tel_class_create_path(a, "B");
	ok(b != NULL && tel_class_create_growth(b, "leaf", "x", 0) == leaf,
	    "the path on the way is there, and the growth found");
	ok(tel_class_create_path(root, "A:B") == b &&
	        tel_class_create_path(root, "A") == a,
	    "paths are found");
	FAILS(tel_class_create_magnitude(b, "leaf", "", ON), EEXIST);
	FAILS(tel_class_create_path(b, "leaf"), EEXIST);
	FAILS(tel_class_create_path(b, "leaf:x"), ENOTDIR);
	FAILS(tel_class_create_path(leaf, "x"), EINVAL);
	FAILS(tel_class_create_path(NULL, "x"), EINVAL);
	FAILS(tel_class_create_path(root, NULL), EINVAL);
	FAILS(tel_class_create_path(root, ""), EINVAL);
	FAILS(tel_class_create_path(root, ":x"), EINVAL);
	FAILS(tel_class_create_path(root, "x:"), EINVAL);
	FAILS(tel_class_create_path(root, "x::y"), EINVAL);
	ok(tel_class_create_tally(root, "t", 3, ON) != NULL, "a tally");
	FAILS(tel_class_create_tally(root, "t", 3, ON | TEL_CLASS_TEXT),
	    EEXIST);
	FAILS(tel_class_create_tally(root, "u", 0, ON), EINVAL);
	FAILS(tel_class_create_tally(root, "u", 65537, ON), EINVAL);
	FAILS(tel_class_create_histogram(root, "h", 5, 5, 1, "", ON), EINVAL);
	FAILS(tel_class_create_histogram(root, "h", 0, 5, 0, "", ON), EINVAL);
	FAILS(tel_class_create_histogram(root, "h", 0, 65537, 1, "", ON),
	    EINVAL);
	FAILS(tel_class_create_histogram(root, "h", INT64_MIN, INT64_MAX,
	          UINT64_MAX, "", ON),
	    EINVAL);
	FAILS(tel_class_create_split_histogram(root, "h", 0, 1, 0, 9, 1, "",
	          ON),
	    EINVAL);
	FAILS(tel_class_create_split_histogram(root, "h", 0, 1, 40000, 80000, 1,
	          "", ON),
	    EINVAL);
	memset(name, 'n', sizeof(name));
	name[1024] = '\0';
	FAILS(tel_class_create_path(root, name), ENAMETOOLONG);
	name[1023] = '\0';
	ok(tel_class_create_path(root, name) != NULL, "a path of 1023 bytes");
	FAILS(tel_class_create_path(a, name), ENAMETOOLONG);
	name[32] = '\0';
	FAILS(tel_class_create_growth(root, "g", name, ON), ENAMETOOLONG);
	FAILS(tel_class_create_trace(root, "t2", name, ON), ENAMETOOLONG);
	tel_emit_close();
	FAILS(tel_class_create_growth(root, "g", "", ON), EBADF);
	ok(tel_class_snapshot(root) != 0 && errno == EBADF &&
	        tel_class_enable(leaf) != 0 && errno == EBADF,
	    "nothing after the end");
	tel_class_update_growth(leaf, 1);
	tel_class_dispose(leaf);
}

/* Names are the program's, of any bytes. */
static void
test_names(void)
{
	static const char *const names[] = { "a \"b\"\\", "line\nfeed\ttab",
		"\x80\xff not UTF-8", "\xc3\xa9t\xc3\xa9", "%s%n", " lead", "=",
		"0000000000000000 S c=1" };
	const char *path = path_of("names");
	struct read_log l;
	unsigned i;

	start(NULL, path, &on_demand);
	for (i = 0; i < 8; i++)
		tel_class_update_growth(tel_class_create_growth(root, names[i],
		                            "\n\x80", ON),
		    i + 1);
	tel_emit_close();
	l = read_log(path);
	for (i = 0; i < 8; i++)
		ok(number(&l, names[i], TEL_NUMBER_SUM) == i + 1, "name %u", i);
	ok(l.damaged.low == 0, "no damage");
	free_log(&l);
	unlink(path);
}

/* As many as there may be, and one more. */
static void
test_many(void)
{
	const char *path = path_of("many");
	tel_emit_class *first = NULL, *c = NULL;
	struct read_log l;
	char name[32];
	unsigned i, n;

	start(NULL, path, &on_demand);
	for (i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "c%u", i);
		c = tel_class_create_growth(root, name, "", ON);
		if (c == NULL)
			break;
		first = i == 0 ? c : first;
		tel_class_update_growth(c, i + 1);
	}
	n = i;
	ok(c == NULL && errno == ENOSPC, "%u classes are too many", i);
	ok(n == TEL_CLASS_MAX, "4096 are not");
	ok(tel_class_create_growth(root, "c0", "", ON) == first,
	    "the first one is found");
	tel_emit_close();
	l = read_log(path);
	for (i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "c%u", i);
		if (number(&l, name, TEL_NUMBER_SUM) != i + 1)
			break;
	}
	ok(i == n && l.lost == 0, "each has what it counted (%u)", i);
	free_log(&l);
	unlink(path);
}

/* ---------------------------------------------------------------- traces */

static void
log_list(tel_emit_class *c, const tel_class_descriptor *d, ...)
{
	va_list values;

	va_start(values, d);
	tel_class_log_data_list(c, 5, 0, d, values);
	va_end(values);
}

static int
starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

static void
test_traces(void)
{
	static const char *const formats[3] = { "%d:%d", "<%s>",
		"%5.1f%%, %hhd %hu %lx %zu %c %p" };
	const struct {
		double d;
		int hh, h;
		long lx;
		size_t z;
		int c;
		const void *p;
	} s = { 2.25, 300, 70000, -1L, 12345678, 'x', NULL };
	const struct {
		int a;
		const char *b;
	} two = { 7, "seven" };
	const char *path = path_of("traces");
	tel_class_descriptor *d[3], *both;
	char long_text[3000];
	tel_emit_class *t;
	struct read_log l;
	uint32_t tag;

	start(NULL, path, &on_demand);
	t = tel_class_create_trace(root, "HFS:CatSearch", "hfs+", ON);
	ok(tel_class_create_descriptors(formats, 3, d) == 0, "3 descriptors");
	both = tel_class_create_descriptor("%d-%s");
	tag = tel_class_create_tag();
	ok(tag != 0 && tel_class_create_tag() != tag, "tags differ");
	tel_class_log(t, 1, TEL_CLASS_START);
	tel_class_log_data(t, 1, TEL_CLASS_MIDDLE, d[0], 12, -5);
	tel_class_log(t, 1, TEL_CLASS_END);
	tel_class_log(t, 4000000000u, TEL_CLASS_SINGLE);
	tel_class_log(t, 2, 4);
	tel_class_log_data(t, 2, 0, d[1], "a|b \"c\"\n");
	memset(long_text, 'y', sizeof(long_text));
	long_text[sizeof(long_text) - 1] = '\0';
	tel_class_log_data(t, 3, 0, d[1], long_text);
	tel_class_log_data(t, 4, 0, NULL, 1, 2);
	log_list(t, d[0], 1, 2);
	tel_class_log_structure(t, 6, 0, d[2], &s, sizeof(s));
	tel_class_log_structure(t, 7, 0, both, &two, sizeof(two));
	tel_class_log_structure(t, 8, 0, both, &two, sizeof(int));
	tel_class_log_structure(t, 9, 0, both, NULL, 0);
	tel_class_log_structure(t, 10, 0, d[1], &(const char *){ long_text },
	    sizeof(char *));
	tel_class_log(NULL, 1, 0);
	tel_class_log(root, 1, 0);
	tel_class_dispose_descriptors(d, 3);
	ok(d[0] == NULL && d[2] == NULL, "they are gone");
	tel_class_dispose_descriptor(both);
	tel_class_dispose_descriptor(NULL);
	tel_emit_close();
	l = read_log(path);
	long_text[1022] = '\0';
	ok(l.traces == 13, "%d trace events", (int)l.traces);
	ok(starts_with(l.text,
	       "Start|HFS:CatSearch|1|hfs+|\n"
	       "Middle|HFS:CatSearch|1|hfs+|12:-5\n"
	       "End|HFS:CatSearch|1|hfs+|\n"
	       "Trace|HFS:CatSearch|4000000000|hfs+|\n"
	       "Trace|HFS:CatSearch|2|hfs+|<a|b \"c\"\n>\n"
	       "Trace|HFS:CatSearch|3|hfs+|<yyyy"),
	    "they are what was logged");
	ok(strstr(l.text,
	       "y\nTrace|HFS:CatSearch|4|hfs+|\n"
	       "Trace|HFS:CatSearch|5|hfs+|1:2\n") != NULL,
	    "without data, and with a list");
	ok(strstr(l.text,
	       "|6|hfs+|  2.2%, 44 4464 ffffffffffffffff 12345678 "
	       "x (nil)\n") != NULL ||
	        sizeof(long) == 4,
	    "a structure");
	ok(strstr(l.text, "|7|hfs+|7-seven\n") != NULL &&
	        strstr(l.text, "|8|hfs+|7-\n") != NULL &&
	        strstr(l.text, "|9|hfs+|\n") != NULL &&
	        strstr(l.text, long_text) != NULL,
	    "structures that end too soon, and a long text");
	free_log(&l);
	unlink(path);
}

static void
test_descriptors(void)
{
	static const char *const valid[] = { "", "%%", "plain", "%d",
		"%-+ #08.3lld", "%4095d", "%.4095s", "%hhx%ho%ju%zi%tX%Lf%a",
		"%.f" };
	static const char *const wrong[] = { "%n", "%", "%*d", "%.*f", "%1$d",
		"%ls", "%lc", "%S", "%C", "%m", "%q", "%5%%n", "%Ld", "%hs",
		"%4096d", "%.99999999999999999999d", "%l", "%zp", "a%" };
	const char *const mixed[] = { "%d", "%n", "%d" };
	tel_class_descriptor *d[3] = { NULL, NULL, NULL };
	size_t i;

	for (i = 0; i < sizeof(valid) / sizeof(valid[0]); i++) {
		d[0] = tel_class_create_descriptor(valid[i]);
		ok(d[0] != NULL, "'%s' is a descriptor", valid[i]);
		tel_class_dispose_descriptor(d[0]);
	}
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		errno = 0;
		ok(tel_class_create_descriptor(wrong[i]) == NULL &&
		        errno == EINVAL,
		    "'%s' is none", wrong[i]);
	}
	d[0] = NULL;
	ok(tel_class_create_descriptors(mixed, 3, d) != 0 && errno == EINVAL &&
	        d[0] == NULL,
	    "all or none");
}

/* ------------------------------------------------------------ statistics */

static void
test_statistics(void)
{
	const char *path = path_of("stats");
	tel_emit_class *g, *m, *h, *s;
	struct read_log l;

	start(NULL, path, &on_demand);
	g = tel_class_create_growth(root, "g", "pages", ON);
	m = tel_class_create_magnitude(root, "m", "bytes", ON);
	h = tel_class_create_histogram(root, "h", -10, 15, 10, "", ON);
	s = tel_class_create_split_histogram(root, "s", 0, 2, 5, 100, 50, "",
	    ON);
	(void)tel_class_create_growth(root, "never", "", ON);
	tel_class_update_growth(g, 5);
	tel_class_update_growth(g, UINT64_MAX / 2);
	tel_class_update_growth(g, 3);
	tel_class_update_magnitude(m, -100);
	tel_class_update_magnitude_delta(m, 250);
	tel_class_update_magnitude_delta(m, -30);
	tel_class_update_histogram(h, INT64_MIN, 1);
	tel_class_update_histogram(h, -11, 1);
	tel_class_update_histogram(h, -10, 1);
	tel_class_update_histogram(h, -1, 2);
	tel_class_update_histogram(h, 0, 1);
	tel_class_update_histogram(h, 14, 7);
	tel_class_update_histogram(h, 15, 1);
	tel_class_update_histogram(h, INT64_MAX, 1);
	tel_class_update_histogram(s, 4, 1);
	tel_class_update_histogram(s, 5, 1);
	tel_class_update_histogram(s, 55, 1);
	tel_class_update_histogram(s, 99, 1);
	tel_class_update_histogram(s, 100, 1);
	/* of other types, and of none */
	tel_class_update_growth(m, 1);
	tel_class_update_magnitude(g, 1);
	tel_class_update_histogram(g, 1, 1);
	tel_class_update_tally(h, 1, 1);
	tel_class_update_tally_text(h, "x", 1);
	tel_class_update_growth(NULL, 1);
	tel_class_update_magnitude(NULL, 1);
	tel_class_update_magnitude_delta(root, 1);
	tel_class_update_histogram(NULL, 1, 1);
	tel_class_update_tally(root, 1, 1);
	tel_class_update_tally_text(NULL, "x", 1);
	tel_emit_close();
	l = read_log(path);
	IS(l, "g", UPDATES, 3);
	IS(l, "g", SUM,
	    INT64_MAX + INT64_C(0) - INT64_MAX + INT64_MAX > 0 ?
	        (int64_t)(UINT64_MAX / 2 + 8) :
	        0);
	IS(l, "g", LAST, 3);
	IS(l, "g", MIN, 3);
	IS(l, "g", MAX, INT64_MAX);
	IS(l, "m", UPDATES, 3);
	IS(l, "m", LAST, 120);
	IS(l, "m", MIN, -100);
	IS(l, "m", MAX, 150);
	IS(l, "m", SUM, 170);
	IS(l, "h", UPDATES, 8);
	IS(l, "h", WEIGHT, 15);
	IS(l, "h", UNDER, 2);
	IS(l, "h", OVER, 2);
	ok(bucket(&l, "h", 0) == 3 && bucket(&l, "h", 1) == 1 &&
	        bucket(&l, "h", 2) == 7,
	    "h: buckets");
	IS(l, "s", WEIGHT, 5);
	IS(l, "s", OVER, 1);
	ok(bucket(&l, "s", 2) == 1 && bucket(&l, "s", 3) == 1 &&
	        bucket(&l, "s", 4) == 2,
	    "s: buckets");
	IS(l, "never", UPDATES, 0);
	ok(strcmp(tel_stat_unit(find(&l, "g")), "pages") == 0 &&
	        strcmp(tel_stat_unit(find(&l, "m")), "bytes") == 0,
	    "units");
	free_log(&l);
	unlink(path);
}

/* All buckets that there may be: snapshots in many pieces. */
static void
test_large(void)
{
	tel_emit_options o = { NULL, 65536, 0, NULL, 0, 0, 0 };
	const char *path = path_of("large");
	tel_emit_class *h, *t;
	struct read_log l;
	uint64_t i, sum = 0;
	char text[32];

	start(&o, path, &on_demand);
	h = tel_class_create_histogram(root, "h", 0, 65536, 1, "", ON);
	t = tel_class_create_tally(root, "t", 5000, ON);
	for (i = 0; i < 65536; i++)
		tel_class_update_histogram(h, (int64_t)i, i % 1000 + 1);
	for (i = 0; i < 6000; i++)
		tel_class_update_tally(t, i * i, i + 1);
	tel_emit_close();
	l = read_log(path);
	for (i = 0; i < 65536 && bucket(&l, "h", (size_t)i) == i % 1000 + 1;
	     i++)
		;
	ok(i == 65536 && l.lost == 0, "all of 65536 buckets (%d)", (int)i);
	for (i = 0; i < 5000; i++) {
		snprintf(text, sizeof(text), "%llu",
		    (unsigned long long)(i * i));
		if (i % 100 == 0 && key(&l, "t", text) != i + 1)
			break;
		sum += i + 1;
	}
	ok(i == 5000, "all of 5000 keys (%d)", (int)i);
	IS(l, "t", KEYS, 5000);
	IS(l, "t", OVERFLOW_UPDATES, 1000);
	IS(l, "t", WEIGHT, (int64_t)(6000 * 6001 / 2));
	IS(l, "t", OVERFLOW, (int64_t)(6000 * 6001 / 2 - sum));
	free_log(&l);
	unlink(path);
}

static void
test_tallies(void)
{
	/* what a free slot of the library's table has */
	const uint64_t special = 0xC3A5C85C97CB3127u;
	const char *path = path_of("tallies");
	char long_key[400], number_text[24];
	struct read_log l;
	tel_emit_class *n, *t;

	start(NULL, path, &on_demand);
	n = tel_class_create_tally(root, "n", 3, ON);
	t = tel_class_create_tally(root, "t", 4, ON | TEL_CLASS_TEXT);
	tel_class_update_tally(n, 0, 1);
	tel_class_update_tally(n, special, 2);
	tel_class_update_tally(n, UINT64_MAX, 3);
	tel_class_update_tally(n, 1, 4);
	tel_class_update_tally(n, special, 10);
	tel_class_update_tally(n, 2, 5);
	memset(long_key, 'k', sizeof(long_key));
	long_key[399] = '\0';
	tel_class_update_tally_text(t, "", 1);
	tel_class_update_tally_text(t, "a \"b\"\n", 2);
	tel_class_update_tally_text(t, long_key, 3);
	tel_class_update_tally_text(t, long_key + 100, 3);
	tel_class_update_tally_text(t, "7", 4);
	tel_class_update_tally_text(t, "one more", 9);
	tel_class_update_tally(t, 7, 100);
	tel_class_update_tally_text(n, "7", 100);
	tel_class_update_tally_text(t, NULL, 100);
	tel_emit_close();
	l = read_log(path);
	snprintf(number_text, sizeof(number_text), "%llu",
	    (unsigned long long)special);
	ok(key(&l, "n", "0") == 1 && key(&l, "n", number_text) == 12 &&
	        key(&l, "n", "18446744073709551615") == 3,
	    "keys that are numbers");
	IS(l, "n", OVERFLOW, 9);
	IS(l, "n", OVERFLOW_UPDATES, 2);
	long_key[255] = '\0';
	ok(key(&l, "t", "") == 1 && key(&l, "t", "a \"b\"\n") == 2 &&
	        key(&l, "t", long_key) == 6 && key(&l, "t", "7") == 4,
	    "keys that are strings");
	IS(l, "t", OVERFLOW, 9);
	free_log(&l);
	unlink(path);
}

static void
test_summaries(void)
{
	/* of the processor's clock the rate is known only roughly so soon */
	const tel_emit_options o = { NULL, 0, 0, NULL, TEL_EMIT_CLOCK_MONOTONIC,
		0, 0 };
	const char *path = path_of("summary");
	const struct timespec moment = { 0, 2000000 };
	struct read_log l;
	tel_emit_class *s;
	uint32_t i;

	start(&o, path, &on_demand);
	s = tel_class_create_trace(root, "s", "x", ON | TEL_CLASS_SUMMARY);
	tel_class_log(s, 1, TEL_CLASS_START);
	nanosleep(&moment, NULL);
	tel_class_log(s, 1, TEL_CLASS_MIDDLE);
	tel_class_log_data(s, 1, TEL_CLASS_END, NULL);
	tel_class_log(s, 1, TEL_CLASS_END);    /* an orphan */
	tel_class_log(s, 2, TEL_CLASS_SINGLE); /* counts alone */
	/* one tag nests: the ends are those of the last starts */
	tel_class_log(s, 3, TEL_CLASS_START);
	tel_class_log(s, 3, TEL_CLASS_START);
	tel_class_log(s, 3, TEL_CLASS_END);
	tel_class_log(s, 3, TEL_CLASS_END);
	tel_class_log(s, 4, TEL_CLASS_START); /* stays open */
	tel_class_snapshot(s);
	/* more of one tag than there is room for */
	for (i = 0; i < 20; i++)
		tel_class_log(s, 9, TEL_CLASS_START);
	/* and many of different ones */
	for (i = 0; i < 500; i++)
		tel_class_log(s, 1000 + i, TEL_CLASS_START);
	for (i = 0; i < 500; i++)
		tel_class_log(s, 1000 + i, TEL_CLASS_END);
	tel_emit_close();
	l = read_log(path);
	ok(l.traces == 0, "a summary has no events of its own");
	IS(l, "s", EVENTS, 10 + 20 + 1000);
	ok(number(&l, "s", TEL_NUMBER_PAIRS) +
	            number(&l, "s", TEL_NUMBER_ORPHAN) ==
	        3 + 1 + 500,
	    "each end is of a pair, or an orphan");
	ok(number(&l, "s", TEL_NUMBER_PAIRS) >= 3 + 490, "most are of pairs");
	ok(number(&l, "s", TEL_NUMBER_LOST) >= 4 &&
	        number(&l, "s", TEL_NUMBER_LOST) +
	                number(&l, "s", TEL_NUMBER_OPEN) +
	                number(&l, "s", TEL_NUMBER_PAIRS) ==
	            4 + 20 + 500,
	    "starts without room are counted as lost");
	ok(number(&l, "s", TEL_NUMBER_MAX) >= 2000000 &&
	        number(&l, "s", TEL_NUMBER_SUM) >= 2000000,
	    "a range that took 2 ms is not shorter");
	ok(strcmp(tel_stat_unit(find(&l, "s")), "ns") == 0, "in ns");
	free_log(&l);
	unlink(path);
}

int
main(void)
{
	test_create();
	test_names();
	test_many();
	test_traces();
	test_descriptors();
	test_statistics();
	test_large();
	test_tallies();
	test_summaries();
	return done();
}
