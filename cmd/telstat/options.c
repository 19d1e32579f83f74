/* SPDX-License-Identifier: BSD-2-Clause */
/* telstat's command line. */
#include "show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/message.h"
#include "common/number.h"

enum {
	OPTION_DELTAS = OPTION_OWN,
	OPTION_LIVE,
	OPTION_REPORT,
	OPTION_TOP,
	OPTION_SORT,
	OPTION_RATE,
	OPTION_QUANTILES,
	OPTION_DENSITY,
	OPTION_ZEROS,
	OPTION_RAW,
	OPTION_UTF8,
	OPTION_WIDTH,
	OPTION_LOG,
	OPTION_PREFIX,
	OPTION_EACH,
	OPTION_MAX_GROUPS,
	OPTION_MAX_OPEN,
	OPTION_MAX_MEMORY,
	OPTION_SELF_TRACE,
	OPTION_STACKS,
	OPTION_BLOCKS,
	OPTION_MIN_AGE
};

/* Columns of a page. */
#define WIDTH_MIN 40
#define WIDTH_MAX 1000

/* The bounds that the setters of tel_stats have. */
#define GROUPS_MAX ((uint64_t)1 << 20)
#define OPEN_MAX ((uint64_t)1 << 24)

static const struct option_row own[] = {
	{ OPTION_HEADING, "Statistics", NULL, NULL, 0 },
	{ 's', "stat", "SPEC", "add a statistic: 'sizes=log2(size)' ...", 0 },
	{ OPTION_EACH, "each", "GLOBS",
	    "with -s '@=growth(@)': of all these fields", OPTION_RARE },
	{ 'g', "groups", "EXPRS", "statistics for each group: kind,pool", 0 },
	{ OPTION_STACKS, "stacks", "[=KEY]",
	    "allocations by stack: leaked, peak, allocated or count", 0 },
	{ OPTION_BLOCKS, "blocks", "EXPR",
	    "allocations by a key: size, 'label(thread)' ...", 0 },
	{ OPTION_MIN_AGE, "min-age", "TIME",
	    "of these, only blocks as old as this are leaked: 500ms",
	    OPTION_RARE },
	{ 'i', "interval", "TIME", "statistics at intervals of log time: 100ms",
	    0 },
	{ OPTION_DELTAS, "deltas", NULL,
	    "with -i: each interval by itself, not totals", 0 },
	{ OPTION_REPORT, "report", "[=types]",
	    "with -s: the report, too; types: the events of each type", 0 },
	{ OPTION_RATE, "rate", "[=UNIT]", "rates: per s, or per ms ...", 0 },
	{ OPTION_QUANTILES, "quantiles", "LIST", "quantiles: 0.5,0.9,0.99", 0 },
	{ OPTION_TOP, "top", "N", "the most frequent N types and keys", 0 },
	{ OPTION_SORT, "key-order", "ORDER",
	    "the order of keys: -count, count, key or first", OPTION_RARE },
	{ OPTION_MAX_GROUPS, "max-groups", "N", "at most N groups",
	    OPTION_RARE },
	{ OPTION_MAX_OPEN, "max-open", "N",
	    "at most N starts without their ends", OPTION_RARE },
	{ OPTION_MAX_MEMORY, "max-memory", "BYTES",
	    "at most BYTES of memory for statistics", OPTION_RARE },

	{ OPTION_HEADING, "Input", NULL, NULL, 0 },
	{ OPTION_AS, "as", "FORMAT", "read as: mps-1.118.0, ets, jfr, inst ...",
	    0 },
	{ OPTION_LIVE, "live", NULL,
	    "sort by time, without waiting for the end", 0 },

	{ OPTION_HEADING, "Output", NULL, NULL, 0 },
	{ OPTION_RAW, "raw", NULL, "plain numbers, without units", 0 },
	{ OPTION_ZEROS, "zeros", NULL, "show empty buckets, too", OPTION_RARE },
	{ OPTION_DENSITY, "density", NULL,
	    "bars of weight divided by bucket width", OPTION_RARE },
	{ OPTION_LOG, "log", NULL, "a logarithmic axis of values",
	    OPTION_RARE },
	{ OPTION_WIDTH, "width", "N", "use N columns", OPTION_RARE },
	{ OPTION_UTF8, "utf8", NULL, "draw bars with Unicode block characters",
	    OPTION_RARE },
	{ OPTION_PREFIX, "prefix", "NAME", "prefix of metric names: inst_",
	    OPTION_RARE },
	{ OPTION_COLOR, "color", "[=WHEN]", "auto, always or never", 0 },

	{ OPTION_HEADING, "General", NULL, NULL, 0 },
	{ OPTION_SELF_TRACE, "self-trace", "FILE",
	    "write a log of telstat's own work to FILE", OPTION_RARE },
};

void
telstat_report_error(const struct telstat *t, tel_status st, const char *option)
{
	(void)message_refused(st, option != NULL ? option : "",
	    tel_stats_error_text(t->stats), tel_stats_error_column(t->stats),
	    tel_stats_error(t->stats));
}

void
telstat_report_key_error(const struct telstat *t, tel_status st)
{
	(void)message_refused(st, "--blocks", t->key_text,
	    tel_expr_error_column(t->key), tel_expr_error(t->key));
}

static int
telstat_options_check(const struct telstat *t, tel_status st,
    const char *option)
{
	if (st == TEL_OK)
		return 1;
	telstat_report_error(t, st, option);
	return 0;
}

/* Ticks, or a time with its unit. */
static int
set_interval(struct telstat *t, const char *text)
{
	static const char unit[] = "ticks";
	size_t n = strlen(text), length = sizeof(unit) - 1;
	char number[32];
	uint64_t bare;
	int64_t ns;

	t->interval = 0;
	t->ticks = n > length && n - length < sizeof(number) &&
	    strcmp(text + n - length, unit) == 0;
	if (t->ticks) {
		memcpy(number, text, n - length);
		number[n - length] = '\0';
		if (!number_parse(number, &t->interval))
			t->interval = 0;
	} else if (number_parse(text, &bare)) {
		return message_fail(STATUS_USAGE, NULL,
		    "-i: '%s' has no unit; expected %sms, or %sticks of the "
		    "log's clock",
		    text, text, text);
	} else if (number_time(text, &ns) && ns >= 0) {
		t->interval = (uint64_t)ns;
	}
	if (t->interval > 0)
		return 1;
	return message_fail(STATUS_USAGE, NULL,
	    "-i: '%s': expected a time, such as 100ms, or a number of ticks, "
	    "such as 100ticks",
	    text);
}

/*
 * Reads a share from 0 to 1 with up to nine decimals, to the comma or the
 * end.  Returns what follows, NULL when it is invalid.
 */
static const char *
parse_share(const char *text, uint32_t *out)
{
	uint32_t value = 0, unit = 1000000000;
	const char *start = text;

	if (*text == '0' || *text == '1')
		value = (uint32_t)(*text++ - '0') * unit;
	if (*text == '.')
		for (text++; *text >= '0' && *text <= '9'; text++) {
			unit /= 10;
			value += unit * (uint32_t)(*text - '0');
		}
	if (text == start || value > 1000000000 ||
	    (*text != ',' && *text != '\0'))
		return NULL;
	*out = value;
	return text;
}

static int
set_quantiles(struct telstat *t, const char *text)
{
	const char *at = text;

	t->nquantiles = 0;
	while (at != NULL && t->nquantiles < QUANTILES_MAX) {
		at = parse_share(at, &t->quantiles[t->nquantiles++]);
		if (at != NULL && *at == '\0')
			return 1;
		if (at != NULL)
			at++;
	}
	return message_fail(STATUS_USAGE, NULL,
	    "--quantiles: '%s': expected a list of at most %d numbers from 0 "
	    "to 1",
	    text, QUANTILES_MAX);
}

static int
set_sort(struct telstat *t, const char *text)
{
	static const char *const words[] = { "-count", "count", "key", "first",
		NULL };
	static const tel_key_order orders[] = { TEL_KEYS_COUNT,
		TEL_KEYS_COUNT_UP, TEL_KEYS_VALUE, TEL_KEYS_FIRST };
	int i = options_word("--key-order", text, words);

	if (i >= 0)
		t->order = orders[i];
	return i >= 0;
}

static int
telstat_options_set_rate(struct telstat *t, const char *text)
{
	static const char *const words[] = { "s", "ms", NULL };
	int i = text == NULL ? 0 : options_word("--rate", text, words);

	t->rate = 1;
	if (i < 0)
		return 0;
	t->rate_per = words[i];
	t->rate_ns = i == 0 ? 1000000000 : 1000000;
	return 1;
}

static int
telstat_options_set_as(struct telstat *t, const char *text)
{
	t->as_inst = strcmp(text, "inst") == 0;
	return t->as_inst || settings_set_as(&t->settings, text);
}

/* Names of metrics begin with it, so it must be of their letters. */
static int
set_prefix(struct telstat *t, const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
	                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

	t->prefix = text;
	if (strlen(text) <= 64 && text[strspn(text, letters)] == '\0' &&
	    strchr("0123456789", text[0]) == NULL)
		return 1;
	return message_fail(STATUS_USAGE, NULL,
	    "--prefix: '%s': expected letters, digits and '_'", text);
}

/* Takes an option that is a limit. */
static int
take_limit(struct telstat *t, int id, const char *value)
{
	tel_stats_option limit = TEL_STATS_MAX_MEMORY;
	uint64_t n;
	int good;

	if (id == OPTION_MAX_GROUPS) {
		limit = TEL_STATS_MAX_GROUPS;
		good = number_option("--max-groups", "number of groups", value,
		    1, GROUPS_MAX, &n);
	} else if (id == OPTION_MAX_OPEN) {
		limit = TEL_STATS_MAX_OPEN;
		good = number_option("--max-open", "number of ranges", value, 1,
		    OPEN_MAX, &n);
	} else {
		good = number_option("--max-memory", "number of bytes", value,
		    0, SIZE_MAX / 2, &n);
	}
	return good &&
	    telstat_options_check(t, tel_stats_set(t->stats, limit, (int64_t)n),
	        NULL);
}

int
telstat_add_heap(struct telstat *t, int lines)
{
	if (t->heap == NULL && (t->heap = tel_heap_new()) == NULL)
		return message_no_memory();
	return telstat_options_check(t, tel_heap_set_lines(t->heap, lines),
	    "--stacks");
}

static int
set_stacks(struct telstat *t, const char *text)
{
	static const char *const words[] = { "leaked", "peak", "allocated",
		"count", NULL };

	t->weight = TEL_HEAP_LEAKED;
	t->weight_given = text != NULL;
	t->stacks = "--stacks";
	return (text == NULL ||
	           (options_word("--stacks", text, words) >= 0 &&
	               tel_heap_find_weight(text, &t->weight))) &&
	    telstat_add_heap(t, 1);
}

/* Adds up what was allocated by the value of an expression. */
static int
set_blocks(struct telstat *t, const char *text)
{
	/* --stacks=KEY may have set another one */
	if (t->stacks == NULL)
		t->weight = TEL_HEAP_LEAKED;
	t->stacks = "--blocks";
	if (!telstat_add_heap(t, 1))
		return 0;
	if (strcmp(text, "stack") == 0) {
		t->key = NULL;
		t->key_text = NULL;
		return tel_heap_set_key(t->heap, NULL) == TEL_OK;
	}
	t->key = tel_expr_new();
	if (t->key == NULL)
		return message_no_memory();
	tel_status st = tel_expr_set(t->key, text);
	t->key_text = text;
	if (st != TEL_OK)
		telstat_report_key_error(t, st);
	/* it is the heap's from now on, or freed with it */
	(void)tel_heap_set_key(t->heap, t->key);
	/* only the events of blocks are asked for it */
	if (st == TEL_OK && tel_expr_uses(t->key, TEL_USE_ORDER) &&
	    !tel_expr_uses(t->key, TEL_USE_HISTORY))
		return message_fail(STATUS_USAGE, NULL,
		    "--blocks: dt cannot be the key of blocks");
	return st == TEL_OK;
}

static int
set_min_age(struct telstat *t, const char *text)
{
	int64_t ns;

	if (number_time(text, &ns) && ns > 0) {
		t->min_age = (uint64_t)ns;
		return 1;
	}
	return message_fail(STATUS_USAGE, NULL,
	    "--min-age: '%s': expected a time, such as 500ms", text);
}

static int
set_report(struct telstat *t, const char *text)
{
	static const char *const words[] = { "types", NULL };

	if (text != NULL && options_word("--report", text, words) < 0)
		return 0;
	t->report = 1;
	t->types |= text != NULL;
	return 1;
}

static int
telstat_options_take(void *arg, int id, const char *value)
{
	struct telstat *t = arg;

	/* all of the first group but limits */
	for (const struct option_row *row = own + 1;
	     t->refused == NULL && row->id != OPTION_MAX_GROUPS; row++)
		if (row->id == id && !settings_is_preferred(&t->settings, id))
			t->refused = row;
	switch (id) {
	case 's':
		t->given = 1;
		if (each_spec(value))
			return each_take(t, value);
		return telstat_options_check(t, tel_stats_add(t->stats, value),
		    "-s");
	case OPTION_EACH:
		return options_join(&t->each, "", ",", value, "") ||
		    message_no_memory();
	case 'g':
		return options_join(&t->groups, "", ",", value, "") ?
		    telstat_options_check(t,
		        tel_stats_set_groups(t->stats, t->groups), "-g") :
		    message_no_memory();
	case OPTION_STACKS: return set_stacks(t, value);
	case OPTION_BLOCKS: return set_blocks(t, value);
	case OPTION_MIN_AGE: return set_min_age(t, value);
	case 'i': return set_interval(t, value);
	case OPTION_DELTAS: t->deltas = 1; return 1;
	case OPTION_LIVE: t->settings.order = TEL_ORDER_LIVE; return 1;
	case OPTION_REPORT: return set_report(t, value);
	case OPTION_TOP:
		return number_option("--top", "number of rows", value, 1,
		    UINT64_MAX, &t->top);
	case OPTION_SORT: return set_sort(t, value);
	case OPTION_RATE: return telstat_options_set_rate(t, value);
	case OPTION_QUANTILES: return set_quantiles(t, value);
	case OPTION_DENSITY: t->density = 1; return 1;
	case OPTION_ZEROS: t->zeros = 1; return 1;
	case OPTION_RAW: t->raw = 1; return 1;
	case OPTION_UTF8: t->utf8 = 1; return 1;
	case OPTION_WIDTH:
		return number_option("--width", "number of columns", value,
		    WIDTH_MIN, WIDTH_MAX, &t->width);
	case OPTION_LOG: t->log = 1; return 1;
	case OPTION_PREFIX: return set_prefix(t, value);
	case OPTION_SELF_TRACE: t->self_trace = value; return 1;
	case OPTION_COLOR: return settings_set_color(&t->settings, value);
	case OPTION_AS: return telstat_options_set_as(t, value);
	default: return take_limit(t, id, value);
	}
}

static const struct tool tool = { "telstat", TOOL_TELSTAT, own,
	sizeof(own) / sizeof(own[0]),
	"text, csv, json, arrow, openmetrics, prometheus, svg, html or inst",
	telstat_options_take,
	"[file ...], or: telstat diff [option ...] file file",
	"Counts the events of telemetry logs, and computes statistics of them.",
	{ "telstat run.log.zst",
	    "telstat -s 'sizes=log2(size) if name == \"PoolAlloc\"' "
	    "run.log" } };

static int
telstat_options_parse_format(struct telstat *t)
{
	const char *name = t->settings.format, *names[16];
	size_t n;

	for (n = 0; n < output_nformats && n < 15; n++)
		names[n] = output_formats[n].name;
	names[n] = NULL;
	int i = options_word("-f", name != NULL ? name : "text", names);
	if (i < 0)
		return 0;
	t->format = &output_formats[i];
	/* the columns of a table are compressed, not the output */
	if (strcmp(t->format->name, "arrow") == 0) {
		t->level = t->settings.compress;
		t->settings.compress = 0;
	}
	return 1;
}

/* -c prints a number, whatever the format is, and computes nothing. */
static int
telstat_options_check_count(const struct telstat *t)
{
	const struct option_row *row = t->refused;

	if (row == NULL)
		return 1;
	const char letter[] = { (char)row->id, '\0' };
	const int is_long = row->id >= OPTION_OWN;
	return message_fail(STATUS_USAGE, NULL,
	    "-c cannot be combined with -%s%s", is_long ? "-" : "",
	    is_long ? row->name : letter);
}

/* Options that do not go together. */
static int
check_options(const struct telstat *t)
{
	if (t->heap != NULL && t->format->report == NULL)
		message_fail(STATUS_USAGE, NULL,
		    "%s cannot be combined with -f %s", t->stacks,
		    t->format->name);
	else if (t->heap != NULL && t->groups != NULL)
		message_fail(STATUS_USAGE, NULL,
		    "%s cannot be combined with -g; --blocks=EXPR adds up "
		    "allocations by any key",
		    t->stacks);
	else if (t->min_age > 0 && t->heap == NULL)
		message_fail(STATUS_USAGE, NULL,
		    "--min-age requires --stacks or --blocks");
	else if (t->interval > 0 && t->format->snapshots == SHOWS_LAST &&
	    t->settings.output == NULL)
		message_fail(STATUS_USAGE, NULL,
		    "-i with -f %s requires -o FILE, which each interval "
		    "replaces",
		    t->format->name);
	else if ((t->each != NULL) != (t->neach_specs > 0))
		message_fail(STATUS_USAGE, NULL,
		    "--each requires a spec with '@' in its name, and vice "
		    "versa");
	else if (t->deltas && t->interval == 0)
		message_fail(STATUS_USAGE, NULL, "--deltas requires -i");
	else if (t->deltas &&
	    (t->format->parts || t->format->snapshots == SHOWS_LAST))
		message_fail(STATUS_USAGE, NULL,
		    "--deltas cannot be combined with -f %s", t->format->name);
	else
		return 1;
	return 0;
}

/* Groups without a statistic are counted, below the report of all. */
static int
count_groups(struct telstat *t)
{
	if (t->groups == NULL || t->given)
		return 1;
	t->given = 1;
	t->report = 1;
	return telstat_options_check(t,
	    tel_stats_add(t->stats, "events=count()"), "-g");
}

int
telstat_options(struct telstat *t, int argc, char **argv)
{
	memset(t, 0, sizeof(*t));
	t->prefix = "inst_";
	t->order = TEL_KEYS_COUNT;
	(void)telstat_options_set_rate(t, NULL);
	t->rate = 0;
	t->stats = tel_stats_new();
	if (t->stats == NULL)
		return message_no_memory();
	if (!settings_parse(&t->settings, &tool, t, argc, argv))
		return 0;
	if (t->settings.count_only)
		return telstat_options_check_count(t);
	if (!telstat_options_parse_format(t) || !check_options(t) ||
	    !count_groups(t))
		return 0;
	if (t->min_age > 0)
		(void)tel_heap_set_min_age(t->heap, t->min_age);
	t->settings.replace =
	    t->interval > 0 && t->format->snapshots == SHOWS_LAST;
	return 1;
}

void
telstat_free(struct telstat *t)
{
	tel_stats_free(t->stats);
	tel_heap_free(t->heap);
	runtime_free(t->runtime);
	free(t->groups);
	free(t->each);
	settings_free(&t->settings);
}
