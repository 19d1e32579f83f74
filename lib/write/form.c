/* SPDX-License-Identifier: BSD-2-Clause */
/* Which form is written: the one that was asked for, or that of the log. */
#include "format/mps/target.h"
#include "reader/reader.h"
#include "write/writer.h"

#include <stdio.h>
#include <stdlib.h>

static const struct write_form *const forms[] = { &tel__write_form_tel,
	&tel__write_form_mps, &tel__write_form_text, &tel__write_form_cnv,
	&tel__write_form_inst, &tel__write_form_hpm, &tel__write_form_ets };

/* The form of that name; NULL when none is written. */
static const struct write_form *
find_form(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (strcmp(forms[i]->name, name) == 0)
			return forms[i];
	for (i = 0; i < WRITE_FORMS_ALLOC; i++)
		if (strcmp(tel__write_forms_alloc[i].name, name) == 0)
			return &tel__write_forms_alloc[i];
	return NULL;
}

/* Nonzero when events of the log can be written in the form. */
static int
takes(const struct write_form *form, const struct tel_log *log)
{
	return form->takes != NULL ?
	    form->takes(log) :
	    strcmp(form->name, log->origin != NULL ? log->origin : log->form) ==
	        0;
}

tel_status
tel_writer_set_target(tel_writer *w, const char *name)
{
	const struct write_form *form = NULL;
	char *release = NULL;

	if (w->form != NULL)
		return TEL_ESTATE;
	if (name != NULL && tel__mps_target(name, NULL, NULL) == TEL_OK) {
		form = &tel__write_form_release;
		release = strdup(name);
		if (release == NULL)
			return TEL_ENOMEM;
	} else if (name != NULL) {
		form = find_form(name);
		if (form == NULL || !form->target)
			return TEL_EINVAL;
	}
	free(w->release);
	w->release = release;
	w->target = form;
	return TEL_OK;
}

int
tel_writer_binary(const tel_writer *w, const tel_reader *r)
{
	const struct write_form *form =
	    w->target != NULL ? w->target : find_form(r->log.form);

	return form != NULL && form->binary;
}

tel_status
tel__write_begin_stream(struct tel_writer *w, const struct tel_log *log)
{
	const struct write_form *form =
	    w->target != NULL ? w->target : find_form(log->form);
	tel_status st = TEL_OK;

	if (form == NULL)
		return tel__write_fail(w, TEL_EINVAL,
		    "%.120s: %s cannot be written", log->name, log->form);
	if (!takes(form, log))
		return tel__write_fail(w, TEL_EINVAL,
		    "%.120s: %s cannot be written as %s", log->name,
		    log->origin != NULL ? log->origin : log->form, form->what);
	if (form == &tel__write_form_release)
		st = tel__release_begin(w, log);
	if (st != TEL_OK)
		return st;
	if (form->one_numbering &&
	    tel__ids_begin(&w->ids, w->max_labels) != TEL_OK)
		return TEL_ENOMEM;
	w->first_log = strdup(log->name);
	if (w->first_log == NULL)
		return TEL_ENOMEM;
	if (form->one_schema) {
		snprintf(w->schema, sizeof(w->schema), "%s", log->schema->name);
		w->abi = log->schema->abi;
	}
	w->form = form;
	return TEL_OK;
}

tel_status
tel__write_check_stream(struct tel_writer *w, const struct tel_log *log)
{
	const struct tel_schema *s = log->schema;

	if (w->convert != NULL)
		return TEL_OK;
	if (!takes(w->form, log))
		return tel__write_fail(w, TEL_EINVAL,
		    "%.60s is not %s as %.60s is: they cannot be written as "
		    "one",
		    log->name, w->form->what, w->first_log);
	if (!w->form->one_schema ||
	    (strcmp(w->schema, s->name) == 0 &&
	        memcmp(&w->abi, &s->abi, sizeof(w->abi)) == 0))
		return TEL_OK;
	return tel__write_fail(w, TEL_EINVAL,
	    "%.40s is %s and %.40s is %s: %s cannot hold both; -f tel "
	    "can, and -f mps converts them to one",
	    w->first_log, w->schema, log->name, s->name, w->form->what);
}
