/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operators new and delete of C++.  Those of the C++ library call malloc() and
 * free(), which are recorded.  Those of an allocator may use its inner
 * functions: then the calls of all modules are bound to the functions here,
 * which record what malloc() and free() do not see.
 *
 * The library exports none of them: a program that has no C++ library when it
 * starts, and loads modules that each bring their own one, would call these.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#include "telrec/preload/bind.h"
#include "telrec/preload/preload.h"
#include "telrec/preload/ring.h"

/* A size_t, as names of C++ functions have it. */
#if UINTPTR_MAX > 0xFFFFFFFFu
#define Z "m"
#else
#define Z "j"
#endif
#define ALIGN "St11align_val_t"
#define NOTHROW "RKSt9nothrow_t"

enum operator{
	NEW,
	NEW_NOTHROW,
	NEW_ALIGN,
	NEW_ALIGN_NOTHROW,
	NEW_ARRAY,
	NEW_ARRAY_NOTHROW,
	NEW_ARRAY_ALIGN,
	NEW_ARRAY_ALIGN_NOTHROW,
	DELETE,
	DELETE_SIZE,
	DELETE_NOTHROW,
	DELETE_ALIGN,
	DELETE_SIZE_ALIGN,
	DELETE_ALIGN_NOTHROW,
	DELETE_ARRAY,
	DELETE_ARRAY_SIZE,
	DELETE_ARRAY_NOTHROW,
	DELETE_ARRAY_ALIGN,
	DELETE_ARRAY_SIZE_ALIGN,
	DELETE_ARRAY_ALIGN_NOTHROW,
	OPERATORS
};

static struct bind_hook operators[OPERATORS];

/* ------------------------------------------------------------------- new */

/*
 * Records a block of an operator, unless it is in one of a function that it
 * called: that is recorded.
 */
static void *
made(void *p, size_t alignment, size_t n)
{
	const uintptr_t at = (uintptr_t)p;

	if (hooks_noticed.start == 0 || at < hooks_noticed.start ||
	    at - hooks_noticed.start > hooks_noticed.bytes)
		hooks_note_new(p, alignment, n);
	/* for an operator that has called this one */
	hooks_noticed.start = at;
	hooks_noticed.bytes = n;
	return p;
}

/*
 * An exception passes through these: none of them has anything to undo.  A
 * macro, as each one calls another function.
 */
#define DEFINE_NEW(name, which, alignment, parameters, arguments) \
	static void *name parameters \
	{ \
		void *(*next)parameters; \
\
		*(void **)&next = operators[which].before; \
		hooks_noticed.start = 0; \
		return made(next arguments, alignment, n); \
	}

DEFINE_NEW(new_one, NEW, 0, (size_t n), (n))
DEFINE_NEW(new_array, NEW_ARRAY, 0, (size_t n), (n))
DEFINE_NEW(new_nothrow, NEW_NOTHROW, 0, (size_t n, const void *t), (n, t))
DEFINE_NEW(new_array_nothrow, NEW_ARRAY_NOTHROW, 0, (size_t n, const void *t),
    (n, t))
DEFINE_NEW(new_align, NEW_ALIGN, a, (size_t n, size_t a), (n, a))
DEFINE_NEW(new_array_align, NEW_ARRAY_ALIGN, a, (size_t n, size_t a), (n, a))
DEFINE_NEW(new_align_nothrow, NEW_ALIGN_NOTHROW, a,
    (size_t n, size_t a, const void *t), (n, a, t))
DEFINE_NEW(new_array_align_nothrow, NEW_ARRAY_ALIGN_NOTHROW, a,
    (size_t n, size_t a, const void *t), (n, a, t))

/* ---------------------------------------------------------------- delete */

/* A free is recorded before it, and not again by what the operator calls. */
#define DEFINE_DELETE(name, which, parameters, arguments) \
	static void name parameters \
	{ \
		void(*next) parameters; \
		struct ring_skip skip; \
\
		*(void **)&next = operators[which].before; \
		if (p == NULL || p == ring_self.skipped) { \
			next arguments; \
			return; \
		} \
		hooks_note_delete(p); \
		skip = ring_skip_free(p); \
		next arguments; \
		ring_skip_end(&skip); \
	}

DEFINE_DELETE(delete_one, DELETE, (void *p), (p))
DEFINE_DELETE(delete_array, DELETE_ARRAY, (void *p), (p))
DEFINE_DELETE(delete_size, DELETE_SIZE, (void *p, size_t n), (p, n))
DEFINE_DELETE(delete_array_size, DELETE_ARRAY_SIZE, (void *p, size_t n), (p, n))
DEFINE_DELETE(delete_nothrow, DELETE_NOTHROW, (void *p, const void *t), (p, t))
DEFINE_DELETE(delete_array_nothrow, DELETE_ARRAY_NOTHROW,
    (void *p, const void *t), (p, t))
DEFINE_DELETE(delete_align, DELETE_ALIGN, (void *p, size_t a), (p, a))
DEFINE_DELETE(delete_array_align, DELETE_ARRAY_ALIGN, (void *p, size_t a),
    (p, a))
DEFINE_DELETE(delete_size_align, DELETE_SIZE_ALIGN,
    (void *p, size_t n, size_t a), (p, n, a))
DEFINE_DELETE(delete_array_size_align, DELETE_ARRAY_SIZE_ALIGN,
    (void *p, size_t n, size_t a), (p, n, a))
DEFINE_DELETE(delete_align_nothrow, DELETE_ALIGN_NOTHROW,
    (void *p, size_t a, const void *t), (p, a, t))
DEFINE_DELETE(delete_array_align_nothrow, DELETE_ARRAY_ALIGN_NOTHROW,
    (void *p, size_t a, const void *t), (p, a, t))

/* --------------------------------------------------------------- binding */

#define OWN(function) (void *)(uintptr_t)function

/* A name, its function, and what the allocator has, which is found later. */
static const struct bind_hook all[OPERATORS] = {
	[NEW] = { "_Znw" Z, OWN(new_one), NULL },
	[NEW_NOTHROW] = { "_Znw" Z NOTHROW, OWN(new_nothrow), NULL },
	[NEW_ALIGN] = { "_Znw" Z ALIGN, OWN(new_align), NULL },
	[NEW_ALIGN_NOTHROW] = { "_Znw" Z ALIGN NOTHROW, OWN(new_align_nothrow),
	    NULL },
	[NEW_ARRAY] = { "_Zna" Z, OWN(new_array), NULL },
	[NEW_ARRAY_NOTHROW] = { "_Zna" Z NOTHROW, OWN(new_array_nothrow),
	    NULL },
	[NEW_ARRAY_ALIGN] = { "_Zna" Z ALIGN, OWN(new_array_align), NULL },
	[NEW_ARRAY_ALIGN_NOTHROW] = { "_Zna" Z ALIGN NOTHROW,
	    OWN(new_array_align_nothrow), NULL },
	[DELETE] = { "_ZdlPv", OWN(delete_one), NULL },
	[DELETE_SIZE] = { "_ZdlPv" Z, OWN(delete_size), NULL },
	[DELETE_NOTHROW] = { "_ZdlPv" NOTHROW, OWN(delete_nothrow), NULL },
	[DELETE_ALIGN] = { "_ZdlPv" ALIGN, OWN(delete_align), NULL },
	[DELETE_SIZE_ALIGN] = { "_ZdlPv" Z ALIGN, OWN(delete_size_align),
	    NULL },
	[DELETE_ALIGN_NOTHROW] = { "_ZdlPv" ALIGN NOTHROW,
	    OWN(delete_align_nothrow), NULL },
	[DELETE_ARRAY] = { "_ZdaPv", OWN(delete_array), NULL },
	[DELETE_ARRAY_SIZE] = { "_ZdaPv" Z, OWN(delete_array_size), NULL },
	[DELETE_ARRAY_NOTHROW] = { "_ZdaPv" NOTHROW, OWN(delete_array_nothrow),
	    NULL },
	[DELETE_ARRAY_ALIGN] = { "_ZdaPv" ALIGN, OWN(delete_array_align),
	    NULL },
	[DELETE_ARRAY_SIZE_ALIGN] = { "_ZdaPv" Z ALIGN,
	    OWN(delete_array_size_align), NULL },
	[DELETE_ARRAY_ALIGN_NOTHROW] = { "_ZdaPv" ALIGN NOTHROW,
	    OWN(delete_array_align_nothrow), NULL },
};

void
operators_begin(void)
{
	struct bind_hook found[OPERATORS];
	unsigned i, used = 0;

	for (i = 0; i < OPERATORS; i++)
		found[i] = all[i];
	if (bind_find(hooks_allocator(), found, OPERATORS) == 0)
		return;
	for (i = 0; i < OPERATORS; i++)
		/* the program may have its own one */
		if (found[i].before == NULL ||
		    bind_definition(found[i].name) != found[i].before)
			found[i].own = NULL;
		else
			used++;
	if (used == 0)
		return;
	for (i = 0; i < OPERATORS; i++)
		operators[i] = found[i];
	hooks_notice();
	bind_calls(operators, OPERATORS);
}
