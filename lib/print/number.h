/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers as text, written straight into a buffer that has room for them.
 * Nothing here asks the locale.
 */
#ifndef TEL_NUMBER_H
#define TEL_NUMBER_H

#include <stdint.h>
#include <string.h>

/* The most that any function here writes, what it writes too much included. */
#define TEL_PUT_MAX 48

/* What is added to a nibble over 9 to reach its letter from '0' + 10. */
enum tel_case { TEL_UPPER = 'A' - '9' - 1, TEL_LOWER = 'a' - '9' - 1 };

/* "00" to "99". */
extern const char tel_pairs[200];
/* 10 to the power of its index. */
extern const uint64_t tel_powers[20];

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

/* How many decimal digits v has: 1233 / 4096 is log10(2), nearly. */
static inline unsigned
tel_digits(uint64_t v)
{
	unsigned n = (64 - (unsigned)__builtin_clzll(v | 1)) * 1233 >> 12;

	return n + (v >= tel_powers[n]) + (v == 0);
}

static inline unsigned char *
tel_put_decimal(unsigned char *p, uint64_t v)
{
	unsigned char *end, *q;

	if (v < 10) {
		*p = (unsigned char)('0' + v);
		return p + 1;
	}
	end = q = p + tel_digits(v);
	while (v >= 100) {
		q -= 2;
		memcpy(q, tel_pairs + v % 100 * 2, 2);
		v /= 100;
	}
	if (v >= 10)
		memcpy(p, tel_pairs + v * 2, 2);
	else
		*p = (unsigned char)('0' + v);
	return end;
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
unsigned char *tel_put_seconds(unsigned char *p, int64_t ns);

/*
 * A double by its bits: the shortest of 15, 16 and 17 digits that reads back
 * as the same bits; "inf", "-inf", "nan", and "nan(0x...)" for a NaN of
 * other bits than 0x7ff8000000000000.
 */
unsigned char *tel_put_double(unsigned char *p, uint64_t bits);

/* As printf's "%.10G" prints it. */
unsigned char *tel_put_double_10(unsigned char *p, uint64_t bits);

/*
 * As printf's "%#8.3g" prints what "%.10G" reads back as: rounded twice, as
 * the MPS's tools do it, each reading what the one before it printed.
 */
unsigned char *tel_put_double_3(unsigned char *p, uint64_t bits);

/* A frequency in hertz with one decimal, for a header. */
unsigned char *tel_put_hertz(unsigned char *p, double hertz);

#endif
