/* SPDX-License-Identifier: BSD-2-Clause */
/* Text read back: the lines of telcat and of mpseventcnv into events. */
#include <math.h>

#include "lines.h"

/* ------------------------------------- every type, in every layout */

static uint64_t
mix(uint64_t *state)
{
	*state += 0x9e3779b97f4a7c15u;
	return (*state ^ *state >> 31) * 0xbf58476d1ce4e5b9u >> 3;
}

/* Prints a value of f in both forms of text and as dump() shows it. */
static void
put_value(const struct tel_field *f, uint64_t *state, FILE *text, FILE *cnv,
    FILE *want)
{
	static const double doubles[] = { 0.0, -1.5, 1e100, 0.1, 3.571428571 };
	uint64_t v = mix(state), all = UINT64_MAX;
	double d;

	if (f->width < 64)
		all = (1ull << f->width) - 1;
	v = *state % 7 == 0 ? all : v & all;
	if (f->datatype == TEL_BOOLEAN)
		v &= 1;
	fprintf(text, " %s=", f->name);
	switch (f->datatype) {
	case TEL_DOUBLE:
		d = doubles[v % 5];
		fprintf(text, "%.17g", d);
		fprintf(cnv, " %.10G", d);
		memcpy(&v, &d, sizeof(v));
		break;
	case TEL_STRING:
		fprintf(text, "\"a\\\"\\\\\\n\\x01\\xff\"");
		fprintf(cnv, " \"a\\\"\\\\\n\x01\xff\"");
		fprintf(want, " 61225c0a01ff");
		return;
	case TEL_BOOLEAN:
		fprintf(text, v ? "true" : "false");
		fprintf(cnv, " %s", v ? "FFFFFFFFFFFFFFFF" : "0");
		break;
	case TEL_UNSIGNED:
	case TEL_SIGNED:
		fprintf(text, "%llu", (unsigned long long)v);
		fprintf(cnv, " %llX", (unsigned long long)v);
		break;
	case TEL_SET:
	case TEL_ADDRESS:
	case TEL_POINTER:
		fprintf(text, "0x%llx%s", (unsigned long long)v,
		    f->datatype != TEL_SET && v % 3 == 0 ? "[\"a ] \\\" b\"]" :
		                                           "");
		fprintf(cnv, " %llX", (unsigned long long)v);
		break;
	case TEL_LIST: break;
	}
	fprintf(want, " %llx", (unsigned long long)v);
}

/* Reads an event of every type of a schema back from both texts. */
static void
check_schema(const char *name)
{
	char *text, *cnv, *want;
	size_t n[3];
	FILE *t = open_memstream(&text, &n[0]);
	FILE *c = open_memstream(&cnv, &n[1]);
	FILE *w = open_memstream(&want, &n[2]);
	uint64_t state = 1, clock;
	tel_schema *schema;
	unsigned i, j;

	if (tel_schema_new(name, &schema) != TEL_OK)
		exit(1);
	fprintf(t, "# teltools text 1\n# format: %s\n", name);
	for (i = 0; i < schema->ntypes; i++) {
		const struct tel_type *type = &schema->types[i];

		if (type->role == TEL_ROLE_INIT)
			continue; /* its version would be a newer one */
		clock = mix(&state);
		fprintf(t, "%016llX %s", (unsigned long long)clock, type->name);
		fprintf(w, "%016llX %s", (unsigned long long)clock, type->name);
		fprintf(c, "%016llX %4X", (unsigned long long)clock,
		    type->code);
		for (j = 0; j < type->nfields; j++)
			put_value(&type->fields[j], &state, t, c, w);
		putc('\n', t);
		putc('\n', c);
		putc('\n', w);
	}
	fclose(t);
	fclose(c);
	fclose(w);
	tel_schema_free(schema);
	events_are(text, NULL, want, name);
	events_are(cnv, name, want, name);
	free(text);
	free(cnv);
	free(want);
}

static void
test_types(void)
{
	static const char *const platforms[] = { "", "/lii3gc", "/w3i3mv",
		"/lii6gc,be", "/lii3gc,be", "/w3i3mv,be", "/xca6ll" };
	char name[64];
	unsigned i, j;

	for (i = 0; tel_release_name(i) != NULL; i++)
		for (j = strncmp(tel_release_name(i), "mps-", 4) != 0 ? 7 : 0;
		     j < sizeof(platforms) / sizeof(*platforms); j++) {
			snprintf(name, sizeof(name), "%s%s",
			    tel_release_name(i), platforms[j]);
			check_schema(name);
		}
}

/* --------------------------------------------------------- the lines */

#define H "# teltools text 1\n# format: mps-1.117.0/lii6gc\n"

static void
test_lines(void)
{
	const char *as = "mps-1.117.0/lii6gc";

	events_are(CLK "PoolAlloc pool=0x1 pReturn=0x2 size=3\n", as,
	    CLK "PoolAlloc 1 2 3\n", "a line");
	events_are(CLK "PoolAlloc size=3 pool=0x1 pReturn=0x2\n", as,
	    CLK "PoolAlloc 1 2 3\n", "fields in another order");
	events_are(CLK "PoolAlloc pool=0x1 pReturn=0x2 size=3\r\n\r\n" CLK
	               "ArenaDestroy arena=0x1\r\n",
	    as, CLK "PoolAlloc 1 2 3\n" CLK "ArenaDestroy 1\n",
	    "lines that end in CRLF");
	events_are("\n  \n# a comment\n" CLK "ArenaDestroy arena=0xAbC\n#\n",
	    as, CLK "ArenaDestroy abc\n", "blank lines and comments");
	events_are(CLK "0x01F4 bytes=00010203040506ff\n" CLK "0x0017 bytes=\n",
	    as, CLK "0x01F4 00010203040506ff\n" CLK "0x0017\n",
	    "unknown types");
	events_are(CLK "ArenaDestroy arena=0x1[\"x\\\"] y\"]\n", as,
	    CLK "ArenaDestroy 1\n", "a label is skipped");
	events_are(CLK "Intern stringId=18446744073709551615 string=\"\"\n", as,
	    CLK "Intern ffffffffffffffff \n", "an empty string");
	events_are(CLK "ArenaDestroy arena=0x1", as, CLK "ArenaDestroy 1\n",
	    "a last line without an end");
	events_are("", "text", "", "an empty text");
}

/* The line is damage, and what is said of it holds the words. */
static void
is_damage(const char *line, const char *words)
{
	size_t n = sizeof(H) + strlen(line);
	char *text = malloc(n);
	struct result res;

	if (text == NULL)
		exit(1);
	snprintf(text, n, "%s%s", H, line);
	res = read_as(text, NULL);
	if (!ok(res.events[0] == '\0' && res.count[TEL_COUNT_DAMAGED] == 1 &&
	            res.count[TEL_COUNT_SKIPPED] == strlen(line) &&
	            strstr(res.notices, words) != NULL && res.status == TEL_END,
	        "damage: %s: %.*s", words, (int)strcspn(line, "\n"), line))
		diag("events %s notices %s", res.events, res.notices);
	drop(res);
	free(text);
}

static void
test_damage(void)
{
	static const char *const lines[][2] = {
		{ "ArenaDestroy arena=0x1\n", "a clock of 16" },
		{ "0000061B51636E8 PoolFree\n", "a clock of 16" },
		{ "0000061B51636E8BB PoolFree\n", "a blank" },
		{ CLK "NoSuchType a=1\n", "an event in mps-1.117.0/lii6gc" },
		{ CLK "\n", "an event in" },
		{ CLK " ArenaDestroy arena=0x1\n", "an event in" },
		{ CLK "ArenaDestroy\n", "the field arena, found the end" },
		{ CLK "ArenaDestroy arena\n", "the field arena" },
		{ CLK "ArenaDestroy arena=\n", "0x and digits as arena" },
		{ CLK "ArenaDestroy arena=0x\n", "0x and digits as arena" },
		{ CLK "ArenaDestroy arena=17\n", "found \"17\"" },
		{ CLK "ArenaDestroy arena=0x1 \n", "the end of the line" },
		{ CLK "ArenaDestroy arena=0x1 arena=0x1\n", "the end of" },
		{ CLK "ArenaDestroy  arena=0x1\n", "the field arena" },
		{ CLK "ArenaDestroy arena=0x11111111111111111\n", "0x and" },
		{ CLK "ArenaDestroy arena=0x1[\n", "a label in quotes" },
		{ CLK "ArenaDestroy arena=0x1[\"\n", "the end of a label" },
		{ CLK "ArenaDestroy arena=0x1[\"\\\n", "a valid label" },
		{ CLK "ArenaDestroy arena=0x1[\"a\"\n", "the end of a label" },
		{ CLK "PoolAlloc pool=0x1 pReturn=0x2 pool=0x1\n", "size" },
		{ CLK "PoolAlloc pool=0x1 pool=0x2 size=1\n", "pReturn" },
		{ CLK "PoolAlloc pool=0x1 pReturn=0x2 size=\n", "a decimal" },
		{ CLK "PoolAlloc pool=0x1 pReturn=0x2 size=-1\n", "a deci" },
		{ CLK "PoolAlloc pool=0x1 pReturn=0x2 size="
		      "18446744073709551616\n",
		    "a decimal number as size" },
		{ CLK "PoolAlloc pool=0x1 pReturn=0x2 size=1x\n", "the end" },
		{ CLK "CommitLimitSet arena=0x1 limit=1 OK=4294967296\n",
		    "a smaller number as OK" },
		{ CLK "Intern stringId=1 string=\n", "a string in quotes" },
		{ CLK "Intern stringId=1 string=\"a\n", "the end of the str" },
		{ CLK "Intern stringId=1 string=\"a\\\n", "a valid string" },
		{ CLK "Intern stringId=1 string=\"a\\q\"\n", "a valid string" },
		{ CLK "Intern stringId=1 string=\"a\\x0g\"\n",
		    "a valid string" },
		{ CLK "Intern stringId=1 string=\"a\\x00\"\n",
		    "a valid string" },
		{ CLK "Intern stringId=1 string=\"a\"b\"\n", "the end of the" },
		{ CLK "0x17 bytes=\n", "a code of four" },
		{ CLK "0x10000 bytes=\n", "a code of four" },
		{ CLK "0x01F4\n", "the field bytes" },
		{ CLK "0x01F4 bytes=0\n", "pairs of digits" },
		{ CLK "0x01F4 bytes=0g\n", "pairs of digits" },
		{ CLK "0x01F4 bytes=0001\n", "whole words as bytes" },
		{ CLK "MeterValues meter=0x1 total=1e999 meanSquared=1 "
		      "count=1 max=1 min=1\n",
		    "a number that fits in total" },
		{ CLK "MeterValues meter=0x1 total=1e meanSquared=1 "
		      "count=1 max=1 min=1\n",
		    "a floating-point number as total" },
		{ CLK "PoolInitMVFF pool=0x1 arena=0x1 extendBy=1 avgSize=1 "
		      "align=1 slotHigh=1 arenaHigh=true firstFit=true\n",
		    "true or false as slotHigh" },
		{ CLK "ArenaDestroy arena=0x1 \x01\xff\n", "found \" ??\"" },
		{ CLK "ArenaDestroy arena=", "with no end: expected 0x" },
	};
	size_t i;

	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		is_damage(lines[i][0], lines[i][1]);
}

/* Reads total back from a line of text; as bits. */
static uint64_t
read_double(const char *value)
{
	tel_reader *r = tel_reader_new();
	const tel_event *ev;
	uint64_t bits = 1;
	char text[256];

	snprintf(text, sizeof(text),
	    H CLK "MeterValues meter=0x1 total=%s meanSquared=0 count=1 max=1 "
	          "min=1\n",
	    value);
	if (r != NULL &&
	    tel_reader_open_memory(r, text, strlen(text), NULL) == TEL_OK &&
	    tel_reader_next(r, &ev) == TEL_OK)
		bits = tel_event_u64(ev, 1);
	tel_reader_free(r);
	return bits;
}

static void
test_doubles(void)
{
	static const struct {
		const char *text;
		uint64_t bits;
	} special[] = {
		{ "0", 0 },
		{ "-0", (uint64_t)1 << 63 },
		{ "inf", 0x7ff0000000000000 },
		{ "-INF", 0xfff0000000000000 },
		{ "nan", 0x7ff8000000000000 },
		{ "-NAN", 0xfff8000000000000 },
		{ "nan(0x7ff8dead00000001)", 0x7ff8dead00000001 },
		{ "nan(0xfff0000000000001)", 0xfff0000000000001 },
		{ "5e-324", 1 },
		{ "2.2250738585072011e-308", 0x000fffffffffffff },
		{ "1.7976931348623157e+308", 0x7fefffffffffffff },
		{ "9007199254740993", 0x4340000000000000 },
		{ "9007199254740993.0000000000000000000001",
		    0x4340000000000001 },
		{ "0.000000000000000000000000000001", 0x39b4484bfeebc2a0 },
		{ "1e22", 0x4480f0cf064dd592 },
		{ "1e23", 0x44b52d02c7e14af6 },
		{ "1E+05", 0x40f86a0000000000 },
		{ ".5", 0x3fe0000000000000 },
		{ "5.", 0x4014000000000000 },
	};
	static const char *const wrong[] = { "", "-", ".", "e5", "1e", "1e+",
		"+1", "0x1p3", "1,5", "1.5.5", "nan(", "nan(0x)", "nan()",
		"nan(0x3ff0000000000000)", "infinity", "1e309", "--1",
		"00000000000000000000000000000000000000000000000000000000000000"
		"01"
		"2" };
	/* exact or not, with more digits than are kept, and points */
	static const char *const digits[] = { "1", "7", "123456789012345",
		"9007199254740991", "9007199254740993", "1234567890123456789",
		"12345678901234567895", "0.1", "000123.4560", "3.14159" };
	uint64_t state = 7, bits, bad = 0;
	char text[64];
	double d;
	size_t i;

	for (i = 0; i < sizeof(special) / sizeof(special[0]); i++)
		is_u64(read_double(special[i].text), special[i].bits,
		    "the double %s", special[i].text);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		is_u64(read_double(wrong[i]), 1, "no double: %s", wrong[i]);
	for (i = 0; i < 2000; i++) {
		bits = mix(&state) << 3 ^ mix(&state);
		memcpy(&d, &bits, sizeof(d));
		if (i % 2 == 0) /* the sort of numbers that logs hold */
			d = (double)(bits >> 40) / (double)(1 + bits % 1000);
		if (isnan(d) || isinf(d))
			continue;
		memcpy(&bits, &d, sizeof(bits));
		snprintf(text, sizeof(text), "%.17g", d);
		bad += read_double(text) != bits;
		snprintf(text, sizeof(text), "%.10G", d);
		d = strtod(text, NULL);
		memcpy(&bits, &d, sizeof(bits));
		bad += read_double(text) != bits;
	}
	is_u64(bad, 0, "doubles of any bits");
	for (bad = i = 0; i < 61 * sizeof(digits) / sizeof(digits[0]); i++) {
		snprintf(text, sizeof(text), "%se%d", digits[i / 61],
		    (int)(i % 61) - 30);
		d = strtod(text, NULL);
		memcpy(&bits, &d, sizeof(bits));
		bad += read_double(text) != bits;
	}
	is_u64(bad, 0, "digits with any power of ten");
}

int
main(void)
{
	test_types();
	test_lines();
	test_damage();
	test_doubles();
	return done();
}
