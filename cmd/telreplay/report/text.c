/* SPDX-License-Identifier: BSD-2-Clause */
/* The form "text": tables for people, allocators from above to below. */
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "common/report/figure.h"
#include "common/page.h"

/* So many threads are shown, the busiest first. */
#define THREADS_SHOWN 8
/* A run of less is over before the clock tells much of it. */
#define FEW 20000
/* So many moments of the curve, and allocators beside each other. */
#define MOMENTS 10
#define BESIDE 6
/* Characters that a line has beside a name. */
#define ROOM 64

static void
head(const struct report *r, const char *text)
{
	putf(r->out, "\n%s\n", text);
}

static void
put_name(const struct report *r, const struct result *s)
{
	char name[32];

	putf(r->out, "  %-12s", page_escape(name, 12, s->candidate->name));
}

/* Bytes in a few characters: "12.3 MiB", "512 B". */
static const char *
short_bytes(double bytes, char *text)
{
	if (figure_size(bytes, text)[0] == '\0')
		(void)snprintf(text, FIGURE_TEXT, "%.0f B", bytes);
	return text;
}

static const char *
nanoseconds(double ns, char *text)
{
	(void)snprintf(text, FIGURE_TEXT, "%.*f", ns < 1000 ? 1 : 0, ns);
	return text;
}

static void
put_count(const struct report *r, uint64_t v, int width)
{
	char text[FIGURE_TEXT];

	putf(r->out, "%*s", width, figure_count(figure_int128_of(v), 0, text));
}

/* Who it is, in one line or in two. */
static void
put_served(const struct report *r, const struct result *s)
{
	char name[80] = "", release[80] = "", path[128];
	size_t n;

	if (s->called[0] != '\0' && s->plugin)
		(void)snprintf(name, sizeof(name), "pool %.60s", s->called);
	(void)snprintf(release, sizeof(release), "%.70s", s->release);
	(void)page_escape(path, 120, s->path);
	n = strlen(name) + strlen(release);
	putf(r->out, "%s%s%s%s", name, name[0] != '\0' ? ", " : "", release,
	    n == 0                      ? "" :
	        n + strlen(path) > ROOM ? "\n              " :
	                                  ", ");
	put(r->out, path);
	if ((s->candidate->builtin != BUILTIN_NONE || s->plugin) &&
	    s->candidate->parameters[0] != '\0')
		putf(r->out, ", %s",
		    page_escape(path, 120, s->candidate->parameters));
	put(r->out, "\n");
}

/* Who served malloc, and what steers it. */
static void
put_who(const struct report *r)
{
	const struct contest *c = r->contest;
	char text[512];
	size_t i, j;

	head(r, "allocators");
	for (i = 0; i < c->n; i++) {
		const struct result *s = &c->results[i];

		put_name(r, s);
		put_served(r, s);
		for (j = 0; j < s->nsettings; j++)
			putf(r->out, "  %-12s%s\n", "",
			    page_escape(text, 200, s->settings[j]));
		if (s->why[0] != '\0')
			putf(r->out, "  %-12sFAILED: %s\n", "",
			    page_escape(text, 500, s->why));
	}
}

static void
put_machine(const struct report *r)
{
	const struct telreplay *t = r->telreplay;
	struct report_machine m;
	char text[256];

	report_machine(&m);
	head(r, "machine and runs");
	putf(r->out, "  kernel        %s\n", page_escape(text, 200, m.kernel));
	putf(r->out, "  processors    %u%s%s\n", m.processors,
	    m.processor[0] != '\0' ? ", " : "",
	    page_escape(text, 120, m.processor));
	if (m.huge_pages[0] != '\0')
		putf(r->out, "  huge pages    %s\n",
		    page_escape(text, 40, m.huge_pages));
	putf(r->out, "  runs          %" PRIu64 " of each allocator", t->runs);
	if (t->run.repeat > 1)
		putf(r->out, ", the trace %u times in each", t->run.repeat);
	putf(r->out, "\n  order         %s\n  touched       %s%s\n",
	    report_order(r->facts), report_touch(t->run.touch),
	    t->run.verify ? ", and all of it verified" : "");
	if (t->run.pace > 0)
		putf(r->out, "  pace          %g times the recorded one\n",
		    t->run.pace);
}

static void
put_time(const struct report *r)
{
	const struct contest *c = r->contest;
	char a[FIGURE_TEXT], b[FIGURE_TEXT], d[FIGURE_TEXT];
	char e[FIGURE_TEXT], f[FIGURE_TEXT];
	size_t i;

	head(r,
	    "CPU time, nanoseconds an operation; telreplay's own is "
	    "subtracted");
	putf(r->out, "  %-12s%9s%9s%9s%8s%12s%12s\n", "", "median", "least",
	    "most", "own", "M ops/s", "page faults");
	for (i = 0; i < c->n; i++) {
		const struct result *s = &c->results[i];
		struct spread cost = result_cost(s), wall = result_wall(s);
		double own = result_own(s);

		put_name(r, s);
		if (s->nruns == 0) {
			put(r->out, "        -\n");
			continue;
		}
		putf(r->out, "%9s%9s%9s%8s%12s",
		    nanoseconds(cost.median - own, a),
		    nanoseconds(cost.least - own, b),
		    nanoseconds(cost.most - own, d), nanoseconds(own, e),
		    figure_fixed(report_ratio(1e3, wall.median), 2, 0, f));
		put_count(r, (uint64_t)result_faults(s).median, 12);
		put(r->out, "\n");
	}
	if (r->facts->compiled * r->telreplay->run.repeat < FEW)
		put(r->out,
		    "  the trace is too short for this to say much: "
		    "--repeat runs it again\n");
}

static void
put_latency(const struct report *r)
{
	const struct contest *c = r->contest;
	char text[FIGURE_TEXT];
	size_t i, k, q;

	if (r->telreplay->run.sample == 0)
		return;
	(void)snprintf(text, sizeof(text),
	    "latency in nanoseconds, of one operation in %u",
	    r->telreplay->run.sample);
	head(r, text);
	putf(r->out, "  %-12s%-9s%10s", "", "", "samples");
	for (q = 0; q < REPORT_QUANTILES; q++)
		putf(r->out, "%9s", report_quantiles[q].name);
	putf(r->out, "%10s\n", "max");
	for (k = 0; k < RUN_KINDS; k++)
		for (i = 0; i < c->n; i++) {
			const struct result *s = &c->results[i];

			if (s->latency[k].count == 0)
				continue;
			put_name(r, s);
			putf(r->out, "%-9s", report_kinds[k]);
			put_count(r, s->latency[k].count, 10);
			for (q = 0; q < REPORT_QUANTILES; q++)
				putf(r->out, "%9s",
				    nanoseconds(report_latency(s,
				                    (enum run_kind)k,
				                    report_quantiles[q].share),
				        text));
			putf(r->out, "%10s\n",
			    nanoseconds(report_latency(s, (enum run_kind)k, 1),
			        text));
		}
}

static void
put_threads(const struct report *r)
{
	const struct contest *c = r->contest;
	uint64_t i, n = r->facts->threads;
	char text[FIGURE_TEXT];
	size_t j;

	if (n < 2)
		return;
	head(r,
	    n > THREADS_SHOWN ?
	        "throughput by thread, M ops/s while it runs; the first eight" :
	        "throughput by thread, M ops/s while it runs");
	putf(r->out, "  %-12s", "");
	for (i = 0; i < n && i < THREADS_SHOWN; i++)
		putf(r->out, "%8" PRIu64, i);
	put(r->out, "\n");
	for (j = 0; j < c->n; j++) {
		const struct result *s = &c->results[j];

		if (s->nruns == 0)
			continue;
		put_name(r, s);
		for (i = 0; i < n && i < THREADS_SHOWN; i++)
			putf(r->out, "%8s",
			    figure_fixed(
			        report_ratio((double)s->threads[i].operations *
			                1e3,
			            (double)s->threads[i].wall),
			        2, 0, text));
		put(r->out, "\n");
	}
}

static void
put_memory(const struct report *r)
{
	const struct contest *c = r->contest;
	double live = (double)r->facts->peak_bytes;
	char text[FIGURE_TEXT], left[FIGURE_TEXT];
	size_t i;

	head(r, "memory above that before the first operation");
	putf(r->out, "  %-12s%12s%12s%12s%12s%12s\n", "", "peak", "peak/live",
	    "at the end", "all freed", "slack");
	for (i = 0; i < c->n; i++) {
		const struct result *s = &c->results[i];

		put_name(r, s);
		if (!s->watched) {
			put(r->out, "           -\n");
			continue;
		}
		putf(r->out, "%12s", short_bytes((double)s->peak, text));
		putf(r->out, "%12s",
		    figure_fixed(report_ratio((double)s->peak, live), 3, 0,
		        text));
		putf(r->out, "%12s",
		    short_bytes((double)result_resident(s, &s->end), text));
		putf(r->out, "%12s",
		    short_bytes((double)result_resident(s, &s->freed), text));
		if (s->has_room && s->asked > 0)
			putf(r->out, "%11.1f%%\n",
			    ((double)s->given / (double)s->asked - 1) * 100);
		else
			putf(r->out, "%12s\n", "-");
	}
	putf(r->out, "  %-12s%12s%12s%12s\n", "(live)", short_bytes(live, text),
	    "", short_bytes((double)r->facts->live_bytes, left));
}

/* The sample that is nearest to a share of the words. */
static const struct sample *
sample_at(const struct report *r, const struct result *s, double share)
{
	double want =
	    share * (double)r->facts->words * r->telreplay->run.repeat;
	size_t i, best = 0;

	for (i = 1; i < s->nsamples; i++) {
		double is = (double)s->samples[i].done - want;
		double was = (double)s->samples[best].done - want;

		if (is * is < was * was)
			best = i;
	}
	return &s->samples[best];
}

static void
put_moment(const struct report *r, const struct result *s, double share)
{
	char text[FIGURE_TEXT];

	if (!s->watched || s->nsamples == 0)
		putf(r->out, "%10s", "-");
	else
		putf(r->out, "%10s",
		    short_bytes((double)result_resident(s,
		                    sample_at(r, s, share)),
		        text));
}

/* Some of the allocators: n of them. */
static void
put_beside(const struct report *r, const struct result *results, size_t n,
    const struct result *first)
{
	char text[FIGURE_TEXT];
	size_t i;
	int m;

	head(r, "resident memory along the run");
	putf(r->out, "  %-5s%10s", "", "(live)");
	for (i = 0; i < n; i++)
		putf(r->out, "%10s",
		    page_escape(text, 9, results[i].candidate->name));
	put(r->out, "\n");
	for (m = 1; m <= MOMENTS; m++) {
		double share = (double)m / MOMENTS;

		putf(r->out, "  %3.0f%% %10s", share * 100,
		    short_bytes(contest_live(r->contest,
		                    sample_at(r, first, share)),
		        text));
		for (i = 0; i < n; i++)
			put_moment(r, &results[i], share);
		put(r->out, "\n");
	}
}

static void
put_curve(const struct report *r)
{
	const struct contest *c = r->contest;
	const struct result *first = NULL;
	size_t i;

	for (i = 0; i < c->n && first == NULL; i++)
		if (c->results[i].watched && c->results[i].nsamples > 0)
			first = &c->results[i];
	for (i = 0; first != NULL && i < c->n; i += BESIDE)
		put_beside(r, c->results + i,
		    c->n - i < BESIDE ? c->n - i : BESIDE, first);
}

static void
put_calls(const struct report *r)
{
	const struct contest *c = r->contest;
	size_t i, k;

	head(r, "system calls for memory");
	putf(r->out, "  %-12s", "");
	for (k = 0; k < CALLS; k++)
		putf(r->out, "%10s", calls_name((enum system_call)k));
	put(r->out, "\n");
	for (i = 0; i < c->n; i++) {
		const struct result *s = &c->results[i];

		put_name(r, s);
		if (!s->calls_known)
			put(r->out, "  not counted: it may not be traced");
		for (k = 0; k < CALLS && s->calls_known; k++)
			put_count(r, s->calls[k], 10);
		put(r->out, "\n");
	}
}

static void
show(const struct report *r)
{
	report_text_trace(r);
	if (r->contest == NULL)
		return;
	put_machine(r);
	put_who(r);
	put_time(r);
	put_latency(r);
	put_threads(r);
	put_memory(r);
	put_curve(r);
	put_calls(r);
}

const struct form form_text = { "text", show };
