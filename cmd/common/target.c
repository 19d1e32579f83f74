/* SPDX-License-Identifier: BSD-2-Clause */
/* Making a writer as the command line has it. */
#include "target.h"

#include "message.h"

int
target_known(const char *name)
{
	tel_output *out = tel_output_new_fd(1);
	tel_writer *w = out != NULL ? tel_writer_new(out) : NULL;
	tel_status st = TEL_ENOMEM;

	/* the library has the list of what it writes */
	if (w != NULL)
		st = tel_writer_set_target(w, name);
	tel_writer_free(w);
	tel_output_free(out);
	return st != TEL_EINVAL;
}

tel_writer *
target_open(const struct settings *s, const struct sink *sink, int bare)
{
	tel_writer *w = tel_writer_new(sink->out);
	tel_status st = w == NULL ? TEL_ENOMEM : TEL_OK;

	if (st == TEL_OK)
		st = tel_writer_set_target(w, s->format);
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
