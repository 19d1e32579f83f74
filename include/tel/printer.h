/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tel/printer.h - part of libtel, see tel.h for the general rules.
 *
 * Printers: events as text, CSV, JSON, SQL and other output formats.
 */
#ifndef TEL_TEL_PRINTER_H
#define TEL_TEL_PRINTER_H

#include "tel/filter.h"
#include "tel/output.h"
#include "tel/reader.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tel_printer tel_printer;

/* How events are shown. */
typedef enum tel_format {
	TEL_FORMAT_TEXT,     /* one event a line; libtel reads it back */
	TEL_FORMAT_CSV,      /* RFC 4180 */
	TEL_FORMAT_JSON,     /* one object a line */
	TEL_FORMAT_SQL,      /* a script for sqlite3 */
	TEL_FORMAT_MPSCNV,   /* exactly as mpseventcnv prints */
	TEL_FORMAT_MPSTXT,   /* exactly as mpseventtxt prints */
	TEL_FORMAT_TRACERPT, /* CSV as Singularity's tracerpt prints */
	/*
	 * Ranges, instants and counters, of events in order of time: a range
	 * goes from a start to the end that its role names, or is an event
	 * with a field "duration" in ticks.
	 */
	TEL_FORMAT_PERFETTO, /* packets for Perfetto's viewer: binary */
	TEL_FORMAT_CHROME,   /* the same as trace events in JSON */
	TEL_FORMAT_FOLDED,   /* stacks of ranges, for flame graphs */
	TEL_FORMAT_SQLITE,   /* the database that a script of SQL makes */
	TEL_FORMAT_ARROW,    /* a table, as Apache Arrow's IPC format: binary */
	TEL_FORMAT_HTML,     /* the timeline as a page for a browser */
	/* a trace of the Common Trace Format, which is a folder */
	TEL_FORMAT_CTF, /* version 1.8 */
	TEL_FORMAT_CTF2 /* version 2 */
} tel_format;

/* What an output format can do, as bits. */
enum tel_printer_flag {
	TEL_PRINTER_FIELDS = 1,    /* selectable fields and time format */
	TEL_PRINTER_HEADER = 2,    /* may have a header, which can be omitted */
	TEL_PRINTER_COLUMNS = 4,   /* see tel_printer_set_columns() */
	TEL_PRINTER_COLOR = 8,     /* see TEL_PRINT_COLOR */
	TEL_PRINTER_BINARY = 16,   /* not for a terminal */
	TEL_PRINTER_TIMELINE = 32, /* needs events in order of time */
	TEL_PRINTER_BY_LOG = 64,   /* logs one after the other, not merged */
	TEL_PRINTER_WHOLE = 128,   /* meant for whole logs, not a selection */
	TEL_PRINTER_INDEX = 256,   /* see tel_printer_set_index() */
	TEL_PRINTER_FILE = 512,    /* see tel_printer_set_database() */
	TEL_PRINTER_WEIGHT = 1024, /* see tel_printer_set_weight() */
	/* see TEL_PRINT_FOOTER, TEL_PRINT_ZSTD and tel_printer_add_schema() */
	TEL_PRINTER_TABLE = 2048,
	TEL_PRINTER_PAGE = 4096,      /* see TEL_PRINT_MAX_SIZE */
	TEL_PRINTER_LOG_ORDER = 8192, /* events in the order of the log */
	TEL_PRINTER_WIDE = 16384      /* see TEL_PRINT_WIDE */
};

/*
 * The name of an output format, "json": i counts from 0, those of tel_format
 * first.  NULL past the last.
 */
TEL_SINCE_0_1 const char *tel_printer_format_name(unsigned i);
/* The enum tel_printer_flag bits of a format; -1: unknown name. */
TEL_SINCE_0_1 int tel_printer_format_flags(const char *name);

/* How an event's time is shown. */
typedef enum tel_time_form {
	TEL_TIME_TICKS,    /* the event's clock as it is */
	TEL_TIME_SECONDS,  /* seconds since the first event: 1.000000001 */
	TEL_TIME_NS,       /* nanoseconds since the first event */
	TEL_TIME_RELATIVE, /* ticks since the first event */
	TEL_TIME_DELTA,    /* ticks since the event shown before */
	TEL_TIME_ISO       /* ISO 8601, where the log knows the wall clock */
} tel_time_form;

/*
 * Makes a printer that writes to out, which must outlive it and stays the
 * caller's.  format: any tel_format.  NULL when out of memory or if there is no
 * such format.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_printer *tel_printer_new(tel_output *out,
    tel_format format);
/* Frees a printer; what it has printed is in the output. */
TEL_SINCE_0_1 void tel_printer_free(tel_printer *p);
/*
 * The setters come before the first event; afterwards they return
 * TEL_ESTATE and change nothing.
 */
/*
 * Another output format, by its name; before the other setters, which go by
 * what it can do.  TEL_OK, TEL_EINVAL (no such format), TEL_ESTATE.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_printer_set_format(tel_printer *p,
    const char *name);
/* Options of a printer, for tel_printer_set(). */
typedef enum tel_printer_option {
	TEL_PRINT_HEADER, /* print a header: the default */
	/* colour text, by ECMA-48 sequences; other formats ignore it */
	TEL_PRINT_COLOR,
	/* keep a terminal safe: formats that otherwise copy a string's bytes
	 * exactly escape them */
	TEL_PRINT_TERMINAL,
	/* with the format "arrow": write a file with a footer, which can be read
	 * in any order, instead of a stream */
	TEL_PRINT_FOOTER,
	/* how time is shown, a tel_time_form.  Seconds and nanoseconds are as
	 * exact as the synchronisation points read before the event is printed
	 * allow: see tel_window_new(). */
	TEL_PRINT_TIME,
	/*
	 * Render on so many threads, of which the caller's is one, and still
	 * write all output, in order: the formats text, CSV, JSON, mpscnv, mpstxt
	 * and tracerpt with times in ticks.  1, the default: no threads.
	 * A change of labels waits for the threads.  Of n, they hold up to 2n + 2
	 * batches of 64 KiB of events, and their output.  A failure to write may
	 * be reported some events late.
	 */
	TEL_PRINT_THREADS,
	/* with the format "arrow": compress the columns with zstd, 1 to 19 */
	TEL_PRINT_ZSTD,
	/* the most bytes of a page of the format "html", which holds all of a log
	 * as sums over time, and as many of its events as fit: TEL_PAGE_MIN at
	 * least, TEL_PAGE_SIZE unless set */
	TEL_PRINT_MAX_SIZE,
	/* nonzero: CSV has a column for each field of the types that
	 * tel_printer_add_schema() adds, at most TEL_WIDE_COLUMNS */
	TEL_PRINT_WIDE
} tel_printer_option;
#define TEL_WIDE_COLUMNS 1024
#define TEL_PAGE_MIN ((uint64_t)128 << 10)
#define TEL_PAGE_SIZE ((uint64_t)8 << 20)

/*
 * Sets an option: those before TEL_PRINT_TIME are on (value is nonzero) or off (0,
 * the default of all but TEL_PRINT_HEADER), the others are numbers.
 * TEL_OK, TEL_EINVAL (no such option, a value out of range, or another format),
 * TEL_ESTATE.
 */
TEL_SINCE_0_1 tel_status tel_printer_set(tel_printer *p,
    tel_printer_option option, int64_t value);
/*
 * Shows these fields only, in this order, for each event that has them.
 * names: separated by commas; copied.  For events without a field of that
 * name, it is an expression, except in tables.  For text, CSV, JSON and tables
 * only.  NULL, the default: all fields.
 * TEL_OK, TEL_EINVAL, TEL_ENOMEM, TEL_ESTATE.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_printer_set_fields(tel_printer *p,
    const char *names);
/* Nonzero when a name is an expression that uses it. */
TEL_SINCE_0_1 int tel_printer_uses(const tel_printer *p, tel_use use);
/*
 * In CSV and tables, one column for each field of the type called name instead
 * of columns for all fields; events of other types are left out.  Copied; NULL,
 * the default: none.
 * TEL_OK, TEL_ENOMEM, TEL_ESTATE.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_printer_set_columns(tel_printer *p,
    const char *name);
/*
 * Has a database make indexes on these columns, in each table that has them.
 * names: separated by commas; copied; NULL, the default: none.
 * TEL_OK, TEL_ENOMEM, TEL_ESTATE.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_printer_set_index(tel_printer *p,
    const char *names);
/*
 * The file of the database that the format "sqlite" writes, and adds to when
 * it is there; nothing goes to the printer's output.  path: copied; NULL,
 * the default: none.
 * TEL_OK, TEL_ENOMEM, TEL_ESTATE.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_printer_set_database(tel_printer *p,
    const char *path);
/*
 * With the format "html": functions that match an extended regular expression
 * of POSIX do not hold what they allocate, as malloc() and the others that are
 * known do not; their callers do.  expression: copied; NULL, the default: none.
 * TEL_OK, TEL_ENOMEM, TEL_ESTATE, TEL_EINVAL (it is not one).
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_printer_set_allocators(tel_printer *p,
    const char *expression);
/*
 * With the format "arrow": adds columns for the types of a schema, before the first
 * event; by default those of the first event's schema have columns.  With
 * TEL_PRINT_WIDE the same for CSV, which else has none.  Other formats ignore it.
 * filter: of types that it does not select no columns are added; bound to the
 *	schema; NULL: all types.
 * TEL_OK, TEL_ENOMEM, TEL_EINVAL (too many columns of CSV).
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_printer_add_schema(tel_printer *p,
    const tel_schema *schema, const tel_filter *filter);
/*
 * The next events are from another file, or from several merged files: text
 * repeats its header, and SQL adds a row to event_log.  Must be called whenever
 * events of another reader follow; it may be for the first.
 * size, changed: of the input file, in bytes and in seconds since 1970, for
 *	event_log; 0 and 0 if unknown.
 */
TEL_SINCE_0_1 void tel_printer_set_file(tel_printer *p, uint64_t size,
    int64_t changed);
/*
 * How much of all logs was found to be damaged so far: places, and bytes that
 * were skipped there, as TEL_COUNT_DAMAGED and TEL_COUNT_SKIPPED.  The page that
 * the format "html" ends with, or tel_printer_snapshot() writes, shows both;
 * where in time they are it knows of the events.  Other formats ignore it.
 */
TEL_SINCE_0_1 void tel_printer_set_damage(tel_printer *p, uint64_t places,
    uint64_t bytes);
/*
 * Prints an event; before the first one, and whenever another log starts, the
 * header.
 * Returns TEL_OK, TEL_EIO, TEL_ENOMEM (the output failed; it stays so),
 * TEL_EINVAL: this format cannot show the log (no wall clock is known, or an
 * MPS format and another log); nothing was printed, and tel_printer_error()
 * has the reason.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_printer_event(tel_printer *p,
    const tel_event *event);
/*
 * Writes all events so far to the output, and flushes that.
 * Returns TEL_OK, TEL_EIO, TEL_ENOMEM.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_printer_flush(tel_printer *p);

/*
 * Prints what ends the output, if anything; if there was no event, the output
 * for an empty log.  Does not flush the output.
 * Returns TEL_OK, TEL_EIO, TEL_ENOMEM, TEL_EINVAL (a folder of a trace), TEL_ESTATE
 * (the folder could not be made for an event).
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_printer_finish(tel_printer *p);
/*
 * Writes the page of the format "html" as it is now to another output, which
 * loads another one in so many seconds; 0: it loads none, and open ranges end.
 * The printer goes on.
 * Returns TEL_OK, TEL_EIO, TEL_ENOMEM, TEL_EINVAL (another format).
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_printer_snapshot(tel_printer *p,
    tel_output *out, unsigned seconds);
/* Why the last call returned TEL_EINVAL; good until the next call. */
TEL_SINCE_0_1 const char *tel_printer_error(const tel_printer *p);
/* Nonzero: the log has no field, or no column for an index, that was asked for. */
TEL_SINCE_0_1 int tel_printer_misnamed(const tel_printer *p);

/*
 * Writes a page of HTML that shows a report: "telstat -f html" and "telreplay
 * -f html" are made by it.  No printer is needed.
 * title: any bytes, of which the first 200 are shown.
 * json: n bytes of UTF-8, an object with "version": 1, "page": "report",
 *	"title", and "reports", an array of objects with "t" (a time in ns, or
 *	null) and "sections", an array of the objects of "telstat -f json".
 *	It is not checked.
 * Returns TEL_OK, TEL_EIO, TEL_ENOMEM, TEL_EINVAL (zlib, which compresses
 * the data of the page, is missing).
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_page_write(tel_output *out,
    const char *title, const char *json, size_t n);

#ifdef __cplusplus
}
#endif

#endif
