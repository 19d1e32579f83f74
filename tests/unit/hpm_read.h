/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of HPM traces share: reading one to its end. */
#ifndef HPM_READ_H
#define HPM_READ_H

#include <sys/stat.h>
#include <unistd.h>

#include "format/hpm/hpm.h"
#include "hpm_make.h"
#include "read_events.h"
#include "tap.h"

/* The text of a fixture. */
static inline char *
fixture(const char *name)
{
	const char *top = getenv("TEL_TOP");
	char path[512], *text;

	snprintf(path, sizeof(path), "%s/tests/data/hpm/%s",
	    top != NULL ? top : ".", name);
	text = read_text(path);
	if (text == NULL) {
		diag("%s: not there", path);
		exit(1);
	}
	return text;
}

/* "CLOCK TYPE FIELD=VALUE ...", strings without quotes. */
static inline void
dump(FILE *f, const tel_event *ev)
{
	fprintf(f, "%llu %s", (unsigned long long)tel_event_clock(ev),
	    tel_type_name(tel_event_type(ev)));
	dump_fields(f, ev, "");
}

static inline struct result
read_trace(const void *data, size_t size, struct how how)
{
	return read_events(data, size, how, dump);
}

/* A folder of its own with the files of a set, gone with remove_folder(). */
static inline char *
make_folder(const struct set *s)
{
	char *path = strdup("/tmp/tel-hpm.XXXXXX");

	if (path == NULL || mkdtemp(path) == NULL || !write_set(s, path))
		exit(1);
	return path;
}

static inline void
remove_folder(char *folder, const struct set *s)
{
	char path[512];
	unsigned i;

	for (i = 0; i <= s->count; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, s->name[i]);
		unlink(path);
	}
	rmdir(folder);
	free(folder);
}

/* Reads trace number i of what the text describes, with its meta file. */
static inline struct result
read_words(const char *text, unsigned i)
{
	struct set s = make_set(text);
	char *folder = make_folder(&s), path[512];
	struct how how = { .name = path };
	struct result res;

	snprintf(path, sizeof(path), "%s/%s", folder, s.name[i]);
	res = read_trace(s.file[i].data, s.file[i].size, how);
	remove_folder(folder, &s);
	free_set(&s);
	return res;
}

#endif
