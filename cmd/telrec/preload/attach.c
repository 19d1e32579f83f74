/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Starting in a running program: telrec has it load the library, and
 * call telrec_attach().  The dynamic linker has bound the program's calls by
 * then: they are bound again, to the library.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

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

int
telrec_attach(const char *path)
{
	void *const self = (void *)(uintptr_t)&telrec_attach;
	Dl_info info;
	void *handle;

	if (dladdr(self, &info) == 0 ||
	    (handle = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD)) == NULL)
		return TELREC_ATTACH_FAILED;
	for (unsigned i = 0; i < NHOOKS; i++) {
		hooks[i].own = dlsym(handle, hooks[i].name);
		hooks[i].before = bind_definition(hooks[i].name);
	}
	if (process_is_recorded())
		return TELREC_ATTACH_TWICE;
	hooks_late();
	if (!process_attach(path))
		return TELREC_ATTACH_NO_MEMORY;
	bind_calls(hooks, NFREEING);
	bind_calls(hooks, NHOOKS);
	return TELREC_ATTACHED;
}
