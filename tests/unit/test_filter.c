/* SPDX-License-Identifier: BSD-2-Clause */
/* Filters: what each expression says of each of a handful of events. */
#include "filter_events.h"

/*
 * text: an expression.  verdicts: for each event 1 true, 0 false, ? unknown.
 * Unknown is what is neither true nor has a negation that is.
 */
struct row {
	const char *text;
	const char *verdicts;
};

static const struct row constants[] = {
	{ "true", "11111111" },
	{ "false", "00000000" },
	{ "1", "11111111" },
	{ "0.0", "00000000" },
	{ "cpu", "????????" },
	{ "tid == 1 || pid != 1", "????????" },
	/* precedence, as in C but that bit operators bind tighter than == */
	{ "1 + 2 * 3 == 7", "11111111" },
	{ "(1 + 2) * 3 == 9", "11111111" },
	{ "2 - 3 - 4 == -5", "11111111" },
	{ "64 / 4 / 2 == 8", "11111111" },
	{ "1 << 2 + 1 == 8", "11111111" },
	{ "6 & 3 == 2", "11111111" },
	{ "1 | 6 ^ 2 & 3 == 5", "11111111" },
	{ "false && false || true", "11111111" },
	{ "true || false && false", "11111111" },
	{ "-1 < 0 && - -1 > 0 && ~0 == 0xffffffffffffffff", "11111111" },
	{ "!0 && !!1 && !(1 == 2)", "11111111" },
	{ "!~0", "00000000" },
	{ "!~~0", "11111111" },
	/* numbers */
	{ "0x10 == 16 && 0b101 == 5 && 0o17 == 15 && 017 == 15", "11111111" },
	{ "1k == 1024 && 2M == 2097152 && 1G == 1 << 30 && 1T == 1 << 40",
	    "11111111" },
	{ "1K == 1k && 0x1k == 1024 && 1.5k == 1536", "11111111" },
	{ "64KiB == 64k && 2MiB == 2M && 1GiB == 1G && 0x1TiB == 1T",
	    "11111111" },
	{ "1s == 1000ms && 1ms == 1000us && 1us == 1000ns", "11111111" },
	{ "1.5s == 1500000000 && 0.0000015ms == 2ns", "11111111" },
	{ "1e3 == 1000 && 2.5e-1 == 0.25", "11111111" },
	{ "18446744073709551615 == 0xffffffffffffffff", "11111111" },
	/* integers are exact and never wrap */
	{ "3 - 5 == -2 && -2 < 1", "11111111" },
	{ "18446744073709551615 + 1 == 0", "????????" },
	{ "18446744073709551615 * 2 == 0", "????????" },
	{ "-9223372036854775808 == -9223372036854775807 - 1", "11111111" },
	{ "-9223372036854775808 - 1 < 0", "????????" },
	{ "0 - 9223372036854775809 < 0", "????????" },
	{ "18446744073709551615 - 18446744073709551614 == 1", "11111111" },
	{ "-18446744073709551614 - 1 < 0 || true", NULL },
	{ "7 / 2 == 3 && -7 / 2 == -3 && 7 % 3 == 1 && -7 % 3 == -1",
	    "11111111" },
	{ "-9223372036854775808 / -1 == 9223372036854775808", "11111111" },
	{ "1 / 0 == 1", "????????" },
	{ "1 % 0 == 1", "????????" },
	{ "1.0 / 0 == 1 || 1 / 0.0 == 1", "????????" },
	{ "-1 & 0xff == 255 && -1 >> 63 == 1 && 1 << 63 > 0", "11111111" },
	{ "1 << 64 == 0 && 1 >> 64 == 0 && 3 << 63 == 1 << 63", "11111111" },
	{ "1 << -1 == 0", "????????" },
	/* integers against doubles: by value, without rounding */
	{ "9007199254740993 > 9007199254740992.0", "11111111" },
	{ "18446744073709551615 < 18446744073709551616.0", "11111111" },
	{ "-1 < -0.5 && -1 > -1.5 && -1 == -1.0 && 1 < 1.5", "11111111" },
	{ "-9223372036854775808 == -9223372036854775808.0", "11111111" },
	{ "1e300 * 1e300 > 1e308", "11111111" },
	{ "1 + 0.5 == 1.5 && 3 / 2.0 == 1.5", "11111111" },
	/* strings */
	{ "\"a\" < \"b\" && \"a\" < \"aa\" && \"A\" != \"a\"", "11111111" },
	{ "\"\\x41\\t\\\\\" == 'A\t\\'", "11111111" },
	{ "'it' == \"it\" && \"it's\" == \"it\\'s\"", "11111111" },
	{ "'' == \"\"", "11111111" },
	{ "'abc' ~ 'b' && 'abc' ~ '^a' && 'abc' ~ 'c$' && 'abc' ~ '^abc$'",
	    "11111111" },
	{ "'abc' !~ '^b' && 'abc' !~ 'b$' && 'abc' !~ '^ab$'", "11111111" },
	{ "'abc' ~ '^a.c$' && 'abbbc' ~ '^ab{2,3}c$' && 'x' ~ '(y|x)'",
	    "11111111" },
	{ "'abc' ~ '' && '' ~ '^$' && 'aab' ~ 'ab'", "11111111" },
	{ "'abc' =* 'a*' && 'abc' =* '?b?' && 'abc' !* 'ab'", "11111111" },
	{ "'abc' =* '*[a-c]' && 'abc' =* '[!b-z]*[^a]' && 'a*c' =* 'a\\*c'",
	    "11111111" },
	{ "'abc' !* 'a\\*c' && '[' =* '[' && ']' =* '[]]'", "11111111" },
	{ "'aXbXc' =* '*X*X*' && 'ab' !* '*X*' && '' =* '*'", "11111111" },
	/* lists */
	{ "3 in (1, 3) && 3 !=4 && !(3 in (1, 2))", "11111111" },
	{ "3 in (1..3) && 1 in (1..3) && !(4 in (1..3))", "11111111" },
	{ "2 in (3..1) || -2 in (1..3)", "00000000" },
	{ "-2 in (-3..-1) && 2.5 in (2..3) && !(2.5 in (2, 3))", "11111111" },
	{ "'b' in ('a', 'b') && 'b' in ('a'..'c')", "11111111" },
	{ "1 + 1 in (0 + 2)", "11111111" },
	{ "1 in (1, cpu) && !(1 in (2, cpu)) || true", "11111111" },
	{ "1 in (2, cpu)", "????????" },
	{ "1 in (cpu..5)", "????????" },
	{ "9 in (cpu..5)", "00000000" },
	{ "cpu in (1, 2)", "????????" },
	{ "3 in (18446744073709551615, 0..18446744073709551615)", "11111111" },
};

static const struct row fields[] = {
	{ "size == 65536", "100?????" },
	{ "size >= 64k", "100?????" },
	{ "size < 0", "000?????" },
	{ "size >= 0", "111?????" },
	{ "size > 18446744073709551615", "000?????" },
	{ "size <= 100", "010?????" },
	{ "100 >= size", "010?????" },
	{ "size != 100", "101?????" },
	{ "size == 100.0", "010?????" },
	{ "size > -1", "111?????" },
	{ "size == -1", "000?????" },
	{ ".size == 100 && field(size) == 100 && field(\"size\") == 100",
	    "010?????" },
	{ "size in (100, 4096)", "011?????" },
	{ "size in (0..100, 65k, 64k)", "110?????" },
	{ "size in (0..99)", "000?????" },
	{ "size in (99..101)", "010?????" },
	{ "size in (pool, 100)", "010?????" },
	{ "size in (pool..100000)", "100?????" },
	{ "size", "111?????" },
	{ "size - 100", "101?????" },
	{ "size * 2 == 200", "010?????" },
	{ "size + pool == 32740", "010?????" },
	{ "size & 0xfff == 0", "101?????" },
	{ "size % 100 == 36", "100?????" },
	{ "size / (size - 100) >= 0", "1?1?????" },
	{ "-size == -100", "010?????" },
	{ "~size == ~100", "010?????" },
	{ "size << 1 == 200", "010?????" },
	{ "(size > 50) + (size > 100) == 2", "101?????" },
	{ "(size > 50 && size < 200) == (pool == 0x7f80)", "111?????" },
	{ "(size == 100 || pool == 0x7f00) + 1 == 2", "111?????" },
	{ "!(size == 100) * 1 == 1 || true", NULL },
	{ "(!(size == 100)) * 1 == 1", "101?????" },
	{ "(size ~ '1') || true", NULL },
	{ "foundation == 18446744073709551615", "???1????" },
	{ "foundation + 1 > 0", "????????" },
	{ "foundation > 0 && foundation + 1 > 0 || mortality == 0.5",
	    "???1????" },
	{ "white & 4 && !(white & 2)", "???1????" },
	{ "mortality > 0.25 && mortality < 1", "???1????" },
	{ "mortality * 4 == 2", "???1????" },
	{ "condemned * mortality == 5", "???1????" },
	{ "mortality in (0..1)", "???1????" },
	{ "mortality in (0, 1)", "???0????" },
	{ "mortality", "???1????" },
	/* not a number: unequal to everything, itself as well */
	{ "finishingTime == finishingTime", "???0????" },
	{ "finishingTime != finishingTime", "???1????" },
	{ "finishingTime < 1 || finishingTime >= 1", "???0????" },
	{ "finishingTime > 1", "???0????" },
	{ "string == \"heap \\\"A\\\"\\n\\xff\"", "????1???" },
	{ "string ~ '^heap' && string !~ 'B'", "????1???" },
	{ "string ~ 'heap.\"[AB]'", "????1???" },
	{ "string =* 'heap*'", "????1???" },
	{ "string > 'heap' && string < 'heaq'", "????1???" },
	{ "string in ('a', 'h'..'i')", "????1???" },
	{ "workWasDone", "???????1" },
	{ "workWasDone == true", "???????1" },
	{ "!workWasDone", "???????0" },
	/* a field with the name of a builtin */
	{ ".clock == 123456", "?????1??" },
	{ "clock == 7000", "00000100" },
	{ "clock in (1000, 9000)", "10000001" },
	{ "clock in (1000..1500, 9000)", "10100001" },
	/* quoted: no type need have it */
	{ "field(\"nowhere\") == 3", "????????" },
	{ "field(\"nowhere\") == 'x'", "????????" },
	{ "field('nowhere') == 3 || size == 100", "?1??????" },
};

static const struct row names[] = {
	{ "kind == Pool", "00000000" },
	{ "kind == Object", "11000000" },
	{ "kind == object", "11000000" },
	{ "OBJECT == kind", "11000000" },
	{ "kind != Object", "00111111" },
	{ "kind == \"oBJECT\"", "11000000" },
	{ "kind == 'nonsense'", "00000000" },
	{ "kind == trace", "00010000" },
	{ "kind == Unknown", "00000010" },
	{ "kind in (Seg, user)", "00101000" },
	{ "kind in ('seg', User)", "00101000" },
	{ "kind ~ '^[OS]'", "11100000" },
	{ "kind =* 'object'", "00000000" },
	{ "name == PoolAlloc", "11000000" },
	{ "name == 'PoolAlloc'", "11000000" },
	{ "name == 'poolalloc'", "00000000" },
	{ "name in (PoolAlloc, SegAlloc)", "11100000" },
	{ "name ~ 'Alloc$'", "11100000" },
	{ "name =* '*A*'", "11100001" },
	{ "name == '0x01F4'", "00000010" },
	{ "name ~ '^0x'", "00000010" },
	{ "name in ('0x01F4', SegAlloc)", "00100010" },
	{ "code == 0x17", "11000000" },
	{ "code == 500", "00000010" },
	{ "code in (0x17, 500)", "11000010" },
	{ "code > 0x70 && code < 0x80", "00000101" },
	{ "index == 3", "00010000" },
	{ "index in (2..4, 7)", "00111001" },
	{ "index % 2", "01010101" },
	{ "sizeof == 128", "11111111" },
	{ "sizeof * 2 > 1000", "00000000" },
	{ "time >= 1us", "01011111" },
	{ "time == 0", "10000000" },
	{ "time in (0..500ns)", "10100000" },
	{ "dt == 1us", "?1001111" },
	{ "dt < 0", "?0100000" },
	{ "dt >= 0", "?1011111" },
	{ "has(size)", "11100000" },
	{ "!has(size)", "00011111" },
	{ "has(\"size\") && has(.pool)", "11100000" },
	{ "has(\"nowhere\")", "00000000" },
	{ "has(cpu) || has(tid)", "00000000" },
	{ "has(time) && has(kind) && has(index)", "11111111" },
	{ "has(dt)", "01111111" },
	{ "has(label)", "10100001" },
	{ "has(label(pool))", "10100000" },
	{ "label == 'heap'", "1?1????0" },
	{ "label != 'heap'", "0?0????1" },
	{ "'heap' == label", "1?1????0" },
	{ "label ~ '^heap'", "1?1????0" },
	{ "label !~ '^heap'", "0?0????1" },
	{ "label ~ '^(arena|x) [0-9]'", "0?1????1" },
	{ "label =* 'a*'", "0?1????1" },
	{ "label in ('heap', 'x')", "1?1????0" },
	{ "label in ('a'..'b')", "0?1????1" },
	{ "!(label == 'heap')", "0?0????1" },
	{ "(label == 'heap') + 1 == 2", "1?1????0" },
	{ "label(pool) == 'heap'", "1?1?????" },
	{ "label(arena) ~ '1$'", "??1????1" },
	{ "label(arena) > label(pool)", "??0?????" },
	{ "label(\"pool\") in ('heap')", "1?1?????" },
	{ "label('nowhere') == ''", "????????" },
	/* what a type lacks stays unknown beside what is decided */
	{ "size >= 64k && kind == Object && (pool == 0x7f00 || label ~ "
	  "\"^heap\")",
	    "10000000" },
	{ "size == 100 || kind == Seg", "011?????" },
	{ "!(size == 100 && kind == Object)", "10111111" },
};

/* The examples of tel-filter(7). */
static const struct row examples[] = {
	{ "name == PoolAlloc && pool == 0x7f0012 && size >= 1M", "00000000" },
	{ "base & ~0xfff == 0x7f000 || ref & ~0xfff == 0x7f000", "????????" },
	{ "size & size - 1 != 0", "010?????" },
	{ "kind == Seg || label =* 'seg *'", "0?1????0" },
	{ "time in (60s..120s) && !(name in (TraceFix, TraceFixSeg))",
	    "00000000" },
	{ "dt >= 10ms", "?0000000" },
	{ "!has(size) || size % 2 == 1", "00011111" },
	{ "name == EventClockSync && .clock > 1000000", "00000000" },
};

static int
verdict(struct events *e, tel_filter *yes, tel_filter *no, unsigned i)
{
	int y = tel_filter_match(yes, &e->event[i]);
	int n = tel_filter_match(no, &e->event[i]);

	if (y < 0 || n < 0 || (y && n))
		return '!';
	return y ? '1' : n ? '0' : '?';
}

static void
check_row(struct events *e, const struct row *row)
{
	char negation[300], got[EVENTS + 1] = { 0 };
	tel_filter *yes = must(tel_filter_new());
	tel_filter *no = must(tel_filter_new());
	tel_status st;
	unsigned i;

	snprintf(negation, sizeof(negation), "!(%s)", row->text);
	st = tel_filter_set_expression(yes, row->text);
	if (st == TEL_OK)
		st = tel_filter_set_expression(no, negation);
	if (st == TEL_OK)
		st = tel_filter_bind(yes, e->schema);
	if (st == TEL_OK)
		st = tel_filter_bind(no, e->schema);
	if (row->verdicts == NULL) {
		ok(st == TEL_EINVAL, "refused: %s", row->text);
	} else if (st != TEL_OK) {
		ok(0, "%s: %s", row->text, tel_filter_error(yes));
	} else {
		for (i = 0; i < EVENTS; i++)
			got[i] = (char)verdict(e, yes, no, i);
		is_str(got, row->verdicts, "%s", row->text);
	}
	tel_filter_free(yes);
	tel_filter_free(no);
}

static void
check_rows(struct events *e, const struct row *rows, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		check_row(e, &rows[i]);
}

static void
check_pair(struct events *e, const char *a, const char *op, const char *b,
    char want)
{
	char text[96], verdicts[EVENTS + 1];
	struct row row = { text, verdicts };

	memset(verdicts, want, EVENTS);
	verdicts[EVENTS] = '\0';
	snprintf(text, sizeof(text), "%s %s %s", a, op, b);
	check_row(e, &row);
	/* as a value, which takes another way */
	snprintf(text, sizeof(text), "(%s %s %s) + 0", a, op, b);
	check_row(e, &row);
}

/* The table of tel-filter(7), for what is known at once and what is not. */
static void
check_table(struct events *e)
{
	static const char *const values[2][3] = {
		{ "true", "false", "cpu" },
		{ "index + 0 >= 0", "index + 0 < 0", "1 / (index * 0) == 1" },
	};
	static const char both[] = "10?000?0?";
	static const char either[] = "11110?1??";
	static const char not [] = "01?";
	struct row row = { NULL, NULL };
	char text[64], want[EVENTS + 1] = { 0 };
	unsigned a, b, how;

	for (how = 0; how < 4; how++)
		for (a = 0; a < 3; a++)
			for (b = 0; b < 3; b++) {
				check_pair(e, values[how & 1][a], "&&",
				    values[how >> 1][b], both[a * 3 + b]);
				check_pair(e, values[how & 1][a], "||",
				    values[how >> 1][b], either[a * 3 + b]);
			}
	for (how = 0; how < 2; how++)
		for (a = 0; a < 3; a++) {
			snprintf(text, sizeof(text), "!(%s)", values[how][a]);
			memset(want, not [a], EVENTS);
			row.text = text;
			row.verdicts = want;
			check_row(e, &row);
		}
}

int
main(void)
{
	struct events e;

	make_events(&e);
	check_rows(&e, constants, sizeof(constants) / sizeof(constants[0]));
	check_rows(&e, fields, sizeof(fields) / sizeof(fields[0]));
	check_rows(&e, names, sizeof(names) / sizeof(names[0]));
	check_rows(&e, examples, sizeof(examples) / sizeof(examples[0]));
	check_table(&e);
	free_events(&e);
	return done();
}
