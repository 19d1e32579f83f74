/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writing a stream of an MPS release, whatever the events are of.  Each is
 * converted, and then goes the way that one of such a stream goes.
 *
 * A stream is to say what it is, so the first events wait until it has done
 * so or is not going to: EventInit and the string of the build come in the
 * first flush.  Then both are put before them.
 */
#include "format/mps/mps.h"
#include "format/mps/target.h"
#include "model/clock.h"
#include "write/writer.h"

#include <stdlib.h>

/* So many bytes of events wait; the buffer of an output is twice that. */
#define HOLD_MAX ((size_t)1 << 15)
/* What waits never leaves the buffer of its output. */
static ptrdiff_t
refuse(void *arg, const void *data, size_t size)
{
	(void)arg;
	(void)data;
	(void)size;
	return -1;
}

static tel_status
begin_hold(struct tel_writer *w, const struct tel_log *log)
{
	struct write_hold *h = &w->hold;
	int whole =
	    strcmp(log->origin != NULL ? log->origin : log->form, "mps") == 0;
	tel_output *out;

	/* what was a stream of that release is to be the same again */
	if (w->bare || (whole && mps_same(log->schema, w->to)))
		return TEL_OK;
	out = tel_output_new_callback(refuse, NULL);
	if (out == NULL)
		return TEL_ENOMEM;
	h->out = w->out;
	w->out = out;
	h->first = UINT64_MAX;
	h->unit = tel__clock_unit(log->clock);
	/* release 1.111 flushes one kind at a time */
	h->syncs = log->schema->release == 0 ? MPS_KINDS + 1 : 1;
	return TEL_OK;
}

tel_status
tel__release_begin(struct tel_writer *w, const struct tel_log *log)
{
	tel_status st = tel__mps_target(w->release, log->schema, &w->to);

	if (st == TEL_EINVAL)
		return tel__write_fail(w, st,
		    "%.80s: %.40s is no MPS release: say which is to be "
		    "written, as in mps:2.0.0",
		    log->name, log->schema->name);
	if (st == TEL_OK) {
		w->convert = tel__convert_new(w->to, &w->losses);
		if (w->convert == NULL)
			st = TEL_ENOMEM;
	}
	return st == TEL_OK ? begin_hold(w, log) : st;
}

void
tel__release_free(struct tel_writer *w)
{
	if (w->hold.out != NULL)
		tel_output_free(w->out);
	tel__convert_free(w->convert);
	tel_schema_free(w->to);
	tel__losses_free(&w->losses);
	tel__noted_free(w->noted);
	free(w->release);
}

/* Says the version of the stream. */
static tel_status
put_init(struct tel_writer *w, const struct tel_log *log)
{
	const size_t header = w->to->header;
	struct tel_event ev;

	tel__convert_make_init(w->convert, w->hold.first, w->hold.unit, &ev);
	ev.log = log;
	if (ev.size - header <= sizeof(w->init)) {
		memcpy(w->init, ev.data + header, ev.size - header);
		w->init_size = ev.size - header;
	}
	return tel__write_mps_event(w, &ev, 0);
}

/* Says the release and the platform, in a string that no label has. */
static tel_status
put_build(struct tel_writer *w, const struct tel_log *log)
{
	struct tel_event ev;
	uint64_t id;
	tel_status st = tel__noted_number(w, "", 0, &id);

	if (st != TEL_OK)
		return st;
	tel__convert_make_build(w->convert, w->hold.first, id, &ev);
	ev.log = log;
	return tel__write_mps_event(w, &ev, 0);
}

/* Nothing waits any more. */
static tel_status
end_hold(struct tel_writer *w)
{
	struct write_hold *h = &w->hold;
	struct tel_log log = { .schema = w->to };
	tel_output *held = w->out;
	tel_status st = TEL_OK;

	w->out = h->out;
	h->out = NULL;
	h->made = !h->init;
	if (h->first == UINT64_MAX)
		h->first = 0;
	if (!h->init)
		st = put_init(w, &log);
	if (st == TEL_OK && !h->build)
		st = put_build(w, &log);
	if (st == TEL_OK)
		st = tel_output_write(w->out, held->buffer, held->used);
	tel_output_free(held);
	return st;
}

/* An event waits now: whether that is enough. */
static tel_status
look(struct tel_writer *w, const struct tel_event *ev)
{
	struct write_hold *h = &w->hold;
	const struct tel_type *t = ev->type;
	const char *text;
	size_t n;

	if (ev->clock < h->first)
		h->first = ev->clock;
	if (t->role == TEL_ROLE_INIT) {
		h->init = 1;
	} else if (t->role == TEL_ROLE_INTERN) {
		text = tel_load_string(ev, &t->fields[t->role_field[1]], &n);
		h->build |= tel__keep_is_build(text, n);
	}
	if (t->role != TEL_ROLE_SYNC)
		h->begun = 1;
	else if (h->begun)
		h->syncs--;
	if (!(h->init && h->build) && h->syncs > 0 && w->out->used < HOLD_MAX)
		return TEL_OK;
	return end_hold(w);
}

static tel_status
release_write(struct tel_writer *w, const struct tel_event *ev, int changed)
{
	tel_status st = tel__write_mps_event(w, ev, changed);

	return st == TEL_OK && w->hold.out != NULL ? look(w, ev) : st;
}

static tel_status
release_finish(struct tel_writer *w)
{
	return w->hold.out != NULL ? end_hold(w) : TEL_OK;
}

/* Why an event cannot be written, where none may be left out. */
static tel_status
tell_lost(struct tel_writer *w, const struct tel_event *ev,
    const struct loss *lost)
{
	const unsigned long long offset = ev->offset;

	if (lost->kind == TEL_LOSS_TYPE)
		return tel__write_fail(w, TEL_EINVAL,
		    "%.80s: offset %llu: an event of type %.40s has no place "
		    "in %s",
		    ev->log->name, offset, ev->type->name, w->to->name);
	return tel__write_fail(w, TEL_EINVAL,
	    "%.80s: offset %llu: field %.40s of an event of type %.40s has no "
	    "place in %s",
	    ev->log->name, offset, lost->field, ev->type->name, w->to->name);
}

tel_status
tel__release_event(struct tel_writer *w, const struct tel_event *ev, int wanted)
{
	struct write_log *l = w->current;
	enum convert_how how = w->strict ? CONVERT_STRICT : CONVERT_COUNT;
	struct tel_event made[CONVERT_MOST];
	const struct loss *lost;
	tel_status st;
	unsigned i, n;

	st = tel__convert_event(w->convert, &l->convert, ev,
	    wanted ? how : CONVERT_ROLES, made, &n, &lost);
	if (st == TEL_OK && lost != NULL && wanted && w->strict)
		return tell_lost(w, ev, lost);
	for (i = 0; st == TEL_OK && i < n; i++) {
		made[i].log = &l->converted;
		if (i == 0 && wanted && ev->inline_size > 0 && !w->bare)
			st = tel__noted_before(w, ev);
		if (st != TEL_OK)
			break;
		st = wanted ? tel__write_wanted(w, &made[i]) :
		              tel__write_unwanted(w, &made[i]);
	}
	return st;
}

static int
takes_all(const struct tel_log *log)
{
	(void)log;
	return 1;
}

const struct write_form tel__write_form_release = {
	.name = "mps",
	.what = "an MPS stream",
	.one_numbering = 1,
	.binary = 1,
	.takes = takes_all,
	.write = release_write,
	.finish = release_finish,
};

tel_status
tel_writer_set_strict(tel_writer *w, int on)
{
	if (w->form != NULL)
		return TEL_ESTATE;
	w->strict = on;
	return TEL_OK;
}

int
tel_writer_loss(const tel_writer *w, size_t i, tel_loss *out)
{
	const struct loss *row;

	if (i >= w->losses.count)
		return 0;
	row = w->losses.rows[i];
	out->kind = row->kind;
	out->from = row->schema;
	out->to = w->to->name;
	out->type = row->type;
	out->field = row->field;
	out->events = row->events;
	return 1;
}
