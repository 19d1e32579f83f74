/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that emits 600 numbers from two threads, and aborts:
 *
 *	dies [RING]
 */
#include "shop.h"

#include <pthread.h>

TEL_EVENTS_DEFINE(SHOP, "shop", 1, 0, 0)

static void *
count_up(void *arg)
{
	uint64_t i;

	tel_thread_name("counter");
	for (i = 0; i < 300; i++)
		shop_count((uint32_t)(uintptr_t)arg, i);
	return NULL;
}

int
main(int argc, char **argv)
{
	tel_emit_options o = { NULL, 0, 0, NULL, 0, 0, 0 };
	pthread_t t;

	o.ring_file = argc > 1 ? argv[1] : NULL;
	o.rings = 8; /* a core is their memory, too */
	if (tel_emit_open(&o, &tel_list_SHOP) != 0)
		return 1;
	TEL_EVENT10(All, &t, &t, 77, 88, -2.5, 1, 200, 60000, -300, INT64_MIN);
	TEL_EVENT3(Sale, &t, 99, "a customer");
	TEL_EVENT2(Take, &t, 8);
	tel_label(&t, tel_intern("a thread"));
	TEL_EVENT1(Give, &t);
	pthread_create(&t, NULL, count_up, NULL);
	count_up((void *)1);
	pthread_join(t, NULL);
	abort();
}
