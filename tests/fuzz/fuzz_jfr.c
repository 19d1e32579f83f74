/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: a chunk of Java Flight Recorder.  A byte of the input chooses how
 * it is read and shown, two and two say where its last checkpoint and its
 * metadata are; the rest is what follows a header, which is made here, as most
 * changes of one lose the chunk.
 */
#include "target.h"

#define HEADER 68u
#define MAX_EVENTS 5000

static void
put(unsigned char *to, uint64_t v, unsigned bytes)
{
	for (; bytes > 0; bytes--, v >>= 8)
		to[bytes - 1] = (unsigned char)v;
}

static void
make_header(unsigned char *to, uint64_t size, uint64_t checkpoint,
    uint64_t metadata, unsigned options)
{
	memset(to, 0, HEADER);
	memcpy(to, "FLR", 3);
	put(to + 4, 2, 2);
	put(to + 6, 1, 2);
	put(to + 8, size, 8);
	put(to + 16, checkpoint, 8);
	put(to + 24, metadata, 8);
	put(to + 32, UINT64_C(1700000000000000000), 8);
	put(to + 48, 5000, 8);
	put(to + 56, options & 64 ? 3000000 : 1000000000, 8);
	to[64] = options & 128 ? 3 : 0;
	to[67] = 1;
}

static void
read_all(tel_reader *r, tel_printer *printer)
{
	const tel_event *event;
	uint64_t events = 0;

	while (events < MAX_EVENTS && tel_reader_next(r, &event) == TEL_OK)
		if (tel_event_index(event) != events++ ||
		    tel_printer_event(printer, event) != TEL_OK)
			abort();
	if (tel_reader_count(r, TEL_COUNT_EVENTS) != events)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const tel_format formats[4] = { TEL_FORMAT_TEXT, TEL_FORMAT_JSON,
		TEL_FORMAT_CSV, TEL_FORMAT_FOLDED };
	unsigned char *log;
	tel_printer *printer;
	uint64_t count = 0;
	tel_output *out;
	unsigned options, i, chunks;
	size_t one;
	tel_reader *r;

	if (size < 5)
		return 0;
	options = data[0];
	one = size - 5 + HEADER;
	/* several, so that events of one are merged with those of the next */
	chunks = 1 + (options >> 4 & 3);
	log = malloc(chunks * one);
	r = tel_reader_new();
	out = tel_output_new_callback(count_bytes, &count);
	if (log == NULL || r == NULL || out == NULL ||
	    (printer = tel_printer_new(out, formats[options & 3])) == NULL)
		abort();
	for (i = 0; i < chunks; i++) {
		make_header(log + i * one, one,
		    (uint64_t)data[1] << 8 | data[2],
		    (uint64_t)data[3] << 8 | data[4], options);
		memcpy(log + i * one + HEADER, data + 5, size - 5);
	}
	if (tel_reader_set(r, TEL_READ_STRICT, options >> 2 & 1) != TEL_OK ||
	    tel_reader_set(r, TEL_READ_SIZE, options & 8 ? 7 : 65536) !=
	        TEL_OK ||
	    tel_reader_set_notify(r, take_notice, NULL) != TEL_OK)
		abort();
	if (tel_reader_open_memory(r, log, chunks * one, NULL) == TEL_OK)
		read_all(r, printer);
	tel_printer_free(printer);
	if (tel_output_flush(out) != TEL_OK)
		abort();
	tel_output_free(out);
	tel_reader_free(r);
	free(log);
	return 0;
}
