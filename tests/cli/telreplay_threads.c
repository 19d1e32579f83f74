/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program whose threads have all their blocks at the same time, free them and
 * end: an allocator returns the memory of threads that have ended.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 4
#define BLOCKS 40000
/* Many sizes, as programs have. */
#define SIZE(i) (64 + (size_t)(i) % 400)

static pthread_barrier_t all;

static void *
work(void *unused)
{
	void **blocks = malloc(BLOCKS * sizeof(*blocks));

	(void)unused;
	for (int i = 0; i < BLOCKS; i++)
		blocks[i] = memset(malloc(SIZE(i)), 1, SIZE(i));
	(void)pthread_barrier_wait(&all);
	for (int i = 0; i < BLOCKS; i++)
		free(blocks[i]);
	free(blocks);
	return NULL;
}

int
main(void)
{
	pthread_t threads[THREADS];

	if (pthread_barrier_init(&all, NULL, THREADS) != 0)
		return 1;
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, NULL) != 0)
			return 1;
	for (int i = 0; i < THREADS; i++)
		(void)pthread_join(threads[i], NULL);
	return 0;
}
