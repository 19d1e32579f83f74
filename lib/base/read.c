/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls of read() until there is something, or nothing more to read. */
#include "base/read.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

ptrdiff_t
tel__read_some(int fd, void *to, size_t n, int64_t from)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	for (;;) {
		ssize_t k =
		    from < 0 ? read(fd, to, n) : pread(fd, to, n, (off_t)from);

		if (k >= 0 ||
		    (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK))
			return k;
		if (errno != EINTR && poll(&wait, 1, -1) < 0 &&
		    errno != EINTR && errno != EAGAIN)
			return -1;
	}
}

ptrdiff_t
tel__read_all(int fd, void *to, size_t n, int64_t from)
{
	size_t got = 0;
	ptrdiff_t k = 1;

	while (got < n && k != 0) {
		k = tel__read_some(fd, (char *)to + got, n - got,
		    from < 0 ? from : from + (int64_t)got);
		if (k < 0)
			return -1;
		got += (size_t)k;
	}
	return (ptrdiff_t)got;
}
