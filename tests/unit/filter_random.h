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

#endif
