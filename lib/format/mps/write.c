/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writing MPS streams.  One encoder writes the events of an MPS log as they
 * were read.  The other writes a stream of any release, whatever the events
 * are of: each is converted, and then written like one of such a stream.
 *
 * A stream should say what it is, so that encoder holds the first events back
 * until it has done so or is not going to: EventInit and the string of the
 * build come in the first flush.  Then both are written before them.
 */
#include "format/mps/convert.h"
#include "format/mps/frame.h"
#include "format/mps/mps.h"
#include "format/mps/target.h"
#include "model/clock.h"

#include <stdlib.h>

/* So many bytes of events wait; the buffer of an output is twice that. */
#define HOLD_MAX ((size_t)1 << 15)

/* The reader may know better than an event how long it is. */
static inline void
mps_write_size(unsigned char *p, uint32_t size, int big)
{
	if (mps_size(p, big) != size)
		tel_store(p + 2, size, 2, big);
}

static inline tel_status
mps_write_put(struct tel_writer *w, const struct tel_event *ev)
{
	unsigned char *p = tel_output_room(w->out, ev->size);

	if (p == NULL)
		return w->out->status;
	tel_copy_short(p, ev->data, ev->size);
	mps_write_size(p, ev->size, ev->type->schema->abi.big);
	w->out->used += ev->size;
	return TEL_OK;
}

static tel_status
mps_write_put_event(struct tel_writer *w, const struct tel_event *ev,
    const struct tel_field *changed)
{
	(void)changed;
	return mps_write_put(w, ev);
}

static tel_status
mps_write_run(struct tel_writer *w, struct tel_run *run, size_t from, size_t n)
{
	const int big = run->first->schema->abi.big;
	const unsigned char *const *const data = run->data;
	const uint32_t *const sizes = run->sizes;
	size_t i, next, size;

	for (i = from; i < from + n; i = next) {
		/* those behind it in the log, up to one with another size */
		size = sizes[i];
		for (next = i + 1;
		     next < from + n && data[next] == data[i] + size &&
		     mps_size(data[next], big) == sizes[next];
		     next++)
			size += sizes[next];
		unsigned char *p = tel_output_room(w->out, size);
		if (p == NULL)
			return w->out->status;
		memcpy(p, data[i], size);
		mps_write_size(p, sizes[i], big);
		w->out->used += size;
	}
	return TEL_OK;
}

const struct tel_encoder_ops tel__mps_encoder = {
	.what = "an MPS stream",
	.flags = ENCODER_BINARY | ENCODER_ONE_SCHEMA | ENCODER_ONE_NUMBERING |
	    ENCODER_BARE_EVENTS,
	.write = mps_write_put_event,
	.write_run = mps_write_run,
};

/* -------------------------------------------------------------- converting */

/* Events held back until the stream's version and build are known. */
struct hold {
	int on;          /* w->out holds what waits */
	uint64_t first;  /* the earliest clock in it */
	uint64_t unit;   /* clocks a second of the first log */
	int syncs;       /* that are still to come */
	int started;     /* by an event other than a sync */
	int init, build; /* the stream said so */
};

/* The state of the encoder, */
struct converter {
	struct tel_schema *to;
	struct convert *convert;
	struct synth *synth;
	struct hold hold;
};

/* and of a log. */
struct converted {
	struct convert_log *plans;
	struct tel_log log; /* what it is when it is converted */
};

/* What waits never leaves the buffer of its output. */
static ptrdiff_t
mps_write_refuse(void *arg, const void *data, size_t size)
{
	(void)arg;
	(void)data;
	(void)size;
	return -1;
}

static tel_status
begin_hold(struct tel_writer *w, struct converter *c, const struct tel_log *log)
{
	struct hold *h = &c->hold;
	int whole = tel__write_origin(w, log) == &tel__format_mps;

	/* what was a stream of that release is to be the same again */
	if (w->bare || (whole && mps_same(log->schema, c->to)))
		return TEL_OK;
	tel_output *out = tel_output_new_callback(mps_write_refuse, NULL);
	if (out == NULL)
		return TEL_ENOMEM;
	h->on = 1;
	w->out = out;
	h->first = UINT64_MAX;
	h->unit = tel__clock_unit(log->clock);
	/* release 1.111 flushes one kind at a time */
	h->syncs = log->schema->release == 0 ? MPS_KINDS + 1 : 1;
	return TEL_OK;
}

static void
converter_close(struct tel_writer *w)
{
	struct converter *c = w->state;

	if (c->hold.on)
		tel_output_free(w->out);
	w->out = w->sink;
	tel__synth_free(c->synth);
	tel__convert_free(c->convert);
	tel_schema_free(c->to);
}

static tel_status
converter_open(struct tel_writer *w, const struct tel_log *log)
{
	struct converter *c = w->state;
	tel_status st = tel__mps_target(w->target_name, log->schema, &c->to);

	if (st == TEL_EINVAL)
		return tel__write_fail(w, st,
		    "%s: %.40s is not an MPS release: name one, such as "
		    "mps:2.0.0",
		    tel__path_end(log->name, 80), log->schema->name);
	if (st != TEL_OK)
		return st;
	w->losses.to = c->to->name;
	c->convert = tel__convert_new(c->to, &w->losses);
	if (c->convert != NULL)
		c->synth = tel__synth_new(w, c->convert, c->to);
	return c->synth != NULL ? begin_hold(w, c, log) : TEL_ENOMEM;
}

static void
converter_close_log(struct write_log *l)
{
	struct converted *log = l->state;

	if (log != NULL)
		tel__convert_log_free(log->plans);
	free(log);
}

static tel_status
converter_begin(struct tel_writer *w, const struct tel_log *log)
{
	const struct converter *c = w->state;
	struct converted *new = calloc(1, sizeof(*new));

	if (new == NULL)
		return TEL_ENOMEM;
	new->log = *log;
	new->log.format = tel__format_mps.name;
	new->log.schema = c->to;
	new->log.preamble = new->log.tail = NULL;
	new->log.preamble_size = new->log.tail_size = 0;
	w->current->state = new;
	return TEL_OK;
}

/* Writes the version of the stream. */
static tel_status
put_init(struct tel_writer *w, struct converter *c, struct tel_log *log)
{
	const size_t header = c->to->header;
	struct numbering *n = &w->numbering;
	struct tel_event ev;

	tel__convert_make_init(c->convert, c->hold.first, c->hold.unit, &ev);
	ev.log = log;
	if (ev.size - header <= sizeof(n->init)) {
		memcpy(n->init, ev.data + header, ev.size - header);
		n->init_size = ev.size - header;
	}
	return mps_write_put(w, &ev);
}

/* Writes the release and the platform, in a string that no label has. */
static tel_status
put_build(struct tel_writer *w, struct converter *c, struct tel_log *log)
{
	struct tel_event ev;
	uint64_t id;
	tel_status st = tel__synth_number(c->synth, "", 0, &id);

	if (st != TEL_OK)
		return st;
	tel__convert_make_build(c->convert, c->hold.first, id, &ev);
	ev.log = log;
	return mps_write_put(w, &ev);
}

/* Nothing waits any more. */
static tel_status
end_hold(struct tel_writer *w, struct converter *c)
{
	struct hold *h = &c->hold;
	struct tel_log log = { .schema = c->to };
	tel_output *held = w->out;
	tel_status st = TEL_OK;

	w->out = w->sink;
	h->on = 0;
	w->numbering.init_made = !h->init;
	if (h->first == UINT64_MAX)
		h->first = 0;
	if (!h->init)
		st = put_init(w, c, &log);
	if (st == TEL_OK && !h->build)
		st = put_build(w, c, &log);
	if (st == TEL_OK)
		st = tel_output_write(w->out, held->buffer, held->used);
	tel_output_free(held);
	return st;
}

/* An event waits now: whether that is enough. */
static tel_status
mps_write_look(struct tel_writer *w, struct converter *c,
    const struct tel_event *ev)
{
	struct hold *h = &c->hold;
	const struct tel_type *t = ev->type;
	const char *text;
	size_t n;

	if (ev->clock < h->first)
		h->first = ev->clock;
	if (t->role == TEL_ROLE_INIT) {
		h->init = 1;
	} else if (t->role == TEL_ROLE_INTERN) {
		text = tel_load_string(ev, &t->fields[t->role_field[1]], &n);
		h->build |= tel__mps_match_build_string(text, n);
	}
	if (t->role != TEL_ROLE_SYNC)
		h->started = 1;
	else if (h->started)
		h->syncs--;
	if (!(h->init && h->build) && h->syncs > 0 && w->out->used < HOLD_MAX)
		return TEL_OK;
	return end_hold(w, c);
}

static tel_status
converter_write(struct tel_writer *w, const struct tel_event *ev,
    const struct tel_field *changed)
{
	struct converter *c = w->state;
	tel_status st = TEL_OK;

	(void)changed;
	/* what waits is not written to make room */
	if (c->hold.on && w->out->size - w->out->used < ev->size)
		st = end_hold(w, c);
	if (st == TEL_OK)
		st = mps_write_put(w, ev);
	return st == TEL_OK && c->hold.on ? mps_write_look(w, c, ev) : st;
}

static tel_status
converter_finish(struct tel_writer *w)
{
	struct converter *c = w->state;

	return c != NULL && c->hold.on ? end_hold(w, c) : TEL_OK;
}

/* Why an event cannot be written, where none may be left out. */
static tel_status
mps_write_report_lost(struct tel_writer *w, const struct tel_event *ev,
    const struct loss *lost)
{
	const unsigned long long offset = ev->offset;

	if (lost->kind == TEL_LOSS_TYPE)
		return tel__write_fail(w, TEL_EINVAL,
		    "%s: offset %llu: an event of type %.40s does not exist "
		    "in %s",
		    tel__path_end(ev->log->name, 80), offset, ev->type->name,
		    w->losses.to);
	return tel__write_fail(w, TEL_EINVAL,
	    "%s: offset %llu: field %.40s of an event of type %.40s does "
	    "not exist in %s",
	    tel__path_end(ev->log->name, 80), offset, lost->field,
	    ev->type->name, w->losses.to);
}

static tel_status
converter_convert(struct tel_writer *w, const struct tel_event *ev, int wanted)
{
	struct converter *c = w->state;
	struct converted *log = w->current->state;
	enum convert_how how = w->strict ? CONVERT_STRICT : CONVERT_COUNT;
	struct tel_event made[CONVERT_MAX];
	const struct loss *lost;
	unsigned i, n;
	tel_status st = tel__convert_event(c->convert, &log->plans, ev,
	    wanted ? how : CONVERT_ROLES, made, &n, &lost);

	if (st == TEL_OK && lost != NULL && wanted && w->strict)
		return mps_write_report_lost(w, ev, lost);
	for (i = 0; st == TEL_OK && i < n; i++) {
		made[i].log = &log->log;
		if (i == 0 && wanted && ev->inline_size > 0 && !w->bare)
			st = tel__synth_before(c->synth, ev, &log->log);
		if (st != TEL_OK)
			break;
		st = wanted ? tel__write_wanted(w, &made[i]) :
		              tel__write_unwanted(w, &made[i]);
	}
	return st;
}

static tel_status
converter_target(const char *name)
{
	return tel__mps_target(name, NULL, NULL);
}

const struct tel_encoder_ops tel__mps_converter = {
	.what = "an MPS stream",
	.flags = ENCODER_BINARY | ENCODER_ONE_NUMBERING | ENCODER_ANY,
	.target = converter_target,
	.state_size = sizeof(struct converter),
	.open = converter_open,
	.begin = converter_begin,
	.write = converter_write,
	.convert = converter_convert,
	.finish = converter_finish,
	.close_log = converter_close_log,
	.close = converter_close,
};
