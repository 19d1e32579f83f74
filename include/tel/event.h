/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tel/event.h - part of libtel, see tel.h for the rules that hold for all of it.
 *
 * Events: their type, clock, position and fields; what an allocator did.
 */
#ifndef TEL_TEL_EVENT_H
#define TEL_TEL_EVENT_H

#include "tel/schema.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- events */

/*
 * An event is a view into the reader's buffer: it and all that is reached
 * through it is good until the next call of tel_reader_next() or
 * tel_reader_free() on its reader.
 */
typedef struct tel_event tel_event;

/* The event's type; lives until the reader is freed. */
TEL_SINCE_0_1 const tel_type *tel_event_type(const tel_event *event);
/* The event's own clock in ticks. */
TEL_SINCE_0_1 uint64_t tel_event_clock(const tel_event *event);
/*
 * Nonzero when the clock says when the event was; 0 for one whose clock is 0
 * in a format where that says nothing.
 */
TEL_SINCE_0_1 int tel_event_timed(const tel_event *event);
/* Where the event begins in its log, in bytes of uncompressed input. */
TEL_SINCE_0_1 uint64_t tel_event_offset(const tel_event *event);
/* The ordinal of the event in its log, from 0. */
TEL_SINCE_0_1 uint64_t tel_event_index(const tel_event *event);
/*
 * The event as it stands in the log, header and padding included.
 * size: set to the number of bytes; may be NULL.
 */
TEL_SINCE_0_1 const void *tel_event_bytes(const tel_event *event, size_t *size);
/*
 * The value of field i as 64 bits: integers as they are (signed ones
 * sign-extended), booleans as 0 or 1, doubles as their bits.  0 for a
 * string, and for a field that the type does not have.
 */
TEL_SINCE_0_1 uint64_t tel_event_u64(const tel_event *event, unsigned i);
/*
 * The value of field i as a double; integers are converted.  0 for a
 * string, and for a field that the type does not have.
 */
TEL_SINCE_0_1 double tel_event_double(const tel_event *event, unsigned i);
/*
 * The bytes of the string in field i, not NUL-terminated.
 * length: set to their number.
 * Returns NULL when field i is no string.
 */
TEL_SINCE_0_1 const char *tel_event_string(const tel_event *event, unsigned i,
    size_t *length);
/*
 * The label in force, at the event's clock, for the address in field i; for
 * the number of a thread or a method, its name.
 * length: set to the number of bytes.
 * Returns NULL when the field is nothing that has a label, or has none.
 */
TEL_SINCE_0_1 const char *tel_event_label(const tel_event *event, unsigned i,
    size_t *length);

/* ------------------------------------------------------------ allocation */

/* What an event says that an allocator did. */
typedef enum tel_alloc_kind {
	TEL_ALLOC_NONE,           /* nothing: it is about something else */
	TEL_ALLOC_MALLOC,         /* .size bytes begin to live at .address */
	TEL_ALLOC_CALLOC,         /* the same for .count * .size bytes of 0 */
	TEL_ALLOC_ALIGNED,        /* the same at a multiple of .alignment */
	TEL_ALLOC_REALLOC,        /* .old becomes .address, of .size bytes */
	TEL_ALLOC_FREE,           /* .address ends, or a part of a block */
	TEL_ALLOC_RESERVE,        /* .buffer sets .size bytes aside */
	TEL_ALLOC_COMMIT,         /* which begin to live at .address */
	TEL_ALLOC_POOL_CREATE,    /* .pool */
	TEL_ALLOC_POOL_DESTROY,   /* .pool, with all that lives in it */
	TEL_ALLOC_BUFFER_CREATE,  /* .buffer, in .pool */
	TEL_ALLOC_BUFFER_DESTROY, /* .buffer */
	TEL_ALLOC_THREAD_END,     /* .thread will do nothing more */
	TEL_ALLOC_POOL_DESCRIBE   /* fields of the event describe .pool */
} tel_alloc_kind;

/* The functions that an operation was asked for by. */
typedef enum tel_alloc_call {
	TEL_CALL_C,        /* malloc and its relatives, or unknown */
	TEL_CALL_C_SIZED,  /* FREE: free_sized, which is given the size */
	TEL_CALL_CXX,      /* operator new or delete */
	TEL_CALL_CXX_SIZED /* FREE: operator delete that is given the size */
} tel_alloc_call;

/*
 * An operation of an allocator.  What the format does not have is 0.
 *
 * Addresses tell blocks apart, and may be no more than that: blocks that a
 * format numbers have their number and 1 as address, so that they lie closer
 * than they are long.  0 is NULL.
 */
typedef struct tel_alloc {
	tel_alloc_kind kind;
	/*
	 * Nonzero: it returned NULL, and did nothing.  A realloc to 0 bytes
	 * that returned NULL has freed .old, and has not failed.
	 */
	int failed;
	/*
	 * FREE: nonzero when .size is known.  It may then be a part of a
	 * block, at its front or its end, that is freed.
	 */
	int sized;
	uint64_t address;   /* of the block */
	uint64_t old;       /* REALLOC: of the block that was; 0: none */
	uint64_t size;      /* in bytes; CALLOC: of each of .count */
	uint64_t count;     /* CALLOC alone */
	uint64_t alignment; /* ALIGNED alone; may be no power of two */
	uint64_t thread;
	uint64_t process; /* the addresses of each are its own */
	uint64_t pool;
	uint64_t buffer;
	uint64_t clock; /* as tel_event_clock() */
	tel_alloc_call call;
} tel_alloc;

/*
 * What an event means to an allocator, by the role of its type: that of its
 * format, or the one that tel_reader_add_role() gave it.
 * out: set to it, with kind TEL_ALLOC_NONE for nothing.
 * Returns 1, or 0 when it means nothing.
 */
TEL_SINCE_0_1 int tel_event_alloc(const tel_event *event, tel_alloc *out);

#ifdef __cplusplus
}
#endif

#endif
