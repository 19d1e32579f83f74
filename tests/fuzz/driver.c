/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a fuzz target over files, without a fuzzer: each file as it is, and a
 * small one also cut at many lengths and with many of its bytes changed.
 * Folders among the arguments stand for all that is in them.  After "-p N",
 * N zero bytes are put before each file: for targets that take options from
 * there, to run on files that have none.
 */
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

#include "tap.h"

/* Of larger files no variants are made. */
#define SMALL ((size_t)3000)
/* Cuts, and changes, of one file at most: all of them, and a sample. */
#define MAX_VARIANTS ((size_t)300)
#define SAMPLED_VARIANTS ((size_t)30)
/* No test file is as large: what is, was grown by mistake. */
#define LARGE ((size_t)16 << 20)

static size_t prefix; /* of -p */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Each variant is a copy of its exact size, so that a checker of memory sees
 * a read past the end. */
static void
run_copy(const uint8_t *data, size_t size, size_t at, uint8_t mask)
{
	uint8_t *copy;

	copy = malloc(size == 0 ? 1 : size);
	if (copy == NULL)
		abort();
	if (size != 0)
		memcpy(copy, data, size);
	if (at < size)
		copy[at] ^= mask;
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

static void
run_variants(const uint8_t *data, size_t size, const char *name)
{
	static const uint8_t masks[] = { 0x01, 0x80, 0xff };
	size_t i, step, most = SAMPLED_VARIANTS;

	if (getenv("TEST_WHOLE") != NULL)
		most = MAX_VARIANTS;
	/* odd, so that it falls on each place of a word in turn */
	step = size / most | 1;
	for (i = 0; i < size; i += step)
		run_copy(data, i, i, 0);
	ok(1, "%s: cut", name);
	/* other places than those of the cuts */
	for (i = step / 2; i < size; i += step)
		run_copy(data, size, i, masks[i / step % 3]);
	ok(1, "%s: bytes changed", name);
}

static void
run_file(const char *name)
{
	FILE *file;
	uint8_t *data;
	size_t size;

	data = calloc(1, prefix + LARGE);
	file = fopen(name, "rb");
	if (data == NULL || file == NULL) {
		ok(0, "%s: %s", name, strerror(errno));
	} else {
		size = fread(data + prefix, 1, LARGE, file);
		if (ok(size < LARGE && !ferror(file), "%s: read", name)) {
			size += prefix;
			run_copy(data, size, size, 0);
			ok(1, "%s: as it is", name);
			if (size <= SMALL)
				run_variants(data, size, name);
		}
	}
	if (file != NULL)
		fclose(file);
	free(data);
}

static void run(const char *name);

static void
run_folder(const char *name)
{
	char path[1024];
	struct dirent *entry;
	DIR *dir;
	int length;

	dir = opendir(name);
	if (dir == NULL) {
		ok(0, "%s: %s", name, strerror(errno));
		return;
	}
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		length =
		    snprintf(path, sizeof(path), "%s/%s", name, entry->d_name);
		if (length < 0 || (size_t)length >= sizeof(path))
			ok(0, "%s: path too long", name);
		else
			run(path);
	}
	closedir(dir);
}

static void
run(const char *name)
{
	struct stat st;

	if (stat(name, &st) == 0 && S_ISDIR(st.st_mode))
		run_folder(name);
	else
		run_file(name);
}

int
main(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		if (strcmp(argv[i], "-p") == 0 && i + 1 < argc)
			prefix = strtoul(argv[++i], NULL, 10);
		else
			run(argv[i]);
	}
	run_copy(NULL, 0, 0, 0);
	ok(1, "no input");
	return done();
}
