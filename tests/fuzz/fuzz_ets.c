/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: an ETS log with a description.  A byte of the input chooses
 * how the log is read, two say how long the description is, which comes next;
 * the rest is the log.
 */
#include "target.h"

/* More than this tells nothing new about an input of a few kilobytes. */
#define MAX_EVENTS 5000

static const size_t read_sizes[4] = { 262144, 1, 7, 4096 };

/* Every byte is of an event, or was skipped. */
static void
check_counts(const tel_reader *r, uint64_t events, size_t size, int whole)
{
	uint64_t bytes = tel_reader_count(r, TEL_COUNT_BYTES) +
	    tel_reader_count(r, TEL_COUNT_SKIPPED);

	if (tel_reader_count(r, TEL_COUNT_EVENTS) != events || bytes > size ||
	    (whole && bytes != size))
		abort();
}

/* Whether it is unpacked, so that the log has other bytes than the input. */
static int
is_packed(const uint8_t *data, size_t size)
{
	static const char magics[][4] = { "\x1f\x8b", "BZh", "\xfd\x37z",
		"\x04\"M", "\x28\xb5\x2f" };
	size_t i;

	/* and what zstd and lz4 skip */
	if (size >= 4 && memcmp(data + 1, "\x2a\x4d\x18", 3) == 0)
		return 1;
	for (i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
		if (size >= 3 &&
		    memcmp(data, magics[i], strlen(magics[i])) == 0)
			return 1;
	return 0;
}

static void
read_all(tel_reader *r, tel_printer *printer, tel_writer *writer, size_t size,
    int ets)
{
	const tel_event *event;
	uint64_t events = 0, offset = 0;
	tel_status st = TEL_OK;

	while (events < MAX_EVENTS &&
	    (st = tel_reader_next(r, &event)) == TEL_OK) {
		if (tel_event_index(event) != events++ ||
		    tel_event_offset(event) < offset)
			abort();
		offset = tel_event_offset(event);
		if (tel_printer_event(printer, event) != TEL_OK ||
		    (ets && tel_writer_event(writer, event) != TEL_OK))
			abort();
	}
	check_counts(r, events, size, ets && st == TEL_END && size != SIZE_MAX);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const tel_format formats[4] = { TEL_FORMAT_TEXT,
		TEL_FORMAT_TRACERPT, TEL_FORMAT_CSV, TEL_FORMAT_SQL };
	tel_printer *printer;
	tel_writer *writer;
	tel_output *out, *copy;
	tel_reader *r;
	const char *path;
	unsigned options;
	uint64_t count = 0;
	size_t tmf;

	if (size < 3)
		return 0;
	options = data[0];
	tmf = (size_t)data[1] << 8 | data[2];
	data += 3;
	size -= 3;
	if (tmf > size)
		tmf = size;
	r = tel_reader_new();
	out = tel_output_new_callback(count_bytes, &count);
	copy = tel_output_new_callback(count_bytes, &count);
	if (r == NULL || out == NULL || copy == NULL ||
	    (printer = tel_printer_new(out, formats[options >> 2 & 3])) ==
	        NULL ||
	    (writer = tel_writer_new(copy)) == NULL)
		abort();
	if (tmf > 0) {
		path = beside_write(data, tmf);
		if ((options & 64 ?
		            tel_reader_add_file(r, TEL_FILE_MESSAGES, path) :
		            tel_reader_add_file(r, TEL_FILE_TYPES, path)) !=
		    TEL_OK)
			abort();
	}
	if (tel_reader_set(r, TEL_READ_SIZE,
	        (int64_t)read_sizes[options & 3]) != TEL_OK ||
	    tel_reader_set_as(r, options & 16 ? "ets" : NULL) != TEL_OK ||
	    tel_reader_set(r, TEL_READ_STRICT, options >> 5 & 1) != TEL_OK ||
	    tel_reader_set(r, TEL_READ_MAX_LABELS, options & 128 ? 2 : 1000) !=
	        TEL_OK ||
	    tel_reader_set_notify(r, take_notice, NULL) != TEL_OK)
		abort();
	if (tel_reader_open_memory(r, data + tmf, size - tmf, NULL) == TEL_OK)
		read_all(r, printer, writer,
		    is_packed(data + tmf, size - tmf) || tel_reader_archive(r) ?
		        SIZE_MAX :
		        size - tmf,
		    strcmp(tel_reader_format(r), "ets") == 0);
	tel_writer_free(writer);
	tel_printer_free(printer);
	if (tel_output_flush(out) != TEL_OK || tel_output_flush(copy) != TEL_OK)
		abort();
	tel_output_free(out);
	tel_output_free(copy);
	tel_reader_free(r);
	return 0;
}
