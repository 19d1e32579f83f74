/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The database of print/database.c, written through SQLite's library: a
 * statement for each type, prepared once, to which the fields are bound.
 *
 * The library is loaded when a database is opened.  To link with it costs every
 * start of every tool 1.3 million instructions, a third of what the dynamic
 * linker does in all, for relocations that only this output needs.
 */
#include <dlfcn.h>
#include <sqlite3.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/library.h"
#include "io/bytes.h"
#include "print/database.h"
#include "render/renderer.h"

/*
 * How a database is written that is not there yet: it is of no use before it
 * is complete, so nothing has to survive a crash.  One that is there is written
 * as SQLite does it.
 */
static const char new_file[] = "PRAGMA journal_mode=MEMORY;"
                               "PRAGMA synchronous=OFF;";
/*
 * A table takes a page even if it is empty, and a release of the MPS has 90: so
 * the database of a small log has small pages, which take 3 % more instructions
 * than SQLite's own of 4096 bytes.  Larger ones than these save nothing.
 */
static const char small_pages[] = "PRAGMA page_size=1024;";
static const char large_pages[] = "PRAGMA page_size=4096;";
#define SMALL_LOG ((uint64_t)1 << 20)
/* In both cases: 16 MB hold the last page of each table. */
static const char any_file[] = "PRAGMA locking_mode=EXCLUSIVE;"
                               "PRAGMA cache_size=-16384;"
                               "PRAGMA temp_store=MEMORY;";

/* How long to wait for others who use the database. */
#define BUSY_MS 10000

#ifndef SQLITE_LIBRARY
#define SQLITE_LIBRARY "libsqlite3.so.0"
#endif

/* What is used of the library. */
struct library {
	void *handle;
	int (*open_v2)(const char *, sqlite3 **, int, const char *);
	int (*close)(sqlite3 *);
	int (*busy_timeout)(sqlite3 *, int);
	int (*errcode)(sqlite3 *);
	const char *(*errmsg)(sqlite3 *);
	int (*exec)(sqlite3 *, const char *,
	    int (*)(void *, int, char **, char **), void *, char **);
	int (*prepare_v3)(sqlite3 *, const char *, int, unsigned,
	    sqlite3_stmt **, const char **);
	int (*finalize)(sqlite3_stmt *);
	int (*bind_text64)(sqlite3_stmt *, int, const char *, sqlite3_uint64,
	    void (*)(void *), unsigned char);
	int (*bind_blob64)(sqlite3_stmt *, int, const void *, sqlite3_uint64,
	    void (*)(void *));
	int (*bind_double)(sqlite3_stmt *, int, double);
	int (*bind_int64)(sqlite3_stmt *, int, sqlite3_int64);
	int (*step)(sqlite3_stmt *);
	int (*reset)(sqlite3_stmt *);
	sqlite3_int64 (*column_int64)(sqlite3_stmt *, int);
};

/* Where the address of each function goes. */
static const struct tel__library_function functions[] = {
	{ "sqlite3_open_v2", offsetof(struct library, open_v2) },
	{ "sqlite3_close", offsetof(struct library, close) },
	{ "sqlite3_busy_timeout", offsetof(struct library, busy_timeout) },
	{ "sqlite3_errcode", offsetof(struct library, errcode) },
	{ "sqlite3_errmsg", offsetof(struct library, errmsg) },
	{ "sqlite3_exec", offsetof(struct library, exec) },
	{ "sqlite3_prepare_v3", offsetof(struct library, prepare_v3) },
	{ "sqlite3_finalize", offsetof(struct library, finalize) },
	{ "sqlite3_bind_text64", offsetof(struct library, bind_text64) },
	{ "sqlite3_bind_blob64", offsetof(struct library, bind_blob64) },
	{ "sqlite3_bind_double", offsetof(struct library, bind_double) },
	{ "sqlite3_bind_int64", offsetof(struct library, bind_int64) },
	{ "sqlite3_step", offsetof(struct library, step) },
	{ "sqlite3_reset", offsetof(struct library, reset) },
	{ "sqlite3_column_int64", offsetof(struct library, column_int64) },
};

struct database {
	struct library lib;
	sqlite3 *db;
	sqlite3_stmt **inserts; /* by the slots of programs */
	size_t ninserts, room;
	struct tel__buffer text; /* statements that are made */
	struct tel__buffer indexes;
	int64_t serial;  /* of the log that is loaded; 0: it was already */
	int64_t base;    /* the number of the event before its first */
	uint64_t events; /* of this log */
	int log_open;
	int unknown_made;
	int created;   /* the file was not there, */
	int committed; /* and is complete */
	int failed;
};

/* Loads the library.  TEL_OK, TEL_EINVAL. */
static tel_status
load_library(struct tel_printer *pr, struct library *lib)
{
	const char *why;

	lib->handle = tel__library_load(SQLITE_LIBRARY, functions,
	    sizeof(functions) / sizeof(functions[0]), lib, &why);
	if (lib->handle == NULL)
		return tel__render_fail(pr,
		    "a database needs SQLite 3.20: %.110s", why);
	return TEL_OK;
}

/* Keeps why SQLite failed; nothing can be added any more. */
static tel_status
fail(struct tel_printer *pr)
{
	static const char constraint[] = "CHECK constraint failed: ";
	struct database *d = pr->state;
	const char *why;
	int code = d->db == NULL ? SQLITE_NOMEM : d->lib.errcode(d->db);

	d->failed = 1;
	if (code == SQLITE_NOMEM)
		return TEL_ENOMEM;
	why = d->lib.errmsg(d->db);
	/* a constraint of ours has the whole message as its name */
	if (strncmp(why, constraint, sizeof(constraint) - 1) == 0)
		why += sizeof(constraint) - 1;
	return tel__render_fail(pr, "%.60s: %.90s", pr->database, why);
}

/* Runs the statements that were made. */
static tel_status
run_text(struct tel_printer *pr, struct tel__buffer *text)
{
	struct database *d = pr->state;

	tel__buffer_put(text, "", 1);
	if (text->failed)
		return TEL_ENOMEM;
	text->used = 0;
	return d->lib.exec(d->db, (const char *)text->bytes, NULL, NULL,
	           NULL) == SQLITE_OK ?
	    TEL_OK :
	    fail(pr);
}

/* ---------------------------------------------------------------- rows */

/* Compiles nothing: the program has the slot of the type's statement. */
static struct render_program *
compile(struct tel_printer *pr, const struct tel_type *type,
    enum render_variant variant)
{
	struct render_builder b;

	(void)pr;
	(void)variant;
	tel__render_start(&b, type, LABELS_TEXT);
	return tel__render_end(&b);
}

static void
clear_inserts(struct database *d)
{
	while (d->ninserts > 0)
		(void)d->lib.finalize(d->inserts[--d->ninserts]);
}

/* Prepares the insertion of a type. */
static tel_status
prepare(struct tel_printer *pr, struct render_program *g)
{
	struct database *d = pr->state;
	unsigned i, n = g->type == NULL ? 2 : g->type->nfields;
	struct tel__buffer *text = &d->text;
	sqlite3_stmt *stmt;
	tel_status st;

	if (g->type == NULL && !d->unknown_made) {
		tel__database_unknown(text);
		st = run_text(pr, text);
		if (st != TEL_OK)
			return st;
		d->unknown_made = 1;
	}
	if (!TEL__RESERVE(d->inserts, d->room, d->ninserts + 1))
		return TEL_ENOMEM;
	tel__database_insert(text, g->type);
	tel__buffer_put(text, "VALUES(", 7);
	/* the fields, the time, the number and the serial */
	for (i = 0; i < n + 2; i++)
		tel__buffer_put(text, "?,", 2);
	tel__buffer_put(text, "?)", 3);
	if (text->failed)
		return TEL_ENOMEM;
	text->used = 0;
	if (d->lib.prepare_v3(d->db, (const char *)text->bytes, -1,
	        SQLITE_PREPARE_PERSISTENT, &stmt, NULL) != SQLITE_OK)
		return fail(pr);
	d->inserts[d->ninserts++] = stmt;
	g->slot = (uint32_t)d->ninserts;
	return TEL_OK;
}

/* Binds the fields of an event, whose type is known. */
static int
bind_fields(const struct database *d, sqlite3_stmt *stmt,
    const struct tel_event *ev)
{
	const struct tel_type *t = ev->type;
	const struct tel_field *f;
	const char *s;
	int i, code = SQLITE_OK;
	size_t n;

	for (i = 0; i < t->nfields && code == SQLITE_OK; i++) {
		f = &t->fields[i];
		switch (f->datatype) {
		case TEL_STRING:
			s = tel_load_string(ev, f, &n);
			code = d->lib.bind_text64(stmt, i + 1, s, n,
			    SQLITE_STATIC, SQLITE_UTF8);
			break;
		case TEL_DOUBLE:
			code = d->lib.bind_double(stmt, i + 1,
			    tel_bits_double(tel_load(f, ev->data)));
			break;
		default:
			/* 64 bits as they are: SQLite's integers are signed */
			code = d->lib.bind_int64(stmt, i + 1,
			    (int64_t)tel_load(f, ev->data));
		}
	}
	return code;
}

/* The same for one of an unknown type: its code and its bytes. */
static int
bind_unknown(const struct database *d, sqlite3_stmt *stmt,
    const struct tel_event *ev)
{
	uint32_t header = ev->type->schema->header;
	size_t n = ev->size > header ? ev->size - header : 0;
	int code = d->lib.bind_int64(stmt, 1, ev->type->code);

	return code != SQLITE_OK ?
	    code :
	    d->lib.bind_blob64(stmt, 2, n > 0 ? ev->data + header : ev->data, n,
	        SQLITE_STATIC);
}

static tel_status
event(struct tel_printer *pr, const struct tel_event *ev)
{
	struct render_program *g = render_program_for(pr, ev->type, RENDER_ROW);
	struct database *d = pr->state;
	sqlite3_stmt *stmt;
	tel_status st;
	int n, code;

	if (g == NULL)
		return TEL_ENOMEM;
	d->events++;
	if (d->serial == 0)
		return TEL_OK;
	if (g->slot == 0) {
		st = prepare(pr, g);
		if (st != TEL_OK)
			return st;
	}
	stmt = d->inserts[g->slot - 1];
	n = g->type == NULL ? 2 : g->type->nfields;
	code = g->type == NULL ? bind_unknown(d, stmt, ev) :
	                         bind_fields(d, stmt, ev);
	if (code == SQLITE_OK)
		code = d->lib.bind_int64(stmt, n + 1, (int64_t)ev->clock);
	if (code == SQLITE_OK)
		code = d->lib.bind_int64(stmt, n + 2,
		    d->base + (int64_t)d->events);
	if (code == SQLITE_OK)
		code = d->lib.bind_int64(stmt, n + 3, d->serial);
	if (code == SQLITE_OK && d->lib.step(stmt) == SQLITE_DONE &&
	    d->lib.reset(stmt) == SQLITE_OK)
		return TEL_OK;
	return fail(pr);
}

/* ---------------------------------------------------------------- logs */

/* Opens the database.  TEL_OK, TEL_EINVAL, TEL_ENOMEM. */
static tel_status
start(struct tel_printer *pr)
{
	struct database *d;
	tel_status st;

	if (pr->database == NULL)
		return tel__render_fail(pr, "the database has no file");
	d = calloc(1, sizeof(*d));
	if (d == NULL)
		return TEL_ENOMEM;
	pr->state = d;
	st = load_library(pr, &d->lib);
	if (st != TEL_OK) {
		d->failed = 1;
		return st;
	}
	d->created = access(pr->database, F_OK) != 0;
	if (d->lib.open_v2(pr->database, &d->db,
	        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
	            SQLITE_OPEN_NOMUTEX,
	        NULL) != SQLITE_OK)
		return fail(pr);
	(void)d->lib.busy_timeout(d->db, BUSY_MS);
	if (d->created) {
		if (pr->file_size > 0 && pr->file_size < SMALL_LOG)
			tel__buffer_put(&d->text, small_pages,
			    sizeof(small_pages) - 1);
		else
			tel__buffer_put(&d->text, large_pages,
			    sizeof(large_pages) - 1);
		tel__buffer_put(&d->text, new_file, sizeof(new_file) - 1);
	}
	tel__buffer_put(&d->text, any_file, sizeof(any_file) - 1);
	tel__database_start(&d->text);
	return run_text(pr, &d->text);
}

/* Asks which serial the log has, and where its numbers start. */
static tel_status
find_serial(struct tel_printer *pr)
{
	struct database *d = pr->state;
	sqlite3_stmt *stmt;
	int code;

	d->serial = 0;
	if (d->lib.prepare_v3(d->db, "SELECT serial, base FROM temp.tel_log",
	        -1, 0, &stmt, NULL) != SQLITE_OK)
		return fail(pr);
	code = d->lib.step(stmt);
	if (code == SQLITE_ROW) {
		d->serial = d->lib.column_int64(stmt, 0);
		d->base = d->lib.column_int64(stmt, 1);
	}
	(void)d->lib.finalize(stmt);
	return code == SQLITE_ROW || code == SQLITE_DONE ? TEL_OK : fail(pr);
}

static void
end_log(struct database *d)
{
	if (d->log_open)
		tel__database_end_log(&d->text, d->events);
	d->log_open = 0;
}

static tel_status
begin_log(struct tel_printer *pr, const struct tel_event *ev, int same)
{
	struct database *d = pr->state;
	int first = d == NULL;
	tel_status st;

	if (d != NULL && d->failed)
		return TEL_EINVAL;
	st = first ? start(pr) : TEL_OK;
	if (st != TEL_OK)
		return st;
	d = pr->state;
	/* the programs that had slots are gone */
	if (pr->fresh)
		clear_inserts(d);
	if (!same)
		end_log(d);
	if (first || pr->fresh)
		tel__database_start_file(&d->text, pr->file_size,
		    pr->file_changed);
	if (!same) {
		tel__database_start_log(&d->text, ev->log->name, pr->file_size,
		    pr->file_changed);
		d->log_open = 1;
		d->events = 0;
	}
	tel__database_schema(&d->text, ev->type->schema);
	st = tel__database_indexes(pr, &d->indexes, ev->type->schema);
	if (st == TEL_OK)
		st = run_text(pr, &d->text);
	if (st == TEL_OK)
		st = find_serial(pr);
	d->failed |= st != TEL_OK;
	return st;
}

static tel_status
finish(struct tel_printer *pr)
{
	struct database *d = pr->state;
	tel_status st = d == NULL ? start(pr) : TEL_OK;

	if (st != TEL_OK)
		return st;
	d = pr->state;
	if (d->failed)
		return TEL_EINVAL;
	clear_inserts(d);
	end_log(d);
	st = run_text(pr, &d->text);
	if (st == TEL_OK)
		st = run_text(pr, &d->indexes);
	if (st != TEL_OK)
		return st;
	tel__database_finish(&d->text);
	st = run_text(pr, &d->text);
	d->committed = st == TEL_OK;
	return st;
}

static void
release(struct tel_printer *pr)
{
	struct database *d = pr->state;

	if (d == NULL)
		return;
	clear_inserts(d);
	free(d->inserts);
	tel__buffer_clear(&d->text);
	tel__buffer_clear(&d->indexes);
	/* what was not committed is rolled back */
	if (d->db != NULL)
		(void)d->lib.close(d->db);
	if (d->lib.handle != NULL)
		(void)dlclose(d->lib.handle);
	if (d->created && !d->committed)
		(void)unlink(pr->database);
	free(d);
}

const struct tel_renderer tel__renderer_sqlite = {
	.name = "sqlite",
	.flags = TEL_PRINTER_HEADER | TEL_PRINTER_BY_LOG | TEL_PRINTER_WHOLE |
	    TEL_PRINTER_INDEX | TEL_PRINTER_FILE,
	.begin_log = begin_log,
	.compile = compile,
	.event = event,
	.finish = finish,
	.release = release,
};
