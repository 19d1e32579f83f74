/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hot variety of a program: it has no code for types whose always is 0;
 * the others are recorded in the rings whatever kinds are on, and reach sinks
 * if their kind is on.
 */
#define _GNU_SOURCE
#define TEL_EMIT_HOT
#include "shop.h"

#include <sys/mman.h>

TEL_EVENTS_DEFINE(SHOP, "shop", 2, 1, 3)

/* Not defined: the program links only if the event of Refill has no code. */
uintptr_t count_pieces(void);

static unsigned char memory[1 << 20];
static char text[1 << 16];

/* Refill has always 0, Shut and Number have 1. */
static void
trade(uint64_t n)
{
	TEL_EVENT1(Refill, count_pieces());
	TEL_EVENT0(Shut);
	shop_count(1, n);
}

static unsigned
count_of(const char *needle)
{
	const char *p = text;
	unsigned n = 0;

	for (; (p = strstr(p, needle)) != NULL; p++)
		n++;
	return n;
}

/* Reads what the rings have, as text. */
static void
dump_rings(void)
{
	const int fd = memfd_create("dump", MFD_CLOEXEC);
	ssize_t n;

	(void)tel_emit_dump(fd);
	n = pread(fd, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	close(fd);
}

/* Numbers that the sink got, of those emitted since the last call. */
static uint64_t
sink_numbers(tel_emit_sink *s)
{
	static uint64_t before;
	struct shop_log l;
	uint64_t more;

	tel_emit_flush();
	if (tel_emit_memory_used(s) == 0)
		return 0;
	shop_read_memory(memory, tel_emit_memory_used(s), &l);
	more = l.numbers - before;
	before = l.numbers;
	return more;
}

int
main(void)
{
	tel_emit_options o = { NULL, 0, 0, NULL, 0, TEL_EMIT_NO_THREAD, 0 };
	tel_emit_sink *s;

	ok(TEL__HERE_Refill == 0 && TEL__HERE_Shut == 1,
	    "a type with always 0 is compiled out, others are not");
	if (tel_emit_open(&o, &tel_list_SHOP) != 0)
		return 1;
	s = tel_emit_to_memory(memory, sizeof(memory), ~0u);
	tel_control_text("0");
	trade(0);
	is_u64(sink_numbers(s), 0, "all kinds off: nothing goes to the sink");
	dump_rings();
	ok(count_of(" Shut") == 1 && count_of(" Number") == 1,
	    "but the rings have both events");
	tel_control_text("Count");
	trade(1);
	is_u64(sink_numbers(s), 1, "a kind that is on goes to the sink");
	ok(memmem(memory, tel_emit_memory_used(s), "Refill", 6) != NULL,
	    "the log describes the type that was compiled out");
	tel_control_text("Stock");
	trade(2);
	is_u64(sink_numbers(s), 0, "until it is off");
	tel_control_text("all");
	trade(3);
	is_u64(sink_numbers(s), 1, "all kinds on: both types go");
	dump_rings();
	ok(count_of(" Shut") == 4 && count_of(" Number") == 4 &&
	        count_of(" Refill") == 0,
	    "the rings have every event, and none of always 0");
	tel_emit_close();
	return done();
}
