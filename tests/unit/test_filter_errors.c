/* SPDX-License-Identifier: BSD-2-Clause */
/* Filters: what is refused, with which words, and at which column. */
#include "filter_events.h"

struct row {
	const char *text;
	unsigned column;
	const char *message;
};

#define OPERAND "expected an operand"
#define ENDS "expected an operand at the end of the expression"
#define CHAINS "comparisons do not chain: use && or parentheses"
#define ALONE "'!' applies to the next operand only: use parentheses"
#define SUFFIX "unknown suffix; expected k M G T or ns us ms s"
#define HAS "has() requires a field or a predefined name"
#define LABEL \
	"'label' without a field can only be compared by == != ~ !~ =* !* in " \
	"with strings; name a field, label(f)"
#define ESCAPE \
	"unknown escape; expected \\\\ \\\" \\' \\n \\t \\r \\xHH; in " \
	"'...' a backslash is literal"

/* What is wrong in any log. */
static const struct row syntax[] = {
	{ "", 1, ENDS },
	{ "   ", 4, ENDS },
	{ "1 +", 4, ENDS },
	{ "size >= && true", 9, OPERAND },
	{ "* 3", 1, OPERAND },
	{ "+3", 1, OPERAND },
	{ ")", 1, OPERAND },
	{ "1 in 3", 6, "'in' requires a list in parentheses" },
	{ "in", 1, OPERAND },
	{ "(1", 3, "expected ')'" },
	{ "1)", 2, "')' without '('" },
	{ "1 2", 3, "expected an operator" },
	{ "1..3", 2, "expected an operator" },
	{ "kind(3)", 5, "expected an operator" },
	{ "1 in ()", 7, OPERAND },
	{ "1 in (1 2)", 9, "expected ',' or ')'" },
	{ "1 in (1,", 9, ENDS },
	{ "1 in (1..)", 10, OPERAND },
	{ "1 < 2 < 3", 7, CHAINS },
	{ "1 == 2 in (3)", 8, CHAINS },
	{ "1 in (3) == 1", 10, CHAINS },
	{ "'a' ~ 'b' ~ 'c'", 11, CHAINS },
	{ "true && !size > 3", 9, ALONE },
	{ "3 == !size", 6, ALONE },
	{ "!size + 1", 1, ALONE },
	{ "1 + !size", 5, ALONE },
	{ "-!size", 2, ALONE },
	{ "!size in (1)", 1, ALONE },
	{ "!~size == 1", 1, ALONE },
	{ "pool = 3", 6, "unknown operator '='; '==' compares" },
	{ "'a' =~ 'b'", 5, "unknown operator '=~'; '~' matches" },
	{ "a ? b", 3, "unexpected character" },
	{ "a @ b", 3, "unexpected character" },
	{ "\xc3\xa4 > 1", 1, "unexpected character" },
	{ ". size", 1, "expected the name of a field after '.'" },
	{ "08", 1, "8 and 9 are not octal digits" },
	{ "0x", 1, "expected a digit" },
	{ "0b2", 1, "expected a digit" },
	{ "size > 12q", 8, SUFFIX },
	{ "12m", 1, SUFFIX },
	{ "12KB", 1, SUFFIX },
	{ "1.5.2", 4, "expected the name of a field after '.'" },
	{ "18446744073709551616", 1, "the number is greater than 2^64 - 1" },
	{ "0x10000000000000000", 1, "the number is greater than 2^64 - 1" },
	{ "16777216T", 1, "the number is greater than 2^64 - 1" },
	{ "1e999", 1, "the number is too large" },
	{ "9223372036.854775808s", 1, "the time is too large" },
	{ "99999999999999999999ns", 1, "the time is too large" },
	{ "0x10ms", 1, "a time must be decimal" },
	{ "1e3ms", 1, "a time must be decimal" },
	{ "-9223372036854775809", 1, "the number is less than -2^63" },
	{ "'abc", 1, "the string is not terminated" },
	{ "\"abc'", 1, "the string is not terminated" },
	{ "\"ab\\q\"", 4, ESCAPE },
	{ "\"ab\\", 4, ESCAPE },
	{ "\"\\x4\"", 2, "\\x requires two hexadecimal digits" },
	{ "\"\\x00\"", 2, "a string cannot contain a NUL" },
	{ "'a' ~ b", 7, "expected a pattern in quotes" },
	{ "'a' ~", 6, "expected a pattern in quotes" },
	{ "'a' ~ '\\(a\\)\\1'", 7, "back references are not supported" },
	{ "'a' ~ '((a{99}){99})'", 7,
	    "the product of the counts in { } exceeds 1024" },
	{ "'a' ~ 'a{5000}'", 7,
	    "the product of the counts in { } exceeds 1024" },
	{ "has", 4, "expected '('" },
	{ "has(3)", 5, HAS },
	{ "has(true)", 5, HAS },
	{ "has(has(size))", 5, HAS },
	{ "has(size", 9, "expected ')'" },
	{ "has(size + 1)", 10, "expected ')'" },
	{ "label(3)", 7, "label() requires the name of a field" },
	{ "label('start'.pool)", 14, "expected ')'" },
	{ "label(start pool)", 13, "expected ')'" },
	{ "field(3)", 7, "field() requires the name of a field" },
	{ "field", 6, "expected '('" },
	{ "duration > 50 ms", 15,
	    "expected an operator: 'ms' is written right behind its number" },
	{ "size > 5 x", 10, "expected an operator" },
	{ "size > x k", 10, "expected an operator" },
	{ "name == a:b", 10,
	    "unexpected character ':'; a name that has one is written in "
	    "quotes" },
	{ "glob(3)", 1,
	    "unknown function 'glob'; expected has, label or field" },
};

/* What is wrong in a log of MPS 1.117. */
static const struct row meaning[] = {
	{ "siez > 3", 1,
	    "no event type has a field 'siez'; did you mean 'size' or "
	    "'seg'?" },
	{ "true && .sizof == 1", 9,
	    "no event type has a field 'sizof'; did you mean 'sizeof' or "
	    "'size'?" },
	{ "has(poool)", 5,
	    "no event type has a field 'poool'; did you mean 'pool'?" },
	{ "qqqqqq == 1", 1, "no event type has a field 'qqqqqq'" },
	{ "label(addres) == ''", 7,
	    "no event type has a field 'addres'; did you mean 'address' or "
	    "'addr'?" },
	{ "kind == Pol", 9, "unknown kind 'Pol'; did you mean 'Pool'?" },
	{ "kind in (Seg, Traec)", 15,
	    "unknown kind 'Traec'; did you mean 'Trace'?" },
	{ "name == PoolAloc", 9,
	    "unknown event type 'PoolAloc'; did you mean 'PoolAlloc'?" },
	/* the first of all types */
	{ "name == AMCGenCreat", 9,
	    "unknown event type 'AMCGenCreat'; did you mean "
	    "'AMCGenCreate'?" },
	{ "name == poolalloc", 9,
	    "unknown event type 'poolalloc'; did you mean "
	    "'PoolAlloc'?" },
	{ "label(pool) == Control", 16,
	    "no event type has a field 'Control'; a string is in quotes: "
	    "\"Control\"" },
	{ "string != Control", 11,
	    "no event type has a field 'Control'; a string is in quotes: "
	    "\"Control\"" },
	{ "event == 3", 1,
	    "no event type has a field 'event'; did you mean 'name'?" },
	{ "comm == \"sh\"", 1,
	    "no event type has a field 'comm'; did you mean 'label(tid)'?" },
	{ "size == Pool", 9,
	    "no event type has a field 'Pool'; did you mean 'pool'?" },
	{ "size[0] == 1", 1, "'size' is an integer, not a list" },
	{ "1 in size", 6, "'size' is an integer, not a list" },
	{ "size == \"x\"", 6, "cannot compare an integer with a string" },
	{ "string > 3", 8, "cannot compare a string with an integer" },
	{ ".mortality == name", 12, "cannot compare a double with a string" },
	{ "size in (1, 'x')", 13, "cannot compare an integer with a string" },
	{ "size in (1..'x')", 13, "cannot compare an integer with a string" },
	{ "size ~ '6'", 1, "a pattern takes a string, and this is an integer" },
	{ "mortality =* '6'", 1,
	    "a pattern takes a string, and this is a double" },
	{ "string + 1 == 2", 1, "'+' takes a number, and this is a string" },
	{ "1 - name == 2", 5, "'-' takes a number, and this is a string" },
	{ "-string == 2", 2, "'-' takes a number, and this is a string" },
	{ "-'1' == 2", 2, "'-' takes a number, and this is a string" },
	{ "mortality % 2 == 0", 1,
	    "'%' takes an integer, and this is a double" },
	{ "size & 1.5 == 0", 8, "'&' takes an integer, and this is a double" },
	{ "~mortality == 0", 2, "'~' takes an integer, and this is a double" },
	{ "size << mortality == 0", 9,
	    "'<<' takes an integer, and this is a double" },
	{ "!string", 2, "'!' takes a number, and this is a string" },
	{ "true && name", 9, "'&&' takes a number, and this is a string" },
	{ "string || true", 1, "'||' takes a number, and this is a string" },
	{ "name", 1, "expected a condition, found a string" },
	{ "label", 1, "expected a condition, found a string" },
	{ "label(size) == 'x'", 7,
	    "the field 'size' is neither an address nor an enum, so it has no "
	    "label" },
	{ "label < 'x'", 1, LABEL },
	{ "label == label(pool)", 1, LABEL },
	{ "label(pool) == label", 16, LABEL },
	{ "label in (string)", 1, LABEL },
	{ "label == name", 1, LABEL },
	{ "label == 3", 7, "cannot compare a string with an integer" },
};

static void
check_failure(const tel_filter *f, const struct row *row, const char *what)
{
	is_str(tel_filter_error(f), row->message, "%s: %s", what, row->text);
	is_u64(tel_filter_error_column(f), row->column, "column in %s",
	    row->text);
	is_str(tel_filter_error_text(f), row->text, "text of %s", row->text);
}

static void
check_syntax(const struct row *rows, size_t count)
{
	tel_filter *f = must(tel_filter_new());
	size_t i;

	for (i = 0; i < count; i++) {
		is_u64((uint64_t)tel_filter_set_expression(f, rows[i].text),
		    (uint64_t)TEL_EINVAL, "refused: %s", rows[i].text);
		check_failure(f, &rows[i], "syntax");
	}
	tel_filter_free(f);
}

static void
check_meaning(const struct events *e, const struct row *rows, size_t count)
{
	tel_filter *f = must(tel_filter_new());
	size_t i;

	for (i = 0; i < count; i++) {
		is_u64((uint64_t)tel_filter_set_expression(f, rows[i].text),
		    TEL_OK, "parsed: %s", rows[i].text);
		is_u64((uint64_t)tel_filter_bind(f, e->schema),
		    (uint64_t)TEL_EINVAL, "not bound: %s", rows[i].text);
		check_failure(f, &rows[i], "meaning");
		ok(tel_filter_match(f, &e->event[0]) == -1, "no verdict: %s",
		    rows[i].text);
	}
	tel_filter_free(f);
}

/* Makes unit n times over between begin and end, and sets that. */
static tel_status
set_long(tel_filter *f, const char *begin, const char *unit, size_t n,
    const char *end)
{
	size_t b = strlen(begin), u = strlen(unit), e = strlen(end), i;
	char *text = must(malloc(b + u * n + e + 1));
	tel_status st;

	memcpy(text, begin, b);
	for (i = 0; i < n; i++)
		memcpy(text + b + i * u, unit, u);
	memcpy(text + b + u * n, end, e + 1);
	st = tel_filter_set_expression(f, text);
	free(text);
	return st;
}

struct limit {
	const char *begin, *unit;
	size_t good; /* so often is taken, and once more is not */
	const char *end;
	const char *message;
};

static void
check_limits(struct events *e)
{
	static const struct limit limits[] = {
		{ "", " ", 65535, "1",
		    "the expression is longer than 65536 bytes" },
		{ "", "!", 200, "1",
		    "the expression is nested more than 200 deep" },
		{ "true || 1", " + 1", 2046, "",
		    "the expression has more than 4096 parts" },
		{ "1 in (0", ", 1", 1023, ")",
		    "the list has more than 1024 items" },
		{ "'a' ~ 'b", "a", 1023, "'",
		    "the pattern is longer than 1024 bytes" },
	};
	const struct limit *l;
	tel_filter *f = must(tel_filter_new());
	char end[4 + 150 + 1];
	tel_status st;
	size_t i;

	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		l = &limits[i];
		is_u64((uint64_t)set_long(f, l->begin, l->unit, l->good,
		           l->end),
		    TEL_OK, "at the limit: %s", l->message);
		is_u64((uint64_t)tel_filter_bind(f, e->schema), TEL_OK,
		    "bound: %s", l->message);
		ok(tel_filter_match(f, &e->event[0]) >= 0, "run: %s",
		    l->message);
		st = set_long(f, l->begin, l->unit, l->good + 1, l->end);
		ok(st == TEL_ELIMIT || st == TEL_EINVAL, "past it");
		is_str(tel_filter_error(f), l->message, "says so");
		ok((tel_filter_error_column(f) == 0) == (i == 0), "where");
	}
	/* each is held until the innermost sum is known */
	memset(end, ')', sizeof(end));
	memcpy(end, "size", 4);
	end[sizeof(end) - 1] = '\0';
	must_ok(set_long(f, "15100 == ", "size+(", 150, end));
	must_ok(tel_filter_bind(f, e->schema));
	ok(tel_filter_match(f, &e->event[1]) == 1, "151 values at once");
	is_u64((uint64_t)set_long(f, "", "(", 60000, ""), (uint64_t)TEL_ELIMIT,
	    "60000 parentheses");
	is_u64(tel_filter_error_column(f), 201, "at the 201st");
	is_u64((uint64_t)set_long(f, "", "has(", 16000, "x"),
	    (uint64_t)TEL_EINVAL, "16000 has(");
	is_u64((uint64_t)set_long(f, "", "1 in ((", 9000, ""),
	    (uint64_t)TEL_ELIMIT, "9000 lists in lists");
	is_u64((uint64_t)set_long(f, "", "1||1&&1==1|1^1&1<<1+1*(", 200, "1"),
	    (uint64_t)TEL_EINVAL, "200 deep at every level");
	tel_filter_free(f);
}

/* A setter that fails leaves what was set. */
static void
check_kept(struct events *e)
{
	tel_filter *f = must(tel_filter_new());

	is_str(tel_filter_error(f), "", "no failure yet");
	ok(tel_filter_error_text(f) == NULL, "no text of it");
	must_ok(tel_filter_set_expression(f, "size == 100"));
	ok(tel_filter_set_expression(f, "size ==") == TEL_EINVAL, "fails");
	ok(tel_filter_match(f, &e->event[0]) == 0 &&
	        tel_filter_match(f, &e->event[1]) == 1,
	    "the expression before it is still there");
	must_ok(tel_filter_set_expression(f, NULL));
	ok(tel_filter_match(f, &e->event[0]) == 1, "taken away");
	ok(tel_filter_set_expression(f, "'\x1b[31m' \x1b") == TEL_EINVAL,
	    "odd bytes");
	ok(strchr(tel_filter_error(f), 0x1b) == NULL,
	    "none of them in the message");
	must_ok(tel_filter_set_types(f, "P\x1f~\x7f\x80"));
	ok(tel_filter_bind(f, e->schema) == TEL_EINVAL, "no such type");
	is_str(tel_filter_error(f), "unknown event type 'P\\x1f~\\x7f\\x80'",
	    "only what can be printed is");
	tel_filter_free(f);
}

int
main(void)
{
	struct events e;

	make_events(&e);
	check_syntax(syntax, sizeof(syntax) / sizeof(syntax[0]));
	check_meaning(&e, meaning, sizeof(meaning) / sizeof(meaning[0]));
	check_limits(&e);
	check_kept(&e);
	free_events(&e);
	return done();
}
