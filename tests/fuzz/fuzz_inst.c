/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: logs of lines, inst logs and texts whose types are not built
 * in.  What is printed of one must print as itself when it is read again.
 * The first byte of the input chooses how it is read, the rest is the log.
 */
#include "target.h"

/* More than this tells nothing new about an input of a few kilobytes. */
#define MAX_EVENTS 2000

/* Nonzero when all its events were of schemas that are not built in. */
static int
print(const void *data, size_t size, const char *as, size_t read_size,
    struct bytes *out)
{
	tel_reader *r = tel_reader_new();
	tel_output *o = tel_output_new_callback(keep_bytes, out);
	tel_printer *p;
	const tel_event *event;
	int count = 0, described = 1;

	if (r == NULL || o == NULL)
		abort();
	p = tel_printer_new(o, TEL_FORMAT_TEXT);
	if (p == NULL || tel_reader_set_as(r, as) != TEL_OK ||
	    tel_reader_set(r, TEL_READ_SIZE, (int64_t)read_size) != TEL_OK ||
	    tel_reader_set_notify(r, take_notice, NULL) != TEL_OK)
		abort();
	if (tel_reader_open_memory(r, data, size, "input") == TEL_OK) {
		while (count++ < MAX_EVENTS &&
		    tel_reader_next(r, &event) == TEL_OK) {
			if (strncmp(tel_schema_name(tel_reader_schema(r)),
			        "mps-", 4) == 0)
				described = 0;
			if (tel_printer_event(p, event) != TEL_OK)
				abort();
		}
	}
	if (tel_printer_finish(p) != TEL_OK || tel_output_flush(o) != TEL_OK)
		abort();
	tel_printer_free(p);
	tel_output_free(o);
	tel_reader_free(r);
	return described && count > 1;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const as[4] = { NULL, "inst", "text", NULL };
	static const size_t sizes[4] = { 262144, 1, 7, 64 };
	struct bytes once = { NULL, 0, 0 }, twice = { NULL, 0, 0 };

	if (size < 1)
		return 0;
	if (print(data + 1, size - 1, as[data[0] & 3], sizes[data[0] >> 2 & 3],
	        &once)) {
		(void)print(once.data, once.size, NULL, 262144, &twice);
		if (once.size != twice.size ||
		    memcmp(once.data, twice.data, once.size) != 0)
			abort();
	}
	free(once.data);
	free(twice.data);
	return 0;
}
