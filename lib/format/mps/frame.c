/* SPDX-License-Identifier: BSD-2-Clause */
/* Telling whether bytes look like events of a schema. */
#include "format/mps/frame.h"

/* So many frames in a row whose sizes make sense are events. */
#define FRAMES 64

uint32_t
tel__mps_look(const struct tel_schema *s, const unsigned char *p,
    const unsigned char *end)
{
	if ((size_t)(end - p) < s->header)
		return 1;
	const struct tel_type *t = mps_type(s, mps_code(p, s->abi.big));
	uint32_t size = mps_size(p, s->abi.big);
	return t != NULL && tel_size_fits(s, t, size) ? size : 0;
}

int
tel__mps_chain(const struct tel_schema *s, const unsigned char *p,
    const unsigned char *end, int n)
{
	for (int i = 0; i < n; i++) {
		uint32_t size = tel__mps_look(s, p, end);

		if (size == 0)
			return 0;
		if (size == 1 || size > (size_t)(end - p))
			return 1;
		p += size;
	}
	return 1;
}

int
tel__mps_unknown_chain(const struct tel_schema *s, const unsigned char *p,
    const unsigned char *end)
{
	uint32_t size;
	int i, known = 0;

	for (i = 0; (size_t)(end - p) >= s->header; i++, p += size) {
		/* a program may have known events among its own ones */
		size = tel__mps_look(s, p, end);
		known += size != 0;
		if (i == FRAMES || known == 2 || size == 1 ||
		    size > (size_t)(end - p))
			return 1;
		if (size != 0)
			continue;
		size = mps_size(p, s->abi.big);
		if (mps_type(s, mps_code(p, s->abi.big)) != NULL ||
		    size < s->header || size % s->align != 0 ||
		    size > (size_t)(end - p))
			return 0;
	}
	return p == end;
}

int
tel__mps_inside(const struct tel_schema *s, const unsigned char *p,
    uint32_t length, const unsigned char *end, int n)
{
	const unsigned char *q, *limit = p + length;
	uint32_t size;
	int i;

	for (p++; p < limit; p++) {
		for (i = 0, q = p; i < n; i++, q += size) {
			size = tel__mps_look(s, q, end);
			if (size <= 1 || size > (size_t)(end - q))
				break;
		}
		if (i == n && tel__mps_clock_likely(s, p, end))
			return 1;
	}
	return 0;
}

int
tel__mps_clock_likely(const struct tel_schema *s, const unsigned char *p,
    const unsigned char *end)
{
	uint32_t size = tel__mps_look(s, p, end);

	if (size <= 1 || (size_t)(end - p) < (size_t)size + s->header)
		return 1;
	uint64_t a = mps_clock(p, s->header, s->abi.big);
	uint64_t b = mps_clock(p + size, s->header, s->abi.big);
	return a >> 3 <= b && b >> 3 <= a;
}

uint32_t
tel__mps_true_size(const struct tel_schema *s, const unsigned char *p,
    const unsigned char *end)
{
	const struct tel_type *t = mps_type(s, mps_code(p, s->abi.big));

	if (t == NULL)
		return 0;
	if (!t->has_string)
		return t->size;
	const unsigned char *string = p + t->fields[t->nfields - 1].offset;
	if (string >= end)
		return 0;
	size_t room = (size_t)(end - string);
	if (room > TEL_STRING_ROOM)
		room = TEL_STRING_ROOM;
	const unsigned char *nul = memchr(string, 0, room);
	if (nul == NULL)
		return 0;
	return tel_string_size(s, (uint32_t)(string - p),
	    (uint32_t)(nul - string));
}
