/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a range of a native file costs: as many bytes are read of a file of
 * 8,192 blocks as of one of 2,048, by the counts of the system.  And where no
 * event is wanted, only that which shows what the log is, its first block comes.
 * And of streams that are made to cost more than their bytes, that they do not.
 */
#include "native_log.h"

#include <stdarg.h>
#include <time.h>
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

/* ------------------------------------------------- streams made for it */

/* Appends a record, and empties its head and body. */
static void
put_record(struct stream *s, enum native_kind kind, struct tel__buffer *head,
    struct tel__buffer *body)
{
	const size_t size = NATIVE_HEADER + head->used + body->used;
	unsigned char *p = malloc(size);

	if (p == NULL || head->failed || body->failed)
		abort();
	if (head->used > 0)
		memcpy(p + NATIVE_HEADER, head->bytes, head->used);
	if (body->used > 0)
		memcpy(p + NATIVE_HEADER + head->used, body->bytes, body->used);
	tel__native_seal(p, kind, kind == NATIVE_START, head->used, body->used);
	(void)put_stream(s, p, size);
	free(p);
	head->used = body->used = 0;
}

static void
put_varints(struct tel__buffer *b, unsigned n, ...)
{
	va_list ap;

	va_start(ap, n);
	for (; n > 0; n--)
		tel__buffer_put_varint(b, va_arg(ap, unsigned));
	va_end(ap);
}

static void
put_start(struct stream *s, struct tel__buffer *head, struct tel__buffer *body,
    unsigned entries)
{
	static const unsigned char version[4] = { 1, 1, 0, '<' };
	char key[16];

	tel__buffer_put(body, version, sizeof(version));
	for (unsigned i = 0; i < 3; i++)
		tel__native_put_fixed(body, 0, 8);
	put_varints(body, 2, 0, entries);
	for (unsigned i = 0; i < entries; i++) {
		(void)snprintf(key, sizeof(key), "k%u", i);
		tel__native_put_text(body, key);
		tel__native_put_text(body, "value");
	}
	put_record(s, NATIVE_START, head, body);
}

/* A block that has one log many times, and the metadata of the stream. */
static void
make_metadata(struct stream *s, struct tel__buffer *head,
    struct tel__buffer *body)
{
	enum { LOGS = 20000 };

	put_start(s, head, body, 256);
	put_varints(head, 8, 0, 0, 0, 0, 0, 0, 0, 0);
	put_varints(body, 1, LOGS);
	for (unsigned i = 0; i < LOGS; i++) {
		put_varints(body, 3, 0, 0, 0);
		tel__native_put_text(body, "s");
		tel__native_put_fixed(body, 0, 4);
		/* no rate; the description of no types; five empty strings */
		put_varints(body, 10, 0, 8, 0, 0, 8, 32, 0, 1, 0, 0);
		put_varints(body, 5, 0, 0, 0, 0, 0);
	}
	put_varints(body, 2, 0, 0);
	put_record(s, NATIVE_BLOCK, head, body);
}

/* An index of nothing but names. */
static void
make_index(struct stream *s, struct tel__buffer *head, struct tel__buffer *body)
{
	enum { NAMES = 60000 };

	put_start(s, head, body, 0);
	put_varints(head, 2, NAMES, 1);
	for (unsigned i = 0; i < NAMES; i++)
		put_varints(body, 7, NATIVE_NAMES, 0, 0, 0, 0, 0, 0);
	const size_t before = s->size;
	put_record(s, NATIVE_INDEX, head, body);
	tel__native_put_fixed(head, s->size + NATIVE_HEADER + 32, 8);
	tel__native_put_fixed(head, s->size - before, 8);
	tel__native_put_fixed(head, 0, 8);
	tel__native_put_fixed(head, 0, 8);
	put_record(s, NATIVE_END, head, body);
}

/* Headers in a row, each of a body that has all those behind it. */
static void
make_damage(struct stream *s, struct tel__buffer *head,
    struct tel__buffer *body)
{
	enum { HEADERS = 300000, BODY = 200000 };
	unsigned char *p = calloc(1, NATIVE_HEADER + BODY);

	put_start(s, head, body, 0);
	if (p == NULL)
		abort();
	tel__native_seal(p, NATIVE_SUMMARY, 0, 0, BODY);
	for (unsigned i = 0; i < HEADERS; i++)
		(void)put_stream(s, p, NATIVE_HEADER);
	free(p);
}

/* Of processor time; a sanitizer takes up to 30 times as much. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SECONDS 10
#else
#define SECONDS 1
#endif

static void
is_fast(const char *name,
    void (*make)(struct stream *, struct tel__buffer *, struct tel__buffer *))
{
	struct tel__buffer head = { NULL, 0, 0, 0 }, body = head;
	struct stream s = { NULL, 0, 0 };
	tel_reader *r = tel_reader_new();
	const tel_event *ev;

	make(&s, &head, &body);
	const clock_t before = clock();
	if (r == NULL)
		abort();
	tel_reader_set_range(r, 1, 2);
	const tel_status st = tel_reader_open_memory(r, s.data, s.size, name);
	ok(st == TEL_OK && tel_reader_next(r, &ev) == TEL_END &&
	        clock() - before < SECONDS * CLOCKS_PER_SEC,
	    "%s: %zu bytes take less than %d s", name, s.size, SECONDS);
	tel_reader_free(r);
	tel__buffer_clear(&head);
	tel__buffer_clear(&body);
	free(s.data);
}

/* The status of a description, and what is left of 8. */
static int
takes(unsigned types, unsigned header, unsigned offset, tel_status want,
    uint32_t left)
{
	struct native_log log = { .schema = (const unsigned char *)"s",
		.schema_size = 1 };
	struct tel__buffer b = { NULL, 0, 0, 0 };
	struct tel_schema *schema = NULL;
	uint32_t room = 8;
	int partial;

	put_varints(&b, 7, 0, 0, 8, 32, header, 1, types);
	/* one type of one field, of one byte, behind all the others */
	put_varints(&b, 2, 1, types - 1);
	tel__native_put_text(&b, "T");
	tel__native_put_text(&b, "K");
	put_varints(&b, 5, 0, 1, 0, 0, 1);
	tel__native_put_text(&b, "f");
	put_varints(&b, 6, 0, 0, 8, offset, 0, 0);
	if (b.failed)
		abort();
	log.types = b.bytes;
	log.types_size = (uint32_t)b.used;
	const tel_status st =
	    tel__native_schema(&log, &schema, &partial, &room);
	if (st == TEL_OK)
		tel_schema_free(schema);
	tel__buffer_clear(&b);
	return st == want && (st != TEL_OK || room == left);
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
	is_fast("metadata of many logs", make_metadata);
	is_fast("an index of names", make_index);
	is_fast("headers of damaged records", make_damage);
	ok(takes(9, 0, 0, TEL_OK, 0), "as many types left out as may be");
	ok(takes(10, 0, 0, TEL_EFORMAT, 0), "and one more");
	ok(takes(1, 1, 1151, TEL_OK, 0), "as large a type as may be");
	ok(takes(1, 1, 1152, TEL_EFORMAT, 0), "and a larger one");
	ok(takes(1, 0, 65535, TEL_OK, 8), "which without a header is none");
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
