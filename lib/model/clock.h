/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Clock: from ticks to seconds, through points where a log has the same instant
 * on its events' clock and on a clock of known rate.  Between two points time
 * is interpolated, beyond them it goes on at the overall rate.
 */
#ifndef TEL_CLOCK_H
#define TEL_CLOCK_H

#include "tel/base.h"

struct tel_clock;
/*
 * A clock starts with this: readings from low to before end are in ns, or in
 * ticks while their rate is not known.
 */
struct tel__clock_plain {
	uint64_t low, end;
};

/* NULL when out of memory. */
struct tel_clock *tel__clock_new(void);
/*
 * Adds a user, which may ask it when the log is over; each frees it.  The users
 * of a clock are in one thread at a time.  NULL: NULL.
 */
struct tel_clock *tel__clock_share(struct tel_clock *c);
void tel__clock_free(struct tel_clock *c);

/*
 * The rate of the second clock, ticks a second (MPS: clocksPerSec of
 * EventInit; 1,000,000 until it is said).
 */
void tel__clock_set_unit(struct tel_clock *c, uint64_t per_second);

/* That rate, as it is known by now. */
uint64_t tel__clock_unit(const struct tel_clock *c);

/*
 * The bits of its readings, 1 to 64, if they are fewer than 64: a reading is
 * then the first one after that of the point before it, or at most a sixteenth
 * of them all earlier.  The clock of 32 bits of the MPS, in microseconds, starts
 * anew after 72 minutes.
 */
void tel__clock_set_width(struct tel_clock *c, unsigned bits);

/* Fixes the rate of the events' clock where a log states it, in hertz. */
void tel__clock_set_rate(struct tel_clock *c, double hertz);

/*
 * A point: ticks on the events' clock is other on the second one.  Points
 * may come in any order, and again; 2^18 of them are kept.
 * TEL_OK, TEL_ENOMEM.
 */
tel_status tel__clock_sync(struct tel_clock *c, uint64_t ticks, uint64_t other);

/*
 * Adds the points of a clock that knows those of a later part of the log.
 * TEL_OK, TEL_ENOMEM.
 */
tel_status tel__clock_join(struct tel_clock *c, const struct tel_clock *from);

/* How many points are known. */
size_t tel__clock_points(const struct tel_clock *c);
/*
 * The first ticks whose time is not known yet, right after a point of a log
 * with the same origin: 0 before its points have a rate, or are very many, then
 * those behind the last one.  UINT64_MAX: none; of a log that shares its origin
 * with no other all are before the point.
 */
uint64_t tel__clock_settled(const struct tel_clock *c);

/*
 * The wall clock: nanoseconds from 1970-01-01 00:00 UTC to tick 0, where a log
 * states them.
 */
void tel__clock_set_epoch(struct tel_clock *c, int64_t ns);

/*
 * The same by the wall clock at ticks, in RFC 3339, n bytes.  Nothing is set
 * if that is invalid, out of range, or the rate is not known.
 */
void tel__clock_set_wall(struct tel_clock *c, uint64_t ticks,
    const unsigned char *text, size_t n);

/* 1 and that number, or 0 when the log does not state it. */
int tel__clock_epoch(const struct tel_clock *c, int64_t *ns);

/*
 * Nanoseconds from 1970-01-01 00:00 UTC to ticks.  1; 0 when the wall clock
 * or the rate is not known, or the result does not fit.
 */
int tel__clock_wall(struct tel_clock *c, uint64_t ticks, int64_t *ns);

/* Ticks a second over all points, or as set; 0 when not known. */
double tel__clock_rate(const struct tel_clock *c);

/*
 * The time of the first event, from which seconds are counted: of c, the clock
 * that it follows, and all that follow that one.
 */
void tel__clock_set_origin(struct tel_clock *c, uint64_t ticks);
/* The same, if it was not set before. */
void tel__clock_begin(struct tel_clock *c, uint64_t ticks);
uint64_t tel__clock_origin(const struct tel_clock *c);
/*
 * Makes the origin of a new clock that of another one, of a log that was merged
 * with its own.  It stays what it is when the other clock is freed.
 */
void tel__clock_follow(struct tel_clock *c, struct tel_clock *leader);
/* The clock that c follows, or itself. */
struct tel_clock *tel__clock_leader(struct tel_clock *c);

/*
 * Nanoseconds from the origin to ticks, negative before it.  0 when the rate is
 * not known.  The first call fixes the origin, so points that come later change
 * only times after the points known by then.
 */
int64_t tel__clock_ns(struct tel_clock *c, uint64_t ticks);
/*
 * Nanoseconds from one reading to another, as the times of events with these
 * have them.  1; 0: the rate is not known, or the result does not fit.  c NULL:
 * not known.
 */
int tel__clock_between(struct tel_clock *c, uint64_t from, uint64_t to,
    int64_t *ns);

/* Ticks between two points, whose time is linear. */
struct tel__clock_part {
	uint64_t version;    /* of the clock; a part holds no longer, */
	uint64_t inner;      /* or, between points, while none comes there */
	uint64_t low, high;  /* the first and the last ticks in it */
	uint64_t from;       /* ticks */
	double start, shift; /* ns: at from, and to subtract */
	double slope;        /* ns a tick */
};

/* The part that ticks are in.  1; 0: the clock has no points to tell. */
int tel__clock_part(struct tel_clock *c, uint64_t ticks,
    struct tel__clock_part *part);
/* As tel__clock_ns() for ticks in a part. */
int64_t tel__clock_part_ns(const struct tel__clock_part *part, uint64_t ticks);
/*
 * The same of as many of n ticks as come first and are in the part, since such a
 * time.  Returns how many ns were set; 0 also where some may be before it.
 */
size_t tel__clock_part_times(const struct tel__clock_part *part, int64_t since,
    const uint64_t *ticks, size_t n, uint64_t *ns);
/*
 * Events are missing between two readings, in any order, as the log is damaged
 * there: programs write buffers from either end.  The first TEL__CLOCK_GAPS of
 * them are kept, while there is memory.
 */
#define TEL__CLOCK_GAPS 32u
struct tel__clock_gap {
	uint64_t from, to;
};
void tel__clock_add_gap(struct tel_clock *c, uint64_t one, uint64_t other);
/* Those, *n of them, while the clock is used. */
const struct tel__clock_gap *tel__clock_gaps(const struct tel_clock *c,
    size_t *n);

/* A number that is another one when the clock was changed. */
uint64_t tel__clock_version(const struct tel_clock *c);

#endif
