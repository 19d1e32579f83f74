/* SPDX-License-Identifier: BSD-2-Clause */
/* What a trace holds, as it stands in the file of a program. */
#include "alloc/layout.h"

#include <string.h>

_Static_assert(sizeof(double) == 8, "a double is a word");
_Static_assert(TEL_LOG_NAME % 8 == 0, "a name is words");

static unsigned char *
put(unsigned char *p, uint64_t v)
{
	tel_store_le64(p, v);
	return p + 8;
}

static unsigned char *
put_rest(const tel_facts *f, unsigned char *p)
{
	const tel_odd_one *o;
	const tel_live *l;
	uint64_t i;

	for (i = 0; i < f->odd_kept; i++) {
		o = &f->odd_ones[i];
		p = put(p, (uint64_t)o->log << 32 | (uint32_t)o->odd);
		p = put(p, o->event);
		p = put(p, o->address);
		p = put(p, o->thread);
	}
	for (i = 0; i < f->curve_points; i++) {
		l = &f->curve[i];
		p = put(p, l->done);
		p = put(p, l->clock);
		p = put(p, l->blocks);
		p = put(p, l->bytes);
		p = put(p, l->peak);
	}
	memcpy(p, f->log_names, f->logs * TEL_LOG_NAME);
	return p + f->logs * TEL_LOG_NAME;
}

size_t
tel_facts_store(const tel_facts *f, unsigned char *room)
{
	unsigned char *p = room;
	uint64_t v;
	size_t i;

	for (i = 0; i < FACTS_NUMBERS; i++) {
		memcpy(&v, (const char *)f + i * 8, 8);
		p = put(p, v);
	}
	return (size_t)(put_rest(f, p) - room);
}

static int
load_rest(tel_facts *f, const unsigned char *p)
{
	tel_odd_one *o;
	tel_live *l;
	uint64_t i;

	for (i = 0; i < f->odd_kept; i++, p += FACTS_ODD * 8) {
		o = &f->odd_ones[i];
		if (tel_le32(p) >= TEL_ODD_KINDS || tel_le32(p + 4) >= f->logs)
			return -1;
		o->odd = (tel_odd)tel_le32(p);
		o->log = tel_le32(p + 4);
		o->event = tel_le64(p + 8);
		o->address = tel_le64(p + 16);
		o->thread = tel_le64(p + 24);
	}
	for (i = 0; i < f->curve_points; i++, p += FACTS_POINT * 8) {
		l = &f->curve[i];
		l->done = tel_le64(p);
		l->clock = tel_le64(p + 8);
		l->blocks = tel_le64(p + 16);
		l->bytes = tel_le64(p + 24);
		l->peak = tel_le64(p + 32);
		if (l->done > f->words || (i > 0 && l->done < l[-1].done))
			return -1;
	}
	for (i = 0; i < f->logs; i++, p += TEL_LOG_NAME) {
		if (memchr(p, 0, TEL_LOG_NAME) == NULL)
			return -1;
		memcpy(f->log_names[i], p, TEL_LOG_NAME);
	}
	return 0;
}

int
tel_facts_load(tel_facts *f, const unsigned char *p, size_t size, size_t *used)
{
	uint64_t v;
	size_t i;

	if (size < FACTS_NUMBERS * 8)
		return -1;
	memset(f, 0, sizeof(*f));
	for (i = 0; i < FACTS_NUMBERS; i++) {
		v = tel_le64(p + i * 8);
		memcpy((char *)f + i * 8, &v, 8);
	}
	if (f->odd_kept > TEL_ODD_KEPT || f->logs < 1 ||
	    f->curve_points > TEL_CURVE_POINTS || f->logs > TEL_LOG_NAMES ||
	    f->peak_log >= f->logs || f->order > TEL_LANES_NONE ||
	    f->lanes > PROGRAM_LANES || !(f->tick_rate >= 0) ||
	    f->tick_rate > 1e300)
		return -1;
	*used = (FACTS_NUMBERS + f->odd_kept * FACTS_ODD +
	            f->curve_points * FACTS_POINT) *
	        8 +
	    f->logs * TEL_LOG_NAME;
	if (*used > size)
		return -1;
	return load_rest(f, p + FACTS_NUMBERS * 8);
}
