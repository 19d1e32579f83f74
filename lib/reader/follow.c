/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What every form of log shares: notices, counts of damage, and following the
 * events that have a meaning for the log itself.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "format/mps/mps.h"
#include "reader/reader.h"

__attribute__((format(printf, 4, 0))) static void
notice(struct tel_reader *r, tel_severity severity, uint64_t offset,
    const char *format, va_list args)
{
	char text[256];
	size_t i;

	if (r->notify == NULL)
		return;
	vsnprintf(text, sizeof(text), format, args);
	for (i = 0; text[i] != '\0'; i++)
		if (text[i] < ' ' || text[i] > '~')
			text[i] = '?';
	r->notify(r->notify_arg, severity, r->log.name, offset, text);
}

void
tel__reader_notice(struct tel_reader *r, tel_severity severity, uint64_t offset,
    const char *format, ...)
{
	va_list args;

	va_start(args, format);
	notice(r, severity, offset, format, args);
	va_end(args);
}

tel_status
tel__reader_fail(struct tel_reader *r, tel_status status, const char *format,
    ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(r->error, sizeof(r->error), format, args);
	va_end(args);
	return status;
}

tel_status
tel__reader_damage(struct tel_reader *r, uint64_t offset, uint64_t skipped,
    const char *format, ...)
{
	va_list args;

	r->count[TEL_COUNT_DAMAGED]++;
	r->count[TEL_COUNT_SKIPPED] += skipped;
	va_start(args, format);
	notice(r, TEL_DAMAGE, offset, format, args);
	va_end(args);
	if (!r->strict)
		return TEL_OK;
	va_start(args, format);
	vsnprintf(r->error, sizeof(r->error), format, args);
	va_end(args);
	return TEL_EDAMAGED;
}

/* The value of the field called name, 0 when there is none. */
static uint64_t
field(const struct tel_event *ev, const char *name)
{
	int i = tel_type_find_field(ev->type, name);

	return i < 0 ? 0 : tel_load(&ev->type->fields[i], ev->data);
}

/*
 * The version rule of design.mps.telemetry, .sol.version: a minor version
 * adds event types, a median one may change an event, a major one the whole.
 */
static tel_status
follow_init(struct tel_reader *r, const struct tel_event *ev)
{
	const uint8_t *known =
	    tel__mps_releases[ev->log->schema->release].version;
	const uint8_t *newest =
	    tel__mps_releases[tel__mps_nreleases - 1].version;
	uint64_t v[3];
	char text[64];

	v[0] = field(ev, "major");
	v[1] = field(ev, "median");
	v[2] = field(ev, "minor");
	tel__clock_set_unit(ev->log->clock, field(ev, "clocksPerSec"));
	if (v[0] == known[0] && v[1] == known[1] && v[2] == known[2])
		return TEL_OK;
	snprintf(text, sizeof(text), "%llu.%llu.%llu", (unsigned long long)v[0],
	    (unsigned long long)v[1], (unsigned long long)v[2]);
	if (v[0] > newest[0] && !r->force)
		return tel__reader_fail(r, TEL_EVERSION,
		    "the stream is of version %s; up to %u.x is known", text,
		    newest[0]);
	if (r->notices & READER_TOLD_VERSION)
		return TEL_OK;
	r->notices |= READER_TOLD_VERSION;
	tel__reader_notice(r, TEL_WARNING, ev->offset,
	    "the stream says version %s and is read as %s (%s): events that "
	    "are not known are shown by number",
	    text, ev->log->schema->version, ev->log->schema->name);
	return TEL_OK;
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
	if (st == TEL_ELIMIT && !(r->notices & READER_TOLD_LIMIT)) {
		r->notices |= READER_TOLD_LIMIT;
		tel__reader_notice(r, TEL_WARNING, ev->offset,
		    "too many strings or labels: those beyond %zu are left out",
		    r->max_labels);
	}
	return TEL_OK;
}
