/* SPDX-License-Identifier: BSD-2-Clause */
/* The fields of records, as load.h describes them. */
#include <string.h>

#include "base/array.h"
#include "stats/load.h"

int
tel__load_int128(const struct loader *l, const char *name, tel_int128 *out)
{
	const struct inst_value *v = tel__inst_find(l->line, name);

	if (v == NULL)
		return 0;
	return tel__inst_int128(v, out) ? 1 : -1;
}

int
tel__load_u64(const struct loader *l, const char *name, uint64_t *out)
{
	tel_int128 v;
	int found = tel__load_int128(l, name, &v);

	if (found > 0 && !int128_is_u64(v))
		return -1;
	if (found > 0)
		*out = v.low;
	return found;
}

int
tel__load_counts(const struct loader *l, const struct count_field *fields,
    void *of)
{
	for (; fields->name != NULL; fields++)
		if (tel__load_u64(l, fields->name, field_count(fields, of)) < 0)
			return 0;
	return 1;
}

int
tel__load_is(const struct loader *l, const char *name, const char *word)
{
	const struct inst_value *v = tel__inst_find(l->line, name);

	return v != NULL && inst_is(v, word);
}

/* The bytes of a string, in l->text with a NUL; 0 when it is invalid. */
static int
load_fields_decode(struct loader *l, const struct inst_value *v, size_t *length)
{
	unsigned char *end = tel__inst_decode(v, (unsigned char *)l->text);

	if (end == NULL)
		return 0;
	*end = '\0';
	*length = (size_t)((char *)end - l->text);
	return 1;
}

tel_status
tel__load_string(struct loader *l, const char *name, char **out)
{
	const struct inst_value *v = tel__inst_find(l->line, name);
	size_t length;

	*out = NULL;
	if (v == NULL)
		return TEL_OK;
	if (!load_fields_decode(l, v, &length))
		return TEL_EDAMAGED;
	*out = tel__copy_string(l->text, length);
	return *out == NULL ? TEL_ENOMEM : TEL_OK;
}

int
tel__load_value(struct loader *l, const char *value, const char *type,
    tel_value *out)
{
	const struct inst_value *v = tel__inst_find(l->line, value);
	const struct inst_value *t = tel__inst_find(l->line, type);
	tel_int128 w;
	int i;

	memset(out, 0, sizeof(*out));
	if (v == NULL)
		return 0;
	out->missing = t != NULL && inst_is(t, "missing");
	const int integer = !v->quoted && tel__inst_int128(v, &w);
	if (v->quoted || (!integer && t == NULL && v->n > 0)) {
		out->datatype = TEL_STRING;
		out->as.string = l->text;
		return load_fields_decode(l, v, &out->length);
	}
	if (!integer || (!int128_is_u64(w) && !int128_is_i64(w)))
		return 0;
	out->datatype = int128_is_u64(w) ? TEL_UNSIGNED : TEL_SIGNED;
	out->as.u64 = w.low;
	if (t == NULL || out->missing)
		return 1;
	for (i = TEL_UNSIGNED; i < TEL_STRING; i++)
		if (inst_is(t, tel_datatype_name((tel_datatype)i)))
			break;
	out->datatype = (tel_datatype)i;
	return i < TEL_STRING && (w.high >= 0 || i == TEL_SIGNED);
}

tel_status
tel__load_key(struct loader *l, const char *value, const char *type,
    struct key *out)
{
	tel_value v;

	return tel__load_value(l, value, type, &v) ?
	    tel__key_make(l->part->strings, &v, out) :
	    TEL_EDAMAGED;
}
