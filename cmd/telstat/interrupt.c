/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An interrupt from the terminal goes to a whole pipeline: what writes the log
 * ends, and telstat reports what came until then.
 */
#include "interrupt.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "common/message.h"

static volatile sig_atomic_t interrupted;
/* What an interrupt did before: a second one ends the process. */
static struct sigaction ending;

static void
interrupt_note(int number)
{
	interrupted = 1;
	(void)sigaction(number, &ending, NULL);
}

/* Whether the log of an operand comes from a program. */
static int
is_piped(const char *operand)
{
	struct stat st;
	const int found = strcmp(operand, "-") == 0 ?
	    fstat(fileno(stdin), &st) :
	    stat(operand, &st);

	return found == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

void
interrupt_hold(const struct settings *s)
{
	struct sigaction action;
	int piped = s->noperands == 0 && is_piped("-");

	for (int i = 0; i < s->noperands; i++)
		piped |= is_piped(s->operands[i]);
	memset(&action, 0, sizeof(action));
	sigemptyset(&action.sa_mask);
	action.sa_handler = interrupt_note;
	action.sa_flags = SA_RESTART;
	if (piped && sigaction(SIGINT, NULL, &ending) == 0 &&
	    ending.sa_handler != SIG_IGN)
		(void)sigaction(SIGINT, &action, NULL);
}

void
interrupt_end(void)
{
	if (!interrupted)
		return;
	message(NULL, "interrupted; the report is of what came until then");
	(void)raise(SIGINT);
}
