/* SPDX-License-Identifier: BSD-2-Clause */
/* Symbols: the names of frames. */
#ifndef TELREC_SYMBOLS_H
#define TELREC_SYMBOLS_H

#include <stdint.h>

struct telrec_symbols;

/* NULL: out of memory. */
struct telrec_symbols *telrec_symbols_new(void);
void telrec_symbols_free(struct telrec_symbols *s);

/*
 * A module of a process from a clock of the log on: where its code starts, the
 * difference between its addresses in memory and in the file; the build identifier of the
 * program begins with '!', and starts another list.  0: out of memory.
 */
int telrec_symbols_module(struct telrec_symbols *s, uint32_t pid,
    uint64_t clock, uint64_t start, uint64_t bias, const char *path,
    const char *build);

/*
 * The name of an address in a process at a clock, which is kept as long as s;
 * "": there is none.  It opens the files that the process has mapped.
 */
const char *telrec_symbols_name(struct telrec_symbols *s, uint32_t pid,
    uint64_t clock, uint64_t address);

/* Reports once what names need, if it is missing. */
void telrec_symbols_check(const char *log);

/* The same, of a log that has its modules itself: a trace of heaptrack. */
void telrec_symbols_copy(const char *from, const char *to);

#endif
