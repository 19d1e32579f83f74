/* SPDX-License-Identifier: BSD-2-Clause */
/* The options that the tools share, their parser and their help. */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "message.h"

#define ALL (TOOL_TELCAT | TOOL_TELFILTER | TOOL_TELSTAT | TOOL_TELREPLAY)
#define SHOWS (TOOL_TELCAT)
/* those that write logs */
#define WRITES (TOOL_TELCAT | TOOL_TELFILTER)
/* telreplay has -o and -n with another meaning */
#define OTHERS (ALL & ~(unsigned)TOOL_TELREPLAY)

/* The most options that a tool may have. */
#define ROWS_MAX 64

static const struct option_row common[] = {
	/* what the formats are, each tool says itself */
	{ 'f', "format", "FORMAT", "", ALL },
	{ 'o', "output", "FILE",
	    "write to FILE; -z, --compress LEVEL; --meta-set K=V", WRITES },
	{ 'o', "output", "FILE",
	    "write to FILE; -z, --compress LEVEL: with zstd",
	    OTHERS & ~(unsigned)WRITES },
	{ 'z', "compress", "LEVEL", NULL, OTHERS },
	{ OPTION_AS, "as", "FORMAT",
	    "read as: mps-1.118.0 ...; --core [--exe PROGRAM]", ALL },
	{ 'm', "meta", "FILE",
	    "the file of a trace's names; --tb-hz HZ: its clock", ALL },
	{ OPTION_TB_HZ, "tb-hz", "HZ", NULL, ALL },
	{ OPTION_CORE, "core", NULL, NULL, ALL },
	{ OPTION_EXE, "exe", "FILE", NULL, ALL },
	{ 'd', "description", "FILE",
	    "read event definitions from FILE; --contracts FILE", ALL },
	{ OPTION_CONTRACTS, "contracts", "FILE", NULL, ALL },
	{ OPTION_META_SET, "meta-set", "KEY=VALUE", NULL, WRITES },
	{ OPTION_ALLOC, "alloc", "TYPE(...)",
	    "allocates: 'Grab(ptr=p,size=n)'; --free, --realloc",
	    TOOL_TELSTAT | TOOL_TELREPLAY },
	{ OPTION_ALLOC, "alloc", "TYPE(...)", NULL, TOOL_TELCAT },
	{ OPTION_FREE, "free", "TYPE(...)", NULL,
	    ALL & ~(unsigned)TOOL_TELFILTER },
	{ OPTION_REALLOC, "realloc", "TYPE(...)", NULL,
	    ALL & ~(unsigned)TOOL_TELFILTER },
	{ 'k', "kinds", "KINDS", "only these kinds: Pool,Seg, ^Object, 0x21",
	    ALL },
	{ 'e', "events", "NAMES", "only these types: PoolAlloc, Pool*, 0x17",
	    ALL },
	{ 't', "range", "FROM,TO", "only this time: 1.5s,2s or 10%,20% ...",
	    ALL },
	{ 'w', "where", "EXPR",
	    "only where EXPR is true; --since, --until EXPR", ALL },
	{ OPTION_SINCE, "since", "EXPR", NULL, ALL },
	{ OPTION_UNTIL, "until", "EXPR", NULL, ALL },
	{ 'n', "count", "N",
	    "stop after N events; --skip N: without the first N", OTHERS },
	{ OPTION_SKIP, "skip", "N", NULL, OTHERS },
	{ OPTION_SKIP, "skip", "N", "leave out the first N events",
	    ALL & ~(unsigned)OTHERS },
	{ 'T', "time", "FORM", "ticks, s, ns, relative, delta or iso", SHOWS },
	{ 'u', "unbuffered", NULL,
	    "write each event at once; follow rings of a program", SHOWS },
	{ OPTION_STRICT, "strict", NULL,
	    "stop at damage; --force: read newer versions", ALL },
	{ OPTION_FORCE, "force", NULL, NULL, ALL },
	{ OPTION_PROGRESS, "progress", NULL, "show progress", ALL },
	{ OPTION_COLOR, "color", "[=WHEN]", "auto, always or never", SHOWS },
	{ OPTION_NO_MERGE, "no-merge", NULL,
	    "files one after the other, not merged by time", ALL },
	{ 'q', "quiet", NULL, "report only failures; --verbose: report more",
	    ALL & ~(unsigned)TOOL_TELFILTER },
	{ OPTION_QUIET, "quiet", NULL,
	    "report only failures; --verbose: report more", TOOL_TELFILTER },
	{ OPTION_VERBOSE, "verbose", NULL, NULL, ALL },
	{ 'h', "help", NULL, "print this help; -V, --version: the version",
	    ALL | TOOL_TELREC },
	{ 'V', "version", NULL, NULL, ALL | TOOL_TELREC },
};

/* Collects a tool's rows: its own first.  Returns their number. */
static size_t
collect(const struct tool *tool, const struct option_row **rows)
{
	size_t i, n = 0;

	for (i = 0; i < tool->nown && n < ROWS_MAX; i++)
		rows[n++] = &tool->own[i];
	for (i = 0; i < sizeof(common) / sizeof(common[0]); i++)
		if ((common[i].tools & tool->bit) != 0 && n < ROWS_MAX)
			rows[n++] = &common[i];
	return n;
}

static int
is_optional(const struct option_row *row)
{
	return row->argument != NULL && row->argument[0] == '[';
}

static int
is_letter(const struct option_row **rows, size_t n, int c)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (rows[i]->id == c)
			return 1;
	return 0;
}

/* Reports what getopt did not accept: why is what it returned. */
static int
refuse(const struct option_row **rows, size_t n, int why, const char *word)
{
	int letter = optopt > 0 && optopt < OPTION_AS &&
	    (why == ':' ? word[1] != '-' : !is_letter(rows, n, optopt));

	if (why == ':' && letter)
		message_fail(STATUS_USAGE, NULL,
		    "option '-%c' needs an argument", optopt);
	else if (why == ':')
		message_fail(STATUS_USAGE, NULL,
		    "option '%s' needs an argument", word);
	else if (letter)
		message_fail(STATUS_USAGE, NULL, "unknown option '-%c'",
		    optopt);
	else if (optopt != 0)
		message_fail(STATUS_USAGE, NULL,
		    "option takes no argument: '%s'", word);
	else
		message_fail(STATUS_USAGE, NULL,
		    "unknown or ambiguous option '%s'", word);
	message(NULL, "try '%s --help'", message_program());
	return OPTION_ERROR;
}

int
options_next(const struct tool *tool, int argc, char **argv, const char **value)
{
	const struct option_row *rows[ROWS_MAX];
	struct option longs[ROWS_MAX + 1];
	char letters[2 * ROWS_MAX + 2];
	size_t i, n = collect(tool, rows), at = 0;
	int id;

	letters[at++] = ':';
	memset(longs, 0, sizeof(longs));
	for (i = 0; i < n; i++) {
		longs[i].name = rows[i]->name;
		longs[i].val = rows[i]->id;
		if (rows[i]->argument != NULL)
			longs[i].has_arg = is_optional(rows[i]) ?
			    optional_argument :
			    required_argument;
		if (rows[i]->id >= OPTION_AS)
			continue;
		letters[at++] = (char)rows[i]->id;
		if (rows[i]->argument != NULL)
			letters[at++] = ':';
	}
	letters[at] = '\0';
	opterr = 0;
	id = getopt_long(argc, argv, letters, longs, NULL);
	*value = optarg;
	if (id == -1)
		return OPTION_END;
	if (id == ':' || id == '?')
		return refuse(rows, n, id, argv[optind - 1]);
	return id;
}

void
options_help(const struct tool *tool)
{
	const struct option_row *rows[ROWS_MAX];
	size_t i, n = collect(tool, rows);

	printf("usage: %s [option ...] %s\n", tool->name, tool->operands);
	for (i = 0; i < n; i++) {
		const char *argument = rows[i]->argument;
		const char *text = rows[i]->text;
		char left[40];

		if (text == NULL)
			continue;
		if (rows[i]->id == 'f')
			text = tool->formats;
		(void)snprintf(left, sizeof(left), "--%s%s%s", rows[i]->name,
		    argument == NULL || is_optional(rows[i]) ? "" : " ",
		    argument == NULL ? "" : argument);
		if (rows[i]->id < OPTION_AS)
			printf("  -%c, ", rows[i]->id);
		else
			printf("      ");
		printf("%-20s  %s\n", left, text);
	}
}

int
options_join(char **joined, const char *before, const char *between,
    const char *text, const char *after)
{
	size_t size = strlen(text) + 1;
	char *all;

	if (*joined != NULL)
		size += strlen(before) + strlen(*joined) + strlen(between) +
		    strlen(after);
	all = malloc(size);
	if (all == NULL)
		return 0;
	if (*joined == NULL)
		(void)snprintf(all, size, "%s", text);
	else
		(void)snprintf(all, size, "%s%s%s%s%s", before, *joined,
		    between, text, after);
	free(*joined);
	*joined = all;
	return 1;
}
