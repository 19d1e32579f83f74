/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Traces merged by time: more events than a window holds, none of which says
 * what time it is elsewhere.  What comes out is checked against the rule of
 * the historical readers: markers stay behind the counter before them, and of
 * two counters the earlier comes first, of equal ones that of the first file.
 */
#include "hpm_read.h"

#define TRACES 3
#define COUNTERS 90000u

/* A record that was put into a trace. */
struct put {
	uint64_t start;
	uint32_t code;
	uint32_t serial; /* in the counter, the run, or the status */
};

struct trace {
	struct bytes bytes;
	struct put *puts;
	size_t count;
	size_t at; /* in the reference merge */
};

static uint64_t seed = 12345;

/* Marsaglia's xorshift. */
static uint32_t
random_below(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 20) % n;
}

static void
add_put(struct trace *t, uint64_t start, uint32_t code, uint32_t serial)
{
	t->puts[t->count].start = start;
	t->puts[t->count].code = code;
	t->puts[t->count++].serial = serial;
}

/* Starts grow, by so little that those of different traces are often equal. */
static struct trace
make(unsigned cpu)
{
	struct trace t = { { NULL, 0, 0, 0 }, NULL, 0, 0 };
	struct bytes *b = &t.bytes;
	uint64_t start = 1000 + cpu;
	unsigned i;

	t.puts = calloc(2 * COUNTERS + 2, sizeof(*t.puts));
	if (t.puts == NULL)
		exit(1);
	put_number(b, 3, 4, 0);
	put_text(b, "HPM.headerFile", 0);
	for (i = 0; i < COUNTERS; i++) {
		put_number(b, 0x00024001 + (cpu << 4), 4, 0);
		put_number(b, 7, 4, 0);
		put_number(b, start, 8, 0);
		put_number(b, start + 1, 8, 0);
		put_number(b, 0, 8, 0);
		put_number(b, i, 8, 0);
		add_put(&t, start, HPM_COUNTER, i);
		if (random_below(50) == 0) {
			put_number(b, HPM_RUN_START, 4, 0);
			put_number(b, i, 4, 0);
			put_text(b, "go", 0);
			put_number(b, HPM_PADDING, 4, 0);
			put_number(b, 2, 4, 0);
			put_number(b, 0, 2, 0);
			add_put(&t, start, HPM_RUN_START, i);
		}
		start += 1 + random_below(4);
	}
	put_number(b, HPM_EXIT, 4, 0);
	put_number(b, cpu, 4, 0);
	add_put(&t, t.puts[t.count - 1].start, HPM_EXIT, cpu);
	return t;
}

/* What comes next of the first n traces, folded as the readers did. */
static unsigned
reference(struct trace *traces, unsigned n)
{
	const struct trace *last = &traces[n - 1];
	unsigned left;

	if (n == 1)
		return 0;
	left = reference(traces, n - 1);
	if (last->at == last->count)
		return left;
	if (traces[left].at == traces[left].count)
		return n - 1;
	if (traces[left].puts[traces[left].at].code != HPM_COUNTER)
		return left;
	if (last->puts[last->at].code != HPM_COUNTER)
		return n - 1;
	return traces[left].puts[traces[left].at].start <=
	        last->puts[last->at].start ?
	    left :
	    n - 1;
}

/* Compares the merge of traces with the reference. */
static void
check(struct trace *traces, tel_order order, const char *what)
{
	tel_merge *m = tel_merge_new();
	tel_reader *r[TRACES];
	const tel_event *ev;
	const struct put *want;
	unsigned i, next;
	uint64_t value, events = 0, wrong = 0;
	tel_status st;

	for (i = 0; i < TRACES; i++) {
		traces[i].at = 0;
		r[i] = tel_reader_new();
		if (r[i] == NULL || m == NULL ||
		    tel_reader_open_memory(r[i], traces[i].bytes.data,
		        traces[i].bytes.size, NULL) != TEL_OK ||
		    tel_merge_add(m, r[i], order) != TEL_OK)
			exit(1);
	}
	while ((st = tel_merge_next(m, &ev)) == TEL_OK) {
		events++;
		next = reference(traces, TRACES);
		if (traces[next].at == traces[next].count)
			break;
		want = &traces[next].puts[traces[next].at++];
		/* the counter, the run, the status: the last but for the name */
		value = tel_event_u64(ev,
		    want->code == HPM_COUNTER ?
		        tel_type_field_count(tel_event_type(ev)) - 1 :
		        1);
		wrong += tel_event_u64(ev, 0) != next ||
		    tel_event_clock(ev) != want->start || value != want->serial;
	}
	is_u64((uint64_t)st, TEL_END, "%s: to the end", what);
	is_u64(events, traces[0].count + traces[1].count + traces[2].count,
	    "%s: all events", what);
	is_u64(wrong, 0, "%s: in the order of the readers", what);
	is_u64(tel_merge_late(m), 0, "%s: none too late", what);
	tel_merge_free(m);
	for (i = 0; i < TRACES; i++)
		tel_reader_free(r[i]);
}

int
main(void)
{
	struct trace traces[TRACES];
	unsigned i;

	for (i = 0; i < TRACES; i++)
		traces[i] = make(i);
	check(traces, TEL_ORDER_LIVE, "live");
	check(traces, TEL_ORDER_TIME, "sorted");
	for (i = 0; i < TRACES; i++) {
		free(traces[i].bytes.data);
		free(traces[i].puts);
	}
	return done();
}
