/* SPDX-License-Identifier: BSD-2-Clause */
/* How a tool ends: the exit status, the same in every tool. */
#ifndef COMMON_STATUS_H
#define COMMON_STATUS_H

enum status {
	STATUS_GOOD = 0,   /* all was read and written */
	STATUS_FAILED = 1, /* something failed: the output is incomplete */
	STATUS_USAGE = 2,  /* the command line makes no sense; nothing read */
	STATUS_DAMAGED = 3 /* finished, but damaged input was skipped */
};

/* The worse of two: good, damaged, failed, usage, in this order. */
static inline enum status
status_worse(enum status a, enum status b)
{
	static const unsigned char badness[] = { 0, 2, 3, 1 };

	return badness[a] >= badness[b] ? a : b;
}

#endif
