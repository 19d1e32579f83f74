/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The switch of the faults that mutate.py builds into a copy of the sources,
 * and into nothing else: MUTANT in the environment is the number of the fault
 * that is on.  With MUTANT_REACHED, the start of a path, each fault that a test
 * reaches sets its byte of a file: one for each case of a bats file.  The file
 * is mapped, so that also a process that is killed leaves its record.
 */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_MUTANTS = 4096 };

int mutant_is(int number);

static int mutant_current;
static char *mutant_reached;

__attribute__((constructor)) static void
mutant_start(void)
{
	const char *text = getenv("MUTANT");
	const char *test = getenv("BATS_SUITE_TEST_NUMBER");
	char path[4096];
	void *map;
	int fd;

	mutant_current = text == NULL ? 0 : atoi(text);
	text = getenv("MUTANT_REACHED");
	if (text == NULL)
		return;
	snprintf(path, sizeof path, "%s.%s", text, test == NULL ? "" : test);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		return;
	/* other users, too: a test may run as one */
	(void)fchmod(fd, 0666);
	map = ftruncate(fd, MAX_MUTANTS) != 0 ?
	    MAP_FAILED :
	    mmap(NULL, MAX_MUTANTS, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (map != MAP_FAILED)
		mutant_reached = map;
}

/* Whether the fault of that number, from 1, is on. */
int
mutant_is(int number)
{
	if (mutant_reached != NULL && mutant_reached[number] == 0)
		mutant_reached[number] = 1;
	return number == mutant_current;
}
