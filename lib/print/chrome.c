/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The trace event format of Chrome's viewer, as JSON: what Perfetto and many
 * others open.  A process is a log, a thread a track.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/buffer.h"
#include "render/escape.h"
#include "render/list.h"
#include "render/number.h"
#include "print/timeline.h"

/* The largest integer up to which a double holds every one. */
#define SAMPLES_MAX ((uint64_t)1 << 53)

/*
 * Names of colours that the format has, without those that mean good or bad:
 * each type has one.
 */
static const char *const colors[] = { "thread_state_running",
	"thread_state_runnable", "thread_state_iowait", "rail_response",
	"rail_animation", "rail_idle", "rail_load", "startup", "generic_work",
	"yellow", "olive", "vsync_highlight_color", "heap_dump_stack_frame",
	"heap_dump_object_type", "cq_build_running", "cq_build_passed",
	"detailed_memory_dump", "light_memory_dump", "background_memory_dump" };

struct chrome {
	struct timeline *timeline;
	int begun;
	/*
	 * Names of the ranges that are open, by a track's id, the innermost one
	 * last, each with its length behind it: an end names the range that it
	 * ends.
	 */
	struct tel__buffer *open;
	size_t nopen;
};

/* A string, with another one before it that needs no escapes. */
static void
chrome_put_strings(struct tel_printer *pr, const char *before, const char *s,
    size_t n)
{
	const size_t length = strlen(before);
	unsigned char *p =
	    tel_output_room(pr->out, length + TEL_ESCAPE_ROOM(n) + 2);

	if (p == NULL)
		return;
	*p++ = '"';
	memcpy(p, before, length);
	p = tel__escape_json(p + length, s, n, pr->terminal);
	*p++ = '"';
	pr->out->used = (size_t)(p - pr->out->buffer);
}

static void
chrome_put_string(struct tel_printer *pr, const char *s, size_t n)
{
	chrome_put_strings(pr, "", s, n);
}

/* A number; where others could not hold it, in quotes. */
static void
chrome_put_number(struct tel_printer *pr, uint64_t v, int negative)
{
	unsigned char *p = tel_output_room(pr->out, TEL_PUT_MAX + 2);
	uint64_t magnitude = negative && v >> 63 ? 0 - v : v;
	int quotes = magnitude > SAMPLES_MAX;

	if (p == NULL)
		return;
	if (quotes)
		*p++ = '"';
	p = negative ? tel_put_signed(p, v) : tel_put_decimal(p, v);
	if (quotes)
		*p++ = '"';
	pr->out->used = (size_t)(p - pr->out->buffer);
}

/* Microseconds, which the format counts in, with three decimals. */
static void
put_time(struct tel_printer *pr, const char *key, uint64_t ns)
{
	const unsigned rest = (unsigned)(ns % 1000);
	unsigned char *p;

	render_put(pr, key);
	p = tel_output_room(pr->out, TEL_PUT_MAX);
	if (p == NULL)
		return;
	p = tel_put_decimal(p, ns / 1000);
	*p++ = '.';
	*p++ = (unsigned char)('0' + rest / 100);
	*p++ = (unsigned char)('0' + rest / 10 % 10);
	*p++ = (unsigned char)('0' + rest % 10);
	pr->out->used = (size_t)(p - pr->out->buffer);
}

/* The start of an object: its phase, its process and its track. */
static void
open_object(struct tel_printer *pr, const struct timeline_track *t,
    const char *phase)
{
	struct chrome *c = pr->state;
	const struct timeline_track *process = t;

	while (process->parent != NULL)
		process = process->parent;
	render_put(pr,
	    c->begun ? ",\n{\"ph\":\"" :
	               "{\"displayTimeUnit\":\"ns\",\"traceEvents\":["
	               "\n{\"ph\":\"");
	c->begun = 1;
	render_put(pr, phase);
	render_put(pr, "\",\"pid\":");
	chrome_put_number(pr, process->id, 0);
	render_put(pr, ",\"tid\":");
	chrome_put_number(pr, t->id, 0);
}

static void
chrome_put_field(struct tel_printer *pr, const struct tel_event *ev, unsigned i)
{
	const struct tel_field *f = &ev->type->fields[i];
	const struct chrome *c = pr->state;
	struct tel_field number = *f;
	size_t n;

	if (f->datatype == TEL_STRING) {
		const char *s = tel_event_string(ev, i, &n);

		chrome_put_string(pr, s, n);
		return;
	}
	pr->list.used = 0;
	/* a float is shown as the double that it is */
	number.load = TEL_LOAD_LE64;
	if (f->datatype == TEL_LIST)
		tel__render_list(&pr->list, ev, f, 1);
	else
		tel__render_number(&pr->list, &number, tel_event_u64(ev, i), 1);
	c->timeline->no_memory |= pr->list.failed;
	(void)tel_output_write(pr->out, pr->list.bytes, pr->list.used);
}

/* The fields, and behind them the labels that they have. */
static void
chrome_put_fields(struct tel_printer *pr, const struct tel_event *ev)
{
	const struct tel_type *t = ev->type;
	const char *label, *before = "";
	size_t n;

	render_put(pr, ",\"args\":{");
	for (unsigned i = 0; i < t->nfields; i++) {
		if (t->fields[i].is_label || !tel_event_has(ev, i))
			continue;
		render_put(pr, before);
		before = ",";
		chrome_put_string(pr, t->fields[i].name,
		    t->fields[i].name_length);
		render_put(pr, ":");
		chrome_put_field(pr, ev, i);
	}
	for (unsigned i = 0; i < t->nfields; i++) {
		label = tel_event_label(ev, i, &n);
		if (label == NULL)
			continue;
		render_put(pr, before);
		before = ",";
		chrome_put_strings(pr, "label of ", t->fields[i].name,
		    t->fields[i].name_length);
		render_put(pr, ":");
		chrome_put_string(pr, label, n);
	}
	render_put(pr, "}");
}

static void
chrome_put_event(struct tel_printer *pr, const struct timeline_track *t,
    const char *phase, uint64_t time, const char *name, size_t n,
    const struct tel_event *ev)
{
	open_object(pr, t, phase);
	put_time(pr, ",\"ts\":", time);
	render_put(pr, ",\"name\":");
	chrome_put_string(pr, name, n);
	render_put(pr, ",\"cat\":");
	chrome_put_string(pr, ev->type->kind, strlen(ev->type->kind));
	render_put(pr, ",\"cname\":\"");
	render_put(pr,
	    colors[ev->type->index % (sizeof(colors) / sizeof(colors[0]))]);
	render_put(pr, "\"");
	chrome_put_fields(pr, ev);
}

/* The name of a track, which has no other way to say its thread. */
static void
chrome_put_name(struct tel_printer *pr, const struct timeline_track *t)
{
	const struct timeline_track *thread =
	    t->parent != NULL && t->parent->use == TIMELINE_THREAD ? t->parent :
	                                                             NULL;
	const size_t length = thread != NULL ? thread->length : 0;
	unsigned char *p = tel_output_room(pr->out,
	    TEL_ESCAPE_ROOM(length) + TEL_ESCAPE_ROOM(t->length) + 3);

	if (p == NULL)
		return;
	*p++ = '"';
	if (thread != NULL) {
		p = tel__escape_json(p, thread->name, length, pr->terminal);
		*p++ = ' ';
	}
	p = tel__escape_json(p, t->name, t->length, pr->terminal);
	*p++ = '"';
	pr->out->used = (size_t)(p - pr->out->buffer);
}

/* The name of a track; a counter has its own. */
static void
chrome_track(struct tel_printer *pr, const struct timeline_track *t)
{
	if (t->use == TIMELINE_COUNT || t->use == TIMELINE_BYTES)
		return;
	open_object(pr, t, "M");
	render_put(pr,
	    t->parent == NULL ? ",\"name\":\"process_name\"" :
	                        ",\"name\":\"thread_name\"");
	render_put(pr, ",\"args\":{\"name\":");
	chrome_put_name(pr, t);
	render_put(pr, "}}");
}

static void
chrome_begin(struct tel_printer *pr, const struct timeline_track *t,
    uint64_t time, const char *name, size_t n, const struct tel_event *ev)
{
	struct chrome *c = pr->state;

	chrome_put_event(pr, t, "B", time, name, n, ev);
	render_put(pr, "}");
	if (!TEL__RESERVE_ZEROED(c->open, c->nopen, t->id + 1u)) {
		c->timeline->no_memory = 1;
		return;
	}
	tel__buffer_put(&c->open[t->id], name, n);
	tel__buffer_put(&c->open[t->id], &n, sizeof(n));
	if (c->open[t->id].failed)
		c->timeline->no_memory = 1;
}

static void
chrome_end(struct tel_printer *pr, const struct timeline_track *t,
    uint64_t time)
{
	struct chrome *c = pr->state;
	struct tel__buffer *open = t->id < c->nopen ? &c->open[t->id] : NULL;
	size_t n;

	open_object(pr, t, "E");
	put_time(pr, ",\"ts\":", time);
	if (open != NULL && open->used > 0) {
		open->used -= sizeof(n);
		memcpy(&n, open->bytes + open->used, sizeof(n));
		open->used -= n;
		render_put(pr, ",\"name\":");
		chrome_put_string(pr, (const char *)open->bytes + open->used,
		    n);
	}
	render_put(pr, "}");
}

/* Ranges whose end is not in a log end with it. */
static void
chrome_close_ranges(struct tel_printer *pr)
{
	struct chrome *c = pr->state;
	const struct timeline *tl = c->timeline;

	for (size_t i = 0; i < tl->ntracks; i++)
		while (tl->tracks[i]->id < c->nopen &&
		    c->open[tl->tracks[i]->id].used > 0)
			chrome_end(pr, tl->tracks[i], tl->last);
}

static void
chrome_span(struct tel_printer *pr, const struct timeline_track *t,
    uint64_t time, uint64_t length, const char *name, size_t n,
    const struct tel_event *ev, int method)
{
	(void)method;
	chrome_put_event(pr, t, "X", time, name, n, ev);
	put_time(pr, ",\"dur\":", length);
	render_put(pr, "}");
}

/*
 * An event that sends or receives a message: an arrow goes from the one to the
 * other.  It starts and ends at ranges, so this is one, as short as can be.
 */
static void
message(struct tel_printer *pr, const struct timeline_track *t, uint64_t time,
    const char *name, size_t n, const struct tel_event *ev)
{
	const struct timeline *tl = ((struct chrome *)pr->state)->timeline;
	char id[40];

	chrome_put_event(pr, t, "X", time, name, n, ev);
	put_time(pr, ",\"dur\":", 1);
	render_put(pr, "}");
	open_object(pr, t, tl->receives ? "f" : "s");
	put_time(pr, ",\"ts\":", time);
	(void)snprintf(id, sizeof(id), ",\"id\":\"0x%llx\"",
	    (unsigned long long)tl->flow);
	render_put(pr, id);
	render_put(pr, ",\"name\":\"message\",\"cat\":");
	chrome_put_string(pr, ev->type->kind, strlen(ev->type->kind));
	render_put(pr, tl->receives ? ",\"bp\":\"e\"}" : "}");
}

static void
chrome_instant(struct tel_printer *pr, const struct timeline_track *t,
    uint64_t time, const char *name, size_t n, const struct tel_event *ev)
{
	const struct chrome *c = pr->state;

	if (c->timeline->flow != 0) {
		message(pr, t, time, name, n, ev);
		return;
	}
	chrome_put_event(pr, t, "i", time, name, n, ev);
	render_put(pr, ",\"s\":\"t\"}");
}

/* A counter's name is unique in its process only: it includes its track's. */
static void
chrome_counter(struct tel_printer *pr, const struct timeline_track *t,
    uint64_t time, int64_t value)
{
	open_object(pr, t, "C");
	put_time(pr, ",\"ts\":", time);
	render_put(pr, ",\"name\":");
	chrome_put_name(pr, t);
	render_put(pr,
	    t->use == TIMELINE_BYTES ? ",\"args\":{\"bytes\":" :
	                               ",\"args\":{\"value\":");
	chrome_put_number(pr, (uint64_t)value, 1);
	render_put(pr, "}}");
}

static const struct timeline_ops ops = { chrome_track, chrome_begin, chrome_end,
	chrome_span, chrome_instant, chrome_counter,
	.state_size = sizeof(struct chrome) };

static void
chrome_release(struct tel_printer *pr)
{
	struct chrome *c = pr->state;

	tel__timeline_free(c->timeline);
	while (c->nopen > 0)
		tel__buffer_clear(&c->open[--c->nopen]);
	free(c->open);
}

static tel_status
chrome_begin_log(struct tel_printer *pr, const struct tel_event *ev)
{
	if (pr->state != NULL && !pr->continues)
		chrome_close_ranges(pr);
	return tel__timeline_begin_log(pr, ev);
}

static tel_status
chrome_finish(struct tel_printer *pr)
{
	const struct chrome *c = pr->state;

	if (c != NULL)
		chrome_close_ranges(pr);
	render_put(pr,
	    c != NULL && c->begun ? "\n]}\n" : "{\"traceEvents\":[]}\n");
	return pr->out->status;
}

const struct tel_renderer tel__renderer_chrome = {
	.name = "chrome",
	.flags = TEL_PRINTER_TIMELINE | TEL_PRINTER_WHOLE,
	.dialect = &ops,
	.begin_log = chrome_begin_log,
	.event = tel__timeline_print,
	.finish = chrome_finish,
	.release = chrome_release,
};
