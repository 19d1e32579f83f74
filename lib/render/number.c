/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers as text: doubles, and rare kinds. */
#include "render/number.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"

/* So many digits of v, with the zeros before it. */
static unsigned char *
put_digits(unsigned char *p, uint64_t v, unsigned digits)
{
	for (unsigned i = digits; i > 0; i--) {
		p[i - 1] = (unsigned char)('0' + v % 10);
		v /= 10;
	}
	return p + digits;
}

/* Nine digits of v, under 10^9. */
static unsigned char *
put_nine(unsigned char *p, uint32_t v)
{
	p = tel_put_all_eight(p, v / 10);
	*p++ = (unsigned char)('0' + v % 10);
	return p;
}

unsigned char *
tel__put_seconds(unsigned char *p, int64_t ns)
{
	uint64_t v = (uint64_t)ns;

	if (ns < 0) {
		*p++ = '-';
		v = 0 - v;
	}
	p = tel_put_decimal(p, v / 1000000000u);
	*p++ = '.';
	return put_nine(p, (uint32_t)(v % 1000000000u));
}

/*
 * The date is counted in eras of 400 years that begin on March 1, so that a
 * leap day is the last day of its year (H. Hinnant, "chrono-Compatible
 * Low-Level Date Algorithms").
 */
unsigned char *
tel__put_iso(unsigned char *p, int64_t ns)
{
	const int64_t day = INT64_C(86400000000000);
	int64_t days = ns / day, rest = ns % day;

	if (rest < 0) {
		rest += day;
		days--;
	}
	/* from 0000-03-01 on; 64 bits of nanoseconds are 1677 to 2262 */
	uint64_t z = (uint64_t)(days + 719468);
	uint64_t era = z / 146097;
	uint64_t of_era = z % 146097;
	uint64_t year =
	    (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	uint64_t of_year = of_era - (365 * year + year / 4 - year / 100);
	uint64_t month = (5 * of_year + 2) / 153;
	p = put_digits(p, year + era * 400 + (month >= 10), 4);
	*p++ = '-';
	p = put_digits(p, month < 10 ? month + 3 : month - 9, 2);
	*p++ = '-';
	p = put_digits(p, of_year - (153 * month + 2) / 5 + 1, 2);
	*p++ = 'T';
	uint64_t n = (uint64_t)rest / 1000000000;
	p = put_digits(p, n / 3600, 2);
	*p++ = ':';
	p = put_digits(p, n / 60 % 60, 2);
	*p++ = ':';
	p = put_digits(p, n % 60, 2);
	*p++ = '.';
	p = put_nine(p, (uint32_t)((uint64_t)rest % 1000000000));
	*p++ = 'Z';
	return p;
}

/*
 * Copies what printf made of a finite double, with a point whatever the
 * program's locale has for one (which may be several bytes).
 */
static unsigned char *
copy_plain(unsigned char *p, const char *text)
{
	int point = 0;

	for (; *text != '\0'; text++) {
		if ((*text >= '0' && *text <= '9') || *text == '-' ||
		    *text == '+' || *text == 'e' || *text == 'E') {
			*p++ = (unsigned char)*text;
		} else if (!point) {
			*p++ = '.';
			point = 1;
		}
	}
	return p;
}

static unsigned char *
copy_word(unsigned char *p, const char *word)
{
	size_t n = strlen(word);

	memcpy(p, word, n);
	return p + n;
}

static int
is_finite(uint64_t bits)
{
	return (bits >> 52 & 0x7ff) != 0x7ff;
}

static int
is_nan(uint64_t bits)
{
	return !is_finite(bits) && bits << 12 != 0;
}

/* Infinities and NaNs, as printf writes them with %G and with %g. */
static unsigned char *
put_special(unsigned char *p, uint64_t bits, int upper)
{
	if (bits >> 63)
		*p++ = '-';
	if (is_nan(bits))
		return copy_word(p, upper ? "NAN" : "nan");
	return copy_word(p, upper ? "INF" : "inf");
}

unsigned char *
tel__put_double(unsigned char *p, uint64_t bits)
{
	double d = tel_bits_double(bits);
	char text[TEL_PUT_MAX];

	if (!is_finite(bits)) {
		if (!is_nan(bits))
			return put_special(p, bits, 0);
		p = copy_word(p, "nan");
		if (bits == TEL_PLAIN_NAN)
			return p;
		p = copy_word(p, "(0x");
		p = tel_put_hex(p, bits, TEL_LOWER);
		*p = ')';
		return p + 1;
	}
	/* integers of up to 15 digits, of which there are many */
	if (d > -1e15 && d < 1e15 && d == (double)(int64_t)d &&
	    (bits << 1 != 0 || bits == 0))
		return tel_put_signed(p, (uint64_t)(int64_t)d);
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, d);
		if (tel_double_bits(strtod(text, NULL)) == bits)
			break;
	}
	return copy_plain(p, text);
}

unsigned char *
tel__put_float(unsigned char *p, double d)
{
	const float f = (float)d;
	char text[TEL_PUT_MAX];

	if (!is_finite(tel_double_bits(d)) ||
	    (d > -1e6 && d < 1e6 && d == (double)(int64_t)d))
		return tel__put_double(p, tel_double_bits(d));
	for (int digits = 6; digits <= 9; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, d);
		if (strtof(text, NULL) == f)
			break;
	}
	return copy_plain(p, text);
}

unsigned char *
tel__put_double_10(unsigned char *p, uint64_t bits)
{
	char text[TEL_PUT_MAX];

	if (!is_finite(bits))
		return put_special(p, bits, 1);
	snprintf(text, sizeof(text), "%.10G", tel_bits_double(bits));
	return copy_plain(p, text);
}

unsigned char *
tel__put_double_3(unsigned char *p, uint64_t bits)
{
	char text[TEL_PUT_MAX];
	unsigned char digits[TEL_PUT_MAX], *end;

	if (is_finite(bits)) {
		snprintf(text, sizeof(text), "%.10G", tel_bits_double(bits));
		double d = strtod(text, NULL);
		bits = tel_double_bits(d); /* rounding may reach infinity */
	}
	if (is_finite(bits)) {
		snprintf(text, sizeof(text), "%#.3g", tel_bits_double(bits));
		end = copy_plain(digits, text);
	} else {
		end = put_special(digits, bits, 0);
	}
	size_t n = (size_t)(end - digits);
	while (n < 8) {
		*p++ = ' ';
		n++;
	}
	memcpy(p, digits, (size_t)(end - digits));
	return p + (end - digits);
}

unsigned char *
tel__put_general(unsigned char *p, int digits, double d)
{
	const uint64_t bits = tel_double_bits(d);
	char text[TEL_PUT_MAX];

	if (!is_finite(bits))
		return put_special(p, bits, 0);
	snprintf(text, sizeof(text), "%.*g", digits, d);
	return copy_plain(p, text);
}

unsigned char *
tel__put_hertz(unsigned char *p, double hertz)
{
	char text[TEL_PUT_MAX];

	if (!(hertz < 1e15))
		return tel__put_double(p, tel_double_bits(hertz));
	snprintf(text, sizeof(text), "%.1f", hertz);
	return copy_plain(p, text);
}
