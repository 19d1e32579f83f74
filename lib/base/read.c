/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls of read() until there is nothing more to read. */
#include "base/read.h"

#include <errno.h>
#include <unistd.h>

ptrdiff_t
tel__read_all(int fd, void *to, size_t n, int64_t from)
{
	size_t got = 0;
	ssize_t k = 1;

	while (got < n && k != 0) {
		k = from < 0 ? read(fd, (char *)to + got, n - got) :
		               pread(fd, (char *)to + got, n - got,
		                   (off_t)from + (off_t)got);
		if (k < 0 && errno != EINTR)
			return -1;
		got += k > 0 ? (size_t)k : 0;
	}
	return (ptrdiff_t)got;
}
