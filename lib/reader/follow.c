/* SPDX-License-Identifier: BSD-2-Clause */
/* Following the events that have a meaning for the log itself. */
#include "reader/reader.h"

#include <string.h>

/* An event has the version, which its format interprets. */
static tel_status
follow_init(struct tel_reader *r, const struct tel_event *ev)
{
	const struct tel_format_ops *f =
	    tel__format_of_schema(r->formats, ev->type->schema->name);

	return f != NULL && f->version != NULL ? f->version(r, ev) : TEL_OK;
}

static tel_status
follow_label(const struct tel_event *ev)
{
	const struct tel_type *t = ev->type;
	const struct tel_field *f = t->fields;
	const int8_t *arg = t->role_field;
	struct tel_labels *labels = ev->log->labels;
	size_t n;

	if (!tel_type_is_name(t))
		return TEL_OK;
	if (t->role == TEL_ROLE_INTERN) {
		const char *s = tel_load_string(ev, &f[arg[1]], &n);

		return tel__labels_intern(labels,
		    tel_load(&f[arg[0]], ev->data), s, n);
	}
	return tel__labels_add(labels,
	    t->role == TEL_ROLE_LABEL_P ? TEL_SPACE_POINTER : TEL_SPACE_ADDRESS,
	    tel_load(&f[arg[0]], ev->data), ev->clock,
	    tel_load(&f[arg[1]], ev->data));
}

/* Strings that are not the log's own have numbers from here on. */
#define NAMED UINT64_C(0x5000000000000000)

/* Asks for the name of a frame, and labels its address with it. */
static tel_status
name_frame(struct tel_reader *r, const struct tel_event *ev,
    enum tel_space space, uint64_t address)
{
	struct tel_labels *labels = ev->log->labels;
	struct tel_label known;
	size_t length = 0;
	tel_status st;
	const char *name = r->name_frame(r->name_arg, ev, address, &length);

	if (name == NULL ||
	    (tel__labels_find(labels, space, address, ev->clock, &known) &&
	        known.string != NULL && known.length == length &&
	        memcmp(known.string, name, length) == 0))
		return TEL_OK;
	st = tel__labels_intern(labels, NAMED + r->named, name, length);
	if (st != TEL_OK)
		return st;
	/* the first name of an address is good from the start */
	return tel__labels_add(labels, space, address,
	    tel__labels_find(labels, space, address, UINT64_MAX, &known) ?
	        ev->clock :
	        0,
	    NAMED + r->named++);
}

static tel_status
follow_frame(struct tel_reader *r, const struct tel_event *ev)
{
	const struct tel_type *t = ev->type;
	const int8_t *arg = t->role_field;
	const struct tel_field *f = t->fields;
	struct tel_frame frame = { 0, 0, NULL, 0 };
	struct tel_label label;
	uint64_t process = 0;
	tel_status st = TEL_OK;

	if (arg[0] < 0 || arg[1] < 0)
		return TEL_OK;
	frame.address = tel_load(&f[arg[1]], ev->data);
	if (arg[2] >= 0)
		frame.parent = tel_load(&f[arg[2]], ev->data);
	if (arg[TEL_PART_PROCESS] >= 0)
		process = tel_load(&f[arg[TEL_PART_PROCESS]], ev->data);
	if (r->name_frame != NULL)
		st = name_frame(r, ev, tel_field_space(t->schema, &f[arg[1]]),
		    frame.address);
	if (st != TEL_OK)
		return st;
	if (tel_find_label(ev, &f[arg[1]], frame.address, &label) &&
	    label.string != NULL) {
		frame.name = label.string;
		frame.length = label.length;
	}
	return tel__labels_add_frame(ev->log->labels, process,
	    tel_load(&f[arg[0]], ev->data), &frame);
}

static tel_status
follow_sync(const struct tel_event *ev, const struct tel_field *f)
{
	struct tel_clock *c = ev->log->clock;

	tel__clock_set_width(c, f->width);
	return tel__clock_sync(c, ev->clock, tel_load(f, ev->data));
}

tel_status
tel__reader_follow(struct tel_reader *r, const struct tel_event *ev)
{
	const struct tel_type *t = ev->type;
	tel_status st = TEL_OK;

	switch ((enum tel_role)t->role) {
	case TEL_ROLE_INIT: return follow_init(r, ev);
	case TEL_ROLE_SYNC:
		if (t->role_field[0] >= 0)
			st = follow_sync(ev, &t->fields[t->role_field[0]]);
		break;
	case TEL_ROLE_INTERN:
	case TEL_ROLE_LABEL:
	case TEL_ROLE_LABEL_P: st = follow_label(ev); break;
	case TEL_ROLE_FRAME: st = follow_frame(r, ev); break;
	default: break;
	}
	if (st == TEL_ENOMEM)
		return tel__reader_fail(r, st, "out of memory");
	if (st == TEL_ELIMIT)
		tel__reader_limit(r, ev->offset, "strings or labels");
	return TEL_OK;
}
