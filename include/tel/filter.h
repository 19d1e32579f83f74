/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tel/filter.h - part of libtel, see tel.h for the general rules.
 *
 * Filters, expressions, and the context of selected events.
 */
#ifndef TEL_TEL_FILTER_H
#define TEL_TEL_FILTER_H

#include "tel/reader.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- filter */

/*
 * A filter selects events. It is made once and serves any number of logs, whose
 * schemas may differ:
 *
 *	f = tel_filter_new();
 *	tel_filter_set_kinds(f, "Pool,Seg");
 *	tel_filter_set_expression(f, "size >= 64k && label ~ \"^heap\"");
 *	... open a reader ...
 *	if (tel_filter_bind(f, tel_reader_schema(r)) != TEL_OK)
 *		... report tel_filter_error(f) ...
 *	while (... tel_reader_next(r, &ev) ...)
 *		if (tel_filter_match(f, ev) > 0)
 *			...
 *	tel_filter_free(f);
 *
 * An event matches when it satisfies everything that was set; a filter with
 * nothing set matches every event.
 */
typedef struct tel_filter tel_filter;

/* Makes a filter that matches every event; NULL when out of memory. */
TEL_SINCE_0_1 TEL_MUST_USE tel_filter *tel_filter_new(void);
/* Frees a filter. */
TEL_SINCE_0_1 void tel_filter_free(tel_filter *f);

/*
 * A filter with the same settings, bound to no schema, for a log that another
 * thread reads.  NULL when out of memory.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_filter *tel_filter_copy(const tel_filter *f);

/*
 * The setters. Each replaces what it set before, and NULL removes it. They may
 * be called at any time; the schemas that the filter was bound to are then
 * bound again.  The text is copied.
 * Return TEL_OK; TEL_EINVAL: the text is invalid, and TEL_ELIMIT: it exceeds a
 * limit of tel-filter(7) - tel_filter_error() has the reason, and the previous
 * setting stays; TEL_ENOMEM.
 */

/* Events for which an expression is true: tel-filter(7). */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_filter_set_expression(tel_filter *f,
    const char *text);
/*
 * Events of these kinds: names in any case, separated by commas or blanks,
 * or a number whose bits are kind numbers, as MPS_TELEMETRY_CONTROL takes
 * them; "all"; with '^' before the list, of all kinds but these.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_filter_set_kinds(tel_filter *f,
    const char *text);
/*
 * Events of these types: names, globs ("Pool*") and numbers (0x17) of types,
 * separated by commas or blanks; with '^' before the list, of all but these.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_filter_set_types(tel_filter *f,
    const char *text);
/*
 * Events of a range of time, "FROM,TO", both included; either may be omitted.
 * 16 hexadecimal digits, or 0x.., are a clock of the events themselves; a
 * number with ns, us, ms, s, m or h is the time since the first event of the
 * log, which is known when the clock's rate is; a plain number is ticks since
 * the first event.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_filter_set_time(tel_filter *f,
    const char *text);
/* The same for events whose clock is from first to last, both included. */
TEL_SINCE_0_1 void tel_filter_set_clock(tel_filter *f, uint64_t first,
    uint64_t last);
/*
 * Adds a range of addresses: "ADDRESS", "ADDRESS,+LENGTH" in bytes, or
 * "FIRST,LAST", both included.  Events one of whose address or pointer fields
 * lies in any of the ranges, or which allocate or free a block, or a part of
 * one, with an address in any of them; NULL removes all ranges.  At most 1024.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_filter_add_addresses(tel_filter *f,
    const char *text);
/*
 * Adds a glob for labels: events with a field whose entire label matches any of
 * the globs; NULL removes all globs.  At most 1024.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_filter_add_label(tel_filter *f,
    const char *glob);
/*
 * Events from one on for which an expression is true, that one included; with
 * both, again and again, to one for which the other is true, that one included
 * as well.  With one expression only, the other end is that of the log.  In a
 * merge each log has its own range.  Other setters select among these events.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_filter_set_since(tel_filter *f,
    const char *text);
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_filter_set_until(tel_filter *f,
    const char *text);
/*
 * Adds a range, as of tel_filter_set_time(), for the log of a name, as a reader
 * was given it, and for its members: of a log with such ranges, events that are
 * in any of them.  Neither may be NULL.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_filter_add_log_time(tel_filter *f,
    const char *log, const char *text);
/* Matches exactly the events that would not match (nonzero). */
TEL_SINCE_0_1 void tel_filter_set_invert(tel_filter *f, int on);

/*
 * Binds the filter to a schema: checks that the kinds, types and fields that
 * were named exist in it, in one bound before, or in that of another log that is
 * open: of a member of its archive, or of a reader that shares types with its
 * own, see tel_reader_share().  Decides for each type what can be decided.
 * To be called at the start of a log: after the open call, and on TEL_LOG.  The
 * schema must live as long as events of it are matched.  After a schema is
 * freed, the next one must be bound by this call, as it may have the same
 * address.
 * Returns TEL_OK, TEL_EINVAL (tel_filter_error() has the unknown name),
 * TEL_ENOMEM.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_filter_bind(tel_filter *f,
    const tel_schema *schema);
/*
 * Whether an event matches. If the expression uses dt, every event read must be
 * passed. A schema that was not bound yet is bound now.
 * Returns 1, 0, or -1 when binding failed: see tel_filter_error().
 */
TEL_SINCE_0_1 TEL_MUST_USE int tel_filter_match(tel_filter *f,
    const tel_event *event);
/*
 * Whether events of a type, of the schema bound last, match: 1 when all do, 0
 * when none does, -1 when it depends on the event, or on earlier events, or
 * when no schema is bound.
 */
TEL_SINCE_0_1 int tel_filter_type(const tel_filter *f, const tel_type *type);
/*
 * Reports the programs that the filter has for the types of a schema, bound
 * before: a note (TEL_INFO) about log counts the types that need none, and one
 * for each test or value of the others has "TYPE: NUMBER: " and the operation,
 * and of a test, behind "?", where it goes on if it is true, and if it is not.
 */
TEL_SINCE_0_1 void tel_filter_explain(const tel_filter *f,
    const tel_schema *schema, const char *log, tel_notify_fn *fn, void *arg);
/* Nonzero when a condition uses it. */
TEL_SINCE_0_1 int tel_filter_uses(const tel_filter *f, tel_use use);
/*
 * Takes an event into the history of its log, of which start.x, duration, bytes,
 * allocates, frees and live of tel-filter(7) are.  A filter, an expression and
 * statistics that use them do so with each event that they are given; where one
 * of them is given some events only, each event is to be taken first, in order
 * of time.  Taking the event that was taken last does nothing.
 * Returns TEL_OK, or TEL_ENOMEM.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_event_remember(
    const tel_event *event);
/*
 * Which clocks the events that match may have, for tel_reader_set_range().
 * event: one of the log, for a range relative to the log's first event; NULL if
 *	none was read yet.
 * first, last: set, both included; the range may be too wide.
 * Returns 1, or 0 when any event may match, or all must be seen.
 */
TEL_SINCE_0_1 int tel_filter_clocks(const tel_filter *f, const tel_event *event,
    uint64_t *first, uint64_t *last);
/*
 * Lets a reader leave out events that do not match, where that saves reading
 * them: in a file of the native format whose summaries describe its events, as
 * with tel_reader_set_range().  Must be called before the first event is read;
 * f must live, unchanged, until the last one was read.  If it tests times, the
 * reader's events are neither merged with others nor sorted by time.
 * whole: nonzero if events that do not match are needed as well, for a writer:
 *	then all that define names, the time or the version are returned;
 *	otherwise names no longer in force, and synchronisation points, may be
 *	left out where a range of time was set.
 */
TEL_SINCE_0_1 void tel_filter_attach(tel_filter *f, tel_reader *r, int whole);

/*
 * What the last failure of a call on the filter was, in words, printable
 * ASCII without a line end; "" when there was none.  Good until the next
 * call on the filter.
 */
TEL_SINCE_0_1 const char *tel_filter_error(const tel_filter *f);
/*
 * Where in tel_filter_error_text(), in bytes from 1; 0 when there is no such
 * position.
 */
TEL_SINCE_0_1 unsigned tel_filter_error_column(const tel_filter *f);
/*
 * The text that failed, of those passed to the setters: the expression, the
 * list of kinds, and so on. NULL when the failure concerns none of them. Valid
 * until the next call on the filter.
 */
TEL_SINCE_0_1 const char *tel_filter_error_text(const tel_filter *f);

/* ------------------------------------------------------------ expression */

/*
 * An expression of tel-filter(7) that is evaluated to a value, instead of a
 * condition.
 */
typedef struct tel_expr tel_expr;

/*
 * The value of an expression for an event.  Its members stay as they are: what
 * does not fit into it gets a function of its own.
 */
typedef struct tel_value {
	int missing; /* nonzero: no value; ignore the rest */
	/*
	 * The data type of the value, and which member of .as holds it.  That
	 * of a field has the field's own data type.  Otherwise: TEL_STRING,
	 * TEL_DOUBLE, TEL_BOOLEAN (a condition: .u64 is 1 or 0), TEL_SIGNED
	 * (below 0) or TEL_UNSIGNED.
	 */
	tel_datatype datatype;
	union {
		uint64_t u64;       /* any other data type */
		int64_t i64;        /* TEL_SIGNED */
		double f64;         /* TEL_DOUBLE */
		const char *string; /* TEL_STRING: bytes without a NUL */
	} as;
	size_t length; /* of the string */
} tel_value;

/* Makes an expression, yet to be set; NULL when out of memory. */
TEL_SINCE_0_1 TEL_MUST_USE tel_expr *tel_expr_new(void);
/* Frees an expression. */
TEL_SINCE_0_1 void tel_expr_free(tel_expr *x);
/*
 * Sets the text, which is copied.
 * Returns TEL_OK; TEL_EINVAL, TEL_ELIMIT: tel_expr_error() has the reason, and
 * the previous text stays; TEL_ENOMEM.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_expr_set(tel_expr *x,
    const char *text);
/*
 * Binds it to a schema, as tel_filter_bind() does a filter.
 * Returns TEL_OK, TEL_EINVAL (see tel_expr_error()), TEL_ENOMEM, TEL_ESTATE
 * (no text was set).
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_expr_bind(tel_expr *x,
    const tel_schema *schema);
/*
 * Its value for an event.  A schema that was not bound yet is bound now.
 * out: set on TEL_OK; a string is valid as long as the event.
 * Returns TEL_OK, and as tel_expr_bind().
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_expr_eval(tel_expr *x,
    const tel_event *event, tel_value *out);
/* Nonzero when the expression uses it. */
TEL_SINCE_0_1 int tel_expr_uses(const tel_expr *x, tel_use use);
/* What the last failure was, as tel_filter_error(). */
TEL_SINCE_0_1 const char *tel_expr_error(const tel_expr *x);
/* Where in the text, in bytes from 1; 0 when there is no such position. */
TEL_SINCE_0_1 unsigned tel_expr_error_column(const tel_expr *x);

/*
 * Writes a value, of an expression or a key, into buffer, of size bytes:
 * integers in decimal, sets and addresses as 0x and hexadecimal digits,
 * booleans as true and false, doubles so that they read back, strings as
 * their bytes (not escaped: they may hold anything but NUL), and "-" for a
 * missing value.  What does not fit is cut off; a NUL ends it unless size is 0.
 * Returns how many bytes all of it takes, without the NUL.
 */
TEL_SINCE_0_1 size_t tel_value_text(const tel_value *v, char *buffer,
    size_t size);

/* --------------------------------------------------------------- context */

/*
 * A context finds the events before and after selected ones, as grep's -B and
 * -A do for lines. It is given every event, and returns every event in the same
 * order, as copies of those that it held.
 */
typedef struct tel_context tel_context;

/* The place of an event. */
typedef enum tel_place {
	TEL_PLACE_OUT, /* near no selected event */
	TEL_PLACE_IN,  /* selected, or near one that is */
	TEL_PLACE_GAP  /* the same, and some were left out before it */
} tel_place;

/*
 * Makes a context of so many events before and after.  NULL when out of memory.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_context *tel_context_new(size_t before,
    size_t after);
/*
 * Makes a context of no other events, which returns events in the order of the
 * log.  It is given all events of one reader, as TEL_ORDER_LIVE has them.  Those
 * of logs that were merged stay as they come, but where one log follows itself.
 * NULL when out of memory.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_context *tel_context_new_log_order(void);
/* Frees a context. */
TEL_SINCE_0_1 void tel_context_free(tel_context *c);
/*
 * Adds an event, selected (wanted is nonzero) or not.  It must stay unchanged
 * until tel_context_next() has returned TEL_END.
 * Returns TEL_OK, TEL_ENOMEM.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_context_event(tel_context *c,
    const tel_event *event, int wanted);
/*
 * Releases all held events; no more events of their reader follow.
 */
TEL_SINCE_0_1 void tel_context_finish(tel_context *c);
/*
 * The next event whose place is known.
 * event, place: set on TEL_OK; the event is valid until the next call of
 *	tel_context_event() or tel_context_free().
 * Returns TEL_OK; TEL_END: none for now.
 */
TEL_SINCE_0_1 TEL_MUST_USE tel_status tel_context_next(tel_context *c,
    const tel_event **event, tel_place *place);
/*
 * Nonzero when the next event is shown whether selected or not, or when events
 * are held that follow it in the log.
 */
TEL_SINCE_0_1 int tel_context_pending(const tel_context *c);

#ifdef __cplusplus
}
#endif

#endif
