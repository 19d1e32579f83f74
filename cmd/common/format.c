/* SPDX-License-Identifier: BSD-2-Clause */
/* The output formats of -f: finding one by its name, and making a writer. */
#include "format.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "message.h"

/* The formats of writers that messages list: MPS has too many releases. */
static const char written[] = "mps:VERSION, inst, hpm, ets, tel, tel,lines";

/* --------------------------------------------------------------- names */

/* Nonzero when name is a format that a writer writes. */
static int
is_written(const char *name)
{
	tel_output *out = tel_output_new_fd(1);
	tel_writer *w = out != NULL ? tel_writer_new(out) : NULL;
	tel_status st = TEL_ENOMEM;

	/* the library has the list of the formats */
	if (w != NULL)
		st = tel_writer_set_target(w, name);
	tel_writer_free(w);
	tel_output_free(out);
	return st != TEL_EINVAL;
}

/* Adds text to a list, as much of it as there is room for. */
static void
common_format_add(char *list, size_t room, const char *text)
{
	size_t used = strlen(list);

	(void)snprintf(list + used, room - used, "%s", text);
}

/*
 * The releases of the MPS by the versions of their streams:
 * "mps:1.1.3 (1.111.0), mps:1.1.6 (1.112.0, 1.113.0)"
 */
static void
list_releases(char *list, size_t room)
{
	static const char prefix[] = "mps-";
	char version[32] = "", text[96];
	const char *name;
	tel_schema *s;

	for (unsigned i = 0; (name = tel_release_name(i)) != NULL; i++) {
		if (strncmp(name, prefix, sizeof(prefix) - 1) != 0 ||
		    tel_schema_new(name, &s) != TEL_OK)
			continue;
		name += sizeof(prefix) - 1;
		if (strcmp(version, tel_schema_version(s)) == 0) {
			(void)snprintf(text, sizeof(text), ", %s", name);
		} else {
			(void)snprintf(version, sizeof(version), "%s",
			    tel_schema_version(s));
			(void)snprintf(text, sizeof(text), "%smps:%s (%s",
			    list[0] == '\0' ? "" : "), ", version, name);
		}
		tel_schema_free(s);
		common_format_add(list, room, text);
	}
	common_format_add(list, room, ")");
}

/* All formats, except for printers' with a flag of without. */
static void
list_formats(char *list, size_t room, unsigned without)
{
	const char *name;

	for (unsigned i = 0; (name = tel_printer_format_name(i)) != NULL; i++) {
		if (((unsigned)tel_printer_format_flags(name) & without) != 0)
			continue;
		common_format_add(list, room, name);
		common_format_add(list, room, ", ");
	}
	common_format_add(list, room, written);
}

/* What an unknown format may have been meant for; "" if nothing. */
static const char *
common_format_suggest(const char *name, unsigned without, char *buffer,
    size_t size)
{
	static const char *const logs[] = { "mps", "inst", "hpm", "ets",
		"tel" };
	const char *names[48], *shown;
	size_t n = 0;
	unsigned i;

	for (i = 0; (shown = tel_printer_format_name(i)) != NULL && n < 40; i++)
		if (((unsigned)tel_printer_format_flags(shown) & without) == 0)
			names[n++] = shown;
	for (i = 0; i < sizeof(logs) / sizeof(logs[0]); i++)
		names[n++] = logs[i];
	return tel_suggest(name, names, n, buffer, size);
}

/*
 * Reports that -f has no such format; of a name that is meant for the MPS, the
 * part that is invalid.
 */
static void
common_format_refuse(const char *name, unsigned without)
{
	char text[512] = "", near[256], base[64];
	size_t n = strcspn(name, "/,"), order = strcspn(name, ",");

	if (strncmp(name, "mps", 3) != 0 || strchr(":-/,", name[3]) == NULL ||
	    name[3] == '\0') {
		list_formats(text, sizeof(text), without);
		message_fail(STATUS_USAGE, NULL, "-f: '%s' is not one of: %s%s",
		    name, text,
		    common_format_suggest(name, without, near, sizeof(near)));
		return;
	}
	(void)snprintf(base, sizeof(base), "%.*s", (int)n, name);
	if (!is_written(base)) {
		list_releases(text, sizeof(text));
		message_fail(STATUS_USAGE, NULL,
		    "-f: '%s': unknown release of the MPS; the releases are %s",
		    name, text);
		return;
	}
	(void)snprintf(base, sizeof(base), "%.*s", (int)order, name);
	if (is_written(base))
		message_fail(STATUS_USAGE, NULL,
		    "-f: '%s': expected ,be or ,le as the byte order", name);
	else
		message_fail(STATUS_USAGE, NULL,
		    "-f: '%s': expected a platform of the MPS: li, fr, xc, w3 "
		    "or an; i3, i6, ar or a6; and a compiler, such as lii6gc",
		    name);
}

int
format_find(struct format *f, const char *name, unsigned without)
{
	int flags = tel_printer_format_flags(name);

	if (flags >= 0 && ((unsigned)flags & without) == 0) {
		f->shown = name;
		f->flags = (unsigned)flags;
		return 1;
	}
	f->shown = NULL;
	f->flags = 0;
	if (is_written(name))
		return 1;
	common_format_refuse(name, without);
	return 0;
}

int
format_native(const char *name)
{
	return name != NULL &&
	    (strcmp(name, "tel") == 0 || strcmp(name, "tel,lines") == 0);
}

/* -------------------------------------------------------------- writer */

/* Sets what --meta-set gives. */
static int
set_metadata(const struct settings *s, tel_writer *w)
{
	tel_status st = TEL_OK;
	char key[256];

	for (size_t i = 0; i < s->nmetadata; i++) {
		const char *equals = strchr(s->metadata[i], '=');
		size_t n = (size_t)(equals - s->metadata[i]);

		st = TEL_EINVAL;
		if (n < sizeof(key)) {
			memcpy(key, s->metadata[i], n);
			key[n] = '\0';
			st = tel_writer_set_metadata(w, key, equals + 1);
		}
		if (st == TEL_OK)
			continue;
		return message_fail(st == TEL_ENOMEM ? STATUS_FAILED :
		                                       STATUS_USAGE,
		    NULL, "--meta-set %s: %s", s->metadata[i],
		    st == TEL_EINVAL ? "a key consists of lower-case letters, "
		                       "digits, '.' and '-'" :
		                       tel_status_text(st));
	}
	return 1;
}

tel_writer *
format_writer(const struct settings *s, const struct sink *sink, int bare)
{
	tel_writer *w = tel_writer_new(sink->out);
	tel_status st = w == NULL ? TEL_ENOMEM : TEL_OK;

	if (st == TEL_OK)
		st = tel_writer_set_target(w, s->format);
	if (st == TEL_OK)
		st = tel_writer_set(w, TEL_WRITE_STRICT, s->strict);
	if (st == TEL_OK)
		st = tel_writer_set(w, TEL_WRITE_BARE, bare);
	if (st == TEL_OK)
		st = tel_writer_set(w, TEL_WRITE_TERMINAL, sink->terminal);
	if (st == TEL_OK && s->folder != NULL)
		st = tel_writer_set_folder(w, s->folder);
	if (st == TEL_OK && s->max_labels > 0)
		st = tel_writer_set(w, TEL_WRITE_MAX_LABELS,
		    (int64_t)s->max_labels);
	/* telreplay then expects frees of blocks that are not in the log */
	if (st == TEL_OK && s->part)
		st = tel_writer_set_metadata(w, "part", "selected");
	if (st == TEL_OK && !set_metadata(s, w)) {
		tel_writer_free(w);
		return NULL;
	}
	if (st == TEL_OK)
		return w;
	message_fail(STATUS_FAILED, NULL, "%s", tel_status_text(st));
	tel_writer_free(w);
	return NULL;
}

int
format_check(const tel_writer *w, const struct sink *sink,
    const struct source *src)
{
	return !tel_writer_binary(w, src->reader) ||
	    sink_check_binary(sink, src->name);
}

/* Losses of one kind of the events of one type, reported in one line. */
struct loss_line {
	tel_loss loss;
	unsigned fields;
	char names[320]; /* of the fields */
};

/* Nonzero when a loss goes into the same line as those before. */
static int
is_more(const struct loss_line *t, const tel_loss *l)
{
	/* a value that does not fit costs its event, so no two cost one */
	return t->fields > 0 && l->kind == t->loss.kind &&
	    l->kind != TEL_LOSS_VALUE && l->events == t->loss.events &&
	    strcmp(l->type, t->loss.type) == 0 &&
	    strcmp(l->from, t->loss.from) == 0 &&
	    strlen(t->names) + strlen(l->field) + 3 < sizeof(t->names);
}

static void
format_add_field(struct loss_line *t, const tel_loss *l)
{
	size_t n = strlen(t->names);

	t->loss = *l;
	(void)snprintf(t->names + n, sizeof(t->names) - n, "%s%s",
	    t->fields++ > 0 ? ", " : "", l->field);
}

static void
report_line(const struct settings *s, struct loss_line *t)
{
	/* of several logs they are counted together */
	const char *file = s->noperands == 1 ? s->operands[0] :
	    s->noperands == 0                ? "-" :
	                                       NULL;
	const tel_loss *l = &t->loss;
	const char *events = l->events == 1 ? "event" : "events";
	const char *fields = t->fields == 1 ? "field" : "fields";

	if (t->fields == 0)
		return;
	switch (l->kind) {
	case TEL_LOSS_TYPE:
		message(file, "%" PRIu64 " %s of type %s dropped: not in %s",
		    l->events, events, l->type, l->to);
		break;
	case TEL_LOSS_VALUE:
		message(file,
		    "%" PRIu64 " %s of type %s dropped: field %s too large for "
		    "%s",
		    l->events, events, l->type, t->names, l->to);
		break;
	case TEL_LOSS_FIELD:
		message(file,
		    "%" PRIu64 " %s of type %s without %s %s: not in %s",
		    l->events, events, l->type, fields, t->names, l->to);
		break;
	case TEL_LOSS_EMPTY:
		message(file,
		    "%" PRIu64 " %s of type %s with 0 for %s %s: only in %s",
		    l->events, events, l->type, fields, t->names, l->to);
		break;
	}
	t->fields = 0;
	t->names[0] = '\0';
}

void
format_losses(const tel_writer *w, const struct settings *s)
{
	struct loss_line line = { 0 };
	tel_loss loss;
	size_t i;

	for (i = 0; !s->quiet && tel_writer_loss(w, i, &loss, sizeof(loss));
	     i++) {
		if (loss.events == 0)
			continue;
		if (!is_more(&line, &loss))
			report_line(s, &line);
		format_add_field(&line, &loss);
	}
	report_line(s, &line);
}
