/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a range of a native file costs: as many bytes are read of a file of
 * 8,192 blocks as of one of 2,048, by the counts of the system.  And where no
 * event is wanted, only that which shows what the log is, its first block comes.
 */
#include "native_log.h"

#include <unistd.h>

/* Events of a block. */
#define EVENTS 64u
/* Ticks from one event to the next. */
#define TICKS 16u

/* Bytes that this process has read so far; 0: the system does not say. */
static unsigned long long
bytes_read(void)
{
	unsigned long long n = 0;
	char line[128];
	FILE *f = fopen("/proc/self/io", "r");

	if (f == NULL)
		return 0;
	while (fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, "rchar: %llu", &n) == 1)
			break;
	fclose(f);
	return n;
}

/* Events of one type, as text.  Its bytes. */
static size_t
make_text(char *text, size_t room, unsigned blocks)
{
	size_t n = (size_t)snprintf(text, room,
	    "# teltools text 1\n# format: cost\n"
	    "# type: A 1 K x:unsigned y:unsigned\n");
	unsigned i;

	for (i = 0; i < blocks * EVENTS; i++)
		n += (size_t)snprintf(text + n, room - n, "%016X A x=%u y=%u\n",
		    i * TICKS, i * 2654435761u, i * 40503u % 65521u);
	return n;
}

static void
write_file(const char *path, unsigned blocks)
{
	const size_t room = 256 + (size_t)blocks * EVENTS * 64;
	char *text = malloc(room);
	FILE *file = fopen(path, "wb");
	tel_output *out = file != NULL ? tel_output_new_fd(fileno(file)) : NULL;
	tel_writer *w = out != NULL ? tel_writer_new(out) : NULL;
	tel_reader *r = tel_reader_new();
	const tel_event *ev;
	unsigned n = 0;

	if (text == NULL || w == NULL || r == NULL ||
	    tel_writer_set_target(w, "tel") != TEL_OK ||
	    tel_reader_open_memory(r, text, make_text(text, room, blocks),
	        "text") != TEL_OK)
		abort();
	while (tel_reader_next(r, &ev) == TEL_OK)
		if (tel_writer_event(w, ev) != TEL_OK ||
		    (++n % EVENTS == 0 && tel_writer_flush(w) != TEL_OK))
			abort();
	if (n != blocks * EVENTS || tel_writer_end_file(w, r) != TEL_OK ||
	    tel_writer_finish(w) != TEL_OK || tel_output_finish(out) != TEL_OK)
		abort();
	tel_writer_free(w);
	tel_output_free(out);
	tel_reader_free(r);
	fclose(file);
	free(text);
}

/* Reads a range at three quarters of a file: bytes read, and its events. */
static unsigned long long
read_range(const char *path, unsigned blocks, unsigned *events)
{
	const uint64_t first = (uint64_t)blocks * EVENTS / 4 * 3 * TICKS;
	const uint64_t last = first + 99 * TICKS;
	const unsigned long long before = bytes_read();
	tel_reader *r = tel_reader_new();
	const tel_event *ev;

	*events = 0;
	if (r == NULL)
		abort();
	tel_reader_set_range(r, first, last);
	if (tel_reader_open_file(r, path) != TEL_OK)
		abort();
	while (tel_reader_next(r, &ev) == TEL_OK)
		*events += ev->clock >= first && ev->clock <= last;
	tel_reader_free(r);
	return bytes_read() - before;
}

/* Events that come where none is wanted. */
static unsigned
read_none(const char *path)
{
	tel_reader *r = tel_reader_new();
	const tel_event *ev;
	unsigned events = 0;

	if (r == NULL || tel_reader_open_file(r, path) != TEL_OK)
		abort();
	tel_reader_set_range(r, UINT64_MAX, 0);
	while (tel_reader_next(r, &ev) == TEL_OK)
		events++;
	tel_reader_free(r);
	return events;
}

int
main(void)
{
	static const unsigned blocks[2] = { 2048, 8192 };
	unsigned long long cost[2];
	char path[] = "/tmp/test_native_costXXXXXX";
	unsigned i, events;
	int fd = mkstemp(path);

	if (fd < 0)
		abort();
	close(fd);
	for (i = 0; i < 2; i++) {
		write_file(path, blocks[i]);
		cost[i] = read_range(path, blocks[i], &events);
		diag("%u blocks: %llu bytes read", blocks[i], cost[i]);
		ok(events == 100, "%u events of the range", events);
	}
	events = read_none(path);
	ok(events == EVENTS, "%u events where none is wanted", events);
	unlink(path);
	/* the directory has an entry of some 50 bytes for 64 blocks */
	if (cost[0] == 0)
		diag("no /proc/self/io: bytes are not counted");
	else
		ok(cost[1] < cost[0] + 16384,
		    "a range costs as many bytes of four times the blocks");
	return done();
}
