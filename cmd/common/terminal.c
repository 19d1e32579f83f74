/* SPDX-License-Identifier: BSD-2-Clause */
/* The size of a terminal, which POSIX.1-2008 has no call for. */
#include "terminal.h"

#include <sys/ioctl.h>

unsigned
terminal_columns(int fd)
{
#ifdef TIOCGWINSZ
	struct winsize size;

	if (ioctl(fd, TIOCGWINSZ, &size) == 0)
		return size.ws_col;
#else
	(void)fd;
#endif
	return 0;
}
