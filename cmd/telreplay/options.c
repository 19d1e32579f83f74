/* SPDX-License-Identifier: BSD-2-Clause */
/* telreplay's command line. */
#include "telreplay/telreplay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "common/message.h"
#include "common/number.h"
#include "report/export.h"
#include "report/show.h"

enum {
	OPTION_RUNS = OPTION_OWN,
	OPTION_ORDER,
	OPTION_WINDOW,
	OPTION_THREADS,
	OPTION_PACE,
	OPTION_REPEAT,
	OPTION_TOUCH,
	OPTION_THINK,
	OPTION_VERIFY,
	OPTION_SAMPLE,
	OPTION_TIMEOUT,
	OPTION_IDLE,
	OPTION_MAX_LIVE,
	OPTION_DRY_RUN,
	OPTION_CLASSES,
	OPTION_DETAILS,
	OPTION_PROGRAM
};

/* The bounds of the compiler and the loop. */
#define LIVE_MAX ((uint64_t)1 << 31)
#define WINDOW_MAX ((uint64_t)1 << 40)
#define REPEAT_MAX ((uint64_t)1000000)
#define THINK_MAX 1000000000
#define SAMPLE_MAX ((uint64_t)1 << 20)

/* One operation in this many is timed. */
#define SAMPLE 512
/* How long memory is watched after the last event. */
#define IDLE ((uint64_t)100000000)
/* An allocator hangs if it makes no progress for this time. */
#define TIMEOUT ((uint64_t)60 * 1000000000)

static const struct option_row own[] = {
	{ OPTION_HEADING, "Replay", NULL, NULL, 0 },
	{ 'a', "allocators", "LIST",
	    "glibc, jemalloc, mimalloc, tcmalloc, bump, class, null or "
	    "./LIB.so",
	    0 },
	{ OPTION_DRY_RUN, "dry-run", NULL,
	    "report on the trace, run no allocator", 0 },
	{ OPTION_RUNS, "runs", "N|auto",
	    "run each allocator N times, or until they can be compared", 0 },
	{ OPTION_REPEAT, "repeat", "N", "replay the trace N times in each run",
	    OPTION_RARE },
	{ OPTION_ORDER, "order", "ORDER",
	    "order between threads: edges, total or none", 0 },
	{ OPTION_WINDOW, "window", "N|P%",
	    "how far threads run ahead: 2% of the live bytes", 0 },
	{ OPTION_THREADS, "threads", "N", "replay with at most N threads", 0 },
	{ OPTION_PACE, "pace", "[=FACTOR]", "run at the recorded times", 0 },
	{ OPTION_THINK, "think", "TIME", "compute for TIME between operations",
	    0 },
	{ OPTION_TOUCH, "touch", "WHAT",
	    "write to new blocks: none, first, page, all or N%", 0 },
	{ OPTION_VERIFY, "verify", NULL, "check the contents of blocks", 0 },
	{ OPTION_SAMPLE, "sample", "N", "time each Nth operation",
	    OPTION_RARE },
	{ OPTION_IDLE, "idle", "TIME",
	    "sample memory for TIME after the last event", OPTION_RARE },
	{ OPTION_TIMEOUT, "timeout", "TIME",
	    "kill a run without progress for TIME", OPTION_RARE },
	{ OPTION_MAX_LIVE, "max-live", "N", "at most N live blocks",
	    OPTION_RARE },

	{ OPTION_HEADING, "Output", NULL, NULL, 0 },
	{ 'o', "output", "FILE", "write the report to FILE", 0 },
	{ OPTION_PROGRAM, "program", "FILE", "write the compiled trace to FILE",
	    0 },
	{ OPTION_DETAILS, "details", "[=LIST]",
	    "all tables, or sizes, lifetimes, threads, classes, slack ...", 0 },
	{ OPTION_CLASSES, "classes", "LIST",
	    "bytes taken with size classes 16,32,48,...", OPTION_RARE },
};

/* An argument is not what it must be. */
static int
options_refuse(const char *option, const char *expected, const char *found)
{
	return message_fail(STATUS_USAGE, NULL, "%s: expected %s, found '%s'",
	    option, expected, found);
}

/* A length of time, or 0. */
static int
set_time(const char *option, const char *text, uint64_t *out)
{
	int64_t ns = 0;

	if ((strcmp(text, "0") != 0 && !number_time(text, &ns)) || ns < 0)
		return options_refuse(option, "a time, such as 100ms, or 0",
		    text);
	*out = (uint64_t)ns;
	return 1;
}

static int
set_order(struct telreplay *t, const char *text)
{
	/* by enum program_order */
	static const char *const words[] = { "edges", "total", "none", NULL };
	int i = options_word("--order", text, words);

	if (i < 0)
		return 0;
	t->compiler.order = (enum program_order)i;
	t->order_given = 1;
	return 1;
}

/* A share of the live bytes, or a number of operations. */
static int
set_window(struct telreplay *t, const char *text)
{
	uint64_t billionths = 0;

	t->window_given = 1;
	t->compiler.window_share = 0;
	t->compiler.window_operations = 0;
	if (strcmp(text, "none") == 0)
		return 1;
	if (strchr(text, '%') == NULL)
		return number_option("--window", "number of operations", text,
		    1, WINDOW_MAX, &t->compiler.window_operations);
	if (number_percent(text, &billionths) && billionths > 0) {
		t->compiler.window_share = (double)billionths / 1e9;
		return 1;
	}
	return options_refuse("--window",
	    "a number of operations, a percentage of the live bytes or 'none'",
	    text);
}

/* "page", "50%" or "page,free". */
static int
set_touch(struct telreplay *t, const char *text)
{
	/* by enum run_touch */
	static const char *const words[] = { "none", "first", "page", "all",
		NULL };
	uint64_t billionths = 0;
	size_t n = strcspn(text, ",");
	char what[16];

	t->run.touch_again = strcmp(text + n, ",free") == 0;
	if (text[n] != '\0' && !t->run.touch_again)
		return options_refuse("--touch", "'free' behind the comma",
		    text + n + 1);
	(void)snprintf(what, sizeof(what), "%.*s", (int)(n < 15 ? n : 15),
	    text);
	if (number_percent(what, &billionths)) {
		t->run.touch = RUN_TOUCH_SHARE;
		t->run.touch_share = (double)billionths / 1e9;
		return 1;
	}
	for (int i = 0; words[i] != NULL; i++)
		if (strcmp(what, words[i]) == 0) {
			t->run.touch = (enum run_touch)i;
			return 1;
		}
	return options_refuse("--touch",
	    "none, first, page, all or a share such as 25%", what);
}

/* A time before each operation, or the recorded ones. */
static int
set_think(struct telreplay *t, const char *text)
{
	int64_t ns = 0;

	t->run.think_log = strcmp(text, "log") == 0;
	if (!t->run.think_log && strcmp(text, "0") != 0 &&
	    (!number_time(text, &ns) || ns <= 0 || ns > THINK_MAX))
		return options_refuse("--think",
		    "a time up to 1s, as 100ns, or 'log'", text);
	t->run.think_ns = (double)ns;
	return 1;
}

/* A factor of the recorded speed. */
static int
set_pace(struct telreplay *t, const char *text)
{
	char *end;

	t->run.pace = 1;
	if (text == NULL)
		return 1;
	t->run.pace = strtod(text, &end);
	if (end != text && *end == '\0' && strpbrk(text, "xXnN") == NULL &&
	    t->run.pace >= 1e-6 && t->run.pace <= 1e6)
		return 1;
	return options_refuse("--pace", "a factor from 0.000001 to 1000000",
	    text);
}

static int
add_classes(struct telreplay *t, const char *text)
{
	if (t->nwhat_if < WHAT_IF_MAX)
		return what_if_parse(text, &t->what_if[t->nwhat_if++]);
	return message_fail(STATUS_USAGE, NULL,
	    "--classes: expected %d lists at most, found '%s' as well",
	    WHAT_IF_MAX, text);
}

/* Names of sections, separated by commas; NULL: all. */
static int
set_details(struct telreplay *t, const char *text)
{
	static const char *const words[] = { "sizes", "lifetimes", "threads",
		"classes", "slack", "time", "memory", "machine", "anomalies",
		NULL };
	char one[16];
	size_t n;

	if (text == NULL)
		t->details = DETAILS_ALL;
	for (; text != NULL; text = text[n] == ',' ? text + n + 1 : NULL) {
		n = strcspn(text, ",");
		(void)snprintf(one, sizeof(one), "%.*s", (int)(n < 15 ? n : 15),
		    text);
		int i = options_word("--details", one, words);
		if (i < 0)
			return 0;
		t->details |= 1u << i;
	}
	return 1;
}

static int
take_number(struct telreplay *t, int id, const char *value)
{
	uint64_t n = 0;
	int good;

	switch (id) {
	case OPTION_RUNS:
		if (strcmp(value, "auto") == 0) {
			t->runs = RUNS_AUTO;
			return 1;
		}
		return number_option("--runs", "number of runs", value, 1,
		    RUNS_MAX, &t->runs);
	case OPTION_THREADS:
		good = number_option("--threads", "number of threads", value, 1,
		    RUN_THREADS_MAX, &n);
		t->compiler.threads = (unsigned)n;
		t->threads_given = 1;
		return good;
	case OPTION_MAX_LIVE:
		return number_option("--max-live", "number of blocks", value, 1,
		    LIVE_MAX, &t->compiler.max_live);
	case OPTION_REPEAT:
		good = number_option("--repeat", "number of times", value, 1,
		    REPEAT_MAX, &n);
		t->run.repeat = (unsigned)n;
		return good;
	case OPTION_SAMPLE:
		good = number_option("--sample", "number of operations", value,
		    0, SAMPLE_MAX, &n);
		t->run.sample = (unsigned)n;
		return good;
	default: return 0;
	}
}

static int
telreplay_options_take(void *arg, int id, const char *value)
{
	struct telreplay *t = arg;

	switch (id) {
	case 'a': return allocators_add(&t->allocators, value);
	case OPTION_DRY_RUN: t->check = 1; return 1;
	case 'o':
		t->settings.output = strcmp(value, "-") == 0 ? NULL : value;
		return 1;
	case OPTION_PROGRAM: t->keep = value; return 1;
	case OPTION_DETAILS: return set_details(t, value);
	case OPTION_ORDER: return set_order(t, value);
	case OPTION_WINDOW: return set_window(t, value);
	case OPTION_PACE: return set_pace(t, value);
	case OPTION_TOUCH: return set_touch(t, value);
	case OPTION_THINK: return set_think(t, value);
	case OPTION_VERIFY: t->run.verify = 1; return 1;
	case OPTION_TIMEOUT:
		t->timeout_given = 1;
		return set_time("--timeout", value, &t->timeout);
	case OPTION_IDLE: return set_time("--idle", value, &t->idle);
	case OPTION_CLASSES: return add_classes(t, value);
	default: return take_number(t, id, value);
	}
}

static const struct tool tool = { "telreplay", TOOL_TELREPLAY, own,
	sizeof(own) / sizeof(own[0]),
	"text, csv, json, svg, html; as a trace: android, mtrace or rep",
	telreplay_options_take, "[file ...]",
	"Replays recorded allocations, and reports time and memory of each "
	"allocator.",
	{ "telreplay -a glibc,jemalloc,mimalloc trace.zst",
	    "telreplay --dry-run trace.zst" } };

static int
parse_format(struct telreplay *t)
{
	static const char *const formats[] = { "text", "csv", "json", "svg",
		"html", "android", "mtrace", "rep", NULL };
	const char *name = t->settings.format;

	t->format = show_format(name != NULL ? name : "text");
	/* before the replay, which may take long */
	if (t->format == &report_as_html && t->settings.output == NULL &&
	    isatty(STDOUT_FILENO)) {
		message_fail(STATUS_USAGE, NULL,
		    "refusing to write a page to a terminal; redirect it to a "
		    "file");
		return 0;
	}
	if (t->format != NULL)
		return 1;
	t->export = export_format(name);
	if (t->export == NULL) {
		(void)options_word("-f", name, formats);
		return 0;
	}
	if (t->check)
		return message_fail(STATUS_USAGE, NULL,
		    "--dry-run cannot be combined with -f %s", name);
	/* a trace is written in its recorded order */
	if (!t->order_given)
		t->compiler.order = ORDER_TOTAL;
	return 1;
}

/* -c prints a number, and writes no program. */
static int
check_count(const struct telreplay *t)
{
	if (!t->settings.count_only || t->keep == NULL)
		return 1;
	return message_fail(STATUS_USAGE, NULL,
	    "-c cannot be combined with --program");
}

/* --program names a file beside the report, which the runs can open. */
static int
check_program(const struct telreplay *t)
{
	struct stat kept;

	if (t->keep == NULL)
		return 1;
	if (strcmp(t->keep, "-") == 0 ||
	    (!t->check && stat(t->keep, &kept) == 0 && !S_ISREG(kept.st_mode)))
		return options_refuse("--program",
		    "a file, which the runs can open, or a pipe with --dry-run",
		    t->keep);
	if (output_is(t->keep, &t->settings))
		return message_fail(STATUS_USAGE, t->keep,
		    "--program: the report would overwrite the program");
	return 1;
}

int
telreplay_options(struct telreplay *t, int argc, char **argv)
{
	memset(t, 0, sizeof(*t));
	t->compiler = compiler_defaults;
	t->run.touch = RUN_TOUCH_PAGE;
	t->run.sample = SAMPLE;
	t->run.repeat = 1;
	t->timeout = TIMEOUT;
	t->idle = IDLE;
	if (!settings_parse(&t->settings, &tool, t, argc, argv) ||
	    !operands_select(&t->settings) || !check_count(t) ||
	    !parse_format(t) || !check_program(t) ||
	    !allocators_check(&t->allocators))
		return 0;
	t->compiler.strict = t->settings.strict;
	t->compiler.selected = !selection_all(&t->settings.select);
	if (t->run.pace > 0 && t->run.think_log)
		return message_fail(STATUS_USAGE, NULL,
		    "--think: with --pace, threads sleep as in the log");
	if (t->run.think_ns > 0 || t->run.think_log)
		t->run.think_rate = run_think_rate();
	/* a thread that waits for its recorded time does not hang */
	if (t->run.pace > 0 && !t->timeout_given)
		t->timeout = 0;
	if (t->allocators.n == 0 && !allocators_add(&t->allocators, "glibc"))
		return 0;
	return 1;
}
