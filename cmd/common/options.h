/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Options: the table of those that the tools share, and the parser of a tool's
 * command line, which joins the table with the tool's own rows.  A row is all
 * there is to an option: the parser, --help, the completions of shells, which
 * read --help=table, and the tests go by it.
 */
#ifndef COMMON_OPTIONS_H
#define COMMON_OPTIONS_H

#include <stddef.h>

/* The tools, as bits. */
enum tool_bit {
	TOOL_TELCAT = 1,
	TOOL_TELFILTER = 2,
	TOOL_TELSTAT = 4,
	TOOL_TELREPLAY = 8,
	TOOL_TELREC = 16,
	OPTION_RARE = 256, /* an option that only --help=all lists */
	/*
	 * Whether it matters which event comes when, so that they are taken one
	 * by one: with an option that tools share if it is ORDERED; with one
	 * that a tool itself takes, unless it is UNORDERED.
	 */
	OPTION_ORDERED = 512,
	OPTION_UNORDERED = 1024
};

/* Options without a letter; those of a tool begin at OPTION_OWN. */
enum option_id {
	OPTION_END = 0,
	OPTION_STOP = -1,
	OPTION_AS = 256,
	OPTION_SKIP,
	OPTION_STRICT,
	OPTION_FORCE,
	OPTION_PROGRESS,
	OPTION_COLOR,
	OPTION_VERBOSE,
	OPTION_NO_MERGE,
	OPTION_FILE_ORDER,
	OPTION_TB_HZ,
	OPTION_CORE,
	OPTION_EXE,
	OPTION_ALLOC,
	OPTION_FREE,
	OPTION_REALLOC,
	OPTION_SINCE,
	OPTION_UNTIL,
	OPTION_CONTRACTS,
	OPTION_META_SET,
	OPTION_MAX_LABELS,
	OPTION_NO_CONFIG,
	OPTION_NO_SANDBOX,
	OPTION_HEADING, /* no option: the name of the group that follows */
	OPTION_OWN
};

/* The most options that a tool may have. */
enum { OPTIONS_MAX = 80 };

struct option_row {
	int id;               /* the letter, or an enum option_id */
	const char *name;     /* of the long option */
	const char *argument; /* NULL for none; "[=WHAT]" when optional */
	const char *text;     /* for --help */
	unsigned tools; /* the tools that have it; OPTION_RARE and others */
};

/* A tool's command line. */
struct tool {
	const char *name;
	unsigned bit;
	const struct option_row *own;
	size_t nown;
	const char *formats; /* what -f takes */
	/*
	 * Takes one of the tool's own options.  Returns 1, or 0 when it has
	 * printed a message.
	 */
	int (*option)(void *arg, int id, const char *value);
	/* For --help: the operands, what the tool does, and two command lines. */
	const char *operands;
	const char *purpose;
	const char *examples[2];
};

/*
 * The next option of the command line, as getopt: its id, OPTION_END when
 * only operands are left (from optind on), OPTION_STOP after a message, or when
 * the help or the version was printed.
 * value: set to its argument, or NULL.
 */
int options_next(const struct tool *tool, int argc, char **argv,
    const char **value);

/*
 * The place of a word in a list that ends with NULL; -1 after a message, which
 * has the list and what the word may have been meant for.
 */
int options_word(const char *option, const char *word,
    const char *const *words);

/* The tool's own row of an option; NULL: it is one that the tools share. */
const struct option_row *options_own(const struct tool *tool, int id);

/* Nonzero when the row of a tool's option has a flag, such as OPTION_ORDERED. */
int options_has(const struct tool *tool, int id, unsigned flag);

/* The row of an option that is given as on a command line, or NULL. */
const struct option_row *options_find(const struct tool *tool,
    const char *option);

/*
 * Joins the arguments of an option that is given again and again: *joined
 * becomes text, or before, *joined, between, text and after.  *joined is freed
 * by the caller.  Returns 1, or 0 when out of memory.
 */
int options_join(char **joined, const char *before, const char *between,
    const char *text, const char *after);

/*
 * Prints the help of a tool on standard output.  what: the argument of --help,
 * or NULL; "all" includes the rare options; "table" prints a line for each
 * option with its letter, name, argument, text, and the words that it takes,
 * separated by tabs.  Returns 1, or 0 after a message.
 */
int options_help(const struct tool *tool, const char *what);

#endif
