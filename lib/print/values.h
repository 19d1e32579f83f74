/* SPDX-License-Identifier: BSD-2-Clause */
/* Columns that are expressions, of tel-filter(7). */
#ifndef TEL_PRINT_VALUES_H
#define TEL_PRINT_VALUES_H

#include "render/renderer.h"

/*
 * Whether a name that may be that of a field is an expression in some events of
 * the schema: a field of another name that is the "thread" or counts "cycles",
 * or the "type".
 */
int tel__values_derived(const char *name, const struct tel_schema *schema);

/*
 * Sets *out to the expression that a name is, or to NULL: it is a field's, and
 * not derived, or the format has fields only.  TEL_OK, TEL_ENOMEM.
 */
tel_status tel__values_add(struct tel_printer *pr, const char *text,
    int derived, tel_expr **out);

/* Whether expression i is one for a schema: TEL_OK, TEL_EINVAL, TEL_ENOMEM. */
tel_status tel__values_check(struct tel_printer *pr, unsigned i,
    const struct tel_schema *schema);

/* Sets pr->list to what a step of that op prints.  TEL_OK, TEL_ENOMEM. */
tel_status tel__values_put(struct tel_printer *pr, enum render_op op,
    unsigned i, const struct tel_event *ev);

#endif
