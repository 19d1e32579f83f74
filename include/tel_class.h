/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tel_class.h - instrumentation classes of libtel-emit.
 *
 * A tree of classes, as in the instrumentation system of Mac OS in 1997: path
 * classes contain others, trace classes record events, and statistics sum up
 * what would be too frequent to record.  A statistic costs a few nanoseconds an
 * update, and a snapshot of it is written to the log at intervals, and when
 * asked for.  tel-class(3) has a worked example, and a table of the names of
 * 1997.
 *
 *	tel_emit_open(NULL, NULL);
 *	tel_emit_to_file("fs.tel", ~0u, 0);
 *	hits = tel_class_create_growth(TEL_CLASS_ROOT, "HFS:Cache:Hits", "", 
 *	    TEL_CLASS_ENABLE);
 *	...
 *	tel_class_update_growth(hits, 1);
 *	...
 *	tel_emit_close();
 *
 * "telstat fs.tel" shows the statistics, "telstat -i 1s fs.tel" those of each
 * second, and telcat(1) every record.
 *
 * Any thread may call any function; those marked AS may be called in signal
 * handlers, too.  Each thread counts in memory of its own, so that threads do
 * not wait for each other, and a snapshot adds it all up: it may be taken
 * between two numbers of one update, but no update is lost, and none counts
 * twice.  Threads beyond the 64th, and those without memory, share theirs, and
 * count as exactly, with slower instructions.
 *
 * Updates have no result: one of a class that is NULL, disabled, disposed of,
 * or of another type has no effect.
 */
#ifndef TEL_CLASS_H
#define TEL_CLASS_H

#include <stdarg.h>

#include "tel_emit.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A class.  It is valid until tel_class_close(), even if disposed of. */
typedef struct tel_emit_class tel_emit_class;
/* How the data of a trace event becomes text. */
typedef struct tel_class_descriptor tel_class_descriptor;

/* The root of the tree. */
#define TEL_CLASS_ROOT ((tel_emit_class *)-1)

/* Options of a class; the numbers are those of 1997. */
enum {
	TEL_CLASS_DISABLE = 0x00,
	TEL_CLASS_ENABLE = 0x01,
	TEL_CLASS_SUMMARY = 0x20, /* of a trace class: only its sums */
	TEL_CLASS_TEXT = 0x40     /* of a tally: its keys are strings */
};

/* The part that a trace event has in a range, an operation with a duration. */
enum {
	TEL_CLASS_SINGLE = 0, /* not in a range */
	TEL_CLASS_START = 1,
	TEL_CLASS_END = 2,
	TEL_CLASS_MIDDLE = 3
};
#define TEL_CLASS_NO_TAG 0u

/* The kinds of events of classes, as masks for sinks and control. */
#define TEL_CLASS_KIND_CLASS (1u << 27)    /* definitions, and changes */
#define TEL_CLASS_KIND_TRACE (1u << 28)    /* trace events */
#define TEL_CLASS_KIND_SNAPSHOT (1u << 29) /* of statistics */

#define TEL_CLASS_MAX 4096u          /* classes, those disposed of too */
#define TEL_CLASS_PATH_MAX 1023u     /* bytes of a path */
#define TEL_CLASS_BUCKETS_MAX 65536u /* of a histogram, and keys of a tally */
/*
 * About so many open ranges of a summary, 16 of one tag; a start without a place
 * is counted as lost.
 */
#define TEL_CLASS_RANGES_MAX 1024u

/* ------------------------------------------------------- open and close */

/* The library chooses members that are 0. */
typedef struct tel_class_options {
	/*
	 * Between two snapshots of all changed statistics; 1,000.  Every 32nd
	 * has the unchanged ones, too.
	 */
	unsigned interval_ms;
	int on_demand; /* take snapshots only on request */
	/*
	 * Address space for threads' counts, committed as used; 16 MiB.
	 */
	size_t memory;
} tel_class_options;

/*
 * Enables classes. tel_emit_open() must be called before; the kinds 27 to 29
 * become those of classes, and are turned on.  With TEL_EMIT_NO_THREAD there is
 * no thread, and tel_emit_flush() takes the snapshots that are due.  Without
 * this call, the first class that is created makes it.
 * options: NULL for the defaults.
 * Errors: EBADF (telemetry is not open), EBUSY (classes are open), EINVAL (an
 * option is invalid, or the kinds are in use: see tel_emit_error()), ENOMEM,
 * ENOSPC, those of pthread_create(3).
 */
TEL_EMIT_API int tel_class_open(const tel_class_options *options);
/*
 * Takes a last snapshot, and ends all classes.  tel_emit_close() calls it.
 * A class must not be used afterwards; until the next tel_class_open() a use
 * has no effect.
 */
TEL_EMIT_API void tel_class_close(void);

/* ------------------------------------------------------------- creating */

/*
 * These create a class, or find it: an existing one of that type is returned
 * unchanged.
 * parent: TEL_CLASS_ROOT or a path class.
 * name: of the class, or a path from its parent to it, components joined by
 *	':'.  Paths on the way are created.  Any bytes but ':' and NUL.
 * unit: of the values, such as "bytes" and "ns"; NULL or "" for none.
 * options: TEL_CLASS_ENABLE, or it is disabled at first.
 * Returns the class, or NULL with errno set: EEXIST (there is a class of
 * another type), ENOTDIR (a component on the way is not a path class), ENOENT
 * (the parent was disposed of), EINVAL (a name, a bound or a parent is
 * invalid), ENAMETOOLONG, ENOSPC (too many classes, or no room for their names
 * and buckets), and those of tel_class_open().
 */
TEL_EMIT_API tel_emit_class *tel_class_create_path(tel_emit_class *parent,
    const char *name);
/*
 * A trace class; with TEL_CLASS_SUMMARY only the number of events is kept, and
 * the count, total, least and largest time of ranges, in ns.
 * component: its part of the program, up to 31 bytes; or NULL.
 */
TEL_EMIT_API tel_emit_class *tel_class_create_trace(tel_emit_class *parent,
    const char *name, const char *component, unsigned options);
/*
 * Buckets of a width in [lower, upper); the last one may be narrower.  At most
 * TEL_CLASS_BUCKETS_MAX.
 */
TEL_EMIT_API tel_emit_class *tel_class_create_histogram(tel_emit_class *parent,
    const char *name, int64_t lower, int64_t upper, uint64_t width,
    const char *unit, unsigned options);
/* The same with another width from knee on. */
TEL_EMIT_API tel_emit_class *
tel_class_create_split_histogram(tel_emit_class *parent, const char *name,
    int64_t lower, uint64_t width1, int64_t knee, int64_t upper,
    uint64_t width2, const char *unit, unsigned options);
/* A value that goes up and down: current, least, largest, sum and count. */
TEL_EMIT_API tel_emit_class *tel_class_create_magnitude(tel_emit_class *parent,
    const char *name, const char *unit, unsigned options);
/* A sum that only grows, with its last, least and largest increment. */
TEL_EMIT_API tel_emit_class *tel_class_create_growth(tel_emit_class *parent,
    const char *name, const char *unit, unsigned options);
/*
 * Counts by key, for at most max different keys; further ones count as
 * overflow.  Keys are numbers, or with TEL_CLASS_TEXT strings.
 */
TEL_EMIT_API tel_emit_class *tel_class_create_tally(tel_emit_class *parent,
    const char *name, unsigned max, unsigned options);
/*
 * Ends a class and all below it, after a last snapshot of them.  Concurrent
 * updates by other threads are counted if they precede the snapshot, and have
 * no effect otherwise.  Another class may be created in its place.  The root,
 * NULL, and classes already disposed of are ignored.
 */
TEL_EMIT_API void tel_class_dispose(tel_emit_class *c);

/* ---------------------------------------------------------- descriptors */

/*
 * Makes a descriptor from a format of printf(3), with one conversion for each
 * value: d i u o x X c s p f F e E g G a A, with flags, width, precision and
 * length.  "%n", "*", "$" and all others are refused: EINVAL.  ENOMEM.
 */
TEL_EMIT_API tel_class_descriptor *tel_class_create_descriptor(
    const char *format);
/* Makes count of them, all or none.  0, -1. */
TEL_EMIT_API int tel_class_create_descriptors(const char *const *formats,
    unsigned count, tel_class_descriptor **descriptors);
/* Frees one; NULL is ignored.  It must not be in use. */
TEL_EMIT_API void tel_class_dispose_descriptor(tel_class_descriptor *d);
/* Frees count of them, and sets them to NULL. */
TEL_EMIT_API void
tel_class_dispose_descriptors(tel_class_descriptor **descriptors,
    unsigned count);

/* --------------------------------------------------------- trace events */

/*
 * Records an event of a trace class.  AS
 * tag: common to the start, the end and the events within a range, and unique
 *	among open ranges of the class; or any number.
 * phase: TEL_CLASS_SINGLE, TEL_CLASS_START ...
 */
TEL_EMIT_API void tel_class_log(tel_emit_class *c, uint32_t tag,
    unsigned phase);
/*
 * The same with data, which the descriptor converts to text of up to 1,023
 * bytes.  d: NULL for no data.  Not AS: it calls printf(3).
 */
TEL_EMIT_API void tel_class_log_data(tel_emit_class *c, uint32_t tag,
    unsigned phase, const tel_class_descriptor *d, ...);
TEL_EMIT_API void tel_class_log_data_list(tel_emit_class *c, uint32_t tag,
    unsigned phase, const tel_class_descriptor *d, va_list values);
/*
 * The same with the data in a structure, whose members are of the types that
 * printf(3) takes: int, long, double, const char * and so on, aligned as in a C
 * structure.  If the structure is too short, the text is cut there.
 */
TEL_EMIT_API void tel_class_log_structure(tel_emit_class *c, uint32_t tag,
    unsigned phase, const tel_class_descriptor *d, const void *structure,
    size_t size);
/* Returns a tag that no other call in this process returned; never 0.  AS */
TEL_EMIT_API uint32_t tel_class_create_tag(void);

/* ----------------------------------------------------------- statistics */

/* Adds to a growth.  AS */
TEL_EMIT_API void tel_class_update_growth(tel_emit_class *c,
    uint64_t increment);
/* Sets the value of a magnitude.  AS */
TEL_EMIT_API void tel_class_update_magnitude(tel_emit_class *c, int64_t value);
/*
 * Adds to the value of a magnitude, atomically.  AS
 */
TEL_EMIT_API void tel_class_update_magnitude_delta(tel_emit_class *c,
    int64_t delta);
/*
 * Adds count to the bucket of the value, of a histogram or a split histogram,
 * or to those under or over its range.  AS
 */
TEL_EMIT_API void tel_class_update_histogram(tel_emit_class *c, int64_t value,
    uint64_t count);
/* Adds count to a key of a tally.  AS */
TEL_EMIT_API void tel_class_update_tally(tel_emit_class *c, uint64_t key,
    uint64_t count);
/*
 * The same with a string, of a tally with TEL_CLASS_TEXT; it is cut at 255
 * bytes.  AS
 */
TEL_EMIT_API void tel_class_update_tally_text(tel_emit_class *c,
    const char *key, uint64_t count);
/*
 * Writes a snapshot of all enabled statistics from top on downwards that were
 * ever updated.  0; -1 with EBADF: classes are not open; EINVAL: not a class.
 */
TEL_EMIT_API int tel_class_snapshot(tel_emit_class *top);

/* --------------------------------------------------- enable and disable */

/*
 * A class counts if it and all paths above it are enabled.  These change one
 * class, a path, or the root: enabling a path does not enable a class below it
 * that was itself disabled.  Before a class is disabled, a snapshot of its
 * counts is written.
 * EBADF; EINVAL: not a class; ENOENT: it was disposed of.
 */
TEL_EMIT_API int tel_class_enable(tel_emit_class *c);
TEL_EMIT_API int tel_class_disable(tel_emit_class *c);

#ifdef __cplusplus
}
#endif

#endif
