/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: traces of allocators.  Whatever the pieces are that a trace
 * comes in, its events are the same; their text reads back as itself, and
 * means the same to an allocator.  The first byte of the input chooses the
 * form, the rest is the trace.
 */
#include "target.h"

/* More than this tells nothing new about an input of a few kilobytes. */
#define MAX_EVENTS 2000

/* What was printed, and what it means. */
struct text {
	struct bytes bytes;
	uint64_t meaning;
	int damaged;
};

static void
mix(uint64_t *meaning, const tel_event *event)
{
	tel_alloc a;
	uint64_t parts[10], i;

	if (tel_event_alloc(event, &a, sizeof(a)) != (a.kind != TEL_ALLOC_NONE))
		abort();
	parts[0] = (uint64_t)a.kind;
	parts[1] = (uint64_t)(a.failed * 2 + a.sized);
	parts[2] = a.address;
	parts[3] = a.old;
	parts[4] = a.size;
	parts[5] = a.count;
	parts[6] = a.alignment;
	parts[7] = a.thread;
	parts[8] = a.pool ^ a.buffer;
	parts[9] = a.clock;
	for (i = 0; i < 10; i++)
		*meaning = (*meaning ^ parts[i]) * 0x100000001b3u + i;
}

static struct text
print(const void *data, size_t size, const char *as, size_t read_size)
{
	struct text out = { { NULL, 0, 0 }, 0, 0 };
	tel_reader *r = tel_reader_new();
	tel_output *o = tel_output_new_callback(keep_bytes, &out.bytes);
	tel_printer *p;
	const tel_event *event;
	int count = 0;

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
			mix(&out.meaning, event);
			if (tel_printer_event(p, event) != TEL_OK)
				abort();
		}
	}
	if (tel_printer_finish(p) != TEL_OK || tel_output_flush(o) != TEL_OK)
		abort();
	out.damaged = tel_reader_count(r, TEL_COUNT_DAMAGED) > 0;
	tel_printer_free(p);
	tel_output_free(o);
	tel_reader_free(r);
	return out;
}

static void
check_same(const struct text *a, const struct text *b)
{
	if (a->bytes.size != b->bytes.size ||
	    memcmp(a->bytes.data, b->bytes.data, a->bytes.size) != 0 ||
	    a->meaning != b->meaning)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const as[16] = { NULL, "android", "heaptrack",
		"kdump", "logalloc", "ltrace", "mtrace", "rep", "valgrind",
		"ftrace", "android", "heaptrack-data", "kdump", "ltrace",
		"mtrace", "valgrind" };
	static const size_t sizes[4] = { 1, 7, 64, 4096 };
	struct text whole, pieces, again;
	const char *name;

	if (size < 1)
		return 0;
	name = as[data[0] & 15];
	whole = print(data + 1, size - 1, name, 262144);
	pieces = print(data + 1, size - 1, name, sizes[data[0] >> 4 & 3]);
	check_same(&whole, &pieces);
	if (name != NULL && whole.bytes.data != NULL) {
		again =
		    print(whole.bytes.data, whole.bytes.size, "text", 262144);
		if (again.damaged)
			abort();
		check_same(&whole, &again);
		free(again.bytes.data);
	}
	free(whole.bytes.data);
	free(pieces.bytes.data);
	return 0;
}
