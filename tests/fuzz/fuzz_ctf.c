/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: a trace of CTF.  A byte of the input chooses how it is shown, two
 * say how long its metadata are, which come next; the rest is a stream.  Both
 * are read as the members of an archive (POSIX.1-1988 ustar).
 */
#include <stdio.h>

#include "target.h"

#define BLOCK 512u
#define MAX_EVENTS 5000

/* Appends a member to an archive; returns where that ends. */
static unsigned char *
add_member(unsigned char *to, const char *name, const uint8_t *data,
    size_t size)
{
	char *const header = (char *)to;
	unsigned sum = 0;
	size_t i;

	memset(to, 0, BLOCK);
	snprintf(header, 100, "%s", name);
	snprintf(header + 100, 8, "%07o", 0644u);
	snprintf(header + 108, 8, "%07o", 0u);
	snprintf(header + 116, 8, "%07o", 0u);
	snprintf(header + 124, 12, "%011zo", size);
	snprintf(header + 136, 12, "%011o", 0u);
	memset(header + 148, ' ', 8);
	header[156] = '0';
	memcpy(header + 257, "ustar\00000", 8);
	for (i = 0; i < BLOCK; i++)
		sum += to[i];
	snprintf(header + 148, 8, "%06o", sum);
	to += BLOCK;
	memset(to, 0, (size + BLOCK - 1) / BLOCK * BLOCK);
	if (size > 0)
		memcpy(to, data, size);
	return to + (size + BLOCK - 1) / BLOCK * BLOCK;
}

static void
read_all(tel_reader *r, tel_printer *printer)
{
	const tel_event *event;
	uint64_t events = 0;

	while (events < MAX_EVENTS && tel_reader_next(r, &event) == TEL_OK) {
		if (tel_event_index(event) != events++ ||
		    tel_printer_event(printer, event) != TEL_OK)
			abort();
	}
	if (tel_reader_count(r, TEL_COUNT_EVENTS) != events)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const tel_format formats[4] = { TEL_FORMAT_TEXT, TEL_FORMAT_JSON,
		TEL_FORMAT_CSV, TEL_FORMAT_SQL };
	unsigned char *archive, *end;
	tel_printer *printer;
	uint64_t count = 0;
	tel_output *out;
	unsigned options;
	size_t metadata;
	tel_reader *r;

	if (size < 3)
		return 0;
	options = data[0];
	metadata = (size_t)data[1] << 8 | data[2];
	data += 3;
	size -= 3;
	if (metadata > size)
		metadata = size;
	archive = malloc(size + 8 * BLOCK);
	r = tel_reader_new();
	out = tel_output_new_callback(count_bytes, &count);
	if (archive == NULL || r == NULL || out == NULL ||
	    (printer = tel_printer_new(out, formats[options & 3])) == NULL)
		abort();
	end = add_member(archive, "t/metadata", data, metadata);
	end = add_member(end, "t/stream", data + metadata, size - metadata);
	memset(end, 0, 2 * (size_t)BLOCK);
	if (tel_reader_set(r, TEL_READ_STRICT, options >> 2 & 1) != TEL_OK ||
	    tel_reader_set_notify(r, take_notice, NULL) != TEL_OK)
		abort();
	if (tel_reader_open_memory(r, archive,
	        (size_t)(end - archive) + 2 * (size_t)BLOCK, NULL) == TEL_OK)
		read_all(r, printer);
	tel_printer_free(printer);
	if (tel_output_flush(out) != TEL_OK)
		abort();
	tel_output_free(out);
	tel_reader_free(r);
	free(archive);
	return 0;
}
