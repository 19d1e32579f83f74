/* SPDX-License-Identifier: BSD-2-Clause */
/* telrec's command line. */
#include "telrec.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "common/message.h"
#include "common/options.h"
#include "common/streams.h"
#include "tel.h"

enum { OPTION_CONTROL = OPTION_OWN };

static const struct option_row own[] = {
	{ OPTION_HEADING, "Control", NULL, NULL, 0 },
	{ OPTION_CONTROL, "control", "PROCESS",
	    "show what a program writes, or change it: +Pool,-Ref", 0 },
};

static int
take(void *arg, int id, const char *value)
{
	struct telrec *t = arg;

	(void)id;
	if (t->control == NULL) {
		t->control = value;
		return 1;
	}
	message_fail(STATUS_USAGE, NULL, "--control was given twice");
	return 0;
}

static const struct tool tool = { "telrec", TOOL_TELREC, own,
	sizeof(own) / sizeof(own[0]), NULL, take, "[change ...]",
	"Shows and changes which kinds of events a running program writes.",
	{ "telrec --control 4711", "telrec --control 4711 +Pool,-Ref" } };

/* The changes follow the process, and may begin with '-', as "-Ref" does. */
static int
is_change(const char *text)
{
	return text[0] != '-' ||
	    (isalnum((unsigned char)text[1]) &&
	        (text[2] != '\0' || strchr("hV", text[1]) == NULL));
}

int
telrec_options(struct telrec *t, int argc, char **argv)
{
	const char *value;
	int id;

	memset(t, 0, sizeof(*t));
	while (
	    t->control == NULL || optind >= argc || !is_change(argv[optind])) {
		id = options_next(&tool, argc, argv, &value);
		if (id == OPTION_END)
			break;
		if (id == OPTION_ERROR)
			return 0;
		if (id == 'h' || id == 'V') {
			if (id == 'V')
				printf("telrec (teltools) %s\n", tel_version());
			else if (!options_help(&tool, value))
				return 0;
			streams_end();
			return 0;
		}
		if (!take(t, id, value))
			return 0;
	}
	t->operands = argv + optind;
	t->noperands = argc - optind;
	if (t->control != NULL)
		return 1;
	message_fail(STATUS_USAGE, NULL, "nothing to do: --control PROCESS");
	message(NULL, "try 'telrec --help'");
	return 0;
}
