/* SPDX-License-Identifier: BSD-2-Clause */
/* Facts in the file of a program, and anomalies in words. */
#include "telreplay/compile/facts.h"

#include "telreplay/compile/program_file.h"

_Static_assert(ANOMALIES == ANOMALY_IMPOSSIBLE + 1, "all are counted");
_Static_assert(ALLOC_KINDS == TEL_ALLOC_THREAD_END + 1, "all are counted");
_Static_assert(sizeof(double) == 8, "a double is a word");
_Static_assert(LOG_NAME % 8 == 0, "a name is words");

const char *
anomaly_text(enum anomaly anomaly)
{
	switch (anomaly) {
	case ANOMALY_FREE_NULL: return "free of NULL";
	case ANOMALY_REALLOC_NULL: return "realloc of NULL";
	case ANOMALY_REALLOC_ZERO: return "realloc to no bytes";
	case ANOMALY_FAILED: return "allocation that failed";
	case ANOMALY_RESERVED: return "reservation without a commit";
	case ANOMALY_RECLAIMED: return "commit over a block not freed";
	case ANOMALY_POOL: return "pool or buffer without its creation";
	case ANOMALY_FREE: return "free of an unknown address";
	case ANOMALY_REALLOC: return "realloc of an unknown address";
	case ANOMALY_DOUBLE: return "allocation of a live address";
	case ANOMALY_RACE: return "free in the wrong place";
	case ANOMALY_SIZE: return "free of more than the block";
	case ANOMALY_ALIGNMENT: return "alignment that is not a power of 2";
	case ANOMALY_ARGUMENT: return "impossible size";
	case ANOMALY_IMPOSSIBLE: return "impossible alignment";
	}
	return "unknown anomaly";
}

int
anomaly_is_damage(enum anomaly anomaly)
{
	return anomaly >= ANOMALY_FREE;
}

int
facts_damage(const struct facts *f, enum anomaly anomaly)
{
	if (f->buffers > 0 && f->operations[TEL_ALLOC_COMMIT] == 0 &&
	    anomaly == ANOMALY_FREE)
		return 0;
	return anomaly_is_damage(anomaly);
}

static unsigned char *
facts_put(unsigned char *p, uint64_t v)
{
	le64_put(p, v);
	return p + 8;
}

static unsigned char *
put_rest(const struct facts *f, unsigned char *p)
{
	const struct anomaly_event *a;
	const struct live_point *l;
	uint64_t i;

	for (i = 0; i < f->threads; i++) {
		p = facts_put(p, f->lives[i].id);
		p = facts_put(p, f->lives[i].hosted);
	}
	for (i = 0; i < f->anomaly_event_count; i++) {
		a = &f->anomaly_events[i];
		p = facts_put(p, (uint64_t)a->log << 32 | (uint32_t)a->anomaly);
		p = facts_put(p, a->event);
		p = facts_put(p, a->address);
		p = facts_put(p, a->thread);
	}
	for (i = 0; i < f->curve_points; i++) {
		l = &f->curve[i];
		p = facts_put(p, l->done);
		p = facts_put(p, l->clock);
		p = facts_put(p, l->blocks);
		p = facts_put(p, l->bytes);
		p = facts_put(p, l->peak);
	}
	memcpy(p, f->log_names, (size_t)f->logs * LOG_NAME);
	return p + f->logs * LOG_NAME;
}

size_t
facts_store(const struct facts *f, unsigned char *room)
{
	unsigned char *p = room;
	uint64_t v;
	size_t i;

	for (i = 0; i < FACTS_NUMBERS; i++) {
		memcpy(&v, (const char *)f + i * 8, 8);
		p = facts_put(p, v);
	}
	return (size_t)(put_rest(f, p) - room);
}

static int
load_rest(struct facts *f, const unsigned char *p)
{
	struct anomaly_event *a;
	struct live_point *l;
	uint64_t i;

	for (i = 0; i < f->threads; i++, p += FACTS_LIFE * 8) {
		f->lives[i].id = le64_get(p);
		f->lives[i].hosted = le64_get(p + 8);
	}
	for (i = 0; i < f->anomaly_event_count; i++, p += FACTS_ANOMALY * 8) {
		a = &f->anomaly_events[i];
		if (le32_get(p) >= ANOMALIES || le32_get(p + 4) >= f->logs)
			return -1;
		a->anomaly = (enum anomaly)le32_get(p);
		a->log = le32_get(p + 4);
		a->event = le64_get(p + 8);
		a->address = le64_get(p + 16);
		a->thread = le64_get(p + 24);
	}
	for (i = 0; i < f->curve_points; i++, p += FACTS_POINT * 8) {
		l = &f->curve[i];
		l->done = le64_get(p);
		l->clock = le64_get(p + 8);
		l->blocks = le64_get(p + 16);
		l->bytes = le64_get(p + 24);
		l->peak = le64_get(p + 32);
		if (l->done > f->words || (i > 0 && l->done < l[-1].done))
			return -1;
	}
	for (i = 0; i < f->logs; i++, p += LOG_NAME) {
		if (memchr(p, 0, LOG_NAME) == NULL)
			return -1;
		memcpy(f->log_names[i], p, LOG_NAME);
	}
	return 0;
}

int
facts_load(struct facts *f, const unsigned char *p, size_t size, size_t *used)
{
	uint64_t v;
	size_t i;

	if (size < FACTS_NUMBERS * 8)
		return -1;
	memset(f, 0, sizeof(*f));
	for (i = 0; i < FACTS_NUMBERS; i++) {
		v = le64_get(p + i * 8);
		memcpy((char *)f + i * 8, &v, 8);
	}
	if (f->anomaly_event_count > ANOMALY_EVENTS || f->logs < 1 ||
	    f->curve_points > CURVE_POINTS || f->logs > LOG_NAMES ||
	    f->peak_log >= f->logs || f->order > ORDER_NONE ||
	    f->threads > FACTS_THREADS || !(f->tick_rate >= 0) ||
	    f->tick_rate > 1e300)
		return -1;
	/* all of which have just been bounded */
	*used = (size_t)((FACTS_NUMBERS + f->threads * FACTS_LIFE +
	                     f->anomaly_event_count * FACTS_ANOMALY +
	                     f->curve_points * FACTS_POINT) *
	        8 +
	    f->logs * LOG_NAME);
	if (*used > size)
		return -1;
	return load_rest(f, p + FACTS_NUMBERS * 8);
}
