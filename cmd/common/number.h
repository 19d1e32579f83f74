/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers on the command line: one strict reading of them for all tools. */
#ifndef COMMON_NUMBER_H
#define COMMON_NUMBER_H

#include <stdint.h>

/*
 * Reads a whole number: decimal, or hexadecimal after 0x, and k, M, G or T
 * behind it for 1024, 1024^2 and so on.
 * Returns 1, or 0 when text is anything else or does not fit 64 bits.
 */
int number_parse(const char *text, uint64_t *out);

/*
 * Reads the argument of an option that must be a number from min to max.
 * option: "-n"; what: "number of events", for the message.
 * Returns 1, or 0 when a message has been printed.
 */
int number_option(const char *option, const char *what, const char *text,
    uint64_t min, uint64_t max, uint64_t *out);

/*
 * Reads a length of time: decimal digits, with a point among them or not,
 * and ns, us, ms, s, m or h behind them; a minus sign before makes it
 * negative.  out: set to nanoseconds.  Returns 1, or 0 as number_parse().
 */
int number_time(const char *text, int64_t *out);

/*
 * Reads a percentage from 0 to 100, "12.5%".  out: set to it in units of
 * one part in 10^9.  Returns 1, or 0 as number_parse().
 */
int number_percent(const char *text, uint64_t *out);

#endif
