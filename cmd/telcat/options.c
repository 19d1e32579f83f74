/* SPDX-License-Identifier: BSD-2-Clause */
/* telcat's command line. */
#include "telcat.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include "common/message.h"
#include "common/number.h"

enum {
	OPTION_LIVE = OPTION_OWN,
	OPTION_TYPES,
	OPTION_SPLIT,
	OPTION_INDEX,
	OPTION_WEIGHT,
	OPTION_MAX_SIZE,
	OPTION_HOLDER,
	OPTION_CSV
};

/* No browser opens a larger page. */
#define PAGE_MAX ((uint64_t)1 << 30)

/* Seconds from one page to the next, and the most of them. */
#define LIVE_SECONDS 2
#define LIVE_MAX 86400

static const struct option_row own[] = {
	{ OPTION_HEADING, "Input", NULL, NULL, 0 },
	{ OPTION_LIVE, "live", "[=SECONDS]",
	    "sort by time, without waiting for the end", 0 },

	{ OPTION_HEADING, "Output", NULL, NULL, 0 },
	{ 'F', "fields", "FIELDS",
	    "only these fields, or expressions: pool,duration", 0 },
	{ 'H', "no-header", NULL, "omit the header", 0 },
	{ OPTION_CSV, "csv", "SHAPE",
	    "-f csv: wide has a column for each field", 0 },
	{ OPTION_TYPES, "types", NULL, "list event types, not events", 0 },
	{ OPTION_SPLIT, "split", "BY", "several files: by 64M, 10s or a field",
	    OPTION_RARE },
	{ OPTION_INDEX, "index", "COLUMNS",
	    "with -f sql or sqlite: index these columns", OPTION_RARE },
	{ OPTION_WEIGHT, "weight", "KEY",
	    "weight of -f folded: allocated, peak, leaked or count",
	    OPTION_RARE },
	{ OPTION_MAX_SIZE, "max-size", "SIZE",
	    "with -f html: at most SIZE bytes: 8M", OPTION_RARE },
	{ OPTION_HOLDER, "holder", "REGEX",
	    "with -f html: callers hold what such functions allocate",
	    OPTION_RARE },
};

/* Nonzero when --holder is an expression, else after a message. */
static int
check_expression(const char *text)
{
	regex_t regex;
	char why[128];
	const int error = regcomp(&regex, text, REG_EXTENDED | REG_NOSUB);

	if (error == 0) {
		regfree(&regex);
		return 1;
	}
	(void)regerror(error, &regex, why, sizeof(why));
	return message_fail(STATUS_USAGE, NULL, "--holder: %s", why);
}

static int
telcat_options_take(void *arg, int id, const char *value)
{
	static const char *const weights[] = { "allocated", "peak", "leaked",
		"count", NULL };
	static const char *const shapes[] = { "wide", NULL };
	struct telcat *t = arg;
	uint64_t n;

	switch (id) {
	case OPTION_LIVE:
		t->settings.order = TEL_ORDER_LIVE;
		t->live = 1;
		if (value == NULL)
			return 1;
		if (!number_option("--live", "number of seconds", value, 1,
		        LIVE_MAX, &n))
			return 0;
		t->seconds = (unsigned)n;
		return 1;
	case 'F':
		if (options_join(&t->fields, "", ",", value, ""))
			return 1;
		return message_no_memory();
	case 'H': t->no_header = 1; return 1;
	case OPTION_TYPES:
		t->types = 1;
		t->settings.no_input = 1;
		return 1;
	case OPTION_CSV:
		t->settings.format = "csv";
		t->wide = options_word("--csv", value, shapes) >= 0;
		return t->wide;
	case OPTION_SPLIT: t->split = value; return 1;
	case OPTION_INDEX:
		if (options_join(&t->index, "", ",", value, ""))
			return 1;
		return message_no_memory();
	case OPTION_WEIGHT:
		t->weighted = options_word("--weight", value, weights) >= 0 &&
		    tel_heap_find_weight(value, &t->weight);
		return t->weighted;
	case OPTION_MAX_SIZE:
		return number_option("--max-size", "size", value, TEL_PAGE_MIN,
		    PAGE_MAX, &t->max_size);
	case OPTION_HOLDER:
		return check_expression(value) &&
		    (options_join(&t->allocators, "(", "|", value, ")") ||
		        message_no_memory());
	default: return 0;
	}
}

static const struct tool tool = { "telcat", TOOL_TELCAT, own,
	sizeof(own) / sizeof(own[0]),
	"text, csv, json, arrow, sql, sqlite, mpscnv, mpstxt, tracerpt, "
	"perfetto, chrome, folded, html, mps, mps:VERSION, inst, hpm, ets, "
	"tel or tel,lines",
	telcat_options_take, "[file ...]",
	"Prints the events of telemetry logs as text, tables, timelines or "
	"other logs.",
	{ "telcat -e 'Pool*' -f csv run.log.zst >pools.csv",
	    "program-that-logs | telcat -u -k Trace" } };

/* -c prints a number, whatever the format is. */
static int
telcat_options_check_count(const struct telcat *t)
{
	if (!t->types && t->split == NULL)
		return 1;
	return message_fail(STATUS_USAGE, NULL, "-c cannot be combined with %s",
	    t->types ? "--types" : "--split");
}

/* --csv=wide has the columns of all types, which are known at the start. */
static int
check_wide(struct telcat *t)
{
	const char *option = NULL;

	t->wide &= (t->format.flags & TEL_PRINTER_WIDE) != 0 ||
	    !settings_is_preferred(&t->settings, OPTION_CSV);
	if (!t->wide)
		return 1;
	if ((t->format.flags & TEL_PRINTER_WIDE) == 0)
		option = "another -f";
	else if (t->fields != NULL)
		option = "-F";
	else if (t->types)
		option = "--types";
	else if (t->split != NULL)
		option = "--split";
	if (option == NULL)
		return 1;
	return message_fail(STATUS_USAGE, NULL,
	    "--csv=wide cannot be combined with %s", option);
}

/* Takes back an option that the user only prefers. */
static void
drop_option(struct telcat *t, int id)
{
	switch (id) {
	case OPTION_INDEX:
		free(t->index);
		t->index = NULL;
		break;
	case OPTION_MAX_SIZE: t->max_size = 0; break;
	case OPTION_HOLDER:
		free(t->allocators);
		t->allocators = NULL;
		break;
	case OPTION_WEIGHT: t->weighted = 0; break;
	case 'z': t->settings.compress = 0; break;
	case OPTION_TYPES: t->types = t->settings.no_input = 0; break;
	case 'H': t->no_header = 0; break;
	case 'T':
		t->settings.time_given = 0;
		t->settings.time = TEL_TIME_TICKS;
		break;
	default: free(t->fields); t->fields = NULL;
	}
}

/*
 * Refuses options that the format has no place for, or takes back those of the
 * configuration.
 */
static int
check_format(struct telcat *t, const char *name)
{
	const unsigned flags = t->format.flags;
	const int table = (flags & TEL_PRINTER_TABLE) != 0,
	          fields = (flags & TEL_PRINTER_FIELDS) != 0,
	          native = t->settings.noperands == 0 && format_native(name);
	const struct {
		int id;
		const char *option;
		int given;
		int fits;
	} rows[] = {
		{ OPTION_INDEX, "--index", t->index != NULL,
		    (flags & TEL_PRINTER_INDEX) != 0 },
		{ OPTION_MAX_SIZE, "--max-size", t->max_size != 0,
		    (flags & TEL_PRINTER_PAGE) != 0 },
		{ OPTION_HOLDER, "--holder", t->allocators != NULL,
		    (flags & TEL_PRINTER_PAGE) != 0 },
		{ OPTION_WEIGHT, "--weight", t->weighted,
		    (flags & TEL_PRINTER_WEIGHT) != 0 },
		{ 'z', "-z", t->settings.compress != 0,
		    (flags & TEL_PRINTER_FILE) == 0 },
		{ 'T', "-T",
		    t->settings.time_given &&
		        t->settings.time != TEL_TIME_TICKS,
		    fields },
		{ 'F', "-F", t->fields != NULL, fields },
		{ OPTION_TYPES, "--types", t->types,
		    !table && (fields || native) },
		{ 'H', "-H", t->no_header,
		    !table && (fields || (flags & TEL_PRINTER_HEADER) != 0) },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!rows[i].given || rows[i].fits)
			continue;
		if (!settings_is_preferred(&t->settings, rows[i].id))
			return message_fail(STATUS_USAGE, NULL,
			    "%s cannot be combined with -f %s", rows[i].option,
			    name);
		drop_option(t, rows[i].id);
	}
	return 1;
}

/* A page of a log that grows replaces the one before. */
static int
take_live(struct telcat *t)
{
	if (t->seconds != 0 && (t->format.flags & TEL_PRINTER_PAGE) == 0)
		return message_fail(STATUS_USAGE, NULL,
		    "--live=SECONDS needs -f html and -o FILE");
	if (!t->live || (t->format.flags & TEL_PRINTER_PAGE) == 0)
		return 1;
	if (t->settings.output == NULL) {
		if (t->seconds == 0)
			return 1;
		return message_fail(STATUS_USAGE, NULL,
		    "--live=SECONDS needs -f html and -o FILE");
	}
	if (t->seconds == 0)
		t->seconds = LIVE_SECONDS;
	t->settings.replace = 1;
	return 1;
}

/* A database is opened by the printer, not as the output. */
static int
take_database(struct telcat *t)
{
	if ((t->format.flags & TEL_PRINTER_FILE) == 0)
		return 1;
	t->database = t->settings.output;
	t->settings.output = NULL;
	if (t->database != NULL)
		return 1;
	return message_fail(STATUS_USAGE, NULL, "-f %s needs -o FILE",
	    t->settings.format);
}

int
telcat_options(struct telcat *t, int argc, char **argv)
{
	memset(t, 0, sizeof(*t));
	if (!settings_parse(&t->settings, &tool, t, argc, argv) ||
	    !operands_select(&t->settings))
		return 0;
	if (t->settings.count_only)
		return telcat_options_check_count(t);
	const char *name = t->settings.format;
	if (name == NULL)
		name = tel_printer_format_name(0);
	if (!format_find(&t->format, name, 0) || !check_wide(t) ||
	    !check_format(t, name) || !take_database(t) || !take_live(t))
		return 0;
	/* the columns of a table are compressed, not the output */
	if ((t->format.flags & TEL_PRINTER_TABLE) != 0) {
		t->level = t->settings.compress;
		t->settings.compress = 0;
	}
	/* types are counted by log */
	if ((t->format.flags & TEL_PRINTER_BY_LOG) != 0 || t->types)
		t->settings.no_merge = 1;
	if ((t->format.flags & TEL_PRINTER_PAGE) != 0) {
		/* a page takes events that are late, and logs of any length */
		if (t->settings.order == TEL_ORDER_LIVE)
			t->settings.order = TEL_ORDER_LOG;
	} else if ((t->format.flags & TEL_PRINTER_TIMELINE) != 0 &&
	    t->settings.order == TEL_ORDER_LOG) {
		t->settings.order = TEL_ORDER_TIME;
	}
	/* The writer must see unselected events: they define names and the clock. */
	t->settings.all_events = t->format.shown == NULL;
	t->settings.writes = t->format.shown == NULL;
	t->settings.part = selection_is_part(&t->settings.select);
	if (t->split == NULL)
		return 1;
	/* each file has what its events need, from the reader */
	t->settings.all_events = t->settings.writes = 0;
	return telcat_split_check(t);
}
