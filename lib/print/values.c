/* SPDX-License-Identifier: BSD-2-Clause */
/* Columns of a printer that are expressions, and not the names of fields. */
#include "print/values.h"

#include <string.h>

#include "query/bind.h"
#include "query/counter.h"
#include "render/escape.h"
#include "render/list.h"
#include "render/number.h"

/*
 * A tel__type_fn of a name: whether an expression finds a field of another name
 * in such events, such as that which counts the cycles.
 */
static int
values_type_derives(const struct tel_type *type, const void *name)
{
	return tel_type_find_field(type, name) < 0 &&
	    tel__counter_find(type, name) != COUNTER_NONE;
}

/* A tel__type_fn of a name: whether the type has such a field. */
static int
values_type_has(const struct tel_type *type, const void *name)
{
	return tel_type_find_field(type, name) >= 0;
}

int
tel__values_derived(const char *name, const struct tel_schema *schema)
{
	return tel__schema_any(schema, values_type_derives, name) > 0 ||
	    (strcmp(name, "type") == 0 &&
	        tel__schema_any(schema, values_type_has, name) <= 0);
}

tel_status
tel__values_add(struct tel_printer *pr, const char *text, int derived,
    tel_expr **out)
{
	*out = NULL;
	/* a table needs the data type of a column before the first event */
	if ((pr->renderer->flags & TEL_PRINTER_TABLE) != 0)
		return TEL_OK;
	*out = tel_expr_new();
	tel_status st = *out == NULL ? TEL_ENOMEM : tel_expr_set(*out, text);
	/* a name that is not a valid expression may be that of a field */
	if (st != TEL_OK || (!derived && tel__expr_is_field(*out))) {
		tel_expr_free(*out);
		*out = NULL;
	}
	return st == TEL_ENOMEM ? st : TEL_OK;
}

/* Adds a string of the log, as a format escapes it. */
static void
values_put_string(struct tel__buffer *b, const tel_value *v, enum render_op op,
    int safe)
{
	const char *quote = op == RENDER_VALUE_CSV ? "" : "\"";

	tel__buffer_put(b, quote, strlen(quote));
	unsigned char *p = tel__buffer_room(b, TEL_ESCAPE_ROOM(v->length));
	if (p == NULL)
		return;
	if (op == RENDER_VALUE_TEXT)
		p = tel__escape_text(p, v->as.string, v->length, 0);
	else if (op == RENDER_VALUE_CSV)
		p = tel__escape_csv(p, v->as.string, v->length, safe);
	else
		p = tel__escape_json(p, v->as.string, v->length, safe);
	b->used = (size_t)(p - b->bytes);
	tel__buffer_put(b, quote, strlen(quote));
}

/* Adds a number, as that of a field is shown, and any NaN as the plain one. */
static void
values_put_number(struct tel__buffer *b, const tel_value *v, enum render_op op)
{
	const struct tel_field f = { .datatype = v->datatype,
		.load = TEL_LOAD_LE64 };
	const int is_nan = v->datatype == TEL_DOUBLE && v->as.f64 != v->as.f64;

	tel__render_number(b, &f, is_nan ? TEL_PLAIN_NAN : v->as.u64,
	    op == RENDER_VALUE_JSON);
}

tel_status
tel__values_put(struct tel_printer *pr, enum render_op op, unsigned i,
    const struct tel_event *ev)
{
	struct tel__buffer *b = &pr->list;
	tel_value v;
	tel_status st = tel_expr_eval(pr->names[i].expr, ev, &v);

	b->used = 0;
	if (st != TEL_OK)
		return st;
	if (v.missing) {
		if (op == RENDER_VALUE_JSON)
			tel__buffer_put(b, "null", 4);
		return b->failed ? TEL_ENOMEM : TEL_OK;
	}
	if (op == RENDER_VALUE_TEXT) {
		tel__buffer_put(b, " ", 1);
		tel__buffer_put(b, pr->names[i].text,
		    strlen(pr->names[i].text));
		tel__buffer_put(b, "=", 1);
	}
	if (v.datatype == TEL_STRING)
		values_put_string(b, &v, op, pr->terminal);
	else
		values_put_number(b, &v, op);
	return b->failed ? TEL_ENOMEM : TEL_OK;
}

tel_status
tel__values_check(struct tel_printer *pr, unsigned i,
    const struct tel_schema *schema)
{
	tel_expr *x = pr->names[i].expr;
	const tel_status st = tel__expr_switch(x, schema);

	return st == TEL_OK || st == TEL_ENOMEM ?
	    st :
	    tel__render_fail(pr, "'%.64s': %.80s", pr->names[i].text,
	        tel_expr_error(x));
}

int
tel_printer_uses(const tel_printer *p, tel_use use)
{
	for (unsigned i = 0; i < p->nnames; i++)
		if (p->names[i].expr != NULL &&
		    tel_expr_uses(p->names[i].expr, use))
			return 1;
	return 0;
}
