/* SPDX-License-Identifier: BSD-2-Clause */
/* Scale: the axis of a picture, and the round numbers on it. */
#ifndef COMMON_REPORT_SCALE_H
#define COMMON_REPORT_SCALE_H

/* The scale of an axis: values from lo to hi, on pixels from..to. */
struct scale {
	double lo, hi;
	double from, to;
	int log; /* by logarithm, on both sides of 0 */
};

/* Where a value lies. */
double scale_at(const struct scale *s, double value);

/* Places for marks on an axis. */
#define TICKS_MAX 16
struct ticks {
	double at[TICKS_MAX];
	unsigned n;
};

/* Round numbers on a scale: powers of 2 for bytes. */
void scale_ticks(const struct scale *s, const char *unit, unsigned most,
    struct ticks *out);
/* The largest mark, regardless of sign; 0 on a logarithmic axis. */
double scale_max(const struct scale *s, const struct ticks *ticks);
/* By place, so that it is seen which ones are too near. */
void scale_sort(struct ticks *ticks);

#endif
