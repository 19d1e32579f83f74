/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that prints a trace of itself, as heaptrack has it: its module, and
 * the stack of a call of an inlined function, a recursive one and a plain one.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char exe[4096];

static int
print_modules(struct dl_phdr_info *info, size_t size, void *arg)
{
	const char *name = info->dlpi_name[0] != '\0' ? info->dlpi_name : "x";

	(void)size;
	/* the program is the first one */
	if ((*(int *)arg)++ > 0 && strcmp(name, "x") == 0)
		return 0;
	printf("m %zx %s %" PRIxMAX " 0 1\n", strlen(name), name,
	    (uintmax_t)info->dlpi_addr);
	return 0;
}

/* What was returned to, innermost first. */
static uintmax_t found[8];
static volatile int used;

__attribute__((noinline)) void
note_caller(void)
{
	found[used++] = (uintmax_t)(uintptr_t)__builtin_return_address(0);
}

static inline __attribute__((always_inline)) void
inlined(void)
{
	note_caller(); /* line of inlined */
	__asm__ volatile("");
}

__attribute__((noinline)) void
outer(void)
{
	inlined(); /* line of outer */
	__asm__ volatile("");
}

int
main(void)
{
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	int count = 0;

	if (n < 0)
		return 1;
	outer();
	printf("v 10400 3\nx %zx %s\nm 1 -\n", (size_t)n, exe);
	dl_iterate_phdr(print_modules, &count);
	printf("t %" PRIxMAX " 0\n", found[0]);
	printf("t 10 1\n");
	printf("+ 64 1 1000\n+ 10 2 2000\n");
	return 0;
}
