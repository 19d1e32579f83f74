/* SPDX-License-Identifier: BSD-2-Clause */
/* Following the events that have a meaning for the log itself. */
#include "reader/reader.h"

/* An event says the version: what that means, its format knows. */
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
	const char *s;
	size_t n;

	if (arg[0] < 0 || arg[1] < 0)
		return TEL_OK;
	if (t->role == TEL_ROLE_INTERN) {
		s = tel_load_string(ev, &f[arg[1]], &n);
		return tel__labels_intern(labels,
		    tel_load(&f[arg[0]], ev->data), s, n);
	}
	return tel__labels_add(labels,
	    t->role == TEL_ROLE_LABEL_P ? TEL_SPACE_POINTER : TEL_SPACE_ADDRESS,
	    tel_load(&f[arg[0]], ev->data), ev->clock,
	    tel_load(&f[arg[1]], ev->data));
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
			st = tel__clock_sync(ev->log->clock, ev->clock,
			    tel_load(&t->fields[t->role_field[0]], ev->data));
		break;
	case TEL_ROLE_INTERN:
	case TEL_ROLE_LABEL:
	case TEL_ROLE_LABEL_P: st = follow_label(ev); break;
	default: break;
	}
	if (st == TEL_ENOMEM)
		return tel__reader_fail(r, st, "out of memory");
	if (st == TEL_ELIMIT)
		tel__reader_limit(r, ev->offset, "strings or labels");
	return TEL_OK;
}
