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

/* The track of the process that an event names, below that of its log. */
static struct timeline_track *
track_of_process(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, const struct timeline_plan *p)
{
	struct timeline_track *log = tel__timeline_process(pr, tl, ev->log);
	char name[TIMELINE_NAME];
	size_t length;

	if (log == NULL || p->process < 0 || tl->ops->heat == NULL)
		return log;
	const char *label = tel_event_label(ev, (unsigned)p->process, &length);
	int n = snprintf(name, sizeof(name), "process %lld%s%.*s",
	    (long long)tel_event_u64(ev, (unsigned)p->process),
	    label == NULL ? "" : " ",
	    label == NULL ? 0 : (int)(length < 256 ? length : 256),
	    label == NULL ? "" : label);
	return tel__timeline_track(pr, tl, log, TIMELINE_KIND, name, (size_t)n);
}

/* The track of a thread or a processor. */
static struct timeline_track *
track_of_thread(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, const struct timeline_plan *p, int cpu)
{
	struct timeline_track *process = cpu ?
	    tel__timeline_process(pr, tl, ev->log) :
	    track_of_process(pr, tl, ev, p);
	uint64_t id = tel_event_u64(ev, (unsigned)(cpu ? p->cpu : p->thread));
	char name[TIMELINE_NAME];
	const char *label = NULL;
	size_t length = 0;

	if (process == NULL)
		return NULL;
	int n = snprintf(name, sizeof(name), "%s %lld", cpu ? "cpu" : "thread",
	    (long long)id);
	if (!cpu)
		label = tel_event_label(ev, (unsigned)p->thread, &length);
	if (label != NULL && length < sizeof(name) - 32)
		n += snprintf(name + n, sizeof(name) - (size_t)n, " %.*s",
		    (int)length, label);
	return tel__timeline_track(pr, tl, process, TIMELINE_THREAD, name,
	    (size_t)n);
}

struct timeline_track *
tel__timeline_track_in(struct tel_printer *pr, struct timeline *tl,
    const struct tel_event *ev, const char *group, enum timeline_use use,
    const char *name, size_t n)
{
	struct timeline_track *t = tel__timeline_process(pr, tl, ev->log);

	if (t != NULL)
		t = tel__timeline_track(pr, tl, t, TIMELINE_KIND, group,
		    strlen(group));
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
	char name[32];

	if (p->path >= 0)
		return track_of_class(pr, tl, ev, p);
	int n = snprintf(name, sizeof(name), "interrupt %llu",
	    (unsigned long long)tel_event_u64(ev, (unsigned)p->interrupt));
	return tel__timeline_track_in(pr, tl, ev, "interrupts", TIMELINE_KIND,
	    name, (size_t)n);
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
	if (cpu || p->thread >= 0) {
		t = track_of_thread(pr, tl, ev, p, cpu);
	} else {
		t = tel__timeline_process(pr, tl, ev->log);
		if (t != NULL)
			t = tel__timeline_track(pr, tl, t, TIMELINE_KIND,
			    ev->type->kind, strlen(ev->type->kind));
	}
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
