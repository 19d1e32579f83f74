/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of a process, as /proc has it. */
#include "base/process.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/read.h"

/* Of proc_pid_stat(5), the fields between the state and the threads. */
#define BETWEEN 16

int
tel__process_ended(uint32_t pid)
{
	char path[40], text[600];

	(void)snprintf(path, sizeof(path), "/proc/%lu/stat",
	    (unsigned long)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	ptrdiff_t n = tel__read_all(fd, text, sizeof(text) - 1, -1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	/* the name of the program is in parentheses, and may have some */
	const char *p = strrchr(text, ')');
	if (p == NULL || p[1] != ' ')
		return 1;
	p += 2;
	if (*p != 'Z' && *p != 'X')
		return 0;
	for (int i = 0; p != NULL && i <= BETWEEN; i++)
		p = strchr(p + 1, ' ');
	return p == NULL || strtol(p, NULL, 10) <= 1;
}
