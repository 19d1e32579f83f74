/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Real logs, printed as text and read back: the events are those of the log,
 * whatever was done to the lines.
 */
#include <dirent.h>

#include "lines.h"

static ptrdiff_t
keep(void *arg, const void *data, size_t size)
{
	return fwrite(data, 1, size, arg) == size ? (ptrdiff_t)size : -1;
}

/* Adds an event's number on the wire and its size to what dump() shows. */
static void
dump_all(FILE *f, const tel_event *ev)
{
	size_t size;

	(void)tel_event_bytes(ev, &size);
	fprintf(f, "%u %zu ", tel_type_code(tel_event_type(ev)), size);
	dump(f, ev);
}

/*
 * Prints the events of path, or those of the size bytes at data when path is
 * NULL, to text as format and to values.  Returns the schema's name; all
 * three are for free().
 */
static char *
convert(const char *path, const char *data, size_t size, tel_format format,
    char **text, char **values)
{
	tel_reader *r = tel_reader_new();
	const tel_event *ev;
	size_t n[2];
	FILE *f = open_memstream(text, &n[0]);
	FILE *v = open_memstream(values, &n[1]);
	tel_output *out = tel_output_new_callback(keep, f);
	tel_printer *p = tel_printer_new(out, format);
	tel_status st;
	char *name;

	if (r == NULL || out == NULL || p == NULL)
		exit(1);
	st = path != NULL ? tel_reader_open_file(r, path) :
	                    tel_reader_open_memory(r, data, size, NULL);
	if (st == TEL_OK)
		while ((st = tel_reader_next(r, &ev)) == TEL_OK) {
			if (tel_printer_event(p, ev) != TEL_OK)
				exit(1);
			dump_all(v, ev);
		}
	ok(st == TEL_END && tel_reader_count(r, TEL_COUNT_DAMAGED) == 0,
	    "%s is read without damage", path != NULL ? path : "the text");
	if (tel_printer_finish(p) != TEL_OK || tel_output_flush(out) != TEL_OK)
		exit(1);
	name = strdup(tel_schema_name(tel_reader_schema(r)));
	tel_printer_free(p);
	tel_output_free(out);
	tel_reader_free(r);
	fclose(f);
	fclose(v);
	return name;
}

/* Takes the lines that begin with '#' out of text. */
static void
strip(char *text)
{
	char *to = text, *from = text;
	size_t n;

	while (*from != '\0') {
		n = strcspn(from, "\n");
		n += from[n] == '\n';
		if (*from != '#') {
			memmove(to, from, n);
			to += n;
		}
		from += n;
	}
	*to = '\0';
}

static void
check_log(const char *path)
{
	char *text, *values, *again, *back, *schema, *name;
	char what[64];
	int i;
	static const struct {
		const char *name;
		tel_format format;
		int strip;
	} forms[] = {
		{ "text", TEL_FORMAT_TEXT, 0 },
		{ "text without its header", TEL_FORMAT_TEXT, 1 },
		{ "cnv", TEL_FORMAT_MPSCNV, 0 },
	};

	for (i = 0; i < 3; i++) {
		schema =
		    convert(path, NULL, 0, forms[i].format, &text, &values);
		if (forms[i].strip)
			strip(text);
		name = convert(NULL, text, strlen(text), forms[i].format,
		    &again, &back);
		snprintf(what, sizeof(what), "the same from %s", forms[i].name);
		if (forms[i].format == TEL_FORMAT_TEXT)
			same(back, values, what);
		is_str(name, schema, "the same schema from %s", forms[i].name);
		if (forms[i].strip)
			strip(again);
		/* a double loses digits in cnv, but prints as it did */
		same(again, text, "and prints as it did");
		free(text);
		free(values);
		free(again);
		free(back);
		free(schema);
		free(name);
	}
}

int
main(void)
{
	const char *top = getenv("TEL_TOP");
	struct dirent *entry;
	char path[4096];
	size_t n;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/tests/data/mps",
	    top != NULL ? top : ".");
	dir = opendir(path);
	if (!ok(dir != NULL, "there is a folder of logs"))
		return done();
	n = strlen(path);
	while ((entry = readdir(dir)) != NULL) {
		if (strstr(entry->d_name, ".log.zst") == NULL)
			continue;
		snprintf(path + n, sizeof(path) - n, "/%s", entry->d_name);
		check_log(path);
	}
	closedir(dir);
	return done();
}
