/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From events back to records: what the events of another format say that has
 * the types of schema.c.  What a record left out is a 0 in its event, or an
 * empty string, and is left out again where that means the same.
 */
#include "format/inst/inst.h"
#include "format/inst/write.h"
#include "model/row.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A field of a row: "LETTER:NAME=KEY". */
struct piece {
	char letter;
	const char *name, *key;
	size_t name_length, key_length;
};

/* Takes the piece at p.  Returns its end; NULL: no more. */
static const char *
next_piece(const char *p, struct piece *out)
{
	p += strspn(p, " ");
	size_t n = strcspn(p, " ");
	if (n < 3)
		return NULL;
	out->letter = *p;
	out->name = out->key = p + 2;
	out->name_length = out->key_length = n - 2;
	const char *sign = memchr(p, '=', n);
	if (sign != NULL) {
		out->name_length = (size_t)(sign - out->name);
		out->key = sign + 1;
		out->key_length = n - (size_t)(out->key - p);
	}
	return p + n;
}

static int
is_key(const struct piece *p, const char *key)
{
	return strlen(key) == p->key_length &&
	    memcmp(key, p->key, p->key_length) == 0;
}

/* Where a type has the field of a piece; -1: nowhere. */
static int
inst_event_find_field(const struct tel_type *t, const struct piece *p)
{
	char name[32];

	if (p->name_length >= sizeof(name))
		return -1;
	memcpy(name, p->name, p->name_length);
	name[p->name_length] = '\0';
	int at = tel_type_find_field(t, name);
	if (at < 0 || t->fields[at].datatype == TEL_DOUBLE ||
	    (t->fields[at].datatype == TEL_STRING) != (p->letter == 't'))
		return -1;
	return at;
}

int
tel__inst_bind(const struct tel_type *t, struct inst_binding *out)
{
	const struct tel_type_row *row;
	struct piece piece;
	const char *p;
	unsigned i, n;

	for (i = 0; i < T_TYPES; i++) {
		row = tel__inst_row((enum inst_type)i);
		if (strcmp(row->name, t->name) != 0)
			continue;
		out->type = (enum inst_type)i;
		out->row = tel__inst_class_row(out->type);
		for (p = row->fields, n = 0;
		     (p = next_piece(p, &piece)) != NULL; n++) {
			out->fields[n] = inst_event_find_field(t, &piece);
			if (out->fields[n] < 0)
				return 0;
		}
		return 1;
	}
	return 0;
}

/* -------------------------------------------------------------- records */

/*
 * How the records of a type begin that are no class's; NULL: the event has all
 * of the record.
 */
static const char *const beginnings[T_TYPES] = {
	[T_HEADER] = "H inst",
	[T_SYNC] = "K",
	[T_LOST] = "L",
	[T_FINISH] = "Z",
	[T_DESCRIPTOR] = "D",
	[T_ENABLE] = "X op=enable",
	[T_DISABLE] = "X op=disable",
	[T_DISPOSE] = "X op=dispose",
	[T_TRACE] = "E p=0",
	[T_TRACE_ON] = "E p=0",
	[T_START] = "E p=1",
	[T_START_ON] = "E p=1",
	[T_END] = "E p=2",
	[T_END_ON] = "E p=2",
	[T_MIDDLE] = "E p=3",
	[T_MIDDLE_ON] = "E p=3",
	[T_UPDATE_SET] = "U op=abs",
	[T_UPDATE_ADD] = "U op=delta",
	[T_UPDATE_GROWTH] = "U op=inc",
	[T_UPDATE_HISTOGRAM] = "U op=hist",
	[T_UPDATE_TALLY] = "U op=tally",
	[T_BUCKETS] = "SB",
	[T_BUCKET] = "SB",
	[T_TOP_VALUE] = "SB",
};

/* Whether the events define a class. */
static int
is_definition(const struct inst_binding *b)
{
	return b->row != NULL && b->row->definition == b->type;
}

/* Begins the record of an event.  0: the event has all of it. */
static int
put_beginning(struct inst_writer *w, const struct inst_binding *b)
{
	const char *text = beginnings[b->type];

	if (b->row != NULL)
		text = is_definition(b) ? "C" : "S";
	tel__inst_put_record(w, text != NULL ? text : "");
	if (is_definition(b) && *b->row->name != '\0')
		tel__inst_put_word(w, "type", b->row->name);
	return text != NULL;
}

/* The event that a record is made of. */
struct making {
	struct inst_writer *w;
	const struct inst_binding *binding;
	const struct tel_event *ev;
};

/* The number in field n of the row. */
static uint64_t
inst_event_number(const struct making *m, unsigned n)
{
	return tel_event_u64(m->ev, (unsigned)m->binding->fields[n]);
}

static void
inst_event_put_name(const struct making *m, const char *key, size_t n)
{
	char name[32];

	if (n >= sizeof(name))
		return;
	memcpy(name, key, n);
	name[n] = '\0';
	tel__inst_put_name(m->w, name);
}

/* A key of a tally that is a number was one in the record. */
static int
inst_event_is_integer(const char *s, size_t n)
{
	const size_t digits = n - (n > 0 && s[0] == '-');

	if (digits == 0 || digits > 19 || (s[n - digits] == '0' && n > 1))
		return 0;
	for (size_t i = n - digits; i < n; i++)
		if (s[i] < '0' || s[i] > '9')
			return 0;
	return 1;
}

/* Whether a value can be without quotes. */
static int
inst_event_is_plain(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (s[i] <= ' ' || s[i] > '~' || s[i] == '"')
			return 0;
	return n > 0;
}

static void
inst_event_put_string(const struct making *m, unsigned n, const struct piece *p)
{
	size_t size = 0;
	const char *s =
	    tel_event_string(m->ev, (unsigned)m->binding->fields[n], &size);
	const int valued = m->binding->type == T_TOP_VALUE;
	const int key = m->binding->type == T_UPDATE_TALLY ||
	    m->binding->type == T_BUCKET ||
	    (valued && is_key(p, size > 0 ? "k" : "log"));

	if (is_key(p, "path")) {
		if (!is_definition(m->binding))
			return;
		inst_event_put_name(m, "name", 4);
	} else if (is_key(p, "component")) {
		return;
	} else if (is_key(p, "text")) {
		inst_event_put_name(m, "s", 1);
	} else {
		if (size == 0 && !key)
			return;
		inst_event_put_name(m, p->key, p->key_length);
	}
	/* words, and lists of buckets, have no quotes */
	if ((key && inst_event_is_integer(s, size)) ||
	    ((is_key(p, "b") || is_key(p, "type")) &&
	        inst_event_is_plain(s, size)))
		tel__buffer_put(&m->w->line, s, size);
	else
		tel__inst_put_quoted(m->w, s, size);
}

/* Whether a number is undefined, as there was no update yet. */
static int
is_unknown(const struct making *m, const struct piece *p)
{
	const int bounds = is_key(p, "last") || is_key(p, "min") ||
	    is_key(p, "max") || is_key(p, "cur");
	size_t buckets = 0;

	switch (m->binding->type) {
	case T_SNAP_MAGNITUDE:
	case T_SNAP_TOP:
	case T_SNAP_GROWTH: return bounds && inst_event_number(m, 2) == 0;
	case T_SNAP_SUMMARY: return bounds && inst_event_number(m, 3) == 0;
	case T_SNAP_HISTOGRAM:
		/* without a weight, neither that nor the sum is known */
		(void)tel_event_string(m->ev, (unsigned)m->binding->fields[8],
		    &buckets);
		if (is_key(p, "w") || is_key(p, "sum"))
			return inst_event_number(m, 3) == 0 &&
			    (buckets > 0 || is_key(p, "sum"));
		return is_key(p, "under") || is_key(p, "over") ?
		    inst_event_number(m, 5) + inst_event_number(m, 6) !=
		        inst_event_number(m, 7) :
		    is_key(p, "outside") &&
		        inst_event_number(m, 5) + inst_event_number(m, 6) ==
		            inst_event_number(m, 7);
	case T_HEADER: return is_key(p, "hz") && inst_event_number(m, 3) == 0;
	default: return 0;
	}
}

/*
 * Whether the log was an inst log, whose reader applies the rules of enabled
 * classes. libtel-emit has applied them, and writes only records that count.
 */
static int
is_inst(const struct making *m)
{
	return strcmp(m->ev->log->schema->name, "inst-1") == 0;
}

static void
inst_event_put_number(const struct making *m, unsigned n, const struct piece *p)
{
	const uint64_t v = inst_event_number(m, n);
	char text[24];

	if (is_key(p, "class")) {
		/* a definition has its own number */
		if (is_definition(m->binding))
			return;
		inst_event_put_name(m, "c", 1);
	} else if (is_key(p, "range") || is_unknown(m, p) ||
	    (is_key(p, "en") && !is_inst(m))) {
		return;
	} else if (is_key(p, "major") || is_key(p, "median") ||
	    is_key(p, "minor")) {
		tel__inst_put_text(m->w, " ");
	} else if (is_key(p, "outside")) {
		inst_event_put_name(m, "ovf", 3);
	} else {
		inst_event_put_name(m, p->key, p->key_length);
	}
	if (p->letter == 'i') {
		snprintf(text, sizeof(text), "%" PRId64, (int64_t)v);
		tel__inst_put_text(m->w, text);
	} else {
		tel__inst_put_u64(m->w, v);
	}
}

/* How many bytes come before one that ends a line. */
static size_t
line_length(const char *s, size_t n)
{
	size_t i;

	for (i = 0; i < n && (unsigned char)s[i] >= ' '; i++)
		;
	return i;
}

void
tel__inst_put_event(struct inst_writer *w, const struct inst_binding *b,
    const struct tel_event *ev)
{
	const struct making m = { w, b, ev };
	const char *p = tel__inst_row(b->type)->fields, *s;
	struct piece piece;
	size_t size = 0;

	w->clock = ev->clock;
	int fields = put_beginning(w, b);
	for (unsigned n = 0; (p = next_piece(p, &piece)) != NULL; n++) {
		if (!fields) {
			s = tel_event_string(ev, (unsigned)b->fields[n], &size);
			if (is_key(&piece, "record"))
				tel__buffer_put(&w->line, s,
				    line_length(s, size));
		} else if (piece.letter == 't') {
			inst_event_put_string(&m, n, &piece);
		} else {
			inst_event_put_number(&m, n, &piece);
		}
	}
	tel__inst_put_text(w, "\n");
}
