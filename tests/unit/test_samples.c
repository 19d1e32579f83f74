/* SPDX-License-Identifier: BSD-2-Clause */
/* The exact events of a page, against a plain model. */
#include "must.h"

#include "base/varint.h"
#include "model/clock.h"
#include "model/encode.h"
#include "model/labels.h"
#include "print/event_samples.h"

#define EVENTS 50000u
#define TYPES 3u
#define SIZE 32u /* of an event without its string */

static uint64_t state = 1;

static uint64_t
draw(uint64_t below)
{
	state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (state >> 20) % below;
}

/* An event as it was put. */
struct put {
	uint64_t time, length; /* as tel__samples_put() has it */
	uint32_t type, track, name, value;
	int copied;
};

/* ------------------------------------------------------------- the log */

struct log {
	struct tel_schema *schema;
	struct tel_log log;
	struct put *put;
};

/*
 * Types of a number and a double, of two numbers that have labels, and of a
 * number and a text.  Both numbers have the same bits.
 */
static void
make_log(struct log *l)
{
	static const struct tel_abi abi = { 8, 8, 8, 0, 0 };
	static const enum tel_datatype datatypes[TYPES] = { TEL_DOUBLE,
		TEL_POINTER, TEL_STRING };
	struct tel_type *t;
	char name[8];
	unsigned i;

	memset(l, 0, sizeof(*l));
	l->schema = must(tel__schema_make("test", "1", &abi, 16, TYPES));
	for (i = 0; i < TYPES; i++) {
		snprintf(name, sizeof(name), "Type%u", i);
		t = must(tel__schema_add(l->schema, name, i, "Kind", SIZE, 2));
		must(tel__type_add(t, "value",
		    i == 1 ? TEL_POINTER : TEL_UNSIGNED, TEL_LOAD_LE64, 16));
		must(tel__type_add(t, "other", datatypes[i],
		    i == 2 ? TEL_LOAD_STRING : TEL_LOAD_LE64,
		    i == 2 ? SIZE : 24));
	}
	l->log.name = "test.log";
	l->log.format = "test";
	l->log.schema = l->schema;
	l->log.clock = must(tel__clock_new());
	l->log.labels = must(tel__labels_new(100));
	must_ok(tel__labels_intern(l->log.labels, 1, "seven", 5));
	must_ok(tel__labels_add(l->log.labels,
	    tel_field_space(l->schema, &l->schema->types[1].fields[0]), 7, 0,
	    1));
	/* gaps end before an event, and so may the last */
	l->put = must(calloc(EVENTS + 1, sizeof(*l->put)));
}

static void
free_log(struct log *l)
{
	tel__labels_free(l->log.labels);
	tel__clock_free(l->log.clock);
	tel_schema_free(l->schema);
	free(l->put);
}

/* The event that was put, in bytes. */
static struct tel_event
event_of(const struct log *l, const struct put *p, unsigned char *bytes)
{
	const struct tel_type *t = &l->schema->types[p->type];
	struct tel_event ev = { .type = t,
		.data = bytes,
		.clock = p->time,
		.log = (struct tel_log *)(uintptr_t)&l->log,
		.size = SIZE };

	tel_encode_field(&t->fields[0], p->value, bytes);
	if (p->type < 2)
		tel_encode_field(&t->fields[1], p->value, bytes);
	else
		ev.size += 1 +
		    (uint32_t)snprintf((char *)bytes + SIZE, 16, "t%u",
		        p->value % 50);
	return ev;
}

static const char *
name_of(const struct put *p, char *text)
{
	snprintf(text, 16, "name%u", p->name);
	return p->name > 0 ? text : NULL;
}

/* ------------------------------------------------------------- decoding */

/* A varint, or 0 behind the end. */
static uint64_t
get(const unsigned char **p, const unsigned char *end)
{
	uint64_t v = 0;

	if (*p != NULL)
		*p = tel__varint_get(*p, end, &v);
	return v;
}

static int64_t
get_signed(const unsigned char **p, const unsigned char *end)
{
	return (int64_t)tel__unzigzag(get(p, end));
}

/* An event as a block has it; a text by its number in the block and 1. */
struct got {
	uint64_t time, length, value;
	uint32_t type, track, name, text;
};

/* One of the strings of a block, by its number and 1. */
static int
is_string(const unsigned char *p, const unsigned char *end, uint64_t number,
    const char *want)
{
	uint64_t n = get(&p, end), size = 0;

	if (number == 0 || number > n)
		return number == 0 && want == NULL;
	for (; number > 0 && p != NULL; number--) {
		p += size;
		size = get(&p, end);
	}
	return p != NULL && want != NULL && strlen(want) == size &&
	    memcmp(p, want, size) == 0;
}

/* Decodes a block into out; the place of its strings, or NULL. */
static const unsigned char *
decode(const struct sample_block *b, struct got *out)
{
	const unsigned char *p = b->bytes, *end = p + b->size;
	uint64_t groups = get(&p, end), time, track, value, i, n, type;
	uint64_t at = 0;

	for (; groups > 0; groups--) {
		type = get(&p, end);
		n = get(&p, end);
		if (type >= TYPES || n == 0 || n > b->events - at)
			return NULL;
		for (i = 0, time = b->from; i < n; i++) {
			time += (uint64_t)get_signed(&p, end);
			out[at + i].time = time;
			out[at + i].type = (uint32_t)type;
		}
		for (i = track = 0; i < n; i++)
			out[at + i].track =
			    (uint32_t)(track += (uint64_t)get_signed(&p, end));
		for (i = 0; i < n; i++)
			out[at + i].length = get(&p, end);
		for (i = 0; i < n; i++)
			out[at + i].name = (uint32_t)get(&p, end);
		for (i = value = 0; i < n; i++)
			out[at + i].value = value +=
			    (uint64_t)get_signed(&p, end);
		for (i = 0; i < n && type != 0; i++)
			out[at + i].text = (uint32_t)get(&p, end) + (type == 2);
		for (i = 0; i < n && type == 0 && p != NULL; i++, p += 8)
			if (tel_le64(p) != out[at + i].value)
				return NULL;
		for (i = value = 0; i < n && type == 1; i++)
			if ((value += (uint64_t)get_signed(&p, end)) !=
			    out[at + i].value)
				return NULL;
		for (i = 0; i < n && type == 1; i++)
			if (get(&p, end) != out[at + i].text)
				return NULL;
		at += n;
	}
	return at == b->events ? p : NULL;
}

/* ------------------------------------------------------------- checking */

/* Of one type in order of time; those of one time as they were put, ... */
static int
compare_put(const void *a, const void *b)
{
	const struct put *const *x = a, *const *y = b;

	if ((*x)->type != (*y)->type)
		return (*x)->type < (*y)->type ? -1 : 1;
	if ((*x)->time != (*y)->time)
		return (*x)->time < (*y)->time ? -1 : 1;
	return *x < *y ? -1 : *x > *y;
}

/* ... or the longest first. */
static int
compare_long(const void *a, const void *b)
{
	const struct put *const *x = a, *const *y = b;

	if ((*x)->type == (*y)->type && (*x)->time == (*y)->time)
		return (*x)->length > (*y)->length ?
		    -1 :
		    (*x)->length < (*y)->length;
	return compare_put(a, b);
}

/* Whether a block has n events, and these alone, in order. */
static int
has_events(const struct sample_block *b, const struct put **want, size_t n)
{
	struct got *got = must(calloc(n + 1, sizeof(*got)));
	const unsigned char *strings, *end = b->bytes + b->size;
	char text[16];
	size_t i;

	strings = b->events == n ? decode(b, got) : NULL;
	for (i = 0; strings != NULL && i < n; i++) {
		const struct put *p = want[i];

		if (got[i].time != p->time || got[i].length != p->length ||
		    got[i].type != p->type || got[i].track != p->track ||
		    got[i].value != p->value ||
		    !is_string(strings, end, got[i].name, name_of(p, text)))
			break;
		snprintf(text, sizeof(text), "t%u", p->value % 50);
		if (!is_string(strings, end, got[i].text,
		        p->type == 2                      ? text :
		            p->type == 1 && p->value == 7 ? "seven" :
		                                            NULL))
			break;
	}
	free(got);
	if (strings == NULL || i < n)
		diag("block %d: event %zu of %zu, %u", (int)b->number, i, n,
		    b->events);
	return strings != NULL && i == n;
}

/* What a block is said to be, and has, given the n events of it from put on. */
static int
check_block(const struct sample_block *b, const struct put *put, size_t n,
    const struct put *behind)
{
	uint64_t from = UINT64_MAX, to = 0, low = UINT64_MAX, high = 0, now;
	const struct put **want = must(calloc(n + 1, sizeof(*want)));
	size_t i;
	int good;

	for (i = 0; i < n; i++) {
		const uint64_t end =
		    put[i].time + (put[i].length > 0 ? put[i].length - 1 : 0);

		want[i] = &put[i];
		/* of a range that was copied its end is known at its end */
		now = put[i].copied ? end : put[i].time;
		from = now < from ? now : from;
		to = now > to ? now : to;
		low = put[i].time < low ? put[i].time : low;
		high = end > high ? end : high;
	}
	if (behind != NULL) {
		now = behind->time + (behind->copied ? behind->length - 1 : 0);
		to = now > to ? now : to;
	}
	qsort(want, n, sizeof(*want), compare_put);
	good =
	    b->from == from && b->to == to && b->low == low && b->high == high;
	if (!good)
		diag("block %d: %d %d %d %d", (int)b->number, b->from == from,
		    b->to == to, b->low == low, b->high == high);
	good &= b->packed || has_events(b, want, n);
	free(want);
	return good;
}

/* ------------------------------------------------------------- putting */

static void
draw_events(struct log *l)
{
	struct put *p;
	uint32_t i;

	for (i = 0; i < EVENTS; i++) {
		p = &l->put[i];
		p->type = (uint32_t)draw(TYPES);
		p->track = (uint32_t)draw(9);
		p->copied = draw(3) == 0;
		p->name = (uint32_t)draw(4) + (uint32_t)p->copied;
		p->value = (uint32_t)draw(10);
		p->time = 1000 + 3 * i - draw(50);
		/* no two of those that are copied have one length */
		p->length =
		    p->copied ? 1 + i * 7919u % 65537u : draw(3) * 40000;
	}
}

static void
put_event(const struct log *l, struct event_samples *x, const struct put *p)
{
	unsigned char bytes[SIZE + 16] = { 0 };
	const struct tel_event ev = event_of(l, p, bytes);
	const uint32_t type = tel__samples_type(x, ev.type);
	char text[16];
	const char *name = name_of(p, text);
	const size_t n = name != NULL ? strlen(name) : 0;
	struct sample_copy *c;

	if (!p->copied) {
		tel__samples_put(x, &ev, type, p->track, p->time, p->length,
		    name, n);
		return;
	}
	c = must(tel__samples_copy(x, &ev, type, p->track, p->time, name, n));
	tel__samples_put_copy(x, c, p->time + p->length - 1);
}

static void
begin(const struct log *l, struct event_samples *x, uint64_t most)
{
	uint32_t i;

	tel__samples_init(x, most);
	/* types are numbered as they come */
	for (i = 0; i < TYPES; i++)
		(void)tel__samples_type(x, &l->schema->types[i]);
}

/* ------------------------------------------------------------ all of it */

/* Whether a number is odd; arg: NULL: none is. */
static int
is_odd(void *arg, uint64_t number)
{
	return arg != NULL && number % 2 != 0;
}

static int
compare_lengths(const void *a, const void *b)
{
	const struct put *const *x = a, *const *y = b;

	return (*x)->length > (*y)->length ? -1 : (*x)->length < (*y)->length;
}

/* The longest of the copied; even: of blocks with an even number. */
static void
check_longest(const struct log *l, struct event_samples *x, size_t n, int even)
{
	uint64_t from = UINT64_MAX, to = 0;
	const struct put **all = must(calloc(EVENTS, sizeof(*all)));
	const struct put **want = must(calloc(EVENTS, sizeof(*want)));
	struct sample_block b;
	size_t i, count = 0, k = 0;

	for (i = 0; i < EVENTS; i++)
		if (l->put[i].copied)
			all[count++] = &l->put[i];
	qsort(all, count, sizeof(*all), compare_lengths);
	for (i = 0; i < count && i < SAMPLES_LONGEST && k < n; i++)
		if (!even ||
		    (size_t)(all[i] - l->put) / SAMPLES_EVENTS % 2 == 0)
			want[k++] = all[i];
	for (i = 0; i < k; i++) {
		const uint64_t end = want[i]->time + want[i]->length - 1;

		from = want[i]->time < from ? want[i]->time : from;
		to = end > to ? end : to;
	}
	qsort(want, k, sizeof(*want), compare_long);
	ok(tel__samples_longest(x, n, is_odd, even ? x : NULL, &b) == 1 &&
	        b.from == from && b.low == from && b.to == to && b.high == to &&
	        has_events(&b, want, k),
	    "the %zu longest ranges, of %zu", k, count);
	free(b.bytes);
	free(all);
	free(want);
}

static void
test_all(const struct log *l)
{
	const size_t full = EVENTS / SAMPLES_EVENTS;
	struct sample_block rest = { 0 };
	struct event_samples x;
	unsigned good = 0;
	size_t i;

	begin(l, &x, UINT64_MAX);
	ok(!tel__samples_rest(&x, &rest), "no rest of nothing");
	for (i = 0; i < EVENTS; i++)
		put_event(l, &x, &l->put[i]);
	for (i = 0; i < x.nblocks; i++)
		good += x.blocks[i].number == i &&
		    check_block(&x.blocks[i], l->put + i * SAMPLES_EVENTS,
		        SAMPLES_EVENTS, &l->put[(i + 1) * SAMPLES_EVENTS]);
	is_u64(good, full, "blocks have their events");
	ok(tel__samples_rest(&x, &rest) && rest.number == full &&
	        check_block(&rest, l->put + full * SAMPLES_EVENTS,
	            EVENTS - full * SAMPLES_EVENTS, NULL),
	    "and so has the one that is not full");
	free(rest.bytes);
	check_longest(l, &x, 1, 0);
	check_longest(l, &x, 1000, 1);
	check_longest(l, &x, EVENTS, 0);
	check_longest(l, &x, EVENTS, 1);
	is_u64(tel__samples_spare(&x), 0, "all are in the page");
	tel__samples_clear(&x);
}

/* ----------------------------------------------------- parts of a log */

/* The times of events from one on to before another, as a gap has them. */
static struct sample_gap
gap_of(const struct put *p, const struct put *end)
{
	struct sample_gap gap = SAMPLES_NO_GAP;

	for (; p < end; p++)
		samples_widen(&gap, p->time,
		    p->time + (p->copied ? p->length - 1 : 0));
	return gap;
}

/* The gap may go on to the time of the event behind it. */
static int
is_gap(const struct sample_gap *got, const struct put *from,
    const struct put *to)
{
	const struct sample_gap want = gap_of(from, to);
	const struct sample_gap with = gap_of(from, to + (from < to));

	return got->from == want.from && got->to >= want.to &&
	    got->to <= with.to;
}

/* Puts all events, or skips those that will not be in the page. */
static void
put_part(const struct log *l, struct event_samples *x, int skips)
{
	struct sample_gap gap;
	size_t i = 0;
	uint64_t n;

	while (i < EVENTS) {
		n = skips ? tel__samples_spare(x) : 0;
		if (n == 0) {
			put_event(l, x, &l->put[i++]);
			continue;
		}
		n = 1 + draw(n);
		n = n < EVENTS - i ? n : EVENTS - i;
		gap = gap_of(l->put + i, l->put + i + n);
		tel__samples_skip(x, n, gap.from, gap.to);
		i += n;
	}
}

/* Some blocks are left out, evenly, and none that fits. */
static void
test_part(const struct log *l, uint64_t most, int skips)
{
	const struct put *at = l->put, *from;
	struct event_samples x;
	unsigned good = 0;
	size_t i, full;

	begin(l, &x, most);
	put_part(l, &x, skips);
	for (i = 0; i < x.nblocks; i++) {
		from = l->put + x.blocks[i].number * SAMPLES_EVENTS;
		good += x.blocks[i].number == i * x.stride &&
		    is_gap(&x.blocks[i].gap, at, from);
		at = from + SAMPLES_EVENTS;
		good += (unsigned)check_block(&x.blocks[i], from,
		    SAMPLES_EVENTS, x.stride == 1 ? at : NULL);
	}
	is_u64(good, 2 * x.nblocks, "blocks, and the gaps before them");
	full = EVENTS / SAMPLES_EVENTS;
	is_u64(x.number, full, "all are counted");
	is_u64(x.events, EVENTS % SAMPLES_EVENTS, "also those behind");
	is_u64(x.stride & (x.stride - 1), 0, "%d: a power of 2", (int)x.stride);
	is_u64(x.nblocks, (full - 1) / x.stride + 1, "every %d block is kept",
	    (int)x.stride);
	ok(x.nblocks == 1 ||
	        (x.bytes <= most && (x.stride == 1 || 4 * x.bytes > most)),
	    "%d bytes of %d", (int)x.bytes, (int)most);
	if (full % x.stride != 0)
		ok(is_gap(&x.gap, at, l->put + EVENTS), "the gap behind");
	tel__samples_clear(&x);
}

/* -------------------------------------------------------------- strings */

/* Names, and text of events, are cut; bytes that are not UTF-8 are characters. */
static void
test_strings(const struct log *l)
{
	static const struct {
		const char *piece, *shown;
		unsigned times, name, text; /* how often it is shown */
	} cases[] = {
		{ "n", "n", 511, 511, 511 },
		{ "n", "n", 512, 512, 512 },
		{ "n", "n", 513, 512, 513 },
		{ "n", "n", 4097, 512, 4096 },
		{ "\xc3\xa9", "\xc3\xa9", 3000, 256, 2048 },
		{ "\xe2\x82\xac", "\xe2\x82\xac", 3000, 170, 1365 },
		{ "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80", 3000, 128, 1024 },
		{ "\xe9", "\xc3\xa9", 100, 100, 100 },
	};
	static unsigned char bytes[SIZE + 16384];
	static char shown[16384];
	const struct put what = { .type = 2 };
	const unsigned char *strings;
	struct event_samples x;
	struct sample_block b;
	struct tel_event ev;
	struct got got[2];
	unsigned i, k, good;
	size_t n;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin(l, &x, UINT64_MAX);
		ev = event_of(l, &what, bytes);
		n = strlen(cases[i].piece);
		for (k = 0; k < cases[i].times; k++)
			memcpy(bytes + SIZE + k * n, cases[i].piece, n);
		n *= k;
		bytes[SIZE + n] = '\0';
		ev.size = SIZE + (uint32_t)n + 1;
		tel__samples_put(&x, &ev, 2, 0, 1, 0,
		    (const char *)bytes + SIZE, n);
		tel__samples_put_copy(&x,
		    must(tel__samples_copy(&x, &ev, 2, 0, 2,
		        (const char *)bytes + SIZE, n)),
		    3);
		if (!tel__samples_rest(&x, &b))
			abort();
		strings = decode(&b, got);
		for (good = k = 0; strings != NULL && k < 4; k++) {
			unsigned times = k < 2 ? cases[i].name : cases[i].text;

			for (shown[0] = '\0', n = 0; times > 0; times--)
				n += (size_t)snprintf(shown + n,
				    sizeof(shown) - n, "%s", cases[i].shown);
			good += (unsigned)is_string(strings, b.bytes + b.size,
			    k < 2 ? got[k].name : got[k - 2].text, shown);
		}
		is_u64(good, 4, "a name and a text, of %u pieces of %zu bytes",
		    cases[i].times, strlen(cases[i].piece));
		free(b.bytes);
		tel__samples_clear(&x);
	}
}

int
main(void)
{
	struct log l;

	make_log(&l);
	draw_events(&l);
	test_all(&l);
	test_part(&l, 10000000, 0);
	test_part(&l, 200000, 0);
	test_part(&l, 200000, 1);
	test_part(&l, 100000, 0);
	test_part(&l, 100000, 1);
	test_part(&l, 1, 1);
	test_strings(&l);
	free_log(&l);
	return done();
}
