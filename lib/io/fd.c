/* SPDX-License-Identifier: BSD-2-Clause */
/* Input from a file descriptor. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/source.h"

struct fd_source {
	int fd;
	int close_it;
	int wake;     /* wait for this one, too; -1 for none */
	int regular;  /* never waits, and can seek */
	int64_t base; /* the file's offset at the start: position 0 */
	uint64_t taken;
};

/*
 * Waits until fd can be read.  Returns 0, or an errno: ECANCELED when the
 * wake descriptor came first.
 */
static int
wait_readable(const struct fd_source *s)
{
	struct pollfd fds[2] = {
		{ .fd = s->fd, .events = POLLIN },
		{ .fd = s->wake, .events = POLLIN } /* -1 is passed over */
	};

	while (poll(fds, 2, -1) < 0) {
		if (errno != EINTR && errno != EAGAIN)
			return errno;
	}
	return fds[1].revents != 0 ? ECANCELED : 0;
}

static tel_status
fd_read(void *self, unsigned char *to, size_t size, size_t *got,
    struct tel_fault *fault)
{
	struct fd_source *s = self;
	int failed = 0;
	ssize_t n;

	/* a read must not wait where nothing could wake it */
	if (s->wake >= 0 && !s->regular)
		failed = wait_readable(s);
	while (failed == 0) {
		n = read(s->fd, to, size);
		if (n >= 0) {
			*got = (size_t)n;
			s->taken += (uint64_t)n;
			return n > 0 ? TEL_OK : TEL_END;
		}
		if (errno == EAGAIN || errno == EWOULDBLOCK)
			failed = wait_readable(s);
		else if (errno != EINTR)
			failed = errno;
	}
	return tel__fault_errno(fault, failed);
}

static uint64_t
fd_taken(const void *self)
{
	const struct fd_source *s = self;

	return s->taken;
}

static void
fd_set_wake(void *self, int fd)
{
	struct fd_source *s = self;

	s->wake = fd;
}

static int64_t
fd_seek(void *self, int64_t offset, int whence)
{
	struct fd_source *s = self;
	off_t at;

	if (!s->regular)
		return -1;
	if (whence == SEEK_SET &&
	    __builtin_add_overflow(offset, s->base, &offset))
		return -1;
	at = lseek(s->fd, (off_t)offset, whence);
	return at < s->base ? -1 : (int64_t)at - s->base;
}

static int
fd_read_at(const void *self, uint64_t offset, void *to, size_t size)
{
	const struct fd_source *s = self;
	unsigned char *p = to;
	int64_t at;
	ssize_t n;

	if (!s->regular || offset > INT64_MAX ||
	    __builtin_add_overflow(s->base, (int64_t)offset, &at))
		return 0;
	while (size > 0) {
		n = pread(s->fd, p, size, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return 0;
		p += n;
		at += n;
		size -= (size_t)n;
	}
	return 1;
}

static int64_t
fd_extent(const void *self)
{
	const struct fd_source *s = self;
	struct stat sb;

	if (!s->regular || fstat(s->fd, &sb) != 0 ||
	    (int64_t)sb.st_size < s->base)
		return -1;
	return (int64_t)sb.st_size - s->base;
}

static void
fd_free(void *self)
{
	struct fd_source *s = self;

	if (s->close_it)
		close(s->fd);
	free(s);
}

static const struct tel_source_ops fd_ops = {
	.read = fd_read,
	.taken = fd_taken,
	.set_wake = fd_set_wake,
	.seek = fd_seek,
	.read_at = fd_read_at,
	.extent = fd_extent,
	.free = fd_free,
};

tel_status
tel__input_fd(int fd, int close_it, size_t read_size, struct tel_input **out)
{
	struct fd_source *s = calloc(1, sizeof(*s));
	struct tel_source source = { &fd_ops, s };
	struct stat sb;
	off_t at;

	if (s == NULL) {
		if (close_it)
			close(fd);
		return TEL_ENOMEM;
	}
	s->fd = fd;
	s->close_it = close_it;
	s->wake = -1;
	if (fstat(fd, &sb) == 0 && S_ISREG(sb.st_mode)) {
		at = lseek(fd, 0, SEEK_CUR);
		s->regular = at >= 0;
		s->base = at >= 0 ? (int64_t)at : 0;
	}
	return tel__input_new(source, read_size, out);
}
