/* SPDX-License-Identifier: BSD-2-Clause */
/* A temporary file without a name. */
#include "base/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char *
tel__spool_folder(void)
{
	const char *folder = getenv("TMPDIR");

	return folder != NULL && *folder != '\0' ? folder : "/tmp";
}

int
tel__spool_file(void)
{
	static const char pattern[] = "/teltools.XXXXXX";
	char path[4096];
	int fd, n;

	n = snprintf(path, sizeof(path), "%s%s", tel__spool_folder(), pattern);
	if (n < 0 || (size_t)n >= sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = mkstemp(path);
	if (fd < 0)
		return -1;
	if (unlink(path) != 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) {
		n = errno;
		close(fd);
		errno = n;
		return -1;
	}
	return fd;
}

int
tel__spool_write(int fd, const void *data, size_t size)
{
	const unsigned char *p = data;

	while (size > 0) {
		ssize_t n = write(fd, p, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? errno : EIO;
		p += n;
		size -= (size_t)n;
	}
	return 0;
}
