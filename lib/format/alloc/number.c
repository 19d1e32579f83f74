/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers in traces of allocators: those that are not in the hot path. */
#include "format/alloc/alloc.h"

int
tel__al_odd_number(const struct al *s, const unsigned char **p, uint64_t *out)
{
	size_t n = al_starts_with(s, *p, "(nil)", 5) ? 5 :
	    al_starts_with(s, *p, "nil", 3)          ? 3 :
	                                               0;

	*out = 0;
	*p += n;
	return n > 0;
}

int
tel__al_long_decimal(const unsigned char **p, uint64_t *out)
{
	const unsigned char *q = *p;
	uint64_t v = 0;
	unsigned d;

	for (; (d = (unsigned)*q - '0') <= 9; q++)
		if (__builtin_mul_overflow(v, (uint64_t)10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)d, &v))
			return 0;
	if (q == *p)
		return 0;
	*p = q;
	*out = v;
	return 1;
}

int
tel__al_seconds(const unsigned char **p, uint64_t *out)
{
	const unsigned char *q = *p;
	uint64_t s, ns = 0, unit = 1000000000;
	unsigned d;

	if (!al_decimal(&q, &s) || *q != '.')
		return 0;
	for (q++; (d = (unsigned)*q - '0') <= 9; q++) {
		unit /= 10;
		ns += d * unit;
	}
	if (__builtin_mul_overflow(s, (uint64_t)1000000000, &s) ||
	    __builtin_add_overflow(s, ns, &s))
		return 0;
	*p = q;
	*out = s;
	return 1;
}
