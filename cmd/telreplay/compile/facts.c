/* SPDX-License-Identifier: BSD-2-Clause */
/* Facts in the file of a program, and anomalies in words. */
#include "telreplay/compile/facts.h"

#include "telreplay/compile/program_file.h"

_Static_assert(ANOMALIES == ANOMALY_IMPOSSIBLE + 1, "all are counted");
_Static_assert(ALLOC_KINDS == TEL_ALLOC_THREAD_END + 1, "all are counted");
_Static_assert(sizeof(double) == 8, "a double is a word");
_Static_assert(LOG_NAME % 8 == 0, "a name is words");
_Static_assert(sizeof(struct thread_life) == FACTS_LIFE * 8 &&
        sizeof(struct live_point) == FACTS_POINT * 8,
    "they are nothing but words");
/* Where the words of an anomaly start, behind its kind and its log. */
#define EVENT offsetof(struct anomaly_event, event)
_Static_assert(sizeof(struct anomaly_event) == EVENT + (FACTS_ANOMALY - 1) * 8,
    "its words follow each other");

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
	case ANOMALY_INHERITED:
		return "free or realloc in a child of a block it inherited";
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
	/* what does not fit may fit an event that was left out */
	if (f->selected && anomaly <= ANOMALY_SIZE)
		return 0;
	if (f->buffers > 0 && f->operations[TEL_ALLOC_COMMIT] == 0 &&
	    anomaly == ANOMALY_FREE)
		return 0;
	return anomaly_is_damage(anomaly);
}

/* Writes n numbers as they are in memory. */
static unsigned char *
facts_put(unsigned char *p, const void *from, size_t n)
{
	uint64_t v;

	for (size_t i = 0; i < n; i++, p += 8) {
		memcpy(&v, (const char *)from + i * 8, 8);
		tel_store_le64(p, v);
	}
	return p;
}

/* Reads them.  Returns where they end. */
static const unsigned char *
facts_get(const unsigned char *p, void *to, size_t n)
{
	uint64_t v;

	for (size_t i = 0; i < n; i++, p += 8) {
		v = tel_le64(p);
		memcpy((char *)to + i * 8, &v, 8);
	}
	return p;
}

size_t
facts_store(const struct facts *f, unsigned char *room)
{
	unsigned char *p = facts_put(room, f, FACTS_NUMBERS);
	uint64_t i, first;

	p = facts_put(p, f->lives, (size_t)f->threads * FACTS_LIFE);
	for (i = 0; i < f->anomaly_event_count; i++) {
		const struct anomaly_event *a = &f->anomaly_events[i];

		first = (uint64_t)a->log << 32 | (uint32_t)a->anomaly;
		p = facts_put(p, &first, 1);
		p = facts_put(p, (const char *)a + EVENT, FACTS_ANOMALY - 1);
	}
	p = facts_put(p, f->curve, (size_t)f->curve_points * FACTS_POINT);
	memcpy(p, f->log_names, (size_t)f->logs * LOG_NAME);
	return (size_t)(p - room) + (size_t)f->logs * LOG_NAME;
}

static int
load_rest(struct facts *f, const unsigned char *p)
{
	uint64_t i, first;

	p = facts_get(p, f->lives, (size_t)f->threads * FACTS_LIFE);
	for (i = 0; i < f->anomaly_event_count; i++) {
		struct anomaly_event *a = &f->anomaly_events[i];

		p = facts_get(p, &first, 1);
		p = facts_get(p, (char *)a + EVENT, FACTS_ANOMALY - 1);
		if ((uint32_t)first >= ANOMALIES || first >> 32 >= f->logs)
			return -1;
		a->anomaly = (enum anomaly)(uint32_t)first;
		a->log = (uint32_t)(first >> 32);
	}
	p = facts_get(p, f->curve, (size_t)f->curve_points * FACTS_POINT);
	for (i = 0; i < f->curve_points; i++)
		if (f->curve[i].done > f->words ||
		    (i > 0 && f->curve[i].done < f->curve[i - 1].done))
			return -1;
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
	if (size < FACTS_NUMBERS * 8)
		return -1;
	memset(f, 0, sizeof(*f));
	const unsigned char *rest = facts_get(p, f, FACTS_NUMBERS);
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
	return load_rest(f, rest);
}
