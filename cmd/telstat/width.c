/* SPDX-License-Identifier: BSD-2-Clause */
/* How wide the page is. */
#include "telstat.h"

#include <stdlib.h>
#include <sys/ioctl.h>

/* Columns of a page that is no terminal, the least and the most of one. */
#define WIDTH_DEFAULT 80
#define WIDTH_LEAST 40
#define WIDTH_SANE 160

unsigned
telstat_width(const struct telstat *t, const struct sink *sink)
{
	const char *columns = getenv("COLUMNS");
	unsigned long width = 0;

	if (t->width > 0)
		return (unsigned)t->width;
	if (!sink->terminal)
		return WIDTH_DEFAULT;
	if (columns != NULL)
		width = strtoul(columns, NULL, 10);
#ifdef TIOCGWINSZ
	if (width == 0) {
		struct winsize size;

		if (ioctl(sink->fd, TIOCGWINSZ, &size) == 0)
			width = size.ws_col;
	}
#endif
	if (width < WIDTH_LEAST)
		return WIDTH_DEFAULT;
	return width > WIDTH_SANE ? WIDTH_SANE : (unsigned)width;
}
