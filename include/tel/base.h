/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tel/base.h - part of libtel, see tel.h for the general rules.
 *
 * Status codes, version, and 128-bit integers: what every other header uses.
 */
#ifndef TEL_TEL_BASE_H
#define TEL_TEL_BASE_H

#include <stddef.h>
#include <stdint.h>

/*
 * The version of this header: as text, as numbers, and as one number that can
 * be compared: "#if TEL_VERSION_NUMBER >= TEL_VERSION_CODE(0, 2, 0)".
 */
#define TEL_VERSION "0.1.0"
#define TEL_VERSION_MAJOR 0
#define TEL_VERSION_MINOR 1
#define TEL_VERSION_PATCH 0
#define TEL_VERSION_CODE(major, minor, patch) \
	((major)*1000000 + (minor)*1000 + (patch))
#define TEL_VERSION_NUMBER \
	TEL_VERSION_CODE(TEL_VERSION_MAJOR, TEL_VERSION_MINOR, \
	    TEL_VERSION_PATCH)

#if defined(__GNUC__)
#define TEL_API __attribute__((visibility("default")))
#define TEL_MUST_USE __attribute__((warn_unused_result))
#else
#define TEL_API
#define TEL_MUST_USE
#endif

/*
 * Each function is marked with the release that introduced it; the symbol
 * version nodes of libtel.so have the same names.
 */
#define TEL_SINCE_0_1 TEL_API
/*
 * Declared where a program defines TEL_EXPERIMENTAL before it includes tel.h:
 * heaps, runs, statistics and tables, whose functions and structures may
 * change in any release.  All others stay as they are until the soname changes.
 */
#define TEL_SINCE_EXPERIMENTAL TEL_API

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- status */

/*
 * The result of a call.  Zero: success.  Positive: success, with further
 * information.  Negative: failure; after a failure of tel_reader_next() the
 * reader returns no more events.
 */
typedef enum tel_status {
	TEL_OK = 0,        /* done */
	TEL_END = 1,       /* no more events */
	TEL_LOG = 2,       /* a log of several has ended, another starts */
	TEL_AGAIN = 3,     /* no input yet: call again later */
	TEL_ENOMEM = -1,   /* out of memory */
	TEL_EIO = -2,      /* reading or writing failed: see errno text */
	TEL_EINVAL = -3,   /* invalid argument */
	TEL_ESTATE = -4,   /* the call is not allowed in this state */
	TEL_EFORMAT = -5,  /* the format of the input is unknown */
	TEL_EVERSION = -6, /* a newer major version than libtel knows */
	TEL_EDAMAGED = -7, /* damaged input, in strict mode */
	TEL_ELIMIT = -8    /* a documented limit was exceeded */
} tel_status;

/*
 * What a filter, an expression, the columns of a printer or statistics depend on
 * beyond the event itself, for tel_filter_uses() and its like.
 */
typedef enum tel_use {
	/* seconds: results are as exact as the synchronisation points read so
	 * far allow, see tel_window_new() */
	TEL_USE_RATE,
	/* labels: one is known only to events that are read after it, so logs
	 * are best read in order of time */
	TEL_USE_LABELS,
	/* what an event ends, or the live blocks: see tel_event_remember() */
	TEL_USE_HISTORY,
	/* other events of the log: by labels, its number, the time since the
	 * first, or what comes before it.  A log can be counted in pieces
	 * where nothing does. */
	TEL_USE_OTHERS,
	/* the order of events (history, and in statistics pairs, dt, every, or
	 * an interval): events must then come by time, from a window of
	 * TEL_ORDER_TIME or _LIVE or from a tel_merge, as the events of an MPS
	 * log are not in order of time */
	TEL_USE_ORDER
} tel_use;

/*
 * A short text in lower case for a status, without a full stop.
 * status: any value; an invalid one gives "unknown status".
 * Returns a static string, never NULL.
 */
TEL_SINCE_0_1 const char *tel_status_text(tel_status status);

/* The version of the library that runs, for example "0.1.0"; static. */
TEL_SINCE_0_1 const char *tel_version(void);

/*
 * What a name that is unknown may have been meant for: puts text such as
 * "; did you mean 'json' or 'js'?" into buffer, with at most three of the
 * names, or nothing if none is near.  Case is ignored.
 * names: the n names that are known; not kept.
 * size: of buffer, in bytes, at least 1; 256 are enough for names of 48.
 * Returns buffer.
 */
TEL_SINCE_0_1 const char *tel_suggest(const char *unknown,
    const char *const *names, size_t n, char *buffer, size_t size);

/* ------------------------------------------------------ 128-bit integers */

/*
 * An integer of 128 bits in two's complement: high * 2^64 + low.  Sums and all
 * numbers of statistics are that wide.
 */
typedef struct tel_int128 {
	int64_t high;
	uint64_t low;
} tel_int128;

/* Bytes of the longest tel_int128 in decimal, including the NUL. */
#define TEL_INT128_TEXT 42

/*
 * Writes v in decimal, without grouping, into buffer, which has room for
 * TEL_INT128_TEXT bytes.  Returns buffer.
 */
TEL_SINCE_0_1 char *tel_int128_text(tel_int128 v, char *buffer);
/* The double nearest to v; in a tie, either of the two. */
TEL_SINCE_0_1 double tel_int128_double(tel_int128 v);

#ifdef __cplusplus
}
#endif

#endif
