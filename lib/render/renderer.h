/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Renderers: the output formats of a printer, and what they share.  A renderer
 * that shows one format of logs in that format's own text is in its folder.
 */
#ifndef TEL_RENDERER_H
#define TEL_RENDERER_H

#include "base/table.h"
#include "io/output.h"
#include "model/clock.h"
#include "model/event.h"
#include "model/labels.h"
#include "render/program.h"
#include "tel/filter.h"
#include "tel/heap.h"

struct render_pool;

/* An output format. */
struct tel_renderer {
	const char *name; /* as -f names it */
	unsigned flags;   /* of enum tel_printer_flag */
	/* for the renderer's own functions: renderers may share these */
	const void *dialect;
	/*
	 * The output of an event depends on no other one, and not on its place
	 * in the log, or on its raw bytes.
	 */
	int apart;
	/*
	 * A log starts, or (pr->continues) goes on with another schema; may be
	 * NULL.  pr->started is 0 for the first one.  TEL_EINVAL: it cannot be
	 * shown, and nothing was printed.
	 */
	tel_status (
	    *begin_log)(struct tel_printer *pr, const struct tel_event *ev);
	/*
	 * Makes a program; type is NULL for the program of all unknown types.
	 * NULL when out of memory.
	 */
	struct render_program *(
	    *compile)(struct tel_printer *pr, const struct tel_type *type);
	/* See tel_printer_add_schema(); may be NULL. */
	tel_status (*schema)(struct tel_printer *pr,
	    const struct tel_schema *schema, const struct tel_filter *filter);
	/* Prints an event; NULL: running its program is enough. */
	tel_status (*event)(struct tel_printer *pr, const struct tel_event *ev);
	/* Prints a run behind an event of its log; NULL: one by one. */
	tel_status (*run)(struct tel_printer *pr, struct tel_run *run);
	/* Prints the events held back; may be NULL. */
	tel_status (*flush)(struct tel_printer *pr);
	/* Called before a sync point while pr->rate_owed; may be NULL. */
	tel_status (
	    *sync_point)(struct tel_printer *pr, const struct tel_event *ev);
	/* Prints the end of the output, pr->started or not; may be NULL. */
	tel_status (*finish)(struct tel_printer *pr);
	/* Prints what tel_printer_snapshot() does; may be NULL. */
	tel_status (*snapshot)(struct tel_printer *pr, struct tel_output *out,
	    unsigned seconds);
	/* Frees what pr->state refers to, before that; may be NULL. */
	void (*release)(struct tel_printer *pr);
};

/* The name of a field that is shown. */
struct render_name {
	char *text;
	/* what it is in events without a field of that name, or NULL */
	struct tel_expr *expr;
	int missing; /* no type has it so far, of a log that may have more */
};

/* A label that RENDER_LABELS prints. */
struct render_found {
	unsigned field;
	struct tel_label label;
};

/*
 * The programs for a schema.  Events of merged logs come in any order, so
 * each schema has a cache of its own.
 */
struct render_cache {
	struct render_cache *next;
	char name[sizeof(((struct tel_schema *)0)->name)];
	uint64_t digest; /* 0 for a built-in schema */
	/* by the type's index, and for all unknown types */
	struct render_program **programs;
	unsigned nprograms;
	struct render_program *unknown;
};

struct tel_printer {
	struct tel_output *out;
	const struct tel_renderer *renderer;

	/* options */
	enum tel_time_form time;
	int header;
	int color;
	int terminal;
	struct render_name *names; /* of the fields to show, or NULL: all */
	unsigned nnames;
	int names_known; /* some log had each of them */
	int names_given; /* by the user, and not those of types */
	size_t names_room;
	/* Sets .list to what a step of that op prints. */
	tel_status (*put_value)(struct tel_printer *pr, enum render_op op,
	    unsigned i, const struct tel_event *ev);
	char *columns; /* the type that CSV has columns for */
	char *index;   /* the columns that a database has indexes on, or NULL */
	char *database;   /* the file of a database, or NULL */
	char *allocators; /* an expression of functions of a page, or NULL */
	int weighted;     /* stacks of allocations, not of ranges, by weight */
	tel_heap_weight weight;
	int footer;        /* a file with a footer, not a stream */
	int wide;          /* a column for each field of all types */
	int level;         /* of compression; 0: none */
	uint64_t max_size; /* of a page */
	uint64_t file_size;
	int64_t file_changed;
	uint64_t damaged; /* places in the logs, and the bytes skipped there */
	uint64_t skipped;

	unsigned threads;                /* that may render; 0 or 1: none */
	struct render_pool *render_pool; /* those that do, or NULL */

	int started; /* something was printed */
	int finished;
	void *state; /* the renderer's own */

	/* the log that is being printed */
	const struct tel_log *log;
	unsigned number;
	int fresh;     /* the next event is of another file */
	int continues; /* for begin_log: the log does not start */
	int rate_owed; /* the clock's rate was unknown when the header was */

	/* the schema of its events, and what was made for it */
	const struct tel_schema *schema;
	struct render_cache *cache;
	struct render_cache *caches; /* of all schemas, the newest first */
	struct tel__table by_schema; /* from addresses of schemas to caches */
	/* the schema that the last header named */
	char shown[sizeof(((struct tel_schema *)0)->name)];
	uint64_t shown_digest;
	unsigned shown_types; /* of a described one */
	unsigned known_types; /* for begin_log: these were shown of the log */

	uint64_t count;    /* for RENDER_COUNT */
	uint64_t previous; /* clock of the event shown before */
	int has_previous;
	/* the upper half of the clock before, and as RENDER_CLOCK prints it */
	uint32_t clock_high;
	unsigned char clock_text[8];
	/* a clock with eight zeros at its end, and its other digits in decimal */
	uint64_t clock_base;
	unsigned char clock_digits[16];
	unsigned nclock_digits;
	struct render_found found[255];
	unsigned nfound;
	unsigned char *row;       /* where the event starts */
	unsigned char narrow[32]; /* a short event, and bytes behind it */
	int quoted;               /* a quote was put before its fields */
	struct tel__buffer list;  /* one that is being printed */

	char error[160];
	int misnamed; /* it is of a name that no log has */
};

/* Sets the text of tel_printer_error() and returns TEL_EINVAL. */
__attribute__((format(printf, 2, 3))) tel_status
tel__render_fail(struct tel_printer *pr, const char *format, ...);

/* The program for events of type, made if need be; NULL: no memory. */
struct render_program *tel__render_make(struct tel_printer *pr,
    const struct tel_type *type);

static inline struct render_program *
render_program_for(struct tel_printer *pr, const struct tel_type *type)
{
	if (!type->unknown && type->index < pr->cache->nprograms) {
		struct render_program *g = pr->cache->programs[type->index];

		if (g != NULL && g->type == type)
			return g;
	}
	return tel__render_make(pr, type);
}

/* Switches to the programs of a schema.  TEL_OK, TEL_ENOMEM. */
tel_status tel__render_set_schema(struct tel_printer *pr,
    const struct tel_schema *schema);
void tel__render_free_caches(struct tel_printer *pr);

/* Renders an event to the printer's output, unless columns are of a type. */
static inline tel_status
render_event(struct tel_printer *pr, const struct tel_event *ev)
{
	if (pr->columns != NULL &&
	    (ev->type->unknown || strcmp(ev->type->name, pr->columns) != 0))
		return TEL_OK;
	if (pr->renderer->event != NULL)
		return pr->renderer->event(pr, ev);
	struct render_program *g = render_program_for(pr, ev->type);
	return g == NULL ? TEL_ENOMEM : tel__render_run(pr, g, ev);
}

/* The number of the field called name, or -1; type may be NULL. */
int tel__render_find(const struct tel_type *type, const char *name);

/* How many fields of a type may be shown, and which is the one at i, or -1. */
static inline unsigned
render_count(const struct tel_printer *pr, const struct tel_type *type)
{
	return pr->names == NULL ? type->nfields : pr->nnames;
}

static inline int
render_field(const struct tel_printer *pr, const struct tel_type *type,
    unsigned i)
{
	return pr->names == NULL ? (int)i :
	                           tel__render_find(type, pr->names[i].text);
}

/*
 * Adds the value of the name, where it is an expression, for events of a type
 * that has no field of that name.  1, or 0: it is none.
 */
int tel__render_add_value(const struct tel_printer *pr,
    struct render_builder *b, enum render_op op, unsigned name);

/* Where the label of f is looked for. */
enum render_space tel__render_space_of(const struct tel_printer *pr,
    const struct tel_field *f);

/*
 * How a field is shown in text: the step's operation.  doubled: inside a CSV
 * field, where every quote is written twice.
 */
enum render_op tel__render_text_op(const struct tel_field *f, int doubled);

/* Adds "name=value" for a field. */
void tel__render_text_field(struct tel_printer *pr, struct render_builder *b,
    const struct tel_type *type, unsigned i, int doubled);

/*
 * Adds "name=value" for all fields, or for those that were asked for, with a
 * blank between them and first before the first one.
 */
void tel__render_text_fields(struct tel_printer *pr, struct render_builder *b,
    const struct tel_type *type, const char *first, int doubled);

/* Adds a string as literal bytes: a field of CSV, or part of a JSON string. */
void tel__render_add_csv(struct render_builder *b, const char *s, size_t n);
void tel__render_add_json(struct render_builder *b, const char *s, size_t n);

/* Writes a string to the output. */
static inline tel_status
render_put(struct tel_printer *pr, const char *s)
{
	const size_t n = strlen(s);
	unsigned char *p = tel_output_room(pr->out, n);

	if (p != NULL) {
		memcpy(p, s, n);
		pr->out->used += n;
	}
	return pr->out->status;
}

#endif
