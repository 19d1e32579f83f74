/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keep: of the events of a log that are not wanted, those that the wanted
 * ones need to mean the same.  What says how to read the stream is passed on
 * where it stands; a string or a label waits for the first event that shows
 * it.
 */
#ifndef TEL_KEEP_H
#define TEL_KEEP_H

#include "model/event.h"

struct keep;

/* Takes an event that is to be written now.  Returns as tel_writer_event(). */
typedef tel_status keep_put_fn(void *arg, const struct tel_event *ev);

/*
 * Makes one for a log, which holds up to max strings and as many labels; what
 * comes beyond is written where it stands.  NULL when there is no memory.
 */
struct keep *tel__keep_new(size_t max, keep_put_fn *put, void *arg);
void tel__keep_free(struct keep *k);

/*
 * Writes what is needed by ev, an event that is about to be written.
 * Returns TEL_OK, TEL_ENOMEM, or what put() returned.
 */
tel_status tel__keep_before(struct keep *k, const struct tel_event *ev);

/* Keeps what may be needed of ev, an event that is not written, likewise. */
tel_status tel__keep_pass(struct keep *k, const struct tel_event *ev);

/* Nonzero for the string in which the MPS names its release. */
int tel__keep_is_build(const char *string, size_t length);

#endif
