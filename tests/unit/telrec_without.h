/* SPDX-License-Identifier: BSD-2-Clause */
/* For tests of parts of telrec: a libtel-emit and names that are none. */
#ifndef TELREC_WITHOUT_H
#define TELREC_WITHOUT_H

#include "tel_emit.h"
#include "telrec/symbols.h"

int
tel_emit_open(const tel_emit_options *options, const tel_emit_list *list)
{
	(void)options;
	(void)list;
	return 0;
}

int
telrec_symbols_module(struct telrec_symbols *s, uint32_t pid, uint64_t clock,
    uint64_t start, uint64_t bias, const char *path, const char *build)
{
	(void)s;
	(void)pid;
	(void)clock;
	(void)start;
	(void)bias;
	(void)path;
	(void)build;
	return 0;
}

const char *
telrec_symbols_name(struct telrec_symbols *s, uint32_t pid, uint64_t clock,
    uint64_t address)
{
	(void)s;
	(void)pid;
	(void)clock;
	(void)address;
	return "";
}

#endif
