/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a record of an HPM trace to an event.  A record has the thread's number
 * and whether it yielded in one word, and no duration, so that its fields
 * cannot be read in place.
 */
#include <stdlib.h>
#include <string.h>

#include "format/hpm/hpm.h"

/* Gives out the event in h->data. */
static void
hpm_event_emit(struct tel_reader *r, struct hpm *h, unsigned type,
    uint64_t clock, uint32_t size, size_t record)
{
	struct tel_event *ev = &r->event;

	/* codes 1 to 6 are the types 0 to 5 */
	ev->type = &r->log.schema->types[type - 1];
	ev->data = h->data;
	ev->size = size;
	ev->clock = clock;
	ev->offset = r->offset;
	ev->raw = r->p;
	ev->raw_size = (uint32_t)record;
	ev->lead = h->lead;
	ev->lead_size = h->lead_size;
	h->lead_size = 0;
	r->consumed = record;
	tel_reader_step(r, record);
}

/*
 * Thread 1 and the primordial thread, which is -1, cannot be distinguished
 * where a minus means that the thread yielded.  Their local numbers can, if the
 * meta file has them.  Returns the flag.
 */
static unsigned
tell_thread(const struct hpm_meta *meta, int32_t slot, int64_t *tid,
    int *yielded)
{
	int primordial = meta->primordial_slot == slot;

	if (meta->primordial_slot < 0)
		/* the primordial thread had the first slot */
		return slot == 1 && meta->first_slot != 1 ? HPM_FLAG_THREAD : 0;
	if (primordial && meta->first_slot == slot)
		return HPM_FLAG_THREAD;
	if (primordial) {
		*tid = -1;
		*yielded = !*yielded;
	}
	return 0;
}

/* What there is to say of a period, given those before it on its processor. */
static inline unsigned
hpm_event_judge(struct hpm_processor *h, uint64_t start, uint64_t end,
    int64_t *duration, int64_t *gap)
{
	unsigned flags = 0;

	*gap = 0;
	if (start == 0) {
		*duration = 0;
		flags = HPM_FLAG_START;
	} else {
		*duration = (int64_t)(end - start);
		if (h->begun) {
			*gap = (int64_t)(start - h->end);
			if (h->timed && start < h->clock)
				flags |= HPM_FLAG_ORDER;
			if (h->timed && start == h->clock)
				flags |= HPM_FLAG_AGAIN;
			/* one of the usual length would fit in between */
			if (start > h->end &&
			    (double)*gap * (double)h->periods > h->ticks)
				flags |= HPM_FLAG_GAP;
		}
		if (end < start) {
			flags |= HPM_FLAG_NEGATIVE;
		} else {
			h->periods++;
			h->ticks += (double)*duration;
		}
		h->clock = start;
		h->timed = 1;
	}
	h->end = end;
	h->begun = 1;
	return flags;
}

/* Counts the cycles for each 256th of a tick of a period. */
static void
take_speed(struct hpm_speeds *s, uint64_t cycles, int64_t duration)
{
	if (duration <= 0 || cycles == 0 || cycles >> 56 != 0)
		return;
	uint64_t v = (cycles << 8) / (uint64_t)duration;
	if (v < 8)
		v = 8;
	unsigned log = 63 - (unsigned)__builtin_clzll(v);
	s->count[log * 8 + (v >> (log - 3) & 7)]++;
}

static void
count_flags(struct hpm *h, unsigned flags)
{
	for (unsigned i = 0; i < 8; i++)
		h->flagged[i] += flags >> i & 1;
}

/*
 * Lays the counter record at p, of one version and one byte order, out as the
 * event at d.  Returns its clock.
 */
__attribute__((always_inline)) static inline uint64_t
lay_out_counter(struct hpm *h, const unsigned char *p, unsigned char *d, int v1,
    int big)
{
	const unsigned char *q = p + (v1 ? 16 : 8);
	struct hpm_processor *processor = &h->one;
	uint32_t word = hpm_load32(p, big), second = hpm_load32(p + 4, big);
	int64_t duration, gap, tid;
	int32_t gid, slot;
	unsigned cpu, buffer, switched, flags;
	uint64_t start = hpm_load64(q, big), end = hpm_load64(q + 8, big);

	if (v1) {
		buffer = second >> 16 & 1;
		cpu = second & 0xffff;
		switched = 0;
		gid = (int32_t)hpm_load32(p + 8, big);
		slot = (int32_t)hpm_load32(p + 12, big);
	} else {
		slot = (int16_t)(word >> 16);
		buffer = word >> 15 & 1;
		switched = word >> 14 & 1;
		cpu = word >> 4 & 0x3ff;
		gid = (int32_t)second;
	}
	q += 16;
	int yielded = gid < 0;
	tid = yielded ? -(int64_t)gid : gid;
	if (h->cpu < 0 || h->each != NULL)
		h->cpu = (int)cpu;
	if (h->each != NULL) {
		processor = &h->each[cpu % HPM_PROCESSORS];
		h->seen += !processor->begun;
	}
	flags = hpm_event_judge(processor, start, end, &duration, &gap);
	if (tid == 1)
		flags |= tell_thread(&h->meta, slot, &tid, &yielded);
	if ((flags & HPM_FLAGS_UNSURE) == 0 &&
	    tel_running_take(&h->running, tid, cpu, end) > start)
		flags |= HPM_FLAG_TWICE;
	if (cpu != (unsigned)h->cpu)
		flags |= HPM_FLAG_PROCESSOR;
	if (flags != 0)
		count_flags(h, flags);
	tel_store_le32(d + HPM_AT_CPU, cpu);
	d[HPM_AT_BUFFER] = (unsigned char)(2 - buffer);
	d[HPM_AT_BITS] = (unsigned char)((unsigned)yielded | switched << 1);
	tel_store_le32(d + HPM_AT_SLOT, (uint32_t)slot);
	tel_store_le64(d + HPM_AT_TID, (uint64_t)tid);
	tel_store_le64(d + HPM_AT_END, end);
	tel_store_le64(d + HPM_AT_DURATION, (uint64_t)duration);
	tel_store_le64(d + HPM_AT_GAP, (uint64_t)gap);
	if (!v1 && h->layout.mids) {
		/* in a record the callee comes first */
		tel_store_le32(d + HPM_AT_CALLEE, hpm_load32(q, big));
		tel_store_le32(d + HPM_AT_CALLER, hpm_load32(q + 4, big));
		q += 8;
	}
	d[HPM_AT_FLAGS] = (unsigned char)flags;
	if (h->speeds.counter != 0)
		take_speed(&h->speeds,
		    hpm_load64(q + 8 * (h->speeds.counter - 1), big), duration);
	/* there are few: a call of memcpy() would take longer */
	for (size_t i = 0; i < h->layout.counters; i++)
		memcpy(d + HPM_AT_COUNTERS + 8 * i, q + 8 * i, 8);
	return processor->clock;
}

static uint64_t
event_counter(struct hpm *h, const unsigned char *p, unsigned char *d)
{
	if (h->layout.version == 1)
		return lay_out_counter(h, p, d, 1, 1);
	return h->layout.big ? lay_out_counter(h, p, d, 0, 1) :
	                       lay_out_counter(h, p, d, 0, 0);
}

void
tel__hpm_give_counter(struct tel_reader *r, struct hpm *h)
{
	const uint64_t clock = event_counter(h, r->p, h->data);

	hpm_event_emit(r, h, HPM_COUNTER, clock, hpm_event_size(h), h->size);
}

void
tel__hpm_decode_batch(struct tel_reader *r)
{
	struct hpm *h = r->state;
	struct tel_batch *f = r->batch;
	const unsigned char *const first = r->p - r->consumed;
	const unsigned char *p = r->p;
	const uint32_t size = hpm_event_size(h);
	unsigned char *row;
	uint32_t n;

	if (r->event.lead_size > 0)
		return;
	if (h->rows == NULL)
		h->rows = calloc(TEL_RUN_MAX, size);
	/* without room for them events are found one by one */
	if (h->rows == NULL)
		return;
	f->in_window = 1;
	f->raw = first;
	f->raw_sizes[0] = r->event.raw_size;
	for (n = 1, row = h->rows;
	     n < TEL_RUN_MAX && hpm_is_plain_counter(h, p, r->end); n++) {
		f->data[n] = row;
		f->at[n] = (uint32_t)(p - first);
		f->sizes[n] = size;
		f->raw_sizes[n] = h->size;
		f->types[n] = HPM_COUNTER - 1;
		f->clocks[n] = event_counter(h, p, row);
		p += h->size;
		row += size;
	}
	f->count = n;
}

/* A marker or an exit record of size bytes at r->p. */
void
tel__hpm_give_other(struct tel_reader *r, struct hpm *h, size_t size)
{
	const unsigned char *p = r->p + 4;
	unsigned type = hpm_load32(r->p, h->layout.big);
	uint64_t clock = h->each != NULL && h->cpu >= 0 ?
	    h->each[h->cpu % HPM_PROCESSORS].clock :
	    h->one.clock;
	size_t n = 0;

	tel_store_le32(h->data + HPM_AT_CPU, h->cpu < 0 ? 0 : (unsigned)h->cpu);
	if (type == HPM_EXIT) {
		h->exited++;
	} else {
		n = size - (type < HPM_RUN_START ? 8 : 12);
		memcpy(h->data + HPM_AT_APP, r->p + size - n, n);
	}
	tel_store_le32(h->data + HPM_AT_RUN, hpm_load32(p, h->layout.big));
	hpm_event_emit(r, h, type, clock, (uint32_t)(HPM_AT_APP + n), size);
}
