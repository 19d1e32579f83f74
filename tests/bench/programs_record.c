/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records the allocations of a program in the form of memory_replay, to the file
 * RECORD.  Preloaded; over the functions of glibc, whose own names begin with
 * __libc_.  One lock keeps operations and their lines in the same order.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char text[1 << 20];
static size_t used;
static int fd = -1;

static void
flush(void)
{
	size_t done = 0;
	ssize_t n;

	if (fd < 0 && getenv("RECORD") != NULL)
		fd = open(getenv("RECORD"),
		    O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	for (; fd >= 0 && done < used; done += (size_t)n) {
		n = write(fd, text + done, used - done);
		if (n <= 0)
			_exit(99);
	}
	used = 0;
}

static void
put_text(const char *s)
{
	while (*s != '\0')
		text[used++] = *s++;
}

static void
put_number(uint64_t v, unsigned base)
{
	char digits[24];
	int n = 0;

	do
		digits[n++] = "0123456789abcdef"[v % base];
	while ((v /= base) != 0);
	while (n > 0)
		text[used++] = digits[--n];
}

static void
put_address(const void *p)
{
	put_text(" 0x");
	put_number((uintptr_t)p, 16);
}

static void
put_size(uint64_t v)
{
	put_text(" ");
	put_number(v, 10);
}

/* Starts a line: which thread did what, to which block. */
static void
put_start(const char *what, const void *block)
{
	if (used > sizeof(text) - 256)
		flush();
	put_number((uint64_t)syscall(SYS_gettid), 10);
	put_text(": ");
	put_text(what);
	put_address(block);
}

static void
put_end(void)
{
	put_text("\n");
	pthread_mutex_unlock(&lock);
}

void *
malloc(size_t size)
{
	void *p;

	pthread_mutex_lock(&lock);
	p = __libc_malloc(size);
	put_start("malloc", p);
	put_size(size);
	put_end();
	return p;
}

void *
calloc(size_t count, size_t size)
{
	void *p;

	pthread_mutex_lock(&lock);
	p = __libc_calloc(count, size);
	put_start("calloc", p);
	put_size(count);
	put_size(size);
	put_end();
	return p;
}

void *
realloc(void *block, size_t size)
{
	void *p;

	pthread_mutex_lock(&lock);
	p = __libc_realloc(block, size);
	put_start("realloc", p);
	put_address(block);
	put_size(size);
	put_end();
	return p;
}

void *
memalign(size_t alignment, size_t size)
{
	void *p;

	pthread_mutex_lock(&lock);
	p = __libc_memalign(alignment, size);
	put_start("memalign", p);
	put_size(alignment);
	put_size(size);
	put_end();
	return p;
}

void *
aligned_alloc(size_t alignment, size_t size)
{
	return memalign(alignment, size);
}

int
posix_memalign(void **out, size_t alignment, size_t size)
{
	void *p = memalign(alignment, size);

	if (p != NULL)
		*out = p;
	return p != NULL ? 0 : ENOMEM;
}

void
free(void *block)
{
	int kept = errno;

	if (block == NULL)
		return;
	pthread_mutex_lock(&lock);
	put_start("free", block);
	put_end();
	__libc_free(block);
	errno = kept;
}

__attribute__((destructor)) static void
finish(void)
{
	pthread_mutex_lock(&lock);
	flush();
	pthread_mutex_unlock(&lock);
}
