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

#endif
