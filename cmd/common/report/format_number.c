/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers for people. */
#include "format_number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Puts a comma before every third digit from the end, in place. */
static void
format_group(char *text, size_t size)
{
	size_t start = text[0] == '-';
	size_t digits = strspn(text + start, "0123456789");
	size_t commas = digits == 0 ? 0 : (digits - 1) / 3;
	size_t rest = strlen(text) - start - digits, i;

	if (strlen(text) + commas + 1 > size)
		return;
	memmove(text + start + digits + commas, text + start + digits,
	    rest + 1);
	for (i = 0; commas > 0 && i < digits; i++) {
		size_t from = start + digits - 1 - i;

		text[from + commas] = text[from];
		if (i % 3 == 2 && commas > 0) {
			commas--;
			text[from + commas] = ',';
		}
	}
}

char *
format_count(tel_int128 v, int raw, char *buffer)
{
	tel_int128_text(v, buffer);
	if (!raw)
		format_group(buffer, FORMAT_TEXT);
	return buffer;
}

/* Takes zeros off the end of a decimal fraction, and a point with them. */
static void
strip(char *text)
{
	size_t n = strlen(text);

	if (strchr(text, '.') == NULL)
		return;
	while (text[n - 1] == '0')
		n--;
	if (text[n - 1] == '.')
		n--;
	text[n] = '\0';
}

char *
format_digits(tel_int128 v, unsigned decimals, char *buffer)
{
	char text[FORMAT_TEXT], *digits = text;

	tel_int128_text(v, text);
	if (decimals == 0)
		return strcpy(buffer, text);
	digits += text[0] == '-';
	size_t n = strlen(digits);
	if (n <= decimals)
		(void)snprintf(buffer, FORMAT_TEXT, "%s0.%.*s%.40s",
		    text[0] == '-' ? "-" : "", (int)(decimals - n),
		    "000000000000000000", digits);
	else
		(void)snprintf(buffer, FORMAT_TEXT, "%.*s.%.20s",
		    (int)(strlen(text) - decimals), text,
		    digits + n - decimals);
	return buffer;
}

char *
format_decimal(tel_int128 v, unsigned decimals, int raw, char *buffer)
{
	(void)format_digits(v, decimals, buffer);
	strip(buffer);
	if (!raw)
		format_group(buffer, FORMAT_TEXT);
	return buffer;
}

double
format_scaled(double v, unsigned decimals)
{
	double unit = 1;

	while (decimals-- > 0)
		unit *= 10;
	return v / unit;
}

/* A time in the largest unit that it has one of. */
static void
time_text(int64_t ns, char *buffer)
{
	static const struct {
		uint64_t ns;
		int decimals;
		const char *name;
	} units[] = { { 1000000000, 9, "s" }, { 1000000, 6, "ms" },
		{ 1000, 3, "us" }, { 1, 0, "ns" } };
	uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
	size_t i = 0;

	while (i < 3 && size < units[i].ns)
		i++;
	if (units[i].decimals == 0)
		(void)snprintf(buffer, FORMAT_TEXT, "%s%" PRIu64,
		    ns < 0 ? "-" : "", size);
	else
		(void)snprintf(buffer, FORMAT_TEXT, "%s%" PRIu64 ".%0*" PRIu64,
		    ns < 0 ? "-" : "", size / units[i].ns, units[i].decimals,
		    size % units[i].ns);
	strip(buffer);
	format_group(buffer, FORMAT_TEXT);
	(void)strcat(strcat(buffer, " "), units[i].name);
}

char *
format_size(double bytes, char *buffer)
{
	static const char prefixes[] = "KMGTPEZY";
	double size = fabs(bytes);
	size_t i = 0;

	buffer[0] = '\0';
	if (size < 1024)
		return buffer;
	/* 1023.95 and more would be shown as 1024.0 */
	for (size /= 1024; size >= 1023.95 && i < 7; i++)
		size /= 1024;
	(void)snprintf(buffer, FORMAT_TEXT, "%s%.1f %ciB", bytes < 0 ? "-" : "",
	    size, prefixes[i]);
	return buffer;
}

/* Whether a unit, which a log may have given, can be shown as it is. */
static int
format_is_word(const char *unit)
{
	while (*unit > ' ' && *unit < 0x7f)
		unit++;
	return *unit == '\0';
}

char *
format_value(tel_int128 v, const char *unit, int raw, char *buffer)
{
	char size[FORMAT_TEXT];

	if (!raw && strcmp(unit, "ns") == 0 && int128_is_i64(v)) {
		time_text((int64_t)v.low, buffer);
		return buffer;
	}
	format_count(v, raw, buffer);
	if (raw || unit[0] == '\0')
		return buffer;
	if (strcmp(unit, "bytes") == 0) {
		format_size(tel_int128_double(v), size);
		if (size[0] != '\0')
			(void)strcat(strcat(strcat(buffer, " ("), size), ")");
	} else if (strlen(unit) < 16 && format_is_word(unit)) {
		(void)strcat(strcat(buffer, " "), unit);
	}
	return buffer;
}

char *
format_edge(int64_t v, unsigned decimals, const char *unit, int raw,
    char *buffer)
{
	static const char prefixes[] = "KMGTPE";
	int64_t n = v;
	int i = -1;

	if (decimals > 0)
		return format_decimal(int128_i64(v), decimals, 1, buffer);
	if (!raw && strcmp(unit, "ns") == 0) {
		time_text(v, buffer);
		return buffer;
	}
	if (!raw && strcmp(unit, "bytes") == 0 && v != 0)
		for (; n % 1024 == 0 && i < 5; i++)
			n /= 1024;
	if (i >= 0)
		(void)snprintf(buffer, FORMAT_TEXT, "%" PRId64 " %ciB", n,
		    prefixes[i]);
	else
		(void)snprintf(buffer, FORMAT_TEXT, "%" PRId64, v);
	return buffer;
}

char *
format_double(double v, const char *unit, int raw, char *buffer)
{
	static const struct {
		double ns;
		const char *name;
	} units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" } };
	const char *name = "";
	double size = fabs(v);

	if (raw) {
		return format_exact(v, buffer);
	}
	if (strcmp(unit, "ns") == 0) {
		name = "ns";
		for (size_t i = 0; i < 3; i++)
			if (size >= units[i].ns) {
				v /= units[i].ns;
				name = units[i].name;
				break;
			}
		size = fabs(v);
	}
	if (size > 0 && size < 0.01) {
		(void)snprintf(buffer, FORMAT_TEXT, "%.3g", v);
	} else {
		/* larger ones do not need the decimals, nor fit a column */
		(void)snprintf(buffer, FORMAT_TEXT, "%.*f",
		    size >= 1e15     ? 0 :
		        size >= 1000 ? 1 :
		        size >= 100  ? 2 :
		                       3,
		    v < 1e60 && v > -1e60 ? v : 0.0);
		strip(buffer);
		format_group(buffer, FORMAT_TEXT);
	}
	if (name[0] != '\0')
		(void)strcat(strcat(buffer, " "), name);
	return buffer;
}

char *
format_mark(double v, double most, const char *unit, int raw, char *buffer)
{
	static const struct {
		double size;
		const char *name;
	} bytes[] = { { 0x1p60, "EiB" }, { 0x1p50, "PiB" }, { 0x1p40, "TiB" },
		{ 0x1p30, "GiB" }, { 0x1p20, "MiB" }, { 0x1p10, "KiB" } },
	  times[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" }, { 1, "ns" } };
	int ns = strcmp(unit, "ns") == 0;
	const size_t n = ns ? 4 : 6;
	size_t i = 0;

	if (raw || v == 0 || (!ns && strcmp(unit, "bytes") != 0))
		return format_double(v, "", raw, buffer);
	/* 256, 512, 768 and 1,024 rather than 0.25 KiB and so on */
	if (most > 0 && !ns)
		most /= 2;
	if (most <= 0)
		most = fabs(v);
	while (i < n && most < (ns ? times[i].size : bytes[i].size))
		i++;
	if (i == n)
		return format_double(v, unit, raw, buffer);
	(void)snprintf(buffer, FORMAT_TEXT, "%.12g %s",
	    v / (ns ? times[i].size : bytes[i].size),
	    ns ? times[i].name : bytes[i].name);
	format_group(buffer, FORMAT_TEXT);
	return buffer;
}

char *
format_fixed(double v, int decimals, int raw, char *buffer)
{
	(void)snprintf(buffer, FORMAT_TEXT, "%.*f", decimals,
	    v < 1e60 && v > -1e60 ? v : 0.0);
	if (!raw)
		format_group(buffer, FORMAT_TEXT);
	return buffer;
}

char *
format_exact(double v, char *buffer)
{
	for (int digits = 15; digits < 17; digits++) {
		(void)snprintf(buffer, FORMAT_TEXT, "%.*g", digits, v);
		if (strtod(buffer, NULL) == v)
			return buffer;
	}
	(void)snprintf(buffer, FORMAT_TEXT, "%.17g", v);
	return buffer;
}

char *
format_quantile(uint32_t billionths, char *buffer)
{
	(void)snprintf(buffer, FORMAT_TEXT, "p%u.%07u", billionths / 10000000,
	    billionths % 10000000);
	strip(buffer);
	return buffer;
}
