/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/library.h"

#include <dlfcn.h>
#include <string.h>

/*
 * Not in POSIX: for one input after the other, the library is not relocated
 * each time.
 */
#ifndef RTLD_NODELETE
#define RTLD_NODELETE 0
#endif

void *
tel__library_load(const char *file,
    const struct tel__library_function *functions, size_t n, void *into,
    const char **why)
{
	void *handle = dlopen(file, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
	void *address;

	for (size_t i = 0; i < n && handle != NULL; i++) {
		address = dlsym(handle, functions[i].name);
		/* POSIX: it has the representation of a function's address */
		memcpy((char *)into + functions[i].at, &address,
		    sizeof(address));
		if (address == NULL) {
			*why = functions[i].name;
			(void)dlclose(handle);
			return NULL;
		}
	}
	if (handle == NULL) {
		*why = dlerror();
		if (*why == NULL)
			*why = file;
	}
	return handle;
}
