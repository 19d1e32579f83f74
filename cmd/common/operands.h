/* SPDX-License-Identifier: BSD-2-Clause */
/* Operands with a range of time of their own: FILE@FROM,TO. */
#ifndef COMMON_OPERANDS_H
#define COMMON_OPERANDS_H

struct settings;

/* The operands of a command line, and what belongs to them. */
struct operands {
	char **shown;        /* as they were given */
	char **files;        /* as settings.operands has them at first */
	char **cut;          /* for each its name without the range, or NULL */
	const char **ranges; /* the ranges, or NULL */
	int count;
};

/*
 * Takes n operands; a file that has the name of all of one has no range.
 * Returns 1, or 0 after a message.
 */
int operands_take(struct settings *s, char **list, int n);

/* Makes operand i the only one. */
void operands_only(struct settings *s, int i);

/*
 * Selects the ranges of the operands, to be called once.  Operands of the same
 * file become one.  Returns 1, or 0 after a message.
 */
int operands_select(struct settings *s);

void operands_free(struct operands *o);

#endif
