/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tel_pool.h - the interface of pool allocators for telreplay.
 *
 * A plug-in is a shared library that defines one constant:
 *
 *	#include <tel_pool.h>
 *
 *	const tel_pool_table tel_pool_allocator = {
 *		.version = TEL_POOL_VERSION,
 *		.name = "mine",
 *		.alloc = mine_alloc,
 *		.free = mine_free,
 *	};
 *
 * It is built with "cc -shared -fPIC -o mine.so mine.c", and run with
 * "telreplay -a ./mine.so LOG"; libtel is not needed.  Omitted members are
 * NULL: only .alloc and .free are required.
 *
 * The functions are called while the clock runs, in the order of the events in
 * the log, except start, end, and repeated runs:
 *
 *	start
 *	    create
 *		alloc, free, ..., buffer_create, reserve, commit, ...
 *	    destroy
 *	end
 *
 * start and end are called once in a process, and a repeated run creates its
 * pools again.  An operation without a pool in the log belongs to pool number
 * 0, which is created before the first event and destroyed after the last one,
 * when all of its blocks are freed.  A pool that the log destroys may contain
 * blocks: they are freed with the pool.
 */
#ifndef TEL_POOL_H
#define TEL_POOL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface.  Older ones are accepted, newer are not. */
#define TEL_POOL_VERSION 2

/* The name of the constant that makes a library a plug-in. */
#define TEL_POOL_SYMBOL "tel_pool_allocator"

/*
 * The functions may be called from several threads at once, even on the same
 * pool.  Without it they are called under a lock if a log has several threads;
 * the lock's time is measured, too.
 */
#define TEL_POOL_THREADS 1u

/* Facts about a trace before it is run. */
typedef struct tel_pool_trace {
	uint64_t largest;     /* the most bytes of one block */
	uint64_t peak_bytes;  /* the most live at one time */
	uint64_t peak_blocks; /* and the most blocks */
	uint64_t threads;     /* how many there are */
	uint64_t pools;       /* how many the log creates */
} tel_pool_trace;

typedef struct tel_pool_table {
	uint32_t version;    /* TEL_POOL_VERSION */
	uint32_t flags;      /* TEL_POOL_THREADS, or 0 */
	const char *name;    /* for the report */
	const char *release; /* for the report: a version, or NULL */

	/*
	 * Starts.  parameters: the text behind the colon after the library's
	 * name in -a, or "".  state: set to the pointer that the other
	 * functions get; stays NULL if start is.  The arguments are valid until
	 * end has returned.  Returns NULL, or an error message, which ends the
	 * run.
	 */
	const char *(*start)(const char *parameters,
	    const tel_pool_trace *trace, void **state);
	void (*end)(void *state);

	/*
	 * Creates the pool of the given number, which is 0 or its address in
	 * the log.  Returns it, or NULL, which fails the run.  If create is
	 * NULL there is only one pool, which is state.
	 */
	void *(*create)(void *state, uint64_t number);
	void (*destroy)(void *pool);

	/*
	 * A block of size bytes, size > 0, aligned to 16 bytes, or to size
	 * rounded down to a power of 2 if that is less.  Returns NULL when out
	 * of memory.
	 */
	void *(*alloc)(void *pool, size_t size);
	/* The same, all zero.  NULL: alloc and memset are used. */
	void *(*zeroed)(void *pool, size_t size);
	/*
	 * The same, aligned to a power of 2.  NULL: alloc is used, with its
	 * alignment.
	 */
	void *(*aligned)(void *pool, size_t alignment, size_t size);
	/*
	 * Resizes a block of from bytes to to bytes, from and to > 0, and may
	 * move it.  Returns NULL when out of memory; block is then unchanged.
	 * NULL: alloc, memcpy and free are used.
	 */
	void *(*resize)(void *pool, void *block, size_t from, size_t to);
	/* Frees a block of size bytes. */
	void (*free)(void *pool, void *block, size_t size);
	/*
	 * Frees size bytes at part, a part of a block at its start or at its
	 * end.  The rest is freed later, by free or in further parts. NULL: the
	 * block is freed with its last part.
	 */
	void (*free_part)(void *pool, void *part, size_t size);
	/* The usable size of the block.  NULL: the requested size. */
	size_t (*usable)(void *pool, void *block, size_t size);

	/*
	 * An allocation point: reserve returns memory as alloc does, that is
	 * not yet used; commit makes it a block.  Commit returns nonzero; zero
	 * is a failure.  Without buffer_create, buffer is the pool; without
	 * reserve, alloc is used; without commit nothing is done.
	 */
	void *(*buffer_create)(void *pool);
	void (*buffer_destroy)(void *buffer);
	void *(*reserve)(void *buffer, size_t size);
	int (*commit)(void *buffer, void *block, size_t size);

	/* Since version 2. */

	/*
	 * The same as create, which it replaces, with the log's data on the
	 * pool: the types of the events that describe it and their fields, as
	 * "PoolInitMFS extendBy=4096 extendSelf=0 unitSize=48", then those
	 * that describe what its creation refers to, as its arena; or "".  It
	 * lives as long as state.  Blocks of a described pool may be aligned to
	 * 8 bytes only.
	 */
	void *(
	    *create_as)(void *state, uint64_t number, const char *description);
	/*
	 * Called after a pool was created.  Nonzero: the log's operations in it
	 * are omitted, as the allocator does them itself.
	 */
	int (*internal)(void *pool);
	/*
	 * For allocators that move blocks: where telreplay keeps their
	 * addresses, count of them at first, NULL for none.  Called after
	 * start.  Each block has its address there, from the return of alloc,
	 * resize or commit until free or destroy is called; a function that
	 * moves a block, which must be one of this table, stores its new
	 * address there.  Only traces of one thread can be run this way.
	 */
	void (*roots)(void *state, void **first, size_t count);
} tel_pool_table;

#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
extern const tel_pool_table tel_pool_allocator;

#ifdef __cplusplus
}
#endif

#endif
