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
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "print/escape.h"
#include "print/printer.h"

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

__attribute__((format(printf, 2, 3))) static void
put(struct tel_printer *pr, const char *format, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	print_put(pr, text);
}

static void
put_value(struct tel_printer *pr, const char *s)
{
	size_t n = strlen(s);
	unsigned char *p = tel_output_room(pr->out, TEL_ESCAPE_ROOM(n));

	if (p != NULL)
		pr->out->used =
		    (size_t)(tel_escape_sql(p, s, n) - pr->out->buffer);
}

/* A name of a table or a column, with what comes before it. */
static void
add_name(struct print_builder *b, const char *before, const char *name)
{
	print_literal(b, "\"");
	print_literal(b, before);
	for (; *name != '\0'; name++)
		print_bytes(b, *name == '"' ? "\"\"" : name,
		    *name == '"' ? 2 : 1);
	print_literal(b, "\"");
}

/*
 * Columns differ in more than the case of letters, and two have names of
 * their own: the further ones of a name get a number behind it.  out has room
 * for the name and COLUMN_MORE bytes.
 */
#define COLUMN_MORE 16

static int
is_reserved(const char *name)
{
	return strcasecmp(name, "time") == 0 ||
	    strcasecmp(name, "log_serial") == 0;
}

static void
name_column(const struct tel_type *type, unsigned field, char *out)
{
	const struct tel_field *f = &type->fields[field];
	unsigned i, n = 1 + (unsigned)is_reserved(f->name), taken;

	for (i = 0; i < field; i++)
		n += strcasecmp(type->fields[i].name, f->name) == 0;
	memcpy(out, f->name, f->name_length + 1u);
	for (taken = n > 1; taken; n++) {
		snprintf(out + f->name_length, COLUMN_MORE, "_%u", n);
		taken = (unsigned)is_reserved(out);
		for (i = 0; i < type->nfields; i++)
			taken |= strcasecmp(type->fields[i].name, out) == 0;
	}
}

/* The name of a column; NULL when there is no memory. */
static char *
column(const struct tel_type *type, unsigned field)
{
	char *name = malloc(type->fields[field].name_length + COLUMN_MORE);

	if (name != NULL)
		name_column(type, field, name);
	return name;
}

/* Adds it to a program. */
static void
add_column(struct print_builder *b, const struct tel_type *type, unsigned i)
{
	char *name = column(type, i);

	if (name != NULL)
		add_name(b, "", name);
	else
		b->failed = 1;
	free(name);
}

/* Prints it as a string. */
static void
put_column(struct tel_printer *pr, const struct tel_type *type, unsigned i)
{
	char *name = column(type, i);

	if (name != NULL)
		put_value(pr, name);
	else
		pr->out->status = TEL_ENOMEM;
	free(name);
}

/* ---------------------------------------------------------------- rows */

static enum print_op
choose(const struct tel_field *f)
{
	switch (f->sort) {
	case TEL_STRING: return PRINT_STRING_SQL;
	case TEL_DOUBLE: return PRINT_DOUBLE_SQL;
	default: break;
	}
	/* 64 bits are kept as they are: SQLite's integers are signed */
	if (f->sort == TEL_SIGNED || f->width == 64)
		return PRINT_SIGNED;
	return PRINT_DECIMAL;
}

static struct print_program *
compile_row(struct print_builder *b, const struct tel_type *type)
{
	unsigned i;

	print_literal(b, "(");
	if (type == NULL) {
		print_op(b, PRINT_CODE);
		print_literal(b, ",X'");
		print_op(b, PRINT_BYTES);
		print_literal(b, "',");
	} else {
		for (i = 0; i < type->nfields; i++) {
			print_field(b, choose(&type->fields[i]), i, SPACE_NONE);
			print_literal(b, ",");
		}
	}
	print_op(b, PRINT_CLOCK_SIGNED);
	print_literal(b, ")");
	return print_end(b);
}

/* The statement before its rows. */
static struct print_program *
compile_head(struct print_builder *b, const struct tel_type *type)
{
	unsigned i;

	print_literal(b, "INSERT INTO ");
	add_name(b, "EVENT_", type == NULL ? "Unknown" : type->name);
	print_literal(b, type == NULL ? "(code,bytes," : "(");
	for (i = 0; type != NULL && i < type->nfields; i++) {
		add_column(b, type, i);
		print_literal(b, ",");
	}
	print_literal(b,
	    "time,log_serial) SELECT v.*, l.serial FROM (VALUES\n");
	return print_end(b);
}

static struct print_program *
compile(struct tel_printer *pr, const struct tel_type *type,
    enum print_variant variant)
{
	struct print_builder b;

	(void)pr;
	print_begin(&b, type, LABELS_TEXT);
	return variant == PRINT_ROW ? compile_row(&b, type) :
	                              compile_head(&b, type);
}

/* -------------------------------------------------------------- tables */

/* The registry's flag of a type; 1 where there is no registry. */
static unsigned
is_used(const struct tel_printer *pr, const struct tel_type *type)
{
	unsigned i;

	if (pr->release == NULL)
		return 1;
	for (i = 0; i < mps_nrows; i++)
		if (mps_rows[i].code == type->code &&
		    mps_rows[i].first <= pr->release->number &&
		    mps_rows[i].last >= pr->release->number)
			return mps_rows[i].used;
	return 0;
}

static void
put_kind(struct tel_printer *pr, unsigned number, const char *name,
    const char *text)
{
	print_put(pr, "INSERT OR IGNORE INTO event_kind VALUES (");
	put_value(pr, name);
	print_put(pr, ",");
	put_value(pr, text);
	put(pr, ",%u);\n", number);
}

static void
put_kinds(struct tel_printer *pr, const struct tel_schema *schema)
{
	unsigned i;

	if (pr->release != NULL)
		for (i = 0; i < MPS_KINDS; i++)
			put_kind(pr, i, mps_kinds[i].name, mps_kinds[i].text);
	else
		for (i = 0; i < schema->ntypes; i++)
			put_kind(pr, schema->types[i].kind_number,
			    schema->types[i].kind, "");
}

/* The letter of a sort in the MPS's registry. */
static char
letter_of(const struct tel_field *f)
{
	switch (f->sort) {
	case TEL_ADDRESS: return 'A';
	case TEL_POINTER: return 'P';
	case TEL_BOOLEAN: return 'B';
	case TEL_DOUBLE: return 'D';
	case TEL_STRING: return 'S';
	case TEL_UNSIGNED:
	case TEL_SIGNED:
	case TEL_SET: break;
	}
	return f->letter == 'U' ? 'U' : 'W';
}

static void
put_params(struct tel_printer *pr, const struct tel_type *type)
{
	unsigned i;

	for (i = 0; i < type->nfields; i++) {
		put(pr,
		    "INSERT INTO event_param (type,param_index,sort,ident,doc) "
		    "SELECT %" PRIu32 ",%u,'%c',",
		    type->code, i, letter_of(&type->fields[i]));
		put_column(pr, type, i);
		put(pr,
		    ",'' WHERE NOT EXISTS (SELECT 1 FROM event_param WHERE "
		    "type=%" PRIu32 " AND param_index=%u);\n",
		    type->code, i);
	}
}

static tel_status
put_table(struct tel_printer *pr, const struct tel_type *type)
{
	struct print_builder b;
	const struct tel_field *f;
	unsigned i;

	/* only its literal is wanted, which may be long */
	print_begin(&b, NULL, LABELS_TEXT);
	print_literal(&b, "CREATE TABLE IF NOT EXISTS ");
	add_name(&b, "EVENT_", type->name);
	print_literal(&b, " (");
	for (i = 0; i < type->nfields; i++) {
		f = &type->fields[i];
		add_column(&b, type, i);
		print_literal(&b,
		    f->sort == TEL_DOUBLE     ? " REAL, " :
		        f->sort == TEL_STRING ? " TEXT, " :
		                                " INTEGER, ");
	}
	print_literal(&b, "time INTEGER, log_serial INTEGER);\n");
	if (!b.failed)
		tel_output_write(pr->out, b.literal, b.length);
	i = b.failed != 0;
	print_program_free(print_end(&b));
	return i ? TEL_ENOMEM : pr->out->status;
}

/* Types that the database already has, but in another way, are misfits. */
static void
put_check(struct tel_printer *pr, const struct tel_type *type)
{
	unsigned i;

	print_put(pr, "INSERT INTO temp.tel_misfit SELECT ");
	put_value(pr, type->name);
	put(pr,
	    " WHERE EXISTS (SELECT 1 FROM event_type WHERE (code=%" PRIu32
	    ")<>(name=",
	    type->code);
	put_value(pr, type->name);
	print_put(pr,
	    ")) OR (SELECT count(*) FROM pragma_table_info('EVENT_'||");
	put_value(pr, type->name);
	print_put(pr, ") WHERE name COLLATE NOCASE IN (");
	for (i = 0; i < type->nfields; i++) {
		put_column(pr, type, i);
		print_put(pr, ",");
	}
	put(pr, "'time','log_serial'))<>%u;\n", type->nfields + 2);
}

static tel_status
put_schema(struct tel_printer *pr, const struct tel_schema *schema)
{
	const struct tel_type *type;
	tel_status st;
	unsigned i;

	put_kinds(pr, schema);
	for (i = 0; i < schema->ntypes; i++) {
		type = &schema->types[i];
		print_put(pr,
		    "INSERT OR IGNORE INTO event_type (name,code,used,kind) "
		    "VALUES (");
		put_value(pr, type->name);
		put(pr, ",%" PRIu32 ",%u,%u);\n", type->code, is_used(pr, type),
		    (unsigned)type->kind_number);
		put_params(pr, type);
		st = put_table(pr, type);
		if (st != TEL_OK)
			return st;
		put_check(pr, type);
	}
	/* says so at once, and lets the rows come to nothing */
	return print_put(pr,
	    "DELETE FROM temp.tel_log WHERE EXISTS "
	    "(SELECT 1 FROM temp.tel_misfit);\n"
	    "INSERT INTO temp.tel_check "
	    "SELECT 0 FROM temp.tel_misfit LIMIT 1;\n");
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
		put(pr,
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
		put(pr,
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
		put_value(pr, ev->log->name);
		put(pr,
		    ",%" PRId64 ",%" PRId64 ",0 FROM temp.tel_new;\n"
		    "INSERT INTO temp.tel_log SELECT last_insert_rowid() FROM"
		    " temp.tel_new;\n",
		    (int64_t)pr->file_size, pr->file_changed);
		pr->log_open = 1;
		pr->events = 0;
	}
	end_batch(pr);
	return put_schema(pr, ev->log->schema);
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
	return print_run(pr, head, ev);
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
	return print_run(pr, row, ev);
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

const struct print_style print_style_sql = {
	.begin_log = begin_log,
	.compile = compile,
	.event = event,
	.finish = finish,
};
