/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A few lines that print the Test Anything Protocol, which prove(1) counts.
 * Each unit test is one program; its main() ends with "return done();".
 */
#ifndef TAP_H
#define TAP_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int tap_count;  /* results printed */
static int tap_failed; /* of them not ok */

/* The step of a loop that takes one of n, or all with TEST_WHOLE. */
static inline unsigned
sample_step(unsigned n)
{
	return getenv("TEST_WHOLE") != NULL ? 1 : n;
}

/* Prints a comment, which tests/suite.sh shows after a failure. */
__attribute__((format(printf, 1, 2))) static inline void
diag(const char *format, ...)
{
	va_list ap;

	fflush(stdout);
	fputs("# ", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
}

__attribute__((format(printf, 2, 0))) static inline int
tap_result(int good, const char *format, va_list ap)
{
	tap_count++;
	if (!good)
		tap_failed++;
	printf("%sok %d - ", good ? "" : "not ", tap_count);
	vprintf(format, ap);
	putchar('\n');
	/* what is printed by now must be seen when the next line crashes */
	fflush(stdout);
	return good;
}

/* A result: good when condition is not zero.  Returns whether it was. */
__attribute__((format(printf, 2, 3))) static inline int
ok(int condition, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	tap_result(condition != 0, format, ap);
	va_end(ap);
	return condition != 0;
}

/* Good when the numbers are equal; shows both when they are not. */
__attribute__((format(printf, 3, 4))) static inline int
is_u64(uint64_t got, uint64_t want, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	tap_result(got == want, format, ap);
	va_end(ap);
	if (got != want) {
		diag("     got: %" PRIu64 " (0x%" PRIx64 ")", got, got);
		diag("expected: %" PRIu64 " (0x%" PRIx64 ")", want, want);
	}
	return got == want;
}

/* Good when the strings are equal; NULL equals NULL only. */
__attribute__((format(printf, 3, 4))) static inline int
is_str(const char *got, const char *want, const char *format, ...)
{
	va_list ap;
	int good;

	good =
	    got == NULL || want == NULL ? got == want : strcmp(got, want) == 0;
	va_start(ap, format);
	tap_result(good, format, ap);
	va_end(ap);
	if (!good) {
		diag("     got: %s", got == NULL ? "(NULL)" : got);
		diag("expected: %s", want == NULL ? "(NULL)" : want);
	}
	return good;
}

/* Prints the plan; returns the exit status of the program. */
static inline int
done(void)
{
	printf("1..%d\n", tap_count);
	if (tap_failed != 0)
		diag("%d of %d failed", tap_failed, tap_count);
	return fflush(stdout) != 0 || tap_failed != 0;
}

#endif
