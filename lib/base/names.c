/* SPDX-License-Identifier: BSD-2-Clause */
/* Names: distinct texts, each kept once, and their numbers. */
#include "base/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void
tel__names_clear(struct tel__names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->list[i].text);
	free(names->list);
	tel__index_clear(&names->index);
	memset(names, 0, sizeof(*names));
}

uint32_t
tel__names_add(struct tel__names *names, const char *text, size_t n, size_t max)
{
	struct tel__probe at;
	uint32_t i;

	if (names->count == 0)
		tel__index_init(&names->index);
	const uint64_t hash = tel__hash_bytes(text, n, names->index.seed);
	for (i = tel__index_first(&names->index, hash, &at); i != TEL__NOWHERE;
	     i = tel__index_next(&names->index, &at))
		if (names->list[i].length == n &&
		    memcmp(names->list[i].text, text, n) == 0)
			return i;
	if (names->count >= max ||
	    !TEL__RESERVE(names->list, names->room, names->count + 1))
		return TEL__NOWHERE;
	char *copy = tel__copy_string(text, n);
	if (copy == NULL ||
	    !tel__index_add(&names->index, hash, (uint32_t)names->count)) {
		free(copy);
		return TEL__NOWHERE;
	}
	names->list[names->count] = (struct tel__name){ copy, n };
	return (uint32_t)names->count++;
}
