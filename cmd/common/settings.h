/* SPDX-License-Identifier: BSD-2-Clause */
/* Settings: what the common options were set to. */
#ifndef COMMON_SETTINGS_H
#define COMMON_SETTINGS_H

#include "tel/printer.h"
#include "tel/writer.h"
#include "config.h"
#include "operands.h"
#include "options.h"
#include "select.h"

/* When something is done that depends on a terminal. */
enum when { WHEN_AUTO, WHEN_ALWAYS, WHEN_NEVER };

/* The most roles that a command line may give to types. */
#define SETTINGS_ROLES_MAX 64

/* A type and what it means to an allocator. */
struct settings_role {
	const char *role;
	const char *text;
};

struct settings {
	const char *format; /* NULL: the tool's own default */
	const char *output; /* NULL: standard output */
	const char *folder; /* that a trace is written to; or NULL */
	int replace;        /* the output is replaced, and more than once */
	int secret;         /* a new output is for its owner alone */
	int compress;       /* the level of zstd; 0: not */
	const char *as;     /* NULL: detected */
	struct selection select;
	tel_time_form time;
	int time_given;
	enum when color;
	int unbuffered;
	int strict;
	int force;
	int progress;
	int quiet;
	int count_only; /* -c: print how many events there are */
	int verbose;
	int no_sandbox;
	const char *meta;    /* the file that goes with a trace, or NULL */
	char **descriptions; /* files of -d, in order; ours */
	size_t ndescriptions;
	char **contracts; /* those of --contracts */
	size_t ncontracts;
	const char **metadata; /* those of --meta-set, "KEY=VALUE" */
	size_t nmetadata;
	int part; /* of the output: see selection_is_part() */
	struct settings_role roles[SETTINGS_ROLES_MAX];
	unsigned nroles;
	double tick_rate;    /* hertz; 0: the log's own */
	uint64_t max_labels; /* 0: as the library has it */
	tel_order order;     /* TEL_ORDER_LOG: as the tool needs them */
	int file_order;      /* then as the file has them */
	unsigned jobs;       /* threads; 0: one for each processor */
	int no_merge;        /* operands one after the other */
	/*
	 * The tool is given every event and calls selection_match() itself, as
	 * it needs some that are not selected.
	 */
	int all_events;
	int writes;   /* events go to a tel_writer */
	int no_input; /* without operands nothing is read */
	int ordered;  /* with an option it matters which event comes when */
	/* bytes of standard input that the tool has read already */
	const void *ahead;
	size_t nahead;
	char **operands;
	int noperands;
	struct operands ranged;
	struct config config; /* which the strings above may point into */
	/* by the option: the last of its kind came from that file */
	unsigned char preferred[OPTION_OWN + OPTIONS_MAX];
};

/*
 * Parses a command line; arg goes to tool->option().
 * Returns 1 when the tool is to go on, 0 when it is to end with
 * message_status(): after a mistake, --help or --version.  operands_select() is
 * still to be called.
 */
int settings_parse(struct settings *s, const struct tool *tool, void *arg,
    int argc, char **argv);

/*
 * Nonzero if the option came from the file of TELTOOLS_CONFIG alone: it is then
 * left out, instead of refused, where it does not go with the command line.
 */
int settings_is_preferred(const struct settings *s, int id);

/* The processors that the program may use, at least 1. */
unsigned settings_cores(void);
/*
 * The threads that render events: one for each processor, or as many as the
 * user asks for, but few, as their output must be in order.
 */
unsigned settings_printers(const struct settings *s);

/* --as and --color.  1, or 0 after a message. */
int settings_set_as(struct settings *s, const char *text);
int settings_set_color(struct settings *s, const char *text);

void settings_free(struct settings *s);

#endif
