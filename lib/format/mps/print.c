/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exactly what the MPS's own tools print: "mpseventcnv -f", and mpseventtxt,
 * which reads that.  Facts: the MPS manual, "Telemetry", and their output.
 */
#include <stdio.h>
#include <string.h>

#include "format/mps/mps.h"
#include "render/renderer.h"

/* The release of the log's events; NULL: not an MPS log. */
static const struct mps_release *
release_of(const struct tel_schema *s)
{
	if (strncmp(s->name, "mps-", 4) != 0 ||
	    s->release >= tel__mps_nreleases)
		return NULL;
	return &tel__mps_releases[s->release];
}

static tel_status
mps_print_begin_log(struct tel_printer *pr, const struct tel_event *ev)
{
	if (release_of(ev->type->schema) == NULL)
		return tel__render_fail(pr,
		    "the format is for MPS telemetry, which the log is not");
	return TEL_OK;
}

static void
add_cnv(struct tel_printer *pr, struct render_builder *b,
    const struct tel_type *type, unsigned i)
{
	tel__render_add(b, " ");
	switch (type->fields[i].letter) {
	case 'D':
		tel__render_add_field(b, RENDER_DOUBLE_10, i, SPACE_NONE);
		break;
	case 'S':
		tel__render_add(b, "\"");
		tel__render_add_field(b, RENDER_STRING_QUOTED, i, SPACE_NONE);
		tel__render_add(b, "\"");
		break;
	case 'B':
		tel__render_add_field(b,
		    release_of(pr->schema)->signed_bool ? RENDER_ONES :
		                                          RENDER_UPPER,
		    i, SPACE_NONE);
		break;
	default: tel__render_add_field(b, RENDER_UPPER, i, SPACE_NONE);
	}
}

static struct render_program *
compile_cnv(struct tel_printer *pr, const struct tel_type *type)
{
	struct render_builder b;
	char code[16];

	tel__render_start(&b, type, LABELS_NUMBERED);
	tel__render_add_op(&b, RENDER_CLOCK);
	if (type == NULL) {
		tel__render_add(&b, " ");
		tel__render_add_op(&b, RENDER_CODE_BLANK);
	} else {
		snprintf(code, sizeof(code), " %4X", type->code);
		tel__render_add(&b, code);
		for (unsigned i = 0; i < type->nfields; i++)
			add_cnv(pr, &b, type, i);
	}
	tel__render_add(&b, "\n");
	return tel__render_end(&b);
}

/*
 * Where mpseventtxt looks for the label of a field.  To 1.117 it takes all
 * words for addresses; in 1.118 addresses and pointers have labels of their
 * own, and words none.
 */
static enum render_space
txt_space(const struct tel_printer *pr, char letter)
{
	if (!release_of(pr->schema)->split_space)
		return SPACE_ADDRESS;
	if (letter == 'A')
		return SPACE_ADDRESS;
	return letter == 'P' ? SPACE_POINTER : SPACE_NONE;
}

static void
add_txt(struct tel_printer *pr, struct render_builder *b,
    const struct tel_type *type, unsigned i)
{
	const struct tel_field *f = &type->fields[i];
	int wide = pr->schema->abi.word > 4;

	tel__render_add_bytes(b, f->name, f->name_length);
	tel__render_add(b, f->letter == 'S' ? ":\"" : ":");
	switch (f->letter) {
	case 'U':
		tel__render_add_field(b, RENDER_DECIMAL, i, SPACE_NONE);
		break;
	case 'B': tel__render_add_field(b, RENDER_TITLE, i, SPACE_NONE); break;
	case 'D':
		tel__render_add_field(b, RENDER_DOUBLE_3, i, SPACE_NONE);
		break;
	case 'S':
		tel__render_add_field(b, RENDER_STRING_QUOTED, i, SPACE_NONE);
		break;
	default:
		tel__render_add_field(b, wide ? RENDER_UPPER16 : RENDER_UPPER8,
		    i, txt_space(pr, f->letter));
	}
	tel__render_add(b, f->letter == 'S' ? "\" " : " ");
}

static struct render_program *
compile_txt(struct tel_printer *pr, const struct tel_type *type)
{
	int old = release_of(pr->schema)->old_text;
	struct render_builder b;
	char head[32];

	tel__render_start(&b, type, old ? LABELS_TIMELESS : LABELS_NUMBERED);
	/* the old tool has the clock in a word of the writer's */
	tel__render_add_op(&b,
	    old && pr->schema->abi.word == 4 ? RENDER_CLOCK8 : RENDER_CLOCK);
	if (type == NULL) {
		tel__render_add(&b, " ");
		tel__render_add_op(&b, RENDER_CODE_ZERO);
		snprintf(head, sizeof(head), " %-19s ", "[Unknown]");
		tel__render_add(&b, head);
		tel__render_add(&b, "Unknown event.\n");
		return tel__render_end(&b);
	}
	snprintf(head, sizeof(head), " %04X ", type->code);
	tel__render_add(&b, head);
	tel__render_add_bytes(&b, type->name, type->name_length);
	for (size_t length = type->name_length; length < 19; length++)
		tel__render_add(&b, " ");
	tel__render_add(&b, " ");
	for (unsigned i = 0; i < type->nfields; i++)
		add_txt(pr, &b, type, i);
	tel__render_add(&b, "\n");
	return tel__render_end(&b);
}

const struct tel_renderer tel__renderer_mpscnv = {
	.name = "mpscnv",
	.apart = 1,
	.flags = TEL_PRINTER_HEADER | TEL_PRINTER_LOG_ORDER,
	.begin_log = mps_print_begin_log,
	.compile = compile_cnv,
};

const struct tel_renderer tel__renderer_mpstxt = {
	.name = "mpstxt",
	.apart = 1,
	.flags = TEL_PRINTER_HEADER | TEL_PRINTER_LOG_ORDER,
	.begin_log = mps_print_begin_log,
	.compile = compile_txt,
};
