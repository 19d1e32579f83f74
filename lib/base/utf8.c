/* SPDX-License-Identifier: BSD-2-Clause */
/* The syntax of UTF-8 as RFC 3629, section 4, has it. */
#include "base/utf8.h"

size_t
tel__utf8_length(const unsigned char *s, size_t n)
{
	unsigned char lo = 0x80, hi = 0xbf;

	if (n == 0)
		return 0;
	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	size_t length = s[0] < 0xe0 ? 2 : (s[0] < 0xf0 ? 3 : 4);
	if (length > n)
		return 0;
	switch (s[0]) {
	case 0xe0: lo = 0xa0; break;
	case 0xed: hi = 0x9f; break; /* no surrogates */
	case 0xf0: lo = 0x90; break;
	case 0xf4: hi = 0x8f; break;
	}
	for (size_t i = 1; i < length; i++) {
		if (s[i] < lo || s[i] > hi)
			return 0;
		lo = 0x80;
		hi = 0xbf;
	}
	return length;
}

size_t
tel__utf8_modified(const unsigned char *s, size_t n)
{
	if (n >= 2 && s[0] == 0xc0 && s[1] == 0x80)
		return 2;
	if (n >= 3 && s[0] == 0xed && (s[1] & 0xe0) == 0xa0 &&
	    (s[2] & 0xc0) == 0x80)
		return 3;
	return 0;
}

unsigned char *
tel__utf8_put(unsigned char *p, uint32_t c)
{
	if (c < 0x80) {
		*p++ = (unsigned char)c;
		return p;
	}
	if (c < 0x800) {
		*p++ = (unsigned char)(0xc0 | c >> 6);
	} else {
		if (c < 0x10000) {
			*p++ = (unsigned char)(0xe0 | c >> 12);
		} else {
			*p++ = (unsigned char)(0xf0 | c >> 18);
			*p++ = (unsigned char)(0x80 | (c >> 12 & 0x3f));
		}
		*p++ = (unsigned char)(0x80 | (c >> 6 & 0x3f));
	}
	*p++ = (unsigned char)(0x80 | (c & 0x3f));
	return p;
}
