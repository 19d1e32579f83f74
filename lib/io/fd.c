/* SPDX-License-Identifier: BSD-2-Clause */
/* Input from a file descriptor. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/read.h"
#include "io/source.h"

struct fd_source {
	int fd;
	int close_it;
	int wake;     /* wait for this one, too; -1 for none */
	int regular;  /* never waits, and can seek */
	int64_t base; /* the file's offset at the start: position 0 */
	int64_t size; /* of the part that is read, by position; -1: all */
	int64_t position;
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

/* A part is read where it lies: others of the file have its offset, too. */
static ssize_t
read_next(struct fd_source *s, unsigned char *to, size_t size)
{
	if (s->size < 0)
		return read(s->fd, to, size);
	if ((uint64_t)(s->size - s->position) < size)
		size = (size_t)(s->size - s->position);
	ssize_t n = pread(s->fd, to, size, (off_t)(s->base + s->position));
	s->position += n > 0 ? n : 0;
	return n;
}

static tel_status
fd_read(void *self, unsigned char *to, size_t size, size_t *got,
    struct tel_fault *fault)
{
	struct fd_source *s = self;
	int failed = 0;

	/* a read must not wait where nothing could wake it */
	if (s->wake >= 0 && !s->regular)
		failed = wait_readable(s);
	while (failed == 0) {
		ssize_t n = read_next(s, to, size);

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

static int
fd_await(void *self, int ms)
{
	const struct fd_source *s = self;
	struct pollfd p = { .fd = s->fd, .events = POLLIN };

	return s->regular || poll(&p, 1, ms) != 0;
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
fd_extent(const void *self)
{
	const struct fd_source *s = self;
	struct stat sb;

	if (s->size >= 0)
		return s->size;
	if (!s->regular || fstat(s->fd, &sb) != 0 ||
	    (int64_t)sb.st_size < s->base)
		return -1;
	return (int64_t)sb.st_size - s->base;
}

/* A seek that fails leaves the position as it is. */
static int64_t
fd_seek(void *self, int64_t offset, int whence)
{
	struct fd_source *s = self;
	const int64_t from = whence == SEEK_END ? fd_extent(s) : 0;
	int64_t at;

	if (!s->regular || from < 0 ||
	    __builtin_add_overflow(offset, from, &offset) || offset < 0 ||
	    __builtin_add_overflow(offset, s->base, &at))
		return -1;
	if (s->size < 0)
		return lseek(s->fd, (off_t)at, SEEK_SET) < 0 ? -1 : offset;
	return offset > s->size ? -1 : (s->position = offset);
}

static int
fd_read_at(const void *self, uint64_t offset, void *to, size_t size)
{
	const struct fd_source *s = self;
	int64_t at;

	if (!s->regular || offset > INT64_MAX ||
	    (s->size >= 0 &&
	        (offset > (uint64_t)s->size ||
	            size > (uint64_t)s->size - offset)) ||
	    __builtin_add_overflow(s->base, (int64_t)offset, &at))
		return 0;
	return tel__read_all(s->fd, to, size, at) == (ptrdiff_t)size;
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
	.await = fd_await,
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

	if (s == NULL) {
		if (close_it)
			close(fd);
		return TEL_ENOMEM;
	}
	s->fd = fd;
	s->close_it = close_it;
	s->wake = -1;
	s->size = -1;
	if (fstat(fd, &sb) == 0 && S_ISREG(sb.st_mode)) {
		off_t at = lseek(fd, 0, SEEK_CUR);

		s->regular = at >= 0;
		s->base = at >= 0 ? (int64_t)at : 0;
	}
	return tel__input_new(source, read_size, out);
}

tel_status
tel__input_part(int fd, int64_t base, int64_t size, size_t read_size,
    struct tel_input **out)
{
	struct fd_source *s = calloc(1, sizeof(*s));
	struct tel_source source = { &fd_ops, s };
	struct tel_input *in;
	size_t most;

	if (s == NULL)
		return TEL_ENOMEM;
	s->fd = fd;
	s->wake = -1;
	s->regular = 1;
	s->base = base;
	s->size = size;
	if (size < (int64_t)TEL_PEEK_MAX && (size_t)size < read_size)
		read_size = (size_t)size + 1;
	tel_status st = tel__input_new(source, read_size, &in);
	if (st != TEL_OK)
		return st;
	/* there may be thousands: a short file needs no longer buffer */
	most = (size < (int64_t)TEL_PEEK_MAX ? (size_t)size : TEL_PEEK_MAX) +
	    in->read_size;
	unsigned char *small = realloc(in->buffer, most);
	if (small != NULL) {
		in->buffer = small;
		in->size = most;
		in->w.p = in->w.end = small;
	}
	*out = in;
	return TEL_OK;
}
