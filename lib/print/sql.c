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

#include "render/escape.h"
#include "render/renderer.h"

/* Rows in a statement: the gain of more is small, and SQLite parses it all. */
#define ROWS_MAX 256

/* The script that is being written. */
struct sql {
	const struct render_program *batch; /* of the open statement, or NULL */
	unsigned rows;                      /* in that statement */
	uint64_t events;                    /* of this log */
	int log_open;
	int unknown_made; /* the table of unknown types */
};

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

/* -------------------------------------------------- names and strings */

/* Prints a part of a statement, less than 256 bytes. */
__attribute__((format(printf, 2, 3))) static void
put_format(struct tel_printer *pr, const char *format, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	render_put(pr, text);
}

/* Prints a string, in quotes. */
static void
put_value(struct tel_printer *pr, const char *s)
{
	size_t n = strlen(s);
	unsigned char *p = tel_output_room(pr->out, TEL_ESCAPE_ROOM(n));

	if (p != NULL)
		pr->out->used =
		    (size_t)(tel__escape_sql(p, s, n) - pr->out->buffer);
}

/* Adds a name of a table or a column, in quotes, with its prefix. */
static void
add_name(struct render_builder *b, const char *before, const char *name)
{
	tel__render_add(b, "\"");
	tel__render_add(b, before);
	for (; *name != '\0'; name++)
		tel__render_add_bytes(b, *name == '"' ? "\"\"" : name,
		    *name == '"' ? 2 : 1);
	tel__render_add(b, "\"");
}

/*
 * The names of columns must differ in more than the case of letters, and two
 * are reserved: a name that is taken gets a number appended. out has room for
 * the name and COLUMN_MORE bytes.
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

static void
add_column(struct render_builder *b, const struct tel_type *type, unsigned i)
{
	char *name = column(type, i);

	if (name != NULL)
		add_name(b, "", name);
	else
		b->failed = 1;
	free(name);
}

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

/* ------------------------------------------------------------- schema */

static void
put_kind(struct tel_printer *pr, unsigned number, const char *name,
    const char *text)
{
	render_put(pr, "INSERT OR IGNORE INTO event_kind VALUES (");
	put_value(pr, name);
	render_put(pr, ",");
	put_value(pr, text);
	put_format(pr, ",%u);\n", number);
}

static void
put_kinds(struct tel_printer *pr, const struct tel_schema *schema)
{
	unsigned i;

	if (schema->registry != NULL)
		for (i = 0; i < schema->nregistry; i++)
			put_kind(pr, i, schema->registry[i].name,
			    schema->registry[i].text);
	else
		for (i = 0; i < schema->ntypes; i++)
			put_kind(pr, schema->types[i].kind_number,
			    schema->types[i].kind, "");
}

/* The letter of a data type in the MPS's registry. */
static char
letter_of(const struct tel_field *f)
{
	switch (f->datatype) {
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
		put_format(pr,
		    "INSERT INTO event_param (type,param_index,sort,ident,doc) "
		    "SELECT %" PRIu32 ",%u,'%c',",
		    type->code, i, letter_of(&type->fields[i]));
		put_column(pr, type, i);
		put_format(pr,
		    ",'' WHERE NOT EXISTS (SELECT 1 FROM event_param WHERE "
		    "type=%" PRIu32 " AND param_index=%u);\n",
		    type->code, i);
	}
}

static tel_status
put_table(struct tel_printer *pr, const struct tel_type *type)
{
	struct render_builder b;
	const struct tel_field *f;
	unsigned i;

	/* only its literal is wanted, which may be long */
	tel__render_start(&b, NULL, LABELS_TEXT);
	tel__render_add(&b, "CREATE TABLE IF NOT EXISTS ");
	add_name(&b, "EVENT_", type->name);
	tel__render_add(&b, " (");
	for (i = 0; i < type->nfields; i++) {
		f = &type->fields[i];
		add_column(&b, type, i);
		tel__render_add(&b,
		    f->datatype == TEL_DOUBLE     ? " REAL, " :
		        f->datatype == TEL_STRING ? " TEXT, " :
		                                    " INTEGER, ");
	}
	tel__render_add(&b, "time INTEGER, log_serial INTEGER);\n");
	i = b.failed || b.literal.failed;
	if (i == 0)
		tel_output_write(pr->out, b.literal.bytes, b.literal.used);
	tel__render_free(tel__render_end(&b));
	return i ? TEL_ENOMEM : pr->out->status;
}

/* Types that the database already has, but in another way, are misfits. */
static void
put_check(struct tel_printer *pr, const struct tel_type *type)
{
	unsigned i;

	render_put(pr, "INSERT INTO temp.tel_misfit SELECT ");
	put_value(pr, type->name);
	put_format(pr,
	    " WHERE EXISTS (SELECT 1 FROM event_type WHERE (code=%" PRIu32
	    ")<>(name=",
	    type->code);
	put_value(pr, type->name);
	render_put(pr,
	    ")) OR (SELECT count(*) FROM pragma_table_info('EVENT_'||");
	put_value(pr, type->name);
	render_put(pr, ") WHERE name COLLATE NOCASE IN (");
	for (i = 0; i < type->nfields; i++) {
		put_column(pr, type, i);
		render_put(pr, ",");
	}
	put_format(pr, "'time','log_serial'))<>%u;\n", type->nfields + 2);
}

/*
 * Makes the tables of a schema, where they are not there yet, and has the
 * script fail where they are there with other columns.
 */
static tel_status
put_schema(struct tel_printer *pr, const struct tel_schema *schema)
{
	const struct tel_type *type;
	tel_status st;
	unsigned i;

	put_kinds(pr, schema);
	for (i = 0; i < schema->ntypes; i++) {
		type = &schema->types[i];
		render_put(pr,
		    "INSERT OR IGNORE INTO event_type (name,code,used,kind) "
		    "VALUES (");
		put_value(pr, type->name);
		put_format(pr, ",%" PRIu32 ",%u,%u);\n", type->code,
		    type->unused ? 0u : 1u, (unsigned)type->kind_number);
		put_params(pr, type);
		st = put_table(pr, type);
		if (st != TEL_OK)
			return st;
		put_check(pr, type);
	}
	/* says so at once, and lets the rows come to nothing */
	return render_put(pr,
	    "DELETE FROM temp.tel_log WHERE EXISTS "
	    "(SELECT 1 FROM temp.tel_misfit);\n"
	    "INSERT INTO temp.tel_check "
	    "SELECT 0 FROM temp.tel_misfit LIMIT 1;\n");
}

/* ---------------------------------------------------------------- rows */

static enum render_op
choose(const struct tel_field *f)
{
	switch (f->datatype) {
	case TEL_STRING: return RENDER_STRING_SQL;
	case TEL_DOUBLE: return RENDER_DOUBLE_SQL;
	default: break;
	}
	/* 64 bits are kept as they are: SQLite's integers are signed */
	if (f->datatype == TEL_SIGNED || f->width == 64)
		return RENDER_SIGNED;
	return RENDER_DECIMAL;
}

static struct render_program *
compile_row(struct render_builder *b, const struct tel_type *type)
{
	unsigned i;

	tel__render_add(b, "(");
	if (type == NULL) {
		tel__render_add_op(b, RENDER_CODE);
		tel__render_add(b, ",X'");
		tel__render_add_op(b, RENDER_BYTES);
		tel__render_add(b, "',");
	} else {
		for (i = 0; i < type->nfields; i++) {
			tel__render_add_field(b, choose(&type->fields[i]), i,
			    SPACE_NONE);
			tel__render_add(b, ",");
		}
	}
	tel__render_add_op(b, RENDER_CLOCK_SIGNED);
	tel__render_add(b, ")");
	return tel__render_end(b);
}

/* The statement before its rows. */
static struct render_program *
compile_head(struct render_builder *b, const struct tel_type *type)
{
	unsigned i;

	tel__render_add(b, "INSERT INTO ");
	add_name(b, "EVENT_", type == NULL ? "Unknown" : type->name);
	tel__render_add(b, type == NULL ? "(code,bytes," : "(");
	for (i = 0; type != NULL && i < type->nfields; i++) {
		add_column(b, type, i);
		tel__render_add(b, ",");
	}
	tel__render_add(b,
	    "time,log_serial) SELECT v.*, l.serial FROM (VALUES\n");
	return tel__render_end(b);
}

static struct render_program *
compile(struct tel_printer *pr, const struct tel_type *type,
    enum render_variant variant)
{
	struct render_builder b;

	(void)pr;
	tel__render_start(&b, type, LABELS_TEXT);
	return variant == RENDER_ROW ? compile_row(&b, type) :
	                               compile_head(&b, type);
}

/* ---------------------------------------------------------------- logs */

/* Begins the script: tel_new has a row if the file is not loaded yet. */
static void
begin_script(struct tel_printer *pr)
{
	render_put(pr, temporary);
	render_put(pr, tables);
	render_put(pr, "CREATE TEMP TABLE tel_new AS SELECT 1 AS yes");
	/* whether standard input was loaded before is unknown */
	if (pr->file_size != 0 || pr->file_changed != 0)
		put_format(pr,
		    " WHERE NOT EXISTS (SELECT 1 FROM event_log WHERE "
		    "size=%" PRId64 " AND modtime=%" PRId64 ")",
		    (int64_t)pr->file_size, pr->file_changed);
	render_put(pr, ";\n");
}

static void
end_batch(struct tel_printer *pr)
{
	struct sql *sql = pr->state;

	if (sql->batch == NULL)
		return;
	render_put(pr, "\n) AS v, temp.tel_log AS l;\n");
	sql->batch = NULL;
}

static void
end_log(struct tel_printer *pr)
{
	struct sql *sql = pr->state;

	end_batch(pr);
	if (sql->log_open)
		put_format(pr,
		    "UPDATE event_log SET completed=%" PRIu64
		    " WHERE serial IN (SELECT serial FROM temp.tel_log);\n",
		    sql->events);
	sql->log_open = 0;
}

static tel_status
begin_log(struct tel_printer *pr, const struct tel_event *ev, int same)
{
	struct sql *sql = pr->state;

	if (sql == NULL) {
		sql = calloc(1, sizeof(*sql));
		if (sql == NULL)
			return TEL_ENOMEM;
		pr->state = sql;
		begin_script(pr);
	}
	if (!same) {
		end_log(pr);
		render_put(pr,
		    "DELETE FROM temp.tel_log;\n"
		    "INSERT INTO event_log (name,size,modtime,completed) "
		    "SELECT ");
		put_value(pr, ev->log->name);
		put_format(pr,
		    ",%" PRId64 ",%" PRId64 ",0 FROM temp.tel_new;\n"
		    "INSERT INTO temp.tel_log SELECT last_insert_rowid() FROM"
		    " temp.tel_new;\n",
		    (int64_t)pr->file_size, pr->file_changed);
		sql->log_open = 1;
		sql->events = 0;
	}
	end_batch(pr);
	return put_schema(pr, ev->type->schema);
}

static tel_status
begin_batch(struct tel_printer *pr, const struct tel_event *ev,
    const struct render_program *row)
{
	struct sql *sql = pr->state;
	struct render_program *head;

	end_batch(pr);
	if (row->type == NULL && !sql->unknown_made) {
		render_put(pr,
		    "CREATE TABLE IF NOT EXISTS EVENT_Unknown (code INTEGER,"
		    " bytes BLOB, time INTEGER, log_serial INTEGER);\n");
		sql->unknown_made = 1;
	}
	head = render_program_for(pr, ev->type, RENDER_OTHER);
	if (head == NULL)
		return TEL_ENOMEM;
	sql->batch = row;
	sql->rows = 0;
	return tel__render_run(pr, head, ev);
}

static tel_status
event(struct tel_printer *pr, const struct tel_event *ev)
{
	struct sql *sql = pr->state;
	struct render_program *row =
	    render_program_for(pr, ev->type, RENDER_ROW);
	tel_status st;

	if (row == NULL)
		return TEL_ENOMEM;
	if (row != sql->batch || sql->rows == ROWS_MAX)
		st = begin_batch(pr, ev, row);
	else
		st = render_put(pr, ",\n");
	if (st != TEL_OK)
		return st;
	sql->rows++;
	sql->events++;
	return tel__render_run(pr, row, ev);
}

static tel_status
finish(struct tel_printer *pr)
{
	if (pr->state == NULL)
		begin_script(pr);
	else
		end_log(pr);
	return render_put(pr,
	    "INSERT OR ROLLBACK INTO temp.tel_check "
	    "SELECT 0 FROM temp.tel_misfit LIMIT 1;\nCOMMIT;\n"
	    "DROP TABLE IF EXISTS temp.tel_new;\n"
	    "DROP TABLE temp.tel_log;\n"
	    "DROP TABLE temp.tel_misfit;\n"
	    "DROP TABLE temp.tel_check;\n");
}

static void
release(struct tel_printer *pr)
{
	free(pr->state);
}

const struct tel_renderer tel__renderer_sql = {
	.name = "sql",
	.flags = TEL_PRINTER_HEADER | TEL_PRINTER_BY_LOG,
	.begin_log = begin_log,
	.compile = compile,
	.event = event,
	.finish = finish,
	.release = release,
};
