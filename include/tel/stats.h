/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tel/stats.h - part of libtel, see tel.h for the general rules.
 *
 * Statistics: tallies, histograms, magnitudes, growths and durations.
 */
#ifndef TEL_TEL_STATS_H
#define TEL_TEL_STATS_H

#ifndef TEL_EXPERIMENTAL
#error "tel/stats.h may still change: define TEL_EXPERIMENTAL"
#endif

#include "tel/filter.h"
#include "tel/output.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------ statistics */

/*
 * A set of statistics over one log or many:
 *
 *	s = tel_stats_new();
 *	if (tel_stats_add(s, "sizes=log2(size) if kind == Pool") != TEL_OK)
 *		... report tel_stats_error(s) ...
 *	... open a reader ...
 *	tel_stats_begin(s, r);
 *	while (tel_reader_next(r, &ev) == TEL_OK)
 *		tel_stats_event(s, ev);
 *	tel_stats_end(s, r);
 *	for (i = 0; i < tel_stats_count(s); i++)
 *		... look at tel_stats_get(s, i) ...
 *	tel_stats_free(s);
 *
 * In addition to the statistics that were added it has a report on the logs:
 * events and bytes by type, the span of time, damage, allocation.
 */
typedef struct tel_stats tel_stats;
/* One statistic of a set, or one of the groups of one. */
typedef struct tel_stat tel_stat;

/* Makes an empty set; NULL when out of memory. */
TEL_SINCE_EXPERIMENTAL TEL_MUST_USE tel_stats *tel_stats_new(void);
/* Frees a set and everything reached through it. */
TEL_SINCE_EXPERIMENTAL void tel_stats_free(tel_stats *s);

/*
 * The setters, tel_stats_add() among them, come before the first event;
 * afterwards they return TEL_ESTATE and change nothing.
 */

/*
 * Adds a statistic.
 *
 *	spec   = NAME "=" class [ "if" CONDITION ]
 *	class  = "mag(" value ")"          the value itself
 *	       | "magdelta(" value ")"     the sum of the values so far
 *	       | "growth(" value ")"       a sum that cannot fall
 *	       | "count(" [ value ] ")"    how many values, or events
 *	       | ( "sum" | "mean" | "min" | "max" | "var" ) "(" value ")"
 *	       | "hist(" value "," lo "," hi "," w [ "," weight ] ")"
 *	       | "split(" value "," lo "," w1 "," knee "," hi "," w2
 *	                  [ "," weight ] ")"
 *	       | "distinct(" value [ "," max ] ")"
 *	       | "top(" value "," n { "," SHOWN } ")"
 *	       | "tally(" value "," max [ "," weight ] ")"
 *	       | "log2(" value [ "," k [ "," weight ] ] ")"
 *	       | "loglin(" value "," factor "," low "," high "," steps
 *	                   [ "," weight ] ")"
 *	       | "quantiles(" value [ "," bits [ "," weight ] ] ")"
 *	       | pairs
 *	value  = EXPRESSION | pairs
 *	       | "real(" EXPRESSION [ "," decimals ] ")"
 *	pairs  = ( "dur" | "ticks" | "queue" ) "(" [ START [ "," END
 *	                       [ "," KEY [ ":" KEY ] [ "," MIDDLE ] ] ] ] ")"
 *	weight = EXPRESSION
 *
 * NAME consists of letters, digits and _ . - and is unique; EXPRESSION,
 * CONDITION, SHOWN and KEY are those of tel-filter(7); START, END and MIDDLE are names
 * of types; the other words are integers, optionally followed by k M G T
 * (1024s) or ns us ms s (nanoseconds).  A comma inside parentheses or quotes
 * belongs to the expression, and so does an "if" there.
 *
 * An event updates the statistic when the condition is true for it and value
 * and weight (1 where omitted) are not missing. A value is an integer; a double
 * is rounded down, but with real(), which counts in units of 10^-decimals (1 to
 * 9, 6 unless given), to the nearest multiple; then lo, hi, w and knee may have
 * as many decimals.  An expression with cpi is real by itself.  real() is not
 * for count, distinct, tally, log2 and loglin.  An invalid value (a string; a
 * number too large for the class; below 0 for growth and weight) is counted only
 * as TEL_NUMBER_INVALID.
 *
 * hist: buckets of w in [lo, hi); split: of w1 in [lo, knee) and of w2 in
 * [knee, hi).  The last bucket of a range is narrower where w does not divide
 * it.  log2: 2^k buckets (k 0 to 5, 0 unless given) in each power of two, 0 on
 * its own, and the same below 0.  loglin: in each [factor^m, factor^(m+1)), m
 * from low to high, buckets of factor^(m+1) / min(steps, factor^(m+1)).
 * quantiles: as log2 with 2^bits buckets, 1 to 9, 7 unless given: a quantile
 * is then off by less than 1 in 2^bits, and never above the largest value.
 * All edges are half open, and at most 65536 buckets are allowed.  tally: the
 * first max keys (1 to 2^24), integers or strings, have a bucket each; the
 * weight of others is counted in one number.  Where the value is label(FIELD),
 * events without a label have a key of their own, which is missing.
 * distinct: the number of distinct values, integers or strings: exact up to max
 * (0 to 2^24, 4096 unless given); beyond it is estimated by HyperLogLog, with a
 * standard error of 0.81 %.  Parts merge to what one set would have estimated.
 * top: the n (1 to 4096) largest values, see tel_stat_top(), each with the values
 * of up to TEL_SHOWN_MAX expressions for its event.
 *
 * dur: time from an event of type START to the next of END with an equal
 * KEY (the first one that of START, a second one that of END), in
 * nanoseconds; ticks: the same in the clock's ticks.  Without END the
 * type that ends START by its role, and without START all types that have
 * such a role; the KEY is then the one that the role names.  Of several open
 * ranges with the same key the latest ends first; queue: as dur, but the first
 * one does.  By itself, "pause=dur(...)"
 * is a summary trace: how many pairs, their total, shortest and longest.
 * MIDDLE events count as events of the range, but add no time.  Each type must be
 * one of a log that is read; in logs without it there are no such events.
 *
 * Returns TEL_OK; TEL_EINVAL or TEL_ELIMIT: tel_stats_error() has the
 * mistake in the text; TEL_ENOMEM; TEL_ESTATE.
 */
TEL_SINCE_EXPERIMENTAL TEL_MUST_USE tel_status tel_stats_add(tel_stats *s,
    const char *spec);
/*
 * Keeps a separate statistic for each group of events with equal values of
 * these expressions: up to 8, separated by commas; NULL for none.  A pair of
 * start and end belongs to the group of its start.  "Missing" is a value like
 * any other.  The expression "file" is the name of the log, as
 * tel_reader_open_...() got it; a field of this name is ".file".
 * Returns as tel_stats_add().
 */
TEL_SINCE_EXPERIMENTAL TEL_MUST_USE tel_status
tel_stats_set_groups(tel_stats *s, const char *expressions);
/* A moment at which the statistics are shown: see tel_stats_set_interval(). */
typedef struct tel_snapshot {
	uint64_t number;   /* which multiple of the interval: 1, 2, ... */
	uint64_t time;     /* since the first event, in ns or ticks */
	uint64_t interval; /* in the same unit */
	int ticks;         /* nonzero: the unit is ticks */
	uint64_t log;      /* which log, or merge of logs, it is of: from 0 */
} tel_snapshot;

/*
 * Called with a snapshot: the set then has the counts of the events before that
 * moment.  It must not change the set.
 * Returns TEL_OK, or what tel_stats_event() is to return.
 */
typedef tel_status tel_snapshot_fn(void *arg, tel_stats *s,
    const tel_snapshot *at);

/*
 * Calls fn(arg, ...) at each multiple of an interval of the log's own time
 * since its first event, and not at its end.  Events should come in order of
 * time; one that is out of order is counted on arrival.
 * interval: in nanoseconds or, with ticks nonzero, in ticks; 0 for none.
 *	Nanoseconds need the rate of the clock: as long as it is unknown there
 *	are no snapshots.
 * Of more than 10000 multiples between two events only the first and the
 * last make a snapshot.
 * With TEL_STATS_DELTAS, of logs one after the other, there is one more before
 * the first event of each further log, of what came since the last multiple in
 * the log before, whose interval is shorter.
 * Returns TEL_OK, TEL_ESTATE.
 */
TEL_SINCE_EXPERIMENTAL tel_status tel_stats_set_interval(tel_stats *s,
    uint64_t interval, int ticks, tel_snapshot_fn *fn, void *arg);
/* Options of a set of statistics, for tel_stats_set(). */
typedef enum tel_stats_option {
	/* reset all counts after each snapshot, so that the set has those of the
	 * interval: its own counts, least and largest.  Current values, keys and
	 * open ranges stay. */
	TEL_STATS_DELTAS,
	/* the default: follow blocks, which TEL_TOTAL_ALLOCS and the totals of
	 * blocks after it are counted by.  It takes most of the time of a log of
	 * allocations. */
	TEL_STATS_BLOCKS,
	/* load records of classes among the events of a log, as
	 * tel_stats_read_inst() loads those of an inst log: events of types with
	 * the names and fields of tel-inst(5), as libtel-emit writes them, and
	 * inst logs converted to .tel have them.  They are also counted as
	 * events; their classes are available in snapshots, and after
	 * tel_stats_end() was called for all logs. */
	TEL_STATS_CLASSES,
	/* read inst logs of newer versions as the newest known one, like
	 * TEL_READ_FORCE */
	TEL_STATS_FORCE,
	/* the most groups, 1 to 2^20; 4096 unless set.  Events of groups beyond
	 * these, and beyond the memory allowed, are counted in one more group:
	 * see tel_stat_overflow_group(). */
	TEL_STATS_MAX_GROUPS,
	/* the most ranges that are open at a time, in each statistic of pairs, 1
	 * to 2^24; 65536 unless set.  A start beyond these is counted as
	 * TEL_NUMBER_OVER_LIMIT and has no length. */
	TEL_STATS_MAX_OPEN,
	/* the most bytes that buckets, keys and groups take together; 2^30
	 * unless set.  Beyond these, keys are counted as overflow and groups in
	 * the overflow group. */
	TEL_STATS_MAX_MEMORY
} tel_stats_option;

/*
 * Sets an option: those before TEL_STATS_MAX_GROUPS are on (value is nonzero) or
 * off (0, the default of all but TEL_STATS_BLOCKS).
 * Returns TEL_OK, TEL_EINVAL (no such option, or its value is out of range),
 * TEL_ESTATE (an event was counted).
 */
TEL_SINCE_EXPERIMENTAL tel_status tel_stats_set(tel_stats *s,
    tel_stats_option option, int64_t value);

/*
 * Gives the time of the last event since the first of its log, in the unit of
 * the interval.
 * Returns 1, or 0 when it is unknown, no interval was set, or there were
 * several logs one after the other; with TEL_STATS_DELTAS, it is that of the last.
 */
TEL_SINCE_EXPERIMENTAL int tel_stats_elapsed(const tel_stats *s, uint64_t *out);
/*
 * Has fn(arg, ...) called with messages for the user about the inst logs that
 * tel_stats_read_inst() reads: warnings, and each invalid record; NULL for no
 * notices.
 */
TEL_SINCE_EXPERIMENTAL void tel_stats_set_notify(tel_stats *s,
    tel_notify_fn *fn, void *arg);
/*
 * Marks the counts as incomplete, as some of the input could not be read:
 * TEL_TOTAL_INCOMPLETE counts such sets, also after tel_stats_write_inst() and
 * tel_stats_read_inst().  May be called at any time; further calls have no
 * effect.
 */
TEL_SINCE_EXPERIMENTAL void tel_stats_set_incomplete(tel_stats *s);
/* Nonzero when what was set uses it. */
TEL_SINCE_EXPERIMENTAL int tel_stats_uses(const tel_stats *s, tel_use use);

/*
 * Starts the events of a reader, which is open.  Logs that are merged are all
 * started before the first event, and ended after the last; logs that come one
 * after the other are started and ended in turn.
 * Returns TEL_OK; TEL_EINVAL: the log does not have a name that was given,
 * see tel_stats_error(); TEL_ENOMEM.
 */
TEL_SINCE_EXPERIMENTAL TEL_MUST_USE tel_status tel_stats_begin(tel_stats *s,
    const tel_reader *r);
/*
 * Counts an event.
 * Returns TEL_OK; TEL_EINVAL: the log (a member of an archive, as the first
 * was checked before) does not have a name that was given; TEL_ENOMEM; what
 * a tel_snapshot_fn returned.
 */
TEL_SINCE_EXPERIMENTAL TEL_MUST_USE tel_status tel_stats_event(tel_stats *s,
    const tel_event *event);
/* Counts all events of a run.  Returns what tel_stats_event() does. */
TEL_SINCE_EXPERIMENTAL TEL_MUST_USE tel_status tel_stats_run(tel_stats *s,
    tel_run *run);
/*
 * Declares that all events of a reader go to the statistics as soon as they are
 * read, and to nothing else.  tel_reader_next() then may leave out events that
 * would only be counted, when the log has their number, and counts them here;
 * in others, fields that no statistic uses are zero.  To be called after
 * tel_stats_begin(), for a reader that is read directly, not through a window
 * or a merge.  s must not be freed before r is.
 */
TEL_SINCE_EXPERIMENTAL void tel_stats_attach(tel_stats *s, tel_reader *r);
/*
 * Ends the events of a reader, and adds its counts of damage.  Ranges that are
 * open stay open for ever once the last reader that was started has ended.
 * Must come before the reader, and a window or merge of it, is freed.
 * Returns TEL_OK, TEL_ENOMEM, TEL_ESTATE (no reader was started).
 */
TEL_SINCE_EXPERIMENTAL TEL_MUST_USE tel_status tel_stats_end(tel_stats *s,
    const tel_reader *r);
/*
 * Completes the results of the functions below, up to the last event.
 * tel_stats_end(), tel_stats_merge() and tel_stats_read_...() call it, and it
 * is called before each tel_snapshot_fn.
 * Returns TEL_OK, TEL_ENOMEM.
 */
TEL_SINCE_EXPERIMENTAL TEL_MUST_USE tel_status tel_stats_settle(tel_stats *s);

/*
 * What the last failure was, in words, printable ASCII without a line end;
 * "" when there was none.  Valid until the next call on the set.
 */
TEL_SINCE_EXPERIMENTAL const char *tel_stats_error(const tel_stats *s);
/*
 * Where in tel_stats_error_text(), in bytes from 1; 0 when there is no such
 * position.
 */
TEL_SINCE_EXPERIMENTAL unsigned tel_stats_error_column(const tel_stats *s);
/*
 * The text that failed, as passed to tel_stats_add() or tel_stats_set_groups();
 * NULL when the failure concerns neither.
 * Valid until the next call on the set.
 */
TEL_SINCE_EXPERIMENTAL const char *tel_stats_error_text(const tel_stats *s);

/* ---------------------------------------------------------------- report */

/* The totals over all logs. */
typedef enum tel_total {
	TEL_TOTAL_LOGS,     /* logs that had an event */
	TEL_TOTAL_EVENTS,   /* events counted */
	TEL_TOTAL_BYTES,    /* their bytes in the uncompressed logs */
	TEL_TOTAL_FIRST,    /* the earliest clock; known if there is an event */
	TEL_TOTAL_LAST,     /* the latest clock; known if there is an event */
	TEL_TOTAL_TICKS,    /* from the first to the last event of each log
	                     * (or of all that are merged), added up */
	TEL_TOTAL_NS,       /* the same in ns; known if all rates are */
	TEL_TOTAL_INPUT,    /* bytes of the files and pipes */
	TEL_TOTAL_DAMAGED,  /* places where the logs were damaged */
	TEL_TOTAL_SKIPPED,  /* bytes skipped there */
	TEL_TOTAL_REPAIRED, /* events whose size was corrected */
	TEL_TOTAL_UNKNOWN,  /* events of types that libtel does not know */
	TEL_TOTAL_LOST,     /* records lost before they reached a log, as
	                     * far as the log names it */
	TEL_TOTAL_CUT,      /* files of statistics without an end */
	TEL_TOTAL_INCOMPLETE, /* sets that tel_stats_set_incomplete() marked;
	                       * known if there is one */
	/* where types have the roles; known with an event of such a type */
	TEL_TOTAL_ALLOCS,      /* blocks allocated */
	TEL_TOTAL_ALLOC_BYTES, /* and their bytes */
	TEL_TOTAL_FREES,       /* of them, blocks freed */
	TEL_TOTAL_FREE_BYTES,  /* and their bytes */
	TEL_TOTAL_LIVE,        /* blocks live at the end: the difference, less
	                        * those whose pool was destroyed, or whose
	                        * address was allocated again */
	TEL_TOTAL_LIVE_BYTES,  /* and their bytes */
	/* known if not 0 */
	TEL_TOTAL_SAMPLES, /* allocations that stand for others, too: blocks
	                    * and bytes are estimates */
	TEL_TOTAL_STRAYS,  /* frees and reallocs of blocks that the log does not
	                    * allocate; they are in no other total */
	TEL_TOTAL_ENDED,   /* blocks that ended without being freed: their pool
	                    * was destroyed, or their address allocated again */
	TEL_TOTAL_ENDED_BYTES, /* and their bytes */
	TEL_TOTAL_INHERITED /* as TEL_TOTAL_STRAYS, which these are not among:
	                     * in another process than the first of its log,
	                     * which may have inherited the blocks by fork() */
} tel_total;
/*
 * A total.  out: set when it is known.
 * Returns 1 when it is known, 0 when unknown or not a total.
 */
TEL_SINCE_EXPERIMENTAL int tel_stats_total(const tel_stats *s, tel_total which,
    tel_int128 *out);

/* The source of logs. */
typedef struct tel_origin {
	const char *schema;  /* as tel_schema_name() */
	const char *version; /* as tel_schema_version() */
	const char *format;  /* as tel_reader_format() */
	uint64_t logs;       /* how many logs had its events */
	uint64_t events;
} tel_origin;
/*
 * How many different ones there are.  At most 256 are distinguished; the others
 * are one more, with the schema "...".
 */
TEL_SINCE_EXPERIMENTAL size_t tel_stats_origin_count(const tel_stats *s);
/*
 * Origin number i in order of occurrence.
 * out: set; its strings are valid until the set changes.
 * Returns 1, or 0 when i is out of range.
 */
TEL_SINCE_EXPERIMENTAL int tel_stats_origin(const tel_stats *s, size_t i,
    tel_origin *out);

/* What a pool allocated, in a log that records it. */
typedef struct tel_pool_use {
	const char *label; /* of its address, or "" */
	const char *kind;  /* what its type adds to that of others, or "" */
	uint64_t address;  /* 0: all pools after the first 4096 */
	uint64_t allocations;
	tel_int128 allocated_bytes;
	uint64_t live_blocks; /* now, as live_bytes */
	uint64_t live_bytes;
	uint64_t peak_bytes; /* the most that lived in it at once */
} tel_pool_use;
/*
 * Pool number i in order of occurrence.  Of pools one after the other at an
 * address, the last has its label.
 * out: set; its strings are valid until the set changes.
 * Returns 1, or 0 when i is out of range.
 */
TEL_SINCE_EXPERIMENTAL int tel_stats_pool(const tel_stats *s, size_t i,
    tel_pool_use *out);

/*
 * Entry i, from 0, of the metadata of the logs: each different pair of a key
 * and a value once, at most 256.
 * key, value: set to strings, valid until the set changes.
 * Returns 1, or 0 when there are no more.
 */
TEL_SINCE_EXPERIMENTAL int tel_stats_metadata(const tel_stats *s, size_t i,
    const char **key, const char **value);

/* The events of one type, or of one kind. */
typedef struct tel_part {
	const char *name; /* of the type; of the kind */
	const char *kind; /* of the type; of the kind the same as .name */
	uint32_t code;    /* of the type, in the log that came first */
	uint64_t events;
	uint64_t bytes;
} tel_part;
/* What the events of a part have in common. */
typedef enum tel_part_by {
	/* the type; those of equal name and kind are one.  At most 2^16 are
	 * distinguished; the others are one more, called "...". */
	TEL_PART_TYPE,
	/* the kind; at most 256 are distinguished, and the others "..." */
	TEL_PART_KIND
} tel_part_by;
/* How many types or kinds had events. */
TEL_SINCE_EXPERIMENTAL size_t tel_stats_part_count(const tel_stats *s,
    tel_part_by by);
/*
 * Type or kind number i, those with most events first and, where these are as
 * many, by name.
 * out: set; its strings are valid until the set changes.
 * Returns 1, or 0 when i is out of range.
 */
TEL_SINCE_EXPERIMENTAL int tel_stats_part(const tel_stats *s, tel_part_by by,
    size_t i, tel_part *out);

/* ------------------------------------------------------------- statistic */

/*
 * How many statistics there are.  With groups, that is each statistic times
 * the groups that updated it, those of one statistic in a row, in order of
 * occurrence, the overflow group last.  A statistic without groups exists even
 * when no event updated it.
 */
TEL_SINCE_EXPERIMENTAL size_t tel_stats_count(const tel_stats *s);
/* Nonzero when a statistic is defined, which with groups may have none. */
TEL_SINCE_EXPERIMENTAL int tel_stats_defined(const tel_stats *s);
/*
 * Statistic number i; NULL when i is out of range.  It, and everything reached
 * through it, is valid until the set changes.
 */
TEL_SINCE_EXPERIMENTAL const tel_stat *tel_stats_get(const tel_stats *s,
    size_t i);

/* The classes of statistics. */
typedef enum tel_class {
	TEL_CLASS_MAG,
	TEL_CLASS_GROWTH,
	TEL_CLASS_HIST,
	TEL_CLASS_SPLIT,
	TEL_CLASS_TALLY,
	TEL_CLASS_DUR,
	TEL_CLASS_LOG2,
	TEL_CLASS_LOGLIN,
	TEL_CLASS_QUANTILES,
	TEL_CLASS_RATIO,
	TEL_CLASS_MAGDELTA, /* as MAG, of the sum of the values so far */
	/* one number of the values each; COUNT: of the updates */
	TEL_CLASS_COUNT,
	TEL_CLASS_SUM,
	TEL_CLASS_MEAN,
	TEL_CLASS_MIN,
	TEL_CLASS_MAX,
	TEL_CLASS_VAR,
	TEL_CLASS_DISTINCT, /* how many values there were */
	TEL_CLASS_TOP       /* the largest values */
} tel_class;
/* Its name as it is in a spec, for example "hist"; static. */
TEL_SINCE_EXPERIMENTAL const char *tel_class_name(tel_class c);

/* The statistic's class. */
TEL_SINCE_EXPERIMENTAL tel_class tel_stat_class(const tel_stat *stat);
/*
 * The statistic's name: of a spec, or the path of a class of an inst stream,
 * its components joined by ':', which may contain any byte but NUL.
 */
TEL_SINCE_EXPERIMENTAL const char *tel_stat_name(const tel_stat *stat);
/*
 * The definition of a statistic, as in the spec after the name and '=':
 * "hist(size,0,64,8) if kind == Pool".  "" when unknown.
 */
TEL_SINCE_EXPERIMENTAL const char *tel_stat_definition(const tel_stat *stat);
/*
 * The unit of the values: "ns" and "ticks" for times, "bytes" for sizes, ""
 * when unknown.  That of a field is known from the first log that has one for it.
 */
TEL_SINCE_EXPERIMENTAL const char *tel_stat_unit(const tel_stat *stat);
/*
 * The decimals of the values: all numbers that are values (sums, edges of
 * buckets, quantiles, the parameters of hist and split) are in units of
 * 10^-decimals.  0 for integers.
 */
TEL_SINCE_EXPERIMENTAL unsigned tel_stat_decimals(const tel_stat *stat);
/*
 * The parameter number i of its class, from 0.
 * name: set to its name: lo, hi, w; lo, w1, knee, hi, w2; max (of tally and
 *	distinct); n; k; factor,
 *	low, high, steps; bits.  Static.
 * value: set to its value.
 * Returns 1, or 0 when i is out of range.
 */
TEL_SINCE_EXPERIMENTAL int tel_stat_parameter(const tel_stat *stat, unsigned i,
    const char **name, int64_t *value);

/* How many keys its group has: as many as there are expressions. */
TEL_SINCE_EXPERIMENTAL unsigned tel_stat_group_count(const tel_stat *stat);
/* The expression number i; NULL when i is out of range. */
TEL_SINCE_EXPERIMENTAL const char *tel_stat_group_name(const tel_stat *stat,
    unsigned i);
/* Its value in this group.  Returns 1, or 0 for no such key. */
TEL_SINCE_EXPERIMENTAL int tel_stat_group_value(const tel_stat *stat,
    unsigned i, tel_value *out);
/* Nonzero for the group of the events of all further groups. */
TEL_SINCE_EXPERIMENTAL int tel_stat_overflow_group(const tel_stat *stat);

/* The numbers of a statistic. */
typedef enum tel_number {
	TEL_NUMBER_UPDATES,  /* updates; of dur its events */
	TEL_NUMBER_WEIGHT,   /* the sum of weights (hist and the like, tally);
	                     * of ratio, of what the values are divided by */
	TEL_NUMBER_SUM,      /* of values times weights; the total of growth,
	                     * dur and ratio; of mag, of all values it had */
	TEL_NUMBER_LAST,     /* the value last set (mag: the current one) */
	TEL_NUMBER_MIN,      /* the least value (mag, growth, dur, quantiles) */
	TEL_NUMBER_MAX,      /* the largest */
	TEL_NUMBER_UNDER,    /* weight of values below the first bucket */
	TEL_NUMBER_OVER,     /* weight of values at the upper bound, or above */
	TEL_NUMBER_OUTSIDE,  /* both, where only that is known: then neither
	                     * of them is defined; tally: see OVERFLOW */
	TEL_NUMBER_KEYS,     /* keys of a tally */
	TEL_NUMBER_OVERFLOW, /* weight of keys that found no bucket */
	TEL_NUMBER_OVERFLOW_UPDATES, /* and how many updates it came in */
	TEL_NUMBER_INVALID,          /* values that the class cannot take */
	/* of pairs, whatever class their times go into */
	TEL_NUMBER_EVENTS,     /* events of starts, ends and middles */
	TEL_NUMBER_PAIRS,      /* starts that were ended */
	TEL_NUMBER_OPEN,       /* starts that were not */
	TEL_NUMBER_ORPHAN,     /* ends that had no start */
	TEL_NUMBER_NESTED,     /* starts while one of the same key was open */
	TEL_NUMBER_BACKWARD,   /* pairs whose end was before their start; they
	                      * have no length and are not among the PAIRS */
	TEL_NUMBER_UNTIMED,    /* the same for pairs of which the length is not
	                      * known, as the rate of the clock is not */
	TEL_NUMBER_OVER_LIMIT, /* starts beyond TEL_STATS_MAX_OPEN */
	TEL_NUMBER_LOST,       /* records lost on the way to the statistic */
	TEL_NUMBER_DISTINCT,   /* distinct values; not defined for an interval
	                      * that is the difference of two snapshots */
	TEL_NUMBER_ERROR       /* its standard error; 0 when it is exact */
} tel_number;
/*
 * A number of a statistic.  out: set when it is defined.
 * Returns 1 when it is defined; 0 when its class has no such number, or it
 * has no value (yet): LAST, MIN and MAX have none before the first update.
 */
TEL_SINCE_EXPERIMENTAL int tel_stat_number(const tel_stat *stat,
    tel_number which, tel_int128 *out);
/*
 * The variance of the values of a statistic with a sum, but a ratio: the mean
 * of the squares of their distances from the mean, in the square of the unit.
 * Each value counts as often as its weight.  Computed from an exact sum of
 * squares, and rounded at the end, so that parts merge exactly.
 * out: set when it is known; its square root is the standard deviation.
 * Returns 1; 0 when the class has none, there are no values, one of them had
 * more than 64 bits, or an inst stream did not have the squares.
 */
TEL_SINCE_EXPERIMENTAL int tel_stat_variance(const tel_stat *stat, double *out);
/*
 * Nonzero when some number of it was too large for its width (sums: 128
 * bits, counts: 64 bits) and wrapped round.
 */
TEL_SINCE_EXPERIMENTAL int tel_stat_wrapped(const tel_stat *stat);
/*
 * Nonzero when merging made it inexact: in a tally that had no room for a key,
 * itself or in one of its parts, and in groups one of which had no room.
 */
TEL_SINCE_EXPERIMENTAL int tel_stat_approximate(const tel_stat *stat);

/* A bucket holds the values from lo up to, but not including, hi. */
typedef struct tel_bucket {
	int64_t lo;
	int64_t hi;
	int open;       /* nonzero: it has no upper bound; ignore hi */
	unsigned range; /* which of the ranges it is in: 1 behind the knee */
	uint64_t count; /* the sum of weights */
} tel_bucket;
/*
 * How many buckets it has, including empty ones; 0 for classes without.  The
 * values outside of them are TEL_NUMBER_UNDER and TEL_NUMBER_OVER.
 */
TEL_SINCE_EXPERIMENTAL size_t tel_stat_bucket_count(const tel_stat *stat);
/*
 * Bucket number i, in rising order, without gaps.
 * Returns 1, or 0 when i is out of range.
 */
TEL_SINCE_EXPERIMENTAL int tel_stat_bucket(const tel_stat *stat, size_t i,
    tel_bucket *out);
/*
 * The first bucket that is not empty, from number i on; the count of buckets
 * when there is none.
 */
TEL_SINCE_EXPERIMENTAL size_t tel_stat_next_bucket(const tel_stat *stat,
    size_t i);

/* A quantile, as far as buckets tell it. */
typedef struct tel_quantile {
	enum {
		TEL_QUANTILE_AT_MOST, /* it is value, or below in its bucket */
		TEL_QUANTILE_BELOW,   /* below the first bucket, at value */
		TEL_QUANTILE_AT_LEAST /* value or above: past the last bucket */
	} is;
	int64_t value;
} tel_quantile;
/*
 * The value that a share of the weight does not exceed: of rank
 * ceil(share * weight).  Nothing is interpolated.
 * billionths: the share, 0 to 10^9: 500000000 is the median.
 * Returns 1; 0 when the statistic has no buckets or no weight, when where the
 * weight lies outside is not known, or when the share is over 1.
 */
TEL_SINCE_EXPERIMENTAL int tel_stat_quantile(const tel_stat *stat,
    uint32_t billionths, tel_quantile *out);

/* A key of a tally. */
typedef struct tel_key {
	tel_value value; /* a string is valid until the set changes */
	uint64_t count;  /* the sum of weights */
	uint64_t updates;
} tel_key;
/* The order of keys. */
typedef enum tel_key_order {
	TEL_KEYS_COUNT,    /* the largest count first, then by value */
	TEL_KEYS_COUNT_UP, /* the smallest count first, then by value */
	TEL_KEYS_VALUE,    /* by value: numbers in order, then strings */
	TEL_KEYS_FIRST     /* in order of occurrence */
} tel_key_order;
/*
 * Puts the keys of all tallies in an order; that of TEL_KEYS_FIRST is kept
 * in memory all the same.
 * Returns TEL_OK, TEL_EINVAL, TEL_ENOMEM.
 */
TEL_SINCE_EXPERIMENTAL TEL_MUST_USE tel_status tel_stats_sort_keys(tel_stats *s,
    tel_key_order order);
/* How many keys a tally has; 0 for other classes. */
TEL_SINCE_EXPERIMENTAL size_t tel_stat_key_count(const tel_stat *stat);
/*
 * Key number i in the order of the last tel_stats_sort_keys(); in order of
 * occurrence if that was not called since the set changed.
 * Returns 1, or 0 when i is out of range.
 */
TEL_SINCE_EXPERIMENTAL int tel_stat_key(const tel_stat *stat, size_t i,
    tel_key *out);

/* Documented limit: expressions whose values are shown beside the largest. */
#define TEL_SHOWN_MAX 8u
/* One of the largest values, and its event: of a pair, that of its end. */
typedef struct tel_top {
	tel_int128 value; /* in units of 10^-decimals */
	uint64_t clock;   /* as tel_event_clock() */
	uint64_t offset;  /* as tel_event_offset() */
	const char *log; /* its name; strings are valid until the set changes */
	/* the values of tel_stat_shown() for the event, some may be missing */
	const tel_value *shown;
	unsigned nshown;
} tel_top;
/*
 * Value number i of a TEL_CLASS_TOP, the largest first; of equal values those
 * with the lower clock, then with the first log by name, and the lower offset.
 * Returns 1, or 0 when i is out of range.
 */
TEL_SINCE_EXPERIMENTAL int tel_stat_top(const tel_stat *stat, size_t i,
    tel_top *out);
/*
 * Expression number i of those that a TEL_CLASS_TOP shows, valid as long as the
 * set; NULL when i is out of range.
 */
TEL_SINCE_EXPERIMENTAL const char *tel_stat_shown(const tel_stat *stat,
    unsigned i);

/* --------------------------------------------------------------- merging */

/*
 * Adds the counts of a later set to this one, as if it had counted the same
 * logs itself.  Statistics are merged when their names and groups are equal;
 * others are copied.  All is exact, except where tel_stat_approximate() is
 * nonzero.
 * from: not changed, and must be settled; its open ranges stay open for ever.
 * Returns TEL_OK; TEL_EINVAL: two of a name are defined differently, named by
 * tel_stats_error(), and into has those merged before; TEL_ENOMEM.
 */
TEL_SINCE_EXPERIMENTAL TEL_MUST_USE tel_status tel_stats_merge(tel_stats *into,
    const tel_stats *from);

/*
 * A set with the same statistics, groups and limits, and nothing counted, for a
 * thread that counts another part of the logs; tel_stats_join() adds it.  An
 * interval and a notify function are not copied.
 * share: the copy may use this part of the memory that the set may use: 8 for
 *	one eighth.
 * Returns NULL when out of memory, or when s has statistics of an inst stream.
 */
TEL_SINCE_EXPERIMENTAL TEL_MUST_USE tel_stats *
tel_stats_copy(const tel_stats *s, unsigned share);
/*
 * Adds the counts of a copy, so that the set is what it would be if it had
 * counted all itself, after what it has counted.
 * from: not changed.  Either it has ended all of its readers, and so has into;
 *	or each has one reader, which has not ended, and that of from has read
 *	the next piece of the same log: see tel_reader_join(), which comes first.
 * Returns TEL_OK; TEL_ELIMIT: a limit may make a difference, and nothing was
 * changed: the logs must be counted again by one set; TEL_ESTATE; TEL_ENOMEM.
 */
TEL_SINCE_EXPERIMENTAL TEL_MUST_USE tel_status tel_stats_join(tel_stats *into,
    const tel_stats *from);

/*
 * Writes the set as records of an inst stream, version 1.0.0: definitions of
 * the statistics, and a snapshot of them, see tel-inst(5).  Called again it
 * writes new definitions, and another snapshot, which replaces the previous one
 * for a reader.  Not with TEL_STATS_DELTAS.
 * last: nonzero to end the stream.
 * Returns TEL_OK, TEL_EIO, TEL_ENOMEM, TEL_ESTATE (deltas, or the stream was
 * ended).
 */
TEL_SINCE_EXPERIMENTAL TEL_MUST_USE tel_status
tel_stats_write_inst(tel_stats *s, tel_output *out, int last);

/* What tel_inst_probe() finds. */
typedef enum tel_inst_sort {
	TEL_INST_NONE,  /* not an inst stream */
	TEL_INST_LOG,   /* an inst log, see tel-inst(5) */
	TEL_INST_STATS, /* one that tel_stats_write_inst() wrote */
	TEL_INST_MORE   /* compressed: more bytes are needed */
} tel_inst_sort;

/*
 * Whether these first bytes of a file, 128 of them or the entire file, start an
 * inst stream.  They may be compressed, but not archived; then as many are
 * needed as decode to 128.
 */
TEL_SINCE_EXPERIMENTAL tel_inst_sort tel_inst_probe(const void *bytes,
    size_t size);
/*
 * Reads an inst stream to its end and merges it into the set, as
 * tel_stats_merge() does, session by session.  It may be compressed.
 * Its own statistics and updates are all merged, whatever tel_stats_add()
 * added.
 * name: its name in tel_stats_error().
 * Returns TEL_OK; TEL_EFORMAT: it is not an inst stream; TEL_EVERSION: its
 * major version is newer than libtel supports; TEL_EDAMAGED: what could be read
 * was merged, but lines of it were invalid, or it had no end (see
 * TEL_TOTAL_CUT): see tel_stats_error(); TEL_EINVAL as tel_stats_merge();
 * TEL_EIO (with errno set), TEL_ENOMEM.
 */
TEL_SINCE_EXPERIMENTAL TEL_MUST_USE tel_status tel_stats_read_inst(tel_stats *s,
    tel_read_fn *read, void *arg, const char *name);
/* The same from an open descriptor, which stays the caller's to close. */
TEL_SINCE_EXPERIMENTAL TEL_MUST_USE tel_status
tel_stats_read_inst_fd(tel_stats *s, int fd, const char *name);

#ifdef __cplusplus
}
#endif

#endif
