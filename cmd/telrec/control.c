/* SPDX-License-Identifier: BSD-2-Clause */
/* Control of a program that writes telemetry by libtel-emit. */
#include "telrec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/message.h"
#include "common/options.h"
#include "tel_emit.h"

/* Reports why a program cannot be controlled. */
static void
telrec_control_refuse(const char *whose)
{
	const int is_process = whose[strspn(whose, "0123456789")] == '\0';

	if (errno == EINVAL)
		message_fail(STATUS_USAGE, whose, "%s", tel_emit_error());
	else if (errno == ESRCH)
		message_fail(STATUS_FAILED, whose,
		    "the program has closed its telemetry");
	else if (errno == ENOENT && is_process)
		message_fail(STATUS_FAILED, whose,
		    "no such process, or it has no ring file");
	else if (errno == ENOENT)
		message_fail(STATUS_FAILED, whose,
		    "no such file, or not a ring file of libtel-emit");
	else
		message_errno(whose);
}

void
telrec_control(const struct telrec *t)
{
	/* 32 names of at most 23 bytes */
	char kinds[1024], *changes = NULL;

	if (t->noperands == 0) {
		if (tel_control_list(t->control, kinds, sizeof(kinds)) < 0)
			telrec_control_refuse(t->control);
		else
			puts(kinds);
		return;
	}
	for (int i = 0; i < t->noperands; i++)
		if (!options_join(&changes, "", " ", t->operands[i], "")) {
			message_fail(STATUS_FAILED, NULL, "out of memory");
			free(changes);
			return;
		}
	if (tel_control_other(t->control, changes) != 0)
		telrec_control_refuse(t->control);
	free(changes);
}
