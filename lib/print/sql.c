/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A script for sqlite3 that puts logs into the tables that the MPS's
 * mpseventsql makes, so that queries written for those go on working.
 *
 * Whether the file is in the database already, is known only when the script
 * runs: the temporary table tel_new has a row if it is not.  From it follows
 * tel_log, with the serial of the log that is loaded; rows are joined with
 * it, and so come to nothing when it is empty.
 *
 * Another release may have filled the database, with other fields or codes.
 * What does not fit must not be left out, as the log would then look as if it
 * were all there: tel_misfit has a row for each such type, and the transaction
 * is rolled back for it.
 */
#include <inttypes.h>

#include "print/sql.h"

/* Rows in a statement: the gain of more is small, and SQLite parses it all. */
#define ROWS_MAX 256

static const char temporary[] =
    "DROP TABLE IF EXISTS temp.tel_new;\n"
    "DROP TABLE IF EXISTS temp.tel_log;\n"
    "DROP TABLE IF EXISTS temp.tel_misfit;\n"
    "DROP TABLE IF EXISTS temp.tel_check;\n"
    "CREATE TEMP TABLE tel_log (serial INTEGER);\n"
    "CREATE TEMP TABLE tel_misfit (name TEXT);\n"
    "CREATE TEMP TABLE tel_check (fits INTEGER, CONSTRAINT \"the database has"
    " event types of another release, which differ: nothing is loaded\""
    " CHECK (fits));\n";

static const char tables[] =
    "BEGIN;\n"
    "CREATE TABLE IF NOT EXISTS event_kind (name TEXT, description TEXT,"
    " enum INTEGER PRIMARY KEY);\n"
    "CREATE TABLE IF NOT EXISTS event_type (name TEXT, code INTEGER PRIMARY"
    " KEY, used INTEGER, kind INTEGER,"
    " FOREIGN KEY (kind) REFERENCES event_kind(enum));\n"
    "CREATE TABLE IF NOT EXISTS event_param (type INTEGER, param_index"
    " INTEGER, sort TEXT, ident TEXT, doc TEXT,"
    " FOREIGN KEY (type) REFERENCES event_type(code));\n"
    "CREATE TABLE IF NOT EXISTS event_log (name TEXT, size INTEGER, modtime"
    " INTEGER, completed INTEGER, serial INTEGER PRIMARY KEY"
    " AUTOINCREMENT);\n";

/* ---------------------------------------------------------------- rows */

static enum print_op
choose(const struct tel_field *f)
{
	switch (f->datatype) {
	case TEL_STRING: return PRINT_STRING_SQL;
	case TEL_DOUBLE: return PRINT_DOUBLE_SQL;
	default: break;
	}
	/* 64 bits are kept as they are: SQLite's integers are signed */
	if (f->datatype == TEL_SIGNED || f->width == 64)
		return PRINT_SIGNED;
	return PRINT_DECIMAL;
}

static struct print_program *
compile_row(struct print_builder *b, const struct tel_type *type)
{
	unsigned i;

	tel__print_literal(b, "(");
	if (type == NULL) {
		tel__print_op(b, PRINT_CODE);
		tel__print_literal(b, ",X'");
		tel__print_op(b, PRINT_BYTES);
		tel__print_literal(b, "',");
	} else {
		for (i = 0; i < type->nfields; i++) {
			tel__print_field(b, choose(&type->fields[i]), i,
			    SPACE_NONE);
			tel__print_literal(b, ",");
		}
	}
	tel__print_op(b, PRINT_CLOCK_SIGNED);
	tel__print_literal(b, ")");
	return tel__print_end(b);
}

/* The statement before its rows. */
static struct print_program *
compile_head(struct print_builder *b, const struct tel_type *type)
{
	unsigned i;

	tel__print_literal(b, "INSERT INTO ");
	tel__sql_add_name(b, "EVENT_", type == NULL ? "Unknown" : type->name);
	tel__print_literal(b, type == NULL ? "(code,bytes," : "(");
	for (i = 0; type != NULL && i < type->nfields; i++) {
		tel__sql_add_column(b, type, i);
		tel__print_literal(b, ",");
	}
	tel__print_literal(b,
	    "time,log_serial) SELECT v.*, l.serial FROM (VALUES\n");
	return tel__print_end(b);
}

static struct print_program *
compile(struct tel_printer *pr, const struct tel_type *type,
    enum print_variant variant)
{
	struct print_builder b;

	(void)pr;
	tel__print_begin(&b, type, LABELS_TEXT);
	return variant == PRINT_ROW ? compile_row(&b, type) :
	                              compile_head(&b, type);
}

/* ---------------------------------------------------------------- logs */

/* Begins the script: tel_new has a row if the file is not loaded yet. */
static void
begin_script(struct tel_printer *pr)
{
	print_put(pr, temporary);
	print_put(pr, tables);
	print_put(pr, "CREATE TEMP TABLE tel_new AS SELECT 1 AS yes");
	/* nobody can tell whether standard input was loaded before */
	if (pr->file_size != 0 || pr->file_changed != 0)
		tel__sql_put(pr,
		    " WHERE NOT EXISTS (SELECT 1 FROM event_log WHERE "
		    "size=%" PRId64 " AND modtime=%" PRId64 ")",
		    (int64_t)pr->file_size, pr->file_changed);
	print_put(pr, ";\n");
}

static void
end_batch(struct tel_printer *pr)
{
	if (pr->batch == NULL)
		return;
	print_put(pr, "\n) AS v, temp.tel_log AS l;\n");
	pr->batch = NULL;
}

static void
end_log(struct tel_printer *pr)
{
	end_batch(pr);
	if (pr->log_open)
		tel__sql_put(pr,
		    "UPDATE event_log SET completed=%" PRIu64
		    " WHERE serial IN (SELECT serial FROM temp.tel_log);\n",
		    pr->events);
	pr->log_open = 0;
}

static tel_status
begin_log(struct tel_printer *pr, const struct tel_event *ev, int same)
{
	if (!pr->started)
		begin_script(pr);
	if (!same) {
		end_log(pr);
		print_put(pr,
		    "DELETE FROM temp.tel_log;\n"
		    "INSERT INTO event_log (name,size,modtime,completed) "
		    "SELECT ");
		tel__sql_value(pr, ev->log->name);
		tel__sql_put(pr,
		    ",%" PRId64 ",%" PRId64 ",0 FROM temp.tel_new;\n"
		    "INSERT INTO temp.tel_log SELECT last_insert_rowid() FROM"
		    " temp.tel_new;\n",
		    (int64_t)pr->file_size, pr->file_changed);
		pr->log_open = 1;
		pr->events = 0;
	}
	end_batch(pr);
	return tel__sql_schema(pr, ev->log->schema);
}

static tel_status
begin_batch(struct tel_printer *pr, const struct tel_event *ev,
    const struct print_program *row)
{
	struct print_program *head;

	end_batch(pr);
	if (row->type == NULL && !pr->unknown_made) {
		print_put(pr,
		    "CREATE TABLE IF NOT EXISTS EVENT_Unknown (code INTEGER,"
		    " bytes BLOB, time INTEGER, log_serial INTEGER);\n");
		pr->unknown_made = 1;
	}
	head = print_program_for(pr, ev->type, PRINT_OTHER);
	if (head == NULL)
		return TEL_ENOMEM;
	pr->batch = row;
	pr->rows = 0;
	return tel__print_run(pr, head, ev);
}

static tel_status
event(struct tel_printer *pr, const struct tel_event *ev)
{
	struct print_program *row = print_program_for(pr, ev->type, PRINT_ROW);
	tel_status st;

	if (row == NULL)
		return TEL_ENOMEM;
	if (row != pr->batch || pr->rows == ROWS_MAX)
		st = begin_batch(pr, ev, row);
	else
		st = print_put(pr, ",\n");
	if (st != TEL_OK)
		return st;
	pr->rows++;
	pr->events++;
	return tel__print_run(pr, row, ev);
}

static tel_status
finish(struct tel_printer *pr)
{
	if (!pr->started)
		begin_script(pr);
	end_log(pr);
	return print_put(pr,
	    "INSERT OR ROLLBACK INTO temp.tel_check "
	    "SELECT 0 FROM temp.tel_misfit LIMIT 1;\nCOMMIT;\n"
	    "DROP TABLE IF EXISTS temp.tel_new;\n"
	    "DROP TABLE temp.tel_log;\n"
	    "DROP TABLE temp.tel_misfit;\n"
	    "DROP TABLE temp.tel_check;\n");
}

const struct print_style tel__print_style_sql = {
	.begin_log = begin_log,
	.compile = compile,
	.event = event,
	.finish = finish,
};
