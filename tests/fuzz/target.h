/* SPDX-License-Identifier: BSD-2-Clause */
/* What fuzz targets share: where output goes, and what is checked of notices. */
#ifndef TARGET_H
#define TARGET_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Output that is kept. */
struct bytes {
	unsigned char *data;
	size_t size, room;
};

static inline ptrdiff_t
keep_bytes(void *arg, const void *data, size_t size)
{
	struct bytes *b = arg;

	if (b->room - b->size < size) {
		b->room = 2 * (b->size + size);
		b->data = realloc(b->data, b->room);
		if (b->data == NULL)
			abort();
	}
	memcpy(b->data + b->size, data, size);
	b->size += size;
	return (ptrdiff_t)size;
}

/* Output that nobody wants; arg is a uint64_t. */
static inline ptrdiff_t
count_bytes(void *arg, const void *data, size_t size)
{
	uint64_t *count = arg;
	const unsigned char *p = data;

	/* read all of it, so that a checker of memory has a look at it */
	for (size_t i = 0; i < size; i++)
		*count += p[i];
	return (ptrdiff_t)size;
}

static inline void
take_notice(void *arg, tel_severity severity, const char *log, uint64_t offset,
    const char *text)
{
	(void)severity;
	(void)offset;
	if (arg != NULL)
		count_bytes(arg, log, strlen(log));
	for (const char *p = text; *p != '\0'; p++) {
		/* tel.h promises it */
		if (*p < ' ' || *p > '~')
			abort();
	}
}

/* Whether an EventInit is damage, which is written as it is. */
static inline int
is_damaged_init(const tel_event *ev)
{
	const tel_type *type = tel_event_type(ev);
	const int width = tel_type_find_field(type, "wordWidth");

	return strcmp(tel_type_name(type), "EventInit") == 0 && width >= 0 &&
	    tel_event_u64(ev, (unsigned)width) != 32 &&
	    tel_event_u64(ev, (unsigned)width) != 64;
}

/* A file that a log needs beside it, until the process ends. */
struct beside {
	char path[32];
	int fd; /* 0: there is none yet */
};

static struct beside beside = { "/tmp/fuzz.XXXXXX", 0 };

static inline void
beside_remove(void)
{
	(void)unlink(beside.path);
}

/* Puts size bytes at data in the file, and returns its name. */
static inline const char *
beside_write(const uint8_t *data, size_t size)
{
	if (beside.fd == 0) {
		beside.fd = mkstemp(beside.path);
		if (beside.fd <= 0 || atexit(beside_remove) != 0)
			abort();
	}
	if (pwrite(beside.fd, data, size, 0) != (ssize_t)size ||
	    ftruncate(beside.fd, (off_t)size) != 0)
		abort();
	return beside.path;
}

#endif
