/* SPDX-License-Identifier: BSD-2-Clause */
/* Making a writer as the command line has it. */
#include "target.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "message.h"

tel_writer *
target_open(const struct settings *s, const struct sink *sink, int bare)
{
	tel_writer *w = tel_writer_new(sink->out);
	tel_status st = w == NULL ? TEL_ENOMEM : TEL_OK;

	if (st == TEL_OK)
		st = tel_writer_set_target(w, s->format);
	if (st == TEL_OK)
		st = tel_writer_set_strict(w, s->strict);
	if (st == TEL_OK)
		st = tel_writer_set_bare(w, bare);
	if (st == TEL_OK)
		st = tel_writer_set_terminal(w, sink->terminal);
	if (st == TEL_OK && s->max_labels > 0)
		st = tel_writer_set_max_labels(w, s->max_labels);
	if (st == TEL_OK)
		return w;
	message_fail(STATUS_FAILED, NULL, "%s", tel_status_text(st));
	tel_writer_free(w);
	return NULL;
}

int
target_check(const tel_writer *w, const struct settings *s,
    const struct sink *sink, const struct source *src)
{
	if (!sink->terminal || s->output != NULL ||
	    !tel_writer_binary(w, src->reader))
		return 1;
	message_fail(STATUS_USAGE, src->name,
	    "binary output is not written to a terminal: see -f and -o");
	return 0;
}

/* Losses of one kind of the events of one type, told in one line. */
struct told {
	tel_loss loss;
	unsigned fields;
	char names[320]; /* of the fields */
};

/* Nonzero when a loss goes into the line with those before. */
static int
is_more(const struct told *t, const tel_loss *l)
{
	/* a value that does not fit costs its event, so no two cost one */
	return t->fields > 0 && l->kind == t->loss.kind &&
	    l->kind != TEL_LOSS_VALUE && l->events == t->loss.events &&
	    strcmp(l->type, t->loss.type) == 0 &&
	    strcmp(l->from, t->loss.from) == 0 &&
	    strlen(t->names) + strlen(l->field) + 3 < sizeof(t->names);
}

static void
add_field(struct told *t, const tel_loss *l)
{
	size_t n = strlen(t->names);

	t->loss = *l;
	(void)snprintf(t->names + n, sizeof(t->names) - n, "%s%s",
	    t->fields++ > 0 ? ", " : "", l->field);
}

static void
tell_losses(const struct settings *s, struct told *t)
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
		message(file, "%" PRIu64 " %s of type %s left out: not in %s",
		    l->events, events, l->type, l->to);
		break;
	case TEL_LOSS_VALUE:
		message(file,
		    "%" PRIu64
		    " %s of type %s left out: field %s too large for "
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
target_losses(const tel_writer *w, const struct settings *s)
{
	struct told told;
	tel_loss loss;
	size_t i;

	memset(&told, 0, sizeof(told));
	for (i = 0; !s->quiet && tel_writer_loss(w, i, &loss); i++) {
		if (loss.events == 0)
			continue;
		if (!is_more(&told, &loss))
			tell_losses(s, &told);
		add_field(&told, &loss);
	}
	tell_losses(s, &told);
}
