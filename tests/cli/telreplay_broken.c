/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A malloc that goes wrong at the first request of a size that no other
 * request has.  The environment variable BROKEN says how:
 *
 *	crash   it writes to address 8
 *	abort   it says so and aborts
 *	hang    it does not return
 *	kill    it is killed, as the kernel does where memory runs out
 *	exit    it ends the process, with status 7
 *	null    it returns NULL
 *	spoil   it writes into the block before, while that is live
 *	fork    it starts a process that stays
 *	slow    nothing is wrong; each free touches a new page
 *	warn    it writes a line, and works
 *	deep    it overflows the stack
 *
 * or when else it goes wrong:
 *
 *	overlap the block of that size is in the one before
 *	dirty   memory of calloc is not zero
 *	nocopy  realloc does not copy
 *	early   it crashes before it is asked for anything
 *	late    it crashes in the first free after that of the block before
 *	both    the same, and it spoils that block
 */
#define _DEFAULT_SOURCE
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MARK 54321
#define ROOM ((size_t)1 << 30)
#define HEAD 16

static unsigned char *arena;
static size_t used;
static char lock;
static unsigned char *last;
static char *volatile nowhere = (char *)8;

static int
goes(const char *when)
{
	const char *how = getenv("BROKEN");

	return how != NULL && strcmp(how, when) == 0;
}

__attribute__((constructor)) static void
begin(void)
{
	if (goes("early"))
		*nowhere = 1;
}

/* The compiler must not see that it has no end. */
static int
dig(volatile int depth)
{
	char room[1000];

	memset(room, depth, sizeof(room));
	return depth == 0 ? 0 : dig(depth + 1) + room[depth % 1000];
}

static void
go_wrong(void)
{
	static const char words[] = "broken: \033[31mthis cannot be\n";
	if (goes("crash"))
		*nowhere = 1;
	if (goes("abort")) {
		(void)!write(2, words, sizeof(words) - 1);
		abort();
	}
	if (goes("hang"))
		for (;;)
			(void)pause();
	if (goes("kill"))
		(void)kill(getpid(), SIGKILL);
	if (goes("exit"))
		_exit(7);
	if (goes("fork") && fork() == 0) {
		/* nobody shall wait for it for ever */
		(void)alarm(30);
		for (;;)
			(void)pause();
	}
	if (goes("warn"))
		(void)!write(2, "careful\n", 8);
	if (goes("deep"))
		(void)dig(1);
	if ((goes("spoil") || goes("both")) && last != NULL)
		last[3] ^= 0x55;
}

void *
malloc(size_t size)
{
	unsigned char *p;

	if (size == MARK) {
		go_wrong();
		if (goes("null"))
			return NULL;
		if (goes("overlap"))
			return last + 64;
	}
	while (__atomic_test_and_set(&lock, __ATOMIC_ACQUIRE))
		;
	if (arena == NULL)
		arena = mmap(NULL, ROOM, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	p = arena + used + HEAD;
	if (size > ROOM / 2 || used + size + 2 * HEAD > ROOM)
		p = NULL;
	else
		used += (size + 2 * HEAD - 1) & ~(size_t)(HEAD - 1);
	if (p != NULL) {
		memcpy(p - HEAD, &size, sizeof(size));
		if (size == MARK - 1)
			last = p;
	}
	__atomic_clear(&lock, __ATOMIC_RELEASE);
	return p;
}

void
free(void *p)
{
	static int last_freed;

	if (p == NULL)
		return;
	if (last_freed && (goes("late") || goes("both")))
		*nowhere = 1;
	last_freed |= p == (void *)last;
	if (goes("slow"))
		*(volatile char *)malloc(MARK) = 1;
}

void *
calloc(size_t n, size_t size)
{
	void *p = n != 0 && size > ROOM / n ? NULL : malloc(n * size);

	if (p != NULL && n * size > 5 && goes("dirty"))
		((unsigned char *)p)[5] = 1;
	return p;
}

void *
realloc(void *p, size_t size)
{
	unsigned char *now = malloc(size);
	size_t was = 0;

	if (p == NULL || now == NULL || goes("nocopy"))
		return now;
	memcpy(&was, (unsigned char *)p - HEAD, sizeof(was));
	return memcpy(now, p, was < size ? was : size);
}

int
posix_memalign(void **out, size_t alignment, size_t size)
{
	unsigned char *p = malloc(size + alignment);

	if (p == NULL)
		return 12;
	*out = p + (-(uintptr_t)p & (alignment - 1));
	return 0;
}
