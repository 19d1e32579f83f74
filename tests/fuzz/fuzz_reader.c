/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: a log through the reader and every printer, or as runs and one
 * by one, which are to be the same events.  The first two bytes of the input
 * choose how it is read, the rest is the log.
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
print_all(tel_reader *r, unsigned options, size_t size, tel_output *out)
{
	tel_printer *printers[FORMATS];
	const tel_event *event;
	tel_status st;
	unsigned count = 0;
	/*
	 * One format, which is faster, or all; inputs change their size often.
	 * SQL, which begins with all types, is rare; no format takes its place.
	 */
	const unsigned which =
	    (unsigned)(((options >> 13) + size) % (6 * FORMATS + 1));

	for (int i = 0; i < FORMATS; i++) {
		printers[i] = NULL;
		if (which < 6 * FORMATS &&
		    (which / 6 != (unsigned)i ||
		        (i == TEL_FORMAT_SQL && which % 6 > 0)))
			continue;
		printers[i] = tel_printer_new(out, (tel_format)i);
		if (printers[i] == NULL)
			abort();
		(void)tel_printer_set(printers[i], TEL_PRINT_TIME,
		    (tel_time_form)((options >> 8) % 6));
		(void)tel_printer_set(printers[i], TEL_PRINT_COLOR,
		    options >> 11 & 1);
		(void)tel_printer_set(printers[i], TEL_PRINT_TERMINAL,
		    options >> 12 & 1);
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

/* Readers that those of the inputs share with, one for each of inputs[]. */
static tel_reader *shared[8];

static void
free_shared(void)
{
	for (int i = 0; i < 8; i++) {
		tel_reader_free(shared[i]);
		shared[i] = NULL;
	}
}

/*
 * A new reader of a log as inputs[as].  It shares the schemas that formats make
 * to detect one, which is most of the time of small inputs; those of the inputs
 * remain, too, so there are new ones now and then.
 */
static tel_reader *
new_reader(unsigned as)
{
	static unsigned count;
	tel_reader *r = tel_reader_new();

	if (count++ % 512 == 0)
		free_shared();
	if (count == 1 && atexit(free_shared) != 0)
		abort();
	if (shared[as] == NULL) {
		shared[as] = tel_reader_new();
		if (shared[as] == NULL ||
		    tel_reader_set_as(shared[as], inputs[as]) != TEL_OK)
			abort();
	}
	if (r == NULL || tel_reader_set_as(r, inputs[as]) != TEL_OK ||
	    tel_reader_share(r, shared[as]) != TEL_OK)
		abort();
	return r;
}

/* A reader of the log; NULL: it is not one. */
static tel_reader *
open_reader(const uint8_t *data, size_t size, unsigned options)
{
	static uint64_t count;
	tel_reader *r = new_reader(options >> 3 & 7);

	if (tel_reader_set(r, TEL_READ_SIZE,
	        (int64_t)read_sizes[options & 7]) != TEL_OK ||
	    tel_reader_set(r, TEL_READ_STRICT, options >> 6 & 1) != TEL_OK ||
	    tel_reader_set(r, TEL_READ_FORCE, options >> 7 & 1) != TEL_OK ||
	    tel_reader_set(r, TEL_READ_MAX_LABELS, 1 + (options & 1) * 1000) !=
	        TEL_OK ||
	    tel_reader_set_notify(r, take_notice, &count) != TEL_OK)
		abort();
	if (tel_reader_open_memory(r, data + 2, size - 2, "input") == TEL_OK)
		return r;
	tel_reader_free(r);
	return NULL;
}

/* A digest of an event, into that of those before it. */
static uint64_t
mix_event(uint64_t digest, const tel_event *event)
{
	const uint64_t values[] = { tel_event_clock(event),
		tel_event_offset(event), tel_event_index(event),
		(uint64_t)tel_type_code(tel_event_type(event)) };
	size_t n;
	const unsigned char *bytes = tel_event_bytes(event, &n);

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		digest = (digest ^ values[i]) * 0x100000001b3u;
	for (size_t i = 0; i < n; i++)
		digest = (digest ^ bytes[i]) * 0x100000001b3u;
	return digest;
}

/* The digest of all events, as runs of up to most, or one by one for 0. */
static uint64_t
digest_all(const uint8_t *data, size_t size, unsigned options, size_t most)
{
	tel_reader *r = open_reader(data, size, options);
	uint64_t digest = 0;
	const tel_event *event;
	tel_status st = r == NULL ? TEL_END : TEL_OK;
	tel_run *run;

	while (st == TEL_OK || st == TEL_LOG) {
		st = most == 0 ? tel_reader_next(r, &event) :
		                 tel_reader_run(r, most, &run);
		if (st == TEL_OK && most == 0)
			digest = mix_event(digest, event);
		for (size_t i = 0;
		     st == TEL_OK && most > 0 && i < tel_run_count(run); i++)
			digest = mix_event(digest, tel_run_event(run, i));
	}
	tel_reader_free(r);
	return digest ^ (uint64_t)(unsigned)st;
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
	if (data[1] % 16 == 15) {
		if (digest_all(data, size, options, 0) !=
		    digest_all(data, size, options, 1 + (size_t)data[1] * 2))
			abort();
		return 0;
	}
	out = tel_output_new_callback(count_bytes, &count);
	if (out == NULL)
		abort();
	r = open_reader(data, size, options);
	if (r != NULL)
		print_all(r, options, size, out);
	tel_reader_free(r);
	if (tel_output_flush(out) != TEL_OK)
		abort();
	tel_output_free(out);
	return 0;
}
