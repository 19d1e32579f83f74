/* SPDX-License-Identifier: BSD-2-Clause */
/* Telcat's own text: tel-text(5) describes it, format/text reads it. */
#include <stdio.h>

#include "model/metadata.h"
#include "model/role.h"
#include "render/escape.h"
#include "render/number.h"
#include "render/renderer.h"

#define HEADER "# teltools text 1\n"

static struct render_program *
print_text_compile(struct tel_printer *pr, const struct tel_type *type)
{
	struct render_builder b;
	char color[16];

	tel__render_start(&b, type, LABELS_TEXT);
	if (pr->color)
		tel__render_add(&b, "\033[2m");
	tel__render_add_op(&b,
	    pr->time == TEL_TIME_TICKS ? RENDER_CLOCK : RENDER_TIME);
	tel__render_add(&b, pr->color ? "\033[0m " : " ");
	if (pr->color) {
		/* 31 to 36 are the colours that are neither black nor white */
		snprintf(color, sizeof(color), "\033[1;%um",
		    31 + (type == NULL ? 0 : (type->kind_number + 1u) % 6));
		tel__render_add(&b, color);
	}
	if (type == NULL) {
		tel__render_add(&b, "0x");
		tel__render_add_op(&b, RENDER_CODE_ZERO);
	} else {
		tel__render_add_bytes(&b, type->name, type->name_length);
	}
	if (pr->color)
		tel__render_add(&b, "\033[0m");
	tel__render_text_fields(pr, &b, type, " ", 0);
	tel__render_add(&b, "\n");
	return tel__render_end(&b);
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
	render_put(pr, "# tick rate: ");
	render_put(pr, (const char *)rate);
	return render_put(pr, "\n");
}

/* A word of a header line; in quotes like a string where it needs them. */
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

/*
 * "# type: NAME CODE KIND FIELD:SORT:BITS ...", BITS where they are not 64.
 * FIELD? may be absent; a list has the data type of its elements, an enum that
 * of its values.
 */
static void
print_text_put_type(struct tel_printer *pr, const struct tel_type *t)
{
	char number[32];

	render_put(pr, "# type: ");
	render_put(pr, t->name);
	snprintf(number, sizeof(number), " %lu ", (unsigned long)t->code);
	render_put(pr, number);
	put_word(pr, t->kind);
	for (unsigned i = 0; i < t->nfields; i++) {
		const struct tel_field *f = &t->fields[i];

		/* it is shown as a label of the field before it */
		if (f->is_label)
			continue;
		enum tel_datatype values = f->datatype == TEL_LIST ?
		    (enum tel_datatype)f->element :
		    f->datatype;
		render_put(pr, " ");
		render_put(pr, f->name);
		render_put(pr, f->present ? "?:" : ":");
		if (f->datatype == TEL_LIST)
			render_put(pr, "list:");
		if (i + 1 < t->nfields && t->fields[i + 1].is_label)
			render_put(pr, "enum:");
		render_put(pr, tel_datatype_name(values));
		if (f->width != 64 && values != TEL_STRING) {
			snprintf(number, sizeof(number), ":%u", f->width);
			render_put(pr, number);
		}
	}
	render_put(pr, "\n");
}

/*
 * "# role: NAME ROLE [PARTNER] FIELD ...", for the roles that hold in any
 * format.
 */
static void
print_text_put_role(struct tel_printer *pr, const struct tel_schema *s,
    const struct tel_type *t)
{
	unsigned i, n = 3;

	if (t->role < TEL_ROLE_FRAME)
		return;
	if (t->role == TEL_ROLE_START &&
	    (t->partner < 0 || (unsigned)t->partner >= s->ntypes))
		return;
	render_put(pr, "# role: ");
	render_put(pr, t->name);
	render_put(pr, " ");
	render_put(pr, tel__role_name((enum tel_role)t->role));
	if (t->role == TEL_ROLE_START) {
		render_put(pr, " ");
		render_put(pr, s->types[t->partner].name);
	}
	while (n > 0 && t->role_field[n - 1] < 0)
		n--;
	for (i = 0; i < n; i++) {
		render_put(pr, " ");
		render_put(pr,
		    t->role_field[i] < 0 ? "-" :
		                           t->fields[t->role_field[i]].name);
	}
	for (i = 3; i < TEL_ROLE_PARTS; i++) {
		if (t->role_field[i] < 0)
			continue;
		render_put(pr, " ");
		render_put(pr, tel__part_name((enum tel_role_part)i));
		render_put(pr, "=");
		render_put(pr, t->fields[t->role_field[i]].name);
	}
	if ((t->role == TEL_ROLE_FINISH || t->role == TEL_ROLE_MIDDLE) &&
	    t->partner >= 0 && (unsigned)t->partner < s->ntypes) {
		render_put(pr, " as=");
		render_put(pr, s->types[t->partner].name);
	}
	render_put(pr, "\n");
}

static void
print_text_put_types(struct tel_printer *pr, const struct tel_schema *s)
{
	for (unsigned i = pr->known_types; i < s->ntypes; i++)
		print_text_put_type(pr, &s->types[i]);
	for (unsigned i = pr->known_types; i < s->ntypes; i++)
		print_text_put_role(pr, s, &s->types[i]);
}

/* The wall clock and the metadata of a log. */
static void
print_text_put_identity(struct tel_printer *pr, const struct tel_log *log)
{
	const struct tel__metadata *m = log->metadata;
	char line[64];
	int64_t epoch;

	if (tel__clock_epoch(log->clock, &epoch)) {
		snprintf(line, sizeof(line), "# origin: %lld\n",
		    (long long)epoch);
		render_put(pr, line);
	}
	for (size_t i = 0; m != NULL && i < m->count; i++) {
		render_put(pr, "# meta: ");
		render_put(pr, m->entries[i].key);
		render_put(pr, " ");
		put_word(pr, m->entries[i].value);
		render_put(pr, "\n");
	}
}

static tel_status
print_text_begin_log(struct tel_printer *pr, const struct tel_event *ev)
{
	const struct tel_schema *s = ev->type->schema;
	char line[256];

	if (!pr->header)
		return TEL_OK;
	/* lines of types add to those before */
	if (pr->known_types > 0) {
		print_text_put_types(pr, s);
		return pr->out->status;
	}
	snprintf(line, sizeof(line), HEADER "# format: %s\n", s->name);
	render_put(pr, line);
	if (s->version[0] != '\0') {
		snprintf(line, sizeof(line), "# version: %s\n", s->version);
		render_put(pr, line);
	}
	/* a schema that is described by its types has no ABI */
	if (s->platform[0] != '\0' && !s->described) {
		snprintf(line, sizeof(line),
		    "# platform: %s, %u-bit, %s-endian\n", s->platform,
		    s->abi.word * 8u, s->abi.big ? "big" : "little");
		render_put(pr, line);
	}
	print_text_put_identity(pr, ev->log);
	put_rate(pr, ev);
	if (s->untimed)
		render_put(pr, "# untimed: 0\n");
	if (s->described)
		print_text_put_types(pr, s);
	return pr->out->status;
}

/* The rate of a log that is read while it is written is known only later. */
static tel_status
sync_point(struct tel_printer *pr, const struct tel_event *ev)
{
	return pr->header ? put_rate(pr, ev) : TEL_OK;
}

static tel_status
print_text_finish(struct tel_printer *pr)
{
	if (!pr->started && pr->header)
		return render_put(pr, HEADER);
	return TEL_OK;
}

const struct tel_renderer tel__renderer_text = {
	.name = "text",
	.apart = 1,
	.flags = TEL_PRINTER_FIELDS | TEL_PRINTER_HEADER | TEL_PRINTER_COLOR,
	.begin_log = print_text_begin_log,
	.sync_point = sync_point,
	.compile = print_text_compile,
	.finish = print_text_finish,
};
