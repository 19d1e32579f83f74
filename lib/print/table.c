/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of a table: the values of a batch, column by column. */
#include "print/table.h"

#include <stdlib.h>

#include "base/array.h"
#include "render/escape.h"

/* Bytes of all columns of a batch, and how many rows that may be. */
#define BATCH_BYTES ((size_t)1 << 22)
#define ROWS_MAX ((size_t)1 << 16)
#define ROWS_MIN ((size_t)1 << 8)
/* Bytes of text in a column that end a batch. */
#define TEXT_ENOUGH ((size_t)1 << 22)
/* The most that offsets of 32 bits can express. */
#define TEXT_MAX ((size_t)INT32_MAX)

tel_table *
tel_table_new(tel_output *out)
{
	struct tel_table *t = calloc(1, sizeof(*t));

	if (t != NULL)
		t->out = out;
	return t;
}

void
tel_table_free(tel_table *t)
{
	if (t == NULL)
		return;
	for (size_t i = 0; i < t->ncolumns; i++) {
		free(t->columns[i].name);
		free(t->columns[i].field);
		free(t->columns[i].values);
		free(t->columns[i].valid);
		tel__buffer_clear(&t->columns[i].text);
		tel__buffer_clear(&t->columns[i].ends);
	}
	free(t->columns);
	for (size_t i = 0; i < t->ndictionaries; i++) {
		tel__index_clear(&t->dictionaries[i].index);
		tel__buffer_clear(&t->dictionaries[i].text);
		tel__buffer_clear(&t->dictionaries[i].ends);
	}
	free(t->dictionaries);
	for (size_t i = 0; i < t->nmetadata; i++)
		free(t->metadata[i]);
	free(t->metadata);
	ZSTD_freeCCtx(t->zstd);
	tel__buffer_clear(&t->message);
	tel__buffer_clear(&t->packed);
	tel__buffer_clear(&t->batches);
	tel__buffer_clear(&t->dictionary_batches);
	free(t->pieces);
	free(t->blank);
	free(t);
}

/* ------------------------------------------------------------- options */

tel_status
tel_table_set_file(tel_table *t, int on)
{
	if (t->started)
		return TEL_ESTATE;
	t->file = on != 0;
	return TEL_OK;
}

tel_status
tel_table_set_zstd(tel_table *t, int level)
{
	if (t->started)
		return TEL_ESTATE;
	if (level < 1 || level > 19)
		return TEL_EINVAL;
	if (t->zstd == NULL)
		t->zstd = ZSTD_createCCtx();
	if (t->zstd == NULL ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(t->zstd,
	        ZSTD_c_compressionLevel, level)))
		return TEL_ENOMEM;
	return TEL_OK;
}

tel_status
tel_table_set_metadata(tel_table *t, const char *key, const char *value)
{
	if (t->written)
		return TEL_ESTATE;
	if (!TEL__RESERVE(t->metadata, t->metadata_room, t->nmetadata + 2))
		return TEL_ENOMEM;
	char *k = strdup(key);
	char *v = strdup(value);
	if (k == NULL || v == NULL) {
		free(k);
		free(v);
		return TEL_ENOMEM;
	}
	t->metadata[t->nmetadata++] = k;
	t->metadata[t->nmetadata++] = v;
	return TEL_OK;
}

/* ------------------------------------------------------------- columns */

int
tel__table_add_dictionary(struct tel_table *t)
{
	if (!TEL__RESERVE(t->dictionaries, t->dictionaries_room,
	        t->ndictionaries + 1))
		return -1;
	struct table_dictionary *d = &t->dictionaries[t->ndictionaries];
	memset(d, 0, sizeof(*d));
	tel__index_init(&d->index);
	return (int)t->ndictionaries++;
}

int
tel__table_add(struct tel_table *t, const char *name, size_t n,
    struct table_kind kind)
{
	if (t->started ||
	    !TEL__RESERVE(t->columns, t->columns_room, t->ncolumns + 1))
		return -1;
	struct table_column *c = &t->columns[t->ncolumns];
	memset(c, 0, sizeof(*c));
	c->kind = kind;
	if (kind.dictionary >= 0)
		t->dictionaries[kind.dictionary].used = 1;
	c->name = tel__copy_string(name, n);
	return c->name == NULL ? -1 : (int)t->ncolumns++;
}

int
tel_table_add_column(tel_table *t, const char *name, tel_column column)
{
	struct table_kind kind = { TABLE_INTEGER, 8, 0, 0, -1, 0 };

	switch (column) {
	case TEL_COLUMN_UNSIGNED: break;
	case TEL_COLUMN_SIGNED: kind.is_signed = 1; break;
	case TEL_COLUMN_DOUBLE: kind.type = TABLE_FLOAT; break;
	case TEL_COLUMN_BOOLEAN: kind.type = TABLE_BOOLEAN; break;
	case TEL_COLUMN_NAME:
		kind.dictionary = tel__table_add_dictionary(t);
		if (kind.dictionary < 0)
			return -1;
		/* fallthrough */
	case TEL_COLUMN_TEXT: kind.type = TABLE_UTF8; break;
	}
	return tel__table_add(t, name, strlen(name), kind);
}

tel_status
tel__table_start(struct tel_table *t)
{
	size_t i, width = 0;

	if (t->started)
		return TEL_OK;
	for (i = 0; i < t->ncolumns; i++)
		width += table_width(&t->columns[i]);
	t->most = ROWS_MAX;
	while (t->most > ROWS_MIN && t->most * width > BATCH_BYTES)
		t->most /= 2;
	/* each column is at most five pieces of a message */
	if (!TEL__RESERVE(t->pieces, t->pieces_room, 5 * t->ncolumns + 3))
		return TEL_ENOMEM;
	t->started = 1;
	t->batch = 1;
	return TEL_OK;
}

int
tel__table_touch(struct tel_table *t, struct table_column *c)
{
	/* a text has one start more than there are rows */
	size_t size = (t->most + 1) * table_width(c);

	if (c->values == NULL)
		c->values = malloc(size);
	if (c->valid == NULL && !c->kind.required)
		c->valid = malloc(t->most / 8 + 8);
	if (c->values == NULL || (c->valid == NULL && !c->kind.required))
		return 0;
	if (!c->kind.required) {
		memset(c->valid, 0, t->most / 8 + 8);
		memset(c->values, 0, size);
	} else if (c->kind.type == TABLE_BOOLEAN) {
		memset(c->values, 0, size);
	}
	c->touched = 1;
	return 1;
}

void
tel__table_set_bits(unsigned char *bits, size_t row, size_t n)
{
	for (; n > 0 && row % 8 != 0; row++, n--)
		bits[row / 8] |= (unsigned char)(1u << row % 8);
	memset(bits + row / 8, 0xff, n / 8);
	row += n / 8 * 8;
	if (n % 8 > 0)
		bits[row / 8] |= (unsigned char)((1u << n % 8) - 1);
}

/* -------------------------------------------------------------- values */

/* Adds a text to a buffer.  1, or 0: no memory. */
static int
put_utf8(struct tel__buffer *b, const char *text, size_t n)
{
	unsigned char *p = tel__buffer_room(b, TEL_ESCAPE_ROOM(n));

	if (p != NULL)
		b->used = (size_t)(tel__escape_utf8(p, text, n) - b->bytes);
	return p != NULL;
}

/* Nonzero when a text is the one of that number. */
static int
table_name_is(const struct table_dictionary *d, uint32_t number,
    const char *text, size_t n)
{
	const unsigned char *ends = d->ends.bytes + 4 * (size_t)number;

	if (number >= d->count)
		return 0;
	uint32_t from = number == 0 ? 0 : tel_le32(ends - 4);
	return tel_le32(ends) - from == n &&
	    (n == 0 || memcmp(d->text.bytes + from, text, n) == 0);
}

int
tel__table_name(struct table_dictionary *d, const char *text, size_t n,
    uint32_t *number)
{
	const size_t start = d->text.used;
	struct tel__probe at;
	unsigned char bytes[4];
	uint32_t i, end;

	/* compared as it is stored, which may be longer */
	if (!put_utf8(&d->text, text, n) || d->text.used > TEXT_MAX)
		return 0;
	end = (uint32_t)d->text.used;
	uint64_t hash = tel__hash_bytes(n > 0 ? d->text.bytes + start : NULL,
	    end - start, d->index.seed);
	for (i = tel__index_first(&d->index, hash, &at); i != TEL__NOWHERE;
	     i = tel__index_next(&d->index, &at))
		if (table_name_is(d, i,
		        end > start ? (const char *)d->text.bytes + start : "",
		        end - start))
			break;
	if (i != TEL__NOWHERE) {
		d->text.used = start;
		*number = i;
		return 1;
	}
	tel_store_le32(bytes, end);
	tel__buffer_put(&d->ends, bytes, 4);
	if (d->ends.failed || !tel__index_add(&d->index, hash, d->count))
		return 0;
	*number = d->count++;
	return 1;
}

/* The column of that number, if it is there; of text or not. */
static struct table_column *
find_column(struct tel_table *t, int column, int text)
{
	if (tel__table_start(t) != TEL_OK || column < 0 ||
	    (size_t)column >= t->ncolumns ||
	    (t->columns[column].kind.type == TABLE_UTF8) != text)
		return NULL;
	return &t->columns[column];
}

tel_status
tel_table_put_u64(tel_table *t, int column, uint64_t value)
{
	struct table_column *c = find_column(t, column, 0);

	if (c == NULL)
		return TEL_EINVAL;
	unsigned char *p = table_values(t, c, t->rows, 1);
	if (p == NULL)
		return TEL_ENOMEM;
	if (c->kind.type != TABLE_BOOLEAN)
		tel_store_le64(p + 8 * t->rows, value);
	else if (value != 0)
		p[t->rows / 8] |= (unsigned char)(1u << t->rows % 8);
	return TEL_OK;
}

tel_status
tel_table_put_text(tel_table *t, int column, const char *text, size_t n)
{
	struct table_column *c = find_column(t, column, 1);
	uint32_t number;

	if (c == NULL)
		return TEL_EINVAL;
	unsigned char *p = table_values(t, c, t->rows, 1);
	if (p == NULL)
		return TEL_ENOMEM;
	if (c->kind.dictionary >= 0) {
		if (!tel__table_name(&t->dictionaries[c->kind.dictionary], text,
		        n, &number))
			return TEL_ENOMEM;
		tel_store_le32(p + 4 * t->rows, number);
		return TEL_OK;
	}
	tel__table_place(c, t->rows);
	if (!put_utf8(&c->text, text, n) || c->text.used > TEXT_MAX)
		return TEL_ENOMEM;
	t->full |= c->text.used >= TEXT_ENOUGH;
	return TEL_OK;
}

/* Counts an element that was put.  1, or 0: no memory, or too many. */
static int
end_element(struct tel_table *t, struct table_column *c)
{
	c->elements++;
	t->full |= c->text.used >= TEXT_ENOUGH || c->elements >= TEXT_ENOUGH;
	return !c->text.failed && !c->ends.failed && c->text.used <= TEXT_MAX;
}

int
tel__table_start_list(struct tel_table *t, struct table_column *c)
{
	if (table_values(t, c, t->rows, 1) == NULL)
		return 0;
	tel__table_place(c, t->rows);
	return 1;
}

int
tel__table_add_number(struct tel_table *t, struct table_column *c,
    uint64_t value)
{
	unsigned char bytes[8];

	tel_store_le64(bytes, value);
	tel__buffer_put(&c->text, bytes, c->kind.bytes);
	return end_element(t, c);
}

int
tel__table_add_text(struct tel_table *t, struct table_column *c,
    const char *text, size_t n)
{
	unsigned char bytes[4] = { 0 };

	if (c->elements == 0)
		tel__buffer_put(&c->ends, bytes, sizeof(bytes));
	if (!put_utf8(&c->text, text, n))
		return 0;
	tel_store_le32(bytes, (uint32_t)c->text.used);
	tel__buffer_put(&c->ends, bytes, sizeof(bytes));
	return end_element(t, c);
}

tel_status
tel_table_end_row(tel_table *t)
{
	tel_status st = t->finished ? TEL_ESTATE : tel__table_start(t);

	if (st != TEL_OK)
		return st;
	t->rows++;
	return t->rows < t->most && !t->full ? TEL_OK : tel__table_write(t);
}

tel_status
tel_table_flush(tel_table *t)
{
	tel_status st = tel__table_start(t);

	if (st == TEL_OK && t->rows > 0)
		st = tel__table_write(t);
	return st == TEL_OK ? tel_output_flush(t->out) : st;
}

tel_status
tel_table_finish(tel_table *t)
{
	tel_status st = tel__table_start(t);

	if (st == TEL_OK && !t->finished)
		st = tel__table_write(t);
	if (st == TEL_OK && !t->finished)
		st = tel__table_write_end(t);
	t->finished = 1;
	return st;
}
