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
 *		... look at *ev, or pass it to a printer ...
 *	tel_reader_free(r);
 *
 * Rules for every function:
 *
 * - A handle belongs to one thread at a time.  Different handles are
 *   independent of each other: the library has no global state.
 * - A returned pointer is borrowed, and is valid until the call that its
 *   comment names; the caller frees only what a ..._new function returned.
 *   Every ..._free function accepts NULL.
 * - The library never prints, never ends the process and never touches
 *   signals.  Messages go to the function that was set by
 *   tel_reader_set_notify().
 * - Strings from a log are bytes: they may contain anything but NUL, and are
 *   not escaped.  A program that shows them must escape them.
 */
#ifndef TEL_H
#define TEL_H

#include "tel/base.h"
#include "tel/schema.h"
#include "tel/event.h"
#include "tel/reader.h"
#include "tel/filter.h"
#include "tel/output.h"
#include "tel/writer.h"
#include "tel/printer.h"
#ifdef TEL_EXPERIMENTAL
#include "tel/heap.h"
#include "tel/run.h"
#include "tel/stats.h"
#include "tel/table.h"
#endif

/*
 * tel_error(handle): why the last call on a handle failed, for any of
 * tel_reader, tel_window, tel_merge, tel_filter, tel_expr, tel_stats,
 * tel_printer and tel_writer; in C11 and C++.  It returns what the handle's own
 * function, such as tel_reader_error(), does.
 */
#ifdef __cplusplus
#define TEL_ERROR_OF(handle) \
	inline const char *tel_error(const handle *h) \
	{ \
		return handle##_error(h); \
	}
TEL_ERROR_OF(tel_reader)
TEL_ERROR_OF(tel_window)
TEL_ERROR_OF(tel_merge)
TEL_ERROR_OF(tel_filter)
TEL_ERROR_OF(tel_expr)
TEL_ERROR_OF(tel_printer)
TEL_ERROR_OF(tel_writer)
#ifdef TEL_EXPERIMENTAL
TEL_ERROR_OF(tel_stats)
#endif
#undef TEL_ERROR_OF
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define TEL_ERROR_OF(handle) \
	handle * : handle##_error, const handle * : handle##_error
#define tel_error(handle) \
	_Generic((handle), TEL_ERROR_OF(tel_reader), TEL_ERROR_OF(tel_window), \
	    TEL_ERROR_OF(tel_merge), TEL_ERROR_OF(tel_filter), \
	    TEL_ERROR_OF(tel_expr), \
	    TEL_ERROR_OF_STATS TEL_ERROR_OF(tel_printer), \
	    TEL_ERROR_OF(tel_writer))(handle)
#ifdef TEL_EXPERIMENTAL
#define TEL_ERROR_OF_STATS TEL_ERROR_OF(tel_stats),
#else
#define TEL_ERROR_OF_STATS
#endif
#endif

#endif
