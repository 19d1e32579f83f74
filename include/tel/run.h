/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tel/run.h - part of libtel, see tel.h for the general rules.
 *
 * Runs: many events at once, as columns.
 */
#ifndef TEL_TEL_RUN_H
#define TEL_TEL_RUN_H

#ifndef TEL_EXPERIMENTAL
#error "tel/run.h may still change: define TEL_EXPERIMENTAL"
#endif

#include "tel/filter.h"
#include "tel/printer.h"
#include "tel/reader.h"
#include "tel/writer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------ runs */

/*
 * Events of one log that follow each other, as they came out of one buffer:
 *
 *	tel_run *run;
 *	while ((st = tel_reader_run(r, SIZE_MAX, &run)) == TEL_OK)
 *		for (i = 0; i < tel_run_count(run); i++)
 *			sum += tel_run_clocks(run)[i];
 *
 * All are of one schema.  Only the first may define a name, a point of
 * synchronisation or the version of the log, so that labels and times of all
 * are those that they have one by one.  The number of events in a run depends
 * on the format, and on how the input was read; of some formats it is always 1.
 *
 * A run belongs to its reader, or to its window, and is not freed.  It, and
 * everything reached through it, is valid until the next call of
 * tel_reader_run(), tel_reader_next() or tel_reader_free() on its reader; one
 * of tel_window_run(), until the next call for its window.  tel_run_drop() and
 * tel_filter_run() renumber the events that they leave: a pointer that was
 * returned before is invalid for them.  In all functions, events are numbered
 * from 0.
 *
 * examples/columns is a program that reads columns.
 */

/*
 * The number of events: at least 1, unless tel_filter_run() or tel_run_drop()
 * left none.
 */
TEL_SINCE_EXPERIMENTAL size_t tel_run_count(const tel_run *run);
/*
 * The clocks of the events in ticks, as tel_event_clock() has them: an array of
 * tel_run_count() entries, which belongs to the run.
 */
TEL_SINCE_EXPERIMENTAL const uint64_t *tel_run_clocks(const tel_run *run);
/*
 * The type of event i, which is valid as long as its schema; NULL when there
 * are no more than i events.
 */
TEL_SINCE_EXPERIMENTAL const tel_type *tel_run_type(const tel_run *run,
    size_t i);
/*
 * Event i, for all that takes an event; NULL when there are no more than i.
 * It is valid until the next call for the same run.
 */
TEL_SINCE_EXPERIMENTAL const tel_event *tel_run_event(tel_run *run, size_t i);
/* Leaves out the first n events, or all if there are fewer. */
TEL_SINCE_EXPERIMENTAL void tel_run_drop(tel_run *run, size_t n);
/*
 * The values of a field in all events of a type, as tel_event_u64() has them:
 * those of a double are its bits, and those of a string are 0.
 * type: of the schema of the run, such as tel_schema_find_type() or
 *	tel_run_type() returns; a type of another schema has no events here.
 * field: its number in the type, as tel_type_find_field() returns it.
 * values: set to them in the order of the events; has room for tel_run_count()
 *	of them, and stays the caller's.
 * Returns how many there are; 0 when the type does not have the field.
 */
TEL_SINCE_EXPERIMENTAL size_t tel_run_column(const tel_run *run,
    const tel_type *type, unsigned field, uint64_t *values);

/* ------------------------------------------ of readers, windows, users */

/*
 * The next events, as many as can be had at once: see tel/run.h.  Calls of this
 * function and of tel_reader_next() may alternate.
 * most: the most events to return, from 1 on; SIZE_MAX for no limit.
 * run: set on TEL_OK to at least one event; it is valid until the next call.
 * Returns what tel_reader_next() does; TEL_EINVAL: most is 0.
 */
TEL_SINCE_EXPERIMENTAL TEL_MUST_USE tel_status tel_reader_run(tel_reader *r,
    size_t most, tel_run **run);

/*
 * The next events, as tel_reader_run() returns them, or what tel_window_next()
 * returns.  They are in order of time where those of tel_window_next() are, and
 * copies, valid until the next call.  Only one of the two may be called for a
 * window.
 */
TEL_SINCE_EXPERIMENTAL TEL_MUST_USE tel_status tel_window_run(tel_window *w,
    tel_run **run);

/*
 * Leaves the events of a run that match.
 * Returns TEL_OK, also when none is left; TEL_EINVAL when binding failed: see
 * tel_filter_error().
 */
TEL_SINCE_EXPERIMENTAL TEL_MUST_USE tel_status tel_filter_run(tel_filter *f,
    tel_run *run);

/* Prints all events of a run.  Returns what tel_printer_event() does. */
TEL_SINCE_EXPERIMENTAL TEL_MUST_USE tel_status tel_printer_run(tel_printer *p,
    tel_run *run);

/* Writes all events of a run.  Returns what tel_writer_event() does. */
TEL_SINCE_EXPERIMENTAL TEL_MUST_USE tel_status tel_writer_run(tel_writer *w,
    tel_run *run);

#ifdef __cplusplus
}
#endif

#endif
