/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/digit.h"

#include <string.h>

void
tel__printable(char *text, size_t size)
{
	size_t n = 0, width = 0;

	while (text[n] != '\0' && width + tel_digit_width(text[n]) < size)
		width += tel_digit_width(text[n++]);
	/* what a stray byte of a character comes behind may be one wide */
	while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80)
		width -= tel_digit_width(text[--n]);
	text[width] = '\0';
	/* from the end, which moves furthest */
	while (n > 0) {
		const char c = text[--n];

		width -= tel_digit_width(c);
		if (tel_digit_width(c) == 1)
			text[width] = c;
		else
			tel_digit_escape(text + width, (unsigned char)c);
	}
}

const char *
tel__digits(const char *p, unsigned base, uint64_t *out)
{
	uint64_t v = 0;

	for (; tel_digit(*p) < base; p++)
		if (__builtin_mul_overflow(v, (uint64_t)base, &v) ||
		    __builtin_add_overflow(v, (uint64_t)tel_digit(*p), &v))
			return NULL;
	*out = v;
	return p;
}

const struct tel_suffix *
tel__suffix_find(const char *p, size_t n)
{
	static const struct tel_suffix suffixes[] = {
		{ "", 1, 0, 0 },
		{ "k", (uint64_t)1 << 10, 0, 0 },
		{ "K", (uint64_t)1 << 10, 0, 0 },
		{ "M", (uint64_t)1 << 20, 0, 0 },
		{ "G", (uint64_t)1 << 30, 0, 0 },
		{ "T", (uint64_t)1 << 40, 0, 0 },
		{ "ns", 1, 1, 0 },
		{ "us", 1000, 1, 0 },
		{ "ms", 1000000, 1, 0 },
		{ "s", 1000000000, 1, 0 },
		{ "m", (uint64_t)60 * 1000000000, 1, 1 },
		{ "h", (uint64_t)3600 * 1000000000, 1, 1 },
	};

	/* as zstd and others have it: KiB, MiB, ... */
	if (n == 3 && p[1] == 'i' && p[2] == 'B' && strchr("kKMGT", p[0]))
		n = 1;
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++)
		if (strlen(suffixes[i].name) == n &&
		    memcmp(suffixes[i].name, p, n) == 0)
			return &suffixes[i];
	return NULL;
}
