/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conversion: events of any schema as events of an MPS release, by the names
 * of types and fields.  What that has no place for is counted; a value that
 * does not fit costs its event, and is never changed.
 */
#ifndef TEL_CONVERT_H
#define TEL_CONVERT_H

#include "model/event.h"
#include "write/losses.h"

/* A conversion to one schema. */
struct convert;

/* What is known of the types of one log: lives as long as the log. */
struct convert_log;

/*
 * to, losses: must live as long.  NULL when there is no memory.
 */
struct convert *tel__convert_new(const struct tel_schema *to,
    struct losses *losses);
void tel__convert_free(struct convert *c);

void tel__convert_log_free(struct convert_log *l);

/* How an event is converted. */
enum convert_how {
	CONVERT_COUNT,  /* what is lost is counted */
	CONVERT_STRICT, /* and costs the event */
	CONVERT_ROLES   /* only what says something of the log; not counted */
};

/*
 * Converts an event of the log that *l is about, NULL for a log that is new.
 * out: room for CONVERT_MOST; what was made, but for .log, good until the next
 *	call of this function.
 * n: how many that were.
 * lost: set to the loss that kept the event out, or NULL.
 * Returns TEL_OK, TEL_ENOMEM.
 */
#define CONVERT_MOST 2
tel_status tel__convert_event(struct convert *c, struct convert_log **l,
    const struct tel_event *ev, enum convert_how how, struct tel_event *out,
    unsigned *n, const struct loss **lost);

/*
 * Makes an event of the target: what a stream begins with, when the log does
 * not say it.  It is good until the next of these calls.
 */
void tel__convert_make_init(struct convert *c, uint64_t clock,
    uint64_t clocks_per_sec, struct tel_event *out);
void tel__convert_make_build(struct convert *c, uint64_t clock, uint64_t id,
    struct tel_event *out);
/*
 * The same for a string of at most 255 bytes, and for the label of an address,
 * or of a pointer where these are labelled apart.  0 when the label does not
 * fit the target.
 */
void tel__convert_make_string(struct convert *c, uint64_t clock, uint64_t id,
    const char *text, size_t n, struct tel_event *out);
int tel__convert_make_label(struct convert *c, uint64_t clock, int pointer,
    uint64_t at, uint64_t id, struct tel_event *out);

#endif
