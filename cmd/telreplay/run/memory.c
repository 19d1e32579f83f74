/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory of this process, from Linux's proc(5).  The counters in statm are
 * kept for each processor and summed up late, with an error of some megabytes,
 * so smaps_rollup is read instead.
 */
#include "telreplay/run/memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/read.h"

/* The files have 25 to 60 lines of 30 bytes. */
#define FILE_MAX 8192

int
memory_read_file(const char *path, char *buffer, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	ptrdiff_t n = tel__read_all(fd, buffer, room - 1, -1);
	(void)close(fd);
	buffer[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* The number in the line that starts with a name, which is in KiB, in bytes. */
static int
find_line(const char *text, const char *name, uint64_t *out)
{
	const char *at = strstr(text, name);
	uint64_t kb = 0;

	if (at == NULL)
		return 0;
	for (at += strlen(name); *at == ' ' || *at == '\t'; at++)
		;
	for (; *at >= '0' && *at <= '9' && kb < UINT64_MAX >> 16; at++)
		kb = kb * 10 + (uint64_t)(*at - '0');
	*out = kb << 10;
	return 1;
}

int
memory_read(pid_t pid, struct sample *out)
{
	char text[FILE_MAX], path[64] = "/proc/self/smaps_rollup";
	uint64_t shared = 0;

	out->resident = out->lazy = out->huge = 0;
	if (pid != 0)
		(void)snprintf(path, sizeof(path), "/proc/%ld/smaps_rollup",
		    (long)pid);
	if (!memory_read_file(path, text, sizeof(text)) ||
	    !find_line(text, "\nAnonymous:", &out->resident))
		return 0;
	/* an allocator may have its memory from memfd_create() */
	(void)find_line(text, "\nPss_Shmem:", &shared);
	out->resident += shared;
	(void)find_line(text, "\nLazyFree:", &out->lazy);
	(void)find_line(text, "\nAnonHugePages:", &out->huge);
	return 1;
}

void
memory_sample(pid_t pid, struct shared *sh, struct sample *out)
{
	out->live = shared_run_stats(sh)->live_bytes;
	out->room = shared_run_stats(sh)->room;
	out->known = (uint32_t)memory_read(pid, out);
}

int
memory_forget_peak(void)
{
	int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	int good = write(fd, "5", 1) == 1;
	(void)close(fd);
	return good;
}

uint64_t
memory_peak(void)
{
	char text[FILE_MAX];
	uint64_t peak = 0;

	if (memory_read_file("/proc/self/status", text, sizeof(text)))
		(void)find_line(text, "\nVmHWM:", &peak);
	return peak;
}

void
memory_all(uint64_t *resident, uint64_t *files)
{
	char text[FILE_MAX];

	*resident = *files = 0;
	if (!memory_read_file("/proc/self/status", text, sizeof(text)))
		return;
	(void)find_line(text, "\nVmRSS:", resident);
	(void)find_line(text, "\nRssFile:", files);
}
