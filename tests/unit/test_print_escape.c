/* SPDX-License-Identifier: BSD-2-Clause */
/* Strings of a log as the formats write them. */
#include "render/escape.h"

#include <stdlib.h>

#include "tap.h"

enum how { TEXT, DOUBLED, MPS, MPS_SAFE, JSON, JSON_SAFE, CSV, CSV_SAFE, SQL };

static const struct row {
	enum how how;
	const char *in;
	const char *out;
	const char *what;
} rows[] = {
	{ TEXT, "", "", "text: nothing" },
	{ TEXT, "plain ~!", "plain ~!", "text: printable" },
	{ TEXT, "a\"b\\c", "a\\\"b\\\\c", "text: quote and backslash" },
	{ TEXT, "\n\t\r\x01\x1f\x7f\x80\xff",
	    "\\n\\t\\r\\x01\\x1f\\x7f\\x80\\xff", "text: controls" },
	{ DOUBLED, "a\"b", "a\\\"\"b", "text in CSV: quote" },
	{ MPS, "a\"b\\c\n\xff", "a\\\"b\\\\c\n\xff", "mps: raw" },
	{ MPS_SAFE, "a\"b\\c\n\x1b\xff", "a\\\"b\\\\c\\x0a\\x1b\\xff",
	    "mps: for a terminal" },
	{ JSON, "a\"b\\c/", "a\\\"b\\\\c/", "json: quote and backslash" },
	{ JSON, "\n\t\r\x01\x7f", "\\n\\t\\r\\u0001\\u007f", "json: controls" },
	{ JSON, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
	    "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "json: UTF-8" },
	{ JSON, "\x80\xc3(\xff", "\\u0080\\u00c3(\\u00ff", "json: no UTF-8" },
	{ JSON, "\xc0\xaf\xe0\x80\x80\xed\xa0\x80\xf4\x90\x80\x80\xf5",
	    "\\u00c0\\u00af\\u00e0\\u0080\\u0080\\ufffd"
	    "\\u00f4\\u0090\\u0080\\u0080\\u00f5",
	    "json: overlong, surrogates, too large" },
	{ JSON, "\xc0\x80\xed\xa0\xbd\xed\xb8\x80\xed\x9f\xbf\xed\xbf\xbf",
	    "\\u0000\\ud83d\\ude00\xed\x9f\xbf\\ufffd",
	    "json: modified UTF-8" },
	{ JSON, "\xed\xa0\xbd\xed\xa0\xbd\xed\xb8\x80\xed\xb8\x80\xed\xa0\xbd",
	    "\\ufffd\\ud83d\\ude00\\ufffd\\ufffd",
	    "json: surrogates that are not of a pair" },
	{ JSON, "\xed\xa0\xbd\xed\xb8\x80", "\\ud83d\\ude00",
	    "json: a pair at the end" },
	{ JSON, "\xed\xb0\x80\xed\xb0\x80", "\\ufffd\\ufffd",
	    "json: two low surrogates" },
	{ JSON, "\xc0\x81\xc0\xed\xa0(\xed\xa0",
	    "\\u00c0\\u0081\\u00c0\\u00ed\\u00a0(\\u00ed\\u00a0",
	    "json: no modified UTF-8" },
	{ JSON, "\xe2\x82", "\\u00e2\\u0082", "json: cut UTF-8" },
	{ JSON, "\xc2\x9b", "\xc2\x9b", "json: C1 as it is" },
	{ JSON_SAFE, "\xc2\x9b\xc3\xa9", "\\u009b\xc3\xa9",
	    "json: C1 for a terminal" },
	{ CSV, "", "", "csv: nothing" },
	{ CSV, "plain", "plain", "csv: plain" },
	{ CSV, "in the middle", "in the middle", "csv: blanks inside" },
	{ CSV, " x", "\" x\"", "csv: blank first" },
	{ CSV, "x ", "\"x \"", "csv: blank last" },
	{ CSV, "\tx", "\"\tx\"", "csv: tab first" },
	{ CSV, "x\t", "\"x\t\"", "csv: tab last" },
	{ CSV, "x\ty", "x\ty", "csv: tab inside" },
	{ CSV_SAFE, "\tx ", "\"\\tx \"", "csv: blank last for a terminal" },
	{ CSV, "a,b", "\"a,b\"", "csv: comma" },
	{ CSV, "a\"b", "\"a\"\"b\"", "csv: quote" },
	{ CSV, "a\nb", "\"a\nb\"", "csv: LF" },
	{ CSV, "a\rb", "\"a\rb\"", "csv: CR" },
	{ CSV, "\x1b\xff", "\x1b\xff", "csv: raw bytes" },
	{ CSV_SAFE, "a\n\x1b\"", "\"a\\n\\x1b\\\"\"\"", "csv: for a terminal" },
	{ CSV_SAFE, "\x1b\t", "\\x1b\\t", "csv: a tab for a terminal" },
	{ SQL, "", "''", "sql: nothing" },
	{ SQL, "it's", "'it''s'", "sql: quote" },
	{ SQL, "\xc3\xa9", "'\xc3\xa9'", "sql: UTF-8" },
	{ SQL, "a\r\n", "CAST(X'610d0a' AS TEXT)", "sql: controls" },
	{ JSON, "a\xe2\x80\xae", "a\xe2\x80\xae",
	    "json: directions in a file" },
	{ JSON_SAFE,
	    "\xd8\x9c\xe2\x80\x8e\xe2\x80\x8f\xe2\x80\xaa\xe2\x80\xae"
	    "\xe2\x81\xa6\xe2\x81\xa9",
	    "\\u061c\\u200e\\u200f\\u202a\\u202e\\u2066\\u2069",
	    "json: directions on a terminal" },
	{ JSON_SAFE,
	    "\xd8\x9b\xe2\x80\x8d\xe2\x80\x90\xe2\x80\xa9\xe2\x80\xaf"
	    "\xe2\x81\xa5\xe2\x81\xaa",
	    "\xd8\x9b\xe2\x80\x8d\xe2\x80\x90\xe2\x80\xa9\xe2\x80\xaf"
	    "\xe2\x81\xa5\xe2\x81\xaa",
	    "json: their neighbours stay" },
	{ CSV_SAFE, "\xe2\x80\xae,", "\"\\xe2\\x80\\xae,\"",
	    "csv: directions on a terminal" },
	{ SQL, "\xe2\x80\xae", "CAST(X'e280ae' AS TEXT)", "sql: directions" },
	{ SQL, "\xff'", "CAST(X'ff27' AS TEXT)", "sql: no UTF-8" },
};

static unsigned char *
escape(enum how how, unsigned char *p, const char *s, size_t n)
{
	switch (how) {
	case TEXT: return tel__escape_text(p, s, n, 0);
	case DOUBLED: return tel__escape_text(p, s, n, 1);
	case MPS: return tel__escape_quoted(p, s, n, 0);
	case MPS_SAFE: return tel__escape_quoted(p, s, n, 1);
	case JSON: return tel__escape_json(p, s, n, 0);
	case JSON_SAFE: return tel__escape_json(p, s, n, 1);
	case CSV: return tel__escape_csv(p, s, n, 0);
	case CSV_SAFE: return tel__escape_csv(p, s, n, 1);
	case SQL: return tel__escape_sql(p, s, n);
	}
	return p;
}

/* In blocks of exactly the size, so that a checker sees a byte too far. */
static size_t
escape_exactly(enum how how, const char *s, size_t n, char **out)
{
	char *in = malloc(n + (n == 0));
	unsigned char *p = malloc(TEL_ESCAPE_ROOM(n)), *end;
	size_t length;

	*out = malloc(TEL_ESCAPE_ROOM(n) + 1);
	if (in == NULL || p == NULL || *out == NULL)
		exit(1);
	if (n > 0)
		memcpy(in, s, n);
	end = escape(how, p, in, n);
	length = (size_t)(end - p);
	memcpy(*out, p, length);
	(*out)[length] = '\0';
	free(in);
	free(p);
	return length;
}

/* Every string of up to three bytes from a few that matter. */
static void
test_room(enum how how)
{
	static const char bytes[] = "a\"\\'\n\x01,\x7f\x80\xc2\x9b\xe2\xf0\xff";
	const size_t kinds = sizeof(bytes) - 1;
	size_t i, n, number, length, most = 0;
	char s[3], *out;

	for (i = 0; i < kinds * kinds * kinds; i++) {
		number = i;
		for (n = 0; n < 3; n++) {
			s[n] = bytes[number % kinds];
			number /= kinds;
		}
		length = escape_exactly(how, s, 3, &out);
		free(out);
		if (length > most)
			most = length;
	}
	ok(most <= TEL_ESCAPE_ROOM(3), "%d: three bytes become at most %zu",
	    (int)how, most);
}

/* A byte is escaped as it is alone, wherever it is in a string of up to 24. */
static void
test_places(enum how how)
{
	size_t n, at, length;
	char s[24], alone[25], want[TEL_ESCAPE_ROOM(24) + 1], *out;
	unsigned byte, wrong = 0;

	for (byte = 1; byte < 256; byte++) {
		s[0] = (char)byte;
		length = escape_exactly(how, s, 1, &out);
		(void)snprintf(alone, sizeof(alone), "%s", out);
		free(out);
		for (n = 1; n <= sizeof(s); n++)
			for (at = 0; at < n; at++) {
				memset(s, 'a', n);
				s[at] = (char)byte;
				(void)snprintf(want, sizeof(want), "%.*s%s%.*s",
				    (int)at, "aaaaaaaaaaaaaaaaaaaaaaaa", alone,
				    (int)(n - at - 1),
				    "aaaaaaaaaaaaaaaaaaaaaaaa");
				wrong += escape_exactly(how, s, n, &out) !=
				        n - 1 + length ||
				    strcmp(out, want) != 0;
				free(out);
			}
	}
	ok(wrong == 0, "%d: a byte is escaped anywhere: %u are not", (int)how,
	    wrong);
}

int
main(void)
{
	size_t i;
	char *out;
	int how;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		escape_exactly(rows[i].how, rows[i].in, strlen(rows[i].in),
		    &out);
		is_str(out, rows[i].out, "%s", rows[i].what);
		free(out);
	}
	for (how = TEXT; how <= SQL; how++)
		test_room((enum how)how);
	for (how = TEXT; how <= JSON_SAFE; how++)
		test_places((enum how)how);
	return done();
}
