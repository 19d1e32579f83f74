/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The messages of a table: "Encapsulated message format" of Arrow's columnar
 * format, version 1.x, whose metadata is FlatBuffers by Schema.fbs, Message.fbs
 * and File.fbs.
 */
#include "print/table.h"

#include <errno.h>

#include "base/array.h"
#include "base/bytes.h"
#include "print/flatbuffer.h"

/* Of Message.fbs and Schema.fbs: what they number. */
#define METADATA_V5 4
enum { HEADER_SCHEMA = 1, HEADER_DICTIONARY = 2, HEADER_BATCH = 3 };
#define PRECISION_DOUBLE 2
#define UNIT_NS 3
#define CODEC_ZSTD 1

/* The numbers of slots that are used, by the fields of their tables. */
enum { MESSAGE_VERSION, MESSAGE_TYPE, MESSAGE_HEADER, MESSAGE_BODY };
enum { SCHEMA_ENDIANNESS, SCHEMA_FIELDS, SCHEMA_METADATA };
enum {
	FIELD_NAME,
	FIELD_NULLABLE,
	FIELD_TYPE_TYPE,
	FIELD_TYPE,
	FIELD_DICTIONARY,
	FIELD_CHILDREN,
	FIELD_METADATA
};
enum { BATCH_LENGTH, BATCH_NODES, BATCH_BUFFERS, BATCH_COMPRESSION };
enum { FOOTER_VERSION, FOOTER_SCHEMA, FOOTER_DICTIONARIES, FOOTER_BATCHES };

#define CONTINUATION UINT32_C(0xffffffff)
#define PREFIX 8u
static const char magic[] = "ARROW1";
#define MAGIC (sizeof(magic) - 1)

/* Structures in vectors: FieldNode, Buffer, and Block of the footer. */
#define PAIR 16u
#define BLOCK 24u

/* Buffers start at multiples of this, as the format recommends. */
#define ALIGNMENT 64u

static const unsigned char zeros[4096];

static tel_status
no_memory(struct tel_table *t)
{
	return tel__output_fail(t->out, TEL_ENOMEM, ENOMEM);
}

static void
table_wire_put(struct tel_table *t, const void *bytes, size_t n)
{
	t->at += n;
	(void)tel_output_write(t->out, bytes, n);
}

static void
put_zeros(struct tel_table *t, uint64_t n)
{
	for (; n > sizeof(zeros); n -= sizeof(zeros))
		table_wire_put(t, zeros, sizeof(zeros));
	table_wire_put(t, zeros, (size_t)n);
}

/* -------------------------------------------------------------- schema */

/* Adds a vector of keys and values. */
static size_t
add_metadata(struct tel__buffer *b, const char *const *pairs, size_t n)
{
	size_t at = tel__flat_vector(b, n / 2, 4), i, pair;

	for (i = 0; i < n; i += 2) {
		pair = tel__flat_table(b, "44");
		tel__flat_element(b, at, i / 2, pair);
		tel__flat_refer(b, pair, 0,
		    tel__flat_string(b, pairs[i], strlen(pairs[i])));
		tel__flat_refer(b, pair, 1,
		    tel__flat_string(b, pairs[i + 1], strlen(pairs[i + 1])));
	}
	return at;
}

/* Adds the table that describes a data type. */
static size_t
table_wire_add_type(struct tel__buffer *b, const struct table_kind *kind)
{
	size_t at = 0;

	switch (kind->type) {
	case TABLE_INTEGER:
		at = tel__flat_table(b, "41");
		tel__flat_set(b, at, 0, 4, 8 * kind->bytes);
		tel__flat_set(b, at, 1, 1, (uint64_t)kind->is_signed);
		return at;
	case TABLE_FLOAT:
		at = tel__flat_table(b, "2");
		tel__flat_set(b, at, 0, 2, PRECISION_DOUBLE);
		return at;
	case TABLE_TIMESTAMP:
		at = tel__flat_table(b, "24");
		tel__flat_set(b, at, 0, 2, UNIT_NS);
		tel__flat_refer(b, at, 1, tel__flat_string(b, "UTC", 3));
		return at;
	case TABLE_DURATION:
		at = tel__flat_table(b, "2");
		tel__flat_set(b, at, 0, 2, UNIT_NS);
		return at;
	case TABLE_UTF8:
	case TABLE_LIST:
	case TABLE_BOOLEAN: break;
	}
	return tel__flat_table(b, "");
}

/* Adds the encoding by a dictionary: its number and that of its indices. */
static size_t
add_encoding(struct tel__buffer *b, int dictionary)
{
	static const struct table_kind index = { TABLE_INTEGER, 4, 1, 0, -1,
		0 };
	size_t at = tel__flat_table(b, "84");

	tel__flat_set(b, at, 0, 8, (uint64_t)dictionary);
	tel__flat_refer(b, at, 1, table_wire_add_type(b, &index));
	return at;
}

/* Adds the field of a list's elements. */
static size_t
add_element(struct tel__buffer *b, const struct table_column *c)
{
	const struct table_kind kind = { (enum table_type)c->kind.element,
		c->kind.bytes, c->kind.is_signed, 1, -1, 0 };
	size_t at = tel__flat_table(b, "411404");

	tel__flat_refer(b, at, FIELD_NAME, tel__flat_string(b, "item", 4));
	tel__flat_set(b, at, FIELD_TYPE_TYPE, 1, kind.type);
	tel__flat_refer(b, at, FIELD_TYPE, table_wire_add_type(b, &kind));
	tel__flat_refer(b, at, FIELD_CHILDREN, tel__flat_vector(b, 0, 4));
	return at;
}

static size_t
table_wire_add_field(struct tel__buffer *b, const struct table_column *c)
{
	const char *const pairs[] = { "tel.field", c->field, "tel.datatype",
		c->datatype };
	const int encoded = c->kind.dictionary >= 0;
	const int is_list = c->kind.type == TABLE_LIST;
	size_t children,
	    at = tel__flat_table(b, encoded ? "4114444" : "4114044");

	tel__flat_refer(b, at, FIELD_NAME,
	    tel__flat_string(b, c->name, strlen(c->name)));
	tel__flat_set(b, at, FIELD_NULLABLE, 1, !c->kind.required);
	tel__flat_set(b, at, FIELD_TYPE_TYPE, 1, c->kind.type);
	tel__flat_refer(b, at, FIELD_TYPE, table_wire_add_type(b, &c->kind));
	if (encoded)
		tel__flat_refer(b, at, FIELD_DICTIONARY,
		    add_encoding(b, c->kind.dictionary));
	children = tel__flat_vector(b, (size_t)is_list, 4);
	tel__flat_refer(b, at, FIELD_CHILDREN, children);
	if (is_list)
		tel__flat_element(b, children, 0, add_element(b, c));
	tel__flat_refer(b, at, FIELD_METADATA,
	    add_metadata(b, pairs, c->field != NULL ? 4 : 0));
	return at;
}

static size_t
table_wire_add_schema(const struct tel_table *t, struct tel__buffer *b)
{
	size_t at = tel__flat_table(b, "244"), fields, i;

	fields = tel__flat_vector(b, t->ncolumns, 4);
	tel__flat_refer(b, at, SCHEMA_FIELDS, fields);
	for (i = 0; i < t->ncolumns; i++)
		tel__flat_element(b, fields, i,
		    table_wire_add_field(b, &t->columns[i]));
	tel__flat_refer(b, at, SCHEMA_METADATA,
	    add_metadata(b, (const char *const *)t->metadata, t->nmetadata));
	return at;
}

/* ------------------------------------------------------------ messages */

/* Starts a message and returns its table. */
static size_t
start_message(struct tel_table *t, unsigned header)
{
	tel__flat_start(&t->message);
	size_t at = tel__flat_table(&t->message, "2148");
	tel__flat_set(&t->message, at, MESSAGE_VERSION, 2, METADATA_V5);
	tel__flat_set(&t->message, at, MESSAGE_TYPE, 1, header);
	tel__flat_set(&t->message, at, MESSAGE_BODY, 8, t->body);
	return at;
}

/*
 * Writes the part before the body of the message; adds it to blocks, or NULL.
 */
static tel_status
put_message(struct tel_table *t, struct tel__buffer *blocks)
{
	unsigned char head[PREFIX], block[BLOCK] = { 0 };

	tel__flat_end(&t->message);
	if (t->message.failed)
		return no_memory(t);
	if (blocks != NULL && t->file) {
		tel_store_le64(block, t->at);
		tel_store_le32(block + 8, (uint32_t)(PREFIX + t->message.used));
		tel_store_le64(block + 16, t->body);
		tel__buffer_put(blocks, block, sizeof(block));
		if (blocks->failed)
			return no_memory(t);
	}
	tel_store_le32(head, CONTINUATION);
	tel_store_le32(head + 4, (uint32_t)t->message.used);
	table_wire_put(t, head, sizeof(head));
	table_wire_put(t, t->message.bytes, t->message.used);
	return t->out->status;
}

static tel_status
write_schema(struct tel_table *t)
{
	if (t->file) {
		table_wire_put(t, magic, MAGIC);
		put_zeros(t, PREFIX - MAGIC);
	}
	t->body = 0;
	size_t at = start_message(t, HEADER_SCHEMA);
	tel__flat_refer(&t->message, at, MESSAGE_HEADER,
	    table_wire_add_schema(t, &t->message));
	t->written = 1;
	return put_message(t, NULL);
}

/* -------------------------------------------------------------- bodies */

/*
 * Starts a body.  All columns without a value share the zeros at its start, or
 * those of their size that were compressed first.
 */
static void
start_body(struct tel_table *t)
{
	t->npieces = 0;
	t->zeros = 0;
	t->nblanks = 0;
	t->packed.used = 0;
	for (size_t i = 0; i < t->ncolumns && t->zstd == NULL; i++)
		if (!t->columns[i].touched)
			t->zeros = 8 * t->rows + 4;
	t->zeros = (t->zeros + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	t->body = t->zeros;
}

/* Compresses a piece, where that makes it smaller, behind its size. */
static void
table_wire_pack(struct tel_table *t, struct table_piece *p,
    const unsigned char *data)
{
	const size_t bound = ZSTD_compressBound(p->size);
	unsigned char *to = tel__buffer_room(&t->packed, 8 + bound + 8);

	if (to == NULL)
		return;
	size_t n = ZSTD_compress2(t->zstd, to + 8, bound, data, p->size);
	/* there is room for what comes of it, so all that can lack is memory */
	if (ZSTD_isError(n)) {
		t->packed.failed = 1;
		return;
	}
	if (n >= p->size) {
		n = p->size;
		memcpy(to + 8, data, n);
		tel_store_le64(to, UINT64_MAX);
	} else {
		tel_store_le64(to, p->size);
	}
	p->offset = t->packed.used;
	p->length = 8 + n;
	memset(to + 8 + n, 0, 8);
	t->packed.used += (8 + n + 7) / 8 * 8;
	t->body = t->packed.used;
}

/* Adds bytes to the body; size 0: none. */
static void
add_piece(struct tel_table *t, const unsigned char *data, size_t size)
{
	struct table_piece *p = &t->pieces[t->npieces++];

	p->data = t->zstd == NULL ? data : NULL;
	p->size = size;
	p->offset = size > 0 ? t->body : 0;
	p->length = size;
	if (size > 0 && t->zstd != NULL)
		table_wire_pack(t, p, data);
	else
		t->body += (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Adds zeros: at most TABLE_BLANKS different sizes in a batch. */
static void
table_wire_add_zeros(struct tel_table *t, size_t size)
{
	struct table_piece *p = &t->pieces[t->npieces];
	size_t i;

	if (t->zstd == NULL || size == 0) {
		p->data = NULL;
		p->size = size;
		p->length = size;
		p->offset = 0;
		t->npieces++;
		return;
	}
	for (i = 0; i < t->nblanks; i++)
		if (t->blanks[i].size == size)
			break;
	if (i < t->nblanks) {
		*p = t->blanks[i];
		t->npieces++;
		return;
	}
	if (!TEL__RESERVE_ZEROED(t->blank, t->blank_room, size)) {
		t->packed.failed = 1;
		return;
	}
	add_piece(t, t->blank, size);
	if (t->nblanks < TABLE_BLANKS)
		t->blanks[t->nblanks++] = *p;
}

/* How many of so many rows have a value. */
static size_t
count_values(const struct table_column *c, size_t rows)
{
	size_t i, n = 0;
	uint64_t bits = 0;

	if (c->kind.required)
		return rows;
	/* no bit is set behind the last row */
	for (i = 0; c->touched && i < (rows + 7) / 8; i += 8) {
		memcpy(&bits, c->valid + i, 8);
		n += (size_t)__builtin_popcountll(bits);
	}
	return n;
}

/* Adds the pieces of the elements of lists. */
static void
add_elements(struct tel_table *t, struct table_column *c)
{
	unsigned char *const p = c->text.bytes;
	size_t size = c->text.used, i;

	add_piece(t, NULL, 0);
	if (c->kind.element == TABLE_UTF8 && c->elements == 0)
		table_wire_add_zeros(t, 4);
	else if (c->kind.element == TABLE_UTF8)
		add_piece(t, c->ends.bytes, c->ends.used);
	if (c->kind.element == TABLE_BOOLEAN) {
		size = (c->elements + 7) / 8;
		for (i = 0; i < c->elements; i++)
			p[i / 8] = (unsigned char)((i % 8 == 0 ? 0 : p[i / 8]) |
			    p[i] << i % 8);
	}
	add_piece(t, p, size);
}

/* Adds the pieces of a column, which is as new then, except for its text. */
static void
table_wire_add_column(struct tel_table *t, struct table_column *c)
{
	const size_t n = t->rows, bits = (n + 7) / 8;
	const int is_list = c->kind.type == TABLE_LIST;
	const int text =
	    is_list || (c->kind.type == TABLE_UTF8 && c->kind.dictionary < 0);
	size_t size = n * table_width(c), without = n - count_values(c, n);

	if (text)
		size = 4 * (n + 1);
	else if (c->kind.type == TABLE_BOOLEAN)
		size = bits;
	if (!c->touched) {
		table_wire_add_zeros(t, c->kind.required ? 0 : bits);
		table_wire_add_zeros(t, size);
	} else {
		if (text)
			tel__table_place(c, n);
		add_piece(t, c->valid, without > 0 ? bits : 0);
		add_piece(t, c->values, size);
	}
	if (is_list)
		add_elements(t, c);
	else if (text)
		add_piece(t, c->text.bytes, c->text.used);
	c->without = without;
	c->touched = 0;
	c->placed = 0;
}

/* Writes the body that was made, padded to the length in its message. */
static tel_status
put_body(struct tel_table *t)
{
	if (t->zstd != NULL)
		table_wire_put(t, t->packed.bytes, t->packed.used);
	else
		put_zeros(t, t->zeros);
	for (size_t i = 0; i < t->npieces; i++) {
		const struct table_piece *p = &t->pieces[i];

		if (p->data == NULL || p->size == 0)
			continue;
		table_wire_put(t, p->data, p->size);
		put_zeros(t, (ALIGNMENT - p->size % ALIGNMENT) % ALIGNMENT);
	}
	return t->out->status;
}

/*
 * Adds a RecordBatch, whose buffers are the pieces of the body, and returns it.
 * nodes: of columns; set to the place of their vector.
 */
static size_t
add_batch(struct tel_table *t, size_t rows, size_t n, size_t *nodes)
{
	struct tel__buffer *b = &t->message;
	size_t at = tel__flat_table(b, t->zstd != NULL ? "8444" : "844"), v, i;

	tel__flat_set(b, at, BATCH_LENGTH, 8, rows);
	*nodes = tel__flat_vector(b, n, PAIR);
	tel__flat_refer(b, at, BATCH_NODES, *nodes);
	for (i = 0; i < n; i++)
		tel__flat_word(b, *nodes + 4 + PAIR * i, rows);
	v = tel__flat_vector(b, t->npieces, PAIR);
	tel__flat_refer(b, at, BATCH_BUFFERS, v);
	for (i = 0; i < t->npieces; i++) {
		tel__flat_word(b, v + 4 + PAIR * i, t->pieces[i].offset);
		tel__flat_word(b, v + 12 + PAIR * i, t->pieces[i].length);
	}
	if (t->zstd != NULL) {
		v = tel__flat_table(b, "11");
		tel__flat_refer(b, at, BATCH_COMPRESSION, v);
		tel__flat_set(b, v, 0, 1, CODEC_ZSTD);
	}
	return at;
}

/* Writes the batch of rows, and starts the next one. */
static tel_status
write_batch(struct tel_table *t)
{
	size_t at, batch, nodes, n = t->ncolumns, i;

	start_body(t);
	for (i = 0; i < t->ncolumns; i++) {
		table_wire_add_column(t, &t->columns[i]);
		n += t->columns[i].kind.type == TABLE_LIST;
	}
	if (t->packed.failed)
		return no_memory(t);
	at = start_message(t, HEADER_BATCH);
	batch = add_batch(t, t->rows, n, &nodes);
	tel__flat_refer(&t->message, at, MESSAGE_HEADER, batch);
	nodes += 4;
	for (i = 0; i < t->ncolumns; i++, nodes += PAIR) {
		struct table_column *c = &t->columns[i];

		tel__flat_word(&t->message, nodes + 8, c->without);
		if (c->kind.type != TABLE_LIST)
			continue;
		/* its elements are a node, too, and none is missing */
		nodes += PAIR;
		tel__flat_word(&t->message, nodes, c->elements);
		tel__flat_word(&t->message, nodes + 8, 0);
	}
	tel_status st = put_message(t, &t->batches);
	if (st == TEL_OK)
		st = put_body(t);
	for (i = 0; i < t->ncolumns; i++) {
		t->columns[i].text.used = t->columns[i].ends.used = 0;
		t->columns[i].elements = 0;
	}
	t->rows = 0;
	t->full = 0;
	t->batch++;
	return st;
}

/* -------------------------------------------------------- dictionaries */

/* Where text number i of a dictionary starts. */
static uint32_t
name_start(const struct table_dictionary *d, uint32_t i)
{
	return i == 0 ? 0 : tel_le32(d->ends.bytes + 4 * (size_t)(i - 1));
}

/* Writes what a dictionary has more than was written of it. */
static tel_status
write_dictionary(struct tel_table *t, size_t number)
{
	struct table_dictionary *d = &t->dictionaries[number];
	const uint32_t base = name_start(d, d->written);
	struct tel__buffer starts = { 0 };
	size_t at, dictionary, batch, nodes;
	unsigned char *p;

	p = tel__buffer_room(&starts, 4 * (size_t)(d->count - d->written + 1));
	if (p == NULL)
		return no_memory(t);
	for (uint32_t i = d->written; i <= d->count; i++, p += 4)
		tel_store_le32(p, name_start(d, i) - base);
	starts.used = (size_t)(p - starts.bytes);
	start_body(t);
	t->zeros = t->body = 0;
	add_piece(t, NULL, 0);
	add_piece(t, starts.bytes, starts.used);
	add_piece(t, d->text.bytes == NULL ? NULL : d->text.bytes + base,
	    d->text.used - base);
	at = start_message(t, HEADER_DICTIONARY);
	dictionary = tel__flat_table(&t->message, "841");
	tel__flat_refer(&t->message, at, MESSAGE_HEADER, dictionary);
	tel__flat_set(&t->message, dictionary, 0, 8, number);
	tel__flat_set(&t->message, dictionary, 2, 1, (uint64_t)d->started);
	batch = add_batch(t, d->count - d->written, 1, &nodes);
	tel__flat_refer(&t->message, dictionary, 1, batch);
	tel__flat_word(&t->message, nodes + 4 + 8, 0);
	tel_status st = t->packed.failed ?
	    no_memory(t) :
	    put_message(t, &t->dictionary_batches);
	if (st == TEL_OK)
		st = put_body(t);
	tel__buffer_clear(&starts);
	d->written = d->count;
	d->started = 1;
	return st;
}

static tel_status
write_dictionaries(struct tel_table *t)
{
	tel_status st = TEL_OK;

	for (size_t i = 0; i < t->ndictionaries && st == TEL_OK; i++) {
		const struct table_dictionary *d = &t->dictionaries[i];

		if (d->used && (!d->started || d->written < d->count))
			st = write_dictionary(t, i);
	}
	return st;
}

/* ---------------------------------------------------------------- all */

tel_status
tel__table_write(struct tel_table *t)
{
	tel_status st = t->out->status;

	if (st == TEL_OK && !t->written)
		st = write_schema(t);
	/* a file has each dictionary once: they can be anywhere in it */
	if (st == TEL_OK && !t->file)
		st = write_dictionaries(t);
	if (st == TEL_OK && t->rows > 0)
		st = write_batch(t);
	return st;
}

/* Adds a vector of the blocks that were collected. */
static size_t
add_blocks(struct tel__buffer *b, const struct tel__buffer *blocks)
{
	size_t n = blocks->used / BLOCK, at = tel__flat_vector(b, n, BLOCK);

	if (!b->failed && n > 0)
		memcpy(b->bytes + at + 4, blocks->bytes, blocks->used);
	return at;
}

static tel_status
write_footer(struct tel_table *t)
{
	struct tel__buffer *b = &t->message;
	unsigned char size[4];

	tel__flat_start(b);
	size_t at = tel__flat_table(b, "2444");
	tel__flat_set(b, at, FOOTER_VERSION, 2, METADATA_V5);
	tel__flat_refer(b, at, FOOTER_SCHEMA, table_wire_add_schema(t, b));
	tel__flat_refer(b, at, FOOTER_DICTIONARIES,
	    add_blocks(b, &t->dictionary_batches));
	tel__flat_refer(b, at, FOOTER_BATCHES, add_blocks(b, &t->batches));
	tel__flat_end(b);
	if (b->failed)
		return no_memory(t);
	table_wire_put(t, b->bytes, b->used);
	tel_store_le32(size, (uint32_t)b->used);
	table_wire_put(t, size, sizeof(size));
	table_wire_put(t, magic, MAGIC);
	return t->out->status;
}

tel_status
tel__table_write_end(struct tel_table *t)
{
	unsigned char end[PREFIX] = { 0 };
	tel_status st = t->file ? write_dictionaries(t) : TEL_OK;

	tel_store_le32(end, CONTINUATION);
	if (st == TEL_OK) {
		table_wire_put(t, end, sizeof(end));
		st = t->out->status;
	}
	return st == TEL_OK && t->file ? write_footer(t) : st;
}
