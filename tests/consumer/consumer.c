/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program as a user of libtel would write it, compiled as C and as C++
 * against an installed libtel: it reads a log through a callback, counts its
 * events by type, prints them as text to a callback, and reads the text back.
 *
 *	consumer LOG
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tel.h>

/* What the text goes to. */
struct buffer {
	char *data;
	size_t size;
};

static void
fail(const char *what, const char *why)
{
	fprintf(stderr, "consumer: %s: %s\n", what, why);
	exit(1);
}

static ptrdiff_t
read_file(void *arg, void *buffer, size_t size)
{
	FILE *file = (FILE *)arg;
	size_t n;

	n = fread(buffer, 1, size, file);
	return n == 0 && ferror(file) ? -1 : (ptrdiff_t)n;
}

static ptrdiff_t
write_buffer(void *arg, const void *data, size_t size)
{
	struct buffer *b = (struct buffer *)arg;
	char *grown;

	grown = (char *)realloc(b->data, b->size + size);
	if (grown == NULL) {
		errno = ENOMEM;
		return -1;
	}
	memcpy(grown + b->size, data, size);
	b->data = grown;
	b->size += size;
	return (ptrdiff_t)size;
}

static void
show_notice(void *arg, tel_severity severity, const char *log, uint64_t offset,
    const char *text)
{
	(void)arg;
	fprintf(stderr, "consumer: %s: offset %llu: %s (%d)\n", log,
	    (unsigned long long)offset, text, (int)severity);
}

static tel_reader *
new_reader(void)
{
	tel_reader *r;

	r = tel_reader_new();
	if (r == NULL)
		fail("tel_reader_new", "no memory");
	if (tel_reader_set_notify(r, show_notice, NULL) != TEL_OK)
		fail("tel_reader_set_notify", "refused");
	return r;
}

/* Adds up all that can be asked of an event, so that all of it is called. */
static uint64_t
look_at(const tel_event *event)
{
	const tel_type *type = tel_event_type(event);
	uint64_t sum = tel_event_clock(event) + tel_event_index(event);
	unsigned i, count = tel_type_field_count(type);
	size_t size;

	for (i = 0; i < count; i++) {
		const tel_field *field = tel_type_field(type, i);

		switch (tel_field_datatype(field)) {
		case TEL_STRING:
			if (tel_event_string(event, i, &size) == NULL)
				fail(tel_field_name(field), "no string");
			sum += size;
			break;
		case TEL_DOUBLE: sum += tel_event_double(event, i) > 0; break;
		default:
			if (tel_event_label(event, i, &size) != NULL)
				sum += size;
			sum += tel_event_u64(event, i);
		}
	}
	if (tel_event_bytes(event, &size) == NULL || size == 0)
		fail(tel_type_name(type), "no bytes");
	return sum;
}

/* Reads to the end and prints to out, unless that is NULL. */
static uint64_t
read_all(tel_reader *r, tel_output *out, uint64_t *sum)
{
	tel_printer *printer = NULL;
	const tel_event *event;
	tel_status st;
	uint64_t events = 0;

	if (out != NULL) {
		printer = tel_printer_new(out, TEL_FORMAT_TEXT);
		if (printer == NULL)
			fail("tel_printer_new", "no memory");
	}
	*sum = 0;
	while ((st = tel_reader_next(r, &event)) == TEL_OK || st == TEL_LOG) {
		if (st == TEL_LOG)
			continue;
		events++;
		*sum += look_at(event);
		if (printer != NULL &&
		    tel_printer_event(printer, event) != TEL_OK)
			fail("tel_printer_event", tel_printer_error(printer));
	}
	if (st != TEL_END)
		fail(tel_status_text(st), tel_reader_error(r));
	if (events != tel_reader_count(r, TEL_COUNT_EVENTS))
		fail("tel_reader_count", "another number of events");
	if (printer != NULL && tel_printer_finish(printer) != TEL_OK)
		fail("tel_printer_finish", "failed");
	tel_printer_free(printer);
	return events;
}

static void
look_at_schema(const char *name)
{
	tel_schema *schema;
	const tel_type *type;

	if (tel_schema_new(name, &schema) != TEL_OK)
		fail(name, "no such schema");
	if (strcmp(tel_schema_name(schema), name) != 0)
		fail(name, tel_schema_name(schema));
	type = tel_schema_find_type(schema, "EventInit");
	if (type == NULL || tel_type_find_field(type, "major") != 0 ||
	    tel_type_unknown(type))
		fail(name, "EventInit is not as it should be");
	if (tel_schema_type(schema, tel_schema_type_count(schema)) != NULL)
		fail(name, "more types than it says");
	tel_schema_free(schema);
}

int
main(int argc, char **argv)
{
	struct buffer text = { NULL, 0 };
	tel_output *out;
	tel_reader *r;
	FILE *file;
	char name[64];
	uint64_t events, again, sum, sum_again;

	if (argc != 2 || strcmp(tel_version(), TEL_VERSION) != 0)
		fail("usage", "consumer LOG");
	file = fopen(argv[1], "rb");
	if (file == NULL)
		fail(argv[1], strerror(errno));

	r = new_reader();
	if (tel_reader_open_callback(r, read_file, file, argv[1]) != TEL_OK)
		fail(argv[1], tel_reader_error(r));
	out = tel_output_new_callback(write_buffer, &text);
	if (out == NULL)
		fail("tel_output_new_callback", "no memory");
	events = read_all(r, out, &sum);
	if (tel_output_flush(out) != TEL_OK)
		fail("tel_output_flush", strerror(tel_output_errno(out)));
	if (tel_output_bytes(out) != text.size)
		fail("tel_output_bytes", "another number of bytes");
	tel_output_free(out);
	snprintf(name, sizeof(name), "%s",
	    tel_schema_name(tel_reader_schema(r)));
	look_at_schema(name);
	tel_reader_free(r);
	fclose(file);

	r = new_reader();
	if (tel_reader_open_memory(r, text.data, text.size, "text") != TEL_OK)
		fail("text", tel_reader_error(r));
	again = read_all(r, NULL, &sum_again);
	if (again != events || sum_again != sum)
		fail("text", "it does not read back as the same events");
	tel_reader_free(r);
	free(text.data);

	printf("%s: %llu events\n", name, (unsigned long long)events);
	return fflush(stdout) != 0;
}
