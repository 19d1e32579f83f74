/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that emits events as its standard input asks for them:
 *
 *	lives RING SOCKET KINDS FILE
 *
 * RING: a file of rings; SOCKET: what tel_emit_serve() listens on; KINDS: that
 * are on; FILE: a log.  Each may be "" for none.  Each line of input is a
 * number: so many events follow the last ones; or "name NAME", which names
 * the thread; or "named N": N events, slowly, each of which comes right after
 * its own number as the name of the thread.  It is answered by a line when they
 * are out.
 */
#include "shop.h"

#include <stdio.h>
#include <time.h>

TEL_EVENTS_DEFINE(SHOP, "shop", 1, 0, 0)

static const char *
argument(int argc, char **argv, int i)
{
	return i < argc && argv[i][0] != '\0' ? argv[i] : NULL;
}

static void
emit_named(uint64_t n)
{
	const struct timespec pause = { 0, 50000 };
	char name[24];

	(void)snprintf(name, sizeof(name), "%llu", (unsigned long long)n);
	tel_thread_name(name);
	shop_count(1, n);
	nanosleep(&pause, NULL);
}

int
main(int argc, char **argv)
{
	/* the counters of two processors need not agree; this clock does */
	tel_emit_options o = { NULL, 0, 0, NULL, TEL_EMIT_CLOCK_MONOTONIC,
		TEL_EMIT_NO_THREAD, 0 };
	const char *sock = argument(argc, argv, 2),
	           *kinds = argument(argc, argv, 3),
	           *file = argument(argc, argv, 4);
	uint64_t next = 0, end;
	char line[256];

	o.ring_file = argument(argc, argv, 1);
	if (tel_emit_open(&o, &tel_list_SHOP) != 0 ||
	    (kinds != NULL && tel_control_text(kinds) != 0) ||
	    (sock != NULL &&
	        tel_emit_serve(sock, ~0u, TEL_SINK_WAIT) == NULL) ||
	    (file != NULL && tel_emit_to_file(file, ~0u, 0) == NULL))
		return 1;
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin) != NULL) {
		const int named = strncmp(line, "named ", 6) == 0;
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "name ", 5) == 0)
			tel_thread_name(line + 5);
		end = next + strtoull(line + (named ? 6 : 0), NULL, 10);
		for (; next < end; next++)
			if (named)
				emit_named(next);
			else
				shop_count(1, next);
		tel_emit_flush();
		printf("%llu\n", (unsigned long long)next);
		fflush(stdout);
	}
	tel_emit_close();
	return 0;
}
