/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The format "ets": its schema, and its encoder, which writes records as they
 * were read, and makes those of a text.  SysInfo names things in all others.
 */
#include "encoder/encoder.h"
#include "format/ets/ets.h"

/* ------------------------------------------------ records from a text */

/* A record that is made of the fields of an event. */
struct record {
	unsigned char bytes[ETS_RECORD_MAX];
	size_t used; /* of its words and text, from ETS_AT_ARGS on */
};

/* Puts a number of so many bytes behind the words so far; 0: no room. */
static int
ets_put_number(struct record *rec, uint64_t value, unsigned width)
{
	size_t at = ETS_AT_ARGS + rec->used;

	if (at + width > sizeof(rec->bytes))
		return 0;
	tel_store(rec->bytes + at, value, width, 0);
	rec->used += width;
	return 1;
}

/*
 * Puts a string into the text, where it begins behind the five words unless
 * numbers took more; 0: no room.
 */
static int
ets_put_string(struct record *rec, const char *string, size_t n)
{
	size_t at = ETS_AT_ARGS + rec->used;

	if (at < ETS_ENTRY)
		at = ETS_ENTRY;
	if (n > sizeof(rec->bytes) - at)
		return 0;
	memcpy(rec->bytes + at, string, n);
	rec->used = at + n - ETS_AT_ARGS;
	return 1;
}

/* Puts field i of ev into the record; 0: it has no place. */
static int
ets_put_field(struct record *rec, const struct tel_event *ev, unsigned i)
{
	static const struct {
		const char *name;
		uint16_t at;
		uint8_t width;
	} own[] = { { "instruction", ETS_AT_INSTRUCTION, 4 },
		{ "cpu", ETS_AT_CPU, 2 }, { "tid", ETS_AT_TID, 2 },
		{ "pid", ETS_AT_PID, 2 }, { "provider", ETS_AT_PROVIDER, 2 },
		{ "type", ETS_AT_TYPE, 2 }, { "version", ETS_AT_VERSION, 2 } };
	const struct tel_field *f = &ev->type->fields[i];
	const unsigned n = ev->type->code == ETS_UNKNOWN_CODE ? 7 : 4;
	size_t length;

	if (f->datatype == TEL_STRING) {
		const char *text = tel_load_string(ev, f, &length);

		return i + 1 == ev->type->nfields &&
		    ets_put_string(rec, text, length);
	}
	/* what every event has comes first, each of another name */
	if (i < n && strcmp(f->name, own[i].name) == 0) {
		tel_store(rec->bytes + own[i].at, tel_load(f, ev->data),
		    own[i].width, 0);
		return 1;
	}
	return ets_put_number(rec, tel_load(f, ev->data), f->width / 8u);
}

/*
 * Makes the record of an event of a text; 0: it cannot be made.  Codes from
 * the top down are of further versions of types, and do not say which.
 */
static int
make_record(struct record *rec, const struct tel_event *ev)
{
	const struct tel_type *t = ev->type;

	memset(rec, 0, sizeof(*rec));
	if (t->unknown ||
	    (t->code > ETS_UNKNOWN_CODE - 1 - TMF_TYPES_MAX &&
	        t->code != ETS_UNKNOWN_CODE))
		return 0;
	tel_store_le64(rec->bytes + ETS_AT_CLOCK, ev->clock);
	tel_store(rec->bytes + ETS_AT_PROVIDER, t->code >> 16, 2, 0);
	tel_store(rec->bytes + ETS_AT_TYPE, t->code & 0xffff, 2, 0);
	for (unsigned i = 0; i < t->nfields; i++)
		if (!ets_put_field(rec, ev, i))
			return 0;
	unsigned i = ETS_ENTRY - ETS_AT_ARGS;
	tel_store_le32(rec->bytes + ETS_AT_TEXT,
	    rec->used > i ? (uint32_t)rec->used - i : 0);
	return 1;
}

/* Counts an event that is left out, or fails where none may be. */
static tel_status
ets_lose(struct tel_writer *w, const struct tel_event *ev)
{
	struct loss *lost;

	if (w->strict)
		return tel__write_fail(w, TEL_EINVAL,
		    "%s: offset %llu: an event of type %.40s cannot be "
		    "written to an ETS log",
		    tel__path_end(ev->log->name, 80),
		    (unsigned long long)ev->offset, ev->type->name);
	w->losses.to = "ets";
	lost = tel__losses_row(&w->losses, TEL_LOSS_TYPE, ev->log->schema->name,
	    ev->type->name, NULL);
	if (lost == NULL)
		return TEL_ENOMEM;
	lost->events++;
	return TEL_OK;
}

static tel_status
write_made(struct tel_writer *w, const struct tel_event *ev)
{
	struct record rec;
	size_t size = ETS_ENTRY;

	if (!make_record(&rec, ev))
		return ets_lose(w, ev);
	if (ETS_AT_ARGS + rec.used > size)
		size = ETS_AT_ARGS + rec.used;
	return tel_output_write(w->out, rec.bytes, size);
}

/* -------------------------------------------------------------- encoder */

/* Nonzero for a text, whose events are not records. */
static int
ets_is_text(const struct tel_log *log)
{
	return strcmp(log->format, "text") == 0 ||
	    (log->origin != NULL && strcmp(log->origin, "text") == 0);
}

static tel_status
ets_begin(struct tel_writer *w, const struct tel_log *log)
{
	if (strcmp(log->schema->name, "ets") == 0)
		return TEL_OK;
	return tel__write_fail(w, TEL_EINVAL,
	    "%s: %s cannot be written as an ETS log",
	    tel__path_end(log->name, 80), log->schema->name);
}

static tel_status
ets_write(struct tel_writer *w, const struct tel_event *ev,
    const struct tel_field *changed)
{
	(void)changed;
	if (ets_is_text(ev->log))
		return write_made(w, ev);
	/* an event that is laid out anew has its record beside it */
	if (ev->raw_size > 0)
		return tel_output_write(w->out, ev->raw, ev->raw_size);
	return tel_output_write(w->out, ev->data, ev->size);
}

/* Without a clock are the records that MonNet puts in front, and no others. */
static int
ets_needed(const struct tel_event *ev)
{
	return tel_event_timeless(ev);
}

static const struct tel_encoder_ops encoder = {
	.what = "an ETS log",
	.flags = ENCODER_BINARY | ENCODER_TARGET | ENCODER_ANY,
	.begin = ets_begin,
	.write = ets_write,
	.needed = ets_needed,
};

static tel_status
schema_new(const char *name, struct tel_schema **out)
{
	return strcmp(name, "ets") == 0 ? tel__ets_schema_new(out) : TEL_EINVAL;
}

const struct tel_format_ops tel__format_ets = {
	.name = "ets",
	.schema_new = schema_new,
	.probe = tel__ets_probe,
	.open = tel__ets_open,
	.next = tel__ets_next,
	.decode_batch = tel__ets_decode_batch,
	.close = tel__ets_close,
	.encoder = &encoder,
};
