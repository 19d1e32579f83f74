/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A decoder that does not advance is an error of the reader, with the name of
 * the format, and not an event for ever.  One that finds many events at one
 * place, as in a block, is right.
 */
#include "format/registry.h"
#include "reader/reader.h"
#include "tap.h"
#include "tel.h"

/* What the decoder does: how many events it finds in each byte; 0: no end. */
struct plan {
	uint64_t events, found;
};

static int
byte_probe(struct tel_reader *r)
{
	(void)r;
	return 100;
}

static tel_status
byte_open(struct tel_reader *r)
{
	static const struct tel_abi abi = { 8, 8, 8, 0, 0 };

	struct tel_schema *s = tel__schema_make("bytes", "1", &abi, 0, 1);

	if (s == NULL || tel__schema_add(s, "Byte", 1, "any", 1, 0) == NULL)
		return TEL_ENOMEM;
	return tel__reader_adopt(r, s);
}

static tel_status
byte_next(struct tel_reader *r, struct plan *plan)
{
	tel__reader_fill(r, 1);
	if (r->p == r->end)
		return TEL_END;
	r->event.type = &r->log.schema->types[0];
	r->event.data = r->p;
	r->event.size = 1;
	r->event.offset = r->offset;
	r->event.index = plan->found++;
	r->consumed = 1;
	if (plan->events > 0 && plan->found % plan->events == 0)
		tel_reader_step(r, 1);
	return TEL_OK;
}

static struct plan stuck, block = { 50000, 0 };

static tel_status
stuck_next(struct tel_reader *r)
{
	return byte_next(r, &stuck);
}

static tel_status
block_next(struct tel_reader *r)
{
	return byte_next(r, &block);
}

/* Reads a log of 30 bytes by a format; the number of its events. */
static uint64_t
count_events(tel_status (*next)(struct tel_reader *r), tel_status *st,
    char *error, size_t size)
{
	const struct tel_format_ops ops = { .name = "bytes",
		.probe = byte_probe,
		.open = byte_open,
		.next = next };
	const struct tel_format_row row = { &ops, STAGE_MAGIC };
	const struct tel_formats formats = { &row, 1 };
	static const char log[30];
	const tel_event *ev;
	tel_reader *r = tel_reader_new();
	uint64_t n = 0;

	r->formats = &formats;
	*st = tel_reader_open_memory(r, log, sizeof(log), "thirty");
	while (*st == TEL_OK && n < 100000000)
		if ((*st = tel_reader_next(r, &ev)) == TEL_OK)
			n++;
	snprintf(error, size, "%s", tel_reader_error(r));
	tel_reader_free(r);
	return n;
}

int
main(void)
{
	char error[256];
	tel_status st;

	is_u64(count_events(block_next, &st, error, sizeof(error)), 1500000,
	    "many events at each place are read");
	ok(st == TEL_END, "and the log ends");
	ok(count_events(stuck_next, &st, error, sizeof(error)) < 2000000,
	    "a decoder that does not advance is stopped");
	ok(st == TEL_ELIMIT, "with a status of its own");
	is_str(error, "the decoder of the format bytes does not advance",
	    "and a message");
	return done();
}
