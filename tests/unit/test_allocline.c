/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Traces of allocators as other tools write them: each dialect, however it
 * comes in, wherever it is cut, and whatever else is in it.
 */
#include <stdlib.h>

#include "again.h"

static const struct sample {
	const char *form;
	const char *text;
	int mixed; /* lines of other programs are not damage */
} samples[] = {
	{ "android",
	    "12: malloc 0x1000 16\n13:calloc 0x2000 20 30\n"
	    "12: realloc 0x3000 0x1000 100\n"
	    "12: memalign 0x4000 0x1000 10\n12: free 0x2000\n"
	    "13: thread_done 0x0\n",
	    0 },
	{ "android",
	    "12: malloc 0xb400007000001000 16 1000000100 1000000250\n"
	    "12: free 0xb400007000001000 1000000300 1000000301\n"
	    "12: thread_done 0x0 1000000400\n",
	    0 },
	{ "logalloc",
	    "7 7 malloc(42)=0x1000\n7 8 realloc(0x1000,84)=0x2000\n"
	    "7 7 posix_memalign(64,100)=#12\n7 8 jemalloc_stats()\n"
	    "7 free(0x2000)\n7 8 free(#12)\n",
	    0 },
	{ "mtrace",
	    "= Start\n@ ./t:(main+0x1c)[0x401136] + 0x5000 0xa\n"
	    "@ ./t:[0x401140] < 0x5000\n@ ./t:[0x401140] > 0x6000 0\n"
	    "! 0x6000 0x40000000\n@ [0x401150] - 0x6000\n"
	    "+ (nil) 0x8000\n= End\n",
	    0 },
	{ "heaptrack",
	    "v 10400 3\nx 6 /bin/t\nI 1000 5e298f\nt 401136 0\n"
	    "+ a 1 5000\nc 1f\n- 5000\nR 3e8\nA\n",
	    0 },
	{ "rep", "20000\n2\n4\n1\na 0 2040\nr 0 10\nf -1\nf 0\n", 0 },
	{ "valgrind",
	    "==7== Memcheck\n--7-- malloc(513) = 0x4A44FC0\n"
	    "--7-- realloc(0x4A44FC0,0)free(0x4A44FC0)\n--7--  = 0\n"
	    "say--7-- _Znwm(8) = 0x4A45000\n"
	    "--7-- realloc(0x0,15)malloc(15) = 0x4A46000\n"
	    "--7-- memalign(al 64, size 100) = 0x4A47000\n"
	    "--7-- malloc(18446744073709551566)Argument 'size' of function "
	    "malloc has a fishy (possibly negative) value: -50\n"
	    "--7--  = 0x0\n"
	    "--7-- _ZdlPvm(0x4A45000)\n",
	    1 },
	{ "ltrace",
	    "t->malloc(513)   = 0x5600\n[pid 8] free(0) = <void>\n"
	    "hello\n[pid 8] realloc(0x5600, 9 <unfinished ...>\n"
	    "[pid 9] calloc(3, 7, 1)  = 0x5700\n"
	    "[pid 8] free(0x5600)  = <void>\n"
	    "[pid 8] realloc@libc.so.6(0x5600, 9 <unfinished ...>\n"
	    "[pid 8] malloc@libc.so.6(9 <unfinished ...>\n"
	    "[pid 8] <... malloc resumed> ) = 0x5800\n"
	    "[pid 8] <... realloc resumed> ) = 0x5800\n"
	    "[pid 8] <... realloc resumed> ) = 0x5800\n"
	    "[pid 9] free(0x5700 <unfinished ...>\n"
	    "[pid 9] <... free resumed> ) = <void>\n",
	    1 },
	{ "kdump",
	    "  735 ls  USER  malloc_init()\n"
	    "  735 ls  USER  0x801009000 = malloc(64)\n"
	    "  735 ls  CALL  fstat(0x1)\n"
	    "  735 9 l s 3.5 USER  0x801019000 = "
	    "realloc(0x801009000, 9)\n"
	    "  735 ls  USER  free(0x801019000)\n",
	    1 },
};
#define NSAMPLES (sizeof(samples) / sizeof(samples[0]))

static char *
shown(const char *text, size_t n, const char *as, uint64_t *count)
{
	struct source src = { text, n, 0, 0, as, 0 };

	return print_source(src, TEL_FORMAT_TEXT, count);
}

/* Each is known by what is in it, and is whole. */
static void
test_found(void)
{
	uint64_t count[TEL_COUNT_LOGS + 1];
	char want[40], *text;
	size_t i;

	for (i = 0; i < NSAMPLES; i++) {
		text = shown(samples[i].text, strlen(samples[i].text), NULL,
		    count);
		snprintf(want, sizeof(want), "# format: %s\n", samples[i].form);
		ok(strstr(text, want) != NULL && count[TEL_COUNT_EVENTS] > 2,
		    "%s: is found", samples[i].form);
		is_u64(count[TEL_COUNT_DAMAGED], 0, "%s: nothing is damaged",
		    samples[i].form);
		free(text);
	}
}

static void
test_pieces(void)
{
	struct source src;
	char *want;
	size_t i;

	for (i = 0; i < NSAMPLES; i++) {
		src = (struct source){ samples[i].text, strlen(samples[i].text),
			0, 0, NULL, 0 };
		want = shown(src.text, src.size, NULL, NULL);
		pieces_print_as(src, want, samples[i].form);
		prints_as(want, NULL, "its text is read back");
		free(want);
	}
}

/* The events after the header. */
static const char *
body(const char *text)
{
	const char *at = strstr(text, "\n0");

	return at != NULL ? at + 1 : text + strlen(text);
}

/* Nonzero when part, of n bytes, has an event that whole has not. */
static int
differ(const char *whole, const char *part, size_t n)
{
	const char *events = body(part);

	return (size_t)(events - part) < n &&
	    strncmp(body(whole), events, n - (size_t)(events - part)) != 0;
}

/*
 * Of each part of a trace, up to the end of a line, all events are those of
 * the whole; a last line that was cut off is at most one more.
 */
static void
test_prefixes(void)
{
	const struct sample *s;
	uint64_t count[TEL_COUNT_LOGS + 1], lines;
	char *whole, *part;
	size_t i, n, m, bad;

	for (i = 0; i < NSAMPLES; i++) {
		s = &samples[i];
		whole = shown(s->text, strlen(s->text), s->form, NULL);
		for (n = bad = 0; s->text[n] != '\0'; n++) {
			part = shown(s->text, n, s->form, count);
			m = strlen(part);
			lines = count[TEL_COUNT_EVENTS];
			if (n > 0 && s->text[n - 1] != '\n' && lines > 0) {
				/* without the line that was cut */
				for (m--; m > 0 && part[m - 1] != '\n'; m--)
					continue;
			}
			if (differ(whole, part, m) && bad++ == 0)
				diag("%zu bytes of it:\n%s", n, part);
			free(part);
		}
		is_u64(bad, 0, "%s: cut anywhere", s->form);
		free(whole);
	}
}

/* A line that is nothing of it costs that line alone. */
static void
test_foreign(void)
{
	const struct sample *s;
	uint64_t count[TEL_COUNT_LOGS + 1], events;
	char text[2000], *out;
	const char *lf;
	size_t i;

	for (i = 0; i < NSAMPLES; i++) {
		s = &samples[i];
		free(shown(s->text, strlen(s->text), s->form, count));
		events = count[TEL_COUNT_EVENTS];
		/* behind the last line but one, and for ltrace within a call */
		for (lf = s->text + strlen(s->text) - 1; lf[-1] != '\n'; lf--)
			continue;
		snprintf(text, sizeof(text), "%.*swhat (is) this\n%s",
		    (int)(lf - s->text), s->text, lf);
		out = shown(text, strlen(text), s->form, count);
		is_u64(count[TEL_COUNT_EVENTS], events, "%s: no event is lost",
		    s->form);
		is_u64(count[TEL_COUNT_DAMAGED], !s->mixed,
		    "%s: a foreign line is %s", s->form,
		    s->mixed ? "nothing to it" : "damage");
		free(out);
	}
}

/* Lines that are its own, and wrong. */
static void
test_wrong(void)
{
	static const struct {
		const char *form, *text;
		unsigned events, damaged;
	} rows[] = {
		{ "android", "1: malloc 0x10\n", 0, 1 },
		{ "android", "1: malloc 0x10 5 x\n1: free 0x10 5 6 7\n", 0, 2 },
		{ "android", "1: malloc 0x11111111111111111 5\n", 0, 1 },
		{ "android", "1: malloc 0x1 18446744073709551616\n", 0, 1 },
		{ "android", "1: malloc 0x1 18446744073709551615\n", 1, 0 },
		{ "android", "1: fre 0x1\n1: freee 0x1\n: free 0x1\n", 0, 3 },
		{ "logalloc", "1 1 malloc(5) = 0x1\n", 0, 1 },
		{ "logalloc", "1 1 malloc(5)\n1 1 _Znwm(5)=0x1\n", 0, 2 },
		{ "mtrace", "@ a:[0x1] < 0x10\n@ a:[0x1] + 0x20 0x5\n", 1, 1 },
		{ "mtrace", "@ a:[0x1] > 0x10 0x5\n", 0, 1 },
		{ "mtrace", "@ a:[0x1] < 0x10\n", 0, 1 },
		{ "mtrace", "@ a:[0x1] < 0x10\n@ a:[0x1] > 0x20\n", 0, 2 },
		{ "mtrace", "- 5\n", 0, 1 },
		{ "mtrace", "< 0x1\n> 0x2 0x3\n> 0x4 0x5\n> 0x6 0x7\n", 1, 2 },
		{ "heaptrack", "v 10400 3\nt 1 0\ns a\na 10 2\n+ 0\n", 2, 3 },
		{ "rep", "1\n2\n3\n4\n5\na 0\nr x 1\nf 0\n", 1, 3 },
		{ "valgrind", "--7-- malloc(5) 0x1\n--7-- free(0x\n", 0, 2 },
		{ "valgrind",
		    "--7-- calloc(18446744073709551566,8)calloc(8,9)malloc(3) "
		    "= 0x1\n--7-- free(0x1)\n",
		    2, 0 },
		{ "ltrace",
		    "malloc(5) = ?\n[pid 3] <... malloc resumed> ) = 1\n", 0,
		    2 },
		{ "ltrace",
		    "malloc(5 <unfinished ...>\n"
		    "<... calloc resumed> ) = 0x10\n"
		    "<... malloc resumed> ) = 0x10\n",
		    1, 1 },
		{ "kdump",
		    " 7 ls USER  malloc(5)\n"
		    " 7 ls USER  0x5 = free(0x5)\n"
		    " 7 ls USER  free(5\n",
		    0, 3 },
	};
	uint64_t count[TEL_COUNT_LOGS + 1];
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		free(shown(rows[i].text, strlen(rows[i].text), rows[i].form,
		    count));
		if (!ok(count[TEL_COUNT_EVENTS] == rows[i].events &&
		            count[TEL_COUNT_DAMAGED] == rows[i].damaged,
		        "%s: a wrong line, number %zu", rows[i].form, i))
			diag("%s%llu events, %llu damaged places", rows[i].text,
			    (unsigned long long)count[TEL_COUNT_EVENTS],
			    (unsigned long long)count[TEL_COUNT_DAMAGED]);
	}
}

/* Lines that are too long, and more calls at a time than are held. */
static void
test_limits(void)
{
	uint64_t count[TEL_COUNT_LOGS + 1];
	char *text = malloc(400000);
	size_t n = 0, i;

	if (text == NULL)
		exit(1);
	n = (size_t)sprintf(text, "1: free 0x1\n");
	memset(text + n, 'x', 300000);
	n += 300000;
	n += (size_t)sprintf(text + n, "\n1: free 0x2\n");
	free(shown(text, n, NULL, count));
	is_u64(count[TEL_COUNT_EVENTS], 2, "events around a long line");
	is_u64(count[TEL_COUNT_DAMAGED], 1, "which is damage");
	is_u64(count[TEL_COUNT_SKIPPED], 300001, "all of it");

	for (n = i = 0; i < 257; i++)
		n += (size_t)sprintf(text + n,
		    "[pid %zu] malloc(8 <unfinished ...>\n", i + 1);
	for (i = 0; i < 257; i++)
		n += (size_t)sprintf(text + n,
		    "[pid %zu] <... malloc resumed> ) = 0x%zx\n", i + 1,
		    i + 16);
	free(shown(text, n, NULL, count));
	is_u64(count[TEL_COUNT_EVENTS], 256, "256 calls at a time");
	is_u64(count[TEL_COUNT_DAMAGED], 2, "and not one more");
	free(text);
}

/* What is none of these is none. */
static void
test_none(void)
{
	static const char *const texts[] = {
		"12: fourteen\n- 5\n- 6\n",
		"malloc(5) returns NULL\n",
		"p = malloc(10);\nfree(p);\n",
		"a 1 2\nr 1 2\nf 1\n",
		"v 5\nabc\n",
		"--7-- Reading syms from /bin/t\n",
		"+ 1 2 3\n- 3\n",
		"= Starting\n",
		"1 2 malloc(5) = 0x10x\n",
		"1 ls USER hello(5)\n",
		"= 5\n@ x\n",
	};
	tel_reader *r;
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		r = tel_reader_new();
		if (r == NULL)
			exit(1);
		ok(tel_reader_open_memory(r, texts[i], strlen(texts[i]), "x") ==
		        TEL_EFORMAT,
		    "none of them: text %zu", i);
		tel_reader_free(r);
	}
}

int
main(void)
{
	test_found();
	test_pieces();
	test_prefixes();
	test_foreign();
	test_wrong();
	test_limits();
	test_none();
	return done();
}
