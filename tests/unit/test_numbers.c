/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers of options as they are read, figures of reports as they are shown. */
#include "common/number.h"
#include "common/report/format_number.h"
#include "tap.h"

#define COUNT(rows) (sizeof(rows) / sizeof(rows[0]))
#define NONE UINT64_C(999)

/* ------------------------------------------------------------- read */

static void
test_parse(void)
{
	static const struct {
		const char *text;
		uint64_t want; /* NONE: refused */
	} rows[] = { { "0", 0 }, { "7", 7 }, { "0190", 190 }, { "0x10", 16 },
		{ "0Xff", 255 }, { "0xAf", 0xaf }, { "0x1k", 1024 },
		{ "1k", 1024 }, { "2K", 2048 }, { "3M", 3 << 20 },
		{ "1G", 1 << 30 }, { "5T", (uint64_t)5 << 40 },
		{ "1KiB", 1024 }, { "2MiB", 2 << 20 },
		{ "18446744073709551615", UINT64_MAX },
		{ "0xffffffffffffffff", UINT64_MAX },
		{ "18446744073709551616", NONE },
		{ "0x10000000000000000", NONE },
		{ "16777215T", (uint64_t)16777215 << 40 },
		{ "16777216T", NONE }, { "", NONE }, { "k", NONE },
		{ "0x", NONE }, { "0y1", NONE }, { "x1", NONE }, { "1x", NONE },
		{ "1g", NONE }, { "1kB", NONE }, { "1xiB", NONE },
		{ "-1", NONE }, { "+1", NONE }, { " 1", NONE }, { "1 ", NONE },
		{ "1.5", NONE }, { "1s", NONE }, { "1m", NONE }, { "1:", NONE },
		{ "1/", NONE }, { "0xg", NONE }, { "1a", NONE } };
	size_t i;

	for (i = 0; i < COUNT(rows); i++) {
		uint64_t value = NONE;
		int good = number_parse(rows[i].text, &value);

		is_u64(value, rows[i].want, "'%s' as a number", rows[i].text);
		ok(good == (rows[i].want != NONE), "'%s': whether it is one",
		    rows[i].text);
	}
}

static void
test_time(void)
{
	static const struct {
		const char *text;
		int64_t want;
	} rows[] = { { "0s", 0 }, { "1ns", 1 }, { "9us", 9000 },
		{ "8ms", 8000000 }, { "1s", 1000000000 },
		{ "2m", INT64_C(120000000000) },
		{ "1h", INT64_C(3600000000000) }, { "1.5us", 1500 },
		{ ".25s", 250000000 }, { "1.s", 1000000000 },
		{ "0.0009ms", 900 }, { "1.9ns", 1 }, { "-3ms", -3000000 },
		{ "-0.5s", -500000000 }, { "0.9999999999s", 999999999 },
		{ "9223372036854775807ns", INT64_MAX },
		{ "-9223372036854775807ns", -INT64_MAX },
		{ "9223372036.854775807s", INT64_MAX },
		{ "9223372036854775808ns", (int64_t)NONE },
		{ "9223372036.854775808s", (int64_t)NONE },
		{ "18446744073709551616ns", (int64_t)NONE },
		{ "18446744073709551s", (int64_t)NONE },
		{ "18446744073709.551615ms", (int64_t)NONE },
		{ "18446744073.709551616s", (int64_t)NONE },
		{ "", (int64_t)NONE }, { "s", (int64_t)NONE },
		{ ".s", (int64_t)NONE }, { "1", (int64_t)NONE },
		{ "1k", (int64_t)NONE }, { "1.2.3s", (int64_t)NONE },
		{ "--1s", (int64_t)NONE }, { "1-s", (int64_t)NONE },
		{ "1 s", (int64_t)NONE }, { "1days", (int64_t)NONE } };
	size_t i;

	for (i = 0; i < COUNT(rows); i++) {
		int64_t value = (int64_t)NONE;
		int good = number_time(rows[i].text, &value);

		is_u64((uint64_t)value, (uint64_t)rows[i].want,
		    "'%s' as a time", rows[i].text);
		ok(good == (rows[i].want != (int64_t)NONE),
		    "'%s': whether it is one", rows[i].text);
	}
}

static void
test_percent(void)
{
	static const struct {
		const char *text;
		uint64_t want;
	} rows[] = { { "0%", 0 }, { "1%", 10000000 }, { "12.5%", 125000000 },
		{ "99.9999999%", 999999999 }, { "100%", 1000000000 },
		{ ".5%", 5000000 }, { "100.0000001%", NONE }, { "101%", NONE },
		{ "%", NONE }, { "5", NONE }, { "5%%", NONE }, { "-5%", NONE },
		{ "1.2.3%", NONE }, { "99999999999999999999%", NONE } };
	size_t i;

	for (i = 0; i < COUNT(rows); i++) {
		uint64_t value = NONE;
		int good = number_percent(rows[i].text, &value);

		is_u64(value, rows[i].want, "'%s' as a share", rows[i].text);
		ok(good == (rows[i].want != NONE), "'%s': whether it is one",
		    rows[i].text);
	}
}

/* ------------------------------------------------------------- shown */

static void
test_counts(void)
{
	static const struct {
		int64_t high;
		uint64_t low;
		unsigned decimals;
		const char *want, *raw;
	} rows[] = { { 0, 0, 0, "0", "0" }, { 0, 999, 0, "999", "999" },
		{ 0, 1000, 0, "1,000", "1000" },
		{ 0, 12345, 0, "12,345", "12345" },
		{ 0, 123456, 0, "123,456", "123456" },
		{ 0, 1234567, 0, "1,234,567", "1234567" },
		{ -1, (uint64_t)-999, 0, "-999", "-999" },
		{ -1, (uint64_t)-1000, 0, "-1,000", "-1000" },
		{ INT64_MIN, 0, 0,
		    "-170,141,183,460,469,231,731,687,303,715,884,105,728",
		    "-170141183460469231731687303715884105728" },
		{ 0, 0, 1, "0", "0" }, { 0, 5, 1, "0.5", "0.5" },
		{ 0, 10, 1, "1", "1" }, { 0, 12, 1, "1.2", "1.2" },
		{ 0, 12345, 1, "1,234.5", "1234.5" },
		{ 0, 5, 3, "0.005", "0.005" }, { 0, 123, 3, "0.123", "0.123" },
		{ 0, 1230, 3, "1.23", "1.23" },
		{ 0, 1, 9, "0.000000001", "0.000000001" },
		{ -1, (uint64_t)-5, 2, "-0.05", "-0.05" },
		{ -1, (uint64_t)-50, 2, "-0.5", "-0.5" },
		{ -1, (uint64_t)-123456, 2, "-1,234.56", "-1234.56" },
		{ 0, 100000, 2, "1,000", "1000" } };
	char text[FORMAT_TEXT];
	size_t i;

	for (i = 0; i < COUNT(rows); i++) {
		tel_int128 v = { rows[i].high, rows[i].low };

		is_str(format_decimal(v, rows[i].decimals, 0, text),
		    rows[i].want, "row %zu of counts", i);
		is_str(format_decimal(v, rows[i].decimals, 1, text),
		    rows[i].raw, "the same, raw");
		if (rows[i].decimals == 0)
			is_str(format_count(v, 0, text), rows[i].want,
			    "the same, without decimals");
	}
}

static void
test_values(void)
{
	static const struct {
		int64_t v;
		const char *unit, *want, *edge;
	} rows[] = { { 0, "", "0", "0" }, { 12345, "", "12,345", "12345" },
		{ 12345, "ticks", "12,345 ticks", "12345" },
		{ 1, "fifteen-letters", "1 fifteen-letters", "1" },
		{ 1, "sixteen--letters", "1", "1" }, { 1, "no word", "1", "1" },
		{ 1, "\x7f", "1", "1" }, { 1, "~!", "1 ~!", "1" },
		{ 1, "a\033", "1", "1" }, { 0, "ns", "0 ns", "0 ns" },
		{ 999, "ns", "999 ns", "999 ns" },
		{ 1000, "ns", "1 us", "1 us" },
		{ 12500, "ns", "12.5 us", "12.5 us" },
		{ 999999, "ns", "999.999 us", "999.999 us" },
		{ 1000000, "ns", "1 ms", "1 ms" },
		{ 1000001, "ns", "1.000001 ms", "1.000001 ms" },
		{ 1000000000, "ns", "1 s", "1 s" },
		{ INT64_C(1234000000050), "ns", "1,234.00000005 s",
		    "1,234.00000005 s" },
		{ -12500, "ns", "-12.5 us", "-12.5 us" },
		{ -999, "ns", "-999 ns", "-999 ns" },
		{ INT64_MIN, "ns", "-9,223,372,036.854775808 s",
		    "-9,223,372,036.854775808 s" },
		{ 0, "bytes", "0", "0" }, { 1023, "bytes", "1,023", "1023" },
		{ 1024, "bytes", "1,024 (1.0 KiB)", "1 KiB" },
		{ 1536, "bytes", "1,536 (1.5 KiB)", "1536" },
		{ 65536, "bytes", "65,536 (64.0 KiB)", "64 KiB" },
		{ 1048524, "bytes", "1,048,524 (1023.9 KiB)", "1048524" },
		{ 1048525, "bytes", "1,048,525 (1.0 MiB)", "1048525" },
		{ -2048, "bytes", "-2,048 (-2.0 KiB)", "-2 KiB" },
		{ 3 << 20, "bytes", "3,145,728 (3.0 MiB)", "3 MiB" },
		{ INT64_C(1) << 60, "bytes",
		    "1,152,921,504,606,846,976 (1.0 EiB)", "1 EiB" } };
	static const tel_int128 large = { 4096, 0 };
	char text[FORMAT_TEXT], plain[32];
	size_t i;

	for (i = 0; i < COUNT(rows); i++) {
		tel_int128 v = { rows[i].v < 0 ? -1 : 0, (uint64_t)rows[i].v };

		(void)snprintf(plain, sizeof(plain), "%" PRId64, rows[i].v);
		is_str(format_value(v, rows[i].unit, 0, text), rows[i].want,
		    "row %zu of values", i);
		is_str(format_value(v, rows[i].unit, 1, text), plain,
		    "the same, raw");
		is_str(format_edge(rows[i].v, 0, rows[i].unit, 0, text),
		    rows[i].edge, "the same, an edge");
		is_str(format_edge(rows[i].v, 0, rows[i].unit, 1, text), plain,
		    "the same, raw");
	}
	is_str(format_edge(1500, 3, "bytes", 0, text), "1.5",
	    "an edge with decimals has no unit");
	is_str(format_value(large, "bytes", 0, text),
	    "75,557,863,725,914,323,419,136 (64.0 ZiB)", "2^76 bytes");
	is_str(format_value(large, "ns", 0, text),
	    "75,557,863,725,914,323,419,136 ns", "2^76 ns");
	is_str(format_size(0x1p83, text), "8.0 YiB", "2^83 bytes");
	is_str(format_size(0x1p93, text), "8192.0 YiB", "no larger unit");
	is_str(format_size(-1023, text), "", "less than 1 KiB");
}

static void
test_doubles(void)
{
	static const struct {
		double v;
		const char *unit, *want, *raw;
	} rows[] = { { 0, "", "0", "0" }, { 0.5, "", "0.5", "0.5" },
		{ 99.9994, "", "99.999", "99.9994" },
		{ 100.126, "", "100.13", "100.126" },
		{ 999.5, "", "999.5", "999.5" },
		{ 1000.26, "", "1,000.3", "1000.26" },
		{ -1234567.26, "", "-1,234,567.3", "-1234567.26" },
		{ 1e15, "", "1,000,000,000,000,000", "1e+15" },
		{ 999999999999999, "", "999,999,999,999,999",
		    "999999999999999" },
		{ 123456789012345.5, "", "123,456,789,012,345.5",
		    "123456789012345.5" },
		{ 2e60, "", "0", "2e+60" }, { -2e60, "", "0", "-2e+60" },
		{ 0.1, "", "0.1", "0.1" },
		{ 1.0 / 3, "", "0.333", "0.3333333333333333" },
		{ 0.30000000000000004, "", "0.3", "0.30000000000000004" },
		{ 12, "bytes", "12", "12" }, { 0, "ns", "0 ns", "0" },
		{ 999, "ns", "999 ns", "999" }, { 1000, "ns", "1 us", "1000" },
		{ 1500, "ns", "1.5 us", "1500" },
		{ 2.5e6, "ns", "2.5 ms", "2500000" },
		{ 1e9, "ns", "1 s", "1000000000" },
		{ -1.25e9, "ns", "-1.25 s", "-1250000000" },
		{ 1234.5e9, "ns", "1,234.5 s", "1234500000000" } };
	static const struct {
		double v;
		int decimals;
		const char *want;
	} fixed[] = { { 1234.5, 0, "1,234" }, { 1234.5, 2, "1,234.50" },
		{ -0.125, 3, "-0.125" }, { 2e60, 1, "0.0" },
		{ -2e60, 0, "0" } };
	char text[FORMAT_TEXT];
	size_t i;

	for (i = 0; i < COUNT(rows); i++) {
		is_str(format_double(rows[i].v, rows[i].unit, 0, text),
		    rows[i].want, "row %zu of doubles", i);
		is_str(format_double(rows[i].v, rows[i].unit, 1, text),
		    rows[i].raw, "the same, raw");
		is_str(format_exact(rows[i].v, text), rows[i].raw, "and exact");
	}
	for (i = 0; i < COUNT(fixed); i++)
		is_str(format_fixed(fixed[i].v, fixed[i].decimals, 0, text),
		    fixed[i].want, "row %zu of fixed decimals", i);
	is_str(format_fixed(1234.5, 1, 1, text), "1234.5", "the same, raw");
	is_str(format_exact(format_scaled(12, 0), text), "12", "no decimals");
	is_str(format_exact(format_scaled(12, 3), text), "0.012", "three");
}

static void
test_marks(void)
{
	static const struct {
		double v, most;
		const char *unit, *want;
	} rows[] = { { 0, 4096, "bytes", "0" }, { 12, 0, "", "12" },
		{ 1234.5, 9e9, "", "1,234.5" }, { 512, 1024, "bytes", "512" },
		{ 1024, 2047, "bytes", "1,024" },
		{ 1024, 2048, "bytes", "1 KiB" }, { 1024, 0, "bytes", "1 KiB" },
		{ 1023, 0, "bytes", "1,023" }, { -2048, 0, "bytes", "-2 KiB" },
		{ 524288, 1 << 21, "bytes", "0.5 MiB" },
		{ 0x1p30, 0, "bytes", "1 GiB" },
		{ 0x1p40, 0, "bytes", "1 TiB" },
		{ 0x1p50, 0, "bytes", "1 PiB" },
		{ 0x1p71, 0, "bytes", "2,048 EiB" },
		{ 500, 1000, "ns", "0.5 us" }, { 500, 999, "ns", "500 ns" },
		{ 500, 0, "ns", "500 ns" }, { 0.5, 0, "ns", "0.5 ns" },
		{ 2000000, 0, "ns", "2 ms" }, { -3e9, 0, "ns", "-3 s" },
		{ 1e9, 999999999, "ns", "1,000 ms" } };
	static const struct {
		uint32_t billionths;
		const char *want;
	} shares[] = { { 0, "p0" }, { 500000000, "p50" },
		{ 999000000, "p99.9" }, { 1, "p0.0000001" },
		{ 1000000000, "p100" }, { 10000000, "p1" } };
	char text[FORMAT_TEXT];
	size_t i;

	for (i = 0; i < COUNT(rows); i++)
		is_str(format_mark(rows[i].v, rows[i].most, rows[i].unit, 0,
		           text),
		    rows[i].want, "row %zu of marks", i);
	is_str(format_mark(1024, 0, "bytes", 1, text), "1024", "raw");
	for (i = 0; i < COUNT(shares); i++)
		is_str(format_quantile(shares[i].billionths, text),
		    shares[i].want, "row %zu of quantiles", i);
}

int
main(void)
{
	test_parse();
	test_time();
	test_percent();
	test_counts();
	test_values();
	test_doubles();
	test_marks();
	return done();
}
