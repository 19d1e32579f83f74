/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Traces of the Linux kernel as text: what `perf script` and `trace-cmd report`
 * print, and the kernel's own trace file.  tel-ftrace(5) describes them.
 *
 * A line is taken apart (head.c, line.c, fields.c); its names of an event and of
 * fields are a type (types.c), which becomes known when a line has it for the
 * first time.
 *
 * An event's bytes are its code and its size, four bytes each, its clock and
 * then eight bytes a field, all little-endian; a string field has its
 * place behind the fields.
 */
#ifndef TEL_FTRACE_H
#define TEL_FTRACE_H

#include "base/table.h"
#include "reader/lines.h"

/* The longest line, and the most bytes of lines that are kept for an event. */
#define FT_LINE_MAX 65535u
#define FT_LEAD_MAX 65536u
/* The most fields of an event, types, and types of all schemas together. */
#define FT_FIELDS_MAX 64u
#define FT_TYPES_MAX 1024u
#define FT_PLACED_MAX 65536u
/* The longest name of a type or a field, and the longest label. */
#define FT_NAME_MAX 63u
/* How the names of perf's own records begin. */
#define FT_RECORD "PERF_RECORD_"
/* How the names of the calls of function_graph begin. */
#define FT_GRAPH "funcgraph_"
/* How the text of a line before a stack begins. */
#define FT_STACK "<stack trace"
#define FT_USER_STACK "<user stack trace"
#define FT_LABEL_MAX 255u
#define FT_HEADER 16u
/* The most frames of a stack: others, the outermost ones, are left out. */
#define FT_FRAMES_MAX 1024u
/* The most calls that a thread is in, of those whose functions are known. */
#define FT_GRAPH_DEPTH_MAX 256u
/* Labels of one event: three threads and a place in the code. */
#define FT_LABELS 4u

/* A part of a line. */
struct ft_text {
	const char *p;
	size_t n;
};

struct ft_field {
	struct ft_text name;
	struct ft_text value;
	enum tel_datatype datatype; /* of this value */
	enum tel_unit unit;         /* of a number */
	uint64_t number;
};

/* FT_LATENCY: in microseconds, of the kernel's option latency-format. */
enum ft_time { FT_UNTIMED, FT_TIME, FT_LATENCY, FT_TICKS };

/* What a line of the function_graph tracer is. */
enum ft_call {
	FT_NO_CALL,
	FT_CALL,   /* "func() {" */
	FT_RETURN, /* "}" */
	FT_LEAF,   /* "func();", both */
	FT_SWITCH, /* " 1)  a-1  =>  b-2", no event */
	FT_INSIDE  /* another event, between calls */
};

/* A line that is an event. */
struct ft_line {
	uint64_t clock; /* in ns, or in ticks */
	enum ft_time has_time;
	char name[FT_NAME_MAX + 1];
	char system[FT_NAME_MAX + 1]; /* "kmem", or "event" if it is not said */
	struct ft_text event;         /* all that is behind the time */
	/* of a sample of one, and where it ends; or NULL */
	const unsigned char *frame, *frame_end;
	struct ft_field fields[FT_FIELDS_MAX];
	unsigned nfields;
	struct {
		unsigned field;
		struct ft_text text;
	} labels[FT_LABELS];
	unsigned nlabels;
	struct {
		enum ft_call is;
		int summed; /* the line has no time, but those of others do */
		unsigned depth, func, start, self; /* fields of a call */
		uint64_t cpu, duration, from; /* from: of a switch, 0: idle */
		struct ft_text comm, tid;     /* of the next thread */
	} graph;
	/*
	 * Of a call of perf trace in two lines: "NAME(ARGUMENTS)" of the first, or
	 * "... [continued]: NAME(" of the second.
	 */
	struct {
		enum { FT_WHOLE, FT_BEGUN, FT_CONTINUED } is;
		struct ft_text text;
	} call;
	/* what was expected, and where something else was found */
	const char *want;
	const unsigned char *at;
};

/* What a line is. */
enum ft_kind {
	FT_EVENT,
	FT_SILENT, /* a header, or a note on a processor */
	FT_LOST,   /* the line counts lost events: .clock */
	FT_BLANK,
	FT_SUMMARY, /* the first line of the sums of perf trace */
	FT_CHAIN,   /* a caller: belongs to the event before it */
	FT_WRONG
};

/* Takes the line from p to end apart; *end ends any token. */
enum ft_kind tel__ft_line(struct ft_line *l, const unsigned char *p,
    const unsigned char *end);
/*
 * Takes what a line has before its event, which starts at *event.  FT_EVENT,
 * FT_WRONG; FT_SILENT: the line has no event.
 */
enum ft_kind tel__ft_head(struct ft_line *l, const char *p, const char *end,
    const char **event);
/*
 * Takes a sample that has neither a time nor the name of an event, "COMM PID [CPU]
 * PERIOD ADDRESS FUNCTION", all of which but one may be missing.  1, or 0: all are.
 */
int tel__ft_sample(struct ft_line *l, const char *p, const char *end);
/* Adds a field.  0: there are too many, or its name is too long. */
int tel__ft_add_field(struct ft_line *l, const char *name, size_t length,
    const char *value, const char *end);
/* Takes the fields from p to end, and the text before the first one. */
void tel__ft_take_fields(struct ft_line *l, const char *p, const char *end);
/* Adds what follows from the fields: places in the code, threads, pages. */
void tel__ft_complete_fields(struct ft_line *l);
/* Adds a number that the line implies. */
void tel__ft_add_number(struct ft_line *l, const char *name,
    enum tel_datatype datatype, enum tel_unit unit, uint64_t number);
/* Names the event of n bytes at p, "SYSTEM:EVENT" or "EVENT:MODIFIERS". */
void tel__ft_take_name(struct ft_line *l, const char *p, size_t n);
/*
 * Takes a line of the kernel's function_graph tracer.  FT_EVENT: a call, or, of
 * FT_INSIDE, an event whose text is l->event; FT_SILENT; FT_WRONG: it is none.
 */
enum ft_kind tel__ft_graph_line(struct ft_line *l, const char *p,
    const char *end);
/*
 * Takes the text of funcgraph_entry or funcgraph_exit, as trace-cmd prints it.
 * 1; 0: it is something else.
 */
int tel__ft_graph_event(struct ft_line *l, const char *p, const char *end);
/* Labels a number with a text, if the line has both. */
void tel__ft_add_label(struct ft_line *l, const struct ft_field *f,
    struct ft_text text);
/* The address in the line turned out to be one of data: it is text. */
void tel__ft_line_add_address(struct ft_line *l);
/* The name of the function in a line of a call chain. */
struct ft_text tel__ft_frame(const unsigned char *p, const unsigned char *end);
/* The field of that name; NULL: the line has none. */
const struct ft_field *tel__ft_field(const struct ft_line *l, const char *name);

/* A type, by the order of its fields in a line. */
struct ft_type {
	char *name;
	char *kind;
	unsigned nfields;
	struct {
		char *name;
		uint8_t datatype;
		uint8_t unit; /* if it is a number */
	} fields[FT_FIELDS_MAX];
};

struct ft_types {
	struct ft_type **types; /* the first is that of what fits no other */
	unsigned count;
	size_t room;
	struct tel__table by_names; /* numbers, by a hash of all names */
	unsigned placed;            /* types of all schemas that were made */
	int changed;                /* there is none of the types as they are */
	int full;
	int chains; /* types have a field behind all others, their stack */
};

/* TEL_OK, TEL_ENOMEM. */
tel_status tel__ft_types_start(struct ft_types *t);
void tel__ft_types_free(struct ft_types *t);
/*
 * The number of the type of a line, which is added, or given other data types,
 * where that is needed; 0 where it cannot be.  -1: out of memory.
 */
int tel__ft_type_of(struct ft_types *t, const struct ft_line *l);
/* Makes a schema of them that of the log.  TEL_OK, TEL_ENOMEM. */
tel_status tel__ft_types_settle(struct tel_reader *r, struct ft_types *t);

#endif
