/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of built-in allocators, and their parameters. */
#include "pools.h"

#include <stdint.h>
#include <string.h>
#include "common/number.h"

/* A parameter's bounds: a few pages, and what any address space has. */
#define BYTES_MIN ((uint64_t)16 << 10)
#define BYTES_MAX ((uint64_t)1 << 40)
#define PAGE ((uint64_t)4096)

/* By enum built. */
static const tel_pool_table *const tables[] = { NULL, &pool_null, &pool_bump,
	&pool_class, &pool_null };

#define TABLES (sizeof(tables) / sizeof(tables[0]))

enum built
pools_find(const char *name)
{
	unsigned i;

	for (i = BUILT_NULL; i <= BUILT_CLASS; i++)
		if (strcmp(tables[i]->name, name) == 0)
			return (enum built)i;
	return BUILT_NONE;
}

const tel_pool_table *
pools_number(unsigned built)
{
	return built < TABLES ? tables[built] : NULL;
}

const char *
pools_parameter(const char *text, const char *word, size_t *out)
{
	size_t n = strlen(word);
	uint64_t bytes;

	if (text[0] == '\0')
		return NULL;
	if (strncmp(text, word, n) != 0 || text[n] != '=')
		return "the only parameter is extend=BYTES";
	if (!number_parse(text + n + 1, &bytes) || bytes < BYTES_MIN ||
	    bytes > BYTES_MAX || bytes > SIZE_MAX / 4)
		return "extend is a number of bytes from 16k to 1T";
	*out = (size_t)((bytes + PAGE - 1) & ~(PAGE - 1));
	return NULL;
}
