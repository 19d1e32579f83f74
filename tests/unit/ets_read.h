/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of ETS logs share: reading one to its end. */
#ifndef ETS_READ_H
#define ETS_READ_H

#include <unistd.h>

#include "ets_make.h"
#include "format/ets/ets.h"
#include "read_events.h"
#include "tap.h"

/* The path of a file in tests/data/ets; good until the next call. */
static inline const char *
data_path(const char *name)
{
	static char path[512];
	const char *top = getenv("TEL_TOP");

	snprintf(path, sizeof(path), "%s/tests/data/ets/%s",
	    top != NULL ? top : ".", name);
	return path;
}

/* The log that a fixture describes. */
static inline struct bytes
fixture(const char *name)
{
	char *text = read_text(data_path(name));
	struct bytes b;

	if (text == NULL) {
		diag("%s: not there", name);
		exit(1);
	}
	b = make_log(text);
	free(text);
	return b;
}

/* "CLOCK KIND/TYPE FIELD=VALUE ...", strings in quotes. */
static inline void
dump(FILE *f, const tel_event *ev)
{
	const tel_type *t = tel_event_type(ev);

	fprintf(f, "%llu %s/%s", (unsigned long long)tel_event_clock(ev),
	    tel_type_kind(t), tel_type_name(t));
	dump_fields(f, ev, "'");
}

static inline struct result
read_log(const void *data, size_t size, struct how how)
{
	return read_events(data, size, how, dump);
}

/* Reads what the words describe. */
static inline struct result
read_words(const char *text, struct how how)
{
	struct bytes b = make_log(text);
	struct result res = read_log(b.data, b.size, how);

	free(b.data);
	return res;
}

/* A file with this text, gone with remove_file(). */
static inline char *
make_file(const char *text)
{
	char *path = strdup("/tmp/tel-ets.XXXXXX");
	int fd = path == NULL ? -1 : mkstemp(path);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) ||
	    close(fd) != 0)
		exit(1);
	return path;
}

static inline void
remove_file(char *path)
{
	unlink(path);
	free(path);
}

#endif
