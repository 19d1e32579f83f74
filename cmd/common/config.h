/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Configuration: the file that the environment variable TELTOOLS_CONFIG names,
 * with options that a user wants by default.  A line has the name of a tool, or
 * "all", and an option, as
 *
 *	telcat --sort
 *	telstat -s sizes=log2(size) if name == "PoolAlloc"
 *	all --quiet
 *
 * The argument of an option is the rest of the line, without quotes.
 * Blank lines and those that start with '#' are ignored.
 */
#ifndef COMMON_CONFIG_H
#define COMMON_CONFIG_H

#include "options.h"

/* A command line after the options of the file. */
struct config {
	char *text;  /* of the file */
	char **argv; /* NULL: as the tool was called */
	int argc;
	int nfile; /* arguments of the file, the first in argv but its name */
	unsigned noptions; /* of the file */
};

/*
 * Puts the options of the file before those of the command line, which
 * therefore override them, unless --no-config is there.  An option for "all"
 * is left out where the tool does not have it.  The caller frees c by
 * config_free() once argv is no longer used.
 * Returns 1, or 0 after a message.
 */
int config_apply(struct config *c, const struct tool *tool, int argc,
    char **argv);
void config_free(struct config *c);

#endif
