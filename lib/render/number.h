/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers as text, written straight into a buffer that has room for them.
 * Nothing here depends on the locale.
 */
#ifndef TEL_NUMBER_H
#define TEL_NUMBER_H

#include <stdint.h>
#include <string.h>

/* The most that any function here writes, what it writes too much included. */
#define TEL_PUT_MAX 48

/* The NaN that 0.0 / 0.0 is on most machines, except for its sign. */
#define TEL_PLAIN_NAN UINT64_C(0x7ff8000000000000)

/* Added to a nibble over 9 to reach its letter from '0' + 10. */
enum tel_case { TEL_UPPER = 'A' - '9' - 1, TEL_LOWER = 'a' - '9' - 1 };

/* Stores x so that its least significant byte comes first. */
static inline void
tel_put_le64(unsigned char *p, uint64_t x)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	memcpy(p, &x, 8);
#else
	unsigned i;

	for (i = 0; i < 8; i++)
		p[i] = (unsigned char)(x >> (8 * i));
#endif
}

/*
 * Eight hexadecimal digits, all at once in the bytes of a word: halves, then
 * bytes, then nibbles change places while they move apart.
 */
static inline unsigned char *
tel_put_hex8(unsigned char *p, uint32_t v, enum tel_case letters)
{
	const uint64_t ones = 0x0101010101010101u;
	uint64_t x = (uint64_t)(v & 0xffff) << 32 | v >> 16;

	x = (x & 0x000000ff000000ffu) << 16 | (x >> 8 & 0x000000ff000000ffu);
	x = (x & 0x000f000f000f000fu) << 8 | (x >> 4 & 0x000f000f000f000fu);
	x += ones * '0' + ((x + ones * 6) >> 4 & ones) * (uint64_t)letters;
	tel_put_le64(p, x);
	return p + 8;
}

/* Sixteen hexadecimal digits. */
static inline unsigned char *
tel_put_hex16(unsigned char *p, uint64_t v, enum tel_case letters)
{
	tel_put_hex8(p, (uint32_t)(v >> 32), letters);
	return tel_put_hex8(p + 8, (uint32_t)v, letters);
}

/* As many digits as v needs; up to 16 bytes are written whatever v is. */
static inline unsigned char *
tel_put_hex(unsigned char *p, uint64_t v, enum tel_case letters)
{
	unsigned n = (67 - (unsigned)__builtin_clzll(v | 1)) / 4;

	v <<= 64 - 4 * n;
	if (n > 8)
		tel_put_hex8(p + 8, (uint32_t)v, letters);
	tel_put_hex8(p, (uint32_t)(v >> 32), letters);
	return p + n;
}

/*
 * The eight decimal digits of v, under 10^8, as the bytes of a word, the first
 * one the least significant: halves, then quarters, then digits are divided
 * off at once.  1/100 is 10486/2^20 for numbers under 10^4, and 1/10 is
 * 103/2^10 for numbers under 100.
 */
static inline uint64_t
tel_eight_digits(uint32_t v)
{
	uint64_t x = v / 10000 | (uint64_t)(v % 10000) << 32;
	uint64_t high = x * 10486 >> 20 & 0x0000007f0000007fu;

	x = high | (x - high * 100) << 16;
	high = x * 103 >> 10 & 0x000f000f000f000fu;
	return high | (x - high * 10) << 8;
}

/* The same for a number that is not 0, without the zeros before it. */
static inline unsigned char *
tel_put_eight(unsigned char *p, uint32_t v)
{
	uint64_t x = tel_eight_digits(v);
	unsigned shift = (unsigned)__builtin_ctzll(x) & 56;

	tel_put_le64(p, (x | 0x3030303030303030u) >> shift);
	return p + 8 - shift / 8;
}

/* Eight digits of v, under 10^8, with the zeros before it. */
static inline unsigned char *
tel_put_all_eight(unsigned char *p, uint32_t v)
{
	tel_put_le64(p, tel_eight_digits(v) | 0x3030303030303030u);
	return p + 8;
}

/* As many digits as v needs; up to 24 bytes are written whatever v is. */
static inline unsigned char *
tel_put_decimal(unsigned char *p, uint64_t v)
{
	const uint64_t eight = 100000000;

	if (v < 10) {
		*p = (unsigned char)('0' + v);
		return p + 1;
	}
	if (v < eight)
		return tel_put_eight(p, (uint32_t)v);
	uint64_t high = v / eight;
	if (high < eight) {
		p = tel_put_eight(p, (uint32_t)high);
	} else {
		p = tel_put_eight(p, (uint32_t)(high / eight));
		p = tel_put_all_eight(p, (uint32_t)(high % eight));
	}
	return tel_put_all_eight(p, (uint32_t)(v % eight));
}

static inline unsigned char *
tel_put_signed(unsigned char *p, uint64_t v)
{
	if (v >> 63) {
		*p++ = '-';
		v = 0 - v;
	}
	return tel_put_decimal(p, v);
}

/* Nanoseconds as seconds, with nine decimals. */
unsigned char *tel__put_seconds(unsigned char *p, int64_t ns);

/*
 * Nanoseconds since 1970-01-01 00:00 UTC as a date and time of ISO 8601, with
 * nine decimals: 30 bytes.
 */
unsigned char *tel__put_iso(unsigned char *p, int64_t ns);

/*
 * A double by its bits: the shortest of 15, 16 and 17 digits that reads back
 * as the same bits; "inf", "-inf", "nan", and "nan(0x...)" for a NaN of
 * other bits than 0x7ff8000000000000.
 */
unsigned char *tel__put_double(unsigned char *p, uint64_t bits);

/* A float's value: the shortest of 6 to 9 digits that reads back as it. */
unsigned char *tel__put_float(unsigned char *p, double d);

/* As printf's "%.10G" prints it. */
unsigned char *tel__put_double_10(unsigned char *p, uint64_t bits);

/*
 * As printf's "%#8.3g" prints what "%.10G" reads back as: rounded twice, as
 * the MPS's tools do it, each reading what the one before it printed.
 */
unsigned char *tel__put_double_3(unsigned char *p, uint64_t bits);

/* As printf's "%.*g" prints it in the C locale. */
unsigned char *tel__put_general(unsigned char *p, int digits, double d);

/* A frequency in hertz with one decimal, for a header. */
unsigned char *tel__put_hertz(unsigned char *p, double hertz);

#endif
