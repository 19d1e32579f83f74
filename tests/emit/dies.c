/* SPDX-License-Identifier: BSD-2-Clause */
/* A program that emits 600 events from two threads, and aborts. */
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
main(void)
{
	pthread_t t;

	if (tel_emit_open(NULL, &tel_list_SHOP) != 0)
		return 1;
	TEL_EVENT2(Take, &t, 8);
	tel_label(&t, tel_intern("a thread"));
	TEL_EVENT1(Give, &t);
	pthread_create(&t, NULL, count_up, NULL);
	count_up((void *)1);
	pthread_join(t, NULL);
	abort();
}
