/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which library serves malloc, by what the loader did, not the command line.
 * A function is only used when it is in the same library as malloc: one that
 * has malloc and free alone must not get blocks of another's realloc.
 */
/* for dladdr and RTLD_DEFAULT, which POSIX.1-2008 lacks */
#define _GNU_SOURCE
#include "telreplay/run/active_malloc.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Sets a function pointer to a function of the library at base.  1, or 0 when
 * that has none.  ISO C has no cast from an object pointer to one.
 */
static int
function_find(void *out, const char *name, const void *base)
{
	void *symbol = dlsym(RTLD_DEFAULT, name);
	Dl_info info;

	if (symbol == NULL || dladdr(symbol, &info) == 0 ||
	    info.dli_fbase != base)
		return 0;
	memcpy(out, &symbol, sizeof(symbol));
	return 1;
}

/* The release of the library at base, by what each of them has for it. */
static void
release_find(struct shared *sh, const void *base)
{
	int (*mallctl)(const char *, void *, size_t *, void *, size_t);
	const char *(*tcmalloc)(int *, int *, const char **);
	const char *(*glibc)(void), *text = NULL;
	int (*mimalloc)(void), n, major, minor;
	size_t size = sizeof(text);

	if (function_find(&mallctl, "mallctl", base)) {
		if (mallctl("version", &text, &size, NULL, 0) != 0)
			text = NULL;
	} else if (function_find(&mimalloc, "mi_version", base)) {
		/* 209 is 2.0.9 */
		n = mimalloc();
		if (n >= 100 && n <= 999)
			(void)snprintf(sh->release, sizeof(sh->release),
			    "%d.%d.%d", n / 100, n / 10 % 10, n % 10);
		else
			(void)snprintf(sh->release, sizeof(sh->release), "%d",
			    n);
	} else if (function_find(&tcmalloc, "tc_version", base)) {
		text = tcmalloc(&major, &minor, NULL);
	} else if (function_find(&glibc, "gnu_get_libc_version", base)) {
		text = glibc();
	}
	if (text != NULL)
		(void)snprintf(sh->release, sizeof(sh->release), "%s", text);
}

/* For libraries without calloc. */
static void *
made_calloc(size_t count, size_t size)
{
	/* compilers make calloc() of malloc() and memset(): that of another */
	static void *(*const volatile get)(size_t size) = malloc;
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		return NULL;
	void *p = get(bytes);
	if (p != NULL)
		memset(p, 0, bytes);
	return p;
}

static void *
made_aligned(size_t alignment, size_t size)
{
	(void)alignment;
	return malloc(size);
}

/* Unlike aligned_alloc(), posix_memalign() takes any size. */
static void *
aligned_memory(size_t alignment, size_t size)
{
	void *p = NULL;

	if (alignment < sizeof(void *))
		alignment = sizeof(void *);
	return posix_memalign(&p, alignment, size) == 0 ? p : NULL;
}

/* Of a table of an older version, the end is missing. */
static const tel_pool_table *
complete_table(const tel_pool_table *table)
{
	static tel_pool_table whole;

	if (table->version == TEL_POOL_VERSION)
		return table;
	memcpy(&whole, table, offsetof(tel_pool_table, create_as));
	return &whole;
}

static int
find_plugin(struct shared *sh, struct alloc_functions *a)
{
	const tel_pool_table *table = dlsym(RTLD_DEFAULT, TEL_POOL_SYMBOL);
	Dl_info info;

	if (table == NULL || dladdr(table, &info) == 0)
		return 0;
	sh->plugin = 1;
	(void)snprintf(sh->path, sizeof(sh->path), "%s", info.dli_fname);
	if (table->version < 1 || table->version > TEL_POOL_VERSION) {
		(void)snprintf(sh->wrong, sizeof(sh->wrong),
		    "a plug-in for version %u of tel_pool.h, not 1 to %d",
		    table->version, TEL_POOL_VERSION);
		return 1;
	}
	if (table->alloc == NULL || table->free == NULL)
		(void)snprintf(sh->wrong, sizeof(sh->wrong),
		    "a plug-in without alloc or free");
	(void)snprintf(sh->name, sizeof(sh->name), "%s",
	    table->name != NULL ? table->name : "");
	(void)snprintf(sh->release, sizeof(sh->release), "%s",
	    table->release != NULL ? table->release : "");
	a->pool = complete_table(table);
	return 1;
}

/* The functions of C++ and C23, which are optional. */
static void
find_sized(struct shared *sh, struct alloc_functions *a, const void *base)
{
	/* mangled names have the type of a size: unsigned long, or unsigned */
	static const char *const names[2][2] = { { "_Znwj", "_ZdlPvj" },
		{ "_Znwm", "_ZdlPvm" } };
	const char *const *name = names[sizeof(size_t) == sizeof(uint64_t)];

	(void)function_find(&a->new, name[0], base);
	(void)function_find(&a->delete, "_ZdlPv", base);
	(void)function_find(&a->delete_sized, name[1], base);
	(void)function_find(&a->free_sized, "free_sized", base);
	sh->has_delete = a->new != NULL && a->delete != NULL;
	sh->has_sized = a->delete_sized != NULL || a->free_sized != NULL;
}

void
active_malloc_find(struct shared *sh, struct alloc_functions *a)
{
	void *symbol = dlsym(RTLD_DEFAULT, "malloc");
	const char *lacks = NULL;
	Dl_info info;

	memset(a, 0, sizeof(*a));
	if (find_plugin(sh, a))
		return;
	if (symbol == NULL || dladdr(symbol, &info) == 0) {
		(void)snprintf(sh->wrong, sizeof(sh->wrong),
		    "the loader does not report which library provides malloc");
		return;
	}
	(void)snprintf(sh->path, sizeof(sh->path), "%s", info.dli_fname);
	const void *base = info.dli_fbase;
	release_find(sh, base);
	memcpy(&a->malloc, &symbol, sizeof(symbol));
	if (!function_find(&a->free, "free", base))
		lacks = "free";
	else if (!function_find(&a->realloc, "realloc", base))
		lacks = "realloc";
	if (lacks != NULL) {
		(void)snprintf(sh->wrong, sizeof(sh->wrong),
		    "it defines malloc but not %s", lacks);
		return;
	}
	if (!function_find(&a->calloc, "calloc", base))
		a->calloc = made_calloc;
	if (function_find(&a->aligned, "posix_memalign", base))
		a->aligned = aligned_memory;
	else if (!function_find(&a->aligned, "memalign", base) &&
	    !function_find(&a->aligned, "aligned_alloc", base))
		a->aligned = made_aligned;
	(void)function_find(&a->usable, "malloc_usable_size", base);
	find_sized(sh, a, base);
}
