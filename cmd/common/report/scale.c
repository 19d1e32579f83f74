/* SPDX-License-Identifier: BSD-2-Clause */
/* The scale of an axis, and the round numbers on it. */
#include "scale.h"

#include <stdint.h>
#include <string.h>

/* The logarithm to the base 2 of x >= 1, to eight decimals or so. */
static double
scale_log_of(double x)
{
	double log = 0, bit = 0.5;

	for (; x >= 2; log++)
		x /= 2;
	/* squaring doubles the logarithm: its binary digits one by one */
	for (int i = 0; i < 27; i++, bit /= 2) {
		x *= x;
		if (x >= 2) {
			x /= 2;
			log += bit;
		}
	}
	return log;
}

/* log(1 + v) above 0, the same mirrored below. */
static double
bend(double v)
{
	return v < 0 ? -scale_log_of(1 - v) : scale_log_of(1 + v);
}

double
scale_at(const struct scale *s, double value)
{
	double lo = s->log ? bend(s->lo) : s->lo;
	double hi = s->log ? bend(s->hi) : s->hi;
	double at = s->log ? bend(value) : value;

	if (hi <= lo)
		return s->from;
	return s->from + (at - lo) / (hi - lo) * (s->to - s->from);
}

static void
scale_add(struct ticks *out, const struct scale *s, double value)
{
	if (out->n < TICKS_MAX && value >= s->lo && value <= s->hi)
		out->at[out->n++] = value;
}

/* The least round number that is step at least. */
static double
scale_round_up(double step, int binary)
{
	static const double digits[] = { 1, 2, 5 };
	double unit = 1;
	int i = 0;

	if (binary) {
		while (unit < step)
			unit *= 2;
		return unit;
	}
	while (unit * 10 <= step)
		unit *= 10;
	while (unit > step && unit > 1e-12)
		unit /= 10;
	while (i < 3 && unit * digits[i] < step)
		i++;
	return i < 3 ? unit * digits[i] : unit * 10;
}

static void
linear_ticks(const struct scale *s, int binary, unsigned most,
    struct ticks *out)
{
	double step = scale_round_up((s->hi - s->lo) / most, binary);
	double n = s->lo / step, at;

	/* the whole number of steps at or above lo */
	if (n > -9e15 && n < 9e15) {
		int64_t whole = (int64_t)n;

		n = (double)whole + ((double)whole < n);
	}
	/* a sum of steps would end near 0, which may be shown as -0 */
	for (at = n * step; at <= s->hi && out->n < TICKS_MAX; at = ++n * step)
		scale_add(out, s, at + 0);
}

static void
log_ticks(const struct scale *s, int binary, unsigned most, struct ticks *out)
{
	double base = binary ? 2 : 10, step = base, v;

	/* the power whose multiples are few enough */
	for (;;) {
		unsigned n = 1;

		for (v = 1; v < 2e19; v *= step)
			n += (unsigned)(v >= s->lo && v <= s->hi) +
			    (unsigned)(-v >= s->lo && -v <= s->hi);
		if (n <= most + 1)
			break;
		step *= base;
	}
	scale_add(out, s, 0);
	for (v = 1; v < 2e19; v *= step) {
		scale_add(out, s, v);
		scale_add(out, s, -v);
	}
}

void
scale_ticks(const struct scale *s, const char *unit, unsigned most,
    struct ticks *out)
{
	int bytes = strcmp(unit, "bytes") == 0;

	out->n = 0;
	if (s->log)
		log_ticks(s, bytes, most, out);
	/* no marks between two powers */
	if (s->log && out->n < 2)
		out->n = 0;
	if (out->n == 0)
		linear_ticks(s, bytes, most, out);
}

double
scale_max(const struct scale *s, const struct ticks *ticks)
{
	double most = 0, size;

	for (unsigned i = 0; i < ticks->n && !s->log; i++) {
		size = ticks->at[i] < 0 ? -ticks->at[i] : ticks->at[i];
		most = size > most ? size : most;
	}
	return most;
}

void
scale_sort(struct ticks *ticks)
{
	unsigned i, j;

	for (i = 1; i < ticks->n; i++)
		for (j = i; j > 0 && ticks->at[j] < ticks->at[j - 1]; j--) {
			double at = ticks->at[j];

			ticks->at[j] = ticks->at[j - 1];
			ticks->at[j - 1] = at;
		}
}
