/* SPDX-License-Identifier: BSD-2-Clause */
/* Ticks to nanoseconds by linear interpolation between known points. */
#include "model/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/getter.h"

/*
 * The most points that are kept, 4 MB; past that, every second one is dropped.
 * A point that would go far back among many is left out, so that a hostile log
 * costs no more than linear time.
 */
#define POINTS_MAX ((size_t)1 << 18)
#define DEEP ((size_t)1 << 8)
#define MANY ((size_t)1 << 10)
/* After so many points without a rate, the second clock stands for good. */
#define COARSE ((size_t)1 << 8)
/* The parts that are remembered, at most. */
#define RECENT 16u

struct point {
	uint64_t ticks;
	uint64_t other;
};

struct tel_clock {
	struct tel__clock_plain plain;
	struct point *points; /* in order of ticks, no two alike */
	size_t count;
	size_t room;
	size_t seen;        /* points ever taken */
	struct point first; /* the earliest and the latest ever taken */
	struct point last;
	uint64_t unit;     /* of the other clock, ticks a second */
	uint64_t around;   /* its readings before it starts anew; 0: never */
	double fixed_rate; /* hertz, or 0 */
	uint64_t tick;     /* its ns a tick, if they are whole; else 0 */
	uint64_t origin;
	int begun; /* the origin was set */
	/* whose origin it has, or NULL; and who have its own */
	struct tel_clock *leader, *followers;
	struct tel_clock *next, **link; /* of those with the same leader */
	uint64_t version;               /* changes with the points above */
	uint64_t inner; /* changes when one comes between two points */
	double overall; /* ns a tick, of all points; 0: unknown */
	int has_rate;
	size_t shared; /* by so many users beside the first one */
	/* set by the first question, so that answers fit each other */
	int anchored;
	uint64_t zero; /* the other clock's reading from which ns count */
	double before; /* ns a tick before the first point */
	double shift;  /* ns from the origin to zero, a whole number */
	/*
	 * Where tel__clock_ns() found ticks, once it is asked: each part in the
	 * place of its ticks, shifted by the log2 of those between two points.
	 */
	struct tel__clock_part *recent;
	unsigned spread;
	int has_epoch;
	int64_t epoch; /* nanoseconds from 1970 to tick 0 */
	struct tel__clock_gap *gaps;
	size_t ngaps, gaps_room;
};

/* Signed difference of two readings, as a double. */
static double
clock_minus(uint64_t a, uint64_t b)
{
	return a >= b ? (double)(a - b) : -(double)(b - a);
}

/* Nanoseconds a tick from a to b; 0 when that is unknown. */
static double
slope(const struct tel_clock *c, struct point a, struct point b)
{
	double ticks = clock_minus(b.ticks, a.ticks);
	double ns = clock_minus(b.other, a.other) * 1e9 / (double)c->unit;

	return ticks > 0 && ns > 0 ? ns / ticks : 0;
}

/* Points, rate or origin have changed. */
static void
clock_changed(struct tel_clock *c)
{
	const uint64_t most = INT64_MAX;
	const int ns =
	    c->seen < 2 && c->fixed_rate >= 1e9 && c->fixed_rate <= 1e9;

	c->version++;
	c->overall = c->seen > 1 ? slope(c, c->first, c->last) : 0;
	if (c->overall > 0)
		c->spread = 63 ^
		    (unsigned)__builtin_clzll(
		        (c->last.ticks - c->first.ticks) / c->seen | 1);
	c->has_rate = c->seen > 1 || c->fixed_rate > 0;
	c->plain.low = ns ? c->origin : 0;
	c->plain.end = ns && c->origin < UINT64_MAX - most ? c->origin + most :
	    ns || !c->has_rate                             ? UINT64_MAX :
	                                                     0;
}

struct tel_clock *
tel__clock_new(void)
{
	struct tel_clock *c = calloc(1, sizeof(*c));

	if (c != NULL) {
		c->unit = 1000000;
		c->inner = 1;
		clock_changed(c);
	}
	return c;
}

struct tel_clock *
tel__clock_share(struct tel_clock *c)
{
	if (c != NULL)
		c->shared++;
	return c;
}

void
tel__clock_free(struct tel_clock *c)
{
	if (c == NULL || c->shared-- > 0)
		return;
	for (struct tel_clock *f = c->followers; f != NULL; f = f->next)
		f->leader = NULL;
	if (c->leader != NULL) {
		*c->link = c->next;
		if (c->next != NULL)
			c->next->link = c->link;
	}
	free(c->points);
	free(c->recent);
	free(c->gaps);
	free(c);
}

void
tel__clock_set_unit(struct tel_clock *c, uint64_t per_second)
{
	if (per_second > 0 && per_second != c->unit) {
		c->unit = per_second;
		c->inner++;
		clock_changed(c);
	}
}

TEL__GETTER(uint64_t, tel__clock_unit, struct tel_clock, unit)

void
tel__clock_set_width(struct tel_clock *c, unsigned bits)
{
	c->around = bits < 63 ? (uint64_t)1 << bits : 0;
}

void
tel__clock_set_rate(struct tel_clock *c, double hertz)
{
	if (hertz > 0 && isfinite(hertz)) {
		const uint64_t second = 1000000000;
		const uint64_t whole =
		    hertz >= 1 && hertz <= 1e9 ? (uint64_t)hertz : 0;

		c->fixed_rate = hertz;
		c->tick = (double)whole >= hertz && second % whole == 0 ?
		    second / whole :
		    0;
		clock_changed(c);
	}
}

/* The number of points whose ticks are at most ticks. */
static size_t
points_until(const struct tel_clock *c, uint64_t ticks)
{
	size_t lo = 0, hi = c->count, mid;

	/* most questions are about the end, or the point just before it */
	if (hi > 0 && c->points[hi - 1].ticks <= ticks)
		return hi;
	if (hi > 1 && c->points[hi - 2].ticks <= ticks)
		return hi - 1;
	TEL__BISECT(lo, hi, mid, c->points[mid].ticks <= ticks);
	return lo;
}

/* Makes room for one point more. */
static tel_status
clock_make_room(struct tel_clock *c)
{
	size_t i;

	if (c->count == POINTS_MAX) {
		/* the two first ones stay, for what was before them */
		for (i = 2; i < POINTS_MAX / 2 + 1; i++)
			c->points[i] = c->points[2 * i - 2];
		c->count = i;
		c->inner++;
		return TEL_OK;
	}
	return TEL__RESERVE(c->points, c->room, c->count + 1) ? TEL_OK :
	                                                        TEL_ENOMEM;
}

/*
 * A reading of the other clock that becomes point at, as one that has no end:
 * later than the point before it, or earlier by a little, as clocks are set.
 */
static uint64_t
clock_unwrap(const struct tel_clock *c, size_t at, uint64_t other)
{
	const uint64_t far = (uint64_t)1 << 63, mask = c->around - 1;
	const uint64_t little = c->around / 16;

	if (c->around == 0)
		return other;
	/* later readings may be of earlier ticks */
	if (c->count == 0)
		return far + other;
	const uint64_t near = c->points[at > 0 ? at - 1 : 0].other;
	return at > 0 ? near - little + ((other - near + little) & mask) :
	                near + little - ((near - other + little) & mask);
}

tel_status
tel__clock_sync(struct tel_clock *c, uint64_t ticks, uint64_t other)
{
	if (clock_make_room(c) != TEL_OK)
		return TEL_ENOMEM;
	size_t at = points_until(c, ticks);
	if (at > 0 && c->points[at - 1].ticks == ticks)
		return TEL_OK;
	struct point p = { ticks, clock_unwrap(c, at, other) };
	if (c->seen == 0 || ticks < c->first.ticks)
		c->first = p;
	if (c->seen == 0 || ticks > c->last.ticks)
		c->last = p;
	c->seen++;
	clock_changed(c);
	if (c->count - at > DEEP && c->count > MANY)
		return TEL_OK;
	memmove(c->points + at + 1, c->points + at,
	    (c->count - at) * sizeof(*c->points));
	c->points[at] = p;
	c->inner += at < c->count;
	c->count++;
	return TEL_OK;
}

tel_status
tel__clock_join(struct tel_clock *c, const struct tel_clock *from)
{
	tel_status st = TEL_OK;

	c->around = from->around;
	for (size_t i = 0; i < from->count && st == TEL_OK; i++)
		st = tel__clock_sync(c, from->points[i].ticks,
		    from->points[i].other);
	/* they may have been left out of the list */
	if (st == TEL_OK && from->seen > 0)
		st = tel__clock_sync(c, from->first.ticks, from->first.other);
	if (st == TEL_OK && from->seen > 0)
		st = tel__clock_sync(c, from->last.ticks, from->last.other);
	return st;
}

TEL__GETTER(size_t, tel__clock_points, struct tel_clock, seen)

uint64_t
tel__clock_settled(const struct tel_clock *c)
{
	/* readings of a coarse clock may be the same at several points */
	if (!(c->overall > 0) && c->seen < COARSE)
		return 0;
	if (c->leader == NULL && c->followers == NULL)
		return UINT64_MAX;
	return c->last.ticks < UINT64_MAX ? c->last.ticks + 1 : UINT64_MAX;
}

double
tel__clock_rate(const struct tel_clock *c)
{
	return c->overall > 0 ? 1e9 / c->overall : c->fixed_rate;
}

static void
clock_start(struct tel_clock *c, uint64_t ticks)
{
	c->begun = 1;
	c->origin = ticks;
	clock_changed(c);
}

struct tel_clock *
tel__clock_leader(struct tel_clock *c)
{
	return c->leader != NULL ? c->leader : c;
}

void
tel__clock_set_origin(struct tel_clock *c, uint64_t ticks)
{
	c = tel__clock_leader(c);
	if (c->begun && c->origin == ticks)
		return;
	clock_start(c, ticks);
	for (struct tel_clock *f = c->followers; f != NULL; f = f->next)
		clock_start(f, ticks);
}

void
tel__clock_begin(struct tel_clock *c, uint64_t ticks)
{
	if (!c->begun)
		tel__clock_set_origin(c, ticks);
}

TEL__GETTER(uint64_t, tel__clock_origin, struct tel_clock, origin)

void
tel__clock_follow(struct tel_clock *c, struct tel_clock *leader)
{
	c->leader = leader;
	c->next = leader->followers;
	c->link = &leader->followers;
	if (c->next != NULL)
		c->next->link = &c->next;
	leader->followers = c;
	if (leader->begun)
		clock_start(c, leader->origin);
}

static int64_t
to_int64(double ns)
{
	/* 2^63 is a double; every double below it fits */
	if (ns >= 9223372036854775808.0)
		return INT64_MAX;
	if (ns < -9223372036854775808.0)
		return INT64_MIN;
	return (int64_t)(ns < 0 ? ns - 0.5 : ns + 0.5);
}

/* The part of the clock that ticks are in, without its shift. */
static struct tel__clock_part
clock_find_part(const struct tel_clock *c, uint64_t ticks)
{
	size_t at = points_until(c, ticks);
	const struct point *p = &c->points[at > 0 ? at - 1 : 0];
	struct tel__clock_part part = { 0 };

	if (at == 0)
		part.slope = c->before;
	else if (at == c->count)
		part.slope = c->overall;
	else
		part.slope = clock_minus(p[1].other, p[0].other) * 1e9 /
		    (double)c->unit / clock_minus(p[1].ticks, p[0].ticks);
	part.version = c->version;
	part.inner = at > 0 && at < c->count ? c->inner : 0;
	part.from = p->ticks;
	part.low = at > 0 ? p->ticks : 0;
	part.high = at < c->count ? c->points[at].ticks - 1 : UINT64_MAX;
	part.start = clock_minus(p->other, c->zero) * 1e9 / (double)c->unit;
	return part;
}

/* As the first question has it, whatever points come later. */
static void
anchor(struct tel_clock *c)
{
	c->anchored = 1;
	c->zero = c->first.other;
	/* as the first points that differ have it, however many are known */
	c->before = 0;
	for (size_t i = 1; i < c->count && c->before <= 0; i++)
		c->before = slope(c, c->points[0], c->points[i]);
	if (c->before <= 0)
		c->before = c->overall;
	struct tel__clock_part part = clock_find_part(c, c->origin);
	/* whole, so that no duration depends on what was read first */
	c->shift = (double)to_int64(
	    part.start + clock_minus(c->origin, part.from) * part.slope);
}

int
tel__clock_part(struct tel_clock *c, uint64_t ticks,
    struct tel__clock_part *part)
{
	if (!(c->overall > 0))
		return 0;
	if (!c->anchored)
		anchor(c);
	*part = clock_find_part(c, ticks);
	part->shift = c->shift;
	return 1;
}

TEL__GETTER(uint64_t, tel__clock_version, struct tel_clock, version)

int64_t
tel__clock_part_ns(const struct tel__clock_part *part, uint64_t ticks)
{
	return to_int64(part->start +
	    clock_minus(ticks, part->from) * part->slope - part->shift);
}

size_t
tel__clock_part_times(const struct tel__clock_part *part, int64_t since,
    const uint64_t *ticks, size_t n, uint64_t *ns)
{
	/* a difference that a double holds, and results far within 63 bits */
	const double most = 4e18, zero = part->start - part->shift;
	const uint64_t low = part->low > part->from ? part->low : part->from;
	uint64_t first = UINT64_MAX, last = 0;
	size_t i, count;

	for (count = 0; count < n; count++) {
		if (ticks[count] < low || ticks[count] > part->high)
			break;
		first = ticks[count] < first ? ticks[count] : first;
		last = ticks[count] > last ? ticks[count] : last;
	}
	if (count == 0 || last - part->from > INT64_MAX ||
	    !(part->slope >= 0) ||
	    !(zero + (double)(last - part->from) * part->slope < most) ||
	    !(zero + (double)(first - part->from) * part->slope >
	        (since > 0 ? (double)since : 0.0) + 1))
		return 0;
	for (i = 0; i < count; i++)
		ns[i] =
		    (uint64_t)((int64_t)(part->start +
		                   (double)(int64_t)(ticks[i] - part->from) *
		                       part->slope -
		                   part->shift + 0.5) -
		        since);
	return count;
}

static inline int
part_holds(const struct tel_clock *c, const struct tel__clock_part *part,
    uint64_t ticks)
{
	return (part->version == c->version || part->inner == c->inner) &&
	    ticks >= part->low && ticks <= part->high;
}

/* Ticks that are so many ns each: a double holds those of 104 days. */
static int64_t
ns_by_ticks(const struct tel_clock *c, uint64_t ticks)
{
	const int before = ticks < c->origin;
	const uint64_t since = before ? c->origin - ticks : ticks - c->origin;
	uint64_t ns;

	if (__builtin_mul_overflow(since, c->tick, &ns) || ns > INT64_MAX)
		return before ? INT64_MIN : INT64_MAX;
	return before ? -(int64_t)ns : (int64_t)ns;
}

/* tel__clock_ns(), with the part that was found for ticks before. */
static int64_t
ns_by_part(struct tel_clock *c, uint64_t ticks, struct tel__clock_part *part)
{
	if (part_holds(c, part, ticks) || tel__clock_part(c, ticks, part))
		return tel__clock_part_ns(part, ticks);
	if (c->tick != 0)
		return ns_by_ticks(c, ticks);
	double rate = tel__clock_rate(c);
	return rate > 0 ? to_int64(clock_minus(ticks, c->origin) * 1e9 / rate) :
	                  0;
}

int64_t
tel__clock_ns(struct tel_clock *c, uint64_t ticks)
{
	struct tel__clock_part part = { 0 };

	/* by the part that was found lately, if there is one */
	if (c->recent == NULL)
		c->recent = calloc(RECENT, sizeof(*c->recent));
	return ns_by_part(c, ticks,
	    c->recent == NULL ? &part :
	                        &c->recent[ticks >> c->spread & (RECENT - 1)]);
}

int
tel__clock_between(struct tel_clock *c, uint64_t from, uint64_t to, int64_t *ns)
{
	if (c == NULL || !c->has_rate)
		return 0;
	/* the same as below, sooner */
	if (from >= c->plain.low && to >= from && to < c->plain.end) {
		*ns = (int64_t)(to - from);
		return 1;
	}
	if (!(c->overall > 0 || c->fixed_rate > 0))
		return 0;
	int64_t low = tel__clock_ns(c, from);
	int64_t high = tel__clock_ns(c, to);
	return low > INT64_MIN && high < INT64_MAX &&
	    !__builtin_sub_overflow(high, low, ns);
}

/* ------------------------------------------------------------ wall clock */

void
tel__clock_set_epoch(struct tel_clock *c, int64_t ns)
{
	c->epoch = ns;
	c->has_epoch = 1;
}

int
tel__clock_epoch(const struct tel_clock *c, int64_t *ns)
{
	if (c->has_epoch)
		*ns = c->epoch;
	return c->has_epoch;
}

/*
 * Ticks as nanoseconds by a rate alone.  A whole rate is divided exactly: a
 * double holds 53 bits, which ticks since 1970 exceed.
 */
static int
ticks_ns(uint64_t ticks, double rate, int64_t *ns)
{
	const double limit = 9.2e18;

	if (rate < 1 || rate > 1e12 || rate != (double)(uint64_t)rate) {
		if ((double)ticks * 1e9 / rate > limit)
			return 0;
		*ns = to_int64((double)ticks * 1e9 / rate);
		return 1;
	}
	uint64_t whole = (uint64_t)rate;
	uint64_t seconds = ticks / whole;
	uint64_t rest = ticks % whole;
	if (seconds > (uint64_t)(limit / 1e9))
		return 0;
	/* a rest of up to 10^12 ticks times 10^9 needs more than 64 bits */
	rest = whole <= 1000000000 ?
	    rest * 1000000000 / whole :
	    (uint64_t)to_int64((double)rest * 1e9 / rate);
	*ns = (int64_t)(seconds * 1000000000 + rest);
	return 1;
}

/* Reads digits decimal digits; -1: there are others. */
static int
get_digits(const unsigned char *p, int digits)
{
	int v = 0;

	for (; digits > 0; digits--, p++) {
		if (*p < '0' || *p > '9')
			return -1;
		v = v * 10 + (*p - '0');
	}
	return v;
}

/* Days from 1970-01-01; the inverse of what tel__put_iso() does. */
static int64_t
count_days(int year, int month, int day)
{
	const int64_t y = year - (month < 3);
	const int64_t era = (y >= 0 ? y : y - 399) / 400,
	              of_era = y - era * 400;
	const int of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5;

	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 +
	    of_year + day - 1 - 719468;
}

/* The offset from UTC at the end of a time, in seconds.  1, or 0: invalid. */
static int
get_offset(const unsigned char *p, size_t n, int *seconds)
{
	*seconds = 0;
	if (n == 1 && (*p == 'Z' || *p == 'z'))
		return 1;
	if (n != 6 || (*p != '+' && *p != '-') || p[3] != ':')
		return 0;
	int hours = get_digits(p + 1, 2);
	int minutes = get_digits(p + 4, 2);
	if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59)
		return 0;
	*seconds = (hours * 60 + minutes) * (*p == '-' ? -60 : 60);
	return 1;
}

/* "2026-01-02T03:04:05.678Z" or "...+01:00".  1, or 0: invalid. */
static int
get_rfc3339(const unsigned char *p, size_t n, int64_t *ns)
{
	static const struct {
		uint8_t at, digits, low, high;
		char after;
	} parts[] = { { 0, 4, 0, 0, '-' }, { 5, 2, 1, 12, '-' },
		{ 8, 2, 1, 31, 'T' }, { 11, 2, 0, 23, ':' },
		{ 14, 2, 0, 59, ':' }, { 17, 2, 0, 60, 0 } };
	int v[6], offset;
	int64_t fraction = 0, unit = 1000000000;

	if (n < 20)
		return 0;
	for (size_t i = 0; i < 6; i++) {
		v[i] = get_digits(p + parts[i].at, parts[i].digits);
		if (v[i] < parts[i].low ||
		    (parts[i].high > 0 && v[i] > parts[i].high) ||
		    (parts[i].after != 0 &&
		        p[parts[i].at + parts[i].digits] != parts[i].after))
			return 0;
	}
	size_t i = 19;
	if (p[i] == '.')
		for (i++; i < n && p[i] >= '0' && p[i] <= '9'; i++)
			fraction += (p[i] - '0') * (unit /= 10);
	if (!get_offset(p + i, n - i, &offset))
		return 0;
	*ns = ((count_days(v[0], v[1], v[2]) * 24 + v[3]) * 60 + v[4]) * 60 +
	    v[5] - offset;
	return !__builtin_mul_overflow(*ns, INT64_C(1000000000), ns) &&
	    !__builtin_add_overflow(*ns, fraction, ns);
}

void
tel__clock_set_wall(struct tel_clock *c, uint64_t ticks,
    const unsigned char *text, size_t n)
{
	const double rate = tel__clock_rate(c);
	int64_t wall, since;

	if (rate > 0 && get_rfc3339(text, n, &wall) &&
	    ticks_ns(ticks, rate, &since) &&
	    !__builtin_sub_overflow(wall, since, &wall))
		tel__clock_set_epoch(c, wall);
}

int
tel__clock_wall(struct tel_clock *c, uint64_t ticks, int64_t *ns)
{
	const double rate = tel__clock_rate(c);
	int64_t first, since = 0;

	if (!c->has_epoch || !(rate > 0))
		return 0;
	if (c->seen < 2)
		return ticks_ns(ticks, rate, &first) &&
		    !__builtin_add_overflow(first, c->epoch, ns);
	/* points bend the clock from the origin on */
	since = tel__clock_ns(c, ticks);
	return ticks_ns(c->origin, rate, &first) &&
	    !__builtin_add_overflow(first, c->epoch, &first) &&
	    !__builtin_add_overflow(first, since, ns);
}

void
tel__clock_add_gap(struct tel_clock *c, uint64_t one, uint64_t other)
{
	if (c->ngaps < TEL__CLOCK_GAPS &&
	    TEL__RESERVE(c->gaps, c->gaps_room, c->ngaps + 1))
		c->gaps[c->ngaps++] = one < other ?
		    (struct tel__clock_gap){ one, other } :
		    (struct tel__clock_gap){ other, one };
}

const struct tel__clock_gap *
tel__clock_gaps(const struct tel_clock *c, size_t *n)
{
	*n = c->ngaps;
	return c->gaps;
}
