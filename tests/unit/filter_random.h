/* SPDX-License-Identifier: BSD-2-Clause */
/* Random expressions about the events of filter_events.h. */
#ifndef FILTER_RANDOM_H
#define FILTER_RANDOM_H

#include <stdint.h>
#include <string.h>

struct text {
	char s[4096];
	size_t n;
};

static uint64_t state = 1;

static inline unsigned
pick(unsigned n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state >> 33) % n;
}

static inline void
say(struct text *t, const char *s)
{
	size_t n = strlen(s);

	if (t->n + n < sizeof(t->s)) {
		memcpy(t->s + t->n, s, n + 1);
		t->n += n;
	}
}

#define PICK(list) list[pick((unsigned)(sizeof(list) / sizeof(list[0])))]

static inline void say_condition(struct text *t, int depth);

static inline void
say_number(struct text *t, int depth)
{
	static const char *const leaves[] = { "size", "pool", "base", "0",
		"100", "4096", "64k", "0x7f00", "1", "foundation", "-1",
		"18446744073709551615", "index", "code", "mortality", "0.5",
		"sizeof", "time", "clock", ".clock", "dt", "cpu",
		"finishingTime", "white", "workWasDone", "start", "field('no')",
		"seg", "stringId" };
	static const char *const ops[] = { " + ", " - ", " * ", " / " };
	static const char *const bits[] = { " % ", " & ", " | ", " ^ ", " << ",
		" >> " };
	static const char *const whole[] = { "size", "pool", "3", "0xff",
		"index", "white", "foundation", "-2", "(size - 200)", "cpu" };
	unsigned how = depth <= 0 ? 0 : pick(8);

	if (how < 4) {
		say(t, PICK(leaves));
	} else if (how == 4) {
		say(t, "(");
		say(t, PICK(whole));
		say(t, PICK(bits));
		say(t, PICK(whole));
		say(t, ")");
	} else if (how == 5) {
		say(t, "(");
		say_condition(t, depth - 1);
		say(t, ")");
	} else if (how == 6) {
		say(t, "-(0 + ");
		say_number(t, depth - 1);
		say(t, ")");
	} else {
		say(t, "(");
		say_number(t, depth - 1);
		say(t, PICK(ops));
		say_number(t, depth - 1);
		say(t, ")");
	}
}

static inline void
say_strings(struct text *t)
{
	static const char *const leaves[] = { "string", "kind", "name",
		"label(pool)", "label(arena)", "field('nothing')", "label" };
	static const char *const tests[] = { " == 'heap'", " != 'heap'",
		" ~ 'e'", " !~ '^h.*p'", " =* '*a*'", " !* 'h*'",
		" in ('heap', 'Object', 'a'..'m')", " == 'seg'",
		" in ('SEG', 'Intern')" };

	say(t, PICK(leaves));
	say(t, PICK(tests));
}

static inline void
say_condition(struct text *t, int depth)
{
	static const char *const compare[] = { " == ", " != ", " < ",
		" <= ", " > ", " >= " };
	static const char *const has[] = { "size", "label", "time", "dt",
		"'no'", "string", "mortality", "label(pool)", "cpu" };
	unsigned how = depth <= 0 ? pick(4) : pick(10);

	if (how < 2) {
		say_number(t, depth - 1);
		say(t, PICK(compare));
		say_number(t, depth - 1);
	} else if (how == 2) {
		say_strings(t);
	} else if (how == 3) {
		say(t, "has(");
		say(t, PICK(has));
		say(t, ")");
	} else if (how == 4) {
		say_number(t, depth - 1);
		say(t,
		    pick(2) ? " in (100, 4096..65536, 3, 0x7f00)" :
		              " in (size, 1..pool, 0.5)");
	} else if (how == 5) {
		say(t, "!(");
		say_condition(t, depth - 1);
		say(t, ")");
	} else {
		say(t, "(");
		say_condition(t, depth - 1);
		say(t, pick(2) ? " && " : " || ");
		say_condition(t, depth - 1);
		say(t, ")");
	}
}

/* A number at which something changes, or any. */
static inline uint64_t
draw_number(void)
{
	static const uint64_t edges[] = { 0, 1, 3, 42, 99, 100, 101, 200, 4095,
		4096, 65535, 65536, 0x7f00, INT64_MAX, (uint64_t)1 << 63,
		UINT64_MAX - 1, UINT64_MAX };

	return pick(4) ? PICK(edges) :
	                 (uint64_t)pick(1u << 31) * pick(1u << 31);
}

/* Conditions of natural numbers: all of them have columns. */
static inline void
say_natural(struct text *t, int depth)
{
	static const char *const leaves[] = { "size", "pool", "base", "index",
		"clock", "start", "foundation", "white", "100", "4096", "1",
		"0x7f00", "18446744073709551615" };
	static const char *const ops[] = { " + ", " - ", " * ", " & ", " | " };
	static const char *const compare[] = { " == ", " != ", " < ",
		" <= ", " > ", " >= " };
	unsigned how = depth <= 0 ? 0 : pick(8);

	if (how == 0) {
		say(t, PICK(leaves));
	} else if (how < 3) {
		say(t, "(");
		say_natural(t, depth - 1);
		say(t, PICK(ops));
		say_natural(t, depth - 1);
		say(t, ")");
	} else if (how == 3) {
		say(t, "(");
		say(t, PICK(leaves));
		say(t, " in (1, 99..101, 4096, 0x7f00..65536))");
	} else if (how == 4) {
		say(t, "(!(");
		say_natural(t, depth - 1);
		say(t, "))");
	} else {
		say(t, "(");
		say_natural(t, depth - 1);
		say(t, how == 5 ? " && " : how == 6 ? " || " : PICK(compare));
		say_natural(t, depth - 1);
		say(t, ")");
	}
}

/* A comparison of what an operator makes of fields and numbers. */
static inline void
say_arithmetic(struct text *t)
{
	static const char *const leaves[] = { "size", "pool", "start",
		"foundation", "white", "quantumWork", "clock", "mortality",
		"mortality", "index", "index", "time", "time", "0", "1", "3",
		"100", "4096", "0x7f00", "0xff00", "0x7ff0", "-1", "-100",
		"0.25", "-50.5", "18446744073709551615" };
	static const char *const ops[] = { " + ", " - ", " * ", " / ", " % ",
		" & ", " >> ", " << ", " | " };
	static const char *const compare[] = { " == ", " != ", " < ",
		" <= ", " > ", " >= " };
	const char *left = PICK(leaves);

	if (pick(3) == 0) {
		say(t, left);
	} else {
		say(t, "(");
		say(t, left);
		say(t, PICK(ops));
		/* doubles have no bits and no remainders */
		say(t, strcmp(left, "mortality") == 0 ? "1" : leaves[pick(6)]);
		say(t, ")");
	}
	if (pick(4) == 0) {
		say(t,
		    pick(2) ? " in (1, 100..4096, 42.5)" :
		              " in (size, 3..pool, 100)");
		return;
	}
	say(t, PICK(compare));
	say(t, PICK(leaves));
}

#endif
