/* SPDX-License-Identifier: BSD-2-Clause */
/* What a log is: who wrote it, its kinds and types, its memory, the totals. */
#include "show.h"

#include <inttypes.h>
#include <string.h>
#include "statistic.h"

static void
add_count(struct report *r, unsigned shown, const char *name, tel_int128 v)
{
	struct report_field f = { .name = name, .shown = shown };

	(void)report_fact(r, &f, report_int128(v));
}

/* A total for people. */
static const char *
count_total(const struct show *show, tel_total which, char *text)
{
	return format_count(show_total(show, which), show->options->raw, text);
}

static struct report_section *
open_line(struct report *r, const char *lead)
{
	struct report_section *s = report_section(r, REPORT_TEXT, "");

	s->lead = lead;
	s->indent = 8;
	return s;
}

static void
put_origin(struct report *r, const struct show *show, const tel_origin *o)
{
	struct report_section *s =
	    report_section(r, REPORT_TEXT | REPORT_DATA, "origin");
	struct report_field version = { .name = "version",
		.shown = REPORT_TEXT,
		.most = 32 };
	struct report_field form = { .name = "read as",
		.shown = REPORT_TEXT,
		.most = 32 };

	s->item = s->lead = o->schema;
	s->item_name = "schema";
	s->lead_strong = 1;
	s->indent = 2;
	if (o->version[0] != '\0')
		(void)report_fact(r, &version, report_string(o->version));
	if (o->format[0] != '\0')
		(void)report_fact(r, &form, report_string(o->format));
	if (tel_stats_origin_count(show->stats) > 1)
		add_count(r, REPORT_TEXT, "events", int128_u64(o->events));
	if (o->logs > 1)
		add_count(r, REPORT_TEXT, "logs", int128_u64(o->logs));
	version.shown = form.shown = REPORT_JSON;
	form.name = "form";
	(void)report_fact(r, &version, report_string(o->version));
	(void)report_fact(r, &form, report_string(o->format));
	report_data(r, "logs", report_count(o->logs));
	report_data(r, "events", report_count(o->events));
	report_put(r);
}

/* Metadata of the logs: the host, the command and so on. */
static void
put_metadata(struct report *r, const struct show *show)
{
	const struct report_field value = { .name = "",
		.shown = REPORT_TEXT,
		.most = 120 };
	const char *key, *text;
	size_t i;

	for (i = 0; tel_stats_metadata(show->stats, i, &key, &text); i++) {
		struct report_section *s = open_line(r, key);

		s->indent = 2;
		(void)report_fact(r, &value, report_string(text));
		report_put(r);
	}
}

static void
put_size(struct report *r, const struct show *show, const char *lead,
    tel_total which, const char *unit)
{
	tel_int128 v = show_total(show, which);
	double rate = statistic_rate(show, tel_int128_double(v));
	int raw = show->options->raw;
	char text[FORMAT_TEXT];

	(void)open_line(r, lead);
	report_say(r, REPORT_TEXT, "", "%s", format_value(v, unit, raw, text));
	if (raw || unit[0] == '\0' || format_size(rate, text)[0] == '\0')
		(void)format_double(rate, "", raw, text);
	if (rate > 0)
		report_say(r, REPORT_TEXT, "", "%s/%s", text,
		    show->options->rate_per);
	report_put(r);
}

static void
overview_put_span(struct report *r, const struct show *show)
{
	const tel_stats *s = show->stats;
	int raw = show->options->raw;
	tel_int128 first, last, v;
	char text[FORMAT_TEXT];

	if (!tel_stats_total(s, TEL_TOTAL_FIRST, &first) ||
	    !tel_stats_total(s, TEL_TOTAL_LAST, &last))
		return;
	(void)open_line(r, "span   ");
	if (tel_stats_total(s, TEL_TOTAL_NS, &v))
		report_say(r, REPORT_TEXT, "", "%s%s",
		    format_value(v, "ns", raw, text), raw ? " ns" : "");
	if (tel_stats_total(s, TEL_TOTAL_TICKS, &v))
		report_say(r, REPORT_TEXT, "", "%s%s",
		    format_value(v, "ticks", raw, text), raw ? " ticks" : "");
	report_say(r, REPORT_TEXT, "", "%016" PRIX64 " to %016" PRIX64,
	    first.low, last.low);
	report_put(r);
}

static void
put_damage(struct report *r, const struct show *show)
{
	struct report_section *s = open_line(r, "damage ");
	char text[FORMAT_TEXT];

	for (unsigned i = 0; i < TOTALS; i++) {
		const uint64_t n = show_total(show, (tel_total)i).low;

		if (totals[i].one != NULL && n != 0)
			report_say(r, REPORT_TEXT, "", "%s %s",
			    count_total(show, (tel_total)i, text),
			    n == 1 ? totals[i].one : totals[i].more);
	}
	if (s->nfacts > 0)
		report_put(r);
}

/* Programs that telrec names in a recording, as tel-alloc(5) describes. */
static void
put_unrecorded(struct report *r, const struct show *show)
{
	tel_part part;
	size_t i;

	for (i = 0; tel_stats_part(show->stats, TEL_PART_TYPE, i, &part); i++)
		if (strcmp(part.name, "unrecorded") == 0 &&
		    strcmp(part.kind, "Process") == 0) {
			(void)open_line(r, "not recorded:");
			report_say(r, REPORT_TEXT, "", "%" PRIu64 " program%s",
			    part.events, part.events == 1 ? "" : "s");
			report_put(r);
		}
}

/* ----------------------------------------------------- kinds and types */

/* The columns of kinds do not say the kind again. */
static void
add_columns(struct report *r, const struct show *show, int kinds, int decimals)
{
	struct report_field *f;

	f = report_column(r, "name", kinds ? "kind" : "type", REPORT_GROUPED,
	    0);
	f->item = f->left = 1;
	f->most = 26;
	f = report_column(r, "kind", NULL, REPORT_GROUPED, 0);
	f->shown = kinds ? REPORT_JSON : REPORT_TEXT | REPORT_JSON;
	f->left = 1;
	f->most = 12;
	f->spare = 2;
	report_column(r, "code", NULL, REPORT_GROUPED, 0)->shown = REPORT_JSON;
	(void)report_column(r, "events", NULL, REPORT_GROUPED, 0);
	f = report_column(r, "share", NULL, REPORT_PERCENT, 0);
	f->decimals = 1;
	f->shown = REPORT_TEXT;
	report_column(r, "bytes", NULL, REPORT_GROUPED, 0)->spare = 1;
	f = report_column(r, "share", NULL, REPORT_PERCENT, 0);
	f->decimals = 1;
	f->shown = REPORT_TEXT;
	f->spare = 3;
	if (show->at.ns <= 0)
		return;
	f = report_column(r,
	    report_text(r, "events/%s", show->options->rate_per), NULL,
	    REPORT_FIXED, 0);
	f->decimals = decimals;
	f->shown = REPORT_TEXT;
	report_column(r, "events_per_s", NULL, REPORT_GROUPED, 0)->shown =
	    REPORT_JSON;
}

static void
overview_add_part(struct report *r, const struct show *show,
    const tel_part *part, int kinds)
{
	/* the kind's own name, and none of the remainder */
	int has_kind = !kinds && part->kind[0] != '\0';
	double events = (double)part->events, bytes = (double)part->bytes;
	double all_events =
	    tel_int128_double(show_total(show, TEL_TOTAL_EVENTS));
	double all_bytes = tel_int128_double(show_total(show, TEL_TOTAL_BYTES));

	report_row(r, REPORT_TEXT | REPORT_DATA);
	report_cell(r, report_string(part->name));
	report_cell(r, report_optional(has_kind ? part->kind : ""));
	report_cell(r,
	    has_kind ? report_count(part->code) : report_optional(""));
	report_cell(r, report_count(part->events));
	report_cell(r, report_real(all_events > 0 ? events / all_events : 0));
	report_cell(r, report_count(part->bytes));
	report_cell(r, report_real(all_bytes > 0 ? bytes / all_bytes : 0));
	if (show->at.ns <= 0)
		return;
	report_cell(r, report_real(statistic_rate(show, events)));
	report_cell(r, report_real(events / show->at.ns * 1e9));
}

/* The table of kinds, or that of types. */
static void
overview_put_parts(struct report *r, const struct show *show, int kinds)
{
	double events = tel_int128_double(show_total(show, TEL_TOTAL_EVENTS));
	const double rate = statistic_rate(show, events);
	const char *type = report_is(r, REPORT_CSV) ? "type" : "event";
	const tel_part_by by = kinds ? TEL_PART_KIND : TEL_PART_TYPE;
	size_t i, n = tel_stats_part_count(show->stats, by);
	size_t shown = kinds ? n : report_rows(r, n);
	tel_part part, other = { "<other>", "", 0, 0, 0 };

	report_section(r, events > 0 ? REPORT_TEXT | REPORT_DATA : REPORT_DATA,
	    kinds ? "kind" : type)
	    ->apart = 1;
	/* the same decimals for all, so that rates can be compared */
	add_columns(r, show, kinds,
	    show->options->raw || rate < 1 ? 6 :
	        rate >= 1000               ? 1 :
	                                     3);
	for (i = 0; tel_stats_part(show->stats, by, i, &part); i++) {
		if (i < shown) {
			overview_add_part(r, show, &part, kinds);
			continue;
		}
		other.events += part.events;
		other.bytes += part.bytes;
	}
	if (shown < n)
		overview_add_part(r, show, &other, kinds);
	report_put(r);
}

static void
overview_type_of(struct report *r, const void *of, size_t i,
    struct report_bar *out)
{
	const struct show *show = of;
	tel_part part;

	(void)r;
	memset(out, 0, sizeof(*out));
	if (!tel_stats_part(show->stats, TEL_PART_TYPE, i, &part))
		return;
	out->label = report_string(part.name);
	out->count = part.events;
}

/* The picture of the types: what was read, and what of it was damaged. */
static void
put_picture(struct report *r, const struct show *show)
{
	const tel_stats *s = show->stats;
	struct report_section *section = report_section(r, REPORT_SVG, "types");
	struct report_bars bars = { "events", show,
		tel_stats_part_count(s, TEL_PART_TYPE), overview_type_of,
		show_total(show, TEL_TOTAL_EVENTS), 0, { 0, 0 } };
	char a[FORMAT_TEXT], b[FORMAT_TEXT], c[FORMAT_TEXT];
	tel_origin o = { "", "", "", 0, 0 };
	tel_int128 ns;

	(void)tel_stats_origin(s, 0, &o);
	const char *span = tel_stats_total(s, TEL_TOTAL_NS, &ns) ?
	    format_value(ns, "ns", show->options->raw, c) :
	    "";
	section->title = "Events by type";
	section->definition = report_text(r, "%s%s%s%s events, %s bytes%s%s",
	    o.schema, tel_stats_origin_count(s) > 1 ? " and others" : "",
	    o.schema[0] != '\0' ? ": " : "",
	    count_total(show, TEL_TOTAL_EVENTS, a),
	    count_total(show, TEL_TOTAL_BYTES, b),
	    span[0] != '\0' ? " in " : "", span);
	if (show_total(show, TEL_TOTAL_DAMAGED).low != 0 ||
	    show_total(show, TEL_TOTAL_LOST).low != 0 ||
	    show_total(show, TEL_TOTAL_CUT).low != 0 ||
	    show_total(show, TEL_TOTAL_INCOMPLETE).low != 0)
		report_note(r, REPORT_SVG, NULL,
		    report_text(r,
		        "%s damaged places, %s bytes skipped, %s records "
		        "lost%s%s",
		        count_total(show, TEL_TOTAL_DAMAGED, a),
		        count_total(show, TEL_TOTAL_SKIPPED, b),
		        count_total(show, TEL_TOTAL_LOST, c),
		        show_total(show, TEL_TOTAL_CUT).low != 0 ?
		            ", parts truncated" :
		            "",
		        show_total(show, TEL_TOTAL_INCOMPLETE).low != 0 ?
		            ", incomplete" :
		            ""));
	section->bars = &bars;
	report_put(r);
}

void
overview_put(struct report *r, const struct show *show)
{
	tel_origin o;

	for (size_t i = 0; tel_stats_origin(show->stats, i, &o); i++)
		put_origin(r, show, &o);
	put_metadata(r, show);
	put_size(r, show, "events ", TEL_TOTAL_EVENTS, "");
	put_size(r, show, "bytes  ", TEL_TOTAL_BYTES, "bytes");
	overview_put_span(r, show);
	put_damage(r, show);
	put_unrecorded(r, show);
	/* text is one screen where there are answers */
	int answered = report_is(r, REPORT_TEXT) &&
	    (answers_some(show) || answers_pools(show) || runtime_some(show));
	if (!answered) {
		overview_put_parts(r, show, 1);
		overview_put_parts(r, show, 0);
	}
	answers_put(r, show);
	runtime_put(r, show);
	if (report_is(r, REPORT_SVG))
		put_picture(r, show);
}

void
overview_totals(struct report *r, const struct show *show, int apart)
{
	/* what was lost comes before what was damaged */
	static const tel_total order[] = { TEL_TOTAL_LOGS, TEL_TOTAL_EVENTS,
		TEL_TOTAL_BYTES, TEL_TOTAL_LOST, TEL_TOTAL_UNKNOWN,
		TEL_TOTAL_DAMAGED, TEL_TOTAL_SKIPPED, TEL_TOTAL_REPAIRED,
		TEL_TOTAL_CUT, TEL_TOTAL_INCOMPLETE };
	struct report_section *s =
	    report_section(r, REPORT_TEXT | REPORT_DATA, "totals");
	tel_int128 v;

	s->apart = apart;
	s->lead = "Totals:";
	s->indent = 8;
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		v = show_total(show, order[i]);
		if (totals[order[i]].always || v.low != 0)
			add_count(r, REPORT_TEXT, totals[order[i]].text, v);
	}
	for (size_t i = 0; i < TOTALS; i++)
		if (tel_stats_total(show->stats, (tel_total)i, &v))
			report_data(r, totals[i].name, report_int128(v));
	report_put(r);
}
