/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files that make a script for sqlite3 know of each other. */
#ifndef TEL_SQL_H
#define TEL_SQL_H

#include "print/printer.h"

/* Prints a part of a statement, less than 256 bytes. */
__attribute__((format(printf, 2, 3))) void tel__sql_put(struct tel_printer *pr,
    const char *format, ...);

/* Prints a string, in quotes. */
void tel__sql_value(struct tel_printer *pr, const char *s);

/* Adds a name of a table or a column, with what comes before it. */
void tel__sql_add_name(struct print_builder *b, const char *before,
    const char *name);

/*
 * The name of the column of a field, which differs from others in more than
 * the case of letters: adds it to a program, or prints it as a string.
 */
void tel__sql_add_column(struct print_builder *b, const struct tel_type *type,
    unsigned i);
void tel__sql_column(struct tel_printer *pr, const struct tel_type *type,
    unsigned i);

/*
 * Makes the tables of a schema, where they are not there yet, and has the
 * script fail where they are, but of other columns.  As tel_printer_event().
 */
tel_status tel__sql_schema(struct tel_printer *pr,
    const struct tel_schema *schema);

#endif
