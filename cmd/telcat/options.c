/* SPDX-License-Identifier: BSD-2-Clause */
/* telcat's command line. */
#include "telcat.h"

#include <string.h>
#include "common/message.h"
#include "common/number.h"
#include "common/target.h"

enum { OPTION_LIVE = OPTION_OWN, OPTION_TYPES, OPTION_MAX_LABELS };

/* The bound that tel_reader_set_max_labels() has. */
#define LABELS_MAX ((uint64_t)1 << 30)

static const struct option_row own[] = {
	{ 'S', "sort", NULL,
	    "in order of time; --live: do not wait for the end", 0 },
	{ OPTION_LIVE, "live", NULL, NULL, 0 },
	{ 'F', "fields", "FIELDS", "only these fields: pool,size", 0 },
	{ 'H', "no-header", NULL, "without what stands before the events", 0 },
	{ OPTION_TYPES, "types", NULL, "list event types, not events", 0 },
	{ OPTION_MAX_LABELS, "max-labels", "N",
	    "hold N strings and N labels (256k)", 0 },
};

static const char *const format_names[] = { "text", "csv", "json", "sql",
	"mpscnv", "mpstxt", "tracerpt", "perfetto", "chrome", "folded" };

static int
take(void *arg, int id, const char *value)
{
	struct telcat *t = arg;
	uint64_t n;

	switch (id) {
	case 'S': t->settings.order = TEL_ORDER_TIME; return 1;
	case OPTION_LIVE: t->settings.order = TEL_ORDER_LIVE; return 1;
	case 'F': t->fields = value; return 1;
	case 'H': t->no_header = 1; return 1;
	case OPTION_TYPES: t->types = 1; return 1;
	case OPTION_MAX_LABELS:
		if (!number_option("--max-labels", "number of labels", value, 1,
		        LABELS_MAX, &n))
			return 0;
		t->settings.max_labels = (size_t)n;
		return 1;
	default: return 0;
	}
}

static const struct tool tool = { "telcat", TOOL_TELCAT, own,
	sizeof(own) / sizeof(own[0]),
	"text, csv, json, sql, mpscnv, perfetto, mps ...", take };

static int
parse_format(struct telcat *t)
{
	const char *name = t->settings.format;
	size_t i;

	t->format = TEL_FORMAT_TEXT;
	if (name == NULL)
		return 1;
	for (i = 0; i < sizeof(format_names) / sizeof(format_names[0]); i++)
		if (strcmp(name, format_names[i]) == 0) {
			t->format = (tel_format)i;
			return 1;
		}
	if (target_known(name)) {
		t->write = 1;
		return 1;
	}
	target_unknown(name,
	    "text, csv, json, sql, mpscnv, mpstxt, "
	    "tracerpt, perfetto, chrome, folded, mps:VERSION, inst, hpm, ets, "
	    "tel");
	return 0;
}

/* Formats whose events must come in order of time. */
static int
is_timeline(const struct telcat *t)
{
	return !t->write &&
	    (t->format == TEL_FORMAT_PERFETTO ||
	        t->format == TEL_FORMAT_CHROME ||
	        t->format == TEL_FORMAT_FOLDED);
}

/* Options that the format has no place for. */
static int
check_format(const struct telcat *t)
{
	const char *option = NULL;

	if (!t->write && t->format <= TEL_FORMAT_JSON)
		return 1;
	if (t->settings.time_given && t->settings.time != TEL_TIME_TICKS)
		option = "-T";
	else if (t->fields != NULL)
		option = "-F";
	else if (t->types)
		option = "--types";
	else if ((t->write || is_timeline(t)) && t->no_header)
		option = "-H";
	if (option == NULL)
		return 1;
	message_fail(STATUS_USAGE, NULL, "%s does not go with -f %s", option,
	    t->settings.format);
	return 0;
}

int
telcat_options(struct telcat *t, int argc, char **argv)
{
	memset(t, 0, sizeof(*t));
	if (!settings_parse(&t->settings, &tool, t, argc, argv) ||
	    !parse_format(t) || !check_format(t))
		return 0;
	/* a database has a row for each log, and types are counted by log */
	if (t->format == TEL_FORMAT_SQL || t->types)
		t->settings.no_merge = 1;
	if (is_timeline(t)) {
		t->timeline = 1;
		if (t->settings.order == TEL_ORDER_LOG)
			t->settings.order = TEL_ORDER_TIME;
	}
	/* what is not wanted may tell what the rest means */
	t->settings.all_events = t->write;
	return 1;
}
