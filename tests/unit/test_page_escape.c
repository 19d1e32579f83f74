/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts of logs and machines on a page: what is escaped, what is cut, and where. */
#include "common/page.h"
#include "tap.h"

static const struct row {
	size_t columns;
	const char *text, *want;
} rows[] = {
	{ 9, "", "" },
	{ 9, "jemalloc", "jemalloc" },
	{ 9, "123456789", "123456789" },
	{ 9, "1234567890", "123456..." },
	{ 0, "a", "" },
	{ 1, "a", "a" },
	{ 2, "abc", "ab" },
	{ 3, "abc", "abc" },
	{ 3, "abcd", "..." },
	{ 4, "abcde", "a..." },
	{ 9, " !}~", " !}~" },
	{ 8, "\x1f\x7f", "\\x1f\\x7f" },
	{ 7, "\x1f\x7f", "\\x1f..." },
	{ 6, "\x1f\x7f", "..." },
	{ 6, "ab\nc", "ab..." },
	{ 7, "ab\nc", "ab\\x0ac" },
	{ 3, "\n", "..." },
	{ 8, "\xc3\xa9", "\\xc3\\xa9" },
	{ 40, "\\\"<&", "\\\"<&" },
};

int
main(void)
{
	char buffer[64];
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		memset(buffer, '#', sizeof(buffer));
		is_str(page_escape(buffer, rows[i].columns, rows[i].text),
		    rows[i].want, "row %zu, in %zu columns", i,
		    rows[i].columns);
		ok(buffer[rows[i].columns + 1] == '#', "and no byte more");
	}
	return done();
}
