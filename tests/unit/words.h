/* SPDX-License-Identifier: BSD-2-Clause */
/* What the makers of logs share: lines of words into bytes. */
#ifndef WORDS_H
#define WORDS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bytes {
	unsigned char *data;
	size_t size;
	size_t room;
	size_t last; /* where the last record begins, for makers that need it */
};

static inline void
put(struct bytes *b, const void *data, size_t n)
{
	if (b->room - b->size < n) {
		b->room = 2 * (b->size + n);
		b->data = realloc(b->data, b->room);
		if (b->data == NULL)
			abort();
	}
	if (n > 0)
		memcpy(b->data + b->size, data, n);
	b->size += n;
}

/* An integer of width bytes, the least significant one first if little. */
static inline void
put_number(struct bytes *b, uint64_t v, unsigned width, int little)
{
	unsigned char c;
	unsigned i;

	for (i = 0; i < width; i++) {
		c = (unsigned char)(v >> 8 * (little ? i : width - 1 - i));
		put(b, &c, 1);
	}
}

/* The next word of the line; the rest of it where all is nonzero. */
static inline char *
word(char **line, int all)
{
	char *s = *line + strspn(*line, " "), *end;

	end = s + (all ? strlen(s) : strcspn(s, " "));
	*line = *end == '\0' ? end : end + 1;
	*end = '\0';
	return s;
}

/* A number; with a minus or 0x in front too.  0 where there is none. */
static inline uint64_t
number(char **line)
{
	char *s = word(line, 0);

	return *s == '-' ? 0 - strtoull(s + 1, NULL, 0) : strtoull(s, NULL, 0);
}

/* Calls take(log, line) for each line of a text. */
static inline void
each_line(const char *text, void (*take)(void *log, char *line), void *log)
{
	char line[1024];
	size_t n;

	for (; *text != '\0'; text += n + (text[n] == '\n')) {
		n = strcspn(text, "\n");
		if (n >= sizeof(line))
			abort();
		memcpy(line, text, n);
		line[n] = '\0';
		take(log, line);
	}
}

/* The text of a file; NULL when it cannot be read. */
static inline char *
read_text(const char *path)
{
	char *text = calloc(1, 1 << 20);
	FILE *f = fopen(path, "r");

	if (text == NULL || f == NULL ||
	    fread(text, 1, (1 << 20) - 1, f) == 0) {
		free(text);
		text = NULL;
	}
	if (f != NULL)
		fclose(f);
	return text;
}

#endif
