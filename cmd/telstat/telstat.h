/* SPDX-License-Identifier: BSD-2-Clause */
/* telstat: what its parts share. */
#ifndef TELSTAT_H
#define TELSTAT_H

#include "common/settings.h"
#include "common/event_loop.h"
#include "common/streams.h"
#include "tel.h"

/* The most quantiles that --quantiles may ask for. */
#define QUANTILES_MAX 32

struct report_format;
struct show;

/* A format of output: by the common report, or by a function of its own. */
struct output_format {
	const char *name;
	/* where snapshots go: one after the other, each into a file that
	 * replaces the one before, or into curves of one picture */
	enum { SHOWS_ALL, SHOWS_LAST, SHOWS_CURVES } snapshots;
	int parts; /* it is added to others, also if nothing was counted */
	const struct report_format *report;
	void (*put)(const struct show *show);
};

extern const struct output_format output_formats[];
extern const size_t output_nformats;

/* Nonzero for the classes whose last value is the current one. */
static inline int
is_magnitude(tel_class c)
{
	return c == TEL_CLASS_MAG || c == TEL_CLASS_MAGDELTA;
}

/* What telstat was asked for, beyond the common options. */
struct telstat {
	struct settings settings;
	/* the first option that -c has no answer to, or NULL */
	const struct option_row *refused;
	const struct output_format *format;
	int level; /* of compression of a table; 0: none */
	tel_stats *stats;
	struct runtime *runtime;  /* of the report, or NULL */
	const tel_schema *looked; /* the last without anything for it */
	tel_heap *heap;     /* of --stacks, --blocks, the report, or NULL */
	const char *stacks; /* which of these options; NULL: the report */
	tel_expr *key;      /* of --blocks, which the heap has; or NULL */
	const char *key_text;
	uint64_t min_age;       /* of --min-age, in ns */
	tel_heap_weight weight; /* that sorts its stacks */
	int weight_given;
	int by_samples;            /* stacks are of samples: none allocates */
	tel_heap_weight by_weight; /* which of these sorts them then */
	int given;                 /* -s */
	char *groups;              /* of -g, joined, or NULL */
	char *each;                /* the globs of --each, joined, or NULL */
	const char *each_specs[16];
	size_t neach_specs;
	int each_order; /* it matters for them which event comes first */
	int each_rate;  /* they speak of seconds */
	int each_done;  /* their fields were found */
	int as_inst;
	uint64_t interval; /* of -i, 0 for none */
	int ticks;         /* it is in ticks, not nanoseconds */
	int deltas;
	int report;
	int types;     /* --report=types */
	int answers;   /* the report has answers from roles */
	int sets_rate; /* events of a log do that of its clock */
	uint64_t top;  /* 0: all */
	tel_key_order order;
	int rate;             /* --rate was given */
	uint64_t rate_ns;     /* what a rate is in: nanoseconds of its unit */
	const char *rate_per; /* and the unit's name */
	uint32_t quantiles[QUANTILES_MAX]; /* in parts of 10^9 */
	unsigned nquantiles;               /* 0: as the class has it */
	int density;
	int zeros;
	int raw;
	int utf8;
	int log;
	uint64_t width; /* 0: of the terminal, or 80 */
	const char *prefix;
	const char *self_trace; /* the file of --self-trace, or NULL */
};

/* Reads the command line.  Returns as settings_parse() does. */
int telstat_options(struct telstat *t, int argc, char **argv);
void telstat_free(struct telstat *t);

/* Reports why a call on the statistics failed. */
void telstat_report_error(const struct telstat *t, tel_status st,
    const char *option);

/* Reports why the expression of --blocks failed. */
void telstat_report_key_error(const struct telstat *t, tel_status st);
/*
 * Makes the heap, unless there is one; lines: see tel_heap_set_lines().  Returns
 * 1, or 0 after a message.
 */
int telstat_add_heap(struct telstat *t, int lines);

/* Counts what the operands hold, and shows it. */
void telstat_run(struct telstat *t, struct sink *sink);
/* Counts only.  Returns 1, or 0 when there is nothing to show. */
int telstat_count(struct telstat *t, struct sink *sink);

/* answers.c */

/* Nonzero when the options ask for answers from a log's roles. */
int answers_asked(const struct telstat *t);
/* Nonzero when the report has them: its format has, too. */
int answers_wanted(const struct telstat *t);
/* Nonzero when a log of the schema has blocks that are in no pool. */
int answers_have_blocks(const tel_schema *schema);
/* Looks into the operands that can be read more than once. */
void answers_look(struct telstat *t);
/*
 * Follows the blocks of logs of the schema, if it has any.  Returns 1, or 0 after
 * a message.
 */
int answers_begin(struct telstat *t, const tel_schema *schema);

/* runtime.c */

/*
 * Follows pauses, collections and sampled allocations of logs of the schema, if
 * it has any.  Returns 1, or 0 after a message.
 */
int runtime_begin(struct telstat *t, const tel_schema *schema);
/*
 * The same before an event of nsources logs: text may come to have samples long
 * after its start, and has another schema then.
 */
int runtime_look(struct telstat *t, const tel_event *ev, int nsources);
tel_status runtime_event(struct runtime *rt, const tel_event *ev);
/* Those of a run.  rt may be NULL. */
tel_status runtime_run(struct runtime *rt, tel_run *events);
/* Makes one of a thread; NULL: no memory. */
struct runtime *runtime_new(void);
/* Nonzero when nothing but ends of ranges was seen, which can be joined. */
int runtime_joins(const struct runtime *rt);
/*
 * Adds those of other logs, or, part: of a later part of the log.
 * 1, or 0: too many, or no memory.
 */
int runtime_join(struct runtime *rt, const struct runtime *next, int part);
/* Nonzero when events of the type are for runtime_event(). */
int runtime_wants(const struct runtime *rt, const tel_type *type);
void runtime_end(struct runtime *rt);
void runtime_free(struct runtime *rt);

/* diff.c */

/*
 * Runs "telstat diff", with the arguments from that word on: counts each of two
 * operands, and shows how they differ.
 */
void telstat_diff(int argc, char **argv);

/* added.c */

/* The start of standard input, which can be read only once. */
struct ahead {
	unsigned char *bytes;
	size_t size;
	size_t room;
	int failed; /* it could not be read, after a message */
};

/* Nonzero when the events of logs are asked for, and not their classes. */
int telstat_wants_events(const struct telstat *t);
/*
 * 1 when an operand is to be added, 0 when it is a log, -1 after a message
 * that it cannot be read.  What must be read of standard input to decide is put
 * into input.
 */
int telstat_adds(struct telstat *t, const char *operand, struct ahead *input);

/* each.c */

/* Nonzero when a spec is one for each field. */
int each_spec(const char *spec);
/* Takes such a spec.  Returns 1, or 0 after a message. */
int each_take(struct telstat *t, const char *spec);
/* Adds one for each field of the first log.  The same. */
int each_add(struct telstat *t, const tel_schema *s);

#endif
