/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads and stores of integers in either byte order, at any address. */
#ifndef TEL_BYTES_H
#define TEL_BYTES_H

#include <stdint.h>
#include <string.h>

static inline uint16_t
tel_le16(const unsigned char *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t
tel_le32(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	    (uint32_t)p[3] << 24;
}

static inline uint64_t
tel_le64(const unsigned char *p)
{
	return (uint64_t)tel_le32(p) | (uint64_t)tel_le32(p + 4) << 32;
}

static inline uint16_t
tel_be16(const unsigned char *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t
tel_be32(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
	    (uint32_t)p[2] << 8 | (uint32_t)p[3];
}

static inline uint64_t
tel_be64(const unsigned char *p)
{
	return (uint64_t)tel_be32(p) << 32 | (uint64_t)tel_be32(p + 4);
}

/* Stores the low width bytes of v (1 to 8) in the order asked for. */
static inline void
tel_store(unsigned char *p, uint64_t v, unsigned width, int big)
{
	for (unsigned i = 0; i < width; i++)
		p[big ? width - 1 - i : i] = (unsigned char)(v >> (8 * i));
}

/* The same for eight bytes, and for four, little-endian as most are. */
static inline void
tel_store_le64(unsigned char *p, uint64_t v)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	memcpy(p, &v, 8);
#else
	tel_store(p, v, 8, 0);
#endif
}

static inline void
tel_store_le32(unsigned char *p, uint32_t v)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	memcpy(p, &v, 4);
#else
	tel_store(p, v, 4, 0);
#endif
}

static inline double
tel_bits_double(uint64_t bits)
{
	double d;

	memcpy(&d, &bits, sizeof(d));
	return d;
}

static inline uint64_t
tel_double_bits(double d)
{
	uint64_t bits;

	memcpy(&bits, &d, sizeof(bits));
	return bits;
}

/* The bits of the float that is nearest to a double, by its bits. */
static inline uint32_t
tel_bits_float(uint64_t bits)
{
	float f = (float)tel_bits_double(bits);
	uint32_t out;

	memcpy(&out, &f, sizeof(out));
	return out;
}

/* The bits of the double that a float is, by its bits. */
static inline uint64_t
tel_float_bits(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, sizeof(f));
	return tel_double_bits((double)f);
}

/*
 * Copies bytes, of which there mostly are 16 to 64, as two halves that overlap:
 * a call of memcpy() takes longer, and a loop ends at another place each time.
 */
static inline void
tel_copy_short(unsigned char *to, const unsigned char *from, size_t n)
{
	if (n > 32 && n <= 64) {
		memcpy(to, from, 32);
		memcpy(to + n - 32, from + n - 32, 32);
	} else if (n >= 16 && n <= 32) {
		memcpy(to, from, 16);
		memcpy(to + n - 16, from + n - 16, 16);
	} else {
		memcpy(to, from, n);
	}
}

#endif
