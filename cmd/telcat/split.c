/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --split: the events in several files, by size, by time or by the value of a
 * field.  Each file is complete by itself: a printer or a writer of its own has
 * made it.
 */
#include "telcat.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "common/message.h"
#include "common/number.h"

/* Pieces that are open at once, each with its buffers. */
#define OPEN_MAX 256u
/* Digits of a piece's number. */
#define WIDTH_MAX 18u

/* A file that is written. */
struct piece {
	struct settings settings; /* with its name as the output */
	struct sink sink;
	tel_writer *writer; /* or NULL, */
	tel_printer *printer;
	uint64_t value; /* of the field */
	int has_value;
	int broken; /* it is not to be written any more */
};

struct split {
	struct telcat *telcat;
	enum { BY_SIZE, BY_TIME, BY_FIELD } by;
	uint64_t limit; /* bytes, or ns of time */
	const char *field;
	size_t prefix; /* of the pattern, before the number */
	const char *suffix;
	unsigned width;
	struct piece **pieces; /* that are open; by size and time one */
	size_t npieces, room;
	uint64_t count; /* of all */
	uint64_t first; /* the clock of the first event */
	uint64_t step;  /* by time: the number of the step that is open */
	struct source *const *sources;
	int nsources;
	int failed;
};

/* ------------------------------------------------------------- options */

/* Finds the number in the name of the output.  1, or 0 after a message. */
static int
parse_pattern(struct split *s, const char *name)
{
	const char *percent = name != NULL ? strchr(name, '%') : NULL;
	const char *p = percent != NULL ? percent + 1 : NULL;

	while (p != NULL && *p >= '0' && *p <= '9' && s->width <= WIDTH_MAX)
		s->width = 10 * s->width + (unsigned)(*p++ - '0');
	if (p != NULL && *p == 'd' && strchr(p, '%') == NULL &&
	    s->width <= WIDTH_MAX && (p == percent + 1 || percent[1] == '0')) {
		s->prefix = (size_t)(percent - name);
		s->suffix = p + 1;
		return 1;
	}
	return message_fail(STATUS_USAGE, NULL,
	    "--split: expected -o with a name that has one number, such as "
	    "part-%%05d.tel");
}

/* Whether the text is a size, a time or a field.  1, or 0 after a message. */
static int
parse_by(struct split *s, const char *text)
{
	int64_t ns;

	s->field = text;
	if (number_parse(text, &s->limit)) {
		s->by = BY_SIZE;
	} else if (number_time(text, &ns)) {
		s->by = BY_TIME;
		s->limit = ns > 0 ? (uint64_t)ns : 0;
	} else {
		s->by = BY_FIELD;
		s->limit = 1;
	}
	if (s->limit > 0 && text[0] != '\0')
		return 1;
	return message_fail(STATUS_USAGE, NULL,
	    "--split: '%s': expected a size, such as 64M, a time, such as 10s, "
	    "or the name of a field",
	    text);
}

/* Only events that do not depend on each other can be in several files. */
static int
telcat_split_check_format(const struct telcat *t)
{
	const char *name = t->settings.format;

	if (!t->types &&
	    (t->format.shown == NULL ?
	            format_native(name) :
	            (t->format.flags &
	                (TEL_PRINTER_TIMELINE | TEL_PRINTER_FILE |
	                    TEL_PRINTER_BY_LOG | TEL_PRINTER_WHOLE)) == 0))
		return 1;
	return message_fail(STATUS_USAGE, NULL,
	    "--split cannot be combined with %s%s",
	    t->types ? "--types" : "-f ", t->types ? "" : name);
}

int
telcat_split_check(const struct telcat *t)
{
	struct split s = { 0 };

	return parse_by(&s, t->split) && telcat_split_check_format(t) &&
	    parse_pattern(&s, t->settings.output);
}

/* -------------------------------------------------------------- pieces */

/* Reports why a piece could not be written. */
static void
telcat_split_report_error(struct split *s, struct piece *p, tel_status st)
{
	const char *why = p->writer != NULL ? tel_writer_error(p->writer) :
	    p->printer != NULL              ? tel_printer_error(p->printer) :
	                                      "";

	s->failed = 1;
	p->broken = 1;
	sink_report(&p->sink, p->settings.output, st, why);
	if (st == TEL_EINVAL && p->printer != NULL &&
	    tel_printer_misnamed(p->printer))
		message_raise(STATUS_USAGE);
}

static void
close_piece(struct split *s, struct piece *p)
{
	tel_status st = TEL_OK;

	if (!p->broken && p->writer != NULL)
		st = tel_writer_finish(p->writer);
	else if (!p->broken && p->printer != NULL)
		st = tel_printer_finish(p->printer);
	if (st != TEL_OK)
		telcat_split_report_error(s, p, st);
	tel_writer_free(p->writer);
	tel_printer_free(p->printer);
	sink_close(&p->sink);
	s->failed |= p->sink.failed;
	free((char *)(uintptr_t)p->settings.output);
	free(p);
}

static void
close_pieces(struct split *s)
{
	while (s->npieces > 0)
		close_piece(s, s->pieces[--s->npieces]);
}

/* The name of the next piece; NULL: no memory. */
static char *
name_piece(const struct split *s)
{
	size_t size = s->prefix + WIDTH_MAX + 24 + strlen(s->suffix);
	char *name = malloc(size);

	if (name != NULL)
		(void)snprintf(name, size, "%.*s%0*" PRIu64 "%s",
		    (int)s->prefix, s->telcat->settings.output, (int)s->width,
		    s->count, s->suffix);
	return name;
}

/* Makes what writes a piece.  TEL_OK, or what failed. */
static tel_status
telcat_split_set_up(const struct split *s, struct piece *p)
{
	const struct telcat *t = s->telcat;

	if (t->format.shown != NULL)
		return telcat_printer(t, &p->sink, p->sink.out, &p->printer);
	p->writer = format_writer(&p->settings, &p->sink, 1);
	return p->writer == NULL ? TEL_ENOMEM :
	                           tel_writer_set(p->writer, TEL_WRITE_PART, 1);
}

/* Opens another piece.  NULL after a message. */
static struct piece *
open_piece(struct split *s)
{
	struct piece *p = calloc(1, sizeof(*p));
	char *name = name_piece(s);
	tel_status st;

	if (p == NULL || name == NULL ||
	    !TEL__RESERVE(s->pieces, s->room, s->npieces + 1)) {
		(void)message_no_memory();
		goto fail;
	}
	p->settings = s->telcat->settings;
	p->settings.output = name;
	if (!output_open(&p->sink, &p->settings))
		goto fail;
	s->count++;
	s->pieces[s->npieces++] = p;
	st = telcat_split_set_up(s, p);
	if (st == TEL_OK)
		return p;
	telcat_split_report_error(s, p, st);
	return NULL;
fail:
	s->failed = 1;
	free(name);
	free(p);
	return NULL;
}

/* ------------------------------------------------------------- routing */

/* The number of the field that events are split by; -1: it has none. */
static int
telcat_split_find_field(const struct split *s, const tel_type *type)
{
	int i = tel_type_find_field(type, s->field);

	if (i < 0 && strcmp(s->field, "process") == 0)
		i = tel_type_find_field(type, "pid");
	if (i < 0 && strcmp(s->field, "thread") == 0)
		i = tel_type_find_field(type, "tid");
	return i;
}

/* Whether a type of one of the logs has the field; 0 after a message. */
static int
check_field(const struct split *s)
{
	const tel_schema *schema = NULL;

	for (int j = 0; j < s->nsources; j++) {
		schema = tel_reader_schema(s->sources[j]->reader);
		for (unsigned i = 0; i < tel_schema_type_count(schema); i++)
			if (telcat_split_find_field(s,
			        tel_schema_type(schema, i)) >= 0)
				return 1;
	}
	return message_fail(STATUS_USAGE, s->sources[0]->name,
	    "--split: no event type has a field '%s'", s->field);
}

/* The piece of a value, opened if it is new.  NULL after a message. */
static struct piece *
piece_of_value(struct split *s, const tel_event *ev)
{
	const tel_type *type = tel_event_type(ev);
	const int field = telcat_split_find_field(s, type);
	const int has = field >= 0 && tel_event_has(ev, (unsigned)field);
	tel_datatype datatype = TEL_UNSIGNED;
	uint64_t value = 0;

	if (has)
		datatype =
		    tel_field_datatype(tel_type_field(type, (unsigned)field));
	if (datatype == TEL_STRING || datatype == TEL_LIST) {
		message_fail(STATUS_FAILED, NULL,
		    "--split: the field '%s' is a %s", s->field,
		    tel_datatype_name(datatype));
		s->failed = 1;
		return NULL;
	}
	if (has)
		value = tel_event_u64(ev, (unsigned)field);
	for (size_t i = 0; i < s->npieces; i++)
		if (s->pieces[i]->has_value == has &&
		    s->pieces[i]->value == value)
			return s->pieces[i];
	if (s->npieces == OPEN_MAX) {
		message_fail(STATUS_FAILED, NULL,
		    "--split: the field '%s' has more than %u values", s->field,
		    OPEN_MAX);
		s->failed = 1;
		return NULL;
	}
	struct piece *p = open_piece(s);
	if (p != NULL) {
		p->value = value;
		p->has_value = has;
	}
	return p;
}

/* The step of time that an event is in.  1, or 0 after a message. */
static int
find_step(struct split *s, const tel_event *ev, uint64_t *step)
{
	const uint64_t clock = tel_event_clock(ev);
	double rate = 0, ns;
	uint64_t now;

	for (int i = 0; i < s->nsources && rate <= 0; i++)
		rate = tel_reader_tick_rate(s->sources[i]->reader);
	if (rate <= 0) {
		message_fail(STATUS_FAILED, s->sources[0]->name,
		    "the log does not record the rate of its clock; set "
		    "--tb-hz");
		s->failed = 1;
		return 0;
	}
	if (s->count == 0)
		s->first = clock;
	*step = s->step;
	if (clock <= s->first)
		return 1;
	/* whole nanoseconds: in seconds, most starts of steps are inexact */
	ns = (double)(clock - s->first) * 1e9 / rate + 0.5;
	now = (ns < 0x1p63 ? (uint64_t)ns : UINT64_C(1) << 63) / s->limit;
	/* an event earlier than the one before goes with that */
	if (now > s->step)
		*step = now;
	return 1;
}

/* The piece for an event.  NULL after a message. */
static struct piece *
find_piece(struct split *s, const tel_event *ev)
{
	uint64_t step = 0;

	if (s->by == BY_FIELD)
		return piece_of_value(s, ev);
	if (s->by == BY_TIME && !find_step(s, ev, &step))
		return NULL;
	int full = s->npieces > 0 &&
	    (s->by == BY_SIZE ?
	            tel_output_bytes(s->pieces[0]->sink.out) >= s->limit :
	            step != s->step);
	s->step = step;
	if (full)
		close_pieces(s);
	if (s->failed)
		return NULL;
	return s->npieces > 0 ? s->pieces[0] : open_piece(s);
}

static int
telcat_split_begin(void *arg, struct source *const *srcs, int n)
{
	struct split *s = arg;

	s->sources = srcs;
	s->nsources = n;
	for (size_t i = 0; i < s->npieces; i++)
		if (s->pieces[i]->printer != NULL)
			tel_printer_set_file(s->pieces[i]->printer, 0, 0);
	return s->by != BY_FIELD || check_field(s);
}

static enum outcome
telcat_split_event(void *arg, const tel_event *ev)
{
	struct split *s = arg;
	struct piece *p = find_piece(s, ev);

	if (p == NULL)
		return END_ALL;
	tel_status st = p->writer != NULL ? tel_writer_event(p->writer, ev) :
	                                    tel_printer_event(p->printer, ev);
	if (st == TEL_OK)
		return CONTINUE;
	telcat_split_report_error(s, p, st);
	return END_ALL;
}

static enum outcome
telcat_split_end(void *arg)
{
	struct split *s = arg;
	tel_status st = TEL_OK;

	/* also after a failure, as the schemas are about to be freed */
	for (size_t i = 0; i < s->npieces; i++) {
		if (s->pieces[i]->writer == NULL || s->pieces[i]->broken)
			continue;
		st = tel_writer_end_file(s->pieces[i]->writer, NULL);
		if (st != TEL_OK)
			telcat_split_report_error(s, s->pieces[i], st);
	}
	return s->failed ? END_ALL : CONTINUE;
}

void
telcat_split(struct telcat *t)
{
	struct visitor visitor = { 0 };
	struct split s = { 0 };

	s.telcat = t;
	if (!parse_by(&s, t->split) || !parse_pattern(&s, t->settings.output))
		return;
	visitor.arg = &s;
	visitor.begin = telcat_split_begin;
	visitor.event = telcat_split_event;
	visitor.end = telcat_split_end;
	/* pieces of logs have its order */
	visitor.any_order = t->format.shown == NULL;
	/* fields may be expressions, of which the printers come later */
	visitor.needs_rate = s.by == BY_TIME || t->fields != NULL;
	visitor.remembers = t->fields != NULL;
	sources_run(&t->settings, &visitor);
	close_pieces(&s);
	free(s.pieces);
}
