/* SPDX-License-Identifier: BSD-2-Clause */
/* OpenMetrics: the families of the totals and the report. */
#include "metrics.h"

#include <stdlib.h>
#include "common/page.h"
#include "show.h"

static const char type_events[] = "type_events", type_bytes[] = "type_bytes";
static const char origin[] = "origin";

static void
metrics_totals_put_family(const struct show *show, tel_total which)
{
	const struct metric m = { show, show->options->prefix, 0, 0 };
	const struct total *t = &totals[which];
	tel_int128 v;

	if (t->family == NULL || !tel_stats_total(show->stats, which, &v))
		return;
	metric_family(&m, t->family, t->gauge ? "gauge" : "counter", t->help,
	    NULL);
	putf(show->out, "%s%s%s ", show->options->prefix, t->family,
	    t->gauge ? "" : "_total");
	metric_value(show->out, v, which == TEL_TOTAL_NS ? 9 : 0);
}

static void
metrics_totals_put_types(const struct show *show, const char *name, int bytes)
{
	const struct metric m = { show, show->options->prefix, 0, 0 };
	char text[FORMAT_TEXT];
	tel_part part;
	size_t i;

	metric_family(&m, name, "counter",
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

	metric_family(&m, origin, "info", "what wrote the logs", NULL);
	for (size_t i = 0; tel_stats_origin(show->stats, i, &o); i++) {
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
metrics_totals_reserve(const struct show *show, struct tel__table *names,
    const char *name)
{
	int clash;

	free(names_make(names, show->options->prefix, name, "", &clash));
}

void
metrics_totals(const struct show *show, struct tel__table *names)
{
	for (unsigned i = 0; i < TOTALS; i++)
		if (totals[i].family != NULL)
			metrics_totals_reserve(show, names, totals[i].family);
	metrics_totals_reserve(show, names, type_events);
	metrics_totals_reserve(show, names, type_bytes);
	metrics_totals_reserve(show, names, origin);
	for (unsigned i = 0; i < TOTALS; i++)
		metrics_totals_put_family(show, (tel_total)i);
	if (!show_overview(show))
		return;
	put_origins(show);
	metrics_totals_put_types(show, type_events, 0);
	metrics_totals_put_types(show, type_bytes, 1);
}
