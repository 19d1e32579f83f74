/* SPDX-License-Identifier: BSD-2-Clause */
/* Metadata of a log: keys and values. */
#include "model/metadata.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void
tel__metadata_clear(struct tel__metadata *m)
{
	while (m->count > 0) {
		m->count--;
		free(m->entries[m->count].key);
		free(m->entries[m->count].value);
	}
	free(m->entries);
	memset(m, 0, sizeof(*m));
}

/* 1 when n bytes are a key: lower-case letters, digits, dots and dashes. */
static int
metadata_is_key(const char *key, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!(key[i] >= 'a' && key[i] <= 'z') &&
		    !(key[i] >= '0' && key[i] <= '9') && key[i] != '.' &&
		    key[i] != '-')
			return 0;
	return n > 0 && n <= TEL__METADATA_KEY;
}

static struct tel__metadata_entry *
model_metadata_find(const struct tel__metadata *m, const char *key, size_t n)
{
	for (size_t i = 0; i < m->count; i++)
		if (strlen(m->entries[i].key) == n &&
		    memcmp(m->entries[i].key, key, n) == 0)
			return &m->entries[i];
	return NULL;
}

static tel_status
model_metadata_append(struct tel__metadata *m, const char *key, size_t key_size,
    const char *value, size_t value_size)
{
	if (m->count == TEL__METADATA_MAX)
		return TEL_ELIMIT;
	if (!TEL__RESERVE(m->entries, m->room, m->count + 1))
		return TEL_ENOMEM;
	struct tel__metadata_entry *e = &m->entries[m->count];
	e->key = tel__copy_string(key, key_size);
	e->value = tel__copy_string(value, value_size);
	if (e->key == NULL || e->value == NULL) {
		free(e->key);
		free(e->value);
		return TEL_ENOMEM;
	}
	m->count++;
	return TEL_OK;
}

tel_status
tel__metadata_set(struct tel__metadata *m, const char *key, size_t key_size,
    const char *value, size_t value_size)
{
	if (!metadata_is_key(key, key_size) || value_size > TEL__METADATA_VALUE)
		return TEL_EINVAL;
	struct tel__metadata_entry *e = model_metadata_find(m, key, key_size);
	if (e == NULL)
		return model_metadata_append(m, key, key_size, value,
		    value_size);
	char *copy = tel__copy_string(value, value_size);
	if (copy == NULL)
		return TEL_ENOMEM;
	free(e->value);
	e->value = copy;
	return TEL_OK;
}

tel_status
tel__metadata_pair(struct tel__metadata *m, const char *key, const char *value)
{
	for (size_t i = 0; i < m->count; i++)
		if (strcmp(m->entries[i].key, key) == 0 &&
		    strcmp(m->entries[i].value, value) == 0)
			return TEL_OK;
	return model_metadata_append(m, key, strlen(key), value, strlen(value));
}

tel_status
tel__metadata_remove(struct tel__metadata *m, const char *key)
{
	struct tel__metadata_entry *e =
	    model_metadata_find(m, key, strlen(key));

	if (!metadata_is_key(key, strlen(key)))
		return TEL_EINVAL;
	if (e == NULL)
		return TEL_OK;
	free(e->key);
	free(e->value);
	m->count--;
	memmove(e, e + 1, (size_t)(m->entries + m->count - e) * sizeof(*e));
	return TEL_OK;
}

const char *
tel__metadata_get(const struct tel__metadata *m, const char *key)
{
	const struct tel__metadata_entry *e =
	    model_metadata_find(m, key, strlen(key));

	return e != NULL ? e->value : NULL;
}

tel_status
tel__metadata_add(struct tel__metadata *m, const struct tel__metadata *from)
{
	tel_status st = TEL_OK;

	for (size_t i = 0; i < from->count && st == TEL_OK; i++)
		st = tel__metadata_set(m, from->entries[i].key,
		    strlen(from->entries[i].key), from->entries[i].value,
		    strlen(from->entries[i].value));
	return st;
}
