/* SPDX-License-Identifier: BSD-2-Clause */
/* Finding a format in the table of all of them. */
#include "reader/format.h"

const struct tel_format_ops *
tel__format_find(const struct tel_formats *all, const char *name)
{
	for (unsigned i = 0; i < all->count; i++)
		if (strcmp(all->rows[i].format->name, name) == 0)
			return all->rows[i].format;
	return NULL;
}

const struct tel_format_ops *
tel__format_of_schema(const struct tel_formats *all, const char *schema)
{
	for (unsigned i = 0; i < all->count; i++) {
		const struct tel_format_ops *f = all->rows[i].format;

		if (f->prefix != NULL &&
		    strncmp(schema, f->prefix, strlen(f->prefix)) == 0)
			return f;
	}
	return NULL;
}

tel_status
tel__format_schema(const struct tel_formats *all, const char *name,
    struct tel_schema **out)
{
	const struct tel_format_ops *f = tel__format_of_schema(all, name);
	tel_status st = TEL_EINVAL;

	if (f == NULL)
		f = tel__format_find(all, name);
	if (f != NULL)
		return f->schema_new != NULL ? f->schema_new(name, out) :
		                               TEL_EINVAL;
	/* the name of a schema may not be that of its format */
	for (unsigned i = 0; i < all->count && st == TEL_EINVAL; i++) {
		f = all->rows[i].format;
		if (f->prefix == NULL && f->schema_new != NULL)
			st = f->schema_new(name, out);
	}
	return st;
}
