/* SPDX-License-Identifier: BSD-2-Clause */
/* telfilter's command line. */
#include "telfilter.h"

#include <string.h>
#include <sys/stat.h>

#include "common/message.h"
#include "common/number.h"

enum {
	OPTION_ANY = OPTION_OWN,
	OPTION_EVERY,
	OPTION_SAMPLE,
	OPTION_SEED,
	OPTION_BARE,
	OPTION_LIVE
};

/* The most events of context. */
#define CONTEXT_MAX ((uint64_t)1 << 20)

static const struct option_row own[] = {
	{ OPTION_HEADING, "Selection", NULL, NULL, 0 },
	{ 'a', "address", "ADDR",
	    "only with ADDR, or a block that has it; ADDR,+LEN, LO,HI",
	    OPTION_UNORDERED },
	{ 'l', "label", "GLOB", "only with an address whose label matches",
	    OPTION_UNORDERED },
	{ 'v', "invert", NULL, "select all other events", OPTION_UNORDERED },
	{ OPTION_EVERY, "every", "N", "of these events, every Nth", 0 },
	{ OPTION_SAMPLE, "sample", "P",
	    "of these events, a random share: 0.1 or 10%", 0 },
	{ 'A', "after", "N", "also N events after each of these", 0 },
	{ 'B', "before", "N", "also N events before each of these", 0 },
	{ 'C', "context", "N", "also N events before and after each of these",
	    0 },
	{ OPTION_SEED, "seed", "N", "seed of the random choice of --sample",
	    OPTION_RARE | OPTION_UNORDERED },

	{ OPTION_HEADING, "Input", NULL, NULL, 0 },
	{ OPTION_LIVE, "live", NULL,
	    "sort by time, without waiting for the end", OPTION_UNORDERED },

	{ OPTION_HEADING, "Output", NULL, NULL, 0 },
	{ OPTION_ANY, "any", NULL, "print nothing; status 0: found, 1: none",
	    0 },
	{ 'u', "unbuffered", NULL, "write each event at once",
	    OPTION_UNORDERED },
	{ OPTION_BARE, "bare", NULL, "omit the labels that the events need",
	    OPTION_RARE | OPTION_UNORDERED },
};

/* A part of the selection that only telfilter offers. */
static int
take_selection(struct telfilter *t, int id, const char *value)
{
	struct selection *s = &t->settings.select;
	char option[3] = { '-', (char)id, '\0' };
	tel_status st = TEL_OK;

	s->filtering = 1;
	if (id == 'v')
		tel_filter_set_invert(s->filter, 1);
	else if (id == 'a')
		st = tel_filter_add_addresses(s->filter, value);
	else
		st = tel_filter_add_label(s->filter, value);
	if (st == TEL_OK)
		return 1;
	selection_report_error(s, st, option);
	return 0;
}

static int
take_context(struct telfilter *t, int id, const char *value)
{
	char option[3] = { '-', (char)id, '\0' };
	uint64_t n;

	if (!number_option(option, "number of events", value, 0, CONTEXT_MAX,
	        &n))
		return 0;
	t->filtering.context = 1;
	if (id != 'A')
		t->filtering.before = n;
	if (id != 'B')
		t->filtering.after = n;
	return 1;
}

static int
telfilter_options_take(void *arg, int id, const char *value)
{
	struct telfilter *t = arg;

	switch (id) {
	case 'a':
	case 'l':
	case 'v': return take_selection(t, id, value);
	case 'A':
	case 'B':
	case 'C': return take_context(t, id, value);
	case OPTION_LIVE: t->settings.order = TEL_ORDER_LIVE; return 1;
	case 'u': t->settings.unbuffered = 1; return 1;
	case OPTION_ANY: t->filtering.any = 1; return 1;
	case OPTION_BARE: t->filtering.bare = 1; return 1;
	case OPTION_EVERY:
		return number_option("--every", "number of events", value, 1,
		    UINT64_MAX, &t->filtering.sample.every);
	case OPTION_SEED:
		return number_option("--seed", "number", value, 0, UINT64_MAX,
		    &t->filtering.sample.state);
	case OPTION_SAMPLE:
		if (sample_share(value, &t->filtering.sample.share))
			return 1;
		return message_fail(STATUS_USAGE, NULL,
		    "--sample: '%s': expected a number from 0 to 1, or a "
		    "percentage",
		    value);
	default: return 0;
	}
}

static const struct tool tool = { "telfilter", TOOL_TELFILTER, own,
	sizeof(own) / sizeof(own[0]),
	"as the input; or text, csv, json, arrow, sql, mpscnv, mpstxt, "
	"mps, mps:VERSION, inst, hpm, ets, tel or tel,lines",
	telfilter_options_take, "[file ...]",
	"Selects events of telemetry logs, and writes them in the same format.",
	{ "telfilter -w 'size >= 64k' run.log >large.log",
	    "telfilter -c -e PoolAlloc run.log" } };

/*
 * A trace that is a folder is filtered to one, which the writer makes: -o is
 * not a file then.
 */
static void
take_folder(struct settings *s)
{
	struct stat st;

	for (int i = 0; i < s->noperands && s->output != NULL; i++)
		if (stat(s->operands[i], &st) == 0 && S_ISDIR(st.st_mode)) {
			s->folder = s->output;
			s->output = NULL;
		}
}

int
telfilter_options(struct telfilter *t, int argc, char **argv)
{
	struct selection *s = &t->settings.select;

	memset(t, 0, sizeof(*t));
	t->filtering.settings = &t->settings;
	sample_begin(&t->filtering.sample);
	if (!settings_parse(&t->settings, &tool, t, argc, argv) ||
	    !operands_select(&t->settings) ||
	    (t->settings.format != NULL &&
	        !format_find(&t->filtering.format, t->settings.format,
	            TEL_PRINTER_WHOLE | TEL_PRINTER_FILE)))
		return 0;
	if (s->last > 0 && !sample_all(&t->filtering.sample))
		return message_fail(STATUS_USAGE, NULL,
		    "-n: the last events of a sample are not known; filter "
		    "once more to find them");
	t->settings.part =
	    selection_is_part(s) || !sample_all(&t->filtering.sample);
	t->settings.all_events = 1;
	t->settings.writes = t->filtering.format.shown == NULL &&
	    !t->settings.count_only && !t->filtering.any;
	s->whole = t->filtering.context;
	if (t->settings.writes && t->settings.format == NULL)
		take_folder(&t->settings);
	return 1;
}
