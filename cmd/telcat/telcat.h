/* SPDX-License-Identifier: BSD-2-Clause */
/* telcat: what its parts share. */
#ifndef TELCAT_H
#define TELCAT_H

#include "common/format.h"
#include "common/settings.h"
#include "common/event_loop.h"
#include "common/streams.h"
#include "tel/heap.h"

/* The options of telcat, beyond the common ones. */
struct telcat {
	struct settings settings;
	struct format format;
	char *fields;         /* NULL: all */
	char *index;          /* columns of a database to index, or NULL */
	const char *database; /* its file, or NULL */
	int weighted;         /* --weight was given */
	int wide;             /* --csv=wide */
	tel_heap_weight weight;
	int level;         /* of compression of a table; 0: none */
	int live;          /* --live was given */
	unsigned seconds;  /* from one page to the next; 0: one page */
	uint64_t max_size; /* of a page; 0: the library's */
	char *allocators;  /* --holder, or NULL */
	const char *split; /* --split, or NULL */
	int no_header;
	int types; /* list event types instead of events */
};

/* Reads the command line.  Returns as settings_parse() does. */
int telcat_options(struct telcat *t, int argc, char **argv);

/* Shows the events of the operands. */
void telcat_show(struct telcat *t, struct sink *sink);

/* Makes a printer of what the options ask for.  TEL_OK, or why not. */
tel_status telcat_printer(const struct telcat *t, const struct sink *sink,
    tel_output *to, tel_printer **out);

/* Nonzero when the options fit --split, else after a message. */
int telcat_split_check(const struct telcat *t);

/* The same as both of the others, in several files. */
void telcat_split(struct telcat *t);

/* Writes the events of the operands in another format of logs. */
void telcat_write(struct telcat *t, struct sink *sink);

/* Lists event types: of the operands, or the built-in ones. */
void telcat_types(struct telcat *t, struct sink *sink);

/* Describes all types of all built-in schemas in a native stream. */
void telcat_annex(struct telcat *t, struct sink *sink);

#endif
