/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Filters that are told the ranges of the values of many events: whether any of
 * these may match, against each combination of the values.
 */
#include "filter_random.h"
#include "must.h"

#include "model/clock.h"
#include "model/encode.h"
#include "model/event.h"
#include "query/bind.h"
#include "reader/reader.h"

#define ROUNDS 6000
#define BOX_MAX 300u /* combinations of the values of a box */

/* What a box has ranges of: the fields, and then the clock and the index. */
enum { N, M, S, L, D, B, A, O, NFIELDS, CLOCK = NFIELDS, INDEX, NRANGES };

static const struct {
	const char *name;
	enum tel_datatype datatype;
	enum tel_load load;
	uint64_t top; /* of the values */
} fields[NFIELDS] = {
	{ "n", TEL_UNSIGNED, TEL_LOAD_LE64, UINT64_MAX },
	{ "m", TEL_UNSIGNED, TEL_LOAD_LE64, UINT64_MAX },
	{ "s", TEL_SIGNED, TEL_LOAD_LE16S, UINT64_MAX },
	{ "l", TEL_SIGNED, TEL_LOAD_LE64, UINT64_MAX },
	{ "d", TEL_DOUBLE, TEL_LOAD_LE64, UINT64_MAX },
	{ "b", TEL_UNSIGNED, TEL_LOAD_U8, 255 },
	{ "a", TEL_ADDRESS, TEL_LOAD_LE64, UINT64_MAX },
	{ "o", TEL_UNSIGNED, TEL_LOAD_LE64, UINT64_MAX }, /* may be absent */
};

struct range {
	uint64_t low, high;
};

/* Events of one type with all values from low to high of each range. */
struct box {
	struct range of[NRANGES];
	int any[NFIELDS]; /* the range is not known */
};

struct log {
	struct tel_schema *schema;
	struct tel_type *type;
	struct tel_log log;
	struct tel_reader *reader;
};

static void
make_log(struct log *l)
{
	static const struct tel_abi abi = { 8, 8, 8, 0, 0 };
	struct tel_field *f;
	uint32_t i;

	memset(l, 0, sizeof(*l));
	l->schema = must(tel__schema_make("boxes", "1", &abi, 16, 1));
	l->type = must(tel__schema_add(l->schema, "Box", 1, "Kind",
	    16 + 8 * (NFIELDS + 1), NFIELDS));
	for (i = 0; i < NFIELDS; i++) {
		f = must(tel__type_add(l->type, fields[i].name,
		    fields[i].datatype, fields[i].load, 16 + 8 * i));
		f->present_at = i == O ? 16 + 8 * NFIELDS : 0;
		f->present = i == O;
	}
	l->log.name = "test.log";
	l->log.format = "boxes";
	l->log.schema = l->schema;
	l->log.clock = must(tel__clock_new());
	tel__clock_set_rate(l->log.clock, 1e9);
	tel__clock_set_origin(l->log.clock, 1000);
	l->reader = must(tel_reader_new());
}

/* ---------------------------------------------------------------- boxes */

static uint64_t
draw_low(unsigned i)
{
	static const uint64_t naturals[] = { 0, 1, 7, 100, 255, 65536,
		(uint64_t)1 << 32, INT64_MAX, UINT64_MAX - 2 };
	static const uint64_t shorts[] = { 0, 1, 100, 32765, UINT64_MAX - 32767,
		UINT64_MAX - 100, UINT64_MAX - 2 };
	/* bits of 0, 1, the largest, infinity, a NaN, and their negatives */
	static const uint64_t doubles[] = { 0, 0x3ff0000000000000,
		0x7feffffffffffffe, 0x7fefffffffffffff, 0x7ff0000000000000,
		0x7ff8000000000000, 0x8000000000000000, 0xbff0000000000000,
		0xffeffffffffffffe, 0xffefffffffffffff, 0xfff0000000000000,
		0x7fffffffffffffff };

	switch (i) {
	case S: return PICK(shorts);
	case D: return PICK(doubles);
	case B: return (const uint64_t[]){ 0, 1, 100, 253 }[pick(4)];
	case CLOCK: return 1000 + pick(3);
	case INDEX: return pick(4) * 50;
	default: return PICK(naturals);
	}
}

/* Some ranges are of a few values, most of one. */
static void
draw_box(struct box *box)
{
	unsigned i, wide, count = 1;

	for (i = 0; i < NRANGES; i++) {
		box->of[i].low = draw_low(i);
		wide = pick(3) == 0 ? 1 + pick(2) : 0;
		if (wide > 0 && box->of[i].low <= 200 && pick(6) == 0)
			wide = 8;
		if (count * (wide + 1) > BOX_MAX)
			wide = 0;
		count *= wide + 1;
		box->of[i].high = box->of[i].low + wide;
		if (i < NFIELDS)
			box->any[i] = pick(20) == 0;
	}
	/* one that is absent has no other value */
	if (box->of[O].low == 0)
		box->of[O].high = 0;
}

static void
store(const struct log *l, unsigned char *data, unsigned i, uint64_t v)
{
	if (i < NFIELDS)
		tel_encode_field(&l->type->fields[i], v, data);
	if (i == O)
		data[16 + 8 * NFIELDS] = v != 0;
}

/* Whether an event of the box matches. */
static int
any_matches(struct log *l, tel_filter *f, const struct box *box)
{
	unsigned char data[16 + 8 * (NFIELDS + 1)] = { 0 };
	struct tel_event ev = { .type = l->type,
		.data = data,
		.log = &l->log,
		.size = sizeof(data) };
	uint64_t v[NRANGES];
	unsigned i;

	for (i = 0; i < NRANGES; i++) {
		v[i] = box->of[i].low;
		store(l, data, i, v[i]);
	}
	do {
		ev.clock = v[CLOCK];
		ev.index = v[INDEX];
		if (tel_filter_match(f, &ev) == 1)
			return 1;
		/* the next combination */
		for (i = 0; i < NRANGES && v[i] == box->of[i].high; i++) {
			v[i] = box->of[i].low;
			store(l, data, i, v[i]);
		}
		if (i < NRANGES)
			store(l, data, i, ++v[i]);
	} while (i < NRANGES);
	return 0;
}

/* What the filter tells a reader of the box: 0, 1; -1 if it tells nothing. */
static int
may_match(const struct log *l, tel_filter *f, const struct box *box,
    int has_index, int has_clock)
{
	struct tel_predicate_pushdown *p = &l->reader->predicate_pushdown;
	struct tel_bound bounds[NFIELDS];
	struct tel_bounds b = { box->of[CLOCK].low, box->of[CLOCK].high, bounds,
		{ has_index, box->of[INDEX].low, box->of[INDEX].high },
		has_clock ? l->log.clock : NULL };
	unsigned i;

	for (i = 0; i < NFIELDS; i++)
		bounds[i] = (struct tel_bound){ !box->any[i], box->of[i].low,
			box->of[i].high };
	p->may = NULL;
	tel_filter_attach(f, l->reader, 1);
	return p->may == NULL ? -1 : p->may(p->arg, l->schema, l->type, &b);
}

/* ---------------------------------------------------------- expressions */

/* The expression has a value that may be missing, or a double. */
static int vague, doubles;

/* A number at an end of a range, or near it. */
static void
say_near(struct text *t, const struct box *box, unsigned i)
{
	uint64_t v = pick(2) ? box->of[i].low : box->of[i].high;
	char text[64];
	double d;

	v += (uint64_t)pick(3) - 1;
	memcpy(&d, &v, sizeof(d));
	if (i != D)
		snprintf(text, sizeof(text),
		    i == S || i == L ? "%" PRId64 : "%" PRIu64, v);
	else if (d - d == 0)
		snprintf(text, sizeof(text), "%.17e", d);
	else
		/* no number of the language is infinite, or a NaN */
		strcpy(text, pick(2) ? "1e300" : "-1e300");
	say(t, text);
}

static const char *
range_name(unsigned i)
{
	vague |= i == O;
	doubles |= i == D;
	if (i == CLOCK)
		return pick(2) ? "clock" : "time";
	return i == INDEX ? "index" : fields[i].name;
}

/* One that an operation is done with: doubles have no bits. */
static void
say_operation(struct text *t, unsigned i)
{
	static const char *const any[] = { " + 1", " - 1", " * 2", " * 1",
		" / 2", " - 3", " + 100", " * 0", " / 1" };
	static const char *const bits[] = { " % 3", " % 1", " & 1", " & 0xf0",
		" & 0xfffffffffffffffe", " >> 1", " >> 4", " << 1", " | 1",
		" ^ 1", " & 0x1ff", " % 64", " & 9", " & 0x10003" };
	static const char *const of_two[] = { " + b", " - b", " * b", " / b",
		" / n", " % b", " & m", " - n", " % n", " >> b", " + s",
		" - s" };
	static const char *const of_double[] = { " + b", " * s", " / n",
		" - d" };

	switch (pick(3)) {
	case 0: say(t, PICK(any)); break;
	case 1: say(t, i == D ? PICK(any) : PICK(bits)); break;
	default: say(t, i == D ? PICK(of_double) : PICK(of_two));
	}
}

/* A test of one range. */
static void
say_test(struct text *t, const struct box *box, int simple)
{
	static const char *const compare[] = { " == ", " != ", " < ",
		" <= ", " > ", " >= " };
	unsigned i = pick(NRANGES);
	const char *name = range_name(i);
	const int operation = !simple && pick(2) == 0;

	if (operation)
		say(t, "(");
	say(t, name);
	if (operation) {
		say_operation(t, i);
		say(t, ")");
	}
	if (operation && pick(3) == 0) {
		say(t, PICK(compare));
		say(t, (const char *const[]){ "0", "1", "2", "8" }[pick(4)]);
	} else if (pick(5) == 0) {
		say(t, pick(2) ? " in (" : " in (3, ");
		say_near(t, box, i);
		say(t, pick(2) ? ", " : " .. ");
		say_near(t, box, i);
		say(t, ")");
	} else if (!simple && pick(6) == 0) {
		say(t, PICK(compare));
		say(t, range_name(pick(NRANGES)));
	} else {
		say(t, PICK(compare));
		if (strcmp(name, "time") == 0)
			say(t,
			    (const char *const[]){ "0", "1", "2", "3",
			        "-1" }[pick(5)]);
		else
			say_near(t, box, i);
	}
}

static void
say_box(struct text *t, const struct box *box, int depth)
{
	static const char *const words[] = { "has(o)", "o", "name == 'Box'" };
	unsigned how = depth <= 0 ? 0 : pick(6);

	if (how < 2) {
		say_test(t, box, 0);
	} else if (how == 2) {
		say(t, "!(");
		say_box(t, box, depth - 1);
		say(t, ")");
	} else if (how == 3 && pick(4) == 0) {
		say(t, "((");
		say_box(t, box, depth - 1);
		say(t, ") + 1)");
	} else if (how == 3 && pick(3) == 0) {
		say(t, PICK(words));
		vague = 1;
	} else {
		say(t, "(");
		say_box(t, box, depth - 1);
		say(t, how == 4 ? " && " : how == 3 ? ") + (" : " || ");
		say_box(t, box, depth - 1);
		say(t, ")");
	}
}

/* --------------------------------------------------------------- checks */

struct count {
	unsigned told, wrong, useless, left_out;
	unsigned doubles; /* useless, too */
};

/* The options beside the expression. */
enum { INVERT = 1, TIME = 2 };

static void
draw_time(tel_filter *f)
{
	static const char *const times[] = { "0,1", "2,", ",1", "1ns,1ns",
		"3ns,", ",0ns", "0x3e9,0x3ea", ",0x3e8" };

	const unsigned i = pick(8);

	must_ok(tel_filter_set_time(f, times[i]));
	/* which clock is the first of the log is not known */
	vague |= i < 6;
}

static void
check(struct log *l, const char *text, const struct box *box, int options,
    struct count *c)
{
	const int has_index = pick(8) != 0, has_clock = pick(8) != 0;
	tel_filter *f = must(tel_filter_new());
	int i, exact, may, any;

	must_ok(tel_filter_set_expression(f, text));
	tel_filter_set_invert(f, (options & INVERT) != 0);
	if (options & TIME)
		draw_time(f);
	must_ok(tel_filter_bind(f, l->schema));
	may = may_match(l, f, box, has_index, has_clock);
	any = any_matches(l, f, box);
	exact = has_index && has_clock && !vague;
	for (i = 0; i < NFIELDS; i++)
		exact &= !box->any[i];
	c->told += may >= 0;
	c->left_out += may == 0;
	c->useless += exact && !doubles && may && !any;
	c->doubles += exact && doubles && may && !any;
	if (any && !may) {
		c->wrong++;
		diag("an event matches %s, but is left out", text);
	}
	tel_filter_free(f);
}

/* Bits of small numbers: of most masks they are not in the order of these. */
static void
test_masks(struct log *l)
{
	struct count c = { 0 };
	struct box box = { 0 };
	unsigned mask, low, high, bits;
	char text[64];

	vague = doubles = 0;
	for (mask = 1; mask < 16; mask++)
		for (low = 0; low < 9; low++)
			for (high = low; high < 18; high += 4)
				for (bits = 0; bits < 4; bits++) {
					snprintf(text, sizeof(text),
					    "(n & %u) %s %u", mask,
					    bits % 2 ? ">=" : "==",
					    mask & (bits * 5));
					box.of[N].low = low;
					box.of[N].high = high;
					check(l, text, &box, 0, &c);
				}
	ok(c.wrong == 0 && c.left_out > 100, "%u masks: %u wrong, %u left out",
	    c.told, c.wrong, c.left_out);
}

/* A question about another schema leaves the one that was bound last. */
static void
test_schemas(struct log *l)
{
	static const struct tel_abi abi = { 8, 8, 8, 0, 0 };
	struct tel_schema *others[BINDINGS_MAX];
	struct tel_predicate_pushdown *p = &l->reader->predicate_pushdown;
	const struct tel_bounds none = { 0 };
	tel_filter *f = must(tel_filter_new());
	unsigned i, may = 0, known = 0;

	for (i = 0; i < BINDINGS_MAX; i++) {
		others[i] = must(tel__schema_make("others", "1", &abi, 16, 1));
		must(tel__schema_add(others[i], "Other", 1, "Kind", 16, 0));
	}
	must_ok(tel_filter_set_types(f, "Box"));
	tel_filter_attach(f, l->reader, 1);
	ok(p->may(p->arg, others[0], others[0]->types, &none) == 1 &&
	        tel_filter_type(f, others[0]->types) == -1,
	    "events of a schema that cannot be bound may match");
	must_ok(tel_filter_bind(f, l->schema));
	for (i = 0; i < BINDINGS_MAX; i++) {
		may += p->may(p->arg, others[i], others[i]->types, &none) != 0;
		known += tel_filter_type(f, l->type) == 1;
	}
	is_u64(may, 0, "no event of other schemas matches");
	is_u64(known, BINDINGS_MAX - 1,
	    "the schema that was bound is the last "
	    "one, as long as it is remembered");
	ok(tel_filter_type(f, l->type) == -1, "which is not for ever");
	tel_filter_free(f);
	for (i = 0; i < BINDINGS_MAX; i++)
		tel_schema_free(others[i]);
}

int
main(void)
{
	struct count simple = { 0 }, options = { 0 }, any = { 0 },
	             inverted = { 0 };
	struct box box;
	struct text t;
	struct log l;
	unsigned i;

	make_log(&l);
	for (i = 0; i < ROUNDS; i++) {
		draw_box(&box);
		t.n = 0;
		vague = doubles = 0;
		say_test(&t, &box, 1);
		check(&l, t.s, &box, 0, &simple);
		check(&l, t.s, &box, INVERT, &simple);
		check(&l, t.s, &box, pick(2) ? TIME : TIME | INVERT, &options);
		t.n = 0;
		vague = doubles = 0;
		say_box(&t, &box, 3);
		check(&l, t.s, &box, 0, &any);
		check(&l, t.s, &box, INVERT, &inverted);
	}
	is_u64(simple.told + options.told + any.told + inverted.told,
	    5 * ROUNDS, "the reader is told of all expressions");
	is_u64(simple.wrong + options.wrong + any.wrong + inverted.wrong, 0,
	    "events that match are in boxes that may match");
	/* the few are of boxes with values of both signs */
	ok(simple.useless <= 4 && simple.left_out > ROUNDS / 4,
	    "tests: %u boxes of no use, %u left out", simple.useless,
	    simple.left_out);
	/* with infinity, or NaNs */
	ok(simple.doubles <= 67, "tests of doubles: %u of no use",
	    simple.doubles);
	ok(options.useless <= 1 && options.left_out > ROUNDS / 4,
	    "ranges of clocks: %u of no use, %u left out", options.useless,
	    options.left_out);
	/* of arithmetic whose values are not next to each other */
	ok(any.useless <= 102 && inverted.useless <= 91 &&
	        any.left_out > ROUNDS / 8,
	    "conditions: %u and %u of no use, %u left out", any.useless,
	    inverted.useless, any.left_out);
	test_masks(&l);
	test_schemas(&l);
	tel_reader_free(l.reader);
	tel__clock_free(l.log.clock);
	tel_schema_free(l.schema);
	return done();
}
