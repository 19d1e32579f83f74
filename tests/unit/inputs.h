/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of inputs share: bytes to read, files, and reading all. */
#ifndef INPUTS_H
#define INPUTS_H

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/input.h"
#include "tap.h"

/* Makes size bytes that compress about as a log does, different for seeds. */
static inline unsigned char *
make_bytes(size_t size, uint32_t seed)
{
	unsigned char *bytes = malloc(size > 0 ? size : 1);
	uint32_t x = seed * 2654435761u + 1;
	size_t i;

	if (bytes == NULL)
		abort();
	for (i = 0; i < size; i++) {
		x = x * 1664525u + 1013904223u;
		bytes[i] = (unsigned char)(i % 3 == 0 ? x >> 24 : i >> 8);
	}
	return bytes;
}

static inline void
write_file(const char *path, const void *data, size_t size)
{
	FILE *f = fopen(path, "wb");

	if (f == NULL || fwrite(data, 1, size, f) != size || fclose(f) != 0)
		abort();
}

/* All of a file; NULL when there is none. */
static inline unsigned char *
read_file(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	unsigned char *data = NULL;
	size_t n, most = 0;

	*size = 0;
	if (f == NULL)
		return NULL;
	do {
		if (*size == most) {
			most = most * 2 + 65536;
			data = realloc(data, most);
			if (data == NULL)
				abort();
		}
		n = fread(data + *size, 1, most - *size, f);
		*size += n;
	} while (n > 0);
	fclose(f);
	return data;
}

/* What reading an input to its end came to. */
struct all {
	tel_status status;
	size_t good; /* bytes that were as expected, up to the first not */
	int wrong;   /* one was not, or a count was not right */
};

/*
 * Reads in to its end in pieces of many sizes, by windows of up to most
 * bytes, and compares what comes with want.
 */
static inline struct all
read_all(struct tel_input *in, const unsigned char *want, size_t size,
    size_t most)
{
	struct all all = { TEL_OK, 0, 0 };
	const unsigned char *data;
	size_t avail, min, n;
	uint32_t x = 1;

	for (;;) {
		x = x * 1664525u + 1013904223u;
		min = 1 + (x >> 8) % most;
		all.status = tel__input_peek(in, min, &data, &avail);
		if (avail > size - all.good ||
		    memcmp(data, want + all.good, avail) != 0 ||
		    (all.status == TEL_OK && avail < min &&
		        avail != size - all.good)) {
			all.wrong = 1;
			return all;
		}
		n = avail;
		/* leave some, so that it has to be kept */
		if (avail >= min && min > 1)
			n = min - 1 - x % min / 2;
		if (n > avail)
			n = avail;
		tel__input_consume(in, n);
		all.good += n;
		if (tel__input_offset(in) != all.good)
			all.wrong = 1;
		if (avail < min && n == avail)
			break;
	}
	/* the end stays the end, and a failure a failure */
	if (tel__input_peek(in, 1, &data, &avail) != all.status || avail != 0)
		all.wrong = 1;
	return all;
}

/* Checks all files of a folder and those in it.  How many there are. */
static inline unsigned
each_file(const char *folder, void (*check)(const char *path))
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	char path[1024];
	struct stat info;
	unsigned count = 0;

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.' ||
		    snprintf(path, sizeof(path), "%s/%s", folder,
		        entry->d_name) >= (int)sizeof(path) ||
		    stat(path, &info) != 0)
			continue;
		if (S_ISDIR(info.st_mode)) {
			count += each_file(path, check);
		} else {
			check(path);
			count++;
		}
	}
	if (dir != NULL)
		closedir(dir);
	return count;
}

#endif
