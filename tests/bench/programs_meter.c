/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Says how much memory the malloc of a program took: the peak of what is
 * resident, without files, without what libraries and the stack have changed, and
 * without what the program has mapped itself.  Preloaded before the malloc in
 * question; adds a line with the number to the file METER when the program ends.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <fcntl.h>

#define MAPPINGS 4096

/* What was mapped, and by which code. */
static struct {
	char *at;
	size_t size;
	void *by;
} mapped[MAPPINGS];
static unsigned count;

void *
mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	void *p =
	    (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset);
	unsigned n;

	if (p != MAP_FAILED && fd < 0 &&
	    (n = __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED)) < MAPPINGS) {
		mapped[n].at = p;
		mapped[n].size = size;
		mapped[n].by = __builtin_return_address(0);
	}
	return p;
}

/* A line of a file, in kilobytes: the sum of all that begin so. */
static uint64_t
field(const char *path, const char *name)
{
	char line[512];
	uint64_t sum = 0;
	FILE *file = fopen(path, "r");

	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		if (strncmp(line, name, strlen(name)) == 0)
			sum += strtoull(line + strlen(name), NULL, 10);
	if (file != NULL)
		fclose(file);
	return sum;
}

/* Anonymous memory of mappings of files, and of the stack, in kilobytes. */
static uint64_t
changed(void)
{
	FILE *file = fopen("/proc/self/smaps", "r");
	uint64_t sum = 0, inode;
	char line[512], name[256];
	int counts = 0;

	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		name[0] = '\0';
		if (sscanf(line, "%*x-%*x %*s %*x %*s %lu %255s", &inode,
		        name) >= 1)
			counts = inode != 0 || strcmp(name, "[stack]") == 0;
		else if (counts && strncmp(line, "Anonymous:", 10) == 0)
			sum += strtoull(line + 10, NULL, 10);
	}
	if (file != NULL)
		fclose(file);
	return sum;
}

/* What the program's own mappings have resident, in kilobytes. */
static uint64_t
own(void)
{
	static unsigned char pages[1 << 20];
	uint64_t sum = 0;
	Dl_info by, program;
	unsigned i;
	size_t j, n;

	if (dladdr((void *)(uintptr_t)getauxval(AT_ENTRY), &program) == 0)
		return 0;
	for (i = 0; i < count && i < MAPPINGS; i++) {
		n = (mapped[i].size + 4095) / 4096;
		if (dladdr(mapped[i].by, &by) == 0 ||
		    by.dli_fbase != program.dli_fbase || n > sizeof(pages) ||
		    mincore(mapped[i].at, mapped[i].size, pages) != 0)
			continue;
		for (j = 0; j < n; j++)
			sum += (pages[j] & 1) * 4;
	}
	return sum;
}

static uint64_t before;

/* What the malloc has, and what belongs to no file, in kilobytes. */
static uint64_t
anonymous(uint64_t resident)
{
	return resident - field("/proc/self/status", "RssFile:") - changed();
}

/* What a malloc takes before it is used is not the program's doing. */
__attribute__((constructor)) static void
start(void)
{
	int fd = open("/proc/self/clear_refs", O_WRONLY);
	void *volatile block = malloc(1);

	free(block);
	if (fd < 0 || write(fd, "5", 1) != 1)
		_exit(77);
	close(fd);
	before = anonymous(field("/proc/self/status", "VmRSS:"));
}

__attribute__((destructor)) static void
finish(void)
{
	uint64_t peak = anonymous(field("/proc/self/status", "VmHWM:"));
	FILE *out =
	    getenv("METER") != NULL ? fopen(getenv("METER"), "a") : NULL;

	if (out == NULL)
		return;
	fprintf(out, "%lu\n", (peak - own() - before) << 10);
	fclose(out);
}
