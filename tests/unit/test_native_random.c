/* SPDX-License-Identifier: BSD-2-Clause */
/* The native format: random types and events of them are what they were. */
#include "native_log.h"

#include "model/clock.h"

#define TYPES 12u
#define EVENTS 700u
#define EVENT_MAX 512u

static uint64_t state = 1;

/* xorshift64, by Marsaglia. */
static uint64_t
random64(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static unsigned
below(unsigned n)
{
	return (unsigned)(random64() >> 33) % n;
}

/* Integers as logs have them: small, near each other, in steps, or wild. */
static uint64_t
value(unsigned how, uint64_t before)
{
	switch (how % 6) {
	case 0: return below(3);
	case 1: return before + 8u * below(1000) - 4000;
	case 2: return random64();
	case 3: return before + 26;
	case 4: return 42;
	default: return UINT64_MAX >> below(64);
	}
}

static struct tel_schema *
make_schema(uint32_t header)
{
	static const enum tel_load loads[] = { TEL_LOAD_U8, TEL_LOAD_LE16,
		TEL_LOAD_LE32, TEL_LOAD_LE64, TEL_LOAD_BE16, TEL_LOAD_BE32,
		TEL_LOAD_BE64, TEL_LOAD_LE16S, TEL_LOAD_LE32S, TEL_LOAD_BE16S,
		TEL_LOAD_BE32S, TEL_LOAD_BIT };
	static const struct tel_abi abi = { 8, 8, 8, 0, 0 };
	struct tel_schema *s;
	struct tel_type *t;
	struct tel_field *f;
	unsigned i, k, n;
	uint32_t at;
	char name[16];

	s = tel__schema_make("random", "1", &abi, header, TYPES);
	if (s == NULL)
		abort();
	for (i = 0; i < TYPES; i++) {
		n = below(9);
		snprintf(name, sizeof(name), "Type%u", i);
		t = tel__schema_add(s, name, 7 * i, i % 2 ? "Odd" : "Even",
		    header, n + 1);
		at = header;
		for (k = 0; t != NULL && k < n; k++) {
			const enum tel_load load = loads[below(12)];

			snprintf(name, sizeof(name), "f%u", k);
			f = tel__type_add(t, name,
			    below(3) ? TEL_UNSIGNED : TEL_ADDRESS, load, at);
			if (f == NULL)
				abort();
			f->bit = (uint8_t)(load == TEL_LOAD_BIT ? below(8) : 0);
			at += load == TEL_LOAD_BIT ? below(2) :
			                             f->width / 8u + below(3);
		}
		if (t == NULL ||
		    (i % 3 == 0 &&
		        tel__type_add(t, "s", TEL_STRING, TEL_LOAD_STRING,
		            at + 8) == NULL))
			abort();
		t->size = at + 8;
	}
	return s;
}

/* Fills the event with values, and a string where its type has one. */
static void
make_event(struct tel_event *ev, const struct tel_type *t, unsigned char *p,
    uint64_t *before)
{
	unsigned i, k, n = 0;

	for (i = 0; i < t->nfields; i++) {
		if (t->fields[i].datatype == TEL_STRING) {
			n = below(20);
			for (k = 0; k < n; k++)
				p[t->fields[i].offset + k] =
				    (unsigned char)('a' + below(26));
			continue;
		}
		before[i] = value(t->index + i, before[i]);
		if (t->fields[i].load == TEL_LOAD_BIT)
			p[t->fields[i].offset] |=
			    (unsigned char)((before[i] & 1)
			        << t->fields[i].bit);
		else
			tel_store(p + t->fields[i].offset, before[i],
			    t->fields[i].width / 8u, 0);
	}
	ev->type = t;
	ev->data = p;
	ev->size = t->size + n + (n > 0 ? 1 : 0);
}

/* What a run of the test writes is what is read. */
static int
run(uint32_t header)
{
	static unsigned char data[EVENTS][EVENT_MAX];
	static uint64_t want[EVENTS], before[TYPES][16];
	struct tel_schema *s = make_schema(header);
	struct tel_log log = { .name = "random", .format = "random" };
	struct stream to = { 0 };
	struct result got = { 0 };
	tel_output *out = tel_output_new_callback(put_stream, &to);
	tel_writer *w = tel_writer_new(out);
	struct tel_event ev;
	uint64_t clock = 1000;
	unsigned i, type, same = 0;

	memset(data, 0, sizeof(data));
	log.schema = s;
	log.labels = tel__labels_new(10);
	log.clock = tel__clock_new();
	if (w == NULL || tel_writer_set_target(w, "tel") != TEL_OK)
		abort();
	for (i = 0; i < EVENTS; i++) {
		memset(&ev, 0, sizeof(ev));
		type = below(TYPES);
		make_event(&ev, &s->types[type], data[i], before[type]);
		ev.log = &log;
		ev.clock = clock = value(i / 100, clock);
		ev.index = i;
		ev.offset = 100 * i;
		want[i] = hash_event(&ev);
		if (tel_writer_event(w, &ev) != TEL_OK)
			abort();
		if (below(100) == 0 && tel_writer_flush(w) != TEL_OK)
			abort();
	}
	if (tel_writer_finish(w) != TEL_OK || tel_output_finish(out) != TEL_OK)
		abort();
	read_stream(to.data, to.size,
	    (struct how_to_read){ .read_size = 1 + below(5000) }, &got);
	for (i = 0; i < EVENTS && i < got.events; i++)
		same += got.hashes[i] == want[i];
	if (same != EVENTS || got.events != EVENTS || got.damaged != 0)
		diag("%u of %u events, %s", same, (unsigned)got.events,
		    got.text);
	tel_writer_free(w);
	tel_output_free(out);
	tel__labels_free(log.labels);
	tel__clock_free(log.clock);
	tel_schema_free(s);
	free(to.data);
	free(got.hashes);
	return same == EVENTS && got.events == EVENTS && got.damaged == 0;
}

int
main(void)
{
	const unsigned runs = getenv("TEST_SLOW") != NULL ? 5 : 100;
	unsigned i, good = 0;

	for (i = 0; i < runs; i++)
		good += (unsigned)run(i % 2 ? 16 : 0);
	is_u64(good, runs, "random events of random types are what they were");
	return done();
}
