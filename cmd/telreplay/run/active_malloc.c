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

/* A function by its name, of the library at base; or NULL. */
static void *
run_active_malloc_find(const char *name, const void *base)
{
	void *symbol = dlsym(RTLD_DEFAULT, name);
	Dl_info info;

	if (symbol == NULL || dladdr(symbol, &info) == 0 ||
	    info.dli_fbase != base)
		return NULL;
	return symbol;
}

/* ISO C has no cast from an object pointer to a function pointer. */
#define FUNCTION(out, symbol) memcpy(&(out), &(symbol), sizeof(out))

static void
set_release(struct shared *sh, const char *text)
{
	(void)snprintf(sh->release, sizeof(sh->release), "%s", text);
}

static int
ask_jemalloc(struct shared *sh, const void *base)
{
	int (*mallctl)(const char *, void *, size_t *, void *, size_t);
	void *symbol = run_active_malloc_find("mallctl", base);
	const char *text = NULL;
	size_t size = sizeof(text);

	if (symbol == NULL)
		return 0;
	FUNCTION(mallctl, symbol);
	if (mallctl("version", &text, &size, NULL, 0) != 0 || text == NULL)
		return 0;
	set_release(sh, text);
	return 1;
}

/* 209 is 2.0.9. */
static int
ask_mimalloc(struct shared *sh, const void *base)
{
	void *symbol = run_active_malloc_find("mi_version", base);
	int (*version)(void), n;

	if (symbol == NULL)
		return 0;
	FUNCTION(version, symbol);
	n = version();
	if (n >= 100 && n <= 999)
		(void)snprintf(sh->release, sizeof(sh->release), "%d.%d.%d",
		    n / 100, n / 10 % 10, n % 10);
	else
		(void)snprintf(sh->release, sizeof(sh->release), "%d", n);
	return 1;
}

static int
ask_tcmalloc(struct shared *sh, const void *base)
{
	const char *(*version)(int *, int *, const char **);
	void *symbol = run_active_malloc_find("tc_version", base);
	int major, minor;
	const char *text;

	if (symbol == NULL)
		return 0;
	FUNCTION(version, symbol);
	text = version(&major, &minor, NULL);
	set_release(sh, text != NULL ? text : "");
	return 1;
}

static int
ask_glibc(struct shared *sh, const void *base)
{
	void *symbol = run_active_malloc_find("gnu_get_libc_version", base);
	const char *(*version)(void);

	if (symbol == NULL)
		return 0;
	FUNCTION(version, symbol);
	set_release(sh, version());
	return 1;
}

/* For libraries without calloc. */
static void *
made_calloc(size_t count, size_t size)
{
	size_t bytes;
	void *p;

	if (__builtin_mul_overflow(count, size, &bytes))
		return NULL;
	p = malloc(bytes);
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
	set_release(sh, table->release != NULL ? table->release : "");
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
	void *symbol = run_active_malloc_find(name[0], base);

	if (symbol != NULL)
		FUNCTION(a->new, symbol);
	symbol = run_active_malloc_find("_ZdlPv", base);
	if (symbol != NULL)
		FUNCTION(a->delete, symbol);
	symbol = run_active_malloc_find(name[1], base);
	if (symbol != NULL)
		FUNCTION(a->delete_sized, symbol);
	symbol = run_active_malloc_find("free_sized", base);
	if (symbol != NULL)
		FUNCTION(a->free_sized, symbol);
	sh->has_delete = a->new != NULL && a->delete != NULL;
	sh->has_sized = a->delete_sized != NULL || a->free_sized != NULL;
}

void
active_malloc_find(struct shared *sh, struct alloc_functions *a)
{
	void *symbol = dlsym(RTLD_DEFAULT, "malloc");
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
	if (!ask_jemalloc(sh, info.dli_fbase) &&
	    !ask_mimalloc(sh, info.dli_fbase) &&
	    !ask_tcmalloc(sh, info.dli_fbase))
		(void)ask_glibc(sh, info.dli_fbase);
	FUNCTION(a->malloc, symbol);
	symbol = run_active_malloc_find("free", info.dli_fbase);
	if (symbol == NULL) {
		(void)snprintf(sh->wrong, sizeof(sh->wrong),
		    "it defines malloc but not free");
		return;
	}
	FUNCTION(a->free, symbol);
	symbol = run_active_malloc_find("realloc", info.dli_fbase);
	if (symbol == NULL) {
		(void)snprintf(sh->wrong, sizeof(sh->wrong),
		    "it defines malloc but not realloc");
		return;
	}
	FUNCTION(a->realloc, symbol);
	a->calloc = made_calloc;
	symbol = run_active_malloc_find("calloc", info.dli_fbase);
	if (symbol != NULL)
		FUNCTION(a->calloc, symbol);
	a->aligned = made_aligned;
	if (run_active_malloc_find("posix_memalign", info.dli_fbase) != NULL)
		a->aligned = aligned_memory;
	else if ((symbol = run_active_malloc_find("memalign",
	              info.dli_fbase)) != NULL ||
	    (symbol = run_active_malloc_find("aligned_alloc",
	         info.dli_fbase)) != NULL)
		FUNCTION(a->aligned, symbol);
	symbol = run_active_malloc_find("malloc_usable_size", info.dli_fbase);
	if (symbol != NULL)
		FUNCTION(a->usable, symbol);
	find_sized(sh, a, info.dli_fbase);
}
