/* SPDX-License-Identifier: BSD-2-Clause */
/* Arithmetic on 128 bits, and its text. */
#include "base/int128.h"

#include <string.h>

tel_int128
tel__int128_negate(tel_int128 v)
{
	tel_int128 r;

	r.low = ~v.low + 1;
	r.high = (int64_t)(~(uint64_t)v.high + (r.low == 0));
	return r;
}

void
tel__multiply(uint64_t a, uint64_t b, uint64_t *high, uint64_t *low)
{
	/* by halves */
	uint64_t a0 = (uint32_t)a, a1 = a >> 32;
	uint64_t b0 = (uint32_t)b, b1 = b >> 32;
	uint64_t p00 = a0 * b0, p01 = a0 * b1, p10 = a1 * b0;
	uint64_t middle = (p00 >> 32) + (uint32_t)p01 + (uint32_t)p10;

	*low = middle << 32 | (uint32_t)p00;
	*high = a1 * b1 + (p01 >> 32) + (p10 >> 32) + (middle >> 32);
}

int
tel__int128_add_times(tel_int128 *to, tel_int128 v, uint64_t times)
{
	int negative = v.high < 0, wrapped;
	uint64_t high, low, upper, rest;
	tel_int128 product;

	if (times == 1)
		return int128_add(to, v);
	if (negative)
		v = tel__int128_negate(v);
	tel__multiply(v.low, times, &high, &low);
	tel__multiply((uint64_t)v.high, times, &upper, &rest);
	wrapped = upper != 0 || __builtin_add_overflow(high, rest, &high) ||
	    high >> 63;
	product.low = low;
	product.high = (int64_t)high;
	if (negative)
		product = tel__int128_negate(product);
	return int128_add(to, product) | wrapped;
}

/* Divides the four digits of base 2^32 at n by 10^9; returns the rest. */
static uint32_t
take_digits(uint32_t *n)
{
	uint64_t rest = 0;

	for (int i = 3; i >= 0; i--) {
		rest = rest << 32 | n[i];
		n[i] = (uint32_t)(rest / 1000000000);
		rest %= 1000000000;
	}
	return (uint32_t)rest;
}

char *
tel_int128_text(tel_int128 v, char *buffer)
{
	int negative = v.high < 0, i;
	char text[45], *p = text + sizeof(text);
	uint32_t n[4], digits;

	if (negative)
		v = tel__int128_negate(v);
	n[0] = (uint32_t)v.low;
	n[1] = (uint32_t)(v.low >> 32);
	n[2] = (uint32_t)v.high;
	n[3] = (uint32_t)((uint64_t)v.high >> 32);
	*--p = '\0';
	do {
		digits = take_digits(n);
		for (i = 0; i < 9; i++, digits /= 10)
			if (digits > 0 || i == 0 ||
			    (n[0] | n[1] | n[2] | n[3]) != 0)
				*--p = (char)('0' + digits % 10);
	} while ((n[0] | n[1] | n[2] | n[3]) != 0);
	if (negative)
		*--p = '-';
	return memcpy(buffer, p, (size_t)(text + sizeof(text) - p));
}

double
tel_int128_double(tel_int128 v)
{
	int negative = v.high < 0;
	double d;

	if (negative)
		v = tel__int128_negate(v);
	/* a word is rounded to 53 bits, the sum once more */
	d = (double)(uint64_t)v.high * 18446744073709551616.0 + (double)v.low;
	return negative ? -d : d;
}

int
tel__int128_parse(const char *text, const char *end, tel_int128 *out)
{
	int negative = text < end && *text == '-';
	uint64_t high = 0, low = 0, over, rest;

	text += negative;
	if (text == end)
		return 0;
	for (; text < end; text++) {
		if (*text < '0' || *text > '9')
			return 0;
		tel__multiply(high, 10, &over, &rest);
		if (over != 0)
			return 0;
		tel__multiply(low, 10, &over, &low);
		if (__builtin_add_overflow(rest, over, &high) ||
		    (__builtin_add_overflow(low, (uint64_t)(*text - '0'),
		         &low) &&
		        __builtin_add_overflow(high, (uint64_t)1, &high)))
			return 0;
	}
	out->high = (int64_t)high;
	out->low = low;
	if (!negative)
		return high >> 63 == 0;
	*out = tel__int128_negate(*out);
	return out->high < 0 || (high | low) == 0;
}
