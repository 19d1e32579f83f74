/* SPDX-License-Identifier: BSD-2-Clause */
/* Timeline: its tracks, and on which of them an event belongs. */
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "model/schema.h"
#include "print/timeline.h"

struct timeline_track *
tel__timeline_make_track(struct tel_printer *pr, struct timeline *tl,
    struct timeline_track *parent, enum timeline_use use, const char *name,
    size_t n)
{
	struct timeline_track *t;

	if (!TEL__RESERVE(tl->tracks, tl->room, tl->ntracks + 1))
		return NULL;
	t = calloc(1, sizeof(*t));
	if (t == NULL || (t->name = tel__copy_string(name, n)) == NULL) {
		free(t);
		return NULL;
	}
	t->length = n;
	t->parent = parent;
	t->use = use;
	tl->tracks[tl->ntracks++] = t;
	t->id = (uint32_t)tl->ntracks;
	if (tl->ops->track != NULL)
		tl->ops->track(pr, t);
	return t;
}

/* The top of what a track belongs to. */
static struct timeline_track *
process_of(struct timeline_track *t)
{
	while (t->parent != NULL)
		t = t->parent;
	return t;
}

struct timeline_track *
tel__timeline_track(struct tel_printer *pr, struct timeline *tl,
    struct timeline_track *parent, enum timeline_use use, const char *name,
    size_t n)
{
	const uint64_t above = parent == NULL ? 0 : parent->id;
	const uint64_t h = tel__hash_bytes(name, n, above << 8 | use);
	struct timeline_track *t;
	int fresh;
	struct tel__entry *e = tel__table_put(&tl->by_name, h, &fresh);

	if (e == NULL) {
		tl->no_memory = 1;
		return NULL;
	}
	if (!fresh)
		return tl->tracks[e->value - 1];
	if (tl->ntracks >= tl->most && parent != NULL)
		t = process_of(parent);
	else
		t = tel__timeline_make_track(pr, tl, parent, use, name, n);
	if (t != NULL) {
		e->value = t->id;
	} else {
		tl->no_memory = 1;
		tel__table_remove(&tl->by_name, e);
	}
	return t;
}

struct timeline_track *
tel__timeline_process(struct tel_printer *pr, struct timeline *tl,
    const struct tel_log *log)
{
	return tel__timeline_track(pr, tl, NULL, TIMELINE_PROCESS, log->name,
	    strlen(log->name));
}

struct timeline_track *
tel__timeline_in_log(struct tel_printer *pr, struct timeline *tl,
    const struct tel_log *log, enum timeline_use use, const char *name,
    size_t n)
{
	struct timeline_track *t = tel__timeline_process(pr, tl, log);

	return t == NULL ? NULL : tel__timeline_track(pr, tl, t, use, name, n);
}

size_t
tel__timeline_name(char *name, const char *noun, uint64_t number,
    const char *label, size_t length)
{
	size_t n = (size_t)snprintf(name, TIMELINE_NAME, "%s %lld", noun,
	    (long long)number);

	if (label != NULL)
		n += (size_t)snprintf(name + n, TIMELINE_NAME - n, " %.*s",
		    (int)(length < TIMELINE_LABEL ? length : TIMELINE_LABEL),
		    label);
	return n;
}

/* The track of the process that an event names, below that of its log. */
static struct timeline_track *
track_of_process(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, const struct timeline_plan *p)
{
	char name[TIMELINE_NAME];
	size_t n;

	if (p->process < 0 || tl->ops->heat == NULL)
		return tel__timeline_process(pr, tl, ev->log);
	const char *label = tel_event_label(ev, (unsigned)p->process, &n);
	n = tel__timeline_name(name, "process",
	    tel_event_u64(ev, (unsigned)p->process), label, n);
	return tel__timeline_in_log(pr, tl, ev->log, TIMELINE_KIND, name, n);
}

/* The track of a thread or a processor. */
static struct timeline_track *
track_of_thread(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, const struct timeline_plan *p, int cpu)
{
	struct timeline_track *process = cpu ?
	    tel__timeline_process(pr, tl, ev->log) :
	    track_of_process(pr, tl, ev, p);
	const unsigned field = (unsigned)(cpu ? p->cpu : p->thread);
	char name[TIMELINE_NAME];
	const char *label = NULL;
	size_t n = 0;

	if (process == NULL)
		return NULL;
	if (!cpu)
		label = tel_event_label(ev, field, &n);
	n = tel__timeline_name(name, cpu ? "cpu" : "thread",
	    tel_event_u64(ev, field), label, n);
	return tel__timeline_track(pr, tl, process, TIMELINE_THREAD, name, n);
}

struct timeline_track *
tel__timeline_track_in(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, const char *group, enum timeline_use use,
    const char *name, size_t n)
{
	struct timeline_track *t = tel__timeline_in_log(pr, tl, ev->log,
	    TIMELINE_KIND, group, strlen(group));

	return t == NULL ? NULL : tel__timeline_track(pr, tl, t, use, name, n);
}

/*
 * The track of a class of measurements, below those that its path names:
 * Disk, Reads, size of Disk:Reads:size.
 */
static struct timeline_track *
track_of_class(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, const struct timeline_plan *p)
{
	struct timeline_track *t = tel__timeline_process(pr, tl, ev->log);
	size_t n, length;
	const char *path = tel_event_string(ev, (unsigned)p->path, &n), *colon;

	while (t != NULL && n > 0) {
		colon = memchr(path, ':', n);
		length = colon == NULL ? n : (size_t)(colon - path);
		t = tel__timeline_track(pr, tl, t, TIMELINE_KIND, path,
		    length < TIMELINE_NAME ? length : TIMELINE_NAME);
		length += colon != NULL;
		path += length;
		n -= length;
	}
	return t;
}

/* The track of the class or the interrupt of an event; NULL: no memory. */
static struct timeline_track *
track_of_resource(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, const struct timeline_plan *p)
{
	char name[TIMELINE_NAME];

	if (p->path >= 0)
		return track_of_class(pr, tl, ev, p);
	size_t n = tel__timeline_name(name, "interrupt",
	    tel_event_u64(ev, (unsigned)p->interrupt), NULL, 0);
	return tel__timeline_track_in(pr, tl, ev, "interrupts", TIMELINE_KIND,
	    name, n);
}

struct timeline_track *
tel__timeline_context(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, struct timeline_plan *p)
{
	const int cpu = p->cpu >= 0 && (p->thread < 0 || p->is == PLAN_SPAN);
	const char *label = NULL;
	struct timeline_track *t;
	uint64_t id = 0, pid = 0;
	size_t length = 0;

	if (tl->ops->heat != NULL && (p->path >= 0 || p->interrupt >= 0))
		return track_of_resource(pr, tl, ev, p);
	if (cpu || p->thread >= 0)
		id = tel_event_u64(ev, (unsigned)(cpu ? p->cpu : p->thread));
	if (!cpu && p->thread >= 0) {
		label = tel_event_label(ev, (unsigned)p->thread, &length);
		if (p->process >= 0)
			pid = tel_event_u64(ev, (unsigned)p->process);
	}
	if (p->log == ev->log && p->number == ev->log->number && p->id == id &&
	    p->pid == pid && p->label == label &&
	    timeline_is_named(p->context, label, length))
		return p->context;
	if (cpu || p->thread >= 0)
		t = track_of_thread(pr, tl, ev, p, cpu);
	else
		t = tel__timeline_in_log(pr, tl, ev->log, TIMELINE_KIND,
		    ev->type->kind, strlen(ev->type->kind));
	/* unknown types share a plan, and labels of a line are in it */
	if (t == NULL || ev->type->unknown ||
	    (label != NULL && ev->inline_use != TEL_INLINE_NONE))
		return t;
	p->log = ev->log;
	p->number = ev->log->number;
	p->context = t;
	p->id = id;
	p->pid = pid;
	p->label = label;
	return t;
}
