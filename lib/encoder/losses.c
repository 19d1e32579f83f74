/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of losses, in the order of their coming. */
#include "encoder/losses.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static void
losses_free_row(struct loss *row)
{
	if (row == NULL)
		return;
	free(row->schema);
	free(row->type);
	free(row->field);
	free(row);
}

static struct loss *
losses_new_row(tel_loss_kind kind, const char *schema, const char *type,
    const char *field)
{
	struct loss *row = calloc(1, sizeof(*row));

	if (row == NULL)
		return NULL;
	row->kind = kind;
	row->schema = strdup(schema);
	row->type = strdup(type);
	row->field = strdup(field);
	if (row->schema != NULL && row->type != NULL && row->field != NULL)
		return row;
	losses_free_row(row);
	return NULL;
}

static int
is_row(const struct loss *row, tel_loss_kind kind, const char *schema,
    const char *type, const char *field)
{
	return row->kind == kind && strcmp(row->type, type) == 0 &&
	    strcmp(row->field, field) == 0 && strcmp(row->schema, schema) == 0;
}

struct loss *
tel__losses_row(struct losses *l, tel_loss_kind kind, const char *schema,
    const char *type, const char *field)
{
	if (field == NULL)
		field = "";
	for (size_t i = 0; i < l->count; i++)
		if (is_row(l->rows[i], kind, schema, type, field))
			return l->rows[i];
	/* the four last places are for the rest of each kind */
	if (l->count >= LOSSES_MAX - 4 && strcmp(type, "...") != 0)
		return tel__losses_row(l, kind, "...", "...",
		    field[0] ? "..." : "");
	if (!TEL__RESERVE(l->rows, l->room, l->count + 1))
		return NULL;
	struct loss *row = losses_new_row(kind, schema, type, field);
	if (row != NULL)
		l->rows[l->count++] = row;
	return row;
}

void
tel__losses_free(struct losses *l)
{
	for (size_t i = 0; i < l->count; i++)
		losses_free_row(l->rows[i]);
	free(l->rows);
	memset(l, 0, sizeof(*l));
}
