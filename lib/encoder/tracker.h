/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dependency tracker: of the events of a log that are filtered out, writes
 * those that the others need to mean the same.  Events that define how to read
 * the stream are written in their place; it holds copies of Intern and Label
 * events, and writes each before the first event that shows it.
 */
#ifndef TEL_TRACKER_H
#define TEL_TRACKER_H

#include "model/run.h"

struct tracker;

/* Takes an event that is to be written now.  Returns as tel_writer_event(). */
typedef tel_status tracker_put_fn(void *arg, const struct tel_event *ev);
/* Nonzero when a string is the build string of the log's program. */
typedef int tracker_build_fn(void *arg, const struct tel_schema *schema,
    const char *string, size_t n);

/*
 * Makes one for a log, which holds up to max strings and as many labels;
 * further ones are written in their place.  NULL when out of memory.
 */
struct tracker *tel__tracker_new(size_t max, tracker_put_fn *put,
    tracker_build_fn *is_build, void *arg);
void tel__tracker_free(struct tracker *k);

/*
 * Writes the events that ev needs, which is about to be written.
 * Returns TEL_OK, TEL_ENOMEM, or what put() returned.
 */
tel_status tel__tracker_before(struct tracker *k, const struct tel_event *ev);

/*
 * The same of events of a run, from one on, up to the first that may need
 * another, or is a string or a label.  Returns how many were taken.
 */
size_t tel__tracker_take(struct tracker *k, const struct tel_run *run,
    size_t from);

/* Keeps what may be needed of ev, an event that is not written, likewise. */
tel_status tel__tracker_pass(struct tracker *k, const struct tel_event *ev);

#endif
