/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rules that events of a release follow: sizes that fit their types, values
 * that fit their fields, and kinds in runs, as each kind has a buffer of its
 * own, that are newest first.  Releases have many events in common; the few that
 * differ may be all that distinguishes them.
 */
#include "format/mps/score.h"
#include "format/mps/mps.h"
#include "format/mps/frame.h"
#include "model/event.h"

#include <string.h>

/* Points against a release for an event that is very rare, rare, uncommon. */
#define HARDLY 16
#define SELDOM 4
#define LESS 1

/* The highest of the MPS's ranks of references, RankFINAL. */
#define RANK_MAX 3

/* A pointer or address points somewhere; a number seldom looks like that. */
static unsigned
odd_value(const struct tel_schema *s, const struct tel_field *f,
    const unsigned char *p)
{
	uint64_t v = tel_load(f, p), low = 0x1000, high = (uint64_t)1 << 47;
	double d;

	switch (f->datatype) {
	case TEL_POINTER:
	case TEL_ADDRESS:
		if (v == 0)
			return LESS;
		return v < low || v >= high ? HARDLY : 0;
	case TEL_BOOLEAN: return v > 1 ? HARDLY : 0;
	case TEL_DOUBLE:
		d = tel_bits_double(v);
		d = d < 0 ? -d : d;
		return d == 0 || (d > 1e-12 && d < 1e18) ? 0 : HARDLY;
	case TEL_UNSIGNED:
		if (strcmp(f->name, "rank") == 0)
			return v > RANK_MAX ? HARDLY : 0;
		if (f->letter == 'U')
			return v > 0xffff ? HARDLY : 0;
		if (s->abi.word == 4)
			return v >> 31 != 0 ? SELDOM : 0;
		return v >> 32 != 0 && v < high ? HARDLY : 0;
	case TEL_SIGNED:
	case TEL_SET:
	case TEL_LIST:
	case TEL_STRING: break;
	}
	return 0;
}

/*
 * The bits after that of a boolean are what was in the buffer before: where
 * there are zeros it may be a number.
 */
static unsigned
odd_bit(const struct tel_type *t, unsigned i, const unsigned char *p)
{
	uint32_t at = t->fields[i].offset + 1u;
	uint32_t end = i + 1 < t->nfields ? t->fields[i + 1].offset : t->size;

	while (at < end && p[at] == 0)
		at++;
	return at == end ? LESS : 0;
}

static size_t
odd_event(const struct tel_schema *s, const struct tel_type *t,
    const unsigned char *p, uint32_t size)
{
	size_t odd = 0;

	for (unsigned i = 0; i < t->nfields; i++)
		odd += t->fields[i].load == TEL_LOAD_BIT ?
		    odd_bit(t, i, p) :
		    odd_value(s, &t->fields[i], p);
	if (t->has_string) {
		uint32_t right = tel__mps_true_size(s, p, p + size);

		if (right == 0 || size + s->align < right ||
		    size > right + s->align)
			odd += HARDLY;
	}
	/* such events are few */
	if (t->kind_number == ARENA || t->kind_number == POOL)
		odd += LESS;
	return odd;
}

size_t
tel__mps_odd_values(const struct tel_type *t, const unsigned char *data)
{
	size_t odd = 0;

	for (unsigned i = 0; i < t->nfields; i++)
		odd += odd_value(t->schema, &t->fields[i], data);
	if (t->kind_number == ARENA || t->kind_number == POOL)
		odd += LESS;
	return odd;
}

/* How odd an event is after another one. */
static size_t
odd_order(const struct tel_schema *s, const struct tel_type *t,
    const unsigned char *p, const struct tel_type *before, uint64_t clock)
{
	if (before->kind_number != t->kind_number)
		return SELDOM;
	return mps_clock(p, s->header, s->abi.big) > clock ? LESS : 0;
}

void
tel__mps_score(const struct tel_schema *s, const unsigned char *p, size_t n,
    int eof, struct mps_score *out)
{
	const unsigned char *end = p + n;
	const struct tel_type *t, *before = NULL;
	uint64_t clock = 0;
	size_t lost = 0;

	memset(out, 0, sizeof(*out));
	while ((size_t)(end - p) >= s->header && lost <= n / 2) {
		uint32_t size = tel__mps_look(s, p, end);

		if (size > (size_t)(end - p)) {
			/* the last one is cut by the window or the log */
			out->fitting += (size_t)(end - p);
			out->events += eof ? 0 : 1;
			return;
		}
		if (size <= 1 || (lost > 0 && !tel__mps_chain(s, p, end, 2))) {
			p += s->align;
			lost += s->align;
			continue;
		}
		t = mps_type(s, mps_code(p, s->abi.big));
		out->odd += odd_event(s, t, p, size);
		tel_codes_add(&out->seen, t->code);
		if (before != NULL)
			out->odd += odd_order(s, t, p, before, clock);
		before = t;
		clock = mps_clock(p, s->header, s->abi.big);
		out->fitting += size;
		out->events++;
		p += size;
	}
}
