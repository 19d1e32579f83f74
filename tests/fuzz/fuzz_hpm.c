/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: an HPM trace with its meta file.  A byte of the input chooses
 * how the trace is read, two say how long the meta file is, which comes next;
 * the rest is the trace.
 */
#include "target.h"

/* More than this tells nothing new about an input of a few kilobytes. */
#define MAX_EVENTS 5000

static const size_t read_sizes[4] = { 262144, 1, 7, 4096 };

/* What is counted must be no more than there is. */
static void
check_counts(const tel_reader *r, uint64_t events, size_t size)
{
	uint64_t bytes = tel_reader_count(r, TEL_COUNT_BYTES) +
	    tel_reader_count(r, TEL_COUNT_SKIPPED);

	if (tel_reader_count(r, TEL_COUNT_EVENTS) != events || bytes > size)
		abort();
}

static void
read_all(tel_reader *r, tel_printer *printer, size_t size)
{
	const tel_event *event;
	uint64_t events = 0, offset = 0;

	while (events < MAX_EVENTS && tel_reader_next(r, &event) == TEL_OK) {
		if (tel_event_index(event) != events++ ||
		    tel_event_offset(event) < offset)
			abort();
		offset = tel_event_offset(event);
		if (tel_printer_event(printer, event) != TEL_OK)
			abort();
	}
	check_counts(r, events, size);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const tel_format formats[4] = { TEL_FORMAT_TEXT, TEL_FORMAT_JSON,
		TEL_FORMAT_CSV, TEL_FORMAT_SQL };
	tel_printer *printer;
	tel_output *out;
	tel_reader *r;
	unsigned options;
	uint64_t count = 0;
	size_t meta;

	if (size < 3)
		return 0;
	options = data[0];
	meta = (size_t)data[1] << 8 | data[2];
	data += 3;
	size -= 3;
	if (meta > size)
		meta = size;
	r = tel_reader_new();
	out = tel_output_new_callback(count_bytes, &count);
	if (r == NULL || out == NULL ||
	    (printer = tel_printer_new(out, formats[options >> 2 & 3])) == NULL)
		abort();
	if (meta > 0) {
		if (tel_reader_add_file(r, TEL_FILE_META,
		        beside_write(data, meta)) != TEL_OK)
			abort();
	}
	if (tel_reader_set(r, TEL_READ_SIZE,
	        (int64_t)read_sizes[options & 3]) != TEL_OK ||
	    tel_reader_set_as(r, options & 16 ? "hpm" : NULL) != TEL_OK ||
	    tel_reader_set(r, TEL_READ_STRICT, options >> 5 & 1) != TEL_OK ||
	    tel_reader_set(r, TEL_READ_FORCE, options >> 6 & 1) != TEL_OK ||
	    tel_reader_set(r, TEL_READ_MAX_LABELS, options & 128 ? 2 : 1000) !=
	        TEL_OK ||
	    tel_reader_set_notify(r, take_notice, NULL) != TEL_OK)
		abort();
	if (tel_reader_open_memory(r, data + meta, size - meta, NULL) == TEL_OK)
		read_all(r, printer, size - meta);
	tel_printer_free(printer);
	if (tel_output_flush(out) != TEL_OK)
		abort();
	tel_output_free(out);
	tel_reader_free(r);
	return 0;
}
