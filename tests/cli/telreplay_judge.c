/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The judge of what telreplay says of memory: replays a trace of Android's form
 * in the order of the trace, with a thread for each of its threads, which is
 * born before its first operation and ends after its last one.  Slow, and as
 * simple as can be.  Prints the peak of resident memory in bytes, above that
 * before the first operation.
 *
 *	LD_PRELOAD=ALLOCATOR telreplay_judge TRACE
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST (1u << 21)
#define THREADS 4096

struct operation {
	char what; /* m, c, a, r, f */
	uint16_t thread;
	uint32_t slot;
	uint64_t size, more;
};

struct thread {
	long id;
	uint32_t last; /* its last operation */
	pthread_cond_t turn;
};

/* All of it is mapped: the allocator sees the trace's operations alone. */
static struct operation *ops;
static struct thread *threads;
static uint64_t *keys; /* addresses by slot, for the reading */
static void **blocks;
static uint32_t count, now;
static unsigned nthreads, born = 1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *
pages(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		exit(1);
	return p;
}

/* The slot of an address: a hash table that never forgets. */
static uint32_t
slot_of(uint64_t address)
{
	uint32_t i = (uint32_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> 43);

	while (keys[i % MOST] != 0 && keys[i % MOST] != address)
		i++;
	keys[i % MOST] = address;
	return i % MOST;
}

static uint16_t
thread_of(long id)
{
	unsigned i;

	for (i = 0; i < nthreads; i++)
		if (threads[i].id == id && threads[i].last != UINT32_MAX)
			return (uint16_t)i;
	if (nthreads == THREADS)
		exit(1);
	threads[nthreads].id = id;
	pthread_cond_init(&threads[nthreads].turn, NULL);
	return (uint16_t)nthreads++;
}

static void
add(char *line)
{
	uint64_t a, b = 0, c = 0;
	struct operation *o = &ops[count];
	char what[32];
	long id;

	if (sscanf(line, "%ld: %31s %li %li %li", &id, what, (long *)&a,
	        (long *)&b, (long *)&c) < 3 ||
	    a == 0 || count == MOST || strcmp(what, "thread_done") == 0)
		return;
	o->what = strcmp(what, "memalign") == 0 ? 'a' : what[0];
	o->slot = slot_of(a);
	o->size = b;
	o->more = c;
	if (o->what == 'r') {
		o->size = c;
		o->more = b == 0 ? UINT64_MAX : slot_of(b);
	}
	o->thread = thread_of(id);
	threads[o->thread].last = count++;
}

static void
run(const struct operation *o)
{
	void **slot = &blocks[o->slot], *block = NULL, *old;
	uint64_t size = o->size, i;

	switch (o->what) {
	case 'f':
		free(*slot);
		*slot = NULL;
		return;
	case 'c':
		size *= o->more;
		block = calloc(1, size);
		break;
	case 'a':
		size = o->more;
		if (posix_memalign(&block, o->size, size) != 0)
			block = NULL;
		break;
	case 'r':
		old = o->more == UINT64_MAX ? NULL : blocks[o->more];
		if (o->more != UINT64_MAX)
			blocks[o->more] = NULL;
		block = realloc(old, size);
		break;
	default: block = malloc(size); break;
	}
	*slot = block;
	for (i = 0; block != NULL && i < size; i += 4096)
		((volatile char *)block)[i] = 1;
}

static void *work(void *arg);

/* Gives the turn to the thread of the next operation. */
static void
pass(unsigned from)
{
	pthread_attr_t attributes;
	pthread_t id;
	unsigned to;

	if (++now == count) {
		pthread_cond_signal(&threads[0].turn);
		return;
	}
	to = ops[now].thread;
	if (to >= born) {
		born = to + 1;
		pthread_attr_init(&attributes);
		pthread_attr_setdetachstate(&attributes,
		    PTHREAD_CREATE_DETACHED);
		pthread_attr_setstacksize(&attributes, 256 << 10);
		if (pthread_create(&id, &attributes, work, &threads[to]) != 0)
			exit(1);
	} else if (to != from) {
		pthread_cond_signal(&threads[to].turn);
	}
}

static void *
work(void *arg)
{
	struct thread *t = arg;
	unsigned me = (unsigned)(t - threads);

	pthread_mutex_lock(&lock);
	while (now < count && now <= t->last) {
		if (ops[now].thread != me) {
			pthread_cond_wait(&t->turn, &lock);
			continue;
		}
		run(&ops[now]);
		pass(me);
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* A line of /proc/self/status, in bytes. */
static uint64_t
status(const char *name)
{
	char text[8192], *at;
	int fd = open("/proc/self/status", O_RDONLY);
	ssize_t n = read(fd, text, sizeof(text) - 1);

	close(fd);
	text[n > 0 ? n : 0] = '\0';
	at = strstr(text, name);
	return at == NULL ? 0 : strtoull(at + strlen(name), NULL, 10) << 10;
}

int
main(int argc, char **argv)
{
	size_t size = (size_t)MOST * (sizeof(*ops) + 16);
	static char line[256];
	uint64_t before;
	FILE *file;
	int fd;

	ops = pages((size_t)MOST * sizeof(*ops));
	keys = pages((size_t)MOST * 8);
	blocks = pages((size_t)MOST * 8);
	threads = pages(THREADS * sizeof(*threads));
	file = argc == 2 ? fopen(argv[1], "r") : NULL;
	if (file == NULL || size == 0)
		return 2;
	while (fgets(line, sizeof(line), file) != NULL)
		add(line);
	if (count == 0)
		return 2;
	memset(blocks, 0, (size_t)MOST * 8);
	memset(blocks, 1, (size_t)MOST * 8);
	memset(blocks, 0, (size_t)MOST * 8);
	fd = open("/proc/self/clear_refs", O_WRONLY);
	if (fd < 0 || write(fd, "5", 1) != 1)
		return 77;
	before = status("\nVmRSS:");
	(void)work(&threads[0]);
	pthread_mutex_lock(&lock);
	while (now < count)
		pthread_cond_wait(&threads[0].turn, &lock);
	printf("%llu\n", (unsigned long long)(status("\nVmHWM:") - before));
	fflush(stdout);
	_exit(0);
}
