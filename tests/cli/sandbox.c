/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A decoder that was taken over: preloaded, it is called for zstd instead of the
 * library's, tries what a log must never be able to do, and prints what worked.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void
report(const char *what, long result)
{
	char line[80];
	int n = snprintf(line, sizeof(line), "%s: %s\n", what,
	    result >= 0                           ? "done" :
	        errno == EACCES || errno == EPERM ? "denied" :
	                                            strerror(errno));

	if (write(2, line, (size_t)n) != n)
		_exit(1);
}

static long
run_program(void)
{
	static char name[] = "/bin/true";
	char *arguments[] = { name, NULL };
	int status;
	pid_t child = fork();

	if (child == 0) {
		execv(name, arguments);
		_exit(errno == EACCES || errno == EPERM ? 9 : 8);
	}
	waitpid(child, &status, 0);
	errno = WEXITSTATUS(status) == 9 ? EPERM : EINVAL;
	return WEXITSTATUS(status) == 0 ? 0 : -1;
}

static void
try_all(void)
{
	const char *private = getenv("PRIVATE");
	char other[4096];

	report("read /etc/passwd", open("/etc/passwd", O_RDONLY));
	report("list /", open("/", O_RDONLY | O_DIRECTORY));
	report("read private", open(private, O_RDONLY));
	report("write private", open(private, O_WRONLY));
	report("mode of private", chmod(private, 0600));
	snprintf(other, sizeof(other), "%s.other", private);
	report("create", open(other, O_WRONLY | O_CREAT, 0600));
	report("remove", unlink(other));
	report("run", run_program());
	report("socket", socket(AF_INET, SOCK_STREAM, 0));
	report("trace", ptrace(PTRACE_TRACEME, 0, NULL, NULL));
	report("type", ioctl(0, TIOCSTI, "x"));
	report("memory", open("/proc/self/mem", O_RDWR));
	report("map",
	    mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
	            MAP_FAILED ?
	        -1 :
	        0);
}

size_t
ZSTD_decompressStream(void *stream, void *output, void *input)
{
	static size_t (*next)(void *, void *, void *);

	if (next == NULL) {
		*(void **)&next = dlsym(RTLD_NEXT, "ZSTD_decompressStream");
		try_all();
	}
	return next(stream, output, input);
}
