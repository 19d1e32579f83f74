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

#include "tel/base.h"
#include "tel/schema.h"
#include "tel/event.h"
#include "tel/reader.h"
#include "tel/filter.h"
#include "tel/output.h"
#include "tel/writer.h"
#include "tel/printer.h"
#include "tel/stats.h"

/*
 * tel_error(handle): why the last call on a handle failed, whichever it is of
 * tel_reader, tel_window, tel_merge, tel_filter, tel_expr, tel_stats, tel_printer
 * and tel_writer; in C11 and C++.  It is what the function of that handle, tel_reader_error()
 * and its like, returns.
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
TEL_ERROR_OF(tel_stats)
TEL_ERROR_OF(tel_printer)
TEL_ERROR_OF(tel_writer)
#undef TEL_ERROR_OF
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define TEL_ERROR_OF(handle) \
	handle * : handle##_error, const handle * : handle##_error
#define tel_error(handle) \
	_Generic((handle), TEL_ERROR_OF(tel_reader), TEL_ERROR_OF(tel_window), \
	    TEL_ERROR_OF(tel_merge), TEL_ERROR_OF(tel_filter), \
	    TEL_ERROR_OF(tel_expr), TEL_ERROR_OF(tel_stats), \
	    TEL_ERROR_OF(tel_printer), TEL_ERROR_OF(tel_writer))(handle)
#endif

#endif
