/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tel/run.h - part of libtel, see tel.h for the general rules.
 *
 * Runs: many events at once, as columns.
 */
#ifndef TEL_TEL_RUN_H
#define TEL_TEL_RUN_H

#include "tel/event.h"

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
 * A run, and everything reached through it, is valid until the next call of
 * tel_reader_run(), tel_reader_next() or tel_reader_free() on its reader.
 */
typedef struct tel_run tel_run;

/* The number of events: at least 1, unless tel_filter_run() left none. */
TEL_SINCE_0_1 size_t tel_run_count(const tel_run *run);
/* The clocks of the events in ticks: an array of tel_run_count() entries. */
TEL_SINCE_0_1 const uint64_t *tel_run_clocks(const tel_run *run);
/* The type of event i; NULL when there are no more than i events. */
TEL_SINCE_0_1 const tel_type *tel_run_type(const tel_run *run, size_t i);
/*
 * The bytes of event i in the log, as tel_event_bytes() has them; NULL when
 * there are no more than i events.
 * size: set to the number of bytes; may be NULL.
 */
TEL_SINCE_0_1 const void *tel_run_bytes(const tel_run *run, size_t i,
    size_t *size);
/* The offset of event i in its log; 0 when there are no more than i. */
TEL_SINCE_0_1 uint64_t tel_run_offset(const tel_run *run, size_t i);
/*
 * Event i, for all that takes an event; NULL when there are no more than i.
 * It is valid until the next call for the same run.
 */
TEL_SINCE_0_1 const tel_event *tel_run_event(tel_run *run, size_t i);
/* Leaves out the first n events. */
TEL_SINCE_0_1 void tel_run_drop(tel_run *run, size_t n);
/*
 * The values of a field in all events of a type, as tel_event_u64() has them.
 * values: set to them in order; has room for tel_run_count() of them.
 * Returns how many there are; 0 when the type does not have the field.
 */
TEL_SINCE_0_1 size_t tel_run_column(const tel_run *run, const tel_type *type,
    unsigned field, uint64_t *values);

#ifdef __cplusplus
}
#endif

#endif
