/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Looking at records of HPM traces: where one ends, whether some follow each
 * other, and by which layout most make sense.
 */
#include <string.h>

#include "format/hpm/hpm.h"

/* The type of the record whose first word is this; 0: none. */
static unsigned
hpm_look_type_of(const struct hpm_layout *l, uint32_t word)
{
	if (l->version > 1 && (word & 15) == HPM_COUNTER)
		return HPM_COUNTER;
	if ((word >= HPM_COUNTER && word <= HPM_EXIT) || word == HPM_PADDING)
		return word;
	return 0;
}

/*
 * In version 1 the buffer and the processor have a word of their own, most of
 * which is always zero.
 */
static int
fits_v1(uint32_t word)
{
	return word >> 17 == 0 && (word & 0xffff) <= 1023;
}

size_t
tel__hpm_look(const struct hpm_layout *l, const unsigned char *p, size_t n)
{
	unsigned type, at;

	if (n < 4)
		return HPM_MORE;
	type = hpm_look_type_of(l, hpm_load32(p, l->big));
	switch (type) {
	case HPM_COUNTER:
		if (l->version == 1 && n < 8)
			return HPM_MORE;
		if (l->version == 1 && !fits_v1(hpm_load32(p + 4, l->big)))
			return 0;
		return hpm_counter_size(l);
	case HPM_EXIT: return 8;
	case HPM_APP_START:
	case HPM_APP_COMPLETE:
	case HPM_PADDING: at = 4; break;
	case HPM_RUN_START:
	case HPM_RUN_COMPLETE: at = 8; break;
	default: return 0;
	}
	if (n < at + 4)
		return HPM_MORE;
	uint32_t length = hpm_load32(p + at, l->big);
	return length <= HPM_STRING_MAX ? at + 4 + length : 0;
}

int
tel__hpm_switch(const struct hpm_layout *l, const unsigned char *p)
{
	uint32_t n = hpm_load32(p + 4, l->big), i;

	if (hpm_load32(p, l->big) != HPM_PADDING || n < HPM_SWITCH ||
	    n - HPM_SWITCH >= HPM_PROCESSORS)
		return -1;
	for (i = 0; i < n; i++)
		if (p[8 + i] != 0)
			return -1;
	return (int)(n - HPM_SWITCH);
}

unsigned
tel__hpm_cpu(const struct hpm_layout *l, const unsigned char *p)
{
	if (l->version == 1)
		return hpm_load32(p + 4, l->big) & 0xffff;
	return hpm_load32(p, l->big) >> 4 & 0x3ff;
}

uint64_t
tel__hpm_start(const struct hpm_layout *l, const unsigned char *p)
{
	return hpm_load64(p + (l->version == 1 ? 16 : 8), l->big);
}

static int
hpm_look_is_counter(const struct hpm_layout *l, const unsigned char *p)
{
	return hpm_look_type_of(l, hpm_load32(p, l->big)) == HPM_COUNTER;
}

/* Whether a whole record is as the writer would have made it. */
static int
plausible(const struct hpm_layout *l, const unsigned char *p, size_t size,
    int cpu)
{
	unsigned type = hpm_look_type_of(l, hpm_load32(p, l->big));
	unsigned tid = l->version == 1 ? 8 : 4;
	uint64_t start, end;

	switch (type) {
	case HPM_COUNTER:
		start = tel__hpm_start(l, p);
		end = hpm_load64(p + (l->version == 1 ? 24 : 16), l->big);
		return (cpu < 0 || tel__hpm_cpu(l, p) == (unsigned)cpu) &&
		    hpm_load32(p + tid, l->big) != 0 && start <= end;
	case HPM_PADDING:
		for (size_t i = 8; i < size; i++)
			if (p[i] != 0)
				return 0;
		return 1;
	case HPM_EXIT: return 1;
	default:
		for (size_t i = type < HPM_RUN_START ? 8 : 12; i < size; i++)
			if (p[i] < ' ')
				return 0;
		return 1;
	}
}

int
tel__hpm_chain(const struct hpm_layout *l, const unsigned char *p, size_t n,
    int eof, int cpu)
{
	unsigned got, counters = 0;

	for (got = 0; got < HPM_CHAIN; got++) {
		/* eight bytes alone may look like an exit by chance */
		if (n == 0 && eof)
			return got > 1 || counters > 0;
		size_t size = tel__hpm_look(l, p, n);
		if (size == 0 || size > n || !plausible(l, p, size, cpu))
			return 0;
		counters += (unsigned)hpm_look_is_counter(l, p);
		p += size;
		n -= size;
	}
	return 1;
}

struct hpm_trial
tel__hpm_try(const struct hpm_layout *l, const unsigned char *p, size_t n,
    int eof)
{
	struct hpm_trial t = { .cpu = -1 };
	int several = 0;

	while (t.good < n) {
		size_t size = tel__hpm_look(l, p, n - t.good);

		if (size == 0 || size > n - t.good) {
			t.bad = size == 0;
			if (!t.bad && !eof)
				t.good = n;
			break;
		}
		if (hpm_look_is_counter(l, p)) {
			if (t.cpu < 0)
				t.cpu = (int)tel__hpm_cpu(l, p);
			t.bad = !several &&
			    tel__hpm_cpu(l, p) != (unsigned)t.cpu &&
			    !tel__hpm_chain(l, p, n - t.good, eof, -1);
			if (t.bad)
				break;
			t.counters++;
			if (t.start == 0)
				t.start = tel__hpm_start(l, p);
		} else if (hpm_load32(p, l->big) == HPM_PADDING &&
		    tel__hpm_switch(l, p) >= 0) {
			several = 1;
		} else {
			/* an exit is the last record, and names are not empty */
			t.odd += size == 8 && t.good + size < n;
		}
		p += size;
		t.good += size;
	}
	return t;
}

/*
 * Whether a is more likely than b, which was looked at before it: more makes
 * sense, or as much with fewer records that a small counter looks like.
 */
static int
is_likelier(const struct hpm_trial *a, const struct hpm_trial *b)
{
	return a->good != b->good ? a->good > b->good : a->odd < b->odd;
}

void
tel__hpm_guess(struct hpm_layout *l, const unsigned char *p, size_t n, int eof)
{
	struct hpm_layout guess = *l;
	struct hpm_trial best, trial;
	int little = l->version == HPM_VERSION_MAX;

	/* 8 is what most processors had, and stays if nothing makes sense */
	l->counters = 8;
	l->big = 1;
	memset(&best, 0, sizeof(best));
	/* short records first: long ones may hold several of them */
	for (guess.counters = 0; guess.counters <= HPM_COUNTERS_MAX;
	     guess.counters++) {
		for (guess.big = 1; guess.big >= !little; guess.big--) {
			trial = tel__hpm_try(&guess, p, n, eof);
			if (!is_likelier(&trial, &best))
				continue;
			best = trial;
			*l = guess;
		}
	}
}
