/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tel_emit.h - libtel-emit: a program writes its own telemetry.
 *
 * Events go into rings, one for each thread and kind, in memory or in a file
 * that outlives the program.  From there they are drained to sinks, as .tel
 * streams.  tel-emit(3) has a worked example.
 *
 * A program lists its event types once, in macros that take a macro:
 *
 *	#define SHOP_KINDS(KIND, X) \
 *		KIND(X, Order, 0, "an order by a customer") \
 *		KIND(X, Stock, 1, "the store")
 *
 *	#define SHOP_EVENTS(EVENT, X) \
 *		EVENT(X, Sale, 0x0001, 1, Order, "somebody bought something") \
 *		EVENT(X, Refill, 0x0002, 0, Stock, "goods came in")
 *
 *	#define EVENT_Sale_PARAMS(PARAM, X) \
 *		PARAM(X, 0, P, basket, "", "the basket", "") \
 *		PARAM(X, 1, U, cents, "cent", "what was paid", "") \
 *		PARAM(X, 2, S, name, "", "the customer", "")
 *	#define EVENT_Refill_PARAMS(PARAM, X) \
 *		PARAM(X, 0, W, pieces, "", "how many", "")
 *
 *	TEL_EVENTS(SHOP)                        in a header
 *	TEL_EVENTS_DEFINE(SHOP, "shop", 1, 0, 0) in one file
 *
 * and emits them by TEL_EVENT3(Sale, basket, cents, name).  Arguments are
 * evaluated only if the kind is on.
 *
 * A column after the name of an event: its code, 1 to 0xBFFF, never reused; 1
 * if the hot variety (TEL_EMIT_HOT) has it, too; its kind; a description.
 * Columns of a parameter: its index from 0; its letter; name; unit; a
 * description; its part in a role: "alloc:address", "alloc:size",
 * "free:address", "start:TYPE" (the key of ranges that TYPE ends) and "finish",
 * and the others of tel-text(5); ":thread" and ":process" without a role.  The
 * letters, and their arguments:
 *
 *	P A   const void *: a pointer; an address in managed memory
 *	W     uintptr_t: sizes, counts, indices
 *	U     unsigned int
 *	S     const char *: at most one, the last; TEL_STRING_MAX bytes of it
 *	D     double
 *	B     int: 0 or not
 *	U8 U16 U32 U64 I16 I32 I64   integers of that width
 *
 * Functions return 0, or -1 with errno set, unless they say otherwise.  They
 * may be called from any thread; those marked AS also from signal handlers.
 * TEL_EVENTn may be used in both.
 */
#ifndef TEL_EMIT_H
#define TEL_EMIT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TEL_EMIT_API __attribute__((visibility("default")))
#else
#error "libtel-emit needs the atomic builtins of gcc or clang"
#endif

#define TEL_STRING_MAX 1024u     /* longer strings are cut */
#define TEL_EMIT_EVENT_MAX 4096u /* bytes of an event in a ring */
#define TEL_EMIT_KINDS 32u /* number of kinds; 0 to 29 are the program's */
#define TEL_KIND_User 30   /* labels */
#define TEL_KIND_Stream 31 /* metadata of the log; always on */

/* --------------------------------------------------------- description */

/* A parameter of an event type. */
typedef struct tel_emit_param {
	const char *letter; /* "P", "U16" */
	const char *name;
	const char *unit; /* "" for none */
	const char *doc;
	const char *role;
	unsigned offset; /* in the event; 0: chosen by the library */
} tel_emit_param;

/* An event type. */
typedef struct tel_emit_type {
	const char *name;
	unsigned code;
	unsigned always; /* 1: the hot variety has it */
	unsigned kind;
	const char *doc;
	const tel_emit_param *params;
	unsigned count; /* of params */
} tel_emit_type;

/* A kind. */
typedef struct tel_emit_kind {
	const char *name;
	unsigned number; /* 0 to 29: its bit in masks */
	const char *doc;
} tel_emit_kind;

/*
 * All types of a program or library.  The version: major changes for changes to
 * everything, median when an event changes its layout or meaning, minor when
 * event types are added.
 */
typedef struct tel_emit_list {
	const char *name;
	unsigned major, median, minor;
	const tel_emit_kind *kinds;
	unsigned kind_count;
	const tel_emit_type *types;
	unsigned type_count;
} tel_emit_list;

/* ------------------------------------------------------- open and close */

/* The clock of events. */
enum tel_emit_clock {
	TEL_EMIT_CLOCK_AUTO,      /* the processor's, if its rate is constant */
	TEL_EMIT_CLOCK_CPU,       /* the processor's counter */
	TEL_EMIT_CLOCK_MONOTONIC, /* clock_gettime(2), nanoseconds */
	TEL_EMIT_CLOCK_NONE       /* none; events get the time of the drain */
};

/* Flags of tel_emit_options. */
enum {
	TEL_EMIT_NO_THREAD = 1, /* no drain thread: tel_emit_flush() drains */
	TEL_EMIT_BLOCK = 2,     /* wait for the drain if a ring is full */
	TEL_EMIT_LEAN = 4,      /* kinds that are off are not recorded either */
	/*
	 * Read the clock for one event in 64, for the first one after an event
	 * of another kind, and after a drain; the others have the time of the
	 * event before.  The events of a thread remain in order.
	 */
	TEL_EMIT_COARSE_CLOCK = 8
};

/* For members that are 0 the library uses its defaults. */
typedef struct tel_emit_options {
	/*
	 * The ring file, which outlives the program; "%p" in it is the process.
	 * NULL: in memory.  An existing file is replaced; a device, a folder or
	 * a pipe is not: EEXIST.
	 */
	const char *ring_file;
	size_t ring_bytes; /* of each ring, a power of 2; default 262,144 */
	unsigned rings;    /* maximal number of rings; default 128 */
	/*
	 * Environment variable with the kinds that are on: TEL_CONTROL.
	 */
	const char *control_env;
	unsigned clock;       /* enum tel_emit_clock */
	unsigned flags;       /* TEL_EMIT_... */
	unsigned interval_ms; /* between drains by the thread; default 20 */
} tel_emit_options;

/*
 * Starts telemetry.  Memory: rings * (ring_bytes + 8 KiB) and 1.1 MiB of
 * address space, committed as it is used, and 2 MiB once there is a sink.
 * options: NULL for the defaults.  list: of the program, or NULL.
 * Errors: EBUSY (already open), EINVAL (the list or an option is invalid: see
 * tel_emit_error()), those of open(2), mmap(2) and
 * pthread_create(3).
 */
TEL_EMIT_API int tel_emit_open(const tel_emit_options *options,
    const tel_emit_list *list);
/*
 * Adds the types of another list, of a library.  It shares the kinds of other
 * lists, by number.  EINVAL, ENOMEM, ENOSPC.
 */
TEL_EMIT_API int tel_emit_register(const tel_emit_list *list);
/*
 * Drains the rings to the sinks.  EBADF: not open.  Other errors: since the
 * last call a sink, not a client of tel_emit_serve(), has failed to take
 * events, which it has lost or still holds: ENOSPC, EPIPE, ENOTCONN (a socket
 * without a peer), ENOBUFS (what it holds has reached the limit), EIO (a
 * function).
 */
TEL_EMIT_API int tel_emit_flush(void);
/*
 * Drains all, ends the streams, and stops.  exit(3) calls it, too.  The ring
 * file stays.
 */
TEL_EMIT_API void tel_emit_close(void);
/*
 * As tel_emit_close().  Returns -1 if a sink has failed since the last call of
 * tel_emit_flush(), as that does.
 */
TEL_EMIT_API int tel_emit_finish(void);
/*
 * After fork(2) the child has rings of its own, and reopens sockets and sinks
 * whose path has "%p".  A process created otherwise must call this first.
 */
TEL_EMIT_API void tel_emit_after_fork(void);
/* The message of this thread's last EINVAL; "" if there was none. */
TEL_EMIT_API const char *tel_emit_error(void);
/*
 * Events lost so far, for any cause: no ring, overwritten, a sink.  Overwritten
 * events count if their kind is on when that is found.  After tel_emit_close(),
 * all that were lost since tel_emit_open().
 */
TEL_EMIT_API uint64_t tel_emit_lost(void);

/* ------------------------------------------------------------- control */

/*
 * Kinds are bits.  All are recorded in the rings, for post-mortem analysis; the
 * sinks get those that are on.  These change that mask, at once in all threads,
 * and return the previous one.  AS, and from a debugger:
 *	(gdb) print tel_control_flip(1 << 3)
 */
TEL_EMIT_API uint32_t tel_control_set(uint32_t kinds);   /* turns on */
TEL_EMIT_API uint32_t tel_control_reset(uint32_t kinds); /* turns off */
TEL_EMIT_API uint32_t tel_control_flip(uint32_t kinds);
TEL_EMIT_API uint32_t tel_control_read(void);
/* Sets which kinds are recorded; these should include all that are on.  AS. */
TEL_EMIT_API uint32_t tel_control_record(uint32_t kinds);
/*
 * Changes control by text: a number, or names in any case and "all", separated
 * by blanks or commas.  A + or - before each turns it on or off; otherwise
 * exactly those are on.  EINVAL: unknown kind.
 */
TEL_EMIT_API int tel_control_text(const char *text);
/*
 * Changes control of another program.  whose: the path of its ring file, or its
 * process id in digits.  ENOENT: no such ring file; ESRCH: it has closed;
 * EINVAL.
 */
TEL_EMIT_API int tel_control_other(const char *whose, const char *text);
/*
 * Lists the kinds of another program, as text that sets them to their state:
 * "+Order,-Stock".  As snprintf(3) does, returns the length, and writes what
 * fits into size bytes; -1 as tel_control_other().
 */
TEL_EMIT_API int tel_control_list(const char *whose, char *text, size_t size);
/*
 * Installs a signal handler: a signal turns all kinds on, and the next one
 * restores the mask.  The previous handler is called, too.
 */
TEL_EMIT_API int tel_control_signal(int signal);

/* --------------------------------------------------------------- sinks */

typedef struct tel_emit_sink tel_emit_sink;

/* Flags of sinks. */
enum {
	TEL_SINK_APPEND = 1, /* append to an existing file */
	TEL_SINK_WAIT = 2,   /* wait for it rather than lose events */
	TEL_WIRE_MPS = 4     /* a stream of the MPS 2.0.0, not .tel */
};

/*
 * In a stream of the MPS, types with codes below 0x100, which are the MPS's
 * own, have this added to their codes, except in a list named "mps", which
 * lists types of the MPS.  Integers become U or W, strings are cut to 255
 * bytes, and an event of more than 288 bytes is lost.
 */
#define TEL_MPS_CODES 0xFE00u

/*
 * A sink gets the events of the kinds in a mask that are on; ~0u for all.  It
 * buffers up to 1 MiB; further events are lost, and counted in the next block.
 * Each returns NULL with errno set on failure.
 */
/* A file.  "%p" in the path is the process. */
TEL_EMIT_API tel_emit_sink *tel_emit_to_file(const char *path, uint32_t kinds,
    unsigned flags);
/* A descriptor of any kind; the caller closes it. */
TEL_EMIT_API tel_emit_sink *tel_emit_to_fd(int fd, uint32_t kinds,
    unsigned flags);
/*
 * Connects to a socket: "unix:PATH" or "tcp:HOST:PORT".  If that fails, or the
 * peer disconnects, it is retried, with a new stream.
 */
TEL_EMIT_API tel_emit_sink *tel_emit_to_socket(const char *address,
    uint32_t kinds, unsigned flags);
/*
 * Listens on a Unix socket, and sends each client a stream from then on; up to
 * 8 at a time.  "telcat -u PATH" is one.  An existing socket is replaced; a
 * file is not: EADDRINUSE.
 */
TEL_EMIT_API tel_emit_sink *tel_emit_serve(const char *path, uint32_t kinds,
    unsigned flags);
/* Memory: the latest complete records, up to size bytes. */
TEL_EMIT_API tel_emit_sink *tel_emit_to_memory(void *memory, size_t size,
    uint32_t kinds);
/* How many bytes are in the memory of such a sink. */
TEL_EMIT_API size_t tel_emit_memory_used(tel_emit_sink *sink);
/*
 * A function, called by the drain with pieces of the stream.  It returns 0,
 * or -1 on failure: then the piece is lost, and counted.  It may emit events,
 * but call no other functions of this library, nor fork(2) or exit(3).
 */
typedef int tel_emit_write_fn(void *arg, const void *bytes, size_t size);
TEL_EMIT_API tel_emit_sink *tel_emit_to_function(tel_emit_write_fn *write,
    void *arg, uint32_t kinds);
/* Changes which kinds a sink gets. */
TEL_EMIT_API int tel_emit_sink_kinds(tel_emit_sink *sink, uint32_t kinds);
/* How many events a sink lost. */
TEL_EMIT_API uint64_t tel_emit_sink_lost(const tel_emit_sink *sink);
/*
 * Drains, ends the sink's stream, and removes the sink.  In a child of fork(2)
 * the sinks that were not opened again are gone: it does nothing with them.
 */
TEL_EMIT_API void tel_emit_sink_close(tel_emit_sink *sink);
/*
 * As tel_emit_sink_close().  Returns -1 if this sink has failed since the last
 * call of tel_emit_flush(), as that does.  EBADF: there is no such sink.
 */
TEL_EMIT_API int tel_emit_sink_finish(tel_emit_sink *sink);

/* ---------------------------------------------- events of other programs */

/* Events of one type, by columns. */
typedef struct tel_emit_part {
	unsigned code;  /* of a registered type without strings */
	unsigned count; /* of the events, at least 1 */
	uint64_t same;  /* bits: the column has one value, of all events */
	/* for each parameter, and then for the thread, the bits of values */
	const uint64_t *const *columns;
	/* NULL, or for each event a label of that parameter, or NULL */
	const char *const *labels;
	unsigned labelled;
} tel_emit_part;

/* A name of a value in label space 2, threads, or 3, processes. */
typedef struct tel_emit_name {
	unsigned space;
	uint64_t value;
	const char *name;
} tel_emit_name;

/* Events that were gathered elsewhere, such as in other processes. */
typedef struct tel_emit_columns {
	unsigned count; /* 1 to TEL_EMIT_COLUMNS_MAX */
	unsigned part_count;
	unsigned name_count;
	const tel_emit_part *parts;
	unsigned clock_count;
	const uint8_t *order; /* of each event: the place of its part */
	/* times of tel_emit_clock(), in order; how many events have each */
	const uint64_t *clocks;
	const uint32_t *shared;
	const tel_emit_name *names;
	uint64_t lost; /* events that were lost before these */
} tel_emit_columns;
#define TEL_EMIT_COLUMNS_MAX 16384u

/*
 * Writes these events to all sinks but streams of the MPS, as one block, before
 * it returns.  EBADF: not open; EINVAL: a code, or a number of events, is
 * wrong; EIO: a sink has not taken them.
 */
TEL_EMIT_API int tel_emit_relay(const tel_emit_columns *events);
/*
 * Names the program and the process that the log is about, if it is not this
 * one.  To be called before the first event.
 */
TEL_EMIT_API void tel_emit_program(const char *program, uint32_t process);
/*
 * Adds an entry to the metadata of the log in the format .tel: a key of up to
 * 31 bytes, a value of up to 95.  To be called after tel_emit_open(), before
 * the first event; entries beyond the eighth are left out.
 */
TEL_EMIT_API void tel_emit_metadata(const char *key, const char *value);

/* --------------------------------------------- names and run-time types */

/*
 * Gives a string a number, the same each time; 0 with errno set when there is
 * no room (1 MiB of strings and types) or telemetry is not open.
 */
TEL_EMIT_API uint64_t tel_intern(const char *string);
/* Labels an address, or a pointer, with an interned string, from now on. */
TEL_EMIT_API void tel_label(const void *address, uint64_t string);
TEL_EMIT_API void tel_label_pointer(const void *pointer, uint64_t string);
/* Names this thread. */
TEL_EMIT_API int tel_thread_name(const char *name);
/* Records the time of day on the events' clock.  AS. */
TEL_EMIT_API void tel_clock_sync(void);
/* The events' clock.  AS. */
TEL_EMIT_API uint64_t tel_emit_clock(void);
/* With TEL_EMIT_COARSE_CLOCK: this thread's next event reads the clock.  AS. */
TEL_EMIT_API void tel_emit_fresh_clock(void);

/*
 * Registers a type while the program runs, for bindings of other languages;
 * code 0 chooses one from 0xC000 on, and offsets are chosen.  Returns the
 * code; the same for the same name and parameters.  -1: EINVAL, ENOMEM,
 * ENOSPC.
 */
TEL_EMIT_API int tel_emit_declare(const tel_emit_type *type);

/* A value of a parameter, by its letter. */
typedef union tel_emit_value {
	uint64_t u;    /* W U U8 to U64 B */
	int64_t i;     /* I16 to I64 */
	const void *p; /* P A */
	double d;      /* D */
	const char *s; /* S */
} tel_emit_value;
/* Emits an event of a registered type.  EINVAL: no such code or count.  AS */
TEL_EMIT_API int tel_emit_values(unsigned code, const tel_emit_value *values,
    unsigned count);

/* ---------------------------------------------------------- after death */

/*
 * Prints the last n events in the rings of this process, as lines of
 * tel-text(5), oldest first; at most 1024.  AS; also from a debugger:
 *	(gdb) print tel_backtrace(2, 50)
 * Returns how many.
 */
TEL_EMIT_API int tel_backtrace(int fd, unsigned n);
/* Prints all events of all rings, ring by ring.  AS. */
TEL_EMIT_API int tel_emit_dump(int fd);
/*
 * Prints a backtrace of n events when the program crashes (SEGV, BUS, ILL,
 * FPE, ABRT), and calls the previous handler.
 */
TEL_EMIT_API int tel_emit_on_crash(int fd, unsigned n);
/* Reports a failed assertion, prints a backtrace, and aborts. */
TEL_EMIT_API __attribute__((noreturn)) void tel_emit_assertion(const char *file,
    int line, const char *text);
#define TEL_ASSERT(condition) \
	((condition) ? (void)0 : \
	               tel_emit_assertion(__FILE__, __LINE__, #condition))

/* ================================================= internals of macros */

/*
 * The first page of the ring file, or of the memory of the rings, through which
 * other processes change control.  See lib/emit/ring.c.
 */
#define TEL__EMIT_PAGE_BYTES 65536u
struct tel__emit_page {
	char magic[8];        /* "\361telring" */
	uint32_t version;     /* 1 */
	uint32_t page_bytes;  /* offset of the names */
	uint32_t names_bytes; /* size of the names; the rings follow */
	uint32_t ring_count;
	uint64_t ring_bytes;  /* of events */
	uint64_t ring_stride; /* distance of rings */
	uint32_t pid;
	uint32_t byte_order; /* 0x01020304 */
	uint64_t region;     /* address of the names, in the process */
	char program[64];
	char schema[48];
	char schema_version[16];
	uint64_t start_clock,
	    start_ns; /* one instant on both clocks; ns from 1970 */
	uint64_t last_clock, last_ns;     /* a later instant */
	uint64_t names_used;              /* bytes of complete names */
	uint64_t dropped[TEL_EMIT_KINDS]; /* events without a ring */
	char kinds[TEL_EMIT_KINDS][24];   /* their names, truncated */
	/* read by each event */
	__attribute__((aligned(64))) uint32_t record; /* kinds */
	uint32_t output;
	/*
	 * The upper half changes when the rings are replaced, the lower one
	 * when coarse clocks are to be read.
	 */
	uint32_t epoch;
	uint32_t clock; /* enum tel_emit_clock, never AUTO */
	uint32_t rings_used;
	uint32_t flags;
	uint32_t drained; /* 1 if there are sinks */
	uint32_t word;    /* bytes of a pointer */
	uint32_t pairing; /* 1 while a thread stores last_clock and last_ns */
	uint32_t timing;  /* clock, or TEL__COARSE */
};
#define TEL__COARSE 4u

#define TEL__RING_MARKS 16u
/*
 * The header of a ring; its events follow.  The low 40 bits of the head are the
 * position of the next event, in words of 8 bytes; the high bits count events.
 */
struct tel__emit_ring {
	uint64_t head;
	uint64_t mask;  /* of words */
	uint64_t cross; /* the bits of a position that select a sixteenth */
	uint64_t tail;  /* the head up to which it was drained */
	uint32_t state, kind, thread, claim;
	/* the head as it was when each sixteenth was entered */
	uint64_t marks[TEL__RING_MARKS];
	uint64_t start; /* the head when this thread claimed it */
	/*
	 * The number of events when the last sixteenth was entered, of which
	 * the head has the low 24 bits.
	 */
	uint64_t events;
	uint64_t start_events; /* the number of events at start */
	uint64_t unused[2];
};
#define TEL__RING_HEADER 256u
#define TEL__RING_ONE ((uint64_t)1 << 40)

/*
 * The first word of an event: tag of its position, flags, size in words, code.
 */
#define TEL__EVENT_WHOLE 0x20000000u
#define TEL__EVENT_OUT 0x10000000u
#define TEL__EVENT_TAG 0x9E3779B1u

/* The rings of a thread. */
struct tel__emit_self {
	uint32_t epoch;
	uint32_t thread;
	/* the last reading of a coarse clock, and the ring that it was for */
	uint64_t ticks;
	struct tel__emit_ring *last;
	struct tel__emit_ring *ring[TEL_EMIT_KINDS];
	uint16_t wait
	    [TEL_EMIT_KINDS]; /* events until it tries again to claim a ring */
};

TEL_EMIT_API extern union tel__emit_shared {
	struct tel__emit_page page;
	char bytes[TEL__EMIT_PAGE_BYTES];
} tel__emit_shared;
TEL_EMIT_API extern __thread struct tel__emit_self tel__emit_self
    __attribute__((tls_model("initial-exec")));

/* Loads a value that other threads may change at any time. */
#define TEL__NOW(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define TEL__LIKELY(x) __builtin_expect(!!(x), 1)

/*
 * Adds, and returns the previous value.  A single instruction, which a signal
 * cannot interrupt; without lock, as only this thread adds.
 */
static inline uint64_t
tel__emit_add(uint64_t *p, uint64_t v)
{
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
	__asm__ __volatile__("xaddq %0, %1" : "+r"(v), "+m"(*p) : : "cc");
	return v;
#else
	return __atomic_fetch_add(p, v, __ATOMIC_RELAXED);
#endif
}

/* An event that is being written. */
struct tel__emit_open {
	uint64_t *
	    words; /* NULL: the reservation is incomplete, or the event is dropped */
	uint64_t
	    head; /* the first word; if words is NULL, the head of the ring */
	struct tel__emit_ring *ring; /* the ring; NULL: none yet */
};

/* Computes address and first word of a reserved event. */
static inline struct tel__emit_open
tel__emit_place(struct tel__emit_ring *ring, uint64_t head, unsigned kind,
    unsigned code, uint64_t words)
{
	struct tel__emit_open open;

#if !defined(__x86_64__)
	/* a reader that sees new bytes sees the new head */
	__atomic_thread_fence(__ATOMIC_RELEASE);
#endif
	open.ring = ring;
	open.words = (uint64_t *)(void *)((char *)ring + TEL__RING_HEADER) +
	    (size_t)(head & ring->mask);
	open.head = (uint64_t)((uint32_t)head * TEL__EVENT_TAG) << 32 |
	    TEL__EVENT_WHOLE |
	    ((TEL__NOW(tel__emit_shared.page.output) >> kind & 1u) << 28) |
	    words << 16 | code;
	return open;
}

/*
 * Reserves an event of a multiple of 8 bytes.  The rare cases are left to
 * tel__emit_slow(), which is called from a cold function: a call here would
 * make every event save registers.
 */
static inline struct tel__emit_open
tel__emit_reserve(unsigned kind, unsigned code, size_t bytes)
{
	struct tel__emit_open open = { NULL, 0, NULL };
	struct tel__emit_ring *ring = tel__emit_self.ring[kind];
	const uint32_t timing = tel__emit_shared.page.timing;
	const uint64_t words = bytes / 8;
	uint64_t head, ticks = 0;

	if (!TEL__LIKELY(ring != NULL &&
	        tel__emit_self.epoch == TEL__NOW(tel__emit_shared.page.epoch)))
		return open;
	head = tel__emit_add(&ring->head, TEL__RING_ONE + words);
	open.ring = ring;
	open.head = head;
	if (!TEL__LIKELY(((head ^ (head + words)) & ring->cross) == 0))
		return open;
#if defined(__x86_64__) || defined(__i386__)
	if (TEL__LIKELY(timing == TEL_EMIT_CLOCK_CPU))
		ticks = __builtin_ia32_rdtsc();
	else
#elif defined(__aarch64__)
	if (TEL__LIKELY(timing == TEL_EMIT_CLOCK_CPU))
		__asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(ticks));
	else
#endif
	    if (timing != TEL_EMIT_CLOCK_NONE) {
		if (timing != TEL__COARSE || tel__emit_self.last != ring ||
		    (head >> 40 & 63) == 0)
			return open;
		ticks = TEL__NOW(tel__emit_self.ticks);
	}
	open = tel__emit_place(ring, head, kind, code, words);
	__atomic_store_n(open.words + 1, ticks, __ATOMIC_RELAXED);
	return open;
}

/* Completes a reservation that tel__emit_reserve() left incomplete.  AS */
TEL_EMIT_API struct tel__emit_open tel__emit_slow(struct tel__emit_open open,
    unsigned kind, unsigned code, size_t bytes);

/* Marks a completely written event as valid. */
static inline void
tel__emit_publish(struct tel__emit_open open)
{
	__atomic_store_n(open.words, open.head, __ATOMIC_RELEASE);
}

/* Copies a string into an event, zero-padded to a multiple of 8. */
TEL_EMIT_API size_t tel__emit_length(const char *s);
TEL_EMIT_API void tel__emit_string(char *to, const char *s, size_t n);

/* The macros behind the lists. */
#define TEL__SIZEOF_EVENT(name) sizeof(struct tel__event_of_##name)

/* In an event, 8 bytes are aligned to 8 on each machine, i386 too. */
#define TEL__ALIGNED_8 __attribute__((aligned(8)))

/*
 * Letters: the class of each one, which selects a macro USE_CLASS, and its C
 * type.
 */
#define TEL__LETTER_P(USE, X, name) USE##_PLAIN(X, const void *, name)
#define TEL__LETTER_A(USE, X, name) USE##_PLAIN(X, const void *, name)
#define TEL__LETTER_W(USE, X, name) USE##_PLAIN(X, uintptr_t, name)
#define TEL__LETTER_U(USE, X, name) USE##_PLAIN(X, unsigned int, name)
#define TEL__LETTER_S(USE, X, name) USE##_STRING(X, const char *, name)
#define TEL__LETTER_D(USE, X, name) USE##_DOUBLE(X, double, name)
#define TEL__LETTER_B(USE, X, name) USE##_BOOLEAN(X, int, name)
#define TEL__LETTER_U8(USE, X, name) USE##_PLAIN(X, uint8_t, name)
#define TEL__LETTER_U16(USE, X, name) USE##_PLAIN(X, uint16_t, name)
#define TEL__LETTER_U32(USE, X, name) USE##_PLAIN(X, uint32_t, name)
#define TEL__LETTER_U64(USE, X, name) USE##_WIDE(X, uint64_t, name)
#define TEL__LETTER_I16(USE, X, name) USE##_PLAIN(X, int16_t, name)
#define TEL__LETTER_I32(USE, X, name) USE##_PLAIN(X, int32_t, name)
#define TEL__LETTER_I64(USE, X, name) USE##_WIDE(X, int64_t, name)

/* Declares an argument. */
#define TEL__ARGUMENT_PLAIN(X, type, name) , type name
#define TEL__ARGUMENT_WIDE TEL__ARGUMENT_PLAIN
#define TEL__ARGUMENT_DOUBLE TEL__ARGUMENT_PLAIN
#define TEL__ARGUMENT_BOOLEAN TEL__ARGUMENT_PLAIN
#define TEL__ARGUMENT_STRING TEL__ARGUMENT_PLAIN

/* Declares a member of the event. */
#define TEL__MEMBER_PLAIN(X, type, name) type name;
#define TEL__MEMBER_WIDE(X, type, name) TEL__ALIGNED_8 type name;
#define TEL__MEMBER_DOUBLE TEL__MEMBER_WIDE
#define TEL__MEMBER_BOOLEAN(X, type, name) uint8_t name;
#define TEL__MEMBER_STRING(X, type, name) char name[8];

/* Computes the size of an event with a string. */
#define TEL__LENGTH_PLAIN(X, type, name)
#define TEL__LENGTH_WIDE TEL__LENGTH_PLAIN
#define TEL__LENGTH_DOUBLE TEL__LENGTH_PLAIN
#define TEL__LENGTH_BOOLEAN TEL__LENGTH_PLAIN
#define TEL__LENGTH_STRING(X, type, name) \
	tel__length = tel__emit_length(name); \
	tel__bytes = \
	    (offsetof(struct tel__event_of_##X, name) + tel__length + 8u) & \
	    ~(size_t)7;

/* Stores an argument in its member. */
#define TEL__STORE_PLAIN(X, type, name) \
	__atomic_store_n(&tel__event->name, name, __ATOMIC_RELAXED);
#define TEL__STORE_WIDE TEL__STORE_PLAIN
#define TEL__STORE_DOUBLE(X, type, name) \
	__atomic_store(&tel__event->name, &name, __ATOMIC_RELAXED);
#define TEL__STORE_BOOLEAN(X, type, name) \
	__atomic_store_n(&tel__event->name, (uint8_t)(name != 0), \
	    __ATOMIC_RELAXED);
#define TEL__STORE_STRING(X, type, name) \
	tel__emit_string(tel__event->name, name, tel__length);

#define TEL__IS_STRING_PLAIN(X, type, name) 0
#define TEL__IS_STRING_WIDE TEL__IS_STRING_PLAIN
#define TEL__IS_STRING_DOUBLE TEL__IS_STRING_PLAIN
#define TEL__IS_STRING_BOOLEAN TEL__IS_STRING_PLAIN
#define TEL__IS_STRING_STRING(X, type, name) 1

#ifdef __cplusplus
#define TEL__CHECK(condition, text) static_assert(condition, text);
#else
#define TEL__CHECK(condition, text) _Static_assert(condition, text);
#endif

#ifdef TEL_EMIT_HOT
#define TEL__EMIT_COOL 0
#else
#define TEL__EMIT_COOL 1
#endif

/* Expansions of each row of the lists. */
#define TEL__KIND_NUMBER(X, name, number, doc) TEL_KIND_##name = (number),
#define TEL__KIND_CHECK(X, name, number, doc) \
	TEL__CHECK((number) >= 0 && (number) < 30, \
	    "the number of kind " #name " is 0 to 29")
#define TEL__KIND_CASE(X, name, number, doc) \
	case (number): \
		return 1;
#define TEL__KIND_ROW(X, name, number, doc) { #name, (number), doc },

#define TEL__PARAM_NUMBER(X, i, letter, name, unit, doc, role) \
	TEL__INDEX_##X##_##name,
#define TEL__PARAM_CHECK(X, i, letter, name, unit, doc, role) \
	TEL__CHECK((i) == (int)TEL__INDEX_##X##_##name, \
	    "parameters of " #X " have indices from 0, in order") \
	TEL__CHECK(!TEL__LETTER_##letter(TEL__IS_STRING, X, name) || \
	        (i) == (int)TEL__COUNT_##X - 1, \
	    "the string of " #X " is its last parameter")
#define TEL__PARAM_MEMBER(X, i, letter, name, unit, doc, role) \
	TEL__LETTER_##letter(TEL__MEMBER, X, name)
#define TEL__PARAM_ARGUMENT(X, i, letter, name, unit, doc, role) \
	TEL__LETTER_##letter(TEL__ARGUMENT, X, name)
#define TEL__PARAM_PASS(X, i, letter, name, unit, doc, role) , name
#define TEL__PARAM_LENGTH(X, i, letter, name, unit, doc, role) \
	TEL__LETTER_##letter(TEL__LENGTH, X, name)
#define TEL__PARAM_STORE(X, i, letter, name, unit, doc, role) \
	TEL__LETTER_##letter(TEL__STORE, X, name)
#define TEL__PARAM_ROW(X, i, letter, name, unit, doc, role) \
	{ #letter, #name, unit, doc, role, \
		(unsigned)offsetof(struct tel__event_of_##X, name) },

#define TEL__EVENT_NUMBERS(X, name, code, always, kind, doc) \
	enum { \
		EVENT_##name##_PARAMS(TEL__PARAM_NUMBER, name) \
		    TEL__COUNT_##name \
	}; \
	enum { \
		TEL_CODE_##name = (code), \
		TEL__KIND_OF_##name = (int)TEL_KIND_##kind, \
		TEL__HERE_##name = TEL__EMIT_COOL || (always) \
	}; \
	TEL__CHECK((code) > 0 && (code) < 0xC000, \
	    "the code of " #name " is 1 to 0xBFFF") \
	TEL__CHECK(TEL__COUNT_##name <= 64, #name " has too many parameters") \
	EVENT_##name##_PARAMS(TEL__PARAM_CHECK, name)
#define TEL__EVENT_CASE(X, name, code, always, kind, doc) \
	case (code): \
		return 1;
#define TEL__EVENT_FUNCTION(X, name, code, always, kind, doc) \
	struct tel__event_of_##name { \
		TEL__ALIGNED_8 uint64_t tel__head, tel__clock; \
		EVENT_##name##_PARAMS(TEL__PARAM_MEMBER, name) \
	}; \
	__attribute__((unused)) static inline void tel__write_##name( \
	    struct tel__emit_open tel__open, \
	    size_t tel__length EVENT_##name##_PARAMS(TEL__PARAM_ARGUMENT, \
	        name)) \
	{ \
		struct tel__event_of_##name *tel__event = \
		    (struct tel__event_of_##name *)(void *)tel__open.words; \
		EVENT_##name##_PARAMS(TEL__PARAM_STORE, name)(void) \
		    tel__event; \
		(void)tel__length; \
		tel__emit_publish(tel__open); \
	} \
	__attribute__((unused, noinline, cold)) static void tel__slow_##name( \
	    struct tel__emit_ring *tel__ring, uint64_t tel__head, \
	    size_t tel__length, \
	    size_t tel__bytes EVENT_##name##_PARAMS(TEL__PARAM_ARGUMENT, \
	        name)) \
	{ \
		struct tel__emit_open tel__open = { NULL, tel__head, \
			tel__ring }; \
		tel__open = tel__emit_slow(tel__open, \
		    (unsigned)TEL__KIND_OF_##name, (code), tel__bytes); \
		if (tel__open.words != NULL) \
			tel__write_##name(tel__open, \
			    tel__length EVENT_##name##_PARAMS(TEL__PARAM_PASS, \
			        name)); \
	} \
	__attribute__((unused)) static inline void tel__emit_##name( \
	    size_t tel__length EVENT_##name##_PARAMS(TEL__PARAM_ARGUMENT, \
	        name)) \
	{ \
		size_t tel__bytes = TEL__SIZEOF_EVENT(name); \
		struct tel__emit_open tel__open; \
		EVENT_##name##_PARAMS(TEL__PARAM_LENGTH, name) tel__open = \
		    tel__emit_reserve((unsigned)TEL__KIND_OF_##name, (code), \
		        tel__bytes); \
		if (TEL__LIKELY(tel__open.words != NULL)) \
			tel__write_##name(tel__open, \
			    tel__length EVENT_##name##_PARAMS(TEL__PARAM_PASS, \
			        name)); \
		else \
			tel__slow_##name(tel__open.ring, tel__open.head, \
			    tel__length, \
			    tel__bytes EVENT_##name##_PARAMS(TEL__PARAM_PASS, \
			        name)); \
	}
#define TEL__EVENT_PARAMS(X, name, code, always, kind, doc) \
	static const tel_emit_param tel__params_of_##name[] = { \
		EVENT_##name##_PARAMS(TEL__PARAM_ROW, name){ NULL, NULL, NULL, \
		    NULL, NULL, 0 } \
	};
#define TEL__EVENT_ROW(X, name, code, always, kind, doc) \
	{ #name, (code), (always), (unsigned)TEL_KIND_##kind, doc, \
		tel__params_of_##name, TEL__COUNT_##name },

/*
 * Expands the lists LIST_KINDS and LIST_EVENTS for TEL_EVENTn and
 * TEL_EVENTS_DEFINE.  Duplicate codes or kinds are compile-time errors.
 */
#define TEL_EVENTS(LIST) \
	enum { LIST##_KINDS(TEL__KIND_NUMBER, LIST) TEL__KINDS_END_##LIST }; \
	LIST##_KINDS(TEL__KIND_CHECK, LIST) \
	    LIST##_EVENTS(TEL__EVENT_NUMBERS, LIST) __attribute__(( \
	        unused)) static inline int tel__kinds_of_##LIST(int kind) \
	{ \
		switch (kind) { \
			LIST##_KINDS(TEL__KIND_CASE, LIST) default : return 0; \
		} \
	} \
	__attribute__((unused)) static inline int tel__codes_of_##LIST( \
	    int code) \
	{ \
		switch (code) { \
			LIST##_EVENTS(TEL__EVENT_CASE, LIST) default \
			    : return 0; \
		} \
	} \
	LIST##_EVENTS(TEL__EVENT_FUNCTION, \
	    LIST) extern const tel_emit_list tel_list_##LIST;

/* Defines tel_list_LIST, for tel_emit_open(), in one file. */
#define TEL_EVENTS_DEFINE(LIST, text, major, median, minor) \
	LIST##_EVENTS(TEL__EVENT_PARAMS, \
	    LIST) static const tel_emit_kind tel__kind_rows_##LIST[] = { \
		LIST##_KINDS(TEL__KIND_ROW, LIST){ NULL, 0, NULL } \
	}; \
	static const tel_emit_type tel__type_rows_##LIST[] = { \
		LIST##_EVENTS(TEL__EVENT_ROW, LIST){ NULL, 0, 0, 0, NULL, \
		    NULL, 0 } \
	}; \
	const tel_emit_list tel_list_##LIST = { text, (major), (median), \
		(minor), tel__kind_rows_##LIST, \
		sizeof(tel__kind_rows_##LIST) / sizeof(tel_emit_kind) - 1, \
		tel__type_rows_##LIST, \
		sizeof(tel__type_rows_##LIST) / sizeof(tel_emit_type) - 1 };

#define TEL__ON(name) \
	(TEL__HERE_##name && \
	    __builtin_expect((TEL__NOW(tel__emit_shared.page.record) >> \
	                             (unsigned)TEL__KIND_OF_##name & \
	                         1u) != 0, \
	        0))
#define TEL__EVENT(name, count, ...) \
	do { \
		TEL__CHECK(TEL__COUNT_##name == count, \
		    #name " has another number of parameters") \
		if (TEL__ON(name)) \
			tel__emit_##name(__VA_ARGS__); \
	} while (0)

#define TEL_EVENT0(name) TEL__EVENT(name, 0, 0)
#define TEL_EVENT1(name, a) TEL__EVENT(name, 1, 0, a)
#define TEL_EVENT2(name, a, b) TEL__EVENT(name, 2, 0, a, b)
#define TEL_EVENT3(name, a, b, c) TEL__EVENT(name, 3, 0, a, b, c)
#define TEL_EVENT4(name, a, b, c, d) TEL__EVENT(name, 4, 0, a, b, c, d)
#define TEL_EVENT5(name, a, b, c, d, e) TEL__EVENT(name, 5, 0, a, b, c, d, e)
#define TEL_EVENT6(name, a, b, c, d, e, f) \
	TEL__EVENT(name, 6, 0, a, b, c, d, e, f)
#define TEL_EVENT7(name, a, b, c, d, e, f, g) \
	TEL__EVENT(name, 7, 0, a, b, c, d, e, f, g)
#define TEL_EVENT8(name, a, b, c, d, e, f, g, h) \
	TEL__EVENT(name, 8, 0, a, b, c, d, e, f, g, h)
#define TEL_EVENT9(name, a, b, c, d, e, f, g, h, i) \
	TEL__EVENT(name, 9, 0, a, b, c, d, e, f, g, h, i)
#define TEL_EVENT10(name, a, b, c, d, e, f, g, h, i, j) \
	TEL__EVENT(name, 10, 0, a, b, c, d, e, f, g, h, i, j)

#ifdef __cplusplus
}
#endif

#endif
