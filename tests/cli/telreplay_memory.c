/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A library to preload: writes the anonymous memory of the process, at its end
 * and at its peak, in bytes and net of what it has at its start, as a line at
 * the end of the file that MEMORY_FILE names.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The number in kB of a line of a file. */
static long
find_line(const char *path, const char *name)
{
	char text[8192], *at;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		(void)close(fd);
	text[n > 0 ? n : 0] = '\0';
	at = strstr(text, name);
	return at == NULL ? 0 : strtol(at + strlen(name), NULL, 10);
}

static long at_start;

static long
anonymous(void)
{
	return find_line("/proc/self/smaps_rollup", "\nAnonymous:") +
	    find_line("/proc/self/smaps_rollup", "\nPss_Shmem:");
}

__attribute__((constructor)) static void
start(void)
{
	at_start = anonymous();
}

__attribute__((destructor)) static void
end(void)
{
	const char *path = getenv("MEMORY_FILE");
	long now = anonymous();
	long most = find_line("/proc/self/status", "\nVmHWM:") -
	    find_line("/proc/self/status", "\nRssFile:");
	char line[64];
	int fd, n;

	if (path == NULL)
		return;
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	n = snprintf(line, sizeof(line), "%ld %ld\n", (now - at_start) * 1024,
	    ((most > now ? most : now) - at_start) * 1024);
	if (write(fd, line, (size_t)n) != n)
		_exit(1);
	(void)close(fd);
}
