/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conversion: events of any schema as events of an MPS release, by the names
 * of types and fields.  What that has no place for is counted; a value that
 * does not fit costs its event, and is never changed.
 */
#ifndef TEL_CONVERT_H
#define TEL_CONVERT_H

#include "encoder/encoder.h"

/* A conversion to one schema. */
struct convert;

/* Facts on the types of one log: lives as long as the log. */
struct convert_log;

/*
 * to, losses: must live as long.  NULL when out of memory.
 */
struct convert *tel__convert_new(const struct tel_schema *to,
    struct losses *losses);
void tel__convert_free(struct convert *c);

void tel__convert_log_free(struct convert_log *l);

/* How an event is converted. */
enum convert_how {
	CONVERT_COUNT,  /* losses are counted */
	CONVERT_STRICT, /* and costs the event */
	CONVERT_ROLES   /* only events on the log itself; not counted */
};

/*
 * Converts an event of the log that *l is about, NULL for a log that is new.
 * out: room for CONVERT_MAX; what was made, except for .log, good until the
 *	next call of this function.
 * n: how many that were.
 * lost: set to the loss that kept the event out, or NULL.
 * Returns TEL_OK, TEL_ENOMEM.
 */
#define CONVERT_MAX 2
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

/* ---------------------------------------------------------- in its inside */

/* Those that are converted, and one that is made. */
#define ROOMS (CONVERT_MAX + 1)

/* A label that was converted. */
struct label {
	uint64_t at, id, clock;
	int is;
};

struct convert {
	const struct tel_schema *to;
	struct losses *losses;
	unsigned char *room[ROOMS]; /* an event each */
	struct label last;
};

/* Makes the event at data, of type t, complete, at the time of another. */
void tel__convert_finish(const struct convert *c, const struct tel_type *t,
    unsigned char *data, uint32_t size, const struct tel_event *from,
    struct tel_event *out);

/* Has an EventInit at data say what the target is. */
void tel__convert_set_init(const struct tel_schema *to,
    const struct tel_type *t, unsigned char *data);

/*
 * A string, with room for TEL_STRING_ROOM bytes, that names the release and
 * platform it was built for: names those of the target.  Its new length.
 */
size_t tel__convert_set_build(const struct tel_schema *to, char *s, size_t n);

/* ------------------------------------------- plans, for events of a type */

enum move_op {
	MOVE_BYTES, /* n bytes, as they are */
	MOVE_VALUE, /* a value, which may not fit */
	MOVE_STRING
};

struct move {
	enum move_op op;
	uint16_t from, to, n;
	const struct tel_field *src, *dst;
	struct loss *misfit; /* what to count when it does not fit; or NULL */
};

struct plan {
	const struct tel_type *to;   /* NULL: the target lacks it */
	const struct tel_type *also; /* a second event is made; or NULL */
	enum {
		PLAN_FIELDS,     /* move the fields */
		PLAN_RAW,        /* the event as it is */
		PLAN_INIT,       /* and say what the target is */
		PLAN_INTERN,     /* likewise, if the string does */
		PLAN_LABEL,      /* remember it */
		PLAN_LABEL_AGAIN /* leave it out when it is remembered */
	} what;
	struct loss *none;   /* what to count where to is NULL */
	struct loss *strict; /* one of lost[] that loses something; or NULL */
	struct loss **lost;  /* what to count for each event */
	unsigned nlost;
	unsigned nmoves;
	struct move *moves;
};

/* What a code is more in dst than in src: releases count some from 0 or 1. */
static inline uint64_t
tel__plan_rebase(const struct tel_field *src, const struct tel_field *dst)
{
	return src->names == NULL || dst->names == NULL ?
	    0 :
	    (uint64_t)dst->names->first - src->names->first;
}

/* A plan for events of type t of from.  NULL when out of memory. */
struct plan *tel__plan_new(const struct tel_schema *from,
    const struct tel_type *t, const struct tel_schema *to,
    struct losses *losses);
void tel__plan_free(struct plan *p);

/* ----------------------------------------------------- synthesised labels */

/*
 * Labels that only a text shows, at the values in its lines, as the lines that
 * defined them were left out of it: strings and labels are made for them, so
 * that a stream shows them too.
 */
struct synth;

/* One for a writer, whose conversion c writes to schema to; NULL: no memory. */
struct synth *tel__synth_new(struct tel_writer *w, struct convert *c,
    const struct tel_schema *to);
void tel__synth_free(struct synth *n);
/* Makes the labels that the event ev, of the current log, shows. */
tel_status tel__synth_before(struct synth *n, const struct tel_event *ev,
    struct tel_log *converted);
/* A number for a string that is made. */
tel_status tel__synth_number(struct synth *n, const char *text, size_t length,
    uint64_t *id);

/* ---------------------------------------------------------------- encoders */

extern const struct tel_encoder_ops tel__mps_encoder, tel__mps_converter;

#endif
