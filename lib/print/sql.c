/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A script for sqlite3 that puts logs into the tables of print/database.c.
 * Rows are collected for each type and written in bulk: SQLite spends several
 * times as long on a statement of one row.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "print/database.h"
#include "render/renderer.h"

/* Rows in a statement: the gain of more is small, and SQLite parses it all. */
#define ROWS_MAX 256
/* Bytes of a statement, except for its last row. */
#define BYTES_MAX ((size_t)1 << 16)

/* The rows of a type that wait for their statement. */
struct rows {
	struct tel__buffer head; /* the statement before them */
	tel_output *text;        /* each with a comma before it */
	unsigned count;
};

/* The script that is being written. */
struct sql {
	struct database database;
	struct rows *rows; /* by the slots of programs */
	size_t room;
	size_t low; /* no slot before it has rows */
};

/* ---------------------------------------------------------------- rows */

static const char comma[] = ",\n";
#define COMMA (sizeof(comma) - 1)

static enum render_op
sql_choose(const struct tel_field *f)
{
	if (f->space == TEL_SPACE_STACK)
		return RENDER_STACK_SQL;
	switch (f->datatype) {
	case TEL_STRING: return RENDER_STRING_SQL;
	case TEL_DOUBLE:
		return f->load == TEL_LOAD_LEF32 ? RENDER_FLOAT_SQL :
		                                   RENDER_DOUBLE_SQL;
	case TEL_LIST: return RENDER_LIST_SQL;
	default: break;
	}
	/* 64 bits are kept as they are: SQLite's integers are signed */
	if (f->datatype == TEL_SIGNED || f->width == 64)
		return RENDER_SIGNED;
	return RENDER_DECIMAL;
}

static struct render_program *
sql_compile(struct tel_printer *pr, const struct tel_type *type)
{
	struct render_builder b;

	(void)pr;
	tel__render_start(&b, type, LABELS_TEXT);
	tel__render_add(&b, comma);
	tel__render_add(&b, "(");
	if (type == NULL) {
		tel__render_add_op(&b, RENDER_CODE);
		tel__render_add(&b, ",X'");
		tel__render_add_op(&b, RENDER_BYTES);
		tel__render_add(&b, "',");
	} else {
		for (unsigned i = 0; i < type->nfields; i++) {
			tel__render_add_if(&b, i, "NULL");
			tel__render_add_field(&b, sql_choose(&type->fields[i]),
			    i, SPACE_NONE);
			tel__render_end_if(&b);
			tel__render_add(&b, ",");
		}
	}
	tel__render_add_op(&b, RENDER_CLOCK_SIGNED);
	tel__render_add(&b, ",");
	tel__render_add_op(&b, RENDER_COUNT);
	tel__render_add(&b, ")");
	return tel__render_end(&b);
}

/* Writes the statement of rows, if there are any. */
static tel_status
sql_write_rows(struct tel_printer *pr, struct rows *r)
{
	static const char tail[] = ");\n";

	if (r->count == 0)
		return TEL_OK;
	if (r->head.failed)
		return TEL_ENOMEM;
	tel_output_write(pr->out, r->head.bytes, r->head.used);
	tel_output_write(pr->out, r->text->buffer + COMMA,
	    r->text->used - COMMA);
	r->count = 0;
	r->text->used = 0;
	return tel_output_write(pr->out, tail, sizeof(tail) - 1);
}

static tel_status
sql_flush(struct tel_printer *pr)
{
	struct sql *sql = pr->state;
	tel_status st = TEL_OK;

	for (; sql->low < sql->database.nslots && st == TEL_OK; sql->low++)
		st = sql_write_rows(pr, &sql->rows[sql->low]);
	return st;
}

/* Writes a part of the script, which is empty then. */
static tel_status
write_text(struct tel_printer *pr, struct tel__buffer *text)
{
	if (text->failed)
		return TEL_ENOMEM;
	/* without a byte there may be no buffer */
	if (text->used > 0)
		tel_output_write(pr->out, text->bytes, text->used);
	text->used = 0;
	return pr->out->status;
}

static void
clear_rows(struct database *d)
{
	struct rows *rows = ((struct sql *)d)->rows;

	for (size_t i = 0; i < d->nslots; i++) {
		tel__buffer_clear(&rows[i].head);
		tel_output_free(rows[i].text);
	}
	d->nslots = ((struct sql *)d)->low = 0;
}

/*
 * The statement up to its rows.  The log comes first, as then SQLite does not
 * store the rows on the way.
 */
static tel_status
sql_prepare(struct tel_printer *pr, const struct tel_type *type)
{
	struct sql *sql = pr->state;
	struct tel__buffer *b = &sql->database.text;
	unsigned i, n = database_fields(type);
	char column[80];

	tel__buffer_put(b, "SELECT ", 7);
	for (i = 1; i <= n + 1; i++) {
		(void)snprintf(column, sizeof(column), "column%u,", i);
		tel__buffer_put(b, column, strlen(column));
	}
	(void)snprintf(column, sizeof(column),
	    "column%u+l.base,l.serial FROM temp.tel_log AS l CROSS JOIN ", i);
	tel__buffer_put(b, column, strlen(column));
	tel__buffer_put(b, "(VALUES\n", 8);
	if (!TEL__RESERVE(sql->rows, sql->room, sql->database.nslots + 1))
		return TEL_ENOMEM;
	struct rows *r = &sql->rows[sql->database.nslots];
	memset(r, 0, sizeof(*r));
	r->text = tel__output_new_memory();
	if (r->text == NULL)
		return TEL_ENOMEM;
	r->head = *b;
	memset(b, 0, sizeof(*b));
	return TEL_OK;
}

static tel_status
sql_event(struct tel_printer *pr, const struct tel_event *ev)
{
	struct sql *sql = pr->state;
	tel_output *out = pr->out;
	struct render_program *g;
	tel_status st = tel__database_event(pr, ev, &g);

	if (st != TEL_OK)
		return st;
	struct rows *r = &sql->rows[g->slot - 1];
	if (g->slot <= sql->low)
		sql->low = g->slot - 1;
	pr->count = sql->database.events;
	pr->out = r->text;
	st = tel__render_run(pr, g, ev);
	pr->out = out;
	if (st != TEL_OK)
		return st;
	if (++r->count < ROWS_MAX && r->text->used < BYTES_MAX + COMMA)
		return TEL_OK;
	return sql_write_rows(pr, r);
}

/* ---------------------------------------------------------------- logs */

static const struct database_sink script = {
	.size = sizeof(struct sql),
	.run = write_text,
	.prepare = sql_prepare,
	.flush = sql_flush,
	.clear = clear_rows,
};

static void
sql_release(struct tel_printer *pr)
{
	struct sql *sql = pr->state;

	clear_rows(&sql->database);
	free(sql->rows);
	tel__database_clear(&sql->database);
}

const struct tel_renderer tel__renderer_sql = {
	.name = "sql",
	.flags = TEL_PRINTER_HEADER | TEL_PRINTER_BY_LOG | TEL_PRINTER_INDEX,
	.dialect = &script,
	.begin_log = tel__database_begin_log,
	.compile = sql_compile,
	.event = sql_event,
	.finish = tel__database_finish,
	.release = sql_release,
};
