/* SPDX-License-Identifier: BSD-2-Clause */
/* Output formats: what -f names, shown by a printer or written by a writer. */
#ifndef COMMON_FORMAT_H
#define COMMON_FORMAT_H

#include "source.h"
#include "streams.h"

/* An output format. */
struct format {
	const char *shown; /* the printer's name of it; NULL: it is written */
	unsigned flags;    /* of enum tel_printer_flag */
};

/*
 * Finds the format called name; those of printers that have a flag of without
 * are not offered.  Returns 1, or 0 after a message that lists the others.
 */
int format_find(struct format *f, const char *name, unsigned without);

/* Nonzero for the names of the native format. */
int format_native(const char *name);

/*
 * Makes a writer to the sink, in the format of the settings if they name one.
 * NULL after a message.
 */
tel_writer *format_writer(const struct settings *s, const struct sink *sink,
    int bare);

/*
 * Nonzero when the output for the source may go to the sink, else after a
 * message: binary output does not go to a terminal.
 */
int format_check(const tel_writer *w, const struct sink *sink,
    const struct source *src);

/* Reports what the format had no place for, unless the settings want quiet. */
void format_losses(const tel_writer *w, const struct settings *s);

#endif
