/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers as text, against the C library's. */
#include "render/program.c"

#include <locale.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "tap.h"

static uint64_t
next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static int
same(const unsigned char *got, const unsigned char *end, const char *want)
{
	size_t n = strlen(want);

	if ((size_t)(end - got) == n && memcmp(got, want, n) == 0)
		return 1;
	diag("got %.*s, expected %s", (int)(end - got), (const char *)got,
	    want);
	return 0;
}

static int
check_integer(uint64_t v)
{
	unsigned char p[TEL_PUT_MAX];
	char want[32];
	int good;

	snprintf(want, sizeof(want), "%" PRIu64, v);
	good = same(p, tel_put_decimal(p, v), want);
	snprintf(want, sizeof(want), "%" PRId64, (int64_t)v);
	good &= same(p, tel_put_signed(p, v), want);
	snprintf(want, sizeof(want), "%" PRIx64, v);
	good &= same(p, tel_put_hex(p, v, TEL_LOWER), want);
	snprintf(want, sizeof(want), "%" PRIX64, v);
	good &= same(p, tel_put_hex(p, v, TEL_UPPER), want);
	snprintf(want, sizeof(want), "%016" PRIX64, v);
	good &= same(p, tel_put_hex16(p, v, TEL_UPPER), want);
	snprintf(want, sizeof(want), "%08" PRIx32, (uint32_t)v);
	good &= same(p, tel_put_hex8(p, (uint32_t)v, TEL_LOWER), want);
	return good;
}

static void
test_integers(void)
{
	uint64_t state = 88172645463325252u, power;
	int good = 1, i;

	for (i = 0; i < 70000; i++)
		good &= check_integer((uint64_t)i);
	for (i = 0; i < 64; i++) {
		good &= check_integer((uint64_t)1 << i);
		good &= check_integer(((uint64_t)1 << i) - 1);
		good &= check_integer(0 - ((uint64_t)1 << i));
	}
	for (power = 1, i = 0; i < 20; i++, power *= 10) {
		good &= check_integer(power);
		good &= check_integer(power - 1);
		good &= check_integer(power + 1);
	}
	for (i = 0; i < 100000; i++)
		good &= check_integer(next(&state) >> (i & 63));
	ok(good, "integers print as printf prints them");
}

static int
check_double(uint64_t bits)
{
	double d = tel_bits_double(bits);
	unsigned char p[TEL_PUT_MAX];
	char want[400], text[400];
	int good, digits;

	for (digits = 15; digits < 17; digits++) {
		snprintf(want, sizeof(want), "%.*g", digits, d);
		if (tel_double_bits(strtod(want, NULL)) == bits)
			break;
	}
	if (digits == 17)
		snprintf(want, sizeof(want), "%.17g", d);
	good = same(p, tel__put_double(p, bits), want);
	snprintf(text, sizeof(text), "%.10G", d);
	good &= same(p, tel__put_double_10(p, bits), text);
	snprintf(want, sizeof(want), "%#8.3g", strtod(text, NULL));
	good &= same(p, tel__put_double_3(p, bits), want);
	return good;
}

static void
test_doubles(void)
{
	static const double some[] = { 0, -0.0, 1, -1, 0.1, 0.45, 1e15, 1e16,
		999999999999999, -999999999999999, 1.2345678901234568e17, 1e-5,
		5e-324, 1.7976931348623157e308, 2.2250738585072014e-308, 1e100,
		0.30000000000000004, 9.9949999999999, 999.5, 9995, 1.5e10 };
	uint64_t state = 362436069, bits;
	size_t i;
	int good = 1;

	for (i = 0; i < sizeof(some) / sizeof(some[0]); i++)
		good &= check_double(tel_double_bits(some[i]));
	for (i = 0; i < 20000; i++) {
		bits = next(&state);
		if ((bits >> 52 & 0x7ff) != 0x7ff)
			good &= check_double(bits);
		/* near 1, where programs' numbers are */
		bits = (bits & 0x800fffffffffffff) |
		    (uint64_t)(1000 + i % 50) << 52;
		good &= check_double(bits);
	}
	ok(good, "doubles print as printf prints them");
}

static void
test_specials(void)
{
	unsigned char p[TEL_PUT_MAX];
	const uint64_t inf = 0x7ff0000000000000, minus = 0xfff0000000000000;

	ok(same(p, tel__put_double(p, inf), "inf"), "inf");
	ok(same(p, tel__put_double(p, minus), "-inf"), "-inf");
	ok(same(p, tel__put_double(p, 0x7ff8000000000000), "nan"), "nan");
	ok(same(p, tel__put_double(p, 0xfff8000000000000),
	       "nan(0xfff8000000000000)"),
	    "a negative nan");
	ok(same(p, tel__put_double(p, 0x7ff8dead00000001),
	       "nan(0x7ff8dead00000001)"),
	    "a nan with a payload");
	ok(same(p, tel__put_double(p, 0x8000000000000000), "-0"), "-0");
	ok(same(p, tel__put_double_10(p, inf), "INF"), "%%G of inf");
	ok(same(p, tel__put_double_10(p, minus), "-INF"), "%%G of -inf");
	ok(same(p, tel__put_double_10(p, 0xfff8000000000000), "-NAN"),
	    "%%G of a negative nan");
	ok(same(p, tel__put_double_3(p, inf), "     inf"), "%%8g of inf");
	ok(same(p, tel__put_double_3(p, minus), "    -inf"), "%%8g of -inf");
	ok(same(p, tel__put_double_3(p, 0x7ff8000000000001), "     nan"),
	    "%%8g of a nan");
}

static void
test_seconds(void)
{
	unsigned char p[TEL_PUT_MAX];

	ok(same(p, tel__put_seconds(p, 0), "0.000000000"), "no seconds");
	ok(same(p, tel__put_seconds(p, 1), "0.000000001"), "a nanosecond");
	ok(same(p, tel__put_seconds(p, -1), "-0.000000001"), "one before");
	ok(same(p, tel__put_seconds(p, 1234567890123), "1234.567890123"),
	    "many seconds");
	ok(same(p, tel__put_seconds(p, INT64_MIN), "-9223372036.854775808"),
	    "the earliest time");
	ok(same(p, tel__put_hertz(p, 2995200123.4), "2995200123.4"), "hertz");
	ok(same(p, tel__put_hertz(p, 1e300), "1e+300"), "far too many hertz");
}

/* The library must not care where the program is at home. */
static void
test_locale(void)
{
	static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8",
		"fr_FR.UTF-8", "ps_AF.UTF-8", "ps_AF" };
	unsigned char p[TEL_PUT_MAX];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (setlocale(LC_NUMERIC, names[i]) != NULL)
			break;
	if (i == sizeof(names) / sizeof(names[0])) {
		ok(1, "a decimal comma # SKIP there is no such locale here");
		return;
	}
	ok(same(p, tel__put_double(p, tel_double_bits(0.1)), "0.1"),
	    "a double in %s", names[i]);
	ok(same(p, tel__put_double_10(p, tel_double_bits(1e-7 / 3)),
	       "3.333333333E-08"),
	    "%%G in %s", names[i]);
	ok(same(p, tel__put_double_3(p, tel_double_bits(12.345)), "    12.3"),
	    "%%8g in %s", names[i]);
	ok(same(p, tel__put_hertz(p, 1.5), "1.5"), "hertz in %s", names[i]);
	ok(same(p, tel__put_general(p, 9, 0.25), "0.25"), "%%g in %s",
	    names[i]);
	setlocale(LC_NUMERIC, "C");
}

/* A number after others in a step, which may print it by what it kept. */
static int
check_step(struct render_step *decimal, struct render_step *hex, uint64_t v)
{
	unsigned char p[TEL_PUT_MAX];
	char want[32];
	int good;

	snprintf(want, sizeof(want), "%" PRId64, (int64_t)v);
	good = same(p, put_signed(decimal, p, v), want);
	snprintf(want, sizeof(want), "%" PRIx64, v);
	return good & same(p, render_program_put_hex(hex, p, v), want);
}

static void
test_steps(void)
{
	static const uint64_t bases[] = { 0, 99999990, 9999999990, 0xfffffff0,
		0x7fe81763d0b8, 9999999999999990, UINT64_MAX / 2 - 8,
		UINT64_MAX - 8 };
	struct render_step decimal = { .text = "0", .digits = 1 },
	                   hex = decimal;
	uint64_t state = 1, base = 0;
	int i, good = 1;

	for (i = 0; i < 100000; i++) {
		if (next(&state) % 4 == 0)
			base = bases[next(&state) % 8];
		good &= check_step(&decimal, &hex, base + next(&state) % 20);
		if (next(&state) % 16 == 0)
			good &= check_step(&decimal, &hex,
			    next(&state) >> next(&state) % 64);
	}
	ok(good, "numbers like those before them");
}

int
main(void)
{
	test_integers();
	test_steps();
	test_doubles();
	test_specials();
	test_seconds();
	test_locale();
	return done();
}
