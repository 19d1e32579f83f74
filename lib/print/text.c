/* SPDX-License-Identifier: BSD-2-Clause */
/* Telcat's own text: teltools(7) describes it, formats/text.c reads it. */
#include <stdio.h>

#include "model/role.h"
#include "print/escape.h"
#include "print/number.h"
#include "print/printer.h"

#define HEADER "# teltools text 1\n"

enum print_op
tel__print_text_op(const struct tel_field *f, int doubled)
{
	switch (f->datatype) {
	case TEL_SET:
	case TEL_ADDRESS:
	case TEL_POINTER: return PRINT_HEX;
	case TEL_SIGNED: return PRINT_SIGNED;
	case TEL_BOOLEAN: return PRINT_BOOLEAN;
	case TEL_DOUBLE: return PRINT_DOUBLE;
	case TEL_STRING:
		return doubled ? PRINT_STRING_DOUBLED : PRINT_STRING_TEXT;
	case TEL_UNSIGNED: break;
	}
	return PRINT_DECIMAL;
}

/* What stands around the value of f. */
static const char *
quotes(const struct tel_field *f, int doubled)
{
	if (f->datatype != TEL_STRING)
		return "";
	return doubled ? "\"\"" : "\"";
}

static void
add_field(struct tel_printer *pr, struct print_builder *b,
    const struct tel_type *type, unsigned i, int doubled)
{
	const struct tel_field *f = &type->fields[i];
	enum print_op op = tel__print_text_op(f, doubled);

	tel__print_bytes(b, f->name, f->name_length);
	tel__print_literal(b, op == PRINT_HEX ? "=0x" : "=");
	tel__print_literal(b, quotes(f, doubled));
	tel__print_field(b, op, i, tel__print_space_of(pr, f));
	tel__print_literal(b, quotes(f, doubled));
}

/* The only field that an event of an unknown type has. */
static void
add_unknown(struct tel_printer *pr, struct print_builder *b, const char *first)
{
	unsigned i;

	for (i = 0; i < pr->nnames; i++)
		if (strcmp(pr->names[i], "bytes") == 0)
			break;
	if (pr->names != NULL && i == pr->nnames)
		return;
	tel__print_literal(b, first);
	tel__print_literal(b, "bytes=");
	tel__print_op(b, PRINT_BYTES);
}

void
tel__print_text_fields(struct tel_printer *pr, struct print_builder *b,
    const struct tel_type *type, const char *first, int doubled)
{
	unsigned i, n = pr->nnames;
	int at;

	if (type == NULL) {
		add_unknown(pr, b, first);
		return;
	}
	if (pr->names == NULL)
		n = type->nfields;
	for (i = 0; i < n; i++) {
		at = pr->names == NULL ? (int)i :
		                         tel__print_find(type, pr->names[i]);
		if (at < 0)
			continue;
		tel__print_literal(b, first);
		add_field(pr, b, type, (unsigned)at, doubled);
		first = " ";
	}
}

static struct print_program *
compile(struct tel_printer *pr, const struct tel_type *type,
    enum print_variant variant)
{
	struct print_builder b;
	char color[16];

	(void)variant;
	tel__print_begin(&b, type, LABELS_TEXT);
	if (pr->color)
		tel__print_literal(&b, "\033[2m");
	tel__print_op(&b,
	    pr->time == TEL_TIME_TICKS ? PRINT_CLOCK : PRINT_TIME);
	tel__print_literal(&b, pr->color ? "\033[0m " : " ");
	if (pr->color) {
		/* 31 to 36 are the colours that are neither black nor white */
		snprintf(color, sizeof(color), "\033[1;%um",
		    31 + (type == NULL ? 0 : (type->kind_number + 1u) % 6));
		tel__print_literal(&b, color);
	}
	if (type == NULL) {
		tel__print_literal(&b, "0x");
		tel__print_op(&b, PRINT_CODE_ZERO);
	} else {
		tel__print_bytes(&b, type->name, type->name_length);
	}
	if (pr->color)
		tel__print_literal(&b, "\033[0m");
	tel__print_text_fields(pr, &b, type, " ", 0);
	tel__print_literal(&b, "\n");
	return tel__print_end(&b);
}

/* The line with the clock's rate, once that is known. */
static tel_status
put_rate(struct tel_printer *pr, const struct tel_event *ev)
{
	unsigned char rate[TEL_PUT_MAX];
	double hertz = tel__clock_rate(ev->log->clock);

	pr->rate_owed = !(hertz > 0);
	if (pr->rate_owed)
		return TEL_OK;
	*tel__put_hertz(rate, hertz) = '\0';
	print_put(pr, "# tick rate: ");
	print_put(pr, (const char *)rate);
	return print_put(pr, "\n");
}

/* A word of a header line; in quotes, as strings are, where it must be. */
static void
put_word(struct tel_printer *pr, const char *word)
{
	size_t n = strlen(word), i;
	unsigned char *p = tel_output_room(pr->out, TEL_ESCAPE_ROOM(n) + 2);
	int plain = n > 0 && word[0] != '"';

	if (p == NULL)
		return;
	for (i = 0; i < n; i++)
		plain &= word[i] > ' ' && word[i] <= '~';
	if (plain) {
		memcpy(p, word, n);
		p += n;
	} else {
		*p++ = '"';
		p = tel__escape_text(p, word, n, 0);
		*p++ = '"';
	}
	pr->out->used = (size_t)(p - pr->out->buffer);
}

/* "# type: NAME CODE KIND FIELD:SORT:BITS ...", BITS where they are not 64. */
static void
put_type(struct tel_printer *pr, const struct tel_type *t)
{
	const struct tel_field *f;
	char number[32];
	unsigned i;

	print_put(pr, "# type: ");
	print_put(pr, t->name);
	snprintf(number, sizeof(number), " %lu ", (unsigned long)t->code);
	print_put(pr, number);
	put_word(pr, t->kind);
	for (i = 0; i < t->nfields; i++) {
		f = &t->fields[i];
		print_put(pr, " ");
		print_put(pr, f->name);
		print_put(pr, ":");
		print_put(pr, tel_datatype_name(f->datatype));
		if (f->width != 64 && f->datatype != TEL_STRING) {
			snprintf(number, sizeof(number), ":%u", f->width);
			print_put(pr, number);
		}
	}
	print_put(pr, "\n");
}

/*
 * "# role: NAME ROLE [PARTNER] FIELD ...", for the roles that mean something
 * beyond the log's own format.
 */
static void
put_role(struct tel_printer *pr, const struct tel_schema *s,
    const struct tel_type *t)
{
	unsigned i, n = 3;

	if (t->role < TEL_ROLE_ALLOC)
		return;
	if (t->role == TEL_ROLE_START &&
	    (t->partner < 0 || (unsigned)t->partner >= s->ntypes))
		return;
	print_put(pr, "# role: ");
	print_put(pr, t->name);
	print_put(pr, " ");
	print_put(pr, tel__role_name((enum tel_role)t->role));
	if (t->role == TEL_ROLE_START) {
		print_put(pr, " ");
		print_put(pr, s->types[t->partner].name);
	}
	while (n > 0 && t->role_field[n - 1] < 0)
		n--;
	for (i = 0; i < n; i++) {
		print_put(pr, " ");
		print_put(pr,
		    t->role_field[i] < 0 ? "-" :
		                           t->fields[t->role_field[i]].name);
	}
	for (i = 3; i < TEL_ROLE_PARTS; i++) {
		if (t->role_field[i] < 0)
			continue;
		print_put(pr, " ");
		print_put(pr, tel__part_name((enum tel_role_part)i));
		print_put(pr, "=");
		print_put(pr, t->fields[t->role_field[i]].name);
	}
	print_put(pr, "\n");
}

static void
put_types(struct tel_printer *pr, const struct tel_schema *s)
{
	unsigned i;

	for (i = 0; i < s->ntypes; i++)
		put_type(pr, &s->types[i]);
	for (i = 0; i < s->ntypes; i++)
		put_role(pr, s, &s->types[i]);
}

static tel_status
begin_log(struct tel_printer *pr, const struct tel_event *ev, int same)
{
	const struct tel_schema *s = ev->log->schema;
	char line[256];

	(void)same;
	if (!pr->header)
		return TEL_OK;
	snprintf(line, sizeof(line), HEADER "# format: %s\n", s->name);
	print_put(pr, line);
	if (s->version[0] != '\0') {
		snprintf(line, sizeof(line), "# version: %s\n", s->version);
		print_put(pr, line);
	}
	/* a schema that is described by its types has no ABI to tell of */
	if (s->platform[0] != '\0' && !s->described) {
		snprintf(line, sizeof(line),
		    "# platform: %s, %u-bit, %s-endian\n", s->platform,
		    s->abi.word * 8u, s->abi.big ? "big" : "little");
		print_put(pr, line);
	}
	put_rate(pr, ev);
	if (s->untimed)
		print_put(pr, "# untimed: 0\n");
	if (s->described)
		put_types(pr, s);
	return pr->out->status;
}

/* A log that is read as it comes tells its rate only after a while. */
static tel_status
sync_point(struct tel_printer *pr, const struct tel_event *ev)
{
	return pr->header ? put_rate(pr, ev) : TEL_OK;
}

static tel_status
finish(struct tel_printer *pr)
{
	if (!pr->started && pr->header)
		return print_put(pr, HEADER);
	return TEL_OK;
}

const struct print_style tel__print_style_text = {
	.begin_log = begin_log,
	.sync_point = sync_point,
	.compile = compile,
	.finish = finish,
};
