/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text that is compared with a file of tests/data/telreplay, or GOLDEN.  With
 * TEST_GOLDEN=write the file is written anew: read the difference.
 */
#ifndef GOLDEN_H
#define GOLDEN_H

#include <stdlib.h>
#include "tap.h"

#ifndef GOLDEN
#define GOLDEN "tests/data/telreplay"
#endif
#define GOLDEN_MAX ((size_t)1 << 20)

/* Edits a line; 0: it does not count. */
typedef int golden_line(char *line);

/* The lines of a file that count; "" if there is none. */
static char *
golden_read(const char *path, golden_line *counts)
{
	char *text = calloc(1, GOLDEN_MAX), line[8192];
	FILE *f = fopen(path, "r");
	size_t used = 0;

	if (text == NULL)
		abort();
	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		if ((counts != NULL && !counts(line)) ||
		    used + strlen(line) >= GOLDEN_MAX)
			continue;
		(void)strcpy(text + used, line);
		used += strlen(line);
	}
	if (f != NULL)
		(void)fclose(f);
	return text;
}

/* A report, or other text of a file, is that of tests/data. */
static void
is_golden(const char *name, const char *path, golden_line *counts)
{
	char golden[128], command[400], *is = golden_read(path, counts), *want;
	const char *write = getenv("TEST_GOLDEN");
	FILE *f;

	(void)snprintf(golden, sizeof(golden), GOLDEN "/%s", name);
	if (write != NULL && strcmp(write, "write") == 0) {
		f = fopen(golden, "w");
		if (f == NULL || fputs(is, f) < 0 || fclose(f) != 0)
			abort();
	}
	want = golden_read(golden, counts);
	if (!ok(strcmp(is, want) == 0, "%s", golden)) {
		(void)snprintf(command, sizeof(command), "diff %s %s >&2",
		    golden, path);
		if (system(command) < 0)
			diag("no diff");
	}
	free(is);
	free(want);
}

#endif
