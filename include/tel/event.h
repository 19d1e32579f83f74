/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tel/event.h - part of libtel, see tel.h for the general rules.
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
 * An event is a view into the reader's buffer: it and everything reached
 * through it is valid until the next call of tel_reader_next() or
 * tel_reader_free() on its reader.
 */
typedef struct tel_event tel_event;
/* Many events at once: tel/run.h. */
typedef struct tel_run tel_run;

/* The event's type; lives until the reader is freed. */
TEL_SINCE_0_1 const tel_type *tel_event_type(const tel_event *event);
/* The event's own clock in ticks. */
TEL_SINCE_0_1 uint64_t tel_event_clock(const tel_event *event);
/*
 * Nonzero when the clock is the time of the event; 0 for a clock of 0 in a
 * format where that means "unknown".
 */
TEL_SINCE_0_1 int tel_event_timed(const tel_event *event);
/*
 * Ticks of the event's clock in a second, as far as it is known so far, from
 * the synchronisation points of its log; 0 when it is unknown.
 */
TEL_SINCE_0_1 double tel_event_tick_rate(const tel_event *event);
/* The offset of the event in its log, in bytes of uncompressed input. */
TEL_SINCE_0_1 uint64_t tel_event_offset(const tel_event *event);
/* The ordinal of the event in its log, from 0. */
TEL_SINCE_0_1 uint64_t tel_event_index(const tel_event *event);
/*
 * The bytes of the event in the log, including header and padding.
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
 * Returns NULL when field i is not a string.
 */
TEL_SINCE_0_1 const char *tel_event_string(const tel_event *event, unsigned i,
    size_t *length);
/*
 * Nonzero when the event has field i.  0: the type does not have it, or it is
 * optional and absent, and its value is 0, or an empty string or list.
 */
TEL_SINCE_0_1 int tel_event_has(const tel_event *event, unsigned i);
/* How many elements the list in field i has; 0 for other fields. */
TEL_SINCE_0_1 size_t tel_event_length(const tel_event *event, unsigned i);
/*
 * Element k, from 0, of the list in field i, as tel_event_u64() and
 * tel_event_string() return values; 0 and NULL when there is none.
 */
TEL_SINCE_0_1 uint64_t tel_event_element(const tel_event *event, unsigned i,
    size_t k);
TEL_SINCE_0_1 const char *tel_event_element_string(const tel_event *event,
    unsigned i, size_t k, size_t *length);
/*
 * The label in force, at the event's clock, for the address in field i; for
 * the number of a thread or a method, its name; for an enum, that of its value.
 * length: set to the number of bytes.
 * Returns NULL when the field has no label, or cannot have one.
 */
TEL_SINCE_0_1 const char *tel_event_label(const tel_event *event, unsigned i,
    size_t *length);

/* ------------------------------------------------------------ allocation */

/* The operation of an allocator that an event records. */
typedef enum tel_alloc_kind {
	TEL_ALLOC_NONE,           /* none: another kind of event */
	TEL_ALLOC_MALLOC,         /* .size bytes are allocated at .address */
	TEL_ALLOC_CALLOC,         /* the same for .count * .size bytes of 0 */
	TEL_ALLOC_ALIGNED,        /* the same at a multiple of .alignment */
	TEL_ALLOC_REALLOC,        /* .old becomes .address, of .size bytes */
	TEL_ALLOC_FREE,           /* .address is freed, or a part of a block */
	TEL_ALLOC_RESERVE,        /* .buffer reserves .size bytes */
	TEL_ALLOC_COMMIT,         /* which become a block at .address */
	TEL_ALLOC_POOL_CREATE,    /* .pool */
	TEL_ALLOC_POOL_DESTROY,   /* .pool, with all its live blocks */
	TEL_ALLOC_BUFFER_CREATE,  /* .buffer, in .pool */
	TEL_ALLOC_BUFFER_DESTROY, /* .buffer */
	TEL_ALLOC_THREAD_END,     /* .thread has ended */
	TEL_ALLOC_POOL_DESCRIBE,  /* fields describe .pool: a pool or arena */
	TEL_ALLOC_PROCESS_END     /* .process has ended, with its live blocks */
} tel_alloc_kind;

/* The function that the program called. */
typedef enum tel_alloc_call {
	TEL_CALL_C,        /* malloc and its relatives, or unknown */
	TEL_CALL_C_SIZED,  /* FREE: free_sized, which is given the size */
	TEL_CALL_CXX,      /* operator new or delete */
	TEL_CALL_CXX_SIZED /* FREE: operator delete that is given the size */
} tel_alloc_call;

/*
 * An operation of an allocator.  Members that the format does not record are 0.
 *
 * Addresses identify blocks, and may be mere identifiers: if a format numbers
 * blocks, the address is the number plus 1, so blocks seem to overlap.  0 is
 * NULL.
 */
typedef struct tel_alloc {
	tel_alloc_kind kind;
	/*
	 * Nonzero: it returned NULL, without effect.  A realloc to 0 bytes that
	 * returned NULL has freed .old, and is not a failure.
	 */
	int failed;
	/*
	 * FREE: nonzero when .size is known.  The freed bytes may then be a
	 * part of a block, at its start or end.
	 */
	int sized;
	uint64_t address;   /* of the block */
	uint64_t old;       /* REALLOC: of the old block; 0: none */
	uint64_t size;      /* in bytes; CALLOC: of each of .count */
	uint64_t count;     /* CALLOC only */
	uint64_t alignment; /* ALIGNED only; any number */
	uint64_t thread;
	uint64_t process; /* each has its own address space */
	uint64_t pool;
	uint64_t buffer;
	uint64_t clock; /* as tel_event_clock() */
	tel_alloc_call call;
	/*
	 * Bytes that it stands for, if it is a sample of allocations: the sum
	 * of all samples estimates the bytes of all allocations.  0: it is none.
	 */
	uint64_t weight;
} tel_alloc;

/*
 * Decodes an event as an operation of an allocator, by the role of its type:
 * that of its format, or the one set by tel_reader_add_role().
 * out: set to the operation; kind is TEL_ALLOC_NONE if there is none.
 * size: sizeof(tel_alloc).  Later releases may add members at its end: a
 *	program that was compiled before gets those that it knows.
 * Returns 1, or 0 for other events.
 */
TEL_SINCE_0_1 int tel_event_alloc(const tel_event *event, tel_alloc *out,
    size_t size);

#ifdef __cplusplus
}
#endif

#endif
