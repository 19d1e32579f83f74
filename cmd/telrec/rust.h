/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TELTOOLS_TELREC_RUST_H
#define TELTOOLS_TELREC_RUST_H

#include <stddef.h>

/*
 * Writes the path that a symbol of Rust stands for, without hashes, in both of
 * its manglings; of a long one, the start.  The number of bytes, less than room;
 * 0: it is no such symbol, or it is invalid.
 */
size_t rust_demangle(const char *symbol, char *text, size_t room);

#endif
