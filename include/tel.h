/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tel.h - libtel, a library that decodes telemetry logs.
 *
 * A log is a stream of events with a schema: the event types, each with
 * fields.  The calls go in this order:
 *
 *	r = tel_reader_new();
 *	tel_reader_set_...(r, ...);
 *	tel_reader_open_file(r, path);
 *	while ((st = tel_reader_next(r, &ev)) == TEL_OK)
 *		... look at *ev, or hand it to a printer ...
 *	tel_reader_free(r);
 *
 * Rules that hold for every function:
 *
 * - A handle belongs to one thread at a time.  Different handles are
 *   independent of each other: the library has no global state.
 * - A pointer that is handed out is borrowed, and is good until the call
 *   that its comment names; the caller frees nothing but what a ..._new
 *   function returned.  Every ..._free function accepts NULL.
 * - The library never prints, never ends the process and never touches
 *   signals.  What is worth telling goes to the function that was given to
 *   tel_reader_set_notify().
 * - Strings from a log are bytes: they may hold anything but NUL, and are
 *   not escaped.  Whoever shows them escapes them.
 */
#ifndef TEL_H
#define TEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TEL_VERSION "0.1.0"

#if defined(__GNUC__)
#define TEL_API __attribute__((visibility("default")))
#define TEL_MUST_USE __attribute__((warn_unused_result))
#else
#define TEL_API
#define TEL_MUST_USE
#endif

/* ------------------------------------------------------------- status */

/*
 * What a call came to.  Zero: it did what was asked.  Positive: it did, and
 * there is something to know.  Negative: it failed; after a failure of
 * tel_reader_next() the reader gives no more events.
 */
typedef enum tel_status {
	TEL_OK = 0,        /* done */
	TEL_END = 1,       /* no more events */
	TEL_LOG = 2,       /* a log of several has ended: go on */
	TEL_ENOMEM = -1,   /* out of memory */
	TEL_EIO = -2,      /* reading or writing failed: see errno text */
	TEL_EINVAL = -3,   /* an argument makes no sense */
	TEL_ESTATE = -4,   /* the call came too early or too late */
	TEL_EFORMAT = -5,  /* the input is no log that libtel knows */
	TEL_EVERSION = -6, /* a newer major version than libtel knows */
	TEL_EDAMAGED = -7, /* damaged input, and strict reading was asked for */
	TEL_ELIMIT = -8    /* a documented limit was passed */
} tel_status;

/*
 * A short text in lower case for a status, without a full stop.
 * status: any value; one that is no tel_status gives "unknown status".
 * Returns a static string, never NULL.
 */
TEL_API const char *tel_status_text(tel_status status);

/* The version of the library that runs, for example "0.1.0"; static. */
TEL_API const char *tel_version(void);

/* ------------------------------------------------------------- schema */

typedef struct tel_schema tel_schema;
typedef struct tel_type tel_type;
typedef struct tel_field tel_field;

/* What a field's value is. */
typedef enum tel_sort {
	TEL_UNSIGNED, /* an unsigned integer: a size, a count, a number */
	TEL_SIGNED,   /* a signed integer */
	TEL_SET,      /* an unsigned integer that is a set of bits */
	TEL_ADDRESS,  /* an address in the memory that is managed */
	TEL_POINTER,  /* a pointer to an object of the system itself */
	TEL_BOOLEAN,  /* 0 or 1 */
	TEL_DOUBLE,   /* IEEE 754 binary64 */
	TEL_STRING    /* bytes up to a NUL, which does not belong to it */
} tel_sort;

/* The name of a sort in lower case, for example "address"; static. */
TEL_API const char *tel_sort_name(tel_sort sort);

/* The field's name; lives as long as its schema. */
TEL_API const char *tel_field_name(const tel_field *field);
/* The field's sort. */
TEL_API tel_sort tel_field_sort(const tel_field *field);
/*
 * The width of the field on the wire in bits: 1 to 64, or 0 for a string,
 * whose width varies.
 */
TEL_API unsigned tel_field_width(const tel_field *field);

/* The type's name, for example "PoolAlloc"; lives as long as its schema. */
TEL_API const char *tel_type_name(const tel_type *type);
/* The type's number on the wire. */
TEL_API uint32_t tel_type_code(const tel_type *type);
/* The name of the type's kind, for example "Pool"; lives as the schema. */
TEL_API const char *tel_type_kind(const tel_type *type);
/*
 * The number of the type's kind, from 0; in an MPS log the bit that turns
 * the kind on in MPS_TELEMETRY_CONTROL.
 */
TEL_API unsigned tel_type_kind_number(const tel_type *type);
/* How many fields events of this type have, 0 to 255. */
TEL_API unsigned tel_type_field_count(const tel_type *type);
/*
 * The field number i, from 0; NULL when i is not under the count.
 * Lives as long as the schema.
 */
TEL_API const tel_field *tel_type_field(const tel_type *type, unsigned i);
/*
 * The number of the field called name, or -1 when the type has none.
 */
TEL_API int tel_type_find_field(const tel_type *type, const char *name);
/*
 * Nonzero when libtel does not know the type: its code is in no table, or
 * the event does not fit the type that its code says.  Such a type has no
 * fields; tel_event_bytes() gives what the event holds.
 */
TEL_API int tel_type_unknown(const tel_type *type);

/*
 * The schema's name, which tel_reader_set_as() also takes: format, release
 * and platform, for example "mps-1.117.0/lii6gc".
 */
TEL_API const char *tel_schema_name(const tel_schema *schema);
/* The version of the stream's format as it is written, "1.6.1"; static. */
TEL_API const char *tel_schema_version(const tel_schema *schema);
/* Width of a word of the writer in bits: 32 or 64. */
TEL_API unsigned tel_schema_word(const tel_schema *schema);
/* Nonzero when the writer was big-endian. */
TEL_API int tel_schema_big_endian(const tel_schema *schema);
/*
 * Nonzero when logs of the schema stand in the order in which things
 * happened.  Zero: their writer, an MPS, buffers events and writes what it
 * has newest first; a window gives them in order.
 */
TEL_API int tel_schema_ordered(const tel_schema *schema);
/* How many types the schema has. */
TEL_API unsigned tel_schema_type_count(const tel_schema *schema);
/* The type number i in order of codes; NULL when i is not under the count. */
TEL_API const tel_type *tel_schema_type(const tel_schema *schema, unsigned i);
/* The type called name, in exactly those letters; NULL when there is none. */
TEL_API const tel_type *tel_schema_find_type(const tel_schema *schema,
    const char *name);

/*
 * Makes the schema of a built-in format.
 * name: "ets", "inst", "hpm" (version 3, with eight counters), or as
 *	tel_schema_name() gives it; the platform may be left out
 *	("mps-1.117.0"), and then is lii6gc.  ",be" at the end makes it
 *	big-endian, ",le" little-endian.
 * out: set on success to a schema that the caller frees.
 * Returns TEL_OK, TEL_EINVAL (no such format, release or platform),
 * TEL_ENOMEM.
 */
TEL_API TEL_MUST_USE tel_status tel_schema_new(const char *name,
    tel_schema **out);
/* Frees a schema that tel_schema_new() made. */
TEL_API void tel_schema_free(tel_schema *schema);

/*
 * The name of the built-in release number i, from 0, oldest first, for
 * example "mps-1.111.0", and then of formats that have no releases: "ets",
 * "hpm" and "inst"; NULL when i is past the last one.  Static.
 */
TEL_API const char *tel_release_name(unsigned i);

/* ------------------------------------------------------------- events */

/*
 * An event is a view into the reader's buffer: it and all that is reached
 * through it is good until the next call of tel_reader_next() or
 * tel_reader_free() on its reader.
 */
typedef struct tel_event tel_event;

/* The event's type; lives until the reader is freed. */
TEL_API const tel_type *tel_event_type(const tel_event *event);
/* The event's own clock in ticks. */
TEL_API uint64_t tel_event_clock(const tel_event *event);
/*
 * Nonzero when the clock says when the event was; 0 for one whose clock is 0
 * in a format where that says nothing.
 */
TEL_API int tel_event_timed(const tel_event *event);
/* Where the event begins in its log, in bytes of uncompressed input. */
TEL_API uint64_t tel_event_offset(const tel_event *event);
/* The ordinal of the event in its log, from 0. */
TEL_API uint64_t tel_event_index(const tel_event *event);
/*
 * The event as it stands in the log, header and padding included.
 * size: set to the number of bytes; may be NULL.
 */
TEL_API const void *tel_event_bytes(const tel_event *event, size_t *size);
/*
 * The value of field i as 64 bits: integers as they are (signed ones
 * sign-extended), booleans as 0 or 1, doubles as their bits.  0 for a
 * string, and for a field that the type does not have.
 */
TEL_API uint64_t tel_event_u64(const tel_event *event, unsigned i);
/*
 * The value of field i as a double; integers are converted.  0 for a
 * string, and for a field that the type does not have.
 */
TEL_API double tel_event_double(const tel_event *event, unsigned i);
/*
 * The bytes of the string in field i, not NUL-terminated.
 * length: set to their number.
 * Returns NULL when field i is no string.
 */
TEL_API const char *tel_event_string(const tel_event *event, unsigned i,
    size_t *length);
/*
 * The label in force, at the event's clock, for the address in field i; for
 * the number of a thread or a method, its name.
 * length: set to the number of bytes.
 * Returns NULL when the field is nothing that has a label, or has none.
 */
TEL_API const char *tel_event_label(const tel_event *event, unsigned i,
    size_t *length);

/* --------------------------------------------------------- allocation */

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
	TEL_ALLOC_THREAD_END      /* .thread will do nothing more */
} tel_alloc_kind;

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
} tel_alloc;

/*
 * What an event means to an allocator, by the role of its type: that of its
 * format, or the one that tel_reader_add_role() gave it.
 * out: set to it, with kind TEL_ALLOC_NONE for nothing.
 * Returns 1, or 0 when it means nothing.
 */
TEL_API int tel_event_alloc(const tel_event *event, tel_alloc *out);

/* ------------------------------------------------------------- reader */

typedef struct tel_reader tel_reader;

/* How serious a notice is. */
typedef enum tel_severity {
	TEL_INFO,    /* worth knowing: how a layout was chosen */
	TEL_WARNING, /* the answer may not be what was expected */
	TEL_DAMAGE   /* input was skipped or repaired */
} tel_severity;

/*
 * Called while a reader works, for what a person should know.
 * log: the name of the log; offset: where in it, in uncompressed bytes;
 * text: one line without a line end, good until the function returns.  It
 * holds no byte from the log that is not printable ASCII.
 * The function must not call the reader.
 */
typedef void tel_notify_fn(void *arg, tel_severity severity, const char *log,
    uint64_t offset, const char *text);

/*
 * Reads up to size bytes into buffer.  Returns their number, 0 at the end,
 * -1 on failure with errno set.  Called again and again; short reads are
 * fine.
 */
typedef ptrdiff_t tel_read_fn(void *arg, void *buffer, size_t size);

/* Makes a reader; NULL when there is no memory.  Free it in the end. */
TEL_API TEL_MUST_USE tel_reader *tel_reader_new(void);
/* Closes and frees a reader and all that was reached through it. */
TEL_API void tel_reader_free(tel_reader *r);

/*
 * The setters come before the open call; afterwards they return TEL_ESTATE
 * and change nothing.
 */

/*
 * Says what the input is where it cannot be detected, or was detected
 * wrongly.
 * name: "tel" (the native format), "mps" (any release), a name for
 *	tel_schema_new(), "text" (what telcat prints), "cnv" (the text of
 *	mpseventcnv), "hpm" (a trace of Jikes RVM), "ets" (a log of
 *	Singularity), or a trace of an allocator: "android", "heaptrack", "kdump", "logalloc", "ltrace", "mtrace",
 *	"rep", "valgrind"; NULL to detect.
 * Returns TEL_OK, TEL_EINVAL (no such name), TEL_ENOMEM, TEL_ESTATE.
 */
TEL_API TEL_MUST_USE tel_status tel_reader_set_as(tel_reader *r,
    const char *name);
/*
 * Reads on (nonzero) or stops with TEL_EVERSION (0, the default) when the
 * log says that its major version is newer than libtel knows.
 * Returns TEL_OK, TEL_ESTATE.
 */
TEL_API tel_status tel_reader_set_force(tel_reader *r, int on);
/*
 * Stops at the first damage with TEL_EDAMAGED (nonzero) or goes on with the
 * next event that makes sense (0, the default).
 * Returns TEL_OK, TEL_ESTATE.
 */
TEL_API tel_status tel_reader_set_strict(tel_reader *r, int on);
/*
 * The most strings and labels that are held, 1 to 2^30; 2^18 unless set.
 * What comes beyond is left out, with one notice.
 * Returns TEL_OK, TEL_EINVAL, TEL_ESTATE.
 */
TEL_API tel_status tel_reader_set_max_labels(tel_reader *r, size_t count);
/*
 * The most bytes that are asked of the input at a time, 1 to 2^20; 2^18
 * unless set.  The events do not depend on it; tests do.
 * Returns TEL_OK, TEL_EINVAL, TEL_ESTATE.
 */
TEL_API tel_status tel_reader_set_read_size(tel_reader *r, size_t bytes);
/*
 * Files that say what a log itself does not, for the formats that need them.
 * They are read by the open call, which fails when one cannot be used.
 * path: copied.  Return TEL_OK, TEL_ENOMEM, TEL_ESTATE.
 */

/* Adds a file that describes event types. */
TEL_API TEL_MUST_USE tel_status tel_reader_add_description(tel_reader *r,
    const char *path);
/* Adds a file that gives names to the messages of contracts. */
TEL_API TEL_MUST_USE tel_status tel_reader_add_contracts(tel_reader *r,
    const char *path);
/* The file that goes with a trace; NULL to look for it beside the trace. */
TEL_API TEL_MUST_USE tel_status tel_reader_set_meta(tel_reader *r,
    const char *path);
/*
 * Says what events of a type mean to an allocator, for types that libtel does
 * not know, or knows otherwise: see tel_event_alloc().
 * role: "alloc", "free", "realloc", "reserve", "commit", "create-pool",
 *	"destroy-pool", "create-buffer", "destroy-buffer" or "end-thread".
 * text: the type and its fields, "GrabBlock(address=p,size=n)": parts are
 *	address (or ptr), which the first five must have, size, count, old,
 *	alignment, pool, buffer and thread.  Copied; at most 1000 bytes.
 * A type or field that no log has is told to the notify function.
 * Returns TEL_OK, TEL_EINVAL, TEL_ENOMEM, TEL_ESTATE.
 */
TEL_API TEL_MUST_USE tel_status tel_reader_add_role(tel_reader *r,
    const char *role, const char *text);
/*
 * Says how many ticks of the events' clock make a second, for logs that do
 * not tell: more than 0, or 0 for what the log says.
 * Returns TEL_OK, TEL_EINVAL, TEL_ESTATE.
 */
TEL_API tel_status tel_reader_set_tick_rate(tel_reader *r, double hertz);
/*
 * Has fn(arg, ...) called with every notice; NULL for no notices.
 * Returns TEL_OK, TEL_ESTATE.
 */
TEL_API tel_status tel_reader_set_notify(tel_reader *r, tel_notify_fn *fn,
    void *arg);

/*
 * The open calls.  Each may be called once.  Compressed input (gzip, bzip2,
 * xz, lz4, zstd) and archives (tar, zip, 7z, cpio) are recognised and opened;
 * the events of an archive are those of each member that is a log, one
 * member after the other.
 * name: what notices call the log; copied; NULL for "-".
 * Return TEL_OK, TEL_ENOMEM, TEL_EIO (with errno set), TEL_ESTATE,
 * TEL_EFORMAT, TEL_EVERSION; after a failure only tel_reader_error() and
 * tel_reader_free() are of use.
 */

/* Opens the file called path. */
TEL_API TEL_MUST_USE tel_status tel_reader_open_file(tel_reader *r,
    const char *path);
/* Reads from an open descriptor, which stays the caller's to close. */
TEL_API TEL_MUST_USE tel_status tel_reader_open_fd(tel_reader *r, int fd,
    const char *name);
/* Reads size bytes at data, which must stay as they are until the free. */
TEL_API TEL_MUST_USE tel_status tel_reader_open_memory(tel_reader *r,
    const void *data, size_t size, const char *name);
/*
 * Reads what read(arg, ...) gives.  Where the input is compressed it is
 * called on a thread of the library's, never on two at once.
 */
TEL_API TEL_MUST_USE tel_status tel_reader_open_callback(tel_reader *r,
    tel_read_fn *read, void *arg, const char *name);

/*
 * The next event.
 * event: set to it on TEL_OK; it is good until the next call.
 * Returns TEL_OK; TEL_LOG: no event, but the member of an archive has ended,
 * and the next call goes on with the member after it; TEL_END; TEL_EIO;
 * TEL_EDAMAGED (strict only); TEL_EVERSION; TEL_ENOMEM; TEL_ESTATE when the
 * reader is not open.
 */
TEL_API TEL_MUST_USE tel_status tel_reader_next(tel_reader *r,
    const tel_event **event);

/*
 * The schema of the log that is being read; NULL before the open call.
 * Good until the reader is freed.
 */
TEL_API const tel_schema *tel_reader_schema(const tel_reader *r);
/* The form of the input, as tel_reader_set_as() calls it; static. */
TEL_API const char *tel_reader_form(const tel_reader *r);
/* The name of the log that is being read; good until the next call. */
TEL_API const char *tel_reader_log_name(const tel_reader *r);
/* What the last failure was, in words; good until the next call. */
TEL_API const char *tel_reader_error(const tel_reader *r);
/*
 * Ticks of the events' clock in a second, as far as it is known by now, from
 * the log's points of synchronisation; 0 when it is not known.
 */
TEL_API double tel_reader_tick_rate(const tel_reader *r);

/* Nonzero when the input is an archive, whose members are the logs. */
TEL_API int tel_reader_archive(const tel_reader *r);

/* What a reader has done so far, over all the logs in its input. */
typedef enum tel_count {
	TEL_COUNT_EVENTS,   /* events handed out */
	TEL_COUNT_BYTES,    /* bytes of them in the uncompressed input */
	TEL_COUNT_INPUT,    /* bytes read from the file or pipe */
	TEL_COUNT_SKIPPED,  /* bytes skipped because they were damaged */
	TEL_COUNT_REPAIRED, /* events whose size was wrong and was put right */
	TEL_COUNT_UNKNOWN,  /* events of types that libtel does not know */
	TEL_COUNT_DAMAGED,  /* places where the input was damaged */
	TEL_COUNT_LOGS      /* logs begun */
} tel_count;
/* The count asked for; 0 for a value that is no tel_count. */
TEL_API uint64_t tel_reader_count(const tel_reader *r, tel_count which);
/*
 * Says that from the next event on only those are wanted whose clock is from
 * first to last.  Others may be left out where that saves reading them: in a
 * file of the native format that is not damaged, uncompressed or written by
 * tel_output_set_zstd().  Those that name things, or tell the time or the
 * version, are never left out, nor the first ones and the earliest one.  Of
 * several logs in a file nothing is left out where this is called after the
 * first event was read, as it may have been counted from that.
 */
TEL_API void tel_reader_set_range(tel_reader *r, uint64_t first, uint64_t last);
/*
 * The least and the greatest clock of the events of an input that was opened
 * and not read yet, where that is known without reading it.
 * Returns TEL_OK; TEL_END when it is not known; TEL_ENOMEM; TEL_ESTATE.
 */
TEL_API TEL_MUST_USE tel_status tel_reader_span(tel_reader *r, uint64_t *first,
    uint64_t *last);
/*
 * How many bytes, uncompressed, are here behind the last event.  Where there
 * are few, tel_reader_next() may have to wait for a pipe: before that happens
 * is the time to flush what was made of the events so far.
 */
TEL_API uint64_t tel_reader_pending(tel_reader *r);

/* ------------------------------------------------------------- filter */

/*
 * A filter says of each event whether it is wanted.  It is made once and
 * serves any number of logs, whose schemas may differ:
 *
 *	f = tel_filter_new();
 *	tel_filter_set_kinds(f, "Pool,Seg");
 *	tel_filter_set_expression(f, "size >= 64k && label ~ \"^heap\"");
 *	... open a reader ...
 *	if (tel_filter_bind(f, tel_reader_schema(r)) != TEL_OK)
 *		... tell tel_filter_error(f) ...
 *	while (... tel_reader_next(r, &ev) ...)
 *		if (tel_filter_match(f, ev) > 0)
 *			...
 *	tel_filter_free(f);
 *
 * An event is wanted when all that was set holds for it; a filter without
 * anything set wants every event.
 */
typedef struct tel_filter tel_filter;

/* Makes a filter that wants every event; NULL when there is no memory. */
TEL_API TEL_MUST_USE tel_filter *tel_filter_new(void);
/* Frees a filter. */
TEL_API void tel_filter_free(tel_filter *f);

/*
 * The setters.  Each takes the place of what it set before, and NULL takes
 * that away.  They may be called at any time; the schemas that the filter
 * was bound to are then bound again.  The text is copied.
 * Return TEL_OK; TEL_EINVAL: the text makes no sense, and TEL_ELIMIT: it
 * passes a limit that tel-filter(7) states - tel_filter_error() says how,
 * and what was set before stays; TEL_ENOMEM.
 */

/* Events for which an expression is true: tel-filter(7). */
TEL_API TEL_MUST_USE tel_status tel_filter_set_expression(tel_filter *f,
    const char *text);
/*
 * Events of these kinds: names in any case, separated by commas or blanks,
 * or a number whose bits are kind numbers, as MPS_TELEMETRY_CONTROL takes
 * them; "all"; with '^' before the list, of all kinds but these.
 */
TEL_API TEL_MUST_USE tel_status tel_filter_set_kinds(tel_filter *f,
    const char *text);
/*
 * Events of these types: names, globs ("Pool*") and numbers (0x17) of types,
 * separated by commas or blanks; with '^' before the list, of all but these.
 */
TEL_API TEL_MUST_USE tel_status tel_filter_set_types(tel_filter *f,
    const char *text);
/*
 * Events from a time to another, "FROM,TO", both included; either may be
 * left out.  16 hexadecimal digits, or 0x.., are a clock of the events
 * themselves; a number with ns, us, ms, s, m or h is the time since the first
 * event of the log, which is known when the clock's rate is; a plain number
 * is ticks since the first event.
 */
TEL_API TEL_MUST_USE tel_status tel_filter_set_time(tel_filter *f,
    const char *text);
/* The same for events whose clock is from first to last, both included. */
TEL_API void tel_filter_set_clock(tel_filter *f, uint64_t first, uint64_t last);
/*
 * Adds a range of addresses: "ADDRESS", "ADDRESS,+LENGTH" in bytes, or
 * "FIRST,LAST", both included.  Events one of whose address or pointer fields
 * lies in any of the ranges; NULL takes all ranges away.  At most 1024.
 */
TEL_API TEL_MUST_USE tel_status tel_filter_add_addresses(tel_filter *f,
    const char *text);
/*
 * Events one of whose fields has a label that matches the glob, all of it.
 */
TEL_API TEL_MUST_USE tel_status tel_filter_set_label(tel_filter *f,
    const char *glob);
/*
 * Events from one on for which an expression is true, that one included; with
 * both, again and again, to one for which the other is true, that one included
 * as well.  Of an expression alone the other end is that of the log.  Logs
 * that are merged begin and end by their own events.  Other setters choose
 * among these events.
 */
TEL_API TEL_MUST_USE tel_status tel_filter_set_since(tel_filter *f,
    const char *text);
TEL_API TEL_MUST_USE tel_status tel_filter_set_until(tel_filter *f,
    const char *text);
/* Wants exactly the events that would not be wanted (nonzero). */
TEL_API void tel_filter_set_invert(tel_filter *f, int on);

/*
 * Binds the filter to a schema: checks that there are the kinds, types and
 * fields that were named, and decides for each type what can be decided.
 * To be called when a log begins: after the open call, and on TEL_LOG.  The
 * schema must live as long as events of it are matched.  When a schema was
 * freed, the next one must be bound by this call, as it may have come to lie
 * at the same place.
 * Returns TEL_OK, TEL_EINVAL (tel_filter_error() says which name is not
 * there), TEL_ENOMEM.
 */
TEL_API TEL_MUST_USE tel_status tel_filter_bind(tel_filter *f,
    const tel_schema *schema);
/*
 * Whether an event is wanted.  An expression with dt must be asked of every
 * event that was read.  A schema that was not bound yet is bound now.
 * Returns 1, 0, or -1 when that failed: see tel_filter_error().
 */
TEL_API TEL_MUST_USE int tel_filter_match(tel_filter *f,
    const tel_event *event);
/*
 * Whether events of a type, of the schema bound last, are wanted: 1 when all
 * are, 0 when none is, -1 when it depends on the event, or on what came
 * before it, or when no schema is bound.
 */
TEL_API int tel_filter_type(const tel_filter *f, const tel_type *type);
/*
 * Nonzero when what was set speaks of seconds: verdicts are then as good as
 * the points of synchronisation that were read by then, see
 * tel_window_new().
 */
TEL_API int tel_filter_uses_rate(const tel_filter *f);
/*
 * Which clocks the events that match may have, for tel_reader_set_range().
 * event: one of the log, for a range that counts from the log's first event;
 *	NULL when there is none yet.
 * first, last: set, both included; they may be wider than need be.
 * Returns 1, or 0 when it may be any event, or all of them must be seen.
 */
TEL_API int tel_filter_clocks(const tel_filter *f, const tel_event *event,
    uint64_t *first, uint64_t *last);

/*
 * What the last failure of a call on the filter was, in words, printable
 * ASCII without a line end; "" when there was none.  Good until the next
 * call on the filter.
 */
TEL_API const char *tel_filter_error(const tel_filter *f);
/*
 * Where in tel_filter_error_text(), in bytes from 1; 0 when it was not at
 * any place.
 */
TEL_API unsigned tel_filter_error_column(const tel_filter *f);
/*
 * The text that failed, of those that were given to the setters: the
 * expression, or the list of kinds, and so on.  NULL when the failure had to
 * do with none of them.  Good until the next call on the filter.
 */
TEL_API const char *tel_filter_error_text(const tel_filter *f);

/* --------------------------------------------------------- expression */

/*
 * An expression of tel-filter(7) that is asked for its value, not for
 * whether it is true.
 */
typedef struct tel_expr tel_expr;

/* What an expression is worth for an event. */
typedef struct tel_value {
	int missing; /* nonzero: nothing, and the rest means nothing */
	/*
	 * What the value is, and which member of .as holds it.  That of a
	 * field has the field's own sort.  Otherwise: TEL_STRING,
	 * TEL_DOUBLE, TEL_BOOLEAN (a condition: .u64 is 1 or 0), TEL_SIGNED
	 * (below 0) or TEL_UNSIGNED.
	 */
	tel_sort sort;
	union {
		uint64_t u64;       /* any other sort */
		int64_t i64;        /* TEL_SIGNED */
		double f64;         /* TEL_DOUBLE */
		const char *string; /* TEL_STRING: bytes without a NUL */
	} as;
	size_t length; /* of the string */
} tel_value;

/* Makes an expression, yet to be set; NULL when there is no memory. */
TEL_API TEL_MUST_USE tel_expr *tel_expr_new(void);
/* Frees an expression. */
TEL_API void tel_expr_free(tel_expr *x);
/*
 * Sets the text, which is copied.
 * Returns TEL_OK; TEL_EINVAL, TEL_ELIMIT: tel_expr_error() says what is
 * wrong, and what was set before stays; TEL_ENOMEM.
 */
TEL_API TEL_MUST_USE tel_status tel_expr_set(tel_expr *x, const char *text);
/*
 * Binds it to a schema, as tel_filter_bind() does a filter.
 * Returns TEL_OK, TEL_EINVAL (see tel_expr_error()), TEL_ENOMEM, TEL_ESTATE
 * (no text was set).
 */
TEL_API TEL_MUST_USE tel_status tel_expr_bind(tel_expr *x,
    const tel_schema *schema);
/*
 * What it is worth for an event.  A schema that was not bound yet is bound
 * now.
 * out: set on TEL_OK; a string is good until the event is not.
 * Returns TEL_OK, and as tel_expr_bind().
 */
TEL_API TEL_MUST_USE tel_status tel_expr_eval(tel_expr *x,
    const tel_event *event, tel_value *out);
/* Nonzero when the text speaks of seconds, as tel_filter_uses_rate(). */
TEL_API int tel_expr_uses_rate(const tel_expr *x);
/* What the last failure was, as tel_filter_error(). */
TEL_API const char *tel_expr_error(const tel_expr *x);
/* Where in the text, in bytes from 1; 0 when it was not at any place. */
TEL_API unsigned tel_expr_error_column(const tel_expr *x);

/* ------------------------------------------------------------- window */

/*
 * A window is a stretch of a log that is held back, for what cannot be said
 * of an event at once: its place in order of time, its time in seconds.
 * It holds copies, so an event is good until the next call on the window.
 */
typedef struct tel_window tel_window;

/* What a window is for. */
typedef enum tel_order {
	/*
	 * In the order of the log; events are held until the points of
	 * synchronisation around them are known, at most 2^16 events.
	 */
	TEL_ORDER_LOG,
	/*
	 * By time, whatever the order of the log.  Up to 4 MB of events are
	 * sorted in memory; of longer logs sorted runs are written to a
	 * temporary file (in TMPDIR, or /tmp), so nothing comes out before
	 * the log has ended.
	 */
	TEL_ORDER_TIME,
	/*
	 * By time within what an MPS writes in one go, as it comes.  An event
	 * that comes too late for its place is given when it comes, and
	 * counted.
	 */
	TEL_ORDER_LIVE
} tel_order;

/*
 * Makes a window on a reader that is open; the reader stays the caller's and
 * must not be read otherwise.
 * out: set on success.
 * Returns TEL_OK, TEL_EINVAL (no such order), TEL_ENOMEM.
 */
TEL_API TEL_MUST_USE tel_status tel_window_new(tel_reader *r, tel_order order,
    tel_window **out);
/*
 * Gives those events only that tel_event_alloc() knows.  The others are not
 * held, so that a log with few of them is sorted fast.
 * allocs: 0 or 1; 0 unless set.
 * Returns TEL_OK, TEL_ESTATE (an event was asked for already).
 */
TEL_API tel_status tel_window_set_allocs(tel_window *w, int allocs);
/*
 * The next event.  Returns what tel_reader_next() returns, after a TEL_EIO
 * of the temporary file too: tel_window_error() tells which.
 */
TEL_API TEL_MUST_USE tel_status tel_window_next(tel_window *w,
    const tel_event **event);
/* How many events came too late for their place (TEL_ORDER_LIVE). */
TEL_API uint64_t tel_window_late(const tel_window *w);
/* What the last failure was, in words; good until the next call. */
TEL_API const char *tel_window_error(const tel_window *w);
/* Frees the window and its temporary file; not the reader. */
TEL_API void tel_window_free(tel_window *w);

/* -------------------------------------------------------------- merge */

/*
 * Several logs as one stream in order of time: of the events' own clocks, so
 * the logs should be of one machine.  Events of the same clock come in the
 * order in which their logs were added.  Memory is bounded by the number of
 * logs and a window on each.
 */
typedef struct tel_merge tel_merge;

/* Makes a merge of no logs; NULL when there is no memory. */
TEL_API TEL_MUST_USE tel_merge *tel_merge_new(void);
/*
 * Gives those events only that tel_event_alloc() knows.
 * allocs: 0 or 1; 0 unless set.
 * Returns TEL_OK, TEL_ESTATE (a log was added already).
 */
TEL_API tel_status tel_merge_set_allocs(tel_merge *m, int allocs);
/*
 * Adds what a reader reads, which is open and of which nothing was read; it
 * stays the caller's, lives as long as the merge, and must not be read
 * otherwise.  Of an archive each member is added; they are copied to
 * temporary files.
 * order: TEL_ORDER_LIVE for a window of a flush, TEL_ORDER_TIME to sort
 *	however long it takes.
 * Returns TEL_OK, TEL_EINVAL (no such order), TEL_ESTATE (an event was asked
 * for already), TEL_ENOMEM, and for an archive what tel_reader_next() may.
 */
TEL_API TEL_MUST_USE tel_status tel_merge_add(tel_merge *m, tel_reader *r,
    tel_order order);
/* How many logs were added. */
TEL_API size_t tel_merge_count(const tel_merge *m);
/*
 * The next event of all; good until the next call.
 * Returns TEL_OK, TEL_END, TEL_ENOMEM.  A log that cannot be read on is left
 * out from there on; what went wrong with the first of them is returned in
 * place of TEL_END.
 */
TEL_API TEL_MUST_USE tel_status tel_merge_next(tel_merge *m,
    const tel_event **event);
/* The reader of the log that failed first; NULL when none did. */
TEL_API const tel_reader *tel_merge_failed(const tel_merge *m);
/* Why it failed, in words; "" when none did.  Good until the next call. */
TEL_API const char *tel_merge_error(const tel_merge *m);
/* How many events came too late for their place (TEL_ORDER_LIVE). */
TEL_API uint64_t tel_merge_late(const tel_merge *m);
/* Frees the merge; not the readers. */
TEL_API void tel_merge_free(tel_merge *m);

/* ------------------------------------------------------------- output */

typedef struct tel_output tel_output;

/*
 * Writes up to size bytes at data.  Returns their number, at least 1, or -1
 * on failure with errno set.  Short writes are fine.
 */
typedef ptrdiff_t tel_write_fn(void *arg, const void *data, size_t size);

/*
 * Makes an output that writes to fd, which stays the caller's to close.
 * NULL when there is no memory.
 */
TEL_API TEL_MUST_USE tel_output *tel_output_new_fd(int fd);
/* Makes an output that hands its bytes to write(arg, ...). */
TEL_API TEL_MUST_USE tel_output *tel_output_new_callback(tel_write_fn *write,
    void *arg);
/*
 * Compresses what is put in with zstd, in frames with a table of them at the
 * end (the zstd seekable format), which zstd(1) and libtel read.  Before
 * anything is put in; tel_output_finish() ends it.
 * level: 1 (fast) to 19 (small, about 100 MB of memory); 3 is usual.
 * Returns TEL_OK, TEL_EINVAL, TEL_ENOMEM, TEL_ESTATE.
 */
TEL_API TEL_MUST_USE tel_status tel_output_set_zstd(tel_output *out, int level);
/*
 * Puts size bytes at the end of the output.
 * Returns TEL_OK, TEL_EIO (now or earlier), TEL_ENOMEM.
 */
TEL_API tel_status tel_output_write(tel_output *out, const void *data,
    size_t size);
/*
 * Writes out all that is buffered.  What is compressed can be decompressed up
 * to here; it grows by a few bytes each time.
 * Returns TEL_OK, or TEL_EIO or TEL_ENOMEM when that or anything before it
 * failed: an output that failed once stays failed.
 */
TEL_API TEL_MUST_USE tel_status tel_output_flush(tel_output *out);
/*
 * Writes out all that is buffered, and ends what is compressed.  What is put
 * in after that begins anew, as if two files stood one behind the other.
 * Returns as tel_output_flush().
 */
TEL_API TEL_MUST_USE tel_status tel_output_finish(tel_output *out);
/* The errno of the first failure, 0 when there was none. */
TEL_API int tel_output_errno(const tel_output *out);
/* Bytes that were put into the output so far, before compression. */
TEL_API uint64_t tel_output_bytes(const tel_output *out);
/* Frees the output and what it has not written: finish first. */
TEL_API void tel_output_free(tel_output *out);

/* ------------------------------------------------------------- writer */

/*
 * A writer writes events in the format they came in: an MPS stream as an MPS
 * stream, text as the lines that were read.  It is told of every event of a
 * log, in order, as one that is to be written or one to pass over:
 *
 *	w = tel_writer_new(out);
 *	while (... tel_reader_next(r, &ev) ...)
 *		if (tel_filter_match(f, ev) > 0)
 *			... tel_writer_event(w, ev) ...
 *		else
 *			... tel_writer_pass(w, ev) ...
 *	... tel_writer_finish(w), tel_output_flush(out) ...
 *	tel_writer_free(w);
 *
 * Of the events that are passed over it writes what the others need to mean
 * the same: where they stand, those that tell the stream's version and
 * release and the points of synchronisation of its clock; and before the
 * first event that shows it, a label with its string.  So an event is shown
 * with the same labels, whether its log is read or what was written.
 */
typedef struct tel_writer tel_writer;

/*
 * Makes a writer to out, which must live as long and stays the caller's.
 * NULL when there is no memory.
 */
TEL_API TEL_MUST_USE tel_writer *tel_writer_new(tel_output *out);
/* Frees a writer; what it has written is in the output. */
TEL_API void tel_writer_free(tel_writer *w);
/*
 * The setters come before the first event; afterwards they return TEL_ESTATE
 * and change nothing.
 */
/*
 * Says which format is written.
 * name: NULL for the format that events came in, the default; "tel", the
 *	native format, for events of any logs; "inst" or "hpm", for events of
 *	logs that are of these formats, or were before they became native; or a
 *	stream of the MPS: "mps", of the
 *	release of the first log; "mps:1.6.1/lii3gc", by the version of the
 *	stream (of two releases that have the same, the log's own or the later
 *	one) or of the release, and the platform; or a name of
 *	tel_schema_new().  ",be" or ",le" may follow.  What is left out of
 *	"mps..." is as in the first log, or for 64-bit x86 where that is no MPS
 *	log.
 *
 * Events are converted to an MPS release by the names of types and fields,
 * and what has no place there is counted, see tel_writer_loss(): an event
 * without its type, or with a value too large for its field, is left out; a
 * field that the type does not have is dropped; and one that only the target
 * has is 0.  A stream that does not begin with EventInit and the string of the
 * build gets them, unless it is the release's own.
 * Returns TEL_OK, TEL_EINVAL (no such format can be written), TEL_ENOMEM,
 * TEL_ESTATE.
 */
TEL_API TEL_MUST_USE tel_status tel_writer_set_target(tel_writer *w,
    const char *name);
/*
 * Fails with TEL_EINVAL at the first event or field that has no place in the
 * target (nonzero), or counts them (0, the default).  TEL_OK, TEL_ESTATE.
 */
TEL_API tel_status tel_writer_set_strict(tel_writer *w, int on);
/*
 * Nonzero when what is written of the log that r reads is nothing to be shown
 * on a terminal.
 */
TEL_API int tel_writer_binary(const tel_writer *w, const tel_reader *r);
/*
 * Writes nothing of what is passed over (nonzero).  TEL_OK, TEL_ESTATE.
 */
TEL_API tel_status tel_writer_set_bare(tel_writer *w, int on);
/*
 * Keeps a terminal safe (nonzero): bytes of lines that are not printable
 * ASCII are written as \xHH.  TEL_OK, TEL_ESTATE.
 */
TEL_API tel_status tel_writer_set_terminal(tel_writer *w, int on);
/*
 * The most strings and labels of a log that are held, 1 to 2^30; 2^18 unless
 * set.  What comes beyond is written where it stands.
 * TEL_OK, TEL_EINVAL, TEL_ESTATE.
 */
TEL_API tel_status tel_writer_set_max_labels(tel_writer *w, size_t count);
/*
 * Writes an event, and before it what it needs.  Events of several logs go
 * to one stream: numbers of strings that clash are changed, and a later log's
 * version and release are left out where they are the first one's.
 * Returns TEL_OK; TEL_EIO, TEL_ENOMEM (of the output, or of the writer);
 * TEL_EINVAL: the event is of another format, release or platform than the
 * first one, and cannot stand in the same stream; or it has no place in the
 * target; TEL_ELIMIT: more strings
 * than are held, in several logs.  After the last two nothing was written,
 * and tel_writer_error() says why.
 */
TEL_API TEL_MUST_USE tel_status tel_writer_event(tel_writer *w,
    const tel_event *event);
/* Passes over an event.  Returns as tel_writer_event(). */
TEL_API TEL_MUST_USE tel_status tel_writer_pass(tel_writer *w,
    const tel_event *event);
/*
 * Nonzero when the writer must be told of events of a type that it is to pass
 * over; otherwise telling it may be left out, to save time.  The answer holds
 * until tel_writer_end_file().
 */
TEL_API int tel_writer_needs(const tel_writer *w, const tel_type *type);
/*
 * What stands between groups of events: a line "--" in text, nothing in a
 * stream.  Returns TEL_OK, TEL_EIO, TEL_ENOMEM.
 */
TEL_API TEL_MUST_USE tel_status tel_writer_gap(tel_writer *w);
/*
 * Writes what the writer holds back, and flushes the output, for whoever
 * waits for it.  Returns TEL_OK, TEL_EIO, TEL_ENOMEM.
 */
TEL_API TEL_MUST_USE tel_status tel_writer_flush(tel_writer *w);
/*
 * No more events come of the readers so far.  To be called before they are
 * freed and events of another one follow.
 * r: one of them, for a text that has lines but no event; may be NULL.
 * Returns as tel_writer_event().
 */
TEL_API TEL_MUST_USE tel_status tel_writer_end_file(tel_writer *w,
    const tel_reader *r);
/*
 * Writes what ends the output, if anything.  Does not flush the output.
 * Returns TEL_OK, TEL_EIO, TEL_ENOMEM.
 */
TEL_API TEL_MUST_USE tel_status tel_writer_finish(tel_writer *w);

/* What a target has no place for. */
typedef enum tel_loss_kind {
	TEL_LOSS_TYPE,  /* events of a type: they are left out */
	TEL_LOSS_VALUE, /* values too large for a field: so are their events */
	TEL_LOSS_FIELD, /* a field of events that are written */
	TEL_LOSS_EMPTY  /* no loss: only the target has the field: 0 */
} tel_loss_kind;
/* What was lost of the events of one type of a schema. */
typedef struct tel_loss {
	tel_loss_kind kind;
	const char *from;  /* the schema's name */
	const char *to;    /* that of the target */
	const char *type;  /* the type's name */
	const char *field; /* the field's name; "" for TEL_LOSS_TYPE */
	uint64_t events;   /* how many */
} tel_loss;
/*
 * Loss number i, in the order of their coming; some are of no events.  After
 * 4,092 of them the others are one of each kind, with "..." for names.
 * out: set; its strings are good until the next event, or the free.
 * Returns 1, or 0 when i is past the last one.
 */
TEL_API int tel_writer_loss(const tel_writer *w, size_t i, tel_loss *out);
/* Why the last call failed, in words; good until the next call. */
TEL_API const char *tel_writer_error(const tel_writer *w);

/* ------------------------------------------------------------ context */

/*
 * A context finds the events that stand before and after those that are
 * wanted, as grep's -B and -A do lines.  It is told of every event, and gives
 * every event back in the same order, the copies of those that it held.
 */
typedef struct tel_context tel_context;

/* Where an event stands. */
typedef enum tel_place {
	TEL_PLACE_OUT, /* near no event that is wanted */
	TEL_PLACE_IN,  /* wanted, or near one that is */
	TEL_PLACE_GAP  /* the same, and some were left out before it */
} tel_place;

/*
 * Makes a context of so many events before and after.  NULL when there is no
 * memory.
 */
TEL_API TEL_MUST_USE tel_context *tel_context_new(size_t before, size_t after);
/* Frees a context. */
TEL_API void tel_context_free(tel_context *c);
/*
 * Tells of an event, wanted or not.  It must stay as it is until all that
 * there is to be had by tel_context_next() was.
 * Returns TEL_OK, TEL_ENOMEM.
 */
TEL_API TEL_MUST_USE tel_status tel_context_event(tel_context *c,
    const tel_event *event, int wanted);
/*
 * Lets all go that is held, as no more events of their reader come.
 */
TEL_API void tel_context_finish(tel_context *c);
/*
 * The next event of which it is known where it stands.
 * event, place: set on TEL_OK; the event is good until the next call of
 *	tel_context_event() or tel_context_free().
 * Returns TEL_OK; TEL_END: none for now.
 */
TEL_API TEL_MUST_USE tel_status tel_context_next(tel_context *c,
    const tel_event **event, tel_place *place);
/* Nonzero when the next event is shown whether it is wanted or not. */
TEL_API int tel_context_pending(const tel_context *c);

/* ------------------------------------------------------------ printer */

typedef struct tel_printer tel_printer;

/* How events are shown. */
typedef enum tel_format {
	TEL_FORMAT_TEXT,     /* one event a line; libtel reads it back */
	TEL_FORMAT_CSV,      /* RFC 4180 */
	TEL_FORMAT_JSON,     /* one object a line */
	TEL_FORMAT_SQL,      /* a script for sqlite3 */
	TEL_FORMAT_MPSCNV,   /* exactly as mpseventcnv prints */
	TEL_FORMAT_MPSTXT,   /* exactly as mpseventtxt prints */
	TEL_FORMAT_TRACERPT, /* CSV as Singularity's tracerpt prints */
	/*
	 * Ranges, instants and counters, of events in order of time: a range
	 * goes from a start to the end that its role names, or is an event
	 * with a field "duration" in ticks.
	 */
	TEL_FORMAT_PERFETTO, /* packets for Perfetto's viewer: no text */
	TEL_FORMAT_CHROME,   /* the same as trace events in JSON */
	TEL_FORMAT_FOLDED    /* stacks of ranges, for flame graphs */
} tel_format;

/* How an event's time is shown. */
typedef enum tel_time_form {
	TEL_TIME_TICKS,    /* the event's clock as it is */
	TEL_TIME_SECONDS,  /* seconds since the first event: 1.000000001 */
	TEL_TIME_NS,       /* nanoseconds since the first event */
	TEL_TIME_RELATIVE, /* ticks since the first event */
	TEL_TIME_DELTA,    /* ticks since the event shown before */
	TEL_TIME_ISO       /* ISO 8601, where the log knows the wall clock */
} tel_time_form;

/*
 * Makes a printer that writes to out, which must live as long and stays the
 * caller's.  format: any tel_format.  NULL when there is no memory or no
 * such format.
 */
TEL_API TEL_MUST_USE tel_printer *tel_printer_new(tel_output *out,
    tel_format format);
/* Frees a printer; what it has printed is in the output. */
TEL_API void tel_printer_free(tel_printer *p);
/*
 * The setters come before the first event; afterwards they return
 * TEL_ESTATE and change nothing.
 */
/* With a header (nonzero, the default) or without.  TEL_OK, TEL_ESTATE. */
TEL_API tel_status tel_printer_set_header(tel_printer *p, int on);
/*
 * How time is shown.  Seconds and nanoseconds are as good as the points of
 * synchronisation that were read before the event is printed: see
 * tel_window_new().  TEL_OK, TEL_EINVAL, TEL_ESTATE.
 */
TEL_API tel_status tel_printer_set_time(tel_printer *p, tel_time_form form);
/*
 * Shows these fields only, in this order, for each event that has them.
 * names: separated by commas; copied.  For text, CSV and JSON only.
 * TEL_OK, TEL_EINVAL, TEL_ENOMEM, TEL_ESTATE.
 */
TEL_API TEL_MUST_USE tel_status tel_printer_set_fields(tel_printer *p,
    const char *names);
/*
 * In CSV, one column for each field of the type called name instead of one
 * column for all fields; events of other types are left out.
 * TEL_OK, TEL_ENOMEM, TEL_ESTATE.
 */
TEL_API TEL_MUST_USE tel_status tel_printer_set_columns(tel_printer *p,
    const char *name);
/* Text in colour, by ECMA-48 sequences (nonzero).  TEL_OK, TEL_ESTATE. */
TEL_API tel_status tel_printer_set_color(tel_printer *p, int on);
/*
 * Keeps a terminal safe (nonzero): the formats that pass a string's bytes
 * on as they are, for the sake of exactness, escape them.  TEL_OK,
 * TEL_ESTATE.
 */
TEL_API tel_status tel_printer_set_terminal(tel_printer *p, int on);
/*
 * The events that come next are of another file, or of several that are
 * merged: text has its header again, and SQL another row in event_log.
 * Must be called whenever events of another reader follow, and may be for
 * the first.
 * size, changed: of the file that is read, in bytes and in seconds since
 *	1970, for event_log; 0 and 0 where it has none.
 */
TEL_API void tel_printer_set_file(tel_printer *p, uint64_t size,
    int64_t changed);
/*
 * Prints an event; before the first one, and whenever another log begins,
 * the header.
 * Returns TEL_OK, TEL_EIO, TEL_ENOMEM (the output failed; it stays so),
 * TEL_EINVAL: the log cannot be shown so (no wall clock is known, or the
 * format is one of the MPS and the log is not); nothing was printed, and
 * tel_printer_error() says why.
 */
TEL_API TEL_MUST_USE tel_status tel_printer_event(tel_printer *p,
    const tel_event *event);
/*
 * Prints what ends the output, if anything; without any event before it,
 * what an empty log looks like.  Does not flush the output.
 * Returns TEL_OK, TEL_EIO, TEL_ENOMEM.
 */
TEL_API TEL_MUST_USE tel_status tel_printer_finish(tel_printer *p);
/* Why the last call returned TEL_EINVAL; good until the next call. */
TEL_API const char *tel_printer_error(const tel_printer *p);

/* ------------------------------------------------------- wide numbers */

/*
 * An integer of 128 bits in two's complement: high * 2^64 + low.  Sums are
 * that wide, and so is every number that a statistic tells.
 */
typedef struct tel_wide {
	int64_t high;
	uint64_t low;
} tel_wide;

/* Bytes that any tel_wide takes in decimal, its NUL included. */
#define TEL_WIDE_TEXT 42

/*
 * Writes v in decimal, without grouping, into buffer, which has room for
 * TEL_WIDE_TEXT bytes.  Returns buffer.
 */
TEL_API char *tel_wide_text(tel_wide v, char *buffer);
/* The double nearest to v, or one of the two that are. */
TEL_API double tel_wide_double(tel_wide v);
/*
 * Writes a value, of an expression or a key, into buffer, of size bytes:
 * integers in decimal, sets and addresses as 0x and hexadecimal digits,
 * booleans as true and false, doubles so that they read back, strings as
 * their bytes (not escaped: they may hold anything but NUL), and "-" for what
 * is missing.  What does not fit is cut off; a NUL ends it unless size is 0.
 * Returns how many bytes all of it takes, without the NUL.
 */
TEL_API size_t tel_value_text(const tel_value *v, char *buffer, size_t size);

/* --------------------------------------------------------- statistics */

/*
 * A set of statistics over one log or many:
 *
 *	s = tel_stats_new();
 *	if (tel_stats_add(s, "sizes=log2(size) if kind == Pool") != TEL_OK)
 *		... tell tel_stats_error(s) ...
 *	... open a reader ...
 *	tel_stats_begin(s, r);
 *	while (tel_reader_next(r, &ev) == TEL_OK)
 *		tel_stats_event(s, ev);
 *	tel_stats_end(s, r);
 *	for (i = 0; i < tel_stats_count(s); i++)
 *		... look at tel_stats_get(s, i) ...
 *	tel_stats_free(s);
 *
 * Beside the statistics that were added it keeps a report of what every log
 * has: events and bytes by type, the span of time, damage, allocation.
 */
typedef struct tel_stats tel_stats;
/* One statistic of a set, or one of the groups of one. */
typedef struct tel_stat tel_stat;

/* Makes an empty set; NULL when there is no memory. */
TEL_API TEL_MUST_USE tel_stats *tel_stats_new(void);
/* Frees a set and all that was reached through it. */
TEL_API void tel_stats_free(tel_stats *s);

/*
 * The setters, tel_stats_add() among them, come before the first event;
 * afterwards they return TEL_ESTATE and change nothing.
 */

/*
 * Adds a statistic.
 *
 *	spec   = NAME "=" class [ "if" CONDITION ]
 *	class  = "mag(" value ")"          the value itself
 *	       | "magdelta(" value ")"     the sum of the values so far
 *	       | "growth(" value ")"       a sum that cannot fall
 *	       | "hist(" value "," lo "," hi "," w [ "," weight ] ")"
 *	       | "split(" value "," lo "," w1 "," knee "," hi "," w2
 *	                  [ "," weight ] ")"
 *	       | "tally(" value "," max [ "," weight ] ")"
 *	       | "log2(" value [ "," k [ "," weight ] ] ")"
 *	       | "loglin(" value "," factor "," low "," high "," steps
 *	                   [ "," weight ] ")"
 *	       | "quantiles(" value [ "," bits [ "," weight ] ] ")"
 *	       | pairs
 *	value  = EXPRESSION | pairs
 *	pairs  = ( "dur" | "ticks" ) "(" [ START [ "," END [ "," KEY
 *	                                 [ "," MIDDLE ] ] ] ] ")"
 *	weight = EXPRESSION
 *
 * NAME is of letters, digits and _ . - and is new; EXPRESSION, CONDITION and
 * KEY are those of tel-filter(7); START, END and MIDDLE are names of types;
 * the other words are integers, with k M G T (1024s) or ns us ms s
 * (nanoseconds) behind them if wanted.  A comma inside parentheses or quotes
 * belongs to the expression, and so does an "if" there.
 *
 * An event updates the statistic when the condition is true for it and value
 * and weight (1 where it is left out) are not missing.  A value is an
 * integer; of a double the integer below counts.  What cannot be one (a
 * string; a number too large for the class; below 0 for growth and weight)
 * is counted as TEL_NUMBER_INVALID, and only so.
 *
 * hist: buckets of w in [lo, hi); split: of w1 in [lo, knee) and of w2 in
 * [knee, hi).  The last bucket of a range is short where w does not divide
 * it.  log2: 2^k buckets (k 0 to 5, 0 unless given) in each power of two, 0 on
 * its own, and the same below 0.  loglin: in each [factor^m, factor^(m+1)), m
 * from low to high, buckets of factor^(m+1) / min(steps, factor^(m+1)).
 * quantiles: as log2 with 2^bits buckets, 1 to 9, 7 unless given: a quantile
 * is then off by less than 1 in 2^bits, and never above the largest value.
 * All edges are half open, and at most 65536 buckets are allowed.  tally: the
 * first max keys (1 to 2^24) that come, integers or strings, have a bucket
 * each; the weight of others is counted in one number.
 *
 * dur: time from an event of type START to the next of END with an equal
 * KEY, in nanoseconds; ticks: the same in the clock's ticks.  Without END the
 * type that ends START by its role, and without START all types that have
 * such a role; the KEY is then the one that the role names.  Of several that
 * are open with one key the last one ends first.  By itself, "pause=dur(...)"
 * is a summary trace: how many pairs, their total, shortest and longest.
 * MIDDLE events count as events of the range, and add no time.
 *
 * Returns TEL_OK; TEL_EINVAL or TEL_ELIMIT: tel_stats_error() says what is
 * wrong with the text; TEL_ENOMEM; TEL_ESTATE.
 */
TEL_API TEL_MUST_USE tel_status tel_stats_add(tel_stats *s, const char *spec);
/*
 * Keeps each statistic apart for every group of events that are worth the
 * same in these expressions: up to 8, separated by commas; NULL for none.
 * A pair of start and end is of the group of its start.  What is missing is
 * a value like any other.
 * Returns as tel_stats_add().
 */
TEL_API TEL_MUST_USE tel_status tel_stats_set_groups(tel_stats *s,
    const char *expressions);
/*
 * The most groups, 1 to 2^20; 4096 unless set.  Events of groups beyond
 * these, and beyond the memory allowed, are counted in one more group: see
 * tel_stat_overflow_group().
 * Returns TEL_OK, TEL_EINVAL, TEL_ESTATE.
 */
TEL_API tel_status tel_stats_set_max_groups(tel_stats *s, size_t count);
/*
 * The most ranges that are open at a time, in each statistic of pairs, 1 to
 * 2^24; 65536 unless set.  A start beyond these is counted as
 * TEL_NUMBER_CROWDED and has no length.
 * Returns TEL_OK, TEL_EINVAL, TEL_ESTATE.
 */
TEL_API tel_status tel_stats_set_max_open(tel_stats *s, size_t count);
/*
 * The most bytes that buckets, keys and groups take together; 2^30 unless
 * set.  Beyond these, keys are counted as overflow and groups in the overflow
 * group.
 * Returns TEL_OK, TEL_ESTATE.
 */
TEL_API tel_status tel_stats_set_max_memory(tel_stats *s, size_t bytes);

/* A moment at which the statistics are shown: see tel_stats_set_interval(). */
typedef struct tel_snapshot {
	uint64_t number;   /* which multiple of the interval: 1, 2, ... */
	uint64_t time;     /* since the first event, in ns or ticks */
	uint64_t interval; /* in the same unit */
	int ticks;         /* nonzero: the unit is ticks */
	uint64_t log;      /* which log, or merge of logs, it is of: from 0 */
} tel_snapshot;

/*
 * Called with a snapshot: what the set then tells is what was counted before
 * that moment.  It must not change the set.
 * Returns TEL_OK, or what tel_stats_event() is to return.
 */
typedef tel_status tel_snapshot_fn(void *arg, tel_stats *s,
    const tel_snapshot *at);

/*
 * Calls fn(arg, ...) at each multiple of an interval of the log's own time
 * since its first event, and not at its end.  Events should come in order of
 * time; one that comes late is counted when it comes.
 * interval: in nanoseconds or, with ticks nonzero, in ticks; 0 for none.
 *	Nanoseconds need the rate of the clock: as long as it is not known
 *	there are no snapshots.
 * Of more than 10000 multiples between two events only the first and the
 * last make a snapshot.
 * Returns TEL_OK, TEL_ESTATE.
 */
TEL_API tel_status tel_stats_set_interval(tel_stats *s, uint64_t interval,
    int ticks, tel_snapshot_fn *fn, void *arg);
/*
 * Has everything begin anew after each snapshot (nonzero), so that the set
 * tells what the interval came to: its own counts, least and largest.
 * Current values, keys and open ranges stay.
 * Returns TEL_OK, TEL_ESTATE.
 */
TEL_API tel_status tel_stats_set_deltas(tel_stats *s, int on);

/*
 * Nonzero when what was set speaks of seconds: counts are then as good as
 * the points of synchronisation that were read by then, see tel_window_new().
 */
TEL_API int tel_stats_uses_rate(const tel_stats *s);
/*
 * Nonzero when the order of events matters to what was set (pairs, dt, or an
 * interval): events must then come by time, from a window of TEL_ORDER_TIME
 * or _LIVE or from a tel_merge, as the events of an MPS log do not lie in
 * order of time.
 */
TEL_API int tel_stats_uses_order(const tel_stats *s);

/*
 * Says that events of a reader follow, which is open.  Logs that are merged
 * are all begun before the first event, and ended after the last; logs
 * that come one after the other are begun and ended in turn.
 * Returns TEL_OK; TEL_EINVAL: the log does not have a name that was given,
 * see tel_stats_error(); TEL_ENOMEM.
 */
TEL_API TEL_MUST_USE tel_status tel_stats_begin(tel_stats *s,
    const tel_reader *r);
/*
 * Counts an event.
 * Returns TEL_OK; TEL_EINVAL: the log (a member of an archive, as the first
 * was checked before) does not have a name that was given; TEL_ENOMEM; what
 * a tel_snapshot_fn returned.
 */
TEL_API TEL_MUST_USE tel_status tel_stats_event(tel_stats *s,
    const tel_event *event);
/*
 * Says that all events of a reader come to the statistics as soon as they are
 * read, and that nothing else looks at them.  tel_reader_next() then may leave
 * out events that would only be counted, when the log tells their number, and
 * counts them here; of others it gives the bytes of fields that nothing asks
 * for as zero.  It is for after tel_stats_begin(), of a reader that is read by
 * itself: not through a window or a merge.  s must not be freed before r is.
 */
TEL_API void tel_stats_take(tel_stats *s, tel_reader *r);
/*
 * Says that a reader is at its end, and takes the counts of damage from it.
 * Ranges that are open stay open for ever once the last reader that was begun
 * has ended.  Must come before the reader, and a window or merge of it, is
 * freed.
 * Returns TEL_OK, TEL_ENOMEM, TEL_ESTATE (no reader was begun).
 */
TEL_API TEL_MUST_USE tel_status tel_stats_end(tel_stats *s,
    const tel_reader *r);
/*
 * Makes what the functions below tell complete, up to the last event.  It
 * was called for you in tel_stats_end(), tel_stats_merge() and
 * tel_stats_read_...(), and before a tel_snapshot_fn is.
 * Returns TEL_OK, TEL_ENOMEM.
 */
TEL_API TEL_MUST_USE tel_status tel_stats_settle(tel_stats *s);

/*
 * What the last failure was, in words, printable ASCII without a line end;
 * "" when there was none.  Good until the next call on the set.
 */
TEL_API const char *tel_stats_error(const tel_stats *s);
/*
 * Where in tel_stats_error_text(), in bytes from 1; 0 when it was not at any
 * place.
 */
TEL_API unsigned tel_stats_error_column(const tel_stats *s);
/*
 * The text that failed, as it was given to tel_stats_add() or
 * tel_stats_set_groups(); NULL when the failure had to do with neither.
 * Good until the next call on the set.
 */
TEL_API const char *tel_stats_error_text(const tel_stats *s);

/* ------------------------------------------------------------- report */

/* What is told of all logs together. */
typedef enum tel_total {
	TEL_TOTAL_LOGS,     /* logs that had an event */
	TEL_TOTAL_EVENTS,   /* events counted */
	TEL_TOTAL_BYTES,    /* their bytes in the uncompressed logs */
	TEL_TOTAL_FIRST,    /* the earliest clock; known with an event */
	TEL_TOTAL_LAST,     /* the latest clock; known with an event */
	TEL_TOTAL_TICKS,    /* from the first to the last event of each log
	                     * (or of all that are merged), added up */
	TEL_TOTAL_NS,       /* the same in ns; known if all rates are */
	TEL_TOTAL_INPUT,    /* bytes of the files and pipes */
	TEL_TOTAL_DAMAGED,  /* places where the logs were damaged */
	TEL_TOTAL_SKIPPED,  /* bytes skipped there */
	TEL_TOTAL_REPAIRED, /* events whose size was put right */
	TEL_TOTAL_UNKNOWN,  /* events of types that libtel does not know */
	TEL_TOTAL_LOST,     /* records lost before they reached a log, as
	                     * far as the log says so */
	TEL_TOTAL_CUT,      /* files of statistics without an end */
	/* where types have the roles; known with an event of such a type */
	TEL_TOTAL_ALLOCS,      /* blocks allocated */
	TEL_TOTAL_ALLOC_BYTES, /* and their bytes */
	TEL_TOTAL_FREES,       /* blocks freed */
	TEL_TOTAL_FREE_BYTES,  /* and their bytes */
	TEL_TOTAL_LIVE,        /* blocks that live at the end: the difference,
	                        * below 0 when the log began late */
	TEL_TOTAL_LIVE_BYTES   /* and their bytes */
} tel_total;
/*
 * A total.  out: set when it is known.
 * Returns 1 when it is known, 0 when not or when there is no such total.
 */
TEL_API int tel_stats_total(const tel_stats *s, tel_total which, tel_wide *out);

/* What wrote the logs. */
typedef struct tel_origin {
	const char *schema;  /* as tel_schema_name() */
	const char *version; /* as tel_schema_version() */
	const char *form;    /* as tel_reader_form() */
	uint64_t logs;       /* how many logs had events of it */
	uint64_t events;
} tel_origin;
/*
 * How many different ones there are.  At most 256 are told apart; the others
 * are one more, of the schema "...".
 */
TEL_API size_t tel_stats_origin_count(const tel_stats *s);
/*
 * Origin number i in the order of their coming.
 * out: set; its strings are good until the set changes.
 * Returns 1, or 0 when i is not under the count.
 */
TEL_API int tel_stats_origin(const tel_stats *s, size_t i, tel_origin *out);

/* The events of one type, or of one kind. */
typedef struct tel_part {
	const char *name; /* of the type; of the kind */
	const char *kind; /* of the type; of the kind the same as .name */
	uint32_t code;    /* of the type, in the log that came first */
	uint64_t events;
	uint64_t bytes;
} tel_part;
/*
 * How many types had events; types of equal name and kind are one.  At most
 * 2^16 are told apart; the others are one more, called "...".
 */
TEL_API size_t tel_stats_type_count(const tel_stats *s);
/*
 * Type number i, those with most events first and, where these are as many,
 * by name.
 * out: set; its strings are good until the set changes.
 * Returns 1, or 0 when i is not under the count.
 */
TEL_API int tel_stats_type(const tel_stats *s, size_t i, tel_part *out);
/*
 * How many kinds had events.  At most 256 are told apart; the others are one
 * more, called "...".
 */
TEL_API size_t tel_stats_kind_count(const tel_stats *s);
/* Kind number i, in the same order, as tel_stats_type(). */
TEL_API int tel_stats_kind(const tel_stats *s, size_t i, tel_part *out);

/* ---------------------------------------------------------- statistic */

/*
 * How many statistics there are.  With groups, that is each statistic times
 * the groups that updated it, those of one statistic in a row, in the order
 * of their coming, the overflow group last.  A statistic without groups is
 * there even when no event updated it.
 */
TEL_API size_t tel_stats_count(const tel_stats *s);
/*
 * Statistic number i; NULL when i is not under the count.  It, and all that
 * is reached through it, is good until the set changes.
 */
TEL_API const tel_stat *tel_stats_get(const tel_stats *s, size_t i);

/* The classes of statistics. */
typedef enum tel_class {
	TEL_CLASS_MAG, /* mag and magdelta */
	TEL_CLASS_GROWTH,
	TEL_CLASS_HIST,
	TEL_CLASS_SPLIT,
	TEL_CLASS_TALLY,
	TEL_CLASS_DUR,
	TEL_CLASS_LOG2,
	TEL_CLASS_LOGLIN,
	TEL_CLASS_QUANTILES,
	TEL_CLASS_RATIO
} tel_class;
/* Its name as it is in a spec, for example "hist"; static. */
TEL_API const char *tel_class_name(tel_class c);

/* The statistic's class. */
TEL_API tel_class tel_stat_class(const tel_stat *stat);
/*
 * The statistic's name: of a spec, or the path of a class of an inst stream,
 * its components joined by ':', which may be of any bytes but NUL.
 */
TEL_API const char *tel_stat_name(const tel_stat *stat);
/*
 * What is counted, as it is in the spec behind the name and '=':
 * "hist(size,0,64,8) if kind == Pool".  "" when it is not known.
 */
TEL_API const char *tel_stat_definition(const tel_stat *stat);
/*
 * The unit of the values: "ns" and "ticks" for times, "bytes" for sizes, ""
 * when it is not known.
 */
TEL_API const char *tel_stat_unit(const tel_stat *stat);
/*
 * The parameter number i of its class, from 0.
 * name: set to its name: lo, hi, w; lo, w1, knee, hi, w2; max; k; factor,
 *	low, high, steps; bits.  Static.
 * value: set to its value.
 * Returns 1, or 0 when there are not so many.
 */
TEL_API int tel_stat_parameter(const tel_stat *stat, unsigned i,
    const char **name, int64_t *value);

/* How many keys its group has: as many as there are expressions. */
TEL_API unsigned tel_stat_group_count(const tel_stat *stat);
/* The expression number i; NULL when i is not under the count. */
TEL_API const char *tel_stat_group_name(const tel_stat *stat, unsigned i);
/* What it is worth in this group.  Returns 1, or 0 for no such key. */
TEL_API int tel_stat_group_value(const tel_stat *stat, unsigned i,
    tel_value *out);
/* Nonzero for the group of those that found no room. */
TEL_API int tel_stat_overflow_group(const tel_stat *stat);

/* The numbers of a statistic. */
typedef enum tel_number {
	TEL_NUMBER_UPDATES,  /* updates; of dur its events */
	TEL_NUMBER_WEIGHT,   /* the sum of weights (hist and the like, tally);
	                     * of ratio, of what the values are divided by */
	TEL_NUMBER_SUM,      /* of values times weights; the total of growth,
	                     * dur and ratio; of mag, of all values it had */
	TEL_NUMBER_LAST,     /* the value last set (mag: the current one) */
	TEL_NUMBER_MIN,      /* the least value (mag, growth, dur, quantiles) */
	TEL_NUMBER_MAX,      /* the largest */
	TEL_NUMBER_UNDER,    /* weight of values below the first bucket */
	TEL_NUMBER_OVER,     /* weight of values at the upper bound, or above */
	TEL_NUMBER_OUTSIDE,  /* both, where only that is known: then neither
	                     * of them is defined; tally: see OVERFLOW */
	TEL_NUMBER_KEYS,     /* keys of a tally */
	TEL_NUMBER_OVERFLOW, /* weight of keys that found no bucket */
	TEL_NUMBER_OVERFLOW_UPDATES, /* and how many updates it came in */
	TEL_NUMBER_INVALID,          /* values that the class cannot take */
	/* of pairs, whatever class their times go into */
	TEL_NUMBER_EVENTS,   /* events of starts, ends and middles */
	TEL_NUMBER_PAIRS,    /* starts that were ended */
	TEL_NUMBER_OPEN,     /* starts that were not */
	TEL_NUMBER_ORPHAN,   /* ends that had no start */
	TEL_NUMBER_NESTED,   /* starts while one of the same key was open */
	TEL_NUMBER_BACKWARD, /* pairs whose end was before their start; they
	                      * have no length and are not among the PAIRS */
	TEL_NUMBER_UNTIMED,  /* the same for pairs of which the length is not
	                      * known, as the rate of the clock is not */
	TEL_NUMBER_CROWDED,  /* starts beyond tel_stats_set_max_open() */
	TEL_NUMBER_LOST      /* records lost on the way to the statistic */
} tel_number;
/*
 * A number of a statistic.  out: set when it is defined.
 * Returns 1 when it is defined; 0 when its class has no such number, or it
 * has no value (yet): LAST, MIN and MAX have none before the first update.
 */
TEL_API int tel_stat_number(const tel_stat *stat, tel_number which,
    tel_wide *out);
/*
 * Nonzero when some number of it was too large for its width (sums: 128
 * bits, counts: 64 bits) and wrapped round.
 */
TEL_API int tel_stat_wrapped(const tel_stat *stat);
/*
 * Nonzero when it was merged from parts from which it cannot be exact: a
 * tally one of whose parts, or which itself, had no room for a key, and
 * groups for one of which there was no room.
 */
TEL_API int tel_stat_approximate(const tel_stat *stat);

/* A bucket holds the values from lo up to, but not including, hi. */
typedef struct tel_bucket {
	int64_t lo;
	int64_t hi;
	int open;       /* nonzero: it has no upper end, and hi is no bound */
	unsigned range; /* which of the ranges it is in: 1 behind the knee */
	uint64_t count; /* the sum of weights */
} tel_bucket;
/*
 * How many buckets it has, the empty ones too; 0 for classes without.  The
 * values outside of them are TEL_NUMBER_UNDER and TEL_NUMBER_OVER.
 */
TEL_API size_t tel_stat_bucket_count(const tel_stat *stat);
/*
 * Bucket number i, in rising order, without gaps.
 * Returns 1, or 0 when i is not under the count.
 */
TEL_API int tel_stat_bucket(const tel_stat *stat, size_t i, tel_bucket *out);
/*
 * The first bucket that is not empty, from number i on; the count of buckets
 * when there is none.
 */
TEL_API size_t tel_stat_next_bucket(const tel_stat *stat, size_t i);
/*
 * Which bucket a value belongs to: its number, or -1 when it is below the
 * first, or the count of buckets when it is above the last.
 */
TEL_API int64_t tel_stat_find_bucket(const tel_stat *stat, int64_t value);

/* A quantile, as far as buckets tell it. */
typedef struct tel_quantile {
	enum {
		TEL_QUANTILE_AT_MOST, /* it is value, or below in its bucket */
		TEL_QUANTILE_BELOW,   /* below the first bucket, at value */
		TEL_QUANTILE_AT_LEAST /* value or above: past the last bucket */
	} is;
	int64_t value;
} tel_quantile;
/*
 * The value that a share of the weight does not exceed: of rank
 * ceil(share * weight).  Nothing is interpolated.
 * billionths: the share, 0 to 10^9: 500000000 is the median.
 * Returns 1; 0 when the statistic has no buckets or no weight, when where the
 * weight lies outside is not known, or when the share is over 1.
 */
TEL_API int tel_stat_quantile(const tel_stat *stat, uint32_t billionths,
    tel_quantile *out);

/* A key of a tally. */
typedef struct tel_key {
	tel_value value; /* a string is good until the set changes */
	uint64_t count;  /* the sum of weights */
	uint64_t updates;
} tel_key;
/* In which order keys come. */
typedef enum tel_key_order {
	TEL_KEYS_COUNT,    /* the largest count first, then by value */
	TEL_KEYS_COUNT_UP, /* the smallest count first, then by value */
	TEL_KEYS_VALUE,    /* by value: numbers in order, then strings */
	TEL_KEYS_FIRST     /* as they came */
} tel_key_order;
/*
 * Puts the keys of all tallies in an order; that of TEL_KEYS_FIRST is kept
 * in memory all the same.
 * Returns TEL_OK, TEL_EINVAL, TEL_ENOMEM.
 */
TEL_API TEL_MUST_USE tel_status tel_stats_sort_keys(tel_stats *s,
    tel_key_order order);
/* How many keys a tally has; 0 for other classes. */
TEL_API size_t tel_stat_key_count(const tel_stat *stat);
/*
 * Key number i in the order of the last tel_stats_sort_keys(); as they came
 * if that was not called since the set changed.
 * Returns 1, or 0 when i is not under the count.
 */
TEL_API int tel_stat_key(const tel_stat *stat, size_t i, tel_key *out);

/* ------------------------------------------------------------ merging */

/*
 * Adds to a set what another one has counted after it, as if it had counted
 * that itself, log after log.  Statistics belong together when their names
 * and groups are equal; what the set does not have is taken over.  All is
 * exact, but for what tel_stat_approximate() tells.
 * from: stays as it is, and must be settled; its open ranges stay open for
 *	ever.
 * Returns TEL_OK; TEL_EINVAL: two of a name are defined differently,
 * tel_stats_error() says where, and into has what came before that;
 * TEL_ENOMEM.
 */
TEL_API TEL_MUST_USE tel_status tel_stats_merge(tel_stats *into,
    const tel_stats *from);

/*
 * Writes all that was counted as records of an inst stream, version 1.0.0:
 * what is counted, and a snapshot of it, see tel-inst(5).  Called again it
 * writes what is new, and another snapshot, which takes the place of the one
 * before for whoever reads it.  Not with tel_stats_set_deltas().
 * last: nonzero to end the stream.
 * Returns TEL_OK, TEL_EIO, TEL_ENOMEM, TEL_ESTATE (deltas, or the stream was
 * ended).
 */
TEL_API TEL_MUST_USE tel_status tel_stats_write_inst(tel_stats *s,
    tel_output *out, int last);

/* What tel_inst_probe() finds. */
typedef enum tel_inst_sort {
	TEL_INST_NONE,  /* no inst stream */
	TEL_INST_LOG,   /* an inst log, see tel-inst(5) */
	TEL_INST_STATS, /* one that tel_stats_write_inst() wrote */
	TEL_INST_MORE   /* compressed: more bytes are needed to tell */
} tel_inst_sort;

/*
 * Whether these first bytes of a file, 128 of them or all that there are,
 * begin an inst stream.  They may be compressed, but for archives; then as
 * many are needed as decode to so many.
 */
TEL_API tel_inst_sort tel_inst_probe(const void *bytes, size_t size);
/*
 * Reads an inst stream to its end and merges it into the set, as
 * tel_stats_merge() does, session by session.  It may be compressed.
 * Statistics and updates of its own are taken as they are, whatever
 * tel_stats_add() added.
 * name: what tel_stats_error() calls it.
 * Returns TEL_OK; TEL_EFORMAT: it is no inst stream; TEL_EVERSION: its major
 * version is newer than libtel knows; TEL_EDAMAGED: what could be read was
 * merged, but lines of it made no sense, or it had no end (see
 * TEL_TOTAL_CUT): tel_stats_error() says so; TEL_EINVAL as tel_stats_merge();
 * TEL_EIO (with errno set), TEL_ENOMEM.
 */
TEL_API TEL_MUST_USE tel_status tel_stats_read_inst(tel_stats *s,
    tel_read_fn *read, void *arg, const char *name);
/* The same from an open descriptor, which stays the caller's to close. */
TEL_API TEL_MUST_USE tel_status tel_stats_read_inst_fd(tel_stats *s, int fd,
    const char *name);

/* ------------------------------------------------------------ program */

/*
 * A program is what a log of allocations is compiled to, so that it can be
 * run fast: for each thread a row of 64-bit words, in which blocks have
 * numbers, called slots, instead of addresses.
 *
 *	c = tel_compiler_new(out);
 *	... a window on r, unless tel_schema_ordered() ...
 *	while (tel_reader_next(r, &ev) == TEL_OK)
 *		if (tel_event_alloc(ev, &op))
 *			if (tel_compiler_add(c, &op, tel_event_index(ev)) < 0)
 *				... tell tel_compiler_error(c) ...
 *	tel_compiler_finish(c);
 *	tel_compiler_free(c);
 *
 *	tel_program_open_fd(fd, &p);
 *	for (i = 0; i < tel_program_chunk_count(p); i++) {
 *		tel_program_load(p, i, room, lanes);
 *		... run the lanes, each on a thread ...
 *	}
 *	tel_program_free(p);
 *
 * A lane is a row of operations that one thread runs, in order.  A program
 * is cut into chunks: all lanes of a chunk end before the next one begins.
 */

/*
 * The kinds of words.  The low three bits of a word are its kind; the next
 * one, TEL_WORD_PUBLISH, is set in an operation that another lane waits for;
 * then come 28 bits of a size and 32 bits of a slot.
 */
typedef enum tel_word {
	TEL_WORD_MALLOC = 1,  /* allocate size bytes, and keep it in slot */
	TEL_WORD_FREE = 2,    /* free slot, a block of size bytes */
	TEL_WORD_REALLOC = 3, /* make slot a block of size bytes */
	TEL_WORD_CALLOC = 4,  /* allocate size bytes, all zero */
	/*
	 * Wait until lane number slot has done the operation whose first word
	 * is number size, which has TEL_WORD_PUBLISH set.
	 */
	TEL_WORD_WAIT = 5,
	/*
	 * Allocations of this lane are from here on those of pool number
	 * slot, when size is 0, or of buffer number slot, when size is 1;
	 * frees are of that pool, or of the buffer's.  A chunk begins with
	 * pool 0, the one for operations that name none.
	 */
	TEL_WORD_USE = 6,
	/*
	 * What the size says, a tel_more.  As many words as its low three
	 * bits say follow; a publishing bit counts when they are done.
	 */
	TEL_WORD_MORE = 7
} tel_word;

#define TEL_WORD_KIND 0x7u           /* the bits that are the kind */
#define TEL_WORD_PUBLISH 0x8u        /* somebody waits for it */
#define TEL_WORD_SIZE_SHIFT 4        /* where the size begins */
#define TEL_WORD_SLOT_SHIFT 32       /* where the slot begins */
#define TEL_WORD_SIZE_MAX 0xfffffffu /* the most that it holds */
#define TEL_WORD_SIZE(w) \
	((uint32_t)((w) >> TEL_WORD_SIZE_SHIFT & TEL_WORD_SIZE_MAX))
#define TEL_WORD_SLOT(w) ((uint32_t)((w) >> TEL_WORD_SLOT_SHIFT))

/* The operations that are rare; the low three bits: words that follow. */
typedef enum tel_more {
	/* As the words of these names, with the size in the 1st word. */
	TEL_MORE_MALLOC = 0x09,
	TEL_MORE_FREE = 0x11,
	TEL_MORE_REALLOC = 0x19,
	TEL_MORE_CALLOC = 0x21,
	/* Allocate, size (1st word) aligned to a power of 2 (2nd), to slot. */
	TEL_MORE_ALIGNED = 0x2a,
	/*
	 * Free a part of slot: offset (1st) from the block's first byte, size
	 * (2nd).  The 3rd is 0, or for the last part the size of the whole
	 * block, which then is gone.
	 */
	TEL_MORE_FREE_PART = 0x33,
	/*
	 * The block in slot, of size (1st) bytes, goes with its pool, which
	 * is about to be destroyed: free it where there are no pools.
	 */
	TEL_MORE_FREE_WITH_POOL = 0x39,
	/* Create pool number slot, known to the log by its address (1st). */
	TEL_MORE_POOL_CREATE = 0x41,
	TEL_MORE_POOL_DESTROY = 0x48, /* destroy pool number slot */
	/* Create buffer number slot in pool number (1st). */
	TEL_MORE_BUFFER_CREATE = 0x51,
	TEL_MORE_BUFFER_DESTROY = 0x58 /* destroy buffer number slot */
} tel_more;

/* What is odd about operations; those from TEL_ODD_FREE on are damage. */
typedef enum tel_odd {
	TEL_ODD_FREE_NULL,    /* free(NULL): nothing to do */
	TEL_ODD_REALLOC_NULL, /* realloc(NULL, n): an allocation */
	TEL_ODD_REALLOC_ZERO, /* realloc(p, 0): a free if it gave NULL */
	TEL_ODD_FAILED,       /* an allocation that failed: left out */
	TEL_ODD_RESERVED,     /* reserved, but not committed: left out */
	TEL_ODD_RECLAIMED, /* committed over a block: that was freed before */
	TEL_ODD_POOL,      /* a pool or buffer without creation: created */
	TEL_ODD_FREE,      /* a free of what is not allocated: left out */
	TEL_ODD_REALLOC,   /* a realloc of such: made an allocation */
	TEL_ODD_DOUBLE,    /* the address is allocated: freed before */
	TEL_ODD_RACE,      /* a free that stands in a wrong place: moved */
	TEL_ODD_SIZE,      /* a free of more than there is: of the block */
	TEL_ODD_ARGUMENT   /* a size that cannot be: left out */
} tel_odd;
#define TEL_ODD_KINDS 13

/* A few words for a tel_odd, "free of an unknown address"; static. */
TEL_API const char *tel_odd_text(tel_odd odd);
/* Nonzero when it is damage: something is missing in the log, or wrong. */
TEL_API int tel_odd_damage(tel_odd odd);

/* An operation that is odd. */
typedef struct tel_odd_one {
	tel_odd odd;
	uint32_t log;     /* the log it is in: tel_facts.logs */
	uint64_t event;   /* the number of its event in the log */
	uint64_t address; /* the address in question */
	uint64_t thread;  /* the thread, as the log has it */
} tel_odd_one;

/* How much was live at a time: a point of a curve. */
typedef struct tel_live {
	uint64_t done;   /* words of all lanes up to here */
	uint64_t clock;  /* of the last event */
	uint64_t blocks; /* live blocks */
	uint64_t bytes;  /* and bytes of them */
	uint64_t peak;   /* the most bytes since the point before this one */
} tel_live;

#define TEL_ALLOC_KINDS 13   /* values of tel_alloc_kind */
#define TEL_ODD_KEPT 128     /* odd operations kept, up to 10 of a kind */
#define TEL_CURVE_POINTS 512 /* the most points of a curve */
#define TEL_LOG_NAMES 16     /* the most logs that are told apart */
#define TEL_LOG_NAME 128     /* bytes of a name, with a NUL */

/*
 * The order between lanes that a program keeps.
 */
typedef enum tel_lane_order {
	TEL_LANES_EDGES, /* a block is allocated before another lane frees it */
	TEL_LANES_TOTAL, /* the order of the log */
	TEL_LANES_NONE /* none: each lane frees the blocks that it allocates */
} tel_lane_order;

/*
 * What a trace holds.  Sizes are in bytes; a histogram's element i counts
 * values from 2^(i-1) to 2^i - 1, its element 0 counts zeros.
 */
typedef struct tel_facts {
	uint64_t operations[TEL_ALLOC_KINDS]; /* given, by tel_alloc_kind */
	uint64_t odd[TEL_ODD_KINDS];          /* odd ones, by tel_odd */
	uint64_t compiled;    /* operations in the program, waits apart */
	uint64_t requests;    /* allocations and reallocs */
	uint64_t requested;   /* bytes that they asked for, in all */
	uint64_t largest;     /* the most that one did */
	uint64_t live_blocks; /* live after the last event: leaks, maybe */
	uint64_t live_bytes;
	uint64_t peak_blocks; /* the most that were live at a time */
	uint64_t peak_bytes;  /* the most bytes; the next four say when */
	uint64_t peak_event;
	uint64_t peak_log;
	uint64_t peak_clock;
	uint64_t peak_of_blocks; /* the blocks that were live then */
	uint64_t first_clock;    /* of the first and the last operation */
	uint64_t last_clock;
	double tick_rate;         /* ticks in a second, 0 when not known */
	uint64_t sizes[65];       /* requests by size */
	uint64_t leaked[65];      /* blocks that are live at the end, by size */
	uint64_t lived[65];       /* frees by lifetime, in operations */
	uint64_t lived_ticks[65]; /* frees by lifetime, in ticks */
	uint64_t threads;         /* threads in the log */
	uint64_t lanes;           /* threads of the program, 1 to 1024 */
	uint64_t order;           /* a tel_lane_order */
	uint64_t crossing_frees;  /* of a block that another lane made */
	uint64_t crossing_reallocs; /* the same */
	uint64_t waits;             /* waits in the program */
	uint64_t implied;           /* waits that others made needless */
	uint64_t parts;             /* partial frees */
	uint64_t pools;         /* pools that were created, 0 unless named */
	uint64_t buffers;       /* buffers that were */
	uint64_t slots;         /* slots that the program needs */
	uint64_t words;         /* words in all chunks */
	uint64_t largest_chunk; /* what tel_program_load() needs, in words */
	uint64_t chunks;
	uint64_t odd_kept;     /* elements of odd_ones */
	uint64_t curve_points; /* elements of curve */
	uint64_t logs;         /* elements of log_names */
	tel_odd_one odd_ones[TEL_ODD_KEPT];
	tel_live curve[TEL_CURVE_POINTS];
	char log_names[TEL_LOG_NAMES][TEL_LOG_NAME];
} tel_facts;

/* A compiler makes a program of operations, in bounded memory. */
typedef struct tel_compiler tel_compiler;

/*
 * Makes a compiler.
 * out: where the program goes; NULL for nowhere, when only the facts are of
 *	interest.  It stays the caller's, and must live as long.
 * Returns NULL when there is no memory.
 */
TEL_API TEL_MUST_USE tel_compiler *tel_compiler_new(tel_output *out);
/* Frees a compiler. */
TEL_API void tel_compiler_free(tel_compiler *c);

/*
 * The setters come before the first operation; afterwards they return
 * TEL_ESTATE and change nothing.  Return TEL_OK, TEL_EINVAL, TEL_ESTATE.
 */

/* The order between lanes; TEL_LANES_EDGES unless set. */
TEL_API tel_status tel_compiler_set_order(tel_compiler *c,
    tel_lane_order order);
/*
 * The most lanes, 1 to 1024; 256 unless set.  A log with more threads has
 * several of them in a lane; with 1 it is run in the order of the log.
 */
TEL_API tel_status tel_compiler_set_lanes(tel_compiler *c, unsigned lanes);
/* Nonzero: the first damage ends it with TEL_EDAMAGED. */
TEL_API tel_status tel_compiler_set_strict(tel_compiler *c, int on);
/*
 * The most blocks that may be live at a time, 1 to 2^31; 2^26 unless set.
 * They take about 80 bytes each.
 */
TEL_API tel_status tel_compiler_set_max_live(tel_compiler *c, uint64_t blocks);
/* The most words of a chunk, 2^10 to 2^27; 2^20 unless set. */
TEL_API tel_status tel_compiler_set_chunk(tel_compiler *c, size_t words);

/*
 * Says how many ticks make a second; at any time before the end.
 * Returns TEL_OK, TEL_EINVAL (less than 0, or no number), TEL_ESTATE.
 */
TEL_API tel_status tel_compiler_set_tick_rate(tel_compiler *c, double hertz);
/*
 * Says in which log the operations are from now on, for messages.
 * name: copied, shortened when it is long; of more than TEL_LOG_NAMES logs
 *	the others are all called as the last one.
 * Returns TEL_OK, TEL_ESTATE.
 */
TEL_API tel_status tel_compiler_set_log(tel_compiler *c, const char *name);
/*
 * Adds an operation.
 * event: the number of its event in the log.
 * Returns TEL_OK; TEL_ENOMEM; TEL_EIO, the output failed; TEL_ELIMIT, more
 * is live than may be, or the program is too large; TEL_EDAMAGED (strict
 * only); TEL_ESTATE, it has ended, or failed before.
 */
TEL_API TEL_MUST_USE tel_status tel_compiler_add(tel_compiler *c,
    const tel_alloc *op, uint64_t event);
/*
 * Ends the program and flushes the output.  Returns what tel_compiler_add()
 * may return; TEL_ESTATE when it was called before.
 */
TEL_API TEL_MUST_USE tel_status tel_compiler_finish(tel_compiler *c);
/* What is known of the trace; complete when it has ended.  Lives as c. */
TEL_API const tel_facts *tel_compiler_facts(const tel_compiler *c);
/* What the last failure was, in words; good until the next call. */
TEL_API const char *tel_compiler_error(const tel_compiler *c);

/* A program that was written. */
typedef struct tel_program tel_program;

/* A lane of a chunk. */
typedef struct tel_lane {
	const uint64_t *words; /* the operations */
	/*
	 * Times, in pairs: the number of a word, and the clock at which its
	 * operation was recorded.  Numbers rise, and are those of first words
	 * of operations or the count of all words.
	 */
	const uint64_t *times;
	uint32_t word_count;
	uint32_t time_count; /* pairs */
} tel_lane;

/* Nonzero when the size bytes at data, 8 or more, begin a program. */
TEL_API int tel_program_probe(const void *data, size_t size);
/*
 * Opens a program.
 * fd: a file that can be read at any place; it stays the caller's, and must
 *	stay open and as it is until the free.
 * Returns TEL_OK; TEL_EFORMAT, it is no program; TEL_EVERSION, one of
 * another version; TEL_EDAMAGED; TEL_EIO with errno set; TEL_ENOMEM.
 */
TEL_API TEL_MUST_USE tel_status tel_program_open_fd(int fd, tel_program **out);
/* The same of size bytes at data, which must stay as they are. */
TEL_API TEL_MUST_USE tel_status tel_program_open_memory(const void *data,
    size_t size, tel_program **out);
/* Closes and frees a program. */
TEL_API void tel_program_free(tel_program *p);
/* What the program's trace holds; lives as the program. */
TEL_API const tel_facts *tel_program_facts(const tel_program *p);
/*
 * Goes through all of it: each block is allocated before it is used and
 * freed once, and there is an order in which no lane waits for ever.  For
 * programs of whom nobody knows where they are from.
 * Returns TEL_OK, TEL_EDAMAGED, TEL_EIO, TEL_ENOMEM.
 */
TEL_API TEL_MUST_USE tel_status tel_program_check(tel_program *p);
/*
 * Loads a chunk.  What it holds is checked so far that a number of a slot, a
 * lane, a pool or a buffer is under its count, and what a word is followed
 * by is there.  It allocates nothing.
 * chunk: its number, under tel_facts.chunks.
 * room: for tel_facts.largest_chunk words.
 * lanes: for tel_facts.lanes elements, that are set to point into room.
 * Returns TEL_OK, TEL_EINVAL, TEL_EIO, TEL_EDAMAGED.
 */
TEL_API TEL_MUST_USE tel_status tel_program_load(tel_program *p, uint64_t chunk,
    uint64_t *room, tel_lane *lanes);
/*
 * Finds the event that an operation comes from.
 * position: the number of the first word of it.
 * log: set to the name of the log, which lives as the program.
 * event: set to the number of the event.
 * Returns TEL_OK, TEL_EINVAL (no such operation), TEL_EIO, TEL_EDAMAGED,
 * TEL_ENOMEM.
 */
TEL_API TEL_MUST_USE tel_status tel_program_origin(tel_program *p,
    uint64_t chunk, unsigned lane, uint32_t position, const char **log,
    uint64_t *event);

#ifdef __cplusplus
}
#endif

#endif
