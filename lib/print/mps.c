/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exactly what the MPS's own tools print: "mpseventcnv -f", and mpseventtxt,
 * which reads that.  Facts: the MPS manual, "Telemetry", and their output.
 */
#include <stdio.h>

#include "print/printer.h"

static tel_status
begin_log(struct tel_printer *pr, const struct tel_event *ev, int same)
{
	(void)ev;
	(void)same;
	if (pr->release == NULL)
		return tel__print_fail(pr,
		    "the format is for MPS telemetry, and the log is not");
	return TEL_OK;
}

static void
add_cnv(struct tel_printer *pr, struct print_builder *b,
    const struct tel_type *type, unsigned i)
{
	tel__print_literal(b, " ");
	switch (type->fields[i].letter) {
	case 'D': tel__print_field(b, PRINT_DOUBLE_10, i, SPACE_NONE); break;
	case 'S':
		tel__print_literal(b, "\"");
		tel__print_field(b, PRINT_STRING_MPS, i, SPACE_NONE);
		tel__print_literal(b, "\"");
		break;
	case 'B':
		tel__print_field(b,
		    pr->release->signed_bool ? PRINT_ONES : PRINT_UPPER, i,
		    SPACE_NONE);
		break;
	default: tel__print_field(b, PRINT_UPPER, i, SPACE_NONE);
	}
}

static struct print_program *
compile_cnv(struct tel_printer *pr, const struct tel_type *type,
    enum print_variant variant)
{
	struct print_builder b;
	char code[16];
	unsigned i;

	(void)variant;
	tel__print_begin(&b, type, LABELS_MPS);
	tel__print_op(&b, PRINT_CLOCK);
	if (type == NULL) {
		tel__print_literal(&b, " ");
		tel__print_op(&b, PRINT_CODE_BLANK);
	} else {
		snprintf(code, sizeof(code), " %4X", type->code);
		tel__print_literal(&b, code);
		for (i = 0; i < type->nfields; i++)
			add_cnv(pr, &b, type, i);
	}
	tel__print_literal(&b, "\n");
	return tel__print_end(&b);
}

/*
 * Where mpseventtxt looks for the label of a field.  To 1.117 it takes all
 * words for addresses; in 1.118 addresses and pointers have labels of their
 * own, and words none.
 */
static enum print_space
txt_space(const struct tel_printer *pr, char letter)
{
	if (!pr->release->split_space)
		return SPACE_ADDRESS;
	if (letter == 'A')
		return SPACE_ADDRESS;
	return letter == 'P' ? SPACE_POINTER : SPACE_NONE;
}

static void
add_txt(struct tel_printer *pr, struct print_builder *b,
    const struct tel_type *type, unsigned i)
{
	const struct tel_field *f = &type->fields[i];
	int wide = pr->schema->abi.word > 4;

	tel__print_bytes(b, f->name, f->name_length);
	tel__print_literal(b, f->letter == 'S' ? ":\"" : ":");
	switch (f->letter) {
	case 'U': tel__print_field(b, PRINT_DECIMAL, i, SPACE_NONE); break;
	case 'B': tel__print_field(b, PRINT_TITLE, i, SPACE_NONE); break;
	case 'D': tel__print_field(b, PRINT_DOUBLE_3, i, SPACE_NONE); break;
	case 'S': tel__print_field(b, PRINT_STRING_MPS, i, SPACE_NONE); break;
	default:
		tel__print_field(b, wide ? PRINT_UPPER16 : PRINT_UPPER8, i,
		    txt_space(pr, f->letter));
	}
	tel__print_literal(b, f->letter == 'S' ? "\" " : " ");
}

static struct print_program *
compile_txt(struct tel_printer *pr, const struct tel_type *type,
    enum print_variant variant)
{
	int old = pr->release->old_text;
	struct print_builder b;
	char head[32];
	size_t length;
	unsigned i;

	(void)variant;
	tel__print_begin(&b, type, old ? LABELS_MPS_OLD : LABELS_MPS);
	/* the old tool has the clock in a word of the writer's */
	tel__print_op(&b,
	    old && pr->schema->abi.word == 4 ? PRINT_CLOCK8 : PRINT_CLOCK);
	if (type == NULL) {
		tel__print_literal(&b, " ");
		tel__print_op(&b, PRINT_CODE_ZERO);
		snprintf(head, sizeof(head), " %-19s ", "[Unknown]");
		tel__print_literal(&b, head);
		tel__print_literal(&b, "Unknown event.\n");
		return tel__print_end(&b);
	}
	snprintf(head, sizeof(head), " %04X ", type->code);
	tel__print_literal(&b, head);
	tel__print_bytes(&b, type->name, type->name_length);
	for (length = type->name_length; length < 19; length++)
		tel__print_literal(&b, " ");
	tel__print_literal(&b, " ");
	for (i = 0; i < type->nfields; i++)
		add_txt(pr, &b, type, i);
	tel__print_literal(&b, "\n");
	return tel__print_end(&b);
}

const struct print_style tel__print_style_mpscnv = {
	.begin_log = begin_log,
	.compile = compile_cnv,
};

const struct print_style tel__print_style_mpstxt = {
	.begin_log = begin_log,
	.compile = compile_txt,
};
