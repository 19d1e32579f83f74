/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: a stream in the native format.  A byte of the input chooses
 * how it is read; the rest is the stream, of which the checks are put right,
 * as nothing would get past them otherwise.  What is read is shown, counted,
 * and written in the native format again, which must hold the same.
 */
#include "format/tel/wire.h"
#include "target.h"

/* More than this tells nothing new about an input of a few kilobytes. */
#define MAX_EVENTS 20000

/* Puts the checks of the records right that follow each other. */
static void
seal(unsigned char *p, size_t size)
{
	size_t head, body;

	while (size >= NATIVE_HEADER && memcmp(p, NATIVE_MARKER, 4) == 0) {
		head = p[5];
		body = tel_le32(p + 6);
		if (head + body > size - NATIVE_HEADER)
			break;
		tel__native_seal(p, (enum native_kind)(p[4] & 127), p[4] >> 7,
		    head, body);
		p += NATIVE_HEADER + head + body;
		size -= NATIVE_HEADER + head + body;
	}
}

/* A number for what there is of an event. */
static uint64_t
digest(const tel_event *event)
{
	const tel_type *type = tel_event_type(event);
	uint64_t sum = tel_event_clock(event) + tel_type_code(type);
	const char *string;
	size_t n;

	for (unsigned i = 0; i < tel_type_field_count(type); i++) {
		sum = sum * 31 + tel_event_u64(event, i);
		string = tel_event_string(event, i, &n);
		if (string != NULL)
			sum = sum * 31 +
			    tel__native_check((const unsigned char *)string, n);
		(void)tel_event_label(event, i, &n);
	}
	tel_event_bytes(event, &n);
	return sum * 31 + n;
}

/* The events, as a number; printer and writer may be NULL. */
static uint64_t
read_all(tel_reader *r, tel_printer *printer, tel_writer *writer,
    uint64_t *events)
{
	const tel_event *event;
	uint64_t sum = 0;

	for (*events = 0; *events < MAX_EVENTS; ++*events) {
		if (tel_reader_next(r, &event) != TEL_OK)
			break;
		sum = sum * 33 + digest(event);
		if (printer != NULL &&
		    tel_printer_event(printer, event) == TEL_EIO)
			abort();
		if (writer != NULL && tel_writer_event(writer, event) != TEL_OK)
			abort();
	}
	return sum;
}

static tel_reader *
open_reader(const unsigned char *data, size_t size, unsigned options)
{
	static const size_t read_sizes[4] = { 262144, 1, 7, 4096 };
	tel_reader *r = tel_reader_new();

	if (r == NULL ||
	    tel_reader_set(r, TEL_READ_SIZE,
	        (int64_t)read_sizes[options & 3]) != TEL_OK ||
	    tel_reader_set_as(r, "tel") != TEL_OK ||
	    tel_reader_set(r, TEL_READ_STRICT, options >> 2 & 1) != TEL_OK ||
	    tel_reader_set(r, TEL_READ_FORCE, options >> 3 & 1) != TEL_OK ||
	    tel_reader_set(r, TEL_READ_MAX_LABELS, options & 16 ? 2 : 1000) !=
	        TEL_OK ||
	    tel_reader_set_notify(r, take_notice, NULL) != TEL_OK)
		abort();
	if (tel_reader_open_memory(r, data, size, NULL) == TEL_OK)
		return r;
	tel_reader_free(r);
	return NULL;
}

/* Writes what is read in the native format, and reads that. */
static void
copy(tel_reader *r, tel_printer *printer)
{
	struct bytes again = { NULL, 0, 0 };
	tel_output *out = tel_output_new_callback(keep_bytes, &again);
	tel_writer *writer = tel_writer_new(out);
	uint64_t events, others, sum;
	tel_reader *other;

	if (out == NULL || writer == NULL ||
	    tel_writer_set_target(writer, "tel") != TEL_OK ||
	    tel_writer_set(writer, TEL_WRITE_BARE, 1) != TEL_OK)
		abort();
	sum = read_all(r, printer, writer, &events);
	if (tel_writer_end_file(writer, r) != TEL_OK ||
	    tel_writer_finish(writer) != TEL_OK ||
	    tel_output_finish(out) != TEL_OK)
		abort();
	other = open_reader(again.data, again.size, 0);
	/* an EventInit that is garbage is damage there, too */
	if (other == NULL || read_all(other, NULL, NULL, &others) != sum ||
	    others != events ||
	    tel_reader_count(other, TEL_COUNT_DAMAGED) >
	        tel_reader_count(r, TEL_COUNT_DAMAGED))
		abort();
	tel_reader_free(other);
	tel_writer_free(writer);
	tel_output_free(out);
	free(again.data);
}

/* Counts the events: most of them are not built for it. */
static void
count_all(tel_reader *r)
{
	tel_stats *stats = tel_stats_new();
	const tel_event *event;
	unsigned n;

	if (stats == NULL || tel_stats_begin(stats, r) != TEL_OK)
		abort();
	tel_stats_attach(stats, r);
	for (n = 0; n < MAX_EVENTS; n++)
		if (tel_reader_next(r, &event) != TEL_OK ||
		    tel_stats_event(stats, event) != TEL_OK)
			break;
	if (tel_stats_end(stats, r) != TEL_OK)
		abort();
	tel_reader_free(r);
	tel_stats_free(stats);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const tel_format formats[2] = { TEL_FORMAT_TEXT,
		TEL_FORMAT_JSON };
	tel_printer *printer;
	tel_output *out;
	tel_reader *r;
	unsigned char *stream;
	uint64_t count = 0;

	if (size < 1)
		return 0;
	stream = malloc(size);
	out = tel_output_new_callback(count_bytes, &count);
	if (stream == NULL || out == NULL ||
	    (printer = tel_printer_new(out, formats[data[0] >> 5 & 1])) == NULL)
		abort();
	memcpy(stream, data + 1, size - 1);
	if ((data[0] & 128) == 0)
		seal(stream, size - 1);
	r = open_reader(stream, size - 1, data[0]);
	if (r != NULL)
		copy(r, printer);
	tel_reader_free(r);
	r = open_reader(stream, size - 1, data[0]);
	if (r != NULL)
		count_all(r);
	tel_printer_free(printer);
	tel_output_free(out);
	free(stream);
	return 0;
}
