/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which operands are added up, as what other runs have counted, and are not
 * logs whose events are counted.
 */
#include <stdlib.h>
#include <string.h>

#include "telstat.h"

/* What the first line of an inst stream says when telstat has written it. */
static const char writer[] = " writer=\"teltools ";

static int
is_packed(const unsigned char *p, size_t n)
{
	static const char *const magics[] = { "\x1f\x8b", "BZh", "\xfd\x37zXZ",
		"\x04\"M\x18", "\x28\xb5\x2f\xfd", "\x5e\x2a\x4d\x18" };
	size_t i, length;

	for (i = 0; i < sizeof(magics) / sizeof(magics[0]); i++) {
		length = strlen(magics[i]);
		if (n >= length && memcmp(p, magics[i], length) == 0)
			return 1;
	}
	return 0;
}

/* Nonzero when what a file holds, packed or not, is an inst stream. */
static int
holds_inst(const char *path)
{
	tel_reader *r = tel_reader_new();
	int found;

	found = r != NULL && tel_reader_open_file(r, path) == TEL_OK &&
	    !tel_reader_archive(r) && strcmp(tel_reader_form(r), "inst") == 0;
	tel_reader_free(r);
	return found;
}

static int
has_writer(const unsigned char *p, size_t n)
{
	const size_t length = sizeof(writer) - 1;

	for (; n >= length && *p != '\n'; p++, n--)
		if (memcmp(p, writer, length) == 0)
			return 1;
	return 0;
}

int
telstat_adds(const struct telstat *t, const unsigned char *p, size_t n,
    const char *path)
{
	if (tel_inst_probe(p, n))
		return !t->given || has_writer(p, n);
	if (t->given || path == NULL || n == 0)
		return 0;
	return (is_packed(p, n) || *p == '#') && holds_inst(path);
}
