/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines as detection and decoders find them, against a model: however the input
 * comes in, they end with a line feed, or a return and a line feed.
 */
#include "io/input.h"
#include "reader/lines.h"
#include "reader/reader.h"
#include "tap.h"
#include "tel.h"

#include <stdlib.h>
#include <string.h>

static uint32_t state = 1;

static uint32_t
next(uint32_t n)
{
	state = state * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)state * n >> 32);
}

/* A reader of the n bytes at text, which come in pieces of some bytes. */
static tel_reader *
open_text(const char *text, size_t n, size_t piece)
{
	tel_reader *r = tel_reader_new();

	if (tel__input_memory(text, n, piece, &r->in) != TEL_OK)
		diag("no input");
	tel__reader_fill(r, 1);
	return r;
}

static void
close_text(tel_reader *r)
{
	tel__input_free(r->in);
	r->in = NULL;
	tel_reader_free(r);
}

/* Nonzero when the bytes from p to end are the line of n bytes at want. */
static int
is_line(const unsigned char *p, const unsigned char *end, const char *want,
    size_t n)
{
	if (n > 0 && want[n - 1] == '\r')
		n--;
	return (size_t)(end - p) == n && memcmp(p, want, n) == 0;
}

static size_t
line_length(const char *text, size_t n)
{
	const char *lf = n > 0 ? memchr(text, '\n', n) : NULL;

	return lf != NULL ? (size_t)(lf - text) : n;
}

/* Whether detection sees all lines of a text, and takes none of its bytes. */
static int
peek_all(const char *text, size_t n, size_t piece)
{
	tel_reader *r = open_text(text, n, piece);
	struct tel_peek k = { 0 };
	size_t at = 0, length;
	int same = 1;

	do {
		length = line_length(text + at, n - at);
		same = tel__line_peek(r, &k, NULL, 0) == 1 &&
		    is_line(k.p, k.end, text + at, length) &&
		    k.whole == (at + length < n);
		at += length + (at + length < n);
		same &= k.next == at && r->offset == 0;
	} while (same && k.whole);
	close_text(r);
	return same;
}

/* Whether a decoder finds all lines of up to most bytes, and the others too long. */
static int
find_all(const char *text, size_t n, size_t piece, size_t most)
{
	tel_reader *r = open_text(text, n, piece);
	struct tel_line l = { 0 };
	size_t at = 0, from = 0, length;
	tel_status st = TEL_OK;
	int same = 1, whole;

	while (same) {
		length = line_length(text + at, n - at);
		whole = at + length < n;
		l.over = l.truncated = 0;
		st = tel__line_find(r, &l, from, 0, most);
		if (st != TEL_OK)
			break;
		at += length + (size_t)whole;
		/* one that has no end is to have room for it */
		same = l.over == (length + 1 > most) && l.truncated == !whole &&
		    r->offset + l.step == at &&
		    (l.over ?
		            l.p == l.end || !whole :
		            is_line(l.p, l.end,
		                text + at - length - (size_t)whole, length)) &&
		    l.end < l.limit;
		/* lines before an event stay in the window */
		from = l.step;
		if (l.over || next(2) == 0) {
			tel_reader_step(r, l.step);
			from = 0;
		}
	}
	free(l.copy);
	close_text(r);
	return same && st == TEL_END && at == n;
}

static void
test_lines(void)
{
	static const char bytes[] = "aa\n\n\r\t";
	char text[40];
	size_t n, i, peeked = 0, found = 0, most = 0, piece = 0;
	unsigned round;

	for (round = 0; round < 4000; round++) {
		n = next(sizeof(text));
		for (i = 0; i < n; i++)
			text[i] = bytes[next(sizeof(bytes) - 1)];
		piece = next(3) == 0 ? TEL_PEEK_MAX : 1 + next(8);
		most = 1 + next(14);
		peeked += (size_t)peek_all(text, n, piece);
		found += (size_t)find_all(text, n, piece, most);
	}
	is_u64(peeked, round, "lines that detection sees");
	is_u64(found, round, "lines that decoders find");
}

static int
score(const unsigned char *p, const unsigned char *end)
{
	return p < end && *p == 'k' ? 50 : 0;
}

/* What is not text is waited for only if it is known. */
static void
test_binary(void)
{
	static const struct {
		const char *text;
		int mixed, scored, want;
	} cases[] = { { "abcdefgh\n", 0, 0, 1 }, { "a\001cdefgh\n", 0, 0, 0 },
		{ "a\001cdefgh\n", 1, 0, 1 }, { "a\001cdefgh\n", 0, 1, 0 },
		{ "k\001cdefgh\n", 0, 1, 1 }, { "a\tcdefgh\n", 0, 0, 1 },
		{ "a\377cdefgh\n", 0, 0, 1 } };
	static char text[TEL_PROBE_SIZE + 2];
	struct tel_peek k;
	tel_reader *r;
	unsigned i;
	int got;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		r = open_text(cases[i].text, 9, 1);
		memset(&k, 0, sizeof(k));
		got = tel__line_peek(r, &k, cases[i].scored ? score : NULL,
		    cases[i].mixed);
		ok(got == cases[i].want && (!got || k.whole) &&
		        (got || (size_t)(r->end - r->p) < 9),
		    "case %u: %s", i, got ? "waits" : "does not wait");
		close_text(r);
	}
	/* with and without its end in the bytes that detection looks at */
	memset(text, 'a', sizeof(text));
	text[TEL_PROBE_SIZE - 1] = '\n';
	for (i = 0; i < 4; i++) {
		if (i == 2) {
			text[TEL_PROBE_SIZE - 1] = 'a';
			text[TEL_PROBE_SIZE] = '\n';
		}
		r = open_text(text, sizeof(text),
		    i % 2 == 0 ? 1 << 14 : TEL_PEEK_MAX);
		memset(&k, 0, sizeof(k));
		got = tel__line_peek(r, &k, NULL, 0);
		ok(got == 1 && k.whole == (i < 2) &&
		        (size_t)(k.end - k.p) == TEL_PROBE_SIZE - (i < 2),
		    "a line of %zu bytes", TEL_PROBE_SIZE + (i >= 2));
		close_text(r);
	}
}

int
main(void)
{
	test_lines();
	test_binary();
	return done();
}
