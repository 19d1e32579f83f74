/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A library to preload whose Nth call of some functions of input and output
 * fails.  Standard error is left alone.
 *
 *	FAIL_CALLS	a blank before each name: " read pread"
 *	FAIL_AT		which of these calls fails; 0: none
 *	FAIL_ERRNO	the number of the error
 *	FAIL_STAYS	1: all calls of the same file fail from then on
 *	FAIL_CHUNK	the most bytes that a call reads or writes
 *	FAIL_SIGNAL	each Nth of these calls, and no other, is interrupted
 *	FAIL_COUNT	a file of 4096 bytes, which all processes of a run
 *			share: how many of these calls there were, in eight
 *			bytes, the number of the one that failed, and its name
 *			and that of its file
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* What FAIL_COUNT holds. */
struct count {
	atomic_ullong calls;
	atomic_ullong failed;
	char what[4000];
};

static struct count own, *count = &own;
static const char *calls = "";
static unsigned long long fail_at, signal_at;
static int fail_errno = EIO, stays, ready;
static size_t chunk = SIZE_MAX;
static atomic_int failed_fd = -1;

static unsigned long long
number(const char *name, unsigned long long otherwise)
{
	const char *text = getenv(name);

	return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

__attribute__((constructor)) static void
begin(void)
{
	const char *name = getenv("FAIL_COUNT");
	int fd = name != NULL ? open(name, O_RDWR | O_CLOEXEC) : -1;
	void *p;

	if (fd < 0)
		return;
	p = mmap(NULL, sizeof(*count), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
	    0);
	close(fd);
	if (p == MAP_FAILED)
		return;
	count = p;
	calls = getenv("FAIL_CALLS") != NULL ? getenv("FAIL_CALLS") : "";
	fail_at = number("FAIL_AT", 0);
	fail_errno = (int)number("FAIL_ERRNO", EIO);
	stays = (int)number("FAIL_STAYS", 0);
	chunk = (size_t)number("FAIL_CHUNK", SIZE_MAX);
	signal_at = number("FAIL_SIGNAL", 0);
	ready = 1;
}

/* Nonzero when the call of that name is one of those that are counted. */
static int
is_counted(const char *name)
{
	const size_t n = strlen(name);
	const char *p = calls;

	while ((p = strchr(p, ' ')) != NULL) {
		p++;
		if (strncmp(p, name, n) == 0 && (p[n] == ' ' || p[n] == '\0'))
			return 1;
	}
	return 0;
}

/* Says which call it was that failed. */
static void
keep(const char *name, int fd, const char *path)
{
	char link[64], file[PATH_MAX] = "?";
	ssize_t n = -1;

	if (path == NULL) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		n = readlink(link, file, sizeof(file) - 1);
		if (n >= 0)
			file[n] = '\0';
		path = file;
	}
	snprintf(count->what, sizeof(count->what), "%s %.3900s", name, path);
}

/* Nonzero, with errno set, when this call fails. */
static int
fails(const char *name, int fd, const char *path)
{
	unsigned long long n;

	if (!ready || fd == STDERR_FILENO || !is_counted(name))
		return 0;
	if (stays && fd >= 0 && fd == failed_fd) {
		errno = fail_errno;
		return 1;
	}
	n = ++count->calls;
	if (signal_at > 0 && n % signal_at == 0) {
		errno = EINTR;
		return 1;
	}
	if (n != fail_at)
		return 0;
	count->failed = n;
	failed_fd = fd;
	keep(name, fd, path);
	errno = fail_errno;
	return 1;
}

/* Declares real(), the function that this one is called before. */
#define REAL(type, name, ...) \
	type (*real)(__VA_ARGS__) = \
	    (type(*)(__VA_ARGS__))(uintptr_t)dlsym(RTLD_NEXT, name)

static size_t
least(size_t n)
{
	return n < chunk ? n : chunk;
}

ssize_t
read(int fd, void *p, size_t n)
{
	REAL(ssize_t, "read", int, void *, size_t);
	return fails("read", fd, NULL) ? -1 : real(fd, p, least(n));
}

ssize_t
write(int fd, const void *p, size_t n)
{
	REAL(ssize_t, "write", int, const void *, size_t);
	return fails("write", fd, NULL) ? -1 : real(fd, p, least(n));
}

int
close(int fd)
{
	REAL(int, "close", int);
	int failed = fails("close", fd, NULL), error = errno;

	/* the descriptor is gone all the same, as on Linux */
	if (real(fd) != 0 || !failed)
		return failed ? -1 : 0;
	errno = error;
	return -1;
}

int
fsync(int fd)
{
	REAL(int, "fsync", int);
	return fails("fsync", fd, NULL) ? -1 : real(fd);
}

int
fdatasync(int fd)
{
	REAL(int, "fdatasync", int);
	return fails("fsync", fd, NULL) ? -1 : real(fd);
}

int
poll(struct pollfd *fds, nfds_t n, int timeout)
{
	REAL(int, "poll", struct pollfd *, nfds_t, int);
	return fails("poll", n > 0 ? fds[0].fd : -1, NULL) ?
	    -1 :
	    real(fds, n, timeout);
}

int
pipe(int fds[2])
{
	REAL(int, "pipe", int *);
	return fails("pipe", -1, "") ? -1 : real(fds);
}

/* With 64 bits for offsets, these are functions of names that end in 64. */

ssize_t
pread(int fd, void *p, size_t n, off_t at)
{
	REAL(ssize_t, "pread64", int, void *, size_t, off_t);
	return fails("pread", fd, NULL) ? -1 : real(fd, p, least(n), at);
}

ssize_t
pwrite(int fd, const void *p, size_t n, off_t at)
{
	REAL(ssize_t, "pwrite64", int, const void *, size_t, off_t);
	return fails("pwrite", fd, NULL) ? -1 : real(fd, p, least(n), at);
}

off_t
lseek(int fd, off_t at, int whence)
{
	REAL(off_t, "lseek64", int, off_t, int);
	return fails("lseek", fd, NULL) ? -1 : real(fd, at, whence);
}

int
ftruncate(int fd, off_t size)
{
	REAL(int, "ftruncate64", int, off_t);
	return fails("ftruncate", fd, NULL) ? -1 : real(fd, size);
}

int
fstat(int fd, struct stat *st)
{
	REAL(int, "fstat64", int, struct stat *);
	return fails("fstat", fd, NULL) ? -1 : real(fd, st);
}

int
mkstemp(char *path)
{
	REAL(int, "mkstemp64", char *);
	return fails("open", -1, path) ? -1 : real(path);
}

int
open(const char *path, int flags, ...)
{
	REAL(int, "open64", const char *, int, ...);
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & O_CREAT ? (mode_t)va_arg(args, unsigned) : 0;
	va_end(args);
	return fails("open", -1, path) ? -1 : real(path, flags, mode);
}
