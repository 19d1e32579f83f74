/* SPDX-License-Identifier: BSD-2-Clause */
/* What is counted of a process: its system calls for memory, its page faults. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "telreplay/run/calls.h"
#include "telreplay/run/counters.h"

static size_t page;

/* ------------------------------------------------------------ system calls */

/* Each call so many times: a number of its own. */
static void
make_calls(void)
{
	unsigned char *p[3], *q;
	int i;

	for (i = 0; i < 3; i++)
		p[i] = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (i = 0; i < 5; i++)
		(void)mprotect(p[0], page,
		    i % 2 > 0 ? PROT_READ : PROT_READ | PROT_WRITE);
	for (i = 0; i < 4; i++)
		(void)madvise(p[1], page, MADV_NORMAL);
	q = mremap(p[2], 4 * page, 8 * page, MREMAP_MAYMOVE);
	(void)munmap(q, 8 * page);
	(void)munmap(p[0], 4 * page);
	for (i = 0; i < 6; i++)
		(void)syscall(SYS_brk, 0);
	/* none of ours */
	(void)getppid();
}

static volatile sig_atomic_t signals;

static void
count_signal(int number)
{
	(void)number;
	signals++;
}

/* In the traced process: signals and calls before it runs do not count. */
static void
traced_main(int gate, int running)
{
	char byte;

	if (read(gate, &byte, 1) != 1 || !calls_stop())
		_exit(2);
	make_calls();
	make_calls();
	(void)raise(SIGUSR1);
	if (write(running, "", 1) != 1)
		_exit(3);
	/* until it is known to run */
	if (read(gate, &byte, 1) != 1)
		_exit(4);
	make_calls();
	_exit(signals == 1 ? 7 : 5);
}

/* Handles the stops of a process.  Returns its status. */
static int
trace_to_end(pid_t pid, const int gate[2], const int ready[2], uint64_t *counts)
{
	int status, running = 0;
	char byte;
	pid_t got;

	for (;;) {
		got = waitpid(pid, &status, WNOHANG | __WALL);
		if (got == pid && !WIFSTOPPED(status))
			return status;
		if (got == pid)
			calls_count(pid, status, running, counts);
		if (!running && read(ready[0], &byte, 1) == 1) {
			running = 1;
			if (write(gate[1], "", 1) != 1)
				return -1;
		}
	}
}

static void
test_calls(void)
{
	static const uint64_t want[CALLS] = { [CALL_MMAP] = 3,
		[CALL_MUNMAP] = 2,
		[CALL_MREMAP] = 1,
		[CALL_BRK] = 6,
		[CALL_MADVISE] = 4,
		[CALL_MPROTECT] = 5 };
	uint64_t counts[CALLS] = { 0 };
	int gate[2], ready[2], status;
	unsigned i;
	pid_t pid;

	if (pipe(gate) != 0 || pipe2(ready, O_NONBLOCK) != 0)
		return;
	(void)signal(SIGUSR1, count_signal);
	pid = fork();
	if (pid == 0)
		traced_main(gate[0], ready[1]);
	/* valgrind has no filters of system calls */
	if (getenv("TEST_SLOW") != NULL || !calls_trace(pid)) {
		ok(1, "system calls # SKIP no process may be traced");
		(void)kill(pid, SIGKILL);
		(void)waitpid(pid, &status, 0);
		return;
	}
	(void)alarm(60);
	if (write(gate[1], "", 1) != 1)
		return;
	status = trace_to_end(pid, gate, ready, counts);
	(void)alarm(0);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 7,
	    "a process that is traced ends as it does alone");
	for (i = 0; i < CALLS; i++)
		is_u64(counts[i], want[i], "calls of %s",
		    calls_name((enum system_call)i));
}

/* ---------------------------------------------------------------- counters */

#define PAGES 300

static void
touch_pages(void)
{
	volatile unsigned char *p = mmap(NULL, PAGES * page,
	    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t i;

	(void)madvise((void *)(uintptr_t)p, PAGES * page, MADV_NOHUGEPAGE);
	for (i = 0; i < PAGES; i++)
		p[i * page] = 1;
	(void)munmap((void *)(uintptr_t)p, PAGES * page);
}

static void
test_counters(void)
{
	struct counters c;
	uint64_t before = 77, after = 0;

	counters_open(&c);
	touch_pages();
	ok(!counters_read(&c, COUNTER_FAULTS, &before) && before == 77,
	    "nothing is counted before a counter runs");
	counters_run(&c, 1);
	touch_pages();
	counters_run(&c, 0);
	touch_pages();
	if (!counters_read(&c, COUNTER_FAULTS, &after)) {
		ok(1, "page faults # SKIP they cannot be counted");
		return;
	}
	ok(after >= PAGES && after < 2 * PAGES,
	    "%u page faults while it runs, of %u pages", (unsigned)after,
	    PAGES);
}

int
main(void)
{
	page = (size_t)sysconf(_SC_PAGESIZE);
	test_calls();
	test_counters();
	return done();
}
