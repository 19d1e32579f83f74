/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of packed input share: a scratch folder, tools, files. */
#ifndef PACKED_H
#define PACKED_H

#include <errno.h>
#include <fcntl.h>

#include "inputs.h"

#define SIZE ((size_t)150001)

static char folder[] = "/tmp/tel-test.XXXXXX";

static inline void
make_folder(void)
{
	if (mkdtemp(folder) == NULL)
		abort();
}

/* Runs a shell command in the folder; 0 when it did what was asked. */
__attribute__((format(printf, 1, 2))) static inline int
shell(const char *format, ...)
{
	char command[1024], all[1200];
	va_list ap;

	va_start(ap, format);
	vsnprintf(command, sizeof(command), format, ap);
	va_end(ap);
	snprintf(all, sizeof(all),
	    "cd %s && { %s; } </dev/null >/dev/null 2>&1", folder, command);
	return system(all);
}

/* Nonzero when the tool is there; else a result says that it is not. */
static inline int
have(const char *tool, const char *what)
{
	if (shell("command -v %s", tool) == 0)
		return 1;
	ok(1, "%s # SKIP no %s here", what, tool);
	return 0;
}

static inline unsigned char *
load(const char *name, size_t *size)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return read_file(path, size);
}

static inline void
store(const char *name, const void *data, size_t size)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	write_file(path, data, size);
}

static inline struct tel_input *
unpack(struct tel_input *raw)
{
	struct tel_input *in;

	if (tel__input_unpack(raw, &in) != TEL_OK)
		abort();
	return in;
}

static inline struct tel_input *
open_memory(const void *data, size_t size, size_t read_size)
{
	struct tel_input *raw;

	if (tel__input_memory(data, size, read_size, &raw) != TEL_OK)
		abort();
	return unpack(raw);
}

/* name as a file, or, when pipe is given, through one. */
static inline struct tel_input *
open_name(const char *name, FILE **pipe)
{
	struct tel_input *raw;
	char text[300];
	int fd;

	snprintf(text, sizeof(text), pipe != NULL ? "cat %s/%s" : "%s/%s",
	    folder, name);
	if (pipe != NULL) {
		*pipe = popen(text, "r");
		fd = *pipe != NULL ? fileno(*pipe) : -1;
	} else {
		fd = open(text, O_RDONLY);
	}
	if (fd < 0 ||
	    tel__input_fd(fd, pipe == NULL, TEL_PEEK_MAX, &raw) != TEL_OK)
		abort();
	return unpack(raw);
}

/* One of the ways to open what is called name; NULL past the last one. */
static inline struct tel_input *
open_way(const char *name, unsigned way, const char **what, FILE **pipe,
    unsigned char **data)
{
	static const size_t read_sizes[] = { 1, 2, 7, 4096, TEL_PEEK_MAX };
	static const char *const whats[] = { "file", "pipe", "memory by 1",
		"memory by 2", "memory by 7", "memory by 4096", "memory" };
	size_t size;

	if (way >= sizeof(whats) / sizeof(whats[0]))
		return NULL;
	*what = whats[way];
	if (way == 0)
		return open_name(name, NULL);
	if (way == 1)
		return open_name(name, pipe);
	*data = load(name, &size);
	if (*data == NULL)
		abort();
	return open_memory(*data, size, read_sizes[way - 2]);
}

static inline void
close_way(struct tel_input *in, FILE **pipe, unsigned char **data)
{
	tel__input_free(in);
	if (*pipe != NULL)
		pclose(*pipe);
	*pipe = NULL;
	free(*data);
	*data = NULL;
}

/* How reading on to the end ends, whatever the bytes. */
static inline tel_status
drain(struct tel_input *in)
{
	const unsigned char *data;
	size_t avail;
	tel_status st;

	do {
		st = tel__input_peek(in, 1, &data, &avail);
		tel__input_consume(in, avail);
	} while (avail > 0);
	return st;
}

#endif
