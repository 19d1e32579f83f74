/* SPDX-License-Identifier: BSD-2-Clause */
/* Lifetimes of blocks in a report. */
#include "common/report/lifetimes.h"

#include "common/report/format_number.h"

const struct report_lifetime report_lifetimes[REPORT_LIFETIMES] = {
	{ 500000000, "p50", "lifetime_p50" },
	{ 900000000, "p90", "lifetime_p90" },
	{ 990000000, "p99", "lifetime_p99" },
	{ 1000000000, "longest", "lifetime_max" },
};

const char *
report_lifetimes_text(struct report *r, const uint64_t *times, uint64_t step,
    const char *unit, int raw)
{
	char figure[FORMAT_TEXT];
	const char *line = "";

	for (size_t i = 0; i < REPORT_LIFETIMES; i++) {
		const int below = times[i] < step;

		/* once: of shares that are below, the largest */
		if (below && i + 1 < REPORT_LIFETIMES && times[i + 1] < step)
			continue;
		/* quantiles are of buckets: more digits would say nothing */
		(void)format_double((double)(below ? step : times[i]), unit,
		    raw, figure);
		line = report_text(r, "%s%s%s %s%s%s%s", line,
		    line[0] != '\0' ? "  " : "", report_lifetimes[i].text,
		    below ? "< " : "", figure, raw ? " " : "", raw ? unit : "");
	}
	/* unless the figure after "<" was it */
	if (line[0] != '\0' && step > 0 && times[0] >= step) {
		(void)format_double((double)step, unit, raw, figure);
		line = report_text(r, "%s  resolution %s%s%s", line, figure,
		    raw ? " " : "", raw ? unit : "");
	}
	return line;
}
