/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Table: columns of values that are gathered in batches of rows.  It is written
 * in the IPC format of Apache Arrow, columnar format 1.x: each batch as a
 * message, whose body has the columns' bytes.
 */
#ifndef TEL_TABLE_H
#define TEL_TABLE_H

#include <zstd.h>

#include "base/buffer.h"
#include "base/index.h"
#include "base/bytes.h"
#include "io/output.h"
#include "tel/table.h"

/* The data types of columns, by their numbers in the union Type of Arrow. */
enum table_type {
	TABLE_INTEGER = 2,
	TABLE_FLOAT = 3,
	TABLE_UTF8 = 5,
	TABLE_BOOLEAN = 6,
	TABLE_LIST = 12,
	TABLE_TIMESTAMP = 10, /* ns since 1970 UTC */
	TABLE_DURATION = 18   /* ns */
};

/* A column before it is made: what tel__table_add() takes. */
struct table_kind {
	enum table_type type;
	unsigned bytes; /* of a number: 1, 2, 4, 8 */
	int is_signed;
	int required;   /* no value is missing */
	int dictionary; /* of TABLE_UTF8: its number; -1: none */
	/* of TABLE_LIST: enum table_type of an element, which .bytes are of */
	unsigned element;
};

/* A dictionary: distinct texts by number, which columns may share. */
struct table_dictionary {
	struct tel__index index;
	struct tel__buffer text;
	struct tel__buffer ends; /* uint32_t: where each ends in .text */
	uint32_t count;
	uint32_t written; /* of them */
	int used;         /* a column has it */
	int started;      /* some batch of it was written */
};

struct table_column {
	char *name;
	char *field; /* its metadata, or NULL */
	const char *datatype;
	struct table_kind kind;
	/*
	 * Of the batch: numbers, bits, the indices of a dictionary, or where
	 * texts or lists start.  NULL until there is a value.
	 */
	unsigned char *values;
	unsigned char *valid;    /* bits; NULL if it is required */
	int touched;             /* there is one, in this batch */
	size_t without;          /* rows that have none, as it is written */
	size_t placed;           /* of those: rows whose start is known */
	struct tel__buffer text; /* or the elements of lists; booleans: bytes */
	struct tel__buffer ends; /* uint32_t: where texts in lists start */
	size_t elements;
};

/* Bytes of the body of a message. */
struct table_piece {
	const unsigned char *data; /* NULL: shared zeros, or in .packed */
	size_t size;
	uint64_t offset, length; /* as they are in the body */
};

/* How many sizes zeros have: those of bits, of each width, and of texts. */
#define TABLE_BLANKS 6

struct tel_table {
	struct tel_output *out;
	int file;
	ZSTD_CCtx *zstd; /* or NULL */
	struct table_column *columns;
	size_t ncolumns, columns_room;
	struct table_dictionary *dictionaries;
	size_t ndictionaries, dictionaries_room;
	char **metadata; /* keys and values in turn */
	size_t nmetadata, metadata_room;
	size_t rows;    /* of the batch */
	size_t most;    /* of any batch */
	uint64_t batch; /* counts them, from 1 */
	int started;    /* the schema is fixed */
	int written;    /* and was written */
	int full;       /* the batch is to be written at the row's end */
	int finished;
	/* how a message is made */
	struct tel__buffer message;
	struct tel__buffer packed;
	struct table_piece *pieces;
	size_t npieces, pieces_room;
	uint64_t body;
	uint64_t zeros; /* bytes at the start of the body that are shared */
	/* zeros to compress, and what came of those of some sizes */
	unsigned char *blank;
	size_t blank_room;
	struct table_piece blanks[TABLE_BLANKS];
	size_t nblanks;
	/* the file format: where messages are */
	uint64_t at;
	struct tel__buffer batches, dictionary_batches;
};

/* Bytes of a column's row, rounded up. */
static inline size_t
table_width(const struct table_column *c)
{
	if (c->kind.type == TABLE_UTF8 || c->kind.type == TABLE_LIST)
		return 4;
	return c->kind.type == TABLE_BOOLEAN ? 1 : c->kind.bytes;
}

/* Adds a column.  Its number, or -1: no memory. */
int tel__table_add(struct tel_table *t, const char *name, size_t n,
    struct table_kind kind);

/* Adds a dictionary.  Its number, or -1: no memory. */
int tel__table_add_dictionary(struct tel_table *t);

/* Fixes the columns.  TEL_OK, TEL_ENOMEM. */
tel_status tel__table_start(struct tel_table *t);

/* Gives the column of a table that was started its memory.  1, or 0: none. */
int tel__table_touch(struct tel_table *t, struct table_column *c);

/*
 * The number of a text in a dictionary, to which it is added.  1, or 0: no
 * memory.
 */
int tel__table_name(struct table_dictionary *d, const char *text, size_t n,
    uint32_t *number);

/* Sets the bits of n rows from row on. */
void tel__table_set_bits(unsigned char *bits, size_t row, size_t n);

/*
 * Where the values of a column are, of which those of n rows from row on are
 * there; NULL: no memory.
 */
static inline unsigned char *
table_values(struct tel_table *t, struct table_column *c, size_t row, size_t n)
{
	if (!c->touched && !tel__table_touch(t, c))
		return NULL;
	if (c->valid == NULL)
		return c->values;
	if (n == 1)
		c->valid[row / 8] |= (unsigned char)(1u << row % 8);
	else
		tel__table_set_bits(c->valid, row, n);
	return c->values;
}

/* Stores where texts or lists start, up to that of a row. */
static inline void
tel__table_place(struct table_column *c, size_t row)
{
	const size_t at =
	    c->kind.type == TABLE_LIST ? c->elements : c->text.used;

	for (; c->placed <= row; c->placed++)
		tel_store_le32(c->values + 4 * c->placed, (uint32_t)at);
}

/*
 * Starts the list of a column in the current row, and adds an element to it: a
 * number, or a text.  1, or 0: no memory.
 */
int tel__table_start_list(struct tel_table *t, struct table_column *c);
int tel__table_add_number(struct tel_table *t, struct table_column *c,
    uint64_t value);
int tel__table_add_text(struct tel_table *t, struct table_column *c,
    const char *text, size_t n);

/* table_wire.c: the messages. */

/* Writes the schema, if that was not done, and the batch, if it has rows. */
tel_status tel__table_write(struct tel_table *t);
/* Writes what ends the table. */
tel_status tel__table_write_end(struct tel_table *t);

#endif
