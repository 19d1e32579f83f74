/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: a log through the reader and every printer.  The first two
 * bytes of the input choose how it is read, the rest is the log.
 */
#include "target.h"

/* More than this tells nothing new about an input of a few kilobytes. */
#define MAX_EVENTS 2000

#define FORMATS (TEL_FORMAT_FOLDED + 1)

static const size_t read_sizes[8] = { 262144, 1, 2, 7, 64, 4096, 65536, 3 };

static const char *const inputs[8] = { NULL, NULL, NULL, "mps", "text", "cnv",
	"mps-1.113.0/lii3gc", "mps-1.118.0/lii6gc,be" };

/* The output takes all, so that nothing else may go wrong. */
static void
check_printed(tel_status st)
{
	if (st != TEL_OK && st != TEL_EINVAL)
		abort();
}

static void
print_all(tel_reader *r, unsigned options, tel_output *out)
{
	tel_printer *printers[FORMATS];
	const tel_event *event;
	tel_status st;
	unsigned count = 0;
	/* 0 to 5 for one format, which is faster; 6 and 7 for all */
	int which = (int)(((options >> 13) + 7) & 7);

	for (int i = 0; i < FORMATS; i++) {
		printers[i] = NULL;
		if (which <= TEL_FORMAT_MPSTXT && which != i)
			continue;
		printers[i] = tel_printer_new(out, (tel_format)i);
		if (printers[i] == NULL)
			abort();
		(void)tel_printer_set_time(printers[i],
		    (tel_time_form)((options >> 8) % 6));
		(void)tel_printer_set_color(printers[i], options >> 11 & 1);
		(void)tel_printer_set_terminal(printers[i], options >> 12 & 1);
	}
	while (count < MAX_EVENTS && (st = tel_reader_next(r, &event)) >= 0 &&
	    st != TEL_END) {
		count++;
		if (st != TEL_OK)
			continue;
		for (int i = 0; i < FORMATS; i++) {
			if (printers[i] != NULL)
				check_printed(
				    tel_printer_event(printers[i], event));
		}
	}
	for (int i = 0; i < FORMATS; i++) {
		if (printers[i] != NULL)
			check_printed(tel_printer_finish(printers[i]));
		tel_printer_free(printers[i]);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	tel_reader *r;
	tel_output *out;
	unsigned options;
	uint64_t count = 0;

	if (size < 2)
		return 0;
	options = (unsigned)data[1] << 8 | data[0];
	r = tel_reader_new();
	out = tel_output_new_callback(count_bytes, &count);
	if (r == NULL || out == NULL)
		abort();
	if (tel_reader_set_read_size(r, read_sizes[options & 7]) != TEL_OK ||
	    tel_reader_set_as(r, inputs[options >> 3 & 7]) != TEL_OK ||
	    tel_reader_set_strict(r, options >> 6 & 1) != TEL_OK ||
	    tel_reader_set_force(r, options >> 7 & 1) != TEL_OK ||
	    tel_reader_set_max_labels(r, 1 + (options & 1) * 1000) != TEL_OK ||
	    tel_reader_set_notify(r, take_notice, &count) != TEL_OK)
		abort();
	if (tel_reader_open_memory(r, data + 2, size - 2, "input") == TEL_OK)
		print_all(r, options, out);
	if (tel_output_flush(out) != TEL_OK)
		abort();
	tel_output_free(out);
	tel_reader_free(r);
	return 0;
}
