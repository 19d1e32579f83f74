/* SPDX-License-Identifier: BSD-2-Clause */
/* OpenMetrics: the families of the totals and the report. */
#include "metrics.h"

#include <stdlib.h>
#include <string.h>
#include "common/page.h"
#include "show.h"

/* A total as a family. */
struct family {
	tel_total which;
	const char *name;
	const char *type;
	const char *unit; /* in which the name must end, or NULL */
	const char *help;
};

static const struct family families[] = {
	{ TEL_TOTAL_LOGS, "logs", "counter", NULL, "logs with events" },
	{ TEL_TOTAL_EVENTS, "log_events", "counter", NULL, "events counted" },
	{ TEL_TOTAL_BYTES, "log_bytes", "counter", "bytes", "bytes of them" },
	{ TEL_TOTAL_DAMAGED, "damaged_places", "counter", NULL,
	    "places where logs were damaged" },
	{ TEL_TOTAL_SKIPPED, "skipped_bytes", "counter", "bytes",
	    "bytes skipped there" },
	{ TEL_TOTAL_REPAIRED, "repaired_events", "counter", NULL,
	    "events whose size was put right" },
	{ TEL_TOTAL_UNKNOWN, "unknown_events", "counter", NULL,
	    "events of unknown types" },
	{ TEL_TOTAL_LOST, "lost_events", "counter", NULL,
	    "records lost before they reached a log" },
	{ TEL_TOTAL_CUT, "truncated_parts", "counter", NULL,
	    "files of statistics without an end" },
	{ TEL_TOTAL_INCOMPLETE, "incomplete_runs", "counter", NULL,
	    "runs that could not read all of their input" },
	{ TEL_TOTAL_TICKS, "span_ticks", "gauge", "ticks",
	    "from first to last event" },
	{ TEL_TOTAL_NS, "span_seconds", "gauge", "seconds", "the same" },
	{ TEL_TOTAL_ALLOCS, "allocated_blocks", "counter", NULL,
	    "blocks allocated" },
	{ TEL_TOTAL_ALLOC_BYTES, "allocated_bytes", "counter", "bytes",
	    "bytes of them" },
	{ TEL_TOTAL_FREES, "freed_blocks", "counter", NULL, "blocks freed" },
	{ TEL_TOTAL_FREE_BYTES, "freed_bytes", "counter", "bytes",
	    "bytes of them" },
	{ TEL_TOTAL_LIVE, "live_blocks", "gauge", NULL,
	    "blocks allocated and not freed" },
	{ TEL_TOTAL_LIVE_BYTES, "live_bytes", "gauge", "bytes",
	    "bytes of them" },
	{ TEL_TOTAL_SAMPLES, "samples", "counter", NULL,
	    "allocations from which these are estimated" },
	{ TEL_TOTAL_STRAYS, "freed_unknown_blocks", "counter", NULL,
	    "blocks freed that the log does not allocate" },
	{ TEL_TOTAL_ENDED, "ended_blocks", "counter", NULL,
	    "blocks that ended with their pool, or were replaced" },
	{ TEL_TOTAL_ENDED_BYTES, "ended_bytes", "counter", "bytes",
	    "bytes of them" },
};

static const char type_events[] = "type_events", type_bytes[] = "type_bytes";
static const char origin[] = "origin";

static void
metrics_totals_put_family(const struct show *show, const struct family *f)
{
	const struct metric m = { show, show->options->prefix, 0, 0 };
	tel_int128 v;

	if (!tel_stats_total(show->stats, f->which, &v))
		return;
	metric_family(&m, f->name, f->type, f->unit, f->help, NULL);
	putf(show->out, "%s%s%s ", show->options->prefix, f->name,
	    strcmp(f->type, "counter") == 0 ? "_total" : "");
	metric_value(show->out, v, f->which == TEL_TOTAL_NS ? 9 : 0);
}

static void
metrics_totals_put_types(const struct show *show, const char *name, int bytes)
{
	const struct metric m = { show, show->options->prefix, 0, 0 };
	char text[FORMAT_TEXT];
	tel_part part;
	size_t i;

	metric_family(&m, name, "counter", bytes ? "bytes" : NULL,
	    bytes ? "bytes of events by type" : "events by type", NULL);
	for (i = 0; tel_stats_part(show->stats, TEL_PART_TYPE, i, &part); i++) {
		putf(show->out, "%s%s_total{type=\"", show->options->prefix,
		    name);
		put_label(show->out, part.name);
		put(show->out, "\",kind=\"");
		put_label(show->out, part.kind);
		putf(show->out, "\"} %s\n",
		    format_count(int128_u64(bytes ? part.bytes : part.events),
		        1, text));
	}
}

static void
put_origins(const struct show *show)
{
	const struct metric m = { show, show->options->prefix, 0, 0 };
	tel_origin o;
	size_t i;

	metric_family(&m, origin, "info", NULL, "what wrote the logs", NULL);
	for (i = 0; tel_stats_origin(show->stats, i, &o); i++) {
		putf(show->out, "%s%s_info{schema=\"", show->options->prefix,
		    origin);
		put_label(show->out, o.schema);
		put(show->out, "\",version=\"");
		put_label(show->out, o.version);
		put(show->out, "\",form=\"");
		put_label(show->out, o.format);
		put(show->out, "\"} 1\n");
	}
}

static void
metrics_totals_reserve(const struct show *show, struct names *names,
    const char *name)
{
	int clash;

	free(names_make(names, show->options->prefix, name, &clash));
}

void
metrics_totals(const struct show *show, struct names *names)
{
	size_t i, n = sizeof(families) / sizeof(families[0]);

	for (i = 0; i < n; i++)
		metrics_totals_reserve(show, names, families[i].name);
	metrics_totals_reserve(show, names, type_events);
	metrics_totals_reserve(show, names, type_bytes);
	metrics_totals_reserve(show, names, origin);
	for (i = 0; i < n; i++)
		metrics_totals_put_family(show, &families[i]);
	if (!show_overview(show))
		return;
	put_origins(show);
	metrics_totals_put_types(show, type_events, 0);
	metrics_totals_put_types(show, type_bytes, 1);
}
