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
#include <limits.h>
#include <sqlite3.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/library.h"
#include "base/bytes.h"
#include "base/path.h"
#include "print/database.h"
#include "render/list.h"
#include "render/renderer.h"

/*
 * How a database is written that is not there yet: it is of no use before it
 * is complete, so it need not survive the end of the system.  A process that is
 * killed leaves what its journal, of one page, makes an empty database again.
 */
static const char new_file[] = "PRAGMA synchronous=OFF;";
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

/* The functions of the library that are used, and where their addresses go. */
#define FUNCTIONS(X) \
	X(open_v2) \
	X(close) \
	X(busy_timeout) \
	X(errcode) \
	X(errmsg) \
	X(exec) \
	X(prepare_v3) \
	X(finalize) \
	X(bind_text64) \
	X(bind_blob64) \
	X(bind_double) \
	X(bind_int64) \
	X(bind_null) \
	X(step) \
	X(reset) \
	X(column_int64)

struct library {
	void *handle;
#define MEMBER(name) __typeof__(sqlite3_##name) *name;
	FUNCTIONS(MEMBER)
#undef MEMBER
};

static const struct tel__library_function functions[] = {
#define PLACE(name) { "sqlite3_" #name, offsetof(struct library, name) },
	FUNCTIONS(PLACE)
#undef PLACE
};

struct sqlite {
	struct database database;
	struct library lib;
	sqlite3 *db;
	sqlite3_stmt **inserts; /* by the slots of programs */
	size_t room;
	int64_t serial; /* of the log that is loaded; 0: it was already */
	int64_t base;   /* the number of the event before its first */
	int created;    /* the file was not there, */
	int committed;  /* and is complete */
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
sqlite_fail(struct tel_printer *pr)
{
	static const char constraint[] = "CHECK constraint failed: ";
	struct sqlite *d = pr->state;
	int code = d->db == NULL ? SQLITE_NOMEM : d->lib.errcode(d->db);

	if (code == SQLITE_NOMEM)
		return TEL_ENOMEM;
	const char *why = d->lib.errmsg(d->db);
	/* a constraint of ours has the whole message as its name */
	if (strncmp(why, constraint, sizeof(constraint) - 1) == 0)
		why += sizeof(constraint) - 1;
	return tel__render_fail(pr, "%s: %.90s",
	    tel__path_end(pr->database, 60), why);
}

/* Runs the statements that were made. */
static tel_status
run_text(struct tel_printer *pr, struct tel__buffer *text)
{
	struct sqlite *d = pr->state;

	tel__buffer_put(text, "", 1);
	if (text->failed)
		return TEL_ENOMEM;
	text->used = 0;
	return d->lib.exec(d->db, (const char *)text->bytes, NULL, NULL,
	           NULL) == SQLITE_OK ?
	    TEL_OK :
	    sqlite_fail(pr);
}

/* ---------------------------------------------------------------- rows */

/* Compiles nothing: the program has the slot of the type's statement. */
static struct render_program *
sqlite_compile(struct tel_printer *pr, const struct tel_type *type)
{
	struct render_builder b;

	(void)pr;
	tel__render_start(&b, type, LABELS_TEXT);
	return tel__render_end(&b);
}

static void
clear_inserts(struct database *base)
{
	struct sqlite *d = (struct sqlite *)base;

	while (base->nslots > 0)
		(void)d->lib.finalize(d->inserts[--base->nslots]);
}

/* Prepares the insertion of a type. */
static tel_status
sqlite_prepare(struct tel_printer *pr, const struct tel_type *type)
{
	struct sqlite *d = pr->state;
	struct tel__buffer *text = &d->database.text;

	if (!TEL__RESERVE(d->inserts, d->room, d->database.nslots + 1))
		return TEL_ENOMEM;
	tel__buffer_put(text, "VALUES(", 7);
	/* the fields, the time, the number and the serial */
	for (unsigned i = 0; i < database_fields(type) + 2; i++)
		tel__buffer_put(text, "?,", 2);
	tel__buffer_put(text, "?)", 3);
	if (text->failed)
		return TEL_ENOMEM;
	text->used = 0;
	return d->lib.prepare_v3(d->db, (const char *)text->bytes, -1,
	           SQLITE_PREPARE_PERSISTENT, &d->inserts[d->database.nslots],
	           NULL) == SQLITE_OK ?
	    TEL_OK :
	    sqlite_fail(pr);
}

/* Binds a list, or a stack, as JSON. */
static int
bind_list(const struct sqlite *d, sqlite3_stmt *stmt, int number,
    const struct tel_event *ev, const struct tel_field *f,
    struct tel__buffer *list)
{
	list->used = 0;
	if (f->datatype == TEL_LIST)
		tel__render_list(list, ev, f, 1);
	else
		tel__render_stack(list, ev, tel_load(f, ev->data));
	if (list->failed)
		return SQLITE_NOMEM;
	if (list->used == 0)
		return d->lib.bind_null(stmt, number);
	return d->lib.bind_text64(stmt, number, (const char *)list->bytes,
	    list->used, SQLITE_TRANSIENT, SQLITE_UTF8);
}

/* Binds the fields of an event, whose type is known. */
static int
bind_fields(const struct sqlite *d, sqlite3_stmt *stmt,
    const struct tel_event *ev, struct tel__buffer *list)
{
	const struct tel_type *t = ev->type;
	const char *s;
	int i, code = SQLITE_OK;
	size_t n;

	for (i = 0; i < t->nfields && code == SQLITE_OK; i++) {
		const struct tel_field *f = &t->fields[i];

		if (!tel_present(f, ev->data)) {
			code = d->lib.bind_null(stmt, i + 1);
			continue;
		}
		if (f->datatype == TEL_LIST || f->space == TEL_SPACE_STACK) {
			code = bind_list(d, stmt, i + 1, ev, f, list);
			continue;
		}
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
bind_unknown(const struct sqlite *d, sqlite3_stmt *stmt,
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
sqlite_event(struct tel_printer *pr, const struct tel_event *ev)
{
	struct sqlite *d = pr->state;
	struct render_program *g;

	if (d->serial == 0) {
		d->database.events++;
		return TEL_OK;
	}
	tel_status st = tel__database_event(pr, ev, &g);
	if (st != TEL_OK)
		return st;
	sqlite3_stmt *stmt = d->inserts[g->slot - 1];
	int n = (int)database_fields(g->type);
	int code = g->type == NULL ? bind_unknown(d, stmt, ev) :
	                             bind_fields(d, stmt, ev, &pr->list);
	if (code == SQLITE_OK)
		code = d->lib.bind_int64(stmt, n + 1, (int64_t)ev->clock);
	if (code == SQLITE_OK)
		code = d->lib.bind_int64(stmt, n + 2,
		    d->base + (int64_t)d->database.events);
	if (code == SQLITE_OK)
		code = d->lib.bind_int64(stmt, n + 3, d->serial);
	if (code == SQLITE_OK && d->lib.step(stmt) == SQLITE_DONE &&
	    d->lib.reset(stmt) == SQLITE_OK)
		return TEL_OK;
	return sqlite_fail(pr);
}

/* ---------------------------------------------------------------- logs */

static tel_status
open_database(struct tel_printer *pr)
{
	struct sqlite *d = pr->state;
	struct tel__buffer *text = &d->database.text;

	if (pr->database == NULL)
		return tel__render_fail(pr, "the database has no file");
	tel_status st = load_library(pr, &d->lib);
	if (st != TEL_OK)
		return st;
	d->created = access(pr->database, F_OK) != 0;
	if (d->lib.open_v2(pr->database, &d->db,
	        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
	            SQLITE_OPEN_NOMUTEX,
	        NULL) != SQLITE_OK)
		return sqlite_fail(pr);
	(void)d->lib.busy_timeout(d->db, BUSY_MS);
	if (d->created) {
		if (pr->file_size > 0 && pr->file_size < SMALL_LOG)
			tel__buffer_put(text, small_pages,
			    sizeof(small_pages) - 1);
		else
			tel__buffer_put(text, large_pages,
			    sizeof(large_pages) - 1);
		tel__buffer_put(text, new_file, sizeof(new_file) - 1);
	}
	tel__buffer_put(text, any_file, sizeof(any_file) - 1);
	return TEL_OK;
}

/* Asks which serial the log has, and where its numbers start. */
static tel_status
find_serial(struct tel_printer *pr)
{
	struct sqlite *d = pr->state;
	sqlite3_stmt *stmt;

	d->serial = 0;
	if (d->lib.prepare_v3(d->db, "SELECT serial, base FROM temp.tel_log",
	        -1, 0, &stmt, NULL) != SQLITE_OK)
		return sqlite_fail(pr);
	int code = d->lib.step(stmt);
	if (code == SQLITE_ROW) {
		d->serial = d->lib.column_int64(stmt, 0);
		d->base = d->lib.column_int64(stmt, 1);
	}
	(void)d->lib.finalize(stmt);
	return code == SQLITE_ROW || code == SQLITE_DONE ? TEL_OK :
	                                                   sqlite_fail(pr);
}

static const struct database_sink file = {
	.size = sizeof(struct sqlite),
	.open = open_database,
	.run = run_text,
	.ready = find_serial,
	.prepare = sqlite_prepare,
	.clear = clear_inserts,
};

static tel_status
sqlite_finish(struct tel_printer *pr)
{
	tel_status st = tel__database_finish(pr);

	if (st == TEL_OK)
		((struct sqlite *)pr->state)->committed = 1;
	return st;
}

/* Removes a database that is not complete, and then the journal of that. */
static void
remove_database(const char *path)
{
	char journal[PATH_MAX];

	(void)unlink(path);
	if (snprintf(journal, sizeof(journal), "%s-journal", path) <
	    (int)sizeof(journal))
		(void)unlink(journal);
}

static void
sqlite_release(struct tel_printer *pr)
{
	struct sqlite *d = pr->state;

	clear_inserts(&d->database);
	free(d->inserts);
	/* what was not committed is rolled back */
	if (d->db != NULL)
		(void)d->lib.close(d->db);
	if (d->lib.handle != NULL)
		(void)dlclose(d->lib.handle);
	if (d->created && !d->committed)
		remove_database(pr->database);
	tel__database_clear(&d->database);
}

const struct tel_renderer tel__renderer_sqlite = {
	.name = "sqlite",
	.flags = TEL_PRINTER_HEADER | TEL_PRINTER_BY_LOG | TEL_PRINTER_WHOLE |
	    TEL_PRINTER_INDEX | TEL_PRINTER_FILE,
	.dialect = &file,
	.begin_log = tel__database_begin_log,
	.compile = sqlite_compile,
	.event = sqlite_event,
	.finish = sqlite_finish,
	.release = sqlite_release,
};
