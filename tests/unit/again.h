/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of texts share: a log as telcat prints it. */
#ifndef TEST_AGAIN_H
#define TEST_AGAIN_H

#include "lines.h"

static inline ptrdiff_t
put_bytes(void *arg, const void *data, size_t size)
{
	return (ptrdiff_t)fwrite(data, 1, size, arg);
}

/* Reads src to its end and prints it; what was counted into count. */
static inline char *
print_source(struct source src, tel_format format, uint64_t *count)
{
	tel_reader *r = tel_reader_new();
	tel_output *out;
	tel_printer *pr;
	const tel_event *ev;
	char *text;
	size_t n;
	int i;
	FILE *f = open_memstream(&text, &n);

	if (r == NULL || f == NULL || tel_reader_set_as(r, src.as) != TEL_OK)
		exit(1);
	out = tel_output_new_callback(put_bytes, f);
	pr = tel_printer_new(out, format);
	if (src.piece > 0 &&
	    tel_reader_set(r, TEL_READ_SIZE, (int64_t)src.piece) != TEL_OK)
		exit(1);
	if ((src.piece > 0 ? tel_reader_open_callback(r, give, &src, "x") :
	                     tel_reader_open_memory(r, src.text, src.size,
	                         "x")) == TEL_OK)
		while (tel_reader_next(r, &ev) == TEL_OK)
			if (tel_printer_event(pr, ev) != TEL_OK)
				exit(1);
	for (i = 0; i <= TEL_COUNT_LOGS && count != NULL; i++)
		count[i] = tel_reader_count(r, (tel_count)i);
	if (tel_printer_finish(pr) != TEL_OK || tel_output_flush(out) != TEL_OK)
		exit(1);
	tel_printer_free(pr);
	tel_output_free(out);
	tel_reader_free(r);
	fclose(f);
	return text;
}

static inline char *
print_again(const char *text)
{
	struct source src = { text, strlen(text), 0, 0, NULL, 0 };

	return print_source(src, TEL_FORMAT_TEXT, NULL);
}

/* Printing text gives want, or with NULL text itself, and that itself. */
static inline void
prints_as(const char *text, const char *want, const char *what)
{
	char *once = print_again(text), *twice = print_again(once);
	char name[200];

	same(once, want != NULL ? want : text, what);
	snprintf(name, sizeof(name), "%s: and again", what);
	same(twice, once, name);
	free(once);
	free(twice);
}

/* Whatever pieces src comes in, it prints as want. */
static inline void
pieces_print_as(struct source src, const char *want, const char *what)
{
	static const size_t pieces[] = { 1, 2, 7, 4096 };
	char name[200];
	char *got;
	size_t i;

	for (i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		src.piece = pieces[i];
		got = print_source(src, TEL_FORMAT_TEXT, NULL);
		snprintf(name, sizeof(name), "%s: %zu bytes at a time", what,
		    pieces[i]);
		same(got, want, name);
		free(got);
	}
}

#endif
