/* SPDX-License-Identifier: BSD-2-Clause */
/* Properties of the terminal behind a descriptor. */
#ifndef COMMON_TERMINAL_H
#define COMMON_TERMINAL_H

/* Its columns; 0 where it is not a terminal, or does not say. */
unsigned terminal_columns(int fd);

#endif
