/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The database that mpseventsql makes of logs, as statements for SQLite, so
 * that queries written for it go on working.
 *
 * Whether the file is in the database already, is known only when the script
 * runs: the temporary table tel_new has a row if it is not.  From it follows
 * tel_log, with the serial of the log that is loaded and the last number that
 * an event has; rows are joined with it, and so come to nothing when it is
 * empty.
 *
 * Another release may have filled the database, with other fields or codes.
 * What does not fit must not be left out, as the log would then look as if it
 * were all there: tel_misfit has a row for each such type, and the transaction
 * is rolled back for it.
 *
 * An event has a number in the database, which is the rowid of its row: it
 * takes no room, and tables of mpseventsql, which have no column for it, can
 * be added to.
 */
#include "print/database.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "render/escape.h"

static const char temporary[] =
    "DROP TABLE IF EXISTS temp.tel_new;\n"
    "DROP TABLE IF EXISTS temp.tel_log;\n"
    "DROP TABLE IF EXISTS temp.tel_misfit;\n"
    "DROP TABLE IF EXISTS temp.tel_check;\n"
    "CREATE TEMP TABLE tel_new (yes INTEGER);\n"
    "CREATE TEMP TABLE tel_log (serial INTEGER, base INTEGER);\n"
    "CREATE TEMP TABLE tel_misfit (name TEXT);\n"
    "CREATE TEMP TABLE tel_check (fits INTEGER, CONSTRAINT \"the database has"
    " event types of another release, which differ: nothing is loaded\""
    " CHECK (fits));\n";

static const char tables[] =
    "BEGIN;\n"
    "CREATE TABLE IF NOT EXISTS event_kind (name TEXT, description TEXT,"
    " enum INTEGER PRIMARY KEY);\n"
    "CREATE TABLE IF NOT EXISTS event_log (name TEXT, size INTEGER, modtime"
    " INTEGER, completed INTEGER, serial INTEGER PRIMARY KEY"
    " AUTOINCREMENT);\n"
    "CREATE TABLE IF NOT EXISTS event_doc (type INTEGER, param_index INTEGER,"
    " doc TEXT, PRIMARY KEY (type, param_index));\n";

/* -------------------------------------------------- names and strings */

static void
database_add(struct tel__buffer *b, const char *s)
{
	tel__buffer_put(b, s, strlen(s));
}

/* Adds a string, in quotes. */
static void
database_add_value(struct tel__buffer *b, const char *s)
{
	size_t n = strlen(s);
	unsigned char *p = tel__buffer_room(b, TEL_ESCAPE_ROOM(n));

	if (p != NULL)
		b->used += (size_t)(tel__escape_sql(p, s, n) - p);
}

/* Adds a part of a name in quotes. */
static void
add_quoted(struct tel__buffer *b, const char *name)
{
	for (; *name != '\0'; name++)
		tel__buffer_put(b, *name == '"' ? "\"\"" : name,
		    *name == '"' ? 2 : 1);
}

/*
 * The names of tables, and of the columns of one, must differ in more than the
 * case of letters, and some are reserved: a name that is taken gets a number
 * appended, the first that makes it free, for which there must be NAME_MORE
 * bytes.
 */
#define NAME_MORE 16

/* ---------------------------------------------------------------- tables */

/* Nonzero when the type has the name, except for the case of letters. */
static int
is_named(const struct tel_type *type, const char *name, size_t length)
{
	return type->name_length == length && strcasecmp(type->name, name) == 0;
}

/* Name i of those that one must differ from: of types, or of fields. */
typedef const char *database_name_fn(const void *of, unsigned i);

static const char *
database_type_name(const void *schema, unsigned i)
{
	return ((const struct tel_schema *)schema)->types[i].name;
}

static const char *
database_field_name(const void *type, unsigned i)
{
	return ((const struct tel_type *)type)->fields[i].name;
}

/*
 * Whether two names are the same in n bytes, whatever their case; nested: and
 * with the dots of members of structs as underscores.
 */
static int
is_same_in_sql(const char *a, const char *b, size_t n, int nested)
{
	if (!nested)
		return strncasecmp(a, b, n) == 0;
	for (; n > 0; a++, b++, n--) {
		int x = tolower((unsigned char)*a);
		int y = tolower((unsigned char)*b);

		x = x == '.' ? '_' : x;
		y = y == '.' ? '_' : y;
		if (x != y || x == '\0')
			return x == y;
	}
	return 1;
}

/*
 * Appends the taken-th number from 2 on that makes a name free of n others, in
 * one pass over these, as there may be thousands that differ only in case.  1;
 * 0: no memory.
 */
static int
number_name(char *name, size_t length, unsigned taken, database_name_fn *at,
    const void *of, unsigned n, int nested)
{
	const size_t end = (size_t)n + taken + 2;
	unsigned char *used = calloc(end, 1);
	unsigned i, number = 1;

	if (used == NULL)
		return 0;
	name[length] = '_';
	for (i = 0; i < n; i++) {
		const char *other = at(of, i);
		char *rest;

		if (!is_same_in_sql(other, name, length + 1, nested) ||
		    other[length + 1] < '1' || other[length + 1] > '9')
			continue;
		unsigned long has = strtoul(other + length + 1, &rest, 10);
		if (*rest == '\0' && has < end)
			used[has] = 1;
	}
	for (; taken > 0; taken--)
		while (used[++number])
			;
	free(used);
	(void)snprintf(name + length, NAME_MORE, "_%u", number);
	return 1;
}

/* Nonzero for the table of unknown types, and those of the registry. */
static int
is_fixed_table(const char *name)
{
	static const char *const fixed[] = { "Unknown", "kind", "type", "param",
		"doc", "log" };

	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		if (strcasecmp(name, fixed[i]) == 0)
			return 1;
	return 0;
}

/*
 * The name of the table of a type, without its prefix, to be freed; NULL when
 * out of memory.  Of types whose names differ only in case, the one with the
 * lowest code keeps its name; none is that of a table with another purpose.
 */
static char *
name_table(const struct tel_type *type)
{
	const struct tel_schema *schema = type->schema;
	const size_t length = type->name_length;
	char *name = malloc(length + NAME_MORE);
	unsigned i, taken = (unsigned)is_fixed_table(type->name);

	if (name == NULL)
		return NULL;
	memcpy(name, type->name, length + 1);
	/* types are in order of their codes */
	for (i = 0; i < schema->ntypes && &schema->types[i] != type; i++)
		taken +=
		    (unsigned)is_named(&schema->types[i], type->name, length);
	if (taken == 0 ||
	    number_name(name, length, taken, database_type_name, schema,
	        schema->ntypes, 0))
		return name;
	free(name);
	return NULL;
}

/* --------------------------------------------------------------- columns */

static int
is_reserved(const char *name)
{
	return strcasecmp(name, "time") == 0 ||
	    strcasecmp(name, "log_serial") == 0 ||
	    strcasecmp(name, "event_number") == 0;
}

/* The column of a field, to be freed; NULL when out of memory. */
static char *
name_column(const struct tel_type *type, unsigned field)
{
	const struct tel_field *f = &type->fields[field];
	char *name = malloc(f->name_length + NAME_MORE);
	unsigned i, taken = (unsigned)is_reserved(f->name);

	if (name == NULL)
		return NULL;
	for (i = 0; i < field; i++)
		taken += (unsigned)is_same_in_sql(type->fields[i].name, f->name,
		    f->name_length + (size_t)1, type->schema->nested);
	memcpy(name, f->name, f->name_length + 1u);
	/* the members of structs, and labels */
	for (i = 0; type->schema->nested && i < f->name_length; i++)
		if (name[i] == '.')
			name[i] = '_';
	if (taken == 0 ||
	    number_name(name, f->name_length, taken, database_field_name, type,
	        type->nfields, type->schema->nested))
		return name;
	free(name);
	return NULL;
}

/* Adds a name that was made, in quotes or as a string, and frees it. */
static void
add_own_name(struct tel__buffer *b, int quoted, char *name)
{
	if (name == NULL)
		b->failed = 1;
	else if (quoted)
		add_quoted(b, name);
	else
		database_add_value(b, name);
	free(name);
}

/*
 * Adds a part of a statement, in which stand for arguments:
 *	%s	text as it is
 *	%u	an unsigned number
 *	%d	an int64_t
 *	%v	a string as a value
 *	%q	a string as a part of a name in quotes
 *	%T %t	a type: its table, as such a part, and as a value
 *	%C %c	a type and the number of a field: its column, likewise
 */
static void
add_sql(struct tel__buffer *b, const char *format, ...)
{
	const struct tel_type *type;
	char number[24] = "";
	va_list ap;
	size_t n;

	va_start(ap, format);
	for (;; format += n + 2) {
		n = strcspn(format, "%");
		tel__buffer_put(b, format, n);
		if (format[n] == '\0')
			break;
		const char what = format[n + 1];
		switch (what) {
		case 's': database_add(b, va_arg(ap, const char *)); break;
		case 'v':
			database_add_value(b, va_arg(ap, const char *));
			break;
		case 'q': add_quoted(b, va_arg(ap, const char *)); break;
		case 'u':
		case 'd':
			(void)snprintf(number, sizeof(number), "%" PRId64,
			    what == 'd' ? va_arg(ap, int64_t) :
			                  va_arg(ap, unsigned));
			database_add(b, number);
			break;
		default:
			type = va_arg(ap, const struct tel_type *);
			add_own_name(b, isupper((unsigned char)what),
			    what == 'T' || what == 't' ?
			        name_table(type) :
			        name_column(type, va_arg(ap, unsigned)));
		}
	}
	va_end(ap);
}

/*
 * What the rowid of the table of a type can be called: its columns may have
 * all names but one.
 */
static const char *
rowid_of(const struct tel_type *type)
{
	static const char *const rowids[] = { "rowid", "_rowid_" };
	unsigned i, j;

	for (i = 0; type != NULL && i < 2; i++) {
		for (j = 0; j < type->nfields; j++)
			if (strcasecmp(type->fields[j].name, rowids[i]) == 0)
				break;
		if (j == type->nfields)
			return rowids[i];
	}
	return type == NULL ? rowids[0] : "oid";
}

/* Nonzero when the table of a type has a column of that name. */
static int
database_has_column(const struct tel_type *type, const char *name)
{
	for (unsigned i = 0; i < type->nfields; i++) {
		char *own = name_column(type, i);
		int same = own != NULL && strcmp(own, name) == 0;

		free(own);
		if (same)
			return 1;
	}
	return 0;
}

/* ------------------------------------------------------------- schema */

static void
add_kinds(struct tel__buffer *b, const struct tel_schema *schema)
{
	static const char kind[] =
	    "INSERT OR IGNORE INTO event_kind VALUES (%v,%v,%u);\n";

	if (schema->registry != NULL)
		for (unsigned i = 0; i < schema->nregistry; i++)
			add_sql(b, kind, schema->registry[i].name,
			    schema->registry[i].text, i);
	else
		for (unsigned i = 0; i < schema->ntypes; i++)
			add_sql(b, kind, schema->types[i].kind, "",
			    (unsigned)schema->types[i].kind_number);
}

/*
 * The tables that releases of the MPS have with other columns: up to 1.117 a
 * type is always there or not, where later ones are used or not, and parameters
 * are not described.
 */
static void
add_registry(struct tel__buffer *b, int undocumented)
{
	add_sql(b,
	    "CREATE TABLE IF NOT EXISTS event_type (name TEXT, code INTEGER "
	    "PRIMARY KEY, %s INTEGER, kind INTEGER,"
	    " FOREIGN KEY (kind) REFERENCES event_kind(enum));\n"
	    "CREATE TABLE IF NOT EXISTS event_param (type INTEGER, param_index"
	    " INTEGER, sort TEXT, ident TEXT,%s"
	    " FOREIGN KEY (type) REFERENCES event_type(code));\n",
	    undocumented ? "always" : "used", undocumented ? "" : " doc TEXT,");
}

/* Lists and stacks are texts with JSON. */
static int
database_is_json(const struct tel_field *f)
{
	return f->datatype == TEL_LIST || f->space == TEL_SPACE_STACK;
}

/* The letter of a data type in the MPS's registry. */
static const char *
letter_of(const struct tel_field *f)
{
	if (database_is_json(f))
		return "S";
	switch (f->datatype) {
	case TEL_ADDRESS: return "A";
	case TEL_POINTER: return "P";
	case TEL_BOOLEAN: return "B";
	case TEL_DOUBLE: return "D";
	case TEL_STRING: return "S";
	case TEL_LIST:
	case TEL_UNSIGNED:
	case TEL_SIGNED:
	case TEL_SET: break;
	}
	return f->letter == 'U' ? "U" : "W";
}

/* All fields of a schema, in one statement. */
static void
add_params(struct tel__buffer *b, const struct tel_schema *schema)
{
	const size_t start = b->used;
	const struct tel_type *type;
	const char *between = "";

	add_sql(b,
	    "INSERT INTO event_param (type,param_index,sort,ident%s) SELECT * "
	    "FROM (VALUES ",
	    schema->undocumented ? "" : ",doc");
	for (unsigned i = 0; i < schema->ntypes; i++) {
		type = &schema->types[i];
		for (unsigned j = 0; j < type->nfields; j++) {
			add_sql(b, "%s(%u,%u,'%s',%c", between,
			    (unsigned)type->code, j,
			    letter_of(&type->fields[j]), type, j);
			if (!schema->undocumented)
				add_sql(b, ",%v", tel_type_field_doc(type, j));
			database_add(b, ")");
			between = ",\n";
		}
	}
	/* no type has a field */
	if (*between == '\0') {
		b->used = start;
		return;
	}
	database_add(b,
	    ") WHERE NOT EXISTS (SELECT 1 FROM event_param AS p WHERE "
	    "p.type=column1 AND p.param_index=column2);\n");
}

/* What types and fields are; the number of a field is -1 for the type. */
static void
add_docs(struct tel__buffer *b, const struct tel_schema *schema)
{
	const char *doc, *between = "INSERT OR IGNORE INTO event_doc VALUES ";

	for (unsigned i = 0; i < schema->ntypes; i++) {
		const struct tel_type *type = &schema->types[i];

		for (int j = -1; j < type->nfields; j++) {
			doc = j < 0 ? tel_type_doc(type) :
			              tel_type_field_doc(type, (unsigned)j);
			if (*doc == '\0' && schema->doc == NULL)
				continue;
			add_sql(b, "%s(%u,%d,%v)", between,
			    (unsigned)type->code, (int64_t)j, doc);
			between = ",\n";
		}
	}
	if (*between == ',')
		database_add(b, ";\n");
}

static void
add_table(struct tel__buffer *b, const struct tel_type *type)
{
	add_sql(b, "CREATE TABLE IF NOT EXISTS \"EVENT_%T\" (", type);
	for (unsigned i = 0; i < type->nfields; i++) {
		const struct tel_field *f = &type->fields[i];

		add_sql(b, "\"%C\" %s, ", type, i,
		    f->datatype == TEL_DOUBLE     ? "REAL" :
		        f->datatype == TEL_STRING ? "TEXT" :
		        database_is_json(f)       ? "TEXT" :
		                                    "INTEGER");
	}
	/* numbers go on after those of all logs before */
	add_sql(b,
	    "time INTEGER, log_serial INTEGER, event_number INTEGER PRIMARY"
	    " KEY);\n"
	    "UPDATE temp.tel_log SET base=max(base, (SELECT ifnull(max(%s),0)"
	    " FROM \"EVENT_%T\"));\n",
	    rowid_of(type), type);
}

/* Adds the codes of a type and of those of its name, in any case, behind it. */
static void
add_codes(struct tel__buffer *b, const struct tel_type *type,
    const char *before, const char *after)
{
	const struct tel_type *t = type,
	                      *end = type->schema->types + type->schema->ntypes;

	for (; t < end; t++)
		if (is_named(t, type->name, type->name_length))
			add_sql(b, "%s%s%u%s", t == type ? "" : ",", before,
			    (unsigned)t->code, after);
}

/*
 * Adds the condition that the database has the name of a type, in any case of
 * letters, for other types than the schema has: tables would be shared.  Either
 * may lack those of the highest codes, which a log has found later.  The first
 * of the types whose names differ only in case has it for all of them.
 */
static void
add_variants(struct tel__buffer *b, const struct tel_type *type)
{
	static const char of_name[] =
	    " FROM event_type WHERE name=%v COLLATE NOCASE AND code<=%u";
	const struct tel_schema *schema = type->schema;
	unsigned i, n = 0, last = 0;

	for (i = 0; &schema->types[i] != type; i++)
		if (is_named(&schema->types[i], type->name, type->name_length))
			return;
	for (; i < schema->ntypes; i++)
		if (is_named(&schema->types[i], type->name, type->name_length))
			n++, last = (unsigned)schema->types[i].code;
	if (n == 1) {
		add_sql(b,
		    " OR (SELECT min(code) FROM event_type WHERE name=%v"
		    " COLLATE NOCASE)<>%u",
		    type->name, last);
		return;
	}
	database_add(b, " OR EXISTS (SELECT 1");
	add_sql(b, of_name, type->name, last);
	database_add(b, " AND code NOT IN (");
	add_codes(b, type, "", "");
	database_add(b, ")) OR (SELECT count(*)");
	add_sql(b, of_name, type->name, last);
	database_add(b, ")<>(SELECT count(*) FROM (VALUES ");
	add_codes(b, type, "(", ")");
	add_sql(b,
	    ") WHERE column1<=(SELECT max(code) FROM event_type WHERE name=%v"
	    " COLLATE NOCASE))",
	    type->name);
}

/* Types that the database already has, but in another way, are misfits. */
static void
add_check(struct tel__buffer *b, const struct tel_type *type)
{
	add_sql(b,
	    "INSERT INTO temp.tel_misfit SELECT %v WHERE EXISTS (SELECT 1 FROM"
	    " event_type WHERE code=%u AND name<>%v)",
	    type->name, (unsigned)type->code, type->name);
	add_variants(b, type);
	add_sql(b,
	    " OR (SELECT count(*) FROM pragma_table_info('EVENT_'||%t) WHERE"
	    " name COLLATE NOCASE IN (",
	    type);
	for (unsigned i = 0; i < type->nfields; i++)
		add_sql(b, "%c,", type, i);
	/* no column: the table is still to be made, and by this type alone */
	add_sql(b,
	    "'time','log_serial')) NOT IN (0,(SELECT count(*)*%u FROM"
	    " event_type WHERE code=%u));\n",
	    type->nfields + 2u, (unsigned)type->code);
}

/*
 * A type whose table has another name is a misfit where the database has a type
 * of that name: it may have the table, as the schema lacks it.
 */
static void
add_table_check(struct tel__buffer *b, const struct tel_type *type)
{
	char *table = name_table(type);

	if (table == NULL)
		b->failed = 1;
	else if (strcmp(table, type->name) != 0)
		add_sql(b,
		    "INSERT INTO temp.tel_misfit SELECT name FROM event_type"
		    " WHERE name=%v COLLATE NOCASE;\n",
		    table);
	free(table);
}

/*
 * Makes the tables of a schema, where they are not there yet; fails where they
 * are there with other columns.
 */
static void
database_add_schema(struct tel__buffer *b, const struct tel_schema *schema)
{
	add_registry(b, schema->undocumented);
	for (unsigned i = 0; i < schema->ntypes; i++) {
		add_check(b, &schema->types[i]);
		add_table_check(b, &schema->types[i]);
	}
	/* reports it at once, and drops the rows */
	database_add(b,
	    "DELETE FROM temp.tel_log WHERE EXISTS "
	    "(SELECT 1 FROM temp.tel_misfit);\n"
	    "INSERT INTO temp.tel_check "
	    "SELECT 0 FROM temp.tel_misfit LIMIT 1;\n");
	add_kinds(b, schema);
	for (unsigned i = 0; i < schema->ntypes; i++) {
		const struct tel_type *type = &schema->types[i];

		add_sql(b,
		    "INSERT OR IGNORE INTO event_type VALUES (%v,%u,%u,%u);\n",
		    type->name, (unsigned)type->code, type->unused ? 0u : 1u,
		    (unsigned)type->kind_number);
		add_table(b, type);
	}
	add_params(b, schema);
	add_docs(b, schema);
}

/* Makes the table of events of unknown types. */
static void
add_unknown(struct tel__buffer *b)
{
	database_add(b,
	    "CREATE TABLE IF NOT EXISTS EVENT_Unknown (code INTEGER,"
	    " bytes BLOB, time INTEGER, log_serial INTEGER, event_number"
	    " INTEGER PRIMARY KEY);\n"
	    "UPDATE temp.tel_log SET base=max(base, (SELECT"
	    " ifnull(max(rowid),0) FROM EVENT_Unknown));\n");
}

/* Adds an insertion up to its values. */
static void
add_insert(struct tel__buffer *b, const struct tel_type *type)
{
	if (type == NULL)
		database_add(b, "INSERT INTO \"EVENT_Unknown\"(code,bytes,");
	else
		add_sql(b, "INSERT INTO \"EVENT_%T\"(", type);
	for (unsigned i = 0; type != NULL && i < type->nfields; i++)
		add_sql(b, "\"%C\",", type, i);
	add_sql(b, "time,%s,log_serial) ", rowid_of(type));
}

/* Makes an index on a column in each table that has it.  0: none has. */
static int
add_index(struct tel__buffer *b, const struct tel_schema *schema,
    const char *column)
{
	int found = 0;

	for (unsigned i = 0; i < schema->ntypes; i++) {
		const struct tel_type *type = &schema->types[i];

		if (strcmp(column, "time") != 0 &&
		    !database_has_column(type, column))
			continue;
		add_sql(b,
		    "CREATE INDEX IF NOT EXISTS \"INDEX_%T.%q\" ON "
		    "\"EVENT_%T\" (\"%q\");\n",
		    type, column, type, column);
		found = 1;
	}
	return found;
}

/* The columns of the option: gives the next one, or NULL, and goes on. */
static const char *
next_column(const char **list, char column[128])
{
	const char *s = *list;
	const size_t n = strcspn(s, ","), kept = n < 128 ? n : 127;

	if (*s == '\0')
		return NULL;
	memcpy(column, s, kept);
	column[kept] = '\0';
	*list = s + n + (s[n] == ',');
	return s;
}

/* Makes the indexes that the printer was asked for, in the tables of a schema. */
static void
add_indexes(const struct tel_printer *pr, struct database *d,
    const struct tel_schema *schema)
{
	const char *list = pr->index, *at;
	char column[128];

	while (list != NULL && (at = next_column(&list, column)) != NULL)
		if (add_index(&d->indexes, schema, column))
			d->indexed[at - pr->index] = 1;
}

/* TEL_OK; TEL_EINVAL: no log has a table with such a column. */
static tel_status
check_indexes(struct tel_printer *pr, const struct database *d)
{
	const char *list = pr->index, *at;
	char column[128];

	while (list != NULL && (at = next_column(&list, column)) != NULL)
		if (!d->indexed[at - pr->index]) {
			tel_status st = tel__render_fail(pr,
			    "no table has a column '%.64s'", column);
			pr->misnamed = 1;
			return st;
		}
	return TEL_OK;
}

/* ---------------------------------------------------------------- logs */

/*
 * Starts a file, whose logs are left out if it is loaded already: one of the
 * same size and time of change, if these are known.
 */
static void
database_add_file(struct tel__buffer *b, const struct tel_printer *pr)
{
	database_add(b,
	    "DELETE FROM temp.tel_new;\n"
	    "INSERT INTO temp.tel_new SELECT 1");
	/* whether standard input was loaded before is unknown */
	if (pr->file_size != 0 || pr->file_changed != 0)
		add_sql(b,
		    " WHERE NOT EXISTS (SELECT 1 FROM event_log WHERE "
		    "size=%d AND modtime=%d)",
		    (int64_t)pr->file_size, pr->file_changed);
	database_add(b, ";\n");
}

/* Starts a log: temp.tel_log then has its row, unless it is loaded already. */
static void
start_log(struct database *d, const struct tel_printer *pr, const char *name)
{
	add_sql(&d->text,
	    "DELETE FROM temp.tel_log;\n"
	    "INSERT INTO event_log (name,size,modtime,completed) SELECT"
	    " %v,%d,%d,0 FROM temp.tel_new;\n"
	    "INSERT INTO temp.tel_log SELECT last_insert_rowid(), 0 FROM"
	    " temp.tel_new;\n",
	    name, (int64_t)pr->file_size, pr->file_changed);
	d->log_open = 1;
	d->events = 0;
}

static void
database_end_log(struct database *d)
{
	if (d->log_open)
		add_sql(&d->text,
		    "UPDATE event_log SET completed=%d WHERE serial IN (SELECT"
		    " serial FROM temp.tel_log);\n",
		    (int64_t)d->events);
	d->log_open = 0;
}

/* Opens the sink, if it is not, and writes the rows that wait. */
static tel_status
open_sink(struct tel_printer *pr)
{
	const struct database_sink *sink = pr->renderer->dialect;
	struct database *d = pr->state;

	if (d == NULL) {
		d = pr->state = calloc(1, sink->size);
		if (d == NULL)
			return TEL_ENOMEM;
		if (pr->index != NULL &&
		    (d->indexed = calloc(1, strlen(pr->index) + 1)) == NULL)
			return d->failed = TEL_ENOMEM;
		if (sink->open != NULL)
			d->failed = sink->open(pr);
		database_add(&d->text, temporary);
		database_add(&d->text, tables);
		if (d->failed == TEL_OK)
			d->failed = sink->run(pr, &d->text);
	}
	if (d->failed == TEL_OK && sink->flush != NULL)
		d->failed = sink->flush(pr);
	return d->failed;
}

tel_status
tel__database_begin_log(struct tel_printer *pr, const struct tel_event *ev)
{
	const struct database_sink *sink = pr->renderer->dialect;
	int first = pr->state == NULL;
	tel_status st = open_sink(pr);
	struct database *d = pr->state;

	if (st != TEL_OK)
		return st;
	/* the programs that had slots are gone */
	if (pr->fresh) {
		sink->clear(d);
		d->nslots = 0;
	}
	if (!pr->continues)
		database_end_log(d);
	if (first || pr->fresh)
		database_add_file(&d->text, pr);
	if (!pr->continues)
		start_log(d, pr, ev->log->name);
	database_add_schema(&d->text, ev->type->schema);
	add_indexes(pr, d, ev->type->schema);
	st = sink->run(pr, &d->text);
	if (st == TEL_OK && sink->ready != NULL)
		st = sink->ready(pr);
	d->failed = st;
	return st;
}

tel_status
tel__database_event(struct tel_printer *pr, const struct tel_event *ev,
    struct render_program **out)
{
	const struct database_sink *sink = pr->renderer->dialect;
	struct render_program *g = render_program_for(pr, ev->type);
	struct database *d = pr->state;
	tel_status st = TEL_OK;

	if (g == NULL)
		return TEL_ENOMEM;
	*out = g;
	d->events++;
	if (g->slot != 0)
		return TEL_OK;
	if (g->type == NULL && !d->unknown_made) {
		add_unknown(&d->text);
		st = sink->run(pr, &d->text);
		d->unknown_made = 1;
	}
	add_insert(&d->text, g->type);
	if (st == TEL_OK)
		st = sink->prepare(pr, g->type);
	if (st == TEL_OK)
		g->slot = (uint32_t)++d->nslots;
	return st;
}

tel_status
tel__database_finish(struct tel_printer *pr)
{
	const struct database_sink *sink = pr->renderer->dialect;
	tel_status st = open_sink(pr);
	struct database *d = pr->state;

	if (st != TEL_OK)
		return st;
	sink->clear(d);
	if (d->log_open)
		st = check_indexes(pr, d);
	if (st != TEL_OK)
		return st;
	database_end_log(d);
	st = sink->run(pr, &d->text);
	if (st == TEL_OK)
		st = sink->run(pr, &d->indexes);
	/* where there was no event */
	add_registry(&d->text, 0);
	database_add(&d->text,
	    "INSERT OR ROLLBACK INTO temp.tel_check "
	    "SELECT 0 FROM temp.tel_misfit LIMIT 1;\nCOMMIT;\n"
	    "DROP TABLE IF EXISTS temp.tel_new;\n"
	    "DROP TABLE temp.tel_log;\n"
	    "DROP TABLE temp.tel_misfit;\n"
	    "DROP TABLE temp.tel_check;\n");
	return st == TEL_OK ? sink->run(pr, &d->text) : st;
}

void
tel__database_clear(struct database *d)
{
	tel__buffer_clear(&d->text);
	tel__buffer_clear(&d->indexes);
	free(d->indexed);
}
