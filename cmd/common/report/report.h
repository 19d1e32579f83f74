/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Report: one model of what a tool found, and the writers of it: text, CSV,
 * JSON, HTML, which has the objects of JSON, and SVG.
 *
 * A report is a sequence of sections.  A section has a title, facts (named
 * values), lines and notes, and what it needs of a table, a histogram, bars
 * and a chart.  The tool builds one section at a time and hands it over; the
 * writer writes it, and nothing of it is kept, so that memory does not grow
 * with the report.  Buckets, bars and points, of which there may be millions,
 * stay where the tool has them: the writer asks for each by a callback, as
 * often as it needs it.
 */
#ifndef COMMON_REPORT_REPORT_H
#define COMMON_REPORT_REPORT_H

#include "format_number.h"
#include "tel/stats.h"
#include "tel/table.h"

/* The outputs that something is for. */
#define REPORT_TEXT 1u
#define REPORT_CSV 2u
#define REPORT_JSON 4u
#define REPORT_SVG 8u
#define REPORT_DATA (REPORT_CSV | REPORT_JSON)
#define REPORT_ALL (REPORT_TEXT | REPORT_DATA | REPORT_SVG)

/* ------------------------------------------------------------- values */

enum report_datatype {
	REPORT_ABSENT,  /* left out everywhere */
	REPORT_UNKNOWN, /* "-" in tables, null as a key, else left out */
	REPORT_INTEGER,
	REPORT_REAL,
	REPORT_BOOLEAN,
	REPORT_STRING,
	REPORT_REMARK /* a text in place of the rest of a row of text */
};

struct report_value {
	enum report_datatype type;
	unsigned decimals; /* an integer is in units of 10^-decimals */
	union {
		tel_int128 integer;
		double real;
		int boolean;
		const char *string; /* not escaped */
	} as;
};

struct report_value report_int128(tel_int128 v);
struct report_value report_count(uint64_t v);
struct report_value report_decimal(tel_int128 v, unsigned decimals);
struct report_value report_real(double v);
struct report_value report_boolean(int v);
struct report_value report_string(const char *text);
/* The same, but absent when it is "". */
struct report_value report_optional(const char *text);

/* How people see a number; --raw changes all but the last four. */
enum report_notation {
	REPORT_GROUPED,   /* 1,234,567 */
	REPORT_WITH_UNIT, /* exact: "65,536 (64.0 KiB)", "12.5 ms" */
	REPORT_ROUNDED,   /* of a mean or rate: three decimals or digits */
	REPORT_PRECISE,   /* the same of small numbers: six digits */
	REPORT_FIXED,     /* so many decimals */
	REPORT_PLAIN,     /* digits alone */
	REPORT_PERCENT,   /* of a share from 0 to 1: "12.5%" */
	REPORT_SIZE,      /* "12.3 MiB", "512 B" */
	REPORT_SHORT      /* one decimal below 1000, none above */
};

/* What a value is: that of a fact, or those of a column. */
struct report_field {
	const char *name;  /* for programs: "overflow_updates" */
	const char *label; /* for people; NULL: the name */
	const char *unit;  /* "bytes", "ns" ...; NULL: none */
	enum report_notation notation;
	int decimals;
	unsigned shown; /* REPORT_TEXT and so on; 0: REPORT_ALL */
	int item; /* of a column: it identifies the rows, as a kind does */
	int left; /* in tables of text: left-aligned, */
	unsigned width; /* columns with the gap; 0: as its cells need */
	unsigned most;  /* longest text in columns, 0: any length */
	int spare;      /* left out, the largest first, on narrow pages */
};

struct report_fact {
	struct report_field field;
	struct report_value value;
	const char *item; /* in the column of items of CSV, or NULL */
};

/* ----------------------------------------------------- parts of sections */

struct report;

/* A row of a table, with as many cells as there are columns. */
struct report_row {
	struct report_row *next;
	unsigned shown; /* the outputs that it is for */
	size_t n;       /* cells that were set; the others are absent */
	struct report_value cells[];
};
#define REPORT_COLUMNS_MAX 20

struct report_histogram {
	const char *y_title;
	const void *of;
	size_t n;
	tel_bucket (*bucket)(const void *of, size_t i);
	/* The first bucket from i on that is not empty, or n. */
	size_t (*next)(const void *of, size_t i);
	tel_int128 weight;
	int sides; /* under and over are known */
	tel_int128 under, over;
	int knee;   /* buckets have another width behind it */
	int log;    /* it is drawn by logarithm in any case */
	int hidden; /* it is drawn, but text has no rows of it */
	/* The ranges of equal width, for programs. */
	struct report_segment {
		int64_t lo, hi, width;
	} segments[2];
	size_t nsegments;
	/* The axes, where groups share them; not set: hi is 0. */
	struct report_axes {
		double lo, hi; /* of values, */
		double most;   /* and the largest weight of a bucket */
	} axes;
};

struct report_quantile {
	uint32_t share; /* in parts of 10^9 */
	tel_quantile is;
};
#define REPORT_QUANTILES_MAX 32

/* Bars beside each other, each with a label and a count. */
struct report_bar {
	struct report_value label;
	uint64_t count, updates;
	/* in pictures: the length of a bar of another number, and its text */
	double value;
	const char *text; /* NULL: that of the count, with its share */
};
struct report_bars {
	const char *title; /* the things that it counts */
	const void *of;
	size_t n; /* writers show report_rows() of them, and sum up the rest */
	void (*bar)(struct report *r, const void *of, size_t i,
	    struct report_bar *out);
	tel_int128 weight; /* of all, for shares */
	int has_overflow;  /* what found no room is a bar of its own */
	tel_int128 overflow;
};

/* A range of values, from 0 on, and values in it by name. */
struct report_range {
	const char *what; /* the values, where they are not the section's */
	double lo, hi;    /* in units of 10^-decimals of the section */
	double axis_lo, axis_hi; /* of all groups; the axis has 0 in any case */
	struct report_named {
		const char *name;
		double value;
	} marks[2];
	size_t n;
};

/* Curves, by default over a share of the run, 0 to 1. */
struct report_series {
	const char *name;
	const char *legend; /* "": none, as the chart's title has it */
	int area;           /* it is filled, and drawn below the others */
	size_t number;      /* which hue it has */
	size_t n;
	const void *of;
	/* Points come in order; one with a y of NaN is a gap. */
	void (*point)(const void *of, size_t i, double *x, double *y);
};
struct report_chart {
	const struct report_series *series;
	size_t n;
	const char *x_title, *y_title;
	const char *unit;   /* of y */
	double least, most; /* the smallest y if below 0, and the largest */
	int share;          /* y is from 0 to 1, in percent */
	const char *x_unit; /* of x; NULL: a share, 0 to 1 */
	double x_min, x_max;
	int x_log;
};

struct report_line {
	const char *label, *text;
	struct report_line *next;
};
struct report_note {
	const char *name; /* for programs, or NULL */
	const char *text;
	unsigned shown;
};

#define REPORT_FACTS_MAX 64
#define REPORT_NOTES_MAX 8

struct report_section {
	unsigned shown;        /* the outputs that it is for */
	const char *type;      /* for programs: "tally", "totals", "run" */
	const char *name;      /* of the statistic or allocator, or NULL */
	const char *item;      /* which of several such sections, or NULL, */
	const char *item_name; /* and what JSON calls that */
	const char *title;     /* for people; NULL: name and group, or none */
	const char *class;     /* in brackets behind the title, or NULL */
	const char *definition, *unit;
	unsigned decimals; /* edges and quantiles are in 10^-decimals */
	int apart;         /* text: a blank line comes before, but not first */
	/* text: columns without a known value are left out, or all of it */
	int sparse;

	int overflow_group;

	const char *lead; /* text: what the line of facts begins with */
	int lead_strong;
	unsigned indent; /* of its other lines, of lines and of rows */

	/* Lines of text behind labels of so many columns. */
	struct report_line *lines, **last_line;
	unsigned label_width;

	struct report_row *rows, **last_row, *row; /* row: the last one */
	const struct report_histogram *histogram;
	const struct report_bars *bars;
	const struct report_range *range;
	const struct report_chart *chart;

	/* Lists; elements behind their counts have no meaning. */
	size_t ngroups, nfacts, nparameters, nnotes, ncolumns, nquantiles;
	struct report_fact groups[8]; /* names and values of the group */
	struct report_fact facts[REPORT_FACTS_MAX];
	struct report_fact parameters[8];
	struct report_note notes[REPORT_NOTES_MAX];
	struct report_field columns[REPORT_COLUMNS_MAX];
	struct report_quantile quantiles[REPORT_QUANTILES_MAX];
};

/* ------------------------------------------------------------- reports */

struct report_options {
	int raw, utf8, zeros, density, log;
	int terminal, color;
	unsigned width; /* columns of a page of text */
	uint64_t top;   /* the most rows, 0: all */
};

/* A column of CSV: its name and its content. */
struct report_csv_column {
	const char *name;
	enum report_csv_cell {
		REPORT_CSV_TIME,
		REPORT_CSV_SUBJECT,
		REPORT_CSV_TYPE,
		REPORT_CSV_FIGURE,
		REPORT_CSV_LO,
		REPORT_CSV_HI,
		REPORT_CSV_ITEM,
		REPORT_CSV_VALUE,
		REPORT_CSV_GROUP
	} cell;
};

/* What a tool's outputs have of their own. */
struct report_tool {
	const char *title; /* of the page */
	const struct report_csv_column *csv;
	size_t ncsv;
	const char *csv_end;      /* of a line */
	const char *json_subject; /* the member that has a section's name */
	int json_time;            /* each object has the time first */
};

struct report_format {
	const char *name;
	unsigned is;     /* REPORT_TEXT and so on */
	size_t rows_max; /* shown unless options say so; 0: all */
	void (*begin)(struct report *r); /* before the first report */
	void (*open)(struct report *r);  /* each closes the section before it */
	void (*section)(struct report *r, const struct report_section *s);
	void (*close)(struct report *r);
	void (*end)(struct report *r); /* behind the last report */
	/* The height of a section, where all must be known first. */
	double (*measure)(struct report *r, const struct report_section *s);
};

extern const struct report_format report_as_text, report_as_csv, report_as_json,
    report_as_svg, report_as_arrow, report_as_html;

struct report {
	const struct report_format *format;
	const struct report_tool *tool;
	struct report_options options;
	tel_output *out;
	int time_known;
	uint64_t time;   /* of the snapshot */
	char **operands; /* what was read, for the title of a page */
	int noperands;

	/* of the report and its writers */
	struct report_section section;
	struct report_arena *arena;
	int failed; /* some of it is missing: out of memory */
	int begun;
	int measuring;
	double y, height;
	unsigned has;     /* SVG: what the page draws */
	tel_table *table; /* Arrow: the table, or NULL; its form */
	int footer, level;
	struct report_page *page; /* HTML, what it shows */
};

/* Writes a report: calls fill, which hands over the sections, once or twice. */
void report_write(struct report *r, void (*fill)(struct report *r, void *arg),
    void *arg);
/* Writes what a format holds back. */
void report_flush(struct report *r);
/* Ends the output, and frees what a report has; r->failed stays. */
void report_free(struct report *r);

/* Nonzero when the format is one of these outputs. */
int report_is(const struct report *r, unsigned outputs);
/* How many of n rows are shown. */
size_t report_rows(const struct report *r, size_t n);

/* Starts a section, empty except for its type and the outputs it is for. */
struct report_section *report_section(struct report *r, unsigned shown,
    const char *type);
/* Hands it over. */
void report_put(struct report *r);
/* Adds to the section. */
struct report_fact *report_fact(struct report *r,
    const struct report_field *field, struct report_value value);
/* A fact that is only for programs. */
void report_data(struct report *r, const char *name, struct report_value value);
/* A fact that is only for people. */
__attribute__((format(printf, 4, 5))) void report_say(struct report *r,
    unsigned shown, const char *label, const char *format, ...);
/*
 * A column of its table; all of them come before the first row.  Returns it,
 * for what else is to be set.
 */
struct report_field *report_column(struct report *r, const char *name,
    const char *label, enum report_notation notation, unsigned width);
void report_row(struct report *r, unsigned shown);
/* The next cell of the row. */
void report_cell(struct report *r, struct report_value value);
/* A section of one row, for programs: what it is of, and its figures. */
struct report_figure {
	const char *name;
	struct report_value value;
};
void report_record(struct report *r, unsigned shown, const char *type,
    struct report_figure item, const struct report_figure *figures, size_t n);
void report_note(struct report *r, unsigned shown, const char *name,
    const char *text);
/* A line of text; its further lines are indented as the first. */
__attribute__((format(printf, 3, 4))) void report_line(struct report *r,
    const char *label, const char *format, ...);

/* How many of all rows are shown, "5 of 6,458"; of the report, as text is. */
const char *report_part(struct report *r, size_t shown, size_t n);
/*
 * Text that is good until the section is handed over.
 * "" when out of memory; the report has then failed.
 */
__attribute__((format(printf, 2, 3))) const char *report_text(struct report *r,
    const char *format, ...);

/* ----------------------------------------------- what writers have in common */

/* A value as people see it; a string as it is. */
const char *report_show(struct report *r, const struct report_field *field,
    const struct report_value *v);
/* A key or a value of a group: digits alone, strings as they are. */
const char *report_key(struct report *r, const struct report_value *v);
/* The group as text, kind=Pool,pool=0x10; "" without one. */
const char *report_group(struct report *r, const struct report_section *s);
/* The title of a section; "" when it has none. */
const char *report_title(struct report *r, const struct report_section *s);
const char *report_field_label(const struct report_field *f);
int report_field_shown(const struct report *r, const struct report_field *f);
/* The sum of the bars that are not shown. */
tel_int128 report_bars_rest(struct report *r, const struct report_bars *bars);

/* Forgets the texts that were made since the mark. */
struct report_mark {
	struct report_arena *arena;
	size_t used;
};
struct report_mark report_mark(const struct report *r);
void report_release(struct report *r, struct report_mark mark);

#endif
