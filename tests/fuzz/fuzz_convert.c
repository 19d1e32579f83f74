/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: a log as a stream of an MPS release.  What was written has no
 * damage and no more or fewer events than were reported, and becomes itself when
 * it is converted again.  The first two bytes of the input choose how, the
 * rest is the log.
 */
#include "target.h"

/* More than this tells nothing new about an input of a few kilobytes. */
#define MAX_EVENTS 2000

static const char *const targets[16] = { "mps-1.111.0/lii6gc",
	"mps-1.112.0/lii3gc", "mps-1.113.0/w3i3mv", "mps-1.114.0/lii6gc,be",
	"mps-1.115.0/w3i6mv,be", "mps-1.116.0/lii3gc,be", "mps-1.117.0/lii6gc",
	"mps-1.118.0/lii6gc", "mps-1.118.0/w3i3mv", "mps-1.118.0/lii3gc,be",
	"mps-1.117.0/fri6gc", "mps-1.113.0/lii3gc", "mps-1.112.0/lii6gc,be",
	"mps-1.118.0/xca6ll", "mps", "mps:1.6.1,be" };

/* What was left out, or was not to be. */
static uint64_t
left_out(const tel_writer *w)
{
	uint64_t n = 0;
	tel_loss loss;
	size_t i;

	for (i = 0; tel_writer_loss(w, i, &loss, sizeof(loss)); i++) {
		if (loss.kind <= TEL_LOSS_VALUE)
			n += loss.events;
		if (loss.type[0] == '\0' || loss.to[0] == '\0' ||
		    (loss.kind != TEL_LOSS_TYPE && loss.field[0] == '\0'))
			abort();
	}
	return n;
}

/*
 * Events that may say nothing new: a pointer's label may be that of the
 * address before it; of a log that did not begin with its EventInit, one was
 * made.
 */
static unsigned
may_go(const tel_type *type)
{
	const char *name = tel_type_name(type);

	return strcmp(name, "LabelPointer") == 0 ||
	    strcmp(name, "EventInit") == 0;
}

/*
 * Converts what r reads.  Returns how many events should be there at least;
 * strict: up to the first loss.  schema: set to what the log is.
 */
static uint64_t
convert(tel_reader *r, const char *target, int strict, struct bytes *b)
{
	tel_output *out = tel_output_new_callback(keep_bytes, b);
	tel_writer *w = tel_writer_new(out);
	const tel_event *ev;
	uint64_t n = 0, fewer = 0, lost;
	tel_status st = TEL_OK;

	b->size = 0;
	if (out == NULL || w == NULL ||
	    tel_writer_set_target(w, target) != TEL_OK ||
	    tel_writer_set(w, TEL_WRITE_STRICT, strict) != TEL_OK)
		abort();
	while (n < MAX_EVENTS && tel_reader_next(r, &ev) == TEL_OK) {
		/* what an unknown event is depends on those around it */
		if (tel_type_unknown(tel_event_type(ev)) || is_damaged_init(ev))
			continue;
		st = tel_writer_event(w, ev);
		if (st != TEL_OK)
			break;
		n++;
		fewer += may_go(tel_event_type(ev));
	}
	if (st != TEL_OK && st != TEL_EINVAL)
		abort();
	lost = left_out(w);
	if (strict && lost > 0)
		abort();
	if (tel_writer_finish(w) != TEL_OK || tel_output_flush(out) != TEL_OK)
		abort();
	tel_writer_free(w);
	tel_output_free(out);
	return n - lost < fewer ? 0 : n - lost - fewer;
}

/* Opens what was written.  NULL when there is nothing. */
static tel_reader *
open_again(const struct bytes *b, const char *as)
{
	tel_reader *r = tel_reader_new();

	if (r == NULL || tel_reader_set_as(r, as) != TEL_OK ||
	    tel_reader_set(r, TEL_READ_FORCE, 1) != TEL_OK)
		abort();
	if (b->size > 0 &&
	    tel_reader_open_memory(r, b->data, b->size, "again") == TEL_OK)
		return r;
	if (b->size > 0)
		abort();
	tel_reader_free(r);
	return NULL;
}

static void
check(const struct bytes *b, struct bytes *twice, const char *target,
    uint64_t least)
{
	tel_reader *r = open_again(b, target);
	const tel_event *ev;
	uint64_t n = 0;

	if (r == NULL)
		return;
	while (tel_reader_next(r, &ev) == TEL_OK) {
		if (tel_type_unknown(tel_event_type(ev)))
			abort();
		n++;
	}
	if (n < least || n > 2 * (least + MAX_EVENTS) + 2 ||
	    tel_reader_count(r, TEL_COUNT_DAMAGED) != 0)
		abort();
	tel_reader_free(r);
	if (n >= MAX_EVENTS)
		return;
	r = open_again(b, target);
	(void)convert(r, target, 1, twice);
	if (twice->size != b->size ||
	    memcmp(twice->data, b->data, b->size) != 0)
		abort();
	tel_reader_free(r);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes b = { NULL, 0, 0 }, twice = { NULL, 0, 0 };
	const char *target;
	tel_reader *r;
	uint64_t least;

	if (size < 2)
		return 0;
	target = targets[data[0] & 15];
	r = tel_reader_new();
	if (r == NULL || tel_reader_set(r, TEL_READ_FORCE, 1) != TEL_OK)
		abort();
	if (tel_reader_open_memory(r, data + 2, size - 2, "input") == TEL_OK) {
		least = convert(r, target, data[1] & 1, &b);
		/* what else is said of the target is in the log */
		if (strchr(target, '/') != NULL)
			check(&b, &twice, target, least);
	}
	tel_reader_free(r);
	free(twice.data);
	free(b.data);
	return 0;
}
