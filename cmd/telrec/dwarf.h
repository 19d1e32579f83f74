/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of instructions, by elfutils, which is loaded when it is needed. */
#ifndef TELREC_DWARF_H
#define TELREC_DWARF_H

#include <stddef.h>
#include <stdint.h>

/* A file that was mapped. */
struct dwarf;

/* Whether elfutils' library can be loaded. */
int dwarf_available(void);

/*
 * Opens a file with this build identifier in hexadecimal, or any if that is "".
 * NULL if there is no such file, or no library.
 */
struct dwarf *dwarf_new(const char *path, const char *build);
void dwarf_free(struct dwarf *d);

/*
 * Whether a return address is in what the file has, relative to where it was
 * mapped: code that was made while the program ran is behind any file.
 */
int dwarf_has(const struct dwarf *d, uint64_t address);

/*
 * Writes the name of the instruction before a return address, which is relative
 * to where the file was mapped: "FUNCTION at FILE:LINE", and if it is inlined
 * " <- " and the same of its caller.  Unknown parts are left out.
 * The number of bytes, less than room; 0: it has no name.
 */
size_t dwarf_name(struct dwarf *d, uint64_t address, char *text, size_t room);

#endif
