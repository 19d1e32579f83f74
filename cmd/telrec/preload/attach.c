/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls that the dynamic linker has not bound to the library, and that are bound
 * again: those of a running program, which telrec has load the library, and call
 * telrec_attach(); and those of modules that are loaded with RTLD_DEEPBIND, which
 * prefer the C library to preloaded ones.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "telrec/preload/bind.h"
#include "telrec/preload/preload.h"

/*
 * The functions of the library, and those that the program has.  Other threads
 * run while they are bound: those that free come first, or blocks that are
 * recorded already would be freed without a record.
 */
static struct bind_hook hooks[] = { { "free", NULL, NULL },
	{ "realloc", NULL, NULL }, { "reallocarray", NULL, NULL },
	{ "munmap", NULL, NULL }, { "mremap", NULL, NULL },
	{ "malloc", NULL, NULL }, { "calloc", NULL, NULL },
	{ "memalign", NULL, NULL }, { "aligned_alloc", NULL, NULL },
	{ "posix_memalign", NULL, NULL }, { "valloc", NULL, NULL },
	{ "pvalloc", NULL, NULL }, { "mmap", NULL, NULL },
	{ "mmap64", NULL, NULL }, { "sbrk", NULL, NULL }, { "brk", NULL, NULL },
	{ "pthread_setname_np", NULL, NULL }, { "prctl", NULL, NULL },
	{ "syscall", NULL, NULL } };
#define NHOOKS (sizeof(hooks) / sizeof(hooks[0]))
#define NFREEING 5 /* of them */

/* Finds the functions of the library.  0: nothing. */
static int
attach_find_own(void)
{
	void *const self = (void *)(uintptr_t)&telrec_attach;
	Dl_info info;
	void *handle;

	if (dladdr(self, &info) == 0 ||
	    (handle = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD)) == NULL)
		return 0;
	for (unsigned i = 0; i < NHOOKS; i++)
		hooks[i].own = dlsym(handle, hooks[i].name);
	return 1;
}

int
telrec_attach(const char *path)
{
	if (!attach_find_own())
		return TELREC_ATTACH_FAILED;
	for (unsigned i = 0; i < NHOOKS; i++)
		hooks[i].before = bind_definition(hooks[i].name);
	if (process_is_recorded())
		return TELREC_ATTACH_TWICE;
	hooks_late();
	if (!process_attach(path))
		return TELREC_ATTACH_NO_MEMORY;
	bind_calls(hooks, NFREEING);
	bind_calls(hooks, NHOOKS);
	return TELREC_ATTACHED;
}

#ifdef RTLD_DEEPBIND

static bind_open_fn *real_dlopen;

/* Finds the calls of modules that are bound deeply. */
static void
attach_find_deep(void)
{
	static int found;

	if (__atomic_exchange_n(&found, 1, __ATOMIC_SEQ_CST) ||
	    !attach_find_own())
		return;
	for (unsigned i = 0; i < NHOOKS; i++) {
		/* a program with a function of its own calls that */
		if (bind_definition(hooks[i].name) != hooks[i].own)
			hooks[i].own = NULL;
		hooks[i].before = dlsym(RTLD_NEXT, hooks[i].name);
	}
}

/*
 * Whether a module allocates as all others do: not if it brings its own
 * allocator, or if that of the others is preloaded, too.
 */
static int
attach_shares_allocator(void *module)
{
	for (unsigned i = 0; i < NHOOKS; i++)
		if ((strcmp(hooks[i].name, "malloc") == 0 ||
		        strcmp(hooks[i].name, "free") == 0) &&
		    (hooks[i].own == NULL ||
		        dlsym(module, hooks[i].name) != hooks[i].before))
			return 0;
	return 1;
}

static void *
open_deep(const char *name, int flags)
{
	void *module = real_dlopen(name, flags);

	if (module != NULL) {
		attach_find_deep();
		if (attach_shares_allocator(module))
			bind_loaded(hooks, NHOOKS);
		(void)dlerror(); /* the program must not get it as its own */
	}
	return module;
}

/* What opens a module for a caller. */
static __attribute__((noinline)) bind_open_fn *
attach_opener(const char *name, int flags, const void *caller)
{
	if (real_dlopen == NULL)
		*(void **)&real_dlopen = dlsym(RTLD_NEXT, "dlopen");
	return (flags & RTLD_DEEPBIND) != 0 && process_is_recorded() &&
	        bind_is_found_anyway(name, caller) ?
	    open_deep :
	    real_dlopen;
}

__attribute__((visibility("default"))) void *
dlopen(const char *name, int flags)
{
	/* a jump: to dlopen(), the caller is the module that called this */
	return attach_opener(name, flags, __builtin_return_address(0))(name,
	    flags);
}
#endif
