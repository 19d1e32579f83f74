/* SPDX-License-Identifier: BSD-2-Clause */
/* The inside of a printer: what the formats share. */
#ifndef TEL_PRINTER_H
#define TEL_PRINTER_H

#include "format/mps/mps.h"
#include "io/output.h"
#include "model/clock.h"
#include "model/event.h"
#include "model/labels.h"
#include "print/program.h"

/* What a type may have programs for. */
enum print_variant {
	PRINT_ROW,   /* a row, or all of a line */
	PRINT_OTHER, /* CSV: the row in quotes; SQL: the statement before rows */
	PRINT_VARIANTS
};

/* A format. */
struct print_style {
	/*
	 * A log begins, or (same) goes on with another schema; may be NULL.
	 * pr->started is 0 for the first one.  TEL_EINVAL: it cannot be
	 * shown, and nothing was printed.
	 */
	tel_status (*begin_log)(struct tel_printer *pr,
	    const struct tel_event *ev, int same);
	/*
	 * Makes a program; type is NULL for what stands for all unknown
	 * types.  NULL when there is no memory.
	 */
	struct print_program *(*compile)(struct tel_printer *pr,
	    const struct tel_type *type, enum print_variant variant);
	/* Prints an event; NULL when running its program is all. */
	tel_status (*event)(struct tel_printer *pr, const struct tel_event *ev);
	/* A point of synchronisation comes, and pr->rate_owed; may be NULL. */
	tel_status (
	    *sync_point)(struct tel_printer *pr, const struct tel_event *ev);
	/* What ends the output, pr->started or not; may be NULL. */
	tel_status (*finish)(struct tel_printer *pr);
	/* Frees pr->state; may be NULL. */
	void (*release)(struct tel_printer *pr);
};

extern const struct print_style tel__print_style_text;
extern const struct print_style tel__print_style_csv;
extern const struct print_style tel__print_style_json;
extern const struct print_style tel__print_style_sql;
extern const struct print_style tel__print_style_mpscnv;
extern const struct print_style tel__print_style_mpstxt;
extern const struct print_style tel__print_style_tracerpt;
extern const struct print_style tel__print_style_perfetto;
extern const struct print_style tel__print_style_chrome;
extern const struct print_style tel__print_style_folded;

/* A label that PRINT_LABELS is to print. */
struct print_found {
	unsigned field;
	struct tel_label label;
};

/*
 * The programs for a schema.  Events of merged logs come in any order, so
 * each schema keeps its own.
 */
struct print_cache {
	struct print_cache *next;
	const struct tel_schema *schema;
	char name[sizeof(((struct tel_schema *)0)->name)];
	uint64_t digest; /* 0 for a built-in schema */
	/* by the type's index, and for all unknown types */
	struct print_program *(*programs)[PRINT_VARIANTS];
	unsigned nprograms;
	struct print_program *unknown[PRINT_VARIANTS];
};

struct tel_printer {
	struct tel_output *out;
	const struct print_style *style;
	enum tel_format format;

	/* options */
	enum tel_time_form time;
	int header;
	int color;
	int terminal;
	char **names; /* of the fields to show, or NULL: all */
	unsigned nnames;
	char *columns; /* the type that CSV has columns for */
	uint64_t file_size;
	int64_t file_changed;

	int started; /* something was printed */
	void *state; /* the style's own */

	/* the log that is being printed */
	const struct tel_log *log;
	unsigned number;
	int fresh;     /* the next event is of another file */
	int rate_owed; /* the header could not tell the clock's rate */

	/* the schema of its events, and what was made for it */
	const struct tel_schema *schema;
	const struct mps_release *release; /* NULL: no MPS log */
	struct print_cache *cache;
	struct print_cache *caches; /* of all schemas, the newest first */
	/* what a header said last */
	char shown[sizeof(((struct tel_schema *)0)->name)];
	uint64_t shown_digest;

	uint64_t previous; /* clock of the event shown before */
	int has_previous;
	struct print_found found[255];
	unsigned nfound;

	/* SQL: the statement that is open, and events of this log */
	const struct print_program *batch;
	unsigned rows;
	uint64_t events;
	int log_open;
	int unknown_made;

	char error[160];
};

/* Sets the text of tel_printer_error() and returns TEL_EINVAL. */
__attribute__((format(printf, 2, 3))) tel_status
tel__print_fail(struct tel_printer *pr, const char *format, ...);

/* The program for events of type, made if need be; NULL: no memory. */
struct print_program *tel__print_program_make(struct tel_printer *pr,
    const struct tel_type *type, enum print_variant variant);

static inline struct print_program *
print_program_for(struct tel_printer *pr, const struct tel_type *type,
    enum print_variant variant)
{
	struct print_program *g;

	if (!type->unknown && type->index < pr->cache->nprograms) {
		g = pr->cache->programs[type->index][variant];
		if (g != NULL && g->type == type)
			return g;
	}
	return tel__print_program_make(pr, type, variant);
}

/* The number of the field called name, or -1; type may be NULL. */
int tel__print_find(const struct tel_type *type, const char *name);

/* Where the label of f is looked for. */
enum print_space tel__print_space_of(const struct tel_printer *pr,
    const struct tel_field *f);

/* How a field is shown in text: the step's operation. */
enum print_op tel__print_text_op(const struct tel_field *f, int doubled);

/*
 * Adds " name=value" for all fields, or for those that were asked for:
 * separator stands before each but the first, which has first before it.
 */
void tel__print_text_fields(struct tel_printer *pr, struct print_builder *b,
    const struct tel_type *type, const char *first, int doubled);

/* Puts a string to the output. */
static inline tel_status
print_put(struct tel_printer *pr, const char *s)
{
	return tel_output_write(pr->out, s, strlen(s));
}

#endif
