/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether what begins with these bytes, packed or not, is an inst stream. */
#include <string.h>

#include "io/input.h"
#include "tel/stats.h"

/* The first line is looked at up to here, if telstat may have written it. */
#define LINE 128

/* Bytes that identify an inst stream: a clock, a blank, and these. */
static const char start[] = "H inst";
#define START (17 + sizeof(start))

/* The start of the first line that tel_stats_write_inst() writes. */
static const char writer[] = " writer=\"teltools ";

static int
begins(const char *p, size_t n)
{
	for (size_t i = 0; i < 16 && i < n; i++)
		if ((p[i] < '0' || p[i] > '9') && (p[i] < 'A' || p[i] > 'F'))
			return 0;
	return n >= START && p[16] == ' ' &&
	    memcmp(p + 17, start, sizeof(start) - 1) == 0;
}

/* The same for a text behind its comments. */
static int
inst_detect_look(const char *p, size_t n, tel_inst_sort *sort)
{
	const size_t length = sizeof(writer) - 1;

	while (n > 0 && *p == '#') {
		const char *lf = memchr(p, '\n', n);

		if (lf == NULL)
			return 0;
		n -= (size_t)(lf + 1 - p);
		p = lf + 1;
	}
	if (!begins(p, n))
		return 0;
	*sort = TEL_INST_LOG;
	for (; n >= length && *p != '\n'; p++, n--)
		if (memcmp(p, writer, length) == 0)
			*sort = TEL_INST_STATS;
	return 1;
}

static int
is_packed(const char *p, size_t n)
{
	static const char *const magics[] = { "\x1f\x8b", "BZh", "\xfd\x37zXZ",
		"\x04\"M\x18", "\x28\xb5\x2f\xfd", "\x5e\x2a\x4d\x18" };

	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++) {
		size_t length = strlen(magics[i]);

		if (n >= length && memcmp(p, magics[i], length) == 0)
			return 1;
	}
	return 0;
}

/* A packed log: its first line, as far as these bytes have it. */
static tel_inst_sort
look_into(const void *bytes, size_t size)
{
	tel_inst_sort sort = TEL_INST_MORE;
	struct tel_input *raw, *in;
	const unsigned char *data = NULL;
	size_t have = 0;

	if (tel__input_memory(bytes, size, TEL_PEEK_MAX, &raw) != TEL_OK)
		return TEL_INST_NONE;
	if (tel__input_unpack(raw, &in) != TEL_OK)
		return TEL_INST_NONE;
	tel_status st = tel__input_is_archive(in) ?
	    TEL_EFORMAT :
	    tel__input_peek(in, LINE, &data, &have);
	const char *p = (const char *)data;
	if (st != TEL_OK && st != TEL_EDAMAGED)
		sort = TEL_INST_NONE;
	else if (have >= LINE || (have > 0 && memchr(p, '\n', have) != NULL))
		sort = inst_detect_look(p, have, &sort) ? sort : TEL_INST_NONE;
	else if (have >= START && *p != '#' && !begins(p, have))
		sort = TEL_INST_NONE;
	tel__input_free(in);
	return sort;
}

tel_inst_sort
tel_inst_probe(const void *bytes, size_t size)
{
	tel_inst_sort sort = TEL_INST_NONE;

	if (inst_detect_look(bytes, size, &sort))
		return sort;
	return is_packed(bytes, size) ? look_into(bytes, size) : TEL_INST_NONE;
}
