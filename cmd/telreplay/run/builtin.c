/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of built-in allocators, their parameters, and their pages. */
/* for MAP_ANONYMOUS and MAP_NORESERVE, which POSIX.1-2008 lacks */
#define _DEFAULT_SOURCE
#include "telreplay/run/builtin.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include "common/number.h"

/* A parameter's bounds: a few pages, and what any address space has. */
#define BYTES_MIN ((uint64_t)16 << 10)
#define BYTES_MAX ((uint64_t)1 << 40)
/* The default. */
#define EXTEND ((uint64_t)1 << 20)

/* By enum builtin. */
static const tel_pool_table *const tables[] = { NULL, &builtin_null,
	&builtin_bump, &builtin_class, &builtin_null };

#define TABLES (sizeof(tables) / sizeof(tables[0]))

enum builtin
builtin_find(const char *name)
{
	/* as nearly all allocators are called; a pool has another cost */
	if (strcmp(name, "null") == 0)
		return BUILTIN_NULL_MALLOC;
	for (unsigned i = BUILTIN_BUMP; i <= BUILTIN_CLASS; i++)
		if (strcmp(tables[i]->name, name) == 0)
			return (enum builtin)i;
	return BUILTIN_NONE;
}

const tel_pool_table *
builtin_number(unsigned builtin)
{
	return builtin < TABLES ? tables[builtin] : NULL;
}

const char *
builtin_start(const char *parameters, size_t grain, void **state)
{
	static const char word[] = "extend=";
	size_t *s = pages_map_shared(sizeof(*s));
	const char *wrong = NULL;
	uint64_t bytes = EXTEND;

	if (s == NULL)
		return "no memory";
	if (parameters[0] != '\0' &&
	    strncmp(parameters, word, sizeof(word) - 1) != 0)
		wrong = "the only parameter is extend=BYTES";
	else if (parameters[0] != '\0' &&
	    (!number_parse(parameters + sizeof(word) - 1, &bytes) ||
	        bytes < BYTES_MIN || bytes > BYTES_MAX || bytes > SIZE_MAX / 4))
		wrong = "extend is a number of bytes from 16k to 1T";
	*s = ((size_t)bytes + grain - 1) & ~(grain - 1);
	*state = s;
	if (wrong != NULL)
		builtin_end(s);
	return wrong;
}

void
builtin_end(void *state)
{
	pages_unmap(state, sizeof(size_t));
}

void
builtin_drop(void *pool, void *block, size_t size)
{
	(void)pool;
	(void)block;
	(void)size;
}

/* ---------------------------------------------------------------- pages */

static void *
map(size_t size, int flags)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

void *
pages_map(size_t size)
{
	return map(size, MAP_PRIVATE);
}

void *
pages_map_shared(size_t size)
{
	return map(size, MAP_SHARED);
}

void *
pages_map_aligned(size_t size, size_t align)
{
	size_t whole, before;

	if (__builtin_add_overflow(size, align, &whole))
		return NULL;
	unsigned char *p = pages_map(whole);
	if (p == NULL)
		return NULL;
	before = (size_t)(-(uintptr_t)p & (align - 1));
	unsigned char *at = p + before;
	pages_unmap(p, before);
	pages_unmap(at + size, align - before);
	return at;
}

void
pages_unmap(void *pages, size_t size)
{
	if (pages != NULL && size > 0)
		(void)munmap(pages, size);
}
