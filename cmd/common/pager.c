/* SPDX-License-Identifier: BSD-2-Clause */
/* The pager that a user wants between a tool and a terminal. */
#include "pager.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "message.h"

/* In the child: the command, which ends by itself when nothing is left. */
static void
pager_run(const char *command, const int *ends)
{
	if (dup2(ends[0], 0) != -1) {
		(void)close(ends[0]);
		(void)close(ends[1]);
		(void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	}
	_exit(127);
}

/* The pager of this process, for the handler. */
static pid_t running;

/*
 * The pager has ended before the output: the user has left it, or it could not
 * be run.  This comes out of write(2), so that messages may be printed.
 */
static void
end_early(int sig)
{
	pager_end(running);
	if (message_status() == STATUS_FAILED)
		_exit(STATUS_FAILED);
	(void)signal(sig, SIG_DFL);
	(void)raise(sig);
}

pid_t
pager_begin(void)
{
	const char *command = getenv("TELTOOLS_PAGER");
	struct sigaction early;
	int ends[2];

	if (command == NULL || command[0] == '\0' || !isatty(STDOUT_FILENO))
		return 0;
	if (pipe(ends) != 0) {
		message(NULL, "TELTOOLS_PAGER: %s", strerror(errno));
		return 0;
	}
	pid_t pager = fork();
	if (pager == 0)
		pager_run(command, ends);
	/* without the pipe the pager ends by itself */
	if (pager < 0 || dup2(ends[1], STDOUT_FILENO) == -1)
		message(NULL, "TELTOOLS_PAGER: %s", strerror(errno));
	(void)close(ends[0]);
	(void)close(ends[1]);
	if (pager <= 0)
		return 0;
	running = pager;
	/* where the signal is ignored, writing fails instead */
	if (sigaction(SIGPIPE, NULL, &early) == 0 &&
	    early.sa_handler == SIG_DFL)
		(void)signal(SIGPIPE, end_early);
	return pager;
}

void
pager_end(pid_t pager)
{
	int status;

	if (pager == 0)
		return;
	/* the terminal's interrupt is for the pager, which is left by a key */
	(void)signal(SIGINT, SIG_IGN);
	while (waitpid(pager, &status, 0) == -1)
		if (errno != EINTR)
			return;
	/* the status of a shell that cannot run a command */
	if (WIFEXITED(status) &&
	    (WEXITSTATUS(status) == 126 || WEXITSTATUS(status) == 127))
		message_fail(STATUS_FAILED, NULL,
		    "TELTOOLS_PAGER: the pager could not be run");
}
