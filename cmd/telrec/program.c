/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs that ignore preloaded libraries, by their files. */
#define _GNU_SOURCE
#include "telrec/program.h"

#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Interpreters of interpreters, at most. */
#define SCRIPTS_MAX 4
/* A recorded program may name a FIFO, or a terminal. */
#define FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

/* Opens a program.  -1: it is not found. */
static int
telrec_open_program(const char *name)
{
	const char *list = getenv("PATH"), *end;
	char path[4096];

	if (strchr(name, '/') != NULL)
		return open(name, FLAGS);
	for (; list != NULL; list = *end == ':' ? end + 1 : NULL) {
		end = strchrnul(list, ':');
		int length = snprintf(path, sizeof(path), "%.*s%s%s",
		    (int)(end - list), list, end > list ? "/" : "", name);
		if (length < 0 || (size_t)length >= sizeof(path) ||
		    access(path, X_OK) != 0)
			continue;
		int fd = open(path, FLAGS);
		if (fd >= 0)
			return fd;
	}
	return -1;
}

/* Whether an ELF file of this word size names a dynamic linker. */
static int
has_linker(int fd)
{
	union {
		Elf64_Ehdr large;
		Elf32_Ehdr small;
	} head;
	union {
		Elf64_Phdr large;
		Elf32_Phdr small;
	} segment;
	const int large = sizeof(void *) == 8;

	if (pread(fd, &head, sizeof(head), 0) < (ssize_t)sizeof(head.small))
		return 1;
	uint64_t at = large ? head.large.e_phoff : head.small.e_phoff;
	unsigned count = large ? head.large.e_phnum : head.small.e_phnum;
	unsigned size = large ? head.large.e_phentsize : head.small.e_phentsize;
	for (unsigned i = 0; i < count; i++) {
		if (pread(fd, &segment, sizeof(segment),
		        (off_t)(at + (uint64_t)i * size)) <
		    (ssize_t)sizeof(segment.small.p_type))
			return 1;
		/* the type is the first member of both */
		if (segment.small.p_type == PT_INTERP)
			return 1;
	}
	return 0;
}

/* Reads the interpreter of a script from its first line.  0: there is none. */
static int
find_interpreter(const char *line, char *out, size_t size)
{
	line += 2 + strspn(line + 2, " \t");
	size_t n = strcspn(line, " \t\r\n");
	if (n == 0 || n >= size)
		return 0;
	memcpy(out, line, n);
	out[n] = '\0';
	return 1;
}

const char *
program_obstacle(const char *name)
{
	char line[256] = "", path[256];
	const char *why = NULL;
	struct stat st;
	int fd, scripts = 0;

	while ((fd = telrec_open_program(name)) >= 0) {
		if (pread(fd, line, sizeof(line) - 1, 0) < 5 ||
		    fstat(fd, &st) != 0)
			memset(line, 0, sizeof(line));
		else if (memcmp(line, ELFMAG, SELFMAG) != 0)
			why = NULL;
		else if (line[EI_CLASS] !=
		    (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
			why = sizeof(void *) == 8 ?
			    "the program is of 32 bits, telrec of 64" :
			    "the program is of 64 bits, telrec of 32";
		else if (!has_linker(fd))
			why = "the program is statically linked";
		else if (st.st_mode & (S_ISUID | S_ISGID))
			why = "the program is set-user-ID or set-group-ID";
		close(fd);
		if (memcmp(line, "#!", 2) != 0 || ++scripts > SCRIPTS_MAX ||
		    !find_interpreter(line, path, sizeof(path)))
			break;
		name = path;
	}
	return why;
}
