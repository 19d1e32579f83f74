/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Readable text into HPM traces: tests/data/hpm/README.md says what the lines
 * are.  It knows the format by its own words, not by those of the reader.
 */
#ifndef HPM_MAKE_H
#define HPM_MAKE_H

#include "words.h"

#define MAKE_FILES 4

/* A set of files: the meta file is number 0, the traces follow. */
struct set {
	struct bytes file[MAKE_FILES];
	char name[MAKE_FILES][64];
	unsigned count; /* of the traces */
	unsigned version;
	unsigned counters;
	int little;
	int mids;
	unsigned cpu; /* of the trace that is made */
};

static inline void
put_text(struct bytes *b, const char *s, int little)
{
	put_number(b, strlen(s), 4, little);
	put(b, s, strlen(s));
}

/* "SLOT TID BUFFER SWITCH START END CALLER CALLEE COUNTERS..." */
static inline void
make_counter(struct set *s, struct bytes *b, char *line)
{
	uint64_t slot = number(&line), tid = number(&line);
	uint64_t one = number(&line) == 1, sw = number(&line);
	uint64_t start = number(&line), end = number(&line);
	uint64_t caller = number(&line), callee = number(&line), v = 0;
	unsigned i;

	if (s->version == 1) {
		put_number(b, 1, 4, 0);
		put_number(b, (one << 16) + s->cpu, 4, 0);
		put_number(b, tid, 4, 0);
		put_number(b, slot, 4, 0);
	} else {
		put_number(b,
		    (slot << 16) + (one << 15) + (sw << 14) + (s->cpu << 4) + 1,
		    4, s->little);
		put_number(b, tid, 4, s->little);
	}
	put_number(b, start, 8, s->little);
	put_number(b, end, 8, s->little);
	if (s->version > 1 && s->mids) {
		put_number(b, callee, 4, s->little);
		put_number(b, caller, 4, s->little);
	}
	/* what is left out counts on */
	for (i = 0; i < s->counters; i++) {
		v = *line != '\0' ? number(&line) : v + 1;
		put_number(b, v, 8, s->little);
	}
}

static inline void
make_meta(struct set *s, char *line)
{
	struct bytes *b = &s->file[0];

	s->version = (unsigned)number(&line);
	s->little = strcmp(word(&line, 0), "little") == 0;
	s->counters = (unsigned)number(&line);
	s->mids = 1;
	put_number(b, s->version, 4, 0);
	if (s->version == 3)
		put_number(b, (uint64_t)s->little, 4, 0);
	put_number(b, s->counters + (s->version == 3), 4, s->little);
	put_number(b, number(&line), 4, s->little);
}

static inline void
make_trace(struct set *s, char *line)
{
	struct bytes *b;

	if (++s->count == MAKE_FILES)
		abort();
	b = &s->file[s->count];
	s->cpu = (unsigned)number(&line);
	snprintf(s->name[s->count], sizeof(s->name[0]), "HPM.%u.startup",
	    s->cpu);
	put_number(b, s->version, 4, 0);
	put_text(b, word(&line, 1), 0);
}

static inline void
make_hex(struct bytes *b, char *line)
{
	unsigned v;

	for (; sscanf(line, "%2x", &v) == 1; line += 2 + (line[2] == ' '))
		put_number(b, v, 1, 0);
}

/* Whether the line, without its first word, makes a record of the meta file. */
static inline int
make_name(struct set *s, const char *what, char *line)
{
	static const char *const names[] = { "", "processor", "event", "thread",
		"method" };
	struct bytes *b = &s->file[0];
	int little = s->little;
	char name[1024];
	unsigned type;

	for (type = 1; strcmp(what, names[type]) != 0;)
		if (++type == 5)
			return 0;
	put_number(b, type, 4, little);
	if (type > 1)
		put_number(b, number(&line), 4, little);
	if (type == 2 || type == 3)
		put_number(b, number(&line), 4, little);
	if (type == 4) {
		put_text(b, word(&line, 0), little);
		put_text(b, word(&line, 0), little);
	}
	/* the names of events are filled up with blanks, to the same length */
	snprintf(name, sizeof(name), "%-*s", type == 2 ? 20 : 0,
	    word(&line, 1));
	put_text(b, name, little);
	return 1;
}

static inline void
make_line(void *log, char *line)
{
	struct set *s = log;
	static const char *const names[] = { "", "", "appstart", "appcomplete",
		"runstart", "runcomplete", "exit", "", "", "", "padding" };
	struct bytes *b = &s->file[s->count];
	char *what = word(&line, 0);
	uint64_t n;
	unsigned i;

	if (*what == '\0' || *what == '#' || make_name(s, what, line))
		return;
	for (i = 2; i < 11; i++)
		if (strcmp(what, names[i]) == 0)
			break;
	if (strcmp(what, "meta") == 0) {
		make_meta(s, line);
	} else if (strcmp(what, "nomids") == 0) {
		s->mids = 0;
	} else if (strcmp(what, "trace") == 0) {
		make_trace(s, line);
	} else if (strcmp(what, "cpu") == 0) {
		s->cpu = (unsigned)number(&line);
	} else if (strcmp(what, "counter") == 0) {
		make_counter(s, b, line);
	} else if (strcmp(what, "bytes") == 0) {
		make_hex(b, line);
	} else if (strcmp(what, "cut") == 0) {
		b->size -= (size_t)number(&line);
	} else if (i < 11) {
		put_number(b, i, 4, s->little);
		if (i == 4 || i == 5 || i == 6)
			put_number(b, number(&line), 4, s->little);
		if (i == 10) {
			n = number(&line);
			put_number(b, n, 4, s->little);
			while (n-- > 0)
				put(b, "", 1);
		} else if (i < 6) {
			put_text(b, word(&line, 1), s->little);
		}
	} else {
		fprintf(stderr, "what is a %s?\n", what);
		exit(2);
	}
}

/* Makes the set of files that a text of lines describes. */
static inline struct set
make_set(const char *text)
{
	struct set s = { .mids = 1 };

	snprintf(s.name[0], sizeof(s.name[0]), "HPM.headerFile");
	each_line(text, make_line, &s);
	return s;
}

static inline void
free_set(struct set *s)
{
	unsigned i;

	for (i = 0; i < MAKE_FILES; i++)
		free(s->file[i].data);
}

/* Writes the files into a folder that is there.  Returns 1, or 0. */
static inline int
write_set(const struct set *s, const char *folder)
{
	char path[512];
	FILE *f;
	unsigned i;
	int good = 1;

	for (i = 0; i <= s->count; i++) {
		/* a fixture without a meta file has none */
		if (s->file[i].size == 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, s->name[i]);
		f = fopen(path, "wb");
		if (f == NULL)
			return 0;
		good &= fwrite(s->file[i].data, 1, s->file[i].size, f) ==
		    s->file[i].size;
		good &= fclose(f) == 0;
	}
	return good;
}

#endif
